"""Numbers of autonomous systems that are refused, and those that two devices must not share, pair by pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric import asns, subnets
from tdsl.findings.diagnostic import Diagnostics
from tests.fabric.test_shapes_of_subnets import grid, torus
from tests.fabrics import Builder
from tests.harness import compile_text

RULES = """fabric f {{
  switch a[3]: E; switch b[3]: E; switch lone[2]: E
  connect a[i] to b[i]
  {}
  routing bgp {{ unnumbered; {} }}
}}
model switch E {{ port p[1..8]: 400Gbps {{ type GE400 }} }}
"""
LOOP = "each rejects routes through the other as a loop; give one another ASN, such as `4_210_000_000`"
TWICE = "leave it out of one of the two, or write `override PATH { asn … }`"
PRIVATE = "write a private one, such as `4_200_000_000`: 64512 to 65534 and 4_200_000_000 to 4_294_967_294 (RFC 6996)"
Found = tuple[str, str, str, str, int, list[tuple[str, str]], tuple[str, ...]]


def errors(rules: str, folder: Path, more: str = "") -> list[Found]:
    """Code, text, message, help, number, labels and notes of every error."""
    text = RULES.format(more, rules)
    return [
        (d.code, d.span.text if d.span else "", d.message, d.help or "", d.count,
         [(x.span.text, x.message) for x in d.labels], tuple(d.notes))
        for d in compile_text(text, folder, models=False, verify=False).findings if d.code != "E0404"
    ]  # fmt: skip


FIRST = "the first is given here"


@pytest.mark.parametrize(
    ("rules", "more", "found"),
    [
        ("asn a[*] from 65001; asn b[*] from 65011", "", []),
        # two rules with several common numbers are one finding
        ("asn a[*] from 65001; asn b[*] from 65002", "",
         [("E0474", "asn b[*] from 65002", "a[1] and b[0] both have ASN 65002, of different rules", LOOP, 1,
           [("asn a[*] from 65001", FIRST)], ())]),
        ("asn a[*] 65001; asn b[*] 65001; asn lone[*] 65001", "",
         [("E0474", "asn b[*] 65001", "a[2] and b[0] both have ASN 65001, of different rules", LOOP, 1,
           [("asn a[*] 65001", FIRST)], ()),
          ("E0474", "asn lone[*] 65001", "b[2] and lone[0] both have ASN 65001, of different rules", LOOP, 1,
           [("asn b[*] 65001", FIRST)], ())]),
        ("asn lone[*] from 65005; asn b[*] from 65001; asn a[*] from 65004", "",
         [("E0474", "asn a[*] from 65004", "lone[0] and a[1] both have ASN 65005, of different rules", LOOP, 1,
           [("asn lone[*] from 65005", FIRST)], ())]),
        # a number of the plan
        ("asn a[0] 4201000003", "",
         [("E0474", "asn a[0] 4201000003", "b[0] and a[0] both have ASN 4201000003, of different rules", LOOP, 1, [], ())]),
        # one rule, and a link
        ("asn a[*], b[*] 65001", "",
         [("E0474", "asn a[*], b[*] 65001", "a[0] and b[0] both have ASN 65001, and a link between them", LOOP, 1, [], ())]),
        ("asn a[*], lone[*] 65001", "", []),
        ("asn a[1..2], b[1..2] 65001", "",
         [("E0474", "asn a[1..2], b[1..2] 65001", "a[1] and b[1] both have ASN 65001, and a link between them", LOOP, 1, [],
           ())]),
        # a device of two rules
        ("asn a[*] 65001; asn a[1..2] 65002", "",
         [("E0472", "asn a[1..2] 65002", "a[1] already has an ASN", TWICE, 2, [("asn a[*] 65001", "given here")], ())]),
        ("asn a[*] from 65001", "override a[(0)] { asn 65009 }", []),
        ("asn a[*] from 65001", "override a[(0)] { asn 65009 }\n  override a[(0)] { asn 65010 }",
         [("E0472", "asn 65010", "a[0] already has an ASN", TWICE, 1, [("asn 65009", "given here")], ())]),
        ("asn b[*] from 65001", "override a[(0)] { asn 65009 }", []),
        # numbers that no system may have
        ("asn a[*] from 4294967294", "",
         [("E0473", "4294967294", "4,294,967,295 is not a valid AS number (reserved by RFC 7300)", PRIVATE, 1, [],
           ("3 devices are planned here",))]),
        ("asn a[*] 4294967296", "",
         [("E0473", "4294967296", "4,294,967,296 is not a valid AS number", PRIVATE, 1, [], ())]),
        ("asn a[*] from 4294967296", "",
         [("E0473", "4294967296", "4,294,967,298 is not a valid AS number", PRIVATE, 1, [], ("3 devices are planned here",))]),
        ("asn a[*] from (0 - 5)", "",
         [("E0473", "0 - 5", "-5 is not a valid AS number", PRIVATE, 1, [], ("3 devices are planned here",))]),
        ("asn a[*] from (0 - 2)", "",
         [("E0473", "0 - 2", "0 is not a valid AS number (reserved by RFC 7607)", PRIVATE, 1, [],
           ("3 devices are planned here",))]),
    ],
)  # fmt: skip
def test_what_is_found(rules: str, more: str, found: list[Found], tmp_path: Path) -> None:
    said = errors(rules, tmp_path, more)
    assert [(x[0], x[1].strip("()"), *x[2:]) for x in said] == found


def test_numbers_where_overrides_replace_rules(tmp_path: Path) -> None:
    text = RULES.format("override a[1..2] { asn 65009 }", "asn a[*] from 65001; asn b[*] 65030")
    f = compile_text(text, tmp_path, models=False, verify=False).designs[0].fabric
    assert f is not None and f.addressing is not None and f.addressing.asns is not None
    found = f.addressing.asns
    assert found.number.tolist() == [65001, 65009, 65009, 65030, 65030, 65030, 4201000006, 4201000007]
    origins = [found.origin(d) for d in range(8)]
    first, second = "asn a[*] from 65001", "asn b[*] 65030"
    assert [o and o.span.text for o in origins] == [first, "asn 65009", "asn 65009", *[second] * 3, None, None]


@pytest.mark.parametrize("seed", range(40))
def test_common_numbers_by_definition(seed: int) -> None:
    """Devices that are built and have one number by two rules; of each two rules the first, in the order of numbers, then rules.
    Only without any, the first link between two devices with one number."""
    rng = Random(seed)
    b = Builder()
    s = b.devices("s", b.model("switch", "S", {"p": 16}), rng.randint(3, 8))
    rows = range(s.count)
    for _ in range(rng.randint(0, 6)):
        x, y = rng.sample(rows, 2)
        b.link(b.free(s, x), b.free(s, y))
    b.omitted = set(rng.sample(rows, rng.randint(0, 1)))
    rules = [b.line(f"asn rule {k}") for k in range(3)]
    few = rng.random() < 0.5
    rule = [rng.randrange(-1, 3) for _ in rows]
    number = [rng.randrange(0, 3) if not few else 10 * (r + 1) + rng.randrange(2) for r in rule]
    f = b.build()
    found = Diagnostics()
    asns._report_asn_conflicts(f, asns.Asns(np.array(number), np.array(rule), tuple(rules)), found)
    order = sorted((number[d], rule[d], d) for d in rows if number[d] > 0 and f.built[d])
    said, expected = set(), []
    for (n, r, d), (m, q, e) in pairwise(order):
        if n == m and r != q and (r, q) not in said:
            said.add((r, q))
            expected.append((d, e, "of different rules"))
    alike = [(int(a), int(z)) for a, z in zip(f.device_a, f.device_b, strict=True) if number[a] == number[z] > 0]
    if alike and not said:
        expected.append((*alike[0], "and a link between them"))
    assert [d.message for d in found.items] == [f"s[{d}] and s[{e}] both have ASN {number[d]}, {why}" for d, e, why in expected]
    for d, (one, two, _) in zip(found.items, expected, strict=True):
        places = [rules[rule[x]].span for x in (two, one) if rule[x] >= 0]
        assert d.span == (places[0] if places else None)
        assert [x.span for x in d.labels] == [p for p in places[1:] if p != places[0]]


def test_a_torus_without_hosts() -> None:
    found = torus([x for x in grid((3, 4), (True, True)) if x[0] > 1], (3, 4), 12)
    assert found is not None and (found.hosts, found.trunk) == (0, 1)


def test_hosts_at_either_end_of_a_link() -> None:
    """The most adapters at one switch: those at the lower and at the upper end of links are counted together."""
    b = Builder()
    h = b.devices("h", b.model("host", "H", {"p": 4}, accelerators=1), 3)
    s = b.devices("s", b.model("switch", "S", {"p": 12}), (3, 3))
    for i in range(3):
        for j in range(3):
            b.link(b.free(s, 3 * i + j), b.free(s, 3 * i + (j + 1) % 3))
            b.link(b.free(s, 3 * i + j), b.free(s, (3 * i + j + 3) % 9))
    for k in range(3):
        b.link(b.free(h, k), b.free(s, 5))
    f = b.build()
    turned = replace(f, link_a=np.where(f.device_a < 2, f.link_b, f.link_a), link_b=np.where(f.device_a < 2, f.link_a, f.link_b))
    for one in (f, turned):
        found = subnets.subnet_shape(one, np.ones(f.link_count, dtype=np.bool_))
        assert found.torus is not None and (found.torus.hosts, found.torus.sizes) == (3, (3, 3))
