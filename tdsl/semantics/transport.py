"""``transport roce``: what a fabric's links speak, where the types of their ports leave it open."""

from __future__ import annotations

from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.semantics.settings import require_plain_setting
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
HELP = "write one of " + ", ".join(f"`transport {t}`" for t in TRANSPORTS)


def plan_fabric_transport(plan: FabricPlan, s: tree.Setting, context: Context) -> None:
    """``transport infiniband`` in a fabric's own block."""
    if len(context.groups) > 1:
        raise Fault(
            "E0118",
            s.span,
            "`transport` belongs to a fabric",
            help="write it in the block of the fabric, once",
        )
    if plan.transport is not None:
        raise Fault("E0104", s.span, "`transport` is set twice", labels=[(plan.transport[1], "first here")])
    require_plain_setting(s, "transport ethernet")
    value = s.items[0].value if s.items else None
    if not isinstance(value, tree.PathExpr) or not value.bare:
        raise Fault("E0120", s.span, "`transport` takes the name of a transport", help=HELP)
    if value.bare not in TRANSPORTS:
        raise unknown_name_fault(
            "E0101", value.span, "transport", value.bare, list(TRANSPORTS), extra_help=HELP
        )
    plan.transport = value.bare, s.span
