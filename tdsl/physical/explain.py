"""The arithmetic behind the length of a cable, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from tdsl.fabric.part_facts import MICRO, part_display_name
from tdsl.physical.lengths import MM
from tdsl.physical.model import Physical
from tdsl.physical.stated import stated_lengths


def explain_cable_length(physical: Physical, leg: int) -> Iterator[tuple[str, float | None]]:
    """What and how many metres: the stretches of a leg, their sum, and the length to order with its part."""
    lengths, parts = physical.lengths, physical.parts
    stated = int(stated_lengths(lengths.fabric)[leg])
    why = lengths.unknown(leg)
    run = int(lengths.run[leg])
    if why:
        yield f"the length is unknown: {why}", None
        if stated < 0:
            return
    else:
        for step in lengths.steps(leg):
            yield step.what, step.length / MICRO
        yield "in all", run / MICRO
    choice = parts.choice(leg)
    sold, confirmed = (int(column[leg]) for column in parts.sold)
    if choice.cable is None and stated >= 0:
        yield f"no part is chosen: {choice.why}; stated by its connect", stated / MICRO
    elif choice.cable is None:
        yield f"no part is chosen: {choice.why}; the run to the next decimetre", -(-run // (100 * MM)) / 10
    elif sold < 0:
        yield f"{part_display_name(choice.cable)} is not sold in a length that covers it", None
    else:
        ends = " and ".join(part_display_name(o) for o in (choice.optic_a, choice.optic_b) if o is not None)
        note = "" if confirmed else "; confirm this length with the vendor"
        how = "next length sold" if stated < 0 else "stated by its connect"
        yield (
            f"{part_display_name(choice.cable)}{f' between {ends}' if ends else ''}, {how}{note}",
            sold / MICRO,
        )
