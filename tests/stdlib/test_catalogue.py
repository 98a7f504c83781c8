"""The standard catalogue: one file a model, found by its text, with port arithmetic that adds up and a datasheet named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.library import Library
from tdsl.semantics.loader import Loader, declared_in
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import Quantity
from tdsl.semantics.supply import SoldIn
from tdsl.syntax.printer import format_source
from tdsl.system import resources
from tests.harness import compile_text, each, none
from tests.tables import sections, table

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


def named(name: str) -> DeviceModel:
    """A model of the catalogue."""
    (path,) = [p for p in HARDWARE if p.stem == name.lower()]
    return model_in(path)


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


def faults_of_facts(path: Path, names: set[str]) -> Iterator[str]:
    """Facts of a model about others and about its figures that cannot be."""
    model = model_in(path)
    sold = model.facts.get("sold")
    if isinstance(sold, SoldIn):
        yield from (f"{path.name}: it holds {m}, which is no model" for m, _ in sold.holds if m not in names)
        if sold.article in names:
            yield f"{path.name}: {sold.article} is a model"
    for fact, stated in (("basis", True), ("searched", False)):
        pairs = model.facts.get(fact, ())
        assert isinstance(pairs, tuple)
        yield from (f"{path.name}: `{fact}` of {figure}" for figure, _ in pairs if (figure in model.facts) != stated)


def test_facts_about_other_facts() -> None:
    """What is sold in something names models; a basis is that of a figure, and a stated one was found."""
    names = {name for path in (*HARDWARE, *CABLES) for name in declared_in(path)}
    none(fault for path in (*HARDWARE, *CABLES) for fault in faults_of_facts(path, names))


def test_models() -> None:
    assert HARDWARE and CABLES
    none(fault for path in HARDWARE for fault in faults_of_model(path))
    none(fault for path in CABLES for fault in faults_of_cable(path))


def test_dgx_h100_by_the_vendors_table() -> None:
    """GPU 0..7 work with mlx5_0, 3, 4, 5, 6, 9, 10, 11, on faceplate ports 4P2, 3P2, 3P1, 4P1, 1P2, 2P2, 2P1, 1P1."""
    nic = named("dgx_h100").port_class("nic")
    assert nic is not None
    assert nic.systems == tuple(f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11))
    assert nic.labels == ("4P2", "3P2", "3P1", "4P1", "1P2", "2P2", "2P1", "1P1")
    assert all(label.startswith(str(cage)) for label, cage in zip(nic.labels, nic.cages, strict=True))


def test_qm9700_faceplate() -> None:
    p = named("qm9700").classes[0]
    assert (p.size, max(p.cages), p.labels[0], p.labels[1], p.labels[63]) == (64, 32, "IB1/1/1", "IB1/1/2", "IB1/32/2")


def ports_are_as_published(row: tuple[str, ...]) -> None:
    """Model, class of ports, how many, Gbit/s, lanes that a port may be split into."""
    name, ports, count, gbps, splits = row
    found = named(name).port_class(ports)
    expected = (int(count), int(gbps) * 10**9 if gbps else None, tuple(map(int, splits.split())))
    assert found is not None and (found.size, found.rate, found.splits) == expected


def test_ports_as_published() -> None:
    """How many, how fast and how far apart: each file names where it is published."""
    each(table(__file__, "ports"), ports_are_as_published)
    switches = {m.name for m in map(model_in, HARDWARE) if m.kind in ("switch", "ocs")}
    missing = switches - {name for name, *_ in table(__file__, "ports")}
    none(
        f"{name}: repeat its ports from the data sheet in `ports` of tests/stdlib/test_catalogue.txt" for name in sorted(missing)
    )


def test_capacities_as_published() -> None:
    """In one direction: 51.2 Tb/s of a switch chip, 900 GB/s of a B200, 3,200 Gb/s of a p5, 4,800 Gb/s of a TPU v5p.

    Of Gaudi 3, 525 GB/s to the others of a server and 600 GB/s of the server; of the Wedge 400 12.8 Tb/s.
    """

    def total(name: str, ports: str) -> int:
        found = named(name).port_class(ports)
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
    p = named("arista_7060x6_64pe").port_class("p")
    assert p is not None and p.sonic is not None
    ours = [(f"Ethernet{port.number}", port.lanes[0]) for port in p.sonic]
    assert ours == [(name, int(lanes.split(",")[0])) for name, lanes, *_ in theirs]


@pytest.mark.parametrize(
    ("host", "model", "picoseconds"),
    [("DGX_A100", "QM8700", 3 * 130_000 + 66 * 4_900), ("EX235A", "ROSETTA", 3 * 350_000 + 66 * 4_900)],
)
def test_latency_with_the_catalogues_switches(host: str, model: str, picoseconds: int, tmp_path: Path) -> None:
    """Three switches, and 3 + 30 + 30 + 3 m of cable at 4.9 ns a metre."""
    text = sections(__file__)["latency"].replace("HOST", host).replace("SWITCH", model)
    result = compile_text(text, tmp_path, models=False)
    (found,) = [r for r in result.designs[0].results if r.check == "latency"]
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


def is_formatted(path: Path) -> bool:
    file = Loader(Diagnostics()).read(path)
    return file is not None and format_source(file.file) == path.read_text()


def test_written_as_fmt_writes() -> None:
    none(f"{path}: run `tdsl fmt`" for path in (*HARDWARE, *CABLES, *DESIGNS) if not is_formatted(path))
