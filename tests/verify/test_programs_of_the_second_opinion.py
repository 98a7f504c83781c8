"""Throughput by the second opinion on small random networks, against a linear program with one flow for each pair."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy.optimize import linprog

from tdsl.fabric.claims import Selector
from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceFile
from tdsl.verify.second import graph_figures, patterns
from tdsl.verify.second.answer import Limits, NoOpinion, SecondAnswer
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, rail_only
from tests.harness import each, fabric_of

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


# ---------------------------------------------------------------- one network


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
                b.link(b.port(node, n, "nic", k) if k >= 0 else b.port(node, n, "aux"), b.free(sw, at), cables[-1][3])
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

    each(range(45), rule)
    assert min(seen[x] for x in (("by rail", "full") if joined else ("by rail", "full", "compared"))) > 0, seen


# ---------------------------------------------------------------- domains of several hosts

MODELS = """
model chip ACC {{ port nv[3]: {rate}Gbps {{ type NVLINK5 }} }}
model switch XBAR {{ port p[32]: {rate}Gbps {{ type NVLINK5 }} }}
model host TRAY {{ port nic[2]: 400Gbps {{ type NDR }}; chip gpu[2]: ACC }}
model switch SW {{ port p[1..32]: 400Gbps {{ type NDR }} }}
"""


def domains(seed: int, folder: Path) -> tuple[Fabric, int, list[int], dict[Arc, int], dict[Arc, int]]:
    """Two or three domains of trays: the domain of every tray, rates of scale-up links, and rates of the network."""
    r = Random(seed)
    rate, domain, lines = r.choice((100, 200, 400)), list[int](), list[str]()
    up: Counter[Arc] = Counter()
    net: Counter[Arc] = Counter()
    leaves = r.randint(1, 2)
    for k in range(r.randint(2, 3)):
        trays, xbars = r.randint(1, 2), r.randint(1, 2)
        lines.append(f"group g{k} {{ host tray[{trays}]: TRAY; switch xbar[{xbars}]: XBAR")
        for t in range(trays):
            for x in range(xbars):
                wide = r.randint(1, 3 - x) if x == 0 and xbars == 1 else 1
                for gpu in range(2):
                    of = f"tray[{t}].gpu[{gpu}]"
                    lines += [f"connect {of}.nv[{x + i}] to xbar[{x}] {{ layer scaleup }}" for i in range(wide)]
                up[("tray", len(domain)), ("xbar", k, x)] += 2 * wide * rate * GBPS
            domain.append(k)
        lines.append("}")
    tray = 0
    for k in sorted(set(domain)):
        for t in range(domain.count(k)):
            for nic in range(2):
                if nic == 0 or r.random() < 0.6:
                    leaf = r.randrange(leaves)
                    lines.append(f"connect g{k}.tray[{t}].nic[{nic}] to leaf[{leaf}]")
                    net[("tray", tray), ("leaf", leaf)] += 400 * GBPS
            tray += 1
    if leaves > 1:
        trunks = r.randint(1, 2)
        lines.append(f"connect leaf[0] to leaf[1] x {trunks}")
        net[("leaf", 0), ("leaf", 1)] += trunks * 400 * GBPS
    text = "fabric f {\n" + f"switch leaf[{leaves}]: SW\n" + "\n".join(lines) + "\n}\n" + MODELS.format(rate=rate)
    made = fabric_of(text, folder, models=False)
    return made, len(domain), domain, dict(up), dict(net)


def through(seed: int, folder: Path) -> str:
    """Compare the figure through scale-up domains."""
    fabric, count, domain, up, net = domains(seed, folder)
    r = Random(seed)
    args: tuple[object, ...] = r.choice((("ring",), ("all_to_all",), ("shift", r.randrange(1, count))))
    w = WiringGraph.whole(fabric.network)
    asked = claim(fabric.network, "throughput", args=args, through="scaleup", report=True)
    found = patterns.pattern_throughput_by_highs(w, asked, LIMITS)
    step = args[1] if len(args) > 1 else 1
    assert isinstance(step, int)
    pairs = {(i, (i + step) % count) for i in range(count)}
    if args == ("all_to_all",):
        pairs = {(i, j) for i in range(count) for j in range(count) if i != j}
    wanted: dict[Arc, Fraction] = {((0, "tray", i), (1, "tray", j)): Fraction(1) for i, j in pairs}
    crossing: dict[Arc, Fraction] = {}
    for i, j in pairs:
        if domain[i] != domain[j]:
            arc = ((domain[i],), (domain[j],))
            crossing[arc] = crossing.get(arc, Fraction(0)) + 1
    own = {d: sum(x for (a, _), x in net.items() if a[0] == "tray" and domain[int(str(a[1]))] == d) for d in set(domain)}
    top = min(Fraction(own[int(str(x[0]))]) / most for x, most in sums(crossing).items())
    arcs: list[tuple[Fraction | None, list[Arc]]] = []
    for (a, b), rate in up.items():
        for x, y in ((a, b), (b, a)):
            arcs.append((Fraction(rate), [((side, *x), (side, *y)) for side in (0, 1)]))
    for (a, b), rate in net.items():
        first, last = ((0, *a), (1, *a)) if a[0] == "tray" else (a, a)
        arcs += [(Fraction(rate), [(first, b)]), (Fraction(rate), [(b, last)])]
    arcs += [(None, [((0, "tray", i), (1, "tray", i))]) for i in range(count)]
    compare(found, greatest(arcs, wanted), top, crossing)
    return "compared" if found.lower < 1 - 1e-6 else "full"


def test_random_domains(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def rule(seed: int) -> None:
        seen[through(seed, tmp_path)] += 1

    each(range(8), rule)
    assert min(seen["compared"], seen["full"]) > 0, seen


def scaled(folder: Path, *lines: str, rate: int = 400) -> Fabric:
    """Two trays with two GPUs each, a scale-up switch for each GPU and one leaf."""
    text = "fabric f {\nhost tray[2]: TRAY; switch xbar[2]: XBAR; switch leaf: SW\n" + "\n".join(lines) + "\n}\n"
    return fabric_of(text + MODELS.format(rate=rate), folder, models=False)


UP = "connect tray[t].gpu[g].nv[0] to xbar[0] { layer scaleup }"
NICS = "connect tray[t].nic[0] to leaf"


def asked_of(fabric: Fabric, *args: object) -> SecondAnswer:
    """The figure through scale-up domains."""
    asked = claim(fabric.network, "throughput", args=args, through="scaleup", report=True)
    return patterns.pattern_throughput_by_highs(WiringGraph.whole(fabric.network), asked, LIMITS)


APART = "which accelerators of a host are in one scale-up domain is not judged a second time"


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ((UP, NICS), "nothing that is sent leaves a scale-up domain"),
        (("connect tray[t].gpu[g].nv[0] to xbar[g] { layer scaleup }", NICS), APART),
        (("connect tray[t].gpu[0].nv[0] to xbar[0] { layer scaleup }", NICS), APART),
        (
            ("connect tray[t].gpu[g].nv[0] to xbar[t] { layer scaleup }", "connect tray[0].nic[0] to leaf"),
            "a unit that sends or receives has no link",
        ),
    ],
)
def test_domains_without_an_answer(lines: tuple[str, ...], why: str, tmp_path: Path) -> None:
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        asked_of(scaled(tmp_path, *lines), "ring")


def test_domains_that_failures_leave(tmp_path: Path) -> None:
    fabric = scaled(tmp_path, "connect tray[t].gpu[g].nv[0] to xbar[t] { layer scaleup }", NICS).network
    asked = claim(fabric, "throughput", args=("ring",), through="scaleup", report=True)
    for wiring in (WiringGraph.whole(fabric), WiringGraph.whole(fabric).without([])):
        assert patterns.pattern_throughput_by_highs(wiring, asked, LIMITS).lower == pytest.approx(1, abs=1e-9)
    first = next(d for d in range(fabric.device_count) if fabric.device_path(d).startswith("xbar"))
    with pytest.raises(NoOpinion, match=rf"^{APART}$"):
        patterns.pattern_throughput_by_highs(WiringGraph.whole(fabric).without([first]), asked, LIMITS)


def test_domains_and_their_links(tmp_path: Path) -> None:
    """A domain has the number of its least device; links of the GPUs of a tray are those of the tray, added up."""
    fabric = scaled(
        tmp_path,
        UP,
        "connect tray[0].gpu[g].nv[1] to xbar[0] { layer scaleup }",
        "connect xbar[0] to xbar[1] { layer scaleup }",
        NICS,
    )
    network = fabric.network
    number = {network.device_name(d): d for d in range(network.device_count)}
    found, links = patterns.unit_scaleup_domains(WiringGraph.whole(network))
    trays, xbars = ([number[f"{name}{i}"] for i in range(2)] for name in ("tray", "xbar"))
    assert found == dict.fromkeys(trays, min(trays))
    rate = 400 * GBPS
    assert links == {(trays[0], xbars[0]): 4 * rate, (trays[1], xbars[0]): 2 * rate, (xbars[0], xbars[1]): rate}
    apart = scaled(tmp_path, "connect tray[t].gpu[g].nv[0] to xbar[t] { layer scaleup }", NICS).network
    assert patterns.unit_scaleup_domains(WiringGraph.whole(apart))[0] == {d: d for d in trays}


def test_links_of_a_device_to_itself_carry_nothing() -> None:
    b = Builder("loops")
    node = b.devices("node", b.model("host", "NODE", {"nic": 3}), 2)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 1)
    for n in range(2):
        b.link(b.port(node, n, "nic", 0), b.free(sw, 0), 100 * GBPS)
    b.link(b.port(node, 0, "nic", 1), b.port(node, 0, "nic", 2), 400 * GBPS)
    b.link(b.free(sw, 0), b.port(sw, 0, "p", 7), 800 * GBPS)
    f = b.build()
    found = patterns.pattern_throughput_by_highs(
        WiringGraph.whole(f), claim(f, "throughput", args=("ring",), report=True), LIMITS
    )
    assert found.full_bps == 200 * GBPS and found.lower == pytest.approx(1, abs=1e-9)
    net = patterns._terminal_network(WiringGraph.whole(f), None)
    assert net.terminals == ((0, -1), (1, -1)) and net.passes == {(2, -2)}
    assert net.capacity == {((0, -1), (2, -2)): 100 * GBPS, ((1, -1), (2, -2)): 100 * GBPS}


def test_a_file_that_has_the_name_of_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "permutation").write_text("from,to,amount\n0,1,2\n", encoding="utf-8")
    b = Builder("pair", file=SourceFile(str(tmp_path / "made.fab"), ""))
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}), 2)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 1)
    for n in range(2):
        b.link(b.port(node, n), b.free(sw, 0))
    f = b.build()
    found = patterns.pattern_throughput_by_highs(
        WiringGraph.whole(f), claim(f, "throughput", args=("permutation",), report=True), LIMITS
    )
    assert found.full_bps == 400 * GBPS


def test_ports_that_reach_each_other_through_domains(tmp_path: Path) -> None:
    """Of hosts that join their own accelerators, and of domains of several hosts."""
    ports = (Selector("ports", "", ()),)
    f = rail_only(4, 2).build()
    for through, holds in (("scaleup", True), ("", False)):
        asked = claim(f, "reachability", of=ports, through=through)
        assert graph_figures.reachability_by_networkx(WiringGraph.whole(f), asked, LIMITS).holds is holds
    network = scaled(tmp_path, UP, NICS).network
    asked = claim(network, "reachability", of=ports, through="scaleup")
    assert graph_figures.reachability_by_networkx(WiringGraph.whole(network), asked, LIMITS).holds is True
    assert (
        graph_figures.reachability_by_networkx(WiringGraph.whole(network), claim(network, "reachability", of=ports), LIMITS).holds
        is True
    )
