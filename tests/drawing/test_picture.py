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
from tests.targets.switches import shipped

SVG = "{http://www.w3.org/2000/svg}"


def drawn(fabric: Fabric) -> ElementTree.Element:
    """The drawing of a fabric."""
    found = Diagnostics()
    files = build_files(fabric, ["diagram"], found)
    assert not found.items
    return ElementTree.fromstring(files["diagram/fabric.svg"])


def texts_of(page: ElementTree.Element) -> list[str]:
    return [t.text or "" for t in page.iter(f"{SVG}text")]


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
    """And the lines between boxes and the links told in a box are all links."""
    fabric = FABRICS[name]()
    page = drawn(fabric)
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
    for left, top, right, bottom in [*(box for _, box in texts), *boxes]:
        assert left >= 0 and top >= 0 and right <= width and bottom <= height
    assert width <= 2600 and height <= 1600
    lines = [int(n) for p in page.iter(f"{SVG}path") for t in p for n in re.findall(r": (\d+) link", t.text or "")]
    inside = [int(n) for text in texts_of(page) for n in re.findall(r"^(\d+) links inside$", text)]
    assert sum(lines) + sum(inside) == fabric.link_count


def test_the_superpod_is_told_on_one_page() -> None:
    page = drawn(FABRICS["superpod"]())
    texts = texts_of(page)
    for wanted in (
        "127 hosts · 1 other host · 48 switches · 2,044 links · 2,044 cables", "su3-node",
        "31 × DGX_H100, 1 omitted", "16 × QM9700",
        "host-leaf: 1,020 links of 400 Gb/s", "rail 0: 127 links", "rail 7: 127 links",
        "host-leaf in no rail: 4 links", "leaf-spine: 1,024 links of 400 Gb/s", "tier 2", "hosts", "su0", "ufm",
    ):  # fmt: skip
        assert wanted in texts, wanted
    assert texts.count("256") == 7 and "248" in texts and "4" in texts
    rails = [(p.get("stroke"), t.text) for p in page.iter(f"{SVG}path") for t in p if ", rail " in (t.text or "")]
    assert len(rails) == 4 * 8 and len({colour for colour, _ in rails}) == 8, "a line and a colour for each rail of each unit"
    assert len([t for _, t in rails if t == "host-leaf, rail 3: 32 links"]) == 3


def cells(page: ElementTree.Element) -> int:
    """Devices drawn one by one inside boxes."""
    return sum((p.get("d") or "").count("z") for p in page.iter(f"{SVG}path") if p.get("class") == "cell")


def chords(page: ElementTree.Element) -> int:
    return max((p.get("d") or "").count("L") for p in page.iter(f"{SVG}path"))


@pytest.mark.parametrize(
    ("name", "count", "told"), [("tpu_v4", 4096, {"cube × 64"}), ("gb200_nvl72", 72, {"18 × GB200_TRAY", "72 × B200 inside"})]
)
def test_shapes_are_drawn(name: str, count: int, told: set[str]) -> None:
    """Every chip of a torus and every chip of a tray is a cell; equal groups are one frame."""
    fabric = compiler.compile_without_checks(name).designs[0].fabric
    assert fabric is not None
    page = drawn(fabric)
    assert cells(page) == count and told <= set(texts_of(page))
    halves = [t.text for p in page.iter(f"{SVG}path") for t in p if (t.text or "").startswith("x: ")]
    assert halves == (["x: 2048 cables"] if name == "tpu_v4" else []), "each link through an optical switch is two cables"


TORUS = """
model chip TPU { port ici[6]: 400Gbps }
fabric f { chips 512 x TPU; torus { shape 8x8x8 } }
"""
WIDE = "model switch WIDE { port p[1..512]: 400Gbps }\n"
PLANES = WIDE + "fabric f { plane plane[8] { switch leaf[64]: WIDE; switch spine[4]: WIDE; connect leaf[*] to spine[*] each } }"
GROUPS = WIDE + "fabric f { group g[COUNT] { switch s[16]: WIDE; connect s[*] each }\n  connect g[*].s[0] each }"


def test_a_torus_over_one_axis_is_a_grid(tmp_path: Path) -> None:
    """`chips 512 x …` with `torus { shape 8x8x8 }`: the sizes are read off the links."""
    fabric = fabric_of(TORUS, tmp_path, models=False)
    assert shapes_of_declarations(fabric) == [{"grid": [8, 8, 8], "wraps": [True, True, True], "axes": []}]
    assert cells(drawn(fabric)) == 512


def test_many_groups_are_one_frame_or_a_disc(tmp_path: Path) -> None:
    page = drawn(fabric_of(PLANES, tmp_path, models=False))
    assert {"plane × 8", "64 × WIDE in each, 512 in all"} <= set(texts_of(page))
    assert len([r for r in page.iter(f"{SVG}rect") if r.get("class") == "frame"]) == 3  # one behind the other
    for count, shown in ((12, 12 * 16), (175, 0)):
        page = drawn(fabric_of(GROUPS.replace("COUNT", str(count)), tmp_path, models=False))
        assert f"g × {count}" in texts_of(page) and cells(page) == shown
        assert chords(page) == (12 * 11 // 2 if count == 12 else 0), "each pair of groups on a circle, or a disc"


def test_each_tier_has_its_ratio(tmp_path: Path) -> None:
    ratios = [t for t in texts_of(drawn(fabric_of(shipped(), tmp_path, models=False))) if t.startswith("ratio")]
    assert ratios == ["ratio 1:1", "ratio 4:1"], "of a pod's racks, and of its switches: 8 links down and 2 up"
