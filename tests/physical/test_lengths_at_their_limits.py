"""The longest lengths, reaches, bends and diameters are judged like others; longer ones are refused: no sum leaves 63 bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

DESIGN = """fabric f {
  switch leaf[2]: TOR
  panel p: PAN
  connect leaf[0].p[1] to leaf[1].p[1] via p { cable FAR; LENGTH }
  connect leaf[0].p[2] to leaf[1].p[2] { cable FAR }
  hall h { row A { rack 1..9 { height 48U } }; pitch rack 0.6m; tray above 2.6m { capacity 300mm x 100mm }; slack 0.5m }
  place leaf[i] in h.A[i + 1] at 2U
  place p in h.A[3] at 2U
  require tray_fill <= 40%
}
model switch TOR { port p[1..4]: 400Gbps { type NDR }; height 1U }
model panel PAN { port front[4]: any; port back[4]: any; height 1U }
model cable FAR { reach REACH; diameter DIAMETER; bend BEND; lengths 3m, LAST }
"""
USUAL = {"LENGTH": "length 20m", "REACH": "100m", "DIAMETER": "5mm", "BEND": "50mm", "LAST": "30m"}


def found(folder: Path, **changed: str) -> dict[str, list[str]]:
    """Messages by the code of what is found."""
    text = DESIGN
    for name, value in {**USUAL, **changed}.items():
        text = text.replace(name, value)
    out: dict[str, list[str]] = {}
    for d in compile_text(text, folder, models=False).findings:
        out.setdefault(d.code, []).append(d.message)
    return out


@pytest.mark.parametrize(
    ("name", "most", "more", "message"),
    [
        ("LENGTH", "length 1000000km", "length 1000000001m", "`length` is at most 1,000,000km"),
        ("REACH", "1000000km", "1000000001m", "`reach` is at most 1,000,000km"),
        ("LAST", "1000000km", "1000000001m", "`lengths` is at most 1,000,000km"),
        ("BEND", "1km", "1001m", "`bend` is at most 1km"),
        ("DIAMETER", "1m", "1001mm", "`diameter` is at most 1m"),
    ],
)
def test_the_most_and_one_more(name: str, most: str, more: str, message: str, tmp_path: Path) -> None:
    assert "E0116" not in found(tmp_path, **{name: most})
    assert "E0901" not in found(tmp_path, **{name: most})
    assert found(tmp_path, **{name: more})["E0116"] == [message]


def test_a_tray_with_the_thickest_cables_is_overfull(tmp_path: Path) -> None:
    assert not found(tmp_path)
    assert any("5.24e+03% full" in m for messages in found(tmp_path, DIAMETER="1m").values() for m in messages)


def test_a_length_beyond_the_reach_of_all_cables_of_a_link(tmp_path: Path) -> None:
    (message,) = [m for ms in found(tmp_path, LENGTH="length 1000000km").values() for m in ms]
    assert "reaches 100m" in message
