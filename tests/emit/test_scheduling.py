"""Groups of hosts for schedulers against their definition, by networkx on small random fabrics."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import tdsl
from tdsl.emit.build import build_files
from tdsl.emit.data.scheduling import host_blocks, host_groups, hosts_without_common_switch
from tdsl.emit.records import HostGroup
from tdsl.findings.diagnostic import Diagnostics
from tests.tables import sections


def wires(seed: int) -> Any:
    """Hosts, chips and switches in any order; links from low tiers to high ones, some between switches of one tier."""
    rng = Random(seed)
    size = rng.randrange(4, 16)
    tiers = [rng.choice((0, 0, 0, 1, 1, 2, 2, 3, 3, 4)) for _ in range(size)]
    tiers = [t if rng.random() < 0.95 else -1 for t in tiers]
    switch = [t != 0 for t in tiers]
    kind = ["switch" if s else rng.choice(("host", "host", "host", "chip")) for s in switch]
    some = rng.random() < 0.7
    role = ["accelerator" if not s and (some and rng.random() < 0.7) else "" for s in switch]
    links = []
    for _ in range(rng.randrange(1, 2 * size)):
        a, b = sorted(rng.sample(range(size), 2), key=lambda d: (tiers[d], d))
        if tiers[a] == tiers[b] == 0 and rng.random() < 0.7:
            continue
        if tiers[b] - tiers[a] <= 1 or rng.random() < 0.3:
            links.append((a, b))
    near = {d for link in links for d in link}
    built = [d in near or rng.random() < 0.8 for d in range(size)]
    names = [f"h{d}" for d in range(size)]
    for d in np.flatnonzero(switch).tolist():
        names[d] = f"s{rng.randrange(3)}{'-up' * rng.randrange(2)}"
    fabric = SimpleNamespace(
        is_switch=np.array(switch), built=np.array(built), kind=np.array(kind), role=np.array(role), tier=np.array(tiers),
        device_count=size, device_a=np.array([a for a, _ in links], dtype=np.int64),
        device_b=np.array([b for _, b in links], dtype=np.int64), forwards=np.zeros(size, dtype=np.bool_),
        link_a=np.zeros(len(links), dtype=np.int64), link_b=np.zeros(len(links), dtype=np.int64),
        port_base=np.zeros(size, dtype=np.int64), device_model=np.zeros(size, dtype=np.int64),
        link_rate=np.ones(len(links), dtype=np.int64),
        models=[SimpleNamespace(classes=[SimpleNamespace(name="p", first=0)], layout=())],
    )  # fmt: skip
    return SimpleNamespace(fabric=fabric, devices=SimpleNamespace(name=np.array(names, dtype=object)))


def groups_by_definition(w: Any) -> tuple[tuple[HostGroup, ...], ...]:
    """Level by level: hosts that links up to a tier join, at last those that any links join; other hosts pass nothing on."""
    f, names = w.fabric, w.devices.name.tolist()
    size, tier = f.device_count, f.tier.tolist()
    links = list(zip(f.device_a.tolist(), f.device_b.tolist(), strict=True))
    cabled = {a for a, b in links if f.is_switch[b]}
    hosts = [d for d in range(size) if f.built[d] and f.kind[d] == "host"]
    if any(f.role[d] == "accelerator" for d in hosts):
        hosts = [d for d in hosts if f.role[d] == "accelerator"]
    hosts = [d for d in hosts if d in cabled]
    others = {d for d in range(size) if f.kind[d] == "host" and d not in hosts}
    links = [(a, b) for a, b in links if not {a, b} & others]
    high = max([1] + [tier[d] for d in range(size) if f.is_switch[d] and f.built[d]])
    levels: list[tuple[HostGroup, ...]] = []
    below: list[set[int]] = []
    taken: set[str] = set()
    for level in range(1, high + 2) if hosts else ():
        graph = nx.Graph()
        graph.add_nodes_from(range(size))
        graph.add_edges_from((a, b) for a, b in links if level > high or (tier[a] != tier[b] and max(tier[a], tier[b]) <= level))
        parts = [p for p in nx.connected_components(graph) if p & set(hosts)]
        parts.sort(key=lambda p: min(p & set(hosts)))
        if levels and len(parts) == len(below):
            continue
        made = []
        for part in parts:
            switches = [d for d in sorted(part) if f.is_switch[d] and f.built[d] and tier[d] <= level]
            top = max((tier[d] for d in switches), default=0)
            mine = [h for h in hosts if h in part]
            name = next((names[d] for d in switches if tier[d] == top), names[mine[0]])
            while name in taken:
                name += "-up"
            inner = tuple(g.name for g, m in zip(levels[-1], below, strict=True) if m & part) if levels else ()
            made.append(HostGroup(name, tuple(names[h] for h in mine), inner))
        taken |= {g.name for g in made}
        levels.append(tuple(made))
        below = [p & set(hosts) for p in parts]
        if len(parts) == 1:
            break
    return tuple(levels)


def test_groups_of_random_fabrics() -> None:
    heights = set()
    for seed in range(150):
        made = wires(seed)
        wanted = groups_by_definition(made)
        assert host_groups(made) == wanted, seed
        heights.add(len(wanted))
    assert heights >= {0, 1, 2, 3}


def test_blocks_are_domains_and_the_rest() -> None:
    domains = (HostGroup("rack0", ("a", "c"), ()), HostGroup("rack1", ("d", "e"), ()))
    lowest = (HostGroup("s0", ("a", "b"), ("x",)), HostGroup("s1", ("c", "d"), ()), HostGroup("s2", ("f",), ()))
    highest = (HostGroup("top", ("a", "b", "c", "d", "f"), ("s0", "s1", "s2")),)
    assert host_blocks(domains, (lowest, highest)) == (*domains, HostGroup("s0", ("b",), ()), HostGroup("s2", ("f",), ()))
    assert host_blocks((), (highest,)) == (HostGroup("top", ("a", "b", "c", "d", "f"), ()),)
    assert host_blocks(domains, ()) == domains and host_blocks((), ()) == ()


MODELS = sections(__file__)["models"]
BESIDE = (
    "host filer: F { role storage }\n connect filer.p[i] to rack[i].leaf",
    "host boss: F { role manager }\n connect boss.p[i] to rack[i].leaf",
    "switch mgmt: M\n connect rack[r].node[n].bmc to mgmt",
    "switch store: SW\n connect rack[r].node[n].store[*] to store",
)


@pytest.mark.parametrize("beside", BESIDE)
def test_what_carries_no_traffic_of_jobs_joins_nothing(tmp_path: Path, beside: str) -> None:
    """A manager, a filer or a management switch that is cabled to both racks: a leaf for each rack all the same."""
    (tmp_path / "f.fab").write_text(f"{MODELS}{beside}\n}}")
    files = tdsl.build(tdsl.load(tmp_path / "f.fab"), ["slurm"])
    tree = next(text.decode() for name, text in files.items() if name.endswith("topology.conf"))
    assert tree.splitlines()[1:] == [
        "SwitchName=rack0-leaf Nodes=rack0-node[0-2]",
        "SwitchName=rack1-leaf Nodes=rack1-node[0-2]",
        "SwitchName=spine0 Switches=rack0-leaf,rack1-leaf",
    ]


@pytest.mark.parametrize("seed", range(40))
def test_two_of_a_lowest_group_without_a_common_switch_are_told(seed: int) -> None:
    """Against every pair of hosts of every lowest group, by the links that join them."""
    w = wires(seed)
    f, names = w.fabric, w.devices.name.tolist()
    near: dict[str, set[int]] = {}
    for a, b in zip(f.device_a.tolist(), f.device_b.tolist(), strict=True):
        if (f.is_switch[b] and 0 <= f.tier[b] <= 1) or (f.is_switch[b] and f.tier[f.is_switch & f.built].max(initial=1) < 1):
            near.setdefault(names[a], set()).add(b)
    levels = host_groups(w)
    apart = [
        {x, y}
        for g in (levels[0] if levels else ())
        for x in g.hosts
        for y in g.hosts
        if x < y and not near.get(x, set()) & near.get(y, set())
    ]
    found = hosts_without_common_switch(w)
    assert (found is None) == (not apart)
    assert found is None or set(found) in apart


def test_hosts_in_a_ring_of_leaves_are_told(tmp_path: Path) -> None:
    """Each host at two of four leaves, the next one at the next two: one group, of which opposite hosts share nothing."""
    (tmp_path / "ring.fab").write_text(
        "model host H { port p[2]: 400Gbps { type GE400 } }\nmodel switch S { port p[1..8]: 400Gbps { type GE400 } }\n"
        "fabric f { transport ethernet; host n[4]: H; switch leaf[4]: S; connect n[k].p[i] to leaf[(k + i) % 4] }\n"
    )
    (design,) = tdsl.check(tmp_path / "ring.fab").designs
    assert design.fabric is not None
    found = Diagnostics()
    build_files(design.fabric, ["slurm"], found)
    assert ["n0 and n2 for near" in d.message for d in found if "no switch in common" in d.message] == [True]
