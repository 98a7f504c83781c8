"""Captures of a cabling as programs print them, made from the ports of a fabric."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tdsl.fabric.columns import port_id
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic
from tdsl.observe.audit import Audit, AuditSettings, audit_captures
from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import Observed
from tdsl.observe.report import audit_summary
from tests.observe.plant import Cables


def netlist(cables: Cables, speed: dict[int, str] | None = None, names: dict[int, str] | None = None) -> str:
    """A netlist for ibsim: a node a switch, a node an adapter port, as the design names them; ``names`` are descriptions of
    devices that differ."""
    f = cables.fabric

    def node(port: int) -> tuple[str, int, str]:
        d = cables.device[port]
        name = (names or {}).get(d, f.device_name(d))
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


def ends(cables: Cables) -> Iterator[tuple[int, int]]:
    """Every cable once, as two ports."""
    return ((p, q) for p, q in sorted(cables.far.items()) if p < q)


def named(cables: Cables, port: int) -> tuple[str, str]:
    """A device and its port as the operating system names them."""
    f = cables.fabric
    return f.device_name(cables.device[port]), f.port_system(port) or f.port_label(port)


def ends_by_name(fabric: Fabric) -> set[frozenset[str]]:
    """Links by the names of their devices, with the numbers of ports of switches and the names of others."""

    def end(port: int) -> str:
        d = int(fabric.port_device[port])
        c, i = fabric.port_class(port)
        here = port - int(fabric.port_base[d]) + 1 if fabric.is_switch[d] else c.systems[i] or port_id(c, i)
        return f"{fabric.device_name(d)} {here}"

    return {frozenset((end(int(a)), end(int(b)))) for a, b in zip(fabric.link_a, fabric.link_b, strict=True)}


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


def labels(cables: Cables) -> str:
    rows = []
    for k, (p, q) in enumerate(ends(cables)):
        rows += [f"c{k},,a,{','.join(named(cables, p))}", f"c{k},,b,{','.join(named(cables, q))}"]
    return "\n".join(["cable_id,leg,end,device,port", *rows, ""])


def ibutils(cables: Cables) -> str:
    def end(port: int) -> tuple[str, int]:
        return cables.fabric.device_name(cables.device[port]), port - int(cables.fabric.port_base[cables.device[port]]) + 1

    blocks: dict[str, list[str]] = {}
    for p, q in ends(cables):
        (a, number), (b, other) = end(p), end(q)
        blocks.setdefault(a, [f"SYSTEM {a}"]).append(f"   P{number} -> SYSTEM {b} P{other}")
    return "\n\n".join("\n".join(b) for b in blocks.values()) + "\n"


def netbox(cables: Cables) -> str:
    def side(p: int) -> list[object]:
        device, name = named(cables, p)
        return [{"object_type": "dcim.interface", "object": {"device": {"name": device}, "name": name}}]

    return json.dumps([{"a_terminations": side(p), "b_terminations": side(q)} for p, q in ends(cables)], indent=1)


def sides(cables: Cables, device: str, port: str) -> list[list[dict[str, str]]]:
    """Both ends of every cable, with the names of their device and port under these keys."""
    return [[dict(zip((device, port), named(cables, end), strict=True)) for end in cable] for cable in ends(cables)]


def batfish(cables: Cables) -> str:
    return json.dumps({"edges": [{"node1": a, "node2": b} for a, b in sides(cables, "hostname", "interfaceName")]}, indent=1)


def netq(cables: Cables) -> str:
    compounded = [{"interfaces": pair} for pair in sides(cables, "node", "interface")]
    return json.dumps([{"links": [{"compounded_links": compounded}]}])


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


def junos(device: str, heard: Heard) -> str:
    head = "Local Interface    Parent Interface    Chassis Id          Port info          System Name\n"
    return head + "".join(f"{p:<18} -                   00:00:00:00:00:b1   {q:<18} {n}\n" for p, n, q in heard)


def napalm(device: str, heard: Heard) -> str:
    return json.dumps({p: [{"remote_system_name": n, "remote_port": q}] for p, n, q in heard}, indent=1)


def nvue(device: str, heard: Heard) -> str:
    told = {p: {"lldp": {"neighbor": {n: {"chassis": {"system-name": n}, "port": {"name": q}}}}} for p, n, q in heard}
    return json.dumps(told, indent=1)


def sonic(device: str, heard: Heard) -> str:
    told = {f"LLDP_ENTRY_TABLE:{p}": {"lldp_rem_port_id": q, "lldp_rem_sys_name": n} for p, n, q in heard}
    return json.dumps({"LLDP_LOC_CHASSIS": {"lldp_loc_sys_name": device}, **told}, indent=1)


WHOLE: dict[str, Callable[[Cables], str]] = {
    "batfish": batfish, "ibdiagnet": ibdiagnet, "iblinkinfo": iblinkinfo, "ibnetdiscover": ibnetdiscover, "ibutils": ibutils,
    "labels": labels, "netbox": netbox,
    "netq": netq, "p2p": p2p, "ptm": ptm, "ufm": ufm,
}  # fmt: skip
"""By reader: a capture of all cables."""
BY_DEVICE: dict[str, Callable[[str, Heard], str]] = {
    "eos": eos, "junos": junos, "lldpd": lldpd, "lldpd-text": lldpd_text, "napalm": napalm, "nvue": nvue, "nxos": nxos,
    "sonic": sonic,
}  # fmt: skip
"""By reader: a capture a device."""


def mac_of_port(cables: Cables, port: int) -> str:
    """The address of a port, made from its number."""
    return ":".join(f"{0x946DAE000000 + port:012x}"[i : i + 2] for i in range(0, 12, 2))


def by_owner(cables: Cables, ports: Iterable[int], write: Callable[[str, int], str]) -> dict[str, str]:
    """A text a device: what ``write`` says of each of its ports by its name."""
    out: dict[str, str] = {}
    for p in sorted(ports):
        device, name = named(cables, p)
        out[f"{device}.txt"] = out.get(f"{device}.txt", "") + write(name, p)
    return out


def fdb(cables: Cables) -> dict[str, str]:
    """The addresses of hosts at the ports of switches."""
    f = cables.fabric
    heard = [p for p, q in cables.far.items() if f.is_switch[cables.device[p]] and f.is_end[cables.device[q]]]
    return by_owner(cables, heard, lambda n, p: f"{mac_of_port(cables, cables.far[p])} dev {n} vlan 10 master br_default\n")


def ethtool(cables: Cables) -> dict[str, str]:
    """A module in every cage of a host: with one port in those of UFM, else with two."""
    rows = [p for p in cables.far if cables.fabric.is_end[cables.device[p]]]
    form = "== {}\n\tIdentifier : 0x19 (OSFP)\n\tVendor name : NVIDIA\n\tVendor PN : {}\n\tVendor SN : MT{}\n"

    def module(name: str, port: int) -> str:
        manager = cables.fabric.model_of(cables.device[port]).name == "UFM"
        return form.format(name, "MMA4Z00-NS400" if manager else "MMA4Z00-NS-FLT", port)

    return by_owner(cables, rows, module)


def transceivers(cables: Cables) -> dict[str, str]:
    """The same of switches, as SONiC prints it."""
    rows = [p for p in cables.far if cables.fabric.is_switch[cables.device[p]]]
    form = "{}: SFP EEPROM detected\n        Vendor Name: NVIDIA\n        Vendor PN: MMA4Z00-NS\n        Vendor SN: MT{}\n"
    return by_owner(cables, rows, form.format)


def mlxlink(cables: Cables) -> dict[str, str]:
    """Links that run as planned, as the hosts see them."""
    rows = [p for p in cables.far if cables.fabric.is_end[cables.device[p]]]
    form = "== {}\nOperational Info\nState : Active\nPhysical state : LinkUp\nSpeed : IB-NDR\nWidth : 4x\nSymbol BER : 15E-255\n"
    return by_owner(cables, rows, lambda n, p: form.format(n))


def net_dump_ext(cables: Cables) -> dict[str, str]:
    """The same of all ports, as ibdiagnet writes it."""
    lines = [
        "Ty : # : #IB : GUID : LID : Sta : PhysSta : LWA : LSA : Conn LID (#) : FEC mode : RTR : Raw BER : Effective BER : "
        "Symbol BER : Symbol Err : Effective Err : Node Desc"
    ]
    for p in sorted(cables.far):
        guid, number, name, switch = scanned(cables, p)
        lines.append(
            f"{'SW' if switch else 'CA'} : {number} : {number} : 0x{guid} : 1 (0x1) : ACT : LINK_UP : 4x : 100 : 2 (0x2) : RS : "
            f'NO-RTR : 1e-9 : 1e-254 : 1e-254 : 0 : 0 : "{name}"'
        )
    return {"ibdiagnet2.net_dump_ext": "\n".join([*lines, ""])}


def lfts(cables: Cables) -> dict[str, str]:
    """The forwarding tables of all switches: shortest paths, by the lowest port that is on one."""
    f = cables.fabric
    nodes = {scanned(cables, p)[0]: (p, scanned(cables, p)) for p in sorted(cables.far)}
    text = []
    near: dict[int, list[tuple[int, int]]] = {}
    for p in sorted(cables.far):
        near.setdefault(cables.device[p], []).append((p, cables.device[cables.far[p]]))
    far: dict[int, dict[int, int]] = {}
    for target in near:
        far[target] = {target: 0}
        front = [target]
        for d in front:
            for _, other in near[d]:
                if other not in far[target] and (f.is_switch[d] or d == target):
                    far[target][other] = far[target][d] + 1
                    front.append(other)
    for guid, (p, (_, _, name, switch)) in nodes.items():
        if not switch:
            continue
        d = cables.device[p]
        text.append(
            f"Unicast lids [0x0-0xff] of switch DR path slid 0; dlid 0; 0 guid 0x{guid} ({name}):\n  Lid  Out   Destination\n"
        )
        for lid, (other, (q, (_, _, called, is_switch))) in enumerate(nodes.items(), 1):
            t = cables.device[q]
            if is_switch:
                ports = [x for x, e in near[d] if far[t].get(e, -1) == far[t].get(d, -2) - 1]
            else:
                leaf = cables.device[cables.far[q]]
                ports = (
                    [cables.far[q]] if leaf == d else [x for x, e in near[d] if far[leaf].get(e, -1) == far[leaf].get(d, -2) - 1]
                )
            number = 0 if other == guid else min(ports) - int(f.port_base[d]) + 1 if ports else -1
            kind = "Switch" if is_switch else "Channel Adapter"
            if number >= 0:
                text.append(f"0x{lid:04x} {number:03} : ({kind} portguid 0x{other}: '{called}')\n")
        text.append(f"{len(nodes)} valid lids dumped \n")
    return {"lfts.txt": "".join(text)}


def nvidia_topo(cables: Cables) -> dict[str, str]:
    """A DGX H100: each GPU beside its adapter, four GPUs a processor."""
    names = [*(f"GPU{i}" for i in range(8)), *(f"NIC{i}" for i in range(8))]

    def word(a: int, b: int) -> str:
        near = "PIX" if a % 8 == b % 8 else "NODE" if a % 8 // 4 == b % 8 // 4 else "SYS"
        return "X" if a == b else "NV18" if max(a, b) < 8 else near

    rows = "".join(f"{n}\t" + "\t".join(word(i, j) for j in range(16)) + "\n" for i, n in enumerate(names))
    legend = "".join(f"  NIC{i}: mlx5_{x}\n" for i, x in enumerate((0, 3, 4, 5, 6, 9, 10, 11)))
    text = "\t" + "\t".join(names) + "\tCPU Affinity\n" + rows + "\nNIC Legend:\n\n" + legend
    f = cables.fabric
    return {f"{f.device_name(d)}.txt": text for d in range(f.device_count) if f.model_of(d).name == "DGX_H100"}


def hosts_by_leaf(cables: Cables) -> dict[str, list[str]]:
    """Hosts by the group of leaves that they are connected to."""
    out: dict[str, list[str]] = {}
    f = cables.fabric
    for d in range(f.device_count):
        if f.is_end[d] and f.role[d] == "accelerator" and cables.used(d):
            leaf = min(cables.device[cables.far[p]] for p in cables.used(d))
            out.setdefault(f.device_name(leaf), []).append(f.device_name(d))
    return out


def slurm_topology(cables: Cables) -> dict[str, str]:
    """What scontrol prints: a leaf a line, and a spine above."""
    groups = hosts_by_leaf(cables)
    lines = [f"SwitchName={g} Level=0 LinkSpeed=1 Nodes={','.join(h)}" for g, h in groups.items()]
    return {"topology.conf": "\n".join([*lines, f"SwitchName=top Level=1 LinkSpeed=1 Switches={','.join(groups)}", ""])}


def node_labels(cables: Cables) -> dict[str, str]:
    """Nodes with topograph's labels."""
    items = [
        {"kind": "Node", "metadata": {"name": h, "labels": {"fabric.topograph.run/tier-0": g}}}
        for g, hosts in hosts_by_leaf(cables).items()
        for h in hosts
    ]
    return {"nodes.json": json.dumps({"kind": "List", "items": items}, indent=1)}


OF_OTHER_THINGS: dict[str, Callable[[Cables], dict[str, str]]] = {
    "ethtool": ethtool, "fdb": fdb, "lfts": lfts, "mlxlink": mlxlink, "net-dump-ext": net_dump_ext, "node-labels": node_labels,
    "nvidia-topo": nvidia_topo, "slurm-topology": slurm_topology, "transceivers": transceivers,
}  # fmt: skip
"""By reader of what is no cabling: the files of a cabling that is as designed, by name."""


def by_device(cables: Cables, folder: Path, write: Callable[[str, Heard], str], kind: str = "txt") -> Path:
    """A file a device that hears others."""
    folder.mkdir(exist_ok=True)
    f = cables.fabric
    for d in range(f.device_count):
        if heard := [(named(cables, p)[1], *named(cables, cables.far[p])) for p in cables.used(d)]:
            (folder / f"{f.device_name(d)}.{kind}").write_text(write(f.device_name(d), heard))
    return folder


def lldp(cables: Cables, folder: Path) -> None:
    """The neighbours of every device as lldpcli prints them."""
    by_device(cables, folder, lldpd, "json")


def capture(reader: str, cables: Cables, folder: Path) -> Path:
    """The cabling in the format of a reader: a file, or a folder with one a device."""
    if reader in BY_DEVICE:
        return by_device(cables, folder / reader, BY_DEVICE[reader])
    path = folder / f"{reader}.txt"
    path.write_text(WHOLE[reader](cables))
    return path


def audited(fabric: Fabric, *captures: tuple[str, Path], settings: AuditSettings | None = None) -> Audit:
    """An audit of captures by option and path."""
    observed = Observed()
    read_capture_files(captures, observed)
    return audit_captures(fabric, observed, settings)


def codes(made: Audit) -> list[str]:
    """Codes of the faults, in order."""
    return sorted(f.finding.code for f in made.faults)


def findings(found: Iterable[Diagnostic]) -> Iterator[str]:
    """Findings as they are told, without folders."""
    for d in found:
        at = f"{Path(d.span.file.name).name}:{d.span.begin[0]}-{d.span.finish[0]}" if d.span is not None else ""
        yield f"{d.code} {d.severity.word} {at} {d.message}"
        yield from (f"    at {Path(n.span.file.name).name}:{n.span.begin[0]} {n.message}" for n in d.labels)
        yield from (f"    note {n}" for n in d.notes)
        if d.help:
            yield f"    help {d.help}"


def told(made: Audit, tasks: int = 99) -> Iterator[str]:
    """All that an audit says, and the work of each fault."""
    for f in (*made.faults, *made.accepted):
        yield from findings([f.finding])
        yield from (f"    {t.device} {t.port}: {t.action} ({t.found}; {t.planned}; {t.cable})" for t in f.tasks[:tasks])
    yield from findings(made.notes)
    yield audit_summary(made).rstrip()
