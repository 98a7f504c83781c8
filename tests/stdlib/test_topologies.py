"""The topologies of the library: each one's structure against networkx and the figures of its paper, and its expanded text."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import prod
from pathlib import Path
from string import ascii_lowercase

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tdsl.system import resources
from tests.harness import compile_text, each, none, sampled, share, written
from tests.tables import sections, table

MODELS = sections(__file__)["models"]
CASES = {name: (ends, block) for name, ends, block in table(__file__, "cases")}


def design(ends: str, block: str) -> str:
    return f"fabric t {{\n  {ends}\n  {block}\n}}\n" + MODELS + "model switch SW8 { port p[1..8]: 100Gbps }\n"


def made(ends: str, block: str, folder: Path) -> Fabric:
    result = compile_text(design(ends, block), folder, models=False, verify=False)
    wrong = [d for d in result.findings if d.severity.word in ("error", "warning")]
    assert not wrong, [(d.code, d.message) for d in wrong]
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.complete
    return fabric


def case(name: str, folder: Path) -> Fabric:
    return made(*CASES[name], folder)


def simple(f: Fabric) -> nx.Graph[int]:
    """The graph of all devices that have a link, parallel links as one."""
    g = nx.Graph(f.graph())
    g.remove_nodes_from([n for n, d in g.degree() if not d])
    return g


def switches(f: Fabric) -> nx.Graph[int]:
    """The graph of the switches."""
    return simple(f).subgraph([d for d in range(f.device_count) if f.is_switch[d]]).copy()


def links(f: Fabric) -> Counter[str]:
    return Counter(f.classes[c] for c in f.link_class.tolist())


def alike(a: nx.Graph[int], b: nx.Graph[object]) -> bool:
    return bool(nx.is_isomorphic(a, b))


COLUMNS = ("link_a", "link_b", "link_rate", "link_class", "circuit_a", "circuit_b", "cable_a", "cable_b")
LETTERS = "".join(f"let {x} = 1\n" for x in ascii_lowercase)  # names that topologies give their variables


def same_when_expanded(name: str, folder: Path) -> None:
    """The text that a topology stands for gives its fabric."""
    folder.mkdir()
    ends, block = CASES[name]
    text, found = compiler.expand_intent(str(written(folder / "intent.fab", design(LETTERS + ends, block))))
    assert text is not None, found.findings
    before = case(name, folder)
    result = compile_text(text, folder, models=False, verify=False)
    assert not [d for d in result.findings if d.severity.word == "error"], result.findings
    after = result.designs[0].fabric
    assert after is not None
    for column in COLUMNS:
        assert getattr(before, column).tolist() == getattr(after, column).tolist(), column


@pytest.mark.parametrize("part", sampled(range(3), 3))
def test_expanded_they_are_the_same_fabrics(part: int, tmp_path: Path) -> None:
    """Whatever names the design around it has taken; where it has taken none, `tests/test_docs.py` compares the examples."""
    each(share([*CASES], part, 3), lambda name: same_when_expanded(name, tmp_path / name))


def test_every_file_is_tried() -> None:
    there = {p.stem for p in (resources.packaged_folder("stdlib") / "topologies").glob("*.fab")}
    tried = {block.split()[0] for _, block in CASES.values()}
    tried |= {"clos", "rail_only"}  # the two have tests of their own, with intents
    none(f"{name}: give it an example in `cases` of tests/stdlib/test_topologies.txt" for name in sorted(there - tried))
    assert tried == there


# ---------------------------------------------------------------- direct fabrics


@given(st.lists(st.integers(2, 4), min_size=1, max_size=3), st.data())
@settings(max_examples=25, deadline=None)
def test_tori_and_meshes(tmp_path_factory: pytest.TempPathFactory, shape: list[int], data: st.DataObject) -> None:
    wrap = data.draw(st.lists(st.integers(0, 1), min_size=len(shape), max_size=len(shape)))
    block = f"torus {'x'.join(map(str, shape)) if len(shape) > 1 else f'{shape[0]}x1'}"
    given_wrap = wrap if len(shape) > 1 else [*wrap, 0]
    f = made(f"chips {prod(shape)} x CHIP", f"{block} {{ wrap {given_wrap} }}", tmp_path_factory.mktemp("torus"))
    expected = nx.MultiGraph()
    cells = list(product(*map(range, shape)))
    expected.add_nodes_from(cells)
    for cell, d in product(cells, range(len(shape))):
        if cell[d] < shape[d] - 1 or wrap[d]:
            expected.add_edge(cell, (*cell[:d], (cell[d] + 1) % shape[d], *cell[d + 1 :]))
    number = {cell: i for i, cell in enumerate(cells)}
    pairs = Counter(frozenset((number[a], number[b])) for a, b in expected.edges())
    assert Counter(frozenset(e) for e in f.graph().edges()) == pairs


def test_rates_of_dimensions(tmp_path: Path) -> None:
    f = case("torus_rates", tmp_path)
    rates = Counter(zip((f.classes[c] for c in f.link_class.tolist()), f.link_rate.tolist(), strict=True))
    assert rates == {("x", 100 * 10**9): 16, ("y", 50 * 10**9): 16}


def test_a_twist_shortens_the_way(tmp_path: Path) -> None:
    """Camara et al.: the 2a x a torus twisted by a is vertex-transitive, and its diameter is a instead of 3a/2."""
    twisted, plain = case("torus_twisted", tmp_path), made("chips 32 x CHIP", "torus 4x8", tmp_path)
    assert nx.diameter(simple(plain)) == 6 and nx.diameter(simple(twisted)) == 4
    assert len({tuple(sorted(nx.single_source_shortest_path_length(simple(twisted), n).values())) for n in range(32)}) == 1


def test_rates_take_no_twist_away(tmp_path: Path) -> None:
    block = "torus {{ shape 4x8; twist 4; {} }}"
    plain, rated = (made("chips 32 x CHIP", block.format(r), tmp_path) for r in ("", "rates [100Gbps, 50Gbps]"))
    assert plain.device_a.tolist() == rated.device_a.tolist() and plain.device_b.tolist() == rated.device_b.tolist()
    assert set(rated.link_rate.tolist()) == {50 * 10**9, 100 * 10**9}


def test_a_torus_of_cubes(tmp_path: Path) -> None:
    """TPU v4 of two cubes a side: the torus of 8 x 8 x 8, its faces over 48 OCS; 3 x 512 links, of which 48 x 8 are circuits."""
    f = case("ocs_torus", tmp_path)
    assert alike(simple(f).subgraph(range(512)), nx.grid_graph([8, 8, 8], periodic=True))
    assert f.link_count == 1536 and len(f.circuit_a) == 384
    assert sum(f.set_of(d).kind == "ocs" for d in range(f.device_count)) == 48


def twisted(shape: tuple[int, ...], turns: dict[int, tuple[int, int]], wraps: tuple[int, ...]) -> Counter[frozenset[int]]:
    """Pairs of a torus: what wraps along d is ``turns[d]`` = (steps, dimension) further on."""
    cells = {cell: i for i, cell in enumerate(product(*map(range, shape)))}
    out: Counter[frozenset[int]] = Counter()
    for cell, d in product(cells, range(len(shape))):
        far = list(cell)
        far[d] = (cell[d] + 1) % shape[d]
        if cell[d] == shape[d] - 1:
            if d not in wraps:
                continue
            steps, along = turns.get(d, (0, d))
            far[along] = (far[along] + steps) % shape[along]
        out[frozenset((cells[cell], cells[tuple(far)]))] += 1
    return out


@pytest.mark.parametrize(
    ("block", "shape", "turns", "wraps", "diameter"),
    [
        ("torus 4x4x8 { twist x by 4 along z; twist y by 4 along z }", (4, 4, 8), {0: (4, 2), 1: (4, 2)}, (0, 1, 2), 6),
        ("torus 4x8x8 { twist x by 4 along y, x by 4 along z }", (4, 8, 8), {}, (), 0),
        ("torus 4x4x8 { twist z by 1 along x; wrap x, z }", (4, 4, 8), {2: (1, 0)}, (0, 2), 0),
        ("torus 2x3x4 { wrap y }", (2, 3, 4), {}, (1,), 0),
        ("torus 4x8 { twist 4 }", (4, 8), {0: (4, 1)}, (0, 1), 4),
        ("ocs_torus 4x4x8 { cube 4x4x4; ocs OC; twist x by 4 along z; twist y by 4 along z }", (4, 4, 8), {0: (4, 2), 1: (4, 2)},
         (0, 1, 2), 6),
        ("ocs_torus 8x8x4 { cube 4x4x4; ocs OC; twist x by 4 along y }", (8, 8, 4), {0: (4, 1)}, (0, 1, 2), 0),
    ],
)  # fmt: skip
def test_twists_and_wraps_of_single_dimensions(
    block: str, shape: tuple[int, ...], turns: dict[int, tuple[int, int]], wraps: tuple[int, ...], diameter: int, tmp_path: Path
) -> None:
    """Jouppi et al.: k x k x 2k twisted in two dimensions; the 4 x 4 x 8 has diameter 6 instead of 8."""
    text = design(f"chips {prod(shape)} x CHIP", block)
    if not wraps:
        (finding,) = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity.word == "error"]
        assert (finding.code, finding.span and finding.span.text) == ("E0110", "x by 4 along z") and "already" in finding.message
        return
    f = made(f"chips {prod(shape)} x CHIP", block, tmp_path)
    assert Counter(frozenset(e) for e in f.graph().edges() if max(e) < prod(shape)) == twisted(shape, turns, wraps)
    assert not diameter or nx.diameter(simple(f).subgraph(range(prod(shape)))) == diameter


def test_a_mesh(tmp_path: Path) -> None:
    assert alike(simple(case("mesh", tmp_path)), nx.grid_graph([4, 3, 2]))


@pytest.mark.parametrize(
    ("name", "a", "b", "x", "y"), [("hammingmesh", 2, 2, 4, 3), ("hammingmesh_of_single_boards", 1, 2, 3, 2)]
)
def test_hammingmesh(name: str, a: int, b: int, x: int, y: int, tmp_path: Path) -> None:
    """Hoefler et al., section III: boards are meshes; a row of boards has a network for each of its rows, which both edges of all
    its boards meet, and so have columns."""
    f = case(name, tmp_path)
    expected: nx.MultiGraph[object] = nx.MultiGraph()
    for p, q, i, j in product(range(x), range(y), range(a), range(b)):
        here = (p * a + i, q * b + j)
        expected.add_edges_from([(here, (here[0] + 1, here[1]))] if i < a - 1 else [(here, ("row", here[1]))])
        expected.add_edges_from([(here, ("row", here[1]))] if i == 0 else [])
        expected.add_edges_from([(here, (here[0], here[1] + 1))] if j < b - 1 else [(here, ("column", here[0]))])
        expected.add_edges_from([(here, ("column", here[0]))] if j == 0 else [])
    number = {(n, m): n * y * b + m for n in range(x * a) for m in range(y * b)}
    paths = {f.device_path(d): d for d in range(f.device_count)}
    number |= {(kind, n): paths[f"{kind}[{n}]"] for kind, count in (("row", y * b), ("column", x * a)) for n in range(count)}
    pairs = Counter(frozenset((number[u], number[v])) for u, v in expected.edges())  # type: ignore[index]
    assert Counter(frozenset(e) for e in f.graph().edges()) == pairs
    assert f.forwards.sum() == x * y * a * b and len(switches(f)) == x * a + y * b


@pytest.mark.parametrize("q", [4, 7])
def test_polarfly(q: int, tmp_path: Path) -> None:
    """Lakhotia et al., section IV: q² + q + 1 routers of degree q + 1, of which the q + 1 quadrics have q; diameter 2. The
    graph of q = 7 is that of the orthogonal lines through the origin."""
    g = switches(case(f"polarfly_{q}", tmp_path))
    assert len(g) == q * q + q + 1 and nx.diameter(g) == 2
    assert Counter(d for _, d in g.degree()) == {q + 1: q * q, q: q + 1}
    if q == 7:
        lines = {min(tuple(c * v % q for v in p) for c in range(1, q)) for p in product(range(q), repeat=3) if any(p)}
        apart = [(u, v) for u, v in combinations(sorted(lines), 2) if sum(s * t for s, t in zip(u, v, strict=True)) % q == 0]
        assert alike(g, nx.Graph(apart))


# ---------------------------------------------------------------- switched fabrics


def test_rings_and_meshes_of_switches(tmp_path: Path) -> None:
    ring, mesh = case("ring", tmp_path), case("full_mesh", tmp_path)
    assert alike(switches(ring), nx.cycle_graph(8)) and links(ring)["s-s"] == 16
    assert alike(switches(mesh), nx.complete_graph(5)) and links(mesh)["s-s"] == 10


def test_hyperx(tmp_path: Path) -> None:
    rook = nx.cartesian_product(nx.complete_graph(3), nx.complete_graph(4))
    assert alike(switches(case("hyperx", tmp_path)), rook)
    assert alike(switches(case("hypercube", tmp_path)), nx.hypercube_graph(4))


def test_random_regular(tmp_path: Path) -> None:
    f = case("random_regular", tmp_path)
    g = switches(f)
    assert set(dict(g.degree()).values()) == {5} and nx.is_connected(g)
    assert f.link_b.tolist() == case("random_regular", tmp_path).link_b.tolist()
    other = made("hosts 40 x NODE", "random_regular { switches 20; degree 5; switch SW; seed 4 }", tmp_path)
    assert f.link_b.tolist() != other.link_b.tolist()


@pytest.mark.parametrize(("q", "degree"), [(4, 6), (5, 7), (7, 11)])
def test_slim_fly(q: int, degree: int, tmp_path: Path) -> None:
    """Besta and Hoefler, table II: 2q² routers, degree (3q - δ)/2, diameter 2; q = 5 is the graph of Hoffman and Singleton."""
    g = switches(case(f"slim_fly_{q}", tmp_path))
    assert len(g) == 2 * q * q and set(dict(g.degree()).values()) == {degree} and nx.diameter(g) == 2
    assert q != 5 or alike(g, nx.hoffman_singleton_graph())


def test_a_slim_fly_of_no_field(tmp_path: Path) -> None:
    """q = 28 is that of the Slim Fly in table 3 of Zhao et al., Insights into DeepSeek-V3, ISCA 2025."""
    for q, nearest in ((6, "5 and 7"), (10, "9 and 11"), (28, "27 and 29")):
        result = compile_text(design("hosts 50 x NODE", f"slim_fly {{ q {q}; switch SW }}"), tmp_path, models=False)
        (finding,) = [d for d in result.findings if d.code == "E0115"]
        assert f"{q} is not a prime power" in finding.message and f"the nearest are {nearest}" in finding.help
        assert finding.span is not None and finding.span.text.startswith("slim_fly {")


@pytest.mark.parametrize("name", ["dragonfly", "dragonfly_relative", "dragonfly_circulant"])
def test_dragonflies(name: str, tmp_path: Path) -> None:
    """Kim et al.: balanced with h = 2, a = 4, g = 9: one link for each two groups, two global ones at a router, diameter 3."""
    f = case(name, tmp_path)
    g = switches(f)
    assert len(g) == 36 and set(dict(g.degree()).values()) == {5} and nx.diameter(g) == 3
    group = {d: f.device_path(d).split(".")[0] for d in g}
    between = Counter(frozenset((group[a], group[b])) for a, b in g.edges() if group[a] != group[b])
    assert between == {frozenset(pair): 1 for pair in combinations(sorted(set(group.values())), 2)}


def test_arrangements_differ_as_their_names_say(tmp_path: Path) -> None:
    """The first router of a group: absolute, the first other groups; relative, the next ones; circulant, one on and one back."""
    expected = {"dragonfly": {0, 1}, "dragonfly_relative": {5, 6}, "dragonfly_circulant": {5, 3}}
    for name, groups in expected.items():
        f = case(name, tmp_path)
        g = switches(f)
        here = next(d for d in g if f.device_path(d) == "g[4].r[0]")
        far = {f.device_path(d).split(".")[0] for d in g[here]} - {"g[4]"}
        assert far == {f"g[{n}]" for n in groups}, name


def test_trunks_and_surplus_links(tmp_path: Path) -> None:
    f = case("dragonfly_ring", tmp_path)
    assert links(f)["global"] == 15 * 3 + 6 * 2
    ports = Counter(d for a, b, c in zip(f.device_a.tolist(), f.device_b.tolist(), f.link_class.tolist(), strict=True)
                    if f.classes[c] == "global" for d in (a, b))  # fmt: skip
    assert max(ports.values()) - min(ports.values()) <= 1


def test_a_dragonfly_of_several_kinds_of_groups(tmp_path: Path) -> None:
    """As many links for each two groups as the arcs say, distributed over a group's routers; names are those of the kinds."""
    f = case("dragonfly_kinds", tmp_path)
    groups: dict[int, str] = {d: f.device_name(d).split("-")[0] for d in switches(f)}
    routers = Counter(groups.values())
    assert routers == {**{f"compute{i}": 4 for i in range(5)}, "storage0": 3, "storage1": 3, "service0": 4}
    between: Counter[frozenset[str]] = Counter()
    ports: Counter[int] = Counter()
    for a, b in f.graph().edges():
        if a in groups and b in groups and groups[a] != groups[b]:
            between[frozenset((groups[a], groups[b]))] += 1
            ports.update((a, b))
    arcs = {("compute", "compute"): 2, ("compute", "storage"): 4, ("storage", "storage"): 2, ("storage", "service"): 1}
    expected = {}
    for a, b in combinations(routers, 2):
        kinds = (a.rstrip("0123456789"), b.rstrip("0123456789"))
        links = arcs.get(kinds, arcs.get((kinds[1], kinds[0]), 0))
        expected |= {frozenset((a, b)): links} if links else {}
    assert between == expected
    for name in routers:
        mine = [ports[d] for d in groups if groups[d] == name]
        assert max(mine) - min(mine) <= 1, name
    homes = Counter(groups[b] for a, b in map(sorted, f.graph().edges()) if a < 80 and b in groups)
    assert homes == {f"compute{i}": 16 for i in range(5)}


def switches_of_hosts(f: Fabric) -> dict[str, list[str]]:
    """Host -> the switches that its links lead to, one a link."""
    found: dict[str, list[str]] = {}
    for a, b in f.graph().edges():
        host, switch = (b, a) if f.is_switch[a] else (a, b)
        if f.is_switch[switch] and not f.is_switch[host]:
            found.setdefault(f.device_name(host), []).append(f.device_name(switch))
    return found


def test_ends_of_a_host_on_routers_of_their_own(tmp_path: Path) -> None:
    """``per_router 1``: four routers for four ports of a host, in one group, and as many hosts on each router."""
    homes = switches_of_hosts(case("dragonfly_apart", tmp_path))
    assert len(homes) == 40 and all(len(set(x)) == len(x) == 4 for x in homes.values())
    assert all(len({name.split("-")[0] for name in x}) == 1 for x in homes.values())
    assert set(Counter(name for x in homes.values() for name in x).values()) == {5}


def test_each_kind_takes_the_hosts_of_its_declaration(tmp_path: Path) -> None:
    """Whatever the order of declarations; ``per_router 2`` puts four ports on two routers."""
    homes = switches_of_hosts(case("dragonfly_seats", tmp_path))
    for host, found in homes.items():
        assert {name.rstrip("0123456789").split("-")[0][:3] for name in found} == (
            {"big"} if host.startswith("four") else {"sma"}
        )
        assert Counter(Counter(found).values()) == ({2: 2} if host.startswith("four") else {1: 1})
    plus = case("dragonfly_plus_kinds", tmp_path)
    homes = switches_of_hosts(plus)
    assert Counter(len(x) for x in homes.values()) == {1: 30, 4: 36}
    assert {h[:3]: {n[:3] for x in homes for n in homes[x] if x.startswith(h)} for h in ("one", "four")} == {
        "one": {"sma"}, "fou": {"big"},
    }  # fmt: skip


def test_dragonfly_plus_of_kinds(tmp_path: Path) -> None:
    """Three groups of 3 x 2 switches, two of 2 x 3, two links for each pair in a group, and the arcs between groups."""
    f = case("dragonfly_plus_kinds", tmp_path)
    names = {d: f.device_name(d) for d in switches(f)}
    assert Counter(n.rstrip("0123456789").partition("-")[0][:3] + n.partition("-")[2][:4] for n in names.values()) == {
        "bigleaf": 9, "bigspin": 6, "smaleaf": 4, "smaspin": 6,
    }  # fmt: skip
    local, between = Counter[frozenset[str]](), Counter[frozenset[str]]()
    for a, b in f.graph().edges():
        if a in names and b in names:
            one, two = names[a].split("-")[0], names[b].split("-")[0]
            (local if one == two else between)[frozenset((names[a], names[b]) if one == two else (one, two))] += 1
    assert set(local.values()) == {2} and len(local) == 3 * 3 * 2 + 2 * 2 * 3
    big, small = [f"big{i}" for i in range(3)], [f"small{i}" for i in range(2)]
    assert between == {
        **{frozenset(x): 4 for x in combinations(big, 2)}, **{frozenset(x): 2 for x in product(big, small)},
    }  # fmt: skip
    to_hosts = f.link_rate[[c for c in range(f.link_count) if f.classes[int(f.link_class[c])] not in ("local", "global")]]
    assert set(to_hosts.tolist()) == {50 * 10**9}


def test_a_dimension_of_two_takes_one_port_where_chips_have_no_more(tmp_path: Path) -> None:
    f = case("torus_of_pairs", tmp_path)
    assert alike(simple(f), nx.cartesian_product(nx.cycle_graph(4), nx.path_graph(2))) and f.link_count == 12


def test_dragonfly_plus(tmp_path: Path) -> None:
    """Shpiner et al.: spines carry what leaves the group; leaf to leaf of another group takes three links."""
    f = case("dragonfly_plus", tmp_path)
    g = switches(f)
    assert links(f) == {"host-leaf": 72, "local": 36, "global": 36}
    leaves = [d for d in g if ".leaf[" in f.device_path(d)]
    assert max(nx.shortest_path_length(g, a, b) for a, b in combinations(leaves, 2)) <= 5
    assert {len([x for x in g[d] if ".spine[" in f.device_path(x)]) for d in leaves} == {2}


def test_bcube(tmp_path: Path) -> None:
    """Guo et al., figure 1: BCube(4, 1), 16 servers, eight switches; servers one digit apart share a switch."""
    f = case("bcube", tmp_path)
    g = simple(f)
    assert len(switches(f)) == 8 and f.link_count == 32
    for a, b in combinations(range(16), 2):
        apart = (a // 4 != b // 4) + (a % 4 != b % 4)
        assert nx.shortest_path_length(g, a, b) == 2 * apart


@pytest.mark.parametrize(("name", "n", "servers"), [("dcell", 4, 20), ("dcell_2", 2, 42)])
def test_dcell(name: str, n: int, servers: int, tmp_path: Path) -> None:
    """Guo et al., table 1: DCell(4, 1) has 20 servers, DCell(2, 2) has 42; any two cells of one level share one link."""
    f = case(name, tmp_path)
    g = simple(f)
    assert len(switches(f)) == servers // n and nx.is_connected(g)
    level = links(f)
    assert level["level0"] == servers and level["level1"] == servers // 2
    cells = Counter(frozenset((a // n, b // n)) for a, b in g.edges() if max(a, b) < servers and n == 4)
    assert cells == ({frozenset(pair): 1 for pair in combinations(range(5), 2)} if n == 4 else {})


def test_blocks_and_sites(tmp_path: Path) -> None:
    blocks, sites = case("block_mesh", tmp_path), case("multi_site", tmp_path)
    assert links(blocks)["block-block"] == 24 == len(blocks.circuit_a)
    assert links(sites)["wan"] == 4
    g = nx.Graph(sites.graph())
    assert len(list(nx.connected_components(g))) == 1


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(("ends", "block", "code"), table(__file__, "refused"))
def test_what_does_not_fit_is_refused_at_the_block(ends: str, block: str, code: str, tmp_path: Path) -> None:
    result = compile_text(design(ends, block), tmp_path, models=False)
    found = [d for d in result.findings if d.severity.word == "error"]
    assert [d.code for d in found] == [code], [(d.code, d.message) for d in found]
    assert found[0].span is not None and found[0].span.begin[0] == 3
