"""``place auto in HALL { … }``: devices without a place of their own are distributed over the racks of
halls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.findings.source import Origin
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tdsl.semantics.evaluate import Evaluator
    from tdsl.semantics.place_statements import Hall
    from tdsl.semantics.plan import FabricPlan
    from tdsl.semantics.scope import Scope

EXAMPLE = "the form is `place auto in h1 { hosts 4 per rack; switches middle of row }`"
SETTINGS = ("hosts", "switches", "minimize")
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
    """The most hosts a rack, None where nothing is said, and where switches go, "" where nothing is said."""
    each: int | None = None
    switches = ""
    for inner in _settings_in_place_auto(s):
        match inner.name.name:
            case "hosts":
                each = _hosts_per_rack(inner, plan.evaluator, scope)
            case "switches":
                switches = _position_of_switches(inner)
            case _:
                _require_minimize_length(inner)
    return each, switches


def _settings_in_place_auto(s: tree.PlaceStmt) -> Iterator[tree.Setting]:
    """The settings in the block. Raises Fault for others than these three, and for one that is set twice."""
    seen: dict[str, tree.Setting] = {}
    for inner in s.body or ():
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting) or inner.body is not None:
            raise Fault("E0118", inner.span, "the block of a `place auto` has settings only", help=EXAMPLE)
        name = inner.name.name
        if name not in SETTINGS:
            raise unknown_name_fault("E0118", inner.name.span, "setting of a `place auto`", name, SETTINGS)
        if name in seen:
            raise Fault(
                "E0104", inner.span, f"`{name}` is set twice", labels=[(seen[name].span, "first here")]
            )
        seen[name] = inner
        yield inner


def _hosts_per_rack(s: tree.Setting, evaluator: Evaluator, scope: Scope) -> int:
    """``hosts 4 per rack``."""
    item = s.items[0] if len(s.items) == 1 else None
    words = [None if w else _bare_name(e) for w, e in item.args] if item is not None else []
    if item is None or words != ["per", "rack"]:
        raise Fault("E0120", s.span, "this says how many hosts a rack holds", help="`hosts 4 per rack`")
    each = evaluator.integer(item.value, scope)
    if each < 1:
        raise Fault(
            "E0120",
            item.value.span,
            f"a rack holds at least 1 host, not {each}",
            help="`hosts 4 per rack`",
        )
    return each


def _position_of_switches(s: tree.Setting) -> str:
    """``switches middle of row``: ``middle`` or ``end`` of a row, ``top`` of a rack."""
    item = s.items[0] if len(s.items) == 1 else None
    where = _bare_name(item.value) if item is not None else None
    of = item.args[0][1] if item is not None and [w for w, _ in item.args] == ["of"] else None
    if (where, _bare_name(of)) not in POSITIONS:
        raise Fault(
            "E0120",
            s.span,
            "this says where switches go",
            help="`switches middle of row`, `switches end of row` or `switches top of rack`",
        )
    return str(where)


def _require_minimize_length(s: tree.Setting) -> None:
    """``minimize length``: Raises Fault for anything else."""
    item = s.items[0] if len(s.items) == 1 else None
    if item is None or item.args or _bare_name(item.value) != "length":
        raise Fault(
            "E0120",
            s.span,
            "what is minimized is the total length of the cables",
            help="`minimize length`",
        )


def _bare_name(e: tree.Expr | None) -> str | None:
    """The name that an expression is, None if it is none."""
    return e.bare if isinstance(e, tree.PathExpr) else None


__all__ = ["AutoPlacing", "is_auto", "place_auto"]
