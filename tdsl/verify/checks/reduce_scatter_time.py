"""Reduce-scatter time: every accelerator ends up with a part of the sum, between a floor and a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.verify.check import Check
from tdsl.verify.timed_operation import TimedOperation

if TYPE_CHECKING:
    from tdsl.verify.workload import Operation


class ReduceScatterTime(TimedOperation, Check):
    """Time to add up data, a part for each accelerator: floor and schedule.

    ## What it means
    `reduce_scatter_time 140GB`: each of n accelerators holds 140 GB, and ends up with its nth part of the sum
    of all. It is an all-gather the other way in time, so both take the same. The answer is an interval: no
    algorithm beats its lower end, and its upper end is the time of a schedule on this wiring. A requirement
    is `proved` where the schedule keeps it, `refuted` where the lower end does not, `bounded` in between.

    ## Formula and source
    That of `tdsl explain all_gather_time`, with every message the other way: what leaves a side here is what
    enters it there.

    ## What it assumes
    What `tdsl explain all_gather_time` says.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r] { length 5m }        # 8 × 400 Gb/s for 8 accelerators
    require reduce_scatter_time 140GB <= 3s
    ```

    ## A design that fails
    ```fab
    port nic: 100Gbps
    require reduce_scatter_time 140GB <= 10s
    ```

    ### What it prints
    ```
    E0432: `reduce_scatter_time 140GB <= 10s` does not hold: at least 11.025s by any algorithm; …
    ```
    """

    code = "E0432"
    name = "reduce_scatter_time"
    wrong = "A reduce-scatter that takes too long"
    example = "reduce_scatter_time 140GB <= 12s"

    def operation(self) -> Operation:
        """The floors and schedules, imported where a requirement asks for them."""
        from tdsl.prove.collective_floors import Floors
        from tdsl.prove.rank_trees import reduce_scatter_schedules, scattering_trees
        from tdsl.verify.workload import Operation

        return Operation(Floors.all_gather, reduce_scatter_schedules, across=scattering_trees)
