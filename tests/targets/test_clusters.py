"""Clusters as they are built: what is bought, named and run once, against the files of each network and FRR's daemons."""

from __future__ import annotations

import json
from collections import Counter
from os.path import normpath
from pathlib import Path
from typing import Any

import pytest
import yaml

from tdsl.api import check
from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.cli.run import tdsl
from tests.harness import sampled
from tests.soundness.families.shared_clusters import cluster_design
from tests.targets import frr_lab
from tests.targets.build import csv_rows, design

WHOLE = "all-networks"
Files = dict[str, bytes]


def built(text: str, place: Path, *more: str) -> Files:
    """The files that `tdsl build` writes, by path."""
    place.mkdir(exist_ok=True)
    (place / "cluster.fab").write_text(text)
    done = tdsl("build", place / "cluster.fab", "--out", place / "out", *more)
    assert done.exit_code == 0 or "--force" in more, done.output
    return {p.relative_to(place / "out").as_posix(): p.read_bytes() for p in (place / "out").rglob("*") if p.is_file()}


def as_one_lab(files: Files) -> Files:
    """Configurations of all networks with the links of the whole, as the laboratory takes them."""
    confs = {p.partition("/")[2]: b for p, b in files.items() if "/frr/" in p}
    return confs | {"fabric.json": files[f"{WHOLE}/fabric.json"]}


def mounted(files: Files) -> set[str]:
    """The files that nodes of laboratories mount, by the path of each from the folder of the build."""
    labs = {p: yaml.safe_load(b)["topology"]["nodes"].values() for p, b in files.items() if p.endswith(".clab.yml")}
    sources = {(Path(p).parent, bind.split(":")[0]) for p, nodes in labs.items() for n in nodes for bind in n.get("binds", ())}
    return {normpath(folder / source) for folder, source in sources}


def test_two_networks_on_one_host(tmp_path: Path) -> None:
    """In namespaces, hosts with their netplan file alone: each network is reached by its own adapter, filers in a network of
    their own too, both ways; what leaves from an adapter's address leaves by it."""
    frr_lab.need()
    files = built(design("two_networks", compute="", storage=""), tmp_path)
    assert mounted(files) <= set(files) and mounted(files)
    lab_files = as_one_lab(files)
    hosts = [f"node{n}" for n in range(4)] + ["storage-filer0", "storage-filer1"]
    seen = yaml.safe_load(lab_files["frr/node0/netplan.yaml"])["network"]["ethernets"]
    assert sorted(seen) == ["eth1", "eth2", "eth3"]
    tables = [r["table"] for i in seen.values() for r in i["routing-policy"]]
    assert len(set(tables)) == len(tables) == 3
    assert [r["to"] for r in seen["eth3"]["routes"] if "metric" in r] == ["172.30.0.0/24", "172.31.0.0/24"]
    with frr_lab.running(lab_files, planned=hosts) as lab:
        ways = {"172.16.0.6": "eth1", "172.17.0.6": "eth2", "172.30.0.6": "eth3", "172.31.0.2": "eth3"}
        for far, adapter in ways.items():
            frr_lab.until(lambda f=far: lab.reaches("node0", f), True)
            assert f"dev {adapter} " in lab.shell("node0", "ip", "route", "get", far).stdout, far
        for near in ("172.30.0.0", "172.30.0.6"):
            frr_lab.until(lambda n=near: lab.reaches("storage-filer1", n), True)
        assert not lab.reaches("storage-filer0", "172.16.0.0"), "a host is no way from one network to another"


def test_a_host_that_speaks_bgp_in_two_networks(tmp_path: Path) -> None:
    """One AS number, one configuration: sessions in both networks come up, and neither hears of the other's addresses."""
    frr_lab.need()
    asns = "; asn node from 65_000"
    files = built(design("two_networks", compute=asns, storage=f"{asns}; asn filer from 65_100; bfd"), tmp_path)
    lab_files = as_one_lab(files)
    with frr_lab.running(lab_files) as lab:

        def sessions() -> list[str]:
            found = lab.ask("node0", "show bgp summary").get("ipv4Unicast", {}).get("peers", {})
            return sorted(p["state"] for p in found.values())

        frr_lab.until(sessions, ["Established"] * 3)
        for far in ("172.16.0.6", "172.30.0.6", "172.31.0.2"):
            frr_lab.until(lambda f=far: lab.reaches("node0", f), True)
        frr_lab.until(lambda: any(p.startswith("172.31.") for p in lab.hops("storage-spine")), True)
        for switch, foreign in (
            ("compute-spine", ("172.30.", "172.31.", "10.254.")),
            ("storage-spine", ("172.16.", "172.17.", "10.255.")),
        ):
            assert not [p for p in lab.hops(switch) if p.startswith(foreign)], switch


def counted(files: Files, path: str, *names: str) -> Counter[tuple[str, ...]]:
    """Rows of a table by some of their columns."""
    return Counter(tuple(r[n] for n in names) for r in csv_rows(files, path))


def rows_of(content: bytes, table: str) -> list[dict[str, Any]]:
    """A table of a fabric.json."""
    data = json.loads(content)[table]
    return [dict(zip(data["columns"], r, strict=True)) for r in data["rows"]]


@pytest.mark.parametrize("seed", sampled(range(5), 2))
def test_nothing_is_listed_twice_and_nothing_is_left_out(seed: int, tmp_path: Path) -> None:
    """Random clusters: what is written once of all networks against the same of each network, built by itself."""
    text = cluster_design(seed).text()
    whole = built(text, tmp_path, "--force", "--option", "netbox.ports=devices")
    own_ports = BuildOptions(settings={"netbox": {"ports": "devices"}})  # a row for each interface
    alone: dict[str, Files] = {}
    for design_ in check(tmp_path / "cluster.fab").designs:
        assert design_.fabric is not None
        alone[design_.name] = build_files(design_.fabric, [], Diagnostics(), own_ports)
    files = {p.partition("/")[2]: b for p, b in whole.items() if p.startswith(f"{WHOLE}/")}
    for path, key in (
        ("cabling/cables.csv", ("cable_id", "a_device", "a_port", "b_device", "b_port", "class")),
        ("cabling/labels.csv", ("cable_id", "device", "port", "line2", "line3")),
        ("cabling/links.csv", ("cable_id", "a_interface", "b_interface", "a_address", "b_address", "mtu")),
        ("netbox/8-cables.csv", ("side_a_device", "side_a_name", "side_b_device", "side_b_name")),
        ("netbox/7-interfaces.csv", ("device", "name", "type", "speed")),
    ):
        each = [counted(own, path, *key) for own in alone.values()]
        assert counted(files, path, *key) == sum(each, Counter()), path
    devices: Counter[str] = Counter(r["name"] for r in csv_rows(files, "netbox/6-devices.csv"))
    assert set(devices.values()) == {1}
    assert set(devices) == {r["name"] for own in alone.values() for r in csv_rows(own, "netbox/6-devices.csv")}
    seen = rows_of(files["fabric.json"], "devices")
    assert Counter(d["name"] for d in seen if d["kind"] in ("host", "switch")) == devices
    links = rows_of(files["fabric.json"], "links")
    assert Counter(x["fabric"] for x in links) == {n: len(rows_of(own["fabric.json"], "links")) for n, own in alone.items()}
    if "bom/bom.csv" in files:
        bought = Counter(
            {
                (r["kind"], r["model"]): int(r["quantity"])
                for r in csv_rows(files, "bom/bom.csv")
                if r["kind"] in ("host", "switch")
            }
        )
        assert bought == Counter((d["kind"], d["model"]) for d in seen if d["kind"] in ("host", "switch"))
        cables = sum(int(r["quantity"]) for r in csv_rows(files, "bom/bom.csv") if r["kind"] == "cable")
        assert cables == len({r["cable_id"] for r in csv_rows(files, "cabling/cables.csv")})
    once = ("bom/", "cabling/", "netbox/", "ansible/", "dns/", "racks/", "prometheus/")
    assert not [p for p in whole if not p.startswith(WHOLE) and p.partition("/")[2].startswith(once)]


def test_schedulers_are_told_of_the_accelerators_network_alone(tmp_path: Path) -> None:
    """Their files are those of that network built by itself, byte for byte; `purpose` says which it is where the ports do not."""
    text = Path("stdlib/designs/superpod_cluster.fab").read_text()
    files = built(text, tmp_path, "--target", "slurm", "--target", "kubernetes")
    single = next(d for d in check(tmp_path / "cluster.fab").designs if d.name == "compute").fabric
    assert single is not None
    own = build_files(single, ["slurm", "kubernetes"], Diagnostics())
    mine = {p.partition("/")[2]: b for p, b in files.items() if p.partition("/")[2].startswith(("slurm/", "kubernetes/"))}
    assert mine == {p: b for p, b in own.items() if p != "manifest.json"} and len(mine) == 4
    two = built(design("two_networks", compute="", storage=""), tmp_path / "two")
    assert {p.split("/")[0] for p in two if "/slurm/" in p} == {"compute"}, "a host sends twice as much there"
    moved = text.replace("fabric storage {", "fabric storage {\n    purpose compute")
    assert {p.split("/")[0] for p in built(moved, tmp_path, "--target", "slurm") if "/slurm/" in p} == {"storage"}


def test_the_controller_of_a_host_is_no_interface_of_its_system(tmp_path: Path) -> None:
    """An address on `bmc` is in no netplan file, another one is, though a network without routing gives it."""
    text = design("two_networks", compute="", storage="").rstrip().removesuffix("}")
    text = text.replace("port disk:", "port eno: 400Gbps { type GE400 }; port disk:")
    for interface in ("eno", "bmc"):
        address = f"address node management from 10.9.0.1/24 {{ interface {interface}; vrf default; gateway 10.9.0.1 }}"
        whole = f"{text}  fabric inband {{\n switch tor: SW\n connect node[n].eno to tor\n {address}\n }}\n}}\n"
        files = built(whole, tmp_path / interface, "--target", "frr")
        seen = yaml.safe_load(files[f"{WHOLE}/frr/node0/netplan.yaml"])["network"]["ethernets"]
        assert ("eno" in seen, "bmc" in seen) == (interface == "eno", False)
