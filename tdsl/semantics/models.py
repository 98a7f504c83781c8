"""A ``model`` declaration becomes a DeviceModel: its ports, cages and names, the devices inside it, its host
layout."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix, Severity
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics import failure_rates, forwards, nos, provenance, supply
from tdsl.semantics.amounts import amount_fault, amount_in_quotes_fault, decimal_comma_fault
from tdsl.semantics.cages import check_cages, heatsink_of, read_heatsink, warn_of_unknown_form
from tdsl.semantics.extents import axes_of
from tdsl.semantics.fact_kinds import (
    LAYOUT_KINDS,
    PORT_TYPE,
    RATE_FORMATS,
    check_fact,
    check_value,
    warn_of_unknown_word,
)
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.model import (
    KINDS,
    MODEL_KINDS,
    Axis,
    Chip,
    DeviceModel,
    LayoutNode,
    PortClass,
    indices_at_position,
)
from tdsl.semantics.model_connects import model_connect_settings, refuse_connect_of_fabrics_alone
from tdsl.semantics.quantity import COMPUTE, LENGTH, MASS, POWER, RATE, TIME, UNITS, Quantity
from tdsl.semantics.scope import Binding, Scope
from tdsl.semantics.settings import (
    FIBRES,
    MEDIA_MEANT,
    MEDIA_WORDS,
    fitting_rate,
    not_too_long,
    refuse_foreign_placeholder,
    refuse_text_without_quotes,
    require_plain_setting,
)
from tdsl.semantics.sonic import sonic_ports
from tdsl.semantics.values import (
    BareWord,
    ModelValue,
    Value,
    a_type,
    integer_if_whole,
    number_in_message,
    text_of,
)
from tdsl.semantics.words_elsewhere import name_of_word_elsewhere
from tdsl.syntax import tree
from tdsl.syntax.foreign_units import amount_written_here
from tdsl.syntax.keywords import INSTEAD_OF
from tdsl.system.similar import closest_name

if TYPE_CHECKING:
    from tdsl.semantics.evaluate import Evaluator
    from tdsl.semantics.library import Library, Linked

PORT_SETTINGS = (
    "type",
    "cage",
    "connector",
    "sockets",
    "name",
    "os",
    "netdev",
    "split",
    "sonic",
    "alias",
    "optic",
)
_ONE_VALUE = ("connector", "sockets", "name", "optic")
CO_PACKAGED = "CPO"
"""The form of optics that are part of a device: co-packaged optics, to whose ports fibre goes."""
FACTS = (
    "height", "power", "mass", "source", "note", "latency", "price", "airflow", "cooling", "sm", "device",
    "subsystem", "class", "memory", "ports", "codename", "vendor", "part", "gdr", "maxconn", "bandwidth",
    "year", "marks", "asic", "radix", "rate", "medium", "fibre", "polarity", "reach", "legs", "platform",
    "hwsku", "nos", "breakout", "diameter", "form", "connector", "lengths", "unconfirmed", "codes", "role",
    "tail", "forwards", "bend", "ferrules", "flops", "machine", *supply.FACTS, *provenance.FACTS,
    *failure_rates.FACTS,
)  # fmt: skip
MEASURED = {
    "power": (POWER, "700W"),
    "height": (UNITS, "2U"),
    "mass": (MASS, "14kg"),
    "rate": (RATE, "400Gbps"),
    "diameter": (LENGTH, "5mm"),
    "reach": (LENGTH, "50m"),
}
"""What a fact is an amount of, and how one is written."""
WORDED = frozenset({"form", "tail", "flops", "sold", "basis", "searched", "fact"})
"""Facts that read words behind their value."""
TEXT_FACTS = frozenset(
    {"source", "note", "codename", "vendor", "part", "asic", "platform", "hwsku", "machine"}
)
"""Facts that are a text."""
PORT_LIMIT = 1 << 16


class ModelBuilder:
    """Builds one model; a fault in one statement drops that statement only."""

    def __init__(self, library: Library, home: Linked, node: tree.ModelDecl, evaluator: Evaluator) -> None:
        self.library, self.home, self.node, self.evaluator = library, home, node, evaluator
        self.scope = Scope(home.scope)
        self.classes: list[PortClass] = []
        self.labels: dict[str, str] = {}  # the ports that have them
        self.chips: list[Chip] = []
        self.layout: list[LayoutNode] = []
        self.sizes: dict[str, tuple[Axis, ...]] = {}
        self.facts: dict[str, object] = {}
        self.wiring: list[tree.Connect] = []
        self.broken = False

    def build(self) -> DeviceModel | None:
        """The model, or None if what it is cannot be known."""
        node = self.node
        if node.kind.name not in MODEL_KINDS and node.name.name in MODEL_KINDS:
            both, new = node.kind.span.to(node.name.span), f"{node.name.name} {node.kind.name}"
            fix = Fix(f"write `{new}`", ((both, new),))
            message = f"`{node.name.name}` is the kind of the model and comes before its name"
            fault = Fault("E0101", both, message, help=f"write `model {new}`", fix=fix)
            fault.report(self.library.diagnostics)
            return None
        if node.kind.name not in MODEL_KINDS:
            unknown_name_fault(
                "E0101", node.kind.span, "kind of model", node.kind.name, MODEL_KINDS, meant=INSTEAD_OF
            ).report(self.library.diagnostics)
            return None
        values = [s for s in node.body if isinstance(s, tree.Let)]  # first: their order does not matter
        others = [s for s in node.body if not isinstance(s, tree.Let)]
        steps: list[Callable[[], object]] = [partial(self.statement, s) for s in (*values, *others)]
        steps += [partial(self.scope.value, s.name.name, s.name.span) for s in values]  # also those unused
        for step in steps:
            try:
                step()
            except Fault as fault:
                self.broken = True
                fault.report(self.library.diagnostics)
            except Excused:
                self.broken = True
        if self.broken:
            return None
        return DeviceModel(
            node.name.name,
            node.kind.name,
            text_of(self.evaluator.evaluate(node.title, self.scope)) if node.title else "",
            tuple(self.classes),
            tuple(self.chips),
            (),
            tuple(self.layout),
            self.facts,
            Origin(node.name.span),
            wiring=tuple(self.wiring),
            scope=self.scope,
        )

    def statement(self, s: tree.Stmt) -> None:
        """One statement of the model's body."""
        if self.node.kind.name in ("cable", "optic") and not isinstance(
            s, (tree.Setting, tree.Let, tree.Broken)
        ):
            some = (
                "`medium fibre`, `reach 50m`, `legs 2`"
                if self.node.kind.name == "cable"
                else "`form OSFP finned`, `ports 2`"
            )
            raise Fault(
                "E0118",
                s.span,
                f"a model of {self.node.kind.name} has facts only",
                help=f"such as `rate 400Gbps`, {some}",
            )
        match s:
            case tree.Let():
                self.scope.define(
                    s.name.name,
                    Binding("let", s.name.span, lambda: self.evaluator.evaluate(s.value, self.scope)),
                )
            case tree.Decl() if s.kind.name == "port":
                self.port(s)
            case tree.Decl() if s.kind.name in ("numa", "pcie"):
                self.layout_nodes(s)
            case tree.Decl() if s.kind.name in KINDS:
                self.chip(s)
            case tree.Connect():
                refuse_connect_of_fabrics_alone(s)
                model_connect_settings(s, self.scope, self.evaluator)
                self.wiring.append(s)
            case tree.Setting():
                self.fact(s)
            case tree.Broken():
                self.scope.excused.update(s.names)
                raise Excused
            case _:
                raise Fault(
                    "E0118",
                    s.span,
                    "this statement has no meaning inside a model",
                    help="a model has ports, chips, layout and facts",
                )

    def axes(self, s: tree.Decl) -> tuple[Axis, ...]:
        """The declared shape, checked for names taken twice."""
        if s.name.name in self.sizes:
            raise Fault("E0104", s.name.span, f"`{s.name.name}` is already declared in this model")
        axes = axes_of(s.shape, self.scope, self.evaluator)
        size = prod(a.size for a in axes)
        if size > PORT_LIMIT:
            raise Fault(
                "E0116",
                s.span,
                f"{number_in_message(size)} in one model are more than the limit of {PORT_LIMIT:,}",
            )
        self.sizes[s.name.name] = axes
        return axes

    # ------------------------------------------------------------ ports
    def port(self, s: tree.Decl) -> None:
        """``port nic[8]: 400Gbps { type NDR; cage 2 OSFP; os "…" }``."""
        axes = self.axes(s)
        size = prod(a.size for a in axes)
        rate = self.rate(s)
        settings = self.port_settings(s)
        per_cage, form, cage_number = self.cage(settings.get("cage"), s, axes)
        heatsink = heatsink_of(settings.get("cage"), self.evaluator, self.scope)
        group = self.whole_setting(settings.get("connector"), 1)
        cages = (0,) * size
        if per_cage:
            cages = self.cage_numbers(settings["cage"], per_cage, form, cage_number, size)
        first = self.classes[-1].first + self.classes[-1].size if self.classes else 0
        labels = self.per_port(settings.get("name"), s.name.name, axes)
        default = tuple(_plain_label(s.name.name, axes, k) for k in range(size))
        self.classes.append(
            PortClass(
                s.name.name,
                axes,
                first,
                rate,
                self.types_of_port(settings.get("type")),
                cages,
                form,
                tuple(k // group for k in range(size)),
                labels or default,
                self.per_port(settings.get("os"), s.name.name, axes) or tuple("" for _ in range(size)),
                splits := self.splits(settings.get("split"), size),
                1,
                Origin(s.name.span),
                self.lane_systems(settings.get("os"), splits, s.name.name, axes),
                sonic_ports(
                    settings.get("sonic"),
                    alias := settings.get("alias"),
                    splits,
                    partial(self.integers, name=s.name.name, axes=axes),
                    self.per_port(alias, s.name.name, axes),
                    self.lane_systems(alias, splits, s.name.name, axes),
                ),
                self.per_port(settings.get("netdev"), s.name.name, axes) or (),
                self.lane_systems(settings.get("netdev"), splits, s.name.name, axes),
                self.whole_setting(settings.get("sockets"), 1),
                per_cage,
                heatsink,
                self.built_in_optic(settings.get("optic"), settings.get("cage")),
            )
        )
        self.unique_labels(s, self.classes[-1])

    def built_in_optic(self, s: tree.Setting | None, cage: tree.Setting | None) -> str:
        """``optic NAME``: the model of the optics that are part of the device, "" where they are not. Its
        ports have no cage."""
        if s is None:
            return ""
        value = s.items[0].value if len(s.items) == 1 and not s.items[0].args else None
        if not isinstance(value, tree.PathExpr) or not value.bare:
            raise Fault(
                "E0120", s.span, "`optic` of a port takes the name of a model", help="`optic CPO_DR4`"
            )
        if cage is not None:
            raise Fault(
                "E0120",
                s.span,
                "a port with optics of its own has no cage",
                labels=[(cage.span, "its cage")],
                help=f"leave out `{cage.span.text}`, or `{s.span.text}`",
            )
        model = self.library.model(self.home, value.bare, value.span, ("optic",))
        form = model.facts.get("form", "")
        if model.kind != "optic" or str(form[0] if isinstance(form, tuple) else form) != CO_PACKAGED:
            raise Fault(
                "E0120",
                value.span,
                f"`{value.bare}` is not a model of optics that are part of a device",
                help=f"state `form {CO_PACKAGED}` in a `model optic {value.bare}`",
            )
        return value.bare

    def unique_labels(self, s: tree.Decl, c: PortClass) -> None:
        """Two ports of a device with one name on the faceplate could not be distinguished."""
        for k, label in enumerate(c.labels):
            if label in self.labels:
                raise Fault(
                    "E0104",
                    s.span,
                    f"ports {self.labels[label]} and {c.path(k)} of this model both have the name {label!r}",
                )
            self.labels[label] = c.path(k)

    def rate(self, s: tree.Decl) -> int | None:
        """Bits per second of a port; None for ``any``."""
        if s.of is None:
            raise Fault(
                "E0120",
                s.span,
                f"port `{s.name.name}` has no rate",
                help=f"write `port {s.name.name}[…]: 400Gbps`, or `any`",
            )
        value = self.evaluator.evaluate(s.of, self.scope, words=True)
        if isinstance(value, BareWord) and value == "any":
            return None
        if (
            not isinstance(value, Quantity)
            or value.dim != RATE
            or value.amount <= 0
            or value.amount.denominator != 1
        ):
            what = (
                "more than nothing"
                if isinstance(value, Quantity) and value.dim == RATE
                else f"a rate such as `400Gbps`, not {a_type(value)}"
            )
            help = "write `400Gbps`, or another rate"
            raise amount_in_quotes_fault(value, s.of.span) or Fault(
                "E0103", s.of.span, f"a port's rate is {what}", help=help
            )
        return fitting_rate(value, s.of.span)

    def port_settings(self, s: tree.Decl) -> dict[str, tree.Setting]:
        """The settings by name."""
        out: dict[str, tree.Setting] = {}
        for inner in s.body or ():
            if isinstance(inner, tree.Broken):
                raise Excused
            if not isinstance(inner, tree.Setting):
                raise Fault(
                    "E0118", inner.span, "a port has settings only", help=f"known: {', '.join(PORT_SETTINGS)}"
                )
            name = inner.name.name
            if name not in PORT_SETTINGS:
                raise unknown_name_fault(
                    "E0118",
                    inner.name.span,
                    "setting of a port",
                    name,
                    PORT_SETTINGS,
                    meant=dict.fromkeys(("form", "form_factor", "slot", "plug", "module"), "cage"),
                )
            if name in out:
                raise Fault(
                    "E0104", inner.span, f"`{name}` is set twice", labels=[(out[name].span, "first here")]
                )
            if inner.body is not None:
                refuse_text_without_quotes(inner)
                raise Fault(
                    "E0118", inner.span, f"`{name}` of a port takes no block", help=f"write `{name} …;`"
                )
            if name not in ("cage", "sonic"):
                require_plain_setting(
                    inner, _plain_form(inner), 1 if name in _ONE_VALUE else len(inner.items)
                )
            if name == "split" and not inner.items:
                help = "write `split 2, 4`, or remove `split`"
                raise Fault("E0120", inner.span, "the value of `split` is missing", help=help)
            out[name] = inner
        return out

    def cage(
        self, s: tree.Setting | None, decl: tree.Decl, axes: tuple[Axis, ...]
    ) -> tuple[int, str, tuple[int, ...] | None]:
        """``cage N FORM[, NUMBER]``: ports a cage, its form, and each port's cage number if written."""
        if s is None:
            return 0, "", None
        value = s.items[0].value if s.items else None
        word = value.bare if isinstance(value, tree.PathExpr) else None
        named = word is not None and self.scope.find(word) is None
        count = integer_if_whole(self.evaluator.evaluate(value, self.scope)) if value and not named else None
        if not isinstance(count, int) or count < 1:
            number = re.search(r"\d+", s.span.text.replace(str(word), "")) if named else None
            raise Fault(
                "E0120",
                s.span,
                "a cage says first how many ports share it, then its form",
                help=f"write `cage {number[0] if number else 1} {word}`" if named else "`cage 2 OSFP`",
            )
        args = s.items[0].args[:1]
        self.refuse_words_of_cage(s)
        form = self.form_of_cage(args[0][1]) if args else ""
        if len(s.items) < 2:
            return count, form, None
        numbers = tuple(self.integers(s.items[1].value, decl.name.name, axes))
        return count, form, numbers

    def refuse_words_of_cage(self, s: tree.Setting) -> None:
        """Refuse words that a cage does not read: behind its heat sink and its numbers, and further items."""
        first, *others = s.items
        behind = [*first.args[2:], *(a for o in others for a in o.args)]
        named = [value.span for word, value in first.args[:2] if word]
        at = next(iter([*named, *(value.span for _, value in behind), *(o.span for o in others[1:])]), None)
        if at is not None:
            help = "write `cage 2 OSFP`, `cage 2 OSFP finned` or `cage 1 OSFP, 33`"
            raise Fault("E0118", at, f"`cage` does not use `{at.text}`", help=help)

    def form_of_cage(self, e: tree.Expr) -> str:
        """The form of a cage. Raises Fault for what is no word."""
        value = self.evaluator.evaluate(e, self.scope, words=True)
        if not isinstance(value, (str, ModelValue)) or not text_of(value):
            message = f"the form of a cage is a word, not {a_type(value)}"
            raise Fault("E0103", e.span, message, help="write `cage 2 OSFP`")
        warn_of_unknown_form(text_of(value), e.span, self.library.diagnostics)
        return text_of(value)

    def cage_numbers(
        self, s: tree.Setting, per_cage: int, form: str, written: tuple[int, ...] | None, size: int
    ) -> tuple[int, ...]:
        """The number of the cage of each of ``size`` ports: as ``written``, else counted on from the cages of
        the same form, which are numbered over the whole device."""
        same = [c for c in self.classes if c.form == form and c.per_cage]
        after = max((n for c in same for n in c.cages), default=0)
        cages = written or tuple(after + k // per_cage + 1 for k in range(size))
        check_cages(cages, per_cage, s, same)
        return cages

    def integers(self, e: tree.Expr, name: str, axes: tuple[Axis, ...]) -> list[int]:
        """A whole number for every port."""
        return [self.evaluator.integer(e, self.at(name, axes, k)) for k in range(prod(a.size for a in axes))]

    def at(self, name: str, axes: tuple[Axis, ...], k: int) -> Scope:
        """The scope of one element: ``i``, and its own name, are its index (a list if it has several)."""
        scope = self.scope.child()
        indices = indices_at_position(k, axes)
        value: Value = indices[0] if len(indices) == 1 else (indices if indices else 0)
        scope.set("i", value, self.node.name.span, "index")
        scope.set(name, value, self.node.name.span, "index")
        return scope

    def per_port(self, s: tree.Setting | None, name: str, axes: tuple[Axis, ...]) -> tuple[str, ...] | None:
        """A string for every port."""
        if s is None:
            return None
        if not s.items:
            raise Fault(
                "E0120", s.span, f"`{s.name.name}` needs a string", help=f'`{s.name.name} "swp{{i}}"`'
            )
        names = tuple(
            self.text(s.items[0].value, self.at(name, axes, k)) for k in range(prod(a.size for a in axes))
        )
        same_for_all = len(names) > 1 and set(names) == {s.items[0].span.text.strip('"')}
        if s.name.name == "os" and self.node.kind.name == "switch" and same_for_all:
            message = f"all ports of `{name}` have the name {names[0]!r} in the operating system"
            raise Fault("E0104", s.span, message, help='put the index into it: `os "swp{i}"`')
        return names

    def lane_systems(
        self, s: tree.Setting | None, splits: tuple[int, ...], name: str, axes: tuple[Axis, ...]
    ) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """What lanes are called, for every way to split: the second string of ``os "swp{i}",
        "swp{i}s{lane}"``."""
        if s is None or len(s.items) < 2:
            return ()
        if len(s.items) > 2 or not splits:
            name = s.name.name
            help = f'for a lane: `{name} "swp{{i}}", "swp{{i}}s{{lane}}"; split 2, 4`'
            raise Fault(
                "E0120",
                s.span,
                f"`{name}` takes the name of a port, and of a lane if the port may be `split`",
                help=help,
            )
        e, at = s.items[1].value, self.node.name.span
        out = []
        for ways in splits:
            names = []
            for k in range(prod(a.size for a in axes)):
                scope = self.at(name, axes, k).child()
                scope.set("lanes", ways, at, "number of lanes")
                for lane in range(ways):
                    inner = scope.child()
                    inner.set("lane", lane, at, "lane")
                    names.append(self.text(e, inner))
            out.append((ways, tuple(names)))
        return tuple(out)

    def text(self, e: tree.Expr, scope: Scope) -> str:
        """A string."""
        value = self.evaluator.evaluate(e, scope)
        if not isinstance(value, str):
            raise Fault(
                "E0103",
                e.span,
                f"a name is a string, not {a_type(value)}",
                help='write it in quotes: `"swp{i}"`',
            )
        refuse_foreign_placeholder(e.span)
        if not value.strip():
            raise Fault("E0120", e.span, "this name is empty", help="leave the setting out, or write a name")
        return str(value)

    def types_of_port(self, s: tree.Setting | None) -> tuple[str, ...]:
        """The types of a port. Raises Fault for what is no word, and for a type that is said twice."""
        if s is None:
            return ()
        value = self.setting_value(s, self.scope)
        check_value(s, value, PORT_TYPE, self.library.diagnostics)
        types = tuple(map(text_of, value)) if isinstance(value, tuple) else (text_of(value),)
        for k, one in enumerate(types):
            if one in types[:k]:
                raise Fault(
                    "E0104", s.items[k].span, f"the type `{one}` is named twice", help="leave one of them"
                )
        return types

    def numbers(self, s: tree.Setting | None) -> tuple[int, ...]:
        """A setting's whole numbers."""
        return tuple(self.evaluator.integer(i.value, self.scope) for i in s.items) if s else ()

    def splits(self, s: tree.Setting | None, size: int) -> tuple[int, ...]:
        """The ways in which each of ``size`` ports may be split."""
        if s is None:
            return ()
        slashed = re.fullmatch(r"split\s++(\d{1,2}(?:\s*+/\s*+\d{1,2})++)", s.span.text)
        if slashed is not None:
            new = f"split {', '.join(re.findall(r'[0-9]+', slashed[1]))}"
            fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
            raise Fault(
                "E0120", s.span, "ways to split a port are listed with `,`", help=f"write `{new}`", fix=fix
            )
        found = self.numbers(s)
        for n in found:
            if n < 2:
                raise Fault("E0120", s.span, f"a port is split at least 2 ways, not {number_in_message(n)}")
            if n * size > PORT_LIMIT:
                lanes = number_in_message(n * size)
                raise Fault(
                    "E0116", s.span, f"{lanes} lanes of one class are more than the limit of {PORT_LIMIT:,}"
                )
        return found

    def whole_setting(self, s: tree.Setting | None, default: int) -> int:
        """A setting of one whole number of at least 1."""
        if s and not s.items:
            raise Fault("E0120", s.span, f"`{s.name.name}` needs a number")
        value = self.numbers(s)[0] if s else default
        if value < 1 and s:
            raise Fault("E0120", s.span, "this must be at least 1")
        return value

    # ------------------------------------------------------------ inside
    def chip(self, s: tree.Decl) -> None:
        """``chip gpu[8]: H100`` and ``switch nvs[4]: NVSWITCH3`` inside a host."""
        axes = self.axes(s)
        if not isinstance(s.of, tree.PathExpr) or s.of.bare is None:
            raise Fault(
                "E0120",
                s.span,
                f"`{s.name.name}` needs a model",
                help=f"write `{s.kind.name} {s.name.name}[…]: MODEL`",
            )
        self.chips.append(
            Chip(
                s.name.name,
                s.kind.name,
                axes,
                self.library.model(self.home, s.of.bare, s.of.span),
                Origin(s.name.span),
            )
        )

    def layout_nodes(self, s: tree.Decl) -> None:
        """``numa cpu[2] { … }``, ``pcie plx[8] { on cpu[i // 4]; … }``, ``pcie gpu { … }`` for what is
        declared already."""
        name = s.name.name
        axes = self.sizes[name] if name in self.sizes and s.shape is None else self.axes(s)
        for k in range(prod(a.size for a in axes)):
            scope = self.at(name, axes, k)
            facts: dict[str, object] = {}
            on: tuple[str, int] | None = None
            for inner in s.body or ():
                if isinstance(inner, tree.Broken):
                    raise Excused
                if not isinstance(inner, tree.Setting):
                    raise Fault("E0118", inner.span, "a layout element has settings only")
                require_plain_setting(inner, _plain_form(inner))
                if inner.name.name in facts or (on is not None and inner.name.name == "on"):
                    raise Fault("E0104", inner.span, f"`{inner.name.name}` is set twice")
                if inner.name.name == "on":
                    on = self.holder(inner, scope)
                else:
                    facts[inner.name.name] = self.layout_value(inner, s.kind.name, scope)
            self.layout.append(LayoutNode(s.kind.name, name, k, on, facts, Origin(s.name.span)))

    def layout_value(self, s: tree.Setting, of_what: str, scope: Scope) -> Value:
        """The value of a setting of a layout element, ``numa`` or ``pcie``. Raises Fault."""
        known = [name for name, kind in LAYOUT_KINDS.items() if of_what in kind.of]
        if s.name.name not in known:
            if of_what == "pcie":
                known.append("on")
            raise unknown_name_fault("E0118", s.name.span, f"setting of `{of_what}`", s.name.name, known)
        value = self.setting_value(s, scope)
        check_value(s, value, LAYOUT_KINDS[s.name.name], self.library.diagnostics)
        return value

    def holder(self, s: tree.Setting, scope: Scope) -> tuple[str, int]:
        """What ``on plx[i]`` names: an element declared before."""
        path = s.items[0].value if s.items else None
        if not isinstance(path, tree.PathExpr) or not isinstance(path.parts[0], tree.Identifier):
            raise Fault("E0120", s.span, "`on` names what this hangs from", help="`on cpu[i // 4]`")
        head = path.parts[0]
        if head.name not in self.sizes:
            raise unknown_name_fault("E0101", head.span, "layout element", head.name, self.sizes)
        index = 0
        if len(path.parts) > 2 or not all(isinstance(p, tree.IndexPart) for p in path.parts[1:]):
            message = "`on` names one layout element, with its index"
            raise Fault("E0120", path.span, message, help="`on cpu[i // 4]`")
        if len(path.parts) > 1 and isinstance(path.parts[1], tree.IndexPart):
            entry = path.parts[1].entries[0]
            axes = self.sizes[head.name]
            if len(axes) != 1 or len(path.parts[1].entries) != 1:
                raise Fault(
                    "E0109",
                    path.parts[1].span,
                    f"`{head.name}` has {len(axes)} indices",
                    help="one entry a dimension",
                )
            axis = axes[0]
            value = self.evaluator.integer(entry, scope)
            if not axis.low <= value <= axis.high:
                raise Fault("E0108", entry.span, f"{head.name}[{value}] is outside {axis.low}..{axis.high}")
            index = value - axis.low
        return head.name, index

    def fact(self, s: tree.Setting) -> None:
        """Any other setting is a fact of the model; one that looks like a misspelt known one is a fault."""
        if s.name.name == "fact":
            s = self.own_fact(s)
        elif s.name.name not in FACTS:
            self.not_a_fact(s)
        name = s.name.name
        if name == "ports":
            self.refuse_counted_ports(s)
        self.refuse_block_or_repeat(s)
        if name == "role":
            self.chip_role(s)
        if name == "forwards":
            self.facts[name] = forwards.read_forwards_setting(s, self.node.kind.name)
            return
        if name == "nos":
            self.facts[name] = self.switch_nos(s)
            return
        if name == "flops":
            self.compute_rates(s)
            return
        if name in failure_rates.FACTS:
            failure_rates.enter_failure_setting(s, self.scope, self.evaluator, self.facts)
            return
        if name == "sold":
            self.facts[name] = supply.read_sold_fact(s, self.words_of_items(s))
            return
        if name in provenance.FACTS:
            self.facts[name] = provenance.read_provenance_fact(s, self.words_of_items(s))
            return
        self.refuse_words_of_fact(s)
        self.facts[name] = value = self.setting_value(s, self.scope)
        _check_measured_fact(s, value)
        _refuse_unfit_lengths_or_medium(s, value)
        not_too_long(name, value, s.span)
        check_fact(s, value, self.node.kind.name, self.library.diagnostics)
        if name in supply.FACTS:
            self.facts[name] = supply.read_supply_fact(s, value)
        elif name in ("form", "tail"):  # `form OSFP finned` is a form and a heat sink
            self.facts[name] = (text_of(value), *self.heatsink_of_form(s))
        else:
            self.further_facts(s)

    def heatsink_of_form(self, s: tree.Setting) -> tuple[str, ...]:
        """The heat sink behind the form of a plug, if one is written. Raises Fault for another word."""
        item = s.items[0]
        form = text_of(self.evaluator.evaluate(item.value, self.scope, words=True))
        warn_of_unknown_form(form, item.value.span, self.library.diagnostics)
        if len(item.args) > 1 or (item.args and item.args[0][0]):
            require_plain_setting(s, f"{s.name.name} {item.value.span.text}")
        return tuple(read_heatsink(value, self.evaluator, self.scope) for _, value in item.args)

    def refuse_words_of_fact(self, s: tree.Setting) -> None:
        """Refuse words behind the value of a fact that has none; `power` may have `max` and an amount."""
        name = s.name.name
        if name in WORDED or not s.items:
            return
        first, args = s.items[0].value.span.text, s.items[0].args
        if name == "power" and len(s.items) == 1 and [word for word, _ in args] == ["max"]:
            _refuse_power_above_most(s, args[0][1], self.setting_value(s, self.scope), self.all_values(s)[-1])
            return
        _refuse_unquoted_text(s)
        if name in MEASURED and args and not args[0][0] and isinstance(args[0][1], tree.Measure):
            raise _word_before_amount_fault(s, args[0][1])
        if first == "max":
            help = f"write `power 700W {s.items[0].span.text}`"
            raise Fault("E0120", s.span, "the usual power is missing before `max`", help=help)
        if name == "price" and len(args) == 1 and (lost := _currency_fault(s.items[0])) is not None:
            raise lost
        form = f"power {first}`, or `power {first} max 1.5kW" if name == "power" else _plain_form(s)
        require_plain_setting(s, form, len(s.items))

    def refuse_block_or_repeat(self, s: tree.Setting) -> None:
        """Refuse a block behind a fact, and a fact that is given twice."""
        name = s.name.name
        if s.body is not None:
            raise Fault(
                "E0118",
                s.body[0].span if s.body else s.span,
                f"`{name}` takes no block",
                help=f"write `{name} …`",
            )
        if name in self.facts:
            raise Fault("E0104", s.span, f"`{name}` is set twice")

    def switch_nos(self, s: tree.Setting) -> str:
        """``nos sonic`` of a switch."""
        if self.node.kind.name != "switch":
            raise Fault(
                "E0118",
                s.span,
                f"a {self.node.kind.name} has no network operating system",
                help="switches have one",
            )
        return nos.nos_of_setting(s)

    def compute_rates(self, s: tree.Setting) -> None:
        """``flops bf16 989Tflops, fp8 1979Tflops``: dense operations of each format, as the facts
        ``flops_bf16`` and ``flops_fp8``."""
        help = "write `flops bf16 989Tflops, fp8 1979Tflops`"
        formats: list[str] = []
        for item in s.items:
            word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
            following = [v for w, v in item.args if not w]
            rate = (
                self.evaluator.evaluate(following[0], self.scope)
                if len(item.args) == 1 == len(following)
                else None
            )
            if word is None or not isinstance(rate, Quantity) or rate.dim != COMPUTE or rate.amount <= 0:
                raise Fault("E0103", item.span, "`flops` is a format and a rate above zero", help=help)
            if word in formats:
                raise Fault("E0104", item.span, f"`flops` of {word} is set twice")
            if word not in RATE_FORMATS:
                at, so = item.value.span, "no job is computed in it"
                warn_of_unknown_word("flops", at, word, RATE_FORMATS, self.library.diagnostics, so)
            formats.append(word)
            self.facts[f"flops_{word}"] = rate
        if not formats:
            raise Fault("E0120", s.span, "`flops` is a format and a rate", help=help)
        self.facts["flops"] = tuple(formats)

    def words_of_items(self, s: tree.Setting) -> list[list[Value]]:
        """The values of each item of a setting, words as text."""
        return [
            [
                text if isinstance(text, str) else self.evaluator.evaluate(text, self.scope, words=True)
                for text in (i.value, *(x for word, v in i.args for x in ((word, v) if word else (v,))))
            ]
            for i in s.items
        ]

    def all_values(self, s: tree.Setting) -> list[Value]:
        """All values of a setting, those of the words behind its first ones too."""
        return [
            self.evaluator.evaluate(e, self.scope, words=True)
            for i in s.items
            for e in (i.value, *(v for _, v in i.args))
        ]

    def further_facts(self, s: tree.Setting) -> None:
        """The facts that words behind a value give, such as ``max`` of ``power 747W max 1720W``."""
        name = s.name.name
        for item in s.items:
            for word, value in item.args:
                if word:
                    self.facts[f"{name}_{word}"] = self.evaluator.evaluate(value, self.scope, words=True)
                elif isinstance(value, tree.PathExpr) and value.bare:
                    self.pair_fact(name, item, value.bare)

    def chip_role(self, s: tree.Setting) -> None:
        """Refuse a role in a model but ``cpu`` of a chip: the role of a device stands where it is
        declared."""
        word = s.items[0].value if len(s.items) == 1 and not s.items[0].args else None
        if self.node.kind.name != "chip" or not isinstance(word, tree.PathExpr) or word.bare != "cpu":
            raise Fault(
                "E0118",
                s.span,
                "a model has no role, but for `role cpu` of a chip that is not an accelerator",
                help="write the role where devices are declared: `host manager: MODEL { role manager }`",
            )

    def own_fact(self, s: tree.Setting) -> tree.Setting:
        """``fact trays 18``: a fact whose name the language does not know."""
        item = s.items[0] if len(s.items) == 1 else None
        name = item.value if item is not None else None
        if item is None or not isinstance(name, tree.PathExpr) or name.bare is None or not item.args:
            raise Fault(
                "E0120",
                s.span,
                "a fact has a name and a value",
                help='`fact trays 18`, `fact colour "black"`',
            )
        word, value = item.args[0]
        if word or len(item.args) > 1:
            raise Fault(
                "E0120", item.span, "a fact has one value", help=f"write `fact {name.bare} {value.span.text}`"
            )
        if name.bare in FACTS:
            raise Fault(
                "E0120",
                name.span,
                f"`{name.bare}` is a fact that the language knows",
                help=f"write `{name.bare} …`",
            )
        return replace(
            s, name=tree.Identifier(name.bare, name.span), items=(tree.SettingItem(value, (), value.span),)
        )

    def not_a_fact(self, s: tree.Setting) -> None:
        """A word that means nothing in a model: refused where it is nearly a known one, else a warning that
        names ``fact``."""
        name = s.name.name
        self.refuse_counted_ports(s)
        numbered = re.fullmatch(r"([a-z]+)_?(\d+)", name)
        if numbered is not None and numbered[1] in FACTS and not s.items:
            new = f"{numbered[1]} {numbered[2]}"
            fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
            message = (
                f"there is no setting of a model `{name}` here; `{numbered[2]}` is a value of `{numbered[1]}`"
            )
            raise Fault("E0118", s.span, message, help=f"write `{new}`", fix=fix)
        if closest_name(name, FACTS, 0.8) or name_of_word_elsewhere(name, FACTS):
            raise unknown_name_fault("E0118", s.name.span, "setting of a model", name, FACTS)
        if closest_name(name, ("fact",), 0.8) and s.items and s.items[0].args:
            fix = Fix("write `fact`", ((s.name.span, "fact"),), safe=False)
            message = f"there is no setting of a model `{name}` here"
            raise Fault("E0118", s.name.span, message, help="did you mean `fact`?", fix=fix)
        inside = re.fullmatch(r"(\w++)\s++(\d++)\s*+x\s*+([A-Za-z]\w*+)", s.span.text)
        if inside is not None:  # `gpus 2 x H100`
            new = f"chip {inside[1].removesuffix('s')}[{inside[2]}]: {inside[3]}"
            fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
            message = "what is inside of a model is declared, with its number in brackets"
            raise Fault("E0120", s.span, message, help=f"write `{new}`", fix=fix)
        if any(i.args for i in s.items):
            raise Fault("E0120", s.span, "a fact has one value", help=f'write `fact {name} "…"` for a text')
        self.library.diagnostics.add(
            "E0128",
            s.name.span,
            f"`{name}` is not a setting of a model, and becomes a fact of your own",
            help=f"write `fact {name} …`; a later version refuses the bare word",
            fix=Fix(f"write `fact {name}`", ((s.name.span, f"fact {name}"),)),
            severity=Severity.WARNING,
        )

    def refuse_counted_ports(self, s: tree.Setting) -> None:
        """Refuse `ports 64 x 400Gbps` and `nic 8 x 400Gbps`, ports in the form of a list of parts, and `port
        400Gbps p[1..64]`, whose name is behind the rate."""
        text, plain = s.span.text, s.name.name in ("port", "ports")
        if (found := re.match(r"ports?\s+(\d+(?:\.\d+)?[GMT]bps)\s+(\w+\[[^\]\n]*\])", text)) is not None:
            new = f"port {found[2]}: {found[1]}"
        elif (found := re.match(r"ports?\s+(\w+)\s+(\d+)\s*x\s*(\d+(?:\.\d+)?[GMT]bps)", text)) is not None:
            new = f"port {found[1]}[1..{found[2]}]: {found[3]}"
        elif (found := re.match(r"(\w+)\s+(\d+)\s*x\s*(\d+(?:\.\d+)?[GMT]bps|\w+)", text)) is not None:
            if not (plain or found[3].endswith("bps")):
                return
            ports = f"p[1..{found[2]}]" if plain else f"{found[1]}[{found[2]}]"
            new = f"port {ports}: {found[3]}"
        else:
            return
        at = SourceSpan(s.span.file, s.span.start, s.span.start + found.end())
        fix = Fix(f"write `{new}`", ((at, new),), safe=False)
        message = "ports have a name, their indices and, behind `:`, a rate"
        raise Fault("E0118", at, message, help=f"write `{new}`", fix=fix)

    def pair_fact(self, name: str, item: tree.SettingItem, word: str) -> None:
        """``power 747W max 1720W``: the word names the value that follows it."""
        following = [v for w, v in item.args[1:2] if not w]
        if following:
            self.facts[f"{name}_{word}"] = self.evaluator.evaluate(following[0], self.scope, words=True)

    def setting_value(self, s: tree.Setting, scope: Scope) -> Value:
        """One item's value, or a list of several."""
        values = tuple(self.evaluator.evaluate(i.value, scope, words=True) for i in s.items)
        return values[0] if len(values) == 1 else values


def _refuse_unfit_lengths_or_medium(s: tree.Setting, value: Value) -> None:
    """Refuse `lengths 3, 5`, which lacks units, and a medium that is none."""
    name = s.name.name
    for item in s.items if name == "lengths" else ():
        if re.fullmatch(r"\d+", item.span.text):
            raise amount_fault(int(item.span.text), LENGTH, item.span)
    if name == "medium" and isinstance(value, str) and value not in (*MEDIA_WORDS, *FIBRES):
        raise unknown_name_fault(
            "E0101", s.items[0].span, "medium", str(value), MEDIA_WORDS, meant=MEDIA_MEANT
        )


_DOLLARS = frozenset({"usd", "dollar", "dollars"})
_OTHER_MONEY = frozenset(
    {
        "eur",
        "euro",
        "euros",
        "gbp",
        "pound",
        "pounds",
        "chf",
        "cny",
        "yuan",
        "rmb",
        "jpy",
        "yen",
        "inr",
        "krw",
    }
)


def _currency_fault(item: tree.SettingItem) -> Fault | None:
    """The fault of ``83k dollars`` and ``EUR 83k``, an amount with the name of its currency; None of other
    items. What another currency is worth in dollars is not known, so there is no fix for it."""
    found = re.fullmatch(r"([\d._]+[kM]?) ?([A-Za-z]+)|([A-Za-z]+) ?([\d._]+[kM]?)", item.span.text)
    currency = (found[2] or found[3]).lower() if found is not None else ""
    if found is not None and currency in _DOLLARS:
        new = f"${found[1] or found[4]}"
        fix = Fix(f"write `{new}`", ((item.span, new),), safe=False)
        return Fault(
            "E0118", item.span, "an amount of money begins with `$`", help=f"write `price {new}`", fix=fix
        )
    if currency not in _OTHER_MONEY:
        return None
    help = "write `price $…`, converted; a file of prices for `--prices` says its `currency`"
    return Fault("E0118", item.span, "an amount of money begins with `$`", help=help)


def _refuse_unquoted_text(s: tree.Setting) -> None:
    """Refuse a text of several words, ``vendor Some name``, that stands without quotes."""
    name, text = s.name.name, s.items[0].span
    if name in TEXT_FACTS and len(s.items) == 1 and s.items[0].args and '"' not in text.text:
        new = f'{name} "{text.text}"'
        fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
        message = f"the text of `{name}` is written in double quotes"
        raise Fault("E0118", text, message, help=f"write `{new}`", fix=fix)


def _word_before_amount_fault(s: tree.Setting, amount: tree.Expr) -> Fault:
    """The fault of ``power typical 700W``, a word or number before the one amount of a fact."""
    before = SourceSpan(s.span.file, s.items[0].span.start, amount.span.start)
    rest = s.span.file.text[amount.span.start : s.items[0].span.end]
    message = f"`{before.text.strip()}` is before the amount of `{s.name.name}`"
    fix = Fix(f"write `{s.name.name} {rest}`", ((before, ""),), safe=False)
    return Fault("E0120", before, message, help=f"write `{s.name.name} {rest}`", fix=fix)


def _plain_form(s: tree.Setting) -> str:
    """A setting with its values, without the words behind them."""
    return f"{s.name.name} {', '.join(i.value.span.text for i in s.items)}"


def _refuse_power_above_most(s: tree.Setting, at: tree.Expr, usual: Value, most: Value) -> None:
    """Refuse a `max` that is no power, or less than the usual power before it."""
    if not isinstance(most, Quantity) or most.dim != POWER:
        message = f"what follows `max` is a power, not {a_type(most)}"
        raise Fault("E0103", at.span, message, help=f"write `power {s.items[0].value.span.text} max 1.5kW`")
    if isinstance(usual, Quantity) and usual.dim == POWER and usual.amount > most.amount:
        whole = SourceSpan(s.span.file, s.items[0].span.start, at.span.end)
        new = f"{at.span.text} max {s.items[0].value.span.text}"
        fix = Fix(f"write `power {new}`", ((whole, new),), safe=False)
        message = f"the most power, {at.span.text}, is less than the usual, {s.items[0].value.span.text}"
        raise Fault("E0120", whole, message, help=f"write `power {new}`", fix=fix)


def _check_measured_fact(s: tree.Setting, value: Value) -> None:
    """Refuse a fact that is an amount of something and whose value is none, or below zero."""
    name = s.name.name
    if name == "latency" and not (isinstance(value, Quantity) and value.dim == TIME and value.amount >= 0):
        fault = _number_with_unit_fault(s, value, "230ns", "one time, from port to port, not negative")
        if fault is not None:
            raise fault
        help = "write `latency 230ns`"
        raise Fault("E0103", s.span, "`latency` is one time, from port to port, not negative", help=help)
    dim, example = MEASURED.get(name, (None, ""))
    if dim is None:
        return
    if not s.items:
        message = f"the value of `{name}` is missing"
        raise Fault("E0120", s.span, message, help=f"write `{name} {example}`, or remove `{name}`")
    fits = isinstance(value, Quantity) and value.dim == dim
    if not fits or (isinstance(value, Quantity) and value.amount < 0):
        form, help = f"one amount such as `{example}`", f"write `{name} {example}`"
        wrong = "not below zero" if fits else f"not {a_type(value)}"
        raise (
            amount_in_quotes_fault(value, s.items[0].span)
            or _number_with_unit_fault(s, value, example, f"{form}, with its unit")
            or decimal_comma_fault(s)
            or _comma_before_word_fault(s)
            or Fault("E0103", s.span, f"`{name}` of a model is {form}, {wrong}", help=help)
        )


def _comma_before_word_fault(s: tree.Setting) -> Fault | None:
    """The fault of ``power 700W, max 1.5kW``; None of a list without such a word."""
    if len(s.items) != 2:
        return None
    first, second = s.items
    power = re.compile(r"(?<![\d.])[\d.]++k?W")
    if s.name.name == "power" and power.fullmatch(first.span.text) and power.fullmatch(second.span.text):
        new = f"power {first.span.text} max {second.span.text}"
        fix = Fix(f"write `{new}`", ((first.span.to(second.span), new.partition(" ")[2]),), safe=False)
        message = "the most power follows the usual one behind `max`"
        return Fault("E0103", s.span, message, help=f"write `{new}`", fix=fix)
    if not re.match(r"(max|typical|idle)\b", second.span.text):
        return None
    comma = SourceSpan(s.span.file, first.span.end, second.span.start)
    new = f"{s.name.name} {first.span.text} {second.span.text}"
    return Fault(
        "E0103",
        s.span,
        f"`{second.span.text}` follows the first amount of `{s.name.name}` without a comma",
        help=f"write `{new}`",
        fix=Fix(f"write `{new}`", ((comma, " "),), safe=False),
    )


UNIT_OF_EXAMPLE = re.compile(r"(\$?)[0-9.]++(.*)")


def _number_with_unit_fault(s: tree.Setting, value: Value, example: str, is_what: str) -> Fault | None:
    """The fault of a fact that is a bare number, with its unit put in; None where it is not."""
    found = UNIT_OF_EXAMPLE.fullmatch(example)
    if found is None or isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value < 0:
        return None
    item = s.items[0]
    number = item.value.span.text
    apart = item.args[0][1].span if item.args else None
    new = f"{found[1]}{number}{found[2]}" if apart is None else amount_written_here(number, apart.text)
    if not new or not number.replace(".", "").replace("_", "").isdigit():
        return None
    name = s.name.name
    at = item.value.span if apart is None else item.value.span.to(apart)
    return Fault(
        "E0103",
        s.span,
        f"`{name}` is {is_what}",
        help=f"write `{name} {new}`",
        fix=Fix(f"write `{name} {new}`", ((at, new),), safe=False),
    )


def _plain_label(name: str, axes: tuple[Axis, ...], k: int) -> str:
    return name + ".".join(map(str, indices_at_position(k, axes)))


def build_model(
    library: Library, home: Linked, node: tree.ModelDecl, evaluator: Evaluator
) -> DeviceModel | None:
    """The model a declaration makes; None if it has faults (which are then reported)."""
    return ModelBuilder(library, home, node, evaluator).build()
