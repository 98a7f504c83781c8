"""Runs with their arithmetic, parts, bills, racks and drawings of small placed designs, and what each of many changes makes of
them: the lines that a change takes away and those that come, as goldens."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import ndiff
from pathlib import Path

import numpy as np
import pytest

from tdsl.emit.link_tables import Wires
from tdsl.fabric.graph import Fabric
from tdsl.physical.bends import Bends
from tdsl.physical.bom import bill_of_materials
from tdsl.physical.columns import ordered_metres
from tdsl.physical.cords import power_cords
from tdsl.physical.elevations import RackDrawing
from tdsl.physical.explain import explain_cable_length
from tdsl.physical.model import physical_of, with_runs
from tdsl.physical.power_and_cost import Figures
from tdsl.physical.rack_rows import mount_lines, rack_lines
from tdsl.physical.standing import lock_figures
from tdsl.physical.totals import totals_by_place
from tdsl.physical.trays import Trays
from tests.conftest import Golden
from tests.harness import compile_text
from tests.physical.test_everything_placed import short

MODELS = """
model host H { port nic[2]: 400Gbps { type NDR; cage 1 OSFP flat }; height 2U; power 2kW max 3kW; mass 40kg; cords 2, C14; CHIP }
model chip G { port nv: 200Gbps { type NVLINK } }
model host OLD { port nic[2]: 200Gbps { type NDR200; cage 1 OSFP flat }; height 3U; power 1kW; mass 30kg }
model switch SW { port p[1..8]: 400Gbps { type NDR, NDR200; cage CAGE; SPLIT }; height 1U; power 500W; mass 10kg; airflow front;
  price $100; spares 10%; lead 3week }
model panel PP { port front[4]: any; port back[4]: any; height 1U; mass 2kg; price $9 }
model cable WIRE { rate 400Gbps; medium dac; price $3; lengths 1m, 2m, 5m; codes "W-1", "W-2"; reach 5m; diameter 8mm; bend 50mm;
  form OSFP; spares 1 }
model cable ACTIVE { rate 400Gbps; medium acc; power 1W; price $4; lengths 3m; reach 3m; diameter 6mm; bend 40mm; form OSFP flat }
model cable GLASS { rate 400Gbps; medium fibre; fibre mmf; connector mpo; reach 40m; lengths 3m, 10m; unconfirmed 20m;
  diameter 3mm; bend 30mm; polarity b; price $5; note "soon" }
model cable FORK { rate 400Gbps; medium fibre; fibre mmf; connector mpo; legs 2; reach 40m; lengths 5m, 15m, 30m; diameter 4mm;
  price $8 }
model optic FLAT { rate 400Gbps; form OSFP flat; ports 1; power 9W max 12W; fibre mmf; connector mpo; reach 40m;
  price $2.5 }
model optic FIN { rate 400Gbps; form OSFP finned; ports 2; power 15W; fibre mmf; connector mpo; reach 30m }
model optic HALF { rate 200Gbps; form OSFP flat; ports 1; power 6W; fibre mmf; connector mpo; reach 50m; price $2 }
"""
ONE = """
fabric f {
  host h[2]: H
  switch leaf[2]: SW
  panel pp: PP
  connect h[n].nic[r] to leaf[r] { LOW }
  connect leaf[0] to leaf[1] x 2 VIA
  hall one {
    row A { rack 1..4 { height 20U; power 2 x 6kW; mass 200kg; bend 40mm } }
    row B { rack 1..3 { height 20U; power 8kW } }
    pitch rack 0.6m, row 3m
    tray above 2.6m { across at 1, 4; capacity 20mm x 10mm }
    slack 1m
  }
  place h[0] in one.A[2] at 1U
  place h[1] in one.B[3] at 4U
  place leaf[0] in one.A[2] at 20U
  place leaf[1] in one.A[4] at 19U
  place pp in one.B[1] at 5U
  MORE
}
"""
TWO = """
fabric f {
  host h[2]: H
  host old[2]: OLD
  switch leaf[2]: SW { split p[1] 2 }
  connect h[n].nic[r] to leaf[r].p[n + 3]
  connect old[k].nic[0] to leaf[0].p[1, k] { rate 200Gbps }
  connect leaf[0].p[8] to leaf[1].p[8] { LOW }
  hall one {
    row A { rack 1..3 { height 20U; mass 200kg } }
    row B { rack 1..2 { height 20U; bend 20mm } }
    pitch rack 0.6m, row 3m
    tray above 2.6m { across at 2 }
    slack 1m
  }
  hall two {
    row C { rack 1..3 { height 20U; power 2 x 3kW } }
    pitch rack 0.8m, row 2m
    tray below 0.5m { capacity 20mm x 20mm }
    slack 0.25m
  }
  distance one to two 12m
  place h[0] in one.A[1] at 1U
  place h[1] in two.C[3] at 1U
  place old[0] in one.B[2] at 5U
  place old[1] in one.B[1] at 9U
  place leaf[0] in one.A[3] at 20U
  place leaf[1] in two.C[1] at 20U
  MORE
}
"""
SITES = """
fabric f {
  site dc[2] {
    host n: H
    switch s: SW
    connect n.nic[i] to s { length 2m }
  }
  connect dc[0].s to dc[1].s x 2 { medium fibre; LOW }
  distance dc[0] to dc[1] 25m
  hall one { row A, B { rack 1..3 { height 20U } }; pitch rack 0.6m, row 3m; tray above 2.6m { across at 1 }; slack 1m }
  hall two { row C { rack 1..3 { height 20U } }; pitch rack 0.8m; tray below 0.4m; slack 0.5m }
  place dc[0].s in one.B[3] at 10U
  place dc[1].s in two.C[2] at 20U
  place dc[0].n in one.A[1] at 1U
  MORE
}
"""
TEXTS = {"one": ONE, "two": TWO, "sites": SITES}
OWN = {"LOW": "", "VIA": "", "MORE": "", "CAGE": "2 OSFP finned", "CHIP": "", "SPLIT": "split 2"}
"""Words of the texts that changes replace, and what they are in the design that the others are compared with."""
Change = tuple[str, str]
CHANGES: dict[str, list[Change]] = {
    "one": [
        *(("VIA", f"{{ {x} }}") for x in (
            "cable WIRE", "cable GLASS", "length 2m", "cable WIRE; length 3m", "medium dac",
            "medium fibre", "medium backplane", "cable NOBODYS", "cable GLASS; length 12m", "length 1m, 2m; class a, b",
            "cable GLASS; class up; colour red",
        )),
        ("VIA", "via pp { cable WIRE }"),
        ("LOW", "cable GLASS"), ("LOW", "optic FLAT, FIN"), ("LOW", "cable WIRE"), ("LOW", "length 10m; class low"),
        ("CAGE", "1 OSFP finned"), ("CAGE", "1 OSFP flat"), ("CAGE", "4 QSFP56"), ("; cage CAGE", ""),
        ("CHIP", "chip gpu[2]: G"), ("cords 2, C14", "cords 3"),
        ("pitch rack 0.6m, row 3m", "pitch rack 1.2m, row 3m"), ("pitch rack 0.6m, row 3m", "pitch rack 0.6m, row 1.5m"),
        ("pitch rack 0.6m, row 3m", "pitch rack 0.6m"), ("pitch rack 0.6m, row 3m", "pitch row 3m"),
        ("across at 1, 4", "across at 1"), ("across at 1, 4", "across at 2, 3"), ("across at 1, 4; ", ""),
        ("tray above 2.6m", "tray above 0.5m"),
        ("tray above 2.6m { across at 1, 4; capacity 20mm x 10mm }", ""),
        ("capacity 20mm x 10mm", "capacity 2mm x 3mm"), ("; capacity 20mm x 10mm", ""),
        ("slack 1m", "slack 2.225m"), ("    slack 1m\n", ""),
        ("bend 40mm", "bend 29mm"), ("bend 40mm", "bend 60mm"), ("mass 200kg", "mass 50kg"), ("power 2 x 6kW", "power 3 x 1kW"),
        ("rack 1..3 { height 20U", "rack 1..3 { height 42U"), ("rack 1..3 { height 20U; ", "rack 1..3 { "),
        ("row A { rack 1..4 { height 20U; ", "row A { rack 1..4 { "),
        ("one.A[2] at 1U", "one.A[2]"), ("one.A[2] at 1U", "one.A[4] at 1U"), ("one.A[2] at 1U", "one.A[2] at 19U"),
        ("  place h[0] in one.A[2] at 1U\n", ""), ("one.A[4] at 19U", "one.A[2] at 10U"), ("one.B[3] at 4U", "one.B[1] at 1U"),
        ("height 1U; power 500W; mass 10kg; airflow front", "height 1U"), ("height 2U; power", "power"),
        ("reach 40m; lengths 3m, 10m; unconfirmed 20m", "reach 40m"), ("reach 40m; lengths 3m, 10m", "reach 40m; lengths 3m"),
        ("reach 40m; lengths 3m, 10m", "reach 4m; lengths 3m, 10m"), ("lengths 3m, 10m; unconfirmed 20m", "lengths 3m, 4m"),
        ("reach 30m", "reach 5m"), ("power 9W max 12W", ""), ("ports 2; power 15W", "ports 2"), ("diameter 3mm; bend 30mm; ", ""),
        ("connector mpo; reach 30m", "connector lc; reach 30m"),
    ],
    "two": [
        ("LOW", "cable GLASS; optic FIN, FIN"), ("LOW", "length 30m"), ("LOW", "class up"),
        ("distance one to two 12m", ""), ("distance one to two 12m", "distance two to one 25m"),
        ("slack 0.25m", "slack 0.5m"), ("    slack 0.25m\n", ""), ("across at 2", "across at 1"), (" { across at 2 }", ""),
        ("tray below 0.5m { capacity 20mm x 20mm }", ""), ("tray below 0.5m", "tray above 0.5m"),
        ("pitch rack 0.8m, row 2m", "pitch rack 1m"), ("pitch rack 0.8m, row 2m", ""),
        ("two.C[3] at 1U", "two.C[1] at 1U"), ("one.B[2] at 5U", "two.C[3] at 5U"), ("one.B[1] at 9U", "one.A[3] at 9U"),
        ("one.B[2] at 5U", "one.B[2]"), ("  place leaf[0] in one.A[3] at 20U\n", ""),
        ("one.A[3] at 20U", "one.B[2] at 20U"), ("lengths 5m, 15m, 30m", "lengths 5m"), ("reach 50m", "reach 5m"),
        ("CAGE", "1 OSFP finned"), ("legs 2;", "legs 4;"), ("bend 20mm", "bend 40mm"),
    ],
    "sites": [
        *(("LOW", x) for x in ("class wan", "cable GLASS", "length 60m", "colour blue")),
        ("distance dc[0] to dc[1] 25m", "distance dc[0] to dc[1] 10m"), ("distance dc[0] to dc[1] 25m", ""),
        ("  place dc[1].s in two.C[2] at 20U\n", ""), ("  place dc[0].s in one.B[3] at 10U\n", ""),
        ("one.B[3] at 10U", "one.A[3] at 10U"), ("two.C[2] at 20U", "two.C[2]"), (" { across at 1 }", ""),
        ("tray above 2.6m", "tray above 0.3m"), ("tray below 0.4m; ", ""), ("; slack 0.5m", ""), ("pitch rack 0.8m; ", ""),
        (" { length 2m }", ""), ("dc[0].n in one.A[1] at 1U", "dc[0].n in one.B[3] at 12U"),
        ("MORE", "distance one to two 7m"),
    ],
}  # fmt: skip
SHARES = {"one": 4, "two": 2, "sites": 1}
"""In how many tests the changes of each design are made, so that none takes long."""


def lines(f: Fabric) -> Iterator[str]:
    """What follows from the places of a fabric, a line each."""
    table = Wires(f).cables
    physical = physical_of(f)
    metres = ordered_metres(physical) if physical is not None else [""] * len(f.cable_a)
    columns = ("part", "medium", "length_m", "a_optic", "b_optic", *(("bundle", "pull_order") if physical is not None else ()))
    for row in sorted(zip(*(table.column(n) for n in ("a_device", "a_port", "b_device", "b_port", *columns)), strict=True)):
        yield f"cable {' '.join(str(x) or '-' for x in row)}"
    every = np.ones(len(f.cable_a), dtype=np.bool_)
    said: set[int] = set()
    if physical is not None:
        for leg in range(len(f.cable_a)):
            steps = list(explain_cable_length(physical, leg))
            if int(f.cable_statement[leg]) in said:  # of each statement the first one in words
                steps = [(what.partition(",")[0].partition(" to ")[0], x) for what, x in steps]
            said.add(int(f.cable_statement[leg]))
            parts = "; ".join(f"{what} {length}" for what, length in steps)
            what = f"leg {f.port_path(int(f.cable_a[leg]))} to {f.port_path(int(f.cable_b[leg]))}: {metres[leg]}"
            yield f"{what} {physical.parts.choice(leg).why} {parts} {physical.lengths.unknown(leg)}"
        yield f"runs {with_runs(f).link_run.tolist()}"
        yield from (f"stretch {short(s)} {float(s.fill(1000)):.6f}" for s in Trays(f, physical).stretches(every))
        yield from (f"bend {short(t)}" for t in Bends(f, physical).tight(every))
    figures = Figures(f)
    yield f"power {short(figures.power(f.built))} typical {short(figures.power(f.built, True))}"
    yield f"optics {short(figures.optics_power(f.built))} cost {short(figures.cost(f.built, every))}"
    yield f"standing {', '.join(f'{k} {v}' for k, v in lock_figures(with_runs(f)).items())}"
    for line in (*bill_of_materials(f), *totals_by_place(f), *power_cords(f), *mount_lines(f), *rack_lines(f)):
        yield f"{type(line).__name__} {short(line)}"
    if f.places is not None:
        drawing = RackDrawing(f, f.places, "f")
        for x in drawing.fronts().fronts:
            yield f"front {x.height:g} {x.name} {', '.join(x.lines)} {len(x.ticks)}: {', '.join(short(y.y) for y in x.slots)}"
        plans = drawing.plans()
        for hall in plans.halls:
            trays = " ".join(short(x).replace(", ", ",")[1:-1] for x in hall.trays)
            yield f"plan {hall.name} {trays} loads {', '.join(x.text for x in hall.loads)}"


def told(text: str, folder: Path) -> list[str]:
    """What a design is, or the errors that it has."""
    path = folder / "design.fab"
    found = compile_text(text, folder, models=False, verify=False)
    said = [f"{d.severity.word} {d.code} {d.message}".replace(str(path), "") for d in found.findings]
    fabric = found.designs[0].fabric if found.designs else None
    return [*said, *(lines(fabric) if fabric is not None and fabric.complete else ())]


def made(text: str, change: Change) -> str:
    """A design after a change."""
    before, after = change
    assert before in text, before
    out = text.replace(before, after)
    for word, value in OWN.items():
        out = out.replace(word, value)
    return out


@pytest.mark.parametrize(("name", "share"), [(n, k) for n, count in SHARES.items() for k in range(count)])
def test_every_change(name: str, share: int, golden: Golden, tmp_path: Path) -> None:
    text = MODELS + TEXTS[name]
    base = told(made(text, ("fabric", "fabric")), tmp_path)
    out = ["".join(f"{line}\n" for line in base)] if not share else []
    for change in CHANGES[name][share :: SHARES[name]]:
        found = told(made(text, change), tmp_path)
        differ = [line for line in ndiff(base, found) if line[0] in "+-"]
        gone, come = ([x[2:] for x in differ if x[0] == sign] for sign in "-+")
        out.append(f"## {' '.join(change[0].split())} -> {change[1]}: {len(gone)} lines gone\n")
        out += [f"{line}\n" for line in come]
    golden(f"physical/length_{name}_{share}.txt", "".join(out))
