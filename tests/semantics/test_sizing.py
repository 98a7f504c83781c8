"""Sizes of tiers against a search by plain arithmetic: the fewest spines that take the links of all leaves evenly."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from tests.harness import compile_text, sampled, sections

TEXTS = sections(Path(__file__).parent / "sizing.txt")
TEXT = f"{TEXTS['TEXT']}\n"


def connected(leaves: int, up: int, spines: int) -> bool:
    """Whether link e of leaf i to spine (i * up + e) % spines joins all switches."""
    graph = nx.Graph((("leaf", i), ("spine", (i * up + e) % spines)) for i in range(leaves) for e in range(up))
    graph.add_nodes_from(("spine", s) for s in range(spines))
    return nx.is_connected(graph)


def sizes(hosts: int, per: int, ends: int, low: int, high: int, ratio: str, uneven: str = "") -> tuple[int, int, int] | None:
    """Leaves, links up of each, and the fewest spines; None where there are none."""
    down, leaves = per * ends, hosts // per
    mode, _, number = ratio.rpartition(" ")
    a, b = map(int, number.split(":"))
    exact = Fraction(down * b, a)
    if not mode and exact.denominator > 1:
        return None
    up = -(-exact.numerator // exact.denominator)
    if hosts % per or down + up > low:
        return None
    for spines in range(1, leaves * up + 1):
        even = up % spines == 0 or (up < spines and leaves * up % spines == 0)
        if (even or uneven) and leaves * up <= spines * high and connected(leaves, up, spines):
            return leaves, up, spines
    return None


@pytest.mark.parametrize("seed", sampled(range(5), 2))
def test_the_fewest_spines(seed: int, tmp_path: Path) -> None:
    """What is built has these sizes; where no sizes are, that is an error."""
    chance, built = Random(seed), 0
    for _ in range(12):
        per, leaves = chance.randint(1, 6), chance.randint(2, 6)
        given = {
            "hosts": per * leaves, "per": per, "ends": chance.choice([1, 2, 4]), "low": chance.choice([8, 12, 16, 24]),
            "high": chance.choice([4, 8, 16]), "ratio": chance.choice(["1:1", "2:1", "3:2", "at most 2:1", "at most 3:1"]),
            "uneven": chance.choice(["", "; uneven"]),
        }  # fmt: skip
        expected = sizes(**given)
        result = compile_text(TEXT.format(**given), tmp_path, verify=False, models=False)
        wrong = [d.code for d in result.findings if d.severity.word == "error"]
        fabric = result.designs[0].fabric
        if expected is None:
            assert wrong, given
            continue
        if expected[2] > expected[1] and wrong == ["E0464"]:  # two leaves share few spines: the design must say so
            continue
        assert wrong == [] and fabric is not None, (given, expected, [d.message for d in result.findings])
        counts = {s.name: s.count for s in fabric.sets}
        links = sum(fabric.kind[d] == "switch" for d in fabric.device_a.tolist())
        assert (counts["leaf"], links // counts["leaf"], counts["spine"]) == expected, given
        built += 1
    assert built
