"""Numbers of autonomous systems: which switches of a tier share one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

MODELS = """
model switch E { port p[1..16]: 400Gbps { type GE400 } }
model host N { port nic[2]: 400Gbps { type GE400 } }
"""
PODS = """  host n[6]: N
  group pod[3] {{ switch leaf[2]: E; switch spine[2]: E }}
  switch core[2]: E
  connect n[i].nic[j] to pod[i // 2].leaf[j]
  connect pod[p].leaf[*] to pod[p].spine[*] each where {}
  connect pod[p].spine[s] to core[s] where {}"""


def ranks(body: str, folder: Path) -> dict[str, int]:
    """The rank of each switch inside its tier, by path; a tier has a million numbers, and hosts have none."""
    text = f"fabric f {{\n{body}\n routing bgp {{ unnumbered }}\n}}\n{MODELS}"
    found = compile_text(text, folder, models=False, verify=False).designs[0].fabric
    assert found is not None and found.addressing is not None and found.addressing.asns is not None
    number = {found.device_path(d): n for d, n in enumerate(found.addressing.asns.number.tolist())}
    for name, n in number.items():
        assert n == 0 if name.startswith("n[") else ("leaf" not in name or n // 1_000_000 == 4201), name
        assert "spine" not in name or n // 1_000_000 == 4202, name
    return {name: n % 1_000_000 for name, n in number.items() if n}


@pytest.mark.parametrize(
    ("pods", "cores"),
    [("p < 3", "p < 0"), ("p == 0", "p < 0"), ("p > 0", "p < 0"), ("p < 2", "p < 0"), ("p < 3", "p < 3"), ("p < 3", "p == 2")],
)
def test_pods_keep_their_numbers_when_their_links_come(pods: str, cores: str, tmp_path: Path) -> None:
    """The spines of the k-th pod have the k-th number of their tier, whether or not they have links already; cores that are
    joined to all pods are one lot."""
    found = ranks(PODS.format(pods, cores), tmp_path)
    expected = {f"pod[{p}].leaf[{k}]": 2 * p + k for p in range(3) for k in range(2)}
    expected |= {f"pod[{p}].spine[{k}]": p for p in range(3) for k in range(2)}
    assert {name: n for name, n in found.items() if "core" not in name} == expected
    assert cores == "p < 0" or (found["core[0]"], found["core[1]"]) == (0, 0)


OTHERS = {
    # port j of every host is at a leaf of pod j: no way of the switches leads through a host
    """  group pod[2] { switch leaf[2]: E; switch spine[2]: E }
  connect n[i].nic[j] to pod[j].leaf[i]
  connect pod[p].leaf[*] to pod[p].spine[*] each""": "0 1 2 3 0 0 1 1",
    # the last spine joins two cores and no leaf, and their connect names the cores first: they are one lot all the same
    """  switch leaf[2]: E
  switch spine[3]: E
  switch core[3]: E
  connect n[i].nic[0] to leaf[(i)]
  connect leaf[*] to spine[0..1] each
  connect spine[0..1] to core[0] each
  connect core[1..2] to spine[2] each""": "0 1 0 0 1 0 1 1",
    # a link between two spines: no two switches share a number, not even in the other tiers
    """  switch leaf[2]: E
  switch spine[3]: E
  connect n[i].nic[0] to leaf[(i)]
  connect leaf[*] to spine[*] each
  connect spine[0] to spine[1]""": "0 1 0 1 2",
}


@pytest.mark.parametrize("body", OTHERS, ids=range(len(OTHERS)))
def test_which_switches_share_a_number(body: str, tmp_path: Path) -> None:
    """Those of a tier that the switches below join; in the order of the text."""
    found = ranks(f"  host n[2]: N\n{body}", tmp_path)
    assert " ".join(map(str, found.values())) == OTHERS[body], found
