"""Latency: how long a message of no size takes between the two farthest ends of an idle fabric."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity, quantity_text
from tdsl.verify.check import Check, Judgement, skipped

if TYPE_CHECKING:
    from tdsl.prove.bound import NotBounded

TO_STATE = (
    "write `latency 230ns` where devices are declared, as in `switch leaf[8]: MODEL { latency 230ns }`, or "
    "in a model of your own, and `{ length 30m }` behind a connect"
)


class Latency(Check):
    """How long the farthest two ends of an idle fabric are apart.

    ## What it means
    The time for the first bit from one end to another on the path of least delay, for the two ends for which
    it is longest. Switches, cables and, where it is stated, the ends themselves count; queues and the length
    of a message do not. The answer says whether the ends count.

    ## Formula and source
    max over pairs of ends of min over paths of Σ `latency` of each device passed and of both ends + 4.9 ns/m
    · Σ `length` of each cable. Shortest paths after Bellman 1958, in whole femtoseconds. 4.9 ns/m is light in
    fibre: group index 1.468 (ITU-T G.652 fibre at 1,550 nm) over c. In copper it is 4.2 to 4.8 ns/m, so the
    figure is on the safe side; where a lower bound is given, it is one of this formula.

    ## What it assumes
    Zero load: no queueing, no retries, no serialisation: how long a message is on the wire is no part of it.
    The `latency` of a switch is what its maker states, from port to port at full rate, so it includes
    forward error correction where the maker measured with it, and no `latency` is added for correction or
    modules; a switch that stores whole packets (store and forward) takes the time of a packet more, which
    its `latency` must then say. The `latency` of a host or chip is what it takes itself at each end, once to
    send and once to receive: accelerator, PCIe, adapter and software. No catalogue states one, since it is
    that of a stack: write what was measured, of a model or where devices are declared
    (`host node[32]: DGX_H100 { latency 1us }`). Both cables of a link through a panel have the length of
    its `connect`. Where a connect states none and the design has places, a cable has the length to order for
    it (`tdsl show FILE length CABLE`). The status is `modelled`.

    What is not stated counts as nothing: where a switch has no `latency`, or a cable or trace no `length`,
    the answer is `bounded` from below by all that is known (100 km of fibre are 490 us whatever the switches
    take), and names once what is missing and how often. It can refute `<=` and does not prove it. Ends that
    state nothing are said not to be counted. The catalogue states a latency only where one is published;
    `tdsl explain MODEL` says `not published` elsewhere.

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
    by_formula = True
    after_failures = True
    reads = frozenset({"lengths"})
    of_ends = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.prove.bound import NotBounded
        from tdsl.prove.delays import worst_delay

        found = worst_delay(view)
        if found is None:
            return skipped("no two ends reach each other")
        if isinstance(found, NotBounded):
            return _judgement_of_floor(view, found)
        lower, upper = Quantity(found.lower, TIME), Quantity(found.upper, TIME)
        path = [view.fabric.device_name(d) for d in found.proof_lower.devices]
        text = f"{quantity_text(upper)} through {first_names_and_more(path, 7)}{_words_for_ends(view)}"
        return Judgement("modelled", text, upper, lower, upper, witness={"path": path} | _ends_facts(view))


def _judgement_of_floor(view: View, found: NotBounded) -> Judgement:
    """What is known where something is not stated: a lower bound, or nothing."""
    missing = first_names_and_more(found.reasons, 4)
    help = TO_STATE if any("`" in m for m in found.reasons) else ""
    witness: dict[str, object] = {"missing": list(found.reasons)}
    if not found.known:
        return Judgement("skipped", reason=missing, witness=witness, help=help)
    floor = Quantity(found.known, TIME)
    text = f"at least {quantity_text(floor)}: {missing}{_words_for_ends(view)}"
    return Judgement("bounded", text, floor, floor, inf, witness=witness | _ends_facts(view), help=help)


def _ends_facts(view: View) -> dict[str, object]:
    """What ends that forward nothing take themselves, in seconds by model, None where it is not stated."""
    from tdsl.prove.delays import stated_end_delays

    return {"ends_s": {n: None if t is None else float(t) for n, t in stated_end_delays(view)}}


def _words_for_ends(view: View) -> str:
    """Whether what the ends take themselves is part of the figure, and what of it."""
    from tdsl.prove.delays import stated_end_delays

    ends = stated_end_delays(view)
    stated = [f"{quantity_text(Quantity(t, TIME))} at each {name}" for name, t in ends if t is not None]
    silent = [name for name, t in ends if t is None]
    out = f"; with {first_names_and_more(stated, 4)}" if stated else ""
    if silent and stated:
        return f"{out}, nothing at {first_names_and_more(silent, 4)}"
    return f"; without what {view.unit_word} take themselves" if silent else out
