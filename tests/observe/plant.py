"""Mistakes of cabling planted at random, as technicians make them: by devices, cages and rows of ports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

import numpy as np

from tdsl.fabric.columns import PortColumns
from tdsl.fabric.graph import Fabric


@dataclass
class Cables:
    """What is plugged: the port at the other end of every port, -1 where nothing is."""

    fabric: Fabric
    far: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        f = self.fabric
        for a, b in zip(f.link_a.tolist(), f.link_b.tolist(), strict=True):
            self.far[a], self.far[b] = b, a
        self.device = f.port_device.tolist()
        columns = PortColumns(f)
        rows = columns.rows(np.arange(len(self.device)))
        self.cages: dict[tuple[int, str], list[int]] = defaultdict(list)
        for p, cage in enumerate(columns.cage[rows].tolist()):
            if cage:
                self.cages[self.device[p], cage].append(p)
        self.rank = columns.rank[rows].tolist()

    def ports(self, device: int) -> list[int]:
        """Ports without those of twisted pair, which lead to other networks."""
        base = self.fabric.port_base
        all_ports = range(int(base[device]), int(base[device + 1]))
        return [p for p in all_ports if self.fabric.port_class(p)[0].types != ("BASE_T",)]

    def used(self, device: int) -> list[int]:
        return [p for p in self.ports(device) if p in self.far]

    def row(self, device: int) -> list[int]:
        """Ports in use as a person meets them."""
        return sorted(self.used(device), key=self.rank.__getitem__)

    def unplug(self, ports: Iterable[int]) -> None:
        for p in ports:
            q = self.far.pop(p, None)
            if q is not None:
                del self.far[q]

    def move(self, places: dict[int, int]) -> bool:
        """Put the plugs of some ports into others, all at once; False, and nothing done, where one is taken."""
        old = {p: self.far[p] for p in places if p in self.far}
        gone = set(old) | set(old.values())
        new = {}
        for p, q in old.items():
            a, b = places[p], places.get(q, q)
            new[a], new[b] = b, a
        if any(p in self.far and p not in gone for p in new) or any(a == b for a, b in new.items()):
            return False
        self.unplug(old)
        self.far.update(new)
        return True

    def exchange(self, a: Iterable[int], b: Iterable[int]) -> bool:
        pairs = list(zip(a, b, strict=True))
        return self.move({**dict(pairs), **{y: x for x, y in pairs}})


def swap(c: Cables, r: Random) -> bool:
    """Two plugs on one device."""
    used = c.used(r.choice(switches(c)))
    return len(used) > 1 and c.exchange(*([p] for p in r.sample(used, 2)))


def swap_far(c: Cables, r: Random) -> bool:
    """Two cables anywhere of one kind."""
    f = c.fabric
    one = r.randrange(f.link_count)
    same = np.flatnonzero(f.link_class == f.link_class[one])
    other = int(same[r.randrange(len(same))])
    a, b = int(f.link_b[one]), int(f.link_b[other])
    return a != b and a in c.far and b in c.far and c.exchange([a], [b])


def full_cages(c: Cables) -> list[list[int]]:
    return [p for p in c.cages.values() if len(p) == 2 and all(x in c.far for x in p)]


def halves(c: Cables, r: Random) -> bool:
    """The two plugs of one cage."""
    full = full_cages(c)
    return bool(full) and c.exchange(*([p] for p in r.choice(full)))


def dark_cage(c: Cables, r: Random) -> bool:
    """No link at a cage."""
    full = full_cages(c)
    if full:
        c.unplug(r.choice(full))
    return bool(full)


def rotate_host(c: Cables, r: Random) -> bool:
    """The adapters of a host turned by some places."""
    hosts = [d for d in np.flatnonzero(c.fabric.is_end).tolist() if len(c.used(d)) > 2]
    return bool(hosts) and rotated(c, c.row(r.choice(hosts)), r)


def rotate_bundle(c: Cables, r: Random) -> bool:
    """A stretch of neighbouring plugs of a switch turned by one or two places."""
    row = c.row(r.choice(switches(c)))
    size = r.randint(4, 8)
    if len(row) < size:
        return False
    at = r.randrange(len(row) - size + 1)
    return rotated(c, row[at : at + size], r, 2)


def rotated(c: Cables, row: list[int], r: Random, most: int = 99) -> bool:
    by = r.randint(1, min(len(row) - 1, most))
    return c.move({p: row[(i + by) % len(row)] for i, p in enumerate(row)})


def shift(c: Cables, r: Random) -> bool:
    """A stretch at the border of what is used, moved by one into a free port."""
    d = r.choice(switches(c))
    row = sorted(c.ports(d), key=c.rank.__getitem__)
    starts = [i for i in range(4, len(row)) if row[i] not in c.far and all(row[i - k] in c.far for k in range(1, 5))]
    if not starts:
        return False
    at = r.choice(starts)
    size = 4
    while size < 8 and at - size - 1 >= 0 and row[at - size - 1] in c.far:
        size += 1
    return c.move({row[i]: row[i + 1] for i in range(at - size, at)})


def exchange_devices(c: Cables, r: Random) -> bool:
    """Two devices of a model in one another's places."""
    a = r.randrange(c.fabric.device_count)
    same = [d for d in np.flatnonzero(c.fabric.device_set == c.fabric.device_set[a]).tolist() if d != a and c.used(d)]
    return bool(same and c.used(a)) and c.exchange(c.ports(a), c.ports(r.choice(same)))


def missing(c: Cables, r: Random) -> bool:
    """A cable that is not there."""
    c.unplug([r.choice(list(c.far))])
    return True


def extra(c: Cables, r: Random) -> bool:
    """A cable that nobody planned."""
    free = [p for d in switches(c) for p in c.ports(d) if p not in c.far]
    if len(free) < 2:
        return False
    a, b = r.sample(free, 2)
    c.far[a], c.far[b] = b, a
    return True


def wrong_port(c: Cables, r: Random) -> bool:
    """A plug in a free port, of this switch or another."""
    p = r.choice([x for d in switches(c) for x in c.used(d)])
    free = [x for d in switches(c) for x in c.ports(d) if x not in c.far]
    return bool(free) and c.move({p: r.choice(free)})


def not_installed(c: Cables, r: Random) -> bool:
    """A device without any cable."""
    d = r.randrange(c.fabric.device_count)
    used = c.used(d)
    c.unplug(used)
    return len(used) > 1


def switches(c: Cables) -> list[int]:
    found: list[int] = np.flatnonzero(c.fabric.is_switch).tolist()
    return found


ALL = (
    swap,
    swap_far,
    halves,
    dark_cage,
    rotate_host,
    rotate_bundle,
    shift,
    exchange_devices,
    missing,
    extra,
    wrong_port,
    not_installed,
)
KINDS: dict[str, Callable[[Cables, Random], bool]] = {kind.__name__: kind for kind in ALL}


def ports(c: Cables, name: str) -> list[int]:
    """Cabled ports of a device as a person meets them."""
    (device,) = (d for d in range(c.fabric.device_count) if c.fabric.device_name(d) == name)
    return c.row(device)


def free(c: Cables, name: str) -> list[int]:
    (device,) = (d for d in range(c.fabric.device_count) if c.fabric.device_name(d) == name)
    return [p for p in c.ports(device) if p not in c.far]


def one_of_each(c: Cables, names: str) -> None:
    """A mistake of each kind, at devices of their own: swapped, halves of a cage, adapters rotated, two exchanged, a dark cage,
    a cable missing, one too many between two, one in another device, one in another port, and a host that is not installed."""
    swapped, halved, turned, one, other, dark, less, near, far, wrong, there, moved, gone = names.split()
    assert c.exchange([ports(c, swapped)[0]], [ports(c, swapped)[2]])
    assert c.exchange([ports(c, halved)[0]], [ports(c, halved)[1]])
    row = ports(c, turned)
    assert c.move({p: row[(i + 1) % len(row)] for i, p in enumerate(row)})
    assert c.exchange(ports(c, one), ports(c, other))
    c.unplug([*ports(c, dark)[4:6], ports(c, less)[1]])
    a, b = free(c, near)[-1], free(c, far)[-1]
    c.far[a], c.far[b] = b, a
    assert c.move({ports(c, wrong)[1]: free(c, there)[9]}) and c.move({ports(c, moved)[1]: free(c, moved)[9]})
    c.unplug(ports(c, gone))


def plant(fabric: Fabric, seed: int, count: int) -> tuple[Cables, list[str]]:
    """The cabling of a fabric with so many mistakes, and their names in the order in which they were made."""
    r = Random(seed)
    cables = Cables(fabric)
    done: list[str] = []
    while len(done) < count:
        kind = r.choice(list(KINDS))
        if KINDS[kind](cables, r):
            done.append(kind)
    return cables, done
