"""Ports one by one: whether each carries one link, and which rail each NIC is on. Counted over the edges of
the graph."""

from __future__ import annotations

from collections import Counter

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import USED
from tdsl.semantics.model import indices_at_position
from tdsl.verify.second.answer import NETWORKX, Limits, NoOpinion, SecondAnswer, yes_or_no_answer
from tdsl.verify.second.wiring import WiringGraph


def port_budget_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Whether every port carries at most one link, of a device that is built, and no device more links than
    it has ports."""
    f = w.fabric
    carried: Counter[int] = Counter()
    at: Counter[int] = Counter()
    for a, b, row in w.graph.edges(keys=True):
        carried.update(int(x[row]) for x in (f.link_a, f.link_b, f.link_via_a, f.link_via_b) if x[row] >= 0)
        at.update((a, b))
    last = len(f.port_device)
    for port, links in carried.items():
        if links > 1 or port >= last or not f.built[f.port_device[port]] or f.port_state[port] != USED:
            return yes_or_no_answer(NETWORKX, False)
    return yes_or_no_answer(
        NETWORKX, all(n <= sum(c.size for c in f.model_of(d).classes) for d, n in at.items())
    )


def rails_of_links(w: WiringGraph) -> tuple[dict[int, tuple[int, int, int]], dict[int, int], bool]:
    """Of every link from an accelerator host to a switch the host, the switch and the rail, the first index
    of its port; the rail that each switch serves, the commonest there and the lowest of several as common;
    and whether the design is organised by rails: most of these switches have a rail that more than half of
    their ports are of, and several rails are served."""
    f = w.fabric
    found: dict[int, tuple[int, int, int]] = {}
    numbered: dict[
        int, tuple[int, int]
    ] = {}  # links whose only index may number planes: the index, the plane
    for a, b, row in w.graph.edges(keys=True):
        host, switch = (a, b) if w.kind(a) == "host" else (b, a)
        if w.kind(host) != "host" or w.kind(switch) != "switch" or f.set_of(host).role != "accelerator":
            continue
        ends = (int(f.link_a[row]), int(f.link_b[row]))
        port = next(p for p in ends if int(f.port_device[p]) == host)
        cls, offset = f.port_class(port)
        if not cls.axes:
            continue
        index = indices_at_position(offset, cls.axes)[0]
        found[row] = host, switch, index
        if len(cls.axes) == 1 and f.plane[switch] >= 0:
            numbered[row] = index, int(f.plane[switch])
    if len({i for i, _ in numbered.values()}) == len({p for _, p in numbered.values()}) > 1:
        found = {row: x for row, x in found.items() if row not in numbered}
    return found, *_rail_served_by_switches(found)


def _rail_served_by_switches(found: dict[int, tuple[int, int, int]]) -> tuple[dict[int, int], bool]:
    """The rail that each switch serves, and whether these links are organised by rails."""
    count: dict[int, Counter[int]] = {}
    for _, switch, rail in found.values():
        count.setdefault(switch, Counter())[rail] += 1
    serves = {s: min(c, key=lambda rail: (-c[rail], rail)) for s, c in count.items()}
    settled = sum(2 * max(c.values()) > c.total() for c in count.values())
    return serves, 2 * settled > len(count) and len({*serves.values()}) > 1


RailLinks = dict[int, tuple[int, int, int]]
"""The host, the switch and the rail of links, by their rows."""


def rails_of_classes(w: WiringGraph) -> tuple[dict[str, RailLinks], bool]:
    """The links of hosts with rails, by the name of the port class: of each declaration that is organised by
    rails in the class with most links the classes that are. And whether the design is organised by rails:
    some declaration is, or all hosts with most links in one class are together."""
    f = w.fabric
    declared: dict[int, dict[str, RailLinks]] = {}
    for row, link in rails_of_links(w)[0].items():
        port = next(p for p in (int(f.link_a[row]), int(f.link_b[row])) if int(f.port_device[p]) == link[0])
        classes = declared.setdefault(
            f.set_of(link[0]).index, {c.name: {} for m in f.models for c in m.classes}
        )
        classes[f.port_class(port)[0].name][row] = link
    judged: dict[str, RailLinks] = {}
    together: dict[str, RailLinks] = {}
    for classes in declared.values():
        main = max(classes, key=lambda name: len(classes[name]))
        together.setdefault(main, {}).update(classes[main])
        for name, links in classes.items() if _rail_served_by_switches(classes[main])[1] else ():
            if links and _rail_served_by_switches(links)[1]:
                judged.setdefault(name, {}).update(links)
    return judged, bool(judged) or any(_rail_served_by_switches(links)[1] for links in together.values())


def rail_alignment_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Whether every NIC of the hosts and port classes with rails is on a switch that serves its rail."""
    judged, _ = rails_of_classes(WiringGraph.whole(w.fabric))
    if not judged:
        if claim is None or claim.report:
            raise NoOpinion("the design is not organised by rails")
        return yes_or_no_answer(NETWORKX, False)
    mine = {row for *_, row in w.graph.edges(keys=True)}
    serves = {name: _rail_served_by_switches(links)[0] for name, links in judged.items()}
    aligned = (
        serves[n][switch] == rail
        for n, links in judged.items()
        for row, (_, switch, rail) in links.items()
        if row in mine
    )
    return yes_or_no_answer(NETWORKX, all(aligned))
