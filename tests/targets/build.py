"""What the tests of targets share: designs, what targets make of them, and fabrics whose models are as a library has them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tdsl.emit.build import BuildOptions, build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.model import Axis, Chip, DeviceModel, InnerLink, LayoutNode, PortClass
from tests.fabrics import multiplane, superpod
from tests.harness import fabric_of

Made = tuple[dict[str, bytes], list[Diagnostic]]
FILE = SourceFile("models.fab", "model host DGX_H100 {\n}\n")
HERE = Origin(SourceSpan(FILE, 0, 10))
SYSTEMS = (0, 3, 4, 5, 6, 9, 10, 11)
FACES = ("4P2", "3P2", "3P1", "4P1", "1P2", "2P2", "2P1", "1P1")
GPU_BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")
NIC_BUSES = ("18", "40", "4f", "5e", "9a", "c0", "ce", "dc")


# ------------------------------------------------------------ designs, and what is made of them


def design(name: str, **given: object) -> str:
    """The text of ``designs/NAME.fab``, with these values in the places of ``<word>``."""
    text = (Path(__file__).parent / "designs" / f"{name}.fab").read_text(encoding="utf-8")
    for word, value in given.items():
        assert f"<{word}>" in text, word
        text = text.replace(f"<{word}>", str(value))
    return text


def files_of(fabric: Fabric, *targets: str, assets: str = "", **settings: object) -> Made:
    """The files of these targets and fabric.json, and what was found."""
    found = Diagnostics()
    table = SourceFile("assets.csv", assets) if assets else None
    options = BuildOptions(assets=table, settings=dict.fromkeys(targets, settings) if settings else {})
    return build_files(fabric, [*targets, "json"], found, options), list(found)


def made(text: str, place: Path, *targets: str, assets: str = "", **settings: object) -> Made:
    """The same of a design."""
    return files_of(fabric_of(text, place, models=False), *targets, assets=assets, **settings)


def rows(files: dict[str, bytes], table: str) -> list[dict[str, Any]]:
    """A table of fabric.json."""
    data = json.loads(files["fabric.json"])[table]
    return [dict(zip(data["columns"], r, strict=True)) for r in data["rows"]]


def port_names(files: dict[str, bytes]) -> Callable[[str, str], str]:
    """What the operating system calls a port of a device in fabric.json."""
    models = json.loads(files["fabric.json"])["models"]
    names = {(m["key"], p[0]): str(p[3] or "") for m in models for c in m["classes"] for p in c["ports"]}
    model = {d["name"]: d["model"] for d in rows(files, "devices")}
    return lambda device, port: names[model[device], port]


def csv_rows(files: dict[str, bytes], path: str) -> list[dict[str, str]]:
    """A table in CSV."""
    return list(csv.DictReader(io.StringIO(files[path].decode(), newline="")))


# ------------------------------------------------------------ models and fabrics made by hand


def ports(name: str, count: int, first: int = 0, low: int = 0, **given: object) -> PortClass:
    """A port class of 400 Gb/s NDR ports."""
    labels = tuple(f"{name}{i + low}" for i in range(count))
    facts: dict[str, Any] = {"rate": 400 * 10**9, "types": ("NDR",), "cages": (0,) * count, "form": "", "labels": labels}
    facts |= {"connectors": tuple(range(count)), "systems": ("",) * count, "splits": (), "split": 1, **given}
    return PortClass(name=name, axes=(Axis(low, count),), first=first, origin=HERE, **facts)


def switch(radix: int = 64, types: tuple[str, ...] = ("NDR",)) -> DeviceModel:
    """A QM9700-like switch: twin OSFP cages, ports named IB1/n/1 and IB1/n/2."""
    cages = tuple((p + 1) // 2 for p in range(1, radix + 1))
    labels = tuple(f"IB1/{(p + 1) // 2}/{(p - 1) % 2 + 1}" for p in range(1, radix + 1))
    c = ports("p", radix, low=1, cages=cages, form="OSFP", labels=labels, types=types)
    return DeviceModel("QM9700", "switch", "NVIDIA Quantum-2 QM9700", (c,), (), (), (), {}, HERE)


def pcie(name: str, index: int, on: tuple[str, int], **facts: object) -> LayoutNode:
    """A PCIe function with 16 lanes of generation 5."""
    return LayoutNode("pcie", name, index, on, {"gen": 5, "lanes": 16, **facts}, HERE)


def dgx_h100(rails: int = 8, types: tuple[str, ...] = ("NDR",)) -> DeviceModel:
    """A DGX H100: each GPU with its own adapter behind its own PCIe switch, 18 NVLinks over four NVSwitches."""
    cages, systems = tuple(int(f[0]) for f in FACES[:rails]), tuple(f"mlx5_{n}" for n in SYSTEMS[:rails])
    nic = ports("nic", rails, form="OSFP", cages=cages, labels=FACES[:rails], systems=systems, types=types)
    h100 = DeviceModel("H100", "chip", "", (), (), (), (), {"sm": 90}, HERE)
    nvs = DeviceModel("NVSWITCH3", "switch", "", (), (), (), (), {}, HERE)
    chips = (Chip("gpu", "chip", (Axis(0, 8),), h100, HERE), Chip("nvs", "switch", (Axis(0, 4),), nvs, HERE))
    lanes = ((g, s, n) for g in range(8) for s, n in enumerate((4, 5, 5, 4)))
    links = tuple(InnerLink(("gpu", g), ("nvs", s), n, 200 * 10**9, "scaleup") for g, s, n in lanes)
    xeon = {"arch": "x86_64", "vendor": "GenuineIntel", "family": 6, "cpu_model": 143, "cores": 56}
    layout = [LayoutNode("numa", "cpu", i, None, xeon, HERE) for i in range(2)]
    layout += [pcie("plx", i, ("cpu", i // 4), device="1000:c030") for i in range(8)]
    layout += [pcie("gpu", i, ("plx", i), device="10de:2330", bus=f"0000:{b}:00.0") for i, b in enumerate(GPU_BUSES)]
    nics = enumerate(NIC_BUSES[:rails])
    layout += [pcie("nic", i, ("plx", i), device="15b3:1021", bus=f"0000:{b.upper()}:00.0") for i, b in nics]
    return DeviceModel("DGX_H100", "host", "NVIDIA DGX H100", (nic,), chips, links, tuple(layout), {}, HERE)


def faced(fabric: Fabric, models: dict[str, DeviceModel]) -> Fabric:
    """The same wiring between models that have names on their ports."""
    put = {m.name: replace(models[m.name]) if m.name in models else m for m in fabric.models}
    for old in fabric.models:
        assert put[old.name].port_count == old.port_count
    for s in fabric.sets:
        s.model = put[s.model.name]
    fabric.models = tuple(put[m.name] for m in fabric.models)
    return fabric


def pod(units: int = 2, nodes: int = 4, rails: int = 2, spines: int = 2, radix: int = 64, **given: Any) -> Fabric:
    """A rail-optimised leaf-spine of a few units; the full SuperPOD with ``units=4, nodes=32, rails=8, spines=16``."""
    types = given.pop("types", ("NDR",))
    fabric = superpod(units, nodes, rails, spines, radix, **given).build()
    fabric.title = "A pod for tests"
    manager = DeviceModel("UFM", "host", "", (ports("p", 4, low=1, types=types),), (), (), (), {}, HERE)
    return faced(fabric, {"DGX": dgx_h100(rails, types), "SW": switch(radix, types), "UFM": manager})


def tiny() -> Fabric:
    """A host and a spine on one leaf."""
    return pod(units=1, nodes=1, rails=1, spines=1, manager=False, omit_last=False)


def two_planes() -> Fabric:
    """Hosts with one InfiniBand port in each of two planes."""
    fabric = multiplane(planes=2, hosts=8, leaves=2, spines=2).build()
    return faced(fabric, {"NODE": replace(dgx_h100(2), name="NODE"), "SW": switch()})
