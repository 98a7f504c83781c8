"""Connectors: both ends of a cable are of one kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.view import View
from tdsl.semantics.model import PortClass
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds
from tdsl.verify.ports import ClassTable, Joint, joints_of_links


class ConnectorMatch(Check):
    """Both ends of a link share a type.

    ## What it means
    InfiniBand NDR does not talk to 400G Ethernet, and NVLink to neither: a link joins ports that have a
    `type` in common.

    ## Formula and source
    The types of both port classes, as the models state them, have a common member. A port without a type, or
    of type `any`, fits all. Where a link crosses a panel or an optical circuit switch, the port there must
    fit the end that faces it.

    ## What it assumes
    A type names the whole of what must agree: protocol, signalling and rate family. Cages and optics are
    chosen later, from the catalogue.

    ## A design that passes
    ```fab
    model host NODE { port nic[2]: 400Gbps { type NDR, GE400 } }
    model switch ETH { port p[1..4]: 400Gbps { type GE400 } }
    connect node[n].nic[0] to eth
    ```

    ## A design that fails
    ```fab
    model switch IB { port p[1..4]: 400Gbps { type NDR } }
    connect ib.p[1] to eth.p[1]
    ```

    ### What it prints
    ```
    E0221: ib.p[1] is of type NDR and eth.p[1] of type GE400: they share none
    ```
    """

    code = "E0221"
    name = "connector_match"
    wrong = "Two ends of a link that do not fit"
    kind = "yes_no"
    fails_by_default = True
    monotone = True
    of_design = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f, table = view.fabric, ClassTable.of(view.fabric)
        if not len(view.rows):
            return replace(property_holds("there are no links"), judged=0, of=0)
        links = view.rows
        faults = self._faults(f, table, links, f.link_a[links], f.link_b[links])
        for via, end in ((f.link_via_a, f.link_a), (f.link_via_b, f.link_b)):
            crossing = links[via[links] >= 0]
            faults += self._faults(f, table, crossing, end[crossing], via[crossing])
        if not faults:
            return property_holds("both ends of every link share a type")
        return property_fails(faults[0].message, tuple(faults), {"links": sum(x.count for x in faults)})

    def links_at_fault(self, view: View) -> Ints:
        """Rows of the links whose two ends share no type."""
        f, table = view.fabric, ClassTable.of(view.fabric)
        ends = np.stack([table.rows(f, f.link_a[view.rows]), table.rows(f, f.link_b[view.rows])])
        pairs, which = np.unique(ends, axis=1, return_inverse=True)
        apart = [not share_type(table.classes[a], table.classes[b]) for a, b in pairs.T.tolist()]
        return view.rows[np.array(apart, dtype=np.bool_)[which.reshape(-1)]]

    def _faults(self, f: Fabric, table: ClassTable, links: Ints, a: Ints, b: Ints) -> list[PropertyFault]:
        found = []
        for joint in joints_of_links(f, table, links, a, b):
            pair = table.classes[joint.class_a], table.classes[joint.class_b]
            if not share_type(*pair):
                at = int(np.searchsorted(links, joint.link))
                found.append(self._fault(f, joint, pair, int(a[at]), int(b[at])))
        return found

    def _fault(
        self, f: Fabric, joint: Joint, pair: tuple[PortClass, PortClass], a: int, b: int
    ) -> PropertyFault:
        types = [", ".join(c.types) for c in pair]
        message = (
            f"{f.port_path(a)} is of type {types[0]} and {f.port_path(b)} of type {types[1]}: they share none"
        )
        message += f" ({joint.count} such links)" if joint.count > 1 else ""
        labels = tuple((c.origin.span, f"type {t}, declared here") for c, t in zip(pair, types, strict=True))
        return PropertyFault(
            f.statements[joint.statement].origin,
            message,
            joint.count,
            labels,
            help="connect ports that share a type",
        )


def share_type(a: PortClass, b: PortClass) -> bool:
    """Whether ports of two classes may be joined."""
    return (
        not a.types
        or not b.types
        or "any" in a.types
        or "any" in b.types
        or bool(set(a.types) & set(b.types))
    )
