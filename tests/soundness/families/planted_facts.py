"""Captures of other things than links: addresses at ports, transceivers, health of links, the inside of hosts, and
schedulers. In every format, as designed and with something planted. Also links in the formats of InfiniBand's tools
and of cut sheets, which `planted_captures` does not write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random

from tests.soundness.families.planted_captures import TEXTS, Capture

FACT_DESIGN = """\
model chip G { port nv[2]: 100Gbps { type NVLINK } }
model cable AOC100 { rate 100Gbps; reach 30m; medium aoc; form QSFP28; vendor "ACME" }
model switch SW { port p[1..8]: 100Gbps { type GE100; cage 1 QSFP28; os "swp{i}" }; height 1U }
model host H {
  port nic[2]: 100Gbps { type GE100; cage 1 QSFP28; os "mlx5_{i}" }
  chip gpu[2]: G
  connect gpu[0] to gpu[1] x 2 { layer scaleup; medium trace }
  numa cpu[1] { arch x86_64; vendor GenuineIntel; family 6; cpu_model 143; cores 56 }
  pcie plx[2] { on cpu[0]; gen 5; lanes 16; device "1000:c030"; bus "0000:{[15, 25][i]}:00.0" }
  pcie gpu { on plx[i]; gen 5; lanes 16; device "10de:2330"; subsystem "10de:16c1"; bus "0000:{[16, 26][i]}:00.0" }
  pcie nic { on plx[i]; gen 5; lanes 16; device "15b3:1021"; bus "0000:{[17, 27][i]}:00.0" }
  height 2U
}
fabric f {
  transport ethernet
  host node[6]: H
  switch leaf[2]: SW
  connect node[n].nic[i] to leaf[n//3] { cable AOC100 }
  connect leaf[0].p[8] to leaf[1].p[8] { cable AOC100 }
  hall h { row A { rack 1 { height 42U } } }
  place node[n] in h.A[1] at 2U + 2U*n
  place leaf[i] in h.A[1] at 20U + 1U*i
}
"""
Ends = tuple[str, str, str, str]
CABLES: tuple[Ends, ...] = (
    *((f"node{n}", f"mlx5_{i}", f"leaf{n // 3}", f"swp{n % 3 * 2 + i + 1}") for n in range(6) for i in range(2)),
    ("leaf0", "swp8", "leaf1", "swp8"),
)
"""The cables of the design as devices call their own ports."""
Writer = Callable[[tuple[Ends, ...], bool], tuple[dict[str, str], int]]
"""The files of some cables, with one thing that is not as designed if asked, and how many facts are in them."""


def address_of(device: str, port: str) -> str:
    """The address of an adapter's port."""
    return f"02:00:00:00:{int(device[4:]):02x}:{int(port[-1:]):02x}"


ASSETS = "device,port,mac\n" + "".join(f"{a},{p},{address_of(a, p)}\n" for a, p, *_ in CABLES if a.startswith("node"))


def ports_of(cables: tuple[Ends, ...], kind: str) -> list[tuple[str, str]]:
    """The ports of devices of a kind at either end."""
    ends = [e for a, p, b, q in cables for e in ((a, p), (b, q))]
    return [e for e in ends if kind in e[0]]


def text_a_device(rows: list[tuple[str, str]]) -> dict[str, str]:
    """A file a device from its rows."""
    out: dict[str, str] = {}
    for device, text in rows:
        path = f"captures/{device}.txt"
        out[path] = out.get(path, "") + text
    return out


def to_hosts(cables: tuple[Ends, ...]) -> list[Ends]:
    """The cables between hosts and switches."""
    return [c for c in cables if "node" in c[0]]


def as_fdb(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    rows = [(b, q, address_of(a, p) if "x-" not in a else "02:00:00:00:99:99") for a, p, b, q in to_hosts(cables)]
    if wrong:
        rows[0], rows[1] = (*rows[0][:2], rows[1][2]), (*rows[1][:2], rows[0][2])
    files = text_a_device([(b, f"{mac} dev {q} vlan 10 master bridge\n") for b, q, mac in rows])
    return files | {"assets.csv": ASSETS}, len(rows)


def as_ethtool(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    form = "### {1}\n\tIdentifier : 0x11 (QSFP28)\n\tVendor name : ACME\n\tVendor PN : {2}\n\tVendor SN : {0}{1}\n"
    parts = [(d, p, "AOC100") for d, p in ports_of(cables, "node")]
    if wrong:
        parts[0] = (*parts[0][:2], "LR4-100G")
    return text_a_device([(d, form.format(d, p, part)) for d, p, part in parts]), len(parts)


def as_transceivers(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    form = "{}: QSFP28 EEPROM detected\n        Vendor Name: ACME\n        Vendor PN: {}\n        Vendor SN: 77\n"
    parts = [(d, p, "AOC100") for d, p in ports_of(cables, "leaf")]
    if wrong:
        parts[-1] = (*parts[-1][:2], "SR4-100G")
    return text_a_device([(d, form.format(p, part)) for d, p, part in parts]), len(parts)


def as_mlxlink(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    form = "mlxlink -d {} -c\nOperational Info\nState : {}\nPhysical state : LinkUp\nSpeed : 100G\nWidth : 4x\n"
    form += "Effective Physical BER : 15E-255\n"
    ports = ports_of(cables, "node")
    states = ["Disable" if wrong and i == 0 else "Active" for i in range(len(ports))]
    return text_a_device([(d, form.format(p, s)) for (d, p), s in zip(ports, states, strict=True)]), len(ports)


def as_net_dump(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    heading = "Ty : # : #IB : GUID : LID : Sta : PhysSta : LWA : LSA : Symbol BER : Symbol Err : Node Desc"
    rows = []
    for n, (d, p) in enumerate((*ports_of(cables, "node"), *ports_of(cables, "leaf"))):
        switch = "leaf" in d
        guid, number = (f"{sum(map(ord, d)):x}", p[3:]) if switch else (f"ff{n:04x}", "1")
        errors = "3e-9 : 12" if wrong and n == 0 else "1e-254 : 0"
        kind, described = ("SW", d) if switch else ("CA", f"{d} {p}")
        rows.append(f'{kind} : {number} : {number} : 0x{guid} : 7 : ACT : LINK_UP : 4x : 25 : {errors} : "{described}"')
    return {"captures/ibdiagnet2.net_dump_ext": "\n".join([heading, *rows, ""])}, len(rows)


def as_lfts(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    """Tables of the leaves: rows of hosts of their own, and of those behind the cable between them."""
    lids = {(a, p): n for n, (a, p, *_) in enumerate(to_hosts(CABLES), 1)}
    ours = {(a.removeprefix("x-"), p): (a, b, q) for a, p, b, q in to_hosts(cables)}
    trunk = any("leaf" in a for a, *_ in cables)
    rows = 0
    text = ""
    for leaf in sorted({b for _, b, _ in ours.values()}):
        text += f"Unicast lids [0x0-0xc] of switch Lid 20 guid 0x{sum(map(ord, leaf)):x} ('{leaf}'):\n"
        for host, (shown, at, port) in ours.items():
            if at == leaf or trunk:
                number = int(port[3:]) if at == leaf else 8
                if wrong and at == leaf:
                    number, wrong = 7, False
                text += f"0x{lids[host]:04x} {number:03} # Channel Adapter portguid 0xff{lids[host]:02x}: '{shown} {host[1]}'\n"
                rows += 1
        text += f"{rows} lids dumped\n"
    return {"captures/opensm-lfts.dump": text}, rows


def as_nvidia_topo(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    hosts = sorted({a for a, *_ in to_hosts(cables)})
    out = {}
    for host in hosts:
        link = "NV1" if wrong and host == hosts[0] else "NV2"
        rows = [
            "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity",
            f"GPU0\tX\t{link}\tPIX\tNODE\t0-55",
            f"GPU1\t{link}\tX\tNODE\tPIX\t0-55",
            "NIC0\tPIX\tNODE\tX\tNODE",
            "NIC1\tNODE\tPIX\tNODE\tX",
            "",
            "NIC Legend:",
            "",
            "  NIC0: mlx5_0",
            "  NIC1: mlx5_1",
        ]
        out[f"captures/{host}.txt"] = "\n".join([*rows, ""])
    return out, len(hosts)


def hosts_by_switch(cables: tuple[Ends, ...], wrong: bool) -> dict[str, list[str]]:
    """Hosts by their switch; two of them are exchanged if asked."""
    out: dict[str, list[str]] = {}
    for host, leaf in sorted({(a, b) for a, _, b, _ in to_hosts(cables)}):
        out.setdefault(leaf, []).append(host)
    if wrong and len(out) > 1:
        one, other = [*out.values()][:2]
        one[0], other[0] = other[0], one[0]
    elif wrong:
        next(iter(out.values())).append("node-of-nobody")
    return out


def as_slurm(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    groups = hosts_by_switch(cables, wrong)
    lines = [f"SwitchName={g} Nodes={','.join(hosts)}" for g, hosts in groups.items()]
    lines += [f"SwitchName=top Switches={','.join(groups)}"] if len(groups) > 1 else []
    return {"captures/topology.conf": "\n".join([*lines, ""])}, sum(map(len, groups.values()))


def as_node_labels(cables: tuple[Ends, ...], wrong: bool) -> tuple[dict[str, str], int]:
    groups = hosts_by_switch(cables, wrong)
    key = "fabric.topograph.run/tier-0"
    items = [{"kind": "Node", "metadata": {"name": h, "labels": {key: g}}} for g, hosts in groups.items() for h in hosts]
    return {"captures/nodes.json": json.dumps({"kind": "List", "items": items}, indent=1)}, len(items)


FACT_FORMATS: Mapping[str, tuple[str, Writer]] = {
    "fdb": ("--fdb captures --assets assets.csv", as_fdb),
    "ethtool": ("--modules captures", as_ethtool),
    "transceivers": ("--modules captures", as_transceivers),
    "mlxlink": ("--health captures", as_mlxlink),
    "net-dump-ext": ("--health captures", as_net_dump),
    "lfts": ("--routes captures", as_lfts),
    "nvidia-topo": ("--gpus captures", as_nvidia_topo),
    "slurm-topology": ("--scheduler captures", as_slurm),
    "node-labels": ("--scheduler captures", as_node_labels),
}
"""By reader the options of `audit`, and its files."""


def other_names(cables: tuple[Ends, ...]) -> tuple[Ends, ...]:
    """The same between devices of another site."""
    return tuple((f"x-{a}", p, f"x-{b}", q) for a, p, b, q in cables)


def fact_capture_of_seed(seed: int) -> Capture:
    """A capture of facts with one thing planted, or none."""
    rng = Random(seed)
    name = [*FACT_FORMATS][seed % len(FACT_FORMATS)]
    option, write = FACT_FORMATS[name]
    cables = list(CABLES)
    rng.shuffle(cables)
    links = -1 if name == "fdb" else 0  # an address at a port is a link
    planted = rng.choice(("none", *TEXTS, "other devices", "wrong", "wrong", "part", "said twice", "host alone"))

    def capture(of: tuple[Ends, ...], shows: str, wrong: bool = False) -> Capture:
        files, facts = write(of, wrong)
        return Capture(name, planted, option, files, shows, seed, links, FACT_DESIGN, facts)

    if planted in TEXTS:
        change, shows = TEXTS[planted]
        whole = capture(tuple(cables), shows)
        files = {p: t if p == "assets.csv" else change(t) for p, t in whole.files.items()}
        return Capture(name, planted, option, files, "any" if planted == "header alone" else shows, seed, links, FACT_DESIGN)
    match planted:
        case "other devices":
            return capture(other_names(tuple(cables)), "nothing")
        case "wrong":
            return capture(tuple(cables), "conflict", wrong=True)
        case "part":
            of_host = sorted({c[0] for c in to_hosts(tuple(cables))})[: rng.randint(2, 5)]
            return capture(tuple(c for c in cables if c[0] in of_host), "any")
        case "said twice":
            return capture((*cables, *cables), "any")
        case "host alone":
            return capture(tuple(c for c in cables if c[0] in ("node0", "node1")), "any")
    return capture(tuple(cables), "all")
