"""Captures of a cabling as programs print them, made from the ports of a fabric."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
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


def ends(cables: Cables) -> Iterator[tuple[int, int]]:
    """Every cable once, as two ports."""
    return ((p, q) for p, q in sorted(cables.far.items()) if p < q)


def named(cables: Cables, port: int) -> tuple[str, str]:
    """A device and its port as the operating system names them."""
    f = cables.fabric
    return f.device_name(cables.device[port]), f.port_system(port) or f.port_label(port)


def scanned(cables: Cables, port: int) -> tuple[str, int, str, bool]:
    """GUID, port number, description and whether it is a switch, of the node that a subnet manager sees at a port."""
    f, d = cables.fabric, cables.device[port]
    if f.is_switch[d]:
        return f"{0xABC000 + d:016x}", port - int(f.port_base[d]) + 1, f.device_name(d), True
    return f"{0xDEF000 + port:016x}", 1, " ".join(named(cables, port)), False


def ibnetdiscover(cables: Cables) -> str:
    return netlist(cables, dict.fromkeys(cables.far, "4xNDR"))


def iblinkinfo(cables: Cables) -> str:
    """What ``iblinkinfo -l`` prints: a block a switch and a block an adapter."""
    blocks: dict[str, list[str]] = {}
    for p in sorted(cables.far):
        (guid, number, name, switch), (far, there, other, _) = scanned(cables, p), scanned(cables, cables.far[p])
        block = blocks.setdefault(guid, [f"Switch: 0x{guid} {name}:" if switch else f"CA: {name}:"])
        link = "==( 4X 106.25 Gbps Active/  LinkUp)==>"
        block.append(f'0x{guid} "{name}" 1 {number}[  ] {link} 0x{far} 2 {there}[  ] "{other}" ( )')
    return "".join("\n".join(b) + "\n" for b in blocks.values())


def ibdiagnet(cables: Cables) -> str:
    """The tables of ibdiagnet2.db_csv that matter: nodes, speeds of ports, links."""
    seen = {scanned(cables, p)[0]: scanned(cables, p) for p in sorted(cables.far)}
    lines = ["START_NODES", "NodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID,PortGUID,LocalPortNum"]
    lines += [f'"{n}",{64 if s else 1},{2 if s else 1},0x{g},0x{g},0x{g},1' for g, _, n, s in seen.values()]
    lines += ["END_NODES", "", "START_PORTS", "NodeGuid,PortGuid,PortNum,LinkWidthActv,LinkSpeedActv,LMC"]
    lines += [f"0x{g},0x{g},{n},2,2048,0" for g, n, *_ in (scanned(cables, p) for p in sorted(cables.far))]
    lines += ["END_PORTS", "START_EXTENDED", "a,b", "1", "END_EXTENDED", "START_LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2"]
    for p, q in ends(cables):
        (g, n, *_), (h, m, *_) = scanned(cables, p), scanned(cables, q)
        lines.append(f"0x{g},{n},0x{h},{m}")
    return "\n".join([*lines, "END_LINKS", ""])


def ufm(cables: Cables) -> str:
    """What UFM answers: each link once from each side."""
    out = []
    for p, q in cables.far.items():
        link: dict[str, object] = {"width": "4x"}
        for side, (guid, number, name, _) in (("source", scanned(cables, p)), ("destination", scanned(cables, q))):
            link |= {f"{side}_guid": guid, f"{side}_port": str(number), f"{side}_port_dname": str(number)}
            link[f"{side}_port_node_description"] = f"{name}:{number}"
        out.append(link)
    return json.dumps(out, indent=1)


def p2p(cables: Cables) -> str:
    rows = [",".join((*named(cables, p), *named(cables, q))) for p, q in ends(cables)]
    return "\n".join(["a_device,a_port,b_device,b_port", *rows, ""])


def netbox(cables: Cables) -> str:
    def side(p: int) -> list[object]:
        device, name = named(cables, p)
        return [{"object_type": "dcim.interface", "object": {"device": {"name": device}, "name": name}}]

    return json.dumps([{"a_terminations": side(p), "b_terminations": side(q)} for p, q in ends(cables)], indent=1)


def batfish(cables: Cables) -> str:
    def side(p: int) -> dict[str, str]:
        return dict(zip(("hostname", "interfaceName"), named(cables, p), strict=True))

    return json.dumps({"edges": [{"node1": side(p), "node2": side(q)} for p, q in ends(cables)]}, indent=1)


def netq(cables: Cables) -> str:
    def side(p: int) -> dict[str, str]:
        return dict(zip(("node", "interface"), named(cables, p), strict=True))

    return json.dumps([{"links": [{"compounded_links": [{"interfaces": [side(p), side(q)]} for p, q in ends(cables)]}]}])


def ptm(cables: Cables) -> str:
    def side(p: int) -> str:
        return ":".join(f'"{x}"' for x in named(cables, p))

    return "\n".join(["graph G {", *(f"{side(p)} -- {side(q)};" for p, q in ends(cables)), "}", ""])


Heard = list[tuple[str, str, str]]
"""What one device hears: its port, the neighbour and the neighbour's port."""


def lldpd(device: str, heard: Heard) -> str:
    told = [{p: {"chassis": {n: {"id": {"type": "local", "value": n}}}, "port": {"id": {"value": q}}}} for p, n, q in heard]
    return json.dumps({"lldp": {"interface": told}}, indent=1)


def lldpd_text(device: str, heard: Heard) -> str:
    rule = "-" * 40 + "\n"
    form = "Interface:    {}, via: LLDP\n  Chassis:\n    ChassisID:    local {}\n    SysName:      {}\n"
    form += "  Port:\n    PortID:       ifname {}\n"
    return f"{rule}LLDP neighbors:\n{rule}" + "".join(form.format(p, n, n, q) + rule for p, n, q in heard)


def nxos(device: str, heard: Heard) -> str:
    form = "Chassis id: 0000.0000.00b1\nPort id: {}\nLocal Port id: {}\nSystem Name: {}\n\n"
    return "Capability codes:\n" + "".join(form.format(q, p, n) for p, n, q in heard)


def eos(device: str, heard: Heard) -> str:
    told = {p: {"lldpNeighborInfo": [{"systemName": n, "neighborInterfaceInfo": {"interfaceId": f'"{q}"'}}]} for p, n, q in heard}
    return json.dumps({"lldpNeighbors": told}, indent=1)


def napalm(device: str, heard: Heard) -> str:
    return json.dumps({p: [{"remote_system_name": n, "remote_port": q}] for p, n, q in heard}, indent=1)


def nvue(device: str, heard: Heard) -> str:
    return json.dumps(
        {p: {"lldp": {"neighbor": {n: {"chassis": {"system-name": n}, "port": {"name": q}}}}} for p, n, q in heard}, indent=1
    )


def sonic(device: str, heard: Heard) -> str:
    told = {f"LLDP_ENTRY_TABLE:{p}": {"lldp_rem_port_id": q, "lldp_rem_sys_name": n} for p, n, q in heard}
    return json.dumps({"LLDP_LOC_CHASSIS": {"lldp_loc_sys_name": device}, **told}, indent=1)


WHOLE: dict[str, Callable[[Cables], str]] = {
    "batfish": batfish, "ibdiagnet": ibdiagnet, "iblinkinfo": iblinkinfo, "ibnetdiscover": ibnetdiscover, "netbox": netbox,
    "netq": netq, "p2p": p2p, "ptm": ptm, "ufm": ufm,
}  # fmt: skip
"""By reader: a capture of all cables."""
BY_DEVICE: dict[str, Callable[[str, Heard], str]] = {
    "eos": eos, "lldpd": lldpd, "lldpd-text": lldpd_text, "napalm": napalm, "nvue": nvue, "nxos": nxos, "sonic": sonic,
}  # fmt: skip
"""By reader: a capture a device."""


def capture(reader: str, cables: Cables, folder: Path) -> Path:
    """The cabling in the format of a reader: a file, or a folder with one a device."""
    if reader in WHOLE:
        path = folder / f"{reader}.txt"
        path.write_text(WHOLE[reader](cables))
        return path
    (folder / reader).mkdir()
    f = cables.fabric
    for d in range(f.device_count):
        if heard := [(named(cables, p)[1], *named(cables, cables.far[p])) for p in cables.used(d)]:
            (folder / reader / f"{f.device_name(d)}.txt").write_text(BY_DEVICE[reader](f.device_name(d), heard))
    return folder / reader


def audited(fabric: Fabric, *captures: tuple[str, Path], settings: AuditSettings | None = None) -> Audit:
    """An audit of captures by option and path."""
    observed = Observed()
    read_capture_files(captures, observed)
    return audit_captures(fabric, observed, settings)


def codes(made: Audit) -> list[str]:
    """Codes of the faults, in order."""
    return sorted(f.finding.code for f in made.faults)
