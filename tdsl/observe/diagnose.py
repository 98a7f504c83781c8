"""The fewest mistakes that explain what was seen.

Mistakes of several cables are chosen first, those that explain most before the others, as long as each
explains more than one move of a single cable would. What is left is explained component by component, which
is exact: a cycle of k cables takes k-1 exchanges of two plugs, a path one move a cable. Patterns over many
devices come before all others; what is then still too entangled is one finding that says what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from tdsl.observe.candidates import PortPositions, candidate_mistakes
from tdsl.observe.difference import Cabling, Component, Mistake, SearchBudget
from tdsl.observe.wide import wide_mistakes

ROUNDS = 64
TRIES = 120
"""Other choices that are tried for faults that touch one another, before the best explanation found is
given."""
MOST_ENTANGLED = 600
"""Ports of one group, or of one path or cycle, that are still looked into; of larger ones, what differs
is said."""
WORK = 1_500_000
"""Ports that are walked over to compare choices, some seconds; after that, what is left is explained
cable by cable."""


def diagnose_mistakes(
    planned: Callable[[int], int],
    seen: Callable[[int], int],
    ports: Iterable[int],
    places: PortPositions,
    absent: Callable[[int], bool],
) -> list[Mistake]:
    """Mistakes; made one after the other, they lead from the design to what was seen."""
    state = Cabling(planned, seen, SearchBudget(WORK))
    every = list(ports)
    found = list(wide_mistakes(state, places, every))
    left, tangles = _entangled_ports(state, list(dict.fromkeys([*every, *state.changed])))
    for cluster in _independent_port_groups(state, places, left, absent):
        if len(cluster) > MOST_ENTANGLED:
            tangles += cluster
            continue
        chosen = _best_explanation(state, cluster, places, absent)
        for one in chosen:
            made = state.make(one)
            assert made, one
        found += chosen
    if tangles:
        found.append(_not_explained(state, tangles))
        state.make(found[-1])
    return found


def _entangled_ports(state: Cabling, ports: list[int]) -> tuple[list[int], list[int]]:
    """Ports that differ: those of paths and cycles that can be looked into, and those of longer ones."""
    left: list[int] = []
    tangles: list[int] = []
    for component in state.components(ports):
        (tangles if len(component.ports) > MOST_ENTANGLED else left).extend(component.ports)
    order = {p: i for i, p in enumerate(ports)}
    left = sorted((p for p in dict.fromkeys(left) if state.differs(p)), key=lambda p: order.get(p, p))
    return left, list(dict.fromkeys(tangles))


def _not_explained(state: Cabling, ports: list[int]) -> Mistake:
    """All that differs at some ports, as links that are gone and links that are there."""
    gone, there = set(), set()
    for p in ports:
        q, far = state.at(p), state.seen(p)
        if q != far:
            gone |= {(min(p, q), max(p, q))} if q >= 0 else set()
            there |= {(min(p, far), max(p, far))} if far >= 0 else set()
    removed, added = tuple(sorted(gone)), tuple(sorted(there))
    return Mistake("not explained", (), removed, added, cost=max(len(removed), len(added)))


def _independent_port_groups(
    state: Cabling, places: PortPositions, ports: list[int], absent: Callable[[int], bool]
) -> list[list[int]]:
    """Ports that differ, grouped so that no mistake that explains anything touches two groups."""
    parent: dict[int, int] = {}

    def root(p: int) -> int:
        while parent[p] != p:
            parent[p] = parent[parent[p]]
            p = parent[p]
        return p

    def join(group: Iterable[int]) -> None:
        first = -1
        for p in group:
            if p in parent:
                first = root(p) if first < 0 else first
                parent[root(p)] = first

    parent.update((p, p) for p in ports)
    for component in state.components(ports):
        join(component.ports)
    for one in candidate_mistakes(state, places, ports, absent):
        if state.budget.is_spent:
            break
        gain, touched = state.gain(one)
        if gain > 0:
            join(sorted(touched))
    groups: dict[int, list[int]] = {}
    for p in ports:
        groups.setdefault(root(p), []).append(p)
    return list(groups.values())


Key = tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]


def mistake_key(one: Mistake) -> Key:
    """What a mistake does, whatever it is called."""
    return frozenset(one.moves), frozenset(one.removed)


def _best_explanation(
    state: Cabling, ports: list[int], places: PortPositions, absent: Callable[[int], bool]
) -> list[Mistake]:
    """The explanation of a group of ports with the fewest moves that was found: the greedy one, bettered by
    other choices."""
    best, cost, choices = _greedy_explanation(state, ports, places, absent, frozenset(), ())
    tried = 0
    better = True
    while better and cost > 1 and tried < TRIES and not state.budget.is_spent:
        better = False
        used = [m for m in best if mistake_key(m) in {mistake_key(c) for c in choices}]
        options: list[tuple[frozenset[Key], tuple[Mistake, ...]]] = [
            (frozenset((mistake_key(m),)), ()) for m in used
        ]
        options += [(frozenset(), (c,)) for c in choices]
        for banned, first in options:
            tried += 1
            other, total, more = _greedy_explanation(state, ports, places, absent, banned, first)
            if total < cost:
                best, cost, choices, better = other, total, more, True
                break
            if tried >= TRIES or state.budget.is_spent:
                break
    return best


def _greedy_explanation(
    state: Cabling,
    ports: list[int],
    places: PortPositions,
    absent: Callable[[int], bool],
    banned: frozenset[Key],
    first: tuple[Mistake, ...],
) -> tuple[list[Mistake], int, list[Mistake]]:
    """Mistakes that explain the ports, those that explain most first; their moves; and the choices there
    were."""
    trial = Cabling(state.at, state.seen, state.budget)
    found = [one for one in first if trial.make(one)]
    choices: list[Mistake] = []
    for _ in range(ROUNDS):
        chosen, judged = _make_best_mistakes(trial, places, _unexplained_ports(trial, ports), absent, banned)
        choices += judged
        if not chosen:
            break
        found += chosen
    for component in trial.components(_unexplained_ports(trial, ports)):
        found += _single_cable_mistakes(trial, component, places)
    return found, sum(m.cost for m in found), choices


def _unexplained_ports(state: Cabling, ports: list[int]) -> list[int]:
    """Ports that are still to be explained, those that mistakes have touched included."""
    return [p for p in dict.fromkeys([*ports, *state.changed]) if state.differs(p)]


def _make_best_mistakes(
    state: Cabling,
    places: PortPositions,
    ports: list[int],
    absent: Callable[[int], bool],
    banned: frozenset[Key],
) -> tuple[list[Mistake], list[Mistake]]:
    """Make the best mistakes of several cables that do not touch one another; they, and all that explain
    something."""
    judged = _judge_candidates(state, candidate_mistakes(state, places, ports, absent), banned)
    chosen: list[Mistake] = []
    used: set[int] = set()
    for gain, _, one, touched in judged:
        if used.isdisjoint(touched) and state.make(one):
            equal = [o for g, _, o, t in judged if g == gain and t == touched]
            ties = [o for o in equal if o is not one and o.cost == one.cost]
            chosen.append(one.with_ties(ties[:3]))
        used |= touched
    return chosen, [one for _, _, one, _ in judged]


def _judge_candidates(
    state: Cabling, candidates: Iterable[Mistake], banned: frozenset[Key]
) -> list[tuple[int, int, Mistake, frozenset[int]]]:
    """The mistakes that explain something, the best first: less their gain, their number, the mistake, and
    what it touches. Those that gain nothing only where none gains anything."""
    judged = []
    met = set(banned)
    for order, one in enumerate(candidates):
        if state.budget.is_spent:
            break
        if mistake_key(one) in met:
            continue
        met.add(mistake_key(one))
        gain, touched = state.gain(one)
        if gain > 0 or (one.kind == "not installed" and gain >= 0):
            judged.append((-gain, order, one, touched))
    judged.sort(key=lambda j: j[:2])
    if judged and judged[0][0] < 0:
        judged = [j for j in judged if j[0] < 0]
    return judged


def _single_cable_mistakes(state: Cabling, component: Component, places: PortPositions) -> list[Mistake]:
    """Explain a component by moves of single cables."""
    if component.closed:
        return [_mistake_of_cycle(state, component, places)]
    return _mistakes_of_path(state, component)


def _mistake_of_cycle(state: Cabling, component: Component, places: PortPositions) -> Mistake:
    """Cables of a cycle are in one another's ports: two of them swapped, or more."""
    ports = component.ports
    # ports[0]-ports[1] is planned, ports[1]-ports[2] seen, and so on: the plug of ports[0] is in ports[2], …
    near, far = ports[0::2], ports[1::2]
    first = tuple(zip(near, (*near[1:], near[0]), strict=True))
    second = tuple(zip(far, (far[-1], *far[:-1]), strict=True))
    kinds = [_kind_of_exchange(side, places) for side in (near, far)]
    order = sorted((0, 1), key=lambda i: (RANKS[kinds[i]], i))
    sides = [Mistake(kinds[i], (first, second)[i], cost=component.cost) for i in order]
    return sides[0].with_ties(sides[1:])


RANKS = {"cage halves swapped": 0, "plugs swapped": 1, "cables swapped": 2, "cables permuted": 3}


def _kind_of_exchange(ports: tuple[int, ...], places: PortPositions) -> str:
    """The name of an exchange of plugs among these ports."""
    if len(ports) > 2:
        return "cables permuted"
    if places.cage(ports[0]) == places.cage(ports[1]):
        return "cage halves swapped"
    return "plugs swapped" if places.device(ports[0]) == places.device(ports[1]) else "cables swapped"


def _mistakes_of_path(state: Cabling, component: Component) -> list[Mistake]:
    """A path: each link that was seen takes the plug of a planned one beside it; what is left is missing or
    extra."""
    ports = list(component.ports)
    planned = [state.at(a) == b for a, b in pairwise(ports)]
    if not planned:
        return []
    if not planned[0] and (planned[-1] or len(planned) == 1):
        ports.reverse()
        planned.reverse()
    if component.extra > component.missing:  # extra at both ends
        last = ports[-2], ports[-1]
        out = _moved_plugs(ports[:-1], False)
        return [*out, Mistake("extra", added=(last,))]
    out = _moved_plugs(ports, True)
    if component.missing > component.extra:
        alone = Mistake("missing", removed=((ports[-2], ports[-1]),))
        out = [alone, *out]
        if len(component.ports) == 4:
            a, b, _, d = ports  # as above; or the cable of d went to b, and that of a is gone
            other = (Mistake("missing", removed=((a, b),)), Mistake("wrong port", ((d, b),)))
            out = [o.with_ties(other) for o in out]
    return out


def _moved_plugs(ports: list[int], planned_first: bool) -> list[Mistake]:
    """Pairs of a planned link and a seen one that share a port: the plug at the other end was moved. The last
    move comes first, since it leaves the port that the one before it takes."""
    if not planned_first:
        ports = ports[::-1]
    triples = [ports[i : i + 3] for i in range(0, len(ports) - 2, 2)]
    return [Mistake("wrong port", ((a, c),)) for a, _, c in reversed(triples)]
