"""A fabric's text becomes its plan: values, groups and device sets first, then statements with their paths
resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics import fabric_words, failure_rates, feeds, forwards, nos, transport
from tdsl.semantics.devices import DeviceSettings, device_settings, split_model
from tdsl.semantics.extents import axes_of
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.later import ADDRESSING, SUBNETS, WORDS
from tdsl.semantics.library import Library, Linked
from tdsl.semantics.model import KINDS, Axis, DeviceModel, DeviceSet, PathComponent
from tdsl.semantics.model_connects import add_connects_inside, refuse_overrides_inside
from tdsl.semantics.operators import LIST_LIMIT, elements_to_iterate, require_bool
from tdsl.semantics.parameters import define_param
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.plan import Context, FabricPlan, Group, Required, ResolvedConnect, ResolvedPath
from tdsl.semantics.scope import FAILED, Binding, Scope
from tdsl.semantics.statements import plan_connect, plan_naming, plan_omit, plan_override
from tdsl.semantics.values import FunctionValue, Value, number_in_message, text_of
from tdsl.syntax import tree

if TYPE_CHECKING:
    from tdsl.semantics.intent import Chain, Piece

GROUPS = ("group", "pod", "plane", "rack", "site", "cube", "cell")
LAYERS = ("scaleup",)
FABRIC_SETTINGS = (
    "layer",
    "nos",
    "transport",
    "purpose",
    "forwards",
    "minimize",
    "risk",
    "feed",
    *ADDRESSING,
    *SUBNETS,
)
"""Settings in the block of a fabric or a group that are neither intent nor about halls."""
PORT_LIMIT = 1 << 27
COUNTED_MODEL = re.compile(r"([A-Za-z_]\w*)\s*\[\s*(\w+)\s*\]")
"""A model with a number behind it, which belongs to the name."""
HYPHENATED = re.compile(r"[A-Za-z_]\w*(?:-\w+)+")


def _count_behind_model_fault(s: tree.Decl, model: str, count: str) -> Fault:
    """The fault of ``host node: DGX_H100[16]``."""
    assert s.of is not None
    name = f"{s.name.name}[{count}]"
    return Fault(
        "E0120",
        s.of.span,
        f"how many `{s.name.name}` there are follows its name, not the model's",
        help=f"write `{s.kind.name} {name}: {model}`",
        fix=Fix(f"write `{name}: {model}`", ((s.name.span.to(s.of.span), f"{name}: {model}"),)),
    )


PORTS_FOR_MODEL = re.compile(r"(\d+)\s*x\s*(\d+)\s*[Gg]\w*")
"""Ports where a model's name belongs: 64x400G."""


def _ports_for_model_fault(s: tree.Decl, ports: str, rate: str) -> Fault:
    """The fault of ``switch leaf: 64x400G``, with a model that has these ports."""
    assert s.of is not None
    name = f"{s.kind.name.upper()}_{ports}x{rate}"
    return Fault(
        "E0120",
        s.of.span,
        f"`{s.of.span.text}` is not a model: a model has a name",
        help=f"declare `model {s.kind.name} {name} {{ port p[1..{ports}]: {rate}Gbps }}` above the fabric, "
        f"and write `{name}` here; or take one of `tdsl list hardware`",
    )


class FabricPlanner:
    """Walks one fabric. Declarations are entered while walking; statements with paths wait until all are
    known."""

    def __init__(self, library: Library, home: Linked, node: tree.Decl, max_devices: int) -> None:
        self.library, self.home, self.node = library, home, node
        self.evaluator = library.evaluator
        self.max_devices = max_devices
        self.waiting: list[Callable[[], None]] = []
        self.extending: list[Callable[[], None]] = []
        scope = Scope(home.scope)
        root = Group(node.name.name, node.kind.name, (), None, node.name.span, scope)
        try:
            title = text_of(self.evaluator.evaluate(node.title, scope)) if node.title else ""
        except Excused:  # it names what has an error of its own
            title = ""
        self.plan = FabricPlan(
            node.name.name,
            title,
            Origin(node.name.span),
            root,
            self.evaluator,
            prices=library.prices,
            supply=library.supply,
            catalogue=partial(library.parts, home),
            is_job=partial(library.is_job, home),
        )
        self.context = Context((root,), ())
        self.count = 0
        self.ports = 0

    # ------------------------------------------------------------ driving
    def run(self, extensions: Iterable[tuple[Linked, tree.Extend | tree.Override]] = ()) -> FabricPlan:
        """The plan of the fabric and of what other statements add to it."""
        self.evaluator.is_model = lambda name: self.library.is_model(self.home, name)
        if self.node.of is not None:
            self.guard(partial(self._refuse_model_of_fabric, self.node, self.node.of.span))
        self.block(self.node.body or (), self.plan.root.scope, self.context, ())
        for home, s in extensions:
            self.guard(partial(self.outside, home, s))
        for step in self.extending:
            self.guard(step)
        while self.waiting:
            steps, self.waiting = self.waiting, []
            for step in steps:
                self.guard(step)
        self.connects_of_models()
        self.force(self.plan.root.scope)
        if self.plan.minimize is not None and (self.plan.halls or self.plan.distances):
            self.plan.parts = self.library.parts(self.home)  # the figure counts cables and transceivers
        return self.plan

    def connects_of_models(self) -> None:
        """The connects of the network that models write, before those of the fabric."""
        made: list[ResolvedConnect] = []
        self.guard(partial(refuse_overrides_inside, self.plan))
        for s in self.plan.sets:
            self.guard(partial(add_connects_inside, self.plan, s, self.max_devices, made))
        self.plan.wires[:0] = made

    def guard(self, step: Callable[[], None]) -> bool:
        """Run a step; its fault becomes a finding and the plan is known to be incomplete."""
        try:
            step()
        except Fault as fault:
            fault.report(self.library.diagnostics)
        except Excused:
            pass
        else:
            return True
        self.plan.broken = True
        return False

    def force(self, scope: Scope) -> None:
        """Compute values nobody asked for, so that their faults are said too."""
        for name, binding in list(scope.names.items()):
            if binding.state != FAILED and binding.compute is not None:
                self.guard(partial(_evaluate_binding, scope, name, binding))

    def block(
        self,
        body: Iterable[tree.Stmt],
        scope: Scope,
        context: Context,
        chain: tuple[tuple[SourceSpan, str], ...],
    ) -> None:
        """All statements of a block: values first, so that their order does not matter."""
        body = tuple(body)
        for s in body:
            if isinstance(s, tree.Broken):
                scope.excused.update(s.names)
                scope.excused.update(_names_bound_in_block(s.body))
                self.plan.broken = True
            elif isinstance(s, (tree.Let, tree.Param, tree.Def)):
                self.guard(partial(self.value, s, scope, context))
        for s, places in self.pieces(body, scope, context):
            self.guard(partial(self.statement, s, scope, context, (*chain, *places)))

    def pieces(self, body: tuple[tree.Stmt, ...], scope: Scope, context: Context) -> list[Piece]:
        """The statements of a block; in the fabric's own and in a group's, what its intent stands for."""
        if scope is not context.group.scope or not any(map(_may_be_intent, body)):
            return [(s, ()) for s in body]
        from tdsl.semantics.intent import Intent, branch_has_intent

        def flat(body: Iterable[tree.Stmt], places: Chain) -> list[Piece]:
            """Branches that hold, in the place of an ``if`` that has a part of the intent."""
            out: list[Piece] = []
            for s in body:
                if not isinstance(s, tree.If) or not branch_has_intent(self, s):
                    out.append((s, places))
                    continue
                try:
                    chosen, why = self.chosen(s, scope)
                except (Fault, Excused):
                    out.append((s, places))  # the fault is reported where the statement is planned
                    continue
                for x in chosen:
                    if isinstance(x, (tree.Let, tree.Param, tree.Def)):
                        self.guard(partial(self.value, x, scope, context))
                out += flat(chosen, (*places, *why))
            return out

        pieces = flat(body, ())
        places = {id(s): chain for s, chain in pieces}
        return Intent(self, tuple(s for s, _ in pieces), context.group, places).run()

    def value(self, s: tree.Let | tree.Param | tree.Def, scope: Scope, context: Context) -> None:
        """A let, param or def."""
        if isinstance(s, tree.Def):
            scope.define(s.name.name, Binding("def", s.name.span, lambda: FunctionValue(s, scope)))
        elif isinstance(s, tree.Param):
            if len(context.groups) > 1:
                raise Fault(
                    "E0120",
                    s.span,
                    "a param belongs to the fabric or the file",
                    help="use `let` inside a group",
                )
            self.plan.declared.add(s.name.name)
            value = define_param(scope, s, self.evaluator, self.library.settings)
            self.plan.parameters[s.name.name] = value
        else:
            scope.define(s.name.name, Binding("let", s.name.span, lambda: self.let_value(s, scope), node=s))

    def let_value(self, s: tree.Let, scope: Scope) -> Value:
        """A let's value, with its type and guard."""
        from tdsl.semantics.operators import require_type

        value = self.evaluator.evaluate(s.value, scope)
        if s.type is not None:
            require_type(value, s.type, s.value.span)
        if s.guard is not None:
            inner = scope.child()
            inner.set(s.name.name, value, s.name.span)
            if not require_bool(self.evaluator.evaluate(s.guard, inner), s.guard.span):
                raise Fault(
                    "E0110",
                    s.value.span,
                    f"`{s.name.name}` is {text_of(value)}, which its guard rules out",
                    labels=[(s.guard.span, "this must hold")],
                )
        return value

    # ------------------------------------------------------------ statements
    def statement(
        self, s: tree.Stmt, scope: Scope, context: Context, chain: tuple[tuple[SourceSpan, str], ...]
    ) -> None:
        """One statement that is not a value."""
        plan, origin = self.plan, Origin(s.span, chain)
        match s:
            case tree.Decl() if s.kind.name in KINDS:
                self.device(s, scope, context, chain)
            case tree.Decl() if s.kind.name in GROUPS:
                self.group(s, scope, context, chain)
            case tree.Connect() | tree.Omit() | tree.Naming() | tree.Override():
                self.waiting += self.once_devices_are_known(s, scope, context, origin)
            case tree.Require():
                plan.requires.append(Required(s, scope, context, origin))
            case tree.Extend():
                self.extending.append(partial(self.extend_from, self.home, s, scope, context))
            case tree.If() | tree.For():
                self.compound(s, scope, context, chain)
            case tree.Setting() if s.name.name in FABRIC_SETTINGS:
                self.fabric_setting(s, scope, context, origin)
            case tree.Decl() | tree.PlaceStmt() | tree.Setting() if _is_physical(s):
                from tdsl.semantics.place_statements import enter_physical_statement

                self.waiting += enter_physical_statement(plan, s, scope, context, origin)
            case tree.Let() | tree.Param() | tree.Def() | tree.Broken():
                pass
            case tree.JobDecl():
                self.waiting.append(partial(self.job, self.home, s, scope, context))
            case tree.PhaseBlock() if context.group is plan.root and scope is plan.root.scope:
                pass  # what it gives parameters is read before the fabric is planned
            case _:
                self.refuse(s, scope)

    def job(self, home: Linked, s: tree.JobDecl, scope: Scope, context: Context) -> None:
        """A training job on the fabric; the jobs that it builds on are those that its file sees."""
        from tdsl.semantics.jobs import plan_job

        plan_job(self.plan, self.library, home, s, scope, context)

    def once_devices_are_known(
        self,
        s: tree.Connect | tree.Omit | tree.Naming | tree.Override,
        scope: Scope,
        context: Context,
        origin: Origin,
    ) -> list[Callable[[], None]]:
        """The steps of a statement whose paths are resolved when all devices are declared."""
        plan = self.plan
        match s:
            case tree.Connect():
                return [partial(plan_connect, plan, self.library, self.home, s, scope, context, origin)]
            case tree.Omit():
                return [partial(plan_omit, plan, s, path, scope, context, origin) for path in s.paths]
            case tree.Naming():
                return [partial(plan_naming, plan, s, scope, context, origin)]
        return [partial(plan_override, plan, self.library, self.home, s, scope, context, origin)]

    def fabric_setting(self, s: tree.Setting, scope: Scope, context: Context, origin: Origin) -> None:
        """A setting of the fabric as a whole, or one that names devices: one of ``FABRIC_SETTINGS``."""
        match s.name.name:
            case "layer":
                self.layer(s, context)
            case "nos":
                nos.plan_fabric_nos(self.plan, s, context)
            case "transport":
                transport.plan_fabric_transport(self.plan, s, context)
            case "purpose":
                fabric_words.plan_fabric_purpose(self.plan, s, context)
            case "forwards":
                self.waiting.append(partial(forwards.plan_forwards_statement, self.plan, s, context))
            case "minimize":
                self.minimize(s, context)
            case "risk":
                self.waiting.append(
                    partial(failure_rates.plan_risk_group, self.plan, s, scope, context, origin)
                )
            case "feed":
                self.waiting.append(partial(feeds.plan_feed, self.plan, s, scope, context, origin))
            case name if name in ADDRESSING:
                self.addressing(s, scope, context, origin)
            case _:
                self.subnet(s, scope, context, origin)

    def refuse(self, s: tree.Stmt, scope: Scope) -> None:
        """Refuse a statement that means nothing here. What a setting would connect is not known."""
        from tdsl.semantics.later import refuse_later

        if isinstance(s, tree.Setting):
            self.plan.excused.update(re.findall(r"[A-Za-z_]\w*", s.span.text))
            if s.body is not None and s.items:
                scope.excused.update(re.findall(r"[A-Za-z_]\w*", s.items[0].span.text))
        refuse_later(s, scope, self.library, self.home)

    def layer(self, s: tree.Setting, context: Context) -> None:
        """``layer scaleup``: the fabric lies inside hosts."""
        word = s.items[0].value if len(s.items) == 1 and not s.items[0].args and s.body is None else None
        name = word.bare if isinstance(word, tree.PathExpr) else None
        if name not in LAYERS or len(context.groups) > 1:
            raise Fault(
                "E0120",
                s.span,
                "a fabric's layer is `scaleup`, or not written",
                help="write `layer scaleup`, or leave the line out",
            )
        self.plan.layer = str(name)

    def minimize(self, s: tree.Setting, context: Context) -> None:
        """``minimize power``: which numbers the holes get."""
        if self.plan.minimize is not None or len(context.groups) > 1:
            raise Fault(
                "E0120", s.span, "a fabric's own block says once what is made least", help="`minimize power`"
            )
        from tdsl.semantics.settings import refuse_block

        refuse_block(s, "`minimize power`")
        self.plan.minimize = s

    def addressing(self, s: tree.Setting, scope: Scope, context: Context, origin: Origin) -> None:
        """``address``, ``routing`` and ``roce``."""
        from tdsl.semantics import addressing, routing

        name, plan = s.name.name, self.plan
        if name == "address":
            self.waiting.append(partial(addressing.plan_address_statement, plan, s, scope, context, origin))
            return
        if len(context.groups) > 1:
            help = f"it is said once, for all devices: `fabric {plan.name} {{ {name} … }}`"
            raise Fault("E0118", s.span, f"`{name}` belongs in the fabric's own block", help=help)
        old = plan.routing if name == "routing" else plan.roce
        if old is not None:
            raise Fault("E0104", s.span, f"`{name}` is given twice", labels=[(old.origin.span, "first here")])
        if name == "roce":
            plan.roce = routing.read_roce_block(s, scope, self.evaluator, origin)
            plan.roce_stated = frozenset(x.name.name for x in s.body or () if isinstance(x, tree.Setting))
            routing.tell_of_missing_ecn(s, self.library.diagnostics)
            return
        plan.routing, asns = routing.read_routing_block(s, scope, self.evaluator, origin)
        for inner in asns:
            self.waiting.append(
                partial(
                    addressing.plan_asn_statement,
                    plan,
                    inner,
                    scope,
                    context,
                    Origin(inner.span, origin.chain),
                )
            )

    def subnet(self, s: tree.Setting, scope: Scope, context: Context, origin: Origin) -> None:
        """``partition`` and ``subnet_manager``."""
        from tdsl.semantics import partitions

        step = partitions.plan_partition if s.name.name == "partition" else partitions.plan_subnet_manager
        self.waiting.append(partial(step, self.plan, s, scope, context, origin))

    def compound(
        self, s: tree.If | tree.For, scope: Scope, context: Context, chain: tuple[tuple[SourceSpan, str], ...]
    ) -> None:
        """An if or for; if it cannot be understood, what its blocks name is excused."""
        try:
            if isinstance(s, tree.If):
                self.branch(s, scope, context, chain)
            else:
                self.loop(s, scope, context, chain)
        except (Fault, Excused):
            self.plan.excused.update(re.findall(r"[A-Za-z_]\w*", s.span.text))
            raise

    def branch(
        self, s: tree.If, scope: Scope, context: Context, chain: tuple[tuple[SourceSpan, str], ...]
    ) -> None:
        """The branch whose condition holds; its names belong to the block around."""
        body, why = self.chosen(s, scope)
        self.block(body, scope, context, (*chain, *why))

    def chosen(self, s: tree.If, scope: Scope) -> tuple[tuple[tree.Stmt, ...], Chain]:
        """The block whose condition holds, and the place of that."""
        if any(
            isinstance(x, (tree.Param, tree.If))
            for body in (*(b for _, b in s.branches), s.other)
            for x in body
        ):
            self.library.settings.varying = True  # a parameter here may rest on others
        for condition, body in s.branches:
            if require_bool(self.evaluator.evaluate(condition, scope), condition.span):
                return tuple(body), ((condition.span, "because this holds"),)
        return tuple(s.other), ()

    def loop(
        self, s: tree.For, scope: Scope, context: Context, chain: tuple[tuple[SourceSpan, str], ...]
    ) -> None:
        """The body once for each value."""
        _refuse_loop_over_devices(s, scope, context)
        for value in elements_to_iterate(self.evaluator.evaluate(s.over, scope), s.over.span):
            self.evaluator.steps += 1 + len(s.body) * 16
            if self.evaluator.steps > LIST_LIMIT * 4:
                raise Fault("E0116", s.over.span, "this loop makes too many statements")
            inner = scope.child()
            inner.set(s.var.name, value, s.var.span, "for")
            self.block(s.body, inner, context, (*chain, (s.var.span, f"for {s.var.name} = {text_of(value)}")))

    # ------------------------------------------------------------ declarations
    def enter(self, group: Group, s: tree.Decl, member: Group | DeviceSet) -> None:
        """Put a member into its group, under a name nobody has there."""
        name = s.name.name
        if name in group.members or name in group.absent:
            old = group.members.get(name)
            where = old.span if isinstance(old, Group) else old.origin.span if old else s.name.span
            help = f"give one of them another name, such as `{name}_2`"
            message = f"`{name}` is already declared in this block"
            raise Fault("E0104", s.name.span, message, labels=[(where, "first here")], help=help)
        group.members[name] = member

    def group(
        self, s: tree.Decl, scope: Scope, context: Context, chain: tuple[tuple[SourceSpan, str], ...]
    ) -> None:
        """A group and its block."""
        try:
            if s.of is not None:
                raise Fault(
                    "E0120",
                    s.of.span,
                    f"a {s.kind.name} has a block, not a model",
                    help=f"write `{s.kind.name} {s.name.name}[…] {{ … }}`",
                )
            axes = axes_of(s.shape, scope, self.evaluator)
            inner_scope = scope.child()
            made = Group(
                s.name.name, s.kind.name, axes, context.group, s.name.span, inner_scope, extents=s.shape or ()
            )
            self.limit(prod(a.size for a in (*context.axes, *axes)), s)
            self.enter(context.group, s, made)
        except (Fault, Excused):
            context.group.absent.add(s.name.name)
            raise
        self.block(s.body or (), inner_scope, context.inner(made), chain)
        self.force_later(inner_scope)

    def force_later(self, scope: Scope) -> None:
        """Have a block's unused values computed at the end."""
        self.waiting.append(lambda: self.force(scope))

    def device(
        self, s: tree.Decl, scope: Scope, context: Context, chain: tuple[tuple[SourceSpan, str], ...]
    ) -> None:
        """``switch leaf[8]: QM9700 { … }``."""
        try:
            if s.title is not None:
                raise Fault(
                    "E0120",
                    s.title.span,
                    "a device has no title",
                    help="models and fabrics have titles; `naming` names devices",
                )
            axes = axes_of(s.shape, scope, self.evaluator)
            self.limit(prod(a.size for a in (*context.axes, *axes)), s)
            model, settings = self.model_for(s, scope)
            self.spares(s, axes, settings.spares)
            made = DeviceSet(
                len(self.plan.sets),
                (*context.parts, PathComponent(s.name.name, s.kind.name, axes)),
                model,
                settings.role or "",
                Origin(s.name.span, chain),
                settings=settings.kept(),
                extents=s.shape or (),
                scope=scope,
            )
            self.count += made.count
            self.limit(self.count, s)
            self.ports += made.count * model.port_count
            if self.ports > PORT_LIMIT:
                raise Fault(
                    "E0116",
                    s.span,
                    f"with this the design has {number_in_message(self.ports)} ports; the limit is "
                    f"{PORT_LIMIT:,}",
                )
            self.enter(context.group, s, made)
        except (Fault, Excused):
            if s.name.name not in context.group.members:
                context.group.absent.add(s.name.name)
            raise
        self.plan.sets.append(made)

    def spares(self, s: tree.Decl, axes: tuple[Axis, ...], count: int) -> None:
        """Refuse more spares than there are devices along the last index."""
        most = axes[-1].size if axes else 1
        if count >= most:
            raise Fault(
                "E0120",
                s.span,
                f"{count} of {most} `{s.name.name}` are spares, so none is left",
                help="`spares 1`",
            )

    def limit(self, count: int, s: tree.Decl) -> None:
        """Refuse more devices than the limit before any memory is taken."""
        if count > self.max_devices:
            raise Fault(
                "E0116",
                s.span,
                f"with this the design has {number_in_message(count)} devices or groups; the limit is "
                f"{self.max_devices:,}",
                help="raise it with `--limit-devices`, if that many are meant",
            )

    def model_for(self, s: tree.Decl, scope: Scope) -> tuple[DeviceModel, DeviceSettings]:
        """The model of a declared device, split as its settings say, and these."""
        if not isinstance(s.of, tree.PathExpr) or s.of.bare is None:
            if s.of is not None and HYPHENATED.fullmatch(s.of.span.text):
                raise self.library.hyphenated(self.home, s.of.span)
            counted = COUNTED_MODEL.fullmatch(s.of.span.text) if s.of is not None else None
            drawn = PORTS_FOR_MODEL.fullmatch(s.of.span.text) if s.of is not None else None
            if drawn is not None:
                raise _ports_for_model_fault(s, drawn[1], drawn[2])
            if counted is not None and s.shape and s.of is not None:
                behind = SourceSpan(s.of.span.file, s.of.span.start + len(counted[1]), s.of.span.end)
                raise Fault(
                    "E0120",
                    behind,
                    f"how many `{s.name.name}` there are is behind its name already",
                    help=f"remove `{behind.text}`",
                    fix=Fix(f"remove `{behind.text}`", ((behind, ""),), safe=False),
                )
            if counted is not None and not s.shape:
                raise _count_behind_model_fault(s, counted[1], counted[2])
            raise _comment_behind_model(s.of) or self._no_model_fault(s)
        model = self.named_model(s.of, scope, (s.kind.name,))
        if model.kind != s.kind.name:
            raise self._model_of_other_kind(s, model)
        made = device_settings(s.body or (), s.kind.name, scope, self.evaluator)
        role = made.role if made.role is not None else "accelerator" if model.accelerators else ""
        return (split_model(model, made.splits) if made.splits else model), replace(made, role=role)

    def _no_model_fault(self, s: tree.Decl) -> Fault:
        """The fault of a device without the name of a model: none is written, it is in quotes, or what is
        written is no name, such as ``7060X6``."""
        absent = Fault(
            "E0120",
            s.span,
            f"`{s.name.name}` has no model",
            help=f"write `{s.kind.name} {s.name.name}: MODEL`",
        )
        if s.of is None:
            return absent
        written = s.of.span.text.strip('"')
        last = re.split(r"[./]", written)[-1]
        if last != written and self.library.is_model(self.home, last):
            message = f"a model is named without its file: `{last}`"
            plain = Fix(f"write `{last}`", ((s.of.span, last),))
            return Fault("E0120", s.of.span, message, help=f"write `{last}`", fix=plain)
        if not (written[:1].isdigit() or isinstance(s.of, tree.Str)):
            return absent
        word = re.sub(r"\W+", "_", written)
        near = self.library.unknown_model(self.home, word, s.of.span, (s.kind.name,)).diagnostic
        known = isinstance(s.of, tree.Str) and self.library.is_model(self.home, word)
        message = "the name of a model is written without quotes"
        if known or near.fix is None:
            new, help = word, f"write `{word}`" if known else near.help
        else:
            new, help = near.fix.edits[0][1], near.help
        if not isinstance(s.of, tree.Str):
            message = f"`{written}` is not the name of a model: a name begins with a letter or `_`"
        fix = Fix(f"write `{new}`", ((s.of.span, new),), safe=known) if known or near.fix else None
        return Fault("E0120", s.of.span, message, help=help, fix=fix)

    def _refuse_model_of_fabric(self, s: tree.Decl, of: SourceSpan) -> None:
        """Raise the fault of ``fabric pod: "A pod"``."""
        name = s.name.name
        quoted = of.text.startswith('"')
        new = f" {of.text}" if quoted else ""
        raise Fault(
            "E0120",
            of,
            f"a `{s.kind.name}` has no model",
            help=f"write `{s.kind.name} {name}{new} {{`: the title follows the name"
            if quoted
            else "remove it",
            fix=Fix("remove the `:`", ((SourceSpan(of.file, s.name.span.end, of.end), new),)),
        )

    def _model_of_other_kind(self, s: tree.Decl, model: DeviceModel) -> Fault:
        """The fault of a model that is of another kind than the declaration: `H100` for a host is a chip, and
        `DGX_H100` may be meant."""
        assert s.of is not None
        message = f"{model.name} is a {model.kind}, not a {s.kind.name}"
        labels = [(model.origin.span, "declared here")]
        near = self.library.unknown_model(self.home, model.name, s.of.span, (s.kind.name,)).diagnostic
        help = f"write `{model.kind} {s.name.name}`, or name a {s.kind.name}'s model"
        if near.help.startswith("did you mean"):
            help = f"{near.help} Or declare it as what it is: `{model.kind} {s.name.name}`"
        of, fix = s.of.span, near.fix
        if fix is not None and of.text != model.name:  # `hosts 128 x H100`
            at = of.start + max(of.text.rfind(model.name), 0)
            new = fix.edits[0][1]
            fix = Fix(f"write `{new}`", ((SourceSpan(of.file, at, at + len(model.name)), new),), safe=False)
        return Fault("E0102", of, message, labels=labels, help=help, fix=fix)

    def named_model(self, path: tree.PathExpr, scope: Scope, kinds: tuple[str, ...] = ()) -> DeviceModel:
        """The model a name means: declared, used, in the catalogue, or the value of a name of type model. Of
        an unknown one, models of these kinds are proposed."""
        name = str(path.bare)
        if scope.find(name, path.span) is not None:
            value = scope.value(name, path.span)
            from tdsl.semantics.values import ModelValue

            if isinstance(value, ModelValue):
                name = value.name
        return self.library.model(self.home, name, path.span, kinds)

    # ------------------------------------------------------------ additions
    def extend(self, s: tree.Extend, scope: Scope, context: Context) -> None:
        """``extend su[0] { … }``: the block once more, inside one instance or all."""
        self.add(s, resolve_path(self.plan, context, s.path, ports=False), scope)

    def add(self, s: tree.Extend, target: ResolvedPath, scope: Scope) -> None:
        """Walk an extension's block inside the group it names."""
        if target.group is None:
            raise Fault("E0120", s.path.span, "extend adds to a group or a fabric, and this is a device")
        from tdsl.semantics.settings import narrow_context

        context = narrow_context(self.context, target, scope, self.evaluator)
        self.block(s.body, target.group.scope, context, ((s.path.span, "added by this extend"),))

    def outside(self, home: Linked, s: tree.Extend | tree.Override) -> None:
        """An extend or override at the top of a file: its path begins with the fabric's name."""
        if home is not self.home:
            self.plan.root.scope.of_file[home.module.file.name] = home.scope
        rest = s.path.parts[1:]
        if not rest:
            if isinstance(s, tree.Override):
                raise Fault("E0120", s.path.span, "an override names devices, not a fabric")
            mine, self.home = self.home, home
            self.block(s.body, self.plan.root.scope, self.context, ((s.path.span, "added by this extend"),))
            self.home = mine
            return
        path = tree.PathExpr(rest, s.path.span)
        if isinstance(s, tree.Override):
            inner = tree.Override(path, s.model, s.body, s.span)
            root = self.plan.root.scope
            self.waiting.append(
                partial(
                    plan_override, self.plan, self.library, home, inner, root, self.context, Origin(s.span)
                )
            )
        else:
            more = tree.Extend(path, s.body, s.span)
            self.extend_from(home, more, self.plan.root.scope, self.context)

    def extend_from(self, home: Linked, s: tree.Extend, scope: Scope, context: Context) -> None:
        """An extend of a file: the models it names are those of that file."""
        mine, self.home = self.home, home
        try:
            self.extend(s, scope, context)
        finally:
            self.home = mine


def _names_bound_in_block(body: Iterable[tree.Stmt]) -> Iterator[str]:
    for s in body:
        if isinstance(s, (tree.Decl, tree.Let, tree.Param, tree.Def, tree.ModelDecl)):
            yield s.name.name
        if isinstance(s, (tree.Decl, tree.Broken)):
            yield from _names_bound_in_block(s.body or ())


def _is_physical(s: tree.Stmt) -> bool:
    """Whether a statement says where things are."""
    if isinstance(s, tree.Decl):
        return s.kind.name == "hall"
    return isinstance(s, tree.PlaceStmt) or (isinstance(s, tree.Setting) and s.name.name == "distance")


def _may_be_intent(s: tree.Stmt) -> bool:
    """Whether a statement may have a part of an intent: what a topology or a count of hosts is written as."""
    return isinstance(s, tree.If) or (isinstance(s, tree.Setting) and s.name.name not in WORDS)


def _evaluate_binding(scope: Scope, name: str, binding: Binding) -> None:
    scope.value(name, binding.span)


def _refuse_loop_over_devices(s: tree.For, scope: Scope, context: Context) -> None:
    """Raise the fault of ``for l in leaf[*] {``: a loop goes through values."""
    head = s.over.parts[0] if isinstance(s.over, tree.PathExpr) else None
    if not isinstance(head, tree.Identifier) or scope.find(head.name, head.span) is not None:
        return
    found = next((g.members[head.name] for g in reversed(context.groups) if head.name in g.members), None)
    if found is None:
        return
    axes = found.axes if isinstance(found, Group) else found.parts[-1].axes
    over = f"{axes[0].low}..{axes[0].high}" if len(axes) == 1 else ""
    raise Fault(
        "E0103",
        s.over.span,
        f"`{head.name}` is a {found.kind}, and a loop goes through numbers or a list",
        help=(f"write `{over}`, and " if over else "")
        + f"`{head.name}[({s.var.name})]` in the loop; `connect {head.name}[i] …` is about each without one",
    )


def _comment_behind_model(of: tree.Expr | None) -> Fault | None:
    """The fault of ``switch a: M // words``; None of other models."""
    sign = re.match(r"\w++[ \t]++(?=//)", of.span.text) if of is not None else None
    if of is None or sign is None:
        return None
    at = SourceSpan(of.span.file, of.span.start + sign.end(), of.span.start + sign.end() + 2)
    fix = Fix("write `#`", ((at, "#"),), safe=False)
    return Fault("E0120", at, "a comment begins with `#`; `//` divides", help="write `#`", fix=fix)
