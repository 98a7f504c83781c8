"""Planes that stay apart."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.order import distinct_values
from tdsl.prove.search import nodes_of_shortest_path
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds, skipped


class PlaneIsolation(Check):
    """No path of switches joins two planes.

    ## What it means
    Each instance of a `plane` is a network of its own: a fault, a routing loop or a broadcast in one cannot
    reach another. Hosts have ports in several planes, but do not forward between them.

    ## Formula and source
    Connected components of the switches and the links among them; no component holds switches of two `plane`
    instances. The finding is at the statement whose links do the joining: links between two planes, or, where
    a switch outside all planes joins them, its links to the planes it has fewest links to.

    ## What it assumes
    Only switches forward. A component found to join two planes stays one whatever wiring is added.

    ## A design that passes
    ```fab
    plane pl[2] { switch leaf[4]: SW; switch spine[2]: SW; connect leaf[*] to spine[*] spread }
    ```

    ## A design that fails
    ```fab
    connect pl[0].leaf[0] to pl[1].spine[0]               # a cable into the other plane
    ```

    ### What it prints
    ```
    E0402: pl[0].leaf[0].p[9] to pl[1].spine[0].p[5] joins pl[0] and pl[1]
    ```
    """

    code = "E0402"
    name = "plane_isolation"
    wrong = "A path of switches between two planes"
    kind = "yes_no"
    cost = 0
    fails_by_default = True
    monotone = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f = view.fabric
        inside = view.forwards & view.devices & (f.plane >= 0)
        planes = distinct_values(f.plane[inside])
        if len(planes) < 2:
            return skipped("the design has no planes" if len(planes) == 0 else "there is only one plane")
        label, plane = view.label[inside], f.plane[inside]
        low = np.full(f.device_count, np.iinfo(np.int64).max)
        high = np.full(f.device_count, -1)
        np.minimum.at(low, label, plane)
        np.maximum.at(high, label, plane)
        mixed = (high >= 0) & (low < high)
        if not mixed.any():
            return property_holds(f"{len(planes)} planes, none joined to another")
        faults = self._crossing(view)
        if not faults:
            faults = self._through_others(view, mixed)
        return self._refuted(view, mixed, faults)

    def _crossing(self, view: View) -> list[PropertyFault]:
        """Statements whose links lead from one plane into another."""
        f, rows = view.fabric, view.trunks
        here, there = f.plane[view.a[rows]], f.plane[view.b[rows]]
        wrong = view.rows[rows[(here >= 0) & (there >= 0) & (here != there)]]
        faults = []
        for statement, links in _links_by_statement(f.link_statement[wrong], wrong):
            link = int(links[0])
            ends = f.port_path(int(f.link_a[link])), f.port_path(int(f.link_b[link]))
            two = [plane_name(view, int(d)) for d in (f.device_a[link], f.device_b[link])]
            more = f" ({len(links)} links do)" if len(links) > 1 else ""
            faults.append(
                PropertyFault(
                    f.statements[statement].origin,
                    f"{ends[0]} to {ends[1]} joins {two[0]} and {two[1]}{more}",
                    len(links),
                    help="keep both ends of a link in one plane",
                )
            )
        return faults

    def _through_others(self, view: View, mixed: Bools) -> list[PropertyFault]:
        """Statements that tie a switch outside all planes to those planes it has fewest links to."""
        f, rows = view.fabric, view.trunks
        a, b = view.a[rows], view.b[rows]
        edge = mixed[view.label[a]] & ((f.plane[a] >= 0) != (f.plane[b] >= 0))
        links, a, b = view.rows[rows[edge]], a[edge], b[edge]
        plane, label = np.maximum(f.plane[a], f.plane[b]), view.label[a]
        keep = np.zeros(len(links), dtype=np.bool_)
        for component in distinct_values(label).tolist():
            mine = label == component
            most = int(np.argmax(np.bincount(plane[mine])))
            keep |= mine & (plane != most)
        faults = []
        for statement, wrong in _links_by_statement(f.link_statement[links[keep]], links[keep]):
            link = int(wrong[0])
            ends = int(f.device_a[link]), int(f.device_b[link])
            inner, outer = ends if f.plane[ends[0]] >= 0 else ends[::-1]
            message = f"{f.device_name(outer)} joins {plane_name(view, inner)} to another plane"
            at = f.statements[statement].origin
            label_at = (f.set_of(outer).origin.span, f"{f.device_name(outer)} belongs to no plane")
            faults.append(
                PropertyFault(
                    at, message, len(wrong), (label_at,), help="give each plane a switch of its own"
                )
            )
        return faults

    def _refuted(self, view: View, mixed: Bools, faults: list[PropertyFault]) -> Judgement:
        """Name a path between two planes, device by device."""
        f = view.fabric
        component = int(np.flatnonzero(mixed)[0])
        members = np.flatnonzero((view.label == component) & view.forwards & (f.plane >= 0))
        start = int(members[0])
        end = int(members[f.plane[members] != f.plane[start]][0])
        way = _path_between_planes(view, nodes_of_shortest_path(view.graph, start, end))
        two = plane_name(view, int(way[0])), plane_name(view, int(way[-1]))
        names = view.names(way)
        return property_fails(
            f"{two[0]} and {two[1]} are joined: {' - '.join(names)}",
            tuple(faults),
            {"planes": list(two), "path": names},
        )


def _path_between_planes(view: View, way: list[int]) -> Ints:
    """The stretch of a path that leaves one plane and enters another."""
    plane = view.fabric.plane[np.array(way)]
    inside = np.flatnonzero(plane >= 0)
    for left, right in zip(inside[:-1].tolist(), inside[1:].tolist(), strict=True):
        if plane[left] != plane[right]:
            return np.array(way[left : right + 1])
    return np.array(way)


def _links_by_statement(statement: Ints, links: Ints) -> list[tuple[int, Ints]]:
    return [(int(s), links[statement == s]) for s in distinct_values(statement)]


def plane_name(view: View, device: int) -> str:
    """Path of the plane instance that contains a device: ``pl[3]``; its own path where none does."""
    f = view.fabric
    parts = f.set_of(device).parts
    words = f.device_path(device).split(".")
    depth = next((i for i, p in enumerate(parts) if p.kind == "plane"), len(words) - 1)
    return ".".join(words[: depth + 1])
