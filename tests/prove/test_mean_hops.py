"""Mean hops between all pairs of units."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import pytest

from tdsl.prove.bound import Bound, HopSum, NotBounded
from tdsl.prove.mean_hops import mean_hops
from tdsl.prove.view import View
from tests.fabrics import rail_only, random_chips, random_fabric, random_layers, superpod, torus
from tests.prove.mixed_fabrics import attached, graph, mixed, units, views
from tests.prove.networks import wired


def mean(view: View) -> None:
    """Over all ordered pairs of connections of different units: hops, pairs that reach each other, and all pairs."""
    own, n = set(units(view)), view.fabric.device_count
    ends = [(end, node) for end, _, node, _ in attached(view) if end in own and node < n]
    far = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph(view))))
    pairs = [(v, x) for u, v in ends for w, x in ends if u != w]
    hops = [far[v][x] for v, x in pairs if x in far[v]]
    found = mean_hops(view)
    if len({end for end, _ in ends}) < 2 or not hops:
        reason = f"fewer than two {view.unit_word} are attached to a switch" if not pairs else "no two ends reach each other"
        assert isinstance(found, NotBounded) and found.reasons == (reason,)
        return
    assert isinstance(found, Bound) and found.lower == found.upper == Fraction(sum(hops), len(hops))
    assert found.proof_lower == found.proof_upper == HopSum(sum(hops), len(hops), len(pairs))


@pytest.mark.parametrize("seed", range(24))
def test_mean_hops_of_all_pairs(seed: int) -> None:
    for view in views(mixed(seed), seed):
        mean(view)
    for made in (random_fabric(seed), random_layers(seed), random_chips(seed, 6, 3 + seed % 9)):
        mean(View.whole(made.build()))


def ring(count: int, *hosts: tuple[int, ...]) -> str:
    """A ring of switches; of each host the switches that it has a link to."""
    text = [f"s{s}-s{(s + 1) % count}" for s in range(count)]
    return " ".join(text + [f"h{h}-s{s % count}" for h, at in enumerate(hosts) for s in at])


RINGS = (
    # two hosts a switch: of one link each, of two links to one switch, and to neighbouring switches
    ring(5, *((h // 2,) for h in range(10))),
    ring(5, *((h // 2, h // 2) for h in range(10))),
    ring(5, *((h // 2, h // 2 + 1) for h in range(10))),
    # equivalent switches with one host and two in turn; or with two each, of which one has a link to the next switch, too
    ring(6, *((s,) for s in (0, 1, 1, 2, 3, 3, 4, 5, 5))),
    ring(6, (0,), (0, 1), *((h // 2,) for h in range(2, 12))),
)


def test_mean_hops_of_symmetric_fabrics() -> None:
    """One search is enough where all nodes are equivalent, but for units that are connected to several nodes."""
    for made in (torus(3, 4), torus(5), torus(2, 3), superpod(2, 4, 2, 2), rail_only()):
        mean(View.whole(made.build()))
    for text in RINGS:
        mean(View.whole(wired(text)))
