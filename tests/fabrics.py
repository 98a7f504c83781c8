"""Fabrics made by hand for tests: columns as the elaborator fills them, without a text to compile.

Every declaration and every connect of a ``Builder`` becomes one line of a made-up source, so findings have places.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from random import Random
from typing import Any

import numpy as np

from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.fabric.graph import FREE, HOLE, MEDIA, USED, Fabric, Ints, LinkStatement
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.model import Axis, Chip, DeviceModel, DeviceSet, InnerLink, PathComponent, PortClass, indices_at_position

GBPS = 10**9


@dataclass
class Builder:
    """Collects devices and links, then makes the Fabric."""

    name: str = "made"
    layer: str = ""
    complete: bool = True
    file: SourceFile = field(default_factory=lambda: SourceFile("made.fab", ""))
    sets: list[DeviceSet] = field(default_factory=list)
    models: list[DeviceModel] = field(default_factory=list)
    statements: list[LinkStatement] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, int, str]] = field(default_factory=list)
    omitted: set[int] = field(default_factory=set)
    holes: set[int] = field(default_factory=set)
    absent: list[tuple[int, int, int]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    port_base: list[int] = field(default_factory=lambda: [0])
    taken: set[int] = field(default_factory=set)

    def line(self, text: str) -> Origin:
        """Write one line of the made-up source; its place."""
        start = len(self.file.text)
        self.file.text += text + "\n"
        return Origin(SourceSpan(self.file, start, start + len(text)))

    def model(self, kind: str, name: str, ports: dict[str, Any], accelerators: int = 0, scaleup: bool = False) -> DeviceModel:
        """A model; a port class is ``count``, ``(counts…)`` or a dict with shape, rate, types."""
        origin = self.line(f"model {kind} {name}")
        classes: list[PortClass] = []
        first = 0
        for label, given in ports.items():
            facts = given if isinstance(given, dict) else {"shape": given}
            shape = facts["shape"] if isinstance(facts["shape"], tuple) else (facts["shape"],)
            axes = tuple(Axis(facts.get("low", 0), n) for n in shape)
            size = prod(shape)
            blank = ("",) * size
            classes.append(
                PortClass(
                    label, axes, first, facts.get("rate", 400 * GBPS), tuple(facts.get("types", ())), (0,) * size, "",
                    tuple(range(size)), blank, blank, (), 1, origin,
                )
            )  # fmt: skip
            first += size
        chips: tuple[Chip, ...] = ()
        links: tuple[InnerLink, ...] = ()
        if accelerators:
            gpu = DeviceModel("GPU", "chip", "", (), (), (), (), {}, origin)
            nvs = DeviceModel("NVS", "switch", "", (), (), (), (), {}, origin)
            inner = (("gpu", "chip", accelerators, gpu), ("nvs", "switch", 1, nvs))
            chips = tuple(Chip(label, kind, (Axis(0, n),), m, origin) for label, kind, n, m in inner)
            if scaleup:
                links = tuple(InnerLink(("gpu", g), ("nvs", 0), 1, 100 * GBPS, "scaleup") for g in range(accelerators))
        made = DeviceModel(name, kind, "", tuple(classes), chips, links, (), {}, origin)
        self.models.append(made)
        return made

    def devices(
        self, path: str, model: DeviceModel, *sizes: Any, role: str | None = None, inside: DeviceSet | None = None
    ) -> DeviceSet:
        """Place devices; ``path`` is ``su.leaf`` or ``plane pl.leaf``, each part with one entry of ``sizes`` (a tuple or int,
        None for no index)."""
        written = path.split(".")
        parts = []
        for place, (word, size) in enumerate(zip(written, sizes, strict=True)):
            *kind, name = word.split()
            axes = () if size is None else tuple(Axis(0, n) for n in (size if isinstance(size, tuple) else (size,)))
            last = place == len(written) - 1
            parts.append(PathComponent(name, model.kind if last else (kind[0] if kind else "group"), axes))
        if role is None:
            role = "accelerator" if model.accelerators and model.kind in ("host", "chip") else ""
        origin = self.line(f"{model.kind} {path}: {model.name}")
        made = DeviceSet(len(self.sets), tuple(parts), model, role, origin, len(self.port_base) - 1, inside)
        self.sets.append(made)
        for _ in range(made.count):
            self.port_base.append(self.port_base[-1] + model.port_count)
        return made

    def port(self, s: DeviceSet, row: int, cls: str = "", index: int = 0) -> int:
        """Number of a port."""
        c = s.model.port_class(cls) if cls else s.model.classes[0]
        assert c is not None and 0 <= row < s.count and 0 <= index < c.size
        return self.port_base[s.first + row] + c.first + index

    def free(self, s: DeviceSet, row: int, cls: str = "") -> int:
        """Lowest free port of a device's class."""
        c = s.model.port_class(cls) if cls else s.model.classes[0]
        assert c is not None
        low = self.port(s, row, c.name)
        return next(p for p in range(low, low + c.size) if p not in self.taken and p not in self.holes)

    def connect(self, text: str = "connect", **settings: object) -> int:
        """Begin a statement; its number."""
        self.statements.append(LinkStatement(self.line(text), settings))
        return len(self.statements) - 1

    def link(self, a: int, b: int, rate: int = 400 * GBPS, medium: str = "cable", cls: str = "", statement: int = -1) -> None:
        """One link between two ports, by the latest statement."""
        if not self.statements:
            self.connect()
        self.taken |= {a, b}
        self.rows.append((a, b, rate, MEDIA.index(medium), statement % len(self.statements), cls))

    def omit(self, device: int) -> None:
        """Leave a device planned: its links are absent and their ports kept."""
        self.omitted.add(device)
        own = range(self.port_base[device], self.port_base[device + 1])
        gone = [r for r in self.rows if r[0] in own or r[1] in own]
        self.rows = [r for r in self.rows if r not in gone]
        self.absent += [r[:3] for r in gone]
        self.holes |= {port for r in gone for port in r[:2]}

    def build(self) -> Fabric:
        """The columns."""
        n = len(self.port_base) - 1
        base = np.array(self.port_base)
        sets, count = self.sets, [s.count for s in self.sets]
        device_set = np.repeat(np.arange(len(sets)), count)
        model_row = {id(m): i for i, m in enumerate(self.models)}
        device_model = np.repeat([model_row[id(s.model)] for s in sets], count)
        port_device = np.repeat(np.arange(n), np.diff(base))
        owner = [sets[i] for i in device_set]
        tier = self._tiers(owner, port_device)
        rows = []
        for a, b, rate, medium, statement, cls in self.rows:
            da, db = int(port_device[a]), int(port_device[b])
            if tier[db] < tier[da]:
                a, b, da, db = b, a, db, da
            words = ["host" if owner[d].kind == "host" else owner[d].name for d in (da, db)]
            rows.append((a, b, rate, medium, statement, cls or "-".join(words)))
        rows.sort()
        columns = [np.array([r[i] for r in rows], dtype=np.int64) for i in range(5)]
        classes = tuple(dict.fromkeys(r[5] for r in rows))
        absent = np.array(self.absent, dtype=np.int64).reshape(-1, 3).T.copy()
        reserved = ~np.isin(absent[:2], [port for r in self.rows for port in r[:2]]).any(axis=0)
        absent[:2] = port_device[absent[:2]]
        upside_down = tier[absent[1]] < tier[absent[0]]
        absent[:2, upside_down] = absent[1::-1, upside_down]
        state = np.full(int(base[-1]), FREE, dtype=np.uint8)
        state[list(self.holes)] = HOLE
        port_link = np.full(int(base[-1]), -1)
        for side in (0, 1):
            state[columns[side]] = USED
            port_link[columns[side]] = np.arange(len(rows))
        built = np.ones(n, dtype=bool)
        built[list(self.omitted)] = False
        wired = columns[3] == MEDIA.index("cable")
        cables = int(wired.sum())
        link_class = np.array([classes.index(r[5]) for r in rows], dtype=np.int64)
        return Fabric(
            name=self.name,
            title="",
            parameters={},
            origin=self.line(f"fabric {self.name}"),
            layer=self.layer,
            sets=tuple(sets),
            models=tuple(self.models),
            statements=tuple(self.statements),
            device_set=device_set,
            device_model=device_model,
            built=built,
            tier=tier,
            plane=self._planes(owner),
            port_base=base,
            port_state=state,
            port_link=port_link,
            **{f"link_{name}": rows for name, rows in zip(("a", "b", "rate", "medium", "statement"), columns, strict=True)},
            link_class=link_class,
            link_colour=np.full(len(link_class), -1, dtype=np.int64),
            colours=(),
            link_bundle=np.full(len(columns[4]), -1, dtype=np.int64),
            **{f"link_via_{end}": np.full(len(rows), -1) for end in "ab"},
            classes=classes,
            **{f"cable_{name}": columns[k][wired] for k, name in ((0, "a"), (1, "b"), (4, "statement"))},
            cable_group=np.arange(cables),
            cable_leg=np.zeros(cables, dtype=np.int64),
            cable_links=np.ones(cables, dtype=np.int64),
            cable_class=link_class[wired],
            **{f"circuit_{name}": np.zeros(0, dtype=np.int64) for name in ("a", "b", "link")},
            **{f"absent_{name}": rows for name, rows in zip(("a", "b", "rate"), absent, strict=True)},
            absent_reserved=reserved,
            names=dict(self.names),
            complete=self.complete,
        )

    def _tiers(self, owner: list[DeviceSet], port_device: Ints) -> Ints:
        near: dict[int, set[int]] = {}
        for a, b, *_ in (*self.rows, *self.absent):
            da, db = int(port_device[a]), int(port_device[b])
            near.setdefault(da, set()).add(db)
            near.setdefault(db, set()).add(da)
        ends = [d for d, s in enumerate(owner) if s.kind in ("host", "chip")]
        tier = np.full(len(owner), -1)
        tier[ends] = 0
        queue = deque(d for d in ends if owner[d].role == "accelerator")
        while queue:
            d = queue.popleft()
            for e in near.get(d, ()):
                if tier[e] < 0:
                    tier[e] = tier[d] + 1
                    queue.append(e)
        return tier

    def _planes(self, owner: list[DeviceSet]) -> Ints:
        number: dict[tuple[object, ...], int] = {}
        out = []
        for d, s in enumerate(owner):
            at = [i for i, p in enumerate(s.parts) if p.kind == "plane"]
            if not at:
                out.append(-1)
                continue
            coordinates = indices_at_position(d - s.first, s.axes)
            used = sum(len(p.axes) for p in s.parts[: at[0] + 1])
            key = (*(p.name for p in s.parts[: at[0] + 1]), *coordinates[:used])
            out.append(number.setdefault(key, len(number)))
        return np.array(out, dtype=np.int64)


# ---------------------------------------------------------------- topologies


def superpod(
    units: int = 4,
    nodes: int = 32,
    rails: int = 8,
    spines: int = 16,
    radix: int = 64,
    uplinks: int | None = None,
    omit_last: bool = True,
    manager: bool = True,
) -> Builder:
    """Rail-optimised leaf-spine units as in a DGX SuperPOD; ``uplinks`` a leaf (default: ``nodes``), distributed evenly."""
    b = Builder("superpod")
    host = b.model("host", "DGX", {"nic": rails}, accelerators=rails, scaleup=True)
    switch = b.model("switch", "SW", {"p": {"shape": radix, "low": 1}})
    node = b.devices("su.node", host, units, nodes)
    leaf = b.devices("su.leaf", switch, units, rails)
    spine = b.devices("spine", switch, spines)
    if omit_last:
        b.omitted.add(node.first + node.count - 1)
    b.connect("connect node[n].nic[r] to leaf[r]")
    for u in range(units):
        for n in range(nodes):
            for r in range(rails):
                port = b.port(leaf, u * rails + r, "p", n)
                nic = b.port(node, u * nodes + n, "nic", r)
                if node.first + u * nodes + n in b.omitted:
                    b.holes.add(port)
                    b.absent.append((nic, port, 400 * GBPS))
                else:
                    b.link(nic, port)
    if manager:
        ufm = b.devices("ufm", b.model("host", "UFM", {"p": {"shape": 4, "low": 1}}), None, role="manager")
        b.connect("connect ufm.p[i] to su[units - 1].leaf[2*(i - 1)].p[32]")
        for i in range(min(4, rails // 2)):
            target = b.port(leaf, (units - 1) * rails + 2 * i, "p", nodes - 1)
            if omit_last:
                b.link(b.port(ufm, 0, "p", i), target)
    each = (nodes if uplinks is None else uplinks) // spines
    b.connect("connect su[*].leaf[*] to spine[*] spread")
    for at in range(units * rails):
        for s in range(spines):
            for k in range(each):
                b.link(b.port(leaf, at, "p", nodes + s * each + k), b.port(spine, s, "p", at * each + k))
    return b


def torus(*sizes: int, chip: str = "CHIP") -> Builder:
    """A wrapped torus of chips, one statement; a dimension of 2 has double links, of 1 none."""
    b = Builder("torus")
    made = b.devices("chip", b.model("chip", chip, {"ici": 2 * len(sizes)}), tuple(sizes), role="accelerator")
    b.connect("connect chip[*] torus")
    for row in range(made.count):
        at = indices_at_position(row, made.axes)
        for d, size in enumerate(sizes):
            if size == 1:
                continue
            step = list(at)
            step[d] = (at[d] + 1) % size
            far = 0
            for i, n in zip(step, sizes, strict=True):
                far = far * n + i
            b.link(b.port(made, row, "ici", 2 * d), b.port(made, far, "ici", 2 * d + 1), cls="xyzw"[d])
    return b


def multiplane(planes: int = 4, hosts: int = 16, leaves: int = 2, spines: int = 2, radix: int = 64) -> Builder:
    """Hosts with one port a plane; each plane a leaf-spine of its own."""
    b = Builder("multiplane")
    node = b.devices("node", b.model("host", "NODE", {"nic": planes}, accelerators=planes, scaleup=True), hosts)
    switch = b.model("switch", "SW", {"p": {"shape": radix, "low": 1}})
    leaf = b.devices("plane pl.leaf", switch, planes, leaves)
    spine = b.devices("plane pl.spine", switch, planes, spines)
    b.connect("connect node[n].nic[p] to pl[p].leaf[n // k]")
    for n in range(hosts):
        for p in range(planes):
            b.link(b.port(node, n, "nic", p), b.free(leaf, p * leaves + n * leaves // hosts))
    b.connect("connect leaf[*] to spine[*] spread")
    up = hosts // leaves // spines
    for p in range(planes):
        for at in range(leaves):
            for s in range(spines):
                for _ in range(max(up, 1)):
                    b.link(b.free(leaf, p * leaves + at), b.free(spine, p * spines + s))
    return b


def rail_only(hosts: int = 8, rails: int = 4, scaleup: bool = True) -> Builder:
    """One switch a rail and nothing above."""
    b = Builder("rail_only")
    node = b.devices("node", b.model("host", "NODE", {"nic": rails}, accelerators=rails, scaleup=scaleup), hosts)
    rail = b.devices("rail", b.model("switch", "SW", {"p": {"shape": hosts, "low": 1}}), rails)
    b.connect("connect node[n].nic[r] to rail[r]")
    for n in range(hosts):
        for r in range(rails):
            b.link(b.port(node, n, "nic", r), b.port(rail, r, "p", n))
    return b


def scale_up(trays: int = 3, gpus: int = 4, switches: int = 6) -> Builder:
    """An NVLink-like domain: chips inside host trays, each with one link to every switch."""
    b = Builder("scale_up", layer="scaleup")
    host = b.devices("compute", b.model("host", "TRAY", {"nic": 1}, accelerators=gpus), trays)
    chip = b.model("chip", "GPU", {"nvlink": switches})
    gpu = b.devices("compute.gpu", chip, trays, gpus, role="accelerator", inside=host)
    sw = b.devices("tray", b.model("switch", "NVS", {"p": trays * gpus}), switches)
    b.connect("connect compute[t].gpu[g].nvlink[k] to tray[k]")
    for g in range(trays * gpus):
        for k in range(switches):
            b.link(b.port(gpu, g, "nvlink", k), b.port(sw, k, "p", g), medium="backplane")
    return b


def random_fabric(seed: int, switches: int = 8, hosts: int = 6, nics: int = 3, cables: int = 12, loose: int = 0) -> Builder:
    """Hosts and switches wired at random, not always connected; ``loose`` links join two hosts."""
    rng = Random(seed)
    b = Builder("random")
    node = b.devices("node", b.model("host", "NODE", {"nic": nics, "peer": 2 * loose + 1}, accelerators=nics), hosts)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 4 * (hosts * nics + cables)}), switches)
    b.connect("connect node to sw")
    for _ in range(loose):
        x, y = rng.randrange(hosts), rng.randrange(hosts)
        if x != y:
            b.link(b.free(node, x, "peer"), b.free(node, y, "peer"))
    for n in range(hosts):
        for r in range(nics):
            if rng.random() < 0.9:
                b.link(b.port(node, n, "nic", r), b.free(sw, rng.randrange(switches)))
    b.connect("connect sw to sw")
    for _ in range(cables):
        x, y = rng.randrange(switches), rng.randrange(switches)
        if x != y:
            b.link(b.free(sw, x), b.free(sw, y))
    return b


def random_layers(seed: int) -> Builder:
    """Hosts below three or four tiers of switches, wired at random between neighbouring tiers, in two rates."""
    rng = Random(seed)
    b = Builder("random_layers")
    model = b.model("switch", "SW", {"p": 120})
    node = b.devices("node", b.model("host", "NODE", {"nic": 3}, accelerators=1), rng.randint(2, 7))
    names = ("leaf", "agg", "core", "top")[: rng.randint(3, 4)]
    tiers = [b.devices(name, model, rng.randint(1, 5 - i)) for i, name in enumerate(names)]
    b.connect("connect layers")

    def rate() -> int:
        return rng.choice([400, 400, 400, 100]) * GBPS

    for i in range(node.count):
        for r in range(rng.randint(1, 3)):
            b.link(b.port(node, i, "nic", r), b.free(tiers[0], rng.randrange(tiers[0].count)), rate())
    for low, high in pairwise(tiers):
        for i in range(low.count):
            for j in range(high.count):
                for _ in range(rng.randint(1, 3) if rng.random() < 0.7 else 0):
                    b.link(b.free(low, i), b.free(high, j), rate())
    return b


def random_chips(seed: int, chips: int = 7, cables: int = 12) -> Builder:
    """Chips wired to chips at random, parallel links included, not always connected."""
    rng = Random(seed)
    b = Builder("random_chips")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 2 * cables}), chips, role="accelerator")
    b.connect("connect chip to chip")
    for _ in range(cables):
        x, y = rng.randrange(chips), rng.randrange(chips)
        if x != y:
            b.link(b.free(chip, x), b.free(chip, y))
    return b


def random_planes(seed: int, planes: int = 3, each: int = 3, outside: int = 2, cables: int = 10) -> Builder:
    """Switches in planes and outside them, cabled mostly within one plane."""
    rng = Random(seed)
    b = Builder("random_planes")
    model = b.model("switch", "SW", {"p": 4 * cables + 8})
    inner = b.devices("plane pl.sw", model, planes, each)
    outer = b.devices("core", model, outside)
    b.connect("connect within")
    for _ in range(cables):
        plane = rng.randrange(planes)
        x, y = (plane * each + rng.randrange(each) for _ in range(2))
        if x != y:
            b.link(b.free(inner, x), b.free(inner, y))
    b.connect("connect across")
    for _ in range(rng.randrange(4)):
        if rng.random() < 0.7:
            b.link(b.free(inner, rng.randrange(planes * each)), b.free(outer, rng.randrange(outside)))
        else:
            x, y = rng.randrange(planes * each), rng.randrange(planes * each)
            if x != y:
                b.link(b.free(inner, x), b.free(inner, y))
    return b


# ---------------------------------------------------------------- changes


def without(fabric: Fabric, links: list[int] | Ints) -> Fabric:
    """The fabric with these links removed (their ports become free)."""
    keep = np.ones(fabric.link_count, dtype=bool)
    keep[np.asarray(links, dtype=np.int64)] = False
    return _rewired(fabric, fabric.link_a[keep], fabric.link_b[keep], keep)


def swapped(fabric: Fabric, first: int, second: int) -> Fabric:
    """The fabric with the upper ends of two links exchanged, as a technician's mistake does."""
    far = fabric.link_b.copy()
    far[[first, second]] = far[[second, first]]
    assert not _loops(fabric, first, second), "no design has a link of a device to itself (E0456)"
    return _rewired(fabric, fabric.link_a, far, np.ones(fabric.link_count, dtype=bool))


def two_links(fabric: Fabric, rng: np.random.Generator) -> tuple[int, int]:
    """Two links to exchange the upper ends of, or one twice; no device is linked to itself then."""
    while True:
        first, second = rng.integers(fabric.link_count, size=2).tolist()
        if not _loops(fabric, first, second):
            return first, second


def _loops(fabric: Fabric, first: int, second: int) -> bool:
    """Whether exchanging the upper ends of two links joins a device to itself."""
    a, b = fabric.device_a[[first, second]], fabric.device_b[[second, first]]
    return first != second and bool((a == b).any())


def _rewired(fabric: Fabric, a: Ints, b: Ints, keep: Any) -> Fabric:
    state, port_link = fabric.port_state.copy(), np.full_like(fabric.port_link, -1)
    state[state == USED] = FREE
    for ends in (a, b):
        state[ends] = USED
        port_link[ends] = np.arange(len(a))
    changed = {
        name: getattr(fabric, name)[keep]
        for name in ("link_rate", "link_class", "link_medium", "link_statement", "link_via_a", "link_via_b", "link_bundle")
    }
    same = np.ones(len(fabric.cable_a), dtype=bool)
    if len(same) == len(keep):
        same = keep
        kept = ("cable_group", "cable_leg", "cable_links", "cable_class", "cable_statement")
        changed |= {name: getattr(fabric, name)[keep] for name in kept}
        changed |= {"cable_a": a, "cable_b": b}
    return replace(fabric, link_a=a, link_b=b, port_state=state, port_link=port_link, **changed)


# ---------------------------------------------------------------- claims


def claim(fabric: Fabric, metric: str, op: str = "", value: object = None, **given: Any) -> ResolvedClaim:
    """A requirement of the fabric (``report=True`` for a report)."""
    text = f"{metric} {op} {value}".strip() if op else metric
    facts: dict[str, Any] = {
        "args": (), "any_count": None, "any_of": "", "of": (), "of_to": (), "at": (), "under": "", "through": "",
        "of_intact": False, "given": None, "report": False, "scope": None, "text": text,
        "origin": Origin(SourceSpan(fabric.origin.span.file, 0, 5)),
    }  # fmt: skip
    return ResolvedClaim(metric=metric, op=op, value=value, **(facts | given))


def selector(fabric: Fabric, path: str) -> Selector:
    """All devices of a set (``leaf``, ``su.leaf``), one element each; ``su`` or ``pl`` selects the groups of that name."""
    for s in fabric.sets:
        if path in (s.path, s.name):
            elements = tuple(
                FabricElement(fabric.device_path(d), np.array([d])) for d in range(s.first, s.first + s.count) if fabric.built[d]
            )
            return Selector(f"{path}[*]", s.kind, elements)
    groups: dict[str, list[int]] = {}
    kind = ""
    for s in fabric.sets:
        for depth, part in enumerate(s.parts[:-1]):
            if part.name == path:
                kind = part.kind
                for d in range(s.first, s.first + s.count):
                    if fabric.built[d]:
                        groups.setdefault(".".join(fabric.device_path(d).split(".")[: depth + 1]), []).append(d)
    return Selector(f"{path}[*]", kind, tuple(FabricElement(name, np.array(rows)) for name, rows in groups.items()))
