"""Links inside a device are added up in 64 bits with those between devices: where they carry too much, that is an error. Those of
several devices are never added up, so a million hosts are no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.semantics.settings import CAPACITY_LIMIT
from tests.harness import compile_text

TEXT = """model chip G {{ port nv[4]: any }}
model switch S {{ port p[16]: 400Gbps }}
model host SMALL {{ port nic[2]: 400Gbps; chip gpu[2]: G; connect gpu[0].nv to gpu[1].nv {{ rate 100Gbps; layer scaleup }} }}
model host LARGE {{
  port nic[2]: 400Gbps
  chip gpu[2]: G
  connect gpu[0].nv to gpu[1].nv {{ rate {rate}bps; layer scaleup }}
}}
fabric f {{
  host h[{hosts}]: LARGE
  host n: SMALL
  switch s: S
  connect h[i].nic[(0)] to s
  connect n.nic[(0)] to s
}}
"""


@pytest.mark.parametrize("hosts", [1, 3])
def test_the_limit_with_links_inside_devices(hosts: int, tmp_path: Path) -> None:
    """Links between devices count as well; the model that carries most is named. Up to the limit what a host has together is
    exact, however many hosts there are."""
    most = CAPACITY_LIMIT - 1 - (hosts + 1) * 400 * 10**9
    for rate, wanted in ((most, []), (most + 1, ["E0116"])):
        result = compile_text(TEXT.format(rate=rate, hosts=hosts), tmp_path, models=False)
        found = [d for d in result.findings if d.severity.word == "error"]
        assert [d.code for d in found] == wanted
        fabric = result.designs[0].fabric
        assert fabric is not None and fabric.complete == (not wanted)
        if not wanted:
            assert fabric.domains.rate[: hosts + 1].tolist() == [2 * most] * hosts + [2 * 100 * 10**9]
            assert fabric.domains.accelerator_bps.tolist() == [most] * hosts + [100 * 10**9]
        for d in found:
            assert d.span is not None and d.span.text == "LARGE"
            assert d.message.startswith("the links inside one such device and those between devices carry 4611.69Pbps together")
