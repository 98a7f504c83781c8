"""NCCL's topology files: read as NCCL reads, whole for every host, refused where a model leaves something out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.data.hosts import host_layouts
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tdsl.semantics.model import Axis, Chip, DeviceModel
from tests.fabrics import Builder
from tests.harness import compile_text
from tests.targets import nccl_reader
from tests.targets.build import GPU_BUSES, HERE, NIC_BUSES, SYSTEMS, dgx_h100, gbps, numa, pcie, pod, ports
from tests.targets.nccl_reader import Node


def fabric_of(model: DeviceModel) -> Any:
    """One host, alone."""
    b = Builder("alone")
    b.models.append(model)
    b.devices("node", model, 1)
    return b.build()


def made(model: DeviceModel, complete: bool = True) -> tuple[str, Diagnostics]:
    """The file of a host model, "" if there is none, and what was found."""
    found = Diagnostics()
    files = build_files(fabric_of(model), ["nccl"], found, BuildOptions(settings={"nccl": {"complete": complete}}))
    files.pop("manifest.json")
    return "".join(f.decode() for f in files.values()), found


def read(model: DeviceModel, notes: int = 0) -> Node:
    """The file as NCCL has it, which must be without fault."""
    text, found = made(model)
    assert not found.items and [d.severity for d in lint_nccl_file(SourceFile("made.xml", text))] == [Severity.NOTE] * notes
    return nccl_reader.read(text)


def test_a_dgx_h100_is_told_as_it_is() -> None:
    system = read(dgx_h100())
    assert system.name == "system" and system.attributes == {"version": "1"}
    cpus = system.children
    assert [c.attributes["numaid"] for c in cpus] == ["0", "1"]
    assert cpus[0].attributes == {
        "numaid": "0", "affinity": "000000ff,ffffffff,ffff0000,00000000,00ffffff,ffffffff", "arch": "x86_64",
        "vendor": "GenuineIntel", "familyid": "6", "modelid": "143",
    }  # fmt: skip
    masks = [int(c.attributes["affinity"].replace(",", ""), 16) for c in cpus]
    assert masks[0] & masks[1] == 0 and masks[0] | masks[1] == (1 << 224) - 1
    assert [len(c.children) for c in cpus] == [4, 4]
    for i, switch in enumerate(s for c in cpus for s in c.children):
        gpu, nic = switch.children
        assert (switch.attributes["class"], gpu.attributes["class"], nic.attributes["class"]) == (
            "0x060400",
            "0x030200",
            "0x020700",
        )
        assert gpu.attributes["busid"] == f"0000:{GPU_BUSES[i]}:00.0" and nic.attributes["busid"] == f"0000:{NIC_BUSES[i]}:00.0"
        assert (nic.attributes["vendor"], nic.attributes["device"]) == ("0x15b3", "0x1021")
        assert gpu.children[0].attributes == {"dev": str(i), "sm": "90", "rank": str(i), "gdr": "1"}
        links = gpu.children[0].children
        assert sum(int(n.attributes["count"]) for n in links) == 18 and {n.attributes["tclass"] for n in links} == {"0x068000"}
        net = nic.children[0].children[0].attributes
        assert (net["name"], net["speed"], net["port"], net["gdr"]) == (
            f"mlx5_{SYSTEMS[i]}",
            "400000",
            "1",
            "1",
        )


def test_the_whole_superpod_has_two_files_a_host_model() -> None:
    files = build_files(pod(), ["nccl"], Diagnostics())
    assert sorted(files) == ["manifest.json", "nccl/DGX_H100.conf", "nccl/DGX_H100.xml"]


def test_a_tray_whose_switches_are_elsewhere() -> None:
    """Arm processors, GPUs joined to them by C2C, NVLinks that leave the tray, adapters straight on the processor."""
    nvlink = ports("nvlink", 18, rate=4 * 10**11, types=("NVLINK5",))
    b200 = DeviceModel("B200", "chip", "", (nvlink,), (), (), (), {"sm": 100}, HERE)
    nic = ports("nic", 4, systems=tuple(f"mlx5_{i}" for i in range(4)))
    cpus = [replace(numa(i, arch="arm64", cores=72), facts={"arch": "arm64", "cores": 72}) for i in range(2)]
    c2c = {"c2c": 5, "c2c_rate": gbps(1) and replace(gbps(1), amount=gbps(1).amount * 8 * 44712 / 1000)}
    gpus = [pcie("gpu", i, ("cpu", i // 2), bus=f"{8 * (i + 1):04x}:01:00.0", device="10de:2941", **c2c) for i in range(4)]
    nics = [pcie("nic", i, ("cpu", i // 2), bus=f"{i:04x}:03:00.0", device="15b3:1021") for i in range(4)]
    tray = DeviceModel(
        "TRAY",
        "host",
        "",
        (nic,),
        (Chip("gpu", "chip", (Axis(0, 4),), b200, HERE),),
        (),
        (*cpus, *gpus, *nics),
        {},
        HERE,
    )
    system = read(tray, notes=1)
    assert system.children[1].attributes == {
        "numaid": "1",
        "affinity": "0000ffff,ffffffff,ffffff00,00000000,00000000",
        "arch": "arm64",
    }
    for gpu in system.all("gpu"):
        (c2c_node,) = gpu.children
        assert c2c_node.attributes == {"count": "5", "bw": "44712"}


def test_nvlinks_of_a_tray_are_those_of_a_design_with_their_switches(tmp_path: Path) -> None:
    """Without NVLink switches in the design NCCL asks the machine; with them there is also a .conf for the domain."""
    rack = """
    fabric rack {
      host tray[2]: GB200_TRAY
      switch leaf[4]: QM9700
      connect tray[t].nic[r] to leaf[r]
    }
    """
    switch = """
      switch nvswitch[9, 2]: NVLINK5_SWITCH
      connect tray[t].gpu[g].nvlink[2*s + c] to nvswitch[s, c].p[4*t + g] { layer scaleup; medium backplane }
    }
    """
    alone = "fabric nvl { layer scaleup; host tray[2]: GB200_TRAY" + switch.replace("layer scaleup; ", "")
    for text, links in ((rack, 0), (rack.rstrip().rstrip("}") + switch, 4), (alone, 4)):
        fabric = compile_text(text, tmp_path, models=False).designs[0].fabric
        assert fabric is not None
        files = build_files(fabric, ["nccl"], Diagnostics())
        system = nccl_reader.read(files["nccl/GB200_TRAY.xml"].decode())
        nvlinks = system.all("nvlink")
        assert [n.attributes["count"] for n in nvlinks] == ["18"] * links
        conf = files["nccl/GB200_TRAY.conf"]
        assert (b"NCCL_MNNVL_ENABLE=2" in conf) is bool(links) and (b"NCCL_IB_HCA=" in conf) is (text != alone)


def test_ethernet_adapters_have_their_class_and_split_ones_one_device_a_name() -> None:
    base = dgx_h100(types=("GE400",))
    assert {p.attributes["class"] for p in read(base).all("pci")} == {"0x060400", "0x030200", "0x020000"}
    names = tuple(f"mlx5_{i // 2}" for i in range(16))
    split = ports("nic", 16, rate=200 * 10**9, systems=names, split=2, types=("GE200",))
    nets = read(replace(base, classes=(split,))).all("net")
    assert [(n.attributes["name"], n.attributes["speed"]) for n in nets] == [(f"mlx5_{i}", "400000") for i in range(8)]
    own = ports("nic", 16, rate=200 * 10**9, systems=tuple(f"eth{i}" for i in range(16)), split=2, types=("GE200",))
    nets = read(replace(base, classes=(own,))).all("net")
    assert len(nets) == 16 and {n.attributes["speed"] for n in nets} == {"200000"}
    assert len({n.attributes["guid"] for n in nets}) == 8 and {n.attributes["port"] for n in nets} == {
        "1",
        "2",
    }


def without(model: DeviceModel, name: str, fact: str) -> DeviceModel:
    """The model with one fact of a layout element left out."""
    layout = tuple(
        replace(n, facts={k: v for k, v in n.facts.items() if k != fact}) if n.name == name else n for n in model.layout
    )
    return replace(model, layout=layout)


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        *(("cpu", f) for f in ("arch", "vendor", "family", "cpu_model", "cores")),
        *((n, f) for n in ("plx", "gpu", "nic") for f in ("gen", "lanes", "device")),
        ("gpu", "bus"), ("nic", "bus"),
    ],
)  # fmt: skip
def test_what_a_model_leaves_out_is_a_finding_at_its_line(name: str, fact: str) -> None:
    text, found = made(without(dgx_h100(), name, fact))
    assert text == ""
    first = found.items[0]
    assert first.code == "E0505" and "DGX_H100" in first.message and f"`{fact}`" in first.message
    assert first.span is HERE.span and first.severity is Severity.ERROR and fact in first.help


def test_the_machine_is_asked_for_what_does_not_place_devices() -> None:
    """Ranks, numbers, GPUDirect and rates are those of the machine: a container with half of the GPUs, NICs at 200 Gb/s."""
    text, found = made(dgx_h100(), complete=False)
    assert not found.items
    system = nccl_reader.read(text)
    assert {tuple(n.attributes) for n in system.all("net")} == {("name",)} and {len(g.attributes) for g in system.all("gpu")} == {
        0
    }
    whole = nccl_reader.read(made(dgx_h100())[0])
    for name in ("cpu", "pci", "nvlink"):
        assert [n.attributes for n in system.all(name)] == [n.attributes for n in whole.all(name)]
    assert [n.attributes["name"] for n in system.all("net")] == [n.attributes["name"] for n in whole.all("net")]


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(
    ("gpu", "sm", "device"),
    [("L40S", 89, "10de:26b9"), ("A10G", 86, "10de:2237"), ("H100_PCIE", 90, "10de:2331")],
)
def test_a_host_without_nvlink(gpu: str, sm: int, device: str, complete: bool) -> None:
    """PCI device IDs from the PCI ID Repository."""
    base = dgx_h100()
    chips = tuple(
        replace(c, model=replace(c.model, name=gpu, classes=(), facts={"sm": sm})) for c in base.chips if c.kind == "chip"
    )
    layout = tuple(replace(n, facts={**n.facts, "device": device}) if n.name == "gpu" else n for n in base.layout)
    text, found = made(replace(base, chips=chips, links=(), layout=layout), complete)
    assert not found.items and text
    system = nccl_reader.read(text)
    assert len([p for p in system.all("pci") if p.attributes["class"] == "0x030200"]) == 8
    assert not system.all("nvlink") and len(system.all("gpu")) == (8 if complete else 0)


@pytest.mark.parametrize("note", ["From memory: the bus ids.", "a --> <system/> -- -", "\n", "é\u2028", "-"])
def test_a_note_of_the_model_is_a_comment(note: str) -> None:
    """NCCL passes over it, whatever it says."""
    text, found = made(replace(dgx_h100(), facts={"note": note}))
    assert not found.items and nccl_reader.read(text).name == "system" and text.count("<system") == 1
    assert text.startswith("<!-- ") == bool(note.strip(" \n-"))


def test_a_host_without_layout_is_passed_over_with_a_note() -> None:
    text, found = made(replace(dgx_h100(), layout=()))
    assert text == "" and [(d.code, d.severity) for d in found] == [
        ("E0506", Severity.NOTE),
        ("E0516", Severity.ERROR),
    ]


@pytest.mark.parametrize(("fact", "value"), [("bus", "zz:00.0"), ("bus", 'a"b'), ("device", "15b3"), ("gen", 9)])
def test_values_that_make_no_sense_are_told(fact: str, value: object) -> None:
    base = dgx_h100()
    layout = tuple(replace(n, facts={**n.facts, fact: value}) if (n.name, n.index) == ("nic", 0) else n for n in base.layout)
    text, found = made(replace(base, layout=layout))
    assert text == "" and {d.code for d in found} == {"E0505"}


def test_bus_ids_are_made_canonical() -> None:
    found = Diagnostics()
    base = dgx_h100()
    layout = tuple(
        replace(n, facts={**n.facts, "bus": "1:0F:00.4"}) if (n.name, n.index) == ("gpu", 0) else n for n in base.layout
    )
    assert host_layouts({"x": replace(base, layout=layout)}, found) == [] and found.items
    layout = tuple(replace(n, facts={**n.facts, "bus": "F:0.4"}) if (n.name, n.index) == ("gpu", 0) else n for n in base.layout)
    host = host_layouts({"x": replace(base, layout=layout)}, Diagnostics())[0]
    assert host.numa[0].children[0].children[0].bus == "0000:0f:00.4"


@pytest.mark.parametrize(("transport", "shown"), [("roce", "0x020000"), ("ethernet", "0x020000"), ("infiniband", "0x020700")])
def test_an_adapter_of_both_kinds_has_the_class_of_its_transport(transport: str, shown: str, tmp_path: Path) -> None:
    """ConnectX-7 ports of a DGX H100 are NDR or 400GE: a port that is set to Ethernet shows as an Ethernet controller."""
    text = (
        f"fabric f {{\n  transport {transport}\n  host node[4]: DGX_H100\n  switch leaf[8]: SW64x400\n"
        "  connect node[n].nic[r] to leaf[r]\n  connect leaf[*] each\n}\n"
    )
    (design,) = compile_text(text, tmp_path, models=False, verify=False).designs
    assert design.fabric is not None
    files = build_files(design.fabric, ["nccl"], Diagnostics(), BuildOptions())
    (xml,) = [nccl_reader.read(data.decode()) for name, data in files.items() if name.endswith(".xml")]

    def adapters(node: Node) -> list[str]:
        own = [node.attributes["class"]] if any(c.name == "nic" for c in node.children) else []
        return [*own, *(x for c in node.children for x in adapters(c))]

    assert adapters(xml) == [shown] * 8
