"""What the grammar knows and this version does not build: each is refused by one finding that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.semantics.fault import Fault, unknown
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree

if TYPE_CHECKING:
    from tdsl.semantics.library import Library, Linked

INTENT = {
    "hosts": ("host",), "chips": ("chip",), "rails": ("rail",), "planes": ("plane",), "pods": ("pod",),
    "clos": ("leaf", "spine", "pod", "core"), "torus": ("cube",), "dragonfly": ("g", "router"),
}  # fmt: skip
PHYSICAL = ("pitch", "tray", "slack", "distance", "height", "power", "units")
ADDRESSING = ("address", "routing", "asn", "roce")
SOLVING = ("minimize",)
KNOWN = ("connect", "host", "switch", "group", "require", "omit", "naming", "let", "param", "layer", "extend", "override")


def refuse_later(s: tree.Stmt, scope: Scope, library: Library, home: Linked) -> None:
    """Raise the fault of a statement that means nothing here, or nothing yet; what it would declare is excused."""
    name = _word(s)
    if isinstance(s, tree.Tier) or name in INTENT:
        scope.excused.update(("host", "chip", *INTENT.get(name, ()), *(x for names in INTENT.values() for x in names)))
        if isinstance(s, tree.Tier):
            scope.excused.add(s.name.name)
        raise _later(s, f"`{name}` is intent", "write the groups, devices and connects that it stands for")
    if isinstance(s, tree.Place) or name in PHYSICAL or (isinstance(s, tree.Decl) and s.kind.name in ("hall", "row")):
        raise _later(s, f"`{name}` places things", "leave it out; ports and cables are checked without places")
    if name in ADDRESSING:
        raise _later(s, f"`{name}` is addressing and routing", "leave it out; links are checked without addresses")
    if isinstance(s, tree.Phase) or name in SOLVING:
        raise _later(s, f"`{name}` chooses between variants", "use a param and `--set`")
    if isinstance(s, tree.Setting):
        entry = home.names.get(name) or home.used.get(name)
        if entry is not None and isinstance(entry.node, tree.TopologyDecl):
            raise _later(s, f"`{name}` is a topology", "write the groups, devices and connects that it stands for")
        raise unknown("E0118", s.name.span, "statement", name, (*KNOWN, *INTENT, *PHYSICAL, *ADDRESSING))
    if isinstance(s, tree.Use):
        raise Fault("E0120", s.span, "`use` stands at the top of a file")
    raise Fault(
        "E0118",
        s.span,
        f"`{name}` has no meaning in this place",
        help="move it to the top of the file" if name in ("model", "topology", "fabric") else "",
    )


def _later(s: tree.Stmt, what: str, instead: str) -> Fault:
    span = s.name.span if isinstance(s, (tree.Setting, tree.Tier)) else s.span
    return Fault("E0117", span, f"{what}, which this version reads and does not build", help=instead)


def _word(s: tree.Stmt) -> str:
    if isinstance(s, tree.Setting):
        return s.name.name
    if isinstance(s, tree.Decl):
        return s.kind.name
    return {tree.Tier: "tier", tree.Place: "place", tree.Phase: "phase", tree.Use: "use", tree.ModelDecl: "model",
            tree.TopologyDecl: "topology"}.get(type(s), type(s).__name__.lower())  # fmt: skip
