"""The formatter: one layout for every program, made on the tokens, so that no comment and no word can be
lost."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.keywords import CONTINUING
from tdsl.syntax.scanner import Token
from tdsl.system.lazy_dataclass import dataclass

STEP = 2
CONTINUATION = 4
SPREAD = 24
"""How far apart the ends of lines may be whose comments are aligned."""

_ARITHMETIC = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "FLOOR", "MODULO", "POWER"})
_OPENERS = frozenset({"LPAR", "LSQB"})
_SHUTTERS = frozenset({"RPAR", "RSQB"})
_SEPARATED = frozenset({"COMMA", "COLON", "LBRACE", "RBRACE"})
"""Tokens with a blank behind them."""
_OPERAND_ENDS = frozenset(
    {
        "NAME",
        "NUMBER",
        "QUANTITY",
        "PERCENT",
        "MONEY",
        "RATIO",
        "DIMS",
        "NET",
        "STRING",
        "QMARK",
        "RPAR",
        "RSQB",
    }
)


def format_source(file: SourceFile) -> str:
    """The program in its canonical layout. One that does not parse is returned as it is."""
    from tdsl.syntax.parser import parse_source_file

    before = Diagnostics()
    was = parse_source_file(file, before)
    if before.has_errors:
        return file.text
    result = _lay_out(file)
    after = Diagnostics()
    now = parse_source_file(SourceFile(file.name, result), after)
    return result if not after.has_errors and equal_apart_from_spans(was, now) else file.text


def equal_apart_from_spans(a: object, b: object) -> bool:
    """Whether two trees say the same, wherever they say it."""
    if type(a) is not type(b):
        return False
    if isinstance(a, SourceSpan):
        return True
    if is_dataclass(a):
        return all(equal_apart_from_spans(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(equal_apart_from_spans, a, b))
    return a == b


@dataclass(slots=True)
class _FormattedLine:
    """A line of the result: its code with indentation, and the comment behind it."""

    code: str
    comment: str
    opens: bool
    closes: bool


def _lay_out(file: SourceFile) -> str:
    from tdsl.syntax.grammar import load_grammar_tables

    lines: list[_FormattedLine] = []
    braces = brackets = 0
    last: Token | None = None
    for tokens in _tokens_by_line(load_grammar_tables().scanner.scan(file)):
        comment = tokens.pop().text.rstrip() if tokens and tokens[-1].type == "COMMENT" else ""
        if not tokens:
            pad = STEP * braces + (CONTINUATION if brackets else 0)
            lines.append(_FormattedLine(" " * pad + comment if comment else "", "", False, False))
            continue
        pad = _line_indent(tokens, braces, brackets, last)
        lines.append(
            _FormattedLine(
                " " * pad + _join_tokens(tokens),
                comment,
                tokens[-1].type == "LBRACE",
                tokens[0].type == "RBRACE",
            )
        )
        for t in tokens:
            braces = max(0, braces + (t.type == "LBRACE") - (t.type == "RBRACE"))
            brackets = max(0, brackets + (t.type in _OPENERS) - (t.type in _SHUTTERS))
        last = tokens[-1]
    return _join_lines(_align_comments(_without_spare_blanks(lines)))


def _tokens_by_line(tokens: list[Token]) -> list[list[Token]]:
    """Tokens line by line; the ends of lines are left out, ``;`` is not."""
    lines: list[list[Token]] = [[]]
    for token in tokens:
        if token.newline:
            lines.append([])
        else:
            lines[-1].append(token)
    return lines


def _line_indent(tokens: list[Token], braces: int, brackets: int, last: Token | None) -> int:
    closing = 0
    while closing < len(tokens) and tokens[closing].type == "RBRACE":
        closing += 1
    pad = STEP * max(0, braces - closing)
    if brackets:
        shut = 0
        while shut < len(tokens) and tokens[shut].type in _SHUTTERS:
            shut += 1
        return pad + (CONTINUATION if brackets > shut else 0)
    begins = last is None or last.type in ("LBRACE", "RBRACE") or last.text == ";"
    return pad + (CONTINUATION if not begins and tokens[0].text in CONTINUING else 0)


# ---------------------------------------------------------------- blanks between tokens


def _join_tokens(tokens: list[Token]) -> str:
    out = [tokens[0].text]
    for i in range(1, len(tokens)):
        if _blank_before_token(tokens, i):
            out.append(" ")
        out.append(tokens[i].text)
    return "".join(out).rstrip()


def _blank_before_token(tokens: list[Token], i: int) -> bool:
    """Whether a blank stands before token ``i``."""
    a, b = tokens[i - 1], tokens[i]
    if _joined_always(a, b):
        return False
    if a.type in _SEPARATED or b.type in ("LBRACE", "RBRACE") or a.text == ";":
        return True
    if b.type in _OPENERS and a.type in _OPERAND_ENDS:
        return a.end != b.start
    if b.type in _ARITHMETIC and _has_left_operand(tokens, i):
        return not _touches_both_operands(tokens, i)
    if a.type in _ARITHMETIC:
        return _has_left_operand(tokens, i - 1) and not _touches_both_operands(tokens, i - 1)
    return True


def _joined_always(a: Token, b: Token) -> bool:
    """Whether no blank stands between two tokens, whatever is around them."""
    if a.type in _OPENERS or b.type in _SHUTTERS or b.type in ("COMMA", "COLON") or b.text == ";":
        return True
    if "DOT" in (a.type, b.type) or "RANGE" in (a.type, b.type):
        return True
    return a.type == "LBRACE" and b.type == "RBRACE"


def _has_left_operand(tokens: list[Token], i: int) -> bool:
    """Whether the operator at ``i`` has an operand on its left; ``word -1`` counts as a sign."""
    if i == 0 or tokens[i - 1].type not in _OPERAND_ENDS:
        return False
    a, b = tokens[i - 1], tokens[i]
    touches = i + 1 < len(tokens) and tokens[i + 1].start == b.end
    return not (b.type == "MINUS" and a.type == "NAME" and a.end != b.start and touches)


def _touches_both_operands(tokens: list[Token], i: int) -> bool:
    """Whether the operator at ``i`` touches both its operands: what the author wrote is kept."""
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    return after is not None and tokens[i - 1].end == tokens[i].start and tokens[i].end == after.start


# ---------------------------------------------------------------- lines


def _without_spare_blanks(lines: list[_FormattedLine]) -> list[_FormattedLine]:
    out: list[_FormattedLine] = []
    for line in lines:
        if not line.code and (not out or out[-1].opens or not out[-1].code):
            continue
        if line.closes and out and not out[-1].code:
            out.pop()
        out.append(line)
    while out and not out[-1].code:
        out.pop()
    return out


def _align_comments(lines: list[_FormattedLine]) -> list[str]:
    """Lines with their comments, which stand in one column in a run of lines of similar length."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        if not lines[at].comment:
            out.append(lines[at].code)
            at += 1
            continue
        low = high = len(lines[at].code)
        end = at + 1
        while end < len(lines) and lines[end].comment:
            size = len(lines[end].code)
            if max(high, size) - min(low, size) > SPREAD:
                break
            low, high = min(low, size), max(high, size)
            end += 1
        out += [f"{line.code:<{high}}  {line.comment}" for line in lines[at:end]]
        at = end
    return out


def _join_lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
