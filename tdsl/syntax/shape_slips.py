"""Statements in the form that other languages give them: the path of a `use`, the range of a loop, limits of
a value, indices behind a point; each answered with the statement in the form of this one."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.keywords import KINDS
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import Scene, rewriting_finding

_IMPORT = re.compile(
    r"""(?:use|import|include|from|require)\s+["'<]?(?P<path>[\w./\\:]*\w)["'>]?"""
    r"""(?:\s*(?:import|show|:|\.|->)?\s*[({\[]?\s*(?P<names>\w+(?:\s+as\s+\w+)?(?:\s*,\s*\w+(?:\s+as\s+\w+)?)*)\s*[)}\]]?)?;?"""
)
_LOOP = re.compile(
    r"(?:for|foreach)\s*\(?\s*(?:int\s+|let\s+)?(\w+)\s*(?:=|:=|in|from)\s*\(?(\w+)\s*(?:to|until|through|\.{2,3}|:|,|-)\s*"
    r"(\w+)\)?(?:\s*(?:do|:))?"
)
_MAP = re.compile(r"\w+\s*[:=][^,{};\n]+(?:,\s*\w+\s*[:=][^,{};\n]+)+,?")
IMPORTING = ("use", "import", "include", "from")
"""Words that begin a line which takes names from a file, here and in other languages."""
_LIMIT = re.compile(
    r"\b(min|max|from|to)\w*\s*[=:]?\s*(\d\w*)|(?:(?:in|between)\s*)?[\[(]?(\d+)\s*(?:\.\.|-|,|to|and)\s*(\d+)"
)
_PATH = re.compile(r"[A-Za-z_]\w*(?:\[[^\]\n]*\]|[./:]\w+)+")
_STATEMENTS_OF_PATHS = frozenset(
    {"connect", "circuit", "place", "omit", "naming", "extend", "override", "require", "report", "distance"}
)


def _text_of_line(s: Scene) -> SourceSpan:
    """The statement from its first word to the end of the line, a comment left out."""
    first = s.statement[0] if s.statement else s.token
    assert first is not None
    text = s.run.file.text
    end = text.find("\n", first.start)
    line = text[first.start : end if end >= 0 else len(text)].partition("#")[0].rstrip()
    return SourceSpan(s.run.file, first.start, first.start + len(line))


def finding_for_import(line: SourceSpan) -> Diagnostic | None:
    """The finding of a line that takes names from a file in another form than `use a.b (X, Y)`; None where it
    is no such line."""
    found = _IMPORT.fullmatch(line.text)
    if found is None:
        return None
    path = re.sub(r"[/\\]+|::?", ".", found["path"].removesuffix(".fab")).strip(".")
    names = re.sub(r"\s+", " ", found["names"] or "")
    if not names and "." in path and path.rpartition(".")[2][0].isupper():
        path, _, names = path.rpartition(".")
    if not all(re.fullmatch(r"[A-Za-z_]\w*", part) for part in path.split(".")):
        return None
    message = "a `use` names a file by words and points, and what it takes from it in brackets"
    if not names:
        return Diagnostic(
            "E0001", message, line, help=f"write `use {path} (NAME)`, with the names that are taken"
        )
    return rewriting_finding(message, line, line, f"use {path} ({names})")


def _use_of_other_languages(s: Scene) -> Diagnostic | None:
    """``use "lib/switches.fab" (TOR)`` and ``use nvidia QM9700``."""
    return finding_for_import(_text_of_line(s)) if s.first in IMPORTING else None


def _settings_as_a_map(s: Scene) -> Diagnostic | None:
    """``{ leaf: QM9700, spine: QM9700 }``: settings with colons, and commas between them."""
    t = s.token
    if t is None or t.type != "COLON" or len(s.statement) != 1 or s.statement[0].type != "NAME":
        return None
    line = _text_of_line(s)
    found = _MAP.match(line.text)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, line.start, line.start + len(found[0].rstrip(" ,")))
    new = "; ".join(re.sub(r"^(\w+)\s*[:=]\s*", r"\1 ", part.strip()) for part in whole.text.split(","))
    return rewriting_finding(
        "a setting is a name and its value without `:`, and `;` separates settings", whole, whole, new
    )


def _loop_of_other_languages(s: Scene) -> Diagnostic | None:
    """``for i = 0 to 7 {``, ``for i from 0 to 7 {`` and ``for i in 0-7 {``."""
    if s.first not in ("for", "foreach"):
        return None
    line = _text_of_line(s)
    found = _LOOP.match(line.text)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, line.start, line.start + found.end())
    new = f"for {found[1]} in {found[2]}..{found[3]}"
    if new == whole.text:
        return None
    return rewriting_finding("a loop goes through a range, both ends included", whole, whole, new)


def _limits_behind_value(s: Scene) -> Diagnostic | None:
    """``param n: int = 4, min 1, max 8``, ``let n = 4 in 1..8``."""
    t = s.token
    if t is None or s.first not in ("param", "let") or END not in s.expected or len(s.statement) < 4:
        return None
    name, behind = s.statement[1].text, SourceSpan(s.run.file, t.start, _text_of_line(s).end)
    limits = [m.groups() for m in _LIMIT.finditer(behind.text)]
    low = next((b or c for a, b, c, _ in limits if c or a in ("min", "from")), "")
    high = next((b or d for a, b, _, d in limits if d or a in ("max", "to")), "")
    if not low and not high:
        return None
    guard = f"where {low + ' <= ' if low else ''}{name}{' <= ' + high if high else ''}"
    guard = f"where {name} >= {low}" if low and not high else guard
    at = SourceSpan(s.run.file, s.statement[-1].end, behind.end)
    return Diagnostic(
        "E0001",
        f"limits of `{name}` follow `where`",
        behind,
        help=f"write `{guard}`",
        fix=Fix(f"write `{guard}`", ((at, f" {guard}"),), safe=False),
    )


def _path_of_other_form(s: Scene) -> Diagnostic | None:
    """``leaf.3``, ``h1.B.3`` and ``su/0/leaf``."""
    t = s.token
    if (
        t is None
        or s.first not in _STATEMENTS_OF_PATHS
        or t.type not in ("NUMBER", "SLASH", "DOT", "QUANTITY")
    ):
        return None
    line = _text_of_line(s)
    found = next(
        (m for m in _PATH.finditer(line.text) if line.start + m.start() < t.end <= line.start + m.end()), None
    )
    if found is None:
        return None
    new = re.sub(r"/(?=[A-Za-z_])", ".", re.sub(r"[./](\d+)(?!\w)", r"[\1]", found[0]))
    whole = SourceSpan(s.run.file, line.start + found.start(), line.start + found.end())
    if new == found[0]:
        return None
    return rewriting_finding("an index is written in brackets, and `.` joins names", whole, whole, new)


def _range_of_three_points(s: Scene) -> Diagnostic | None:
    """``0...7`` and ``0--7``."""
    t, b = s.token, s.before
    if t is None or b is None or (b.type, t.type) not in (("RANGE", "DOT"), ("RANGE", "RANGE")):
        return None
    both = b.span.to(t.span)
    following = s.rest[1].text if len(s.rest) > 1 else "…"
    first = s.statement[-2].text if len(s.statement) > 1 else "…"
    found = rewriting_finding(f"a range has two points, not `{both.text}`", both, both, "..", safe=True)
    return Diagnostic("E0001", found.message, both, help=f"write `{first}..{following}`", fix=found.fix)


def _ratio_of_three(s: Scene) -> Diagnostic | None:
    """``1:1:1``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if t is None or b is None or t.type != "COLON" or b.type != "RATIO" or not following:
        return None
    if b.end != t.start or following[0].type != "NUMBER":
        return None
    whole = b.span.to(following[0].span)
    same = len(set(whole.text.split(":"))) == 1
    return Diagnostic(
        "E0001",
        "a ratio has two numbers, and is about two tiers",
        whole,
        help=f"write `{b.text}`"
        + ("" if same else f", or `{whole.text.split(':', 1)[1]}`; `at SWITCHES` says of which tier"),
        fix=Fix(f"write `{b.text}`", ((whole, b.text),), safe=False),
    )


def _model_before_name(s: Scene) -> Diagnostic | None:
    """``host DGX_H100 node[16]``."""
    every = [*s.statement, *s.rest]
    kinds = [t.type for t in every]
    if s.first not in KINDS["device"] or len(s.statement) != 2 or kinds[1:4] != ["NAME", "NAME", "LSQB"]:
        return None
    close = next((i for i, t in enumerate(every) if t.type == "RSQB"), 0)
    if not close or (len(every) > close + 1 and every[close + 1].type != "LBRACE"):
        return None
    shaped = every[2].span.to(every[close].span)
    whole = every[1].span.to(every[close].span)
    new = f"{shaped.text}: {every[1].text}"
    return rewriting_finding(
        f"the name `{every[2].text}` comes before the model `{every[1].text}`", whole, whole, new
    )


def _tier_without_children(s: Scene) -> Diagnostic | None:
    """``tier leaf of 32 {`` and ``tier leaf {``."""
    t, words = s.token, s.statement
    if s.first != "tier" or t is None:
        return None
    below = _tier_before(s)
    counted = [x.text for x in words[1:3]] == [words[1].text, "of"] if len(words) > 3 else False
    if counted and t.type in ("LBRACE", END):
        at = SourceSpan(s.run.file, words[-1].end, words[-1].end)
        return Diagnostic(
            "E0001",
            f"of what there are {words[-1].text} in each `{words[1].text}` is missing",
            SourceSpan(s.run.file, words[1].start, words[-1].end),
            help=f"write `{s.run.file.text[words[0].start : words[-1].end]} {below}`",
            fix=Fix(f"put `{below}`", ((at, f" {below}"),), safe=False),
        )
    if len(words) > 3:
        return None
    name = (
        words[1].text
        if len(words) > 1 and words[1].type == "NAME"
        else "leaf"
        if below == "hosts"
        else "spine"
    )
    return Diagnostic(
        "E0001",
        "a tier has a name, and says of how many of the tier below one of it is",
        words[0].span.to(words[-1].span),
        help=f"write `tier {name} of {'32 hosts' if below == 'hosts' else f'? {below}'} {{ switch MODEL }}`",
    )


def _tier_before(s: Scene) -> str:
    """The name of the tier before this one in its block; `hosts` for the first."""
    depth, tokens = 0, s.run.tokens
    for i in range(s.run.head - 1, 0, -1):
        depth += (tokens[i].type == "RBRACE") - (tokens[i].type == "LBRACE")
        if depth < 0:
            break
        if depth == 0 and tokens[i - 1].text == "tier" and tokens[i].type == "NAME":
            return str(tokens[i].text)
    return "hosts"


def _words_of_connect(s: Scene) -> Diagnostic | None:
    """``connect from a to b``, ``connect between a and b``, ``connect each a to b``."""
    words, t = s.statement, s.token
    if s.first not in ("connect", "circuit") or t is None or len(words) < 2:
        return None
    extra, after = words[1], (*words[2:], *s.rest)
    if extra.text not in ("from", "between", "each", "every", "the") or not after or after[0].type != "NAME":
        return None
    gone = SourceSpan(s.run.file, extra.start, after[0].start)
    edits: list[tuple[SourceSpan, str]] = [(gone, "")]
    joint = next((x for x in after if x.text in ("and", "with") and x.type == "NAME"), None)
    if joint is not None and not any(x.text == "to" for x in after):
        edits.append((joint.span, "to"))
    whole = SourceSpan(s.run.file, words[0].start, after[-1].end)
    shown = _with_edits(whole, edits)
    return Diagnostic(
        "E0001",
        f"`{extra.text}` does not begin the ends of a connect",
        extra.span,
        help=f"write `{shown}`",
        fix=Fix(f"write `{shown}`", tuple(edits), safe=False),
    )


def _with_edits(whole: SourceSpan, edits: list[tuple[SourceSpan, str]]) -> str:
    """A stretch of text with edits in it."""
    text = whole.text
    for span, new in sorted(edits, key=lambda e: -e[0].start):
        text = text[: span.start - whole.start] + new + text[span.end - whole.start :]
    return text


def _words_before_any(s: Scene) -> Diagnostic | None:
    """``survives loss of any 1 of spine``."""
    every = [*s.statement, *s.rest]
    if s.first not in ("require", "report") or s.token is None:
        return None
    at = next((i for i, t in enumerate(every) if t.text == "survives"), len(every))
    end = next((i for i, t in enumerate(every) if i > at and t.text == "any"), 0)
    if end <= at + 1 or any(t.type != "NAME" for t in every[at + 1 : end]):
        return None
    gone: list[Token] = every[at + 1 : end]
    span = gone[0].span.to(gone[-1].span)
    cut = SourceSpan(s.run.file, gone[0].start, every[end].start)
    return Diagnostic(
        "E0001",
        f"`any` follows `survives`, without `{span.text}`",
        span,
        help=f"remove `{span.text}`",
        fix=Fix(f"remove `{span.text}`", ((cut, ""),), safe=False),
    )


TRIALS = (
    _use_of_other_languages,
    _settings_as_a_map,
    _loop_of_other_languages,
    _limits_behind_value,
    _range_of_three_points,
    _ratio_of_three,
    _model_before_name,
    _tier_without_children,
    _words_of_connect,
    _words_before_any,
    _path_of_other_form,
)
