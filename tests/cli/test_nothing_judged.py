"""Nothing judged is not a pass: each command whose purpose is judging, asked to judge nothing or a part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tdsl.cli import cli
from tests.cli.run import tdsl

POD = """\
fabric pod {
  transport roce
  host node[4]: NODE
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[r]
  omit node[3]
  require reachability
  require ports of node[*] >= 1
}
model host NODE { port nic[2]: 400Gbps { type GE400 } }
model switch SW { port p[1..16]: 400Gbps { type GE400 } }
"""
BARE = POD.replace("  require reachability\n  require ports of node[*] >= 1\n", "  report bisection\n")
BROKEN = POD + "fabric other { host node[2]: NODE; switch leaf: SW; connect node to leaf[7] }\n"
FILES = {
    "pod.fab": POD,
    "bare.fab": BARE,
    "broken.fab": BROKEN,
    "empty.fab": "fabric f { }\n",
    "skipped.fab": POD.replace("reachability", "cable_length <= 3m").replace(
        "ports of node[*] >= 1", "loss_budget of node[3] <= 2"
    ),
    "all.txt": "node, leaf\n",
    "one.txt": "node[0]\n",
    "leaf.txt": "leaf[1]\n",
    "heads.csv": "a_device,a_port,b_device,b_port\n",
    "comments.csv": "# a_device,a_port,b_device,b_port\n# x,1,y,1\n",
    "strange.csv": "a_device,a_port,b_device,b_port\nx,1,y,1\n",
    "half.csv": "a_device,a_port,b_device,b_port\nnode0,nic[0],leaf0,p[1]\n",
    "system.xml": '<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0"><gpu dev="0"/></pci></cpu></system>',
    "graph.xml": '<graphs version="1"><graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="24" speedinter="24" '
    'latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="1"><channel><net dev="0"/><gpu dev="0"/><net dev="0"/>'
    "</channel></graph></graphs>",
    "nccl.conf": "NCCL_DEBUG=INFO\n",
    "out/manifest.json": '{"schema": 1, "tdsl": "0", "design": {"name": "pod", "sha256": ""}, "files": {}}',
    "nothing/readme.txt": "no design\n",
}
CALLS: dict[str, list[tuple[str, str]]] = {
    # command: what is called, and the code or words that say the cause
    "check": [
        ("pod.fab --select cable_length", "E0907"),
        ("pod.fab --select plane_isolation", "the design has no planes"),
        ("pod.fab --select rate_match --fail node --fail leaf", "E0907"),
        ("bare.fab --fail node --fail leaf", "there is no device that traffic could begin at"),
        ("bare.fab --scenarios all.txt", "E0907"),
        ("bare.fab --scenarios one.txt --ignore reachability --ignore bisection", "E0907"),
        ("pod.fab --all-params --select cable_length", "E0907"),
        ("pod.fab --locked", "there is no pod.fab.lock"),
        ("pod.fab --certificates new --select power", "E0907"),
        ("pod.fab --at-least 80%", "names 4 elements, and 3 of them are judged"),
        ("skipped.fab", "cannot be judged"),
        ("empty.fab", "E0123"),
        ("broken.fab", "E01"),
        ("nothing", "no .fab file"),
    ],
    "audit": [
        ("pod.fab --p2p heads.csv", "they have no row"),
        ("pod.fab --p2p comments.csv", "the table is empty"),
        ("pod.fab --p2p strange.csv", "is one of the design (x, y)"),
        ("pod.fab --p2p half.csv --at-least 100%", "E0908"),
        ("empty.fab --p2p half.csv", "E0907"),
    ],
    "lint-nccl": [
        ("graph.xml --against system.xml", "E0907"),
        ("nccl.conf --against system.xml", "E0907"),
        ("heads.csv --against system.xml", "E05"),
    ],
    "verify": [("out", "nothing is verified"), ("nothing", "there is no manifest.json")],
    "compare": [
        ("pod.fab", "not compared with any other"), ("pod.fab --vary n=,", "has no value"), ("pod.fab empty.fab", "E0123"),
    ],
    "explore": [("pod.fab --vary n=,", "has no value"), ("empty.fab --vary n=1", "has no parameter")],
    "build": [
        ("pod.fab --target opensm", "the fabric has no InfiniBand links"),
        ("pod.fab --target opensm --check", "E0516"),
        ("pod.fab --target opensm --target json", "E0516"),
    ],
    "plan": [("empty.fab pod.fab", "no order keeps the floor")],
    "diff": [("pod.fab broken.fab", "E01")],
    "import": [("heads.csv", "the captures have no link"), ("comments.csv", "E0601")],
    "fmt": [("--check", "Missing argument"), ("--check nothing", "nothing")],
}  # fmt: skip
JUDGE_NOTHING = frozenset({
    "completion", "config", "expand", "explain", "help", "init", "list", "lock", "lsp", "man", "mcp", "new", "render", "show",
    "version", "view",
})  # fmt: skip
"""Commands that print or write, and judge nothing that a pipeline waits for."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_that_judges_is_tested() -> None:
    assert set(cli.list_commands(None)) == CALLS.keys() | JUDGE_NOTHING  # type: ignore[arg-type]
    assert not CALLS.keys() & JUDGE_NOTHING


@pytest.mark.parametrize(("command", "calls"), CALLS.items(), ids=CALLS)
def test_nothing_to_judge(command: str, calls: Sequence[tuple[str, str]], folder: Path) -> None:
    wrong = []
    for call, says in calls:
        done = tdsl(command, *call.split())
        text = " ".join(done.output.replace("|", " ").split())
        if done.exit_code not in (1, 2) or says not in text or "E0901" in text:
            wrong.append((call, done.exit_code, text[:400]))
    assert not wrong


FORMATS = ("full", "concise", "json", "github", "gitlab", "junit", "sarif")


@pytest.mark.parametrize("output_format", FORMATS)
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
    assert (done.exit_code, done.stdout) == (
        0, "1 of 1 scenarios keep every requirement of pod; in 1 of them not all that is asked was judged\n",
    )  # fmt: skip
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
