"""The drawings: real XML whose texts and boxes do not cover each other, at every size; and DOT that graphviz takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import combinations
from math import prod
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.drawing.shapes import _grid_coordinates, _guess_grid_sizes, _wrapping_dimensions, shapes_of_declarations
from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tests.fabrics import Builder, multiplane, rail_only, torus
from tests.targets.build import pod, two_planes

SVG = "{http://www.w3.org/2000/svg}"


def lonely() -> Builder:
    """A switch that nothing is plugged into."""
    b = Builder("lonely")
    b.devices("sw", b.model("switch", "SW", {"p": 4}), 1)
    return b


FABRICS: dict[str, Callable[[], Fabric]] = {
    "pod": pod,
    "superpod": lambda: pod(units=4, nodes=32, rails=8, spines=16),
    "twelve_units": lambda: pod(units=12, nodes=4, rails=2, spines=2),
    "planes": two_planes,
    "eight_planes": lambda: multiplane(8, 64, 4, 2, radix=512).build(),
    "ring": lambda: torus(6).build(),
    "torus": lambda: torus(4, 4, 4).build(),
    "rails": lambda: rail_only(8, 4).build(),
    "many_hosts": lambda: rail_only(3000, 2).build(),
    "no_links": lambda: lonely().build(),
}


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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(2, 7), st.booleans()), min_size=2, max_size=4))
def test_dimensions_are_read_off_the_links(dimensions: list[tuple[int, bool]]) -> None:
    """Of a mesh or torus whose places one axis counts; sizes that another grid has too may be taken for that."""
    sizes = [n for n, _ in dimensions]
    places = np.arange(prod(sizes)).reshape(sizes)
    pairs = []
    for k, (n, wraps) in enumerate(dimensions):
        for i in range(n if wraps and n > 2 else n - 1):
            pairs.append((np.take(places, i, axis=k).ravel(), np.take(places, (i + 1) % n, axis=k).ravel()))
    a, b = (np.concatenate([p[end] for p in pairs]) for end in (0, 1))
    found = _guess_grid_sizes(set(np.abs(a - b).tolist()), prod(sizes))
    wraps = _wrapping_dimensions(found, _grid_coordinates(found, a), _grid_coordinates(found, b))
    assert found == sizes or wraps is None or prod(found) == prod(sizes)
    if all(n > 2 and wrap for n, wrap in dimensions):
        assert found == sizes and wraps == [True] * len(sizes)


def test_many_groups_are_one_frame_or_a_disc() -> None:
    texts, page = drawing("gpu131k")
    assert "plane × 8" in texts and "512 × SW51T in each, 4,096 in all" in texts
    assert len([r for r in page.iter(f"{SVG}rect") if r.get("class") == "frame"]) == 3  # one behind the other
    texts, page = drawing("aurora")
    assert "g × 175" in texts and cells(page) == 0 and max((p.get("d") or "").count("L") for p in page.iter(f"{SVG}path")) < 4
    texts, _ = drawing("dgx_superpod_h100")
    assert {"su0", "su1", "su2", "su3"} <= set(texts)


def test_each_tier_has_its_ratio() -> None:
    texts, _ = drawing("alibaba_hpn")
    assert "ratio 1.13:1" in texts  # 136 ports of 200G down, 60 of 400G up
    assert [t for t in drawing("llama3_24k")[0] if t.startswith("ratio")] == ["ratio 1:1", "ratio 6.86:1"]


@pytest.mark.parametrize("name", FABRICS)
def test_graphviz_takes_the_graph(name: str) -> None:
    if shutil.which("dot") is None:
        why = "dot is not installed: apt-get install graphviz"
        if os.environ.get("CI") == "true" and os.geteuid() == 0:
            pytest.fail(why)
        pytest.skip(why)
    text = made(FABRICS[name]())["diagram/fabric.dot"]
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, timeout=60)
    assert drawn.returncode == 0 and not drawn.stderr
    nodes = [g for g in ElementTree.fromstring(drawn.stdout).iter(f"{SVG}g") if g.get("class") == "node"]
    assert len(nodes) == text.count(b', fillcolor="')


def test_hostile_names_are_text_in_both() -> None:
    fabric = pod(units=1, nodes=1, rails=1, spines=1, manager=False, omit_last=False)
    fabric.names = {0: '"];}\n<script>&\\', 1: "\x07" + "x" * 300}
    files = made(fabric)
    page = ElementTree.fromstring(files["diagram/fabric.svg"])
    assert not list(page.iter(f"{SVG}script")) and any("<script" in (t.text or "") for t in page.iter(f"{SVG}text"))
    if shutil.which("dot"):
        drawn = subprocess.run(["dot", "-Tsvg"], input=files["diagram/fabric.dot"], capture_output=True, timeout=60)
        assert drawn.returncode == 0 and drawn.stdout.count(b'class="node"') == 3
