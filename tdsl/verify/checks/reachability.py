"""Reachability between hosts."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.subject import links_at_devices
from tdsl.prove.symmetry import Reads
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds, skipped
from tdsl.verify.checks.isolated import devices_in_use


class Reachability(Check):
    """Every host reaches every other.

    ## What it means
    Traffic of any accelerator host can get to any other over links of this network. Managers and storage must
    reach at least one of them. `reachability of ports` asks more: every port of a host in use reaches every
    port of every other host, which a rail-only or multi-plane design does not give. `through scaleup` adds
    scale-up links (NVLink), inside of hosts and beside the network: the ports of a host, or of all hosts of a
    domain, are one where these links join all accelerators. After failures, also of NVLink switches, it is
    what the links that are left join.

    ## Formula and source
    A *hub* is a connected component of the switches. Two hosts reach each other if both have a port on one
    hub. Components by hooking and shortening labels: Shiloach and Vishkin, "An O(log n) parallel connectivity
    algorithm", J. Algorithms 3 (1982).

    ## What it assumes
    Hosts end paths and do not pass on what is not theirs, so no path leads through a third host. Chips of a
    direct fabric (a torus) do pass on. Links work both ways, and routing finds any path that the wiring has.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread
    ```

    ## A design that fails
    ```fab
    connect leaf[0..3] to spine[0..1] spread
    connect leaf[4..7] to spine[2..3] spread              # two halves
    ```

    ### What it prints
    ```
    E0401: node[16] reaches none of node[0], node[1], node[2] and 13 more: no path of switches joins the \
two parts
    ```
    """

    code = "E0401"
    name = "reachability"
    wrong = "Hosts that cannot reach each other"
    kind = "yes_no"
    fails_by_default = True
    after_failures = True
    reads = frozenset()
    of_ends = True
    crosses = True
    takes = frozenset({"of", "ports", "through"})

    def reads_for(self, claim: ResolvedClaim) -> Reads | None:
        """Components of switches, and where it asks so what scale-up links join."""
        return frozenset({"domains"}) if claim.through else self.reads

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        of_ports = claim is not None and any(not s.elements and s.text == "ports" for s in claim.of)
        units = view.units
        if len(units) == 0:
            return skipped("there is no device that traffic could begin at")
        scaleup = claim is not None and claim.through == "scaleup"
        ids, hubs = _hubs_of_units(view, units, of_ports, scaleup)
        lost = units[view.degree[units] == 0]
        if scaleup and not of_ports:
            ids, hubs = _hubs_within_domains(view, ids, hubs)
            lost = np.setdiff1d(lost, ids)
        apart = _groups_without_path(ids, hubs)
        if apart is not None and not (
            len(lost) and not of_ports and np.isin(min(apart, key=len), lost).all()
        ):
            return self._split(view, apart, of_ports)
        if len(lost):
            return self._linkless(view, lost, len(units))
        stray = _unreached_manager(view, ids, hubs)
        if stray is not None:
            s = view.fabric.set_of(stray)
            name = view.fabric.device_name(stray)
            fault = PropertyFault(
                s.origin,
                f"{name} reaches no accelerator host",
                help="cable it to switches that hosts are connected to",
            )
            return property_fails(f"{name} reaches no accelerator host", (fault,), {"from": name})
        return property_holds(_reachability_text(view, units, of_ports))

    def _linkless(self, view: View, lost: Ints, total: int) -> Judgement:
        names = view.names(lost[:4])
        f = view.fabric
        used = devices_in_use(View.whole(f.whole or f))[lost]
        built, linked = bool(f.built[lost[0]]), len(links_at_devices(f, lost[:1])) > 0
        why = "has no link to the network" if used[0] else "has no link"
        if view.members is not None:
            why = "has no link to the network of the set" if linked else "has no link"
            why = why if built else "is planned only"
        have = "has" if len(lost) == 1 else "have"
        text = f"{len(lost)} of {view.counted_units(total)} {have} no link: {names[0]}"
        fault = PropertyFault(
            view.fabric.set_of(int(lost[0])).origin,
            f"{names[0]} reaches no other host: it {why}",
            count=len(lost),
            help="connect it, or leave it out with `omit`" if built else "name those that are built",
            unless="isolated" if view.members is None and not used.any() else "",
        )
        return property_fails(text, (fault,), {"from": names[0], "without_link": names})

    def _split(self, view: View, apart: tuple[Ints, Ints], of_ports: bool) -> Judgement:
        f = view.fabric
        few, many = sorted(apart, key=len)
        devices = f.port_device[few] if of_ports else few
        others = f.port_device[many] if of_ports else many
        show = f.port_path if of_ports else f.device_name
        here, there = show(int(few[0])), [show(int(x)) for x in many[:3]]
        rest = f" and {len(many) - 3} more" if len(many) > 3 else ""
        far = ", ".join(there) + rest
        text = f"{here} does not reach {there[0]}"
        labels = [(f.set_of(int(others[0])).origin.span, f"{there[0]} is declared here")]
        rows = np.flatnonzero((view.a == devices[0]) | (view.b == devices[0]))
        if len(rows):
            statement = f.statements[int(f.link_statement[view.rows[rows[0]]])]
            labels.insert(0, (statement.origin.span, f"{f.device_name(int(devices[0]))} is attached here"))
        help = "connect the switches of both parts"
        if of_ports:
            help += ", or ask for `reachability` between hosts"
        fault = PropertyFault(
            f.set_of(int(devices[0])).origin,
            f"{here} reaches none of {far}: no path of switches joins the two parts",
            count=len(few),
            labels=tuple(labels),
            help=help,
        )
        return property_fails(text, (fault,), {"from": here, "to": there[0], "parts": [len(few), len(many)]})


def _hubs_of_units(view: View, units: Ints, of_ports: bool, scaleup: bool) -> tuple[Ints, Ints]:
    """Who is connected to which hub: devices, or ports where each port is judged by itself."""
    at = view.attachment
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[units] = True
    mine = unit[at.end]
    end, port, hub = at.end[mine], at.port[mine], at.hub[mine]
    if not of_ports:
        return end, hub
    # a joined host, and a chip that forwards, is one: the lowest of its ports represents it, or that of its
    # domain
    speaker = np.arange(view.fabric.device_count)
    one = np.zeros(view.fabric.device_count, dtype=np.bool_)
    if scaleup:
        from tdsl.prove.by_domain import units_with_joined_accelerators

        one[units] = units_with_joined_accelerators(view)
        label = view.domains.of_device[units]
        _, first, which = np.unique(label, return_index=True, return_inverse=True)
        speaker[units] = np.where(label >= 0, units[first][which], units)
    return np.where(one[end] | (port < 0), view.fabric.port_base[speaker[end]], port), hub


def _hubs_within_domains(view: View, ids: Ints, hubs: Ints) -> tuple[Ints, Ints]:
    """Which hubs units reach through scale-up links: their own, each component of scale-up links that they,
    or accelerators of theirs, are in together with others (a hub with a number of its own), and those of all
    units in it."""
    inside, units = view.domains.inside, view.units
    linked = np.isin(np.append(inside.node, units), np.append(inside.a, inside.b))
    unit, node = np.append(inside.host, units)[linked], np.append(inside.node, units)[linked]
    mine = np.isin(unit, units)
    part, unit = _distinct_pairs(inside.label[node[mine]], unit[mine])
    shared = np.bincount(part, minlength=1)[part] > 1
    part, unit = part[shared], unit[shared]
    part_of, hub = _distinct_pairs(*_join_on_key(unit, part, ids, hubs))
    own = int(hubs.max(initial=0)) + 1 + part
    far, reached = _join_on_key(part, unit, part_of, hub)
    return np.concatenate((ids, unit, far)), np.concatenate((hubs, own, reached))


def _distinct_pairs(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Each pair of two columns once, in order."""
    wide = int(other.max(initial=0)) + 1
    pairs = distinct_values(one * wide + other)
    return pairs // wide, pairs % wide


def _join_on_key(key: Ints, value: Ints, other_key: Ints, other_value: Ints) -> tuple[Ints, Ints]:
    """The values of all pairs of rows of two tables that have the same key."""
    order = np.argsort(other_key, kind="stable")
    low = np.searchsorted(other_key[order], key, side="left")
    each = np.searchsorted(other_key[order], key, side="right") - low
    place = np.repeat(low - np.cumsum(each) + each, each) + np.arange(int(each.sum()))
    return np.repeat(value, each), other_value[order][place]


def _groups_without_path(ids: Ints, hubs: Ints) -> tuple[Ints, Ints] | None:
    """Two groups of which no member reaches one of the other: those at the same hubs as one is, and those
    that are at none of these; None if all reach all."""
    if not len(ids):
        return None
    pairs = distinct_values(hubs * (int(ids.max()) + 1) + ids)
    at, who = pairs // (int(ids.max()) + 1), pairs % (int(ids.max()) + 1)
    everyone = np.flatnonzero(np.bincount(who))
    if np.diff(np.flatnonzero(np.diff(at, prepend=-1, append=-1))).max() == len(everyone):
        return None  # one hub that all are at
    of: dict[int, list[int]] = {}
    for hub, one in zip(at.tolist(), who.tolist(), strict=True):
        of.setdefault(one, []).append(hub)
    seen: set[tuple[int, ...]] = set()
    for one in everyone.tolist():
        mine_at = tuple(of[one])
        if mine_at in seen:
            continue
        seen.add(mine_at)
        near = distinct_values(who[np.isin(at, mine_at)])
        if len(near) < len(everyone):
            equal = np.array([x for x in near.tolist() if tuple(of[x]) == mine_at], dtype=np.int64)
            return equal, np.setdiff1d(everyone, near)  # others that are near may still reach both
    return None


def _unreached_manager(view: View, ids: Ints, hubs: Ints) -> int | None:
    """A manager or storage device that is at no hub of any unit."""
    if not len(view.others) or not len(ids):
        return None
    at = view.attachment
    served = np.zeros(view.fabric.device_count, dtype=np.bool_)
    served[at.end[np.isin(at.hub, hubs)]] = True
    lost = view.others[~served[view.others]]
    return int(lost[0]) if len(lost) else None


def _reachability_text(view: View, units: Ints, of_ports: bool) -> str:
    text = f"all {len(units)} {view.unit_word} reach each other"
    at = view.attachment
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[units] = True
    parts = np.count_nonzero(np.bincount(at.hub[unit[at.end]])) if not of_ports else 1
    return text if parts < 2 else f"{text}; {parts} separate networks, so not every port reaches every port"
