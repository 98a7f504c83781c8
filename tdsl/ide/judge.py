"""What is found in a text: names at once, and everything, with facts for hovers and hints, once it is
compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import count
from pathlib import Path

from tdsl.compile import compiler
from tdsl.compile.request import Request
from tdsl.compile.session import EditorSession
from tdsl.compile.waivers import FOREVER, Allowances
from tdsl.config import ConfigError, load_config
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity, merge_equal_findings
from tdsl.ide.facts import (
    Fact,
    Placed,
    device_sets_of_design,
    fabric_lens_text,
    facts_of_compilation,
    facts_of_parameters,
)
from tdsl.ide.quoted_fixes import fixes_from_help
from tdsl.ide.rename import RenameIndex
from tdsl.semantics.loader import DECLARED
from tdsl.system.lazy_dataclass import dataclass

FIXED_TEXTS, FIXED_LINKS = 24, 5_000
"""Texts that are compiled to see which words of a help mend a finding, and links of the designs for which
that is done: about a second."""


@dataclass(frozen=True, slots=True)
class TextJudgement:
    """What was found in a file, what is known of its places, and its device sets. ``wrong`` is why the call
    could not be answered, or ""."""

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


def options_of_question(question: Question) -> Request:
    """The compiler's options, those of the project's ``tdsl.toml`` with them. Raises ConfigError."""
    config = load_config(Path(question.path).parent)
    severities = {}
    for name, word in config.severities.items():
        page = catalogue.find_page(name)
        if page is None or page.code.startswith(FOREVER):
            raise config.fault(f"`[severity]`: there is no finding `{name}` whose severity can be set")
        severities[page.name] = Severity[word.upper()]
    return Request(paths=config.path, overlay=question.overlay, severities=severities)


def rename_index(question: Question, folders: Iterable[Path]) -> RenameIndex:
    """The names of some folders' files, with the texts of open buffers. What is wrong in ``tdsl.toml`` is
    reported elsewhere."""
    try:
        paths = options_of_question(question).paths
    except ConfigError:
        paths = ()
    return RenameIndex(tuple(folders), paths, question.overlay)


def judge_names(question: Question) -> TextJudgement:
    """What the text alone shows: syntax and names. Nothing is wired and nothing proved."""
    try:
        asked = options_of_question(question)
        settings, found = compiler.parameter_settings(question.path, asked, EditorSession())
    except (compiler.UsageError, ConfigError) as wrong:
        return TextJudgement(wrong=str(wrong))
    settled = Allowances(asked.severities)
    for file in {id(d.span.file): d.span.file for d in found if d.span is not None}.values():
        settled.read(file, Diagnostics())
    return TextJudgement(
        tuple(d for d in merge_equal_findings(settled.settle(found)) if not _is_library_without_fabric(d)),
        tuple(facts_of_parameters(settings, question.path)),
    )


def judge_names_or_fault(question: Question) -> TextJudgement:
    """What the text alone shows; a fault of tdsl's own is what was wrong."""
    try:
        return judge_names(question)
    except Exception as fault:  # the editor goes on, and gets a message
        return TextJudgement(wrong=f"internal error: {type(fault).__name__}: {fault}")


def judge_in_stages(question: Question, session: EditorSession | None = None) -> Iterator[TextJudgement]:
    """All that ``tdsl check`` says: what the wiring shows, then what each proof adds, the cheapest first,
    then everything. ``session`` keeps fabrics of earlier texts."""
    try:
        asked = options_of_question(question)
        wired: compiler.Compilation | None = None
        for result in compiler.compile_in_stages(
            question.path, asked, session or EditorSession(), every=True
        ):
            wired = wired or result
            yield TextJudgement(_findings_without_repeats(result), last=False)
        judged = _judgement_of_compilation(result)
        if wired is not None and _count_links(wired) <= FIXED_LINKS:
            judged = replace(judged, findings=_with_fixes(judged.findings, wired, question, asked))
        yield judged
    except (compiler.UsageError, ConfigError) as wrong:
        yield TextJudgement(wrong=str(wrong))


def _count_links(wired: compiler.Compilation) -> int:
    return sum(len(d.fabric.link_a) for d in wired.designs if d.fabric is not None)


def _with_fixes(
    findings: tuple[Diagnostic, ...], wired: compiler.Compilation, question: Question, asked: Request
) -> tuple[Diagnostic, ...]:
    """Findings, those that the wiring shows with fixes made of their help."""
    left = count(FIXED_TEXTS, -1)

    def recompile(text: str) -> list[Diagnostic] | None:
        if next(left) <= 0:
            return None
        request = replace(asked, overlay={**question.overlay, question.path: text})
        try:
            after = compiler.compile_without_checks(question.path, request)
        except compiler.UsageError:
            return None
        return [d for d in after.findings if not d.allowed]

    before = [d for d in wired.findings if not d.allowed]
    fixes = {
        (d.code, d.message, d.span.start): d.fix
        for d in fixes_from_help(before, question.path, recompile)
        if d.span is not None
    }
    return tuple(
        replace(d, fix=fixes.get((d.code, d.message, d.span.start)))
        if d.fix is None and d.span is not None and d.span.file.name == question.path
        else d
        for d in findings
    )


def _judgement_of_compilation(result: compiler.Compilation) -> TextJudgement:
    """All that a compilation shows."""
    sets = tuple(p for d in result.designs for p in device_sets_of_design(d))
    return TextJudgement(
        _findings_without_repeats(result),
        tuple(facts_of_compilation(result)),
        sets,
        lenses=tuple((d.name, fabric_lens_text(d)) for d in result.judged),
    )


def _findings_without_repeats(result: compiler.Compilation) -> tuple[Diagnostic, ...]:
    """The findings of a compilation. The printed form of a span's file is all that is needed elsewhere; what
    a chain of labels repeats is kept once."""
    return tuple(
        replace(d, labels=tuple(dict.fromkeys(d.labels)))
        for d in result.findings
        if not _is_library_without_fabric(d)
    )


def _is_library_without_fabric(d: Diagnostic) -> bool:
    """Whether a finding is that a file declares no fabric, and the file is there to lend others what it
    declares."""
    if d.code != "E0122" or d.span is None:
        return False
    words = {m[0].split()[0] for m in DECLARED.finditer(d.span.file.text)}
    return bool(words) and not words & {"fabric", "cluster"}
