"""A lock knows the library files that a design used, and what differs when one of them has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.run import tdsl

PARTS = """\
model switch TOR {{ port p[1..8]: 100Gbps; power {power}W; price ${price} }}
model host BOX {{ port nic[2]: 100Gbps; power 500W; price $1000 }}
"""
DESIGN = """\
use lib.parts (TOR, BOX)
fabric f {
  host box[4]: BOX
  switch tor[2]: TOR
  connect box[b].nic[i] to tor[i]
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "parts.fab").write_text(PARTS.format(power=100, price=500))
    (tmp_path / "f.fab").write_text(DESIGN)
    assert tdsl("lock", "f.fab").exit_code == 0
    return tmp_path


def test_the_lock_names_every_file_that_is_used(folder: Path) -> None:
    lines = (folder / "f.fab.lock").read_text().splitlines()
    parts = hashlib.sha256((folder / "lib" / "parts.fab").read_bytes()).hexdigest()
    assert f"uses lib/parts.fab sha256:{parts}" in lines and any(x.startswith("uses f.fab sha256:") for x in lines)
    assert {"figure switches 2", "figure links 8", "figure cables 8", "figure power 2200", "figure cost 5000"} <= {*lines}
    assert "E0494" not in (done := tdsl("check", "f.fab", "--locked")).output and done.exit_code == 0


def test_a_change_of_no_figure_is_a_note(folder: Path) -> None:
    (folder / "lib" / "parts.fab").write_text("# a comment\n" + PARTS.format(power=100, price=500))
    done = tdsl("check", "f.fab", "--locked")
    assert done.exit_code == 0 and "note[E0494]" in done.output
    assert "lib/parts.fab has changed" in done.output and "no figure differs" in done.output


@pytest.mark.parametrize("locked", [True, False])
def test_what_takes_and_costs_more_is_named(locked: bool, folder: Path) -> None:
    (folder / "lib" / "parts.fab").write_text(PARTS.format(power=150, price=700))
    done = tdsl("check", "f.fab", *(["--locked"] if locked else []))
    assert done.exit_code == int(locked) and f"{'error' if locked else 'note'}[E0494]" in done.output
    assert "1 of 1 library files" in done.output
    assert "power 2.2kW before, 2.3kW now" in done.output and "cost $5000 before, $5400 now" in done.output
    assert "the design itself" not in done.output
    assert tdsl("lock", "f.fab").exit_code == 0 and "E0494" not in tdsl("check", "f.fab", "--locked").output


def test_a_design_that_grows_under_the_same_library_is_no_finding(folder: Path) -> None:
    (folder / "f.fab").write_text(DESIGN.replace("box[4]", "box[5]"))
    assert "E0494" not in tdsl("check", "f.fab", "--locked").output


def test_a_file_that_is_used_no_more(folder: Path) -> None:
    (folder / "f.fab").write_text(DESIGN.replace("use lib.parts (TOR, BOX)\n", "") + PARTS.format(power=100, price=500))
    done = tdsl("check", "f.fab", "--locked")
    assert "lib/parts.fab is not used any more" in done.output and done.exit_code == 0


def test_a_line_that_is_none(folder: Path) -> None:
    lock = folder / "f.fab.lock"
    lock.write_text(lock.read_text().replace("sha256:", "md5:"))
    assert "E0496" in tdsl("check", "f.fab").output
