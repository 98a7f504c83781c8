"""Figures of designs in words, and read again: sums with parts that are unknown, shares, ratios, intervals; scenarios' lines."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.commands import _compared_figures, _scenarios
from tdsl.commands._ask import _model_name_from_text, _ratio_from_text
from tdsl.commands._compared_figures import number_of_figure
from tdsl.commands._shared import Wrong
from tdsl.physical.racks import PartialSum


def bound(known: Any, missing: int = 0) -> PartialSum:
    """A sum of which some terms are missing."""
    made: Any = SimpleNamespace(known=Fraction(known), missing=missing, exact=not missing)
    return made  # type: ignore[no-any-return]


def test_sums() -> None:
    assert (
        _compared_figures._bound_in_unit(bound(1500), 1000) == "1.5"
        and _compared_figures._bound_in_unit(bound(1500, 2), 1000) == ">=1.5"
    )
    assert _compared_figures._bound_in_unit(bound(0), 1000) == "0" and _compared_figures._bound_in_unit(bound(0, 1), 1000) == ""
    assert (
        _compared_figures._bound_in_unit(bound(1), Fraction(3)) == "0.333333"
        and _compared_figures._bound_in_unit(bound(7), 2) == "3.5"
    )
    assert (
        _compared_figures._share_of_sums(bound(1), bound(3)) == "33.33%"
        and _compared_figures._share_of_sums(bound(0), bound(3)) == "0%"
    )
    assert (
        _compared_figures._share_of_sums(bound(1, 1), bound(3))
        == _compared_figures._share_of_sums(bound(1), bound(3, 1))
        == _compared_figures._share_of_sums(bound(0), bound(0))
        == ""
    )


def test_answers() -> None:
    half = Fraction(1, 2)
    assert _compared_figures._check_answer_text((3, 2), None, None, "oversubscription") == "1.5:1"
    assert (
        _compared_figures._check_answer_text((3, 0), 2, 2, "oversubscription") == "2"
        and _compared_figures._check_answer_text(None, 2, 2, "diameter") == "2"
    )
    assert (
        _compared_figures._check_answer_text(None, half, half, "bisection") == "50%"
        and _compared_figures._check_answer_text(None, half, half, "diameter") == "0.5"
    )
    assert _compared_figures._check_answer_text(None, half, Fraction(3, 4), "bisection") == "50% to 75%"
    assert (
        _compared_figures._check_answer_text(None, 1, 2.5, "bisection") == "1 to 2.5"
        and _compared_figures._check_answer_text(None, "x", "x", "diameter") == ""
    )
    assert (
        _compared_figures._total_or_value({"total": 5}) == 5
        and _compared_figures._total_or_value({}) == ""
        and _compared_figures._total_or_value(None) == ""
        and _compared_figures._total_or_value(0) == 0
    )


def test_numbers_of_figures() -> None:
    assert [number_of_figure(x) for x in ("1.5:1", "50%", 3, "", ">=4", "1 to 2", None, "-2", "7%:1")] == [
        1.5, 0.5, 3.0, None, None, None, None, -2.0, 0.07,
    ]  # fmt: skip


def test_elements_of_a_line() -> None:
    """Commas separate, but not within brackets; a closing one too many counts for nothing."""
    assert _scenarios._elements_between_commas("a, b ,,c") == ("a", "b", "c") and _scenarios._elements_between_commas(" , ") == ()
    assert _scenarios._elements_between_commas("n[(0, 1)], m[0, 1], x") == ("n[(0, 1)]", "m[0, 1]", "x")
    assert _scenarios._elements_between_commas("a], b, c") == ("a]", "b", "c") and _scenarios._elements_between_commas(
        "a(b, c"
    ) == ("a(b, c",)


def test_lines_of_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text("# none\na, b  # two\n\n  c\n#d\ne#f\n")
    assert [(x.number, x.elements) for x in _scenarios.read_scenarios_file(path)] == [(2, ("a", "b")), (4, ("c",)), (6, ("e",))]
    path.write_bytes(b"\xff")
    for place, why in ((path, "this is not a text file"), (tmp_path / "none", "No such file or directory")):
        with pytest.raises(Wrong) as told:
            _scenarios.read_scenarios_file(place)
        assert told.value.message == f"{place}: {why}"


def test_elements_that_no_fabric_has() -> None:
    """An element is wrong where every fabric lacks it, at its line or in what always fails."""

    def lacking(*absent: str) -> Any:
        return SimpleNamespace(failing=SimpleNamespace(fail=lambda e: (None, {x: f"no {x}" for x in absent if x in e})))

    line = _scenarios.ScenarioLine
    _scenarios._refuse_unknown_elements([lacking("a"), lacking("b")], Path("s"), [line(3, ("a", "b"))], ("b",))
    for lines, always, why in (
        ([line(3, ("x",)), line(4, ("y", "a"))], (), "s:4: no a"), ([line(1, ("a",))], ("a",), "--fail: no a"),
    ):  # fmt: skip
        with pytest.raises(Wrong) as told:
            _scenarios._refuse_unknown_elements([lacking("a", "b"), lacking("a")], Path("s"), lines, always)
        assert told.value.message == why


def test_answers_that_are_asked_for() -> None:
    assert [_ratio_from_text(x) for x in ("1:1", " 20:9999 ")] == ["1:1", "20:9999"] and _model_name_from_text(" H_1 ") == "H_1"
    for ratio in ("0:1", "1:0", "10000:1", "1:10000", "1", "1:1:1", "01:1", ""):
        with pytest.raises(Exception, match="a ratio such as"):
            _ratio_from_text(ratio)
    for name in ("1a", "a b", "", "ü", "a-b"):
        with pytest.raises(Exception, match="the name of a model"):
            _model_name_from_text(name)
