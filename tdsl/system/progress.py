"""What a long call is doing now: its phase and, where they are counted, how many of how many pieces are done.

Stages say it, and whoever listens shows it. Where nobody listens (in a pipe, a program, an editor's process)
it does nothing. No clock is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")


class Meter:
    """The state that a listener reads, from another thread too. ``total`` is 0 where pieces are not counted;
    ``serial`` counts the phases, ``held``: what is counted is made of steps that are not shown."""

    __slots__ = ("done", "held", "phase", "serial", "total", "unit")

    def __init__(self) -> None:
        self.phase, self.unit, self.held = "", "", False
        self.total = self.done = self.serial = 0


listening: ContextVar[Meter | None] = ContextVar("listening", default=None)
"""The meter of the call, None where nobody looks."""


def begin_phase(name: str, total: int = 0, unit: str = "", done: int = 0) -> None:
    """A phase begins, of ``total`` pieces of a ``unit`` if they are counted (``rows``), so many of which are
    done."""
    meter = listening.get()
    if meter is not None and not meter.held:
        meter.total = 0  # so that no reader sees the pieces of the last phase beside the name of this
        meter.phase, meter.unit, meter.done, meter.total = name, unit, done, total
        meter.serial += 1


def count_phase_pieces(total: int, unit: str) -> None:
    """The phase has so many pieces, unless others of it are counted already."""
    meter = listening.get()
    if meter is not None and meter.done >= meter.total:
        begin_phase(meter.phase, total, unit)


def advance_phase(pieces: int = 1) -> None:
    """So many pieces more are done."""
    meter = listening.get()
    if meter is not None and not meter.held:
        meter.done += pieces


def items_as_phase(items: Iterable[Item], name: str, total: int, unit: str) -> Iterator[Item]:
    """The items as a phase, each counted when the next is asked for; what each does is no phase of its
    own."""
    meter = listening.get()
    if meter is None or meter.held:
        yield from items
        return
    begin_phase(name, total, unit)
    meter.held = True
    try:
        for item in items:
            yield item
            meter.done += 1
    finally:
        meter.held = False
