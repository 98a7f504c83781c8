"""How a stage leaves a statement that cannot be understood: with one finding, or silently if its cause was
already said."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from heapq import nsmallest

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Label
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.words_elsewhere import name_of_word_elsewhere
from tdsl.syntax.filled_forms import said_in_form
from tdsl.syntax.forms import forms_of_setting
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
        if fix is None:
            help, fix = _filled_help(span, help)
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
    if "," in text and "," not in new:  # a value would be lost
        return None
    if new.split()[0] != text.split()[0] or len(text.split()) < 2 or "{" in text + new:
        return None
    if set(re.findall(r"\d+", new)) != set(re.findall(r"\d+", text)):  # of an example, or lost
        return None
    if set(_WORDS.findall(new)) - set(_WORDS.findall(text)):  # an example's words, not the design's
        return None
    return Fix(f"write `{new}`", ((span, new),), safe=False)


_STATEMENT = re.compile(r"[^;{}\n#]*+")
_SHOWN = re.compile(r"`([^`…]+)`")
_VALUES = re.compile(r"\$?\d[\w.:/%]*+|(?<!\w)\w++\[[^\[\]]*+\]")


def _filled_help(span: SourceSpan, help: str) -> tuple[str, Fix | None]:
    """A help line and the edit that it says. One that shows the form of a statement by an example says it
    with the values of the statement around the place, where all of them fit the form."""
    own = _fix_that_help_says(span, help)
    if own is not None or not help.startswith(
        ("the form is `", "write `", "known here", "such as `", "`", "it ")
    ):
        return help, own
    text = span.file.text
    begin = max(text.rfind(c, 0, span.start) for c in "\n;{}") + 1
    said = _STATEMENT.match(text, begin)
    written = said[0].strip() if said is not None else ""
    begin += len(said[0]) - len(said[0].lstrip()) if said is not None else 0
    for form in (*_SHOWN.findall(help), *forms_of_setting(text, span.start)):
        if help.startswith("write") and any(value in written for value in _VALUES.findall(form)):
            break  # no example: it is what to write here
        new = said_in_form(form.partition(" {")[0], written)
        if new:
            at = SourceSpan(span.file, begin, begin + len(written))
            return f"write `{new}`", Fix(f"write `{new}`", ((at, new),), safe=False)
    return _help_that_keeps_all(written, help), None


def _help_that_keeps_all(written: str, help: str) -> str:
    """A help line that writes the beginning of a statement, with what is to become of the rest."""
    found = _TO_WRITE.fullmatch(help)
    rest = written.removeprefix(found[1]).strip() if found is not None else ""
    if rest.startswith("["):  # the index of a path
        return help
    if not rest or rest == written or found is None or not re.search(r"\d|[A-Z]{2}|\[", rest):
        return help
    return f"{help}: `{rest}` does not fit behind it"


class Excused(Exception):
    """Something rests on what is already reported as broken: nothing more to say."""


@dataclass(slots=True)
class _Looks:
    """How many names unknown ones were held against, since the text was begun."""

    taken: int = 0


_looks = _Looks()


_WORDS_ONLY = ("role", "medium", "type", "pattern", "heat sink", "kind of model", "kind of address")
"""What is one of the language's words, which no design declares."""
NOTHING_MEANT: Mapping[str, str] = {}


def reset_name_suggestions() -> None:
    """A new text: look for names like its unknown ones again."""
    _looks.taken = 0


def closest_known_name(name: str, known: Iterable[str]) -> str:
    """The known name most like this one, or "". In a text of very many unknown names only the first ones are
    looked for."""
    candidates = set(known)
    _looks.taken += len(candidates)
    if _looks.taken > LOOKS:
        return ""
    return closest_name(name, candidates)


def known_names_help(known: Iterable[str]) -> str:
    """``known here: `a`, `b` …``: the first of some names in their order; "" where there are none."""
    names = nsmallest(9, set(known))
    shown = ", ".join(f"`{n}`" for n in names[:8]) + (" …" if len(names) > 8 else "")
    return f"known here: {shown}" if names else ""


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
    known = set(known)
    as_written = span.text == name
    setting = code == "E0118" or what in ("setting of a job", "setting of a transformer")
    if setting and as_written and (lost := _fault_of_lost_word(span, what, known)) is not None:
        return lost
    message = f"there is no {what} `{name}` here"
    if setting and name in ("no", "not", "undo", "unset") and as_written:
        message += f": `{name}` takes back nothing"
        return Fault(
            code,
            span,
            message,
            help=f"remove `{name}` and what follows it: what is not written does not hold",
        )
    near = _name_meant(code, name, known, meant)
    if near and near != name:
        fix = Fix(f"write `{near}`", ((span, near),), safe=False) if as_written else None
        return Fault(code, span, message, help=f"did you mean `{near}`?", fix=fix)
    if code == "E0101" and as_written and what not in _WORDS_ONLY:
        from tdsl.semantics.lost_words import declared_elsewhere_fault

        if (declared := declared_elsewhere_fault(span, what, message)) is not None:
            return declared
    return Fault(code, span, message, help=extra_help or known_names_help(known))


def _fault_of_lost_word(span: SourceSpan, what: str, known: Collection[str]) -> Fault | None:
    """The fault of a first word that has another meaning than that of a name; None where it has none."""
    from tdsl.semantics.lost_words import (
        end_before_value_fault,
        exchanged_setting_fault,
        hyphen_in_setting_fault,
        members_without_word_fault,
        setting_of_other_block_fault,
        value_alone_fault,
    )

    return (
        end_before_value_fault(span, what, known)
        or members_without_word_fault(span, what, known)
        or exchanged_setting_fault(span, what, known)
        or value_alone_fault(span, what, known)
        or hyphen_in_setting_fault(span, what, known)
        or setting_of_other_block_fault(span, what, known)
    )


def _name_meant(code: str, name: str, known: Collection[str], meant: Mapping[str, str]) -> str:
    """The known name that another word is for, or that is nearest; "" where none is."""
    near = meant.get(name.lower(), "") or meant.get(re.sub(r"^(max|min)_?", "", name.lower()), "")
    if near in known:
        return near
    return name_of_word_elsewhere(name, known, code == "E0118") or closest_known_name(name, known)
