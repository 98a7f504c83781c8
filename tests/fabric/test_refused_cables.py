"""Refused cables: many connectors to many, break-outs without a part, parts that are too slow; and facts of parts."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.fabric.part_facts import fact_values, lengths_of, optic_watts, part_display_name, shortest_sold_length, stated_quantity
from tdsl.semantics.quantity import LENGTH, POWER, RATE, Quantity
from tests.harness import compile_text

MODELS = """
model switch LANES { port p[1..4]: 800Gbps { split 2, 4 } }
model switch ONE { port p[1..8]: 400Gbps }
model switch MIX { port x[2]: 400Gbps; port y[1..4]: 800Gbps { split 2 } }
model switch CAGES { port p[1..8]: 400Gbps { cage 2 OSFP } }
model switch LONE { port p[1..8]: 400Gbps { cage 1 OSFP } }
model switch ODD { port p[1..7]: 400Gbps { cage 2 OSFP } }
model switch BARE { port p[1..8]: 400Gbps }
model cable TWO { rate 800Gbps; legs 2 }
model cable THREE { rate 1.2Tbps; legs 3 }
model cable LEGS { rate 800Gbps }
model cable SLOW { rate 799Gbps; legs 2 }
model cable DAC { medium dac; form OSFP; rate 800Gbps; lengths 2m; source "a test" }
model cable TWIN { rate 800Gbps; medium fibre }
model cable PLAIN { rate 400Gbps; medium fibre }
model cable UNDER { rate 399Gbps; medium fibre }
model cable FREE { medium fibre }
model cable THIRD { rate 1Gbps/3; medium fibre }
"""
Found = tuple[str, str, str, tuple[str, ...], str, list[tuple[str, str]]]
LEGS = "name a part with as many legs, `{ cable PART }`, one of the catalogue or your own: "
OWN = "; or use ports with a connector each"
PLUGS = "name a cable for each port, with a transceiver at both ends, or join all ports of a cage to those of another"
SLOWER = "name a part that carries as much, or leave the part out"
MULTIPLE = "join each pair of devices by a multiple of 2 links, from a cage whose ports are all free: `x 2`"
LANES = "put a `panel` between them, whose connectors have as many lanes: `via PANEL[…]`"
SHUFFLE = "panel SHUFFLE {{ port front[8]: any {{ connector {0} }}; port back[8]: any {{ connector {0} }} }}"
PANEL = f"put a panel between them: `via shuffle`, with `panel shuffle: SHUFFLE` and `model {SHUFFLE}`"
FILLS = "the plugs of DAC fill cages, and the ports of a cage lead to different ones"
SPLIT = "split the ports in the braces of the device, `split p {0}`, or leave `carries {0}` out"
CASES: dict[str, tuple[str, list[Found]]] = {
    "two_statements": ("""switch a[4]: LANES { split p 2 }
switch b[2]: LANES { split p 2 }
switch c[4]: ONE
connect a[0].p[4, 0] to c[0].p[7]
connect a[i].p[(1), lane] to b[lane].p[i//2 + 1, i % 2]
connect a[i].p[(2), lane] to c[i].p[lane*2 + 1] where i < 3
connect a[i].p[(3), lane] to b[lane].p[i//2 + 3, i % 2] { cable TWIN }""", [
        ("E0201", "connect a[i].p[(1), lane] to b[lane].p[i//2 + 1, i % 2]",
         "the cable between a[0].p[1, 0] and b[0].p[1, 0] would join many connectors to many",
         ("this applies to 8 legs of this connect",), PANEL.format(2), []),
        ("E0202", "connect a[i].p[(2), lane] to c[i].p[lane*2 + 1] where i < 3",
         "the cable between a[0].p[2, 0] and c[0].p[1] would be a break-out with 2 legs",
         ("this applies to 6 legs of this connect",), LEGS + "`model cable PART { rate 800Gbps; legs 2 }`" + OWN, []),
        ("E0201", "connect a[i].p[(3), lane] to b[lane].p[i//2 + 3, i % 2] { cable TWIN }",
         "the cable between a[0].p[3, 0] and b[0].p[3, 0] would join many connectors to many",
         ("this applies to 8 legs of this connect",), PANEL.format(2), []),
    ]),
    "legs": ("""switch a[2]: LANES { split p 2 }
switch q: LANES { split p 4 }
switch c[8]: ONE
connect a[0].p[1, k] to c[(k)].p[1] { cable TWO }
connect a[0].p[2, k] to c[(k)].p[2] { cable THREE }
connect a[0].p[3, k] to c[(k)].p[3] { cable LEGS }
connect a[0].p[4, k] to c[(k)].p[4] { cable "X" }
connect a[1].p[1, k] to c[(k)].p[5] { cable SLOW }
connect q.p[1, k] to c[(k)].p[6] { cable TWO; rate 200Gbps }
connect c[k].p[7] to q.p[2, k] where k < 3 { rate 200Gbps }
connect q.p[3, k] to c[(k)].p[8] where k < 2 { cable TWO; rate 200Gbps }
switch z[2]: LANES { split p 4 }
connect q.p[4, k] to z[k // 2].p[1, k % 2] { rate 200Gbps }""", [
        ("E0202", "connect a[0].p[3, k] to c[(k)].p[3] { cable LEGS }",
         "the cable between a[0].p[3, 0] and c[0].p[3] would be a break-out with 2 legs, and LEGS has 1",
         ("this applies to 2 legs of this connect",), LEGS + "`model cable PART { rate 800Gbps; legs 2 }`" + OWN, []),
        ("E0202", "connect a[0].p[4, k] to c[(k)].p[4] { cable \"X\" }",
         "the cable between a[0].p[4, 0] and c[0].p[4] would be a break-out with 2 legs, and the catalogue has no part 'X'",
         ("this applies to 2 legs of this connect",), LEGS + "`model cable PART { rate 800Gbps; legs 2 }`" + OWN, []),
        ("E0203", "connect a[1].p[1, k] to c[(k)].p[5] { cable SLOW }",
         "SLOW carries 799Gbps, and the links between a[1].p[1, 0] and c[0].p[5] have 800Gbps",
         ("this applies to 2 legs of this connect",), SLOWER, [("SLOW", "declared here")]),
        ("E0202", "connect q.p[1, k] to c[(k)].p[6] { cable TWO; rate 200Gbps }",
         "the cable between q.p[1, 0] and c[0].p[6] would be a break-out with 4 legs, and TWO has 2",
         ("this applies to 4 legs of this connect",), LEGS + "`model cable PART { rate 800Gbps; legs 4 }`" + OWN, []),
        ("E0202", "connect c[k].p[7] to q.p[2, k] where k < 3 { rate 200Gbps }",
         "the cable between q.p[2, 0] and c[0].p[7] would be a break-out with 3 legs",
         ("this applies to 3 legs of this connect",), LEGS + "`model cable PART { rate 600Gbps; legs 3 }`" + OWN, []),
        ("E0202", "connect q.p[4, k] to z[k // 2].p[1, k % 2] { rate 200Gbps }",
         "the cable between q.p[4, 0] and z[0].p[1, 0] would be a break-out with 2 legs",
         ("this applies to 2 legs of this connect",), LEGS + "`model cable PART { rate 800Gbps; legs 2 }`" + OWN, []),
    ]),
    "panels": ("""switch a[2]: LANES { split p 4 }
switch b[2]: LANES { split p 4 }
connect a[i].p[(1), k] to b[k % 2].p[1, 2*i + k//2] where k < 3 { rate 200Gbps }
connect b[i].p[(2), k] to a[k % 2].p[2, 2*i + k//2] where k < 3 { rate 200Gbps }
connect a[i].p[(3), k] to b[(i + k) % 2].p[3, 2*i + k//2] where k < 3 - i { rate 200Gbps }
connect a[i].p[(4), k] to b[(i + k) % 2].p[4, 2*i + k//2] where k < 4 { rate 200Gbps }""", [
        ("E0201", "connect a[i].p[(1), k] to b[k % 2].p[1, 2*i + k//2] where k < 3 { rate 200Gbps }",
         "the cable between a[0].p[1, 0] and b[0].p[1, 0] would join many connectors to many",
         ("this applies to 4 legs of this connect",), LANES, []),
        ("E0201", "connect b[i].p[(2), k] to a[k % 2].p[2, 2*i + k//2] where k < 3 { rate 200Gbps }",
         "the cable between a[0].p[2, 0] and b[0].p[2, 0] would join many connectors to many",
         ("this applies to 4 legs of this connect",), LANES, []),
        ("E0201", "connect a[i].p[(3), k] to b[(i + k) % 2].p[3, 2*i + k//2] where k < 3 - i { rate 200Gbps }",
         "the cable between a[0].p[3, 0] and b[0].p[3, 0] would join many connectors to many",
         ("this applies to 4 legs of this connect",), LANES, []),
        ("E0201", "connect a[i].p[(4), k] to b[(i + k) % 2].p[4, 2*i + k//2] where k < 4 { rate 200Gbps }",
         "the cable between a[0].p[4, 0] and b[0].p[4, 0] would join many connectors to many",
         ("this applies to 4 legs of this connect",), PANEL.format(4), []),
    ]),
    "plugs_that_fill_cages": ("""switch a[2]: CAGES; switch b[2]: CAGES
connect a[i].p[k] to b[(i + k) % 2].p[2*i + (k + 1)//2] where k <= 4 { cable DAC }""", [
        ("E0201", "connect a[i].p[k] to b[(i + k) % 2].p[2*i + (k + 1)//2] where k <= 4 { cable DAC }",
         "the cable between a[0].p[1] and b[1].p[1] would join many connectors to many: " + FILLS,
         ("this applies to 8 legs of this connect",), PLUGS, []),
    ]),
    "several_links_in_one_cable": ("""switch a[3]: CAGES; switch b[3]: CAGES; switch l[2]: LONE; switch n[2]: BARE
connect a[0].p[1] to b[0].p[1]
connect a[0].p[k] to b[k - 3].p[3] where k >= 3 and k <= 4 { cable TWIN carries 2 }
connect a[0].p[5..6] to l[0].p[1..2] pairs { cable TWIN carries 2 }
connect n[0].p[1..2] to b[0].p[5..6] pairs { cable TWIN carries 2 }
connect a[1].p[1..3] to b[1].p[1..3] pairs { cable TWIN carries 2 }
connect a[2].p[1..2] to b[2].p[1..2] pairs { cable TWIN carries 2 }
connect a[2].p[5..6] to b[2].p[5..6] pairs { cable PLAIN carries 2 }
connect a[2] to b[2] x 4 { cable TWIN carries 4 }
switch o: ODD
connect o.p[k] to b[(k)].p[7] where k <= 2 { cable TWIN carries 2 }""", [
        ("E0217", "connect a[0].p[k] to b[k - 3].p[3] where k >= 3 and k <= 4 { cable TWIN carries 2 }",
         "no cable between a[0].p[3] and b[0].p[3] can carry 2 links: the 2 ports of a cage lead to different cages or devices",
         ("this applies to 2 legs of this connect",), MULTIPLE, []),
        ("E0217", "connect a[0].p[5..6] to l[0].p[1..2] pairs { cable TWIN carries 2 }",
         "no cable between a[0].p[5] and l[0].p[1] can carry 2 links: a cage has fewer than 2 ports of `p`",
         ("this applies to 1 legs of this connect",), SPLIT.format(2), []),
        ("E0217", "connect n[0].p[1..2] to b[0].p[5..6] pairs { cable TWIN carries 2 }",
         "no cable between b[0].p[5] and n[0].p[1] can carry 2 links: a cage has fewer than 2 ports of `p`",
         ("this applies to 1 legs of this connect",), SPLIT.format(2), []),
        ("E0217", "connect a[1].p[1..3] to b[1].p[1..3] pairs { cable TWIN carries 2 }",
         "no cable between a[1].p[1] and b[1].p[1] can carry 2 links: a cage of the one leads to a cage of the other by one link",
         ("this applies to 1 legs of this connect",), MULTIPLE, []),
        ("E0203", "connect a[2].p[5..6] to b[2].p[5..6] pairs { cable PLAIN carries 2 }",
         "PLAIN carries 400Gbps, and the links between a[2].p[5] and b[2].p[5] have 800Gbps",
         ("this applies to 1 legs of this connect",), SLOWER, [("PLAIN", "declared here")]),
        ("E0217", "connect a[2] to b[2] x 4 { cable TWIN carries 4 }",
         "no cable between a[2].p[3] and b[2].p[3] can carry 4 links: a cage has fewer than 4 ports of `p`",
         ("this applies to 1 legs of this connect",), SPLIT.format(4), []),
        ("E0217", "connect o.p[k] to b[(k)].p[7] where k <= 2 { cable TWIN carries 2 }",
         "no cable between b[1].p[7] and o.p[1] can carry 2 links: the 2 ports of a cage lead to different cages or devices",
         ("this applies to 2 legs of this connect",), MULTIPLE, []),
    ]),
    "rates": ("""switch a[2]: ONE; switch b[2]: ONE
connect a[0] to b[0] x 2 { cable PLAIN }
connect a[0] to b[1] x 3 { cable UNDER }
connect a[1] to b[1] x 2 { cable THIRD; rate 1Gbps }
connect a[1] to b[0] x 1 { cable UNDER; rate 399Gbps }
connect a[0] to b[0] x 1 { cable FREE }""", [
        ("E0203", "connect a[0] to b[1] x 3 { cable UNDER }",
         "UNDER carries 399Gbps, and the links between a[0].p[2] and b[1].p[1] have 400Gbps",
         ("this applies to 3 legs of this connect",), SLOWER, [("UNDER", "declared here")]),
        ("E0203", "connect a[1] to b[1] x 2 { cable THIRD; rate 1Gbps }",
         "THIRD carries 333.333Mbps, and the links between a[1].p[1] and b[1].p[2] have 1Gbps",
         ("this applies to 2 legs of this connect",), SLOWER, [("THIRD", "declared here")]),
    ]),
    "one_rate": ("""switch a[2]: ONE; switch b[2]: ONE
connect a[i] to b[i] { cable UNDER }""", [
        ("E0203", "connect a[i] to b[i] { cable UNDER }",
         "UNDER carries 399Gbps, and the links between a[0].p[1] and b[0].p[1] have 400Gbps",
         ("this applies to 2 legs of this connect",), SLOWER, [("UNDER", "declared here")]),
    ]),
}  # fmt: skip


def refused_cables(text: str, folder: Path) -> list[Found]:
    """Code, statement, message, notes, help and labels of every error."""
    found = [d for d in compile_text(text, folder, verify=False, models=False).findings if d.severity.name == "ERROR"]
    return [
        (d.code, d.span.text if d.span else "", d.message, d.notes, d.help, [(x.span.text, x.message) for x in d.labels])
        for d in found
    ]


@pytest.mark.parametrize("name", CASES)
def test_refused_cables(name: str, tmp_path: Path) -> None:
    """All errors of a design, each with the first cable of its own statement; the other statements are right."""
    text, expected = CASES[name]
    assert refused_cables(f"{MODELS}fabric f {{\n{text}\n}}", tmp_path) == expected


def test_a_part_without_cables(tmp_path: Path) -> None:
    """A connect whose guard leaves no link has no cable that its part would be too slow for."""
    text = "switch a[2]: ONE; switch b[2]: ONE\nconnect a[i] to b[i] where i > 1 { cable UNDER }"
    result = compile_text(f"{MODELS}fabric f {{\n{text}\n}}", tmp_path, verify=False, models=False)
    assert "E0203" not in [d.code for d in result.findings]
    fabric = result.designs[0].fabric
    assert fabric is not None and len(fabric.cable_a) == 0


CATALOGUE = """fabric f {
  switch a: QM9700 { split p[1..8] 2 }
  host c[2]: CX7; host d[2]: BARE; host e: HEAD { split nic 2 }; host g: HEAD { split nic 2 }
  switch s[4]: TAIL; switch t[4]: NOCAGE
  connect a.p[i, k] to c[i - 1].nic[k] where i <= 2 { rate 200Gbps }
  connect a.p[i, k] to d[i - 3].nic[k] where i >= 3 and i <= 4 { rate 200Gbps }
  connect e.nic[i, k] to s[2*i + k].p[1] { rate 200Gbps }
  connect g.nic[i, k] to t[2*i + k].p[1] { rate 200Gbps }
  connect s[k].p[2] to a.p[k // 2 + 5, k % 2] { rate 200Gbps }
  connect s[k].p[3] to a.p[k // 2 + 7, k % 2] { rate 100Gbps }
}
model host CX7 { port nic[2]: 400Gbps { type NDR, NDR200; cage 1 OSFP flat }; height 2U }
model host BARE { port nic[2]: 400Gbps { type NDR, NDR200 }; height 2U }
model host HEAD { port nic[2]: 400Gbps { type NDR, NDR200; cage 2 OSFP finned; split 2; sockets 1 } }
model switch TAIL { port p[1..4]: 400Gbps { type NDR, NDR200; cage 1 OSFP flat } }
model switch NOCAGE { port p[1..4]: 400Gbps { type NDR, NDR200 } }
"""


def test_break_outs_of_the_catalogue(tmp_path: Path) -> None:
    """The catalogue has a splitter from one cage of 400 Gb/s to two of 200 Gb/s, whichever end is the lower one; none where a
    cage is not stated, and none for 100 Gb/s. A connect that names a part takes that part alone."""
    found = refused_cables(CATALOGUE, tmp_path)
    refused = [("d[i - 3]", "d[0].nic[0] and a.p[3, 0]", 400), ("t[2*i + k]", "g.nic[0, 0] and t[0].p[1]", 400),
               ("a.p[k // 2 + 7", "a.p[7, 0] and s[0].p[3]", 200)]  # fmt: skip
    assert len(found) == 3
    for (code, under, message, notes, help, _), (part, ends, rate) in zip(found, refused, strict=True):
        assert code == "E0202" and part in under
        assert message == f"the cable between {ends} would be a break-out with 2 legs"
        assert notes == ("this applies to 4 legs of this connect",)
        assert f"`model cable PART {{ rate {rate}Gbps; legs 2 }}`" in help
    named = CATALOGUE.replace("where i <= 2 { rate 200Gbps }", 'where i <= 2 { rate 200Gbps; cable "NONE_SUCH" }')
    assert "a.p[i, k] to c[i - 1]" in refused_cables(named, tmp_path)[0][1]


OWN_SPLITTER = """fabric f {
  host e[2]: HEAD { split nic 2 }; switch s[8]: TAIL
  switch a: TOP { split p 2 }; host c[8]: LOW
  connect e[n].nic[i, k] to s[4*n + 2*i + k].p[1]
  connect a.p[i, k] to c[2*i + k].nic[0]
}
model cable SPLITTER { rate 400Gbps; legs 2; medium dac; form FORM; tail TAIL; lengths 2m }
model host HEAD { port nic[2]: 400Gbps { type GE; cage 1 QSFP112; split 2; sockets 1 } }
model switch TAIL { port p[1..4]: 200Gbps { type GE; cage 1 SFP56 } }
model switch TOP { port p[4]: 400Gbps { type GE; cage 1 QSFP112; split 2; sockets 1 } }
model host LOW { port nic[2]: 200Gbps { type GE; cage 1 SFP56 } }
"""


def test_a_splitter_has_its_head_where_the_legs_meet(tmp_path: Path) -> None:
    """Its one plug at the lower or at the upper end; the other way round it fits neither."""
    forms = {"QSFP112": "SFP56", "SFP56": "QSFP112"}
    found = [
        refused_cables(OWN_SPLITTER.replace("FORM", x).replace("tail TAIL", f"tail {y}"), tmp_path) for x, y in forms.items()
    ]
    ends = ["e[0].nic[0, 0] and s[0].p[1]", "c[0].nic[0] and a.p[0, 0]"]
    assert found[0] == []
    assert [x[2] for x in found[1]] == [f"the cable between {x} would be a break-out with 2 legs" for x in ends]


# ------------------------------------------------------------ facts of parts
def quantity(value: int | Fraction, dim: Any) -> Quantity:
    return Quantity(Fraction(value), dim)


def part(**facts: object) -> Any:
    """The model of a cable or transceiver."""
    return SimpleNamespace(name="A_PART_1", facts=facts)


def metres(*values: int | Fraction) -> tuple[Quantity, ...]:
    return tuple(quantity(v, LENGTH) for v in values)


def test_facts_of_parts() -> None:
    """Names with hyphens; a quantity of the right dimension alone; one value or several."""
    one = part(rate=quantity(400, RATE), form=("OSFP", "flat"), legs=2)
    assert part_display_name(one) == "A-PART-1"
    assert (stated_quantity(one, "rate", RATE), stated_quantity(one, "rate", LENGTH), stated_quantity(one, "legs", RATE), stated_quantity(one, "power", POWER)) == (
        Fraction(400), None, None, None,
    )  # fmt: skip
    assert (fact_values(one, "form"), fact_values(one, "legs"), fact_values(one, "codes")) == (("OSFP", "flat"), (2,), ())


def test_lengths_that_are_sold() -> None:
    """In ascending order, in micrometres; an unconfirmed one only where no other is long enough."""
    lengths = part(lengths=metres(3, Fraction(1, 2), 2), unconfirmed=(*metres(5, 1, 4), quantity(9, RATE)))
    assert lengths_of(lengths) == ([500_000, 2_000_000, 3_000_000], [1_000_000, 4_000_000, 5_000_000])
    assert lengths_of(part(lengths=metres(7)[0])) == ([7_000_000], []) and lengths_of(part()) == ([], [])
    expected = {
        0: (500_000, True), 500_000: (500_000, True), 500_001: (2_000_000, True), 2_000_001: (3_000_000, True),
        3_000_000: (3_000_000, True), 3_000_001: (4_000_000, False), 5_000_000: (5_000_000, False), 5_000_001: None,
    }  # fmt: skip
    assert {run: shortest_sold_length(lengths, run) for run in expected} == expected


@pytest.mark.parametrize(
    ("facts", "most", "typical"),
    [({"power_max": 17, "power": 14}, 17, 14), ({"power": 14}, 14, 14), ({"power_max": 17}, 17, 17), ({}, None, None)],
)
def test_watts_of_a_transceiver(facts: dict[str, int], most: int | None, typical: int | None) -> None:
    """The maximum unless the typical figure is asked for."""
    optic = part(**{k: quantity(v, POWER) for k, v in facts.items()})
    assert (optic_watts(optic), optic_watts(optic, False), optic_watts(optic, True)) == (most, most, typical)
