"""What designs are compared by: sizes, cables, power, cost and answers of checks."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING

from tdsl.semantics.quantity import UNIT_TABLE, Quantity, quantity_text

if TYPE_CHECKING:
    from tdsl.compile.compiler import Design
    from tdsl.fabric.graph import Fabric
    from tdsl.fabric.job_ranks import RankedJob
    from tdsl.jobs.step import StepModel
    from tdsl.physical.economics import CostOverTime, Economics
    from tdsl.physical.model import Physical
    from tdsl.physical.racks import PartialSum
    from tdsl.verify.result import Result

LEAST = ("bisection", "oversubscription", "diameter", "edge_redundancy")
"""Checks whose answers are compared, in this order."""
OF_EVERY_DESIGN = (*LEAST, "links", "power", "cost")
"""Figures that a comparison has of every design, stated or not."""
BOUND = re.compile(r" (?:<=|>=|==|!=|<|>) [^<>=!]+$")
AMOUNT = re.compile(r"(\$?)([0-9.]+)([A-Za-z/]*)")


def figures_of_jobs(
    design: Design,
    named: str = "",
    economics: Economics | None = None,
    efficiencies: dict[str, Fraction] | None = None,
) -> dict[str, object]:
    """The figures of a design's jobs, or of the one of a name, that of the library where the design declares
    none: the upper end of a step's time, the lower ends of MFU and tokens a second. Of several jobs each
    figure says which. "" where unknown. With ``economics`` what a token costs. ``efficiencies`` has what
    followed from a measurement on an earlier design, by job: on another network the same job has that one,
    and not what would make it as fast; what follows here is added."""
    from tdsl.jobs.placed import JobNotOnNetwork
    from tdsl.jobs.step import StepModel, with_efficiency
    from tdsl.prove.view import View

    assert design.fabric is not None
    if not design.fabric.complete:
        return {}
    jobs = jobs_of_design_or_library(design, design.fabric, named)
    out: dict[str, object] = {}
    for job in jobs:
        prefix = f"{job.job.name}." if len(jobs) > 1 else ""
        try:
            model = StepModel.of(View.whole(design.fabric.network), job)
        except JobNotOnNetwork:
            continue
        if efficiencies is not None and not model.job.efficiency and not model.why_no_time:
            model = with_efficiency(model, efficiencies.setdefault(job.job.name, model.efficiency))
        if not model.why_no_time:
            money = _figures_of_money(design, model, economics) if economics is not None else {}
            out |= {f"{prefix}{n}": v for n, v in (_figures_of_model(model) | money).items()}
    return out


def jobs_of_design_or_library(design: Design, fabric: Fabric, named: str) -> list[RankedJob]:
    """The jobs of a design, or those of a name: that of the library, where it fits, if the design declares
    none."""
    jobs = [j for j in design.jobs if named in ("", j.job.name)]
    if jobs or not named:
        return jobs
    from tdsl.compile.preset_jobs import job_of_library, job_on_fabric

    preset = job_of_library(named)
    ranked = job_on_fabric(preset, fabric) if preset is not None else None
    return [ranked] if ranked is not None else []


def _figures_of_model(model: StepModel) -> dict[str, object]:
    """The figures of a job on its network."""
    least, most = model.step
    mfu, (tokens, _) = model.mfu[0], model.tokens_per_second
    return {
        "step_s": "" if most is None else f"{float(most):.6g}",
        "step_least_s": f"{float(least):.6g}",
        "mfu": f"{float(mfu) * 100:.4g}%" if mfu else "",
        "tokens_per_second": written_in_digits(tokens) if tokens else "",
        "efficiency": f"{float(model.efficiency) * 100:.4g}%",
        "exposed_s": "" if model.exposed[1] is None else f"{float(model.exposed[1]):.6g}",
        "limited_by": model.limit,
        "network_limited_by": model.network_limit,
    }


def _figures_of_money(design: Design, model: StepModel, economics: Economics) -> dict[str, object]:
    """What a job costs on its design: of a million tokens, an hour of its accelerators, a day. Lower bounds
    begin with >=."""
    found = cost_of_design(design, economics)
    tokens = model.tokens_per_second[0]
    if found is None or not tokens:
        return {}
    sign = "" if found.exact else ">="
    hourly = found.accelerator_hour * model.job.ranks
    return {
        "job_cost_per_day": sign + written_in_digits(hourly * 24),
        "cost_per_million_tokens": f"{sign}{float(hourly / 3600 / tokens * 10**6):.4g}",
    }


def cost_of_design(design: Design, economics: Economics) -> CostOverTime | None:
    """What a design costs over time; None of one without accelerators."""
    import numpy as np

    from tdsl.physical.economics import cost_over_time
    from tdsl.physical.power_and_cost import Figures
    from tdsl.verify.checks.power import devices_of_network
    from tdsl.verify.summary import fabric_summary

    f = design.fabric
    assert f is not None
    count = _total_or_value(fabric_summary(f).get("accelerators"))
    if not isinstance(count, int) or not count:
        return None
    everything, legs = np.ones(f.device_count, dtype=np.bool_), np.ones(len(f.cable_a), dtype=np.bool_)
    sums, network = Figures(f), devices_of_network(f)
    costs = sums.cost(everything, legs), sums.cost(network, legs)
    return cost_over_time(economics, count, *costs, sums.power(everything), sums.power(network))


def figures_of_economics(design: Design, economics: Economics) -> dict[str, object]:
    """What a design costs over time, by name; "" where unknown."""
    found = cost_of_design(design, economics)
    if found is None:
        return {}
    sign = "" if found.exact else ">="

    def share_text(share: Fraction | None) -> str:
        return "" if share is None else f"{float(share) * 100:.4g}%"

    return {
        "capital": sign + written_in_digits(found.capital),
        "energy_cost_per_year": sign + written_in_digits(found.energy_year),
        "cost_per_year": sign + written_in_digits(found.year),
        "accelerator_hour": f"{sign}{float(found.accelerator_hour):.4g}",
        "network_share_of_capital": share_text(found.network_share_of_capital),
        "network_share_of_cost_per_year": share_text(found.network_share_of_year),
    }


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


def figures_of_statements(design: Design) -> dict[str, str]:
    """The figures that a design's own requirements and reports ask for, by the metric without its bound,
    such as ``allreduce 1GB``. Of an interval both ends, ``>=`` or ``<=`` where one is known; a model's begin
    with ``~``."""
    out: dict[str, str] = {}
    for r in design.results:
        asked = BOUND.sub("", r.requirement or "")
        if not asked or r.scope or asked in OF_EVERY_DESIGN or isinstance(r.value, bool):
            continue
        if text := _interval_text(r):
            out.setdefault(asked, f"~{text}" if r.status == "modelled" else text)
    return out


def _interval_text(r: Result) -> str:
    """The figure of an answer, "" if nothing is known of it."""
    if r.ratio is not None:
        return _check_answer_text(r.ratio, None, None, "")
    low, high = (_amount_text(v, r.unit) for v in (r.lower, r.upper))
    if low and high:
        return low if low == high else f"{low} to {high}"
    return f">={low}" if low else f"<={high}" if high else ""


def _amount_text(value: object, unit: str) -> str:
    if isinstance(value, Quantity):
        return quantity_text(value)
    if not isinstance(value, (int, float, Fraction)) or isinf(value):
        return ""
    return f"{float(value * 100):g}%" if unit == "fraction" else f"{float(value):g}"


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
    text = written_in_digits(bound.known / by)
    return text if bound.exact else f">={text}"


def written_in_digits(value: Fraction | float) -> str:
    """A number with six digits, or with all that stand before its point, and without an exponent."""
    number = float(value)
    return f"{number:.0f}" if abs(number) >= 999_999 else f"{number:.6g}"


def number_of_figure(text: object) -> float | None:
    """The number that a figure says, in base units where it has one; None where it is unknown, a bound or an
    interval."""
    said = str(text).removesuffix(":1").removeprefix("~")
    found = AMOUNT.fullmatch(said)
    scale = 1.0
    if said.endswith("%"):
        said, scale = said[:-1], 0.01
    elif found is not None and found[3] in UNIT_TABLE:
        said, scale = found[2], float(UNIT_TABLE[found[3]][0])
    elif found is not None and found[1]:
        said = found[2]
    try:
        return float(said) * scale
    except ValueError:
        return None
