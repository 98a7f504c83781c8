"""Cables and transceivers of the catalogue against what their makers publish: form, ports, rate, reach, power and lengths.

The rows are those of NVIDIA's LinkX overviews and product pages under docs.nvidia.com/networking, and of the list at
github.com/pi4-dev/nvidia-networking, which links them; each file names its own. Lengths without such a page are unconfirmed.
"""

from __future__ import annotations

from tdsl.fabric.cables.plugs import cage_takes_form
from tdsl.fabric.part_facts import MICRO, fact_values, lengths_of, stated_quantity
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, POWER, RATE
from tests.harness import each
from tests.stdlib.test_catalogue import STDLIB, model_in, named
from tests.tables import table


def part(folder: str, name: str) -> DeviceModel:
    return model_in(STDLIB / folder / f"{name.lower()}.fab")


def numbers(words: str) -> tuple[float | None, ...]:
    return tuple(None if word == "None" else float(word) for word in words.split())


def optic_is_as_published(row: tuple[str, ...]) -> None:
    """Name, form, ports, Gbit/s of each, fibre, connector, reach in m, watts and most watts where a page states them."""
    name, form, ports, gbps, fibre, connector, reach, watts = row
    p = part("hardware/optics", name)
    assert " ".join(str(x) for x in fact_values(p, "form")) == form and p.facts["ports"] == int(ports)
    assert (stated_quantity(p, "rate", RATE), stated_quantity(p, "reach", LENGTH)) == (int(gbps) * 10**9, int(reach))
    assert (p.facts["fibre"], p.facts["connector"]) == (fibre, connector)
    assert (stated_quantity(p, "power", POWER), stated_quantity(p, "power_max", POWER)) == numbers(watts)


def test_optics_as_published() -> None:
    each(table(__file__, "optics"), optic_is_as_published)


def cable_is_as_published(row: tuple[str, ...]) -> None:
    """Name, Gbit/s of all its links, legs, plugs (undivided > divided side), lengths in m that are published, and the others."""
    name, gbps, legs, plugs, *lengths = row
    p, (published, unconfirmed) = part("cables", name), map(numbers, lengths)
    assert (stated_quantity(p, "rate", RATE), p.facts.get("legs", 1)) == (int(gbps) * 10**9, int(legs))
    sides = [" ".join(str(x) for x in fact_values(p, fact)) for fact in ("form", "tail", "connector") if fact in p.facts]
    assert " > ".join(sides) == plugs
    assert lengths_of(p) == tuple([int(x * MICRO) for x in metres if x] for metres in (published, unconfirmed))
    reach = stated_quantity(p, "reach", LENGTH)
    assert reach is not None and max(x for x in published + unconfirmed if x) <= reach
    assert len(fact_values(p, "codes")) in (0, len(published))


def test_cables_as_published() -> None:
    each(table(__file__, "cables"), cable_is_as_published)


def test_which_forms_a_cage_takes() -> None:
    """QSFP112 takes QSFP56 and QSFP28, QSFP-DD takes both, QSFP56 takes QSFP28; never the other way round."""
    forms = ("QSFP28", "QSFP56", "QSFP112", "QSFPDD", "OSFP")
    found = {}
    for name, ports in (("dgx_a100", "nic"), ("qm8700", "p"), ("qm9700", "p")):
        c = named(name).port_class(ports)
        assert c is not None
        found[c.form] = [f for f in forms if cage_takes_form(c, f)]
    assert found["QSFP56"] == ["QSFP28", "QSFP56"] and found["OSFP"] == ["OSFP"]
