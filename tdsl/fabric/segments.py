"""Ethernet segments (RFC 7432): port channels of hosts over two switches that ``bundle N across evpn`` makes,
and the VLANs of the pairs of switches that have them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tdsl.fabric.addresses import Addressing, Ip, Pool
from tdsl.fabric.cables.bundles import (
    are_evpn_links,
    links_of_bundle,
    switch_pairs_of_bundles,
)
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.system.lazy_dataclass import dataclass

SUBNET, VTEP = "E0489", "E0491"
"""Port channels of one pair of switches without one subnet; switches that cannot be ends of a tunnel."""
FIRST_VLAN, FIRST_VNI = 10, 10_000
"""The first VLAN of a pair of switches, and what a VLAN's VXLAN network identifier is above its number. Both
have a meaning between the two switches only."""
VXLAN_BYTES = 50
"""What VXLAN puts around an IP packet of a host: Ethernet (14), VXLAN (8), UDP (8), IPv4 (20); RFC 7348."""


@dataclass(frozen=True, slots=True)
class SegmentVlan:
    """A VLAN of a pair of switches, the lower row first: its number, and the pools of addresses that its
    hosts have, by number, IPv4 first."""

    pair: tuple[int, int]
    number: int
    pools: tuple[int, ...]

    @property
    def vni(self) -> int:
        """Its VXLAN network identifier."""
        return FIRST_VNI + self.number


class EthernetSegments:
    """The Ethernet segments of a fabric, and what is missing for them."""

    def __init__(self, fabric: Fabric, found: Addressing) -> None:
        self.fabric, self.found = fabric, found
        evpn = set(fabric.link_bundle[are_evpn_links(fabric)].tolist())
        pairs = switch_pairs_of_bundles(fabric) if evpn else {}
        self.pairs = {n: pair for n, pair in pairs.items() if n in evpn}

    @cached_property
    def pools(self) -> dict[int, tuple[int, ...]]:
        """The pools that each segment's host has its addresses from, by the number of its bundle; () where it
        has none."""
        out: dict[int, tuple[int, ...]] = dict.fromkeys(self.pairs, ())
        for version in (4, 6):
            assigned = self.found.assigned.get(("links", version))
            rows = np.flatnonzero(assigned.pool >= 0) if assigned is not None else ()
            for row in rows:
                bundle = int(self.fabric.link_bundle[row])
                if bundle in out and assigned is not None:
                    out[bundle] = (*out[bundle], int(assigned.pool[row]))
        return out

    @cached_property
    def vlans(self) -> dict[int, SegmentVlan]:
        """The VLAN of each segment, by the number of its bundle: a pair has one for each subnet."""
        of_pair: dict[tuple[int, int], set[tuple[int, ...]]] = {}
        for bundle, pair in self.pairs.items():
            of_pair.setdefault(pair, set()).add(self.pools[bundle])
        number = {
            (pair, pools): FIRST_VLAN + k
            for pair, found in of_pair.items()
            for k, pools in enumerate(sorted(found))
        }
        return {
            bundle: SegmentVlan(pair, number[pair, self.pools[bundle]], self.pools[bundle])
            for bundle, pair in self.pairs.items()
        }

    @property
    def addresses(self) -> Iterator[tuple[int, int, str, Pool]]:
        """Switch, number of the VLAN, address with its prefix length, and pool: of each VLAN the gateway at
        both switches, and the own address of each; none of EOS, which has the gateway alone (``ip address
        virtual``)."""
        for vlan in sorted(set(self.vlans.values()), key=lambda v: (v.pair, v.number)):
            for k, switch in enumerate(vlan.pair):
                alone = self.fabric.switch_system[switch] == "eos"
                for pool in (self.found.pools[n] for n in vlan.pools):
                    for address in (pool.gateway,) if alone else (pool.gateway, pool.own[k]):
                        yield switch, vlan.number, f"{address}/{pool.prefix}", pool

    def partner(self, switch: int) -> int | None:
        """The other switch of a switch's pair; None where it has no segments."""
        return self._partners.get(switch)

    @cached_property
    def _partners(self) -> dict[int, int]:
        return {d: other for one, two in self.pairs.values() for d, other in ((one, two), (two, one))}

    def tunnel_end(self, switch: int) -> Ip | None:
        """The IPv4 loopback of a switch, between which and that of its partner VXLAN's packets go."""
        loopback = self.found.of("loopback", 4, switch)
        return loopback[0] if loopback else None

    def refuse(self, diagnostics: Diagnostics) -> None:
        """Report segments without addresses, subnets that are not of one pair, and pairs whose switches do
        not reach each other's loopback."""
        self._refuse_without_addresses(diagnostics)
        self._refuse_shared_subnets(diagnostics)
        self._refuse_small_packets(diagnostics)
        for one, two in sorted(set(self.pairs.values())):
            self._refuse_tunnel(one, two, diagnostics)

    def _refuse_without_addresses(self, diagnostics: Diagnostics) -> None:
        bare: dict[int, list[int]] = {}
        for bundle, pools in self.pools.items():
            if not pools:
                link = links_of_bundle(self.fabric, bundle)[0]
                bare.setdefault(int(self.fabric.link_statement[link]), []).append(link)
        for statement, links in sorted(bare.items()):
            diagnostics.add(
                SUBNET,
                self.fabric.statements[statement].origin,
                f"{self.fabric.device_path(int(self.fabric.device_a[links[0]]))} has no address at its port "
                "channel across two switches, and EVPN multihoming joins the hosts of a subnet",
                count=len(links),
                help="give the hosts of each pair of switches a network: "
                "`address node links from 172.16.0.0/24`",
            )

    def _refuse_shared_subnets(self, diagnostics: Diagnostics) -> None:
        """Report each network that is at two pairs, or of two statements."""
        first: dict[str, tuple[int, tuple[int, int]]] = {}
        said: set[str] = set()
        for bundle, pools in self.pools.items():
            for number in pools:
                pool, pair = self.found.pools[number], self.pairs[bundle]
                other, there = first.setdefault(pool.network, (number, pair))
                if (other, there) == (number, pair) or pool.network in said:
                    continue
                said.add(pool.network)
                name = self.fabric.device_path
                diagnostics.add(
                    SUBNET,
                    pool.origin,
                    f"hosts of {pool.network} are at {name(there[0])} and {name(there[1])}, and at "
                    f"{name(pair[0])} and {name(pair[1])}"
                    if there != pair
                    else f"hosts of {pool.network} are numbered twice",
                    labels=[(self.found.pools[other].origin.span, "the other")] if other != number else (),
                    notes=["a VLAN of Ethernet segments is that of one pair of switches"],
                    help="give each pair a network of its own for all its hosts, as in "
                    '`address node[p, *] links from "172.16.{p}.0/24"`',
                )

    def _refuse_small_packets(self, diagnostics: Diagnostics) -> None:
        """Report a design whose links have the MTU of the system: VXLAN adds bytes to packets of hosts."""
        routing = self.found.routing
        if self.pairs and routing is not None and not routing.mtu:
            diagnostics.add(
                VTEP,
                routing.origin,
                "the design has Ethernet segments and does not say the MTU of its links",
                notes=[
                    f"VXLAN adds {VXLAN_BYTES} bytes to what goes from one switch of a pair to the other: "
                    "their hosts have an MTU that is so much smaller"
                ],
                help="write `routing bgp { unnumbered; mtu 9216 }`",
            )

    def _refuse_tunnel(self, one: int, two: int, diagnostics: Diagnostics) -> None:
        """Report a pair of which one has no IPv4 loopback or no ASN of its own."""
        name, asn = self.fabric.device_path, self.found.asn
        bare = next((d for d in (one, two) if self.tunnel_end(d) is None), None)
        where = self.fabric.set_of(one).origin
        if bare is not None:
            path = self.fabric.set_of(bare).path
            diagnostics.add(
                VTEP,
                where,
                f"{name(bare)} has Ethernet segments and no IPv4 loopback",
                notes=["VXLAN leads from the loopback of one switch of a pair to that of the other"],
                help=f"write `address {path} loopback from 10.255.0.0/16`",
            )
        elif asn[one] == asn[two] and asn[one]:
            diagnostics.add(
                VTEP,
                where,
                f"{name(one)} and {name(two)} share Ethernet segments and AS {int(asn[one])}",
                notes=[
                    "BGP refuses a path with the own number (RFC 4271): neither reaches the other's loopback"
                ],
                help="give each its own, as switches without a statement have: leave `asn` out, or write "
                "`asn PATH from NUMBER`",
            )
