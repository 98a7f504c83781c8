"""Automatic placement: which rack and units every device gets that a design places by ``place auto``.

Hosts that share switches form a cluster. Clusters are packed into racks under the height, the power of one
feed and the load of a rack; their switches go into racks of their own beside them, or into the racks of the
hosts. The racks' contents are then arranged on the floor so that the cables are short (`arrangement`).
Nothing is random: the same design gives the same places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil

import numpy as np

from tdsl.fabric.cables.plugs import fits_cage
from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import optic_watts, stated_quantity
from tdsl.fabric.places import RackPlaces, height_of
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.physical.arrangement import Arrangement, arrange_racks
from tdsl.physical.length_bound import length_bound
from tdsl.physical.lengths import CableRuns
from tdsl.physical.part_choice import ChosenParts
from tdsl.physical.racks import kilograms_of_model, watts_of_model
from tdsl.semantics.autoplace import AutoPlacing
from tdsl.semantics.place_statements import RackKind
from tdsl.semantics.quantity import POWER
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

OPEN = 1 << 62
"""What stands for no limit."""
MERGED = (8, 16, 64, 1 << 30)
"""Host racks that share racks of switches, the first tried first: more only where the floor has too few
racks."""

Limits = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Content:
    """What one rack gets: hosts from the bottom, then network devices from the top."""

    hosts: tuple[int, ...]
    network: tuple[int, ...]


class _Unplaceable(Exception):
    """Devices that no rack takes; the text says why."""


def place_devices_automatically(
    fabric: Fabric, asked: AutoPlacing, kept: Mapping[int, tuple[int, int]], diagnostics: Diagnostics
) -> Fabric:
    """The fabric with a place for every device, or as it was after a finding (E0209). ``kept`` has the rack
    and unit of devices that stand by the lock. A note (E0210) says how long the cables are, and a length
    below which no placement comes."""
    assert fabric.places is not None
    p = fabric.places
    rack, unit, by = p.device_rack.copy(), p.device_unit.copy(), p.device_place.copy()
    number = len(p.origins)
    for device, (r, u) in kept.items():
        rack[device], unit[device], by[device] = r, u, number
    start = replace(
        p,
        device_rack=rack,
        device_unit=unit,
        device_place=by,
        origins=(*p.origins, asked.origin),
        automatic=number,
    )
    floor = _Floor(replace(fabric, places=start), start, asked)
    if not len(floor.devices):
        return replace(fabric, places=start)
    try:
        contents, racks = floor.contents()
    except _Unplaceable as why:
        diagnostics.add(
            "E0209",
            asked.origin,
            str(why),
            help="add racks, or ones that hold and carry more, to the halls named",
        )
        return fabric
    arranged = arrange_racks(floor.arrangement(contents, racks))
    rack, unit, by = rack.copy(), unit.copy(), by.copy()
    floor.put(contents, arranged, rack, unit, by, number)
    made = replace(fabric, places=replace(start, device_rack=rack, device_unit=unit, device_place=by))
    floor.say(made, len(contents), diagnostics)
    return made


class _Floor:
    """One fabric's devices without a place, and the racks that are free."""

    def __init__(self, fabric: Fabric, places: RackPlaces, asked: AutoPlacing) -> None:
        self.fabric, self.places, self.asked = fabric, places, asked
        self.own = fabric.built & (fabric.container < 0)
        self.devices = np.flatnonzero(self.own & (places.device_rack < 0))
        self.host: Bools = (fabric.kind == "host") | (fabric.kind == "chip")

    # ------------------------------------------------------------ sizes and limits
    @cached_property
    def size(self) -> Ints:
        """Units, milliwatts and grams of every device; a figure that is not stated counts as none. A device
        whose published maximum does not include transceivers gets the hungriest that its cages take."""
        f = self.fabric
        rows = []
        for m in f.models:
            power, mass = watts_of_model(m), kilograms_of_model(m)
            figures = [0 if x is None else ceil(x * 1000) for x in (power, mass)]
            rows.append((height_of(m) or 0, *figures))
        out = np.array(rows, dtype=np.int64).reshape(len(rows), 3)[f.device_model]
        out[:, 1] += self._optics()
        return out

    def _optics(self) -> Ints:
        """Milliwatts of transceivers that a device may have to carry besides its own figure."""
        f = self.fabric
        out = np.zeros(f.device_count, dtype=np.int64)
        if not len(f.cable_a):
            return out
        parts = ChosenParts(f, self.lengths, f.parts)
        top = self.lengths.top
        ends = np.unique(parts.cage_of(np.concatenate([f.cable_a, f.cable_b])))
        most = np.zeros(sum(m.port_count for m in f.models), dtype=np.int64)
        at = 0
        for m in f.models:
            for c in m.classes:
                found = [w for o in parts.optics if fits_cage(o, c) and (w := optic_watts(o)) is not None]
                most[at : at + c.size] = (
                    0
                    if stated_quantity(m, "power_max", POWER) is not None
                    else int(max(found, default=0) * 1000)
                )
                at += c.size
        np.add.at(out, top[f.port_device[ends]], most[parts.ports.rows(ends)])
        return out

    @cached_property
    def lengths(self) -> CableRuns:
        return CableRuns(self.fabric, self.places)

    @staticmethod
    def limits(kind: RackKind) -> Limits:
        """Units, milliwatts after the loss of a feed, and grams of a rack."""
        return (
            kind.height or 0,
            OPEN if kind.watts is None else int(kind.watts * 1000),
            OPEN if kind.mass is None else int(kind.mass * 1000),
        )

    @cached_property
    def free(self) -> list[int]:
        """Racks of the halls named that hold nothing, in their order."""
        p = self.places
        halls = [p.halls.index(h) for h in self.asked.halls]
        taken = np.zeros(p.rack_count, dtype=np.bool_)
        taken[p.device_rack[p.device_rack >= 0]] = True
        return [int(r) for h in halls for r in np.flatnonzero((p.rack_hall == h) & ~taken)]

    # ------------------------------------------------------------ clusters
    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints]:
        """Devices that cables join, the lower row first, and how many cables."""
        f, top = self.fabric, self.lengths.top
        a, b = top[f.port_device[f.cable_a]], top[f.port_device[f.cable_b]]
        apart = a != b
        low, high = np.minimum(a, b)[apart], np.maximum(a, b)[apart]
        keys, count = np.unique(low * f.device_count + high, return_counts=True)
        return keys // f.device_count, keys % f.device_count, count

    @cached_property
    def clusters(self) -> list[tuple[list[int], list[int]]]:
        """Hosts that share switches, with those switches and the ones above that serve them alone, as the
        spines of a pod; what serves several clusters, or no host, comes last, without hosts."""
        f = self.fabric
        near = f.tier <= 1
        a, b, _ = self.pairs
        edge = (self.host[a] != self.host[b]) & near[a] & near[b]
        label = component_labels(f.device_count, a[edge], b[edge])
        found: dict[int, tuple[list[int], list[int]]] = {}
        rest: list[int] = []
        with_host = set(label[self.devices[self.host[self.devices]]].tolist())
        if len(with_host) > 1:
            self._join_above(label)
        for d in self.devices.tolist():
            key = int(label[d])
            if key not in with_host:
                rest.append(d)
                continue
            found.setdefault(key, ([], []))[0 if self.host[d] else 1].append(d)
        ordered = sorted(found.values(), key=lambda c: c[0][0])
        return [*ordered, *([([], rest)] if rest else [])]

    def _join_above(self, label: Ints) -> None:
        """Give switches of the upper tiers, from the lowest, the label of the devices below them where all
        have the same."""
        f = self.fabric
        a, b, _ = self.pairs
        apart = f.tier[a] != f.tier[b]
        upper = np.where(f.tier[a] > f.tier[b], a, b)[apart]
        lower = (a + b)[apart] - upper
        for tier in range(2, int(f.tier.max(initial=0)) + 1):
            here = f.tier[upper] == tier
            least = np.full(f.device_count, f.device_count, dtype=np.int64)
            most = np.full(f.device_count, -1, dtype=np.int64)
            np.minimum.at(least, upper[here], label[lower[here]])
            np.maximum.at(most, upper[here], label[lower[here]])
            alone = (least == most) & f.is_switch
            label[alone] = least[alone]

    # ------------------------------------------------------------ packing
    def contents(self) -> tuple[list[Content], list[int]]:
        """Contents of racks in an order in which neighbours belong together, and the racks that take any of
        them."""
        f = self.fabric
        lacking = np.flatnonzero(self.size[self.devices, 0] == 0)
        if len(lacking):
            model = f.model_of(int(self.devices[lacking[0]]))
            many = counted_noun(len(lacking), "device")
            if height_of(model) == 0:
                raise _Unplaceable(f"{model.name} takes no rack unit: write a `place` for {many}")
            what = f"{model.name} has no height, so {many} cannot be placed"
            raise _Unplaceable(f"{what}; add `height 1U` to the model")
        if not self.free:
            raise _Unplaceable(
                f"{counted_noun(len(self.devices), 'device has', 'devices have')} no place, and no rack of "
                f"{self._halls()} is free"
            )
        kinds: dict[Limits, int] = {}
        for r in self.free:
            limits = self.limits(self.places.rack_kind[r])
            kinds[limits] = kinds.get(limits, 0) + 1
        self._each_fits(list(kinds))
        least = 0
        for merged in MERGED:
            for limits in sorted(kinds, key=lambda k: -kinds[k]):
                fitting = [r for r in self.free if self._offers(r, limits)]
                try:
                    found = list(self._packed(limits, merged))
                except _Unplaceable:
                    continue  # a device is larger than racks of this kind
                if len(found) <= len(fitting):
                    return found, fitting
                least = min(least or len(found), len(found))
        what = (
            f"{counted_noun(len(self.devices), 'device takes', 'devices take')} {counted_noun(least, 'rack')}"
            if least
            else "racks of different kinds are needed"
        )
        have = "has" if len(self.asked.halls) == 1 else "have"
        raise _Unplaceable(f"{what}, and {self._halls()} {have} {len(self.free):,} free")

    def _offers(self, rack: int, limits: Limits) -> bool:
        return all(x >= y for x, y in zip(self.limits(self.places.rack_kind[rack]), limits, strict=True))

    def _halls(self) -> str:
        return " and ".join(f"hall {h.name}" for h in self.asked.halls)

    def _each_fits(self, kinds: list[Limits]) -> None:
        """Raise for a device that no free rack takes, even alone."""
        f = self.fabric
        for d in self.devices[np.unique(self.size[self.devices], axis=0, return_index=True)[1]].tolist():
            size = self.size[d].tolist()
            if any(all(x <= y for x, y in zip(size, k, strict=True)) for k in kinds):
                continue
            most = [max(k[i] for k in kinds) for i in range(3)]
            words = (
                f"is {size[0]}U high",
                f"takes {size[1] / 1000:g} W with its transceivers",
                f"weighs {size[2] / 1000:g} kg",
            )
            over = next(
                (w for w, x, y in zip(words, size, most, strict=True) if x > y), "is too large in all"
            )
            raise _Unplaceable(f"{f.device_name(d)} fits no free rack of {self._halls()}: it {over}")

    def _packed(self, limits: Limits, merged: int) -> Iterator[Content]:
        """Contents for racks with these limits: hosts of clusters with the racks of their switches in the
        middle."""
        top = self.asked.switches == "top"
        each = self.asked.hosts_per_rack or OPEN
        clusters, upper = self._clusters_to_pack(merged, top)
        groups: list[list[Content]] = []
        racks: list[Content] = []
        near: list[int] = []
        for hosts, switches in clusters:
            if top:
                groups.append(self._top_of_rack(hosts, switches, limits, each))
                continue
            racks += [Content(tuple(c), ()) for c in self._filled(hosts, limits, each)]
            near += switches
            if len(racks) >= merged:
                groups.append(self._in_the_middle(racks, near, limits))
                racks, near = [], []
        if racks or near:
            groups.append(self._in_the_middle(racks, near, limits))
        above = [Content((), tuple(c)) for c in self._filled(upper, limits, OPEN)]
        half = (len(groups) + 1) // 2
        for group in (*groups[:half], above, *groups[half:]):
            yield from group

    def _clusters_to_pack(
        self, merged: int, top: bool
    ) -> tuple[list[tuple[list[int], list[int]]], list[int]]:
        """Hosts and switches of each cluster, and the switches above all; clusters are one where all are
        ``merged``."""
        *clusters, (_, upper) = (
            self.clusters if self.clusters and not self.clusters[-1][0] else [*self.clusters, ([], [])]
        )
        if merged == MERGED[-1] and not top:
            clusters = [
                ([h for hosts, _ in clusters for h in hosts], [s for _, near in clusters for s in near])
            ]
        return clusters, upper

    def _in_the_middle(self, racks: list[Content], near: list[int], limits: Limits) -> list[Content]:
        switches = [Content((), tuple(c)) for c in self._filled(near, limits, OPEN)]
        half = (len(racks) + 1) // 2
        return [*racks[:half], *switches, *racks[half:]]

    def _filled(self, devices: Sequence[int], limits: Limits, each: int) -> list[list[int]]:
        """Devices in their order, rack after rack."""
        out: list[list[int]] = []
        units = power = mass = 0
        for d in devices:
            u, w, g = self.size[d].tolist()
            if u > limits[0] or w > limits[1] or g > limits[2]:
                raise _Unplaceable
            full = not out or len(out[-1]) >= each
            if full or units + u > limits[0] or power + w > limits[1] or mass + g > limits[2]:
                out.append([])
                units = power = mass = 0
            out[-1].append(d)
            units, power, mass = units + u, power + w, mass + g
        return out

    def _top_of_rack(self, hosts: list[int], switches: list[int], limits: Limits, each: int) -> list[Content]:
        """A cluster with its switches in the racks of its hosts, evenly."""
        count = max(len(self._filled(hosts, limits, each)), 1)
        while count <= len(hosts) + len(switches):
            share = [
                (
                    hosts[len(hosts) * i // count : len(hosts) * (i + 1) // count],
                    switches[len(switches) * i // count : len(switches) * (i + 1) // count],
                )
                for i in range(count)
            ]
            sums = [self.size[[*h, *s]].sum(axis=0) for h, s in share]
            if all((x <= np.array(limits)).all() for x in sums) and all(len(h) <= each for h, _ in share):
                return [Content(tuple(h), tuple(s)) for h, s in share if h or s]
            count += 1
        raise _Unplaceable

    # ------------------------------------------------------------ the floor
    def arrangement(self, contents: list[Content], racks: list[int]) -> Arrangement:
        """The problem of putting contents on racks: as many rows as are needed, in a serpentine."""
        p = self.places
        rows: dict[tuple[int, int], list[int]] = {}
        for r in racks:
            rows.setdefault((int(p.rack_hall[r]), int(p.rack_row[r])), []).append(r)
        used: list[list[int]] = []
        for row in rows.values():
            used.append(row)
            if sum(map(len, used)) >= len(contents):
                break
        network = np.array([not c.hosts for c in contents], dtype=np.bool_)
        slots, kind, order = self._slots(used, network)
        fixed = sorted(set(p.device_rack[p.device_rack >= 0].tolist()))
        where = np.full(self.fabric.device_count, -1, dtype=np.int64)
        for k, c in enumerate(contents):
            where[[*c.hosts, *c.network]] = k
        index = {r: len(contents) + k for k, r in enumerate(fixed)}
        for d in np.flatnonzero(p.device_rack >= 0).tolist():
            where[d] = index[int(p.device_rack[d])]
        a, b, count = self.pairs
        keep = (where[a] >= 0) & (where[b] >= 0) & (where[a] != where[b])
        a, b, count = where[a[keep]], where[b[keep]], count[keep]
        size = len(contents) + len(fixed)
        return Arrangement(self.lengths, slots, kind, order, network, fixed, size, a, b, count)

    def _slots(self, used: list[list[int]], network: Bools) -> tuple[list[int], Bools | None, list[int]]:
        """Racks, which of them are for racks of switches (None: any), and the first rack of every content."""
        snake = [r for k, row in enumerate(used) for r in (row[::-1] if k % 2 else row)]
        count = int(network.sum())
        if self.asked.switches not in ("middle", "end") or not count:
            return snake, None, list(range(len(network)))
        left, chosen = count, set()
        for k, row in enumerate(used):
            n = min(-(-left // (len(used) - k)), len(row))
            at = (len(row) - n) // 2 if self.asked.switches == "middle" else len(row) - n
            chosen |= set(row[at : at + n])
            left -= n
        kind = np.array([r in chosen for r in snake], dtype=np.bool_)
        mine, others = iter(np.flatnonzero(kind).tolist()), iter(np.flatnonzero(~kind).tolist())
        return snake, kind, [next(mine) if is_network else next(others) for is_network in network.tolist()]

    def put(
        self, contents: list[Content], racks: list[int], rack: Ints, unit: Ints, by: Ints, number: int
    ) -> None:
        """Write the rack and lowest unit of every device: hosts upwards from the bottom, network devices down
        from the top."""
        for c, r in zip(contents, racks, strict=True):
            at = 1
            for d in c.hosts:
                unit[d], at = at, at + int(self.size[d, 0])
            at = (self.places.rack_kind[r].height or 0) + 1
            for d in c.network:
                at -= int(self.size[d, 0])
                unit[d] = at
            every = [*c.hosts, *c.network]
            rack[every], by[every] = r, number

    def say(self, made: Fabric, racks: int, diagnostics: Diagnostics) -> None:
        """The note on what came out."""
        assert made.places is not None
        lengths = CableRuns(made, made.places)
        run = lengths.run
        unknown = int((run < 0).sum())
        text = (
            f"`place auto` puts {counted_noun(len(self.devices), 'device')} into {racks:,} of "
            f"{counted_noun(len(self.free), 'free rack')}"
        )
        if unknown:
            note = (
                f"{unknown:,} of {len(run):,} cables have no length: "
                f"{lengths.unknown(int(np.argmax(run < 0)))}"
            )
        else:
            total = int(run.sum())
            least = length_bound(
                self.lengths, self.pairs, self.size, self.host, self.asked, self.free, lengths
            )
            note = f"{counted_noun(len(run), 'cable')} of {total / 1e9:,.3f} km in all; "
            note += f"no placement in these racks needs less than {least / 1e9:,.3f} km"
        diagnostics.add("E0210", self.asked.origin, text, notes=[note], severity=Severity.NOTE)


__all__ = ["place_devices_automatically"]
