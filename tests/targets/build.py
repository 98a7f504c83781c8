"""Fabrics with faces for target tests: models as a library would declare them, put onto fabrics made by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tdsl.fabric.graph import Fabric
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.model import Axis, Chip, DeviceModel, InnerLink, LayoutNode, PortClass
from tdsl.semantics.quantity import RATE, Quantity
from tests.fabrics import multiplane, superpod

FILE = SourceFile("models.fab", "model host DGX_H100 {\n}\n")
HERE = Origin(SourceSpan(FILE, 0, 10))
SYSTEMS = (0, 3, 4, 5, 6, 9, 10, 11)
FACES = ("4P2", "3P2", "3P1", "4P1", "1P2", "2P2", "2P1", "1P1")
GPU_BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")
NIC_BUSES = ("18", "40", "4f", "5e", "9a", "c0", "ce", "dc")


def ports(name: str, count: int, first: int = 0, low: int = 0, **given: object) -> PortClass:
    """A port class of 400 Gb/s NDR ports."""
    facts: dict[str, object] = {
        "rate": 400 * 10**9, "types": ("NDR",), "cages": (0,) * count, "form": "",
        "connectors": tuple(range(count)), "labels": tuple(f"{name}{i + low}" for i in range(count)),
        "systems": ("",) * count, "splits": (), "split": 1,
    }  # fmt: skip
    facts.update(given)
    return PortClass(name=name, axes=(Axis(low, count),), first=first, origin=HERE, **facts)  # type: ignore[arg-type]


def switch(radix: int = 64, types: tuple[str, ...] = ("NDR",)) -> DeviceModel:
    """A QM9700-like switch: twin OSFP cages, ports named IB1/n/1 and IB1/n/2."""
    cages = tuple((p + 1) // 2 for p in range(1, radix + 1))
    labels = tuple(f"IB1/{(p + 1) // 2}/{(p - 1) % 2 + 1}" for p in range(1, radix + 1))
    c = ports("p", radix, low=1, cages=cages, form="OSFP", labels=labels, types=types)
    return DeviceModel("QM9700", "switch", "NVIDIA Quantum-2 QM9700", (c,), (), (), (), {}, HERE)


def numa(index: int, **facts: object) -> LayoutNode:
    """A Xeon of a DGX H100."""
    given = {"arch": "x86_64", "vendor": "GenuineIntel", "family": 6, "cpu_model": 143, "cores": 56, **facts}
    return LayoutNode("numa", "cpu", index, None, given, HERE)


def pcie(name: str, index: int, on: tuple[str, int], **facts: object) -> LayoutNode:
    """A PCIe function with 16 lanes of generation 5."""
    return LayoutNode("pcie", name, index, on, {"gen": 5, "lanes": 16, **facts}, HERE)


def dgx_h100(rails: int = 8, types: tuple[str, ...] = ("NDR",)) -> DeviceModel:
    """A DGX H100: each GPU with its own adapter behind its own PCIe switch, 18 NVLinks over four NVSwitches."""
    nic = ports(
        "nic", rails, form="OSFP", cages=tuple(int(f[0]) for f in FACES[:rails]), labels=FACES[:rails],
        systems=tuple(f"mlx5_{n}" for n in SYSTEMS[:rails]), types=types,
    )  # fmt: skip
    h100 = DeviceModel("H100", "chip", "", (), (), (), (), {"sm": 90}, HERE)
    nvs = DeviceModel("NVSWITCH3", "switch", "", (), (), (), (), {}, HERE)
    chips = (Chip("gpu", "chip", (Axis(0, 8),), h100, HERE), Chip("nvs", "switch", (Axis(0, 4),), nvs, HERE))
    links = tuple(
        InnerLink(("gpu", g), ("nvs", s), n, 200 * 10**9, "scaleup") for g in range(8) for s, n in enumerate((4, 5, 5, 4))
    )
    layout = [numa(0), numa(1)]
    layout += [pcie("plx", i, ("cpu", i // 4), device="1000:c030") for i in range(8)]
    layout += [pcie("gpu", i, ("plx", i), device="10de:2330", bus=f"0000:{b}:00.0") for i, b in enumerate(GPU_BUSES)]
    layout += [
        pcie("nic", i, ("plx", i), device="15b3:1021", bus=f"0000:{b.upper()}:00.0") for i, b in enumerate(NIC_BUSES[:rails])
    ]
    return DeviceModel("DGX_H100", "host", "NVIDIA DGX H100", (nic,), chips, links, tuple(layout), {}, HERE)


def manager(types: tuple[str, ...] = ("NDR",)) -> DeviceModel:
    """A UFM appliance with four ports."""
    return DeviceModel("UFM", "host", "", (ports("p", 4, low=1, types=types),), (), (), (), {}, HERE)


def faced(fabric: Fabric, models: dict[str, DeviceModel]) -> Fabric:
    """The same wiring between models that have names on their ports."""
    made = {m.name: replace(models[m.name]) if m.name in models else m for m in fabric.models}
    for old in fabric.models:
        assert made[old.name].port_count == old.port_count
    for s in fabric.sets:
        s.model = made[s.model.name]
    fabric.models = tuple(made[m.name] for m in fabric.models)
    return fabric


def pod(units: int = 2, nodes: int = 4, rails: int = 2, spines: int = 2, radix: int = 64, **given: object) -> Fabric:
    """A rail-optimised leaf-spine of a few units; the full SuperPOD with ``units=4, nodes=32, rails=8, spines=16``."""
    types = given.pop("types", ("NDR",))
    fabric = superpod(units, nodes, rails, spines, radix, **given).build()  # type: ignore[arg-type]
    fabric.title = "A pod for tests"
    models = {"DGX": dgx_h100(rails, types), "SW": switch(radix, types), "UFM": manager(types)}  # type: ignore[arg-type]
    return faced(fabric, models)


def two_planes() -> Fabric:
    """Hosts with one InfiniBand port in each of two planes."""
    fabric = multiplane(planes=2, hosts=8, leaves=2, spines=2).build()
    node = replace(dgx_h100(2), name="NODE")
    return faced(fabric, {"NODE": node, "SW": switch()})


def gbps(value: int) -> Quantity:
    """A rate."""
    return Quantity(Fraction(value * 10**9), RATE)
