"""Slips of the hand and words of other languages, each answered with the text that can be pasted."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.keywords import INSTEAD_OF, KIND_WORDS, PATTERNS, SETTINGS, STARTERS
from tdsl.syntax.scanner import END
from tdsl.syntax.scene import Scene

_RATE = re.compile(r"at\s+(\d+(?:\.\d+)?)\s*([GTM])(?:b/s|bps|bit/s|bit|be|e|b)?\s*", re.IGNORECASE)

DEVICE_NAME = re.compile(r"[A-Za-z_]\w*(?:-\w+)+", re.ASCII)


VENDORS = (
    " nvidia mellanox arista cisco juniper dell hpe hp supermicro broadcom amd intel google meta aws azure "
    "oracle edgecore celestica ufispace lenovo gigabyte quanta "
)
"""Makers whose name people put before that of a model."""


def _slip_with_fix(
    s: Scene, message: str, span: SourceSpan, new: str, at: SourceSpan | None = None, *, safe: bool = True
) -> Diagnostic:
    """The finding of a slip, with the edit that mends it: ``new`` in the place of ``at``."""
    shown = new.strip()
    return Diagnostic(
        "E0001",
        message,
        span,
        help=f"write `{shown}`",
        fix=Fix(f"write `{shown}`", ((at or span, new),), safe=safe),
    )


def _foreign_statement_word(s: Scene) -> Diagnostic | None:
    """``server node[8]: M``, ``var n = 8``."""
    if (
        len(s.statement) < 2
        or s.token is None
        or s.statement[0].type != "NAME"
        or s.statement[1].type != "NAME"
    ):
        return None
    first, instead = s.statement[0], INSTEAD_OF.get(s.first.lower())
    if instead is None and s.first.lower().removesuffix("s") in KIND_WORDS - {s.first}:
        instead = s.first.lower().removesuffix("s")
    typed = instead in ("param", "let")
    declared = s.token.type in ("COLON", "QMARK")
    if (
        instead is None
        or s.statement[1].text in KIND_WORDS
        or (not typed and declared != (instead in KIND_WORDS))
    ):
        return None
    return Diagnostic(
        "E0002",
        f"`{first.text}` does not begin this statement; the word is `{instead}`",
        first.span,
        help=f"write `{instead}`",
        fix=Fix(f"write `{instead}`", ((first.span, instead),), safe=False),
    )


def _foreign_comment_sign(s: Scene) -> Diagnostic | None:
    """``/* … */``, ``-- …`` and ``<!-- … -->``."""
    if s.statement or s.token is None:
        return None
    text, start = s.run.file.text, s.token.start
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)].rstrip()
    for sign, closing in (("/*", "*/"), ("<!--", "-->"), ("--", "")):
        if not line.startswith(sign) or (closing and closing in line and not line.endswith(closing)):
            continue
        said = (
            line.removeprefix(sign).removesuffix(closing).strip()
            if closing
            else line.removeprefix(sign).strip()
        )
        span = SourceSpan(s.run.file, start, start + len(sign))
        whole = SourceSpan(s.run.file, start, start + len(line))
        return Diagnostic(
            "E0001",
            f"`{sign}` does not begin a comment",
            span,
            help=f"write `# {said}`; each line of a comment begins with `#`",
            fix=Fix("make it a comment", ((whole, f"# {said}".rstrip()),)),
        )
    return None


def _comma_after_statement(s: Scene) -> Diagnostic | None:
    """``switch leaf[8]: SN5600,`` and ``require reachability, bisection >= 100%``."""
    t = s.token
    if t is None or t.type != "COMMA" or END not in s.expected:
        return None
    if len(s.rest) == 1:
        return Diagnostic(
            "E0001",
            "no `,` ends a statement: the end of the line does",
            s.span,
            help="remove the `,`",
            fix=Fix("remove the `,`", ((s.span, ""),)),
        )
    if s.first in ("require", "report") and s.before is not None and s.before.type == "QUANTITY":
        metric = next((x.text for x in s.statement[::-1] if x.type == "NAME"), "")
        if [x.type for x in s.rest[1:2]] == ["QUANTITY"]:
            return _slip_with_fix(s, "each figure names what it asks", s.span, f" and {metric}")
    if s.first in ("require", "report"):
        return _slip_with_fix(s, f"`,` does not join what a `{s.first}` asks; `and` does", s.span, " and")
    return None


def _count_in_angle_brackets(s: Scene) -> Diagnostic | None:
    """``host node<8>: M``."""
    t = s.token
    if t is None or t.text != "<" or s.first not in KIND_WORDS or len(s.statement) != 2:
        return None
    closing = next((x for x in s.rest if x.text.startswith(">")), None)
    if closing is None:
        return None
    inner = s.run.file.text[t.end : closing.start]
    return Diagnostic(
        "E0001",
        f"how many `{s.statement[1].text}` there are is written in brackets, not in `< >`",
        s.span,
        help=f"write `{s.first} {s.statement[1].text}[{inner}]`",
        fix=Fix(
            "write brackets", ((t.span, "["), (SourceSpan(s.run.file, closing.start, closing.start + 1), "]"))
        ),
    )


def _open_bracket(s: Scene) -> Diagnostic | None:
    """``host node[8: M``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "COLON" or s.first not in KIND_WORDS:
        return None
    kinds = [x.type for x in s.statement]
    if kinds.count("LSQB") != kinds.count("RSQB") + 1 or "RSQB" not in s.expected:
        return None
    text = SourceSpan(s.run.file, s.statement[0].start, b.end).text
    return Diagnostic(
        "E0001",
        "this `[` is not closed before the `:`",
        s.statement[kinds.index("LSQB")].span,
        help=f"write `{text}]`",
        fix=Fix("put `]`", ((SourceSpan(s.run.file, b.end, b.end), "]"),)),
    )


def _pattern_number(s: Scene) -> Diagnostic | None:
    """``spread = 4`` and ``spread * 4``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if s.first != "connect" or t is None or b is None or t.type not in ("EQUAL", "STAR", "COLON"):
        return None
    if not following or following[0].type != "NUMBER":
        return None
    if t.type == "STAR" and b.type == "RSQB":
        return _slip_with_fix(s, "how many links a pair has follows `x`, not `*`", s.span, "x")
    if b.text not in PATTERNS:
        return None
    new = f"{b.text} x {following[0].text}"
    return _slip_with_fix(
        s,
        f"how many follows `x`, not `{t.text}`",
        s.span,
        new,
        b.span.to(following[0].span),
    )


def _rate_after_connect(s: Scene) -> Diagnostic | None:
    """``connect a to b at 400G``."""
    t = s.token
    if s.first != "connect" or t is None or t.text != "at":
        return None
    text = s.run.file.text
    end = text.find("\n", t.start)
    found = _RATE.fullmatch(text[t.start : end if end >= 0 else len(text)].partition("#")[0])
    if found is None:
        return None
    whole = SourceSpan(s.run.file, t.start, t.start + len(found[0].rstrip()))
    return _slip_with_fix(
        s,
        "the rate of a connect is a setting in its braces",
        whole,
        f"{{ rate {found[1]}{found[2].upper()}bps }}",
    )


def _percent_before_number(s: Scene) -> Diagnostic | None:
    """``>= %70``."""
    following = s.rest[1:2]
    t, b = s.token, s.before
    if t is not None and t.type == "MODULO" and following and following[0].start > t.end:
        return None
    if b is not None and b.type == "COMMA":  # `(i,%4)`: a remainder
        return None
    if t is not None and t.type == "MODULO" and following and following[0].type == "NUMBER":
        both = t.span.to(following[0].span)
    elif t is not None and b is not None and b.type == "MODULO" and t.type == "NUMBER":
        both = b.span.to(t.span)
    else:
        return None
    new = f"{both.text.strip('% ')}%"
    return _slip_with_fix(s, "`%` follows the number", both, new)


def _percent_as_word(s: Scene) -> Diagnostic | None:
    """``100 percent``."""
    t, b = s.token, s.before
    if b is not None and len(s.statement) > 1 and b.text.lower() in ("percent", "pct"):
        t, b = b, s.statement[-2]
    if t is None or b is None or t.text.lower() not in ("percent", "pct", "per") or b.type != "NUMBER":
        return None
    return _slip_with_fix(s, f"`{t.text}` is not a unit; `%` is", s.span, f"{b.text}%", b.span.to(t.span))


def _ratio_words(s: Scene) -> Diagnostic | None:
    """``oversubscription <= 2 to 1``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if (
        t is None
        or b is None
        or t.text != "to"
        or b.type != "NUMBER"
        or not following
        or following[0].type != "NUMBER"
    ):
        return None
    if s.first in ("connect", "circuit"):
        return None
    if len(s.statement) > 1 and s.statement[-2].type in ("LSQB", "COMMA"):
        new = f"{b.text}..{following[0].text}"
        return _slip_with_fix(s, "a range is written with `..`", s.span, new, b.span.to(following[0].span))
    return _slip_with_fix(
        s,
        "a ratio is written with `:`",
        s.span,
        f"{b.text}:{following[0].text}",
        b.span.to(following[0].span),
    )


def _count_behind_model(s: Scene, at: SourceSpan, gone: SourceSpan) -> Diagnostic:
    """``switch leaf: SN5600 x 4``; ``gone`` is what is too much behind the model."""
    name, count = s.statement[1], s.rest[1].text
    if len(s.statement) == 4 and name.type == "NAME":  # it is written nowhere else
        put = SourceSpan(s.run.file, name.end, name.end)
        write = f"write `{name.text}[{count}]`"
        message = f"how many `{name.text}` there are is in brackets behind its name"
        fix = Fix(write, ((put, f"[{count}]"), (gone, "")), safe=False)
        return Diagnostic("E0001", message, at, help=write, fix=fix)
    write = f"remove `{gone.text.strip()}`"
    message = f"how many `{name.text}` there are is in the brackets behind its name, not behind the model"
    return Diagnostic("E0001", message, at, help=write, fix=Fix(write, ((gone, ""),), safe=False))


def _two_words(s: Scene) -> Diagnostic | None:
    """``switch leaf: SN 5600`` and ``switch leaf: NVIDIA SN5600``."""
    t, b, words = s.token, s.before, s.statement
    if (
        t is None
        or b is None
        or s.first not in KIND_WORDS
        or len(words) < 3
        or b.type != "NAME"
        or words[-2].type != "COLON"
    ):
        return None
    if t.type == "NUMBER":
        return _slip_with_fix(
            s, "the name of a model has no space", s.span, f"{b.text}{t.text}", b.span.to(t.span), safe=False
        )
    if t.text == "x" and [x.type for x in s.rest[1:2]] == ["NUMBER"]:
        return _count_behind_model(s, t.span.to(s.rest[1].span), SourceSpan(s.run.file, b.end, s.rest[1].end))
    if t.type == "NAME" and (b.text == "model" or b.text in KIND_WORDS):
        gone = SourceSpan(s.run.file, b.start, t.start)
        message, help = f"behind the `:` is the name of a model, without `{b.text}`", f"write `{t.text}`"
        fix = Fix(f"remove `{b.text}`", ((gone, ""),), safe=False)
        return Diagnostic("E0001", message, b.span, help=help, fix=fix)
    if t.type == "NAME" and t.text not in STARTERS and f" {b.text.lower()} " not in VENDORS:
        new, both = f"{b.text}_{t.text}", b.span.to(t.span)
        return _slip_with_fix(
            s, "the name of a model has no space, and `_` in its place", both, new, safe=False
        )
    if t.type == "NAME" and t.text not in STARTERS:
        return _slip_with_fix(
            s,
            f"the name of a model is one word; here are `{b.text}` and `{t.text}`",
            s.span,
            t.text,
            b.span.to(t.span),
            safe=False,
        )
    return None


def _same_line(s: Scene) -> Diagnostic | None:
    """Two statements on a line, with nothing between them."""
    t, b = s.token, s.before
    if t is None or b is None or len(s.statement) < 3 or t.type != "NAME" or END not in s.expected:
        return None
    if (
        t.text not in STARTERS
        or len(s.rest) == 1
        or t.text in s.expected
        or b.type not in ("NAME", "RSQB", "RBRACE", "NUMBER", "QUANTITY", "PERCENT")
    ):
        return None
    return Diagnostic(
        "E0001",
        f"expected a new line or `;` before `{t.text}`",
        s.span,
        help=f"write `; {t.text}`, or begin a new line",
        fix=Fix("put `;`", ((SourceSpan(s.run.file, b.end, b.end), ";"),)),
    )


def _colon_after_statement_word(s: Scene) -> Diagnostic | None:
    """``require: reachability``."""
    t = s.token
    if (
        t is None
        or t.type != "COLON"
        or s.first not in ("require", "report", "connect", "let", "use")
        or len(s.statement) != 1
    ):
        return None
    touching = s.run.file.text[t.end : t.end + 1].strip()
    following = s.rest[1].text if len(s.rest) > 1 else "…"
    return Diagnostic(
        "E0001",
        f"no `:` follows `{s.first}`",
        s.span,
        help=f"write `{s.first} {following}`",
        fix=Fix(
            "remove the `:`", ((SourceSpan(s.run.file, s.statement[0].end, t.end), " " if touching else ""),)
        ),
    )


def _no_name(s: Scene) -> Diagnostic | None:
    """``fabric "A pod" {``."""
    t = s.token
    if (
        t is None
        or t.type != "STRING"
        or s.first not in ("fabric", "cluster", "group")
        or len(s.statement) != 1
    ):
        return None
    name = re.sub(r"\W+", "_", t.text.strip('"').lower(), flags=re.ASCII).strip("_") or "pod"
    name = name if not name[0].isdigit() else f"n{name}"
    return Diagnostic(
        "E0001",
        f"expected a name, found the string {t.text}: the title follows the name",
        s.span,
        help=f"write `{s.first} {name} {t.text}`",
        fix=Fix(f"put `{name}`", ((SourceSpan(s.run.file, t.start, t.start), f"{name} "),)),
    )


def _hyphen_in_name(s: Scene) -> Diagnostic | None:
    """``fabric my-pod {``."""
    t, b = s.token, s.before
    if (
        t is None
        or b is None
        or t.type != "MINUS"
        or s.first not in KIND_WORDS
        or len(s.statement) != 2
        or t.start != b.end
    ):
        return None
    found = re.compile(r"[\w-]*\w").match(s.run.file.text, b.start)
    if found is None:  # what comes before is no name
        return None
    whole, name = SourceSpan(s.run.file, b.start, found.end()), found[0].replace("-", "_")
    return _slip_with_fix(s, f"a name has letters, digits and `_`, and no `-`: `{found[0]}`", whole, name)


def _name_of_device_as_path(s: Scene) -> Diagnostic | None:
    """``edge_redundancy of su0-leaf1``: a device as reports name it."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "MINUS" or b.type != "NAME" or t.start != b.end:
        return None
    found = DEVICE_NAME.match(s.run.file.text, b.start)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, b.start, found.end())
    if re.fullmatch(r"[Nn]-\d", found[0]) and len(s.statement) > 1 and s.statement[-2].text == "survives":
        return _slip_with_fix(s, "how many fail follows `any`", whole, f"any {found[0][2:]}", safe=False)
    if not re.search(r"\d", found[0]):
        new = found[0].replace("-", "_")
        message = f"a name has letters, digits and `_`, and no `-`: `{found[0]}`"
        return _slip_with_fix(s, message, whole, new, safe=False)
    if s.first in SETTINGS:
        new = found[0].replace("-", "_")
        message = f"a name has letters, digits and `_`, and no `-`: `{found[0]}`"
        return Diagnostic("E0001", message, whole, help=f'write `{new}`, or `"{found[0]}"` for a text')
    path = path_of_default_name(found[0])
    return _slip_with_fix(
        s, f"`{found[0]}` is the name of a device; a path has brackets", whole, path, safe=False
    )


def path_of_default_name(name: str) -> str:
    """The path of the device that has a name by default: ``su[0].leaf[1]`` of ``su0-leaf1``,
    ``pod[0].c[2, 3]`` of ``pod0-c2-3``."""
    parts: list[tuple[str, list[str]]] = []
    for word in name.split("-"):
        stem = word.rstrip("0123456789")
        if not stem and parts:
            parts[-1][1].append(word)
        else:
            parts.append((stem, [word[len(stem) :]] if word != stem else []))
    return ".".join(stem + (f"[{', '.join(numbers)}]" if numbers else "") for stem, numbers in parts)


def _conjunction_between_ends(s: Scene) -> Diagnostic | None:
    """``connect a[*] and b[*]``."""
    b = s.before
    if (
        s.first != "connect"
        or s.token is None
        or s.token.type != "NAME"
        or b is None
        or b.text not in ("and", "with", "into")
    ):
        return None
    if any(x.text == "to" for x in s.statement):
        return None
    return _slip_with_fix(s, f"`{b.text}` joins no ends", b.span, "to", safe=False)


TRIALS = (
    _foreign_statement_word,
    _foreign_comment_sign,
    _comma_after_statement,
    _count_in_angle_brackets,
    _open_bracket,
    _pattern_number,
    _rate_after_connect,
    _percent_as_word,
    _percent_before_number,
    _ratio_words,
    _two_words,
    _same_line,
    _colon_after_statement_word,
    _no_name,
    _hyphen_in_name,
    _name_of_device_as_path,
    _conjunction_between_ends,
)
