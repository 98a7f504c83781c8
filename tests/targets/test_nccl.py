"""NCCL's topology files: read as NCCL reads, whole for every host, refused where a model leaves something out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tdsl.semantics.model import DeviceModel
from tests import harness
from tests.fabrics import Builder
from tests.targets import nccl_reader
from tests.targets.build import GPU_BUSES, HERE, NIC_BUSES, SYSTEMS, dgx_h100, ports
from tests.targets.nccl_reader import Node


def made(model: DeviceModel, complete: bool = True) -> tuple[str, Diagnostics]:
    """The file of a host model, "" if there is none, and what was found."""
    b = Builder("alone")
    b.models.append(model)
    b.devices("node", model, 1)
    found = Diagnostics()
    files = build_files(b.build(), ["nccl"], found, BuildOptions(settings={"nccl": {"complete": complete}}))
    assert sorted(files) in (["manifest.json"], ["manifest.json", f"nccl/{model.name}.xml"])
    return files.get(f"nccl/{model.name}.xml", b"").decode(), found


def read(model: DeviceModel, complete: bool = True) -> Node:
    """The file as NCCL has it, which must be without fault."""
    text, found = made(model, complete)
    assert not found.items and not [d for d in lint_nccl_file(SourceFile("made.xml", text)) if d.severity is not Severity.NOTE]
    return nccl_reader.read(text)


def spoilt(name: str, index: int | None = None, **facts: object) -> DeviceModel:
    """A DGX H100 whose elements of a name, all or one, have other facts; None leaves one out."""

    def of(told: dict[str, object]) -> dict[str, object]:
        return {k: v for k, v in {**told, **facts}.items() if v is not None}

    base = dgx_h100()
    mine = [n.name == name and index in (None, n.index) for n in base.layout]
    layout = tuple(replace(n, facts=of(n.facts)) if own else n for n, own in zip(base.layout, mine, strict=True))
    return replace(base, layout=layout)


def test_a_dgx_h100_is_told_as_it_is() -> None:
    system = read(dgx_h100())
    assert system.name == "system" and system.attributes == {"version": "1"}
    cpus = system.children
    assert cpus[0].attributes == {
        "numaid": "0", "affinity": "000000ff,ffffffff,ffff0000,00000000,00ffffff,ffffffff", "arch": "x86_64",
        "vendor": "GenuineIntel", "familyid": "6", "modelid": "143",
    }  # fmt: skip
    masks = [int(c.attributes["affinity"].replace(",", ""), 16) for c in cpus]
    assert masks[0] & masks[1] == 0 and masks[0] | masks[1] == (1 << 224) - 1
    assert [(c.attributes["numaid"], len(c.children)) for c in cpus] == [("0", 4), ("1", 4)]
    for i, switch in enumerate(s for c in cpus for s in c.children):
        gpu, nic = switch.children
        assert [n.attributes["class"] for n in (switch, gpu, nic)] == ["0x060400", "0x030200", "0x020700"]
        assert gpu.attributes["busid"] == f"0000:{GPU_BUSES[i]}:00.0" and nic.attributes["busid"] == f"0000:{NIC_BUSES[i]}:00.0"
        assert (nic.attributes["vendor"], nic.attributes["device"]) == ("0x15b3", "0x1021")
        assert gpu.children[0].attributes == {"dev": str(i), "sm": "90", "rank": str(i), "gdr": "1"}
        links = gpu.children[0].children
        assert sum(int(n.attributes["count"]) for n in links) == 18 and {n.attributes["tclass"] for n in links} == {"0x068000"}
        net = nic.children[0].children[0].attributes
        assert [net[k] for k in ("name", "speed", "port", "gdr")] == [f"mlx5_{SYSTEMS[i]}", "400000", "1", "1"]


def test_nvlinks_of_a_tray_are_those_of_a_design_with_their_switches(tmp_path: Path) -> None:
    """Without NVLink switches in the design NCCL asks the machine; with them there is also a .conf for the domain."""
    rack = "fabric rack {\n  host tray[2]: GB200_TRAY\n  switch leaf[4]: QM9700\n  connect tray[t].nic[r] to leaf[r]\n"
    switch = "  switch nvswitch[9, 2]: NVLINK5_SWITCH\n  connect tray[t].gpu[g].nvlink[2*s + c] to nvswitch[s, c].p[4*t + g]"
    inside = switch + " { layer scaleup; medium backplane }\n}"
    alone = "fabric nvl { layer scaleup; host tray[2]: GB200_TRAY\n" + inside.replace("layer scaleup; ", "")
    for text, links in ((rack + "}", 0), (rack + inside, 4), (alone, 4)):
        files = build_files(harness.fabric_of(text, tmp_path, models=False), ["nccl"], Diagnostics())
        system = nccl_reader.read(files["nccl/GB200_TRAY.xml"].decode())
        assert [n.attributes["count"] for n in system.all("nvlink")] == ["18"] * links
        conf = files["nccl/GB200_TRAY.conf"]
        assert (b"NCCL_MNNVL_ENABLE=2" in conf) is bool(links) and (b"NCCL_IB_HCA=" in conf) is (text != alone)


def test_split_adapters_are_one_device_a_name() -> None:
    def nets(*names: str) -> list[dict[str, str]]:
        nic = ports("nic", 16, rate=200 * 10**9, systems=names, split=2, types=("GE200",))
        return [n.attributes for n in read(replace(dgx_h100(), classes=(nic,))).all("net")]

    shared = nets(*(f"mlx5_{i // 2}" for i in range(16)))
    assert [(n["name"], n["speed"]) for n in shared] == [(f"mlx5_{i}", "400000") for i in range(8)]
    own = nets(*(f"mlx5_{i}" for i in range(16)))
    assert len(own) == 16 and {n["speed"] for n in own} == {"200000"}
    assert len({n["guid"] for n in own}) == 8 and {n["port"] for n in own} == {"1", "2"}


def test_what_a_model_leaves_out_is_a_finding_at_its_line() -> None:
    cases = [("cpu", f) for f in ("arch", "vendor", "family", "cpu_model", "cores")] + [("gpu", "bus"), ("nic", "bus")]
    for name, fact in cases + [(n, f) for n in ("plx", "gpu", "nic") for f in ("gen", "lanes", "device")]:
        text, found = made(spoilt(name, **{fact: None}))
        first = found.items[0]
        assert text == "" and first.code == "E0505" and "DGX_H100" in first.message and f"`{fact}`" in first.message
        assert first.span is HERE.span and first.severity is Severity.ERROR and fact in first.help


def test_the_machine_is_asked_for_what_does_not_place_devices() -> None:
    """Ranks, numbers, GPUDirect and rates are those of the machine: a container with half of the GPUs, NICs at 200 Gb/s."""
    system, whole = nccl_reader.read(made(dgx_h100(), complete=False)[0]), read(dgx_h100())
    assert {tuple(n.attributes) for n in system.all("net")} == {("name",)}
    assert {len(g.attributes) for g in system.all("gpu")} == {0}
    for name in ("cpu", "pci", "nvlink"):
        assert [n.attributes for n in system.all(name)] == [n.attributes for n in whole.all(name)]
    assert [n.attributes["name"] for n in system.all("net")] == [n.attributes["name"] for n in whole.all("net")]


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(("sm", "device"), [(89, "10de:26b9"), (90, "10de:2331")])
def test_a_host_without_nvlink(sm: int, device: str, complete: bool) -> None:
    """An L40S and a PCIe H100; PCI device IDs from the PCI ID Repository."""
    base = spoilt("gpu", device=device)
    chips = tuple(replace(c, model=replace(c.model, facts={"sm": sm})) for c in base.chips if c.kind == "chip")
    system = read(replace(base, chips=chips, links=()), complete)
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
    assert text == "" and [(d.code, d.severity.word) for d in found] == [("E0506", "note"), ("E0516", "error")]


def test_values_that_make_no_sense_are_told_and_bus_ids_are_made_canonical() -> None:
    """The last is a function of another device than the GPU's."""
    wrong = (("bus", "zz:00.0"), ("bus", 'a"b'), ("device", "15b3"), ("gen", 9), ("bus", "1:0F:00.4"))
    for fact, value in wrong:
        text, found = made(spoilt("gpu" if value == "1:0F:00.4" else "nic", 0, **{fact: value}))
        assert text == "" and {d.code for d in found} == {"E0505"}, value
    assert [n.attributes["busid"] for n in read(spoilt("gpu", 0, bus="F:0.4")).all("pci")][1] == "0000:0f:00.4"


@pytest.mark.parametrize(("transport", "shown"), [("roce", "0x020000"), ("ethernet", "0x020000"), ("infiniband", "0x020700")])
def test_an_adapter_of_both_kinds_has_the_class_of_its_transport(transport: str, shown: str, tmp_path: Path) -> None:
    """ConnectX-7 ports of a DGX H100 are NDR or 400GE: a port that is set to Ethernet shows as an Ethernet controller."""
    text = (
        f"fabric f {{\n  transport {transport}\n  host node[4]: DGX_H100\n  switch leaf[8]: SW64x400\n"
        "  connect node[n].nic[r] to leaf[r]\n  connect leaf[*] each\n}\n"
    )
    files = build_files(harness.fabric_of(text, tmp_path, models=False), ["nccl"], Diagnostics())
    nodes = nccl_reader.read(files["nccl/DGX_H100.xml"].decode()).all("pci")
    assert [p.attributes["class"] for p in nodes if any(c.name == "nic" for c in p.children)] == [shown] * 8
