"""Rails: NIC r of every host is connected to the switch of rail r."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.rails import RailPlan, rail_plan
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds


class RailAlignment(Check):
    """NIC r of every host is connected to the switch of rail r.

    ## What it means
    In a rail-organised design the accelerators of equal rank in different hosts share a switch, and
    collective libraries count on it: a swapped cable costs bandwidth without any link being down.

    ## Formula and source
    The rail of a NIC is the first index of its port class. A switch serves, for each port class, the rail
    that most of its host ports have; every port of another rail is a violation. Where it should be: on the
    switch of its rail that hosts sharing a switch with this host use. Source: Wang et al., "Rail-only: a
    low-cost high-performance network for training LLMs" (2023); NVIDIA DGX SuperPOD reference architecture.

    ## What it assumes
    The design is rail-organised: more than half of the switches with hosts serve mostly one rail, and there
    are several rails. Else the check is skipped, and an explicit `require rail_alignment` is refuted. This is
    asked of each port class and of the hosts of each declaration by themselves, and hosts have rails if they
    do in the class with most links: beside a core with rails, the hosts of an edge site, or the storage
    ports, may all be connected to one switch. The answer names those without rails. An index that numbers
    planes is no rail. Where nothing requires `rail_alignment`, a violation is a warning.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r]
    ```

    ## A design that fails
    ```fab
    connect node[n].nic[r] to leaf[r] where n > 0 or r > 1
    connect node[0].nic[r] to leaf[1 - r] where r <= 1      # two cables swapped
    ```

    ### What it prints
    ```
    E0403: node[0].nic[0] is connected to leaf1, which serves rail 1; the others' nic[0] to leaf0 (and 1 more)
    ```
    """

    code = "E0403"
    name = "rail_alignment"
    wrong = "A NIC on a switch of another rail"
    kind = "yes_no"
    cost = 0
    fails_by_default = True
    mild = True
    of_design = True
    of_network = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f, plan = view.fabric, rail_plan(view.fabric)
        kept = np.zeros(f.link_count, dtype=np.bool_)
        kept[view.rows] = True
        here = kept[plan.rows]
        judged = here & plan.judged if len(plan.rows) else here
        if not judged.any():
            return _skipped_without_rails(f, plan)
        wrong = judged & (plan.serves != plan.rail)
        if wrong.any():
            return self._misplaced(f, plan, wrong)
        count = len(np.unique(plan.rail[judged]))
        text = f"{count} {noun_for_count(count, 'rail')}, every NIC is connected to the switch of its rail"
        others = here & ~judged
        if not others.any():
            return property_holds(text)
        names = _sets_without_rails(f, plan, others)
        return property_holds(
            f"{text}; the switches of {first_names_and_more(names, 3)} serve several rails each",
            {"without_rails": names},
        )

    def _misplaced(self, f: Fabric, plan: RailPlan, wrong: Bools) -> Judgement:
        rows = np.flatnonzero(wrong)
        statements = f.link_statement[plan.rows[rows]]
        faults: list[PropertyFault] = []
        witness: dict[str, object] = {}
        for statement in distinct_values(statements).tolist():
            mine = rows[statements == statement]
            at = int(mine[0])
            port = f.port_path(int(f.link_a[plan.rows[at]]))
            found, rail = int(plan.switch[at]), int(plan.rail[at])
            expected = _switch_expected_for_rail(f, plan, at)
            where = (
                f"; those of its siblings are connected to {f.device_name(expected)}" if expected >= 0 else ""
            )
            message = (
                f"{port} is connected to {f.device_name(found)}, which serves rail "
                f"{int(plan.serves[at])}{where}"
            )
            message += f" (and {len(mine) - 1} more)" if len(mine) > 1 else ""
            labels = ((f.set_of(found).origin.span, f"{f.device_name(found)} is declared here"),)
            help = f"connect it to the switch of rail {rail}"
            faults.append(
                PropertyFault(f.statements[statement].origin, message, len(mine), labels, help=help)
            )
            if not witness:
                witness = {
                    "host": f.device_name(int(f.device_a[plan.rows[at]])),
                    "nic": port,
                    "found": f.device_name(found),
                    "expected": f.device_name(expected) if expected >= 0 else None,
                }
        return property_fails(faults[0].message, tuple(faults), witness)


def _sets_without_rails(f: Fabric, plan: RailPlan, others: Bools) -> list[str]:
    """Declarations of hosts without rails, and classes of ports without rails of hosts that have some."""
    railed = {int(s) for s in np.unique(f.device_set[f.device_a[plan.rows[plan.judged]]])}
    device = f.device_a[plan.rows[others]]
    ports = np.stack((f.device_set[device], f.link_a[plan.rows[others]] - f.port_base[device]))
    names: dict[str, None] = {}
    for s, port in np.unique(ports, axis=1).T.tolist():
        declared = f.sets[s]
        names[f"{declared.path}.{declared.model.class_of(port).name}" if s in railed else declared.path] = (
            None
        )
    return list(names)


def _skipped_without_rails(f: Fabric, plan: RailPlan) -> Judgement:
    """Skipped; the fault is there for a claim that insists."""
    reason = "the design is not rail-organised"
    if not len(plan.rows):
        fault = PropertyFault(None, f"{reason}: no host port has a rail")
        return Judgement("skipped", reason=reason, faults=(fault,))
    foreign = plan.rail != plan.serves  # at switches that serve several rails
    rows = np.flatnonzero(foreign if foreign.any() else plan.rail >= 0)
    at = int(rows[plan.switch[rows].argmin()])
    switch, class_ = int(plan.switch[at]), f.port_class(int(f.link_a[plan.rows[at]]))[0].name
    there = np.flatnonzero(plan.switch == switch)
    same = [f.port_class(p)[0].name == class_ for p in f.link_a[plan.rows[there]].tolist()]
    mine = np.zeros(len(plan.rows), dtype=np.bool_)
    mine[there[same]] = True
    found = distinct_values(plan.rail[mine])
    name = f.device_name(switch)
    what = (
        f"{name} serves {len(found)} rails"
        if len(found) > 1
        else f"{name} serves rail {int(found[0])}, as all others do"
    )
    ports = [f.port_path(int(f.link_a[plan.rows[mine][plan.rail[mine] == r][0]])) for r in found[:2]]
    statement = f.statements[int(f.link_statement[plan.rows[mine][0]])]
    fault = PropertyFault(statement.origin, f"{reason}: {what}: {' and '.join(ports)} are connected to it")
    return Judgement("skipped", reason=reason, faults=(fault,), witness={"switch": name, "nics": ports})


def _switch_expected_for_rail(f: Fabric, plan: RailPlan, at: int) -> int:
    """The switch that NICs of this rail are connected to in hosts which share a switch with this host; -1 if
    there are none."""
    host = f.device_a[plan.rows]
    mine = host == host[at]
    shared = np.zeros(f.device_count, dtype=np.bool_)
    right = plan.serves == plan.rail
    shared[plan.switch[mine & right if (mine & right).any() else mine]] = True
    sibling = np.zeros(f.device_count, dtype=np.bool_)
    sibling[host[shared[plan.switch]]] = True
    there: Ints = plan.switch[sibling[host] & ~mine & right & (plan.rail == plan.rail[at])]
    return int(np.argmax(np.bincount(there))) if len(there) else -1
