"""``tdsl expand``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write
from tests.tables import sections

TEXTS = sections(__file__)
INTENT = TEXTS["intent"]
TAG = SMALL.replace("  require", '  param tag: string = "x"\n  naming leaf[i] "{tag}{i}"\n  require')


def test_expand_prints_a_design_and_nothing_else(tmp_path: Path) -> None:
    """One without intent is laid out."""
    done = tdsl("expand", write(tmp_path, INTENT), "--set", "n=4")
    assert (done.exit_code, done.stderr, done.stdout) == (0, "", TEXTS["expanded"])
    assert tdsl("check", write(tmp_path, done.stdout)).exit_code == 0
    assert tdsl("fmt", "-", stdin=SMALL).stdout == tdsl("expand", write(tmp_path)).stdout


def test_errors_and_wrong_calls(tmp_path: Path) -> None:
    done = tdsl("expand", write(tmp_path, INTENT.replace("QM9700", "QM970")))
    assert (done.exit_code, done.stdout) == (1, "") and "E0102" in done.stderr
    assert tdsl("expand", tmp_path / "absent.fab").exit_code == 2
    assert tdsl("expand", write(tmp_path, INTENT), "--set", "m=4").exit_code == 2


@pytest.mark.parametrize("value", ['a"b', "a{i}b", "a{b", '"q"', "a\\b", 'x" where 1 == 1 #', "'", "caf\u00e9"])
def test_a_text_that_is_given_is_no_part_of_the_language(value: str, tmp_path: Path) -> None:
    """The expansion of `--set tag='x" where …'` had a condition, and that of a brace was another name or none."""
    design = write(tmp_path, TAG)
    done = tdsl("expand", design, "--set", f"tag={value}")
    assert done.exit_code == 0, done.output
    made = write(tmp_path, done.stdout, "made.fab")
    given, expanded = (
        [x["devices"] for x in json.loads(tdsl("show", *args, "devices", "--format", "json").stdout)["designs"]]
        for args in ((design, "--set", f"tag={value}"), (made,))
    )
    assert value.strip('"') + "7" in {d["device"] for d in expanded[0]} and given == expanded


@pytest.mark.parametrize("value", ["a\x1b[2J", "a\u202eb", "a\tb"])
def test_a_text_that_is_given_has_no_hidden_characters(value: str, tmp_path: Path) -> None:
    done = tdsl("check", write(tmp_path, TAG), "--set", f"tag={value}")
    assert done.exit_code == 1 and "error[E0103]" in done.stdout and value not in done.stdout, done.stdout


def test_texts_of_a_topology_are_filled_in(tmp_path: Path) -> None:
    """What a topology is given has no name in the expansion."""
    done = tdsl("expand", write(tmp_path, TEXTS["tagged"]))
    made = write(tmp_path, done.stdout[done.stdout.index("fabric f") :], "made.fab")
    (shown,) = json.loads(tdsl("show", made, "devices", "--format", "json").stdout)["designs"]
    names = {d["device"] for d in shown["devices"] if d["kind"] == "switch"}
    assert names == {'__x"{-07-x"{', '__x"{-08-x"{'}, done.stdout
