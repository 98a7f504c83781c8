"""Rail alignment in words: designs without rails, and exchanged cables of one host among several units."""

from __future__ import annotations

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import Builder, superpod, swapped


def wired(*links: tuple[int, int, int], nics: int = 3, switches: int = 3) -> Fabric:
    """Hosts with NICs: each link is a host, its NIC and a switch."""
    b = Builder("wired")
    node = b.devices("node", b.model("host", "NODE", {"nic": nics}, accelerators=1), 4)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 16}), switches)
    for host, nic, switch in links:
        b.link(b.port(node, host, "nic", nic), b.free(sw, switch))
    return b.build()


@pytest.mark.parametrize(
    ("links", "why", "name", "nics"),
    [
        # Switch 0 serves one rail, 1 and 2 each serve three.
        (
            ((0, 0, 0), (1, 0, 1), (1, 1, 1), (1, 2, 1), (2, 1, 2), (2, 2, 2), (2, 0, 2)),
            "sw1 serves 3 rails: node[1].nic[0] and node[1].nic[1] are connected to it",
            "sw1",
            ["node[1].nic[0]", "node[1].nic[1]"],
        ),
        # All switches serve the same rail.
        (
            ((0, 1, 1), (1, 1, 2), (2, 1, 2)),
            "sw1 serves rail 1, as all others do: node[0].nic[1] are connected to it",
            "sw1",
            ["node[0].nic[1]"],
        ),
    ],
)
def test_designs_without_rails(links: tuple[tuple[int, int, int], ...], why: str, name: str, nics: list[str]) -> None:
    found = checks_by_name()["rail_alignment"].judge(View.whole(wired(*links)), None)
    reason = "the design is not rail-organised"
    assert (found.status, found.reason, found.witness) == ("skipped", reason, {"switch": name, "nics": nics})
    assert [(x.message, x.count) for x in found.faults] == [(f"{reason}: {why}", 1)]


@pytest.mark.parametrize("unit", [0, 1])
def test_exchanged_cables_of_a_host(unit: int) -> None:
    """Two units of four hosts, four rails each: NIC 2 and 3 of the second host are exchanged, and belong to its own unit."""
    f = superpod(units=2, nodes=4, rails=4, spines=2, omit_last=False, manager=False).build()
    first = unit * 16 + 4
    found = checks_by_name()["rail_alignment"].judge(View.whole(swapped(f, first + 2, first + 3)), None)
    node, base = f"su[{unit}].node[1].nic", next(s.first for s in f.sets if s.name == "leaf") + 4 * unit
    leaves = [f.device_name(base + rail) for rail in range(4)]
    words = f"{node}[2] is connected to {leaves[3]}, which serves rail 3; those of its siblings are connected to {leaves[2]}"
    assert found.status == "refuted"
    assert [(x.message, x.count, x.help) for x in found.faults] == [
        (f"{words} (and 1 more)", 2, "connect it to the switch of rail 2")
    ]
    assert found.witness["nic"] == f"{node}[2]"
    assert (found.witness["found"], found.witness["expected"]) == (leaves[3], leaves[2])
