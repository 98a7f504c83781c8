"""The second opinion's figures by hand; on random fabrics ``test_against_the_checks.py`` compares them with the checks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.verify.second import graph_figures
from tdsl.verify.second.answer import Limits, NoOpinion, SecondAnswer
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import claim, selector, torus
from tests.harness import compile_text
from tests.prove.networks import wired
from tests.prove.test_elements import NAMED, TEXT
from tests.verify.second.made import RATE, leaves, rates

LIMITS = Limits()


def figure(method: Callable[..., SecondAnswer], fabric: Fabric, **given: Any) -> Any:
    """The second figure of a check without arguments."""
    return method(WiringGraph.whole(fabric), claim(fabric, method.__name__, report=True, **given), LIMITS).lower


@pytest.mark.parametrize("sizes", [(3,), (5,), (3, 3), (4, 3)])
def test_tori(sizes: tuple[int, ...]) -> None:
    """Two links a dimension, each of them a way of its own."""
    f = torus(*sizes).build()
    for method in (graph_figures.edge_redundancy_by_networkx, graph_figures.node_redundancy_by_networkx):
        assert figure(method, f) == 2 * len(sizes)
    assert figure(graph_figures.diameter_by_networkx, f) == sum(n // 2 for n in sizes)


def test_links_ports_bundles_and_cages_that_fail(tmp_path: Path) -> None:
    """The same devices and links as a requirement names by the check's own reading."""
    text = TEXT.replace("REPORTS", "\n  ".join(f"report survives any 1 {asked}" for asked, _ in NAMED))
    design = compile_text(text, tmp_path, verify=False).designs[0]
    assert design.fabric is not None
    for (asked, wanted), made in zip(NAMED, design.claims, strict=True):
        if not asked.startswith("cables"):
            found = graph_figures.elements_that_may_fail(WiringGraph.whole(design.fabric), made)
            assert sorted((sorted(e.devices), sorted(e.links)) for e in found) == sorted(
                (d, x) for _, d, x, n in wanted for _ in range(n)
            ), asked


PAIR = wired("h0-h1*2")
"""Two hosts joined by two cables, without a switch."""
ALONE = "there are fewer than two units"
NO_PATH = "no two ends reach each other"


@pytest.mark.parametrize(
    ("method", "fabric", "given", "why"),
    [
        ("diameter", PAIR, {}, "no end is attached to a switch"),
        ("mean_hops", PAIR, {}, NO_PATH),
        ("mean_hops", rates(RATE, 0), {}, NO_PATH),
        ("edge_redundancy", rates(RATE), {}, ALONE),
        ("node_redundancy", rates(RATE), {}, ALONE),
        ("blast_radius", PAIR, {"through": "scaleup"}, "scale-up domains have no second method"),
        ("blast_radius", PAIR, {"any_of": "links"}, "only devices and groups are failed a second time"),
        ("oversubscription", torus(3).build(), {}, "the fabric is direct: it has no tiers"),
        ("oversubscription", leaves().build(), {}, "no switch looked at has links to a tier above it"),
    ],
)
def test_figures_without_an_answer(method: str, fabric: Fabric, given: dict[str, Any], why: str) -> None:
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        figure(getattr(graph_figures, f"{method}_by_networkx"), fabric, **given)


@pytest.mark.parametrize(("trunk", "ratio"), [(0, float("inf")), (1, Fraction(2)), (2, Fraction(1)), (4, Fraction(1, 2))])
def test_taper_of_a_leaf(trunk: int, ratio: Fraction | float) -> None:
    """A leaf has 2 x 400G to hosts and `trunk` x 400G to the other leaf."""
    fabric = leaves(trunk=trunk).build()
    assert figure(graph_figures.taper_by_networkx, fabric, of=(selector(fabric, "leaf"),)) == ratio


def test_blast_radius_of_a_leaf() -> None:
    """With a leaf its two hosts lose their path; the other two still reach each other."""
    for fabric, path, lost in ((leaves().build(), "leaf", 2), (leaves().build(), "node", 1), (rates(RATE, RATE, RATE), "sw", 3)):
        assert figure(graph_figures.blast_radius_by_networkx, fabric, of=(selector(fabric, path),)) == lost
