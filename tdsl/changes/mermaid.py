"""A change as a flowchart of Mermaid, which comments of GitHub and GitLab draw: declarations as nodes,
removed links red, added ones green.

Source of the form: the documentation of Mermaid, Flowcharts - Basic Syntax.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tdsl.changes.pictures import ChangedFabric, changed_fabric
from tdsl.drawing.picture import ADDED, CHANGE_COLOURS, REMOVED, STAYS
from tdsl.fabric.graph import Fabric
from tdsl.fabric.renamed import path_without_indices
from tdsl.system.nouns import counted_noun

MOST_NODES, MOST_EDGES = 40, 80
"""Declarations and bundles above which nothing is drawn: nobody could follow the lines."""
LINES = {STAYS: "---", REMOVED: "-.-", ADDED: "==="}
WIDTHS = {STAYS: 2, REMOVED: 3, ADDED: 4}
OTHER = re.compile(r"[^\w.\-:' ×+,()]")


def change_as_mermaid(before: Fabric, after: Fabric) -> str:
    """The flowchart as a fenced block of Markdown; "" where nothing comes or goes, or too much is there."""
    both = changed_fabric(before, after)
    fabric = both.fabric
    if not bool((both.links != STAYS).any() or (both.devices[fabric.built] != STAYS).any()):
        return ""
    names = [
        path_without_indices(fabric.device_path(s.first)).replace("'", "") if s.count else ""
        for s in fabric.sets
    ]
    count, kinds = _fates_and_models_of_devices(both, names)
    number = {name: k for k, name in enumerate(count)}
    edges = _bundles_by_fate(both, names)
    if len(count) > MOST_NODES or len(edges) > MOST_EDGES:
        return ""
    lines = ["```mermaid", "flowchart BT"]
    for name, fates in count.items():
        lines.append(f'  n{number[name]}["{_label_of_declaration(name, kinds[name], fates)}"]')
    styles = []
    for k, ((a, b, fate), n) in enumerate(
        sorted(edges.items(), key=lambda x: (number[x[0][0]], number[x[0][1]], x[0][2]))
    ):
        sign = {STAYS: "", REMOVED: "-", ADDED: "+"}[fate]
        lines.append(f'  n{number[a]} {LINES[fate]}|"{sign}{counted_noun(n, "link")}"| n{number[b]}')
        styles.append(f"  linkStyle {k} stroke:{CHANGE_COLOURS[fate]},stroke-width:{WIDTHS[fate]}px")
    for name, fates in count.items():
        whole = next((f for f in (ADDED, REMOVED) if fates[f] == sum(fates.values())), None)
        if whole is not None:
            styles.append(f"  style n{number[name]} stroke:{CHANGE_COLOURS[whole]},stroke-width:3px")
    return "\n".join([*lines, *styles, "```"])


def _fates_and_models_of_devices(
    both: ChangedFabric, names: Sequence[str]
) -> tuple[dict[str, Counter[int]], dict[str, str]]:
    """By the name of each declaration, how many of its devices stay, go and come, and their model."""
    fabric = both.fabric
    count: dict[str, Counter[int]] = {}
    kinds: dict[str, str] = {}
    for d in np.flatnonzero(fabric.built).tolist():
        name = names[int(fabric.device_set[d])]
        count.setdefault(name, Counter())[int(both.devices[d])] += 1
        kinds[name] = fabric.model_of(d).name
    return count, kinds


def _bundles_by_fate(both: ChangedFabric, names: Sequence[str]) -> Counter[tuple[str, str, int]]:
    """How many links between two declarations stay, go and come."""
    declared = both.fabric.device_set
    ends = zip(declared[both.fabric.device_a].tolist(), declared[both.fabric.device_b].tolist(), strict=True)
    return Counter((names[a], names[b], fate) for (a, b), fate in zip(ends, both.links.tolist(), strict=True))


def _label_of_declaration(name: str, model: str, fates: Counter[int]) -> str:
    """``leaf: 8 × SW (+2)``, without signs that have a meaning in Mermaid."""
    label = f"{name}: {sum(fates.values()) - fates[REMOVED]:,} × {model}"
    changed = [f"{sign}{fates[fate]:,}" for sign, fate in (("+", ADDED), ("-", REMOVED)) if fates[fate]]
    return OTHER.sub("_", label + (f" ({', '.join(changed)})" if changed else ""))
