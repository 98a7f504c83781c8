"""What stands at a place of a text, in Markdown, and the function or topology whose parameters are written
there."""

from __future__ import annotations

from dataclasses import replace

from tdsl.findings.source import SourceFile
from tdsl.ide import describe
from tdsl.ide.complete import path_before_cursor
from tdsl.ide.known import KnownNames, Meaning
from tdsl.semantics.model import Chip, PortClass
from tdsl.semantics.quantity import RATE, SIZE, UNIT_TABLE, Quantity, quantity_text
from tdsl.semantics.values import Builtin
from tdsl.syntax import tree
from tdsl.syntax.expressions import Measure
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.keywords import KINDS, STARTERS
from tdsl.syntax.parser import Standing, context_before_offset, parse_part
from tdsl.syntax.scanner import Token
from tdsl.system.lazy_dataclass import dataclass

CALLED = ("let", "param", "def")


def meaning_at_offset(
    known: KnownNames, file: SourceFile, offset: int
) -> tuple[Token, Meaning | None] | None:
    """The word or rate that stands at a place, and what it means, None if nothing is known of it."""
    begin = file.line_starts[file.position(offset)[0] - 1]
    line = file.line(file.position(offset)[0])
    tokens = load_grammar_tables().scanner.scan(file, begin, begin + len(line))
    token = next(
        (t for t in reversed(tokens) if t.start <= offset <= t.end and t.type in ("NAME", "QUANTITY")), None
    )
    if token is None:
        return None
    place = context_before_offset(file, token.start)
    return token, _meaning_of_rate(known, token, place) if token.type == "QUANTITY" else _meaning_of_token(
        known, token, place
    )


def meaning_as_markdown(m: Meaning) -> str:
    """A meaning in Markdown."""
    if isinstance(m.node, PortClass):
        return f"`{m.name}`: {m.detail}" + (f"\n\n{m.doc}" if m.doc else "")
    if isinstance(m.node, Chip):
        return f"`{m.name}`: {m.detail}\n\n{m.doc}"
    if isinstance(m.node, Builtin):
        return f"```fab\n{m.detail}\n```\n\n{m.doc}"
    if m.kind in ("model", "topology", "check", "rate"):
        return m.doc
    return f"```fab\n{m.detail}\n```" + (f"\n\n{m.doc}" if m.doc else "")


def declaration_offset(m: Meaning, file: SourceFile) -> int:
    """Where in a file the name of what is meant is declared, -1 if it is not declared there."""
    if isinstance(m.node, tree.Decl | tree.Let | tree.Param | tree.Def) and m.node.span.file is file:
        return m.node.name.span.start
    return -1


def _meaning_of_token(known: KnownNames, token: Token, place: Standing) -> Meaning | None:
    before = [t.text for t in place.statement]
    first, last = (before[0], before[-1]) if before else ("", "")
    if last == "." and first != "use":
        return known.find((*path_before_cursor(place.statement[:-1]), token.text), place)
    if first in ("require", "report") and (len(before) == 1 or last in ("and", "with")):
        return meaning_of_check(token.text)
    if not before:
        asked = known.topology(token.text) if place.heads and token.text not in STARTERS else None
        return asked or _meaning_of_setting(known, token, place)
    return _meaning_of_name(known, token, place)


def _meaning_of_name(known: KnownNames, token: Token, place: Standing) -> Meaning | None:
    """What a name stands for inside a statement: a value, a device or group, or a model."""
    first, last = place.statement[0].text, place.statement[-1].text
    opened = [t.type for t in place.statement]
    inside = opened.count("LSQB") > opened.count("RSQB")
    models = [known.a_model(token.text)] if known.model(token.text) is not None else []
    values = [m for m in known.values(place) if m.name == token.text]
    things = [] if inside else [m for m in known.things(place) if m.name == token.text]
    if first in (*KINDS["group"], *KINDS["device"]) and len(place.statement) == 1:
        return next(iter(things), None)
    if last == ":" or first in ("cable", "model", "use") or last == "x":
        return next(iter([*values, *models] if first not in CALLED else models), None)
    return next(iter([*values, *things, *models]), None)


def _meaning_of_setting(known: KnownNames, token: Token, place: Standing) -> Meaning | None:
    """A parameter of a topology, where its block sets it; in a phase one of the fabric."""
    if place.heads and place.heads[-1] and place.heads[-1][0].text == "phase":
        return next((m for m in known.phased(place) if m.name == token.text), None)
    found = known.topology(place.heads[-1][0].text) if place.heads and place.heads[-1] else None
    if found is None or not isinstance(found.node, tree.TopologyDecl):
        return None
    return next(
        (
            Meaning(token.text, "param", describe.formal_words(f), node=f)
            for f in found.node.formals
            if f.name.name == token.text
        ),
        None,
    )


def meaning_of_check(name: str) -> Meaning | None:
    """A check by its name: what it says and means, in short."""
    from tdsl.verify.check import checks_by_name

    found = checks_by_name().get(name)
    if found is None:
        return None
    sections = found.page().split("\n## ")
    short = next(
        (s.partition("\n")[2].strip().split("\n\n")[0] for s in sections if s.startswith("What it means")), ""
    )
    doc = f"**{name}**: {found.title()}\n\n{short}\n\n`tdsl explain {name}` has all of it."
    return Meaning(name, "check", found.title(), doc, found)


def _meaning_of_rate(known: KnownNames, token: Token, place: Standing) -> Meaning | None:
    """What a rate stands for: bits and bytes in one direction; of a port, what its model says."""
    from tdsl.findings.diagnostic import Diagnostics

    value = parse_part(token.file, token.start, token.end, Diagnostics())
    if not isinstance(value, Measure) or value.unit not in UNIT_TABLE or UNIT_TABLE[value.unit][1] != RATE:
        return None
    scale, _ = UNIT_TABLE[value.unit]
    bits = value.value * scale
    words = (
        f"**{token.text}**: {describe.rate_words(bits)}bit/s in each direction, "
        f"{quantity_text(Quantity(bits, SIZE))}/s"
    )
    nodes = known.around(place)
    if (
        place.statement
        and place.statement[0].text == "port"
        and nodes
        and isinstance(nodes[-1], tree.ModelDecl)
    ):
        name = place.statement[1].text if len(place.statement) > 1 else ""
        model = known.model(nodes[-1].name.name)
        c = model.port_class(name) if model is not None else None
        words += f"\n\n`{name}`: {describe.port_words(c)}" if c is not None else ""
        lanes = {len(p.lanes) for p in c.sonic} if c is not None else set()
        if c is not None and len(lanes) == 1 and c.rate:
            n = lanes.pop()
            words += (
                f"\n\n{n} lane{'s' if n > 1 else ''} of {describe.rate_words(c.rate // n)} at the switch chip"
            )
    return Meaning(token.text, "rate", doc=words)


# ------------------------------------------------------------ parameters


@dataclass(frozen=True, slots=True)
class Signature:
    """A function or topology: how it is written, its parameters as places of that text, which is written now,
    and what it is."""

    label: str
    parameters: tuple[tuple[int, int], ...]
    active: int
    doc: str = ""


def signature_at_offset(known: KnownNames, file: SourceFile, offset: int) -> Signature | None:
    """The function whose parentheses, or the topology whose braces, a place lies in."""
    place = context_before_offset(file, offset)
    called = _open_call(place)
    if called is not None:
        name, number = called
        m = next((v for v in known.values(place) if v.name == name and v.kind == "function"), None)
        return _signature_of_meaning(m, number) if m is not None else None
    head = place.heads[-1] if place.heads else ()
    found = known.topology(head[0].text) if head else None
    if found is None or len(head) != 1 or not isinstance(found.node, tree.TopologyDecl):
        return None
    names = [f.name.name for f in found.node.formals]
    word = place.statement[0].text if place.statement else ""
    return _signature_of_meaning(
        replace(found, doc=describe.comment_of_declaration(found.node.span)),
        names.index(word) if word in names else -1,
    )


def _open_call(place: Standing) -> tuple[str, int] | None:
    """The name before the innermost parenthesis that is open, and how many commas stand behind it."""
    depth = commas = 0
    tokens = place.statement
    for i in range(len(tokens) - 1, 0, -1):
        kind = tokens[i].type
        if kind in ("RPAR", "RSQB"):
            depth += 1
        elif kind in ("LPAR", "LSQB"):
            if depth == 0:
                named = (
                    kind == "LPAR" and tokens[i - 1].type == "NAME" and tokens[i - 1].end == tokens[i].start
                )
                return (
                    (tokens[i - 1].text, commas)
                    if named and tokens[0].text not in ("use", "topology")
                    else None
                )
            depth -= 1
        elif kind == "COMMA" and depth == 0:
            commas += 1
    return None


def _signature_of_meaning(m: Meaning, active: int) -> Signature:
    label = m.detail.removeprefix("def ")
    start = label.index("(") + 1
    spans: list[tuple[int, int]] = []
    depth = 0
    for i in range(start, len(label)):
        depth += (label[i] in "([{") - (label[i] in ")]}")
        if depth < 0 or (label[i] == "," and depth == 0):
            spans.append((start, i))
            start = i + 2
        if depth < 0:
            break
    return Signature(label, tuple(spans), min(active, len(spans) - 1), m.doc)
