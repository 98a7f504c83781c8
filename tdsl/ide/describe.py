"""Models, port classes and statements in a line each, and the comments that stand with them."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.model import Axis, Chip, DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity, quantity_text
from tdsl.semantics.values import text_of
from tdsl.syntax import tree

TRAILING = re.compile(r'[^"#]*#[ \t]?(.*)')


def rate_words(rate: int | Fraction | None) -> str:
    """A rate as the field says it for short: ``400G`` for 400 Gbit/s one way; ``any rate`` for None."""
    if rate is None:
        return "any rate"
    return quantity_text(Quantity(Fraction(rate), RATE)).removesuffix("bps")


def port_words(c: PortClass) -> str:
    """A port class: ``8 × 400G, NDR or GE400, OSFP with 2 a cage, splits 2 ways``."""
    words = [f"{c.size} × {rate_words(c.rate)}"]
    words += [" or ".join(c.types)] if c.types else []
    if c.form:
        each = max(Counter(c.cages).values())
        words.append(c.form if each == 1 else f"{c.form} with {each} a cage")
    if c.splits:
        words.append(f"splits {' or '.join(map(str, c.splits))} ways")
    return ", ".join(words)


def chip_words(c: Chip) -> str:
    """Devices inside a model: ``8 × H100``."""
    return f"{c.size} × {c.model.name}"


def model_words(m: DeviceModel) -> str:
    """A model in a line: ``64 × 400G, 1U``; ``8 × 400G nic, 1 × 1G bmc, 8 × H100, 8U``; a cable's rate,
    medium, legs, reach."""
    alone = len(m.classes) == 1
    words = [f"{c.size} × {rate_words(c.rate)}{'' if alone else ' ' + c.name}" for c in m.classes]
    words += [chip_words(c) for c in m.chips if c.kind == "chip"]
    if m.kind == "cable":
        words += [text_of(m.facts[k]).removesuffix("bps") for k in ("rate", "medium") if k in m.facts]
        words += [f"{text_of(m.facts['legs'])} legs"] if "legs" in m.facts else []
        words += [f"at most {text_of(m.facts['reach'])}"] if "reach" in m.facts else []
    words += [text_of(m.facts["height"])] if "height" in m.facts else []
    return ", ".join(words)


def model_page(m: DeviceModel) -> str:
    """A model in Markdown: what it is, its ports, what is inside, what it draws, the comment above it, the
    source."""
    out = [f"**{m.name}**, {m.kind}" + (f": {m.title}" if m.title else "")]
    rows = [f"- `{_name_with_shape(c.name, c.axes)}` {port_words(c)}" for c in m.classes]
    rows += [f"- `{_name_with_shape(c.name, c.axes)}` {chip_words(c)}" for c in m.chips]
    out += ["\n".join(rows)] if rows else [model_words(m)] if m.kind == "cable" else []
    most = f" (at most {text_of(m.facts['power_max'])})" if "power_max" in m.facts else ""
    drawn = {"power": most} if most else {}
    facts = ((k, m.facts[k]) for k in ("height", "power", "mass") if k in m.facts)
    out += [", ".join(f"{k} {text_of(v)}{drawn.get(k, '')}" for k, v in facts)]
    out.append(comment_of_declaration(m.origin.span))
    out += [f"Source: {text_of(m.facts['source'])}"] if "source" in m.facts else []
    return "\n\n".join(x for x in out if x)


def _name_with_shape(name: str, axes: tuple[Axis, ...]) -> str:
    shape = ", ".join(f"{a.low}..{a.high}" if a.low else str(a.size) for a in axes)
    return f"{name}[{shape}]" if shape else name


def statement_head(s: tree.Stmt) -> str:
    """A statement as it is written, on one line, without its block or body."""
    file, start, end = s.span.file, s.span.start, s.span.end
    if isinstance(s, tree.Def):
        end = s.body.span.start
    elif isinstance(s, tree.Decl | tree.ModelDecl | tree.TopologyDecl):
        ends = [s.name.span.end]
        if isinstance(s, tree.Decl):
            ends += [e.span.end for e in s.shape or ()] + [
                x.span.end for x in (s.title, s.of) if x is not None
            ]
        elif isinstance(s, tree.ModelDecl) and s.title is not None:
            ends.append(s.title.span.end)
        elif isinstance(s, tree.TopologyDecl):
            return f"{s.name.name}({', '.join(formal_words(f) for f in s.formals)})"
        end = max(ends)
        if isinstance(s, tree.Decl) and s.shape and end == s.shape[-1].span.end:
            end = file.text.find("]", end) + 1
    return " ".join(file.text[start:end].split()).removesuffix("=").rstrip()


def formal_words(f: tree.Formal) -> str:
    """A parameter of a def or topology: ``oversubscription: ratio = 1:1``."""
    default = f" = {f.default.span.text}" if f.default is not None else ""
    return f"{f.name.name}: {f.type.name}{default}"


def comment_of_declaration(at: SourceSpan) -> str:
    """The comment of what is declared at a place: the lines right above it, else what stands behind it on its
    line."""
    file = at.file
    number = at.begin[0]
    lines: list[str] = []
    above = number - 1
    while file.line(above).lstrip().startswith("#"):
        lines.insert(0, file.line(above).lstrip().lstrip("#").strip())
        above -= 1
    if lines:
        return "\n".join(lines)
    found = TRAILING.match(_rest_of_line(file, at.end))
    return found[1].strip() if found else ""


def _rest_of_line(file: SourceFile, start: int) -> str:
    end = file.text.find("\n", start)
    return file.text[start : end if end >= 0 else len(file.text)]
