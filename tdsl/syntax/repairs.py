"""Changes of a faulty statement, tried on the grammar: which small one makes it whole, and whether one that
is proposed brings the parser on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.keywords import CLAUSES, GRAMMAR_WORDS, KINDS, PATTERNS
from tdsl.syntax.scanner import Token
from tdsl.syntax.scene import Scene, closest_keyword, found_words, rewriting_finding

LONGEST = 120
"""Tokens of a statement that is tried in other forms, at most."""
_PUT = frozenset({"COLON", "EQUAL", "TO", "IN", "OF", "FROM", "AT", "AS", "COMMA", "WHERE"})
"""What people leave out between two words, or write another sign for."""
_SIGNS = frozenset({"COLON", "EQUAL", "COMMA", "DOT", "MINUS", "SLASH", "CMP", "STAR"})
"""Signs that may have been written for a word or another sign."""
_PREPOSITIONS = frozenset({"into", "onto", "inside", "within", "until", "towards", "using", "upon", "equals"})
"""Words of English that people write for another one."""
_CLAUSE_SIGNS = frozenset({"COLON", "EQUAL", "STRING"})


def tokens_left_after_fix(s: Scene, finding: Diagnostic) -> int | None:
    """How many tokens of the statement the parser does not take after the fix of a finding, 0 where it is
    whole. None of a finding without a fix, or with one that reaches out of the statement."""
    if finding.fix is None:
        return None
    tokens = tokens_before_block(s)
    if not tokens:
        return None
    begin, end = tokens[0].start, tokens[-1].end
    text = s.run.file.text
    for span, new in sorted(finding.fix.edits, key=lambda e: -e[0].start):
        if span.file is not s.run.file or span.start < begin or span.end > end or "\n" in new or "#" in new:
            return None
        text = text[: span.start] + new + text[span.end :]
        end += len(new) - (span.end - span.start)
    return _tokens_left(s, text[begin:end])


def _tokens_left(s: Scene, text: str) -> int:
    """How many tokens of a text the grammar does not take in the place of the statement."""
    file = SourceFile(s.run.file.name, text)
    changed = [t for t in s.run.scan(file) if t.type != "COMMENT" and not t.newline]
    return len(changed) + 1 - s.run.count_accepted(changed)


def is_whole(s: Scene, text: str) -> bool:
    """Whether a text is a statement that may stand in the place of the faulty one."""
    return bool(text.strip()) and _tokens_left(s, text) == 0


def is_whole_with(s: Scene, tokens: Sequence[Token], at: SourceSpan, new: str) -> bool:
    """Whether the text of some tokens, with ``new`` in one place, is a statement that may stand in the place
    of the faulty one."""
    text = s.run.file.text
    return is_whole(s, text[tokens[0].start : at.start] + new + text[at.end : tokens[-1].end])


def gap_without(at: SourceSpan) -> str:
    """What is put where something is removed: a blank between two words, else nothing."""
    text = at.file.text
    return " " if text[at.end : at.end + 1].isalnum() and text[at.start - 1 : at.start].isalnum() else ""


def clauses_in_another_order(s: Scene) -> Diagnostic | None:
    """``connect a where n < 4 to b`` and ``place a at 2U in h1.A[1]``: two clauses, exchanged."""
    tokens = tokens_before_block(s)
    at = len(s.statement)
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    starts = [*_clause_starts(tokens), len(tokens)]
    found = [
        (a, b, c)
        for a, b, c in _splits_at(at, starts)
        if s.run.count_accepted([*tokens[:a], *tokens[b:c], *tokens[a:b], *tokens[c:]]) > len(tokens)
    ]
    if len(found) != 1:
        return None
    a, b, c = found[0]
    first, second = (SourceSpan(s.run.file, tokens[i].start, tokens[j - 1].end) for i, j in ((a, b), (b, c)))
    if "\n" in first.text + second.text or "{" in first.text + second.text:
        return None
    return rewriting_finding(
        f"`{second.text}` comes before `{first.text}`",
        first.to(second),
        first.to(second),
        f"{second.text} {first.text}",
    )


def word_in_place_of_another(s: Scene) -> Diagnostic | None:
    """``place a at h1.A[1]`` and ``for i = 0..3 {``: one word or sign is another."""
    t, tokens, at = s.token, tokens_before_block(s), len(s.statement)
    if t is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    if t.text not in GRAMMAR_WORDS | _PREPOSITIONS if t.type == "NAME" else t.type not in _SIGNS:
        return None
    if t.type != "NAME" and "oversubscription" in [x.text for x in s.statement]:
        return None  # `7-1` is a ratio
    kind = _kind_meant(s, t, tokens)
    if not kind:
        return None
    word, touches = s.run.word(kind), s.before is not None and s.before.end == t.start
    new = f" {word}" if touches and word.isidentifier() else word
    return rewriting_finding(f"expected `{word}`, {found_words(s)}", t.span, t.span, new)


def _kind_meant(s: Scene, t: Token, tokens: list[Token]) -> str:
    """The one word or sign that makes the statement whole in the place of the fault; "" where there is none,
    or no plain one."""
    at = len(s.statement)
    found = [
        kind
        for kind in sorted(s.expected & _PUT)
        if s.run.count_accepted([*tokens[:at], _made(s, kind, t), *tokens[at + 1 :]]) > len(tokens)
    ]
    limited = t.type == "COMMA" and s.first in ("param", "let") and any(x.type == "CMP" for x in s.rest)
    if limited and "WHERE" in found:
        return "WHERE"
    if _is_another_slip(t, found):
        return ""
    likely = {"or": "COMMA", "-": "TO", "/": "TO"}.get(t.text)
    if likely in found:
        return likely or ""
    return found[0] if len(found) == 1 else ""


def _is_another_slip(t: Token, found: list[str]) -> bool:
    """Whether what was written says something else than the one word that would fit: `0:3` is a range."""
    return (
        (t.type == "COLON" and bool({"IN", "TO"} & set(found)))
        or (t.type in _SIGNS and found == ["WHERE"])
        or (t.type in ("CMP", "NAME") and found == ["COMMA"] and t.text != "or")
    )


def missing_word(s: Scene) -> Diagnostic | None:
    """``place a h1.A[1]``: a word or sign is left out."""
    t, tokens, at = s.token, tokens_before_block(s), len(s.statement)
    if t is None or s.before is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    if s.before.text in GRAMMAR_WORDS and at > 1 and tokens[at - 2].type in ("CMP", "EQUAL", "PLUS", "STAR"):
        return None  # a value is missing before that word
    if comma_left_out(s) is not None:
        return None
    opened = [x.type for x in s.statement if x.type in ("LSQB", "RSQB")][-1:] == ["LSQB"]
    found = [
        kind
        for kind in sorted(_kinds_to_put(s) & {"OF", "COMMA"} if opened else _kinds_to_put(s))
        if s.run.count_accepted([*tokens[:at], _made(s, kind, t), *tokens[at:]]) > len(tokens) + 1
    ]
    if found == ["AT", "FROM"]:
        return Diagnostic(
            "E0001",
            f"`at` or `from` is missing before `{t.text}`",
            t.span,
            help=f"write `at {t.text}` for one place, or `stacked from {t.text}` for several",
        )
    if len(found) != 1:
        return None
    word = s.run.word(found[0])
    touching = found[0] == "COLON"
    place = SourceSpan(s.run.file, s.before.end, s.before.end)
    return Diagnostic(
        "E0001",
        f"`{word}` is missing before `{t.text}`",
        t.span,
        help=f"write `{word} {t.text}`",
        fix=Fix(f"put `{word}`", ((place, word if touching else f" {word}"),), safe=False),
    )


def sizes_joined_by_x(s: Scene) -> Diagnostic | None:
    """``chip c[4 x k]: C``, with a name among the sizes."""
    t, tokens = s.token, tokens_before_block(s)
    if t is None or t.text not in ("x", "X") or s.before is None or len(s.rest) < 2:
        return None
    inside = [x.type for x in s.statement if x.type in ("LSQB", "RSQB")]
    if inside[-1:] != ["LSQB"]:
        return None
    whole = s.before.span.to(s.rest[1].span)
    name = re.escape(s.statement[1].text)
    used = re.findall(rf"(?<!\w){name}\[([^\[\]\n]*+)\]", s.run.file.text[s.rest[-1].end :])
    if s.first in KINDS["device"] and used and not any("," in indices for indices in used):  # one index
        new = f"{s.before.text} * {s.rest[1].text}"
        message = "`x` joins the sizes of several dimensions; `*` multiplies"
        return rewriting_finding(message, whole, whole, new) if is_whole_with(s, tokens, whole, new) else None
    new = f"{s.before.text}, {s.rest[1].text}"
    if not is_whole_with(s, tokens, whole, new):
        return None
    return rewriting_finding("sizes of several dimensions are separated by `,`", whole, whole, new)


def second_brackets(s: Scene) -> Diagnostic | None:
    """``chip c[4][k]: C``."""
    t, b, tokens = s.token, s.before, tokens_before_block(s)
    if t is None or b is None or t.type != "LSQB" or b.type != "RSQB" or t.start != b.end:
        return None
    both = b.span.to(t.span)
    if not is_whole_with(s, tokens, both, ", "):
        return None
    fix = Fix("write `, `", ((both, ", "),), safe=False)
    message = "several dimensions are written in one pair of brackets"
    return Diagnostic("E0001", message, both, help="write `,` in place of `][`", fix=fix)


def comma_left_out(s: Scene) -> Diagnostic | None:
    """``leaf[8 2]`` and ``router[x y, z]``: two numbers or two names side by side in brackets."""
    t, b, tokens, at = s.token, s.before, tokens_before_block(s), len(s.statement)
    if t is None or b is None or t.type != b.type or t.type not in ("NUMBER", "NAME"):
        return None
    if (
        {t.text, b.text} & (GRAMMAR_WORDS | {"a", "an", "the", "each", "every", "is", "must", "please"})
        or not 0 < at < len(tokens) <= LONGEST
        or "COMMA" not in s.expected
    ):
        return None
    inside = [x.type for x in s.statement if x.type in ("LSQB", "RSQB", "LPAR", "RPAR")]
    if inside[-1:] != ["LPAR" if s.first == "use" else "LSQB"]:
        return None
    place = SourceSpan(s.run.file, b.end, b.end)
    if not is_whole_with(s, tokens, place, ","):
        return None
    return Diagnostic(
        "E0001",
        f"`,` is missing between `{b.text}` and `{t.text}`",
        b.span.to(t.span),
        help=f"write `{b.text}, {t.text}`",
        fix=Fix("put `,`", ((place, ","),), safe=False),
    )


def _kinds_to_put(s: Scene) -> set[str]:
    """The words and signs that may be missing before the fault."""
    if s.token is not None and s.token.type == "LSQB":  # an index belongs to a name
        return set()
    joined = s.first in ("require", "report") and [x.type for x in s.rest[:2]] == ["NAME", "CMP"]
    if joined and "AND" in s.expected:
        return {"AND"}
    if s.token is not None and s.token.type == "QUANTITY" and s.first in KINDS["group"]:
        return set()  # `rack pitch 0.6m`
    guarded = any(x.type in ("CMP", "IN", "NOT") for x in tokens_before_block(s)[len(s.statement) :])
    guard = set() if guarded else {"WHERE"}
    return (s.expected & _PUT) - {"COMMA"} - guard - (set() if s.first in ("for", "place") else {"IN"})


_NEAR = {
    "for": "over of",
    "through": "via",
    "between": "among",
    "inside": "in",
    "within": "in",
    "into": "to",
    "onto": "to",
    "per": "of",
    "using": "via with",
    "given": "with",
    "across": "over",
    "during": "under",
    "when": "where",
    "if": "where",
}
"""Words of English for a clause."""


def word_near_another(s: Scene) -> Diagnostic | None:
    """``stacked fcom 30U`` and ``allreduce 1GB between a[0], a[1]``: a word near the fault, taken for a name,
    is a clause that is misspelt or has another word."""
    tokens, at = tokens_before_block(s), len(s.statement)
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    for k in range(at, max(at - 9, 0), -1):
        t = tokens[k]
        known = t.text in GRAMMAR_WORDS or (k < at - 3)
        if t.type != "NAME" or (known and t.text not in _NEAR):
            continue
        guesses = [*_NEAR.get(t.text.lower(), "").split(), closest_keyword(t.text, CLAUSES) or ""]
        for word in guesses:
            if word and is_whole_with(s, tokens, t.span, word):
                message = f"expected `{word}`, found `{t.text}`"
                return rewriting_finding(message, t.span, t.span, word)
    return None


def sign_too_many(s: Scene) -> Diagnostic | None:
    """``connect a, to b``, ``connect node=[n] to leaf`` and ``tier leaf: of 4 hosts``."""
    tokens, at = tokens_before_block(s), len(s.statement)
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    for k in range(min(at, len(tokens) - 2), max(at - 5, 0), -1):
        t = tokens[k]
        if not _sign_may_go(s, tokens, k):
            continue
        gap = gap_without(t.span)
        if is_whole_with(s, tokens, t.span, gap):
            return Diagnostic(
                "E0001",
                f"`{t.text}` cannot follow `{tokens[k - 1].text}`",
                t.span,
                help=f"remove the `{t.text}`",
                fix=Fix(f"remove the `{t.text}`", ((t.span, gap),), safe=False),
            )
    return None


def _sign_may_go(s: Scene, tokens: list[Token], k: int) -> bool:
    """Whether a token is a sign that may be one too many: nothing is missing beside it."""
    before, t, behind = tokens[k - 1 : k + 2]
    if t.type == "COLON":  # else a model or rate is missing
        if before.text in ("param", "let", "def"):  # its name is missing
            return False
        shaped = behind.type == "LSQB" and before.type == "NAME"
        return shaped or (
            before.type != "COLON" and behind.type != "LBRACE" and s.first not in KINDS["device"]
        )
    if t.type == "COMMA":  # else a value is missing
        return before.type not in ("COMMA", "LSQB", "LPAR") and k > 1
    return t.type == "EQUAL" and before.type != "EQUAL"


def words_too_many(s: Scene) -> Diagnostic | None:
    """``connect from a to b``: one word or two at the fault, without which the statement is whole."""
    tokens, at = tokens_before_block(s), len(s.statement)
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    for a, b in ((at, at + 1), (at - 1, at), (at - 3, at - 2), (at - 2, at)):
        gone = tokens[a:b]
        if not 0 < a < b <= len(tokens) or not all(_may_go(t, a == at) for t in gone):
            continue
        if s.run.count_accepted([*tokens[:a], *tokens[b:]]) <= len(tokens) - len(gone):
            continue
        span = gone[0].span.to(gone[-1].span)
        before, clause = tokens[a - 1].text, gone[-1].text in CLAUSES
        if clause and before in ("of", "to", "through", "via", "among", "from", "in"):
            message = f"a name is missing between `{before}` and `{span.text}`"
            return Diagnostic(
                "E0001", message, span, help=f"write a name behind `{before}`, or remove `{before}`"
            )
        if clause and s.first in ("require", "report") and a != at and not before.islower():
            continue
        cut = SourceSpan(s.run.file, tokens[a - 1].end, span.end)
        return Diagnostic(
            "E0001",
            f"`{span.text}` cannot follow `{tokens[a - 1].text}`",
            span,
            help=f"remove `{span.text}`",
            fix=Fix(f"remove `{span.text}`", ((cut, ""),), safe=False),
        )
    return None


def count_touching_x(s: Scene) -> Diagnostic | None:
    """``switch SN5600 x8``."""
    t, tokens = s.token, tokens_before_block(s)
    if t is None or t.type != "NAME" or not re.fullmatch(r"[xX*]\d+", t.text):
        return None
    new = f"x {t.text[1:]}"
    if not is_whole_with(s, tokens, t.span, new):
        return None
    return rewriting_finding("a space parts `x` from the number", t.span, t.span, new)


TRIALS = (
    count_touching_x,
    sizes_joined_by_x,
    second_brackets,
    comma_left_out,
    word_near_another,
    sign_too_many,
    clauses_in_another_order,
    word_in_place_of_another,
    missing_word,
    words_too_many,
)
"""What is tried where nothing else knows the fault, the likeliest first."""


def _may_go(t: Token, at_fault: bool) -> bool:
    """Whether a token may have been written in vain: a sign, a word of the grammar, or the one at fault."""
    words = set() if at_fault else GRAMMAR_WORDS
    if t.text in ("under", "over", "at"):  # says how a value is bound
        return False
    return t.type in ("EQUAL", "COLON", "COMMA") or (t.type == "NAME" and t.text in words)


def tokens_before_block(s: Scene) -> list[Token]:
    """The tokens of the statement, with its block as far as it is on the line; none behind a block of it."""
    tokens, depth = [*s.statement, *s.rest], 0
    for t in tokens:
        depth += (t.type == "LBRACE") - (t.type == "RBRACE")
        if depth < 0:
            return []
    return tokens


def _made(s: Scene, kind: str, t: Token) -> Token:
    """A word or sign in the place of a token; a word is a name until the parser takes it."""
    text = s.run.word(kind)
    return Token("NAME" if text.isidentifier() else kind, text, s.run.file, t.start)


def _clause_starts(tokens: Sequence[Token]) -> list[int]:
    """Where clauses begin outside of brackets: at a word of the grammar, a pattern, `:`, `=`, a string, and
    behind a string; also the brace of a block, which ends them."""
    out: list[int] = []
    depth = 0
    for i, t in enumerate(tokens):
        depth += (t.type in ("LPAR", "LSQB")) - (t.type in ("RPAR", "RSQB"))
        if t.type == "LBRACE":
            return [*out, i]
        after = i > 0 and tokens[i - 1].type == "STRING"
        words = (*CLAUSES, *PATTERNS) if tokens[0].text in ("connect", "circuit") else CLAUSES
        named = t.type == "NAME" and t.text in words
        named = named and not (t.text == "all" and tokens[0].text == "place")
        if depth == 0 and i and (named or after or t.type in _CLAUSE_SIGNS):
            out.append(i)
    return out


def _splits_at(at: int, starts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Two neighbouring runs of clauses, one of which begins at the fault."""
    for a in starts:
        for b in starts:
            for c in starts:
                if a < b < c and at in (a, b):
                    yield a, b, c
