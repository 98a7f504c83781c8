"""Links, cables, labels and circuits as tables: array arithmetic over the fabric's columns, names last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tdsl.emit.cable_labels import cable_label_columns
from tdsl.emit.limits import NameMatcher
from tdsl.emit.quote import switch_description
from tdsl.emit.records import Cable, CableLabel, Circuit, Link, LinkClass
from tdsl.fabric.cables.bundles import are_evpn_links
from tdsl.fabric.cables.bundles import bundle_numbers_at_devices as bundle_numbers
from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.cluster_columns import link_column_of_members, member_of_legs, member_of_links
from tdsl.fabric.coded import (
    Coded,
    Compact,
    Integers,
    Joined,
    Numbers,
    coded_combination,
    coded_constant,
    coded_number_sets,
    numbers_in_32_bits,
)
from tdsl.fabric.columns import Column, Lists, Objects, Table, values_of_column
from tdsl.fabric.graph import MEDIA, Bools, Fabric, Ints
from tdsl.fabric.layers import SCALEUP, scaleup_links
from tdsl.fabric.narrow import narrow_column
from tdsl.fabric.order import rank_values
from tdsl.fabric.part_facts import part_display_name
from tdsl.fabric.places import RackPlaces
from tdsl.fabric.rails import link_rail
from tdsl.fabric.segments import VXLAN_BYTES
from tdsl.fabric.subnets import infiniband_ports
from tdsl.physical.columns import chosen_columns
from tdsl.physical.model import physical_of
from tdsl.physical.pulling import pulling_columns
from tdsl.physical.stages import Stage, phase_of_pulling
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, Quantity


def gigabits_per_second(rate: int) -> int | float:
    """Bits per second as a person writes them: 400, 12.5."""
    return rate // 10**9 if rate % 10**9 == 0 else rate / 10**9


def number_or_blank(value: int) -> int | str:
    """A number, or "" for the -1 that stands for none."""
    return "" if value < 0 else value


class Wires:
    """What runs between the devices of a fabric."""

    def __init__(
        self,
        fabric: Fabric,
        interfaces: Mapping[str, NameMatcher] | None = None,
        stages: Sequence[Stage] = (),
    ) -> None:
        """``interfaces``: how an operating system names ports, of those that say; a name of another form is
        not theirs. ``stages``: the fabric's phases up to this one."""
        self.fabric, self.interfaces, self.stages = fabric, interfaces or {}, stages
        self.identity = CableIndex(fabric)
        self.ports = self.identity.ports
        self.devices = self.identity.devices
        self._made: dict[tuple[str, int], tuple[Integers, Integers]] = {}
        self._kinds: dict[int, tuple[Ints, Coded]] = {}
        self._stating: dict[tuple[int, int], tuple[Ints, Ints, Coded]] = {}
        self.lists = Lists()

    @property
    def crossings(self) -> tuple[Ints, Ints]:
        """Which link runs through which cable leg."""
        return self.identity.crossings

    @property
    def cable_order(self) -> tuple[Ints, Ints]:
        """Rows of cables in the order of the plan, and the rank of each row's cable."""
        return self.identity.ranks

    # ------------------------------------------------------------ shared columns
    def _once(self, what: str, of: Integers, make: Callable[[], Integers]) -> Integers:
        """A column of numbers that follows from another, made once: cells of one row that it chooses are
        rendered together."""
        key = (what, id(of))
        if key not in self._made:
            self._made[key] = (of, make().astype(np.int32))
        return self._made[key][1]

    def _port_rows(self, ports: Ints) -> Integers:
        """Rows of the models' ports."""
        return self._once("port", ports, lambda: self.ports.rows(ports))

    def _at(self, ports: Ints) -> Integers:
        """The devices of ports."""
        return self._once("device", ports, lambda: self.fabric.port_device[ports])

    def _port(self, of: Objects, ports: Ints) -> Coded:
        return Coded(self.lists.of(of), self._port_rows(ports))

    def _hole_rows(self, ports: Ints) -> Integers:
        """Rows of what faceplates say where cables go in."""
        return self._once("hole", ports, lambda: self.ports.hole_rows(ports))

    def _hole(self, of: Objects, ports: Ints) -> Coded:
        return Coded(self.lists.of(of), self._hole_rows(ports))

    def _device(self, ports: Ints) -> Coded:
        return Coded(self.lists.of(self.devices.name), self._at(ports))

    def _rack(self, places: RackPlaces, ports: Ints, what: int) -> Coded:
        """Hall (0), rack (1) or unit (2) of the devices at these ports, "" where they have no place."""
        if what == 2:
            return Coded([int(u) or "" for u in places.device_unit], self._at(ports))
        names = [places.hall_name(r) for r in range(places.rack_count)] if what == 0 else places.rack_names
        return Coded([names[r] if r >= 0 else "" for r in places.device_rack.tolist()], self._at(ports))

    def _number(self, ports: Ints) -> Numbers:
        f = self.fabric
        return Numbers(ports - f.port_base[f.port_device[ports]] + 1)

    @cached_property
    def link_plane(self) -> Ints:
        """Plane of every link, -1 if in none."""
        return narrow_column(self._of_links(lambda f: np.maximum(f.plane[f.device_a], f.plane[f.device_b])))

    @cached_property
    def link_rails(self) -> Ints:
        """Rail of every link, -1 if in none."""
        return narrow_column(self._of_links(link_rail))

    def _of_links(self, column: Callable[[Fabric], Ints]) -> Ints:
        """A column of all links; in a cluster each as its own fabric has it."""
        return link_column_of_members(self.fabric, column) if self.fabric.members else column(self.fabric)

    def _fabric_names(self, members: Callable[[Fabric], Ints], rows: int) -> Compact:
        """The name of the fabric that each row is of."""
        f = self.fabric
        if not f.members:
            return coded_constant(f.name, rows)
        return Coded([m.name for m in f.members], members(f))

    def _setting(self, statements: Ints, name: str, row_class: Ints) -> Coded:
        """A connect's setting for every row; where it has one value a dimension, that of the row's class (-1:
        none)."""
        f = self.fabric

        def of(number: int, class_number: int) -> object:
            settings = f.statements[number - 1].settings if number else {}
            value = settings.get(name, "")
            if isinstance(value, tuple):
                classes = settings.get("class", ())
                own = f.classes[class_number - 1] if class_number else ""
                several = isinstance(classes, tuple) and len(classes) == len(value) and own in classes
                value = value[list(classes).index(own)] if several and isinstance(classes, tuple) else ""
            return _setting_as_cell(value)

        key = id(statements), id(row_class)
        if key not in self._stating:
            both = coded_combination(
                lambda *at: at, (len(f.statements) + 1, statements + 1), (len(f.classes) + 1, row_class + 1)
            )
            self._stating[key] = statements, row_class, both
        found = self._stating[key][2]
        return Coded([of(*at) for at in found.values], found.codes)  # type: ignore[misc]

    @cached_property
    def leg_length(self) -> NDArray[np.float64]:
        """Metres of every leg, not a number where the design says none."""
        said = self._setting(self.fabric.cable_statement, "length", self.fabric.cable_class).tolist()
        return np.array([v if isinstance(v, (int, float)) else np.nan for v in said], dtype=np.float64)

    def _stated(self, statements: Ints, values: Sequence[object]) -> Coded:
        """What a connect states, a value a statement; "" where there is no statement."""
        return Coded([*values, ""], np.where(statements >= 0, statements, len(values)))

    def _part_fact(self, statements: Ints, name: str) -> Coded:
        """What the catalogue says of the part that a connect names; "" where it names none."""
        parts = [s.settings.get("part") for s in self.fabric.statements]
        return self._stated(
            statements, [str(p.facts.get(name, "")) if isinstance(p, DeviceModel) else "" for p in parts]
        )

    def _part(self, statements: Ints) -> Coded:
        """What a connect says of its cable, a model of the catalogue as its maker writes it."""
        written = self._setting(statements, "cable", self.fabric.cable_class)
        makers = {p.name: part_display_name(p) for p in self.fabric.parts}
        return Coded([makers.get(str(v), v) for v in written.values], written.codes)

    def _optics(self, statements: Ints, end: int) -> Coded:
        """The transceivers that a connect pins at one end, "" where it pins none."""
        pinned = [s.settings.get("optics") for s in self.fabric.statements]
        return self._stated(
            statements, [part_display_name(p[end]) if isinstance(p, tuple) else "" for p in pinned]
        )

    def _colour(self) -> Coded:
        """The colour of each leg: that of its first link, or what the connect says where the leg has none."""
        f = self.fabric
        first = self._first_link
        numbers = np.where(first < 0, -1, np.append(f.link_colour, -1)[first])
        written = self._setting(f.cable_statement, "colour", f.cable_class)
        return coded_combination(
            lambda n, said: f.colours[n - 1] if n else written.values[said],
            (len(f.colours) + 1, numbers + 1),
            (len(written.values), written.codes),
        )

    # ------------------------------------------------------------ cables
    @cached_property
    def _first_link(self) -> Ints:
        """The lowest link that runs through each leg, -1 if none does."""
        links, cables = self.crossings
        lowest = np.full(len(self.fabric.cable_a), np.iinfo(np.int64).max)
        np.minimum.at(lowest, cables, links)
        return np.where(lowest == np.iinfo(np.int64).max, -1, lowest)

    def _over_links(self, values: Ints) -> Column | Compact:
        """For every leg the different values of its links: one, or several joined by blanks; none is ""."""
        first = self._first_link
        own = np.where(first < 0, -1, np.append(values, -1)[first])
        links, cables = self.crossings
        found = values[links]
        here = found >= 0
        if not (here & (found != own[cables])).any():
            return Numbers(own, -1)
        return (
            coded_number_sets(cables, found, len(own))
            if here.all()
            else coded_number_sets(cables[here], found[here], len(own))
        )

    def _cable_rate(self) -> Coded:
        links, cables = self.crossings
        total = np.zeros(len(self.fabric.cable_a), np.int64)
        rates, codes = self._rates
        for n, rate in enumerate(rates):
            mine = cables if len(rates) == 1 else cables[codes[links] == n]
            total += np.bincount(mine, minlength=len(total)) * rate
        sums, places = rank_values(total)
        return Coded([gigabits_per_second(r) if r else "" for r in sums.tolist()], places)

    @cached_property
    def _rates(self) -> tuple[list[int], Ints]:
        """The different rates of links in bits per second, and which of them each link has."""
        found, codes = rank_values(self.fabric.link_rate)
        return found.tolist(), narrow_column(codes)

    def _crossed(self, via: Ints) -> Coded:
        """The panel or optical switch of these ports, "" for -1."""
        device = np.where(via >= 0, self.fabric.port_device[via], self.fabric.device_count)
        return Coded(self.lists.or_none(self.devices.name), device)

    def _cable_via(self) -> Coded:
        """The panel or optical switch that the leg's first link crosses."""
        first = self._first_link
        return self._crossed(np.where(first < 0, -1, np.append(self.fabric.link_via_a, -1)[first]))

    def _bundle(self) -> Joined:
        """Hosts' cables are tied by the switch they go to, switches' by the kind of switch above."""
        f = self.fabric
        a, b = self._at(f.cable_a), self._at(f.cable_b)
        names = [*self.devices.name, *self.devices.family]
        near = np.where(f.is_end[a], a + f.device_count, a)
        far = np.where(f.is_end[a], b, b + f.device_count)
        return Joined(Coded(names, near), "/", Coded(names, far))

    @cached_property
    def ends(self) -> tuple[Joined, Joined]:
        """How labels name each end of every leg: device and faceplate port."""
        a, b = (
            Joined(self._device(p), " ", self._hole(self.ports.hole, p))
            for p in (self.fabric.cable_a, self.fabric.cable_b)
        )
        return a, b

    def _ids(self, legs: Ints | None = None) -> Joined:
        """Identifiers of the cables of all legs, or of these legs, "" for -1."""
        lead = self.identity.lead
        if legs is None:
            return Joined(self._device(lead), ":", self._hole(self.ports.hole_id, lead))
        names, holes = self.lists.or_none(self.devices.name), self.lists.or_none(self.ports.hole_id)
        device = np.append(self._at(lead), len(names) - 1).astype(np.int32)[legs]  # -1 chooses the last
        hole = np.append(self._hole_rows(lead), len(holes) - 1).astype(np.int32)[legs]
        if (here := legs >= 0).all():
            return Joined(Coded(names, device), ":", Coded(holes, hole))
        return Joined(
            Coded(names, device), Coded(["", ":"], here.astype(np.int32)), Coded(holes, hole), blank=True
        )

    @cached_property
    def cables(self) -> Table[Cable]:
        """One row a leg, in the order of the plan."""
        order = self.identity.ranks[0]
        turned: dict[int, tuple[Integers, Integers]] = {}

        def reordered(numbers: Integers) -> Integers:
            if id(numbers) in turned:
                return turned[id(numbers)][1]
            found: Integers = numbers_in_32_bits(numbers)[order]
            if any(numbers is shared for _, shared in self._made.values()):
                turned[id(numbers)] = (numbers, found)
            return found

        def ordered(make: Callable[[], Column | Compact]) -> Callable[[], Column | Compact]:
            def column() -> Column | Compact:
                values = make()
                if isinstance(values, (Coded, Numbers, Joined)):
                    return values.take(reordered)
                return [values[i] for i in order.tolist()]

            return column

        return Table(Cable, len(order), {n: ordered(make) for n, make in self._cable_columns.items()})

    def leg_column(self, name: str) -> Column | Compact:
        """A column of the table of cables, in the order of the fabric."""
        return self._cable_columns[name]()

    @cached_property
    def _cable_columns(self) -> dict[str, Callable[[], Column | Compact]]:
        """Columns of all legs, in the order of the fabric."""
        f = self.fabric
        by_statement, rows = f.cable_statement, len(f.cable_a)
        ends_a, ends_b = self.ends

        def setting(name: str) -> Callable[[], Compact]:
            return lambda: self._setting(by_statement, name, f.cable_class)

        columns: dict[str, Callable[[], Column | Compact]] = {
            "cable_id": self._ids,
            "leg": lambda: Numbers(f.cable_leg, 0),
            "rate_gbps": self._cable_rate,
            "links": lambda: Numbers(f.cable_links),
            "medium": setting("medium"),
            "part": lambda: self._part(by_statement),
            "length_m": setting("length"),
            "fibre": lambda: self._part_fact(by_statement, "fibre"),
            "polarity": lambda: self._part_fact(by_statement, "polarity"),
            "a_optic": lambda: self._optics(by_statement, 0),
            "b_optic": lambda: self._optics(by_statement, 1),
            "colour": self._colour,
            "via": self._cable_via,
            "bundle": self._bundle,
            "pull_order": lambda: Numbers(self.identity.turns()),
            "label_a": lambda: Joined("FROM ", *ends_a.pieces, " TO ", *ends_b.pieces),
            "label_b": lambda: Joined("FROM ", *ends_b.pieces, " TO ", *ends_a.pieces),
            "link_class": lambda: Coded(
                [*f.classes, ""], np.where(f.cable_class >= 0, f.cable_class, len(f.classes))
            ),
            "fabric_name": lambda: self._fabric_names(member_of_legs, rows),
            "plane": lambda: self._over_links(self.link_plane),
            "rail": lambda: self._over_links(self.link_rails),
            "phase": lambda: (
                [str(n) for n in phase_of_pulling(self.stages)] if self.stages else coded_constant("", rows)
            ),
            "status": lambda: coded_constant("planned", rows),
            "place": lambda: Coded(self.devices.place, self._at(f.cable_a)),
        }
        for end, ports in (("a", f.cable_a), ("b", f.cable_b)):
            columns[f"{end}_device"] = partial(self._device, ports)
            if f.places is not None:
                for k, name in enumerate(("hall", "rack", "u")):
                    columns[f"{end}_{name}"] = partial(self._rack, f.places, ports, k)
            columns[f"{end}_port"] = partial(self._hole, self.ports.hole, ports)
            columns[f"{end}_cage"] = partial(self._port, self.ports.cage, ports)
            columns[f"{end}_path"] = partial(self._port, self.ports.path, ports)
            columns[f"{end}_index"] = partial(self._number, ports)
        physical = physical_of(f)
        if physical is not None:
            columns |= chosen_columns(
                physical, {n: partial(_column_as_list, make) for n, make in columns.items()}
            )
        if physical is not None and f.places is not None:
            columns |= pulling_columns(f, physical, self.identity.ranks[1])
        return columns

    @cached_property
    def labels(self) -> Table[CableLabel]:
        """Two rows a cable, in the order of the cables: the label of its a end, then of its b end. A
        break-out has one for the connector that its legs share, behind it one for each leg's other end."""
        return Table(CableLabel, *self._labels[:2])

    @property
    def label_legs(self) -> Ints:
        """For every label a leg of its cable."""
        return self._labels[2]

    @cached_property
    def _labels(self) -> tuple[int, dict[str, Callable[[], Column | Compact]], Ints]:
        return cable_label_columns(self)

    # ------------------------------------------------------------ links
    def _link_cables(self) -> tuple[Ints, Ints]:
        """A leg of the cable at each link's a end, and of the other one at its b end if it crosses two; -1
        for none."""
        links, legs = self.crossings
        near, far = np.full((2, self.fabric.link_count), -1, np.int64)
        near[links[::-1]] = legs[::-1]
        lead = self.identity.lead
        names, hole = np.unique(self.ports.hole_id.astype(str), return_inverse=True)
        key = self._at(lead).astype(np.int64) * (len(names) + 1) + hole.ravel()[self._hole_rows(lead)]
        other = np.flatnonzero(key[legs] != key[near[links]])
        far[links[other]] = legs[other]
        return near, far

    @cached_property
    def links(self) -> Table[Link]:
        """One row a link, in the order of the fabric."""
        f = self.fabric
        near_far = cache(self._link_cables)
        bundles = cache(lambda: bundle_numbers(f))

        def setting(name: str) -> Callable[[], Compact]:
            return lambda: self._setting(f.link_statement, name, f.link_class)

        columns: dict[str, Callable[[], Column | Compact]] = {
            "cable_id": lambda: self._ids(near_far()[0]),
            "far_cable_id": lambda: self._ids(near_far()[1]),
            "link_class": lambda: Coded(f.classes, f.link_class),
            "medium": lambda: Coded(MEDIA, f.link_medium),
            "rate_bps": lambda: Coded(*self._rates),
            "rate_gbps": lambda: Coded([gigabits_per_second(r) for r in self._rates[0]], self._rates[1]),
            "via": lambda: self._crossed(f.link_via_a),
            "fec": setting("fec"),
            "mtu": self._mtu,
            "plane": lambda: Numbers(self.link_plane, -1),
            "rail": lambda: Numbers(self.link_rails, -1),
            "srlg": self._risks,
            "a_bundle": lambda: Numbers(bundles()[0], 0),
            "b_bundle": lambda: Numbers(bundles()[1], 0),
        }
        columns["infiniband"] = lambda: Coded([False, True], self._infiniband.astype(np.int32))
        columns["fabric_name"] = lambda: self._fabric_names(member_of_links, f.link_count)
        columns["layer"] = lambda: Coded(["", SCALEUP], scaleup_links(f).astype(np.int32))
        for end, ports, far in (("a", f.link_a, f.link_b), ("b", f.link_b, f.link_a)):
            columns[f"{end}_device"] = partial(self._device, ports)
            columns[f"{end}_port"] = partial(self._port, self.ports.path, ports)
            columns[f"{end}_index"] = partial(self._number, ports)
            columns[f"{end}_label"] = partial(self._port, self.ports.label, ports)
            columns[f"{end}_interface"] = partial(self._interface, ports)
            columns[f"{end}_cage"] = partial(self._port, self.ports.cage, ports)
            columns[f"{end}_neighbour"] = partial(self._device, far)
            columns[f"{end}_neighbour_port"] = partial(self._announced, far)
            columns[f"{end}_address"] = partial(self._address, end == "b")
            columns[f"{end}_asn"] = partial(self._asn, ports)
        return Table(Link, f.link_count, columns)

    def _mtu(self) -> Coded:
        """The MTU of every link, "" where the design does not say; hosts of Ethernet segments leave room for
        VXLAN."""
        f = self.fabric
        said = [_mtu_of_fabric(m) for m in f.members or (f,)]
        member = member_of_links(f) if f.members else np.zeros(f.link_count, np.int64)
        evpn = are_evpn_links(f)
        if evpn.any():
            both = [x for mtu in said for x in (mtu, int(mtu) - VXLAN_BYTES if mtu else "")]
            return Coded(both, 2 * member + evpn)
        return Coded(said, member) if f.members else coded_constant(said[0], f.link_count)

    def _address(self, second: bool) -> Column | Compact:
        """The addresses of one end of every link, joined by blanks; "" where it is unnumbered."""
        found, count = self.fabric.addressing, self.fabric.link_count
        if found is None or not any(kind == "links" for kind, _ in found.assigned):
            return coded_constant("", count)
        return [" ".join(f"{a}/{p.prefix}" for a, p in found.each("links", i, second)) for i in range(count)]

    def _asn(self, ports: Ints) -> Coded:
        """The ASN of the device at these ports, "" where it has none."""
        found = self.fabric.addressing
        if found is None:
            return coded_constant("", len(ports))
        return Coded([n or "" for n in found.asn.tolist()], self._at(ports))

    @cached_property
    def _systems(self) -> tuple[list[str], Integers]:
        """The operating systems of switches, and which of them each device runs."""
        names, codes = np.unique(self.fabric.switch_system, return_inverse=True)
        return names.tolist(), codes.ravel()

    def _by_port(self, ports: Ints, pick: Callable[[int, bool, bool, str], object]) -> Coded:
        """A column of one end of all links: ``pick`` is called with the row of the model's port, whether the
        link is InfiniBand, whether the device is a switch, and its operating system."""
        f = self.fabric
        names, codes = self._systems
        if id(ports) not in self._kinds:
            device = self._at(ports)
            self._kinds[id(ports)] = (
                ports,
                coded_combination(
                    lambda row, infiniband, switch, system: (
                        row,
                        bool(infiniband),
                        bool(switch),
                        names[system],
                    ),
                    (len(self.ports.path), self._port_rows(ports)),
                    (2, self._infiniband.astype(np.int8)),
                    (2, f.is_switch[device].astype(np.int8)),
                    (len(names), codes[device]),
                ),
            )
        kinds = self._kinds[id(ports)][1]
        return Coded([pick(*kind) for kind in kinds.values], kinds.codes)  # type: ignore[misc]

    def _announced(self, ports: Ints) -> Coded:
        """What these ends of all links announce of their port, "" where that is not known. LLDP of SONiC
        sends the alias; ``ibnetdiscover`` prints the number of a switch port and the name of an adapter."""
        number = np.concatenate(
            [np.arange(m.port_count) + 1 for m in self.fabric.models] or [np.zeros(0, np.int64)]
        )

        def of(row: int, infiniband: bool, switch: bool, system: str) -> object:
            found = self._system_name(row, infiniband, system)
            if infiniband and switch:
                return int(number[row])
            if system == "sonic" and not infiniband:
                return switch_description(self.ports.sonic_alias[row])[:128] if found else ""
            return found

        return self._by_port(ports, of)

    def _interface(self, ports: Ints) -> Coded:
        """What the operating system calls these ends of all links, "" where that is not known: on InfiniBand
        the RDMA device, else the network device."""
        return self._by_port(
            ports, lambda row, infiniband, switch, system: self._system_name(row, infiniband, system)
        )

    def _system_name(self, row: int, infiniband: bool, system: str) -> object:
        """A port as the operating system names it: the RDMA device, or the network device."""
        return self.ports.system[row] if infiniband else self._network_device(row, system)

    def _network_device(self, row: int, system: str) -> str:
        """The name of a port as a network device of an operating system; "" where that is not known."""
        if system == "sonic":
            return str(self.ports.sonic[row])
        found, pattern = str(self.ports.netdev[row]), self.interfaces.get(system)
        return found if not system or pattern is None or pattern.fullmatch(found) else ""

    def network_devices(self, ports: Ints) -> list[str]:
        """Names of these ports as network devices, by the operating system of each switch; "" where that is
        not known."""
        names, codes = self._systems
        rows = (len(self.ports.path), self.ports.rows(ports))
        devices = codes[self.fabric.port_device[ports]]
        found = coded_combination(
            lambda row, system: self._network_device(row, names[system]), rows, (len(names), devices)
        ).tolist()
        return [str(n) for n in found]

    @cached_property
    def _infiniband(self) -> Bools:
        """Links with both ends of InfiniBand types."""
        return infiniband_ports(self.fabric, self.fabric.link_a) & infiniband_ports(
            self.fabric, self.fabric.link_b
        )

    def _risks(self) -> Joined:
        """Shared-risk groups of every link: the cages at its ends and the panel or optical switch between."""
        f = self.fabric
        has = np.array([bool(c) for c in self.ports.cage], dtype=bool)
        names, none = self.lists.or_none(self.devices.name), f.device_count
        pieces: list[Coded] = []
        before = np.zeros(f.link_count, dtype=bool)
        for ports in (f.link_a, f.link_b):
            rows = self._port_rows(ports)
            here = has[rows]
            pieces += [
                Coded(["", ";"], (before & here).astype(np.int32)),
                Coded(names, np.where(here, self._at(ports), none)),
                Coded(["", "/"], here.astype(np.int32)),
                Coded(self.ports.cage, rows),
            ]
            before |= here
        via = self._crossed(f.link_via_a)
        crossed = f.link_via_a >= 0
        pieces += [Coded(["", ";"], (before & crossed).astype(np.int32)), via]
        return Joined(*pieces[1:], blank=not (before | crossed).all())

    @cached_property
    def classes(self) -> tuple[LinkClass, ...]:
        """Links and cables of every class; a breakout is one cable."""
        f = self.fabric
        cables = Counter(np.unique(np.stack((f.cable_class, f.cable_group)), axis=1)[0].tolist())
        out = []
        for number, name in enumerate(f.classes):
            rates = f.link_rate[f.link_class == number]
            one = gigabits_per_second(int(rates[0])) if len(rates) and (rates == rates[0]).all() else ""
            out.append(LinkClass(name, len(rates), cables[number], one))
        return tuple(out)

    @cached_property
    def circuits(self) -> Table[Circuit]:
        """Connections inside optical switches."""
        f = self.fabric
        return Table(
            Circuit,
            len(f.circuit_a),
            {
                "device": lambda: self._device(f.circuit_a),
                "a_port": lambda: self._port(self.ports.path, f.circuit_a),
                "a_index": lambda: self._number(f.circuit_a),
                "b_port": lambda: self._port(self.ports.path, f.circuit_b),
                "b_index": lambda: self._number(f.circuit_b),
                "link": lambda: Numbers(f.circuit_link, -1),
            },
        )


def _mtu_of_fabric(fabric: Fabric) -> int | str:
    """The MTU that a fabric states for its links, "" for none."""
    routing = fabric.addressing.routing if fabric.addressing is not None else None
    return (routing.mtu if routing is not None else None) or ""


def _column_as_list(make: Callable[[], Column | Compact]) -> Column:
    return values_of_column(make())


def _setting_as_cell(value: object) -> object:
    """A setting as a cell: lengths in metres, words as text."""
    if isinstance(value, Quantity) and value.dim == LENGTH:
        return int(value.amount) if value.amount.denominator == 1 else float(value.amount)
    if isinstance(value, (bool, int)):
        return value
    return str(value)
