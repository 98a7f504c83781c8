"""Files of the InfiniBand targets and the links of fabric.json as a subnet manager names their ends."""

from __future__ import annotations

import re
from collections import Counter

from tdsl.emit.build import BuildOptions, build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.targets import ib

FTREE = "osm_ucast_mgr_process: ftree tables configured on all switches"


def made(fabric: Fabric, assets: bytes = b"", **noted: int) -> dict[str, bytes]:
    """Netlist, configuration and data of a fabric; findings must be those expected, counted by code."""
    found = Diagnostics()
    table = SourceFile("assets.csv", assets.decode()) if assets else None
    files = build_files(fabric, ["ibsim", "opensm", "json"], found, BuildOptions(assets=table))
    assert Counter(d.code for d in found) == noted
    return files


def rehearsed(fabric: Fabric, **noted: int) -> dict[str, bytes]:
    """The same with the simulator's GUIDs for those of real assets."""
    return made(fabric, made(fabric, **noted)["ibsim/assets.csv"])


def planned(data: dict[str, object], plane: int | None = None) -> frozenset[ib.Wire]:
    """The links of fabric.json as a subnet manager names their ends: a switch's port number, an adapter's only port."""

    def rows(table: str) -> list[dict[str, object]]:
        t = data[table]
        return [dict(zip(t["columns"], r, strict=True)) for r in t["rows"]]  # type: ignore[index]

    systems = {
        (m["key"], port): system
        for m in data["models"]  # type: ignore[attr-defined]
        for c in m["classes"]
        for port, _, _, system, _ in c["ports"]
    }
    device = {d["name"]: d for d in rows("devices")}

    def end(link: dict[str, object], side: str) -> ib.End:
        name, port, index = str(link[f"{side}_device"]), str(link[f"{side}_port"]), link[f"{side}_index"]
        if device[name]["kind"] == "switch":
            return name, int(str(index))
        system = systems[device[name]["model"], port]
        return f"{name} {system or port.replace('[', '').replace(']', '')}", 1

    return frozenset(frozenset((end(x, "a"), end(x, "b"))) for x in rows("links") if plane is None or x["plane"] == plane)


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


UP = "SUBNET UP"


def of_opensm(files: dict[str, bytes], folder: str = "opensm/") -> dict[str, bytes]:
    return {p.removeprefix(folder): c for p, c in files.items() if p.startswith(folder)}


def guid(files: dict[str, bytes], device: str, port: str) -> str:
    """The placeholder of a port."""
    (found,) = re.findall(rf'^"{device}","{re.escape(port)}",.*,(\w+)$', files["ibsim/assets.csv"].decode(), re.M)
    return str(found)


RAILS = """
fabric f {
  host node[3]: DGX_H100
  switch leaf[8]: QM9700
  connect node[n].nic[r] to leaf[r]
}
"""
