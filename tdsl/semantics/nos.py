"""``nos sonic``: the network operating system of switches, on a model, a device set or a fabric."""

from __future__ import annotations

from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.semantics.settings import refuse_block
from tdsl.syntax import tree

SYSTEMS = ("eos", "frr", "nvue", "sonic")
"""Names of the systems that a target of tdsl writes; others are written in quotes."""
HELP = (
    "write one of "
    + ", ".join(f"`nos {s}`" for s in SYSTEMS)
    + ', or another system in quotes: `nos "junos"`'
)


def nos_of_setting(s: tree.Setting) -> str:
    """The system that a setting names. Raises Fault if it names none, several, or an unknown one without
    quotes."""
    refuse_block(s, HELP)
    if len(s.items) > 1:
        raise Fault(
            "E0120", s.items[1].span, "a switch runs one operating system; this names several", help=HELP
        )
    value = s.items[0].value if s.items and not s.items[0].args else None
    if isinstance(value, tree.Str) and len(value.parts) == 1 and isinstance(value.parts[0], str):
        return _checked_nos_name(value.parts[0], s)
    if not isinstance(value, tree.PathExpr) or not value.bare:
        raise Fault("E0120", s.span, "`nos` takes the name of an operating system", help=HELP)
    if value.bare not in SYSTEMS:
        raise unknown_name_fault(
            "E0101", value.span, "network operating system", value.bare, SYSTEMS, extra_help=HELP
        )
    return value.bare


def plan_fabric_nos(plan: FabricPlan, s: tree.Setting, context: Context) -> None:
    """``nos sonic`` of a fabric: of all switches of which neither the declaration nor the model names a
    system."""
    if len(context.groups) > 1:
        help = (
            "write it in the block of the fabric, or in the braces of the switches: `switch leaf: "
            "MODEL { nos sonic }`"
        )
        raise Fault("E0118", s.span, "`nos` belongs to a fabric, to switches or to a model", help=help)
    if plan.nos is not None:
        raise Fault("E0104", s.span, "`nos` is set twice", labels=[(plan.nos[1], "first here")])
    plan.nos = nos_of_setting(s), s.span


def _checked_nos_name(name: str, s: tree.Setting) -> str:
    if not name.isidentifier() or not name.isascii():
        raise Fault("E0120", s.span, f"{name!r} is not a name: letters, digits and `_`", help=HELP)
    return name
