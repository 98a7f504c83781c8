"""Oversubscription: capacity below a switch over its capacity above."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.subject import devices_of_selectors
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.ports import gbps_text
from tdsl.verify.shortfall import greatest_ratio


class Oversubscription(Check):
    """Capacity attached below a switch over its capacity above.

    ## What it means
    At 1:1 everything attached below a switch can send upward at full rate at once; at 4:1 a quarter of it
    can. The figure is the worst device's; `at SWITCHES` asks for some devices only.

    ## Formula and source
    For a switch d: Σ rate of links to lower tiers, over Σ rate of links to higher tiers, an exact ratio in
    lowest terms. Free ports and links within the tier count on neither side. A planned link to an omitted
    host or switch *below* counts as attached while its port is reserved, so a rack with one host missing is
    not better than a full one, and the ratio does not change when hosts arrive. A planned link to an omitted
    switch *above* is not cabled and does not count: a leaf with half of its spines built has half of its
    capacity above. An omitted switch itself is not judged. `of active` leaves out the links of hosts that the
    design calls `spares`. Source: Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network
    architecture" (SIGCOMM 2008).

    ## What it assumes
    Tiers are those of the planned fabric, omitted devices included: hosts are 0, switches connected to them
    1, and so on. A switch without any planned host is at tier 1 where other switches of its declaration are,
    if it connects only to switches above. A direct fabric (torus) has no tiers and is skipped. The ratio says
    what is cabled, not what a routing engine makes of it: two fabrics of one ratio can differ in bisection.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r]                       # 32 down
    connect leaf[*] to spine[*] spread x 8                  # 32 up over 4 spines
    require oversubscription <= 1:1
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread x 4                  # 16 up
    require oversubscription <= 1:1
    ```

    ### What it prints
    ```
    E0405: `oversubscription <= 1:1` does not hold: 2:1 at leaf0 (12.8Tbps below, 6.4Tbps above, leaf-spine)
    ```
    """

    code = "E0405"
    name = "oversubscription"
    wrong = "More capacity below a switch than allowed"
    kind = "ratio"
    less_is_better = True
    cost = 0
    takes = frozenset({"of", "at", "active"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f = view.fabric
        if view.direct:
            return skipped("the fabric is direct: it has no tiers")
        judged = view.core & f.is_switch
        if claim is not None and claim.at:
            judged = judged & devices_of_selectors(f, claim.at)
        load = _capacity_below_and_above(f, view.lost, claim is not None and claim.of_active)
        return _worst_oversubscription(f, load, judged)

    def help_for_unmet(self, claim: ResolvedClaim, judged: Judgement) -> str:
        """How many links the worst switch needs above it, and how many it has."""
        allowed, found = greatest_ratio(claim, judged), judged.witness
        down, up = (found.get(key) for key in ("down_bps", "up_bps"))
        if allowed is None or not isinstance(down, int) or not isinstance(up, int):
            return judged.help
        needed, rate = down / allowed, found.get("up_link_bps")
        if isinstance(rate, int):
            count = floor(needed / rate) + 1 if claim.op == "<" else ceil(needed / rate)
            links = f"{counted_noun(count, 'link')} of {gbps_text(rate)}"
            text = f"{found['device']} needs {links} above it and has {up // rate:,}"
        else:
            has = gbps_text(up) if up else "no link there"
            text = f"{found['device']} needs {gbps_text(ceil(needed))} above it and has {has}"
        others = found.get("equal", 1)
        if isinstance(others, int) and others > 1:
            text += f", as {counted_noun(others - 1, 'other')} {'do' if others > 2 else 'does'}"
        most = gbps_text(floor(up * allowed))
        less = f"less than {most} below it" if claim.op == "<" else f"{most} below it at most"
        return f"{text}; or attach {less}" if up else text


def oversubscription_by_set(view: View) -> dict[int, Judgement]:
    """The ratio of each set of switches that has links above, by the set's index, as the check says it of
    those devices."""
    f = view.fabric
    if view.direct:
        return {}
    load = _capacity_below_and_above(f, view.lost)
    out = {}
    for s in f.sets:
        rows = np.zeros(f.device_count, dtype=np.bool_)
        rows[s.first : s.first + s.count] = True
        rows &= view.core & f.is_switch
        found = _worst_oversubscription(f, load, rows) if (load.up[rows] > 0).any() else None
        if found is not None and found.ratio is not None:
            out[s.index] = found
    return out


@dataclass(frozen=True, slots=True)
class TierLoad:
    """Bit/s attached below every device, absent members included, and cabled above it."""

    down: Ints
    up: Ints


def _tier_of_devices(f: Fabric) -> Ints:
    """Tier of every device; whatever begins traffic is below all switches, managers on a spine too."""
    return np.where(f.is_end, 0, f.tier)


def _capacity_below_and_above(f: Fabric, lost: Bools | None, active: bool = False) -> TierLoad:
    """What hangs below and above every device; without the links of spares if ``active``."""
    tier = _tier_of_devices(f)
    left = np.ones(f.link_count, dtype=np.bool_) if lost is None else ~lost
    spare = f.spares if active else np.zeros(f.device_count, dtype=np.bool_)
    left = left & ~spare[f.device_a] & ~spare[f.device_b]
    below, above, rate = _between_tiers(tier, f.device_a[left], f.device_b[left], f.link_rate[left])
    kept = f.absent_reserved
    kept = kept & ~spare[f.absent_a] & ~spare[f.absent_b]
    _, planned, absent = _between_tiers(tier, f.absent_a[kept], f.absent_b[kept], f.absent_rate[kept])
    n = f.device_count
    return TierLoad(
        _rate_sum_per_device(above, rate, n) + _rate_sum_per_device(planned, absent, n),
        _rate_sum_per_device(below, rate, n),
    )


def _between_tiers(tier: Ints, a: Ints, b: Ints, rate: Ints) -> tuple[Ints, Ints, Ints]:
    """Of links between devices of two different tiers: the lower device, the upper one and the rate."""
    low, high = tier[a], tier[b]
    counted = (low >= 0) & (high >= 0) & (low != high)
    return np.where(low < high, a, b)[counted], np.where(low < high, b, a)[counted], rate[counted]


def _rate_sum_per_device(devices: Ints, rate: Ints, n: int) -> Ints:
    """Sum of rates at every device, exact: links are counted for each distinct rate."""
    out = np.zeros(n, dtype=np.int64)
    for r in distinct_values(rate).tolist():
        out += np.bincount(devices[rate == r], minlength=n) * r
    return out


def _worst_oversubscription(f: Fabric, load: TierLoad, judged: Bools) -> Judgement:
    tiers = distinct_values(f.tier[(load.up > 0) & f.is_switch])
    stands_below = judged & np.isin(f.tier, tiers) & (load.down > 0)
    bare = np.flatnonzero(stands_below & (load.up == 0))
    if len(bare):
        d = int(bare[0])
        text = f"{f.device_name(d)} has {gbps_text(int(load.down[d]))} below and no link above"
        label = (f.set_of(d).origin.span, "declared here")
        infinite = float("inf")
        return Judgement(
            "proved",
            text,
            infinite,
            infinite,
            infinite,
            (1, 0),
            "",
            {"device": f.device_name(d), "down_bps": int(load.down[d]), "up_bps": 0},
            labels=(label,),
            help="add links upward",
        )
    rows = np.flatnonzero(judged & (load.up > 0))
    if not len(rows):
        return skipped("no switch looked at has links to a tier above it")
    pairs = np.unique(np.stack((load.down[rows], load.up[rows])), axis=1)
    ratios = [Fraction(int(d), int(u)) for d, u in pairs.T]
    down, up = pairs[:, ratios.index(max(ratios))].tolist()
    ratio = Fraction(down, up)
    equal = rows[(load.down[rows] == down) & (load.up[rows] == up)]
    d = int(equal[0])
    mine = _rows_above(f, d)
    kind = f.classes[int(np.argmax(np.bincount(f.link_class[mine])))]
    name = f.device_name(d)
    text = (
        f"{ratio.numerator}:{ratio.denominator} at {name} ({gbps_text(down)} below, {gbps_text(up)} "
        f"above, {kind})"
    )
    witness = {"device": name, "down_bps": down, "up_bps": up, "equal": len(equal), "set": f.set_of(d).path}
    rates = np.unique(f.link_rate[mine]).tolist()
    if len(rates) == 1:
        witness["up_link_bps"] = rates[0]
    label = (f.set_of(d).origin.span, f"{name} is declared here")
    return Judgement(
        "proved",
        text,
        ratio,
        ratio,
        ratio,
        (ratio.numerator, ratio.denominator),
        kind,
        witness,
        labels=(label,),
        help="add links upward, or attach less below",
    )


def _rows_above(f: Fabric, device: int) -> Bools:
    """Which links lead from a device to tiers above."""
    a, b = f.device_a, f.device_b
    rows: Bools = ((a == device) & (f.tier[b] > f.tier[a])) | ((b == device) & (f.tier[a] > f.tier[b]))
    return rows
