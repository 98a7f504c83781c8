"""Least cuts by elimination; what they are is tested in ``test_bisection_of_all_splits.py``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove.elimination import elimination_order, least_cut_by_elimination
from tdsl.prove.network import CapacityPairs


@pytest.mark.parametrize("kind", ["access", "trunks", "loose"])
def test_capacities_that_do_not_fit_are_not_added_up(kind: str) -> None:
    """All links together below 2^61: two units and two nodes, with a link of 1 of each other kind."""
    for total, fits in ((2**60, True), (2**61 - 1, True), (2**62, False)):
        large, one = (CapacityPairs(np.array([0]), np.array([1]), np.array([x], dtype=np.int64)) for x in (total - 2, 1))
        links = {k: large if k == kind else one for k in ("access", "trunks", "loose")}
        net: Any = SimpleNamespace(units=np.arange(2), transit=np.arange(2), half=1, **links)
        assert (elimination_order(net) is not None) == fits
        if fits:
            found = least_cut_by_elimination(net)
            assert found is not None and found[0] == (total - 2 if kind == "loose" else 1) and int(found[1].sum()) == 1
