"""The figures of a comparison from counts and facts made by hand, and how a comparison of two phases is called."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.changes import compare as comparison
from tdsl.changes import figure_changes
from tdsl.changes.compare import compare_designs
from tdsl.semantics.quantity import MONEY, POWER, Quantity
from tests.fabrics import Builder


def fabric(*models: tuple[dict[str, Any], int, int]) -> Any:
    """For each model its facts, how many of it are built and how many are not."""
    device = [(m, b) for m, (_, yes, no) in enumerate(models) for b in [True] * yes + [False] * no]
    return SimpleNamespace(
        device_model=np.array([m for m, _ in device], dtype=np.int64),
        built=np.array([b for _, b in device], dtype=np.bool_),
        models=[SimpleNamespace(facts=facts) for facts, _, _ in models],
    )


def test_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiers are counts of switches; of links the total first, then each class."""
    counts = {
        "hosts": 1200, "tiers": {"leaf": 4, "spine": 1000}, "links": {"total": 12345, "classes": {"up": 5, "down": 7000}},
        "media": {"cable": 1, "trace": 2}, "injection_bps": 1.25e12, "empty": {"total": 0},
    }  # fmt: skip
    monkeypatch.setattr(figure_changes, "fabric_summary", lambda fabric: counts)
    assert list(figure_changes.comparison_figures(fabric()).items()) == [
        ("hosts", "1,200"), ("switches leaf", "4"), ("switches spine", "1,000"), ("links", "12,345"), ("links up", "5"),
        ("links down", "7,000"), ("media cable", "1"), ("media trace", "2"), ("injection", "1.25 Tbps"), ("empty", "0"),
    ]  # fmt: skip


def watts(n: int) -> Quantity:
    return Quantity(Fraction(n), POWER)


def test_power_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum over what is built, where every model of which one is built states it."""
    monkeypatch.setattr(figure_changes, "fabric_summary", lambda fabric: {})
    dollars = Quantity(Fraction(30), MONEY)
    two = fabric(({"power": watts(700), "price": dollars}, 2, 1), ({"power": watts(50)}, 3, 0), ({}, 0, 4))
    assert figure_changes.comparison_figures(two) == {"power": str(watts(1550))}
    assert figure_changes.comparison_figures(fabric(({"power": watts(7), "price": dollars}, 3, 0))) == {
        "power": str(watts(21)), "cost": str(Quantity(Fraction(90), MONEY)),
    }  # fmt: skip
    assert (
        figure_changes.comparison_figures(fabric(({"power": "much"}, 1, 0))) == {}
        and figure_changes.comparison_figures(fabric(({"power": watts(7)}, 0, 2))) == {}
    )


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [(0, 0, "f"), (0, 2, "f"), (2, 0, "f"), (2, 2, "f"), (1, 2, "f, phase 1 to phase 2"), (3, 1, "f, phase 3 to phase 1")],
)
def test_the_name_of_a_comparison(old: int, new: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two phases both are named; and parameters are compared as text."""
    monkeypatch.setattr(comparison, "comparison_figures", lambda fabric: {})
    b = Builder()
    b.devices("a", b.model("switch", "SW", {"p": 2}), 2)
    made = b.build()
    designs: list[Any] = [
        SimpleNamespace(name="f", phase=phase, fabric=made, parameters={"n": value, "m": 1}, results=[])
        for phase, value in ((old, 1), (new, "1" if old == new else 2))
    ]
    found = compare_designs(*designs)
    assert found.fabric == name and found.none is (old == new)
    assert [(c.what, c.before, c.after) for c in found.parameters] == ([] if old == new else [("n", "1", "2")])
