"""Links, cables, labels and circuits as tables: array arithmetic over the fabric's columns, names last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tdsl.emit.quote import remark
from tdsl.emit.records import Cable, CableLabel, Circuit, Link, LinkClass
from tdsl.fabric.bundles import numbers as bundle_numbers
from tdsl.fabric.cables import Cables
from tdsl.fabric.columns import Column, Objects, Table
from tdsl.fabric.graph import MEDIA, Fabric, Ints
from tdsl.fabric.layers import SCALEUP, scaleup_links
from tdsl.fabric.part_facts import shown
from tdsl.fabric.places import Places
from tdsl.fabric.rails import link_rail
from tdsl.fabric.subnets import speaking
from tdsl.physical.columns import chosen_columns
from tdsl.physical.model import physical_of
from tdsl.physical.pulling import pulling_columns
from tdsl.physical.stages import Stage, pulled_in
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, Quantity


def gbps(rate: int) -> int | float:
    """Bits per second as a person writes them: 400, 12.5."""
    return rate // 10**9 if rate % 10**9 == 0 else rate / 10**9


def known(value: int) -> int | str:
    """A number, or "" for the -1 that stands for none."""
    return "" if value < 0 else value


class Wires:
    """What runs between the devices of a fabric."""

    def __init__(
        self, fabric: Fabric, interfaces: Mapping[str, re.Pattern[str]] | None = None, stages: Sequence[Stage] = ()
    ) -> None:
        """``interfaces``: how an operating system names ports, of those that say; a name of another form is not theirs.
        ``stages``: the fabric's phases up to this one."""
        self.fabric, self.interfaces, self.stages = fabric, interfaces or {}, stages
        self.identity = Cables(fabric)
        self.ports = self.identity.ports
        self.devices = self.identity.devices

    @property
    def crossings(self) -> tuple[Ints, Ints]:
        """Which link runs through which cable leg."""
        return self.identity.crossings

    @property
    def cable_order(self) -> tuple[Ints, Ints, list[str]]:
        """Rows of cables in the order of the plan, the rank of each row's cable, and its identifier."""
        return self.identity.order

    # ------------------------------------------------------------ shared columns
    def _port(self, of: Objects, ports: Ints) -> list[object]:
        found: list[object] = of[self.ports.rows(ports)].tolist()
        return found

    def _device(self, ports: Ints) -> list[str]:
        found: list[str] = self.devices.name[self.fabric.port_device[ports]].tolist()
        return found

    def _rack(self, places: Places, ports: Ints, what: int) -> list[object]:
        """Hall (0), rack (1) or unit (2) of the devices at these ports, "" where they have no place."""
        devices = self.fabric.port_device[ports]
        if what == 2:
            return [int(u) or "" for u in places.device_unit[devices]]
        names = [places.hall_name(r) for r in range(places.rack_count)] if what == 0 else places.rack_names
        return [names[r] if r >= 0 else "" for r in places.device_rack[devices].tolist()]

    def _number(self, ports: Ints) -> list[int]:
        f = self.fabric
        found: list[int] = (ports - f.port_base[f.port_device[ports]] + 1).tolist()
        return found

    @cached_property
    def link_plane(self) -> Ints:
        """Plane of every link, -1 if in none."""
        f = self.fabric
        return np.maximum(f.plane[f.device_a], f.plane[f.device_b])

    @cached_property
    def link_rails(self) -> Ints:
        """Rail of every link, -1 if in none."""
        return np.asarray(link_rail(self.fabric), dtype=np.int64)

    def _setting(self, statements: Ints, name: str, link_class: Column) -> list[object]:
        """A connect's setting for every row; where it has one value a dimension, that of the row's class."""
        out: list[object] = []
        for number, row_class in zip(statements.tolist(), link_class, strict=True):
            settings = self.fabric.statements[number].settings if number >= 0 else {}
            value = settings.get(name, "")
            if isinstance(value, tuple):
                classes = settings.get("class", ())
                several = isinstance(classes, tuple) and len(classes) == len(value) and row_class in classes
                value = value[list(classes).index(row_class)] if several and isinstance(classes, tuple) else ""
            out.append(_plain(value))
        return out

    @cached_property
    def leg_length(self) -> NDArray[np.float64]:
        """Metres of every leg, not a number where the design says none."""
        said = self._setting(self.fabric.cable_statement, "length", self._cable_class)
        return np.array([v if isinstance(v, (int, float)) else np.nan for v in said], dtype=np.float64)

    def _part_fact(self, statements: Ints, name: str) -> list[object]:
        """What the catalogue says of the part that a connect names; "" where it names none."""
        parts = [s.settings.get("part") for s in self.fabric.statements]
        facts = [str(p.facts.get(name, "")) if isinstance(p, DeviceModel) else "" for p in parts]
        return [facts[number] if number >= 0 else "" for number in statements.tolist()]

    def _optics(self, statements: Ints, end: int) -> list[object]:
        """The transceivers that a connect pins at one end, "" where it pins none."""
        pinned = [s.settings.get("optics") for s in self.fabric.statements]
        names = [shown(p[end]) if isinstance(p, tuple) else "" for p in pinned]
        return [names[number] if number >= 0 else "" for number in statements.tolist()]

    def _colour(self) -> list[object]:
        """The colour of each leg: that of its first link, or what the connect says where the leg has none."""
        f = self.fabric
        first = self._first_link
        numbers = np.where(first < 0, -1, np.append(f.link_colour, -1)[first]).tolist()
        written = self._setting(f.cable_statement, "colour", self._cable_class)
        return [f.colours[n] if n >= 0 else said for n, said in zip(numbers, written, strict=True)]

    # ------------------------------------------------------------ cables
    @cached_property
    def _first_link(self) -> Ints:
        """The lowest link that runs through each leg, -1 if none does."""
        links, cables = self.crossings
        lowest = np.full(len(self.fabric.cable_a), np.iinfo(np.int64).max)
        np.minimum.at(lowest, cables, links)
        return np.where(lowest == np.iinfo(np.int64).max, -1, lowest)

    def _over_links(self, values: Ints) -> list[object]:
        """For every leg the different values of its links: one, or several joined by blanks; none is ""."""
        first = self._first_link
        out: list[object] = [known(v) for v in np.where(first < 0, -1, np.append(values, -1)[first]).tolist()]
        links, cables = self.crossings
        several: dict[int, set[int]] = {}
        for cable, value in zip(cables.tolist(), values[links].tolist(), strict=True):
            if value >= 0 and value != out[cable]:
                several.setdefault(cable, set()).add(value)
        for cable, extra in several.items():
            own = out[cable]
            out[cable] = " ".join(map(str, sorted(extra | ({own} if isinstance(own, int) else set()))))
        return out

    @cached_property
    def _cable_class(self) -> list[str]:
        classes = self.fabric.classes
        return [classes[c] if c >= 0 else "" for c in self.fabric.cable_class.tolist()]

    def _cable_rate(self) -> list[object]:
        links, cables = self.crossings
        total = np.zeros(len(self.fabric.cable_a), np.int64)
        np.add.at(total, cables, self.fabric.link_rate[links])
        return [gbps(r) if r else "" for r in total.tolist()]

    def _cable_via(self) -> list[str]:
        """The panel or optical switch that the leg's first link crosses."""
        f = self.fabric
        first = self._first_link
        via = np.where(first < 0, -1, np.append(f.link_via_a, -1)[first])
        return [str(self.devices.name[f.port_device[p]]) if p >= 0 else "" for p in via.tolist()]

    def _bundle(self) -> list[str]:
        """Hosts' cables are tied by the switch they go to, switches' by the kind of switch above."""
        f = self.fabric
        a, b = f.port_device[f.cable_a], f.port_device[f.cable_b]
        name, family = self.devices.name, self.devices.family
        near = np.where(f.is_end[a], family[a], name[a])
        far = np.where(f.is_end[a], name[b], family[b])
        return [f"{x}/{y}" for x, y in zip(near.tolist(), far.tolist(), strict=True)]

    def _pull_order(self) -> list[int]:
        """1 for the cable to pull first: group by group, in it switch by switch; legs of one cable share theirs."""
        f = self.fabric
        places: dict[str, int] = {}
        number = np.array([places.setdefault(str(p), len(places)) for p in self.devices.place.tolist()], dtype=np.int64)
        lead = self.cable_order[1]
        leader = np.zeros(int(f.cable_group.max()) + 1 if len(f.cable_group) else 0, np.int64)
        leader[f.cable_group[::-1]] = np.arange(len(f.cable_group))[::-1]
        a, b = f.port_device[f.cable_a[leader]], f.port_device[f.cable_b[leader]]
        order = np.lexsort((lead[leader], b, number[a]))
        turn = np.empty(len(order), np.int64)
        turn[order] = np.arange(len(order)) + 1
        pulled: list[int] = turn[f.cable_group].tolist()
        return pulled

    def _sides(self, pick: Callable[[Ints], Column]) -> tuple[Column, Column]:
        return pick(self.fabric.cable_a), pick(self.fabric.cable_b)

    @cached_property
    def _ends(self) -> tuple[list[str], list[str]]:
        """How labels name each end of every leg: device and faceplate port."""

        def ends(ports: Ints) -> list[str]:
            return [f"{d} {p}" for d, p in zip(self._device(ports), self._port(self.ports.hole, ports), strict=True)]

        return ends(self.fabric.cable_a), ends(self.fabric.cable_b)

    @cached_property
    def cables(self) -> Table[Cable]:
        """One row a leg, by lower device, cage and faceplate name."""
        f = self.fabric
        order, _, ids = self.cable_order
        by_statement = f.cable_statement
        ends_a, ends_b = self._ends

        def setting(name: str) -> Callable[[], Column]:
            return lambda: self._setting(by_statement, name, self._cable_class)

        columns: dict[str, Callable[[], Column]] = {
            "cable_id": lambda: ids,
            "leg": lambda: [n or "" for n in f.cable_leg.tolist()],
            "rate_gbps": self._cable_rate,
            "links": f.cable_links.tolist,
            "medium": setting("medium"),
            "part": setting("cable"),
            "length_m": setting("length"),
            "fibre": lambda: self._part_fact(by_statement, "fibre"),
            "polarity": lambda: self._part_fact(by_statement, "polarity"),
            "a_optic": lambda: self._optics(by_statement, 0),
            "b_optic": lambda: self._optics(by_statement, 1),
            "colour": self._colour,
            "via": self._cable_via,
            "bundle": self._bundle,
            "pull_order": self._pull_order,
            "label_a": lambda: [f"FROM {a} TO {b}" for a, b in zip(ends_a, ends_b, strict=True)],
            "label_b": lambda: [f"FROM {b} TO {a}" for a, b in zip(ends_a, ends_b, strict=True)],
            "link_class": lambda: self._cable_class,
            "fabric_name": lambda: [f.name] * len(order),
            "plane": lambda: self._over_links(self.link_plane),
            "rail": lambda: self._over_links(self.link_rails),
            "phase": lambda: [str(n) for n in pulled_in(self.stages)] if self.stages else [""] * len(order),
            "status": lambda: ["planned"] * len(order),
            "place": lambda: self.devices.place[f.port_device[f.cable_a]].tolist(),
        }
        for end, ports in (("a", f.cable_a), ("b", f.cable_b)):
            columns[f"{end}_device"] = partial(self._device, ports)
            if f.places is not None:
                for k, name in enumerate(("hall", "rack", "u")):
                    columns[f"{end}_{name}"] = partial(self._rack, f.places, ports, k)
            columns[f"{end}_port"] = partial(self._port, self.ports.hole, ports)
            columns[f"{end}_cage"] = partial(self._port, self.ports.cage, ports)
            columns[f"{end}_path"] = partial(self._port, self.ports.path, ports)
            columns[f"{end}_index"] = partial(self._number, ports)
        physical = physical_of(f)
        if physical is not None:
            columns |= chosen_columns(physical, dict(columns))
        if physical is not None and f.places is not None:
            columns |= pulling_columns(f, physical, self.cable_order[1])
        return Table(Cable, len(order), {n: _reordered(make, order) for n, make in columns.items()})

    @cached_property
    def labels(self) -> Table[CableLabel]:
        """Two rows a cable, in the order of the cables: the label of its a end, then of its b end. A break-out has one for the
        connector that its legs share, behind it one for each leg's other end."""
        ids = self.cable_order[2]
        f = self.fabric
        rows = self._label_rows
        legs = [i for i, _, _ in rows]
        ends, places = self._ends, self._positions
        devices = self._sides(self._device)
        holes = self._sides(lambda p: self._port(self.ports.hole, p))

        def near(sides: tuple[Column, Column] | tuple[list[str], list[str]], before: str = "") -> Callable[[], Column]:
            return lambda: [f"{before}{sides[end][i]}" for i, end, _ in rows]

        def far(sides: tuple[Column, Column] | tuple[list[str], list[str]], before: str = "") -> Callable[[], Column]:
            return lambda: [before + ", ".join(str(sides[1 - end][n]) for n in members) for _, end, members in rows]

        def lengths() -> Column:
            length = self.cables.column("length_m")  # in the order of the cables
            at = dict(zip(self.cable_order[0].tolist(), length, strict=True))
            return [at[i] for i in legs]

        return Table(CableLabel, len(rows), {
            "cable_id": lambda: [ids[i] for i in legs],
            "leg": lambda: ["" if len(members) > 1 else int(f.cable_leg[i]) or "" for i, _, members in rows],
            "end": lambda: ["ab"[end] for _, end, _ in rows],
            "device": near(devices),
            "port": near(holes),
            "line1": lambda: [ids[i] for i in legs],
            "line2": near(ends, "FROM "),
            "line3": far(ends, "TO "),
            "near": near(places),
            "far": far(places),
            "length_m": lengths,
            "qr": lambda: [ids[i] for i in legs],
        })  # fmt: skip

    @cached_property
    def _label_rows(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Of every label a leg, its end (0 or 1), and the legs whose other ends it names."""
        f = self.fabric
        order = self.cable_order[0].tolist()
        group, leg = f.cable_group.tolist(), f.cable_leg.tolist()
        legs: dict[int, list[int]] = {}
        for i in order:
            if leg[i]:
                legs.setdefault(group[i], []).append(i)
        trunks: dict[int, int] = {}  # of break-outs the end where all legs have one connector
        for end, names in enumerate(self._ends):
            trunks |= {g: end for g, members in legs.items() if len(members) > 1 and len({names[i] for i in members}) == 1}
        out: list[tuple[int, int, tuple[int, ...]]] = []
        for i in order:
            trunk = trunks.get(group[i]) if leg[i] else None
            if trunk is None:
                out += [(i, 0, (i,)), (i, 1, (i,))]
                continue
            if legs[group[i]][0] == i:
                out.append((i, trunk, tuple(legs[group[i]])))
            out.append((i, 1 - trunk, (i,)))
        return out

    @cached_property
    def _positions(self) -> tuple[Column, Column]:
        """Both ends of every leg as TIA-606 writes positions: ``h1.A02-35:IB1/1/1``, and device and port without a place."""
        p = self.fabric.places

        def positions(ports: Ints) -> Column:
            holes = self._port(self.ports.hole, ports)
            names = [f"{d}:{h}" for d, h in zip(self._device(ports), holes, strict=True)]
            if p is None:
                return list(names)
            found = zip(*(self._rack(p, ports, k) for k in range(3)), holes, names, strict=True)
            return [f"{hall}.{rack}{f'-{u:02}' if u else ''}:{hole}" if rack else name for hall, rack, u, hole, name in found]

        return positions(self.fabric.cable_a), positions(self.fabric.cable_b)

    # ------------------------------------------------------------ links
    def _link_cables(self) -> tuple[list[str], list[str]]:
        """The cable at each link's a end, and the other one at its b end if it crosses two."""
        ids = self.cable_order[2]
        near, far = [""] * self.fabric.link_count, [""] * self.fabric.link_count
        for link, cable in zip(*(c.tolist() for c in self.crossings), strict=True):
            if not near[link]:
                near[link] = ids[cable]
            elif near[link] != ids[cable]:
                far[link] = ids[cable]
        return near, far

    @cached_property
    def links(self) -> Table[Link]:
        """One row a link, in the order of the fabric."""
        f = self.fabric
        class_names = [f.classes[c] for c in f.link_class.tolist()]
        near_far = self._link_cables()

        def setting(name: str) -> Callable[[], Column]:
            return lambda: self._setting(f.link_statement, name, class_names)

        columns: dict[str, Callable[[], Column]] = {
            "cable_id": lambda: near_far[0],
            "far_cable_id": lambda: near_far[1],
            "link_class": lambda: class_names,
            "medium": lambda: [MEDIA[m] for m in f.link_medium.tolist()],
            "rate_bps": f.link_rate.tolist,
            "rate_gbps": lambda: [gbps(r) for r in f.link_rate.tolist()],
            "via": lambda: [str(self.devices.name[f.port_device[p]]) if p >= 0 else "" for p in f.link_via_a.tolist()],
            "fec": setting("fec"),
            "mtu": self._mtu,
            "plane": lambda: [known(p) for p in self.link_plane.tolist()],
            "rail": lambda: [known(r) for r in self.link_rails.tolist()],
            "srlg": self._risks,
            "a_bundle": lambda: [n or "" for n in bundle_numbers(f)[0].tolist()],
            "b_bundle": lambda: [n or "" for n in bundle_numbers(f)[1].tolist()],
        }
        columns["layer"] = lambda: np.where(scaleup_links(f), SCALEUP, "").tolist()
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

    def _mtu(self) -> list[object]:
        """The MTU of every link, "" where the design does not say."""
        found = self.fabric.addressing
        mtu: object = found.routing.mtu if found is not None and found.routing is not None and found.routing.mtu else ""
        return [mtu] * self.fabric.link_count

    def _address(self, second: bool) -> list[object]:
        """The addresses of one end of every link, joined by blanks; "" where it is unnumbered."""
        found, count = self.fabric.addressing, self.fabric.link_count
        if found is None or not any(kind == "links" for kind, _ in found.dealt):
            return [""] * count
        return [" ".join(f"{a}/{p.prefix}" for a, p in found.each("links", i, second)) for i in range(count)]

    def _asn(self, ports: Ints) -> list[object]:
        """The ASN of the device at these ports, "" where it has none."""
        found = self.fabric.addressing
        if found is None:
            return [""] * len(ports)
        return [n or "" for n in found.asn[self.fabric.port_device[ports]].tolist()]

    def _announced(self, ports: Ints) -> list[object]:
        """What these ends of all links announce of their port, "" where that is not known. LLDP of SONiC sends the alias, which
        is set to the name on the faceplate; ``ibnetdiscover`` prints the number of a switch port and the name of an adapter."""
        f = self.fabric
        device = f.port_device[ports]
        found = self._interface(ports)
        numbers, labels = self._number(ports), self._port(self.ports.label, ports)
        for i in np.flatnonzero(np.array(self._infiniband, dtype=bool) & f.is_switch[device]).tolist():
            found[i] = numbers[i]
        for i in np.flatnonzero((f.switch_system[device] == "sonic") & ~np.array(self._infiniband, dtype=bool)).tolist():
            found[i] = remark(labels[i])[:128] if found[i] else ""
        return found

    def _interface(self, ports: Ints) -> list[object]:
        """What the operating system calls these ends of all links, "" where that is not known: on InfiniBand the RDMA device,
        else the network device."""
        found = zip(self._infiniband, self.network_devices(ports), self._port(self.ports.system, ports), strict=True)
        return [system if infiniband else netdev for infiniband, netdev, system in found]

    def network_devices(self, ports: Ints) -> list[str]:
        """Names of these ports as network devices, by the operating system of each switch; "" where that is not known."""
        f = self.fabric
        found = [str(n) for n in self._port(self.ports.netdev, ports)]
        systems = f.switch_system[f.port_device[ports]].tolist()
        if any(systems):
            sonic = self._port(self.ports.sonic, ports)
            for i, system in enumerate(systems):
                pattern = self.interfaces.get(system)
                if system == "sonic":
                    found[i] = str(sonic[i])
                elif pattern is not None and not pattern.fullmatch(found[i]):
                    found[i] = ""
        return found

    @cached_property
    def _infiniband(self) -> list[bool]:
        """Links with both ends of InfiniBand types."""
        both: list[bool] = (speaking(self.fabric, self.fabric.link_a) & speaking(self.fabric, self.fabric.link_b)).tolist()
        return both

    def _risks(self) -> list[str]:
        """Shared-risk groups of every link: the cages at its ends and the panel or optical switch between."""
        f = self.fabric
        columns = []
        for ports in (f.link_a, f.link_b):
            ends = zip(self._device(ports), self._port(self.ports.cage, ports), strict=True)
            columns.append([f"{d}/{c}" if c else "" for d, c in ends])
        columns.append([str(self.devices.name[f.port_device[p]]) if p >= 0 else "" for p in f.link_via_a.tolist()])
        return [";".join(filter(None, risks)) for risks in zip(*columns, strict=True)]

    @cached_property
    def classes(self) -> tuple[LinkClass, ...]:
        """Links and cables of every class; a break-out is one cable."""
        f = self.fabric
        cables = Counter(np.unique(np.stack((f.cable_class, f.cable_group)), axis=1)[0].tolist())
        out = []
        for number, name in enumerate(f.classes):
            rates = f.link_rate[f.link_class == number]
            one = gbps(int(rates[0])) if len(rates) and (rates == rates[0]).all() else ""
            out.append(LinkClass(name, len(rates), cables[number], one))
        return tuple(out)

    @cached_property
    def circuits(self) -> Table[Circuit]:
        """Connections inside optical switches."""
        f = self.fabric
        return Table(Circuit, len(f.circuit_a), {
            "device": lambda: self._device(f.circuit_a),
            "a_port": lambda: self._port(self.ports.path, f.circuit_a),
            "a_index": lambda: self._number(f.circuit_a),
            "b_port": lambda: self._port(self.ports.path, f.circuit_b),
            "b_index": lambda: self._number(f.circuit_b),
            "link": lambda: [known(n) for n in f.circuit_link.tolist()],
        })  # fmt: skip


def _reordered(make: Callable[[], Column], order: Ints) -> Callable[[], Column]:
    def column() -> Column:
        values = make()
        return [values[i] for i in order.tolist()]

    return column


def _plain(value: object) -> object:
    """A setting as a cell: lengths in metres, words as text."""
    if isinstance(value, Quantity) and value.dim == LENGTH:
        return int(value.amount) if value.amount.denominator == 1 else float(value.amount)
    if isinstance(value, (bool, int)):
        return value
    return str(value)
