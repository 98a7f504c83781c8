"""Tiers, parameters and bodies of topologies that are refused, splits of ports, and blocks of models and halls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import refused

Case = tuple[str, str, str, str, str]
RATIO = "a ratio is `7:1`, `about 7:1` or `at most 7:1`"
PATTERNS = "`each`, `each x 2`, `spread`, `via ocs MODEL`"
LEAF, SPINE = "tier leaf of 2 hosts { switch SW }", "tier spine of ? leaf { switch SW }"

TIERS: list[Case] = [
    (f"{LEAF}\n{LEAF}", "E0120", "hosts", "`leaf` holds `leaf`, the tier before it, not `hosts`", ""),
    (f"{LEAF}\ntier mid of 2 leaf {{ switch SW }}\ntier leaf of ? mid {{ switch SW }}", "E0104", "leaf",
     "there are two tiers `leaf`", ""),
    ("tier leaf of 2 hosts { switch SW; connect a to b }", "E0118", "connect a to b", "the braces of a tier hold settings only",
     "known: `switch`, `down`, `up`, `oversubscription`, `cable`, `bundle`"),
    ("tier leaf of 2 hosts { switch SW; speed 3 }", "E0118", "speed", "there is no setting of a tier called `speed` here",
     "known here: `bundle`, `cable`, `down`, `oversubscription`, `switch`, `up`"),
    (f"{LEAF}\ntier spine of ? leaf {{ switch BOX }}", "E0102", "tier spine of ? leaf { switch BOX }",
     "BOX is a host, not a switch", ""),
    (f"tier leaf of 0 hosts {{ switch SW }}\n{SPINE}", "E0120", "tier leaf of 0 hosts { switch SW }",
     "a tier has at least one of everything", ""),
    (f"tier leaf of 2 hosts {{ switch SW x 0 }}\n{SPINE}", "E0120", "tier leaf of 2 hosts { switch SW x 0 }",
     "a tier has at least one of everything", ""),
    (f"tier leaf of 2 hosts {{ switch SW; down p[1..4] {{ x }} }}\n{SPINE}", "E0118", "x", "`down` of a tier takes no block", ""),
    (f"tier leaf of 2 hosts {{ switch SW; down p[3] }}\n{SPINE}", "E0120", "p[3]", "expected a range of ports",
     "`down p[1..32]`, `down p at 200Gbps`"),
    (f"{LEAF}\ntier mid of ? leaf {{ switch SW }}\ntier spine of ? mid {{ switch SW }}", "E0120",
     "tier mid of ? leaf { switch SW }", "`mid` is neither the first tier nor the last, so it says how many it holds",
     "`tier mid of 4 leaf`"),
    (f"{LEAF}\ntier spine of ? leaf by rail {{ switch SW }}", "E0120", "tier spine of ? leaf by rail { switch SW }",
     "`spine` is grouped by rail, and the hosts have no rails", "write `rails 2` beside the hosts, or leave `by rail` out"),
    (f"{LEAF}\ntier spine of ? leaf {{ switch SW x 3 }}", "E0459", "tier spine of ? leaf { switch SW x 3 }",
     "4 links of each of 4 `leaf` do not spread evenly over 3 `spine`", "2 or 4 would be even"),
]  # fmt: skip

USES: list[Case] = [
    ("r at least 2:1", "E0120", "at least 2:1", RATIO, ""),
    ("r about", "E0101", "about", "there is no value `about` here", ""),
    ("r 2:1 3", "E0120", "2:1 3", RATIO, ""),
    ("r true", "E0103", "true", "expected a ratio, found a bool", ""),
    ("r 0:1", "E0120", "0:1", "a ratio must be greater than zero", ""),
    ("q 3", "E0103", "3", "expected a pattern", PATTERNS),
    ("q via ocs", "E0120", "via ocs", "say by what kind of device and by which model links are joined", "`via ocs MODEL`"),
    ("q via ocs OPTIC", "E0120", "t", "this pattern says what links cross, and the topology asks how ends are distributed", ""),
    ("connect a to b", "E0118", "connect a to b", "the braces of `t` hold settings only", ""),
    ("r 1:1; r 2:1", "E0104", "r 2:1", "`r` is set twice", ""),
    ("r", "E0120", "r", "`r` needs a value", ""),
    ("m SW extra", "E0120", "SW extra", "`m` is one model, without a count or other words", "write `m SW`"),
    ("m SW, BIG", "E0120", "BIG", "`m` is one model", "write each setting on its own line, or separate settings with `;`"),
    ("r 1:1 { x }", "E0118", "x", "`r` of `t` takes no block", "write `r 1:1`"),
    (LEAF, "E0118", LEAF, "`t` has no tiers", ""),
    ("r at most 2:1; q spread; m SW", "", "", "", ""),
    ("r at most (1 + 1)", "", "", "", ""),
    ("r about 2:1; q each", "", "", "", ""),
]

BODIES: list[Case] = [
    ("group g { switch s: m; connect ends[*] to s }", "E0120", "connect ends[*] to s",
     "ends are joined by statements in the topology's own block", ""),
    ("switch s: m; forwards s; connect ends[h, n] to s", "E0120", "forwards s", "in a topology its ends forward",
     "`forwards ends`"),
    ("switch s: m; extend s { }; connect ends[h, n] to s", "E0118", "extend s { }", "this is not allowed in a topology",
     "known: devices, groups, connect, let, def, if, for, omit, naming"),
    ("switch s: m; connect ends[*] to s", "E0109", "ends[*]", "ends have 2 indices here, host by host, then those of `nic`",
     "write one index variable for each, as in `ends[h, r]`"),
    ("switch s: m; for i in 3 { connect ends[h, n] to s }", "E0116", "3",
     "a loop that joins ends goes over a list or a range of at most 64 values", ""),
    ("switch s: m; for i in 0..64 { connect ends[h, n] to s }", "E0116", "0..64",
     "a loop that joins ends goes over a list or a range of at most 64 values", ""),
    ("switch s: m; for i in 0..63 { connect ends[h, n] to s where i == 63 }", "", "", "", ""),
]  # fmt: skip

SPLITS: list[Case] = [
    ("p[2x2]: 400Gbps { split 2 } / p[0..1] 2", "E0109", "split p[0..1] 2",
     "`p` has 2 indices, and a part of one with one index may be split", "write `split p 2`"),
    ("p[1..4]: 401bps { split 2 } / p 2", "E0120", "split p 2", "401 bit/s do not divide by 2", ""),
    ("p[1..4]: 400Gbps { split 2 } / p[0..2] 2", "E0108", "split p[0..2] 2", "`p` has ports 1..4, not 0..2",
     "the port after `p` is one of these"),
    ("p[1..4]: 400Gbps { split 2 } / p[3..5] 2", "E0108", "split p[3..5] 2", "`p` has ports 1..4, not 3..5",
     "the port after `p` is one of these"),
    ("p[1..4]: 400Gbps { split 2 } / p[1..4] 2", "", "", "", ""),
    ("p[1..4]: 400Gbps { split 2 } / p[4..4] 2", "", "", "", ""),
    ("p[1..4]: 400Gbps { split 2 } / p 4", "E0120", "split p 4", "`p` of X cannot be split 4 ways",
     "it splits 2 ways: write `split p 2`"),
    ("p[1..4]: 400Gbps / p 2", "E0120", "split p 2", "`p` of X does not split", ""),
]  # fmt: skip

MODELS: list[Case] = [
    ("port p[4]", "E0120", "port p[4]", "port `p` has no rate", "write `port p[…]: 400Gbps`, or `any`"),
    ("port p[4]: 400Gbps { connect a to b }", "E0118", "connect a to b", "a port has settings only",
     "known: type, cage, connector, sockets, name, os, netdev, split, sonic, alias"),
    ("port p[4]: 400Gbps { cage 2 OSFP wavy }", "E0101", "wavy", "there is no heat sink `wavy` here",
     "known here: `finned`, `flat`"),
    ('port p[4]: 400Gbps { alias "x{i}" }', "E0120", 'alias "x{i}"',
     "`alias` is SONiC's second name of a port that `sonic` numbers",
     "for Ethernet0, Ethernet8 …: `sonic 8*(i - 1) lanes 8`, and `from N` where lane numbers differ"),
    ("port p[4]: 400Gbps { sockets }", "E0120", "sockets", "`sockets` needs a number", ""),
    ("port p[4]: 400Gbps { sockets 0 }", "E0120", "sockets 0", "this must be at least 1", ""),
    ("port p[4]: 400Gbps; fact x 1 2", "E0120", "x 1 2", "a fact has one value", "write `fact x 1`"),
    ("port p[4]: 400Gbps; fact x", "E0120", "fact x", "a fact has a name and a value", '`fact trays 18`, `fact colour "black"`'),
    ("port p[4]: 400Gbps; fact power 3", "E0120", "power", "`power` is a fact that the language knows", "write `power …`"),
]  # fmt: skip

AUTO = "write `place auto in h1 { hosts 4 per rack; switches middle of row }`"
RACKS = "`rack 1..32 { height 48U }`, or `rack 7 { height 42U }`"
HALLS: list[Case] = [
    ("place auto in h { hosts 4 per rack; connect a to b }", "E0118", "connect a to b",
     "the block of a `place auto` has settings only", AUTO),
    ("distance a to h 1m", "E0120", "a", "`a` is a device; a distance is between groups", "name a group"),
    ("distance q to h 1m", "E0101", "q", "there is no hall or group `q` here", "known here: `h`"),
    ("distance q[1] to h 1m", "E0101", "q", "there is no device or group `q` here", "known here: `a`"),
    ("hall i { row A { rack 1, 2 { height 48U } } }", "E0120", "rack 1, 2 { height 48U }", "racks have numbers", RACKS),
    ("hall i { row A { rack 1.5 { height 48U } } }", "E0120", "rack 1.5 { height 48U }", "racks have numbers", RACKS),
    ("hall i { row A { rack 4..3 { height 48U } } }", "E0120", "rack 4..3 { height 48U }", "racks have numbers", RACKS),
    ("hall i { row A { rack 0..9999999 { height 48U } } }", "E0120", "rack 0..9999999 { height 48U }", "racks have numbers",
     RACKS),
]  # fmt: skip

TOPOLOGY = "topology t(ends: ports, q: pattern = each, r: ratio = 1:1, m: model = BIG) {{\n  {}\n}}\n"
BODY = "switch s[2]: m; connect ends[h, n] to s[h % 2] q"


@pytest.mark.parametrize("case", TIERS, ids=lambda c: c[0])
def test_tiers_of_a_clos(case: Case, tmp_path: Path) -> None:
    """Eight hosts of two ports on switches of eight ports."""
    refused(f"fabric f {{\n  hosts 8 x BOX\n  clos {{\n{case[0]}\n  }}\n}}\n", case, tmp_path)


@pytest.mark.parametrize("case", USES, ids=lambda c: c[0])
def test_parameters_of_a_topology(case: Case, tmp_path: Path) -> None:
    """A pattern, a ratio and a model, given in the braces."""
    refused(TOPOLOGY.format(BODY) + f"fabric f {{\n  hosts 4 x BOX\n  t {{ {case[0]} }}\n}}\n", case, tmp_path)


@pytest.mark.parametrize("case", BODIES, ids=lambda c: c[0])
def test_the_body_of_a_topology(case: Case, tmp_path: Path) -> None:
    """What joins ends."""
    refused(TOPOLOGY.format(case[0]) + "fabric f {\n  hosts 4 x BOX\n  t\n}\n", case, tmp_path)


@pytest.mark.parametrize("case", SPLITS, ids=lambda c: c[0])
def test_splits(case: Case, tmp_path: Path) -> None:
    """A class of ports, and what is split of it."""
    port, split = case[0].split(" / ")
    refused(
        f"model switch X {{ port {port} }}\nfabric f {{ switch a[2]: X {{ split {split} }}; connect a[*] each }}\n",
        case,
        tmp_path,
    )


@pytest.mark.parametrize("case", MODELS, ids=lambda c: c[0])
def test_blocks_of_models(case: Case, tmp_path: Path) -> None:
    """A model that nothing uses is read too."""
    refused(f"model switch X {{ {case[0]} }}\nfabric f {{ switch a[2]: SW; connect a[*] each }}\n", case, tmp_path)


@pytest.mark.parametrize("case", HALLS, ids=lambda c: c[0])
def test_halls(case: Case, tmp_path: Path) -> None:
    """Beside a hall of one row."""
    hall = "hall h { row A { rack 1..4 { height 48U } } }"
    refused(f"fabric f {{ switch a[2]: SW; connect a[*] each; {hall}; {case[0]} }}\n", case, tmp_path)
