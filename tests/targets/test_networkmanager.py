"""The target networkmanager: keyfiles against those that netplan makes for NetworkManager, and nmcli."""

from __future__ import annotations

import configparser
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.targets.build import design, made
from tests.targets.inventories import yaml

Keys = dict[str, dict[str, str]]
SIXES = 'address node[*].nic[r] links from "fd00:{r}::/64"\n  '
MANAGED = "address node management from 192.168.0.10/24 { gateway 192.168.0.1 }\n  routing bgp"
LEAF_SPINE = design("leaf_spine").replace("  routing bgp", f"  {SIXES}{MANAGED}")
DEFAULT = LEAF_SPINE.replace("{ gateway", "{ vrf default; gateway")
BONDS = design("port_channels", port="swp{i}", roce="")


def keyfiles(folder: Path) -> dict[str, Keys]:
    """Interface -> sections of its keyfile."""
    out = {}
    for path in (folder).glob("*.nmconnection"):
        parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
        parser.read_string(path.read_text())
        out[parser["connection"]["interface-name"]] = {name: dict(parser[name]) for name in parser.sections()}
    return out


def written(script: bytes, root: Path) -> Path:
    """The folder of keyfiles that the script writes, which has to be the only thing it does."""
    folder = root / "etc" / "NetworkManager" / "system-connections"
    folder.mkdir(parents=True)
    (folder / "fabric-old.nmconnection").write_text("[connection]\n")
    (folder / "mine.nmconnection").write_text("[connection]\nid=mine\ntype=ethernet\ninterface-name=mine\n")
    done = subprocess.run(
        ["sh"], input=script, env={"ROOT": str(root), "PATH": "/usr/bin:/bin"}, capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert not (folder / "fabric-old.nmconnection").exists(), "what an earlier script wrote is taken away"
    (folder / "mine.nmconnection").unlink()
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in folder.iterdir())
    return folder


def by_netplan(content: bytes, root: Path) -> dict[str, Keys]:
    """What netplan gives to NetworkManager for the same host."""
    netplan = shutil.which("netplan", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if netplan is None:
        pytest.skip("there is no program netplan: apt-get install netplan.io")
    etc = root / "etc" / "netplan"
    etc.mkdir(parents=True)
    path = etc / "60-fabric.yaml"
    path.write_bytes(content.replace(b"renderer: networkd", b"renderer: NetworkManager"))
    path.chmod(0o600)
    subprocess.run([netplan, "generate", "--root-dir", str(root)], check=True, capture_output=True, timeout=30)
    return keyfiles(root / "run" / "NetworkManager" / "system-connections")


def facts(keys: Keys) -> set[tuple[str, ...]]:
    """Addresses, routes with their options, MTU, kind, membership, bonds and VRFs; not what only one of the writers says."""
    out = {
        ("type", keys["connection"]["type"]),
        *(("in", keys["connection"][k]) for k in ("master", "slave-type") if k in keys["connection"]),
    }
    mtu = keys.get("ethernet", {}).get("mtu")
    out |= {("mtu", mtu)} if mtu else set()
    for section in ("ipv4", "ipv6"):
        ip = keys.get(section, {})
        out |= {("address", v) for k, v in ip.items() if re.fullmatch(r"address\d+", k)}
        out |= {("route", v, ip.get(f"{k}_options", "")) for k, v in ip.items() if re.fullmatch(r"route\d+", k)}
    out |= {(section, k, v) for section in ("bond", "vrf") for k, v in keys.get(section, {}).items()}
    return out


@pytest.mark.parametrize("text", [LEAF_SPINE, DEFAULT, BONDS, design("every_file_routed")])
def test_hosts_are_told_what_netplan_tells(text: str, tmp_path: Path) -> None:
    files, _ = made(text, tmp_path, "networkmanager", "frr")
    scripts = [p for p in files if p.startswith("networkmanager/")]
    assert len(scripts) >= 2 and not [p for p in scripts if "leaf" in p or "spine" in p]
    for n, path in enumerate(sorted(scripts)[:2]):
        name = path.removeprefix("networkmanager/").removesuffix(".sh")
        plan = files[f"frr/{name}/netplan.yaml"]
        found, other = keyfiles(written(files[path], tmp_path / f"own{n}")), by_netplan(plan, tmp_path / f"netplan{n}")
        assert set(found) == set(other)
        for interface, keys in found.items():
            assert facts(keys) == facts(other[interface]), interface
            assert keys.get("ipv6", {}).get("method") in ("manual", "link-local", "disabled", None), "no router advertisements"
        network = yaml.safe_load(plan)["network"]
        for interface, said in {**network["ethernets"], **network.get("bonds", {})}.items():
            rules = {f"priority {r['priority']} from {r['from']} table {r['table']}" for r in said.get("routing-policy", ())}
            told = {v for s in ("ipv4", "ipv6") for k, v in found[interface].get(s, {}).items() if k.startswith("routing-rule")}
            assert told == rules


def test_nmcli_takes_every_key(tmp_path: Path) -> None:
    """``nmcli --offline`` reads a keyfile from its input and writes what it understood."""
    nmcli = shutil.which("nmcli")
    if nmcli is None:
        pytest.skip("there is no program nmcli: apt-get install network-manager")
    for n, text in enumerate((LEAF_SPINE, BONDS)):
        files, _ = made(text, tmp_path, "networkmanager")
        for path in written(files["networkmanager/node1.sh"], tmp_path / str(n)).iterdir():
            command = [nmcli, "--offline", "connection", "modify", "connection.autoconnect", "yes"]
            done = subprocess.run(command, stdin=path.open(), capture_output=True, text=True, timeout=20, check=False)
            assert (done.returncode, done.stderr) == (0, ""), path.read_text()
            known = [line for line in path.read_text().splitlines() if "=" in line]
            assert known and set(known) <= set(done.stdout.splitlines())
