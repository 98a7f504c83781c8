"""Switches and hosts as routers: interfaces, sessions and routes, one device at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from ipaddress import IPv4Address, ip_address, ip_network
from typing import NamedTuple

import numpy as np

from tdsl.emit.data.aggregates import aggregates_by_device
from tdsl.emit.link_tables import Wires, gigabits_per_second
from tdsl.emit.records import CHANNEL, Interface, Management, Overlay, Route, Router, Session, Vlan
from tdsl.fabric.addresses import Addressing, Ip, Pool
from tdsl.fabric.cables.bundles import (
    bundle_numbers_at_devices,
    lacp_system_mac,
    switch_pairs_of_bundles,
)
from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.segments import VXLAN_BYTES, EthernetSegments, SegmentVlan
from tdsl.fabric.subnets import switched_components
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.semantics.model import PortClass

CAGE_LANES = {
    "OSFP": 8,
    "QSFPDD": 8,
    "QSFP": 4,
    "QSFP28": 4,
    "QSFP56": 4,
    "QSFP112": 4,
    "SFP": 1,
    "SFP28": 1,
    "SFP56": 1,
}
"""Electrical lanes a direction: OSFP MSA, osfpmsa.org; QSFP-DD MSA, qsfp-dd.com; SFF-8665 and SFF-8402,
snia.org/sff."""


BMC = "bmc"
"""The interface of a host that its operating system does not have."""


class LinkAtPort(NamedTuple):
    """A link at one of its ports: the port, the link, the port at the other end, and whether this is the
    link's second end."""

    port: int
    link: int
    far: int
    second: bool


class RouterMaker:
    """Makes the routers of a fabric that says how it routes."""

    def __init__(self, wires: Wires, addressing: Addressing, diagnostics: Diagnostics) -> None:
        self.wires, self.found, self.diagnostics = wires, addressing, diagnostics
        self.fabric = wires.fabric
        self._facts: dict[
            tuple[int, int], tuple[int, bool, int]
        ] = {}  # of a model's port: lanes that share it, SONiC, own lanes
        self._refused: set[int] = set()  # statements whose hosts have no session

    def of(self, kind: str, only: Bools | None = None) -> Iterator[Router]:
        """Built switches, or hosts that have an ASN or addresses on their links, in the order of the fabric;
        of ``only`` these devices, if some are named."""
        f = self.fabric
        asked: Bools = f.built & (f.kind == kind)
        if only is not None:
            asked = asked & only
        nameless = self._nameless(asked)
        for device in np.flatnonzero(asked).tolist():
            mine = self._links(device)
            if device in nameless or not (len(mine) and (self.found.asn[device] or self._addressed(mine))):
                continue
            yield self._router(device, mine)

    @cached_property
    def _order(self) -> tuple[Ints, Ints, Ints, Bools, Ints]:
        """Ends of links sorted by port: ports, their links, the ports at the other ends, whether they are
        second ends, and the first end of every device."""
        f = self.fabric
        ports = np.concatenate([f.link_a, f.link_b])
        order = np.argsort(ports, kind="stable")
        links = np.concatenate([np.arange(f.link_count)] * 2)[order]
        starts = np.searchsorted(f.port_device[ports[order]], np.arange(f.device_count + 1))
        return ports[order], links, np.concatenate([f.link_b, f.link_a])[order], order >= f.link_count, starts

    def _links(self, device: int) -> list[LinkAtPort]:
        """The ends of links at a device, by port."""
        *columns, starts = self._order
        here = slice(int(starts[device]), int(starts[device + 1]))
        return list(map(LinkAtPort, *(c[here].tolist() for c in columns)))

    def _addressed(self, mine: list[LinkAtPort]) -> bool:
        return any(next(self.found.each("links", end.link), None) for end in mine)

    def _nameless(self, asked: Bools) -> set[int]:
        """Those with a link at a port whose network device is unknown, reported once for each model."""
        f = self.fabric
        ports = np.concatenate([f.link_a, f.link_b])
        device = f.port_device[ports]
        routed = asked[device] & (f.is_switch[device] | (self.found.asn[device] > 0))
        if self.found.assigned.get(("links", 4)) or self.found.assigned.get(("links", 6)):
            routed |= asked[device] & (f.kind[device] == "host")
        without = (np.array(self.wires.network_devices(ports), dtype=object) == "") & routed
        for number in distinct_values(f.device_model[device[without]]).tolist():
            c, i = f.port_class(int(ports[without & (f.device_model[device] == number)][0]))
            rdma, model = c.systems[i], f.models[number].name
            system = str(f.switch_system[device[without & (f.device_model[device] == number)][0]])
            if system and (rdma or system == "sonic"):
                what = f"port {c.path(i)} of {model} has no name under {system}" + (
                    f": `{rdma}` is not one" if rdma else ""
                )
                help = (
                    "number the ports as SONiC does: `sonic 8*(i - 1) lanes 8`"
                    if system == "sonic"
                    else "name the ports as that system does, or name another system with `nos`"
                )
            elif rdma:
                what = (
                    f"`{rdma}` is the RDMA device of port {c.path(i)} of {model}, and nothing names "
                    "its network device"
                )
                help = (
                    f'name both, as `rdma link` of that system shows them: `os "{rdma}"; netdev "enp24s0np0"`'
                )
            else:
                what = f"nothing says what the operating system of {model} calls port {c.path(i)}"
                help = 'name them: `port p[1..64]: 400Gbps { os "swp{i}" }`'
            switch = bool(f.is_switch[device[without & (f.device_model[device] == number)][0]])
            self.diagnostics.add(
                "E0513",
                c.origin,
                what,
                notes=[f"{'its routers' if switch else 'these hosts'} are not configured"],
                help=help,
                severity=Severity.ERROR if switch else Severity.WARNING,
            )
        return set(device[without].tolist())

    # ------------------------------------------------------------ one device
    def _router(self, device: int, mine: list[LinkAtPort]) -> Router:
        f, found = self.fabric, self.found
        interfaces: list[Interface] = []
        channels: list[Interface] = []
        sessions: list[Session] = []
        routes: list[Route] = []
        sides: dict[tuple[bool, bool], int] = {}
        own = self._networks_at(mine)
        for ends in self._bundles(mine):
            pair = self._pairs.get(int(f.link_bundle[ends[0].link])) if self._bundled else None
            addresses, static, far = self._addresses_of_bundle(device, self._at_both(ends, pair), own)
            there = int(f.port_device[ends[0].far])
            if (number := self._number(ends[0])) == 0:
                made = self._member(ends[0], addresses, static)
                interfaces.append(made)
            else:
                name = CHANNEL.format(number)
                members = [self._member(e) for e in ends]
                made = replace(
                    self._port_channel(device, ends, members, pair), addresses=addresses, routes=static
                )
                made = self._as_segment(device, ends[0], made)
                interfaces += [replace(m, channel=name, mtu=made.mtu) for m in members]
                channels.append(made)
            if pair is not None and found.asn[device] and found.asn[there]:
                self._refuse_session(ends[0], device, there)
            elif found.asn[device] and found.asn[there]:
                sessions += _bgp_sessions(made.name, made.description, int(found.asn[there]), far)
                side = bool(f.tier[there] > f.tier[device]), bool(f.tier[there] < f.tier[device])
                sides[side] = sides.get(side, 0) + 1
            routes += static
        loopbacks = tuple(Route(a.version, f"{a}/{p.prefix}") for a, p in found.each("loopback", device))
        return Router(
            self._devices[device], str(f.kind[device]), int(found.asn[device]), self._router_id(device),
            max(sides.values(), default=1), loopbacks,
            management_records(found, device), tuple(interfaces), tuple(sessions),
            tuple(dict.fromkeys(routes)), self.accepted, *self._routing_values(), self.route_count,
            self.aggregates.get(device, ()), self.own, tuple(channels),
            overlay=self._overlay(device, (*interfaces, *channels)),
        )  # fmt: skip

    def _port_channel(
        self, device: int, ends: list[LinkAtPort], members: list[Interface], pair: tuple[int, int] | None
    ) -> Interface:
        """The port channel of a bundle at a device, without addresses. ``pair`` are the two switches that a
        bundle across both ends at."""
        f, mine = self.fabric, self._number(ends[0])
        there = self._devices[int(f.port_device[ends[0].far])]
        too = f", {self._devices[pair[1]]}" if pair and device not in pair else ""
        mac = lacp_system_mac(*(self._devices[d] for d in pair)) if pair and device in pair else ""
        return Interface(
            CHANNEL.format(mine),
            f"{there}{too} port channel {self._number(ends[0], far=True)}",
            (),
            gigabits_per_second(sum(int(f.link_rate[e.link]) for e in ends)),
            sonic=members[0].sonic,
            between=members[0].between,
            members=tuple(m.name for m in members),
            system_mac=mac,
        )

    @cached_property
    def _segments(self) -> EthernetSegments:
        return EthernetSegments(self.fabric, self.found)

    @cached_property
    def _mtu_of_segments(self) -> int | str:
        """The MTU of hosts of Ethernet segments: VXLAN's bytes less than the links', "" if not said."""
        mtu = self._routing_values()[2]
        return int(mtu) - VXLAN_BYTES if mtu else ""

    def _as_segment(self, device: int, end: LinkAtPort, channel: Interface) -> Interface:
        """A port channel with what it has as an Ethernet segment; as it is, where it is none."""
        vlan = self._segments.vlans.get(int(self.fabric.link_bundle[end.link]))
        if vlan is None:
            return channel
        channel = replace(channel, mtu=self._mtu_of_segments)
        if device not in vlan.pair:
            pools = [self.found.pools[n] for n in vlan.pools]
            return replace(channel, on_link=tuple(Route(p.version, p.network) for p in pools))
        number = self._number(end)
        first = vlan.pair.index(device) == 0
        return replace(channel, vlan=vlan.number, segment=number, preferred=first == bool(number % 2))

    def _overlay(self, device: int, interfaces: tuple[Interface, ...]) -> Overlay | None:
        """What a switch needs for its Ethernet segments, None where it has none."""
        segments = self._segments
        peer = segments.partner(device)
        if peer is None:
            return None
        vlans = {v.number: v for v in segments.vlans.values() if device in v.pair}
        uplinks = [i.name for i in interfaces if i.between and not i.channel]
        return Overlay(
            str(segments.tunnel_end(device)),
            str(segments.tunnel_end(peer)),
            int(self.found.asn[peer]),
            f"{self._devices[peer]} EVPN",
            lacp_system_mac(self._devices[device], self._devices[peer]),
            self._mtu_of_segments,
            tuple(self._vlan(device, vlans[n]) for n in sorted(vlans)),
            tuple(uplinks),
        )

    def _vlan(self, device: int, vlan: SegmentVlan) -> Vlan:
        """A VLAN at a switch."""
        pools = [self.found.pools[n] for n in vlan.pools]
        mine = vlan.pair.index(device)
        return Vlan(
            vlan.number,
            vlan.vni,
            tuple(p.network for p in pools),
            tuple(f"{p.gateway}/{p.prefix}" for p in pools),
            tuple(f"{p.own[mine]}/{p.prefix}" for p in pools),
        )

    def _addresses_of_bundle(
        self, device: int, ends: list[LinkAtPort], networks: frozenset[str]
    ) -> tuple[tuple[str, ...], tuple[Route, ...], list[tuple[int, str]]]:
        """Of the links of a bundle at a device its addresses with their prefixes, the static routes of a
        device without BGP, and IP version and address of the far ends. ``networks`` are those of all links of
        the device."""
        found = self.found
        own = [x for e in ends for x in found.each("links", e.link, e.second)]
        other = [x for e in ends for x in found.each("links", e.link, not e.second)]
        other = other or [(ip_address(p.gateway), p) for _, p in own if p.own]
        addresses = tuple(f"{a}/{p.prefix}" for a, p in own)
        there = int(self.fabric.port_device[ends[0].far])
        static = () if found.asn[device] else self._static_routes(there, other, networks)
        return addresses, static, [(a.version, str(a)) for a, _ in other]

    def _networks_at(self, mine: list[LinkAtPort]) -> frozenset[str]:
        """The networks from which the links of a device have addresses."""
        return frozenset(p.network for e in mine for _, p in self.found.each("links", e.link))

    def _static_routes(
        self, there: int, other: list[tuple[Ip, Pool]], own: frozenset[str]
    ) -> tuple[Route, ...]:
        """What a host without BGP reaches by a link to a device: the link's own network, and those of links
        to hosts that the switches announce which the device is joined to. A network in which the host has a
        link of its ``own``, such as that of another rail, it reaches by that link."""
        out: dict[Route, None] = {}
        for address, pool in other:
            beyond = self._networks_behind.get(int(self._parts[there]), ())
            networks = [n for version, n in beyond if version == address.version and n not in own]
            if not pool.own:  # else the host is in it
                networks.insert(0, pool.network)
            out |= dict.fromkeys(Route(address.version, network, str(address)) for network in networks)
        return tuple(out)

    @cached_property
    def _parts(self) -> Ints:
        """A number for every device, the same for switches that links join."""
        return switched_components(self.fabric)

    @cached_property
    def _networks_behind(self) -> dict[int, list[tuple[int, str]]]:
        """IP version and network of the pools of links that lead from switches to hosts, by the number of the
        switches that links join, in the order of the pools."""
        f = self.fabric
        out: dict[int, list[tuple[int, str]]] = {}
        to_host = f.is_end[f.device_a] & f.is_switch[f.device_b]
        part = self._parts[f.device_b]
        for (kind, version), assigned in sorted(self.found.assigned.items()):
            rows = (
                np.flatnonzero(to_host & (assigned.pool >= 0)) if kind == "links" else np.zeros(0, np.int64)
            )
            pairs = np.unique(np.stack([part[rows], assigned.pool[rows]]), axis=1).T.tolist()
            for number, pool in pairs:
                network = version, self.found.pools[pool].network
                if network not in out.setdefault(number, []):
                    out[number].append(network)
        return out

    def _routing_values(self) -> tuple[bool, bool, int | str, int, int]:
        """Whether routers use BFD and graceful restart, the MTU, "" for none, and BFD's interval and
        multiplier."""
        routing = self.found.routing
        if routing is None:
            return False, False, "", 0, 0
        return (
            routing.bfd,
            routing.graceful_restart,
            routing.mtu or "",
            routing.bfd_ms,
            routing.bfd_multiplier,
        )

    def _bundles(self, mine: list[LinkAtPort]) -> list[list[LinkAtPort]]:
        """The ends of a device, those of a bundle together where the first of them is."""
        if not self._bundled:
            return [[end] for end in mine]
        out: dict[tuple[bool, int], list[LinkAtPort]] = {}
        for end in mine:
            bundle = int(self.fabric.link_bundle[end.link])
            out.setdefault((bundle >= 0, bundle if bundle >= 0 else end.port), []).append(end)
        return list(out.values())

    @cached_property
    def _bundled(self) -> bool:
        return bool((self.fabric.link_bundle >= 0).any())

    @cached_property
    def _pairs(self) -> dict[int, tuple[int, int]]:
        """The two switches of each bundle that leads from a host to two."""
        return switch_pairs_of_bundles(self.fabric)

    def _at_both(self, ends: list[LinkAtPort], pair: tuple[int, int] | None) -> list[LinkAtPort]:
        """The ends of a bundle of which one has the addresses: of one over two switches all its links, seen
        from the same side, so that both switches have the address."""
        if pair is None:
            return ends
        return [
            ends[0]._replace(link=link)
            for link in self._links_across[int(self.fabric.link_bundle[ends[0].link])]
        ]

    @cached_property
    def _links_across(self) -> dict[int, list[int]]:
        """The links of each bundle that leads to two switches."""
        out: dict[int, list[int]] = {bundle: [] for bundle in self._pairs}
        for link, bundle in enumerate(self.fabric.link_bundle.tolist()):
            if bundle in out:
                out[bundle].append(link)
        return out

    def _refuse_session(self, end: LinkAtPort, device: int, there: int) -> None:
        """Report that a host with an ASN has a port channel over two switches, once for its statement: its
        one address there is that of both, so either may get the packets of a session with the other."""
        statement = int(self.fabric.link_statement[end.link])
        if statement in self._refused or self.fabric.is_end[device]:
            return  # the switch's side says it
        self._refused.add(statement)
        self.diagnostics.add(
            "E0512",
            self.fabric.statements[statement].origin,
            f"{self._devices[there]} has an ASN, and no BGP session over a port channel across two switches",
            help="leave the ASN of these hosts out: they get static routes; or leave out `bundle`, and each "
            "link has a session",
        )

    def _number(self, end: LinkAtPort, far: bool = False) -> int:
        """The number of a link's bundle at this end, or at the far one; 0 for none."""
        return int(self._channels[end.second != far][end.link]) if self._bundled else 0

    @cached_property
    def _channels(self) -> tuple[Ints, Ints]:
        return bundle_numbers_at_devices(self.fabric)

    def _member(
        self, end: LinkAtPort, addresses: tuple[str, ...] = (), routes: tuple[Route, ...] = ()
    ) -> Interface:
        """A port as its system sees it."""
        f, names = self.fabric, self._names
        there = int(f.port_device[end.far])
        text = f"{self._devices[there]} {names[end.far] or f.port_system(end.far) or f.port_label(end.far)}"
        local = (
            int(f.device_model[f.port_device[end.port]]),
            end.port - int(f.port_base[f.port_device[end.port]]),
        )
        if local not in self._facts:
            c, i = f.port_class(end.port)
            self._facts[local] = c.split, bool(c.sonic), _lanes_of_port(c, i)
        split, sonic, lanes = self._facts[local]
        rate = gigabits_per_second(int(f.link_rate[end.link]))
        return Interface(
            names[end.port], text, addresses, rate, routes, split, sonic, lanes, bool(f.is_switch[there])
        )

    @cached_property
    def _devices(self) -> list[str]:
        """Names of all devices."""
        names: list[str] = self.wires.devices.name.tolist()
        return names

    @cached_property
    def _names(self) -> dict[int, str]:
        """Names of all ports that have links."""
        ports = self._order[0]
        return dict(zip(ports.tolist(), self.wires.network_devices(ports), strict=True))

    def _router_id(self, device: int) -> str:
        """The IPv4 loopback, else a number that no other device has (RFC 6286 asks for no more)."""
        loopback = self.found.of("loopback", 4, device)
        return str(loopback[0]) if loopback else str(IPv4Address(device + 1))

    @cached_property
    def route_count(self) -> int:
        """Networks that routers exchange: loopbacks, and links that lead to hosts, of all IP versions."""
        f, out = self.fabric, 0
        to_host = f.is_end[f.device_a] | f.is_end[f.device_b]
        for (kind, _), assigned in self.found.assigned.items():
            used = (
                assigned.pool[to_host]
                if kind == "links"
                else assigned.pool[f.built]
                if kind == "loopback"
                else assigned.pool[:0]
            )
            out += int((used >= 0).sum())
        return out

    @cached_property
    def aggregates(self) -> dict[int, tuple[Route, ...]]:
        """Of every switch that has some."""
        return aggregates_by_device(self.found)

    @cached_property
    def own(self) -> tuple[Route, ...]:
        """What a host announces of itself. A link in an aggregate is not among it: its route would be longer
        than the aggregate's, and lead to it by the host's other links."""
        return self._networks(("loopback",)) if self.aggregates else self.accepted

    @cached_property
    def accepted(self) -> tuple[Route, ...]:
        """What routers tell each other: loopbacks, and the networks of links that lead to hosts (RFC 7938,
        section 5.2.3, keeps those between switches out)."""
        return self._networks(("loopback", "links"))

    def _networks(self, kinds: tuple[str, ...]) -> tuple[Route, ...]:
        f, found = self.fabric, self.found
        out: dict[Route, None] = {}
        to_host = f.is_end[f.device_a] | f.is_end[f.device_b]
        for (kind, version), assigned in sorted(
            found.assigned.items(), key=lambda item: (item[0][1], item[0][0] != "loopback")
        ):
            used = assigned.pool[to_host] if kind == "links" else assigned.pool
            for number in distinct_values(used[used >= 0]).tolist() if kind in kinds else ():
                pool = found.pools[number]
                length = ip_network(pool.network).prefixlen
                if kind == "links" and pool.network in self._shortest:
                    least = self._shortest[pool.network]
                    if least == length:
                        out[Route(version, pool.network)] = None
                    out[Route(version, pool.network, "", max(least, length + 1))] = None
                    continue
                out[Route(version, pool.network, "", pool.prefix if pool.prefix > length else "")] = None
        return tuple(out)

    @cached_property
    def _shortest(self) -> dict[str, int]:
        """Network of a pool -> the prefix length of the largest aggregate in it."""
        lengths: dict[str, int] = {}
        pools = {ip_network(p.network): p.network for p in self.found.pools if p.kind == "links"}
        wide = sorted({n.prefixlen for n in pools})
        for route in {r for routes in self.aggregates.values() for r in routes}:
            net = ip_network(route.network)
            home = next(
                pools[n]
                for w in wide
                if w <= net.prefixlen
                for n in [net.supernet(new_prefix=w)]
                if n in pools
            )
            lengths[home] = min(lengths.get(home, 128), net.prefixlen)
        return lengths


def _lanes_of_port(c: PortClass, index: int) -> int:
    """Lanes of the signal that a port has to itself: the cage's, shared by the ports in it. 0 where the form
    is not known."""
    lanes = CAGE_LANES.get(c.form, 0)
    return lanes // c.cages.count(c.cages[index]) if lanes else 0


def _bgp_sessions(name: str, text: str, asn: int, far: list[tuple[int, str]]) -> list[Session]:
    """One over the interface where the link has no addresses; else one an address, each with the routes of
    its version. An IPv6 one alone carries those of both (RFC 8950)."""
    if not far:
        return [Session(name, True, asn, (4, 6), text)]
    alone = len(far) == 1 and far[0][0] == 6
    return [Session(address, False, asn, (4, 6) if alone else (version,), text) for version, address in far]


def management_records(found: Addressing, device: int) -> tuple[Management, ...]:
    """The management addresses that the operating system of a device has, IPv4 first. What is written for the
    interface `bmc` of a host is its controller's."""
    host = found.fabric.kind[device] == "host"
    return tuple(
        Management(p.interface, p.vrf, a.version, f"{a}/{p.prefix}", p.gateway)
        for a, p in found.each("management", device)
        if not (host and p.interface == BMC)
    )
