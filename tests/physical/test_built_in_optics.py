"""Optics that are part of a device (co-packaged): no cage, no piece to buy, their watts, and fibre that fits both ends."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path

from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.physical.power_and_cost import cached_figures
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.tables import sections

DESIGN = sections(__file__)["design"]


def made(leaf: str, spine: str, folder: Path, **more: str) -> Fabric:
    text = DESIGN.replace("LEAF", leaf).replace("SPINE", spine).replace("each x 4", more.get("wiring", "each x 4"))
    return fabric_of(text, folder)


def table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def test_watts_count_and_nothing_is_bought_or_plugged(tmp_path: Path) -> None:
    """32 links: 64 ends of 9 W each, or 32 of 9 W and 16 twin-port modules of 30 W."""
    for leaf, spine, watts, bought in (("PHOTONIC", "PHOTONIC", 64 * 9, 0), ("PHOTONIC", "PLUGGED", 32 * 9 + 16 * 30, 16)):
        fabric = made(leaf, spine, tmp_path)
        found = cached_figures(fabric).optics_power(fabric.built)
        assert (found.known, found.missing) == (Fraction(watts), 0)
        files = build_files(fabric, ["cabling", "bom"], Diagnostics())
        rows = table(files, "cabling/cables.csv")
        assert {r["a_optic"] for r in rows} == {""} and {r["b_optic"] for r in rows} == {"PLUG" if bought else ""}
        assert {r["a_cage"] for r in rows} == {""} and {r["fibre"] for r in rows} == {"singlemode"}
        bill = table(files, "bom/bom.csv")
        assert sum(int(r["quantity"]) for r in bill if r["kind"] == "optic") == bought
        assert not any(r["model"] == "ENGINE" for r in bill)


def test_another_module_and_copper_do_not_fit(tmp_path: Path) -> None:
    """A pinned module is a misfit, and no cable with plugs is chosen."""
    text = DESIGN.replace("LEAF", "PHOTONIC").replace("SPINE", "PLUGGED")
    (tmp_path / "pinned.fab").write_text(text.replace("each x 4", "each x 4 { optic PLUG }"))
    done = tdsl("check", tmp_path / "pinned.fab")
    assert done.exit_code == 1 and "the optics of port `p` are part of the device: ENGINE" in " ".join(done.output.split())
    (tmp_path / "copper.fab").write_text(text.replace("each x 4", "each x 4 { medium dac }"))
    done = tdsl("build", tmp_path / "copper.fab", "--target", "bom", "--out", tmp_path / "o")
    (bill,) = (tmp_path / "o").rglob("bom.csv")
    assert done.exit_code == 0 and "no dac cable of the catalogue fits both cages" in bill.read_text()
