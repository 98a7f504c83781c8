"""JUnit XML, as CI servers read it: a suite for each fabric, a case for each result, and one for each finding
beside them.

A failure is what makes `check` fail. Source: the schema of Jenkins' xUnit plugin (``junit-10.xsd``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.compile.sweep import Sweep
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic
from tdsl.report.formats import Report, finding_key
from tdsl.report.paint import terminal_safe_text
from tdsl.report.paths import finding_location, finding_text_in_full, relative_file_name
from tdsl.semantics.values import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree import ElementTree
    from xml.etree.ElementTree import Element

    from tdsl.compile.compilation import Design
    from tdsl.verify.result import Result

FORMAT = "junit"


def render(report: Report) -> str:
    """All designs as suites."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name="tdsl check")
    for compilation in report.compilations:
        several = isinstance(compilation, Sweep) and len(compilation.cases) > 1
        for design in compilation.judged:
            _add_suite_of_design(root, report, design, several)
        known = {finding_key(d) for design in compilation.judged for d in design.findings}
        rest = [d for d in _failing_findings(report, compilation.findings) if finding_key(d) not in known]
        if rest:  # of all combinations of the parameters together
            suite = ElementTree.SubElement(
                root, "testsuite", name=_xml_text(relative_file_name(compilation.file))
            )
            _close_suite(suite, "", compilation.file, rest, 0)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_suite_of_design(root: Element, report: Report, design: Design, several: bool) -> None:
    """A suite with a case for each result of a design, whose name tells its parameters where there are
    ``several`` combinations of them."""
    from xml.etree import ElementTree

    values = ", ".join(f"{k} = {text_of(v)}" for k, v in design.parameters.items()) if several else ""
    name = f"{design.name} ({values})" if values else design.name
    suite = ElementTree.SubElement(
        root, "testsuite", name=_xml_text(f"{relative_file_name(design.file)} {name}")
    )
    results, blame = _results_with_findings(design.results, _failing_findings(report, design.findings))
    for result, faults in results:
        reason = result.reason if result.status == "skipped" else ""
        case = _add_test_case(suite, design.name, _test_case_title(result), faults, reason)
        if result.partial and result.requirement is not None:
            ElementTree.SubElement(case, "system-out").text = f"{result.judged} of {result.of} judged"
    _close_suite(suite, design.name, design.file, blame, design.elapsed_s)


def _failing_findings(report: Report, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings that make `check` fail; what is allowed is below any bar."""
    return [d for d in findings if d.severity >= report.fail_on]


def _close_suite(
    suite: ElementTree.Element, fabric: str, file: str, blame: Sequence[Diagnostic], seconds: float
) -> None:
    """Add a case for each finding beside the results, and the counts."""
    for d in blame:
        name, line, *_ = finding_location(file, d)
        _add_test_case(
            suite, fabric, f"{catalogue.finding_name(d.code)} {relative_file_name(name)}:{line}", [d]
        )
    for key, tag in (
        ("tests", "testcase"),
        ("failures", "testcase/failure"),
        ("skipped", "testcase/skipped"),
    ):
        suite.set(key, str(len(suite.findall(tag))))
    suite.set("errors", "0")
    suite.set("time", f"{seconds:.3f}")


def _results_with_findings(
    results: Sequence[Result], blamed: list[Diagnostic]
) -> tuple[list[tuple[Result, list[Diagnostic]]], list[Diagnostic]]:
    """Each result with the findings at its place, and the findings of none. A finding about several instances
    of a group is of those that do not meet the requirement."""
    places = {(r.origin.span, r.check) for r in results if r.origin is not None and r.requirement is not None}
    of_result = {id(d): (d.span, catalogue.finding_name(d.code)) for d in blamed}
    unmet = {
        (r.origin.span, r.check)
        for r in results
        if r.origin is not None and r.requirement is not None and not _is_met(r)
    }
    out = []
    for result in results:
        at = (
            (result.origin.span, result.check)
            if result.origin is not None and result.requirement is not None
            else None
        )
        mine = [d for d in blamed if of_result[id(d)] == at and (not _is_met(result) or at not in unmet)]
        out.append((result, mine))
    return out, [d for d in blamed if of_result[id(d)] not in places]


def _is_met(result: Result) -> bool:
    return result.status in ("proved", "modelled") and result.met


def _test_case_title(result: Result) -> str:
    scope = f" in {result.scope}" if result.scope else ""
    return f"{result.requirement or result.check}{scope}"


def _add_test_case(
    suite: ElementTree.Element, fabric: str, title: str, faults: list[Diagnostic], skipped: str = ""
) -> ElementTree.Element:
    from xml.etree import ElementTree

    case = ElementTree.SubElement(suite, "testcase", classname=_xml_text(fabric), name=_xml_text(title))
    for d in faults:
        failure = ElementTree.SubElement(case, "failure", type=d.code, message=_xml_text(d.message))
        name, line, column, *_ = finding_location("", d)
        at = f"{relative_file_name(name)}:{line}:{column}: " if d.span is not None else ""
        failure.text = _xml_text(f"{at}{d.code}\n{finding_text_in_full(d)}")
    if skipped and not faults:
        ElementTree.SubElement(case, "skipped", message=_xml_text(skipped))
    return case


def _xml_text(text: str) -> str:
    """Text without what XML cannot hold."""
    return "\n".join(terminal_safe_text(line) for line in text.split("\n"))
