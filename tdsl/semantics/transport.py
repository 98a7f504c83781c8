"""``transport roce``: what a fabric's links speak, where the types of their ports leave it open."""

from __future__ import annotations

from tdsl.semantics.fabric_words import read_fabric_word
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.syntax import tree

TRANSPORTS: dict[str, tuple[str, ...]] = {
    "infiniband": ("infiniband",),
    "ethernet": ("ethernet",),
    "roce": ("ethernet",),
    "uec": ("ethernet",),
    "efa": ("efa", "ethernet"),
    "slingshot": ("slingshot", "ethernet"),
    "nvlink": ("nvlink",),
    "ualink": ("ualink", "ethernet"),
    "ub": ("ub",),
    "ici": ("ici",),
}
"""Each transport, and the families of port types that carry it. RoCEv2 (InfiniBand Architecture, annex A17)
and Ultra Ethernet run over Ethernet; EFA and Slingshot ports negotiate with Ethernet switches; UALink 1.0
uses the electrical layer of Ethernet."""


def plan_fabric_transport(plan: FabricPlan, s: tree.Setting, context: Context) -> None:
    """``transport infiniband`` in a fabric's own block."""
    plan.transport = read_fabric_word(s, context, TRANSPORTS, plan.transport)
