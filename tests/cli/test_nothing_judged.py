"""Nothing judged is not a pass: each command whose purpose is judging, asked to judge nothing or a part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tdsl.cli import cli
from tdsl.report.formats import report_formats
from tests.cli.run import tdsl
from tests.tables import sections, table

TEXTS = sections(__file__)
FILES = {name.removeprefix("file "): text for name, text in TEXTS.items() if name.startswith("file ")}
POD = FILES["pod.fab"]
CALLS = {name.removeprefix("calls "): table(__file__, name) for name in TEXTS if name.startswith("calls ")}
"""What is called of each command, and the code or words that say the cause."""
JUDGE_NOTHING = frozenset({
    "completion", "config", "expand", "explain", "help", "init", "list", "lock", "lsp", "man", "mcp", "new", "render", "show",
    "version", "view",
})  # fmt: skip
"""Commands that print or write, and judge nothing that a pipeline waits for."""


@pytest.fixture
def folder(here: Path) -> Path:
    for name, text in FILES.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(text)
    return here


def test_every_command_that_judges_is_tested() -> None:
    assert set(cli.list_commands(None)) == CALLS.keys() | JUDGE_NOTHING  # type: ignore[arg-type]
    assert not CALLS.keys() & JUDGE_NOTHING


@pytest.mark.parametrize(("command", "calls"), CALLS.items(), ids=CALLS)
def test_nothing_to_judge(command: str, calls: Sequence[tuple[str, ...]], folder: Path) -> None:
    wrong = []
    for call, says in calls:
        done = tdsl(command, *call.split())
        text = " ".join(done.output.replace("|", " ").split())
        if done.exit_code not in (1, 2) or says not in text or "E0901" in text:
            wrong.append((call, done.exit_code, text[:400]))
    assert not wrong


@pytest.mark.parametrize("output_format", report_formats())
def test_a_part_that_was_judged_is_said_in_every_format(output_format: str, folder: Path) -> None:
    done = tdsl("check", "pod.fab", "--output-format", output_format)
    assert done.exit_code == 0
    said = {"junit": "3 of 4 judged"}.get(output_format, "3 of them are judged")
    assert said in " ".join(done.stdout.replace("|", " ").split())
    if output_format == "full":
        assert "1 note, 1 of 2 requirements judged in full in" in done.stdout.splitlines()[-1]
    elif output_format == "sarif":
        assert json.loads(done.stdout)["runs"][0]["properties"] == {"judged": 1, "of": 2}
    elif output_format == "json":
        results = {r["requirement"]: (r["judged"], r["of"]) for r in json.loads(done.stdout)["designs"][0]["results"]}
        assert (results["reachability"], results["ports of node[*] >= 1"]) == ((1, 1), (3, 4))


def test_at_least(folder: Path) -> None:
    """A share that is reached is none, and it is a percentage."""
    assert tdsl("check", "pod.fab", "--at-least", "75%").exit_code == 0
    assert tdsl("check", "pod.fab", "--at-least", "75.1").exit_code == 1
    assert tdsl("check", "pod.fab", "--at-least", "101%").exit_code == tdsl("check", "pod.fab", "--at-least", "x").exit_code == 2
    spines = "oversubscription of leaf[*] <= 4:1\n  switch spine: SW\n  connect leaf[*] to spine each"
    (folder / "pod.fab").write_text(POD.replace("ports of node[*] >= 1", spines))
    done = tdsl("check", "pod.fab", "--scenarios", "leaf.txt")
    said = "1 of 1 scenarios keep every requirement of pod; in 1 of them not all that is asked was judged\n"
    assert (done.exit_code, done.stdout) == (0, said)
    assert tdsl("check", "pod.fab", "--scenarios", "leaf.txt", "--at-least", "75%").exit_code == 1
    assert tdsl("audit", "pod.fab", "--p2p", "half.csv", "--only", "leaf[0]", "--at-least", "100%").output.count("E0908") == 0


def test_nothing_judged_cannot_be_allowed(folder: Path) -> None:
    """Neither by a comment at the requirement nor by the severity of its check."""
    (folder / "pod.fab").write_text(POD.replace("reachability\n", "reachability # tdsl: allow(reachability) all is off\n"))
    (folder / "tdsl.toml").write_text('[severity]\nreachability = "warning"\n')
    done = tdsl("check", "pod.fab", "--select", "reachability", "--fail", "node", "--fail", "leaf")
    assert done.exit_code == 1 and "E0907" in done.stdout


def test_wiring_that_is_refused_cannot_be_allowed(folder: Path) -> None:
    """What is refused is not built, and nothing is judged of the rest."""
    uneven = "  switch spine[3]: SW\n  connect leaf[*] to spine[*] spread x 4 # tdsl: allow(uneven_spread) for now\n"
    (folder / "pod.fab").write_text(POD.replace("  omit", f"{uneven}  omit"))
    done = tdsl("check", "pod.fab", "--output-format", "concise")
    assert done.exit_code == 1 and "E0907" in done.stdout and "by findings that are allowed" in done.stdout
    (folder / "pod.fab").write_text((folder / "pod.fab").read_text().replace(" # tdsl: allow(uneven_spread) for now", ""))
    (folder / "tdsl.toml").write_text('[severity]\nuneven_spread = "warning"\n')
    done = tdsl("check", "pod.fab", "--output-format", "concise")
    assert done.exit_code == 1 and "E0907" in done.stdout and "warning[E0454]" in done.stdout


@pytest.mark.parametrize("asked", ["reachability", "reachability of all node[*], lone", "reachability of all node[0..2], lone"])
def test_a_waiver_of_a_cause_is_none_of_a_requirement(asked: str, folder: Path) -> None:
    lone = "  host lone: NODE  # tdsl: allow(isolated) cabled next year\n"
    (folder / "pod.fab").write_text(POD.replace("  require reachability", f"{lone}  require {asked}"))
    done = tdsl("check", "pod.fab", "--output-format", "concise")
    assert done.exit_code == 1 and f"`{asked}` does not hold" in done.stdout


def test_one_fabric_with_files_is_enough_for_a_target(folder: Path) -> None:
    done = tdsl("build", "superpod_cluster", "--target", "opensm", "--out", "built")
    assert done.exit_code == 0 and list((folder / "built").rglob("opensm.conf"))
    assert "target `opensm` writes nothing for" in " ".join(done.stderr.split())
