"""The target dhcp: Kea accepts the reservations."""

from __future__ import annotations

import json
from pathlib import Path

from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.site import Dns, Site
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.conftest import need_program
from tests.harness import fabric_of
from tests.targets import build
from tests.targets.inventories import DESIGN, made, run, yaml


def test_kea_accepts_the_reservations(tmp_path: Path) -> None:
    kea = need_program("kea-dhcp4", "kea-dhcp4-server")
    told = made(DESIGN, tmp_path, "dhcp", boot_url="http://192.168.0.2/ztp.json")["dhcp/kea-dhcp4.json"]
    path = tmp_path / "kea.json"
    path.write_bytes(told)
    done = run(kea, "-t", path)
    assert done.returncode == 0 and "ERROR" not in done.stdout + done.stderr, done
    (subnet,) = json.loads(told)["Dhcp4"]["subnet4"]
    reserved = [(r["hw-address"], r["hostname"]) for r in subnet["reservations"]]
    assert reserved == [("94:6d:ae:00:00:02", "su1-node3"), ("94:6d:ae:00:00:01", "su0-leaf0")]
    each = made(DESIGN, tmp_path, "dhcp", boot_url="http://ztp/eos/{device}.cfg")["dhcp/kea-dhcp4.json"]
    assert b'"boot-file-name": "http://ztp/eos/su0-leaf0.cfg"' in each
    path.write_bytes(told.replace(b'"subnet":', b'"subnets":'))
    assert run(kea, "-t", path).returncode != 0, "the judge can say no"


def test_a_table_of_mac_addresses_needs_no_guids(tmp_path: Path) -> None:
    """A fabric of Ethernet has none; without either kind of identifier the columns are named."""
    files, found = build.made(DESIGN, tmp_path, "dhcp", assets="device,mac\nsu0-leaf0,94:6D:AE:00:00:01\n")
    assert not found and b'"hw-address": "94:6d:ae:00:00:01"' in files["dhcp/kea-dhcp4.json"]
    _, found = build.made(DESIGN, tmp_path, "dhcp", assets="device,serial\nsu0-leaf0,x\n")
    assert found[0].code == "E0531" and "or at least device,mac" in found[0].help


BMCS = DESIGN.replace("  routing bgp", "  address su[*].node[*] bmc from 10.9.0.1/24 { gateway 10.9.0.1 }\n  routing bgp")


def test_bmcs_have_reservations_and_names_of_their_own(tmp_path: Path) -> None:
    """In dhcp, dns and ansible, by the MAC address of the controller."""
    kea = need_program("kea-dhcp4", "kea-dhcp4-server")
    assets = "device,mac,bmc_mac\nsu0-node1,94:6D:AE:00:00:01,94:6D:AE:00:00:02\n"
    files, found = build.made(BMCS, tmp_path, "dhcp", "dns", "ansible", assets=assets)
    assert not found
    path = tmp_path / "kea.json"
    path.write_bytes(files["dhcp/kea-dhcp4.json"])
    assert run(kea, "-t", path).returncode == 0
    subnets = json.loads(files["dhcp/kea-dhcp4.json"])["Dhcp4"]["subnet4"]
    (bmc,) = next(s for s in subnets if s["subnet"] == "10.9.0.0/24")["reservations"]
    assert bmc == {"hw-address": "94:6d:ae:00:00:02", "ip-address": "10.9.0.3", "hostname": "su0-node1-bmc"}
    assert b"\nsu0-node1-bmc IN A 10.9.0.3\n" in files["dns/zone.db"]
    host = yaml.safe_load(files["ansible/inventory.yaml"])["all"]["hosts"]["su0-node1"]
    assert (host["tdsl_bmc"], host["tdsl_bmc_mac"]) == ("10.9.0.3", "94:6d:ae:00:00:02")


def test_each_switch_gets_what_its_system_asks_for(tmp_path: Path) -> None:
    """Files of the same build: SONiC and EOS by option 67, Cumulus Linux by option 239; servers of the site for all."""
    kea = need_program("kea-dhcp4", "kea-dhcp4-server")
    fabric = fabric_of(build.design("site"), tmp_path, models=False)
    names = ("arista", "cumulus", "white", "node[0]")
    table = "device,mac\n" + "".join(f"{d},94:6d:ae:00:00:0{n}\n" for n, d in enumerate(names))
    site = Site(dns=Dns(("192.0.2.12", "2001:db8::53"), "gpu.example.com"), ntp=("192.0.2.1", "ntp.example.com"))
    options = BuildOptions(
        assets=SourceFile("a.csv", table),
        site=site,
        settings={t: {k: "http://10.0.0.1/out/"} for t, k in (("dhcp", "ztp_url"), ("ztp", "url"))},
    )
    files = build_files(fabric, ["dhcp", "ztp", "eos"], Diagnostics(), options)
    path = tmp_path / "kea.json"
    path.write_bytes(bytes(files["dhcp/kea-dhcp4.json"]))
    done = run(kea, "-t", path)
    assert done.returncode == 0 and "ERROR" not in done.stdout + done.stderr, done
    told = json.loads(path.read_text())["Dhcp4"]
    assert told["option-def"][0]["code"] == 239
    found = {r["hostname"]: r for s in told["subnet4"] for r in s["reservations"]}
    urls = {n: r.get("boot-file-name") or r["option-data"][0]["data"] for n, r in found.items() if n != "node0"}
    assert b"out//" not in files["ztp/sonic.json"] + files["ztp/cumulus-ztp"]
    assert {u.removeprefix("http://10.0.0.1/out/") for u in urls.values()} <= set(files) and len(set(urls.values())) == 3
    assert found["cumulus"]["option-data"][0]["name"] == "cumulus-provision-url" and set(found["node0"]) == {
        "hw-address",
        "ip-address",
        "hostname",
    }
    assert {d["name"]: d["data"] for d in told["option-data"]} == {
        "domain-name-servers": "192.0.2.12", "ntp-servers": "192.0.2.1", "domain-name": "gpu.example.com",
    }  # fmt: skip
    assert list(told["user-context"].values()) == [["domain-name-servers 2001:db8::53", "ntp-servers ntp.example.com"]]
