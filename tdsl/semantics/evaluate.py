"""Expressions to values: exact arithmetic with units. Raises Fault for a user's mistake, which the caller
collects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.fault import Excused, Fault, closest_known_name, known_names_help, unknown_name_fault
from tdsl.semantics.operators import (
    BIT_LIMIT,
    COMPARISONS,
    LARGEST,
    LIST_LIMIT,
    apply_arithmetic,
    compare_values,
    element_at_index,
    elements_to_iterate,
    evaluation_steps,
    not_whole,
    quantity_value,
    raise_to_power,
    ratio_for_whole_fault,
    require_bool,
    require_number,
    require_type,
    too_large,
)
from tdsl.semantics.quantity import UNIT_TABLE, Quantity
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import (
    BareWord,
    Builtin,
    Dims,
    FunctionValue,
    ModelValue,
    Value,
    WholeRange,
    a_type,
    integer_if_whole,
    text_of,
)
from tdsl.syntax import tree
from tdsl.syntax.keywords import GRAMMAR_WORDS, KINDS, TEXT_SETTINGS
from tdsl.system.lazy_dataclass import dataclass

PARTS = {"half": "50%", "third": "1/3", "quarter": "25%", "full": "100%"}
"""Words for shares."""
NUMERALS: dict[str, int] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "sixteen": 16, "twenty": 20,
    "twenty_four": 24, "thirty": 30, "thirty_two": 32, "forty": 40, "forty_eight": 48, "fifty": 50,
    "sixty": 60, "sixty_four": 64, "hundred": 100,
}  # fmt: skip
"""Numbers that somebody may write as words."""


def _refuse_name_with_hyphen(head: tree.Identifier, scope: Scope) -> None:
    """Raise Fault for ``BASE-T``, which reads as a difference of two names."""
    text = head.span.file.text
    if re.compile(r"non-blocking\b").match(text, head.span.start):
        whole = SourceSpan(head.span.file, head.span.start, head.span.start + len("non-blocking"))
        share = re.search(
            r"\b(?:bisection|throughput)\b[^;\n]*$", text[max(whole.start - 80, 0) : whole.start]
        )
        new, what = ("1:1", "the ratio 1:1") if share is None else ("100%", "100% of full")
        fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
        raise Fault("E0101", whole, f"non-blocking is {what}", help=f"write `{new}`", fix=fix)
    hyphen = re.compile(r"(?:-[A-Za-z0-9_]+)+(?![\w.\[(])").match(text, head.span.end)
    if hyphen is None or closest_known_name(head.name, scope.visible()):
        return
    whole = SourceSpan(head.span.file, head.span.start, hyphen.end())
    new = whole.text.replace("-", "_")
    plain = re.escape(whole.text.replace("-", ""))
    slashed = re.compile(r"/[A-Za-z]\w*").match(text, whole.end)
    if slashed is not None:  # `MPO-12/APC`
        whole = SourceSpan(whole.file, whole.start, slashed.end())
        new = re.sub(r"-(?=\d)", "", whole.text).replace("/", "_").replace("-", "_")
    declared = re.search(rf"\bmodel\s+\w+\s+({plain})\b", text)
    if declared is not None:
        new = declared[1]
    if plain in _WORDS_IN_ONE:
        new = plain
    if re.fullmatch(r"[OQ]?SFP(?:28|56|112|224)?(?:DD|XD)(?:\d+)?", plain):  # a form of plugs
        before = re.search(r"\b(cage[ \t]++)\Z", text[max(whole.start - 9, 0) : whole.start])
        new = f"1 {plain}" if before is not None else plain
    message = f"there is no value `{head.name}` here; a name has `_` and no `-`"
    help = f'write `{new}`, or `"{whole.text}"` for a text'
    raise Fault("E0101", whole, message, help=help, fix=Fix(f"write `{new}`", ((whole, new),), safe=False))


_WORDS_IN_ONE = frozenset(
    {"backplane", "multimode", "singlemode", "infiniband", "ethernet", "sonic", "cumulus"}
)
"""Values that people write with a hyphen."""


_UNKNOWN_MAY_BE = re.compile(
    rf"(?:^|[\s{{;])(?:(?:{'|'.join((*KINDS['device'], *KINDS['group']))})[ \t]++\w++[ \t]*+\[[^\]{{}};]*+"
    r"|let[ \t]++\w++[^={};]*+=[ \t]*+|tier[ \t]++\w++[ \t]++of[ \t]++)$"
)
"""Text before a place where a `?` is allowed: an extent, the value of a `let`, the number of a tier."""


def _refuse_word_for_unknown(head: tree.Identifier) -> None:
    """Raise Fault for ``spine[auto]``, a word for a number that is to be found, where `?` may be."""
    if head.name.lower() not in ("auto", "automatic", "tbd", "solve", "minimum", "any", "all"):
        return
    text, span = head.span.file.text, head.span
    begin = max(text.rfind("\n", 0, span.start), span.start - 80, 0)
    if _UNKNOWN_MAY_BE.search(text[begin : span.start]) is None:
        return
    fix = Fix("write `?`", ((span, "?"),), safe=False)
    message = f"there is no value `{head.name}` here; a number that tdsl finds is `?`"
    raise Fault("E0101", span, message, help="write `?`", fix=fix)


def _refuse_unit_alone(head: tree.Identifier) -> None:
    """Raise Fault for ``0.1/year/device``, a unit without its number."""
    if head.name not in UNIT_TABLE or len(head.name) == 1:
        return
    message = f"`{head.name}` is a unit, which follows its number without a space"
    raise Fault("E0101", head.span, message, help=f"write an amount such as `1{head.name}`")


def _refuse_name_of_index(head: tree.Identifier) -> None:
    """Raise Fault for ``naming pod[p].node[n] "p{pod}"``, the name of devices for the variable of their
    index."""
    text, span = head.span.file.text, head.span
    line = text[text.rfind("\n", 0, span.start) + 1 : span.start][-400:]
    found = re.search(rf"\b{head.name}\[([a-z]\w*)\]", line)
    if found is None:
        return
    message = f"there is no value `{head.name}` here; `{found[1]}` is the index of `{head.name}`"
    fix = Fix(f"write `{found[1]}`", ((span, found[1]),), safe=False)
    raise Fault("E0101", span, message, help=f"write `{found[1]}`", fix=fix)


def _refuse_path_as_value(head: tree.Identifier) -> None:
    """Raise Fault for ``require taper g[0..7] <= 4:1``, whose path lacks the word before it."""
    text, span = head.span.file.text, head.span
    line = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    claim = re.match(r"\s*(?:require|report)\b.*\b([a-z_]+) $", line)
    if claim is None or text[span.end : span.end + 1] not in ("[", ".") or claim[1] in GRAMMAR_WORDS:
        return
    fix = Fix("put `of`", ((SourceSpan(span.file, span.start, span.start), "of "),), safe=False)
    message = f"there is no value `{head.name}` here; a path to devices follows `of`"
    raise Fault("E0101", span, message, help=f"write `of {head.name}…`", fix=fix)


_WORDED_SETTING = re.compile(
    r"(?:^|[{;\n])[ \t]*"
    r"(type|connector|form|tail|medium|cable|optic|class|colour|polarity|cooling|airflow|part)[ \t]+$"
)
"""A setting whose value is a word, before its value."""


def _refuse_values_with_slash(head: tree.Identifier) -> None:
    """Raise Fault for ``type NDR/GE400``, values that belong behind commas."""
    text, span = head.span.file.text, head.span
    whole = re.compile(r"[A-Za-z]\w*+(?:/[A-Za-z]\w*+)+(?=[ \t]*(?:[;}{\n#]|$))").match(text, span.start)
    setting = _WORDED_SETTING.search(text[max(span.start - 40, 0) : span.start])
    if whole is None or setting is None:
        return
    at = SourceSpan(span.file, span.start, whole.end())
    new = whole[0].replace("/", ", ")
    message = f"there is no value `{head.name}` here; `,` separates the values of `{setting[1]}`"
    if setting[1] != "type":
        help = f'write one of them: `{setting[1]} {head.name}`, or `"{whole[0]}"` for a text'
        raise Fault("E0101", at, f"`{setting[1]}` has one value, and `/` divides two", help=help)
    fix = Fix(f"write `{new}`", ((at, new),), safe=False)
    raise Fault("E0101", at, message, help=f"write `{setting[1]} {new}`", fix=fix)


_TEXTS = re.compile(rf"(?:^|[{{;\n])[ \t]*({'|'.join(TEXT_SETTINGS)})[ \t]+$")
"""A setting whose value is a text, before its value."""


def _refuse_text_without_quotes(head: tree.Identifier) -> None:
    """Raise Fault for ``os eth1``, whose text lacks its quotes."""
    text, span = head.span.file.text, head.span
    setting = _TEXTS.search(text[max(span.start - 60, 0) : span.start])
    whole = re.compile(r"[\w./:-]+(?=\s*(?:[;}\n#]|$))").match(text, span.start)
    if setting is None or whole is None:
        return
    at = SourceSpan(span.file, span.start, whole.end())
    new = f'"{whole[0]}"'
    message = f"there is no value `{head.name}` here; the text of `{setting[1]}` is written in double quotes"
    if whole[0].lower() in ("x86-64", "amd64"):
        new, message = "x86_64", f"there is no architecture `{whole[0]}` here"
    fix = Fix(f"write `{new}`", ((at, new),), safe=False)
    raise Fault("E0101", at, message, help=f"write `{setting[1]} {new}`", fix=fix)


def _refuse_numeral(head: tree.Identifier) -> None:
    """Raise Fault for a number in words: ``eight``, and ``thirty-two``, which reads as a difference."""
    text, span = head.span.file.text, head.span
    found = re.compile(r"([a-z]+)-([a-z]+)\b", re.IGNORECASE).match(text, span.start)
    parts = [NUMERALS.get(word.lower(), 0) for word in found.groups()] if found is not None else []
    if found is not None and parts and all(parts) and found[1] == head.name:
        span = SourceSpan(span.file, found.start(), found.end())
        number = str(sum(parts))
    elif head.name.lower() in NUMERALS:
        number = str(NUMERALS[head.name.lower()])
    else:
        return
    written = span.text if span.text.startswith(head.name) else head.name
    fix = Fix(f"write `{number}`", ((span, number),)) if span.text == written else None
    raise Fault(
        "E0101", span, f"there is no value `{written}` here", help=f"write `{number}`, in digits", fix=fix
    )


STEP_LIMIT = 500_000
MOST_KNOWN = 4096
"""Values of functions that are kept: functions that call each other twice would take 2^depth steps."""
KEPT = (int, bool, str, Fraction, Quantity, type(None))
POWERS = 20
"""Steps that a power in a field is worth."""


FUNCTIONS_ELSEWHERE = {
    "ceil": "write `(a + b - 1) // b` for a / b rounded up",
    "floor": "write `a // b` for a / b rounded down",
    "round": "write `(2*a + b) // (2*b)` for the whole number nearest to a / b",
    "int": "write `a // b` for a whole number",
    "abs": "write `max(a, -a)`",
    "mod": "write `a % b`",
    "pow": "write `a ** b`",
    "div": "write `a // b`",
    "length": "write `len(v)`",
    "size": "write `len(v)`",
    "sorted": "write `sort(v)`",
    "prod": "write `product(v)`",
    "sqrt": "a root is not exact: write its square on the other side",
    "log2": "write the exponent, and `2 ** n` for the number",
}
"""Functions of other languages, and what to write."""


_NO_NAMES = frozenset(
    {"auto", "automatic", "default", "none", "null", "nil", "any", "max", "min", "on", "off", "unlimited"}
)
"""Words that nobody would give to a value of their own."""


def _help_for_unknown_value(name: str, scope: Scope) -> str:
    """What there is to write for a value that nobody declares and that no known name is like."""
    listed = known_names_help(scope.visible()) or "write a number"
    if name in GRAMMAR_WORDS or name.lower() in _NO_NAMES:
        return listed
    return f"{listed}; `let {name} = …` declares it, in this block or around it"


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions in a scope.

    ``words`` lets a bare unknown name stand for itself (settings). ``is_model`` tells names of models.
    ``steps`` is shared by all evaluations of one compilation, so that no file can ask for endless work.
    ``holes`` are values of holes by their place.
    """

    is_model: object = None  # Callable[[str], bool]
    steps: int = 0
    holes: dict[tuple[int, int], int] = field(default_factory=dict)  # file and offset of a `?` -> its value
    calls: list[tree.Def] = field(default_factory=list)  # functions being computed, outermost first
    known: dict[tuple[object, ...], tuple[Value, object, object]] = field(
        default_factory=dict
    )  # values of functions by function, scope and arguments; with both objects, so that no id is given again

    def spend(self, steps: int, span: SourceSpan) -> None:
        """Count work. Raises Fault where it is too much."""
        self.steps += steps
        if self.steps > STEP_LIMIT:
            raise Fault(
                "E0116",
                span,
                f"this takes more than {STEP_LIMIT:,} steps to compute",
                help="compute less: a list or a function here grows too fast",
            )

    def sized(self, value: Value, span: SourceSpan) -> Value:
        """A value, whose size is counted as work: of lists with all that they hold, and of long texts and
        numbers."""
        if too_large(value):
            raise Fault("E0116", span, f"this is larger than 2^{LARGEST}, which no file can hold")
        steps = evaluation_steps(value, 4 * STEP_LIMIT)
        if steps:
            self.spend(steps, span)
        return value

    # One case for each kind of expression; all evaluation passes here, so it calls no further function.
    def evaluate(self, e: tree.Expr, scope: Scope, *, words: bool = False) -> Value:
        """The value of an expression."""
        self.spend(1, e.span)
        match e:
            case tree.Number():
                return integer_if_whole(e.value)
            case tree.Measure():
                return self.sized(quantity_value(e), e.span)
            case tree.RatioLit():
                if e.right == 0:
                    raise Fault("E0120", e.span, "the right side of a ratio is zero")
                return integer_if_whole(Fraction(e.left) / Fraction(e.right))
            case tree.DimsLit():
                return Dims(e.sizes)
            case tree.Str():
                return self.string(e, scope)
            case tree.PathExpr():
                return self.path(e, scope, words)
            case tree.Paren():
                return self.evaluate(e.inner, scope, words=words)
            case tree.Unary():
                return self.unary(e, scope)
            case tree.Chain():
                return self.chain(e, scope)
            case tree.PowerExpr():
                return self.sized(
                    raise_to_power(self.evaluate(e.base, scope), self.evaluate(e.exponent, scope), e.span),
                    e.span,
                )
            case tree.Cond():
                test = require_bool(self.evaluate(e.test, scope), e.test.span)
                return self.evaluate(e.then if test else e.other, scope)
            case tree.TupleExpr():
                return Dims(tuple(self.integer(i, scope) for i in e.items))
            case tree.ListExpr():
                return self.sized(tuple(self.evaluate(i, scope, words=words) for i in e.items), e.span)
            case tree.Comprehension():
                return self.comprehension(e, scope)
            case tree.At():
                value = self.evaluate(e.base, scope)
                for i in e.index:
                    value = element_at_index(value, self.evaluate(i, scope), i.span)
                return value
            case tree.Range():
                return WholeRange(self.integer(e.low, scope), self.integer(e.high, scope))
            case tree.NetworkLit():
                return e.text
            case tree.Hole():
                return self.hole(e)
            case tree.Star():
                raise Fault(
                    "E0120", e.span, "`*` means all members and is allowed only inside the brackets of a path"
                )
        raise AssertionError(e)

    def hole(self, e: tree.Hole) -> Value:
        """The number that is tried for a hole, or was found."""
        value = self.holes.get((id(e.span.file), e.span.start))
        if value is None:
            raise Fault(
                "E0120",
                e.span,
                "an unknown `?` is allowed as an extent or as the value of a `let`, in a fabric",
            )
        return value

    def integer(self, e: tree.Expr, scope: Scope) -> int:
        """The value of an expression that must be a whole number."""
        value = integer_if_whole(self.evaluate(e, scope))
        if isinstance(e, tree.RatioLit):
            raise ratio_for_whole_fault(e)
        if isinstance(value, bool) or not isinstance(value, int):
            raise not_whole(value, e)
        return value

    def string(self, e: tree.Str, scope: Scope) -> str:
        """A string with its placeholders filled in."""
        out: list[str] = []
        size = 0
        for part in e.parts:
            size += len(out[-1]) if out else 0
            if size > LIST_LIMIT:
                raise Fault("E0116", e.span, "this string is too long")
            if isinstance(part, str):
                out.append(part)
                continue
            value = self.evaluate(part.value, scope)
            if not part.format:
                out.append(text_of(value))
                continue
            if re.search(r"\d{5}", part.format):
                raise Fault("E0116", part.span, f"the format `{part.format}` makes too many characters")
            if part.format.endswith("c") and isinstance(value, int) and not 32 <= value <= 126:
                raise Fault(
                    "E0120",
                    part.span,
                    f"the format `{part.format}` makes the character {value}, which no file of devices takes",
                    help="it makes letters, digits and marks of ASCII, 32 to 126; write others in the "
                    "text itself",
                )
            try:
                out.append(format(value, part.format))
            except (ValueError, TypeError, OverflowError) as error:
                raise Fault(
                    "E0120",
                    part.span,
                    f"the format `{part.format}` does not fit {a_type(value)}: {error}",
                    help="use a Python format such as `02` for a number",
                ) from None
            if len(out[-1]) > BIT_LIMIT:
                raise Fault("E0116", part.span, f"this format makes {len(out[-1]):,} characters")
        return str(self.sized("".join(out), e.span))

    def path(self, e: tree.PathExpr, scope: Scope, words: bool) -> Value:
        """A name, a list's element or a call."""
        head = e.parts[0]
        assert isinstance(head, tree.Identifier)
        if head.name == "range" and (
            called := re.fullmatch(r"range\(\s*(?:(\w+)\s*,\s*)?(\d+)\s*\)", e.span.text)
        ):
            new = f"{called[1] or 0}..{int(called[2]) - 1}"  # as in Python, whose ranges leave their end out
            raise Fault(
                "E0101",
                e.span,
                "there is no function `range` here",
                help=f"write `{new}`; both ends are included",
                fix=Fix(f"write `{new}`", ((e.span, new),)),
            )
        value = self.name(head, scope, words and len(e.parts) == 1)
        for part in e.parts[1:]:
            if isinstance(part, tree.IndexPart):
                for entry in part.entries:
                    value = element_at_index(value, self.evaluate(entry, scope), entry.span)
            elif isinstance(part, tree.Call):
                value = self.call(value, part, scope, e.span)
            else:
                raise Fault(
                    "E0103",
                    part.span,
                    f"{a_type(value)} has no member `{part.name}`",
                    help="a path to a device is not a value; use it in connect, omit, naming and require",
                )
        return value

    def name(self, head: tree.Identifier, scope: Scope, words: bool) -> Value:
        """What a name is worth."""
        name = head.name
        if scope.find(name, head.span) is not None:
            return scope.value(name, head.span)
        if name in BUILTINS:
            return BUILTINS[name]
        if name in ("true", "false"):
            return name == "true"
        if callable(self.is_model) and self.is_model(name):
            return ModelValue(name)
        if words:
            return BareWord(name)
        if scope.is_excused(name):
            raise Excused
        if name == "range":
            raise Fault(
                "E0101",
                head.span,
                "there is no value `range` here",
                help="a range is written `0..3`, both ends included",
            )
        if re.fullmatch(r"[Uu][0-9]+", name):
            units = f"{name[1:]}U"
            message = f"there is no value `{name}` here; rack units are a number and `U`"
            fix = Fix(f"write `{units}`", ((head.span, units),), safe=False)
            raise Fault("E0101", head.span, message, help=f"write `{units}`", fix=fix)
        if name.lower() in PARTS:
            part = PARTS[name.lower()]
            message = f"there is no value `{name}` here"
            fix = Fix(f"write `{part}`", ((head.span, part),), safe=False)
            raise Fault("E0101", head.span, message, help=f"write `{part}`", fix=fix)
        _refuse_text_without_quotes(head)
        _refuse_numeral(head)
        _refuse_word_for_unknown(head)
        if name in ("True", "False", "TRUE", "FALSE", "yes", "no", "None", "null"):
            word = "true" if name.lower() in ("true", "yes") else "false"
            fix = Fix(f"write `{word}`", ((head.span, word),), safe=False)
            message = f"there is no value `{name}` here"
            raise Fault("E0101", head.span, message, help=f"write `{word}`", fix=fix)
        _refuse_name_with_hyphen(head, scope)
        _refuse_name_of_index(head)
        _refuse_values_with_slash(head)
        _refuse_path_as_value(head)
        _refuse_unit_alone(head)
        if name in FUNCTIONS_ELSEWHERE:
            message = f"there is no function `{name}` here"
            raise Fault("E0101", head.span, message, help=FUNCTIONS_ELSEWHERE[name])
        raise unknown_name_fault(
            "E0101",
            head.span,
            "value",
            name,
            [*scope.visible(), *filter(None, [closest_known_name(name, BUILTINS)])],
            extra_help=_help_for_unknown_value(name, scope),
        )

    def call(self, value: Value, part: tree.Call, scope: Scope, span: SourceSpan) -> Value:
        """The value of ``f(args)``."""
        args = [self.evaluate(a, scope) for a in part.args]
        if isinstance(value, Builtin):
            return self.call_builtin(value, args, span)
        if not isinstance(value, FunctionValue):
            raise Fault("E0103", span, f"{a_type(value)} cannot be called")
        inner = self.scope_of_arguments(value, args, part, span)
        if any(d is value.definition for d in self.calls):
            name = value.definition.name
            raise Fault(
                "E0114",
                name.span,
                f"`{name.name}` leads back to itself",
                labels=[(span, "called again here")],
                help="write it without recursion; a list `[… for i in 0..n]` with `sum`, `min` or `max` "
                "often does",
            )
        key = self._key_of_call(value, args)
        if key is not None and key in self.known:
            return self.known[key][0]
        self.calls.append(value.definition)
        try:
            result = self.evaluate(value.definition.body, inner)
        except RecursionError:
            raise Fault(
                "E0116",
                span,
                f"`{value.definition.name.name}` calls one that calls another, and so on: too many to follow",
                help="write such a chain as one list, `[… for i in 0..n]`, or with fewer steps",
            ) from None
        finally:
            self.calls.pop()
        if value.definition.type is not None:
            require_type(result, value.definition.type, span)
        if key is not None:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[key] = result, value.definition, value.scope
        return result

    def _key_of_call(self, value: FunctionValue, args: list[Value]) -> tuple[object, ...] | None:
        """What the value of a call depends on; None where it is not kept: while holes are tried, and for
        arguments other than numbers and texts."""
        if self.holes or not all(type(a) in KEPT for a in args):
            return None
        return id(value.definition), id(value.scope), *((type(a), a) for a in args)

    def call_builtin(self, value: Builtin, args: list[Value], span: SourceSpan) -> Value:
        """The value of a function of the language, whose work is counted first."""
        if value.name in ("gf_pow", "primes"):  # what costs more than it is given, and gives
            most = args[0] if args and isinstance(args[0], int) else 0
            self.spend(POWERS if value.name == "gf_pow" else min(max(most, 0), LIST_LIMIT) // 16, span)
        if value.name not in ("len", "refuse"):  # what goes through all elements
            for a in args:
                self.sized(a, span)
        if not _check_argument_count(value, args, span):
            return None
        return self.sized(integer_if_whole(value.run(span, *args)), span)

    def scope_of_arguments(
        self, value: FunctionValue, args: list[Value], part: tree.Call, span: SourceSpan
    ) -> Scope:
        """The scope of a function's body, where its arguments have their values."""
        formals = value.definition.formals
        needed = max((i + 1 for i, f in enumerate(formals) if f.default is None), default=0)
        if not needed <= len(args) <= len(formals):
            raise Fault(
                "E0115",
                span,
                f"`{value.definition.name.name}` takes {len(formals)} values, not {len(args)}",
                labels=[(value.definition.name.span, "defined here")],
            )
        inner = Scope(value.scope if isinstance(value.scope, Scope) else None)
        for i, formal in enumerate(formals):
            if i < len(args):
                given, at = args[i], part.args[i].span
            else:
                assert formal.default is not None
                given, at = self.evaluate(formal.default, inner), formal.name.span
            require_type(given, formal.type, at)
            inner.set(formal.name.name, given, formal.name.span, "argument")
        return inner

    def comprehension(self, e: tree.Comprehension, scope: Scope) -> Value:
        """``[item for var in over]``."""
        out = []
        for v in elements_to_iterate(self.evaluate(e.over, scope), e.over.span):
            inner = scope.child()
            inner.set(e.var.name, v, e.var.span, "for")
            out.append(self.evaluate(e.item, inner))
        return self.sized(tuple(out), e.span)

    def unary(self, e: tree.Unary, scope: Scope) -> Value:
        """``-x`` and ``not x``."""
        value = self.evaluate(e.operand, scope)
        if e.op == "not":
            return not require_bool(value, e.operand.span)
        if isinstance(value, Quantity):
            return Quantity(-value.amount, value.dim)
        return -require_number(value, e.operand.span, "-")

    def chain(self, e: tree.Chain, scope: Scope) -> Value:
        """Operators of one rank, left to right."""
        ops = {op for op, _ in e.rest}
        if ops <= {"and", "or"}:
            result = require_bool(self.evaluate(e.first, scope), e.first.span)
            for op, operand in e.rest:
                if result == (op == "or"):
                    return result
                result = require_bool(self.evaluate(operand, scope), operand.span)
            return result
        if ops & COMPARISONS:
            left, left_span = self.evaluate(e.first, scope), e.first.span
            for op, operand in e.rest:
                right = self.evaluate(operand, scope)
                if isinstance(right, tuple):
                    self.sized(right, operand.span)
                if not compare_values(op, left, right, left_span.to(operand.span)):
                    return False
                left, left_span = right, operand.span
            return True
        value, span = self.evaluate(e.first, scope), e.first.span
        for op, operand in e.rest:
            right = self.evaluate(operand, scope)
            value = self.sized(apply_arithmetic(op, value, right, span, operand.span), operand.span)
            span = span.to(operand.span)
        return value


def _check_argument_count(builtin: Builtin, args: Sequence[Value], span: SourceSpan) -> bool:
    import inspect

    try:
        inspect.signature(builtin.run).bind(span, *args)
    except TypeError:
        raise Fault("E0115", span, f"`{builtin.name}` does not take {len(args)} values") from None
    return True
