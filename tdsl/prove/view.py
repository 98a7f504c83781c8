"""What a judgement looks at: the whole fabric, or the part of it that one element of a requirement names.

A part keeps the fabric's numbering of devices and links; it only says which of them count.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.components import component_labels
from tdsl.fabric.failed import FailedElements
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import Domains, domains_of, scaleup_links
from tdsl.fabric.subject import (
    devices_with_contents,
    holders_of_devices,
    legs_at_devices,
    legs_between_sets,
    links_at_devices,
    links_between_sets,
    links_in_group,
)
from tdsl.fabric.tiers import main_ends
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network
from tdsl.semantics.model import DeviceSet
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import noun_for_count

CROSSED = "the chips that it leaves out pass traffic on, so the set has no network of its own"


@dataclass(frozen=True, slots=True)
class Attachment:
    """Where endpoints are connected to the network: for every connection the endpoint's device, its port (-1
    for a forwarding chip, which is its own connection), the forwarding device and the *hub*: the component of
    forwarding devices that it belongs to. A link between two endpoints that forward nothing is a hub of its
    own, numbered from the number of devices on."""

    end: Ints
    port: Ints
    node: Ints
    hub: Ints


@dataclass(eq=False)
class View:
    """The devices and links that a judgement is about.

    ``core`` are the devices named, ``devices`` also those attached to them, ``rows`` the links. ``name`` is
    the element's path, "" for the whole fabric. ``budget`` is the work that one judgement of it may do.

    Where something failed, ``failed`` are those devices with all that they contain. Where the fabric is the
    scale-out network of one with both layers, ``failed_beside`` are the links that failed by themselves, a
    column of that one: what failures take of the scale-up layer, which ``rows`` do not show."""

    fabric: Fabric
    core: Bools
    devices: Bools
    rows: Ints
    name: str = ""
    intact: View | None = None  # where something failed: the view before
    lost: Bools | None = None  # and which of the fabric's links are lost with it
    budget: Budget = DEFAULT
    sides: tuple[Bools, Bools] | None = None  # the two sets of `of A to B`, where what joins them is judged
    members: Bools | None = (
        None  # the endpoints of `of all S`, whether they have links or not: they alone are units
    )
    failed: Bools | None = None
    failed_beside: Bools | None = None

    @classmethod
    def whole(cls, fabric: Fabric, budget: Budget = DEFAULT) -> View:
        """All that is built."""
        return cls(fabric, fabric.built, fabric.built, np.arange(fabric.link_count), budget=budget)

    @classmethod
    def part(cls, fabric: Fabric, element: FabricElement, device: bool, budget: Budget = DEFAULT) -> View:
        """One element of a selector, with all that is in it: of a group its devices, the links among them and
        the endpoints attached; of a single device (``device``) all its links and what they lead to."""
        inside = np.zeros(fabric.device_count, dtype=np.bool_)
        named = devices_with_contents(fabric, element.devices)
        inside[named] = True
        rows = links_at_devices(fabric, named) if device else links_in_group(fabric, named)
        devices = inside.copy()
        devices[fabric.device_a[rows]] = True
        devices[fabric.device_b[rows]] = True
        return cls(fabric, inside & fabric.built, devices & fabric.built, rows, element.name, budget=budget)

    @classmethod
    def between(cls, fabric: Fabric, here: Bools, there: Bools, budget: Budget = DEFAULT) -> View:
        """Two sets of devices, and the links and cables from one to the other."""
        core = (here | there) & fabric.built
        rows = links_between_sets(fabric, here, there)
        return cls(fabric, core, core, rows, budget=budget, sides=(here, there))

    def is_crossed_by_others(self, members: Bools) -> bool:
        """Whether endpoints beside these pass traffic on, so that these have no network of their own."""
        f = self.fabric
        return bool((self.forwards & f.is_end & ~members & ~holders_of_devices(f, members)).any())

    def among(self, members: Bools) -> View:
        """The network between these endpoints: without all others, but for the devices that one of them is
        in. Each is a unit, also one that has no link left, is planned only or failed."""
        f = self.fabric
        others = f.is_end & ~members & ~holders_of_devices(f, members)
        rows = self.rows[~(others[self.a] | others[self.b])]
        return replace(
            self,
            core=(self.core & ~others) | members,
            devices=(self.devices & ~others) | members,
            rows=rows,
            members=members,
        )

    def without(self, failed: Bools, links: Bools | None = None, beside: Bools | None = None) -> View:
        """The view after these devices failed, with what they hold and what crosses them, and these links (a
        column of the fabric's; ``beside`` one of the fabric with both layers, for scale-up links); units that
        lost their last link are no endpoints any more."""
        f = self.fabric
        gone = f.with_contents(failed)
        failed = gone if self.failed is None else gone | self.failed
        if self.failed_beside is not None:
            beside = self.failed_beside if beside is None else beside | self.failed_beside
        return self._reduced(gone, links, failed, beside)

    def without_elements(self, failed: FailedElements) -> View:
        """The view after these elements of its fabric failed; of a network the scale-up links among them fail
        beside it."""
        f = self.fabric.whole or self.fabric
        if f is self.fabric:
            return self.without(failed.devices, failed.links)
        beside = scaleup_links(f)
        return self.without(failed.devices, failed.links[~beside], failed.links & beside)

    def _reduced(self, gone: Bools, links: Bools | None, failed: Bools | None, beside: Bools | None) -> View:
        """What is left without these devices and links, and without units that lost their last link."""
        f = self.fabric
        lost = f.links_lost(gone)
        for before in (links, self.lost):
            if before is not None:
                lost |= before
        rows = self.rows[~lost[self.rows]]
        whole = self.intact or self
        left = View(f, self.core & ~gone, self.devices & ~gone, rows, self.name, whole, members=self.members)
        gone = gone.copy()
        # One that had no link before is still asked about: it is the fault that no failure hides.
        had_links = whole.degree > 0
        gone[left.units[(left.degree[left.units] == 0) & had_links[left.units]]] = True
        core, devices = self.core & ~gone, self.devices & ~gone
        return View(
            f,
            core,
            devices,
            rows,
            self.name,
            self.intact or self,
            lost,
            self.budget,
            self.sides,
            self.members,
            failed,
            beside,
        )

    @cached_property
    def legs(self) -> Ints:
        """Rows of the cable legs that are plugged into what is named, or that join the two sets."""
        if self.sides is not None:
            return legs_between_sets(self.fabric, *self.sides)
        if len(self.rows) == self.fabric.link_count:
            core, ends = self.core, (self.fabric.cable_a, self.fabric.cable_b)
            return np.flatnonzero(
                core[self.fabric.port_device[ends[0]]] | core[self.fabric.port_device[ends[1]]]
            )
        return legs_at_devices(self.fabric, np.flatnonzero(self.core))

    @cached_property
    def leg_columns(self) -> Bools:
        """Of every cable leg of the fabric whether it is one of ``legs``."""
        out = np.zeros(len(self.fabric.cable_a), dtype=np.bool_)
        out[self.legs] = True
        return out

    @cached_property
    def domains(self) -> Domains:
        """The scale-up domains, as failures leave them."""
        f = self.fabric.whole or self.fabric
        if self.failed is None:
            return self.fabric.domains
        if not self.lost_beside.any() and not self.failed[f.is_end | (f.container >= 0)].any():
            return self.fabric.domains
        return domains_of(f, self.failed, self.failed_beside)

    @cached_property
    def lost_beside(self) -> Bools:
        """The scale-up links that failures took: a column of the fabric with both layers."""
        f = self.fabric.whole or self.fabric
        if self.failed is None:
            return np.zeros(f.link_count, dtype=np.bool_)
        lost = f.links_lost(self.failed)
        if self.failed_beside is not None:
            lost |= self.failed_beside
        return lost & scaleup_links(f)

    @cached_property
    def a(self) -> Ints:
        """Device at the lower end of every link looked at."""
        return (
            self.fabric.device_a
            if len(self.rows) == self.fabric.link_count
            else self.fabric.device_a[self.rows]
        )

    @cached_property
    def b(self) -> Ints:
        """Device at the upper end of every link looked at."""
        return (
            self.fabric.device_b
            if len(self.rows) == self.fabric.link_count
            else self.fabric.device_b[self.rows]
        )

    @cached_property
    def degree(self) -> Ints:
        """Links at every device."""
        n = self.fabric.device_count
        return np.bincount(self.a, minlength=n) + np.bincount(self.b, minlength=n)

    @cached_property
    def is_chip(self) -> Bools:
        """Whether a device is a chip that begins traffic."""
        return per_set(self.fabric, [s.kind == "chip" for s in self.fabric.sets])

    @cached_property
    def chips_joined(self) -> bool:
        """Whether chips are joined to chips, so that they forward what is not theirs (tori, meshes); failures
        change nothing in what a chip can do."""
        if self.intact is not None:
            return self.intact.chips_joined
        return bool((self.is_chip[self.a] & self.is_chip[self.b]).any())

    @cached_property
    def direct(self) -> bool:
        """Whether some endpoints forward what is not theirs: chips joined to chips, and what the design says
        does."""
        if self.intact is not None:
            return self.intact.direct
        stated = self.fabric.forwards
        return self.chips_joined or bool((stated[self.a] | stated[self.b]).any())

    @cached_property
    def forwards(self) -> Bools:
        """Whether a path may pass through a device: switches, chips where some are joined to each other, and
        hosts and chips that the design says do."""
        passing = self.fabric.is_switch | self.fabric.forwards
        return passing | self.is_chip if self.chips_joined else passing

    @cached_property
    def units(self) -> Ints:
        """The endpoints between which connectivity is judged: accelerator hosts, or the chips inside them
        where those are what is wired; where there are none, endpoints whose role is not written; the switches
        in a fabric without endpoints."""
        sets = self.fabric.sets
        if self.members is not None:
            return self._chosen_units(self.members)
        opened = {
            s.inside.index for s in sets if s.inside is not None and s.kind == "chip" and self._linked(s)
        }
        ends = [s.kind in ("host", "chip") and s.index not in opened and self._counts(s) for s in sets]
        wanted = [end and main for end, main in zip(ends, main_ends(sets), strict=True)]
        if not any(wanted):
            wanted = ends
        if not any(wanted):
            wanted = [s.kind == "switch" for s in sets]
        return np.flatnonzero(per_set(self.fabric, wanted) & self.devices)

    def _chosen_units(self, members: Bools) -> Ints:
        """The endpoints of a set: as named, but of a device with wired accelerators in it these in its
        place."""
        f, sets = self.fabric, self.fabric.sets
        first = self.intact or self
        contents = members & (f.container >= 0) & members[f.container]
        wired = np.zeros(len(sets), dtype=np.bool_)
        wired[f.device_set[contents & (first.degree > 0)]] = True
        wired &= np.array(main_ends(sets), dtype=np.bool_)
        opened = np.zeros(len(sets), dtype=np.bool_)
        for s in sets:
            if s.inside is not None and wired[s.index]:
                opened[s.inside.index] = True
        return np.flatnonzero(members & ~opened[f.device_set] & ~(contents & ~wired[f.device_set]))

    @cached_property
    def unit_word(self) -> str:
        """What the units are: hosts, chips or switches."""
        words = {"host": "hosts", "chip": "chips", "switch": "switches"}
        return words[self.fabric.set_of(int(self.units[0])).kind] if len(self.units) else "hosts"

    def counted_units(self, count: int) -> str:
        """A number of units with their word: ``1 host``, ``8 hosts``."""
        word = self.unit_word
        return (
            f"{count} {noun_for_count(count, word.removesuffix('es' if word == 'switches' else 's'), word)}"
        )

    def _linked(self, s: DeviceSet) -> bool:
        """Whether something of a declaration has a link before any failure: failures do not change what the
        units are."""
        return bool((self.intact or self).degree[s.first : s.first + s.count].any())

    def _counts(self, s: DeviceSet) -> bool:
        """A chip inside a model is an endpoint only where its own ports are wired."""
        return s.inside is None or self._linked(s)

    @cached_property
    def others(self) -> Ints:
        """Managers, storage and the like: endpoints that are not units, but have links."""
        out = self.fabric.is_end & self.devices & (self.degree > 0)
        out[self.units] = False
        return np.flatnonzero(out)

    @cached_property
    def trunks(self) -> Ints:
        """Places (in ``rows``) of the links between two forwarding devices."""
        return np.flatnonzero(self.forwards[self.a] & self.forwards[self.b])

    @cached_property
    def graph(self) -> Network:
        """The forwarding devices and the links among them."""
        return adjacency_network(self.fabric.device_count, self.a[self.trunks], self.b[self.trunks])

    @cached_property
    def label(self) -> Ints:
        """Component of every device over the links between forwarding devices."""
        return component_labels(self.fabric.device_count, self.a[self.trunks], self.b[self.trunks])

    @cached_property
    def attachment(self) -> Attachment:
        """Where all endpoints are connected to the network."""
        f = self.fabric
        ends = np.flatnonzero(~(self.forwards[self.a] & self.forwards[self.b]))
        a, b, rows = self.a[ends], self.b[ends], self.rows[ends]
        pa, pb = f.link_a[rows], f.link_b[rows]
        from_a, from_b = ~self.forwards[a], ~self.forwards[b]
        up = np.flatnonzero(from_a & ~from_b)
        down = np.flatnonzero(from_b & ~from_a)
        loose = np.flatnonzero(from_a & from_b)
        own = np.flatnonzero(self.forwards & self._begins & self.devices)
        pairs = f.device_count + np.arange(len(loose))
        node = np.concatenate((b[up], a[down], own))
        return Attachment(
            np.concatenate((a[up], b[down], own, a[loose], b[loose])),
            np.concatenate((pa[up], pb[down], np.full(len(own), -1), pa[loose], pb[loose])),
            np.concatenate((node, pairs, pairs)),
            np.concatenate((self.label[node], pairs, pairs)),
        )

    @cached_property
    def _begins(self) -> Bools:
        """Devices where traffic begins: endpoints and units."""
        out = self.fabric.is_end.copy()
        out[self.units] = True
        return out

    @cached_property
    def access(self) -> Bools:
        """Whether a device connects units to the network: the switches they are cabled to, or they
        themselves."""
        out = np.zeros(self.fabric.device_count, dtype=np.bool_)
        at = self.attachment
        unit = np.zeros(self.fabric.device_count, dtype=np.bool_)
        unit[self.units] = True
        nodes = at.node[unit[at.end]]
        out[nodes[nodes < self.fabric.device_count]] = True
        return out

    def names(self, devices: Ints) -> list[str]:
        """Names of devices."""
        return [self.fabric.device_name(int(d)) for d in devices]


def per_set(fabric: Fabric, facts: list[bool]) -> Bools:
    """A fact of each device set as a column over devices."""
    if not facts:
        return np.zeros(fabric.device_count, dtype=np.bool_)
    return np.array(facts, dtype=np.bool_)[fabric.device_set]
