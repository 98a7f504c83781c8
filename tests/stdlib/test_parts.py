"""Cables and transceivers of the catalogue against what their makers publish: form, ports, rate, reach, power and lengths.

The rows are those of NVIDIA's LinkX overviews and product pages under docs.nvidia.com/networking, and of the list at
github.com/pi4-dev/nvidia-networking, which links them; each file names its own. Lengths without such a page are unconfirmed.
"""

from __future__ import annotations

from tdsl.fabric.cables.plugs import cage_takes_form
from tdsl.fabric.part_facts import MICRO, fact_values, lengths_of, stated_quantity
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, POWER, RATE
from tdsl.system import resources
from tests.harness import each
from tests.stdlib.test_catalogue import model_in

STDLIB = resources.packaged_folder("stdlib")


def part(folder: str, name: str) -> DeviceModel:
    return model_in(STDLIB / folder / f"{name.lower()}.fab")


Optic = tuple[str, str, int, int, str, str, int, tuple[float | None, float | None]]
OPTICS: list[Optic] = [
    ("MMA4Z00_NS", "OSFP finned", 2, 400, "multimode", "MPO12_APC", 50, (15, 17)),
    ("MMA4Z00_NS_FLT", "OSFP flat", 2, 400, "multimode", "MPO12_APC", 50, (15, 17)),
    ("MMA4Z00_NS400", "OSFP flat", 1, 400, "multimode", "MPO12_APC", 50, (8, 9)),
    ("MMA1Z00_NS400", "QSFP112", 1, 400, "multimode", "MPO12_APC", 50, (9, None)),
    ("MMS4X00_NS", "OSFP finned", 2, 400, "singlemode", "MPO12_APC", 100, (17, None)),
    ("MMS4X00_NS_FLT", "OSFP flat", 2, 400, "singlemode", "MPO12_APC", 100, (17, None)),
    ("MMS4X00_NM", "OSFP finned", 2, 400, "singlemode", "MPO12_APC", 500, (17, None)),
    ("MMS4X00_NM_FLT", "OSFP flat", 2, 400, "singlemode", "MPO12_APC", 500, (17, None)),
    ("MMS4X50_NM", "OSFP finned", 2, 400, "singlemode", "LC_DUPLEX", 2000, (None, None)),
    ("MMS4X90_NR", "OSFP finned", 2, 400, "singlemode", "LC_DUPLEX", 10000, (None, None)),
    ("MMS4X00_NS400", "OSFP flat", 1, 400, "singlemode", "MPO12_APC", 100, (9, None)),
    ("MMS1X00_NS400", "QSFP112", 1, 400, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS1V00_WM", "QSFPDD", 1, 400, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4A00_IHS", "OSFP finned", 2, 800, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4A00_RHS", "OSFP flat", 2, 800, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4C10_IHS", "OSFP finned", 2, 800, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4C10_RHS", "OSFP flat", 2, 800, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4C11_IHS", "OSFP finned", 2, 800, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4C11_RHS", "OSFP flat", 2, 800, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4A20", "OSFP flat", 1, 800, "singlemode", "MPO12_APC", 500, (None, None)),
    ("MMS4X00_NM16", "OSFP finned", 1, 800, "singlemode", "MPO16_APC", 500, (None, None)),
    ("MMS1W50_HM", "QSFP56", 1, 200, "singlemode", "LC_DUPLEX", 2000, (None, None)),
]
"""Name, form, ports, Gbit/s of each, fibre, connector, reach in m, watts and most watts where a page states them."""


def optic_is_as_published(row: Optic) -> None:
    name, form, ports, gbps, fibre, connector, reach, watts = row
    p = part("hardware/optics", name)
    assert " ".join(str(x) for x in fact_values(p, "form")) == form and p.facts["ports"] == ports
    assert (stated_quantity(p, "rate", RATE), stated_quantity(p, "reach", LENGTH)) == (gbps * 10**9, reach)
    assert (p.facts["fibre"], p.facts["connector"]) == (fibre, connector)
    assert (stated_quantity(p, "power", POWER), stated_quantity(p, "power_max", POWER)) == watts


def test_optics_as_published() -> None:
    each(OPTICS, optic_is_as_published)


Cable = tuple[str, int, int, str, tuple[float, ...], tuple[float, ...]]
CABLES: list[Cable] = [
    ("MCP4Y10", 800, 1, "OSFP finned", (0.5, 1, 1.5, 2), ()),
    ("MCP4Y10_FLT", 800, 1, "OSFP flat", (0.5, 1, 2), ()),
    ("MCP7Y00", 800, 2, "OSFP finned > OSFP flat", (1, 1.5, 2, 2.5, 3), ()),
    ("MCP7Y00_FLT", 800, 2, "OSFP flat > OSFP flat", (1, 1.5, 2), ()),
    ("MCP7Y10", 800, 2, "OSFP finned > QSFP112", (1, 1.5, 2, 2.5, 3), ()),
    ("MCP7Y40", 800, 4, "OSFP finned > QSFP112", (), (1, 1.5, 2, 2.5, 3)),
    ("MCP7Y50", 800, 4, "OSFP finned > OSFP flat", (), (1, 1.5, 2, 2.5, 3)),
    ("MCP7Y60", 400, 2, "OSFP finned > QSFP56", (1, 1.5, 2), ()),
    ("MCP7Y70", 400, 4, "OSFP finned > QSFP56", (1, 1.5, 2), ()),
    ("MCA4J80", 800, 1, "OSFP finned", (3, 4, 5), ()),
    ("MCA4J80_FLT", 800, 1, "OSFP flat", (3,), ()),
    ("MCA4J80_FTF", 800, 1, "OSFP finned > OSFP flat", (3,), ()),
    ("MCA7J60", 800, 2, "OSFP finned > OSFP flat", (4, 5), ()),
    ("MCA7J65", 800, 2, "OSFP finned > QSFP112", (4, 5), ()),
    ("MCA7J70", 800, 4, "OSFP finned > OSFP flat", (4, 5), ()),
    ("MCA7J75", 800, 4, "OSFP finned > QSFP112", (4, 5), ()),
    ("MCA4K50", 1600, 1, "OSFP finned", (1, 1.5, 2, 2.5, 3), ()),
    ("MCA4K00", 1600, 1, "OSFP flat", (1,), ()),
    ("MCA7K10", 1600, 2, "OSFP finned > OSFP flat", (), (1, 1.5, 2)),
    ("MFA7U10", 400, 2, "OSFP finned > QSFP56", (3, 5, 10, 15, 20, 30), ()),
    ("MFS1S00", 200, 1, "QSFP56", (3, 5, 10, 15, 20, 30, 50, 100), ()),
    ("MCP1600", 100, 1, "QSFP28", (0.5, 1, 1.5, 2, 2.5, 3, 4, 5), ()),
    ("MFP7E10", 400, 1, "MPO12_APC", (3, 5, 7, 10, 15, 20, 30), (25, 35, 40, 50)),
    ("MFP7E20", 400, 2, "MPO12_APC", (30,), (3, 5, 7, 10, 15, 20, 50)),
    ("MFP7E30", 800, 1, "MPO12_APC", (3, 30, 50), (2, 5, 7, 10, 15, 20, 40, 60, 70, 100, 150)),
    ("MFP7E40", 800, 2, "MPO12_APC", (), (3, 5, 7, 10, 15, 20, 30, 50)),
    ("MPO16_SM", 800, 1, "MPO16_APC", (), (3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 100, 150)),
]
"""Name, Gbit/s of all its links, legs, plugs (undivided > divided side), lengths in m that are published, and the others."""


def cable_is_as_published(row: Cable) -> None:
    name, gbps, legs, plugs, published, unconfirmed = row
    p = part("cables", name)
    assert (stated_quantity(p, "rate", RATE), p.facts.get("legs", 1)) == (gbps * 10**9, legs)
    sides = [" ".join(str(x) for x in fact_values(p, fact)) for fact in ("form", "tail", "connector") if fact in p.facts]
    assert " > ".join(sides) == plugs
    assert lengths_of(p) == tuple([int(x * MICRO) for x in metres] for metres in (published, unconfirmed))
    reach = stated_quantity(p, "reach", LENGTH)
    assert reach is not None and max(published + unconfirmed) <= reach
    assert len(fact_values(p, "codes")) in (0, len(published))


def test_cables_as_published() -> None:
    each(CABLES, cable_is_as_published)


def test_which_forms_a_cage_takes() -> None:
    """QSFP112 takes QSFP56 and QSFP28, QSFP-DD takes both, QSFP56 takes QSFP28; never the other way round."""
    forms = ("QSFP28", "QSFP56", "QSFP112", "QSFPDD", "OSFP")
    found = {}
    for name, ports in (("dgx_a100", "nic"), ("qm8700", "p"), ("qm9700", "p")):
        c = model_in(STDLIB / "hardware" / "nvidia" / f"{name}.fab").port_class(ports)
        assert c is not None
        found[c.form] = [f for f in forms if cage_takes_form(c, f)]
    assert found["QSFP56"] == ["QSFP28", "QSFP56"] and found["OSFP"] == ["OSFP"]
