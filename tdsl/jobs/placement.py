"""What a job would take in another order of its ranks on the same accelerators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from tdsl.fabric.job_ranks import RankedJob
from tdsl.jobs.communication import JobTraffic
from tdsl.jobs.placed import PlacedRanks
from tdsl.jobs.step import StepModel
from tdsl.prove.view import View


def models_by_order(view: View, ranked: RankedJob) -> Iterator[tuple[tuple[str, ...], StepModel]]:
    """The model of a job in every order of its dimensions, the written one first: dimensions innermost first,
    those of one rank left out. Raises JobNotOnNetwork."""
    job = ranked.job
    ranks = PlacedRanks.of(view, ranked)
    traffic = JobTraffic(ranks)
    used = tuple(name for name in job.order if getattr(job, name) > 1)
    alone = tuple(name for name in job.order if name not in used)
    for order in sorted(permutations(used), key=lambda o: o != used):
        other = replace(job, order=(*alone, *order))
        times = tuple(traffic.times_of_job(other))
        yield order, StepModel(other, times, ranks.peak, traffic.delays.missing)
