"""Hosts with one link, to a chip that forwards: they are no class with that chip."""

from __future__ import annotations

from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.view import View
from tests.fabrics import Builder, torus
from tests.verify import judges
from tests.verify.test_links_that_separate import separated


def test_a_host_on_a_chip_has_the_links_of_its_own() -> None:
    """A ring of chips, each with two links to the next; one host, and then two, on the first or the last of them."""
    for count in (3, 4, 5):
        for places in ((0,), (count - 1,), (0, 0), (0, 1)):
            b = Builder("ring")
            chip = b.devices("c", b.model("chip", "C", {"p": 9}, accelerators=1), count)
            host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), len(places))
            for i in range(count):
                for _ in range(2):
                    b.link(b.free(chip, i), b.free(chip, (i + 1) % count))
            for h, at in enumerate(places):
                b.link(b.free(host, h), b.free(chip, at))
            f = b.build()
            found = disjoint_paths(View.whole(f))
            assert found.lower == found.upper == judges.redundancy(f) == separated(f, found) == 1
    assert disjoint_paths(View.whole(torus(4).build())).lower == 2
