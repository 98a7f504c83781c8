"""The grammar for tree-sitter before fab.lark's: what each takes, the tokens, the words, the statements; and its queries."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax import grammar, keywords, parser, tree
from tdsl.syntax.strings import parse_string_token as strings_of
from tests.conftest import need_program
from tests.syntax.shown import ALL, read
from tests.syntax.test_properties import EDITED, SOUP, programs

tree_sitter = pytest.importorskip("tree_sitter")

ROOT = Path(__file__).parents[2]
HOME = ROOT / "grammar" / "tree-sitter"
STDLIB = sorted((ROOT / "stdlib").rglob("*.fab"))
TESTS = sorted((ROOT / "tests").rglob("*.fab"))
QUERIES = sorted(HOME.glob("queries/*.scm")) + sorted(HOME.glob("helix/*.scm"))
BESIDE = {"E0008", "E0009", "E0010", "E0013", "E0017"}
"""What tdsl refuses and the grammar does not: placeholders in strings, depth, files of nothing, `[1:16]` for a range, tables."""
LEAVES = {
    "NET": "address", "DIMS": "dimensions", "RATIO": "ratio", "MONEY": "money", "QUANTITY": "quantity", "PERCENT": "percent",
    "NUMBER": "number", "STRING": "string", "CMP": "comparator", "COMMENT": "comment", "QMARK": "hole",
}  # fmt: skip
NAMES = {"name", "manner", "kind"}
STATEMENTS = {
    tree.Use: "use", tree.Param: "param", tree.Let: "let", tree.Def: "def", tree.Decl: "declaration", tree.ModelDecl: "model",
    tree.TopologyDecl: "topology", tree.JobDecl: "job", tree.Connect: "connect", tree.Omit: "omit", tree.Naming: "naming",
    tree.Extend: "extend",
    tree.Override: "override", tree.PlaceStmt: "place", tree.Require: "require", tree.PhaseBlock: "phase", tree.If: "if",
    tree.For: "for", tree.TierDecl: "tier", tree.Setting: "setting",
}  # fmt: skip


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The parser, compiled and loaded."""
    out = tmp_path_factory.mktemp("tree-sitter") / "fab.so"
    sources = [str(HOME / "src" / name) for name in ("parser.c", "scanner.c")]
    command = [need_program("cc", "gcc"), "-shared", "-fPIC", "-I", str(HOME / "src"), *sources, "-o", str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    function = ctypes.CDLL(str(out)).tree_sitter_fab
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return tree_sitter.Language(capsule(function(), b"tree_sitter.Language", None))


def parse(language: Any, text: str) -> Any:
    return tree_sitter.Parser(language).parse(text.encode()).root_node


def walk(node: Any, whole: tuple[str, ...] = ()) -> Iterator[Any]:
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        if node.type not in whole:
            todo.extend(reversed(node.children))


def leaves(node: Any, whole: tuple[str, ...] = ()) -> list[Any]:
    """What has text of its own; some kinds of nodes as they stand, whatever is in them."""
    found = [n for n in walk(node, whole) if not n.child_count or n.type in whole]
    return [n for n in found if n.end_byte > n.start_byte]


def texts(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    for path in paths:
        data = path.read_bytes()
        try:
            yield path, data.decode("utf-8")
        except UnicodeDecodeError:
            continue  # no text: neither grammar is asked


def agree(language: Any, text: str) -> bool:
    """Both take a text, or both refuse it. Says whether they take it."""
    codes = {d.code for d in read(text)[1]}
    root = parse(language, text)
    if not codes or codes - BESIDE:
        faults = [(n.start_point, n.text) for n in walk(root) if n.is_error or n.is_missing]
        assert root.has_error == bool(codes), (text, codes, faults)
    return not codes


# ---------------------------------------------------------------- one source


def test_words_are_those_of_the_grammar(language: Any) -> None:
    kinds = json.loads((HOME / "src" / "node-types.json").read_text(encoding="utf-8"))
    assert {k["type"] for k in kinds if not k["named"] and k["type"].isidentifier()} == keywords.GRAMMAR_WORDS
    assert all(language.id_for_node_kind(word, False) for word in keywords.GRAMMAR_WORDS)


def test_terminals_are_those_of_the_grammar() -> None:
    made = json.loads((HOME / "src" / "grammar.json").read_text(encoding="utf-8"))
    patterns = {p["value"] for p in (*made["rules"].values(), *made["extras"]) if p["type"] == "PATTERN"}
    wanted = json.loads((HOME / "words.json").read_text(encoding="utf-8"))["terminals"].values()
    assert {unescaped(p) for p in patterns} == {unescaped(w) for w in wanted}


def unescaped(regex: str) -> str:
    """An expression without what JavaScript escapes in it."""
    for escaped, plain in (("\\/", "/"), ("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\f", "\f")):
        regex = regex.replace(escaped, plain)
    return regex


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_parser_is_made_of_this_grammar() -> None:
    script = Path(__file__).with_name("grammar_json.js")
    ran = subprocess.run(["node", str(script), str(HOME / "grammar.js")], capture_output=True, text=True, timeout=60, check=True)
    made = json.loads((HOME / "src" / "grammar.json").read_text(encoding="utf-8"))
    said = json.loads(ran.stdout)
    assert said == {key: made[key] for key in said}


# ---------------------------------------------------------------- what is taken


def test_both_take_all_as_a_word_and_as_a_name(language: Any) -> None:
    ends = ("", " b", " b, c", "[1]", ", b", " to b", " at b", " under b", " and b", " with b", " <= 4", " any 2 b", " b at c")
    assert [e for e in ends if not agree(language, f"require a of all{e}\n")] == []


def test_both_take_what_follows_the_ends_of_a_connect(language: Any) -> None:
    """``x`` with no number behind it is the name of a pattern, and takes nothing but a block."""
    ends = ("x", "x 3", "x x 3", "x shift 2", "x any", "x uneven", "x via c", "x where a == b", "x {\n}", "x * 3", "x; x 3")
    ends = (*ends, "spread any", "spread x 2 any", "spread any uneven via c", "any", "any any", "any 2")
    assert [e for e in ends if not agree(language, f"connect a to b {e}\n")] == [
        "x x 3", "x shift 2", "x via c", "x where a == b", "x * 3", "any 2"
    ]  # fmt: skip


def test_both_take_the_places_of_several_racks_and_a_block(language: Any) -> None:
    ends = ("b, c", "b, c at 2U", "b stacked from 2U {\n}", "b {\n}")
    assert [e for e in ends if not agree(language, f"place a in {e}\n")] == []


def test_both_take_every_example_of_the_docs(language: Any) -> None:
    pages = sorted((ROOT / "docs").glob("*.md"))
    blocks = [b for page in pages for b in re.findall(r"^```fab[^\n]*\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)]
    assert sum(agree(language, block) for block in blocks) > 100


def test_both_take_the_same_files(language: Any) -> None:
    taken = Counter(agree(language, text) for _, text in texts(STDLIB + TESTS))
    assert taken[True] > 200 and taken[False] > 10


@settings(max_examples=250, deadline=None)
@given(text=st.one_of(programs(), SOUP.map(" ".join), EDITED))
def test_both_take_or_refuse_any_text(language: Any, text: str) -> None:
    agree(language, text)


# ---------------------------------------------------------------- what is read


def test_both_read_the_same_tokens(language: Any) -> None:
    words = 0
    for name, text in (*texts(STDLIB), *ALL.items()):
        file = SourceFile(str(name), text)
        tokens = [t for t in grammar.load_grammar_tables().scanner.scan(file) if not t.newline]
        found = leaves(parse(language, text), whole=("string",))
        assert [n.text.decode() for n in found] == [t.text for t in tokens], name
        for leaf, token in zip(found, tokens, strict=True):
            if token.type != "NAME":
                assert leaf.type == LEAVES.get(token.type, token.text), (name, token)
                continue
            assert leaf.type in (NAMES if leaf.is_named else {token.text}), (name, token)
            words += not leaf.is_named
    assert words > 1000


def test_both_read_the_same_placeholders(language: Any) -> None:
    total = 0
    for name, text in (*texts(STDLIB), *ALL.items()):
        file = SourceFile(str(name), text)
        strings = [strings_of(t, Diagnostics()) for t in grammar.load_grammar_tables().scanner.scan(file) if t.type == "STRING"]
        spans = [p.span for s in strings for p in s.parts if isinstance(p, tree.Placeholder)]
        found = [n.text.decode() for n in walk(parse(language, text)) if n.type == "placeholder"]
        assert found == [text[s.start : s.end] for s in spans], name
        total += len(found)
    assert total > 50


def statements(node: object) -> Iterator[tuple[str, str]]:
    """Statements of tdsl's tree, each before what is in it, with the name if it has one."""
    if isinstance(node, tuple):
        for part in node:
            yield from statements(part)
    elif is_dataclass(node):
        if type(node) in STATEMENTS:
            name = getattr(node, "var", None) or getattr(node, "name", None)
            yield STATEMENTS[type(node)], name.name if name else ""
        if isinstance(node, (*STATEMENTS, tree.Module)):
            for field in fields(node):
                if field.name in ("body", "branches", "other"):
                    yield from statements(getattr(node, field.name))


def test_both_read_the_same_statements(language: Any) -> None:
    total = 0
    for name, text in (*texts(STDLIB), *ALL.items()):
        module = parser.parse_source_file(SourceFile(str(name), text), Diagnostics())
        found = []
        for node in walk(parse(language, text)):
            if node.is_named and node.type in STATEMENTS.values() and node.parent.type in ("module", "block"):
                named = node.child_by_field_name("name")
                found.append((node.type, named.text.decode() if named else ""))
        assert found == list(statements(module)), name
        total += len(found)
    assert total > 1000


# ---------------------------------------------------------------- corpus


def cases() -> dict[str, tuple[str, str]]:
    """Text and tree of each case of the corpus, in the form of `tree-sitter test`."""
    found = {}
    for path in sorted((HOME / "test" / "corpus").glob("*.txt")):
        parts = re.split(r"^=+\n(.+)\n=+\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for title, body in zip(parts[1::2], parts[2::2], strict=True):
            text, shown = re.split(r"^---+\n", body, flags=re.MULTILINE)
            found[title] = (text, " ".join(shown.split()).replace(" )", ")"))
    return found


@pytest.mark.parametrize("title", cases())
def test_corpus(language: Any, title: str) -> None:
    text, shown = cases()[title]
    assert str(parse(language, text)) == shown


def test_the_corpus_has_every_node(language: Any) -> None:
    kinds = json.loads((HOME / "src" / "node-types.json").read_text(encoding="utf-8"))
    seen = {n.type for text, _ in cases().values() for n in walk(parse(language, text)) if n.is_named}
    assert {k["type"] for k in kinds if k["named"]} <= seen


# ---------------------------------------------------------------- queries


@pytest.mark.parametrize("path", QUERIES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_queries_find_something(language: Any, path: Path) -> None:
    query = tree_sitter.Query(language, path.read_text(encoding="utf-8"))
    roots = [parse(language, text) for _, text in (*texts(STDLIB), *ALL.items())]
    found = {index for root in roots for index, _ in tree_sitter.QueryCursor(query).matches(root)}
    assert found == set(range(query.pattern_count))


@pytest.mark.parametrize("folder", ["queries", "helix"])
def test_all_but_plain_names_have_one_colour(language: Any, folder: str) -> None:
    query = tree_sitter.Query(language, (HOME / folder / "highlights.scm").read_text(encoding="utf-8"))
    for name, text in (*texts(STDLIB), *ALL.items()):
        root = parse(language, text)
        captures = tree_sitter.QueryCursor(query).captures(root).values()
        colours = Counter(leaf.id for nodes in captures for node in nodes for leaf in leaves(node))
        assert set(colours.values()) == {1}, name
        assert {leaf.type for leaf in leaves(root) if leaf.id not in colours} <= {"name"}, name
