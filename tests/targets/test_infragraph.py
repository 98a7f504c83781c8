"""The target infragraph: its own package loads every link."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.targets.build import made, rows
from tests.targets.simulators import RAILS, SHARED


@pytest.mark.parametrize("text", [RAILS, SHARED], ids=["rails", "shared"])
def test_infragraph_loads_it_with_every_link(text: str, tmp_path: Path) -> None:
    """And refuses what is wrong."""
    infragraph = pytest.importorskip("infragraph")
    from infragraph.infragraph_service import InfraGraphService

    files, _ = made(text, tmp_path, "infragraph")
    document = json.loads(files["infragraph/fabric.yaml"])
    service = InfraGraphService()
    service.set_graph(infragraph.Infrastructure().deserialize(files["infragraph/fabric.yaml"].decode()))
    graph = service.get_networkx_graph()
    at = {name: (x["instance"], x["instance_idx"]) for name, x in graph.nodes(data=True)}
    assert len(set(at.values())) == len([d for d in rows(files, "devices") if d["kind"] != "chip"])
    outside = [(at[a], at[b]) for a, b in graph.edges() if at[a] != at[b]]
    order: dict[str, list[str]] = {}
    for d in rows(files, "devices"):
        order.setdefault(re.sub(r"\[[^\]]*\]", "", d["path"]).replace(".", "-"), []).append(d["name"])
    named = Counter(frozenset((order[i][k], order[j][m])) for (i, k), (j, m) in outside)
    assert named == Counter(frozenset((x["a_device"], x["b_device"])) for x in rows(files, "links"))
    assert {e["link"] for e in document["edges"]} == {x["name"] for x in document["links"]}
    document["instances"][0]["device"] = "NOBODY"
    with pytest.raises(Exception):  # noqa: B017
        InfraGraphService().set_graph(infragraph.Infrastructure().deserialize(json.dumps(document)))
