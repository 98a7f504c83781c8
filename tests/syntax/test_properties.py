"""Whatever is typed: no exception, spans inside the text, and a formatter that loses nothing."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax.keywords import GRAMMAR_WORDS
from tdsl.syntax.parser import decode_source_file, parse_expression
from tdsl.syntax.printer import equal_apart_from_spans, format_source
from tests.syntax.shown import ALL, read

PIECES = sorted(set(re.findall(r'"[^"\n]*"|\w+|[^\w\s]', "\n".join(ALL.values()))) | GRAMMAR_WORDS)
SOUP = st.lists(
    st.sampled_from([*PIECES, "\n", "\n", ";", "{", "}", "[", "]", "(", ")", "@", '"', "'", "..", "1:2"]), max_size=60
)


def edited(name: str, edits: list[tuple[int, str, int]]) -> str:
    """A program with pieces put in and cut out."""
    text = ALL[name]
    for at, piece, cut in edits:
        at %= len(text)
        text = text[:at] + piece + text[at + cut :] or " "
    return text


EDITS = st.lists(st.tuples(st.integers(0, 3000), st.sampled_from([*PIECES, "", "\n", ";"]), st.integers(0, 4)), max_size=5)
EDITED = st.builds(edited, st.sampled_from(sorted(ALL)), EDITS)
SIGNS = st.text(alphabet="{}[]()\"\n;# aif=:.,x1-*?'", max_size=60)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=120), SOUP.map(" ".join), SIGNS, EDITED))
def test_any_text(text: str) -> None:
    module, diagnostics = read(text)
    assert module.span.end == len(text)
    for d in diagnostics:
        assert d.span is not None and 0 <= d.span.start <= d.span.end <= len(text)
    assert bool(list(diagnostics)) == diagnostics.has_errors
    format_source(SourceFile("t.fab", text))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), SOUP)
def test_any_bytes_and_any_expression(data: bytes, pieces: list[str]) -> None:
    diagnostics = Diagnostics()
    file = decode_source_file(data, "t.fab", diagnostics)
    assert file is not None or diagnostics.has_errors
    diagnostics = Diagnostics()
    value = parse_expression(" ".join(pieces), "--set", diagnostics)
    assert (value is None) == diagnostics.has_errors and len(diagnostics) <= 1


# ---------------------------------------------------------------- programs, oddly spaced

names = st.sampled_from(["a", "leaf", "x", "rack", "su", "port", "of", "n2"])
gap = st.sampled_from(["", " ", "  ", "\t"])
some = st.sampled_from([" ", "  ", "\t "])
atoms = st.one_of(
    names, st.sampled_from(["1", "4x4", "7:1", "50%", "400Gbps", "$2.5M", "9.5", '"s{a + 1:02}"', "10.0.0.0/8", "a.b[*]", "f(1)"])
)


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    if not depth:
        return draw(atoms)
    g = draw(gap)
    inner = values(depth - 1)
    form = draw(st.integers(0, 7))
    if form == 0:
        return f"({g}{draw(inner)}{draw(gap)})"
    if form == 1:
        return f"[{g}{draw(inner)}{draw(gap)},{draw(gap)}{draw(inner)}]"
    if form == 2:
        op = draw(st.sampled_from(["+", "-", "*", "//", "**", "<=", "=="]))
        return f"{draw(inner)}{g}{op}{draw(gap)}{draw(inner)}"
    if form == 3:
        return f"{draw(inner)}{draw(some)}{draw(st.sampled_from(['%', 'and', 'in', 'or']))}{draw(some)}{draw(inner)}"
    if form == 4:
        return f"-{g}{draw(inner)}"
    if form == 5:
        return f"{draw(names)}[{g}{draw(inner)}{draw(st.sampled_from(['', chr(10)]))}]"
    return draw(atoms)


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> str:
    g, s = draw(gap), draw(some)
    form = draw(st.integers(0, 8))
    if form == 0:
        return f"let{s}{draw(names)}{g}={draw(gap)}{draw(values())}"
    if form == 1:
        return f"host{s}{draw(names)}[{g}3{g}]{g}:{draw(gap)}M"
    if form == 2:
        more = draw(st.sampled_from(["", "\n  # c\n  where i<j", "  spread x 2", " via p[0]"]))
        return f"connect{s}a[*]{s}to{s}b[{g}i+1{g}]{more}"
    if form == 3:
        return f"{draw(st.sampled_from(['height', 'power', 'type']))}{s}1U{g},{g}{draw(names)}"
    if form == 4:
        return f"require{s}bisection{g}>={g}50%{draw(st.sampled_from(['', ' and b', chr(10) + 'and b']))}"
    if form in (5, 6) and depth:
        body = draw(programs(depth - 1))
        return f"group{s}{draw(names)}{g}{{{body}\n}}"
    return f"{draw(st.sampled_from(['a', 'b']))}{s}-1"


@st.composite
def programs(draw: st.DrawFn, depth: int = 2) -> str:
    out = [draw(st.sampled_from(["", "\n", " # first\n", "\n\n\n"]))]
    for _ in range(draw(st.integers(0, 4))):
        out.append(draw(gap) + draw(statements(depth)) + draw(gap))
        out.append(draw(st.sampled_from(["\n", "\r\n", "; \n", "\n\n\n", " # why\n", "  #x\n # y\n\n# z\n", ";"])))
    return "".join(out)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_format(text: str) -> None:
    module, diagnostics = read(text)
    if diagnostics.has_errors:
        assert format_source(SourceFile("t.fab", text)) == text
        return
    result = format_source(SourceFile("t.fab", text))
    again, after = read(result)
    assert not after.has_errors and equal_apart_from_spans(module, again)
    assert format_source(SourceFile("t.fab", result)) == result
    assert [c.strip() for c in re.findall("#[^\n]*", text)] == [c.strip() for c in re.findall("#[^\n]*", result)]
    assert "\r" not in result and "\n\n\n" not in result and " \n" not in result and "{\n\n" not in result
