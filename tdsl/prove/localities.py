"""Localities: how the units of a view lie in each other, from the outermost group of the design to the units
that scale-up links join."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Ints
from tdsl.prove.block_cuts import group_labels
from tdsl.prove.cuts import nearest_switches, units_by_block
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

SWITCH_BLOCK = "block below the top tier"
ACCESS_SWITCH = "access switch"
DOMAIN = "scale-up domain"


@dataclass(frozen=True, slots=True)
class Division:
    """A division of the units into blocks: what a block is, and the block of every unit, numbered in the
    order of the units."""

    word: str
    block: Ints

    @property
    def count(self) -> int:
        """The number of blocks."""
        return int(self.block.max(initial=-1)) + 1


def nested_divisions(view: View, outer: Ints | None = None) -> list[Division]:
    """The divisions of the units that lie in each other, outermost first; the last is that into scale-up
    domains (into units where there are none), which no other divides. All of them divide the sets that the
    column ``outer`` numbers, if it is given, and these may divide domains.

    Blocks are instances of the design's groups, units below the same switches of the top tier, and units with
    the same access switches. A division that divides nothing, or no further than the one before, is left
    out."""
    units = view.units
    current = np.zeros(len(units), dtype=np.int64) if outer is None else outer
    domain = domain_of_units(view)
    if outer is not None:
        domain = _divided_by_both(outer, domain)
    found: list[Division] = []
    labels = [*zip(_group_words(view), group_labels(view.fabric, units), strict=True)]
    net = unit_network(view)
    block = units_by_block(net, nearest_switches(net))
    if block is not None:
        labels.append((SWITCH_BLOCK, block))
    for word, label in (*labels, (ACCESS_SWITCH, _access_labels(view))):
        finer = _divided_by_both(current, _without_dividing(domain, label))
        if int(current.max(initial=0)) < int(finer.max(initial=0)) < int(domain.max(initial=0)):
            found.append(Division(word, finer))
            current = finer
    last = DOMAIN if domain_spans_units_of(domain) else view.unit_word
    return [*found, Division(last, domain)]


def domain_of_units(view: View) -> Ints:
    """The number of the scale-up domain of every unit, from 0; one without has a number of its own."""
    label = view.domains.of_device[view.units]
    return _numbered_in_order(np.where(label >= 0, label, view.domains.count + np.arange(len(label))))


def domain_spans_units_of(domain: Ints) -> bool:
    """Whether some domain has several units."""
    return int(domain.max(initial=-1)) + 1 < len(domain)


def _group_words(view: View) -> list[str]:
    """What the groups at each depth are called, as ``group_labels`` has the depths."""
    f = view.fabric
    used = [f.sets[i] for i in np.unique(f.device_set[view.units]).tolist()]
    deepest = max((len(s.parts) for s in used), default=1)
    return [
        " or ".join(dict.fromkeys(s.parts[depth - 1].name for s in used if len(s.parts) > depth))
        for depth in range(1, deepest)
    ]


def _access_labels(view: View) -> Ints:
    """Units that have the same access switches have the same label."""
    at, units = view.attachment, view.units
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[units] = np.arange(len(units))
    mine = place[at.end] >= 0
    pairs = np.unique(np.stack((place[at.end[mine]], at.node[mine])), axis=1)
    if len(np.unique(pairs[0])) == pairs.shape[1] == len(units):  # each has one
        return _numbered_in_order(pairs[1])
    switches: list[list[int]] = [[] for _ in units]
    for unit, node in pairs.T.tolist():
        switches[unit].append(node)
    known: dict[tuple[int, ...], int] = {}
    return np.array([known.setdefault(tuple(s), len(known)) for s in switches], dtype=np.int64)


def _without_dividing(domain: Ints, label: Ints) -> Ints:
    """A division in which blocks that share a domain are one block."""
    count = int(domain.max(initial=-1)) + 1
    blocks = _numbered_in_order(label)
    joined: Ints = component_labels(count + int(blocks.max(initial=-1)) + 1, domain, count + blocks)[domain]
    return joined


def _divided_by_both(outer: Ints, label: Ints) -> Ints:
    return _numbered_in_order(outer * (int(label.max(initial=0)) + 1) + label)


def _numbered_in_order(label: Ints) -> Ints:
    """Labels as numbers from 0, in the order in which they first occur."""
    _, first, back = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    out: Ints = rank[back]
    return out
