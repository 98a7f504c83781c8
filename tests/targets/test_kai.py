"""The target kai: KAI's own definition takes the Topologies, whose levels are labels of the target kubernetes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.targets.build import design
from tests.targets.crds import documents, jsonschema
from tests.targets.inventories import DESIGN, made, yaml


@pytest.mark.parametrize(("text", "names"), [(DESIGN, ["pods"]), (design("racks"), ["racks", "racks-scaleup"])])
def test_levels_are_labels_of_nodes(text: str, names: list[str], tmp_path: Path) -> None:
    files = made(text, tmp_path, "kai", "kubernetes")
    found = documents(files["kai/topology.yaml"], "kai_topology")
    assert [t["metadata"]["name"] for t in found] == names
    labels = [n["metadata"]["labels"] for n in yaml.safe_load_all(files["kubernetes/labels.yaml"])]
    for topology in found:
        *levels, host = [level["nodeLabel"] for level in topology["spec"]["levels"]]
        assert host == "kubernetes.io/hostname" and len(set(levels)) == len(levels) >= 1
        assert all(level in of for level in levels for of in labels)
        if topology["metadata"]["name"] == names[0]:
            # from the top: what shares a level shares all above it
            for above, level in pairwise(levels):
                assert len({of[level] for of in labels}) == len({(of[above], of[level]) for of in labels})
    with pytest.raises(jsonschema.ValidationError):
        documents(files["kai/topology.yaml"].replace(b"nodeLabel", b"label"), "kai_topology")
