"""Bundles of links in columns, by loops: which links are one, their numbers at each device, and what cannot be split."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.cables import bundles
from tdsl.fabric.graph import Ints
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax import tree

FILE = SourceFile("x.fab", "a0 a1 b0 b1 c0 c1")
DIFFERENT = "the links of a bundle run at one rate"


def plan_of(sizes: list[int]) -> Any:
    """Statements with ``bundle N`` (none for 0), each behind another setting."""
    wires = []
    for i, size in enumerate(sizes):
        spans = [SourceSpan(FILE, 6 * i + 3 * k, 6 * i + 3 * k + 2) for k in range(2)]
        names = ("rate", "bundle")[: 1 + (size > 0)]
        body = [tree.Setting(tree.Identifier(n, span), (), None, span) for n, span in zip(names, spans, strict=False)]
        body.insert(0, SimpleNamespace(name=SimpleNamespace(name="bundle"), span=spans[0]))  # type: ignore[arg-type]
        wires.append(SimpleNamespace(settings={"bundle": size} if size else {}, node=SimpleNamespace(body=tuple(body))))
    return SimpleNamespace(wires=wires)


def columns(seed: int) -> tuple[list[int], np.ndarray]:
    """Sizes of three statements, and links in a random order: devices, port, statement, rate. Mostly they fit."""
    chance = np.random.default_rng(seed)
    sizes = [int(x) for x in chance.choice([0, 2, 3], 3)]
    rows = []
    for statement in range(3):
        for a, b in {tuple(x) for x in chance.integers(0, 3, (3, 2)).tolist()}:
            each = max(sizes[statement], 1) * int(chance.integers(1, 4)) + int(chance.random() < 0.08)
            rate = 400 if chance.random() < 0.9 else 200
            rows += [[a, b + 10, 0, statement, 400 if k else rate] for k in range(each)]
    found = np.array(rows)
    found[:, 2] = chance.permutation(len(found))
    return sizes, chance.permutation(found)


def expected(sizes: list[int], links: np.ndarray) -> tuple[list[int], list[tuple[str, str, int, str]]]:
    """The bundle of each link, numbered by first links; or what is wrong: the links between two devices that are no multiple."""
    between = defaultdict(list)
    for i in sorted(range(len(links)), key=lambda i: int(links[i, 2])):
        a, b, _, statement, _ = links[i].tolist()
        if sizes[statement]:
            between[statement, a, b].append(i)
    wrong = []
    for statement, size in enumerate(sizes):
        mine = [v for k, v in sorted(between.items()) if k[0] == statement]
        odd = [v for v in mine if len(v) % size]
        where = ("a1", "b1", "c1")[statement]
        if odd:
            n = len(odd[0])
            found = f"{n} links join" if n > 1 else "one link joins"
            fits = [d for d in range(2, n + 1) if n % d == 0]
            help = f"write `bundle {max(fits)}`" if fits else "make several links between the same two devices: `x 2`"
            wrong.append((where, f"{found} two devices here, which is not a multiple of {size}", len(odd), help))
        elif any(len({int(links[i, 4]) for i in v}) > 1 for v in mine):
            wrong.append((where, DIFFERENT, 1, "write `rate` for them"))
    if wrong:
        return [-1] * len(links), wrong[:1]
    parts = [v[k : k + sizes[s]] for (s, _, _), v in between.items() for k in range(0, len(v), sizes[s])]
    out = [-1] * len(links)
    for number, part in enumerate(sorted(parts, key=lambda p: p[0])):
        for i in part:
            out[i] = number
    return out, []


def found(sizes: list[int], links: np.ndarray) -> tuple[list[int], list[tuple[str, str, int, str]]]:
    told = Diagnostics()
    a, b, port, statement, rate = links.reshape(-1, 5).T
    out = bundles.form_bundles(plan_of(sizes), a, b, port, statement, rate, told)
    assert all(d.code == "E0214" for d in told.items)
    return out.tolist(), [(d.span.text if d.span else "", d.message, d.count, d.help) for d in told.items]


def test_bundles_of_columns() -> None:
    """Of links that fit and links that do not, in any order."""
    kinds = defaultdict(int)
    for seed in range(150):
        sizes, links = columns(seed)
        told = expected(sizes, links)
        assert found(sizes, links) == told, seed
        kinds[told[1][0][1][:3] if told[1] else "" if max(told[0]) >= 0 else "none"] += 1
    assert len(kinds) > 4 and kinds["the"] > 5 and kinds[""] > 30


def test_every_wrong_statement_is_counted() -> None:
    """Two of its three pairs of devices have one link too many."""
    links = np.array([[a, 9, 4 * a + k, 0, 400] for a, n in enumerate((3, 2, 3)) for k in range(n)])
    told = [("a1", "3 links join two devices here, which is not a multiple of 2", 2, "write `bundle 3`")]
    assert found([2], links) == ([-1] * 8, told) == expected([2], links)


# ------------------------------------------------------------ bundles of a fabric


def fabric_of(seed: int) -> Any:
    """Links of three devices and their bundles, as columns."""
    chance = np.random.default_rng(seed)
    count = int(chance.integers(0, 12))
    port = chance.permutation(60)
    bundle = np.sort(chance.integers(-1, 4, count))
    pair = chance.integers(0, 3, (5, 2))
    device = pair[bundle]
    column: dict[str, Ints] = {
        "link_bundle": bundle, "device_a": device[:, 0], "device_b": device[:, 1] + 3,
        "link_a": port[:count] + 60 * device[:, 0], "link_b": port[count : 2 * count] + 60 * (device[:, 1] + 3),
    }  # fmt: skip
    order = chance.permutation(count)
    return SimpleNamespace(link_count=count, **{k: v[order] for k, v in column.items()})


@pytest.mark.parametrize("seed", range(20))
def test_numbers_at_devices(seed: int) -> None:
    """From 1 at each device, by the lowest port of a bundle there."""
    f = fabric_of(seed)
    lowest: dict[int, dict[int, int]] = defaultdict(dict)
    for i in range(f.link_count):
        n = int(f.link_bundle[i])
        if n >= 0:
            for device, port in ((int(f.device_a[i]), int(f.link_a[i])), (int(f.device_b[i]), int(f.link_b[i]))):
                lowest[device][n] = min(port, lowest[device].get(n, port))
    rank = {d: {n: k for k, n in enumerate(sorted(own, key=own.__getitem__), 1)} for d, own in lowest.items()}
    for device, numbers in zip((f.device_a, f.device_b), bundles.bundle_numbers_at_devices(f), strict=True):
        told = [rank.get(int(d), {}).get(int(n), 0) if n >= 0 else 0 for d, n in zip(device, f.link_bundle, strict=True)]
        assert numbers.tolist() == told
    for n in range(5):
        assert bundles.links_of_bundle(f, n) == [i for i in range(f.link_count) if f.link_bundle[i] == n]
    rows = np.flatnonzero(np.arange(f.link_count) % 4 != 1)
    seen: set[int] = set()
    spare = []
    for i in rows.tolist():
        n = int(f.link_bundle[i])
        if n in seen:
            spare.append(i)
        if n >= 0:
            seen.add(n)
    assert bundles.spare_members(f, rows).tolist() == spare
