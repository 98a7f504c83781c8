"""Addresses and ASNs: pools, and for every device and link the pool and the rank in it. Addresses are
computed when asked for.

A rank counts the *planned* population of a statement, omitted members included, so growth at its end moves no
value. A link's rank comes from the port at the end that the statement names: (rank of the device) x (ports it
may use) + (place of the port).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
)
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.cables.bundles import are_evpn_links, spare_members
from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.resolve import Resolver, StatementSide, note_unread_variables, variable_assignments
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin
from tdsl.semantics.fault import Excused, Fault
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.asns import Asns
    from tdsl.semantics.addressing import AddressRule
    from tdsl.semantics.model import DeviceModel
    from tdsl.semantics.plan import FabricPlan
    from tdsl.semantics.routing import Roce, RoutingSettings
    from tdsl.semantics.scope import Scope

Ip = IPv4Address | IPv6Address
DEVICE_KINDS = ("loopback", "management", "bmc")
"""Kinds of addresses that a device has; those of links are of kind ``links``."""
LARGEST = 1 << 40
"""The most values that are looked for in a pool; no fabric has as many."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A run of addresses: ``step`` of them a value (two for a link), ``count`` values, the first one at
    ``first``.

    ``network`` is the whole network as written, ``prefix`` the length of the mask that the addresses are used
    with. Links of Ethernet segments have one address a value, that of the host: ``gateway`` is then the
    address of both switches, and ``own`` the two behind it, which are those of one switch each.
    """

    kind: str  # one of DEVICE_KINDS, or links
    version: int
    first: int
    step: int
    count: int
    network: str
    prefix: int
    interface: str
    vrf: str
    gateway: str
    origin: Origin
    own: tuple[Ip, ...] = ()

    def address(self, rank: int, second: bool = False) -> Ip:
        """The address of a rank; of a link's two, the second."""
        make = IPv4Address if self.version == 4 else IPv6Address
        return make(self.first + rank * self.step + second)


@dataclass(frozen=True, slots=True)
class AssignedAddresses:
    """Pool and rank of every row (devices, or links); -1 where there is none."""

    pool: Ints
    rank: Ints


@dataclass(eq=False)
class Addressing:
    """All a fabric says about addresses and routing. ``assigned`` has a column for each kind and IP version
    in use."""

    fabric: Fabric
    pools: tuple[Pool, ...] = ()
    assigned: Mapping[tuple[str, int], AssignedAddresses] = field(default_factory=dict)
    asns: Asns | None = None
    routing: RoutingSettings | None = None
    roce: Roce | None = None

    def of(self, kind: str, version: int, row: int, second: bool = False) -> tuple[Ip, Pool] | None:
        """The address of a device or link and its pool, None if it has none. The second end of an Ethernet
        segment's link has none."""
        assigned = self.assigned.get((kind, version))
        if assigned is None or assigned.pool[row] < 0:
            return None
        pool = self.pools[int(assigned.pool[row])]
        if second and pool.own:
            return None  # a port of a VLAN
        return pool.address(int(assigned.rank[row]), second), pool

    def each(self, kind: str, row: int, second: bool = False) -> Iterator[tuple[Ip, Pool]]:
        """The addresses of a device or link, IPv4 first."""
        for version in (4, 6):
            found = self.of(kind, version, row, second)
            if found is not None:
                yield found

    @cached_property
    def asn(self) -> Ints:
        """The ASN of every device, 0 where it has none."""
        return self.asns.number if self.asns else np.zeros(self.fabric.device_count, dtype=np.int64)


def assign_addresses(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> Addressing:
    """Assign the addresses that the rules of a plan give. What cannot be assigned is a finding."""
    assigner = _AddressAssigner(plan, fabric)
    for replaces in (False, True):
        for rule in plan.rules:
            if rule.kind == "asn" or rule.replaces != replaces:
                continue
            try:
                assigner.assign(rule)
            except Fault as fault:
                fault.report(diagnostics)
            except Excused:
                pass
    from tdsl.fabric.asns import asns_of

    asns = asns_of(plan, fabric, diagnostics) if plan.routing else None
    return Addressing(fabric, tuple(assigner.pools), assigner.assigned, asns, plan.routing, plan.roce)


class _AddressAssigner:
    """Assigns the addresses of one fabric, rule by rule."""

    def __init__(self, plan: FabricPlan, fabric: Fabric) -> None:
        self.plan, self.fabric = plan, fabric
        self.pools: list[Pool] = []
        self.assigned: dict[tuple[str, int], AssignedAddresses] = {}
        self.replaced: list[int] = []  # pools of overrides

    def assign(self, rule: AddressRule) -> None:
        """One rule: a pool for each of its populations, and a rank for each member."""
        for found in populations_of_rule(self.plan, self.fabric, rule):
            written = self.plan.evaluator.evaluate(rule.value, found.scope)
            segments = self.are_of_segments(rule, found.rows)
            pool = pool_of(rule, written, segments)
            planned = found.planned
            if planned > pool.count and not rule.each:
                raise Fault(
                    "E0471",
                    rule.value.span,
                    f"this is one value, and {planned:,} devices are to have one each",
                    help="write `from` before a network, and the k-th device gets the k-th value",
                )
            if planned > pool.count:
                raise Fault(
                    "E0471",
                    rule.value.span,
                    f"{pool.network} has room for {_address_count_text(pool.count, rule.kind)}, and "
                    f"{planned:,} are planned",
                    notes=[_planned_ranks_note(rule, planned)],
                    help=f"take {_larger_network_hint(rule, str(written), planned, segments)}"
                    + (
                        ", or name the ports that need one: `leaf[*].p[33..64]`"
                        if rule.kind == "links"
                        else ""
                    ),
                )
            self.keep(rule, pool, found.rows, found.ranks)

    def are_of_segments(self, rule: AddressRule, rows: Ints) -> bool:
        """Whether the links of a rule are those of Ethernet segments. Raises Fault where some are."""
        if rule.kind != "links" or not len(rows):
            return False
        evpn = are_evpn_links(self.fabric)[rows]
        if evpn.any() and not evpn.all():
            raise Fault(
                "E0489",
                rule.origin,
                f"{self.name('links', int(rows[np.argmax(evpn)]))} is of an Ethernet segment, and "
                f"{self.name('links', int(rows[np.argmin(evpn)]))} is not",
                help="name the ports of each in a statement of its own: hosts of a segment share a network, "
                "and other links have one each",
            )
        return bool(evpn.any())

    def keep(self, rule: AddressRule, pool: Pool, rows: Ints, ranks: Ints) -> None:
        """Enter what a pool gives; two rules for one row are a fault."""
        size = self.fabric.link_count if rule.kind == "links" else self.fabric.device_count
        none = np.full(size, -1, dtype=np.int64)
        assigned = self.assigned.setdefault((rule.kind, pool.version), AssignedAddresses(none, none.copy()))
        taken = assigned.pool[rows]
        clash = taken >= 0
        if rule.replaces:
            clash &= np.isin(taken, self.replaced)
        if clash.any():
            at = int(np.argmax(clash))
            raise Fault(
                "E0472",
                rule.origin,
                f"{self.name(rule.kind, int(rows[at]))} already has such an IPv{pool.version} address",
                labels=[(self.pools[int(taken[at])].origin.span, "given here")],
                count=int(clash.sum()),
                help="leave it out of one of the two, or write `override PATH { address loopback … }`",
            )
        assigned.pool[rows], assigned.rank[rows] = len(self.pools), ranks
        if rule.replaces:
            self.replaced.append(len(self.pools))
        self.pools.append(pool)

    def name(self, kind: str, row: int) -> str:
        """A device, or a link by its lower end."""
        f = self.fabric
        return f"the link at {f.port_path(int(f.link_a[row]))}" if kind == "links" else f.device_path(row)


def _address_count_text(room: int, kind: str) -> str:
    what = {"links": "link", "loopback": "loopback"}.get(kind, "address")
    return f"{room:,} {what}{'' if room == 1 else 'es' if what == 'address' else 's'}"


def _planned_ranks_note(rule: AddressRule, planned: int) -> str:
    if rule.kind != "links":
        return f"{planned:,} members are planned; those not built keep theirs"
    return f"each of the {planned:,} ports that the statement names keeps one, linked or not"


@dataclass(frozen=True, slots=True)
class Population:
    """Rows (devices, or links) that a rule gives values to, and the rank of each among the ``planned`` ones.
    ``scope`` holds the index variables where the value rests on them."""

    scope: Scope
    rows: Ints
    ranks: Ints
    planned: int


def populations_of_rule(plan: FabricPlan, fabric: Fabric, rule: AddressRule) -> Iterator[Population]:
    """The population of a rule; one for each assignment of its index variables if its value is a text with
    placeholders."""
    own = isinstance(rule.value, tree.Str) and any(not isinstance(p, str) for p in rule.value.parts)
    over = variable_assignments(
        rule.context, (*rule.targets, *rule.far), None, rule.scope, plan.evaluator, rule.origin.span
    )
    note_unread_variables(plan, over, rule.origin.span)
    resolver = Resolver(rule.scope, plan.evaluator, over)
    side = resolver.side(rule.targets)
    far = resolver.side(rule.far).rows if rule.far else None
    for here in [slice(k, k + 1) for k in range(over.count)] if own else [slice(0, over.count)]:
        scope = over.scope(here.start, rule.scope) if own else rule.scope
        if rule.kind == "links":
            ports = ports_of(fabric, side, here)
            links, ranks = _links_at_ports(fabric, ports, None if far is None else distinct_values(far[here]))
            yield Population(scope, links, ranks, len(ports))
            continue
        rows = side.rows[here].ravel()
        if len(distinct_values(rows)) < len(rows):
            raise Fault("E0120", rule.origin, "this names a device twice", help="name each device once")
        yield Population(scope, rows, np.arange(len(rows), dtype=np.int64), len(rows))


def ports_of(fabric: Fabric, side: StatementSide, here: slice) -> Ints:
    """Ports that a rule may number, -1 where a device has fewer: in order of the devices, then of their
    ports."""
    rows = side.rows[here]
    blocks = []
    ranges = {  # by name of a class, of each model
        name: np.array([_port_class_range(m, name) for m in fabric.models], dtype=np.int64)
        for name in {c.name for c in side.choices}
    }
    for column, devices in enumerate(rows.T):
        choice = side.choices[int(side.column_choice[column])]
        first, count = ranges[choice.name][fabric.device_model[devices]].T
        most = int(count.max(initial=0))
        local = np.arange(most)[None, :] if choice.local is None else choice.local[here]
        port = (fabric.port_base[devices] + first)[:, None] + local
        blocks.append(np.where(local < count[:, None], port, -1))
    out = np.full((len(rows), len(blocks), max((b.shape[1] for b in blocks), default=0)), -1, dtype=np.int64)
    for column, block in enumerate(blocks):
        out[:, column, : block.shape[1]] = block
    ports: Ints = out.ravel()
    return ports


def _port_class_range(model: DeviceModel, name: str) -> tuple[int, int]:
    """First port and size of a class of a model; of all its ports where no class is named."""
    parts = model.parts(name) if name else ()
    return (parts[0].first, sum(c.size for c in parts)) if parts else (0, 0 if name else model.port_count)


def _links_at_ports(fabric: Fabric, ports: Ints, far: Ints | None) -> tuple[Ints, Ints]:
    """The links at these ports that lead to the far devices (to any, if None), each once, and the rank of its
    port."""
    if not fabric.link_count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    ranks = np.flatnonzero(ports >= 0)
    links = fabric.port_link[ports[ranks]].astype(np.int64)
    ranks, links = ranks[links >= 0], links[links >= 0]
    if far is not None:
        other = np.where(fabric.link_a[links] == ports[ranks], fabric.device_b[links], fabric.device_a[links])
        keep = np.isin(other, far)
        ranks, links = ranks[keep], links[keep]
    links, first = np.unique(links, return_index=True)
    ranks = ranks[first]
    order = np.argsort(ranks, kind="stable")
    members = np.isin(
        links, spare_members(fabric, links[order])
    )  # a bundle has one address, that of its first port
    return links[~members], ranks[~members]


def pool_of(rule: AddressRule, value: object, segments: bool = False) -> Pool:
    """The pool that a rule's value means: a network, from the address written on. Of ``segments``, that of
    hosts that share it."""
    span, found = rule.value.span, _written_network(rule, value)
    if segments:
        return _pool_of_segments(rule, found)
    net, first = found.network, int(found.ip)
    step = 2 if rule.kind == "links" else 1
    end = int(net.network_address) + net.num_addresses
    prefix = net.max_prefixlen - (step - 1)
    if rule.kind in ("management", "bmc"):
        prefix = net.prefixlen
        if (
            net.prefixlen < net.max_prefixlen - 1
        ):  # the first address is the network's own, IPv4's last is for all
            first = max(first, int(net.network_address) + 1)
            end -= found.version == 4
    if rule.gateway and not _address_in_network(rule.gateway, net):
        raise Fault(
            "E0470",
            span,
            f"the gateway {rule.gateway} is not an address of {net}",
            help=f"write `gateway {str(rule.gateway).partition('/')[0]}`, without a prefix length"
            if "/" in str(rule.gateway)
            else "name the router of this very network",
        )
    if (
        rule.each and rule.gateway and int(ip_address(rule.gateway)) == first
    ):  # devices come behind the router
        first += step
    if not rule.each:
        end = min(end, first + step)
    elif first % step:
        raise Fault(
            "E0470",
            span,
            f"links take their addresses by twos, and {ip_address(first)} is odd",
            help=f"begin at `{ip_address(first - 1)}`",
        )
    room = min((end - first) // step, LARGEST)
    return Pool(
        rule.kind,
        found.version,
        first,
        step,
        room,
        str(net),
        prefix,
        rule.interface,
        rule.vrf,
        rule.gateway,
        rule.origin,
    )


def _pool_of_segments(rule: AddressRule, found: IPv4Interface | IPv6Interface) -> Pool:
    """The pool of hosts that share a network: the gateway has the address written, else the network's first,
    its two switches the next ones, and the hosts those behind them."""
    net = found.network
    least = int(net.network_address)
    gateway = max(int(found.ip), least + 1)
    make = IPv4Address if found.version == 4 else IPv6Address
    end = least + net.num_addresses - (found.version == 4)  # IPv4's last is for all
    room = end - gateway - 3
    if room < 1:
        raise Fault(
            "E0471",
            rule.value.span,
            f"{found} is too small for a gateway, two switches and a host",
            help="take a network with a shorter prefix",
        )
    own = tuple(make(gateway + k) for k in (1, 2))
    return Pool(
        rule.kind,
        found.version,
        gateway + 3,
        1,
        min(room, LARGEST),
        str(net),
        net.prefixlen,
        "",
        "",
        str(make(gateway)),
        rule.origin,
        own,
    )


def _written_network(rule: AddressRule, value: object) -> IPv4Interface | IPv6Interface:
    """The address and network that a rule's value is. Raises Fault."""
    span = rule.value.span
    example = "write `10.255.0.0/16` or `fd00:10::/48`"
    if not isinstance(value, str):
        raise Fault("E0103", span, "expected an IP network", help=example)
    try:
        found: IPv4Interface | IPv6Interface = ip_interface(value)
    except ValueError:
        raise Fault("E0470", span, f"{value} is not an IP address or network", help=example) from None
    if rule.each and "/" not in value:
        raise Fault(
            "E0470", span, f"{value} has no prefix length, so its size is unknown", help=f"write `{value}/24`"
        )
    return found


def _larger_network_hint(rule: AddressRule, written: str, planned: int, segments: bool) -> str:
    """What has room for so many: the longest prefix that does, from the address written on."""
    found = ip_interface(written)
    for length in range(found.network.prefixlen - 1, -1, -1):
        larger = ip_interface(f"{found.ip}/{length}")
        text = str(larger if found.ip != found.network.network_address else larger.network)
        if pool_of(rule, text, segments).count >= planned:
            return f"a shorter prefix, such as `{text}`"
    return "another network, with a shorter prefix"


def _address_in_network(text: str, net: IPv4Network | IPv6Network) -> bool:
    try:
        return ip_address(text) in net
    except ValueError:
        return False
