"""JUnit XML, as CI servers read it: a suite for each fabric, a case for each result, and one for each finding beside them.

A failure is what makes `check` fail. Source: the schema of Jenkins' xUnit plugin (``junit-10.xsd``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl import catalogue
from tdsl.diagnostic import Diagnostic
from tdsl.report.formats import Report
from tdsl.report.paint import tame
from tdsl.report.places import place, relative, whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree import ElementTree

    from tdsl.verify.result import Result

FORMAT = "junit"


def render(report: Report) -> str:
    """All designs as suites."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name="tdsl check")
    for compilation in report.compilations:
        findings: dict[str, list[Diagnostic]] = {}
        for file, d in compilation.told():  # what is allowed is below any bar
            findings.setdefault(file, []).append(d)
        for design in compilation.judged:
            mine = [d for d in findings.get(design.file, ()) if d in design.findings]
            suite = ElementTree.SubElement(root, "testsuite", name=_clean(f"{relative(design.file)} {design.name}"))
            blamed = [d for d in mine if d.severity >= report.fail_on]
            results, blame = _sorted(design.results, blamed)
            for result, faults in results:
                case = _case(suite, design.name, _title(result), faults, result.reason if result.status == "skipped" else "")
                if result.partial and result.requirement is not None:
                    ElementTree.SubElement(case, "system-out").text = f"{result.judged} of {result.of} judged"
            for d in blame:
                name, line, *_ = place(design.file, d)
                _case(suite, design.name, f"{catalogue.name_of(d.code)} {relative(name)}:{line}", [d])
            for key, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped")):
                suite.set(key, str(len(suite.findall(tag))))
            suite.set("errors", "0")
            suite.set("time", f"{design.elapsed_s:.3f}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _sorted(
    results: Sequence[Result], blamed: list[Diagnostic]
) -> tuple[list[tuple[Result, list[Diagnostic]]], list[Diagnostic]]:  # fmt: skip
    """Each result with the findings at its place, and the findings of none."""
    left = list(blamed)
    out = []
    for result in results:
        span = result.origin.span if result.origin is not None and result.requirement is not None else None
        mine = [d for d in left if span is not None and d.span == span and catalogue.name_of(d.code) == result.check]
        left = [d for d in left if d not in mine]
        out.append((result, mine))
    return out, left


def _title(result: Result) -> str:
    scope = f" of {result.scope}" if result.scope and result.requirement is None else ""
    return result.requirement or f"{result.check}{scope}"


def _case(
    suite: ElementTree.Element, fabric: str, title: str, faults: list[Diagnostic], skipped: str = ""
) -> ElementTree.Element:  # fmt: skip
    from xml.etree import ElementTree

    case = ElementTree.SubElement(suite, "testcase", classname=_clean(fabric), name=_clean(title))
    for d in faults:
        failure = ElementTree.SubElement(case, "failure", type=d.code, message=_clean(d.message))
        name, line, column, *_ = place("", d)
        at = f"{relative(name)}:{line}:{column}: " if d.span is not None else ""
        failure.text = _clean(f"{at}{d.code}\n{whole(d)}")
    if skipped and not faults:
        ElementTree.SubElement(case, "skipped", message=_clean(skipped))
    return case


def _clean(text: str) -> str:
    """Text without what XML cannot hold."""
    return "\n".join(tame(line) for line in text.split("\n"))
