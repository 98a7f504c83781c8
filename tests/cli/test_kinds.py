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
from tests.harness import sampled
from tests.soundness.generate import KINDS, Draft, draft, questions

REPORTS = ("reachability", "diameter", "node_redundancy", "edge_redundancy", "mean_hops", "bisection")
ORDER = sorted(KINDS)
MORE = ("compare old.fab new.fab", "plan old.fab new.fab --no-lock", "diff old.fab new.fab", "show old.fab graph")


def grown(made: Draft) -> str:
    """A design near to this one that is wired without a fault: with one line fewer, or one number that is one larger."""
    lines = made.text().splitlines(keepends=True)
    number = re.compile(r"(?<=[\[x ])\d+(?=[\]; ])")
    tries = [(i, m) for i, line in enumerate(lines) if line[0] == " " for m in (None, *number.finditer(line))]
    for i, at in Random(made.seed).sample(tries, len(tries)):
        now = "" if at is None else f"{lines[i][: at.start()]}{int(at[0]) + 1}{lines[i][at.end() :]}"
        text = "".join([*lines[:i], now, *lines[i + 1 :]])
        Path("new.fab").write_text(text, encoding="utf-8")
        if tdsl("show", "new.fab", "summary").exit_code == 0:
            return text
    return made.text()


def answer(call: str, *statuses: int) -> str:
    done = tdsl(*call.split())
    assert done.exception is None or isinstance(done.exception, SystemExit), (call, done.exception)
    assert done.exit_code in (statuses or (0, 1)) and "E090" not in done.output, (call, done.output)
    return done.stdout


def links(file: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer(f"show {file} links --output-format csv"))))


@pytest.mark.parametrize("kind", sampled(ORDER, 5))
def test_every_command_answers(kind: str, here: Path) -> None:
    """Each kind has one of the other calls, and either the expansion or the way there and back: every call is made on at least
    three kinds in the daily run."""
    made = draft(8000 + len(kind), kind)
    every = [c for c in dict.fromkeys(questions(made)) if c.metric in REPORTS and c.given is None]
    Path("old.fab").write_text(made.text(every, report=True), encoding="utf-8")
    Path("new.fab").write_text(grown(made), encoding="utf-8")
    old = links("old.fab")
    assert len(old) > 1 and len(answer("show old.fab devices --output-format csv").splitlines()) > 1
    assert len(json.loads(answer("check old.fab --output-format json"))["designs"]) == 1
    answer(MORE[ORDER.index(kind) % len(MORE)])
    if kind in ("extremes", "unrated"):  # they have errors
        return
    if ORDER.index(kind) % 4 < 2:
        Path("expanded.fab").write_text(answer("expand old.fab", 0), encoding="utf-8")
        assert links("expanded.fab") == old
        (same,) = json.loads(answer("diff old.fab expanded.fab --output-format json --no-checks"))["fabrics"]
        assert not (same["added"] or same["removed"] or same["moved"])
        return
    pairs = ("old.fab new.fab", "new.fab old.fab")
    there, back = (json.loads(answer(f"diff {pair} --output-format json --no-checks"))["fabrics"] for pair in pairs)
    for one, other in zip(there, back, strict=True):
        assert len(one["added"]) - len(one["removed"]) == len(other["removed"]) - len(other["added"])
    answer("lock new.fab", 0)
    answer("check new.fab --locked --output-format concise --select port_budget")
