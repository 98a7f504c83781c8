"""All-to-all time: every accelerator sends a part of its data to every other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.verify.check import Check
from tdsl.verify.timed_operation import TimedOperation

if TYPE_CHECKING:
    from tdsl.verify.workload import Operation


class AllToAllTime(TimedOperation, Check):
    """Time of an exchange between all accelerators: from a floor to a schedule.

    ## What it means
    `all_to_all_time 1GB`: every accelerator holds 1 GB in equal parts, one for each accelerator, and all
    parts reach theirs. The answer is an interval: no algorithm beats its lower end, and at its upper end all
    parts have arrived, each sent directly. A requirement is `proved` where the upper end does, `refuted`
    where the lower end does not, `bounded` in between.

    ## Formula and source
    n ranks, S bits each, λ what every ordered pair of ranks can have at once, between two bounds (`tdsl
    explain throughput`). The upper end is S/n over the lower bound of λ, which has routes, and the longest
    delay of these. The lower end is the largest of S/n over the upper bound of λ (lengths of links, cuts
    among them), of S·r(n−r)/n over what can leave a block of r ranks (an accelerator, a host, a scale-up
    domain, a group of the design), and of the least delay between the farthest two. Where a host
    has links to several devices, it could hand on what is not for it: then the first of these is left out, as
    paths of λ pass no host, and delays are those of paths through hosts. (Dally and Towles,
    "Principles and practices of interconnection networks", 2004, chapter 3; Shahrokhi and Matula, J. ACM 37,
    1990.)

    ## What it assumes
    Parts are equal and traffic may be divided over all paths; software costs nothing. What leaves a host is
    handed to its ports over its scale-up domain, which carries that and what stays inside. Where nothing says
    what joins the accelerators of a host, what they send each other uses its ports. Where a latency or a
    length is not known, there is no upper end: what is known is said.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 32 { length 30m } # as much up as down
    require all_to_all_time 1GB <= 20ms                    # 8 Gbit at 400 Gb/s
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread x 16                # half of it
    require all_to_all_time 1GB <= 19ms
    ```

    ### What it prints
    ```
    E0425: `all_to_all_time 1GB <= 19ms` does not hold: at least 20ms by any algorithm; …
    ```
    """

    code = "E0425"
    name = "all_to_all_time"
    wrong = "An all-to-all that takes too long"
    cost = 3
    example = "all_to_all_time 1GB <= 50ms"

    def operation(self) -> Operation:
        """The floors and schedules, imported where a requirement asks for them."""
        from tdsl.prove.collective_floors import Floors
        from tdsl.prove.exchange_times import uniform_exchange_times
        from tdsl.verify.workload import Operation

        return Operation(Floors.all_to_all, exchange=uniform_exchange_times)
