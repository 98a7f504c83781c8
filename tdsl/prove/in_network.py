"""All-reduce where switches add up and replicate (SHARP, NVLS): each part of the data goes once up a tree of
switches, is added up on the way, and once down.

A tree loads every link of it once each way. Several trees carry a share of the data each, so that no link has
more than it carries; the shares are proposed by a linear program, and the time is computed from them exactly.
Source of the scheme: Graham et al., "Scalable hierarchical aggregation protocol (SHArP)", COMHPC 2016.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.collective_times import FILL, Schedule
from tdsl.prove.delays import SECOND
from tdsl.prove.linear import least_fullest
from tdsl.prove.rank_trees import schedules_of_sums
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

NAME = "trees of switches that add up"

Arc = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SwitchTree:
    """The links of a tree, each from a device to the one above it; the delay up and down again, and how many
    links a chunk takes at most on that way."""

    links: frozenset[Arc]
    delay: int
    hops: int


@dataclass(frozen=True, slots=True)
class SwitchPlan:
    """What a schedule sends along ``trees`` of switches, the share of the data of each, seconds a bit of the
    fullest link, and how many links a chunk passes at most. Without trees: along one around each switch that
    all ranks of a scale-up domain are linked to, as these links have capacity."""

    trees: tuple[SwitchTree, ...]
    shares: tuple[Fraction, ...]
    per_bit: Fraction
    steps: int


def schedules_in_network(ranks: Ranks) -> Iterator[Schedule]:
    """Schedules of an all-reduce in which switches add up: of ranks that one switch of a scale-up domain
    joins, and of units of one rank each."""
    if ranks.in_one_domain and ranks.inside is not None:
        yield from _schedules_in_one_domain(ranks)
    elif ranks.outer is None and (ranks.unit_weight == 1).all():
        yield from _schedules_along_trees(ranks)


def _schedules_in_one_domain(ranks: Ranks) -> Iterator[Schedule]:
    """The schedule of ranks of one scale-up domain whose links lead to a switch that adds up."""
    assert ranks.inside is not None
    rates = [r for r, n in zip(ranks.inside, ranks.in_domain.tolist(), strict=True) if n > 1]
    if rates and all(r.by_switch for r in rates):
        sent = 1 / min(r.bps for r in rates)
        waiting, plan = ranks.delay_inside.seconds, SwitchPlan((), (), sent, 2)
        filled = sent * (1 + Fraction(1, FILL))
        yield Schedule(NAME, filled, waiting, True, FILL, 2, None, switches=plan)


def _schedules_along_trees(ranks: Ranks) -> Iterator[Schedule]:
    """The schedule of units along trees of the network's switches."""
    trees = _trees_of_switches(ranks)
    if not trees:
        return
    share, full = _shares_of_trees(ranks.view, trees)
    used = [(t, x) for t, x in zip(trees, share, strict=True) if x]
    waiting = Fraction(max(t.delay for t, _ in used), SECOND)
    hops = max(t.hops for t in trees)
    plan = SwitchPlan(tuple(t for t, _ in used), tuple(x for _, x in used), full, hops)
    filled = full * (1 + Fraction(1, FILL))
    yield Schedule(NAME, filled, waiting, True, FILL * hops, 2, None, switches=plan)


def schedules_with_switches(ranks: Ranks) -> Iterator[Schedule]:
    """Schedules of an all-reduce where switches may add up, and those in which none does."""
    yield from schedules_in_network(ranks)
    yield from schedules_of_sums(ranks)


def _links_of_view(view: View) -> tuple[dict[int, list[int]], dict[Arc, int]]:
    """The neighbours of every device in order, and the bit/s between two of them."""
    rate: dict[Arc, int] = {}
    for a, b, bps in zip(
        *(x.tolist() for x in (view.a, view.b, view.fabric.link_rate[view.rows])), strict=True
    ):
        for pair in ((a, b), (b, a)):
            rate[pair] = rate.get(pair, 0) + bps
    near: dict[int, list[int]] = {}
    for a, b in sorted(rate):
        if a != b:
            near.setdefault(a, []).append(b)
    return near, rate


def _trees_of_switches(ranks: Ranks) -> list[SwitchTree]:
    """Trees over switches that reach all units, from every switch that could be their root, the farthest from
    the units first; of each root one for each link that a unit has."""
    view, budget = ranks.view, ranks.view.budget
    if view.forwards[view.units].any():
        return []
    near, _ = _links_of_view(view)
    units = view.units.tolist()
    passes = view.forwards
    roots = sorted(
        np.flatnonzero(passes & (view.degree > 0)).tolist(), key=lambda d: -int(view.fabric.tier[d])
    )
    links = max((len(near.get(u, ())) for u in units), default=0)
    cable: dict[Arc, int] = {}
    for a, b, took in zip(view.a.tolist(), view.b.tolist(), ranks.delays.cable.tolist(), strict=True):
        for pair in ((a, b), (b, a)):
            cable[pair] = max(took, cable.get(pair, 0))
    found: dict[frozenset[Arc], SwitchTree] = {}
    work = 0
    for root in roots:
        far, above = _distances_over_switches(near, passes, root)
        work += (len(view.rows) + len(units)) * links
        if work > budget.switch_tree_work:
            break
        for turn in range(links):
            tree = _tree_of_root(units, near, far, above, turn)
            if tree is not None and tree not in found:
                found[tree] = SwitchTree(
                    tree, _delay_of_tree(ranks, tree, root, cable), 2 * (max(far.values()) + 1)
                )
    return list(found.values())


def _distances_over_switches(
    near: dict[int, list[int]], passes: np.ndarray, root: int
) -> tuple[dict[int, int], dict[int, int]]:
    """How far every switch is from a root, and the one above it on the way there."""
    far, above, front = {root: 0}, dict[int, int](), [root]
    for v in front:
        for w in near.get(v, ()):
            if passes[w] and w not in far:
                far[w], above[w] = far[v] + 1, v
                front.append(w)
    return far, above


def _tree_of_root(
    units: list[int], near: dict[int, list[int]], far: dict[int, int], above: dict[int, int], turn: int
) -> frozenset[Arc] | None:
    """The links by which all units reach the root, each by one of its nearest switches; None where one does
    not."""
    links: set[Arc] = set()
    for u in units:
        reached = [v for v in near.get(u, ()) if v in far]
        if not reached:
            return None
        nearest = min(far[v] for v in reached)
        chosen = [v for v in reached if far[v] == nearest]
        v = chosen[turn % len(chosen)]
        links.add((u, v))
        while v in above and (v, above[v]) not in links:
            links.add((v, above[v]))
            v = above[v]
    return frozenset(links)


def _delay_of_tree(ranks: Ranks, tree: frozenset[Arc], root: int, cable: dict[Arc, int]) -> int:
    """What the farthest unit takes up a tree, and the farthest one down, in femtoseconds."""
    above, own = dict(tree), ranks.delays.own
    up = 0
    for unit in ranks.view.units.tolist():
        v, took = unit, int(own[unit])
        while v != root:
            took += cable[v, above[v]] + int(own[above[v]])
            v = above[v]
        up = max(up, took)
    return 2 * up - int(own[root])


def _shares_of_trees(view: View, trees: list[SwitchTree]) -> tuple[list[Fraction], Fraction]:
    """The share of the data that each tree carries, and the seconds a bit of the fullest link. Whichever end
    of a link is above, the tree loads it both ways."""
    _, rate = _links_of_view(view)
    links = [[(min(arc), max(arc)) for arc in t.links] for t in trees]
    used = sorted({arc for mine in links for arc in mine})
    proposed, _ = least_fullest(_use_of_links_by_trees(links, used, rate))
    share = _exact_shares_of_whole(proposed, view.budget.switch_share_parts)
    load = dict.fromkeys(used, Fraction(0))
    for mine, x in zip(links, share, strict=True):
        for arc in mine if x else ():
            load[arc] += x
    return share, max(x / rate[arc] for arc, x in load.items())


def _use_of_links_by_trees(links: list[list[Arc]], used: list[Arc], rate: dict[Arc, int]) -> np.ndarray:
    """How full each tree makes each link if it carries all data: a row for each of the ``used`` links, a
    column for each tree with its ``links``; 1 is a link with the least bit/s of all."""
    place = {arc: k for k, arc in enumerate(used)}
    least = min(rate[arc] for arc in used)
    use = np.zeros((len(used), len(links)))
    for k, mine in enumerate(links):
        for arc in mine:
            use[place[arc], k] = least / rate[arc]
    return use


def _exact_shares_of_whole(proposed: np.ndarray, most: int) -> list[Fraction]:
    """Proposed shares as fractions whose sum is 1; ``most`` is the largest denominator to which each is
    rounded before."""
    share = [Fraction(float(x)).limit_denominator(most) if x > 1e-6 else Fraction(0) for x in proposed]
    total = sum(share, Fraction(0))
    return [x / total for x in share]
