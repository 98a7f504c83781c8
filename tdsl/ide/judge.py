"""What is found in a text: names at once, and everything, with facts for hovers and hints, once it is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path

from tdsl.compile import compiler
from tdsl.compile.compiler import Options
from tdsl.compile.reuse import Kept
from tdsl.compile.waivers import FOREVER, Allowances
from tdsl.config import ConfigError, load
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity, gather
from tdsl.ide import shelf
from tdsl.ide.facts import Fact, Placed, facts, lens, parameters, placed
from tdsl.ide.rename import Index
from tdsl.semantics.loader import DECLARED
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found in a file, what is known of its places, and its device sets. ``wrong`` is why the call could not be
    answered, or ""."""

    findings: tuple[Diagnostic, ...] = ()
    facts: tuple[Fact, ...] = ()
    sets: tuple[Placed, ...] = ()
    wrong: str = ""
    lenses: tuple[tuple[str, str], ...] = ()  # name of a fabric -> its figures in a line
    last: bool = True  # whether no further judgement of this text follows


@dataclass(frozen=True, slots=True)
class Question:
    """A file and the texts of open buffers, by resolved path."""

    path: str
    overlay: Mapping[str, str] = field(default_factory=dict)


def options(question: Question) -> Options:
    """The compiler's options, those of the project's ``tdsl.toml`` with them. Raises ConfigError."""
    config = load(Path(question.path).parent)
    severities = {}
    for name, word in config.severities.items():
        page = catalogue.find(name)
        if page is None or page.code.startswith(FOREVER):
            raise config.fault(f"`[severity]`: there is no finding `{name}` whose severity can be set")
        severities[page.name] = Severity[word.upper()]
    return Options(paths=config.path, overlay=question.overlay, severities=severities)


def index(question: Question, folders: Iterable[Path]) -> Index:
    """The names of some folders' files, with the texts of open buffers. What is wrong in ``tdsl.toml`` is told elsewhere."""
    try:
        paths = options(question).paths
    except ConfigError:
        paths = ()
    return Index(tuple(folders), paths, question.overlay)


def names(question: Question) -> Judgement:
    """What the text alone shows: syntax and names. Nothing is wired and nothing proved."""
    try:
        parsed = shelf.lend(question.overlay)
        asked = replace(options(question), parsed=parsed)
        settings, found = compiler.parameters(question.path, asked)
        shelf.keep(parsed, question.overlay)
    except (compiler.UsageError, ConfigError) as wrong:
        return Judgement(wrong=str(wrong))
    settled = Allowances(asked.severities)
    for file in {id(d.span.file): d.span.file for d in found if d.span is not None}.values():
        settled.read(file, Diagnostics())
    return Judgement(tuple(d for d in gather(settled.settle(found)) if not _lends(d)), tuple(parameters(settings, question.path)))


def names_or_fault(question: Question) -> Judgement:
    """What the text alone shows; a fault of tdsl's own is what was wrong."""
    try:
        return names(question)
    except Exception as fault:  # the editor goes on, and is told
        return Judgement(wrong=f"internal error: {type(fault).__name__}: {fault}")


def stages(question: Question, kept: Kept | None = None) -> Iterator[Judgement]:
    """All that ``tdsl check`` says: what the wiring shows, then what each proof adds, the cheapest first, then everything.
    ``kept`` are fabrics of earlier texts."""
    try:
        parsed = shelf.lend(question.overlay)
        asked = replace(options(question), kept=kept, parsed=parsed)
        for result in compiler.stages(question.path, asked, every=True):
            shelf.keep(parsed, question.overlay)
            yield Judgement(_findings(result), last=False)
        yield _judged(result)
    except (compiler.UsageError, ConfigError) as wrong:
        yield Judgement(wrong=str(wrong))


def everything(question: Question) -> Judgement:
    """All that ``tdsl check`` says, once it is known."""
    *_, last = stages(question)
    return last


def _judged(result: compiler.Compilation) -> Judgement:
    """All that a compilation shows."""
    sets = tuple(p for d in result.designs for p in placed(d))
    return Judgement(_findings(result), tuple(facts(result)), sets, lenses=tuple((d.name, lens(d)) for d in result.judged))


def _findings(result: compiler.Compilation) -> tuple[Diagnostic, ...]:
    """The findings of a compilation. The printed form of a span's file is all that is needed elsewhere; what a chain of labels
    repeats is kept once."""
    return tuple(replace(d, labels=tuple(dict.fromkeys(d.labels))) for d in result.findings if not _lends(d))


def _lends(d: Diagnostic) -> bool:
    """Whether a finding is that a file declares no fabric, and the file is there to lend others what it declares."""
    if d.code != "E0122" or d.span is None:
        return False
    words = {m[0].split()[0] for m in DECLARED.finditer(d.span.file.text)}
    return bool(words) and not words & {"fabric", "cluster"}
