"""What the links of a fabric speak: as it states, as its blocks imply, or as the types of the ports agree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.fabric.layers import scaleup_links
from tdsl.fabric.order import rank_values
from tdsl.fabric.subnets import INFINIBAND
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.model import PortClass
from tdsl.semantics.plan import FabricPlan
from tdsl.semantics.transport import TRANSPORTS

STEMS = {
    "GE": "ethernet",
    "BASE_T": "ethernet",
    "NVLINK": "nvlink",
    "UALINK": "ualink",
    "UB": "ub",
    "ICI": "ici",
    "EFA": "efa",
    "SLINGSHOT": "slingshot",
}
"""How the names of types begin, and their families; a number may follow: ``GE400``, ``NVLINK5``."""


def port_type_family(type_: str) -> str:
    """The family of a port type: a key of TRANSPORTS, or the type's own name without its number."""
    if type_ in INFINIBAND:
        return "infiniband"
    stem = type_.rstrip("0123456789")
    return STEMS.get(stem, stem.lower())


def stated_transport(plan: FabricPlan) -> tuple[str, SourceSpan] | None:
    """The transport that a fabric states, or that one of its blocks implies, and where."""
    if plan.transport is not None:
        return plan.transport
    if plan.roce is not None:
        return "roce", plan.roce.origin.span
    if plan.routing is not None:
        return "ethernet", plan.routing.origin.span
    managed = [x.origin.span for x in plan.partitions] + [x.origin.span for x in plan.managers]
    return ("infiniband", managed[0]) if managed else None


def determine_transport(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> None:
    """Give a fabric whose types agree its transport. A link whose ports have two families in common, where
    neither a statement nor the other links say which, is a warning: what is judged is the same for each of
    them. A link that cannot speak what is stated is an error. A transport is that of the network: scale-up
    links beside one speak their own."""
    said = stated_transport(plan)
    if plan.transport is not None:
        _refuse_too_many_accelerators(fabric, *plan.transport, diagnostics)
    pairs = _typed_class_pairs(fabric)
    if not pairs:
        return
    agreed = set.intersection(*(common for *_, common in pairs))
    for link, a, b, count, common in pairs:
        labels = [(c.origin.span, f"type {', '.join(c.types)}") for c in dict.fromkeys((a, b))]
        if said is not None:
            labels.insert(0, (said[1], "stated here"))
        say = partial(diagnostics.add, count=count, labels=labels)
        where = fabric.statements[int(fabric.link_statement[link])].origin
        ends = f"{fabric.port_path(int(fabric.link_a[link]))} to {fabric.port_path(int(fabric.link_b[link]))}"
        if said is None and len(common) > 1 and len(agreed) != 1:
            names = sorted(common)
            say(
                "E0212",
                where,
                f"the ports of this link can be {' or '.join(names)}, and the fabric does not say which: "
                f"{ends}",
                help=transport_statements(names),
                severity=Severity.WARNING,
            )
            return
        if said is not None and plan.transport is not None and not common & set(TRANSPORTS[said[0]].families):
            say(
                "E0213",
                where,
                f"{ends} share no type that carries {said[0]}: they are {' or '.join(sorted(common))}",
                help=f"write `transport {min(common)}`, or connect ports of another type",
            )
            return
    if said is None and len(agreed) == 1:
        (fabric.transport,) = agreed


def _refuse_too_many_accelerators(
    fabric: Fabric, name: str, span: SourceSpan, diagnostics: Diagnostics
) -> None:
    """Refuse a network of more accelerators than its transport can address."""
    most = TRANSPORTS[name].most_accelerators
    if not most:
        return
    linked = np.zeros(fabric.device_count, dtype=np.bool_)
    linked[fabric.device_a] = linked[fabric.device_b] = True
    inside = np.array([max(m.accelerators, m.kind == "chip") for m in fabric.models], dtype=np.int64)
    count = int(inside[fabric.device_model[linked & fabric.is_end]].sum())
    if count > most:
        diagnostics.add(
            "E0467",
            span,
            f"a network of `{name}` has at most {most:,} accelerators, and this one has {count:,}",
            help=f"divide it into several fabrics of at most {most:,}, or leave `transport {name}` out",
        )


def open_families(fabric: Fabric) -> list[str]:
    """The families that links of a fabric may be of, where nothing says which; none where its transport is
    known."""
    pairs = [] if fabric.transport else [common for *_, common in _typed_class_pairs(fabric)]
    if not pairs or len(set.intersection(*pairs)) == 1:
        return []
    return sorted(next((common for common in pairs if len(common) > 1), ()))


def transport_statements(names: Sequence[str]) -> str:
    """The help of a finding: which statements say what links speak."""
    return "write " + " or ".join(f"`transport {n}`" for n in names) + " in the fabric's block"


def _typed_class_pairs(fabric: Fabric) -> list[tuple[int, PortClass, PortClass, int, set[str]]]:
    """As ``_linked_class_pairs``, of the links of the network whose ports have families in common, and
    these."""
    beside = scaleup_links(fabric)
    if beside.all():
        beside = np.zeros_like(beside)
    return [
        (link, a, b, count, common)
        for link, a, b, count in _linked_class_pairs(fabric)
        if (common := common_families(a, b)) and not beside[link]
    ]


def common_families(a: PortClass, b: PortClass) -> set[str]:
    """Families that a link between ports of two classes may be of; none where one of them has no type."""
    if "any" in a.types or "any" in b.types:
        return set()
    return {port_type_family(t) for t in set(a.types) & set(b.types)}


def _linked_class_pairs(fabric: Fabric) -> list[tuple[int, PortClass, PortClass, int]]:
    """For every statement and pair of port classes that it joins: a link, the two classes, and how many
    links."""
    if not fabric.link_count:
        return []
    classes = [c for m in fabric.models for c in m.classes]
    of_port = np.repeat(np.arange(len(classes)), [c.size for c in classes])
    base = np.cumsum([0, *(m.port_count for m in fabric.models)])[:-1]

    begins = base[fabric.device_model] - fabric.port_base[:-1]
    width = len(classes)
    keys = fabric.link_statement * width + of_port[begins[fabric.device_a] + fabric.link_a]
    keys = keys * width + of_port[begins[fabric.device_b] + fabric.link_b]
    known, place = rank_values(keys)
    count = np.bincount(place)
    first = np.zeros(len(known), dtype=np.int64)
    first[place[::-1]] = np.arange(
        len(place) - 1, -1, -1
    )  # of a number that is written often the last one stays: the first row
    return [
        (link, classes[key // width % width], classes[key % width], n)
        for key, link, n in zip(known.tolist(), first.tolist(), count.tolist(), strict=True)
    ]
