"""Wording of syntax errors: what was found, what could stand there, and what would mend it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.bracket_repairs import bracket_left_out_of
from tdsl.syntax.characters import bad_character, meanings_of_sign
from tdsl.syntax.connect_slips import TRIALS as CONNECTS
from tdsl.syntax.declaration_slips import TRIALS as DECLARATIONS
from tdsl.syntax.exchanged_tokens import TRIALS as EXCHANGED
from tdsl.syntax.exchanged_tokens import neighbours_exchanged
from tdsl.syntax.filled_forms import said_in_form
from tdsl.syntax.forms import FORMS, FORMS_OF_BLOCK, OTHER_FORMS, SETTINGS_OF_BLOCK, forms_of_requirement
from tdsl.syntax.habits import TRIALS as HABITS
from tdsl.syntax.hints import TRIALS
from tdsl.syntax.keywords import CLAUSES, GRAMMAR_WORDS, INSTEAD_OF, OPERATORS, PATTERNS, SETTINGS
from tdsl.syntax.repairs import TRIALS as REPAIRS
from tdsl.syntax.repairs import is_whole, tokens_before_block, tokens_left_after_fix
from tdsl.syntax.requirement_slips import TRIALS as REQUIREMENTS
from tdsl.syntax.scanner import BAD, BAD_STRING, END, FAULT, MAX_DIGITS, Token
from tdsl.syntax.scene import (
    OPERATOR_TOKENS,
    SUFFIXES,
    VALUES,
    Run,
    Scene,
    closest_keyword,
    found_words,
    rewriting_finding,
    surrounding_block,
)
from tdsl.syntax.shape_slips import TRIALS as SHAPES
from tdsl.syntax.shape_slips import requirement_in_english
from tdsl.syntax.slips import TRIALS as SLIPS
from tdsl.syntax.text_repairs import LAST_TRIALS, comment_behind_statement
from tdsl.syntax.text_repairs import TRIALS as TEXTS


def explain_unexpected_token(run: Run, i: int, token: Token | None) -> Diagnostic | None:
    """The finding for a token that cannot stand where it stands; None if the fault is reported already."""
    if token is not None:
        if token.type == FAULT:
            return _fault_of_layout(run, i, token)
        if token.type == BAD_STRING:
            return _unclosed_string(run, i, token)
        if token.type == BAD:
            return _finding_of_sign(run, i, token)
        if len(token.text) > MAX_DIGITS and token.type in VALUES and token.type != "STRING":
            return Diagnostic(
                "E0014",
                f"a number of {len(token.text)} characters is too long",
                token.span,
                help=f"numbers have at most {MAX_DIGITS} characters",
            )
    scene = Scene(run, i, token, run.expected())
    if len(run.diagnostics) >= MOST_EXPLAINED:
        return _generic_syntax_error(scene)
    return _likeliest_finding(scene) or _statement_said_anew(scene) or _generic_syntax_error(scene)


def explanations_of_token(run: Run, i: int, token: Token | None) -> list[Diagnostic]:
    """What may be the cause of a token that cannot stand where it stands: findings whose fix makes the
    statement whole, the likeliest first, and last one without a fix."""
    scene = Scene(run, i, token, run.expected())
    if token is not None and token.type in (FAULT, BAD, BAD_STRING):
        return []
    found = [trial(scene) for trial in _ALL_TRIALS] + [_statement_said_anew(scene)]
    whole = [d for d in found if d is not None and tokens_left_after_fix(scene, d) == 0]
    return [*whole, replace(_generic_syntax_error(scene), fix=None)]


MOST_EXPLAINED = 500
"""Faults of a text whose likeliest cause is looked for: some causes are looked for in all of the text."""
_ALL_TRIALS = (
    *EXCHANGED,
    *TEXTS,
    *SHAPES,
    *REQUIREMENTS,
    *DECLARATIONS,
    *CONNECTS,
    *HABITS,
    *SLIPS,
    *TRIALS,
    requirement_in_english,
    neighbours_exchanged,
    *REPAIRS[:-1],
    *LAST_TRIALS,
    *REPAIRS[-1:],
)


def _text_before_block(text: str) -> str:
    """What an unclosed string holds where a block opens behind it, at the end of the line; else ""."""
    line = text.rstrip()
    held = line[:-1].rstrip() if line.endswith("{") else ""
    return "" if re.search(r'["#]', held[1:]) else held


def _text_before_end(text: str) -> str:
    """What an unclosed string holds before what ends a statement, a block or the line; "" where a brace opens
    that nothing closes."""
    found = re.match(r'"(?:[^;{}#]|\{[^{}]*+\})*+', text)
    return "" if found is None or text[found.end() :].startswith("{") else found[0].rstrip()


def _ends_of_string(text: str) -> Iterator[str]:
    """What an unclosed string may hold, the likeliest first: what is before a block at the end of the line,
    before what ends the statement, before any sign that may follow a string."""
    yield from filter(None, (_text_before_block(text), _text_before_end(text)))
    for found in re.finditer(r"(?<!\s)\s*+[{;})\],]", text):
        yield text[: found.start()]


def _unclosed_string(run: Run, i: int, token: Token) -> Diagnostic:
    """The finding of a string without its closing quote, which ends where the statement is whole with it,
    else with the line."""
    message = "this string has no closing quote on its line"
    scene = Scene(run, i, token, run.expected())
    begin, line = (scene.statement[0] if scene.statement else token).start, token.text.rstrip()
    likely = [s for s in _ends_of_string(token.text) if re.search(r"\w", s) and s.count('"') == 1]
    head = run.file.text[begin : token.start]
    string = next((s for s in likely if is_whole(scene, f'{head}{s}"{line[len(s) :]}')), "")
    string = string or (likely[0] if likely and token.text.count('"') == 1 else "")
    if not string:
        return Diagnostic(
            "E0007",
            message,
            token.span,
            help='end it with `"`; a string stays on one line and cannot hold a quote',
        )
    at = SourceSpan(token.file, token.start + len(string), token.start + len(string))
    help = f'write `{string}"`, or put the `"` where it ends'
    return Diagnostic("E0007", message, token.span, help=help, fix=Fix('put `"`', ((at, '"'),), safe=False))


def _finding_of_sign(run: Run, i: int, token: Token) -> Diagnostic:
    """The finding of a sign that the language does not have."""
    scene, text = Scene(run, i, token, run.expected()), run.file.text
    comment = comment_behind_statement(scene)
    tokens = tokens_before_block(scene)
    if comment is not None or not tokens:
        return comment or bad_character(token, text)
    before, rest = text[tokens[0].start : token.start], text[token.start : tokens[-1].end]
    choices = [
        meant
        for meant in meanings_of_sign(token, text)
        if is_whole(scene, before + rest.replace(token.text, meant))
    ]
    return bad_character(token, text, *choices[:1])


def _likeliest_finding(s: Scene) -> Diagnostic | None:
    """The first finding that has no fix, or one that makes the statement whole; where there is none, the
    first whose fix brings the parser two tokens on or more. None where nobody knows the fault."""
    further = None
    for trial in _ALL_TRIALS:
        finding = trial(s)
        if finding is None:
            continue
        left = tokens_left_after_fix(s, finding)
        if left == 0 or (left is None and further is None):
            return finding
        if further is None and left is not None and left <= len(s.rest) - 2:
            further = finding
    return further


def _fault_of_layout(run: Run, i: int, token: Token) -> Diagnostic | None:
    """The finding of a token by which the scanner marks a fault of brackets; with the edit that mends it
    where one makes the statement whole."""
    if not isinstance(token.node, Diagnostic) or token.node.code != "E0003":
        return token.node if isinstance(token.node, Diagnostic) else None
    rest = []
    for t in run.tokens[i + 1 :]:
        if t.type in (END, "RBRACE", "$END"):
            break
        rest.append(t)
    tokens = [t for t in (*run.tokens[run.head : i], *rest) if t.type != FAULT]
    return bracket_left_out_of(Scene(run, i, token, set()), tokens) or token.node


def word_in_capitals(token: Token) -> Diagnostic:
    """``links OF leaf`` where only ``of`` can be meant."""
    word = token.text.lower()
    fix = Fix(f"write `{word}`", ((token.span, word),))
    return Diagnostic(
        "E0002",
        f"`{token.text}` is written in small letters: `{word}`",
        token.span,
        help=f"write `{word}`",
        fix=fix,
    )


def ratio_for_range(token: Token) -> Diagnostic:
    """``[1:16]`` where a range is meant."""
    low, high = token.text.split(":")
    rises = Fraction(low.replace("_", "")) <= Fraction(high.replace("_", ""))
    return Diagnostic(
        "E0013",
        f"`{token.text}` is a ratio, and no index or extent",
        token.span,
        help=f"a range is written `{low}..{high}`"
        if rises
        else f"write one whole number, or a range such as `{high}..{low}`",
        fix=Fix("write a range", ((token.span, f"{low}..{high}"),)) if rises else None,
    )


# ---------------------------------------------------------------- all others


def _generic_syntax_error(s: Scene) -> Diagnostic:
    if not s.statement and s.token is not None:
        if (lost := _setting_of_amount(s, s.token) or _number_before_setting(s, s.token)) is not None:
            return lost
        return Diagnostic(
            "E0001",
            f"a statement begins with a word, {found_words(s)}",
            s.span,
            help="begin with a word such as `host`, `connect`, `let` or `require`, or join it to the line "
            "before",
        )
    choices = _expected_alternatives(s)
    guess = _expected_word_alike(s)
    fix: Fix | None
    if guess:
        help, fix = f"did you mean `{guess}`?", Fix(f"write `{guess}`", ((s.span, guess),))
    else:
        help, fix = _advice_by_what_is_expected(s, choices)
    listed = _join_with_or(choices)
    return Diagnostic("E0001", f"expected {listed}, {found_words(s)}", s.span, help=help, fix=fix)


_SETTINGS_OF_UNITS = {
    "connect": {"bps": "rate", "m": "length"},
    "model": {"W": "power", "U": "height", "kg": "mass"},
    "rack": {"W": "power", "U": "height", "kg": "mass"},
    "feed": {"W": "power"},
}
"""The only setting of a block that is an amount in a unit."""


def _setting_of_amount(s: Scene, t: Token) -> Diagnostic | None:
    """``{ 400Gbps; medium dac }``: an amount whose setting is left out."""
    unit = re.fullmatch(r"[\d.]+[kMGT]?(bps|m|W|U|kg)", t.text) if t.type == "QUANTITY" else None
    name = _SETTINGS_OF_UNITS.get(surrounding_block(s), {}).get(unit[1]) if unit is not None else None
    if name is None:
        return None
    message = f"a statement begins with a word, found `{t.text}`: the name of a setting is missing before it"
    fix = Fix(f"write `{name} {t.text}`", ((t.span, f"{name} {t.text}"),), safe=False)
    return Diagnostic("E0001", message, t.span, help=f"write `{name} {t.text}`", fix=fix)


def _statement_said_anew(s: Scene) -> Diagnostic | None:
    """The finding of a statement whose words and values make a whole one in the form of its kind."""
    tokens = tokens_before_block(s)
    end = next((k for k, t in enumerate(tokens) if t.type == "LBRACE"), len(tokens))
    if not 1 < end <= LONGEST_ANEW:
        return None
    text, block = s.run.file.text, surrounding_block(s)
    whole = SourceSpan(s.run.file, tokens[0].start, tokens[end - 1].end)
    first = tokens[0].text
    word = INSTEAD_OF.get(first.lower(), first)
    forms = [
        *SETTINGS_OF_BLOCK.get(block, ()),
        *OTHER_FORMS.get(word, ()),
        FORMS.get(word, "").partition(" {")[0],
        *forms_of_requirement(first, tokens[1].text),
    ]
    said = {t.text for t in tokens[:end]}
    for form in sorted(filter(None, forms), key=lambda form: -len(said & {*form.split()})):
        new = said_in_form(form, whole.text)
        if new and is_whole(s, new + text[whole.end : tokens[-1].end]):
            message = f"these words do not make a statement; its form is `{form}`"
            return rewriting_finding(message, whole, whole, new)
    return None


LONGEST_ANEW = 40
"""Tokens of a statement that is said anew."""


def _number_before_setting(s: Scene, t: Token) -> Diagnostic | None:
    """``{ 4 switches }``: the number of a setting before its name."""
    names = [x.text for x in s.rest[1:2] if x.text in SETTINGS]
    if (
        t.type not in ("NUMBER", "QUANTITY", "PERCENT")
        or not names
        or surrounding_block(s) in ("", "cluster")
    ):
        return None
    both = t.span.to(s.rest[1].span)
    return rewriting_finding(
        "the name of a setting comes before its value", both, both, f"{names[0]} {t.text}"
    )


def _expected_word_alike(s: Scene) -> str:
    """The expected word that a misspelt one is like; "" where none is."""
    if s.token is None or s.token.type != "NAME" or s.token.text in GRAMMAR_WORDS:
        return ""
    words = [w for w in (s.run.word(t) for t in s.expected) if w.isidentifier()]
    guess = closest_keyword(s.token.text, words)
    return guess if guess and guess != s.token.text else ""


def _form_of_statement_here(s: Scene) -> str | None:
    """The form of the statement that is read, in its block; None where none is listed."""
    if [t.text for t in s.statement[:2]] == ["place", "auto"]:
        return FORMS["place auto"]
    if s.first in ("require", "report"):
        claims = [k for k, t in enumerate(s.statement[:-1]) if t.text in (s.first, "and", "with")]
        metric = s.statement[claims[-1] + 1].text if claims else ""
        return next(iter(forms_of_requirement(s.first, metric)), FORMS[s.first])
    return FORMS_OF_BLOCK.get((surrounding_block(s), s.first)) or FORMS.get(s.first)


def _advice_by_what_is_expected(s: Scene, choices: list[str]) -> tuple[str, Fix | None]:
    """What to do where no word is misspelt, and the change of text that does it."""
    form = _form_of_statement_here(s)
    if form is not None and not _is_one_word_too_many(s):
        return f"the form is `{form}`", None
    if END not in s.expected:
        return (f"put {choices[0]} here", None) if len(choices) <= 2 else ("", None)
    if s.token is None or s.token.type in (END, "RBRACE"):
        return "", None
    fix = None
    if s.before is not None and s.before.type == "RBRACE" and s.token.text in {*PATTERNS, *CLAUSES}:
        return f"write `{s.token.text}` before the `{{` of the block", None
    if len(s.rest) == 1 and s.before is not None and s.before.type == "RBRACE":
        return f"remove it, or write `{s.token.text}` before the `}}`", None
    if len(s.rest) == 1 and s.before is not None and s.first != "require":
        gone = SourceSpan(s.run.file, s.before.end, s.span.end)
        fix = Fix(f"remove `{s.token.text}`", ((gone, ""),), safe=False)
    return "remove it, or end the statement before it with a new line or `;`", fix


def _is_one_word_too_many(s: Scene) -> bool:
    """Whether one word or `,` stands behind a statement that is whole."""
    if s.first in ("require", "report") and (s.before is None or s.before.type not in VALUES):
        return False
    return END in s.expected and len(s.rest) == 1 and s.rest[0].type in ("NAME", "COMMA")


def _expected_alternatives(s: Scene) -> list[str]:
    """What could stand there, in words, the likeliest first."""
    out, left = _expected_value_or_name(s)
    out += _expected_words(s, left)
    out += [f"`{s.run.word(c)}`" for c in _closing_brackets(s) if c in left]
    signs = ("COLON", "EQUAL", "LBRACE", "COMMA", "RANGE")
    out += [f"`{s.run.word(sign)}`" for sign in signs if sign in left]
    out += ["a string"] if "STRING" in left else []
    out += ["an operator"] if left & {"PLUS", "STAR", "CMP"} else []
    if not out or (len(out) < 3 and not left & OPERATOR_TOKENS):
        out += [f"`{s.run.word(t)}`" for t in sorted(left & (SUFFIXES - {"LPAR"}))]
    out += ["the end of the line"] if END in left else []
    return out or ["something else"]


def _expected_value_or_name(s: Scene) -> tuple[list[str], set[str]]:
    """A value or a name, if one could stand there, and the other terminals that could."""
    left = set(s.expected) - {"BROKEN", "$END"}
    if {"NUMBER", "NAME"} <= left:
        return ["a value"], left - (VALUES | {"NAME", "MINUS", "NOT", "LPAR", "LSQB", "QMARK"})
    if "NAME" not in left:
        return [], left
    pattern = s.first in ("connect", "circuit") and "VIA" in left
    return ["a pattern" if pattern else "a name"], left - {"NAME"}


def _closing_brackets(s: Scene) -> list[str]:
    """The brackets that are open in the statement, as the tokens that close them."""
    inside = [t.type for t in s.statement]
    return [c for o, c in (("LPAR", "RPAR"), ("LSQB", "RSQB")) if inside.count(o) > inside.count(c)]


def _expected_words(s: Scene, left: set[str]) -> list[str]:
    """The words of the language among some terminals; one for all where there are many."""
    hidden = (*OPERATORS, "if") if "PLUS" in left else ()
    words = sorted(w for w in (s.run.word(t) for t in left) if w.isidentifier() and w not in hidden)
    if len(words) <= 6:
        return [f"`{w}`" for w in words]
    return ["a kind such as `host`"] if "host" in words else []


def _join_with_or(words: list[str]) -> str:
    if len(words) > 6:
        words = [*words[:5], words[-1]]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
