"""What `tdsl build dgx_superpod_h100` leaves: the files as their readers see them, from the command to the real programs."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.tables import sections
from tests.targets import ib, nccl_reader
from tests.targets.subnets import FTREE, planned, swap


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("superpod") / "out"
    result = tdsl("build", "dgx_superpod_h100", "--out", folder)
    assert result.exit_code == 0, result.output
    return folder


def test_what_is_there(out: Path) -> None:
    there = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    assert there == sections(__file__)["files"].splitlines()


def test_a_technician_needs_no_other_file(out: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((out / "cabling" / "cables.csv").read_text())))
    assert len(rows) == 2044 and len({r["cable_id"] for r in rows}) == 2044
    ends = [(r[f"{s}_device"], r[f"{s}_port"]) for r in rows for s in "ab"]
    assert len(set(ends)) == len(ends)
    for r in rows:
        for column in ("a_device", "a_port", "a_cage", "b_device", "b_port", "b_cage", "label_a", "label_b", "class"):
            assert r[column] or (column in ("a_cage",) and r["a_device"] == "ufm"), r
        assert r["label_a"] == f"FROM {r['a_device']} {r['a_port']} TO {r['b_device']} {r['b_port']}"
    assert Counter(r["class"] for r in rows) == {"host-leaf": 1020, "leaf-spine": 1024}
    host = [(r["a_cage"], r["a_port"]) for r in rows if r["a_device"] == "su0-node0"]
    assert host == [(f"OSFP {c}", f"{c}P{p}") for c in (1, 2, 3, 4) for p in (1, 2)]
    leaf = [r["a_port"] for r in rows if r["a_device"] == "su0-leaf0"]
    assert leaf == [f"IB1/{c}/{p}" for c in range(17, 33) for p in (1, 2)]


def test_the_real_chain(out: Path, tmp_path: Path) -> None:
    """ibsim loads the netlist, OpenSM routes it as a fat tree and nothing less, ibnetdiscover finds what fabric.json says."""
    ib.need()
    found = ib.discover((out / "ibsim" / "fabric.net").read_bytes(), tmp_path)
    assert FTREE in found.log and "SUBNET UP" in found.log
    good = planned(json.loads((out / "fabric.json").read_text()))
    assert found.wires == good and len(good) == 2044 and len(found.nodes) == 48 + 1016 + 4


def test_a_swapped_pair_fails_the_chain(out: Path, tmp_path: Path) -> None:
    ib.need()
    swapped = swap((out / "ibsim" / "fabric.net").read_text(), "su2-leaf5", 35, 36)
    found = ib.discover(swapped.encode(), tmp_path)
    good = planned(json.loads((out / "fabric.json").read_text()))
    assert len(found.wires - good) == len(good - found.wires) == 2


def test_dgx_h100_as_nccl_reads_it(out: Path) -> None:
    text = (out / "nccl" / "DGX_H100.xml").read_text()
    assert "\t" not in text and not text.startswith("<?")
    system = nccl_reader.read(text)
    switches = [s for cpu in system.children for s in cpu.children]
    assert len(switches) == 8
    for i, switch in enumerate(switches):
        gpus, nets, links = (switch.all(kind) for kind in ("gpu", "net", "nvlink"))
        assert len(gpus) == len(nets) == 1 and "dev" not in gpus[0].attributes  # the machine numbers its devices
        assert [n.attributes["name"] for n in nets] == [f"mlx5_{[0, 3, 4, 5, 6, 9, 10, 11][i]}"]
        assert sum(int(x.attributes["count"]) for x in links) == 18
    assert text.count("<") - text.count("</") - text.count("<!--") < 200
