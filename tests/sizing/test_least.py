"""What holes get, against every combination of their values compiled and checked one by one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text, sections

TEXTS = sections(Path(__file__).parent / "least.txt")
TWO = f"{TEXTS['TWO']}\n"
COUNTS = ("cables", "links", "name_collision", "oversubscription", "ports", "switches")
SPACE = st.fixed_dictionaries(
    {
        "planes": st.integers(1, 2), "hosts": st.sampled_from([4, 6, 8, 9, 12]), "up": st.sampled_from([1, 2, 4]),
        "leaf_ports": st.integers(5, 16), "spine_ports": st.integers(4, 16), "w": st.integers(1, 9), "v": st.integers(1, 9),
        "p": st.integers(1, 9), "q": st.integers(1, 9),
        "more": st.sampled_from(
            ["", "", "omit plane[0].spine[0]", "require oversubscription <= 1:1", "require cables >= 40", "require switches >= 5",
             "require ports of plane[0].leaf[0] >= 6", "require links of plane[0].leaf[*] to plane[0].spine[*] <= 16"]
        ),
    }
)  # fmt: skip


def compiled(folder: Path, given: dict[str, object], leaf: object, spine: object, top: str = "", **options: object):  # type: ignore[no-untyped-def]
    """The compilation of one combination, and its figures by name; none where it has an error."""
    text = TWO.format(**given, leaf=leaf, spine=spine, top=top)
    result = compile_text(text, folder, models=False, **{"select": COUNTS, **options})  # type: ignore[arg-type]
    fabric = result.designs[0].fabric
    if fabric is None or any(d.severity is Severity.ERROR for d in result.findings):
        return result, None
    built = {s.path: int(fabric.built[s.first : s.first + s.count].sum()) for s in fabric.sets}
    leaves, spines = built["plane.leaf"], built["plane.spine"]
    return result, {
        "switches": leaves + spines, "cables": len(np.unique(fabric.cable_group)),
        "power": int(str(given["w"])) * leaves + int(str(given["v"])) * spines,
        "cost": int(str(given["p"])) * leaves + int(str(given["q"])) * spines,
    }  # fmt: skip


@settings(deadline=None, max_examples=2)
@given(SPACE)
def test_the_least_and_the_next_of_all_combinations(tmp_path_factory: pytest.TempPathFactory, given: dict[str, int]) -> None:
    """Every combination is compiled and checked by itself: of those without an error the first is what fits first, the least of
    each figure is the answer under ``minimize``, and the next after it is the second best."""
    folder = tmp_path_factory.mktemp("least")
    given["hosts"] = min(given["hosts"], 9)
    given["up"] = min(given["up"], max(1, 8 // given["hosts"]))  # some dozen combinations
    found = {}
    for leaf in (n for n in range(1, given["hosts"] + 1) if given["hosts"] % n == 0):
        for spine in range(1, leaf * given["up"] + 1):
            _, figures = compiled(folder, given, leaf, spine)
            if figures is not None:
                found[leaf, spine] = figures
    result, answer = compiled(folder, given, "?", "?")
    assert (answer is None) == (not found), [d.message for d in result.findings]
    if answer is None:
        return
    assert answer == found[min(found)]
    for figure in ("switches", "cables", "power", "cost"):
        ranked = sorted(found, key=lambda at: (found[at][figure], at))
        result, answer = compiled(folder, given, "?", "?", f"minimize {figure}", second_best=True)
        assert answer == found[ranked[0]], figure
        (note,) = {n for d in result.findings for n in d.notes}
        if len(ranked) == 1:
            assert note == "no other numbers fit"
        else:
            leaf, spine = (int(x) for x in re.findall(r"`\w+` (\d+)", note))
            assert (leaf, spine) != ranked[0] and found[leaf, spine][figure] == found[ranked[1]][figure], figure


PROVED = (
    "bisection >= 60%", "bisection >= 2Tbps", "survives any 1 of plane[0].spine with bisection >= 60%", "node_redundancy >= 2",
    "survives any 1 of plane[0].spine", "throughput shift 2 >= 80%", "edge_redundancy >= 2", "mean_hops <= 3",
    "survives any 2 of plane[0].spine", "blast_radius of plane[*].leaf <= 30%",
)  # fmt: skip


@settings(deadline=None, max_examples=3)
@given(SPACE, st.sampled_from([8, 16, 24]), st.lists(st.sampled_from(PROVED), min_size=1, max_size=2, unique=True))
def test_the_least_that_is_proved(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, object], ports: int, asked: list[str]
) -> None:
    """What cuts, flows and failures are required of takes part: the first combination without an error, and the one of least
    power; where none is, the first that the wiring fits, whose requirements are refuted."""
    folder = tmp_path_factory.mktemp("proved")
    hosts, more = min(6, int(str(given["hosts"]))), "\n  ".join(f"require {r}" for r in asked)
    given |= {
        "hosts": hosts,
        "leaf_ports": ports,
        "spine_ports": ports,
        "more": more,
        "up": min(8 // hosts, int(str(given["up"]))),
    }
    fit, found = [], {}
    for leaf in (n for n in range(1, hosts + 1) if hosts % n == 0):
        for spine in range(1, leaf * int(str(given["up"])) + 1):
            result, figures = compiled(folder, given, leaf, spine, select=())
            if not any(d.code.startswith("E045") for d in result.findings):
                fit.append((leaf, spine))
            if figures is not None:
                found[leaf, spine] = figures
    for top in ("", "minimize power"):
        result, answer = compiled(folder, given, "?", "?", top, select=())
        assert (answer is None) == (not found), [d.message for d in result.findings]
        fabric = result.designs[0].fabric
        if found:
            assert answer == found[min(found, key=lambda at: (found[at]["power"], at) if top else at)]
        elif fit and not top:
            assert fabric is not None
            assert tuple(s.count // int(str(given["planes"])) for s in fabric.sets if s.kind == "switch") == min(fit)


PODS = f"{TEXTS['PODS']}\n"


@pytest.mark.parametrize(
    ("more", "spines"),
    [
        ("", 4),  # 16 * 16 links, 64 a spine
        ("require survives any 1 of spine with bisection >= 80%", 8),  # 1 of 4 takes a quarter, of 8 an eighth
        ("require survives any 1 of spine with bisection >= 90%", 16),
        ("require survives any 2 of spine with bisection >= 75%", 8),
        ("minimize power; require survives any 2 of spine with bisection >= 80%", 16),
        ("require node_redundancy >= 5", 8),
        ("report bisection >= 200%", 4),  # a report asks for nothing
        ("require bisection >= 200%", 4),  # and no number helps
        ("require switches >= 21; require bisection >= 200%", 8),  # what is counted holds all the same
        ("require bisection >= 100%; require cost <= $1", 4),  # no number makes a metric available
    ],
)
def test_spines_that_may_fail(more: str, spines: int, tmp_path: Path) -> None:
    """By hand: the links of a pod are 128, and those of a spine that fails are lost. The text with the number in it is judged
    alike, and its expansion has it."""
    text = PODS.format(more=more)
    result = compile_text(text, tmp_path, models=False)
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.sets[-1].count == spines
    plain = compile_text(text.replace("?", str(spines)).replace("minimize power; ", ""), tmp_path, models=False)
    assert [(r.check, r.status, r.text) for r in result.designs[0].results] == [
        (r.check, r.status, r.text) for r in plain.designs[0].results
    ]
    expanded, _ = compiler.expand_intent(str(tmp_path / "design.fab"))
    assert expanded is not None and f"switch spine[{spines}]: S" in expanded


def test_the_note_says_what_is_lost_with_fewer(tmp_path: Path) -> None:
    """The last number refused, and the cut; with no number the limits of the search; with too little work what was not judged."""
    more = "require survives any 1 of spine with bisection >= 90%"
    note = compile_text(PODS.format(more=more), tmp_path, models=False).findings[0]
    assert "8: `survives any 1 of spine with bisection >= 90%` does not hold" in note.notes[-1] and "112 of 128" in note.notes[-1]
    none = compile_text(PODS.format(more="require bisection >= 200%"), tmp_path, models=False).findings
    assert [d.code for d in none] == ["E0461", "E0408"]
    assert "requirements are not met" in none[0].message and "`bisection >= 200%` does not hold: 100%" in none[0].notes[0]


SURVIVES = f"{TEXTS['SURVIVES']}\n"


@pytest.mark.parametrize(
    ("top", "what", "sizes"),
    [
        ("", "spine", [16, 2, 2]),  # leaves of 8 hosts and 8 up
        ("minimize cost", "spine", [16, 2, 2]),
        ("", "leaf", [16, 2, 1]),  # the hosts of the other leaf are left
        ("", "spine with bisection >= 80%", [16, 2, 8]),  # of 8 up one is lost, where 4 spines lose two
        ("minimize cost", "spine with bisection >= 80%", [16, 4, 2]),  # $100, not $260: leaves of 4 hosts keep 4 up
    ],
)
def test_what_may_fail_sizes_two_tiers(top: str, what: str, sizes: list[int], tmp_path: Path) -> None:
    result = compile_text(SURVIVES.format(top=top, what=what), tmp_path, models=False)
    fabric = result.designs[0].fabric
    assert fabric is not None and [s.count for s in fabric.sets] == sizes
    assert not [d for d in result.findings if d.severity is Severity.ERROR]


def test_what_cannot_be_judged_gives_way_too(tmp_path: Path) -> None:
    """Without its one switch no host is left to ask about; two leave half of them."""
    body = "switch y: S\nswitch x[?]: S\nhost h[4]: N\nconnect x[*] to y spread x 1\nconnect h[*].nic[(0)] to x[*] spread x 1\n"
    result = compile_text(f"fabric f {{\n{body}require survives any 1 of x\n}}{MODELS}", tmp_path, models=False)
    fabric = result.designs[0].fabric
    assert fabric is not None and [s.count for s in fabric.sets] == [1, 2, 4]
    assert [d.code for d in result.findings] == ["E0461"] and "cannot be judged" in result.findings[0].notes[-1]


MODELS = f"\n{TEXTS['MODELS']}\n"
OTHERS = sections(Path(__file__).parent / "beside.txt")


@pytest.mark.parametrize("name", OTHERS)
def test_beside_other_connects(name: str, tmp_path: Path) -> None:
    """Right, as by hand, or refused with the reason."""
    body, _, sizes = OTHERS[name].partition("\n->")
    result = compile_text(f"fabric f {{\n{body}\n}}{MODELS}", tmp_path, select=COUNTS, models=False)
    wrong = [d for d in result.findings if d.severity is Severity.ERROR]
    fabric = result.designs[0].fabric
    if not sizes:
        assert wrong
    else:
        assert fabric is not None and [s.count for s in fabric.sets] == [int(n) for n in sizes.split()] and not wrong


def test_a_requirement_that_nothing_meets_is_judged_with_the_first(tmp_path: Path) -> None:
    """The wiring has its least number, the requirement fails at its own line, and the note says that others were tried."""
    body = "host h[8]: N\nswitch x[?]: S\nconnect h[*].nic[(0)] to x[*] spread x 1\nrequire cables >= 9"
    found = compile_text(f"fabric f {{\n{body}\n}}{MODELS}", tmp_path, select=COUNTS, models=False).findings
    assert [(d.code, d.severity) for d in found] == [("E0461", Severity.NOTE), ("E0422", Severity.ERROR)]
    assert "up to 64, is enough: `cables >= 9`" in found[0].notes[0]
