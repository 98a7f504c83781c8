"""What each command says of a random design of every kind and of one that grew out of it, as goldens: short texts whole, of long
ones the begin and a hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tdsl import __version__
from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.soundness.generate import KINDS, Draft, draft, questions

REPORTS = ("reachability", "diameter", "node_redundancy", "edge_redundancy", "mean_hops", "bisection")
WHOLE = 700
"""Characters of a text that stands whole."""


def grown(made: Draft) -> str:
    """A design near to this one that is wired without a fault: with one line fewer, or one number that is one larger."""
    lines = made.text().splitlines(keepends=True)
    tries = [
        (i, m) for i, line in enumerate(lines) if line[0] == " " for m in (None, *re.finditer(r"(?<=[\[x ])\d+(?=[\]; ])", line))
    ]
    for i, number in Random(made.seed).sample(tries, len(tries)):
        now = "" if number is None else f"{lines[i][: number.start()]}{int(number[0]) + 1}{lines[i][number.end() :]}"
        text = "".join([*lines[:i], now, *lines[i + 1 :]])
        Path("new.fab").write_text(text, encoding="utf-8")
        if tdsl("show", "new.fab", "summary").exit_code == 0:
            return text
    return made.text()


def shown(text: str) -> str:
    """A text, or how it begins and what tells it from others."""
    if len(text) <= WHOLE:
        return text
    return f"{text[: WHOLE // 2]}…\n[{len(text)} characters, {hashlib.sha256(text.encode()).hexdigest()[:12]}]\n"


def told(kind: str) -> Iterator[str]:
    made = draft(8000 + len(kind), kind)
    every = [c for c in dict.fromkeys(questions(made)) if c.metric in REPORTS and c.given is None]
    Path("old.fab").write_text(made.text(every, report=True), encoding="utf-8")
    Path("new.fab").write_text(grown(made), encoding="utf-8")
    for call in (
        "expand old.fab",
        "fmt --check old.fab",
        "check old.fab --output-format sarif",
        "check old.fab new.fab --output-format junit",
        "show old.fab summary",
        "show old.fab devices --output-format csv",
        "show old.fab ports",
        "show old.fab cables --output-format json",
        "show old.fab metrics",
        "show old.fab graph",
        "compare old.fab new.fab",
        "diff old.fab new.fab",
        "diff new.fab old.fab --output-format json",
        "diff old.fab new.fab --output-format markdown",
        "plan old.fab new.fab --no-lock",
        "plan new.fab old.fab --format csv",
        "lock new.fab",
    ):
        done = tdsl(*call.split())
        out = re.sub(r'time="[\d.]+"', 'time="…"', done.stdout).replace(__version__, "VERSION")
        yield f"## {call}: {done.exit_code}\n{shown(out)}{shown(done.stderr)}"
    for path in sorted(Path().glob("*.lock")):
        yield f"## {path}\n{shown(path.read_text(encoding='utf-8').replace(__version__, 'VERSION'))}"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind(kind: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    golden(f"kinds/{kind}.txt", "".join(told(kind)))
