"""Wrong calls: each names the cause and the word, proposes what to write, and prints no traceback and no second error."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from tests.cli.run import tdsl, write

CALLS = tomllib.loads((Path(__file__).parent / "calls.toml").read_text(encoding="utf-8"))["call"]


@pytest.mark.parametrize("wrong", CALLS, ids=lambda c: c["args"])
def test_a_wrong_call(wrong: dict[str, str], here: Path) -> None:
    write(here)
    write(here, "model switch S {\n  port p[1..8]: 400Gbps\n}\n", "models.fab")
    (here / "design.yaml").write_text("fabric: f\n")
    (here / "nothing.txt").write_text("# none\n")
    (here / "empty").mkdir()
    done = tdsl(*shlex.split(wrong["args"]))
    assert (done.exit_code, done.stdout) == (2, "")
    said = " ".join(done.stderr.split())
    assert wrong["says"] in said and wrong.get("fix", "") in said, done.stderr
    assert said.count("Error: ") == 1 and "Traceback" not in said and "internal error" not in said
    assert said.count("did you mean") + said.count("for example") <= 1, "one advice"
    if "then" in wrong:
        again = tdsl(*shlex.split(wrong["then"]))
        assert again.exit_code == 0, again.output
