"""``tdsl explore``: a design at all combinations of some parameters, and which of them no other beats."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._compared_figures import (
    LEAST,
    figures_of_design,
    figures_of_economics,
    figures_of_jobs,
    number_of_figure,
)
from tdsl.commands._everywhere import print_on_stderr
from tdsl.commands._jobs import economics_of_call, economics_option, job_option, refuse_unknown_job
from tdsl.commands._pareto import Point, pareto_frontier, pareto_svg
from tdsl.commands._progress import show_progress
from tdsl.commands._rows import FORMATS, OutputRows, print_csv, print_json, print_table
from tdsl.commands._shared import (
    FOUND,
    OK,
    SettingParameter,
    Source,
    Wrong,
    compile_sources,
    design_options,
    limit_options,
    options_from_command,
    output_format_option,
    places_option,
    save_text,
    sources_with_stdin,
    workers_options,
    write_to_stream,
)
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.progress import items_as_phase
from tdsl.system.workers import Workers, WorkersEnded

if TYPE_CHECKING:
    from tdsl.compile.compiler import Compilation, Request
    from tdsl.physical.economics import Economics


@dataclass(frozen=True, slots=True)
class MoneyAndJob:
    """The job that is asked about, "" for those of the design, what costs over time are computed from, and
    efficiencies that followed from measurements on the first combination, by job."""

    job: str
    economics: Economics | None
    efficiencies: dict[str, Fraction] = field(default_factory=dict)


Pairs = tuple[tuple[str, str], ...]
"""Values of some parameters."""

MOST = 256
"""Combinations of one call."""
MORE = ("hosts", "accelerators", "bisection", "edge_redundancy", "mfu", "tokens_per_second")
"""Figures of which more is better; of all others less is."""


@click.command(
    "explore",
    short_help="Try a design at many values of its parameters, and find those that no other beats.",
    epilog="\b\nExamples:\n  tdsl explore dgx_superpod_h100_racks --vary units=1..4\n"
    "  tdsl explore pod.fab --vary k=4,8,16 --x cost --y bisection --prices prices.toml --plot pareto.svg",
)
@click.argument("file", type=Source(), metavar="FILE")
@click.option(
    "--vary",
    type=SettingParameter(),
    multiple=True,
    required=True,
    metavar="NAME=V1,V2,...|LOW..HIGH",
    help="Values of a parameter; more than once for all combinations.",
)
@click.option(
    "--x", default="power_kw", show_default=True, metavar="FIGURE", help="The first figure to judge by."
)
@click.option(
    "--y", default="accelerators", show_default=True, metavar="FIGURE", help="The second figure to judge by."
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="SVG",
    help="Write a drawing of the two figures.",
)
@job_option
@economics_option
@design_options
@places_option
@output_format_option([*FORMATS, "markdown"])
@workers_options
@limit_options
def command(
    file: str,
    vary: tuple[tuple[str, str], ...],
    x: str,
    y: str,
    plot: Path | None,
    output_format: str,
    **given: Any,
) -> int:
    """Print a line for each combination of the values: its figures, and `yes` under `best` where no other
    combination is at least as good in both figures and better in one.

    A combination with errors has the first code under `errors`. Figures that are unknown or bounds are not
    judged. More is better of hosts, accelerators, bisection, edge_redundancy, mfu and tokens_per_second; less
    is better of all other figures.

    Exit status: 0 judged, 1 no combination has both figures, so none is judged, 2 a wrong call.
    """
    money = MoneyAndJob(given["job"], economics_of_call(given["economics"]))
    refuse_unknown_job(compile_sources([file], options_from_command(given))[0].designs, money.job)
    (file,), asked = sources_with_stdin([file], options_from_command(given))
    names, settings = _settings_to_try(vary)
    with show_progress():
        rows = _combination_rows(file, asked, money, settings, Workers(given["jobs"], given["cluster"] or ""))
    figures = list(dict.fromkeys(k for row in rows for k in row if k not in names))
    _refuse_unknown_figures((x, y), figures)
    points = _points_of_rows(rows, names, x, y)
    best = pareto_frontier(list(points.values()), not _grows_better(x), not _grows_better(y))
    for k, good in zip(points, best, strict=True):
        rows[k]["best"] = "yes" if good else ""
    _print_combinations(_rows_with_verdicts(rows, names, figures, bool(points)), output_format)
    if plot is not None:
        _save_plot(file, list(points.values()), best, x, y, plot)
    left = len(rows) - len(points)
    if left:
        why = f"they have errors, or {x} or {y} is unknown or a bound; --x and --y name other figures"
        print_on_stderr(f"{left} of {len(rows)} combinations are not judged: {why}")
    return OK if points else FOUND


def _rows_with_verdicts(
    rows: list[dict[str, object]], names: list[str], figures: list[str], judged: bool
) -> OutputRows:
    """The combinations with the figures that any of them has, and whether they are the best where any was
    ``judged``."""
    shown = [f for f in figures if any(row.get(f, "") != "" for row in rows)]
    head = [*names, *(["best"] if judged else []), *shown]
    return OutputRows(head, [[row.get(h, "") for h in head] for row in rows])


def _save_plot(file: str, points: Sequence[Point], best: Sequence[bool], x: str, y: str, plot: Path) -> None:
    """Draw both figures of all combinations."""
    if not points:
        raise Wrong(
            f"no combination without errors has both {x} and {y} exactly, so there is nothing to draw"
        )
    save_text(
        pareto_svg(points, best, Path(file).stem, x, y, not _grows_better(x), not _grows_better(y)),
        plot,
    )


def _refuse_unknown_figures(asked: Sequence[str], figures: Sequence[str]) -> None:
    """Refuse figures that no combination has, where any has figures."""
    for name in asked:
        if name not in figures and len(figures) > 1:
            from tdsl.system.similar import closest_name

            near = closest_name(name, figures)
            raise click.UsageError(
                f"there is no figure {name!r}; did you mean {near!r}?"
                if near
                else f"there is no figure {name!r}; figures: {', '.join(f for f in figures if f != 'errors')}"
            )


def _settings_to_try(vary: tuple[tuple[str, str], ...]) -> tuple[list[str], list[Pairs]]:
    """The parameters that are varied, and each combination of their values."""
    names = [name for name, _ in vary]
    if len(set(names)) < len(names):
        raise click.UsageError("--vary names a parameter twice; give all its values at once")
    empty = next((name for name, text in vary if not _values_to_vary(text)), "")
    if empty:
        raise click.UsageError(f"--vary {empty} has no value: write {empty}=V1,V2,... or {empty}=LOW..HIGH")
    combinations = list(product(*(_values_to_vary(text) for _, text in vary)))
    if len(combinations) > MOST:
        raise click.UsageError(f"these are {len(combinations):,} combinations, and {MOST} are tried at most")
    return names, [tuple(zip(names, values, strict=True)) for values in combinations]


def _grows_better(figure: str) -> bool:
    """Whether more of a figure is better, also of one network of a cluster: ``compute.bisection``."""
    return figure.rpartition(".")[2] in MORE


def _combination_rows(
    file: str, asked: Request, money: MoneyAndJob, settings: Sequence[Pairs], workers: Workers
) -> list[dict[str, object]]:
    """What is known of each combination: the first is tried here and the rest, if it is worth it, by several
    processes."""
    first, seconds = _combination_row(file, asked, money, settings[0])
    rest = settings[1:]
    if not workers.worth(seconds * len(rest)):
        return [
            first,
            *(
                row
                for row, _ in _count_combinations(
                    (_combination_row(file, asked, money, setting) for setting in rest), file, len(rest)
                )
            ),
        ]
    try:
        return [
            first,
            *(
                row
                for row, _ in _count_combinations(
                    workers.results(partial(_combination_row, file, asked, money), rest), file, len(rest)
                )
            ),
        ]
    except WorkersEnded as ended:
        raise Wrong(str(ended)) from None


def _count_combinations(
    rows: Iterable[tuple[dict[str, object], float]], file: str, total: int
) -> Iterator[tuple[dict[str, object], float]]:
    """The rows, counted on a terminal."""
    return items_as_phase(rows, f"explore {file}", total, "combinations")


def _combination_row(
    file: str, asked: Request, money: MoneyAndJob, setting: Pairs
) -> tuple[dict[str, object], float]:
    """The figures of one combination, and the seconds it took."""
    found = compile_sources([file], replace(asked, set=(*asked.set, *setting)))[0]
    errors = [d.code for d in found.findings if d.severity.word == "error"]
    known = _figures_of_compilation(found, money)
    return {**dict(setting), **known, "errors": errors[0] if errors else ""}, sum(
        d.elapsed_s for d in found.designs
    )


def _figures_of_compilation(found: Compilation, money: MoneyAndJob) -> dict[str, object]:
    """The figures of a design or cluster, and those of the networks of a cluster, which say which."""
    known: dict[str, object] = {}
    for design in [*found.clusters, *found.designs[: 0 if found.clusters else 1]]:
        if design.fabric is not None and design.fabric.complete:
            known = known or {
                **figures_of_design(design),
                **figures_of_jobs(design, money.job, money.economics, money.efficiencies),
                **(figures_of_economics(design, money.economics) if money.economics else {}),
            }
    for design in found.designs if found.clusters else ():  # figures of one network say which
        if design.fabric is not None and design.fabric.complete:
            known |= {
                f"{design.name}.{name}": value
                for name, value in figures_of_design(design).items()
                if name in LEAST
            }
    return known


def _values_to_vary(text: str) -> list[str]:
    """``4,8,16`` or ``1..4``."""
    low, sign, high = text.partition("..")
    if sign and low.strip().isdigit() and high.strip().isdigit() and "," not in text:
        numbers = range(int(low), min(int(high), int(low) + MOST) + 1)
        if not numbers:
            raise click.UsageError(f"{text} is an empty range")
        return [str(n) for n in numbers]
    values = [v.strip() for v in text.split(",") if v.strip()]
    return list(dict.fromkeys(values))


def _points_of_rows(
    rows: list[dict[str, object]], names: list[str], x_name: str, y_name: str
) -> dict[int, Point]:
    """The combinations without errors of which both figures are known, by their row."""
    out = {}
    for k, row in enumerate(rows):
        x, y = (number_of_figure(row.get(name, "")) for name in (x_name, y_name))
        if not row["errors"] and x is not None and y is not None:
            out[k] = Point(", ".join(f"{n}={row[n]}" for n in names), x, y)
    return out


def _print_combinations(rows: OutputRows, output_format: str) -> None:
    if output_format == "json":
        print_json({"points": rows.records()})
    elif output_format == "csv":
        print_csv(rows)
    elif output_format == "markdown":
        lines = [rows.head, ["---"] * len(rows.head), *rows.body]
        write_to_stream(
            "".join("| " + " | ".join(str(v).replace("|", "\\|") for v in line) + " |\n" for line in lines),
            sys.stdout,
        )
    else:
        print_table(rows)
