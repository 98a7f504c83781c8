"""``routing bgp { … }`` and ``roce { … }``: settings that all switches and hosts of a fabric have in
common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Diagnostics, Fix, Severity
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.amounts import settings_in_one_fault
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.quantity import SIZE, TIME, Quantity
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import only_value_behind
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.evaluate import Evaluator

FLAGS = ("unnumbered", "bfd", "graceful_restart")
BGP_SETTINGS = ("asn", "mtu", *FLAGS)
ROCE_SETTINGS = ("dscp", "priority", "cnp", "ecn", "pfc")
MTU = range(1280, 65536)
"""Of a link: IPv6 needs 1,280 bytes (RFC 8200, section 5), a length field has 16 bits."""


@dataclass(frozen=True, slots=True)
class RoutingSettings:
    """How the fabric routes: BGP between neighbours (RFC 7938). ``mtu`` is in bytes, 0 if not said."""

    protocol: str
    bfd: bool
    graceful_restart: bool
    mtu: int
    origin: Origin
    bfd_ms: int = 0
    bfd_multiplier: int = 0


@dataclass(frozen=True, slots=True)
class Ecn:
    """Marking of packets: from ``low`` bytes of queue on some, at ``high`` bytes ``percent`` of them, above
    it all."""

    low: int
    high: int
    percent: int


@dataclass(frozen=True, slots=True)
class Roce:
    """Traffic class of RDMA over Converged Ethernet (RoCEv2).

    ``dscp`` and ``priority`` of its packets, ``cnp_dscp`` and ``cnp_priority`` of its congestion
    notifications; ``pfc``: the priority is lossless (IEEE 802.1Qbb); ``watchdog_ms`` is when a stuck pause is
    broken, 0 for never.
    """

    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int
    pfc: bool
    watchdog_ms: int
    ecn: Ecn | None
    origin: Origin


def read_routing_block(
    s: tree.Setting, scope: Scope, evaluator: Evaluator, origin: Origin
) -> tuple[RoutingSettings, list[tree.Setting]]:
    """``routing bgp { unnumbered; asn …; mtu 9216; bfd; graceful_restart }``, and its ``asn`` for later."""
    _require_bgp(s)
    given = _settings_by_name(s, BGP_SETTINGS, several="asn")
    for name in FLAGS:
        if name != "bfd" and name in given and given[name].items:
            raise settings_in_one_fault(name, given[name].items, BGP_SETTINGS) or Fault(
                "E0120", given[name].span, f"`{name}` takes no value", help=f"write `{name}` alone"
            )
    mtu = _integer_setting("mtu", given, scope, evaluator, MTU, 0)
    asns = [x for x in s.body or () if isinstance(x, tree.Setting) and x.name.name == "asn"]
    interval, multiplier = _bfd_timers(given.get("bfd"), scope, evaluator)
    return RoutingSettings(
        "bgp", "bfd" in given, "graceful_restart" in given, mtu, origin, interval, multiplier
    ), asns


def _require_bgp(s: tree.Setting) -> None:
    """Raise Fault unless `bgp` alone is written behind `routing`."""
    first, alone = s.items[0].value if s.items else None, len(s.items) == 1 and not s.items[0].args
    if isinstance(first, tree.PathExpr) and first.bare == "bgp":
        if alone:
            return
        if len(s.items) > 1 and not s.items[0].args:
            others = SourceSpan(s.span.file, s.items[0].span.end, s.items[-1].span.end)
            message = "`routing` has one protocol, which is `bgp`"
            fix = Fix("write `bgp`", ((others, ""),), safe=False)
            raise Fault("E0120", s.items[1].span, message, help="write `bgp` alone", fix=fix)
        message = "settings of `routing bgp` are written in its braces"
        raise Fault("E0120", s.items[0].span, message, help="write `routing bgp { unnumbered; … }`")
    at = first.span if first is not None and alone else s.name.span
    raise Fault("E0120", at, "expected the protocol, which is `bgp`", help="write `routing bgp { … }`")


def _bfd_timers(s: tree.Setting | None, scope: Scope, evaluator: Evaluator) -> tuple[int, int]:
    """Milliseconds between two packets, and how many may be lost: ``bfd 100ms x 3``; 0 and 0 where the
    system's own apply."""
    if s is None or not s.items:
        return 0, 0
    item, help = s.items[0], "write `bfd 100ms x 3`: packets every 100 ms, a failure after 3 lost ones"
    if len(s.items) > 1 or [w for w, _ in item.args] != ["x"]:
        raise Fault("E0120", s.span, "`bfd` is alone, or has an interval and a multiplier", help=help)
    value = evaluator.evaluate(item.value, scope)
    if not isinstance(value, Quantity) or value.dim != TIME:
        raise Fault("E0103", item.value.span, "the interval of `bfd` is a time", help=help)
    ms = value.amount * 1000
    if ms.denominator != 1 or not 50 <= ms <= 4000:
        raise Fault(
            "E0110",
            item.value.span,
            "the interval of `bfd` is from 50 to 4,000 whole milliseconds",
            help=help,
        )
    return int(ms), _integer_in_range("multiplier", item.args[0][1], scope, evaluator, range(3, 51))


def read_roce_block(s: tree.Setting, scope: Scope, evaluator: Evaluator, origin: Origin) -> Roce:
    """``roce { dscp 26; priority 3; cnp 48 priority 6; ecn 150kB to 1500kB at 5%; pfc watchdog 200ms }``."""
    if s.items:
        raise Fault(
            "E0120",
            s.items[0].span,
            "`roce` has a block and no value",
            help="write `roce { dscp 26; priority 3 }`",
        )
    given = _settings_by_name(s, ROCE_SETTINGS)
    priority = _integer_setting("priority", given, scope, evaluator, range(8), 3)
    dscp = _integer_setting("dscp", given, scope, evaluator, range(64), 26)
    cnp = given.get("cnp")
    cnp_dscp = _integer_setting("cnp", given, scope, evaluator, range(64), 48)
    cnp_priority = _number_after_word(cnp, "priority", scope, evaluator, range(8), 6) if cnp else 6
    for mine, theirs, what in ((dscp, cnp_dscp, "dscp"), (priority, cnp_priority, "priority")):
        if mine == theirs:
            span = (cnp or given.get(what) or s).span
            raise Fault(
                "E0120",
                span,
                f"data and congestion notifications both have {what} {mine}",
                help="notifications must overtake the data that waits: give them a class of their own",
            )
    pfc, watchdog = _pfc_setting(given.get("pfc"), scope, evaluator)
    ecn = _ecn_thresholds(given["ecn"], scope, evaluator) if "ecn" in given else None
    return Roce(dscp, priority, cnp_dscp, cnp_priority, pfc, watchdog, ecn, origin)


def tell_of_missing_ecn(s: tree.Setting, diagnostics: Diagnostics) -> None:
    """A finding of a `roce` block by which no switch marks packets: a warning where it says something of the
    notifications that answer marks, else a note where it does not say that PFC is all it wants."""
    words = {inner.name.name: inner for inner in s.body or () if isinstance(inner, tree.Setting)}
    if "ecn" in words or ("pfc" in words and "cnp" not in words):
        return
    at = words.get("cnp")
    consequence = "nothing asks for these notifications" if at is not None else "only PFC slows senders"
    diagnostics.add(
        "E0476",
        at.span if at is not None else s.name.span,
        f"no switch marks packets, since no `ecn` says from which queue on; {consequence}",
        help="write `ecn 150kB to 1500kB at 5%` with your thresholds"
        + ("" if at is not None else ", or `pfc` where that is meant"),
        severity=Severity.WARNING if at is not None else Severity.NOTE,
    )


def _settings_by_name(s: tree.Setting, known: tuple[str, ...], several: str = "") -> dict[str, tree.Setting]:
    """The settings of a block by name, each once."""
    out: dict[str, tree.Setting] = {}
    for inner in s.body or ():
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting):
            raise Fault("E0118", inner.span, f"the braces of `{s.name.name}` hold settings only")
        name = inner.name.name
        if name not in known:
            raise unknown_name_fault("E0118", inner.name.span, f"setting of {s.name.name}", name, known)
        if inner.body is not None:
            at, help = (
                inner.body[0].span if inner.body else inner.span,
                f"write the value of `{name}` behind it",
            )
            raise Fault("E0118", at, f"`{name}` takes no block here", help=help)
        if name in out and name != several:
            raise Fault(
                "E0104", inner.span, f"`{name}` is set twice", labels=[(out[name].span, "first here")]
            )
        out[name] = inner
    return out


def _integer_setting(
    name: str,
    given: Mapping[str, tree.Setting],
    scope: Scope,
    evaluator: Evaluator,
    among: range,
    default: int,
) -> int:
    """The number of a setting, which must lie in a range."""
    s = given.get(name)
    if s is None:
        return default
    if len(s.items) != 1 or (s.items[0].args and name != "cnp"):
        shown = s.items[0].value.span.text if s.items else "N"
        shown = shown if shown.isalnum() else "N"
        if re.fullmatch(r"cnp \d+, priority \d+", s.span.text):
            new = s.span.text.replace(",", "")
            fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
            raise Fault("E0120", s.span, "no `,` is before `priority`", help=f"write `{new}`", fix=fix)
        raise settings_in_one_fault(name, s.items, ROCE_SETTINGS) or Fault(
            "E0120", s.span, f"`{name}` takes one number", help=f"write `{name} {shown}`"
        )
    word, number = s.items[0].value, ""
    if isinstance(word, tree.PathExpr) and word.bare and name in ("dscp", "cnp"):
        number = _dscp_of_class(word.bare.upper())
    if number:
        raise Fault(
            "E0120",
            word.span,
            f"`{name}` is a number: `{word.span.text}` is {number}",
            help=f"write `{number}`",
            fix=Fix(f"write `{number}`", ((word.span, number),)),
        )
    return _integer_in_range(name, word, scope, evaluator, among)


def _dscp_of_class(name: str) -> str:
    """The DSCP of a class of RFC 2474 (CS3), 2597 (AF31) or 3246 (EF), in digits; "" for another word."""
    found = re.fullmatch(r"CS([0-7])|AF([1-4])([1-3])|EF", name)
    if found is None:
        return ""
    if found[1]:
        return str(8 * int(found[1]))
    return str(8 * int(found[2]) + 2 * int(found[3])) if found[2] else "46"


def _number_after_word(
    s: tree.Setting, word: str, scope: Scope, evaluator: Evaluator, among: range, default: int
) -> int:
    """The number behind a word of a setting."""
    for found, value in s.items[0].args:
        if found != word or len(s.items[0].args) > 1:
            raise Fault("E0120", s.span, f"only `{word}` may follow here")
        return _integer_in_range(word, value, scope, evaluator, among)
    return default


def _integer_in_range(name: str, e: tree.Expr, scope: Scope, evaluator: Evaluator, among: range) -> int:
    word = e.bare if isinstance(e, tree.PathExpr) else None
    number = re.fullmatch(r"(\d[\d_]*)([A-Za-z]+)", e.span.text)
    if number is not None or (word is not None and scope.find(word) is None):
        raise Fault(
            "E0120",
            e.span,
            f"`{name}` is a whole number, and `{e.span.text}` is none",
            help=f"write `{number[1]}{'000' if number[2] == 'k' else ''}`"
            if number is not None
            else "write `cnp 48 priority 6`: the DSCP first"
            if name == "cnp"
            else f"write a number from {among.start} to {among.stop - 1:,}, such as `{name} {among.start}`",
        )
    value = evaluator.integer(e, scope)
    if value not in among:
        raise Fault(
            "E0110",
            e.span,
            f"`{name}` is {value}",
            help=f"write a number from {among.start} to {among.stop - 1:,}, such as `{name} {among.start}`",
        )
    return value


def _pfc_setting(s: tree.Setting | None, scope: Scope, evaluator: Evaluator) -> tuple[bool, int]:
    """Whether the priority is lossless, and its watchdog in milliseconds. Not said, it is, without a
    watchdog."""
    if s is None or not s.items:
        return True, 0
    item = s.items[0]
    word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
    if word == "off" and not item.args and len(s.items) == 1:
        return False, 0
    behind = only_value_behind(item)
    if word != "watchdog" or behind is None or len(s.items) > 1:
        number = (
            f"; the priority is `priority {item.value.span.text}`" if item.value.span.text.isdigit() else ""
        )
        message = "`pfc` is alone, `pfc off`, or `pfc watchdog 200ms`"
        raise Fault("E0120", s.span, message, help=f"write `pfc`{number}")
    value = evaluator.evaluate(behind, scope)
    if not isinstance(value, Quantity) or value.dim != TIME:
        raise Fault("E0103", behind.span, "the watchdog is a time", help="`pfc watchdog 200ms`")
    ms = value.amount * 1000
    if ms.denominator != 1 or not 100 <= ms <= 5000:
        raise Fault("E0110", behind.span, "the watchdog is from 100 to 5,000 whole milliseconds")
    return True, int(ms)


def _ecn_thresholds(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> Ecn:
    """``ecn LOW to HIGH at PERCENT``."""
    help = "the form is `ecn 150kB to 1500kB at 5%`"
    if len(s.items) != 1:
        raise Fault("E0120", s.span, "`ecn` says where marking begins and where it is full", help=help)
    item = s.items[0]
    words = dict(item.args)
    if set(words) - {"to", "at"} or len(words) != len(item.args) or "to" not in words:
        raise Fault("E0120", s.span, "`ecn` says where marking begins and where it is full", help=help)
    low, high = (_queue_bytes(e, scope, evaluator) for e in (item.value, words["to"]))
    share = evaluator.evaluate(words["at"], scope) if "at" in words else 1
    percent = share * 100 if isinstance(share, (int, Fraction)) and not isinstance(share, bool) else 0
    if percent not in range(1, 101):
        raise Fault(
            "E0110", words["at"].span, "the share of packets marked is from 1% to 100%, whole", help=help
        )
    if low >= high:
        raise Fault(
            "E0110",
            item.span,
            f"marking begins at {low:,} bytes and is full at {high:,}: it must begin below",
            help=help,
        )
    return Ecn(low, high, int(percent))


def _queue_bytes(e: tree.Expr, scope: Scope, evaluator: Evaluator) -> int:
    value = evaluator.evaluate(e, scope)
    if not isinstance(value, Quantity) or value.dim != SIZE:
        raise Fault("E0103", e.span, "expected a queue size", help="`150kB`")
    size = value.amount / 8
    if size <= 0 or size.denominator != 1:
        raise Fault("E0110", e.span, "a queue size is a whole number of bytes")
    return int(size)
