"""A change as a flowchart of Mermaid, which comments of GitHub and GitLab draw: declarations as nodes,
removed links red, added ones green.

Source of the form: the documentation of Mermaid, Flowcharts - Basic Syntax.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from tdsl.changes.pictures import changed_fabric
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
    count: dict[str, Counter[int]] = {}
    kinds: dict[str, str] = {}
    for d in np.flatnonzero(fabric.built).tolist():
        name = names[int(fabric.device_set[d])]
        count.setdefault(name, Counter())[int(both.devices[d])] += 1
        kinds[name] = fabric.model_of(d).name
    ends = zip(
        fabric.device_set[fabric.device_a].tolist(), fabric.device_set[fabric.device_b].tolist(), strict=True
    )
    edges: Counter[tuple[str, str, int]] = Counter(
        (names[a], names[b], fate) for (a, b), fate in zip(ends, both.links.tolist(), strict=True)
    )
    if len(count) > MOST_NODES or len(edges) > MOST_EDGES:
        return ""
    number = {name: k for k, name in enumerate(count)}
    lines = ["```mermaid", "flowchart BT"]
    for name, fates in count.items():
        label = f"{name}: {sum(fates.values()) - fates[REMOVED]:,} × {kinds[name]}"
        changed = [f"{sign}{fates[fate]:,}" for sign, fate in (("+", ADDED), ("-", REMOVED)) if fates[fate]]
        label += f" ({', '.join(changed)})" if changed else ""
        lines.append(f'  n{number[name]}["{OTHER.sub("_", label)}"]')
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
