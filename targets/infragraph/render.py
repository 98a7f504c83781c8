"""The fabric as an InfraGraph: a device for each model, an instance for each set of devices, an edge for each
run of links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tdsl.emit.records import Link, Model
from tdsl.emit.rows import text_chunks
from tdsl.emit.view import FabricView
from tdsl.fabric.coded import Coded, Integers, Joined, Numbers, coded_combination, numbers_in_32_bits
from tdsl.fabric.columns import Table

EMPTY = "[]\n}"
"""How a document without edges ends."""
Place = tuple[str, int, str]
"""Instance of a device, number in it, model."""


class Names:
    """Names that the schema takes (letters, digits and _), each once: those of another alphabet get a
    number."""

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


def render(fabric: FabricView, options: Mapping[str, object]) -> Iterator[bytes]:
    """The document in pieces, as JSON, which is YAML, too."""
    devices, called, ends = _devices(fabric.models)
    instances: dict[tuple[str, str], tuple[str, list[str]]] = {}
    names = Names()
    at: dict[str, Place] = {}
    for d in fabric.devices:
        if d.model not in called:
            continue
        path = re.sub(r"\[[^\]]*\]", "", d.path).replace(".", "-")
        if (path, d.model) not in instances:
            instances[path, d.model] = names.of(path), []
        name, members = instances[path, d.model]
        at[d.name] = name, len(members), d.model
        members.append(d.name)
    edges, rates = _edges(fabric.links, at, ends)
    document = {
        "name": Names().of(fabric.name),
        "description": fabric.title,
        "devices": devices,
        "links": [
            {
                "name": n,
                "physical": {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": r}},
            }
            for n, r in sorted(rates.items(), key=lambda x: x[1])
        ],
        "instances": [
            {"name": n, "device": called[key[1]], "count": len(members)}
            for key, (n, members) in instances.items()
        ],
        "edges": [],
    }
    head = json.dumps(document, indent=1)
    if not len(edges):
        yield f"{head}\n".encode()
        return
    yield f"{head.removesuffix(EMPTY)}[\n".encode()
    yield from text_chunks(edges, ",\n")
    yield b"\n ]\n}\n"


def _devices(
    models: Sequence[Model],
) -> tuple[list[dict[str, object]], dict[str, str], dict[tuple[str, int], tuple[str, int]]]:
    """Devices, their names by model, and the component and number of every port. What joins ports inside is
    one component: accelerators of a host, the chip of a switch."""
    out: list[dict[str, object]] = []
    called: dict[str, str] = {}
    ends: dict[tuple[str, int], tuple[str, int]] = {}
    names = Names()
    for m in models:
        if not m.classes:
            continue
        called[m.key] = names.of(m.key)
        inside = Names()
        core, choice, count = (
            ("asic", "switch", 1)
            if m.kind not in ("host", "chip")
            else ("xpu", "xpu", max(m.accelerators, 1))
        )
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
            components.append(
                {"name": name, "count": len(c.ports), "choice": "nic" if m.kind == "host" else "port"}
            )
            edges.append({
                "ep1": {"component": f"{core}[0:{count}]"}, "ep2": {"component": f"{name}[0:{len(c.ports)}]"},
                "scheme": "one2one" if count == len(c.ports) else "many2many", "link": "inside",
            })  # fmt: skip
        out.append({"name": called[m.key], "description": m.title or m.name, "components": components,
                    "links": [{"name": "inside"}], "edges": edges})  # fmt: skip
    return out, called, ends


def _edges(
    links: Table[Link], at: Mapping[str, Place], ends: Mapping[tuple[str, int], tuple[str, int]]
) -> tuple[Joined, dict[str, float]]:
    """The edges as JSON in the order of their ends, and the rates that they have by name. Links between two
    devices whose ports follow each other at both ends are one edge, with slices at both ends."""
    ports = sorted(ends, key=lambda p: (ends[p], p))
    components = {name: n for n, name in enumerate(sorted({name for name, _ in ends.values()}))}
    component = np.array([components[ends[p][0]] for p in ports], dtype=np.int64)
    number = np.array([ends[p][1] for p in ports], dtype=np.int64)
    ended = [_coded(links, f"{side}_device") for side in "ab"]
    names, devices = [list(map(str, c.values)) for c in ended], [c.codes for c in ended]
    port = [_port(links, side, at, names[n], ports, devices[n]) for n, side in enumerate("ab")]
    rate, rates = _rates(links)
    rank = [np.empty(len(n), np.int64) for n in names]
    for n, called in enumerate(names):  # the order of devices: by instance, then by number
        rank[n][sorted(range(len(called)), key=lambda i, c=called: at.get(c[i], ("", -1))[:2])] = np.arange(
            len(called)
        )
    near, far = (rank[n][devices[n]] * len(ports) + port[n] for n in (0, 1))
    order = np.lexsort((rate.codes, far, near))
    device = [d[order] for d in devices]
    port = [p[order] for p in port]
    codes = rate.codes[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = codes[1:] != codes[:-1]
    for d, p in zip(device, port, strict=True):
        begins[1:] |= (
            (d[1:] != d[:-1])
            | (component[p[1:]] != component[p[:-1]])
            | (number[p[1:]] != number[p[:-1]] + 1)
        )
    first = np.flatnonzero(begins)
    length = np.diff(first, append=len(order))

    def end(n: int) -> tuple[Coded, str, Coded]:
        instances = [json.dumps("{}[{}]".format(*at[name])) if name in at else "" for name in names[n]]

        def ports_of_slice(p: int, run: int) -> str:
            name, start = ends[ports[p]]
            return json.dumps(f"{name}[{start}:{start + run}]")

        slices = coded_combination(
            ports_of_slice, (len(ports), port[n][first]), (int(length.max(initial=0)) + 1, length)
        )
        return Coded(instances, numbers_in_32_bits(device[n][first])), ',\n    "component": ', slices

    return Joined(
        '  {\n   "ep1": {\n    "instance": ', *end(0), '\n   },\n   "ep2": {\n    "instance": ', *end(1),
        '\n   },\n   "scheme": "one2one",\n   "link": ',
        Coded([json.dumps(v) for v in rate.values], numbers_in_32_bits(codes[first])), "\n  }",
    ), rates  # fmt: skip


def _port(
    links: Table[Link],
    side: str,
    at: Mapping[str, Place],
    names: Sequence[str],
    ports: Sequence[tuple[str, int]],
    device: Integers,
) -> Integers:  # fmt: skip
    """The port at one end of all links, by its place among ``ports``."""
    models = {model: n for n, model in enumerate(sorted({model for model, _ in ports}))}
    most = max((index for _, index in ports), default=0) + 1
    known = np.full(len(models) * most, -1, np.int32)
    for n, (model, index) in enumerate(ports):
        known[models[model] * most + index] = n
    model = np.array([models[at[name][2]] if name in at else 0 for name in names], dtype=np.int64)
    index = links.compact(f"{side}_index")
    assert isinstance(index, Numbers)
    found: Integers = known[model[device] * most + index.codes]
    return found


def _rates(links: Table[Link]) -> tuple[Coded, dict[str, float]]:
    """The rate of every link by its name, names in their order; and the rates by name."""
    rate = _coded(links, "rate_gbps")
    values, codes = rate.values, rate.codes
    called = [f"{value:g}G".replace(".", "_").replace("+", "") for value in values]
    rates: dict[str, float] = {}
    for name, value in zip(called, values, strict=True):
        if isinstance(value, (int, float)):
            rates[name] = value
    ordered = sorted(rates)
    return Coded(ordered, np.array([ordered.index(name) for name in called], dtype=np.int32)[codes]), rates


def _coded(links: Table[Link], name: str) -> Coded:
    """A column that is kept as few values."""
    column = links.compact(name)
    assert isinstance(column, Coded)
    return column
