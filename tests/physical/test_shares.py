"""Shares of a whole, typical power, tray fill and latency by places, with the arithmetic by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.verify.result import Result
from tests.harness import compile_text, sections

MODELS = """
model switch SW { port p[1..8]: 400Gbps { type NDR }; power 700W max 1500W; price $83k; height 1U; latency 230ns }
model host EP { port nic: 400Gbps { type NDR }; power 8kW max 10kW; price $300k; height 8U }
model cable WIRE { rate 400Gbps; medium dac; price $500; diameter 10mm; reach 30m; lengths 1m, 2m, 5m, 10m, 15m }
"""
TEXTS = sections(Path(__file__).parent / "shares.txt")
FABRIC = f"\n{TEXTS['FABRIC']}\n"
PLACES = f"\n{TEXTS['PLACES']}\n"


def results(statements: str, folder: Path) -> dict[str, Result]:
    found = compile_text(FABRIC % statements + MODELS, folder, models=False)
    return {r.requirement or r.check: r for r in found.designs[0].results}


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("power of network <= 7% of total", "proved"),  # 3 kW of 43 kW: 6.98%
        ("power of network <= 6.9% of total", "refuted"),
        ("power typical of network <= 4.2% of total", "proved"),  # 1.4 kW of 33.4 kW: 4.19%
        ("power typical of network <= 4.1% of total", "refuted"),
        ("cost of network <= 12.34% of total", "refuted"),  # 2 x 83,000 + 6 x 500 = 169,000 of 1,369,000: 12.345%
        ("cost of network <= 12.35% of total", "proved"),
        ("optics_power <= 0% of network", "proved"),  # copper
    ],
)
def test_shares(claim: str, status: str, tmp_path: Path) -> None:
    assert results(f"require {claim}", tmp_path)[claim].status == status


def test_a_share_of_unknown_terms_is_bounded(tmp_path: Path) -> None:
    text = (FABRIC % "require cost of network <= 13% of total\n  require cost of network <= 99% of total") + MODELS
    found = compile_text(text.replace("; price $300k", ""), tmp_path, models=False)  # hosts have no price
    by = {r.requirement: r for r in found.designs[0].results}
    assert by["cost of network <= 13% of total"].status == "bounded"  # at most 100%
    found = compile_text(text.replace("; price $500", "").replace("<= 13%", ">= 13%"), tmp_path, models=False)
    assert found.designs[0].results[0].status == "bounded"


def test_typical_power_of_a_rack(tmp_path: Path) -> None:
    by = results(PLACES + "  require rack_power typical <= 8kW and rack_power <= 10kW", tmp_path)
    assert by["rack_power typical <= 8kW"].status == by["rack_power <= 10kW"].status == "proved"


def test_latency_has_the_lengths_of_places(tmp_path: Path) -> None:
    """ep[1] in A02, leaf[0] in B01, leaf[1] in B02, ep[2] in A03.

    A host's middle is at 4 units, 0.1778 m, a switch's at 39.5 units, 1.755775 m; the tray at 2.6 m.
    ep[1] to leaf[0]: 2 + 2.4222 + 0.6 + 3 + 0.844225 = 8.866 m, so 10 m are ordered. ep[2] to leaf[1], by rack 1 or 4:
    2 + 2.4222 + 1.8 + 3 + 0.844225 = 10.066 m: 15 m. leaf to leaf: 2 + 2 x 0.844225 + 0.6 = 4.288 m: 5 m.
    30 m x 4.9 ns + 2 x 230 ns = 607 ns.
    """
    by = results(PLACES + "  require latency <= 607ns\n  require latency <= 606.9ns", tmp_path)
    assert by["latency <= 607ns"].status == "modelled"
    assert by["latency <= 606.9ns"].status == "refuted"


def test_without_a_diameter_the_fill_is_a_lower_bound(tmp_path: Path) -> None:
    text = FABRIC % (PLACES + "  require tray_fill <= 40%") + MODELS.replace("diameter 10mm; ", "")
    found = compile_text(text, tmp_path, models=False)
    assert next(r for r in found.designs[0].results if r.requirement == "tray_fill <= 40%").status == "bounded"
