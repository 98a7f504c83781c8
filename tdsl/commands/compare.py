"""``tdsl compare``: several designs, or one at several values of a parameter, side by side."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._rows import FORMATS, Rows, print_csv, print_json, print_table
from tdsl.commands._shared import (
    FOUND,
    OK,
    Setting,
    Source,
    Wrong,
    compiled,
    design_options,
    limit_options,
    options,
    places_option,
    say,
    show_findings,
)

if TYPE_CHECKING:
    from tdsl.compiler import Design
    from tdsl.physical.racks import Bound

LEAST = ("bisection", "oversubscription", "diameter", "edge_redundancy")
"""Checks whose answers are compared, in this order."""


@click.command(
    "compare",
    short_help="Compare designs, or one design at several values of a parameter.",
    epilog="\b\nExamples:\n  tdsl compare ft2 deepseek_mpft ft3\n  tdsl compare dgx_superpod_h100_racks --vary units=1,2,4\n"
    "  tdsl compare a.fab b.fab --prices prices.toml --format markdown",
)
@click.argument("files", type=Source(), nargs=-1, required=True, metavar="FILE...")
@click.option("--vary", type=Setting(), metavar="NAME=V1,V2,...", help="Give a parameter of the one FILE these values in turn.")
@design_options
@places_option
@click.option(
    "--output-format", "--format", "output_format", type=click.Choice([*FORMATS, "markdown"]), default="table", show_default=True,
    help="How to print.",
)  # fmt: skip
@limit_options
def command(files: tuple[str, ...], vary: tuple[str, str] | None, output_format: str, **given: Any) -> int:
    """Print a table with a column for each design: sizes, cables, power, cost, bisection and more.

    Sums of which figures are unknown begin with >=; what no design knows is left out.
    """
    import sys

    asked = options(given)
    if vary is not None:
        if len(files) != 1:
            raise click.UsageError("--vary compares one FILE at several values of a parameter")
        values = [v.strip() for v in vary[1].split(",") if v.strip()]
        calls = [(files[0], replace(asked, set=(*asked.set, (vary[0], v)))) for v in values]
    else:
        values, calls = [], [(f, asked) for f in files]
    compilations = [compiled([file], o)[0] for file, o in calls]
    show_findings([c for c in compilations if any(d.severity.word == "error" for d in c.findings)], sys.stderr)
    shown = [d for c in compilations for d in c.designs]
    if any(d.fabric is None for d in shown):
        raise Wrong("a design has errors, so there is nothing to compare")
    heads = _heads(shown, [f"{vary[0]}={v}" for v in values] if vary is not None else [])
    columns = [_figures(d) for d in shown]
    rows = [[name, *(c.get(name, "") for c in columns)] for name in columns[0] if any(c.get(name, "") != "" for c in columns)]
    _print(Rows(("figure", *heads), rows), output_format)
    return FOUND if any(d.severity.word == "error" for c in compilations for d in c.findings) else OK


def _heads(shown: list[Design], varied: list[str]) -> list[str]:
    """A heading for each column, no two alike."""
    if varied and len(varied) == len(shown):
        return varied
    names = [d.name for d in shown]
    return [n if names.count(n) == 1 else f"{n} ({k + 1})" for k, n in enumerate(names)]


def _print(rows: Rows, output_format: str) -> None:
    if output_format == "json":
        print_json({"comparison": rows.records()})
    elif output_format == "csv":
        print_csv(rows)
    elif output_format == "markdown":
        lines = [rows.head, ["---", *("---:" for _ in rows.head[1:])], *rows.body]
        say("".join("| " + " | ".join(str(v).replace("|", "\\|") for v in line) + " |\n" for line in lines))
    else:
        print_table(rows)


def _figures(design: Design) -> dict[str, object]:
    """The figures of one design, by name; "" where unknown."""
    import numpy as np

    from tdsl.physical.figures import Figures
    from tdsl.verify.checks.power import network
    from tdsl.verify.summary import summarise

    f = design.fabric
    assert f is not None
    summary = summarise(f)
    out: dict[str, object] = {n: _plain(summary.get(n)) for n in ("hosts", "accelerators", "switches", "links", "cables")}
    figures = Figures(f)
    everything = np.ones(f.device_count, dtype=np.bool_)
    physical = figures.physical
    if physical is not None:
        run = physical.lengths.run
        known = run[run >= 0]
        sign = ">=" if len(known) < len(run) else ""
        out["cable_km"] = f"{sign}{known.sum() / 1e9:.3f}" if len(known) else ""
    else:
        out["cable_km"] = ""
    legs = np.ones(len(f.cable_a), dtype=np.bool_)
    ends = summary.get("accelerators")
    power, cost = figures.power(everything), figures.cost(everything, legs)
    out["power_kw"] = _bound(power, 1000)
    out["network_power_kw"] = _bound(figures.power(network(f)), 1000)
    out["optics_kw"] = _bound(figures.optics_power(everything), 1000)
    out["watts_per_gpu"] = _bound(power, ends) if isinstance(ends, int) and ends else ""
    out["cost"] = _bound(cost, 1)
    out["network_cost"] = _bound(figures.cost(network(f), legs), 1)
    out["cost_per_gpu"] = _bound(cost, ends) if isinstance(ends, int) and ends else ""
    for name in LEAST:
        found = next((r for r in design.results if r.check == name and not r.scope and r.status != "skipped"), None)
        out[name] = "" if found is None else _answer(found.ratio, found.lower, found.upper, name)
    return out


def _answer(ratio: tuple[int, int] | None, lower: object, upper: object, name: str) -> str:
    if ratio is not None and ratio[1]:
        return f"{float(Fraction(*ratio)):g}:1"

    def one(value: object) -> str:
        if isinstance(value, Fraction) and name == "bisection":
            return f"{float(value * 100):g}%"
        return f"{float(value):g}" if isinstance(value, (int, float, Fraction)) else ""

    return one(lower) if lower == upper else f"{one(lower)} to {one(upper)}"


def _plain(value: object) -> object:
    found = value.get("total") if isinstance(value, dict) else value
    return "" if found is None else found


def _bound(bound: Bound, by: int) -> str:
    """A sum in some unit; empty where nothing of it is known."""
    if not bound.known and bound.missing:
        return ""
    text = f"{float(bound.known / by):.6g}"
    return text if bound.exact else f">={text}"
