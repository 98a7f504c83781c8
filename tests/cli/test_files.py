"""Settings, lists and work lists as tables, and the errors of files that cannot be read or written."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from tests.cli.run import tdsl, write
from tests.observe.test_chain import POD


def cells(text: str) -> list[list[str]]:
    """The cells of a CSV."""
    return list(csv.reader(io.StringIO(text)))


def test_settings_as_csv(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paths, a severity, a setting of a target and a variable, each with its source."""
    (here / "lib").mkdir()
    (here / "tdsl.toml").write_text('path = ["lib"]\n\n[severity]\ntaper = "warning"\n\n[target.p2p]\nlevels = ["a", "b"]\n')
    monkeypatch.setenv("NO_COLOR", "1")
    done = tdsl("config", "show", "--output-format", "csv")
    assert done.exit_code == 0, done.output
    rows = [tuple(row) for row in cells(done.stdout)]
    top = [("setting", "value", "from"), ("tdsl.toml", "tdsl.toml", "the nearest one"), ("path", f"{here}/lib", "tdsl.toml")]
    assert rows[:3] == top and ("NO_COLOR", "1", "environment") in rows
    assert {("severity taper", "warning", "tdsl.toml"), ("target p2p.levels", "a, b", "tdsl.toml")} <= {*rows}
    assert not [r for r in rows if r[0] in ("FORCE_COLOR", "TDSL_TRACEBACK", "TDSL_UNTRUSTED")]


def test_a_target_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that was begun is removed again."""
    (tmp_path / "file").write_text("text")
    done = tdsl("new", "target", "mine", "--in", tmp_path / "file")
    assert done.exit_code == 2 and str(tmp_path / "file" / "mine") in done.stderr and (tmp_path / "file").read_text() == "text"

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        done = tdsl("new", "target", "mine", "--in", tmp_path)
    assert done.exit_code == 2 and f"{tmp_path / 'mine'}: No space left on device" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "mine").exists()


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
    assert document["version"] == "2.1.0" and len(document["runs"][0]["results"]) > len(told), "it has findings of its own"


def test_secrets_and_folders_that_cannot_be_rendered(here: Path) -> None:
    assert tdsl("build", write(here), "--target", "p2p").exit_code == 0
    (here / "bytes").write_bytes(b"A=\xff\n")
    (here / "secrets").write_text("A=b\n")
    bad = tdsl("render", "out", "--secrets", "bytes", "--to", "to")
    assert bad.exit_code == 2 and "bytes: " in bad.stderr
    manifest = here / "out" / "manifest.json"
    whole = manifest.read_text()
    for text in ("{", "[]", '{"files": {"a": {}}}', '{"files": {"../a": {"sha256": "0"}}}'):
        manifest.write_text(text)
        done = tdsl("render", "out", "--secrets", "secrets", "--to", "to")
        assert done.exit_code == 1 and "is not as `tdsl build` writes it" in " ".join(done.stderr.split()), text
    manifest.write_text(whole)
    (manifest.parent / next(iter(json.loads(whole)["files"]))).unlink()
    gone = tdsl("render", "out", "--secrets", "secrets", "--to", "to")
    assert gone.exit_code == 1 and "; build it again" in gone.stderr and not (here / "to").exists()
