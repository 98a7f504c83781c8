"""Addresses: none is given twice."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds, skipped

if TYPE_CHECKING:
    from tdsl.fabric.addresses import Addressing, Pool


class AddressOverlap(Check):
    """No address is given twice.

    ## What it means
    Two interfaces with one address: the route to it leads to either, by chance. Addresses of planned members
    count, since they will be built. A gateway has an address of its own, too: no device is given it.

    ## Formula and source
    Every address that the design's `address` statements give, compared within its VRF (RFC 4364 keeps those
    of different VRFs apart). Loopbacks and management addresses are one each, those of a link are two (RFC
    3021, RFC 6164).

    ## What it assumes
    Networks may overlap, as long as the addresses given from them do not. The fabrics of a cluster are one:
    an address is given once in all of them, but a device that they share may be given the same address in
    each.

    ## A design that passes
    ```fab
    address leaf[*]  loopback from 10.255.0.0/17
    address spine[*] loopback from 10.255.128.0/17
    ```

    ## A design that fails
    ```fab
    address leaf[*]  loopback from 10.255.0.0/16
    address spine[*] loopback from 10.255.0.0/24            # those of the first leaves again
    ```

    ### What it prints
    ```
    E0430: spine[0] and leaf[0] both have 10.255.0.0 (and 1 more)
    ```
    """

    code = "E0430"
    name = "address_overlap"
    wrong = "One address given twice"
    kind = "yes_no"
    fails_by_default = True
    of_design = True  # addresses are given whatever fails
    together = "shared"
    on_demand = True  # a design without addresses has no need to hear of them
    takes = frozenset()

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        given = _pools_given(view)
        if not given:
            return skipped("the design gives no addresses")
        faults: list[PropertyFault] = []
        witness: dict[str, object] = {}
        for one, two in _pools_that_overlap(given):
            clash = _doubled_address_fault(one, two)
            if clash is not None:
                faults.append(clash[0])
                witness = witness or clash[1]
        faults += [fault for g in given for fault in _at_gateways(g, given)]
        if faults:
            return property_fails(faults[0].message, tuple(faults), witness)
        count = sum(len(g.rows) * g.pool.step for g in given if g.looked_at)
        return property_holds(f"{count:,} addresses, none twice")


@dataclass(eq=False)
class _Given:
    """A pool with the rows that it serves (devices or links) and their ranks. ``devices`` are these rows in
    the fabric that is judged, which may be a cluster. ``looked_at``: whether the view has one of them."""

    found: Addressing
    pool: Pool
    rows: Ints
    ranks: Ints
    devices: Ints
    head: str  # what goes before names: the fabric, in a cluster
    looked_at: bool

    def name_of(self, row: int) -> str:
        """A device, or a link by its lower end."""
        f = self.found.fabric
        if self.pool.kind == "links":
            return f"the link at {self.head}{f.port_path(int(f.link_a[row]))}"
        return f"{self.head if f.set_of(row).prefix else ''}{f.device_path(row)}"


def _pools_given(view: View) -> list[_Given]:
    """What the pools of a fabric give; of a cluster those of all its fabrics."""
    f = view.fabric
    out = []
    for k, member in enumerate(f.members or (f,)):
        found = member.addressing
        for number, pool in enumerate(found.pools if found is not None else ()):
            assert found is not None
            assigned = found.assigned[pool.kind, pool.version]
            rows = np.flatnonzero(assigned.pool == number)
            devices = rows
            if f.members:
                devices = f.member_links[k][rows] if pool.kind == "links" else f.member_rows[k][rows]
            ends = f.device_a[devices] if pool.kind == "links" else devices
            head = f"{member.name}." if f.members else ""
            out.append(
                _Given(
                    found,
                    pool,
                    rows,
                    assigned.rank[rows],
                    devices,
                    head,
                    not view.name or bool(view.core[ends].any()),
                )
            )
    return out


def _pools_that_overlap(given: list[_Given]) -> list[tuple[_Given, _Given]]:
    """Pairs of pools of one VRF and version whose ranges of addresses overlap, one of them at least of what
    is looked at."""
    runs = []
    for number, g in enumerate(given):
        if len(g.ranks):
            low, high = (g.pool.first + int(r) * g.pool.step for r in (g.ranks.min(), g.ranks.max() + 1))
            runs.append((g.pool.version, g.pool.vrf, low, high, number))
    runs.sort()
    out: list[tuple[int, int]] = []
    open_runs: list[tuple[int, str, int, int, int]] = []
    for run in runs:
        open_runs = [o for o in open_runs if o[:2] == run[:2] and o[3] > run[2]]
        out += [(min(o[4], run[4]), max(o[4], run[4])) for o in open_runs]
        open_runs.append(run)
    return [(given[a], given[b]) for a, b in sorted(out) if given[a].looked_at or given[b].looked_at]


def _doubled_address_fault(one: _Given, two: _Given) -> tuple[PropertyFault, dict[str, object]] | None:
    """The fault of two pools that give one address. A device that two fabrics of a cluster give the same
    address has it once."""
    a, b = one.pool, two.pool
    base = min(a.first, b.first)
    (rows_a, at_a), (rows_b, at_b) = (_addresses_from_base(g, g.pool.first - base) for g in (one, two))
    both, i, j = np.intersect1d(at_a, at_b, return_indices=True)
    if one.found is not two.found and a.kind == b.kind != "links":
        apart = one.devices[rows_a[i]] != two.devices[rows_b[j]]
        both, i, j = both[apart], i[apart], j[apart]
    if not len(both):
        return None
    first, second = one.name_of(int(one.rows[rows_a[i[0]]])), two.name_of(int(two.rows[rows_b[j[0]]]))
    text = str(type(a.address(0))(base + int(both[0])))
    more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
    fault = PropertyFault(
        b.origin,
        f"{second} and {first} both have {text}{more}",
        len(both),
        ((a.origin.span, "the other is given here"),),
        help="use networks that do not overlap, or begin one after the other: `from 10.255.128.0/16`",
    )
    return fault, {"devices": [first, second], "address": text}


def _at_gateways(of: _Given, given: list[_Given]) -> list[PropertyFault]:
    """The devices that are given the address of this pool's gateway, or of one of the two switches of it."""
    if not of.pool.gateway:
        return []
    gateway = ip_address(of.pool.gateway)
    out = _at_address(of, gateway, "the gateway", given)
    for at in of.pool.own:
        out += _at_address(of, at, f"a switch behind the gateway {gateway}", given)
    return out


def _at_address(
    of: _Given, at: IPv4Address | IPv6Address, whose: str, given: list[_Given]
) -> list[PropertyFault]:
    """The devices that are given an address that a pool needs for a router."""
    pool = of.pool
    out: list[PropertyFault] = []
    for g in given:
        other = g.pool
        rank = (int(at) - other.first) // other.step
        if (other.version, other.vrf) != (pool.version, pool.vrf) or not 0 <= rank < other.count:
            continue
        if not (of.looked_at or g.looked_at):
            continue
        for row in g.rows[g.ranks == rank][:1].tolist():
            labels = () if g is of else ((pool.origin.span, "the gateway is given here"),)
            out.append(
                PropertyFault(
                    other.origin,
                    f"{g.name_of(row)} is given {at}, the address of {whose}",
                    1,
                    labels,
                    help=f"begin behind it: `from {at + 1}/{pool.prefix}`",
                )
            )
    return out


def _addresses_from_base(g: _Given, offset: int) -> tuple[Ints, Ints]:
    """Places of a pool's rows and their addresses, counted from a base; a link's two addresses are two."""
    step = g.pool.step
    at = np.repeat(np.arange(len(g.rows)), step)
    return at, ((g.ranks * step)[:, None] + np.arange(step) + offset).ravel()
