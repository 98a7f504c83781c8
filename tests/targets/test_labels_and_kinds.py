"""Where a label has room in a drawing, the order of adapters, and management addresses of a part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from tdsl.drawing.picture import _is_label_spot_free, _label_extent
from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.data.adapters import _first_of_each_kind
from tdsl.findings.diagnostic import Diagnostics
from tests.targets.test_part import DESIGN, fabric


def test_labels_that_touch_do_not_overlap() -> None:
    """A label may begin just where another ends, on each of its four sides; a tenth of a point further in it may not."""
    spot, letters = (100.0, 50.0), 4
    left, top, right, bottom = _label_extent(spot, letters)
    assert (right - left, bottom - top) == (2 * (spot[0] - left), 18.0)
    width, height = right - left, bottom - top
    assert not _is_label_spot_free(spot, letters, [(left, top, right, bottom)]) and _is_label_spot_free(spot, letters, [])
    for x, y in ((width, 0), (-width, 0), (0, height), (0, -height)):
        near = 1 - 0.1 / max(abs(x), abs(y))
        assert _is_label_spot_free(spot, letters, [(left + x, top + y, right + x, bottom + y)])
        assert not _is_label_spot_free(spot, letters, [(left + x * near, top + y * near, right + x * near, bottom + y * near)])


def test_kinds_of_links_in_the_order_of_their_first_rows() -> None:
    """One column of each kind; the first row decides, then the place."""
    rows = np.array([[2, 0, 1, 0, 2, 1], [0, 9, 5, 9, 0, 4], [7, 7, 7, 7, 7, 7]])
    assert _first_of_each_kind(rows) == [1, 2, 5, 0]
    assert _first_of_each_kind(np.array([[1, 0], [0, 5]])) == [1, 0] and _first_of_each_kind(np.array([[3, 3, 3]])) == [0]


def test_management_addresses_of_a_part(tmp_path: Path) -> None:
    """Those of its devices, and no other."""
    made = fabric(DESIGN, tmp_path)
    for only, wanted in (("su[1].leaf", {"su1-leaf0": "192.168.0.3", "su1-leaf1": "192.168.0.4"}), ("spine", {})):
        text = build_files(made, ["ansible"], Diagnostics(), BuildOptions(only=(only,)))["ansible/inventory.yaml"]
        hosts = yaml.safe_load(text)["all"]["hosts"]
        assert {name: facts["ansible_host"] for name, facts in hosts.items() if "ansible_host" in facts} == wanted
        assert len(hosts) == 2
