"""Captures of one small network in every format that `audit` and `import` read, as they are and with something planted in them.

A capture that shows no link of the design is no proof that the network is as designed: the status is not 0. None ends in a
traceback.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

DESIGN = """\
model chip G { port lane: 100Gbps }
model switch SW { port p[1..8]: 100Gbps { type GE100; os "swp{i}" } }
model host H { port nic[2]: 100Gbps { type GE100; os "eth{i}" }; chip gpu: G }
fabric f {
  transport ethernet
  host node[3]: H
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[r]
  connect leaf[0].p[(4)] to leaf[1].p[(4)]
  connect leaf[0].p[(5)] to leaf[1].p[(5)]
}
"""
SMALL = """\
model switch SW { port p[1..8]: 100Gbps { type GE100; os "swp{i}" } }
fabric f {
  transport ethernet
  switch leaf[2]: SW
  connect leaf[0] to leaf[1]
}
"""

Link = tuple[str, str, str, str]
LINKS: tuple[Link, ...] = (
    *((f"node{n}", f"eth{r}", f"leaf{r}", f"swp{n + 1}") for n in range(3) for r in range(2)),
    *(("leaf0", f"swp{k}", "leaf1", f"swp{k}") for k in (4, 5)),
)
"""The links of the design as devices call their own ports: device, port, device, port."""


@dataclass(frozen=True)
class Capture:
    """Files of a capture by path, and the option of the command that reads them. ``shows`` says how much of the design it shows:
    "all" or "nothing", "conflict" where it contradicts itself or the design, "any" where the text leaves it open. ``links`` is
    the number of links that it shows, -1 where it is not known. ``design`` is what it is compared with, and ``facts`` how many
    facts that are no links it has, -1 where that is not known."""

    format: str
    planted: str
    option: str
    files: Mapping[str, str]
    shows: str
    seed: int
    links: int = -1
    design: str = DESIGN
    facts: int = -1


# ---------------------------------------------------------------- formats


def heard_by(links: tuple[Link, ...]) -> dict[str, list[tuple[str, str, str]]]:
    """Of every device what it hears: own port, device, port there."""
    out: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for a, p, b, q in links:
        out[a].append((p, b, q))
        out[b].append((q, a, p))
    return out


def each_device(write: Callable[[list[tuple[str, str, str]]], str], ending: str) -> Callable[[tuple[Link, ...]], dict[str, str]]:
    """A format with a file a device."""

    def files(links: tuple[Link, ...]) -> dict[str, str]:
        return {f"captures/{d}.{ending}": write(heard) for d, heard in heard_by(links).items()}

    return files


def as_lldpd_json(heard: list[tuple[str, str, str]]) -> str:
    rows = [
        {
            "name": p,
            "chassis": [{"id": [{"type": "mac", "value": "02:00:00:00:00:01"}], "name": [{"value": d}]}],
            "port": [{"id": [{"type": "ifname", "value": q}]}],
        }
        for p, d, q in heard
    ]
    return json.dumps({"lldp": [{"interface": rows}]}, indent=1)


def as_lldpd_keyvalue(heard: list[tuple[str, str, str]]) -> str:
    return "".join(f"lldp.{p}.chassis.name={d}\nlldp.{p}.port.ifname={q}\n" for p, d, q in heard)


def as_eos(heard: list[tuple[str, str, str]]) -> str:
    rows = [{"port": p, "neighborDevice": d, "neighborPort": q, "ttl": 120} for p, d, q in heard]
    return json.dumps({"lldpNeighbors": rows}, indent=1)


def as_sonic(heard: list[tuple[str, str, str]]) -> str:
    return json.dumps({f"LLDP_ENTRY_TABLE:{p}": {"lldp_rem_sys_name": d, "lldp_rem_port_id": q} for p, d, q in heard}, indent=1)


def as_napalm(heard: list[tuple[str, str, str]]) -> str:
    return json.dumps({p: [{"remote_system_name": d, "remote_port": q}] for p, d, q in heard}, indent=1)


def as_nxos(heard: list[tuple[str, str, str]]) -> str:
    return "".join(f"Chassis id: 0200.0000.0001\nPort id: {q}\nLocal Port id: {p}\nSystem Name: {d}\n\n" for p, d, q in heard)


def as_nvue(heard: list[tuple[str, str, str]]) -> str:
    rows = {p: {"lldp": {"neighbor": {d: {"chassis": {"system-name": d}, "port": {"name": q}}}}} for p, d, q in heard}
    return json.dumps(rows, indent=1)


def as_junos(heard: list[tuple[str, str, str]]) -> str:
    keys = ("lldp-local-port-id", "lldp-remote-system-name", "lldp-remote-port-id")
    rows = [{k: [{"data": v}] for k, v in zip(keys, row, strict=True)} for row in heard]
    return json.dumps({"lldp-neighbors-information": [{"lldp-neighbor-information": rows}]}, indent=1)


def as_junos_table(heard: list[tuple[str, str, str]]) -> str:
    head = "Local Interface    Parent Interface    Chassis Id          Port info          System Name\n"
    return head + "".join(f"{p + '.0':<19}{'ae1':<20}{'02:00:00:00:00:01':<20}{q:<19}{d}\n" for p, d, q in heard)


def as_p2p(links: tuple[Link, ...]) -> dict[str, str]:
    return {"cables.csv": "\n".join(["a_device,a_port,b_device,b_port", *(",".join(x) for x in links), ""])}


def as_batfish(links: tuple[Link, ...]) -> dict[str, str]:
    edges = [{"node1": {"hostname": a, "interfaceName": p}, "node2": {"hostname": b, "interfaceName": q}} for a, p, b, q in links]
    return {"captures/layer1_topology.json": json.dumps({"edges": edges}, indent=1)}


def as_ptm(links: tuple[Link, ...]) -> dict[str, str]:
    return {"captures/topology.dot": "\n".join(["graph G {", *(f'"{a}":"{p}" -- "{b}":"{q}";' for a, p, b, q in links), "}", ""])}


def as_netq(links: tuple[Link, ...]) -> dict[str, str]:
    rows = [{"interfaces": [{"node": a, "interface": p}, {"node": b, "interface": q}]} for a, p, b, q in links]
    return {"captures/netq.json": json.dumps([{"links": [{"compounded_links": rows}]}], indent=1)}


def as_netbox(links: tuple[Link, ...]) -> dict[str, str]:
    def side(device: str, port: str) -> list[object]:
        return [{"object_type": "dcim.interface", "object": {"device": {"name": device}, "name": port}}]

    rows = [{"id": i, "a_terminations": side(a, p), "b_terminations": side(b, q)} for i, (a, p, b, q) in enumerate(links)]
    return {"cables.json": json.dumps({"count": len(rows), "results": rows}, indent=1)}


def as_ibnetdiscover(links: tuple[Link, ...]) -> dict[str, str]:
    """A netlist, in which a switch is a node and each adapter port another."""

    def node(device: str, port: str) -> tuple[str, int, str]:
        if device.startswith("leaf"):
            return f"S-{device}", int(port[3:]), device
        return f"H-{device}-{port}", 1, f"{device} {port}"

    blocks: dict[str, list[str]] = {}
    for a, p, b, q in links:
        for (ident, number, described), (far, there, _) in ((node(a, p), node(b, q)), (node(b, q), node(a, p))):
            kind = "Switch\t8" if ident[0] == "S" else "Ca\t1"
            blocks.setdefault(ident, [f'{kind} "{ident}"\t# "{described}"']).append(f'[{number}]\t"{far}"[{there}]\t# 4xEDR')
    return {"fabric.topo": "\n\n".join("\n".join(b) for b in blocks.values()) + "\n"}


def seen_by_manager(device: str, port: str) -> tuple[str, str, str, bool]:
    """GUID, port, description and whether it is a switch, of the node that a subnet manager sees at a port."""
    switch = "leaf" in device
    mark = sum((i + 1) * ord(c) for i, c in enumerate(device if switch else device + port))
    number = port.lstrip("zswp") if switch else "1"
    return f"{(0xA << 32) + mark:016x}", number, device if switch else f"{device} {port}".strip(), switch


def as_ufm(links: tuple[Link, ...]) -> dict[str, str]:
    rows = []
    for a, p, b, q in links:
        row = {"width": "4x"}
        for side, (guid, number, name, _) in (("source", seen_by_manager(a, p)), ("destination", seen_by_manager(b, q))):
            row[f"{side}_guid"], row[f"{side}_port"], row[f"{side}_port_dname"] = guid, number, number
            row[f"{side}_port_node_description"] = f"{name}/{number}"
        rows.append(row)
    return {"links.json": json.dumps(rows, indent=1)}


def as_ibdiagnet(links: tuple[Link, ...]) -> dict[str, str]:
    ends = [(seen_by_manager(a, p), seen_by_manager(b, q)) for a, p, b, q in links]
    nodes = {e[0]: e for pair in ends for e in pair}
    return {
        "ibdiagnet2.db_csv": "\n".join(
            [
                "START_NODES",
                "NodeDesc,NumPorts,NodeType,NodeGUID",
                *(f'"{name}",{8 if switch else 1},{2 if switch else 1},0x{guid}' for guid, _, name, switch in nodes.values()),
                "END_NODES",
                "START_LINKS",
                "NodeGuid1,PortNum1,NodeGuid2,PortNum2",
                *(f"0x{a[0]},{a[1]},0x{b[0]},{b[1]}" for a, b in ends),
                "END_LINKS",
                "",
            ]
        )
    }


def as_iblinkinfo(links: tuple[Link, ...]) -> dict[str, str]:
    blocks: dict[str, list[str]] = {}
    for x, y in ((seen_by_manager(a, p), seen_by_manager(b, q)) for a, p, b, q in links):
        for (guid, number, name, switch), (far, there, other, _) in ((x, y), (y, x)):
            block = blocks.setdefault(guid, [f"Switch: 0x{guid} {name}:" if switch else f"CA: {name}:"])
            state = "==( 4X 25.78125 Gbps Active/  LinkUp)==>"
            block.append(f'0x{guid} "{name}" 1 {number}[  ] {state} 0x{far} 2 {there}[  ] "{other}" ( )')
    return {"iblinkinfo.txt": "".join("\n".join(b) + "\n" for b in blocks.values())}


def as_ibutils(links: tuple[Link, ...]) -> dict[str, str]:
    """Ports by their numbers in the model: eth0 is the first."""
    blocks: dict[str, list[str]] = {}
    for a, p, b, q in links:
        one, other = (f"P{int(''.join(filter(str.isdigit, x))) + ('eth' in x)}" for x in (p, q))
        blocks.setdefault(a, [f"TYPE {a}"]).append(f"   {one} -> TYPE {b} {other}")
    return {"fabric.topo": "\n\n".join("\n".join(b) for b in blocks.values()) + "\n"}


def as_labels(links: tuple[Link, ...]) -> dict[str, str]:
    rows = [f"c{i},,{e},{d},{p}" for i, (a, x, b, y) in enumerate(links) for e, d, p in (("a", a, x), ("b", b, y))]
    return {"labels.csv": "\n".join(["cable_id,leg,end,device,port", *rows, ""])}


def as_lldpd_text(heard: list[tuple[str, str, str]]) -> str:
    form = "Interface:    {}, via: LLDP, RID: 1\n  Chassis:\n    ChassisID:    local {}\n    SysName:      {}\n"
    form += "  Port:\n    PortID:       ifname {}\n-----\n"
    return "-----\nLLDP neighbors:\n-----\n" + "".join(form.format(p, d, d, q) for p, d, q in heard)


def as_columns(*names: str) -> Callable[[list[tuple[str, str, str]]], str]:
    """A table with columns of these names, of which those that are no port, device or port there are empty."""

    def write(heard: list[tuple[str, str, str]]) -> str:
        wide = [max(24, len(n)) for n in names]
        keys = ["Port", *(("Device" if "Device" in n or "Host" in n else "Far" if "Port" in n else "") for n in names[1:])]
        cells = [dict(zip(("Port", "Device", "Far"), row, strict=True)) for row in heard]
        rows = [[row.get(k, "") for k in keys] for row in cells]
        shown = [names, ["-" * w for w in wide], *rows]
        return "".join("  ".join(x.ljust(w) for x, w in zip(row, wide, strict=True)).rstrip() + "\n" for row in shown)

    return write


FORMATS: Mapping[str, tuple[str, Callable[[tuple[Link, ...]], dict[str, str]]]] = {
    "lldpd": ("--lldp captures", each_device(as_lldpd_json, "json")),
    "lldpd_keyvalue": ("--lldp captures", each_device(as_lldpd_keyvalue, "txt")),
    "eos": ("--lldp captures", each_device(as_eos, "json")),
    "sonic": ("--lldp captures", each_device(as_sonic, "json")),
    "napalm": ("--lldp captures", each_device(as_napalm, "json")),
    "nxos": ("--lldp captures", each_device(as_nxos, "txt")),
    "nvue": ("--lldp captures", each_device(as_nvue, "json")),
    "junos": ("--lldp captures", each_device(as_junos, "json")),
    "junos, the table": ("--lldp captures", each_device(as_junos_table, "txt")),
    "batfish": ("--lldp captures", as_batfish),
    "ptm": ("--lldp captures", as_ptm),
    "netq": ("--lldp captures", as_netq),
    "p2p": ("--p2p cables.csv", as_p2p),
    "netbox": ("--p2p cables.json", as_netbox),
    "ibnetdiscover": ("--ibnetdiscover fabric.topo", as_ibnetdiscover),
    "sonic, the table": (
        "--lldp captures",
        each_device(as_columns("LocalPort", "RemoteDevice", "RemotePortID", "Capability"), "txt"),
    ),
    "eos, the table": (
        "--lldp captures",
        each_device(as_columns("Port", "Neighbor Device ID", "Neighbor Port ID", "TTL"), "txt"),
    ),
    "nvue, the table": ("--lldp captures", each_device(as_columns("Interface", "Speed", "Remote Host", "Remote Port"), "txt")),
    "lldpd-text": ("--lldp captures", each_device(as_lldpd_text, "txt")),
    "ufm": ("--ufm links.json", as_ufm),
    "ibdiagnet": ("--ibdiagnet ibdiagnet2.db_csv", as_ibdiagnet),
    "iblinkinfo": ("--iblinkinfo iblinkinfo.txt", as_iblinkinfo),
    "ibutils": ("--p2p fabric.topo", as_ibutils),
    "labels": ("--p2p labels.csv", as_labels),
}
"""The option that reads each format, and its files."""


# ---------------------------------------------------------------- what is planted


def renamed_devices(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """The same cables between devices of another site, with other ports."""
    return tuple((f"x-{a}-old", f"z{p}", f"x-{b}-old", f"z{q}") for a, p, b, q in links)


def emptied_text(text: str) -> str:
    """A capture of the same form with no entry."""
    return {"{": "{}", "[": "[]"}.get(text.lstrip()[:1], "")


def commented_text(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())


def enveloped_text(text: str) -> str:
    """What another tool wraps around an answer of a device."""
    if text.lstrip()[:1] in "{[":
        return json.dumps({"jsonrpc": "2.0", "id": "1", "result": [{"output": json.loads(text)}]}, indent=1)
    return "<rpc-reply>\n" + text + "</rpc-reply>\n"


TEXTS: Mapping[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda _: "", "nothing"),
    "no entries": (emptied_text, "nothing"),
    "comments alone": (commented_text, "nothing"),
    "foreign envelope": (enveloped_text, "any"),
    "blank lines": (lambda _: "\n\n\n", "nothing"),
    "header alone": (lambda text: text.splitlines()[0] + "\n", "nothing"),
    "twice": (lambda text: text if text.lstrip()[:1] in "{[" else text + text, "any"),
}
"""Changes of a whole file, and what of the design it then shows."""


def capture_of_seed(seed: int) -> Capture:
    """A capture with one thing planted, or none."""
    rng = Random(seed)
    name = [*FORMATS][seed % len(FORMATS)]
    option, write = FORMATS[name]
    links = list(LINKS)
    rng.shuffle(links)
    planted = rng.choice(("none", *TEXTS, "other devices", "duplicate", "conflict", "two ends in a cell", "unnamed", "part"))
    if planted in TEXTS:
        change, shows = TEXTS[planted]
        return Capture(name, planted, option, {p: change(t) for p, t in write(tuple(links)).items()}, shows, seed)
    match planted:
        case "other devices":
            return Capture(name, planted, option, write(renamed_devices(tuple(links))), "nothing", seed)
        case "duplicate":
            return Capture(name, planted, option, write((*links, links[0])), "any", seed, len(links))
        case "conflict":
            a, p, _, _ = links[0]
            b, q = next((y, z) for _, _, y, z in links[1:] if y != a)
            return Capture(name, planted, option, write((*links, (a, p, b, q))), "conflict", seed)
        case "two ends in a cell":
            a, p, b, q = links[0]
            return Capture(name, planted, option, write((*links[1:], (f"{a};{links[1][0]}", p, b, q))), "conflict", seed)
        case "unnamed":
            none = tuple((a, p, "", q) if i % 2 else ("", p, b, q) for i, (a, p, b, q) in enumerate(links))
            return Capture(name, planted, option, write(none), "conflict", seed)
        case "part":
            some = rng.randint(1, len(links) - 1)
            return Capture(name, planted, option, write(tuple(links[:some])), "any", seed, some)
    return Capture(name, planted, option, write(tuple(links)), "all", seed, len(links))
