"""``tdsl check --scenarios FILE``: a fabric judged again and again, each time without the elements of one
line."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
    kept: list[dict[str, object]] = []
    said: list[str] = []
    broken = 0
    for design in designs:
        wrong, count, partly = 0, 0, 0
        waiting: deque[ScenarioLine] = deque()
        for outcome in _outcomes_of_design(design, _failures_of_lines(design, lines, always, waiting), asked):
            line, count, wrong = waiting.popleft(), count + 1, wrong + (not outcome.ok)
            partly += outcome.judged < outcome.of or any(a.judged < a.of for a in outcome.answers)
            if output_format == "json":
                kept.append(_scenario_facts(design, line, outcome))
                continue
            said += [f"{path}:{line.number}: {text}\n" for text in _scenario_finding_lines(outcome)]
            if output is None:
                write_to_stream("".join(said))
                said.clear()
        broken += wrong
        good = f"{count - wrong:,} of {count:,} scenarios keep every requirement of {design.name}"
        less = f"; in {partly:,} of them not all that is asked was judged" if partly else ""
        said += [f"{good}{less}\n"] if count else []
    clusters = []
    for cluster in (d for c in compilations for d in c.clusters if d.fabric is not None):
        answers, found = _cluster_results_as_designed(cluster, asked)
        wrong = any(d.severity is Severity.ERROR for d in found)
        broken += wrong
        clusters.append(
            {
                "fabric": cluster.name,
                "ok": not wrong,
                "results": [r.facts() for r in answers if r.requirement],
            }
        )
        said += [
            f"{d.severity.word}[{d.code}]: {' '.join(d.message.split())}, whatever fails\n" for d in found
        ]
    if output_format == "json":
        from tdsl.report.json_report import SCHEMA, dump_json

        more = {"clusters": clusters} if clusters else {}
        said = [dump_json({"schema": SCHEMA, "file": str(path), "scenarios": kept, **more})]
    if output is None:
        write_to_stream("".join(said))
    else:
        save_text("".join(said), output)
    return FOUND if broken else OK


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
        first = f" (first of {d.count})" if d.count > 1 else ""
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
