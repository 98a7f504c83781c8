"""tdsl from programs: the names of the package, and that they answer as the commands do."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

import tdsl
from tdsl.api import ARRAYS
from tests.cli.run import SMALL, write
from tests.cli.run import tdsl as call
from tests.harness import none
from tests.tables import sections


def test_a_check_answers_as_the_command_does(tmp_path: Path) -> None:
    assert all(getattr(tdsl, name) is not None for name in tdsl.__all__)
    path = write(tmp_path)
    result = tdsl.check(path)
    assert not result.findings and {r.check for r in result.designs[0].results if r.status == "proved"} >= {"reachability"}
    write(tmp_path, SMALL.replace("<= 1:1", "<= 1:9"))
    assert [d.code for d in tdsl.check(path).findings] == ["E0405"]
    with pytest.raises(tdsl.DesignError, match="E0405") as wrong:
        tdsl.load(path)
    assert [d.code for d in wrong.value.findings] == ["E0405"]


def test_parameters_are_given_by_name() -> None:
    """And several fabrics have no one fabric."""
    small, large = (tdsl.load("dgx_superpod_h100", units=n) for n in (1, 2))
    assert (small.link_count, large.link_count) == (508, 1020)
    with pytest.raises(Exception, match="no parameter `unit`"):
        tdsl.check("dgx_superpod_h100", unit=1)
    with pytest.raises(ValueError, match="several fabrics"):
        tdsl.load("superpod_cluster")


def test_a_build_is_that_of_the_command(tmp_path: Path) -> None:
    path = write(tmp_path)
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


def test_a_column_has_one_type() -> None:
    """Arrow takes no others. What is empty among numbers is None."""
    for name in ("dgx_superpod_h100_racks", "dragonfly"):
        fabric = tdsl.load(name)
        for table in ("devices", "links", "cables"):
            none(
                f"{name} {table}.{column}"
                for column, values in tdsl.columns(fabric, table).items()
                if len({type(x) for x in values} - {type(None)}) > 1
            )
    rails = tdsl.columns(tdsl.load("dgx_superpod_h100", units=1), "links")["rail"]
    assert set(rails) == {*range(8), None}


def test_findings_belong_to_the_fabric_in_whose_block_they_are(tmp_path: Path) -> None:
    good = "fabric good {\n  host n[4]: DGX_H100\n  switch leaf[8]: QM9700\n  connect n[i].nic[r] to leaf[r]\n}\n"
    path = write(tmp_path, good + "fabric bad {\n  switch leaf[2]: QM9700\n  let x = [1, 2][3]\n}\n")
    sound, broken = tdsl.check(path).designs
    assert (list(sound.findings), [d.code for d in broken.findings]) == ([], ["E0404", "E0108"])


def test_what_is_found_is_frozen() -> None:
    result = tdsl.check("dgx_superpod_h100", units=1)
    design = result.designs[0]
    assert design.fabric is not None
    for thing, name in (
        (result, "findings"), (design, "results"), (design.results[0], "status"), (design.fabric, "link_a"),
        (tdsl.Options(), "set"),
    ):  # fmt: skip
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, ())
    assert {type(x) for x in (result.designs, result.findings, design.results, design.findings, design.claims)} == {tuple}
    columns = [x for x in vars(design.fabric).values() if isinstance(x, np.ndarray)]
    assert len(columns) > 20 and not any(x.flags.writeable for x in columns if x is not design.fabric.__dict__.get("device_a"))
    with pytest.raises(ValueError, match="read-only"):
        design.fabric.link_rate[0] = 1
    assert design.fabric.network.is_switch.any()  # what is computed when it is asked for still is


def test_what_is_frozen_is_built_and_judged() -> None:
    """No target and no failure writes into a fabric."""
    for name, units in (("dgx_superpod_h100", {"units": 1}), ("torus3d", {})):
        assert len(tdsl.build(tdsl.load(name, **units))) > 3
    (outcome,) = tdsl.scenarios("dgx_superpod_h100", [["link su[0].leaf[0] spine[1]"]], units=1)
    assert outcome.answers


def test_arrays_share_memory_with_the_fabric() -> None:
    fabric = tdsl.load("dgx_superpod_h100", units=1)
    for table, columns in ARRAYS.items():
        found = tdsl.arrays(fabric, table)
        none(
            f"{table}.{name}"
            for name, column in found.items()
            if not np.shares_memory(column, getattr(fabric, columns[name])) or column.flags.writeable
        )
        assert len({len(column) for column in found.values()}) == 1
    links, said = tdsl.arrays(fabric, "links"), tdsl.columns(fabric, "links")
    assert links["rate_bps"].tolist() == list(said["rate_bps"])
    assert [fabric.device_name(d) for d in links["a_device"].tolist()] == list(said["a_device"])
    with pytest.raises(ValueError, match="no table 'racks'"):
        tdsl.arrays(fabric, "racks")


PROGRAM = sections(__file__)["program"]


def test_programs_are_typed(tmp_path: Path) -> None:
    """A type checker knows what is given, and refuses a wrong call."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    root = Path(tdsl.__file__).parents[1]  # whose settings and kept answers are those of `make lint`
    done = subprocess.run([sys.executable, "-m", "mypy", str(program)], cwd=root, capture_output=True, text=True)
    said = [line for line in done.stdout.splitlines() if "program.py:" in line]
    assert [line.split("program.py:")[1].split(":")[0] for line in said] == ["11", "12"], done.stdout + done.stderr
