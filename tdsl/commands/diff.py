"""``tdsl diff``: what differs between two designs, or between two revisions of one."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl import __version__
from tdsl.commands._everywhere import warn
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
    save,
    say,
)
from tdsl.diagnostic import Severity
from tdsl.report.paint import Paint, wants_colour, width_of

if TYPE_CHECKING:
    from tdsl.changes.model import Changes
    from tdsl.changes.steps import Plan
    from tdsl.compiler import Compilation, Design, Options

DIFFERS = 3
LAST, EVERY = -1, -2
"""In the place of a phase's number: the last one, all of them."""


@click.command(
    "diff",
    short_help="Show what differs between two designs, or two revisions of one.",
    epilog="\b\nExamples:\n  tdsl diff superpod.fab superpod_new.fab\n"
    "  tdsl diff main superpod.fab                        (as it was in the revision `main`)\n"
    "  tdsl diff main...branch                            (every design that a branch changes, as git does)\n"
    "  tdsl diff v1:superpod.fab v2:superpod.fab --output-format markdown\n"
    "  tdsl diff superpod.fab superpod.fab --set-old units=3 --set-new units=4\n"
    "  tdsl diff superpod.fab                             (from each phase of the design to the next)\n"
    "  tdsl diff pod.fab pod_new.fab --steps --floor 75%  (in which order the cables are moved)\n"
    "  tdsl diff pod.fab pod_new.fab --cables moves.csv   (which cables a crew adds, moves and removes)\n"
    "  tdsl diff main...branch --picture change.svg       (each fabric before and after, side by side)",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", required=False)
@design_options
@click.option("--set-old", type=Setting(), multiple=True, help="Give a parameter a value in OLD only.")
@click.option("--set-new", type=Setting(), multiple=True, help="Give a parameter a value in NEW only.")
@click.option(
    "--output-format", "--format", "output_format", type=click.Choice(["text", "markdown", "json"]), default="text",
    show_default=True, help="How to print; markdown is for a comment on a pull request.",
)  # fmt: skip
@click.option("--steps", is_flag=True, help="Order the moves so that the bisection stays at or above --floor.")
@click.option("--floor", default="75%", callback=floor_of, show_default=True, metavar="REQUIREMENT",
              help="What --steps keeps, such as 'bisection >= 75%'.")  # fmt: skip
@click.option(
    "--cables", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write the cables to add, move, replace and remove as CSV, with the phase and the day by which it is needed.",
)  # fmt: skip
@click.option(
    "--picture", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Draw each fabric before and after, side by side, as SVG.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="Show long lists whole.")
@click.option("--no-checks", is_flag=True, help="Leave the figures of the checks out.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit status 0 if nothing differs, 3 if something does.")
@limit_options
def command(
    old: str, new: str | None, set_old: tuple[tuple[str, str], ...], set_new: tuple[tuple[str, str], ...], output_format: str,
    steps: bool, floor: Fraction, cables: Path | None, picture: Path | None, full: bool, no_checks: bool, detailed_exitcode: bool,
    **given: Any,
) -> int:  # fmt: skip
    """Say what differs between OLD and NEW: devices, cables, ports, names, addresses, and every figure before and after.

    Without NEW, OLD is a design in phases, and each phase is compared with the next; or A...B, which compares every design that
    B has changed since it left A (A..B: all that differ; A...B FILE: this design alone). Each is a file, a design of the standard
    library, or REVISION:FILE; a REVISION alone means the other one's file in that revision of the git repository. Devices are
    known by their path in the design, cables by their ends.

    Exit status: 0 compared; 1 NEW has errors or fails a requirement, or nothing can be compared; 2 a wrong call;
    --detailed-exitcode adds 3.
    """
    from tdsl.changes.compare import compare

    asked = options(given)
    from_nothing = new is None
    try:
        if ".." in old and not any(x in old for x in (":", "../", ".fab")):
            jobs, new = _changed(old, new)
            both = replace(asked, phase=asked.phase or LAST)
            pairs = []
            for before, after in jobs:
                sides = [(before, after, set_old), (after, before, set_new)]
                pairs += _pairs(*(_side(*side, both, not no_checks) for side in sides))
            from_nothing = False
            if not pairs:
                click.echo(f"no design differs between the revisions of {old}")
        elif new is None:
            pairs = _phases(old, replace(asked, set=(*asked.set, *set_old, *set_new)), not no_checks)
            new = old
        else:
            sides = [(old, new, set_old), (new, old, set_new)]
            pairs = _pairs(*(_side(*side, replace(asked, phase=asked.phase or LAST), not no_checks) for side in sides))
    except Incomparable as why:
        warn(f"{why}")
        return FOUND
    found = [compare(*pair) for pair in pairs]
    if cables is not None:
        _write_moves(cables, pairs, found, from_nothing)
    if picture is not None:
        _draw(picture, pairs, found)
    plans = [_plan(*pair, c, floor) for pair, c in zip(pairs, found, strict=True)] if steps else []
    if output_format == "json":
        from tdsl.changes.words import document, steps_document
        from tdsl.report.json_report import SCHEMA, dump

        fabrics = [document(c) for c in found]
        for fabric, plan in zip(fabrics, plans, strict=False):
            fabric["order"] = steps_document(plan)
        say(dump({"schema": SCHEMA, "tdsl": __version__, "old": old, "new": new, "fabrics": fabrics}))
    elif output_format == "markdown":
        from tdsl.changes.words import markdown
        from tdsl.changes.words import steps as ordered

        say(markdown(found, full) + "".join(f"\n```\n{ordered(p, Paint(False), 100, full)}```\n" for p in plans))
    else:
        from tdsl.changes.words import steps as ordered
        from tdsl.changes.words import text

        paint, width = Paint(wants_colour(sys.stdout)), width_of(sys.stdout)
        say(text(found, paint, width, full) + "".join(f"\n{ordered(p, paint, width, full)}" for p in plans))
    failing = any(x.severity is Severity.ERROR for _, after in pairs for x in after.findings)
    if failing:
        warn(f"{new} has errors: `tdsl check {new}` shows them")
    if failing or any(not p.complete for p in plans):
        return FOUND
    return DIFFERS if detailed_exitcode and any(not c.none for c in found) else OK


def _side(
    source: str, other: str, settings: tuple[tuple[str, str], ...], asked: Options, verify: bool
) -> Compilation:  # fmt: skip
    """One of the two designs, compiled."""
    mine = replace(asked, set=(*asked.set, *settings))
    revision, file = _revision(source, other)
    if revision is None:
        (compilation,) = compiled([file], mine, verify)
    else:
        compilation = _at(revision, file, mine, verify)
    if any(d.fabric is None or not d.fabric.complete for d in compilation.designs):
        from tdsl.report.terminal import findings

        for design in compilation.designs:
            for block in findings(design, Paint(wants_colour(sys.stderr)), width_of(sys.stderr)):
                say(f"{block}\n\n", sys.stderr)
        raise Incomparable(f"{source} has errors that leave nothing to compare")
    return compilation


def _phases(source: str, asked: Options, verify: bool) -> list[tuple[Design, Design]]:
    """The fabrics of a design in phases: each phase and the next."""
    if asked.phase:
        raise Wrong("--phase takes one phase, and without NEW each is compared with the next")
    every = _side(source, source, (), replace(asked, phase=EVERY), verify)
    out: list[tuple[Design, Design]] = []
    for name in dict.fromkeys(d.name for d in every.designs):
        mine = [d for d in every.designs if d.name == name and d.phase]
        out += pairwise(mine)
    if not out:
        raise Wrong(f"{source} has no two phases to compare; name a second design")
    return out


def _changed(span: str, file: str | None) -> tuple[list[tuple[str, str]], str]:
    """What ``A...B`` compares: of each design, or of the one that is named, both versions; and what to call the new one."""
    import os

    from tdsl.changes.revision import RevisionError, between, root

    try:
        top = root(Path(file).resolve().parent if file else Path.cwd())
        before, after, names = between(span, top)
    except RevisionError as wrong:
        raise Wrong(f"{span}: {wrong}") from None
    every = [file] if file else [os.path.relpath(top / name) for name in names]
    return [(f"{before}:{name}", f"{after}:{name}") for name in every], f"{after}:{every[0]}" if len(every) == 1 else after


class Incomparable(Exception):
    """A design that has no fabric to compare."""


def _revision(source: str, other: str) -> tuple[str | None, str]:
    """The revision and the file that an argument means."""
    from tdsl import resources

    def exists(name: str) -> bool:
        return Path(name).is_file() or (resources.folder("stdlib") / "designs" / f"{name}.fab").is_file()

    if exists(source):
        return None, source
    revision, colon, file = source.partition(":")
    if colon and file:
        return revision, file
    if not source.endswith(".fab"):
        file = other.partition(":")[2] or other
        if file.endswith(".fab"):
            return source, file
    return None, source


def _at(revision: str, file: str, asked: Options, verify: bool) -> Compilation:
    """A design as it is in a revision, with what it uses. It is read from git into memory; nothing is written."""
    from tdsl import files
    from tdsl.changes.revision import RevisionError, contents, root

    place = Path(file).resolve()
    try:
        top = root(place.parent if place.parent.is_dir() else Path.cwd())
        held = contents(revision, top)
    except RevisionError as wrong:
        raise Wrong(f"{revision}:{file}: {wrong}") from None
    here = top.resolve()
    if not place.is_relative_to(here) or place.relative_to(here).as_posix() not in held:
        raise Wrong(f"{revision}:{file}: there is no such file in this revision")
    folder = here / f".tdsl-revision-{files.token()}"  # it stands for the revision and never exists
    paths = [p.resolve() for p in asked.paths]
    paths = [folder / p.relative_to(here) if p.is_relative_to(here) else p for p in paths]
    with files.snapshot(folder, held):
        (compilation,) = compiled([str(folder / place.relative_to(here))], replace(asked, paths=tuple(paths)), verify)
    for design in compilation.designs:  # findings name the revision
        spans = [s for d in design.findings for s in (d.span, *(x.span for x in d.labels)) if s is not None]
        for source in {id(s.file): s.file for s in spans}.values():
            source.name = source.name.replace(f"{folder.as_posix()}/", f"{revision}:")
    return compilation


def _pairs(before: Compilation, after: Compilation) -> list[tuple[Design, Design]]:
    """Fabrics of one name against each other; where there is one on each side, those two."""
    old, new = ({d.name: d for d in c.designs} for c in (before, after))
    if len(old) == len(new) == 1:
        return list(zip(old.values(), new.values(), strict=True))
    for name in [*old, *(n for n in new if n not in old)]:
        if name not in old or name not in new:
            raise Wrong(f"only {'NEW' if name in new else 'OLD'} has a fabric `{name}`")
    return [(old[name], new[name]) for name in old]


def _write_moves(path: Path, pairs: list[tuple[Design, Design]], found: list[Changes], from_nothing: bool) -> None:
    """The table of ``--cables``; of a design in phases with all cables of the first one."""
    from tdsl.changes.compare import cables
    from tdsl.changes.moves import csv

    start, _ = pairs[0]
    first = None
    if from_nothing and start.fabric is not None:
        first = (cables(start.fabric), start.phase, start.needed)
    rows = [(c, new.phase, new.needed) for c, (_, new) in zip(found, pairs, strict=True)]
    save(csv(rows, first), path)


def _draw(path: Path, pairs: list[tuple[Design, Design]], found: list[Changes]) -> None:
    """The picture of ``--picture``."""
    from tdsl.changes.pictures import beside

    save(beside((old, new, c) for (old, new), c in zip(pairs, found, strict=True)), path)


def _plan(old: Design, new: Design, changes: Changes, floor: Fraction) -> Plan:
    """The order of moves from one fabric to the other."""
    from tdsl.changes.steps import Plan, Planner
    from tdsl.changes.union import union

    assert old.fabric is not None and new.fabric is not None
    both = union(old.fabric, new.fabric)
    if both is None:
        return Plan(floor, why="a device keeps its place and becomes another model: exchange it by itself")
    return Planner(both, changes, floor).run()
