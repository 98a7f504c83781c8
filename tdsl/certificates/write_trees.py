"""Schedules along trees of single ranks as certificates state them: every part of the data that each message
carries in every step, over links of the network."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from tdsl.certificates.write_throughput import Json
from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.collective_times import Schedule
from tdsl.prove.schedule_routes import RoutedMessage
from tdsl.prove.tree_messages import TreeMessages

MOST_SENDS = 200_000
"""Sends, of a message in a step, that are written down at most."""

MOST_CELLS = 60_000
"""Parts of the data times units at most: the checker takes about a second for them."""

Send = tuple[int, int, list[str]]
"""A step, the number of a message, and the ranks whose shares it carries; none where it carries all."""


def stages_along_trees(ranks: Ranks, best: Schedule) -> Json | None:
    """The one stage of a schedule along trees, of units of one rank each that no scale-up link joins; None of
    others. What goes along a tree is rounded to whole parts of the data, and rates are what fits the links
    then."""
    plan, count = best.trees, len(ranks.view.units)
    if plan is None or (ranks.unit_weight != 1).any() or (ranks.view.domains.inside.rate > 0).any():
        return None
    made, each = TreeMessages.of(ranks, plan), MOST_CELLS // count**2
    if not each or len(made) > MOST_SENDS:
        return None
    whole = each * count if plan.sums else each
    ends = [round(x * whole) for x in accumulate(made.trees, initial=Fraction(0))]
    rows = dict(enumerate(pairwise(ends), 1))
    kept = [m for m in made if rows[m.tree][0] < rows[m.tree][1]]
    sends = list(_sends_of_trees(made, kept))
    if len(sends) > MOST_SENDS:
        return None
    first = {name: each * k for k, name in enumerate(made.ranks)}
    steps = _steps_of_sends(plan.steps, sends, [rows[m.tree] for m in kept], first)
    channels = _channels_of_messages(made, kept, {k: Fraction(b - a, whole) for k, (a, b) in rows.items()})
    return {"parts": each * count, "stages": [{"channels": channels, "steps": steps}]}


def _steps_of_sends(
    count: int, sends: Sequence[Send], rows: Sequence[tuple[int, int]], first: dict[str, int]
) -> list[list[Json]]:
    """What is sent in each step: the number of the message, and first and last part of what it carries.
    ``rows`` has the parts of each message's tree, ``first`` where those of a rank begin."""
    steps: list[list[Json]] = [[] for _ in range(count)]
    for step, number, sources in sends:
        begin, end = rows[number]
        parts = [[first[r] + begin, first[r] + end - 1] for r in sources] or [[begin, end - 1]]
        steps[step - 1].append({"channel": number, "parts": sorted(parts)})
    return steps


def _channels_of_messages(
    made: TreeMessages, kept: Sequence[RoutedMessage], share: dict[int, Fraction]
) -> list[Json]:
    """The channels of messages, each with as much of what its links carry as it has of what they are loaded
    with where every tree carries its ``share``."""
    part = [Fraction(m.parts) / made.trees[m.tree - 1] * share[m.tree] for m in kept]
    load: Counter[tuple[str, str]] = Counter()
    for m, x in zip(kept, part, strict=True):
        for pair in pairwise(m.routes[0].devices):
            load[pair] += x  # type: ignore[assignment]
    full = max(Fraction(x) / made.links[pair] for pair, x in load.items())
    return [
        {"ways": [{"devices": list(m.routes[0].devices), "rate_bps": str(x / full)}]}
        for m, x in zip(kept, part, strict=True)
    ]


def _sends_of_trees(made: TreeMessages, kept: Sequence[RoutedMessage]) -> Iterator[Send]:
    """What every message carries in each of its steps."""
    if made.plan.sums:
        yield from ((m.steps[0], number, []) for number, m in enumerate(kept))
        return
    by_tree: dict[int, list[int]] = defaultdict(list)
    for number, m in enumerate(kept):
        by_tree[m.tree].append(number)
    for numbers in by_tree.values():
        yield from _sends_of_gathering(made, {n: kept[n] for n in numbers})


def _sends_of_gathering(made: TreeMessages, tree: dict[int, RoutedMessage]) -> Iterator[Send]:
    """From each rank to all, a link a step; of a reduce-scatter the other way in time."""
    steps, turned = made.plan.steps, made.plan.turned
    to: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, m in tree.items():
        one, other = (m.receiver, m.sender) if turned else (m.sender, m.receiver)
        to[one].append((other, number))
    carried: dict[tuple[int, int], list[str]] = defaultdict(list)
    for source in made.ranks:
        ahead = [(source, "")]
        for step in range(1, steps + 1):
            passed = [(v, w, number) for v, by in ahead for w, number in to[v] if w != by]
            for _, _, number in passed:
                carried[steps + 1 - step if turned else step, number].append(source)
            ahead = [(w, v) for v, w, _ in passed]
    yield from ((step, number, sources) for (step, number), sources in sorted(carried.items()))
