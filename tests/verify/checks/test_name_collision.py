"""Names in a cluster. Those that two devices share are in ``judged`` and in ``tests/checks``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tdsl.fabric.cluster import join_fabrics
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import Builder


def fabric(name: str, prefix: str = "") -> Fabric:
    b = Builder(name)
    b.devices("leaf", b.model("switch", "SW", {"p": 2}), 3)
    made = b.build()
    return replace(made, sets=tuple(replace(s, prefix=prefix) for s in made.sets))


@pytest.mark.parametrize(("prefixes", "devices"), [(("", ""), 3), (("f", "g"), 6)])
def test_a_fabric_beside_its_like(prefixes: tuple[str, str], devices: int) -> None:
    """What is declared once for several fabrics is one device, and has one name; what each declares has one of its own."""
    f, g = (fabric(name, prefix) for name, prefix in zip("fg", prefixes, strict=True))
    whole = join_fabrics("all", [f, replace(f, name="g") if not prefixes[0] else g], f.origin, Diagnostics())
    assert whole is not None and whole.device_count == devices
    found = checks_by_name()["name_collision"].judge(View.whole(whole), None)
    assert (found.status, found.text) == ("proved", "every device has a name of its own, in all fabrics of the cluster")
