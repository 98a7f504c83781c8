"""All-gather time: every accelerator ends up with the parts of all, between a floor and a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.verify.check import Check
from tdsl.verify.timed_operation import TimedOperation

if TYPE_CHECKING:
    from tdsl.verify.workload import Operation


class AllGatherTime(TimedOperation, Check):
    """Time for all accelerators to get what each holds: floor and schedule.

    ## What it means
    `all_gather_time 140GB`: n accelerators hold 140 GB together, each an equal part, and all end up with all
    of it. The answer is an interval: no algorithm beats its lower end, and its upper end is the time of a
    schedule on this wiring. A requirement is `proved` where the schedule keeps it, `refuted` where the lower
    end does not, `bounded` in between.

    ## Formula and source
    The lower end is the largest of S·r/n over C, for cuts with r of n ranks on the side whose data crosses: C
    is what the cut carries one way; around an accelerator, a host, a scale-up domain, a group or the units of
    an access switch, of the last two the least cut (maximum flow). By trees that bound is reached (Edmonds,
    "Edge-disjoint branchings", 1973). Of (h−1)·S over what h blocks of ranks receive together, each the rest
    of S. And of the least delay between the farthest two. The upper end is the best of the schedules of
    `tdsl explain allreduce`, one half of them.

    ## What it assumes
    As `tdsl explain allreduce` says: software costs nothing, switches do not replicate or add up, traffic may
    be divided over all paths. Where a latency or a length is not known, there is no upper end: what is known
    is said.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r] { length 5m }        # 8 × 400 Gb/s for 8 accelerators
    require all_gather_time 140GB <= 3s
    ```

    ## A design that fails
    ```fab
    port nic: 100Gbps
    require all_gather_time 140GB <= 10s
    ```

    ### What it prints
    ```
    E0431: `all_gather_time 140GB <= 10s` does not hold: at least 11.025s by any algorithm; …
    ```
    """

    code = "E0431"
    name = "all_gather_time"
    wrong = "An all-gather that takes too long"
    example = "all_gather_time 140GB <= 12s"

    def operation(self) -> Operation:
        """The floors and schedules, imported where a requirement asks for them."""
        from tdsl.prove.collective_floors import Floors
        from tdsl.prove.rank_trees import all_gather_schedules, gathering_trees
        from tdsl.verify.workload import Operation

        return Operation(Floors.all_gather, all_gather_schedules, across=gathering_trees)
