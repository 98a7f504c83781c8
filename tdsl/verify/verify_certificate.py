"""Verifies a certificate of ``tdsl check --certificates`` against the ``fabric.json`` of the same design.

    python verify_certificate.py certificate.json fabric.json

Status 0 and no word: what the certificate states is so. Status 1: it is not, or is not shown, and why. This file stands alone:
it needs Python and nothing else, shares no code with what wrote the certificate, and reads the wiring from fabric.json only.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations, islice, pairwise
from math import comb, gcd, isqrt
from operator import mul
from pathlib import Path
from typing import Any


class Rejected(Exception):
    """What is stated is not shown."""


def need(holds: bool, why: str) -> None:
    """Reject unless it holds."""
    if not holds:
        raise Rejected(why)


class Net:
    """What is left of a fabric after failures: units, what forwards, and whole capacities in grains each way."""

    def __init__(self, fabric: Any, failed: frozenset[str] = frozenset()) -> None:
        self.fabric, columns, links = fabric, fabric["devices"]["columns"], fabric["links"]
        self.facts = {row[0]: dict(zip(columns, row, strict=True)) for row in fabric["devices"]["rows"]}
        need(failed <= set(self.facts), "an unknown device fails")
        at = [links["columns"].index(c) for c in ("a_device", "b_device", "rate_bps", "rail")]
        every = [(row[at[0]], row[at[1]], row[at[2]], row[at[3]]) for row in links["rows"]]
        left = [x for x in every if x[0] not in failed and x[1] not in failed]
        kind = {d: f["kind"] for d, f in self.facts.items()}
        linked = {d for x in left for d in x[:2]}
        self.units = dict.fromkeys(d for d in self.ends(linked) if d not in failed and (d in linked or not failed)).keys()
        direct = any(kind[x[0]] == kind[x[1]] == "chip" for x in left)
        forward = (d for d in kind if d not in failed and (kind[d] == "switch" or (direct and kind[d] == "chip")))
        self.forward = dict.fromkeys(forward).keys()
        self.every = [x for x in left if x[0] != x[1]]
        counted = self.units | self.forward
        self.links = [x for x in self.every if x[0] in counted and x[1] in counted]
        self.grain = gcd(*(x[2] for x in self.links)) or 1
        self.cap: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.add((a, b, rate) for a, b, rate, _ in self.links)
        self.half = len(self.units) // 2
        self.full_of = {u: sum(self.cap[u].values()) for u in self.units}
        self.full = sum(sorted(self.full_of.values())[: self.half])

    def ends(self, linked: set[str]) -> list[str]:
        """Hosts and chips, those with accelerators if there are any; chips inside of hosts, where some like them have links,
        instead of the hosts. The switches if there are none."""
        ends = {d: f for d, f in self.facts.items() if f["kind"] in ("host", "chip")}
        paths = {f["path"] for f in ends.values()}
        like = {d: re.sub(r"\[.*?\]", "", f["path"]) for d, f in ends.items()}
        inside = {d: like[d].rpartition(".")[0] for d, f in ends.items() if f["path"].rpartition(".")[0] in paths}
        opened = {inside[d]: like[d] for d in inside if d in linked}
        counted = [d for d in ends if (inside[d] in opened if d in inside else like[d] not in opened)]
        role = {d: f["role"] or "" for d, f in ends.items()}
        main = next((r for r in ("accelerator", "") if r in role.values()), "")
        return [d for d in counted if role[d] == main] or counted or [d for d, f in self.facts.items() if f["kind"] == "switch"]

    def crossing(self, side: set[str]) -> int:
        """Capacity out of a side."""
        return sum(c for a in side for b, c in list(self.cap[a].items()) if b not in side)

    def add(self, links: Iterable[tuple[str, str, int]]) -> int:
        """Add the capacities of links; all of them together."""
        total = 0
        for a, b, rate in links:
            self.cap[a][b] += rate // self.grain
            self.cap[b][a] += rate // self.grain
            total += rate // self.grain
        return total

    def far(self, start: str) -> dict[str, int]:
        """Links from one of what forwards to all that it reaches."""
        out, front = {start: 0}, [start]
        for v in front:
            new = [w for w in self.cap[v] if w in self.forward and w not in out]
            out |= dict.fromkeys(new, out[v] + 1)
            front += new
        return out

    def hubs(self) -> dict[str, set[str]]:
        """For every unit, the components of what forwards that it meets, and its own links."""
        label: dict[str, str] = {}
        for start in self.forward:
            label |= dict.fromkeys(self.far(start), start) if start not in label else {}
        own = {u: {min(u, v) + max(u, v) for v in self.cap[u]} for u in self.units}
        return {u: own[u] | {label[v] for v in (u, *self.cap[u]) if v in label} for u in self.units}


# ---------------------------------------------------------------- lower bounds


def splits(net: Net, order: list[list[str]], least: int) -> int:
    """What every balanced split cuts at least of the links among these, which are then used up.

    They take sides in this order, switches with the same links as one. What crosses by then is kept for every number of units
    on one side and the sides of the open, those joined to what has none yet (Bertelè and Brioschi, "Nonserial dynamic
    programming", 1972).
    """
    names = {d for twins in order for d in twins}
    need(len(names) == sum(map(len, order)) and net.units <= names <= net.units | net.forward, "no order of all units")
    need(all(len(x) == 1 or (d not in net.units and net.cap[d] == net.cap[x[0]]) for x in order for d in x), "no twins")
    size, most = {x[0]: len(x) for x in order}, len(net.units) - net.half
    near = {v: {w: c * n * size[w] for w, c in net.cap[v].items() if w in size} for v, n in size.items()}
    rows: dict[frozenset[str], list[int]] = {frozenset(): [0]}
    done: set[str] = set()
    for v in size:
        done.add(v)
        closed = {w for w in (v, *near[v]) if near[w].keys() <= done}
        after: dict[frozenset[str], list[int]] = {}
        for ours, row in rows.items():
            for side in ((), (v,)) if len(done) > 1 else ((),):  # sides may be exchanged
                more = sum(c for w, c in near[v].items() if w in done and (w in ours) != bool(side))
                new, none = [x + more for x in row], [least] * (v in net.units)
                new = [*none, *new][: most + 1] if side else [*new, *none][: most + 1]
                if min(new) < least:
                    key = ours.union(side) - closed
                    after[key] = list(map(min, after[key], new)) if key in after else new
        rows = after
    need(all(min(row[net.half :]) >= least for row in rows.values()), "a split cuts less")
    for v in names:
        net.cap[v] = defaultdict(int, {w: c for w, c in net.cap[v].items() if w not in names})
    return least


def flows(net: Net, least: int) -> int:
    """What flows between the halves of every split at least, a thousand of them at most (Edmonds and Karp 1972)."""
    first, *rest = sorted(net.units)
    even = len(net.units) % 2 == 0  # sides may be exchanged
    every = combinations(rest if even else [first, *rest], net.half - even)
    need(type(least) is int and comb(len(net.units), net.half) <= 1000, "too many splits")
    need(all(carries(net, {first, *ours} if even else {*ours}, least) for ours in every), "a split cuts less")
    return least


def carries(net: Net, side: set[str], amount: int) -> bool:
    """Whether so much flows from one side to all other units."""
    left = {v: dict(to) for v, to in net.cap.items()}
    while amount > 0:
        by, front, end = dict.fromkeys(side, ""), [*side], ""
        for v in front:
            new = [w for w, c in left.get(v, {}).items() if c and w not in by]
            by |= dict.fromkeys(new, v)
            end = next((w for w in new if w in net.units), "")
            if end:
                break
            front += new
        if not end:
            return False
        way = [end]
        while by[way[-1]]:
            way.append(by[way[-1]])
        arcs = [(v, w) for w, v in pairwise(way)]
        most = min(amount, *(left[v][w] for v, w in arcs))
        for v, w in arcs:
            left[v][w] -= most
            left[w][v] += most
        amount -= most
    return True


def spectrum(net: Net, mu: Fraction) -> int:
    """What crosses at least by the second eigenvalue (Fiedler 1973; Donath and Hoffman 1973).

    With z = ±1 for the side of every switch (or chip), w the units at each, W all of them and K those that are not on the side
    of theirs, |wᵀz| <= 2K + odd. If L + 2μ wwᵀ/W - μ diag(w) has no negative eigenvalue, trunks with zᵀLz/4 >= μ/4 (W -
    2(wᵀz)²/W) cross, and K links of units; as a function of K that is concave, so least at an end.
    """
    count, direct, p, q = len(net.units), net.forward <= net.units, mu.numerator, mu.denominator
    need(direct or all(len(net.cap[u]) == 1 and net.cap[u].keys() <= net.forward - net.units for u in net.units), "more links")
    weight = Counter(u if direct else min(net.cap[u]) for u in net.units)
    nodes = sorted(net.forward | net.units if direct else net.forward - net.units)
    matrix = [[2 * p * weight[v] * weight[w] - count * q * net.cap[v].get(w, 0) for w in nodes] for v in nodes]
    for i, v in enumerate(nodes):
        matrix[i][i] += count * (q * sum(net.cap[v].get(w, 0) for w in nodes) - p * weight[v])
    need(mu > 0 and definite(matrix), "the eigenvalue is less")
    way, most = min(net.full_of.values()), (count + 1) // 2
    ends = [mu / 4 * (count - Fraction(2 * (2 * k + count % 2) ** 2, count)) + k * way for k in (0, most)]
    least = ends[0] if direct else min(*ends, Fraction(most * way))
    return max(-int(-least // 1), 0)


def definite(matrix: list[list[int]]) -> bool:
    """Whether no eigenvalue is negative, shown in whole numbers: a multiple of the matrix is RRᵀ and rests, which come to less
    in every row than what the diagonal was lessened by (Cholesky; Gershgorin)."""
    less = len(matrix) * (isqrt(max(map(max, matrix)) << 40) + 1)
    done: list[list[int]] = []
    for row in matrix:
        new: list[int] = []
        for x, other in zip(row, done, strict=False):
            new.append(((x << 40) - sum(map(mul, new, other))) // other[-1])
        rest = (row[len(done)] << 40) - less - sum(map(mul, new, new))
        if rest <= 0:
            return False
        done.append([*new, isqrt(rest)])
    return True


Profile = tuple[frozenset[str], list[Fraction]]


def disjoint(parts: list[Profile], most: int) -> Profile:
    """Least sums over choices of x units from equal or disjoint sets; where sets overlap otherwise, each unit's least share."""
    same: dict[frozenset[str], list[Fraction]] = {}
    for members, profile in parts:
        same[members] = [x + y for x, y in zip(same[members], profile, strict=True)] if members in same else profile
    everyone: frozenset[str] = frozenset().union(*same)
    if len(everyone) < sum(map(len, same)):
        share: dict[str, Fraction] = defaultdict(Fraction)
        for members, profile in same.items():
            slope = min(p / x for x, p in enumerate(profile) if x)
            for u in members:
                share[u] += slope
        values = sorted(share.values())
        return everyone, [sum(values[:x], Fraction(0)) for x in range(min(len(values), most) + 1)]
    out = [Fraction(0)]
    for profile in same.values():
        ends = [(range(max(n - len(profile) + 1, 0), min(n + 1, len(out))), n) for n in range(len(out) + len(profile) - 1)]
        out = [min(out[x] + profile[n - x] for x in each) for each, n in ends[: most + 1]]
    return everyone, out


class Part:
    """Flows upward in shares to some hubs, under the limits of nested blocks; every arc is re-added."""

    def __init__(self, net: Net, stated: Any) -> None:
        self.net, self.hubs = net, frozenset(stated["hubs"])
        self.shares = {v: {w: Fraction(x) for w, x in to.items()} for v, to in stated["shares"].items()}
        self.nodes = self.hubs | set(self.shares)
        need(self.nodes <= net.forward - net.units and not self.hubs & set(self.shares), "a node does not forward, or a hub does")
        self.above: dict[str, dict[str, Fraction]] = {h: {} for h in self.hubs}
        for v in self.shares:
            self.reach(v, ())
        self.limit: dict[str, Fraction] = {}
        self.feeds: dict[str, set[str]] = {}
        self.leaves = [self.block(b) for b in stated["blocks"]]
        self.outer = stated["blocks"]

    def reach(self, v: str, way: tuple[str, ...]) -> dict[str, Fraction]:
        """What a unit of flow from a node puts on all above it."""
        need(v not in way and v in self.nodes, "shares go round in a circle or lead astray")
        if v not in self.above:
            out: dict[str, Fraction] = defaultdict(Fraction)
            need(not self.shares[v] or sum(self.shares[v].values()) == 1, f"the shares of {v} are not one")
            for w, share in self.shares[v].items():
                need(share >= 0, "a share is less than nothing")
                out[w] += share
                for x, more in self.reach(w, (*way, v)).items():
                    out[x] += share * more
            self.above[v] = out
        return self.above[v]

    def fits(self, v: str, most: Fraction) -> None:
        """Reject if a node cannot pass that much on."""
        for w, share in self.shares[v].items():
            need(most * share <= self.net.cap[v].get(w, 0), f"{v} to {w} is overloaded")
        need(bool(self.shares[v]) or not most, f"{v} passes nothing on")

    def block(self, b: Any) -> set[str]:
        """Check a block's limits; its leaves."""
        most = Fraction(b["limit"])
        if not b["inside"]:
            need(len(b["nodes"]) == 1 and b["nodes"][0] not in self.limit and most >= 0, "a leaf stands twice")
            self.limit[b["nodes"][0]], self.feeds[b["nodes"][0]] = most, set()
            self.fits(b["nodes"][0], most)
            return {b["nodes"][0]}
        leaves: set[str] = set()
        for inner in b["inside"]:
            leaves |= self.block(inner)
        for v in b["nodes"]:
            if v not in self.feeds:
                self.fits(v, self.arriving(self.mixture(leaves, v)[::-1], most))  # greatest parts first are the most
                self.feeds[v] = leaves
        return leaves

    def mixture(self, leaves: set[str], v: str) -> list[tuple[Fraction, Fraction]]:
        """The part of what each leaf sends that comes to a node, the smallest first, with the leaf's limit."""
        return sorted((self.above[x].get(v, Fraction(0)), self.limit[x]) for x in leaves)

    def profile(self, b: Any) -> Profile:
        """The least that x of a block's units send out of it."""
        inside = [self.profile(x) for x in b["inside"]]
        members, sums = disjoint(inside, self.net.half) if inside else self.leaf(b["nodes"][0])
        return members, [min(x, Fraction(b["limit"])) for x in sums]

    def leaf(self, v: str) -> Profile:
        """Units at a node, and what x of them send there at least."""
        rates = {u: c for u, c in self.net.cap[v].items() if u in self.net.units}
        order = sorted(rates.values())
        return frozenset(rates), [Fraction(sum(order[:x])) for x in range(min(len(order), self.net.half) + 1)]

    def value(self) -> int:
        """What crosses any balanced split through these hubs, rounded up: a cut is a whole number of grains."""
        for x in self.limit:  # what passes a node was counted with all that feeds it
            for v, part in self.above[x].items():
                need(not part or v in self.hubs or x in self.feeds.get(v, ()), f"{x} feeds {v} unseen")
        if not self.outer:
            return sum(-int(-self.least([self.leaf(h)]) // 1) for h in self.hubs)
        profiles = [self.profile(b) for b in self.outer]
        kinds = Counter(tuple(tuple(self.mixture(b, h)) for b in self.leaves) for h in self.hubs)
        total = Fraction(0)
        for kind, times in kinds.items():
            mixed = [(mix, m, p) for mix, (m, p) in zip(kind, profiles, strict=True) if any(part for part, _ in mix)]
            sent = [(m, [self.arriving(mix, y) for y in p]) for mix, m, p in mixed]
            total += times * self.least(sent)
        return -int(-total // 1)

    @staticmethod
    def arriving(mix: Iterable[tuple[Fraction, Fraction]], sent: Fraction) -> Fraction:
        """What comes to a node of what a block sends, if leaves send all they can one after the other."""
        out = Fraction(0)
        for part, most in mix:
            out += part * min(most, sent)
            sent -= min(most, sent)
        return out

    def least(self, parts: list[Profile]) -> Fraction:
        """The least of half of all units; those that meet none of these send nothing."""
        members, profile = disjoint(parts, self.net.half)
        return profile[max(self.net.half - (len(self.net.units) - len(members)), 0)]


def lower_bound(net: Net, stated: Any) -> int:
    """The lower bound that a certificate's flows give."""
    by = stated["by"]
    if by == "splits":
        return sum(splits(net, part["order"], part["least"]) for part in stated["parts"])
    if by == "flows":
        return flows(net, stated["least"])
    if by == "spectrum":
        return spectrum(net, Fraction(stated["mu"]))
    if by == "routes":
        rate, apart = beside("verify_throughput").Orbits(net, stated).rate(stated)
        return -int(-rate * apart // 1)
    need(by in ("shares", "none"), "there is no such proof")
    more, inner = stated.get("restored", []), net.forward - net.units
    need(all({a, b} <= inner and a != b and rate > 0 and rate % net.grain == 0 for a, b, rate in more), "no link to restore")
    restored = net.add(more)  # no cut is less than one with them by more than all their capacity
    parts = [Part(net, p) for p in stated.get("parts", [])]
    need(sum(len(p.nodes) for p in parts) == len(set().union(*(p.nodes for p in parts))), "two parts share a node")
    return sum(p.value() for p in parts) - restored


# ---------------------------------------------------------------- statements


def bisection(net: Net, stated: Any) -> int:
    """The lower bound in bit/s; rejects unless that and the upper one are shown exactly as stated."""
    need(len(net.units) == stated["units"], "the number of units is another")
    side = set(stated["cut"])
    need(side <= net.units | net.forward, "the cut names what does not count")
    need(abs(2 * len(side & net.units) - len(net.units)) <= 1, "the split is not balanced")
    need(net.crossing(side) * net.grain == stated["upper_bps"], "other links cross the cut")
    lower = lower_bound(net, stated["lower"]) * net.grain  # restores links, or uses them up
    need(lower == stated["lower_bps"], f"the proof shows {lower} bit/s")
    return lower


def reachability(net: Net, stated: Any) -> None:
    """All units meet pairwise, or the two that are named do not."""
    hubs = net.hubs()
    need(len(net.units) == stated["units"], "the number of units is another")
    if stated["holds"]:
        kinds = {frozenset(h) for h in hubs.values()}
        together = kinds and frozenset.intersection(*kinds)
        need(
            bool(together) or (all(a & b for a, b in combinations(kinds, 2)) and all(kinds)), "some units do not reach each other"
        )
    else:
        a, b = stated["apart"]
        need(a != b and a in hubs and b in hubs and not hubs[a] & hubs[b], f"{a} and {b} reach each other, or do not count")


def diameter(net: Net, stated: Any) -> None:
    """Most links between what forwards, on a shortest path between units: steps until nothing new comes to any of it from others
    that units meet, one of all with the same neighbours. Who came is kept as bits of a whole number."""
    inner = {d: net.cap[d].keys() & net.forward for d in net.forward}
    near = {d for u in net.units for d in ({u} if u in net.forward else net.cap[u].keys() & net.forward)}
    one = {frozenset(inner[d]): d for d in sorted(near)}
    seen = dict.fromkeys(net.forward, 0) | {d: 1 << i for i, d in enumerate(one.values())}
    fresh, step, far = {d: seen[d] for d in one.values()}, 0, 0 if near else None
    while fresh:
        step += 1
        coming: dict[str, int] = defaultdict(int)
        for v, bits in fresh.items():
            for w in inner[v]:
                coming[w] |= bits
        fresh = {w: new for w, bits in coming.items() if (new := bits & ~seen[w])}
        for w, new in fresh.items():
            seen[w] |= new
        far = step if fresh.keys() & near else far
    need(type(stated["links"]) is int and far == stated["links"], f"it is {far}")


def stranded(whole: Net, gone: frozenset[str]) -> frozenset[str]:
    """Chips that have no link left: no ends any more, and nothing passes through them."""
    links = whole.fabric["links"]
    at = [links["columns"].index(c) for c in ("a_device", "b_device")]
    pairs = ({row[i] for i in at} for row in links["rows"])
    linked = {d for pair in pairs if not pair & gone for d in pair}
    return frozenset(d for d, f in whole.facts.items() if f["kind"] == "chip" and d not in linked)


def survives(whole: Net, stated: Any) -> None:
    """Every set of K elements is one of the cases, up to exchanges that keep the wiring; every case holds."""
    elements, count, claim = [frozenset(e) for e in stated["elements"]], stated["count"], stated["claim"]
    need(len(set(elements)) == len(elements) >= count > 0, "the elements are not several")
    passive = any(whole.facts.get(d, {}).get("kind") in ("ocs", "panel") for e in elements for d in e)
    need(not passive, "what runs through a panel or optical switch is not worked out here")
    place = {e: i for i, e in enumerate(elements)}
    key = {d: (f["kind"], f["role"], f["model"]) for d, f in whole.facts.items()}
    moves = []
    for image in stated["exchanges"]:
        need(set(image) == set(image.values()) and all(key[a] == key[b] for a, b in image.items()), "no exchange of like devices")
        moving = [x for x in whole.links if x[0] in image or x[1] in image]
        before = Counter((min(a, b), max(a, b), rate) for a, b, rate, _ in moving)
        after = Counter((*sorted((image.get(a, a), image.get(b, b))), rate) for a, b, rate, _ in moving)
        need(before == after, "an exchange changes the wiring")
        moves.append([place.get(frozenset(image.get(d, d) for d in e), -1) for e in elements])
        need(-1 not in moves[-1], "an exchange leads out of the elements")
    seen: set[frozenset[int]] = {frozenset(place[frozenset(e)] for e in case["failed"]) for case in stated["cases"]}
    front = list(seen)
    for at in front:
        new = {frozenset(moved[i] for i in at) for moved in moves} - seen
        seen |= new
        front += new
    every = islice(combinations(range(len(elements)), count), len(seen) + 1)
    need(all(frozenset(c) in seen for c in every), "a failure is not covered")
    for case in stated["cases"]:
        gone = frozenset().union(*case["failed"])
        net = Net(whole.fabric, gone | stranded(whole, gone))
        need(case["left"]["check"] == claim["check"], "a case is about something else")
        if case["left"]["check"] == "reachability":
            need(case["left"]["holds"] is True, "a case fails")
            reachability(net, case["left"])
        else:
            base = whole if claim["of_intact"] else net
            asked = max(Fraction(claim["at_least_bps"] or 0), Fraction(claim["at_least"] or 0) * base.full * base.grain)
            need(case["left"]["check"] == "bisection" and bisection(net, case["left"]) >= asked, "a case fails")


def throughput(net: Net, stated: Any) -> None:
    """Bounds on what flows of a pattern."""
    beside("verify_throughput").throughput(net, stated)


def beside(name: str) -> Any:
    """The file of that name beside this one, as a module; what it rejects is rejected here."""
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    need(spec is not None and spec.loader is not None, f"{name}.py is not beside this file")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.__dict__["Rejected"] = Rejected
    return module


CHECKS = {f.__name__: f for f in (bisection, throughput, reachability, diameter, survives)}


def verify(certificate: Any, fabric: Any) -> None:
    """Raise Rejected unless all that a certificate states is so."""
    try:
        need(certificate["schema"] == 1 and certificate["fabric"] == fabric["fabric"], "it is of another fabric")
        need(certificate["check"] in CHECKS, "there is no such check")
        CHECKS[certificate["check"]](Net(fabric), certificate)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError) as fault:
        raise Rejected(f"malformed: {fault!r}") from None


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as one, open(sys.argv[2], encoding="utf-8") as other:
            verify(json.load(one), json.load(other))
    except (Rejected, OSError, ValueError, IndexError) as why:  # no such file, no JSON, no two arguments
        raise SystemExit(f"rejected: {why}") from None
