"""Hosts of the catalogue as NCCL is told of them: whole, and of the structure that their vendors publish."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tdsl.semantics.model import DeviceModel
from tests.harness import compile_text, each, fabric_of
from tests.stdlib.test_catalogue import HARDWARE
from tests.targets import nccl_reader
from tests.targets.nccl_reader import Node
from tests.targets.test_nccl import made

HOSTS = {
    p.stem.upper(): p for p in HARDWARE if p.parent.name != "amd" and re.search(r"^ *numa\b", p.read_text(encoding="utf-8"), re.M)
}
"""Those with GPUs of NVIDIA: tests/targets/test_rccl.py reads what RCCL is told of others."""
SPEEDS = {"8 GT/s": 3, "8.0 GT/s PCIe": 3, "16 GT/s": 4, "16.0 GT/s PCIe": 4, "32 GT/s": 5, "32.0 GT/s PCIe": 5}


@cache
def whole(name: str) -> DeviceModel:
    """A host of the catalogue with the links inside it."""
    with TemporaryDirectory() as folder:
        fabric = compile_text(f"fabric f {{ host n: {name} }}", Path(folder), models=False, verify=False).designs[0].fabric
    assert fabric is not None
    return next(m for m in fabric.models if m.name == name)


def told(name: str) -> Node:
    """The tree of a host's file, which leaves nothing open but NVLinks to switches of the design."""
    model = whole(name)
    text, found = made(model)
    assert not found.items and len(lint_nccl_file(SourceFile(f"{name}.xml", text))) == (not model.links)
    return nccl_reader.read(text)


def test_these_hosts_have_a_layout() -> None:
    wanted = "DGX_A100 DGX_H100 DGX_H200 DGX_B200 GB200_TRAY HGX_H100 ND_V4 ND_V5 ND_H200_V5 P4D P5"
    assert set(wanted.split()) <= HOSTS.keys()


def gpus_and_adapters_have_their_places(name: str) -> None:
    model, system = whole(name), told(name)
    gpus, nets = system.all("gpu"), system.all("net")
    assert len(gpus) == model.accelerators
    nic = model.port_class("nic")
    names = (
        [s + "_dma" * any(p.attributes["class"] == "0x080100" for p in system.all("pci")) for s in nic.systems if s]
        if nic
        else []
    )
    assert nic is not None and sorted(n.attributes["name"] for n in nets) == sorted(names)
    links = {sum(int(n.attributes["count"]) for n in g.children if n.name == "nvlink") for g in gpus}
    chip = next(c.model for c in model.chips if c.kind == "chip")
    assert links == {sum(c.size for c in chip.classes) if model.links else 0}


def test_every_gpu_and_adapter_has_its_place() -> None:
    each(HOSTS, gpus_and_adapters_have_their_places)


SHARED = {
    (2, 2, 200): {"DGX_A100": [1, 3, 5, 7], "ND_V4": [0, 1, 2, 3]},
    (1, 1, 400): {name: [0, 1] for name in ("DGX_H100", "DGX_H200", "DGX_B200", "HGX_H100", "ND_V5", "ND_H200_V5")},
    (2, 1, 100): {"P4D": [0, 1]},
    (1, 4, 100): {"P5": [0, 1]},
}
"""GPUs and adapters of a PCIe switch, and Gbit/s of these: hosts with their NUMA nodes."""


def test_what_shares_a_pcie_switch() -> None:
    for (gpus, adapters, gbps), hosts in SHARED.items():
        for name, numa in hosts.items():
            system = told(name)
            assert [int(c.attributes["numaid"]) for c in system.children] == numa
            switches = [s for c in system.children for s in c.children]
            for s in switches:
                assert (len(s.all("gpu")), len(s.all("net"))) == (gpus, adapters), name
                assert {n.attributes["speed"] for n in s.all("net")} == {str(gbps * 1000)}
            assert len(switches) == 8 // gpus


def test_a_gb200_tray_hangs_from_its_processors() -> None:
    """No PCIe switch: path P2C, by the processor. 5 × 44,712 MB/s of C2C a GPU; its NVLinks lead to switches of a design."""
    system = told("GB200_TRAY")
    for cpu in system.children:
        assert cpu.attributes["arch"] == "arm64" and [bool(p.all("gpu")) for p in cpu.children] == [True, True, False, False]
    for gpu in system.all("gpu"):
        assert {(n.attributes["count"], n.attributes.get("bw")) for n in gpu.children} == {("5", "44712")}


def test_gpus_of_a_dgx_a100_have_the_processors_of_the_published_dump() -> None:
    """https://github.com/NVIDIA/nccl/issues/1505: NUMA node 7 has these processors and the switch 0000:81:00.0."""
    node = next(c for c in told("DGX_A100").children if c.attributes["numaid"] == "7")
    assert node.attributes["affinity"] == "ffff0000,00000000,00000000,00000000,ffff0000,00000000,00000000,00000000"
    assert (node.attributes["familyid"], node.attributes["modelid"]) == ("143", "49")
    assert node.children[0].attributes["busid"] == "0000:81:00.0"


# ---------------------------------------------------------------- the vendors' own files


def place(pci: Node) -> tuple[object, ...]:
    """What NCCL makes of a function's place: bus, kind, bandwidth of its link."""
    a = pci.attributes
    return a["busid"], a["class"], SPEEDS[a["link_speed"]], int(a["link_width"])


def structure(system: Node) -> dict[tuple[object, ...], list[tuple[object, object]]]:
    """Each NUMA node with its processors, and below it each switch's link with the functions behind it."""
    out = {}
    for cpu in system.children:
        a = cpu.attributes
        key = (a["numaid"], int(a["affinity"].replace(",", ""), 16), a["arch"], a["vendor"], a["familyid"], a["modelid"])
        out[key] = [(place(s)[1:], sorted(place(p) for p in s.children if p.name == "pci")) for s in cpu.children]
    return out


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("ND_V4", "azure-ndv4-topo.xml"),
        ("ND_V5", "azure-ndv5-topo.xml"),
        ("ND_H200_V5", "azure-ndv5-topo.xml"),
        ("P4D", "aws-p4d-24xl-topo.xml"),
    ],
)
def test_the_structure_is_the_vendors(name: str, file: str, test_data: Path) -> None:
    theirs = nccl_reader.read((test_data / "nccl" / file).read_text())
    ours = told(name)
    assert structure(ours) == structure(theirs)
    ids = ("vendor", "device", "subsystem_vendor", "subsystem_device")
    said = {
        p.attributes["busid"]: [p.attributes[i] for i in ids] for p in theirs.all("pci") if all(i in p.attributes for i in ids)
    }
    for pci in ours.all("pci"):  # what theirs says of identity, ours says too
        assert said.get(pci.attributes["busid"], [pci.attributes[i] for i in ids]) == [pci.attributes[i] for i in ids]


OF_MACHINE = ("guid", "host_hash", "latency", "maxconn", "dev", "rank", "gin", "net")
"""Attributes that each machine has its own of, or that only count."""


def facts_of(node: Node) -> tuple[object, ...]:
    """An element with what is in it, in any order; the NVSwitch that NCCL does not see is one, however it is printed."""
    facts = {k: v for k, v in node.attributes.items() if k not in OF_MACHINE}
    if "affinity" in facts:
        facts["affinity"] = str(int(facts["affinity"].replace(",", ""), 16))
    if facts.get("tclass") == "0x068000":
        facts["target"] = "unseen"
    return node.name, tuple(sorted(facts.items())), tuple(sorted(map(facts_of, node.children)))


def written_for(host: str, switch: str, domain: str, folder: Path) -> Node:
    """The complete file of a host whose NVLinks lead to switches of the design."""
    text = f"""fabric f {{
  transport {"infiniband" if host == "GB300_TRAY" else "ethernet"}
  host node[2]: {host}
  switch leaf: {switch}
  connect node[n].nic[r] to leaf
{domain}
}}
model switch SW800 "s" {{ port p[1..64]: 800Gbps {{ type GE800, XDR }} }}"""
    fabric = fabric_of(text, folder, models=False)
    made = build_files(fabric, ["nccl"], Diagnostics(), BuildOptions(settings={"nccl": {"complete": True}}))
    return nccl_reader.read(made[f"nccl/{host}.xml"].decode())


RACK = """  switch nvs[9, 2]: NVLINK5_SWITCH
  connect node[t].gpu[g].nvlink[2*s + c] to nvs[s, c].p[4*t + g] { layer scaleup; medium backplane }"""


@pytest.mark.parametrize(
    ("name", "file", "domain"), [("BM_GPU_B300", "oci-b300.xml", ""), ("BM_GPU_GB300", "oci-gb300-1tray.xml", RACK)]
)
def test_oracles_hosts_are_oracles_files(name: str, file: str, domain: str, test_data: Path, tmp_path: Path) -> None:
    """Attribute by attribute, the names of adapters included."""
    text = (test_data / "nccl" / file).read_text()
    assert facts_of(written_for(name, "SW800", domain, tmp_path)) == facts_of(nccl_reader.read(text))


def test_an_adapter_without_a_name_is_left_to_nccl(tmp_path: Path) -> None:
    """Its function says where it is, and NCCL finds the device by the bus."""
    for host, devices in (("BM_GPU_H100", "0x1021"), ("GB300_TRAY", "0x2100")):
        made = written_for(host, "SW64x400" if host == "BM_GPU_H100" else "SW800", RACK if host == "GB300_TRAY" else "", tmp_path)
        assert not made.all("net") and not made.all("nic")
        adapters = [p for p in made.all("pci") if p.attributes["device"] == devices]
        assert len(adapters) == len(made.all("gpu")) and all(not p.children for p in adapters)


def test_a_gpu_moved_to_another_node_is_another_structure(test_data: Path) -> None:
    theirs = (test_data / "nccl" / "azure-ndv4-topo.xml").read_text()
    moved = theirs.replace("0003:00:00.0", "other").replace("0001:00:00.0", "0003:00:00.0").replace("other", "0001:00:00.0")
    assert moved != theirs and structure(told("ND_V4")) != structure(nccl_reader.read(moved))
