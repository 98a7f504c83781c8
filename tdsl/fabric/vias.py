"""Links that cross a panel or an OCS: which of its ports they use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.graph import FREE
from tdsl.fabric.order import by_keys, number_within_key
from tdsl.fabric.ports import PortTable
from tdsl.fabric.resolve import Resolver
from tdsl.fabric.vector import Array
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.plan import ResolvedConnect

if TYPE_CHECKING:
    from tdsl.fabric.wiring import Batch


def ports_of_crossed_device(
    ports: PortTable, wire: ResolvedConnect, resolver: Resolver, batch: Batch, built: NDArray[np.bool_]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The two ports of the crossed device for every link, and which links are still built.

    A's ends take the first free ports, then B's; of two classes, A's the first and B's the second. Links that
    share a connector outside share one inside.
    """
    assert wire.via is not None and wire.via.device is not None
    rows, _, populous = resolver.devices(wire.via)
    if populous:
        raise Fault(
            "E0453",
            wire.via.span,
            "a link crosses one panel or OCS, and this names several",
            help="compute which: `via ocs[i % 16]`",
        )
    if wire.via.device.kind not in ("ocs", "panel"):
        raise Fault(
            "E0457", wire.via.span, f"`via` crosses a panel or an OCS, and this is a {wire.via.device.kind}"
        )
    devices = rows[batch.assignment, 0]
    if not len(devices):
        return batch.via_a, batch.via_b, built
    model = wire.via.device.model
    if not model.classes:
        raise Fault("E0452", wire.via.span, f"{model.name} has no ports")
    first, second = model.classes[0], model.classes[1 if len(model.classes) > 1 else 0]
    a = _take_via_ports(ports, wire, devices, batch.a, first, model, None)
    b = _take_via_ports(ports, wire, devices, batch.b, second, model, a if second is first else None)
    return a, b, built & ports.built[devices]


def _take_via_ports(
    ports: PortTable,
    wire: ResolvedConnect,
    devices: Array,
    outside: Array,
    c: PortClass,
    model: DeviceModel,
    taken: Array | None,
) -> Array:
    """A port of class ``c`` for every link: connectors in the order of the devices and ports outside, lanes
    within."""
    assert wire.via is not None
    lanes = c.connectors.count(c.connectors[0]) if c.connectors else 1
    outer = ports.connector[outside]
    order = by_keys(devices, outside) if ports.connectors_ascend else by_keys(devices, outer, outside)
    d, o = devices[order], outer[order]
    new_device = np.append(True, d[1:] != d[:-1])
    new_connector = new_device.copy()
    new_connector[1:] |= o[1:] != o[:-1]
    begins = np.flatnonzero(new_connector)
    count = np.diff(np.append(begins, len(d)))  # links of every connector outside
    lane = np.arange(len(d), dtype=np.int64)
    lane -= np.repeat(begins, count)
    together = int(count.max(initial=0))
    if together > lanes:
        raise Fault(
            "E0201",
            wire.via.span,
            f"{together} links leave one connector and a connector of {model.name} takes {lanes}",
            labels=[(c.origin.span, "its ports")],
            help=f"split its ports: `{{ split {c.name} N }}`",
        )
    rows = d[new_device]
    whole = c.size - c.size % lanes  # ports of whole connectors: the last may have fewer
    numbers = ports.base[rows][:, None] + c.first + np.arange(whole, dtype=np.int64)[None, :]
    states = ports.state
    if taken is not None:
        states = states.copy()
        states[taken] = 1
    free = (states[numbers] == FREE).reshape(len(rows), whole // lanes, lanes).all(axis=2)
    have = free.sum(axis=1)
    row = np.cumsum(new_device[begins]) - 1  # of every connector outside: its device here among ``rows``
    nth = number_within_key(row)
    short = nth >= have[row]
    if short.any():
        at = int(np.argmax(short))
        path, left = ports.path(int(rows[row[at]])), int(have[row[at]])
        raise Fault(
            "E0452",
            wire.via.span,
            f"{path} has {left} free connectors of `{c.name}` and more links would cross it",
            labels=[(c.origin.span, f"{model.name} has {c.size} ports `{c.name}`")],
            help="use more panels or OCS",
        )
    first = numbers[:, ::lanes][free]  # the first port of every free connector, device after device
    out = np.empty(len(devices), dtype=np.int64)
    lane += np.repeat(first[(np.cumsum(have) - have)[row] + nth], count)
    out[order] = lane
    return out
