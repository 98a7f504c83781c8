"""Elements of a host's layout: which one each hangs from."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdsl.semantics.ends import _row_major_expression
from tests.harness import compile_text

HOST = """
model host H {{
  port nic[2]: 400Gbps
  pcie cpu[{low}..{high}] {{ lanes 16 }}
  pcie nic {{ on cpu[{on}]; lanes 16 }}
}}
fabric f {{ host node[2]: H; connect node[0].nic to node[1].nic }}
"""


def layout_of(text: str, tmp_path: Path) -> list[tuple[str, int, tuple[str, int] | None]]:
    fabric = compile_text(text, tmp_path, verify=False).designs[0].fabric
    assert fabric is not None
    (model,) = fabric.models
    return [(node.name, node.index, node.on) for node in model.layout]


@pytest.mark.parametrize(("low", "on"), [(0, "i"), (1, "i + 1"), (3, "4 - i"), (5, "5")])
def test_what_hangs_from_an_element_that_does_not_begin_at_zero(low: int, on: str, tmp_path: Path) -> None:
    found = layout_of(HOST.format(low=low, high=low + 1, on=on), tmp_path)
    expected = [eval(on, {"i": i}) - low for i in range(2)]
    assert [(n, i) for n, i, _ in found] == [("cpu", 0), ("cpu", 1), ("nic", 0), ("nic", 1)]
    assert [x[2] for x in found[2:]] == [("cpu", k) for k in expected]


@pytest.mark.parametrize("on", ["i", "i + 2"])
def test_what_hangs_from_an_element_that_is_not_there(on: str, tmp_path: Path) -> None:
    found = compile_text(HOST.format(low=1, high=2, on=on), tmp_path, verify=False).findings
    assert [d.code for d in found][:1] == ["E0108"]
    assert found[0].message == f"cpu[{0 if on == 'i' else 3}] is outside 1..2"


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.data())
def test_a_flat_number_is_that_of_numpy(sizes: list[int], data: st.DataObject) -> None:
    names = [f"x{k}" for k in range(len(sizes))]
    at = [data.draw(st.integers(0, n - 1)) for n in sizes]
    text = _row_major_expression(names, sizes)
    found = eval(text or "0", dict(zip(names, at, strict=True)))
    assert found == int(np.ravel_multi_index(at, sizes)) < prod(sizes)
