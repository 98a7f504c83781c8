"""Allreduce: time to add up data over all accelerators, between a floor and a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.verify.check import Check
from tdsl.verify.timed_operation import TimedOperation

if TYPE_CHECKING:
    from tdsl.verify.workload import Operation

IN_NETWORK = "in_network"
"""The condition that switches add up and replicate."""


class AllReduce(TimedOperation, Check):
    """Time to add up data over all accelerators: from a floor to a schedule.

    ## What it means
    `allreduce 140GB`: every accelerator holds 140 GB, and all end up with the sum. The answer is an interval.
    Its lower end is a time that no algorithm beats, its upper end that of a schedule on this wiring, with
    the delays of all its steps. A requirement is `proved` where the schedule keeps it, `refuted` where the
    floor does not, `bounded` in between. The example every reader knows: 140 GB over 100 Gb/s take 11.2 s for
    the bytes alone, and 22.4 s by a ring, as nearly every byte is sent twice.

    ## Formula and source
    The floor is the largest of three. S/C over cuts: the sum of either side must cross, C is what the cut
    carries one way; cuts are around an accelerator, a host, a scale-up domain, and the groups and access
    switches of the design, of these the least cut (maximum flow). 2(h−1) · S/ΣC over divisions into h blocks:
    each part of the data is received 2(h−1) times at least (Patarasuk and Yuan, "Bandwidth optimal all-reduce
    algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69, 2009), ΣC is what the blocks
    receive. And the least delay between the farthest two.

    Schedules are a reduce-scatter and an all-gather, each by stages of messages: on small fabrics along trees
    that are packed by maximum flows (Edmonds, "Edge-disjoint branchings", 1973; ForestColl, arXiv
    2402.06787), and from everybody to everybody, round a ring, by halves, and by levels (a division into
    groups or access switches, then inside each), in a torus by dimension (Barnett et al., "Global combine on
    mesh architectures with wormhole routing", IPPS 1993), and one exchange of sums between two to eight
    groups. Scale-up domains gather and reduce inside while the network works, ranks of the same place in each
    domain exchange over it. Stages follow each other, or overlap, the data in so many chunks that filling
    takes a part in four thousand of the time. All messages of a stage flow at once at rates that fit the
    wiring (`tdsl explain throughput`); a stage takes what its messages take, and the longest delay of its
    routes for every step.

    Where none of these is at the floor, the data is divided among spanning trees of single ranks, whose links
    are paths over both layers at once, scale-up links and the network: each tree is the cheapest under prices
    that a linear program puts on links (column generation: Dantzig and Wolfe 1960), and ranks with equal
    links to the same switches share all roles of a tree evenly. The time is what the fullest link takes, as
    the trees are added up. They are also a schedule where scale-up links alone join some ranks.

    `allreduce 1GB of all rack[0].tray through scaleup` is over scale-up links alone, for hosts of one domain.
    `allreduce 1GB <= 12ms with in_network` is where switches add up and replicate (SHARP, NVLS): what blocks
    receive together is no floor then, and data goes once up and once down trees of switches, where hosts have
    one rank each or ranks have common scale-up switches. Schedules in which no switch adds up count as well.

    Beside it the notes list what formulas of the field say (α-β by ring, recursive halving, tree: Thakur,
    Rabenseifner, Gropp, Int. J. High Perf. Comp. Appl. 19, 2005; hierarchical; and what NCCL expects by ring,
    tree and NVLS, with the constants of its src/graph/tuning.cc): *modelled*, never the judge.

    ## What it assumes
    Ranks of a set (`of all`, `among`) take part alone: a host beside them that could add up is not counted.
    Adding up costs nothing, nor do software and the start of a message. Switches neither add up nor
    replicate, unless a requirement says `with in_network`: then all of them do. Traffic may be divided over
    all paths. An accelerator with scale-up links receives over these and the ports of its host. Where nothing
    says what joins the accelerators of a host, its inside is no limit to the floor, and the schedule sends
    what they exchange over its ports. Where a latency or a length is not known, there is no upper end: what
    is known is said.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r] { length 5m }        # 8 × 400 Gb/s for 8 accelerators
    require allreduce 140GB <= 6s
    ```

    ## A design that fails
    ```fab
    port nic: 100Gbps
    require allreduce 140GB <= 20s
    ```

    ### What it prints
    ```
    E0419: `allreduce 140GB <= 20s` does not hold: at least 22.05s by any algorithm; …
    ```
    22.05 s are 2 · 63/64 · 140 GB over 100 Gb/s, for 64 hosts. The cut and the schedule of a time are shown
    by `tdsl show FILE schedule 'allreduce 1GB'`. Here six hosts are at one switch and two at another, with
    100 Gb/s from one to the other: the sum of either side crosses it, 1 GB in 80 ms.
    ```
    allreduce 1GB: 8 ranks
    floor     80ms, the links that leave big0 and 5 more with the same access switch
    schedule  direct exchange by access switch: 80.0243ms = 80.02ms of sending + 4.294us of known delays
              (stages overlap, 12,000 chunks)
    stage 1   32 messages, 6GB, 80ms; 1 step, 12,000 chunks
    stage 2   12 messages, 1GB, 80ms; 1 step, 12,000 chunks
    stage 3   12 messages, 1GB, 80ms; 1 step, 12,000 chunks
    stage 4   32 messages, 6GB, 80ms; 1 step, 12,000 chunks
    ```
    """

    code = "E0419"
    name = "allreduce"
    wrong = "An all-reduce that takes too long"
    takes = frozenset({"of", "among", "through", "with", "args"})
    conditions = frozenset({IN_NETWORK})
    example = "allreduce 140GB <= 25s"

    def operation(self) -> Operation:
        """The floors and schedules, imported where a requirement asks for them."""
        from tdsl.prove.collective_floors import Floors
        from tdsl.prove.in_network import schedules_with_switches
        from tdsl.prove.rank_trees import schedules_of_sums, trees_of_sums
        from tdsl.verify.collective_models import all_reduce_models
        from tdsl.verify.workload import Operation

        return Operation(
            Floors.all_reduce,
            schedules_of_sums,
            all_reduce_models,
            across=trees_of_sums,
            in_network=Operation(Floors.all_reduce_in_network, schedules_with_switches, across=trees_of_sums),
        )
