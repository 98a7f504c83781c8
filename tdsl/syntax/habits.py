"""Faults that come from other languages, each answered with how this one says it."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.foreign_units import amount_written_here
from tdsl.syntax.keywords import GRAMMAR_WORDS, KIND_WORDS, TYPES
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import UNIT, Scene, found_words, surrounding_block

_YAML = re.compile(r"""-(?=\s)|---|(?:- )?["']?[A-Za-z_][\w.-]*["']?:(?:\s|$)""")


_FIRST = (
    ("TOML", re.compile(r"""\[\[?[A-Za-z_][\w."-]*\]\]?$""")),
    ("XML", re.compile(r"<(\?xml|[A-Za-z][\w:-]*[\s>/])")),
    ("Terraform", re.compile(r'(resource|provider|data|module|variable|terraform)(\s+"[^"]*")+\s*\{')),
    (
        "Python",
        re.compile(
            r"from\s+[\w.]+\s+import\s|import\s+[\w.]+(\s+as\s+\w+)?$|def\s+\w+\((?=.*\)).*:$|"
            r"class\s+\w++.*:$"
        ),
    ),
    ("a Graphviz graph", re.compile(r"(strict\s+)?(di)?graph\b[^=]*\{")),
)
"""Formats whose first line is like no statement of a design."""
_DESIGN = re.compile(r"^(?:fabric|cluster|extend|model|topology)\s[^\n]*\{", re.MULTILINE)
"""A line that only a design has."""


def _is_table(text: str) -> bool:
    """Whether a text is a table of two lines or more, each with as many commas, semicolons or tabs."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")][:50]
    begins = lines and re.match(r"\"?[A-Za-z_][\w-]*\"?([,;\t])", lines[0])  # few statements begin so
    if not begins or len(lines) < 2 or any(re.search(r"[{}]|;$", line.rstrip()) for line in lines):
        return False
    return len({line.count(begins[1]) for line in lines}) == 1


def other_format(text: str) -> tuple[str, int]:
    """The format that a text plainly is, and where it begins, else ""; no statement begins so."""
    count = at = begin = 0
    if _is_table(text):
        return "a table of values, such as CSV", len(text) - len(text.lstrip())
    for raw in text.splitlines(keepends=True):
        line = raw.strip()
        if line and not line.startswith("#"):
            if not count:
                begin = at + len(raw) - len(raw.lstrip())
                if other := _format_of_first_line(line):
                    return ("", 0) if other == "Python" and _DESIGN.search(text) else (other, begin)
            count += 1
            if not _YAML.match(line):
                return "", 0
        at += len(raw)
    return ("YAML", begin) if count > 1 else ("", 0)


def _format_of_first_line(line: str) -> str:
    """The format whose text begins with a line; "" where another line may say it, or none."""
    known = next((name for name, first in _FIRST if first.match(line)), "")
    return known or ("JSON" if line[0] in "{[" else "")


def _begins_comment(tokens: list[Token], i: int) -> bool:
    """Whether a token begins a comment of another language: ``//`` or ``--`` behind a blank, and two names
    side by side behind it, which no value has."""
    t, begin = tokens[i], i + 1
    if (
        t.type == "MINUS"
        and i + 1 < len(tokens)
        and tokens[i + 1].type == "MINUS"
        and tokens[i + 1].start == t.end
    ):
        begin = i + 2
    elif t.type != "FLOOR":
        return False
    if not t.file.text[t.start - 1 : t.start].isspace():
        return False
    words: list[Token] = []
    for w in tokens[begin:]:
        if w.type != "NAME":
            break
        words.append(w)
    ends = begin + len(words) >= len(tokens) or tokens[begin + len(words)].newline
    if len(words) > 2 and ends:
        return True
    return len(words) > 1 and not {w.text for w in words[:2]} & GRAMMAR_WORDS


def without_comments(file: SourceFile, tokens: list[Token], diagnostics: Diagnostics) -> list[Token]:
    """The tokens without comments; those of C over several lines, ``/* … */``, are findings."""
    out: list[Token] = []
    end = 0
    close, ahead = -1, True  # the next `*/`, and whether there may be one
    for i, t in enumerate(tokens):
        if t.start < end or t.type == "COMMENT":
            continue
        if _begins_comment(tokens, i):
            line_end = file.text.find("\n", t.start)
            end = line_end if line_end >= 0 else len(file.text)
            diagnostics.items.append(_line_comment_finding(t, end))
            continue
        opens = t.type == "SLASH" and file.text.startswith("/*", t.start)
        if opens and ahead and close < t.start:
            close = file.text.find("*/", t.start)
            ahead = close >= 0
        if (
            not opens or not ahead or file.position(t.start)[0] == file.position(close)[0]
        ):  # of one line: `messages` says it
            out.append(t)
            continue
        end = close + 2
        diagnostics.items.append(_block_comment_finding(t, close))
    return out


def _line_comment_finding(t: Token, end: int) -> Diagnostic:
    """The finding of ``// text`` and ``-- text`` that go to the end of their line."""
    sign, text = "//" if t.type == "FLOOR" else "--", t.file.text
    said = text[t.start + 2 : end].strip()
    whole = SourceSpan(t.file, t.start, t.start + len(text[t.start : end].rstrip()))
    return Diagnostic(
        "E0001",
        f"`{sign}` does not begin a comment",
        SourceSpan(t.file, t.start, t.start + 2),
        help=f"write `# {said}`",
        fix=Fix("make it a comment", ((whole, f"# {said}"),)),
    )


def _block_comment_finding(t: Token, close: int) -> Diagnostic:
    """The finding of ``/* … */`` over several lines."""
    lines = [line.strip().lstrip("*").strip() for line in t.file.text[t.start + 2 : close].splitlines()]
    indent = " " * (t.span.begin[1] - 1)
    new = f"\n{indent}".join(f"# {line}" for line in lines if line)
    said = next((line for line in lines if line), "")
    return Diagnostic(
        "E0001",
        "`/*` does not begin a comment",
        SourceSpan(t.file, t.start, t.start + 2),
        help=f"write `# {said}`; each line of a comment begins with `#`",
        fix=Fix("make it a comment", ((SourceSpan(t.file, t.start, close + 2), new),)),
    )


def _colon_after_kind_word(s: Scene) -> Diagnostic | None:
    """``fabric: pod``."""
    b = s.before
    if (
        s.token is None
        or s.token.type != "COLON"
        or b is None
        or len(s.statement) != 1
        or b.text not in KIND_WORDS
    ):
        return None
    name = s.rest[1].text if len(s.rest) > 1 and s.rest[1].type == "NAME" else "NAME"
    if b.text == "switch" and surrounding_block(s) == "tier":
        help = f"write `switch {name}`"
        gone = SourceSpan(s.run.file, b.end, s.token.end)
        fix = Fix(
            "remove the `:`", ((gone, "" if s.run.file.text[s.token.end].isspace() else " "),), safe=False
        )
        return Diagnostic(
            "E0001", "a setting has no `:`: the model follows `switch`", s.span, help=help, fix=fix
        )
    shape = (
        f"{b.text} {name} {{ … }}" if b.text in ("fabric", "cluster", "group") else f"{b.text} {name}: MODEL"
    )
    return Diagnostic(
        "E0001", f"expected a name after `{b.text}`, found `:`", s.span, help=f"write `{shape}`"
    )


def _count_in_wrong_brackets(s: Scene) -> Diagnostic | None:
    """``switch leaf(8): S`` and ``switch leaf{8}: S``."""
    t, pairs = s.token, {"LPAR": "RPAR", "LBRACE": "RBRACE"}
    if t is None or t.type not in pairs or s.first not in KIND_WORDS or len(s.statement) != 2:
        return None
    closing = next((x for x in s.rest if x.type == pairs[t.type]), None)
    text = s.run.file.text[t.end : closing.start] if closing is not None else "N"
    edits = ((t.span, "["), (closing.span, "]")) if closing is not None else ()
    signs = "( )" if t.type == "LPAR" else "{ }"
    return Diagnostic(
        "E0001",
        f"how many `{s.statement[1].text}` there are is written in brackets, not in `{signs}`",
        s.span,
        help=f"write `{s.first} {s.statement[1].text}[{text}]`",
        fix=Fix("write brackets", edits) if edits else None,
    )


def _foreign_unit(s: Scene) -> Diagnostic | None:
    """``400 Gbit/s`` and ``400 Gb/s``."""
    t, b = s.token, s.before
    if t is not None and b is not None and t.type == "SLASH" and len(s.statement) > 1:  # `400 Gbit/s`
        t, b = b, s.statement[-2]
    if t is None or b is None or t.type != "NAME" or b.type != "NUMBER":
        return None
    amount = amount_written_here(b.text, t.text)
    if not amount or (UNIT.fullmatch(t.text) and not t.text.endswith("b")):
        return None
    whole = re.compile(r"\w+(/(s|sec|h|hr)\b)?").match(s.run.file.text, t.start)
    assert whole is not None
    written = SourceSpan(s.run.file, b.start, whole.end())
    return Diagnostic(
        "E0001",
        f"`{whole[0]}` is not a unit of the language; write a number and its unit without a space",
        t.span,
        help=f"write `{amount}`",
        fix=Fix(f"write `{amount}`", ((written, amount),)),
    )


def _missing_parameter_default(s: Scene) -> Diagnostic | None:
    """``param n: int``."""
    if (
        s.first != "param"
        or "EQUAL" not in s.expected
        or (s.token is not None and s.token.type not in (END, "$END", "RBRACE"))
    ):
        return None
    if len(s.statement) not in (2, 4) or (len(s.statement) == 4 and s.statement[3].text not in TYPES):
        return None
    text = SourceSpan(s.run.file, s.statement[0].start, s.statement[-1].end).text
    name = s.statement[1].text
    return Diagnostic(
        "E0001",
        f"the parameter `{name}` has no default, {found_words(s)}",
        s.statement[-1].span,
        help=f"write `{text} = 4`; `--set {name}=8` then gives another value",
    )


def _elif_keyword(s: Scene) -> Diagnostic | None:
    if s.token is None or s.token.text not in ("elif", "elsif", "elseif"):
        return None
    return Diagnostic(
        "E0001",
        f"`{s.token.text}` is not a keyword of the language",
        s.span,
        help="write `else if`",
        fix=Fix("write `else if`", ((s.span, "else if"),)),
    )


def _unless_keyword(s: Scene) -> Diagnostic | None:
    """``unless railed {`` and its ``else``."""
    found = [t for t in s.statement if t.text == "unless"]
    if not found or found[0] is not s.statement[0] or len(s.statement) < 2:
        return None
    head = found[0].span
    condition = s.run.file.text[head.end :].partition("{")[0].strip()
    return Diagnostic(
        "E0001", "`unless` is not a statement; `if not` is", head, help=f"write `if not ({condition}) {{`"
    )


def _loop_without_braces(s: Scene) -> Diagnostic | None:
    """``for r in range(8):`` and ``for i in 0..7:``."""
    if s.first != "for" or s.token is None or s.token.type not in ("COLON", "LPAR"):
        return None
    text = s.run.file.line(s.statement[0].span.begin[0]).strip()
    found = re.fullmatch(r"for\s+\(?(\w+)\s+in\s+range\((\w+)\)\)?\s*+:?\s*+\{?", text)
    high = (str(int(found[2]) - 1) if found[2].isdigit() else f"{found[2]} - 1") if found else ""
    shape = f"for {found[1]} in 0..{high} {{ … }}" if found else "for i in 0..7 { … }"
    return Diagnostic(
        "E0001", f"the body of a loop is written in braces, {found_words(s)}", s.span, help=f"write `{shape}`"
    )


def _address_with_variable(s: Scene) -> Diagnostic | None:
    """``links from 172.16.p.0/24``."""
    if s.token is None or s.before is None or s.token.type != "DOT":
        return None
    text = s.run.file.text
    begin = text.rfind(" ", 0, s.span.start) + 1
    found = _VARIABLE_IN_ADDRESS.match(text, begin)
    if found is None or not re.search(r"[A-Za-z]", found[0]):
        return None
    whole = SourceSpan(s.run.file, begin, found.end())
    new = '"' + re.sub(r"[A-Za-z_]\w*+", lambda name: f"{{{name[0]}}}", found[0]) + '"'
    message = "an address with a value in it is a text, and the value is in braces"
    return Diagnostic(
        "E0001", message, whole, help=f"write `{new}`", fix=Fix(f"write `{new}`", ((whole, new),), safe=False)
    )


_VARIABLE_IN_ADDRESS = re.compile(r"\d{1,3}(?:\.(?:\d{1,3}|[A-Za-z_]\w{0,9})){3}(?:/\d{1,2})?(?![\w.])")


TRIALS = (
    _address_with_variable,
    _colon_after_kind_word,
    _count_in_wrong_brackets,
    _foreign_unit,
    _missing_parameter_default,
    _elif_keyword,
    _loop_without_braces,
    _unless_keyword,
)
