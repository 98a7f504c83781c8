"""Drawings are XML whose texts and boxes do not cover each other, at every size."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tdsl.compile import compiler
from tdsl.drawing.shapes import shapes_of_declarations
from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tests.drawing.drawn import FABRICS
from tests.harness import fabric_of

SVG = "{http://www.w3.org/2000/svg}"


def made(fabric: Fabric) -> dict[str, bytes]:
    """The drawings."""
    found = Diagnostics()
    files = build_files(fabric, ["diagram"], found)
    assert not found.items
    return files


def svg(name: str) -> ElementTree.Element:
    """The drawing of a fabric."""
    return ElementTree.fromstring(made(FABRICS[name]())["diagram/fabric.svg"])


def extent(text: ElementTree.Element) -> tuple[float, float, float, float]:
    """How much room a text takes in a wide font."""
    words = text.get("class", "")
    size = 11.0 if "small" in words else 13.0 if "name" in words else float(text.get("font-size", "13"))
    bold = 0.08 if "name" in words or text.get("font-weight") == "bold" else 0.0
    width = len(text.text or "") * size * (0.52 + bold)
    x, y = float(text.get("x", "0")), float(text.get("y", "0"))
    left = x - width / 2 if text.get("text-anchor") == "middle" else x
    return left, y - size * 0.75, left + width, y + size * 0.2


def overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    """Whether two rectangles share room."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize("name", FABRICS)
def test_nothing_covers_anything_else(name: str) -> None:
    page = svg(name)
    width, height = float(page.get("width", "0")), float(page.get("height", "0"))
    texts = [(t.text or "", extent(t)) for t in page.iter(f"{SVG}text")]
    for (one, a), (other, b) in combinations(texts, 2):
        assert not overlap(a, b), f"{one!r} and {other!r}"
    boxes = []
    for r in page.iter(f"{SVG}rect"):
        if r.get("class", "").startswith("box"):
            x, y = float(r.get("x", "0")), float(r.get("y", "0"))
            boxes.append((x, y, x + float(r.get("width", "0")), y + float(r.get("height", "0"))))
    assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
    for _, (left, top, right, bottom) in [*texts, *(("", b) for b in boxes)]:
        assert left >= 0 and top >= 0 and right <= width and bottom <= height
    assert width <= 2600 and height <= 1600


def test_the_superpod_is_told_on_one_page() -> None:
    texts = [t.text for t in svg("superpod").iter(f"{SVG}text")]
    for wanted in (
        "127 hosts · 1 other host · 48 switches · 2,044 links · 2,044 cables", "su3-node",
        "31 × DGX_H100, 1 omitted", "16 × QM9700",
        "host-leaf: 1,020 links of 400 Gb/s", "leaf-spine: 1,024 links of 400 Gb/s", "tier 2", "hosts", "su0", "ufm",
    ):  # fmt: skip
        assert wanted in texts, wanted
    assert texts.count("256") == 7 and "248" in texts and "4" in texts


def test_lines_add_up_to_the_links() -> None:
    for name in ("pod", "superpod", "eight_planes", "rails"):
        titles = [t.text or "" for p in svg(name).iter(f"{SVG}path") for t in p]
        assert sum(int(re.findall(r": (\d+) link", t)[0]) for t in titles) == FABRICS[name]().link_count


def test_links_inside_a_box_are_told_in_it() -> None:
    assert "192 links inside" in [t.text for t in svg("torus").iter(f"{SVG}text")]


def drawing(name: str) -> tuple[list[str], ElementTree.Element]:
    """The texts and the page of a design of the library."""
    fabric = compiler.compile_without_checks(name).designs[0].fabric
    assert fabric is not None
    page = ElementTree.fromstring(made(fabric)["diagram/fabric.svg"])
    return [t.text or "" for t in page.iter(f"{SVG}text")], page


def cells(page: ElementTree.Element) -> int:
    """Devices drawn one by one inside boxes."""
    return sum((p.get("d") or "").count("z") for p in page.iter(f"{SVG}path") if p.get("class") == "cell")


def test_shapes_are_drawn() -> None:
    """Every chip of a torus, every switch of a dragonfly and every chip of a tray is a cell; equal groups are one frame."""
    texts, page = drawing("tpu_v4")
    assert cells(page) == 4096 and "cube × 64" in texts
    texts, page = drawing("frontier")
    assert cells(page) == 2368 and "g × 74" in texts
    chords = max((p.get("d") or "").count("L") for p in page.iter(f"{SVG}path"))
    assert chords == 74 * 73 // 2
    texts, page = drawing("gb200_nvl72")
    assert cells(page) == 72 and "18 × GB200_TRAY" in texts and "72 × B200 inside" in texts


def test_a_torus_over_one_axis_is_a_grid() -> None:
    """`chips 9216 x …` with `torus { shape 16x24x24 }`: the sizes are read off the links."""
    fabric = compiler.compile_without_checks("ironwood").designs[0].fabric
    assert fabric is not None
    assert shapes_of_declarations(fabric) == [{"grid": [16, 24, 24], "wraps": [True, True, True], "axes": []}]
    assert cells(drawing("ironwood")[1]) == 9216


PLANES = """
model switch WIDE { port p[1..512]: 400Gbps }
fabric f { plane plane[8] { switch leaf[512]: WIDE; switch spine[4]: WIDE; connect leaf[*] to spine[*] each } }
"""


def test_many_groups_are_one_frame_or_a_disc(tmp_path: Path) -> None:
    page = ElementTree.fromstring(made(fabric_of(PLANES, tmp_path, models=False))["diagram/fabric.svg"])
    assert {"plane × 8", "512 × WIDE in each, 4,096 in all"} <= {t.text for t in page.iter(f"{SVG}text")}
    assert len([r for r in page.iter(f"{SVG}rect") if r.get("class") == "frame"]) == 3  # one behind the other
    texts, page = drawing("aurora")
    assert "g × 175" in texts and cells(page) == 0 and max((p.get("d") or "").count("L") for p in page.iter(f"{SVG}path")) < 4
    texts, _ = drawing("dgx_superpod_h100")
    assert {"su0", "su1", "su2", "su3"} <= set(texts)


def test_each_tier_has_its_ratio() -> None:
    texts, _ = drawing("alibaba_hpn")
    assert "ratio 1.13:1" in texts  # 136 ports of 200G down, 60 of 400G up
    assert [t for t in drawing("llama3_24k")[0] if t.startswith("ratio")] == ["ratio 1:1", "ratio 6.86:1"]
