"""Node-link JSON against the encoder of the standard library, which indents in Python."""

from __future__ import annotations

import json

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tdsl.fabric.as_networkx import node_link

FACTS = st.dictionaries(
    st.sampled_from(["name", "path", "role", "rate_bps"]),
    st.one_of(
        st.text(max_size=4), st.integers(), st.booleans(), st.sampled_from([',\n   "x": 1', "}\n", '"\\', "\u2028", "\ud800"])
    ),
    max_size=3,
)


@given(
    st.dictionaries(st.integers(0, 9), FACTS, max_size=4),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 3), FACTS), max_size=4),
    st.dictionaries(st.sampled_from(["name", "layer"]), st.text(max_size=3)),
)
def test_the_bytes_are_those_of_the_encoder(nodes: dict[int, dict], edges: list[tuple], of_graph: dict[str, str]) -> None:
    graph = nx.MultiGraph(**of_graph)
    graph.add_nodes_from(nodes.items())
    for a, b, key, facts in edges:
        graph.add_edge(a, b, key, **facts)
    body = {
        "directed": False,
        "multigraph": True,
        "graph": dict(graph.graph),
        "nodes": [{"id": n, **facts} for n, facts in graph.nodes(data=True)],
        "edges": [{"source": a, "target": b, "key": key, **facts} for a, b, key, facts in graph.edges(keys=True, data=True)],
    }
    assert node_link(graph) == json.dumps(body, indent=1, ensure_ascii=False) + "\n"
