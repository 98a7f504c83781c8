"""Bandwidths that are published: those between the partitions of LUMI, whose cabling is one of the cases."""

from __future__ import annotations

from pathlib import Path

from tdsl.compile import compiler

ASKED = """
extend lumi {
  report bandwidth of g[0..23] to g[0..23]
  report bandwidth of g[0..23] to g[24..31]
  report bandwidth of g[24..31] to g[24..31]
}
"""


def test_between_the_partitions_of_lumi(test_data: Path, tmp_path: Path) -> None:
    """276, 38.4 and 22.4 TB/s both ways, as LUMI's documentation has them: docs.lumi-supercomputer.eu/hardware/network."""
    path = tmp_path / "lumi.fab"
    path.write_text((test_data / "cases" / "fabrics" / "lumi.fab").read_text() + ASKED)
    asked = compiler.compile_and_verify(str(path), compiler.Request(select=("bandwidth",))).designs[0].results
    assert [r.witness["both_ways_bytes_per_s"] for r in asked] == [276e12, 38.4e12, 22.4e12]
    assert [r.witness["links"] for r in asked] == [5520, 768, 448]
