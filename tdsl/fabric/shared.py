"""Hosts of several fabrics: a port belongs to one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tdsl.fabric.cluster import declaration_key
from tdsl.fabric.graph import USED, Fabric
from tdsl.fabric.vector import Array
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.model import DeviceSet
from tdsl.system.nouns import counted_noun


def refuse_shared_ports(fabrics: Sequence[Fabric], diagnostics: Diagnostics) -> None:
    """Refuse ports that two fabrics of a cluster use."""
    for k, later in enumerate(fabrics):
        for before in fabrics[:k]:
            for s in later.sets:
                same = (
                    x for x in before.sets if declaration_key(x) == declaration_key(s) and x.count == s.count
                )
                other = None if s.prefix else next((x for x in same if not x.prefix), None)
                if other is not None:
                    _refuse_ports_of_both(before, other, later, s, diagnostics)


def _refuse_ports_of_both(
    before: Fabric, other: DeviceSet, later: Fabric, s: DeviceSet, diagnostics: Diagnostics
) -> None:
    if [(c.name, c.size) for c in other.model.classes] != [(c.name, c.size) for c in s.model.classes]:
        return
    first, second = _ports_of_set(before, other), _ports_of_set(later, s)
    if len(first) != len(second):
        return
    both = np.flatnonzero((before.port_state[first] == USED) & (later.port_state[second] == USED))
    if not len(both):
        return
    a, b = int(first[both[0]]), int(second[both[0]])
    more = f" (and {counted_noun(len(both) - 1, 'more port')})" if len(both) > 1 else ""
    statement = later.statements[int(later.link_statement[later.port_link[b]])]
    taken = before.statements[int(before.link_statement[before.port_link[a]])]
    diagnostics.add(
        "E0451",
        statement.origin,
        f"port {later.port_path(b)} already has a link in fabric `{before.name}`{more}",
        labels=[(taken.origin.span, f"taken by this, in `{before.name}`")],
        help="a model's own links of the network are in each fabric that has its devices, so one fabric "
        "alone can have them: declare them in it"
        if statement.origin.span == taken.origin.span
        else "a port belongs to one fabric: name another class",
    )


def _ports_of_set(fabric: Fabric, s: DeviceSet) -> Array:
    """Numbers of all ports of a set, device by device."""
    return np.arange(int(fabric.port_base[s.first]), int(fabric.port_base[s.first + s.count]), dtype=np.int64)
