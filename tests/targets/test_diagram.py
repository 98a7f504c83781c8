"""The target diagram: graphviz takes the graph, and names are text."""

from __future__ import annotations

import subprocess
from xml.etree import ElementTree

import pytest

from tdsl.fabric.graph import Fabric
from tests.conftest import need_program
from tests.drawing.drawn import FABRICS
from tests.targets.build import files_of, tiny

SVG = "{http://www.w3.org/2000/svg}"


def nodes(fabric: Fabric) -> tuple[dict[str, bytes], int]:
    """The drawings, and how many nodes graphviz draws."""
    dot = need_program("dot", "graphviz")
    files, found = files_of(fabric, "diagram")
    assert not found
    drawn = subprocess.run([dot, "-Tsvg"], input=files["diagram/fabric.dot"], capture_output=True, timeout=60)
    assert drawn.returncode == 0 and not drawn.stderr
    return files, len([g for g in ElementTree.fromstring(drawn.stdout).iter(f"{SVG}g") if g.get("class") == "node"])


@pytest.mark.parametrize("name", FABRICS)
def test_graphviz_takes_the_graph(name: str) -> None:
    files, count = nodes(FABRICS[name]())
    assert count == files["diagram/fabric.dot"].count(b', fillcolor="')


def test_hostile_names_are_text_in_both() -> None:
    fabric = tiny()
    fabric.names = {0: '"];}\n<script>&\\', 1: "\x07" + "x" * 300}
    files, count = nodes(fabric)
    page = ElementTree.fromstring(files["diagram/fabric.svg"])
    assert not list(page.iter(f"{SVG}script")) and any("<script" in (t.text or "") for t in page.iter(f"{SVG}text"))
    assert count == 3
