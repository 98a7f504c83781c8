"""The grid of a job's ranks: which ranks are one group of a dimension, in which order."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.semantics.jobs import Job


def groups_of_dimension(job: Job, dimension: str) -> Ints:
    """The groups of a dimension, a row a group: ranks in the order in which the group counts them. Rank r is
    that of the grid whose innermost dimension comes first in ``order``. Groups of `data` also span `context`;
    those of `expert` are runs of so many of these ranks, and `experts' data` those of the same place in each
    run."""
    outermost_first = tuple(reversed(job.order))
    grid = np.arange(job.ranks, dtype=np.int64).reshape([getattr(job, name) for name in outermost_first])
    if dimension in ("tensor", "context", "pipeline"):
        axis = outermost_first.index(dimension)
        return np.moveaxis(grid, axis, -1).reshape(-1, getattr(job, dimension))
    both = [name for name in outermost_first if name in ("data", "context")]
    axes = [outermost_first.index(name) for name in both]
    beside: Ints = np.moveaxis(grid, axes, [-2, -1]).reshape(-1, job.data * job.context)
    if dimension == "data":
        return beside
    runs = beside.reshape(len(beside), -1, job.expert)
    if dimension == "expert":
        return runs.reshape(-1, job.expert)
    return np.swapaxes(runs, 1, 2).reshape(-1, runs.shape[1])
