"""tdsl from programs: the names of the package, and that they answer as the commands do."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import tdsl
from tests.cli.run import SMALL
from tests.cli.run import tdsl as call


def test_every_public_name_is_there() -> None:
    assert all(getattr(tdsl, name) is not None for name in tdsl.__all__)


def test_a_check_answers_as_the_command_does(tmp_path: Path) -> None:
    path = tmp_path / "small.fab"
    path.write_text(SMALL)
    result = tdsl.check(path)
    assert not result.findings and {r.check for r in result.designs[0].results if r.status == "proved"} >= {"reachability"}
    path.write_text(SMALL.replace("<= 1:1", "<= 1:9"))
    assert [d.code for d in tdsl.check(path).findings] == ["E0405"]
    with pytest.raises(tdsl.DesignError, match="E0405") as wrong:
        tdsl.load(path)
    assert [d.code for d in wrong.value.findings] == ["E0405"]


def test_parameters_are_given_by_name() -> None:
    small, large = (tdsl.load("dgx_superpod_h100", units=n) for n in (1, 2))
    assert (small.link_count, large.link_count) == (508, 1020)
    with pytest.raises(Exception, match="no parameter `unit`"):
        tdsl.check("dgx_superpod_h100", unit=1)


def test_several_fabrics_have_no_one_fabric() -> None:
    with pytest.raises(ValueError, match="several fabrics"):
        tdsl.load("superpod_cluster")


def test_a_build_is_that_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "small.fab"
    path.write_text(SMALL)
    files = tdsl.build(tdsl.load(path), ["cabling"])
    assert call("build", path, "--target", "cabling", "--out", tmp_path / "out").exit_code == 0
    for name, content in files.items():
        if name != "manifest.json":
            assert (tmp_path / "out" / name).read_bytes() == content
    with pytest.raises(tdsl.DesignError, match="E0501"):
        tdsl.build(tdsl.load(path), ["cablin"])


def test_columns_are_those_of_the_files() -> None:
    fabric = tdsl.load("dgx_superpod_h100", units=1)
    cables = tdsl.columns(fabric, "cables")
    rows = list(csv.DictReader(io.StringIO(tdsl.build(fabric, ["cabling"])["cabling/cables.csv"].decode())))
    assert len(rows) == 508 and [str(x) for x in cables["a_port"]] == [r["a_port"] for r in rows]
    assert {len(c) for c in cables.values()} == {508}
    with pytest.raises(ValueError, match="no table 'racks'"):
        tdsl.columns(fabric, "racks")


def test_findings_belong_to_the_fabric_in_whose_block_they_are(tmp_path: Path) -> None:
    path = tmp_path / "two.fab"
    good = "fabric good {\n  host n[4]: DGX_H100\n  switch leaf[8]: QM9700\n  connect n[i].nic[r] to leaf[r]\n}\n"
    path.write_text(good + "fabric bad {\n  switch leaf[2]: QM9700\n  let x = [1, 2][3]\n}\n")
    sound, broken = tdsl.check(path).designs
    assert (sound.findings, [d.code for d in broken.findings]) == ([], ["E0404", "E0108"])
