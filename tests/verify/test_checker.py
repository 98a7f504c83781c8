"""The checker alone: strict input, exit statuses, and forged certificates. Honest ones of the
library are verified by `test_second_opinion.py`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from tdsl.certificates import checker, write, write_figures
from tdsl.certificates.write import Certified, json_of_fabric_target, verified_certificates
from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.prove.bisection import Bisection
from tdsl.prove.bound import Shares
from tdsl.prove.view import View
from tests.cli.run import tdsl
from tests.harness import compile_text

MODELS = """
model host N { port nic: 400Gbps; chip gpu: G }
model host ST { port nic: 400Gbps }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps }
model host TR { chip gpu[2]: GV }
model chip GV { port nv[2]: 200Gbps }
model switch X { port p[1..16]: any }
"""
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


@cache
def design(text: str, folder: Path) -> tuple[str, Certified]:
    """The fabric.json and the certificates of a text."""
    (made,) = compile_text(text + MODELS, folder, models=False).designs
    assert made.fabric is not None, made.findings
    return json_of_fabric_target(made.fabric), verified_certificates(made.fabric, made.claims, made.results)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


def judged(body: dict[str, object], fabric: str) -> tuple[int, str]:
    """The checker's answer about a certificate with an honest head."""
    head = {"schema": checker.SCHEMA, "fabric": "f", "design": sha256(fabric.encode()).hexdigest()}
    return checker.check(json.dumps(head | body), fabric)


def body(made: Certified, name: str) -> dict[str, object]:
    """What a certificate states, without its head."""
    out = json.loads(made.texts[name])
    return {k: out[k] for k in out if k not in ("schema", "fabric", "design")}


def test_the_file_is_short_enough_to_be_read() -> None:
    assert len(Path(checker.__file__).read_text(encoding="utf-8").splitlines()) <= 1300


# ---------------------------------------------------------------- strict input


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"schema": 2.0}', "not an integer"),
        ('{"a": NaN}', "not an integer"),
        ('{"a": -Infinity}', "not an integer"),
        ('{"a": 1, "a": 2}', "a key twice"),
        ("[" * 101 + "]" * 101, "deeper than 100"),
        ("[" * 100_000, "too deep"),
        ('{"a": ' + "9" * 61 + "}", "at most 60 digits"),
        ('{"a": ' + "9" * 5000 + "}", "at most 60 digits"),
        ('{"a": ', "not JSON"),
        ("", "not JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
    ],
)
def test_what_is_not_strict_json_is_not_readable(text: str, why: str) -> None:
    status, line = checker.check(text, "{}")
    assert status == 2 and why in line and "\n" not in line
    status, line = checker.check("{}", text)
    assert status == 2 and why in line


def test_depth_of_a_hundred_and_sixty_digits_are_read() -> None:
    assert checker.parse_strict_json("[" * 100 + "]" * 100, "x") is not None
    assert checker.parse_strict_json("-" + "9" * 60, "x") == -(10**60 - 1)


@pytest.mark.parametrize("text", ["0.5", "1e9", "1_0", " 1", "1/0", "½", "-", "1/-2", "1/2/3", "9" * 61, "1/" + "9" * 61])
def test_a_number_as_text_is_p_over_q(text: str) -> None:
    with pytest.raises(checker.Rejected):
        checker.value_of_form(text, Fraction, "x")


@pytest.mark.parametrize("value", [True, None, 1.5, [], "a"])
def test_a_number_is_no_other_value(value: object) -> None:
    for form in (Fraction, 0):
        with pytest.raises(checker.Rejected):
            checker.value_of_form(value, form, "x")


def test_files_and_statuses(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fabric, made = design(FLOWS, folder)
    files = {"fabric.json": fabric, "good.json": made.texts["bisection.json"], "bad.json": made.texts["bisection.json"]}
    files["bad.json"] = files["bad.json"].replace('"units": 8', '"units": 9')
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xff"}')
    calls = [("good.json", 0), ("bad.json", 1), ("latin.json", 2), ("absent.json", 2), (".", 2)]
    for name, status in calls:
        call = [sys.executable, "-I", checker.__file__, str(tmp_path / name), str(tmp_path / "fabric.json")]
        done = subprocess.run(call, capture_output=True, text=True)
        assert done.returncode == status and len((done.stdout + done.stderr).splitlines()) == 1, done
        assert bool(done.stdout) == (status == 0)
    assert subprocess.run([sys.executable, str(Path(checker.__file__))], capture_output=True).returncode == 2
    monkeypatch.setattr(checker, "MAX_FABRIC_BYTES", 10)
    assert checker.check_files_of_arguments([str(tmp_path / "good.json"), str(tmp_path / "fabric.json")]) == 2


def test_work_is_bounded(folder: Path) -> None:
    fabric, made = design(FLOWS, folder)
    for name, text in made.texts.items():
        with pytest.raises(checker.TooMuchWork):
            checker.verify(json.loads(text), json.loads(fabric), steps=20)
        checker.verify(json.loads(text), json.loads(fabric), steps=100_000), name


# ---------------------------------------------------------------- forged certificates


ALL_TO_ALL = {
    "check": "throughput", "pattern": "all_to_all", "units": 8, "lower_bps": "400000000000/7", "upper_bps": "400000000000/7",
    "upper": {"lengths": []},
}  # fmt: skip


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


def test_names_that_are_one_text_together(folder: Path) -> None:
    """The links a-bc and ab-c."""
    fabric, made = design(NAMES, folder)
    assert judged({"check": "reachability", "units": 2, "holds": True}, fabric)[0] == 1
    assert judged(body(made, "reachability.json"), fabric)[0] == 0


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


EXCHANGE = {"tray0": "tray1", "tray1": "tray0"}
WHOLE = EXCHANGE | {f"tray{a}-gpu{g}": f"tray{1 - a}-gpu{g}" for a in (0, 1) for g in (0, 1)}


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


MESH = """fabric f {
  chip c[3, 3]: C4
  connect c[*] mesh
  report survives any 1 of c with bisection >= 10% of intact
  report survives any 2 of c
}
model chip C4 { port p[4]: 400Gbps }"""


def test_honest_certificates_of_trays_and_of_a_mesh_verify(folder: Path) -> None:
    """Hosts whose chips are wired, with exchanges of whole hosts; chips of a mesh, of which some lose all their links."""
    for text in (TRAYS.replace("PERCENT", "60%"), MESH):
        fabric, made = design(text, folder)
        assert not made.rejected and "survives-1.json" in made.texts
        assert text is MESH or json.loads(made.texts["survives-1.json"])["symmetries"]
        for certificate in made.texts.values():
            assert checker.check(certificate, fabric)[0] == 0


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


def test_a_call_without_both_files_says_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    for call in ([], ["a.json"], ["a.json", "--expect", "reachability"]):
        assert checker.check_files_of_arguments(call) == 2
        assert "usage: checker.py CERTIFICATE... fabric.json" in capsys.readouterr().err


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


def test_the_head_is_of_this_fabric(folder: Path) -> None:
    fabric, made = design(FLOWS, folder)
    text = made.texts["bisection.json"]
    assert checker.check(text, fabric)[0] == 0
    head = json.loads(text)
    for change in ({"schema": 1}, {"schema": "2"}, {"fabric": "g"}, {"design": "0" * 64}, {"check": "verify"}, {"check": []}):
        assert checker.check(json.dumps(head | change), fabric)[0] == 1
    assert checker.check(text, fabric + " ")[0] == 1


FABRIC_FAULTS = [
    lambda d: d["devices"]["rows"].append(d["devices"]["rows"][0]),
    lambda d: d["devices"]["rows"][0].pop(),
    lambda d: d["devices"]["rows"][0].__setitem__(1, "node[1]"),
    lambda d: d["devices"]["rows"][0].__setitem__(2, "router"),
    lambda d: d["devices"]["rows"][0].__setitem__(8, "node0"),
    lambda d: d["devices"]["rows"][0].__setitem__(8, "absent"),
    lambda d: d["devices"]["rows"][0].__setitem__(8, "node1"),
    lambda d: d["devices"]["rows"][0].__setitem__(slice(1, 9), ["", *d["devices"]["rows"][0][2:8], d["devices"]["rows"][0][0]]),
    lambda d: d["devices"]["columns"].append("inside"),
    lambda d: d["links"]["rows"].append(d["links"]["rows"][0]),
    lambda d: d["links"]["rows"][0].__setitem__(0, "absent"),
    lambda d: d["links"]["rows"][0].__setitem__(6, 0),
    lambda d: d["links"]["rows"][0].__setitem__(6, -1),
    lambda d: d["links"]["rows"][0].__setitem__(6, True),
    lambda d: d["links"]["rows"][0].__setitem__(15, "absent"),
    lambda d: d.pop("links"),
    lambda d: d.update(schema=2),
]


@pytest.mark.parametrize("fault", range(len(FABRIC_FAULTS)))
def test_a_fabric_that_contradicts_itself_is_rejected(fault: int, folder: Path) -> None:
    fabric, made = design(FLOWS, folder)
    data = json.loads(fabric)
    FABRIC_FAULTS[fault](data)
    text = json.dumps(data)
    assert judged(body(made, "reachability.json"), text)[0] == 1


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


# ---------------------------------------------------------------- mutations


ODD = [0, 1, -1, 2, 10**30, True, None, "", "1/2", "-1", "node0", "leaf0", "tray[0]", [], {}, [[]], ["leaf0"], {"leaf0": {}}]


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


# ---------------------------------------------------------------- bounds without a form


BETWEEN_GROUPS = """fabric f {
  group g[3] { host node: N; switch r: SW; switch b: SW; connect node.nic to r }
  switch core: SW
  connect g[i].b to core { rate 400Gbps }
  connect g[i].r to g[i].b where i != 2 { rate 400Gbps }
  connect g[1].r to g[2].r { rate 400Gbps }
  connect g[2].r to g[0].r { rate 400Gbps }
  require survives any 1 of g[*].r with bisection >= 400Gbps of intact
}"""


def test_a_bound_by_routes_between_groups_is_written_as_another(folder: Path) -> None:
    made = design(BETWEEN_GROUPS, folder)[1]
    assert "survives-1.json" in made.texts and not made.rejected and not made.left_out


def test_a_bound_that_has_no_form_is_a_note(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A true result for which the other bounds do not suffice is not an error."""
    real = write_figures.bisection_bounds

    def shown(view: View, **how: bool) -> Bisection:
        found = real(view, **how)
        return replace(found, bound=replace(found.bound, lower=0, proof_lower=Shares(())))

    monkeypatch.setattr(write_figures, "bisection_bounds", shown)
    made = design(BETWEEN_GROUPS + "\n", folder)[1]
    assert not made.rejected and set(made.left_out) == {"survives-1.json"}


def test_a_large_fabric_has_a_note_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "LINKS", 8)
    made = design(FLOWS + "\n", folder)[1]
    assert not made.texts and not made.rejected and "the limit is 8" in made.left_out["*.json"]


def test_a_certificate_that_does_not_verify_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding names it, and the exit status is 1; what takes too much work is a note."""

    def reject(*_: object) -> None:
        raise checker.Rejected("as a test")

    monkeypatch.setitem(checker.CHECKS, "bisection", reject)
    (tmp_path / "f.fab").write_text(FLOWS + MODELS)
    done = tdsl("check", str(tmp_path / "f.fab"), "--certificates", str(tmp_path / "out"))
    assert done.exit_code == 1 and "E0906" in done.output and "f/bisection.json" in done.output
    written = {p.name for p in (tmp_path / "out" / "f").iterdir()}
    assert "bisection.json" not in written and "reachability.json" in written

    def refuse(*_: object) -> None:
        raise checker.TooMuchWork("as a test")

    monkeypatch.setitem(checker.CHECKS, "bisection", refuse)
    done = tdsl("check", str(tmp_path / "f.fab"), "--certificates", str(tmp_path / "out"))
    assert done.exit_code == 0 and "E0906" in done.output
