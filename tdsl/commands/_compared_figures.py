"""What designs are compared by: sizes, cables, power, cost and answers of checks."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tdsl.compile.compiler import Design
    from tdsl.physical.model import Physical
    from tdsl.physical.racks import PartialSum
    from tdsl.verify.result import Result

LEAST = ("bisection", "oversubscription", "diameter", "edge_redundancy")
"""Checks whose answers are compared, in this order."""


def figures_of_design(design: Design) -> dict[str, object]:
    """The figures of one design, by name; "" where unknown."""
    import numpy as np

    from tdsl.physical.power_and_cost import Figures
    from tdsl.verify.checks.power import devices_of_network
    from tdsl.verify.summary import fabric_summary

    f = design.fabric
    assert f is not None
    summary = fabric_summary(f)
    out: dict[str, object] = {
        n: _total_or_value(summary.get(n)) for n in ("hosts", "accelerators", "switches", "links", "cables")
    }
    sums = Figures(f)
    everything = np.ones(f.device_count, dtype=np.bool_)
    out["cable_km"] = _kilometres_of_cables(sums.physical)
    legs = np.ones(len(f.cable_a), dtype=np.bool_)
    ends = summary.get("accelerators")
    power, cost = sums.power(everything), sums.cost(everything, legs)
    out["power_kw"] = _bound_in_unit(power, 1000)
    out["network_power_kw"] = _bound_in_unit(sums.power(devices_of_network(f)), 1000)
    out["optics_kw"] = _bound_in_unit(sums.optics_power(everything), 1000)
    out["watts_per_gpu"] = _bound_in_unit(power, ends) if isinstance(ends, int) and ends else ""
    out["cost"] = _bound_in_unit(cost, 1)
    out["network_cost"] = _bound_in_unit(sums.cost(devices_of_network(f), legs), 1)
    out["cost_per_gpu"] = _bound_in_unit(cost, ends) if isinstance(ends, int) and ends else ""
    own_power, own_cost = sums.power(devices_of_network(f)), sums.cost(devices_of_network(f), legs)
    out["network_power_share"] = _share_of_sums(own_power, power)
    out["optics_share_of_network_power"] = _share_of_sums(sums.optics_power(devices_of_network(f)), own_power)
    out["network_cost_share"] = _share_of_sums(own_cost, cost)
    bisection = _result_of_check(design, "bisection")
    halves = bisection.measures if bisection is not None else {}
    tbps = Fraction(halves.get("lower_bps", 0)) / 10**12
    exact = tbps > 0 and halves.get("lower_bps") == halves.get("upper_bps")
    out["network_watts_per_tbps"] = _bound_in_unit(own_power, tbps) if exact else ""
    out["network_cost_per_tbps"] = _bound_in_unit(own_cost, tbps) if exact else ""
    for name in LEAST:
        found = _result_of_check(design, name)
        out[name] = "" if found is None else _check_answer_text(found.ratio, found.lower, found.upper, name)
    return out


def _result_of_check(design: Design, check: str) -> Result | None:
    """The result of a check of the whole fabric, None where it was not judged."""
    return next(
        (r for r in design.results if r.check == check and not r.scope and r.status != "skipped"), None
    )


def _kilometres_of_cables(physical: Physical | None) -> str:
    """The length of all cables whose length is known, with >= where others are not; "" if none is."""
    if physical is None:
        return ""
    run = physical.lengths.run
    known = run[run >= 0]
    sign = ">=" if len(known) < len(run) else ""
    return f"{sign}{known.sum() / 1e9:.3f}" if len(known) else ""


def _check_answer_text(ratio: tuple[int, int] | None, lower: object, upper: object, name: str) -> str:
    if ratio is not None and ratio[1]:
        return f"{float(Fraction(*ratio)):g}:1"

    def one(value: object) -> str:
        if isinstance(value, Fraction) and name == "bisection":
            return f"{float(value * 100):g}%"
        return f"{float(value):g}" if isinstance(value, (int, float, Fraction)) else ""

    return one(lower) if lower == upper else f"{one(lower)} to {one(upper)}"


def _total_or_value(value: object) -> object:
    found = value.get("total") if isinstance(value, dict) else value
    return "" if found is None else found


def _share_of_sums(part: PartialSum, whole: PartialSum) -> str:
    """A sum as a share of another; empty where either lacks a term."""
    if not part.exact or not whole.exact or not whole.known:
        return ""
    return f"{float(part.known / whole.known * 100):.4g}%"


def _bound_in_unit(bound: PartialSum, by: int | Fraction) -> str:
    """A sum in some unit; empty where nothing of it is known."""
    if not bound.known and bound.missing:
        return ""
    text = f"{float(bound.known / by):.6g}"
    return text if bound.exact else f">={text}"


def number_of_figure(text: object) -> float | None:
    """The number that a figure says, None where it is unknown, a bound or an interval."""
    said = str(text).removesuffix(":1")
    scale = 1.0
    if said.endswith("%"):
        said, scale = said[:-1], 0.01
    try:
        return float(said) * scale
    except ValueError:
        return None
