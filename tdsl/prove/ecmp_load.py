"""How full the fullest link is where a static hash spreads flows over equal paths.

Each port of a unit sends at its rate to the same port of the unit half of all further on, in so many equal
flows; at every switch a hash gives each flow one of the links on shortest paths. A load of 1 is the rate of
the link. Where all flows of a leaf go to one other, by links of one rate and one link down from each spine,
links up are independent urns and the distribution is exact; else flows are drawn by a fixed hash function.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values
from tdsl.prove.search import hop_distances
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]

SHARE = 0.99
"""The quantile of the fullest link's load that is given."""
SURE = 2.576
"""Standard deviations of a two-sided interval of 99%."""


class NoLoad(Exception):
    """Nothing is hashed, or it is more than is computed; the text says why."""


@dataclass(frozen=True, slots=True)
class EcmpLoad:
    """Loads of the fullest link between switches, as shares of its rate: ``mean``, the ``quantile`` of SHARE,
    within ``lower`` and ``upper``; and ``even``, that of the fullest link where all flows are spread evenly.
    ``draws`` is 0 where the distribution is exact. Of the ``ports`` of units ``silent`` ones send nothing:
    the other unit has no such port, or no path leads there."""

    mean: Fraction
    quantile: Fraction
    lower: Fraction
    upper: Fraction
    even: Fraction
    draws: int
    ports: int
    silent: int


@dataclass(eq=False)
class PairFlows:
    """Flows between ports: the switches where they begin and end, and the rate of each in bit/s times the
    number of flows of a pair; of how many ``ports``, of which ``silent`` ones send nothing."""

    source: Ints
    target: Ints
    rate: Ints
    ports: int
    silent: int


@dataclass(eq=False)
class DirectedLinks:
    """Links between forwarding devices, each twice: ``tail``, ``head`` and rate in bit/s."""

    tail: Ints
    head: Ints
    rate: Ints


def load_of_fullest_link(view: View, flows: int, one_hash: bool) -> EcmpLoad:
    """The load with so many flows a pair; ``one_hash``: all switches hash by one function. Raises NoLoad."""
    pairs = _pairs_of_ports(view)
    trunks, f = view.trunks, view.fabric
    a, b, rate = view.a[trunks], view.b[trunks], f.link_rate[view.rows[trunks]]
    links = DirectedLinks(np.append(a, b), np.append(b, a), np.append(rate, rate))
    found = None if one_hash else _exact_load(view, links, pairs, flows)
    return found or _drawn_load(view, links, pairs, flows, one_hash)


def _pairs_of_ports(view: View) -> PairFlows:
    """Each port of a unit and the same one of its partner, counted among those it had before failures, where
    both are at different switches that links join. Raises NoLoad where there is none."""
    f, at = view.fabric, view.attachment
    units = view.units
    if len(units) < 2:
        raise NoLoad("there are fewer than two endpoints")
    number = np.full(f.device_count, -1, dtype=np.int64)
    number[units] = np.arange(len(units))
    mine = np.flatnonzero((number[at.end] >= 0) & (at.port >= 0) & (at.node < f.device_count))
    if not len(mine):
        raise NoLoad("no endpoint is at a switch")
    unit, rank = number[at.end[mine]], _ranks_of_ports(view.intact or view)[at.port[mine]]
    place = np.full((len(units), int(rank.max()) + 1), -1, dtype=np.int64)
    place[unit, rank] = np.arange(len(mine))
    other = place[(unit + len(units) // 2) % len(units), rank]
    source, target = at.node[mine], at.node[mine[other]]
    rate = np.minimum(f.link_rate[f.port_link[at.port[mine]]], f.link_rate[f.port_link[at.port[mine[other]]]])
    joined = (other >= 0) & (view.label[source] == view.label[target])
    if not joined.any():
        raise NoLoad("no port of an endpoint has a path to the port that it sends to, half of all further on")
    kept = joined & (source != target)
    if not kept.any():
        raise NoLoad("no flow crosses a link between switches")
    silent = len(mine) - int(joined.sum())
    return PairFlows(source[kept], target[kept], rate[kept], len(mine), silent)


def _ranks_of_ports(view: View) -> Ints:
    """Of every port of the fabric its number among the attached ones of its device, 0 of others."""
    at = view.attachment
    out = np.zeros(len(view.fabric.port_device), dtype=np.int64)
    mine = np.flatnonzero(at.port >= 0)
    mine = mine[np.lexsort((at.port[mine], at.end[mine]))]
    end = at.end[mine]
    out[at.port[mine]] = np.arange(len(mine)) - np.searchsorted(end, end)
    return out


def _onward(view: View, links: DirectedLinks, target: int) -> Ints:
    """The directed links that lead one hop nearer to a target, by their tails."""
    far = hop_distances(view.graph, target)
    near = np.flatnonzero((far[links.head] >= 0) & (far[links.tail] == far[links.head] + 1))
    order: Ints = near[np.argsort(links.tail[near], kind="stable")]
    return order


def _exact_load(view: View, links: DirectedLinks, pairs: PairFlows, flows: int) -> EcmpLoad | None:
    """The distribution where each switch is an urn scheme of its own; None where it is not."""
    ends = np.unique(np.stack((pairs.source, pairs.target)), axis=1)
    alone = all(len(distinct_values(x)) == len(x) for x in ends)
    rates = distinct_values(pairs.rate), distinct_values(links.rate)
    if not alone or len(rates[0]) > 1 or len(rates[1]) > 1:
        return None
    urns: list[tuple[int, int]] = []
    for s, t in ends.T.tolist():
        onward = _onward(view, links, t)
        up = onward[links.tail[onward] == s]
        heads = links.head[up]
        down = np.bincount(links.tail[onward], minlength=view.fabric.device_count)[heads]
        direct = np.isin(heads, links.tail[onward[links.head[onward] == t]]) | (heads == t)
        balls = int((pairs.source == s).sum()) * flows
        if len(distinct_values(heads)) < len(heads) or not direct.all() or (down[heads != t] != 1).any():
            return None
        if balls > view.budget.urn_balls:
            return None
        urns.append((balls, len(up)))
    unit = Fraction(int(rates[0][0]), flows * int(rates[1][0]))
    known = {urn: distribution_of_fullest_urn(*urn) for urn in set(urns)}
    longest = max(len(x) for x in known.values())
    below = np.ones(longest)
    for urn in urns:
        below *= np.append(known[urn], np.ones(longest - len(known[urn])))
    mean = Fraction(float((1 - below).sum())).limit_denominator(10**6) * unit
    quantile = int(np.argmax(below >= SHARE)) * unit
    even = max(Fraction(balls, urn) for balls, urn in urns) * unit
    return EcmpLoad(mean, quantile, quantile, quantile, even, 0, pairs.ports, pairs.silent)


def distribution_of_fullest_urn(balls: int, urns: int) -> Floats:
    """The probability that no urn has more than k balls, for k from 0 until it is 1, where each ball falls
    into any urn with the same chance: balls! / urns^balls times the coefficient of x^balls in
    (Σ x^j / j!, j ≤ k)^urns (Flajolet and Sedgewick, "Analytic combinatorics", 2009, II.3). Terms are scaled
    as those of Poisson's distribution of mean balls / urns, which leaves them positive and near 1."""
    mean = balls / urns
    j = np.arange(balls + 1)
    terms = np.exp(j * log(mean) - mean - np.array([lgamma(x + 1) for x in j.tolist()]))
    whole = np.exp(balls * log(balls) - balls - lgamma(balls + 1))
    below = [0.0] * ceil(mean)
    for k in range(ceil(mean), balls + 1):
        below.append(min(float(_power_of_series(terms[: k + 1], urns, balls + 1)[balls] / whole), 1.0))
        if below[-1] > 1 - 1e-9:
            break
    return np.array(below)


def _power_of_series(terms: Floats, power: int, length: int) -> Floats:
    """The first coefficients of a power of a polynomial."""
    out, square = np.array([1.0]), terms
    while power:
        if power & 1:
            out = np.convolve(out, square)[:length]
        power >>= 1
        if power:
            square = np.convolve(square, square)[:length]
    return np.append(out, np.zeros(max(length - len(out), 0)))


def _drawn_load(view: View, links: DirectedLinks, pairs: PairFlows, flows: int, one_hash: bool) -> EcmpLoad:
    """The same by draws."""
    count = len(pairs.source) * flows
    draws = min(view.budget.flow_draws, view.budget.route_work // max(count * 4, 1))
    targets = distinct_values(pairs.target).tolist()
    if draws < view.budget.least_flow_draws or len(targets) * len(links.tail) > view.budget.route_work:
        raise NoLoad(f"{count:,} flows over {len(links.tail) // 2:,} links are more than are drawn")
    onward = {t: _onward(view, links, t) for t in targets}
    even = _even_loads(view, links, pairs, onward)
    fullest = np.zeros(draws)
    step = max(view.budget.drawn_loads // max(len(links.tail), count), 1)
    for first in range(0, draws, step):
        some = np.arange(first, min(first + step, draws))
        loads = np.zeros((len(some), len(links.tail)))
        for t in targets:
            _add_drawn_flows(links, onward[t], (pairs, t, flows), some, one_hash, loads)
        fullest[some] = (loads / links.rate).max(axis=1) / flows
    ranked = np.sort(fullest)
    wide = SURE * sqrt(draws * SHARE * (1 - SHARE))
    low, high = (
        ranked[min(max(int(x), 0), draws - 1)] for x in (draws * SHARE - wide - 1, draws * SHARE + wide)
    )
    mean, quantile, lower, upper = (
        Fraction(round(float(x) * 10**6), 10**6)
        for x in (fullest.mean(), ranked[ceil(draws * SHARE) - 1], low, high)
    )
    return EcmpLoad(mean, quantile, lower, upper, even, draws, pairs.ports, pairs.silent)


def _even_loads(view: View, links: DirectedLinks, pairs: PairFlows, onward: dict[int, Ints]) -> Fraction:
    """The load of the fullest link where every switch divides each flow over its links on shortest paths."""
    loads = np.zeros(len(links.tail))
    for t, arcs in onward.items():
        amount = np.zeros(view.fabric.device_count)
        np.add.at(amount, pairs.source[pairs.target == t], pairs.rate[pairs.target == t])
        ways = np.bincount(links.tail[arcs], minlength=len(amount))
        front = np.flatnonzero(amount)
        while len(front := front[front != t]):
            mine = arcs[np.isin(links.tail[arcs], front)]
            part = amount[links.tail[mine]] / ways[links.tail[mine]]
            loads[mine] += part
            amount[front] = 0
            np.add.at(amount, links.head[mine], part)
            front = distinct_values(links.head[mine])
    return Fraction(round(float((loads / links.rate).max()) * 10**6), 10**6)


def _add_drawn_flows(
    links: DirectedLinks,
    arcs: Ints,
    of: tuple[PairFlows, int, int],
    draws: Ints,
    one_hash: bool,
    loads: Floats,
) -> None:
    """Add to ``loads``, a row a draw, the rates of the flows to one target along the links that they draw."""
    pairs, target, flows = of
    mine = np.flatnonzero(pairs.target == target)
    flow = (mine[:, None] * flows + np.arange(flows)).ravel()
    rate = np.tile(np.repeat(pairs.rate[mine], flows).astype(np.float64), len(draws))
    row = np.repeat(np.arange(len(draws)), len(flow))
    at = np.tile(np.repeat(pairs.source[mine], flows), len(draws))
    seed = np.repeat(draws, len(flow)) * (1 << 40) + np.tile(flow, len(draws))
    value = mixed_bits(mixed_bits(seed.astype(np.uint64)))
    tails = links.tail[arcs]
    while len(at):
        begin = np.searchsorted(tails, at)
        many = (np.searchsorted(tails, at, side="right") - begin).astype(np.uint64)
        own = value if one_hash else mixed_bits(value ^ mixed_bits(at.astype(np.uint64) + np.uint64(1)))
        taken = arcs[begin + ((own >> np.uint64(8)) % many).astype(np.int64)]
        np.add.at(loads, (row, taken), rate)
        at = links.head[taken]
        left = at != target
        at, row, rate, value = at[left], row[left], rate[left], value[left]


def mixed_bits(value: Hashes) -> Hashes:
    """Numbers of 64 bits that are spread as by chance: the finaliser of SplitMix64 (Steele, Lea and Flood,
    OOPSLA 2014)."""
    z = value + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    out: Hashes = z ^ (z >> np.uint64(31))
    return out
