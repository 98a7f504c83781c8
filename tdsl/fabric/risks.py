"""Groups of devices that fail together: those that a design states by ``risk``, the racks in which devices
are placed, and what is without power once a feed is lost. Trays of cables are found where lengths are
(``verify.failing_elements``)."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import FabricElement, Selector
from tdsl.fabric.feeds import feed_elements
from tdsl.fabric.graph import Fabric, Ints
from tdsl.findings.source import Origin
from tdsl.semantics.failure_rates import RESERVED, FailureRate
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.feeds import EXAMPLE as FEED_EXAMPLE
from tdsl.semantics.plan import Context
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

RISK = "risk"
"""The word, and the kind of a selector that names such groups."""


@dataclass(frozen=True, slots=True)
class RiskGroup:
    """One stated group: rows of its devices, without what is in them. ``path`` begins with the instance in
    whose block it is stated (``pod[0].feed_a``), ``name`` does not."""

    name: str
    path: str
    devices: Ints
    rate: FailureRate
    origin: Origin


def is_risk_path(path: tree.PathExpr, context: Context) -> bool:
    """Whether a path is the word ``risk``, or ``risk.NAME``, and no declaration around has this name."""
    names = [p.name if isinstance(p, tree.Identifier) else "" for p in path.parts]
    return (
        len(names) <= 2
        and names[0] == RISK
        and all(names)
        and not any(RISK in g.members for g in context.groups)
    )


def _fault_of_no_risk(word: str, path: tree.PathExpr) -> Fault:
    """The fault of ``risk``, ``risk.stated`` or ``risk.feeds`` where there is none."""
    if word == "feeds":
        return Fault("E0101", path.span, "no feed is stated", help=FEED_EXAMPLE)
    more = "" if word == "stated" else ", and nothing is placed in racks"
    return Fault(
        "E0101",
        path.span,
        f"no risk group is stated{more}",
        help="write `risk feed_a { members spine[0], spine[2] }` in the block of the fabric",
    )


def _elements_of_risk_name(fabric: Fabric, name: str) -> tuple[FabricElement, ...]:
    """The risk groups that are stated with a name, else the feed of that name."""
    found = tuple(FabricElement(f"risk {r.path}", r.devices) for r in fabric.risks if r.name == name)
    return found or tuple(e for e in feed_elements(fabric) if e.name == f"feed {name}")


def risk_selector(fabric: Fabric, path: tree.PathExpr) -> Selector:
    """The groups that ``risk``, ``risk.racks``, ``risk.stated``, ``risk.feeds``, ``risk.trays`` or
    ``risk.NAME`` names; of trays none yet. Raises Fault where there are none of that name, and none at
    all."""
    text = " ".join(path.span.text.split())
    last = path.parts[-1]
    word = last.name if isinstance(last, tree.Identifier) and len(path.parts) > 1 else ""
    stated = tuple(FabricElement(f"risk {r.path}", r.devices) for r in fabric.risks)
    if word in ("", *RESERVED):
        racks, feeds = _rack_elements(fabric), feed_elements(fabric)
        kinds = {"trays": (), "racks": racks, "stated": stated, "feeds": feeds}
        found = kinds.get(word, (*stated, *racks, *feeds))
        if not found and (word in ("stated", "feeds") or fabric.places is None):
            raise _fault_of_no_risk(word, path)
        return Selector(text, RISK, found)
    found = _elements_of_risk_name(fabric, word)
    if not found:
        fed = fabric.places.feeds if fabric.places is not None else ()
        known = [*dict.fromkeys(r.name for r in fabric.risks), *(x.name for x in fed), *RESERVED]
        raise unknown_name_fault("E0101", last.span, "risk group", word, known)
    return Selector(text, RISK, found)


def _rack_elements(fabric: Fabric) -> tuple[FabricElement, ...]:
    """A rack with the devices in it, for every rack that has some."""
    places = fabric.places
    if places is None:
        return ()
    rack = np.where(fabric.built, places.device_rack, -1)
    several = len(places.halls) > 1
    names = [f"{places.hall_name(k)} {n}" if several else n for k, n in enumerate(places.rack_names)]
    used = np.unique(rack[rack >= 0]).tolist()
    return tuple(FabricElement(f"rack {names[k]}", np.flatnonzero(rack == k)) for k in used)
