"""A job's answer as rows and as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tdsl.jobs.arithmetic import (
    DAY,
    active_parameters,
    all_parameters,
    bubble_of_pipeline,
    hardware_flops,
    measured_step,
    model_flops,
    utilisation_of_step,
)
from tdsl.jobs.communication import DimensionTime
from tdsl.jobs.step import Ends, StepModel
from tdsl.semantics.quantity import SIZE, TIME, Quantity, quantity_text

HEAD = ("figure", "value", "detail")
"""Columns of the table of a job."""


def seconds_text(ends: Ends) -> str:
    """An interval of seconds in words: ``1.2s``, ``1.2s to 1.4s``, ``at least 1.2s``."""
    low = quantity_text(Quantity(ends[0], TIME)) if ends[0] else "0s"
    if ends[1] is None:
        return f"at least {low}"
    high = quantity_text(Quantity(ends[1], TIME)) if ends[1] else "0s"
    return low if low == high else f"{low} to {high}"


def percent_text_of_ends(ends: Ends) -> str:
    """An interval of shares in words."""
    low, high = (f"{float(x or 0) * 100:.3g}%" for x in ends)
    return low if low == high else f"{low} to {high}"


def number_text_of_ends(ends: Ends) -> str:
    """An interval of numbers in words."""
    low, high = (f"{float(x):,.6g}" if x is not None else "" for x in ends)
    return f"at least {low}" if not high else low if low == high else f"{low} to {high}"


def bytes_text(amount: Fraction) -> str:
    """Bytes in words: ``50.3MB``."""
    return quantity_text(Quantity(amount * 8, SIZE))


def rows_of_model(model: StepModel) -> Iterator[tuple[str, str, str]]:
    """Rows of (figure, value, detail) of a job."""
    job = model.job
    sizes = [f"{name} {n}" for name in job.order if (n := getattr(job, name)) > 1]
    sizes += [f"expert {job.expert}"] if job.expert > 1 else []
    yield "ranks", f"{job.ranks:,}", ", ".join(sizes)
    yield "tokens a step", f"{job.tokens:,}", f"{job.batch:,} sequences of {job.sequence:,}"
    active = active_parameters(job)
    whole = all_parameters(job)
    yield "parameters", f"{whole / 1e9:.5g} B", f"{active / 1e9:.5g} B active" if active != whole else ""
    counted = {"none": "without attention", "causal": "causal attention", "full": "attention in full"}
    yield "FLOPs a step", f"{model_flops(job):.4g}", counted[job.attention]
    for part in model.times:
        yield from _rows_of_dimension(model, part)
    if model.why_no_time:
        yield "step time", "", model.why_no_time
    else:
        yield from _rows_of_times(model)
    yield from _rows_of_measurement(model)
    for given in model.inputs():
        from tdsl.jobs.step import ORIGINS

        if given.name != "efficiency" or model.efficiency:
            yield given.name, given.value, ORIGINS[given.origin]
    if job.source:
        yield "source", "", job.source
    if model.unknown_delays:
        yield "delays", "counted as 0", ", ".join(model.unknown_delays)


def _rows_of_dimension(model: StepModel, part: DimensionTime) -> Iterator[tuple[str, str, str]]:
    """What a dimension sends, and what that takes."""
    crossed = ", ".join(f"{float(share) * 100:.3g}% {words}" for words, share in part.crossed)
    yield (
        f"{part.dimension}: sent",
        bytes_text(part.sent),
        f"a rank a step; groups of {part.group}; {crossed}",
    )
    limit = f"limited by {part.limit}" if part.limit else ""
    yield f"{part.dimension}: time", seconds_text((part.least, part.most)), limit
    overlap = model.overlap_of(part.dimension)
    if overlap and not model.why_no_time:
        yield (
            f"{part.dimension}: exposed",
            seconds_text(model.exposed_of(part)),
            f"overlap {float(overlap) * 100:g}%",
        )


def _rows_of_times(model: StepModel) -> Iterator[tuple[str, str, str]]:
    """The step and what follows from it."""
    low, high = model.tokens_per_second
    yield (
        "compute",
        seconds_text((model.compute, model.compute)),
        f"efficiency {float(model.efficiency) * 100:.4g}%",
    )
    share = bubble_of_pipeline(model.job)
    yield "bubble", seconds_text((model.bubble, model.bubble)), f"{float(share) * 100:.3g}% of compute"
    yield "exposed communication", seconds_text(model.exposed), model.network_limit
    yield "step time", seconds_text(model.step), f"limited by {model.limit}"
    yield "MFU", percent_text_of_ends(model.mfu), ""
    if hardware_flops(model.job) != model_flops(model.job):
        yield "HFU", percent_text_of_ends(model.hfu), "with recomputation"
    yield "tokens a second", number_text_of_ends((low, high)), ""
    per_day = (low * DAY / 10**9, high * DAY / 10**9 if high is not None else None)
    yield "tokens a day", f"{number_text_of_ends(per_day)} B", ""
    yield "bytes a day", _bytes_of_ends(model.bytes_per_day), "sent by all ranks"


def _bytes_of_ends(ends: Ends) -> str:
    low, high = (bytes_text(x) if x is not None else "" for x in ends)
    return low if low == high else f"{low} to {high}"


def _rows_of_measurement(model: StepModel) -> Iterator[tuple[str, str, str]]:
    """What was measured of the job."""
    measured = measured_step(model.job, model.peak) if model.peak else None
    if measured is not None:
        words, _ = model.job.measured[0]
        used = utilisation_of_step(model.job, measured, model.peak)
        yield (
            "measured step",
            seconds_text((measured, measured)),
            f"from its {words}; MFU {float(used) * 100:.3g}%",
        )


def facts_of_model(model: StepModel) -> dict[str, object]:
    """The same as plain JSON values: seconds, bytes, shares; ``None`` where no upper end is known."""
    job = model.job
    out: dict[str, object] = {
        "job": job.name,
        "title": job.title,
        "ranks": job.ranks,
        "tokens_per_step": job.tokens,
        "parameters": all_parameters(job),
        "active_parameters": active_parameters(job),
        "model_flops": model_flops(job),
        "hardware_flops": hardware_flops(job),
        "dimensions": [_facts_of_dimension(model, t) for t in model.times],
        "inputs": [{"name": i.name, "value": i.value, "origin": i.origin} for i in model.inputs()],
        "unknown_delays": list(model.unknown_delays),
        "source": job.source,
    }
    if model.why_no_time:
        return out | {"why_no_time": model.why_no_time}
    pairs = {
        "step_s": model.step, "exposed_s": model.exposed, "mfu": model.mfu, "hfu": model.hfu,
        "tokens_per_second": model.tokens_per_second, "bytes_per_day": model.bytes_per_day,
    }  # fmt: skip
    out |= {name: _plain_ends(ends) for name, ends in pairs.items()}
    measured = measured_step(job, model.peak)
    return out | {
        "compute_s": float(model.compute),
        "bubble_s": float(model.bubble),
        "efficiency": float(model.efficiency),
        "peak_flops": float(model.peak),
        "limit": model.limit,
        "network_limit": model.network_limit,
        "measured_step_s": None if measured is None else float(measured),
    }


def _facts_of_dimension(model: StepModel, part: DimensionTime) -> dict[str, object]:
    exposed = None if model.why_no_time else _plain_ends(model.exposed_of(part))
    return {
        "dimension": part.dimension,
        "group": part.group,
        "groups": part.groups,
        "sent_bytes": float(part.sent),
        "time_s": _plain_ends((part.least, part.most)),
        "exposed_s": exposed,
        "limit": part.limit,
        "crossed": {words: float(share) for words, share in part.crossed},
        "operations": [
            {
                "name": o.operation.name,
                "kind": o.operation.kind,
                "bytes": float(o.operation.bytes),
                "count": o.operation.count,
                "time_s": _plain_ends((o.least, o.most)),
            }
            for o in part.operations
        ],
    }


def _plain_ends(ends: Ends) -> list[float | None]:
    return [None if x is None else float(x) for x in ends]
