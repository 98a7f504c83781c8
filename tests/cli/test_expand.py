"""``tdsl expand``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write

INTENT = "fabric f {\n  param n: int = 8\n  hosts n x DGX_H100\n  rail_only { switch QM9700 }\n}\n"


def test_expand_prints_a_design_and_nothing_else(tmp_path: Path) -> None:
    done = tdsl("expand", write(tmp_path, INTENT), "--set", "n=4")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "fabric f {", "  param n: int = 4", "  host host[4]: DGX_H100", "  switch rail[8]: QM9700",
        "  connect host[h].nic[i] to rail[i]", "}",
    ]  # fmt: skip
    assert tdsl("check", write(tmp_path, done.stdout)).exit_code == 0


def test_a_design_without_intent_is_laid_out(tmp_path: Path) -> None:
    assert tdsl("fmt", "-", stdin=SMALL).stdout == tdsl("expand", write(tmp_path)).stdout


def test_errors_and_wrong_calls(tmp_path: Path) -> None:
    done = tdsl("expand", write(tmp_path, INTENT.replace("QM9700", "QM970")))
    assert (done.exit_code, done.stdout) == (1, "") and "E0102" in done.stderr
    assert tdsl("expand", tmp_path / "absent.fab").exit_code == 2
    assert tdsl("expand", write(tmp_path, INTENT), "--set", "m=4").exit_code == 2


@pytest.mark.parametrize("value", ['a"b', "a{i}b", "a{b", '"q"', "a\\b", 'x" where 1 == 1 #', "'", "caf\u00e9"])
def test_a_text_that_is_given_is_no_part_of_the_language(value: str, tmp_path: Path) -> None:
    """The expansion of `--set tag='x" where …'` had a condition, and that of a brace was another name or none."""
    design = write(tmp_path, SMALL.replace("  require", '  param tag: string = "x"\n  naming leaf[i] "{tag}{i}"\n  require'))
    done = tdsl("expand", design, "--set", f"tag={value}")
    assert done.exit_code == 0, done.output
    made = write(tmp_path, done.stdout, "made.fab")
    shown = [tdsl("show", *args, "devices", "--format", "json").stdout for args in ((design, "--set", f"tag={value}"), (made,))]
    assert value.strip('"') + "7" in {d["device"] for d in json.loads(shown[1])["designs"][0]["devices"]}
    assert [x["devices"] for x in json.loads(shown[0])["designs"]] == [x["devices"] for x in json.loads(shown[1])["designs"]]


@pytest.mark.parametrize("value", ["a\x1b[2J", "a\u202eb", "a\tb"])
def test_a_text_that_is_given_has_no_hidden_characters(value: str, tmp_path: Path) -> None:
    design = write(tmp_path, SMALL.replace("  require", '  param tag: string = "x"\n  naming leaf[i] "{tag}{i}"\n  require'))
    done = tdsl("check", design, "--set", f"tag={value}")
    assert done.exit_code == 1 and "error[E0103]" in done.stdout and value not in done.stdout, done.stdout


TAGGED = """\
topology two(ends: ports, tag: string, number: int) {
  switch s[2]: QM9700
  connect ends[h, r] to s[r % 2]
  naming s[i] "{tag:_>5}-{number + i:02}-{tag}"
}
fabric f {
  hosts 4 x DGX_H100
  two { tag "x{34:c}{123:c}"; number 7 }
}
"""


def test_texts_of_a_topology_are_filled_in(tmp_path: Path) -> None:
    """What a topology is given has no name in the expansion."""
    done = tdsl("expand", write(tmp_path, TAGGED))
    made = write(tmp_path, done.stdout[done.stdout.index("fabric f") :], "made.fab")
    shown = json.loads(tdsl("show", made, "devices", "--format", "json").stdout)
    names = {d["device"] for d in shown["designs"][0]["devices"] if d["kind"] == "switch"}
    assert names == {'__x"{-07-x"{', '__x"{-08-x"{'}, done.stdout
