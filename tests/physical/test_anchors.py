"""Published figures that must come out, and published rules that must refuse at the right line.

The rules are NVIDIA's: "connectors and cages", "application overview" of MMS4X00-NM, "interconnect structured cabling
requirements" and the ordering pages of MCP4Y10 and MCP7Y00, all under docs.nvidia.com/networking. Costs are those of Zhao et
al., Insights into DeepSeek-V3, ISCA 2025, table 3, in which $83.0k a switch and $504 an inter-switch link fit FT2 and MPFT.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tdsl.cli import cli
from tdsl.compile import compiler
from tests.harness import sections

HALL = """fabric f {
  hall h { row A { rack 1..99 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }
"""
MODELS = """
model host CX7 "Two ConnectX-7, single-port OSFP" { port nic[2]: 400Gbps { type NDR, NDR200; cage 1 OSFP flat }; height 2U }
model host CX7Q "Two ConnectX-7, QSFP112" { port nic[2]: 400Gbps { type NDR, NDR200; cage 1 QSFP112 }; height 2U }
"""


def found(body: str, tmp_path: Path) -> list[tuple[str, int]]:
    """Codes and lines of the errors of a design; its first line is 1."""
    path = tmp_path / "design.fab"
    path.write_text(HALL + body + "}\n" + MODELS)
    errors = [d for d in compiler.compile_and_verify(str(path)).findings if d.severity.word == "error"]
    return sorted((d.code, d.span.begin[0]) for d in errors if d.span is not None)


def pair(a: str, b: str, connect: str, far: int = 2) -> str:
    """Two devices in the racks 1 and ``far``; the connect is in line 3."""
    return f"  connect {connect}\n  {a}\n  {b}\n  place a in h.A[1] at 2U\n  place b in h.A[{far}] at 30U\n"


DGX, SWITCH, CARD, CARDQ = "host a: DGX_H100", "switch b: QM9700", "host a: CX7", "host a: CX7Q"
WHOLE = "switch a: QM9700"
MODELS += "model switch HDR { port p[1..40]: 200Gbps { type NDR200; cage 1 QSFP56 }; height 1U }\n"
XDR = "switch a: Q3400", "switch b: Q3400"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        # cages: finned in air-cooled switches, flat in DGX, single-port and QSFP112 in adapters only
        (pair(DGX, SWITCH, "a.nic[0] to b { optic MMA4Z00_NS_FLT, MMA4Z00_NS; cable MFP7E10 }"), []),
        (pair(DGX, SWITCH, "a.nic[0] to b { optic MMA4Z00_NS, MMA4Z00_NS; cable MFP7E10 }"), ["E0226"]),
        (pair(DGX, SWITCH, "a.nic[0] to b { optic MMA4Z00_NS_FLT, MMA4Z00_NS_FLT; cable MFP7E10 }"), ["E0226"]),
        (pair(CARD, SWITCH, "a.nic[0] to b { optic MMA4Z00_NS400, MMA4Z00_NS; cable MFP7E10 }"), []),
        (pair(DGX, SWITCH, "a.nic[0] to b { optic MMA4Z00_NS_FLT, MMA4Z00_NS400; cable MFP7E10 }"), ["E0226"]),
        (pair(CARD, SWITCH, "a.nic[0] to b { optic MMA1Z00_NS400, MMA4Z00_NS; cable MFP7E10 }"), ["E0226"]),
        (pair(CARDQ, SWITCH, "a.nic[0] to b { optic MMA1Z00_NS400, MMA4Z00_NS; cable MFP7E10 }"), []),
        # one transceiver: both fibres straight, or both splitters
        (pair(WHOLE, SWITCH, "a.p[i] to b.p[i] where i <= 2 { cable MFP7E10 }"), []),
        # lengths: multimode up to 50 m, single-mode splitters up to 50 m, passive copper up to 3 m, none at XDR
        (pair(WHOLE, SWITCH, "a.p[1] to b.p[1] { cable MFP7E10 }", 74), []),
        (pair(WHOLE, SWITCH, "a.p[1] to b.p[1] { cable MFP7E10 }", 78), ["E0225"]),
        (pair(WHOLE, SWITCH, "a.p[1] to b.p[1] { cable MFP7E30 }", 78), []),
        (pair(CARD, SWITCH, "a.nic[i] to b.p[i + 1] { cable MCP7Y00 }", 1), []),
        (pair(CARD, SWITCH, "a.nic[i] to b.p[i + 1] { cable MCP7Y00 }", 2), ["E0225"]),
        (pair(*XDR, "a.p[1] to b.p[1] { cable MCP4Y10 }", 1), ["E0225", "E0226"]),
        (pair(*XDR, "a.p[1] to b.p[1] { cable MFP7E10 }"), ["E0203"]),  # no multimode at XDR
        (pair(*XDR, "a.p[1] to b.p[1] { cable MFP7E30 }"), []),
        (pair(*XDR, "a.p[1] to b.p[1] { cable MCA4K50 }", 1), []),
        # older forms go into newer cages, at their own rate
        (pair("host a: CX7Q", "switch b: HDR", "a.nic[0] to b.p[1] { cable MFS1S00; rate 200Gbps }"), []),
        (pair("host a: CX7Q", "switch b: HDR", "a.nic[0] to b.p[1] { optic MMA1Z00_NS400; rate 200Gbps }"), ["E0226"]),
    ],
)  # fmt: skip
def test_what_is_refused_and_what_is_not(body: str, codes: list[str], tmp_path: Path) -> None:
    assert found(body, tmp_path) == [(code, 3) for code in codes]


@pytest.mark.parametrize(("second", "codes"), [("MFP7E40", []), ("MFP7E10", ["E0227"]), ("MFP7E30", ["E0227"])])
def test_straight_and_splitter_fibre_in_one_transceiver(second: str, codes: list[str], tmp_path: Path) -> None:
    """Port 1 leaves by a splitter to two adapters of 200 Gb/s; port 2 of the same cage by what is given."""
    body = "  connect a.p[1, k] to c[0].nic[k] { cable MFP7E40; rate 200Gbps }\n"
    if second == "MFP7E40":
        body += "  connect a.p[2, k] to c[1].nic[k] { cable MFP7E40; rate 200Gbps }\n  switch a: QM9700 { split p[1..2] 2 }\n"
    else:
        body += f"  connect a.p[2] to c[1].nic[0] {{ cable {second} }}\n  switch a: QM9700 {{ split p[1] 2 }}\n"
    body += "  host c[2]: CX7\n  place a in h.A[1] at 2U\n  place c[k] in h.A[2] at 2U + 4U*k\n"
    assert found(body, tmp_path) == [(code, 4) for code in codes]


@pytest.mark.parametrize(("first", "status"), [("", "bounded"), (" { cable MFP7E10 }", "proved")])
def test_a_part_that_is_not_known_beside_one_that_is(first: str, status: str, tmp_path: Path) -> None:
    """The ports of this card have no form, so no part can be chosen for the first; that is no second kind."""
    text = "model host CARD { port nic[2]: 400Gbps { type NDR } }\nfabric f {\n"
    text += "  hall h { row A { rack 1..2 { height 48U } }; slack 1m }\n"
    text += "  switch a: QM9700\n  switch b: QM9700\n  host c: CARD\n  place a in h.A[1] at 2U\n  place b in h.A[2] at 2U\n"
    text += f"  place c in h.A[2] at 20U\n  connect a.p[1] to c.nic[0]{first}\n"
    text += "  connect a.p[2] to b.p[2] { cable MFP7E10 }\n}\n"
    path = tmp_path / "design.fab"
    path.write_text(text)
    design = compiler.compile_and_verify(str(path)).designs[0]
    assert [r.status for r in design.results if r.check == "twin_port"] == [status]


@pytest.mark.parametrize(("rack", "codes"), [(70, []), (80, ["E0225"])])
def test_a_single_mode_splitter_reaches_50_m(rack: int, codes: list[str], tmp_path: Path) -> None:
    body = "  connect a.p[1, k] to c.nic[k] { cable MFP7E40; rate 200Gbps }\n  host c: CX7\n"
    body += f"  switch a: QM9700 {{ split p[1] 2 }}\n  place a in h.A[1] at 30U\n  place c in h.A[{rack}] at 30U\n"
    assert found(body, tmp_path) == [(code, 3) for code in codes]


TEXTS = sections(Path(__file__).parent / "anchors.txt")
PRICED = f"\n{TEXTS['PRICED']}\n"
TREES = {
    "FT2": (2048, 96, 2048, 9, 4.39, """
  host ep[2048]: EP
  switch leaf[64]: SW
  switch spine[32]: SW
  connect ep[e].nic to leaf[e//32] { cable NONE }
  connect leaf[*] to spine[*] spread { cable LINK }"""),
    "MPFT": (16384, 768, 16384, 72, 4.39, """
  host node[2048]: EIGHT
  plane plane[8] {
    switch leaf[64]: SW
    switch spine[32]: SW
    connect leaf[*] to spine[*] spread { cable LINK }
  }
  connect node[n].nic[p] to plane[p].leaf[n//32] { cable NONE }"""),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_the_cost_column_of_deepseeks_table(name: str, tmp_path: Path) -> None:
    ends, switches, links, millions, thousands, body = TREES[name]
    path = tmp_path / "design.fab"
    need = f"switches == {switches} and cables == {links + ends}"
    need += f" and cost of network >= ${millions - 0.5}M and cost of network <= ${millions + 0.5}M"
    path.write_text(f"{PRICED}fabric f {{{body}\n  require {need}\n}}\n")
    result = CliRunner().invoke(cli, ["check", str(path)])
    assert result.exit_code == 0, result.output
    cost = switches * 83_000 + links * 504
    assert round(cost / 1e6) == millions and abs(cost / ends / 1000 - thousands) < 0.01
