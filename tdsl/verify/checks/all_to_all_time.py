"""All-to-all time: every accelerator sends a part of its data to every other, by a model."""

from __future__ import annotations

from fractions import Fraction

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.collective_bounds import Blocks
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME
from tdsl.verify.check import Check, Judgement
from tdsl.verify.workload import CollectiveModel, Ranks, Time, fastest_model_judgement


class AllToAllTime(Check):
    """Time for all accelerators to send a part of their data to each other.

    ## What it means
    `all_to_all_time 1GB`: every accelerator holds 1 GB in equal parts, one for each accelerator, and all
    parts reach theirs. It takes as long as the slower of two: what one rank must send, and what must cross
    the worst cut into halves.

    ## Formula and source
    (n−1)α + max( (n−1)/n · S/B , S·a·b/n / C ): n ranks, S bits each, B what a rank has of the network, α the
    worst zero-load latency; a and b ranks in two halves and C what these exchange each way (`tdsl explain
    bisection`, its lower bound). The pairwise exchange is that of Thakur, Rabenseifner, Gropp (Int. J. High
    Perf. Comp. Appl. 19, 2005); the bound by bisection that of Dally and Towles, "Principles and practices of
    interconnection networks" (2004), chapter 3; α-β: Hockney 1994.

    Where scale-up links join accelerators, the lower bound is what no algorithm beats: what a block of ranks
    (an accelerator, a host, a domain) sends to the others, over what can leave it, and what halves of the
    hosts exchange where no domain has several.

    ## What it assumes
    Parts are equal and traffic is divided over all paths; software costs nothing; in the model the scale-up
    domain carries nothing. Where a latency or a length is not known, the figure without it is a lower bound:
    it can refute `<=`, and does not prove it. The status is `modelled`: a formula, not a measurement.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 32                # as much up as down
    require all_to_all_time 1GB <= 19ms                    # 8 Gbit at 400 Gb/s
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread x 16                # half of it
    require all_to_all_time 1GB <= 19ms
    ```

    ### What it prints
    ```
    E0425: `all_to_all_time 1GB <= 19ms` does not hold: 20ms by bisection, 16 ranks at 400Gbps
    ```
    """

    code = "E0425"
    name = "all_to_all_time"
    wrong = "An all-to-all that takes too long"
    kind = "quantity"
    cost = 3
    unit = "s"
    dim = TIME
    on_demand = True
    after_failures = True
    reads = frozenset({"lengths", "rails", "domains"})
    of_ends = True
    takes = frozenset({"of", "args"})
    needs = frozenset({"args"})
    example = "all_to_all_time 1GB <= 50ms"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        return fastest_model_judgement(self.name, view, claim, all_to_all_models, Blocks.all_to_all)


def all_to_all_models(ranks: Ranks, size: Fraction, alpha: Time) -> list[CollectiveModel]:
    """One: the slower of injection and bisection speaks."""
    n, half = ranks.count, ranks.count // 2
    if ranks.each:
        half = ranks.units // 2 * ranks.each
    if not ranks.crossing:
        return []
    sent = Fraction(n - 1, n) * size / ranks.rate
    crossed = size * half * (n - half) / n / ranks.crossing
    start = (n - 1) * alpha
    if crossed > sent:
        return [CollectiveModel("bisection", start + crossed, "(n-1)α + S·a·b/n/C")]
    return [CollectiveModel("injection", start + sent, "(n-1)α + (n-1)/n·S/B")]
