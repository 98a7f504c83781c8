"""The standard catalogue: one file a model, found by its text, with port arithmetic that adds up and a datasheet named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.library import Library
from tdsl.semantics.loader import Loader, declared_in
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import Quantity
from tdsl.syntax.printer import format_source
from tdsl.system import resources
from tests.harness import each, none

STDLIB = resources.packaged_folder("stdlib")
HARDWARE = sorted((STDLIB / "hardware").rglob("*.fab"))
CABLES = sorted((STDLIB / "cables").glob("*.fab"))
DESIGNS = sorted((STDLIB / "designs").glob("*.fab"))


def model_in(path: Path) -> DeviceModel:
    found = Diagnostics()
    loader = Loader(found)
    library = Library(loader, found)
    module = loader.read(path)
    assert module is not None
    home = library.link(module)
    (name,) = declared_in(path)
    model = library.model(home, name, home.names[name].node.span)
    assert not found.items
    return model


def faults_of_model(path: Path) -> Iterator[str]:
    """What is wrong with the file of a model, as text."""
    model = model_in(path)
    if path.stem != model.name.lower():
        yield f"{path.name}: it declares {model.name}"
    if not model.facts.get("source") or not model.title:
        yield f"{path.name}: no source or no title"
    for c in model.classes:
        if not len(c.labels) == len(set(c.labels)) == c.size:
            yield f"{path.name}: `{c.name}` has {c.size} ports and {len(set(c.labels))} different labels"
        if any(n > 2 for n in Counter(x for x in c.cages if x).values()):
            yield f"{path.name}: a cage of `{c.name}` has more than two ports"
        systems = [s for s in c.systems if s]
        if len(systems) != len(set(systems)):
            yield f"{path.name}: two ports of `{c.name}` have one name in the operating system"


def test_models() -> None:
    assert HARDWARE
    none(fault for path in HARDWARE for fault in faults_of_model(path))


def test_dgx_h100_by_the_vendors_table() -> None:
    """GPU 0..7 work with mlx5_0, 3, 4, 5, 6, 9, 10, 11, on faceplate ports 4P2, 3P2, 3P1, 4P1, 1P2, 2P2, 2P1, 1P1."""
    nic = model_in(STDLIB / "hardware" / "nvidia" / "dgx_h100.fab").port_class("nic")
    assert nic is not None
    assert nic.systems == tuple(f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11))
    assert nic.labels == ("4P2", "3P2", "3P1", "4P1", "1P2", "2P2", "2P1", "1P1")
    assert all(label.startswith(str(cage)) for label, cage in zip(nic.labels, nic.cages, strict=True))


def test_qm9700_faceplate() -> None:
    p = model_in(STDLIB / "hardware" / "nvidia" / "qm9700.fab").classes[0]
    assert (p.size, max(p.cages), p.labels[0], p.labels[1], p.labels[63]) == (64, 32, "IB1/1/1", "IB1/1/2", "IB1/32/2")


PORTS: list[tuple[str, str, int, int | None, tuple[int, ...]]] = [
    ("QM8700", "p", 40, 200, (2,)),
    ("QM9700", "p", 64, 400, (2,)),
    ("Q3400", "p", 144, 800, (2,)),
    ("SN5600", "p", 64, 800, (2, 4)),
    ("SW51T", "p", 64, 800, (8, 4, 2)),
    ("SW64x400", "p", 64, 400, ()),
    ("ARISTA_7800", "p", 576, 400, (2, 4)),
    ("ROSETTA", "p", 64, 200, ()),
    ("PALOMAR", "p", 136, None, ()),
    ("NVSWITCH2", "p", 36, 200, ()),
    ("NVSWITCH3", "p", 64, 200, ()),
    ("NVLINK5_SWITCH", "p", 72, 400, ()),
    ("B200", "nvlink", 18, 400, ()),
    ("H100", "nvlink", 18, 200, ()),
    ("A100", "nvlink", 12, 200, ()),
    ("H800", "nvlink", 8, 200, ()),
    ("TPU_V2", "ici", 4, 496, ()),
    ("TPU_V3", "ici", 4, 656, ()),
    ("TPU_V4", "ici", 6, 400, ()),
    ("TPU_V5P", "ici", 6, 800, ()),
    ("TRN2", "link", 6, 1024, ()),
    ("DGX_A100", "nic", 8, 200, ()),
    ("DGX_H200", "nic", 8, 400, ()),
    ("DGX_B200", "nic", 8, 400, ()),
    ("GB200_TRAY", "nic", 4, 400, ()),
    ("GRAND_TETON", "nic", 8, 400, ()),
    ("H800_NODE", "nic", 8, 400, ()),
    ("B300_HOST", "nic", 8, 800, (8, 4, 2)),
    ("EX235A", "nic", 4, 200, ()),
    ("P4D", "nic", 4, 100, ()),
    ("P5", "nic", 32, 100, ()),
    ("DGX_B300", "nic", 8, 800, (2,)),
    ("GB300_TRAY", "nic", 4, 800, (2,)),
    ("HGX_B200", "nic", 8, 400, ()),
    ("GH200_NODE", "nic", 4, 200, ()),
    ("H20", "nvlink", 18, 200, ()),
    ("QM8790", "p", 40, 200, (2,)),
    ("SN5610", "p", 64, 800, (2, 4)),
    ("Q3450", "p", 144, 800, ()),
    ("SW102T", "p", 64, 1600, (8, 4, 2)),
    ("ARISTA_7060X6_64PE", "p", 64, 800, (2, 4)),
    ("WEDGE400", "up", 16, 400, ()),
    ("WEDGE400", "down", 32, 200, ()),
    ("ND_H200_V5", "nic", 8, 400, ()),
    ("ND_GB200_V6", "nic", 4, 400, ()),
    ("A3_MEGA", "nic", 8, 200, ()),
    ("A3_ULTRA", "nic", 8, 400, ()),
    ("A4X", "nic", 4, 400, ()),
    ("BM_GPU_A100", "nic", 16, 100, ()),
    ("BM_GPU_H100", "nic", 8, 400, ()),
    ("MI300X", "xgmi", 7, 512, ()),
    ("MI300X_HOST", "nic", 8, 400, ()),
    ("GAUDI3", "scaleup", 21, 200, ()),
    ("GAUDI3", "scaleout", 3, 200, ()),
    ("HLS3", "nic", 24, 200, ()),
    ("TPU_V5E", "ici", 4, 400, ()),
    ("TPU_V6E", "ici", 4, 800, ()),
    ("TPU_V7", "ici", 6, 800, ()),
]
"""Model, class of ports, how many, Gbit/s, lanes that a port may be split into."""


def ports_are_as_published(row: tuple[str, str, int, int | None, tuple[int, ...]]) -> None:
    name, ports, count, gbps, splits = row
    (path,) = [p for p in HARDWARE if p.stem == name.lower()]
    found = model_in(path).port_class(ports)
    assert found is not None and (found.size, found.rate, found.splits) == (count, gbps and gbps * 10**9, splits)


def test_ports_as_published() -> None:
    """How many, how fast and how far apart: each file names where it is published."""
    each(PORTS, ports_are_as_published)


def test_capacities_as_published() -> None:
    """In one direction: 51.2 Tb/s of a switch chip, 900 GB/s of a B200, 3,200 Gb/s of a p5, 4,800 Gb/s of a TPU v5p.

    Of Gaudi 3, 525 GB/s to the others of a server and 600 GB/s of the server; of the Wedge 400 12.8 Tb/s.
    """

    def total(name: str, ports: str) -> int:
        (path,) = [p for p in HARDWARE if p.stem == name]
        found = model_in(path).port_class(ports)
        assert found is not None and found.rate is not None
        return found.size * found.rate

    assert total("sn5600", "p") == total("sw51t", "p") == 51_200 * 10**9
    assert total("b200", "nvlink") == 900 * 8 * 10**9 and total("h100", "nvlink") == 450 * 8 * 10**9
    assert total("p5", "nic") == total("dgx_h100", "nic") == 3_200 * 10**9
    assert total("tpu_v5p", "ici") == total("tpu_v7", "ici") == 4_800 * 10**9
    assert total("tpu_v5e", "ici") == 1_600 * 10**9 and total("tpu_v6e", "ici") == 3_200 * 10**9
    assert total("gaudi3", "scaleup") == 525 * 8 * 10**9 and total("hls3", "nic") == 600 * 8 * 10**9
    assert total("wedge400", "up") + total("wedge400", "down") == 12_800 * 10**9
    assert total("sw102t", "p") == 102_400 * 10**9 and total("a4x", "nic") == 1_600 * 10**9


def test_lanes_of_an_arista_as_sonic_has_them(test_data: Path) -> None:
    """Every front port of the switch, by the platform's own file."""
    text = (test_data / "sonic" / "Arista-7060X6-64PE-port_config.ini").read_text()
    theirs = [line.split() for line in text.splitlines() if line.startswith("Ethernet")][:64]
    (path,) = [p for p in HARDWARE if p.stem == "arista_7060x6_64pe"]
    p = model_in(path).port_class("p")
    assert p is not None and p.sonic is not None
    ours = [(f"Ethernet{port.number}", port.lanes[0]) for port in p.sonic]
    assert ours == [(name, int(lanes.split(",")[0])) for name, lanes, *_ in theirs]


@pytest.mark.parametrize(
    ("host", "model", "picoseconds"),
    [("DGX_A100", "QM8700", 3 * 130_000 + 66 * 4_900), ("EX235A", "ROSETTA", 3 * 350_000 + 66 * 4_900)],
)
def test_latency_with_the_catalogues_switches(host: str, model: str, picoseconds: int, tmp_path: Path) -> None:
    """Three switches, and 3 + 30 + 30 + 3 m of cable at 4.9 ns a metre."""
    design = tmp_path / "d.fab"
    design.write_text(f"""
fabric f {{
  host node[16]: {host}
  switch leaf[4]: {model}
  switch spine[4]: {model}
  connect node[n].nic[r] to leaf[r%4] {{ length 3m }}
  connect leaf[*] to spine[*] spread x 4 {{ length 30m }}
  report latency
}}
""")
    (found,) = [r for r in compiler.compile_and_verify(str(design)).designs[0].results if r.check == "latency"]
    assert found.status == "modelled" and isinstance(found.value, Quantity)
    assert found.value.amount * 10**12 == picoseconds


def faults_of_cable(path: Path) -> Iterator[str]:
    """What is wrong with the file of a cable, as text."""
    model = model_in(path)
    if path.stem != model.name.lower() or not model.facts.get("source"):
        yield f"{path.name}: it declares {model.name}, or has no source"
    if missing := {"rate", "medium", "reach"} - model.facts.keys():
        yield f"{path.name}: no {', '.join(sorted(missing))}"
    elif ("fibre" in model.facts) != (model.facts["medium"] == "fibre"):
        yield f"{path.name}: `fibre` belongs to the medium fibre, and to no other"


def test_cables() -> None:
    assert CABLES
    none(fault for path in CABLES for fault in faults_of_cable(path))


def is_formatted(path: Path) -> bool:
    file = Loader(Diagnostics()).read(path)
    return file is not None and format_source(file.file) == path.read_text()


def test_written_as_fmt_writes() -> None:
    none(f"{path}: run `tdsl fmt`" for path in (*HARDWARE, *CABLES, *DESIGNS) if not is_formatted(path))
