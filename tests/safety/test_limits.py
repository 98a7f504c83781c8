"""What a design, a template or an editor may make tdsl do: so much and no more, and it says what was missing."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

from tdsl.cli import cli
from tdsl.emit.rows import spreadsheet_cell
from tests.cli.run import SMALL, tdsl, write
from tests.harness import sampled
from tests.safety.built import shell
from tests.safety.test_reading import SECRET
from tests.tables import table

MANIFEST = 'title = "t"\nconsumer = "c"\n[[file]]\npath = "PATH"\ntemplate = "TEMPLATE"\n'


def target(folder: Path, template: str, path: str = "evil/a.txt", name: str = "a.j2") -> Path:
    """A target of somebody else."""
    (folder / "more" / "evil" / "templates").mkdir(parents=True)
    (folder / "more" / "evil" / "templates" / "a.j2").write_text(template)
    (folder / "more" / "evil" / "target.toml").write_text(MANIFEST.replace("PATH", path).replace("TEMPLATE", name))
    return folder / "more"


def built(folder: Path, more: Path) -> str:
    done = tdsl("build", write(folder), "--target-path", more, "--target", "evil", "--out", folder / "out")
    assert done.exit_code in (1, 2) and not (folder / "out").exists(), done.output
    return done.stderr


BOMBS = [
    "{{ 'a' * 10**10 }}", "{{ 9**999999999 }}", "{{ [1] * 10**10 }}", "{{ '%10000000000d' % 1 }}", "{{ '%*d' % (10**10, 1) }}",
    "{{ 'a'.ljust(10**10) }}", "{{ 'a'|center(10**10) }}", "{{ 'a\nb'|indent(10**10) }}", "{{ '{:>10000000000}'.format(1) }}",
    "{{ '%10000000000d'|format(1) }}",
    "{% set ns = namespace(x='a' * 10**6) %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x|length }}",
    "{% set x = 'a' * 10**5 %}{{ x|replace('a', x) }}", "{% set x = 'a' * 10**5 %}{{ x.replace('a', x)|length }}",
    "{% set x = 'a' * 10**5 %}{{ x.join(x)|length }}", "{{ ('a' * 10**4).translate({97: 'a' * 10**6})|length }}",
    "{{ '" + "a" * 10**5 + "'|replace('a', '" + "a" * 10**5 + "') }}",
    "{% set l = [1] %}{% for i in range(50) %}{% set _ = l.extend(l) %}{% endfor %}{{ l|length }}",
    "{% set l = [1] %}{% set _ = l.append(l) %}{{ l|tojson }}",
    "{% for a in [1] %}" * 30 + "x" + "{% endfor %}" * 30, "{{ " + "(" * 300 + "1" + ")" * 300 + " }}",
    "{{ " + "1+" * 9999 + "1 }}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{% include 'a.j2' %}",
]  # fmt: skip


def test_endless_loops_of_a_template(tmp_path: Path) -> None:
    """A minute of processor time is what they have; timers run sixty times as fast here."""
    timer = signal.setitimer

    def hurried(which: int, seconds: float, interval: float = 0) -> tuple[float, float]:
        return timer(which, seconds / 60, interval)

    signal.setitimer = hurried  # type: ignore[assignment]
    try:
        loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
        assert "it takes more than 60 seconds" in built(tmp_path, target(tmp_path, loop))
    finally:
        signal.setitimer = timer


LONG_BOMBS = [t for t in BOMBS if "translate" in t or "ns.x ~ ns.x" in t]
"""Those that take seconds of their limit; the others show that there is one."""


@pytest.mark.parametrize("template", [pytest.param(t, marks=pytest.mark.daily) if t in LONG_BOMBS else t for t in BOMBS])
def test_templates_that_never_end(template: str, tmp_path: Path) -> None:
    begin = time.process_time()
    said = built(tmp_path, target(tmp_path, template))
    assert "error[E050" in said and time.process_time() - begin < 30, said


@pytest.mark.parametrize(("template",), table(__file__, "reaches"))
def test_a_template_reaches_and_changes_nothing(template: str, here: Path) -> None:
    """What other targets see stays as it is, and nothing private, of Python, or of the design's text is had."""
    more = target(here, template + "{{ ('nothing',)|list }}")
    done = tdsl("build", write(here), "--target-path", more, "--target", "evil", "--target", "json")
    assert done.exit_code == 1 and "error[E0503]" in done.stderr and "target `json`" not in done.stderr, done.output


def test_patterns_of_a_manifest_that_take_years(tmp_path: Path) -> None:
    more = target(tmp_path, "{{ router.name }}", "evil/{router}")
    manifest = more / "evil" / "target.toml"
    router = '[router]\nnos = "x"\ninterface = "([A-Za-z0-9/]+)+!"\n[[file]]\nscope = "router"'
    manifest.write_text(manifest.read_text().replace("[[file]]", router))
    design = (
        f'model switch SW {{ port p[1..32]: 400Gbps {{ name "{"a" * 40}{{i}}" }} }}\n'
        'fabric f {\n host h[2]: DGX_H100\n switch s: SW { nos "x" }\n connect h[i].nic[0] to s\n}\n'
    )
    begin = time.process_time()
    done = tdsl("build", write(tmp_path, design, "f.fab"), "--target-path", more, "--out", tmp_path / "out", "--force")
    assert done.exit_code in (0, 1) and "E09" not in done.output and time.process_time() - begin < 60, done.output


def test_paths_of_a_manifest(tmp_path: Path) -> None:
    wrong = ("", "a\\u0000b", "evil//a", "./a", "evil/../a", "/a", "manifest.json", ".tdsl-lock", "c:/a", "a\\nb")
    for n, path in enumerate(wrong):
        folder = tmp_path / str(n)
        folder.mkdir()
        said = built(folder, target(folder, "x", path))
        assert "error[E0502]" in said and "Traceback" not in said and "\0" not in said, path


@pytest.mark.parametrize("way", ["link", "folder", "up", "pipe", "include", "nul"])
def test_templates_lie_in_their_folder(way: str, tmp_path: Path) -> None:
    secret = write(tmp_path, SECRET, "secret.j2")
    name = {"up": "../../../secret.j2", "nul": "a\\u0000b"}.get(way, "a.j2")
    more = target(tmp_path, "{% include 'b.j2' %}" if way == "include" else "x", name=name)
    at = more / "evil" / "templates"
    if way in ("link", "pipe"):
        (at / "a.j2").unlink()
    if way == "pipe":
        os.mkfifo(at / "a.j2")
    elif way in ("link", "include"):
        (at / ("a.j2" if way == "link" else "b.j2")).symlink_to(secret)
    elif way == "folder":
        at.rename(tmp_path / "templates")
        at.symlink_to(tmp_path / "templates")
    assert "ghp_" not in built(tmp_path, more)


# ------------------------------------------------------------ memory, files, time


@pytest.mark.parametrize("command", sampled(["check", "build"], 2))
def test_too_little_memory_ends_with_a_line(command: str, tmp_path: Path) -> None:
    """From too little for the libraries to enough: done, or a line that says what was missing."""
    write(tmp_path)
    seen = set()
    sizes = (70_000, 96_000, 101_000, 105_000, 112_000, 150_000, 2_000_000)
    for size in sizes if command == "check" else sizes[::2]:  # both import the same, one after the other
        # from about 100,000 on OpenBLAS itself would end the process, and a module of the message was not loaded
        line = f"ulimit -v {size}; exec {sys.executable} -m tdsl {command} small.fab"
        done = shell(tmp_path, line, OPENBLAS_NUM_THREADS="1", TDSL_CACHE_DIR=str(tmp_path / "cache"))
        assert done.returncode in (0, 2) and "Traceback" not in done.stderr, done.stderr
        if done.returncode:
            assert "error[E0903]: there is not enough memory" in done.stderr and done.stdout == ""
            assert not (tmp_path / "out").exists()
        seen.add(done.returncode)
    assert seen == {0, 2}


def test_untrusted_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("home", "more"):
        (tmp_path / name).mkdir()
    (tmp_path / "assets.csv").write_text("device,port,node_guid,port_guid\n")
    monkeypatch.chdir(tmp_path / "home")
    for folder, name in ((tmp_path, "away.fab"), (Path(), "small.fab"), (Path(), "design.txt")):
        write(folder, name=name)
    Path("link.fab").symlink_to("small.fab")
    Path("lib").symlink_to(tmp_path / "more")
    for call, words in table(__file__, "refused"):
        for done in (tdsl(*call.split(), "--untrusted"), tdsl(*call.split(), env={"TDSL_UNTRUSTED": "1"})):
            assert done.exit_code == 2 and words in done.stderr, (call, done.output)


def test_every_command_that_reads_files_of_others_can_be_told_so() -> None:
    own = {"completion", "config", "explain", "help", "init", "lsp", "man", "mcp", "new", "version"}
    context = click.Context(cli)
    without = {n for n in cli.list_commands(context) if "--untrusted" not in options_of(cli.get_command(context, n))}
    assert without == own


def options_of(command: click.Command | None) -> set[str]:
    """The words by which help lists the options of a command."""
    return {word for p in (command.params if command else ()) if isinstance(p, click.Option) for word in p.opts}


def test_untrusted_calls_have_limits_that_their_caller_sets(here: Path) -> None:
    """Of the size of all designs together, and of processor time; one's own large design is read."""
    write(here, "".join(f"let a{i} = {i}\n" for i in range(30_000)) + "use more (z)\n" + SMALL, "large.fab")
    write(here, "let z = 1 # " + "x" * 1000, "more.fab")
    size = (here / "large.fab").stat().st_size
    for call in ("check", "fmt --check"):
        done = tdsl(*call.split(), "large.fab", "--untrusted")
        said = f"the file has {size:,} bytes; with --untrusted all designs of a call may have 400,000"
        assert done.exit_code == 1 and "error[E0012]" in done.output, done.output
        assert said in " ".join(done.output.replace("│", " ").split()), done.output
    write(here, "".join(f"let a{i} = {i}\n" for i in range(3_000)) + "use more (z)\n" + SMALL, "large.fab")
    size = (here / "large.fab").stat().st_size
    for limit, status in ((size + 900, 1), (size + 1100, 0)):
        done = tdsl("check", "large.fab", "--untrusted", "--quiet", env={"TDSL_UNTRUSTED_SIZE": str(limit)})
        assert done.exit_code == status and ("E0012" in done.output) == bool(status), done.output
    done = tdsl("check", "large.fab", env={"TDSL_UNTRUSTED": "1", "TDSL_UNTRUSTED_SIZE": "no"})
    assert done.exit_code == 2 and "TDSL_UNTRUSTED_SIZE is 'no'" in done.stderr
    limits = {"TDSL_UNTRUSTED_SIZE": "9_000_000", "TDSL_UNTRUSTED_SECONDS": "1"}
    write(here, "".join(f"let a{i} = {i}\n" for i in range(300_000)), "huge.fab")
    begin = time.process_time()
    done = tdsl("check", "huge.fab", "--untrusted", env=limits)
    assert done.exit_code == 2 and "this takes more than 1 seconds of processor time" in done.stderr, done.output
    assert time.process_time() - begin < 5


def test_untrusted_ignores_settings(tmp_path: Path, forked: Path) -> None:
    (tmp_path / "tdsl.toml").write_text("nonsense = [")
    write(tmp_path)
    calls = "tdsl check small.fab; echo $?; tdsl check small.fab --untrusted > /dev/null && tdsl build small.fab --untrusted"
    calls += (
        " --target cabling --target json > /dev/null && tdsl check dgx_superpod_h100 --untrusted --select isolated > /dev/null"
    )
    done = shell(tmp_path, calls, forked)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_however_untrusted_is_said_settings_are_ignored(here: Path) -> None:
    """As click reads the variables: what sets limits and lets the settings of a stranger hold would be half of it."""
    write(here, SMALL.replace("<= 1:1", "<= 1:9"))
    Path("tdsl.toml").write_text('[check]\nignore = ["oversubscription"]\n')
    assert tdsl("check", "small.fab").exit_code == 0
    for said in ({"TDSL_UNTRUSTED": " true "}, {"TDSL_CHECK_UNTRUSTED": "1"}, {"TDSL_UNTRUSTED": "Yes"}):
        assert tdsl("check", "small.fab", env=said).exit_code == 1, said


def test_small_texts_ask_for_little_work(here: Path) -> None:
    """Functions that call each other twice, values in the other order, guards that name the parameter before: each of a few
    kilobytes, with an answer, or with a finding at a line."""
    for count in (40, 400):
        chain = "".join(f"let a{k} = a{k + 1} + 1\n" for k in range(count)) + f"let a{count} = 1\n"
        twice = "def d0(n: int): int = n\n"
        twice += "".join(f"def d{k}(n: int): int = d{k - 1}(n) + d{k - 1}(n)\n" for k in range(1, count))
        guards = "param p0: int = 1\n" + "".join(f"param p{k}: int = 1 where p{k} >= p{k - 1}\n" for k in range(1, count))
        for text, size in ((chain, "a0 % 2 + 1"), (twice, f"d{count - 1}(1) % 2 + 1"), (guards, f"p{count - 1}")):
            design = f"{text}fabric f {{\n  host n[{size}]: DGX_H100\n  switch leaf: QM9700\n  connect n[i] to leaf\n}}\n"
            write(here, design, "small_text.fab")
            done = tdsl("check", "small_text.fab")
            if text is not guards and count == 400:
                assert done.exit_code == 1 and "E0116" in done.stdout and "write such a chain" in done.stdout
            else:
                assert done.exit_code == 0, done.output


# ------------------------------------------------------------ texts


def test_no_cell_is_a_formula() -> None:
    texts = [f"{sign}1+1" for sign in "=+-@＝＋－＠\t\r\n"]
    out = io.StringIO()
    csv.writer(out).writerow(map(spreadsheet_cell, texts))
    assert list(csv.reader(io.StringIO(out.getvalue(), newline=""))) == [[f"'{text}" for text in texts]]


def test_lines_of_reports_stay_lines(here: Path) -> None:
    """Characters of the name of a file that steer are shown. No line is a command of GitHub Actions."""
    name = "a\r::error file=x::y\x1b[2J\u202e.fab"
    write(here, SMALL.replace("QM9700", "QM97"), name)
    for form in ("concise", "github"):
        lines = tdsl("check", name, "--output-format", form).stdout.splitlines()
        assert len(lines) == 2 and not any(line.startswith("::error file=x") for line in lines)
        assert all(c.isprintable() for line in lines for c in line)
    long = f"{'a' * 60} ::WORD::lib/m.json{{i}}"  # the name of a device that is broken into lines
    for word in ("add-mask", "add-matcher", "ADD-MASK", "error", "stop-commands"):
        write(
            here, SMALL.replace("  require", f'  naming leaf[i] "{long}"\n  require'.replace("WORD", word), 1), f"::{word}::x.fab"
        )
        for form in ("full", "concise"):
            done = tdsl("check", f"::{word}::x.fab", "--output-format", form, "--select", "port_budget")
            assert done.exit_code in (0, 1) and not re.search(rf"(?m)^\s*::{word}", done.output), done.output


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab", "junit"])
@pytest.mark.parametrize("name", ["a\x1b[2J\u202e\r]]>.fab", os.fsdecode(b"caf\xe9.fab")])
def test_reports_are_read_whatever_files_are_called(form: str, name: str, here: Path) -> None:
    """By the parser of each form; a report that is not read hides every finding in it. One name is no UTF-8."""
    write(Path(), SMALL.replace("QM9700", "QM97"), name)
    done = tdsl("check", name, "--output-format", form, "-o", "report")
    assert done.exit_code == 1, done.output
    text = Path("report").read_bytes().decode()
    assert "E0102" in text
    ElementTree.fromstring(text) if form == "junit" else json.loads(text)


def test_a_project_that_cannot_be_written_leaves_nothing(tmp_path: Path, forked: Path) -> None:
    """A file of nothing would be taken for a design by the next call."""
    for words in ("init a --bare", "new target t"):
        done = shell(tmp_path, f"ulimit -f 0; tdsl {words}", forked)
        assert done.returncode == 2 and "File too large" in done.stderr and not list(tmp_path.iterdir()), done


def test_what_cannot_be_opened_is_not_said_to_differ(tmp_path: Path) -> None:
    assert tdsl("build", write(tmp_path), "--out", tmp_path / "out", "--target", "slurm").exit_code == 0
    ended = [shell(tmp_path, f"ulimit -n {most}; exec {sys.executable} -m tdsl verify out") for most in (7, 9, 11)]
    assert {done.returncode for done in ended} == {0, 2}, ended
    assert all("oo many open files" in done.stderr for done in ended if done.returncode)


# ------------------------------------------------------------ the language server


def test_the_language_server_answers_whatever_is_open(tmp_path: Path) -> None:
    """A text of 4 MB: it is left to `check`, and requests and the end are answered at once."""
    from lsprotocol import types as lsp

    from tests.lsp.test_server import EVERYWHERE, Client, talk

    took: list[float] = []

    async def conversation(client: Client) -> None:
        begin = time.monotonic()
        client.write("big.fab", SMALL + "# " + "x = [" * 800_000)
        client.write("small.fab", SMALL)
        client.open(client.uri("a") + "%00b.fab", SMALL)  # no path: later requests resolve every open one
        hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(client.document("big.fab"), EVERYWHERE))
        assert not hints
        told = await asyncio.wait_for(client.news.get(), 20)
        assert "is larger than 400,000 characters" in told.diagnostics[0].message or told.uri != client.uri("big.fab")
        took.append(time.monotonic() - begin)

    begin = time.monotonic()
    talk(tmp_path, conversation)
    assert took[0] < 30 and time.monotonic() - begin < 100
