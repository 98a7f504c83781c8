"""Topologies and the statements that one would write in their place: the same links, with the same classes, media and rates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tests.harness import fabric_of, links_of, sections

Link = tuple[str, str, int, str, str]


def links(fabric: Fabric) -> list[Link]:
    """Ports of each link, its rate, class and medium, in the order of the fabric."""
    columns = zip(
        fabric.link_a, fabric.link_b, fabric.link_rate.tolist(), fabric.link_class, fabric.link_medium, strict=True
    )  # fmt: skip
    return sorted((fabric.port_path(int(a)), fabric.port_path(int(b)), int(r), str(c), str(m)) for a, b, r, c, m in columns)


CASES = sections(Path(__file__).parent / "topologies.txt")
"""Each the formals and body of a topology, the block that asks for it, and the statements in its place."""
MORE = """
model switch CUT { port p[1..4]: 400Gbps { split 2 }; port q[1..4]: 400Gbps { split 2 } }
model host ONE { port nic: 400Gbps }
model host GRID { port nic[2, 3]: 400Gbps }
"""


@pytest.mark.parametrize("name", CASES)
def test_the_same_links(name: str, tmp_path: Path) -> None:
    formals, body, block, plain = CASES[name].splitlines()
    topology = f"topology t({formals}) {{\n  {body}\n}}\n"
    unfolded = fabric_of(f"fabric f {{\n  {block}\n}}\n{topology}{MORE}", tmp_path)
    written = fabric_of(f"fabric f {{\n  {plain}\n}}\n{MORE}", tmp_path)
    assert links(unfolded) == links(written) != []
    assert sorted((s.path, s.count, s.model.name, s.model.variant) for s in unfolded.sets) == sorted(
        (s.path, s.count, s.model.name, s.model.variant) for s in written.sets
    )


HEAD = "topology t(ends: ports, k: int = 2, xs: list = [1, 3], o: ratio = 3:2) {\n  switch s[4]: SW\n  "


BODIES: dict[str, Callable[[int, int], int | None]] = {
    "connect ends[h, n] to s[(h + 2*n) % 4]": lambda h, n: (h + 2 * n) % 4,
    "def d(x: int, y: int): int = x + y; connect ends[h, n] to s[d(h, k) % 4]": lambda h, n: (h + 2) % 4,
    "def d(x: int, y: int): int = x - y; connect ends[h, n] to s[d(2*h + 4, n - 1) % 4]": lambda h, n: (2 * h + 5 - n) % 4,
    "def d(x: int): int = sum([x for x in 0..2]) + x; connect ends[h, n] to s[d(h) % 4]": lambda h, n: (3 + h) % 4,
    "def d(x: int): int = sum([x for y in 0..2]) + x; connect ends[h, n] to s[d(h) % 4]": lambda h, n: 4 * h % 4,
    "def d(x: int): int = sum([x for x in [x, x + 1]]); connect ends[h, n] to s[d(h + n) % 4]": lambda h, n: (
        (2 * (h + n) + 1) % 4
    ),
    "connect ends[h, n] to s[sum([i * h for i in xs]) % 4]": lambda h, n: 4 * h % 4,
    "connect ends[h, n] to s[sum([i * h + k for i in 0..n]) % 4]": lambda h, n: sum(i * h + 2 for i in range(n + 1)) % 4,
    "connect ends[h, n] to s[xs[n]]": lambda h, n: (1, 3)[n],
    "connect ends[h, n] to s[k if 2*h > o else n]": lambda h, n: 2 if 2 * h > 1.5 else n,
    "let j = k + 1; connect ends[h, n] to s[h*j % 4] where h + n < 4": lambda h, n: 3 * h % 4 if h + n < 4 else None,
    "for i in xs { connect ends[h, n] to s[i] where n == i//2 and h != i }": lambda h, n: (1, 3)[n] if h != (1, 3)[n] else None,
    "for i in 0..1 { connect ends[h, n] to s[h] where n == i and h >= i }": lambda h, n: h if h >= n else None,
    "if k > 1 { connect ends[h, n] to s[n + 1] } else { connect ends[h, n] to s[3] }": lambda h, n: n + 1,
    "if k > 2 { connect ends[h, n] to s[n + 1] } else { connect ends[h, n] to s[3] }": lambda h, n: 3,
}


def switch_of_ports(text: str, folder: Path) -> dict[str, str]:
    """Port of a host -> its switch."""
    pairs = [sorted(pair, key=lambda path: not path.startswith("host")) for pair in links_of(fabric_of(text, folder))]
    return {host: switch.rpartition(".")[0] for host, switch in pairs}


@pytest.mark.parametrize("body", BODIES)
def test_the_switch_of_each_port(body: str, tmp_path: Path) -> None:
    """Four hosts of two ports."""
    found = switch_of_ports(f"{HEAD}{body}\n}}\nfabric f {{\n  hosts 4 x BOX\n  t\n}}\n", tmp_path)
    every = {f"host[{h}].nic[{n}]": BODIES[body](h, n) for h in range(4) for n in range(2)}
    assert found == {port: f"s[{s}]" for port, s in every.items() if s is not None}


@pytest.mark.parametrize("ends", ["ends[h]", "ends[h, n]"])
def test_a_topology_is_built_once_in_each_plane(ends: str, tmp_path: Path) -> None:
    """Port n of every host is of plane n; switches that are joined are of one plane."""
    text = f"{HEAD}connect {ends} to s[(h + 1) % 4]\n  connect s[i] to s[j] where j == i + 1\n}}\n"
    text += "fabric f {\n  hosts 4 x BOX\n  planes 2\n  t\n}\n"
    fabric = fabric_of(text, tmp_path)
    pairs = {frozenset(path.rpartition(".")[0] if "s[" in path else path for path in pair) for pair in links_of(fabric)}
    up = {frozenset((f"host[{h}].nic[{n}]", f"plane[{n}].s[{(h + 1) % 4}]")) for h in range(4) for n in range(2)}
    across = {frozenset((f"plane[{n}].s[{i}]", f"plane[{n}].s[{i + 1}]")) for n in range(2) for i in range(3)}
    assert pairs == up | across
    assert len(links_of(fabric)) == 8 + 6
