"""The fabric as a simulation for NVIDIA Air: nodes, and pairs of interfaces that are linked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tdsl.emit.quote import FileLeftOut, dns_host_name, linux_interface_name
from tdsl.emit.view import FabricView

SIZES = {"switch": (2, 4096, 20), "host": (1, 1024, 10)}
"""Cores, MiB of memory and GB of disk of a node."""
OOB_NODES = ("oob-mgmt-server", "oob-mgmt-switch")


def render(fabric: FabricView, options: Mapping[str, object]) -> Iterator[bytes]:
    """The document in pieces. A link whose interface names are not known is left out.

    Raises FileLeftOut where Air's own management network would take an interface or a name of the design.
    """
    columns = [
        fabric.links.column(c) for c in ("a_device", "a_interface", "b_device", "b_interface", "infiniband")
    ]
    links = [
        (a, m, b, n) for a, m, b, n, infiniband in zip(*columns, strict=True) if m and n and not infiniband
    ]
    kinds = {d.name: str(d.kind) for d in fabric.devices if not d.inside}
    taken: dict[str, str] = {}
    called = {
        name: dns_host_name(name, taken)
        for name in dict.fromkeys(end for a, _, b, _ in links for end in (a, b))
        if kinds.get(name) in SIZES
    }
    managed = options["oob"] is True
    if managed:
        _refuse_taken_by_management(links, called)
    nodes = {
        mine: {
            "os": str(options["switch_os"] if kinds[name] == "switch" else options["host_os"]),
            **dict(zip(("cpu", "memory", "storage"), SIZES[kinds[name]], strict=True)),
        }
        for name, mine in called.items()
    }
    name = json.dumps(fabric.title, ensure_ascii=False)
    yield f'{{"format": "JSON", "name": {name}, "ztp": null, "content": {{\n"nodes": {{\n'.encode()
    yield ",\n".join(f"{json.dumps(n)}: {json.dumps(facts)}" for n, facts in nodes.items()).encode()
    yield b'\n},\n"links": [\n'
    yield ",\n".join(
        json.dumps(
            [
                {"interface": linux_interface_name(m), "node": called[a]},
                {"interface": linux_interface_name(n), "node": called[b]},
            ]
        )
        for a, m, b, n in links
        if a in called and b in called
    ).encode()
    yield f'\n],\n"oob": {json.dumps(managed)}\n}}}}\n'.encode()


def _refuse_taken_by_management(links: list[tuple[str, str, str, str]], called: Mapping[str, str]) -> None:
    """Raises FileLeftOut for a name of a node or an interface that the management network of Air has."""
    for name, mine in called.items():
        if mine in OOB_NODES:
            raise FileLeftOut(f"{name} is a node that Air adds, too: `air.oob=false`")
    for a, m, b, n in links:
        if "eth0" in (m, n):
            end = a if m == "eth0" else b
            raise FileLeftOut(
                f"eth0 of {end} has a link, and Air's management network takes it: `air.oob=false`"
            )
