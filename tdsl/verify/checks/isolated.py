"""Devices without a link."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Fabric
from tdsl.findings.diagnostic import Severity
from tdsl.prove.view import View
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds


class Isolated(Check):
    """Every device that is built has a link.

    ## What it means
    A host, chip or switch that is in the hall without any link is a declaration that some `connect` forgot.
    An unused panel or optical circuit switch is only a warning.

    ## Formula and source
    A count: links, panel crossings and drawn cables at each device. A host whose own chips are linked (an
    NVLink domain) counts as linked.

    ## What it assumes
    Devices that `omit` removes, and those beyond n in `n of m`, are planned only and need no link. Devices
    inside a model are asked only if some device of their declaration has a link.

    ## A design that passes
    ```fab
    host node[4]: NODE
    switch sw: SW
    connect node[n].nic to sw
    ```

    ## A design that fails
    ```fab
    host node[4]: NODE
    switch sw: SW
    connect node[n].nic to sw where n < 3                  # node[3] is forgotten
    ```

    ### What it prints
    ```
    E0404: node3 has no link
    help: connect it, or leave it out with `omit`
    ```
    """

    code = "E0404"
    name = "isolated"
    wrong = "A device without a link"
    kind = "yes_no"
    cost = 0
    fails_by_default = True
    of_design = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f = view.fabric
        alone = view.core & ~devices_in_use(view)
        faults = []
        for s in f.sets:
            block = alone[s.first : s.first + s.count]
            count = int(block.sum())
            if not count:
                continue
            built = int(view.core[s.first : s.first + s.count].sum())
            if s.inside is not None and count == built:
                continue
            name = f.device_name(s.first + int(np.argmax(block)))
            message = (
                f"{name} has no link"
                if count == 1
                else f"{name} and {count - 1} more {noun_for_count(count - 1, 'device')} have no link"
            )
            if count == built > 1:
                message = f"none of the {count} devices of `{s.path}` has a link"
            passive = s.kind in ("ocs", "panel")
            severity = Severity.WARNING if passive else Severity.ERROR
            faults.append(
                PropertyFault(
                    s.origin,
                    message,
                    count,
                    help="connect it, or leave it out with `omit`",
                    severity=severity,
                )
            )
        errors = [x for x in faults if x.severity is Severity.ERROR]
        if not faults:
            return property_holds("every device has a link")
        witness = {"devices": view.names(np.flatnonzero(alone)[:4])}
        return property_fails(errors[0].message if errors else faults[0].message, tuple(faults), witness)


def devices_in_use(view: View) -> Bools:
    """Whether anything is plugged into a device, or into the chips inside it."""
    f = view.fabric
    used = view.degree > 0
    for ports in (f.link_via_a, f.link_via_b, f.cable_a, f.cable_b, f.circuit_a, f.circuit_b):
        there = ports[ports >= 0]
        if len(there):
            used[f.port_device[there]] = True
    _mark_hosts_in_use(f, used)
    return used


def _mark_hosts_in_use(f: Fabric, used: Bools) -> None:
    """A host is in use where a device inside it is."""
    for s in f.sets:
        if s.inside is not None and s.inside.count and s.count % s.inside.count == 0:
            inner = used[s.first : s.first + s.count].reshape(s.inside.count, -1).any(axis=1)
            used[s.inside.first : s.inside.first + s.inside.count] |= inner
