"""What templates see of a part of a fabric, row by row against the view of the whole; and columns of packed numbers."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.emit.partial_view import PartView
from tdsl.emit.view import FabricView
from tdsl.findings.diagnostic import Diagnostics
from tdsl.viewer.packed import _packed_column
from tests.harness import fabric_of

POD = """
fabric pods "Pods" {
  nos frr
  group su[2] {
    host node[2]: NODE
    switch leaf[2]: LEAF
    connect node[n].nic[r] to leaf[r]
  }
  switch spine: SPINE { nos eos }
  host store: BOX
  connect su[*].leaf[*] to spine each x 2
  connect store.nic[r] to su[r].leaf[0]
  address su[*].leaf, spine loopback from 10.0.0.0/24
  address su[*].leaf management from 192.168.0.0/24
  routing bgp
}
model switch LEAF { port p[1..16]: 400Gbps { type NDR; os "swp{i}" } }
model switch SPINE { port p[1..16]: 400Gbps { type NDR; os "Ethernet{i}" } }
model chip H { port nv[2]: 200Gbps { type NVLINK5 }; sm 90 }
model host NODE {
  port nic[2]: 400Gbps { type NDR; os "mlx5_{i}" }
  chip gpu[1]: H
  numa cpu[1] { arch arm64; cores 4 }
  pcie gpu { on cpu[0]; gen 5; lanes 16; bus "0{i}:00.0"; device "10de:1" }
  pcie nic { on cpu[0]; gen 5; lanes 16; bus "1{i}:00.0"; device "15b3:1" }
}
model host BOX { port nic[2]: 400Gbps { type NDR } }
"""


def rows(table: Any, field: str) -> list[object]:
    return list(table.column(field))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> FabricView:
    return FabricView(fabric_of(POD, tmp_path_factory.mktemp("parts"), models=False), Diagnostics())


def test_rows_of_the_devices_of_a_part(whole: FabricView) -> None:
    f = whole._fabric
    for seed in range(12):
        rng = Random(seed)
        only = np.array([rng.random() < (0.15, 0.4)[seed % 2] for _ in range(f.device_count)])
        only[rng.randrange(f.device_count)] = True
        part = PartView(whole, only)
        names = {f.device_name(d) for d in np.flatnonzero(only).tolist()}
        models = {f.models[m].name for m in f.device_model[only].tolist()}
        assert rows(part.devices, "name") == [n for n in rows(whole.devices, "name") if n in names]
        near = [n for n, (a, b) in enumerate(zip(f.device_a.tolist(), f.device_b.tolist(), strict=True)) if only[a] or only[b]]
        assert [rows(part.links, c) for c in ("a_port", "b_port")] == [
            [rows(whole.links, c)[n] for n in near] for c in ("a_port", "b_port")
        ]
        ends = list(
            zip(rows(whole.cables, "a_device"), rows(whole.cables, "b_device"), rows(whole.cables, "cable_id"), strict=True)
        )
        wires = [c for a, b, c in ends if a in names or b in names]
        assert rows(part.cables, "cable_id") == wires
        assert rows(part.labels, "cable_id") == [c for c in rows(whole.labels, "cable_id") if c in wires]
        for table in ("addresses", "systems"):
            assert rows(getattr(part, table), "device") == [d for d in rows(getattr(whole, table), "device") if d in names]
        assert [m.device for m in part.managed] == [m.device for m in whole.managed if m.device in names]
        assert part.switch_systems == {n: s for n, s in whole.switch_systems.items() if n in names}
        assert {m.name for m in part.models} == models and {h.name for h in part.hosts} == models & {"NODE"}
        assert [a.host for a in part.adapters] == sorted(models & {"NODE"})
        cables = rows(whole.cables, "cable_id")
        wanted = [(p.name, [cables[r] for r in p.rows if cables[r] in wires]) for p in whole.pods]
        assert [(p.name, [rows(part.cables, "cable_id")[r] for r in p.rows]) for p in part.pods] == [w for w in wanted if w[1]]
        assert part.devices is part.devices
    assert len(whole.pods) >= 2 and len(whole.hosts) == len(whole.adapters) == 1


@pytest.mark.parametrize(
    ("values", "width", "start", "step"),
    [([], 0, 0, 0), ([5], 0, 5, 0), ([5, 9], 0, 5, 4), ([9, 7, 5], 0, 9, -2), ([3, 3, 3, 3], 0, 3, 0),
     ([-(1 << 31)], 0, -(1 << 31), 0)],
)  # fmt: skip
def test_columns_that_are_progressions(values: list[int], width: int, start: int, step: int) -> None:
    assert _packed_column(np.array(values, dtype=np.int64)) == ({"width": width, "start": start, "step": step}, b"")


@pytest.mark.parametrize(
    ("values", "width"),
    [
        ([0, 127, 0], 1), ([0, 128, 1], 2), ([127, 127, -1], 1), ([127, 127, -2], 2), ([128, 127, 0], 2), ([-128, -1, 0], 1),
        ([-129, 0, 0], 2), ([0, 32767, 0], 2), ([0, 32768, 1], 4), ([0, -32768, -1], 2), ([0, -32769, -1], 4),
        ([(1 << 31) - 1, -(1 << 31), 7], 4),
    ],
)  # fmt: skip
def test_bytes_of_differences(values: list[int], width: int) -> None:
    """The first value and the differences, modulo 2^32, the lowest bytes of all before the next ones."""
    entry, body = _packed_column(np.array(values, dtype=np.int64))
    steps = [values[0], *(b - a for a, b in pairwise(values))]
    texts = [(s % (1 << 32)).to_bytes(4, "little")[:width] for s in steps]
    assert entry == {"width": width} and body == bytes(t[k] for k in range(width) for t in texts)


@pytest.mark.parametrize("value", [1 << 31, -(1 << 31) - 1])
def test_values_of_more_than_32_bits(value: int) -> None:
    with pytest.raises(ValueError, match=r"^a value needs more than 32 bits$"):
        _packed_column(np.array([0, value, 5]))
