"""A device that becomes another model, the first of all too: there is no fabric that holds both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.changes.union import union_of_fabrics
from tdsl.fabric.graph import Fabric
from tests.harness import compile_text

TEXT = "fabric f {\n  switch a: SW\n  switch b: SW\n  switch c: SW\n  connect a.p[1] to b.p[1]\n  connect b.p[2] to c.p[2]\n}\n"


def wired(text: str, folder: Path) -> Fabric:
    """The fabric of a design."""
    fabric = compile_text(text, folder, verify=False).designs[0].fabric
    assert fabric is not None
    return fabric


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_another_model(name: str, tmp_path: Path) -> None:
    before, after = wired(TEXT, tmp_path), wired(TEXT.replace(f"{name}: SW", f"{name}: BIG"), tmp_path)
    assert union_of_fabrics(before, before) is not None and union_of_fabrics(before, after) is None
