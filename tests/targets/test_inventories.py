"""Targets for schedulers, inventories and laboratories: each file is read by the program that it is for."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.site import Dns, Site
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.conftest import need_program

yaml = pytest.importorskip("yaml")
DESIGN = """\
model host NODE { port nic[2]: 400Gbps { type GE400; os "mlx5_{i}"; netdev "eth{i}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps { type GE400; os "swp{i}" } }
fabric pods "Two units" {
  group su[2] {
    host node[4]: NODE
    switch leaf[2]: SW
    connect node[n].nic[r] to leaf[r]
  }
  switch spine[2]: SW
  nos frr
  connect su[*].leaf[*] to spine[*] each
  address su[*].leaf, spine loopback from 10.255.0.0/24
  address su[*].leaf, spine loopback from fd00:255::/64
  address su[*].leaf, spine, su[*].node management from 192.168.0.10/24 { interface mgmt0; gateway 192.168.0.1 }
  address su[*].node[*].nic[r] links from "172.{16 + r}.0.0/24"
  routing bgp { }
}
"""
PLANES = """\
model host NODE { port nic[2]: 400Gbps { type GE400; os "eth{i}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps { type GE400; os "swp{i}" } }
fabric planes {
  host node[4]: NODE
  host store: NODE { role storage }
  plane plane[2] {
    switch leaf[2]: SW
    switch spine: SW
    connect leaf[*] to spine each x 2
  }
  connect node[n].nic[p] to plane[p].leaf[n // 2]
  connect store.nic[p] to plane[p].leaf[0]
}
"""
ASSETS = """\
device,port,node_guid,port_guid,mac
su0-leaf0,,,,94:6D:AE:00:00:01
su[1].node[3],,,,94-6d-ae-00-00-02
"""


def compiled(text: str, place: Path) -> Fabric:
    """The one fabric of a design."""
    path = place / "design.fab"
    path.write_text(text)
    result = compiler.compile_without_checks(str(path))
    assert not result.findings and result.designs[0].fabric is not None
    return result.designs[0].fabric


def made(text: str, place: Path, *targets: str, **settings: object) -> dict[str, bytes]:
    """The files of these targets, about which nothing was found."""
    found = Diagnostics()
    given = dict.fromkeys(targets, settings) if settings else {}
    options = BuildOptions(settings=given, assets=SourceFile("assets.csv", ASSETS) if text == DESIGN else None)
    files = build_files(compiled(text, place), targets, found, options)
    assert not list(found), list(found)
    return files


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program, with what it said."""
    env = {**os.environ, **environment}
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, check=False, env=env)


def tree(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """Switch -> its nodes and its switches."""
    out = {}
    for line in text.splitlines():
        if line.startswith("SwitchName="):
            fields = dict(x.split("=", 1) for x in line.split())
            out[fields["SwitchName"]] = tuple(fields[k].split(",") if k in fields else [] for k in ("Nodes", "Switches"))
    return out  # type: ignore[return-value]


# ---------------------------------------------------------------- slurm
NODES = [f"su{u}-node{n}" for u in range(2) for n in range(4)]


def slurm_loads(topology: bytes, nodes: Sequence[str], place: Path) -> tuple[str, str]:
    """What slurmctld and scontrol say of a `topology.conf` where these nodes are known: the tree, and the log."""
    slurmctld, scontrol = need_program("slurmctld", "slurmctld"), need_program("scontrol", "slurm-client")
    if os.geteuid() != 0:
        pytest.skip("slurmctld is started as root here")
    conf = place / "slurm.conf"
    port = 20000 + os.getpid() % 20000
    known = "".join(f"NodeName={n} NodeAddr=127.0.0.1 State=UNKNOWN\n" for n in nodes)
    conf.write_text(
        f"ClusterName=t\nSlurmctldHost={os.uname().nodename}(127.0.0.1)\nSlurmUser=root\nAuthType=auth/none\nCredType=cred/none\n"
        f"SlurmctldPort={port}\nSlurmctldPidFile={place}/pid\nStateSaveLocation={place}/state\nTopologyPlugin=topology/tree\n"
        f"SlurmctldLogFile={place}/log\nProctrackType=proctrack/pgid\nMailProg=/bin/true\nReturnToService=1\n"
        f"{known}PartitionName=p Nodes=ALL Default=YES\n"
    )
    (place / "topology.conf").write_bytes(topology)
    (place / "state").mkdir()
    with (place / "said").open("w") as said:
        daemon = subprocess.Popen([slurmctld, "-D", "-c", "-f", str(conf)], stdout=said, stderr=said)
    try:
        told = ""
        for _ in range(40):
            time.sleep(0.25)
            told = run(scontrol, "show", "topology", SLURM_CONF=str(conf)).stdout
            if "SwitchName=" in told or daemon.poll() is not None:
                break
    finally:
        daemon.terminate()
        daemon.wait(20)
    return told, "".join(p.read_text() for p in (place / "said", place / "log") if p.is_file())


def test_slurmctld_loads_the_tree(tmp_path: Path) -> None:
    """Every node under the one leaf that it has, and one root; the log names no node that is unknown or under two leaves."""
    told, log = slurm_loads(made(DESIGN, tmp_path, "slurm")["slurm/conf/topology.conf"], NODES, tmp_path)
    assert "SwitchName=su0-leaf0 Level=0" in told and "Nodes=su0-node[0-3]" in told and "SwitchName=spine0 Level=1" in told, log
    assert not re.search(r"Invalid hostnames|Multiple leaf|no common root|not a tree", log, re.IGNORECASE)


def test_topology_yaml_has_one_tree_and_blocks(tmp_path: Path) -> None:
    """slurmctld asks for the name as the first key, and for one kind each (man topology.yaml)."""
    files = made(DESIGN, tmp_path, "slurm")
    fabric, blocks = yaml.safe_load(files["slurm/topology.yaml"])
    assert next(iter(fabric)) == next(iter(blocks)) == "topology" and (fabric["cluster_default"], blocks["cluster_default"]) == (
        True,
        False,
    )
    switches = {s["switch"]: s.get("children", "").split(",") + s.get("nodes", "").split(",") for s in fabric["tree"]["switches"]}
    assert sorted(n for s in switches.values() for n in s if "node" in n) == NODES
    assert switches["spine0"][:2] == ["su0-leaf0", "su1-leaf0"]
    assert blocks["block"]["block_sizes"] == [4] and len(blocks["block"]["blocks"]) == 2


def test_blocks_are_the_scale_up_domains_that_span_hosts() -> None:
    """Eight racks of 18 trays, each one NVLink domain, although rails lead from a rack to several leaves."""
    import tdsl

    files = tdsl.build(tdsl.load("gb200_su"), ["slurm"])
    block = yaml.safe_load(files["slurm/topology.yaml"])[1]["block"]
    assert block["block_sizes"] == [18]
    assert [(b["block"], b["nodes"].split(",")) for b in block["blocks"]] == [
        (f"rack{k}-nvswitch0-0", [f"rack{k}-tray{t}" for t in range(18)]) for k in range(8)
    ]


def test_planes_and_rails_are_one_tree(tmp_path: Path) -> None:
    """A node under one leaf, although it meets a leaf of each plane; storage runs no jobs."""
    found = tree(made(PLANES, tmp_path, "slurm")["slurm/conf/topology.conf"].decode())
    assert found == {
        "plane0-leaf0": (["node0", "node1"], []), "plane0-leaf1": (["node2", "node3"], []),
        "plane0-spine": ([], ["plane0-leaf0", "plane0-leaf1"]),
    }  # fmt: skip


def test_switches_beside_each_other_have_one_above(tmp_path: Path) -> None:
    text = PLANES.split("fabric")[0] + (
        "fabric ring {\n  host node[4]: NODE\n  switch s[4]: SW\n  connect node[n].nic[(0)] to s[n]\n  connect s[*] ring\n}\n"
    )
    found = tree(made(text, tmp_path, "slurm")["slurm/conf/topology.conf"].decode())
    assert {k: v[0] for k, v in found.items() if v[0]} == {f"s{n}": [f"node{n}"] for n in range(4)}
    assert [v[1] for v in found.values() if v[1]] == [["s0", "s1", "s2", "s3"]]


# ---------------------------------------------------------------- kubernetes
def test_labels_and_the_topology_of_kueue(tmp_path: Path, test_data: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    files = made(DESIGN, tmp_path, "kubernetes")
    crd = yaml.safe_load((test_data / "handover" / "kueue" / "kueue.x-k8s.io_topologies.yaml").read_text())
    version = next(v for v in crd["spec"]["versions"] if v["name"] == "v1beta2")
    topology = yaml.safe_load(files["kubernetes/topology.yaml"])
    jsonschema.validate(topology, version["schema"]["openAPIV3Schema"])
    keys = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    assert keys == ["fabric.topograph.run/tier-1", "fabric.topograph.run/tier-0", "kubernetes.io/hostname"]
    nodes = list(yaml.safe_load_all(files["kubernetes/labels.yaml"]))
    assert [n["metadata"]["name"] for n in nodes] == NODES
    assert nodes[5]["metadata"]["labels"] == {keys[0]: "spine0", keys[1]: "su1-leaf0"}
    values = {v for n in nodes for v in n["metadata"]["labels"].values()}
    assert all(re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", v) for v in values)


RACKS = """
fabric f {
  rack rack[2] {
    host tray[18]: GB200_TRAY
    switch nvswitch[9, 2]: NVLINK5_SWITCH
    connect tray[t].gpu[g].nvlink[2*s + c] to nvswitch[s, c].p[4*t + g] { layer scaleup; medium backplane }
  }
  switch leaf[4, 2]: QM9700
  connect rack[k].tray[t].nic[r] to leaf[r, (18*k + t)//32]
}
"""


def test_nodes_of_one_nvlink_domain_say_so(tmp_path: Path) -> None:
    """A rack is a domain, whichever leaves its trays have."""
    files = made(RACKS, tmp_path, "kubernetes")
    nodes = {n["metadata"]["name"]: n["metadata"]["labels"] for n in yaml.safe_load_all(files["kubernetes/labels.yaml"])}
    domains = {name: n["accelerator.topograph.run/domain"] for name, n in nodes.items()}
    assert len(nodes) == 36 and Counter(domains.values()) == {"rack0-nvswitch0-0": 18, "rack1-nvswitch0-0": 18}
    assert all(d.startswith(name.partition("-")[0]) for name, d in domains.items())
    assert "accelerator" not in made(DESIGN, tmp_path, "kubernetes")["kubernetes/labels.yaml"].decode()


# ---------------------------------------------------------------- inventories
def test_ansible_reads_the_inventory(tmp_path: Path) -> None:
    pytest.importorskip("ansible")
    files = made(DESIGN, tmp_path, "ansible")
    path = tmp_path / "inventory.yaml"
    path.write_bytes(files["ansible/inventory.yaml"])
    program = Path(sys.executable).with_name("ansible-inventory")
    done = run(program, "-i", path, "--list", ANSIBLE_HOME=str(tmp_path / "home"))
    told: dict[str, Any] = json.loads(done.stdout)
    hosts = told["_meta"]["hostvars"]
    assert len(hosts) == 14 and "WARNING" not in done.stderr
    assert hosts["su0-leaf0"] == {
        "tdsl_model": "SW", "ansible_host": "192.168.0.10", "tdsl_asn": 4201000000, "tdsl_tier": 1,
        "tdsl_mac": "94:6d:ae:00:00:01",
    }  # fmt: skip
    assert told["nos_frr"]["hosts"] == told["switches"]["hosts"] and sorted(told["role_accelerator"]["hosts"]) == NODES


def test_kea_accepts_the_reservations(tmp_path: Path) -> None:
    kea = need_program("kea-dhcp4", "kea-dhcp4-server")
    files = made(DESIGN, tmp_path, "dhcp", boot_url="http://192.168.0.2/ztp.json")
    path = tmp_path / "kea.json"
    path.write_bytes(files["dhcp/kea-dhcp4.json"])
    done = run(kea, "-t", path)
    assert done.returncode == 0 and "ERROR" not in done.stdout + done.stderr, done
    (subnet,) = json.loads(files["dhcp/kea-dhcp4.json"])["Dhcp4"]["subnet4"]
    assert [(r["hw-address"], r["hostname"]) for r in subnet["reservations"]] == [
        ("94:6d:ae:00:00:02", "su1-node3"), ("94:6d:ae:00:00:01", "su0-leaf0"),
    ]  # fmt: skip
    each = made(DESIGN, tmp_path, "dhcp", boot_url="http://ztp/eos/{device}.cfg")["dhcp/kea-dhcp4.json"]
    assert b'"boot-file-name": "http://ztp/eos/su0-leaf0.cfg"' in each
    path.write_bytes(files["dhcp/kea-dhcp4.json"].replace(b'"subnet":', b'"subnets":'))
    assert run(kea, "-t", path).returncode != 0, "the judge can say no"


def test_named_loads_the_zone(tmp_path: Path) -> None:
    program = need_program("named-checkzone", "bind9-utils")
    files = made(DESIGN, tmp_path, "dns", zone="gpu.example.net", serial=7)
    path = tmp_path / "zone.db"
    path.write_bytes(files["dns/zone.db"])
    done = run(program, "-D", "gpu.example.net", path)
    assert done.returncode == 0 and "loaded serial 7" in done.stdout + done.stderr
    records = [line.split() for line in done.stdout.splitlines() if re.search(r"\sIN\s+A+\s", line)]
    known = Counter(r[3] for r in records)
    assert (known["A"], known["AAAA"]) == (1 + 14 + 6, 6)
    assert ["su0-leaf0.gpu.example.net.", "192.168.0.10"] in [[r[0], r[-1]] for r in records]


def test_the_zone_is_that_of_the_site(tmp_path: Path) -> None:
    """Its domain and its name servers, unless the option says another zone."""
    site = Site(dns=Dns(("192.0.2.12", "2001:db8::53"), "gpu.example.com"))
    for zone in ("", "other.example"):
        options = BuildOptions(site=site, settings={"dns": {"zone": zone}} if zone else {})
        text = build_files(compiled(DESIGN, tmp_path), ["dns"], Diagnostics(), options)["dns/zone.db"].decode()
        assert text.startswith(f"$ORIGIN {zone or 'gpu.example.com'}.\n")
        assert "ns IN A 192.0.2.12\nns IN AAAA 2001:db8::53\n" in text and "127.0.0.1" not in text


def test_prometheus_reads_what_is_expected(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    files = made(DESIGN, tmp_path, "prometheus", "cabling")
    (family,) = parser.text_string_to_metric_families(files["prometheus/expected.prom"].decode())
    rows = list(csv.DictReader(io.StringIO(files["cabling/links.csv"].decode())))
    assert len(family.samples) == 2 * len(rows) == 48
    seen = {(s.labels["device"], s.labels["interface"]): s for s in family.samples}
    for row in rows:
        sample = seen[row["a_device"], row["a_interface"]]
        assert (sample.labels["neighbour"], sample.labels["neighbour_port"]) == (row["a_neighbour"], row["a_neighbour_port"])
        assert sample.value == int(row["rate_gbps"]) * 10**9
    groups = json.loads(files["prometheus/targets.json"])
    assert len(groups) == 14 and all(set(g) == {"targets", "labels"} for g in groups)
    assert all(isinstance(v, str) for g in groups for v in g["labels"].values())


# ---------------------------------------------------------------- laboratories
def test_containerlab_has_every_link(tmp_path: Path, test_data: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = (test_data / "containerlab.schema.json").read_text().replace("\\\\p{N}\\\\p{L}", "0-9A-Za-z")
    files = made(DESIGN, tmp_path, "containerlab", "frr")
    told = yaml.safe_load(files["containerlab/fabric.clab.yml"])
    jsonschema.validate(told, json.loads(schema))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**told, "topology": {"nodez": {}}}, json.loads(schema))
    ends = [e for link in told["topology"]["links"] for e in link["endpoints"]]
    assert len(ends) == len(set(ends)) == 48 and {e.split(":")[0] for e in ends} == set(told["topology"]["nodes"])
    for name, node in told["topology"]["nodes"].items():
        mounted = [b.split(":")[0] for b in node.get("binds", []) if "frr.conf" in b]
        assert mounted == [f"../frr/{name}/frr.conf"] and f"frr/{name}/frr.conf" in files


EOS = """
model host NODE { port nic[2]: 400Gbps { type GE400; netdev "eth{i + 1}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
fabric f {
  host node[4]: NODE
  switch leaf[2]: ARISTA_7060X6_64PE { nos eos; split p[1..2] 2 }
  switch spine: SN5600 { nos sonic }
  connect node[n].nic[r] to leaf[r] { cable CORD }
  connect leaf[*] to spine each
  address leaf, spine loopback from 10.255.0.0/24
  routing bgp { mtu 9214 }
}
model cable CORD { rate 800Gbps; legs 2 }
"""


def test_containerlab_starts_switches_with_eos(tmp_path: Path, test_data: Path) -> None:
    """cEOS-lab takes names of the form of nodes/ceos/ceos.go, and shows `eth1_5` as `Ethernet1/5`."""
    jsonschema = pytest.importorskip("jsonschema")
    files = made(EOS, tmp_path, "containerlab", "eos", "sonic")
    told = yaml.safe_load(files["containerlab/fabric.clab.yml"])
    schema = (test_data / "containerlab.schema.json").read_text().replace("\\\\p{N}\\\\p{L}", "0-9A-Za-z")
    jsonschema.validate(told, json.loads(schema))
    nodes = told["topology"]["nodes"]
    assert nodes["leaf0"] == {"kind": "arista_ceos", "startup-config": "../eos/leaf0.cfg"} and "eos/leaf0.cfg" in files
    assert nodes["spine"] == {"kind": "linux"} and told["topology"]["kinds"]["arista_ceos"] == {"image": "ceos:4.32.0F"}
    ends = [e.split(":") for link in told["topology"]["links"] for e in link["endpoints"]]
    shown = {name.replace("eth", "Ethernet").replace("_", "/") for device, name in ends if device == "leaf0"}
    assert all(re.fullmatch(r"eth[1-9][\w.]*", name) for device, name in ends if device == "leaf0")
    assert shown == set(re.findall(r"^interface (Ethernet\S+)$", files["eos/leaf0.cfg"].decode(), re.M))


def test_a_table_of_mac_addresses_needs_no_guids(tmp_path: Path) -> None:
    """A fabric of Ethernet has none; without either kind of identifier the columns are named."""
    fabric = compiled(DESIGN, tmp_path)
    found = Diagnostics()
    table = "device,mac\nsu0-leaf0,94:6D:AE:00:00:01\n"
    files = build_files(fabric, ["dhcp"], found, BuildOptions(assets=SourceFile("assets.csv", table)))
    assert not list(found) and b'"hw-address": "94:6d:ae:00:00:01"' in files["dhcp/kea-dhcp4.json"]
    build_files(fabric, ["dhcp"], found, BuildOptions(assets=SourceFile("assets.csv", "device,serial\nsu0-leaf0,x\n")))
    assert [d.code for d in found][:1] == ["E0531"] and "or at least device,mac" in next(iter(found)).help


# ---------------------------------------------------------------- netbox
FIELDS = {
    "1-manufacturers": {"name", "slug"}, "2-device-types": {"manufacturer", "model", "slug", "u_height"},
    "3-device-roles": {"name", "slug", "color"}, "4-sites": {"name", "slug", "status"},
    "6-devices": {"name", "role", "manufacturer", "device_type", "site", "status", "rack", "position", "face"},
    "7-interfaces": {"device", "name", "label", "type", "speed", "enabled"},
    "8-cables": {"side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "status", "label"},
}  # fmt: skip
"""What NetBox 4.6 asks for, and some of what it takes (netbox/dcim/forms/bulk_import.py)."""


@pytest.mark.parametrize("text", [DESIGN, PLANES])
def test_netbox_finds_what_each_row_names(tmp_path: Path, test_data: Path, text: str) -> None:
    files = made(text, tmp_path, "netbox", "json")
    tables = {n: list(csv.DictReader(io.StringIO(files[f"netbox/{n}.csv"].decode()))) for n in FIELDS}
    assert all(set(rows[0]) == FIELDS[n] for n, rows in tables.items())
    names = {n: [r.get("name", r.get("model", "")) for r in rows] for n, rows in tables.items()}
    for r in tables["6-devices"]:
        assert r["manufacturer"] in names["1-manufacturers"] and r["device_type"] in names["2-device-types"]
        assert r["role"] in names["3-device-roles"] and r["site"] in names["4-sites"]
    assert all(re.fullmatch(r"[-a-z0-9_]+", r["slug"]) for n in list(FIELDS)[:4] for r in tables[n])
    ports = [(r["device"], r["name"]) for r in tables["7-interfaces"]]
    assert len(set(ports)) == len(ports) and {d for d, _ in ports} <= set(names["6-devices"])
    ends = [(r[f"side_{s}_device"], r[f"side_{s}_name"]) for r in tables["8-cables"] for s in "ab"]
    assert sorted(ends) == sorted(ports), "each interface has one cable"
    assert len(tables["8-cables"]) == len(json.loads(files["fabric.json"])["links"]["rows"])
    schema = json.loads((test_data / "handover" / "netbox" / "generated_schema.json").read_text())
    known = schema["definitions"]["interface"]["properties"]["type"]["enum"]
    assert {r["type"] for r in tables["7-interfaces"]} <= set(known)


PLACED = """\
fabric placed "Two racks" {
  host node[2]: DGX_H100
  switch leaf[8]: QM9700
  connect node[n].nic[r] to leaf[r]
  hall h1 { row A { rack 1..9 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 1m }
  place node[i] in h1.A[1] at 1U + 8U*i
  place leaf[i] in h1.A[2] at 10U + i*1U
}
"""


def test_netbox_has_racks_and_positions(tmp_path: Path) -> None:
    files = made(PLACED, tmp_path, "netbox")
    racks = list(csv.DictReader(io.StringIO(files["netbox/5-racks.csv"].decode())))
    assert [(r["site"], r["name"], r["u_height"]) for r in racks] == [
        ("Two racks", "h1.A01", "48"),
        ("Two racks", "h1.A02", "48"),
    ]
    rows = {r["name"]: r for r in csv.DictReader(io.StringIO(files["netbox/6-devices.csv"].decode()))}
    assert (rows["node1"]["rack"], rows["node1"]["position"], rows["leaf3"]["position"]) == ("h1.A01", "9", "13")
    types = {r["model"]: r["u_height"] for r in csv.DictReader(io.StringIO(files["netbox/2-device-types.csv"].decode()))}
    assert types == {"DGX_H100": "8", "QM9700": "1"}


@pytest.mark.parametrize("text", [DESIGN, PLANES, PLACED], ids=["pods", "planes", "placed"])
def test_a_netbox_imports_every_file(tmp_path: Path, text: str) -> None:
    """A NetBox of the machine: NETBOX_ROOT is the folder of its manage.py, NETBOX_PYTHON its Python."""
    netbox, python = os.environ.get("NETBOX_ROOT"), os.environ.get("NETBOX_PYTHON")
    if not netbox or not python:
        pytest.skip("no NetBox: NETBOX_ROOT and NETBOX_PYTHON name the folder of its manage.py and its Python")
    files = {p: f for p, f in made(text, tmp_path, "netbox").items() if p.startswith("netbox/")}
    (tmp_path / "netbox").mkdir()
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    command = [python, str(Path(__file__).with_name("netbox_import.py")), netbox, str(tmp_path / "netbox")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    told = json.loads(done.stdout.splitlines()[-1]) if done.stdout else done.stderr
    assert told["errors"] == {}, told
    rows = {p: len(list(csv.DictReader(io.StringIO(f.decode())))) for p, f in files.items()}
    assert told["added"]["device"] == rows["netbox/6-devices.csv"] and told["added"]["cable"] == rows["netbox/8-cables.csv"]
    assert told["cabled"] == 2 * told["added"]["cable"] and told["placed"] == (told["added"]["device"] if text == PLACED else 0)


def test_infiniband_and_cages_have_their_types(tmp_path: Path) -> None:
    text = "fabric ib {\n  host node[2]: DGX_H100\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n}\n"
    rows = list(csv.DictReader(io.StringIO(made(text, tmp_path, "netbox")["netbox/7-interfaces.csv"].decode())))
    assert {r["type"] for r in rows} == {"infiniband-ndr"} and {r["speed"] for r in rows} == {"400000000"}
    rows = list(csv.DictReader(io.StringIO(made(OSFP, tmp_path, "netbox")["netbox/7-interfaces.csv"].decode())))
    assert {r["device"][:4]: r["type"] for r in rows} == {"node": "other", "leaf": "800gbase-x-osfp"}


OSFP = """\
model host NODE { port nic: 800Gbps { type GE800; os "eth0" } }
fabric f {
  host node[2]: NODE
  switch leaf: SN5600
  connect node[n].nic to leaf
}
"""
