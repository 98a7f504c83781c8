"""The fabric as an InfraGraph: a device for each model, an instance for each set of devices, an edge for each run of links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from tdsl.emit.records import Model
from tdsl.emit.view import FabricView

End = tuple[str, int, str, int]
"""Instance, number in it, component, number in it."""
Edge = tuple[End, End, str]


class Names:
    """Names that the schema takes (letters, digits and _), each once: those of another alphabet get a number."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def of(self, text: str) -> str:
        """A name like this text that no other has."""
        stem = re.sub(r"[^a-zA-Z0-9_-]", "_", text) or "_"
        name, number = stem, 2
        while name in self.taken:
            name, number = f"{stem}_{number}", number + 1
        self.taken.add(name)
        return name


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The document, as JSON, which is YAML, too."""
    devices, called, ends = _devices(fabric.models)
    instances: dict[tuple[str, str], tuple[str, list[str]]] = {}
    names, at = Names(), {}
    for d in fabric.devices:
        if d.model not in called:
            continue
        path = re.sub(r"\[[^\]]*\]", "", d.path).replace(".", "-")
        if (path, d.model) not in instances:
            instances[path, d.model] = names.of(path), []
        name, members = instances[path, d.model]
        at[d.name] = name, len(members), d.model
        members.append(d.name)
    edges: list[Edge] = []
    rates: dict[str, float] = {}
    for link in fabric.links:
        sides = (link.a_device, link.a_index), (link.b_device, link.b_index)
        near, far = ((*at[name][:2], *ends[at[name][2], port]) for name, port in sides)
        rate = f"{link.rate_gbps:g}G".replace(".", "_").replace("+", "")
        rates[rate] = link.rate_gbps
        edges.append((near, far, rate))
    document = {
        "name": Names().of(fabric.name),
        "description": fabric.title,
        "devices": devices,
        "links": [
            {"name": n, "physical": {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": r}}}
            for n, r in sorted(rates.items(), key=lambda x: x[1])
        ],
        "instances": [{"name": n, "device": called[key[1]], "count": len(members)} for key, (n, members) in instances.items()],
        "edges": [_edge(run) for run in _runs(sorted(edges))],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def _devices(models: Sequence[Model]) -> tuple[list[dict[str, object]], dict[str, str], dict[tuple[str, int], tuple[str, int]]]:
    """Devices, their names by model, and the component and number of every port. What joins ports inside is one component:
    accelerators of a host, the chip of a switch."""
    out: list[dict[str, object]] = []
    called: dict[str, str] = {}
    ends: dict[tuple[str, int], tuple[str, int]] = {}
    names = Names()
    for m in models:
        if not m.classes:
            continue
        called[m.key] = names.of(m.key)
        inside = Names()
        core, choice, count = ("asic", "switch", 1) if m.kind not in ("host", "chip") else ("xpu", "xpu", max(m.accelerators, 1))
        if m.kind == "host" and not m.accelerators:
            core = choice = "cpu"
        core = inside.of(core)
        components: list[dict[str, object]] = [{"name": core, "count": count, "choice": choice}]
        edges = []
        for c in m.classes:
            if not c.ports:
                continue
            name = inside.of(c.name)
            ends |= {(m.key, port.index): (name, k) for k, port in enumerate(c.ports)}
            components.append({"name": name, "count": len(c.ports), "choice": "nic" if m.kind == "host" else "port"})
            edges.append({
                "ep1": {"component": f"{core}[0:{count}]"}, "ep2": {"component": f"{name}[0:{len(c.ports)}]"},
                "scheme": "one2one" if count == len(c.ports) else "many2many", "link": "inside",
            })  # fmt: skip
        out.append({"name": called[m.key], "description": m.title or m.name, "components": components,
                    "links": [{"name": "inside"}], "edges": edges})  # fmt: skip
    return out, called, ends


def _runs(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    """Links between two devices whose ports follow each other at both ends."""
    run: list[Edge] = []
    for edge in edges:
        following = run and run[-1][2] == edge[2] and all(
            old[:3] == new[:3] and new[3] == old[3] + 1 for old, new in zip(run[-1][:2], edge[:2], strict=True)
        )  # fmt: skip
        if run and not following:
            yield run
            run = []
        run.append(edge)
    if run:
        yield run


def _edge(run: Sequence[Edge]) -> dict[str, object]:
    """A run of links, as slices at both ends."""

    def end(first: End) -> dict[str, str]:
        instance, number, component, port = first
        return {"instance": f"{instance}[{number}]", "component": f"{component}[{port}:{port + len(run)}]"}

    return {"ep1": end(run[0][0]), "ep2": end(run[0][1]), "scheme": "one2one", "link": run[0][2]}
