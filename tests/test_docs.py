"""The documentation: its examples compile, its tables are those of the code, what it pastes is what is printed."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tdsl.cli import cli
from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.emit.build import build_files
from tdsl.emit.target import targets_by_name
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.semantics import devices, models, planner, routing, settings, statements, tier_specs
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.quantity import UNIT_TABLE
from tdsl.semantics.values import TYPE_NAMES
from tdsl.syntax import keywords
from tdsl.syntax.printer import format_source
from tdsl.system import resources
from tdsl.verify.check import checks_by_name
from tests.harness import fabric_of, none, share
from tests.semantics.test_expand import hold

ROOT = Path(__file__).parent.parent
DOCS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGE = ROOT / "docs" / "language.md"
README = ROOT / "README.md"
COMMANDS = ROOT / "docs" / "commands.md"
EXTEND = ROOT / "docs" / "extend.md"
README_LINES = 120
SHARES = 2
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, its info string in words, its text."""

    path: Path
    line: int
    info: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


@cache
@cache
def blocks() -> list[Block]:
    out = []
    for path in DOCS:
        if path.name == "gallery.md":
            continue  # whole designs of the library: tests/test_gallery.py holds them
        text = path.read_text(encoding="utf-8")
        for m in FENCE.finditer(text):
            out.append(Block(path, text.count("\n", 0, m.start()) + 1, tuple(m[1].split()), m[2]))
    return out


def marked(*info: str) -> list[Block]:
    """Blocks whose info string begins so."""
    return [b for b in blocks() if b.info[: len(info)] == info]


def compiled(block: Block, folder: Path) -> compiler.Compilation:
    """A block as a file, beside the files that blocks of the same page before it are."""
    for other in marked("fab", "file"):
        if other.path == block.path and other.line < block.line:
            path = folder / other.info[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(other.text, encoding="utf-8")
    path = folder / "example.fab"
    path.write_text(block.text, encoding="utf-8")
    return compiler.compile_and_verify(str(path), Request())


@pytest.mark.parametrize("of", [6, pytest.param(1, marks=pytest.mark.daily)])
@pytest.mark.parametrize("part", range(SHARES))
def test_examples_are_checked_without_a_finding(part: int, of: int, tmp_path: Path) -> None:
    """And are the same fabrics as `fmt` and `expand` write them: one in six in each run, all in the daily one."""
    wrong, blocks = [], marked("fab", "check")
    for number, block in enumerate(share(blocks, part, SHARES)):
        folder = tmp_path / str(number)
        folder.mkdir()
        result = compiled(block, folder)
        found = [d for d in result.findings if d.severity > Severity.NOTE]
        wrong += [f"{block}: {d.code} {d.span and d.span.begin} {d.message}" for d in found]
        wrong += [f"{block}: {d.name} has no link" for d in result.designs if d.fabric is None or not d.fabric.link_count]
        if not found and number % of == 0 and "minimize" not in block.text:
            hold(folder / "example.fab", block.text, result)
    assert len(blocks) > 30
    none(wrong)


@pytest.mark.parametrize("block", marked("fab", "fails"), ids=str)
def test_an_example_fails_with_the_code_it_names(block: Block, tmp_path: Path) -> None:
    assert {d.code for d in compiled(block, tmp_path).findings if d.severity is not Severity.NOTE} == {block.info[2]}


def test_every_block_of_the_language_is_run() -> None:
    for b in blocks():
        if b.info[:1] == ("fab",):
            assert b.info[1:2] in (("check",), ("fails",), ("file",)), (
                f"{b}: mark it `fab check`, `fab fails CODE` or `fab file NAME`"
            )


def test_examples_are_laid_out_as_fmt_writes(request: pytest.FixtureRequest) -> None:
    """``--golden`` lays them out anew."""
    for block in marked("fab"):
        text = format_source(SourceFile("example.fab", block.text))
        if request.config.getoption("--golden"):
            page = block.path.read_text(encoding="utf-8")
            fence = f"```{' '.join(block.info)}\n"
            block.path.write_text(page.replace(f"{fence}{block.text}```", f"{fence}{text}```"), encoding="utf-8")
        else:
            assert text == block.text, f"{block}: run `make golden`"


# ---------------------------------------------------------------- tables of the reference


def section(title: str) -> str:
    text = LANGUAGE.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"the reference has no section {title!r}"
    return found[1]


def quoted(text: str) -> set[str]:
    """Everything in backticks."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))


def first_words(text: str) -> set[str]:
    """The first word of everything in backticks."""
    return {w[0] for q in quoted(text) if (w := re.findall(r"[A-Za-z_]\w*", q))}


def unlike(rows: Iterable[str], there: Iterable[str], table: str, made: str) -> Iterator[str]:
    """What a table of a page has too few or too many, each with what to do."""
    told, known = set(rows), set(there)
    yield from (f"{name}: name it in {table}" for name in sorted(known - told))
    yield from (f"{name}: {table} has a row, and there is no such {made}" for name in sorted(told - known))


def test_the_unit_table_is_the_compilers() -> None:
    table = re.search(r"^\| measures.*?\n\n", section("Units"), re.MULTILINE | re.DOTALL)
    assert table
    units = {q for q in quoted(table[0]) if not re.match(r"\$\d", q)}
    assert units == set(UNIT_TABLE)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Values and types", [*TYPE_NAMES, *BUILTINS, *keywords.OPERATORS, "let", "param", "def", "if", "for"]),
        ("Devices, groups and extents", [*keywords.KINDS["device"], *planner.GROUPS, *devices.ROLES, *devices.DEVICE_SETTINGS]),
        ("Patterns", list(keywords.PATTERNS)),
        ("Settings of a connect", [*statements.CONNECT_SETTINGS, *settings.MEDIA_WORDS]),
        ("Models", [*models.PORT_SETTINGS, *models.FACTS, *keywords.KINDS["part"]]),
        ("Naming, omit, override, extend", ["naming", "omit", "override", "extend"]),
        ("Requirements", [*checks_by_name()]),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_words_of_the_code_are_in_the_reference(title: str, words: list[str]) -> None:
    text = section(title)
    known = first_words(text) | {w for q in quoted(text) for w in re.findall(r"\w+", q)}
    assert sorted(set(words) - known) == []


def test_every_word_of_the_grammar_has_an_example_that_compiles() -> None:
    text = "\n".join(re.sub("#.*", "", b.text) for b in (*marked("fab", "check"), *marked("fab", "file")) if b.path == LANGUAGE)
    said = set(re.findall(r"\w+", text))
    words = {*keywords.GRAMMAR_WORDS, *keywords.PATTERNS, *settings.MEDIA_WORDS[:1], *statements.CONNECT_SETTINGS}
    words |= {*devices.DEVICE_SETTINGS, *tier_specs.TIER_SETTINGS, *routing.BGP_SETTINGS, *routing.ROCE_SETTINGS}
    assert sorted(words - said - {"under"}) == []  # `under` belongs to a metric that no check computes


def topologies() -> list[tuple[str, str, str]]:
    """The rows of the table of standard topologies: name, ends, block."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", section("Topologies"), re.MULTILINE)
    return [(name, ends, block) for name, ends, block in rows]


def test_the_table_of_topologies_is_the_library() -> None:
    files = [p.stem for p in (resources.packaged_folder("stdlib") / "topologies").glob("*.fab")]
    none(unlike((name for name, *_ in topologies()), files, "the table of docs/language.md, Topologies", "file of stdlib"))


def test_a_line_of_the_table_of_topologies_is_a_design(tmp_path: Path) -> None:
    models = next(b.text for b in marked("fab", "file") if b.info[2] == "shelf.fab")
    for name, ends, block in topologies():
        text = f"{models}\nfabric f {{\n  {ends}\n  {block}\n}}\n"
        assert fabric_of(text, tmp_path, models=False).link_count > 0 and block.split()[0] == name


def test_what_is_left_out_names_models_that_are_there() -> None:
    text = (ROOT / "docs" / "left-out.md").read_text(encoding="utf-8")
    named = {w for w in quoted(text) if re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", w)}
    library = resources.packaged_folder("stdlib")
    known = {p.stem.upper() for kind in ("hardware", "cables") for p in (library / kind).rglob("*.fab")}
    assert len(named) > 8 and named <= known, named - known


def test_the_table_of_metrics_is_the_catalogue() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", section("Requirements"), re.MULTILINE)
    none(unlike((name for name, *_ in rows), checks_by_name(), "the table of metrics of docs/language.md, Requirements", "check"))
    for name, kind, takes, alone in rows:
        check = checks_by_name()[name]
        written = {"args" if q == "argument" else q.removeprefix("of ") for q in quoted(takes)}
        assert written == set(check.takes), name
        assert ("yes or no" in kind) == (check.kind == "yes_no"), name
        alone_word = "can warn" if check.mild else "can fail a design" if check.fails_by_default else "reported"
        expected = "on demand" if check.on_demand else alone_word
        assert alone.strip() == expected, name


def run(*args: str) -> str:
    done = CliRunner().invoke(cli, list(args), prog_name="tdsl")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.output


@pytest.fixture
def pod(here: Path) -> str:
    """The design of the README, as a file of the current folder."""
    (design,) = (b for b in marked("fab", "check") if b.path == README)
    (here / "pod.fab").write_text(design.text, encoding="utf-8")
    return design.text


def shown(page: Path, kind: str, begin: str) -> str:
    """The block of a page that begins so."""
    (block,) = (b.text for b in marked(kind) if b.path == page and b.text.startswith(begin))
    return block


def timeless(text: str) -> str:
    """Output without what differs from run to run."""
    return re.sub(r"in \d+\.\d s", "in … s", text).strip()


def test_the_readme_pastes_what_a_check_prints(pod: str) -> None:
    command, _, output = shown(README, "console", "$ tdsl check").partition("\n")
    assert command == "$ tdsl check pod.fab" and timeless(output) == timeless(run("check", "pod.fab"))


def test_the_page_of_commands_pastes_a_finding_and_what_a_build_writes(here: Path, pod: str) -> None:
    """A finding of the design with half the uplinks."""
    done = CliRunner().invoke(cli, ["build", "pod.fab"], prog_name="tdsl")
    names = [re.sub(r"  \d.*", "", line) for line in done.stdout.strip().splitlines()]  # without numbers and sizes of files
    assert shown(COMMANDS, "console", "$ tdsl build").strip().splitlines()[1:] == names
    (here / "pod.fab").write_text(pod.replace("spread x 16", "spread x 8"), encoding="utf-8")
    said = run("check", "pod.fab")
    assert said[said.index("\nerror[") :].strip().partition("\n\n")[0] == shown(COMMANDS, "text", "error[").rstrip("\n")


def test_the_readme_is_short_and_has_one_picture() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) < README_LINES
    assert len(re.findall(r"!\[", text)) == 1
    assert len([b for b in marked("fab") if b.path == README]) == 1


def test_every_command_of_the_readme_runs(here: Path, pod: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of `tdsl` run here. What installs names this package and its program, `make` targets that there are."""
    text = README.read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    monkeypatch.setitem(sys.modules, "webbrowser", SimpleNamespace(open=lambda address: True))
    pasted = [c for b in marked("console") if b.path == README for c in re.findall(r"^\$ (.+)", b.text, re.M)]
    quotes = re.findall(r"`((?:tdsl|make|pip|uvx|pipx) [^`]+)`", text.replace("\n", " "))
    commands = [*(c.partition("#")[0].strip() for c in pasted), *quotes]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert f"pip install {project['name']}" in commands and sum(c.startswith("tdsl ") for c in commands) >= 4
    for command in commands:
        program, *words = command.split()
        if program == "uvx":
            assert words[0] == project["name"] in project["scripts"]
            program, *words = words
        if program == "tdsl":
            done = CliRunner().invoke(cli, words, prog_name="tdsl")
            assert done.exit_code == 0, f"{command}: {done.output}"
        elif program == "make":
            assert words[0] in targets, command
        elif program == "export":
            assert words == ['PATH="$PWD/.venv/bin:$PATH"'], command  # where `make` installs
        else:
            assert command == f"pip install {project['name']}", command
    assert (here / "out" / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("heading", "name", "known"),
    [
        ("command", r"^\| `tdsl ([\w-]+)", cli.list_commands(None)),  # type: ignore[arg-type]
        ("target", r"^\| `(\w+)`", [*targets_by_name(Diagnostics())]),
        ("what", r"`(\w+)`", [*checks_by_name()]),
    ],
    ids=["commands", "targets", "checks"],
)
def test_the_tables_of_the_page_of_commands_are_whole(heading: str, name: str, known: list[str]) -> None:
    table = re.search(rf"^\| {heading} \|.*?\n\n", COMMANDS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert table
    none(unlike(re.findall(name, table[0], re.MULTILINE), known, f"docs/commands.md, below `| {heading} |`", heading))


def test_the_pictures_are_those_of_the_diagram_target(request: pytest.FixtureRequest) -> None:
    """``docs/superpod.svg``; ``--golden`` draws it anew."""
    fabric = compiler.compile_without_checks("dgx_superpod_h100").designs[0].fabric
    assert fabric is not None
    found = Diagnostics()
    made = build_files(fabric, ["diagram"], found)["diagram/fabric.svg"]
    assert not [d for d in found if d.severity is Severity.ERROR]
    path = ROOT / "docs" / "superpod.svg"
    if request.config.getoption("--golden"):
        path.write_bytes(made)
    assert path.read_bytes() == made, "run `make golden`"


# ---------------------------------------------------------------- all pages


def unplain(path: Path) -> Iterator[str]:
    """Lines of a page that are too long (rows of tables apart) or end in blanks, and a page that does not end in one newline."""
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield f"{path.name}: it must end in one newline"
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip():
            yield f"{path.name}:{number}: blanks at the end"
        if len(line) > 130 and not line.startswith("|"):
            yield f"{path.name}:{number}: {len(line)} characters"


def test_pages_are_plain() -> None:
    none(fault for path in DOCS for fault in unplain(path))


def broken_links(path: Path) -> Iterator[str]:
    """Links of a page to a file or heading that does not exist."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            yield f"{path.name}: {target}"


def test_links_lead_somewhere() -> None:
    none(fault for path in DOCS for fault in broken_links(path))


def anchors(path: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}
