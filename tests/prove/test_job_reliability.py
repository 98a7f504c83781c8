"""Formulas of checkpoints, goodput and spares against the figures of their papers, and spares against scipy."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.prove.job_reliability import (
    daly_interval,
    expected_training_time_ratio,
    spares_for_confidence,
    young_interval,
)
from tests.harness import compile_text

HOUR, DAY = 3600, 86400
LLAMA = Fraction(54 * DAY, 419)  # Llama 3: 419 unexpected interruptions in 54 days of 16,384 GPUs
RSC = Fraction(65, 10_000) / DAY  # RSC-1: 6.5 failures per 1,000 node-days


@pytest.mark.parametrize(
    ("figure", "published", "within"),
    [
        (LLAMA / HOUR, 3.09, 0.005),
        (Fraction(54 * 24, 42), 30.9, 0.05),  # of switches, cables and NICs
        (1 / (2048 * RSC) / HOUR, 1.80, 0.005),
        (1 / (16_384 * RSC) / HOUR, 0.225, 0.0005),
        (1 / (128 * RSC) / HOUR, 28.8, 0.05),  # where 7.9 h were measured
        (young_interval(Fraction(30), Fraction("3.09") * HOUR), 817, 0.5),
        (expected_training_time_ratio(2048 * RSC, Fraction(300), Fraction(300), Fraction(0)), 0.931, 0.0005),
        (Fraction(57, 100_000) / Fraction("730.5") * 10**9, 780, 0.5),  # FIT of a link of HPN
        (16_384 * 54 * Fraction(57, 100_000) / Fraction("30.4375"), 16.6, 0.05),  # access links of Llama 3 at that rate
    ],
)  # fmt: skip
def test_published_figures(figure: Fraction, published: float, within: float) -> None:
    assert abs(float(figure) - published) <= within


def test_130_of_144_cubes_at_95_percent() -> None:
    """TPU v4: the availability of a cube that is asked for lies at 0.9347."""
    enough = [spares_for_confidence(130, 1 - Fraction(a, 10_000), Fraction(95, 100), 99) for a in (9340, 9347, 9354)]
    assert [e is not None and e[0] for e in enough] == [15, 14, 14]


def test_spares_are_those_of_scipy() -> None:
    from scipy.stats import binom  # it takes half a second, which each process that collects the tests would spend

    rng, numbers = Random(3), np.arange(400)
    for _ in range(60):
        needed, down = rng.randint(1, 300), Fraction(rng.randint(1, 200), 1000)
        confidence = Fraction(rng.choice((5000, 9000, 9900, 9999)), 10_000)
        found = spares_for_confidence(needed, down, confidence, 4096)
        held = binom.cdf(numbers, needed + numbers, float(down)).tolist()
        assert found is not None
        spares, share = found
        assert abs(float(share) - held[spares]) < 1e-9 and held[spares] >= float(confidence) - 1e-9
        assert not spares or held[spares - 1] < float(confidence) + 1e-9


def test_daly_is_near_the_optimum_of_the_model() -> None:
    """Of the time that Daly's own model expects, within a part in a thousand of the least."""
    import math

    for write, mtbf in ((30.0, 11_124.0), (300.0, 3_600.0), (5.0, 648.0)):

        def cost(t: float, w: float = write, m: float = mtbf) -> float:
            return m * (math.exp((t + w) / m) - 1) / t

        best = min(cost(t) for t in [write * 1.02**k for k in range(1, 200)])
        assert cost(float(daly_interval(Fraction(write), Fraction(mtbf)))) <= 1.001 * best
    assert daly_interval(Fraction(100), Fraction(50)) == 50


def test_the_same_figures_of_a_design(tmp_path: Path) -> None:
    """2,048 nodes of eight NICs: rates of nodes and links apart; a job on 128 of them."""
    text = """
    model host N { port nic: 100Gbps; chip gpu[8]: G }
    model chip G { port lane: 400Gbps }
    model switch SW { port p[1..2048]: 100Gbps }
    fabric f {
      param size = 2048
      host node[size]: N { fails 0.65%/day }
      switch sw: SW { fails never }
      connect node[n].nic to sw.p[n + 1] { fails 0.057%/month }
      report failures_per_day of node
      report failures_per_day of network
      JOB
      report checkpoint_interval write 30s mtbf 3.09h
      report goodput nodes 2048 node_mtbf 3692h interval 5min restart 5min
    }
    """
    texts = text.replace("JOB", ""), text.replace("JOB", "report job_mtbf of node[0..127]").replace("size = 2048", "size = 160")
    both = [compile_text(x, tmp_path, models=False).designs[0].results for x in texts]
    nodes, network, young, goodput = (r for r in both[0] if r.requirement)
    (job,) = (r for r in both[1] if r.requirement and r.check == "job_mtbf")
    assert nodes.value == 2048 * RSC * DAY and abs(float(network.value) * 54 * 8 - 16.6) < 0.05
    of_job = 128 * (RSC + Fraction(57, 100_000) / (Fraction("730.5") * HOUR))
    assert job.value.amount == 1 / of_job and abs(float(job.value.amount) / HOUR - 28.8) < 0.1
    assert "13.62 min by Young" in young.text and abs(float(goodput.value) - 0.931) < 0.0005
    assert {r.status for r in (nodes, network, job, young, goodput)} == {"modelled"}
