"""All that follows from places, of small designs: runs with their arithmetic, parts, bills, sums, racks, trays, bends, drawings.

The figures of each are goldens; `test_lengths.py`, `test_shares.py` and `test_bill.py` derive such figures by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tdsl.compile.compilation import Design
from tdsl.emit.link_tables import Wires
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.physical.bends import Bends
from tdsl.physical.bom import bill_of_materials
from tdsl.physical.columns import ordered_metres
from tdsl.physical.cords import power_cords
from tdsl.physical.elevations import RackDrawing, _wrap_at_commas, common_name_pattern, rack_name_ranges
from tdsl.physical.explain import explain_cable_length
from tdsl.physical.fitting import cables_for, optics_for, port_class_rates
from tdsl.physical.model import physical_of, with_runs
from tdsl.physical.power_and_cost import Figures
from tdsl.physical.prices import read_prices_toml
from tdsl.physical.rack_rows import mount_lines, rack_lines, rack_sums
from tdsl.physical.stages import Stage, phase_bill, phase_of_pulling, phase_totals
from tdsl.physical.standing import lock_figures
from tdsl.physical.totals import totals_by_place
from tdsl.physical.trays import Trays
from tests.conftest import Golden
from tests.harness import compile_text

MODELS = """
model host H "a host" { port nic[4]: 400Gbps { type NDR; cage 1 OSFP flat };
  height 2U; power 2kW max 3kW; mass 40kg; cords 3, C14 }
model host OLD { port nic[2]: 400Gbps { type NDR }; height 4U; power 1kW; mass 30kg; cords 2; chip gpu[2]: GPU; price $7.5 }
model chip GPU { port nv: 200Gbps { type NVLINK } }
model switch SW { port p[1..16]: 400Gbps { type NDR; cage 2 OSFP finned }; height 1U; power 500W; mass 10kg; airflow front;
  price $100; spares 1; lead 3week; alternative SW_B }
model switch NOSIZE { port p[1..4]: 400Gbps { type NDR } }
model panel PP { port front[8]: any; port back[8]: any; height 1U; mass 2kg; price $9 }
model cable WIRE { rate 400Gbps; medium dac; price $3; lengths 1m, 2m, 5m; codes "W-1", "W-2"; reach 5m; diameter 8mm; bend 50mm }
model cable GLASS { rate 400Gbps; medium fibre; fibre mmf; connector mpo; reach 40m; lengths 3m, 10m; unconfirmed 20m;
  diameter 3mm; bend 30mm; polarity b; price $5; spares 10%; note "soon" }
model cable PLAIN { rate 400Gbps; medium dac; reach 90m }
model optic FLAT { rate 400Gbps; form OSFP;
  heatsink flat; ports 1; power 9W max 12W; fibre mmf; connector mpo; reach 40m; price $2.5 }
model optic FIN { rate 400Gbps; form OSFP; heatsink finned; ports 2; power 15W; fibre mmf; connector mpo; reach 30m }
"""
HALLS = """
  hall h1 {
    row A { rack 1..5 { height 20U; power 2 x 6kW; mass 200kg; bend 40mm } }
    row B { rack 1..3 { height 20U; power 8kW }; rack 4..5 { height 10U } }
    pitch rack 0.6m, row 3m
    tray above 2.6m { across at 1, 4; capacity 100mm x 50mm }
    slack 1m
  }
  hall h2 {
    row C { rack 1..3 { height 20U; mass 90kg; power 2 x 3kW } }
    pitch rack 0.8m, row 2m
    tray below 0.5m { capacity 20mm x 20mm }
    slack 0.25m
  }
  distance h1 to h2 12m
"""
DESIGNS = {
    # racks of one hall: fibre with transceivers, copper inside a rack, a panel, a device without a unit and one without a place
    "one_hall": """
  host h[4]: H
  host old[2]: OLD
  switch leaf[2]: SW
  switch spine: SW
  panel pp: PP
  connect h[n].nic[r] to leaf[r] where r <= 1 { cable GLASS; optic FLAT, FIN }
  connect h[n].nic[2] to spine where n <= 1 { cable PLAIN }
  connect old[n].nic[0] to leaf[n] { cable WIRE }
  connect old[n].nic[1] to spine
  connect leaf[0] to leaf[1] x 2 via pp { cable WIRE }
  connect leaf[*] to spine each x 2
  place h[0..1] in h1.A[1] stacked from 1U
  place h[2] in h1.A[2] at 3U
  place h[3] in h1.B[5] at 9U
  place old[0] in h1.A[2] at 5U
  place old[1] in h1.B[3]
  place leaf[0] in h1.A[2] at 20U
  place leaf[1] in h1.B[2] at 19U
  place pp in h1.A[3] at 11U
""",
    # two halls, one with the trays below
    "two_halls": """
  host h[3]: H
  switch leaf[3]: SW
  connect h[n].nic[r] to leaf[r] where r <= 2 { cable GLASS }
  connect leaf[0] to leaf[1] x 3 { cable WIRE }
  connect leaf[1] to leaf[2] x 2 { length 7.5m }
  place h[0] in h1.A[5] at 1U
  place h[1] in h2.C[3] at 1U
  place h[2] in h2.C[1] at 4U
  place leaf[0] in h1.B[1] at 20U
  place leaf[1] in h2.C[2] at 20U
  place leaf[2] in h2.C[2] at 19U
""",
    # nothing has a place: bills and sums of what the connects state
    "nowhere": """
  host h[2]: H
  host old: OLD
  switch leaf: SW
  connect h[n].nic[r] to leaf { cable WIRE }
  connect old.nic[0] to leaf { cable GLASS; optic FLAT, FIN }
  connect old.nic[1] to leaf
""",
    # six kinds of rack, more than stand on one line of the drawing, and a rack that holds more kinds of model than there is room
    "kinds": """
  host h[6]: H
  host old[4]: OLD
  switch leaf[3]: SW
  switch bare: NOSIZE
  connect h[n].nic[r] to leaf[r] where r <= 1 and n >= 2
  connect h[n].nic[3] to bare where n <= 1
  place h[0] in h1.A[1] at 1U
  place h[1] in h1.A[2] at 1U
  place h[2] in h1.A[4] at 1U
  place h[3] in h1.B[1] at 2U
  place h[4] in h1.B[2] at 3U
  place h[5] in h1.B[4] at 1U
  place old[0..2] in h1.B[3] stacked from 1U
  place old[3] in h2.C[1] at 1U
  place leaf[0] in h1.B[3] at 20U
  place leaf[1] in h1.B[3] at 18U
  place leaf[2] in h1.B[3] at 15U
  place bare in h1.A[5] at 3U
""",
}  # fmt: skip


def design(body: str, folder: Path, **options: object) -> Design:
    """A design of one fabric, with halls; only its wiring is wanted."""
    text = f"fabric f {{{body}{HALLS if 'place' in body else ''}}}\n{MODELS}"
    found = compile_text(text, folder, models=False, verify=False, **options)
    assert not [d.message for d in found.findings if d.severity.word == "error"]
    return found.designs[0]


def short(value: object) -> str:
    """A record as its values."""
    if dataclasses.is_dataclass(value):
        return f"({', '.join(short(getattr(value, f.name)) for f in dataclasses.fields(value))})"
    if isinstance(value, tuple):
        return f"[{', '.join(map(short, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def told(f: Fabric) -> Iterator[str]:
    """Every figure of a fabric, a line each."""
    table = Wires(f).cables
    columns = "a_device", "a_port", "b_device", "b_port", "length_m", "part", "medium", "fibre", "polarity", "a_optic", "b_optic"
    physical = physical_of(f)
    metres = ordered_metres(physical) if physical is not None else [""] * len(f.cable_a)
    more = ("bundle", "pull_order") if physical is not None else ()
    for row in zip(*(table.column(n) for n in (*columns, *more)), strict=True):
        yield f"cable {' '.join(str(x) or '-' for x in row)}"
    if physical is not None:
        for leg in range(len(f.cable_a)):
            choice = physical.parts.choice(leg)
            yield f"leg {f.port_path(int(f.cable_a[leg]))} to {f.port_path(int(f.cable_b[leg]))}: {metres[leg]} {choice.why}"
            yield from (f"    {what}: {length}" for what, length in explain_cable_length(physical, leg))
            if why := physical.lengths.unknown(leg):
                yield f"    unknown: {why}"
        yield f"runs {with_runs(f).link_run.tolist()}"
        for s in Trays(f, physical).stretches(np.ones(len(f.cable_a), dtype=np.bool_)):
            yield f"stretch {short(s)} {float(s.fill(1000)):.6f}"
        yield from (f"bend {short(t)}" for t in Bends(f, physical).tight(np.ones(len(f.cable_a), dtype=np.bool_)))
    figures = Figures(f)
    none, every = np.zeros(f.device_count, dtype=np.bool_), np.ones(len(f.cable_a), dtype=np.bool_)
    for name, chosen in (("all", f.built), ("switches", f.is_switch), ("none", none)):
        sums = figures.power(chosen), figures.power(chosen, True), figures.optics_power(chosen), figures.cost(chosen, every)
        yield f"sums of {name} {' '.join(map(short, (*sums, figures.cost(chosen, ~every))))}"
    yield f"standing {', '.join(f'{k} {v}' for k, v in lock_figures(with_runs(f)).items())}"
    for line in (*bill_of_materials(f), *totals_by_place(f), *power_cords(f), *mount_lines(f), *rack_lines(f)):
        yield f"{type(line).__name__} {short(line)}"
    if f.places is not None:
        drawing = RackDrawing(f, f.places, "f")
        typical = rack_sums(figures, drawing.racks, typical=True)
        yield f"typical {', '.join(f'{f.places.rack_names[r]} {short(b)}' for r, b in typical.items())}"
        fronts, plans = drawing.fronts(), drawing.plans()
        yield f"fronts {fronts.width} {fronts.height} {fronts.title}"
        yield from (f"front {short(x)}" for x in fronts.fronts)
        yield f"plans {plans.width} {plans.height} {plans.title} {plans.cell}"
        for hall in plans.halls:
            yield f"hall {hall.name} {hall.y:.6g}"
            yield from (f"    {short(x)}" for x in (*hall.racks, *hall.trays, *hall.rows, *hall.loads))
        yield from (f"key {short(x)}" for x in plans.keys)


@pytest.mark.parametrize("name", DESIGNS)
def test_everything_that_follows_from_places(name: str, golden: Golden, tmp_path: Path) -> None:
    fabric = design(DESIGNS[name], tmp_path).fabric
    assert fabric is not None
    golden(f"physical/whole_{name}.txt", "".join(f"{line}\n" for line in told(fabric)))


GROWS = """
  param n = 3
  phase 1 { n 1; needed "2027-01-15" }
  phase 2 { n 3 }
  phase 3 { n 2 }
  host h[n]: H
  switch leaf: SW
  switch extra[4 - n]: SW
  connect h[i].nic[0] to leaf { cable GLASS; optic FLAT, FIN }
  connect extra[*] to leaf each { cable WIRE }
  place h[i] in h1.A[i + 1] at 1U
  place leaf in h1.A[4] at 3U
  place extra[*] in h1.A[5] stacked from 1U
"""


def test_what_phases_add(golden: Golden, tmp_path: Path) -> None:
    """A fabric that grows, then gives back a host: bills, sums, and since when each cable is there."""
    stages = []
    for number, needed in ((1, "2027-01-15"), (2, ""), (3, "")):
        fabric = design(GROWS, tmp_path, phase=number).fabric
        assert fabric is not None
        stages.append(Stage(number, needed, fabric))
    lines = [short(x) for x in (*phase_bill(stages), *phase_totals(stages))]
    golden(
        "physical/whole_phases.txt", "\n".join([*lines, str(phase_of_pulling(stages)), str(phase_of_pulling(stages[:2]))]) + "\n"
    )


def test_letters_of_kinds_and_names_of_racks() -> None:
    made = RackDrawing.__new__(RackDrawing)
    assert [made.name(k) for k in (0, 25, 26, 51, 52, 701, 702)] == ["a", "z", "aa", "az", "ba", "zz", "aaa"]
    assert rack_name_ranges(["A01", "A02", "A03", "A05", "B06", "B07"]) == "A01-A03, A05, B06-B07"
    assert rack_name_ranges(["A09", "A11"]) == "A09, A11"
    assert common_name_pattern(["su0-leaf7", "su1-leaf7"]) == "su#-leaf7"
    assert common_name_pattern(["leaf7"]) == "leaf7"
    assert common_name_pattern(["leaf7", "su1-leaf7"]) == "#"
    assert _wrap_at_commas("A01, A02, A03, A04", 8) == ["A01, A02,", "A03, A04"]
    assert _wrap_at_commas("A01, A02, A03, A04", 7) == ["A01,", "A02,", "A03 …", "A04"]
    assert _wrap_at_commas("A01-A04", 3) == ["A01-A04"]
    assert _wrap_at_commas("A01-A04, B01", 3) == ["A01-A04,", "B01"]


PRICED = [
    ("currency = 5", "a file of prices has a `currency` and a table `[price]`"),
    ("price = 5", "a file of prices has a `currency` and a table `[price]`"),
    ('currency = "USD"', "a file of prices has a `currency` and a table `[price]`"),
    ("[price]\nA = 1\n", "a file of prices has a `currency` and a table `[price]`"),
    ('currency = "USD"\n[price]\nA = -1\nB = true\nC = "5"\n[lead]\nA = 5\nB = "2 weeks"\n', "the price of A is not an amount"),
    ('currency = "USD"\nspare = 1\n[price]\nA-B = 0\nC = 1.25\nD = 2e3\n', "there is no `spare` in a file of prices"),
    ("[price", "the prices are not TOML"),
    (f"[price]\nA = 0.{'0' * 97}1\n", "a file of prices has a `currency` and a table `[price]`"),
    (f"[price]\nA = 0.{'0' * 98}1\n", "the prices are not TOML"),
    ('currency = "USD"\n[price]\nA = 1e100\n', ""),
    ('currency = "USD"\n[price]\nA = 1e101\n', "the prices are not TOML"),
    ('currency = "USD"\n[price]\nA = 1e00001\n', "the prices are not TOML"),
    ('[spares]\nA-1 = 2\nB = "2%"\nC = 0.5\nD = true\nE = ""\n', "`spares` of C has no meaning"),
    ('[alternative]\nA = "B"\nB = ["C", "D"]\nC = []\nD = [1]\nE = ["x", ""]\nF = ""\n', "`alternative` of C has no meaning"),
]  # fmt: skip


def test_files_of_prices(golden: Golden) -> None:
    """What is read of each file, and every finding with its place and help."""
    out = []
    for text, first in PRICED:
        found = Diagnostics()
        prices, supply = read_prices_toml(SourceFile("prices.toml", text), found)
        assert [d.message.partition(":")[0] for d in found.items[:1]] == ([first] if first else [])
        out.append(f"## {text[:60]!r}\n{prices}\n{supply}\n")
        out += [f"{d.code} `{d.span.text if d.span else ''}` {d.message}\n    {d.help}\n" for d in found.items]
    golden("physical/prices.txt", "".join(out))


def test_parts_that_fit(golden: Golden, tmp_path: Path) -> None:
    """Which of these parts go into the cages of a model, and between two models."""
    text = MODELS + (
        "model cable SPLIT { rate 800Gbps; medium fibre; fibre mmf; connector mpo; legs 2 }\n"
        "model cable FAST { rate 800Gbps; medium dac; form OSFP finned; tail OSFP flat }\n"
        "model cable PLUG { rate 400Gbps; medium dac; form OSFP flat }\n"
        "model cable OTHER { rate 400Gbps; medium fibre; fibre smf; connector mpo }\n"
        "model cable SLOW { rate 200Gbps; medium fibre; fibre mmf; connector mpo }\n"
        "model optic SIDE { rate 400Gbps; form OSFP flat; ports 1; fibre mmf; connector lc }\n"
        "model host N { port nic[2]: 400Gbps { type NDR; cage 1 OSFP flat; split 2 }; port bmc: 1Gbps }\n"
        "model switch W { port p[4]: 400Gbps { type NDR; cage 1 OSFP flat; split 2, 4 };\n"
        "  port q[2]: 400Gbps { cage 2 OSFP finned } }\n"
    )
    text += "fabric f { host a: N; switch b: W; connect a.nic[0] to b.p[0]; hall h { row A { rack 1 } }; place a in h.A[1] }\n"
    found = compile_text(text, tmp_path, models=False)
    fabric = found.designs[0].fabric
    assert fabric is not None
    parts = [p for p in fabric.parts if p.origin.span.file is fabric.origin.span.file]
    assert len(parts) > 10
    host, switch = fabric.models
    said = [f"{m.name} {[(c.name, port_class_rates(c)) for c in m.classes]}" for m in (host, switch)]
    for title, found_of in (
        ("optics", [*optics_for(parts, host), *optics_for(parts, switch)]),
        ("cables of N", cables_for(parts, host)),
        ("cables of W", cables_for(parts, switch)),
        ("cables N to W", cables_for(parts, host, switch)),
        ("cables W to W", cables_for(parts, switch, switch)),
    ):
        said.append(title)
        for x in found_of:
            pairs = ", ".join(f"{o.name}-{p.name}" for o, p in x.optics)
            said.append(f"    {x.part.name} {x.a.name} {x.b.name if x.b else '-'} {x.rate // 10**9}G {pairs}".rstrip())
    golden("physical/fitting.txt", "\n".join(said) + "\n")
