"""``transport roce``: what a fabric's links speak, where the types of their ports leave it open, and what
follows from it."""

from __future__ import annotations

from dataclasses import replace

from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.fabric_words import read_fabric_word
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

ROCE_SETTINGS = frozenset(("dscp", "priority", "cnp", "ecn", "pfc"))


@dataclass(frozen=True, slots=True)
class Transport:
    """What a transport asks of a network.

    ``families`` of port types carry it. ``lossy``: it sends again what is lost, so that no priority need be
    lossless. ``sprays``: it divides a flow over paths packet by packet, and takes them in any order.
    ``trims``: switches may cut a packet that they cannot keep down to its header, and the receiver asks for
    it again. ``roce`` are the settings of that block that are about it. ``nccl`` is how NCCL uses it:
    "verbs" of its own, a plugin over "libfabric" or of the "vendor", "sockets", or "" where it is no network
    of NCCL's. ``most_accelerators`` is the limit of one network, 0 where none is known.
    """

    families: tuple[str, ...]
    lossy: bool = False
    sprays: bool = False
    trims: bool = False
    roce: frozenset[str] = frozenset()
    nccl: str = ""
    most_accelerators: int = 0


TRANSPORTS: dict[str, Transport] = {
    "infiniband": Transport(("infiniband",), nccl="verbs"),
    "ethernet": Transport(("ethernet",), roce=ROCE_SETTINGS, nccl="verbs"),
    "roce": Transport(("ethernet",), roce=ROCE_SETTINGS, nccl="verbs"),
    "uec": Transport(
        ("ethernet",), lossy=True, sprays=True, trims=True, roce=ROCE_SETTINGS - {"cnp"}, nccl="vendor"
    ),
    "iwarp": Transport(("ethernet",), lossy=True, roce=ROCE_SETTINGS - {"cnp"}, nccl="sockets"),
    "efa": Transport(("efa", "ethernet"), lossy=True, sprays=True, nccl="libfabric"),
    "slingshot": Transport(("slingshot", "ethernet"), sprays=True, nccl="libfabric"),
    "nvlink": Transport(("nvlink",)),
    "ualink": Transport(("ualink", "ethernet"), most_accelerators=1024),
    "ub": Transport(("ub",)),
    "ici": Transport(("ici",)),
}
"""Sources: RoCEv2: InfiniBand Architecture, annex A17. Ultra Ethernet (best effort suffices, spraying by
entropy values, trimming): Hoefler et al., "Ultra Ethernet's Design Principles and Architectural Innovations",
arXiv:2508.08906. iWARP runs over TCP: RFC 5040, 5041 and 5044. EFA by SRD: Shalev et al., "A
Cloud-Optimized Transport Protocol for Elastic and Scalable HPC", IEEE Micro 40(6), 2020. Slingshot
(adaptive routing packet by packet): De Sensi et al., "An In-Depth Analysis of the Slingshot Interconnect",
SC20. UALink (electrical layer of Ethernet; up to 1,024 accelerators in a pod): UALink Consortium, "UALink
200G 1.0 Specification Overview", 2025. EFA and Slingshot ports negotiate with Ethernet switches. NCCL by
libfabric: aws-ofi-nccl."""


def plan_fabric_transport(plan: FabricPlan, s: tree.Setting, context: Context) -> None:
    """``transport infiniband`` in a fabric's own block."""
    plan.transport = read_fabric_word(s, context, TRANSPORTS, plan.transport)


def fit_roce_to_transport(plan: FabricPlan, diagnostics: Diagnostics) -> None:
    """Refuse settings of a `roce` block that are not about the transport that the fabric states (E0129).
    Where the transport sends again what is lost, its priority is lossless only if `pfc` is written."""
    if plan.transport is None or plan.roce is None:
        return
    name, span = plan.transport
    about = TRANSPORTS[name].roce
    strange = [word for word in sorted(plan.roce_stated) if word not in about]
    if not about or strange:
        what = f"`{strange[0]}` of `roce`" if about else "`roce`"
        why = (
            "it has no congestion notification packets"
            if about
            else "its packets are not RDMA over Converged Ethernet"
        )
        others = [n for n, t in TRANSPORTS.items() if t.roce >= plan.roce_stated and t.roce]
        diagnostics.add(
            "E0129",
            plan.roce.origin,
            f"{what} is not about `transport {name}`: {why}",
            labels=[(span, "stated here")],
            help="leave it out, or write " + " or ".join(f"`transport {n}`" for n in others),
        )
    elif TRANSPORTS[name].lossy and "pfc" not in plan.roce_stated:
        plan.roce = replace(plan.roce, pfc=False)
