"""Certificates of times: what they say, what is refused, and what an accepted one means after any change."""

from __future__ import annotations

import json
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


def written(name: str, folder: Path) -> tuple[str, str]:
    """The text of the certificate of a design and its fabric.json."""
    fabric, made = design(TABLE[name] + TABLE["models"], folder)
    assert not made.rejected and NAMES[name] in made.texts, (made.rejected, made.left_out)
    return made.texts[NAMES[name]], fabric


def test_what_is_stated_is_all_of_it(folder: Path) -> None:
    said = [checker.check(*written(name, folder)) for name in NAMES]
    wanted = [line.split(None, 1)[1] for line in TABLE["statements"].splitlines()]
    assert said == [(0, f"verified: {words}") for words in wanted]


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


@pytest.mark.parametrize("name", [*NAMES])
def test_whatever_is_changed_what_is_accepted_is_true(name: str, folder: Path) -> None:
    certificate, fabric = written(name, folder)
    rng, accepted = Random(20261127), 0
    for text, wiring, said in mutations(rng, json.loads(certificate), fabric, 80):
        status, _ = checker.check(text, wiring)
        if status == 0:
            accepted += 1
            try:
                assert is_true(json.loads(text), World(json.loads(wiring))), said
            except Unjudged:
                continue
    assert accepted
