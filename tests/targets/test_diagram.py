"""The target diagram: graphviz takes the graph."""

from __future__ import annotations

import subprocess
from xml.etree import ElementTree

import pytest

from tests.conftest import need_program
from tests.drawing.drawn import FABRICS
from tests.targets.build import files_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", FABRICS)
def test_graphviz_takes_the_graph(name: str) -> None:
    """With as many nodes; hostile names are in test_hostile.py."""
    dot = need_program("dot", "graphviz")
    files, found = files_of(FABRICS[name](), "diagram")
    assert not found
    drawn = subprocess.run([dot, "-Tsvg"], input=files["diagram/fabric.dot"], capture_output=True, timeout=60)
    assert drawn.returncode == 0 and not drawn.stderr
    nodes = [g for g in ElementTree.fromstring(drawn.stdout).iter(f"{SVG}g") if g.get("class") == "node"]
    assert len(nodes) == files["diagram/fabric.dot"].count(b', fillcolor="')
