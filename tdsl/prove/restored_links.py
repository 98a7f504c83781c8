"""A fabric with the links restored that most instances of a group have and some lack.

A bound on the restored fabric, less the capacity that was restored, is a bound on the fabric as it is: no cut
loses more. What is restored is a guess that makes the bound good or bad, never wrong.
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import CapacityPairs, Network
from tdsl.semantics.model import DeviceSet
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Restored:
    """A network with more links between its transit nodes; ``added`` are those."""

    net: Network
    added: CapacityPairs

    @property
    def cost(self) -> int:
        """What was restored, in grains."""
        return int(self.added.capacity.sum())


def restore_missing_links(net: Network, fabric: Fabric, budget: Budget = DEFAULT) -> Restored | None:
    """The network with the links that most instances have; None where nothing is lacking, or too much."""
    place = np.full(fabric.device_count, -1, dtype=np.int64)
    place[net.transit] = np.arange(len(net.transit))
    ends = net.transit[net.trunks.a], net.transit[net.trunks.b]
    kinds = fabric.device_set[ends[0]] * len(fabric.sets) + fabric.device_set[ends[1]]
    found: list[tuple[Ints, Ints, Ints]] = []
    for kind in np.unique(kinds).tolist():
        mine = kinds == kind
        one, two = (fabric.sets[i] for i in divmod(kind, len(fabric.sets)))
        here, there = ends[0][mine], ends[1][mine]
        if len(one.parts) < len(two.parts):
            one, two, here, there = two, one, there, here
        a, b, capacity = _missing_links_of_group(
            one, two, here, there, net.trunks.capacity[mine], budget.restored_pairs
        )
        built = (place[a] >= 0) & (place[b] >= 0)
        found.append((place[a[built]], place[b[built]], capacity[built]))
    a, b, capacity = (
        (np.concatenate(x) for x in zip(*found, strict=True)) if found else (np.zeros(0, dtype=np.int64),) * 3
    )
    if not len(a) or int(capacity.sum()) * budget.restored_parts > int(net.trunks.capacity.sum()):
        return None
    added = CapacityPairs.of(np.minimum(a, b), np.maximum(a, b), capacity)
    return Restored(net.joined(added), added)


def _missing_links_of_group(
    one: DeviceSet, two: DeviceSet, here: Ints, there: Ints, capacity: Ints, most: int
) -> tuple[Ints, Ints, Ints]:
    """Device rows and capacity of what is less than in most instances of the outermost group of ``one``: to
    the same devices, or to those with the same indices in the instance where both are in that group."""
    none = (np.zeros(0, dtype=np.int64),) * 3
    times = int(np.prod([a.size for a in one.parts[0].axes] or [1]))
    inner = one.count // times
    instance, own = np.divmod(here - one.first, inner)
    both = len(two.parts) > 1 and two.parts[0] == one.parts[0]
    other_inner = two.count // times if both else 0
    if both and not np.array_equal((there - two.first) // other_inner, instance):
        return none
    other = there - two.first - (instance * other_inner if both else 0)
    keys, back = np.unique(own * two.count + other, return_inverse=True)
    if times < 3 or len(keys) * times > most:
        return none
    table = np.zeros((len(keys), times), dtype=np.int64)
    np.add.at(table, (back, instance), capacity)
    lacking = np.maximum(np.sort(table, axis=1)[:, times // 2][:, None] - table, 0)
    at, of = np.nonzero(lacking)
    own, other = np.divmod(keys[at], two.count)
    a, b, missing = (
        one.first + of * inner + own,
        two.first + other + of * (other_inner if both else 0),
        lacking[at, of],
    )
    return a.astype(np.int64), b.astype(np.int64), missing.astype(np.int64)
