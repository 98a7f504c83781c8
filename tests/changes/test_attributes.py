"""Nothing that a design can say is lost in a comparison: each word of the language, and each field of what is compiled of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tdsl.changes.attributes import (
    CABLE_COLUMNS,
    COMPARED_ELSEWHERE,
    COMPARED_HERE,
    NO_DIFFERENCE,
    OF_CABLES,
    OF_EACH_LINK,
    compared_fields,
    declaration_attributes,
    fabric_attributes,
)  # fmt: skip
from tdsl.changes.cable_rows import FACTS
from tdsl.changes.compare import compare_clusters, compare_designs
from tdsl.changes.contract import Contract, Subject, contract_of_design, model_attributes
from tdsl.changes.model import Changes
from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.emit.records import Cable
from tdsl.fabric.addresses import Addressing, Pool
from tdsl.fabric.distances import GroupDistance
from tdsl.fabric.graph import Fabric, LinkStatement
from tdsl.fabric.partitions import Partition
from tdsl.fabric.places import RackPlaces
from tdsl.findings.source import Origin
from tdsl.semantics.model import Chip, DeviceModel, DeviceSet, PortClass
from tdsl.syntax import keywords
from tests.cli.run import tdsl, write

LEAVES = """
model host N "n" {
  port nic[2]: 100Gbps { type GE100; os "eth{i}"; netdev "enp{i}"; cage 1 QSFP28; sockets 1; connector 1 }
  port bmc[2]: 1Gbps { type BASE_T; connector 1 }
  numa cpu { arch x86_64; vendor GenuineIntel; family 6; cpu_model 143; cores 56 }
  pcie plx { on cpu; gen 5; lanes 16; device "1000:c030"; bus "0000:16:00.0" }
  power 1kW max 2kW; height 2U; mass 20kg; latency 1us; price $5; source "a sheet"; fact trays 3
}
model switch SW {
  port p[1..16]: 100Gbps { type GE100; name "{i}"; cage 2 OSFP; split 2; sonic 4*(i - 1) lanes 4; alias "etp{i}" }
  power 1kW max 1kW; height 1U; mass 10kg; platform "x86"
}
model cable CC { rate 100Gbps; medium dac; price $5; lead 2week; spares 2% }
model cable DD { rate 100Gbps; medium fibre; polarity B; fibre OM4 }
fabric pod "Pod" {
  transport ethernet
  nos sonic
  param depth: int = 2 where depth < 9
  group su[2] {
    host node[4]: N
    switch leaf[2]: SW
    connect node[n].nic[r] to leaf[r] { cable CC }
  }
  host extra: N { role manager }
  switch spine[2 of 4]: SW { nos frr }
  switch wide: SW
  connect extra.nic[r] to su[r].leaf[0] { cable CC }
  connect su[*].leaf[*] to spine[*] spread x 4 { length 3m; colour red; class up; cable DD }
  connect wide to spine[0] x 2 { cable "2x MPO" }
  roce { dscp 26; priority 3; cnp 48 priority 6; ecn 150kB to 1500kB at 5%; pfc watchdog 200ms }
  routing bgp { unnumbered; asn su[*].leaf[*] from 65001; mtu 9216; bfd 100ms x 3; graceful_restart }
  address spine loopback from 10.0.0.1/24
  address spine management from 10.9.0.1/24 { vrf mgmt2; gateway 10.9.0.254; interface "eth7" }
  hall h { row A { rack 1..2 { height 42U; power 2 x 12kW; mass 1400kg } }; pitch rack 0.6m, row 3m; tray above 2.6m; slack 1m }
  hall g { row A { rack 1 }; pitch rack 0.8m, row 3m; tray above 2.8m; slack 2m }
  distance h to g 120m
  place extra in h.A[1] at 1U
  place wide in h.A[1] at 20U
  place spine[i] in h.A[2] at 10U + 1U*i
  naming wide "sp"
  require bisection >= 50%
  report diameter
}
"""
CLAIMS = """
model host N { port nic[2]: 100Gbps { type GE100 }; power 1kW }
model switch SW { port p[16]: 100Gbps { type GE100 }; power 1kW }
fabric pod {
  host node[4]: N
  host aux: N
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[r]
  connect aux.nic[r] to leaf[r]
  require links of node to leaf == 8 and ports of leaf >= 1
  require survives any 1 of leaf with bisection >= 50% of intact
  require power of network <= 100% of total and optics_power <= 50% of network
  require oversubscription <= 4:1 of active
  require reachability of all node
  require allreduce 1GB among node[0..1], node[2..3] <= 1s
}
"""
INTENT = """
fabric pod {
  hosts 8 x DGX_H100
  clos { leaf QM9700; spine QM9700; oversubscription 1:1 }
}
"""
SUBNET = """
model host N { port nic[2]: 400Gbps { type NDR } }
model switch SW { port p[1..16]: 400Gbps { type NDR } }
fabric pod {
  host node[4]: N
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[r]
  connect leaf[0] to leaf[1] x 4 { bundle 2 }
  partition training 0x0001 { full node[0..2].nic; ipoib }
  partition store 0x0002 { full node[3].nic; limited node[0..2].nic }
  subnet_manager node[0], node[1]
}
"""
CROSSED = """
model host N { port nic[2]: 400Gbps { type NDR } }
model chip G { port nv[2]: 200Gbps { type NVLINK } }
model host T { port nic[2]: 400Gbps { type NDR }; chip gpu[2]: G; connect gpu[0] to gpu[1] x 2 { layer scaleup; medium trace } }
model switch SW { port p[1..16]: 400Gbps { type NDR } }
model panel PP { port front[8]: any; port back[8]: any }
model ocs OO { port o[1..16]: any }
cluster k {
  host node[2]: N
  fabric a {
    switch leaf[2]: SW
    switch top: SW
    panel patch[2]: PP
    connect node[n].nic[r] to leaf[r]
    connect leaf[i] to top x 2 via patch[0]
  }
  fabric b {
    host other[2]: T
    switch x: SW
    switch y: SW
    ocs o[2]: OO
    connect other[n].nic[r] to x
    connect x to y x 2 via o[0]
  }
}
"""
ROCE, ROUTING = (f"{line}\n" for line in LEAVES.splitlines() if line.startswith(("  roce", "  routing")))
GROUPS = "group pod plane rack site cube cell"
ROWS: list[tuple[str, str, str, str]] = [
    # words, the design, a part of it, and what stands there in the other one
    *((word, LEAVES, "group su[2]", f"{word} su[2]") for word in GROUPS.split()[1:]),
    ("group", LEAVES, "group su[2]", "pod su[2]"),
    ("fabric", LEAVES, "fabric pod", "fabric other"),
    ("cluster", CROSSED, "cluster k", "cluster l"),
    ("hall", LEAVES, "hall g { row A", "hall g { row B"),
    ("row", LEAVES, "{ row A { rack 1..2", "{ row A { rack 1..3"),
    ("pitch", LEAVES, "rack 0.8m", "rack 0.7m"),
    ("tray", LEAVES, "above 2.8m", "above 2.9m"),
    ("slack", LEAVES, "slack 2m", "slack 0m"),
    ("distance", LEAVES, "g 120m", "g 121m"),
    ("host", LEAVES, "host node[4]: N", "host node[5]: N"),
    ("chip", CROSSED, "chip gpu[2]", "chip gpu[3]"),
    ("x", CROSSED, "gpu[1] x 2", "gpu[1] x 1"),
    ("switch", LEAVES, "switch spine[2 of 4]", "switch spine[4 of 4]"),
    ("ocs", CROSSED, "ocs o[2]", "ocs o[3]"),
    ("panel", CROSSED, "panel patch[2]", "panel patch[3]"),
    ("port", LEAVES, "port p[1..16]", "port p[1..17]"),
    ("numa", LEAVES, "numa cpu {", "numa cpu[2] {"),
    ("pcie", LEAVES, "pcie plx {", "pcie plx[2] {"),
    ("on", LEAVES, "on cpu; ", ""),
    ("gen", LEAVES, "gen 5", "gen 4"),
    ("lanes", LEAVES, "lanes 16", "lanes 8"),
    ("device", LEAVES, "1000:c030", "1000:c031"),
    ("bus", LEAVES, "16:00.0", "17:00.0"),
    ("arch", LEAVES, "arch x86_64", "arch arm64"),
    ("vendor", LEAVES, "GenuineIntel", "AuthenticAMD"),
    ("family", LEAVES, "family 6", "family 7"),
    ("cpu_model", LEAVES, "cpu_model 143", "cpu_model 144"),
    ("cores", LEAVES, "cores 56", "cores 57"),
    ("type", LEAVES, "type GE100; os", "type GE100, GE400; os"),
    ("cage", LEAVES, "enp{i}\"; cage 1 QSFP28", "enp{i}\"; cage 1 QSFP56"),
    ("connector", LEAVES, "BASE_T; connector 1", "BASE_T; connector 2"),
    ("name", LEAVES, 'name "{i}"', 'name "x{i}"'),
    ("os", LEAVES, 'os "eth{i}"', 'os "ens{i}"'),
    ("netdev", LEAVES, 'netdev "enp{i}"', 'netdev "enq{i}"'),
    ("alias", LEAVES, 'alias "etp{i}"', 'alias "etq{i}"'),
    ("height", LEAVES, "height 2U", "height 3U"),
    ("power", LEAVES, "max 2kW", "max 3kW"),
    ("source", LEAVES, "a sheet", "another sheet"),
    ("fact", LEAVES, "trays 3", "trays 4"),
    ("model", LEAVES, "price $5; lead", "price $6; lead"),
    ("model", LEAVES, "lead 2week", "lead 3week"),
    ("model", LEAVES, "spares 2%", "spares 3%"),
    ("model", LEAVES, "polarity B", "polarity A"),
    ("model", LEAVES, "sonic 4*(i - 1)", "sonic 4*i"),
    ("model", LEAVES, "mass 20kg", "mass 21kg"),
    ("model", LEAVES, "latency 1us", "latency 2us"),
    ("model", LEAVES, "latency 1us", "latency 1us; mtbf 9year"),
    ("mtbf", LEAVES, "host node[4]: N", "host node[4]: N { mtbf 9year }"),
    ("fit", LEAVES, "host node[4]: N", "host node[4]: N { fit 780 }"),
    ("fails", LEAVES, "leaf[r] { cable CC }", "leaf[r] { cable CC; fails 1/9year }"),
    ("repair", LEAVES, "latency 1us", "latency 1us; repair 2h"),
    ("sold", LEAVES, "latency 1us", "latency 1us; sold N 2"),
    ("basis", LEAVES, "latency 1us", "latency 1us; basis power measured"),
    ("risk", LEAVES, "  naming wide", "  risk feed { members wide; fails 1/9year; repair 2h }\n  naming wide"),
    ("feed", LEAVES, "  naming wide", "  feed a { power 90kW }\n  naming wide"),
    ("racks", LEAVES, "  naming wide", "  feed a { racks h }\n  naming wide"),
    ("rate", LEAVES, "cable DD }", "cable DD; rate 50Gbps }"),
    ("split", LEAVES, "switch wide: SW", "switch wide: SW { split p 2 }"),
    ("split", LEAVES, "switch wide: SW", "switch wide: SW { split p[1..2] 2 }"),
    ("role", LEAVES, "role manager", "role storage"),
    ("host", LEAVES, "host node[4]: N", "host node[4]: N { spares 1 }"),
    ("nos", LEAVES, "nos sonic", 'nos "junos"'),
    ("nos", LEAVES, "nos frr", "nos sonic"),
    ("nos", LEAVES, "switch wide: SW", "switch wide: SW { nos sonic }"),
    ("transport", LEAVES, "  transport ethernet\n", ""),
    ("purpose", LEAVES, "  transport ethernet\n", "  transport ethernet\n  purpose storage\n"),
    ("forwards", LEAVES, "host node[4]: N", "host node[4]: N { forwards }"),
    ("forwards", LEAVES, "latency 1us", "latency 1us; forwards"),
    ("layer", CROSSED, "layer scaleup; ", ""),
    ("param", LEAVES, "depth: int = 2", "depth: int = 3"),
    ("where", LEAVES, "where depth < 9", "where depth < 10"),
    ("of", LEAVES, "spine[2 of 4]", "spine[2 of 2]"),
    ("bundle", SUBNET, "{ bundle 2 }", "{ bundle 4 }"),
    ("bundle", SUBNET, "{ bundle 2 }", ""),
    ("across", LEAVES, "leaf[r] { cable CC }", "leaf[r] { cable CC; bundle 2 across }"),
    ("class", LEAVES, "class up", "class down"),
    ("colour", LEAVES, "colour red", "colour blue"),
    ("length", LEAVES, "length 3m", "length 4m"),
    ("cable", LEAVES, "nic[r] to leaf[r] { cable CC }", "nic[r] to leaf[r] { cable DD }"),
    ("medium", LEAVES, "nic[r] to leaf[r] { cable CC }", "nic[r] to leaf[r] { cable CC; medium aoc }"),
    ("carries", LEAVES, "MPO\" }", "MPO\" carries 2 }"),
    ("via", CROSSED, "via patch[0]", "via patch[1]"),
    ("via", CROSSED, "via o[0]", "via o[1]"),
    ("x", SUBNET, "x 4", "x 8"),
    ("connect", CROSSED, "    connect other[n].nic[r] to x\n", ""),
    ("to", SUBNET, "to leaf[r]", "to leaf[1 - r]"),
    ("omit", LEAVES, '  naming wide', '  omit su[1].node[3]\n  naming wide'),
    ("naming", LEAVES, '"sp"', '"sq"'),
    ("extend", LEAVES, '  naming wide', '  extend su[1] { switch more: SW }\n  naming wide'),
    ("override", LEAVES, '  naming wide', '  override wide { address management 10.9.0.99/24 }\n  naming wide'),
    ("place", LEAVES, "h.A[1] at 20U", "h.A[2] at 20U"),
    ("at", LEAVES, "at 20U", "at 21U"),
    ("from", LEAVES, "loopback from 10.0.0.1", "loopback from 10.0.0.2"),
    ("address", LEAVES, "10.0.0.1/24", "10.0.1.1/24"),
    ("loopback", LEAVES, "  address spine loopback from 10.0.0.1/24\n", ""),
    ("management", LEAVES, "10.9.0.1/24", "10.9.0.2/24"),
    ("bmc", LEAVES, "  place extra", "  address extra bmc from 10.8.0.1/24\n  place extra"),
    ("vrf", LEAVES, "mgmt2", "mgmt3"),
    ("address", LEAVES, "gateway 10.9.0.254", "gateway 10.9.0.253"),
    ("address", LEAVES, "eth7", "eth8"),
    ("routing", LEAVES, ROUTING, ""),
    ("asn", LEAVES, "65001", "65002"),
    ("mtu", LEAVES, "9216", "9000"),
    ("bfd", LEAVES, "100ms x 3", "100ms x 4"),
    ("graceful_restart", LEAVES, "; graceful_restart", ""),
    ("dscp", LEAVES, "dscp 26", "dscp 27"),
    ("priority", LEAVES, "26; priority 3", "26; priority 4"),
    ("cnp", LEAVES, "cnp 48", "cnp 47"),
    ("ecn", LEAVES, "at 5%", "at 6%"),
    ("pfc", LEAVES, "pfc watchdog 200ms", "pfc"),
    ("roce", LEAVES, ROCE, ""),
    ("partition", SUBNET, "0x0001", "0x0003"),
    ("full", SUBNET, "full node[0..2]", "full node[0..1]"),
    ("limited", SUBNET, "limited", "full"),
    ("ipoib", SUBNET, "; ipoib", ""),
    ("subnet_manager", SUBNET, "node[0], node[1]", "node[1], node[0]"),
    ("require", LEAVES, "  require bisection >= 50%\n", ""),
    ("phase", LEAVES, "  report diameter", '  phase 1 { depth 1 }\n  phase 2 { depth 2 }\n  report diameter'),
    ("any", CLAIMS, "any 1 of leaf", "any 2 of leaf"),
    ("with", CLAIMS, "with bisection >= 50% of intact", "with bisection >= 40% of intact"),
    ("intact", CLAIMS, "50% of intact", "50%"),
    ("network", CLAIMS, "power of network", "power of node"),
    ("total", CLAIMS, "50% of network", "50% of total"),
    ("all", CLAIMS, "of all node", "of all aux"),
    ("active", CLAIMS, " of active", ""),
    ("among", CLAIMS, "among node[0..1], node[2..3]", "of all node[0..1], node[2..3]"),
    ("of", CLAIMS, "ports of leaf", "ports of node"),
    ("to", CLAIMS, "of node to leaf == 8", "of node == 8"),
    ("hosts", INTENT, "hosts 8", "hosts 16"),
    ("oversubscription", INTENT, "1:1", "3:1"),
]  # fmt: skip
SAME: dict[str, str] = {
    "job": "what a network is judged for, and no part of it: its figures are compared",
    "over": "a clause of a requirement: tests/verify/test_compare.py asks that each is compared",
    "use": "names; what is used is compared, and its files",
    "let": "a name of a value; values are compared",
    "def": "a name of an expression; values are compared",
    "topology": "devices and cables are compared",
    "circuit": "`via` of a link",
    "tier": "devices and cables are compared",
    "report": "it guarantees nothing; its figure is compared",
    "if": "what it leaves is compared",
    "else": "what it leaves is compared",
    "for": "what it repeats is compared",
    "as": "a name",
    "by": "devices and cables are compared",
    "under": "a clause of a requirement: tests/verify/test_compare.py asks that each is compared",
    "through": "a clause of a requirement: tests/verify/test_compare.py asks that each is compared",
    "and": "requirements are compared one by one",
    "or": "an operator; values are compared",
    "not": "an operator; values are compared",
    "in": "an operator; values are compared",
    "unnumbered": "it says what is so without it",
    "minimize": "numbers that it finds are compared; the statement is compared as text",
    "auto": "places are compared",
    "down": "devices and cables are compared",
    "up": "devices and cables are compared",
    **dict.fromkeys(("shift", "degree", "seed", "uneven", *keywords.PATTERNS), "a pattern; cables are compared"),
    **dict.fromkeys(
        ("chips", "rails", "planes", "pods", "clos", "leaf", "spine", "torus", "dragonfly", "wrap", "groups", "routers", "router",
         "local", "global", "units", "switches", "arc", "twist"),
        "the intent; devices and cables are compared",
    ),
}  # fmt: skip
"""Words that make no difference by themselves, each with what is compared instead."""


@cache
def known_design(text: str, folder: Path) -> tuple[Compilation, Contract]:
    """A design, compiled once, and its contract."""
    path = write(folder, text, f"{sha256(text.encode()).hexdigest()[:8]}.fab")
    found = compiler.compile_without_checks(path, Request())
    assert found.designs and all(d.fabric is not None and d.fabric.complete for d in found.designs), found.findings
    return found, contract_of_design(found, Path(path), {}, {})


def differences_found(old: str, new: str, folder: Path) -> list[Changes]:
    """What differs between the fabrics of two designs that are declared in the same place, and their clusters."""
    (a, before), (b, after) = (known_design(text, folder) for text in (old, new))
    out = []
    for x, y in zip(a.designs, b.designs, strict=True):
        blocks = frozenset((x.name, x.cluster)), frozenset((y.name, y.cluster))
        out.append(compare_designs(x, y, (before, after), Subject(blocks)))
    return out + [compare_clusters(x, y) for x, y in zip(a.clusters, b.clusters, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


@pytest.mark.parametrize(("word", "design", "old", "new"), ROWS, ids=[f"{row[0]}: {row[2]:.20}" for row in ROWS])
def test_a_word_of_the_language_that_changes_is_a_difference(word: str, design: str, old: str, new: str, folder: Path) -> None:
    """And it is one the other way round, too."""
    assert design.count(old) >= 1
    other = design.replace(old, new)
    assert not all(c.none for c in differences_found(design, other, folder))
    assert not all(c.none for c in differences_found(other, design, folder))


OF_CLUSTERS = [row for row in ROWS if row[1] is CROSSED]


@pytest.mark.parametrize(("word", "design", "old", "new"), OF_CLUSTERS, ids=[f"{row[0]}: {row[2]:.20}" for row in OF_CLUSTERS])
def test_a_word_in_a_cluster_is_a_difference_of_the_whole(word: str, design: str, old: str, new: str, tmp_path: Path) -> None:
    """Which `tdsl diff` tells once."""
    paths = [write(tmp_path, text, name) for text, name in ((design, "a.fab"), (design.replace(old, new), "b.fab"))]
    found = json.loads(tdsl("diff", *paths, "--no-checks", "--output-format", "json").stdout)
    assert not found["same"] and len(found["fabrics"]) == 1


def test_every_word_has_a_row_or_a_reason() -> None:
    words = set(keywords.GRAMMAR_WORDS) | set(keywords.PATTERNS) | set(keywords.SETTINGS)
    rows = {word for word, *_ in ROWS}
    assert words == rows | SAME.keys() and not rows & SAME.keys()


@pytest.mark.parametrize("design", [LEAVES, CLAIMS, INTENT, SUBNET, CROSSED])
def test_other_ways_to_write_a_design_are_no_difference(design: str, folder: Path) -> None:
    """Comments, blanks, titles, values as expressions in other units, and statements in another order."""
    pairs = (
        ("host node[4]", "host node[2 + 2]"), ("[2 of 4]", "[1 + 1 of 4]"), ("power 1kW max 2kW", "power 1000W max 2000W"),
        ("length 3m", "length 300cm"), ("dscp 26", "dscp 2*13"), ("mtu 9216", "mtu 9*1024"), ("65001", "65000 + 1"),
        ("rack 1..2 { height 42U", "rack 1..2 { height 2*21U"), ("slack 2m", "slack 200cm"), ("g 120m", "g 0.12km"),
        ("0x0001", "1"), ("bundle 2", "bundle 4 // 2"), ("node[0..2]", "node[0..3 - 1]"), ("spread x 4", "spread x 8 // 2"),
        ("50%", "1/2"), ('"Pod"', '"Another title"'), ("nos sonic", "nos sonic  # the system"), ("spares 2%", "spares 2.0%"),
        ("at 20U", "at 10U + 10U"), ("hosts 8", "hosts 2*4"), ("x 2 via", "x 4 // 2 via"),
    )  # fmt: skip
    other = "# a comment\n" + design
    for old, new in pairs:
        other = other.replace(old, new)
    moved = [line for line in other.splitlines() if line.strip().startswith(("require", "report"))]
    if len(moved) > 1:
        other = other.replace("\n".join(moved), "\n".join(reversed(moved)))
    other = other.replace("  ", "    ")
    assert other != design and all(c.none for c in differences_found(design, other, folder))


def test_every_field_is_compared_or_has_a_reason() -> None:
    """A field that is added to a fabric is named here, and in the module that compares it; records under it are compared over
    their fields."""
    left_out = set(NO_DIFFERENCE["Fabric"])
    places = (left_out, set(COMPARED_ELSEWHERE), set(COMPARED_HERE))
    assert set.union(*places) == {f.name for f in fields(Fabric)}
    assert sum(map(len, places)) == len(set.union(*places))
    for record in (
        Fabric,
        DeviceSet,
        DeviceModel,
        PortClass,
        Chip,
        Addressing,
        Pool,
        Partition,
        RackPlaces,
        GroupDistance,
        LinkStatement,
    ):
        assert set(NO_DIFFERENCE[record.__name__]) <= {f.name for f in fields(record)}
    assert all(reason for table in NO_DIFFERENCE.values() for reason in table.values())
    columns = {f.name for f in fields(Cable)}
    assert set(CABLE_COLUMNS) | set(FACTS) <= columns and set(OF_CABLES.values()) <= set(FACTS.values())
    assert all(OF_EACH_LINK.values())


def changed_value(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | Fraction():
            return value + 1
        case str():
            return f"{value}x"
        case Mapping():
            return {**value, "more": 1}
        case tuple() if hasattr(value, "_replace"):
            return value._replace(low=value.low + 1)
        case tuple() if value:
            return (changed_value(value[0]), *value[1:])
        case tuple():
            return (1,)
        case None:
            return 7
    for name in compared_fields(value) if is_dataclass(value) else ():
        return replace(value, **{name: changed_value(getattr(value, name))})
    raise TypeError(value)


def parts_of_model(model: DeviceModel) -> dict[str, DeviceModel]:
    """A model with another value in each field that is compared, of its ports, chips, links and layout, too; by what differs."""
    out = {
        name: replace(model, **{name: changed_value(getattr(model, name))}) for name in compared_fields(model) if name != "chips"
    }
    for sort in ("classes", "chips", "links", "layout"):
        first, *rest = getattr(model, sort)
        for f in compared_fields(first):
            if isinstance(getattr(first, f), Origin):
                continue
            if sort == "chips" and f == "model":
                values = {f"model {x}": m for x, m in parts_of_model(first.model).items()} if first.model.classes == () else {}
            else:
                values = {f: changed_value(getattr(first, f))}
            for name, value in values.items():
                out[f"{sort} {name}"] = replace(model, **{sort: (replace(first, **{f: value}), *rest)})
    return out


def test_each_field_of_a_model_is_seen(folder: Path) -> None:
    """Of a host with ports, chips, links among them and a layout."""
    found, _ = known_design("fabric f { host a[2]: DGX_H100; switch s: QM9700; connect a[n].nic[0] to s }", folder)
    fabric = found.designs[0].fabric
    assert fabric is not None
    (model,) = (m for m in fabric.models if m.name == "DGX_H100")
    assert model.links and model.layout and model.chips and model.classes
    own = model_attributes(model, [c.name for c in model.classes])
    unseen = [
        what for what, other in parts_of_model(model).items() if model_attributes(other, [c.name for c in other.classes]) == own
    ]
    assert unseen == []


def test_each_field_of_a_declaration_is_seen(folder: Path) -> None:
    found, _ = known_design(LEAVES, folder)
    fabric = found.designs[0].fabric
    assert fabric is not None
    declared = next(s for s in fabric.sets if s.name == "extra")
    others = {f: replace(declared, **{f: changed_value(getattr(declared, f))}) for f in ("role", "settings")}
    others["inside"] = replace(declared, inside=fabric.sets[0])
    others["parts"] = replace(declared, parts=(replace(declared.parts[0], kind="chip"),))
    assert others.keys() == set(compared_fields(declared))
    assert all(declaration_attributes(other) != declaration_attributes(declared) for other in others.values())


def test_each_field_of_halls_routing_and_traffic_classes_is_seen(folder: Path) -> None:
    found, _ = known_design(LEAVES, folder)
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.places is not None and fabric.addressing is not None
    own = fabric_attributes(fabric, {})
    hall, *halls = fabric.places.halls
    row, (number, kind) = hall.rows[0], hall.rows[0].racks[0]
    kinds = [replace(kind, **{f: changed_value(getattr(kind, f))}) for f in compared_fields(kind) if f != "span"]
    rows = [replace(row, racks=((number, k), *row.racks[1:])) for k in kinds]
    tray = hall.tray
    trays = [replace(tray, **{f: changed_value(getattr(tray, f))}) for f in compared_fields(tray) if f != "span"]
    others = [replace(hall, rows=(r,)) for r in rows] + [replace(hall, tray=t) for t in trays]
    plain = [f for f in compared_fields(hall) if f not in ("rows", "tray", "origin")]
    others += [replace(hall, **{f: changed_value(getattr(hall, f))}) for f in plain]
    made: list[Any] = [{"places": altered(fabric.places, halls=(h, *halls))} for h in others]
    for name in ("routing", "roce"):
        value = getattr(fabric.addressing, name)
        for f in compared_fields(value):
            if f != "origin":
                changed = replace(value, **{f: changed_value(getattr(value, f))})
                made.append({"addressing": altered(fabric.addressing, **{name: changed})})
    assert len(made) > 20
    assert all(fabric_attributes(altered(fabric, **values), {}) != own for values in made)


def altered(record: Any, **values: object) -> Any:
    """A copy of a record that keeps no slots, with other values."""
    out = copy(record)
    out.__dict__.update(values)
    return out


DIFFERING = LEAVES.replace("role manager", "role storage").replace("require bisection >= 50%", "require bisection >= 40%")


def test_settings_are_said_in_every_format(tmp_path: Path) -> None:
    """Behind requirements, in a line."""
    a, b = write(tmp_path, LEAVES, "old.fab"), write(tmp_path, DIFFERING, "new.fab")
    text = tdsl("diff", a, b, "--no-checks").stdout.splitlines()
    assert text[:3] == ["pod", "  contract: 1 requirement weaker", "  settings: extra: role manager → storage"]
    assert "  ~ extra: role  manager → storage" in text or "  ~ extra: role manager → storage" in text
    markdown = tdsl("diff", a, b, "--no-checks", "--output-format", "markdown").stdout
    assert "Settings: extra: role manager → storage." in markdown
    (fabric,) = json.loads(tdsl("diff", a, b, "--no-checks", "--output-format", "json").stdout)["fabrics"]
    assert fabric["settings"] == [{"what": "extra: role", "before": "manager", "after": "storage"}] and not fabric["same"]
