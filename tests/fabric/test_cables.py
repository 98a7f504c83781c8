"""Cables of fabrics by loops: the links in each, their order in the plan, their names, and which cable to pull first."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.columns import port_id
from tdsl.fabric.graph import Fabric
from tests.harness import compile_text, sections

MODELS = """
model switch LANES { port p[1..4]: 800Gbps { split 4 }; port q[1..4]: 400Gbps }
model switch TWIN { port p[1..16]: 400Gbps { cage 2 OSFP } }
model switch ONE { port p[1..16]: any }
model switch BACK { port p[1..16]: 400Gbps; port a[1..16]: 400Gbps }
model panel PLATE { port front[8]: any; port back[8]: any }
model panel LONE { port all[1..16]: any }
model switch HALVES { port p[1..2]: 800Gbps { split 2 } }
model cable TWO { legs 2; rate 800Gbps; medium fibre }
model cable HYDRA { legs 4; rate 800Gbps; medium fibre }
"""
DESIGNS = sections(Path(__file__).parent / "cables.txt")


@pytest.fixture(scope="module")
def fabrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fabric]:
    """Every design, compiled."""
    found = {}
    for name, body in DESIGNS.items():
        text = f"fabric f {{\n{body.replace('; ', chr(10))}\n}}{MODELS}"
        result = compile_text(text, tmp_path_factory.mktemp("cables"), verify=False, models=False)
        wrong = [d.message for d in result.findings if d.severity.word == "error" and d.code != "E0404"]
        fabric = result.designs[0].fabric
        assert wrong == [] and fabric is not None, (name, wrong)
        found[name] = fabric
    return found


def connector(f: Fabric, port: int) -> tuple[int, str, int]:
    """What the cable in a port fills: its connector, or its cage where a cable carries several links."""
    device = int(f.port_device[port])
    c, i = f.port_class(port)
    link = int(f.port_link[port])
    if link >= 0 and f.statements[int(f.link_statement[link])].settings.get("carries") == 2:
        return device, "cage", c.cages[i]
    return device, f"{c.name} from {c.first}", c.connectors[i]


def segments(f: Fabric) -> list[tuple[int, int, int]]:
    """Link and the two ports between which a part of it runs, from the a end."""
    out = []
    for i in range(f.link_count):
        ports = [int(f.link_a[i]), int(f.link_via_a[i]), int(f.link_via_b[i]), int(f.link_b[i])]
        if ports[1] < 0:
            out.append((i, ports[0], ports[3]))
        else:
            out += [(i, ports[0], ports[1]), (i, ports[2], ports[3])]
    return out


def through(f: Fabric) -> dict[int, list[int]]:
    """Of each link the rows of its cables, from the a end."""
    legs = enumerate(zip(f.cable_a.tolist(), f.cable_b.tolist(), strict=True))
    rows = {frozenset((connector(f, a), connector(f, b))): k for k, (a, b) in legs}
    out = defaultdict(list)
    for i, a, b in segments(f):
        row = rows.get(frozenset((connector(f, a), connector(f, b))))
        if row is not None:
            out[i].append(row)
    return out


@pytest.mark.parametrize("name", DESIGNS)
def test_links_of_cables(name: str, fabrics: dict[str, Fabric]) -> None:
    f = fabrics[name]
    cables = CableIndex(f)
    found = defaultdict(list)
    for link, leg in zip(*(x.tolist() for x in cables.crossings), strict=True):
        found[link].append(leg)
    expected = through(f)
    assert found == expected
    media = {"traces": 12, "nothing": 0}
    assert len(expected) == media.get(name, f.link_count)
    assert [sum(row in legs for legs in expected.values()) for row in range(len(f.cable_a))] == f.cable_links.tolist()
    by_id = defaultdict(list)
    for link in sorted(expected):
        for leg in expected[link]:
            by_id[cables.ids[leg]].append(link)
    assert {k: sorted(v) for k, v in cables.links_by_id().items()} == by_id


@pytest.mark.parametrize("name", DESIGNS)
def test_order_and_names_of_cables(name: str, fabrics: dict[str, Fabric]) -> None:
    """Cables by the lower end's device, then as a person meets its ports; the legs of one cable stay together. Its name is that
    of the first port at the lower end. They are pulled bundle by bundle."""
    f = fabrics[name]
    cables = CableIndex(f)
    count = len(f.cable_a)
    rank = cables.ports.rank[cables.ports.rows(np.arange(len(f.port_device)))].tolist()
    key = [(int(f.port_device[a]), rank[a]) for a in f.cable_a.tolist()]
    groups = defaultdict(list)
    for row, group in enumerate(f.cable_group.tolist()):
        groups[group].append(row)
    first = {group: min(rows, key=lambda r: key[r]) for group, rows in groups.items()}
    order = sorted(range(count), key=lambda r: (key[first[int(f.cable_group[r])]], int(f.cable_leg[r])))
    rows, ranks, ids = cables.order
    assert rows.tolist() == order and len(ranks) == count
    assert sorted(range(count), key=lambda r: (int(ranks[r]), int(f.cable_leg[r]))) == order
    lead = [int(f.cable_a[first[g]]) for g in f.cable_group.tolist()]
    if count:
        assert cables.lead.tolist() == lead
        assert [i.partition(":")[0] for i in ids] == [f.device_name(int(f.port_device[p])) for p in lead]
        holes = []
        for p in lead:
            c, i = f.port_class(p)
            full = port_id(c, i)
            holes.append(full.rpartition("-")[0] if c.split > 1 else full)
        assert [i.partition(":")[2] for i in ids] == holes
    else:
        assert ids == []
    heads = [
        bool(f.cable_leg[r]) and sum(connector(f, int(b)) == connector(f, int(f.cable_b[r])) for b in f.cable_b) > 1
        for r in range(count)
    ]
    assert cables.head_at_b.tolist() == heads
    assert any(heads) == name.endswith("at b")
    places = list(dict.fromkeys(str(p) for p in cables.devices.place.tolist()))
    families = list(dict.fromkeys(str(x) for x in cables.devices.family))

    def turn(group: int) -> tuple[object, ...]:
        """Group by group; cables of hosts by the switch they lead to, of a switch by the kind of switch above it."""
        a, b = (int(f.port_device[ends[groups[group][0]]]) for ends in (f.cable_a, f.cable_b))
        place = places.index(str(cables.devices.place[a]))
        kind = [families.index(str(cables.devices.family[x])) for x in (a, b)]
        bundle = (b, kind[0]) if f.is_end[a] else (a, kind[1])
        return place, not f.is_end[a], *bundle, b, key[first[group]]

    turns = {group: number for number, group in enumerate(sorted(groups, key=turn), 1)}
    assert cables.turns().tolist() == [turns[g] for g in f.cable_group.tolist()]
