"""Mistakes that one cause makes at many devices at once: port numbers that are off by one, devices of a
set that are an offset away or in one another's places, two planes exchanged, a mirrored panel.

A pattern is a permutation of ports: every plug that is planned at a port is at the port which the
permutation gives for it. The candidates come from votes: where the far end of a link is right, the link
says where the plug at its near end has moved. The candidate that makes most links fit is taken; the rest
is left to others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.observe.candidates import PortPositions
from tdsl.observe.difference import Cabling, Mistake
from tdsl.semantics.model import DeviceSet
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

FEWEST_PORTS = 24
"""Ports that differ, below which no pattern over many devices is looked for."""
FEWEST_DEVICES = 4
FEWEST_SHARE = 8
"""A pattern of ports is one of at least one in so many devices of those that could have it."""
FEWEST_LINKS = 8
"""Links that fit by a pattern and did not without it; half of all links of a small design where the
port numbers of all its switches or hosts are off."""
MOST_PATTERNS = 6
MOST_SETS = 24
"""Sets of devices that are looked at, those with most ports that differ."""
OFFSETS = (1, -1, 2, -2, 4, -4, 8, -8)
"""Offsets of port numbers that are tried where both ends of a link may be off; a cage has up to eight
ports."""
PORT_KINDS = (
    "ports offset",
    "ports reversed",
    "ports rotated",
    "ports exchanged",
    "panel reversed",
    "panel offset",
)
DEVICE_KINDS = ("devices offset", "devices reversed", "indices exchanged", "devices permuted")


@dataclass(frozen=True, slots=True)
class WidePattern:
    """A permutation of ports with what it is: ``target`` gives a port for every port of the fabric, -1
    where the plug is at no port that is known; ``fits`` are links that fit by it, more than without it."""

    kind: str
    detail: str
    target: Ints
    devices: tuple[int, ...]
    amount: int = 0
    fits: int = 0
    span: tuple[str, tuple[int, ...]] = (
        "",
        (),
    )  # the axis along which devices move, and where each index goes

    @property
    def rank(self) -> tuple[int, int, int]:
        """A key that sorts the better of two patterns first."""
        kinds = (*DEVICE_KINDS, *PORT_KINDS)
        return -self.fits, len(self.devices), kinds.index(self.kind)


def wide_mistakes(state: Cabling, places: PortPositions, ports: Sequence[int]) -> Iterator[Mistake]:
    """Patterns that explain what differs at many devices, each made in ``state`` before the next is
    looked for."""
    left = [p for p in ports if state.differs(p)]
    found: list[WidePattern] = []
    for _ in range(MOST_PATTERNS):
        few = len(left) < FEWEST_PORTS
        if len(left) < min(FEWEST_PORTS, places.fabric.link_count):
            return
        columns = _Columns(state, places)
        best = min(columns.patterns(), key=lambda one: one.rank, default=None)
        if best is None or not (columns.is_offset_of_all(best) or (not few and is_wide_pattern(best))):
            return  # what explains most is a mistake at few devices, which others look for
        made = columns.mistake_of(best)
        if not state.make(made):
            return
        found.append(best)
        yield made
        left = [p for p in dict.fromkeys([*left, *state.changed]) if state.differs(p)]


def is_wide_pattern(one: WidePattern) -> bool:
    """Whether a pattern is of more than a few devices, or of panels."""
    return len(one.devices) >= FEWEST_DEVICES or one.kind.startswith("panel")


class _Columns:
    """A cabling that is partly explained, as columns over ports: planned and seen far ends, -1 where
    there is none; ports from ``size`` on are not of the design."""

    def __init__(self, state: Cabling, places: PortPositions) -> None:
        self.places, self.fabric = places, places.fabric
        self.size = places.size
        every = range(self.size)
        self.at: Ints = np.fromiter(map(state.at, every), np.int64, self.size)
        self.seen: Ints = np.fromiter(map(state.seen, every), np.int64, self.size)
        self.device: Ints = self.fabric.port_device.astype(np.int64)
        self.base: Ints = self.fabric.port_base[:-1].astype(np.int64)
        self.local: Ints = np.arange(self.size) - self.base[self.device]
        planned = np.flatnonzero(self.at > np.arange(self.size))
        real = self.at[planned] < self.size
        self.a, self.b = planned[real], self.at[planned[real]]
        self.same = np.arange(self.size)
        self.ports_of_device: Ints = np.diff(self.fabric.port_base)[self.device]
        self.wrong = self.at != self.seen
        self.fits_already = self.hits(self.same)
        self.home, self.found = self._plugs_elsewhere()

    def _plugs_elsewhere(self) -> tuple[Ints, Ints]:
        """Plugs that were seen elsewhere, if the other end of their cable is right: where each is
        planned, and where it is."""
        port = np.flatnonzero((self.seen >= 0) & (self.seen < self.size) & self.wrong)
        home = self.at[self.seen[port]]
        good = (home >= 0) & (home < self.size) & (home != port)
        return home[good], port[good]

    def hits(self, target: Ints) -> Bools:
        """For every planned link whether it is seen between the ports that a permutation gives for its
        ends."""
        a, b = target[self.a], target[self.b]
        known = (a >= 0) & (b >= 0) & (a < self.size)
        out: Bools = np.zeros(len(self.a), dtype=np.bool_)
        out[known] = self.seen[a[known]] == b[known]
        return out

    # ------------------------------------------------------------ candidates
    def patterns(self) -> Iterator[WidePattern]:
        """All patterns that make enough links fit."""
        for name, mask in self.scopes():
            for one in (*self.offsets_of_numbers(name, mask), *self.same_ports_moved(name, mask)):
                yield from self.judged(one)
        for s in self.sets_that_differ():
            for one in self.devices_moved(s):
                yield from self.judged(one)
        for one in self.panels():
            yield from self.judged(one)

    def sets_that_differ(self) -> list[DeviceSet]:
        """Sets of devices with ports that differ, those with most first."""
        count = np.bincount(self.device[self.wrong], minlength=self.fabric.device_count)
        total = [(int(count[s.first : s.first + s.count].sum()), s) for s in self.fabric.sets]
        most = sorted((t for t in total if t[0] and t[1].count > 1), key=lambda t: (-t[0], t[1].index))
        return [s for _, s in most[:MOST_SETS]]

    def scopes(self) -> Iterator[tuple[str, Bools]]:
        """Devices that may share a pattern of their ports, by name: sets, all switches, all hosts, all."""
        f = self.fabric
        for s in self.sets_that_differ():
            mask = np.zeros(f.device_count, dtype=np.bool_)
            mask[s.first : s.first + s.count] = True
            yield f"`{set_path(s)}`", mask
        switches = f.is_switch.copy()
        yield "all switches", switches
        yield "all hosts", f.is_end & ~switches
        yield "all devices", np.ones(f.device_count, dtype=np.bool_)

    def is_offset_of_all(self, one: WidePattern) -> bool:
        """Whether a pattern is of the port numbers of all switches, or all hosts, of which there are
        several."""
        if one.kind != "ports offset" or len(one.devices) < 2:
            return False
        chosen = np.zeros(self.fabric.device_count, dtype=np.bool_)
        chosen[list(one.devices)] = True
        used = np.zeros_like(chosen)
        used[self.device[np.concatenate((self.a, self.b))]] = True
        kinds = (self.fabric.is_switch, ~self.fabric.is_switch)
        return any(bool(chosen[used & kind].all()) for kind in kinds)

    def judged(self, one: WidePattern) -> Iterator[WidePattern]:
        """A pattern with the links that it makes fit, if these are enough: ``FEWEST_LINKS`` more than before,
        more than a third of the links of these devices, and with those that fitted before at least half.
        A permutation that keeps the design as it is makes no more fit."""
        before, after = self.fits_already, self.hits(one.target)
        mine = np.zeros(self.fabric.device_count, dtype=np.bool_)
        mine[list(one.devices)] = True
        touched = mine[self.device[self.a]] | mine[self.device[self.b]]
        gain = int(after.sum()) - int(before.sum())
        of = int(touched.sum())
        fewest = FEWEST_LINKS
        if self.is_offset_of_all(one):
            fewest = min(fewest, self.fabric.link_count // 2)
        if gain >= fewest and 3 * gain > of and 2 * int((after & touched).sum()) >= of:
            yield WidePattern(one.kind, one.detail, one.target, one.devices, one.amount, gain, one.span)

    def offsets_of_numbers(self, name: str, mask: Bools) -> Iterator[WidePattern]:
        """Port numbers of some devices that are all off by as much."""
        inside = (self.device[self.home] == self.device[self.found]) & mask[self.device[self.home]]
        steps = (self.local[self.found] - self.local[self.home])[inside]
        voted = [k for k, _ in Counter(steps.tolist()).most_common(2)]
        for k in dict.fromkeys([*voted, *OFFSETS]):
            devices = mask
            for narrowed in (False, True):
                if narrowed:
                    devices = self.better_devices(mask, self.shifted(mask, k))
                    if devices.sum() == mask.sum() or FEWEST_SHARE * devices.sum() < mask.sum():
                        break
                who = _devices_named(name, int(devices.sum()), int(mask.sum()))
                text = f"the ports of {who} are off by {abs(k)}: what is planned at port n is at port n {k:+}"
                yield WidePattern(
                    "ports offset", text, self.shifted(devices, k), tuple(np.flatnonzero(devices).tolist()), k
                )

    def better_devices(self, mask: Bools, target: Ints) -> Bools:
        """Those devices of which more links fit by a permutation than without it."""
        gain = self.hits(target).astype(np.int64) - self.fits_already
        count = np.zeros(self.fabric.device_count, dtype=np.int64)
        for ends in (self.a, self.b):
            np.add.at(count, self.device[ends], gain)
        better: Bools = mask & (count > 0)
        return better

    def shifted(self, devices: Bools, k: int) -> Ints:
        """Every port of some devices ``k`` ports further; -1, or the port that the design does not have,
        where there is none."""
        moved = devices[self.device]
        inside = (self.local + k >= 0) & (self.local + k < self.ports_of_device)
        target = np.where(moved, np.where(inside, self.same + k, -1), self.same)
        return self.with_strange_ports(target)

    def with_strange_ports(self, target: Ints) -> Ints:
        """A permutation that gives the plugs it knows no port for the ports at which they are seen, where
        these are ports of the same device that the design does not have."""
        out = target.copy()
        open_ = np.flatnonzero((target < 0) & (self.at >= 0) & (self.at < self.size))
        far = target[self.at[open_]]
        open_, far = open_[far >= 0], far[far >= 0]
        known = far < self.size
        open_, strange = open_[known], self.seen[far[known]]
        for p, v in zip(open_.tolist(), strange.tolist(), strict=True):
            if v >= self.size and self.places.device(v) == self.device[p]:
                out[p] = v
        return out

    def same_ports_moved(self, name: str, mask: Bools) -> Iterator[WidePattern]:
        """The same exchange of ports inside each device of some that have one model."""
        model = self.fabric.device_model[self.device]
        inside = (self.device[self.home] == self.device[self.found]) & mask[self.device[self.home]]
        for m in np.unique(model[self.home[inside]]).tolist():
            mine = inside & (model[self.home] == m)
            step = _voted_map(self.local[self.home[mine]], self.local[self.found[mine]])
            if len(step) < 2:
                continue
            of_model = mask & (self.fabric.device_model == m)
            devices = self.better_devices(of_model, self.stepped(of_model, step))
            if FEWEST_SHARE * devices.sum() < of_model.sum():
                continue
            kind, amount, words = _shape_of_ports(step)
            who = _devices_named(name, int(devices.sum()), int(of_model.sum()))
            chosen = tuple(np.flatnonzero(devices).tolist())
            yield WidePattern(
                kind, f"the ports of {who} {words}", self.stepped(devices, step), chosen, amount
            )

    def stepped(self, devices: Bools, step: dict[int, int]) -> Ints:
        """Ports of some devices of one model moved as a map of their numbers says."""
        target = self.same.copy()
        chosen = np.flatnonzero(devices)
        for i, j in step.items():
            target[self.base[chosen] + i] = self.base[chosen] + j
        return target

    def devices_moved(self, s: DeviceSet) -> Iterator[WidePattern]:
        """Devices of a set in one another's places, each with all its cables."""
        low, high = s.first, s.first + s.count
        x, y = self.device[self.home], self.device[self.found]
        same = (x >= low) & (x < high) & (y >= low) & (y < high) & (x != y)
        same &= self.local[self.home] == self.local[self.found]
        step = _voted_map(x[same], y[same])
        if len(step) < 2:
            return
        kind, amount, words, span = _shape_of_devices(s, step)
        target = self.same.copy()
        size = np.diff(self.fabric.port_base)
        for d, e in step.items():
            target[self.base[d] : self.base[d] + size[d]] = self.base[e] + np.arange(size[d])
        text = f"{counted_noun(len(step), 'device')} of `{set_path(s)}` {words}"
        yield WidePattern(kind, text, target, tuple(sorted(step)), amount, 0, span)
        if span[0]:
            yield from self.whole_groups_moved(kind, amount, words, span)

    def whole_groups_moved(
        self, kind: str, amount: int, words: str, span: tuple[str, tuple[int, ...]]
    ) -> Iterator[WidePattern]:
        """The devices of all sets that stand in a group, moved along its index: both planes with their
        leaves and spines, say."""
        name, to = span
        target = self.same.copy()
        chosen: list[int] = []
        sets = []
        for s in self.fabric.sets:
            names = [f"{p.name}[*]" for p in s.parts for _ in p.axes]
            if names.count(name) != 1 or s.axes[names.index(name)].size != len(to):
                continue
            sizes = tuple(a.size for a in s.axes)
            at = np.stack(np.unravel_index(np.arange(s.count), sizes))
            at[names.index(name)] = np.array(to)[at[names.index(name)]]
            there = np.ravel_multi_index(tuple(at), sizes) + s.first
            size = np.diff(self.fabric.port_base)
            sets.append(f"`{set_path(s)}`")
            for d, e in zip(range(s.first, s.first + s.count), there.tolist(), strict=True):
                if d != e:
                    target[self.base[d] : self.base[d] + size[d]] = self.base[e] + np.arange(size[d])
                    chosen.append(d)
        if len(sets) > 1:
            text = f"{counted_noun(len(chosen), 'device')} of {', '.join(sets)} {words}"
            yield WidePattern(kind, text, target, tuple(chosen), amount, 0, span)

    def panels(self) -> Iterator[WidePattern]:
        """Links through panels whose ports on one side are in reverse order, or off by some."""
        f = self.fabric
        crossing = np.flatnonzero(f.link_via_a >= 0)
        if not len(crossing):
            return
        panel = self.device[f.link_via_a[crossing]]
        order = np.lexsort((f.link_via_a[crossing], panel))
        crossing, panel = crossing[order], panel[order]
        cuts = [0, *(np.flatnonzero(np.diff(panel)) + 1).tolist(), len(panel)]
        for kind in ("panel reversed", "panel offset"):
            target = self.same.copy()
            chosen, amount = [], 0
            for first, last in pairwise(cuts):
                a, b = f.link_a[crossing[first:last]], f.link_b[crossing[first:last]]
                moved = self.panel_moved(a, b, kind)
                if moved is not None:
                    target[b], amount = moved
                    chosen.append(int(panel[first]))
            if chosen:
                names = ", ".join(f.device_name(d) for d in chosen[:4]) + (" …" if len(chosen) > 4 else "")
                what = "are in reverse order" if kind == "panel reversed" else f"are off by {abs(amount)}"
                text = f"the cables on one side of {counted_noun(len(chosen), 'panel')} {what}: {names}"
                yield WidePattern(kind, text, target, tuple(chosen), amount)

    def panel_moved(self, a: Ints, b: Ints, kind: str) -> tuple[Ints, int] | None:
        """Where the plugs of the links through one panel are if its cables are reversed or offset, with
        the offset; None where most links do not fit so."""
        count = len(a)
        if count < 4 or (self.at[a] != b).any():
            return None
        rank = {int(p): i for i, p in enumerate(b.tolist())}
        where = np.array([rank.get(int(q), -1) for q in self.seen[a].tolist()])
        step = np.arange(count)
        votes = Counter((where - step)[where >= 0].tolist())
        amount = 0 if kind == "panel reversed" else max(votes, key=lambda k: (votes[k], -abs(k)), default=0)
        to = count - 1 - step if kind == "panel reversed" else (step + amount) % count
        if 2 * int((where == to).sum()) <= count or (to == step).all():
            return None
        return b[to], amount

    # ------------------------------------------------------------ the mistake
    def mistake_of(self, one: WidePattern) -> Mistake:
        """A pattern as a mistake that can be made; plugs at no known port are out."""
        moved = np.flatnonzero((one.target != self.same) & (self.at >= 0))
        target = one.target[moved]
        known = target >= 0
        moves = tuple(zip(moved[known].tolist(), target[known].tolist(), strict=True))
        gone = {(min(p, q), max(p, q)) for p in moved[~known].tolist() if (q := int(self.at[p])) >= 0}
        return Mistake(
            one.kind, moves, tuple(sorted(gone)), devices=one.devices, amount=one.amount, detail=one.detail
        )


def set_path(s: DeviceSet) -> str:
    """A set as a path without its indices: ``su[*].leaf[*]``."""
    return ".".join(p.name + ("[*]" if p.axes else "") for p in s.parts)


def _devices_named(name: str, some: int, of: int) -> str:
    """Devices of a scope: all of them, or how many."""
    return name if some == of else f"{counted_noun(some, 'device')} of {name}"


def _voted_map(before: Ints, after: Ints) -> dict[int, int]:
    """Where most votes put each number, as a permutation of those that move: a number with no clear place
    closes the chain that leads to it. Empty where two numbers share a place."""
    if not len(before):
        return {}
    pairs, counts = np.unique(np.stack((before, after), axis=1), axis=0, return_counts=True)
    best: dict[int, tuple[int, int]] = {}
    total: Counter[int] = Counter()
    for (x, y), n in zip(pairs.tolist(), counts.tolist(), strict=True):
        total[x] += n
        if n > best.get(x, (0, 0))[0]:
            best[x] = n, y
    step = {x: y for x, (n, y) in best.items() if 2 * n > total[x]}
    if len(set(step.values())) != len(step):
        return {}
    starts = [x for x in step if x not in set(step.values())]
    for x in starts:
        end = step[x]
        while end in step:
            end = step[end]
        step[end] = x
    return step


def _shape_of_ports(step: dict[int, int]) -> tuple[str, int, str]:
    """Kind, amount and words of a map of port numbers."""
    amounts = Counter(j - i for i, j in step.items())
    sums = {i + j for i, j in step.items()}
    if len(sums) == 1 and len(step) > 2:
        return "ports reversed", 0, f"are in reverse order: {len(step)} of each device"
    if len(amounts) <= 2 and len(step) > 2:
        k = max(amounts, key=lambda a: (amounts[a], -abs(a)))
        return "ports rotated", k, f"are rotated by {k}: {len(step)} of each device"
    pairs = ", ".join(f"{i + 1} is at {j + 1}" for i, j in sorted(step.items())[:4])
    return (
        "ports exchanged",
        0,
        f"are exchanged in the same way: number {pairs}{' …' if len(step) > 4 else ''}",
    )


def _shape_of_devices(
    s: DeviceSet, step: dict[int, int]
) -> tuple[str, int, str, tuple[str, tuple[int, ...]]]:
    """Kind, amount and words of a permutation of devices of a set, and along which axis it goes."""
    sizes = tuple(a.size for a in s.axes)
    names = [f"{p.name}[*]" for p in s.parts for _ in p.axes]
    before = np.stack(np.unravel_index(np.array(list(step)) - s.first, sizes), axis=1)
    after = np.stack(np.unravel_index(np.array(list(step.values())) - s.first, sizes), axis=1)
    changed = np.flatnonzero((before != after).any(axis=0)).tolist()
    if len(changed) == 1:
        (axis,) = changed
        low = int(s.axes[axis].low)
        along = sorted(set(zip(before[:, axis].tolist(), after[:, axis].tolist(), strict=True)))
        to = dict(along)
        if len(to) == len(along):
            return _shape_along_axis(names[axis], low, sizes[axis], to)
    return "devices permuted", 0, "are in one another's places, each with all its cables", ("", ())


def _shape_along_axis(
    name: str, low: int, size: int, to: dict[int, int]
) -> tuple[str, int, str, tuple[str, tuple[int, ...]]]:
    """Kind, amount and words of a permutation along one axis."""
    span = name, tuple(to.get(i, i) for i in range(size))
    if len(to) == 2:
        a, b = sorted(to)
        word = name.replace("*", str(a + low)), name.replace("*", str(b + low))
        return "indices exchanged", 0, f"are exchanged: those of {word[0]} and {word[1]}", span
    if len({(j - i) % size for i, j in to.items()}) == 1:
        k = next((j - i) % size for i, j in to.items())
        k = k if 2 * k <= size else k - size
        shown = f"the cables of {name.replace('*', 'n')} are at {name.replace('*', f'n {k:+}')}"
        return "devices offset", k, f"are offset by {abs(k)}: {shown}", span
    if len({i + j for i, j in to.items()}) == 1:
        return "devices reversed", 0, f"are in reverse order along {name}", span
    return "devices permuted", 0, f"are in one another's places along {name}", span
