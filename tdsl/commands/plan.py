"""``tdsl plan``: from one cabling to the next with the fewest moves, step by step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._everywhere import print_on_stderr, print_unless_quiet
from tdsl.commands._job_costs import (
    CostQuestion,
    PlannedCost,
    cost_question,
    costs_of_plan,
    refuse_question_without_job,
)
from tdsl.commands._jobs import economics_option, job_option
from tdsl.commands._shared import (
    FOUND,
    OK,
    Wrong,
    compile_sources,
    design_options,
    floor_option,
    limit_options,
    options_from_command,
    output_format_option,
    places_option,
    record_of_call,
    save_lock,
    save_text,
    show_findings,
    side_options,
    write_to_stream,
)
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.changes.model import Changes
    from tdsl.changes.steps import MovePlan
    from tdsl.changes.union import Union
    from tdsl.compile.compiler import Compilation, Design, Request
    from tdsl.fabric.graph import Bools

FEW = 16
"""States of one cable less that are judged where requirements are kept, which takes longer than the
bisection."""
FORMATS = ("text", "json", "csv")


@dataclass(frozen=True, slots=True)
class PlanCall:
    """The options of a call of `tdsl plan`, but those that all commands on designs have."""

    old: str
    """The design that is cabled."""
    new: str
    """The design to come."""
    floor: Fraction
    """The share of the bisection that is kept at every moment."""
    keep: tuple[str, ...]
    """Metrics whose requirements are kept at every moment."""
    set_old: tuple[tuple[str, str], ...]
    """Values of parameters in OLD only."""
    set_new: tuple[tuple[str, str], ...]
    """Values of parameters in NEW only."""
    job: str
    """The job of which the costs of each state are asked, "" for all."""
    economics: Path | None
    """The file of prices of hours."""
    no_lock: bool
    """Whether NEW.lock is not written."""
    output: Path | None
    """The file for the work."""
    output_format: str
    """How to print."""
    full: bool
    """Whether long lists are shown whole."""


@click.command(
    "plan",
    short_help="Order the work that leads from one cabling to the next.",
    epilog="\b\nExamples:\n  tdsl plan superpod.fab superpod_next.fab --floor 'bisection >= 75%'\n"
    "  tdsl plan pod.fab pod_next.fab --keep edge_redundancy -o steps.csv\n"
    "  tdsl plan dgx_superpod_h100 dgx_superpod_h100 --set-old units=2 --set-new units=3",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@floor_option("What the bisection never falls below")
@click.option(
    "--keep",
    multiple=True,
    metavar="METRIC",
    help="NEW's requirements on this metric hold at every moment, too.",
)
@side_options
@job_option
@economics_option
@click.option("--no-lock", is_flag=True, help="Do not write NEW.lock.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the work here, a row an action: .csv or .xlsx.",
)
@output_format_option(FORMATS, "text", "How to print; csv is the work.", ("--format", "--output-format"))
@click.option("--full", is_flag=True, help="Show long lists whole.")
@design_options
@places_option
@limit_options
@with_untrusted_option
def command(**given: Any) -> int:
    """Plan the work from the cabling of OLD to that of NEW, with the fewest moves.

    Links of OLD keep their ports where NEW still joins the same devices; new links take free ports. This
    choice is written to NEW.lock, which `check` and `build` follow. The order of the moves keeps --floor at
    every moment, and the requirements that --keep names. Hosts that are new or leave are out of service
    meanwhile; all that has free ports is plugged first.

    Exit status: 0 an order is found, 1 none, or a design has errors, 2 a wrong call.
    """
    call = record_of_call(PlanCall, given)
    _refuse_other_tables(call.output)
    asked = options_from_command(given)
    costs = cost_question(call.job, call.economics)
    before = _compile_to_plan(call.old, replace(asked, set=(*asked.set, *call.set_old)))
    after = None
    if before is not None:
        stands = _lock_of_old_design(before, call.new, asked)
        after = _compile_to_plan(call.new, replace(asked, set=(*asked.set, *call.set_new), stands=stands))
    if before is None or after is None:
        return FOUND
    pairs = _fabric_pairs(before, after)
    refuse_question_without_job(costs, [old for old, _ in pairs])
    _refuse_metrics_without_requirement(call.keep, [new for _, new in pairs])
    made = [WorkOfNetwork(one, other, *_changes_and_plan(one, other, call, costs)) for one, other in pairs]
    work = _work_of_fabrics_and_clusters(made, before)
    if call.output is not None:
        _write_plan(call.output, work)
    complete = all(x.plan.complete for x in made)
    if complete and not call.no_lock:
        _record_new_lock(call.old, call.new, after)
    _print_plan(work, call.output_format, call.full)  # last: a reader such as `head` may end the program
    return OK if complete else FOUND


@dataclass(frozen=True, slots=True)
class WorkOfNetwork:
    """The work from one network to another, and what its states cost the jobs that a call asks for."""

    old: Design
    new: Design
    changes: Changes
    plan: MovePlan
    costs: tuple[PlannedCost, ...]


def _compile_to_plan(source: str, asked: Request) -> Compilation | None:
    """A design that can be cabled; None, and its findings printed, where it has errors."""
    (compilation,) = compile_sources([source], asked, verify=False)
    if all(d.fabric is not None and d.fabric.complete for d in compilation.designs):
        return compilation
    show_findings([compilation], sys.stderr)
    print_on_stderr(f"{source} has errors, so nothing is planned")
    return None


def _lock_of_old_design(before: Compilation, new: str, asked: Request) -> Any:
    """What stands, as a lock for the new design."""
    from tdsl.fabric.pins import lock_text
    from tdsl.findings.source import SourceFile

    fabrics = [d.fabric for d in before.designs if d.fabric is not None]
    if len(fabrics) == 1:
        from tdsl.compile import compiler

        try:
            names = [
                d.name
                for d in compiler.compile_without_checks(new, replace(asked, lock=False, set=())).designs
            ]
        except compiler.UsageError:
            names = []
        if len(names) == 1 and names[0] != fabrics[0].name:
            fabrics = [replace(fabrics[0], name=names[0])]
    return SourceFile(f"{new}.lock", lock_text(fabrics, Path(new).name))


def _fabric_pairs(before: Compilation, after: Compilation) -> list[tuple[Design, Design]]:
    """Fabrics of one name; where there is one on each side, those two."""
    old, new = ({d.name: d for d in c.designs} for c in (before, after))
    if len(old) == len(new) == 1:
        return list(zip(old.values(), new.values(), strict=True))
    if set(old) != set(new):
        raise Wrong("OLD and NEW have other fabrics: " + ", ".join(sorted(set(old) ^ set(new))))
    return [(old[name], new[name]) for name in old]


def _refuse_metrics_without_requirement(keep: Sequence[str], designs: Sequence[Design]) -> None:
    """Refuse a metric of ``--keep`` that a fabric, or no fabric of a cluster, has a requirement on."""
    required: dict[str, set[str]] = {}
    for design in designs:
        mine = required.setdefault(design.cluster or design.name, set())
        mine |= {c.metric for c in design.claims if not c.report}
    for metric in keep:
        for name, metrics in required.items():
            if metric not in metrics:
                known = ", ".join(sorted(metrics)) or "none"
                raise Wrong(f"--keep {metric}: {name} has no requirement on it; it has {known}")


def _changes_and_plan(
    old: Design, new: Design, call: PlanCall, costs: CostQuestion | None
) -> tuple[Changes, MovePlan, tuple[PlannedCost, ...]]:
    """What differs, the order of moves, and what it costs the jobs that are asked for."""
    from tdsl.changes.compare import compare_designs
    from tdsl.changes.steps import MovePlan, MovePlanner
    from tdsl.changes.union import union_of_fabrics

    assert old.fabric is not None and new.fabric is not None
    changes = compare_designs(old, new)
    both = union_of_fabrics(old.fabric, new.fabric)
    if both is None:
        why = "a device keeps its place and becomes another model: exchange it in a change of its own"
        return changes, MovePlan(call.floor, why=why), ()
    planner = MovePlanner(both, changes, call.floor)
    if call.keep:
        planner.broken, planner.tries = _judge_of_kept_metrics(both, new, call.keep), FEW
    plan = planner.run()
    if costs is None:
        return changes, plan, ()
    return changes, plan, tuple(costs_of_plan(costs, old, new, both, planner.idle, plan))


def _judge_of_kept_metrics(both: Union, new: Design, keep: Sequence[str]) -> Callable[[Bools, Bools], str]:
    """Judges the requirements that are kept on a state of the cabling."""
    from tdsl.fabric.failed import FailedElements
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.verify.runner import judge_requirements

    claims = sorted(
        (c for c in new.claims if c.metric in keep and not c.report), key=lambda c: c.metric == "survives"
    )

    def judge(present: Bools, idle: Bools) -> str:
        for claim in claims:  # the cheap ones first, up to the first that does not hold
            r = judge_requirements(
                both.fabric,
                [claim],
                Diagnostics(),
                select={claim.metric},
                failed=FailedElements((), idle, ~present),
            )[0]
            if r.status not in ("proved", "modelled") or not r.satisfied:
                return f"`{r.requirement}` is {r.status}: {r.text or r.reason}"
        return ""

    return judge


@dataclass(frozen=True, slots=True)
class _PlannedWork:
    """The work of one fabric, or of all networks of a cluster one after the other."""

    name: str
    old: Design
    """The fabric before, or the cluster as a whole."""
    networks: tuple[WorkOfNetwork, ...]

    @property
    def changes(self) -> Changes:
        """Cables and names that change, in all networks."""
        from tdsl.changes.model import Changes

        out = Changes(self.name)
        for changes in (x.changes for x in self.networks):
            out.added += changes.added
            out.moved += changes.moved
            out.removed += changes.removed
            out.names += [x for x in changes.names if x not in out.names]
        return out

    def rows(self) -> list[tuple[object, ...]]:
        """The work, a row an action."""
        from tdsl.changes.work import joined_work_rows, mounting_places, work_rows

        each = [
            (x.old, x.new, work_rows(x.plan, x.changes, mounting_places(x.old.fabric, x.new.fabric)))
            for x in self.networks
            if x.old.fabric is not None and x.new.fabric is not None
        ]
        if not self.old.members:
            return each[0][2]
        return joined_work_rows([_rows_with_fabric(rows, old, new) for old, new, rows in each])


def _rows_with_fabric(rows: list[tuple[object, ...]], old: Design, new: Design) -> list[tuple[object, ...]]:
    """The rows of one network of a cluster, with its name before the paths of its own devices."""
    own = {
        f"{f.device_path(d)}"
        for f in (old.fabric, new.fabric)
        if f is not None
        for d in range(f.device_count)
        if f.set_of(d).prefix
    }
    return [(*r[:6], f"{new.name}.{r[6]}", *r[7:]) if r[6] in own else r for r in rows]


def _work_of_fabrics_and_clusters(made: Sequence[WorkOfNetwork], before: Compilation) -> list[_PlannedWork]:
    """The plans of fabrics, those of a cluster as one."""
    whole = {d.name: d for d in before.clusters}
    groups: dict[tuple[str, str], list[WorkOfNetwork]] = {}
    for one in made:
        joined = one.old.cluster in whole and bool(one.new.cluster)
        groups.setdefault((one.new.cluster, "") if joined else ("", one.new.name), []).append(one)
    return [
        _PlannedWork(
            cluster or name,
            whole.get(each[0].old.cluster, each[0].old) if cluster else each[0].old,
            tuple(each),
        )
        for (cluster, name), each in groups.items()
    ]


def _refuse_other_tables(output: Path | None) -> None:
    """Raises Wrong for a file that is neither .csv nor .xlsx."""
    if output is not None and output.suffix not in (".csv", ".xlsx"):
        raise Wrong(f"{output}: the work is written as .csv or .xlsx")


def _plan_csv(made: Sequence[_PlannedWork]) -> str:
    from tdsl.changes.work import COLUMNS
    from tdsl.emit.rows import csv_line

    return "".join(f"{csv_line(row)}\n" for row in (COLUMNS, *(r for one in made for r in one.rows())))


def _plan_json(made: Sequence[_PlannedWork]) -> str:
    from tdsl import __version__
    from tdsl.report.json_report import SCHEMA, dump_json

    fabrics = [_plan_document(one) for one in made]
    return dump_json({"schema": SCHEMA, "tdsl": __version__, "fabrics": fabrics})


def _actions_by_rack_text(work: _PlannedWork) -> str:
    """A line for each rack at which something is done."""
    from tdsl.changes.work import actions_by_rack

    return "".join(
        f"  {hall} {row} {rack}: {', '.join(f'{n:,} {what}' for what, n in count.items())}\n"
        for (hall, row, rack), count in actions_by_rack(work.rows()).items()
        if rack
    )


def _print_plan(made: Sequence[_PlannedWork], output_format: str, full: bool) -> None:
    from tdsl.changes.words import move_steps_text, share_moved

    if output_format == "csv":
        write_to_stream(_plan_csv(made))
        return
    if output_format == "json":
        write_to_stream(_plan_json(made))
        return
    from tdsl.report.paint import Paint, output_width, wants_colour

    paint, width = Paint(wants_colour(sys.stdout)), output_width(sys.stdout)
    for one in made:
        write_to_stream(f"{one.name}: {share_moved(one.changes, one.old.fabric)}\n")
        several = len(one.networks) > 1
        for x in one.networks:
            write_to_stream(
                move_steps_text(x.plan, paint, width, full, x.changes.names, x.new.name if several else "")
            )
            write_to_stream("".join(f"{line}\n" for cost in x.costs for line in cost.lines()))
        if all(x.plan.complete for x in one.networks):
            write_to_stream(_actions_by_rack_text(one))


def _plan_document(one: _PlannedWork) -> dict[str, object]:
    """The work of a fabric or cluster as JSON values."""
    from tdsl.changes.words import steps_document
    from tdsl.changes.work import COLUMNS, count_cable_work

    lay, move, remove = (
        sum(column)
        for column in zip(*(count_cable_work(x.plan, x.changes) for x in one.networks), strict=True)
    )
    count = {"cables_laid": lay, "cables_moved": move, "cables_removed": remove}
    out = {"fabric": one.name, **count, "devices_relabelled": len(one.changes.names)}
    if one.old.members:
        out["networks"] = [
            {"fabric": x.new.name, **steps_document(x.plan), **_costs_document(x)} for x in one.networks
        ]
    else:
        out |= steps_document(one.networks[0].plan) | _costs_document(one.networks[0])
    return out | {"work": [dict(zip(COLUMNS, row, strict=True)) for row in one.rows()]}


def _costs_document(one: WorkOfNetwork) -> dict[str, object]:
    """What the states cost jobs, as JSON values; nothing where that was not asked for."""
    return {"job_costs": [cost.facts() for cost in one.costs]} if one.costs else {}


def _write_plan(output: Path, made: Sequence[_PlannedWork]) -> None:
    """The work as CSV or as a workbook."""
    if output.suffix == ".csv":
        save_text(_plan_csv(made), output)
        return
    from tdsl.changes.work import COLUMNS
    from tdsl.emit.workbook import Sheet, workbook_bytes
    from tdsl.system.replace import replace_file

    try:
        rows = [row for one in made for row in one.rows()]
        replace_file(output, workbook_bytes([Sheet("steps", COLUMNS, rows, frozen=1)], "Steps"))
    except OSError as fault:
        raise Wrong(f"{output}: {fault.strerror or fault}") from None


def _record_new_lock(old: str, new: str, after: Compilation) -> None:
    """Write NEW's lock, where NEW is a file of its own."""
    from tdsl.compile.compiler import LOCK
    from tdsl.fabric.pins import lock_text
    from tdsl.physical.standing import file_digests, lock_figures

    place = Path(new)
    if not place.is_file():
        return
    if Path(old).is_file() and place.resolve() == Path(old).resolve():
        print_on_stderr(
            f"{new}{LOCK} is not written: it is the lock of OLD, too; `tdsl lock {new}` records NEW once "
            "it is cabled"
        )
        return
    fabrics = [d.fabric for d in after.designs if d.fabric is not None]
    used = file_digests(after.read, place.parent)
    text = lock_text(fabrics, place.name, used, {f.name: lock_figures(f) for f in fabrics})
    first = not Path(f"{new}{LOCK}").exists()
    save_lock(text, Path(f"{new}{LOCK}"))
    more = "; `tdsl diff` lists it as a part of what NEW states (--no-lock leaves it out)" if first else ""
    print_unless_quiet(f"{new}{LOCK} is written: {sum(f.link_count for f in fabrics):,} links{more}")
