"""The smaller commands, and what all commands have in common."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from tdsl.cli import cli
from tdsl.commands._topics import topic_names, topic_page
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax.keywords import GRAMMAR_WORDS, PATTERNS, SETTINGS
from tdsl.syntax.parser import parse_source_file
from tests.cli.run import SMALL, tdsl, write
from tests.harness import none
from tests.tables import table

COMMANDS = (
    "audit", "build", "check", "compare", "completion", "config", "diff", "expand", "explain", "explore", "fmt", "help", "import",
    "init", "lint-nccl", "list", "lock", "lsp", "man", "mcp", "new", "plan", "render", "show", "verify", "version", "view",
)  # fmt: skip
UGLY = "fabric f{switch  leaf[4]:QM9700 # four\n}\n"
PROGRAM = (sys.executable, "-m", "tdsl")


def test_show_summary_and_metrics(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert {"figure", "hosts", "tiers.spine"} <= {line.split()[0] for line in tdsl("show", path).stdout.splitlines()}
    (design,) = json.loads(tdsl("show", path, "summary", "--output-format", "json").stdout)["designs"]
    assert design["summary"]["tiers"] == {"leaf": 8, "spine": 2}
    (design,) = json.loads(tdsl("show", "gb200_nvl72", "models", "--output-format", "json").stdout)["designs"]
    seen = {m["model"]: (m["count"], m["ports"], m["one_way_gbps"], m["both_ways_gbps"]) for m in design["models"]}
    chips = {"B200": (72, 18, 7200, 14400), "NVLINK5_SWITCH": (18, 72, 28800, 57600)}
    assert seen == {"GB200_TRAY": (18, 9, 2400, 4800), **chips}
    assert {"one_way_gbps", "QM9700", "25600.0", "51200.0"} <= set(tdsl("show", path, "models").stdout.split())
    (design,) = json.loads(tdsl("show", path, "metrics", "--output-format", "json").stdout)["designs"]
    assert "oversubscription" in {m["check"] for m in design["metrics"]}


# ---------------------------------------------------------------- fmt


def test_fmt_in_place_once(tmp_path: Path) -> None:
    """`--check` and `--diff` write nothing, and a text that is laid out already is not written again."""
    path = write(tmp_path, UGLY)
    path.chmod(0o640)
    done = tdsl("fmt", "--check", path)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"would reformat {path}\n")
    done = tdsl("fmt", "--diff", path)
    assert done.exit_code == 1 and done.stdout.startswith(f"--- {path}\n+++ {path}\n") and path.read_text() == UGLY
    assert tdsl("fmt", path).exit_code == 0
    text, before = path.read_text(), path.stat().st_mtime_ns
    assert "switch leaf[4]: QM9700" in text and "# four" in text and path.stat().st_mode & 0o777 == 0o640
    assert tdsl("fmt", path).exit_code == 0 == tdsl("fmt", "--check", "--diff", path).exit_code
    assert path.stat().st_mtime_ns == before and [p.name for p in tmp_path.iterdir()] == ["small.fab"]
    done = tdsl("fmt", "-", stdin=UGLY)
    assert (done.exit_code, done.stdout) == (0, text) and tdsl("fmt", "-", stdin=text).stdout == text


def test_fmt_leaves_a_broken_file_and_a_link_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "fabric f {\n  switch leaf[4: QM9700\n}\n")
    text, link = path.read_text(), tmp_path / "link.fab"
    done = tdsl("fmt", path)
    assert (done.exit_code, done.stdout, path.read_text()) == (1, "", text) and f"{path}:2:" in done.stderr
    link.symlink_to(write(tmp_path, UGLY))
    done = tdsl("fmt", link)
    assert done.exit_code == 2 and "it is a link" in done.stderr and link.is_symlink() and path.read_text() == UGLY


# ---------------------------------------------------------------- new, completion


def test_a_new_target_builds_at_once(here: Path) -> None:
    assert tdsl("new", "target", "inventory", "--in", "mine").exit_code == 0
    assert "tdsl build FILE" in Path("mine/inventory/README.md").read_text()
    done = tdsl("build", write(here), "--target-path", "mine", "--target", "inventory")
    assert done.exit_code == 0, done.stderr
    lines = Path("out/inventory/devices.txt").read_text().splitlines()
    assert lines[:2] == ["Devices of small", "node0 DGX_H100"] and len(lines) == 1 + 14
    assert Path("out/inventory/devices/leaf7.txt").read_text() == "leaf7: QM9700 with 65 ports\n"
    again = tdsl("new", "target", "inventory", "--in", "mine")
    assert again.exit_code == 2 and "there already" in again.stderr
    assert tdsl("new", "target", "../x").exit_code == 2 == tdsl("new", "target", "A").exit_code


def test_completion() -> None:
    for shell in ("bash", "zsh", "fish"):
        done = tdsl("completion", shell)
        assert done.exit_code == 0 and "_TDSL_COMPLETE" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_completion_by_bash(tmp_path: Path, forked: Path) -> None:
    """bash splits a word at `=`, and replaces what stands behind it."""
    write(tmp_path, SMALL.replace("{\n", "{\n  param spines: int = 2 where spines in 1..2\n", 1))
    env = os.environ | {"PATH": f"{forked.parent}:{os.environ['PATH']}"}
    for words, offered in (("''", "spines= nodes="), ("spines =", "1 2"), ("spines = 2", "2")):
        script = 'eval "$(tdsl completion bash)"; '
        script += f"COMP_WORDS=(tdsl check small.fab --set {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        script += '_tdsl_completion tdsl; echo "${COMPREPLY[*]}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=env, cwd=tmp_path, timeout=60)
        assert done.stdout == f"{offered}\n", done.stdout + done.stderr


# ---------------------------------------------------------------- what all have


def test_the_commands() -> None:
    assert tuple(cli.list_commands(click.Context(cli))) == COMMANDS
    shown = {name: tdsl(name, "--help") for name in COMMANDS}
    none(name for name, d in shown.items() if d.exit_code or "Example" not in d.stdout or "tdsl " + name not in d.stdout)
    none(line for d in shown.values() for line in d.stdout.splitlines() if len(line) > 80)
    assert tdsl("help", "check").stdout == shown["check"].stdout
    assert tdsl("help").stdout == tdsl("--help").stdout and tdsl("-V").stdout == tdsl("version").stdout


def test_the_reader_of_a_pipe_may_leave() -> None:
    done = subprocess.Popen([*PROGRAM, "show", "dgx_superpod_h100", "ports"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdout is not None and done.stderr is not None
    done.stdout.readline()
    done.stdout.close()
    assert done.wait(60) == 141 and done.stderr.read() == b""
    done.stderr.close()


def test_an_interrupt_is_quiet() -> None:
    pipe = subprocess.PIPE
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731  a shell's background jobs ignore interrupts
    running = subprocess.Popen([*PROGRAM, "fmt", "-"], stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=heard)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


def test_it_works_without_home_or_cache(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "TDSL_CACHE_DIR": "/proc/none"}
    done = subprocess.run([*PROGRAM, "check", str(write(tmp_path))], capture_output=True, text=True, env=env, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_program_is_installed() -> None:
    program = Path(sys.executable).parent / "tdsl"
    assert program.is_file() or shutil.which("tdsl"), "pip install -e . makes the program `tdsl`"


def test_the_variable_of_a_flag_bears_its_name() -> None:
    commands = [c for name in COMMANDS if (c := cli.get_command(click.Context(cli), name))]
    assert len(commands) == len(COMMANDS)
    options = [(c.name, o) for c in commands for o in c.params if isinstance(o, click.Option)]
    own = [(name, o) for name, o in options if o.name not in {flag.lstrip("-").replace("-", "_") for flag in o.opts}]
    named = {f"TDSL_{name}_{flag.lstrip('-')}".upper().replace("-", "_") for name, o in own for flag in o.opts}
    none(f"{name}: {o.name}" for name, o in own if o.envvar not in named)  # `as` and `map` are words of Python


def test_check_a_folder(here: Path) -> None:
    """The designs in it and below; files of models and hidden folders are left out."""
    for folder in (".hidden", "sites"):
        (here / folder).mkdir()
        write(here / folder, SMALL.replace("fabric small", "fabric other"))
    write(here)
    write(here, "model switch S {\n  port p[1..8]: 400Gbps\n}\n", "models.fab")
    done = tdsl("check", ".", "--output-format", "json")
    assert [d["file"] for d in json.loads(done.stdout)["designs"]] == ["sites/small.fab", "small.fab"]


@pytest.mark.parametrize("command", ["check", "show", "expand"])
def test_a_design_from_standard_input(command: str, here: Path) -> None:
    assert tdsl(command, "-", stdin=SMALL).exit_code == 0
    done = tdsl(command, "-", stdin=SMALL.replace("leaf[r]", "leef[r]"))
    assert done.exit_code == 1 and "<stdin>:6:" in done.output
    done = tdsl(command, "-", stdin=b"fabric \xff")
    assert done.exit_code == 1 and "E0011" in done.output


FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@FULL
@pytest.mark.parametrize("call", ["check small.fab", "show small.fab links"])
def test_a_full_disk_is_no_internal_error(call: str, tmp_path: Path) -> None:
    write(tmp_path)
    with open("/dev/full", "w") as full:
        line = [*PROGRAM, *call.split()]
        done = subprocess.run(line, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error[E0904]: standard output: No space left on device")


@FULL
@pytest.mark.parametrize(("call", "status"), [("check small.fab", 0), ("nosuch", 2)])
def test_where_nothing_can_be_said(call: str, status: int, tmp_path: Path) -> None:
    """A stderr that takes nothing: Python ended with 120, or with 1, which is the status of findings."""
    write(tmp_path)
    line = [*PROGRAM, *call.split()]
    with open("/dev/full", "w") as full:
        assert subprocess.run(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=full).returncode == status
        assert subprocess.run(line, cwd=tmp_path, stdout=full, stderr=full).returncode == 2


# ---------------------------------------------------------------- explain


@pytest.mark.parametrize("word", ["E0101", "e0101", "unknown_name", "unknown-name"])
def test_explain_a_code(word: str) -> None:
    done = tdsl("explain", word)
    assert done.exit_code == 0 and done.stdout.startswith("E0101 unknown_name: ")


@pytest.mark.parametrize("row", table(__file__, "explain"), ids=lambda row: row[0])
def test_explain_a_topic(row: tuple[str, ...]) -> None:
    word, *lines = row
    done = tdsl("explain", *word.split())
    assert done.exit_code == 0
    none(line for line in lines if line not in done.stdout)


def test_words_of_the_language() -> None:
    """Each is a word of the language, and its example parses."""
    found = catalogue.explained_words()
    none(w for w in found if w not in {*GRAMMAR_WORDS, *PATTERNS, *SETTINGS})
    none(w for w in PATTERNS if w not in found)
    for entry in found.values():
        diagnostics = Diagnostics()
        parse_source_file(SourceFile("example.fab", entry.example + "\n"), diagnostics)
        assert not [d.message for d in diagnostics], entry
        assert entry.word in entry.example or not entry.example


def test_all_that_has_a_page_is_explained_and_all_codes_are_listed() -> None:
    none(name for name in topic_names() if not topic_page(name))
    listed = tdsl("explain", "--list").stdout
    assert listed == tdsl("list", "codes").stdout
    none(p.code for p in (*catalogue.finding_pages(), *catalogue.check_pages_by_name().values()) if p.code not in listed)
