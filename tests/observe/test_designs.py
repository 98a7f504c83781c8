"""Designs in other languages as designs of ours: InfraGraph, NetGraph and Hedgehog's wiring."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Severity
from tests.cli.run import tdsl
from tests.harness import sampled
from tests.observe.test_importing import imported
from tests.observe.test_readers import fixture, observed

LIBRARY = Path(__file__).parents[2] / "stdlib" / "designs"
WIRED = Counter[tuple[frozenset[tuple[str, str]], int]]


def wired(fabric: Fabric, ends: dict[int, tuple[str, str]]) -> WIRED:
    """Links by their ends and rates."""
    pairs = zip(fabric.link_a.tolist(), fabric.link_b.tolist(), fabric.link_rate.tolist(), strict=True)
    return Counter((frozenset((ends[a], ends[b])), rate) for a, b, rate in pairs)


def names_in_infragraph(fabric: Fabric) -> dict[int, tuple[str, str]]:
    """Device and port of every end of a link: devices are counted in each set under its path without numbers, ports in their
    class, as `targets/infragraph/README.md` says."""
    sets: dict[tuple[str, str], list[int]] = defaultdict(list)
    for d in range(fabric.device_count):
        if fabric.port_base[d + 1] > fabric.port_base[d]:
            path = re.sub(r"\[[^\]]*\]", "", fabric.device_path(d)).replace(".", "-")
            sets[path, fabric.model_of(d).name].append(d)
    name = {
        d: path if len(found) == 1 else f"{path}{'-' * path[-1].isdigit()}{i}"
        for (path, _), found in sets.items()
        for i, d in enumerate(found)
    }
    out = {}
    for p in {*fabric.link_a.tolist(), *fabric.link_b.tolist()}:
        c, i = fabric.port_class(p)
        out[p] = name[int(fabric.port_device[p])], c.name if len(c.labels) == 1 else f"{c.name}{i}"
    return out


def kinds(fabric: Fabric, ends: dict[int, tuple[str, str]]) -> dict[str, bool]:
    """Which devices with links are switches."""
    return {name: bool(fabric.is_switch[fabric.port_device[p]]) for p, (name, _) in ends.items()}


def names_as_written(fabric: Fabric) -> dict[int, tuple[str, str]]:
    ports = {*fabric.link_a.tolist(), *fabric.link_b.tolist()}
    return {p: (fabric.device_name(int(fabric.port_device[p])), fabric.port_system(p)) for p in ports}


@pytest.mark.parametrize(
    "name", sampled(["rail_only", "dgx_superpod_h100", "tpu_v2", "slim_fly_cscs", "jvd_inference_frontend"], 2)
)
def test_designs_of_the_library_come_back_by_way_of_infragraph(name: str, tmp_path: Path) -> None:
    """The same devices, kinds, ports, links and rates."""
    result = compiler.compile_without_checks(str(LIBRARY / f"{name}.fab"))
    fabric = result.designs[0].fabric
    assert fabric is not None
    done = tdsl("build", LIBRARY / f"{name}.fab", "--target", "infragraph", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    (graph,) = (tmp_path / "out").rglob("infragraph/fabric.yaml")
    back = imported(tmp_path, graph)
    assert wired(back, names_as_written(back)) == wired(fabric, names_in_infragraph(fabric))
    assert kinds(back, names_as_written(back)) == kinds(fabric, names_in_infragraph(fabric))
    assert f"{fabric.link_count:,} links read, {fabric.link_count:,} used, 0 set aside" in " ".join(
        tdsl("import", graph, "-o", tmp_path / "again.fab").output.replace("|", " ").split()
    )


def test_a_blueprint_of_infragraph_is_read_as_its_service_reads_it(tmp_path: Path) -> None:
    """A fat tree of three tiers as YAML; the graph of InfraGraphService is the judge."""
    graphs = pytest.importorskip("infragraph")
    from infragraph.blueprints.devices.generic.generic_switch import Switch
    from infragraph.blueprints.devices.generic.server import Server
    from infragraph.blueprints.fabrics.clos_fat_tree_fabric import ClosFatTreeFabric
    from infragraph.infragraph_service import InfraGraphService

    tree = ClosFatTreeFabric(Switch(8), Server(2), 3, [])
    (tmp_path / "tree.yaml").write_text(tree.serialize(encoding=graphs.Infrastructure.YAML))
    service = InfraGraphService()
    service.set_graph(tree)

    def end(node: str) -> tuple[str, str]:
        instance, number, component, place = node.split(".")
        return f"{instance}{'-' * instance[-1].isdigit()}{number}", component + place

    pairs = [(end(a), end(b)) for a, b in service.get_networkx_graph().edges()]
    back = imported(tmp_path, tmp_path / "tree.yaml")
    assert {ends for ends, _ in wired(back, names_as_written(back))} == {frozenset(p) for p in pairs if p[0][0] != p[1][0]}
    assert back.link_count == 384 and len(kinds(back, names_as_written(back))) == 112


def random_scenario(rng: Random) -> dict[str, object]:
    """A scenario of NetGraph with blueprints, brackets, variables, rules and selectors."""
    blueprint = {
        "nodes": {
            "leaf": {"count": rng.randint(1, 4), "template": "leaf-{n}", "attrs": {"role": "leaf"}},
            "spine": {"count": rng.choice((1, 2, 4)), "attrs": {"role": "spine", "hw": {"ports": rng.randint(1, 9)}}},
        },
        "links": [{"source": "/leaf", "target": "/spine", "capacity": rng.choice((100, 400.0))}],
    }
    pods = rng.randint(1, 4)
    paths = ["pod.*/spine", "^pod[12]/(leaf|spine)/.*-1$", "pod\\d/leaf", f"pod{pods}", ".*", "core", "(?:core|pod1)/.*[13]$"]

    def selector() -> object:
        path = rng.choice(paths)
        if rng.random() < 0.5:
            return path
        conditions = rng.sample(
            [
                {"attr": "role", "op": rng.choice(("==", "!=", "contains")), "value": "spine"},
                {"attr": "hw.ports", "op": rng.choice((">=", "<", "exists", "not_exists")), "value": 5},
                {"attr": "name", "op": "in", "value": ["core/core-1", "pod1/leaf/leaf-1"]},
            ],
            rng.randint(1, 3),
        )
        return {"path": path, "match": {"logic": rng.choice(("and", "or")), "conditions": conditions}}

    links = [{"source": selector(), "target": selector(), "count": rng.randint(1, 2)} for _ in range(rng.randint(1, 3))]
    links.append({
        "source": "pod${p}/spine", "target": "core", "capacity": 800, "pattern": "mesh",
        "expand": {"vars": {"p": list(range(1, pods + 1))}},
    })  # fmt: skip
    return {
        "blueprints": {"pod": blueprint},
        "network": {
            "nodes": {
                f"pod[1-{pods}]": {"blueprint": "pod", "params": {"leaf.count": rng.randint(1, 3)}},
                "core": {"count": rng.randint(1, 3), "disabled": False},
            },
            "node_rules": [{"path": rng.choice(paths[:3]), "disabled": True}] if rng.random() < 0.4 else [],
            "links": links,
            "link_rules": [
                {"source": rng.choice(paths), "target": "core", "capacity": 1600, "bidirectional": rng.random() < 0.5},
                {"source": ".*leaf", "target": "", "link_match": {"conditions": [{"attr": "capacity", "op": "==", "value": 100}]},
                 "disabled": rng.random() < 0.5},
            ],
        },
    }  # fmt: skip


def test_netgraph_makes_the_same_network(tmp_path: Path) -> None:
    """Its own program is the judge, on random scenarios."""
    scenario = pytest.importorskip("ngraph.scenario")
    yaml = pytest.importorskip("yaml")
    used = 0
    for seed in range(40):
        text = yaml.safe_dump(random_scenario(Random(seed)), sort_keys=False)
        (tmp_path / "x.yaml").write_text(text)
        network = scenario.Scenario.from_yaml(text).network
        off = {n.name for n in network.nodes.values() if n.disabled}
        wanted = Counter(
            (frozenset((x.source, x.target)), x.capacity)
            for x in network.links.values()
            if not x.disabled and x.source not in off and x.target not in off
        )
        made = observed(tmp_path / "x.yaml")
        assert Counter((frozenset((w.a.node[5:], w.b.node[5:])), w.rate / 1e9) for w in made.wires) == wanted, seed
        assert len(made.wires) + len(made.left) == len(network.links), seed
        used += len(wanted)
    assert used > 500


def test_ports_of_a_wiring_diagram_and_what_is_set_aside(tmp_path: Path) -> None:
    """Switches of one profile are of one model; a link without a known speed needs --rate; what is left out is counted."""
    head = "---\napiVersion: wiring.githedgehog.com/v1beta1\nkind: %s\nmetadata: {name: %s}\nspec: "
    switches = (("leaf1", ""), ("leaf2", ", portSpeeds: {E1/7: 100G, E1/8: 100G}"), ("far", ""))
    text = "".join(head % ("Switch", n) + f"{{profile: ds3000{speeds}}}\n" for n, speeds in switches)
    for k, p in ((1, 7), (2, 8), (3, 9)):
        ends = f"leaf1: {{port: leaf1/E1/{k}}}, leaf2: {{port: leaf2/E1/{p}}}"
        text += head % ("Connection", f"c{k}") + f"{{mesh: {{links: [{{{ends}}}]}}}}\n"
    (tmp_path / "wiring.yaml").write_text(text)
    assert tdsl("import", tmp_path / "wiring.yaml").exit_code == 2
    back = imported(tmp_path, tmp_path / "wiring.yaml", "--rate", "25Gbps")
    assert sorted(back.link_rate.tolist()) == [25 * 10**9, 100 * 10**9, 100 * 10**9]
    made = (tmp_path / "asbuilt.fab").read_text()
    assert made.count("model switch") == 1 and "model switch ds3000 " in made
    said = tdsl("import", tmp_path / "wiring.yaml", "--rate", "25Gbps", "-o", tmp_path / "again.fab").output
    assert "3 links read, 3 used, 0 set aside; not in the design: devices without a link (1)" in " ".join(
        said.replace("|", " ").split()
    )


def refused() -> Iterator[tuple[str, int, str]]:
    """A text, the line of the finding, and words of it."""

    def net(source: str = "a", more: str = "", a: str = "a: {}", behind: str = "") -> str:
        link = f"{{source: {source}, target: b{more}}}"
        return f"network:\n  nodes: {{{a}, b: {{}}}}\n  links:\n  - {link}\n{behind}"

    bomb = "".join(f"x{k}: &x{k} [{', '.join([f'*x{k - 1}'] * 30) if k else 1}]\n" for k in range(6))
    yield net(behind=bomb), 9, "more than"
    yield net("&p [*p]"), 4, "within the value that it repeats"
    yield net("'(?=a)'"), 4, "not read"
    yield net(more=", capacity: 0"), 4, "not a rate"
    yield net(more=", capacity: 1e-40"), 4, "not a rate"
    yield net(more=", count: 2000000"), 4, "a count"
    yield net(more=", color: red"), 4, "`color`"
    yield net(more=", target: a"), 4, "twice"
    yield net(a="'a[1-99999999]': {}"), 2, "not an ascending range"
    yield net(a="a: {blueprint: a}", behind="blueprints:\n  a: {nodes: {x: {blueprint: a}}}\n"), 6, "deep"
    yield net(a="a: {count: 2, template: '{n.real}'}"), 2, "the template"
    yield "network:\n  groups: {a: {}}\n  nodes: {}\n  links: [{source: a, target: a}]\n", 2, "before 0.17"
    graph = fixture("infragraph")[2]
    graph = "".join(line for line in graph.splitlines(keepends=True) if "rack" not in line and "slow" not in line)
    graph = re.sub(r"(?m)^.*(?:fan|ring|host\[3\]).*\n", "", graph)
    yield graph.replace("device: sw, count: 1", "device: sw, count: 9999999"), 25, "not a number"
    yield graph.replace("count: 1, choice: device", "count: 1, choice: nic"), 28, "is not a device"
    yield graph.replace("name: NIC\n", "name: NIC\n  name: NIC\n"), 4, "twice"
    block = "- name: sw\n  components:\n  - {name: %s, count: 1, choice: %s}"
    yield graph.replace(block % ("asic", "cpu"), block % ("sw", "device")), 24, "deep"


REFUSED = list(refused())


@pytest.mark.parametrize("place", range(len(REFUSED)), ids=[f"{n}-{w}" for n, (_, _, w) in enumerate(REFUSED)])
def test_what_cannot_be_read_is_a_finding_at_its_line(place: int, tmp_path: Path) -> None:
    text, line, words = REFUSED[place]
    (tmp_path / "x.yaml").write_text(text)
    errors = [d for d in observed(tmp_path / "x.yaml").findings if d.severity is Severity.ERROR]
    assert [(d.code, d.span.begin[0] if d.span else 0) for d in errors] == [("E0601", line)], [d.message for d in errors]
    assert words in errors[0].message
