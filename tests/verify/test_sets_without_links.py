"""The second opinion on the throughput between two sets of which one has no link."""

from __future__ import annotations

import pytest

from tdsl.verify.second import graph_figures
from tdsl.verify.second.answer import Limits, NoOpinion
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import Builder, claim, selector


@pytest.mark.parametrize("sides", [("lone", "node"), ("node", "lone"), ("lone", "bare")])
def test_throughput_of_sets_without_links(sides: tuple[str, str]) -> None:
    b = Builder("fabric")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}), 2)
    b.devices("lone", b.model("host", "LONE", {"nic": 1}), 2)
    b.devices("bare", b.model("host", "BARE", {"nic": 1}), 1)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 4}), 1)
    b.connect("connect")
    for n in range(2):
        b.link(b.free(node, n), b.free(leaf, 0))
    f = b.build()
    one, two = (selector(f, path) for path in sides)
    with pytest.raises(NoOpinion, match="one of the two has no link"):
        graph_figures.throughput_between_by_networkx(
            WiringGraph.whole(f), claim(f, "throughput", of=(one,), of_to=(two,)), Limits()
        )
