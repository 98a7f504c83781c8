"""``address`` and ``asn``: who gets a value, and where the values come from. Paths are resolved here, values
assigned later."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.amounts import setting_without_sign_fault
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.paths import paths_in_one_fault, resolve_path
from tdsl.semantics.plan import Context, FabricPlan, ResolvedPath
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import require_plain_setting
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.evaluate import Evaluator

WHAT = ("loopback", "links", "management", "bmc")
OVERRIDABLE = ("address", "asn")
PORTS_APART = {
    "management": {"interface": "eth0", "vrf": "mgmt", "gateway": ""},
    "bmc": {"interface": "bmc", "vrf": "mgmt", "gateway": ""},
}
"""What the settings of an address beside the network are if not written: that of the operating system's own
port, and that of the controller of the board (IPMI 2.0, section 1.7.6, "baseboard management controller")."""


@dataclass(frozen=True, slots=True)
class AddressRule:
    """One ``address`` or ``asn``.

    ``kind`` is loopback, links, management, bmc or asn. With ``each`` (the word ``from``) the k-th of the
    planned population gets the k-th value; without it all get the one written. ``replaces``: it stands in an
    ``override``.
    """

    kind: str
    targets: tuple[ResolvedPath, ...]
    far: tuple[ResolvedPath, ...]
    value: tree.Expr
    each: bool
    replaces: bool
    interface: str
    vrf: str
    gateway: str
    scope: Scope
    context: Context
    origin: Origin


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """What an ``address`` or ``asn`` says, before its paths are resolved."""

    kind: str
    """loopback, links, management, bmc or asn."""
    paths: tuple[tree.PathExpr, ...]
    """The devices, or of links their near side."""
    value: tree.Expr
    """The address, network or number."""
    each: bool
    """Whether each device gets the next value (the word ``from``)."""
    replaces: bool = False
    """Whether it is in an ``override``."""
    far: tree.Expr | None = None
    """The far side of links, behind ``to``."""
    management: tuple[str, str, str] = ("", "", "")
    """Interface, VRF and gateway of an address of management or of a bmc."""


def plan_address_statement(
    plan: FabricPlan, s: tree.Setting, scope: Scope, context: Context, origin: Origin
) -> None:
    """``address PATH [, PATH …] [to PATH] loopback|links|management|bmc from NETWORK [{ interface eth0; vrf
    mgmt; gateway A }]``."""
    paths, words = _paths_and_words(s, "address leaf[*] loopback from 10.255.0.0/16")
    far = next((v for w, v in words if w == "to"), None)
    kind, each, value = _address_kind_and_source(s, [(w, v) for w, v in words if w != "to"])
    if far is not None and kind != "links":
        raise Fault(
            "E0120",
            far.span,
            f"`to` is for addresses of links, not for {kind}",
            help="leave `to` out, or write `links`",
        )
    management = _management_settings(s, kind, scope, plan.evaluator)
    written = WrittenRule(kind, tuple(paths), value, each, far=far, management=management)
    _add_address_rule(plan, written, scope, context, origin)


def plan_asn_statement(
    plan: FabricPlan, s: tree.Setting, scope: Scope, context: Context, origin: Origin
) -> None:
    """``asn PATH [, PATH …] [from] NUMBER`` inside ``routing bgp``."""
    paths, words = _paths_and_words(s, "asn leaf[*] from 4_200_000_000")
    if len(words) != 1 or words[0][0] not in ("", "from"):
        raise Fault(
            "E0120",
            s.span,
            "an asn names devices and a number",
            help="the form is `asn leaf[*] from 4_200_000_000`",
        )
    each, value = words[0][0] == "from", words[0][1]
    _add_address_rule(plan, WrittenRule("asn", tuple(paths), value, each), scope, context, origin)


def plan_address_override(
    plan: FabricPlan, s: tree.Override, inner: tree.Stmt, scope: Scope, context: Context, origin: Origin
) -> None:
    """``override PATH { address loopback 10.9.9.9; asn 65001 }``: one setting of its braces."""
    if isinstance(inner, tree.Broken):
        raise Excused
    if not isinstance(inner, tree.Setting) or inner.name.name not in OVERRIDABLE:
        name = inner.name if isinstance(inner, tree.Setting) else None
        if name is None:
            raise Fault(
                "E0118", inner.span, "an override's braces hold settings only", help="known: `address`, `asn`"
            )
        raise unknown_name_fault("E0118", name.span, "setting of an override", name.name, OVERRIDABLE)
    if len(inner.items) != 1:
        raise Fault("E0120", inner.span, f"`{inner.name.name}` in an override has one value")
    item = inner.items[0]
    if inner.name.name == "asn":
        require_plain_setting(inner, f"asn {item.value.span.text}")
        kind, each, value = "asn", False, item.value
    else:
        kind, each, value = _address_kind_and_source(inner, [("", item.value), *item.args])
        if kind == "links":
            raise Fault(
                "E0120",
                item.span,
                "an override has addresses of devices; those of links are written by `address`",
            )
    management = _management_settings(inner, kind, scope, plan.evaluator)
    written = WrittenRule(kind, (s.path,), value, each, replaces=True, management=management)
    _add_address_rule(plan, written, scope, context, Origin(inner.span, origin.chain))


def _kind_before_devices_fault(s: tree.Setting, kind: SourceSpan) -> Fault:
    """The fault of ``address loopback leaf, spine from …``."""
    behind = re.compile(r"[^{};\n#]*+").match(s.span.file.text, kind.end)
    devices, word, _ = behind[0].partition(" from ") if behind is not None else ("", "", "")
    message = f"`{kind.text}` comes behind the devices that it is about"
    if not word or not devices.strip():
        return Fault("E0120", kind, message, help="the form is `address leaf[*] loopback from 10.255.0.0/16`")
    whole = SourceSpan(kind.file, kind.start, kind.end + len(devices.rstrip()))
    new = f"{devices.strip()} {kind.text}"
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    return Fault("E0120", whole, message, help=f"write `{new}`", fix=fix)


_SETTINGS_BESIDE = ("asn", "mtu", "bfd", "unnumbered", "address")
"""Settings that are written beside an `address`, and follow it by mistake."""


def _paths_and_words(
    s: tree.Setting, example: str
) -> tuple[list[tree.PathExpr], list[tuple[str, tree.Expr]]]:
    """The paths of a statement, and the words behind the last of them."""
    paths: list[tree.PathExpr] = []
    for k, item in enumerate(s.items):
        if not isinstance(item.value, tree.PathExpr):
            raise paths_in_one_fault(item.value.span) or Fault(
                "E0120", item.value.span, "expected a path to devices", help=f"the form is `{example}`"
            )
        paths.append(item.value)
        if not k and item.value.bare in WHAT and (item.args or len(s.items) > 1):
            raise _kind_before_devices_fault(s, item.value.span)
        if item.args and k + 1 < len(s.items):
            behind = s.items[k + 1].value
            if isinstance(behind, tree.PathExpr) and behind.bare in _SETTINGS_BESIDE:
                gap = SourceSpan(behind.span.file, item.span.end, behind.span.start)
                raise setting_without_sign_fault(gap, behind.span)
            raise Fault(
                "E0120",
                item.span,
                f"one `{s.name.name}` says one thing; write a statement for each",
                help=f"the form is `{example}`",
            )
    if not paths:
        raise Fault("E0120", s.span, f"`{s.name.name}` names no device", help=f"the form is `{example}`")
    return paths, list(s.items[-1].args)


_MASK = re.compile(
    r"^[^#\n]*?(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(?:/\d\d?)?[ \t]++(255(?:\.\d{1,3}){3})", re.MULTILINE
)


def _refuse_mask(s: tree.Setting) -> None:
    """Raise Fault for ``from 10.0.0.0 255.255.0.0``, a network with its mask; comments are passed over."""
    found = _MASK.search(s.span.text.partition("{")[0])
    if found is None:
        return
    try:
        new = f"{found[1]}/{ip_network(f'{found[1]}/{found[2]}', strict=False).prefixlen}"
    except ValueError:  # `255.0.255.0` is no mask
        return
    at = SourceSpan(s.span.file, s.span.start + found.start(1), s.span.start + found.end())
    fix = Fix(f"write `{new}`", ((at, new),), safe=False)
    raise Fault("E0120", at, "a network is an address and a prefix length", help=f"write `{new}`", fix=fix)


def _refuse_settings_without_braces(s: tree.Setting) -> None:
    """Raise Fault for ``address leaf management from NET interface eth0``."""
    words = s.span.text.split()
    begin = next((k for k, w in enumerate(words) if w in ("interface", "vrf", "gateway")), 0)
    if not begin or s.body is not None or len(words[begin:]) % 2:
        return
    settings = "; ".join(f"{a} {b}" for a, b in zip(words[begin::2], words[begin + 1 :: 2], strict=True))
    at = s.span.start + s.span.text.index(f" {words[begin]}")
    place = SourceSpan(s.span.file, at, s.span.end)
    fix = Fix("write braces", ((place, f" {{ {settings} }}"),), safe=False)
    message = "settings of addresses are written in braces"
    raise Fault("E0120", place, message, help=f"write `{{ {settings} }}`", fix=fix)


def _address_kind_and_source(
    s: tree.Setting, words: list[tuple[str, tree.Expr]]
) -> tuple[str, bool, tree.Expr]:
    """What is addressed, whether the values are given out one by one, and the network."""
    example = "the form is `address leaf[*] loopback from 10.255.0.0/16`"
    if not words:
        raise Fault("E0120", s.span, f"`{s.name.name}` does not say what it addresses", help=example)
    # `loopback 10.9.9.9` comes as one word and its value, `loopback from …` as two
    _refuse_mask(s)
    (word, first), rest = words[0], words[1:]
    if word:
        kind, found, at = word, ("", first), first.span
    elif isinstance(first, tree.PathExpr) and first.bare is not None and len(rest) == 1:
        kind, found, at = first.bare, rest[0], first.span
    else:
        _refuse_settings_without_braces(s)
        raise Fault(
            "E0120", s.span, f"`{s.name.name}` does not say what it addresses, and from where", help=example
        )
    if (word and rest) or found[0] not in ("", "from"):
        raise Fault("E0120", s.span, f"`{s.name.name}` says more than one network", help=example)
    if kind == "from":
        raise _kind_left_out_fault(s, at)
    if kind not in WHAT:
        raise unknown_name_fault("E0101", at, "kind of address", kind, WHAT)
    return kind, found[0] == "from", found[1]


def _kind_left_out_fault(s: tree.Setting, at: SourceSpan) -> Fault:
    """The fault of ``address node.bmc from 10.0.0.0/24`` and ``address leaf from …``: the kind of address
    is missing."""
    first = s.items[0].value.span
    device, point, member = first.text.rpartition(".")
    message = f"`{s.name.name}` does not say what it addresses, before `from`"
    if point and member in WHAT:
        new = f"{device} {member}"
        fix = Fix(f"write `{new}`", ((first, new),), safe=False)
        return Fault("E0120", first, message, help=f"write `{new}`", fix=fix)
    kind = "links" if point and "[" not in member.partition("[")[0] and member[:1].islower() else "loopback"
    place = SourceSpan(at.file, first.end, first.end)
    fix = Fix(f"write `{kind}`", ((place, f" {kind}"),), safe=False)
    return Fault(
        "E0120",
        first,
        message,
        help=f"write `{first.text} {kind}`, or another of {', '.join(f'`{w}`' for w in WHAT)}",
        fix=fix,
    )


def _management_settings(
    s: tree.Setting, kind: str, scope: Scope, evaluator: Evaluator
) -> tuple[str, str, str]:
    """Interface, VRF and gateway of addresses of management and of controllers."""
    given = dict(PORTS_APART.get(kind, {}))
    seen: set[str] = set()
    for inner in s.body or ():
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting) or inner.name.name not in given:
            help = "`management` and `bmc` take `interface`, `vrf` and `gateway`; others take none"
            raise Fault("E0118", inner.span, "this is not a setting of an address", help=help)
        require_plain_setting(inner, f"{inner.name.name} NAME")
        if inner.name.name in seen:
            raise Fault("E0104", inner.span, f"`{inner.name.name}` is set twice", help="leave one of them")
        seen.add(inner.name.name)
        value = evaluator.evaluate(inner.items[0].value, scope, words=True) if inner.items else None
        if not isinstance(value, str) or not value:
            raise Fault("E0103", inner.span, f"`{inner.name.name}` is a name")
        given[inner.name.name] = str(value)
    return given.get("interface", ""), given.get("vrf", ""), given.get("gateway", "")


def _add_address_rule(
    plan: FabricPlan, written: WrittenRule, scope: Scope, context: Context, origin: Origin
) -> None:
    """Resolve a rule's paths and keep it."""
    kind, far = written.kind, written.far
    if far is not None and not isinstance(far, tree.PathExpr):
        raise Fault("E0120", far.span, "expected a path to devices after `to`")
    ports = kind == "links"
    targets = tuple(resolve_path(plan, context, p, ports=ports) for p in written.paths)
    others = (resolve_path(plan, context, far),) if far is not None else ()
    for t in (*targets, *others):
        if t.device is None:
            raise Fault(
                "E0120",
                t.span,
                f"`{t.span.text}` is a group; addresses are of devices",
                help=f"name the devices in it: `{t.span.text}.NAME[*]`",
            )
    plan.rules.append(
        AddressRule(
            kind,
            targets,
            others,
            written.value,
            written.each,
            written.replaces,
            *written.management,
            scope,
            context,
            origin,
        )
    )
