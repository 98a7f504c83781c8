"""Tiers of an intent as written: their switches, numbers and ratio, with the place of each in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics import topology
from tdsl.semantics.amounts import setting_without_sign_fault
from tdsl.semantics.devices import device_settings, split_model
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity, quantity_text
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import (
    bundle_across,
    connect_value,
    fitting_rate,
    links_carried_by_cable,
)
from tdsl.semantics.sizing import Aim, Leading, TierSpec
from tdsl.semantics.topology import Instance
from tdsl.semantics.unfold import names_in
from tdsl.semantics.values import ModelValue, a_type
from tdsl.syntax import tree

if TYPE_CHECKING:
    from tdsl.semantics.planner import FabricPlanner

TIER_SETTINGS = ("switch", "down", "up", "oversubscription", "cable", "bundle", "uneven")
EXACT = Aim("", Fraction(1))


class TierReader:
    """Reads the tiers of one block that names a topology; ``scope`` is where their names have a meaning."""

    def __init__(self, planner: FabricPlanner, s: tree.Setting, instance: Instance, scope: Scope) -> None:
        self.planner, self.s, self.instance, self.scope = planner, s, instance, scope
        self.evaluator = planner.evaluator

    def check_names(self, tiers: tuple[tree.TierDecl, ...]) -> None:
        """A tier holds the one before it; the first holds hosts."""
        _refuse_setting_of_first_tier(tiers)
        before = "hosts"
        seen: dict[str, SourceSpan] = {}
        for t in tiers:
            if t.child.name != before and not (before == "hosts" and t.child.name == "chips"):
                raise Fault(
                    "E0120",
                    t.child.span,
                    f"`{t.name.name}` holds `{before}`, the tier before it, not `{t.child.name}`",
                )
            if t.name.name in seen:
                raise Fault(
                    "E0104",
                    t.name.span,
                    f"there are two tiers `{t.name.name}`",
                    labels=[(seen[t.name.name], "first here")],
                )
            seen[t.name.name], before = t.name.span, t.name.name

    def spec(self, t: tree.TierDecl) -> TierSpec:
        """A tier as written, with its numbers computed."""
        s, instance = self.s, self.instance
        _refuse_grouping_by_plane(t)
        settings = _settings_of_tier(t)
        item = _switch_item_of_tier(t, settings)
        self.only_read(t, settings)
        label = self.label(item)
        path = item.value
        assert isinstance(path, tree.PathExpr)
        if not instance.tiers:
            topology.require_parameters(
                instance, names_in((t.count, tuple(x.items for x in settings.values()))), s.name.span
            )
        span = t.span if instance.tiers else _span_of_parameter(s, path.bare) or s.name.span
        model, devices = self.devices(path, self.switch_model(path, span), settings["switch"])
        down, up = (self.leading(model, settings[w]) if w in settings else None for w in ("down", "up"))
        self.both_ways(t, model, settings, down, up)
        wrote = next((v for w, v in item.args if w == "x"), None)
        count, per = self.counts(t, wrote)
        aim = _oversubscription_aim(settings.get("oversubscription"))
        ratio = EXACT if aim is None else topology.read_ratio_aim(aim, self.scope, self.evaluator)
        self.refuse_other_cable(settings.get("cable"))
        places = self.places({"per": t.count if per else None, "model": path, "count": wrote, "aim": aim})
        return TierSpec(
            t.name.name, t.child.name, per, model, count, ratio, span,
            places,
            self.cable(settings.get("cable")), label, devices, down, up,
            "" if t.by is None else t.by.name,
            self.bundle(settings.get("bundle")), self.is_uneven(settings.get("uneven")),
        )  # fmt: skip

    def switch_model(self, path: tree.PathExpr, span: SourceSpan) -> DeviceModel:
        """The model of a tier's switches. Raises Fault for one that is no switch, or has no ports."""
        model = self.planner.named_model(path, self.scope)
        if model.kind != "switch":
            raise Fault(
                "E0102",
                span,
                f"{model.name} is a {model.kind}, not a switch",
                labels=[(model.origin.span, "declared here")],
            )
        if not model.classes:
            raise Fault(
                "E0459",
                span,
                f"{model.name} has no ports",
                labels=[(model.origin.span, "declared here")],
                help="give the model a class of ports: `port p[1..64]: 400Gbps`",
            )
        return model

    def counts(self, t: tree.TierDecl, wrote: tree.Expr | None) -> tuple[int | None, int | None]:
        """Switches of one instance of a tier, None where no count is written, and what it holds of the tier
        before it, None where that is `?`."""
        count = None if wrote is None else self.evaluator.integer(wrote, self.scope)
        per = None if isinstance(t.count, tree.Hole) else self.evaluator.integer(t.count, self.scope)
        if (count is not None and count < 1) or (per is not None and per < 1):
            raise Fault("E0120", t.span, "a tier has at least one of everything")
        return count, per

    def refuse_other_cable(self, s: tree.Setting | None) -> None:
        """Refuse a `cable` that names several parts, or that stands in a topology."""
        if s is None:
            return
        named = re.fullmatch(r"cable\s++([A-Za-z]\w*+(?:-\w++)++)", s.span.text)
        if named is not None:
            new = f"cable {named[1].replace('-', '_')}"
            fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
            raise Fault("E0120", s.span, "a name has `_` and no `-`", help=f"write `{new}`", fix=fix)
        one = len(s.items) == 1 and {w for w, _ in s.items[0].args} <= {"carries"}
        if not (self.instance.tiers and one):
            raise Fault(
                "E0120", s.span, "a tier names one cable, where a design writes it", help="`cable PART`"
            )

    def cable(self, s: tree.Setting | None) -> str:
        """The cable of the links up to a tier and how many of them it carries, as text; "" where none is
        written."""
        if s is None:
            return ""
        n = links_carried_by_cable(s, self.scope, self.evaluator)
        return f"{s.items[0].value.span.text} carries {n}" if n > 1 else s.items[0].value.span.text

    def is_uneven(self, s: tree.Setting | None) -> bool:
        """Whether some pairs of switches may have a link more: ``uneven``, or ``uneven CONDITION``."""
        if s is None or not s.items:
            return s is not None
        value = self.evaluator.evaluate(s.items[0].value, self.scope)
        if not isinstance(value, bool) or s.items[0].args:
            raise Fault(
                "E0103",
                s.items[0].span,
                f"expected a condition, found {a_type(value)}",
                help="write `uneven`, and nothing behind it",
            )
        return value

    def bundle(self, s: tree.Setting | None) -> str:
        """``bundle 2`` of the links up to a tier, as text; "" where none is written."""
        if s is not None and bundle_across(s):
            raise Fault(
                "E0120",
                s.span,
                "`across` is for links of a host to two switches, and a tier's links join switches",
                help="write `bundle 2`",
            )
        return f"bundle {connect_value(s, self.scope, self.evaluator)}" if s is not None else ""

    def label(self, item: tree.SettingItem) -> str:
        """The name of a tier's switches: ``switch MODEL x 4 as NAME``; "" where none is written."""
        words = [v for w, v in item.args if not w]
        names = [v.bare if isinstance(v, tree.PathExpr) else None for v in words]
        if not words:
            return ""
        if len(names) == 3 and names[0] == "as" and names[2] in ("uneven", "spread"):
            gap = SourceSpan(words[1].span.file, words[1].span.end, words[2].span.start)
            raise setting_without_sign_fault(gap, words[2].span)
        if len(names) == 1 and names[0] == "as":
            help = "write the name, such as `as leaf`, or remove `as`"
            raise Fault("E0120", words[0].span, "the name of the switches is missing behind `as`", help=help)
        if len(names) != 2 or names[0] != "as" or not names[1]:
            raise Fault(
                "E0118",
                words[0].span,
                "`switch` of a tier does not use this",
                help="`switch MODEL x 4 as NAME`",
            )
        return str(names[1])

    def devices(
        self, path: tree.PathExpr, model: DeviceModel, written: tree.Setting
    ) -> tuple[DeviceModel, str]:
        """The model as the settings of its devices leave it, and these settings as text."""
        value = (
            self.scope.value(str(path.bare), path.span)
            if self.scope.find(str(path.bare), path.span) is not None
            else None
        )
        body = (*(value.settings if isinstance(value, ModelValue) else ()), *(written.body or ()))
        where = (
            self.planner.context.group.scope
            if isinstance(value, ModelValue) and value.settings
            else self.scope
        )
        made = device_settings(body, model.kind, where, self.evaluator)
        return (split_model(model, made.splits) if made.splits else model), made.text

    def leading(self, model: DeviceModel, s: tree.Setting) -> Leading:
        """``down p[1..32]``, ``down down at 200Gbps``: ports of the switch that lead one way."""
        help = f"`{s.name.name} p[1..32]`, `{s.name.name} p at 200Gbps`"
        item, path = _item_of_leading_ports(s, help)
        head = path.parts[0]
        assert isinstance(head, tree.Identifier)
        parts = model.parts(head.name)
        if not parts:
            names = sorted({c.name for c in model.classes})
            raise unknown_name_fault(
                "E0101", head.span, f"port class of {model.name} called", head.name, names
            )
        written = self.port_range(model, head.name, path, parts, help) if len(path.parts) == 2 else None
        text = head.name if written is None else f"{head.name}[{written[0]}..{written[1]}]"
        numbers = [_count_ports_in_range(c, written) for c in parts]
        rates = dict.fromkeys(c.rate or 0 for c, n in zip(parts, numbers, strict=True) if n)
        if len(rates) > 1:
            found = " and ".join(quantity_text(Quantity(Fraction(r), RATE)) for r in rates)
            raise Fault(
                "E0120",
                path.span,
                f"these ports run at {found}; links of one tier run at one rate",
                help=help,
            )
        count, rate = sum(numbers), next(iter(rates))
        if not item.args:
            return Leading(text, count, rate)
        at, shown = self.lower_rate(item.args[0][1], text, rate, help)
        return Leading(text, count, at, shown)

    def port_range(
        self, model: DeviceModel, name: str, path: tree.PathExpr, parts: tuple[PortClass, ...], help: str
    ) -> tuple[int, int]:
        """The first and the last port of ``p[1..32]``."""
        index = path.parts[1]
        entry = index.entries[0] if isinstance(index, tree.IndexPart) and len(index.entries) == 1 else None
        if not isinstance(entry, tree.Range) or len(parts[0].axes) - (parts[0].split > 1) != 1:
            raise Fault("E0120", path.span, "expected a range of ports", help=help)
        low, high = (self.evaluator.integer(e, self.scope) for e in (entry.low, entry.high))
        first, last = parts[0].axes[0].low, parts[-1].axes[0].high
        if not first <= low <= high <= last:
            raise Fault(
                "E0108",
                entry.span,
                f"`{name}` of {model.name} has ports {first}..{last}, not {low}..{high}",
                help=help,
            )
        return low, high

    def lower_rate(self, e: tree.Expr, text: str, rate: int, help: str) -> tuple[int, str]:
        """The rate behind ``at`` in bit/s, which the ports called ``text`` must reach, and the rate as
        text."""
        asked = self.evaluator.evaluate(e, self.scope)
        if not isinstance(asked, Quantity) or asked.dim != RATE:
            raise Fault("E0103", e.span, f"expected a rate, found {a_type(asked)}", help=help)
        at = fitting_rate(asked, e.span)
        if rate and at > rate:
            raise Fault(
                "E0120",
                e.span,
                f"`{text}` runs at {quantity_text(Quantity(Fraction(rate), RATE))} at most",
                help=help,
            )
        return at, quantity_text(asked)

    def both_ways(
        self,
        t: tree.TierDecl,
        model: DeviceModel,
        settings: Mapping[str, tree.Setting],
        down: Leading | None,
        up: Leading | None,
    ) -> None:
        """Refuse ports that lead both ways, one way alone, or none where two rates make a choice needed."""
        if down is None and up is None:
            rates = {c.rate for c in model.first_parts}
            if len(rates) > 1:
                raise Fault(
                    "E0120",
                    t.span,
                    f"the ports of {model.name} run at {len(rates)} rates here, so a tier says which lead "
                    "where",
                    help="write `down p[1..32]; up p[33..64]` in its braces",
                )
            return
        if down is None:
            raise Fault(
                "E0120",
                settings["up"].span,
                "ports that lead up are named, and those that lead down are not",
                help="write `down CLASS[RANGE]` beside it",
            )
        if up is not None:
            mine, theirs = (_parse_port_range(x.text) for x in (down, up))
            if mine[0] == theirs[0] and mine[1] <= theirs[2] and theirs[1] <= mine[2]:
                raise Fault(
                    "E0120",
                    settings["up"].span,
                    f"`{up.text}` and `{down.text}` have ports in common",
                    labels=[(settings["down"].span, "these lead down")],
                    help="a port leads one way",
                )

    def only_read(self, t: tree.TierDecl, settings: Mapping[str, tree.Setting]) -> None:
        """Refuse what the settings of a tier do not read."""
        for name, x in settings.items():
            if len(x.items) > 1:
                raise Fault(
                    "E0118",
                    x.items[1].span,
                    f"`{name}` of a tier has one value",
                    help=f"write `{name} {x.items[0].span.text}`",
                )
            if x.body is not None and name != "switch":
                raise Fault(
                    "E0118", x.body[0].span if x.body else x.span, f"`{name}` of a tier takes no block"
                )
        extra = next((v for w, v in settings["switch"].items[0].args if w not in ("x", "")), None)
        if extra is not None:
            raise Fault(
                "E0118",
                extra.span,
                f"`switch` of `{t.name.name}` does not use this",
                help="the form is `switch MODEL x 4`",
            )

    def places(
        self, given: Mapping[str, tree.Expr | tree.SettingItem | None]
    ) -> tuple[tuple[str, SourceSpan], ...]:
        """What the design gives of a tier, with the place of each."""
        found = ((what, self.place(e)) for what, e in given.items() if e is not None)
        return tuple((what, at) for what, at in found if at is not None)

    def place(self, e: tree.Expr | tree.SettingItem) -> SourceSpan | None:
        """Where the design gives a number of a tier; None where it gives others with it, or none."""
        s, instance = self.s, self.instance
        if instance.tiers:
            return e.span
        named = names_in(e)
        uses = names_in(tuple(x for x in instance.node.body if isinstance(x, tree.TierDecl)))
        alone = isinstance(e, tree.SettingItem) or (isinstance(e, tree.PathExpr) and e.bare is not None)
        return (
            _span_of_parameter(s, named[0])
            if alone and len(named) == 1 and uses.count(named[0]) == 1
            else None
        )


def _refuse_setting_of_first_tier(tiers: tuple[tree.TierDecl, ...]) -> None:
    """Refuse ``oversubscription`` and ``uneven`` in the first tier, and a grouping by another word than
    ``rail``: there is no tier below whose switches have a ratio or links up."""
    if tiers[0].by is not None and tiers[0].by.name != "rail":
        raise Fault(
            "E0120",
            tiers[0].by.span,
            f"the first tier is grouped `by rail`, not by {tiers[0].by.name}",
            help="write `by rail` for a tree of switches for each rail, or leave it out",
        )
    for x in tiers[0].body:
        if isinstance(x, tree.Setting) and x.name.name == "uneven":
            raise Fault(
                "E0120",
                x.span,
                f"`uneven` is of the links to the tier below, and below `{tiers[0].name.name}` are hosts",
                help="write it in a tier above",
            )
        if isinstance(x, tree.Setting) and x.name.name == "oversubscription":
            above = (
                f"write it in `{tiers[1].name.name}`, the tier above" if len(tiers) > 1 else "leave it out"
            )
            raise Fault(
                "E0120",
                x.span,
                f"a ratio is of the switches one tier below, and below `{tiers[0].name.name}` are hosts",
                help=above,
            )


def _refuse_grouping_by_plane(t: tree.TierDecl) -> None:
    """Refuse ``by plane``: the planes of a fabric are said beside its hosts."""
    if t.by is not None and t.by.name == "plane":
        raise Fault(
            "E0120",
            t.by.span,
            "a tier is grouped `by rail`, not by plane",
            help="write `planes 2` beside the hosts, and the tier without `by plane`: all tiers are built "
            "once in each plane",
        )


def has_tree_of_each_rail(tiers: tuple[tree.TierDecl, ...]) -> bool:
    """Whether each rail has tiers of its own up to the last: the first is grouped by rail, or each of two or
    more above it."""
    grouped = [t.by is not None and t.by.name == "rail" for t in tiers]
    return grouped[0] or (len(tiers) > 2 and all(grouped[1:]))


def _settings_of_tier(t: tree.TierDecl) -> dict[str, tree.Setting]:
    """The settings of a tier by name. Raises Fault for other statements and unknown settings, and for one
    that is set twice."""
    settings = {x.name.name: x for x in t.body if isinstance(x, tree.Setting)}
    if any(isinstance(x, tree.Broken) for x in t.body):
        raise Excused
    other = next((x for x in t.body if not isinstance(x, tree.Setting)), None)
    if other is not None:
        known = ", ".join(f"`{w}`" for w in TIER_SETTINGS)
        raise Fault("E0118", other.span, "the braces of a tier hold settings only", help=f"known: {known}")
    for x in t.body:
        if isinstance(x, tree.Setting) and settings[x.name.name] is not x:
            raise Fault(
                "E0104",
                settings[x.name.name].span,
                f"`{x.name.name}` is set twice",
                labels=[(x.span, "first here")],
            )
    unknown = next((x for name, x in settings.items() if name not in TIER_SETTINGS), None)
    if unknown is not None:
        raise _unknown_tier_setting_fault(unknown, "switch" in settings)
    return settings


def _unknown_tier_setting_fault(x: tree.Setting, has_switch: bool) -> Fault:
    """The fault of a setting that no tier has: ``{ QM9700 }`` and ``{ leaf QM9700 }`` are a model without
    ``switch``."""
    name, there_is_none = x.name.name, f"there is no setting of a tier called `{x.name.name}` here"
    if not (name.islower() or x.items or has_switch):
        at = SourceSpan(x.name.span.file, x.name.span.start, x.name.span.start)
        fix = Fix("put `switch`", ((at, "switch "),), safe=False)
        message = f"{there_is_none}; a model follows `switch`"
        return Fault("E0118", x.name.span, message, help=f"write `switch {name}`", fix=fix)
    model = x.items[0].value if len(x.items) == 1 and not x.items[0].args else None
    if isinstance(model, tree.PathExpr) and (model.bare or "").isupper() and not has_switch:
        new = f"switch {model.span.text} as {name}"
        fix = Fix(f"write `{new}`", ((x.name.span.to(model.span), new),), safe=False)
        message = f"{there_is_none}; the switches' name follows `as`"
        return Fault("E0118", x.name.span, message, help=f"write `{new}`", fix=fix)
    return unknown_name_fault("E0118", x.name.span, "setting of a tier called", name, TIER_SETTINGS)


def _switch_item_of_tier(t: tree.TierDecl, settings: Mapping[str, tree.Setting]) -> tree.SettingItem:
    """What ``switch`` of a tier says: a model, and a count where one is written."""
    written = settings.get("switch")
    first = written.items[0].span.text if written is not None and written.items else ""
    counted = re.fullmatch(r"(\d++) ?x (\w++)(.*)", first)
    if written is not None and counted is not None:
        at, new = written.items[0].span, f"{counted[2]} x {counted[1]}{counted[3]}"
        fix = Fix(f"write `{new}`", ((at, new),))
        message = "the number of switches follows their model"
        raise Fault("E0120", at, message, help=f"write `switch {new}`", fix=fix)
    if written is None or not written.items or not isinstance(written.items[0].value, tree.PathExpr):
        raise Fault(
            "E0120",
            t.span,
            f"`{t.name.name}` has no switches",
            help="`tier pod of 4 rack { switch MODEL x 16 }`",
        )
    return written.items[0]


def _item_of_leading_ports(s: tree.Setting, help: str) -> tuple[tree.SettingItem, tree.PathExpr]:
    """What ``down`` or ``up`` says, and its path: a class of ports, and perhaps a range of them."""
    item = s.items[0] if len(s.items) == 1 and s.body is None else None
    path = item.value if item is not None else None
    if (
        item is None
        or not isinstance(path, tree.PathExpr)
        or len(path.parts) > 2
        or any(w != "at" for w, _ in item.args)
    ):
        raise Fault("E0120", s.span, f"`{s.name.name}` of a tier names ports of its switches", help=help)
    return item, path


def _count_ports_in_range(c: PortClass, numbers: tuple[int, int] | None) -> int:
    """Ports of a class with numbers from the first to the last of a range; all of them where there is
    none."""
    if numbers is None:
        return c.size
    begin, end = (c.axes[0].low, c.axes[0].high) if c.axes else (0, 0)
    return max(0, min(end, numbers[1]) - max(begin, numbers[0]) + 1) * c.split


def _parse_port_range(text: str) -> tuple[str, int, int]:
    """Class and first and last port of ``p[1..32]``; of a class alone, all there may be."""
    name, _, rest = text.rstrip("]").partition("[")
    low, _, high = rest.partition("..")
    return name, int(low or 0), int(high or 1 << 30)


def _span_of_parameter(s: tree.Setting, name: str | None) -> SourceSpan | None:
    """The setting of a block that gives a parameter."""
    return next((x.span for x in s.body or () if isinstance(x, tree.Setting) and x.name.name == name), None)


def _oversubscription_aim(s: tree.Setting | None) -> tree.SettingItem | None:
    """The item of a tier's `oversubscription`, None where it has none. Raises Fault for one without value."""
    if s is None:
        return None
    if not s.items:
        help = "write `oversubscription 1:1`, or remove it"
        raise Fault("E0120", s.span, "the value of `oversubscription` is missing", help=help)
    return s.items[0]
