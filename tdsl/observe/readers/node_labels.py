"""Labels of Kubernetes nodes that say where they are in the network: ``kubectl get nodes -o json`` or
``-o yaml``, or a file of Node objects.

Source: NVIDIA topograph, "Node Labels and Annotations": ``fabric.topograph.run/tier-N``, and the older
``network.topology.nvidia.com/leaf``, ``spine``, ``core`` and ``accelerator``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device, json_of_capture
from tdsl.observe.readers._yaml import documents_of_yaml, lines_of_names
from tdsl.observe.record import CapturedPlacement, CaptureLine, Malformed, Observed, plain_capture_name

FORMAT = "node-labels"
OPTION = "scheduler"
TIER = re.compile(r"fabric\.topograph\.run/tier-(\d{1,2})")
OLDER = {"leaf": 0, "block": 0, "spine": 1, "core": 2, "datacenter": 2}
SOURCE = "Kubernetes labels"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return re.search(r"\"?kind\"?\s*:\s*\"?(?:Node|List|NodeList)\b", head) is not None and "labels" in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the lowest group of each node; a node without such a label is left out with the reason."""
    at_line = 0
    lines = lines_of_names(file, "name")
    for node in _nodes_of_file(file):
        facts = node.get("metadata")
        name = facts.get("name") if isinstance(facts, dict) else None
        if not isinstance(name, str):
            into.fault(file, max(at_line, 1), "a Node has no name")
            continue
        at_line = lines.get(name, 1)
        at = CaptureLine(file, at_line)
        labels = facts.get("labels") if isinstance(facts, dict) else None
        tiers = sorted(_tiers_of_labels(labels if isinstance(labels, dict) else {}))
        if not tiers:
            into.leave_fact_out("the node has no label of its place in the network", at, f"node {name}")
            continue
        try:
            key = add_device(into, name, "", at)
            level, group = tiers[0]
            into.fact(CapturedPlacement(key, SOURCE, level, plain_capture_name(group, at_line), at))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _tiers_of_labels(labels: dict[str, Any]) -> Iterator[tuple[int, str]]:
    for key, value in labels.items():
        tier = TIER.fullmatch(str(key))
        word = str(key).removeprefix("network.topology.nvidia.com/")
        if tier:
            yield int(tier[1]), str(value)
        elif word != key and word in OLDER:
            yield OLDER[word], str(value)


def _nodes_of_file(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Node objects of JSON or YAML. Raises Malformed."""
    if file.text.lstrip()[:1] in ("{", "["):
        whole = [json_of_capture(file)]
    else:
        whole = documents_of_yaml(file, "capture it with -o json")
    for top in whole:
        items = top.get("items") if isinstance(top, dict) else top
        rows = items if isinstance(items, list) else [top]
        yield from (r for r in rows if isinstance(r, dict) and r.get("kind", "Node") == "Node")
