"""Latency: how long a message of no size takes between the two farthest ends of an idle fabric."""

from __future__ import annotations

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.bound import NotBounded
from tdsl.prove.delays import worst_delay
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity, quantity_text
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.workload import TO_SAY


class Latency(Check):
    """How long the farthest two ends of an idle fabric are apart.

    ## What it means
    The time for the first bit from one end to another on the path of least delay, for the two ends for which
    it is longest. Switches, cables and, where their model says it, the ends themselves count; queues and the
    length of a message do not.

    ## Formula and source
    max over pairs of ends of min over paths of Σ `latency` of each device passed + 4.9 ns/m · Σ `length` of
    each cable. Shortest paths after Bellman 1958, in whole femtoseconds. 4.9 ns/m is light in fibre: group
    index 1.468 (ITU-T G.652 fibre at 1,550 nm) over c. In copper it is 4.2 to 4.8 ns/m, so the figure is on
    the safe side.

    ## What it assumes
    Zero load: no queueing, no serialisation, no retries, and the `latency` of a model is port to port. Both
    cables of a link through a panel have the length of its `connect`. Where a connect states none and the
    design has places, a cable has the length to order for it (`tdsl show FILE length CABLE`). The status is
    `modelled`. Where a model has no `latency`, or a cable or trace no `length`, the answer is `skipped`; it
    says what is missing and what the rest adds up to. The catalogue states a latency only where one is
    published; a model in your file, of the same name if you like, can say it.

    ## A design that passes
    ```fab
    model switch SW { port p[64]: 400Gbps; latency 230ns }
    connect leaf[*] to spine[*] spread { length 30m }
    require latency <= 1.1us                                # 3 × 230 ns + 66 m × 4.9 ns/m, with 3 m to the \
hosts
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread { length 2km }       # 19.6 us of light
    require latency <= 10us
    ```

    ### What it prints
    ```
    E0418: `latency <= 10us` does not hold: 20.3194us through leaf0, spine0 and leaf1
    ```
    """

    code = "E0418"
    name = "latency"
    wrong = "Ends too far apart in time"
    kind = "quantity"
    unit = "s"
    dim = TIME
    on_demand = True
    after_failures = True
    reads = frozenset({"lengths"})
    of_ends = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        found = worst_delay(view)
        if found is None:
            return skipped("no two ends reach each other")
        if isinstance(found, NotBounded):
            known = (
                f"; the rest adds up to {quantity_text(Quantity(found.known, TIME))}" if found.known else ""
            )
            help = TO_SAY if any("`" in m for m in found.reasons) else ""
            reason = f"{first_names_and_more(found.reasons, 4)}{known}"
            return Judgement("skipped", reason=reason, witness={"missing": list(found.reasons)}, help=help)
        lower, upper = Quantity(found.lower, TIME), Quantity(found.upper, TIME)
        path = [view.fabric.device_name(d) for d in found.proof_lower.devices]
        text = f"{quantity_text(upper)} through {first_names_and_more(path, 7)}"
        return Judgement("modelled", text, upper, lower, upper, witness={"path": path})
