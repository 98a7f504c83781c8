"""Answers to characters the language does not have."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Severity
from tdsl.findings.source import HIDDEN, SourceFile, SourceSpan
from tdsl.syntax.scanner import Token

_WORD = re.compile(r"[^\W\d_]+")
_LIKE_LATIN = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
"""Scripts with letters that look like Latin ones."""
_LATIN_SHAPES = frozenset("асеһіјорѕухԁԛԝАВСЕНІЈКМОРЅТХοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
"""Letters of Cyrillic and Greek that are drawn as Latin ones are (Unicode's confusables.txt)."""
_LATIN = dict(
    zip(
        "асеһіјорѕухԁԛԝАВСЕНІЈКМОРЅТХοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "acehijopsyxdqwABCEHIJKMOPSTXoABEZHIKMNOPTYX",
        strict=True,
    )
)
_INSTEAD = {
    "&&": "and", "||": "or", "&": "and", "|": "or", "!": "not", "^": "**",
    "×": "x", "≤": "<=", "≥": ">=", "≠": "==", "→": "to", "–": "-", "—": "-", "−": "-", "…": "..",
    "÷": "/", "·": "*", "\\": "//",
    "\u201c": '"', "\u201d": '"', "\u2018": '"', "\u2019": '"', "\u00a0": " ", "\u2009": " ", "\u202f": " ",
}  # fmt: skip


def latin_names(text: str) -> list[str]:
    """The names of a text that have letters that look like Latin ones, with the Latin ones in their place:
    what is meant."""
    names = (
        "".join(_LATIN.get(c, c) for c in word) for word in re.findall(r"\w+", text) if not word.isascii()
    )
    return [name for name in names if name.isascii()]


_CHOICES = {
    "×": ("x", "*"),
    "~": ("..", "about "),
    "@": (":", "at"),
    "→": ("to", ".."),
    **dict.fromkeys("–—−", ("-", "..")),
}
"""Signs that stand for one thing or another here."""


def meanings_of_sign(token: Token, text: str) -> tuple[str, ...]:
    """What a sign that the language does not have may mean where it stands, the likeliest first; empty where
    it means one thing or none."""
    choices = _CHOICES.get(token.text, ())
    left, right = text[token.start - 1 : token.start], text[token.end : token.end + 1]
    if token.text == "×" and not (left.isdigit() and right.isdigit()) and (left + right).strip():
        return choices[::-1]
    between_digits = (
        text[token.start - 1 : token.start].isdigit() and text[token.end : token.end + 1].isdigit()
    )
    line = text[text.rfind("\n", 0, token.start) + 1 : token.start]
    if token.text == "~" and not re.search(r"\boversubscription\b", line):
        return choices[:1]
    counted = between_digits or re.search(r"\bin \w+ ?$", line) is not None
    return choices[::-1] if counted and choices[-1:] == ("..",) else choices


def bad_character(token: Token, text: str, meant: str = "") -> Diagnostic:
    """The finding for a sign that belongs to no token. ``meant`` is what makes the statement whole in its
    place."""
    if meant:
        return _sign_with_meaning(token, text, meant)
    for answer in _ANSWERS:
        if (known := answer(token, text)) is not None:
            return known
    return Diagnostic(
        "E0006",
        f"{_describe_character(token.text)} means nothing here",
        token.span,
        help="names are letters, digits and `_`; other text belongs in a string or after `#`",
    )


def _first_character(token: Token) -> SourceSpan:
    return SourceSpan(token.file, token.start, token.start + 1)


def _string_in_single_quotes(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``'text'``; None of other signs."""
    sign = token.text
    if not sign.startswith("'") or len(sign) < 2:
        return None
    return _suggest_character(token, token.span, f'"{sign[1:-1]}"', "a string is written in double quotes")


def _micro_of_unit(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``5µs``; None of other signs."""
    sign = token.text[0]
    apart = re.compile(r"\d([ \t]++)$").search(text[max(token.start - 4, 0) : token.start])
    if sign in "µμ" and apart is not None:
        unit = re.compile(r"[a-z]?").match(text, token.start + 1)
        new = f"u{unit[0] if unit is not None else ''}"
        at = SourceSpan(token.file, token.start - len(apart[1]), token.start + len(new))
        return _suggest_character(token, at, new, "a number and its unit are written without a space")
    if sign not in "µμ" or not text[token.start - 1 : token.start].isdigit():
        return None
    return _suggest_character(token, _first_character(token), "u", f"`{sign}` is written `u` in units: `5us`")


def _string_without_end(token: Token, text: str) -> Diagnostic | None:
    if token.text != '"':
        return None
    message = "this string has no closing quote on its line"
    return Diagnostic("E0007", message, token.span, help='end it with `"`')


def _point_behind_digits(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``1.``; None of other signs."""
    if token.text != "." or not text[token.start - 1 : token.start].isdigit():
        return None
    message = "a point needs digits on both sides"
    return Diagnostic("E0006", message, token.span, help="write `1.0`, or `1..8` for a range")


def _amount_before_currency(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``5M$``; None of other signs."""
    amount = re.search(r"[0-9][0-9_.]{0,39}[kKM]?$", text[max(0, token.start - 40) : token.start])
    if token.text[0] not in "$€£" or amount is None:
        return None
    if token.text[0] != "$":
        return _amount_of_other_currency(_first_character(token))
    whole = SourceSpan(token.file, token.start - len(amount[0]), token.start + 1)
    return _suggest_character(token, whole, f"${amount[0]}", f"write `${amount[0]}`: `$` comes first")


def _other_currency(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``€5M``; None of other signs."""
    behind = re.compile(r"[0-9][0-9_.]*[kM]?").match(text, token.start + 1)
    if token.text[0] not in "€£" or behind is None:
        return None
    return _amount_of_other_currency(_first_character(token))


def _amount_of_other_currency(sign: SourceSpan) -> Diagnostic:
    """The finding of the sign of a currency other than `$`: what the amount is in `$` is not known."""
    message = f"`{sign.text}` means nothing here: an amount of money begins with `$`"
    help = "write `$…`, converted; a file of prices for `--prices` says its `currency`"
    return Diagnostic("E0006", message, sign, help=help)


def _sign_of_other_language(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``&&`` and others that are written with other signs here; None of other signs."""
    sign = token.text
    instead = _INSTEAD.get(sign) or _INSTEAD.get(sign[0])
    if instead is None:
        return None
    span = token.span if sign in _INSTEAD else _first_character(token)
    found = _suggest_character(token, span, instead, "")
    if instead == '"':  # both ends of a string
        end = text.find("\n", token.start)
        others = [
            token.start + m.start()
            for m in re.finditer(r"[“”‘’]", text[token.start : end if end >= 0 else len(text)])
        ]
        edits = tuple((SourceSpan(token.file, k, k + 1), '"') for k in others)
        return replace(found, fix=Fix('write `"`', edits))
    if not instead.isalpha() or instead == "x" or found.fix is None:
        return found
    left = " " if text[span.start - 1 : span.start].strip() else ""
    right = " " if text[span.end : span.end + 1].strip() else ""
    fix = Fix(found.fix.title, ((span, f"{left}{instead}{right}"),), safe=sign in ("&&", "||", "→"))
    return replace(found, fix=fix)


def _letter_of_other_script(token: Token, text: str) -> Diagnostic | None:
    """The finding of a letter that is drawn as a Latin one is; None of other signs."""
    letter = token.text[0]
    if letter not in _LATIN:
        return None
    latin = _LATIN[letter]
    help = f"it is the {unicodedata.name(letter).capitalize()}; write the Latin `{latin}`"
    return _suggest_character(token, _first_character(token), latin, help)


def _hidden_character(token: Token, text: str) -> Diagnostic | None:
    """The finding of a character that is not seen; None of other signs."""
    if not HIDDEN.match(token.text):
        return None
    return Diagnostic(
        "E0006",
        f"{_describe_character(token.text)} means nothing here",
        token.span,
        help="remove it: it is not seen",
        fix=Fix("remove it", ((_first_character(token), ""),)),
    )


def _sign_of_html(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``&lt;``, ``&gt;`` and ``&amp;``; None of other signs."""
    entity = re.compile("&(lt|gt|amp);").match(text, token.start)
    if entity is None:
        return None
    meant = {"lt": "<", "gt": ">", "amp": " and "}[entity[1]]
    whole = SourceSpan(token.file, token.start, entity.end())
    return _suggest_character(token, whole, meant, f"write `{meant.strip()}`: this is a sign of HTML")


def _money_apart(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``$ 5M``; None of other signs."""
    apart = re.compile(r"\$ +([0-9][0-9_.]*[kM]?)").match(text, token.start)
    if apart is None:
        return None
    whole = SourceSpan(token.file, token.start, apart.start(1))
    return _suggest_character(token, whole, "$", f"write `${apart[1]}`, without a space")


def _about_amount(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``~5m`` and ``~$30k``; None of other signs."""
    amount = re.compile(r"~ ?(\$?\d\w*)").match(text, token.start)
    if amount is None:
        return None
    sign = _first_character(token)
    fix = Fix("remove `~`", ((sign, ""),), safe=False)
    return Diagnostic("E0006", "an amount has no `~` before it", sign, help=f"write `{amount[1]}`", fix=fix)


def _sign_before_name(token: Token, text: str) -> Diagnostic | None:
    """The finding of ``$units`` and ``@leaf``; None of other signs."""
    name = re.compile(r"[$@%&]([A-Za-z_]\w*)").match(text, token.start)
    if name is None:
        return None
    message = f"`{name[0]}`: a name has no sign before it"
    fix = Fix(f"write `{name[1]}`", ((_first_character(token), ""),), safe=False)
    return Diagnostic("E0006", message, token.span, help=f"write `{name[1]}`", fix=fix)


_ANSWERS = (
    _string_in_single_quotes,
    _micro_of_unit,
    _sign_of_html,
    _money_apart,
    _string_without_end,
    _point_behind_digits,
    _amount_before_currency,
    _other_currency,
    _sign_of_other_language,
    _letter_of_other_script,
    _hidden_character,
    _sign_before_name,
    _about_amount,
)
"""What answers a sign that belongs to no token, the first that knows it."""


def _sign_with_meaning(token: Token, text: str, meant: str) -> Diagnostic:
    """The finding of a sign that means one thing at all its places from here to the end of the line."""
    end = text.find("\n", token.end)
    line = text[token.start : end if end >= 0 else len(text)]
    places = [token.start + m.start() for m in re.finditer(re.escape(token.text), line)]
    fix = Fix(f"write `{meant}`", tuple((SourceSpan(token.file, k, k + 1), meant) for k in places))
    message = f"{_describe_character(token.text)} means nothing here"
    return Diagnostic("E0006", message, token.span, help=f"write `{meant}`", fix=fix)


def report_misleading_characters(file: SourceFile, diagnostics: Diagnostics) -> None:
    """Find what reads otherwise than it is: hidden characters anywhere, and words of strings in two scripts
    that look the same."""
    for found in HIDDEN.finditer(file.text):
        diagnostics.add(
            "E0497",
            SourceSpan(file, found.start(), found.end()),
            f"this is {_describe_character(found[0])}, which is not seen or turns the order of the text",
            severity=Severity.WARNING,
            help="leave it out",
            fix=Fix("leave it out", ((SourceSpan(file, found.start(), found.end()), ""),)),
        )
    if file.text.isascii():
        return
    from tdsl.syntax.grammar import load_grammar_tables

    for token in load_grammar_tables().scanner.scan(file):
        foreign = token.type == "STRING" and not token.text.isascii()
        if foreign and not _report_mixed_scripts(token, diagnostics):
            _report_lookalike_text(token, diagnostics)


def _letters_like_latin(text: str) -> list[str]:
    """The letters of a text that are of another script and may look like Latin ones."""
    return [c for c in text if not c.isascii() and unicodedata.name(c, "").startswith(_LIKE_LATIN)]


def _report_mixed_scripts(token: Token, diagnostics: Diagnostics) -> bool:
    """Report the words of a string that have letters of two scripts; whether there are any."""
    found = False
    for word in _WORD.finditer(token.text):
        odd = _letters_like_latin(word[0])
        if not odd or len(odd) == len(word[0]):
            continue
        found = True
        start = token.start + word.start()
        latin = "".join(_LATIN.get(c, c) for c in word[0])
        whole = SourceSpan(token.file, start, start + len(word[0]))
        diagnostics.add(
            "E0497",
            whole,
            f"`{word[0]}` mixes Latin letters with {unicodedata.name(odd[0]).capitalize()}, "
            "which looks like one",
            severity=Severity.WARNING,
            help="write it in one script" + (f": `{latin}`" if latin.isascii() else ""),
            fix=Fix(f"write `{latin}`", ((whole, latin),), safe=False) if latin.isascii() else None,
        )
    return found


def _report_lookalike_text(token: Token, diagnostics: Diagnostics) -> None:
    """Report a string all whose letters of another script look like Latin ones: nothing shows the script."""
    foreign = _letters_like_latin(token.text)
    if not foreign or not _LATIN_SHAPES.issuperset(foreign):
        return
    at = token.start + token.text.index(foreign[0])
    diagnostics.add(
        "E0497",
        SourceSpan(token.file, at, at + 1),
        f"`{foreign[0]}` is {unicodedata.name(foreign[0]).capitalize()}, which looks like a Latin letter",
        severity=Severity.WARNING,
        help="write the text in one script",
    )


def _suggest_character(token: Token, span: SourceSpan, instead: str, help: str) -> Diagnostic:
    shown = "a blank" if instead == " " else f"`{instead}`"
    return Diagnostic(
        "E0006",
        f"{_describe_character(span.text)} means nothing here",
        token.span,
        help=help or f"write {shown}",
        fix=Fix(f"write {shown}", ((span, instead),)),
    )


def _describe_character(sign: str) -> str:
    if sign.isprintable() and not sign.isspace():
        return f"`{sign if len(sign) <= 30 else sign[:27] + '…'}`"
    return f"the character U+{ord(sign[0]):04X} ({unicodedata.name(sign[0], 'a control character').lower()})"
