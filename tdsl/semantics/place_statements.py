"""``hall``, ``distance`` and ``place``: where racks are, and which device is mounted where. Indices are
evaluated later."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.amounts import EXAMPLES, amount_fault, settings_in_one_fault, unit_apart_fault
from tdsl.semantics.autoplace import EXAMPLE, is_auto, place_auto
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.model import DeviceSet
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.quantity import LENGTH, MASS, POWER, UNITS, Dim, Quantity, kind_name, quantity_text
from tdsl.semantics.settings import only_value_behind, refuse_block
from tdsl.semantics.values import WholeRange
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.evaluate import Evaluator
    from tdsl.semantics.plan import Context, FabricPlan, ResolvedPath
    from tdsl.semantics.scope import Scope

HALL = ("row", "pitch", "tray", "slack")
RACK = ("height", "power", "mass", "bend")
TRAY = ("along", "across", "capacity")
WITH_BLOCK = ("row", "rack", "tray")
RACK_LIMIT = 1 << 17
ROW_LIMIT = 1 << 12


@dataclass(frozen=True, slots=True)
class RackKind:
    """What a rack offers: rack units, power feeds and the watts of each, kilograms that it may carry, and the
    radius in millimetres that its cable managers leave for a bend; None where not stated."""

    height: int | None
    feeds: int
    feed_watts: Fraction | None
    mass: Fraction | None
    span: SourceSpan
    bend: int | None = None

    @property
    def watts(self) -> Fraction | None:
        """What its feeds carry after the loss of any one of them; a single feed carries what it carries."""
        return None if self.feed_watts is None else self.feed_watts * max(self.feeds - 1, 1)


@dataclass(frozen=True, slots=True)
class RackRow:
    """A row of racks: their numbers in the order in which they are lined up, and the kind of each."""

    name: str
    racks: tuple[tuple[int, RackKind], ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Tray:
    """Trays: one above (or below the floor of) every row, and some across all rows at the racks of these
    numbers.

    ``height`` is in millimetres over the floor, negative below it; ``area`` the cross-section in square
    millimetres, None where not stated.
    """

    height: int
    across: tuple[int, ...]
    area: int | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Hall:
    """A hall. Lengths are in millimetres, None where not stated: from rack to rack, from row to row, slack at
    each cable end."""

    name: str
    rows: tuple[RackRow, ...]
    rack_pitch: int | None
    row_pitch: int | None
    tray: Tray | None
    slack: int | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Placing:
    """``place PATH in HALL.ROW[RACK] [at UNIT | stacked from UNIT]`` with its path resolved.

    Of ``HALL[ROW, RACK]`` the ``row`` is an expression that counts the rows from 1. ``unit`` is None where
    none is stated.
    """

    target: ResolvedPath
    hall: Hall
    row: RackRow | tree.Expr
    rack: tree.Expr
    stacked: bool
    unit: tree.Expr | None
    scope: Scope
    context: Context
    origin: Origin


@dataclass(frozen=True, slots=True)
class Distance:
    """``distance A to B 120m``: millimetres of the cable route between the entries of two halls, or between
    two groups such as sites. ``ends`` are resolved once all declarations are known: names of halls, or
    groups."""

    a: tree.PathExpr
    b: tree.PathExpr
    length: int
    span: SourceSpan
    scope: Scope
    context: Context
    ends: list[str | ResolvedPath] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its ends as written: ``dc[0] to dc[1]``."""
        return f"{' '.join(self.a.span.text.split())} to {' '.join(self.b.span.text.split())}"


def enter_physical_statement(
    plan: FabricPlan, s: tree.Stmt, scope: Scope, context: Context, origin: Origin
) -> list[Callable[[], None]]:
    """Enter a ``hall``, ``distance`` or ``place``; gives what waits until all declarations are known."""
    if isinstance(s, tree.PlaceStmt):
        if is_auto(s) and len(context.groups) == 1:
            return [partial(place_auto, plan, s, scope, origin)]
        if s.more or s.body is not None:
            at = s.more[0].span if s.more else s.span
            raise Fault(
                "E0120",
                at,
                "only `place auto` in the fabric's own block has several halls or a block",
                help=EXAMPLE,
            )
        return [partial(resolve_placing, plan, s, scope, context, origin)]
    declare_hall_or_distance(plan, s, scope, context, origin)
    return [partial(check_distance, plan, plan.distances[-1])] if isinstance(s, tree.Setting) else []


def declare_hall_or_distance(
    plan: FabricPlan, s: tree.Stmt, scope: Scope, context: Context, origin: Origin
) -> None:
    """A ``hall`` or ``distance`` of a fabric's block."""
    if len(context.groups) > 1:
        word = "distance" if isinstance(s, tree.Setting) else "hall"
        raise Fault(
            "E0118",
            s.span,
            f"`{word}` belongs in the fabric's own block",
            help="declare it once, outside groups",
        )
    if isinstance(s, tree.Setting):
        found = _read_distance(s, scope, context, plan.evaluator)
        ends = {found.a.span.text, found.b.span.text}
        twice = next((d for d in plan.distances if {d.a.span.text, d.b.span.text} == ends), None)
        if twice is not None:
            labels = [(twice.span, "first here")]
            raise Fault("E0104", s.span, "this distance is stated twice", labels=labels, help="leave one")
        plan.distances.append(found)
        return
    assert isinstance(s, tree.Decl)
    old = next((h for h in plan.halls if h.name == s.name.name), None)
    if old is not None:
        raise Fault(
            "E0104",
            s.name.span,
            f"`{s.name.name}` is already declared in this block",
            labels=[(old.origin.span, "first here")],
        )
    try:
        plan.halls.append(_HallReader(scope, plan.evaluator).hall(s, origin))
    except (Fault, Excused):
        plan.absent_halls.add(s.name.name)
        raise


def resolve_placing(
    plan: FabricPlan, s: tree.PlaceStmt, scope: Scope, context: Context, origin: Origin
) -> None:
    """A ``place``, once all halls and devices are known."""
    example = (
        "the form is `place leaf[i] in h1.A[i + 1] at 2U`, or `place leaf[*] in h1.A[3] stacked from 30U`"
    )
    target = resolve_path(plan, context, s.path, ports=False)
    if target.device is None:
        raise Fault(
            "E0120",
            s.path.span,
            f"`{s.path.span.text}` is a group; racks hold devices",
            help="name a device in it",
        )
    if target.device.inside is not None:
        raise Fault(
            "E0120",
            s.path.span,
            f"`{s.path.span.text}` is inside another device and is placed with it",
            help=f"place `{target.device.inside.path}`",
        )
    words = [w.name for w in s.words]
    if words not in ([], ["stacked"]) or (
        s.anchor is not None and (s.anchor.name == "from") != (words == ["stacked"])
    ):
        raise Fault("E0120", s.span, "a place is `at` a unit, or `stacked from` one", help=example)
    hall, row, rack = _hall_row_and_rack(plan, s.into, example)
    plan.placings.append(
        Placing(target, hall, row, rack, words == ["stacked"], s.value, scope, context, origin)
    )


def _refuse_rack_as_hall(head: tree.Identifier, rows: Mapping[str, str]) -> None:
    """Raise Fault where a name is one of ``rows`` and the number of a rack, as in ``A07``."""
    rack = re.fullmatch(r"([A-Za-z]+)(\d+)", head.name)
    if rack is None or rack[1] not in rows:
        return
    whole = f"{rows[rack[1]]}[{int(rack[2])}]"
    fix = Fix(f"write `{whole}`", ((head.span, whole),), safe=False)
    message = f"there is no hall `{head.name}` here; a rack is written behind its hall and row"
    raise Fault("E0101", head.span, message, help=f"write `{whole}`", fix=fix)


def hall_of_name(plan: FabricPlan, head: tree.Identifier) -> Hall:
    """The hall that is called so. Raises Fault, and Excused where its own text is at fault."""
    hall = next((h for h in plan.halls if h.name == head.name), None)
    if hall is not None:
        return hall
    if head.name in plan.absent_halls:
        raise Excused
    rows = {
        n: f"{h.name}.{r.name}" for h in plan.halls for r in h.rows for n in (r.name, f"{h.name}{r.name}")
    }
    if head.name in rows:
        whole = rows[head.name]
        message = f"there is no hall `{head.name}` here; a row is written behind its hall"
        fix = Fix(f"write `{whole}`", ((head.span, whole),), safe=False)
        raise Fault("E0101", head.span, message, help=f"write `{whole}`", fix=fix)
    _refuse_rack_as_hall(head, rows)
    raise unknown_name_fault(
        "E0101",
        head.span,
        "hall",
        head.name,
        [h.name for h in plan.halls],
        meant={head.name.lower(): plan.halls[0].name} if len(plan.halls) == 1 else {},
        extra_help="declare it: `hall h1 { row A { rack 1..8 { height 48U } } }`",
    )


def _hall_row_and_rack(
    plan: FabricPlan, path: tree.PathExpr, example: str
) -> tuple[Hall, RackRow | tree.Expr, tree.Expr]:
    head, *rest = path.parts
    if not isinstance(head, tree.Identifier):
        raise Fault("E0120", path.span, "this names no hall", help=example)
    hall = hall_of_name(plan, head)
    if len(rest) == 1 and isinstance(rest[0], tree.IndexPart) and len(rest[0].entries) == 2:
        row, rack = rest[0].entries
        _no_population(row, example)
        _no_population(rack, example)
        return hall, row, rack
    if (
        len(rest) == 2
        and isinstance(rest[0], tree.Identifier)
        and isinstance(rest[1], tree.IndexPart)
        and len(rest[1].entries) == 1
    ):
        found = next((r for r in hall.rows if r.name == rest[0].name), None)
        if found is None:
            raise unknown_name_fault(
                "E0101",
                rest[0].span,
                f"row of `{hall.name}` called",
                rest[0].name,
                [r.name for r in hall.rows],
            )
        _no_population(rest[1].entries[0], example)
        return hall, found, rest[1].entries[0]
    raise Fault("E0120", path.span, "a place is a rack: hall, row and number", help=example)


def _no_population(e: tree.Expr, example: str) -> None:
    if isinstance(e, (tree.Star, tree.Range, tree.ListExpr, tree.Hole)):
        raise Fault("E0120", e.span, "a device is in one rack", help=example)


def _refuse_number_of_racks(s: tree.Setting, known: Sequence[str]) -> None:
    """Raise Fault for ``racks 10`` in the block of a row, and for ``rows 4`` in that of a hall."""
    count = re.fullmatch(r"(rack|row)s?\s++(\d{1,3})", s.span.text.partition("{")[0].strip())
    if s.name.name not in ("racks", "rows") or count is None or count[1] not in known or not int(count[2]):
        return
    last = chr(ord("A") + min(int(count[2]), 26) - 1)
    new = f"rack 1..{int(count[2])}" if count[1] == "rack" else f"row A..{last}"
    at = SourceSpan(s.span.file, s.span.start, s.span.start + len(s.span.text.partition("{")[0].rstrip()))
    fix = Fix(f"write `{new}`", ((at, new),), safe=False)
    what = "racks have numbers" if count[1] == "rack" else "rows have names"
    raise Fault(
        "E0118", at, f"{what}, and a statement for all of them says which", help=f"write `{new}`", fix=fix
    )


def _read_distance(s: tree.Setting, scope: Scope, context: Context, evaluator: Evaluator) -> Distance:
    example = "the form is `distance h1 to h2 120m`, or `distance dc[0] to dc[1] 100km`"
    item = s.items[0] if len(s.items) == 1 else None
    words = [w for w, _ in item.args] if item else []
    a = item.value if item else None
    b = item.args[0][1] if item and item.args else None
    if (
        item is None
        or words != ["to", ""]
        or not isinstance(a, tree.PathExpr)
        or not isinstance(b, tree.PathExpr)
    ):
        raise Fault(
            "E0120", s.span, "a distance is between two halls, or two groups such as sites", help=example
        )
    if a.span.text == b.span.text:
        raise Fault(
            "E0120", s.span, "a distance is between two halls, or two groups such as sites", help=example
        )
    refuse_block(s, example)
    length = _whole_millimetres(evaluator.evaluate(item.args[1][1], scope), item.args[1][1].span)
    return Distance(a, b, length, s.span, scope, context)


def check_distance(plan: FabricPlan, d: Distance) -> None:
    """Resolve the ends of a distance. Raises Fault for what is neither a hall nor a group."""
    known = [h.name for h in plan.halls]
    for path in (d.a, d.b):
        if path.bare in known:
            d.ends.append(path.bare)
        elif path.bare in plan.absent_halls:
            raise Excused
        else:
            d.ends.append(_group_at_distance_end(plan, d, path, known))
    if isinstance(d.ends[0], str) is not isinstance(d.ends[1], str):
        raise Fault(
            "E0120", d.span, "one end is a hall and the other is none", help="name two halls, or two groups"
        )


def _group_at_distance_end(
    plan: FabricPlan, d: Distance, path: tree.PathExpr, halls: list[str]
) -> ResolvedPath:
    """What one end of a distance names where it is no hall."""
    try:
        target = resolve_path(plan, d.context, path, ports=False)
    except Fault:
        if path.bare is None:
            raise
        groups = [name for name, m in d.context.groups[0].members.items() if not isinstance(m, DeviceSet)]
        raise unknown_name_fault("E0101", path.span, "hall or group", path.bare, [*halls, *groups]) from None
    if target.group is None:
        raise Fault(
            "E0120",
            path.span,
            f"`{path.span.text}` is a device; a distance is between groups",
            help="name a group",
        )
    return target


def _whole_millimetres(value: object, span: SourceSpan, least: int = 1) -> int:
    """Whole millimetres of a length of at least ``least``. Raises Fault."""
    if not isinstance(value, Quantity) or value.dim != LENGTH:
        raise amount_fault(value, LENGTH, span)
    amount = value.amount * 1000
    if amount.denominator != 1 or not least <= amount < 1 << 40:
        raise Fault(
            "E0120",
            span,
            f"{quantity_text(value)} is not a length in whole millimetres above {least - 1}mm",
            help="such as `0.6m`",
        )
    return int(amount)


def _settings_without_repeats(settings: Iterable[tree.Setting], but: str = "") -> Iterator[tree.Setting]:
    """These settings. Raises Fault where one stands twice that is not ``but``."""
    first: dict[str, tree.Setting] = {}
    for s in settings:
        name = s.name.name
        if name in first and name != but:
            raise Fault("E0104", s.span, f"`{name}` is set twice", labels=[(first[name].span, "first here")])
        first.setdefault(name, s)
        yield s


class _HallReader:
    """Reads the block of one hall."""

    def __init__(self, scope: Scope, evaluator: Evaluator) -> None:
        self.scope, self.evaluator = scope, evaluator

    def hall(self, s: tree.Decl, origin: Origin) -> Hall:
        """The hall."""
        if s.shape is not None or s.of is not None:
            raise Fault(
                "E0120",
                s.span,
                "a hall has a name and a block",
                help="`hall h1 { row A { rack 1..8 { height 48U } } }`",
            )
        rows: list[RackRow] = []
        once: dict[str, tree.Setting] = {}
        for inner in _settings_without_repeats(self.settings(s.body or (), HALL, "hall"), but="row"):
            if inner.name.name == "row":
                rows += self.rows(inner, rows)
            else:
                once[inner.name.name] = inner
        if not rows:
            raise Fault(
                "E0120",
                s.span,
                f"hall `{s.name.name}` has no row",
                help="add `row A { rack 1..8 { height 48U } }`",
            )
        rack_pitch, row_pitch = self.pitch(once.get("pitch"))
        slack = once.get("slack")
        tray = self.tray(once["tray"], rows) if "tray" in once else None
        return Hall(
            s.name.name,
            tuple(rows),
            rack_pitch,
            row_pitch,
            tray,
            self.length(slack, least=0) if slack else None,
            origin,
        )

    def settings(
        self, body: tuple[tree.Stmt, ...], known: tuple[str, ...], what: str
    ) -> Iterator[tree.Setting]:
        """The settings of a block. Raises Fault for anything else."""
        for inner in body:
            if isinstance(inner, tree.Broken):
                raise Excused
            if (
                isinstance(inner, tree.Decl)
                and inner.kind.name == "row"
                and inner.shape is None
                and inner.of is None
            ):
                name = tree.SettingItem(tree.PathExpr((inner.name,), inner.name.span), (), inner.name.span)
                inner = tree.Setting(
                    inner.kind, (name,), inner.body, inner.span
                )  # `row A { … }` reads as a declaration
            if not isinstance(inner, tree.Setting):
                raise Fault(
                    "E0118",
                    inner.span,
                    f"the block of a {what} has settings only",
                    help=f"known: {', '.join(f'`{k}`' for k in known)}",
                )
            if inner.name.name not in known:
                _refuse_number_of_racks(inner, known)
                raise unknown_name_fault(
                    "E0118",
                    inner.name.span,
                    f"setting of a {what}",
                    inner.name.name,
                    known,
                )
            if inner.name.name not in WITH_BLOCK:
                refuse_block(inner)
            yield inner

    def rows(self, s: tree.Setting, before: list[RackRow]) -> list[RackRow]:
        """``row A..D { rack 1..32 { … } }`` or ``row A, cold1 { … }``."""
        names: list[tuple[str, SourceSpan]] = []
        for item in s.items:
            if item.args:
                behind = SourceSpan(item.span.file, item.value.span.end, item.span.end)
                message = f"a row does not use `{behind.text.strip()}`"
                raise Fault("E0118", item.span, message, help="`row A..D { rack 1..32 { height 48U } }`")
            names += self.names(item.value)
        if not names:
            raise Fault("E0120", s.span, "a row has a name", help="`row A..D { rack 1..32 { height 48U } }`")
        racks = self.racks_of_row(s)
        known = {r.name: r.span for r in before}
        for name, span in names:
            if name in known:
                raise Fault(
                    "E0104", span, f"row `{name}` is declared twice", labels=[(known[name], "first here")]
                )
            known[name] = span
        if len(known) > ROW_LIMIT or len(racks) * len(known) > RACK_LIMIT:
            raise Fault("E0116", s.span, f"a hall has at most {ROW_LIMIT:,} rows and {RACK_LIMIT:,} racks")
        return [RackRow(name, tuple(racks), span) for name, span in names]

    def racks_of_row(self, s: tree.Setting) -> list[tuple[int, RackKind]]:
        """The racks in the block of a row, each number once."""
        racks: list[tuple[int, RackKind]] = []
        seen: dict[int, SourceSpan] = {}
        for inner in self.settings(s.body or (), ("rack",), "row"):
            for number, kind in self.racks(inner):
                if number in seen:
                    raise Fault(
                        "E0104",
                        inner.span,
                        f"rack {number} is declared twice",
                        labels=[(seen[number], "first here")],
                    )
                seen[number] = inner.span
                racks.append((number, kind))
        if not racks:
            raise Fault("E0120", s.span, "a row has racks", help="`row A { rack 1..32 { height 48U } }`")
        return racks

    def names(self, e: tree.Expr) -> list[tuple[str, SourceSpan]]:
        """Names of rows: one, or the letters of a range."""
        if isinstance(e, tree.PathExpr) and e.bare is not None:
            return [(e.bare, e.span)]
        if (
            isinstance(e, tree.Range)
            and isinstance(e.low, tree.PathExpr)
            and isinstance(e.high, tree.PathExpr)
        ):
            low, high = e.low.bare or "", e.high.bare or ""
            if len(low) == len(high) == 1 and low.isupper() == high.isupper() and low <= high:
                return [(chr(c), e.span) for c in range(ord(low), ord(high) + 1)]
        if isinstance(e, tree.Measure):
            help = f"write `, row {e.span.text}` behind `pitch rack …`"
            raise Fault("E0120", e.span, "the distance of rows is a value of `pitch`", help=help)
        raise Fault(
            "E0120",
            e.span,
            "this is not a name of a row",
            help="write `row A`, `row A..D` or `row cold1, cold2`",
        )

    def racks(self, s: tree.Setting) -> list[tuple[int, RackKind]]:
        """``rack 1..32 { height 48U; power 2 x 44kW; mass 1400kg }``."""
        low, high = self.rack_numbers(s)
        kind = self.rack_kind(s)
        return [(n, kind) for n in range(low, high + 1)]

    def rack_numbers(self, s: tree.Setting) -> tuple[int, int]:
        """The first and the last number of the racks that a setting is about."""
        named = re.fullmatch(
            r"[A-Za-z]++(\d++)(?: ?(?:\.\.|-) ?[A-Za-z]*+(\d++))?", s.items[0].span.text if s.items else ""
        )
        if named is not None and self.scope.find(s.items[0].span.text) is None:
            new = "..".join(str(int(n)) for n in named.groups() if n)
            fix = Fix(f"write `{new}`", ((s.items[0].span, new),), safe=False)
            message = "racks of a row have numbers; the row gives the letter"
            raise Fault("E0120", s.items[0].span, message, help=f"write `rack {new}`", fix=fix)
        value = (
            self.evaluator.evaluate(s.items[0].value, self.scope)
            if len(s.items) == 1 and not s.items[0].args
            else None
        )
        if isinstance(value, WholeRange):
            low, high = value.low, value.high
        elif type(value) is int:
            low = high = value
        else:
            low, high = 0, -1
        hyphen = re.fullmatch(r"(\d+)\s*-\s*(\d+)", s.items[0].span.text) if s.items else None
        if hyphen is not None:
            new = f"{hyphen[1]}..{hyphen[2]}"
            fix = Fix(f"write `{new}`", ((s.items[0].span, new),))
            raise Fault(
                "E0120", s.items[0].span, "a range is written with `..`", help=f"write `{new}`", fix=fix
            )
        if not 0 <= low <= high < RACK_LIMIT:
            raise Fault(
                "E0120",
                s.span,
                "racks have numbers",
                help="`rack 1..32 { height 48U }`, or `rack 7 { height 42U }`",
            )
        return low, high

    def rack_kind(self, s: tree.Setting) -> RackKind:
        """What the braces of a setting say about its racks."""
        height: int | None = None
        feeds, watts, mass, bend = 0, None, None, None
        for inner in _settings_without_repeats(self.settings(s.body or (), RACK, "rack")):
            if inner.name.name == "height":
                units = self.amount(inner, UNITS)
                if units.denominator != 1:
                    raise Fault(
                        "E0120", inner.span, "the height of a rack is in whole units", help="`height 48U`"
                    )
                height = int(units)
            elif inner.name.name == "mass":
                mass = self.amount(inner, MASS)
            elif inner.name.name == "bend":
                bend = self.length(inner)
            else:
                feeds, watts = self.feeds(inner)
        return RackKind(height, feeds, watts, mass, s.span, bend)

    def feeds(self, s: tree.Setting) -> tuple[int, Fraction]:
        """``power 44kW`` or ``power 2 x 44kW``: how many feeds, and the watts of each."""
        item = s.items[0] if len(s.items) == 1 else None
        if item is not None and [w for w, _ in item.args] == ["x"]:
            count = self.evaluator.integer(item.value, self.scope)
            if not 1 <= count <= 16:
                raise Fault(
                    "E0120", s.span, f"a rack has 1 to 16 feeds, not {count}", help="`power 2 x 44kW`"
                )
            return count, self.quantity(
                self.evaluator.evaluate(item.args[0][1], self.scope), POWER, item.span
            )
        return 1, self.amount(s, POWER)

    def amount(self, s: tree.Setting, dim: Dim) -> Fraction:
        """The one quantity of a setting."""
        if len(s.items) != 1 or s.items[0].args:
            example = EXAMPLES.get(dim, "…")
            raise (
                unit_apart_fault(s)
                or settings_in_one_fault(s.name.name, s.items)
                or Fault(
                    "E0120",
                    s.span,
                    f"`{s.name.name}` is one {kind_name(dim)}",
                    help=f"`{s.name.name} {example}`",
                )
            )
        return self.quantity(self.evaluator.evaluate(s.items[0].value, self.scope), dim, s.items[0].span)

    def quantity(self, value: object, dim: Dim, span: SourceSpan) -> Fraction:
        """A positive amount of a dimension. Raises Fault."""
        if not isinstance(value, Quantity) or value.dim != dim or value.amount <= 0:
            raise amount_fault(value, dim, span)
        return value.amount

    def length(self, s: tree.Setting, least: int = 1) -> int:
        """The one length of a setting, in millimetres."""
        if len(s.items) != 1 or s.items[0].args:
            raise unit_apart_fault(s) or Fault(
                "E0120", s.span, f"`{s.name.name}` is one length", help=f"`{s.name.name} 1m`"
            )
        return _whole_millimetres(
            self.evaluator.evaluate(s.items[0].value, self.scope), s.items[0].span, least
        )

    def pitch(self, s: tree.Setting | None) -> tuple[int | None, int | None]:
        """``pitch rack 0.6m, row 3m``."""
        found: dict[str, int] = {}
        if s is not None and not s.items:
            message = "a pitch is from rack to rack and from row to row"
            raise Fault("E0120", s.span, message, help="`pitch rack 0.6m, row 3m`")
        for item in s.items if s else ():
            name = item.value.bare if isinstance(item.value, tree.PathExpr) else None
            if name not in ("rack", "row") or name in found or len(item.args) != 1 or item.args[0][0]:
                raise Fault(
                    "E0120",
                    item.span,
                    "a pitch is from rack to rack and from row to row",
                    help="`pitch rack 0.6m, row 3m`",
                )
            found[str(name)] = _whole_millimetres(
                self.evaluator.evaluate(item.args[0][1], self.scope), item.args[0][1].span
            )
        return found.get("rack"), found.get("row")

    def tray(self, s: tree.Setting, rows: list[RackRow]) -> Tray:
        """``tray above 2.6m { across at 1, 16; capacity 300mm x 100mm }``."""
        height = self.tray_height(s)
        numbers = {n for r in rows for n, _ in r.racks}
        across: tuple[int, ...] = tuple(sorted({rows[0].racks[0][0], rows[0].racks[-1][0]}))
        area = None
        for inner in _settings_without_repeats(self.settings(s.body or (), TRAY, "tray")):
            if inner.name.name == "along":
                if inner.span.text.split() != ["along", "rows"]:
                    raise Fault("E0120", inner.span, "trays run along rows", help="`along rows`")
            elif inner.name.name == "across":
                across = self.across(inner, numbers)
            else:
                area = self.area(inner)
        return Tray(height, across, area, s.span)

    def tray_height(self, s: tree.Setting) -> int:
        """The height of ``tray above 2.6m`` over the floor in millimetres; of ``tray below 0.5m`` the
        negative."""
        example = (
            "`tray above 2.6m { along rows; across at 1, 16; capacity 300mm x 100mm }`, or `tray below 0.5m`"
        )
        item = s.items[0] if len(s.items) == 1 else None
        word = item.value.bare if item is not None and isinstance(item.value, tree.PathExpr) else None
        if item is None or word not in ("above", "below") or len(item.args) != 1 or item.args[0][0]:
            raise Fault("E0120", s.span, "a tray is above the racks or below the floor", help=example)
        height = _whole_millimetres(
            self.evaluator.evaluate(item.args[0][1], self.scope), item.args[0][1].span
        )
        return height if word == "above" else -height

    def across(self, s: tree.Setting, known: set[int]) -> tuple[int, ...]:
        """``across at 1, 16``: the racks over which trays lead from row to row."""
        out = []
        if not s.items:
            raise Fault("E0120", s.span, "trays lead across at racks", help="`across at 1, 16`")
        for k, item in enumerate(s.items):
            if (
                k == 0
                and isinstance(item.value, tree.PathExpr)
                and item.value.bare == "at"
                and (first := only_value_behind(item)) is not None
            ):
                e = first
            elif k and not item.args:
                e = item.value
            else:
                raise Fault("E0120", item.span, "trays lead across at racks", help="`across at 1, 16`")
            number = self.evaluator.integer(e, self.scope)
            if number not in known:
                raise Fault(
                    "E0108", e.span, f"no row has a rack {number}", help="name racks that the rows have"
                )
            out.append(number)
        return tuple(sorted(set(out)))

    def area(self, s: tree.Setting) -> int:
        """``capacity 300mm x 100mm`` in square millimetres."""
        item = s.items[0] if len(s.items) == 1 else None
        if item is None or [w for w, _ in item.args] != ["x"]:
            raise Fault(
                "E0120", s.span, "the capacity of a tray is width x depth", help="`capacity 300mm x 100mm`"
            )
        width = _whole_millimetres(self.evaluator.evaluate(item.value, self.scope), item.value.span)
        return width * _whole_millimetres(
            self.evaluator.evaluate(item.args[0][1], self.scope), item.args[0][1].span
        )
