"""``forwards``: hosts or chips that pass traffic of others on, as servers of BCube and DCell do.

It stands in a model, in the braces of a declaration, or as a statement of a fabric.

Guo et al., BCube, SIGCOMM 2009: "servers act as not only end hosts, but also relay nodes for each other".
"""

from __future__ import annotations

from tdsl.semantics.fault import Fault
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.semantics.settings import require_plain_setting
from tdsl.syntax import tree

ENDS = ("host", "chip")


def read_forwards_setting(s: tree.Setting, kind: str) -> bool:
    """``forwards`` in the braces of a model or a declaration. Raises Fault where it means nothing."""
    if kind not in ENDS:
        help = "delete `forwards`: switches always forward" if kind == "switch" else "hosts and chips may"
        raise Fault("E0118", s.span, f"a {kind} takes no `forwards`", help=help)
    require_plain_setting(s, "forwards", 0)
    return True


def plan_forwards_statement(plan: FabricPlan, s: tree.Setting, context: Context) -> None:
    """``forwards node, filer``: these declarations of hosts or chips."""
    if not s.items:
        raise Fault(
            "E0120",
            s.span,
            "`forwards` names the hosts or chips that pass traffic on",
            help="`forwards host`",
        )
    require_plain_setting(s, "forwards host", len(s.items))
    for item in s.items:
        path = item.value
        if not isinstance(path, tree.PathExpr) or not all(isinstance(p, tree.Identifier) for p in path.parts):
            raise Fault(
                "E0120",
                item.span,
                "a declaration forwards as a whole",
                help="write its name without an index: `forwards host`",
            )
        found = resolve_path(plan, context, path, ports=False).device
        if found is None:
            raise Fault(
                "E0120",
                item.span,
                "this is a group; hosts and chips forward",
                help=f"name the devices in it: `{item.span.text}.NAME[*]`",
            )
        if found.kind not in ENDS:
            raise Fault(
                "E0118",
                item.span,
                f"a {found.kind} takes no `forwards`",
                help="delete `forwards`: switches always forward",
                labels=[(found.origin.span, "declared here")],
            )
        found.settings = {**found.settings, "forwards": True}
