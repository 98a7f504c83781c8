"""``place auto in HALL { … }``: devices without a place of their own are distributed over the racks of
halls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.findings.source import Origin
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.place_statements import Hall
    from tdsl.semantics.plan import FabricPlan
    from tdsl.semantics.scope import Scope

EXAMPLE = "write `place auto in h1 { hosts 4 per rack; switches middle of row }`"
POSITIONS = (("middle", "row"), ("end", "row"), ("top", "rack"))


@dataclass(frozen=True, slots=True)
class AutoPlacing:
    """``place auto``: the halls to fill in this order, the most hosts a rack (None: as many as fit), and
    where switches go: ``middle`` or ``end`` of a row, ``top`` of a rack, or "" where cables are shortest."""

    halls: tuple[Hall, ...]
    hosts_per_rack: int | None
    switches: str
    origin: Origin


def is_auto(s: tree.PlaceStmt) -> bool:
    """Whether a ``place`` leaves the racks open: it names halls only."""
    return s.path.bare == "auto" and all(p.bare is not None for p in (s.into, *s.more)) and s.anchor is None


def place_auto(plan: FabricPlan, s: tree.PlaceStmt, scope: Scope, origin: Origin) -> None:
    """Enter a ``place auto`` once all halls are known. Raises Fault."""
    if s.words:
        raise Fault("E0120", s.words[0].span, f"`{s.words[0].name}` means nothing here", help=EXAMPLE)
    if plan.auto is not None:
        raise Fault(
            "E0104",
            s.span,
            "devices are placed automatically by one statement",
            labels=[(plan.auto.origin.span, "first here")],
            help="name all halls in it: `place auto in h1, h2`",
        )
    halls = []
    for path in (s.into, *s.more):
        hall = next((h for h in plan.halls if h.name == path.bare), None)
        if hall is None and path.bare in plan.absent_halls:
            raise Excused
        if hall is None:
            raise unknown_name_fault(
                "E0101", path.span, "hall", path.bare or "", [h.name for h in plan.halls]
            )
        if hall in halls:
            raise Fault("E0104", path.span, f"hall `{path.bare}` is named twice")
        halls.append(hall)
    each, switches = _auto_place_settings(plan, s, scope)
    plan.auto = AutoPlacing(tuple(halls), each, switches, origin)


def _auto_place_settings(plan: FabricPlan, s: tree.PlaceStmt, scope: Scope) -> tuple[int | None, str]:
    each: int | None = None
    switches = ""
    seen: dict[str, tree.Setting] = {}
    for inner in s.body or ():
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting) or inner.body is not None:
            raise Fault("E0118", inner.span, "the block of a `place auto` has settings only", help=EXAMPLE)
        name = inner.name.name
        if name not in ("hosts", "switches", "minimize"):
            raise unknown_name_fault(
                "E0118", inner.name.span, "setting of a `place auto`", name, ("hosts", "switches", "minimize")
            )
        if name in seen:
            raise Fault(
                "E0104", inner.span, f"`{name}` is set twice", labels=[(seen[name].span, "first here")]
            )
        seen[name] = inner
        item = inner.items[0] if len(inner.items) == 1 else None
        words = (
            [w or (e.bare if isinstance(e, tree.PathExpr) else None) for w, e in item.args]
            if item is not None
            else []
        )
        if name == "hosts":
            if item is None or words != ["per", "rack"]:
                raise Fault(
                    "E0120", inner.span, "this says how many hosts a rack holds", help="`hosts 4 per rack`"
                )
            each = plan.evaluator.integer(item.value, scope)
            if each < 1:
                raise Fault(
                    "E0120",
                    item.value.span,
                    f"a rack holds at least 1 host, not {each}",
                    help="`hosts 4 per rack`",
                )
        elif name == "switches":
            where = item.value.bare if item is not None and isinstance(item.value, tree.PathExpr) else None
            of = item.args[0][1] if item is not None and [w for w, _ in item.args] == ["of"] else None
            if (where, of.bare if isinstance(of, tree.PathExpr) else None) not in POSITIONS:
                raise Fault(
                    "E0120",
                    inner.span,
                    "this says where switches go",
                    help="`switches middle of row`, `switches end of row` or `switches top of rack`",
                )
            switches = str(where)
        elif (
            item is None
            or item.args
            or not isinstance(item.value, tree.PathExpr)
            or item.value.bare != "length"
        ):
            raise Fault(
                "E0120",
                inner.span,
                "what is minimized is the total length of the cables",
                help="`minimize length`",
            )
    return each, switches


__all__ = ["AutoPlacing", "is_auto", "place_auto"]
