"""Circuits over drawn cables: which optical switch, which ports, and how two switches share what neither has room for."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric import circuits
from tdsl.fabric.circuits import Edge, Plant
from tests.harness import compile_text, links_of

MODELS = """
model switch B { port p[6]: 400Gbps; port q[4]: 200Gbps }
model ocs O { port o[1..24]: any }
model panel PLATE { port front[8]: any; port back[8]: any }
"""
Cable = tuple[str, str]
"""Port of a device, port of an optical switch."""


def drawn(text: str, folder: Path) -> dict[str, dict[str, list[Cable]]]:
    """Of each device and optical switch the cables between them, in the order of their ports."""
    f = compile_text(f"fabric f {{\n{text}\n}}{MODELS}", folder, verify=False, models=False).designs[0].fabric
    assert f is not None
    found: dict[str, dict[str, list[Cable]]] = defaultdict(lambda: defaultdict(list))
    for a, b in sorted((min(x), max(x)) for x in zip(f.cable_a.tolist(), f.cable_b.tolist(), strict=True)):
        device, ocs = (f.device_path(int(f.port_device[p])) for p in (a, b))
        if ocs.startswith("o"):
            found[device][ocs].append((f.port_path(a), f.port_path(b)))
    return found


def chosen(cables: dict[str, dict[str, list[Cable]]], asked: list[tuple[str, str]]) -> set[frozenset[tuple[str, str]]]:
    """Circuits one by one, by device and then as asked: each in the switch with the fewest so far, then the lowest. In each
    switch they take the lowest cables in the order in which they are asked for. Taken cables are removed."""
    where: dict[str, list[int]] = defaultdict(list)
    used: Counter[tuple[str, str]] = Counter()
    for i in sorted(range(len(asked)), key=lambda i: (*asked[i], i)):
        a, b = asked[i]
        able = [o for o in cables[a] if all(len(cables[d][o]) > used[d, o] for d in (a, b))]
        ocs = min(able, key=lambda o: (len(where[o]), o))
        where[ocs].append(i)
        used[a, ocs] += 1
        used[b, ocs] += 1
    out = set()
    for ocs, rows in where.items():
        for i in sorted(rows):
            out.add(frozenset(cables[d][ocs].pop(0) for d in asked[i]))
    return out


CASES = [
    ("connect b[*] to o[*] each x 2", ["circuit b[*] each"], [[(i, j) for i in range(4) for j in range(i + 1, 4)]]),
    ("connect o[*] to b[*] each x 2", ["circuit b[*] ring"], [[(0, 1), (1, 2), (2, 3), (3, 0)]]),
    ("connect b[*].q to o[*] each\nconnect b[*].p to o[0..1] each", ["circuit b[i] to b[i + 1] x (i + 1) where i < 3"],
     [[(i, i + 1) for i in range(3) for _ in range(i + 1)]]),
    ("connect b[*] to o[*] each x 2", ["circuit b[0] to b[3]", "circuit b[1..2] each x 2", "circuit b[0] to b[2]"],
     [[(0, 3)], [(1, 2), (1, 2)], [(0, 2)]]),
    ("connect b[2..3] to o[1..2] each x 2\nconnect b[0..1] to o[*] each\nconnect b[*] to m each",
     ["circuit b[0..1] to b[2..3] each"], [[(0, 2), (0, 3), (1, 2), (1, 3)]]),
    ("connect b[*] to o[1] each x 6", ["circuit b[*] spread"],
     [[(i, j) for _ in (0, 1) for i in range(4) for j in range(i + 1, 4)]]),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(CASES)))
def test_circuits_one_by_one(row: int, tmp_path: Path) -> None:
    connects, statements, asked = CASES[row]
    text = f"switch b[4]: B; ocs o[3]: O; panel m: PLATE\n{connects}\n"
    cables = drawn(text, tmp_path)
    result = compile_text(f"fabric f {{\n{text}{chr(10).join(statements)}\n}}{MODELS}", tmp_path, verify=False, models=False)
    f = result.designs[0].fabric
    assert f is not None and [d.message for d in result.findings if d.severity.word == "error" and d.code != "E0404"] == []
    columns = (f.link_a, f.link_via_a, f.link_b, f.link_via_b)
    found = {frozenset(((a, x), (b, y))) for a, x, b, y in zip(*([f.port_path(int(p)) for p in c] for c in columns), strict=True)}
    expected = set[frozenset[Cable]]()
    for pairs in asked:
        expected |= chosen(cables, [(f"b[{i}]", f"b[{j}]") for i, j in pairs])
    assert found == expected and len(found) == sum(map(len, asked))


def test_circuits_of_a_device_that_is_omitted(tmp_path: Path) -> None:
    """They are planned, at the rate of the first port that is cabled to an optical switch; those of a device without such a
    cable are not even that."""
    text = """fabric f {
      switch b[4]: B; ocs o[2]: O
      connect b[0..2].q[0..1] to o[*] each
      connect b[0..2].p[4..5] to o[*] each
      circuit b[0..2] each
      circuit b[0] to b[3]
      omit b[1]; omit b[3]
    }""".replace("; ", "\n")
    f = compile_text(text + MODELS, tmp_path, verify=False, models=False).designs[0].fabric
    assert f is not None and f.complete
    assert {tuple(x.rpartition(".")[0] for x in link) for link in links_of(f)} == {("b[0]", "b[2]")}
    ends = sorted((f.device_path(int(a)), f.device_path(int(b))) for a, b in zip(f.absent_a, f.absent_b, strict=True))
    assert ends == [("b[0]", "b[1]"), ("b[1]", "b[2]")]
    assert f.absent_rate.tolist() == [400 * 10**9] * 2 and f.absent_reserved.tolist() == [True] * 2
    assert len(f.cable_a) == 8 and f.link_rate.tolist() == [400 * 10**9]


def test_circuits_in_switches_that_are_built(tmp_path: Path) -> None:
    """Cables to an optical switch that is omitted carry none, though ports are kept for them."""
    text = "switch b[3]: B; ocs o[3]: O; connect b[*] to o[*] each x 2; omit o[0]; circuit b[*] each".replace("; ", "\n")
    f = compile_text(f"fabric f {{ {text} }}{MODELS}", tmp_path, verify=False, models=False).designs[0].fabric
    assert f is not None
    columns = (f.link_a, f.link_via_a, f.link_via_b, f.link_b)
    assert {tuple(f.port_path(int(p)) for p in row) for row in zip(*columns, strict=True)} == {
        ("b[0].p[1]", "o[1].o[1]", "o[1].o[2]", "b[1].p[1]"), ("b[0].p[2]", "o[2].o[1]", "o[2].o[3]", "b[2].p[2]"),
        ("b[1].p[4]", "o[1].o[14]", "o[1].o[3]", "b[2].p[1]"),
    }  # fmt: skip


REFUSED = {
    "circuit b[0] to b[1] via o[0]": ("E0457", "a circuit finds its OCS among the cables; there is no `via`"),
    "circuit b[0].p[0] to b[1]": ("E0457", "a circuit takes whichever cabled ports fit; name the device only"),
    "circuit b[0] to b[1].p[0]": ("E0457", "a circuit takes whichever cabled ports fit; name the device only"),
    "circuit b[0] to b[1] { rate 400Gbps, 200Gbps }": ("E0120", "`rate` lists 2 values for links without dimensions"),
    "circuit b[0] to b[1] x 0": ("E0120", "`x 0` makes no link"),
    "circuit b[0] to b[1] x 5": ("E0452", "b[0] and b[1] lack free cables to a common OCS for one more circuit"),
    "circuit b[0] to b[3]": ("E0452", "b[0] and b[3] lack free cables to a common OCS for one more circuit"),
    "circuit b[*] spread": ("E0454", "b[3] has 0 free ports and b[0] has 4, so their links cannot be distributed evenly"),
}


@pytest.mark.parametrize("statement", REFUSED)
def test_refused_circuits(statement: str, tmp_path: Path) -> None:
    text = f"fabric f {{\nswitch b[4]: B\nocs o[2]: O\nconnect b[0..2] to o[*] each x 2\n{statement}\n}}{MODELS}"
    found = compile_text(text, tmp_path, verify=False, models=False).findings
    assert [(d.code, d.message) for d in found if d.code != "E0404"][:1] == [REFUSED[statement]]
    if "x 5" in statement:
        assert next(d.notes for d in found if d.code == "E0452") == ("4 of 5 circuits were set up",)


def test_the_limit_of_links_counts_circuits(tmp_path: Path) -> None:
    """Those of all statements, with the links of connects."""
    text = f"""fabric f {{
      switch b[4]: B
      switch e[3]: B
      ocs o[2]: O
      connect b[*] to o[*] each x 2
      connect b[*].q each
      connect e[*] each x 2
      circuit b[*] each
      circuit b[0] to b[1]
    }}{MODELS}"""
    for limit, codes in ((19, []), (18, ["E0116"])):
        found = compile_text(text, tmp_path, verify=False, models=False, max_links=limit).findings
        assert [d.code for d in found if d.severity.word == "error"] == codes


# ------------------------------------------------------------ two optical switches
@pytest.mark.parametrize("seed", range(40))
def test_halves_of_circuits(seed: int) -> None:
    """Each device has half of its circuits in each part; of an odd number one more in either. Where all devices of a component
    have even numbers and there are an odd number of circuits, the device with the fewest has two more in one part."""
    chance = Random(seed)
    size = chance.randint(2, 8)
    edges: list[Edge] = [(*chance.sample(range(size), 2), i) for i in range(chance.randint(0, 16))]
    halves = circuits._halve_links(edges)
    assert sorted(e for half in halves for e in half) == sorted(edges)
    assert all(half == sorted(half, key=lambda e: e[2]) for half in halves)
    graph = nx.MultiGraph((a, b) for a, b, _ in edges)
    of_each = [Counter(d for e in half for d in e[:2]) for half in halves]
    for part in nx.connected_components(graph):
        odd = [d for d in part if graph.degree(d) % 2]
        first = min(part, key=lambda d: (graph.degree(d), d))
        uneven = not odd and graph.subgraph(part).number_of_edges() % 2
        for d in part:
            expected = 1 if d in odd else 2 if uneven and d == first else 0
            assert abs(of_each[0][d] - of_each[1][d]) == expected


def test_halves_stay_what_they_are() -> None:
    """What is cabled stays with every version."""
    ends = ((0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0), (1, 2), (3, 0), (5, 6), (6, 7), (7, 5), (1, 4), (2, 8), (8, 3))
    edges = [(a, b, i) for i, (a, b) in enumerate(ends)]
    one, two = circuits._halve_links(edges)
    assert ([e[2] for e in one], [e[2] for e in two]) == HALVES


HALVES = ([1, 3, 5, 6, 8, 10, 13], [0, 2, 4, 7, 9, 11, 12])


def plant_with(cables: dict[tuple[int, int], int]) -> Plant:
    """A plant of numbers of cables from devices to optical switches; port n of a device is n + 100 x (the device + 1)."""
    plant = Plant()
    for (device, ocs), n in cables.items():
        plant.cables[device][ocs] = [(100 * device + 100 + 10 * ocs + k, 1000 * ocs + 10 * device + k) for k in range(n)]
    return plant


@pytest.mark.parametrize("seed", range(40))
def test_even_cables_carry_all_circuits(seed: int) -> None:
    """With an even number of cables from every device to every switch, as many circuits fit as a device has cables; what is set
    up takes each cable once."""
    chance = Random(seed)
    devices, switches, each = chance.randint(2, 6), chance.randint(1, 4), 2 * chance.randint(1, 2)
    plant = plant_with({(d, 90 + o): each for d in range(devices) for o in range(switches)})
    assert [plant.total_room(d) for d in range(devices)] == [each * switches] * devices
    room = dict.fromkeys(range(devices), each * switches)
    edges: list[Edge] = []
    while len(able := [d for d in room if room[d]]) > 1:
        a, b = chance.sample(able, 2)
        edges.append((a, b, len(edges)))
        room[a] -= 1
        room[b] -= 1
    chance.shuffle(edges)
    for number, edge in enumerate(edges):
        assert circuits._place_circuit(plant, edge)
        held = [e for found in plant.members.values() for e in found]
        assert sorted(held) == sorted(edges[: number + 1])
        for ocs, found in plant.members.items():
            of_each = Counter(d for e in found for d in e[:2])
            assert all(plant.used[d, ocs] == of_each[d] <= each for d in range(devices))
            assert all(plant.room(d, ocs) == each - of_each[d] for d in range(devices))
    assert {d: plant.total_room(d) for d in room} == room
    for d in room:
        room[d] += 1
    if full := [d for d in room if room[d] == 1]:
        assert not circuits._place_circuit(plant, (full[0], (full[0] + 1) % devices, -1))
    members = {o: sorted(found, key=lambda e: e[2]) for o, found in plant.members.items()}
    before = {d: {o: list(found) for o, found in plant.cables[d].items()} for d in range(devices)}
    columns = np.stack(circuits._ports_of_circuits(plant, len(edges))).T.tolist()
    for ocs, found in members.items():
        for a, b, i in found:
            (pa, oa), (pb, ob) = before[a][ocs].pop(0), before[b][ocs].pop(0)
            assert columns[i] == [pa, pb, oa, ob]
    assert plant.cables == before and not plant.members and not plant.used


@pytest.mark.parametrize("seed", range(60))
def test_two_switches_share_their_circuits(seed: int) -> None:
    """Each takes one half, if every device has as many cables to it; else all stays as it was."""
    chance = Random(seed)
    plant = plant_with({(d, o): chance.randint(1, 3) for d in range(5) for o in (90, 91, 92)})
    for number in range(chance.randint(0, 9)):
        a, b = chance.sample(range(5), 2)
        able = [o for o in (90, 91, 92) if plant.room(a, o) > 0 and plant.room(b, o) > 0]
        if able:
            plant.add((a, b, number), chance.choice(able))
    edge = (*chance.sample(range(5), 2), 99)
    x, y = chance.sample((90, 91), 2)
    before = {o: list(found) for o, found in plant.members.items()}
    halves = circuits._halve_links([*before.get(x, []), *before.get(y, []), edge])
    needed = [Counter(d for e in half for d in e[:2]) for half in halves]
    fits = all(n <= len(plant.cables[d][o]) for o, need in zip((x, y), needed, strict=True) for d, n in need.items())
    assert circuits._redistribute_circuits(plant, edge, x, y) == fits
    after = before | {x: halves[0], y: halves[1]} if fits else before
    assert {o: found for o, found in plant.members.items() if found} == {o: found for o, found in after.items() if found}
    used = Counter((d, o) for o, found in after.items() for e in found for d in e[:2])
    assert {key: n for key, n in plant.used.items() if n} == used


def test_what_cannot_be_shared_stays() -> None:
    """One cable to each of two switches at one device, three at the other: no share of the circuits fits, and none moves."""
    plant = plant_with({(0, 90): 1, (1, 91): 1, (2, 90): 1, (2, 91): 1})
    assert circuits._place_circuit(plant, (0, 2, 0)) and circuits._place_circuit(plant, (1, 2, 1))
    assert plant.members == {90: [(0, 2, 0)], 91: [(1, 2, 1)]}
    assert not circuits._place_circuit(plant, (0, 1, 2))
    plant = plant_with({(0, 90): 1, (1, 91): 1})
    assert not circuits._place_circuit(plant, (0, 1, 0))
    assert not any(plant.members.values()) and not any(plant.used.values())
    for turned in (False, True):
        plant = plant_with({(0, 90): 2, (1, 91): 2, (2, 90): 2, (2, 91): 2})
        assert circuits._place_circuit(plant, (0, 2, 0)) and circuits._place_circuit(plant, (1, 2, 1))
        assert not circuits._place_circuit(plant, (1, 0, 2) if turned else (0, 1, 2))
        assert plant.members == {90: [(0, 2, 0)], 91: [(1, 2, 1)]} and set(plant.used.values()) <= {0, 1}
    plant = plant_with({(0, 91): 2, (1, 90): 2, (2, 90): 2, (2, 91): 2, (3, 90): 2, (3, 91): 2})
    for edge in ((2, 0, 0), (2, 1, 1), (2, 1, 2), (2, 0, 3)):
        assert circuits._place_circuit(plant, edge)
    assert plant.members == {90: [(2, 1, 1), (2, 1, 2)], 91: [(2, 0, 0), (2, 0, 3)]}
