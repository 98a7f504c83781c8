"""What is found in a text: names at once, and everything, with facts for hovers and hints, once it is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tdsl import catalogue, compiler
from tdsl.allowances import FOREVER, Allowances
from tdsl.compiler import Options
from tdsl.config import ConfigError, load
from tdsl.diagnostic import Diagnostic, Diagnostics, Severity, gather
from tdsl.ide.facts import Fact, Placed, facts, parameters, placed


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found in a file, what is known of its places, and its device sets. ``wrong`` is why the call could not be
    answered, or ""."""

    findings: tuple[Diagnostic, ...] = ()
    facts: tuple[Fact, ...] = ()
    sets: tuple[Placed, ...] = ()
    wrong: str = ""


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


def names(question: Question) -> Judgement:
    """What the text alone shows: syntax and names. Nothing is wired and nothing proved."""
    try:
        asked = options(question)
        settings, found = compiler.parameters(question.path, asked)
    except (compiler.UsageError, ConfigError) as wrong:
        return Judgement(wrong=str(wrong))
    settled = Allowances(asked.severities)
    for file in {id(d.span.file): d.span.file for d in found if d.span is not None}.values():
        settled.read(file, Diagnostics())
    return Judgement(tuple(gather(settled.settle(found))), tuple(parameters(settings, question.path)))


def everything(question: Question) -> Judgement:
    """All that ``tdsl check`` says."""
    try:
        result = compiler.check(question.path, options(question))
    except (compiler.UsageError, ConfigError) as wrong:
        return Judgement(wrong=str(wrong))
    # The printed form of a span's file is all that is needed elsewhere; what a chain of labels repeats is told once.
    findings = tuple(replace(d, labels=tuple(dict.fromkeys(d.labels))) for d in result.findings)
    return Judgement(findings, tuple(facts(result)), tuple(p for d in result.designs for p in placed(d)))
