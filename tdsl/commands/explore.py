"""``tdsl explore``: a design at all combinations of some parameters, or networks of several topologies for a
job, and which of them no other beats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._compared_figures import number_of_figure
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
from tdsl.commands._topology_candidates import (
    OVER_BUDGET,
    SHOWN,
    TopologyCall,
    budget_from_text,
    find_candidates,
    first_known_figure,
    share_from_text,
    tapers_from_text,
    topologies_from_text,
    verdict_on_budget,
    write_candidates,
)
from tdsl.commands._trials import MoneyAndJob, Pairs, Trial, rows_of_trials
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.workers import Workers

if TYPE_CHECKING:
    pass

MOST = 256
"""Combinations of one call."""
MORE = ("hosts", "accelerators", "bisection", "edge_redundancy", "mfu", "tokens_per_second")
"""Figures of which more is better, beside those of checks that are required to be at least something; of all
others less is."""


def topology_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of ``--topology``."""
    options = [
        click.option(
            "--topology",
            default="",
            metavar="NAME,...",
            help="Size a network of each of these topologies for the job, in place of --vary.",
        ),
        click.option(
            "--gpus", type=click.IntRange(min=1), metavar="N", help="Accelerators to join; those of the job."
        ),
        click.option(
            "--host", default="", metavar="MODEL", help="The model of the hosts, or of chips; DGX_H100."
        ),
        click.option("--switch", default="", metavar="MODEL", help="The model of all switches; QM9700."),
        click.option("--cable", default="", metavar="MODEL", help="The part of all links."),
        click.option(
            "--oversubscription",
            default="1:1,2:1,4:1",
            show_default=True,
            callback=tapers_from_text,
            metavar="RATIO,...",
            help="Ratios to size networks for.",
        ),
        click.option(
            "--efficiency",
            callback=share_from_text,
            metavar="PERCENT",
            help="The efficiency of the job; else what it states, or what follows from its measurement.",
        ),
        click.option(
            "--budget",
            callback=budget_from_text,
            metavar="AMOUNT",
            help="What the network may cost at most, such as 40M: switches, optics and cables.",
        ),
        click.option(
            "--write",
            "folder",
            envvar="TDSL_EXPLORE_WRITE",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="Write the design of every candidate that is not refused into this folder.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    "explore",
    short_help="Try a design at many values of its parameters, or several topologies for a job.",
    epilog="\b\nExamples:\n  tdsl explore dgx_superpod_h100_racks --vary units=1..4\n"
    "  tdsl explore pod.fab --vary k=4,8,16 --x cost --y bisection --prices prices.toml --plot pareto.svg\n"
    "  tdsl explore --topology clos,rail_only,dragonfly,torus --job llama3_405b_16k_gpus\n"
    "  tdsl explore shelf.fab --topology clos,dragonfly --job llama3_70b --budget 3M --picture pareto.svg",
)
@click.argument("file", type=Source(), metavar="[FILE]", default="")
@click.option(
    "--vary",
    type=SettingParameter(),
    multiple=True,
    metavar="NAME=V1,V2,...|LOW..HIGH",
    help="Values of a parameter; more than once for all combinations.",
)
@topology_options
@click.option(
    "--x",
    default="",
    metavar="FIGURE",
    help="The first figure to judge by: power_kw if not given, and of topologies network_cost if known. The "
    "one parameter that is varied makes a curve of --y over it.",
)
@click.option(
    "--y",
    default="",
    metavar="FIGURE",
    help="The second figure to judge by: accelerators if not given, and of topologies step_s.",
)
@click.option(
    "--plot",
    "--picture",
    "plot",
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
@with_untrusted_option
def command(file: str, **given: Any) -> int:
    """Print a line for each combination of the values: its figures, and `yes` under `best` where no other
    combination is at least as good in both figures and better in one.

    With --topology, a line for each network that is sized for the accelerators of --job or --gpus: a design
    of its own, checked like any other. FILE may declare the job, models with their prices, or a fabric whose
    accelerators are taken; its models count where no option names one.

    A combination with errors has the first code under `errors`. Figures that are unknown or bounds are not
    judged. More is better of hosts, accelerators, bisection, edge_redundancy, mfu and tokens_per_second; less
    is better of all other figures. Where --x is the parameter that is varied, the line where the curve bends
    has `yes` under `knee`: the one farthest from the straight line between both ends.

    Exit status: 0 judged, 1 no combination has both figures, so none is judged, 2 a wrong call.
    """
    _refuse_options_that_do_not_fit(file, given)
    explored = _explore_topologies(file, given) if given["topology"] else _explore_parameters(file, given)
    return _print_explored(explored, given["plot"], given["output_format"])


def _refuse_options_that_do_not_fit(file: str, given: dict[str, Any]) -> None:
    """Refuse a call of neither kind, or of both."""
    if given["topology"] and given["vary"]:
        raise click.UsageError("--vary is of one design, and --topology writes several: give one of them")
    if given["topology"]:
        return
    if not file:
        raise click.UsageError("name a FILE with --vary, or topologies with --topology")
    if not given["vary"]:
        raise click.UsageError(
            "--vary says which parameters to try, and --topology which networks: give one of them"
        )
    alone = ("gpus", "host", "switch", "cable", "efficiency", "budget", "folder")
    other = next((name for name in alone if given[name]), "")
    if other:
        raise click.UsageError(f"--{'write' if other == 'folder' else other} goes with --topology")


@dataclass(frozen=True, slots=True)
class Explored:
    """Designs that were tried, a row of figures each: their ``title``, the columns that name them, the two
    figures that they are judged by, what one is called, and the columns of the table ("all" if empty).
    ``rests_on`` says where figures are from, ``verdict`` what a budget buys; ``limit`` is the budget."""

    title: str
    rows: list[dict[str, object]]
    names: list[str]
    x: str
    y: str
    noun: str = "combinations"
    shown: tuple[str, ...] = ()
    rests_on: tuple[tuple[str, str], ...] = ()
    verdict: str = ""
    limit: Fraction | None = None


def _explore_parameters(file: str, given: dict[str, Any]) -> Explored:
    """A design at all combinations of values."""
    money = MoneyAndJob(given["job"], economics_of_call(given["economics"]))
    refuse_unknown_job(compile_sources([file], options_from_command(given))[0].designs, money.job)
    (file,), asked = sources_with_stdin([file], options_from_command(given))
    names, settings = _settings_to_try(given["vary"])
    trials = [Trial(pairs, ((file, replace(asked, set=(*asked.set, *pairs))),)) for pairs in settings]
    workers = Workers(given["jobs"], given["cluster"] or "")
    with show_progress():
        rows = rows_of_trials(trials, money, workers, file, "combinations")
    return Explored(Path(file).stem, rows, names, given["x"] or "power_kw", given["y"] or "accelerators")


def _explore_topologies(file: str, given: dict[str, Any]) -> Explored:
    """Networks of several topologies, sized for a job or a number of accelerators."""
    from tdsl.commands._candidate_frames import JOB_NAME, WantedParts

    topologies, job = topologies_from_text(given["topology"]), given["job"]
    wanted = WantedParts(
        given["host"], given["switch"], given["cable"], given["gpus"] or 0, job, given["oversubscription"]
    )
    call = TopologyCall(topologies, wanted, given["efficiency"], given["budget"])
    money = MoneyAndJob(JOB_NAME if job else "", economics_of_call(given["economics"]))
    asked = options_from_command(given)
    if file:
        (file,), asked = sources_with_stdin([file], asked)
    folder = given["folder"] or (Path(file).parent if file else Path())
    workers = Workers(given["jobs"], given["cluster"] or "")
    with show_progress():
        found = find_candidates(file, folder.as_posix(), asked, call, money, workers)
    if given["folder"]:
        written = write_candidates(found, given["folder"])
        print_on_stderr(f"{len(written)} designs are written into {given['folder']}")
    x, y = given["x"] or first_known_figure(found.rows), given["y"] or ("step_s" if job else "bisection")
    verdict = verdict_on_budget(found.rows, call.budget)
    return Explored(
        f"Networks for {job}" if job else "Networks", found.rows, ["candidate"], x, y, "candidates", SHOWN,
        found.rests_on, verdict, call.budget if x == "network_cost" else None,
    )  # fmt: skip


def _print_explored(explored: Explored, plot: Path | None, output_format: str) -> int:
    """Judge, print and draw what was tried; the exit status."""
    rows, x, y, names = explored.rows, explored.x, explored.y, explored.names
    if x in names:
        return _print_curve(explored, plot, output_format)
    figures = list(dict.fromkeys(k for row in rows for k in row if k not in names))
    _refuse_unknown_figures((x, y), figures)
    points = _points_of_rows(rows, names, x, y)
    best = pareto_frontier(list(points.values()), not _grows_better(x), not _grows_better(y))
    for k, good in zip(points, best, strict=True):
        rows[k]["best"] = "yes" if good else ""
    shown = explored.shown if output_format in ("table", "markdown") else ()
    table = _rows_with_verdicts(
        rows, names, [f for f in figures if not shown or f in (*shown, x, y)], bool(points)
    )
    _print_combinations(table, explored, output_format)
    if plot is not None:
        _save_plot(explored, plot)
    _say_how_many_are_not_judged(explored, len(points))
    return OK if points else FOUND


def _say_how_many_are_not_judged(explored: Explored, judged: int) -> None:
    """Say how many rows without a reason of their own are not judged, and why."""
    rows, x, y = explored.rows, explored.x, explored.y
    left = len(rows) - judged - sum(1 for row in rows if row.get("why"))
    if left:
        errors = "" if explored.shown else "they have errors, or "
        why = f"{errors}{x} or {y} is unknown or a bound; --x and --y name other figures"
        print_on_stderr(f"{left} of {len(rows)} {explored.noun} are not judged: {why}")


def _print_curve(explored: Explored, plot: Path | None, output_format: str) -> int:
    """Print and draw a figure over the one parameter that is varied; the exit status."""
    from tdsl.commands._curve import curve_svg, knee_of_curve

    rows, x, y, names = explored.rows, explored.x, explored.y, explored.names
    if names != [x]:
        raise click.UsageError(f"--x {x} makes a curve over {x}, so --vary names {x} alone")
    figures = list(dict.fromkeys(k for row in rows for k in row if k != x))
    _refuse_unknown_figures((y,), figures)
    points = _points_of_rows(rows, names, x, y)
    knee = knee_of_curve(list(points.values()))
    for number, k in enumerate(points):
        rows[k]["knee"] = "yes" if number == knee else ""
    _print_combinations(
        _rows_with_verdicts(rows, names, figures, bool(points), "knee"), explored, output_format
    )
    if plot is not None:
        if not points:
            raise Wrong(
                f"{y} is known of no combination without errors, or {x} is not a number: nothing to draw"
            )
        save_text(curve_svg(list(points.values()), knee, explored.title, x, y), plot)
    left = len(rows) - len(points)
    if left:
        print_on_stderr(f"{left} of {len(rows)} combinations are not on the curve: {y} is unknown or a bound")
    return OK if points else FOUND


def _rows_with_verdicts(
    rows: list[dict[str, object]], names: list[str], figures: list[str], judged: bool, verdict: str = "best"
) -> OutputRows:
    """The combinations with the figures that any of them has, and whether they are the best where any was
    ``judged``, or what another ``verdict`` says."""
    shown = [f for f in figures if any(row.get(f, "") != "" for row in rows)]
    head = [*names, *([verdict] if judged else []), *shown]
    return OutputRows(head, [[row.get(h, "") for h in head] for row in rows])


def _save_plot(explored: Explored, plot: Path) -> None:
    """Draw both figures of all that was tried; what a budget refuses is drawn, too, and is never best."""
    x, y = explored.x, explored.y
    judged = _points_of_rows(explored.rows, explored.names, x, y)
    points = _points_of_rows(explored.rows, explored.names, x, y, ("", OVER_BUDGET))
    if not judged:
        raise Wrong(
            f"no {explored.noun.removesuffix('s')} without errors has both {x} and {y} exactly, so there is "
            "nothing to draw"
        )
    best = [explored.rows[k].get("best") == "yes" for k in points]
    limit = None if explored.limit is None else float(explored.limit)
    less = not _grows_better(x), not _grows_better(y)
    save_text(pareto_svg(list(points.values()), best, explored.title, x, y, *less, limit), plot)


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
    from tdsl.verify.check import checks_by_name

    check = checks_by_name().get(figure.partition(" ")[0])
    return figure.rpartition(".")[2] in MORE or (check is not None and check.scarce)


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
    rows: list[dict[str, object]],
    names: list[str],
    x_name: str,
    y_name: str,
    errors: tuple[str, ...] = ("",),
) -> dict[int, Point]:
    """The combinations with none but these errors of which both figures are known, by their row."""
    out = {}
    for k, row in enumerate(rows):
        x, y = (number_of_figure(row.get(name, "")) for name in (x_name, y_name))
        if row["errors"] in errors and x is not None and y is not None:
            name = str(row[names[0]]) if names == ["candidate"] else ", ".join(f"{n}={row[n]}" for n in names)
            out[k] = Point(name, x, y)
    return out


def _print_combinations(rows: OutputRows, explored: Explored, output_format: str) -> None:
    """Print the rows, and below a table what their figures rest on."""
    if output_format == "json":
        more: dict[str, object] = {}
        if explored.rests_on:
            more["rests_on"] = [{"origin": origin, "figure": what} for origin, what in explored.rests_on]
        if explored.verdict:
            more["verdict"] = explored.verdict
        print_json({"points": rows.records(), **more})
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
        by_origin: dict[str, list[str]] = {}
        for origin, what in explored.rests_on:
            by_origin.setdefault(origin, []).append(what)
        write_to_stream("".join(f"{origin}: {'; '.join(what)}\n" for origin, what in by_origin.items()))
        write_to_stream(f"{explored.verdict}\n" if explored.verdict else "")
