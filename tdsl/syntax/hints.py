"""Faults that newcomers make, each recognised by what stands around it and answered with what to write
instead."""

from __future__ import annotations

import re
from itertools import pairwise

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.keywords import (
    GRAMMAR_WORDS,
    KIND_WORDS,
    KINDS,
    OPERATORS,
    PATTERNS,
    SETTINGS,
    STARTERS,
    TYPES,
)
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import (
    OPERATOR_TOKENS,
    UNIT,
    VALUES,
    Scene,
    closest_keyword,
    found_words,
    rewriting_finding,
    surrounding_block,
)
from tdsl.system.similar import closest_name

# ---------------------------------------------------------------- faults with an answer of their own


def _unmatched_closing_bracket(s: Scene) -> Diagnostic | None:
    if s.token is None or s.token.type not in ("RPAR", "RSQB"):
        return None
    opener, depth = ("LPAR" if s.token.type == "RPAR" else "LSQB"), 0
    for t in s.statement:
        depth += (t.type == opener) - (t.type == s.token.type)
    if depth > 0:
        return None
    return Diagnostic(
        "E0005", f"this `{s.token.text}` closes nothing", s.span, help="remove it, or open it before"
    )


def _double_slash_comment(s: Scene) -> Diagnostic | None:
    if s.token is None or s.token.type != "FLOOR" or (s.statement and s.expected.isdisjoint({END})):
        return None
    return Diagnostic(
        "E0001",
        "`//` is division and does not begin a comment",
        s.span,
        help="a comment begins with `#`",
        fix=Fix("make it a comment", ((s.span, "#"),)),
    )


_UP_TO_SIGN = re.compile(r"""(?:[^{};#"\n]|"[^"\n]*+")*+""")


def _rest_of_line(s: Scene) -> str:
    """What the line has behind the fault, up to a brace, a `;` or a comment; "" where that is long."""
    text = s.run.file.text
    end = text.find("\n", s.span.end)
    found = _UP_TO_SIGN.match(text, s.span.end, end if end >= 0 else len(text))
    rest = found[0].strip() if found is not None else ""
    return rest if len(rest) <= 40 else ""


def _colon_in_setting(s: Scene) -> Diagnostic | None:
    """``rate: 100Gbps``."""
    t, b = s.token, s.before
    if (
        t is None
        or b is None
        or t.type != "COLON"
        or len(s.statement) != 1
        or b.type != "NAME"
        or b.text in STARTERS | {"else"}
    ):
        return None
    value = s.rest[1].text if len(s.rest) > 1 and len(s.rest[1].text) <= 40 else "…"
    known = b.text in SETTINGS and surrounding_block(s) not in ("fabric", "cluster", *KINDS["group"])
    if value.isidentifier() and not value.islower() and not known:
        message = f"`{b.text}` has no word before it that says what it declares: `host`, `switch`, `chip` …"
        help = (
            f"write `host {b.text}: {value}` or `switch {b.text}: {value}`; for a setting, `{b.text} {value}`"
        )
        return Diagnostic("E0001", message, b.span, help=help)
    touching = s.run.file.text[t.end : t.end + 1].strip()
    return Diagnostic(
        "E0001",
        f"expected a value, found `:` after `{b.text}`",
        s.span,
        help=f"a setting has no `:`; write `{b.text} {_rest_of_line(s) or value}`",
        fix=Fix("remove the `:`", ((SourceSpan(s.run.file, b.end, t.end), " " if touching else ""),)),
    )


def _ratio_with_blanks(s: Scene) -> Diagnostic | None:
    """``2 : 1``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if (
        t is None
        or b is None
        or t.type != "COLON"
        or b.type != "NUMBER"
        or not following
        or following[0].type != "NUMBER"
    ):
        return None
    low, high = b.text, following[0].text
    all_three = b.span.to(following[0].span)
    opening = s.statement[-3:-1]
    if (
        len(opening) == 2
        and opening[1].type == "LSQB"
        and opening[0].type == "NAME"
        and opening[0].end == opening[1].start
    ):
        return Diagnostic(
            "E0013",
            f"`{all_three.text}` is not an index or extent",
            all_three,
            help=f"a range is written `{low}..{high}`",
            fix=Fix("write a range", ((all_three, f"{low}..{high}"),)),
        )
    return Diagnostic(
        "E0001",
        f"space around the `:` between `{low}` and `{high}`",
        s.span,
        help=f"a ratio is written without spaces: `{low}:{high}`",
        fix=Fix("write a ratio", ((all_three, f"{low}:{high}"),)),
    )


def _malformed_declaration(s: Scene) -> Diagnostic | None:
    """``switch a = S`` and ``switch a, b: S``."""
    t = s.token
    declares = s.first in KIND_WORDS | {"override"} and len(s.statement) >= 2
    if t is None or not declares or s.statement[1].type != "NAME":
        return None
    bracket = [x.type for x in s.rest[1:2]] == ["LSQB"]
    if bracket and t.type in ("EQUAL", "COMMA"):  # `rack=[2]`: the sign is too many
        return None
    if t.type == "EQUAL" and "COLON" in s.expected:
        what = "rate" if s.first == "port" else "model"
        return Diagnostic(
            "E0001",
            "expected `:`, found `=`: `=` gives a name to a value in `let` and `param`",
            s.span,
            help=f"write `:` before the {what}",
            fix=Fix("write `:`", ((s.span, ":"),)),
        )
    if not _lists_names(s, t) or END not in s.expected or s.first in ("override", "row", "rack"):
        return None
    return Diagnostic(
        "E0001",
        f"a `{s.first}` statement declares one name, {found_words(s)}",
        s.span,
        help=f"write a statement for each, on lines of their own: `{s.first} {s.statement[1].text} …`",
    )


def _lists_names(s: Scene, t: Token) -> bool:
    """Whether the fault is at the comma between two names, or at the colon behind several."""
    kinds = [x.type for x in s.statement]
    if t.type == "COMMA" and [x.type for x in s.rest[1:2]] == ["NAME"]:
        return s.rest[1].text not in SETTINGS  # `host a: M, role manager`
    listed = any(a == "COMMA" and b == "NAME" for a, b in pairwise(kinds))
    return t.type == "COLON" and listed and "COLON" not in kinds


def _value_as_type(s: Scene) -> Diagnostic | None:
    """``let n: 4``: a value where its type would stand."""
    words = s.statement
    if s.first not in ("let", "param") or not 3 <= len(words) <= 4 or words[2].type != "COLON":
        return None
    value = [*words[3:], *s.rest]
    if not value or any(t.type == "EQUAL" for t in value) or value[0].text in TYPES:
        return None
    text = SourceSpan(s.run.file, value[0].start, value[-1].end).text
    text = text if len(text) <= 40 and "\n" not in text else "…"
    put = " =" if value[0].start > words[2].end else " = "
    return Diagnostic(
        "E0001",
        f"`:` gives the type of `{words[1].text}`; its value follows `=`",
        words[2].span,
        help=f"write `{s.first} {words[1].text} = {text}`",
        fix=Fix("write `=`", ((SourceSpan(s.run.file, words[1].end, words[2].end), put),)),
    )


def _unquoted_name_template(s: Scene) -> Diagnostic | None:
    """``naming a[i] x{i}``."""
    t = s.token
    if (
        s.first != "naming"
        or t is None
        or "STRING" not in s.expected
        or t.type not in ("NAME", "NUMBER", "QUANTITY", "LBRACE")
    ):
        return None
    if t.text == "where" or (
        t.type == "LBRACE" and len(s.statement) == 2
    ):  # the string, or the path, is missing
        return None
    rest = s.rest
    if t.type != "LBRACE":
        guard = (i for i, x in enumerate(rest) if x.text == "where")
        rest = rest[: next(guard, len(rest))]
    whole = SourceSpan(s.run.file, t.start, rest[-1].end)
    if '"' in whole.text or "\n" in whole.text:
        return None
    return Diagnostic(
        "E0001",
        f"expected a string, found `{whole.text}`",
        whole,
        help=f'put it in double quotes: `"{whole.text}"`',
        fix=Fix("put it in double quotes", ((whole, f'"{whole.text}"'),)),
    )


def _operator_without_operand(s: Scene) -> Diagnostic | None:
    """``n > 0 and`` at the end of a line."""
    t, b = s.token, s.before
    if b is None or not s.statement or "NAME" not in s.expected:
        return None
    if t is not None and t.type not in (END, "$END", "LBRACE", "RBRACE", "RSQB", "RPAR"):
        return None
    if b.text not in OPERATORS and b.type not in OPERATOR_TOKENS:
        return None
    help = f"write a value after `{b.text}`, or remove it"
    if b.type == "RANGE" and len(s.statement) > 1:
        low = s.statement[-2].text
        high = str(int(low) + 7) if low.isdigit() else "n"
        help = f"write the upper end, such as `{low}..{high}`, or `{low}` alone"
    if b.text in ("and", "or") and t is not None and t.newline:
        help += f"; a line that begins with `{b.text}` continues the one before"
    return Diagnostic("E0001", f"expected a value after `{b.text}`, {found_words(s)}", b.span, help=help)


def _misspelt_statement_word(s: Scene) -> Diagnostic | None:
    """The first word is not a statement's but nearly one."""
    if not s.statement or s.statement[0].type != "NAME":
        return None
    first = s.statement[0]
    if first.text in GRAMMAR_WORDS or first.text in SETTINGS or len(first.text) < 3:
        return None
    if len(s.statement) > 1 and s.statement[1].text in KINDS["device"]:  # `nvswitch switch[18]: M`
        return None
    guess = closest_keyword(first.text, STARTERS)
    if guess is None and [t.type for t in s.statement[1:]] == ["NAME"] and s.span.text == "=":
        guess = "let" if closest_name(first.text, ("let",), 0.6) else None
    if guess is None:
        return None
    return Diagnostic(
        "E0002",
        f"`{first.text}` is not a statement; did you mean `{guess}`?",
        first.span,
        help=f"write `{guess}`",
        fix=Fix(f"write `{guess}`", ((first.span, guess),)),
    )


def _misplaced_equals_sign(s: Scene) -> Diagnostic | None:
    if s.token is None:
        return None
    if (
        s.token.type == "EQUAL"
        and s.before is not None
        and s.before.type == "COLON"
        and s.before.end == s.token.start
    ):
        both = s.before.span.to(s.span)
        return Diagnostic(
            "E0001",
            "`:=` is not an operator of the language",
            both,
            help="write `=`",
            fix=Fix("write `=`", ((both, "="),)),
        )
    if s.token.type == "EQUAL" and s.statement and s.statement[0].type == "NAME":
        name = s.statement[0].text
        if len(s.statement) == 1:
            return Diagnostic(
                "E0001",
                f"`=` cannot follow `{name}`: a setting is a name and its value, side by side",
                s.span,
                help=f"write `{name} …`, or `let {name} = …` to name a value",
            )
        if "CMP" in s.expected and name in SETTINGS and s.before is not None:
            at = SourceSpan(s.run.file, s.before.end, s.span.end)
            return Diagnostic(
                "E0001",
                f"the value of `{name}` has no `=` before it",
                s.span,
                help="remove the `=`",
                fix=Fix("remove the `=`", ((at, ""),)),
            )
        if "CMP" in s.expected:
            return Diagnostic(
                "E0001",
                "`=` gives a name to a value; it does not compare",
                s.span,
                help="write `==`",
                fix=Fix("compare with `==`", ((s.span, "=="),)),
            )
    if s.token.text == "==" and "EQUAL" in s.expected:
        return Diagnostic(
            "E0001",
            "`==` compares; a value is given with `=`",
            s.span,
            help="write `=`",
            fix=Fix("write `=`", ((s.span, "="),)),
        )
    return None


def _decimal_without_digit(s: Scene) -> Diagnostic | None:
    """``1.`` or ``.5``."""
    t, b = s.token, s.before
    if t is None or t.type != "DOT":
        return None
    following = s.run.tokens[s.i + 1] if s.i + 1 < len(s.run.tokens) else None
    left = b is not None and b.type == "NUMBER" and b.end == t.start
    right = following is not None and following.type in VALUES and following.start == t.end
    if not left and not right:
        return None
    address = _mask_behind_slash(s) or _short_address(s)
    if address is not None:
        return address
    return Diagnostic(
        "E0001",
        "a point needs a digit on both sides",
        s.span,
        help="write `0.5`, `1.0`, or `0..7` for a range",
    )


_MASK = re.compile(r"/((?:\d{1,3}\.){3}\d{1,3})(?![\d.])")


def _mask_behind_slash(s: Scene) -> Diagnostic | None:
    """``10.0.0.0/255.255.0.0``, a network with its mask; only masks of whole bits have a length."""
    text, start = s.run.file.text, s.span.start
    found = _MASK.match(text, text.rfind("/", max(start - 4, 0), start + 1))
    if found is None:
        return None
    bits = "".join(f"{int(part):08b}" for part in found[1].split(".") if int(part) < 256)
    length = len(bits.rstrip("0"))
    if len(bits) != 32 or "0" in bits.rstrip("0"):
        return None
    whole = SourceSpan(s.run.file, *found.span())
    return rewriting_finding(
        "a network is an address and the length of its prefix", whole, whole, f"/{length}"
    )


def _numbers_of_short_address(s: Scene) -> re.Match[str] | None:
    """Three numbers with points between them where the scene is, or two with the length of a prefix."""
    text, start = s.run.file.text, s.span.start
    while start and (text[start - 1].isdigit() or text[start - 1] == "."):
        start -= 1
    found = re.compile(r"\d+(?:\.\d+)+(/\d+)?").match(text, start)
    points = found[0].count(".") if found else 0
    return found if found and (points == 2 or (points == 1 and found[1])) else None


def _short_address(s: Scene) -> Diagnostic | None:
    """``10.0.0/24``, an address of three numbers."""
    found = _numbers_of_short_address(s)
    if found is None:
        return None
    numbers = found[0].partition("/")[0].split(".")
    new = ".".join([*numbers, "0", "0", "0"][:4]) + (found[1] or "/24")
    whole = SourceSpan(s.run.file, *found.span())
    if s.first != "address" and re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", found[0]):
        new = found[0].replace(".", "_")
        return rewriting_finding("`_` parts the digits of a number", whole, whole, new)
    if not found[1] and all(x.text != "from" for x in s.statement):
        message = f"`{found[0]}` is not an address: IPv4 has four numbers, each up to 255"
        return Diagnostic("E0001", message, whole, help="write four numbers, such as `10.0.0.1`")
    return Diagnostic(
        "E0001",
        f"`{found[0]}` is not an address: IPv4 has four numbers",
        whole,
        help=f"write `{new}`",
        fix=Fix(f"write `{new}`", ((whole, new),), safe=False),
    )


def _def_without_expression(s: Scene) -> Diagnostic | None:
    if s.first != "def":
        return None
    words = {t.text for t in s.run.tokens[s.run.head : s.i + 3] if t.type == "NAME"}
    if "return" in words or (
        s.token is not None and s.token.type in ("LBRACE", END) and "EQUAL" in s.expected
    ):
        return Diagnostic(
            "E0001",
            f"the body of a `def` is one expression after `=`, {found_words(s)} here",
            s.span,
            help="write it as `def f(n: int): int = n + 1`",
        )
    return None


def _blank_in_quantity(s: Scene) -> Diagnostic | None:
    t, b = s.token, s.before
    if t is None or b is None or t.type != "NAME" or b.type != "NUMBER" or not UNIT.fullmatch(t.text):
        return None
    per = s.run.file.text[t.end : t.end + 2] if t.text[-1] in "bB" else ""
    if t.text.endswith("b") and per != "/s":  # `400 Gb` is a rate of other tools
        return None
    unit = f"{t.text}{per}" if per == "/s" else t.text
    return Diagnostic(
        "E0001",
        f"no space is allowed between a number and its unit `{unit}`",
        s.span,
        help=f"write `{b.text}{unit}`",
        fix=Fix("join number and unit", ((SourceSpan(s.run.file, b.end, t.start), ""),)),
    )


def _missing_colon(s: Scene) -> Diagnostic | None:
    t, b = s.token, s.before
    if t is None or b is None or "COLON" not in s.expected or t.type not in ("NAME", "QUANTITY"):
        return None
    if not s.expected & {"LBRACE", "EQUAL"} or (t.type == "QUANTITY" and s.first in KINDS["group"]):
        return None
    if re.fullmatch(r"x\d+", t.text):  # `x8`
        return None
    if "AS" in s.expected or surrounding_block(s) == "tier":
        at = SourceSpan(s.run.file, b.end, b.end)
        if t.text in SETTINGS:
            whole = t.span.to(s.rest[-1].span)
            message = "settings of a device are written in braces"
            return rewriting_finding(message, whole, whole, f"{{ {whole.text} }}")
        if t.text in ("called", "named", "is"):
            message = f"the name of the switches of a tier follows `as`, not `{t.text}`"
            fix = Fix("write `as`", ((t.span, "as"),), safe=False)
            return Diagnostic("E0001", message, t.span, help="write `as`", fix=fix)
        message = (
            f"`as` is missing before `{t.text}`: the switches of a tier are a model, and may have a name"
        )
        return Diagnostic(
            "E0001",
            message,
            t.span,
            help=f"write `as {t.text}`",
            fix=Fix("put `as`", ((at, " as"),), safe=False),
        )
    what = "type" if "EQUAL" in s.expected else "rate" if t.type == "QUANTITY" else "model"
    return Diagnostic(
        "E0001",
        f"a `:` is missing before the {what} `{t.text}`",
        s.span,
        help=f"write `: {t.text}`",
        fix=Fix("put a `:`", ((SourceSpan(s.run.file, b.end, b.end), ":"),)),
    )


def _arrow_in_connect(s: Scene) -> Diagnostic | None:
    """``connect a -> b``."""
    t = s.token
    if s.first not in ("connect", "circuit") or t is None or "TO" not in s.expected:
        return None
    signs: list[Token] = []
    for x in s.rest:
        if x.type not in ("MINUS", "CMP", "EQUAL") or (signs and signs[-1].end != x.start):
            break
        signs.append(x)
    if not signs:
        return None
    arrow, text = t.span.to(signs[-1].span), s.run.file.text
    before = "" if text[arrow.start - 1].isspace() else " "
    behind = "" if text[arrow.end : arrow.end + 1].isspace() else " "
    return Diagnostic(
        "E0001",
        f"`{arrow.text}` joins no ends",
        arrow,
        help="write `to`",
        fix=Fix("write `to`", ((arrow, f"{before}to{behind}"),)),
    )


def _misspelt_connect_pattern(s: Scene) -> Diagnostic | None:
    """``connect a too b``: the parser took ``too`` for a pattern, the reader sees a slip for ``to``."""
    b = s.before
    if b is None or s.token is None or not _is_taken_for_pattern(s, b):
        return None
    linked = any(t.text == "to" for t in s.statement)
    guess = closest_keyword(
        b.text, (*PATTERNS, "via", "where") if linked else (*PATTERNS, "via", "where", "to")
    )
    if s.token.type in ("LSQB", "DOT", "COMMA") or (
        guess is None and s.token.text in (*PATTERNS, "to") and not linked
    ):
        return _second_path(s, b, linked or any(t.text == "to" for t in s.rest))
    wanted = "a pattern or the end of the line" if linked else "`to`, a pattern or the end of the line"
    return Diagnostic(
        "E0001",
        f"expected {wanted}, found `{b.text}`",
        b.span,
        help=f"did you mean `{guess}`?" if guess else f"patterns are {', '.join(PATTERNS)}",
        fix=Fix(f"write `{guess}`", ((b.span, guess),)) if guess else None,
    )


def _is_taken_for_pattern(s: Scene, word: Token) -> bool:
    """Whether the word before the fault stands behind a path of a link, where a pattern could."""
    if s.first not in ("connect", "circuit") or len(s.statement) < 3:
        return False
    if word.type != "NAME" or word.text in GRAMMAR_WORDS or word.text in PATTERNS:
        return False
    path = s.statement[-2]
    return path.type in ("NAME", "RSQB") and path.text not in GRAMMAR_WORDS


def _second_path(s: Scene, path: Token, listed: bool) -> Diagnostic:
    """``connect a[*] b[*]``: two paths with nothing between."""
    if s.statement[-2].text == path.text:
        cut = SourceSpan(s.run.file, s.statement[-2].end, path.end)
        return Diagnostic(
            "E0001",
            f"`{path.text}` is written twice",
            path.span,
            help=f"remove one `{path.text}`",
            fix=Fix(f"remove one `{path.text}`", ((cut, ""),)),
        )
    if path.start == s.statement[-2].end:
        place = SourceSpan(s.run.file, path.start, path.start)
        whole = f"{s.statement[-2].text}.{path.text}"
        message = f"`.` is missing before `{path.text}`: it joins the names of a path"
        return Diagnostic(
            "E0001", message, path.span, help=f"write `{whole}`", fix=Fix("put `.`", ((place, "."),))
        )
    names = re.findall(rf"\b(?:{'|'.join((*KINDS['device'], *KINDS['group']))})\s+(\w+)", s.run.file.text)
    if s.statement[-2].type == "RSQB" and names and path.text not in names:
        gap = SourceSpan(s.run.file, s.statement[-2].end, path.start)
        message = f"`.` is missing before `{path.text}`: it joins the names of a path"
        fix = Fix("put `.`", ((gap, "."),), safe=False)
        return Diagnostic("E0001", message, path.span, help=f"write `.{path.text}`", fix=fix)
    sign = "," if listed else "to"
    at, put = (s.statement[-2].end, sign) if listed else (path.start, f"{sign} ")
    return Diagnostic(
        "E0001",
        f"unexpected path `{path.text}` after a path",
        path.span,
        help=f"write `{sign}` before `{path.text}`",
        fix=Fix(f"put `{sign}`", ((SourceSpan(s.run.file, at, at), put),)),
    )


def _statement_after_block(s: Scene) -> Diagnostic | None:
    """Another statement after a block, on the same line."""
    if (
        s.token is None
        or s.before is None
        or s.before.type != "RBRACE"
        or s.token.type != "NAME"
        or s.token.text not in STARTERS
    ):
        return None
    return Diagnostic(
        "E0001",
        f"expected a new line or `;` between `}}` and `{s.token.text}`",
        s.span,
        help="begin a new line or put `;` between them",
        fix=Fix("put `;`", ((SourceSpan(s.run.file, s.before.end, s.before.end), ";"),)),
    )


TRIALS = (
    _unmatched_closing_bracket, _double_slash_comment, _colon_in_setting, _ratio_with_blanks,
    _value_as_type, _unquoted_name_template, _misspelt_statement_word, _malformed_declaration,
    _misplaced_equals_sign, _decimal_without_digit, _def_without_expression, _blank_in_quantity,
    _missing_colon, _arrow_in_connect, _misspelt_connect_pattern, _statement_after_block,
    _operator_without_operand,
)  # fmt: skip
