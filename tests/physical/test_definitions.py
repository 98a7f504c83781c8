"""Random designs in racks against their definitions: runs, lengths to order, trays, bends, racks, sums and the order of pulling,
each by arithmetic of this file on the numbers that the design was written from."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.compile.compilation import Compilation
from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tdsl.physical.bends import Bends
from tdsl.physical.model import physical_of
from tdsl.physical.trays import Trays
from tests.harness import compile_text, sampled, sections

HALF = 22_225
"""Micrometres of half a rack unit (EIA-310)."""
SOLD = {"WIRE": (1, 2, 3, 5, 10, 20, 40), "GLASS": (5, 10, 30, 90)}
REACH = {"WIRE": 40, "GLASS": 60}
"""Metres; that of GLASS is the reach of LASER, which is less than its own."""
DIAMETER, BEND, PRICE = {"WIRE": 7_000, "GLASS": 3_000}, {"WIRE": 60, "GLASS": 25}, {"WIRE": 3, "GLASS": 7}
MASS = {"s": 9, "h": 30}
TEXTS = sections(Path(__file__).parent / "definitions.txt")
MODELS = f"\n{TEXTS['MODELS']}\n"


@dataclass
class Hall:
    """Millimetres; ``tray`` is its height, below the floor a number below 0."""

    name: str
    rows: list[int]
    pitch: int
    row_pitch: int
    tray: int
    across: list[int]
    slack: int
    bend: int | None

    def text(self) -> str:
        bend = f"; bend {self.bend}mm" if self.bend else ""
        rows = "".join(f"row {'ABC'[k]} {{ rack 1..{n} {{ height 48U; power 20kW{bend} }} }}; " for k, n in enumerate(self.rows))
        side = "above" if self.tray >= 0 else "below"
        over = ", ".join(str(x + 1) for x in self.across)
        return (
            f"  hall {self.name} {{ {rows}pitch rack {self.pitch}mm, row {self.row_pitch}mm; tray {side} {abs(self.tray)}mm "
            f"{{ across at {over}; capacity 200mm x 100mm }}; slack {self.slack}mm }}\n"
        )


Rack = tuple[int, int, int]
"""Hall, row and place in the row."""


@dataclass
class Plan:
    """What a design is written from: where each device stands (a rack and a unit), and the cables between devices."""

    halls: list[Hall]
    distance: int
    at: dict[str, tuple[Rack, int] | None] = field(default_factory=dict)
    cables: list[tuple[str, str, str]] = field(default_factory=list)

    def height(self, device: str) -> int:
        return 1 if device.startswith("s") else 2

    def middle(self, device: str) -> int:
        where = self.at[device]
        assert where is not None
        return (2 * (where[1] - 1) + self.height(device)) * HALF

    def rise(self, device: str) -> int:
        where = self.at[device]
        assert where is not None
        return abs(self.halls[where[0][0]].tray * 1000 - self.middle(device))

    def along(self, a: Rack, b: Rack) -> int:
        """Micrometres along the trays."""
        if a[0] != b[0]:
            return self.along(a, (a[0], 0, 0)) + self.distance * 1000 + self.along((b[0], 0, 0), b)
        hall = self.halls[a[0]]
        if a[1] == b[1]:
            return abs(a[2] - b[2]) * hall.pitch * 1000
        over = min(abs(a[2] - x) + abs(b[2] - x) for x in hall.across)
        return (over * hall.pitch + abs(a[1] - b[1]) * hall.row_pitch) * 1000

    def run(self, a: str, b: str) -> int | None:
        """Micrometres of a cable, None where an end has no place."""
        here, there = self.at[a], self.at[b]
        if here is None or there is None:
            return None
        slack = (self.halls[here[0][0]].slack + self.halls[there[0][0]].slack) * 1000
        if here[0] == there[0]:
            return abs(self.middle(a) - self.middle(b)) + slack
        return slack + self.rise(a) + self.rise(b) + self.along(here[0], there[0])

    def steps(self, a: Rack, b: Rack) -> list[tuple[int, bool, int, int]]:
        """Stretches of tray between two racks: hall, whether across the rows, line, and where the stretch begins."""
        if a[0] != b[0]:
            return self.steps(a, (a[0], 0, 0)) + self.steps((b[0], 0, 0), b)
        hall = self.halls[a[0]]
        over = b[2] if a[1] == b[1] else min(hall.across, key=lambda x: (abs(a[2] - x) + abs(b[2] - x), x))
        lines = [(False, a[1], a[2], over), (False, b[1], b[2], over), (True, over, a[1], b[1])]
        return [(a[0], across, line, k) for across, line, x, y in lines for k in range(min(x, y), max(x, y))]

    def name(self, rack: Rack) -> str:
        return f"{'ABC'[rack[1]]}{rack[2] + 1:02}"

    def text(self) -> str:
        hosts, switches = (sum(d.startswith(k) for d in self.at) for k in "hs")
        used: Counter[str] = Counter()
        links = []
        for a, b, part in self.cables:
            ends = []
            for d in (a, b):
                ends.append(f"s[{d[1:]}].p[{used[d] + 1}]" if d.startswith("s") else f"h[{d[1:]}].nic[{used[d]}]")
                used[d] += 1
            links.append(
                f"  connect {ends[0]} to {ends[1]} {{ cable {part}{'; optic LASER, LASER' if part == 'GLASS' else ''} }}\n"
            )
        spots = [
            f"  place {d[0]}[{d[1:]}] in {self.halls[rack[0]].name}.{'ABC'[rack[1]]}[{rack[2] + 1}] at {unit}U\n"
            for d, where in self.at.items() if where is not None for rack, unit in [where]
        ]  # fmt: skip
        apart = f"  distance a to b {self.distance}mm\n" if len(self.halls) > 1 else ""
        body = "".join(h.text() for h in self.halls) + apart + "".join(spots) + "".join(links)
        return f"fabric f {{\n  host h[{hosts}]: H\n  switch s[{switches}]: S\n{body}}}\n{MODELS}"


def random_plan(seed: int) -> Plan:
    random = Random(seed)
    halls = []
    for name in "ab"[: random.choice((1, 2))]:
        rows = [random.randint(2, 5) for _ in range(random.randint(1, 3))]
        across = sorted(random.sample(range(min(rows)), random.randint(1, min(2, min(rows)))))
        halls.append(
            Hall(name, rows, random.choice((600, 700, 1)), random.choice((1800, 3000)), random.choice((2600, 1000, -400)), across,
                 random.choice((0, 250, 1000)), random.choice((None, 20, 25, 60, 80)))
        )  # fmt: skip
    plan = Plan(halls, random.choice((1, 9_000, 25_000)))
    racks = [(h, r, x) for h, hall in enumerate(halls) for r, n in enumerate(hall.rows) for x in range(n)]
    free = [(rack, unit) for rack in random.sample(racks, min(len(racks), 5)) for unit in (1, 5, 9, 20, 33, 46)]
    random.shuffle(free)
    hosts, switches = random.randint(2, 5), random.randint(2, 3)
    for d in [f"h{n}" for n in range(hosts)] + [f"s{n}" for n in range(switches)]:
        plan.at[d] = free.pop() if random.random() < 0.93 else None
    for n in range(hosts):
        for _ in range(random.randint(1, 4)):
            plan.cables.append((f"h{n}", f"s{random.randrange(switches)}", random.choice(("WIRE", "GLASS"))))
    for a, b in product(range(switches), repeat=2):
        if a < b:
            plan.cables += [(f"s{a}", f"s{b}", random.choice(("WIRE", "GLASS")))] * random.randint(0, 2)
    return plan


def table(files: dict[str, bytes], path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[path].decode())))


def judged(plan: Plan, found: Compilation) -> None:
    """Everything that is said of a plan."""
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.complete
    files = build_files(fabric, ["bom", "racks", "cabling"], Diagnostics())
    runs = [plan.run(a, b) for a, b, _ in plan.cables]

    def sold(k: int) -> int | None:
        run, part = runs[k], plan.cables[k][2]
        if run is None:
            return None
        return next((m for m in SOLD[part] if m * 1_000_000 >= run), ceil(Fraction(run, 10**6)))

    # runs, and lengths to order
    physical = physical_of(fabric)
    assert physical is not None
    ends = [[fabric.device_name(int(fabric.port_device[p])) for p in ports] for ports in (fabric.cable_a, fabric.cable_b)]
    mine = Counter((frozenset((a, b)), -1 if run is None else run) for (a, b, _), run in zip(plan.cables, runs, strict=True))
    lengths = physical.lengths
    assert Counter((frozenset(e), r) for *e, r in zip(*ends, lengths.run.tolist(), strict=True)) == mine
    for leg, run in enumerate(lengths.run.tolist()):
        assert sum(s.length for s in lengths.steps(leg)) == max(run, 0) and (lengths.unknown(leg) == "") is (run >= 0)
    far = [r is not None and r > REACH[part] * 10**6 for r, (*_, part) in zip(runs, plan.cables, strict=True)]
    assert ("E0225" in {d.code for d in found.findings}) is any(far)
    rows = table(files, "cabling/cables.csv")
    if not any(far):
        ordered = Counter((part, "" if sold(k) is None else str(sold(k))) for k, (*_, part) in enumerate(plan.cables))
        assert Counter((r["part"], r["length_m"]) for r in rows) == ordered
        bill = table(files, "bom/bom.csv")
        bought: Counter[tuple[str, str]] = Counter()
        spare: Counter[tuple[str, str]] = Counter()
        for line in bill:
            if line["kind"] == "cable":
                bought[line["model"], line["length_m"]] += int(line["quantity"])
                spare[line["model"], line["length_m"]] += int(line["spares"] or 0)
        assert bought == ordered
        # a tenth, rounded up for each length
        assert +spare == {key: ceil(Fraction(n, 10)) for key, n in ordered.items() if key[0] == "WIRE"}
        pieces = {k: sum(int(x["quantity"]) for x in bill if x["kind"] == k) for k in ("optic", "label", "host", "switch")}
        glass = sum(part == "GLASS" for *_, part in plan.cables)
        assert pieces == {
            "optic": 2 * glass, "label": 2 * len(plan.cables), "host": sum(d[0] == "h" for d in plan.at),
            "switch": sum(d[0] == "s" for d in plan.at),
        }  # fmt: skip

    # trays
    loads: defaultdict[tuple[int, bool, int, int], list[int]] = defaultdict(lambda: [0, 0])
    for (a, b, part), run in zip(plan.cables, runs, strict=True):
        if run is not None and plan.at[a][0] != plan.at[b][0]:  # type: ignore[index]
            for step in plan.steps(plan.at[a][0], plan.at[b][0]):  # type: ignore[index]
                loads[step][0] += 1
                loads[step][1] += DIAMETER[part] ** 2
    trays = Trays(fabric, physical)
    all_legs = np.ones(len(fabric.cable_a), dtype=np.bool_)
    stretches = {(s.hall, s.across, s.line, s.start): [s.cables, s.squares] for s in trays.stretches(all_legs)}
    assert stretches == loads and trays.unknown(all_legs) == runs.count(None)

    # bends: the racks at the ends of a cable that needs more than they leave
    tight = set()
    for a, b, part in plan.cables:
        for d in (a, b):
            where = plan.at[d]
            hall = plan.halls[where[0][0]] if where else None
            if where and hall and hall.bend and BEND[part] > hall.bend:
                tight.add((hall.name, plan.name(where[0])))
    places = physical.places
    found_tight = {t.rack: t for t in Bends(fabric, physical).tight(all_legs)}
    assert {(places.halls[int(places.rack_hall[r])].name, places.rack_names[r]) for r in found_tight} == tight
    assert all(t.need > t.have for t in found_tight.values())
    assert ("E0229" in {d.code for d in found.findings}) is bool(tight)

    # racks and sums
    held: defaultdict[Rack | None, list[str]] = defaultdict(list)
    for d, where in plan.at.items():
        held[where[0] if where else None].append(d)
    optics = Counter(d for a, b, part in plan.cables if part == "GLASS" for d in (a, b))

    def watts(device: str) -> int:
        """A switch states a maximum, which includes its transceivers; a host does not."""
        return 150 if device[0] == "s" else 1000 + 15 * optics[device]

    def units(rack: Rack) -> str:
        return str(sum(plan.height(d) for d in held[rack]))

    racks = {(r["hall"], r["rack"]): (r["units"], r["watts"], r["kg"]) for r in table(files, "bom/racks.csv")}
    assert racks == {
        (plan.halls[r[0]].name, plan.name(r)): (units(r), str(sum(map(watts, ds))), str(sum(MASS[d[0]] for d in ds)))
        for r, ds in held.items()
        if r is not None
    }
    sums: defaultdict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])

    def add(bucket: tuple[int, ...] | None, *amounts: int) -> None:
        keys = [("all", "", "f")]
        if bucket is None:
            keys.append(("elsewhere", "", "between halls or without a place"))
        else:
            hall = plan.halls[bucket[0]].name
            keys.append(("hall", hall, hall))
            keys.append(("rack", hall, plan.name(bucket)) if len(bucket) == 3 else ("between racks", hall, hall))  # type: ignore[arg-type]
        for key in keys:
            sums[key] = [x + y for x, y in zip(sums[key], amounts, strict=True)]

    for d, where in plan.at.items():
        price = (1000 if d[0] == "s" else 10) + 100 * optics[d]
        add(where[0] if where else None, 1, optics[d], 0, watts(d), price)
    for a, b, part in plan.cables:
        here, there = plan.at[a], plan.at[b]
        both = here and there and (here[0], there[0])
        same = None if not both else both[0] if both[0] == both[1] else (both[0][0],) if both[0][0] == both[1][0] else None
        add(same, 0, 0, 1, 0, PRICE[part])
    total = {
        (r["by"], r["hall"], r["name"]): [int(r[c]) for c in ("devices", "optics", "cables", "watts", "price")]
        for r in table(files, "bom/totals.csv")
    }
    assert total == sums and {r["without_watts"] for r in table(files, "bom/totals.csv")} == {"0"}

    # the order of pulling
    where_is = {d: (place[0] if place else None) for d, place in plan.at.items()}

    def turn(k: int) -> tuple[object, ...]:
        a, b = (where_is[rows[k][f"{end}_device"]] for end in "ab")
        low, high = sorted((a or (-1,), b or (-1,)))
        if low == (-1,):
            return (2, high, k)
        return (1, low, k) if low == high else (0, low[:2], -plan.along(a, b), low, high, k)  # type: ignore[arg-type]

    order = sorted(range(len(rows)), key=turn)
    assert sorted(range(len(rows)), key=lambda k: int(rows[k]["pull_order"])) == order


@pytest.mark.parametrize("share", sampled(range(4), 4))
def test_random_designs_in_racks(share: int, tmp_path: Path) -> None:
    for seed in range(share, 32, 4):
        plan = random_plan(seed)
        judged(plan, compile_text(plan.text(), tmp_path, models=False))


PANEL = f"{TEXTS['PANEL']}\n"


@pytest.mark.parametrize("panel", sampled([None, 0, 3, 4, 5], 2))
def test_no_more_ferrules_than_each_part_allows_for(panel: int | None, tmp_path: Path) -> None:
    """A panel that states none has 2; a part that states none allows for any number."""
    for fibre, optic in product((None, 2, 4), (None, 3, 4)):
        given = {k: "" if n is None else f"ferrules {n}" for k, n in (("panel", panel), ("fibre", fibre), ("optic", optic))}
        found = compile_text(PANEL.format(**given), tmp_path, models=False)
        limit = min((n for n in (fibre, optic) if n is not None), default=99)
        assert ("E0233" in {d.code for d in found.findings}) is ((2 if panel is None else panel) > limit), given
