"""The two layers of a fabric and its scale-up domains, link by link, for random fabrics made by hand."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric import layers
from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import Axis, Chip, DeviceModel, InnerLink
from tests.fabrics import GBPS, Builder

UP = {"layer": "scaleup"}


def host_model(b: Builder, name: str, rng: Random, gpus: int) -> DeviceModel:
    """A host with accelerators, processors and a switch inside, some of them linked, a few in the network's layer."""
    made = b.model("host", name, {"p": 12})
    inner = [("gpu", "chip", gpus, {}), ("cpu", "chip", 2, {"role": "cpu"}), ("nvs", "switch", 1, {})]
    chips, parts = [], []
    for label, kind, size, facts in inner:
        model = DeviceModel(label.upper(), kind, "", (), (), (), (), facts, made.origin)
        chips.append(Chip(label, kind, (Axis(0, size),), model, made.origin))
        parts += [(label, i) for i in range(size)]
    links = []
    for _ in range(rng.choice([0, 2, 4, 6]) if gpus else 1):
        one, two = rng.sample(parts, 2)
        links.append(InnerLink(one, two, rng.randint(1, 3), rng.choice([100, 200]) * GBPS, rng.choice(["scaleup"] * 3 + [""])))
    b.models[-1] = replace(made, chips=tuple(chips), links=tuple(links))
    return b.models[-1]


def random_fabric(seed: int) -> Fabric:
    """Hosts of two models, some with their accelerators as devices of their own, chips, switches and a panel, linked at random
    by four statements; two of them are of the layer ``scaleup``."""
    rng = Random(seed)
    b = Builder()
    switch = b.model("switch", "S", {"p": 40})
    lone = b.devices("lone", b.model("chip", "C", {"p": 12}), rng.randint(1, 3), role="accelerator")
    one, two = host_model(b, "A", rng, 2), host_model(b, "B", rng, rng.choice([0, 1, 2, 3]))
    a = b.devices("a", one, rng.randint(2, 3), role="accelerator")
    c = b.devices("c", two, rng.randint(1, 3), role="accelerator")
    net, top = b.devices("net", switch, rng.randint(1, 3)), b.devices("top", switch, rng.randint(2, 4))
    panel = b.devices("q", b.model("panel", "Q", {"p": 40}), 2)
    opened = []
    if rng.random() < 0.6:
        gpu = b.model("chip", "GPU", {"p": 12})
        opened.append(b.devices("a.gpu", gpu, a.count, 2, role="accelerator", inside=a))
        if two.chips[0].size == 3 and rng.random() < 0.7:  # of another size than that of a part of the hosts
            opened.append(b.devices("c.gpu", gpu, c.count, 2, role="accelerator", inside=c))
    crossed = []
    for k, settings in enumerate(({}, UP, {"layer": "scaleout"}, UP)):
        b.connect(f"connect {k}", **settings)
        near = [lone, a, c, *opened]
        far = [top, *opened, a] if settings == UP and rng.random() < 0.95 else [net]
        for _ in range(rng.randint(2, 6) if rng.random() < 0.9 else 0):
            x, y = rng.choice(near), rng.choice(far)
            i, j = rng.randrange(x.count), rng.randrange(y.count)
            if x is y and i == j:
                continue
            link = b.free(x, i), b.free(y, j)
            b.link(*link, rate=rng.choice([100, 300]) * GBPS, statement=k)
            if rng.random() < 0.3:
                q = rng.randrange(2)
                at = b.free(panel, q)
                b.taken.add(at)
                crossed.append((link, at, b.free(panel, q)))
                b.taken.add(crossed[-1][2])
    if rng.random() < 0.5:
        b.omitted.add(rng.randrange(len(b.port_base) - 1))
    f = b.build()
    numbers = np.random.default_rng(seed)
    via = np.full((2, f.link_count), -1)
    port_link = f.port_link.copy()
    for link, near, far in crossed:
        row = int(f.port_link[link[0]])
        via[:, row] = near, far
        port_link[[near, far]] = row
    absent = int(numbers.integers(0, 4))
    rows = np.flatnonzero(via[0] >= 0)
    model = f.device_model.copy()
    if rng.random() < 0.3:
        model[a.first + a.count - 1] = b.models.index(two)
    cables = len(f.cable_a)
    return replace(
        f, device_model=model, port_link=port_link, link_via_a=via[0], link_via_b=via[1],
        link_bundle=numbers.integers(-1, 5, f.link_count), link_colour=numbers.integers(-1, 5, f.link_count),
        link_run=numbers.integers(-1, 99, f.link_count) if seed % 2 else f.link_run,
        circuit_a=via[0][rows], circuit_b=via[1][rows], circuit_link=rows,
        cable_group=numbers.integers(0, 9, cables), cable_leg=numbers.integers(0, 3, cables),
        absent_a=numbers.integers(0, f.device_count, absent), absent_b=numbers.integers(0, f.device_count, absent),
        absent_rate=numbers.integers(1, 9, absent), absent_reserved=numbers.integers(0, 2, absent) > 0,
        absent_statement=numbers.integers(0, 4, absent),
    )  # fmt: skip


FABRICS = [random_fabric(seed) for seed in range(80)]


def touched(f: Fabric, up: bool, planned: bool = True) -> set[int]:
    """Devices at a link of one layer, at an absent one, or crossed by one."""
    out = set()
    for i in range(f.link_count):
        if (f.link_statement[i] in (1, 3)) == up:
            out |= {int(f.device_a[i]), int(f.device_b[i])}
            out |= {int(f.port_device[v]) for v in (f.link_via_a[i], f.link_via_b[i]) if v >= 0}
    for x, y, s in zip(f.absent_a.tolist(), f.absent_b.tolist(), f.absent_statement.tolist(), strict=True):
        if planned and (s in (1, 3)) == up:
            out |= {x, y}
    return out


@pytest.mark.parametrize("up", [False, True])
def test_each_layer_has_its_own_rows(up: bool) -> None:
    """Links, cables, circuits and absent links of one layer, numbered anew; all devices but those, hosts and chips excepted, that
    have links of the other layer alone."""
    links = ("link_a", "link_b", "link_rate", "link_class", "link_medium", "link_statement", "link_via_a", "link_via_b",
             "link_bundle", "link_colour")  # fmt: skip
    cables = ("cable_a", "cable_b", "cable_group", "cable_leg", "cable_links", "cable_class", "cable_statement")
    absent = ("absent_a", "absent_b", "absent_rate", "absent_reserved", "absent_statement")
    for f in FABRICS:
        layer = layers.scaleup_network(f) if up else layers.scaleout_network(f)
        assert layer is not None and layer is not f
        assert (layer.layer, layer.whole) == (("scaleup", None) if up else ("", f))
        for statements, names in ((f.link_statement, links), (f.cable_statement, cables), (f.absent_statement, absent)):
            rows = [i for i, s in enumerate(statements.tolist()) if (s in (1, 3)) == up]
            for name in names:
                assert getattr(layer, name).tolist() == getattr(f, name)[rows].tolist(), name
        mine = [i for i, s in enumerate(f.link_statement.tolist()) if (s in (1, 3)) == up]
        assert layer.link_run.tolist() == (f.link_run[mine].tolist() if len(f.link_run) else [])
        assert layer.port_link.tolist() == [mine.index(x) if x in mine else -1 for x in f.port_link.tolist()]
        kept = [k for k, x in enumerate(f.circuit_link.tolist()) if x in mine]
        assert layer.circuit_a.tolist() == f.circuit_a[kept].tolist() and layer.circuit_b.tolist() == f.circuit_b[kept].tolist()
        assert layer.circuit_link.tolist() == [mine.index(int(f.circuit_link[k])) for k in kept]
        gone = touched(f, not up) - touched(f, up)
        built = [bool(f.built[d]) and (d not in gone or f.kind[d] in ("host", "chip")) for d in range(f.device_count)]
        assert layer.built.tolist() == built


def test_a_fabric_of_one_layer_is_that_layer() -> None:
    for f in FABRICS[:5]:
        one = replace(f, statements=tuple(replace(s, settings={}) for s in f.statements))
        assert layers.scaleout_network(one) is one and layers.scaleup_network(one) is None and not layers.scaleup_links(one).any()
        up = replace(f, layer="scaleup")
        assert layers.scaleout_network(up) is up and layers.scaleup_network(up) is None and not layers.scaleup_links(up).any()
        network = layers.scaleout_network(f)
        assert layers.scaleout_network(network) is network and not layers.scaleup_links(network).any()
        assert len(layers.scaleup_links(one)) == len(layers.scaleup_links(up)) == f.link_count
    empty = replace(Builder().build(), statements=(replace(FABRICS[0].statements[1]),))
    assert layers.scaleout_network(empty).port_link.tolist() == [] and layers.scaleout_network(empty).whole is empty


def test_devices_with_scale_up_links_alone() -> None:
    for f in FABRICS:
        mine = touched(f, True, planned=False) - touched(f, False, planned=False)
        assert layers.scaleup_only_devices(f).tolist() == [bool(f.built[d]) and d in mine for d in range(f.device_count)]


def domains(f: Fabric) -> tuple[list[int], list[int], list[int]]:
    """The scale-up domains by the definition, over a graph of devices and of what is inside of hosts."""
    opened = {(s.inside.index, s.name): s for s in f.sets if s.inside is not None}
    part: dict[tuple[int, str, int], int] = {}
    count, chips = f.device_count, {}

    def omitted(host: int, node: int) -> bool:
        """Whether a host is built without this part of it."""
        return bool(f.built[host]) and node < f.device_count and not f.built[node]

    for s in f.sets:
        if s.kind != "host":
            continue
        rows = range(s.first, s.first + s.count)
        for m in sorted({int(f.device_model[d]) for d in rows}):
            hosts = [d for d in rows if f.device_model[d] == m]
            for chip in f.models[m].chips:
                of = opened.get((s.index, chip.name))
                if of is not None and of.count != s.count * chip.size:
                    of = None
                for h in hosts:
                    for i in range(chip.size):
                        if of is not None:
                            part[h, chip.name, i] = of.first + (h - s.first) * chip.size + i
                        else:
                            part[h, chip.name, i], count = count, count + 1
            for h in hosts:
                mine = [part[h, c.name, i] for c in f.models[m].chips if c.accelerates for i in range(c.size)]
                chips[h] = [c for c in mine if not omitted(h, c)]
    joins = []
    direct = set()
    for i in range(f.link_count):
        if f.link_statement[i] in (1, 3):
            joins.append((int(f.device_a[i]), int(f.device_b[i]), int(f.link_rate[i])))
            direct |= set(joins[-1][:2])
    for h in chips:
        for link in f.models[int(f.device_model[h])].links:
            if link.layer == "scaleup" and not any(omitted(h, part[h, *x]) for x in (link.a, link.b)):
                joins.append((part[h, *link.a], part[h, *link.b], link.rate * link.count))
        joins += [(h, c, 0) for c in chips[h] if h in direct]
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from((x, y) for x, y, _ in joins)
    lowest = {n: min(component) for component in nx.connected_components(graph) for n in component}
    linked = {n for x, y, _ in joins for n in (x, y)}
    rate = [sum(r * ((x == n) + (y == n)) for x, y, r in joins) for n in range(count)]
    of: dict[int, int] = {}
    least: dict[int, list[int]] = {}
    total = rate[: f.device_count]
    for d in range(f.device_count):
        if f.kind[d] == "chip" and f.built[d] and d in linked:
            of[d] = lowest[d]
            least.setdefault(lowest[d], []).append(rate[d])
    for h, mine in chips.items():
        if not mine:
            continue
        per = [max(rate[h] // len(mine), rate[c]) if h in direct else rate[c] for c in mine]
        total[h] = sum(per)
        if f.built[h] and len({lowest[c] for c in mine}) == 1 and linked.issuperset(mine):
            of[h] = lowest[mine[0]]
            least.setdefault(of[h], []).extend(per)
    number = {label: k for k, label in enumerate(sorted(set(of.values())))}
    return [number[of[d]] if d in of else -1 for d in range(f.device_count)], total, [min(least[k]) for k in number]


def test_domains_by_definition() -> None:
    several = 0
    for seed, f in enumerate(FABRICS):
        found, (of_device, rate, least) = layers.domains_of(f), domains(f)
        assert found.of_device.tolist() == of_device, seed
        assert found.rate.tolist() == rate, seed
        assert (found.accelerator_bps.tolist(), found.count) == (least, len(least)), seed
        several += found.count > 1
    assert several > 20
