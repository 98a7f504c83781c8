"""Values of a connect's settings, and the narrowed context of an extend."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.amounts import decimal_comma_fault, settings_in_one_fault, unit_apart_fault
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.model import Axis, PathComponent
from tdsl.semantics.operators import require_type
from tdsl.semantics.plan import Context, Group, ResolvedPath
from tdsl.semantics.quantity import LENGTH, RATE, Quantity, quantity_text
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import BareWord, ModelValue, Value, a_type
from tdsl.syntax import tree
from tdsl.syntax.keywords import SETTINGS

CAPACITY_LIMIT = 1 << 62
"""The capacity of all links of a fabric together is below it, in bit/s each way: sums of capacities fit 64
bits."""
GRAIN_LIMIT = 1 << 40
"""The same capacity in units of the greatest common divisor of all rates is below it: proofs add up products
of capacities with lengths of up to 2^20 steps, which then fit 64 bits, too."""

LONGEST = {
    "diameter": (1, "1m"),
    "bend": (1000, "1km"),
    **dict.fromkeys(("length", "lengths", "unconfirmed", "reach"), (10**9, "1,000,000km")),
}
"""How many metres these are at most: sums of micrometres, and of squares of diameters, stay whole numbers of
63 bits."""
MEDIA_WORDS = ("cable", "trace", "backplane", "fibre", "copper", "dac", "acc", "aec", "aoc", "dwdm")
FIBRES = ("mmf", "smf")
"""Media of cables in models, by the mode of their fibre."""
MEDIA_MEANT = {
    "optical": "fibre",
    "optic": "fibre",
    "smf": "fibre",
    "mmf": "fibre",
    "twinax": "dac",
    "fiber": "fibre",
}
"""Words that people use for a medium."""
LINK_MEDIA = MEDIA_WORDS[:3]
"""What a link is laid in: all other media are those of a cable."""


def not_too_long(name: str, value: object, span: SourceSpan) -> None:
    """Raise Fault where one of the lengths that a setting or fact holds is more than it may be."""
    most, shown = LONGEST.get(name, (0, ""))
    each = value if isinstance(value, tuple) else (value,)
    if shown and any(isinstance(v, Quantity) and v.dim == LENGTH and v.amount > most for v in each):
        raise Fault("E0116", span, f"`{name}` is at most {shown}")


def refuse_text_without_quotes(s: tree.Setting) -> None:
    """Raise Fault where what looks like a block is the placeholder of a text: ``os swp{i}``."""
    text = s.span.file.text
    end = next((i for i in range(s.name.span.end, len(text)) if text[i] in ";\n"), len(text))
    found = re.match(
        r"\s+(\w[\w./:-]*(?: ?\{[^{}\s]*\}|\{[^{}\n]*\})(?:[\w./:-]|\{[^{}\n]*\})*)",
        text[s.name.span.end : end],
    )
    if found is None:
        return
    whole = SourceSpan(s.span.file, s.name.span.end + found.start(1), s.name.span.end + found.end(1))
    fix = Fix("put it in double quotes", ((whole, f'"{found[1]}"'),), safe=False)
    message = f"a text with `{{ }}` in it is written in double quotes: `{s.name.name}`"
    raise Fault("E0118", whole, message, help=f'write `"{found[1]}"`', fix=fix)


def refuse_foreign_placeholder(template: SourceSpan) -> None:
    """Refuse the placeholders of other languages in the text of names: ``%d``, ``$i``."""
    braces = re.search(r"\$(\{[^{}\"]++\})", template.text)
    if braces is not None:
        at = SourceSpan(template.file, template.start + braces.start(), template.start + braces.end())
        fix = Fix(f"write `{braces[1]}`", ((at, braces[1]),), safe=False)
        message = "a value in a text is in braces alone, without `$`"
        raise Fault("E0120", at, message, help=f"write `{braces[1]}`", fix=fix)
    other = re.search(r"%0?\d*[ds]|\$\{?\w+\}?", template.text)
    if other is not None:
        at = SourceSpan(template.file, template.start + other.start(), template.start + other.end())
        help = "write `{i}`, or `{i:02}` for two digits, with the variable of an index"
        message = f"`{other[0]}` is not a placeholder here, and would be in each name"
        raise Fault("E0120", at, message, help=help)


def refuse_block(s: tree.Setting, help: str = "") -> None:
    """Refuse a block behind a setting that takes none. ``help`` shows the setting right."""
    if s.body is None:
        return
    refuse_text_without_quotes(s)
    at = s.body[0].span if s.body else s.span
    help = help or f"write `{s.name.name} …`, without braces"
    raise Fault("E0118", at, f"`{s.name.name}` takes no block here", help=help)


def require_plain_setting(s: tree.Setting, form: str, items: int = 1) -> None:
    """Refuse what a setting does not read: a block, more items than it takes, words behind a value. ``form``
    shows it right."""
    name = s.name.name
    refuse_block(s, f"write `{form}`")
    comma = decimal_comma_fault(s) if len(s.items) > items else None
    if comma is not None:
        raise comma
    if len(s.items) > items:
        if s.items[items].args:
            raise _unused_word_fault(s, s.items[items], form)
        raise Fault(
            "E0118",
            s.items[items].span,
            f"`{name}` takes {count_with_noun(items, 'value')} here",
            help=f"write `{form}`",
        )
    for item in s.items:
        if item.args:
            raise _unused_word_fault(s, item, form)


def _comma_left_out_fault(name: str, item: tree.SettingItem) -> Fault | None:
    """The fault of ``lengths a b``, values of a list without a comma; None of other settings."""
    word, values = item.args[0][1], [item.value, *(value for _, value in item.args)]
    if (
        name not in ("class", "lengths", "allow", "type", "alternative", "cords")
        or not isinstance(word, tree.PathExpr)
        or any(said for said, _ in item.args)
    ):
        return None
    if any(a.span.end == b.span.start and a.span.text[-1:] == "]" for a, b in pairwise(values)):  # `[3]m`
        return None
    new = f"{name} {', '.join(value.span.text for value in values)}"
    gaps = (SourceSpan(word.span.file, a.span.end, b.span.start) for a, b in pairwise(values))
    fix = Fix("put `,`", tuple((gap, ", ") for gap in gaps), safe=False)
    return Fault("E0118", word.span, f"`,` separates the values of `{name}`", help=f"write `{new}`", fix=fix)


def _unused_word_fault(s: tree.Setting, item: tree.SettingItem, form: str) -> Fault:
    """The fault of a word behind a value that uses none; ``length 3 meters`` has its unit apart, and in
    ``length 3m, rate 400Gbps`` a comma separates two settings."""
    name, word = s.name.name, item.args[0][1]
    apart = unit_apart_fault(s)
    if apart is not None:
        return apart
    if (own := _setting_of_its_own_fault(item)) is not None:
        return own
    following = item.value.bare if isinstance(item.value, tree.PathExpr) else None
    place = s.items.index(item) if item in s.items else 0
    if place and (following in SEPARATE or following in SETTINGS):
        before = s.items[place - 1]
        comma = SourceSpan(item.span.file, before.span.end, item.span.start)
        return Fault(
            "E0118",
            comma if comma.text.strip() else item.span,
            f"`,` lists values of `{name}`; settings are separated by `;`",
            help=f"write `; {following} {word.span.text}`",
            fix=Fix("write `;`", ((comma, "; "),)),
        )
    other = _comma_left_out_fault(name, item) or settings_in_one_fault(name, [item])
    if other is not None:
        return other
    begin = word.span.start
    if item.args[0][0]:
        begin = word.span.file.text.find(item.args[0][0], item.value.span.end, begin)
    at = SourceSpan(word.span.file, begin, word.span.end)
    length = _length_behind_fault(name, item, at)
    return length or Fault(
        "E0118", at, f"`{name}` does not use `{at.text}`", help=_help_without_word(at.text, form)
    )


def _help_without_word(word: str, form: str) -> str:
    """The form of a setting that does not use a word; where the form has this word itself, to remove it."""
    if word in form:
        return f"remove `{word}`, or put `;` before it if it is a setting of its own"
    return f"write `{form}`"


def _setting_of_its_own_fault(item: tree.SettingItem) -> Fault | None:
    """The fault of ``length 3m rate 400Gbps``, two settings without `;`; None of other items."""
    word = item.args[0][1]
    if not isinstance(word, tree.PathExpr) or word.bare not in SETTINGS or word.bare == "carries":
        return None
    if len(item.args) < 2:
        return None
    gap = SourceSpan(word.span.file, word.span.start, word.span.start)
    return Fault(
        "E0118",
        word.span,
        f"`{word.bare}` is a setting of its own; settings are separated by `;`",
        help=f"write `; {word.bare}`",
        fix=Fix("write `;`", ((gap, "; "),)),
    )


def _length_behind_fault(name: str, item: tree.SettingItem, at: SourceSpan) -> Fault | None:
    """The fault of ``cable AOC 10m``, a length behind a cable or a medium; None of other words."""
    if name not in ("cable", "medium") or not re.fullmatch(r"[\d.]+(?:m|cm|mm|km)", at.text):
        return None
    new = f"; length {at.text}"
    fix = Fix(f"write `{new}`", ((SourceSpan(at.file, item.value.span.end, at.end), new),))
    message = f"`{name}` does not use `{at.text}`: how long a cable is is said by `length`"
    return Fault("E0118", at, message, help=f"write `{new}`", fix=fix)


VALUE_EXAMPLES = {
    "rate": "400Gbps",
    "length": "3m",
    "class": '"north"',
    "colour": '"blue"',
    "medium": "fibre",
    "cable": "PART",
    "optic": "PART",
    "allow": "PART",
    "bundle": "2",
    "layer": "scaleup",
}
"""How the value of a setting of a connect is written."""
EVPN = "evpn"
"""What ``across`` is followed by where the switches are those of Ethernet segments (RFC 7432)."""
SEPARATE = ("rate", "length", "cable", "medium", "class", "colour", "optic", "bundle", "layer")
"""Settings of a connect that people put behind a comma."""


def only_value_behind(item: tree.SettingItem) -> tree.Expr | None:
    """The one value behind the first of an item, as in ``above 2.6m``; None where there are none or more, or
    where a word such as ``at`` is before it: `above zzz 2.6m`."""
    return item.args[0][1] if len(item.args) == 1 and not item.args[0][0] else None


def count_with_noun(n: int, what: str) -> str:
    """``one value``, ``2 values``."""
    return f"one {what}" if n == 1 else f"{n} {what}s"


def connect_value(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> object:
    """The setting's value, a tuple of one a dimension, or a tree.Str whose placeholders need the connect's
    variables."""
    require_value_of_connect(s)
    if s.name.name == "bundle":
        if bundle_across(s):
            s = replace(s, items=(replace(s.items[0], args=()),))
        require_plain_setting(s, "bundle 2")
        size = evaluator.integer(s.items[0].value, scope)
        if size < 2:
            raise Fault(
                "E0120",
                s.items[0].span,
                f"a bundle has at least two links; this says {size}",
                help="write `bundle 2`",
            )
        return size
    if s.name.name == "cable" and len(s.items) == 1 and s.items[0].args:
        s = replace(s, items=(replace(s.items[0], args=_other_than_carries(s.items[0].args)),))
    if s.name.name == "layer":
        require_plain_setting(s, "layer scaleup")
    form = f"{s.name.name} {s.items[0].value.span.text}"
    require_plain_setting(
        s, f"{form}`, or `{form} carries 2" if s.name.name == "cable" else form, len(s.items)
    )
    values = tuple(_connect_item_value(s.name.name, item, scope, evaluator) for item in s.items)
    return values[0] if len(values) == 1 else values


def require_value_of_connect(s: tree.Setting) -> None:
    """Refuse a setting of a connect without a value."""
    if not s.items:
        example = VALUE_EXAMPLES.get(s.name.name, "…")
        help = f"write `{s.name.name} {example}`, or remove `{s.name.name}`"
        raise Fault("E0120", s.span, f"the value of `{s.name.name}` is missing", help=help)


def _refuse_number_behind_across(s: tree.Setting) -> None:
    """Raise Fault for ``bundle across 2 evpn``."""
    turned = re.fullmatch(r"bundle\s++across\s++(\d++)(\s++evpn)?", s.span.text)
    if turned is not None:
        new = f"bundle {turned[1]} across{turned[2] or ''}"
        fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
        raise Fault("E0120", s.span, "the number of links is before `across`", help=f"write `{new}`", fix=fix)


def bundle_across(s: tree.Setting) -> str:
    """How the switches of a port channel of a host over several of them act as one: ``address`` of ``bundle N
    across``, ``evpn`` of ``bundle N across evpn``; "" for another setting. Raises Fault for another word."""
    args = s.items[0].args if len(s.items) == 1 and s.body is None else ()
    words = [value.bare if isinstance(value, tree.PathExpr) and not name else None for name, value in args]
    _refuse_number_behind_across(s)
    if not words or words[0] != "across":
        return ""
    if len(words) > 2:
        more = args[2][1].span.to(args[-1][1].span)
        help = f"remove `{more.text}`; `bundle N across evpn` and `bundle N across` are what there is"
        raise Fault("E0118", more, f"`bundle` does not use `{more.text}`", help=help)
    if len(words) == 2 and words[1] != EVPN:
        raise Fault(
            "E0118",
            args[1][1].span,
            f"`{args[1][1].span.text}` is no way to join two switches",
            help="write `bundle 2 across evpn` (EVPN multihoming), or `bundle 2 across` (no shared state)",
        )
    return EVPN if len(words) == 2 else "address"


def links_carried_by_cable(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> int:
    """N of ``cable PART carries N``: how many links one cable carries; 1 where it is not written."""
    written = [v for w, v in s.items[0].args if w == "carries"] if len(s.items) == 1 else []
    if not written:
        return 1
    if len(written) > 1:
        raise Fault("E0104", written[1].span, "`carries` is written twice", help="leave one of them")
    n = evaluator.integer(written[0], scope)
    if n < 2:
        raise Fault(
            "E0120",
            written[0].span,
            f"`carries` is for a cable of at least two links; this says {n}",
            help="write `carries 2`, or leave it out",
        )
    return n


def _other_than_carries(args: tuple[tuple[str, tree.Expr], ...]) -> tuple[tuple[str, tree.Expr], ...]:
    return tuple((w, v) for w, v in args if w != "carries")


def _connect_item_value(name: str, item: tree.SettingItem, scope: Scope, evaluator: Evaluator) -> object:
    if isinstance(item.value, tree.Str) and any(not isinstance(p, str) for p in item.value.parts):
        if name not in ("class", "colour"):
            raise Fault(
                "E0120", item.span, f"`{name}` is the same for all links of a connect; it has no placeholders"
            )
        return item.value
    value = evaluator.evaluate(item.value, scope, words=True)
    if isinstance(value, ModelValue):
        value = BareWord(value.name)
    if name in ("rate", "length"):
        return _rate_or_length(name, value, item.span)
    if isinstance(value, Quantity) and value.dim == LENGTH and name in ("cable", "medium", "optic"):
        at = SourceSpan(item.span.file, item.span.file.text.rfind(name, 0, item.span.start), item.span.end)
        alone = re.fullmatch(rf"{name}[ \t]+{re.escape(item.span.text)}", at.text) is not None
        new = f"length {item.span.text}"
        fix = Fix(f"write `{new}`", ((at, new),), safe=False) if alone else None
        raise Fault(
            "E0103",
            at,
            f"how long a cable is is said by `length`, not by `{name}`",
            help=f"write `{new}`",
            fix=fix,
        )
    if not isinstance(value, str):
        new = f'"{item.span.text}"'
        plain = item.span.text.replace(".", "").isalnum()
        raise Fault(
            "E0103",
            item.span,
            f"`{name}` is a word or a string, not {a_type(value)}",
            help=f"write `{name} {new}`" if plain else "",
            fix=Fix(f"write `{new}`", ((item.span, new),), safe=False) if plain else None,
        )
    _refuse_empty_text(name, value, item.span)
    if name == "layer" and value != "scaleup":
        raise Fault(
            "E0120",
            item.span,
            "the layer of a connect is `scaleup`, or not written",
            help="write `layer scaleup` for NVLink, or leave `layer` out for links of the network",
            fix=Fix("write `scaleup`", ((item.span, "scaleup"),), safe=False),
        )
    if name == "medium" and value not in MEDIA_WORDS:
        raise unknown_name_fault(
            "E0101",
            item.span,
            "medium",
            str(value),
            MEDIA_WORDS,
            meant=MEDIA_MEANT,
        )
    return str(value) if isinstance(value, BareWord) else value


def _refuse_empty_text(name: str, value: str, span: SourceSpan) -> None:
    if not value.strip():
        help = f"write `{name} {VALUE_EXAMPLES.get(name, '…')}`, or remove `{name}`"
        raise Fault("E0120", span, f"`{name}` is empty", help=help)


def _other_quantity_fault(name: str, value: Value, span: SourceSpan) -> Fault:
    """The fault of ``rate`` or ``length`` with another value than such a quantity; a plain number gets its
    unit."""
    unit, example = ("Gbps", "400Gbps") if name == "rate" else ("m", "3m")
    number = isinstance(value, (int, Fraction)) and not isinstance(value, bool)
    new = f"{span.text}{unit}" if number and span.text.replace(".", "").isdigit() else ""
    return Fault(
        "E0103",
        span,
        f"`{name}` is a {name}, not {a_type(value)}",
        help=f"write `{name} {new or example}`",
        fix=Fix(f"write `{new}`", ((span, new),), safe=False) if new else None,
    )


def _rate_or_length(name: str, value: Value, span: SourceSpan) -> Quantity:
    """The value of ``rate`` or ``length`` of a connect: more than nothing, and no more than it may be."""
    dim = RATE if name == "rate" else LENGTH
    if not isinstance(value, Quantity) or value.dim != dim:
        raise _other_quantity_fault(name, value, span)
    if value.amount <= 0 or (name == "rate" and value.amount.denominator != 1):
        raise Fault("E0120", span, f"a {name} must be greater than zero")
    if name == "rate":
        fitting_rate(value, span)
    not_too_long(name, value, span)
    return value


def fitting_rate(value: Quantity, span: SourceSpan) -> int:
    """A rate in whole bit/s. Raises Fault where one link alone would be beyond the limit."""
    if value.amount >= CAPACITY_LIMIT:
        raise Fault(
            "E0116",
            span,
            f"{quantity_text(value)} is more than all links may carry together: the limit is "
            f"{CAPACITY_LIMIT:,}bps",
            help="correct the unit: links run at `400Gbps` or `1.6Tbps`",
        )
    return int(value.amount)


def narrow_context(context: Context, target: ResolvedPath, scope: Scope, evaluator: Evaluator) -> Context:
    """The context of an extend's block: each written index narrows its axis to that index."""
    groups: list[Group] = []
    at: Group | None = target.group
    while at is not None:
        groups.insert(0, at)
        at = at.parent
    entries = iter(target.entries)
    parts: list[PathComponent] = []
    for part in target.group_parts:
        axes: list[Axis] = []
        for _axis in part.axes:
            entry = next(entries)
            if entry.expr is None or isinstance(entry.expr, tree.Star):
                axes.append(entry.axis)
                continue
            index = evaluator.integer(entry.expr, scope)
            if not entry.axis.low <= index <= entry.axis.high:
                raise Fault(
                    "E0108",
                    entry.span,
                    f"`{entry.name}[{index}]` is outside {entry.axis.low}..{entry.axis.high}",
                )
            axes.append(Axis(index, 1))
        parts.append(PathComponent(part.name, part.kind, tuple(axes)))
    return Context(tuple(groups), tuple(parts))


__all__ = ["Value", "connect_value", "narrow_context", "require_type"]
