"""Work lists as tables, and a folder that cannot be written."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from pathlib import Path

from tests.cli.run import tdsl
from tests.observe.test_chain import POD


def cells(text: str) -> list[list[str]]:
    """The cells of a CSV."""
    return list(csv.reader(io.StringIO(text)))


def test_a_target_that_cannot_be_written(tmp_path: Path) -> None:
    """`tests/safety/test_files_written.py` has what is left of one that was begun."""
    (tmp_path / "file").write_text("text")
    done = tdsl("new", "target", "mine", "--in", tmp_path / "file")
    assert done.exit_code == 2 and str(tmp_path / "file" / "mine") in done.stderr and (tmp_path / "file").read_text() == "text"


def test_the_work_list_is_the_same_in_all_formats(here: Path) -> None:
    """CSV on stdout, a CSV and a workbook hold the same rows; SARIF has a result of each finding."""
    (here / "pod.fab").write_text(POD)
    rows = tdsl("show", "pod.fab", "links", "--format", "csv").stdout.splitlines(keepends=True)
    (here / "seen.csv").write_text("".join(r for r in rows if "su0-node1," not in r))
    audit = ("audit", "pod.fab", "--p2p", "seen.csv")
    said, sarif = (tdsl(*audit, "--output-format", form) for form in ("csv", "sarif"))
    assert said.exit_code == sarif.exit_code == 1
    head, *rows_of_list = cells(said.stdout)
    assert len(rows_of_list) >= 1 and all(len(r) == len(head) for r in rows_of_list)
    assert tdsl(*audit, "-o", "work.csv").exit_code == 1 == tdsl(*audit, "-o", "work.xlsx").exit_code
    assert cells((here / "work.csv").read_text(encoding="utf-8-sig")) == [head, *rows_of_list]
    with zipfile.ZipFile(here / "work.xlsx") as book:
        assert book.read("xl/worksheets/sheet1.xml").decode().count("<row ") == len(rows_of_list) + 1
    document = json.loads(sarif.stdout)
    told = json.loads(tdsl("check", "pod.fab", "--output-format", "sarif").stdout)["runs"][0]["results"]
    apart = here / "design"
    apart.mkdir()
    os.chdir(apart)
    (apart / "pod.fab").write_text(POD)
    for path in (here / "seen.csv", "../seen.csv"):  # a capture outside of the repository: the result is at the design
        out = json.loads(tdsl("audit", "pod.fab", "--p2p", path, "--format", "sarif").stdout)["runs"][0]
        assert {x["physicalLocation"]["artifactLocation"]["uri"] for r in out["results"] for x in r["locations"]} == {"pod.fab"}
    os.chdir(here)
    assert document["version"] == "2.1.0" and len(document["runs"][0]["results"]) > len(told), "it has findings of its own"
