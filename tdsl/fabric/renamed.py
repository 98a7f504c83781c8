"""Devices that a newer text calls otherwise: recognised by the names that a `naming` gives them, else by
their position, which is the same indices and the same neighbours.

A device with a name is the one that has this name in the newer text, wherever the text puts it: people and
machines know it by that name. Where its path is another device's then, and its own name is gone, so is it.

A *declaration* is a path without indices, ``su.leaf`` of ``su[0].leaf[3]``. One that only the older text has
is taken to be one that only the newer text has, if it has as many indices and at least half of its links lead
to the same devices there.

Groups whose devices have links through optical switches are known by their place in the order of the text
where their extents change and their number does not: 4 × 4 × 4 cubes that become 8 × 4 × 2 are the same 64
cubes, whose circuits are set up anew.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from tdsl.fabric.graph import Fabric
from tdsl.system.lazy_dataclass import dataclass

INDEX = re.compile(r"\[([^\]]*)\]")
HALF = 2
GONE = "'"
"""Behind the path of a device that the newer text does not have, where another device has this path now; no
path of a design can end so."""


def design_devices_of(fabric: Fabric) -> DesignDevices:
    """A fabric's devices with their kinds and models, and its links."""
    paths = [fabric.device_path(d) for d in range(fabric.device_count)]
    what = {p: f"{fabric.set_of(d).kind} {fabric.model_of(d).name}" for d, p in enumerate(paths)}
    ends = zip(fabric.device_a.tolist(), fabric.device_b.tolist(), strict=True)
    names = {paths[d]: name for d, name in fabric.names.items()}
    crossing = fabric.circuit_link
    sets = {*fabric.device_set[fabric.device_a[crossing]].tolist()}
    sets |= {*fabric.device_set[fabric.device_b[crossing]].tolist()}
    groups = frozenset(fabric.sets[s].parts[0].name for s in sets if len(fabric.sets[s].parts) > 1)
    return DesignDevices(what, [(paths[a], paths[b]) for a, b in ends], names, groups)


def renames_by_declaration(renames: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """Renames by declaration: what it was, what it is, and how many devices it has. Devices known by their
    names at another place of one declaration are found by the first of them."""
    stay = {old: new for old, new in renames.items() if not new.endswith(GONE)}
    ends = {old: (path_without_indices(old), path_without_indices(new)) for old, new in stay.items()}
    count = Counter(ends.values())
    first = {pair: old for old, pair in reversed(ends.items())}
    return [
        (pair[0], pair[1], n) if pair[0] != pair[1] else (first[pair], stay[first[pair]], n)
        for pair, n in count.items()
    ]


def path_without_indices(path: str) -> str:
    """A path without indices."""
    return INDEX.sub("", path)


def path_indices(path: str) -> tuple[str, ...]:
    """All indices of a path, outermost first."""
    return tuple(x.strip() for part in INDEX.findall(path) for x in part.split(","))


@dataclass
class DesignDevices:
    """One text's devices, by path with what they are (``""``: not known), its links as pairs of paths, the
    names that it gives devices, by path, and its outermost groups with links through optical switches."""

    devices: Mapping[str, str]
    links: Iterable[tuple[str, str]]
    names: Mapping[str, str] = field(default_factory=dict)
    optical_groups: frozenset[str] = frozenset()
    declarations: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for path in self.devices:
            self.declarations[path_without_indices(path)].append(path)


def find_renamed_devices(old: DesignDevices, new: DesignDevices) -> dict[str, str]:
    """Paths of devices in the older text, and what the newer one calls them, where that is another path; with
    ``GONE`` behind it where it has no such device, and another one at this path."""
    by_position = _devices_by_position(old, new) | devices_of_reshaped_groups(old, new)
    by_name = devices_by_name(old, new)
    if not by_name:
        return by_position
    taken = set(by_name.values())
    known = {p: q for p, q in by_position.items() if q not in taken and p not in by_name} | by_name
    ends = set(known.values())
    lost = {p: p + GONE for p in old.devices if p not in known and p in ends}
    return {p: q for p, q in known.items() if p != q} | lost


def _images_by_path(pairs: Mapping[str, str]) -> dict[str, set[str]]:
    """Of each device of these pairs, and of each group around one, the paths that it has now: one for each
    device in it, or "" by a device whose path differs inside the group, too."""
    images: dict[str, set[str]] = defaultdict(set)
    for p, q in pairs.items():
        a, b = p.split("."), q.split(".")
        for k in range(1, len(a) + 1):
            rest = len(a) - k
            same = a[k:] == b[len(b) - rest :] and rest < len(b)
            images[".".join(a[:k])].add(".".join(b[: len(b) - rest]) if same else "")
    return images


def _path_in_moved_group(path: str, images: Mapping[str, set[str]]) -> str:
    """The path that a device has now if it went along with the nearest group around it, "" if that went
    nowhere, or not to one place."""
    parts = path.split(".")
    around = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
    nearest = next((g for g in around if g in images), "")
    image = next(iter(images[nearest])) if nearest and len(images[nearest]) == 1 else ""
    return image + path[len(nearest) :] if image else ""


def devices_by_name(old: DesignDevices, new: DesignDevices) -> dict[str, str]:
    """All devices of the older text that have their name in the newer one, with what is in them and in the
    groups around them, by path; nothing where all have their paths still."""
    there = {name: path for path, name in new.names.items()}
    pairs = {
        p: there[name]
        for p, name in old.names.items()
        if name in there and _may_be_one(old.devices[p], new.devices[there[name]])
    }
    if all(p == q for p, q in pairs.items()):
        return {}
    images = _images_by_path(pairs)
    out, taken = dict(pairs), set(pairs.values())
    for p in old.devices:
        now = _path_in_moved_group(p, images)
        free = p not in out and now in new.devices and now not in taken
        if free and _may_be_one(old.devices[p], new.devices[now]):
            out[p] = now
            taken.add(now)
    return out


def _may_be_one(old: str, new: str) -> bool:
    """Whether two devices are equal in what is known of them."""
    return "" in (old, new) or old == new


def devices_of_reshaped_groups(old: DesignDevices, new: DesignDevices) -> dict[str, str]:
    """Devices of groups behind optical switches whose extents are other ones, by their order in both texts;
    nothing where what one group holds is another thing, or where there are more or fewer groups."""
    out: dict[str, str] = {}
    for group in sorted(old.optical_groups & new.optical_groups):
        mine = [d for d in old.declarations if d.partition(".")[0] == group]
        if mine != [d for d in new.declarations if d.partition(".")[0] == group]:
            continue
        pairs = [p for d in mine for p in zip(old.declarations[d], new.declarations[d], strict=False)]
        equal = all(len(old.declarations[d]) == len(new.declarations[d]) for d in mine) and all(
            a.partition(".")[2] == b.partition(".")[2] and _may_be_one(old.devices[a], new.devices[b])
            for a, b in pairs
        )
        if equal:
            out |= {a: b for a, b in pairs if a != b}
    return out


def _devices_by_position(old: DesignDevices, new: DesignDevices) -> dict[str, str]:
    """Devices of declarations that only the older text has, by the same indices and neighbours."""
    gone = [d for d in old.declarations if d not in new.declarations]
    come = [d for d in new.declarations if d not in old.declarations]
    if not gone or not come:
        return {}
    there = {d: _paths_by_indices(new.declarations[d]) for d in come}
    known = {frozenset(pair) for pair in new.links}
    touching = _links_of_declarations(old, set(gone))

    def fits(d: str, n: str) -> bool:
        one, other = old.declarations[d][0], new.declarations[n][0]
        comparable = _may_be_one(old.devices[one], new.devices[other])
        return len(path_indices(one)) == len(path_indices(other)) and comparable

    def called(path: str, chosen: Mapping[str, str]) -> str:
        n = chosen.get(path_without_indices(path))
        return path if n is None else there[n].get(path_indices(path), path)

    def score(d: str, chosen: Mapping[str, str]) -> int:
        return sum(frozenset((called(a, chosen), called(b, chosen))) in known for a, b in touching[d])

    def exchanged(d: str, n: str) -> dict[str, str]:
        out = {x: m for x, m in chosen.items() if x != d and m != n}
        holder = next((x for x, m in chosen.items() if m == n and x != d), None)
        if holder is not None and d in chosen and fits(holder, chosen[d]):
            out[holder] = chosen[d]
        return out | {d: n}

    chosen = _first_that_fit(gone, come, fits)
    for d in gone * HALF:  # a better one for each, which the one that has it takes in exchange
        others = [exchanged(d, n) for n in come if fits(d, n)]
        chosen = max([chosen, *others], key=lambda c: sum(score(x, c) for x in c))
    _drop_unconfirmed(chosen, lambda d: score(d, chosen) * HALF >= max(len(touching[d]), 1))
    return {p: called(p, chosen) for d in chosen for p in old.declarations[d] if called(p, chosen) != p}


def _paths_by_indices(paths: Iterable[str]) -> dict[tuple[str, ...], str]:
    return {path_indices(p): p for p in paths}


def _links_of_declarations(design: DesignDevices, wanted: set[str]) -> dict[str, list[tuple[str, str]]]:
    """The links at devices of each of some declarations."""
    out: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for a, b in design.links:
        for d in {path_without_indices(a), path_without_indices(b)} & wanted:
            out[d].append((a, b))
    return out


def _first_that_fit(gone: list[str], come: list[str], fits: Callable[[str, str], bool]) -> dict[str, str]:
    """For each old declaration the first new one that fits and is not taken yet."""
    chosen: dict[str, str] = {}
    for d in gone:
        free = [n for n in come if n not in chosen.values() and fits(d, n)]
        if free:
            chosen[d] = free[0]
    return chosen


def _drop_unconfirmed(chosen: dict[str, str], confirmed: Callable[[str], bool]) -> None:
    """Drop what its links do not confirm, until all that is left is confirmed by the rest."""
    while bad := [d for d in chosen if not confirmed(d)]:
        for d in bad:
            del chosen[d]
