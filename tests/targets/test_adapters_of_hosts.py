"""Adapters of host models in a network: names, rails, planes and what kind of network it is, in exact records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit.data import adapters
from tdsl.emit.data.adapters import _adapters_by_system_name, _has_oversubscribed_switch, _only_known_value, host_adapters
from tdsl.emit.records import Adapter, HostAdapters
from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import DeviceModel, InnerLink, LayoutNode
from tests.fabrics import GBPS, Builder
from tests.targets.build import HERE


def models(fabric: Fabric) -> Mapping[str, DeviceModel]:
    return {f"key-{m.name}": m for m in fabric.models}


def named(model: DeviceModel, **systems: tuple[str, ...]) -> DeviceModel:
    """A model whose ports have these names under the operating system."""
    classes = tuple(replace(c, systems=systems.get(c.name, c.systems)) for c in model.classes)
    return replace(model, classes=classes)


def with_models(b: Builder, **made: DeviceModel) -> Fabric:
    """The fabric of a builder with other models in place of those of the same names."""
    own = {m.name: m for m in b.models}
    for s in b.sets:
        s.model = own[s.model.name]
    fabric = b.build()
    fabric.models = tuple(made.get(m.name, m) for m in fabric.models)
    for s in fabric.sets:
        s.model = made.get(s.model.name, s.model)
    return fabric


def two_rails(joined: bool = True, types: tuple[str, ...] = ("NDR",)) -> tuple[Builder, DeviceModel, DeviceModel]:
    """Three hosts with two adapters at two leaves and a third port for storage, and a host of another model; spines join the
    leaves or not."""
    b = Builder("two")
    node = b.model(
        "host", "NODE", {"nic": {"shape": 2, "types": types}, "sto": {"shape": 1, "types": ("GE100",)}}, accelerators=4
    )
    other = b.model("host", "OTHER", {"nic": {"shape": 2, "types": ("GE400",)}}, accelerators=2)
    plain = b.model("host", "PLAIN", {"nic": 2})
    hosts, one, store = b.devices("node", node, 3), b.devices("other", other, 1), b.devices("plain", plain, 1)
    switch = b.model("switch", "SW", {"p": 16})
    leaf, spine = b.devices("leaf", switch, 2), b.devices("spine", switch, 1)
    for h in range(3):
        for r in range(2):
            b.link(b.port(hosts, h, "nic", r), b.free(leaf, r))
        b.link(b.port(hosts, h, "sto"), b.free(leaf, 0))
    for r in range(2):
        b.link(b.port(one, 0, "nic", r), b.free(leaf, 1))
    b.link(b.port(store, 0, "nic", 0), b.free(leaf, 1))
    for r in range(2) if joined else ():
        for _ in range(6):
            b.link(b.free(leaf, r), b.free(spine, 0))
    return b, named(node, nic=("mlx5_0", "mlx5_1"), sto=("mlx5_9",)), named(other, nic=("eno1", "eno2"))


def test_models_of_a_network_with_rails() -> None:
    b, node, other = two_rails()
    first, second = host_adapters(f := with_models(b, NODE=node, OTHER=other), models(f))
    assert first == HostAdapters(
        host="key-NODE", title="NODE", adapters=(Adapter("mlx5_0", 0, ""), Adapter("mlx5_1", 1, "")), rails=2, planes=0,
        joined=True, narrow=False, shared=False, verbs=True, scaleup=False, layout=False, gpu_vendor="", domain_hosts=0,
        domain_accelerators=0,
    )  # fmt: skip
    assert (second.host, [a.name for a in second.adapters], second.joined, second.shared, second.verbs) == (
        "key-OTHER", ["eno1", "eno2"], True, True, True,
    )  # fmt: skip


def test_hosts_without_accelerators_and_scale_up_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of the ports of such hosts and of switches make no adapters; a domain of two hosts joins accelerators."""
    b, node, other = two_rails()
    plain, switch = (next(m for m in b.models if m.name == n) for n in ("PLAIN", "SW"))
    named_switch = named(switch, p=tuple(f"swp{i}" for i in range(16)))
    f = with_models(b, NODE=node, OTHER=other, PLAIN=named(plain, nic=("x", "y")), SW=named_switch)
    assert [m.host for m in host_adapters(f, models(f))] == ["key-NODE", "key-OTHER"]
    for domain, wanted in (((2, 8), True), ((0, 0), False)):
        monkeypatch.setattr(adapters, "_largest_domain_sizes", lambda fabric, hosts, d=domain: d)
        made = host_adapters(f, models(f))[0]
        assert (made.scaleup, made.domain_hosts, made.domain_accelerators) == (wanted, *domain)


def test_hosts_at_one_switch_each() -> None:
    """Host 0 at leaf 1, host 1 at leaf 0: all adapters of a host meet one switch. Adapters are in the order of their ports,
    though host 0 has no link at its first."""
    b = Builder("one")
    hosts = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 2)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 8}), 2)
    b.link(b.port(hosts, 0, "nic", 1), b.free(leaf, 1))
    for k in range(2):
        b.link(b.port(hosts, 1, "nic", k), b.free(leaf, 0))
    f = with_models(b, NODE=named(b.models[0], nic=("a", "b")))
    (made,) = host_adapters(f, models(f))
    assert ([a.name for a in made.adapters], made.shared) == (["a", "b"], True)
    b.link(b.port(hosts, 0, "nic", 0), b.free(leaf, 0))
    f = with_models(b, NODE=named(b.models[0], nic=("a", "b")))
    assert not host_adapters(f, models(f))[0].shared


@pytest.mark.parametrize(("up", "narrow"), [(10, True), (11, False), (12, False), (0, False)])
def test_capacity_to_the_last_bit(up: int, narrow: bool) -> None:
    """Switch 1 has links to hosts 0 and 3 of 11 bit/s together, whichever end is first, and one to switch 2."""
    fabric: Any = SimpleNamespace(
        device_count=4, device_a=np.array([0, 1, 1]), device_b=np.array([1, 2, 3]), link_rate=np.array([11, up, 5]),
        is_switch=np.array([False, True, True, False]), is_end=np.array([True, False, False, True]),
    )  # fmt: skip
    assert _has_oversubscribed_switch(fabric, np.array([1, 1])) == narrow


def test_leaves_that_nothing_joins() -> None:
    """Each adapter is in a network of its own; those of the other model share one."""
    b, node, other = two_rails(joined=False, types=("HSN",))
    made = host_adapters(f := with_models(b, NODE=replace(node, title="A node"), OTHER=other), models(f))
    assert [(m.title, m.joined, m.shared, m.verbs, m.narrow) for m in made] == [
        ("A node", False, False, False, False), ("OTHER", True, True, True, False),
    ]  # fmt: skip


def test_ports_that_a_layout_places() -> None:
    """Those and no others; without a layout those of the first class. Ports without a name are no adapters."""
    b, node, other = two_rails()

    def layout(*classes: str) -> DeviceModel:
        return replace(node, layout=tuple(LayoutNode("pcie", c, 0, None, {}, HERE) for c in classes))

    for model, wanted in (
        (layout("sto"), ["mlx5_9"]), (layout("nic", "sto"), ["mlx5_0", "mlx5_1", "mlx5_9"]),
        (layout("gpu"), ["mlx5_0", "mlx5_1"]),
        (named(node, nic=("", "mlx5_1")), ["mlx5_1"]), (named(node, nic=("a", "a")), ["a"]),
    ):  # fmt: skip
        made = host_adapters(f := with_models(b, NODE=model, OTHER=other), models(f))
        assert [a.name for a in made[0].adapters] == wanted and made[0].layout == bool(model.layout)
    f = with_models(b, NODE=named(node, nic=("", "")), OTHER=other)
    assert [m.host for m in host_adapters(f, models(f))] == ["key-OTHER"]
    # one name at two rails has none
    f = with_models(b, NODE=named(node, nic=("a", "a")), OTHER=other)
    assert host_adapters(f, models(f))[0].adapters == (Adapter("a", "", ""),)


def test_links_inside_make_a_scale_up_network() -> None:
    b, node, other = two_rails()
    for layer, wanted in (("scaleup", True), ("", False)):
        links = (InnerLink(("gpu", 0), ("nvs", 0), 1, 1, layer), InnerLink(("gpu", 1), ("nvs", 0), 1, 1, ""))
        f = with_models(b, NODE=replace(node, links=links), OTHER=other)
        assert host_adapters(f, models(f))[0].scaleup == wanted


def test_less_capacity_up_than_down() -> None:
    """Leaf 1 has six links to hosts and one to the spine."""
    b, node, other = two_rails(joined=False)
    leaf, spine = (s for s in b.sets if s.path.endswith(("leaf", "spine")))
    b.link(b.free(leaf, 1), b.free(spine, 0), rate=400 * GBPS)
    made = host_adapters(f := with_models(b, NODE=node, OTHER=other), models(f))
    assert [m.narrow for m in made] == [True, True]


def test_planes_of_adapters() -> None:
    """Two ports to two planes, a third to both."""
    b = Builder("planes")
    node = b.model("host", "NODE", {"nic": 4}, accelerators=1)
    hosts = b.devices("node", node, 2)
    leaf = b.devices("plane pl.leaf", b.model("switch", "SW", {"p": 16}), 2, 1)
    for h in range(2):
        for port, plane in ((0, 0), (1, 1), (2, h), (3, 1)):
            b.link(b.port(hosts, h, "nic", port), b.free(leaf, plane))
    f = with_models(b, NODE=named(node, nic=("a", "b", "c", "b")))
    (made,) = host_adapters(f, models(f))
    assert [(a.name, a.plane) for a in made.adapters] == [("a", 0), ("b", 1), ("c", "")]
    assert (made.planes, made.joined, made.shared, made.verbs) == (2, False, False, True)


def test_no_links_and_no_hosts_with_accelerators() -> None:
    b = Builder("none")
    b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 1)
    f = b.build()
    assert host_adapters(f, models(f)) == []
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 4}), 1)
    store = b.devices("store", b.model("host", "STORE", {"nic": 1}), 1, role="storage")
    b.link(b.port(store, 0), b.port(leaf, 0))
    f = b.build()
    assert host_adapters(f, models(f)) == []


def test_the_parts_that_all_adapters_reach() -> None:
    """Two names at switches of different parts are joined if one part has both."""
    b, node, other = two_rails()
    f = with_models(b, NODE=node, OTHER=other)
    rows = np.flatnonzero((f.device_a < 3) & f.is_switch[f.device_b])
    leaves = sorted(set(f.device_b[rows].tolist()))
    for at_0, at_1, wanted in ((4, 4, True), (4, 7, False)):
        parts = np.zeros(f.device_count, dtype=np.int64)
        parts[leaves] = at_0, at_1
        found, joined = _adapters_by_system_name(f, rows, parts)
        assert [a.name for a in found] == ["mlx5_0", "mlx5_1", "mlx5_9"] and joined == wanted
    assert _adapters_by_system_name(f, rows[:0], parts) == ((), False)


def test_the_one_value() -> None:
    assert [_only_known_value(v) for v in ({3}, {0}, {-1}, {0, 1}, {-1, 2})] == [3, 0, "", "", ""]


def scale_up(hosts_of_switch: tuple[int, ...], kind: str = "chip") -> tuple[Fabric, Any]:
    """A network of accelerators alone: so many hosts of two chips at each switch, and a host with a chip nothing joins."""
    b = Builder("nvl", layer="scaleup")
    chip = b.model("chip", "GPU", {"nv": 1})
    tray = b.model("host", "TRAY", {"nic": 1}, accelerators=2)
    bare = b.model("host", "BARE", {"nic": 1})
    switch = b.model("switch", "NVS", {"p": 16})
    count = sum(hosts_of_switch) + 1
    trays, gpus = b.devices("tray", tray, count), b.devices("tray.gpu", chip, count, 2)
    b.devices("bare", bare, 2)
    loose = b.devices("loose", chip, len(hosts_of_switch))
    nvs = b.devices("nvs", switch, len(hosts_of_switch))
    b.connect()
    at = 0
    for row, hosts in enumerate(hosts_of_switch):
        for h in range(at, at + hosts):
            for g in range(2):
                b.link(b.port(gpus, 2 * h + g), b.free(nvs, row))
        at += hosts
        b.link(b.port(loose, row), b.free(nvs, row))
    f = b.build()
    container = np.full(f.device_count, -1)
    container[gpus.first : gpus.first + 2 * count] = np.repeat(np.arange(count) + trays.first, 2)
    return f, container


@pytest.mark.parametrize(("hosts", "most"), [((3, 2), 3), ((2,), 2), ((1, 1), 0)])
def test_hosts_of_a_scale_up_domain(hosts: tuple[int, ...], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    f, container = scale_up(hosts)
    monkeypatch.setattr(Fabric, "container", container)
    made = host_adapters(f, models(f))
    wanted = HostAdapters(
        host="key-TRAY", title="TRAY", adapters=(), rails=0, planes=0, joined=False, narrow=False, shared=False, verbs=False,
        scaleup=True, layout=False, gpu_vendor="", domain_hosts=most, domain_accelerators=2 * most,
    )  # fmt: skip
    assert made == ([wanted] if most else [])
