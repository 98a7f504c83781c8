"""Files of the InfiniBand targets and the links of fabric.json as a subnet manager names their ends."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from tdsl.fabric.graph import Fabric
from tests.targets import build, ib

FTREE = "osm_ucast_mgr_process: ftree tables configured on all switches"
UP = "SUBNET UP"


def made(fabric: Fabric, assets: bytes = b"", **noted: int) -> dict[str, bytes]:
    """Netlist, configuration and data of a fabric; findings must be those expected, counted by code."""
    files, found = build.files_of(fabric, "ibsim", "opensm", assets=assets.decode())
    assert Counter(d.code for d in found) == noted
    return files


def rehearsed(fabric: Fabric, **noted: int) -> dict[str, bytes]:
    """The same with the simulator's GUIDs for those of real assets."""
    return made(fabric, made(fabric, **noted)["ibsim/assets.csv"])


def planned(data: dict[str, Any], plane: int | None = None) -> frozenset[ib.Wire]:
    """The links of fabric.json as a subnet manager names their ends: a switch's port number, an adapter's only port."""
    files = {"fabric.json": json.dumps(data).encode()}
    kind = {d["name"]: d["kind"] for d in build.rows(files, "devices")}
    name = build.port_names(files)

    def end(link: dict[str, Any], side: str) -> ib.End:
        device, port = link[f"{side}_device"], link[f"{side}_port"]
        if kind[device] == "switch":
            return device, link[f"{side}_index"]
        return f"{device} {name(device, port) or re.sub(r'[][]', '', port)}", 1

    links = (x for x in build.rows(files, "links") if plane is None or x["plane"] == plane)
    return frozenset(frozenset((end(x, "a"), end(x, "b"))) for x in links)


def swap(text: str, switch: str, one: int, other: int) -> str:
    """The netlist with two cables of a switch exchanged, told from both ends as it must be."""
    records = text.split("\n\n")
    far: dict[int, str] = {}
    for record in records:
        if re.search(rf'^Switch\t\d+ "{switch}"', record, re.M):
            far = {int(p): n for p, n in re.findall(r'^\[(\d+)\]\t"([^"]+)"', record, flags=re.M)}
    a, b = far[one], far[other]
    out = []
    for record in records:
        if re.search(rf'^Switch\t\d+ "{switch}"', record, re.M):
            record = record.replace(f'[{one}]\t"{a}"', f'[{one}]\t"@"').replace(f'[{other}]\t"{b}"', f'[{other}]\t"{a}"')
            record = record.replace('"@"', f'"{b}"')
        for node, port, new in ((a, one, other), (b, other, one)):
            if re.search(rf'^(?:Ca\t1|Switch\t\d+) "{re.escape(node)}"', record, flags=re.M):
                record = record.replace(f'"{switch}"[{port}]', f'"{switch}"[{new}]')
        out.append(record)
    return "\n\n".join(out)


def of_opensm(files: dict[str, bytes], folder: str = "opensm/") -> dict[str, bytes]:
    return {p.removeprefix(folder): c for p, c in files.items() if p.startswith(folder)}


def guid(files: dict[str, bytes], device: str, port: str) -> str:
    """The placeholder of a port."""
    (found,) = re.findall(rf'^"{device}","{re.escape(port)}",.*,(\w+)$', files["ibsim/assets.csv"].decode(), re.M)
    return str(found)
