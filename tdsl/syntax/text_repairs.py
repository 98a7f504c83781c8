"""Changes of a faulty statement's text, tried on the grammar: a comment in another language's sign, a word or
a value that is left out, a `;` inside a statement, a title without its quotes."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.bracket_repairs import bracket_left_out
from tdsl.syntax.keywords import (
    CLAUSES,
    GRAMMAR_WORDS,
    KIND_WORDS,
    KINDS,
    OPERATORS,
    PATTERNS,
    SETTINGS,
    STARTERS,
    TEXT_SETTINGS,
)
from tdsl.syntax.repairs import LONGEST, is_whole, is_whole_with, tokens_before_block
from tdsl.syntax.scanner import END, FAULT, Token
from tdsl.syntax.scene import VALUES, Scene, rewriting_finding, surrounding_block

_COMMENT = re.compile(r"(?<=[\s}\])])(?://|--|/\*|<!--)\s*+(?=\w)")
"""Signs that begin a comment elsewhere, behind a statement."""
_TITLED = frozenset({"fabric", "cluster", "model", "job", *KINDS["group"]} - {"row"})
"""Words of statements that have a title between their name and their block."""
_PLACEHOLDERS = (("NAME", "name_"), ("NUMBER", "1"), ("STRING", '"text"'))
"""A token of each kind that people leave out."""


def _line_end(s: Scene, at: int) -> int:
    end = s.run.file.text.find("\n", at)
    return end if end >= 0 else len(s.run.file.text)


def comment_behind_statement(s: Scene) -> Diagnostic | None:
    """The finding of a comment in another language's sign behind a statement, ``switch leaf[8]: S  // two``;
    None where there is none."""
    t = s.token
    first = s.statement[0] if s.statement else t
    if t is None or first is None or t.type == END:
        return None
    text = s.run.file.text
    begin = s.before.start if s.before is not None and not s.statement else first.start
    begin = max(begin, text.rfind("\n", 0, t.start) + 1)
    end = _line_end(s, begin)
    for found in _COMMENT.finditer(text, begin, end):
        before = text[first.start : found.start()].rstrip()
        if found.start() > t.end or '"' in text[found.end() : end]:
            break
        closed = s.before is not None and s.before.type == "RBRACE" and END in s.expected
        if first.start < found.start() and not closed and not is_whole(s, before):
            continue
        sign = found[0].strip()
        said = text[found.end() : end].rstrip().removesuffix("*/").removesuffix("-->").strip()
        whole = SourceSpan(s.run.file, found.start(), len(text[:end].rstrip()))
        return Diagnostic(
            "E0001",
            f"`{sign}` does not begin a comment",
            SourceSpan(s.run.file, found.start(), found.start() + len(sign)),
            help=f"write `# {said}`",
            fix=Fix("make it a comment", ((whole, f"# {said}"),)),
        )
    return None


def _percent_apart(s: Scene) -> Diagnostic | None:
    """``bisection >= 50 %`` and ``overlap tensor 30 %``."""
    tokens, at = [*s.statement, *s.rest[:1]], len(s.statement)
    for k in range(max(at - 2, 1), len(tokens)):
        number, sign, behind = *tokens[k - 1 : k + 1], tokens[k + 1 : k + 2]
        if sign.type != "MODULO" or number.type != "NUMBER":
            continue
        if k < at - 1 and (behind[0].type != "NAME" or behind[0].text not in GRAMMAR_WORDS):
            continue  # a remainder
        both, message = number.span.to(sign.span), "no space is allowed between a number and `%`"
        return rewriting_finding(message, both, both, f"{number.text}%", safe=True)
    return None


def _end_inside_statement(s: Scene) -> Diagnostic | None:
    """``connect leaf; [*] to spine[*] spread`` and ``switch leaf`` with ``[8]: S`` on the next line."""
    tokens, at, t = s.run.tokens, s.run.head if s.statement else s.i, s.token
    if at < 2 or t is None or tokens[at - 1].type != END or (t.text == "," and not s.statement):
        return None
    first, begin, rest = tokens[at], _begin_before_end(tokens, at - 1), tokens_before_block(s)
    if begin == at - 1 or not rest or not _goes_on_behind_end(rest, tokens[at - 1], begin == at - 2):
        return None
    text, glue = s.run.file.text, "" if first.type in ("DOT", "LSQB") else " "
    joined = text[tokens[begin].start : tokens[at - 2].end] + glue + text[first.start : rest[-1].end]
    if "\n" in joined or not is_whole(s, joined):
        return None
    return _early_end_finding(tokens[begin], tokens[at - 2 : at + 1], glue, joined)


def _begin_before_end(tokens: list[Token], end: int) -> int:
    """Where the statement begins that a token ends."""
    while end and tokens[end - 1].type not in (END, "LBRACE", "RBRACE"):
        end -= 1
    return end


def _goes_on_behind_end(rest: list[Token], end: Token, lone: bool) -> bool:
    """Whether tokens behind the end of a statement may go on with it; ``lone`` where it is one word."""
    first = rest[0]
    if first.type == "NAME":
        return first.text in {*CLAUSES, *OPERATORS}
    if first.type in VALUES:  # not `priority ;3 cnp 48`: the `;` is beside its place
        return lone and not any(t.text in SETTINGS for t in rest[1:2])
    return first.type != "LBRACE" or not end.newline


def _early_end_finding(begin: Token, around: list[Token], glue: str, joined: str) -> Diagnostic:
    """The finding of an end between the other two tokens of three, in a statement that is ``joined`` without
    it."""
    last, end, first = around
    cause, remove = ("the end of the line", "join the lines") if end.newline else ("`;`", "remove the `;`")
    return Diagnostic(
        "E0001",
        f"{cause} ends the statement that begins with `{begin.text}`, and no statement begins with "
        f"`{first.text}`",
        first.span if end.newline else end.span,
        help=f"{remove}: `{joined}`" if len(joined) <= 60 else remove,
        fix=Fix(remove, ((SourceSpan(first.file, last.end, first.start), glue),), safe=False),
    )


def _dimensions_apart(s: Scene) -> Diagnostic | None:
    """``chip c[4 x 4 x 4]: C``."""
    b, text = s.before, s.run.file.text
    tokens = tokens_before_block(s)
    if b is None or b.type != "NUMBER" or not s.statement or not tokens:
        return None
    found = re.compile(r"\d++(?:\s*+[xX*]\s*+\d++)++").match(text, b.start)
    if found is None:
        return None
    new = "x".join(re.findall(r"\d++", found[0]))
    if s.first in ("require", "report", "let") and len(s.statement) > 2:
        new = " * ".join(re.findall(r"\d++", found[0]))
        whole = SourceSpan(s.run.file, b.start, found.end())
        return (
            rewriting_finding("`*` multiplies", whole, whole, new)
            if is_whole_with(s, tokens, whole, new)
            else None
        )
    if not is_whole(s, text[tokens[0].start : b.start] + new + text[found.end() : tokens[-1].end]):
        return None
    whole = SourceSpan(s.run.file, b.start, found.end())
    return rewriting_finding("dimensions are written without spaces", whole, whole, new)


_COMPARISONS = (
    (
        re.compile(
            r"(?:is |are )?(?:at most|no more than|not more than|up to|le|lte|less than or equal(?: to)?)\b"
        ),
        "<=",
    ),
    (
        re.compile(
            r"(?:is |are )?(?:at least|no less than|not less than|ge|gte|greater than or equal(?: to)?)\b"
        ),
        ">=",
    ),
    (re.compile(r"(?:is |are )?(?:less than|lower than|fewer than|below|under|lt)\b"), "<"),
    (re.compile(r"(?:is |are )?(?:greater than|more than|larger than|above|gt)\b"), ">"),
    (re.compile(r"(?:is not|isn't|not equal(?: to)?|ne|neq)\b"), "!="),
    (re.compile(r"(?:is equal to|equal to|equals|equal|eq|is)\b"), "=="),
)
"""Comparisons in words, the longer ones first."""


def _comparison_as_words(s: Scene) -> Diagnostic | None:
    """``where i less than j`` and ``links of leaf eq 28``."""
    tokens, at, text = tokens_before_block(s), len(s.statement), s.run.file.text
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    for k in (at, at - 1, at - 2):
        for words, sign in _COMPARISONS:
            found = words.match(text, tokens[k].start) if k > 0 and tokens[k].type == "NAME" else None
            if found is None:
                continue
            if is_whole(
                s, f"{text[tokens[0].start : found.start()]}{sign}{text[found.end() : tokens[-1].end]}"
            ):
                whole = SourceSpan(s.run.file, found.start(), found.end())
                return rewriting_finding(f"a comparison is a sign: `{sign}`", whole, whole, sign)
    return None


def _name_before_value(s: Scene) -> Diagnostic | None:
    """``switch leaf[n=8]: S`` and ``spread x n=16``."""
    t, b, text = s.token, s.before, s.run.file.text
    tokens = tokens_before_block(s)
    if (
        t is None
        or b is None
        or t.type != "EQUAL"
        or b.type != "NAME"
        or len(s.statement) < 3
        or len(s.rest) < 2
        or not _value_may_follow(s.statement[-2], b)
    ):
        return None
    value = s.rest[1]
    if not tokens or not is_whole(s, text[tokens[0].start : b.start] + text[value.start : tokens[-1].end]):
        return None
    message = f"a value is written alone here, without `{b.text} =`"
    cut = SourceSpan(s.run.file, b.start, value.start)
    fix = Fix(f"write `{value.text}`", ((cut, ""),), safe=False)
    return Diagnostic("E0001", message, b.span.to(t.span), help=f"write `{value.text}`", fix=fix)


def _value_may_follow(before: Token, name: Token) -> bool:
    """Whether a value, and no name with `=` behind it, may stand behind a token."""
    signs = ("PLUS", "MINUS", "RANGE", "EQUAL", "CMP", "MODULO", "FLOOR")
    return (
        before.type in ("LSQB", "LPAR")
        or before.text in ("x", "in", "of")
        or (before.type in signs and len(name.text) <= 2)
    )


def _statement_goes_on(s: Scene) -> Diagnostic | None:
    """``connect`` with ``leaf[*] to spine[*] spread`` on the next line."""
    t, tokens, text = s.token, s.run.tokens, s.run.file.text
    if t is None or t.type != END or not s.statement or s.i + 1 >= len(tokens):
        return None
    last, following = s.statement[-1], tokens[s.i + 1]
    begun = len(s.statement) == 1 and last.text in ("require", "report", "fabric", "cluster", "connect")
    begun = begun and tokens[s.i + 1].type == "NAME" and not t.newline
    if last.type == "MODULO" or last.text in OPERATORS or not (begun or _may_go_on(tokens, s.i + 1)):
        return None
    line = text[following.start : _line_end(s, following.start)].partition("#")[0].rstrip()
    begin, end = s.statement[0].start, last.end
    closed = line.removesuffix("{").rstrip() if line.endswith("{") else line
    if not t.newline:
        closed = re.split(r"[;{}]", closed)[0].rstrip()
    if not is_whole(s, f"{text[begin:end]} {closed}"):
        return None
    if not t.newline:
        return Diagnostic(
            "E0001",
            f"`;` ends the statement after `{last.text}`, in the middle of it",
            t.span,
            help="remove the `;`",
            fix=Fix("remove the `;`", ((SourceSpan(s.run.file, end, following.start), " "),), safe=False),
        )
    return Diagnostic(
        "E0001",
        f"the line ends after `{last.text}`, in the middle of a statement",
        last.span,
        help=f"write it on one line: `{text[begin:end]} {line}`"
        if len(line) < 60
        else "write it on one line",
        fix=Fix("join the lines", ((SourceSpan(s.run.file, end, following.start), " "),), safe=False),
    )


def _may_go_on(tokens: list[Token], at: int) -> bool:
    """Whether a token behind the end of a statement plainly begins no other."""
    first = tokens[at]
    if first.type in (END, "RBRACE", "LBRACE", FAULT) or first.text in STARTERS:
        return False
    behind = tokens[at + 1].type if at + 1 < len(tokens) else END
    return first.text not in SETTINGS or behind in ("LSQB", "DOT", "COLON", "COMMA")


def _title_without_quotes(s: Scene) -> Diagnostic | None:
    """``model host NODE Eight GPUs {`` and ``fabric roce 512 H100: 64 x 400G {``."""
    words = 3 if s.first == "model" else 2
    if s.first not in _TITLED or len(s.statement) < words:
        return None
    name, text = s.statement[words - 1], s.run.file.text
    begin = s.statement[words].start if len(s.statement) > words else s.span.start
    line = text[begin : _line_end(s, begin)].partition("#")[0].rstrip()
    title = line.partition("{")[0].rstrip()
    if name.type != "NAME" or title == line or re.search(r"[\"{}\[=]|^:", title) or " " not in f"{title} ":
        return None
    if begin == name.end or not re.match(r"\w+(?: |$|[,:'(-])", title) or title in GRAMMAR_WORDS:
        return None
    if not is_whole(s, f'{text[s.statement[0].start : name.end]} "title" {{ }}'):
        return None
    span = SourceSpan(s.run.file, begin, begin + len(title))
    if title.split()[0] in ("extends", "inherits", "from", "based", "like", "uses", "using", "with"):
        help = f"write a title in double quotes, and all that a `{s.first}` has in its braces"
        return Diagnostic("E0001", f"`{title}` has no meaning here", span, help=help)
    return rewriting_finding("a title is written in double quotes", span, span, f'"{title}"')


_TEXTS = frozenset({*TEXT_SETTINGS, "class", "colour"})
_TEXT = re.compile(r"\s*+((?:[^;{}#\n\"]|\{[^{};#\n\"]*+\})+)")


def _text_without_quotes(s: Scene) -> Diagnostic | None:
    """``bus 0000:{i + 16}:00.0`` and ``links from 172.16.{p}.0/24``."""
    word = _word_before_text(s)
    if s.token is None or word is None:
        return None
    text = s.run.file.text
    found = _TEXT.match(text, word.end)
    inner = found[1].rstrip() if found is not None else ""
    if found is None or not inner or (word.text == "from" and "{" not in inner):
        return None
    if inner[0] in "=:,":  # the sign is too many
        return None
    begin = found.start(1)
    whole = SourceSpan(s.run.file, begin, begin + len(inner))
    if not is_whole(s, f'{text[s.statement[0].start : begin]}"text"'):
        return None
    message, new = f"the text of `{word.text}` is written in double quotes", f'"{inner}"'
    fix = Fix("put it in double quotes", ((whole, new),), safe=False)
    return Diagnostic("E0001", message, whole, help=f"write `{word.text} {new}`", fix=fix)


def _word_before_text(s: Scene) -> Token | None:
    """The word of a statement behind which there is a text: a setting, or the `from` of addresses."""
    if s.first == "address":
        return next((t for t in s.statement if t.text == "from"), None)
    return s.statement[0] if s.first in _TEXTS else None


def _value_left_out(s: Scene) -> Diagnostic | None:
    """``host filer: { role storage }``, ``connect a[i] to [i]`` and ``param : int = 4``."""
    t, b, tokens, at = s.token, s.before, tokens_before_block(s), len(s.statement)
    if t is None or b is None or not 0 < at <= len(tokens) <= LONGEST or b.text == t.text:
        return None
    if (found := _value_left_out_before_word(s, b, tokens)) is not None:
        return found
    if _is_name_or_value_end(b) or (t.type == "NAME" and t.text not in GRAMMAR_WORDS | set(PATTERNS)):
        return None
    kinds = [
        kind for kind, text in _PLACEHOLDERS if kind in s.expected and _is_further_with(s, tokens, at, text)
    ]
    if not kinds:
        return None
    what, example = _what_is_left_out(s, b, kinds)
    place = f"between `{b.text}` and `{t.text}`" if t.type != END and t.text else f"after `{b.text}`"
    return Diagnostic(
        "E0001",
        f"{what} is missing {place}",
        b.span.to(s.span) if t.text else b.span,
        help=f"write {example}",
    )


def _is_name_or_value_end(t: Token) -> bool:
    """Whether a token is a name or ends a value, behind which no other is missing."""
    return (t.type == "NAME" and t.text not in GRAMMAR_WORDS) or t.type in ("RSQB", "RPAR", "NUMBER")


def _value_left_out_before_word(s: Scene, word: Token, tokens: list[Token]) -> Diagnostic | None:
    """``let n = if k > 1 …``: the fault stands behind the word that has no value before it."""
    at = len(s.statement) - 1
    if word.text not in {*CLAUSES, *OPERATORS} or at < 1 or "NAME" in s.expected:
        return None
    sign = tokens[at - 1]
    if sign.type not in ("EQUAL", "CMP", "COLON") or not _is_further_with(s, tokens, at, "1"):
        return None
    message = f"a value is missing between `{sign.text}` and `{word.text}`"
    return Diagnostic("E0001", message, sign.span.to(word.span), help=f"write a value behind `{sign.text}`")


def _is_further_with(s: Scene, tokens: list[Token], at: int, text: str) -> bool:
    """Whether the grammar takes all tokens when a text is put before one of them."""
    fits = [*tokens[:at], *s.run.scan(SourceFile("", text)), *tokens[at:]]
    return s.run.count_accepted(fits) > len(tokens) + 1


def _what_is_left_out(s: Scene, before: Token, kinds: list[str]) -> tuple[str, str]:
    """What is missing behind a token, and how it is written."""
    if before.type == "COLON" and s.first in ("port", *KINDS["device"]):
        rate = "the rate", "a rate, such as `: 400Gbps`, or `: any`"
        return rate if s.first == "port" else ("the name of the model", "the name of a model behind the `:`")
    if before.text in STARTERS:
        return "a name", f"the name, such as `{before.text} a`" if before.text != "connect" else "a path"
    fault = s.token.type if s.token is not None else ""
    if fault == "RSQB" and before.type == "LSQB":
        return _what_brackets_lack(s)
    if fault == "COMMA":
        index = before.type == "LSQB"
        what, of = ("an index", " (`*` for all of them)") if index else ("a value", "")
        return what, f"{what} before the `,`{of}, or remove the `,`"
    if before.text in ("to", "via"):
        return "a path", f"a path, such as `{before.text} leaf[*]`"
    if kinds == ["NAME"]:
        return "a name", "a name there"
    return "a value", f"a value behind `{before.text}`, or remove `{before.text}`"


def _what_brackets_lack(s: Scene) -> tuple[str, str]:
    """What is missing in ``[]``, and how it is written."""
    if s.first in KIND_WORDS and "COLON" not in [t.type for t in s.statement]:
        return "a number", f"how many there are, such as `{s.first} {s.statement[1].text}[8]`"
    return "an index", "`[*]` for all of them, or an index such as `[0]`"


FILLERS = frozenset(
    {"the", "all", "please", "then", "do", "is", "are", "be", "must", "links", "should", "shall"}
)
_BEFORE_STATEMENTS = FILLERS | {
    "new",
    "add",
    "create",
    "make",
    "define",
    "declare",
    "we",
    "a",
    "an",
    "each",
    "every",
}
"""Words of English that say nothing in a statement."""


def _word_written_twice(s: Scene) -> Diagnostic | None:
    """``links of leaf to to spine`` and ``cost of of network``."""
    tokens, at, text = tokens_before_block(s), len(s.statement), s.run.file.text
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    for k in range(max(at - 3, 1), at + 1):
        word, before = tokens[k], tokens[k - 1]
        if word.type != "NAME" or word.text != before.text:
            continue
        if is_whole(s, text[tokens[0].start : before.end] + text[word.end : tokens[-1].end]):
            cut, remove = SourceSpan(s.run.file, before.end, word.end), f"remove one `{word.text}`"
            message = f"`{word.text}` is written twice"
            return Diagnostic("E0001", message, word.span, help=remove, fix=Fix(remove, ((cut, ""),)))
    return None


def _says_nothing(tokens: list[Token], k: int) -> bool:
    """Whether a token is a word of English that says nothing where it stands."""
    text, before = tokens[k].text, tokens[k - 1].text if k else ""
    if k == 0:
        return tokens[1].text in STARTERS and text.lower() in _BEFORE_STATEMENTS
    if text in ("a", "an", "each", "every"):
        behind = tokens[k + 1].text if k + 1 < len(tokens) else ""
        if text in PATTERNS and behind == "to":  # the pattern, before the other end
            return False
        return before in {"to", "of", "in", "via", ":", "x", "let", "param", *KIND_WORDS} or behind == "to"
    return text in FILLERS and before not in ("fabric", "cluster")


def _word_that_says_nothing(s: Scene) -> Diagnostic | None:
    """``the switch leaf[8]: S``, ``connect to the spine[*]`` and ``host please node[8]: H``."""
    tokens, at, text = tokens_before_block(s), len(s.statement), s.run.file.text
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    for k in (0, at, at - 1, at - 2):
        if k < 0 or not _says_nothing(tokens, k):
            continue
        word, following = tokens[k], tokens[k + 1].start if k + 1 < len(tokens) else tokens[k].end
        if is_whole(s, text[tokens[0].start : word.start] + text[following : tokens[-1].end]):
            cut, remove = SourceSpan(s.run.file, word.start, following), f"remove `{word.text}`"
            fix = Fix(remove, ((cut, ""),), safe=False)
            return Diagnostic("E0001", f"`{word.text}` says nothing here", word.span, help=remove, fix=fix)
    return None


def _statement_behind_statement(s: Scene) -> Diagnostic | None:
    """``transport ethernet host node[4]: H``: two statements on a line."""
    tokens, at, text = tokens_before_block(s), len(s.statement), s.run.file.text
    if s.token is None or not 1 < at <= len(tokens) <= LONGEST:
        return None
    for k in range(2, min(at + 1, len(tokens) - 1)):
        t = tokens[k]
        if (
            t.text not in STARTERS
            or t.type != "NAME"
            or tokens[k + 1].type != "NAME"
            or tokens[k - 1].text in KIND_WORDS
        ):
            continue
        first, second = text[tokens[0].start : tokens[k - 1].end], text[t.start : tokens[-1].end]
        if is_whole(s, first) and is_whole(s, second):
            at_end = SourceSpan(s.run.file, tokens[k - 1].end, tokens[k - 1].end)
            return Diagnostic(
                "E0001",
                f"expected a new line or `;` before `{t.text}`",
                t.span,
                help=f"write `; {t.text}`, or begin a new line",
                fix=Fix("put `;`", ((at_end, ";"),)),
            )
    return None


def _port_without_its_word(s: Scene) -> Diagnostic | None:
    """``model host NODE { nic: 400Gbps }``."""
    t, following = s.token, s.rest[1:2]
    kinds = [x.type for x in s.statement]
    indexed = kinds[:2] == ["NAME", "LSQB"] and kinds[-1] == "RSQB"
    if t is None or t.type != "COLON" or not (kinds == ["NAME"] or indexed) or not following:
        return None
    if following[0].type != "QUANTITY" or not following[0].text.endswith("bps") or s.first in STARTERS:
        return None
    if s.first in SETTINGS and surrounding_block(s) != "model":
        return None
    text = s.run.file.text[s.statement[0].start : tokens_before_block(s)[-1].end]
    if not is_whole(s, f"port {text}"):
        return None
    at = SourceSpan(s.run.file, s.statement[0].start, s.statement[0].start)
    return Diagnostic(
        "E0001",
        f"`port` is missing before `{s.first}`",
        s.statement[0].span,
        help=f"write `port {s.run.file.text[s.statement[0].start : following[0].end]}`",
        fix=Fix("write `port`", ((at, "port "),), safe=False),
    )


def _signs_for_another(s: Scene) -> Diagnostic | None:
    """``param n: int <- 4`` and ``node[n]->nic[r] to leaf[r]``."""
    tokens, at = tokens_before_block(s), len(s.statement)
    if s.token is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    run = _touching_signs(tokens, at)
    if not run:
        return None
    signs = SourceSpan(s.run.file, run[0].start, run[-1].end)
    for new in _meanings_of_signs(s, tokens, signs):
        if is_whole_with(s, tokens, signs, new):
            wrong = "does not fit here" if signs.text in (":", "-") else "is not a sign of the language"
            message, help = f"`{signs.text}` {wrong}", f"write `{new.strip()}`"
            return Diagnostic("E0001", message, signs, help=help, fix=Fix(help, ((signs, new),), safe=False))
    if signs.text in ("->", "=>", "<-") and s.first in SETTINGS:
        message = f"`{signs.text}` is not a sign of the language"
        return Diagnostic("E0001", message, signs, help="settings are separated by `;`")
    return None


def _touching_signs(tokens: list[Token], at: int) -> list[Token]:
    """The signs before and from a token on that stand side by side without blanks."""
    begin = at
    while begin and tokens[begin - 1].type in _SIGNS and tokens[begin - 1].end == tokens[begin].start:
        begin -= 1
    end = begin
    while (
        end < len(tokens)
        and tokens[end].type in _SIGNS
        and (end == begin or tokens[end - 1].end == tokens[end].start)
    ):
        end += 1
    return tokens[begin:end]


def _meanings_of_signs(s: Scene, tokens: list[Token], signs: SourceSpan) -> tuple[str, ...]:
    """What signs of another language may mean in a statement, the likeliest first."""
    links = s.first in ("connect", "circuit")
    path = (".",) if signs.text in ("->", "::", ":") and _may_join_path(tokens, signs, links) else ()
    if links:  # another answer knows the arrow between its ends
        return path
    texts = [t.text for t in tokens]
    if signs.text == "=>" and s.first in ("require", "report"):
        return ("to",) if _is_compared_behind(tokens, signs) else (">=",)
    if signs.text in (":", "-") and "oversubscription" in texts:
        return (":",)
    if signs.text == ":" and "in" in texts:
        return ("..",)
    if s.first not in STARTERS | {"distance", "address"}:  # between settings
        return path
    return path + _MEANT.get(signs.text, ())


def _may_join_path(tokens: list[Token], signs: SourceSpan, links: bool) -> bool:
    """Whether signs are between two parts of a path; in a statement of ``links``, of its first path."""
    text = signs.file.text
    before, behind = text[signs.start - 1], text[signs.end : signs.end + 1]
    joins = (before in "])" or before.isalnum()) and behind.isalpha()
    return joins and (not links or any(t.text == "to" and t.start > signs.end for t in tokens))


def _is_compared_behind(tokens: list[Token], signs: SourceSpan) -> bool:
    """Whether there is a comparison between some signs and the next `and`."""
    behind = [t for t in tokens if t.start > signs.end]
    until = next((i for i, t in enumerate(behind) if t.text == "and"), len(behind))
    return any(t.type == "CMP" for t in behind[:until])


_SIGNS = frozenset({"CMP", "MINUS", "EQUAL", "COLON", "DOT", "PLUS", "STAR", "SLASH", "RANGE"})
_MEANT: dict[str, tuple[str, ...]] = {
    "<-": ("=", " to "),
    "->": (" to ", "to", ":", ".."),
    "=>": ("to",),
    "::": (".", ":"),
    "<->": ("to",),
    "==>": ("to",),
    "-->": ("to",),
    "<=>": ("to",),
    ":=": ("=", ":"),
    "===": ("==",),
    "=:": ("=",),
    "..=": ("..",),
    "..<": ("..",),
    ">==": (">=",),
    "<==": ("<=",),
    "=<": ("<=",),
    "--": ("to", "-"),
    "!==": ("!=",),
    "+=": ("=",),
}
"""Signs of other languages, and what they mean here; the first that makes the statement whole."""


def _first_word_left_out(s: Scene) -> Diagnostic | None:
    """``node[n].nic[r] to leaf[r]``, ``nic[2]: 400Gbps`` and ``taper of spine <= 4:1``."""
    tokens = tokens_before_block(s) if s.statement else []
    if not 2 < len(tokens) <= LONGEST or tokens[0].type != "NAME":
        return None
    if tokens[0].text in STARTERS and tokens[1].type not in ("LSQB", "DOT"):
        return None
    begin, first = tokens[0].start, tokens[0].text
    text = s.run.file.text[begin : tokens[-1].end]
    word = next((w for w in _likely_first_words(s, tokens) if w != first and is_whole(s, f"{w} {text}")), "")
    if not word:
        return None
    shown = f"{word} {text}" if len(text) <= 60 and "\n" not in text else f"{word} {first} …"
    return Diagnostic(
        "E0001",
        f"`{word}` is missing before `{first}`",
        tokens[0].span,
        help=f"write `{shown}`",
        fix=Fix(f"write `{word}`", ((SourceSpan(s.run.file, begin, begin), f"{word} "),), safe=False),
    )


def _likely_first_words(s: Scene, tokens: list[Token]) -> list[str]:
    """The first words of statements that are shaped as the tokens are, the likeliest first."""
    texts = [t.text for t in tokens]
    shapes = {
        "connect": "to" in texts or tokens[-1].text in PATTERNS,
        "place": "in" in texts and {"at", "from"} & set(texts),
        "port": ":" in texts[:-1] and tokens[texts.index(":") + 1].type == "QUANTITY",
        "require": any(t.type == "CMP" for t in tokens) and texts[1] != "=",
        "use": "(" in texts and texts[-1] == ")" and "." in texts,
        "extend": s.token is not None and s.token.type in ("DOT", "LBRACE") and texts[1] == ".",
    }
    return [word for word, likely in shapes.items() if likely]


def _operator_left_out(s: Scene) -> Diagnostic | None:
    """``require links 2 * 16`` and ``leaf[(k 1) % 2]``."""
    t, b, tokens, at = s.token, s.before, tokens_before_block(s), len(s.statement)
    if t is None or b is None or not 0 < at < len(tokens) <= LONGEST:
        return None
    if t.type not in ("NAME", "NUMBER", "QUANTITY", "PERCENT", "RATIO", "MONEY", "LPAR", "STAR"):
        return None
    if not GRAMMAR_WORDS.isdisjoint((t.text, b.text)) or (b.type, t.type) == ("NAME", "NAME"):
        return None
    if t.type == "NAME" and is_whole_with(s, tokens, t.span, ""):  # a word too many
        return None
    for k, sign in _signs_that_may_lack(s, t, at):
        if not _is_further_with(s, tokens, k, sign) or (k < at and tokens[k].type not in VALUES):
            continue
        value, before = tokens[k], tokens[k - 1]
        what, help = _MISSING_SIGNS[sign]
        return Diagnostic(
            "E0001",
            f"{what} is missing between `{before.text}` and `{value.text}`",
            value.span,
            help=help.format(value.text),
        )
    return None


def _signs_that_may_lack(s: Scene, t: Token, at: int) -> list[tuple[int, str]]:
    """The signs that may have been left out before a fault, each with the token before which it belongs, the
    likeliest first."""
    if s.first == "report" and t.type == "QUANTITY" and not t.text.endswith("bps"):
        return []  # `allreduce among a 1GB`: a size behind the clause
    compared = [(at, ">="), (at - 1, ">=")] if s.first in ("require", "report") else []
    return [*compared, (at, "+")]


_MISSING_SIGNS = {
    ">=": ("a sign such as `>=`", "write `<=`, `>=` or `==` before `{}`"),
    "+": (
        "an operator",
        "write an operator between them (`+`, `-`, `*`, `//`, `%`, `<`, `>`, `==`), or remove `{}`",
    ),
}
"""What is missing where one of these signs makes the statement whole, and what to write before a value."""


TRIALS = (
    comment_behind_statement,
    _percent_apart,
    _name_before_value,
    _comparison_as_words,
    _signs_for_another,
    _port_without_its_word,
    _statement_behind_statement,
    _dimensions_apart,
    _end_inside_statement,
    _statement_goes_on,
    _word_written_twice,
    _title_without_quotes,
    _text_without_quotes,
    bracket_left_out,
    _word_that_says_nothing,
)
"""What is tried first."""
LAST_TRIALS = (_first_word_left_out, _operator_left_out, _value_left_out)
"""What is tried before words are taken away."""
