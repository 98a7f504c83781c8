"""What may fail: the elements that a requirement names, each with the devices and links that fail with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tdsl.fabric.cables.bundles import links_of_bundle
from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.claims import FabricElement, ResolvedClaim
from tdsl.fabric.columns import PortColumns
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_links
from tdsl.fabric.risks import RISK
from tdsl.fabric.subject import devices_with_contents, ports_of_selectors
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


class TooMany(Exception):
    """More elements than are judged; the text says how many."""


def _elements_that_are_built(view: View, claim: ResolvedClaim, whole: Fabric | None) -> list[FabricElement]:
    """The devices and groups of a requirement that are there, each once; with ``whole`` also those beside
    the network. A risk group without devices, such as a feed with a second one, is one of them."""
    there = view.devices
    if whole is not None:
        there = there | (whole.built if view.failed is None else whole.built & ~view.failed)
    found = {
        tuple(e.devices.tolist()): e
        for s in claim.of
        for e in s.elements
        if there[e.devices].any() or (s.kind == RISK and not len(e.devices))
    }
    return list(found.values())


def elements_of_claim(view: View, claim: ResolvedClaim, beside: bool = False) -> list[FabricElement]:
    """The elements that a requirement names, each once, as far as they are built: devices and groups, or
    links, ports, cables or cages of them; where ``beside``, also those of scale-up links beside the network.
    Raises TooMany."""
    what = claim.any_of or ("links" if claim.of_to or any(s.ports for s in claim.of) else "")
    whole = view.fabric.whole if beside else None
    if not what:
        return _elements_that_are_built(view, claim, whole)
    if whole is None:
        return _elements_of_links(view.fabric, what, view.rows, claim, view.budget.named_elements)
    up = scaleup_links(whole)
    rows = np.sort(np.append(np.flatnonzero(~up)[view.rows], np.flatnonzero(up & ~view.lost_beside)))
    place = np.cumsum(~up) - 1
    named = _elements_of_links(whole, what, rows, claim, view.budget.named_elements)
    return [replace(e, links=place[e.links[~up[e.links]]], beside=e.links[up[e.links]]) for e in named]


def _elements_of_links(
    f: Fabric, what: str, rows: Ints, claim: ResolvedClaim, most: int
) -> list[FabricElement]:
    """The elements of links that a requirement names among these rows."""
    here = ports_of_selectors(f, claim.of)
    there = ports_of_selectors(f, claim.of_to) if claim.of_to else np.ones(len(here), dtype=np.bool_)
    a, b = f.link_a[rows], f.link_b[rows]
    return _NamedLinks(f, most, here, there).of(what, rows[(here[a] & there[b]) | (here[b] & there[a])])


def failing_set_sizes(elements: Sequence[FabricElement], count: int) -> list[int]:
    """How many different elements fail together where `any COUNT` things do: fewer than COUNT where several
    are one element."""
    most = sorted((e.copies for e in elements), reverse=True)
    return [size for size in range(1, min(count, len(elements)) + 1) if sum(most[:size]) >= count]


def can_fail_together(chosen: Sequence[FabricElement], count: int) -> bool:
    """Whether ``count`` things can fail so that just these elements do."""
    return len(chosen) <= count <= sum(e.copies for e in chosen)


def view_after_failures(view: View, chosen: list[FabricElement]) -> View:
    """What is left of a view after these elements failed, with all that they contain."""
    devices = np.zeros(view.fabric.device_count, dtype=np.bool_)
    links = np.zeros(view.fabric.link_count, dtype=np.bool_)
    whole = view.fabric.whole
    beside = np.zeros(whole.link_count, dtype=np.bool_) if whole is not None else None
    for e in chosen:
        devices[e.devices] = True
        links[e.links] = True
        if beside is not None:
            beside[e.beside] = True
    return view.without(devices, links, beside)


def lost_rows(view: View, chosen: list[FabricElement]) -> list[Ints]:
    """For each element the places (in the view's rows) of the links that fail with it."""
    f = view.fabric
    place = np.full(f.link_count, -1, dtype=np.int64)
    place[view.rows] = np.arange(len(view.rows))
    vias = [
        np.where(v >= 0, f.port_device[v], -1) for v in (f.link_via_a[view.rows], f.link_via_b[view.rows])
    ]
    device = np.concatenate([view.a, view.b, *vias])
    row = np.tile(np.arange(len(view.rows)), 4)
    order = np.argsort(device, kind="stable")
    device, row = device[order], row[order]
    start = np.searchsorted(device, np.arange(f.device_count + 1))
    out = []
    for e in chosen:
        rows = place[e.links]
        parts = [
            rows[rows >= 0],
            *(row[start[d] : start[d + 1]] for d in devices_failing_with(f, e).tolist()),
        ]
        out.append(np.unique(np.concatenate(parts)))
    return out


def devices_failing_with(fabric: Fabric, element: FabricElement) -> Ints:
    """The devices that fail with an element: its own, and all that they contain."""
    return devices_with_contents(fabric, element.devices)


@dataclass(frozen=True, slots=True)
class _NamedLinks:
    """Elements of links. ``here`` are the ports named by `of`, ``there`` those named by `to`, all where it is
    left out."""

    fabric: Fabric
    most: int
    here: Bools
    there: Bools

    def of(self, what: str, rows: Ints) -> list[FabricElement]:
        """The links of these rows, or the ports, cables or cages that contain them."""
        if what == "links":
            self._limit(what, len(rows))
            return [self._element(self._link(r), [r]) for r in rows.tolist()]
        if what == "bundles":
            bundled = np.unique(f.link_bundle[rows[f.link_bundle[rows] >= 0]]) if (f := self.fabric) else rows
            self._limit(what, len(bundled))
            return [
                self._element(f"bundle {self._link(m[0])}", m)
                for m in (links_of_bundle(f, b) for b in bundled.tolist())
            ]
        if what == "ports":
            return self._at_ports(what, rows, cages=False)
        if what == "cages":
            return self._at_ports(what, rows, cages=True)
        chosen = set(rows.tolist())
        found = {
            name: links
            for name, links in CableIndex(self.fabric).links_by_id().items()
            if chosen.intersection(links)
        }
        self._limit(what, len(found))
        return _merge_equal_elements([self._element(f"cable {name}", links) for name, links in found.items()])

    def _at_ports(self, what: str, rows: Ints, cages: bool) -> list[FabricElement]:
        f = self.fabric
        columns = PortColumns(f)
        links: dict[int | tuple[int, str], set[int]] = {}
        for r in rows.tolist():
            ends = int(f.link_a[r]), int(f.link_b[r])
            for port, other in (ends, ends[::-1]):
                if not (self.here[port] and self.there[other]):
                    continue
                device = int(f.port_device[port])
                cage = str(columns.cage[columns.rows(np.array([port]))][0]) if cages else ""
                key: int | tuple[int, str] = (device, cage) if cage else port
                links.setdefault(key, set()).add(r)
        for key in list(links):  # a cage fails with all links of its ports, also those that `to` leaves out
            if isinstance(key, tuple):
                device, cage = key
                ports = np.arange(f.port_base[device], f.port_base[device + 1])
                mine = ports[columns.cage[columns.rows(ports)] == cage]
                links[key] = {x for x in f.port_link[mine].tolist() if x >= 0}
        self._limit(what, len(links))
        out = []
        for key, rows_of in links.items():
            name = f"{f.device_path(key[0])} cage {key[1]}" if isinstance(key, tuple) else f.port_path(key)
            out.append(self._element(name, sorted(rows_of)))
        return _merge_equal_elements(out)

    def _link(self, row: int) -> str:
        f = self.fabric
        return f"{f.port_path(int(f.link_a[row]))} - {f.port_path(int(f.link_b[row]))}"

    def _limit(self, what: str, count: int) -> None:
        if count > self.most:
            raise TooMany(f"{count:,} {what} are named, and at most {self.most:,} are judged")

    @staticmethod
    def _element(name: str, links: list[int]) -> FabricElement:
        return FabricElement(name, np.zeros(0, dtype=np.int64), np.array(links, dtype=np.int64))


def _merge_equal_elements(elements: Sequence[FabricElement]) -> list[FabricElement]:
    """Elements that fail the same links as one: both ports of a link, both cables of a link through a
    panel."""
    times = Counter(tuple(e.links.tolist()) for e in elements)
    last = {tuple(e.links.tolist()): e for e in elements}
    return [replace(e, copies=times[key]) for key, e in last.items()]
