"""The standard catalogue: one file a model, found by its text, with port arithmetic that adds up and a datasheet named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tdsl import compiler, resources
from tdsl.diagnostic import Diagnostics, Severity
from tdsl.semantics.library import Library
from tdsl.semantics.loader import Loader, declared_in
from tdsl.semantics.model import DeviceModel
from tdsl.syntax.printer import format_source

STDLIB = resources.folder("stdlib")
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


@pytest.mark.parametrize("path", HARDWARE, ids=lambda p: p.stem)
def test_a_model(path: Path) -> None:
    model = model_in(path)
    assert path.stem == model.name.lower()
    assert str(model.facts["source"])
    assert model.title
    for c in model.classes:
        assert len(c.labels) == len(set(c.labels)) == c.size
        assert all(n <= 2 for n in Counter(x for x in c.cages if x).values())
        systems = [s for s in c.systems if s]
        assert len(systems) == len(set(systems))


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


@pytest.mark.parametrize("path", DESIGNS, ids=lambda p: p.stem)
def test_a_design(path: Path) -> None:
    result = compiler.check(path.stem)
    assert [d for d in result.findings if d.severity is not Severity.NOTE] == []
    assert len(path.read_text().splitlines()) < 60


@pytest.mark.parametrize("path", CABLES, ids=lambda p: p.stem)
def test_a_cable(path: Path) -> None:
    facts = model_in(path).facts
    assert path.stem == model_in(path).name.lower() and str(facts["source"])
    assert {"rate", "medium", "reach"} <= facts.keys()
    assert ("fibre" in facts) == (facts["medium"] == "fibre")


@pytest.mark.parametrize("path", [*HARDWARE, *CABLES, *DESIGNS], ids=lambda p: p.stem)
def test_written_as_fmt_writes(path: Path) -> None:
    found = Diagnostics()
    file = Loader(found).read(path)
    assert file is not None
    assert format_source(file.file) == path.read_text()
