"""Circuits over drawn cables: which optical switch, which ports, and how two switches share what neither has room for."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.harness import compile_text

MODELS = """
model switch B { port p[6]: 400Gbps; port q[4]: 200Gbps }
model ocs O { port o[1..24]: any }
model panel PLATE { port front[8]: any; port back[8]: any }
"""
Cable = tuple[str, str]
"""Port of a device, port of an optical switch."""


def drawn(text: str, folder: Path) -> dict[str, dict[str, list[Cable]]]:
    """Of each device and optical switch the cables between them, in the order of their ports."""
    f = compile_text(f"fabric f {{\n{text}\n}}{MODELS}", folder, verify=False, models=False).designs[0].fabric
    assert f is not None
    found: dict[str, dict[str, list[Cable]]] = defaultdict(lambda: defaultdict(list))
    for a, b in sorted((min(x), max(x)) for x in zip(f.cable_a.tolist(), f.cable_b.tolist(), strict=True)):
        device, ocs = (f.device_path(int(f.port_device[p])) for p in (a, b))
        if ocs.startswith("o"):
            found[device][ocs].append((f.port_path(a), f.port_path(b)))
    return found


def chosen(cables: dict[str, dict[str, list[Cable]]], asked: list[tuple[str, str]]) -> set[frozenset[tuple[str, str]]]:
    """Circuits one by one, by device and then as asked: each in the switch with the fewest so far, then the lowest. In each
    switch they take the lowest cables in the order in which they are asked for. Taken cables are removed."""
    where: dict[str, list[int]] = defaultdict(list)
    used: Counter[tuple[str, str]] = Counter()
    for i in sorted(range(len(asked)), key=lambda i: (*asked[i], i)):
        a, b = asked[i]
        able = [o for o in cables[a] if all(len(cables[d][o]) > used[d, o] for d in (a, b))]
        ocs = min(able, key=lambda o: (len(where[o]), o))
        where[ocs].append(i)
        used[a, ocs] += 1
        used[b, ocs] += 1
    out = set()
    for ocs, rows in where.items():
        for i in sorted(rows):
            out.add(frozenset(cables[d][ocs].pop(0) for d in asked[i]))
    return out


CASES = [
    ("connect b[*] to o[*] each x 2", ["circuit b[*] each"], [[(i, j) for i in range(4) for j in range(i + 1, 4)]]),
    ("connect o[*] to b[*] each x 2", ["circuit b[*] ring"], [[(0, 1), (1, 2), (2, 3), (3, 0)]]),
    ("connect b[*].q to o[*] each\nconnect b[*].p to o[0..1] each", ["circuit b[i] to b[i + 1] x (i + 1) where i < 3"],
     [[(i, i + 1) for i in range(3) for _ in range(i + 1)]]),
    ("connect b[*] to o[*] each x 2", ["circuit b[0] to b[3]", "circuit b[1..2] each x 2", "circuit b[0] to b[2]"],
     [[(0, 3)], [(1, 2), (1, 2)], [(0, 2)]]),
    ("connect b[2..3] to o[1..2] each x 2\nconnect b[0..1] to o[*] each\nconnect b[*] to m each",
     ["circuit b[0..1] to b[2..3] each"], [[(0, 2), (0, 3), (1, 2), (1, 3)]]),
    ("connect b[*] to o[1] each x 6", ["circuit b[*] spread"],
     [[(i, j) for _ in (0, 1) for i in range(4) for j in range(i + 1, 4)]]),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(CASES)))
def test_circuits_one_by_one(row: int, tmp_path: Path) -> None:
    connects, statements, asked = CASES[row]
    text = f"switch b[4]: B; ocs o[3]: O; panel m: PLATE\n{connects}\n"
    cables = drawn(text, tmp_path)
    result = compile_text(f"fabric f {{\n{text}{chr(10).join(statements)}\n}}{MODELS}", tmp_path, verify=False, models=False)
    f = result.designs[0].fabric
    assert f is not None and [d.message for d in result.findings if d.severity.word == "error" and d.code != "E0404"] == []
    columns = (f.link_a, f.link_via_a, f.link_b, f.link_via_b)
    found = {frozenset(((a, x), (b, y))) for a, x, b, y in zip(*([f.port_path(int(p)) for p in c] for c in columns), strict=True)}
    expected = set[frozenset[Cable]]()
    for pairs in asked:
        expected |= chosen(cables, [(f"b[{i}]", f"b[{j}]") for i, j in pairs])
    assert found == expected and len(found) == sum(map(len, asked))
