"""``tdsl show FILE job``: what training jobs take on a design."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._rows import OutputRows, print_csv, print_json, print_table
from tdsl.commands._shared import Wrong, save_text, write_to_stream
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.similar import closest_name

if TYPE_CHECKING:
    from tdsl.compile.compiler import Design
    from tdsl.fabric.job_ranks import RankedJob
    from tdsl.jobs.step import StepModel
    from tdsl.physical.economics import Economics
    from tdsl.prove.view import View

JOB = "job"


def job_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--job``."""
    return click.option(
        "--job",
        metavar="JOB",
        default="",
        help="A training job of the designs, or one of the library on their first accelerators.",
    )(command)


def economics_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--economics``."""
    return click.option(
        "--economics",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="TOML",
        help="What a cluster costs over time: energy, years, interest (`tdsl explain E0219`).",
    )(command)


def economics_of_call(path: Path | None) -> Economics | None:
    """What the file of ``--economics`` says; None without one. Raises Wrong where it cannot be read."""
    if path is None:
        return None
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.findings.source import SourceFile
    from tdsl.physical.economics import read_economics_toml
    from tdsl.system.read import read_text_file

    try:
        file = SourceFile(path.as_posix(), read_text_file(path, encoding="utf-8-sig"))
    except (OSError, ValueError) as fault:
        raise Wrong(f"{path.as_posix()} cannot be read: {fault}") from None
    found = Diagnostics()
    told = read_economics_toml(file, found)
    if told is None:
        (wrong,) = [*found][:1]
        line = wrong.span.begin[0] if wrong.span is not None else 1
        raise Wrong(f"{path.as_posix()}:{line}: {wrong.code}: {wrong.message}; {wrong.help}")
    return told


def refuse_unknown_job(designs: Sequence[Design], named: str) -> None:
    """Raise Wrong where neither a design nor the library has a job of this name."""
    from tdsl.compile.preset_jobs import job_of_library, names_of_library_jobs

    declared = {j.job.name for d in designs for j in d.jobs}
    if not named or named in declared or job_of_library(named) is not None:
        return
    known = [name for name in names_of_library_jobs() if job_of_library(name) is not None]
    near = closest_name(named, [*declared, *known])
    listed = (
        f"did you mean `{near}`?" if near else f"there are {', '.join(known[:6])} and others in stdlib/jobs"
    )
    raise Wrong(f"neither a design nor the library has a job `{named}` that says all: {listed}")


ORDERS = (
    "job",
    "order",
    "step_least_s",
    "step_most_s",
    "exposed_least_s",
    "exposed_most_s",
    "mfu_least",
    "mfu_most",
)
"""Columns of `--placement`."""


@dataclass(frozen=True, slots=True)
class JobView:
    """How jobs are shown: all orders of their dimensions (``placement``), and the file of a drawing."""

    placement: bool = False
    picture: Path | None = None


def print_jobs(shown: Sequence[Design], named: str | None, form: str | None, view: JobView) -> None:
    """Print the jobs of every fabric, or the one that is named, and draw their steps. Raises Wrong where
    there is none."""
    found = jobs_of_designs(shown, named)
    if view.placement:
        _print_orders_of_jobs(found, form)
        return
    models = [(d, model_of_job(d, job)) for d, job in found]
    _print_models_of_jobs(models, form)
    if view.picture is not None:
        from tdsl.commands._step_picture import step_svg

        timed = [(f"{m.job.name} on {d.name}", m) for d, m in models if not m.why_no_time]
        if not timed:
            raise Wrong(f"there is no time of a step to draw: {models[0][1].why_no_time}")
        save_text(step_svg(timed), view.picture)


def _print_orders_of_jobs(found: Sequence[tuple[Design, RankedJob]], form: str | None) -> None:
    """Print what each order of the dimensions of each job takes."""
    rows = [(d.name, *row) for d, job in found for row in rows_of_orders(d, job)]
    heads = ("fabric", *ORDERS)
    if form == "json":
        print_json({"placements": [dict(zip(heads, row, strict=True)) for row in rows]})
        return
    table = OutputRows(heads, rows)
    print_csv(table) if form == "csv" else print_table(table)


def _print_models_of_jobs(models: Sequence[tuple[Design, StepModel]], form: str | None) -> None:
    """Print what each job computes, sends and takes."""
    if form == "json":
        from tdsl.jobs.table import facts_of_model

        print_json({"jobs": [{"fabric": d.name, "file": d.file, **facts_of_model(m)} for d, m in models]})
        return
    from tdsl.jobs.table import HEAD, rows_of_model

    if form == "csv":
        rows_of_all = [(d.name, m.job.name, *row) for d, m in models for row in rows_of_model(m)]
        print_csv(OutputRows(("fabric", "job", *HEAD), rows_of_all))
        return
    for design, model in models:
        title = f": {model.job.title}" if model.job.title else ""
        write_to_stream(f"{model.job.name}{title}, on {design.name}\n")
        print_table(OutputRows(HEAD, list(rows_of_model(model))))


def jobs_of_designs(shown: Sequence[Design], named: str | None) -> list[tuple[Design, RankedJob]]:
    """The jobs of some designs, or those of a name. Raises Wrong where there is none."""
    every = [(d, job) for d in shown for job in d.jobs]
    found = [(d, job) for d, job in every if named in (None, job.job.name)]
    if found:
        return found
    if not every:
        raise Wrong(
            "this design declares no job: write `job NAME { … }` in the fabric's block, or "
            "`job NAME: JOB { }` with a JOB of `tdsl list jobs`"
        )
    names = [job.job.name for _, job in every]
    near = closest_name(str(named), names)
    raise Wrong(
        f"there is no job `{named}`" + (f"; did you mean `{near}`?" if near else f": {', '.join(names)}")
    )


def view_of_design(design: Design) -> View:
    """The network of a design, or what failures leave of it."""
    from tdsl.prove.view import View

    assert design.fabric is not None
    return View.whole(design.fabric.network)


def model_of_job(design: Design, job: RankedJob) -> StepModel:
    """The model of a job on its design. Raises Wrong where its ranks are not there."""
    from tdsl.jobs.placed import JobNotOnNetwork
    from tdsl.jobs.step import StepModel

    try:
        return StepModel.of(view_of_design(design), job)
    except JobNotOnNetwork as fault:
        raise Wrong(f"job `{job.job.name}`: {fault}") from None


def rows_of_orders(design: Design, job: RankedJob) -> Iterator[tuple[object, ...]]:
    """A row for each order of the dimensions of a job, the written one first."""
    from tdsl.jobs.placed import JobNotOnNetwork
    from tdsl.jobs.placement import models_by_order

    try:
        for order, model in models_by_order(view_of_design(design), job):
            if model.why_no_time:
                raise Wrong(f"job `{job.job.name}`: {model.why_no_time}")
            ends = (*model.step, *model.exposed, *model.mfu)
            yield (
                job.job.name,
                ", ".join(order),
                *(None if x is None else float(f"{float(x):.6g}") for x in ends),
            )
    except JobNotOnNetwork as fault:
        raise Wrong(f"job `{job.job.name}`: {fault}") from None
