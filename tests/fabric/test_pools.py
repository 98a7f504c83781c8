"""Pools of addresses against lists of addresses, ports and links that a rule numbers, and what is refused with which words."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_interface
from itertools import product
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric import addresses
from tdsl.fabric.addresses import Addressing, Dealt, Pool
from tdsl.fabric.resolve import PortChoice
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import Axis
from tests.fabrics import Builder
from tests.harness import compile_text

HERE = SourceSpan(SourceFile("x.fab", "value"), 0, 5)
EXAMPLE = "write `10.255.0.0/16` or `fd00:10::/48`"


def rule(kind: str, each: bool = True, gateway: str = "") -> Any:
    """A rule, as far as its pool asks."""
    value = SimpleNamespace(span=HERE)
    return SimpleNamespace(kind=kind, each=each, gateway=gateway, interface="eth7", vrf="oob", origin=HERE, value=value)


def given(kind: str, each: bool, written: str, gateway: str) -> list[str]:
    """The addresses that a rule gives, one after the other; of links the lower one."""
    at = ip_interface(written)
    net = list(at.network)
    usable = [a for a in net if a >= at.ip]
    if kind == "management" and len(net) > 2:
        own = {net[0]} | ({net[-1]} if at.version == 4 else set())
        usable = [a for a in usable if a not in own]
    if each and gateway and usable[:1] == [ip_address(gateway)]:
        usable = usable[1:] if kind != "links" else usable[2:]
    if kind == "links":
        usable = usable[0 : len(usable) // 2 * 2 : 2]
    return [str(a) for a in (usable if each else usable[:1])]


@pytest.mark.parametrize("kind", ["loopback", "links", "management"])
@pytest.mark.parametrize("base", ["10.0.0.{}", "fd00::1:{:x}"])
def test_pools_are_lists_of_addresses(kind: str, base: str) -> None:
    """Every network of up to 16 addresses, from each address of it on, with and without ``from`` and gateways."""
    top = 32 if "." in base else 128
    for length, first, each in product(range(top - 4, top + 1), range(16, 34), (True, False)):
        if kind == "links" and each and first % 2:
            continue
        written = f"{base.format(first)}/{length}"
        net = ip_interface(written).network
        for gateway in ("", str(net[0]), str(net[min(1, len(list(net)) - 1)]), str(net[-1])):
            if gateway and kind != "management":
                continue
            found = addresses.pool_of(rule(kind, each, gateway), written)
            expected = given(kind, each, written, gateway)
            assert [str(found.address(k)) for k in range(max(found.count, 0))] == expected, (written, each, gateway)
            assert (found.kind, found.version, found.network) == (kind, 4 if top == 32 else 6, str(net))
            assert found.step == (2 if kind == "links" else 1)
            assert found.prefix == {"loopback": top, "links": top - 1, "management": length}[kind]
            assert (found.interface, found.vrf, found.gateway, found.origin) == ("eth7", "oob", gateway, HERE)
            if kind == "links" and expected:
                assert found.address(0, True) == ip_address(expected[0]) + 1


def test_the_most_values_of_a_pool() -> None:
    assert addresses.pool_of(rule("loopback"), "fd00::/64").count == 1 << 40
    assert addresses.pool_of(rule("loopback"), "fd00::/88").count == 1 << 40
    assert addresses.pool_of(rule("links"), "fd00::/88").count == 1 << 39
    assert addresses.pool_of(rule("loopback"), "fd00::/89").count == 1 << 39


@pytest.mark.parametrize(
    ("kind", "each", "gateway", "value", "code", "message", "help"),
    [
        ("loopback", True, "", 5, "E0103", "expected an IP network", EXAMPLE),
        ("loopback", True, "", "10.0.0", "E0470", "10.0.0 is not an IP address or network", EXAMPLE),
        ("loopback", True, "", "10.0.0.300/24", "E0470", "10.0.0.300/24 is not an IP address or network", EXAMPLE),
        ("loopback", True, "", "10.0.0.3", "E0470", "10.0.0.3 has no prefix length, so its size is unknown",
         "write `10.0.0.3/24`"),
        ("links", True, "", "10.0.0.3/24", "E0470", "links take their addresses by twos, and 10.0.0.3 is odd",
         "begin at `10.0.0.2`"),
        ("links", True, "", "fd00::5/64", "E0470", "links take their addresses by twos, and fd00::5 is odd",
         "begin at `fd00::4`"),
        ("management", True, "10.0.1.1", "10.0.0.0/24", "E0470", "the gateway 10.0.1.1 is not an address of 10.0.0.0/24",
         "name the router of this very network"),
        ("management", False, "router", "10.0.0.5/24", "E0470", "the gateway router is not an address of 10.0.0.0/24",
         "name the router of this very network"),
        ("management", True, "fd00::1", "10.0.0.0/24", "E0470", "the gateway fd00::1 is not an address of 10.0.0.0/24",
         "name the router of this very network"),
    ],
)  # fmt: skip
def test_values_that_are_no_pool(
    kind: str, each: bool, gateway: str, value: object, code: str, message: str, help: str
) -> None:  # fmt: skip
    with pytest.raises(Fault) as found:
        addresses.pool_of(rule(kind, each, gateway), value)
    said = found.value.diagnostic
    assert (said.code, said.span, said.message, said.help) == (code, HERE, message, help)


def test_an_address_without_a_prefix_is_one_value() -> None:
    assert addresses.pool_of(rule("loopback", each=False), "10.0.0.3").count == 1
    assert addresses.pool_of(rule("links", each=False), "10.0.0.3/24").count == 1


@pytest.mark.parametrize("kind", ["loopback", "links", "management"])
@pytest.mark.parametrize("written", ["10.0.0.0/31", "10.0.0.4/30", "10.0.0.6/30", "10.7.0.0/16", "fd00::/127"])
def test_the_longest_prefix_that_has_room(kind: str, written: str) -> None:
    """From the address written on; the larger network where that was the first address of its own."""
    asked, at = rule(kind), ip_interface(written)
    for planned in (1, 2, 3, 4, 5, 8, 9, 30, 31, 62, 63, 1 << 20):
        for length in range(at.network.prefixlen - 1, -1, -1):
            larger = ip_interface(f"{at.ip}/{length}")
            text = str(larger.network) if at.ip == at.network[0] else f"{at.ip}/{length}"
            if addresses.pool_of(asked, text).count >= planned:
                break
        assert addresses._larger_network_hint(asked, written, planned) == f"a shorter prefix, such as `{text}`"


def test_no_prefix_has_room() -> None:
    """Of the last addresses that there are."""
    assert addresses._larger_network_hint(rule("loopback"), "255.255.255.255/31", 2) == "another network, with a shorter prefix"


# ------------------------------------------------------------ what a row has


def pool(version: int, first: int, step: int = 1) -> Pool:
    return Pool("links", version, first, step, 9, "net", 31, "", "", "", Builder().line("here"))


def test_addresses_of_rows() -> None:
    """IPv4 before IPv6; none where a kind is not dealt out or a row has no pool. The first row and the first pool, too."""
    b = Builder()
    b.devices("s", b.model("switch", "S", {"p": 1}), 3)
    pools = (pool(4, 256, 2), pool(6, 1000), pool(4, 512))
    dealt = {
        ("links", 6): Dealt(np.array([1, -1, 1]), np.array([4, 5, 6])),
        ("links", 4): Dealt(np.array([-1, 0, 2]), np.array([0, 3, 1])),
    }
    found = Addressing(b.build(), pools, dealt)
    said = [[(str(a), p) for a, p in found.each("links", row)] for row in range(3)]
    assert said == [
        [("::3ec", pools[1])], [("0.0.1.6", pools[0])], [("0.0.2.1", pools[2]), ("::3ee", pools[1])],
    ]  # fmt: skip
    assert [str(a) for a, _ in found.each("links", 1, second=True)] == ["0.0.1.7"]
    assert found.of("links", 4, 1) == (ip_address("0.0.1.6"), pools[0]) and found.of("links", 6, 1) is None
    assert list(found.each("loopback", 0)) == [] and found.of("loopback", 4, 1) is None
    assert found.asn.tolist() == [0, 0, 0]


# ------------------------------------------------------------ ports of a rule


def test_ports_that_a_rule_numbers() -> None:
    """Every assignment, every device, every port that it may be: as many places a device as the one with the most ports has, -1
    where a device has fewer. Of a class of two parts both; without a class all ports."""
    b = Builder()
    one = b.model("switch", "S", {"m": 2, "p": 3, "q": 1})
    two = b.model("switch", "T", {"p": 1, "x": 4})
    first = one.classes[1]
    one = replace(one, classes=(*one.classes, replace(first, first=6, axes=(Axis(0, 2),))))
    b.models[0] = one
    b.devices("s", one, 3)
    b.devices("t", two, 2)
    f = b.build()
    base = f.port_base.tolist()
    rng = Random(5)
    for _ in range(60):
        columns, count = rng.randint(1, 3), rng.randint(1, 3)
        rows = np.array([[rng.randrange(5) for _ in range(columns)] for _ in range(count)])
        choices = []
        for name in rng.sample(["", "m", "p", "x", "none"], 2):
            local = np.array([[rng.randrange(4) for _ in range(2)] for _ in range(count)]) if rng.random() < 0.5 else None
            choices.append(PortChoice(name, local, False, HERE))
        which = np.array([rng.randrange(2) for _ in range(columns)])
        side: Any = SimpleNamespace(rows=rows, choices=choices, column_choice=which)
        here = slice(rng.randrange(count), count)
        expected, widths = [], []
        for column in range(columns):
            choice = choices[which[column]]
            offsets = {"": (0, (8, 5)), "m": (0, (2, 0)), "p": (0, (5, 1)), "x": (1, (0, 4)), "none": (0, (0, 0))}[choice.name]
            for k in range(here.start, count):
                device = int(rows[k, column])
                kind = int(device > 2)
                start = {("p", 0): 2, ("x", 1): 1}.get((choice.name, kind), 0)
                size = offsets[1][kind]
                mine = (
                    range(max(offsets[1][int(d > 2)] for d in rows[here.start :, column]))
                    if choice.local is None
                    else choice.local[k]
                )
                expected.append([base[device] + start + int(p) if p < size else -1 for p in mine])
                widths.append(len(expected[-1]))
        table = np.array([x + [-1] * (max(widths) - len(x)) for x in expected]).reshape(columns, count - here.start, max(widths))
        assert addresses.ports_of(f, side, here).tolist() == table.transpose(1, 0, 2).ravel().tolist()


# ------------------------------------------------------------ rules that are refused

RULES = """fabric f {{
  switch a[5]: E; switch b[2]: E; host h[2]: N
  connect a[*] to b[*] each
  connect h[i].nic to a[(i)] x 2
  {}
}}
model switch E {{ port p[1..16]: 400Gbps {{ type GE400 }} }}
model host N {{ port nic[2]: 400Gbps {{ type GE400 }} }}
"""
PORTS = ", or name the ports that need one: `leaf[*].p[33..64]`"
TWICE = "leave it out of one of the two, or write `override PATH { address loopback … }`"


@pytest.mark.parametrize(
    ("body", "span", "code", "message", "help", "notes"),
    [
        ("address a loopback 10.0.0.0", "10.0.0.0", "E0471", "this is one value, and 5 devices are to have one each",
         "write `from` before a network, and the k-th device gets the k-th value", ()),
        ("address a loopback from 10.0.0.0/30", "10.0.0.0/30", "E0471",
         "10.0.0.0/30 has room for 4 loopbacks, and 5 are planned",
         "take a shorter prefix, such as `10.0.0.0/29`", ("5 members are planned; those not built keep theirs",)),
        ("address a loopback from 10.0.0.0/32", "10.0.0.0/32", "E0471",
         "10.0.0.0/32 has room for 1 loopback, and 5 are planned",
         "take a shorter prefix, such as `10.0.0.0/29`", ("5 members are planned; those not built keep theirs",)),
        ("address a management from 10.0.0.0/30", "10.0.0.0/30", "E0471",
         "10.0.0.0/30 has room for 2 addresses, and 5 are planned",
         "take a shorter prefix, such as `10.0.0.0/29`", ("5 members are planned; those not built keep theirs",)),
        ("address a management from 10.0.0.2/30", "10.0.0.2/30", "E0471",
         "10.0.0.0/30 has room for 1 address, and 5 are planned",
         "take a shorter prefix, such as `10.0.0.2/29`", ("5 members are planned; those not built keep theirs",)),
        ("address b links from 10.0.0.0/27", "10.0.0.0/27", "E0471", "10.0.0.0/27 has room for 16 links, and 32 are planned",
         "take a shorter prefix, such as `10.0.0.0/26`" + PORTS,
         ("each of the 32 ports that the statement names keeps one, linked or not",)),
        ("address b[*].p[1..2] links from 10.0.0.0/31", "10.0.0.0/31", "E0471",
         "10.0.0.0/31 has room for 1 link, and 4 are planned", "take a shorter prefix, such as `10.0.0.0/29`" + PORTS,
         ("each of the 4 ports that the statement names keeps one, linked or not",)),
        ("address b[i], a[i // 2] loopback from 10.0.0.0/24", "address b[i], a[i // 2] loopback from 10.0.0.0/24", "E0120",
         "this names a device twice", "name each device once", ()),
        ("address b, a loopback from 10.0.0.0/24; address a[3..4] loopback from 10.0.1.0/24",
         "address a[3..4] loopback from 10.0.1.0/24", "E0472", "a[3] already has such an IPv4 address", TWICE, ()),
        ("address a[*].p[1..2] links from fd00::/64; address b[*].p[2] links from fd01::/64",
         "address b[*].p[2] links from fd01::/64", "E0472",
         "the link at a[1].p[1] already has such an IPv6 address", TWICE, ()),
    ],
)  # fmt: skip
def test_refused_rules(
    body: str, span: str, code: str, message: str, help: str, notes: tuple[str, ...], tmp_path: Path
) -> None:  # fmt: skip
    result = compile_text(RULES.format(body.replace("; ", "\n  ")), tmp_path, models=False, verify=False)
    found = [d for d in result.findings if d.severity.word == "error"]
    said = [(d.code, d.span.text if d.span else "", d.message, d.help or "", tuple(d.notes)) for d in found]
    assert said == [(code, span, message, help, notes)]
    assert [x.message for x in found[0].labels] == (["given here"] if code == "E0472" else [])
    assert found[0].count == (2 if code == "E0472" else 1)


LINKS = """fabric f {
  host h[2]: N; switch a[3]: E; switch b[2]: E; switch c: E
  connect h[i].nic to a[(i)] x 2
  connect a[*] to b[*] each x 2 { bundle 2 }
  connect a[*] to c each
  address %s
}
model switch E { port p[1..16]: 400Gbps { type GE400 } }
model host N { port nic[2]: 400Gbps { type GE400 } }
"""


@pytest.mark.parametrize(
    ("path", "port", "far"),
    [
        ("a", "a[", ""),
        ("a[*] to b[*]", "a[", "b["),
        ("a[*] to c", "a[", "c"),
        ("b to a[1..2]", "b[", "a[1] a[2]"),
        ("b[(1)] to a", "b[1]", "a["),
        ("a[*].p[3..12] to b", "a[", "b["),
        ("h[*].nic[(1)]", "h[", ""),
        ("c to b", "c", "b["),
    ],
)
def test_links_that_a_rule_gives_addresses(path: str, port: str, far: str, tmp_path: Path) -> None:
    """Those at the ports that lead to the far devices; of a bundle its first port, and each port keeps its place."""
    f = compile_text(LINKS % f"{path} links from 10.0.0.0/16", tmp_path, models=False, verify=False).designs[0].fabric
    assert f is not None and f.addressing is not None
    named = [d for d in range(f.device_count) if f.device_path(d).startswith(port)]
    first = {"a[*].p[3..12] to b": (2, 10), "h[*].nic[(1)]": (1, 1)}.get(path, (0, 2 if port == "h[" else 16))
    expected: dict[int, int] = {}
    bundles = set()
    for place, p in enumerate(p for d in named for p in range(f.port_base[d] + first[0], f.port_base[d] + first[0] + first[1])):
        link = int(f.port_link[p])
        if link < 0:
            continue
        other = f.device_path(int(f.device_b[link] if f.link_a[link] == p else f.device_a[link]))
        if far and not any(other.startswith(x) for x in far.split()):
            continue
        bundle = int(f.link_bundle[link])
        if bundle < 0 or bundle not in bundles:
            expected[link] = place
        bundles |= {bundle} - {-1}
    assert path == "c to b" or expected
    dealt = f.addressing.dealt["links", 4]
    assert dealt.pool.tolist() == [0 if k in expected else -1 for k in range(f.link_count)]
    assert dealt.rank.tolist() == [expected.get(k, -1) for k in range(f.link_count)]


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ('a[i] loopback "10.{i}.0.1"', {f"a[{i}]": f"10.{i}.0.1" for i in range(5)}),
        ('a[*] loopback from "10.{4 + 5}.0.0/24"', {f"a[{i}]": f"10.9.0.{i}" for i in range(5)}),
        ('b[i] loopback from "{10 + i}.0.0.6/24"', {f"b[{i}]": f"{10 + i}.0.0.6" for i in range(2)}),
        ('b[i], a[i + 2] loopback from "10.{i}.0.6/24"',
         {f"{d}[{i + k}]": f"10.{i}.0.{6 + n}" for i in range(2) for n, (d, k) in enumerate((("b", 0), ("a", 2)))}),
        ('b[i] loopback from "10.0.0.6/24"', {"b[0]": "10.0.0.6", "b[1]": "10.0.0.7"}),
        ("b[i], a[i + 2] loopback from 10.0.0.6/24",
         {f"{d}[{i + k}]": f"10.0.0.{6 + 2 * i + n}" for i in range(2) for n, (d, k) in enumerate((("b", 0), ("a", 2)))}),
    ],
)  # fmt: skip
def test_values_with_placeholders(rule: str, found: dict[str, str], tmp_path: Path) -> None:
    """One population for each assignment where the value rests on it, else one for all of them."""
    f = compile_text(RULES.format(f"address {rule}"), tmp_path, models=False, verify=False).designs[0].fabric
    assert f is not None and f.addressing is not None
    said = {f.device_path(d): str(a) for d in range(f.device_count) for a, _ in f.addressing.each("loopback", d)}
    assert said == found


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("address b loopback from 10.0.0.0/31", {"b[0]": "10.0.0.0", "b[1]": "10.0.0.1"}),
        ("address b[(1)] loopback 10.0.0.7", {"b[1]": "10.0.0.7"}),
        # an override replaces what a rule gives, wherever it is written; rules of other devices stay
        ("override b[(1)] { address loopback 10.9.0.1 }; address b loopback from 10.0.0.0/24",
         {"b[0]": "10.0.0.0", "b[1]": "10.9.0.1"}),
        ("address b, a[(4)] loopback from 10.0.0.0/24; override b[(0)] { address loopback 10.9.0.1 }; "
         "override a[(4)] { address loopback 10.9.0.2 }", {"a[4]": "10.9.0.2", "b[0]": "10.9.0.1", "b[1]": "10.0.0.1"}),
        ("override a[(0)] { address loopback 10.9.0.1 }", {"a[0]": "10.9.0.1"}),
    ],
)  # fmt: skip
def test_addresses_of_rules_and_overrides(rules: str, found: dict[str, str], tmp_path: Path) -> None:
    result = compile_text(RULES.format(rules.replace("; ", "\n  ")), tmp_path, models=False, verify=False)
    assert [d for d in result.findings if d.severity.word == "error"] == []
    f = result.designs[0].fabric
    assert f is not None and f.addressing is not None
    assert {f.device_path(d): str(a) for d in range(f.device_count) for a, _ in f.addressing.each("loopback", d)} == found
    assert set(f.addressing.dealt) == {("loopback", 4)}


def test_two_overrides_of_one_device(tmp_path: Path) -> None:
    """The second is refused, with the place of the first; another device's override is none of its business."""
    text = "address a loopback from 10.0.0.0/24; override a[(1)] { address loopback 10.9.0.1 }; "
    text += "override a[1..2] { address loopback from 10.9.1.0/24 }"
    result = compile_text(RULES.format(text.replace("; ", "\n  ")), tmp_path, models=False, verify=False)
    (found,) = [d for d in result.findings if d.severity.word == "error"]
    assert (found.code, found.message, found.count) == ("E0472", "a[1] already has such an IPv4 address", 1)
    assert [(x.message, x.span.text) for x in found.labels] == [("given here", "address loopback 10.9.0.1")]
