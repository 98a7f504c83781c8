"""``tdsl compare``: several designs, or one at several values of a parameter, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._compared_figures import figures_of_design, figures_of_economics, figures_of_jobs
from tdsl.commands._everywhere import print_on_stderr
from tdsl.commands._jobs import economics_of_call, economics_option, job_option, refuse_unknown_job
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
    show_findings,
    write_to_stream,
)
from tdsl.commands._untrusted import with_untrusted_option

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from tdsl.compile.compiler import Compilation, Design, Request
    from tdsl.physical.economics import Economics


@click.command(
    "compare",
    short_help="Compare designs, or one design at several values of a parameter.",
    epilog="\b\nExamples:\n  tdsl compare ft2 deepseek_mpft ft3\n  tdsl compare dgx_superpod_h100_racks "
    "--vary units=1,2,4\n"
    "  tdsl compare a.fab b.fab --prices prices.toml --format markdown\n"
    "  tdsl compare a.fab b.fab --job llama3_405b_16k_gpus --economics economics.toml",
)
@click.argument("files", type=Source(), nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--vary",
    type=SettingParameter(),
    metavar="NAME=V1,V2,...",
    help="Give a parameter of the one FILE these values in turn.",
)
@job_option
@economics_option
@design_options
@places_option
@output_format_option([*FORMATS, "markdown"])
@limit_options
@with_untrusted_option
def command(
    files: tuple[str, ...],
    vary: tuple[str, str] | None,
    job: str,
    economics: Path | None,
    output_format: str,
    **given: Any,
) -> int:
    """Print a table with a column for each design: sizes, cables, power, cost, bisection and more.

    Of training jobs it has the time of a step, MFU and tokens a second, and with --economics what a million
    tokens cost. An efficiency that follows from a measurement is that of the first design, for all of them.

    Sums of which figures are unknown begin with >=; what no design knows is left out.

    Exit status: 0 compared, 1 a design has errors or there is only one, 2 a wrong call.
    """
    import sys

    told = economics_of_call(economics)
    asked = options_from_command(given)
    headings, calls = _calls_to_compare(files, vary, asked)
    compilations = [compile_sources([file], o)[0] for file, o in calls]
    failing = [c for c in compilations if any(d.severity.word == "error" for d in c.findings)]
    show_findings(failing, sys.stderr)
    ordered = [_clusters_before_their_networks(c) for c in compilations]
    shown = [d for each in ordered for d in each]
    if any(d.fabric is None for d in shown):
        raise Wrong("a design has errors, so there is nothing to compare")
    refuse_unknown_job(shown, job)
    _print_comparison(_comparison_table(ordered, headings, job, told), output_format)
    if len(shown) < 2:
        print_on_stderr(
            "one design is not compared with any other: name another FILE, or several values with --vary"
        )
        return FOUND
    return FOUND if failing else OK


def _clusters_before_their_networks(compilation: Compilation) -> list[Design]:
    """The fabrics in order; before those of a cluster the cluster as a whole."""
    first = {d.cluster: n for n, d in reversed([*enumerate(compilation.designs)]) if d.cluster}
    places = [(n, 1, d) for n, d in enumerate(compilation.designs)]
    places += [(first[d.cluster], 0, d) for d in compilation.clusters]
    return [d for *_, d in sorted(places, key=lambda place: place[:2])]


def _comparison_table(
    ordered: list[list[Design]], varied: list[str], job: str = "", economics: Economics | None = None
) -> OutputRows:
    """A column for each design of each file, a row for each figure; ``varied`` are the values of the
    parameter that differs, where one does. Of jobs the one named, or all."""
    shown = [d for each in ordered for d in each]
    files_of_columns = [number for number, each in enumerate(ordered, 1) for _ in each]
    heads = _comparison_headings(shown, files_of_columns, varied)
    columns = [figures_of_design(d) for d in shown]
    efficiencies: dict[str, Fraction] = {}
    for design, figures in zip(shown, columns, strict=True):
        figures |= figures_of_jobs(design, job, economics, efficiencies)
        figures |= figures_of_economics(design, economics) if economics is not None else {}
    return OutputRows(("figure", *heads), _comparison_rows(columns))


def _comparison_rows(columns: list[dict[str, object]]) -> list[list[object]]:
    """A row for each figure that a design has."""
    return [
        [name, *(c.get(name, "") for c in columns)]
        for name in dict.fromkeys(name for c in columns for name in c)
        if any(c.get(name, "") != "" for c in columns)
    ]


def _calls_to_compare(
    files: tuple[str, ...], vary: tuple[str, str] | None, asked: Request
) -> tuple[list[str], list[tuple[str, Request]]]:
    """Headings where a parameter is varied, else none; and each design with its options."""
    if vary is None:
        return [], [(f, asked) for f in files]
    if len(files) != 1:
        raise click.UsageError("--vary compares one FILE at several values of a parameter")
    name, texts = vary
    values = [v.strip() for v in texts.split(",") if v.strip()]
    if not values:
        raise click.UsageError(f"--vary {name} has no value: write {name}=V1,V2,...")
    calls = [(files[0], replace(asked, set=(*asked.set, (name, v)))) for v in values]
    return [f"{name}={v}" for v in values], calls


def _comparison_headings(shown: list[Design], files: list[int], varied: list[str]) -> list[str]:
    """A heading for each column, no two the same; ``files`` has the number of each one's file."""
    if varied and len(varied) == len(shown):
        return varied
    names = [
        f"{d.name} (all)" if d.members else f"{d.cluster}.{d.name}" if d.cluster else d.name for d in shown
    ]
    if len(set(zip(names, files, strict=True))) < len(names):  # phases of one design
        files = [*range(1, len(names) + 1)]
    return [n if names.count(n) == 1 else f"{n} ({files[k]})" for k, n in enumerate(names)]


def _print_comparison(rows: OutputRows, output_format: str) -> None:
    if output_format == "json":
        print_json({"comparison": rows.records()})
    elif output_format == "csv":
        print_csv(rows)
    elif output_format == "markdown":
        lines = [rows.head, ["---", *("---:" for _ in rows.head[1:])], *rows.body]
        write_to_stream(
            "".join("| " + " | ".join(str(v).replace("|", "\\|") for v in line) + " |\n" for line in lines)
        )
    else:
        print_table(rows)
