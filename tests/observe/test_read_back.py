"""What `tdsl build` writes of cables, an audit and an import read as the design: break-outs, lanes, panels, circuits, trunks, and
the designs of the library."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.harness import none, sections

DESIGNS = sections(Path(__file__).parent / "test_read_back.txt")
ROOT = Path(__file__).parents[2]
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


# ---------------------------------------------------------------- every file, of every design of the library

LIBRARY = sorted(p.stem for p in (ROOT / "stdlib" / "designs").glob("*.fab"))
SMALL = ("rail_only",)
"""Designs of the library that are read back in each run; the others are in the daily one."""
FILES = ("cables.csv", "links.csv", "labels.csv", "cables*.xlsx", "8-cables.csv", "topology.dot", "fabric.topo")
BESIDE = {"8-cables.csv": ("payloads.json", "7b-front-ports.csv")}
"""Where NetBox gets cables of several ends, which its tables cannot hold, and where ports of panels lead."""


def files_of_build(out: Path, pattern: str) -> list[Path]:
    """Files of a build: one, or one a network."""
    return sorted(out.rglob(pattern))


def ends_used_twice(path: Path) -> list[tuple[str, ...]]:
    """Ends of several cables in NetBox's table, which it would refuse."""
    columns = ("device", "type", "name")
    ends = Counter(tuple(row[f"side_{s}_{c}"] for c in columns) for row in csv.DictReader(path.open()) for s in "ab")
    return [end for end, count in ends.items() if count > 1]


def files_beside(out: Path, pattern: str) -> list[Path]:
    """What is to be read with a file of a build."""
    return [p for other in BESIDE.get(pattern, ()) for p in files_of_build(out, other)]


@pytest.mark.parametrize("name", [*DESIGNS, *(n if n in SMALL else pytest.param(n, marks=pytest.mark.daily) for n in LIBRARY)])
def test_every_file_of_a_build_is_the_design(name: str, tmp_path: Path) -> None:
    """Each of them is clean, and all links of the design are in it, or all that have a cable."""
    source = tmp_path / "d.fab"
    if name in DESIGNS:
        source.write_text(DESIGNS[name])
    design = source if name in DESIGNS else name
    targets = (x for target in ("cabling", "netbox", "p2p") for x in ("--target", target))
    built = tdsl("build", design, "--out", tmp_path / "out", *targets, "--force")
    if "gives no file" in built.output or not files_of_build(tmp_path / "out", "links.csv"):
        pytest.skip("the design has no cable, so there is no table of them")
    wrong = [f"two cables at {end}" for p in files_of_build(tmp_path / "out", "8-cables.csv") for end in ends_used_twice(p)]
    for pattern in FILES:
        found = files_of_build(tmp_path / "out", pattern)
        if pattern.endswith("xlsx"):
            pytest.importorskip("python_calamine")
        if not found:
            continue
        option = "--lldp" if pattern.endswith(".dot") else "--p2p"
        given = (x for p in (*found, *files_beside(tmp_path / "out", pattern)) for x in (option, p))
        done = tdsl("audit", design, *given, "--no-requirements", "--format", "json")
        fabrics = json.loads(done.stdout)["fabrics"]
        whole = len(found) == len(files_of_build(tmp_path / "out", "links.csv"))  # InfiniBand alone has a fabric.topo
        of = "links" if pattern == "links.csv" else "links_judged"  # links on boards have no cable, scale-up links no peer
        judged = [(f["links_as_designed"], f[of]) for f in fabrics]
        if whole and (done.exit_code != 0 or any(a != b for a, b in judged)):
            wrong.append(f"{pattern}: status {done.exit_code}, {judged}")
    none(wrong)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        *((n, "links.csv") for n in ("lanes", "twin ports", "panel")),
        *((n, "8-cables.csv") for n in ("twin ports", "rail_only", "lanes", "breakout", "two panels")),
        *((n, p) for n in ("cages that a cable joins", "lanes", "breakout") for p in ("cables.csv", "labels.csv")),
        ("rail_only", "topology.dot"),
    ],
)
def test_an_import_of_a_file_is_the_design(name: str, pattern: str, tmp_path: Path) -> None:
    """Imported, it has as many links as the design, and the same file is clean against it."""
    source = tmp_path / "d.fab"
    if name in DESIGNS:
        source.write_text(DESIGNS[name])
    design = source if name in DESIGNS else name
    targets = (x for target in ("cabling", "netbox", "p2p") for x in ("--target", target))
    tdsl("build", design, "--out", tmp_path / "out", *targets)
    files = [*files_of_build(tmp_path / "out", pattern), *files_beside(tmp_path / "out", pattern)]
    done = tdsl("import", *files, "--rate", "400Gbps", "-o", tmp_path / "asbuilt.fab")
    assert done.exit_code == 0, done.output
    option = "--lldp" if pattern.endswith(".dot") else "--p2p"
    links = []
    for against in (design, tmp_path / "asbuilt.fab"):
        given = (x for p in files for x in (option, p))
        audited = tdsl("audit", against, *given, "--no-requirements", "--format", "json")
        (fabric,) = json.loads(audited.stdout)["fabrics"]
        assert audited.exit_code == 0 and fabric["links"] == fabric["links_as_designed"], audited.output
        links.append(fabric["links"])
    assert links[0] == links[1]
