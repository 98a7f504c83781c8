"""Statements with paths: connect, circuit, omit, naming, override. They enter the plan when all declarations
are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import Origin
from tdsl.semantics import failure_rates
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.plan import Context, FabricPlan, Pathed, ResolvedConnect
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import (
    MEDIA_WORDS,
    bundle_across,
    connect_value,
    links_carried_by_cable,
    refuse_foreign_placeholder,
    require_plain_setting,
    require_value_of_connect,
)
from tdsl.syntax import tree

if TYPE_CHECKING:
    from tdsl.semantics.library import Library, Linked

CONNECT_SETTINGS = (
    "rate",
    "class",
    "medium",
    "cable",
    "length",
    "colour",
    "optic",
    "allow",
    "bundle",
    "layer",
    *failure_rates.FACTS,
)


def plan_connect(
    plan: FabricPlan,
    library: Library,
    home: Linked,
    s: tree.Connect,
    scope: Scope,
    context: Context,
    origin: Origin,
) -> None:
    """A connect or circuit."""
    try:
        a = tuple(resolve_path(plan, context, p) for p in s.a)
        b = tuple(resolve_path(plan, context, p) for p in s.b)
        via = resolve_path(plan, context, s.via, ports=False) if s.via else None
        for t in (*a, *b, *([via] if via else [])):
            if t.device is None:
                raise Fault(
                    "E0120",
                    t.span,
                    f"`{t.span.text}` is a group; cables join devices",
                    help="name a device in it",
                )
        settings = connect_settings(s, scope, plan.evaluator)
        _resolve_cable_part(library, home, s, settings)
        _resolve_transceivers(library, home, s, settings)
        _resolve_allowed_parts(library, home, s, settings)
    except (Fault, Excused):
        for path in (*s.a, *s.b, *((s.via,) if s.via else ())):
            plan.excused.update(p.name for p in path.parts if isinstance(p, tree.Identifier))
        raise
    plan.wires.append(ResolvedConnect(s, scope, context, a, b, via, settings, origin))


def _resolve_cable_part(library: Library, home: Linked, s: tree.Connect, settings: dict[str, object]) -> None:
    """Look up the cable a connect names. A bare name must be a known cable; a string may be any part."""
    written = next((x for x in s.body if isinstance(x, tree.Setting) and x.name.name == "cable"), None)
    if written is None:
        return
    entry = library.entry(home, str(settings["cable"]))
    if entry is None or not is_cable(entry.node):
        if isinstance(written.items[0].value, tree.PathExpr):
            raise _unknown_cable_fault(library, home, written, str(settings["cable"]))
        return
    part = library.build(entry, written.items[0].span)
    settings["part"] = part
    if "medium" in part.facts:
        settings.setdefault("medium", str(part.facts["medium"]))


def _unknown_cable_fault(library: Library, home: Linked, written: tree.Setting, name: str) -> Fault:
    """The fault of a cable that nobody declares: `cable DAC` names a medium."""
    from tdsl.semantics.unknown_models import catalogue_kinds_and_titles

    if name.lower() not in MEDIA_WORDS or name.lower() == "cable":
        return library.unknown_model(home, name, written.items[0].span, ("cable",))
    medium = name.lower()
    parts = library.loader.catalogue()
    known = sorted(
        n
        for n, (kind, title) in catalogue_kinds_and_titles(parts).items()
        if kind == "cable" and MEDIA_TITLES.get(medium, medium) in title.lower() and "splitter" not in title
    )
    some = f"; cables of that kind are {', '.join(f'`{n}`' for n in known[:4])}" if known else ""
    return Fault(
        "E0102",
        written.items[0].span,
        f"there is no cable `{name}` here: `{medium}` is a medium",
        help=f"write `medium {medium}`{some}; `tdsl list cables --for MODEL` lists what fits",
        fix=Fix(f"write `medium {medium}`", ((written.span, f"medium {medium}"),), safe=False)
        if written.span.text == f"cable {name}"
        else None,  # a tier has no setting `medium`
    )


MEDIA_TITLES = {
    "dac": "passive copper",
    "acc": "active copper",
    "aoc": "active optical",
    "fibre": "fibre",
    "copper": "copper",
}
"""What titles of the catalogue call a medium."""


def _resolve_transceivers(
    library: Library, home: Linked, s: tree.Connect, settings: dict[str, object]
) -> None:
    """Look up the transceivers a connect names: one for both ends, or one an end."""
    written = next((x for x in s.body if isinstance(x, tree.Setting) and x.name.name == "optic"), None)
    if written is None:
        return
    if len(written.items) > 2:
        raise Fault("E0120", written.span, "a cable has two ends", help="`optic A, B`, or `optic A` for both")
    found = []
    for item in written.items:
        name = item.value.bare if isinstance(item.value, tree.PathExpr) else None
        entry = library.entry(home, name) if name is not None else None
        if entry is None or not is_optic(entry.node):
            raise library.unknown_model(home, item.span.text, item.span, ("optic",))
        found.append(library.build(entry, item.span))
    settings["optics"] = (found[0], found[-1])


def _resolve_allowed_parts(
    library: Library, home: Linked, s: tree.Connect, settings: dict[str, object]
) -> None:
    """Look up the cables and transceivers of ``allow``, which the choice from the catalogue is narrowed
    to."""
    written = next((x for x in s.body if isinstance(x, tree.Setting) and x.name.name == "allow"), None)
    if written is None:
        return
    found = []
    for item in written.items:
        name = item.value.bare if isinstance(item.value, tree.PathExpr) else None
        entry = library.entry(home, name) if name is not None else None
        if entry is None or not (is_optic(entry.node) or is_cable(entry.node)):
            raise library.unknown_model(home, item.span.text, item.span, ("cable", "optic"))
        found.append(library.build(entry, item.span))
    settings["allowed"] = tuple(found)


def is_optic(node: object) -> bool:
    """Whether a declaration is a transceiver's model."""
    return isinstance(node, tree.ModelDecl) and node.kind.name == "optic"


def is_cable(node: object) -> bool:
    """Whether a declaration is a cable's model."""
    return isinstance(node, tree.ModelDecl) and node.kind.name == "cable"


def connect_settings(s: tree.Connect, scope: Scope, evaluator: Evaluator) -> dict[str, object]:
    """``{ rate 400Gbps; class x, y }``: one value, or a list with one a dimension. Strings wait for their
    variables."""
    out: dict[str, object] = {}
    for inner in s.body:
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting):
            raise Fault("E0118", inner.span, "a connect's braces hold settings only")
        name = inner.name.name
        if name == "carries":
            raise Fault(
                "E0118",
                inner.name.span,
                "`carries` follows the cable that it is about",
                help="write `cable PART carries 2`",
            )
        if name not in CONNECT_SETTINGS:
            raise unknown_name_fault(
                "E0118",
                inner.name.span,
                "setting of a connect",
                name,
                CONNECT_SETTINGS,
            )
        if name in failure_rates.FACTS:
            failure_rates.enter_failure_setting(inner, scope, evaluator, out)
            continue
        if name in out:
            raise Fault("E0104", inner.span, f"`{name}` is set twice")
        out[name] = _parts_or_value(inner, scope, evaluator)
        if name == "cable" and (n := links_carried_by_cable(inner, scope, evaluator)) > 1:
            out["carries"] = n
        if name == "bundle" and (how := bundle_across(inner)):
            out["across"] = how
    return out


def _parts_or_value(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> object:
    """The text of ``optic`` and ``allow``, which name parts; the value of another setting of a connect."""
    if s.name.name not in ("optic", "allow"):
        return connect_value(s, scope, evaluator)
    require_value_of_connect(s)
    require_plain_setting(s, s.span.text, len(s.items))
    return s.span.text


def resolve_omit_or_naming(
    plan: FabricPlan,
    s: tree.Omit | tree.Naming,
    path: tree.PathExpr,
    scope: Scope,
    context: Context,
    origin: Origin,
) -> Pathed:
    """An omit or naming."""
    target = resolve_path(plan, context, path, ports=False)
    if isinstance(s, tree.Naming) and target.device is None:
        raise Fault("E0120", path.span, "a naming names devices, and this is a group")
    if isinstance(s, tree.Naming):
        refuse_foreign_placeholder(s.template.span)
    return Pathed(s, target, scope, context, origin)


def plan_omit(
    plan: FabricPlan, s: tree.Omit, path: tree.PathExpr, scope: Scope, context: Context, origin: Origin
) -> None:
    """One path of an omit."""
    plan.omits.append(resolve_omit_or_naming(plan, s, path, scope, context, origin))


def plan_override(
    plan: FabricPlan,
    library: Library,
    home: Linked,
    s: tree.Override,
    scope: Scope,
    context: Context,
    origin: Origin,
) -> None:
    """``override PATH: MODEL``, or ``override PATH { address loopback 10.9.9.9; asn 65001 }``."""
    if s.model is None and s.body:
        from tdsl.semantics.addressing import plan_address_override

        for inner in s.body:
            plan_address_override(plan, s, inner, scope, context, origin)
        return
    target = resolve_path(plan, context, s.path, ports=False)
    if target.device is None:
        raise Fault("E0120", s.path.span, "an override names devices, not a group")
    if s.model is None or s.model.bare is None:
        raise Fault(
            "E0120",
            s.span,
            "an override says which model replaces the one declared",
            help="`override leaf[3]: MODEL`",
        )
    model = library.model(home, s.model.bare, s.model.span)
    if model.kind != target.device.kind:
        raise Fault(
            "E0102", s.model.span, f"{model.name} is a {model.kind} and cannot replace a {target.device.kind}"
        )
    if s.body:
        raise Fault("E0118", s.body[0].span, "an override takes a model only")
    plan.overrides.append(Pathed(s, target, scope, context, origin, model))


def plan_naming(plan: FabricPlan, s: tree.Naming, scope: Scope, context: Context, origin: Origin) -> None:
    """A naming."""
    plan.namings.append(resolve_omit_or_naming(plan, s, s.path, scope, context, origin))
