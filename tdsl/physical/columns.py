"""Columns of the cabling plan that follow from places: parts, transceivers and lengths, where no connect
states them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tdsl.fabric.columns import Column
from tdsl.fabric.part_facts import MICRO, is_built_in, part_display_name
from tdsl.physical.model import Physical
from tdsl.semantics.model import DeviceModel


def chosen_columns(
    physical: Physical, written: Mapping[str, Callable[[], Column]]
) -> dict[str, Callable[[], Column]]:
    """Columns of all cable legs, in the order of the fabric; what a connect states stands."""

    def stated_first(name: str, found: Callable[[], Column]) -> Callable[[], Column]:
        return lambda: [w if w != "" else x for w, x in zip(written[name](), found(), strict=True)]

    return {
        "length_m": stated_first("length_m", lambda: ordered_metres(physical)),
        "part": stated_first("part", lambda: _part_fact_column(physical, lambda c: part_display_name(c))),
        "medium": stated_first(
            "medium", lambda: _part_fact_column(physical, lambda c: str(c.facts.get("medium", "")))
        ),
        "fibre": stated_first(
            "fibre", lambda: _part_fact_column(physical, lambda c: str(c.facts.get("fibre", "")))
        ),
        "polarity": stated_first(
            "polarity", lambda: _part_fact_column(physical, lambda c: str(c.facts.get("polarity", "")))
        ),
        "a_optic": stated_first("a_optic", lambda: _optic_name_column(physical, "optic_a")),
        "b_optic": stated_first("b_optic", lambda: _optic_name_column(physical, "optic_b")),
    }


def ordered_metres(physical: Physical) -> list[object]:
    """Metres to order for every leg: a length that is sold where the part has any, else the run to the next
    decimetre; "" where it is unknown, or where no length sold covers the run."""
    sold = physical.parts.sold[0].tolist()
    out: list[object] = []
    for leg, run in enumerate(physical.lengths.run.tolist()):
        cable = physical.parts.choice(leg).cable
        if sold[leg] >= 0:
            length = sold[leg] / MICRO
        elif run >= 0 and (cable is None or not ({"lengths", "unconfirmed"} & set(cable.facts))):
            length = -(-run * 10 // MICRO) / 10
        else:
            out.append("")
            continue
        out.append(int(length) if length == int(length) else length)
    return out


def _part_fact_column(physical: Physical, fact: Callable[[DeviceModel], object]) -> list[object]:
    number, choices = physical.parts.group
    values = ["" if c.cable is None else fact(c.cable) for c in choices]
    return [values[k] for k in number.tolist()]


def _optic_name_column(physical: Physical, end: str) -> list[object]:
    number, choices = physical.parts.group
    found = [getattr(c, end) for c in choices]
    plugged = (isinstance(o, DeviceModel) and not is_built_in(o) for o in found)
    values = [part_display_name(o) if there else "" for o, there in zip(found, plugged, strict=True)]
    return [values[k] for k in number.tolist()]
