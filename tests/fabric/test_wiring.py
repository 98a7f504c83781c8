"""Links of connects, written as loops: which devices, which copy, and by the rules which port of each."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from tests.harness import compile_text, fabric_of, links_of

Link = tuple[tuple[str, int], tuple[str, int], int]
"""Device, device, and the copy of the link. A device is its set and its index, in the order of declaration."""

MODELS = """
model switch M { port p[1..24]: 400Gbps }
model panel PLATE { port front[8]: any; port back[8]: any }
"""


def all_pairs(a: str, n: int, b: str, m: int, copies: int = 1) -> list[Link]:
    return [((a, i), (b, j), c) for c in range(copies) for i in range(n) for j in range(m)]


def numbered(text: str, links: list[Link], low: int = 1, high: int = 24) -> tuple[str, list[Link], int, int]:
    """A connect, its links, and the range of ports that they may take."""
    return text, links, low, high


CONNECTS = [
    numbered("connect a0[*] to b0[*] each", all_pairs("a0", 3, "b0", 4)),
    numbered("connect a1[*] to b1[*] each x 3", all_pairs("a1", 3, "b1", 4, 3)),
    numbered("connect a2[*] each", [(("a2", i), ("a2", j), 0) for i in range(3) for j in range(i + 1, 3)]),
    numbered("connect b3[*] each x 2", [(("b3", i), ("b3", j), c) for i in range(4) for j in range(i + 1, 4) for c in range(2)]),
    numbered("connect a4[*] to d4[*] pairs", [(("a4", i), ("d4", i), 0) for i in range(3)]),
    numbered("connect a5[*] to d5[*] pairs shift 1", [(("a5", i), ("d5", (i + 1) % 3), 0) for i in range(3)]),
    numbered("connect a6[*] to d6[*] pairs shift -1 x 2",
        [(("a6", i), ("d6", (i + 2) % 3), c) for i in range(3) for c in (0, 1)]),
    numbered("connect b7[*] ring", [(("b7", i), ("b7", (i + 1) % 4), 0) for i in range(4)]),
    numbered("connect a8[*] ring x 2", [(("a8", i), ("a8", (i + 1) % 3), c) for i in range(3) for c in (0, 1)]),
    numbered("connect a9[0..1] ring", [(("a9", 0), ("a9", 1), 0), (("a9", 1), ("a9", 0), 1)]),
    numbered("connect b10[*] to a10[*] spread x 6", all_pairs("b10", 4, "a10", 3, 2)),
    numbered("connect a11[*] to b11[*] spread uneven x 6", all_pairs("a11", 3, "b11", 4)
        + [(("a11", i), ("b11", (2 * i + e) % 4), 1) for i in range(3) for e in range(2)]),
    numbered("connect a12[*] to b12[*] spread any x 2",
        [(("a12", i), ("b12", (2 * i + e) % 4), 0) for i in range(3) for e in (0, 1)]),
    numbered("connect b13[*] spread x 6",
        [(("b13", i), ("b13", j), c) for i in range(4) for j in range(i + 1, 4) for c in (0, 1)]),
    numbered("connect b14[*] spread uneven x 5", [(("b14", i), ("b14", j), 0) for i in range(4) for j in range(i + 1, 4)]
        + [(("b14", i), ("b14", (i + 1) % 4), 1) for i in range(4)]),
    numbered("connect a15[i] to d15[i] x (2*i)", [(("a15", i), ("d15", i), c) for i in range(3) for c in range(2 * i)]),
    numbered("connect a16[i] to b16[j] x (i + j + 1) where i < j",
        [(("a16", i), ("b16", j), c) for i in range(3) for j in range(i + 1, 4) for c in range(i + j + 1)]),
    numbered("connect a17[i] to a17[j] where i < j", [(("a17", i), ("a17", j), 0) for i in range(3) for j in range(i + 1, 3)]),
    numbered("connect a18[1], b18[2..3] to d18[*] each",
        [(x, ("d18", j), 0) for x in (("a18", 1), ("b18", 2), ("b18", 3)) for j in range(3)]),
    numbered("connect a19[i] to b19[*] each where i != 1", [(("a19", i), ("b19", j), 0) for i in (0, 2) for j in range(4)]),
    numbered("connect a20[*].p[5..12] to b20[*].p[5..12] each x 2", all_pairs("a20", 3, "b20", 4, 2), 5, 12),
    numbered("connect b21[0].p[2..24] to b21[1].p[2..24]", [(("b21", 0), ("b21", 1), 0)], 2, 24),
    numbered("connect b22[*].p[1..18] to d22[*] spread", all_pairs("b22", 4, "d22", 3, 6), 1, 18),
    numbered("connect b23[*].p[7..15] to d23[*].p[7..24] spread", all_pairs("b23", 4, "d23", 3, 3), 7, 15),
]  # fmt: skip


def with_ports(links: list[Link], low: int, high: int) -> set[tuple[str, str]]:
    """Each device gives its ends the lowest ports, copy by copy and in a copy by the device at the other end; each copy begins
    where an equal share of the ports does."""
    asked: dict[tuple[str, int], list[tuple[int, tuple[str, int], int, int]]] = defaultdict(list)
    for number, (a, b, copy) in enumerate(links):
        asked[a].append((copy, b, number, 0))
        asked[b].append((copy, a, number, 1))
    out = [["", ""] for _ in links]
    for (name, index), ends in asked.items():
        top = 24 if name.startswith("d") else high
        copies = sorted({e[0] for e in ends})
        start = low
        for place, copy in enumerate(copies):
            mine = sorted(e for e in ends if e[0] == copy)
            rest = sum(e[0] >= copy for e in ends)
            start = min(max(low + place * ((top - low + 1) // len(copies)), start), top + 1 - rest)
            for _, _, number, side in mine:
                out[number][side] = f"{name}[{index}].p[{start}]"
                start += 1
    return {(a, b) for a, b in out}


def sets_of(connect: str) -> str:
    """The sets that a connect names: a and d of three switches, b of four."""
    return "".join(f"switch {x}[{4 if x[0] == 'b' else 3}]: M\n" for x in sorted(set(re.findall(r"\b[abd]\d+", connect))))


def test_links_of_every_pattern(tmp_path: Path) -> None:
    text = "fabric f {\n" + "".join(sets_of(connect) + connect + "\n" for connect, *_ in CONNECTS) + "}" + MODELS
    result = compile_text(text, tmp_path, verify=False, models=False)
    assert [d.message for d in result.findings if d.severity.word == "error"] == []
    f = result.designs[0].fabric
    assert f is not None
    found = defaultdict(set)
    for link in links_of(f):
        found[int(link[0].partition("[")[0][1:])].add(frozenset(link))
    for number, (connect, links, low, high) in enumerate(CONNECTS):
        assert found[number] == {frozenset(x) for x in with_ports(links, low, high)}, connect
        assert len(found[number]) == len(links), connect
    assert set(f.link_via_a.tolist()) == set(f.link_via_b.tolist()) == {-1}


@pytest.mark.parametrize(
    "words", ["spread x 2", "spread uneven x 3", "spread any x 4", "each", "spread", "spread uneven", "spread any"]
)
def test_a_spread_without_a_number_goes_last(words: str, tmp_path: Path) -> None:
    """One that says how many ports it takes comes in its turn, whatever other words it has."""
    text = f"""fabric f {{
      switch a[2]: M; switch b[2]: M; switch z: M
      connect a[*].p[1..6] to b[*] {words}
      connect a[i].p[1..6] to z x 2
    }}{MODELS}"""
    found = links_of(fabric_of(text, tmp_path, models=False))
    lowest = {far: min(int(x.partition(".p[")[2][:-1]) for x, y in found if x.startswith("a[0]") and y[0] == far) for far in "bz"}
    late = words.startswith("spread") and "x" not in words.split()
    assert (lowest["z"] < lowest["b"]) == late and min(lowest.values()) == 1
    assert len(found) == 4 + {"each": 4, "spread x 2": 4, "spread uneven x 3": 6}.get(words, 8)


COUNTED = {
    "connect a[*] to b[*] each x 2": 24,
    "connect g[i].s[*] each x 2": 12,
    "connect g[i].s[*] to b[*] each": 24,
    "connect g[i].s[*] to a[*] pairs shift 1 x 2": 12,
    "connect g[i].s[*] ring x 2": 12,
    "connect a[0..1] ring x 3": 6,
    "connect m[*] mesh x 2": 34,
    "connect g[i].s[*] torus x 2": 12,
    "connect u[*] torus": 3,
    "connect b[*] random degree 3 seed 1 x 2": 12,
    "connect g[i].s[*] to b[*] spread x 4": 24,
    "connect g[i].s[*] spread x 4": 12,
    "connect b[*] spread": 48,
}
"""Links of each connect: of sets of three and four switches, two groups of three, and grids of several sizes."""


@pytest.mark.parametrize("connect", COUNTED)
def test_links_are_counted_to_the_limit(connect: str, tmp_path: Path) -> None:
    """At the limit they are made; beyond it the number is refused."""
    sets = "switch a[3]: M; switch b[4]: M; switch d[3]: M; "
    sets += "switch m[4, 3]: M; switch u[3, 1]: M; switch v[2, 3]: M; group g[2] { switch s[3]: M }"
    text = f"fabric f {{ {sets}\n{connect} }}{MODELS}"
    count = COUNTED[connect]

    def found(limit: int) -> list[str]:
        result = compile_text(text, tmp_path, verify=False, models=False, max_links=limit)
        return [d.message for d in result.findings if d.code not in ("E0404", "E0405", "E0402")]

    assert found(count) == []
    assert found(count - 1) == [f"with this the design has {count} links; the limit is {count - 1}"]


@pytest.mark.parametrize("seed", range(18))
def test_spreads_that_fall_apart(seed: int, tmp_path: Path) -> None:
    """Two spreads of one link each; further links join their parts or do not. A device that forwards joins all that it is
    connected to; a host that does not joins those only where they and it are of the spread."""
    chance = Random(seed)
    names = [f"g[{g}].{s}[{i}]" for g in range(2) for s in "ab" for i in range(2)] + [f"h[{i}]" for i in range(3)]
    more = sorted({tuple(sorted(chance.sample(range(len(names)), 2))) for _ in range(chance.randint(2, 7))})
    low, forwards = chance.choice(["host", "switch"]), chance.random() < 0.4
    said = " { forwards }" if forwards else ""
    text = f"""fabric f {{
      group g[2] {{ {low} a[2]: {low[0].upper()}; switch b[2]: M; connect a[*] to b[*] spread x 1 }}
      host h[3]: H{said}
      {chr(10).join(f"connect {names[x]} to {names[y]}" for x, y in more)}
    }}{MODELS}model host H {{ port p[8]: 400Gbps }}
    model switch S {{ port p[8]: 400Gbps }}"""
    own = [(4 * g + i, 4 * g + 2 + i) for g in range(2) for i in range(2)]
    stops = {x for x in range(len(names)) if (x > 7 and not forwards) or (low == "host" and x in (0, 1, 4, 5))}

    def meets(group: int) -> bool:
        mine = set(range(4 * group, 4 * group + 4))
        graph = nx.Graph((x, y) for x, y in [*own, *more] if not {x, y} & stops or {x, y} <= mine)
        graph.add_nodes_from(mine)
        return all(nx.has_path(graph, min(mine), x) for x in mine)

    found = compile_text(text, tmp_path, verify=False, models=False).findings
    codes = {d.code for d in found if d.severity.word == "error" and d.code != "E0404"}
    assert codes == (set() if all(map(meets, range(2))) else {"E0458"}), [d.message for d in found]
