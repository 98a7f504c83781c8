"""Requirements with their paths resolved to devices and their values computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdsl.diagnostic import Diagnostics
from tdsl.fabric.claims import Element, ResolvedClaim, Selector
from tdsl.fabric.elaborate import target_rows
from tdsl.fabric.graph import Fabric
from tdsl.fabric.order import distinct
from tdsl.fabric.resolve import Resolver, assignments
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import unravel
from tdsl.semantics.paths import resolve
from tdsl.semantics.plan import Context, Plan, Required, Target
from tdsl.semantics.values import whole
from tdsl.source import Origin
from tdsl.syntax import tree

FAILING = ("bundles", "cables", "cages", "links", "ports")
"""What `any K …` may fail beside devices and groups."""


def resolve_claims(plan: Plan, fabric: Fabric, diagnostics: Diagnostics) -> list[ResolvedClaim]:
    """All claims of a plan, in order; a claim in a group's block once for each instance of the group."""
    out: list[ResolvedClaim] = []
    for required in plan.requires:
        for claim in required.node.claims:
            try:
                one = _claim(plan, fabric, required, claim)
                out += [replace(one, scope=scope) for scope in _scopes(plan, required.context)]
            except Fault as fault:
                fault.report(diagnostics)
            except Excused:
                pass
    return out


def _scopes(plan: Plan, context: Context) -> list[Element | None]:
    """The instances of the group in whose block a claim stands; None for the fabric itself."""
    if len(context.groups) == 1:
        return [None]
    axes = context.axes
    count = int(np.prod([a.size for a in axes])) if axes else 1
    out: list[Element | None] = []
    for at in range(count):
        indices = iter(unravel(at, axes))
        names = []
        for part in context.parts:
            here = [str(next(indices)) for _ in part.axes]
            names.append(f"{part.name}[{', '.join(here)}]" if here else part.name)
        rows = []
        for s in context.group.sets():
            each = s.count // count
            rows.append(np.arange(s.first + at * each, s.first + (at + 1) * each, dtype=np.int64))
        out.append(Element(".".join(names), np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)))
    return out


def _claim(plan: Plan, fabric: Fabric, required: Required, claim: tree.Claim) -> ResolvedClaim:
    scope, evaluator = required.scope, plan.evaluator

    def select(paths: tuple[tree.Path, ...]) -> tuple[Selector, ...]:
        return tuple(_selector(plan, fabric, required, p) for p in paths)

    count = whole(evaluator.evaluate(claim.any_count, scope)) if claim.any_count is not None else None
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        raise Fault(
            "E0103", claim.any_count.span if claim.any_count else claim.span, "the number of failures must be a whole number"
        )
    value = evaluator.evaluate(claim.value, scope) if claim.value is not None else None
    any_of = claim.any_of.name if claim.any_of else ""
    if claim.any_of is not None and any_of not in FAILING:
        known = ", ".join(FAILING)
        raise Fault("E0492", claim.any_of.span, f"`any K {any_of}` fails nothing that tdsl knows", help=f"write one of {known}")
    under, through = (m.name if m else "" for m in (claim.under, claim.through))
    return ResolvedClaim(
        claim.metric.name, tuple(evaluator.evaluate(a, scope, words=True) for a in claim.args), count, any_of,
        select(claim.of),
        select(claim.of_to), select(claim.at), under, through, claim.op or "", value, claim.of_intact,
        _claim(plan, fabric, required, claim.given) if claim.given else None, required.node.report, None,
        " ".join(claim.span.text.split()), Origin(claim.span, required.origin.chain), claim.of_active, claim.share_of,
        claim.of_all,
    )  # fmt: skip


def _selector(plan: Plan, fabric: Fabric, required: Required, path: tree.Path) -> Selector:
    text = " ".join(path.span.text.split())
    if path.bare == "ports" and not any("ports" in g.members for g in required.context.groups):
        return Selector("ports", "ports", ())
    try:
        target = resolve(plan, required.context, path)
    except Fault:
        if path.bare == "network":  # all switches, optical switches and panels, with what is in them
            return Selector("network", "network", ())
        whole_tier = _tier(fabric, path)
        if whole_tier is None:
            raise
        return whole_tier
    context = Context(required.context.groups, required.context.parts)
    over = assignments(context, (target,), None, required.scope, plan.evaluator, path.span)
    resolver = Resolver(required.scope, plan.evaluator, over)
    kind = target.device.kind if target.device else target.group.kind if target.group else ""
    if target.device is not None:
        rows = distinct(resolver.devices(target)[0])
        elements = tuple(Element(_name(plan, target, int(r)), np.array([r], dtype=np.int64)) for r in rows.tolist())
        if target.ports is None:
            return Selector(text, kind, elements, target.port_class)
        parts = target.device.model.parts(target.port_class)
        chosen = resolver.choice(target)
        local = np.arange(sum(c.size for c in parts)) if chosen.local is None else distinct(chosen.local)
        return Selector(
            text, kind, elements, target.port_class, (fabric.port_base[rows][:, None] + parts[0].first + local).ravel()
        )
    return Selector(text, kind, tuple(_group_elements(plan, target, resolver)))


def _tier(fabric: Fabric, path: tree.Path) -> Selector | None:
    """A bare name that stands for all device sets of that name, whichever group they are in: ``at leaf``."""
    if path.bare is None:
        return None
    sets = [s for s in fabric.sets if s.name == path.bare]
    if not sets:
        return None
    elements = tuple(Element(s.device_path(k), np.array([s.first + k], dtype=np.int64)) for s in sets for k in range(s.count))
    return Selector(path.bare, sets[0].kind, elements)


def _name(plan: Plan, target: Target, row: int) -> str:
    assert target.device is not None
    return target.device.device_path(row - target.device.first)


def _group_elements(plan: Plan, target: Target, resolver: Resolver) -> list[Element]:
    """One element for each instance of a group that a path names."""
    assert target.group is not None
    sets = list(target.group.sets())
    if not sets:
        return []
    rows = distinct(target_rows(plan, target, resolver))
    rows = rows[rows >= 0]
    depth = len(target.group_parts)
    found: dict[str, list[int]] = {}
    for s in sets:
        inner = int(np.prod([a.size for p in s.parts[depth:] for a in p.axes] or [1]))
        for row in rows[(rows >= s.first) & (rows < s.first + s.count)].tolist():
            at = (row - s.first) // inner
            indices = iter(unravel(at, tuple(a for p in s.parts[:depth] for a in p.axes)))
            names = []
            for part in s.parts[:depth]:
                here = [str(next(indices)) for _ in part.axes]
                names.append(f"{part.name}[{', '.join(here)}]" if here else part.name)
            found.setdefault(".".join(names), []).append(row)
    return [Element(name, np.array(members, dtype=np.int64)) for name, members in found.items()]
