"""Slurm's topology: ``scontrol show topology``, ``topology.conf`` and ``topology.yaml``: the switch, or
the block, that each node is under.

Source: topology.conf(5), topology.yaml(5), and scontrol(1), ``show topology``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._hostlists import MOST_HOSTS, expand_hostlist
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.readers._yaml import documents_of_yaml, lines_of_names
from tdsl.observe.record import CapturedPlacement, CaptureLine, Malformed, Observed, plain_capture_name

FORMAT = "slurm-topology"
OPTION = "scheduler"
LINE = re.compile(r"\s*+(SwitchName|BlockName|BlockSizes?)\s*+=\s*+(\S++)(.*)", re.IGNORECASE)
SETTING = re.compile(r"(?<!\w)(\w++)=(\S++)")
LONGEST_ROW = 1 << 20
"""Characters of a line: hosts that nobody folded stand in one."""
TREE, BLOCK = "Slurm tree", "Slurm blocks"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return (
        re.search(r"^[ \t]*+(?:SwitchName|BlockName)[ \t]*+=", head, re.MULTILINE | re.IGNORECASE) is not None
        or re.search(r"^-?[ \t]*+-[ \t]*+topology[ \t]*+:", head, re.MULTILINE) is not None
    )


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the group of each node: the lowest switch that names it, and its block."""
    groups = _groups_of_yaml if _is_yaml(file.text) else _groups_of_text
    left = MOST_HOSTS
    for source, name, nodes, number in groups(file, into):
        at = CaptureLine(file, number)
        try:
            hosts = expand_hostlist(nodes, number, left)
            left -= len(hosts)
            for node in hosts:
                key = add_device(into, node, "", at)
                into.fact(CapturedPlacement(key, source, 0, plain_capture_name(name, number), at))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _is_yaml(text: str) -> bool:
    return re.search(r"^-?[ \t]*+-[ \t]*+topology[ \t]*+:", text, re.MULTILINE) is not None


def _groups_of_text(file: SourceFile, into: Observed) -> Iterator[tuple[str, str, str, int]]:
    """Groups with nodes: source, name, list of hosts, line. A switch that names other switches lists
    their nodes again, and is not the lowest."""
    for number, raw in enumerate(file.text.split("\n"), 1):
        text = raw.split("#", 1)[0]
        if not text.strip():
            continue
        found = LINE.fullmatch(text)
        if found is None:
            into.fault(
                file,
                number,
                f"this line is neither a switch nor a block: {raw.strip()[:60]!r}",
                "SwitchName=s0 Nodes=n[0-3]",
            )
            continue
        settings = {k.lower(): v for k, v in SETTING.findall(found[3])}
        kind = found[1].lower()
        lowest = "switches" not in settings or settings.get("level") == "0"
        if "nodes" in settings and kind != "blocksizes" and lowest:
            yield (BLOCK if kind == "blockname" else TREE), found[2], settings["nodes"], number
        elif "nodes" not in settings and "switches" not in settings and not kind.startswith("blocksize"):
            into.fault(
                file, number, f"{found[2]} has neither nodes nor switches", "SwitchName=s0 Nodes=n[0-3]"
            )


def _groups_of_yaml(file: SourceFile, into: Observed) -> Iterator[tuple[str, str, str, int]]:
    """Groups with nodes: source, name, list of hosts, line. Raises Malformed where it is not YAML."""
    documents = documents_of_yaml(file, "give topology.yaml as slurmctld reads it")
    lines = lines_of_names(file, "switch|block")
    for row in _rows_of_yaml(documents[0] if documents else None):
        name = row.get("switch", row.get("block")) if isinstance(row, dict) else None
        line = lines.get(str(name), 1)
        if not isinstance(name, str) or not isinstance(row.get("nodes", ""), str):
            into.fault(file, line, "a group has no name, or its nodes are no list of hosts as text")
        elif "nodes" in row:
            yield (TREE if "switch" in row else BLOCK), name, row["nodes"], line


def _rows_of_yaml(whole: object) -> Iterator[Any]:
    """The switches and blocks of all topologies of a file, as YAML gives them."""
    for top in whole if isinstance(whole, list) else []:
        inner = top.get("tree", top.get("block")) if isinstance(top, dict) else None
        rows: Any = (inner.get("switches") or inner.get("blocks")) if isinstance(inner, dict) else None
        yield from rows if isinstance(rows, list) else []
