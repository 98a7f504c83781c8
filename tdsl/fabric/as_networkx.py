"""A fabric as a networkx graph, and that graph as GraphML, GEXF or node-link JSON.

Identifiers are row numbers, so nodes and edges can be joined with the fabric's columns; names stand in
attributes. An attribute that a device or link does not have is absent, never an empty or invented value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

from tdsl.semantics.settings import LINK_MEDIA

if TYPE_CHECKING:
    import networkx

    from tdsl.fabric.graph import Fabric

    Graph: TypeAlias = networkx.MultiGraph[int]

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_networkx(fabric: Fabric) -> Graph:
    """The built devices as nodes and the links as edges, as `Fabric.graph` describes them."""
    import networkx

    g: Graph = networkx.MultiGraph(name=fabric.name, layer=fabric.layer or "scaleout")
    cables = cables_of(fabric)
    planes = _plane_paths(fabric)
    for d, built in enumerate(fabric.built.tolist()):
        if built:
            g.add_node(d, **_node_attributes(fabric, d, planes))
    columns = (
        fabric.device_a,
        fabric.device_b,
        fabric.link_rate,
        fabric.link_a,
        fabric.link_b,
        fabric.link_class,
        fabric.link_medium,
        fabric.link_via_a,
        fabric.link_via_b,
    )
    networks = {
        row: member.name
        for member, links in zip(fabric.members, fabric.member_links, strict=True)
        for row in links.tolist()
    }
    rows = zip(*(c.tolist() for c in columns), strict=True)
    for row, (a, b, rate, port_a, port_b, cls, medium, via_a, via_b) in enumerate(rows):
        facts: dict[str, object] = {
            "rate_bps": rate,
            "class": fabric.classes[cls],
            "medium": LINK_MEDIA[medium],
            "a_port": fabric.port_path(port_a),
            "b_port": fabric.port_path(port_b),
        }
        if row in networks:
            facts["network"] = networks[row]
        if row in cables:
            facts["cable"] = " ".join(cables[row])
        if via_a >= 0:
            facts["via"] = " ".join(dict.fromkeys((fabric.port_path(via_a), fabric.port_path(via_b))))
        g.add_edge(a, b, row, **facts)
    return g


def _node_attributes(fabric: Fabric, device: int, planes: Mapping[int, str]) -> dict[str, object]:
    """The attributes of a node."""
    s = fabric.set_of(device)
    path = fabric.device_path(device)
    facts: dict[str, object] = {
        "name": fabric.device_name(device),
        "path": path,
        "kind": s.kind,
        "model": fabric.model_of(device).name,
        "declaration": s.path,
    }
    if s.role:
        facts["role"] = s.role
    if fabric.forwards[device]:
        facts["forwards"] = True
    if fabric.tier[device] >= 0:
        facts["tier"] = int(fabric.tier[device])
    if device in planes:
        facts["plane"] = planes[device]
    group = path.rpartition(".")[0]
    if s.inside is not None and s.inside.count:
        facts["container"] = s.inside.first + (device - s.first) // (s.count // s.inside.count)
        group = group.rpartition(".")[0]
    if group:
        facts["group"] = group
    return facts


def _plane_paths(fabric: Fabric) -> dict[int, str]:
    """The path of the plane instance that a device is in, of those that are in one."""
    out = {}
    for s in fabric.sets:
        depth = next((i for i, p in enumerate(s.parts) if p.kind == "plane"), -1)
        if depth >= 0:
            for d in range(s.first, s.first + s.count):
                out[d] = ".".join(fabric.device_path(d).split(".")[: depth + 1])
    return out


def cables_of(fabric: Fabric) -> dict[int, list[str]]:
    """Identifiers of the cables that each link runs through, from its lower end on."""
    from tdsl.fabric.cables.identity import CableIndex

    cables = CableIndex(fabric)
    links, legs = cables.crossings
    ids = cables.order[2]
    out: dict[int, list[str]] = {}
    for link, leg in zip(links.tolist(), legs.tolist(), strict=True):
        out.setdefault(link, []).append(ids[leg])
    return out


# ---------------------------------------------------------------- formats


def _xml_safe_graph(graph: Graph) -> Graph:
    """The graph with characters that XML 1.0 cannot hold replaced in its texts."""
    shown = graph.copy()
    every = [
        shown.graph,
        *(facts for _, facts in shown.nodes(data=True)),
        *(facts for *_, facts in shown.edges(data=True)),
    ]
    for facts in every:
        facts.update({k: NOT_IN_XML.sub("\ufffd", v) for k, v in facts.items() if isinstance(v, str)})
    return shown


def graphml_text(graph: Graph) -> str:
    """GraphML, as yEd, Gephi, igraph and networkx read it. Source of the format: graphml.graphdrawing.org."""
    import networkx

    return "\n".join(networkx.generate_graphml(_xml_safe_graph(graph), prettyprint=True)) + "\n"


def gexf_text(graph: Graph) -> str:
    """GEXF 1.2, as Gephi reads it, without the date that networkx writes into it."""
    import networkx

    shown = _xml_safe_graph(graph)
    for _, facts in shown.nodes(data=True):
        facts["label"] = facts["name"]
    out = BytesIO()
    networkx.write_gexf(shown, out, prettyprint=True)
    return re.sub(r"\n *<meta.*?</meta>", "", out.getvalue().decode("utf-8"), count=1, flags=re.DOTALL) + "\n"


def node_link(graph: Graph) -> str:
    """The node-link JSON of networkx, to be read with ``networkx.node_link_graph(json, edges="edges")``."""
    nodes = [{"id": n, **facts} for n, facts in graph.nodes(data=True)]
    edges = [
        {"source": a, "target": b, "key": key, **facts}
        for a, b, key, facts in graph.edges(keys=True, data=True)
    ]
    whole = {
        "directed": False,
        "multigraph": True,
        "graph": dict(graph.graph),
        "nodes": nodes,
        "edges": edges,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[Graph], str]] = {
    "graphml": graphml_text,
    "json": node_link,
    "gexf": gexf_text,
}
"""The formats by name."""
