"""A ``model`` declaration becomes a DeviceModel: its ports, cages and names, the devices inside it, its host layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from tdsl.semantics.fault import Excused, Fault, unknown
from tdsl.semantics.model import KINDS, MODEL_KINDS, Axis, Chip, DeviceModel, LayoutNode, PortClass, SonicPort, unravel
from tdsl.semantics.quantity import RATE, TIME, Quantity
from tdsl.semantics.scope import Binding, Scope
from tdsl.semantics.shapes import axes_of
from tdsl.semantics.values import Value, Word, a_type, text_of, whole
from tdsl.source import Origin
from tdsl.syntax import tree

if TYPE_CHECKING:
    from tdsl.semantics.library import Library, Linked

PORT_SETTINGS = ("type", "cage", "connector", "name", "os", "netdev", "split", "sonic")
FACTS = (
    "height", "power", "mass", "source", "note", "latency", "price", "airflow", "cooling", "sm", "device", "subsystem", "class",
    "memory", "ports", "codename", "vendor", "part", "gdr", "maxconn", "bandwidth", "year", "marks", "asic", "radix",
    "rate", "medium", "fibre", "polarity", "reach", "legs", "platform", "hwsku",
)  # fmt: skip
PORT_LIMIT = 1 << 16


class ModelBuilder:
    """Builds one model; a fault in one statement drops that statement only."""

    def __init__(self, library: Library, home: Linked, node: tree.ModelDecl) -> None:
        self.library, self.home, self.node = library, home, node
        self.evaluator = library.evaluator
        self.scope = Scope(home.scope)
        self.classes: list[PortClass] = []
        self.chips: list[Chip] = []
        self.layout: list[LayoutNode] = []
        self.sizes: dict[str, tuple[Axis, ...]] = {}
        self.facts: dict[str, object] = {}
        self.wiring: list[tree.Connect] = []
        self.broken = False

    def build(self) -> DeviceModel | None:
        """The model, or None if what it is cannot be known."""
        node = self.node
        if node.kind.name not in MODEL_KINDS:
            unknown("E0101", node.kind.span, "kind of model", node.kind.name, MODEL_KINDS).report(self.library.diagnostics)
            return None
        for s in sorted(node.body, key=lambda s: not isinstance(s, tree.Let)):  # values first: their order does not matter
            try:
                self.statement(s)
            except Fault as fault:
                self.broken = True
                fault.report(self.library.diagnostics)
            except Excused:
                self.broken = True
        if self.broken:
            return None
        return DeviceModel(
            node.name.name, node.kind.name, text_of(self.evaluator.evaluate(node.title, self.scope)) if node.title else "",
            tuple(self.classes), tuple(self.chips), (), tuple(self.layout), self.facts, Origin(node.name.span),
            wiring=tuple(self.wiring), scope=self.scope,
        )  # fmt: skip

    def statement(self, s: tree.Stmt) -> None:
        """One statement of the model's body."""
        if self.node.kind.name == "cable" and not isinstance(s, (tree.Setting, tree.Let, tree.Broken)):
            raise Fault(
                "E0118", s.span, "a cable has facts only", help="such as `rate 400Gbps`, `medium fibre`, `reach 50m`, `legs 2`"
            )
        match s:
            case tree.Let():
                self.scope.define(s.name.name, Binding("let", s.name.span, lambda: self.evaluator.evaluate(s.value, self.scope)))
            case tree.Decl() if s.kind.name == "port":
                self.port(s)
            case tree.Decl() if s.kind.name in ("numa", "pcie"):
                self.layout_nodes(s)
            case tree.Decl() if s.kind.name in KINDS:
                self.chip(s)
            case tree.Connect():
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
        if prod(a.size for a in axes) > PORT_LIMIT:
            raise Fault("E0116", s.span, f"{prod(a.size for a in axes):,} in one model are more than the limit of {PORT_LIMIT:,}")
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
        group = self.whole_setting(settings.get("connector"), 1)
        cages: tuple[int, ...] = tuple(0 for _ in range(size))
        if per_cage:
            cages = cage_number or tuple(k // per_cage + 1 for k in range(size))
            self.check_cages(cages, per_cage, settings["cage"])
        first = sum(c.size for c in self.classes)
        labels = self.per_port(settings.get("name"), s.name.name, axes)
        default = tuple(_plain_label(s.name.name, axes, k) for k in range(size))
        self.classes.append(
            PortClass(
                s.name.name,
                axes,
                first,
                rate,
                self.words(settings.get("type")),
                cages,
                form,
                tuple(k // group for k in range(size)),
                labels or default,
                self.per_port(settings.get("os"), s.name.name, axes) or tuple("" for _ in range(size)),
                splits := self.numbers(settings.get("split")),
                1,
                Origin(s.name.span),
                self.lane_systems(settings.get("os"), splits, s.name.name, axes),
                self.sonic(settings.get("sonic"), splits, s.name.name, axes),
                self.per_port(settings.get("netdev"), s.name.name, axes) or (),
                self.lane_systems(settings.get("netdev"), splits, s.name.name, axes),
            )
        )
        self.unique_labels(s)

    def unique_labels(self, s: tree.Decl) -> None:
        """Two ports of a device with one name on the faceplate could not be told apart."""
        seen: dict[str, str] = {}
        for c in self.classes:
            for k, label in enumerate(c.labels):
                if label in seen:
                    raise Fault(
                        "E0104", s.span, f"ports {seen[label]} and {c.path(k)} of this model both bear the name {label!r}"
                    )
                seen[label] = c.path(k)

    def rate(self, s: tree.Decl) -> int | None:
        """Bits per second of a port; None for ``any``."""
        if s.of is None:
            raise Fault(
                "E0120", s.span, f"port `{s.name.name}` has no rate", help=f"write `port {s.name.name}[…]: 400Gbps`, or `any`"
            )
        value = self.evaluator.evaluate(s.of, self.scope, words=True)
        if isinstance(value, Word) and value == "any":
            return None
        if not isinstance(value, Quantity) or value.dim != RATE or value.amount <= 0 or value.amount.denominator != 1:
            what = (
                "more than nothing"
                if isinstance(value, Quantity) and value.dim == RATE
                else f"a rate such as `400Gbps`, not {a_type(value)}"
            )
            raise Fault("E0103", s.of.span, f"a port's rate is {what}")
        return int(value.amount)

    def port_settings(self, s: tree.Decl) -> dict[str, tree.Setting]:
        """The settings by name."""
        out: dict[str, tree.Setting] = {}
        for inner in s.body or ():
            if isinstance(inner, tree.Broken):
                raise Excused
            if not isinstance(inner, tree.Setting):
                raise Fault("E0118", inner.span, "a port has settings only", help=f"known: {', '.join(PORT_SETTINGS)}")
            name = inner.name.name
            if name not in PORT_SETTINGS:
                raise unknown("E0118", inner.name.span, "setting of a port", name, PORT_SETTINGS)
            if name in out:
                raise Fault("E0104", inner.span, f"`{name}` is set twice", labels=[(out[name].span, "first here")])
            out[name] = inner
        return out

    def cage(self, s: tree.Setting | None, decl: tree.Decl, axes: tuple[Axis, ...]) -> tuple[int, str, tuple[int, ...] | None]:
        """``cage N FORM[, NUMBER]``: ports a cage, its form, and each port's cage number if written."""
        if s is None:
            return 0, "", None
        count = whole(self.evaluator.evaluate(s.items[0].value, self.scope)) if s.items else None
        if not isinstance(count, int) or count < 1:
            raise Fault("E0120", s.span, "write `cage N FORM`: how many ports share a cage, and its form", help="`cage 2 OSFP`")
        form = text_of(self.evaluator.evaluate(s.items[0].args[0][1], self.scope, words=True)) if s.items[0].args else ""
        if len(s.items) < 2:
            return count, form, None
        numbers = tuple(self.integers(s.items[1].value, decl.name.name, axes))
        return count, form, numbers

    def check_cages(self, cages: tuple[int, ...], per_cage: int, s: tree.Setting) -> None:
        """No cage may hold more ports than it has room for."""
        for number in sorted(set(cages)):
            if number < 1 or cages.count(number) > per_cage:
                raise Fault("E0120", s.span, f"cage {number} would hold {cages.count(number)} ports; a cage holds {per_cage}")

    def integers(self, e: tree.Expr, name: str, axes: tuple[Axis, ...]) -> list[int]:
        """A whole number for every port."""
        return [self.evaluator.integer(e, self.at(name, axes, k)) for k in range(prod(a.size for a in axes))]

    def at(self, name: str, axes: tuple[Axis, ...], k: int) -> Scope:
        """The scope of one element: ``i``, and its own name, are its index (a list if it has several)."""
        scope = self.scope.child()
        indices = unravel(k, axes)
        value: Value = indices[0] if len(indices) == 1 else (indices if indices else 0)
        scope.set("i", value, self.node.name.span, "index")
        scope.set(name, value, self.node.name.span, "index")
        return scope

    def per_port(self, s: tree.Setting | None, name: str, axes: tuple[Axis, ...]) -> tuple[str, ...] | None:
        """A string for every port."""
        if s is None:
            return None
        if not s.items:
            raise Fault("E0120", s.span, f"`{s.name.name}` needs a string", help=f'`{s.name.name} "swp{{i}}"`')
        return tuple(self.text(s.items[0].value, self.at(name, axes, k)) for k in range(prod(a.size for a in axes)))

    def lane_systems(
        self, s: tree.Setting | None, splits: tuple[int, ...], name: str, axes: tuple[Axis, ...]
    ) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """What lanes are called, for every way to split: the second string of ``os "swp{i}", "swp{i}s{lane}"``."""
        if s is None or len(s.items) < 2:
            return ()
        if len(s.items) > 2 or not splits:
            name = s.name.name
            help = f'for a lane: `{name} "swp{{i}}", "swp{{i}}s{{lane}}"; split 2, 4`'
            raise Fault(
                "E0120", s.span, f"`{name}` takes the name of a port, and of a lane if the port may be `split`", help=help
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

    def sonic(self, s: tree.Setting | None, splits: tuple[int, ...], name: str, axes: tuple[Axis, ...]) -> tuple[SonicPort, ...]:
        """``sonic 8*(i - 1) lanes 8``: the port's number, and its lanes, which count from there on or ``from``."""
        if s is None:
            return ()
        help = "for Ethernet0, Ethernet8 …: `sonic 8*(i - 1) lanes 8`, and `from N` where lane numbers differ"
        words = dict(s.items[0].args) if len(s.items) == 1 else {}
        if "lanes" not in words or set(words) - {"lanes", "from"}:
            raise Fault("E0120", s.span, "`sonic` takes the number of a port and how many lanes it has", help=help)
        numbers = self.integers(s.items[0].value, name, axes)
        counts = self.integers(words["lanes"], name, axes)
        first = self.integers(words["from"], name, axes) if "from" in words else numbers
        if min(*numbers, *first, 0) < 0 or len(set(numbers)) < len(numbers):
            raise Fault("E0120", s.span, "SONiC counts ports and lanes from 0, and no two ports may have one number", help=help)
        bad = next((c for c in counts if c < 1 or c > 16 or any(c % n for n in splits)), None)
        if bad is not None:
            raise Fault(
                "E0120", words["lanes"].span, f"{bad} lanes: a port has 1 to 16, and a number that its `split` divides", help=help
            )
        return tuple(
            SonicPort(n, tuple(range(f, f + c)), n) for n, f, c in zip(numbers, first, counts, strict=True)
        )  # fmt: skip

    def text(self, e: tree.Expr, scope: Scope) -> str:
        """A string."""
        value = self.evaluator.evaluate(e, scope)
        if not isinstance(value, str):
            raise Fault("E0103", e.span, f"a name is a string, not {a_type(value)}", help='write it in quotes: `"swp{i}"`')
        return str(value)

    def words(self, s: tree.Setting | None) -> tuple[str, ...]:
        """A setting's words."""
        return tuple(text_of(self.evaluator.evaluate(i.value, self.scope, words=True)) for i in s.items) if s else ()

    def numbers(self, s: tree.Setting | None) -> tuple[int, ...]:
        """A setting's whole numbers."""
        return tuple(self.evaluator.integer(i.value, self.scope) for i in s.items) if s else ()

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
        if not isinstance(s.of, tree.Path) or s.of.bare is None:
            raise Fault("E0120", s.span, f"`{s.name.name}` needs a model", help=f"write `{s.kind.name} {s.name.name}[…]: MODEL`")
        self.chips.append(
            Chip(s.name.name, s.kind.name, axes, self.library.model(self.home, s.of.bare, s.of.span), Origin(s.name.span))
        )

    def layout_nodes(self, s: tree.Decl) -> None:
        """``numa cpu[2] { … }``, ``pcie plx[8] { on cpu[i // 4]; … }``, ``pcie gpu { … }`` for what is declared already."""
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
                if inner.name.name == "on":
                    on = self.holder(inner, scope)
                else:
                    facts[inner.name.name] = self.setting_value(inner, scope)
            self.layout.append(LayoutNode(s.kind.name, name, k, on, facts, Origin(s.name.span)))

    def holder(self, s: tree.Setting, scope: Scope) -> tuple[str, int]:
        """What ``on plx[i]`` names: an element declared before."""
        path = s.items[0].value if s.items else None
        if not isinstance(path, tree.Path) or not isinstance(path.parts[0], tree.Member):
            raise Fault("E0120", s.span, "`on` names what this hangs from", help="`on cpu[i // 4]`")
        head = path.parts[0]
        if head.name not in self.sizes:
            raise unknown("E0101", head.span, "layout element", head.name, self.sizes)
        index = 0
        if len(path.parts) > 1 and isinstance(path.parts[1], tree.Index):
            entry = path.parts[1].entries[0]
            axes = self.sizes[head.name]
            if len(axes) != 1 or len(path.parts[1].entries) != 1:
                raise Fault("E0109", path.parts[1].span, f"`{head.name}` has {len(axes)} indices", help="one entry a dimension")
            axis = axes[0]
            value = self.evaluator.integer(entry, scope)
            if not axis.low <= value <= axis.high:
                raise Fault("E0108", entry.span, f"{head.name}[{value}] is outside {axis.low}..{axis.high}")
            index = value - axis.low
        return head.name, index

    def fact(self, s: tree.Setting) -> None:
        """Any other setting is a fact of the model; one that looks like a misspelt known one is a fault."""
        name = s.name.name
        if name not in FACTS and get_close_matches(name, FACTS, n=1, cutoff=0.8):
            raise unknown("E0118", s.name.span, "setting of a model", name, FACTS)
        if name in self.facts:
            raise Fault("E0104", s.span, f"`{name}` is set twice")
        self.facts[name] = value = self.setting_value(s, self.scope)
        if name == "latency" and not (isinstance(value, Quantity) and value.dim == TIME and value.amount >= 0):
            help = "write `latency 230ns`"
            raise Fault("E0103", s.span, "`latency` is one time, from port to port, and not below nothing", help=help)
        for item in s.items:
            for word, value in item.args:
                if word:
                    self.facts[f"{name}_{word}"] = self.evaluator.evaluate(value, self.scope, words=True)
                elif isinstance(value, tree.Path) and value.bare:
                    self.pair_fact(name, item, value.bare)

    def pair_fact(self, name: str, item: tree.Item, word: str) -> None:
        """``power 747W max 1720W``: the word names the value that follows it."""
        following = [v for w, v in item.args[1:2] if not w]
        if following:
            self.facts[f"{name}_{word}"] = self.evaluator.evaluate(following[0], self.scope, words=True)

    def setting_value(self, s: tree.Setting, scope: Scope) -> Value:
        """One item's value, or a list of several."""
        values = tuple(self.evaluator.evaluate(i.value, scope, words=True) for i in s.items)
        return values[0] if len(values) == 1 else values


def _plain_label(name: str, axes: tuple[Axis, ...], k: int) -> str:
    return name + ".".join(map(str, unravel(k, axes)))


def build_model(library: Library, home: Linked, node: tree.ModelDecl) -> DeviceModel | None:
    """The model a declaration makes; None if it has faults (which are then reported)."""
    return ModelBuilder(library, home, node).build()


def split_model(model: DeviceModel, ways: Mapping[str, int], span: Origin) -> DeviceModel:
    """The model with port classes split: each port becomes ``ways`` lanes of an even share of its rate, on one connector."""
    for name, n in ways.items():
        if model.port_class(name) is None:
            raise unknown("E0101", span.span, f"port class of {model.name} called", name, [c.name for c in model.classes])
        if n < 2:
            raise Fault("E0120", span, f"`{name}` cannot be split {n} ways")
    classes: list[PortClass] = []
    first = 0
    for c in model.classes:
        n = ways.get(c.name, 1)
        if n > 1:
            if c.splits and n not in c.splits:
                allowed = ", ".join(map(str, c.splits))
                raise Fault(
                    "E0120", span, f"`{c.name}` of {model.name} cannot be split {n} ways", help=f"it splits {allowed} ways",
                    labels=[(c.origin.span, "declared here")],
                )  # fmt: skip
            if not c.splits:
                raise Fault(
                    "E0120", span, f"`{c.name}` of {model.name} does not split", labels=[(c.origin.span, "no `split` here")]
                )
            if c.rate is not None and c.rate % n:
                raise Fault("E0120", span, f"{c.rate} bit/s do not divide by {n}")
            c = _split_class(c, n)
        classes.append(replace(c, first=first))
        first += c.size
    variant = ",".join(f"{k}/{v}" for k, v in sorted(ways.items()))
    return replace(model, classes=tuple(classes), variant=variant)


def _split_class(c: PortClass, n: int) -> PortClass:
    def each(values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(v for v in values for _ in range(n))

    return replace(
        c,
        axes=(*c.axes, Axis(0, n)),
        rate=None if c.rate is None else int(Fraction(c.rate, n)),
        cages=each(c.cages),
        connectors=each(c.connectors),
        labels=tuple(f"{v}/{k + 1}" for v in c.labels for k in range(n)),
        systems=dict(c.lane_systems).get(n) or tuple(v for v in c.systems for _ in range(n)),
        split=c.split * n,
        netdevs=dict(c.lane_netdevs).get(n) or tuple(v for v in c.netdevs for _ in range(n)),
        sonic=tuple(p.part(k, n) for p in c.sonic for k in range(n)),
    )
