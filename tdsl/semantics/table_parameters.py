"""Tables: parameters of topologies that hold rows of names and values.

The default of such a parameter is the form of its rows, written as vendors write usage lines, such as ``"KIND
N:int [of HOSTS:int hosts]"``. Words in lower case are written as they stand, words in upper case are names,
or values of the type behind the colon, and what is in brackets may be left out. A row is then a list with an
element for each word in upper case, in order; one that is left out is ``0``, ``""`` or ``[]``. An empty table
is what stands where nothing is written.
"""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import TableRow, Value, a_type, fits_type, integer_if_whole
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

LEFT_OUT: dict[str, Value] = {"name": "", "int": 0, "ratio": 0, "list": ()}
"""Type of an element -> what it is in a row that leaves it out; other types are always written."""


@dataclass(frozen=True, slots=True)
class FormPart:
    """A word of a form: a literal one, an element with its type, or several words that may be left out."""

    word: str = ""
    type: str = ""
    optional: tuple[FormPart, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """How the rows of a table are written."""

    text: str
    parts: tuple[FormPart, ...]


def read_row_form(formal: tree.Formal) -> Form:
    """The form of a table's rows, which its default states. Raises Fault where there is none, or one that
    cannot be read."""
    e = formal.default
    text = "".join(p for p in e.parts if isinstance(p, str)) if isinstance(e, tree.Str) else ""
    parts = _parts_of_form(text)
    if not parts or any(t not in LEFT_OUT for t in _optional_types(parts, False)):
        raise Fault(
            "E0120",
            e.span if e is not None else formal.name.span,
            f"`{formal.name.name}` is a table, and its default must be the form of its rows",
            help='for example `= "KIND N:int [of HOSTS:int hosts]"`; what is in brackets is a name, int, '
            "ratio or list",
        )
    return Form(text, parts)


def _parts_of_form(text: str) -> tuple[FormPart, ...] | None:
    """The words of a form; None where a bracket is not closed, or a word is none of a form's."""
    stack: list[list[FormPart]] = [[]]
    for w in re.findall(r"\[|\]|[A-Za-z_]+(?::[a-z]+)?|[^\s]", text):
        found = re.fullmatch(r"([A-Z_]+)(?::([a-z]+))?|([a-z_]+)", w)
        if w == "[":
            stack.append([])
        elif w == "]" and len(stack) > 1:
            inner = tuple(stack.pop())
            stack[-1].append(FormPart(optional=inner))
        elif found is not None:
            upper, type, lower = found.groups()
            stack[-1].append(FormPart(lower or upper, "" if lower else type or "name"))
        else:
            return None
    return tuple(stack[0]) if len(stack) == 1 else None


def _optional_types(parts: tuple[FormPart, ...], inside: bool) -> list[str]:
    """Types of the elements that a row may leave out, in order."""
    own = [
        _optional_types(p.optional, True) if p.optional else [p.type] if inside and p.type else []
        for p in parts
    ]
    return [type for types in own for type in types]


@dataclass(frozen=True, slots=True)
class Written:
    """One word or value of a row as it is written."""

    word: str  # of a bare name, or of `x`, `to`, `of` …
    value: tree.Expr | None  # None for `x`, `to`, `of` …
    span: SourceSpan


def read_table_rows(
    formal: tree.Formal, items: tuple[tree.SettingItem, ...], scope: Scope, evaluator: Evaluator
) -> Value:
    """The rows that a block writes for a table. Raises Fault for one of another form."""
    form_ = read_row_form(formal)
    return tuple(read_table_row(formal.name.name, form_, item, scope, evaluator) for item in items)


def read_table_row(
    name: str, form_: Form, item: tree.SettingItem, scope: Scope, evaluator: Evaluator
) -> TableRow:
    """One row, by the form of its table."""
    written = [_written_word(item.value)]
    for word, value in item.args:
        if word:
            written.append(Written(word, None, item.span))
        written.append(_written_word(value))
    reader = _TableRowReader(written, scope, evaluator)
    found = next((values for end, values in reader.read(form_.parts, 0) if end == len(written)), None)
    if found is None:
        bad = written[reader.furthest] if reader.furthest < len(written) else None
        expected = " or ".join(dict.fromkeys(reader.expected))
        says = f"`{bad.span.text if bad.value is not None else bad.word}`" if bad is not None else "the end"
        wanted = f"expected {expected}, found {says}" if expected else f"nothing follows before {says}"
        place, fix = bad.span if bad is not None else item.span, None
        if bad is not None and bad.value is None and re.fullmatch(r"`[a-z]+`", expected):
            at = item.span.file.text.find(f" {bad.word} ", written[reader.furthest - 1].span.end - 1) + 1
            place = SourceSpan(item.span.file, at, at + len(bad.word))
            fix = Fix(f"write {expected}", ((place, expected.strip("`")),), safe=False)
        raise Fault(
            "E0120",
            place,
            f"this is not a row of `{name}`: {wanted}",
            help=f"a row is written `{name} {form_.text}`",
            fix=fix,
        )
    made = TableRow(found)
    made.span = item.span
    return made


def _written_word(value: tree.Expr) -> Written:
    return Written(value.bare or "" if isinstance(value, tree.PathExpr) else "", value, value.span)


def _describe_form_part(part: FormPart) -> str:
    """A word of a form in a message: as it is written, or with what it is."""
    kind = "a name" if part.type == "name" else part.type
    return f"{part.word} ({kind})" if kind else f"`{part.word}`"


class _TableRowReader:
    """Finds which words of a row are which parts of a form; all ways to leave parts out are tried."""

    def __init__(self, written: list[Written], scope: Scope, evaluator: Evaluator) -> None:
        self.written, self.scope, self.evaluator = written, scope, evaluator
        self.furthest = 0  # the first word that no part of the form took
        self.expected: list[str] = []  # what would be taken there

    def read(self, parts: tuple[FormPart, ...], at: int) -> list[tuple[int, tuple[Value, ...]]]:
        """Where the parts may end, with the values that they then have."""
        ways: list[tuple[int, tuple[Value, ...]]] = [(at, ())]
        for part in parts:
            following: list[tuple[int, tuple[Value, ...]]] = []
            for place, values in ways:
                if part.optional:
                    following += [(end, (*values, *found)) for end, found in self.read(part.optional, place)]
                    following.append(
                        (place, (*values, *(LEFT_OUT[t] for t in _optional_types(part.optional, True))))
                    )
                else:
                    following += [(place + 1, (*values, *found)) for found in self.one(part, place)]
            ways = following
        return ways

    def one(self, part: FormPart, at: int) -> list[tuple[Value, ...]]:
        """The value of one word: none of a literal word, a list of none where it does not fit."""
        here = self.written[at] if at < len(self.written) else None
        unlike = ""
        if here is not None and part.type in ("", "name"):
            found = self.word(part, here)
            if found is not None:
                return [found]
        elif here is not None and here.value is not None:
            value = self.value(here)
            if value is not None and fits_type(value, part.type):
                return [(value,)]
            unlike = "" if value is None else f", not {a_type(value)}"
        if at >= self.furthest:
            before = self.expected if at == self.furthest else []
            self.expected = [*before, _describe_form_part(part) + unlike]
            self.furthest = at
        return []

    def word(self, part: FormPart, here: Written) -> tuple[Value, ...] | None:
        """What a literal word, or a name, gives a row; None where it does not fit."""
        if not part.type:
            return () if here.word == part.word else None
        if here.value is None or not (here.word or isinstance(here.value, tree.Str)):
            return None
        return (str(here.word or self.evaluator.evaluate(here.value, self.scope)),)

    def value(self, here: Written) -> Value:
        """What an expression is worth; a bare name without a value is worth nothing."""
        assert here.value is not None
        if here.word and self.scope.find(here.word) is None:
            return None
        return integer_if_whole(self.evaluator.evaluate(here.value, self.scope))
