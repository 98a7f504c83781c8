"""One network operating system a switch: who writes its configuration, and what its ports are called everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import compile_text, fabric_of
from tests.targets import build
from tests.targets.build import Made, csv_rows, design


def text(port: str = "swp", adapter: str = 'os "eth{i}"', model: str = "", leaf: str = "", fabric: str = "") -> str:
    """A leaf-spine whose settings ``nos`` are given for the model, the leaves or the fabric."""
    return design("nos", port=port, adapter=adapter, model=model, leaf=leaf, fabric=fabric)


def made(tmp_path: Path, *targets: str, **given: str) -> Made:
    """The files of these targets, all that are asked for by themselves if none is named, and what was found."""
    if targets:
        return build.made(text(**given), tmp_path, *targets)
    found = Diagnostics()
    return build_files(fabric_of(text(**given), tmp_path, models=False), (), found), list(found)


def owners(files: dict[str, bytes]) -> dict[str, list[str]]:
    """Target -> the switches that it configures."""
    out: dict[str, list[str]] = {}
    for path in files:
        target, _, rest = path.partition("/")
        if target in ("eos", "frr", "nvue", "sonic"):
            out.setdefault(target, []).append(rest.split("/")[0].split(".")[0])
    return {t: sorted(set(names)) for t, names in out.items()}


def rows(files: dict[str, bytes]) -> list[dict[str, str]]:
    return csv_rows(files, "cabling/links.csv")


ALL = ["leaf0", "leaf1", "spine"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"fabric": "nos nvue"}, {"nvue": ALL}),
        ({"model": "nos frr"}, {"frr": ALL}),
        ({"leaf": "nos sonic", "fabric": "nos frr"}, {"frr": ["spine"], "sonic": ["leaf0", "leaf1"]}),
        ({"leaf": "nos sonic", "model": "nos nvue", "fabric": "nos eos"}, {"nvue": ["spine"], "sonic": ["leaf0", "leaf1"]}),
        ({"fabric": 'nos "junos"'}, {}),
        ({}, {}),
    ],
)
def test_only_its_target_writes_a_switch(tmp_path: Path, given: dict[str, str], expected: dict[str, list[str]]) -> None:
    """The declaration goes before the model, and the model before the fabric."""
    files, _ = made(tmp_path, **given)
    assert owners(files) == expected


def test_without_nos_a_target_is_asked_for_by_name(tmp_path: Path) -> None:
    files, found = made(tmp_path)
    assert not owners(files)
    (note,) = [d for d in found if "`nos`" in d.message]
    assert note.severity.word == "note" and "`frr`" in note.message and "--target" in note.help
    files, found = made(tmp_path, "nvue")
    assert owners(files) == {"nvue": ALL} and not found


def test_switches_that_name_a_system_and_get_no_file_are_a_warning(tmp_path: Path) -> None:
    """EOS calls no management interface eth0. Where ports have names of another system there is no name either."""
    management = "address leaf, spine management from 192.168.0.0/24 { interface eth0 }"
    files, found = made(tmp_path, port="Ethernet", fabric=f"nos eos\n  {management}")
    (warning,) = [d for d in found if d.severity.word == "warning"]
    assert warning.code == "E0511" and "not for 3 of 3 switches" in warning.message and not owners(files)
    files, found = made(tmp_path, fabric="nos eos")
    assert not owners(files) and {d.code for d in found} >= {"E0513"} and {x["b_interface"] for x in rows(files)} == {""}


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"fabric": "nos sonci"}, "E0101", "sonci"),
        ({"fabric": "nos sonic, eos"}, "E0120", "one operating system"),
        ({"fabric": "nos sonic; nos eos"}, "E0104", "twice"),
        ({"leaf": "nos sonic; nos eos"}, "E0104", "twice"),
        ({"leaf": "nos 3"}, "E0120", "takes the name"),
        ({"model": "nos sonic; nos eos"}, "E0104", "twice"),
        ({"fabric": 'nos "two words"'}, "E0120", "not a name"),
        ({"adapter": 'os "eth{i}" }; nos sonic; port x: 1Gbps { type T'}, "E0118", "no network operating system"),
    ],
)
def test_refused(tmp_path: Path, given: dict[str, str], code: str, words: str) -> None:
    findings = compile_text(text(**given), tmp_path, verify=False, models=False).findings
    assert [(d.code, words in d.message) for d in findings] == [(code, True)]


def test_names_follow_the_system(tmp_path: Path) -> None:
    """SONiC names a port after its lane and announces its alias; neighbours expect just that."""
    files, _ = made(tmp_path, leaf="nos sonic", fabric="nos nvue")
    up = next(x for x in rows(files) if x["class"] == "leaf-spine")
    named = ("a_interface", "b_neighbour_port", "b_interface", "a_neighbour_port")
    assert [up[k] for k in named] == ["Ethernet16", "3", "swp1", "swp1"]
    config = json.loads(files["sonic/leaf0/config_db.json"])
    assert config["PORT"]["Ethernet16"]["alias"] == "3" and config["PORT"]["Ethernet16"]["description"] == "spine swp1"
    assert "default|Ethernet16" in config["BGP_NEIGHBOR"]
    assert b'"leaf0":"3" -- "spine":"swp1";' in files["p2p/topology.dot"]


def test_an_rdma_device_is_no_interface_of_ethernet(tmp_path: Path) -> None:
    files, _ = made(tmp_path, fabric="nos nvue", adapter='os "rdmap{79 + i}s0"')
    assert {x["a_interface"] for x in rows(files) if x["class"] == "host-leaf"} == {""}
    assert b'"node0":"nic0" -- "leaf0":"swp1";' in files["p2p/topology.dot"]


LINKS = 'address node[*].nic[r] links from "172.{16 + r}.0.0/24"'
SIXES = 'address node[*].nic[r] links from "fd00:{16 + r}::/64"'


@pytest.mark.parametrize(
    ("address", "routing", "models"),
    [
        ("", "", []),
        ("address leaf loopback from 10.0.0.0/24", "", []),
        ("", "asn node from 65100", ["NODE"]),
        (LINKS, "", ["NODE", "STORE"]),
        (SIXES, "asn node from 65100", ["NODE", "STORE"]),
    ],
)
def test_hosts_without_interface_names_are_not_configured(address: str, routing: str, models: list[str], tmp_path: Path) -> None:
    unnamed = design("unnamed_hosts", address=address, routing=routing)
    files, found = build.made(unnamed, tmp_path, "frr")
    assert [(d.code, d.severity.word) for d in found] == [("E0513", "warning")] * len(models)
    assert all(f"of {m} calls port nic[0]" in d.message for m, d in zip(models, found, strict=True))
    assert sorted(p for p in files if p.endswith("frr.conf")) == ["frr/leaf0/frr.conf", "frr/leaf1/frr.conf"]
