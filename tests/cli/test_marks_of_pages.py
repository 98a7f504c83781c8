"""What a page of a design shows besides its fabric: figures, results, and the marks of what failed or was found."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.commands import view
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.viewer.fabric_page import ViewerMark, rows_of_mask
from tests.cli.run import SMALL, tdsl, write


def design(**given: Any) -> Any:
    """A design of which only the named facts are known."""
    return SimpleNamespace(**{"failed": None, "results": [], "findings": [], **given})


def result(check: str, text: str = "") -> Any:
    return SimpleNamespace(check=check, text=text)


def test_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The failed set, the cut of the bisection where it was checked and crosses links, and warnings and errors."""
    cut = np.array([3, 5])
    monkeypatch.setattr(view, "_links_of_smallest_cut", lambda _: cut)
    found = [Diagnostic("E0101", f"m{s}", None, help=f"h{s}", severity=s) for s in Severity]
    of_cut = [ViewerMark("cut", "Bisection cut", "half", links=cut)]
    told = [
        ViewerMark("finding", f"E0101: m{s}", f"h{s}", severity=s.word) for s in (Severity.WARNING, Severity.ERROR)
    ]  # fmt: skip
    results = [result("diameter", "2"), result("bisection", "half"), result("bisection", "other")]

    def shown(marks: list[ViewerMark]) -> list[str]:
        return [repr(m) for m in marks]

    given = design(results=results, findings=sorted(found, key=lambda d: d.severity))
    assert shown(view._marks_for_page(given, True)) == shown([*of_cut, *told])
    assert shown(view._marks_for_page(given, False)) == shown(told)
    assert view._marks_for_page(design(results=results[:1]), True) == view._marks_for_page(design(), True) == []
    cut = cut[:0]
    assert shown(view._marks_for_page(given, True)) == shown(told)
    for names, title in ((("a", "b", "c"), "Failed: a, b, c"), (("a", "b", "c", "d"), "Failed: a, b, c …")):
        failed = SimpleNamespace(names=names, devices=np.array([1, 2]), links=np.array([4]))
        (mark,) = view._marks_for_page(design(failed=failed), True)
        wanted = ViewerMark("failed", title, "", rows_of_mask(failed.devices), rows_of_mask(failed.links), "error")
        assert repr(mark) == repr(wanted)


def test_figures_and_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that are not 0; totals; the capacity in terabits; requirements by their own words."""
    from tdsl.verify import summary

    said = {"hosts": 4, "planes": 0, "links": {"total": 9, "classes": {}}, "cables": {}, "injection_bps": 1.25e12, "x": "y"}
    monkeypatch.setattr(summary, "fabric_summary", lambda _: said)
    results = [
        SimpleNamespace(status="proved", requirement=asked, check="diameter", text=text, reason="why")
        for asked, text in ((None, "2"), ("d <= 2", ""))
    ]
    found: Any = view._facts_for_page(design(fabric=1, results=results))
    figures = {str(k).lower(): v for k, v in found["figures"].items()}
    assert [v for v in figures.values() if v in (0, None, {})] == []
    assert {"4", "9", "1.25 tb/s", "y"} == {str(v).lower() for v in figures.values()}
    assert found["results"] == [
        {"status": "proved", "name": "diameter", "text": "2", "required": False},
        {"status": "proved", "name": "d <= 2", "text": "why", "required": True},
    ]


def test_where_the_page_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into FILE.html here, or where it is asked for; its title is the fabric's, and the file's where there are several."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    small = SMALL.replace("node[nodes]:", "node[1]:")
    write(tmp_path / "in", small.replace("fabric small", 'fabric small "Our <title>"'), "titled.fab")
    write(tmp_path / "in", small, "plain.fab")
    write(tmp_path / "in", "model switch S { port p[2]: 100Gbps }\n" + "".join(
        f"fabric {n} {{ switch s[2]: S; connect s[*] each }}\n" for n in "fg"
    ), "two.fab")  # fmt: skip
    for name, title in (("titled", "Our &lt;title&gt;"), ("plain", "small"), ("two", "two")):
        done = tdsl("view", f"in/{name}.fab", "--no-open")
        assert done.exit_code == 0 and re.fullmatch(rf"{name}\.html: \d+\.\d MB\n", done.stderr), done.output
        assert re.search(rf"<title>{re.escape(title)}[ <]", (tmp_path / f"{name}.html").read_text()), name
    assert tdsl("view", "in/plain.fab", "--no-open", "-o", "here.html").stderr.startswith("here.html: ")
    opened: list[str] = []

    def browser(uri: str) -> bool:
        opened.append(uri)
        return len(opened) > 1

    monkeypatch.setattr("webbrowser.open", browser)
    assert "no browser was found: open here.html" in tdsl("view", "in/two.fab", "-o", "here.html").stderr
    assert "no browser" not in tdsl("view", "in/two.fab", "-o", "here.html").stderr
    assert opened == [(tmp_path / "here.html").as_uri()] * 2
    done = tdsl("view", "-", "--no-open", stdin=small.replace("connect leaf", "connect lief"))
    assert done.exit_code == 1
