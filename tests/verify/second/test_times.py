"""Delays by the second opinion, against the exact search."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.delays import worst_delay
from tdsl.prove.view import View
from tdsl.verify.second import times
from tdsl.verify.second.answer import Limits, NoOpinion
from tdsl.verify.second.wiring import WiringGraph
from tests.prove.test_delays import clos, mesh

LIMITS = Limits()


@pytest.mark.parametrize("make", [clos, mesh])
def test_least_delays_of_the_farthest_ends(make: Callable[[int], Fabric]) -> None:
    """The same as that of the check, which `tests/prove/test_delays.py` judges by networkx."""
    for seed in range(60):
        fabric = make(seed)
        known = worst_delay(View.whole(fabric))
        if known is None:
            with pytest.raises(NoOpinion, match=r"^no two ends reach each other$"):
                times.latency_by_dijkstra(WiringGraph.whole(fabric), None, LIMITS)
            continue
        answer = times.latency_by_dijkstra(WiringGraph.whole(fabric), None, LIMITS)
        assert answer.lower == answer.upper == known.lower, seed  # type: ignore[union-attr]
