"""Automatic placement: what goes where, what is refused, the lower bound, and locks."""

from __future__ import annotations

import re
from itertools import combinations, product
from pathlib import Path
from random import Random

import pytest

from tdsl.compile.compilation import Compilation
from tdsl.fabric.graph import Fabric
from tdsl.fabric.pins import lock_text
from tests.harness import compile_text, sections

TEXTS = sections(Path(__file__).parent / "auto.txt")
POD = f"\n{TEXTS['POD']}\n"


def compiled(statement: str, folder: Path, nodes: int = 32, verify: bool = False) -> Compilation:
    return compile_text(POD % (nodes, statement), folder, models=False, verify=verify)


def fabric(found: Compilation) -> Fabric:
    made = found.designs[0].fabric
    assert made is not None and made.places is not None
    return made


def racks(f: Fabric) -> dict[str, list[str]]:
    """Devices of every rack, from the bottom."""
    p = f.places
    assert p is not None
    out: dict[str, list[str]] = {}
    for d in sorted(range(f.device_count), key=lambda d: int(p.device_unit[d])):
        if p.device_rack[d] >= 0:
            out.setdefault(p.rack_names[int(p.device_rack[d])], []).append(f.device_name(d))
    return out


def kilometres(found: Compilation) -> tuple[float, float]:
    """The total length that the note prints, and its bound."""
    note = next(d.notes[0] for d in found.findings if d.code == "E0210")
    total, least = re.findall(r"([\d.,]+) km", note)
    return float(total), float(least)


def test_four_hosts_a_rack_and_the_switches_in_the_middle(tmp_path: Path) -> None:
    found = compiled("place auto in h1 { hosts 4 per rack; switches middle of row; minimize length }", tmp_path, verify=True)
    assert not [d for d in found.findings if d.severity.word == "error"]
    held = racks(fabric(found))
    hosts = {r: ds for r, ds in held.items() if ds[0].startswith("node")}
    assert len(hosts) == 8 and all(len(ds) == 4 for ds in hosts.values())
    others = {r for r in held if r not in hosts}
    assert others <= {"A04", "A05", "B04", "B05"}  # the middle of rows of eight
    results = {r.check: r.status for r in found.designs[0].results}
    assert results["rack_power"] == results["rack_space"] == results["rack_weight"] == "proved"


def test_switches_at_the_top_of_the_racks_of_hosts(tmp_path: Path) -> None:
    f = fabric(compiled("place auto in h1 { switches top of rack }", tmp_path))
    p = f.places
    assert p is not None
    leaves = [d for d in range(f.device_count) if f.device_name(d).startswith("leaf")]
    assert sorted(p.device_unit[leaves].tolist()) == [48] * 8
    assert len(set(p.device_rack[leaves].tolist())) == 8
    assert all(racks(f)[p.rack_names[int(r)]][0].startswith("node") for r in p.device_rack[leaves])


def test_what_is_placed_by_hand_stays_and_its_rack_is_left_alone(tmp_path: Path) -> None:
    f = fabric(compiled("place spine[*] in h1.A[3] stacked from 30U; place auto in h1", tmp_path))
    held = racks(f)
    assert held["A03"] == ["spine0", "spine1", "spine2", "spine3"]
    assert sum(map(len, held.values())) == 44


SMALL = f"\n{TEXTS['SMALL']}\n"


@pytest.mark.parametrize("units", [3, 4])
def test_no_placement_is_shorter_than_the_bound(units: int, tmp_path: Path) -> None:
    """All placements of three hosts, one a rack, and two switches, by arithmetic of this test's own, in micrometres."""

    def run(a: tuple[int, int, int], b: tuple[int, int, int]) -> int:
        (rack_a, unit_a, size_a), (rack_b, unit_b, size_b) = a, b
        at = [(2 * (u - 1) + s) * 22_225 for u, s in ((unit_a, size_a), (unit_b, size_b))]
        if rack_a == rack_b:
            return abs(at[0] - at[1]) + 1_000_000
        return sum(abs(400_000 - x) for x in at) + abs(rack_a - rack_b) * 600_000 + 1_000_000

    best = None
    spots = list(product(range(4), range(1, units + 1)))
    for heights, numbers in product(product(range(1, units), repeat=3), combinations(range(4), 3)):
        hosts = [(r, u, 2) for r, u in zip(numbers, heights, strict=True)]
        taken = {(r, u + k) for r, u, _ in hosts for k in (0, 1)}
        for one, two in product(spots, repeat=2):
            if one != two and one not in taken and two not in taken:
                total = sum(run(h, (*s, 1)) for h in hosts for s in (one, two))
                best = total if best is None else min(best, total)
    found = compile_text(SMALL % units, tmp_path, models=False)
    total, least = kilometres(found)
    assert best is not None
    assert least <= round(best / 1e9, 3) <= total


def test_a_lock_keeps_devices_where_they_are(tmp_path: Path) -> None:
    before = fabric(compiled("place auto in h1", tmp_path, nodes=16))
    lock = tmp_path / "design.fab.lock"
    lock.write_text(lock_text([before], "design.fab"))
    grown = compiled("place auto in h1", tmp_path, nodes=24)
    assert not [d for d in grown.findings if d.code == "E0211"]
    old, new = racks(before), racks(fabric(grown))
    assert all(new[r] == ds for r, ds in old.items())
    assert sum(map(len, new.values())) == 36
    lock.write_text(lock.read_text().replace("place node[3] in h1.", "place node[3] in h1.Z"))
    moved = compiled("place auto in h1", tmp_path, nodes=16)
    assert [d.message for d in moved.findings if d.code == "E0211"] == ["1 of 28 placed devices would move"]


PODS = """
model host H { height 8U; port nic[2]: 400Gbps { type NDR } }
model switch S { height 1U; port p[1..32]: 400Gbps { type NDR } }
fabric f {
  pod pod[3] { host node[5]: H; switch leaf[2]: S; switch spine[2]: S
    connect node[n].nic[r] to leaf[r]; connect leaf[*] to spine[*] spread x 4 }
  switch core[2]: S
  connect pod[*].spine[*] to core[*] spread x 4
  hall h { row A, B { rack 1..8 { height 24U } }; pitch rack 0.6m, row 3m; tray above 2.6m; slack 1m }
  place auto in h
}
"""


def test_switches_of_a_pod_are_in_one_rack(tmp_path: Path) -> None:
    """Those of its upper tier, too, which reach other pods over the cores."""
    found = compile_text(PODS, tmp_path, models=False, verify=False)
    held = racks(fabric(found))
    for k in range(3):
        names = {f"pod{k}-{kind}{i}" for kind in ("leaf", "spine") for i in range(2)}
        assert sum(bool(names & set(devices)) for devices in held.values()) == 1
    total, least = kilometres(found)
    assert 0 < least < total


def test_random_floors_hold_every_limit(tmp_path: Path) -> None:
    """Everything has a place within the height, power and mass of its rack and shares no unit, or the design is refused."""
    kept = refused = 0
    for seed in range(30):
        random = Random(seed)
        sizes = {"H": (random.randint(1, 9), random.randint(200, 4000), random.randint(5, 90)),
                 "S": (random.randint(1, 3), random.randint(50, 900), random.randint(2, 20))}  # fmt: skip
        hosts, switches, each = random.randint(1, 14), random.randint(1, 3), random.choice((0, 1, 2, 3))
        limits = (random.choice((9, 20, 42)), random.choice((3000, 6000, 20_000)), random.choice((100, 250, 2000)))
        asked = f"hosts {each} per rack; " * bool(each) + random.choice(("", "switches top of rack", "switches end of row"))
        text = "".join(
            f"model {kind} {m} {{ port p[{n}]: 400Gbps; height {u}U; power {w}W; mass {kg}kg }}\n"
            for (m, (u, w, kg)), kind, n in zip(sizes.items(), ("host", "switch"), (3, 16), strict=True)
        )
        text += f"fabric f {{ host h[{hosts}]: H; switch s[{switches}]: S; connect h[n].p[i] to s[i] where i < {switches}\n"
        text += f"hall a {{ row A, B {{ rack 1..{random.randint(1, 6)} "
        text += f"{{ height {limits[0]}U; power {limits[1]}W; mass {limits[2]}kg }} }}\n"
        text += f"pitch rack 0.6m, row 3m; tray above 2.6m; slack 1m }}\nplace auto in a {{ {asked} }} }}\n"
        found = compile_text(text, tmp_path, models=False, verify=False)
        errors = {d.code for d in found.findings if d.severity.word == "error"}
        if errors:
            assert errors == {"E0209"}, text
            refused += 1
            continue
        kept += 1
        f = fabric(found)
        p = f.places
        assert p is not None
        taken: set[tuple[int, int]] = set()
        sums: dict[int, list[int]] = {}
        for d in range(f.device_count):
            units, watts, kg = sizes[f.model_of(d).name]
            rack, unit = int(p.device_rack[d]), int(p.device_unit[d])
            mine = {(rack, u) for u in range(unit, unit + units)}
            assert rack >= 0 and unit >= 1 and unit + units - 1 <= limits[0] and not mine & taken, text
            taken |= mine
            held = sums.setdefault(rack, [0, 0, 0])
            sums[rack] = [held[0] + watts, held[1] + kg, held[2] + (f.model_of(d).name == "H")]
        assert all(w <= limits[1] and kg <= limits[2] and (not each or n <= each) for w, kg, n in sums.values()), text
    assert kept > 8 and refused > 8, (kept, refused)
