"""What templates see of a fabric as a whole: capabilities, sizes, names of planes and models, racks, addresses and members."""

from __future__ import annotations

from ipaddress import ip_address
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit import view as views
from tdsl.emit.data import subnets
from tdsl.emit.records import Managed, Model, Pod, Port, PortGroup, Standby, System
from tdsl.emit.view import FabricView, Sizes, _instance_prefix, _model_record, _unique_model_keys
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.model import Axis, PathComponent
from tests.fabrics import GBPS, Builder


def stub(fabric: Any = None, **facts: Any) -> Any:
    """A view that has these facts alone."""
    return SimpleNamespace(_fabric=fabric, **facts)


def cached(name: str, of: Any) -> Any:
    """What a property of a view makes of a stub."""
    made = getattr(FabricView, name)
    return (made.func if hasattr(made, "func") else made.fget)(of)


# ---------------------------------------------------------------- capabilities


def plain_fabric(**facts: Any) -> Any:
    """A fabric with one switch and nothing else."""
    return SimpleNamespace(**(
        {"cable_a": np.zeros(0, np.int64), "link_count": 0, "management": None, "places": None, "addressing": None,
         "built": np.array([True]), "kind": np.array(["switch"]), "models": (SimpleNamespace(kind="switch", accelerators=8),)}
        | facts
    ))  # fmt: skip


def addressed(**facts: Any) -> Any:
    return SimpleNamespace(**({"routing": None, "roce": None, "dealt": {}} | facts))


HOST, BARE = SimpleNamespace(kind="host", accelerators=8), SimpleNamespace(kind="host", accelerators=0)
ASSETS = {"node": {}, "port": {}, "mac": {}}


@pytest.mark.parametrize(
    ("fabric", "facts", "wanted"),
    [
        ({}, {}, set()),
        ({"cable_a": np.zeros(1, np.int64)}, {}, {"cables"}),
        ({"link_count": 1}, {}, {"links", "ethernet"}),
        ({"link_count": 1}, {"infiniband": True}, {"links", "infiniband"}),
        ({"link_count": 1}, {"infiniband": True, "torus": True}, {"links", "infiniband", "torus"}),
        ({"link_count": 1}, {"torus": True}, {"links", "ethernet"}),
        ({}, {"assets": ASSETS}, set()),
        ({}, {"assets": ASSETS | {"node": {1: 2}}}, {"guids"}),
        ({}, {"assets": ASSETS | {"port": {1: 2}}}, {"guids"}),
        ({}, {"assets": ASSETS | {"mac": {1: 2}}}, {"macs"}),
        ({"management": SimpleNamespace(partitions=())}, {}, set()),
        ({"management": SimpleNamespace(partitions=(1,))}, {}, {"partitions"}),
        ({"places": 1}, {}, {"places"}),
        ({}, {"stages": (1, 2)}, {"phases"}),
        ({}, {"cords": True}, {"cords"}),
        ({"addressing": addressed()}, {}, set()),
        ({"addressing": addressed(routing=1)}, {}, {"routing"}),
        ({"addressing": addressed(roce=1)}, {}, {"roce"}),
        ({"addressing": addressed(dealt={1: 2})}, {}, {"addresses"}),
        ({"kind": np.array(["host"])}, {}, {"hosts"}),
        ({"kind": np.array(["host"]), "built": np.array([False])}, {}, set()),
        ({"models": (BARE, HOST)}, {}, {"accelerator_hosts"}),
        ({"models": (BARE,)}, {}, set()),
    ],
)
def test_what_a_target_may_ask_for(
    fabric: dict[str, Any], facts: dict[str, Any], wanted: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subnets, "is_infiniband", lambda f: facts.get("infiniband", False))
    monkeypatch.setattr(subnets, "has_torus", lambda f: facts.get("torus", False))
    monkeypatch.setattr(views, "has_cords", lambda f: facts.get("cords", False))
    assets = SimpleNamespace(**facts["assets"]) if "assets" in facts else None
    assert cached("capabilities", stub(plain_fabric(**fabric), _assets=assets, _stages=facts.get("stages", ()))) == wanted


def test_simple_facts() -> None:
    base = {"name": "f", "title": "", "layer": "scaleup", "link_bundle": np.array([-1, -1]), "transport": "roce"}
    f = SimpleNamespace(**base, transport_stated=False, forwards=np.array([True, False]), built=np.array([False, True]))
    f.network = f
    view = stub(f)
    names = ("name", "title", "layer", "bundled", "layered", "forwarding", "transport")
    assert [cached(n, view) for n in names] == ["f", "f", "scaleup", False, False, False, ""]
    f.title, f.link_bundle, f.network, f.transport_stated, f.forwards = (
        "A fabric",
        np.array([-1, 0]),
        None,
        True,
        np.ones(2, bool),
    )
    assert [cached(n, view) for n in names] == ["f", "A fabric", "scaleup", True, True, True, "roce"]
    assert [cached("infiniband", stub(capabilities=frozenset(c))) for c in (["links"], ["links", "infiniband"])] == [False, True]


def test_sizes() -> None:
    """Built devices by kind; a cable of several legs is one."""
    kinds = ["host"] * 4 + ["chip"] * 3 + ["switch"] * 3 + ["panel"]
    built = np.array([True] * 3 + [False] + [True] * 2 + [False] + [True] + [False] * 2 + [True])
    f = SimpleNamespace(kind=np.array(kinds), built=built, link_count=9, cable_group=np.array([0, 0, 4, 4, 4, 2, 7]))
    assert cached("sizes", stub(f)) == Sizes(3, 2, 1, 9, 4)


@pytest.mark.parametrize(
    ("currency", "date", "wanted"),
    [("", "", ""), ("USD", "", "USD"), ("USD", "2026-11-01", "USD of 2026-11-01"), ("", "2026-11-01", "")],
)
def test_prices(currency: str, date: str, wanted: str) -> None:
    assert cached("prices", stub(SimpleNamespace(supply=SimpleNamespace(currency=currency, date=date)))) == wanted


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("row", "wanted"),
    [(0, "pl1-pod-su0-4"), (1, "pl1-pod-su0-5"), (2, "pl1-pod-su0-6"), (3, "pl1-pod-su1-4"), (11, "pl2-pod-su1-6")],
)
def test_names_of_group_instances(row: int, wanted: str) -> None:
    parts = [
        PathComponent("pl", "plane", (Axis(1, 2),)),
        PathComponent("pod", "group", ()),
        PathComponent("su", "group", (Axis(0, 2), Axis(4, 3))),
    ]
    assert _instance_prefix(parts, row) == wanted
    assert _instance_prefix(iter(parts), row) == wanted


def test_names_of_planes() -> None:
    """Of the first device in each; by number where no group of the device is a plane."""
    group, leaf = PathComponent("su", "group", (Axis(0, 2),)), PathComponent("leaf", "switch", (Axis(0, 3),))
    plane = PathComponent("pl", "plane", (Axis(5, 2), Axis(0, 2)))
    sets = [
        SimpleNamespace(parts=(leaf,), first=0), SimpleNamespace(parts=(group, plane, leaf), first=3),
        SimpleNamespace(parts=(plane, leaf), first=27),
    ]  # fmt: skip
    f = SimpleNamespace(
        plane=np.array([-1, 7, 7, *(n for n in range(8) for _ in range(3)), *(8 + n for n in range(4) for _ in range(3))]),
        set_of=lambda d: sets[(d >= 3) + (d >= 27)],
    )  # fmt: skip
    f.plane[24:27] = 6
    assert cached("_plane_names", stub(f)) == {
        0: "su0-pl5-0", 1: "su0-pl5-1", 2: "su0-pl6-0", 3: "su0-pl6-1", 4: "su1-pl5-0", 5: "su1-pl5-1", 6: "su1-pl6-0",
        7: "plane7", 8: "pl5-0", 9: "pl5-1", 10: "pl6-0", 11: "pl6-1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("models", "wanted"),
    [
        ([("A", ""), ("B", "x/2")], ["A", "B"]),
        ([("A", ""), ("A", "x/2,y/4"), ("A", "x/4")], ["A", "A+x2+y4", "A+x4"]),
        ([("A", ""), ("A", ""), ("A", "")], ["A", "A~2", "A~3"]),
        ([("A", "x/2"), ("A", "x/2"), ("A", "")], ["A+x2", "A+x2~2", "A"]),
        ([("A", ""), ("AB", ""), ("A", "")], ["A", "AB", "A~2"]),
    ],
)
def test_keys_of_models(models: list[tuple[str, str]], wanted: list[str]) -> None:
    assert _unique_model_keys(tuple(SimpleNamespace(name=n, variant=v) for n, v in models)) == wanted  # type: ignore[misc]


def test_models_with_their_ports() -> None:
    b = Builder()
    model = b.model("switch", "SW", {"a": {"shape": 2, "types": ("NDR",)}, "b": {"shape": (1, 2), "low": 1, "types": ("GE400",)}})
    first, second = model.classes
    for c, facts in ((first, ((0, 7), ("L0", "L1"), ("s0", "s1"), "OSFP")), (second, ((3, 0), ("x", "y"), ("", ""), ""))):
        for name, value in zip(("cages", "labels", "systems", "form"), facts, strict=True):
            object.__setattr__(c, name, value)
    object.__setattr__(second, "rate", None)
    b.devices("s", model, 1)
    assert _model_record(b.build(), "SW+2", model) == Model("SW+2", "SW", "switch", "", (
        PortGroup("a", 400 * GBPS, ("NDR",), True, (Port("a[0]", 1, "L0", "s0", ""), Port("a[1]", 2, "L1", "s1", "OSFP 7"))),
        PortGroup("b", "", ("GE400",), False, (Port("b[1, 1]", 3, "x", "", "3"), Port("b[1, 2]", 4, "y", "", ""))),
    ), 0)  # fmt: skip


def test_models_whose_accelerators_have_links_of_their_own() -> None:
    """Chips of hosts 0 and 1 have links, in a network below or in this fabric; the host without an index holds no chip."""
    # devices: 0, 1, 2 are hosts, 3 and 4 chips in hosts 1 and 2, 5 a chip in none, 6 a switch that host 0 contains
    facts = {
        "device_a": np.array([3, 5, 0]), "device_b": np.array([6, 6, 6]), "container": np.array([-1, -1, -1, 1, 2, -1, 0]),
        "kind": np.array(["host"] * 3 + ["chip"] * 3 + ["switch"]), "device_model": np.array([0, 1, 2, 3, 3, 3, 4]),
    }  # fmt: skip
    keys = dict.fromkeys("HIJCS")
    assert FabricView._outward(stub(SimpleNamespace(whole=None, **facts), models_by_key=keys)) == {"I"}
    whole = SimpleNamespace(**(facts | {"device_a": np.array([6]), "device_b": np.array([4])}))
    assert FabricView._outward(stub(SimpleNamespace(whole=whole, **facts), models_by_key=keys)) == {"J"}


@pytest.mark.parametrize(("transport", "found"), [("", False), ("infiniband", False), ("roce", True), ("efa", True)])
def test_port_classes_that_speak_ethernet(transport: str, found: bool) -> None:
    b = Builder()
    host, leaf = b.model("host", "H", {"mgmt": 2, "nic": 2}), b.model("switch", "L", {"p": 4, "q": 2})
    hosts, leaves = b.devices("h", host, 2), b.devices("l", leaf, 2)
    b.link(b.free(hosts, 1, "nic"), b.free(leaves, 1, "p"))
    b.link(b.free(hosts, 1, "nic"), b.free(leaves, 1, "p"))
    fabric = b.build()
    fabric.transport = transport
    wanted = {("H", "nic"), ("L+", "p")} if found else set()
    assert FabricView._ethernet(stub(fabric, models_by_key=dict.fromkeys(("H", "L+")))) == wanted


# ---------------------------------------------------------------- places


def placed() -> Any:
    """Four devices: in no rack, in rack 0 without a unit, in rack 0 at unit 7, in rack 1 at unit 1."""
    places = SimpleNamespace(
        device_rack=np.array([-1, 0, 0, 1]), device_unit=np.array([0, 0, 7, 1]), hall_name=lambda r: f"h{r + 1}",
        rack_name=lambda r: f"A0{r}",
    )  # fmt: skip
    models = (
        SimpleNamespace(name="M", facts={"platform": "x86", "height": 3, "more": ("a",), "model": "other"}),
        SimpleNamespace(name="N", facts={}),
    )
    f = SimpleNamespace(places=places, models=models, device_model=np.array([1, 0, 0, 1]))
    return stub(f, _faceplates=SimpleNamespace(devices={"d0": 0, "d1": 1, "d2": 2, "d3": 3}))


def test_racks_of_devices() -> None:
    view = placed()
    assert [FabricView.rack_of(view, f"d{n}") for n in range(4)] == [("", ""), ("h1.A00", ""), ("h1.A00", 7), ("h2.A01", 1)]
    view._fabric.places = None
    assert FabricView.rack_of(view, "d2") == ("", "")


def test_facts_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    view = placed()
    assert FabricView.model_facts(view, "d2") == {"platform": "x86", "model": "M"}
    assert FabricView.model_facts(view, "d3") == {"model": "N"}
    monkeypatch.setattr(views, "height_of", lambda m: m.facts.get("height"))
    assert [FabricView.model_units(view, f"d{n}") for n in (1, 0)] == [3, 1]


def test_rows_of_racks_of_pods() -> None:
    """Where the cables of a fabric are in no group, they are those of rows of racks; those without a place come last."""
    ends = {
        "a_hall": ["", "h1", "h1", "h2", ""], "a_rack": ["", "A01", "A12", "B7", ""],
        "b_hall": ["", "h9", "h9", "h9", "h1"], "b_rack": ["", "Z1", "Z1", "", "C1"], "place": [""] * 5,
    }  # fmt: skip
    f = SimpleNamespace(port_device=np.zeros(5, int), cable_b=np.arange(5))
    wires = SimpleNamespace(devices=SimpleNamespace(place=np.array([""], dtype=object)), cable_order=(np.arange(5), np.arange(5)))
    view = stub(f, _wires=wires, cables=SimpleNamespace(column=ends.__getitem__))
    view._rows_of_racks = lambda: FabricView._rows_of_racks(view)
    assert cached("pods", view) == (Pod("h1-A", (1, 2)), Pod("h2-B", (3,)), Pod("h1-C", (4,)), Pod("rest", (0,)))
    # the group of the a end, or of the b end where that is in none
    ends["place"] = ["", "su1-x", "", "su0", ""]
    f.port_device, wires.cable_order = np.array([0, 1, 0, 1, 0]), (np.array([4, 3, 2, 1, 0]), None)
    wires.devices.place = np.array(["", "su0-y"], dtype=object)
    assert cached("pods", view) == (Pod("su1", (1,)), Pod("su0", (3,)), Pod("rest", (0, 2, 4)))
    f.port_device = np.array([0, 1, 1, 1, 0])
    assert cached("pods", view) == (Pod("su1", (1,)), Pod("su0", (2, 3)), Pod("rest", (0, 4)))


# ---------------------------------------------------------------- addresses and subnets


def test_management_addresses() -> None:
    """Of devices that are built, as networks; the MAC of the table of assets where it has one."""
    given = {
        0: [("10.0.0.5", 24, "10.0.0.1"), ("fd00::5", 64, "")], 1: [("10.0.0.6", 24, "")], 2: [("10.0.1.6", 23, "")],
    }  # fmt: skip
    found = SimpleNamespace(
        each=lambda kind, d: [
            (ip_address(a), SimpleNamespace(prefix=p, gateway=g)) for a, p, g in given[d] if kind == "management"
        ]
    )
    f = SimpleNamespace(
        addressing=found,
        built=np.array([True, False, True]),
        kind=np.array(["host", "host", "switch"]),
        device_name=lambda d: f"d{d}",
    )
    wanted = (
        Managed("d0", "host", "02:00", 4, "10.0.0.5", "10.0.0.0/24", "10.0.0.1"),
        Managed("d0", "host", "02:00", 6, "fd00::5", "fd00::/64", ""),
        Managed("d2", "switch", "", 4, "10.0.1.6", "10.0.0.0/23", ""),
    )
    assert cached("managed", stub(f, _assets=SimpleNamespace(mac={0: "02:00"}))) == wanted
    assert [m.mac for m in cached("managed", stub(f, _assets=None))] == ["", "", ""]
    f.addressing = None
    assert cached("managed", stub(f, _assets=None)) == ()


def test_systems_by_number() -> None:
    names = SimpleNamespace(devices=SimpleNamespace(name=np.array(list("abcd"), dtype=object)))
    f = SimpleNamespace(
        addressing=SimpleNamespace(asn=np.array([0, 65000, 1, 7])), built=np.array([True, True, True, False]), device_count=4
    )
    table = cached("systems", stub(f, _wires=names))
    assert (len(table), table.column("device"), table.column("asn")) == (2, ["b", "c"], [65000, 1])
    f.addressing = None
    assert len(cached("systems", stub(f, _wires=names))) == 0


def test_systems_of_switches() -> None:
    names = SimpleNamespace(devices=SimpleNamespace(name=np.array(list("abcd"), dtype=object)))
    f = SimpleNamespace(
        built=np.array([True, True, False, True]), is_switch=np.array([False, True, True, True]),
        switch_system=np.array(["x", "sonic", "eos", ""]),
    )  # fmt: skip
    assert cached("switch_systems", stub(f, _wires=names)) == {"b": "sonic", "d": ""}


def test_standbys_and_managers() -> None:
    def plane(*names: str) -> Any:
        return SimpleNamespace(managers=tuple(SimpleNamespace(name=n) for n in names))

    planes = (plane("a", "b", "c"), plane("d"), plane(), plane("e", "f"))
    found = cached("standbys", stub(planes=planes))
    assert [(s.name, s.plane is planes[0], s.manager.name) for s in found] == [
        ("b", True, "b"),
        ("c", True, "c"),
        ("f", False, "f"),
    ]
    assert all(isinstance(s, Standby) for s in found)
    f = SimpleNamespace(management=SimpleNamespace(managers=(2, 0)), device_name=lambda d: f"d{d}")
    assert cached("managers", stub(f)) == ("d2", "d0")
    f.management = None
    assert cached("managers", stub(f)) == ()


def test_routers_of_each_kind_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from tdsl.emit.data import routers

    asked: list[tuple[str, object]] = []

    class Made:
        def __init__(self, wires: object, addressing: object, diagnostics: object) -> None:
            assert (wires, addressing, diagnostics) == ("wires", "addressing", "findings")

        def of(self, kind: str, devices: object) -> list[str]:
            asked.append((kind, devices))
            return [f"{kind}0", f"{kind}1"]

    monkeypatch.setattr(routers, "RouterMaker", Made)
    facts = {"_wires": "wires", "_diagnostics": "findings", "_asked": "these", "_routers": {}}
    view = stub(SimpleNamespace(addressing="addressing"), capabilities={"routing"}, **facts)
    assert FabricView.routers(view, "host") == ("host0", "host1") and asked == [("host", "these")]
    assert FabricView.routers(view, "") == ("switch0", "switch1", "host0", "host1")
    assert FabricView.routers(view, "switch") == ("switch0", "switch1") and asked == [("host", "these"), ("switch", "these")]
    view.capabilities = set()
    assert FabricView.routers(view, "switch") == ()
    view.capabilities, view._fabric.addressing = {"routing"}, None
    assert FabricView.routers(view, "switch") == ()


def test_phases_count_from_the_second() -> None:
    b = Builder()
    b.devices("s", b.model("switch", "S", {"p": 1}), 1)
    fabric = b.build()
    one, two = (FabricView(fabric, Diagnostics(), stages=("x",) * n) for n in (1, 2))  # type: ignore[arg-type]
    assert (one._stages, two._stages) == ((), ("x", "x"))
    assert not FabricView(fabric, Diagnostics()).links and FabricView(fabric, Diagnostics()).prices == ""


def test_tables_that_others_make(monkeypatch: pytest.MonkeyPatch) -> None:
    """Host groups, planned links and the tables of what is bought are those of the modules that make them."""
    from tdsl.physical.stages import PhaseLine

    f = SimpleNamespace(network="network")
    view = stub(
        f, _wires=SimpleNamespace(devices=SimpleNamespace(name="names")), _stages=(1, 2), host_domains="d", host_groups="g"
    )
    monkeypatch.setattr(views.scheduling, "host_groups", lambda w: ("groups", w is view._wires))
    monkeypatch.setattr(views.scheduling, "host_domains", lambda w: ("domains", w is view._wires))
    monkeypatch.setattr(views.scheduling, "host_blocks", lambda domains, groups: ("blocks", domains, groups))
    monkeypatch.setattr(views, "planned_links", lambda network, names: ("planned", network, names))
    assert [cached(n, view) for n in ("host_groups", "host_domains", "host_blocks", "planned_links")] == [
        ("groups", True), ("domains", True), ("blocks", "d", "g"), ("planned", "network", "names"),
    ]  # fmt: skip
    line: Any = SimpleNamespace(**{n: n.upper() for n in PhaseLine.__dataclass_fields__})
    monkeypatch.setattr(views, "phase_bill", lambda stages: [line] * len(stages))
    monkeypatch.setattr(views, "phase_totals", lambda stages: ["of phases", len(stages)])
    monkeypatch.setattr(views, "totals_by_place", lambda fabric: ["of all"] if fabric is f else [])
    monkeypatch.setattr(views, "_table_of_records", lambda record, rows: (record.__name__, rows))
    assert cached("phase_bill", view) == ("PhaseLine", [line, line])
    assert cached("totals", view) == ("Total", ["of all", "of phases", 2])
    for name, function, record in (
        ("bill", "bill", "Line"), ("cords", "cords", "Cord"), ("racks", "rack_lines", "RackLine"),
        ("mounting", "mount_lines", "MountLine"),
    ):  # fmt: skip
        monkeypatch.setattr(views, function, lambda fabric, name=name: [name, fabric is f])
        assert cached(name, view) == (record, [name, True])


def test_records_as_tables() -> None:
    made = [System("a", 1), System("b", 2)]
    table = views._table_of_records(System, made)
    assert (len(table), table.column("device"), table.column("asn")) == (2, ["a", "b"], [1, 2])


def test_devices_by_row() -> None:
    """Those that are built; "" for no tier, no plane and no holder."""
    f = SimpleNamespace(
        built=np.array([True, False, True, True]), models=(SimpleNamespace(name="M"), SimpleNamespace(name="N")),
        device_path=lambda d: f"path{d}", kind=np.array(["host", "host", "chip", "switch"]),
        role=np.array(["storage", "", "", "x"]),
        device_model=np.array([0, 0, 1, 0]), tier=np.array([0, 0, -1, 2]), plane=np.array([-1, 0, 1, 0]),
        port_base=np.array([0, 4, 8, 9, 73]), forwards=np.array([False, True, True, False]), container=np.array([-1, -1, 0, -1]),
    )  # fmt: skip
    wires = SimpleNamespace(devices=SimpleNamespace(name=np.array(list("abcd"), dtype=object)))
    table = cached("devices", stub(f, _wires=wires, models_by_key={"M+1": 0, "N": 1}))
    names = ("name", "path", "kind", "role", "model", "model_name", "tier", "plane", "port_count", "forwards", "inside")
    assert list(zip(*(table.column(n) for n in names), strict=True)) == [
        ("a", "path0", "host", "storage", "M+1", "M", 0, "", 4, False, ""),
        ("c", "path2", "chip", "", "N", "N", "", 1, 1, True, "a"),
        ("d", "path3", "switch", "x", "M+1", "M", 2, 0, 64, False, ""),
    ]  # fmt: skip
    assert len(table) == 3


def test_drawings_and_faceplates_are_made_of_the_fabric(monkeypatch: pytest.MonkeyPatch) -> None:
    from tdsl.emit.data import faceplate

    f = SimpleNamespace(places="places", models=(SimpleNamespace(name="A", variant=""), SimpleNamespace(name="B", variant="")))
    wires = SimpleNamespace(**{n: n.upper() for n in ("links", "cables", "labels", "circuits", "classes")})
    drawn = SimpleNamespace(fronts=lambda: "fronts", plans=lambda: "plans")
    view = stub(f, title="A title", _wires=wires, _drawing=drawn, _faceplates=SimpleNamespace(of=lambda name: (name, "ports")))
    monkeypatch.setattr(views, "RackDrawing", lambda *given: ("drawing", *given))
    monkeypatch.setattr(views.picture, "draw", lambda *given: ("picture", *given))
    monkeypatch.setattr(views.picture, "sketch", lambda *given: ("sketch", *given))
    monkeypatch.setattr(faceplate, "Faceplates", lambda given: ("faceplates", given))
    assert cached("_drawing", view) == ("drawing", f, "places", "A title")
    assert (cached("elevations", view), cached("floor_plans", view)) == ("fronts", "plans")
    assert (cached("picture", view), cached("sketch", view)) == (("picture", f, wires, "A title"), ("sketch", f, wires))
    assert cached("_faceplates", view) == ("faceplates", wires) and FabricView.faceplate(view, "leaf0") == ("leaf0", "ports")
    assert [cached(n, view) for n in ("links", "cables", "labels", "circuits", "classes")] == [
        "LINKS", "CABLES", "LABELS", "CIRCUITS", "CLASSES",
    ]  # fmt: skip
    assert cached("models_by_key", view) == dict(zip("AB", f.models, strict=True))


def test_records_of_routing(monkeypatch: pytest.MonkeyPatch) -> None:
    """None where the design has no addresses or says nothing."""
    monkeypatch.setattr(views, "record_without_origin", lambda found: ("plain", found))
    f = SimpleNamespace(addressing=SimpleNamespace(routing="bgp", roce="class 3"))
    assert [cached(n, stub(f)) for n in ("routing", "roce")] == [("plain", "bgp"), ("plain", "class 3")]
    f.addressing = None
    assert [cached(n, stub(f)) for n in ("routing", "roce")] == [("plain", None)] * 2


def test_addresses_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [tuple("abcdef"), tuple("ghijkl")]
    monkeypatch.setattr(views, "address_rows", lambda wires, found: iter(given) if (wires, found) == ("wires", "found") else ())
    f = SimpleNamespace(addressing="found")
    table = cached("addresses", stub(f, _wires="wires"))
    names = ("device", "kind", "port", "address", "network", "vrf")
    assert list(zip(*(table.column(n) for n in names), strict=True)) == given and len(table) == 2
    f.addressing = None
    assert len(cached("addresses", stub(f, _wires="wires"))) == 0


def test_accelerators_that_simulators_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    from tdsl.emit.data import npus

    monkeypatch.setattr(npus, "npu_graph", lambda wires: ("graph", wires))
    assert cached("npus", stub(_wires="wires")) == ("graph", "wires")

    def unfit(wires: object) -> None:
        raise npus.NpuGraphUnfit("no accelerators")

    monkeypatch.setattr(npus, "npu_graph", unfit)
    assert cached("npus", stub(_wires="wires")) == "no accelerators"


def test_hosts_and_adapters_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    view = stub("fabric", models_by_key="keys", _diagnostics="found", _ethernet=lambda: "ether", _outward=lambda: "out")
    view._assets, view._wires, view._plane_names = "assets", "wires", "names"
    monkeypatch.setattr(views.hosts, "host_layouts", lambda *given: [given])
    monkeypatch.setattr(views.adapters, "host_adapters", lambda *given: [given])
    monkeypatch.setattr(subnets, "subnet_planes", lambda *given: given)
    assert cached("hosts", view) == (("keys", "found", "ether", "out"),)
    assert cached("adapters", view) == (("fabric", "keys"),) and cached("planes", view) == ("wires", "names", "assets")
