"""What NCCL expects an all-reduce to take: the model by which it chooses its algorithm.

Constants and formulas: NVIDIA/nccl, src/graph/tuning.cc (ncclTopoTuneModel and ncclTunerConstantsDefaults, of
version 2.30), of the protocol Simple, which large messages take. NCCL finds its channels by a search; here
they carry what a node has of the network, and no more than an accelerator, which all of them pass, has of its
NVLinks.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.workload import CollectiveModel

MICROSECOND = Fraction(1, 10**6)
BASE = Fraction(84, 10) * MICROSECOND
"""Before the first step, by ring or tree."""

NVLINK_RING, NVLINK_TREE, NVLINK_NVLS = (Fraction(x, 10) * MICROSECOND for x in (34, 40, 250))
NET_RING, NET_TREE, NET_NVLS_TREE = (Fraction(x, 10) * MICROSECOND for x in (140, 140, 209))
"""A step over NVLink, and over the network."""

TREE_SHARE = Fraction(92, 100)
"""What a tree reaches of the rate of its channels."""

NVLS_SHARE = {90: Fraction(85, 100), 100: Fraction(74, 100)}
"""What multicast by NVSwitch reaches of it, from this compute capability on."""


@dataclass(frozen=True, slots=True)
class NcclRanks:
    """``nodes`` of ``each`` accelerators; bit/s that one has of its NVLinks (``inside``) and that a node has
    of the network (``outside``, None where there is one node). ``capability`` is 10 times the compute
    capability of the accelerators."""

    nodes: int
    each: int
    inside: Fraction
    outside: Fraction | None
    capability: int


def nccl_all_reduce_models(ranks: NcclRanks, size: Fraction) -> Iterator[CollectiveModel]:
    """Ring, tree and NVLS (a tree of nodes where there are several) for so many bits."""
    n, nodes, each = ranks.nodes * ranks.each, ranks.nodes, ranks.each
    steps, between = 2 * (n - 1), 2 * (nodes - 1)
    rounds = nodes.bit_length() - 1  # NCCL rounds the logarithm down
    bus = ranks.inside if ranks.outside is None else min(ranks.outside, ranks.inside)
    waiting = BASE + (steps - between) * NVLINK_RING + between * NET_RING
    yield CollectiveModel("NCCL ring", size / bus * Fraction(steps, n) + waiting, "2(n-1)/n·S/B + steps")
    waiting = BASE + 2 * ((each - 1) * NVLINK_TREE + rounds * NET_TREE)
    yield CollectiveModel("NCCL tree", 2 * size / (bus * TREE_SHARE) + waiting, "2·S/0.92B + steps")
    shares = [part for since, part in NVLS_SHARE.items() if since <= ranks.capability]
    if not shares:
        return
    multicast = 2 * ranks.inside * shares[-1]
    bus = multicast if ranks.outside is None else min(multicast, ranks.outside)
    waiting = NVLINK_NVLS + 2 * rounds * NET_NVLS_TREE
    name = "NCCL NVLS" if nodes == 1 else "NCCL NVLS tree"
    yield CollectiveModel(name, size / bus * Fraction(steps, n) + waiting, "2(n-1)/n·S/B + steps")
