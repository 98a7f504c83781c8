"""What `tdsl build` writes as tables of cables, an audit reads as the design: break-outs, lanes, panels, circuits, trunks."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.harness import sections

DESIGNS = sections(Path(__file__).parent / "test_read_back.txt")
Rows = list[dict[str, str]]


def table(rows: Rows) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def exchanged(rows: Rows) -> Rows:
    """The far ends of the first cable and of the last one to another device are exchanged."""
    one = rows[0]
    other = next(
        r
        for r in reversed(rows)
        if (r["b_device"], r["b_port"]) != (one["b_device"], one["b_port"]) and r["a_device"] != one["a_device"]
    )
    ends = ("b_device", "b_port")
    swapped = {id(one): {k: other[k] for k in ends}, id(other): {k: one[k] for k in ends}}
    return [r | swapped.get(id(r), {}) for r in rows]


def one_less(rows: Rows) -> Rows:
    return rows[:-1]


def backwards(rows: Rows) -> Rows:
    """Rows in the opposite order, with their ends exchanged."""
    flip = {"a": "b", "b": "a"}
    return [{k: r.get(f"{flip[k[0]]}{k[1:]}", v) if k[:2] in ("a_", "b_") else v for k, v in r.items()} for r in reversed(rows)]


@pytest.mark.parametrize("name", DESIGNS)
def test_what_is_built_is_read_back(name: str, tmp_path: Path) -> None:
    """`cables.csv` and `links.csv` are clean, in any order and from either end; a mistake in them is a fault."""
    (tmp_path / "d.fab").write_text(DESIGNS[name])
    assert tdsl("build", tmp_path / "d.fab", "--out", tmp_path / "out", "--target", "cabling").exit_code == 0
    for file, changes in (("links", [None]), ("cables", [None, backwards, exchanged, one_less])):
        rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "cabling" / f"{file}.csv").read_text())))
        for change in changes:
            (tmp_path / "t.csv").write_text(table(change(rows) if change is not None else rows))
            done = tdsl("audit", tmp_path / "d.fab", "--p2p", tmp_path / "t.csv", "--no-requirements")
            clean = change in (None, backwards)
            assert done.exit_code == (0 if clean else 1), (file, change, done.output)
            assert ("no faults" in done.output) == clean
            if clean:
                (last,) = [line for line in done.output.splitlines() if "cabled as designed" in line]
                of = last.split(": ")[1].split(" links")[0].split(" of ")
                assert of[0] == of[1], last
