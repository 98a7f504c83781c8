"""Wrong calls: each names the cause and the word, proposes what to write, and prints no traceback and no second error."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write

CALLS = tomllib.loads((Path(__file__).parent / "calls.toml").read_text(encoding="utf-8"))["call"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SMALL)
    (tmp_path / "models.fab").write_text("model switch S {\n  port p[1..8]: 400Gbps\n}\n")
    (tmp_path / "design.yaml").write_text("fabric: f\n")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_there_are_thirty() -> None:
    assert len({c["args"] for c in CALLS}) >= 30


@pytest.mark.parametrize("wrong", CALLS, ids=lambda c: c["args"])
def test_a_wrong_call(wrong: dict[str, str], folder: Path) -> None:
    done = tdsl(*shlex.split(wrong["args"]))
    assert (done.exit_code, done.stdout) == (2, "")
    said = " ".join(done.stderr.split())
    assert wrong["says"] in said, done.stderr
    assert wrong.get("fix", "") in said, done.stderr
    assert said.count("Error: ") == 1 and "Traceback" not in said and "internal error" not in said
    if "then" in wrong:
        again = tdsl(*shlex.split(wrong["then"]))
        assert again.exit_code == 0, again.output
