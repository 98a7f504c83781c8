"""``tdsl diff``: what differs between two designs, or between two revisions of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl import __version__
from tdsl.changes.model import ContractChange, JobCost
from tdsl.commands._everywhere import print_on_stderr
from tdsl.commands._job_costs import (
    CostQuestion,
    changes_between,
    cost_question,
    refuse_question_without_job,
)
from tdsl.commands._jobs import economics_option, job_option
from tdsl.commands._shared import (
    FOUND,
    OK,
    STDIN,
    Wrong,
    design_options,
    floor_option,
    limit_options,
    options_from_command,
    output_format_option,
    record_of_call,
    save_text,
    side_options,
    sources_with_stdin,
    write_to_stream,
)
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.findings.diagnostic import Severity
from tdsl.report.paint import Paint, output_width, terminal_safe_text, wants_colour
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.changes.contract import Contract
    from tdsl.changes.model import Changes, Revisions
    from tdsl.changes.revision import Revision, RevisionPair
    from tdsl.changes.steps import MovePlan
    from tdsl.compile.compiler import Compilation, Design, Request

DIFFERS = 3
LAST, EVERY = -1, -2
"""In the place of a phase's number: the last one, all of them."""


@dataclass(frozen=True, slots=True)
class DiffCall:
    """The options of a call of `tdsl diff`, but those that all commands on designs have."""

    old: str
    """The design, or revisions, that NEW is compared with."""
    new: str | None
    """The other design; None for the phases of one, or for revisions."""
    set_old: tuple[tuple[str, str], ...]
    """Values of parameters in OLD only."""
    set_new: tuple[tuple[str, str], ...]
    """Values of parameters in NEW only."""
    output_format: str
    """How to print."""
    steps: bool
    """Whether the moves are ordered."""
    floor: Fraction
    """The share of the bisection that the order keeps."""
    cables: Path | None
    """The file for the table of cables."""
    picture: Path | None
    """The file for the drawing of what changes."""
    full: bool
    """Whether long lists are shown whole."""
    no_checks: bool
    """Whether the figures of the checks are left out."""
    detailed_exitcode: bool
    """Whether the exit status says that something differs."""
    job: str
    """The job of which the change of its costs is asked, "" for all."""
    economics: Path | None
    """The file of prices of hours."""


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
    "  tdsl diff main...branch --picture change.svg       (one drawing: removed red, added green)",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", required=False)
@design_options
@side_options
@output_format_option(
    ["text", "markdown", "json"], "text", "How to print; markdown is for a comment on a pull request."
)
@click.option(
    "--steps", is_flag=True, help="Order the moves so that the bisection stays at or above --floor."
)
@floor_option("What --steps keeps")
@click.option(
    "--cables",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the cables to add, move, replace and remove as CSV, with the phase and the day by which "
    "it is needed.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw what changes as SVG: one drawing of both fabrics, removed red, added green.",
)
@click.option("--full", is_flag=True, help="Show long lists whole.")
@click.option("--no-checks", is_flag=True, help="Leave the figures of the checks out.")
@click.option(
    "--detailed-exitcode", is_flag=True, help="Exit status 0 if nothing differs, 3 if something does."
)
@job_option
@economics_option
@limit_options
@with_untrusted_option
def command(**given: Any) -> int:
    """Say what differs between OLD and NEW. First the contract: requirements that are removed, weaker,
    stronger or added, waivers, severities, parameters, the lock, the files and settings that a design reads;
    then settings of devices and links, devices, cables, ports, names, addresses, and every figure before and
    after. Two designs are the same only if all of these are.

    Without NEW, OLD is a design in phases, and each phase is compared with the next; or A...B, which compares
    every design that B has changed, renamed, added or deleted since it left A (A..B: all that differ; A...B
    FILE: this design alone). Each is a file, a design of the standard library, or REVISION:FILE; a REVISION
    alone means the other one's file in that revision of the git repository. Devices are known by their path
    in the design, cables by their ends, requirements by what they mean.

    Exit status: 0 compared; 1 NEW has errors or fails a requirement, or a design cannot be compared; 2 a
    wrong call; --detailed-exitcode adds 3 where anything differs.
    """
    call = record_of_call(DiffCall, given)
    costs = cost_question(call.job, call.economics)
    try:
        found, span, new = _compare_as_called(call, options_from_command(given))
    except Incomparable as why:
        print_on_stderr(f"{why}")
        return FOUND
    if call.cables is not None:
        _write_moves(call.cables, found, call.new is None and span is None)
    whole, names = _compared_networks(found)
    if call.picture is not None:
        _save_comparison_picture(call.picture, whole)
    plans = [_order_of_moves(*x, call.floor) for x in whole] if call.steps else []
    if costs is not None:
        _add_costs_of_changes(costs, found)
    _print_differences(call, new, found, list(zip(plans, names, strict=False)), span)
    if _report_errors_of_new(found, new, span) or _is_incomplete(plans, span):
        return FOUND
    return DIFFERS if call.detailed_exitcode and any(not x.changes.none for x in found) else OK


def compare_two_sources(old: str, new: str, asked: Request, verify: bool) -> list[Compared]:
    """What differs between two designs or revisions as a call names them, one entry a fabric. Raises
    Incomparable, Wrong."""
    ways = Ways(replace(asked, phase=asked.phase or LAST), (), (), verify)
    return ways.compare(_place_of_source(old, new), _place_of_source(new, old))


def _add_costs_of_changes(costs: CostQuestion, found: list[Compared]) -> None:
    """Add to each comparison what the change costs the jobs that both designs have."""
    pairs = [(x, old, new) for x in found for old, new, _ in x.networks]
    refuse_question_without_job(costs, [d for _, *both in pairs for d in both])
    for x, old, new in pairs:
        changes = changes_between(costs, old, new)
        x.changes.job_costs += [JobCost(c.name, c.sentence(), c.facts()) for c in changes]


def _compare_as_called(call: DiffCall, asked: Request) -> tuple[list[Compared], Revisions | None, str]:
    """What a call compares; the revisions where it names some; and what to call the new design. Raises
    Incomparable."""
    old, new, checks = call.old, call.new, not call.no_checks
    ways = Ways(replace(asked, phase=asked.phase or LAST), call.set_old, call.set_new, checks)
    if ".." in old and not any(x in old for x in (":", "../", ".fab")):
        return _compare_revisions(old, new, ways)
    if new is None:
        both = replace(asked, set=(*asked.set, *call.set_old, *call.set_new))
        return _compare_phases(old, both, checks), None, old
    return ways.compare(_place_of_source(old, new), _place_of_source(new, old)), None, new


def _compared_networks(found: list[Compared]) -> tuple[list[tuple[Design, Design, Changes]], list[str]]:
    """Each pair of networks that is compared, and the name of each that is of a cluster, "" of others."""
    networks = [pair for x in found for pair in x.networks]
    return networks, [new.name if x.parts else "" for x in found for _, new, _ in x.networks]


def _print_differences(
    call: DiffCall, new: str, found: list[Compared], plans: list[tuple[MovePlan, str]], span: Revisions | None
) -> None:
    """Print a comparison in the format of the call; ``plans`` with the network of a cluster that each is
    of."""
    from tdsl.changes.words import (
        changes_as_markdown,
        changes_as_text,
        markdown_paragraphs,
        revisions_overview,
    )
    from tdsl.changes.words import move_steps_text as ordered

    if call.output_format == "json":
        write_to_stream(_comparison_json(call.old, new, found, [p for p, _ in plans], span))
        return
    changes = [x.changes for x in found]
    last = revisions_overview(span) if span is not None else ""
    if call.output_format == "markdown":
        drawings = [_mermaid_of_comparison(x) for x in found]
        write_to_stream(changes_as_markdown(changes, call.full, drawings) if changes else "")
        write_to_stream(
            "".join(f"\n```\n{ordered(p, Paint(False), 100, call.full, (), n)}```\n" for p, n in plans)
            + (last and f"\n{markdown_paragraphs(last)}\n")
        )
        return
    paint, width = Paint(wants_colour(sys.stdout)), output_width(sys.stdout)
    write_to_stream(changes_as_text(changes, paint, width, call.full) if changes else "")
    write_to_stream(
        "".join(f"\n{ordered(p, paint, width, call.full, (), name)}" for p, name in plans)
        + (last and f"{chr(10) * bool(changes)}{terminal_safe_text(last)}\n")
    )


def _mermaid_of_comparison(compared: Compared) -> str:
    """The drawings of what changes in the networks of a comparison, for a comment."""
    from tdsl.changes.mermaid import change_as_mermaid

    drawn = []
    for old, new, changes in compared.networks:
        assert old.fabric is not None and new.fabric is not None
        if not changes.none:
            drawn.append(change_as_mermaid(old.fabric, new.fabric))
    return "\n\n".join(filter(None, drawn))


def _report_errors_of_new(found: list[Compared], new: str, span: Revisions | None) -> bool:
    """Whether a new design has errors; its name is printed."""
    named = [
        x.after_file
        for x in found
        if x.new is not None and any(d.severity is Severity.ERROR for d in x.new.findings)
    ]
    if named:
        which = named[0] if span is not None and named[0] else new
        print_on_stderr(f"{which} has errors: `tdsl check {which}` shows them")
    return bool(named)


def _is_incomplete(plans: list[MovePlan], span: Revisions | None) -> bool:
    """Whether moves are left without an order, or designs without a comparison."""
    return any(not p.complete for p in plans) or (span is not None and bool(span.failed))


class Incomparable(Exception):
    """A design that has no fabric to compare."""


@dataclass(frozen=True, slots=True)
class DesignPlace:
    """A design to compile: its name, and the revision where that was read already."""

    source: str
    other: str = ""
    read: Revision | None = None

    @property
    def shown(self) -> str:
        """As people call it."""
        return f"{self.read.name}:{self.source}" if self.read is not None else self.source


@dataclass(frozen=True, slots=True)
class ComparedDesign:
    """A compiled design and what it rests on."""

    compilation: Compilation
    contract: Contract


@dataclass(frozen=True, slots=True)
class Compared:
    """Two fabrics, or clusters as a whole, and what differs; None for one that a side does not have. Of two
    clusters ``parts`` are the comparisons of their fabrics, which ``changes`` tells as one."""

    old: Design | None
    new: Design | None
    changes: Changes
    after_file: str = ""
    parts: tuple[Compared, ...] = ()

    @property
    def fabrics(self) -> tuple[Design, Design] | None:
        """Both fabrics, with their devices and cables; None of clusters, whose are those of their fabrics."""
        whole = self.old is None or self.new is None or bool(self.old.members or self.new.members)
        return None if whole or self.old is None or self.new is None else (self.old, self.new)

    @property
    def networks(self) -> list[tuple[Design, Design, Changes]]:
        """The two fabrics with what differs; of two clusters each pair of their fabrics."""
        pairs = [(part.fabrics, part.changes) for part in (self, *self.parts)]
        return [(*fabrics, changes) for fabrics, changes in pairs if fabrics is not None]


def _place_of_source(source: str, other: str) -> DesignPlace:
    return DesignPlace(source, other)


@dataclass(frozen=True, slots=True)
class Ways:
    """How designs are compiled to be compared."""

    asked: Request
    set_old: tuple[tuple[str, str], ...]
    set_new: tuple[tuple[str, str], ...]
    verify: bool

    def compile_sides(self, *places: DesignPlace | None) -> list[ComparedDesign | None]:
        """Both designs, None where there is none. Raises Incomparable, after the findings of the first that
        has errors."""
        settings = self.set_old, self.set_new
        return [
            _compile_side(place, replace(self.asked, set=(*self.asked.set, *mine)), self.verify)
            if place is not None
            else None
            for place, mine in zip(places, settings, strict=True)
        ]

    def compare(self, before: DesignPlace | None, after: DesignPlace | None) -> list[Compared]:
        """What differs between two designs, one entry a fabric. Raises Incomparable."""
        old, new = self.compile_sides(before, after)
        out = _compare_sides(old, new)
        if (
            out
            and before is not None
            and after is not None
            and before.read is not None
            and before.source != after.source
        ):
            out[0].changes.contract.append(
                ContractChange("design", "renamed", "file", before.source, after.source)
            )
        return [replace(x, after_file=after.shown) for x in out] if after is not None else out


def _compile_side(place: DesignPlace, asked: Request, verify: bool) -> ComparedDesign:
    """A design, compiled, and its contract."""
    from tdsl.changes.contract import contract_of_design
    from tdsl.commands._progress import show_progress
    from tdsl.commands._revisions import opened_source
    from tdsl.compile import compiler

    _, asked = sources_with_stdin([place.source], asked)
    source = STDIN if place.source == "-" else place.source
    with opened_source(source, asked, place.other, place.read, recording=True) as opened, show_progress():
        compilation = opened.compile_with(
            compiler.compile_and_verify if verify else compiler.compile_without_checks
        )
        if any(d.fabric is None or not d.fabric.complete for d in compilation.judged):
            from tdsl.report.terminal import finding_blocks

            for design in compilation.judged:
                for block in finding_blocks(
                    design, Paint(wants_colour(sys.stderr)), output_width(sys.stderr)
                ):
                    write_to_stream(f"{block}\n\n", sys.stderr)
            raise Incomparable(f"{place.shown} has errors that leave nothing to compare")
        home = Path(os.path.abspath(opened.source))
        given = [name for name, _ in asked.set]
        contract = contract_of_design(compilation, home, opened.files_read(), opened.settings, given)
        contract.file = place.source
        return ComparedDesign(compilation, contract)


def _compare_sides(old: ComparedDesign | None, new: ComparedDesign | None) -> list[Compared]:
    """The fabrics of two designs against each other, those of a cluster as one."""
    return _with_clusters_as_one(_compare_named_fabrics(old, new), list(_compare_named_clusters(old, new)))


def _with_clusters_as_one(fabrics: list[Compared], clusters: list[Compared]) -> list[Compared]:
    """Comparisons in which two clusters are one comparison, in the place of the first of their fabrics; a
    cluster that one side does not have comes after all."""
    from tdsl.changes.cluster_changes import compare_whole_clusters

    out, last = list(fabrics), []
    for x in clusters:
        if x.old is None or x.new is None:
            last.append(x)
            continue
        parts = [y for y in out if _belongs_to_clusters(y, x.old, x.new)]
        named = [(d.name, y.changes) for y in parts if (d := y.new or y.old) is not None]
        made = compare_whole_clusters(x.old, x.new, named)
        one = replace(x, changes=made, parts=tuple(parts))
        at = out.index(parts[0]) if parts else len(out)
        out[at:at] = [one]
        out = [y for y in out if all(y is not part for part in parts)]
    return [*out, *last]


def _belongs_to_clusters(x: Compared, old: Design, new: Design) -> bool:
    """Whether a comparison is of a fabric of two clusters: of both, or of one that the other does not
    have."""
    sides = [(a, b) for a, b in ((x.old, old), (x.new, new)) if a is not None]
    return not x.parts and all(
        a.cluster == b.name and a.name in b.members and a.phase in (0, b.phase) for a, b in sides
    )


def _compare_named_clusters(old: ComparedDesign | None, new: ComparedDesign | None) -> Iterator[Compared]:
    """Clusters of one name against each other, or the only two; what one side does not have, against
    nothing."""
    from tdsl.changes.compare import compare_clusters

    before, after = ({d.name: d for d in s.compilation.clusters} if s is not None else {} for s in (old, new))
    if len(before) == len(after) == 1:
        after = dict(zip(before, after.values(), strict=True))
    for name in [*before, *(n for n in after if n not in before)]:
        was, now = before.get(name), after.get(name)
        yield Compared(was, now, compare_clusters(was, now))


def _compare_named_fabrics(old: ComparedDesign | None, new: ComparedDesign | None) -> list[Compared]:
    """Fabrics of one name against each other, or the only two; what one side does not have, against
    nothing."""
    from tdsl.changes.compare import compare_designs, compare_with_nothing
    from tdsl.changes.contract import Subject

    before, after = map(_fabrics_by_name, (old, new))
    if len(before) == len(after) == 1:
        ((a,), (b,)) = before.values(), after.values()
        assert old is not None and new is not None
        return [Compared(a, b, compare_designs(a, b, (old.contract, new.contract)))]
    common = [name for name in before if name in after]
    _refuse_without_common_name(before, after, common)
    out = []
    for name in [*before, *(n for n in after if n not in before)]:
        was, now = before.get(name), after.get(name)
        if was is not None and now is not None and old is not None and new is not None:
            blocks = frozenset({was.name, was.cluster}), frozenset({now.name, now.cluster})
            subject = Subject(blocks, shared=name == common[0])
            out.append(Compared(was, now, compare_designs(was, now, (old.contract, new.contract), subject)))
        else:
            whole = "fabric" if before and after else "file"
            side = new if now is not None else old
            assert side is not None
            out.append(Compared(was, now, compare_with_nothing(was, now, whole, side.contract.file)))
    return out


def _refuse_without_common_name(
    before: dict[str, Design], after: dict[str, Design], common: list[str]
) -> None:
    """Refuse designs whose fabrics all have other names."""
    if before and after and not common:
        listed = [", ".join(f"`{n}`" for n in side) for side in (before, after)]
        raise Wrong(f"no fabric has the same name in both: OLD has {listed[0]}, NEW has {listed[1]}")


def _fabrics_by_name(side: ComparedDesign | None) -> dict[str, Design]:
    """The fabrics of a design, none where there is no design."""
    return {d.name: d for d in side.compilation.designs} if side is not None else {}


def _compare_phases(source: str, asked: Request, verify: bool) -> list[Compared]:
    """The fabrics of a design in phases: each phase and the next."""
    from tdsl.changes.compare import compare_clusters, compare_designs
    from tdsl.changes.contract import Subject

    if asked.phase:
        raise Wrong("--phase takes one phase, and without NEW each is compared with the next")
    every = _compile_side(DesignPlace(source), replace(asked, phase=EVERY), verify)
    out: list[Compared] = []
    clusters: list[Compared] = []
    contracts = every.contract, every.contract
    for name in dict.fromkeys(d.name for d in every.compilation.designs):
        mine = [d for d in every.compilation.designs if d.name == name and d.phase]
        out += [
            Compared(a, b, compare_designs(a, b, contracts, Subject((frozenset({name}),) * 2, False)))
            for a, b in pairwise(mine)
        ]
    for name in dict.fromkeys(d.name for d in every.compilation.clusters):
        mine = [d for d in every.compilation.clusters if d.name == name and d.phase]
        clusters += [Compared(a, b, compare_clusters(a, b)) for a, b in pairwise(mine)]
    out = _with_clusters_as_one(out, clusters)
    if not out:
        raise Wrong(f"{source} has no two phases to compare; name a second design")
    return out


def _compare_revisions(span: str, file: str | None, ways: Ways) -> tuple[list[Compared], Revisions, str]:
    """What ``A...B`` compares: every design that differs, or the one that is named; how many there are and
    what became of them; and what to call the new one."""
    from tdsl.changes.model import Revisions
    from tdsl.changes.revision import RevisionError, designs_between, repository_root

    try:
        folder = Path(file).resolve().parent if file else Path.cwd()
        top = repository_root(folder if folder.is_dir() else Path.cwd())
        between = designs_between(span, top)
    except RevisionError as wrong:
        raise Wrong(f"{span}: {wrong}") from None
    pairs, same = between.pairs, between.same
    before, after = between.before, between.after
    if file:
        pairs, same = _pairs_of_file(between, span, file, top), 0
    out = Revisions(span, before.name, after.name, same)
    found: list[Compared] = []
    for old, new in pairs:
        sides = [DesignPlace(n, read=r) if n is not None else None for n, r in ((old, before), (new, after))]
        label = new or old or ""
        try:
            compared = ways.compare(*sides)
        except (Incomparable, Wrong) as why:
            said = why.message if isinstance(why, Wrong) else str(why)
            found += _note_incomparable(out, label, new is None, said)
            continue
        _count_comparison(out, old, new, compared)
        found += compared
    called = f"{after.name}:{pairs[0][1]}" if len(pairs) == 1 and pairs[0][1] else after.name
    return found, out, called


def _count_comparison(out: Revisions, old: str | None, new: str | None, compared: list[Compared]) -> None:
    """Count a design that was compared, by its names before and after."""
    label = new or old or ""
    out.compared += 1
    out.added += [label] * (old is None)
    out.removed += [label] * (new is None)
    out.renamed += [(old, new)] if old is not None and new is not None and old != new else []
    out.differing += any(not x.changes.none for x in compared)


def _note_incomparable(out: Revisions, label: str, gone: bool, said: str) -> list[Compared]:
    """Count a design that cannot be compared, and say why; one that is ``gone`` differs, whatever it was."""
    from tdsl.changes.model import Changes

    if gone:
        change = ContractChange("design", "removed", "file", label, "", "it did not compile")
        out.compared, out.differing = out.compared + 1, out.differing + 1
        out.removed.append(label)
        return [Compared(None, None, Changes(label, contract=[change]))]
    print_on_stderr(f"{label} is not compared: {said}")
    out.failed.append((label, said))
    return []


def _pairs_of_file(
    between: RevisionPair, span: str, file: str, top: Path
) -> list[tuple[str | None, str | None]]:
    """The one file that a call names, as both revisions have it. Raises Wrong where neither does."""
    name = Path(os.path.abspath(file)).resolve().relative_to(top.resolve()).as_posix()
    pairs = [pair for pair in between.pairs if name in pair]
    if pairs:
        return pairs
    old, new = (name if name in side.files else None for side in (between.before, between.after))
    if old is None and new is None:
        raise Wrong(f"{span} {file}: neither revision has this file")
    return [(old, new)]


def _comparison_json(
    old: str, new: str, found: list[Compared], plans: list[MovePlan], span: Revisions | None
) -> str:
    """The comparison as JSON."""
    from tdsl.changes.words import changes_document, revisions_document, steps_document
    from tdsl.report.json_report import SCHEMA, dump_json

    fabrics = [changes_document(x.changes) for x in found]
    waiting = iter(plans)
    for fabric, x in zip(fabrics, found, strict=True):
        orders = {
            new.name: steps_document(plan) for (_, new, _), plan in zip(x.networks, waiting, strict=False)
        }
        if x.parts:
            fabric["members"] = [new.name for _, new, _ in x.networks]
        if orders:
            fabric |= {"orders": orders} if x.parts else {"order": next(iter(orders.values()))}
    same = all(x.changes.none for x in found) and not (span is not None and span.failed)
    said = {"schema": SCHEMA, "tdsl": __version__, "old": old, "new": new, "same": same, "fabrics": fabrics}
    return dump_json(said | (revisions_document(span) if span is not None else {}))


def _write_moves(path: Path, found: list[Compared], from_nothing: bool) -> None:
    """The table of ``--cables``; of a design in phases with all cables of the first one."""
    from tdsl.changes.compare import cable_legs_in_order
    from tdsl.changes.moves import cable_moves_csv

    start = found[0].old if found else None
    first = None
    if from_nothing and start is not None and start.fabric is not None:
        first = (cable_legs_in_order(start.fabric), start.phase, start.needed)
    rows = []
    for x in found:
        last = x.new if x.new is not None else x.old
        rows += [(x.changes, last.phase, last.needed)] if last is not None else []
    save_text(cable_moves_csv(rows, first), path)


def _save_comparison_picture(path: Path, whole: list[tuple[Design, Design, Changes]]) -> None:
    """The picture of ``--picture``."""
    from tdsl.changes.pictures import change_svg

    save_text(change_svg(whole), path)


def _order_of_moves(old: Design, new: Design, changes: Changes, floor: Fraction) -> MovePlan:
    """The order of moves from one fabric to the other."""
    from tdsl.changes.steps import MovePlan, MovePlanner
    from tdsl.changes.union import union_of_fabrics

    assert old.fabric is not None and new.fabric is not None
    both = union_of_fabrics(old.fabric, new.fabric)
    if both is None:
        return MovePlan(
            floor, why="a device keeps its place and becomes another model: exchange it by itself"
        )
    return MovePlanner(both, changes, floor).run()
