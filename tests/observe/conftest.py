"""A small fabric of two units, which many tests of audits share."""

from __future__ import annotations

import pytest

from tdsl.fabric.graph import Fabric
from tests.harness import fabric_of

SMALL = """\
model switch SW { port p[1..18]: 400Gbps { type NDR; cage 2 OSFP; name "IB1/{(i + 1)//2}/{(i - 1)%2 + 1}"; os "swp{i}" } }
model host NODE { port nic[4]: 400Gbps { type NDR; cage 2 OSFP; os "mlx5_{i}" } }
fabric small {
  group su[2] {
    host node[3]: NODE
    switch leaf[4]: SW
    connect node[n].nic[r] to leaf[r] { class "rail" }
  }
  switch spine[2]: SW
  connect su[*].leaf[*] to spine[*] each x 2
  host lone: NODE
  connect lone.nic[0] to spine[0] { class "lone" }
}
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(SMALL, tmp_path_factory.mktemp("small"), models=False)
