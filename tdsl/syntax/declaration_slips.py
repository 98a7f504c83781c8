"""Slips in declarations, settings and patterns: words that are missing, doubled or in another order."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.forms import FORMS
from tdsl.syntax.keywords import INSTEAD_OF, KIND_WORDS, KINDS, PATTERNS, SETTINGS, STARTERS, TYPES
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import VALUES, Scene, closest_keyword, rewriting_finding, surrounding_block

SWITCH_NAME = re.compile(r"leaf|spine|tor|sw|core|agg|edge|super|gateway|rail", re.IGNORECASE)
_HOST_NAME = re.compile(r"(?:node|host|server|compute|box|filer|login|gpu|dgx|tray|storage)", re.IGNORECASE)
SCOPES = frozenset(KINDS["scope"]) | frozenset(KINDS["group"])


def _line_tokens(s: Scene) -> list[Token]:
    """The statement's tokens before and behind the fault."""
    return [*s.statement, *s.rest]


def _declared_without_kind(s: Scene) -> Diagnostic | None:
    """``node[16]: DGX_H100``."""
    t, words, following = s.token, s.statement, s.rest[1:2]
    if t is None or t.type != "COLON" or not words or words[0].type != "NAME" or not following:
        return None
    if following[0].type != "NAME" or words[0].text in STARTERS | {"else"}:
        return None
    kinds = [x.type for x in words]
    if len(words) < 4 or kinds[1] != "LSQB" or kinds[-1] != "RSQB":
        return None
    name = SourceSpan(s.run.file, words[0].start, words[-1].end)
    declared = re.search(rf"\bmodel\s+(\w+)\s+{following[0].text}\b", s.run.file.text)
    usual = "switch" if SWITCH_NAME.match(words[0].text) else "host"
    if surrounding_block(s) == "model" and usual == "host":
        usual = "chip"  # behind the `:` is a name, which is that of a model
    kind = declared[1] if declared is not None and declared[1] in KINDS["device"] else usual
    return Diagnostic(
        "E0001",
        f"`{name.text}` has no word before it that says what it declares: `host`, `switch`, `chip` …",
        name,
        help=f"write `{kind} {name.text}: {following[0].text}`",
        fix=Fix(
            f"write `{kind}`", ((SourceSpan(s.run.file, name.start, name.start), f"{kind} "),), safe=False
        ),
    )


def _foreign_kind(s: Scene) -> Diagnostic | None:
    """``sw leaf[8]: M`` and ``leaf switch[8]: M``."""
    if s.token is None or s.token.type != "COLON" or not _is_device_of_two_words(s):
        return None
    first, second = s.statement[0], s.statement[1]
    if first.text in STARTERS or first.text.lower() in INSTEAD_OF or closest_keyword(first.text, STARTERS):
        return None
    both = first.span.to(second.span)
    if second.text in KIND_WORDS:
        new = f"{second.text} {first.text}"
        return rewriting_finding(
            f"`{second.text}` comes before the name `{first.text}`", both, both, new, safe=True
        )
    kind = "switch" if SWITCH_NAME.match(second.text) or first.text.lower().startswith("sw") else "host"
    message = f"`{first.text}` declares nothing; a device is a `host`, `switch`, `chip`, `ocs` or `panel`"
    if kind == "host" and not _HOST_NAME.match(second.text):
        return Diagnostic(
            "E0001", message, first.span, help=f"write `host {second.text}` or `switch {second.text}`"
        )
    return rewriting_finding(message, first.span, first.span, kind)


def _is_device_of_two_words(s: Scene) -> bool:
    """Whether a statement is ``a b[…]`` before its fault, or ``a b`` with a name behind it."""
    kinds = [x.type for x in s.statement]
    shaped = kinds[:3] == ["NAME", "NAME", "LSQB"] and kinds[-1] == "RSQB"
    return shaped or (kinds == ["NAME", "NAME"] and [x.type for x in s.rest[1:3]] == ["NAME"])


def _of_before_model(s: Scene) -> Diagnostic | None:
    """``host node[16] of M``."""
    t, following = s.token, s.rest[1:2]
    if t is None or t.text != "of" or s.first not in KIND_WORDS or len(s.statement) < 2 or not following:
        return None
    if following[0].type != "NAME" or "COLON" not in s.expected or s.before is None:
        return None
    at = SourceSpan(s.run.file, s.before.end, t.end)
    return Diagnostic(
        "E0001",
        "the model follows `:`, not `of`",
        t.span,
        help=f"write `: {following[0].text}`",
        fix=Fix("write `:`", ((at, ":"),)),
    )


def _group_with_sign(s: Scene) -> Diagnostic | None:
    """``pod su[4]: {`` and ``pod su * 4 {``."""
    every = _line_tokens(s)
    kinds = [x.type for x in every]
    if s.first not in SCOPES or len(every) < 4:
        return None
    b = s.before
    if s.token is not None and s.token.type == "LBRACE" and b is not None and b.type == "COLON":
        return Diagnostic(
            "E0001",
            f"the block of a `{s.first}` has no `:` before it",
            b.span,
            help="remove the `:`",
            fix=Fix("remove the `:`", ((b.span, ""),)),
        )
    if kinds[1:3] == ["NAME", "STAR"] and kinds[3] in ("NAME", "NUMBER"):
        new = f"{s.first} {every[1].text}[{every[3].text}]"
        whole = every[0].span.to(every[3].span)
        message = f"how many `{every[1].text}` there are is written in brackets"
        return rewriting_finding(message, every[2].span, whole, new, safe=True)
    return None


def _star_behind_point(s: Scene) -> Diagnostic | None:
    """``su.*.leaf.*``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "STAR" or b.type != "DOT":
        return None
    text, start = s.run.file.text, b.start
    while start and (text[start - 1].isalnum() or text[start - 1] in "_.*"):
        start -= 1
    found = re.compile(r"[\w.*]+").match(text, start)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, start, found.end())
    return rewriting_finding(
        "`*` is written in brackets", t.span, whole, whole.text.replace(".*", "[*]"), safe=True
    )


def _range_in_name(s: Scene) -> Diagnostic | None:
    """``row A-D {``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if t is None or b is None or t.type != "MINUS" or s.first != "row" or not following:
        return None
    if len(b.text) > 1 or following[0].end - following[0].start > 1:
        return None
    whole = b.span.to(following[0].span)
    return rewriting_finding(
        "a range is written with `..`", whole, whole, f"{b.text}..{following[0].text}", safe=True
    )


def _count_without_brackets(s: Scene) -> Diagnostic | None:
    """``host node 16: M`` and ``host node x 16: M``."""
    every = _line_tokens(s)
    if s.first not in KIND_WORDS or len(every) < 5 or every[1].type != "NAME":
        return None
    at = 3 if every[2].text == "x" else 2
    if every[at].type != "NUMBER" or every[at + 1 : at + 2] == [] or every[at + 1].type != "COLON":
        return None
    new = f"{s.first} {every[1].text}[{every[at].text}]"
    whole = every[0].span.to(every[at].span)
    return rewriting_finding(
        f"how many `{every[1].text}` there are is written in brackets", every[at].span, whole, new, safe=True
    )


def _count_before_name(s: Scene) -> Diagnostic | None:
    """``16 host node: M``, ``16 x host node: M``, ``host 16 node: M`` and ``host[16] node: M``."""
    every = _line_tokens(s)
    if [x.text for x in every[1:2]] == ["x"] and len(every) > 3 and every[2].text in KIND_WORDS:
        every = [every[0], *every[2:]]
    kinds = [x.type for x in every]
    if kinds[:3] == ["NUMBER", "NAME", "NAME"] and every[1].text in KIND_WORDS and not s.statement:
        kind, name, count, last = every[1], every[2], every[0].text, every[2]
    elif s.first in KIND_WORDS and kinds[:4] == ["NAME", "NUMBER", "NAME", "COLON"]:
        kind, name, count, last = every[0], every[2], every[1].text, every[2]
    elif s.first in KIND_WORDS and kinds[:5] == ["NAME", "LSQB", "NUMBER", "RSQB", "NAME"]:
        kind, name, count, last = every[0], every[4], every[2].text, every[4]
    else:
        return None
    new = f"{kind.text} {name.text}[{count}]"
    whole = every[0].span.to(last.span)
    return rewriting_finding(
        f"the number of `{name.text}` follows the name, in brackets", whole, whole, new, safe=True
    )


def _count_before_model(s: Scene) -> Diagnostic | None:
    """``switch leaf: 8 x M`` and ``switch leaf: 8 M``."""
    every = [x for x in _line_tokens(s) if x.text != "x"]
    kinds = [x.type for x in every]
    counted = kinds[:3] == ["NAME", "NAME", "COLON"] and kinds[3:5] in (["NUMBER", "NAME"], ["QMARK", "NAME"])
    if s.first not in KINDS["device"] or not counted:
        return None
    name, count, model = every[1], every[3], every[4]
    whole = name.span.to(model.span)
    new = f"{name.text}[{count.text}]: {model.text}"
    message = f"the number of `{name.text}` follows the name, in brackets"
    return rewriting_finding(message, count.span, whole, new, safe=True)


def _hosts_of_intent(s: Scene) -> Diagnostic | None:
    """``hosts 256: DGX_H100`` and ``256 x DGX_H100``."""
    every = _line_tokens(s)
    kinds = [x.type for x in every]
    if s.first == "hosts" and kinds[:4] == ["NAME", "NUMBER", "COLON", "NAME"]:
        count, model = every[1], every[3]
    elif s.first == "hosts" and kinds[:5] == ["NAME", "EQUAL", "NUMBER", "NAME", "NAME"]:
        count, model = every[2], every[4]
    elif not s.statement and kinds[:3] == ["NUMBER", "NAME", "NAME"] and every[1].text == "x":
        count, model = every[0], every[2]
    else:
        return None
    new = f"hosts {count.text} x {model.text}"
    whole = every[0].span.to(model.span)
    return rewriting_finding(
        "hosts are written as their number, `x` and their model", whole, whole, new, safe=True
    )


def _unquoted_title(s: Scene) -> Diagnostic | None:
    """``fabric pod A pod {``."""
    t, b = s.token, s.before
    if t is None or b is None or s.first not in SCOPES or t.type != "NAME" or len(s.statement) != 2:
        return None
    words = []
    for token in s.rest:
        if token.type == "LBRACE":
            break
        words.append(token)
    if len(words) == len(s.rest) or any(x.type not in ("NAME", "NUMBER", "MINUS") for x in words):
        return None
    span = words[0].span.to(words[-1].span)
    words = [x for x in words if s.first != "row" or x.text not in ("and", "or")]
    if s.first == "row":
        gap = SourceSpan(s.run.file, b.end, words[0].start)
        return Diagnostic(
            "E0001",
            "names of rows are separated by `,`",
            span,
            help=f"write `row {b.text}, {', '.join(x.text for x in words)}`",
            fix=Fix("write `,`", ((gap, ", "),)) if len(words) == 1 else None,
        )
    return rewriting_finding("a title is written in double quotes", span, span, f'"{span.text}"', safe=True)


def _model_without_kind(s: Scene) -> Diagnostic | None:
    """``model TOR "Top of rack" {`` and ``switch model TOR {``."""
    every = _line_tokens(s)
    kinds = [x.type for x in every]
    if s.first == "model" and kinds[:2] == ["NAME", "NAME"] and kinds[2:3] in (["STRING"], ["LBRACE"]):
        whole = every[0].span.to(every[1].span)
        words = {x.text for x in every}
        kind = "cable" if {"reach", "lengths", "medium"} & words else "optic" if "form" in words else ""
        message = "a model has its kind before its name: `switch`, `host`, `chip`, `cable` …"
        if not kind and _kind_of_use(s, every[1].text):
            kind = _kind_of_use(s, every[1].text)
        if kind:
            return rewriting_finding(message, every[1].span, whole, f"model {kind} {every[1].text}")
        help = f"write `model switch {every[1].text}` or `model host {every[1].text}`"
        return Diagnostic("E0001", message, every[1].span, help=help)
    swapped = s.first in KINDS["device"] and kinds[:3] == ["NAME"] * 3 and every[1].text == "model"
    if not swapped:
        return None
    whole = every[0].span.to(every[2].span)
    new = f"model {s.first} {every[2].text}"
    return rewriting_finding(f"`model` comes before `{s.first}`", whole, whole, new, safe=True)


def _kind_of_use(s: Scene, name: str) -> str:
    """The kind of device that the text declares with a model; "" where there is none, or several."""
    found = set(
        re.findall(
            rf"\b(host|chip|switch|ocs|panel)\s+\w+[^:{{}};\n]*:\s*{re.escape(name)}\b", s.run.file.text
        )
    )
    return found.pop() if len(found) == 1 else ""


def _type_behind_equals(s: Scene) -> Diagnostic | None:
    """``param hosts = int 8``."""
    every = _line_tokens(s)
    kinds = [x.type for x in every]
    if s.first not in ("param", "let") or kinds[:4] != ["NAME", "NAME", "EQUAL", "NAME"] or len(every) < 5:
        return None
    if every[3].text not in TYPES or every[4].type not in VALUES:
        return None
    whole = every[0].span.to(every[4].span)
    new = f"{s.first} {every[1].text}: {every[3].text} = {every[4].text}"
    return rewriting_finding(
        "the type follows the name, and the value follows `=`", every[3].span, whole, new, safe=True
    )


def _parameter_without_type(s: Scene) -> Diagnostic | None:
    """``topology t(ends: ports, count = 4)``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "EQUAL" or s.first not in ("topology", "def") or len(s.rest) < 2:
        return None
    kind = {"NUMBER": "int", "RATIO": "ratio", "STRING": "string", "QUANTITY": "length"}.get(s.rest[1].type)
    if kind is None or b.type != "NAME":
        return None
    new = f"{b.text}: {kind}"
    return rewriting_finding(f"a parameter of a `{s.first}` has a type", b.span, b.span, new)


def _setting_behind_model(s: Scene) -> Diagnostic | None:
    """``host filer[8]: FILER role storage``: settings of a device without braces."""
    t, b = s.token, s.before
    if t is None or b is None or s.first not in KINDS["device"] or b.type != "NAME" or len(s.rest) != 2:
        return None
    if (
        "COLON" not in [x.type for x in s.statement]
        or t.text not in DEVICE_WORDS
        or s.rest[1].type not in ("NAME", *VALUES)
    ):
        return None
    whole = t.span.to(s.rest[1].span)
    return rewriting_finding(
        "settings of a device are written in braces", whole, whole, f"{{ {whole.text} }}", safe=False
    )


def _omit_inside_of(s: Scene) -> Diagnostic | None:
    """``omit node[15] in pod[0]``."""
    t, inner, outer = s.token, s.statement[1:], s.rest[1:]
    if t is None or s.first not in ("omit", "naming") or t.text not in ("in", "of", "from", "inside"):
        return None
    if not inner or inner[0].type != "NAME" or not outer or outer[0].type != "NAME":
        return None
    parts = {"NAME", "LSQB", "RSQB", "NUMBER", "DOT", "STAR", "RANGE"}
    if any(x.type not in parts for x in (*inner, *outer)):
        return None
    whole = inner[0].span.to(outer[-1].span)
    new = f"{outer[0].span.to(outer[-1].span).text}.{inner[0].span.to(inner[-1].span).text}"
    return rewriting_finding("a path begins with the group that is outside", whole, whole, new)


def _said_by_other_statement(s: Scene) -> Diagnostic | None:
    """``host node[4]: M at rack A1`` and ``switch leaf[2]: M "leaf-{i}"``: its place and its name."""
    t, name = s.token, s.statement[1:2]
    if t is None or s.first not in KINDS["device"] or not name or name[0].type != "NAME":
        return None
    if s.before is None or s.before.type != "NAME" or "COLON" not in [x.type for x in s.statement]:
        return None
    if t.type == "STRING":
        new = f"naming {name[0].text}[i] {t.text}"
        message = "names of devices are given by a statement of its own"
        return Diagnostic("E0001", message, t.span, help=f"write `{new}` in a line behind it")
    if t.text not in ("in", "at", "on"):
        return None
    message = "the place of a device is given by a statement of its own, `place`"
    new = f"place {name[0].text}[*] in HALL.A[1] stacked from 10U"
    return Diagnostic(
        "E0001", message, t.span, help=f"write `{new}`: the hall, the row, the rack and the height"
    )


DEVICE_WORDS = frozenset({"role", "spares", "nos", "latency", "fails", "fit", "mtbf", "repair"})
"""Settings of a device that have one value."""


def _type_before_name(s: Scene) -> Diagnostic | None:
    """``param int units = 2``."""
    every = _line_tokens(s)
    kinds = [x.type for x in every]
    if s.first not in ("param", "let") or kinds[:4] != ["NAME", "NAME", "NAME", "EQUAL"]:
        return None
    kind, name = every[1].text, every[2].text
    if name in TYPES and (kind not in TYPES or name == "int"):  # `param units int = 2`
        kind, name = name, kind
    if kind not in TYPES:
        return None
    whole = every[1].span.to(every[2].span)
    new = f"{name}: {kind}"
    return rewriting_finding("the type follows the name, behind `:`", whole, whole, new, safe=True)


def is_in_settings(s: Scene) -> bool:
    """Whether the statement is in the braces of something whose block has settings and no `let`."""
    return surrounding_block(s) not in SCOPES | {"", "model", "topology", "extend", "if", "for", "else"}


def _is_named_elsewhere(s: Scene, name: str) -> bool:
    """Whether a name is also written inside of statements, and so is that of a value."""
    tokens = s.run.tokens
    heads = (END, "LBRACE", "RBRACE")
    metric = ("require", "report", "and", "with")
    return any(
        t.text == name and tokens[i].type not in heads and tokens[i].text not in metric
        for i, t in enumerate(tokens[1:])
    )


def _setting_with_equals(s: Scene) -> Diagnostic | None:
    """``length = 3m`` and ``n = 4``."""
    t = s.token
    if t is None or t.type != "EQUAL" or len(s.statement) != 1 or s.statement[0].type != "NAME":
        return None
    if len(s.rest) < 2 or s.rest[1].start > t.end + 1:
        return None
    name = s.first
    rest = SourceSpan(s.run.file, s.rest[1].start, s.rest[-1].end).text
    shown = rest if len(rest) <= 40 and "\n" not in rest else "…"
    if is_in_settings(s) or (name in SETTINGS and not _is_named_elsewhere(s, name)):
        at = SourceSpan(s.run.file, s.statement[0].end, s.rest[1].start)
        return Diagnostic(
            "E0001",
            f"`=` cannot follow `{name}`: a setting is a name and its value, side by side",
            t.span,
            help=f"write `{name} {shown}`",
            fix=Fix(f"write `{name} {shown}`", ((at, " "),)),
        )
    if name in STARTERS:
        return None
    begin = s.statement[0].start
    return Diagnostic(
        "E0001",
        f"`=` cannot follow `{name}`: `let` gives a name to a value, and a setting has no `=`",
        t.span,
        help=f"write `let {name} = {shown}`; for a setting write `{name} {shown}`",
        fix=Fix(
            f"write `let {name} = {shown}`", ((SourceSpan(s.run.file, begin, begin), "let "),), safe=False
        ),
    )


def _pattern_count(s: Scene) -> Diagnostic | None:
    """``spread 16``, ``spread x16``, ``full mesh``."""
    t, b = s.token, s.before
    if s.first != "connect" or t is None or b is None:
        return None
    if b.text in PATTERNS:
        number = re.fullmatch(r"x?(\d+)x?", t.text)
        if number is None or t.type not in ("NUMBER", "NAME", "QUANTITY"):
            return None
        whole = b.span.to(t.span)
        new = f"{b.text} x {number[1]}"
        return rewriting_finding("how many follows `x`", t.span, whole, new, safe=True)
    if b.text in ("full", "fully", "all") and t.type == "NAME" and s.statement[-2].text != "to":
        meant = "each" if any(x.text == "to" for x in s.statement) else "mesh"
        whole = b.span.to(t.span)
        return rewriting_finding(
            f"`{whole.text}` is not a pattern; `{meant}` joins every pair", whole, whole, meant
        )
    return None


def _word_for_operator(s: Scene) -> Diagnostic | None:
    """``r mod n``."""
    t = s.token
    if t is None or t.type != "NAME" or s.before is None:
        return None
    sign = {"mod": "%", "modulo": "%", "div": "//", "times": "*", "plus": "+", "minus": "-"}.get(
        t.text.lower()
    )
    if sign is None or not s.expected & {"MODULO", "STAR"}:
        return None
    return rewriting_finding(f"`{t.text}` is not an operator; `{sign}` is", t.span, t.span, sign, safe=True)


def _trailing_comma(s: Scene) -> Diagnostic | None:
    """``node[16,]``."""
    t, b = s.token, s.before
    if t is None or b is None or b.type != "COMMA" or t.type not in ("RSQB", "RPAR"):
        return None
    declares = s.first in KIND_WORDS or t.type == "RPAR"
    other = "" if declares else "write an index behind the `,` (`*` for all of them), or "
    return Diagnostic(
        "E0001",
        f"a value is missing between `,` and `{t.text}`",
        b.span,
        help=f"{other}remove the `,`",
        fix=Fix("remove the `,`", ((b.span, ""),)) if declares else None,
    )


def _bulleted_statement(s: Scene) -> Diagnostic | None:
    """``- require reachability`` and ``1. require reachability``."""
    t = s.token
    if t is None or s.statement or t.type not in ("STAR", "MINUS", "NUMBER", "PLUS"):
        return None
    after = s.rest[2:3] if s.rest[1:2] and s.rest[1].type in ("DOT", "BAD") else s.rest[1:2]
    if not after or after[0].text not in STARTERS:
        return None
    gone = SourceSpan(s.run.file, t.start, after[0].start)
    return Diagnostic(
        "E0001",
        f"a statement has no `{gone.text.strip()}` before it",
        t.span,
        help=f"remove `{gone.text.strip()}`",
        fix=Fix(f"remove `{gone.text.strip()}`", ((gone, ""),)),
    )


def _sentence_for_statement(s: Scene) -> Diagnostic | None:
    """``Here is the design:``, a sentence where a statement should be."""
    every = [x for x in _line_tokens(s) if x.span.begin[0] == s.run.tokens[s.run.head].span.begin[0]]
    names = [x for x in every if x.type == "NAME"]
    head = every[0] if every else None
    if head is None or head.type != "NAME" or head.text.lower() in STARTERS | set(INSTEAD_OF):
        return None
    if len(names) < 4 or any(x.type not in ("NAME", "COMMA", "DOT") for x in every[:-1]):
        return None
    if any(x.text in STARTERS | set(PATTERNS) for x in names[:2]) or head.text in SETTINGS:
        return None
    at = SourceSpan(s.run.file, head.start, head.start)
    span = head.span.to(every[-1].span)
    return Diagnostic(
        "E0001",
        "this is a sentence, and no statement of a design",
        span,
        help=f"write `# {span.text if len(span.text) <= 60 else '…'}` for a comment, or remove it",
        fix=Fix("make it a comment", ((at, "# "),), safe=False),
    )


_VARIABLE = re.compile(r'\w++\s++"(\w++)"\s*+\{[^{}]*?\bdefault\s*+[=:]\s*+([^\s;{}]++)[^{}]*+\}')


def _block_of_other_language(s: Scene) -> Diagnostic | None:
    """``variable "units" { default = 2 }``, whose braces hold what is no statement here."""
    head = _words_before_block(s)
    if len(head) < 2 or head[0].type != "NAME" or any(t.type != "STRING" for t in head[1:]):
        return None
    word = INSTEAD_OF.get(head[0].text.lower(), "")
    if not word or head[0].text in SETTINGS:
        return None
    message = f"`{head[0].text}` begins no statement here; the word is `{word}`"
    found = _VARIABLE.match(s.run.file.text, head[0].start)
    if found is None or word not in ("param", "let"):
        return Diagnostic("E0002", message, head[0].span, help=f"the form is `{FORMS.get(word, word)}`")
    new = f"{word} {found[1]} = {found[2]}"
    whole = SourceSpan(s.run.file, *found.span())
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    return Diagnostic("E0002", message, head[0].span, help=f"write `{new}`", fix=fix)


def _words_before_block(s: Scene) -> list[Token]:
    """The last words, three at most, before the brace of the block around a statement; none where there is
    none."""
    tokens, depth, begin = s.run.tokens, 1, s.run.head
    while begin > 0 and depth:
        begin -= 1
        depth += (tokens[begin].type == "RBRACE") - (tokens[begin].type == "LBRACE")
    head = list(tokens[max(begin - 3, 0) : begin]) if not depth else []
    while head and (head[0].type in (END, "LBRACE", "RBRACE") or any(t.type == END for t in head)):
        head = head[1:]
    return head


def _topology_as_statement(s: Scene) -> Diagnostic | None:
    """``topology clos {`` in a fabric."""
    t = s.token
    if t is None or s.first != "topology" or t.type not in ("LBRACE", "STRING") or len(s.statement) != 2:
        return None
    name = s.statement[1].text
    if t.type == "STRING" or surrounding_block(s) in ("", "cluster"):
        first = s.statement[0].span
        if re.search(r"\bconnect\s+ends\b", s.run.file.text):
            return Diagnostic(
                "E0001",
                "a topology has parameters in brackets",
                first.to(s.statement[1].span),
                help=f"write `topology {name}(ends: ports, hub: model) {{`, with the parameters that it uses",
            )
        message = "a topology has parameters in brackets; a network is declared by `fabric`"
        return rewriting_finding(message, first, first, "fabric")
    whole = s.statement[0].span.to(s.statement[1].span)
    return rewriting_finding(
        f"`topology` declares a new topology; a fabric uses `{name}` by its name alone", whole, whole, name
    )


TRIALS = (
    _block_of_other_language,
    _declared_without_kind,
    _foreign_kind,
    _of_before_model,
    _group_with_sign,
    _star_behind_point,
    _range_in_name,
    _count_without_brackets,
    _count_before_name,
    _count_before_model,
    _hosts_of_intent,
    _unquoted_title,
    _model_without_kind,
    _type_behind_equals,
    _parameter_without_type,
    _setting_behind_model,
    _said_by_other_statement,
    _omit_inside_of,
    _type_before_name,
    _setting_with_equals,
    _pattern_count,
    _word_for_operator,
    _trailing_comma,
    _bulleted_statement,
    _topology_as_statement,
    _sentence_for_statement,
)
