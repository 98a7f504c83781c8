"""Captures of a cabling as programs print them, made from the ports of a fabric."""

from __future__ import annotations

import json
from pathlib import Path

from tdsl.fabric.columns import port_id
from tdsl.fabric.graph import Fabric
from tdsl.observe.audit import Audit, AuditSettings, audit_captures
from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import Observed
from tests.observe.plant import Cables


def netlist(cables: Cables, speed: dict[int, str] | None = None, names: dict[int, str] | None = None) -> str:
    """A netlist for ibsim: a node a switch, a node an adapter port, as the design names them; ``names`` are descriptions of
    devices that differ."""
    f = cables.fabric
    called = names or {}

    def node(port: int) -> tuple[str, int, str]:
        d = cables.device[port]
        name = called.get(d, f.device_name(d))
        if f.is_switch[d]:
            return f"{f.device_name(d)}", port - int(f.port_base[d]) + 1, name
        c, i = f.port_class(port)
        return f"{f.device_name(d)}:{port_id(c, i)}", 1, f"{name} {c.systems[i] or port_id(c, i)}"

    blocks: dict[str, list[str]] = {}
    for p in sorted(cables.far):
        q = cables.far[p]
        (ident, number, described), (far, there, _) = node(p), node(q)
        word = (speed or {}).get(p) or (speed or {}).get(q) or "4xHDR"
        if ident not in blocks:
            switch = bool(f.is_switch[cables.device[p]])
            count = int(f.port_base[cables.device[p] + 1] - f.port_base[cables.device[p]]) if switch else 1
            blocks[ident] = [f'{"Switch" if switch else "Ca"}\t{count} "{ident}"\t# "{described}"']
        blocks[ident].append(f'[{number}]\t"{far}"[{there}]\t# lid 0 {word}')
    return "\n\n".join("\n".join(b) for b in blocks.values()) + "\n"


def lldp(cables: Cables, folder: Path, json0: bool = True) -> None:
    """A file a device, as lldpcli prints the neighbours that it hears."""
    f = cables.fabric
    folder.mkdir(exist_ok=True)
    for d in range(f.device_count):
        heard = []
        for p in cables.used(d):
            q = cables.far[p]
            name, port = f.device_name(cables.device[q]), f.port_system(q) or f.port_label(q)
            own = f.port_system(p) or f.port_label(p)
            if json0:
                chassis = [{"id": [{"type": "mac", "value": "02:00:00:00:00:01"}], "name": [{"value": name}]}]
                heard.append({"name": own, "chassis": chassis, "port": [{"id": [{"type": "ifname", "value": port}]}]})
            else:
                heard.append(
                    {own: {"chassis": {name: {"id": {"value": "x"}}}, "port": {"id": {"type": "ifname", "value": port}}}}
                )
        inner = heard if json0 or len(heard) != 1 else heard[0]
        whole = {"lldp": [{"interface": inner}]} if json0 else {"lldp": {"interface": inner}}
        if heard:
            (folder / f"{f.device_name(d)}.json").write_text(json.dumps(whole, indent=1))


def audited(fabric: Fabric, *captures: tuple[str, Path], settings: AuditSettings | None = None) -> Audit:
    """An audit of captures by option and path."""
    observed = Observed()
    read_capture_files(captures, observed)
    return audit_captures(fabric, observed, settings)


def codes(made: Audit) -> list[str]:
    """Codes of the faults, in order."""
    return sorted(f.finding.code for f in made.faults)
