"""Ports of connects whose ends name some: one port, a range, several sets with a range each, and both ends of one set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text, links_of

MODELS = """
model switch M { port p[1..24]: 400Gbps }
"""
SETS = "switch a[3]: M; switch b[3]: M; switch d[4]: M"


def port(name: str, at: int, number: int) -> str:
    return f"{name}[{at}].p[{number}]"


CONNECTS = {
    "connect a[i].p[2*j + i + 1] to d[j]": {
        (port("a", i, 2 * j + i + 1), port("d", j, i + 1)) for i in range(3) for j in range(4)
    },
    "connect a[i] to d[j].p[5*i + j + 2]": {
        (port("a", i, j + 1), port("d", j, 5 * i + j + 2)) for i in range(3) for j in range(4)
    },
    "connect a[i].p[i + j + 1] to d[j].p[7*i + 3]": {
        (port("a", i, i + j + 1), port("d", j, 7 * i + 3)) for i in range(3) for j in range(4)
    },
    "connect a[1].p[4*j + 1..4*j + 4] to d[j] x 2": {
        (port("a", 1, 4 * j + 1 + 2 * c), port("d", j, 1 + 12 * c)) for j in range(4) for c in range(2)
    },
    "connect a[1].p[5*j + 1..5*j + 3] to d[j] x 2": {
        (port("a", 1, 5 * j + 1 + c), port("d", j, 1 + 12 * c)) for j in range(4) for c in range(2)
    },
    "connect a[1].p[5*j + 2..5*j + 3] to d[j].p[4..5] where j != 1": {
        (port("a", 1, 5 * j + 2), port("d", j, 4)) for j in (0, 2, 3)
    },
    "connect d[j] to a[1].p[4*j + 1..4*j + 4] x 2": {
        (port("a", 1, 4 * j + 1 + 2 * c), port("d", j, 1 + 12 * c)) for j in range(4) for c in range(2)
    },
    "connect a[i].p[6*i + 1..6*i + 6] to d[*].p[20..23] each": {
        (port("a", i, 6 * i + j + 1), port("d", j, 20 + i)) for i in range(3) for j in range(4)
    },
    "connect a[0].p[5..8], b[1..2].p[9..12] to d[*] each": {
        *((port("a", 0, 5 + j), port("d", j, 1)) for j in range(4)),
        *((port("b", k, 9 + j), port("d", j, 1 + k)) for k in (1, 2) for j in range(4)),
    },
    "connect d[*] to a[0].p[5..8], b[1..2].p[9..12] each": {
        *((port("a", 0, 5 + j), port("d", j, 1)) for j in range(4)),
        *((port("b", k, 9 + j), port("d", j, 1 + k)) for k in (1, 2) for j in range(4)),
    },
    "connect a[0..1].p[1..8], b[2].p[9..16] to d[*] spread": {
        *((port("a", i, 1 + 4 * c + j), port("d", j, 1 + i + 12 * c)) for i in range(2) for c in range(2) for j in range(4)),
        *((port("b", 2, 9 + 4 * c + j), port("d", j, 3 + 12 * c)) for c in range(2) for j in range(4)),
    },
    "connect a[i].p[j + 1] to a[j].p[i + 10] where i != j": {
        (port("a", i, j + 1), port("a", j, i + 10)) for i in range(3) for j in range(3) if i != j
    },
    "connect d[*].p[5..8] torus": {
        (port("d", 0, 5), port("d", 1, 5)), (port("d", 1, 6), port("d", 2, 5)), (port("d", 2, 6), port("d", 3, 6)),
        (port("d", 0, 6), port("d", 3, 5)),
    },
    "connect a[*].p, b[0].p torus": {
        (port("a", 0, 1), port("a", 1, 1)), (port("a", 1, 2), port("a", 2, 1)), (port("a", 2, 2), port("b", 0, 2)),
        (port("a", 0, 2), port("b", 0, 1)),
    },
    "connect d[*] torus": {
        (port("d", 0, 1), port("d", 1, 2)), (port("d", 1, 1), port("d", 2, 2)), (port("d", 2, 1), port("d", 3, 2)),
        (port("d", 0, 2), port("d", 3, 1)),
    },
    "connect d[*] mesh x 2": {(port("d", i, 1 + 12 * c), port("d", i + 1, 2 + 12 * c)) for i in range(3) for c in range(2)},
}  # fmt: skip


@pytest.mark.parametrize("connect", CONNECTS)
def test_ports_that_ends_name(connect: str, tmp_path: Path) -> None:
    """A link has the port that its end names, or the lowest of those among which it may choose."""
    text = f"fabric f {{ {SETS}; {connect} }}{MODELS}".replace("; ", "\n")
    result = compile_text(text, tmp_path, verify=False, models=False)
    assert [d.message for d in result.findings if d.severity.word == "error" and d.code != "E0404"] == []
    fabric = result.designs[0].fabric
    assert fabric is not None
    found = links_of(fabric)
    assert {frozenset(x) for x in found} == {frozenset(x) for x in CONNECTS[connect]}
    assert len(found) == len(CONNECTS[connect])


REFUSED = {
    "connect a[i].p[j + 1] to a[j] where i != j": ("E0455",
        "a[0] and a[1] are joined twice: once from each end (as are 2 more pairs)"),
    "connect a[i] to a[j].p[i + 10] where i != j": ("E0455",
        "a[0] and a[1] are joined twice: once from each end (as are 2 more pairs)"),
    "connect a[i] to a[j] where i != j and i + j == 3": ("E0455", "a[1] and a[2] are joined twice: once from each end"),
    "connect d[i] to d[j] where i != j and i + j == 3": (
        "E0455", "d[0] and d[3] are joined twice: once from each end (as are 1 more pairs)"),
    "connect a[i], b[i] to b[j], a[j] where i != j": ("E0453",
        "this means 2 devices at once, and no pattern says how they are joined"),
    "connect d[i].p[i + 1] to d[j].p[j + 5] where i == 2 and j == 2": ("E0456", "this joins d[2] to itself"),
    "connect a[i] to a[j] where i >= j": ("E0456", "this joins a[0] to itself (and 2 more)"),
    "connect a[0..1].p[1..8], b[2].p[9..17] to d[*] spread": ("E0454",
        "a[0] has 8 free ports and b[2] has 9, so their links cannot be distributed evenly"),
    "connect a[0].p[9..20], b[0..1].p[9..19], a[1].p[1..11] to d[*] spread": ("E0454",
        "a[1] has 11 free ports and a[0] has 12, so their links cannot be distributed evenly"),
    "connect a[0..0] to d[*] spread x 24\nconnect a[0] to d[*] spread": ("E0452", "a[0] has no free port left to spread"),
}  # fmt: skip


@pytest.mark.parametrize("connect", REFUSED)
def test_refused_ends(connect: str, tmp_path: Path) -> None:
    text = f"fabric f {{ {SETS}; {connect} }}{MODELS}".replace("; ", "\n")
    found = compile_text(text, tmp_path, verify=False, models=False).findings
    assert [(d.code, d.message) for d in found if d.code != "E0404"] == [REFUSED[connect]]


def test_two_sets_joined_both_ways(tmp_path: Path) -> None:
    """Links from a to b and from b to a are of two connects, and nobody takes them for one from each end."""
    text = f"fabric f {{ {SETS}; connect a[i] to b[i]; connect b[i] to a[i] }}{MODELS}".replace("; ", "\n")
    result = compile_text(text, tmp_path, verify=False, models=False)
    fabric = result.designs[0].fabric
    assert fabric is not None
    assert links_of(fabric) == {(port("a", i, c), port("b", i, c)) for i in range(3) for c in (1, 2)}
