"""How a stage leaves a statement that cannot be understood: with one finding, or silently if its cause was
already said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Label
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.words_elsewhere import name_of_word_elsewhere
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.similar import closest_name

LOOKS = 300_000
"""Names that unknown ones of a text are held against."""


LONGEST = 2_000
"""Characters of a message: a list in it may have a million elements, and each finding would print them."""


def clip_message(message: str) -> str:
    """A message of a length that somebody reads."""
    return message if len(message) <= LONGEST else f"{message[:LONGEST]} … ({len(message):,} characters)"


class Fault(Exception):
    """A user's mistake on its way to the collector; never leaves a stage."""

    def __init__(
        self,
        code: str,
        at: SourceSpan | Origin,
        message: str,
        *,
        labels: Iterable[tuple[SourceSpan, str]] = (),
        notes: Iterable[str] = (),
        help: str = "",
        fix: Fix | None = None,
        count: int = 1,
    ) -> None:
        message = clip_message(message)
        super().__init__(message)
        span = at.span if isinstance(at, Origin) else at
        chain = at.chain if isinstance(at, Origin) else ()
        places = (*labels, *chain)
        fix = fix or _fix_that_help_says(span, help)
        self.reported = False
        self.diagnostic = Diagnostic(
            code, message, span, tuple(Label(s, m) for s, m in places), tuple(notes), help, fix, count=count
        )

    def report(self, diagnostics: Diagnostics) -> None:
        """Hand the finding to the collector."""
        self.reported = True
        diagnostics.items.append(self.diagnostic)


_WORDS = re.compile(r"\b[A-Za-z_]\w*")
_TO_WRITE = re.compile(r"write `([^`…]+)`")


def _fix_that_help_says(span: SourceSpan, help: str) -> Fix | None:
    """The edit of a help line that writes the marked statement anew, such as "write `rails 8`" at
    ``rails x``; None where it is about something else, or leaves words open."""
    found = _TO_WRITE.fullmatch(help)
    text = span.text
    if found is None or "\n" in text or not text or text == found[1]:
        return None
    new = found[1]
    if new.split()[0] != text.split()[0] or len(text.split()) < 2 or "{" in text + new:
        return None
    if set(re.findall(r"\d+", new)) != set(re.findall(r"\d+", text)):  # of an example, or lost
        return None
    if set(_WORDS.findall(new)) - set(_WORDS.findall(text)):  # an example's words, not the design's
        return None
    return Fix(f"write `{new}`", ((span, new),), safe=False)


class Excused(Exception):
    """Something rests on what is already reported as broken: nothing more to say."""


@dataclass(slots=True)
class _Looks:
    """How many names unknown ones were held against, since the text was begun."""

    taken: int = 0


_looks = _Looks()


NOTHING_MEANT: Mapping[str, str] = {}


def reset_name_suggestions() -> None:
    """A new text: look for names like its unknown ones again."""
    _looks.taken = 0


def closest_known_name(name: str, known: Iterable[str]) -> str:
    """The known name most like this one, or "". In a text of very many unknown names only the first ones are
    looked for."""
    candidates = sorted(set(known))
    _looks.taken += len(candidates)
    if _looks.taken > LOOKS:
        return ""
    return closest_name(name, candidates)


def _is_value_declared_at(place: SourceSpan) -> bool:
    """Whether a name is one of a `let` or `param` where it is declared."""
    return re.search(r"\b(?:let|param)[ \t]+$", place.file.text[: place.start]) is not None


def unknown_name_fault(
    code: str,
    span: SourceSpan,
    what: str,
    name: str,
    known: Iterable[str],
    *,
    extra_help: str = "",
    meant: Mapping[str, str] = NOTHING_MEANT,
) -> Fault:
    """The fault of a name nobody declared, with the nearest known one and a fix that writes it. ``meant`` are
    words for known names that are not like them, in small letters."""
    known = sorted(set(known))
    if code == "E0118" and span.text == name:
        from tdsl.semantics.lost_words import (
            exchanged_setting_fault,
            hyphen_in_setting_fault,
            setting_of_other_block_fault,
            value_alone_fault,
        )

        lost = (
            exchanged_setting_fault(span, what, known)
            or value_alone_fault(span, what, known)
            or hyphen_in_setting_fault(span, what, known)
            or setting_of_other_block_fault(span, what, known)
        )
        if lost is not None:
            return lost
    near = meant.get(name.lower(), "") or meant.get(re.sub(r"^(max|min)_?", "", name.lower()), "")
    near = (
        near
        if near in known
        else (code == "E0118" and name_of_word_elsewhere(name, known)) or closest_known_name(name, known)
    )
    if near and near != name:
        return Fault(
            code,
            span,
            f"there is no {what} `{name}` here",
            help=f"did you mean `{near}`?",
            fix=Fix(f"write `{near}`", ((span, near),), safe=False) if span.text == name else None,
        )
    shown = ", ".join(f"`{k}`" for k in known[:8]) + (" …" if len(known) > 8 else "")
    if code == "E0101" and span.text == name:
        from tdsl.semantics.lost_words import declaration_elsewhere

        declared = declaration_elsewhere(span, name)
        if declared is not None and what == "value" and not _is_value_declared_at(declared):
            help = f"`{name}` is declared in line {declared.begin[0]} as devices, which are no value; a path "
            return Fault(
                code,
                span,
                f"there is no {what} `{name}` here",
                labels=[(declared, f"`{name}` is declared here")],
                help=f"{help}to them follows `of`, `to`, `among` or `in`",
            )
        if declared is not None:
            line = declared.begin[0]
            return Fault(
                code,
                span,
                f"there is no {what} `{name}` here",
                labels=[(declared, f"`{name}` is declared here, in a block that is not around this one")],
                help=f"move the declaration of `{name}` in line {line} into a block around both places",
            )
    return Fault(
        code,
        span,
        f"there is no {what} `{name}` here",
        help=extra_help or (f"known here: {shown}" if shown else ""),
    )
