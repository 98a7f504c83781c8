"""``tdsl check --scenarios FILE``: a fabric judged again and again, each time without the elements of one
line."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.commands._shared import FOUND, OK, Wrong, compile_sources, save_text, show_findings, write_to_stream
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.compile.compiler import Design, Request
    from tdsl.fabric.failed import FailedElements
    from tdsl.verify.result import Result
    from tdsl.verify.scenarios import ScenarioOutcome

FORMATS = ("full", "concise", "json")


@dataclass(frozen=True, slots=True)
class ScenarioLine:
    """A scenario as it is written: the line of the file, and its elements."""

    number: int
    elements: tuple[str, ...]


def read_scenarios_file(path: Path) -> list[ScenarioLine]:
    """The scenarios of a file: elements separated by commas, one scenario a line; `#` begins a comment."""
    from tdsl.system.read import read_argument_file

    try:
        lines = read_argument_file(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise Wrong(f"{path}: {getattr(fault, 'strerror', None) or 'this is not a text file'}") from None
    texts = [(n, text.partition("#")[0].strip()) for n, text in enumerate(lines, 1)]
    return [ScenarioLine(n, _elements_between_commas(text)) for n, text in texts if text]


def _elements_between_commas(text: str) -> tuple[str, ...]:
    """What commas separate, but not those in brackets (`node[(0, 1)]`)."""
    out, depth = [""], 0
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth <= 0:
            out.append("")
        else:
            out[-1] += c
    return tuple(e for x in out if (e := x.strip()))


@dataclass(slots=True)
class ScenarioReport:
    """What was found, in the format of the call."""

    path: Path
    """The file of the scenarios."""
    form: str
    """The format."""
    output: Path | None
    """The file of the report; standard output if None."""
    kept: list[dict[str, object]] = field(default_factory=list)
    """The outcomes, for JSON."""
    said: list[str] = field(default_factory=list)
    """Lines that are not printed yet."""
    broken: int = 0
    """How many scenarios break a requirement."""

    def add(self, design: Design, line: ScenarioLine, outcome: ScenarioOutcome) -> None:
        """Report the outcome of one scenario."""
        if self.form == "json":
            self.kept.append(_scenario_facts(design, line, outcome))
            return
        found = _scenario_finding_lines(outcome)
        self.said += [f"{self.path}:{line.number}: {text}\n" for text in found]
        if self.output is None:
            write_to_stream("".join(self.said))
            self.said.clear()

    def finish(self, clusters: list[dict[str, object]]) -> None:
        """Write what is not written yet."""
        if self.form == "json":
            from tdsl.report.json_report import SCHEMA, dump_json

            more = {"clusters": clusters} if clusters else {}
            whole = {"schema": SCHEMA, "file": str(self.path), "scenarios": self.kept, **more}
            self.said = [dump_json(whole)]
        if self.output is None:
            write_to_stream("".join(self.said))
        else:
            save_text("".join(self.said), self.output)


def judge_scenarios(
    sources: Sequence[str], path: Path, asked: Request, output_format: str, output: Path | None
) -> int:
    """Judge every scenario in every fabric that has its elements, and say which break a requirement; the exit
    status."""
    lines = read_scenarios_file(path)
    if not lines:
        raise Wrong(f"{path} names no scenario: write one a line, its elements separated by commas")
    always, asked = asked.fail, replace(asked, fail=())
    compilations = compile_sources(sources, asked, verify=False)
    if any(d.severity is Severity.ERROR for c in compilations for d in c.findings):
        show_findings(compilations, sys.stderr)
        return FOUND
    designs = [d for c in compilations for d in c.designs]
    _refuse_unknown_elements(designs, path, lines, always)
    report = ScenarioReport(path, output_format, output)
    for design in designs:
        _judge_scenarios_of_design(report, design, lines, always, asked)
    clusters = [
        _judge_cluster_as_designed(report, cluster, asked)
        for c in compilations
        for cluster in c.clusters
        if cluster.fabric is not None
    ]
    report.finish(clusters)
    return FOUND if report.broken else OK


def _judge_scenarios_of_design(
    report: ScenarioReport,
    design: Design,
    lines: Sequence[ScenarioLine],
    always: tuple[str, ...],
    asked: Request,
) -> None:
    """Judge the scenarios of one fabric; ``always`` are elements that fail in each."""
    wrong, count, partly = 0, 0, 0
    waiting: deque[ScenarioLine] = deque()
    for outcome in _outcomes_of_design(design, _failures_of_lines(design, lines, always, waiting), asked):
        line, count, wrong = waiting.popleft(), count + 1, wrong + (not outcome.ok)
        partly += outcome.judged < outcome.of or any(a.judged < a.of for a in outcome.answers)
        report.add(design, line, outcome)
    report.broken += wrong
    good = f"{count - wrong:,} of {count:,} scenarios keep every requirement of {design.name}"
    less = f"; in {partly:,} of them not all that is asked was judged" if partly else ""
    report.said += [f"{good}{less}\n"] if count else []


def _judge_cluster_as_designed(report: ScenarioReport, cluster: Design, asked: Request) -> dict[str, object]:
    """Judge the requirements of a cluster, which no failure changes; what JSON says of it."""
    answers, found = _cluster_results_as_designed(cluster, asked)
    wrong = any(d.severity is Severity.ERROR for d in found)
    report.broken += wrong
    report.said += [
        f"{d.severity.word}[{d.code}]: {' '.join(d.message.split())}, whatever fails\n" for d in found
    ]
    results = [r.facts() for r in answers if r.requirement]
    return {"fabric": cluster.name, "ok": not wrong, "results": results}


def _outcomes_of_design(
    design: Design, failures: Iterator[FailedElements], asked: Request
) -> Iterator[ScenarioOutcome]:
    from tdsl.prove.budget import budget_of_seconds
    from tdsl.verify.scenarios import outcomes_of_failures

    assert design.fabric is not None
    budget = budget_of_seconds(asked.check_seconds)
    yield from outcomes_of_failures(
        design.fabric, design.claims, failures, asked.select, asked.ignore, budget, asked.at_least
    )


def _cluster_results_as_designed(cluster: Design, asked: Request) -> tuple[Sequence[Result], Diagnostics]:
    """The answers of a cluster as a whole, which are about the design, and their findings."""
    from tdsl.verify.runner import judge_requirements

    assert cluster.fabric is not None
    found = Diagnostics()
    return judge_requirements(cluster.fabric, cluster.claims, found, asked.select, asked.ignore), found


def _failures_of_lines(
    design: Design, lines: Sequence[ScenarioLine], always: tuple[str, ...], waiting: deque[ScenarioLine]
) -> Iterator[FailedElements]:
    """What fails of a design in each scenario that has elements of it; the lines of these wait for their
    outcome."""
    assert design.failing is not None
    for line in lines:
        failed, _ = design.failing.fail((*always, *line.elements))
        if failed.names:
            waiting.append(line)
            yield failed


def _refuse_unknown_elements(
    designs: Sequence[Design], path: Path, lines: Sequence[ScenarioLine], always: tuple[str, ...]
) -> None:
    """An element that no fabric has is a wrong call."""
    for number, elements in ((0, always), *((line.number, line.elements) for line in lines)):
        absent = [design.failing.fail(elements)[1] for design in designs if design.failing is not None]
        for element in absent[0]:
            if all(element in each for each in absent):
                where = f"{path}:{number}" if number else "--fail"
                raise Wrong(f"{where}: {absent[0][element]}")


def _scenario_finding_lines(outcome: ScenarioOutcome) -> Iterator[str]:
    from tdsl.explain import catalogue

    for d in outcome.findings:
        first = f" ({d.others_in_words})" if d.others_in_words else ""
        what = (
            f"{d.severity.word}[{d.code}] {catalogue.finding_name(d.code)}: "
            f"{' '.join(d.message.split())}{first}"
        )
        yield f"{what}, without {', '.join(outcome.failed.names)}"


def _scenario_facts(design: Design, line: ScenarioLine, outcome: ScenarioOutcome) -> dict[str, object]:
    return {
        "line": line.number,
        "elements": list(outcome.failed.names),
        "fabric": design.name,
        "ok": outcome.ok,
        "judged": outcome.judged,
        "of": outcome.of,
        "results": [a.facts() for a in outcome.answers],
    }
