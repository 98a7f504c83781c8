"""``routing bgp`` and ``roce``: every value at both ends of its range, what stands where nothing is written, and each refusal."""

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.routing import Ecn, Roce, RoutingSettings, read_roce_block, read_routing_block
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

BFD = "write `bfd 100ms x 3`: packets every 100 ms, a failure after 3 lost ones"
ECN = "write `ecn 150kB to 1500kB at 5%`"
CLASS = "notifications must overtake the data that waits: give them a class of their own"
ALONE = "`pfc` is alone, `pfc off`, or `pfc watchdog 200ms`"
ORIGIN = Origin(SourceSpan(SourceFile("o.fab", "o"), 0, 1))

Refused = tuple[str, str, str, str, list[str]]
"""Code, text that is underlined, message, help and texts of the labels."""


def statement(text: str) -> tree.Setting:
    """The one statement of a fabric."""
    (fabric,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), Diagnostics()).body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None
    (s,) = fabric.body
    assert isinstance(s, tree.Setting)
    return s


def routed(text: str) -> tuple[RoutingSettings, list[str]]:
    """What ``routing`` reads, and the texts of its ``asn``."""
    found, asns = read_routing_block(statement(text), Scope(), Evaluator(), ORIGIN)
    return found, [s.span.text for s in asns]


def queued(text: str) -> Roce:
    """What ``roce`` reads."""
    return read_roce_block(statement(text), Scope(), Evaluator(), ORIGIN)


def refusal(text: str) -> Refused:
    """Why a statement is refused."""
    with pytest.raises(Fault) as raised:
        (routed if text.startswith("routing") else queued)(text)
    d = raised.value.diagnostic
    assert d.span is not None
    return d.code, d.span.text, d.message, d.help, [x.span.text for x in d.labels]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("", (False, False, 0, 0, 0)),
        (" { }", (False, False, 0, 0, 0)),
        (" { unnumbered }", (False, False, 0, 0, 0)),
        (" { bfd }", (True, False, 0, 0, 0)),
        (" { graceful_restart }", (False, True, 0, 0, 0)),
        (" { mtu 1280 }", (False, False, 1280, 0, 0)),
        (" { mtu 65535 }", (False, False, 65535, 0, 0)),
        (" { bfd 50ms x 3 }", (True, False, 0, 50, 3)),
        (" { bfd 4000ms x 50; graceful_restart; mtu 9216 }", (True, True, 9216, 4000, 50)),
        (" { bfd 1s x 7 }", (True, False, 0, 1000, 7)),
    ],
)
def test_what_routing_reads(block: str, expected: tuple[bool, bool, int, int, int]) -> None:
    """BFD, graceful restart, MTU, the interval of BFD in milliseconds and its multiplier."""
    assert routed(f"routing bgp{block}") == (RoutingSettings("bgp", *expected[:3], ORIGIN, *expected[3:]), [])


def test_asns_are_kept_for_later() -> None:
    """Several, in order, beside other settings."""
    found, asns = routed("routing bgp { asn a[*] from 1; mtu 1500; asn b[*] from 9 }")
    assert found.mtu == 1500 and asns == ["asn a[*] from 1", "asn b[*] from 9"]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("", Roce(26, 3, 48, 6, True, 0, None, ORIGIN)),
        ("dscp 0; priority 0", Roce(0, 0, 48, 6, True, 0, None, ORIGIN)),
        ("dscp 63; priority 7", Roce(63, 7, 48, 6, True, 0, None, ORIGIN)),
        ("cnp 0", Roce(26, 3, 0, 6, True, 0, None, ORIGIN)),
        ("cnp 63 priority 0", Roce(26, 3, 63, 0, True, 0, None, ORIGIN)),
        ("cnp 47 priority 7", Roce(26, 3, 47, 7, True, 0, None, ORIGIN)),
        ("pfc", Roce(26, 3, 48, 6, True, 0, None, ORIGIN)),
        ("pfc off", Roce(26, 3, 48, 6, False, 0, None, ORIGIN)),
        ("pfc watchdog 100ms", Roce(26, 3, 48, 6, True, 100, None, ORIGIN)),
        ("pfc watchdog 5s", Roce(26, 3, 48, 6, True, 5000, None, ORIGIN)),
        ("ecn 150kB to 1500kB at 5%", Roce(26, 3, 48, 6, True, 0, Ecn(150_000, 1_500_000, 5), ORIGIN)),
        ("ecn 1B to 2B at 1%", Roce(26, 3, 48, 6, True, 0, Ecn(1, 2, 1), ORIGIN)),
        ("ecn 7B to 1MB", Roce(26, 3, 48, 6, True, 0, Ecn(7, 1_000_000, 100), ORIGIN)),
        ("ecn 7B to 8B at 100%", Roce(26, 3, 48, 6, True, 0, Ecn(7, 8, 100), ORIGIN)),
        ("ecn 7B at 99% to 8B", Roce(26, 3, 48, 6, True, 0, Ecn(7, 8, 99), ORIGIN)),
    ],
)
def test_what_roce_reads(block: str, expected: Roce) -> None:
    """Both ends of each range, and the value of each setting that is not written."""
    assert queued(f"roce {{ {block} }}") == expected
    if not block:
        assert queued("roce") == expected


def number(name: str, low: int, high: str) -> str:
    return f"write a number from {low} to {high}, such as `{name} {low}`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("routing", ("E0120", "routing", "expected the protocol, which is `bgp`", "write `routing bgp { … }`", [])),
        ("routing ospf", ("E0120", "ospf", "expected the protocol, which is `bgp`", "write `routing bgp { … }`", [])),
        ("routing 3", ("E0120", "3", "expected the protocol, which is `bgp`", "write `routing bgp { … }`", [])),
        ("routing bgp, bgp", ("E0120", "routing", "expected the protocol, which is `bgp`", "write `routing bgp { … }`", [])),
        ("routing bgp x 2", ("E0120", "routing", "expected the protocol, which is `bgp`", "write `routing bgp { … }`", [])),
        ("routing bgp { unnumbered 3 }", ("E0120", "unnumbered 3", "`unnumbered` takes no value", "", [])),
        ("routing bgp { graceful_restart 3 }", ("E0120", "graceful_restart 3", "`graceful_restart` takes no value", "", [])),
        ("routing bgp { mtu }", ("E0120", "mtu", "`mtu` takes one number", "", [])),
        ("routing bgp { mtu 1500, 9000 }", ("E0120", "mtu 1500, 9000", "`mtu` takes one number", "", [])),
        ("routing bgp { mtu 1500 x 2 }", ("E0120", "mtu 1500 x 2", "`mtu` takes one number", "", [])),
        ("routing bgp { mtu 1279 }", ("E0110", "1279", "`mtu` is 1279", number("mtu", 1280, "65,535"), [])),
        ("routing bgp { mtu 65536 }", ("E0110", "65536", "`mtu` is 65536", number("mtu", 1280, "65,535"), [])),
        ("routing bgp { mtu 1500; mtu 9000 }", ("E0104", "mtu 9000", "`mtu` is set twice", "", ["mtu 1500"])),
        ("routing bgp { mtu 1500 { x } }", ("E0118", "x", "`mtu` takes no block here", "", [])),
        ("routing bgp { mtu 1500 { } }", ("E0118", "mtu 1500 { }", "`mtu` takes no block here", "", [])),
        ("routing bgp { let x = 3 }", ("E0118", "let x = 3", "the braces of `routing` hold settings only", "", [])),
        ("routing bgp { asm 3 }",
         ("E0118", "asm", "there is no setting of routing `asm` here", "did you mean `asn`?", [])),
        ("routing bgp { bfd 100ms }",
         ("E0120", "bfd 100ms", "`bfd` is alone, or has an interval and a multiplier", BFD, [])),
        ("routing bgp { bfd 100ms x 3, 4 }",
         ("E0120", "bfd 100ms x 3, 4", "`bfd` is alone, or has an interval and a multiplier", BFD, [])),
        ("routing bgp { bfd 100 x 3 }", ("E0103", "100", "the interval of `bfd` is a time", BFD, [])),
        ("routing bgp { bfd 3m x 3 }", ("E0103", "3m", "the interval of `bfd` is a time", BFD, [])),
        ("routing bgp { bfd 49ms x 3 }",
         ("E0110", "49ms", "the interval of `bfd` is from 50 to 4,000 whole milliseconds", BFD, [])),
        ("routing bgp { bfd 4001ms x 3 }",
         ("E0110", "4001ms", "the interval of `bfd` is from 50 to 4,000 whole milliseconds", BFD, [])),
        ("routing bgp { bfd 100.5ms x 3 }",
         ("E0110", "100.5ms", "the interval of `bfd` is from 50 to 4,000 whole milliseconds", BFD, [])),
        ("routing bgp { bfd 50ms x 2 }", ("E0110", "2", "`multiplier` is 2", number("multiplier", 3, "50"), [])),
        ("routing bgp { bfd 50ms x 51 }", ("E0110", "51", "`multiplier` is 51", number("multiplier", 3, "50"), [])),
        ("roce 3", ("E0120", "3", "`roce` has a block and no value", "write `roce { dscp 26; priority 3 }`", [])),
        ("roce { dscp 64 }", ("E0110", "64", "`dscp` is 64", number("dscp", 0, "63"), [])),
        ("roce { dscp 0 - 1 }", ("E0110", "0 - 1", "`dscp` is -1", number("dscp", 0, "63"), [])),
        ("roce { priority 8 }", ("E0110", "8", "`priority` is 8", number("priority", 0, "7"), [])),
        ("roce { cnp 64 }", ("E0110", "64", "`cnp` is 64", number("cnp", 0, "63"), [])),
        ("roce { cnp 5 priority 8 }", ("E0110", "8", "`priority` is 8", number("priority", 0, "7"), [])),
        ("roce { cnp 5 x 3 }", ("E0120", "cnp 5 x 3", "only `priority` may follow here", "", [])),
        ("roce { dscp 48 }", ("E0120", "dscp 48", "data and congestion notifications both have dscp 48", CLASS, [])),
        ("roce { priority 6 }", ("E0120", "priority 6", "data and congestion notifications both have priority 6", CLASS, [])),
        ("roce { cnp 26 }", ("E0120", "cnp 26", "data and congestion notifications both have dscp 26", CLASS, [])),
        ("roce { priority 2; cnp 5 priority 2 }",
         ("E0120", "cnp 5 priority 2", "data and congestion notifications both have priority 2", CLASS, [])),
        ("roce { pfc on }", ("E0120", "pfc on", ALONE, "", [])),
        ("roce { pfc off, off }", ("E0120", "pfc off, off", ALONE, "", [])),
        ("roce { pfc off x 3 }", ("E0120", "pfc off x 3", ALONE, "", [])),
        ("roce { pfc watchdog }", ("E0120", "pfc watchdog", ALONE, "", [])),
        ("roce { pfc watchdog 200ms, 3 }", ("E0120", "pfc watchdog 200ms, 3", ALONE, "", [])),
        ("roce { pfc watchdog 3 }", ("E0103", "3", "the watchdog is a time", "`pfc watchdog 200ms`", [])),
        ("roce { pfc watchdog 3m }", ("E0103", "3m", "the watchdog is a time", "`pfc watchdog 200ms`", [])),
        ("roce { pfc watchdog 99ms }",
         ("E0110", "99ms", "the watchdog is from 100 to 5,000 whole milliseconds", "", [])),
        ("roce { pfc watchdog 5001ms }",
         ("E0110", "5001ms", "the watchdog is from 100 to 5,000 whole milliseconds", "", [])),
        ("roce { pfc watchdog 100.5ms }",
         ("E0110", "100.5ms", "the watchdog is from 100 to 5,000 whole milliseconds", "", [])),
        ("roce { ecn }", ("E0120", "ecn", "`ecn` says where marking begins and where it is full", ECN, [])),
        ("roce { ecn 1B, 2B }", ("E0120", "ecn 1B, 2B", "`ecn` says where marking begins and where it is full", ECN, [])),
        ("roce { ecn 1B at 5% }", ("E0120", "ecn 1B at 5%", "`ecn` says where marking begins and where it is full", ECN, [])),
        ("roce { ecn 1B to 2B to 3B }",
         ("E0120", "ecn 1B to 2B to 3B", "`ecn` says where marking begins and where it is full", ECN, [])),
        ("roce { ecn 1B to 2B x 3 }",
         ("E0120", "ecn 1B to 2B x 3", "`ecn` says where marking begins and where it is full", ECN, [])),
        ("roce { ecn 1B to 2B at 0% }", ("E0110", "0%", "the share of packets marked is from 1% to 100%, whole", ECN, [])),
        ("roce { ecn 1B to 2B at 101% }", ("E0110", "101%", "the share of packets marked is from 1% to 100%, whole", ECN, [])),
        ("roce { ecn 1B to 2B at 1.5% }", ("E0110", "1.5%", "the share of packets marked is from 1% to 100%, whole", ECN, [])),
        ('roce { ecn 1B to 2B at "x" }', ("E0110", '"x"', "the share of packets marked is from 1% to 100%, whole", ECN, [])),
        ("roce { ecn 2000B to 2000B }", ("E0110", "2000B to 2000B",
         "marking begins at 2,000 bytes and is full at 2,000: it must begin below", ECN, [])),
        ("roce { ecn 2001B to 2000B }", ("E0110", "2001B to 2000B",
         "marking begins at 2,001 bytes and is full at 2,000: it must begin below", ECN, [])),
        ("roce { ecn 3 to 2B }", ("E0103", "3", "expected a queue size", "`150kB`", [])),
        ("roce { ecn 1B to 3m }", ("E0103", "3m", "expected a queue size", "`150kB`", [])),
        ("roce { ecn 0B to 3B }", ("E0110", "0B", "a queue size is a whole number of bytes", "", [])),
        ("roce { ecn 1.5B to 3B }", ("E0110", "1.5B", "a queue size is a whole number of bytes", "", [])),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, expected: Refused) -> None:
    assert refusal(text) == expected


@pytest.mark.parametrize("text", ["routing bgp { ] x }", "roce { ] x }"])
def test_what_was_not_read_is_excused(text: str) -> None:
    with pytest.raises(Excused):
        (routed if text.startswith("routing") else queued)(text)
