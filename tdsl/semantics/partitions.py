"""``partition`` and ``subnet_manager``: who may talk with whom in an InfiniBand subnet, and which hosts
manage it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.amounts import settings_in_one_fault
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.paths import paths_in_one_fault, resolve_path
from tdsl.semantics.plan import Context, FabricPlan, ResolvedPath
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import refuse_block
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.evaluate import Evaluator

MEMBERSHIP = ("full", "limited")
PARTITION_SETTINGS = (*MEMBERSHIP, "ipoib")
FULL = 0x8000
"""The bit of a P_Key that says full membership; the 15 below are the partition (InfiniBand Architecture,
volume 1, 10.9.1)."""
DEFAULT = 0x7FFF
"""The partition in which every port is, and the subnet manager a full member."""
EXAMPLE = "the form is `partition storage 0x8001 { full filer[*]; limited node[*].nic }`"


@dataclass(frozen=True, slots=True)
class Members:
    """Paths of one ``full``, ``limited`` or ``subnet_manager``."""

    targets: tuple[ResolvedPath, ...]
    scope: Scope
    context: Context
    origin: Origin


@dataclass(frozen=True, slots=True)
class PartitionRule:
    """One ``partition``. ``key`` has 15 bits; ``members`` are (full, paths); ``ipoib``: IP runs over it (RFC
    4391)."""

    name: str
    key: int
    ipoib: bool
    members: tuple[tuple[bool, Members], ...]
    origin: Origin


def plan_partition(plan: FabricPlan, s: tree.Setting, scope: Scope, context: Context, origin: Origin) -> None:
    """``partition NAME KEY { full PATH, …; limited PATH, …; ipoib }``."""
    name, key = _partition_name_and_key(s, scope, plan.evaluator)
    members: list[tuple[bool, Members]] = []
    ipoib = False
    for inner in s.body or ():
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting):
            raise Fault("E0118", inner.span, "the braces of a partition hold its members", help=EXAMPLE)
        word = inner.name.name
        if word == "ipoib" and not inner.items:
            refuse_block(inner, "write `ipoib` alone")
            ipoib = True
        elif word in MEMBERSHIP:
            members.append(
                (
                    word == "full",
                    _resolve_partition_members(plan, inner, scope, context, Origin(inner.span, origin.chain)),
                )
            )
        elif word == "ipoib":
            raise Fault("E0120", inner.span, "`ipoib` takes no value")
        else:
            raise unknown_name_fault(
                "E0118", inner.name.span, "setting of a partition", word, PARTITION_SETTINGS
            )
    if not members:
        raise Fault("E0120", s.span, f"partition `{name}` has no members", help=EXAMPLE)
    plan.partitions.append(PartitionRule(name, key, ipoib, tuple(members), origin))


def plan_subnet_manager(
    plan: FabricPlan, s: tree.Setting, scope: Scope, context: Context, origin: Origin
) -> None:
    """``subnet_manager HOST, …``: the first is master, the others stand by in this order."""
    found = _resolve_partition_members(plan, s, scope, context, origin)
    for t in found.targets:
        if t.device is not None and t.device.kind != "host":
            raise Fault(
                "E0120",
                t.span,
                f"a subnet manager runs on a host, and `{t.span.text}` is a {t.device.kind}",
                help="the form is `subnet_manager manager[*]`",
            )
    plan.managers.append(found)


def _partition_form_fault(s: tree.Setting) -> Fault:
    """Why a partition has not a name and a key: its key is torn apart, its members have no braces, or
    something is missing."""
    found = re.match(
        r"partition\s+(\w+)\s+0(?:\s+[xX]\s*|[xX]\s+|\s*[*,]\s*)([0-9a-fA-F]{1,4})\b", s.span.text
    )
    message = "a partition has a name and a key"
    if found is not None:  # `0 x8001`
        new = f"partition {found[1]} 0x{found[2]}"
        at = SourceSpan(s.span.file, s.span.start, s.span.start + found.end())
        fix = Fix(f"write `{new}`", ((at, new),), safe=False)
        return Fault("E0120", at, message, help=f"write `{new}`", fix=fix)
    members = re.search(r"\s(full|limited|ipoib)\b.*", s.span.text)
    if members is None:
        return Fault("E0120", s.span, message, help=EXAMPLE)
    if s.body is not None and (named := re.match(r"partition[ \t]+(\w+)(?=[ \t]*\{)", s.span.text)):
        return _key_left_out_fault(s.span, named)
    place = SourceSpan(s.span.file, s.span.start + members.start(1), s.span.end)
    fix = Fix("write braces", ((place, f"{{ {place.text} }}"),), safe=False)
    message = "members of a partition are written in its braces"
    return Fault("E0120", place, message, help=f"write `{{ {place.text} }}`", fix=fix)


def _key_left_out_fault(span: SourceSpan, named: re.Match[str]) -> Fault:
    """The fault of ``partition training { … }``, answered with the least key that no other has."""
    taken = {
        int(key, 0) for key in re.findall(r"\bpartition\s+\w+\s+(0x[0-9a-f]+|[1-9]\d*)\b", span.file.text)
    }
    key = next(k for k in range(1, FULL) if k not in taken)
    new = f"{named[0]} 0x{key:04x}"
    at = SourceSpan(span.file, span.start, span.start + len(named[0]))
    fix = Fix(f"write `{new}`", ((at, new),), safe=False)
    message = f"the partition `{named[1]}` has no key, which follows its name"
    return Fault("E0120", at, message, help=f"write `{new} {{`", fix=fix)


def _partition_name_and_key(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> tuple[str, int]:
    """Name and key."""
    item = s.items[0] if len(s.items) == 1 else None
    if item is None or len(item.args) != 1 or item.args[0][0]:
        raise _partition_form_fault(s)
    name = evaluator.evaluate(item.value, scope, words=True)
    if not isinstance(name, str) or not name:
        raise Fault("E0103", item.value.span, "expected the name of a partition", help=EXAMPLE)
    at = item.args[0][1].span
    written = evaluator.integer(item.args[0][1], scope)
    key = written % FULL
    if not 0 < written < 2 * FULL or not key:
        raise Fault(
            "E0110",
            at,
            f"{written:#x} is not a key of a partition",
            help="write a key from `0x1` to `0x7fff`; the bit 0x8000 may be written and says nothing",
        )
    return str(name), key


def _resolve_partition_members(
    plan: FabricPlan, s: tree.Setting, scope: Scope, context: Context, origin: Origin
) -> Members:
    """The paths of a statement."""
    targets = tuple(resolve_path(plan, context, p) for p in _device_paths_of_setting(s))
    for t in targets:
        if t.device is None:
            raise Fault(
                "E0120",
                t.span,
                f"`{t.span.text}` is a group; ports of devices are meant",
                help=f"name the devices in it: `{t.span.text}.NAME[*]`",
            )
    return Members(targets, scope, context, origin)


def _device_paths_of_setting(s: tree.Setting) -> Iterable[tree.PathExpr]:
    if not s.items or s.body:
        raise Fault(
            "E0120", s.span, f"`{s.name.name}` takes paths to devices", help=f"write `{s.name.name} node[*]`"
        )
    for item in s.items:
        if not isinstance(item.value, tree.PathExpr) or item.args:
            raise (
                settings_in_one_fault(s.name.name, s.items, (*MEMBERSHIP, "ipoib"))
                or paths_in_one_fault(item.span)
                or Fault(
                    "E0120", item.span, "expected a path to devices", help=f"write `{s.name.name} node[*]`"
                )
            )
        yield item.value
