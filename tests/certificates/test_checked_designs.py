"""The checker alone: strict input, exit statuses, and forged certificates of small designs."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from hashlib import sha256
from pathlib import Path

import pytest

from tdsl.certificates import checker
from tdsl.certificates.write import verified_certificates
from tests.certificates.made import CLOS, MODELS, design, judged
from tests.certificates.test_forged import NAMES
from tests.harness import compile_text, sampled

TRAYS = """fabric f {
  host tray[3]: TR
  switch sw[2]: X
  connect tray[t].gpu[g].nv[k] to sw[k]
  report bisection
  report survives any 1 of tray with bisection >= 60% of intact
}"""
EXCHANGE = {"tray0": "tray1", "tray1": "tray0"}
WHOLE = EXCHANGE | {f"tray{a}-gpu{g}": f"tray{1 - a}-gpu{g}" for a in (0, 1) for g in (0, 1)}
ODD = [0, 1, -1, 2, 10**30, True, None, "", "1/2", "-1", "node0", "leaf0", "tray[0]", [], {}, [[]], ["leaf0"], {"leaf0": {}}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


def hub(name: str) -> dict[str, object]:
    """The proof by what is linked to a hub."""
    return {"hubs": [name], "shares": {}}


@pytest.fixture(scope="module")
def trays(folder: Path) -> tuple[str, dict[str, object]]:
    """An honest certificate of trays, written by hand: two of three are left, and no exchange is needed."""
    fabric, _ = design(TRAYS, folder)
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
        ({"cases": slice(1)}, 1),
        ({"cases": slice(2)}, 1),
        ({"cases": slice(2), "symmetries": [WHOLE]}, 1),
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
        ({"left": {"units": 6}}, 1),  # a host fails with its chips
        ({"left": {"lower_bps": 9 * 10**11}}, 1),
    ],
)
def test_survives_is_checked_for_all_that_it_states(change: dict, status: int, trays: tuple[str, dict]) -> None:
    fabric, honest = trays
    forged = deepcopy(honest)
    for key, value in change.items():
        if key == "condition":
            forged["condition"] |= value
        elif key == "left":
            for case in forged["cases"]:
                case["left"] |= value
        else:
            forged[key] = forged["cases"][value] if isinstance(value, slice) else value
    assert judged(forged, fabric)[0] == status


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
        at[key] = deepcopy(other[there]) if (there in other if isinstance(other, dict) else there < len(other)) else 1
    else:
        at[key] = deepcopy(rng.choice(ODD))
    return value


@pytest.mark.parametrize("seed", sampled(range(4), 2))
def test_no_mutation_ends_in_a_traceback(seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    kinds = [design(CLOS, folder), design(TRAYS, folder), design(NAMES, folder)]
    statuses = set()
    for _ in range(150):
        fabric, made = rng.choice(kinds)
        text = rng.choice(list(made.texts.values()))
        if rng.random() < 0.2:  # of the bytes
            at = rng.randrange(len(text))
            put = rng.choice(["", "{", "]", '"', "\\", ",", "1", "e9", "\x00", "\ud800"])
            text = text[:at] + put + text[at + rng.randrange(3) :]
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
    text = "fabric f {\n  host node[4]: N\n  switch s: SW\n  connect node[n].nic to s\n  report bisection\n}\n"
    (made,) = compile_text(text + MODELS, tmp_path, models=False).designs
    assert made.fabric is not None
    names = [
        {*verified_certificates(made.fabric, made.claims, [r for r in made.results if r.check == check]).texts}
        for check in ("reachability", "bisection")
    ]
    assert "bisection.json" in names[1] - names[0]


def test_the_file_is_short_enough_to_be_read() -> None:
    """Of which times of transfers, exchanges and schedules, of sets, ranks and domains, are eight hundred lines."""
    assert len(Path(checker.__file__).read_text(encoding="utf-8").splitlines()) <= 2900
