"""What is said of requirements that what is built does not keep, and the links of a fabric as it is built."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import FREE, USED, Fabric
from tdsl.observe import asbuilt
from tdsl.observe.asbuilt import MOST_MENDED, Promise, as_built_fabric, broken_promise_findings, promises_kept
from tdsl.observe.audit import Audit
from tdsl.observe.difference import Mistake
from tests.fabrics import GBPS, Builder, superpod


def result(status: str, text: str = "", value: object = 0, lower: object = None, **given: Any) -> Any:
    return SimpleNamespace(**({"status": status, "text": text, "value": value, "lower": lower, "requirement": "bisection >= 1",
                               "origin": None} | given))  # fmt: skip


def fault(message: str, mistake: object = "some", slow: object = None) -> Any:
    return SimpleNamespace(finding=SimpleNamespace(message=message), mistake=mistake, slow=slow)


def audit(faults: list[Any], **given: Any) -> Any:
    return SimpleNamespace(faults=faults, **given)


def test_kept_requirements() -> None:
    wanted = {
        ("proved", "proved"), ("proved", "modelled"), ("modelled", "proved"), ("modelled", "modelled"), ("refuted", "proved"),
        ("refuted", "modelled"), ("refuted", "refuted"), ("unknown", "unknown"), ("unknown", "proved"), ("unknown", "modelled"),
    }  # fmt: skip
    words = ("proved", "modelled", "refuted", "unknown")
    assert {(d, b) for d in words for b in words if Promise(result(d), result(b)).kept} == wanted


def test_findings() -> None:
    faults = [fault(f"fault {n}") for n in range(1, 8)]
    kept = Promise(result("proved"), result("proved"))
    gains = tuple((n, result("proved", f"{n}%")) for n in (7, 2, 5, 1, 3))
    origin = SimpleNamespace(span=None, chain=())
    lost = Promise(result("proved", "100%"), result("refuted", "50%", origin=origin), gains)
    bare = Promise(result("proved"), result("unknown", requirement="diameter <= 4"))
    first, second = broken_promise_findings(audit(faults), [kept, lost, kept, bare])
    assert (first.code, first.message) == ("E0640", "as built, `bisection >= 1` is refuted: 50%")
    assert first.notes == (
        "designed: 100%",
        "correcting this gives proved 7%: fault 7",
        "correcting this gives proved 2%: fault 2",
        "correcting this gives proved 5%: fault 5",
        "correcting this gives proved 1%: fault 1",
    )
    assert first.help == "correct the faults above" and first.span is None and first.labels == ()
    assert (second.message, second.notes) == ("as built, `diameter <= 4` is unknown", ())
    assert second.help == "no single fault decides; correct the faults above"
    helps = [broken_promise_findings(audit(faults[:n]), [bare])[0].help for n in range(3)]
    assert helps == ["correct the faults above"] * 2 + ["no single fault decides; correct the faults above"]


def test_faults_that_help_most_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault is taken away alone; those that change nothing are left out, and a change of the status counts most."""
    values = {
        1: ("refuted", 5),
        2: ("refuted", 8),
        3: ("refuted", 2),
        4: ("proved", 5),
        5: ("refuted", 9000),
        6: ("refuted", 8),
        7: ("unknown", 5),
    }
    faults = [fault(str(n)) for n in range(1, 8)] + [fault("no cable", None), fault("slow", None, (1, 2))]
    asked: list[list[str]] = []

    def judged(fabric: Any, claims: Any) -> list[Any]:
        if fabric == "design":
            return [result("proved", value=10) for _ in claims]
        missing = [f for f in faults if f not in fabric]
        asked.append([f.finding.message for f in missing])
        if not missing:
            return [result("refuted", value=5) for _ in claims]
        status, value = values.get(faults.index(missing[0]) + 1, ("refuted", 5))
        return [result(status, value=0, lower=value)]

    monkeypatch.setattr(asbuilt, "_results_of_claims", judged)
    monkeypatch.setattr(asbuilt, "as_built_fabric", lambda made: made.faults)
    made = Audit("design", None, None, faults)  # type: ignore[arg-type]
    claims = [SimpleNamespace(report=False), SimpleNamespace(report=True)]
    (promise,) = promises_kept(made, claims)  # type: ignore[arg-type]
    assert [n for n, _ in promise.gains] == [4, 7, 5, 2, 3, 6]
    assert asked == [[], *([f.finding.message] for f in faults if f.finding.message != "no cable")]
    assert promises_kept(made, claims[1:]) == []  # type: ignore[arg-type]
    asked.clear()
    lone = Audit("design", None, None, faults[7:])  # type: ignore[arg-type]
    assert promises_kept(lone, claims)[0].gains == () and len(asked) == 1  # type: ignore[arg-type]


def test_at_most_twelve_faults_are_judged_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_MENDED == 12
    faults = [fault(str(n)) for n in range(14)]
    sizes: list[int] = []

    def judged(fabric: Any, claims: Any) -> list[Any]:
        sizes.append(len(fabric))
        return [result("proved" if fabric == "design" else "refuted", value=len(fabric)) for _ in claims]

    monkeypatch.setattr(asbuilt, "_results_of_claims", judged)
    monkeypatch.setattr(asbuilt, "as_built_fabric", lambda made: made.faults)
    (promise,) = promises_kept(Audit("design", None, None, faults), [SimpleNamespace(report=False)])  # type: ignore[arg-type, list-item]
    assert [n for n, _ in promise.gains] == list(range(1, 13)) and sizes == [6, 14] + [13] * 12


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


def test_links_that_are_lost() -> None:
    f = superpod(1, 2, 2, 2, 64, omit_last=False, manager=False).build()
    a, b = int(f.link_a[1]), int(f.link_b[1])
    made = made_of(f, [], [])
    made.faults.append(fault("lost", Mistake("missing", removed=((a, b),))))
    got = as_built_fabric(made)
    assert links(got) == links(f) - {(a, b, int(f.link_rate[1]))}
    assert got.port_state[[a, b]].tolist() == [FREE, FREE] and got.port_link[[a, b]].tolist() == [-1, -1]
    assert links(as_built_fabric(made, [])) == links(f), "mistakes that are given replace those of the audit"
    assert asbuilt._figure_of_result(result("proved", value=3, lower=Fraction(1, 2))) == Fraction(1, 2)
    assert np.array_equal(got.cable_links, np.ones(got.link_count))


def test_plugs_in_free_ports_and_in_ports_that_are_not_of_the_design() -> None:
    b = Builder("fabric")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}), 5)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": {"shape": 12, "low": 1}}), 1)
    for n, rate in enumerate((100, 200, 400, 800)):
        b.connect(f"connect node[{n}] to leaf")
        b.link(b.free(node, n), b.free(leaf, 0), rate * GBPS, cls=f"class{n}")
    f = b.build()
    size, first = len(f.port_device), b.port(leaf, 0)

    def pairs(fabric: Fabric) -> set[tuple[int, int, int]]:
        return {(min(a, c), max(a, c), rate) for a, c, rate in links(fabric)}

    before = pairs(f)
    assert before == {(n, first + n, r * GBPS) for n, r in enumerate((100, 200, 400, 800))}

    def after(*mistakes: Mistake) -> tuple[Fabric, set[tuple[int, int, int]], set[tuple[int, int, int]]]:
        got = as_built_fabric(made_of(f, [], []), mistakes)
        return got, pairs(got) - before, before - pairs(got)

    wrong = Mistake("wrong port", ((first + 3, first + 9),))
    got, new, lost = after(wrong)
    assert (new, lost) == ({(3, first + 9, 800 * GBPS)}, {(3, first + 3, 800 * GBPS)})
    assert got.link_statement.tolist() == [0, 1, 2, 3] and got.link_via_a.tolist() == [-1] * 4
    got, new, lost = after(Mistake("extra", added=((4, first + 10),)))
    assert (new, lost) == ({(4, first + 10, 100 * GBPS)}, set()), "of no planned link: as the first"
    assert got.link_statement.tolist() == [0, 1, 2, 3, 0]
    got, new, lost = after(Mistake("swap", ((0, 1), (1, 0))))
    assert new == {(0, first + 1, 100 * GBPS), (1, first, 100 * GBPS)} and len(lost) == 2
    for outside in (size, size + 1):
        got, new, lost = after(Mistake("elsewhere", removed=((2, first + 2),), added=((2, outside),)))
        assert (new, lost) == (set(), {(2, first + 2, 400 * GBPS)})
        got, new, lost = after(Mistake("elsewhere", removed=((2, first + 2),), added=((outside, 2),)))
        assert (new, lost) == (set(), {(2, first + 2, 400 * GBPS)})
        assert got.port_link.tolist() == [
            {0: 0, 1: 1, 3: 2, first: 0, first + 1: 1, first + 3: 2}.get(p, -1) for p in range(size)
        ]
    for column in ("link_via_a", "link_via_b", "link_bundle"):
        marked = replace(f, **{column: np.array([5, 6, 7, 8])})
        seen = getattr(as_built_fabric(made_of(marked, [], []), [wrong]), column)
        assert seen.tolist() == [5, 6, 7, -1]
    none = Builder("none")
    none.devices("node", none.model("host", "NODE", {"nic": 1}), 2)
    empty = none.build()
    assert as_built_fabric(made_of(empty, [], []), []) is empty


def test_two_faults_are_judged_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asbuilt, "as_built_fabric", lambda made: made.faults)
    monkeypatch.setattr(
        asbuilt,
        "_results_of_claims",
        lambda fabric, claims: [result("refuted" if fabric != "design" else "proved", value=len(fabric))] * len(claims),
    )
    for count, wanted in ((1, []), (2, [1, 2]), (3, [1, 2, 3])):
        made = Audit("design", None, None, [fault(str(n)) for n in range(count)])  # type: ignore[arg-type]
        (promise,) = promises_kept(made, [SimpleNamespace(report=False)])  # type: ignore[list-item]
        assert [n for n, _ in promise.gains] == wanted
