"""What a lock records beside links: the library files that a design uses, and the figures that it had with
them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.fabric.order import distinct_values
from tdsl.fabric.pins import LockedFigure, UsedFile
from tdsl.findings.diagnostic import Diagnostic, Label, Severity
from tdsl.findings.source import SourceFile
from tdsl.physical.power_and_cost import Figures
from tdsl.semantics.quantity import LENGTH, MONEY, POWER, Quantity, quantity_text

UNITS = {"power": POWER, "cost": MONEY, "cable_length": LENGTH}
"""Figures that measure something; the others are numbers."""
SHOWN = 8


def file_digests(files: Iterable[SourceFile], folder: Path) -> dict[str, str]:
    """SHA-256 of the text of every file that was read, by the name that a lock in a folder gives it."""
    out = {}
    for file in files:
        name = file.name
        if not name.startswith("stdlib:") and name != "-":
            name = Path(os.path.relpath(name, folder)).as_posix()
        out[name] = sha256(file.text.encode("utf-8", "surrogatepass")).hexdigest()
    return out


def lock_figures(fabric: Fabric) -> dict[str, Fraction]:
    """What a fabric consists of, takes and costs, as far as it is known: in base units."""
    figures = Figures(fabric)
    out = {
        "switches": Fraction(int((fabric.built & fabric.is_switch).sum())),
        "links": Fraction(fabric.link_count),
        "cables": Fraction(len(distinct_values(fabric.cable_group))),
    }
    power, cost = (
        figures.power(fabric.built),
        figures.cost(fabric.built, np.ones(len(fabric.cable_a), dtype=np.bool_)),
    )
    out |= {name: bound.known for name, bound in (("power", power), ("cost", cost)) if bound.known}
    if len(fabric.link_run) and (fabric.link_run > 0).any():
        out["cable_length"] = Fraction(int(fabric.link_run[fabric.link_run > 0].sum()), 10**6)
    return out


def figure_with_unit(name: str, value: Fraction) -> str:
    """The value of a figure of this name in its unit; one without a unit is a whole number."""
    return quantity_text(Quantity(value, UNITS[name])) if name in UNITS else f"{value.numerator:,}"


def library_change_finding(
    design: str,
    used: Sequence[UsedFile],
    stood: Mapping[str, Sequence[LockedFigure]],
    now: Mapping[str, str],
    fabrics: Sequence[Fabric],
    locked: bool,
) -> Diagnostic | None:
    """The finding about library files that are not as the lock has them, with the figures that differ; None
    if all are.

    ``design`` is the name of the design's own file. An error if ``locked`` and a figure differs."""
    before = {u.name: u for u in used}
    changed = [u for name, u in before.items() if name != design and now.get(name) != u.digest]
    if not changed:
        return None
    notes = [f"{u.name} {'has changed' if u.name in now else 'is not used any more'}" for u in changed]
    moved = _moved_figure_notes(stood, fabrics)
    notes += moved
    notes += [f"{name} is used now, and was not" for name in now if name not in before]
    own = design in before and now.get(design) != before[design].digest
    notes += _note_of_own_change(own, bool(moved))
    count = sum(n != design for n in before)
    labels = tuple(Label(f.origin.span, "in this design") for f in fabrics[:1])
    return Diagnostic(
        "E0494",
        f"{len(changed)} of {count} library files that this design uses have changed since the lock was "
        "written",
        changed[0].span,
        labels,
        _first_notes(notes),
        "compare the designs with `tdsl diff`; if what differs is meant, write the lock anew with `tdsl "
        "lock`",
        severity=Severity.ERROR if locked and moved else Severity.NOTE,
    )


def _first_notes(notes: list[str]) -> tuple[str, ...]:
    """The first notes, and how many more there are."""
    hidden = len(notes) - SHOWN
    return tuple(notes if hidden <= 1 else [*notes[:SHOWN], f"and {hidden} more"])


def _note_of_own_change(own: bool, moved: bool) -> list[str]:
    """What is said of figures where the design itself has changed too, or where none has ``moved``."""
    if own and moved:
        return ["the design itself has changed as well"]
    return [] if moved else ["no figure differs"]


def _moved_figure_notes(stood: Mapping[str, Sequence[LockedFigure]], fabrics: Sequence[Fabric]) -> list[str]:
    """A note of each figure of the lock that a fabric does not have any more."""
    notes = []
    for f in fabrics:
        for figure in stood.get(f.name, ()):
            value = lock_figures(f).get(figure.name)
            if value is not None and value != figure.value:
                notes.append(
                    f"{f.name}: {figure.name} {figure_with_unit(figure.name, figure.value)} before, "
                    f"{figure_with_unit(figure.name, value)} now"
                )
    return notes
