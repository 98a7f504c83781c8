"""``tdsl compare``: several designs, or one at several values of a parameter, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._compared_figures import (
    figures_of_design,
    figures_of_economics,
    figures_of_jobs,
    figures_of_statements,
)
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
from tdsl.system.lazy_dataclass import dataclass

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

    Figures that the designs require or report have a row each, such as allreduce 1GB or mean_hops.

    Sums of which figures are unknown begin with >=, figures of a model with ~; what no design knows is left
    out. A design that is refused has its first code under `errors`, and no figures where its wiring is.

    Exit status: 0 compared, 1 a design has errors or there is only one, 2 a wrong call.
    """
    import sys

    told = economics_of_call(economics)
    asked = options_from_command(given)
    headings, calls = _calls_to_compare(files, vary, asked)
    compilations = [compile_sources([file], o)[0] for file, o in calls]
    failing = [c for c in compilations if any(d.severity.word == "error" for d in c.findings)]
    show_findings(failing, sys.stderr)
    columns = [column for n, c in enumerate(compilations, 1) for column in _columns_of_compilation(c, n)]
    shown = [c.design for c in columns if c.design is not None]
    if not any(d.fabric is not None for d in shown):
        raise Wrong("every design has errors, so there is nothing to compare")
    refuse_unknown_job(shown, job)
    _print_comparison(_comparison_table(columns, headings, job, told), output_format)
    if len(columns) < 2:
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


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A design of the comparison, None of a file in which none can be read; the number of its file; and the
    code of the first error that refuses it, or ""."""

    name: str
    file: int
    design: Design | None
    errors: str


def _columns_of_compilation(compilation: Compilation, number: int) -> list[ComparedColumn]:
    """A column for each design of a file, or one that says why there is none."""
    designs = _clusters_before_their_networks(compilation)
    found = [d for d in compilation.findings if d.severity.word == "error"]
    if not designs:
        stem = compilation.file.removesuffix(".fab").rpartition("/")[2]
        return [ComparedColumn(stem, number, None, found[0].code if found else "E0122")]
    of_designs = {id(d) for design in designs for d in design.findings}
    of_file = [d.code for d in found if id(d) not in of_designs]
    columns = []
    for design in designs:
        codes = [*of_file, *(d.code for d in design.findings if d.severity.word == "error")]
        columns.append(ComparedColumn(_column_name(design), number, design, codes[0] if codes else ""))
    return columns


def _column_name(design: Design) -> str:
    if design.members:
        return f"{design.name} (all)"
    return f"{design.cluster}.{design.name}" if design.cluster else design.name


def _comparison_table(
    columns: list[ComparedColumn], varied: list[str], job: str = "", economics: Economics | None = None
) -> OutputRows:
    """A row for each figure of the designs; ``varied`` are the values of the parameter that differs, where
    one does. Of jobs the one named, or all."""
    known: list[dict[str, object]] = []
    efficiencies: dict[str, Fraction] = {}
    for column in columns:
        figures: dict[str, object] = {"errors": column.errors}
        design = column.design
        if design is not None and design.fabric is not None and design.fabric.complete:
            figures |= figures_of_design(design) | figures_of_statements(design)
            figures |= figures_of_jobs(design, job, economics, efficiencies)
            figures |= figures_of_economics(design, economics) if economics is not None else {}
        known.append(figures)
    return OutputRows(("figure", *_comparison_headings(columns, varied)), _comparison_rows(known))


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


def _comparison_headings(columns: list[ComparedColumn], varied: list[str]) -> list[str]:
    """A heading for each column, no two the same."""
    if varied and len(varied) == len(columns):
        return varied
    names, files = [c.name for c in columns], [c.file for c in columns]
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
