"""What a judgement looks at, and the networks between units made of it, against plain definitions on small mixed fabrics."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from math import gcd
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import Bound, HopSum, NotBounded
from tdsl.prove.budget import Budget
from tdsl.prove.mean_hops import mean_hops
from tdsl.prove.network import Network
from tdsl.prove.set_flow import FlowBetweenSets, max_flow_between_sets, surviving_devices_of_selectors
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import networks_of_components, unit_network
from tdsl.prove.view import View, per_set
from tests.fabrics import GBPS, Builder, claim, rail_only, random_chips, random_fabric, random_layers, selector, superpod, torus

SEEDS = range(36)


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


def sets_of(f: Fabric) -> list[int]:
    return f.device_set.tolist()


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
    f, at = view.fabric, degree(view)

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


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_view_looks_at(seed: int) -> None:
    f = mixed(seed)
    for view in views(f, seed):
        at, inner, own = degree(view), passing(view), units(view)
        n = f.device_count
        kind = [f.set_of(d).kind for d in range(n)]
        assert view.a.tolist() == [a for _, a, _ in links(view)] and view.b.tolist() == [b for _, _, b in links(view)]
        assert view.degree.tolist() == [at[d] for d in range(n)]
        assert view.is_chip.tolist() == [x == "chip" for x in kind]
        first = links(view.intact or view)
        assert view.chips_joined == any(kind[a] == kind[b] == "chip" for _, a, b in first)
        assert view.direct == (view.chips_joined or any(f.forwards[a] or f.forwards[b] for _, a, b in first))
        assert set(np.flatnonzero(view.forwards).tolist()) == inner
        assert view.units.tolist() == own
        words = {"host": "hosts", "chip": "chips", "switch": "switches"}
        assert view.unit_word == (words[kind[own[0]]] if own else "hosts")
        others = [d for d in range(n) if kind[d] in ("host", "chip") and view.devices[d] and at[d] and d not in own]
        assert view.others.tolist() == others
        assert view.trunks.tolist() == [i for i, (_, a, b) in enumerate(links(view)) if a in inner and b in inner]
        g = graph(view)
        assert view.label.tolist() == [min(nx.node_connected_component(g, v)) for v in range(n)]
        net = view.graph
        assert net.nodes == n
        listed = Counter((min(a, b), max(a, b)) for a, b in g.edges())
        both = sorted([(b, a, x) for (a, b), x in listed.items()] + [(a, b, x) for (a, b), x in listed.items()])
        assert list(zip(net.head.tolist(), net.tail.tolist(), net.capacity.tolist(), strict=True)) == both
        where = attached(view)
        found = view.attachment
        assert list(zip(*(x.tolist() for x in (found.end, found.port, found.node, found.hub)), strict=True)) == where
        access = {node for end, _, node, _ in where if end in own and node < n}
        assert set(np.flatnonzero(view.access).tolist()) == access
        assert view.names(view.units) == [f.device_name(d) for d in own]


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_a_fabric(seed: int) -> None:
    """Of a group its devices with what is in them, links among them and to endpoints; of a device all its links and what
    they lead to."""
    f = mixed(seed)
    budget = Budget(flow_work=7)
    whole = View.whole(f, budget)
    assert whole.core is f.built and whole.devices is f.built and whole.rows.tolist() == list(range(f.link_count))
    assert whole.budget is budget and whole.name == "" and whole.intact is None and whole.lost is None
    n = f.device_count
    for devices in ([*range(1, 5), *range(13, 17)], [0], [13, 17], [5, 6], [n - 1], list(range(17, n)), []):
        element = FabricElement("some", np.array(devices, dtype=np.int64))
        while more := [d for d in range(n) if int(f.container[d]) in devices and d not in devices]:
            devices = [*devices, *more]
        for device in (False, True):
            view = View.part(f, element, device, budget)
            rows = []
            for r in range(f.link_count):
                a, b = int(f.device_a[r]), int(f.device_b[r])
                inside = a in devices, b in devices
                ends = f.set_of(a).kind in ("host", "chip"), f.set_of(b).kind in ("host", "chip")
                if any(inside) if device else all(inside) or (inside[0] and ends[1]) or (inside[1] and ends[0]):
                    rows.append(r)
            assert view.rows.tolist() == rows
            reached = {*devices} | {int(x[r]) for r in rows for x in (f.device_a, f.device_b)}
            assert set(np.flatnonzero(view.devices).tolist()) == {d for d in reached if f.built[d]}
            assert set(np.flatnonzero(view.core).tolist()) == {d for d in devices if f.built[d]}
            assert (view.name, view.budget, view.intact, view.lost) == ("some", budget, None, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_views_after_failures(seed: int) -> None:
    """What failed is gone with its contents and what crosses it; units without a link are no units; failures add up."""
    f, rng = mixed(seed), Random(seed)
    whole = View.whole(f, Budget(flow_work=5))
    view, lost, gone = whole, set[int](), set[int]()
    for _ in range(2):
        failed = rng.sample(range(f.device_count), rng.randint(0, 2))
        cut = rng.sample(range(f.link_count), rng.randint(0, min(f.link_count, 3))) if rng.random() < 0.7 else None
        columns = []
        for size, chosen in ((f.device_count, failed), (f.link_count, cut or [])):
            column = np.zeros(size, dtype=np.bool_)
            column[chosen] = True
            columns.append(column)
        view = view.without(columns[0], None if cut is None else columns[1])
        dead = set(failed)
        while more := {d for d in range(f.device_count) if int(f.container[d]) in dead} - dead:
            dead |= more
        gone |= dead
        for r in range(f.link_count):
            crossed = {int(f.port_device[p]) for p in (f.link_via_a[r], f.link_via_b[r]) if p >= 0}
            if r in (cut or ()) or dead & {int(f.device_a[r]), int(f.device_b[r]), *crossed}:
                lost.add(r)
        rows = [r for r in range(f.link_count) if r not in lost]
        devices = np.array([bool(f.built[d]) and d not in gone for d in range(f.device_count)])
        left = View(f, devices, devices, np.array(rows, dtype=np.int64))
        gone |= {u for u in units(left) if not degree(left)[u]}
        assert view.rows.tolist() == rows and set(np.flatnonzero(view.lost).tolist()) == lost
        kept = [d for d in range(f.device_count) if f.built[d] and d not in gone]
        assert np.flatnonzero(view.devices).tolist() == np.flatnonzero(view.core).tolist() == kept
        assert view.intact is whole and view.budget is whole.budget and view.name == ""


def test_switches_are_units_where_there_are_no_endpoints() -> None:
    b = Builder("switches")
    b.devices("panel", b.model("panel", "PANEL", {"p": 8}), 2)
    b.devices("sw", b.model("switch", "SW", {"p": 8}), 3)
    view = View.whole(b.build())
    assert view.units.tolist() == [2, 3, 4] and view.unit_word == "switches" and view.others.tolist() == []


def test_facts_of_no_declaration() -> None:
    f = Builder("none").build()
    assert per_set(f, []).tolist() == []
    assert View.whole(f).units.tolist() == [] and View.whole(f).unit_word == "hosts"


# ---------------------------------------------------------------- networks between units


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


@pytest.mark.parametrize("seed", SEEDS)
def test_the_network_between_units(seed: int) -> None:
    f = mixed(seed)
    for view in views(f, seed):
        net = unit_network(view)
        device, rates = between_units(view)
        grain = gcd(*all_rates(view)) or 1
        assert net.device.tolist() == device and net.unit_count == len(units(view))
        assert net.rates == tuple(all_rates(view)) and net.grain == grain
        assert net.forwards.tolist() == [d in passing(view) for d in device]
        wanted = {key: x // grain for key, x in rates.items()}
        assert table(net) == wanted | {(b, a): x for (a, b), x in wanted.items()}
        if not len(net.loose.a):
            components_of(net, wanted)


def components_of(net: Network, wanted: dict[tuple[int, int], int]) -> None:
    """Every component of transit nodes with all units, in order of their lowest node."""
    g, n = nx.Graph(), net.unit_count
    g.add_nodes_from(range(n, net.nodes))
    g.add_edges_from(key for key in wanted if key[0] >= n)
    used = [sorted(c) for c in nx.connected_components(g) if any(key[0] < n and key[1] in c for key in wanted)]
    labelled = replace(net, labels=(np.arange(net.nodes) * 3,))
    found = networks_of_components(labelled)
    assert len(found) == len(used)
    for part, inner in zip(found, sorted(used), strict=True):
        nodes = [*range(n), *inner]
        assert part.device.tolist() == net.device[nodes].tolist() and part.forwards.tolist() == net.forwards[nodes].tolist()
        assert [x.tolist() for x in part.labels] == [[3 * v for v in nodes]]
        assert part.unit_count == n and part.rates == net.rates
        mine = {(nodes.index(a), nodes.index(b)): x for (a, b), x in wanted.items() if b in inner}
        assert table(part) == mine | {(b, a): x for (a, b), x in mine.items()}
        assert list(table(part)) == sorted(table(part))


@pytest.mark.parametrize("quotient", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_units_with_the_same_links_are_one_node(seed: int, quotient: bool) -> None:
    makers = (
        mixed,
        lambda s: random_fabric(s, 3, 5, 3, 4, s % 8).build(),
        lambda s: random_layers(s).build(),
        lambda s: random_chips(s).build(),
    )
    view = View.whole(makers[seed % 4](seed))
    f, net = view.fabric, unit_network(view)
    device, rates = between_units(view)
    n, grain = net.unit_count, net.grain
    near: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for (a, b), x in rates.items():
        near[a].add((b, x))
        near[b].add((a, x))
    inner = passing(view)
    single = {u for u in range(n) if not near[u] or device[u] in inner or any(w < n for w, _ in near[u])}
    groups: dict[object, list[int]] = {}
    for u in range(n):
        groups.setdefault(u if u in single or not quotient else frozenset(near[u]), []).append(u)
    nodes = sorted([*groups.values(), *([v] for v in range(n, net.nodes))], key=lambda g: device[g[0]])
    of = {v: i for i, g in enumerate(nodes) for v in g}
    made = UnitGraph.of(view, net, quotient) if seed % 2 or not quotient else UnitGraph.of(view, net)
    assert made.net is net and made.nodes == len(nodes)
    assert made.device.tolist() == [device[g[0]] for g in nodes]
    assert made.weight.tolist() == [len(g) if g[0] < n else 0 for g in nodes]
    assert made.unit_node.tolist() == [of[u] for u in range(n)]
    assert made.inner_node.tolist() == [of[v] for v in range(n, net.nodes)]
    assert made.forwards.tolist() == [device[g[0]] in inner for g in nodes]
    total: Counter[tuple[int, int]] = Counter()
    for (v, w), x in rates.items():
        total[min(of[v], of[w]), max(of[v], of[w])] += x // grain
    assert list(zip(made.a.tolist(), made.b.tolist(), strict=True)) == sorted(total)
    assert made.capacity.tolist() == [total[key] for key in sorted(total)]
    last = {}
    for r, a, b in links(view):
        if a in device and b in device and a != b:
            ends = of[device.index(a)], of[device.index(b)]
            last[min(ends), max(ends)] = int(f.link_class[r])
    assert made.kind.tolist() == [last[key] for key in sorted(total)]


# ---------------------------------------------------------------- mean hops


def hops(view: View) -> tuple[int, int, int]:
    """Over all ordered pairs of connections of different units: hops, pairs that reach each other, and all pairs."""
    own, n = set(units(view)), view.fabric.device_count
    ends = [(end, node) for end, _, node, _ in attached(view) if end in own and node < n]
    far = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph(view))))
    total = count = 0
    for u, v in ends:
        for w, x in ends:
            if u != w and x in far[v]:
                total += far[v][x]
                count += 1
    return total, count, sum(u != w for u, _ in ends for w, _ in ends)


def mean(view: View) -> None:
    total, count, most = hops(view)
    found = mean_hops(view)
    own, n = set(units(view)), view.fabric.device_count
    attached_units = {end for end, _, node, _ in attached(view) if end in own and node < n}
    if len(attached_units) < 2:
        assert isinstance(found, NotBounded)
        assert found.reasons == (f"fewer than two {view.unit_word} are attached to a switch",)
    elif not count:
        assert isinstance(found, NotBounded) and found.reasons == ("no two ends reach each other",)
    else:
        assert isinstance(found, Bound)
        assert found.lower == found.upper == Fraction(total, count)
        assert found.proof_lower == found.proof_upper == HopSum(total, count, most)


@pytest.mark.parametrize("seed", SEEDS)
def test_mean_hops_of_all_pairs(seed: int) -> None:
    for view in views(mixed(seed), seed):
        mean(view)
    for made in (random_fabric(seed), random_layers(seed), random_chips(seed, 6, 3 + seed % 9)):
        mean(View.whole(made.build()))


def test_mean_hops_of_symmetric_fabrics() -> None:
    """One search is enough where all nodes are equivalent, but for units that are connected to several nodes."""
    for made in (torus(3, 4), torus(5), torus(2, 3), superpod(2, 4, 2, 2), rail_only(), *twins()):
        mean(View.whole(made.build()))


def twins() -> list[Builder]:
    """A ring of switches with two hosts each: of one link each, of two links to one switch, and to neighbouring switches."""
    out = []
    for links_, apart in ((1, 0), (2, 0), (2, 1)):
        b = Builder("ring")
        sw = b.devices("s", b.model("switch", "SW", {"p": 12}), 5)
        node = b.devices("h", b.model("host", "NODE", {"nic": 2}, accelerators=1), 10)
        for h in range(10):
            for k in range(links_):
                b.link(b.port(node, h, "nic", k), b.free(sw, (h // 2 + k * apart) % 5))
        for s in range(5):
            b.link(b.port(sw, s, "p", 10), b.port(sw, (s + 1) % 5, "p", 11))
        out.append(b)
    return out


def test_searches_beyond_the_limit() -> None:
    """The message says from how many switches: one where all are equivalent, else one of every class."""
    for made in (torus(4, 4), superpod(2, 4, 2, 2), random_chips(3), random_layers(2), random_layers(5)):
        view = View.whole(made.build(), Budget(distance_work=0))
        own, n = set(units(view)), view.fabric.device_count
        access = {node for end, _, node, _ in attached(view) if end in own and node < n}
        number = len({frozenset(graph(view)[v]) for v in access}) if made.name != "torus" else 1
        assert mean_hops(view) == NotBounded((f"searches from {number} switches are more work than the limit",))


# ---------------------------------------------------------------- flows between two sets


def largest(view: View, here: set[int], there: set[int], cut: set[int] = frozenset()) -> int:  # type: ignore[assignment]
    """The maximum flow between two sets by networkx, without the links of a cut."""
    f, g = view.fabric, nx.Graph()
    g.add_nodes_from(["from", "to"])
    pass_ = passing(view) | here | there
    for r, a, b in links(view):
        if r in cut or a not in pass_ or b not in pass_:
            continue
        ends = ["from" if d in here else "to" if d in there else str(d) for d in (a, b)]
        if ends[0] != ends[1]:
            before = g.get_edge_data(*ends, {"capacity": 0})["capacity"]
            g.add_edge(*ends, capacity=before + int(f.link_rate[r]))
    return int(nx.maximum_flow_value(g, "from", "to"))


def named(view: View, paths: tuple[str, ...]) -> set[int]:
    """The units of every element with its contents, or all of it where none was there before failures; those that are left."""
    own = set(units(view.intact or view))
    out: set[int] = set()
    for path in paths:
        for e in selector(view.fabric, path).elements:
            inside = set(e.devices.tolist())
            while more := {d for d in range(view.fabric.device_count) if int(view.fabric.container[d]) in inside} - inside:
                inside |= more
            out |= inside & own or inside
    return {d for d in out if view.devices[d]}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_flow_between_two_sets(seed: int) -> None:
    f = mixed(seed)
    rng = Random(seed)
    for view in views(f, seed):
        for _ in range(3):
            one, two = (
                tuple(rng.sample(["pod", "node", "gpu", "card", "spine", "store", "x"], rng.choice([1, 1, 2]))) for _ in "ab"
            )
            asked = claim(f, "throughput", of=tuple(selector(f, p) for p in one), of_to=tuple(selector(f, p) for p in two))
            here, there = named(view, one), named(view, two)
            assert set(np.flatnonzero(surviving_devices_of_selectors(view, asked.of)).tolist()) == here
            found = max_flow_between_sets(view, asked)
            if here & there:
                assert found == f"{f.device_name(min(here & there))} is on both sides"
                continue
            if not here or not there:
                assert found == "nothing that it names is left"
                continue
            pass_ = passing(view) | here | there
            sums = []
            for mine in (here, there):
                rows = [r for r, a, b in links(view) if (a in mine) != (b in mine) and {a, b} <= pass_]
                sums.append(sum(int(f.link_rate[r]) for r in rows))
            if not min(sums):
                assert found == "one of the two has no link"
                continue
            assert isinstance(found, FlowBetweenSets)
            value = largest(view, here, there)
            assert found.bound.lower == found.bound.upper == value and found.full == min(sums)
            assert set(np.flatnonzero(found.here).tolist()) == here and set(np.flatnonzero(found.there).tolist()) == there
            cut = found.cut.tolist()
            assert sum(int(f.link_rate[r]) for r in cut) == value and largest(view, here, there, set(cut)) == 0
            balance: Counter[int] = Counter()
            ends: Counter[tuple[int, int]] = Counter()
            for r, a, b in links(view):
                side = tuple(-2 if d in here else -1 if d in there else d for d in (a, b))
                ends[side] += int(f.link_rate[r])
                ends[side[::-1]] += int(f.link_rate[r])
            for a, b, x in found.bound.proof_lower.arcs:
                assert 0 < x <= ends[a, b]
                balance[a] += x
                balance[b] -= x
            assert {d: x for d, x in balance.items() if x} == ({-2: value, -1: -value} if value else {})
            crossed = found.bound.proof_upper.arcs
            assert {x for _, _, x in crossed} <= {1}
            assert sum(ends[a, b] for a, b, _ in crossed) == value
