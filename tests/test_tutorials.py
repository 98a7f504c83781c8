"""The tutorials: their files are written and their commands are run in an empty folder, in order."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tdsl.cli import cli
from tests.targets import frr_lab, ib

DOCS = Path(__file__).parents[1] / "docs"
STEP = re.compile(
    r"`(?P<file>[\w./-]+)`[^`]{0,200}?:\n\n```(?P<kind>fab check|fab file [\w./-]+|text|yaml|toml|python|csv)\n(?P<text>.*?)```"
    r"|```sh\n(?P<commands>.*?)```",
    re.DOTALL,
)
"""A text that the sentence before it gives a file name (`Write this to `pod.fab`:`), or commands."""
STATUS = re.compile(r"# exit status (\d)$")
"""What a line of commands ends with, where it is to fail."""
PAGES = sorted(p.name for p in [*DOCS.glob("howto-*.md"), *DOCS.glob("tutorial-*.md")])
ELSEWHERE = {
    "tutorial-audit.md": "a simulator", "tutorial-audit-routers.md": "real routers", "tutorial-superpod.md": "an edit",
    "tutorial-optical-torus.md": "its tests", "tutorial-review.md": "edits", "tutorial-roce-pod.md": "its tests",
}  # fmt: skip
"""Tutorials with a test of their own below, and what it does besides."""
LONG = {"howto-growth.md", "howto-networks.md", "howto-upgrade.md", "tutorial-choose-fabric.md"}
"""Those whose commands take longer than some seconds: they are run by the daily tests."""
NEEDED = {"all_reduce_perf", "containerlab", "docker", "hhfab", "network", "nvim", "hx", "netbox", "gh", "npm"}
"""What blocks of commands need that these tests do not have: ```sh needs docker."""


def empty(tmp_path: Path, forked: Path) -> tuple[Path, dict[str, str]]:
    """An empty folder, and an environment with a `tdsl` that is this one."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder, os.environ | {"PATH": f"{forked.parent}:{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent)}


@pytest.fixture
def run(tmp_path: Path, forked: Path):
    """Run shell commands in an empty folder."""
    folder, environment = empty(tmp_path, forked)
    environment |= {"BROWSER": "true", "HOME": str(tmp_path)}
    environment |= {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def call(commands: str, at: Path = folder) -> subprocess.CompletedProcess[str]:
        line = ["bash", "-ec", commands]
        return subprocess.run(line, cwd=at, env=environment, capture_output=True, text=True, timeout=300, check=False)

    return call, folder


def steps(page: str) -> list[tuple[str | None, str]]:
    """(file, text) of a design, (None, commands) of a call."""
    found = STEP.finditer((DOCS / page).read_text(encoding="utf-8"))
    return [(m["file"], m["text"]) if m["file"] else (None, m["commands"]) for m in found]


def follow(page: str, run, folder: Path, before: dict[str, Callable[[], None]] | None = None, fails: Sequence[str] = ()) -> str:
    """Do what a page says, and return what was printed.

    ``before`` has what a reader does by hand before the calls that begin so; the calls in ``fails`` end with status 1.
    """
    said = ""
    for file, text in steps(page):
        if file:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
            continue
        for start, edit in (before or {}).items():
            if text.startswith(start):
                edit()
        for line in text.replace("\\\n", " ").splitlines() if "<<" not in text else [text]:
            at = folder / "network" if (folder / "network").exists() else folder
            done = run(line, at)
            expected = int(m[1]) if (m := STATUS.search(line)) else 0
            assert done.returncode == (expected or line in fails), f"{line}\n{done.stdout}{done.stderr}"
            said += done.stdout + done.stderr
    return said


def run_page(page: str, run) -> None:
    """Every command of a page has the exit status that the page says, 0 where it says none, and what it pastes is printed."""
    call, folder = run
    said = follow(page, call, folder)
    pasted = re.findall(r"```text\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    written = {text for file, text in steps(page) if file}
    for line in (line.strip() for text in pasted if text not in written for line in text.splitlines()):
        assert line in said or line in " ".join(said.split()), f"{page}: nothing prints {line!r}"


@pytest.mark.parametrize("page", [p for p in PAGES if p not in LONG and p not in ELSEWHERE])
def test_commands_of_a_page(page: str, run) -> None:
    run_page(page, run)


@pytest.mark.daily
@pytest.mark.parametrize("page", sorted(LONG))
def test_commands_of_a_page_that_take_long(page: str, run) -> None:
    run_page(page, run)


def test_every_block_of_commands_is_run_or_says_what_it_needs() -> None:
    for path in [DOCS / page for page in PAGES] + [DOCS / "editor.md"]:
        for words in re.findall(r"^```sh([^\n]*)$", path.read_text(encoding="utf-8"), re.M):
            assert not words or (words.startswith(" needs ") and words.split()[1] in NEEDED), f"{path.name}: ```sh{words}"


def test_every_call_in_the_docs_has_a_command_and_options_that_there_are() -> None:
    """Also those that are not run, in pipelines and in what is pasted."""
    called = 0
    for path in sorted(DOCS.glob("*.md")):
        blocks = re.findall(r"^ *```[^\n]*\n(.*?)^ *```", path.read_text(encoding="utf-8"), re.M | re.DOTALL)
        text = "\n".join(blocks).replace("\\\n", " ")
        for call in re.findall(r"^(?:\$ |\s*- (?:run: )?)?(?:sudo )?tdsl ([a-z].*)$", text, re.M):
            name, *given = shlex.split(call, comments=True)
            command = cli.get_command(None, name)  # type: ignore[arg-type]
            assert command is not None, f"{path.name}: {call}"
            known = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
            unknown = {w.partition("=")[0] for w in given if re.match("--?[a-z]", w)} - known - {"-q", "-v"}
            assert not unknown, f"{path.name}: {call}: {unknown}"
            called += 1
    assert called > 60


def test_a_roce_pod(run) -> None:
    """A checked, built and viewed design with a pipeline."""
    call, folder = run
    said = follow("tutorial-roce-pod.md", call, folder)
    assert "proved    oversubscription <= 1:1" in said and "refuted" not in said and "are as built" in said
    for row in re.findall(r"^\| `([\w/.]+)`", (DOCS / "tutorial-roce-pod.md").read_text(), re.M):
        assert (folder / "out" / row).is_file(), row
    assert "<html" in (folder / "pod.html").read_text()
    assert (folder / ".github/workflows/designs.yml").is_file()
    less = (folder / "pod.fab").read_text().replace("spread x 8", "spread x 4")
    (folder / "less.fab").write_text(less)
    done = call("tdsl check less.fab")
    assert done.returncode == 1 and "E0405" in done.stdout and "2:1 at leaf0" in done.stdout


def test_a_superpod_from_the_whiteboard(run) -> None:
    """The hall is appended to the fabric; what the table names is built."""
    call, folder = run
    page = (DOCS / "tutorial-superpod.md").read_text(encoding="utf-8")
    hall = re.search(r"extend superpod \{\n(.*?)\n\}\n```", page, re.DOTALL)
    assert hall is not None

    def append() -> None:
        design = folder / "superpod.fab"
        design.write_text(design.read_text().rstrip().removesuffix("}") + "\n" + hall[1] + "\n}\n")

    lost = "tdsl check superpod.fab --fail 'spine[0]'"
    said = follow("tutorial-superpod.md", call, folder, {"tdsl show superpod.fab racks": append}, [lost])
    assert "E0461" in said and "spine 16" in said
    assert {line for line in said.splitlines() if line.startswith("error")} == {
        "error[E0405]: More capacity below a switch than allowed",
        "error[E0408]: Too little capacity between two halves",
    }
    for row in ("cabling/cables.csv", "cabling/cables.xlsx", "cabling/labels.csv", "bom/bom.csv", "bom/bom.xlsx"):
        assert f"out/{row.partition('/')[0]}" in page and (folder / "out" / row).is_file(), row
    assert list((folder / "out/racks").glob("*.svg"))


@pytest.mark.daily
def test_a_torus_through_optical_switches(run) -> None:
    call, folder = run
    lost = "tdsl check slice.fab --fail 'ocs[0, 5]'"
    said = follow("tutorial-optical-torus.md", call, folder, fails=[lost])
    assert "E0406" in said and said.count("refuted") == 1


def test_the_review_of_a_change(run) -> None:
    call, folder = run

    def more() -> None:
        design = folder / "network" / "pod.fab"
        design.write_text(design.read_text().replace("nodes: int = 8", "nodes: int = 16"))

    said = follow("tutorial-review.md", call, folder, {"git switch -c more-nodes": more})
    assert "cables: 64 new (host-leaf 64); no existing cable moves" in said
    design = folder / "network" / "pod.fab"
    design.write_text(design.read_text().replace("spine[4]", "spine[8]"))
    done = call("tdsl diff main pod.fab --steps --floor 75%", folder / "network")
    assert done.returncode == 0 and "128 moved" in done.stdout and "128 cables move" in (DOCS / "tutorial-review.md").read_text()


# ---------------------------------------------------------------- audits


def done_at_once(page: Path, tmp_path: Path, forked: Path, **more: str) -> tuple[str, Path]:
    """Write the page's design, run its commands, and return what they print and the folder."""
    folder, environment = empty(tmp_path, forked)
    text = page.read_text(encoding="utf-8")
    for file, design in re.findall(r"`(\w+\.fab)`:\n\n```fab check\n(.*?)```", text, re.DOTALL):
        (folder / file).write_text(design)
    script = "set -e\n" + "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    ran = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment | more, capture_output=True, text=True, timeout=500, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = re.search(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert said is not None and said[1] in ran.stdout
    return ran.stdout, folder


def test_a_fabric_that_is_simulated(tmp_path: Path, forked: Path) -> None:
    ib.need()
    assert shutil.which("ibsim"), "ib.need skips where it is absent"
    _, folder = done_at_once(DOCS / "tutorial-audit.md", tmp_path, forked, IBSIM_SOCKNAME=f"tutorial-{os.getpid()}")
    report = (folder / "report.txt").read_text()
    assert report.count("error[") == 1 and "E0620" in report
    assert "su0-node3" in report and "su0-node4" in report
    assert "su0-leaf2" in (folder / "worklist.csv").read_text()


@pytest.mark.daily
def test_a_fabric_of_real_routers(tmp_path: Path, forked: Path) -> None:
    """In network namespaces, with FRR and lldpd; whatever happens, none is left."""
    frr_lab.need()
    lab = f"tutorial{os.getpid()}"
    try:
        said, folder = done_at_once(DOCS / "tutorial-audit-routers.md", tmp_path, forked, LAB=lab)
    finally:
        for pid in Path("/run", lab).glob("*/*.pid"):
            subprocess.run(["kill", "-KILL", pid.read_text().strip()], capture_output=True, timeout=10, check=False)
        for space in Path("/run/netns").glob(f"{lab}-*"):
            subprocess.run(["ip", "netns", "del", space.name], capture_output=True, timeout=20, check=False)
        shutil.rmtree(Path("/run", lab), ignore_errors=True)
    assert "1 received" in said
    report = (folder / "report.txt").read_text()
    assert report.count("error[") == 1 and "E0620" in report
    assert all(name in report for name in ("leaf0", "node2", "node3"))
    assert "leaf0" in (folder / "worklist.csv").read_text()
