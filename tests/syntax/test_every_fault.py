"""What is said of a statement with a word too few, too many or another one, and how texts are laid out and written: whole
answers, as goldens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax import tree, writer
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.parser import context_before_offset, keyword_offsets, parse_source_file
from tdsl.syntax.printer import equal_apart_from_spans, format_source
from tdsl.syntax.scanner import Token
from tests.conftest import Golden
from tests.syntax.programs import ALL
from tests.syntax.shown import show
from tests.syntax.test_recovery import FAULTS

TEXTS = {
    **ALL,
    "more": """\
use a.b.c (X, Y as Z,)
let net = 10.0.0.0/24
let six = fd00:1::/64
let cost = $2.5k + $3 - $1_000.25M
let many = [k * 2 for k in 0..3][1] ** 2 // 3 % 2 - -1
let yes = not (a and b or c) == true != false
let pick = if_a if x in 1..4 else y[1][2].z(3, n)
let pair = (1, 2, (3,))
let half: fraction = 50%
def f(): int = 0x1f
def g(a: ports, b: pattern = spread, c: table = [1, 2],): text = "{a:02}{{b}} {f(1)}"
topology t(ends: ports) {
  tier low of ? hosts by plane { switch SW x 2; oversubscription about 2:1 }
  tier high of 4 low { switch OTHER }
  if ends > 1 { connect ends to low each } else { connect ends to low }
}
cluster c {
  fabric one "One" { site far { host h[1..4, 2 of 3]: M { role storage; nos eos } } }
}
fabric f {
  connect a, b[0..1].p[*] to c any shift 2 degree 3 seed 1 where x > 1 { bundle 2; colour "red {i}" }
  circuit a to b uneven via panel[i] where i in [1, 2]
  place a.b in h1.A[1] front right at 3U
  place a[*] in h1.B[1] from 2U { depth 1m }
  override a.b[2] { cable_id "x" }
  report throughput uniform of a, b to c at d under load through scaleout any 2 links >= 40Gbps of active
  require survives any 1 of all spine with bisection >= 50% of intact
  partition blue 0x0001 { full a.b; limited c }
  phase 2 { units 4; needed "2027-01-01" }
  minimize cost; layer scaleup
}
model cable D "3 m" { rate 100Gbps, 400Gbps; reach 3m; price $12.50 }
model H_1 { port p: any }
""",
}
REPLACED = (
    "(",
    "]",
    "{",
    "}",
    "=",
    ":",
    ",",
    ".",
    "12",
    "word",
    '"s"',
    "->",
    "==",
    "%",
    ";",
    "400 Gbps",
    "1:2",
    "'x'",
    "é",
    "//",
)


def findings(text: str) -> str:
    """What is found in a text, on one line."""
    found = Diagnostics()
    parse_source_file(SourceFile("a.fab", text), found)
    out = []
    for d in found:
        assert d.span is not None
        fix = f" fix {[(at.start, at.end, new) for at, new in d.fix.edits]} {d.fix.safe}" if d.fix is not None else ""
        labels = "".join(f" at {n.span.start} {n.message}" for n in d.labels)
        notes = "".join(f" note {n}" for n in d.notes)
        out.append(f"{d.code} {d.span.start}-{d.span.end} {d.message}{labels}{notes} help {d.help}{fix}")
    return " | ".join(out)


def tokens(text: str) -> list[Token]:
    return [t for t in load_grammar_tables().scanner.scan(SourceFile("a.fab", text)) if not t.newline]


def statements(text: str) -> Iterator[str]:
    """The lines of a text that are statements by themselves."""
    for line in text.splitlines():
        line = line.strip()
        if line and not line.startswith(("#", "}")) and not findings(line):
            yield line


def changed(line: str, turn: int) -> Iterator[tuple[str, str]]:
    """A line without each of its words, and with each twice or another in its place."""
    found = tokens(line)
    for n, t in enumerate(found):
        yield f"- {t.text}", line[: t.start] + line[t.end :]
        if (n + turn) % 3 == 0:
            yield f"2 {t.text}", line[: t.end] + " " + line[t.start :]
        new = REPLACED[(n * 7 + turn) % len(REPLACED)]
        yield f"{t.text} is {new}", line[: t.start] + new + line[t.end :]


@pytest.mark.parametrize("name", TEXTS)
def test_faults_of_statements(name: str, golden: Golden) -> None:
    out = []
    for turn, line in enumerate(statements(TEXTS[name])):
        out.append(line)
        for what, text in changed(line, turn):
            told = findings(f"fabric f {{ {text}\n}}\n" if turn % 2 else text)
            if told:
                out.append(f"  {what}: {told}")
    golden(f"syntax/faults/{name}.txt", "\n".join(out) + "\n")


SLIPS = (
    "let a = .5", "let a = 5.", "let a = 1...3", "connect a to b each 2", "connect a to b pairs 3 x 2", "connect a to b 4",
    "connect a to b x", "switch s[4, 5.]: S", "let a = 1 . 5", "host h: M { role storage nos eos }", "param n 4",
    "let x = a ? b : c", "let x = a and", "for i in range(8) { }", "if a then b", "switch s[8] : [M]", "require a >= 100 %",
    "fabric f:\n  host h: M\n  if a:\n    switch s: S\n", "fabric f:\n    host h: M\n  switch s: S\n", "/* a\nb */ let c = 1",
    "group g[2]\n{\n  host h: M\n}\n", "model switch S {\n  port p[1..2]: 400Gbps {\n    type NDR\n}\n",
    "let a = [1, 2\nlet b = 3\n",
    "a: 1\nb: 2\n", '{"a": 1}', "<a/>", "[a]\nb = 1\n", "---\n- a\n", "resource a {\n}\n", "class A:\n  pass\n",
)  # fmt: skip


def test_faults_of_blocks(golden: Golden) -> None:
    """Texts of several lines without a brace, or with one too many; and lines that a newcomer writes."""
    out = []
    for name in ("pod", "models"):
        text = TEXTS[name]
        for t in tokens(text):
            if t.text in "{}":
                out.append(f"{name} without {t.text} at {t.start}: {findings(text[: t.start] + text[t.end :])}")
                out.append(f"{name} twice {t.text} at {t.start}: {findings(text[: t.end] + t.text + text[t.end :])}")
    out += [f"{text!r}: {findings(text)}" for text in SLIPS]
    out += [f"{fault[0]!r}: {findings(fault[0])}" for fault in FAULTS]
    out += [f"in a block {fault[0]!r}: {findings(f'fabric f {{{chr(10)}  {fault[0]}{chr(10)}}}')}" for fault in FAULTS]
    golden("syntax/faults/blocks.txt", "\n".join(out) + "\n")


@pytest.mark.parametrize("name", TEXTS)
def test_layout(name: str, golden: Golden) -> None:
    """A text whose blanks, line ends and comments are others, as it is laid out, and as a program writes its tree."""
    text = TEXTS[name]
    random = Random(5)
    loose = re.sub(r"(?<=[\w\])}\"]) (?=[\w\[({\"=])", lambda _: " " * random.choice((1, 1, 3)), text)
    loose = re.sub(r"\n", lambda _: random.choice(("\n", "\n", "  \n", "\n\n\n", "   # said\n", "\n# alone\n\n")), loose)
    loose = re.sub(r"(?m)^ +", lambda m: m[0] * random.choice((0, 1, 3)), loose)
    loose = re.sub(r"; ", lambda _: random.choice((";", " ; ", "\n")), loose)
    laid = format_source(SourceFile("a.fab", loose))
    assert format_source(SourceFile("a.fab", laid)) == laid
    module = parse_source_file(SourceFile("a.fab", text), Diagnostics())
    out = [laid, "---- written"]
    inner = [x for s in module.body if isinstance(s, tree.ModelDecl | tree.TopologyDecl) for x in s.body]
    for s in (*module.body, *inner):
        again = writer.statement_text(s)
        out.append(again)
        back = parse_source_file(SourceFile("b.fab", again), Diagnostics()).body
        out.append(f"# {'same' if equal_apart_from_spans((s,), back) else 'another'} {show(s)}")
    golden(f"syntax/layout/{name}.txt", "\n".join(out) + "\n")


def test_what_may_follow(golden: Golden) -> None:
    """The words that the grammar takes at every other word of a text, and what stands before."""
    text = TEXTS["more"]
    file = SourceFile("a.fab", text)
    keywords = keyword_offsets(file)
    out = []
    for t in tokens(text)[::2]:
        at = context_before_offset(file, t.start)
        heads = " ".join(h[0].text if h else "-" for h in at.heads)
        told = [heads, " ".join(x.text for x in at.statement), " ".join(sorted(at.words)), " ".join(sorted(at.terminals))]
        out.append(f"{t.start} {t.text}{' word' * (t.start in keywords)}: {' / '.join(told)}")
    golden("syntax/following.txt", "\n".join(out) + "\n")


def test_expressions_as_text() -> None:
    texts = (
        "1", "0x1f", "1.5", "2_000", "50%", "$12.50", "$3", "400Gbps", "1.5m", "3:1", "4x4x8", "10.0.0.0/24", "?", "-1", "not a",
        '"a {b:02} {{c}}"', "a[1, 2..3, *].b(c)", "[1, 2]", "[k for k in 1..3]", "(1, 2)", "(1 + 2) * 3", "a if b else c",
        "a in 1..2", "[1][0]", "a < b", "2 ** 3 // 2 % 5",
    )  # fmt: skip
    for text in texts:
        (s,) = parse_source_file(SourceFile("a.fab", f"let a = {text}\n"), Diagnostics()).body
        assert isinstance(s, tree.Let)
        again = writer.expression_text(s.value)
        (back,) = parse_source_file(SourceFile("a.fab", f"let a = {again}\n"), Diagnostics()).body
        assert equal_apart_from_spans((s,), (back,)), (text, again)
        if text not in ("0x1f", "2_000", "50%", "$12.50", "1.5", "1.5m"):
            assert again.replace("(", "").replace(")", "") == text.replace("(", "").replace(")", ""), text
