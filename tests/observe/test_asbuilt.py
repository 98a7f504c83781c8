"""What is said of requirements that what is built does not keep, and the links of a fabric as it is built."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.fabric.graph import USED, Fabric
from tdsl.observe.asbuilt import Promise, as_built_fabric
from tdsl.observe.audit import Audit
from tdsl.observe.difference import Mistake
from tests.fabrics import GBPS, Builder


def result(status: str, text: str = "", value: object = 0, lower: object = None, **given: Any) -> Any:
    return SimpleNamespace(**({"status": status, "text": text, "value": value, "lower": lower, "requirement": "bisection >= 1",
                               "origin": None} | given))  # fmt: skip


def fault(message: str, mistake: object = "some", slow: object = None) -> Any:
    return SimpleNamespace(finding=SimpleNamespace(message=message), mistake=mistake, slow=slow)


def test_kept_requirements() -> None:
    wanted = {
        ("proved", "proved"), ("proved", "modelled"), ("modelled", "proved"), ("modelled", "modelled"), ("refuted", "proved"),
        ("refuted", "modelled"), ("refuted", "refuted"), ("unknown", "unknown"), ("unknown", "proved"), ("unknown", "modelled"),
    }  # fmt: skip
    words = ("proved", "modelled", "refuted", "unknown")
    assert {(d, b) for d in words for b in words if Promise(result(d), result(b)).kept} == wanted


def links(f: Fabric) -> set[tuple[int, int, int]]:
    return {(int(a), int(b), int(r)) for a, b, r in zip(f.link_a, f.link_b, f.link_rate, strict=True)}


def made_of(f: Fabric, mistakes: list[Mistake], slow: list[tuple[int, int]]) -> Audit:
    far = {p: q for a, b in zip(f.link_a.tolist(), f.link_b.tolist(), strict=True) for p, q in ((a, b), (b, a))}
    for m in mistakes:
        for (a, x), (b, y) in [(m.moves[0], m.moves[1])]:
            assert (a, x) == (y, b)
            far[a], far[b] = far[b], far[a]
            far[far[a]], far[far[b]] = a, b
    faults = [fault("moved", m) for m in mistakes] + [fault("slow", None, s) for s in slow]
    return Audit(f, SimpleNamespace(far=far), None, faults[1:], [], faults[:1])  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(12))
def test_links_as_built(seed: int) -> None:
    """Exchanged plugs give two new links at the lower rate of what was at their ports; the lower tier is the first end."""
    rng = Random(seed)
    b = Builder("fabric")
    switch = b.model("switch", "SW", {"p": {"shape": 20, "low": 1}})
    spine = b.devices("spine", switch, 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}), 4)
    leaf = b.devices("leaf", switch, 2)
    for text, cls in (("connect node to leaf", "down"), ("connect leaf to spine", "up")):
        b.connect(text)
        for _ in range(8):
            rate = rng.choice([100, 200, 400]) * GBPS
            if cls == "down":
                n = next(n for n in range(4) for k in range(2) if b.port(node, n, "nic", k) not in b.taken)
                b.link(b.free(node, n), b.free(leaf, rng.randrange(2)), rate, cls=cls)
            else:
                b.link(b.free(leaf, rng.randrange(2)), b.free(spine, rng.randrange(2)), rate, cls=cls)
    f = b.build()
    x, y = sorted(rng.sample(range(f.link_count), 2))
    p, q = (int((f.link_a if rng.random() < 0.5 else f.link_b)[k]) for k in (x, y))
    slow = [(int(f.link_b[z]), 25 * GBPS) for z in [rng.choice([k for k in range(f.link_count) if k not in (x, y)])]]
    made = made_of(f, [Mistake("swap", ((p, q), (q, p)))], slow)
    got = as_built_fabric(made)
    far = made.seen.far
    before = {int(e): int(r) for ends in (f.link_a, f.link_b) for e, r in zip(ends, f.link_rate, strict=True)}
    wanted = set()
    tier = f.tier[f.port_device]
    for a, c in far.items():
        if a < c:
            low, high = (a, c) if tier[a] < tier[c] or (tier[a] == tier[c] and a < c) else (c, a)
            rate = 25 * GBPS if slow[0][0] in (a, c) else min(before[a], before[c])
            wanted.add((low, high, rate))
    same = {tuple(sorted(w[:2])): w[2] for w in wanted}
    assert {tuple(sorted(w[:2])): w[2] for w in links(got)} == same
    old = {tuple(sorted(w[:2])) for w in links(f)}
    fresh = [{w[:2] for w in found if tuple(sorted(w[:2])) not in old} for found in (links(got), wanted)]
    assert fresh[0] == fresh[1] and len(fresh[0]) <= 2
    assert got.link_a.tolist() == sorted(got.link_a.tolist())
    number = {e: k for k, ends in enumerate(zip(got.link_a.tolist(), got.link_b.tolist(), strict=True)) for e in ends}
    assert got.port_link.tolist() == [number.get(e, -1) for e in range(len(f.port_device))]
    assert [s == USED for s in got.port_state.tolist()] == [e in number for e in range(len(f.port_device))]
    assert got.cable_a.tolist() == got.link_a.tolist() and got.cable_b.tolist() == got.link_b.tolist()
    assert got.cable_group.tolist() == list(range(got.link_count)) and set(got.cable_leg.tolist()) <= {0}
    assert set(got.cable_links.tolist()) == {1}
    for k, (a, c) in enumerate(zip(got.link_a.tolist(), got.link_b.tolist(), strict=True)):
        # a new link is of the class and the statement of the planned one at the end that comes first in the exchange
        planned = {int(f.port_link[a]), int(f.port_link[c])}
        assert int(got.link_class[k]) in {int(f.link_class[z]) for z in planned}
        assert int(got.link_statement[k]) in {int(f.link_statement[z]) for z in planned}
