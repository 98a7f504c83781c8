"""Designs of which one method alone gives the bound: without it these intervals are wider (docs/proofs.md names them)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tdsl.certificates.write import verified_certificates
from tdsl.compile.compiler import Request, compile_without_checks
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.view import View
from tdsl.verify.runner import judge_requirements
from tests.fabrics import claim

DESIGNS = Path(__file__).parents[2] / "benchmarks" / "designs"


def fabric(source: Path | str, name: str) -> Fabric:
    """The fabric of that name in a design."""
    found = next(d.fabric for d in compile_without_checks(str(source), Request()).designs if d.name == name)
    assert found is not None
    return found


def test_placements_of_few_switches_close_an_uneven_last_pod() -> None:
    found = bisection_bounds(View.whole(fabric(DESIGNS / "uneven_pod.fab", "llama16k")))
    assert (found.lower, found.upper) == (2368, 2368)


def test_the_spectrum_narrows_a_twisted_torus() -> None:
    found = bisection_bounds(View.whole(fabric(DESIGNS / "twisted.fab", "twisted_xy")))
    assert found.lower >= 57
    assert found.upper <= 64


def test_restored_links_narrow_a_fat_tree_that_lost_twenty() -> None:
    f = fabric("ft3", "ft3")
    whole = View.whole(f)
    lost = np.zeros(f.link_count, dtype=np.bool_)
    lost[np.random.default_rng(20).choice(whole.rows[whole.trunks], 20, replace=False)] = True
    found = bisection_bounds(whole.without(np.zeros(f.device_count, dtype=np.bool_), lost))
    assert found.lower >= 492
    assert found.upper <= 512


def test_a_certificate_that_shows_less_than_the_spectrum_says_so() -> None:
    f = fabric(DESIGNS / "twisted.fab", "twisted_xy")
    found = bisection_bounds(View.whole(f))
    proved = found.lower * found.net.grain
    claims = [claim(f, "bisection", report=True)]
    made = verified_certificates(f, claims, judge_requirements(f, claims, Diagnostics()))
    shown = json.loads(made.texts["bisection.json"])["lower_bps"]
    assert shown < proved and made.weaker == {"bisection.json": f"at least {shown:,} bit/s, of which {proved:,} are proved"}
