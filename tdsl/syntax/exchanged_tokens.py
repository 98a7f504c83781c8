"""Two neighbours of a statement that were written in the other order: ``switch leaf[]8: S``."""

from __future__ import annotations

from collections.abc import Iterator

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.keywords import CLAUSES, GRAMMAR_WORDS, KINDS, PATTERNS, SETTINGS, STARTERS
from tdsl.syntax.repairs import LONGEST, is_whole_with
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import VALUES, Scene, rewriting_finding

_TITLED = frozenset({"fabric", "cluster", "model", "job", *KINDS["group"]} - {"row"})
_BRACKETS = frozenset({"LSQB", "RSQB", "LPAR", "RPAR"})
_BEFORE_NAME = frozenset({"LSQB", "RSQB", "RPAR", "LBRACE"})
"""Brackets that may be before a name which belongs before them."""
_OPENING = frozenset({"LSQB", "LPAR", "COMMA", "PLUS", "MINUS", "STAR", "MODULO", "FLOOR", "RANGE"})
_BEFORE_METRIC = frozenset({"require", "report", "and", "or", "with"})
_JOINING = frozenset({"and", "or", "not", "with", "where", "if", "else", "for", "in"})
"""Words that join two parts of a statement, each of which may be anything."""
_BEHIND_BRACKET = ("to", "at", "in", "of", "via", "where", "from")
"""Words that follow an index."""


def _begin_of_statement(s: Scene) -> int:
    """The index of the first token of the statement that the fault is in, its blocks included; of the one
    before where nothing but `;` is between them and the fault is the first token."""
    depth, at = 0, s.i
    after_sign = at > 1 and s.run.tokens[at - 1].text == ";" and not s.statement
    for k in range(at - 1 - after_sign, -1, -1):
        t = s.run.tokens[k]
        depth += (t.type == "RBRACE") - (t.type == "LBRACE")
        if depth < 0 or (t.type == END and depth == 0):
            return k + 1
    return 0


def _tokens_of_line(s: Scene) -> tuple[list[Token], int]:
    """The tokens from the statement's first one to the end of its line or of the block that it is in, with
    `;` and the statements behind it; and which of them is the fault."""
    out: list[Token] = []
    depth, begin = 0, _begin_of_statement(s)
    for i, t in enumerate(s.run.tokens[begin : begin + LONGEST + 2], begin):
        depth += (t.type == "LBRACE") - (t.type == "RBRACE")
        if depth < 0 or (t.type == END and t.newline and i >= s.i) or t.type == "$END" or len(out) > LONGEST:
            break
        out.append(t)
    return out, s.i - begin


def neighbours_exchanged(s: Scene) -> Diagnostic | None:
    """``node host[8]: H``, ``links of to leaf spine`` and ``{ priority ;3 cnp 48 }``: two neighbours in the
    other order, where no other two would do, too."""
    tokens, at = _tokens_of_line(s)
    if s.token is None or not at <= len(tokens) <= LONGEST or len(tokens) < 2:
        return None
    text, found = s.run.file.text, []
    for k in sorted({0, *range(max(at - 3, 0), min(at + 2, len(tokens) - 1))}):
        a, b = tokens[k : k + 2]
        if k == at - 3 and k and a.type == b.type == "NAME":
            continue
        new = _in_other_order(text, tokens, k)
        if new and is_whole_with(s, tokens, a.span.to(b.span), new):
            found.append((k, new))
    touching = [(k, new) for k, new in found if tokens[k].end == tokens[k + 1].start]
    found = touching if len(found) > 1 else found
    if len(found) != 1:
        return None
    k, new = found[0]
    whole = tokens[k].span.to(tokens[k + 1].span)
    message = f"`{tokens[k].text}` and `{tokens[k + 1].text}` are in the wrong order"
    return _rewritten_between(tokens, k, whole, message, new)


def _rewritten_between(tokens: list[Token], k: int, whole: SourceSpan, message: str, new: str) -> Diagnostic:
    """The finding whose edit writes two tokens anew; its help shows the words around them, too."""
    text, last = whole.file.text, k + 2 < len(tokens) and tokens[k + 2].type not in (END, "LBRACE")
    low = tokens[k - 1].start if k and tokens[k - 1].type not in (END, "LBRACE", "RBRACE") else whole.start
    high = tokens[k + 2].end if last else whole.end
    shown = text[low : whole.start] + new + text[whole.end : high]
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    return Diagnostic("E0001", message, whole, help=f"write `{shown}`", fix=fix)


def _in_other_order(text: str, tokens: list[Token], k: int) -> str:
    """Two tokens in the other order; "" where that may not be what was meant."""
    a, b = tokens[k : k + 2]
    if a.text == b.text or not _may_be_exchanged(tokens, k):
        return ""
    if a.type == END:
        return f"{b.text};"
    between = text[a.end : b.start]
    if not between and {a.type, b.type}.isdisjoint({"LBRACE", *_BRACKETS}):
        between = " " if a.text[-1:].isalnum() and b.text[:1].isalnum() else ""
    return b.text + between + a.text


def _may_be_exchanged(tokens: list[Token], k: int) -> bool:
    """Whether two neighbours may be in the wrong order: signs whose place is plain, and words."""
    a, b = tokens[k : k + 2]
    if a.type == END:
        behind = tokens[k + 2].text if k + 2 < len(tokens) else ""
        return behind in SETTINGS and behind not in STARTERS
    if a.type in ("RBRACE", "COMMA"):
        goes_on = a.type == "RBRACE" and [t.text for t in tokens[k + 2 : k + 3]] == [";"]
        return b.type in VALUES and not goes_on
    if a.type == "STAR":
        return b.type == "LSQB"
    if a.type in _BEFORE_NAME:
        return _bracket_may_be_exchanged(tokens[k - 1] if k else None, a, b)
    return b.type == "NAME" and _is_word_before_word(tokens, k)


def _bracket_may_be_exchanged(before: Token | None, a: Token, b: Token) -> bool:
    """Whether a bracket or brace may be behind the token that follows it: `[]8`, `[leaf 8]`, `{ su`."""
    if a.type == "LSQB":
        return b.type == "NAME" and (before is None or before.end != a.start)
    if before is None:
        return False
    if a.type == "LBRACE":
        return b.type == "NAME" and before.type != "COLON"
    word = b.text in GRAMMAR_WORDS or b.text in PATTERNS
    return before.type in _OPENING and b.type in ("NUMBER", "NAME", "STAR") and not word


def _is_clause_in_place(tokens: list[Token], k: int) -> bool:
    """Whether the word of a clause stands in its place: behind a metric, behind another such word, the name
    between them missing, or last, its value left out."""
    last = k + 1 == len(tokens) or tokens[k + 1].type == END
    return last or tokens[k - 1].text in CLAUSES or tokens[k - 2].text in _BEFORE_METRIC


def _is_word_before_word(tokens: list[Token], k: int) -> bool:
    """Whether a name or value may stand behind the word that follows it."""
    a, b = tokens[k : k + 2]
    if {a.text, b.text} & _JOINING:
        return False
    if not k:
        return b.text in STARTERS and a.text not in STARTERS
    if b.text in CLAUSES and _is_clause_in_place(tokens, k + 1):
        return False
    if a.text == "of" and tokens[0].text in ("require", "report"):  # `ports of spine free`
        return False
    return a.type in ("NAME", *VALUES) and a.type != "STRING" and b.text != "x"


def title_behind_brace(s: Scene) -> Diagnostic | None:
    """``fabric pod { "A pod"``."""
    t, brace = s.token, s.before
    if s.statement or t is None or t.type != "STRING" or brace is None or brace.type != "LBRACE":
        return None
    head = s.i - 1
    while head and s.run.tokens[head - 1].type not in (END, "LBRACE", "RBRACE"):
        head -= 1
    if s.run.tokens[head].text not in _TITLED:
        return None
    return rewriting_finding(
        f"the title {t.text} comes before the `{{`", t.span, brace.span.to(t.span), f"{t.text} {{"
    )


def bracket_inside_name(s: Scene) -> Diagnostic | None:
    """``connect [noden].nic to leaf[n]`` and ``nic[kto ] tor[k]``: a bracket beside its place, so that two
    words became one."""
    tokens, at = _tokens_of_line(s)
    if s.token is None or not at <= len(tokens) <= LONGEST or len(tokens) < 2:
        return None
    for k in range(max(at - 4, 0), min(at + 2, len(tokens) - 1)):
        a, b = tokens[k : k + 2]
        for new in _with_bracket_inside(s, a, b):
            if is_whole_with(s, tokens, a.span.to(b.span), new):
                sign = a.text if a.type in _BRACKETS else b.text
                message = f"`{sign}` is beside its place in `{a.span.to(b.span).text}`"
                return _rewritten_between(tokens, k, a.span.to(b.span), message, new)
    return None


def _with_bracket_inside(s: Scene, a: Token, b: Token) -> Iterator[str]:
    """Two tokens, one a bracket, with the bracket inside the other, the likeliest first."""
    if a.type == "LSQB" and b.type == "NAME" and b.start == a.end:
        every = [t.text for t in s.run.tokens if t.type == "NAME"]
        if every.count(b.text) > 1:
            return
        names = set(every) - GRAMMAR_WORDS
        known = [n for n in range(len(b.text) - 1, 1, -1) if b.text[:n] in names]
        digits = len(b.text.rstrip("0123456789"))
        for n in (*known, *([digits] * (digits < len(b.text)))):
            yield f"{b.text[:n]}[{b.text[n:]}"
    if a.type == "NAME" and b.type == "RSQB":
        for word in _BEHIND_BRACKET:
            if a.text.endswith(word) and len(a.text) > len(word):
                yield f"{a.text.removesuffix(word)}] {word}"


TRIALS = (title_behind_brace, bracket_inside_name)
