"""Addresses: none is given twice."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.prove.view import View
from tdsl.verify.check import Check, Fault, Judgement, no, skipped, yes

if TYPE_CHECKING:
    from tdsl.fabric.addresses import Addressing, Pool


class AddressOverlap(Check):
    """No address is given twice.

    ## What it means
    Two interfaces with one address: the route to it leads to either, by chance. Addresses of planned members count, since they
    will be built. A gateway has an address of its own, too: no device is given it.

    ## Formula and source
    Every address that the design's `address` statements give, compared within its VRF (RFC 4364 keeps those of different VRFs
    apart). Loopbacks and management addresses are one each, those of a link are two (RFC 3021, RFC 6164).

    ## What it assumes
    One fabric. Networks may overlap, as long as the addresses given from them do not.

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
    on_demand = True  # a design without addresses has no need to hear of them
    takes = frozenset()

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        found = view.fabric.addressing
        if found is None or not found.pools:
            return skipped("the design gives no addresses")
        faults: list[Fault] = []
        witness: dict[str, object] = {}
        for one, two in _suspects(found):
            clash = _clash(found, one, two)
            if clash is not None:
                faults.append(clash[0])
                witness = witness or clash[1]
        faults += [fault for n, pool in enumerate(found.pools) if pool.gateway for fault in _at_gateway(found, n)]
        if faults:
            return no(faults[0].message, tuple(faults), witness)
        given = sum(len(_members(found, n)[0]) * pool.step for n, pool in enumerate(found.pools))
        return yes(f"{given:,} addresses, none twice")


def _members(found: Addressing, number: int) -> tuple[Ints, Ints]:
    """Rows that a pool serves, and their ranks."""
    pool = found.pools[number]
    dealt = found.dealt[pool.kind, pool.version]
    rows = np.flatnonzero(dealt.pool == number)
    return rows, dealt.rank[rows]


def _suspects(found: Addressing) -> list[tuple[int, int]]:
    """Pairs of pools of one VRF and version whose ranges of addresses overlap."""
    runs = []
    for number, pool in enumerate(found.pools):
        ranks = _members(found, number)[1]
        if len(ranks):
            runs.append((pool.version, pool.vrf, pool.first + int(ranks.min()) * pool.step,
                         pool.first + (int(ranks.max()) + 1) * pool.step, number))  # fmt: skip
    runs.sort()
    out: list[tuple[int, int]] = []
    open_runs: list[tuple[int, str, int, int, int]] = []
    for run in runs:
        open_runs = [o for o in open_runs if o[:2] == run[:2] and o[3] > run[2]]
        out += [(min(o[4], run[4]), max(o[4], run[4])) for o in open_runs]
        open_runs.append(run)
    return sorted(out)


def _clash(found: Addressing, one: int, two: int) -> tuple[Fault, dict[str, object]] | None:
    """The fault of two pools that give one address."""
    a, b = found.pools[one], found.pools[two]
    base = min(a.first, b.first)
    (rows_a, at_a), (rows_b, at_b) = (_spelled(found, n, p.first - base) for n, p in ((one, a), (two, b)))
    both, i, j = np.intersect1d(at_a, at_b, return_indices=True)
    if not len(both):
        return None
    first, second = _name(found, a, int(rows_a[i[0]])), _name(found, b, int(rows_b[j[0]]))
    text = str(type(a.address(0))(base + int(both[0])))
    more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
    fault = Fault(
        b.origin, f"{second} and {first} both have {text}{more}", len(both), ((a.origin.span, "the other is given here"),),
        help="use networks that do not overlap, or begin one after the other: `from 10.255.128.0/16`",
    )  # fmt: skip
    return fault, {"devices": [first, second], "address": text}


def _at_gateway(found: Addressing, number: int) -> list[Fault]:
    """The devices that are given the address of this pool's gateway."""
    pool = found.pools[number]
    at = ip_address(pool.gateway)
    out: list[Fault] = []
    for n, other in enumerate(found.pools):
        rank = (int(at) - other.first) // other.step
        if (other.version, other.vrf) != (pool.version, pool.vrf) or not 0 <= rank < other.count:
            continue
        rows, ranks = _members(found, n)
        for row in rows[ranks == rank][:1].tolist():
            labels = () if n == number else ((pool.origin.span, "the gateway is given here"),)
            out.append(Fault(
                other.origin, f"{_name(found, other, row)} is given {at}, the address of the gateway", 1, labels,
                help=f"begin behind it: `from {at + 1}/{pool.prefix}`",
            ))  # fmt: skip
    return out


def _spelled(found: Addressing, number: int, offset: int) -> tuple[Ints, Ints]:
    """Rows of a pool and their addresses, counted from a base; a link's two addresses are two rows."""
    rows, ranks = _members(found, number)
    step = found.pools[number].step
    each = np.arange(step)
    return np.repeat(rows, step), ((ranks * step)[:, None] + each + offset).ravel()


def _name(found: Addressing, pool: Pool, row: int) -> str:
    """A device, or a link by its lower end."""
    f = found.fabric
    return f"the link at {f.port_path(int(f.link_a[row]))}" if pool.kind == "links" else f.device_path(row)
