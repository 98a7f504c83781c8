"""Numbers of autonomous systems: those that rules give, and the plan for switches that no rule names."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.addresses import populations_of_rule
from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.findings.diagnostic import Diagnostics, Fix
from tdsl.findings.source import Origin
from tdsl.semantics.fault import Excused, Fault
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

if TYPE_CHECKING:
    from tdsl.semantics.addressing import AddressRule
    from tdsl.semantics.plan import FabricPlan

FIRST = 4_200_000_000
"""The first private 32-bit number (RFC 6996)."""
TIER = 1_000_000
"""Numbers that the plan keeps for each tier."""
FABRIC, FABRICS, PART = 10 * TIER, 9, TIER // 10
"""In a cluster, numbers that the plan keeps for each of the first fabrics, how many these are, and the part
of a tier that each further fabric takes of theirs."""
RESERVED = {0: "RFC 7607", 23456: "RFC 6793", 65535: "RFC 7300", 4294967295: "RFC 7300"}
"""Numbers that no system may have."""
PLANNED = -1


@dataclass(eq=False)
class Asns:
    """``number`` of every device, 0 if none; ``rule`` is an index into ``origins``, PLANNED where no rule
    names a device."""

    number: Ints
    rule: Ints
    origins: tuple[Origin, ...]

    def origin(self, device: int) -> Origin | None:
        """Where a device's number comes from; None for the plan."""
        at = int(self.rule[device])
        return self.origins[at] if at >= 0 else None


def asns_of(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> Asns:
    """Every device's number. Rules come first, overrides replace them, the plan serves the other switches."""
    asns = Asns(
        np.zeros(fabric.device_count, dtype=np.int64),
        np.full(fabric.device_count, PLANNED, dtype=np.int64),
        (),
    )
    rules = [r for r in plan.rules if r.kind == "asn"]
    asns.origins = tuple(r.origin for r in rules)
    replaced = np.zeros(fabric.device_count, dtype=np.bool_)
    for rule in sorted(rules, key=lambda r: r.replaces):
        try:
            _assign_rule_numbers(plan, fabric, asns, rule, rules.index(rule), replaced)
        except Fault as fault:
            fault.report(diagnostics)
        except Excused:
            pass
    _plan_switch_asns(fabric, asns, plan.member % FABRICS * FABRIC + plan.member // FABRICS * PART)
    _report_asn_conflicts(fabric, asns, diagnostics)
    return asns


def _assign_rule_numbers(
    plan: FabricPlan, fabric: Fabric, asns: Asns, rule: AddressRule, number: int, replaced: Bools
) -> None:
    """The numbers of one rule."""
    for found in populations_of_rule(plan, fabric, rule):
        first = plan.evaluator.integer(rule.value, found.scope)
        last = first + (found.planned - 1 if rule.each else 0)
        bad = [n for n in RESERVED if first <= n <= last]
        if first < 0 or last > max(RESERVED) or bad:
            why = f" (reserved by {RESERVED[bad[0]]})" if bad else ""
            what = f"{bad[0] if bad else last if first >= 0 else first:,} is not a valid AS number{why}"
            written = re.fullmatch(r"(\d[\d_]*)\s*-\s*\d[\d_]*", rule.value.span.text)
            if written is not None:
                at = rule.value.span
                help, fix = (
                    f"write `{written[1]}`",
                    Fix(f"write `{written[1]}`", ((at, written[1]),), safe=False),
                )
                message = f"`{at.text}` subtracts; `from` has the first number, and each device the next one"
                raise Fault("E0473", at, message, help=help, fix=fix)
            raise Fault(
                "E0473",
                rule.value.span,
                what,
                notes=[f"{counted_noun(found.planned, 'device is', 'devices are')} planned here"]
                if rule.each
                else (),
                help="write a private one, such as `4_200_000_000`: 64512 to 65534 and 4_200_000_000 to "
                "4_294_967_294 (RFC 6996)",
            )
        taken = asns.number[found.rows] > 0
        taken &= replaced[found.rows] == rule.replaces
        if taken.any():
            device = int(found.rows[int(np.argmax(taken))])
            old = asns.origin(device)
            raise Fault(
                "E0472",
                rule.origin,
                f"{fabric.device_path(device)} already has an ASN",
                count=int(taken.sum()),
                labels=[(old.span, "given here")] if old else (),
                help="leave it out of one of the two, or write `override PATH { asn … }`",
            )
        asns.number[found.rows] = first + (found.ranks if rule.each else 0)
        asns.rule[found.rows] = number
        replaced[found.rows] = rule.replaces


def _plan_switch_asns(fabric: Fabric, asns: Asns, offset: int) -> None:
    """The plan of RFC 7938, section 5.2.1, for switches without a rule; in a cluster from an ``offset`` on.

    Lowest tier: a number each. Above: one for all switches of a tier that the tiers below already join (the
    spines of a pod, all cores), since none of them may be on the way between two others: a path down and up
    again is refused where its own number is met. Where switches of one tier are joined to each other, each
    has its own.
    """
    tier = _tier_of_switches(fabric)
    switches = fabric.is_switch
    wired = switches[fabric.planned_a] & switches[fabric.planned_b]
    a, b = fabric.planned_a[wired], fabric.planned_b[wired]
    level = bool((tier[a] == tier[b]).any())
    lowest = int(tier[switches].min()) if switches.any() else 0
    for t in distinct_values(tier[switches]).tolist():
        mine = np.flatnonzero(switches & (tier == t))
        rank = np.arange(len(mine))
        if t > lowest and not level:
            below = (tier[a] <= t) & (tier[b] <= t)
            leader = _first_connected_device(fabric, mine, a[below], b[below])
            rank = np.unique(leader, return_inverse=True)[1].ravel()
        free = asns.number[mine] == 0
        asns.number[mine[free]] = FIRST + offset + t * TIER + rank[free]


def _tier_of_switches(fabric: Fabric) -> Ints:
    """The tier of every switch, at least 1; where no link of it is planned, that of its declaration."""
    tier = fabric.tier.copy()
    for s in fabric.sets:
        mine = slice(s.first, s.first + s.count)
        known = tier[mine][tier[mine] >= 0]
        if s.kind == "switch" and len(known):
            tier[mine] = np.where(tier[mine] < 0, known.min(), tier[mine])
    return np.where(fabric.is_switch, np.maximum(tier, 1), 0)


def _first_connected_device(fabric: Fabric, mine: Ints, a: Ints, b: Ints) -> Ints:
    """For each of these devices the first of them that the links connect it to. One without a planned link
    goes with the others of its declaration in its group, so that no number changes when it gets links."""
    lead = component_labels(fabric.device_count, a, b)
    wired = np.zeros(fabric.device_count, dtype=np.bool_)
    wired[fabric.planned_a] = wired[fabric.planned_b] = True
    for s in fabric.sets:
        here = mine[(mine >= s.first) & (mine < s.first + s.count)]
        group = (here - s.first) // prod(axis.size for axis in s.parts[-1].axes)
        known = np.full(s.count + 1, fabric.device_count, dtype=np.int64)
        np.minimum.at(known, group[wired[here]], lead[here[wired[here]]])
        np.minimum.at(known, group, np.where(known[group] < fabric.device_count, fabric.device_count, here))
        lead[here] = np.where(wired[here], lead[here], known[group])
    first = np.full(fabric.device_count + 1, fabric.device_count, dtype=np.int64)
    np.minimum.at(first, lead[mine], mine)
    out: Ints = first[lead[mine]]
    return out


def _report_asn_conflicts(fabric: Fabric, asns: Asns, diagnostics: Diagnostics) -> None:
    """Refuse what no session comes up with: a number of two rules, and neighbours with one number."""
    given = np.flatnonzero((asns.number > 0) & fabric.built)
    order = given[np.lexsort((asns.rule[given], asns.number[given]))]
    same = (asns.number[order][1:] == asns.number[order][:-1]) & (
        asns.rule[order][1:] != asns.rule[order][:-1]
    )
    said: set[tuple[int, int]] = set()
    for k in np.flatnonzero(same).tolist():
        one, two = int(order[k]), int(order[k + 1])
        pair = int(asns.rule[one]), int(asns.rule[two])
        if pair in said:
            continue
        said.add(pair)
        _report_shared_asn(fabric, asns, one, two, "of different rules", diagnostics)
    routed = asns.number[fabric.device_a] > 0
    same_number = np.flatnonzero(routed & (asns.number[fabric.device_a] == asns.number[fabric.device_b]))
    if len(same_number) and not said:
        link = int(same_number[0])
        _report_shared_asn(
            fabric,
            asns,
            int(fabric.device_a[link]),
            int(fabric.device_b[link]),
            "and a link between them",
            diagnostics,
        )


def judge_asns_of_cluster(cluster: Fabric, diagnostics: Diagnostics) -> None:
    """Refuse a number that two fabrics of a cluster give to two devices: a finding for each two rules, or
    plans."""
    found = []
    for k, f in enumerate(cluster.members):
        number = f.addressing.asn if f.addressing is not None else np.zeros(f.device_count, dtype=np.int64)
        given = np.flatnonzero((number > 0) & f.built)
        rows = cluster.member_rows[k][given]
        found.append(np.stack([number[given], np.full(len(given), k), given, rows]))
    number, member, device, row = np.concatenate(found, axis=1)
    order = np.lexsort((row, member, number))
    same = (number[order][1:] == number[order][:-1]) & (member[order][1:] != member[order][:-1])
    said: set[tuple[Origin | None, ...]] = set()
    for k in np.flatnonzero(same & (row[order][1:] != row[order][:-1])).tolist():
        one, two = order[k], order[k + 1]
        asns = [
            a
            for i in (one, two)
            if (g := cluster.members[member[i]].addressing) is not None and (a := g.asns) is not None
        ]
        origins = [a.origin(int(device[i])) for a, i in zip(asns, (one, two), strict=True)]
        pair = (*origins, cluster.members[member[one]].origin, cluster.members[member[two]].origin)
        if pair in said:
            continue
        said.add(pair)
        at = origins[1] or origins[0] or cluster.members[member[two]].origin
        diagnostics.add(
            "E0474",
            at,
            f"{cluster.device_path(int(row[one]))} and {cluster.device_path(int(row[two]))} both have ASN "
            f"{int(number[one])}, in two fabrics of the cluster",
            labels=[
                (o.span, "the first is given here") for o in origins[:1] if o is not None and o is not at
            ],
            help="give those of one fabric other ASNs, such as `4_210_000_000`",
        )


def _report_shared_asn(
    fabric: Fabric, asns: Asns, one: int, two: int, why: str, diagnostics: Diagnostics
) -> None:
    """The finding of two devices that must not share a number."""
    at = asns.origin(two) or asns.origin(one)
    other = asns.origin(one) if asns.origin(two) else None
    diagnostics.add(
        "E0474",
        at,
        f"{fabric.device_path(one)} and {fabric.device_path(two)} both have ASN {int(asns.number[one])}, "
        f"{why}",
        labels=((other.span, "the first is given here"),) if other is not None and other is not at else (),
        help="each rejects routes through the other as a loop; give one another ASN, such as `4_210_000_000`",
    )
