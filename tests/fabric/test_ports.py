"""Who gets which port: the four rules, written ports, ranges, grids, copies, omitted devices, growth; all by loops."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness import compile_text, fabric_of, links_of, places


def test_written_ports_and_holes(tmp_path: Path) -> None:
    """An omitted host's ports stay reserved; only a port written in full may use them."""
    text = """fabric f {
      switch leaf: SW
      host box[3]: BOX
      connect box[b].nic[(0)] to leaf
      omit box[1]
      host late: BOX
      connect late.nic[(0)] to leaf
      host wanted: BOX
      connect wanted.nic[(0)] to leaf.p[2]
    }"""
    assert links_of(fabric_of(text, tmp_path)) == {
        ("box[0].nic[0]", "leaf.p[1]"),
        ("wanted.nic[0]", "leaf.p[2]"),
        ("box[2].nic[0]", "leaf.p[3]"),
        ("late.nic[0]", "leaf.p[4]"),
    }


@given(units=st.integers(1, 4), hosts=st.integers(1, 8), spines=st.sampled_from([1, 2, 4]))
@settings(max_examples=25)
def test_growth_keeps_what_stands(tmp_path_factory: pytest.TempPathFactory, units: int, hosts: int, spines: int) -> None:
    """Adding a unit at the end keeps every port, as long as links per pair do not change."""

    def text(n: int) -> str:
        return f"""fabric f {{
          group su[{n}] {{ host box[{hosts}]: BOX; switch leaf[2]: BIG; connect box[b].nic[i] to leaf[i] }}
          switch spine[{spines}]: BIG
          connect su[*].leaf[*] to spine[*] spread x {spines}
        }}"""

    folder = tmp_path_factory.mktemp("growth")
    assert links_of(fabric_of(text(units), folder)) < links_of(fabric_of(text(units + 1), folder))


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=15)
def test_no_port_twice_and_counts_by_hand(
    tmp_path_factory: pytest.TempPathFactory, units: int, hosts: int, leaves: int, copies: int
) -> None:
    text = f"""fabric f {{
      group su[{units}] {{
        host node[{hosts}]: NODE
        switch leaf[4]: BIG
        connect node[n].nic[r] to leaf[r]
      }}
      switch spine[{leaves}]: BIG
      connect su[*].leaf[*] to spine[*] each x {copies}
    }}"""
    result = compile_text(text, tmp_path_factory.mktemp("count"), verify=False)
    if 4 * units * copies > 64:
        assert [d.code for d in result.findings] == ["E0452"]
        return
    f = result.designs[0].fabric
    assert f is not None and f.link_count == units * hosts * 4 + units * 4 * leaves * copies
    ports = [*f.link_a.tolist(), *f.link_b.tolist()]
    assert len(ports) == len(set(ports))


def test_a_refused_statement_takes_no_ports(tmp_path: Path) -> None:
    text = """fabric f {
      switch a[2]: SW
      switch b: SW
      connect a[i].p[1] to b.p[i + 8]
      connect a[*] to b each
    }"""
    result = compile_text(text, tmp_path, verify=False)
    assert places(result.findings) == [("E0108", 4)]
    fabric = result.designs[0].fabric
    assert fabric is not None and not fabric.complete
    assert links_of(fabric) == {("a[0].p[1]", "b.p[1]"), ("a[1].p[1]", "b.p[2]")}


def test_copies_that_a_lock_leaves_stay_on_their_device(tmp_path: Path) -> None:
    """One link of the first copy and three of the second are left to four ports: none goes to the next device's."""
    text = """fabric f { switch a: SIX; switch z: SIX; switch b[3]: TWO; connect a to b[*] each x 2 }
model switch SIX { port p[1..6]: 400Gbps }
model switch TWO { port p[1..2]: 400Gbps }"""
    (tmp_path / "design.fab.lock").write_text("fabric f\na.p[1]  b[0].p[1]\na.p[2]  b[1].p[1]\n")
    assert links_of(fabric_of(text, tmp_path, models=False)) == {
        ("a.p[1]", "b[0].p[1]"), ("a.p[2]", "b[1].p[1]"), ("a.p[3]", "b[2].p[1]"),
        ("a.p[4]", "b[0].p[2]"), ("a.p[5]", "b[1].p[2]"), ("a.p[6]", "b[2].p[2]"),
    }  # fmt: skip


def links(shape: tuple[int, ...], copies: int, ports: int, wrap: bool) -> set[tuple[str, str]]:
    """Port 2d of copy 0 leads to the next member along dimension d, at whose port 2d + 1 the link ends; ports of copy c lie
    c x (ports // copies) above."""
    out = set()
    for at in product(*map(range, shape)):
        for d, size in enumerate(shape):
            to = (*at[:d], (at[d] + 1) % size, *at[d + 1 :])
            if size < 2 or (at[d] + 1 == size and not wrap):
                continue
            for c in range(copies):
                block = c * (ports // copies)
                ends = [(at, block + 2 * d), (to, block + 2 * d + 1)]
                a, b = sorted(ends) if at[d] + 1 == size else ends
                out.add((f"a{list(a[0])}.p[{a[1]}]", f"a{list(b[0])}.p[{b[1]}]"))
    return out


@pytest.mark.parametrize(
    ("shape", "copies", "ports", "wrap"),
    [
        ((3,), 1, 2, True),
        ((4,), 2, 4, True),  # exactly as many as two copies need
        ((4,), 2, 7, True),
        ((3,), 3, 11, True),
        ((3,), 2, 6, False),
        ((3, 4), 1, 4, True),
        ((4, 3), 2, 9, True),
        ((2, 3), 1, 4, False),
        ((3, 1, 4), 1, 6, True),  # ports of a dimension of one member stay free
        ((3, 3, 3), 2, 12, True),
    ],
)
def test_directions_have_their_own_ports(shape: tuple[int, ...], copies: int, ports: int, wrap: bool, tmp_path: Path) -> None:
    size, word = "x".join(map(str, shape)), "torus" if wrap else "mesh"
    text = f"fabric f {{ switch a[{size}]: P; connect a[*] {word} x {copies} }}\nmodel switch P {{ port p[{ports}]: 400Gbps }}\n"
    found = links_of(fabric_of(text, tmp_path))
    assert {frozenset(x) for x in found} == {frozenset(x) for x in links(shape, copies, ports, wrap)}
    assert len(found) == copies * sum(prod(shape) // n * (n - 1 + wrap) for n in shape if n > 1)
