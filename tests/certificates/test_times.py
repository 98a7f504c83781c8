"""Certificates of times: what they say, what is refused, and what an accepted one means after any change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.certificates.made import design
from tests.soundness.judges import Unjudged, World
from tests.soundness.mutate import is_true, mutations
from tests.tables import sections

TABLE = sections(__file__)
NAMES = {"transfer": "transfer-1.json", "exchange": "all_to_all_time-1.json"}
GATHERED = ("allreduce-1.json", "all_gather_time-2.json", "reduce_scatter_time-3.json")
COLLECTIVES = [(name, file) for name in ("one switch", "two sites", "circle", "torus") for file in GATHERED]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


def written(name: str, folder: Path, file: str = "") -> tuple[str, str]:
    """The text of the certificate of a design and its fabric.json."""
    fabric, made = design(TABLE[name] + TABLE["models"], folder)
    file = file or NAMES[name]
    assert not made.rejected and file in made.texts, (made.rejected, made.left_out)
    return made.texts[file], fabric


def test_what_is_stated_is_all_of_it(folder: Path) -> None:
    asked = [*NAMES.items(), *COLLECTIVES]
    said = [checker.check(*written(name, folder, file)) for name, file in asked]
    assert said == [(0, f"verified: {words}") for words in TABLE["statements"].splitlines()]


@pytest.mark.parametrize("line", TABLE["expected"].splitlines())
def test_a_gate_names_size_sets_and_what_is_given(line: str, folder: Path) -> None:
    status, text = line.split(None, 1)
    name = "exchange" if "59849" in text else "transfer"
    certificate, fabric = written(name, folder)
    assert checker.judge([certificate], fabric, [text])[1][0] == int(status)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("transfer", {"at_least": "14/1000"}, "the proofs show"),
    ("transfer", {"at_most": "13/1000"}, "the proofs show"),
    ("transfer", {"bits": 16 * 10**9}, "the proofs show"),
    ("transfer", {"from": ["a0"]}, "the proofs show"),
    ("transfer", {"given": {"links": []}}, "delays are of other links"),
    ("transfer", {"given": {"devices": {"x": 1}}}, "a delay is of an unknown device"),
    ("transfer", {"upper": {"lengths": [["s0", "s1", 1]]}}, "the proofs show"),
    ("transfer", {"lower": {"routes": []}}, "one flow"),
    ("exchange", {"units": 11}, "the number of units is another"),
    ("exchange", {"at_least": "27/1000"}, "the proofs show"),
    ("exchange", {"at_most": "26/1000"}, "the proofs show"),
    ("exchange", {"given": {"ranks": 8}}, "a unit has several ranks"),
    ("exchange", {"apart": ["n0", "leaf0"]}, "these are not two units"),
    ("exchange", {"upper": {"lengths": []}}, "the proofs show"),
]


@pytest.mark.parametrize(("name", "change", "why"), REFUSED)
def test_a_forged_one_is_refused(name: str, change: dict[str, Any], why: str, folder: Path) -> None:
    certificate, fabric = written(name, folder)
    forged = json.loads(certificate)
    for key, value in change.items():
        forged[key] = forged[key] | value if isinstance(value, dict) else value
    with pytest.raises(checker.Rejected, match=why):
        checker.verify(forged, json.loads(fabric))


def test_a_flow_in_a_circle_and_a_shorter_delay_are_refused(folder: Path) -> None:
    """What goes in a circle has no longest path; a longest cable that is shorter than the shortest is none."""
    certificate, fabric = written("transfer", folder)
    forged = json.loads(certificate)
    flows = forged["lower"]["routes"][0]["flows"]["all from"]
    flows += [["s0", "t", 1], ["t", "s0", 1]]
    with pytest.raises(checker.Rejected, match="a flow goes in a circle"):
        checker.verify(forged, json.loads(fabric))
    forged = json.loads(certificate)
    forged["given"]["links"][0][2] += 1
    with pytest.raises(checker.Rejected, match="at least more than at most"):
        checker.verify(forged, json.loads(fabric))


@pytest.mark.parametrize("line", TABLE["left out"].splitlines())
def test_what_has_no_certificate_is_named_with_the_reason(line: str, folder: Path) -> None:
    _, old, new, why = (x.strip() for x in line.split("  ") if x.strip())
    name = "transfer" if "of a" in old or "switch t" in old else "exchange"
    text = TABLE[name].replace(old, new)
    models = TABLE["models"].replace("port nic:", "port nic[2]:") if "nic[k]" in new else TABLE["models"]
    _, made = design(text + models, folder)
    assert made.left_out[NAMES[name]] == why


def first_send(stated: dict[str, Any]) -> dict[str, Any]:
    send: dict[str, Any] = stated["stages"][0]["steps"][0][0]
    return send


def way(stated: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = stated["stages"][0]["channels"][0]["ways"][0]
    return found


FORGERIES: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("a send less", lambda x: x["stages"][0]["steps"][0].pop(), "does not end up with all"),
    ("a stage less", lambda x: x["stages"].pop(), "does not end up with all"),
    ("a send twice", lambda x: x["stages"][0]["steps"].append([first_send(x)]), "counts twice|the proofs show"),
    ("a part that is none", lambda x: first_send(x).update(parts=[[0, 10**6]]), "no such part"),
    ("no parts", lambda x: first_send(x).update(parts=[]), "does not have"),
    ("twice the rate", lambda x: way(x).update(rate_bps="900000000000"), "more than a link has"),
    ("half the rate", lambda x: way(x).update(rate_bps="1000000000"), "the proofs show"),
    ("no rate", lambda x: way(x).update(rate_bps="0"), "has no rate"),
    ("a way without links", lambda x: way(x).update(devices=["n0", "n1"]), "a way has no link|between two units"),
    ("a way through a host", lambda x: way(x).update(devices=["n0", "s", "n1", "s", "n2"]), "does not forward"),
    ("a way back", lambda x: way(x).update(devices=["n0", "s", "n0"]), "not between two units"),
    ("another channel", lambda x: first_send(x).update(channel=99), "malformed"),
    ("fewer parts", lambda x: x.update(parts=2), "no equal shares"),
    ("too many parts", lambda x: x.update(parts=10**9), "too many parts"),
    ("chunks that share nothing", lambda x: x.update(chunks=4000), "more than a link has"),
    ("a cut with nothing inside", lambda x: x.update(cut=["s"]), "a cut has no unit on a side"),
    ("a block left out", lambda x: x["blocks"].pop(), "no division"),
    ("a unit in two blocks", lambda x: x["blocks"][0].append(x["blocks"][1][0]), "no division"),
    ("a block of a switch", lambda x: x["blocks"].append(["s"]), "a block has no unit"),
    ("ranks inside", lambda x: x["given"].update(ranks=2), "several ranks"),
    ("a quicker way", lambda x: x.update(at_most="2999/1000000"), "the proofs show"),
    ("a later floor", lambda x: x.update(at_least="31/1000"), "the proofs show"),
]


@pytest.mark.parametrize(("what", "change", "why"), FORGERIES, ids=[x[0] for x in FORGERIES])
def test_a_forged_schedule_is_refused(what: str, change: Callable[[dict[str, Any]], Any], why: str, folder: Path) -> None:
    certificate, fabric = written("one switch", folder, GATHERED[0])
    forged = json.loads(certificate)
    change(forged)
    with pytest.raises(checker.Rejected, match=why):
        checker.verify(forged, json.loads(fabric))


@pytest.mark.parametrize(("name", "file"), [*NAMES.items(), *COLLECTIVES[:4]])
def test_whatever_is_changed_what_is_accepted_is_true(name: str, file: str, folder: Path) -> None:
    certificate, fabric = written(name, folder, file)
    rng, accepted = Random(20261127), 0
    for text, wiring, said in mutations(rng, json.loads(certificate), fabric, 50):
        status, _ = checker.check(text, wiring)
        if status == 0:
            accepted += 1
            try:
                assert is_true(json.loads(text), World(json.loads(wiring))), said
            except Unjudged:
                continue
    assert accepted
