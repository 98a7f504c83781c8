"""``feed``: the power tree above the racks, from the utility down to what the racks are plugged into."""

from __future__ import annotations

from fractions import Fraction

from tdsl.findings.source import Origin
from tdsl.semantics.amounts import amount_fault, settings_in_one_fault, unit_apart_fault
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.semantics.quantity import POWER, Quantity
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

UNFIT = "E0236"
SETTINGS = ("from", "power", "racks")
EXAMPLE = "the form is `feed pdu_a { from utility_a; power 400kW; racks h1.A[1..8] }`"
MOST_FEEDS = 1024


@dataclass(frozen=True, slots=True)
class FeedStatement:
    """``feed NAME { from FEED, …; power WATTS; racks PATH, … }``: a utility, a floor, a PDU or a busway, with
    the feeds that it gets power from, the watts that it carries (None where not stated) and the racks that
    are plugged into it."""

    name: str
    parents: tuple[tree.Identifier, ...]
    watts: Fraction | None
    racks: tuple[tree.PathExpr, ...]
    scope: Scope
    origin: Origin


def _name_of_feed(s: tree.Setting) -> str | None:
    """The one bare name behind the word, None where something else is."""
    item = s.items[0] if len(s.items) == 1 and not s.items[0].args else None
    return item.value.bare if item is not None and isinstance(item.value, tree.PathExpr) else None


def plan_feed(plan: FabricPlan, s: tree.Setting, scope: Scope, context: Context, origin: Origin) -> None:
    """Enter a feed. Raises Fault for what has no meaning."""
    if len(context.groups) > 1:
        raise Fault(
            "E0118",
            s.span,
            "`feed` belongs in the fabric's own block",
            help="declare it once, outside groups",
        )
    name = _name_of_feed(s)
    if name is None or s.body is None:
        raise Fault("E0120", s.span, "a feed has a name and a block", help=EXAMPLE)
    old = next((f for f in plan.feeds if f.name == name), None)
    if old is not None:
        raise Fault(
            "E0104", s.span, f"feed `{name}` is declared twice", labels=[(old.origin.span, "first here")]
        )
    if len(plan.feeds) >= MOST_FEEDS:
        raise Fault("E0116", s.span, f"a fabric has at most {MOST_FEEDS:,} feeds")
    said = _settings_of_feed(s.body)
    watts = _watts_of_feed(plan, said["power"], scope) if "power" in said else None
    parents = tuple(_name_in_path(p) for p in _paths_of(said["from"])) if "from" in said else ()
    racks = tuple(_paths_of(said["racks"])) if "racks" in said else ()
    plan.feeds.append(FeedStatement(name, parents, watts, racks, scope, origin))


def _settings_of_feed(body: tuple[tree.Stmt, ...]) -> dict[str, tree.Setting]:
    """The settings of a feed's block by name, each once."""
    said: dict[str, tree.Setting] = {}
    for inner in body:
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting):
            raise Fault("E0118", inner.span, "the block of a feed has settings only", help=EXAMPLE)
        word = inner.name.name
        if word not in SETTINGS:
            raise unknown_name_fault("E0118", inner.name.span, "setting of a feed", word, SETTINGS)
        if word in said:
            where = [(said[word].span, "first here")]
            raise Fault("E0104", inner.span, f"`{word}` is set twice", labels=where)
        said[word] = inner
    return said


def _watts_of_feed(plan: FabricPlan, s: tree.Setting, scope: Scope) -> Fraction:
    """What a feed carries."""
    if len(s.items) != 1 or s.items[0].args or s.body is not None:
        lost = settings_in_one_fault("power", s.items, SETTINGS) or unit_apart_fault(s)
        if lost is not None:
            raise lost
        raise Fault("E0120", s.span, "`power` of a feed is one amount", help="the form is `power 400kW`")
    value = plan.evaluator.evaluate(s.items[0].value, scope)
    if not isinstance(value, Quantity) or value.dim != POWER or value.amount <= 0:
        raise amount_fault(value, POWER, s.items[0].span)
    return value.amount


def _paths_of(s: tree.Setting) -> list[tree.PathExpr]:
    """The paths of a setting."""
    out = []
    for item in s.items:
        if not isinstance(item.value, tree.PathExpr) or item.args:
            raise Fault("E0120", item.span, f"`{s.name.name}` takes names", help=EXAMPLE)
        out.append(item.value)
    if not out or s.body is not None:
        raise Fault("E0120", s.span, f"`{s.name.name}` takes names", help=EXAMPLE)
    return out


def _name_in_path(path: tree.PathExpr) -> tree.Identifier:
    """The one name of a path to a feed."""
    head = path.parts[0]
    if len(path.parts) != 1 or not isinstance(head, tree.Identifier):
        raise Fault("E0120", path.span, "a feed is named by its name alone", help=EXAMPLE)
    return head
