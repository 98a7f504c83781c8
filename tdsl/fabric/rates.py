"""Rates of links: what a connect writes, else what the ports have. A link without a rate is an error, and so
is more capacity together than sums in 64 bits hold."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.order import rank_values
from tdsl.fabric.vector import Array
from tdsl.semantics.fault import Fault
from tdsl.semantics.quantity import RATE, Quantity, quantity_text
from tdsl.semantics.settings import CAPACITY_LIMIT, GRAIN_LIMIT
from tdsl.system.nouns import counted_noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tdsl.fabric.ports import PortTable
    from tdsl.fabric.wiring import Batch
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.semantics.model import DeviceModel


def per_link(value: tuple[int, ...], batch: Batch) -> Array:
    """A setting for each link of a batch: one value for all, or one a dimension."""
    numbers = np.array(value, dtype=np.int64)
    return numbers[batch.dim] if len(numbers) > 1 else np.broadcast_to(numbers[0], len(batch.a))


def batch_rates(batch: Batch, ports: PortTable) -> Array:
    """Rate of each link: what the connect says, else what both ports have (the lower one where they differ).
    Raises Fault where neither says one."""
    written = batch.wire.settings.get("rate")
    if written is not None:
        values = written if isinstance(written, tuple) else (written,)
        return per_link(tuple(int(v.amount) for v in values if isinstance(v, Quantity)), batch)
    a, b = ports.rates(batch.a, batch.da), ports.rates(batch.b, batch.db)
    rate = np.where(a == 0, b, np.where(b == 0, a, np.minimum(a, b)))
    missing = np.flatnonzero(rate == 0)
    if len(missing):
        ends = [int(column[missing[0]]) for column in (batch.a, batch.b)]
        more = f" (and {counted_noun(len(missing) - 1, 'more link')})" if len(missing) > 1 else ""
        classes = dict.fromkeys(ports.class_at(port) for port in ends)
        raise Fault(
            "E0204",
            batch.wire.node.span,
            f"the link from {ports.port_path(ends[0])} to {ports.port_path(ends[1])} has no rate: both "
            f"ports take any rate{more}",
            labels=[(c.origin.span, f"`{c.name}` takes any rate") for c in classes],
            help="write the rate behind the connect: `{ rate 400Gbps }`, or give the ports of the model a "
            "rate",
        )
    return np.asarray(rate, dtype=np.int64)


def add_capacity(before: int, grain: int, batch: Batch) -> tuple[int, int]:
    """The capacity of all links so far with those of a batch, in bit/s each way, and the greatest common
    divisor of their rates. Raises Fault beyond a limit."""
    values, place = rank_values(batch.rate)
    count = np.bincount(place, minlength=len(values))
    total = before + sum(int(v) * int(n) for v, n in zip(values, count, strict=True))
    grain = gcd(grain, *values.tolist())
    if total >= CAPACITY_LIMIT:
        together, limit = (quantity_text(Quantity(Fraction(x), RATE)) for x in (total, CAPACITY_LIMIT))
        raise Fault(
            "E0116",
            batch.wire.node.span,
            f"with this all links carry {together} together; the limit is {limit}",
            help="correct the rates (`400Gbps` is usual), or have fewer links: capacities are added up in "
            "64 bits",
        )
    if total >= GRAIN_LIMIT * max(grain, 1):
        together, unit = (quantity_text(Quantity(Fraction(x), RATE)) for x in (total, grain))
        raise Fault(
            "E0116",
            batch.wire.node.span,
            f"with this all links carry {together} together, and {unit} is the largest rate that divides "
            "all rates; the limit is "
            f"{GRAIN_LIMIT:,} times that",
            help="round the rates, say to whole Gbps: figures are computed exactly, in units of that rate",
        )
    return total, grain


def bounded_inside(
    models: Sequence[DeviceModel], device_model: Array, capacity: int, diagnostics: Diagnostics
) -> bool:
    """Whether the links inside any one device can be added up with those between devices, of this capacity; a
    finding where they cannot. Nothing adds up what is inside of several devices: a domain has the links of
    each of its hosts apart."""
    used = np.bincount(device_model, minlength=len(models)).tolist()
    each = [
        sum(link.rate * link.count for link in m.links) if n else 0 for n, m in zip(used, models, strict=True)
    ]
    most = max(each, default=0)
    if not most or capacity + most < CAPACITY_LIMIT:
        return True
    together, limit = (quantity_text(Quantity(Fraction(x), RATE)) for x in (capacity + most, CAPACITY_LIMIT))
    diagnostics.add(
        "E0116",
        models[each.index(most)].origin.span,
        f"the links inside one such device and those between devices carry {together} together; the limit "
        f"is {limit}",
        help="correct the rates of the links inside this model: capacities are added up in 64 bits",
    )
    return False
