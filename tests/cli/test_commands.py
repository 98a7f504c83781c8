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
from tests.cli.run import SMALL, tdsl, write
from tests.harness import none

COMMANDS = (
    "audit", "build", "check", "compare", "completion", "config", "diff", "expand", "explain", "explore", "fmt", "help", "import",
    "init", "lint-nccl", "list", "lock", "lsp", "man", "mcp", "new", "plan", "render", "show", "verify", "version", "view",
)  # fmt: skip


# ---------------------------------------------------------------- show


def test_show_summary_and_metrics(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert {"figure", "hosts", "tiers.spine"} <= {line.split()[0] for line in tdsl("show", path).stdout.splitlines()}
    (design,) = json.loads(tdsl("show", path, "summary", "--output-format", "json").stdout)["designs"]
    assert design["summary"]["tiers"] == {"leaf": 8, "spine": 2}
    (design,) = json.loads(tdsl("show", path, "metrics", "--output-format", "json").stdout)["designs"]
    assert "oversubscription" in {m["check"] for m in design["metrics"]}


# ---------------------------------------------------------------- fmt
UGLY = "fabric f{switch  leaf[4]:QM9700 # four\n}\n"


def test_fmt_in_place_once(tmp_path: Path) -> None:
    path = write(tmp_path, UGLY)
    path.chmod(0o640)
    assert tdsl("fmt", path).exit_code == 0
    text = path.read_text()
    assert "switch leaf[4]: QM9700" in text
    assert "# four" in text
    assert path.stat().st_mode & 0o777 == 0o640
    before = path.stat().st_mtime_ns
    assert tdsl("fmt", path).exit_code == 0
    assert path.stat().st_mtime_ns == before
    assert [p.name for p in tmp_path.iterdir()] == ["small.fab"]


def test_fmt_check_and_diff_write_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, UGLY)
    done = tdsl("fmt", "--check", path)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"would reformat {path}\n")
    done = tdsl("fmt", "--diff", path)
    assert done.exit_code == 1
    assert done.stdout.startswith(f"--- {path}\n+++ {path}\n")
    assert path.read_text() == UGLY
    tdsl("fmt", path)
    assert tdsl("fmt", "--check", "--diff", path).exit_code == 0


def test_fmt_of_stdin() -> None:
    done = tdsl("fmt", "-", stdin=UGLY)
    assert done.exit_code == 0
    assert "switch leaf[4]: QM9700" in done.stdout
    assert tdsl("fmt", "-", stdin=done.stdout).stdout == done.stdout


def test_fmt_leaves_a_broken_file_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "fabric f {\n  switch leaf[4: QM9700\n}\n")
    text = path.read_text()
    done = tdsl("fmt", path)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert f"{path}:2:" in done.stderr
    assert path.read_text() == text


def test_fmt_follows_no_link(tmp_path: Path) -> None:
    path = write(tmp_path, "fabric f{ }\n")
    link = tmp_path / "link.fab"
    link.symlink_to(path)
    done = tdsl("fmt", link)
    assert done.exit_code == 2 and "it is a link" in done.stderr
    assert link.is_symlink() and path.read_text() == "fabric f{ }\n"


# ---------------------------------------------------------------- explain, list, init, version, completion
@pytest.mark.parametrize("word", ["E0101", "e0101", "unknown_name", "unknown-name"])
def test_explain_a_code(word: str) -> None:
    done = tdsl("explain", word)
    assert done.exit_code == 0
    assert done.stdout.startswith("E0101 unknown_name: ")


def test_a_new_target_builds_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tdsl("new", "target", "inventory", "--in", "mine").exit_code == 0
    assert "tdsl build FILE" in Path("mine/inventory/README.md").read_text()
    done = tdsl("build", write(tmp_path), "--target-path", "mine", "--target", "inventory")
    assert done.exit_code == 0, done.stderr
    lines = Path("out/inventory/devices.txt").read_text().splitlines()
    assert lines[:2] == ["Devices of small", "node0 DGX_H100"] and len(lines) == 1 + 14
    assert Path("out/inventory/devices/leaf7.txt").read_text() == "leaf7: QM9700 with 64 ports\n"
    again = tdsl("new", "target", "inventory", "--in", "mine")
    assert again.exit_code == 2 and "there already" in again.stderr
    assert tdsl("new", "target", "../x").exit_code == 2 and tdsl("new", "target", "A").exit_code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    done = tdsl("completion", shell)
    assert done.exit_code == 0
    assert "_TDSL_COMPLETE" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("check small.fab --set ''", "spines= nodes="),
        ("check small.fab --set spines =", "1 2"),
        ("check small.fab --set spines = 2", "2"),
    ],
)
def test_completion_by_bash(words: str, offered: str, tmp_path: Path) -> None:
    """bash splits a word at `=`, and replaces what stands behind it."""
    write(tmp_path, SMALL.replace("{\n", "{\n  param spines: int = 2 where spines in 1..2\n", 1))
    (tmp_path / "tdsl").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tdsl "$@"\n')
    (tmp_path / "tdsl").chmod(0o755)
    script = f'eval "$(tdsl completion bash)"; COMP_WORDS=(tdsl {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n'
    script += '_tdsl_completion tdsl; echo "${COMPREPLY[*]}"'
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=env, cwd=tmp_path, timeout=60)
    assert done.stdout == f"{offered}\n", done.stdout + done.stderr


# ---------------------------------------------------------------- what all have
def test_the_commands() -> None:
    assert tuple(cli.list_commands(click.Context(cli))) == COMMANDS


def test_every_command_has_help_with_an_example() -> None:
    shown = {name: tdsl(name, "--help") for name in COMMANDS}
    none(name for name, d in shown.items() if d.exit_code or "Example" not in d.stdout or "tdsl " + name not in d.stdout)


def test_an_unknown_command() -> None:
    done = tdsl("chek")
    assert done.exit_code == 2
    assert "chek" in done.stderr


def test_a_deeply_nested_text_is_no_traceback(tmp_path: Path) -> None:
    for text in (
        f"let n = {'(' * 5000}1{')' * 5000}\n",
        "fabric f {" + "group g {" * 3000 + "}" * 3000 + "}\n",
    ):
        done = subprocess.run(
            [sys.executable, "-m", "tdsl", "check", str(write(tmp_path, text))],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr


def test_the_reader_of_a_pipe_may_leave() -> None:
    call = [sys.executable, "-m", "tdsl", "show", "dgx_superpod_h100", "ports"]
    done = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.readline()
    done.stdout.close()
    assert done.wait(60) == 141
    assert done.stderr.read() == b""
    done.stderr.close()


def test_an_interrupt_is_quiet() -> None:
    call = [sys.executable, "-m", "tdsl", "fmt", "-"]
    pipe = subprocess.PIPE
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731  a shell's background jobs ignore interrupts
    running = subprocess.Popen(call, stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=heard)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


def test_it_works_without_home_or_cache(tmp_path: Path) -> None:
    path = write(tmp_path)
    env = {"PATH": os.environ["PATH"], "TDSL_CACHE_DIR": "/proc/none"}
    done = subprocess.run(
        [sys.executable, "-m", "tdsl", "check", str(path)],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
    )
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


# ---------------------------------------------------------------- wrong calls
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("chek", "small.fab"), "there is no command `chek`; did you mean `tdsl check`?"),
        (("small.fab",), "write a command before the file: `tdsl check small.fab`"),
        (("xyzzy",), "`tdsl --help` lists the commands"),
        (("check", "smal.fab"), "there is no file smal.fab; did you mean `small.fab`?"),
        (("check", "small"), "there is no file small; did you mean `small.fab`?"),
        (("check", "empty"), "there is no design in the folder empty: it has no .fab file"),
        (("build", "."), ". is a folder; name a design in it, such as `small.fab`"),
        (("check", "--watch", "-"), "standard input (`-`) is read only once"),
        (("help", "chek"), "there is no command `chek`; did you mean `tdsl check`?"),
    ],
)
def test_wrong_calls(args: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    (tmp_path / "empty").mkdir()
    done = tdsl(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr


def test_check_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The designs in it and below; files of models and hidden folders are left out."""
    monkeypatch.chdir(tmp_path)
    for folder in (".hidden", "sites"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, SMALL.replace("fabric small", "fabric other"))
    write(tmp_path)
    write(tmp_path, "model switch S {\n  port p[1..8]: 400Gbps\n}\n", "models.fab")
    done = tdsl("check", ".", "--output-format", "json")
    assert [d["file"] for d in json.loads(done.stdout)["designs"]] == ["sites/small.fab", "small.fab"]


@pytest.mark.parametrize("command", ["check", "show", "expand"])
def test_a_design_from_standard_input(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tdsl(command, "-", stdin=SMALL).exit_code == 0
    done = tdsl(command, "-", stdin=SMALL.replace("leaf[r]", "leef[r]"))
    assert done.exit_code == 1
    assert "<stdin>:6:" in done.output
    done = tdsl(command, "-", stdin=b"fabric \xff")
    assert done.exit_code == 1 and "E0011" in done.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("args", [("check", "small.fab"), ("show", "small.fab", "links"), ("list", "checks")])
def test_a_full_disk_is_no_internal_error(args: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tdsl", *args],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error[E0904]: standard output: No space left on device")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("args", "status"),
    [
        (("check", "small.fab"), 0),
        (("check", "none.fab"), 2),
        (("nosuch",), 2),
        (("-v", "check", "small.fab"), 2),
        (("show", "small.fab", "x"), 2),
    ],
)
def test_where_nothing_can_be_said(args: tuple[str, ...], status: int, tmp_path: Path) -> None:
    """A stderr that takes nothing: Python ended with 120, or with 1, which is the status of findings."""
    write(tmp_path)
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "tdsl", *args], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=full)
        assert done.returncode == status
        assert subprocess.run([sys.executable, "-m", "tdsl", *args], cwd=tmp_path, stdout=full, stderr=full).returncode == 2


# ---------------------------------------------------------------- discovery
@pytest.mark.parametrize(
    ("word", "lines"),
    [
        (
            "SN5600",
            (
                "SN5600: switch",
                "- port `p`: 64 x 800Gbps; type GE800",
                "64 OSFP cages",
                "splits into 2 or 4",
                "Source: NVIDIA",
            ),
        ),
        ("sn-5600", ("SN5600: switch",)),
        ("DGX_H100", ("DGX_H100: host", "- 8 accelerators", "- power: ")),
        (
            "clos",
            ("clos: topology", "- `leaf`: model, required", "- `oversubscription`: ratio, 1:1 if not given"),
        ),
        ("fat-tree", ("fat_tree: topology",)),
        (
            "spread",
            ("spread: pattern of connect", "distributed evenly", "connect leaf[*] to spine[*] spread x 16"),
        ),
        ("torus", ("torus: topology", "# torus: pattern of connect")),
        ("cabling", ("cabling: target", "- `cabling/cables.csv`", "tdsl build FILE --target cabling")),
    ],
)
def test_explain_a_topic(word: str, lines: tuple[str, ...]) -> None:
    done = tdsl("explain", word)
    assert done.exit_code == 0
    none(line for line in lines if line not in done.stdout)


def test_words_of_the_language() -> None:
    """Each is a word of the language, and its example parses."""
    from tdsl.explain import catalogue
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.findings.source import SourceFile
    from tdsl.syntax.keywords import GRAMMAR_WORDS, PATTERNS, SETTINGS
    from tdsl.syntax.parser import parse_source_file

    found = catalogue.explained_words()
    none(w for w in found if w not in {*GRAMMAR_WORDS, *PATTERNS, *SETTINGS})
    none(w for w in PATTERNS if w not in found)
    for entry in found.values():
        diagnostics = Diagnostics()
        parse_source_file(SourceFile("example.fab", entry.example + "\n"), diagnostics)
        assert not [d.message for d in diagnostics], entry
        assert entry.word in entry.example or not entry.example


def test_explain_everything_that_has_a_page() -> None:
    from tdsl.commands._topics import topic_names, topic_page

    none(name for name in topic_names() if not topic_page(name))


def test_all_codes_are_listed() -> None:
    from tdsl.explain import catalogue

    listed = tdsl("explain", "--list").stdout
    assert listed == tdsl("list", "codes").stdout
    none(p.code for p in (*catalogue.finding_pages(), *catalogue.check_pages_by_name().values()) if p.code not in listed)


def test_help_of_a_command() -> None:
    assert tdsl("help", "check").stdout == tdsl("check", "--help").stdout
    assert tdsl("help").stdout == tdsl("--help").stdout
    assert tdsl("-V").stdout == tdsl("version").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("check", "smal.fab"), "did you mean `small.fab`"),
        (
            ("check", "small.fab", "--output-format", "jsn"),
            "help: did you mean `tdsl check small.fab --output-format json`?",
        ),
        (
            ("check", "small.fab", "--set", "nodes"),
            "help: did you mean `tdsl check small.fab --set nodes=VALUE`?",
        ),
        (
            ("check", "small.fab", "--set", "nodes="),
            "help: did you mean `tdsl check small.fab --set nodes=VALUE`?",
        ),
        (
            ("check", "small.fab", "--prices", "smal.fab"),
            "help: did you mean `tdsl check small.fab --prices small.fab`?",
        ),
        (
            ("check", "small.fab", "--prices=smal.fab"),
            "help: did you mean `tdsl check small.fab --prices=small.fab`?",
        ),
        (("check",), "help: for example `tdsl check superpod.fab --set units=3`"),
        (("list", "zzzzzz"), "help: for example `tdsl list designs`"),
        (("list", "desing"), "help: did you mean `tdsl list designs`?"),
    ],
)
def test_advice(args: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    done = tdsl(*args)
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert done.stderr.count("did you mean") + done.stderr.count("for example") == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("cables", "--to", "QM9700"), "--to needs --for: the two models that a cable is between"),
        (("designs", "--to", "QM9700"), "--for and --to are for `tdsl list cables` and `tdsl list optics`"),
        (("designs", "--for", "QM9700"), "--for and --to are for `tdsl list cables` and `tdsl list optics`"),
        (
            ("cables", "--for", "SN2201", "--to", "Q3450"),
            "no part of the catalogue fits between SN2201 and Q3450: `tdsl explain SN2201` prints its cages and rates",
        ),
    ],
)
def test_lists_that_are_refused(args: tuple[str, ...], said: str) -> None:
    done = tdsl("list", *args)
    assert (done.exit_code, done.stdout) == (2, "") and f"Error: {said}\n" in done.stderr


def test_comparisons_that_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.fab").write_text("fabric f { }\n")
    done = tdsl("compare", tmp_path / "a.fab", tmp_path / "b.fab", "--vary", "n=1")
    assert done.exit_code == 2 and "Error: --vary compares one FILE at several values of a parameter\n" in done.stderr
