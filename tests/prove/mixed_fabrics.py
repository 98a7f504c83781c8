"""Small fabrics of every kind of device, and plain definitions of what a view of one contains."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.network import Network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, selector


def mixed(seed: int) -> Fabric:
    """Hosts with chips in them, alone or wired; storage, a manager, switches in chassis, a panel; some of it is not built, and
    some hosts forward what is not theirs."""
    rng = Random(seed)
    b = Builder("mixed")
    roles = ["accelerator", "accelerator", "", "storage"]
    panel = b.devices("panel", b.model("panel", "PANEL", {"p": 16}), 1)
    role = rng.choice(roles)
    node = b.devices("pod.node", b.model("host", "NODE", {"nic": 20}), 2, 2, role=role)
    gpu = b.devices("pod.node.gpu", b.model("chip", "GPU", {"p": 20}), 2, 2, 2, inside=node, role=rng.choice(["accelerator", ""]))
    chassis = b.devices("pod.box", b.model("switch", "BOX", {"p": 20}), 2, 1)
    card = b.devices("pod.box.card", b.model("switch", "CARD", {"p": 40}), 2, 1, 2, inside=chassis)
    spine = b.devices("spine", b.model("switch", "SW", {"p": 40}), 2)
    store = b.devices("store", b.model("host", "STORE", {"nic": 20}), 2, role=rng.choice(["storage", "manager"]))
    alone = b.devices("x", b.model("chip", "X", {"p": 20}), 2, role=rng.choice(roles))
    b.connect("connect one")
    b.connect("connect two")
    likely = {node: 4, card: 6, spine: 4, store: 1, chassis: 1, panel: 0}
    likely |= {gpu: rng.choice([0, 0, 3]), alone: rng.choice([0, 0, 2])}
    if seed % 7 == 0:  # hardly a switch
        likely |= {card: 0, spine: 0, chassis: 0, gpu: 4, node: 1}
    pool = [s for s, n in likely.items() for _ in range(n)]
    for _ in range(rng.randint(0, 22) if seed else 0):
        one, two = rng.choice(pool), rng.choice(pool)
        v, w = rng.randrange(one.count), rng.randrange(two.count)
        if one is not two or v != w:
            b.link(
                b.free(one, v),
                b.free(two, w),
                rng.choice([1, 4, 4]) * (GBPS if seed % 2 else 1),
                cls=rng.choice(["a", "b"]),
                statement=rng.randrange(2),
            )
    if seed % 4 == 1:
        b.omit(rng.choice([node.first, spine.first + 1, store.first]))
    if seed % 5 == 2:
        b.omit(gpu.first + 1)
    f = b.build()
    if seed % 6 == 3:
        f = replace(f, sets=tuple(replace(s, settings={"forwards": True}) if s.name == "node" else s for s in f.sets))
    crossed = np.array([rng.random() < 0.1 for _ in range(f.link_count)], dtype=np.bool_)
    return replace(f, link_via_a=np.where(crossed, f.port_base[panel.first], -1))


def links(view: View) -> list[tuple[int, int, int]]:
    """Row, lower and upper device of every link looked at."""
    f = view.fabric
    return [(r, int(f.device_a[r]), int(f.device_b[r])) for r in view.rows.tolist()]


def degree(view: View) -> Counter[int]:
    return Counter(d for _, a, b in links(view) for d in (a, b))


def passing(view: View) -> set[int]:
    """What forwards: switches, what the design says does, and all chips where chips are joined to chips."""
    f = view.fabric
    first = view.intact or view
    chips = {d for d in range(f.device_count) if f.set_of(d).kind == "chip"}
    out = {d for d in range(f.device_count) if f.set_of(d).kind == "switch"} | set(np.flatnonzero(f.forwards).tolist())
    return out | chips if any(a in chips and b in chips for _, a, b in links(first)) else out


def units(view: View) -> list[int]:
    f, at = view.fabric, degree(view.intact or view)

    def wired(s: int) -> bool:
        return any(at[d] for d in range(f.device_count) if f.device_set[d] == s)

    opened = {s.inside.index for s in f.sets if s.inside is not None and s.kind == "chip" and wired(s.index)}
    ends = [s.kind in ("host", "chip") and s.index not in opened and (s.inside is None or wired(s.index)) for s in f.sets]
    roles = [s.role if s.kind in ("host", "chip") else "-" for s in f.sets]
    main = next((r for r in ("accelerator", "") if r in roles), None)
    wanted = [end and (main is None or role == main) for end, role in zip(ends, roles, strict=True)]
    for other in (ends, [s.kind == "switch" for s in f.sets]):
        if not any(wanted):
            wanted = other
    return [d for d in range(f.device_count) if wanted[f.device_set[d]] and view.devices[d]]


def graph(view: View) -> nx.MultiGraph:
    """What forwards, and the links between."""
    g = nx.MultiGraph()
    g.add_nodes_from(range(view.fabric.device_count))
    inner = passing(view)
    g.add_edges_from((a, b) for _, a, b in links(view) if a in inner and b in inner)
    return g


def attached(view: View) -> list[tuple[int, int, int, int]]:
    """End, its port, where it is connected, and the component of that."""
    f, inner, own = view.fabric, passing(view), units(view)
    hub = {v: min(c) for c in nx.connected_components(graph(view)) for v in c}
    rows = [(r, int(f.link_a[r]), int(f.link_b[r]), a, b) for r, a, b in links(view)]
    out = [(a, p, b, hub[b]) for _, p, _, a, b in rows if a not in inner and b in inner]
    out += [(b, q, a, hub[a]) for _, _, q, a, b in rows if a in inner and b not in inner]
    begins = {d for d in range(f.device_count) if f.set_of(d).kind in ("host", "chip")} | set(own)
    out += [(d, -1, d, hub[d]) for d in sorted(inner & begins) if view.devices[d]]
    loose = [x for x in rows if x[3] not in inner and x[4] not in inner]
    out += [(x[3], x[1], f.device_count + i, f.device_count + i) for i, x in enumerate(loose)]
    return out + [(x[4], x[2], f.device_count + i, f.device_count + i) for i, x in enumerate(loose)]


def views(f: Fabric, seed: int) -> list[View]:
    """The whole, a group, a device, and both whole and group after failures."""
    rng = Random(seed)
    pods = selector(f, "pod").elements
    out = [View.whole(f)]
    out += [View.part(f, e, False) for e in pods]
    one = rng.randrange(f.device_count)
    out.append(View.part(f, FabricElement("one", np.array([one])), True))
    failed = np.zeros(f.device_count, dtype=np.bool_)
    failed[rng.sample(range(f.device_count), 2)] = True
    cut = np.array([rng.random() < 0.2 for _ in range(f.link_count)], dtype=np.bool_)
    first = out[0].without(failed)
    out += [first, out[1].without(failed, cut), first.without(np.zeros_like(failed), cut)]
    return out


def between_units(view: View) -> tuple[list[int], dict[tuple[int, int], int]]:
    """Units, then what forwards for them; and the rates between these, the lower place first."""
    f, own = view.fabric, units(view)
    device = own + [d for d in sorted(passing(view)) if view.devices[d] and d not in own]
    place = {d: i for i, d in enumerate(device)}
    rates: Counter[tuple[int, int]] = Counter()
    for r, a, b in links(view):
        if a in place and b in place and a != b:
            rates[min(place[a], place[b]), max(place[a], place[b])] += int(f.link_rate[r])
    return device, dict(rates)


def all_rates(view: View) -> list[int]:
    f, (device, _) = view.fabric, between_units(view)
    return sorted({int(f.link_rate[r]) for r, a, b in links(view) if a in device and b in device and a != b})


def table(net: Network) -> dict[tuple[int, int], int]:
    return {(h, t): x for h, t, x in zip(net.head.tolist(), net.tail.tolist(), net.capacity.tolist(), strict=True)}
