"""``tdsl expand``."""

from __future__ import annotations

from pathlib import Path

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
