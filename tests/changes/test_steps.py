"""Orders of moves: replayed cable by cable, each state judged by all cuts; and where none is said to exist, all orders tried."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tdsl.changes.compare import cable_legs_in_order, compare_designs
from tdsl.changes.model import CableLeg
from tdsl.changes.steps import MovePlan, MovePlanner
from tdsl.changes.union import union_of_fabrics
from tdsl.compile.compiler import Design
from tests.changes.test_diff import POD, WIRED
from tests.cli.run import tdsl, write
from tests.harness import compile_text

Key = tuple[tuple[str, str], tuple[str, str]]
MODELS = """\
model chip C { port lane: 100Gbps }
model host H { port n[2]: 100Gbps { type X }; chip gpu: C }
model switch S { port p[6]: 100Gbps { type X } }
"""


def design(text: str) -> Design:
    with TemporaryDirectory() as folder:
        result = compile_text(text, Path(folder), models=False, verify=False)
    assert not result.findings
    return result.designs[0]


def planned(old: Design, new: Design, floor: Fraction) -> MovePlan:
    assert old.fabric is not None and new.fabric is not None
    both = union_of_fabrics(old.fabric, new.fabric)
    assert both is not None
    return MovePlanner(both, compare_designs(old, new), floor).run()


def key(c: CableLeg) -> Key:
    return c.a.key, c.b.key


def laid(d: Design) -> set[Key]:
    assert d.fabric is not None
    return {key(c) for c in cable_legs_in_order(d.fabric)}


def worst(state: set[Key]) -> Fraction:
    """Bisection by every split and every placement of the switches, in links over those of the smaller side."""
    devices = sorted({d for ends in state for d, _ in ends})
    hosts = [d for d in devices if d.startswith("h")]
    switches = [d for d in devices if not d.startswith("h")]
    if len(hosts) < 2:
        return Fraction(0)
    degree = {h: sum(h == d for ends in state for d, _ in ends) for h in hosts}
    half = len(hosts) // 2
    full = min(sum(degree[h] for h in side) for side in combinations(hosts, half))
    least = None
    for side in combinations(hosts, half):
        for bits in range(1 << len(switches)):
            here = {*side, *(s for i, s in enumerate(switches) if bits >> i & 1)}
            cut = sum((a in here) != (b in here) for (a, _), (b, _) in state)
            least = cut if least is None else min(least, cut)
    assert least is not None
    return Fraction(least, full) if full else Fraction(0)


def possible(old: set[Key], new: set[Key], floor: Fraction) -> bool:
    """Whether some order of single moves keeps the floor: every state that can be reached is visited."""
    gone, come = sorted(old - new), sorted(new - old)
    seen: set[tuple[frozenset[Key], frozenset[Key]]] = set()
    front = [(frozenset[Key](), frozenset[Key]())]
    while front:
        out, put = front.pop()
        if (out, put) in seen:
            continue
        seen.add((out, put))
        state = (old - out) | put
        if worst(state) < floor:
            continue
        if len(out) == len(gone) and len(put) == len(come):
            return True
        taken = {end for c in state for end in c}
        front += [(out | {c}, put) for c in gone if c not in out]
        front += [(out, put | {c}) for c in come if c not in put and not taken & set(c)]
    return False


def replayed(plan: MovePlan, old: set[Key], new: set[Key]) -> None:
    """Every step can be done by hand and keeps the floor for the hosts in service; the last one ends at the new design."""
    hosts = {d for ends in old | new for d, _ in ends if d.startswith("h")} - {*plan.leave, *plan.join}

    def served(state: set[Key]) -> Fraction:
        return worst({ends for ends in state if all(not d.startswith("h") or d in hosts for d, _ in ends)})

    state = set(old)
    for step in plan.steps:
        assert {key(c) for c in step.unplug} <= state
        state -= {key(c) for c in step.unplug}
        assert served(state) >= step.during >= plan.floor
        for c in step.plug:
            assert not {end for other in state for end in other} & set(key(c)), "a port is not free"
            state.add(key(c))
        assert served(state) >= step.after >= plan.floor
    assert state == new and worst(state) >= plan.end >= plan.floor


@st.composite
def wirings(draw: st.DrawFn, grown: bool = False) -> tuple[str, str]:
    """Two wirings at random of the uplinks of the same hosts and switches; or of more or fewer hosts."""
    texts = []
    for _ in range(2):
        hosts, used = draw(st.integers(2, 5)) if grown else 4, set()
        leaves = (hosts + 1) // 2
        lines = [f"  connect h[{h}].n[0] to l[{h // 2}].p[{h % 2}]" for h in range(hosts)]
        for leaf in range(leaves):
            for up in range(draw(st.integers(1 + grown, 3))):
                end = f"s[{draw(st.integers(0, 1))}].p[{draw(st.integers(0, 5 if grown else 2))}]"
                if end not in used:
                    used.add(end)
                    lines.append(f"  connect l[{leaf}].p[{2 + up}] to {end}")
        sets = f"  host h[{hosts}]: H\n  switch l[{leaves}]: S\n  switch s[2]: S\n"
        texts.append(MODELS + "fabric f {\n" + sets + "\n".join(lines) + "\n}\n")
    return texts[0], texts[1]


@given(wirings())
@settings(max_examples=15, deadline=None)
def test_cables_that_come_go_and_move_are_the_difference_of_two_sets(texts: tuple[str, str]) -> None:
    """A cable that moves keeps one end; what is left of the difference comes or goes."""
    old, new = map(design, texts)
    found = compare_designs(old, new)
    before, after = ({frozenset(k) for k in laid(d)} for d in (old, new))
    gone = [frozenset(key(c)) for c in found.removed] + [frozenset((m.stays.key, m.before.key)) for m in found.moved]
    come = [frozenset(key(c)) for c in found.added] + [frozenset((m.stays.key, m.after.key)) for m in found.moved]
    assert len(gone) == len(before - after) and set(gone) == before - after
    assert len(come) == len(after - before) and set(come) == after - before


@given(wirings(), st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(1, 4)]))
@settings(max_examples=20, deadline=None)
def test_orders_by_hand(texts: tuple[str, str], floor: Fraction) -> None:
    old, new = map(design, texts)
    states = laid(old), laid(new)
    assume(len(states[0] ^ states[1]) <= 9)
    plan = planned(old, new, floor)
    if plan.complete:
        replayed(plan, *states)
    else:
        assert plan.proved, "so few cables are tried in all orders"
        assert not possible(*states, floor)


def test_spines_doubled(tmp_path: Path) -> None:
    """128 uplinks go from 4 spines to 8. At 75% two steps do; at 100% nothing can be unplugged."""
    full = WIRED.replace("leaf[16]: QM9700", "leaf[16]: EDGE") + "model switch EDGE { port p[1..16]: 400Gbps { type NDR } }\n"
    a, b = write(tmp_path, full, "a.fab"), write(tmp_path, full.replace("spine[4]", "spine[8]"), "b.fab")
    done = tdsl("diff", a, b, "--steps", "--floor", "75%")
    assert done.exit_code == 0
    for n in (1, 2):
        assert f"{n}. unplug 32, plug 32, 75% while they are out, then 100%" in done.stdout
    assert "  3." not in done.stdout
    refused = tdsl("diff", a, b, "--steps", "--floor", "100")
    assert refused.exit_code == 1
    assert "no order keeps the floor: whichever of 64 cables is unplugged next, at most 98.44% is left" in refused.stdout


def test_growth_needs_no_unplugging(tmp_path: Path) -> None:
    a, b = write(tmp_path, POD, "a.fab"), write(tmp_path, WIRED, "b.fab")
    assert "1. unplug 0, plug 32, then 100%" in tdsl("diff", a, b, "--steps", "--floor", "70%").stdout
    below = tdsl("diff", a, b, "--steps", "--floor", "80%")
    assert below.exit_code == 1 and "the old design itself has a bisection of 75%" in below.stdout


@pytest.mark.parametrize("floor", ["x", "101%", "-1", "1/0"])
def test_a_floor_that_is_none(floor: str, tmp_path: Path) -> None:
    a = write(tmp_path)
    assert tdsl("diff", a, a, "--steps", "--floor", floor).exit_code == 2
