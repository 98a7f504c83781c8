"""The invariants of docs/architecture.md: that each names tests that exist, and those that no other test holds."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdsl.cli import cli
from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.emit.build import BuildOptions, build_files
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostics
from tdsl.report.formats import report_formats
from tdsl.semantics.loader import declared_in
from tdsl.system import resources
from tdsl.verify.check import checks_by_name as checks
from tests.harness import none
from tests.sources import MODULES, PACKAGE, ROOT, SOURCES, calls, imported, name_of, parsed, text_of, with_words  # fmt: skip
from tests.test_docs import EXTEND, Block, marked
from tests.test_layers import RANK, SAME

PAGE = ROOT / "docs" / "architecture.md"
ALONE = PACKAGE / "certificates" / "checker.py"
"""A program of one file, which imports nothing of tdsl; ``tests/certificates/test_checked_designs.py`` limits its length."""
SMALL = "fabric f {\n  host node[2]: DGX_H100\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n}\n"


# ---------------------------------------------------------------- the page


def invariants() -> list[tuple[int, str]]:
    """Number and text of every invariant."""
    text = PAGE.read_text(encoding="utf-8")
    return [
        (int(n), body) for n, body in re.findall(r"^\*\*I(\d+)\.(.*?)(?=^\*\*I\d+\.|^## |\Z)", text, re.MULTILINE | re.DOTALL)
    ]


def test_invariants_are_numbered_and_held() -> None:
    found = invariants()
    assert [n for n, _ in found] == list(range(1, len(found) + 1)) and len(found) > 20
    for number, text in found:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text)
        assert named, f"I{number} names no test"
        assert text.count("::") == len(named), f"I{number}: a test is written otherwise than `tests/….py::test_…`"
        for path, name in named:
            assert (ROOT / path).is_file(), f"I{number}: there is no {path}"
            tests = {x.name for x in ast.walk(parsed(ROOT / path)) if isinstance(x, ast.FunctionDef)}
            assert name in tests, f"I{number}: {path} has no {name}"


def test_the_rooms_of_the_page_are_those_of_the_house() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w./]+)` \|", text, re.MULTILINE)
    named = {w.rstrip("/") for w in rows}
    there = {p.name for p in PACKAGE.iterdir() if not p.name.startswith("__") and (p.suffix == ".py" or p.is_dir())}
    assert named == {n for n in there if not n.endswith(".pyc")} - {"_data", "py.typed"}
    assert [rank_of_row(row) for row in rows] == sorted(rank_of_row(row) for row in rows), "the order of imports"


def rank_of_row(room: str) -> int:
    """The line of ORDER that has a room of the table."""
    name = room.rstrip("/").removesuffix(".py")
    return RANK[SAME.get(name, name)]


FOLDERS = ("tdsl/", "tests/", "targets/", "stdlib/", "grammar/", "scripts/", "docs/")
FORMED = re.compile(r"NAME|MODEL|VENDOR|WHY|COMMAND|CODE|_data|[<*…]")
"""What a path has in the place of a name that a reader gives."""


def missing_names(page: Path) -> Iterator[str]:
    """Paths, modules with what they define, and tests that a page has in backticks and that do not exist."""
    for quoted in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        path, _, test = quoted.partition("::")
        if path.startswith(FOLDERS) and not FORMED.search(path):
            there = ROOT / path
            known = there.exists() and (not test or re.search(rf"^def {test}\(", there.read_text(encoding="utf-8"), re.MULTILINE))
        elif (named := re.fullmatch(r"(\w+)\.(?!json\b)(\w+)(?:\.(\w+))?", quoted)) and (PACKAGE / named[1]).is_dir():
            module = PACKAGE / named[1] / f"{named[2]}.py"
            defined = rf"^(def |class )?{named[3]}\b" if named[3] else ""
            known = module.is_file() and re.search(defined, module.read_text(encoding="utf-8"), re.MULTILINE)
        else:
            known = True
        if not known:
            yield f"{page.name}: {quoted}"


def test_names_of_the_pages_for_contributors_exist() -> None:
    """Files, modules with what they define, tests, and commands of `make`."""
    guide = ROOT / "CONTRIBUTING.md"
    none([fault for page in (PAGE, guide) for fault in missing_names(page)])
    text = guide.read_text(encoding="utf-8")
    none(f"make {name}" for name in re.findall(r"`make ([\w-]+)", text) if f"\n{name}:" not in (ROOT / "Makefile").read_text())
    classes = re.findall(r"`([A-Z]\w+[a-z])`", text.partition("## Words of the code")[2].partition("## ")[0])
    sources = "\n".join(map(text_of, MODULES))
    none(f"class {name}" for name in classes if not re.search(rf"^class {name}\b", sources, re.MULTILINE))


def test_free_codes_are_those_of_no_page_and_no_check() -> None:
    """What `make codes` lists, family by family: each code in use is of one of its families."""
    call = [sys.executable, str(ROOT / "scripts" / "free-codes")]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    used = {p.code for p in catalogue.finding_pages()} | {c.code for c in checks().values()}
    free = {
        f"E{n:04}"
        for first, last in re.findall(r"E(\d{4})(?:-E(\d{4}))?", done.stdout)
        for n in range(int(first), int(last or first) + 1)
    }
    assert len(free) > 100 and not used & free
    assert {code[:3] for code in used} == set(re.findall(r"^(E\d\d) ", done.stdout, re.MULTILINE))
    reader, writer = os.pipe()
    os.close(reader)  # as `head` leaves it
    cut = subprocess.run(call, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (cut.returncode, cut.stderr) == (-signal.SIGPIPE, b"")


# ---------------------------------------------------------------- stages


def test_only_commands_print() -> None:
    banned = ("print", "input", "click.echo", "sys.stdout", "sys.stderr", "sys.exit")
    free = ("cli.py", "system/standard_output.py", "commands/")
    others = [p for p in SOURCES if p != ALONE and not name_of(p).startswith(free)]
    others = with_words(others, "print|input|click|sys")
    none([f"{path}:{line}: {name}" for path in others for name, line in calls(path) if name in banned])


WRITES = "write_text|write_bytes|mkdir|rename|unlink|rmtree|symlink_to|touch|copy2|mkstemp|fsync"
WRITERS = (
    "output/write.py",
    "output/folder_lock.py",
    "output/folders.py",
    "output/signature.py",  # a temporary file, since `ssh-keygen` reads signatures from files only
    "system/cache.py",
    "system/replace.py",
    "system/scratch.py",
    "commands/init.py",
    "commands/new.py",
)


def test_only_a_few_files_write_files() -> None:
    others = with_words([p for p in SOURCES if name_of(p) not in WRITERS], WRITES)
    none(f"{path}:{line}: {name}" for path in others for name, line in calls(path) if re.search(rf"\.({WRITES})$", name))


RUNNERS = {
    "changes/revision.py": {"subprocess"},  # `git`, which `tdsl diff` asks for a revision
    "output/signature.py": {"subprocess"},  # `ssh-keygen`, where `--sign` or `--signers` asks for a signature
    "ide/worker.py": {"multiprocessing"},  # proofs that an editor can give up
    "commands/_beside.py": {"multiprocessing"},  # calls of an assistant that take too long
    "system/workers.py": {"multiprocessing", "pickle"},  # combinations of parameters on all cores, and their results
    "lsp/handlers.py": {"asyncio"},  # it hands each to a thread
    "lsp/server.py": {"asyncio"},  # requests of an editor come while others are answered
}


def test_nothing_is_fetched_or_run() -> None:
    """Except what ``RUNNERS`` lists."""
    banned = {"subprocess", "socket", "ssl", "http", "urllib", "ftplib", "asyncio", "multiprocessing", "pickle"}
    found = {path: (imported(path) - RUNNERS.get(name_of(path), set())) & banned for path in SOURCES}
    none([f"{path} imports {name}" for path, names in found.items() for name in sorted(names)])


def test_one_module_of_the_engine_imports_the_solver() -> None:
    """What a linear program says in floats is a proposal; `verify/second` asks the solver by itself."""
    found = {name_of(path) for path in SOURCES if "highspy" in imported(path)}
    assert {x for x in found if not x.startswith("verify/second/")} == {"prove/linear.py"}


NUMBERS = {
    "infinity and no value": "FAR NEVER NONE NOTHING SHORT SOURCE",
    "precision: denominators and roundings": "BITS FILL FINE LONGEST MARGINS MOST PARTS SAME SMALL STEPS TOWARDS WHOLE WHOLES",
    "columns at a time, which bound memory": "AT_ONCE CELLS CHUNK _CHUNK FARTHEST GATHERED SLOT",
    "how prices of links grow with their load": "STEEP",
    "which quantile is given, and how surely": "SHARE SURE",
    "which of two searches has its answer first": "LARGE",
    "units and formats": "BYTES DIGITS METRE SECOND SECONDS",
    "what trials cost and which are made first": "BASES COUNT PROOF TRIAL",
}
"""Constants of prove/ and sizing/ that are no limits of work. Limits are fields of a budget."""


def test_limits_of_the_engine_are_fields_of_a_budget() -> None:
    """A search is ended by `prove.budget.Budget` or `sizing.budget.SizingBudget`, which callers pass and options scale."""
    known = {word for words in NUMBERS.values() for word in words.split()}
    strange = []
    for path in SOURCES:
        if not name_of(path).startswith(("prove/", "sizing/")):
            continue
        for node in parsed(path).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
            if isinstance(target, ast.Name) and target.id.isupper() and target.id not in known:
                numbers = [x for x in ast.walk(node) if isinstance(x, ast.Constant) and type(x.value) in (int, float)]
                strange += [f"{path}:{node.lineno}: {target.id}"] if numbers else []
    none(strange)


CLOCKS = "now|today|time|time_ns|localtime|gmtime|gethostname|getlogin"


def nondeterministic(path: Path) -> Iterator[str]:
    """Uses of a clock, of chance or of the machine's name, as text."""
    yield from (f"{path} imports {name}" for name in imported(path) & {"random", "secrets", "uuid", "locale", "getpass"})
    timed = name_of(path).startswith(("compile/compiler", "answers", "commands/"))
    for name, line in calls(path):
        chance = "np.random" in name and name != "np.random" and not name.startswith("np.random.PCG64")
        clock = name.startswith("time.") and not (timed and name in ("time.perf_counter", "time.process_time"))
        dated = name_of(path) == "commands/_today.py" and name == "datetime.now"  # the day, by which waivers end
        if chance or clock or (re.search(rf"\.({CLOCKS})$", name) and not dated):
            yield f"{path}:{line}: {name}"


def test_no_clock_and_no_chance() -> None:
    """Except what a call took, which is printed or bounds a stranger's work, and the day by which `check` and `audit` judge end
    dates; neither is written to a file that is built."""
    chosen = with_words(SOURCES, rf"random|secrets|uuid|locale|getpass|time\.\w+|\w*\.(?:{CLOCKS})")
    none(fault for path in chosen for fault in nondeterministic(path))


PLAIN = (
    "tdsl.findings.source", "tdsl.syntax.tree", "tdsl.semantics.values", "tdsl.semantics.quantity", "tdsl.fabric.claims",
    "tdsl.emit.records", "tdsl.emit.target",
)  # fmt: skip


def test_what_crosses_a_border_is_frozen() -> None:
    made = [(name, x) for name in PLAIN for x in vars(import_module(name)).values() if isinstance(x, type)]
    own = [(name, x) for name, x in made if x.__module__ == name and dataclasses.is_dataclass(x)]
    none([f"{name}.{x.__name__}" for name, x in own if x.__setattr__ is object.__setattr__])


BITS = ("", "\n", "\0", "fabric g {", *re.findall(r"\S+", '{ } ( ] [*] [?] .. 7:1 3m " ; where to x % 1e9 ∞'))
TEXTS = [b.text for b in (*marked("fab", "check"), *marked("fab", "fails"))]


@given(st.data())
@settings(max_examples=100, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_text_makes_the_compiler_raise(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Examples of the documentation with words taken out, put in and exchanged: findings, never an exception."""
    words = re.findall(r"\s+|\w+|.", data.draw(st.sampled_from(TEXTS)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(words) - 1))
        words[at] = data.draw(st.one_of(st.sampled_from(BITS), st.sampled_from(words)))
    path = tmp_path_factory.mktemp("text") / "design.fab"
    path.write_text("".join(words), encoding="utf-8")
    limits = Request(max_devices=1 << 16, max_links=1 << 18)
    result = compiler.compile_and_verify(str(path), limits)
    for d in result.findings:
        assert d.span is None or 0 <= d.span.start <= d.span.end <= len(d.span.file.text)
        assert catalogue.page_of_code(d.code) is not None


# ---------------------------------------------------------------- one file


def test_a_command_is_one_file() -> None:
    folder = PACKAGE / "commands"
    names = sorted(p.stem.rstrip("_").replace("_", "-") for p in folder.glob("[a-z]*.py"))
    assert cli.list_commands(None) == names  # type: ignore[arg-type,attr-defined]
    assert [cli.get_command(None, n).name for n in names] == names  # type: ignore[arg-type,union-attr]


def test_a_format_is_one_file() -> None:
    modules = [p for p in (PACKAGE / "report").glob("*.py") if re.search(r"^FORMAT = ", p.read_text(), re.MULTILINE)]
    assert len(modules) == len(report_formats()) > 2


def page(*info: str) -> Block:
    (found,) = (b for b in marked(*info) if b.path == EXTEND)
    return found


def test_a_check_is_one_file(tmp_path: Path) -> None:
    """The check of docs/extend.md, in a folder of its own: found, run by a claim, explained."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "spare_ports.py").write_text(page("python", "check").text)
    (tmp_path / "design.fab").write_text(SMALL.replace("\n}", "\n  require spare_ports >= 60\n  require spare_ports >= 64\n}"))
    script = """
        import json, tdsl.verify.checks
        tdsl.verify.checks.__path__.append("more")
        from tdsl.explain import catalogue; from tdsl.compile import compiler
        result = compiler.compile_and_verify("design.fab")
        asked = [(r.check, r.status, r.text) for r in result.designs[0].results if r.requirement]
        print(json.dumps([asked, [d.code for d in result.findings], catalogue.find_page("spare_ports").title]))
    """
    line = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    results = [["spare_ports", status, "63 at leaf0"] for status in ("proved", "refuted")]
    assert json.loads(done.stdout) == [results, ["E0499"], "Too few free ports"]


def test_a_target_is_one_folder(tmp_path: Path) -> None:
    """The target of docs/extend.md."""
    (tmp_path / "inventory" / "templates").mkdir(parents=True)
    (tmp_path / "inventory" / "target.toml").write_text(page("toml", "target").text)
    (tmp_path / "inventory" / "templates" / "devices.txt.j2").write_text(page("jinja", "target").text)
    (tmp_path / "design.fab").write_text(SMALL)
    fabric = compiler.compile_without_checks(str(tmp_path / "design.fab")).designs[0].fabric
    assert fabric is not None
    found = Diagnostics()
    made = build_files(fabric, ["inventory"], found, BuildOptions((tmp_path,)))
    assert not found.items
    assert made["inventory/devices.txt"].decode().splitlines()[:3] == ["node0 DGX_H100", "node1 DGX_H100", "leaf0 QM9700"]


JUDGE = re.compile(r"\b(Judges? in the tests|No judge): .{20}", re.DOTALL)


def test_every_target_has_a_readme_a_golden_and_a_judge() -> None:
    """The README names who judges the files in the tests, or says `No judge:` and why none exists."""
    tests = {p.stem for room in ("targets", "physical") for p in (ROOT / "tests" / room).glob("test_*.py")}
    goldens = {p.stem for p in (ROOT / "tests" / "goldens" / "targets").glob("*/*.txt")}
    missing = []
    for folder in sorted(p for p in (ROOT / "targets").iterdir() if p.is_dir()):
        name, readme = folder.name, folder / "README.md"
        text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
        says = "its files, who reads them, and `Judge in the tests: …`, or `No judge: …` with the reason"
        missing += [f"{name}: targets/{name}/README.md says {says}"] * (not JUDGE.search(text))
        missing += [f"{name}: write tests/targets/test_{name}.py, in which who reads such files judges them"] * (
            f"test_{name}" not in tests
        )
        missing += [f"{name}: there is no golden: run `make golden FOR=targets/{name}` and read it"] * (name not in goldens)
    none(missing)


def test_a_switch_is_one_file(tmp_path: Path) -> None:
    """The switch of docs/extend.md, in a folder given by ``--path``."""
    block = next(b for b in marked("fab", "file") if b.path == EXTEND)
    path = tmp_path / "library" / block.info[2]
    path.parent.mkdir(parents=True)
    path.write_text(block.text)
    (tmp_path / "design.fab").write_text(
        "use acme.edge32 (EDGE32)\nfabric f {\n  switch leaf[4]: EDGE32\n  connect leaf[*] each\n}\n"
    )
    result = compiler.compile_and_verify(str(tmp_path / "design.fab"), Request(paths=(tmp_path / "library",)))
    assert result.findings == []
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.port_system(0) == "Ethernet0" and fabric.link_count == 6


# ---------------------------------------------------------------- names


def words_of(path: Path) -> Iterator[tuple[str, int]]:
    """Identifiers, and strings that are no docstrings."""
    documentation: set[int] = set()
    for node in ast.walk(parsed(path)):  # what contains a docstring comes before it
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            if node.body and isinstance(node.body[0], ast.Expr):
                documentation.add(id(node.body[0].value))
            if not isinstance(node, ast.Module):
                yield node.name, node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value, node.lineno
        elif isinstance(node, ast.Name):
            yield node.id, node.lineno


TOPOLOGIES = ("superpod", "clos", "dragonfly", "fat_tree", "fattree", "slim_fly", "hyperx", "jellyfish", "rail_only", "spineless")
LISTS = ("syntax/keywords.py", "observe/readers/ufm.py")
"""The list of words, and the reader of a program that has the name of the appliance it runs on."""


def known_models() -> list[str]:
    return [n for p in (resources.packaged_folder("stdlib") / "hardware").rglob("*.fab") for n in declared_in(p)]


def test_no_topology_and_no_model_is_named() -> None:
    """Except in commands, whose examples name designs of the standard library."""
    names = "|".join((*TOPOLOGIES, *known_models())).lower()
    pattern = re.compile(rf"(?<![a-z])(?:{names})(?![a-z])")  # in small letters: four times as fast as in any case
    paths = [p for p in MODULES if "commands" not in p.parts and name_of(p) not in LISTS]
    named = [path for path in paths if pattern.search(text_of(path).lower())]  # in its words, or in its documentation
    words = ((path, line, pattern.search(text.lower())) for path in named for text, line in words_of(path))
    none([f"{path}:{line}: {found[0]}" for path, line, found in words if found])


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    used = {code for path in SOURCES for code in re.findall(r"""["'](E\d{4})["']""", text_of(path))}
    pages = {p.code for p in catalogue.finding_pages()}
    of_checks = {c.code for c in checks().values()}
    assert pages.isdisjoint(of_checks)
    assert sorted(used - pages - of_checks) == []
    assert sorted(pages - used) == []
