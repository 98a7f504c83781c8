"""The target diagram: graphviz takes the graph, and names are text."""

from __future__ import annotations

import os
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tests.drawing.drawn import FABRICS
from tests.targets.build import pod

SVG = "{http://www.w3.org/2000/svg}"


def made(fabric: Fabric) -> dict[str, bytes]:
    """The drawings."""
    found = Diagnostics()
    files = build_files(fabric, ["diagram"], found)
    assert not found.items
    return files


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
