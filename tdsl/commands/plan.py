"""``tdsl plan``: from one cabling to the next with the fewest moves, step by step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._everywhere import inform, warn
from tdsl.commands._shared import (
    FOUND,
    OK,
    Setting,
    Wrong,
    compiled,
    design_options,
    floor_of,
    limit_options,
    options,
    places_option,
    save,
    save_lock,
    say,
    show_findings,
)

if TYPE_CHECKING:
    from tdsl.changes.model import Changes
    from tdsl.changes.steps import Plan
    from tdsl.changes.union import Union
    from tdsl.compile.compiler import Compilation, Design, Options
    from tdsl.fabric.graph import Bools

FEW = 16
"""States of one cable less that are judged where requirements are kept, which takes longer than the bisection."""
FORMATS = ("text", "json", "csv")


@click.command(
    "plan",
    short_help="Order the work that leads from one cabling to the next.",
    epilog="\b\nExamples:\n  tdsl plan superpod.fab superpod_next.fab --floor 'bisection >= 75%'\n"
    "  tdsl plan pod.fab pod_next.fab --keep edge_redundancy -o steps.csv\n"
    "  tdsl plan dgx_superpod_h100 dgx_superpod_h100 --set-old units=2 --set-new units=3",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--floor", default="75%", callback=floor_of, show_default=True, metavar="REQUIREMENT",
              help="What the bisection never falls below, such as 'bisection >= 75%'.")  # fmt: skip
@click.option("--keep", multiple=True, metavar="METRIC", help="NEW's requirements on this metric hold at every moment, too.")
@click.option("--set-old", type=Setting(), multiple=True, help="Give a parameter a value in OLD only.")
@click.option("--set-new", type=Setting(), multiple=True, help="Give a parameter a value in NEW only.")
@click.option("--no-lock", is_flag=True, help="Do not write NEW.lock.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the work here, a row an action: .csv or .xlsx.")  # fmt: skip
@click.option("--format", "--output-format", "output_format", type=click.Choice(FORMATS), default="text", show_default=True,
              help="How to print; csv is the work.")  # fmt: skip
@click.option("--full", is_flag=True, help="Show long lists whole.")
@design_options
@places_option
@limit_options
def command(
    old: str, new: str, floor: Fraction, keep: tuple[str, ...], set_old: tuple[tuple[str, str], ...],
    set_new: tuple[tuple[str, str], ...], no_lock: bool, output: Path | None, output_format: str, full: bool, **given: Any,
) -> int:  # fmt: skip
    """Plan the work from the cabling of OLD to that of NEW, with the fewest moves.

    Links of OLD keep their ports where NEW still joins the same devices; new links take free ports. This choice is written to
    NEW.lock, which `check` and `build` follow. The order of the moves keeps --floor at every moment, and the requirements that
    --keep names. Hosts that are new or leave are out of service meanwhile; all that has free ports is plugged first.

    Exit status: 0 an order is found, 1 none, or a design has errors, 2 a wrong call.
    """
    if output is not None and output.suffix not in (".csv", ".xlsx"):
        raise Wrong(f"{output}: the work is written as .csv or .xlsx")
    asked = options(given)
    before = _compiled(old, replace(asked, set=(*asked.set, *set_old)))
    after = None
    if before is not None:
        after = _compiled(new, replace(asked, set=(*asked.set, *set_new), stands=_lock(before, new, asked)))
    if before is None or after is None:
        return FOUND
    made = [(one, other, *_planned(one, other, floor, keep)) for one, other in _pairs(before, after)]
    if output is not None:
        _write(output, made)
    complete = all(plan.complete for *_, plan in made)
    if complete and not no_lock:
        _record(old, new, after)
    _print(made, output_format, full)  # last: a reader such as `head` may end the program
    return OK if complete else FOUND


Planned = tuple["Design", "Design", "Changes", "Plan"]


def _compiled(source: str, asked: Options) -> Compilation | None:
    """A design that can be cabled; None, and its findings printed, where it has errors."""
    (compilation,) = compiled([source], asked, verify=False)
    if all(d.fabric is not None and d.fabric.complete for d in compilation.designs):
        return compilation
    show_findings([compilation], sys.stderr)
    warn(f"{source} has errors, so nothing is planned")
    return None


def _lock(before: Compilation, new: str, asked: Options) -> Any:
    """What stands, as a lock for the new design."""
    from tdsl.fabric.pins import write
    from tdsl.findings.source import SourceFile

    fabrics = [d.fabric for d in before.designs if d.fabric is not None]
    if len(fabrics) == 1:
        from tdsl.compile import compiler

        try:
            names = [d.name for d in compiler.elaborate(new, replace(asked, lock=False, set=())).designs]
        except compiler.UsageError:
            names = []
        if len(names) == 1 and names[0] != fabrics[0].name:
            fabrics = [replace(fabrics[0], name=names[0])]
    return SourceFile(f"{new}.lock", write(fabrics, Path(new).name))


def _pairs(before: Compilation, after: Compilation) -> list[tuple[Design, Design]]:
    """Fabrics of one name; where there is one on each side, those two."""
    old, new = ({d.name: d for d in c.designs} for c in (before, after))
    if len(old) == len(new) == 1:
        return list(zip(old.values(), new.values(), strict=True))
    if set(old) != set(new):
        raise Wrong("OLD and NEW have other fabrics: " + ", ".join(sorted(set(old) ^ set(new))))
    return [(old[name], new[name]) for name in old]


def _planned(old: Design, new: Design, share: Fraction, keep: Sequence[str]) -> tuple[Changes, Plan]:
    """What differs, and the order of moves."""
    from tdsl.changes.compare import compare
    from tdsl.changes.steps import Plan, Planner
    from tdsl.changes.union import union

    assert old.fabric is not None and new.fabric is not None
    for metric in keep:
        if not any(c.metric == metric and not c.report for c in new.claims):
            known = ", ".join(sorted({c.metric for c in new.claims if not c.report})) or "none"
            raise Wrong(f"--keep {metric}: {new.name} has no requirement on it; it has {known}")
    changes = compare(old, new)
    both = union(old.fabric, new.fabric)
    if both is None:
        why = "a device keeps its place and becomes another model: exchange it in a change of its own"
        return changes, Plan(share, why=why)
    planner = Planner(both, changes, share)
    if keep:
        planner.broken, planner.tries = _broken(both, new, keep), FEW
    return changes, planner.run()


def _broken(both: Union, new: Design, keep: Sequence[str]) -> Callable[[Bools, Bools], str]:
    """Judges the requirements that are kept on a state of the cabling."""
    from tdsl.fabric.failing import Failed
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.verify.runner import run

    claims = sorted((c for c in new.claims if c.metric in keep and not c.report), key=lambda c: c.metric == "survives")

    def judge(present: Bools, idle: Bools) -> str:
        for claim in claims:  # the cheap ones first, up to the first that does not hold
            r = run(both.fabric, [claim], Diagnostics(), select={claim.metric}, failed=Failed((), idle, ~present))[0]
            if r.status not in ("proved", "modelled"):
                return f"`{r.requirement}` is {r.status}: {r.text or r.reason}"
        return ""

    return judge


def _table(made: Sequence[Planned]) -> list[tuple[object, ...]]:
    from tdsl.changes.work import places, rows

    return [
        row for old, new, changes, plan in made if old.fabric is not None and new.fabric is not None
        for row in rows(plan, changes, places(old.fabric, new.fabric))
    ]  # fmt: skip


def _csv(made: Sequence[Planned]) -> str:
    from tdsl.changes.work import COLUMNS
    from tdsl.emit.rows import csv_line

    return "".join(f"{csv_line(row)}\n" for row in (COLUMNS, *_table(made)))


def _print(made: Sequence[Planned], output_format: str, full: bool) -> None:
    from tdsl.changes.words import share_moved, steps, steps_document
    from tdsl.changes.work import COLUMNS, by_rack, tally

    if output_format == "csv":
        say(_csv(made))
        return
    if output_format == "json":
        from tdsl import __version__
        from tdsl.report.json_report import SCHEMA, dump

        fabrics = []
        for one in made:
            lay, move, remove = tally(one[3], one[2])
            work = [dict(zip(COLUMNS, row, strict=True)) for row in _table([one])]
            count = {"cables_laid": lay, "cables_moved": move, "cables_removed": remove}
            fabrics.append({"fabric": one[1].name, **count, **steps_document(one[3]), "work": work})
        say(dump({"schema": SCHEMA, "tdsl": __version__, "fabrics": fabrics}))
        return
    from tdsl.report.paint import Paint, wants_colour, width_of

    paint, width = Paint(wants_colour(sys.stdout)), width_of(sys.stdout)
    for one in made:
        old, new, changes, plan = one
        say(f"{new.name}: {share_moved(changes, old.fabric)}\n")
        say(steps(plan, paint, width, full))
        racks = by_rack(_table([one])) if plan.complete else {}
        for (hall, row, rack), count in racks.items():
            if rack:
                say(f"  {hall} {row} {rack}: {', '.join(f'{n:,} {what}' for what, n in count.items())}\n")


def _write(output: Path, made: Sequence[Planned]) -> None:
    """The work as CSV or as a workbook."""
    if output.suffix == ".csv":
        save(_csv(made), output)
        return
    from tdsl.changes.work import COLUMNS
    from tdsl.emit.workbook import Sheet, workbook
    from tdsl.system import files

    try:
        files.replace(output, workbook([Sheet("steps", COLUMNS, _table(made), frozen=1)], "Steps"))
    except OSError as fault:
        raise Wrong(f"{output}: {fault.strerror or fault}") from None


def _record(old: str, new: str, after: Compilation) -> None:
    """Write NEW's lock, where NEW is a file of its own."""
    from tdsl.compile.compiler import LOCK
    from tdsl.fabric.pins import write
    from tdsl.physical.standing import digests, figures_of

    place = Path(new)
    if not place.is_file():
        return
    if Path(old).is_file() and place.resolve() == Path(old).resolve():
        warn(f"{new}{LOCK} is not written: it is the lock of OLD, too; `tdsl lock {new}` records NEW once it is cabled")
        return
    fabrics = [d.fabric for d in after.designs if d.fabric is not None]
    used = digests(after.read, place.parent)
    text = write(fabrics, place.name, used, {f.name: figures_of(f) for f in fabrics})
    save_lock(text, Path(f"{new}{LOCK}"))
    inform(f"{new}{LOCK} is written: {sum(f.link_count for f in fabrics):,} links")
