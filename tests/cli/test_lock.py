"""A lock knows the library files that a design used, and what differs when one of them has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.run import tdsl, write
from tests.tables import sections

DESIGN, PARTS = sections(__file__)["design"], sections(__file__)["parts"]
DEARER = PARTS.replace("power 100W", "power 150W").replace("$500", "$700")


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "lib").mkdir()
    write(here / "lib", PARTS, "parts.fab")
    assert tdsl("lock", write(here, DESIGN, "f.fab")).exit_code == 0
    return here


def checked(*more: str) -> tuple[int, str]:
    done = tdsl("check", "f.fab", *more)
    return done.exit_code, done.output


def test_the_lock_names_every_file_that_is_used(folder: Path) -> None:
    """A line of it that is none is a finding."""
    lock = folder / "f.fab.lock"
    lines = lock.read_text().splitlines()
    parts = hashlib.sha256((folder / "lib" / "parts.fab").read_bytes()).hexdigest()
    assert f"uses lib/parts.fab sha256:{parts}" in lines and any(x.startswith("uses f.fab sha256:") for x in lines)
    assert {"figure switches 2", "figure links 8", "figure cables 8", "figure power 2200", "figure cost 5000"} <= {*lines}
    status, said = checked("--locked")
    assert status == 0 and "E0494" not in said
    lock.write_text(lock.read_text().replace("sha256:", "md5:"))
    assert "E0496" in checked()[1]


@pytest.mark.parametrize("locked", [True, False])
def test_what_takes_and_costs_more_is_named(locked: bool, folder: Path) -> None:
    write(folder / "lib", DEARER, "parts.fab")
    status, said = checked(*(["--locked"] if locked else []))
    assert status == int(locked) and f"{'error' if locked else 'note'}[E0494]" in said and "1 of 1 library files" in said
    assert "power 2.2kW before, 2.3kW now" in said and "cost $5000 before, $5400 now" in said
    assert "the design itself" not in said
    assert tdsl("lock", "f.fab").exit_code == 0 and "E0494" not in checked("--locked")[1]


def test_changes_of_no_figure_are_notes(folder: Path) -> None:
    """Of a comment, of a file that is used no more; a design that grows under the same library is no finding."""
    write(folder / "lib", f"# a comment\n{PARTS}", "parts.fab")
    status, said = checked("--locked")
    assert status == 0 and "note[E0494]" in said and "lib/parts.fab has changed" in said and "no figure differs" in said
    write(folder / "lib", PARTS, "parts.fab")
    write(folder, DESIGN.replace("box[4]", "box[5]"), "f.fab")
    assert "E0494" not in checked("--locked")[1]
    write(folder, DESIGN.replace("use lib.parts (TOR, BOX)\n", "") + PARTS, "f.fab")
    status, said = checked("--locked")
    assert status == 0 and "lib/parts.fab is not used any more" in said
