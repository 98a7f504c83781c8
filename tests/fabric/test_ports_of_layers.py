"""Ports of the fabric of one layer: -1 where no link of that layer is, as where there is no link at all."""

from __future__ import annotations

from pathlib import Path

from tests.harness import fabric_of

TEXT = """model switch NVS { port p[16]: 200Gbps { type NVLINK } }
fabric f {
  host h[2]: NODE
  switch w: SW
  switch n: NVS
  connect h[*].nic[0] to w spread x 1
  connect h[*].gpu[*].nv[0] to n spread x 1 { layer scaleup }
}"""


def test_ports_without_a_link_of_the_layer(tmp_path: Path) -> None:
    whole = fabric_of(TEXT, tmp_path)
    assert (whole.link_count, whole.network.link_count) == (10, 2)
    assert set(whole.network.port_link.tolist()) == {-1, 0, 1}
