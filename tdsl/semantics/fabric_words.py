"""Settings of a whole fabric whose value is one of a few words: ``transport roce``, ``purpose storage``."""

from __future__ import annotations

from collections.abc import Iterable

from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.semantics.settings import require_plain_setting
from tdsl.syntax import tree

PURPOSES = ("compute", "storage", "management", "inband")
"""What a network of a cluster is for: the traffic of accelerators, that to filers, that of BMCs and consoles,
and what else the operating systems of hosts send."""


def plan_fabric_purpose(plan: FabricPlan, s: tree.Setting, context: Context) -> None:
    """``purpose compute`` in a fabric's own block."""
    plan.purpose = read_fabric_word(s, context, PURPOSES, plan.purpose)


MEANT_WORDS = {
    **dict.fromkeys(("ib", "ndr", "xdr", "hdr", "quantum"), "infiniband"),
    **dict.fromkeys(("eth", "ip", "tcp", "gbe"), "ethernet"),
    **dict.fromkeys(("rocev2", "rdma", "spectrum"), "roce"),
    **dict.fromkeys(("ultraethernet", "ultra_ethernet", "uet"), "uec"),
    **dict.fromkeys(("mgmt", "oob", "bmc"), "management"),
    **dict.fromkeys(("backend", "gpu", "training", "east_west"), "compute"),
    **dict.fromkeys(("frontend", "in_band", "north_south"), "inband"),
}
"""Words that people write for a transport or a purpose, in small letters, and its name."""


def read_fabric_word(
    s: tree.Setting, context: Context, words: Iterable[str], before: tuple[str, SourceSpan] | None
) -> tuple[str, SourceSpan]:
    """The word that a setting of a fabric's own block gives, and where. Raises Fault if it is none of
    ``words``, stands in a group, or is set ``before``."""
    name, known = s.name.name, list(words)
    help = "write one of " + ", ".join(f"`{name} {word}`" for word in known)
    if len(context.groups) > 1:
        raise Fault(
            "E0118",
            s.span,
            f"`{name}` belongs to a fabric",
            help="write it in the block of the fabric, once",
        )
    if before is not None:
        raise Fault("E0104", s.span, f"`{name}` is set twice", labels=[(before[1], "first here")])
    require_plain_setting(s, f"{name} {s.items[0].value.span.text if s.items else known[0]}")
    value = s.items[0].value if s.items else None
    if not isinstance(value, tree.PathExpr) or not value.bare:
        raise Fault("E0120", s.span, f"`{name}` takes the name of a {name}", help=help)
    if value.bare not in known:
        raise unknown_name_fault(
            "E0101", value.span, name, value.bare, known, extra_help=help, meant=MEANT_WORDS
        )
    return value.bare, s.span
