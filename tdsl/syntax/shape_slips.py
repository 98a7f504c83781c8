"""Statements in the form that other languages give them: the path of a `use`, the range of a loop, limits of
a value, indices behind a point; each answered with the statement in the form of this one."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.keywords import GRAMMAR_WORDS, INSTEAD_OF, KIND_WORDS, KINDS, PATTERNS, SETTINGS, STARTERS
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import Scene, rewriting_finding, surrounding_block

_IMPORT = re.compile(
    r"""(?:use|import|include|from|require)\s++["'<]?(?P<path>[./\\:]*+\w++(?:[./\\:]++\w++)*+)["'>]?"""
    r"""(?:\s*+(?:import|show|:|\.|->)?+\s*+[({\[]?+\s*+"""
    r"""(?P<names>\w++(?:\s++as\s++\w++)?+(?:\s*+,\s*+\w++(?:\s++as\s++\w++)?+)*+)\s*+[)}\]]?)?;?"""
)
_LOOP = re.compile(
    r"(?:for|foreach)\s*+(?:\(\s*+)?(?:(?:int|let)\s++)?(\w++)\s*+(?:=|:=|in|from)\s*+\(?"
    r"(\w++)\s*+(?:to|until|through|\.{2,3}|:|,|-)\s*+(\w++)\)?(?:\s*+(?:do|:))?"
)
_MAP = re.compile(
    r'\w++\s*+[:=](?:"[^"\n]*+"|[^,{};\n"])++(?:,\s*+\w++\s*+[:=](?:"[^"\n]*+"|[^,{};\n"])++)++,?'
)
_TERNARY = re.compile(
    r"(?:^|(?<=[\[(=,:{])|(?<=\bwhere\b))([^\[(=,:{?]+?(?:[<>=!]=?[^?]+?)?)\?\s*([\w.*+-]+)\s*:\s*([\w.*+-]+)"
)
_TYPE_WITH_LIMITS = re.compile(
    r"(\w++\s++\w++\s*+:\s*+\w++)\s*+(?:in\s*+)?"
    r"[\[(]?\s*+(\d++)\s*+(?:\.\.|,|-|:|to)\s*+(\d++)\s*+[\])]?(\s*+=.+)"
)
_ENGLISH = (
    (re.compile(r"\b(?:the|a|an) (?=[a-z])"), ""),
    (re.compile(r"(?<=[a-z])-(?=[a-z])"), "_"),
    (re.compile(r"\b(?:number|count|amount|total) of (?=\w)"), ""),
    (re.compile(r"\b(?:of |is |be |must be )?(?:at most|no more than|not more than|up to)\b"), "<="),
    (re.compile(r"\b(?:of |is |be |must be )?(?:at least|no less than|not less than)\b"), ">="),
    (re.compile(r"\b(?:in|within|under|below|less than) (?=\$?\d)"), "<= "),
    (re.compile(r"\b(?:over|above|more than) (?=\$?\d)"), "> "),
    (re.compile(r"\b(?:is|equals|be|must be) (?=\$?\d)"), "== "),
    (re.compile(r"\bbetween (\S+) and (?=\S)"), r"of \1 to "),
    (re.compile(r"(?<=[\d%]) of full\b"), ""),
    (re.compile(r"\bof (?=\d\S* *[<>=])"), ""),
    (re.compile(r"\bfor (?=[a-z])"), "of "),
)
"""Words of English in a requirement, and what is written here."""
_PATTERN_WORDS = re.compile(
    r"\b(?:(evenly|equally|uniformly|balanced|distributed?(?: evenly)?)|"
    r"all[-_ ]to[-_ ]all|any[-_ ]to[-_ ]any|full[-_ ]?mesh|"
    r"fully[-_ ]connected|every)(?:\s*+(?:x\s*+)?\d++)?(?: links?)?$"
)
_PAIRS = re.compile(r"([a-z]\w*)((?:[ ,]+\w+\s*=\s*[^\s,;{}=]+){1,9})")
_CURRENCIES = frozenset(
    {"eur", "euro", "euros", "gbp", "chf", "jpy", "cny", "rmb", "usd", "dollar", "dollars"}
)
IMPORTING = ("use", "import", "include", "from")
"""Words that begin a line which takes names from a file, here and in other languages."""
_LIMIT = re.compile(
    r"\b(min|max|from|to)\w*+\s*+(?:[=:]\s*+)?(\d\w*+)|"
    r"(?:(?:in|between)\s*+)?[\[(]?(?<!\d)(\d++)\s*+(?:\.\.|-|,|to|and)\s*+(\d++)"
)
_PATH = re.compile(r"(?<!\w)[A-Za-z_]\w*+(?:\[[^\]\n]*+\]|[./:]\w++)++")
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
    if t is None or t.type not in ("COLON", "EQUAL") or [x.type for x in s.statement] != ["NAME"]:
        return None
    line = _text_of_line(s)
    found = _MAP.match(line.text)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, line.start, line.start + len(found[0].rstrip(" ,")))
    new = "; ".join(re.sub(r"^(\w+)\s*[:=]\s*", r"\1 ", part.strip()) for part in whole.text.split(","))
    return rewriting_finding(
        f"a setting is a name and its value without `{t.text}`, and `;` separates settings", whole, whole, new
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
    if re.fullmatch(r"(?:, ?\d+){2,}", behind.text):
        listed = SourceSpan(s.run.file, s.statement[-1].start, behind.end)
        if s.first == "param" and [x.text for x in s.statement[2:4]] != [":", "list"]:
            new = f"{s.statement[-1].text} where {name} in [{listed.text}]"
            return rewriting_finding("the values of a parameter follow `where`", listed, listed, new)
        return rewriting_finding("a list is written in square brackets", listed, listed, f"[{listed.text}]")
    low, high = _limits_in_text(behind.text)
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


def _limits_in_text(text: str) -> tuple[str, str]:
    """The lowest and the highest value that a text gives as limits, "" for one that it does not give."""
    limits = [m.groups() for m in _LIMIT.finditer(text)]
    low = next((b or c for a, b, c, _ in limits if c or a in ("min", "from")), "")
    high = next((b or d for a, b, _, d in limits if d or a in ("max", "to")), "")
    return low, high


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


_OF_ONE_PATH = ("omit", "place", "naming", "override", "connect")


def _part_before_whole(s: Scene) -> Diagnostic | None:
    """``omit node[31] of su[3]``: the device before the group that it is in."""
    t, b = s.token, s.before
    asked = s.first in ("require", "report")
    if t is None or b is None or not (asked or s.first in _OF_ONE_PATH):
        return None
    joins = ("in", "inside", "within") if asked else ("of", "from")
    if t.text not in joins or b.type not in ("NAME", "RSQB") or len(s.rest) < 2:
        return None
    text = s.run.file.text
    inner = re.search(r"(?<![\w.])[\w.]++(?:\[[^\[\]]*+\])?+$", text[s.statement[0].end : b.end])
    outer = re.compile(r"[A-Za-z_]\w*+(?:\[[^\[\]\n]*+\])?+").match(text, s.rest[1].start)
    if inner is None or outer is None:
        return None
    whole = SourceSpan(s.run.file, s.statement[0].end + inner.start(), outer.end())
    message = "a path begins with the group, and `.` joins what is in it"
    return rewriting_finding(message, whole, whole, f"{outer[0]}.{inner[0]}")


def _name_with_blank(s: Scene) -> Diagnostic | None:
    """``extend roce cluster.bmc``, where the text has ``roce_cluster``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "NAME" or b.type != "NAME" or len(s.statement) < 2:
        return None
    new = f"{b.text}_{t.text}"
    if all(x.text != new for x in s.run.tokens):
        return None
    both = b.span.to(t.span)
    return rewriting_finding(f"a name has no space in it, and the text has `{new}`", both, both, new)


def _unit_behind_comma(s: Scene) -> Diagnostic | None:
    """``place a in h.A[1], 40U`` and ``<= 5,2kW``."""
    t, b = s.token, s.before
    if b is not None and b.type == "COMMA" and t is not None and s.first == "place":
        if re.fullmatch(r"\d+U", t.text) is None:
            return None
        write = f"write `at {t.text}`"
        fix = Fix(write, ((b.span, " at"),), safe=False)
        return Diagnostic("E0001", "the unit follows `at`, not `,`", b.span.to(t.span), help=write, fix=fix)
    following = s.rest[1:2]
    if t is None or b is None or t.type != "COMMA" or b.type != "NUMBER" or b.end != t.start:
        return None
    if not following or following[0].start != t.end or following[0].type not in ("QUANTITY", "PERCENT"):
        return None
    whole = b.span.to(following[0].span)
    new = f"{b.text}.{following[0].text}"
    return rewriting_finding("a decimal has a point", whole, whole, new)


def _index_behind_point(s: Scene) -> Diagnostic | None:
    """``h.A.{i + 1}``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "LBRACE" or b.type != "DOT":
        return None
    found = re.compile(r"\{([^{}\n]++)\}").match(s.run.file.text, t.start)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, b.start, found.end())
    return rewriting_finding("an index is written in brackets", whole, whole, f"[{found[1].strip()}]")


_COUNTED_ON = re.compile(r"asn\s++(\w++)\[(\w++)\]\s*+=\s*+(\d++)\s*+\+\s*+(\w++)\s*+$")


def _numbers_from_first(s: Scene) -> Diagnostic | None:
    """``asn leaf[*] 65000..65007`` and ``asn leaf[i] = 65000 + i``."""
    t, b = s.token, s.before
    if s.first == "asn" and t is not None and t.type == "EQUAL":
        whole = SourceSpan(s.run.file, s.statement[0].start, s.rest[-1].end)
        found = _COUNTED_ON.match(whole.text)
        message = "numbers of autonomous systems are counted on from the first one"
        new = f"asn {found[1]}[*] from {found[3]}" if found is not None and found[2] == found[4] else ""
        return rewriting_finding(message, whole, whole, new) if new else None
    if (
        t is None
        or b is None
        or s.first != "asn"
        or b.type != "NUMBER"
        or t.type not in ("RANGE", "MINUS", "PLUS")
    ):
        return None
    whole = b.span.to(s.rest[1].span if len(s.rest) > 1 else t.span)
    head = "" if s.statement[-2].text == "from" else "from "
    message = "numbers of autonomous systems are counted on from the first one"
    return rewriting_finding(message, whole, whole, f"{head}{b.text}")


def _colon_before_block(s: Scene) -> Diagnostic | None:
    """``override leaf[1]: { … }``: no model behind the colon, and none needed."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "LBRACE" or b.type != "COLON" or s.first != "override":
        return None
    gone, name = SourceSpan(s.run.file, s.statement[-2].end, b.end), s.statement[1].text
    help = f"remove the `:`, or write `: MODEL` for another model of `{name}`"
    fix = Fix("remove the `:`", ((gone, ""),), safe=False)
    return Diagnostic("E0001", "no model follows the `:`", b.span, help=help, fix=fix)


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


def _tier_in_other_words(s: Scene) -> Diagnostic | None:
    """``stage spine of ? leaf {``."""
    words = s.statement
    if len(words) < 3 or s.first not in ("stage", "layer", "level") or words[2].text != "of":
        return None
    first = words[0].span
    return rewriting_finding(f"`{s.first}` declares no tier; the word is `tier`", first, first, "tier")


def _tier_without_children(s: Scene) -> Diagnostic | None:
    """``tier leaf of 32 {`` and ``tier leaf {``."""
    t, words = s.token, s.statement
    if s.first != "tier" or t is None:
        return None
    below = _tier_before(s)
    grouped = len(words) == 5 and words[4].text == "by"
    if (grouped or len(words) == 4) and words[2].text == "of" and (grouped or t.type in ("LBRACE", END)):
        return _half_of_children(s, words[:4], below)
    if len(words) > 3:
        return None
    usual = "leaf" if below == "hosts" else "spine"
    name = words[1].text if len(words) > 1 and words[1].type == "NAME" else usual
    return Diagnostic(
        "E0001",
        "a tier has a name, and says of how many of the tier below one of it is",
        words[0].span.to(words[-1].span),
        help=f"write `tier {name} of {'32 hosts' if below == 'hosts' else f'? {below}'} {{ switch MODEL }}`",
    )


def _half_of_children(s: Scene, words: list[Token], below: str) -> Diagnostic:
    """``tier leaf of 32`` and ``tier leaf of hosts``: the tier below, or how many of it, is left out."""
    _, name, _, said = words
    head = s.run.file.text[words[0].start : said.start]
    if said.text == below:
        put, count = said.start, "32" if below == "hosts" else "?"
        message, new = f"how many `{below}` are below each `{name.text}` is missing", f"{count} "
        help, title = f"write `{head}{count} {below}`, or a number", f"put `{count}`"
    else:
        put, new = said.end, f" {below}"
        message = f"of what there are {said.text} in each `{name.text}` is missing"
        help, title = f"write `{head}{said.text} {below}`", f"put `{below}`"
    fix = Fix(title, ((SourceSpan(s.run.file, put, put), new),), safe=False)
    return Diagnostic("E0001", message, name.span.to(said.span), help=help, fix=fix)


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


def _place_without_device(s: Scene) -> Diagnostic | None:
    """``place in h1.A[1] node[0] at 2U``."""
    words = s.statement
    if s.first != "place" or len(words) != 2 or words[1].text != "in" or s.token is None:
        return None
    message = "what is placed comes before `in`"
    return Diagnostic(
        "E0001",
        message,
        words[1].span,
        help="write `place DEVICE in ROW[RACK] at UNIT`, such as `place leaf[0] in h1.A[3] at 30U`",
    )


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
    brace = next((k for k, x in enumerate(after) if x.text == "{"), len(after))
    last = after[brace - 1]
    said = {x.text: x for x in reversed(after[:brace]) if x.type == "NAME"}
    joint = said.get("and") or said.get("with")
    if joint is not None and "to" not in said:
        edits.append((joint.span, "to"))
    if extra.text == "each" and joint is None and not said.keys() & set(PATTERNS):
        edits.append((SourceSpan(s.run.file, last.end, last.end), " each"))
    whole = SourceSpan(s.run.file, words[0].start, last.end)
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


def _operator_of_other_languages(s: Scene) -> Diagnostic | None:
    """``n <> 8``."""
    t, b = s.token, s.before
    if t is None or b is None or (b.text, t.text) != ("<", ">") or b.end != t.start:
        return None
    both = b.span.to(t.span)
    return rewriting_finding("`<>` is not an operator; `!=` is", both, both, "!=", safe=True)


def _conditional_with_question_mark(s: Scene) -> Diagnostic | None:
    """``n > 4 ? 8 : 2``."""
    if s.token is None or s.token.type != "QMARK":
        return None
    line = _text_of_line(s)
    found = _TERNARY.search(line.text)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, line.start + found.start(1), line.start + found.end())
    new = f"{found[2].strip()} if {found[1].strip()} else {found[3].strip()}"
    return rewriting_finding("one of two values is chosen by `if` and `else`", whole, whole, new)


def _comma_in_guard(s: Scene) -> Diagnostic | None:
    """``where n < 8, r < 4``."""
    if s.token is None or s.token.type != "COMMA" or not any(t.text == "where" for t in s.statement):
        return None
    return rewriting_finding("conditions are joined by `and`", s.token.span, s.token.span, " and")


def _bracket_not_opened(s: Scene) -> Diagnostic | None:
    """``host node 16]: M``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if t is None or b is None or t.type != "NUMBER" or not following or following[0].type != "RSQB":
        return None
    if [x.type for x in s.statement if x.type in ("LSQB", "RSQB")][-1:] == ["LSQB"]:
        return None
    at = SourceSpan(s.run.file, b.end, t.start)
    return Diagnostic(
        "E0005",
        "this `]` closes nothing: the `[` before the number is missing",
        following[0].span,
        help=f"write `{b.text}[{t.text}]`",
        fix=Fix("put `[`", ((at, "["),)),
    )


def _index_without_brackets(s: Scene) -> Diagnostic | None:
    """``omit node 15``."""
    t, b = s.token, s.before
    if t is None or b is None or s.first not in ("omit", "place", "naming", "extend", "override"):
        return None
    if t.type not in ("NUMBER", "DIMS") or b.type != "NAME" or len(s.statement) < 2:
        return None
    if [x.type for x in s.statement if x.type in ("LSQB", "RSQB")][-1:] == ["LSQB"]:
        return None
    if b.text.lower() in ("u", "ru", "unit"):
        units = b.span.to(t.span)
        return rewriting_finding("rack units are a number and `U`", units, units, f"{t.text}U")
    new = f"{b.text}[{t.text}]"
    whole = b.span.to(t.span)
    return rewriting_finding("an index is written in brackets", whole, whole, new)


def _kind_before_path(s: Scene) -> Diagnostic | None:
    """``omit host node[15]`` and ``connect switch leaf[*] to …``."""
    every = [*s.statement, *s.rest]
    if s.first not in _STATEMENTS_OF_PATHS or s.token is None:
        return None
    for before, kind, name in zip(every, every[1:], every[2:], strict=False):
        leads = before is every[0] or before.text in ("in", "to", "of", "via")
        if kind.start > s.token.start or not leads or kind.text not in KIND_WORDS:
            continue
        if name.type != "NAME" or name.text in GRAMMAR_WORDS:
            continue
        gone = SourceSpan(s.run.file, kind.start, name.start)
        return Diagnostic(
            "E0001",
            f"a path begins with a name; `{kind.text}` is a kind",
            kind.span,
            help=f"write `{before.text} {name.text}`, without `{kind.text}`",
            fix=Fix(f"remove `{kind.text}`", ((gone, ""),), safe=False),
        )
    return None


def _names_of_group_meant(s: Scene) -> list[str]:
    """The names that a group without one may have: those that nothing declares, or that of its kind where
    paths begin with it."""
    if re.search(rf"\b(?:connect|to|of|all|via|place)\s+{s.first}\[", s.run.file.text):  # `rack rack[2]`
        return [s.first]
    return _names_without_declaration(s)


def _group_without_name(s: Scene) -> Diagnostic | None:
    """``group[4] {`` and ``switch: QM9700``."""
    t = s.token
    if t is None or len(s.statement) != 1 or s.first not in KIND_WORDS or t.type not in ("LSQB", "STRING"):
        return None
    if t.type == "STRING":
        return _name_in_quotes(s, t)
    close = next((x for x in s.rest if x.type == "RSQB"), t)
    after = next((x for x in s.rest if x.start >= close.end), None)
    if after is not None and after.type == "NAME":  # `host[8] node: M`
        return None
    shape = t.span.to(close.span).text
    if s.first == "rack" and surrounding_block(s) == "row":
        return _racks_without_numbers(s, s.statement[0].span.to(close.span), shape)
    unknown = _names_of_group_meant(s)
    proposed = {"group": "su", "rack": "r", "host": "node"}.get(s.first, s.first[0])
    name = unknown[0] if len(unknown) == 1 else proposed
    if not re.fullmatch(r"\[[\w.?* ]+\]", shape):
        return None
    at = SourceSpan(s.run.file, t.start, t.start)
    return Diagnostic(
        "E0001",
        f"a `{s.first}` has a name before how many there are",
        s.statement[0].span.to(close.span),
        help=f"write `{s.first} {name}{shape}`, or another name",
        fix=Fix(f"put `{name}`", ((at, f" {name}"),), safe=False) if len(unknown) == 1 else None,
    )


def _name_in_quotes(s: Scene, t: Token) -> Diagnostic | None:
    """``host "node a" {``."""
    if [x.type for x in s.rest[1:2]] == ["RANGE"]:  # numbers, one of them in quotes
        return None
    if not surrounding_block(s) and s.first in KINDS["group"]:  # a title behind the name of a fabric
        first = s.statement[0].span
        message = f"`{s.first}` with a title at the top of a file has no word before it that says what it is"
        return rewriting_finding(message, first, first, f"fabric {s.first}")
    name = re.sub(r"\W+", "_", t.text.strip('"'), flags=re.ASCII).strip("_")
    if not name or name[0].isdigit():
        return None
    return rewriting_finding(f"a `{s.first}` has a name, without quotes", t.span, t.span, name)


def _racks_without_numbers(s: Scene, whole: SourceSpan, shape: str) -> Diagnostic | None:
    """``rack[8] {`` in a row."""
    number = re.fullmatch(r"\[(\d+)\]", shape)
    if number is None:
        return None
    return rewriting_finding("racks of a row are numbered", whole, whole, f"rack 1..{number[1]}")


def _names_without_declaration(s: Scene) -> list[str]:
    """Names at the beginning of paths that no statement of the text declares."""
    pairs = [
        (a.text, b.text) for a, b in zip(s.run.tokens, s.run.tokens[1:], strict=False) if b.type == "NAME"
    ]
    declared = {b for a, b in pairs if a in KIND_WORDS or a in ("tier", "job", "hall")}
    heads = ("connect", "to", "place", "omit", "naming", "of")
    return sorted({b for a, b in pairs if a in heads and b not in declared | GRAMMAR_WORDS})


def _phase_without_number(s: Scene) -> Diagnostic | None:
    """``phase one {`` and ``phase "2027" {``."""
    t = s.token
    if t is None or s.first != "phase" or len(s.statement) != 1 or t.type == "NUMBER":
        return None
    number = {"one": "1", "two": "2", "three": "3", "four": "4"}.get(t.text.lower(), "1")
    found = re.search(r"\d+", t.text)
    number = found[0] if found else number
    span = t.span if t.type in ("NAME", "STRING", "QUANTITY") else s.statement[0].span
    return Diagnostic(
        "E0001",
        "a phase has a number",
        span,
        help=f"write `phase {number} {{`",
        fix=Fix(f"write `{number}`", ((span, number),), safe=False) if span == t.span else None,
    )


def _type_with_limits(s: Scene) -> Diagnostic | None:
    """``param n: int[1..4] = 1``."""
    words = s.statement
    if s.token is None or s.first not in ("param", "let") or len(words) != 4 or words[2].type != "COLON":
        return None
    line = _text_of_line(s)
    found = _TYPE_WITH_LIMITS.fullmatch(line.text)
    if found is None:
        return None
    new = f"{found[1]}{found[4].rstrip()} where {found[2]} <= {words[1].text} <= {found[3]}"
    return rewriting_finding(f"limits of `{words[1].text}` follow `where`", line, line, new)


def _model_with_colon(s: Scene) -> Diagnostic | None:
    """``model LEAF: switch "Our leaf" {``."""
    every = [*s.statement, *s.rest]
    if s.first != "model" or [t.type for t in every[1:4]] != ["NAME", "COLON", "NAME"]:
        return None
    whole = every[0].span.to(every[3].span)
    return rewriting_finding(
        "a model has its kind before its name", whole, whole, f"model {every[3].text} {every[1].text}"
    )


def _list_in_setting(s: Scene) -> Diagnostic | None:
    """``type: [NDR, GE400]``."""
    t = s.token
    if t is None or t.type not in ("COLON", "EQUAL") or len(s.statement) != 1 or len(s.rest) < 4:
        return None
    depth = [0]
    for x in s.rest:
        depth.append(depth[-1] + (x.type == "LSQB") - (x.type == "RSQB"))
    close = next((x for x, d in zip(s.rest, depth[1:], strict=True) if x.type == "RSQB" and not d), None)
    if s.rest[1].type != "LSQB" or close is None or s.statement[0].type != "NAME":
        return None
    if t.type == "EQUAL" and (s.first not in SETTINGS or surrounding_block(s) in ("model", "fabric")):
        first = s.statement[0].span
        message = f"`let` or `param` gives a name to a value, and `{s.first}` is not a statement"
        help = f"write `let {s.first} = …`"
        fix = Fix("write `let`", ((SourceSpan(s.run.file, first.start, first.start), "let "),), safe=False)
        return Diagnostic("E0001", message, first, help=help, fix=fix)
    inner = SourceSpan(s.run.file, s.rest[1].end, close.start).text.strip().replace('"', "")
    whole = s.statement[0].span.to(close.span)
    return rewriting_finding(
        "several values of a setting are written without `:` and brackets", whole, whole, f"{s.first} {inner}"
    )


def requirement_in_english(s: Scene) -> Diagnostic | None:
    """``require number of cables at most 300``, where other words make it a requirement."""
    if s.first not in ("require", "report") or s.token is None:
        return None
    line = _text_of_line(s)
    new = line.text
    for words, sign in _ENGLISH:
        new = words.sub(sign, new)
    new = re.sub(r" {2,}", " ", new).strip()
    if new == line.text:
        return None
    tokens = [t for t in s.run.scan(SourceFile("", new)) if t.type != "COMMENT"]
    if s.run.count_accepted(tokens) <= len(tokens):
        return None
    return rewriting_finding("a requirement is a metric, its clauses and a comparison", line, line, new)


def _pattern_in_other_words(s: Scene) -> Diagnostic | None:
    """``connect a to b all-to-all`` and ``connect a to b evenly 16``."""
    if s.first != "connect" or s.token is None:
        return None
    line = _text_of_line(s)
    found = _PATTERN_WORDS.search(line.text)
    if found is None or found.end() < s.token.start - line.start:
        return None
    whole = SourceSpan(s.run.file, line.start + found.start(), line.start + found.end())
    count = re.search(r"\d+", found[0])
    even = found[1] is not None
    new = ("spread" if even else "each") + (f" x {count[0]}" if count else "")
    return rewriting_finding(f"`{whole.text}` is not a pattern; `{new}` is", whole, whole, new)


def _thousands_apart(s: Scene) -> Diagnostic | None:
    """``$5,000,000`` and ``1,000``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "COMMA" or b.type not in ("NUMBER", "MONEY"):
        return None
    found = re.compile(r"\$?\d{1,3}(?:,\d{3})+(?!\d)").match(s.run.file.text, b.start)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, found.start(), found.end())
    return rewriting_finding(
        "`_` may separate thousands, and `,` does not", whole, whole, found[0].replace(",", "_"), safe=True
    )


def _currency_behind_amount(s: Scene) -> Diagnostic | None:
    """``5M EUR``."""
    t, b = s.token, s.before
    if t is not None and b is not None and b.text.lower() in _CURRENCIES and t.type in ("NUMBER", "QUANTITY"):
        message = "an amount of money begins with `$`; a file of prices says the currency"
        return rewriting_finding(message, b.span, b.span.to(t.span), f"${t.text}")
    if t is None or b is None or t.text.lower() not in _CURRENCIES or b.type not in ("NUMBER", "QUANTITY"):
        return None
    return rewriting_finding(
        "an amount of money begins with `$`; a file of prices says the currency",
        t.span,
        b.span.to(t.span),
        f"${b.text}",
    )


def _condition_of_requirement(s: Scene) -> Diagnostic | None:
    """``require bisection >= 100% if units > 1`` and ``switch a: M if railed``."""
    t = s.token
    if t is None or t.text not in ("if", "when", "where", "unless") or "WHERE" in s.expected:
        return None
    if s.first not in {"require", "report"} | KIND_WORDS or len(s.statement) < 2:
        return None
    line = _text_of_line(s)
    claim = SourceSpan(s.run.file, line.start, t.start).text.strip()
    condition = SourceSpan(s.run.file, t.end, line.end).text.strip()
    if not condition or "{" in condition:
        return None
    guard = f"not ({condition})" if t.text == "unless" else condition
    new = f"if {guard} {{ {claim} }}"
    said = "requirement" if s.first in ("require", "report") else f"`{s.first}`"
    return rewriting_finding(f"a {said} has no condition; a block of `if` has", line, line, new)


def _list_in_braces(s: Scene) -> Diagnostic | None:
    """``let sizes = {4, 8}``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "LBRACE" or s.first not in ("let", "param", "for"):
        return None
    found = re.compile(r"\{([^{}\n]+)\}").match(s.run.file.text, t.start)
    if b.type not in ("EQUAL", "NAME") or found is None or "NAME" not in s.expected:
        return None
    whole = SourceSpan(s.run.file, found.start(), found.end())
    return rewriting_finding("a list is written in square brackets", whole, whole, f"[{found[1].strip()}]")


def _pairs_with_equals(s: Scene) -> Diagnostic | None:
    """``pitch rack=0.6m row=3m``."""
    if s.token is None or s.token.type != "EQUAL" or len(s.statement) < 2:
        return None
    if s.first in STARTERS or s.first.lower() in INSTEAD_OF:
        return None
    line = _text_of_line(s)
    found = _PAIRS.match(line.text)
    if found is None:
        return None
    pairs = re.findall(r"\b(\w++)\s*+=\s*+([^\s,;{}]++)", found[2])
    if len(pairs) == 1 and " = " in found[2]:  # a name for a value, whose `let` is misspelt or left out
        return None
    new = f"{found[1]} {', '.join(f'{name} {value}' for name, value in pairs)}"
    whole = SourceSpan(s.run.file, line.start, line.start + len(found[0].rstrip(" ,")))
    return rewriting_finding("a name and its value are written side by side, without `=`", whole, whole, new)


def _metric_behind_comparison(s: Scene) -> Diagnostic | None:
    """``require >= 100% bisection``."""
    claim = s.rest
    if s.first not in ("require", "report") or len(s.statement) != 1 or len(claim) != 3:
        return None
    if claim[0].type != "CMP" or claim[2].type != "NAME":
        return None
    whole = claim[0].span.to(claim[2].span)
    new = f"{claim[2].text} {claim[0].text} {claim[1].text}"
    return rewriting_finding("a requirement begins with a metric", whole, whole, new, safe=True)


def _index_in_other_brackets(s: Scene) -> Diagnostic | None:
    """``connect a(*) to …`` and ``connect su{*} to …``."""
    t, text = s.token, s.run.file.text
    if t is None or t.type != "STAR":
        return None
    at = next((k for k in range(t.start - 1, -1, -1) if text[k] not in " *"), 0)
    found = re.compile(r"[({]([*\w, ]+)[)}]").match(text, at)
    if found is None or not at or not (text[at - 1].isalnum() or text[at - 1] == "_"):
        return None
    whole = SourceSpan(s.run.file, at, found.end())
    return rewriting_finding("an index is written in square brackets", whole, whole, f"[{found[1]}]")


def _word_twice(s: Scene) -> Diagnostic | None:
    """``>= >= 100%``, ``to to leaf[r]`` and ``a,, b``."""
    t, b = s.token, s.before
    if t is None or b is None or not t.text or t.text != b.text or t.type in ("LBRACE", "LPAR", "LSQB"):
        return None
    cut = SourceSpan(s.run.file, b.end, t.end)
    if t.start > b.end and t.type in ("PLUS", "STAR", "SLASH", "FLOOR", "CMP"):
        message = f"a value is missing between `{b.text}` and `{t.text}`"
        return Diagnostic(
            "E0001", message, b.span.to(t.span), help=f"write a value there, or remove one `{t.text}`"
        )
    opened = [x.type for x in s.statement if x.type in ("LSQB", "RSQB")][-1:] == ["LSQB"]
    listed = t.type == "COMMA" and opened and s.first not in KIND_WORDS
    return Diagnostic(
        "E0001",
        f"`{t.text}` is written twice",
        t.span,
        help=f"remove one `{t.text}`" + (", or write the index between them" if listed else ""),
        fix=None if listed else Fix(f"remove one `{t.text}`", ((cut, ""),)),
    )


def _between_in_guard(s: Scene) -> Diagnostic | None:
    """``where units between 1 and 4``."""
    if s.token is None or s.token.text != "between" or not any(t.text == "where" for t in s.statement):
        return None
    line = _text_of_line(s)
    found = re.search(r"\b(\w++) between ([\w.]++) and ([\w.]++)", line.text)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, line.start + found.start(), line.start + found.end())
    new = f"{found[2]} <= {found[1]} <= {found[3]}"
    return rewriting_finding("two limits are one chain of comparisons", whole, whole, new, safe=True)


def _malformed_ipv6(s: Scene) -> Diagnostic | None:
    """``fd00::1::/64``."""
    t, text = s.token, s.run.file.text
    if t is None or t.type not in ("COLON", "NUMBER", "NAME", "QUANTITY"):
        return None
    start = t.start
    while start and (text[start - 1].isalnum() or text[start - 1] == ":"):
        start -= 1
    found = re.compile(r"[0-9A-Fa-f:]+(?:/\d+)?").match(text, start)
    if found is None or found.end() <= t.start:
        return None
    if found[0].count(":") < (2 if "/" in found[0] and re.search("[a-f]", found[0]) else 3):
        return None
    whole = SourceSpan(s.run.file, start, found.end())
    return Diagnostic(
        "E0001",
        f"`{found[0]}` is not an IPv6 address: groups of up to four digits are joined by `:`, and `::` is "
        "written once",
        whole,
        help="write an address such as `fd00:10::1`, or a network such as `fd00:10::/48`",
    )


def _truth_of_requirement(s: Scene) -> Diagnostic | None:
    """``require rail_alignment = true``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if t is None or b is None or s.first not in ("require", "report") or t.type not in ("EQUAL", "COLON"):
        return None
    if not following or following[0].text.lower() not in ("true", "yes", "on") or b.type != "NAME":
        return None
    cut = SourceSpan(s.run.file, b.end, following[0].end)
    shown = cut.text.strip()
    return Diagnostic(
        "E0001",
        "what is yes or no is not compared",
        t.span.to(following[0].span),
        help=f"remove `{shown}`",
        fix=Fix(f"remove `{shown}`", ((cut, ""),), safe=False),
    )


def _quoted_requirement(s: Scene) -> Diagnostic | None:
    """``require "bisection >= 100%"``."""
    t = s.token
    if t is None or t.type != "STRING" or s.first not in ("require", "report") or len(s.rest) != 1:
        return None
    inner = t.text.strip('"').strip()
    return rewriting_finding(f"a `{s.first}` has no quotes around it", t.span, t.span, inner)


def _call_of_topology(s: Scene) -> Diagnostic | None:
    """``clos(leaf=QM9700, spine=QM9700)``."""
    if s.token is None or s.token.type not in ("EQUAL", "COLON"):
        return None
    line = _text_of_line(s)
    found = re.fullmatch(r"(\w++)\s*+\(((?:\s*+\w++\s*+[=:][^,()]++,?)++)\)", line.text)
    if found is None or found[1] in STARTERS:
        return None
    pairs = (
        re.sub(r"(?<!\s)\s*+[=:]\s*+", " ", part.strip(), count=1)
        for part in found[2].split(",")
        if part.strip()
    )
    new = f"{found[1]} {{ {'; '.join(pairs)} }}"
    return rewriting_finding("settings are written in braces, each a name and its value", line, line, new)


def _plus_behind_name(s: Scene) -> Diagnostic | None:
    """``dragonfly+ {``, as papers write it."""
    t, b = s.token, s.before
    if b is not None and b.type == "PLUS" and len(s.statement) == 2:
        t, b = b, s.statement[0]
    if t is None or b is None or t.type != "PLUS" or b.type != "NAME" or b.end != t.start:
        return None
    if s.first in ("require", "report"):  # `require n+1 spine`
        return None
    new, both = f"{b.text}_plus", b.span.to(t.span)
    return rewriting_finding("a name has letters, digits and `_`, and no `+`", both, both, new)


TRIALS = (
    _plus_behind_name,
    _truth_of_requirement,
    _quoted_requirement,
    _call_of_topology,
    _part_before_whole,
    _unit_behind_comma,
    _name_with_blank,
    _index_behind_point,
    _numbers_from_first,
    _colon_before_block,
    _index_in_other_brackets,
    _word_twice,
    _between_in_guard,
    _malformed_ipv6,
    _pattern_in_other_words,
    _thousands_apart,
    _currency_behind_amount,
    _condition_of_requirement,
    _list_in_braces,
    _pairs_with_equals,
    _metric_behind_comparison,
    _operator_of_other_languages,
    _conditional_with_question_mark,
    _comma_in_guard,
    _bracket_not_opened,
    _index_without_brackets,
    _kind_before_path,
    _group_without_name,
    _phase_without_number,
    _type_with_limits,
    _model_with_colon,
    _list_in_setting,
    _use_of_other_languages,
    _settings_as_a_map,
    _loop_of_other_languages,
    _limits_behind_value,
    _range_of_three_points,
    _ratio_of_three,
    _model_before_name,
    _tier_in_other_words,
    _tier_without_children,
    _place_without_device,
    _words_of_connect,
    _words_before_any,
    _path_of_other_form,
)
