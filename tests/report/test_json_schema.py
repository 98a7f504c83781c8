"""What ``check --output-format json`` prints is held against its schema, for designs and calls of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.run import tdsl, write
from tests.tables import sections

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "tdsl" / "report" / "check.schema.json").read_text(encoding="utf-8"))
CALLS = (["dgx_superpod_h100", "tpu_v2", "superpod_cluster"], ["--fail", "spine[0]"], ["--all-params"], ["--second-opinion"])
PHASES = sections(__file__)["phases"]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for name, part in [("", SCHEMA), *SCHEMA["$defs"].items()]:
        undescribed = [
            k for k, v in part["properties"].items() if "description" not in v and not {"$ref", "enum", "items"} & set(v)
        ]
        assert not undescribed, (name, undescribed)


def asked(*call: str | Path) -> Any:
    """What a call prints, which follows the schema."""
    document = json.loads(tdsl("check", *call, "--output-format", "json").stdout)
    Draft202012Validator(SCHEMA).validate(document)
    return document


@pytest.mark.parametrize("call", CALLS, ids=lambda c: "_".join(c[-2:]))
def test_a_call(call: list[str], tmp_path: Path) -> None:
    document = asked(write(tmp_path), *call)
    document["designs"][0]["extra"] = 1
    assert not Draft202012Validator(SCHEMA).is_valid(document)


def test_phases(tmp_path: Path) -> None:
    path = tmp_path / "f.fab"
    path.write_text(PHASES)
    assert [(d["phase"], d.get("needed")) for d in asked(path)["designs"]] == [(1, None), (2, "2027-03-01")]


def test_every_wrong_design() -> None:
    """Some of the designs of the fixtures, each of which gives findings."""
    every = sorted((ROOT / "tests" / "errors" / "design").glob("*.fab"))
    files = [p for i, p in enumerate(every) if i % 3 == 0 or "allow(" in p.read_text(encoding="utf-8")]
    designs = asked(*files)["designs"]
    keys = {k for d in designs for k in d} | {k for d in designs for f in d["findings"] for k in f}
    assert len(designs) >= len(files) - 5 and {"fix", "labels", "allowed"} <= keys


def test_a_model_that_a_requirement_is_above() -> None:
    """`modelled`, and not satisfied: the status of a model is neither proved nor refuted."""
    results = asked(ROOT / "tests" / "checks" / "mfu" / "bad_too_little.fab")["designs"][0]["results"]
    (found,) = [r for r in results if r["check"] == "mfu"]
    assert (found["status"], found["satisfied"], found["exact"]) == ("modelled", False, False)
    assert found["lower"] < found["upper"] < 0.6 and found["witness"]["job"] == "small"
