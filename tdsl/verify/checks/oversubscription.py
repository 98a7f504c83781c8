"""Oversubscription: capacity below a switch over its capacity above."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import HOLE, Bools, Fabric, Ints
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.ports import ClassTable, gbps
from tdsl.verify.view import View


class Oversubscription(Check):
    """Capacity attached below a switch over its capacity above.

    ## What it means
    At 1:1 everything attached below a switch can send upward at full rate at once; at 4:1 a quarter of it can. The figure is
    the worst device's; `at SWITCHES` asks for some devices only.

    ## Formula and source
    For a switch d: Σ rate of links to lower tiers, over Σ rate of links to higher tiers, an exact ratio in lowest terms. Free
    ports and links within the tier count on neither side. A port kept for a planned but omitted member below counts as
    attached, so a rack with one host missing is not better than a full one. Source: Al-Fares, Loukissas, Vahdat, "A scalable,
    commodity data center network architecture" (SIGCOMM 2008).

    ## What it assumes
    Tiers: hosts are 0, switches they meet 1, and so on. A direct fabric (torus) has none and is skipped. It says what is
    cabled, not what a routing engine makes of it: two fabrics of one ratio can differ in bisection.

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
    takes = frozenset({"of", "at"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f = view.fabric
        if view.direct:
            return skipped("the fabric is direct: it has no tiers")
        judged = view.core & f.is_switch
        if claim is not None and claim.at:
            named = np.zeros(f.device_count, dtype=np.bool_)
            for s in claim.at:
                for e in s.elements:
                    named[e.devices] = True
            judged = judged & named
        load = _load(f, view.lost)
        return _worst(f, load, judged)


def by_set(view: View) -> dict[int, Judgement]:
    """The ratio of each set of switches that has links above, by the set's index, as the check says it of those devices."""
    f = view.fabric
    if view.direct:
        return {}
    load = _load(f, view.lost)
    out = {}
    for s in f.sets:
        rows = np.zeros(f.device_count, dtype=np.bool_)
        rows[s.first : s.first + s.count] = True
        rows &= view.core & f.is_switch
        found = _worst(f, load, rows) if (load.up[rows] > 0).any() else None
        if found is not None and found.ratio is not None:
            out[s.index] = found
    return out


@dataclass(frozen=True, slots=True)
class Load:
    """Bit/s attached below and above every device."""

    down: Ints
    up: Ints


def _tiers(f: Fabric) -> Ints:
    """Tier of every device; whatever begins traffic is below all switches, managers on a spine too."""
    return np.where(f.is_end, 0, f.tier)


def _load(f: Fabric, lost: Bools | None) -> Load:
    n = f.device_count
    a, b = f.device_a, f.device_b
    tier = _tiers(f)
    low, high = tier[a], tier[b]
    counted = (low >= 0) & (high >= 0) & (low != high)
    if lost is not None:
        counted &= ~lost
    below = np.where(low < high, a, b)[counted]
    above = np.where(low < high, b, a)[counted]
    rate = f.link_rate[counted]
    return Load(_sums(above, rate, n) + _absent(f), _sums(below, rate, n))


def _sums(devices: Ints, rate: Ints, n: int) -> Ints:
    """Sum of rates at every device, exact: links are counted for each distinct rate."""
    out = np.zeros(n, dtype=np.int64)
    for r in np.unique(rate).tolist():
        out += np.bincount(devices[rate == r], minlength=n) * r
    return out


def _absent(f: Fabric) -> Ints:
    """Rate of the ports that every device keeps for planned members below it."""
    none = np.zeros(f.device_count, dtype=np.int64)
    holes = np.flatnonzero(f.port_state == HOLE)
    holes = holes[f.is_switch[f.port_device[holes]]]
    if not len(holes):
        return none
    highest = np.array([int(f.tier[s.first : s.first + s.count].max(initial=-1)) for s in f.sets])[f.device_set]
    gone = highest[~f.built]
    device = f.port_device[holes]
    below = np.array([bool((gone < t).any()) for t in range(int(highest.max()) + 2)])
    above = np.array([bool((gone > t).any()) for t in range(int(highest.max()) + 2)])
    tier = np.maximum(f.tier[device], 0)
    mine = below[tier]
    unsure = mine & above[tier]
    mine[unsure] = [_faces_down(f, int(p)) for p in holes[unsure]]
    table = ClassTable.of(f)
    rate = np.maximum(table.rates()[table.rows(f, holes)], 0)
    return _sums(device[mine], rate[mine], f.device_count)


def _faces_down(f: Fabric, port: int) -> bool:
    """Where both members below and above are missing: a kept port faces as the nearest used port of its class does."""
    device = int(f.port_device[port])
    c, index = f.port_class(port)
    first = port - index
    order = [*range(port - 1, first - 1, -1), *range(port + 1, first + c.size)]
    link = next((int(f.port_link[p]) for p in order if f.port_link[p] >= 0), -1)
    if link < 0:
        return True
    other = int(f.device_a[link]) if int(f.device_b[link]) == device else int(f.device_b[link])
    return bool(f.tier[other] < f.tier[device])


def _worst(f: Fabric, load: Load, judged: Bools) -> Judgement:
    tiers = np.unique(f.tier[(load.up > 0) & f.is_switch])
    stands_below = judged & np.isin(f.tier, tiers) & (load.down > 0)
    bare = np.flatnonzero(stands_below & (load.up == 0))
    if len(bare):
        d = int(bare[0])
        text = f"{f.device_name(d)} has {gbps(int(load.down[d]))} below and no link above"
        label = (f.set_of(d).origin.span, "declared here")
        infinite = float("inf")
        return Judgement("proved", text, infinite, infinite, infinite, (1, 0), "", {"device": f.device_name(d)}, labels=(label,))
    rows = np.flatnonzero(judged & (load.up > 0))
    if not len(rows):
        return skipped("no switch looked at has links to a tier above it")
    pairs = np.unique(np.stack((load.down[rows], load.up[rows])), axis=1)
    ratios = [Fraction(int(d), int(u)) for d, u in pairs.T]
    down, up = pairs[:, ratios.index(max(ratios))].tolist()
    ratio = Fraction(down, up)
    alike = rows[(load.down[rows] == down) & (load.up[rows] == up)]
    d = int(alike[0])
    kind = _class_above(f, d)
    name = f.device_name(d)
    text = f"{ratio.numerator}:{ratio.denominator} at {name} ({gbps(down)} below, {gbps(up)} above, {kind})"
    witness = {"device": name, "down_bps": down, "up_bps": up, "alike": len(alike), "set": f.set_of(d).path}
    label = (f.set_of(d).origin.span, f"{name} is declared here")
    return Judgement(
        "proved", text, ratio, ratio, ratio, (ratio.numerator, ratio.denominator), kind, witness, labels=(label,),
        help="add links upward, or attach less below",
    )  # fmt: skip


def _class_above(f: Fabric, device: int) -> str:
    """Class of most links from a device to tiers above."""
    a, b = f.device_a, f.device_b
    mine = ((a == device) & (f.tier[b] > f.tier[a])) | ((b == device) & (f.tier[a] > f.tier[b]))
    return f.classes[int(np.argmax(np.bincount(f.link_class[mine])))]
