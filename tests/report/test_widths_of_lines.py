"""Where the lines of reports are broken: one character less than there is room for, as many, and one more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report import terminal
from tdsl.report.paint import Paint

PLAIN = Paint(False)


def words(size: int) -> str:
    """A text of two words of a size in all."""
    return "x" * (size - 3) + " yy"


def design(**given: Any) -> Any:
    """A design of which only the named facts are known."""
    facts: dict[str, Any] = {
        "name": "f", "parameters": {}, "phase": "", "needed": "", "file": "a.fab", "results": [], "losses": lambda: None,
        "consists": lambda: {"hosts": 2},
    }  # fmt: skip
    return SimpleNamespace(**{"members": (), **facts, **given})


def test_what_failed() -> None:
    """Names, devices and links, two blanks before each line, no line wider than asked and none narrower than 40."""
    tail = " (1 device, 1,234 links)"
    for width, room in ((70, 68), (80, 78), (42, 40), (41, 40), (30, 40), (43, 41)):
        for more in (-1, 0, 1):
            name = "n" * (room + more - len("failed: " + tail))
            lines = terminal.design_outcome(design(losses=lambda name=name: ([name], 1, 1234)), PLAIN, width).split("\n")
            assert lines[0] == "f  a.fab"
            if more <= 0:
                assert lines[1] == f"  failed: {name}{tail}" and lines[2] == ""
            else:
                assert lines[1] == f"  failed: {name} (1 device, 1,234" and lines[2:4] == ["  links)", ""]
    (line,) = [
        x for x in terminal.design_outcome(design(losses=lambda: (["a", "b"], 2, 0)), PLAIN, 90).split("\n") if "failed" in x
    ]
    assert line == "  failed: a, b (2 devices, 0 links)"


def test_heading_of_a_design() -> None:
    assert terminal.design_outcome(design(parameters={"n": 2, "k": True}, phase="2", needed="soon"), PLAIN, 90).split("\n") == [
        "f (n = 2, k = true)  phase 2, needed soon  a.fab", "", "  hosts         2", "  accelerators  -", "  endpoints     -",
        "  switches      -",
    ]  # fmt: skip
    assert terminal.design_outcome(design(phase="1"), PLAIN, 90).split("\n")[0] == "f  phase 1  a.fab"
    assert terminal.design_outcome(design(needed="soon"), PLAIN, 90).split("\n")[0] == "f  a.fab"


@pytest.mark.parametrize(("width", "room"), [(60, 30), (75, 30), (76, 30), (90, 31), (100, 36)])
def test_answers_beside_what_was_asked(width: int, room: int) -> None:
    """What was asked takes half the width at most; the answer stands beside it, or below it where that is longer."""
    half = width // 2
    assert max(width - 6 - 8 - half, 30) == room
    for size in (half, half + 1):
        what = "w" * size
        for more in (-1, 0, 1):
            lines = terminal.verdict_columns([("proved", what, words(room + more), False)], PLAIN, width)
            first, *rest = lines
            told = [words(room + more)] if more <= 0 else ["x" * (room + more - 3), "yy"]
            blanks = " " * (6 + 8 + half)
            if size == half:
                assert first == f"  proved    {what}  {told[0]}" and rest == [blanks + t for t in told[1:]]
            else:
                assert first == f"  proved    {what}" and rest == [blanks + t for t in told]
    assert terminal.verdict_columns([("proved, confirmed by x", "a", "b", True), ("skipped", "漢", "", True)], PLAIN, width) == [
        "  proved, confirmed by x  a   b", "  skipped                 漢",
    ]  # fmt: skip
    assert terminal.verdict_columns([], PLAIN, width) == []


def test_what_is_allowed() -> None:
    """With its place where it has one; lines of 10 characters less, and no less than 40."""
    file = SourceFile("a.fab", "one\ntwo\n")
    for width, room in ((80, 70), (51, 41), (50, 40), (49, 40), (20, 40)):
        for more in (-1, 0, 1):
            head = "oversubscription at a.fab:2:  (m m)"
            reason = "r" * (room + more - len(head))
            d = Diagnostic("E0405", "m m", SourceSpan(file, 4, 7), severity=Severity.ALLOWED, allowed=reason)
            first, *rest = terminal.allowed_finding_lines(d, "b.fab", PLAIN, width)
            text = f"oversubscription at a.fab:2: {reason} (m"
            assert (first, rest) == ((f"allowed   {text} m)", []) if more <= 0 else (f"allowed   {text}", ["          m)"]))
    assert terminal.allowed_finding_lines(Diagnostic("E0405", "m", None, allowed="r"), "b.fab", PLAIN, 80) == [
        "allowed   oversubscription at b.fab: r (m)"
    ]


def test_tails_of_findings() -> None:
    """Notes and help below the source, six characters in; the numbers without."""
    for head, indent in (("note: ", 6), ("", 0)):
        for gutter in ("  ", "    "):
            for width, room in ((80, 80 - len(gutter) - 2 - indent), (45, max(43 - len(gutter) - indent, 40))):
                for more in (-1, 0, 1):
                    found = terminal._note_lines(gutter, head, words(room + more), PLAIN, width)
                    one = [f"{gutter}= {head}{words(room + more)}"]
                    two = [f"{gutter}= {head}{'x' * (room + more - 3)}", f"{gutter}  {' ' * indent}yy"]
                    assert found == (one if more <= 0 else two)


def test_summaries_of_unexpected_kinds() -> None:
    """What is no number or mapping is left out or shown as it is."""
    lines = terminal.summary_lines({"tiers": 5, "hosts": "many", "other_hosts": "x", "links": 3, "injection_bps": "fast"}, PLAIN)
    assert lines == ["  hosts         many", "  accelerators     -", "  endpoints        -", "  switches         -"]
    assert (
        terminal._named_counts_text({}) == terminal._named_counts_text(None) == terminal._named_counts_text([1]) == ""
        and terminal._named_counts_text({"a": 1}) == "a 1"
    )
    assert (
        terminal.rate_in_bps_text(0) == "0 bps"
        and terminal.rate_in_bps_text(999.5) == "999.5 bps"
        and terminal.rate_in_bps_text(1000) == "1 kbps"
    )
    assert (
        terminal.rate_in_bps_text(1e15) == "1 Pbps"
        and terminal.rate_in_bps_text(1234.5e15) == "1,234 Pbps"
        and terminal.rate_in_bps_text(999.9e12) == "999.9 Tbps"
    )


def test_closing_line() -> None:
    """Up to five further codes that have pages, notes not among them."""

    def closing(*found: Diagnostic) -> list[str]:
        report: Any = SimpleNamespace(findings=found, elapsed_s=1.26, coverage=(2, 2), compilations=())
        return terminal.closing_lines(report, PLAIN).split("\n")

    codes = ("E0101", "E0102", "E0103", "E0104", "E0105", "E0106", "E0107")
    many = [Diagnostic(c, "", None, severity=Severity.ERROR) for c in codes]
    assert closing(*reversed(many), many[0]) == [
        "8 errors in 1.3 s",
        "tdsl explain E0101 says more; also E0102, E0103, E0104, E0105, E0106",
    ]
    assert closing(many[1]) == ["1 error in 1.3 s", "tdsl explain E0102 says more"]
    warning, note = (Diagnostic("E0101", "", None, severity=s) for s in (Severity.WARNING, Severity.NOTE))
    assert closing(warning, warning, note) == ["no errors, 2 warnings, 1 note in 1.3 s", "tdsl explain E0101 says more"]
    assert closing(note) == ["no errors, 1 note in 1.3 s"] and closing() == ["no errors in 1.3 s"]
    assert closing(Diagnostic("E9999", "", None)) == ["1 error in 1.3 s"]


def test_all_values_of_parameters() -> None:
    """Checks that are passed over for one reason share a line where there are more than two; equal lines are one."""

    def verdict(status: str, what: str, answer: str, bare: bool = True) -> Any:
        return SimpleNamespace(status=status, what=what, answer=answer, bare=bare)

    few = [verdict("skipped", f"few{k}", "no links") for k in range(2)]
    many = [verdict("skipped", f"many{k}", "no hosts") for k in range(3)]
    asked = [verdict("skipped", f"asked{k}", "no hosts", False) for k in range(2)]
    good = [verdict("proved", "diameter", "no hosts"), verdict("proved", "diameter", "no hosts")]
    sweep: Any = SimpleNamespace(verdicts=lambda: {"f": [*few, *many, *asked, *good], "g": []}, file="a.fab", extent="all 4")
    assert terminal.sweep_outcome(sweep, PLAIN, 80).split("\n") == [
        "f  a.fab", "all 4", "", "  skipped   few0      no links", "  skipped   few1      no links",
        "  skipped   3 checks  no hosts", "  skipped   asked0    no hosts", "  skipped   asked1    no hosts",
        "  proved    diameter  no hosts", "", "g  a.fab", "all 4", "",
    ]  # fmt: skip
    none: Any = SimpleNamespace(verdicts=dict, file="a.fab", extent="no values")
    assert terminal.sweep_outcome(none, PLAIN, 80) == "no values"


def test_verdicts_of_one_reason() -> None:
    """Three checks that are passed over for one reason share a line; requirements stand alone."""

    def result(status: str, check: str, reason: str, requirement: str | None = None, scope: str = "", second: Any = None) -> Any:
        return SimpleNamespace(
            status=status, check=check, reason=reason, requirement=requirement, scope=scope, text="", second_opinion=second or {},
            partial=False,
        )  # fmt: skip

    lines = terminal.verdict_lines(
        [
            *(result("skipped", f"few{k}", "no links") for k in range(2)),
            *(result("skipped", f"many{k}", "no hosts") for k in range(3)),
            *(result("skipped", f"asked{k}", "no hosts", f"asked{k} >= 1") for k in range(3)),
            *(result("refuted", "ports", "no hosts", "ports == 8", f"s[{k}]") for k in range(3)),
            result("refuted", "links", "2", None, "one"),
            result("proved", "cost", "7", second={"verdict": "unconfirmed", "reason": "too large"}),
            result("proved", "power", "8", second={"verdict": "confirmed", "by": ["x", "y"]}),
            result("proved", "mass", "9", second={"verdict": "disagrees", "by": "x"}),
        ],
        PLAIN, 100,
    )  # fmt: skip
    assert lines == [
        "  skipped                       few0         no links",
        "  skipped                       few1         no links",
        "  skipped                       3 checks     no hosts",
        "  skipped                       asked0 >= 1  no hosts",
        "  skipped                       asked1 >= 1  no hosts",
        "  skipped                       asked2 >= 1  no hosts",
        "  refuted                       ports == 8   no hosts in s[0] and 2 more",
        "  refuted                       links        2 in one",
        "  proved                        cost         7; not confirmed: too large",
        "  proved, confirmed by x and y  power        8",
        "  proved, but not so by         mass         9",
    ]
