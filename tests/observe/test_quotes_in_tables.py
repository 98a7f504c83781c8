"""Quotes in tables of places, of cables and of ibdiagnet: one that does not close, or in the midst of a cell, is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.observe.worklist import read_rack_places
from tests.observe.test_readers import db_csv, faults
from tests.observe.test_tables import ends, taken

WRONG = ['"a"b', '"a']


@pytest.mark.parametrize("cell", WRONG)
def test_of_places(cell: str) -> None:
    assert read_rack_places('device,hall\n"a",h\n')["a"] == ("h", "", "", "")
    with pytest.raises(ValueError, match="line 2: this is not CSV"):
        read_rack_places(f"device,hall\nx,{cell}\n")


@pytest.mark.parametrize("cell", WRONG)
def test_of_cables(cell: str, tmp_path: Path) -> None:
    text = "a_device,a_port,b_device,b_port\nleaf,1,spine,{}\n"
    assert ends(taken(text.format('"a"'), tmp_path, "p2p.csv")) == {("leaf", "1", "spine", "a")}
    assert [code for code, _ in faults(taken(text.format(cell), tmp_path, "p2p.csv"))] == ["E0601"]


@pytest.mark.parametrize("cell", WRONG)
def test_of_ibdiagnet(cell: str, tmp_path: Path) -> None:
    whole = db_csv()
    assert not faults(taken(whole, tmp_path, "x.db_csv"))
    head, first = whole.splitlines()[1:3]
    assert head.startswith("NodeDesc,") and first.count('"') in (0, 2)
    rest = first.partition(",")[2]
    count = rest.partition(",")[0]
    assert not faults(taken(whole.replace(f",{count},", f', "{count}",', 1), tmp_path, "x.db_csv"))
    found = taken(whole.replace(first, f"{cell},{rest}"), tmp_path, "x.db_csv").findings.items
    assert "this line is not CSV" in [d.message for d in found]
