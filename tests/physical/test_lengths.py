"""Lengths computed by hand, published and at their limits; distances between sites, and lengths that connects state.

A device of 1U at unit u has its middle at (u - 0.5) * 44.45; hosts here are 2U, with their middle at u * 44.45.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tdsl.physical.explain import explain_cable_length
from tdsl.physical.model import Physical, physical_of
from tests.harness import compile_text, sections

MODELS = """
model host H { port nic[6]: 400Gbps; height 2U }
model switch S { port p[1..16]: 400Gbps; height 1U }
model panel P { port front[4]: any; port back[4]: any; height 1U }
"""
# Two halls with trays overhead. Hall h1: racks 600 mm apart, rows 3,000 mm, trays at 2,600 mm, across at racks 1 and 10,
# slack 1,000 mm. Hall h2: 800 mm, 2,400 mm, trays at 2,400 mm, across at rack 6, slack 500 mm. 120 m between their entries.
TEXTS = sections(Path(__file__).parent / "lengths.txt")
OVERHEAD = f"\n{TEXTS['OVERHEAD']}\n"
BY_HAND = {
    # same rack: slack 1000 + |1755.775 - 444.5| = 1311.275 + slack 1000
    ("n", "s0"): 3311.275,
    # next rack: 1000 + up 2600 - 444.5 = 2155.5, along 600, down 2600 - 1755.775 = 844.225, 1000
    ("n", "s1"): 5599.725,
    # along the row: 1000 + 2155.5 + 7 * 600 = 4200 + down 2600 - 22.225 = 2577.775 + 1000
    ("n", "s2"): 10933.275,
    # two rows on: 1000 + 2155.5; by rack 1: 600 + 3 * 600 = 2400 (by rack 10 it is 4800 + 3600); 6000 across; 844.225; 1000
    ("n", "s3"): 13399.725,
    # through the panel, first leg: 1000 + 2155.5 + 3 * 600 = 1800 + 2600 - 2022.475 = 577.525 + 1000
    ("n", "p"): 6533.025,
    # second leg, next row: 1000 + 577.525; by rack 1: 2400 + 2400 = 4800 (by rack 10: 3000 + 3000 = 6000); 3000; 844.225; 1000
    ("s5", "p"): 11221.75,
    # hall to hall: 1000 + 2155.5 + 600 to rack 1 of row A, the entry; 120,000; in h2 from the entry along row A to rack 6:
    # 5 * 800 = 4000, across 2400, back to rack 3: 3 * 800 = 2400; down 2400 - 866.775 = 1533.225; slack 500
    ("n", "s4"): 134588.725,
}


def physical(text: str, folder: Path) -> Physical:
    fabric = compile_text(text, folder, models=False, verify=False).designs[0].fabric
    assert fabric is not None and fabric.complete
    found = physical_of(fabric)
    assert found is not None
    return found


def runs(found: Physical) -> dict[tuple[str, str], float]:
    f = found.lengths.fabric
    ends = [[f.device_name(int(f.port_device[p])) for p in ports] for ports in (f.cable_a, f.cable_b)]
    return {(a, b): r / 1000 for a, b, r in zip(*ends, found.lengths.run.tolist(), strict=True)}


def test_two_halls_by_hand(tmp_path: Path) -> None:
    """Panels, too; tests/physical/test_definitions.py has random designs without them."""
    found = physical(MODELS + OVERHEAD, tmp_path)
    assert runs(found) == BY_HAND
    for leg, run in enumerate(found.lengths.run.tolist()):
        assert sum(s.length for s in found.lengths.steps(leg)) == run  # what is shown adds up to what is used


def test_a_published_table(tmp_path: Path) -> None:
    """Oracle Exalogic: from the switch at unit 26 to nodes at units 38 to 42, cables of 3 m (docs.oracle.com, E18476_01).

    With a metre of slack at each end: 12 * 44.45 to 16 * 44.45 and 2,000 are 2,533 to 2,711 mm; MFP7E10 is sold at 3 m."""
    text = "fabric f {\n  hall h { row A { rack 1 { height 42U } }; slack 1m }\n  host n[5]: ONE\n  switch s: S\n"
    text += "  place s in h.A[1] at 26U\n  place n[k] in h.A[1] at 38U + 1U*k\n"
    text += "  connect n[k].nic to s { cable MFP7E10 }\n}\nmodel host ONE { port nic: 400Gbps; height 1U }\n"
    found = physical(MODELS + text, tmp_path)
    assert found.lengths.run.tolist() == [(12 + k) * 44_450 + 2_000_000 for k in range(5)]
    assert found.parts.sold[0].tolist() == [3_000_000] * 5


@pytest.mark.parametrize(
    ("change", "to", "why"),
    [
        ("    slack 1m\n", "", "hall h1 has no `slack`"),
        ("    pitch rack 0.6m, row 3m\n", "", "hall h1 has no `pitch` of racks"),
        ("    tray above 2.6m { across at 1, 10 }\n", "", "hall h1 has no `tray`"),
        ("  distance h1 to h2 120m\n", "", "there is no `distance h1 to h2`"),
        ("in h1.A[3] at 40U", "in h1.A[3]", "s1 has a rack and no unit"),
        ("  place s[2] in h1.A[9] at 1U      # 0.5 * 44.45 = 22.225\n", "", "s2 has no place"),
        ("height 2U", "power 1W", "H has no `height`"),
    ],
)
def test_what_is_unknown_has_no_length(change: str, to: str, why: str, tmp_path: Path) -> None:
    text = MODELS + OVERHEAD
    assert change in text
    found = physical(text.replace(change, to), tmp_path)
    unknown = {found.lengths.unknown(k) for k in np.flatnonzero(found.lengths.run < 0).tolist()}
    assert unknown == {why}
    kept = runs(physical(text, tmp_path))
    assert all(r in (kept[k], -0.001) for k, r in runs(found).items())


GPUS = f"\n{TEXTS['GPUS']}\n"


def test_the_parts_that_fit_are_chosen(tmp_path: Path) -> None:
    """Near runs get multimode, 50 m at most; runs of 60 m single-mode with the optics that reach 100 m, flat in hosts."""
    found = physical(GPUS, tmp_path)
    f, parts = found.lengths.fabric, found.parts
    choices = [(f.classes[int(f.cable_class[leg])], parts.choice(leg)) for leg in range(len(f.cable_a))]
    assert {(name, *(x.name for x in (c.cable, c.optic_a, c.optic_b) if x is not None)) for name, c in choices} == {
        ("host-leaf", "MFP7E10", "MMA4Z00_NS_FLT", "MMA4Z00_NS"), ("leaf-spine", "MFP7E30", "MMS4X00_NS", "MMS4X00_NS"),
    }  # fmt: skip
    device, _, part, ends = parts.cages
    count = {name: int(ends[part == k].sum()) for k, name in enumerate(o.name for o in parts.optics) if (part == k).any()}
    assert count == {"MMA4Z00_NS_FLT": 32, "MMA4Z00_NS": 32, "MMS4X00_NS": 2 * 8 * 8}
    # 4 nodes have 4 twin cages. Leaf ports 1 to 4 lead to nodes, from 2 cages; 5, 6, 20, 21, 35, 36, 50, 51 to spines, from
    # the cages 3, 10, 11, 18, 25 and 26. A spine has 4 times 8 ports side by side, in 16 cages.
    assert len(device) == 4 * 4 + 8 * (2 + 6) + 2 * 16
    length, confirmed = parts.sold
    assert set((length[confirmed == 0] // 10**6).tolist()) == {60}  # 60 m of MFP7E30 is to be confirmed
    assert (found.lengths.run <= length).all()


DESIGN = f"{TEXTS['DESIGN']}\n"
USUAL = {"LENGTH": "length 20m", "REACH": "100m", "DIAMETER": "5mm", "BEND": "50mm", "LAST": "30m"}


def test_limits_of_lengths(tmp_path: Path) -> None:
    """The greatest numbers are taken: a tray with the thickest cables is overfull, and no cable of a link reaches the greatest
    length that a connect states."""

    def found(**changed: str) -> str:
        text = DESIGN
        for name, value in {**USUAL, **changed}.items():
            text = text.replace(name, value)
        return " ".join(d.message for d in compile_text(text, tmp_path, models=False).findings)

    assert not found() and not found(REACH="1000000km") and not found(LAST="1000000km")
    assert "5.24e+03% full" in found(DIAMETER="1m") and "reaches 100m" in found(LENGTH="length 1000000km")


SITE_MODELS = """
model host H { port nic[4]: 400Gbps { type GE400 }; height 2U; latency 1us }
model switch S { port p[1..16]: 400Gbps { type GE400 }; height 1U; latency 1us }
"""
SITES = f"{TEXTS['SITES']}\n"
HALLS = f"\n{TEXTS['HALLS']}\n"


def text(settings: str = "medium fibre", places: str = "") -> str:
    return SITE_MODELS + SITES.replace("SETTINGS", settings).replace("PLACES", places)


def errors(source: str, folder: Path) -> list[str]:
    return [d.code for d in compile_text(source, folder, models=False).findings if d.severity.word == "error"]


TO_ENTRIES = [1.0, 2.177725, 1.2, 100_000.0, 0.8, 1.533225, 0.5, 100_007.21095]


@pytest.mark.parametrize(
    ("places", "terms"),
    [
        ("", [100_000.0, 100_000.0]),  # without places a distance is the length
        # middle of s[0] at 9.5 * 44.45 = 422.275 mm: slack 1000, up 2600 - 422.275 = 2177.725, along 2 * 600 = 1200. Middle of
        # s[1] at 19.5 * 44.45 = 866.775: along 800, down 2400 - 866.775 = 1533.225, slack 500. In all 4377.725 + 10^8 + 2833.225
        (HALLS, TO_ENTRIES),
        # where one end has no place its way is left out
        (HALLS.replace("  place dc[1].s in h2.A[2] at 20U\n", ""), [*TO_ENTRIES[:4], 100_004.377725]),
    ],
)
def test_cables_between_sites(places: str, terms: list[float], tmp_path: Path) -> None:
    """The terms that are shown, which add up to what is used."""
    found = physical(text(places=places), tmp_path)
    f = found.lengths.fabric
    leg = next(k for k, c in enumerate(f.cable_class.tolist()) if f.classes[c] == "wan")
    assert sum(s.length for s in found.lengths.steps(leg)) == int(found.lengths.run[leg])
    shown = list(explain_cable_length(found, leg))
    assert [x for _, x in shown][: len(terms)] == terms and shown[len(terms) - 1][0] == "in all"
    assert places or (shown[0][0] == "distance dc[0] to dc[1]" and shown[2][0].startswith("no part is chosen"))


@pytest.mark.parametrize("part", ["MFP7E30", "MCP4Y10"])
def test_no_patch_cord_spans_100_km(part: str, tmp_path: Path) -> None:
    assert "E0225" in errors(text(f"cable {part}"), tmp_path)


def test_latency_has_the_distance(tmp_path: Path) -> None:
    """100 km at 4.9 us a kilometre, two hosts' cables of 2 m, and the devices passed: two switches and two hosts of 1 us."""
    for source in (text(), text("length 100km").replace("  distance dc[0] to dc[1] 100km\n", "")):
        asked = source.rstrip().removesuffix("}") + "  report latency\n}\n"
        found = [r for r in compile_text(asked, tmp_path, models=False).designs[0].results if r.check == "latency"]
        assert [(r.status, r.value.amount) for r in found] == [("modelled", Fraction(4_940_196, 10**10))]


def test_a_stated_length_is_judged_against_the_part_and_the_way(tmp_path: Path) -> None:
    short = "fabric f {\n  switch a: QM9700\n  switch b: QM9700\n  connect a.p[1] to b.p[1] { cable MFP7E10; length LENGTH }\n"
    hall = "  hall h { row A { rack 1..9 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }\n"
    hall += "  place a in h.A[1] at 40U\n  place b in h.A[9] at 40U\n"
    for length, places, code in (("50m", "", []), ("51m", "", ["E0225"]), ("20m", hall, []), ("5m", hall, ["E0225"])):
        assert errors(short.replace("LENGTH", length) + places + "}\n", tmp_path) == code


ROUTERS = f"{TEXTS['ROUTERS']}\n"


@pytest.mark.parametrize(
    ("pitch", "places", "status", "words"),
    [
        # each site's six cables of 8 mm go by the entry, rack 1 of row A: 6 * 355/113 / 4 * 64 / 10,000
        ("pitch rack 1m, row 3m", ("A[2 + i]", "B[2 + i]"), "proved", "3.02% in row A from rack 1 to 2 of hall h (6 cables)"),
        # where the other site is, no place says
        ("pitch rack 1m, row 3m", ("A[2 + i]",), "bounded",
         "at least 3.02% in row A from rack 1 to 2 of hall h (6 cables); the length or diameter of 7 cables is unknown"),
        ("pitch row 3m", ("A[2 + i]", "B[2 + i]"), "skipped", ""),
        ("pitch rack 1m", ("A[2 + i]", "A[2 + i]"), "skipped", ""),
    ],
)  # fmt: skip
def test_trays_of_cables_that_span_a_distance(
    pitch: str, places: tuple[str, ...], status: str, words: str, tmp_path: Path
) -> None:
    """They lie on the way to the entry of their hall, where that is known; not between racks, nor at racks of others."""
    placed = "\n  ".join(f"place dc[({k})].s[i] in h.{p} at {3 + 4 * k}U" for k, p in enumerate(places))
    result = compile_text(ROUTERS.replace("PITCH", pitch).replace("PLACES", placed), tmp_path, models=False)
    (found,) = [r for r in result.designs[0].results if r.check == "tray_fill"]
    assert (found.status, found.text) == (status, words)
