"""Topologies and the statements that one would write in their place: the same links, with the same classes, media and rates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tests.harness import fabric_of, links_of

Link = tuple[str, str, int, str, str]


def links(fabric: Fabric) -> list[Link]:
    """Ports of each link, its rate, class and medium, in the order of the fabric."""
    columns = zip(
        fabric.link_a, fabric.link_b, fabric.link_rate.tolist(), fabric.link_class, fabric.link_medium, strict=True
    )  # fmt: skip
    return sorted((fabric.port_path(int(a)), fabric.port_path(int(b)), int(r), str(c), str(m)) for a, b, r, c, m in columns)


CASES: dict[str, tuple[str, str, str, str]] = {
    # name: formals, body of the topology, block that asks for it, statements in its place
    "a parameter in an extent": (
        "n: int", "switch s[n + 1]: SW; connect s[*] ring", "t { n 3 }", "switch s[4]: SW; connect s[*] ring",
    ),
    "the value of a model": (
        "m: model", "switch s[4]: m; connect s[*] ring", "t { m BIG }", "switch s[4]: BIG; connect s[*] ring",
    ),
    "settings of the value of a model": (
        "m: model", "switch s[2]: m; connect s[0].p[3, 1] to s[1].p[2, 0]", "t { m CUT { split p 2 } }",
        "switch s[2]: CUT { split p 2 }; connect s[0].p[3, 1] to s[1].p[2, 0]",
    ),
    "settings of a model and of a declaration": (
        "m: model", "switch s[2]: m { split q 2 }; connect s[0] to s[1] x 3", "t { m CUT { split p 2 } }",
        "switch s[2]: CUT { split q 2; split p 2 }; connect s[0] to s[1] x 3",
    ),
    "copies": ("k: int", "switch s[4]: SW; connect s[*] ring x k", "t { k 2 }", "switch s[4]: SW; connect s[*] ring x 2"),
    "a guard and copies of an index": (
        "k: int", "switch s[4]: BIG; connect s[i] to s[j] x i + k where i < j and j - i == k", "t { k 2 }",
        "switch s[4]: BIG; connect s[i] to s[j] x i + 2 where i < j and j - i == 2",
    ),
    "a pattern": (
        "q: pattern", "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] q", "t { q spread x 4 }",
        "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] spread x 4",
    ),
    "a pattern with copies": (
        "q: pattern", "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] q", "t { q each x 2 }",
        "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] each x 2",
    ),
    "copies of the connect before those of the pattern": (
        "q: pattern", "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] q x 3", "t { q each x 2 }",
        "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] each x 3",
    ),
    "arguments of a pattern": (
        "k: int", "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] spread x 2*k", "t { k 2 }",
        "switch s[2]: SW; switch u[2]: SW; connect s[*] to u[*] spread x 4",
    ),
    "the first branch that holds": (
        "k: int",
        "switch s[4]: SW; if k == 1 { connect s[*] ring } else if k == 2 { connect s[0] to s[2] } else { connect s[0] to s[1] }",
        "t { k 2 }", "switch s[4]: SW; connect s[0] to s[2]",
    ),
    "the other branch": (
        "k: int", "switch s[4]: SW; if k == 1 { connect s[*] ring } else { connect s[0] to s[k] }", "t { k 3 }",
        "switch s[4]: SW; connect s[0] to s[3]",
    ),
    "branches that rest on the variable of a loop": (
        "k: int",
        "switch s[4]: SW; for i in 0..k { if i == 0 { connect s[i] to s[k] } else if i > 1 { connect s[i] to s[0] x k } "
        "else { connect s[i] to s[k] x 3 } }",
        "t { k 3 }",
        "switch s[4]: SW; connect s[0] to s[3]; connect s[1] to s[3] x 3; connect s[2] to s[0] x 3; connect s[3] to s[0] x 3",
    ),
    "loops in loops": (
        "k: int", "switch s[4]: BIG; for i in 0..k { for j in 0..k { if i < j { connect s[i] to s[j] x i + j + k } } }",
        "t { k 2 }", "switch s[4]: BIG; connect s[0] to s[1] x 3; connect s[0] to s[2] x 4; connect s[1] to s[2] x 5",
    ),
    "values of the topology": (
        "k: int", "let a = 2*k; def f(x: int): int = x + a; switch s[8]: SW; connect s[0] to s[f(k)]", "t { k 2 }",
        "switch s[8]: SW; connect s[0] to s[6]",
    ),
    "a function of an index": (
        "k: int", "def f(x: int): int = k*x + 1; switch s[8]: SW; connect s[i] to s[j] where j == f(i)", "t { k 2 }",
        "switch s[8]: SW; connect s[i] to s[j] where j == 2*i + 1",
    ),
    "an element of a list": (
        "xs: list", "switch s[4]: SW; connect s[i] to s[j] x xs[i] where i < j and j == xs[i] + i", "t { xs 1, 2, 9, 9 }",
        "switch s[4]: SW; connect s[0] to s[1]; connect s[1] to s[3] x 2",
    ),
    "a sum over a list": (
        "k: int", "switch s[4]: BIG; connect s[i] to s[j] x sum([x + i for x in 0..k]) where i + 1 == j", "t { k 2 }",
        "switch s[4]: BIG; connect s[i] to s[j] x 3*i + 3 where i + 1 == j",
    ),
    "what is left out": (
        "k: int", "switch s[4]: SW; omit s[k]; connect s[*] each", "t { k 3 }", "switch s[4]: SW; omit s[3]; connect s[*] each",
    ),
    "groups": (
        "k: int", "group g[k] { switch s[2]: SW; connect s[0] to s[1] x k }; switch u: SW; connect g[i].s[0] to u", "t { k 3 }",
        "group g[3] { switch s[2]: SW; connect s[0] to s[1] x 3 }; switch u: SW; connect g[i].s[0] to u",
    ),
    "a class, a medium and a rate": (
        "k: int", 'switch s[4]: SW; connect s[i] to s[j] where j == i + k { class "c{i}{k}"; medium dac; rate 200Gbps }',
        "t { k 2 }", 'switch s[4]: SW; connect s[i] to s[j] where j == i + 2 { class "c{i}2"; medium dac; rate 200Gbps }',
    ),
    "ends by host and port": (
        "e: ports, k: int", "switch s[8]: SW; connect e[h, n] to s[k*h + n]", "hosts 4 x BOX; t { k 2 }",
        "host host[4]: BOX; switch s[8]: SW; connect host[h].nic[n] to s[2*h + n]",
    ),
    "ends of some hosts": (
        "e: ports, k: int", "switch s[8]: SW; connect e[h, n] to s[2*h + n] where h > k", "hosts 4 x BOX; t { k 1 }",
        "host host[4]: BOX; switch s[8]: SW; connect host[h].nic[n] to s[2*h + n] where h > 1",
    ),
    "one port of each host": (
        "e: ports, k: int", "switch s[4]: SW; connect e[h, k] to s[h]; connect e[h, 1 - k] to s[3 - h]",
        "hosts 4 x BOX; t { k 1 }",
        "host host[4]: BOX; switch s[4]: SW; connect host[h].nic[1] to s[h]; connect host[h].nic[0] to s[3 - h]",
    ),
    "ends of a class without an index": (
        "e: ports", "switch s[4]: SW; connect e[h, n] to s[h + n]", "hosts 4 x ONE; t",
        "host host[4]: ONE; switch s[4]: SW; connect host[h].nic to s[h]",
    ),
    "ends without the index of a class that has none": (
        "e: ports", "switch s[4]: SW; connect e[h] to s[3 - h]", "hosts 4 x ONE; t",
        "host host[4]: ONE; switch s[4]: SW; connect host[h].nic to s[3 - h]",
    ),
    "ends in a loop": (
        "e: ports, k: int", "switch s[8]: SW; for i in 0..k { connect e[h, i] to s[h + 4*i] }", "hosts 4 x BOX; t { k 1 }",
        "host host[4]: BOX; switch s[8]: SW; connect host[h].nic[i] to s[h + 4*i]",
    ),
    "ends in a branch in a loop": (
        "e: ports, k: int",
        "switch s[8]: SW; for i in [0, k] { if i == 0 { connect e[h, i] to s[2*h] } else { connect e[h, i] to s[7 - 2*h] } }",
        "hosts 4 x BOX; t { k 1 }",
        "host host[4]: BOX; switch s[8]: SW; connect host[h].nic[0] to s[2*h]; connect host[h].nic[1] to s[7 - 2*h]",
    ),
    "hosts joined to hosts": (
        "e: ports, k: int", "connect e[h, 0] to e[(h + k) % 4, 1]", "hosts 4 x BOX; t { k 1 }",
        "host host[4]: BOX; connect host[h].nic[0] to host[(h + 1) % 4].nic[1]",
    ),
    "what else is declared beside a topology": (
        "k: int", "switch s[4]: SW; connect s[i] to s[j] where j == i + k",
        "let i = 3; let j = 7; t { k 1 }", "switch s[4]: SW; connect s[a] to s[b] where b == a + 1",
    ),
    "ends whose variables have values in the design": (
        "e: ports", "switch s[8]: SW; connect e[h, n] to s[2*h + n]", "let h = 5; let n = 6; hosts 4 x BOX; t",
        "host host[4]: BOX; switch s[8]: SW; connect host[a].nic[b] to s[2*a + b]",
    ),
    "a text with a value": (
        "w: string", 'switch s[4]: SW; connect s[*] ring { class "{w}-x" }', 't { w "ab" }',
        'switch s[4]: SW; connect s[*] ring { class "ab-x" }',
    ),
    "ends of hosts in groups": (
        "e: ports", "switch s[12]: SW; connect e[h, n] to s[2*h + n]", "group g[3] { host a[1..2]: BOX }; hosts g.a; t",
        "group g[3] { host a[1..2]: BOX }; switch s[12]: SW; connect g[x].a[y].nic[n] to s[4*x + 2*(y - 1) + n]",
    ),
    "ends of two declarations": (
        "e: ports", "switch s[10]: SW; connect e[h, n] to s[2*h + n]", "host a[2]: BOX; host b[3]: BOX; hosts a, b; t",
        "host a[2]: BOX; host b[3]: BOX; switch s[10]: SW; connect a[h].nic[n] to s[2*h + n]; "
        "connect b[h].nic[n] to s[2*h + 4 + n]",
    ),
    "ends of a single host beside others": (
        "e: ports", "switch s[6]: SW; connect e[h, n] to s[2*h + n]", "host a: BOX; host b[2]: BOX; hosts b, a; t",
        "host a: BOX; host b[2]: BOX; switch s[6]: SW; connect b[h].nic[n] to s[2*h + n]; connect a.nic[n] to s[4 + n]",
    ),
    "hosts of groups joined to hosts": (
        "e: ports", "connect e[h, 0] to e[(h + 1) % 6, 1]", "group g[3] { host a[1..2]: BOX }; hosts g.a; t",
        "group g[3] { host a[1..2]: BOX }; connect g[x].a[1].nic[0] to g[x].a[2].nic[1]; "
        "connect g[x].a[2].nic[0] to g[(x + 1) % 3].a[1].nic[1]",
    ),
    "hosts in two dimensions joined to hosts": (
        "e: ports", "connect e[h, 0] to e[(h + 5) % 12, 1]",
        "group g[1..2] { group d[3] { host a[2]: BOX } }; hosts g.d.a; t",
        "group g[1..2] { group d[3] { host a[2]: BOX } }; "
        + "; ".join(
            f"connect g[{h // 6 + 1}].d[{h // 2 % 3}].a[{h % 2}].nic[0] to g[{k // 6 + 1}].d[{k // 2 % 3}].a[{k % 2}].nic[1]"
            for h in range(12) for k in [(h + 5) % 12]
        ),
    ),
    "ends with two indices": (
        "e: ports", "switch s[12]: SW; connect e[h, a, b] to s[6*h + 3*a + b]", "hosts 2 x GRID; t",
        "host host[2]: GRID; switch s[12]: SW; connect host[h].nic[a, b] to s[6*h + 3*a + b]",
    ),
    "one index of two that is fixed": (
        "e: ports", "switch s[6]: SW; connect e[h, 1, b] to s[3*h + b]; connect e[h, a, 0] to s[h + a] where a == 0",
        "hosts 2 x GRID; t",
        "host host[2]: GRID; switch s[6]: SW; connect host[h].nic[1, b] to s[3*h + b]; connect host[h].nic[0, 0] to s[h + 0]",
    ),
    "planes": (
        "e: ports", "switch s[2]: SW; connect e[h, a] to s[(h + a) % 2]; connect s[0] to s[1]", "hosts 2 x GRID; planes 3; t",
        "host host[2]: GRID; plane plane[3] { switch s[2]: SW; connect s[0] to s[1] }; "
        "connect host[h].nic[a, b] to plane[b].s[(h + a) % 2]",
    ),
    "hosts joined to hosts in planes": (
        "e: ports", "connect e[h, 0] to e[(h + 1) % 4, 1]", "hosts 4 x GRID; planes 3; t",
        "host host[4]: GRID; connect host[h].nic[0, b] to host[(h + 1) % 4].nic[1, b]",
    ),
    "through a switch of circuits": (
        "e: ports, k: int", "ocs o[2]: OPTIC; switch s[4]: SW; connect e[h, n] to s[2*h + n] via o[n]",
        "hosts 2 x BOX; t { k 2 }",
        "host host[2]: BOX; ocs o[2]: OPTIC; switch s[4]: SW; connect host[h].nic[n] to s[2*h + n] via o[n]",
    ),
}  # fmt: skip

MORE = """
model switch CUT { port p[1..4]: 400Gbps { split 2 }; port q[1..4]: 400Gbps { split 2 } }
model host ONE { port nic: 400Gbps }
model host GRID { port nic[2, 3]: 400Gbps }
"""


@pytest.mark.parametrize("name", CASES)
def test_the_same_links(name: str, tmp_path: Path) -> None:
    formals, body, block, plain = CASES[name]
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
