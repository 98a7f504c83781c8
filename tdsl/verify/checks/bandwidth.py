"""Bandwidth: what two sets of devices can exchange, or what one can send."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.view import View
from tdsl.semantics.model_figures import both_ways_text
from tdsl.semantics.quantity import RATE, Quantity
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, exactly, skipped

if TYPE_CHECKING:
    from tdsl.prove.set_bandwidth import SetBandwidth


class Bandwidth(Check):
    """What two sets of devices can exchange, or what one can send.

    ## What it means
    | requirement | figure |
    |---|---|
    | `bandwidth of A to B` | the sum of the rates of the links that join A and B; where none does, the \
maximum flow from A to B |
    | `bandwidth of A to A` | the sum over the links that join different elements of A: racks, groups, hosts |
    | `bandwidth of S` | what the hosts and chips in S can send together; of switches alone these |

    With `through scaleup` the links are those of the scale-up layer: `bandwidth of rack[0] through scaleup`
    is what the accelerators of a rack send each other (NVLink), also where their links are inside hosts. The
    figure that is compared is one way; the answer has it both ways, too, as data sheets and introductions
    often do, in bit/s and byte/s, and says by which of the three ways it was found.

    ## Formula and source
    Σ rate of each link between the sets; of one set Σ rate over the ends of links at its hosts and chips. A
    link of 400 Gb/s sends as much each way, so both ways are twice as much. Maximum flow: Dinic (Soviet
    Mathematics Doklady 11, 1970); hosts pass nothing on.

    ## What it assumes
    Nominal rates: no coding, headers or protocol are taken off. The links that join two sets are what they
    have between them directly; ways over others may carry more: `throughput of A to B` is the maximum flow
    whatever joins them, and a share. `bandwidth of S` says what can leave ports, not that somebody can take
    it: `bisection` and `throughput` do.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 4            # 2 × 2 × 4 of 400 Gb/s
    require bandwidth of leaf[*] to spine[*] >= 1.6Tbps
    ```

    ## A design that fails
    ```fab
    connect dc[0].gateway to dc[1].gateway x 8
    require bandwidth of dc[0] to dc[1] >= 1TB/s      # 8 × 400 Gb/s are 0.4 TB/s
    ```

    ### What it prints
    ```
    E0413: `bandwidth of dc[0] to dc[1] >= 1TB/s` does not hold: 3.2Tbps (400GB/s) one way, 6.4Tbps \
(800GB/s) both ways: 8 links join them
    ```
    """

    code = "E0413"
    name = "bandwidth"
    wrong = "Too little bandwidth"
    kind = "quantity"
    cost = 1
    unit = "bit/s"
    dim = RATE
    on_demand = True
    scarce = True
    takes = frozenset({"of", "to", "through"})
    needs = frozenset({"of"})
    reads_of = True
    example = "bandwidth of A to B >= 1TB/s"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.prove.set_bandwidth import bandwidth_of_claim

        assert claim is not None
        found = bandwidth_of_claim(view, claim)
        if isinstance(found, str):
            return skipped(found)
        text = f"{both_ways_text(found.bps)}: {_words_for_origin(found, claim)}"
        witness: dict[str, object] = {
            "by": found.by,
            "bytes_per_s": found.bps / 8,
            "both_ways_bytes_per_s": found.bps / 4,
        }
        witness |= {found.by: found.count} if found.count else {}
        return exactly(Quantity(Fraction(found.bps), RATE), text, witness)


def _words_for_origin(found: SetBandwidth, claim: ResolvedClaim) -> str:
    """How the figure was found."""
    beside = "scale-up " if claim.through else ""
    match found.by:
        case "links":
            join = "joins" if found.count == 1 else "join"
            return f"{counted_noun(found.count, f'{beside}link')} {join} them"
        case "flow":
            reach = (
                "the maximum flow, since no {}link joins them"
                if found.bps
                else "no way of {}links joins them"
            )
            return reach.format(beside)
        case "accelerators" if found.count:
            return f"scale-up links of {counted_noun(found.count, 'accelerator')}"
        case "accelerators":
            return "its scale-up links"
        case _:
            return f"{counted_noun(found.count, 'port')} in use"
