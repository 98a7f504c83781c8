"""What captures, tables and changes of real networks were misread by, planted in small random networks: a kind for each case that
was reported. Beside the files of a case are calls with what they must say, from the generator's records alone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import NamedTuple

from tests.soundness.families.planted_captures import FORMATS, Link, heard_by

Files = dict[str, str | bytes]


@dataclass(frozen=True)
class Call:
    """A call with its arguments, and what is expected of it by the names of ``judge_world.facts_of_call``."""

    args: tuple[str, ...]
    expected: Mapping[str, object]


@dataclass(frozen=True)
class Case:
    """Files, calls, and what was planted."""

    planted: str
    files: Files
    calls: tuple[Call, ...]


# ---------------------------------------------------------------- a network


class Network(NamedTuple):
    """A network of hosts with an adapter for each of the first switches, which the further ones join."""

    hosts: int
    leaves: int
    switches: int
    links: tuple[Link, ...]
    design: str

    def device_count(self) -> int:
        return self.hosts + self.switches


def random_leaf_spine(rng: Random, least_spines: int = 1, eth: str = "eth{}", swp: str = "swp{}") -> Network:
    """Devices ``node0`` … and ``leaf0`` …, of which the last switches are spines; each port is the one that its link says."""
    hosts, leaves, spines, each = rng.randint(2, 6), rng.randint(2, 4), rng.randint(least_spines, 3), rng.randint(1, 2)
    links: list[Link] = []
    text = []
    for n in range(hosts):
        for r in range(leaves):
            links.append((f"node{n}", eth.format(r), f"leaf{r}", swp.format(n + 1)))
            text.append(f"  connect node[{n}].nic[{r}] to leaf[{r}].p[({n + 1})]")
    for r in range(leaves):
        for s in range(spines):
            for k in range(each):
                here, there = hosts + 1 + s * each + k, r * each + k + 1
                links.append((f"leaf{r}", swp.format(here), f"leaf{leaves + s}", swp.format(there)))
                text.append(f"  connect leaf[{r}].p[({here})] to leaf[{leaves + s}].p[({there})]")
    design = "\n".join(
        [
            "model chip G { port lane: 100Gbps }",
            f'model switch SW {{ port p[1..16]: 100Gbps {{ type GE100; os "{swp.format("{i}")}" }} }}',
            f'model host H {{ port nic[{leaves}]: 100Gbps {{ type GE100; os "{eth.format("{i}")}" }}; chip gpu: G }}',
            "fabric f {",
            "  transport ethernet",
            f"  host node[{hosts}]: H",
            f"  switch leaf[{leaves + spines}]: SW",
            *text,
            "}",
            "",
        ]
    )
    return Network(hosts, leaves, leaves + spines, tuple(links), design)


def address_of_device(device: str) -> str:
    """The address of a chassis."""
    kind, number = re.fullmatch(r"([a-z]+)(\d+)", device).groups()  # type: ignore[union-attr]
    return f"02:00:00:00:{1 if kind == 'leaf' else 2:02x}:{int(number):02x}"


def exchanged_ends(links: Sequence[Link], rng: Random) -> tuple[Link, ...]:
    """The same with the plugs of two cables on one of the first switches exchanged."""
    one, other = rng.sample([k for k, x in enumerate(links) if x[0].startswith("node") and x[2] == "leaf0"], 2)
    out = list(links)
    out[one] = (*links[one][:2], *links[other][2:])
    out[other] = (*links[other][:2], *links[one][2:])
    return tuple(out)


def audit_of(option: str, **expected: object) -> Call:
    return Call(("audit", "design.fab", *option.split(), "--no-requirements", "--format", "json"), expected)


def import_of(where: str, **expected: object) -> Call:
    return Call(("import", where, "--rate", "100Gbps", "-o", "made.fab"), expected)


def clean_audit(option: str, links: int, **more: object) -> Call:
    """Nothing is wrong, and all links are judged."""
    return audit_of(option, status=0, judged=links, as_designed=links, **more)


# ---------------------------------------------------------------- names that are there twice, or not at all

SUBNETS = ("ibnetdiscover", "iblinkinfo", "ibdiagnet", "ufm")
IDENT = re.compile(r'"([SH]-(?:leaf|node)[\w-]*)"(?=\t|\[)')


def subnet_of(format_name: str, links: tuple[Link, ...], names: Mapping[str, str]) -> Files:
    """What a subnet manager sees, with GUIDs, and other descriptions of some devices."""
    _, write = FORMATS[format_name]
    out: Files = {}
    for path, text in write(links).items():
        numbers: dict[str, str] = {}

        def guid(found: re.Match[str], numbers: dict[str, str] = numbers) -> str:
            return f'"{found[1][:2]}{numbers.setdefault(found[1], f"{len(numbers) + 4096:016x}")}"'

        text = text.replace("Switch\t8", "Switch\t16").replace('",8,2,', '",16,2,')
        out[path] = re.sub(r"\b(leaf|node)\d+\b", lambda m: names.get(m[0], m[0]), IDENT.sub(guid, text))
    return out


def of_one_description(rng: Random) -> Case:
    """Two or three switches have the description of one of them."""
    net, name = random_leaf_spine(rng), rng.choice(SUBNETS)
    wide = [k for k in range(net.switches) if sum(f"leaf{k}" in (a, b) for a, _, b, _ in net.links) > 2]  # UFM does not say kinds
    few = rng.sample(wide, rng.randint(2, min(3, len(wide))))
    form = rng.choice(["{}", "MF0;{}:MQM9700/U1", "{} Mellanox"]).format(f"leaf{few[0]}")
    files = subnet_of(name, net.links, {f"leaf{k}": form for k in few})
    option = FORMATS[name][0]
    calls = (
        import_of(option.split()[1], status=0, links=len(net.links), devices=net.device_count(), says="E0604"),
        audit_of(option, status=1, judged=len(net.links), as_designed=len(net.links), codes=["E0613"] * len(few)),
    )
    return Case(f"{name}, {len(few)} switches are {form}", {**files, "design.fab": net.design}, calls)


def cloned_hosts(rng: Random) -> Case:
    """Two hosts have the name of one of them: no link is lost, and none is called wrong."""
    net, name = random_leaf_spine(rng), rng.choice(SUBNETS)
    one, other = rng.sample(range(net.hosts), 2)
    files = subnet_of(name, net.links, {f"node{other}": f"node{one}"})
    option = FORMATS[name][0]
    calls = (import_of(option.split()[1], status=0, links=len(net.links)), audit_of(option, as_designed=len(net.links)))
    return Case(f"{name}, node{other} is node{one}", {**files, "design.fab": net.design}, calls)


def unnamed_switches(rng: Random) -> Case:
    """Switches as they leave the factory, all or some: known by position, and so is a mistake at them."""
    net, name = random_leaf_spine(rng), rng.choice(SUBNETS)
    few = rng.sample(range(net.switches), rng.choice([net.switches, rng.randint(1, net.switches)]))
    factory = rng.choice(["Quantum-2 Mellanox Technologies", "Infiniscale-IV Mellanox Technologies", "MT54000"])
    wrong = rng.random() < 0.4
    links = exchanged_ends(net.links, rng) if wrong else net.links
    files = subnet_of(name, links, {f"leaf{k}": factory for k in few})
    total = len(net.links)
    call = (
        audit_of(FORMATS[name][0], status=1, judged=total, as_designed=total - 2)
        if wrong
        else clean_audit(FORMATS[name][0], total)
    )
    return Case(
        f"{name}, {len(few)} of {net.switches} unnamed{', two exchanged' * wrong}", {**files, "design.fab": net.design}, (call,)
    )


def neighbours_with_chassis(form: str, heard: Sequence[tuple[str, str, str]], names: Mapping[str, str]) -> str:
    """What a device hears, with the chassis of each neighbour, and other system names of some."""
    rows = [(p, names.get(d, d), address_of_device(d), q) for p, d, q in heard]
    if form == "lldpd":
        entries = []
        for p, name, mac, q in rows:
            chassis: dict[str, object] = {"id": {"type": "mac", "value": mac}}
            entries.append({p: {"chassis": {name: chassis} if name else chassis, "port": {"id": {"type": "ifname", "value": q}}}})
        return json.dumps({"lldp": {"interface": entries}}, indent=1)
    if form == "eos":
        details = {
            p: {
                "lldpNeighborInfo": [
                    {
                        "chassisId": mac,
                        "systemName": name,
                        "neighborInterfaceInfo": {"interfaceId_v2": q, "interfaceId": f'"{q}"'},
                    }
                ]
            }
            for p, name, mac, q in rows
        }
        return json.dumps({"lldpNeighbors": details}, indent=1)
    if form == "nvue":
        found = {
            p: {"lldp": {"neighbor": {name or mac: {"chassis": {"system-name": name, "chassis-id": mac}, "port": {"name": q}}}}}
            for p, name, mac, q in rows
        }
        return json.dumps(found, indent=1)
    if form == "junos":
        keys = ("local-port-id", "remote-system-name", "remote-chassis-id", "remote-port-id")
        elements = ["".join(f"<lldp-{k}>{v}</lldp-{k}>\n" for k, v in zip(keys, row, strict=True) if v) for row in rows]
        inside = "".join(f"<lldp-neighbor-information>\n{x}</lldp-neighbor-information>\n" for x in elements)
        return f"<rpc-reply>\n<lldp-neighbors-information>\n{inside}</lldp-neighbors-information>\n</rpc-reply>\n"
    if form == "nxos":
        return "".join(
            f"Chassis id: {mac}\nPort id: {q}\nLocal Port id: {p}\nSystem Name: {name or 'null'}\n\n" for p, name, mac, q in rows
        )
    if form == "sonic":
        return json.dumps(
            {
                f"LLDP_ENTRY_TABLE:{p}": {"lldp_rem_sys_name": name, "lldp_rem_chassis_id": mac, "lldp_rem_port_id": q}
                for p, name, mac, q in rows
            },
            indent=1,
        )
    rule = "-" * 79
    blocks = [
        f"Interface:    {p}, via: LLDP, RID: {k}\n  Chassis:\n    ChassisID:    mac {mac}\n"
        + (f"    SysName:      {name}\n" if name else "")
        + f"  Port:\n    PortID:       ifname {q}\n{rule}\n"
        for k, (p, name, mac, q) in enumerate(rows, 1)
    ]
    return f"{rule}\nLLDP neighbors:\n{rule}\n" + "".join(blocks)


WITH_CHASSIS = ("lldpd", "eos", "junos", "nvue", "nxos", "sonic", "lldpd-text")
ENDINGS = {"junos": "xml", "nxos": "txt", "lldpd-text": "txt"}


def captured_switches(
    net: Network, form: str, names: Mapping[str, str], of: Sequence[int], links: Sequence[Link] | None = None
) -> Files:
    """A capture of each of some switches."""
    heard = heard_by(tuple(links or net.links))
    ending = ENDINGS.get(form, "json")
    return {f"captures/leaf{k}.{ending}": neighbours_with_chassis(form, heard[f"leaf{k}"], names) for k in of}


def of_one_system_name(rng: Random) -> Case:
    """Switches with the name of the factory, or of one another: their chassis tell them apart."""
    net, form = random_leaf_spine(rng, least_spines=2), rng.choice(WITH_CHASSIS)
    spines = range(net.leaves, net.switches)
    name = rng.choice(["sonic", "localhost", "", "switch"])
    files = captured_switches(net, form, dict.fromkeys((f"leaf{k}" for k in spines), name), range(net.leaves))
    calls = (
        clean_audit("--lldp captures", len(net.links)),
        import_of("captures", status=0, links=len(net.links), devices=net.device_count()),
    )
    return Case(f"{form}, spines are {name!r}", {**files, "design.fab": net.design}, calls)


def firmware_neighbours(rng: Random) -> Case:
    """The firmware of adapters sends an address alone: not identified, or by the table of assets."""
    net = random_leaf_spine(rng)
    wrong = rng.random() < 0.5
    links = exchanged_ends(net.links, rng) if wrong else net.links
    heard = heard_by(links)
    files: Files = {"design.fab": net.design}
    for k in range(net.switches):
        rows = []
        for p, d, q in heard[f"leaf{k}"]:
            if d.startswith("leaf"):
                chassis = {d: {"id": {"type": "mac", "value": address_of_device(d)}}}
                rows.append({p: {"chassis": chassis, "port": {"id": {"type": "ifname", "value": q}}}})
            else:
                at = {"id": {"type": "mac", "value": f"{address_of_device(d)[:-5]}{int(q[3:]) + 16:02x}:{int(d[4:]):02x}"}}
                rows.append({p: {"chassis": at, "port": at | {"ttl": "121"}}})
        files[f"captures/leaf{k}.json"] = json.dumps({"lldp": {"interface": rows}}, indent=1)
    table = [
        (f"node{n}", f"{address_of_device(f'node{n}')[:-5]}{r + 16:02x}:{n:02x}")
        for n in range(net.hosts)
        for r in range(net.leaves)
    ]
    strange = [("tor-of-others", "02:99:00:00:00:01")] if rng.random() < 0.5 else []
    rng.shuffle(table)
    sign = rng.choice(",;\t")
    text = "\n".join(sign.join(row) for row in [("device", "mac"), *table, *strange]) + "\n"
    files["assets.csv"] = text.encode(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))
    trunks = sum(a.startswith("leaf") for a, *_ in net.links)
    total = len(net.links)
    with_assets = "--lldp captures --assets assets.csv"
    calls = (
        audit_of("--lldp captures", status=0, judged=trunks, as_designed=trunks),
        audit_of(with_assets, status=1, judged=total) if wrong else clean_audit(with_assets, total),
    )
    return Case(f"firmware{', two exchanged' * wrong}", files, calls)


def doubtful_assets(rng: Random) -> Case:
    """A table of assets with an address of two devices, or devices that the design does not have: said, never dropped."""
    net = random_leaf_spine(rng)
    rows = [(f"leaf{k}", address_of_device(f"leaf{k}")) for k in range(net.switches)]
    planted = rng.choice(["twice", "unknown", "both"])
    says = []
    if planted in ("twice", "both"):
        one, other = rng.sample(range(net.switches), 2)
        rows.append((f"leaf{other}", rows[one][1]))
        says.append(rows[one][1])
    if planted in ("unknown", "both"):
        rows.append(("tor-of-others", "02:99:00:00:00:01"))
        says.append("tor-of-others")
    rng.shuffle(rows)
    text = "device,mac\n" + "".join(f"{d},{mac}\n" for d, mac in rows)
    files = captured_switches(net, "lldpd", {}, range(net.switches))
    files |= {"design.fab": net.design, "assets.csv": text.encode(rng.choice(["utf-8", "utf-8-sig"]))}
    call = audit_of("--lldp captures --assets assets.csv", status=0 if planted == "unknown" else 2, says=says[0])
    return Case(f"assets: {planted}", files, (call,))


def switches_of_sonic(rng: Random) -> Case:
    """Ports named ``Ethernet0`` are of switches; hosts are known by capability, name of port or of device."""
    net = random_leaf_spine(rng, eth=rng.choice(["eth{}", "mlx5_{}", "ens{}np0"]), swp="Ethernet{}")
    hosts = rng.choice(["gpu{:02}", "dgx-{}", "node{}", "hgx{:03}"])
    by = rng.choice(["capability", "names"])
    files: Files = {}
    heard = heard_by(net.links)
    for k in sorted({*range(net.leaves), *rng.sample(range(net.switches), rng.randint(net.leaves, net.switches))}):
        rows = []
        for p, d, q in heard[f"leaf{k}"]:
            host = d.startswith("node")
            name = hosts.format(int(d[4:])) if host else d
            on = {"Station": host, "Bridge": not host, "Router": not host}
            chassis: dict[str, object] = {"id": {"type": "mac", "value": address_of_device(d)}}
            if by == "capability":
                chassis["capability"] = [{"type": t, "enabled": e} for t, e in on.items()]
            port = {"id": {"type": "ifname", "value": q}}
            rows.append({p: {"via": "LLDP", "chassis": {name: chassis}, "port": port}})
        files[f"captures/leaf{k}.json"] = json.dumps({"lldp": {"interface": rows}}, indent=1)
    names = sorted(hosts.format(n) for n in range(net.hosts))
    call = import_of("captures", status=0, links=len(net.links), hosts=names, devices=net.device_count())
    return Case(f"SONiC, {by}", files, (call,))


# ---------------------------------------------------------------- shapes

WRAPS: Mapping[str, Callable[[str, object, str], object]] = {
    "JSON-RPC": lambda d, v, t: {"jsonrpc": "2.0", "id": "1", "result": [{"version": "4.31"}, v]},
    "JSON-RPC of text": lambda d, v, t: {"jsonrpc": "2.0", "id": 1, "result": [{"output": t}]},
    "Ansible": lambda d, v, t: {"changed": False, "failed": False, "stdout": [v], "stdout_lines": [v]},
    "Ansible's text": lambda d, v, t: {"changed": False, "stdout": t, "stdout_lines": t.split("\n"), "rc": 0},
    "a callback of Ansible": lambda d, v, t: {"plays": [{"tasks": [{"hosts": {d: {"stdout": [t]}}}]}], "stats": {d: {"ok": 1}}},
    "Salt": lambda d, v, t: {d: {"result": True, "out": v, "comment": ""}},
    "databases": lambda d, v, t: {"COUNTERS_DB": {"x": 1}, "APPL_DB": v},
    "a list": lambda d, v, t: [{"item": "show", "stdout": [v]}],
    "an unknown key": lambda d, v, t: {"my_tool_v7": {"payload_b64": "e30=", "rows": 3}},
}


def enveloped_captures(rng: Random) -> Case:
    """One or two envelopes around the capture of each switch: unwrapped, or refused; never an empty switch."""
    net, form = random_leaf_spine(rng), rng.choice(WITH_CHASSIS)
    inside = rng.choice([*WRAPS])
    around = rng.choice(["", "", "Ansible", "Ansible's text", "a list"])
    if inside in ("a callback of Ansible", "Salt"):
        around = ""  # a text in an envelope that names devices itself is refused
    files: Files = {"design.fab": net.design}
    for path, text in captured_switches(net, form, {}, range(net.switches)).items():
        assert isinstance(text, str)
        device = path.partition("/")[2].partition(".")[0]
        value: object = text if form in ENDINGS else json.loads(text)
        for wrap in (inside, around):
            if wrap:
                value = WRAPS[wrap](device, value, text)
                text = json.dumps(value, indent=1)
        files[f"captures/{device}.json"] = text
    expected: dict[str, object] = {"status": 0, "judged": len(net.links), "as_designed": len(net.links)}
    if inside == "an unknown key":
        expected = {"status": 1, "says": "E0601", "lacks": "E0610"}
    return Case(f"{form} in {inside} in {around or 'nothing'}", files, (audit_of("--lldp captures", **expected),))


def on_a_terminal(text: str, rng: Random) -> str:
    """A log of a terminal with some of what programs write around and into it."""
    prompt = rng.choice(["admin@leaf0:~$ ", "leaf0#", "[root@ufm ~]# ", "leaf0.example.com>"])
    if rng.random() < 0.6:
        text = f"{prompt}show lldp neighbors detail\n{text.rstrip()}\n{prompt}\n{prompt}exit\n"
    if rng.random() < 0.4:
        text = f"{'=~' * 12}= PuTTY log 2026.11.27 10:00:00 {'=~' * 12}=\n{text}"
    if rng.random() < 0.4:
        text = "\n".join(f"\x1b[{rng.choice(['32', '1;31', '38;5;9'])}m{line}\x1b[0m\x1b[K" for line in text.split("\n"))
    if rng.random() < 0.4:
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        lines[at] = rng.choice(["--More--\r        \r", " --More-- \r           \r"]) + lines[at]
        text = "\n".join(lines)
    return text.replace("\n", rng.choice(["\n", "\r\n", "\r\r\n"]))


def logs_of_terminals(rng: Random) -> Case:
    """Prompts, colours, pages, line ends and encodings: the same links."""
    net = random_leaf_spine(rng)
    name = rng.choice([n for n in FORMATS if not n.startswith(("p2p", "netbox", "labels", "batfish", "netq"))])
    option, write = FORMATS[name]
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
    files: Files = {
        p: on_a_terminal(t.replace("Switch\t8", "Switch\t16"), rng).encode(encoding) for p, t in write(net.links).items()
    }
    calls = (clean_audit(option, len(net.links)),)
    return Case(f"{name}, {encoding}", {**files, "design.fab": net.design}, calls)


def cut_captures(rng: Random) -> Case:
    """The output of ibnetdiscover in several files goes on from one to the next; a capture that ends early is a fault."""
    net = random_leaf_spine(rng)
    if rng.random() < 0.5:
        text = str(subnet_of("ibnetdiscover", net.links, {})["fabric.topo"])
        lines = text.splitlines(keepends=True)
        cuts = sorted({0, len(lines), *(rng.randrange(1, len(lines)) for _ in range(rng.randint(1, 3)))})
        parts = [part for a, b in pairwise(cuts) if (part := "".join(lines[a:b])).strip()]
        files: Files = {f"captures/part{k}.topo": part for k, part in enumerate(parts)}
        call = clean_audit("--ibnetdiscover captures", len(net.links))
        return Case(f"{len(parts)} files of ibnetdiscover", {**files, "design.fab": net.design}, (call,))
    form = rng.choice(["lldpd", "eos", "nvue", "sonic"])
    files = captured_switches(net, form, {}, range(net.switches))
    path = rng.choice([*files])
    whole = str(files[path])
    files[path] = whole[: rng.randrange(1, len(whole.rstrip()) - 1)]
    call = audit_of("--lldp captures", status=1, lacks="E0610")
    return Case(f"{form}, {path} is cut off", {**files, "design.fab": net.design}, (call,))


# ---------------------------------------------------------------- tables


def table_text(rows: Sequence[Sequence[str]], sign: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=sign, lineterminator="\n").writerows(rows)
    return out.getvalue()


HEADINGS = (
    ("a_device", "a_port", "b_device", "b_port"),
    ("Source Device", "Source Port", "Destination Device", "Destination Port"),
    ("From Host", "From Interface", "To Switch", "To Port"),
    ("A-End Device", "A-End Port", "Z-End Device", "Z-End Port"),
)


def labels_with_a_hash(rng: Random) -> Case:
    """Labels such as ``#2`` in the first cell; rows that are commented out are set aside; a byte order mark."""
    net = random_leaf_spine(rng)
    out = rng.sample(range(len(net.links)), rng.randint(0, 2))
    rows: list[Sequence[str]] = [("label", *rng.choice(HEADINGS))]
    for k, link in enumerate(net.links):
        rows.append((("# out: " if k in out else rng.choice(["#", "#", "C"])) + str(k), *link))
    files: Files = {"cables.csv": table_text(rows, rng.choice(",;\t")).encode(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))}
    links = len(net.links) - len(out)
    calls = (
        audit_of("--p2p cables.csv", status=1 if out else 0, as_designed=links, aside=len(out)),
        import_of("cables.csv", status=0, links=links),
    )
    return Case(f"labels, {len(out)} commented out", {**files, "design.fab": net.design}, calls)


def several_ends_in_a_cell(rng: Random) -> Case:
    """Two cables of one row, in NetBox's list or another table: refused, and the other rows are read."""
    net = random_leaf_spine(rng)
    links = list(net.links)
    one, other = sorted(rng.sample(range(len(links)), 2))
    netbox = rng.random() < 0.5
    sign = rng.choice([","] if netbox else [", ", ";", " & ", "\n"])
    (a, p, b, q), (c, r, d, s) = links[one], links[other]
    del links[other]
    links[one] = (a if a == c else f"{a}{sign}{c}", f"{p}{sign}{r}", b if b == d else f"{b}{sign}{d}", f"{q}{sign}{s}")
    if netbox:
        heading = ("ID", "Label", "Device A", "Termination A", "Device B", "Termination B", "Status")
        rows = [heading, *((str(k), "", *x, "Connected") for k, x in enumerate(links))]
    else:
        rows = [rng.choice(HEADINGS), *links]
    calls = (audit_of("--p2p cables.csv", status=1, says="several ends"), import_of("cables.csv", status=1, says="several ends"))
    return Case(
        f"several ends in a cell, {'NetBox' if netbox else 'a table'}",
        {"cables.csv": table_text(rows), "design.fab": net.design},
        calls,
    )


def contradicting_rows(rng: Random) -> Case:
    """A row that is there twice, also from its other end; a port in two rows; devices that no one knows."""
    net = random_leaf_spine(rng)
    rows = list(net.links)
    planted = rng.choice(["twice", "backwards", "two rows of a port", "unknown devices"])
    a, p, b, q = rng.choice(rows)
    total = len(rows)
    expected: dict[str, object] = {"status": 0, "as_designed": total, "read": total + 1}
    if planted == "two rows of a port":
        far = rng.choice([x for x in rows if x[2:] != (b, q) and x[0] != a])
        row = (a, p, *far[2:])
        expected = {"status": 1, "says": "E0603", "read": total + 1}
    else:
        row = {"twice": (a, p, b, q), "backwards": (b, q, a, p), "unknown devices": ("x1", "e1", "x2", "e2")}[planted]
        if planted == "unknown devices":
            expected |= {"aside": 1}
    rows.insert(rng.randrange(len(rows) + 1), row)
    text = table_text([rng.choice(HEADINGS), *rows], rng.choice(",;\t"))
    return Case(planted, {"cables.csv": text, "design.fab": net.design}, (audit_of("--p2p cables.csv", **expected),))


def cut_sheets(rng: Random) -> Case:
    """Title rows, headings of two rows, ``Device / Port`` in one cell, merged cells, further columns, rows that are not done."""
    net = random_leaf_spine(rng)
    rows = sorted(net.links)
    shape = rng.choice(["titles", "two rows", "one cell", "merged", "further columns", "ticked"])
    table: list[Sequence[str]] = [rng.choice(HEADINGS), *rows]
    expected: dict[str, object] = {"status": 0, "as_designed": len(rows)}
    if shape == "two rows":
        above = rng.choice(
            [("A side", "", "Z side", ""), ("From", "", "To", ""), ("Source", "Source", "Destination", "Destination")]
        )
        table = [above, rng.choice([("Device", "Port") * 2, ("Hostname", "Interface") * 2]), *rows]
    elif shape == "one cell":
        sign = rng.choice([" / ", ":", " : ", " "])
        table = [("Device A / Port A", "Device B / Port B"), *((f"{a}{sign}{p}", f"{b}{sign}{q}") for a, p, b, q in rows)]
    elif shape == "merged":
        table = [table[0], *(("" if k and rows[k - 1][0] == r[0] else r[0], *r[1:]) for k, r in enumerate(rows))]
    elif shape == "further columns":
        table = [("Cable ID", "From Rack", *table[0], "Type", "Remarks")]
        table += [(f"C{k}", "R1", *r, "DAC", rng.choice(["", "see plan; ask", "ok, done"])) for k, r in enumerate(rows)]
    elif shape == "ticked":
        done = [rng.random() < 0.7 for _ in rows]
        done[0] = True
        table = [
            (*table[0], "Done"),
            *((*r, rng.choice(["x", "yes", "✓"]) if d else "") for r, d in zip(rows, done, strict=True)),
        ]
        expected = {"as_designed": sum(done), "aside": done.count(False)}
    if shape == "titles" or rng.random() < 0.5:
        table = [["Cut sheet of hall 2"], [], ["revision", "4"], *table]
    wide = max(map(len, table))
    table = [[*r, *[""] * (wide - len(r))] for r in table]
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16"])
    files: Files = {"cables.csv": table_text(table, rng.choice(",;\t")).encode(encoding), "design.fab": net.design}
    return Case(f"a cut sheet, {shape}, {encoding}", files, (audit_of("--p2p cables.csv", **expected),))


# ---------------------------------------------------------------- what tdsl writes is read back


OCS = ((3, 4, 2), (3, 8, 4), (4, 3, 1), (4, 6, 4), (4, 12, 2), (5, 8, 4), (6, 5, 1), (6, 10, 2), (7, 12, 2))
"""Switches, ports of each and optical circuit switches with which circuits between all pairs are even."""


def design_of_parts(rng: Random) -> str:
    """Break-outs, lanes, twin ports, panels or circuits, in random numbers."""
    hosts, leaves, spines = rng.randint(2, 8), rng.randint(2, 4), rng.randint(1, 3)
    kind = rng.choice(["breakout", "lanes", "twin", "panel", "ocs"])
    if kind == "breakout":
        legs = rng.choice([2, 4])
        return f"""\
model host NODE {{ port nic[{leaves}]: {800 // legs}Gbps {{ type GE; os "eth{{i}}" }} }}
model switch SW {{ port p[1..32]: 800Gbps {{ type GE; cage 1 OSFP; split {legs}; os "swp{{i}}" }} }}
model cable LEGS {{ rate 800Gbps; medium copper; legs {legs} }}
fabric f {{
  transport ethernet
  host node[{hosts}]: NODE
  switch leaf[{leaves}]: SW {{ split p[1..8] {legs} }}
  switch spine[{spines}]: SW
  connect node[n].nic[r] to leaf[r].p[1..8] {{ cable LEGS }}
  connect leaf[*].p[9..32] to spine[*] each x {rng.randint(1, 3)}
}}
"""
    if kind == "lanes":
        legs = rng.choice([2, 4])
        return f"""\
model host NODE {{ port nic[2]: 800Gbps {{ type GE; split 4, 2; os "mlx5_{{i}}"; netdev "eth{{i}}" }} }}
model switch SW {{ port p[1..16]: {800 // legs}Gbps {{ type GE }} }}
model cable OCTOPUS {{ rate 800Gbps; medium copper; legs {legs} }}
fabric f {{
  host node[{hosts}]: NODE {{ split nic {legs} }}
  plane plane[{legs}] {{
    switch leaf: SW
  }}
  connect node[n].nic[r, p] to plane[p].leaf {{ cable OCTOPUS }}
}}
"""
    if kind == "twin":
        return f"""\
model host NODE {{ port nic[{leaves}]: 400Gbps {{ os "mlx5_{{i}}" }} }}
model switch SW {{ port p[1..32]: 400Gbps {{ cage 2 OSFP; os "swp{{i}}" }} }}
fabric f {{
  host node[{hosts}]: NODE
  switch leaf[{leaves}]: SW
  switch spine[{spines}]: SW
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] each x {rng.randint(1, 4)}
}}
"""
    if kind == "panel":
        return f"""\
model host NODE {{ port nic[{leaves}]: 400Gbps {{ os "eth{{i}}" }} }}
model switch SW {{ port p[1..32]: 400Gbps {{ os "Ethernet{{i}}" }} }}
model panel PATCH {{ port front[16]: any; port back[16]: any }}
fabric f {{
  transport ethernet
  host node[{hosts}]: NODE
  panel patch[{leaves}]: PATCH
  switch sw[{leaves}]: SW
  switch top: SW
  connect node[n].nic[r] to sw[r] via patch[r]
  connect sw[*] to top each x {rng.randint(1, 3)}
}}
"""
    blocks, ports, circuits = rng.choice(OCS)
    return f"""\
model switch BLOCK {{ port p[1..{ports}]: 400Gbps }}
model ocs OPTIC {{ port o[1..64]: any }}
fabric f {{
  switch block[{blocks}]: BLOCK
  ocs ocs[{circuits}]: OPTIC
  connect block[b].p[i] to ocs[(i - 1) % {circuits}]
  circuit block[*] spread
}}
"""


def what_is_written(rng: Random) -> Case:
    """Every table of cables that a build writes is the design."""
    build = Call(("build", "design.fab", "--out", "out", "--target", "cabling", "--target", "netbox", "--force"), {"status": 0})
    tables = ("cabling/links.csv", "cabling/cables.csv", "cabling/labels.csv", "netbox/*/8-cables.csv")
    calls = [audit_of(f"--p2p out/{t}", status=0, all_as_designed=True) for t in tables[:3]]
    return Case("read back", {"design.fab": design_of_parts(rng)}, (build, *calls))


# ---------------------------------------------------------------- changes, groups, findings


def leaves_of_hosts(rng: Random) -> Case:
    """Slurm and Kubernetes put hosts under the switch of their rack, whatever else is cabled to several of them."""
    racks, hosts = rng.randint(2, 4), rng.randint(1, 4)
    more = rng.sample(["filer", "management", "manager", "login"], rng.randint(1, 3))
    text = [
        "  host filer: TWO { role storage }\n  connect filer.p[(0)] to rack[0].leaf\n  connect filer.p[(1)] to rack[1].leaf"
        * ("filer" in more)
    ]
    text += [
        "  host ufm: TWO { role manager }\n  connect ufm.p[(0)] to rack[1].leaf\n  connect ufm.p[(1)] to rack[0].leaf"
        * ("manager" in more)
    ]
    text += ["  switch mgmt: M\n  connect rack[r].node[n].bmc to mgmt" * ("management" in more)]
    text += [
        "  host login: TWO { role manager }\n  connect login.p[(0)] to rack[0].leaf\n  connect login.p[(1)] to rack[1].leaf"
        * ("login" in more)
    ]
    rng.shuffle(text)
    design = (
        f"""\
model host N {{ port nic: 400Gbps {{ os "mlx5_0"; netdev "eth0" }}; port bmc: 1Gbps {{ type BASE_T }}; chip gpu[4]: G }}
model chip G {{ port x: 1Gbps }}
model host TWO {{ port p[2]: 400Gbps {{ os "mlx5_{{i}}"; netdev "eth{{i}}" }} }}
model switch SW {{ port p[1..16]: 400Gbps }}
model switch M {{ port p[1..48]: 1Gbps {{ type BASE_T }} }}
fabric f {{
  transport roce
  group rack[{racks}] {{
    host node[{hosts}]: N
    switch leaf: SW
    connect node[n].nic to leaf
  }}
  switch spine[2]: SW
  connect rack[*].leaf to spine[*] spread x {2 * rng.randint(1, 2)}
"""
        + "\n".join(filter(None, text))
        + "\n}\n"
    )
    build = ("build", "design.fab", "--out", "out", "--target", "slurm", "--target", "kubernetes")
    groups = sorted([f"rack{r}-node{n}" for n in range(hosts)] for r in range(racks))
    return Case(", ".join(more), {"design.fab": design}, (Call(build, {"status": 0, "slurm": groups, "kubernetes": groups}),))


RACKS = """\
fabric racks {{
  let numbers = {numbers}
  rack rack[len(numbers)] {{
    host node[2]: N
    switch tor: S
    connect node[n].nic to tor
  }}
  switch spine[2]: S
  connect rack[*].tor to spine[*] spread x 4
  naming rack[r].node[n] "r{{numbers[r]}}-gpu{{n}}"
{tors}}}
model host N {{ port nic: 400Gbps {{ os "mlx5_0" }} }}
model switch S {{ port p[1..24]: 400Gbps {{ os "swp{{i}}" }} }}
"""


def racks_by_number(rng: Random) -> Case:
    """Racks leave, come and change places in the text: no cable of one that stays is touched, and none has a new name. Where the
    hosts alone have names, the switch of their rack is where they are."""
    old = rng.sample(range(101, 110), 4)
    gone, come = set(rng.sample(old, rng.randint(0, 2))), rng.sample(range(201, 210), rng.randint(0, 1))
    new = [n for n in old if n not in gone] + come
    rng.shuffle(new)
    tors = rng.choice(['  naming rack[r].tor "r{numbers[r]}-tor"\n', ""])
    files: Files = {f"{k}.fab": RACKS.format(numbers=v, tors=tors) for k, v in (("old", old), ("new", new))}
    expected: dict[str, object] = {
        "status": 0,
        "fewer": 6 * (len(gone) - len(come)),
    }
    if tors:
        expected |= {"touched": gone | set(come), "too_many": False}
    args = ("plan", "old.fab", "new.fab", "--no-lock", "--floor", "bisection >= 0%", "--format", "json")
    return Case(f"{old} to {new}", files, (Call(args, expected),))


def branches_of_git(rng: Random) -> Case:
    """A branch that renames designs, and changes them or not."""
    hosts = rng.randint(3, 6)
    less = rng.randint(0, 2)
    text = f"""\
model switch S {{ port p[1..16]: 100Gbps }}
model host H {{ port nic: 100Gbps }}
fabric pod {{
  host node[{hosts}]: H
  switch leaf: S
  connect node[n].nic to leaf
}}
"""
    moved = rng.choice(["pod2.fab", "sites/pod.fab", "pod.fab"])
    changed = text.replace(f"node[{hosts}]", f"node[{hosts - less}]")
    files: Files = {"git/base/pod.fab": text, f"git/branch/{moved}": changed}
    same = moved == "pod.fab" and not less
    expected = {"status": 0, "same": same, "devices_removed": less, "renamed_file": moved != "pod.fab"}
    return Case(f"{moved}, {less} fewer", files, (Call(("diff", "main...branch", "--format", "json"), expected),))


def places_in_the_library(rng: Random) -> Case:
    """SARIF names files of the repository, and none with a scheme, which GitHub refuses."""
    host, switch = rng.choice(["DGX_H100", "DGX_B200", "GB300_NVL72"]), rng.choice(["SN5600", "QM9700", "QM8790"])
    what = rng.choice(
        [
            f"host node[4]: {host}\n  switch leaf: {switch}\n  connect node[n].nic[r] to leaf",
            f"host node[2]: {host}\n  switch leaf: {switch}\n  connect node[n].nic[99] to leaf",
            f"host node[2]: {host} {{ split nic 7 }}\n  switch leaf: {switch}\n  connect node[n].nic[0] to leaf",
            f"host node[40]: {host}\n  switch leaf[2]: {switch}\n  connect node[n].nic[r] to leaf[r // 4]",
            f"host node: {switch}\n  switch leaf: {host}\n  connect node to leaf",
        ]
    )
    text = f"fabric pod {{\n  {what}\n}}\n"
    return Case(what, {"design.fab": text}, (Call(("check", "design.fab", "--output-format", "sarif"), {"schemes": []}),))


KINDS: Mapping[str, Callable[[Random], Case]] = {
    "leaves of hosts": leaves_of_hosts,
    "switches of one description": of_one_description,
    "cloned hosts": cloned_hosts,
    "switches of one system name": of_one_system_name,
    "unnamed switches": unnamed_switches,
    "envelopes": enveloped_captures,
    "logs of terminals": logs_of_terminals,
    "cut captures": cut_captures,
    "switches of SONiC": switches_of_sonic,
    "racks by number": racks_by_number,
    "what is written": what_is_written,
    "firmware of adapters": firmware_neighbours,
    "branches of git": branches_of_git,
    "places in the library": places_in_the_library,
    "labels with #": labels_with_a_hash,
    "doubtful assets": doubtful_assets,
    "several ends in a cell": several_ends_in_a_cell,
    "contradicting rows": contradicting_rows,
    "cut sheets": cut_sheets,
}


def case_of_seed(seed: int) -> tuple[str, Case]:
    """A kind and a case of it: seeds take the kinds in turn."""
    kind = [*KINDS][seed % len(KINDS)]
    return kind, KINDS[kind](Random(seed))
