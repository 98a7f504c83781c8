"""The bound by paths on made-up cables and floors, against the same sum in fractions, path by path."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.physical.path_bound import MOST_PROFILES, MOST_RACKS, path_bound

Pairs = dict[tuple[int, int], int]


class Floor:
    """Racks at numbers of a line, in halls, as ``Lengths`` shows them; ``unknown`` racks have no ways."""

    def __init__(self, at: list[int], halls: list[int] | None = None, unknown: tuple[int, ...] = ()) -> None:
        self.at, self.unknown, self.asked = np.array(at), unknown, 0
        self.places = SimpleNamespace(rack_hall=np.array(halls or [0] * len(at)))

    def way(self, a: Any, b: Any) -> Any:
        """From rack to rack; a rack is one micrometre from itself, which must not count."""
        self.asked += 1
        found = np.abs(self.at[a] - self.at[b]) + (a == b)
        return np.where(np.isin(a, self.unknown) | np.isin(b, self.unknown), -1, found)


def fabric_of(tier: list[int], model: list[int] | None = None) -> Any:
    """What is read of a fabric."""
    return SimpleNamespace(tier=np.array(tier), device_model=np.array(model or [0] * len(tier)), device_count=len(tier))


def columns(pairs: Pairs) -> Any:
    """Pairs as columns."""
    rows = [(*k, n) for k, n in sorted(pairs.items())]
    return tuple(np.array([r[i] for r in rows], dtype=np.int64) for i in range(3))


def families(tier: list[int], pairs: Pairs) -> list[dict[int, Fraction]]:
    """The weights of the devices that paths lead to, for each device where paths begin, and the pairs that are left."""
    below: dict[int, dict[int, int]] = defaultdict(dict)
    level = {k: n for k, n in pairs.items() if tier[k[0]] == tier[k[1]]}
    for (a, b), n in pairs.items():
        if (a, b) not in level:
            upper, lower = (a, b) if tier[a] > tier[b] else (b, a)
            below[upper][lower] = n
    top = max((tier[u] for u in below), default=-1)
    load: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    out = []
    for t in sorted(below):
        if tier[t] != top:
            continue
        weight: dict[int, Fraction] = defaultdict(Fraction)
        for d, n in below[t].items():
            weight[d] += n
            load[t, d] += n
        for now in range(top - 1, -1, -1):
            for d in [d for d in weight if tier[d] == now and below.get(d)]:
                for e, n in below[d].items():
                    part = weight[d] * Fraction(n, sum(below[d].values()))
                    weight[e] += part
                    load[d, e] += part
                del weight[d]
        out.append(weight)
    share = 1 / max([Fraction(1), *(load[u, d] / n for u, near in below.items() for d, n in near.items())])
    out = [{d: w * share for d, w in weight.items()} for weight in out]
    left: Any = {(u, d): n - load[u, d] * share for u, near in below.items() for d, n in near.items()}
    single: Any = {k: Fraction(n) for k, n in [*left.items(), *level.items()] if n > 0}
    degree = [sum(d in k for k in single) for d in range(len(tier))]
    direct: dict[int, dict[int, Fraction]] = defaultdict(dict)
    for (a, b), n in single.items():
        centre, other = (a, b) if degree[a] >= degree[b] else (b, a)
        direct[centre][other] = n
    return [*out, *direct.values()]


def expected(tier: list[int], model: list[int], pairs: Pairs, at: list[int], takes: dict[int, int]) -> Fraction:
    """The sum over the families of the least, over the racks, of weight times way."""
    total = Fraction(0)
    for weight in families(tier, pairs):
        best = []
        for here in at:
            near = sorted(abs(here - x) for x in at)
            sums = Fraction(0)
            for m in {model[d] for d in weight}:
                mine = sorted((w for d, w in weight.items() if model[d] == m), reverse=True)
                sums += sum(w * near[i // max(takes[m], 1)] for i, w in enumerate(mine) if i // max(takes[m], 1) < len(near))
            best.append(sums)
        total += min(best)
    return total


@pytest.mark.parametrize("share", range(4))
def test_against_fractions(share: int) -> None:
    """Devices of some tiers with cables within a tier, to the next and past it, racks at any places, models of any size."""
    several = 0
    for seed in range(40):
        random = Random(40 * share + seed)
        tiers = random.randint(1, 4)
        tier = [random.randrange(tiers) for _ in range(random.randint(5, 10))]
        model = [random.randrange(3) for _ in tier]
        every = [(a, b) for a in range(len(tier)) for b in range(a + 1, len(tier))]
        flat = random.random() < 0.3
        chosen = [k for k in every if flat or tier[k[0]] != tier[k[1]]]
        picked = random.sample(chosen, random.randint(len(chosen) // 2, len(chosen)))
        pairs = {k: random.choice((1, 1, 2, 3, 8)) for k in picked}
        if not pairs:
            continue
        at = [random.randrange(1, 50) * 1_000_000 for _ in range(random.choice((1, 3, 4, 6, 8)))]
        takes = {0: random.randrange(2), 1: 1, 2: random.choice((2, 2, 3, 99))}
        fabric, floor = fabric_of(tier, model), Floor(at)

        def capacity(devices: Any, model: list[int] = model, takes: dict[int, int] = takes) -> int:
            (m,) = {model[d] for d in devices.tolist()}
            return takes[m]

        found = path_bound(fabric, columns(pairs), floor, list(range(len(at))), capacity)  # type: ignore[arg-type]
        wanted = expected(tier, model, pairs, at, takes)
        assert found <= wanted and found == pytest.approx(float(wanted), rel=1e-5, abs=2), (share, seed)
        several += found > 0
    assert several > 12


def test_devices_joined_alike_count_one_by_one() -> None:
    """Three spines to the same two leaves by two cables each, and a fourth by one and three: in each case the leaves stand in the
    rack of the spine, or 5 m beside it."""
    pairs = {(0, 2): 2, (1, 2): 2, (0, 3): 2, (1, 3): 2, (0, 4): 2, (1, 4): 2, (0, 5): 1, (1, 5): 3}
    found = path_bound(
        fabric_of([1, 1, 2, 2, 2, 2]), columns(pairs), Floor([0, 5_000_000]), [0, 1], lambda _: 1  # type: ignore[arg-type]
    )  # fmt: skip
    assert found == int((2 + 2 + 2 + 1) * 5_000_000 * (1 - 1e-9))


def test_where_there_is_no_bound() -> None:
    fabric, pairs = fabric_of([0, 0, 1]), columns({(0, 2): 1, (1, 2): 1})
    three = [0, 1_000_000, 3_000_000]

    def bound(floor: Floor, racks: list[int], pairs: Any = pairs) -> int:
        return path_bound(fabric, pairs, floor, racks, lambda _: 1)  # type: ignore[arg-type]

    assert bound(Floor(three), [0, 1, 2]) == 999_999 and bound(Floor(three), [0, 2]) == 2_999_999
    assert bound(Floor(three, [0, 0, 1]), [0, 1, 2]) == 0
    assert bound(Floor(three, [0, 0, 1]), [0, 1]) == 999_999
    assert bound(Floor(three, unknown=(2,)), [0, 1, 2]) == 0 and bound(Floor(three, unknown=(2,)), [0, 1]) == 999_999
    assert bound(Floor(three), [0, 1, 2], columns({})) == 0
    for many in (MOST_RACKS, MOST_RACKS + 1):
        floor = Floor([0] * many, unknown=(0,))
        assert bound(floor, list(range(many))) == 0 and floor.asked == (many <= MOST_RACKS)


def test_many_different_weights() -> None:
    """Switches with 1, 2, 3 and so on cables to hosts of their own: up to 64 kinds of them are looked at."""
    for switches in (MOST_PROFILES, MOST_PROFILES + 1):
        n = 2 * switches
        pairs = {(h, n + h // 2): 1 + h // 2 for h in range(n)}
        fabric = fabric_of([0] * n + [1] * switches)
        found = path_bound(fabric, columns(pairs), Floor([0, 2_000_000]), [0, 1], lambda _: 1)  # type: ignore[arg-type]
        assert found == (int(2_000_000 * sum(range(1, switches + 1)) * (1 - 1e-9)) if switches <= MOST_PROFILES else 0)
