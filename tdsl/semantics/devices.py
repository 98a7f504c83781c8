"""The braces of a device: its role, which ports are split, which of the devices are spares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import TypeVar

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics import failure_rates, forwards, nos
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.model import Axis, DeviceModel, PortClass, SonicPort
from tdsl.semantics.quantity import TIME, UNIT_TABLE, Quantity, quantity_text
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import require_plain_setting
from tdsl.semantics.words_elsewhere import statement_for_device_word
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

Element = TypeVar("Element", int, str)
ROLES = ("accelerator", "storage", "manager")
DEVICE_SETTINGS = ("forwards", "latency", "nos", "role", "spares", "split", *failure_rates.FACTS)
SPLIT = "`split nic 8` makes 8 lanes of each port of `nic`, `split p[1..32] 2` two of each of these ports"


@dataclass(frozen=True, slots=True)
class Split:
    """``split p[1..32] 2``: ports of a class, all of them where ``low`` is None, and lanes of each."""

    name: str
    low: int | None
    high: int | None
    ways: int
    span: SourceSpan

    def __str__(self) -> str:
        part = "" if self.low is None else f"[{self.low}..{self.high}]"
        return f"{self.name}{part}/{self.ways}"


@dataclass(frozen=True, slots=True)
class DeviceSettings:
    """What the braces of a device say; ``role`` is None where they say none."""

    role: str | None = None
    spares: int = 0
    splits: tuple[Split, ...] = ()
    nos: str = ""
    forwards: bool = False
    latency: Quantity | None = None  # in place of what the model says
    failures: Mapping[str, object] = field(
        default_factory=dict
    )  # `fails` and `repair`, in place of the model's

    @property
    def text(self) -> str:
        """The same as written in a design, with numbers for what they are computed from."""
        out = [f"role {self.role}"] if self.role else []
        out += [f"spares {self.spares}"] if self.spares else []
        for s in self.splits:
            part = "" if s.low is None else f"[{s.low}]" if s.low == s.high else f"[{s.low}..{s.high}]"
            out.append(f"split {s.name}{part} {s.ways}")
        out += [f"nos {self.nos}" if self.nos in nos.SYSTEMS else f'nos "{self.nos}"'] if self.nos else []
        out += ["forwards"] if self.forwards else []
        if self.latency is not None:
            out.append(f"latency {_exact_time_text(self.latency)}")
        return "; ".join(out + failure_rates.exact_rate_text(self.failures))

    def kept(self) -> dict[str, object]:
        """What a device set keeps of them."""
        return {
            name: value
            for name, value in (
                ("spares", self.spares),
                ("nos", self.nos),
                ("forwards", self.forwards),
                ("latency", self.latency),
            )
            if value not in (0, "", False, None)
        } | dict(self.failures)


def _known_device_setting(s: tree.Stmt) -> tree.Setting:
    """A statement in the braces of a device as a setting that there is. Raises Fault, and Excused for text
    that has its finding."""
    if isinstance(s, tree.Broken):
        raise Excused
    known = ", ".join(f"`{w}`" for w in DEVICE_SETTINGS)
    if not isinstance(s, tree.Setting):
        model = isinstance(s, tree.Decl) and s.kind.name in ("port", "chip", "numa", "pcie")
        help = "move it into the braces of the device's model" if model else f"known: {known}"
        raise Fault("E0118", s.span, "a device's braces hold settings only", help=help)
    if s.name.name not in DEVICE_SETTINGS:
        before = s.name.span.file.text[max(s.name.span.start - 400, 0) : s.name.span.start]
        begins = re.findall(r"\b(host|switch|chip|ocs|panel)\s+(\w+)", before)
        kind, name = begins[-1] if begins else ("switch", "NAME")
        fault = unknown_name_fault(
            "E0118",
            s.name.span,
            "setting of a device called",
            s.name.name,
            DEVICE_SETTINGS,
            extra_help=statement_for_device_word(s.name.name, kind, name),
        )
        fault.diagnostic = replace(fault.diagnostic, notes=(f"a device knows {known}",))
        raise fault
    return s


def device_settings(
    body: Iterable[tree.Stmt], kind: str, scope: Scope, evaluator: Evaluator
) -> DeviceSettings:
    """The settings of a device of a kind. Raises Fault for what means nothing there."""
    out = DeviceSettings()
    seen: dict[str, SourceSpan] = {}
    failures: dict[str, object] = {}
    for statement in body:
        s = _known_device_setting(statement)
        name = s.name.name
        if name != "split":
            if name in seen:
                raise Fault("E0104", s.span, f"`{name}` is set twice", labels=[(seen[name], "first here")])
            _refuse_setting_of_other_kind(s, kind)
        seen.setdefault(name, s.span)
        match name:
            case name if name in failure_rates.FACTS:
                failure_rates.enter_failure_setting(s, scope, evaluator, failures)
            case "forwards":
                out = replace(out, forwards=forwards.read_forwards_setting(s, kind))
            case "latency":
                out = replace(out, latency=_latency_setting(s, scope, evaluator))
            case "nos":
                out = replace(out, nos=nos.nos_of_setting(s))
            case "role":
                out = replace(out, role=_role_setting(s))
            case "spares":
                out = replace(out, spares=_spare_count(s, scope, evaluator))
            case _:
                out = replace(out, splits=(*out.splits, _split_setting(s, scope, evaluator)))
    return replace(out, failures=failures)


def _refuse_setting_of_other_kind(s: tree.Setting, kind: str) -> None:
    """Refuse ``nos`` of what is no switch, a role or spares of what is neither a host nor a chip, and a
    latency of what is crossed by light."""
    name = s.name.name
    if name == "latency":
        if kind in ("host", "chip", "switch"):
            return
        help = "hosts, chips and switches have one; a cable has a `length`"
        raise Fault("E0118", s.span, f"a {kind} has no latency", help=help)
    if name == "nos" and kind != "switch":
        raise Fault("E0118", s.span, f"a {kind} has no network operating system", help="switches have one")
    if name not in ("nos", "forwards", *failure_rates.FACTS) and kind not in ("host", "chip"):
        what = "role" if name == "role" else "spares"
        raise Fault(
            "E0118",
            s.span,
            f"a {kind} has no {what}",
            help=f"remove `{s.span.text}`: hosts and chips have one",
        )


def _exact_time_text(latency: Quantity) -> str:
    """A time as a design writes it: ``230ns``, or where six digits are not all of it, a product."""
    said = quantity_text(latency)
    digits = said.rstrip("abcdefghijklmnopqrstuvwxyz")
    if Fraction(digits) * UNIT_TABLE[said[len(digits) :]][0] == latency.amount:
        return said
    exact = latency.amount * 10**12
    return f"1ps*{exact.numerator}/{exact.denominator}"


def _latency_setting(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> Quantity:
    """``latency 2us``: what each of these devices takes itself."""
    value = evaluator.evaluate(s.items[0].value, scope) if s.items else None
    require_plain_setting(s, "latency 2us")
    if not isinstance(value, Quantity) or value.dim != TIME or value.amount < 0:
        help = "write `latency 2us`"
        raise Fault("E0103", s.span, "`latency` of a device is one time, not negative", help=help)
    return value


def _role_setting(s: tree.Setting) -> str:
    word = s.items[0].value if s.items else None
    name = word.bare if isinstance(word, tree.PathExpr) else None
    if word is None:
        roles = ", ".join(f"`role {role}`" for role in sorted(ROLES))
        raise Fault("E0120", s.span, "the value of `role` is missing", help=f"write one of {roles}")
    if name not in ROLES:
        raise unknown_name_fault("E0101", s.items[0].span, "role", str(name), ROLES)
    require_plain_setting(s, f"role {name}")
    return str(name)


def _spare_count(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> int:
    """``spares 8``: the last eight along the device's last index."""
    if not s.items:
        raise Fault(
            "E0120", s.span, "say how many are spares", help="`spares 8`: the last eight of each group"
        )
    require_plain_setting(s, "spares 8")
    count = evaluator.integer(s.items[0].value, scope)
    if count < 1:
        raise Fault("E0120", s.items[0].span, f"{count} spares: leave the setting out")
    return count


def _split_form_fault(s: tree.Setting) -> Fault:
    """The fault of ``split p[1..8]``, which lacks how many, ``split p[1..8] x 2`` and other forms."""
    found = re.fullmatch(
        r"split\s++(\w++(?:\[[^\]]*+\])?+)(?:\s*+[x:=,*]|\s++(?:in|by|into|to)\b)?+\s*+(\d*+)", s.span.text
    )
    if found is None:
        return Fault("E0120", s.span, "write `split CLASS N`", help=SPLIT)
    counted = re.fullmatch(r"(\w+)\[(\d+)\]", found[1])
    if counted is not None and not found[2] and counted[2] in ("2", "4", "8"):
        new = f"split {counted[1]} {counted[2]}"
        fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
        message = f"the number of lanes follows the ports without brackets; `[{counted[2]}]` is one port"
        return Fault("E0120", s.span, message, help=f"write `{new}`", fix=fix)
    if not found[2]:
        message = f"how many lanes each port of `{found[1]}` has is missing"
        return Fault("E0120", s.span, message, help=f"write `split {found[1]} 2`, or another number")
    new = f"split {found[1]} {found[2]}"
    message = "the number of lanes follows the ports, with nothing between them"
    fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
    return Fault("E0120", s.span, message, help=f"write `{new}`", fix=fix)


def _split_setting(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> Split:
    """``split nic 8`` or ``split p[1..32] 2``."""
    item = s.items[0] if s.items else None
    path = item.value if item is not None else None
    fits = (
        s.body is None
        and len(s.items) == 1
        and item is not None
        and len(item.args) == 1
        and not item.args[0][0]
    )
    if item is None or not fits or not isinstance(path, tree.PathExpr) or len(path.parts) > 2:
        raise _split_form_fault(s)
    if re.fullmatch(r"x\d{1,2}", item.args[0][1].span.text):
        raise _split_form_fault(s)
    head, *rest = path.parts
    assert isinstance(head, tree.Identifier)
    ways = evaluator.integer(item.args[0][1], scope)
    if not rest:
        return Split(head.name, None, None, ways, s.span)
    entry = rest[0].entries[0] if isinstance(rest[0], tree.IndexPart) and len(rest[0].entries) == 1 else None
    if entry is None or isinstance(entry, (tree.Star, tree.ListExpr)):
        raise Fault(
            "E0120",
            path.span,
            "one port or one range of ports is split",
            help="`split p[1..32] 2`, one for each range",
        )
    low, high = (entry.low, entry.high) if isinstance(entry, tree.Range) else (entry, entry)
    return Split(head.name, evaluator.integer(low, scope), evaluator.integer(high, scope), ways, s.span)


def split_model(model: DeviceModel, splits: Sequence[Split]) -> DeviceModel:
    """The model with ports split into lanes of an even share of their rate.

    Where a part of a class is split, the class becomes several of its name, in the order of the ports: those
    that are whole, and those that have lanes.
    """
    for s in splits:
        if model.port_class(s.name) is None:
            names = [c.name for c in model.classes]
            at = s.span.start + s.span.text.index(s.name, len("split"))
            span = SourceSpan(s.span.file, at, at + len(s.name))
            raise unknown_name_fault("E0101", span, f"port class of {model.name} called", s.name, names)
    classes: list[PortClass] = []
    first = 0
    for c in model.classes:
        for part in _split_port_class(model, c, [s for s in splits if s.name == c.name]):
            classes.append(replace(part, first=first))
            first += part.size
    return replace(model, classes=tuple(classes), variant=",".join(sorted(map(str, splits))))


def _split_port_class(model: DeviceModel, c: PortClass, splits: list[Split]) -> list[PortClass]:
    """A class as its splits leave it."""
    for s in splits:
        _check_split(model, c, s)
    if not splits:
        return [c]
    whole = [s for s in splits if s.low is None]
    if not whole:
        return _split_port_ranges(c, splits)
    if len(splits) > 1:
        raise Fault(
            "E0104",
            splits[1].span,
            f"ports of `{c.name}` are split twice",
            labels=[(splits[0].span, "first here")],
        )
    return [_split_into_lanes(c, whole[0].ways)]


def _split_port_ranges(c: PortClass, splits: list[Split]) -> list[PortClass]:
    """A class with some ranges of its ports split: the ports before, in and after each range as classes of
    their own."""
    out: list[PortClass] = []
    at = axis_low = c.axes[0].low
    before: Split | None = None
    for s in sorted(splits, key=lambda s: s.low or 0):
        assert s.low is not None and s.high is not None
        if before is not None and s.low < at:
            raise Fault(
                "E0104", s.span, f"`{c.name}[{s.low}]` is split twice", labels=[(before.span, "first here")]
            )
        if s.low > at:
            out.append(_slice_port_class(c, at - axis_low, s.low - axis_low))
        out.append(_split_into_lanes(_slice_port_class(c, s.low - axis_low, s.high + 1 - axis_low), s.ways))
        at, before = s.high + 1, s
    if at <= c.axes[0].high:
        out.append(_slice_port_class(c, at - axis_low, c.axes[0].size))
    return out


def _check_split(model: DeviceModel, c: PortClass, s: Split) -> None:
    """Refuse a split that the class does not allow."""
    if s.ways < 2:
        raise Fault("E0120", s.span, f"`{s.name}` cannot be split {s.ways} ways")
    if not c.splits:
        raise Fault(
            "E0120",
            s.span,
            f"`{c.name}` of {model.name} does not split",
            labels=[(c.origin.span, "no `split` here")],
        )
    if s.ways not in c.splits:
        raise Fault(
            "E0120",
            s.span,
            f"`{c.name}` of {model.name} cannot be split {s.ways} ways",
            help=f"it splits {' or '.join(map(str, c.splits))} ways: write `split {c.name} {c.splits[0]}`",
            labels=[(c.origin.span, "declared here")],
        )
    if c.rate is not None and c.rate % s.ways:
        raise Fault("E0120", s.span, f"{c.rate} bit/s do not divide by {s.ways}")
    if s.low is not None and s.high is not None:
        _check_split_range(c, s, s.low, s.high)


def _check_split_range(c: PortClass, s: Split, first: int, last: int) -> None:
    """Refuse a range of ports that the class does not have, or that cuts a connector."""
    if len(c.axes) != 1:
        raise Fault(
            "E0109",
            s.span,
            f"`{c.name}` has {len(c.axes)} indices, and a part of one with one index may be split",
            help=f"write `split {c.name} {s.ways}`",
        )
    axis = c.axes[0]
    if first > last:
        raise Fault("E0120", s.span, f"the range {first}..{last} is empty")
    if first < axis.low or last > axis.high:
        meant = re.search(r"\[\s*(\d+)\s*-\s*(\d+)\s*\]", s.span.text)
        at = (
            SourceSpan(s.span.file, s.span.start + meant.start(), s.span.start + meant.end())
            if meant
            else s.span
        )
        new = f"[{meant[1]}..{meant[2]}]" if meant else ""
        raise Fault(
            "E0108",
            at,
            f"`{c.name}` has ports {axis.low}..{axis.high}, not {first}..{last}",
            labels=[(c.origin.span, "declared here")],
            help=f"write `{c.name}{new}`: `..` makes a range"
            if new
            else f"write ports of `{c.name}[{axis.low}..{axis.high}]`",
            fix=Fix(f"write `{new}`", ((at, new),), safe=False) if new else None,
        )
    low, high = first - axis.low, last - axis.low
    for inner, outer in ((low, low - 1), (high, high + 1)):
        if 0 <= outer < c.size and c.connectors[inner] == c.connectors[outer]:
            raise Fault(
                "E0120",
                s.span,
                f"`{c.name}[{inner + axis.low}]` shares a connector with `{c.name}[{outer + axis.low}]`",
                help="split both or neither",
            )


def _slice_port_class(c: PortClass, start: int, stop: int) -> PortClass:
    """Ports of a class with one index, as a class of their own."""

    def cut(values: tuple[str, ...]) -> tuple[str, ...]:
        return values[start:stop]

    def lanes(named: tuple[tuple[int, tuple[str, ...]], ...]) -> tuple[tuple[int, tuple[str, ...]], ...]:
        return tuple((ways, values[start * ways : stop * ways]) for ways, values in named)

    sonic: tuple[SonicPort, ...] = c.sonic[start:stop]
    return replace(
        c,
        axes=(Axis(c.axes[0].low + start, stop - start),),
        cages=c.cages[start:stop],
        connectors=c.connectors[start:stop],
        labels=cut(c.labels),
        systems=cut(c.systems),
        lane_systems=lanes(c.lane_systems),
        sonic=sonic,
        netdevs=cut(c.netdevs),
        lane_netdevs=lanes(c.lane_netdevs),
    )


def _split_into_lanes(c: PortClass, n: int) -> PortClass:
    """A class with each port split ``n`` ways; its lanes share the sockets of its module."""

    def each(values: tuple[Element, ...]) -> tuple[Element, ...]:
        return tuple(v for v in values for _ in range(n))

    sockets = min(c.sockets, n)
    return replace(
        c,
        axes=(*c.axes, Axis(0, n)),
        rate=None if c.rate is None else int(Fraction(c.rate, n)),
        cages=each(c.cages),
        connectors=tuple(v * sockets + k * sockets // n for v in c.connectors for k in range(n)),
        labels=tuple(f"{v}/{k + 1}" for v in c.labels for k in range(n)),
        systems=dict(c.lane_systems).get(n) or each(c.systems),
        split=c.split * n,
        netdevs=dict(c.lane_netdevs).get(n) or each(c.netdevs),
        sonic=tuple(p.part(k, n) for p in c.sonic for k in range(n)),
    )
