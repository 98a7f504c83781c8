"""Each command answers on a random design of every kind and on one that grew out of it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from random import Random

import pytest

from tests.cli.run import tdsl
from tests.soundness.generate import KINDS, Draft, draft, questions

REPORTS = ("reachability", "diameter", "node_redundancy", "edge_redundancy", "mean_hops", "bisection")


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


def answer(call: str, *statuses: int) -> str:
    done = tdsl(*call.split())
    assert done.exception is None or isinstance(done.exception, SystemExit), (call, done.exception)
    assert done.exit_code in statuses and "E090" not in done.output, (call, done.output)
    return done.stdout


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_command_answers(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = draft(8000 + len(kind), kind)
    every = [c for c in dict.fromkeys(questions(made)) if c.metric in REPORTS and c.given is None]
    Path("old.fab").write_text(made.text(every, report=True), encoding="utf-8")
    Path("new.fab").write_text(grown(made), encoding="utf-8")
    links = sum(1 for _ in csv.reader(io.StringIO(answer("show old.fab links --output-format csv", 0, 1)))) - 1
    (design,) = json.loads(answer("check old.fab --output-format json", 0, 1))["designs"]
    assert links > 0 and len(list(csv.reader(io.StringIO(answer("show old.fab devices --output-format csv", 0, 1))))) > 1
    assert design
    for call in ("compare old.fab new.fab", "plan old.fab new.fab --no-lock", "diff old.fab new.fab", "show old.fab graph"):
        answer(call, 0, 1)
    if kind in ("extremes", "unrated"):  # they have errors
        return
    Path("expanded.fab").write_text(answer("expand old.fab", 0), encoding="utf-8")
    assert answer("show expanded.fab links --output-format csv", 0, 1) == answer("show old.fab links --output-format csv", 0, 1)
    (same,) = json.loads(answer("diff old.fab expanded.fab --output-format json --no-checks", 0, 1))["fabrics"]
    assert not (same["added"] or same["removed"] or same["moved"])
    there, back = (
        json.loads(answer(f"diff {pair} --output-format json --no-checks", 0, 1))["fabrics"]
        for pair in ("old.fab new.fab", "new.fab old.fab")
    )
    for one, other in zip(there, back, strict=True):
        assert len(one["added"]) - len(one["removed"]) == len(other["removed"]) - len(other["added"])
    answer("lock new.fab", 0)
    answer("check new.fab --locked --output-format concise", 0, 1)
