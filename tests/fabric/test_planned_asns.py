"""Numbers that the plan of RFC 7938 gives to switches, those without a link included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric import asns
from tdsl.fabric.graph import Fabric
from tests.fabrics import Builder
from tests.harness import compile_text

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


def test_leaves_without_hosts_have_a_number_each(tmp_path: Path) -> None:
    """The last two leaves have neither hosts nor links, the third has links to the spines alone."""
    body = """  host n[2]: N
  switch leaf[5]: E
  switch spine[2]: E
  connect n[i].nic[0] to leaf[(i)]
  connect leaf[0..2] to spine[*] each"""
    expected = {f"leaf[{k}]": k for k in range(5)} | {"spine[0]": 0, "spine[1]": 0}
    assert ranks(body, tmp_path) == expected


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


@pytest.mark.parametrize(
    ("rules", "numbers"),
    [
        ("asn sw[*] from 65001", {"sw": [65001, 65002, 65003, 65004]}),
        ("asn sw[*] 65001", {"sw": [65001] * 4}),
        ("asn sw[*] from 65010; asn n[*] from 65101", {"sw": [65010, 65011, 65012, 65013], "n": [65101, 65102, 65103]}),
        ("asn sw[1..2] from 65001", {"sw": [4_201_000_000, 65001, 65002, 4_201_000_003]}),
    ],
)
def test_numbers_of_rules(rules: str, numbers: dict[str, list[int]], tmp_path: Path) -> None:
    """The k-th of ``from N`` has N + k; without ``from`` all have N; those without a rule, and hosts none, have the plan's."""
    text = (
        f"fabric f {{ host n[3]: N; switch sw[4]: E; connect n[i].nic[0] to sw[(i)]\n routing bgp {{ unnumbered; {rules} }} }}\n"
    )
    found = compile_text(text + MODELS, tmp_path, models=False, verify=False).designs[0].fabric
    assert found is not None and found.addressing is not None and found.addressing.asns is not None
    number = found.addressing.asns.number.tolist()
    assert number == numbers.get("n", [0, 0, 0]) + numbers["sw"]


def made() -> Fabric:
    """Three groups of three switches ``t`` and, of another declaration, two of two; a lower tier of twelve."""
    b = Builder()
    model = b.model("switch", "M", {"p": 16})
    b.devices("low", model, 12)
    b.devices("g.t", model, 3, 3)
    b.devices("o.u", model, 2, 2)
    return b.build()


def leaders(wired: list[tuple[int, int]]) -> list[int]:
    """The leader of each of the switches above, by the definition: a lot is what the links join, and a switch without a link
    is in the first lot that one of its group is in, or with all of its group where none has a link. The first of a lot leads."""
    groups = [[12, 13, 14], [15, 16, 17], [18, 19, 20], [21, 22], [23, 24]]
    joined = {d: {d} for d in range(25)}
    for x, y in wired:
        both = joined[x] | joined[y]
        for d in both:
            joined[d] = both
    has = {d for link in wired for d in link}
    lot = {}
    for group in groups:
        some = [min(joined[d]) for d in group if d in has] or [group[0]]
        lot |= {d: min(joined[d]) if d in has else min(some) for d in group}
    return [min(other for other in lot if lot[other] == lot[d]) for d in range(12, 25)]


@pytest.mark.parametrize(
    "wired",
    [
        [],
        [(0, 12)],
        [(0, 13), (0, 14)],
        [(0, 17), (1, 15), (0, 20)],
        [(0, 18), (0, 24)],
        [(3, 22), (2, 22), (2, 19), (11, 24)],
        [(0, 14), (1, 13), (2, 16), (2, 17), (5, 21), (6, 23)],
        [(k, 12 + k) for k in range(12)],
        [(0, 12), (1, 12), (1, 15), (2, 15), (2, 18)],  # chains, in which the first number must go all the way
        [(4, 12), (4, 15), (2, 15), (2, 18), (0, 18)],
        [(k + d, 13 + k) for k in range(11) for d in (0, 1)],
        [(11 - k - d, 13 + k) for k in range(11) for d in (0, 1)],
        [(k, 24 - j) for k in range(3) for j in range(12)],
    ],
)
def test_leaders_by_definition(wired: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = made()
    a, b = (np.array([x[k] for x in wired], dtype=np.int64) for k in (0, 1))
    monkeypatch.setattr(type(fabric), "planned_a", a, raising=False)
    monkeypatch.setattr(type(fabric), "planned_b", b, raising=False)
    assert asns._first_connected_device(fabric, np.arange(12, 25), a, b).tolist() == leaders(wired)
