"""The rows of cables that differ between two fabrics: a comparison of all records, one by one, judges."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tdsl.changes.cable_rows import CableRows, differing_cable_rows
from tdsl.changes.compare import cable_legs_in_order
from tdsl.changes.model import CableLeg
from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tests.tables import sections

DESIGN = sections(__file__)["design"]


def design(chance: Random) -> dict[str, object]:
    """What a random design is made of."""
    units, spines = chance.randint(1, 3), chance.choice((1, 2, 4))
    return {
        "units": units, "nodes": chance.randint(1, 5), "spines": spines, "uplinks": spines * chance.randint(1, 3),
        "leaf": "leaf", "turn": 0, "length": 3, "colour": "red", "lanes": "", "labels": "", "omit": "",
    }  # fmt: skip


def changed(facts: dict[str, object], chance: Random) -> dict[str, object]:
    """The same with one or two changes, or none."""
    out = dict(facts)
    for what in chance.sample(("units", "nodes", "leaf", "turn", "length", "colour", "labels", "omit"), chance.randint(0, 2)):
        out[what] = {
            "units": chance.randint(1, 3), "nodes": chance.randint(1, 5), "leaf": chance.choice(("leaf", "tor")),
            "turn": chance.randint(0, 3), "length": chance.choice((3, 5)), "colour": chance.choice(("red", "blue")),
            "labels": ' { name "Eth{i}" }', "omit": "omit su[0].node[0]",
        }[what]  # fmt: skip
    return out


def fabric(facts: dict[str, object], folder: Path) -> Fabric:
    path = folder / "f.fab"
    path.write_text(DESIGN.format(**facts))
    (made,) = compiler.compile_without_checks(str(path)).designs
    assert made.fabric is not None and made.fabric.complete, [d.message for d in made.findings]
    return made.fabric


def content(leg: CableLeg) -> tuple[object, ...]:
    """What a reader of a comparison could see of a leg, beside names and identifiers that follow from other rows."""
    return leg.a.key, leg.b.key, leg.a.label, leg.b.label, leg.facts, leg.places


def test_rows_that_differ_are_those_that_the_other_side_has_not(tmp_path: Path) -> None:
    chance, found = Random(1), 0
    for _ in range(25):
        facts = design(chance)
        before, after = fabric(facts, tmp_path), fabric(changed(facts, chance), tmp_path)
        tables = CableRows(before, {}), CableRows(after, {})
        every = [cable_legs_in_order(f) for f in (before, after)]
        for k, rows in enumerate(differing_cable_rows(*tables)):
            there = {content(leg) for leg in every[1 - k]}
            expected = [leg for leg in every[k] if content(leg) not in there]
            assert tables[k].legs(rows) == expected
            found += 0 < len(expected) < len(every[k])
        assert [len(t) for t in tables] == [len(legs) for legs in every] == [len(before.cable_a), len(after.cable_a)]
    assert found > 10


def test_links_of_a_leg_are_those_that_run_through_it(tmp_path: Path) -> None:
    made = fabric(design(Random(7)), tmp_path)
    legs = cable_legs_in_order(made)
    assert sorted(link for leg in legs for link in leg.links) == list(range(made.link_count))
    for leg in legs:
        for link in leg.links:
            ends = {made.device_path(int(made.port_device[p])) for p in (made.link_a[link], made.link_b[link])}
            assert ends == {leg.a.device, leg.b.device}
    assert legs and not differing_cable_rows(CableRows(made, {}), CableRows(made, {}))[0].size
