"""Numbers of autonomous systems that are refused, and those that two devices must not share, pair by pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

RULES = """fabric f {{
  switch a[3]: E; switch b[3]: E; switch lone[2]: E
  connect a[i] to b[i]
  {}
  routing bgp {{ unnumbered; {} }}
}}
model switch E {{ port p[1..8]: 400Gbps {{ type GE400 }} }}
"""


def test_numbers_where_overrides_replace_rules(tmp_path: Path) -> None:
    text = RULES.format("override a[1..2] { asn 65009 }", "asn a[*] from 65001; asn b[*] 65030")
    f = compile_text(text, tmp_path, models=False, verify=False).designs[0].fabric
    assert f is not None and f.addressing is not None and f.addressing.asns is not None
    found = f.addressing.asns
    assert found.number.tolist() == [65001, 65009, 65009, 65030, 65030, 65030, 4201000006, 4201000007]
    origins = [found.origin(d) for d in range(8)]
    first, second = "asn a[*] from 65001", "asn b[*] 65030"
    assert [o and o.span.text for o in origins] == [first, "asn 65009", "asn 65009", *[second] * 3, None, None]


MODELS = """\
model switch E { port p[1..16]: 400Gbps { type GE400 } }
model host N { port nic[2]: 400Gbps { type GE400 } }
"""
PODS = """fabric f {{
  host n[6]: N
  group pod[3] {{ switch leaf[2]: E; switch spine[2]: E }}
  switch core[2]: E
  connect n[i].nic[j] to pod[i // 2].leaf[j]
  connect pod[p].leaf[*] to pod[p].spine[*] each where {}
  connect pod[p].spine[s] to core[s] where {}
  routing bgp {{ unnumbered }}
}}
"""


def lots(spines: str, cores: str, folder: Path) -> list[list[int]]:
    """The ranks of leaves, spines and cores inside their tiers."""
    found = compile_text(PODS.format(spines, cores) + MODELS, folder, models=False, verify=False).designs[0].fabric
    assert found is not None and found.addressing is not None and found.addressing.asns is not None
    number = found.addressing.asns.number
    names = [found.device_path(d) for d in range(found.device_count)]
    out = [[int(number[d]) for d, name in enumerate(names) if part in name] for part in ("leaf", "spine", "core")]
    assert [int(number[d]) for d, name in enumerate(names) if name.startswith("n[")] == [0] * 6
    first = 4_200_000_000
    assert {x // 1_000_000 * 1_000_000 - first for x in out[0]} == {1_000_000}
    assert {x // 1_000_000 * 1_000_000 - first for x in out[1]} == {2_000_000}
    return [[x % 1_000_000 for x in row] for row in out]


@pytest.mark.parametrize("linked", ["p < 3", "p == 0", "p == 1", "p == 2", "p > 0", "p < 2"])
def test_pods_keep_their_numbers_when_their_links_come(linked: str, tmp_path: Path) -> None:
    """The spines of the k-th pod have the k-th number of their tier, whether or not they have links already."""
    leaves, spines, _ = lots(linked, "p < 0", tmp_path)
    assert leaves == [0, 1, 2, 3, 4, 5]
    assert spines == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("linked", ["p < 3", "p == 2", "p < 2"])
def test_cores_are_one_lot(linked: str, tmp_path: Path) -> None:
    leaves, spines, cores = lots("p < 3", linked, tmp_path)
    assert (leaves, spines, cores) == ([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 0])


def ranks(body: str, folder: Path) -> dict[str, int]:
    """The rank of each switch inside its tier, by path."""
    text = f"fabric f {{\n{body}\n routing bgp {{ unnumbered }}\n}}\n{MODELS}"
    found = compile_text(text, folder, models=False, verify=False).designs[0].fabric
    assert found is not None and found.addressing is not None and found.addressing.asns is not None
    number = found.addressing.asns.number.tolist()
    return {found.device_path(d): n % 1_000_000 for d, n in enumerate(number) if n}


def test_a_host_in_two_pods_does_not_join_them(tmp_path: Path) -> None:
    """Port j of every host is at a leaf of pod j: no way of the switches leads through a host."""
    body = """  host n[2]: N
  group pod[2] { switch leaf[2]: E; switch spine[2]: E }
  connect n[i].nic[j] to pod[j].leaf[i]
  connect pod[p].leaf[*] to pod[p].spine[*] each"""
    assert ranks(body, tmp_path) == {
        "pod[0].leaf[0]": 0, "pod[0].leaf[1]": 1, "pod[1].leaf[0]": 2, "pod[1].leaf[1]": 3,
        "pod[0].spine[0]": 0, "pod[0].spine[1]": 0, "pod[1].spine[0]": 1, "pod[1].spine[1]": 1,
    }  # fmt: skip


def test_switches_that_reach_no_host(tmp_path: Path) -> None:
    """The last spine joins two cores and no leaf, and their connect names the cores first: they are one lot all the same."""
    body = """  host n[2]: N
  switch leaf[2]: E
  switch spine[3]: E
  switch core[3]: E
  connect n[i].nic[0] to leaf[(i)]
  connect leaf[*] to spine[0..1] each
  connect spine[0..1] to core[0] each
  connect core[1..2] to spine[2] each"""
    assert ranks(body, tmp_path) == {
        "leaf[0]": 0, "leaf[1]": 1, "spine[0]": 0, "spine[1]": 0, "spine[2]": 1, "core[0]": 0, "core[1]": 1, "core[2]": 1,
    }  # fmt: skip


def test_joined_switches_of_one_tier_have_a_number_each(tmp_path: Path) -> None:
    """A link between two spines: no two switches share a number, not even in the other tiers."""
    body = """  host n[2]: N
  switch leaf[2]: E
  switch spine[3]: E
  connect n[i].nic[0] to leaf[(i)]
  connect leaf[*] to spine[*] each
  connect spine[0] to spine[1]"""
    assert ranks(body, tmp_path) == {"leaf[0]": 0, "leaf[1]": 1, "spine[0]": 0, "spine[1]": 1, "spine[2]": 2}
