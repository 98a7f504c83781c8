"""Blast radius: the figure is the formula of its page, counted with networkx on small random fabrics."""

from __future__ import annotations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import claim, random_chips, random_fabric, selector
from tests.harness import compile_text
from tests.verify import judges


def unreached_endpoints(f: Fabric, failed: int) -> int:
    """Ports of hosts (chips that forward count as one) that have a link, and no path to another host once a device failed."""
    hosts, inner = judges.units(f), judges.forwarders(f)
    g: nx.Graph = nx.Graph()
    endpoints = set()
    for pa, pb in zip(f.link_a.tolist(), f.link_b.tolist(), strict=True):
        nodes = []
        for port in (pa, pb):
            device = int(f.port_device[port])
            node = ("device", device, -1) if device in inner else ("port", device, port)
            if device in hosts:
                endpoints.add(node)
            nodes.append(node)
        if failed not in (nodes[0][1], nodes[1][1]):
            g.add_edge(*nodes)
    lost = 0
    for endpoint in endpoints:
        reached = nx.node_connected_component(g, endpoint) if endpoint in g else {endpoint}
        lost += not any(device != endpoint[1] and device in hosts for _, device, _ in reached)
    return lost


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 6), st.integers(2, 5), st.integers(1, 3), st.integers(0, 6), st.integers(0, 2),
    st.sampled_from(["sw", "node"]),
)  # fmt: skip
def test_figure_is_the_formula(seed, switches, hosts, nics, cables, loose, path):
    f = random_fabric(seed, switches, hosts, nics, cables, loose).build()
    found = checks_by_name()["blast_radius"].judge(View.whole(f), claim(f, "blast_radius", of=(selector(f, path),)))
    devices = range(switches) if path == "sw" else range(hosts)
    first = next(s.first for s in f.sets if s.name == path)
    assert (found.status, found.value) == ("proved", max(unreached_endpoints(f, first + d) for d in devices))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 9))
def test_chips_that_forward_are_one_endpoint_each(seed, chips, cables):
    f = random_chips(seed, chips, cables).build()
    if not f.link_count:
        return
    found = checks_by_name()["blast_radius"].judge(View.whole(f), claim(f, "blast_radius", of=(selector(f, "chip"),)))
    assert found.value == max(unreached_endpoints(f, d) for d in range(chips))


def test_a_host_that_is_isolated_already_counts(tmp_path):
    """node[2] is alone on leaf[1]: its two ports reach no other host, whichever leaf fails."""
    text = """
    model host N { port nic[2]: 400Gbps; chip gpu: G }
    model chip G { port lane: 400Gbps }
    model switch SW { port p[1..16]: 400Gbps }
    fabric f { host node[3]: N; switch leaf[2]: SW; connect node[n].nic[i] to leaf[n//2]; report blast_radius of leaf }
    """
    result = next(r for r in compile_text(text, tmp_path, models=False).designs[0].results if r.check == "blast_radius")
    assert (result.value, result.witness["element"]) == (6, "leaf[0]")
    assert (result.witness["hosts_cut_off"], result.witness["hosts_degraded"]) == (3, 0)
