"""What a job would take in another order of its ranks on the same accelerators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

from tdsl.fabric.job_ranks import RankedJob
from tdsl.jobs.communication import JobTraffic
from tdsl.jobs.placed import PlacedRanks
from tdsl.jobs.step import StepModel, with_efficiency
from tdsl.prove.view import View


def models_by_order(view: View, ranked: RankedJob) -> Iterator[tuple[tuple[str, ...], StepModel]]:
    """The model of a job in every order of its dimensions, the written one first: dimensions innermost first,
    those of one rank left out. All have the efficiency of the first. Raises JobNotOnNetwork."""
    job = ranked.job
    ranks = PlacedRanks.of(view, ranked)
    traffic = JobTraffic(ranks)
    used = tuple(name for name in job.order if getattr(job, name) > 1)
    alone = tuple(name for name in job.order if name not in used)
    efficiency = Fraction(0)
    for order in sorted(permutations(used), key=lambda o: o != used):
        other = replace(job, order=(*alone, *order))
        times = tuple(traffic.times_of_job(other))
        model = StepModel(other, times, ranks.peak, traffic.delays.missing)
        efficiency = efficiency or (model.efficiency if model.peak else Fraction(0))
        yield order, with_efficiency(model, efficiency) if efficiency > 0 else model
