"""Throughput by the second opinion on small random networks, against a linear program with one flow for each pair."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceFile
from tdsl.verify.second import graph_figures, patterns
from tdsl.verify.second.answer import Limits, NoOpinion, SecondAnswer
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, selector, torus
from tests.harness import each
from tests.verify.second.made import RATE, star, two_leaves

LIMITS = Limits()
Node = tuple[object, ...]
Arc = tuple[Node, Node]


def greatest(arcs: list[tuple[Fraction | None, list[Arc]]], asked: dict[Arc, Fraction]) -> float:
    """The greatest factor of all amounts at once; the arcs of one row share its capacity, None is no limit."""
    every = [(row, arc) for row, (_, both) in enumerate(arcs) for arc in both]
    nodes = {x: i for i, x in enumerate(sorted({x for _, arc in every for x in arc} | {x for p in asked for x in p}, key=str))}
    width = len(every) * len(asked) + 1
    shared = np.zeros((len(arcs), width))
    kept = np.zeros((len(asked) * len(nodes), width))
    for k, ((s, t), amount) in enumerate(asked.items()):
        for i, (row, (a, b)) in enumerate(every):
            column = k * len(every) + i
            shared[row, column] = 1
            kept[k * len(nodes) + nodes[a], column] -= 1
            kept[k * len(nodes) + nodes[b], column] += 1
        kept[k * len(nodes) + nodes[s], -1] = float(amount)
        kept[k * len(nodes) + nodes[t], -1] = -float(amount)
    limited = [row for row, (rate, _) in enumerate(arcs) if rate is not None]
    peak = max(float(rate) for rate, _ in arcs if rate is not None)
    upper = [float(arcs[row][0] or 0) / peak for row in limited]
    cost = np.zeros(width)
    cost[-1] = -1
    found = linprog(cost, A_ub=shared[limited], b_ub=upper, A_eq=kept, b_eq=np.zeros(len(kept)), method="highs")
    assert found.status == 0
    return float(-found.fun) * peak


def sums(asked: dict[Arc, Fraction]) -> dict[Node, Fraction]:
    """The larger of what every endpoint sends and receives."""
    out: Counter[Node] = Counter()
    into: Counter[Node] = Counter()
    for (s, t), amount in asked.items():
        out[s] += amount  # type: ignore[assignment]
        into[t] += amount  # type: ignore[assignment]
    return {x: Fraction(max(out[x], into[x])) for x in {*out, *into}}


def compare(found: SecondAnswer, factor: float, top: Fraction, asked: dict[Arc, Fraction]) -> None:
    """A figure is a factor over the one at which the busiest endpoint uses all its ports."""
    assert found.lower == found.upper and found.by == "HiGHS" and found.relative == Fraction(1, 10**6)
    assert float(found.lower) == pytest.approx(factor / float(top), abs=1e-7)
    assert found.full_bps is not None and found.full_bps == pytest.approx(float(top * sum(asked.values())), rel=1e-12)


Cable = tuple[int, int, int, int]
"""A host, the rail of its port or -1, the switch and the rate."""


def hosts(seed: int, folder: Path, joined: bool) -> tuple[Fabric, list[Cable], dict[Arc, int]]:
    """Hosts with ports mostly at the switch of their rail; their cables, and the rates between switches."""
    r = Random(seed)
    b = Builder("random", file=SourceFile(str(folder / "made.fab"), ""))
    count, switches = r.randint(2, 4), r.randint(2, 3)
    shape = {"nic": switches, "aux": {"shape": ()}}
    node = b.devices("node", b.model("host", "NODE", shape, accelerators=2, scaleup=joined), count)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 64}), switches)
    cables: list[Cable] = []
    for n in range(count):
        for k in range(-1, switches):
            if k == n % switches or r.random() < (0.7 if k >= 0 else 0.3):
                at = k if k >= 0 and r.random() < 0.8 else r.randrange(switches)
                cables.append((n, k, at, r.choice((1, 2, 4)) * 100 * GBPS))
                b.link(
                    b.port(node, n, "nic", k) if k >= 0 else b.port(node, n, "aux"),
                    b.free(sw, at),
                    cables[-1][3],
                )
    trunks: Counter[Arc] = Counter()
    for _ in range(r.randint(2, 5)):
        x, y = r.sample(range(switches), 2)
        rate = r.choice((1, 2, 4)) * 100 * GBPS
        b.link(b.free(sw, x), b.free(sw, y), rate)
        trunks[("sw", min(x, y)), ("sw", max(x, y))] += rate
    return b.build(), cables, dict(trunks)


def organised(cables: list[Cable]) -> bool:
    """Whether more than half of the switches have one rail at more than half of their ports, and these are several rails."""
    serves, most = set(), 0
    switches = {at for _, rail, at, _ in cables if rail >= 0}
    for s in switches:
        of = Counter(rail for _, rail, at, _ in cables if at == s and rail >= 0)
        serves.add(min(rail for rail in of if of[rail] == max(of.values())))
        most += 2 * max(of.values()) > sum(of.values())
    return 2 * most > len(switches) and len(serves) > 1


def demands(r: Random, count: int, folder: Path) -> tuple[tuple[object, ...], dict[tuple[int, int], Fraction]]:
    """Arguments of a pattern, and what each host sends to each."""
    kind = r.choice(("all", "ring", "rail_allreduce", "shift", "permutation", "list", "matrix"))
    if kind == "all":
        return ("all_to_all",), {}
    if kind in ("ring", "rail_allreduce", "shift"):
        step = r.randrange(1, count) + r.choice((0, count, -2 * count)) if kind == "shift" else 1
        args = (kind, step) if kind == "shift" else (kind,)
        return args, {(i, (i + step) % count): Fraction(1) for i in range(count)}
    if kind == "permutation":
        to = r.sample(range(count), count)
        (folder / "to.csv").write_text("from,to\n" + "".join(f"{i},{t}\n" for i, t in enumerate(to)), encoding="utf-8")
        return ("permutation", "to.csv"), {(i, t): Fraction(1) for i, t in enumerate(to) if i != t}
    table = {(i, j): Fraction(r.choice((0, 1, 1, 3)), r.choice((1, 2))) for i in range(count) for j in range(count)}
    if kind == "matrix":
        rows = [",".join(str(float(table[i, j])) for j in range(count)) for i in range(count)]
    else:
        rows = ["from,to,amount", *(f"{i},{j},{float(x)}" for (i, j), x in table.items())]
    (folder / "much.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return ("much.csv",), {pair: x for pair, x in table.items() if x and pair[0] != pair[1]}


def network(seed: int, folder: Path, joined: bool) -> str:
    """Compare the figure of a random network and pattern; what came out of it."""
    fabric, cables, trunks = hosts(seed, folder, joined)
    r = Random(seed)
    units = sorted({n for n, *_ in cables})
    args, pairs = demands(r, len(units), folder)
    w, asked = WiringGraph.whole(fabric), claim(fabric, "throughput", args=args, report=True)
    railed = organised(cables) and (joined or args[0] == "rail_allreduce")
    rates = Counter(trunks)
    for n, rail, at, rate in cables:
        if rail >= 0 or not railed:
            rates[("host", n, rail if railed else -1), ("sw", at)] += rate
    terminals = sorted({end for end, _ in rates if end[0] == "host"})
    amounts: dict[Arc, Fraction] = {}
    if args[0] == "all_to_all":
        amounts = {(s, t): Fraction(1) for s in terminals for t in terminals if s != t}
    elif railed and args[0] in ("ring", "rail_allreduce"):
        for rail in range(3):
            members = [end for end in terminals if end[2] == rail]
            if len(members) > 1:
                amounts |= {(s, t): Fraction(1) for s, t in zip(members, [*members[1:], members[0]], strict=True)}
    else:
        lost = False
        for (i, j), amount in pairs.items():
            common = [rail for rail in range(-1, 3) if ("host", i, rail) in terminals and ("host", j, rail) in terminals]
            lost |= not common
            amounts |= {(("host", i, rail), ("host", j, rail)): amount for rail in common}
        if lost:
            assert patterns.pattern_throughput_by_highs(w, asked, LIMITS) == SecondAnswer("HiGHS", Fraction(0), Fraction(0))
            return "no common rail"
    if not amounts:
        with pytest.raises(NoOpinion, match=r"^(nobody sends to anybody else|no two ends that exchange something are left)$"):
            patterns.pattern_throughput_by_highs(w, asked, LIMITS)
        return "nothing"
    top = min(Fraction(sum(rate for pair, rate in rates.items() if x in pair)) / most for x, most in sums(amounts).items())
    # Hosts pass nothing on: a flow leaves only its source and enters only its destination, both nodes of their own.
    arcs = [
        (Fraction(rate), [(("out", a) if a[0] == "host" else a, ("in", b) if b[0] == "host" else b)])
        for pair, rate in rates.items()
        for a, b in (pair, pair[::-1])
    ]
    wanted = {(("out", s), ("in", t)): amount for (s, t), amount in amounts.items()}
    found = patterns.pattern_throughput_by_highs(w, asked, LIMITS)
    compare(found, greatest(arcs, wanted), top, amounts)
    return "by rail" if railed else "compared" if found.lower < 1 - 1e-6 else "full"


@pytest.mark.parametrize("joined", [False, True])
def test_random_networks(joined: bool, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def rule(seed: int) -> None:
        seen[network(seed, tmp_path, joined)] += 1

    each(range(30), rule)
    assert min(seen[x] for x in (("by rail", "full") if joined else ("by rail", "full", "compared"))) > 0, seen


def sent(fabric: Fabric, *args: object, limits: Limits = LIMITS, **more: Any) -> SecondAnswer:
    """The second figure of a throughput."""
    return patterns.pattern_throughput_by_highs(
        WiringGraph.whole(fabric), claim(fabric, "throughput", args=args, report=True, **more), limits
    )


@pytest.mark.parametrize(
    ("text", "share", "full"),
    [
        # Both flows cross the trunk: half of 2 x 400G.
        ("from,to,amount\n0,2,1\n1,3,1\n", 0.5, 2 * RATE),
        # Names and paths are the same as numbers, comments and blank lines are left out.
        ("# demands\nFrom, To, Amount\nnode0,node[2],1\n\n 1 , 3 , 1\n", 0.5, 2 * RATE),
        # A pair that is given twice is added up; host 0 sends 2, so 400G is 2 units: 1 + 0.5 times 400G over the trunk.
        ("from,to,amount\n0,2,1\n1,3,1\n0,2,1\n", 2 / 3, RATE * Fraction(3, 2)),
        # Host 0 sends 3 + 1 within its leaf and to host 2: 400G is 4 units, the trunk has 1 of them.
        ("from,to,amount\n0,1,3\n0,2,1\n", 1.0, RATE),
        # What a host sends to itself and amounts of 0 do not count.
        ("from,to,amount\n0,0,9\n0,1,0.25\n1,2,0\n", 1.0, RATE),
        # A matrix: 0 to 2 and 1 to 3, 2 units each; host 2 gets no more than the trunk has.
        ("0,0,2,0\n0,0,0,2\n0,0,0,0\n0,0,0,0\n", 0.5, 2 * RATE),
        ("0,1,0,0\n0,0,0,0\n0,0,0,0.5\n0,0,0,0\n", 1.0, RATE * Fraction(3, 2)),
    ],
)
def test_demands_of_a_file(tmp_path: Path, text: str, share: float, full: Fraction) -> None:
    (tmp_path / "demands.csv").write_text(text, encoding="utf-8")
    found = sent(two_leaves(file=str(tmp_path / "made.fab")).build(), "demands.csv")
    assert float(found.lower) == pytest.approx(share, abs=1e-9)
    assert found.full_bps == full


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "demands.csv cannot be read"),
        ("from,to,amount\n0,7,1\n", "demands.csv is not read a second time"),
        ("from,to,amount\n0,1,much\n", "demands.csv is not read a second time"),
        ("0,1,1,1\n1,0,1,1\n1,1,0,1\n", "demands.csv is not read a second time"),
        ("0,1,1\n1,0,1\n1,1,0\n1,1,1\n", "demands.csv is not read a second time"),
        ("from,to,amount\n2,2,1\n", "nobody sends to anybody else"),
        ("from,to,amount\n0,2,0\n", "nobody sends to anybody else"),
    ],
)
def test_a_file_without_an_answer(tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "demands.csv").write_text(text, encoding="utf-8")
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        sent(two_leaves(file=str(tmp_path / "made.fab")).build(), "demands.csv")


@pytest.mark.parametrize(
    ("made", "args", "why"),
    [
        (star(RATE), ("all_to_all",), "there are fewer than two units"),
        (star(RATE, RATE, 0), ("all_to_all",), "a unit that sends or receives has no link"),
        (star(RATE, RATE), ("shift", 2), "the pattern says nothing about this fabric"),
        (star(RATE, RATE), ("shift", 0), "the pattern says nothing about this fabric"),
        (star(RATE, RATE), ("shift", Fraction(1, 2)), "the pattern says nothing about this fabric"),
        (torus(3), ("rail_allreduce",), "the pattern says nothing about this fabric"),
        (
            star(10**12, 10**12, 10**6 - 1),
            ("ring",),
            "rates or demands are too far apart for the floats of HiGHS",
        ),
    ],
)
def test_patterns_without_an_answer(made: Builder, args: tuple[object, ...], why: str) -> None:
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        sent(made.build(), *args)


def test_throughput_between_two_sets() -> None:
    """Two hosts send over trunks of 400G; 100% is what the ports of the smaller set carry."""
    for trunk, share in ((1, Fraction(1, 2)), (2, Fraction(1)), (3, Fraction(1))):
        fabric = two_leaves(trunk).build()
        node = selector(fabric, "node")
        halves = [type(node)(f"node[{i}..{i + 1}]", node.kind, node.elements[i : i + 2]) for i in (0, 2)]
        asked = claim(fabric, "throughput", of=(halves[0],), of_to=(halves[1],), report=True)
        found = graph_figures.throughput_between_by_networkx(WiringGraph.whole(fabric), asked, LIMITS)
        assert (found.lower, found.upper, found.full_bps) == (share, share, Fraction(2 * RATE))
        same = claim(fabric, "throughput", of=(halves[0],), of_to=(halves[0],), report=True)
        with pytest.raises(NoOpinion, match=r"^one set is empty, or they have a device in common$"):
            graph_figures.throughput_between_by_networkx(WiringGraph.whole(fabric), same, LIMITS)
    fabric = star(RATE, 0).build()
    node = selector(fabric, "node")
    one, two = (type(node)(f"node[{k}]", node.kind, (e,)) for k, e in enumerate(node.elements))
    with pytest.raises(NoOpinion, match=r"^one of the two has no link$"):
        graph_figures.throughput_between_by_networkx(
            WiringGraph.whole(fabric), claim(fabric, "throughput", of=(one,), of_to=(two,)), LIMITS
        )
