"""The largest designs, in a few of their pods or sites; whole they take minutes (docs/performance.md has the figures)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdsl.compile.compiler import Request, compile_without_checks
from tests.cli.run import report
from tests.harness import sampled
from tests.soundness.whole_designs import designs_of_pages

DESIGNS = Path(__file__).parents[2] / "benchmarks" / "designs"
LARGEST = ("gpu1m", "gpu262k")
"""Of these `make soundness` makes whole checks, as of all others."""


@pytest.mark.parametrize("design", sampled([d for d in designs_of_pages() if Path(d).stem not in LARGEST], 2))
def test_designs_of_which_pages_have_figures(design: str) -> None:
    made = compile_without_checks(str(DESIGNS.parents[1] / design), Request())
    assert made.designs and not [d.message for d in made.findings if d.severity.word == "error"]


@pytest.mark.slow
@pytest.mark.daily
@pytest.mark.parametrize("pods", [2, 3])
def test_a_few_pods_of_a_million(pods: int) -> None:
    """Every port of leaves and aggregation switches is in use, and two connectors of each core switch go to a pod."""
    fabric = compile_without_checks(str(DESIGNS / "gpu1m.fab"), Request(set=(("pods", str(pods)),))).designs[0].fabric
    assert fabric is not None and fabric.complete
    ends = pods * 16 * 256 * 8 * 8
    assert fabric.link_count == 3 * ends
    assert np.bincount(fabric.link_class).tolist() == [ends] * 3
    assert len(set(fabric.cable_group.tolist())) == 5 * ends // 8


@pytest.mark.daily
def test_one_site_of_a_fleet() -> None:
    (design,) = report(DESIGNS / "gpu600k.fab", "--set", "sites=1")["designs"]
    assert design["ok"]
    assert design["summary"]["accelerators"] == 24_000
    assert {r["check"]: r["status"] for r in design["results"] if r["check"] in ("bisection", "oversubscription", "links")} == {
        "bisection": "proved", "oversubscription": "proved", "links": "proved",
    }  # fmt: skip
