"""Transfer: the time to send data from one set of devices to another, between a floor and a flow."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.semantics.quantity import RATE, TIME, Quantity, quantity_text
from tdsl.verify.check import Check, Judgement, skipped

if TYPE_CHECKING:
    from tdsl.prove.transfer_times import TransferTime


class Transfer(Check):
    """Time to send data from one set of devices to another: floor and flow.

    ## What it means
    `transfer 65.5TB of hosts to filers`: the first set holds so much together, in parts as is best, and all
    of it reaches the second, in whatever parts. With `each` every member of the first set holds so much:
    `transfer 80GB each of hosts to filers`. Of a group its hosts or chips are meant, or all of it where it
    has none. The answer is an interval: no way of sending beats its lower end, and its upper end is the time
    of a flow at a constant rate. They differ by delays alone.

    ## Formula and source
    8·S/F + d: F the maximum flow in bit/s from the first set to the second (Dinic; `tdsl explain
    throughput`), d the least delay from one to the other; at the upper end the delay of the flow's longest
    path (flows over time: Ford and Fulkerson, Operations Research 6, 1958). With `each` it is 8·S/λ, λ the
    greatest rate that all members have at once: the least, over cuts, of what a cut carries for each member
    behind it; at the upper end with the delay of any path.

    ## What it assumes
    Software, discs and the start of a message cost nothing. Hosts of neither set pass nothing on. Traffic may
    be divided over all paths. Where a latency or a length is not known, there is no upper end: what is known
    is said.

    ## A design that passes
    ```fab
    connect node[n].nic to leaf { length 5m }              # 16 hosts at 400 Gb/s
    require transfer 8TB of node to store <= 11s
    ```

    ## A design that fails
    ```fab
    connect node[n].nic to leaf { length 5m }              # the store has two ports of 400 Gb/s
    require transfer 8TB of node to store <= 60s
    ```

    ### What it prints
    ```
    E0433: `transfer 8TB of node to store <= 60s` does not hold: 80s: 800Gbps flow
    ```
    """

    code = "E0433"
    name = "transfer"
    wrong = "A transfer that takes too long"
    kind = "quantity"
    cost = 2
    unit = "s"
    dim = TIME
    on_demand = True
    after_failures = True
    reads = frozenset({"lengths"})
    takes = frozenset({"of", "to", "args"})
    needs = frozenset({"of", "to", "args"})
    example = "transfer 65.5TB of hosts to filers <= 10s"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.prove.transfer_times import EACH, time_of_transfer
        from tdsl.verify.workload import message_size_of_claim, why_size_is_refused

        example = "transfer 1GB of A to B"
        wrong = why_size_is_refused(self.name, claim, example)
        size = message_size_of_claim(claim)
        if claim is None or size is None or wrong:
            return skipped(wrong)
        if claim.args[1:] not in ((), (EACH,)):
            return skipped(f"`transfer` takes a size and `{EACH}`: write `transfer 1GB {EACH} of A to B`")
        if not claim.of_to:
            return skipped(f"it is between two sets: write `{example}`")
        found = time_of_transfer(view, claim)
        if isinstance(found, str):
            return skipped(found)
        return _transfer_judgement(size, found)


def _transfer_judgement(size: Fraction, found: TransferTime) -> Judgement:
    """The interval of a transfer as an answer."""
    from tdsl.verify.workload import TO_SAY

    least, most = (size * found.senders / rate for rate in (found.most, found.rate))
    low, high = (Quantity(t, TIME) for t in (least + found.least_delay, most + found.longest_delay))
    exact = low.amount == high.amount
    rate = f"{quantity_text(Quantity(found.rate, RATE))} flow"
    if found.unknown:
        text = f"at least {quantity_text(low)}: {rate}; missing: {first_names_and_more(found.unknown, 2)}"
    elif exact:
        text = f"{quantity_text(low)}: {rate}"
    else:
        text = f"between {quantity_text(low)} and {quantity_text(high)}: {rate}"
    return Judgement(
        "proved" if exact and not found.unknown else "bounded",
        text,
        high,
        low,
        inf if found.unknown else high,
        witness={
            "flow_bps": int(found.rate) if found.rate.denominator == 1 else float(found.rate),
            "sending_s": float(most),
            "least_delay_s": float(found.least_delay),
            "longest_delay_s": float(found.longest_delay),
        },
        help=TO_SAY if found.unknown else "add links where the cut is",
    )
