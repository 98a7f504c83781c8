"""Small random designs as .fab text, with what to ask of them. The same seed gives the same design.

A design is irregular in one or two places of an otherwise regular whole: where reasoning by symmetry is tempted and wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from random import Random

from tests.soundness.judges import Claim, Figure

RATES = (100, 200, 400)
CONDITIONS = (
    "reachability", "reachability", "bisection", "bisection", "ring", "ring", "shift", "all_to_all", "permutation", "diameter",
    "mean_hops", "edge_redundancy", "node_redundancy", "latency", "allreduce", "between", "between",
)  # fmt: skip


@dataclass
class Draft:
    """A design in the making. ``fails`` are selectors whose elements may fail, ``sides`` pairs of sets for a flow from one to the
    other, ``metres`` rules of cable length, ``units`` names of some hosts or chips that send. ``joints`` are pairs of sets
    with few links between them (the second may be empty), of which up to three links, ports, cables, cages or bundles fail."""

    kind: str
    seed: int
    rng: Random
    models: dict[str, str] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)
    fails: list[str] = field(default_factory=list)
    sides: list[tuple[str, str]] = field(default_factory=list)
    metres: dict[str, int] = field(default_factory=dict)
    units: list[str] = field(default_factory=list)
    joints: list[tuple[str, str]] = field(default_factory=list)
    latency: bool = False
    tiers: bool = False

    def add(self, *lines: str) -> None:
        self.body += lines

    def host(self, ports: Sequence[tuple[str, int, int]], acc: int = 1, joined: bool = False, role: str = "") -> str:
        """A model of hosts with these classes of ports (name, number, Gbit/s) and accelerators; its name."""
        key = "_".join(["H", str(acc), *("J" * joined), *(f"{n}{c}x{r}" for n, c, r in ports), *("L" * self.latency)])
        one = acc == 1 or (joined and acc > 0)
        title = f"acc={acc} joined={int(one)}" + (" ns=100" if self.latency else "")
        inside = [f"port {n}[{c}]: {r}Gbps" for n, c, r in ports]
        if acc:
            self.models.setdefault("G", 'model chip G "acc=0" { port lane: 400Gbps }')
            inside.append(f"chip gpu[{acc}]: G")
        if acc > 1 and joined:
            self.models.setdefault("XS", 'model switch XS "ns=0" { port p[1..16]: 400Gbps }')
            inside += ["switch x: XS", "connect gpu[g] to x { layer scaleup; medium trace }"]
        if self.latency:
            inside.append("latency 100ns")
        self.models.setdefault(key, f'model host {key} "{title}" {{ {"; ".join(inside)} }}')
        return key

    def switch(self, name: str = "SW", ports: int = 40) -> str:
        """A model of switches whose ports take any rate; its name."""
        ns = 500 if self.latency else None
        fact, title = ("; latency 500ns", f' "ns={ns}"') if ns is not None else ("", "")
        self.models.setdefault(name, f"model switch {name}{title} {{ port p[1..{ports}]: any{fact} }}")
        return name

    def chip(self, ports: int, rate: int) -> str:
        """A model of chips with ports of one rate; its name."""
        fact, title = ("; latency 50ns", ' "acc=0 ns=50"') if self.latency else ("", ' "acc=0"')
        name = f"C{ports}x{rate}" + "L" * self.latency
        self.models.setdefault(name, f"model chip {name}{title} {{ port ici[{ports}]: {rate}Gbps{fact} }}")
        return name

    def tray(self, chips: int, chip: str) -> str:
        """A model of hosts that hold chips; its name."""
        name = f"T{chips}_{chip}"
        self.models.setdefault(name, f'model host {name} "acc={chips} joined={int(chips == 1)}" {{ chip gpu[{chips}]: {chip} }}')
        return name

    def settings(self, rate: int | None, a: str = "", b: str = "", bundle: int = 0) -> str:
        """Settings of a connect: its rate, its bundles and, where the design has lengths, its length."""
        inside = [f"rate {rate}Gbps"] if rate is not None else []
        inside += [f"bundle {bundle}"] if bundle else []
        if self.latency:
            metres = self.metres.setdefault(f"{a}~{b}", self.rng.choice((1, 5, 30, 400, 1000)))
            inside.append(f"length {metres}m")
        return f" {{ {'; '.join(inside)} }}" if inside else ""

    def text(self, requirements: Sequence[Claim] = (), planned: bool = False, report: bool = False) -> str:
        """The design; ``planned``: with everything built that is planned, ``report``: requirements are reports."""
        rules = ",".join(f"{ends}:{metres}" for ends, metres in self.metres.items())
        title = f' "metres={rules}"' if rules else ""
        lines = [*self.models.values(), f"fabric f{title} {{", *(f"  {x}" for x in self.body)]
        lines += [f"  {'report' if report else 'require'} {c.text()}" for c in requirements]
        if planned:
            lines = [re.sub(r"\d+ of (\d+)", r"\1", x) for x in lines if not x.strip().startswith("omit ")]
        return "\n".join([*lines, "}", ""])


# ---------------------------------------------------------------- kinds of designs


def clos(d: Draft) -> None:
    """Leaves and spines with omitted members, mixed rates, chords and missing links."""
    r = d.rng
    leaves, spines, hosts, nics = r.randint(2, 4), r.randint(1, 3), r.randint(3, 8), r.randint(1, 2)
    d.tiers = r.random() < 0.7
    host = d.host([("nic", nics, r.choice(RATES))], acc=r.choice((1, 1, 2)))
    sw = d.switch()
    d.add(f"host node[{hosts}]: {host}", f"switch leaf[{leaves}]: {sw}", f"switch spine[{spines}]: {sw}")
    where = r.choice((f"n % {leaves}", f"n // {-(-hosts // leaves)}", f"(n + i) % {leaves}", f"({leaves} * n + i) % {leaves}"))
    d.add(f"connect node[n].nic[i] to leaf[{where}]" + d.settings(None, "node", "leaf"))
    many = r.choice(("", " x 2"))
    if r.random() < 0.5:
        d.add(f"connect leaf[*] to spine[*] each{many}" + d.settings(r.choice(RATES), "leaf", "spine"))
    else:
        for s in range(spines):
            guard = r.choice(("", f" where l != {r.randrange(leaves)}", f" where (l + {s}) % 3 != 0"))
            d.add(f"connect leaf[l] to spine[{s}]{many}{guard}" + d.settings(r.choice(RATES), "leaf", f"spine[{s}]"))
    if r.random() < 0.3 and leaves > 1:
        a, b = r.sample(range(leaves), 2)
        d.add(f"connect leaf[{a}] to leaf[{b}]" + d.settings(r.choice(RATES), f"leaf[{a}]", f"leaf[{b}]"))
        d.tiers = False
    _omit(d, [("node", hosts), ("spine", spines), ("leaf", leaves)], 0.4)
    d.fails += ["spine", "leaf", "node", "spine, leaf"]
    d.sides += [("leaf[0]", "leaf[1]"), (f"node[0..{hosts // 2 - 1}]", f"node[{hosts // 2}..{hosts - 1}]")]
    d.units += [f"node{n}" for n in range(hosts)]


def pods(d: Draft) -> None:
    """Three tiers: pods of leaves and spines under cores."""
    r = d.rng
    count, leaves, spines, cores = r.randint(2, 3), r.randint(1, 2), r.randint(1, 2), r.randint(1, 2)
    d.tiers = True
    host = d.host([("nic", 1, 100)])
    sw = d.switch()
    d.add(
        f"pod pod[{count}] {{ host node[{2 * leaves}]: {host}; switch leaf[{leaves}]: {sw}; switch spine[{spines}]: {sw}; "
        f"connect node[n].nic to leaf[n // 2]{d.settings(None, 'pod.node', 'pod.leaf')}; "
        f"connect leaf[*] to spine[*] each{d.settings(100, 'pod.leaf', 'pod.spine')} }}",
        f"switch core[{cores}]: {sw}",
        f"connect pod[*].spine[*] to core[*] each{r.choice(('', ' x 2'))}"
        + d.settings(r.choice((100, 200)), "pod.spine", "core"),
    )
    if r.random() < 0.4:
        d.add(f"omit pod[{r.randrange(count)}].{r.choice(('node', 'spine', 'leaf'))}[0]")
    d.fails += ["core", "pod[*].spine[*]", "pod", "leaf", "core, spine"]
    d.sides += [("pod[0]", "pod[1]")]
    d.units += [f"pod{p}-node{n}" for p in range(count) for n in range(2 * leaves)]


def planes(d: Draft) -> None:
    """Networks apart, one a port of every host; now and then a cable between two of them."""
    r = d.rng
    count, leaves, spines, hosts = r.randint(2, 3), r.randint(1, 2), r.randint(1, 2), r.randint(3, 6)
    acc = r.choice((1, 2))
    host = d.host([("nic", count, r.choice(RATES))], acc=acc, joined=acc > 1 and r.random() < 0.5)
    sw = d.switch()
    d.tiers = True
    d.add(
        f"host node[{hosts}]: {host}",
        f"plane pl[{count}] {{ switch leaf[{leaves}]: {sw}; switch spine[{spines}]: {sw}; "
        f"connect leaf[*] to spine[*] each{d.settings(r.choice(RATES), 'pl.leaf', 'pl.spine')} }}",
        f"connect node[n].nic[p] to pl[p].leaf[n % {leaves}]" + d.settings(None, "node", "pl.leaf"),
    )
    if r.random() < 0.3:
        d.add("connect pl[0].leaf[0] to pl[1].spine[0]" + d.settings(100, "pl[0].leaf[0]", "pl[1].spine[0]"))
    if r.random() < 0.3:
        d.add(f"omit pl[{r.randrange(count)}].spine[0]")
    d.fails += ["pl", "spine", "leaf", "node", "pl[*].leaf[*]"]
    d.sides += [("node[0]", "node[1..2]")]
    d.units += [f"node{n}" for n in range(hosts)]


def rails(d: Draft) -> None:
    """A leaf for each rail; some ports of hosts swapped, some missing."""
    r = d.rng
    count, hosts, spines = r.randint(2, 3), r.randint(3, 6), r.randint(0, 2)
    acc = r.choice((1, count, count))
    host = d.host([("nic", count, r.choice(RATES))], acc=acc, joined=r.random() < 0.7)
    sw = d.switch()
    d.add(f"host node[{hosts}]: {host}", f"switch leaf[{count}]: {sw}")
    swapped = r.randrange(hosts) if r.random() < 0.6 else -1
    shift = r.choice((0, 0, 1))
    for i in range(count):
        home = (i + shift) % count
        missing = r.randrange(hosts) if r.random() < 0.3 else -1
        at = f"node[n].nic[{i}] to leaf[{home}]"
        d.add(f"connect {at} where n != {swapped} and n != {missing}" + d.settings(None, "node", f"leaf[{home}]"))
        if swapped >= 0:
            other = (home + 1) % count
            d.add(f"connect node[{swapped}].nic[{i}] to leaf[{other}]" + d.settings(None, f"node[{swapped}]", f"leaf[{other}]"))
    if spines:
        d.add(f"switch spine[{spines}]: {sw}", "connect leaf[*] to spine[*] each" + d.settings(r.choice(RATES), "leaf", "spine"))
        d.fails.append("spine")
    d.fails += ["leaf", "node"]
    d.sides += [("node[0]", "node[1]")]
    d.units += [f"node{n}" for n in range(hosts)]


def trays(d: Draft) -> None:
    """Chips in hosts, wired to each other or to switches: what fails is the host."""
    r = d.rng
    hosts, chips, rate = r.randint(3, 6), r.randint(1, 2), r.choice(RATES)
    chip = d.chip(8, rate)
    tray = d.tray(chips, chip)
    d.add(f"host tray[{hosts}]: {tray}")
    shape = r.choice(("line", "ring", "star", "switch", "two"))
    same = "tray.gpu", "tray.gpu"
    for g in range(chips):
        if shape == "line":
            d.add(f"connect tray[t].gpu[{g}] to tray[t + 1].gpu[{g}] where t < {hosts - 1}" + d.settings(None, *same))
        elif shape == "ring":
            d.add(f"connect tray[t].gpu[{g}] to tray[(t + 1) % {hosts}].gpu[{g}]" + d.settings(None, *same))
        elif shape == "star":
            d.add(f"connect tray[0].gpu[{g}] to tray[t].gpu[{g}] where t > 0" + d.settings(None, *same))
    if shape in ("switch", "two"):
        d.add(f"switch sw[2]: {d.switch()}")
        d.add(
            f"connect tray[t].gpu[g].ici[k] to sw[(t + k) % 2] where k < {r.randint(1, 2)}" + d.settings(None, "tray.gpu", "sw")
        )
        if shape == "two":
            d.add("connect sw[0] to sw[1]" + d.settings(rate, "sw[0]", "sw[1]"))
        d.fails.append("sw")
    elif chips > 1:
        d.add("connect tray[t].gpu[0] to tray[t].gpu[1]" + d.settings(None, *same))
    if r.random() < 0.3 and shape in ("line", "ring") and hosts > 3:
        d.add(f"connect tray[0].gpu[0] to tray[{hosts // 2}].gpu[0]" + d.settings(None, *same))
    _omit(d, [("tray", hosts)], 0.15)
    d.fails += ["tray", "tray", f"tray[0..{hosts // 2}]"]
    d.sides += [("tray[0]", f"tray[{hosts - 1}]"), ("tray[0].gpu[0]", f"tray[{hosts - 1}].gpu[0]")]
    d.units += [f"tray{t}-gpu{g}" for t in range(hosts) for g in range(chips)]


def chassis(d: Draft) -> None:
    """Switches in a chassis: what fails is the chassis."""
    r = d.rng
    boxes, inner, hosts = r.randint(2, 4), r.randint(1, 2), r.randint(3, 6)
    xb = d.switch("XB")
    d.models["BOX"] = f"model switch BOX {{ switch x[{inner}]: {xb} }}"
    host = d.host([("nic", r.randint(1, 2), r.choice(RATES))])
    d.add(f"host node[{hosts}]: {host}", f"switch box[{boxes}]: BOX")
    d.add(f"connect node[n].nic[i] to box[(n + {r.choice((0, 1))} * i) % {boxes}].x[(n + i) % {inner}]"
          + d.settings(None, "node", "box.x"))  # fmt: skip
    shape = r.choice(("line", "ring", "star"))
    rate = r.choice(RATES)
    ends = {
        "line": f"box[b].x[k] to box[b + 1].x[k] where b < {boxes - 1}",
        "ring": f"box[b].x[k] to box[(b + 1) % {boxes}].x[k]",
        "star": "box[0].x[k] to box[b].x[k] where b > 0",
    }[shape]
    d.add(f"connect {ends}" + d.settings(rate, "box.x", "box.x"))
    if inner > 1:
        d.add("connect box[b].x[0] to box[b].x[1]" + d.settings(rate, "box.x", "box.x"))
    d.fails += ["box", "box", "node", "box[*].x[*]"]
    d.sides += [("node[0]", "node[1..2]")]
    d.units += [f"node{n}" for n in range(hosts)]


def optical(d: Draft) -> None:
    """Links through panels and optical switches, distributed unevenly over them."""
    r = d.rng
    leaves, spines, mids, hosts = r.randint(2, 3), r.randint(1, 2), r.randint(2, 3), r.randint(3, 6)
    kind = r.choice(("ocs", "panel"))
    d.models["MID"] = (
        "model ocs MID { port o[1..96]: any }" if kind == "ocs" else "model panel MID { port front[48]: any; port back[48]: any }"
    )
    host, sw = d.host([("nic", r.randint(1, 2), r.choice(RATES))]), d.switch()
    d.add(
        f"host node[{hosts}]: {host}", f"switch leaf[{leaves}]: {sw}", f"switch spine[{spines}]: {sw}", f"{kind} mid[{mids}]: MID"
    )
    d.add(f"connect node[n].nic[i] to leaf[(n + i) % {leaves}]" + d.settings(None, "node", "leaf"))
    way = r.choice((f"(l + s) % {mids}", f"l % {mids}", f"s % {mids}", f"(l * s) % {mids}"))
    d.add(f"connect leaf[l] to spine[s] via mid[{way}]" + d.settings(r.choice(RATES), "leaf", "spine"))
    if r.random() < 0.4:
        d.add(f"connect leaf[0] to leaf[{leaves - 1}]" + d.settings(100, "leaf", "leaf"))
    d.fails += ["mid", "mid", "spine", "leaf"]
    d.sides += [("leaf[0]", f"leaf[{leaves - 1}]")]
    d.units += [f"node{n}" for n in range(hosts)]


def circuits(d: Draft) -> None:
    """Blocks that are cabled to optical switches, and circuits between them."""
    r = d.rng
    blocks, ports = r.choice(((3, 4), (4, 3), (4, 6), (3, 2), (5, 4)))
    many = r.randint(1, 3)
    d.models["MID"] = "model ocs MID { port o[1..64]: any }"
    host = d.host([("nic", 1, 400)])
    d.models["BLOCK"] = f"model switch BLOCK {{ port p[1..{ports}]: 400Gbps; port q[1..4]: 400Gbps }}"
    each = r.randint(1, 2)
    d.add(f"host node[{blocks * each}]: {host}", f"switch block[{blocks}]: BLOCK", f"ocs mid[{many}]: MID")
    d.add(f"connect node[n].nic to block[n // {each}].q")
    d.add(f"connect block[b].p[i] to mid[(i - 1) % {many}]")
    d.add(f"circuit block[*] {r.choice(('spread uneven', 'ring', 'each', 'ring'))}")
    d.fails += ["mid", "mid", "block"]
    d.sides += [("block[0]", "block[1]")]
    d.units += [f"node{n}" for n in range(blocks * each)]


def torus(d: Draft) -> None:
    """Chips in a mesh or torus, with chords and omitted members."""
    r = d.rng
    sizes = r.choice(((4,), (6,), (3, 3), (2, 4), (2, 2, 2), (3, 4), (2, 5), (7,), (2, 2, 3)))
    rate = r.choice(RATES)
    chip = d.chip(12, rate)
    shape = "x".join(map(str, sizes))
    d.add(f"chip c[{shape}]: {chip}" if len(sizes) > 1 else f"chip c[{sizes[0]}]: {chip}")
    d.add(f"connect c[*] {r.choice(('mesh', 'torus', 'torus'))}" + d.settings(None, "c", "c"))

    def one() -> str:
        return f"c[{', '.join(str(r.randrange(n)) for n in sizes)}]"

    for _ in range(r.choice((0, 0, 1, 2))):
        a, b = one(), one()
        if a != b:
            d.add(f"connect {a} to {b}" + d.settings(None, "c", "c"))
    if r.random() < 0.3:
        d.add(f"omit {one()}")
    d.fails += ["c", "c"]
    d.sides += [(one(), one())]
    d.units += []


def dragonfly(d: Draft) -> None:
    """Groups of switches, each to each, with uneven links between the groups."""
    r = d.rng
    groups, each, per = r.randint(2, 4), r.randint(1, 2), r.randint(1, 2)
    per = 1 if groups * each > 5 else per
    host, sw = d.host([("nic", per_host := r.randint(1, 2), r.choice(RATES))]), d.switch()
    inner = f"connect sw[*] each{d.settings(r.choice(RATES), 'g.sw', 'g.sw')}; " if each > 1 else ""
    spread = f"sw[(n + i) % {each}]" if per_host > 1 else f"sw[n % {each}]"
    d.add(
        f"group g[{groups}] {{ host node[{per * each}]: {host}; switch sw[{each}]: {sw}; {inner}"
        f"connect node[n].nic[i] to {spread}{d.settings(None, 'g.node', 'g.sw')} }}"
    )
    for a in range(groups):
        for b in range(a + 1, groups):
            if r.random() < 0.85 or b == a + 1:
                ends = f"g[{a}].sw[{r.randrange(each)}]", f"g[{b}].sw[{r.randrange(each)}]"
                d.add(f"connect {ends[0]} to {ends[1]}{r.choice(('', '', ' x 2'))}" + d.settings(r.choice(RATES), *ends))
    if r.random() < 0.2:
        d.add(f"omit g[{r.randrange(groups)}].node[0]")
    d.fails += ["g", "sw", "g[*].sw[*]", "node"]
    d.sides += [("g[0]", "g[1]")]
    d.units += [f"g{a}-node{n}" for a in range(groups) for n in range(per * each)]


def hyperx(d: Draft) -> None:
    """Switches in a grid, each to each along every dimension; some links doubled or missing."""
    r = d.rng
    wide, high = r.choice(((2, 2), (2, 3), (3, 3)))
    per = 1 if wide * high > 6 else r.randint(1, 2)
    host, sw = d.host([("nic", 1, r.choice(RATES))]), d.switch()
    rate = r.choice(RATES)
    d.add(f"host node[{wide}x{high}, {per}]: {host}", f"switch sw[{wide}x{high}]: {sw}")
    d.add("connect node[x, y, k].nic to sw[x, y]" + d.settings(None, "node", "sw"))
    gap = r.choice(("", f" and not (x == 0 and y == {high - 1})"))
    d.add(f"connect sw[x, y] to sw[z, y] where x < z{gap}" + d.settings(rate, "sw", "sw"))
    d.add(f"connect sw[x, y] to sw[x, z]{r.choice(('', ' x 2'))} where y < z" + d.settings(rate, "sw", "sw"))
    d.fails += ["sw", "node", "sw"]
    d.sides += [("sw[0, 0]", f"sw[{wide - 1}, {high - 1}]")]
    d.units += [f"node{x}-{y}-{k}" for x in range(wide) for y in range(high) for k in range(per)]


def scattered(d: Draft) -> None:
    """A random graph of switches with hosts anywhere."""
    r = d.rng
    switches, hosts, nics = r.randint(3, 6), r.randint(3, 7), r.randint(1, 2)
    host, sw = d.host([("nic", nics, r.choice(RATES))]), d.switch()
    d.add(f"host node[{hosts}]: {host}", f"switch sw[{switches}]: {sw}")
    for n in range(hosts):
        for i in range(nics):
            at = r.randrange(switches)
            if r.random() < 0.93:
                d.add(f"connect node[{n}].nic[{i}] to sw[{at}]" + d.settings(None, f"node[{n}]", f"sw[{at}]"))
    for a in range(switches):
        for b in range(a + 1, switches):
            if r.random() < 0.55:
                ends = f"sw[{a}]", f"sw[{b}]"
                d.add(f"connect {ends[0]} to {ends[1]}{r.choice(('', '', ' x 2'))}" + d.settings(r.choice(RATES), *ends))
    d.fails += ["sw", "node", f"sw[0..{switches // 2}]", "sw[0], sw[2]"]
    d.sides += [("node[0]", "node[1]"), ("sw[0]", "sw[1..2]")]
    d.units += [f"node{n}" for n in range(hosts)]


def breakouts(d: Draft) -> None:
    """Ports of hosts split into lanes that go to several leaves by one break-out cable."""
    r = d.rng
    hosts, leaves, ways = r.randint(3, 6), 2, r.choice((2, 4))
    d.models["G"] = 'model chip G "acc=0" { port lane: 400Gbps }'
    d.models["SPL"] = 'model host SPL "acc=1 joined=1" { port nic: 800Gbps { split 2, 4 }; chip gpu: G }'
    d.models["CAB"] = f"model cable CAB {{ rate 800Gbps; medium copper; legs {ways} }}"
    sw = d.switch()
    d.add(f"host node[{hosts}]: SPL {{ split nic {ways} }}", f"switch leaf[{leaves}]: {sw}", f"switch spine[2]: {sw}")
    d.add(f"connect node[n].nic[lane] to leaf[(n + lane) % {leaves}] {{ cable CAB }}")
    d.add(f"connect leaf[*] to spine[*] each{r.choice(('', ' x 2'))}" + d.settings(r.choice(RATES), "leaf", "spine"))
    _omit(d, [("node", hosts), ("spine", 2)], 0.4)
    d.tiers = True
    d.fails += ["leaf", "spine", "node", "leaf, spine"]
    d.sides += [("node[0]", "node[1]")]
    d.units += [f"node{n}" for n in range(hosts)]


def lengths(d: Draft) -> None:
    """Leaves and spines with cables of several lengths."""
    d.latency = True
    d.rng.choice((clos, clos, pods, dragonfly, hyperx, scattered, torus, rails, rings))(d)


def half_built(d: Draft) -> None:
    """Members that are planned and not built, of hosts, leaves and spines."""
    r = d.rng
    units, leaves, spines = r.randint(2, 3), r.randint(1, 2), r.randint(1, 2)
    hosts = r.randint(1, 2) * leaves
    host, sw = d.host([("nic", 1, 100)]), d.switch()
    d.tiers = True
    built = r.randint(1, units)
    d.add(f"host node[{built} of {units}, {hosts}]: {host}", f"switch leaf[{units}, {leaves}]: {sw}")
    three = r.random() < 0.4
    d.add(f"switch spine[{units}, {spines}]: {sw}" if three else f"switch spine[{spines}]: {sw}")
    d.add(f"connect node[u, n].nic to leaf[u, n % {leaves}]" + d.settings(None, "node", "leaf"))
    up = r.choice(("", " x 2"))
    if three:
        d.add(f"connect leaf[u, l] to spine[u, s]{up}" + d.settings(100, "leaf", "spine"), f"switch core[2]: {sw}")
        d.add("connect spine[*, *] to core[*] each" + d.settings(100, "spine", "core"))
        d.fails.append("core")
    else:
        d.add(f"connect leaf[*, *] to spine[*] each{up}" + d.settings(r.choice((100, 200)), "leaf", "spine"))
    if r.random() < 0.3 and hosts > 1:
        d.add(f"omit node[0, {r.randrange(hosts)}]")
    d.fails += ["spine", "leaf", "node"]
    d.sides += [("node[0, 0]", "leaf[0, 0]")]
    d.units += [f"node{u}-{n}" for u in range(built) for n in range(hosts)]


def others(d: Draft) -> None:
    """Storage and managers beside the hosts, now and then where no host reaches them."""
    r = d.rng
    hosts, leaves = r.randint(3, 6), r.randint(2, 3)
    host, sw = d.host([("nic", r.randint(1, 2), r.choice(RATES))]), d.switch()
    d.models["ST"] = 'model host ST "acc=0 joined=0" { port p[2]: 200Gbps }'
    d.add(
        f"host node[{hosts}]: {host}",
        f"switch leaf[{leaves}]: {sw}",
        f"host st[2]: ST {{ role {r.choice(('storage', 'manager'))} }}",
    )
    d.add(f"connect node[n].nic[i] to leaf[(n + i) % {leaves}]")
    d.add(f"connect st[s].p[0] to leaf[{r.randrange(leaves)}]")
    if r.random() < 0.7:
        d.add(f"switch spine: {sw}", f"connect leaf[*] to spine each {{ rate {r.choice(RATES)}Gbps }}")
        d.fails.append("spine")
    if r.random() < 0.4:
        d.add(f"switch lone: {sw}", "connect st[1].p[1] to lone")
        if r.random() < 0.5:
            d.add("connect lone to leaf[0] { rate 100Gbps }")
    d.fails += ["leaf", "st", "node"]
    d.sides += [("st[0]", "node[0..1]")]
    d.units += [f"node{n}" for n in range(hosts)]


def rings(d: Draft) -> None:
    """Groups alike inside and wired alike from outside but for their order."""
    r = d.rng
    groups = r.randint(3, 5)
    host, sw = d.host([("nic", 1, 400)]), d.switch()
    d.add(
        f"group g[{groups}] {{ host node: {host}; switch r: {sw}; switch b: {sw}; "
        f"connect node.nic to r{d.settings(None, 'g.node', 'g.r')} }}",
        f"switch core: {sw}",
    )
    d.add("connect g[i].b to core" + d.settings(400, "g.b", "core"))
    missing = r.randrange(groups)
    d.add(f"connect g[i].r to g[i].b where i != {missing}" + d.settings(400, "g.r", "g.b"))
    order = r.sample(range(groups), groups)
    for a, b in [*pairwise(order), *([(order[-1], order[0])] if r.random() < 0.5 else [])]:
        if r.random() < 0.8:
            d.add(f"connect g[{a}].r to g[{b}].r" + d.settings(400, f"g[{a}].r", f"g[{b}].r"))
    d.fails += ["g[*].b", "g", "g[0].b, g[1].b", "g[*].r", "core"]
    d.sides += [("g[0]", "g[1]")]
    d.units += [f"g{a}-node" for a in range(groups)]


def stars(d: Draft) -> None:
    """Units under one spine, hosts with a port on every leaf of their unit."""
    r = d.rng
    units, hosts, leaves = r.randint(2, 3), r.randint(1, 3), 2
    acc = r.choice((1, 2))
    host, sw = d.host([("nic", leaves, r.choice(RATES))], acc=acc, joined=r.random() < 0.5), d.switch()
    d.tiers = True
    d.add(
        f"group su[{units}] {{ host node[{hosts}]: {host}; switch leaf[{leaves}]: {sw}; "
        f"connect node[n].nic[i] to leaf[i]{d.settings(None, 'su.node', 'su.leaf')} }}",
        f"switch spine[{(spines := r.randint(1, 2))}]: {sw}",
    )
    d.add(f"connect su[*].leaf[*] to spine[*] each{r.choice(('', ' x 2'))}" + d.settings(r.choice(RATES), "su.leaf", "spine"))
    if r.random() < 0.4:
        d.add(f"omit su[{r.randrange(units)}].{r.choice(('leaf', 'node'))}[0]")
    d.fails += ["su", "leaf", "su[*].leaf[*]", "spine", "su[0].leaf[*]"] + (["spine, su"] if spines > 1 else [])
    d.sides += [("su[0]", "su[1]")]
    d.units += [f"su{u}-node{n}" for u in range(units) for n in range(hosts)]


def intents(d: Draft) -> None:
    """What is wanted instead of what is built: hosts, rails, pods and tiers."""
    r = d.rng
    d.tiers = True
    pods, rails_ = r.choice(((1, 1), (2, 1), (1, 2), (2, 2)))
    planned = r.choice((4, 6, 8)) if pods == 1 else r.choice((4, 8))
    built = planned if r.random() < 0.5 else r.randint(2, planned)
    host = d.host([("nic", rails_, 100)], acc=r.choice((1, rails_)), joined=r.random() < 0.5)
    ports = r.choice((8, 12, 16))
    d.models["LS"] = f"model switch LS {{ port p[1..{ports}]: 100Gbps }}"
    d.add(f"hosts {built} of {planned} x {host}" if built < planned else f"hosts {planned} x {host}")
    d.add(*([f"rails {rails_}"] if rails_ > 1 else []), *([f"pods {pods}"] if pods > 1 else []))
    d.add(f"clos {{ leaf LS; spine LS; oversubscription {r.choice(('1:1', '2:1', 'about 2:1', 'at most 3:1'))} }}")
    if r.random() < 0.4:
        d.add(f"omit host[{r.randrange(built)}]")
    d.fails += ["spine", "leaf", "host", *(["pod"] if pods > 1 else [])]
    d.sides += [("host[0]", "host[1]")]
    d.units += [f"host{n}" for n in range(built)]


def extremes(d: Draft) -> None:
    """Rates of one bit and of more than a float holds, and rates whose quotients are no decimal fractions."""
    r = d.rng
    rates = ("9007199254740995bps", "9007199254740993bps", "3bps", "1000000000000000003bps", "100Gbps", "33333333333bps")
    fast, slow = r.choice(rates), r.choice(rates)
    hosts, leaves = r.randint(2, 5), 2
    d.models["G"] = 'model chip G "acc=0" { port lane: 400Gbps }'
    d.models["HX"] = f'model host HX "acc=1 joined=1" {{ port nic: {fast}; port z: {slow}; chip gpu: G }}'
    d.models["SX"] = f"model switch SX {{ port p[1..16]: {fast}; port z[1..16]: {slow} }}"
    d.add(f"host node[{hosts}]: HX", f"switch leaf[{leaves}]: SX", f"connect node[n].nic to leaf[n % {leaves}]")
    if r.random() < 0.6:
        d.add("connect node[n].z to leaf[0].z")
    d.add(f"connect leaf[0].{r.choice('pz')} to leaf[1].{r.choice('pz')}" if fast == slow else "connect leaf[0].z to leaf[1].z")
    d.fails += ["leaf", "node"]
    d.sides += [("node[0]", "node[1]")]
    d.units += [f"node{n}" for n in range(hosts)]


def unrated(d: Draft) -> None:
    """Links between ports of any rate, of which some have no rate."""
    r = d.rng
    hosts, leaves = r.randint(2, 4), 2
    host, sw = d.host([("nic", 1, 100)]), d.switch()
    d.add(f"host node[{hosts}]: {host}", f"switch leaf[{leaves}]: {sw}", f"connect node[n].nic to leaf[n % {leaves}]")
    d.add("connect leaf[*] each" + r.choice(("", " { rate 100Gbps }")))
    d.fails += ["leaf"]
    d.sides += [("node[0]", "node[1]")]
    d.units += [f"node{n}" for n in range(hosts)]


def mixed(d: Draft) -> None:
    """Hosts of two models, some cabled to each other, and chips beside them."""
    r = d.rng
    one, two = d.host([("nic", 1, 100)]), d.host([("nic", 2, 200), ("eth", 1, 100)], acc=2, joined=r.random() < 0.5)
    sw = d.switch()
    few, many = r.randint(1, 3), r.randint(2, 4)
    d.add(f"host a[{few}]: {one}", f"switch sw[3]: {sw}", f"host b[{many}]: {two}")
    d.add(f"connect a[n].nic to sw[n % {r.randint(1, 3)}]", f"connect b[n].nic[i] to sw[(n + i) % {r.randint(1, 3)}]")
    if r.random() < 0.5:
        d.add("connect b[0].eth to b[1].eth")
    elif r.random() < 0.5:
        d.add(f"connect b[n].eth to sw[{r.randrange(3)}]")
    d.add(f"connect sw[i] to sw[i + 1] {r.choice(('', 'x 2 '))}where i < 2 {{ rate {r.choice(RATES)}Gbps }}")
    if r.random() < 0.3:
        chip = d.chip(4, 100)
        d.add(f"chip c[2]: {chip}", "connect c[0] to c[1]", "connect c[*] to sw[1] each { rate 100Gbps }")
    d.fails += ["a", "b", "sw", "a, b"]
    d.sides += [("a[0]", "b[0]"), ("a[*]", "b[*]")]
    d.units += [*(f"a{n}" for n in range(few)), *(f"b{n}" for n in range(many))]


def scatter_chips(d: Draft) -> None:
    """Chips joined to chips at random, some to switches as well."""
    r = d.rng
    count, rate = r.randint(3, 8), r.choice(RATES)
    d.add(f"chip c[{count}]: {d.chip(12, rate)}")
    for a in range(count):
        for b in range(a + 1, count):
            if b == a + 1 or r.random() < 0.25:
                d.add(f"connect c[{a}] to c[{b}]{r.choice(('', '', ' x 2'))}")
    if r.random() < 0.5:
        d.add(f"switch sw[2]: {d.switch()}", f"connect c[n] to sw[n % 2] where n != {r.randrange(count)}")
        d.fails.append("sw")
    d.fails += ["c", f"c[0..{count // 2}]"]
    d.sides += [("c[0]", f"c[{count - 1}]")]
    d.units += [f"c{n}" for n in range(count)]


def bundled(d: Draft) -> None:
    """Parallel links of which some form bundles, also those of hosts; some hosts without a link, some links beside a bundle."""
    r = d.rng
    leaves, spines, hosts, nics = r.randint(2, 3), r.randint(1, 2), r.randint(3, 6), r.choice((1, 2, 2, 3, 4))
    d.tiers = r.random() < 0.6
    host = d.host([("nic", nics, r.choice(RATES))])
    sw = _caged(d) if r.random() < 0.4 else d.switch()
    d.add(f"host node[{hosts}]: {host}", f"switch leaf[{leaves}]: {sw}", f"switch spine[{spines}]: {sw}")
    guard = f" where n != {r.randrange(hosts)}" if r.random() < 0.3 else ""
    together = [b for b in range(2, nics + 1) if nics % b == 0]
    if together and r.random() < 0.6:
        d.add(f"connect node[n].nic[i] to leaf[n % {leaves}]{guard}{d.settings(None, 'node', 'leaf', r.choice(together))}")
    else:
        d.add(f"connect node[n].nic[i] to leaf[(n + i) % {leaves}]{guard}{d.settings(None, 'node', 'leaf')}")
    for _ in range(r.choice((1, 1, 2))):
        many, size = r.choice(((2, 2), (4, 2), (4, 4), (3, 3), (6, 2), (6, 3), (1, 0), (2, 0)))
        where = r.choice(("", "", " where l != s", f" where l != {r.randrange(leaves)}"))
        d.add(f"connect leaf[l] to spine[s] x {many}{where}" + d.settings(r.choice(RATES), "leaf", "spine", size))
    if r.random() < 0.3:
        d.tiers = False
        d.add("connect leaf[0] to leaf[1] x 2" + d.settings(r.choice(RATES), "leaf", "leaf", r.choice((0, 2, 2))))
    _omit(d, [("node", hosts), ("spine", spines), ("leaf", leaves)], 0.3)
    d.fails += ["spine", "leaf", "node", "spine, leaf"]
    d.sides += [("leaf[0]", "leaf[1]"), ("node[0]", f"node[1..{hosts - 1}]")]
    d.units += [f"node{n}" for n in range(hosts)]
    d.joints += [("leaf", "spine"), ("leaf[0]", "spine"), ("leaf[0..1]", "spine[0]"), ("spine[0]", ""), ("node", "leaf[0]")]


def bundled_across(d: Draft) -> None:
    """Hosts whose links form bundles over two leaves each, beside bundles between switches."""
    r = d.rng
    pairs, spines, hosts, rails = r.randint(1, 3), r.randint(1, 2), r.randint(3, 6), r.randint(1, 2)
    host, sw = d.host([("nic", 2 * rails, r.choice(RATES))]), d.switch()
    d.add(f"host node[{hosts}]: {host}", f"switch leaf[{pairs}, 2]: {sw}", f"switch spine[{spines}]: {sw}")
    size = r.choice((2, 2, 2 * rails))
    guard = f" where n != {r.randrange(hosts)}" if r.random() < 0.3 else ""
    evpn = " evpn" if hosts % 2 else ""
    d.add(f"connect node[n].nic[i] to leaf[n % {pairs}, i % 2]{guard} {{ bundle {size} across{evpn} }}")
    many, other = r.choice(((1, 0), (2, 0), (2, 2), (4, 2)))
    d.add(f"connect leaf[l, k] to spine[s] x {many}" + d.settings(r.choice(RATES), "leaf", "spine", other))
    _omit(d, [("node", hosts), ("spine", spines)], 0.3)
    d.fails += ["spine", "leaf", "node", "spine, leaf"]
    d.sides += [("leaf[0, 0]", "leaf[0, 1]"), ("node[0]", f"node[1..{hosts - 1}]")]
    d.units += [f"node{n}" for n in range(hosts)]
    d.joints += [("leaf", "spine"), ("leaf[0, 0]", "spine"), ("spine[0]", ""), ("node", "leaf[0, 0]")]


def bundled_chips(d: Draft) -> None:
    """Chips that forward, joined by parallel links of which some form bundles."""
    r = d.rng
    count, rate = r.randint(3, 6), r.choice(RATES)
    d.add(f"chip c[{count}]: {d.chip(24, rate)}")
    for a in range(count):
        for b in range(a + 1, count):
            if b == a + 1 or r.random() < 0.3:
                many, size = r.choice(((1, 0), (2, 2), (2, 0), (4, 2), (4, 4), (3, 3)))
                d.add(f"connect c[{a}] to c[{b}] x {many}" + d.settings(None, f"c[{a}]", f"c[{b}]", size))
                if r.random() < 0.2:
                    d.add(f"connect c[{a}] to c[{b}]" + d.settings(None, f"c[{a}]", f"c[{b}]"))
    d.fails += ["c", f"c[0..{count // 2}]"]
    d.sides += [("c[0]", f"c[{count - 1}]")]
    d.units += [f"c{n}" for n in range(count)]
    d.joints += [("c[0]", ""), ("c[0]", "c[1]"), ("c[0..1]", "c[2]"), ("c", f"c[{count - 1}]")]


def crossed(d: Draft) -> None:
    """Cages of two ports, and links through several panels or optical switches, of which up to three fail."""
    r = d.rng
    leaves, spines, mids, hosts = r.randint(2, 3), r.randint(1, 2), r.randint(3, 5), r.randint(3, 6)
    d.latency = r.random() < 0.3
    kind = r.choice(("ocs", "panel"))
    d.models["MID"] = (
        "model ocs MID { port o[1..96]: any }" if kind == "ocs" else "model panel MID { port front[48]: any; port back[48]: any }"
    )
    host, sw = d.host([("nic", r.randint(1, 2), r.choice(RATES))]), _caged(d)
    d.add(
        f"host node[{hosts}]: {host}", f"switch leaf[{leaves}]: {sw}", f"switch spine[{spines}]: {sw}", f"{kind} mid[{mids}]: MID"
    )
    d.add(f"connect node[n].nic[i] to leaf[(n + i) % {leaves}]" + d.settings(None, "node", "leaf"))
    size = r.choice((0, 0, 2))
    for _ in range(r.randint(1, 3)):
        way = r.choice(
            (f"(l + s) % {mids}", f"l % {mids}", f"(2 * l + s) % {mids}", f"(l * s + 1) % {mids}", str(r.randrange(mids)))
        )
        many = r.choice((2, 4)) if size else r.choice((1, 2, 3))
        d.add(f"connect leaf[l] to spine[s] x {many} via mid[{way}]" + d.settings(r.choice(RATES), "leaf", "spine", size))
    if r.random() < 0.5:
        d.add(f"connect leaf[0] to leaf[{leaves - 1}] x 2" + d.settings(100, "leaf", "leaf"))
    d.fails += ["mid", "mid", "mid", "spine", "leaf, spine"]
    d.sides += [("leaf[0]", f"leaf[{leaves - 1}]"), ("node[0]", f"node[1..{hosts - 1}]")]
    d.units += [f"node{n}" for n in range(hosts)]
    d.joints += [
        ("leaf", "spine"),
        ("leaf[0]", "spine"),
        ("leaf", "spine[0]"),
        ("spine[0]", ""),
        ("node", "leaf[0]"),
        ("leaf", ""),
    ]


def _caged(d: Draft) -> str:
    """A model of switches with two or four ports a cage; its name."""
    many = d.rng.choice((2, 2, 4))
    ns, fact = (' "ns=500"', "; latency 500ns") if d.latency else ("", "")
    d.models[f"SC{many}"] = f"model switch SC{many}{ns} {{ port p[1..48]: any {{ cage {many} OSFP }}{fact} }}"
    return f"SC{many}"


def domains(d: Draft) -> None:
    """Scale-up domains of several hosts beside a network of leaves and spines: hosts on common scale-up switches, in pairs, or
    on two tiers of switches; some domains smaller or with slower links."""
    r = d.rng
    racks, hosts, ups, nics = r.randint(2, 3), r.randint(2, 3), r.randint(1, 2), r.randint(1, 2)
    acc, rate = r.choice((1, 2)), r.choice((100, 200, 400, 800))
    key = f"D{acc}_{nics}_{ups}_{rate}"
    d.models.setdefault("G", 'model chip G "acc=0" { port lane: 400Gbps }')
    facts = f'"acc={acc} joined={int(acc == 1)} ports=1"'
    d.models[key] = (
        f"model host {key} {facts} {{ port nic[{nics}]: {r.choice(RATES)}Gbps; port nv[{ups}]: {rate}Gbps; chip gpu[{acc}]: G }}"
    )
    sw = d.switch()
    shape = r.choice(("switches", "switches", "ring", "tiers"))
    inside = [f"host node[{hosts}]: {key}"]
    if shape == "ring":
        inside.append("connect node[n].nv to node[n + 1].nv where n % 2 == 0 and n + 1 < " + f"{hosts} {{ layer scaleup }}")
        ups = 1
    else:
        inside.append(f"switch low[{ups}]: {sw}")
        inside.append("connect node[n].nv[k] to low[k] { layer scaleup }")
        if shape == "tiers":
            inside += [f"switch high: {sw}", f"connect low[*] to high each {{ layer scaleup; rate {r.choice(RATES)}Gbps }}"]
    d.add(f"rack rack[{racks}] {{ {'; '.join(inside)} }}")
    leaves, spines = r.randint(1, 3), r.randint(1, 2)
    d.add(f"switch leaf[{leaves}]: {sw}", f"switch spine[{spines}]: {sw}")
    where = r.choice(("k", "n", "i", f"n + {hosts} * k"))
    d.add(
        f"connect rack[k].node[n].nic[i] to leaf[({where}) % {leaves}]",
        f"connect leaf[*] to spine[*] each {{ rate {r.choice(RATES)}Gbps }}",
    )
    if r.random() < 0.3:
        d.add(f"omit rack[0].node[{hosts - 1}]")
    d.fails += ["spine", "leaf", "rack.node", "rack"]
    d.sides += [("rack[0]", "rack[1]")]
    d.units += [f"rack{k}-node{n}" for k in range(racks) for n in range(hosts - 1)]


def servers(d: Draft) -> None:
    """Hosts that forward, on levels of switches (BCube) or joined to each other (DCell), some links missing."""
    r = d.rng
    n, levels = r.randint(2, 3), 2
    count, acc = n**levels, r.choice((1, 2))
    host, sw = d.host([("nic", levels + 1, r.choice(RATES))], acc=acc, joined=r.random() < 0.5), d.switch()
    says = r.choice(("braces", "model", "statement"))
    if says == "model":
        d.models[host] = re.sub(r" \}$", "; forwards }", d.models[host])
    built = f"{count - 1} of {count}" if r.random() < 0.2 else str(count)
    d.add(f"host node[{built}]: {host}" + (" { forwards }" if says == "braces" else ""))
    d.add(f"switch s[{levels}, {n}]: {sw}", *(["forwards node"] if says == "statement" else []))
    lost = r.randrange(count)
    d.add(f"connect node[h].nic[(0)] to s[(0), h//{n}]" + d.settings(None, "node", "s"))
    if r.random() < 0.6:
        d.add(f"connect node[h].nic[(1)] to s[(1), h % {n}] where h != {lost}" + d.settings(None, "node", "s"))
    else:
        d.add(f"connect node[h].nic[(1)] to node[h % {n}*{n} + h//{n}].nic[(1)] where h//{n} < h % {n} and h != {lost}")
        d.add("connect s[(1), i] to s[(0), i] { rate 100Gbps }")
    if r.random() < 0.5:
        a, b = r.sample(range(count), 2)
        d.add(f"connect node[{a}].nic[(2)] to node[{b}].nic[(2)]")
    d.fails += ["node", "s", "node[0..1]", "node[0], s[0, 0]"]
    d.sides += [("node[0]", f"node[{count - 2}]"), ("node[0..1]", "s[0, 0]")]
    d.units += [f"node{i}" for i in range(count - 1)]


def relays(d: Draft) -> None:
    """Hosts and chips of which some forward, anywhere on a random graph of switches, and storage that forwards between them."""
    r = d.rng
    switches, some, others = r.randint(2, 4), r.randint(1, 3), r.randint(2, 4)
    rate = r.choice(RATES)
    one, two = d.host([("nic", 3, rate)]), d.host([("nic", 2, rate), ("eth", 1, 100)], acc=2, joined=r.random() < 0.5)
    sw = d.switch()
    d.add(f"host a[{some}]: {one} {{ forwards }}", f"host b[{others}]: {two}", f"switch sw[{switches}]: {sw}")
    for n in range(some):
        for i in range(3):
            if r.random() < 0.8:
                d.add(f"connect a[{n}].nic[{i}] to sw[{r.randrange(switches)}]")
    for n in range(others):
        for i in range(2):
            if i == 0 or r.random() < 0.6:
                d.add(f"connect b[{n}].nic[{i}] to sw[{r.randrange(switches)}]")
    for a in range(switches):
        for b in range(a + 1, switches):
            if r.random() < 0.4:
                d.add(f"connect sw[{a}] to sw[{b}] {{ rate {r.choice(RATES)}Gbps }}")
    if r.random() < 0.4:
        store = d.host([("nic", 2, 200)], acc=0, role="storage")
        d.add(f"host st: {store} {{ role storage; forwards }}", f"connect st.nic[i] to sw[i % {switches}] {{ rate 200Gbps }}")
        d.fails.append("st")
    if r.random() < 0.3:
        chip = d.chip(4, 100)
        d.add(f"chip c[2]: {chip} {{ forwards }}", f"connect c[i] to sw[i % {switches}] x 2 {{ rate 100Gbps }}")
        d.fails.append("c")
    d.fails += ["a", "b", "sw", "a, b"]
    d.sides += [("a[0]", "b[0]"), ("b[0]", "b[1]")]
    d.units += [*(f"a{n}" for n in range(some)), *(f"b{n}" for n in range(others))]


def twisted(d: Draft) -> None:
    """Tori by the topology: dimensions that wrap or not, twisted ones, through optical switches or not, chips left out."""
    r = d.rng
    d.models["OC"] = "model ocs OC { port o[1..64]: any }"
    if r.random() < 0.3:
        sizes = r.choice(((2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 2, 4)))
        cube = tuple(1 if s % 2 or r.random() < 0.5 else 2 for s in sizes)
        turn = f"; twist x by {cube[2]} along z" if r.random() < 0.6 else ""
        body = f"ocs_torus {{ shape {'x'.join(map(str, sizes))}; cube {'x'.join(map(str, cube))}; ocs OC{turn} }}"
        d.fails += ["ocs", "ocs", "ocs[0]"]
    else:
        sizes = r.choice(((2, 4), (4, 2), (3, 3), (2, 3), (3, 4), (2, 2, 2), (2, 2, 3)))
        axes = "xyz"[: len(sizes)]
        rows = []
        if r.random() < 0.5:
            rows.append(f"wrap [{', '.join(str(r.randrange(2)) for _ in sizes)}]")
        if len(sizes) > 1 and r.random() < 0.7:
            a, b = r.sample(axes, 2)
            rows.append(f"twist {a} by {r.randint(1, 3)} along {b}")
        if r.random() < 0.3:
            rows.append(f"rates [{', '.join(f'{r.choice(RATES)}Gbps' for _ in sizes)}]")
        body = f"torus {'x'.join(map(str, sizes))} {{ {'; '.join(rows)} }}" if rows else f"torus {'x'.join(map(str, sizes))}"
    count = 1
    for n in sizes:
        count *= n
    chip = d.chip(8, 400)
    d.models[chip] = d.models[chip].replace("400Gbps", "any" if "rates" in body else "400Gbps")
    d.add(f"chips {count} x {chip}", body)
    for _ in range(r.choice((0, 0, 1, 2))):
        d.add(f"omit chip[{r.randrange(count)}]")
    if r.random() < 0.3:
        a, b = r.sample(range(count), 2)
        d.add(f"connect chip[{a}].ici[6] to chip[{b}].ici[7]" + d.settings(100 if "rates" in body else None, "a", "b"))
    d.fails += ["chip", f"chip[0..{count // 2}]"]
    d.sides += [("chip[0]", f"chip[{count - 1}]"), ("chip[0]", f"chip[1..{count - 1}]")]
    d.units += [f"chip{i}" for i in range(count)]


def tables(d: Draft) -> None:
    """Dragonflies of several kinds of groups, some hosts and routers left out, some links of another rate."""
    r = d.rng
    host = d.host([("nic", r.randint(1, 2), 100)], acc=r.choice((1, 2)))
    d.models["R"] = "model switch R { port p[1..24]: 100Gbps }"
    one, two, inner = r.randint(1, 3), r.randint(1, 2), r.randint(1, 3)
    first, second = r.randint(1, 3), r.randint(0, 2)
    hosts = one * first + two * second
    rows = [f"groups near {one} of {first} hosts, far {two} of {second or first} hosts {r.randint(1, 2)} routers"]
    hosts += two * first if not second else 0
    rows += [f"routers {inner}", "router R", f"arc near to far {r.randint(1, 3)}"]
    rows += [f"arc near to near {r.randint(1, 2)}"] * (one > 1) + [f"arc far to far {r.randint(1, 2)}"] * (two > 1)
    planned = f"{hosts - 1} of {hosts}" if r.random() < 0.3 and hosts > 2 else str(hosts)
    d.add(f"hosts {planned} x {host}", f"dragonfly {{ {'; '.join(rows)} }}")
    if r.random() < 0.3:
        d.add(f"omit host[{r.randrange(hosts - 1)}]")
    if r.random() < 0.3:
        d.add(f"omit g[{r.randrange(one + two)}].r[0]")
    d.fails += ["g", "g", "host", "g[0]", "r"]
    d.sides += [("g[0]", f"g[{one}]"), ("host[0]", f"host[{hosts - 2}]")]
    d.units += [f"host{n}" for n in range(hosts - 1)]


KINDS: Mapping[str, Callable[[Draft], None]] = {
    f.__name__: f
    for f in (
        clos, pods, planes, rails, trays, chassis, optical, circuits, torus, dragonfly, hyperx, scattered, breakouts, lengths,
        half_built, others, rings, stars, intents, extremes, unrated, mixed, scatter_chips, bundled, bundled_chips, crossed,
        domains,
        servers, relays, twisted, tables, bundled_across,
    )
}  # fmt: skip
"""All kinds of designs by name."""


def _omit(d: Draft, sets: Sequence[tuple[str, int]], chance: float) -> None:
    """Leave out a member of one of these sets that have several."""
    several = [(n, c) for n, c in sets if c > 1]
    if several and d.rng.random() < chance:
        name, count = d.rng.choice(several)
        d.add(f"omit {name}[{d.rng.randrange(count)}]")


def draft(seed: int, kind: str = "") -> Draft:
    """The design of a seed."""
    rng = Random(seed)
    kinds = [*KINDS]
    chosen = kind or kinds[seed % len(kinds)]
    made = Draft(chosen, seed, rng)
    KINDS[chosen](made)
    return made


# ---------------------------------------------------------------- what to ask


def questions(d: Draft) -> list[Claim]:
    """Requirements without thresholds, to be set against what the judges find."""
    r = d.rng
    plain = [Claim("reachability"), Claim("bisection"), Claim("diameter"), Claim("edge_redundancy"), Claim("node_redundancy"),
             Claim("mean_hops"), Claim("reachability", of="ports")]  # fmt: skip
    out = r.sample(plain, 3)
    switches = [f for f in d.fails if f in ("leaf", "spine", "pl", "pod", "su", "core", "g", "leaf, spine", "spine, leaf", "box")]
    out += [Claim("oversubscription")] if d.tiers else []
    out += [Claim("oversubscription", at=r.choice(switches))] if d.tiers and switches else []
    out += [Claim("taper", of=r.choice(d.fails))]
    out += [Claim("plane_isolation")] if d.kind == "planes" else []
    out += [Claim("latency"), Claim("allreduce", str(r.choice((1000, 10**6))))] if d.latency else []
    out += [condition(d, r.choice(("ring", "shift", "all_to_all", "permutation"))) for _ in range(2)]
    if d.kind == "domains":
        out += [Claim("throughput", word, scaleup=True) for word in ("ring", "all_to_all", f"shift {r.randint(1, 3)}")]
    if r.random() < 0.3:
        out.append(Claim("throughput", r.choice(("ring", "all_to_all", "rail_allreduce")), scaleup=r.random() < 0.5))
    if d.sides:
        a, b = r.choice(d.sides)
        out.append(Claim("throughput", of=a, to=b))
    out.append(Claim("blast_radius", of=r.choice(d.fails)))
    for _ in range(5):
        asked = condition(d, r.choice(CONDITIONS))
        given = None if asked.metric == "reachability" and r.random() < 0.7 else asked
        out.append(Claim("survives", of=r.choice(d.fails), count=r.choice((1, 1, 1, 2, 2, 3)), given=given))
    plain_sets = [f for f in d.fails if "," not in f]
    what, of, to = r.choice(("links", "links", "ports", "cables")), r.choice(plain_sets), r.choice(("", *plain_sets))
    given = condition(d, r.choice(CONDITIONS))
    out.append(Claim("survives", of=of, to="" if to == of else to, count=r.choice((1, 1, 2)), given=given, what=what))
    for _ in range(6 if d.joints else 0):
        of, to = r.choice(d.joints)
        what = r.choice(("bundles", "bundles", "cages", "links", "ports", "cables"))
        asked = condition(d, r.choice(CONDITIONS))
        out.append(Claim("survives", of=of, to=to, count=r.choice((1, 2, 2, 3, 3)), given=asked, what=what))
    for _ in range(3 if d.joints else 0):
        out.append(Claim("survives", of=r.choice(d.fails), count=3, given=condition(d, r.choice(CONDITIONS))))
    return out


def condition(d: Draft, word: str) -> Claim:
    """A question that may be asked after failures as well."""
    r = d.rng
    if word == "shift":
        return Claim("throughput", f"shift {r.randint(1, 3)}")
    if word == "permutation":
        if len(d.units) < 2:
            return Claim("throughput", "ring")
        several = r.sample(d.units, min(len(d.units), r.choice((2, 2, 3, 4))))
        pairs = [*zip(several, several[1:] + several[:1], strict=True)]
        return Claim("throughput", "permutation " + ";".join(f"{a}>{b}" for a, b in pairs))
    if word == "between" and d.sides:
        of, to = r.choice(d.sides)
        return Claim("throughput", of=of, to=to)
    if word in ("ring", "all_to_all", "between"):
        return Claim("throughput", "ring" if word == "between" else word)
    if word == "allreduce":
        return Claim("allreduce", str(r.choice((1000, 10**6, 10**9))))
    return Claim(word, intact=word == "bisection" and r.random() < 0.5)


def thresholds(rng: Random, figures: Sequence[Figure], whole: bool) -> list[tuple[str, Fraction, str]]:
    """Comparisons with values just below, at and just above some of these figures: operator, value and unit. ``whole``: the
    figures are numbers of things, so a value is a whole number."""
    out = []
    distinct = sorted({f.value: f for f in figures}.items())
    for value, one in rng.sample(distinct, min(len(distinct), 2)):
        unit = "bps" if one.bps is not None and rng.random() < 0.4 else ""
        base = one.bps if unit and one.bps is not None else value
        close = max(abs(base) / 997, Fraction(1, 10**15))
        step = rng.choice((-1, 0, 0, 1)) if not (not one.exact and base.denominator > 10**15) else rng.choice((-1, 1))
        asked = base + (step if whole else step * close)
        if asked >= 0:
            out.append((rng.choice((">=", ">=", ">", "<=", "<", "==", "!=")), asked, unit))
    return out
