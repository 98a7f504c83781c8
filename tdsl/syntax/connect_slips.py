"""Slips in connects: settings without braces, other words between the ends, signs of other languages in
paths."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.foreign_units import amount_written_here
from tdsl.syntax.keywords import PATTERNS
from tdsl.syntax.scanner import Token
from tdsl.syntax.scene import VALUES, Scene, rewriting_finding

SETTINGS = ("length", "rate", "cable", "medium", "optic", "class", "colour", "bundle")
"""Settings of a connect that people write without braces."""


def _is_link(s: Scene) -> bool:
    return s.first in ("connect", "circuit") and s.token is not None and s.before is not None


def _joins_two_sets(s: Scene) -> bool:
    return _is_link(s) and any(t.text == "to" for t in s.statement)


def _rate_as_written_here(text: str) -> str:
    """``400Gbps`` as ``400G``; empty where a text is no amount."""
    found = re.fullmatch(r"([0-9.]+)([A-Za-z/]*)", text)
    return amount_written_here(found[1], found[2]) or text if found else ""


def _settings_in_tokens(tokens: Sequence[Token]) -> list[str]:
    """``length 3m`` and ``rate 400Gbps`` of ``length 3m, rate = 400Gbps``; none where there is another thing
    among them."""
    words = [t for t in tokens if t.type not in ("EQUAL", "COLON", "COMMA")]
    names, values = words[::2], words[1::2]
    if len(names) != len(values) or any(v.type not in (*VALUES, "NAME") for v in values):
        return []
    if any(n.text not in (*SETTINGS, "at") for n in names):
        return []
    return [
        f"rate {_rate_as_written_here(v.text)}" if n.text == "at" else f"{n.text} {v.text}"
        for n, v in zip(names, values, strict=True)
    ]


def _setting_without_braces(s: Scene) -> Diagnostic | None:
    """``connect a to b length 3m, rate 400Gbps``, ``(length 3m)``, ``, length 3m`` and ``at 400G``."""
    tokens = [*s.statement, *s.rest]
    words = (*SETTINGS, "at")
    at = next((i for i, t in enumerate(tokens) if t.text in words and t.type == "NAME"), 0)
    if not _joins_two_sets(s) or at < 3 or tokens[at].start > s.span.end:
        return None
    before = tokens[at - 1].type
    closed = before == "LPAR" and tokens[-1].type == "RPAR"
    settings = _settings_in_tokens(tokens[at : len(tokens) - closed])
    if not settings or "rate " in settings:
        return None
    whole = SourceSpan(s.run.file, tokens[at - (before in ("LPAR", "COMMA"))].start, tokens[-1].end)
    message, new = "settings of a connect are written in braces", f"{{ {'; '.join(settings)} }}"
    edit = (whole, f" {new}" if before == "COMMA" else new)
    fix = Fix(f"write `{new}`", (edit,), safe=False)
    return Diagnostic("E0001", message, whole, help=f"write `{new}`", fix=fix)


def _guard_with_if(s: Scene) -> Diagnostic | None:
    """``connect a[i] to b[i] if i < 4``."""
    t, b = s.token, s.before
    guarded = s.first in ("omit", "naming") and t is not None and t.text in ("if", "when", "unless")
    b = t if guarded else b
    if not (guarded or _is_link(s)) or b is None or b.text not in ("if", "when", "unless"):
        return None
    message = f"`{b.text}` does not guard a `{s.first}`; `where` does"
    if b.text == "unless":
        return Diagnostic("E0001", message, b.span, help="write `where not (…)`")
    return rewriting_finding(message, b.span, b.span, "where")


def _from_between_ends(s: Scene) -> Diagnostic | None:
    """``connect a from b``."""
    b = s.before
    if (
        not _is_link(s)
        or b is None
        or b.text not in ("from", "towards", "onto", "via")
        or len(s.statement) < 3
    ):
        return None
    if b.text == "via" or any(t.text == "to" for t in s.statement):
        return None
    return rewriting_finding(f"`{b.text}` joins no ends", b.span, b.span, "to")


def _all_before_path(s: Scene) -> Diagnostic | None:
    """``connect all node to leaf``."""
    t, words = s.token, s.statement
    if not _is_link(s) or t is None or len(words) < 2 or words[1].text != "all":
        return None
    t = words[2] if len(words) > 2 else t
    if t.type != "NAME":
        return None
    gone = SourceSpan(s.run.file, words[1].start, t.start)
    return Diagnostic(
        "E0001",
        f"`all` is not needed: `{t.text}[*]` means all of `{t.text}`",
        words[1].span,
        help="remove `all`",
        fix=Fix("remove `all`", ((gone, ""),)),
    )


def _two_signs_in_path(s: Scene) -> Diagnostic | None:
    """``node[n]::nic[r]`` and ``node[n]->nic[r]``."""
    t, b = s.token, s.before
    if t is None or b is None or b.end != t.start or b.type not in ("RSQB", "NAME"):
        return None
    sign = re.compile(r"(?:->|::)(?=[A-Za-z_])").match(s.run.file.text, t.start)
    linked = s.first not in ("connect", "circuit") or any(x.text == "to" for x in s.statement)
    if sign is None or not linked or s.first in ("let", "param"):
        return None
    both = SourceSpan(s.run.file, sign.start(), sign.end())
    return rewriting_finding(f"`{sign[0]}` joins no names; `.` does", both, both, ".")


def _separator_in_path(s: Scene) -> Diagnostic | None:
    """``node[n]/nic[r]``, ``node[n]:nic[r]`` and ``node[n]::nic[r]``."""
    t, b = s.token, s.before
    if (of_two := _two_signs_in_path(s)) is not None:
        return of_two
    paths = _is_link(s) or s.first in ("place", "omit", "naming", "extend", "override")
    if not paths or t is None or b is None or t.type not in ("SLASH", "COLON", "MINUS"):
        return None
    if t.type == "COLON" and s.first == "override":
        return None
    following = s.rest[1:2]
    if b.end != t.start or not following or following[0].start != t.end or following[0].type != "NAME":
        return None
    return rewriting_finding(f"the parts of a path are joined by `.`, not by `{t.text}`", t.span, t.span, ".")


def _number_of_pattern(s: Scene) -> Diagnostic | None:
    """``spread(16)``, ``spread by 16``, ``spread evenly``, ``x 16 links``."""
    t, b = s.token, s.before
    if not _is_link(s) or t is None or b is None:
        return None
    if b.text in ("with", "using", "by") and t.type == "NUMBER" and any(x.text == "to" for x in s.statement):
        new = f"spread x {t.text}"
        return rewriting_finding(
            "how many follows a pattern and `x`", t.span, b.span.to(s.rest[-1].span), new
        )
    number = next((x for x in s.rest[1:2] if x.type == "NUMBER"), None)
    if b.text in PATTERNS and number is not None and (t.type == "LPAR" or t.text in ("by", "of", "times")):
        last: Token = s.rest[2] if t.type == "LPAR" and len(s.rest) > 2 else number
        new = f"{b.text} x {number.text}"
        return rewriting_finding("how many follows `x`", t.span, b.span.to(last.span), new)
    return _last_word_too_many(s, b, t)


def _last_word_too_many(s: Scene, before: Token, t: Token) -> Diagnostic | None:
    """``spread evenly`` and ``x 16 links`` at the end of a link."""
    words = ("evenly", "equally", "uniformly", "links", "cables", "times", "link", "cable")
    if t.text not in words or len(s.rest) != 1 or all(x.text != "to" for x in s.statement):
        return None
    return Diagnostic(
        "E0001",
        f"`{t.text}` says nothing more here",
        t.span,
        help=f"remove `{t.text}`",
        fix=Fix(f"remove `{t.text}`", ((SourceSpan(s.run.file, before.end, t.end), ""),)),
    )


TRIALS = (
    _setting_without_braces,
    _guard_with_if,
    _from_between_ends,
    _all_before_path,
    _separator_in_path,
    _number_of_pattern,
)
