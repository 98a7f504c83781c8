"""Layouts of host models as records: processors, functions of PCIe, network devices and NVLinks of small hosts, each exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tdsl.emit.data.hosts import LINK_SPEEDS, gpu_vendor, host_layouts, processor_mask_words
from tdsl.emit.records import Accelerator, HostLayout, NetPort, NvLink, PciFunction
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.model import Axis, Chip, DeviceModel, InnerLink, LayoutNode
from tdsl.semantics.quantity import RATE, Quantity
from tests.targets.build import FILE, HERE, numa, pcie, ports

THERE = Origin(SourceSpan(FILE, 11, 22))
C2C = Quantity(Fraction(16_000_000), RATE)
UNSEEN = "fffffff:ffff:ff"
NVLINK = ports("nvlink", 6, types=("NVLINK5", "GE400"))
OTHER = ports("eth", 3, first=6, types=("GE400",))
GPU = DeviceModel("H", "chip", "", (NVLINK, OTHER), (), (), (), {"sm": 90, "codename": "gfx942", "vendor": "NVIDIA"}, THERE)
NVS = DeviceModel("NVS", "switch", "", (), (), (), (), {}, HERE)
NIC = ports("nic", 4, rate=200 * 10**9, systems=("mlx5_0", "mlx5_0", "mlx5_1", "mlx5_2"), split=2)
ETH = ports("eth", 2, first=4, rate=100 * 10**9, systems=("eno1", "eno2"), types=("GE100",))


def pci(bus: str, kind: str, vendor: str, device: str, **given: object) -> PciFunction:
    """A function as NCCL reads it, with 16 lanes of generation 5 if nothing else is given."""
    facts: dict[str, object] = {
        "sub_vendor": vendor, "sub_device": device, "speed": "32.0 GT/s PCIe", "width": 16, "accelerator": None, "nets": (),
        "children": (), **given,
    }  # fmt: skip
    return PciFunction(bus, kind, vendor, device, *facts.values())  # type: ignore[arg-type]


def box(**given: object) -> DeviceModel:
    """Two GPUs and one NVSwitch of two with a bus; a processor of each architecture and one without devices."""
    layout = (
        numa(0, cores=3),
        LayoutNode("numa", "cpu", 1, None, {"arch": "arm64", "cores": 5, "vendor": "ARM"}, HERE),
        numa(2, cores=2),
        pcie("plx", 0, ("cpu", 0), device="1000:c030"),
        pcie("gpu", 0, ("plx", 0), device="10de:2330", bus="0001:b:0.0", gen=4, c2c=5, c2c_rate=C2C),
        pcie("nic", 0, ("plx", 0), device="0x15B3:0x21", bus="18:1.f", subsystem="15b3:7", lanes=8),
        pcie("nvs", 0, ("plx", 0), device="10de:22a3", bus="0000:05:00.0"),
        pcie("plx", 1, ("cpu", 1), device="1000:c031", **{"class": "0x060401"}),
        pcie("nic", 1, ("plx", 1), device="15b3:1021", bus="12345678:41:00.0"),
        pcie("plx", 2, ("cpu", 1), device="1000:c032", bus="00:02.0"),
        pcie("gpu", 1, ("plx", 2), device="10de:2330", bus="52:00.0", c2c=5, **{"class": "0x030000"}),
        pcie("eth", 1, ("cpu", 1), device="8086:1", bus="61:00.0"),
    )  # fmt: skip
    links = (
        InnerLink(("gpu", 0), ("nvs", 0), 2, 10**9, "scaleup"),
        InnerLink(("nvs", 0), ("gpu", 0), 3, 10**9, "scaleup"),
        InnerLink(("gpu", 0), ("nvs", 1), 4, 10**9, "scaleup"),
        InnerLink(("gpu", 0), ("gpu", 1), 7, 10**9, "scaleup"),
        InnerLink(("gpu", 0), ("nic", 1), 9, 10**9, ""),
        InnerLink(("gpu", 1), ("nvs", 1), 1, 10**9, "scaleup"),
    )
    chips = (Chip("gpu", "chip", (Axis(0, 2),), GPU, HERE), Chip("nvs", "switch", (Axis(0, 2),), NVS, HERE))
    model = DeviceModel("BOX", "host", "", (NIC, ETH), chips, links, layout, {"note": "From memory."}, HERE)
    return replace(model, **given)  # type: ignore[arg-type]


def layouts(model: DeviceModel, **given: object) -> tuple[list[HostLayout], list[tuple[str, Severity, str, str, bool]]]:
    """What is made, and of each finding its code, severity, message, help, and whether it is at the chip's line."""
    found = Diagnostics()
    made = host_layouts({"box": model}, found, **given)  # type: ignore[arg-type]
    return made, [(d.code, d.severity, d.message, d.help, d.span is THERE.span) for d in found]


def test_a_whole_host() -> None:
    (host,), found = layouts(box())
    assert found == [] and (host.name, host.title, host.gpu_vendor, host.note) == ("box", "BOX", "0x10de", "From memory.")
    first, second = host.numa
    assert (first.number, first.affinity, first.arch, first.vendor, first.family, first.model) == (
        0, "00001c07", "x86_64", "GenuineIntel", 6, 143,
    )  # fmt: skip
    assert (second.number, second.affinity, second.arch, second.vendor, second.family, second.model) == (
        1, "000000f8", "arm64", "ARM", "", "",
    )  # fmt: skip
    links = (
        NvLink("0000:05:00.0", 5, "0x068000"),
        NvLink("0000:52:00.0", 7, "0x030000"),
        NvLink(UNSEEN, 4, "0x068000"),
    )
    gpu = Accelerator(0, 90, links, 5, 2, "gfx942")
    nets = (NetPort("mlx5_0", 0, 400_000, 1, f"0x{1:016x}"),)
    assert first.children == (
        pci("ffff:ff:01.0", "0x060400", "0x1000", "0xc030", children=(
            pci("0001:0b:00.0", "0x030200", "0x10de", "0x2330", speed="16.0 GT/s PCIe", accelerator=gpu),
            pci("0000:18:01.f", "0x020700", "0x15b3", "0x0021", sub_vendor="0x15b3", sub_device="0x0007", width=8, nets=nets),
        )),
    )  # fmt: skip
    nets = (NetPort("mlx5_1", 1, 200_000, 1, f"0x{2:016x}"), NetPort("mlx5_2", 2, 200_000, 2, f"0x{2:016x}"))
    links = (NvLink("0001:0b:00.0", 7, "0x030200"), NvLink(UNSEEN, 1, "0x068000"))
    eth = (NetPort("eno2", 3, 100_000, 1, f"0x{4:016x}"),)
    assert second.children == (
        pci("ffff:ff:02.0", "0x060401", "0x1000", "0xc031", children=(
            pci("12345678:41:00.0", "0x020700", "0x15b3", "0x1021", nets=nets),
        )),
        pci("0000:00:02.0", "0x060400", "0x1000", "0xc032", children=(
            pci("0000:52:00.0", "0x030000", "0x10de", "0x2330", accelerator=Accelerator(1, 90, links, 0, 0, "gfx942")),
        )),
        pci("0000:61:00.0", "0x020000", "0x8086", "0x0001", nets=eth),
    )  # fmt: skip


def test_the_class_of_adapters_by_their_links() -> None:
    """The links of one model's port class make no Ethernet adapters of another model."""

    def classes(*ethernet: tuple[str, str]) -> list[str]:
        first, second = layouts(box(), ethernet=ethernet)[0][0].numa
        return [first.children[0].children[1].pci_class, second.children[0].children[0].pci_class]

    assert classes(("box", "nic"), ("other", "eth")) == ["0x020000", "0x020000"]
    assert classes(("other", "nic"), ("box", "eth"), ("box", "x")) == ["0x020700", "0x020700"]


def test_nvlinks_that_leave_the_host() -> None:
    """Without NVLinks of its own a GPU has those of its NVLink ports, in a design with their switches."""

    def links(model: DeviceModel, *outward: str) -> list[tuple[NvLink, ...]]:
        first, second = layouts(model, outward=outward)[0][0].numa
        gpus = first.children[0].children[0], second.children[1].children[0]
        return [g.accelerator.nvlinks for g in gpus if g.accelerator is not None]

    bare = box(links=())
    assert links(bare, "other") == [(), ()] and links(bare, "box") == [(NvLink(UNSEEN, 6, "0x068000"),)] * 2
    assert links(box(), "box") == links(box())
    gpu = replace(GPU, classes=(OTHER,))
    assert links(replace(bare, chips=(replace(bare.chips[0], model=gpu), bare.chips[1])), "box") == [(), ()]


def test_nvlinks_to_what_the_layout_does_not_place() -> None:
    """A GPU that the layout does not have makes the host incomplete; a switch that it does not have is one unseen."""
    links = (InnerLink(("gpu", 0), ("nvs", 0), 2, 10**9, "scaleup"), InnerLink(("gpu", 0), ("nvs", 1), 3, 10**9, "scaleup"))
    layout = tuple(n for n in box().layout if n.name != "nvs")
    first = layouts(box(links=links, layout=layout))[0][0].numa[0].children[0].children[0]
    assert first.accelerator is not None and first.accelerator.nvlinks == (NvLink(UNSEEN, 5, "0x068000"),)


def test_models_that_have_no_layout_of_their_own() -> None:
    """Switches, hosts without accelerators, hosts that are incomplete, and hosts without a layout, which a note names."""
    broken = box(layout=tuple(n for n in box().layout if n.name != "gpu"))
    models = {
        "switch": box(kind="switch"), "bare": box(chips=(box().chips[1],)), "empty": box(layout=(), name="EMPTY"),
        "broken": broken, "box": box(title="A box", facts={"note": 7}),
    }  # fmt: skip
    found = Diagnostics()
    assert [(h.name, h.title, h.note) for h in host_layouts(models, found)] == [("box", "A box", "")]
    note, error = found
    assert (note.code, note.severity, note.message, note.help) == (
        "E0506", Severity.NOTE, "model `EMPTY` does not describe its inside, so it gets no NCCL topology",
        "describe its processors and PCIe tree with `numa` and `pcie`",
    )  # fmt: skip
    assert (error.code, error.severity, error.message, error.help) == (
        "E0505", Severity.ERROR, "model `BOX`: its layout places 0 of 2 accelerators",
        "give each a `pcie` element that hangs from a `numa` element, at once or through switches",
    )  # fmt: skip


def changed(name: str, index: int, **facts: object) -> DeviceModel:
    """The box with other facts of one element; None takes one away."""
    layout = []
    for n in box().layout:
        merged = {**n.facts, **facts} if (n.name, n.index) == (name, index) else n.facts
        layout.append(replace(n, facts={k: v for k, v in merged.items() if v is not None}))
    return box(layout=tuple(layout))


@pytest.mark.parametrize(
    ("name", "index", "facts", "message", "help"),
    [
        ("cpu", 0, {"arch": None}, "cpu[0] has no `arch`", "write `arch x86_64`"),
        ("cpu", 0, {"vendor": None}, "cpu[0] has no `vendor`", "write `vendor GenuineIntel`"),
        ("cpu", 0, {"family": None}, "cpu[0] has no `family`", "write `family 6`"),
        ("cpu", 0, {"cpu_model": True}, "cpu[0] has a `cpu_model` that NCCL cannot read", "write `cpu_model 143`"),
        ("cpu", 1, {"vendor": "a'b"}, "cpu[1] has a `vendor` that NCCL cannot read", "write `vendor GenuineIntel`"),
        ("cpu", 1, {"family": "x"}, "cpu[1] has a `family` that NCCL cannot read", "write `family 6`"),
        ("cpu", 1, {"cpu_model": "x"}, "cpu[1] has a `cpu_model` that NCCL cannot read", "write `cpu_model 143`"),
        ("cpu", 1, {"affinity": ""}, "cpu[1] has a `affinity` that NCCL cannot read", 'write `affinity "000000ff,ffffffff"`'),
        ("plx", 1, {"gen": 7}, "plx[1]: PCIe generation 7 is unknown", "known: 1 to 6"),
        ("plx", 1, {"gen": "5"}, "plx[1] has a `gen` that NCCL cannot read", "write `gen 5`"),
        ("plx", 1, {"lanes": 1.5}, "plx[1] has a `lanes` that NCCL cannot read", "write `lanes 16`"),
        ("plx", 1, {"class": "<"}, "plx[1] has a `class` that NCCL cannot read", "write `class 0x060400`"),
        ("gpu", 1, {"class": 3}, "gpu[1] has a `class` that NCCL cannot read", "write `class 0x030200`"),
        ("eth", 1, {"class": 3}, "eth[1] has a `class` that NCCL cannot read", "write `class 0x020000`"),
        ("nic", 0, {"device": "15b3"}, "nic[0]: `15b3` is not a pair of PCI ids", 'write `device "1000:c030"`'),
        ("nic", 0, {"device": None}, "nic[0] has no `device`", 'write `device "1000:c030"`'),
        ("nic", 0, {"subsystem": "x"}, "nic[0]: `x` is not a pair of PCI ids", 'write `subsystem "15b3:0023"`'),
        ("nic", 1, {"bus": "0:0"}, "nic[1]: `0:0` is not a PCI bus id", 'write `bus "0000:1b:00.0"`'),
        ("nic", 1, {"bus": None}, "nic[1] has no `bus`", 'write `bus "0000:1b:00.0"`'),
        ("nic", 1, {"bus": 5}, "nic[1] has a `bus` that NCCL cannot read", 'write `bus "0000:1b:00.0"`'),
    ],
)  # fmt: skip
def test_facts_that_are_missing_or_wrong(name: str, index: int, facts: dict[str, object], message: str, help: str) -> None:
    made, found = layouts(changed(name, index, **facts))
    assert made == [] and found == [("E0505", Severity.ERROR, f"model `BOX`: {message}", help, False)]


@pytest.mark.parametrize(
    ("given", "message", "help"),
    [
        ({"classes": (replace(NIC, systems=("mlx5_0", "mlx5_0", "", "mlx5_2")), ETH)}, "port nic[2] has no operating-system name",
         'write `os "mlx5_{i}"` at the port class'),
        ({"classes": (NIC, replace(ETH, rate=None))}, "port eth[1] has no rate", 'write `os "mlx5_{i}"` at the port class'),
        ({"classes": (NIC, replace(ETH, axes=(Axis(0, 1),)))}, "eth[1] describes no port", "the class has 1"),
        ({"chips": (replace(box().chips[0], model=replace(GPU, facts={"sm": "9"})), box().chips[1])},
         "chip model `H` has no whole number `sm`", "write its compute capability: `sm 90`"),
    ],
)  # fmt: skip
def test_ports_and_chips_that_say_too_little(given: dict[str, object], message: str, help: str) -> None:
    made, found = layouts(box(**given))
    at_chip = "sm" in help
    expected = ("E0505", Severity.ERROR, f"model `BOX`: {message}", help, at_chip)
    assert made == [] and found == [expected]


def test_processors_of_nodes_in_the_order_of_linux() -> None:
    """First threads of all cores, node by node, then second threads; a node's own affinity is taken as it is."""

    def masks(model: DeviceModel) -> list[str]:
        return [n.affinity for n in layouts(model)[0][0].numa]

    assert masks(changed("cpu", 1, threads=2)) == ["00001c07", "0003e0f8"]
    assert masks(changed("cpu", 1, threads=3))[1] == "0f83e0f8"
    assert masks(changed("cpu", 0, threads=1)) == ["00000007", "000000f8"]
    assert masks(changed("cpu", 0, threads="x"))[0] == "00000007"
    assert masks(changed("cpu", 0, affinity="ff,0")) == ["ff,0", "000000f8"]
    assert masks(changed("cpu", 2, cores=28)) == ["00000070,00000007", "000000f8"]
    made, found = layouts(changed("cpu", 1, cores=None))
    lacking = ("E0505", Severity.ERROR, "model `BOX`: cpu[1] has no `cores`", "write `cores 56`", False)
    assert (made, found) == ([], [lacking])
    assert layouts(changed("cpu", 1, cores=None, affinity="f")) == ([], [lacking]), "the others are counted from its cores"


@pytest.mark.parametrize(
    ("mask", "words"),
    [(0, "00000000"), (1, "00000001"), (2**32 - 1, "ffffffff"), (2**32, "00000001,00000000"),
     (0x123456789ABCDEF01, "00000001,23456789,abcdef01")],
)  # fmt: skip
def test_masks_in_words(mask: int, words: str) -> None:
    assert processor_mask_words(mask) == words


def test_every_generation_has_its_speed() -> None:
    assert LINK_SPEEDS == {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
    for gen, speed in LINK_SPEEDS.items():
        made, _ = layouts(changed("plx", 0, gen=gen))
        assert made[0].numa[0].children[0].link_speed == f"{speed} GT/s PCIe"


def test_vendors_of_accelerators() -> None:
    """That of the layout, else of the chip; the NVSwitches of the layout are no accelerators."""
    box_, vendors = box(), {"NVIDIA": "0x10de", "amd": "0x1002", "Other": "", "": ""}
    assert gpu_vendor(changed("gpu", 0, device="0x1A2:1")) == "0x01a2"
    assert gpu_vendor(changed("gpu", 0, device="?")) == "0x10de"
    for vendor, wanted in vendors.items():
        chips = (replace(box_.chips[0], model=replace(GPU, facts={"vendor": vendor})), box_.chips[1])
        assert gpu_vendor(replace(box_, chips=chips, layout=tuple(n for n in box_.layout if n.name != "gpu"))) == wanted
    assert gpu_vendor(replace(box_, chips=(), layout=())) == ""
