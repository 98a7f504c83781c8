"""Placements, lengths and what racks, trays and bends take, at the limits of each and one unit beyond, as goldens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tests.conftest import Golden

AUTO = """\
model switch S { port p[1..16]: 400Gbps { type NDR; cage 1 OSFP }; height SU; power SPOWER; mass 10kg }
model host H { port nic[2]: 400Gbps { type NDR; cage 1 OSFP }; height HU; power HPOWER; mass HMASS }
fabric f {
  host h[HOSTS]: H
  switch leaf[2]: S
  switch spine: S
  connect h[n].nic[r] to leaf[r]
  connect leaf[*] to spine each x 2
  hall hall {
    row A, B { rack 1..4 { height RU; power RPOWER; mass RMASS } }
    pitch rack 0.6m, row 3m
    tray above 2.6m
    slack 1m
  }
  PLACE
}
"""
SIZES = {
    "SU": "1U", "HU": "4U", "SPOWER": "1kW", "HPOWER": "2kW", "HMASS": "50kg", "HOSTS": "6", "RU": "12U", "RPOWER": "10kW",
    "RMASS": "400kg", "PLACE": "place auto in hall",
}  # fmt: skip
BESIDE = "place auto in hall { switches top of rack }"
CASES: list[dict[str, str]] = [
    {},
    *({"RU": x} for x in ("4U", "8U", "11U", "3U")),
    *({"RPOWER": x} for x in ("3999W", "4kW", "1999W")),
    *({"RMASS": x} for x in ("99kg", "100kg", "49kg")),
    *({"PLACE": f"place auto in hall {{ hosts {x} per rack }}"} for x in (2, 3)),
    *({"PLACE": f"place auto in hall {{ switches {x} of row }}"} for x in ("middle", "end")),
    *({"PLACE": BESIDE, "RU": x} for x in ("5U", "9U", "10U", "4U")),
    *({"PLACE": BESIDE, "RPOWER": x} for x in ("3kW", "5kW", "4999W")),
    *({"PLACE": BESIDE, "RMASS": x} for x in ("110kg", "109kg")),
    {"PLACE": "place auto in hall { hosts 2 per rack; switches top of rack }", "HOSTS": "3"},
    {"HOSTS": "4", "PLACE": "place auto in hall { minimize racks }"},
    {"SU": "2U", "HU": "1U", "HOSTS": "8"},
    {"SU": "12U", "HOSTS": "2"},
    {"SU": "13U", "HOSTS": "2"},
    {"SPOWER": "10kW"},
    {"SPOWER": "10001W"},
    {"HOSTS": "8", "RU": "4U"},
    {"HOSTS": "5", "RU": "4U", "PLACE": "place leaf[0] in hall.A[2] at 1U; place auto in hall"},
    {"HOSTS": "3", "PLACE": "place h[0] in hall.B[1] at 5U; place auto in hall"},
]
BY_HAND = """\
model switch S { port p[1..16]: 400Gbps { type NDR; cage 2 OSFP finned }; height 1U; power 1kW max 2kW; mass 10kg }
model host H { port nic[2]: 400Gbps { type NDR; cage 1 OSFP flat }; height 4U; power 3kW max 4kW; mass 50kg }
fabric f {
  host h[4]: H
  switch leaf[2]: S
  connect h[n].nic[r] to leaf[r]
  connect leaf[0] to leaf[1] x 4 { cable MFP7E10 }
  hall one {
    row A, B { rack 1..3 { height 12U; power 10kW; mass 150kg; RACK } }
    pitch rack 0.6m, row 3m
    tray above 2.6m { capacity TRAY }
    slack SLACK
  }
  place h[0..1] in one.A[1] stacked from 1U
  place h[2..3] in one.B[3] stacked from 1U
  place leaf[0] in one.A[2] at 10U
  place leaf[1] in one.B[2] at UNIT
  MORE
}
"""
HAND = {"RACK": "bend 40mm", "TRAY": "100mm x 50mm", "SLACK": "1m", "UNIT": "10U", "MORE": ""}
PLACED: list[dict[str, str]] = [
    {},
    *({"SLACK": x} for x in ("0m", "2.5m")),
    *({"UNIT": x} for x in ("1U", "12U", "13U", "0U")),
    *({"RACK": f"bend {x}mm"} for x in (20, 29, 30, 31)),
    *({"TRAY": x} for x in ("10mm x 10mm", "5mm x 5mm", "4mm x 4mm", "3mm x 3mm")),
    *({"MORE": x} for x in (
        "require rack_power <= 80%", "require rack_power <= 79%", "require rack_space <= 8", "require rack_weight <= 100kg",
        "require rack_weight <= 99kg", "report rack_power, rack_space, rack_weight, tray_fill, cable_length, bend_radius",
        "require cable_length <= 8.6m", "require cable_length <= 9m", "place leaf[1] in one.B[2] at 1U",
        "place h[0] in one.B[1] at 1U", "place leaf[0] in one.C[1] at 1U", "place leaf[0] in one.A[4] at 1U",
    )),
]  # fmt: skip


def told(text: str) -> Iterator[str]:
    """Findings, the devices of every rack from the bottom, and results that speak of racks."""
    path = str(Path("x.fab").resolve())
    compilation = compiler.compile_and_verify(path, Request(overlay={path: text}, select=tuple(sorted(WANTED))))
    for d in compilation.findings:
        yield f"{d.severity.word} {d.code} {':'.join(map(str, d.span.begin)) if d.span else '-'}: {d.message}\n"
        yield from (f"  = {x}\n" for x in [*d.notes, d.help] if x)
    for design in compilation.designs:
        f = design.fabric
        if f is not None and f.places is not None:
            p = f.places
            for rack, name in enumerate(p.rack_names):
                held = [d for d in range(f.device_count) if p.device_rack[d] == rack]
                if held:
                    held.sort(key=lambda d: int(p.device_unit[d]))
                    yield f"{name}: {', '.join(f'{f.device_name(d)} {int(p.device_unit[d])}U' for d in held)}\n"
        for r in design.results:
            if r.status != "skipped" and r.check in WANTED:
                yield f"{r.status} {r.check}: {r.text} {r.lower} {r.upper} {r.unit}\n"


WANTED = {"rack_power", "rack_space", "rack_weight", "tray_fill", "cable_length", "bend_radius", "power", "loss_budget"}


@pytest.mark.parametrize(("name", "text", "own", "cases"), [("auto", AUTO, SIZES, CASES), ("by_hand", BY_HAND, HAND, PLACED)])
def test_every_place(name: str, text: str, own: dict[str, str], cases: list[dict[str, str]], golden: Golden) -> None:
    out = []
    for case in cases:
        design = text
        for word, value in (own | case).items():
            design = design.replace(word, value.replace("; place", "\n  place"))
        out += [f"## {case}\n", *told(design), "\n"]
    golden(f"physical/{name}.txt", "".join(out))
