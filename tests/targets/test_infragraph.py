"""The target infragraph: its own package loads every link."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.targets.simulators import RAILS, SHARED, made, rows


@pytest.mark.parametrize("text", [RAILS, SHARED], ids=["rails", "shared"])
def test_infragraph_loads_it_with_every_link(text: str, tmp_path: Path) -> None:
    infragraph = pytest.importorskip("infragraph")
    from infragraph.infragraph_service import InfraGraphService

    files, _ = made(text, tmp_path, "infragraph")
    document = json.loads(files["infragraph/fabric.yaml"])
    service = InfraGraphService()
    service.set_graph(infragraph.Infrastructure().deserialize(files["infragraph/fabric.yaml"].decode()))
    graph = service.get_networkx_graph()
    devices = {(x["instance"], x["instance_idx"]) for _, x in graph.nodes(data=True)}
    assert len(devices) == len(rows(files, "devices")) - sum(d["kind"] == "chip" for d in rows(files, "devices"))
    at = {name: (x["instance"], x["instance_idx"]) for name, x in graph.nodes(data=True)}
    outside = [(at[a], at[b]) for a, b in graph.edges() if at[a] != at[b]]
    links = rows(files, "links")
    assert len(outside) == len(links)
    order: dict[str, list[str]] = {}
    for d in rows(files, "devices"):
        order.setdefault(re.sub(r"\[[^\]]*\]", "", d["path"]).replace(".", "-"), []).append(d["name"])
    named = Counter(frozenset((order[i][k], order[j][m])) for (i, k), (j, m) in outside)
    assert named == Counter(frozenset((x["a_device"], x["b_device"])) for x in links)
    assert {e["link"] for e in document["edges"]} == {x["name"] for x in document["links"]}


def test_infragraph_refuses_what_is_wrong(tmp_path: Path) -> None:
    infragraph = pytest.importorskip("infragraph")
    from infragraph.infragraph_service import InfraGraphService

    files, _ = made(RAILS, tmp_path, "infragraph")
    document = json.loads(files["infragraph/fabric.yaml"])
    document["instances"][0]["device"] = "NOBODY"
    with pytest.raises(Exception):  # noqa: B017
        InfraGraphService().set_graph(infragraph.Infrastructure().deserialize(json.dumps(document)))
