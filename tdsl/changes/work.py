"""The work of an order of moves, as a table: what is drained, unplugged, moved and plugged at each step, rack
by rack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tdsl.changes.model import CableEnd, CableLeg, Changes
from tdsl.changes.steps import MovePlan, MoveStep, percent_of_share
from tdsl.fabric.columns import natural_sort_key
from tdsl.fabric.graph import Fabric
from tdsl.fabric.renamed import design_devices_of, find_renamed_devices

COLUMNS = (
    "step",
    "action",
    "hall",
    "row",
    "rack",
    "u",
    "device",
    "port",
    "from",
    "to",
    "length",
    "part",
    "bisection",
)
Place = tuple[str, str, str, str]
"""Hall, row, rack and unit of a device; "" where unknown."""
Made = tuple[int, str, str | CableEnd, str, str, str, tuple[str, str], str]
"""Step, action, device or end of a cable, port, from, to, facts of the cable, bisection."""
NOWHERE: Place = ("", "", "", "")
ORDER = ("relabel", "out of service", "drain", "unplug", "move", "plug", "into service")


def mounting_places(before: Fabric, after: Fabric) -> dict[str, Place]:
    """Where devices are mounted, by the path of today; of two fabrics the newer one, where it knows."""
    out: dict[str, Place] = {}
    renamed = find_renamed_devices(design_devices_of(before), design_devices_of(after))
    for f, known in ((before, renamed), (after, {})):
        p = f.places
        for d in np.flatnonzero(p.device_rack >= 0).tolist() if p is not None else ():
            assert p is not None
            r, unit = int(p.device_rack[d]), int(p.device_unit[d])
            path = f.device_path(d)
            out[known.get(path, path)] = (
                p.hall_name(r),
                p.row_name(r),
                p.rack_name(r),
                str(unit) if unit > 0 else "",
            )
    return out


def ports_to_drain(step: MoveStep) -> list[CableEnd]:
    """The upper ends of the links that a step takes down: ports to drain of traffic first, each once."""
    ends = {c.b.key: c.b for c in step.unplug}
    return [
        ends[k]
        for k in sorted(ends, key=lambda k: (natural_sort_key(ends[k].name), natural_sort_key(ends[k].label)))
    ]


def cable_work_of_step(
    step: MoveStep, changes: Changes
) -> tuple[list[tuple[CableEnd, CableEnd, CableEnd, CableLeg]], list[CableLeg], list[CableLeg]]:
    """Plugs that a step moves (the end that stays, from where, to where, the cable as it is laid then),
    cables that it takes away, and those that it lays or plugs."""
    out, come = {id(c) for c in step.unplug}, {id(c) for c in step.plug}
    whole = [m for m in changes.moved if id(m.old) in out and id(m.new) in come]
    done = {id(c) for m in whole for c in (m.old, m.new)}
    return (
        [(m.stays, m.before, m.after, m.new) for m in whole],
        [c for c in step.unplug if id(c) not in done],
        [c for c in step.plug if id(c) not in done],
    )


def work_rows(plan: MovePlan, changes: Changes, mounted: dict[str, Place]) -> list[tuple[object, ...]]:
    """The table, in the order in which a crew walks: by step and action, then by hall, row and rack."""
    last = len(plan.steps) + 1
    before, end = (percent_of_share(share) if share is not None else "" for share in (plan.before, plan.end))
    made: list[Made] = [
        (0, "relabel", CableEnd(x.what, x.before, "", ""), "", x.before, x.after, ("", ""), before)
        for x in changes.names
    ]
    made += [(0, "out of service", path, "", "", "", ("", ""), before) for path in plan.leave]
    for number, step in enumerate(plan.steps, 1):
        made += _work_rows_of_step(number, step, changes)
    made += [(last, "into service", path, "", "", "", ("", ""), end) for path in plan.join]
    found = []
    for number, action, device, port, source, target, facts, share in made:
        path = device if isinstance(device, str) else device.device
        name = device if isinstance(device, str) else device.name
        place = mounted.get(path, NOWHERE)
        key = (number, ORDER.index(action), *(natural_sort_key(p) for p in (*place[:3], name, port)))
        found.append((key, (number, action, *place, name, port, source, target, *facts, share)))
    found.sort(key=lambda f: f[0])
    return [row for _, row in found]


def joined_work_rows(networks: Sequence[Sequence[tuple[object, ...]]]) -> list[tuple[object, ...]]:
    """The tables of the networks of a cluster as one list: one network after the other, so that the hosts out
    of service at each step are those that its order counts on. A device that several networks have is
    relabelled once, goes out of service with the first of them and comes into service with the last."""
    rows = [(network, row) for network, table in enumerate(networks) for row in table]
    last = {(row[1], row[6]): network for network, row in rows}
    first = {(row[1], row[6]): network for network, row in reversed(rows)}
    kept = [
        (network, row)
        for network, row in rows
        if row[1] not in ("relabel", "out of service", "into service")
        or (last if row[1] == "into service" else first)[row[1], row[6]] == network
    ]
    steps = list(dict.fromkeys((network, row[0]) for network, row in kept))
    start = 0 if steps and steps[0][1] == 0 else 1
    number = {step: start + k for k, step in enumerate(steps)}
    return [(number[network, row[0]], *row[1:]) for network, row in kept]


def _work_rows_of_step(number: int, step: MoveStep, changes: Changes) -> Iterator[Made]:
    during, after = percent_of_share(step.during), percent_of_share(step.after)
    for end in ports_to_drain(step):
        yield number, "drain", end, end.label, "", "", ("", ""), during
    moved, gone, come = cable_work_of_step(step, changes)
    for stays, before, to, cable in moved:
        yield (
            number,
            "move",
            before,
            before.label,
            before.text,
            f"{to.text} (the other end stays at {stays.text})",
            _length_and_part(cable),
            after,
        )
    for c in gone:
        yield number, "unplug", c.a, c.a.label, c.b.text, "", _length_and_part(c), during
    for c in come:
        yield number, "plug", c.a, c.a.label, "", c.b.text, _length_and_part(c), after


def _length_and_part(cable: CableLeg) -> tuple[str, str]:
    facts = dict(cable.facts)
    return facts.get("length", ""), facts.get("part", "")


def count_cable_work(plan: MovePlan, changes: Changes) -> tuple[int, int, int]:
    """Cables to lay, to move and to remove, over all steps."""
    lay = move = remove = 0
    for step in plan.steps:
        moved, gone, come = cable_work_of_step(step, changes)
        lay, move, remove = lay + len(come), move + len(moved), remove + len(gone)
    return lay, move, remove


def actions_by_rack(
    table: Sequence[tuple[object, ...]],
) -> dict[tuple[object, object, object], dict[str, int]]:
    """How many actions of each kind there are at each hall, row and rack."""
    out: dict[tuple[object, object, object], dict[str, int]] = {}
    for row in table:
        count = out.setdefault((row[2], row[3], row[4]), {})
        count[str(row[1])] = count.get(str(row[1]), 0) + 1
    return out
