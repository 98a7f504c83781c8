"""Throughput by the second opinion: against the check, which linear programs judge, and by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tdsl.verify.second import graph_figures, patterns
from tdsl.verify.second.answer import Limits, NoOpinion, SecondAnswer
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import Builder, claim, random_fabric, selector, torus
from tests.prove.test_by_rail import PATTERNS, asked_of, claimed, ends_of, made
from tests.verify.second.made import RATE, leaves, star

LIMITS = Limits()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_random_networks(pattern: str, tmp_path: Path) -> None:
    """Of rails with links that are missing, and of hosts with links to any switch; by scale-out alone and through scale-up."""
    compared = 0
    for seed in range(16):
        f = made(seed) if seed % 2 else random_fabric(seed, 4, 4, 2, 7).build()
        count = len(ends_of(f))
        args, _ = asked_of(pattern, count, seed, tmp_path)
        for through in ("", "scaleup") if seed % 2 else ("",):
            asked = claimed(f, *args, folder=tmp_path, through=through)
            judged = checks_by_name()["throughput"].judge(View.whole(f), asked)
            try:
                found = patterns.pattern_throughput_by_highs(WiringGraph.whole(f), asked, LIMITS)
            except NoOpinion:
                continue
            assert found.lower == found.upper and found.by == "HiGHS"
            if judged.status == "skipped":
                assert found.lower == 0, (seed, judged)
                continue
            assert float(judged.lower) - 1e-6 <= found.lower <= float(judged.upper) + 1e-6, (seed, through)  # type: ignore[arg-type]
            compared += 1
    assert compared > 6


def sent(fabric: Fabric, *args: object, **more: Any) -> SecondAnswer:
    """The second figure of a throughput."""
    asked = claim(fabric, "throughput", args=args, report=True, **more)
    return patterns.pattern_throughput_by_highs(WiringGraph.whole(fabric), asked, LIMITS)


@pytest.mark.parametrize(
    ("text", "share", "full"),
    [
        # Both flows cross the trunk: half of 2 x 400G.
        ("from,to,amount\n0,2,1\n1,3,1\n", 0.5, 2 * RATE),
        # Names and paths are the same as numbers, comments and blank lines are left out.
        ("# demands\nFrom, To, Amount\nnode0,node[2],1\n\n 1 , 3 , 1\n", 0.5, 2 * RATE),
        # A pair that is given twice is added up; host 0 sends 2, so 400G is 2 units: 1 + 0.5 times 400G over the trunk.
        ("from,to,amount\n0,2,1\n1,3,1\n0,2,1\n", 2 / 3, RATE * Fraction(3, 2)),
        # Host 0 sends 3 + 1 within its leaf and to host 2: 400G is 4 units, the trunk has 1 of them.
        ("from,to,amount\n0,1,3\n0,2,1\n", 1.0, RATE),
        # What a host sends to itself and amounts of 0 do not count.
        ("from,to,amount\n0,0,9\n0,1,0.25\n1,2,0\n", 1.0, RATE),
        # A matrix: 0 to 2 and 1 to 3, 2 units each; host 2 gets no more than the trunk has.
        ("0,0,2,0\n0,0,0,2\n0,0,0,0\n0,0,0,0\n", 0.5, 2 * RATE),
        ("0,1,0,0\n0,0,0,0\n0,0,0,0.5\n0,0,0,0\n", 1.0, RATE * Fraction(3, 2)),
    ],
)
def test_demands_of_a_file(tmp_path: Path, text: str, share: float, full: Fraction) -> None:
    (tmp_path / "demands.csv").write_text(text, encoding="utf-8")
    found = sent(leaves(file=str(tmp_path / "made.fab")).build(), "demands.csv")
    assert float(found.lower) == pytest.approx(share, abs=1e-9)
    assert found.full_bps == full


NOT_READ = "demands.csv is not read a second time"
UNFIT = "the pattern says nothing about this fabric"
NOBODY = "nobody sends to anybody else"
APART = "rates or demands are too far apart for the floats of HiGHS"


def test_what_has_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "demands.csv"
    four = leaves(file=str(tmp_path / "made.fab"))
    files = (
        ("", "demands.csv cannot be read"),
        ("from,to,amount\n0,7,1\n", NOT_READ),
        ("from,to,amount\n0,1,much\n", NOT_READ),
        ("0,1,1,1\n1,0,1,1\n1,1,0,1\n", NOT_READ),
        ("0,1,1\n1,0,1\n1,1,0\n1,1,1\n", NOT_READ),
        ("from,to,amount\n2,2,1\n", NOBODY),
        ("from,to,amount\n0,2,0\n", NOBODY),
    )
    words: tuple[tuple[Builder, tuple[object, ...], str], ...] = (
        (star(RATE), ("all_to_all",), "there are fewer than two units"),
        (star(RATE, RATE, 0), ("all_to_all",), "a unit that sends or receives has no link"),
        (star(RATE, RATE), ("shift", 2), UNFIT),
        (star(RATE, RATE), ("shift", 0), UNFIT),
        (star(RATE, RATE), ("shift", Fraction(1, 2)), UNFIT),
        (torus(3), ("rail_allreduce",), UNFIT),
        (star(10**12, 10**12, 10**6 - 1), ("ring",), APART),
    )
    for text, why in files:
        if text:
            path.write_text(text, encoding="utf-8")
        with pytest.raises(NoOpinion, match=rf"^{why}$"):
            sent(four.build(), "demands.csv")
    for made_, args, why in words:
        with pytest.raises(NoOpinion, match=rf"^{why}$"):
            sent(made_.build(), *args)


def between(fabric: Fabric, *sets: list[int]) -> SecondAnswer:
    """The second figure between two sets of hosts."""
    node = selector(fabric, "node")
    one, two = (type(node)(f"node[{x[0]}..{x[-1]}]", node.kind, tuple(node.elements[i] for i in x)) for x in sets)
    asked = claim(fabric, "throughput", of=(one,), of_to=(two,), report=True)
    return graph_figures.throughput_between_by_networkx(WiringGraph.whole(fabric), asked, LIMITS)


def test_throughput_between_two_sets() -> None:
    """Two hosts send over trunks of 400G; 100% is what the ports of the smaller set carry."""
    for trunk, share in ((1, Fraction(1, 2)), (2, Fraction(1)), (3, Fraction(1))):
        found = between(leaves(trunk=trunk).build(), [0, 1], [2, 3])
        assert (found.lower, found.upper, found.full_bps) == (share, share, Fraction(2 * RATE))
    with pytest.raises(NoOpinion, match=r"^one set is empty, or they have a device in common$"):
        between(leaves().build(), [0, 1], [0, 1])
    with pytest.raises(NoOpinion, match=r"^one of the two has no link$"):
        between(star(RATE, 0).build(), [0], [1])
