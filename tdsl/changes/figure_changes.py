"""The figures that a comparison shows: what a fabric consists of, its power and price, and what the checks
found."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tdsl.changes.model import Metric
from tdsl.fabric.graph import Fabric
from tdsl.semantics.quantity import Quantity
from tdsl.verify.summary import fabric_summary

if TYPE_CHECKING:
    from tdsl.verify.result import Result

FACTS = {"power": "power", "price": "cost"}


def comparison_figures(fabric: Fabric) -> dict[str, str]:
    """Counts by name, then power and cost where every model that is built states it."""
    out: dict[str, str] = {}
    for name, value in fabric_summary(fabric).items():
        if name == "injection_bps":
            out["injection"] = f"{float(str(value)) / 1e12:g} Tbps"
        elif isinstance(value, dict):
            parts = value.get("classes", value if "total" not in value else {})
            if "total" in value:
                out[name] = f"{value['total']:,}"
            what = "switches" if name == "tiers" else name
            out |= {f"{what} {part}": f"{n:,}" for part, n in parts.items()}
        else:
            out[name] = f"{value:,}"
    return out | _totals_of_model_facts(fabric)


def _totals_of_model_facts(fabric: Fabric) -> dict[str, str]:
    """Power and cost of all devices that are built, where every model of them states it."""
    out: dict[str, str] = {}
    built = np.bincount(fabric.device_model[fabric.built], minlength=len(fabric.models)).tolist()
    for fact, name in FACTS.items():
        amounts = [(model.facts.get(fact), n) for model, n in zip(fabric.models, built, strict=True) if n]
        if amounts and all(isinstance(a, Quantity) for a, _ in amounts):
            known = [(a, n) for a, n in amounts if isinstance(a, Quantity)]
            out[name] = str(Quantity(sum((a.amount * n for a, n in known), Fraction(0)), known[0][0].dim))
    return out


def changed_metrics(before: Sequence[Result], after: Sequence[Result]) -> list[Metric]:
    """Results that are not as they were."""
    old, new = _results_by_name(before, after), _results_by_name(after, before)
    out = []
    for name in [*old, *(n for n in new if n not in old)]:
        was, now = old.get(name), new.get(name)
        texts = ("" if was is None else short_result(was)), ("" if now is None else short_result(now))
        verdicts = ("" if was is None else was.status), ("" if now is None else now.status)
        if texts[0] != texts[1] or verdicts[0] != verdicts[1]:
            out.append(Metric(name, *texts, _number_of_result(was), _number_of_result(now), verdicts))
    return out


def _results_by_name(mine: Sequence[Result], others: Sequence[Result]) -> dict[str, Result]:
    """Results by check, where both sides have one of it in a scope; else by what was required."""
    keys = [[(r.check, r.scope) for r in rows] for rows in (mine, others)]
    out: dict[str, Result] = {}
    for r in mine:
        key = (r.check, r.scope)
        alone = keys[0].count(key) == 1 and keys[1].count(key) <= 1
        name = r.check if alone or r.requirement is None else r.requirement
        out.setdefault(f"{name} of {r.scope}" if r.scope else name, r)
    return out


def short_result(r: Result) -> str:
    """A result in a word or two: ``93.75%``, ``48:7``, ``yes``."""
    if r.status == "skipped":
        return "not judged"
    if r.ratio is not None:
        return ":".join(map(str, r.ratio))
    if isinstance(r.value, bool) or r.value is None:
        return {"proved": "yes", "refuted": "no"}.get(r.status, r.status)
    if r.lower != r.upper and r.lower is not None:
        return f"{_figure_with_unit(r.lower, r.unit)} to {_figure_with_unit(r.upper, r.unit)}"
    return _figure_with_unit(r.value, r.unit)


def _figure_with_unit(value: object, unit: str) -> str:
    if isinstance(value, (int, float, Fraction)):
        if unit == "fraction":
            return f"{float(value * 100):.4g}%"
        return f"{value:,}" if isinstance(value, int) else f"{float(value):,.4g}"
    return str(value)


def _number_of_result(r: Result | None) -> float | None:
    value = None if r is None or r.status == "skipped" else r.facts()["value"]
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
