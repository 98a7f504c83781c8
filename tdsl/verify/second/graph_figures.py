"""Figures by networkx: components, distances, flows and counts over the graph of the fabric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

from tdsl.fabric.as_networkx import cables_of
from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import HOLE
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.second.answer import (
    NETWORKX,
    Limits,
    MethodTooLarge,
    NoOpinion,
    SecondAnswer,
    exact_answer,
    yes_or_no_answer,
)
from tdsl.verify.second.selection import Chosen
from tdsl.verify.second.wiring import ENDS, WiringGraph

Method = Callable[[WiringGraph, ResolvedClaim | None, Limits], SecondAnswer]


def refuse_too_many_steps(steps: int, limits: Limits, size: str) -> None:
    """Refuse what is too much work."""
    if steps > limits.steps:
        raise MethodTooLarge(NETWORKX, f"{size}, {steps:,} steps", f"{limits.steps:,}")


# ---------------------------------------------------------------- components


def reachability_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Whether all units, or all their ports, reach a common component of the forwarding devices, pair by
    pair."""
    if not w.units:
        raise NoOpinion("there is no device that traffic could begin at")
    of_ports = claim is not None and w.of_all_ports(claim)
    scaleup = claim is not None and claim.through == "scaleup"
    if scaleup and w.fabric.whole is not None:
        return _reachability_through_domains(w, of_ports, limits)
    if not of_ports and any(not w.graph.degree(u) for u in w.units):
        return yes_or_no_answer(NETWORKX, False)
    kinds = {x for u in w.units for x in _components_of_endpoints(w, u, of_ports, scaleup)}
    joined = _all_reach_each_other(w, kinds, limits)
    bare = any(not w.graph.degree(u) for u in w.units)
    return yes_or_no_answer(NETWORKX, joined and not bare)


def _components_of_endpoints(
    w: WiringGraph, unit: int, of_ports: bool, scaleup: bool
) -> list[frozenset[int]]:
    """The components that a unit with a link reaches: of each port, unless traffic passes from one to
    another through the unit, or of all together."""
    reached = [component for _, component in w.attachments[unit]]
    joined = scaleup and has_complete_scaleup(w.fabric.model_of(unit))
    if of_ports and unit not in w.forwards and not joined:
        return [frozenset([component]) for component in reached]
    return [frozenset(reached)] if reached else []


def _all_reach_each_other(w: WiringGraph, kinds: set[frozenset[int]], limits: Limits) -> bool:
    """Whether endpoints with these components all have one in common, pair by pair, and other linked
    endpoints one with some of them."""
    refuse_too_many_steps(len(kinds) ** 2, limits, f"{len(kinds)} kinds of ends")
    served = frozenset[int]().union(*kinds)
    stray = any(served.isdisjoint(component for _, component in w.attachments[d]) for d in w.others)
    return not stray and all(one & two for one, two in combinations(kinds, 2))


def _reachability_through_domains(w: WiringGraph, of_ports: bool, limits: Limits) -> SecondAnswer:
    """The same where scale-up links may be used before and behind the network: hosts have the components of
    all hosts that they share scale-up links with; ports, those of all hosts of their domain."""
    own = {u: {component for _, component in w.attachments[u]} for u in w.units}
    kinds = _components_of_domains(w, own) if of_ports else _components_with_scaleup_links(w, own)
    joined = _all_reach_each_other(w, kinds, limits)
    apart = of_ports and any(not w.graph.degree(u) for u in w.units)
    alone = not of_ports and frozenset() in kinds
    return yes_or_no_answer(NETWORKX, joined and not apart and not alone)


def _components_of_domains(w: WiringGraph, own: Mapping[int, set[int]]) -> set[frozenset[int]]:
    """The components of each scale-up domain that has some: those of all its units."""
    from tdsl.verify.second.patterns import unit_scaleup_domains

    if w.forwards & set(w.units):
        raise NoOpinion("domains of a fabric that is direct have no second method")
    groups: dict[int, set[int]] = {}
    for u, domain in unit_scaleup_domains(w)[0].items():
        groups.setdefault(domain, set()).add(u)
    found = [frozenset[int]().union(*(own[u] for u in mine)) for mine in groups.values()]
    return {components for components in found if components}


def _components_with_scaleup_links(w: WiringGraph, own: Mapping[int, set[int]]) -> set[frozenset[int]]:
    """The components of each unit: its own, and those of units that it shares scale-up links with, which are
    one more component."""
    import networkx

    owner = {d: u for u in w.units for d in w.both_layers.contents([u])}
    reached = {u: set(found) for u, found in own.items()}
    for k, members in enumerate(networkx.connected_components(w.scaleup)):
        mine = {owner[d] for d in members if d in owner}
        for u in mine if len(mine) > 1 else ():
            reached[u] |= {-(10**9) - k}.union(*(own[v] for v in mine))
    return {frozenset(components) for components in reached.values()}


def has_complete_scaleup(model: DeviceModel) -> bool:
    """Whether a model's own links of the layer ``scaleup`` join all its accelerators."""
    import networkx

    chips = {(c.name, i) for c in model.chips if c.accelerates for i in range(c.size)}
    if len(chips) < 2:
        return bool(chips)
    graph: networkx.Graph[tuple[str, int]] = networkx.Graph(
        (x.a, x.b) for x in model.links if x.layer == "scaleup"
    )
    return any(chips <= part for part in networkx.connected_components(graph))


def taper_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Edges between ends and forwarding devices of each element over those that lead out of it, the largest
    ratio."""
    assert claim is not None
    worst = Fraction(0)
    for path in w.chosen(claim, "of"):
        for devices in path.elements:
            whole = w.contents(devices)
            mine = w.forwards & whole
            inside = out = 0
            for d in mine:
                for _, other, rate in w.graph.edges(d, data="rate_bps"):
                    inside += rate if w.kind(other) in ENDS else 0
                    out += rate if other in w.forwards and other not in whole else 0
            if inside and not out:
                return exact_answer(NETWORKX, float("inf"))
            worst = max(worst, Fraction(inside, out)) if inside else worst
    return exact_answer(NETWORKX, worst)


def plane_isolation_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Whether no component of forwarding devices has members of two planes."""
    planes: dict[int, set[int]] = {}
    for d in w.forwards:
        if w.fabric.plane[d] >= 0:
            planes.setdefault(w.component[d], set()).add(int(w.fabric.plane[d]))
    return yes_or_no_answer(NETWORKX, all(len(found) == 1 for found in planes.values()))


def blast_radius_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Each element fails alone; endpoints that then have no path to another unit."""
    assert claim is not None
    if claim.through:
        raise NoOpinion("scale-up domains have no second method")
    if any(s.ports for s in claim.of) or claim.of_to or claim.any_of:
        raise NoOpinion("only devices and groups are failed a second time")
    elements = elements_that_may_fail(w, claim)
    refuse_too_many_steps(
        len(elements) * 8 * w.graph.number_of_edges(),
        limits,
        f"{len(elements)} elements, {w.graph.number_of_edges()} links",
    )
    used = {u: len(w.attachments[u]) if w.graph.degree(u) else 0 for u in w.units}
    worst = 0
    for failed in elements:
        left = w.without(failed.devices)
        live = {u: min(n, used[u]) for u, n in _connected_endpoints_by_unit(left).items()}
        worst = max(worst, sum(n - live.get(u, 0) for u, n in used.items()))
    return exact_answer(NETWORKX, worst)


def _connected_endpoints_by_unit(w: WiringGraph) -> dict[int, int]:
    """Endpoints of every unit from which another unit can be reached."""
    at: dict[int, set[int]] = {}
    for u in w.units:
        for _, component in w.attachments.get(u, ()):
            at.setdefault(component, set()).add(u)
    return {u: sum(len(at[c]) > 1 for _, c in w.attachments.get(u, ())) for u in w.units}


@dataclass(frozen=True, slots=True)
class FailingElement:
    """What fails together: devices, and rows of links."""

    devices: frozenset[int] = frozenset()
    links: frozenset[int] = frozenset()


def union_of_elements(elements: Iterable[FailingElement]) -> tuple[frozenset[int], frozenset[int]]:
    """All devices and all links of some elements."""
    chosen = list(elements)
    return frozenset().union(*(e.devices for e in chosen)), frozenset().union(*(e.links for e in chosen))


# Long as there are many kinds of elements: one branch for each.
def elements_that_may_fail(
    w: WiringGraph, claim: ResolvedClaim, beside: bool = False
) -> list[FailingElement]:
    """The elements that a claim about failures names: devices and groups, or the links, ports, cables, cages
    or bundles of them; where ``beside``, also devices beside the network."""
    what = _kind_that_fails(claim)
    if not what:
        return _devices_that_fail(w, claim, set(w.both_layers.graph) if beside else set(w.graph))
    if beside:
        raise NoOpinion("scale-up links that fail have no second method")
    here, there = _ports_of_paths(w, w.chosen(claim, "of")), _ports_of_paths(w, w.chosen(claim, "of_to"))
    ends = _ends_of_links_between(w, here, there if claim.of_to else None)
    if what == "links":
        return [FailingElement(links=frozenset([row])) for row in ends]
    if what == "cables":
        return _cables_with_links(w, set(ends))
    if what == "bundles":
        return _bundles_with_links(w, set(ends))
    if what not in ("ports", "cages"):
        raise NoOpinion(f"failures of {what} have no second method")
    ports = _ports_of_links(ends, here, there if claim.of_to else None)
    return _ports_or_cages(w, ports, what == "cages")


def _ports_of_links(ends: Mapping[int, tuple[int, int]], here: set[int], there: set[int] | None) -> list[int]:
    """The ports of links among those ``here``, with the other end ``there`` if given. Both ports of a link
    are elements of their own, although the same link fails with each."""
    both_ways = [x for both in ends.values() for x in (both, both[::-1])]
    return [port for port, far in both_ways if port in here and (there is None or far in there)]


def _kind_that_fails(claim: ResolvedClaim) -> str:
    """What a claim fails: `links`, `ports` and so on; "" for devices and groups."""
    return claim.any_of or ("links" if claim.of_to or any(s.ports for s in claim.of) else "")


def _devices_that_fail(w: WiringGraph, claim: ResolvedClaim, there: set[int]) -> list[FailingElement]:
    """The devices and groups that a claim names, each once, of which something is there."""
    found = {devices: None for path in w.chosen(claim, "of") for devices in path.elements}
    return [FailingElement(devices) for devices in found if devices & there]


def _ports_or_cages(w: WiringGraph, ports: Iterable[int], cages: bool) -> list[FailingElement]:
    """The links of each port, or of the cage that it is in, each once for its device."""
    held = {
        (int(w.fabric.port_device[port]), frozenset(_links_of_port(w, port, cages))): None for port in ports
    }
    return [FailingElement(links=found) for _, found in held]


def _ends_of_links_between(
    w: WiringGraph, here: set[int], there: set[int] | None
) -> dict[int, tuple[int, int]]:
    """The ports of every link with an end here, or between two sets, by its row and in the order of rows."""
    rows = [row for *_, row in sorted(w.graph.edges(keys=True), key=lambda e: e[2])]
    ends = {row: (int(w.fabric.link_a[row]), int(w.fabric.link_b[row])) for row in rows}
    return {row: both for row, both in ends.items() if _link_joins_sets(both, here, there)}


def _cables_with_links(w: WiringGraph, chosen: set[int]) -> list[FailingElement]:
    """The cables of some links, each with all links that run through it."""
    through: dict[str, set[int]] = {}
    for row, ids in cables_of(w.fabric).items():
        for name in ids:
            through.setdefault(name, set()).add(row)
    return [FailingElement(links=frozenset(found)) for found in through.values() if found & chosen]


def _bundles_with_links(w: WiringGraph, chosen: set[int]) -> list[FailingElement]:
    """The bundles of some links, each with all its links."""
    joined: dict[int, set[int]] = {}
    for row, number in enumerate(w.fabric.link_bundle.tolist()):
        joined.setdefault(number, set()).add(row)
    return [
        FailingElement(links=frozenset(found))
        for number, found in joined.items()
        if number >= 0 and found & chosen
    ]


def _link_joins_sets(ends: tuple[int, int], here: set[int], there: set[int] | None) -> bool:
    """Whether a link has an end here; or, of two sets of ports, one in each."""
    a, b = ends
    return (
        a in here or b in here if there is None else (a in here and b in there) or (b in here and a in there)
    )


def _ports_of_paths(w: WiringGraph, paths: Iterable[Chosen]) -> set[int]:
    """Ports that paths name: those of a port path, else all of the devices and of what these contain."""
    f, out, devices = w.fabric, set[int](), set[int]()
    for path in paths:
        if path.ports is not None:
            out |= path.ports
        else:
            devices |= set().union(*path.elements)
    for d in w.contents(devices):
        out |= set(range(int(f.port_base[d]), int(f.port_base[d + 1])))
    return out


def _links_of_port(w: WiringGraph, port: int, cage: bool) -> set[int]:
    """The link of a port; of a port in a cage, the links of all ports in it."""
    f = w.fabric
    name = f.port_cage(port) if cage else ""
    device = int(f.port_device[port])
    ports = (
        [p for p in range(int(f.port_base[device]), int(f.port_base[device + 1])) if f.port_cage(p) == name]
        if name
        else [port]
    )
    return {int(f.port_link[p]) for p in ports if f.port_link[p] >= 0}


# ---------------------------------------------------------------- distances


def _distances_from_access_devices(w: WiringGraph, limits: Limits) -> Iterator[tuple[int, Mapping[int, int]]]:
    """From every forwarding device that units are connected to, links to all that it reaches."""
    import networkx

    steps = len(w.access) * (w.inner.number_of_edges() + w.inner.number_of_nodes())
    refuse_too_many_steps(
        steps, limits, f"{len(w.access)} sources, {w.inner.number_of_edges()} pairs with links"
    )
    for source in sorted(w.access):
        yield source, networkx.single_source_shortest_path_length(w.inner, source)


def diameter_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The greatest distance between two forwarding devices that units are connected to."""
    if not w.access:
        raise NoOpinion("no end is attached to a switch")
    return exact_answer(
        NETWORKX,
        max(
            far
            for _, to in _distances_from_access_devices(w, limits)
            for d, far in to.items()
            if d in w.access
        ),
    )


def mean_hops_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The mean distance over all ordered pairs of ports of different units that reach each other."""
    ends: dict[int, dict[int, int]] = {}  # forwarding device: ports of each unit there
    for u in w.units:
        for node, _ in w.attachments[u]:
            if node >= 0:
                ends.setdefault(node, {})[u] = ends.get(node, {}).get(u, 0) + 1
    total = pairs = 0
    count = {node: sum(of.values()) for node, of in ends.items()}
    refuse_too_many_steps(len(ends) ** 2, limits, f"{len(ends)} switches with ends")
    for source, to in _distances_from_access_devices(w, limits):
        for other, far in to.items():
            if other in ends:
                own = sum(n * ends[other].get(u, 0) for u, n in ends[source].items())
                between = count[source] * count[other] - own
                total, pairs = total + far * between, pairs + between
    if not pairs:
        raise NoOpinion("no two ends reach each other")
    return exact_answer(NETWORKX, Fraction(total, pairs))


# ---------------------------------------------------------------- flows


def _unit_pairs_by_kind(w: WiringGraph, near: Callable[[int], object]) -> list[tuple[int, int]]:
    """Pairs of units of which one is the worst: units with the very same links can be exchanged, so two of
    each kind do."""
    kinds: dict[object, list[int]] = {}
    for u in w.units:
        kinds.setdefault(("alone", u) if u in w.forwards else near(u), []).append(u)
    some = [u for members in kinds.values() for u in members[:2]]
    return list(combinations(some, 2))


def edge_redundancy_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The least maximum flow between two units over links of capacity one; third units that do not forward
    are left out."""
    from networkx.algorithms.flow import shortest_augmenting_path

    if len(w.units) < 2:
        raise NoOpinion("there are fewer than two units")
    net = w.among(w.forwards | set(w.units), bundled=True)
    if (
        set(w.units) <= w.forwards
    ):  # links of one graph: one unit against each other suffices (Gomory and Hu 1961)
        pairs = [(w.units[0], v) for v in w.units[1:]]
    else:
        pairs = _unit_pairs_by_kind(
            w, lambda u: frozenset((v, facts["links"]) for v, facts in net.adj[u].items())
        )
    least = min(net.degree(u, weight="links") for u in w.units)
    if least < 2:
        return exact_answer(NETWORKX, min(least, _all_units_have_paths(w)))
    refuse_too_many_steps(
        len(pairs) * 4 * (net.number_of_edges() + 1) * (least + 1),
        limits,
        f"{len(pairs)} pairs, {net.number_of_edges()} links",
    )
    for u, v in pairs:
        if least:
            least = min(
                least,
                _max_flow_value(
                    _graph_without_other_units(net, w.forwards, u, v),
                    u,
                    v,
                    "links",
                    shortest_augmenting_path,
                    cutoff=least,
                ),
            )
    return exact_answer(NETWORKX, least)


def _all_units_have_paths(w: WiringGraph) -> bool:
    """Whether every two units have a path."""
    kinds = {frozenset(component for _, component in w.attachments[u]) for u in w.units}
    return all(one & two for one, two in combinations(kinds, 2)) and all(kinds)


def _graph_without_other_units(net: Any, forwards: Iterable[int], u: int, v: int) -> Any:
    return net.subgraph({*forwards, u, v})


def _max_flow_value(graph: Any, u: int, v: int, capacity: str, method: Any, **more: Any) -> int:
    import networkx

    return int(networkx.maximum_flow_value(graph, u, v, capacity=capacity, flow_func=method, **more))


def node_redundancy_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The least number of paths between two units that share no forwarding device; a link of the two is one
    path."""
    import networkx
    from networkx.algorithms.connectivity import local_node_connectivity

    if len(w.units) < 2:
        raise NoOpinion("there are fewer than two units")
    net = w.among(w.forwards | set(w.units))
    edges = net.number_of_edges() + net.number_of_nodes() + 1
    least = min(len(net.adj[u]) for u in w.units)
    if least < 2:
        return exact_answer(NETWORKX, min(least, _all_units_have_paths(w)))
    if set(w.units) == w.forwards:
        refuse_too_many_steps(
            (len(w.units) + least * least) * 6 * edges * (least + 1),
            limits,
            f"{len(w.units)} units, {edges} links",
        )
        return exact_answer(NETWORKX, networkx.node_connectivity(net))
    pairs = _unit_pairs_by_kind(w, lambda u: frozenset(net.adj[u]))
    refuse_too_many_steps(len(pairs) * 8 * edges * (least + 1), limits, f"{len(pairs)} pairs, {edges} links")
    for u, v in pairs:
        only = _graph_without_other_units(net, w.forwards, u, v).copy()
        link = only.has_edge(u, v)
        if link:
            only.remove_edge(u, v)
        least = min(least, local_node_connectivity(only, u, v) + link)
    return exact_answer(NETWORKX, least)


def throughput_between_by_networkx(w: WiringGraph, claim: ResolvedClaim, limits: Limits) -> SecondAnswer:
    """The maximum flow between two sets, each put together as one node, over what the ports of the smaller
    one carry."""
    import networkx
    from networkx.algorithms.flow import preflow_push

    here, there = w.members(claim, "of"), w.members(claim, "of_to")
    if not here or not there or here & there:
        raise NoOpinion("one set is empty, or they have a device in common")
    refuse_too_many_steps(40 * w.graph.number_of_edges(), limits, f"{w.graph.number_of_edges()} links")
    passing = w.forwards | here | there
    place = {d: -1 if d in here else -2 if d in there else d for d in passing}
    net: networkx.Graph[int] = networkx.Graph()
    net.add_nodes_from((-1, -2))
    for a, b, facts in w.graph.edges(data=True):
        if a in place and b in place and place[a] != place[b]:
            rate = net.get_edge_data(place[a], place[b], {"rate": 0})["rate"]
            net.add_edge(place[a], place[b], rate=rate + facts["rate_bps"])
    full = min(net.degree(-1, weight="rate"), net.degree(-2, weight="rate"))
    if not full:
        raise NoOpinion("one of the two has no link")
    value = Fraction(_max_flow_value(net, -1, -2, "rate", preflow_push), full)
    return SecondAnswer(NETWORKX, value, value, full_bps=Fraction(full))


def _elements_of_paths(w: WiringGraph, claim: ResolvedClaim) -> list[set[int]]:
    """The devices in each element of the paths behind `of`."""
    return [w.contents(e) for path in w.chosen(claim, "of") for e in path.elements]


def _rate_at_ends(w: WiringGraph, devices: set[int]) -> Fraction:
    """Bit/s of the ports of the ends among some devices; of all of them where none is an end."""
    ends = {d for d in devices if w.kind(d) in ENDS and w.graph.degree(d)} or devices
    links = w.graph.edges(data="rate_bps")
    return Fraction(sum(rate * ((a in ends) + (b in ends)) for a, b, rate in links))


def _rates_between_sides(w: WiringGraph, side: Mapping[int, int]) -> list[int]:
    """Bit/s of each link between devices of different sides."""
    links = [x for x in w.graph.edges(data="rate_bps") if x[0] in side and x[1] in side]
    return [rate for a, b, rate in links if side[a] != side[b]]


def bandwidth_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Bit/s of the links that join two sets, or the elements of one; where none does the maximum flow; of one
    set what its ends have."""
    assert claim is not None
    if claim.through and w.fabric.layer != "scaleup":
        raise NoOpinion("scale-up links have no second method")
    elements = _elements_of_paths(w, claim)
    here = {d for e in elements for d in e if d in w.graph}
    if not claim.of_to:
        return exact_answer(NETWORKX, _rate_at_ends(w, here))
    there = w.contents({d for path in w.chosen(claim, "of_to") for e in path.elements for d in e})
    side = dict.fromkeys(here, 0) | dict.fromkeys(there - here, 1)
    if here & there:
        side = {d: k for k, e in enumerate(elements) for d in e}
    joined = _rates_between_sides(w, side)
    if joined:
        return exact_answer(NETWORKX, Fraction(sum(joined)))
    share = throughput_between_by_networkx(w, claim, limits)
    return exact_answer(NETWORKX, Fraction(share.lower) * share.full_bps)


# ---------------------------------------------------------------- counts


def oversubscription_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Rates of edges to lower tiers over those to higher ones, counted again edge by edge."""
    if w.direct:
        raise NoOpinion("the fabric is direct: it has no tiers")
    if claim is not None and claim.of_active:
        raise NoOpinion("spares are left out")
    f = w.fabric
    tier = {d: 0 if w.kind(d) in ENDS else int(f.tier[d]) for d in range(f.device_count)}
    down, up = _rates_down_and_up(w, tier)
    judged = _switches_judged(w, claim)
    _refuse_given_tiers(w, tier)
    return exact_answer(NETWORKX, _largest_rate_ratio(w, judged, tier, down, up))


def _switches_judged(w: WiringGraph, claim: ResolvedClaim | None) -> list[int]:
    """The switches that a claim is `at`, or all."""
    paths = w.chosen(claim, "at") if claim is not None else []
    at = w.contents({d for path in paths for devices in path.elements for d in devices}) if paths else None
    return [d for d in w.core if w.kind(d) == "switch" and (at is None or d in at)]


def _rates_down_and_up(w: WiringGraph, tier: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """The rate of every device to lower tiers, with what it keeps for endpoints, and to higher ones."""
    f = w.fabric
    down: dict[int, int] = _rate_kept_for_endpoints(w)
    up: dict[int, int] = {}
    for row, (a, b, rate) in enumerate(
        zip(f.device_a.tolist(), f.device_b.tolist(), f.link_rate.tolist(), strict=True)
    ):
        low, high = sorted((a, b), key=lambda d: tier[d])
        if 0 <= tier[low] < tier[high] and row not in w.lost:
            down[high] = down.get(high, 0) + rate
            up[low] = up.get(low, 0) + rate
    return down, up


def _largest_rate_ratio(
    w: WiringGraph,
    judged: Iterable[int],
    tier: Mapping[int, int],
    down: Mapping[int, int],
    up: Mapping[int, int],
) -> Fraction | float:
    """The largest ratio among some switches; infinite where one has nothing above it, though others of its
    tier have."""
    tiers = {tier[d] for d in up if w.kind(d) == "switch"}
    if any(tier[d] in tiers and down.get(d, 0) and not up.get(d, 0) for d in judged):
        return float("inf")
    ratios = [Fraction(down.get(d, 0), up[d]) for d in judged if up.get(d, 0)]
    if not ratios:
        raise NoOpinion("no switch looked at has links to a tier above it")
    return max(ratios)


def _refuse_given_tiers(w: WiringGraph, tier: Mapping[int, int]) -> None:
    """Refuse tiers that are not the distance from hosts and chips: the text gives them, or hosts that are not
    built do."""
    import networkx

    f = w.fabric
    whole: networkx.Graph[int] = networkx.Graph()
    whole.add_edges_from(zip(f.device_a.tolist(), f.device_b.tolist(), strict=True))
    every = WiringGraph.whole(f)
    ends = [u for u in every.units if u in whole]
    near = networkx.multi_source_dijkstra_path_length(whole, ends) if ends else {}
    for d in every.graph:
        if w.kind(d) == "switch" and tier[d] >= 0 and near.get(d) != tier[d]:
            raise NoOpinion("the tiers are not the distances from the hosts that are built")
    kept = {int(f.port_device[p]) for p in range(len(f.port_device)) if f.port_state[p] == HOLE}
    served = {d for u in every.units for d in every.graph.adj[u]}
    if any(w.kind(d) == "switch" and d not in served for d in kept):
        raise NoOpinion("a switch keeps ports for devices that are not built and has no host yet")


def _rate_kept_for_endpoints(w: WiringGraph) -> dict[int, int]:
    """Rate of the ports that switches keep for hosts and chips that are planned but not built."""
    f = w.fabric
    out: dict[int, int] = {}
    kept = [
        p
        for p in range(len(f.port_device))
        if f.port_state[p] == HOLE and w.kind(int(f.port_device[p])) == "switch"
    ]
    if kept and any(f.set_of(d).kind not in ENDS for d in range(f.device_count) if not f.built[d]):
        raise NoOpinion("ports are kept for switches that are not built")
    for p in kept:
        d = int(f.port_device[p])
        if (rate := f.port_class(p)[0].rate) is None:
            raise NoOpinion("a port that is kept has no rate")
        out[d] = out.get(d, 0) + int(rate)
    return out


def link_count_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Edges of the graph, or those between two sets."""
    if claim is None or not claim.of_to:
        return exact_answer(NETWORKX, w.graph.number_of_edges())
    sides = [
        [devices for path in w.chosen(claim, side) for devices in path.elements] for side in ("of", "of_to")
    ]
    here, there = (w.contents(frozenset().union(*elements)) for elements in sides)
    between = [1 for a, b in w.graph.edges() if (a in here and b in there) or (b in here and a in there)]
    return exact_answer(NETWORKX, len(between))


def switch_count_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Nodes of the kind switch."""
    return exact_answer(NETWORKX, sum(w.kind(d) == "switch" for d in w.core))
