"""Allreduce: time to add up data over all accelerators, by the models of the field."""

from __future__ import annotations

from fractions import Fraction

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.collective_bounds import Blocks
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME
from tdsl.verify.check import Check, Judgement
from tdsl.verify.workload import CollectiveModel, Ranks, Time, fastest_model_judgement


class AllReduce(Check):
    """Time to add up data over all accelerators, by models.

    ## What it means
    `allreduce 140GB`: every accelerator holds 140 GB, and all end up with the sum. The answer is the least of
    the models below; each is listed with its time. The example every reader knows: 140 GB over 100 Gb/s take
    11.2 s for the bytes alone, and 22.4 s by the ring formula, as nearly every byte is sent twice.

    ## Formula and source
    n ranks, S bits, B what a rank has of the network, α the worst zero-load latency (`tdsl explain latency`):

    | model | time |
    |---|---|
    | ring | 2(n−1)α + 2(n−1)/n · S/B |
    | recursive halving | 2⌊log₂n⌋α + 2(p−1)/p · S/B′, p the power of two in n, and 2(α + S/B′) more where \
p is not n |
    | tree | 2⌈log₂n⌉ (α + S/B′) |
    | hierarchical | 2(g−1)/g · S/Bₛ + 2(h−1)α + 2(h−1)/h · (S/g)/B: g ranks in each of h scale-up domains, \
Bₛ of the domain |

    Where domains differ, each of the two terms is of the one that takes longest. B′ is B, or what the
    bisection leaves of it, since halves exchange all they have. α-β: Hockney, "The communication challenge
    for MPP" (Parallel Computing 20, 1994); ring, halving and tree: Thakur, Rabenseifner, Gropp, "Optimization
    of collective communication operations in MPICH" (Int. J. High Perf. Comp. Appl. 19, 2005). The factor
    2(n−1)/n is what NCCL's tests divide by to get the bus bandwidth (nccl-tests, PERFORMANCE.md).

    Where scale-up links join accelerators, the lower bound is not a model but a time that no algorithm beats:
    the largest of S/C over blocks of ranks (an accelerator, a host, a domain), C what the block can receive,
    and of 2(h−1) · S/ΣC over divisions into h blocks, since each part of the data is received 2(h−1) times at
    least (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J.
    Parallel Distrib. Comput. 69, 2009). An accelerator with scale-up links receives over these and the ports
    of its host; switches do not add up. A requirement that lies between this bound and the model is
    `bounded`. After failures both are of what is left.

    ## What it assumes
    Every rank sends at the full rate of the slowest all the time; in a direct fabric on all its links at
    once. Adding up costs nothing, nor do software and the switches inside hosts; steps do not overlap. Where
    a latency or a length is not known, the figure without it is a lower bound: it can refute `<=`, and does
    not prove it. The status is `modelled`: a formula, not a measurement.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r]                      # 8 × 400 Gb/s for 8 accelerators
    require allreduce 140GB <= 6s
    ```

    ## A design that fails
    ```fab
    port nic: 100Gbps
    require allreduce 140GB <= 20s
    ```

    ### What it prints
    ```
    E0419: `allreduce 140GB <= 20s` does not hold: 22.05s by ring, 64 ranks at 100Gbps; 134.4s by tree; …
    ```
    """

    code = "E0419"
    name = "allreduce"
    wrong = "An all-reduce that takes too long"
    kind = "quantity"
    cost = 2
    unit = "s"
    dim = TIME
    on_demand = True
    after_failures = True
    reads = frozenset({"lengths", "rails", "domains"})
    of_ends = True
    takes = frozenset({"of", "args"})
    needs = frozenset({"args"})
    example = "allreduce 140GB <= 25s"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        return fastest_model_judgement(self.name, view, claim, allreduce_models, Blocks.allreduce)


def allreduce_models(ranks: Ranks, size: Fraction, alpha: Time) -> list[CollectiveModel]:
    """What applies to a fabric: flat models where all ranks are joined by the network, the hierarchical one
    with a scale-up domain."""
    n, rate, out = ranks.count, ranks.rate, []
    if not ranks.rails_apart:
        out.append(
            CollectiveModel(
                "ring", 2 * (n - 1) * alpha + Fraction(2 * (n - 1), n) * size / rate, "2(n-1)α + 2(n-1)/n·S/B"
            )
        )
        if ranks.across:
            one = size / ranks.across
            rounds = n.bit_length() - 1
            p = 1 << rounds
            more = 2 * (alpha + one) if p < n else Fraction(0)
            halving = 2 * rounds * alpha + Fraction(2 * (p - 1), p) * one + more
            formula = "2·log₂n·α + 2(n-1)/n·S/B'" if p == n else "2·log₂p·α + 2(p-1)/p·S/B' + 2(α + S/B')"
            out.append(CollectiveModel("recursive halving", halving, formula))
            out.append(
                CollectiveModel("tree", 2 * (n - 1).bit_length() * (alpha + one), "2·log₂n·(α + S/B')")
            )
    h = ranks.domains
    if h and ranks.outside:
        several = [(k.ranks, k.inside) for k in ranks.kinds if k.inside is not None]
        inner = max(Fraction(2 * (g - 1), g) * size / inside for g, inside in several)
        outer = 2 * (h - 1) * alpha + Fraction(2 * (h - 1), h) * size / ranks.outside
        formula = "2(g-1)/g·S/Bs + 2(h-1)α + 2(h-1)/h·(S/g)/B"
        out.append(CollectiveModel("hierarchical", inner + outer, formula))
    return out
