"""Bundles of random connects, by loops: which links are one, and their numbers at each device."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric.cables import bundles
from tdsl.fabric.graph import Fabric
from tests.harness import compile_text, sampled

MODEL = "model switch S { port p[1..64]: any; port q[1..64]: any }\n"


def random_design(chance: Random) -> tuple[str, list[int]]:
    """Connects between six switches, some with bundles, whose links mostly fit; the size of bundles of each statement."""
    sizes, lines = [], []
    for _ in range(4):
        size, copies = chance.choice([0, 2, 2, 3]), chance.randint(1, 3)
        guard = chance.choice(["", " where i < 2", " where j != i", " where j == i"])
        times = max(size, 1) * copies + (chance.random() < 0.06)
        sides = chance.choice([("a[i]", "b[j]"), ("b[j]", "a[i]"), ("a[i].q", "b[j].q")])
        lines.append(f"connect {sides[0]} to {sides[1]} x {times}{guard} {{ rate 100Gbps{f'; bundle {size}' if size else ''} }}")
        sizes.append(size)
    return "fabric f { switch a[3]: S; switch b[3]: S\n" + "\n".join(lines) + "\n}\n" + MODEL, sizes


def between(f: Fabric, sizes: list[int]) -> dict[tuple[int, int, int], list[int]]:
    """The links of each statement with bundles between two devices, in the order of their ports at the lower one."""
    out = defaultdict(list)
    for i in range(f.link_count):
        statement = int(f.link_statement[i])
        if sizes[statement]:
            out[statement, int(f.device_a[i]), int(f.device_b[i])].append(i)
    return out


@pytest.mark.parametrize("seed", sampled(range(25), 2))
def test_bundles_of_connects(seed: int, tmp_path: Path) -> None:
    """Each takes the next links between its two devices; links that are no multiple are refused at their statement."""
    text, sizes = random_design(Random(seed))
    made = compile_text(text, tmp_path, verify=False, models=False)
    f = made.designs[0].fabric
    assert f is not None
    links = between(f, sizes)
    refused = {d.span.text for d in made.findings if d.code == "E0214" and d.span}
    assert refused == {f"bundle {sizes[s]}" for (s, _, _), rows in links.items() if len(rows) % sizes[s]}
    if refused:
        return
    parts = [rows[k : k + sizes[s]] for (s, _, _), rows in links.items() for k in range(0, len(rows), sizes[s])]
    found = [bundles.links_of_bundle(f, n) for n in range(int(f.link_bundle.max(initial=-1)) + 1)]
    assert found == sorted(parts, key=lambda rows: rows[0])
    assert Counter(f.link_bundle.tolist())[-1] == f.link_count - sum(map(len, parts))
    spare = [i for rows in parts for i in rows[1:]]
    assert bundles.spare_members(f, np.arange(f.link_count)).tolist() == sorted(spare)
    lowest: dict[int, dict[int, int]] = defaultdict(dict)
    for devices, ports in ((f.device_a, f.link_a), (f.device_b, f.link_b)):
        for d, n, port in zip(devices.tolist(), f.link_bundle.tolist(), ports.tolist(), strict=True):
            if n >= 0:
                lowest[d][n] = min(port, lowest[d].get(n, port))
    rank = {d: {n: k for k, n in enumerate(sorted(own, key=own.__getitem__), 1)} for d, own in lowest.items()}
    for devices, numbers in zip((f.device_a, f.device_b), bundles.bundle_numbers_at_devices(f), strict=True):
        told = [rank[d][n] if n >= 0 else 0 for d, n in zip(devices.tolist(), f.link_bundle.tolist(), strict=True)]
        assert numbers.tolist() == told, "from 1 at each device, by the lowest port of a bundle there"


def across_design(chance: Random) -> str:
    """Hosts with bundles across pairs of switches, each in another order of wiring, and some beside them, so that the
    lowest ports of the bundles differ at the two switches of a pair."""
    hosts, pairs = chance.randint(2, 5), chance.randint(1, 2)
    lines = [f"fabric f {{ host h[{hosts}]: H; host solo[2]: H; switch t[{pairs}, 2]: S"]
    for n in chance.sample(range(hosts), hosts):
        if chance.random() < 0.4:
            lines.append(f"connect solo[0] to t[{chance.randrange(pairs)}, {chance.randrange(2)}] {{ rate 100Gbps }}")
        if chance.random() < 0.3:
            lines.append(f"connect solo[1] to t[{n % pairs}, {n % 2}] x 2 {{ rate 100Gbps; bundle 2 }}")
        across = f"rate 100Gbps; bundle {chance.choice((2, 4))} across"
        lines.append(f"connect h[{n}].nic[k] to t[{n % pairs}, k % 2] where k < 4 {{ {across} }}")
    return "\n".join([*lines, "}", MODEL, "model host H { port nic[16]: any; chip gpu: G }\nmodel chip G { port l: 100Gbps }"])


@pytest.mark.parametrize("seed", range(12))
def test_bundles_across_two_switches(seed: int, tmp_path: Path) -> None:
    """Each has as many links to both switches of its pair, one number at both, and at a device no number twice."""
    made = compile_text(across_design(Random(seed)), tmp_path, verify=False, models=False)
    f = made.designs[0].fabric
    assert f is not None and not [d for d in made.findings if d.code != "E0404"], made.findings
    numbers = bundles.bundle_numbers_at_devices(f)
    of: dict[int, Counter[int]] = defaultdict(Counter)
    at: dict[tuple[int, int], set[int]] = defaultdict(set)
    for i, n in enumerate(f.link_bundle.tolist()):
        if n < 0:
            assert not numbers[0][i] and not numbers[1][i]
            continue
        of[n][int(f.device_b[i])] += 1
        for device, number in ((f.device_a[i], numbers[0][i]), (f.device_b[i], numbers[1][i])):
            at[int(device), int(number)].add(n)
    assert all(len(held) == 1 for held in at.values())
    pairs = bundles.switch_pairs_of_bundles(f)
    assert {n: tuple(sorted(c)) for n, c in of.items() if len(c) == 2} == pairs and pairs
    assert all(len(set(c.values())) == 1 for c in of.values())
    shown = {n: {int(numbers[1][i]) for i in np.flatnonzero(f.link_bundle == n)} for n in of}
    assert all(len(x) == 1 for x in shown.values()), "the key by which LACP joins the links is that of both switches"
    for device in {d for d, _ in at}:
        assert {number for d, number in at if d == device} >= {1}


def test_the_mac_address_of_a_pair_rests_on_its_names_alone() -> None:
    """A locally administered unicast address, the same in whichever order the switches are."""
    one, other = bundles.lacp_system_mac("leaf0", "leaf1"), bundles.lacp_system_mac("leaf1", "leaf0")
    assert one == other != bundles.lacp_system_mac("leaf0", "leaf2") and int(one[:2], 16) & 3 == 2
