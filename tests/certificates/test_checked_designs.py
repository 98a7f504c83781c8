"""The checker alone: strict input, exit statuses, and forged certificates of small designs."""

from __future__ import annotations

import json
import os
import random
from copy import deepcopy
from hashlib import sha256
from pathlib import Path

import pytest

from tdsl.certificates import checker
from tdsl.certificates.write import json_of_fabric_target, verified_certificates
from tdsl.compile import compiler
from tdsl.compile.compiler import Request, compile_without_checks
from tdsl.fabric.graph import Fabric
from tests.certificates.made import MODELS, body, design, judged
from tests.harness import compile_text

ALL_TO_ALL = {
    "check": "throughput", "pattern": "all_to_all", "units": 8, "lower_bps": "400000000000/7", "upper_bps": "400000000000/7",
    "upper": {"lengths": []},
}  # fmt: skip
FLOWS = """fabric f {
  host node[8]: N
  switch leaf[2]: SW
  connect node[n].nic to leaf[n//4]
  connect leaf[*] each
  report throughput all_to_all
  report throughput ring
  report bisection
  report reachability
  report survives any 1 of node with bisection >= 10%
}"""
STORAGE = """fabric f {
  host node[2]: N
  host st: ST { role storage }
  switch a[2]: SW
  connect node[n].nic to a[(0)]
  connect st.nic to a[(LEAF)]
  report reachability
}"""
NAMES = """fabric f {
  host a: N
  host ab: N
  switch bc: SW
  switch c: SW
  connect a to bc
  connect ab to c
  report reachability
}"""
TRAYS = """fabric f {
  host tray[3]: TR
  switch sw[2]: X
  connect tray[t].gpu[g].nv[k] to sw[k]
  report bisection
  report survives any 1 of tray with bisection >= PERCENT of intact
}"""
EXCHANGE = {"tray0": "tray1", "tray1": "tray0"}
WHOLE = EXCHANGE | {f"tray{a}-gpu{g}": f"tray{1 - a}-gpu{g}" for a in (0, 1) for g in (0, 1)}
ODD = [0, 1, -1, 2, 10**30, True, None, "", "1/2", "-1", "node0", "leaf0", "tray[0]", [], {}, [[]], ["leaf0"], {"leaf0": {}}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


@pytest.mark.parametrize(
    "lower",
    [
        {"routes": [{"share": 1, "by": "flows", "parts": 1, "flows": {}}]},
        {"quotient": True, "routes": [{"share": 1, "by": "flows", "parts": 1, "flows": {}}]},
        {"quotient": True, "routes": []},
        {"routes": []},
        {"routes": [{"share": 1, "parts": 1, "by": "trees", "trees": []}]},
        {"routes": [{"share": 1, "parts": 1, "by": "hubs", "hubs": {}}]},
        {"routes": [{"share": 0, "parts": 1, "by": "lengths", "lengths": []}]},
        {},
        {"symmetries": [], "routes": []},
        {"symmetries": [], "hubs": {}, "routes": []},
    ],
)
def test_an_empty_demand_proves_nothing(lower: dict[str, object], folder: Path) -> None:
    fabric, made = design(FLOWS, folder)
    assert judged(body(made, "throughput-all_to_all.json"), fabric)[0] == 0
    assert judged(ALL_TO_ALL | {"lower": lower}, fabric)[0] == 1


def test_storage_and_managers_reach_a_unit(folder: Path) -> None:
    holds = {"check": "reachability", "units": 2, "holds": True}
    assert judged(holds, design(STORAGE.replace("LEAF", "1"), folder)[0]) == (
        1,
        "rejected: a manager or storage device reaches no unit",
    )
    assert judged(holds, design(STORAGE.replace("LEAF", "0"), folder)[0])[0] == 0


def hub(name: str) -> dict[str, object]:
    """The proof by what is linked to a hub."""
    return {"hubs": [name], "shares": {}}


def test_a_host_fails_with_its_chips(folder: Path) -> None:
    shares = [hub(h) for h in ("sw0", "sw1")]
    left = {
        "check": "bisection", "units": 6, "lower_bps": 1200000000000, "upper_bps": 1200000000000,
        "cut": ["tray0-gpu0", "tray0-gpu1", "tray1-gpu0"], "lower": {"by": "shares", "parts": shares},
    }  # fmt: skip
    condition = {"check": "bisection", "op": ">=", "value": "1", "share": "intact"}
    forged = {
        "check": "survives", "of": ["tray"], "count": 1, "condition": condition, "symmetries": [],
        "cases": [{"failed": [f"tray[{i}]"], "left": left} for i in range(3)],
    }  # fmt: skip
    fabric, _ = design(TRAYS.replace("PERCENT", "60%"), folder)
    assert judged(forged, fabric) == (1, "rejected: the number of units is another")


@pytest.fixture(scope="module")
def trays(folder: Path) -> tuple[str, dict[str, object]]:
    """An honest certificate of trays, written by hand: two of three are left, and no exchange is needed."""
    fabric, _ = design(TRAYS.replace("PERCENT", "60%"), folder)
    shares = [hub(h) for h in ("sw0", "sw1")]
    cases = []
    for gone in range(3):
        a, b = (t for t in range(3) if t != gone)
        left = {"check": "bisection", "units": 4, "lower_bps": 8 * 10**11, "upper_bps": 8 * 10**11}
        left |= {"cut": [f"tray{a}-gpu0", f"tray{b}-gpu0"], "lower": {"by": "shares", "parts": shares}}
        cases.append({"failed": [f"tray[{gone}]"], "left": left})
    condition = {"check": "bisection", "op": ">=", "value": "2/3", "share": "intact"}
    return fabric, {"check": "survives", "of": ["tray"], "count": 1, "condition": condition, "symmetries": [], "cases": cases}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 0),
        ({"of": ["tray[0]", "tray[1]", "tray[2]"]}, 0),
        ({"of": []}, 1),
        ({"of": ["tray", "tray[0]"]}, 0),
        ({"of": ["tray", "tray"]}, 1),
        ({"of": ["tray", "absent"]}, 1),
        ({"of": ["tray", "tray[0].gpu"]}, 1),
        ({"of": [["tray0"], ["tray1"], ["tray2"]]}, 1),
        ({"count": 0}, 1),
        ({"count": 2}, 1),
        ({"count": 4}, 1),
        ({"cases": []}, 1),
        ({"cases": 1}, 1),
        ({"cases": 2}, 1),
        ({"cases": 2, "symmetries": [WHOLE]}, 1),
        ({"cases": slice(1, 3), "symmetries": [WHOLE]}, 0),
        ({"cases": slice(1, 3), "symmetries": [EXCHANGE]}, 1),
        ({"cases": slice(1, 3), "symmetries": [{"tray0": "tray1"}]}, 1),
        ({"cases": slice(1, 3), "symmetries": [WHOLE | {"absent": "absent"}]}, 1),
        ({"symmetries": [{"sw0": "sw1", "sw1": "sw0"}]}, 0),
        ({"symmetries": [{"tray0-gpu0": "tray1-gpu0", "tray1-gpu0": "tray0-gpu0"}]}, 1),
        ({"condition": {"value": "3/4"}}, 1),
        ({"condition": {"op": ">"}}, 1),
        ({"condition": {"op": "<="}}, 0),
        ({"condition": {"op": "<"}}, 1),
        ({"condition": {"op": "=="}}, 0),
        ({"condition": {"op": "==", "value": "1/2"}}, 1),
        ({"condition": {"op": "!="}}, 1),
        ({"condition": {"value": "1", "share": "left"}}, 0),
        ({"condition": {"value": "800000000000", "share": None}}, 0),
        ({"condition": {"value": "800000000001", "share": None}}, 1),
        ({"condition": {"value": None}}, 1),
        ({"condition": {"value": 0.5}}, 2),
        ({"condition": {"share": "whole"}}, 1),
        ({"condition": {"check": "reachability"}}, 1),
        ({"condition": {"check": "diameter"}}, 1),
    ],
)
def test_survives_is_checked_for_all_that_it_states(change: dict, status: int, trays: tuple[str, dict]) -> None:
    fabric, honest = trays
    forged = deepcopy(honest)
    cases = change.get("cases", [])
    for key, value in change.items():
        if key == "condition":
            forged["condition"] |= value
        elif key == "cases" and not isinstance(value, list):
            forged["cases"] = forged["cases"][value if isinstance(cases, slice) else slice(0, value)]
        else:
            forged[key] = value
    assert judged(forged, fabric)[0] == status


def bisection_of(folder: Path) -> tuple[str, dict]:
    fabric, made = design(FLOWS, folder)
    return fabric, body(made, "bisection.json")


@pytest.mark.parametrize(
    "order",
    [
        [["leaf0"], ["leaf1"]],
        [[f"node{i}"] for i in range(8)] + [["leaf0"], ["leaf0"]],
        [[f"node{i}"] for i in range(8)] + [["leaf0"], ["leaf1"], ["leaf1"]],
        [[f"node{i}"] for i in range(8)] + [["leaf0", "leaf1"]],
        [[f"node{i}" for i in range(4)], *([f"node{i}"] for i in range(4, 8)), ["leaf0"], ["leaf1"]],
        [*([f"node{i}"] for i in range(8)), []],
    ],
)
def test_an_order_names_each_device_once_and_none_that_differ_together(order: list, folder: Path) -> None:
    fabric, honest = bisection_of(folder)
    good = [[f"node{i}"] for i in range(8)] + [["leaf0"], ["leaf1"]]
    least = honest["lower_bps"] // (400 * 10**9)
    assert judged(honest | {"lower": {"by": "splits", "parts": [{"least": least, "order": good}]}}, fabric)[0] == 0
    for lower in (least, 2 * least):
        parts = [{"least": lower, "order": order}]
        forged = honest | {"lower_bps": lower * 400 * 10**9, "lower": {"by": "splits", "parts": parts}}
        assert judged(forged, fabric)[0] == 1


def test_links_are_used_once(folder: Path) -> None:
    """Two parts of the same order: the lower bound would be above the upper one."""
    fabric, honest = bisection_of(folder)
    order = [[f"node{i}"] for i in range(8)] + [["leaf0"], ["leaf1"]]
    parts = [{"least": honest["lower_bps"] // (400 * 10**9), "order": order}] * 2
    assert judged(honest | {"lower_bps": 2 * honest["lower_bps"], "lower": {"by": "splits", "parts": parts}}, fabric)[0] == 1


def test_no_flow_passes_a_device_that_does_not_forward(folder: Path) -> None:
    fabric, honest = bisection_of(folder)
    for node in ("node0", "absent"):
        parts = [{"hubs": ["leaf0"], "shares": {node: {"leaf0": "1"}}}]
        assert judged(honest | {"lower": {"by": "shares", "parts": parts}}, fabric)[0] == 1
    parts = [{"hubs": ["node0"], "shares": {}}]
    assert "forward" in judged(honest | {"lower": {"by": "shares", "parts": parts}}, fabric)[1]
    ring = body(design(FLOWS, folder)[1], "throughput-1.json")
    assert judged(ring, fabric)[0] == 0
    source, flow = next(iter(ring["lower"]["routes"][0]["flows"].items()))
    detour = [[flow[0][0], "leaf0", 1], ["leaf0", "node1", 1], ["node1", "leaf0", 1]]
    forged = deepcopy(ring)
    forged["lower"]["routes"][0]["flows"][source] = [*flow, *detour]
    assert judged(forged, fabric)[0] == 1


def test_chips_forward_only_where_chips_are_linked(folder: Path) -> None:
    """A chip with a link to each of two switches joins nothing: no path leads from one of the others to the next."""
    text = "fabric f {\n  chip c[3]: GV\n  switch sw[2]: X\n  connect c[0].nv[k] to sw[k]\n"
    text += "  connect c[1].nv[0] to sw[0]\n  connect c[2].nv[0] to sw[1]\nEXTRA  report reachability\n}"
    holds = {"check": "reachability", "units": 3, "holds": True}
    fabric, made = design(text.replace("EXTRA", ""), folder)
    assert judged(holds, fabric)[0] == 1 and judged(body(made, "reachability.json"), fabric)[0] == 0
    fabric, _ = design(text.replace("EXTRA", "  connect c[1].nv[1] to c[2].nv[1]\n"), folder)
    assert judged(holds, fabric)[0] == 0


@pytest.mark.parametrize(
    "image",
    [
        {"node0": "node1"},
        {"node0": "node1", "node1": "node1"},
        {"absent": "absent"},
        {"node0": 1},
        {"node0": "leaf0", "leaf0": "node0"},
        {"node0": "node4", "node4": "node0"},
        [0] * 10,
        "ab",
    ],
)
def test_a_symmetry_is_a_permutation_that_keeps_the_links(image: object, folder: Path) -> None:
    fabric, honest = bisection_of(folder)
    route = {"share": 1, "parts": 5040, "by": "lengths", "lengths": []}
    for images, status in (([], 0), ([{"node0": "node1", "node1": "node0"}], 0), ([image], 1)):
        assert judged(honest | {"lower": {"by": "routes", "symmetries": images, "routes": [route]}}, fabric)[0] == status


def in_this_schema(old: dict) -> dict:
    """A certificate of schema 1 as one of today, so that it is judged for what it states."""
    if old["check"] == "survives":
        condition = {"check": "bisection", "op": ">=", "value": old["claim"]["at_least"], "share": "intact"}
        cases = [{"failed": ["tray[" + c["failed"][0][0][4:] + "]"], "left": in_this_schema(c["left"])} for c in old["cases"]]
        return {
            "check": "survives",
            "of": ["tray"],
            "count": old["count"],
            "condition": condition,
            "symmetries": [],
            "cases": cases,
        }
    if old["check"] == "bisection":
        parts = [hub(h) for part in old["lower"]["parts"] for h in part["hubs"]]
        return old | {"lower": {"by": "shares", "parts": parts}}
    if old["check"] == "throughput":
        lower = {("quotient" if k == "twins" else k): v for k, v in old["lower"].items()}
        if "routes" in lower:
            lower["routes"] = [{"by": "hubs"} | route for route in lower["routes"]]
        else:
            quotient = {"quotient": lower.pop("quotient")} if "quotient" in lower else {}
            lower = quotient | {"routes": [{"share": 1} | lower]}
        return old | {"lower": {k: v for k, v in lower.items() if k != "by"}, "upper": {"lengths": []}}
    return old


def test_cases_of_the_collection() -> None:
    """Forged certificates that an earlier checker verified; their fabrics are compiled here."""
    root = Path(os.environ.get("TDSL_TEST_DATA", "")) / "cases" / "sound"
    found = sorted(root.glob("forged_*.json"))
    if not found:
        pytest.skip("no collection of cases")
    for path in found:
        source = path.with_suffix(".fab") if path.with_suffix(".fab").is_file() else root / "forged_flows.fab"
        made = compiler.compile_without_checks(str(source), Request()).designs[0].fabric
        assert made is not None
        forged = json.loads(path.read_text())
        status, line = judged(
            in_this_schema({k: v for k, v in forged.items() if k not in ("schema", "fabric")}), json_of_fabric_target(made)
        )
        assert status == 1 and "key" not in line, (path, line)


def key_in(key: object, of: object) -> bool:
    """Whether a dict or list still has it after removals."""
    return key in of if isinstance(of, dict) else isinstance(key, int) and key < len(of)


def mutated(value: object, rng: random.Random) -> object:
    """A value with one part removed, doubled, or put in the place of another."""
    places: list[tuple[object, object]] = []
    front = [value]
    for x in front:
        inner = list(x.items()) if isinstance(x, dict) else list(enumerate(x)) if isinstance(x, list) else []
        places += [(x, key) for key, _ in inner]
        front += [y for _, y in inner]
    if not places:
        return value
    at, key = rng.choice(places)
    how = rng.randrange(4)
    if how == 0:
        del at[key]
    elif how == 1 and isinstance(at, list):
        at.insert(key, deepcopy(at[key]))
    elif how == 2:
        other, there = rng.choice(places)
        at[key] = deepcopy(other[there]) if key_in(there, other) else 1
    else:
        at[key] = deepcopy(rng.choice(ODD))
    return value


@pytest.mark.parametrize("seed", range(4))
def test_no_mutation_ends_in_a_traceback(seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    kinds = [design(FLOWS, folder), design(TRAYS.replace("PERCENT", "60%"), folder), design(NAMES, folder)]
    statuses = set()
    for _ in range(150):
        fabric, made = rng.choice(kinds)
        text = rng.choice(list(made.texts.values()))
        if rng.random() < 0.2:  # of the bytes
            at = rng.randrange(len(text))
            text = (
                text[:at]
                + rng.choice(["", "{", "]", '"', "\\", ",", "1", "e9", "\x00", "\ud800"])
                + text[at + rng.randrange(3) :]
            )
        else:
            certificate, data = json.loads(text), json.loads(fabric)
            for _ in range(rng.randrange(1, 4)):
                certificate, data = (mutated(x, rng) if rng.random() < 0.5 else x for x in (certificate, data))
            fabric = json.dumps(data)
            if "design" in certificate:
                certificate["design"] = sha256(fabric.encode()).hexdigest()
            text = json.dumps(certificate)
        status, line = checker.check(text, fabric)
        statuses.add(status)
        assert status in (0, 1, 2) and line.isprintable() and len(line) < 1000
    assert statuses >= {1}


def test_a_certificate_is_of_what_was_asked(tmp_path: Path) -> None:
    """Only `bisection` itself gives the certificate of the bisection."""
    names = {}
    for check in ("reachability", "bisection"):
        text = "fabric f {\n  host node[4]: N\n  switch s: SW\n  connect node[n].nic to s\n  report " + check + "\n}\n"
        (made,) = compile_text(text + MODELS, tmp_path, models=False).designs
        assert made.fabric is not None
        names[check] = {*verified_certificates(made.fabric, made.claims, [r for r in made.results if r.check == check]).texts}
    assert "bisection.json" in names["bisection"] - names["reachability"]


def fabric(source: Path | str, name: str) -> Fabric:
    """The fabric of that name in a design."""
    found = next(d.fabric for d in compile_without_checks(str(source), Request()).designs if d.name == name)
    assert found is not None
    return found


def test_the_file_is_short_enough_to_be_read() -> None:
    assert len(Path(checker.__file__).read_text(encoding="utf-8").splitlines()) <= 1900
