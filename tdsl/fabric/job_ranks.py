"""The ranks of a job as devices of the fabric, in the order of `on`."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.resolve import Resolver, variable_assignments
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.jobs import DIMENSIONS, UNFIT, Job, PlannedJob, PlannedRanks
from tdsl.semantics.model import Chip
from tdsl.semantics.plan import Context, FabricPlan, IndexEntry
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class RankedJob:
    """A job with its ranks in order: the row of the host or chip of each, and of ranks inside of a host the
    number of the accelerator there, counted from 0."""

    job: Job
    device: Ints
    place: Ints


def ranks_of_jobs(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> dict[str, RankedJob]:
    """The jobs of a plan by name; one whose accelerators do not fit it is a finding and left out."""
    out = {}
    for planned in plan.jobs:
        try:
            out[planned.job.name] = ranks_of_job(planned, plan, fabric)
        except Fault as fault:
            fault.report(diagnostics)
        except Excused:
            pass
    return out


def ranks_of_job(planned: PlannedJob, plan: FabricPlan, fabric: Fabric) -> RankedJob:
    """One job's ranks. Raises Fault where their number is not that of the job, or one is named twice."""
    job = planned.job
    if planned.on:
        parts = [_ranks_named(one, planned, plan.evaluator, fabric) for one in planned.on]
    else:
        parts = [accelerators_of_fabric(fabric)]
    device, place = (np.concatenate(column) for column in zip(*parts, strict=True))
    if len(device) != job.ranks and fabric.complete:
        raise _wrong_number_fault(planned, len(device))
    pairs = np.unique(np.stack((device, place)), axis=1)
    if pairs.shape[1] != len(device):
        raise Fault(
            UNFIT,
            job.span,
            f"job `{job.name}` is on some accelerators twice",
            help="name each once after `on`",
        )
    return RankedJob(job, device, place)


def accelerators_of_fabric(fabric: Fabric) -> tuple[Ints, Ints]:
    """Device and place of every accelerator of a fabric, in its order."""
    return _accelerators_in(fabric, _every_endpoint(fabric))


def _wrong_number_fault(planned: PlannedJob, found: int) -> Fault:
    """The fault of a job whose dimensions have another product than it has accelerators."""
    job = planned.job
    sizes = " · ".join(f"{name} {getattr(job, name)}" for name in DIMENSIONS if getattr(job, name) > 1) or "1"
    inner = job.ranks // job.data
    fitting = found // inner if found % inner == 0 else 0
    where = "" if planned.on else ", all of the fabric"
    help = (
        f"write `data {fitting}`"
        if fitting
        else f"put it on {max(found // inner, 1) * inner:,} of them with `on`, or change the dimensions"
    )
    return Fault(
        UNFIT,
        planned.on[0].target.span if planned.on else job.span,
        f"job `{job.name}` has {sizes} = {job.ranks:,} ranks, and it is on {found:,} accelerators{where}",
        help=help,
    )


def _every_endpoint(fabric: Fabric) -> Ints:
    """Hosts and chips of the fabric that are in nothing else, planned ones left out; of storage and
    management hosts none where there are others."""
    outer = fabric.is_end & fabric.built & (fabric.container < 0)
    role = np.array([s.role for s in fabric.sets] or [""])[fabric.device_set]
    main = outer & ~np.isin(role, ("storage", "management", "cpu"))
    return np.flatnonzero(main if main.any() else outer)


def _ranks_named(
    one: PlannedRanks, planned: PlannedJob, evaluator: Evaluator, fabric: Fabric
) -> tuple[Ints, Ints]:
    """The device and the place of every rank that a path names."""
    target, scope = one.target, planned.scope
    root = Context(planned.context.groups[:1], ())
    over = variable_assignments(root, (target,), None, scope, evaluator, target.span)
    rows = Resolver(scope, evaluator, over).rows(target).reshape(-1)
    rows = rows[rows >= 0]
    if target.device is None:
        inside = rows[fabric.is_end[rows]]
        return _accelerators_in(fabric, distinct_values(inside[fabric.container[inside] < 0]))
    if target.device.kind not in ("host", "chip"):
        raise Fault(
            "E0120",
            target.span,
            f"a job runs on hosts and chips, and this is a {target.device.kind}",
            help="name hosts, or chips in them: `on node[*].gpu`",
        )
    _, first = np.unique(rows, return_index=True)
    rows = rows[np.sort(first)]
    if not one.chip:
        return _accelerators_in(fabric, rows)
    found = [_places_of_chips(fabric, row, one, evaluator, scope) for row in distinct_models(fabric, rows)]
    by_model = dict(zip(fabric.device_model[distinct_models(fabric, rows)].tolist(), found, strict=True))
    each = [by_model[m] for m in fabric.device_model[rows].tolist()]
    device = np.repeat(rows, [len(x) for x in each])
    return device, np.concatenate(each) if each else np.zeros(0, dtype=np.int64)


def distinct_models(fabric: Fabric, rows: Ints) -> Ints:
    """The first row of each model among some devices."""
    _, first = np.unique(fabric.device_model[rows], return_index=True)
    return rows[np.sort(first)]


def _places_of_chips(
    fabric: Fabric, host: int, one: PlannedRanks, evaluator: Evaluator, scope: Scope
) -> Ints:
    """The numbers of the chips that a path names inside of a host, among its accelerators."""
    model = fabric.models[int(fabric.device_model[host])]
    before = 0
    for chip in model.chips:
        if chip.name == one.chip:
            if not chip.accelerates:
                hosts = one.target.path.span.text.rpartition(".")[0]
                raise Fault(
                    "E0120",
                    one.target.span,
                    f"`{chip.name}` of {model.name} is not an accelerator",
                    help=f"name the hosts alone: `on {hosts}`",
                )
            return before + _indices_among(chip, one.entries, evaluator, scope)
        before += chip.size if chip.accelerates else 0
    raise Excused


def _indices_among(chip: Chip, entries: tuple[IndexEntry, ...], evaluator: Evaluator, scope: Scope) -> Ints:
    """The row-major numbers of the chips that index entries name."""
    out = np.zeros(1, dtype=np.int64)
    for axis, entry in zip(chip.axes, entries, strict=True):
        chosen = np.array(
            _numbers_of_entry(entry.expr, axis.low, axis.high, evaluator, scope), dtype=np.int64
        )
        outside = chosen[(chosen < axis.low) | (chosen > axis.high)]
        if len(outside):
            raise Fault(
                "E0108",
                entry.span,
                f"`{chip.name}[{outside[0]}]` is outside {axis.low}..{axis.high}",
                help=f"write `{chip.name}[{axis.low}..{axis.high}]`",
            )
        out = (out[:, None] * axis.size + (chosen - axis.low)[None, :]).reshape(-1)
    return out


def _numbers_of_entry(
    e: tree.Expr | None, low: int, high: int, evaluator: Evaluator, scope: Scope
) -> list[int]:
    """The indices that an entry names: nothing and `*` all of them."""
    if e is None or isinstance(e, tree.Star):
        return list(range(low, high + 1))
    if isinstance(e, tree.Range):
        begin, end = evaluator.integer(e.low, scope), evaluator.integer(e.high, scope)
        return list(range(begin, min(end, high + 1) + 1))
    if isinstance(e, tree.ListExpr):
        return [evaluator.integer(x, scope) for x in e.items]
    return [evaluator.integer(e, scope)]


def _accelerators_in(fabric: Fabric, rows: Ints) -> tuple[Ints, Ints]:
    """Every accelerator in some hosts, host by host; a chip, or a host of which nothing says what is in it,
    is one itself."""
    each = np.array([max(m.accelerators, 1) if m.kind == "host" else 1 for m in fabric.models] or [1])
    count = each[fabric.device_model[rows]]
    device = np.repeat(rows, count)
    first = np.repeat(np.cumsum(count) - count, count)
    return device, np.arange(len(device)) - first
