"""Settings, lists and work lists as tables, and the errors of files that cannot be read or written."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.cli.run import tdsl, write
from tests.observe.test_chain import POD


def table(text: str) -> list[list[str]]:
    """The cells of a CSV."""
    return list(csv.reader(io.StringIO(text)))


# ---------------------------------------------------------------- config


def test_settings_as_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paths, a severity, a setting of a target and a variable, each with its source."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "tdsl.toml").write_text('path = ["lib"]\n\n[severity]\ntaper = "warning"\n\n[target.p2p]\nlevels = ["a", "b"]\n')
    for variable in ("FORCE_COLOR", "TDSL_TRACEBACK", "TDSL_UNTRUSTED"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    done = tdsl("config", "show", "--output-format", "csv")
    assert done.exit_code == 0, done.output
    rows = table(done.stdout)
    assert rows[:3] == [
        ["setting", "value", "from"],
        ["tdsl.toml", "tdsl.toml", "the nearest one"],
        ["path", str(tmp_path / "lib"), "tdsl.toml"],
    ]
    assert ["severity taper", "warning", "tdsl.toml"] in rows
    assert ["target p2p.levels", "a, b", "tdsl.toml"] in rows
    assert ["NO_COLOR", "1", "environment"] in rows
    assert not [r for r in rows if r[0] in ("FORCE_COLOR", "TDSL_TRACEBACK", "TDSL_UNTRUSTED")]


# ---------------------------------------------------------------- explain and list


# ---------------------------------------------------------------- new target


def test_a_target_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that was begun is removed again; what was there is left alone."""
    (tmp_path / "file").write_text("text")
    done = tdsl("new", "target", "mine", "--in", tmp_path / "file")
    assert done.exit_code == 2 and str(tmp_path / "file" / "mine") in done.stderr
    assert (tmp_path / "file").read_text() == "text"

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        done = tdsl("new", "target", "mine", "--in", tmp_path)
    assert done.exit_code == 2 and f"{tmp_path / 'mine'}: No space left on device" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "mine").exists()
    assert tdsl("new", "target", "mine", "--in", tmp_path).exit_code == 0
    before = {p: p.read_bytes() for p in (tmp_path / "mine").rglob("*") if p.is_file()}
    again = tdsl("new", "target", "mine", "--in", tmp_path)
    assert again.exit_code == 2 and "is there already; choose another name" in again.stderr
    assert before == {p: p.read_bytes() for p in (tmp_path / "mine").rglob("*") if p.is_file()} and len(before) == 4


# ---------------------------------------------------------------- audit


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A design and a table of its links without those of one host."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.fab").write_text(POD)
    rows = tdsl("show", "pod.fab", "links", "--format", "csv").stdout.splitlines(keepends=True)
    (tmp_path / "seen.csv").write_text("".join(r for r in rows if "su0-node1," not in r))
    return tmp_path


AUDIT = ("audit", "pod.fab", "--p2p", "seen.csv")


def test_the_work_list_is_the_same_in_all_formats(pod: Path) -> None:
    """CSV on stdout, a CSV and a workbook hold the same rows; SARIF has a result of each finding."""
    said = tdsl(*AUDIT, "--output-format", "csv")
    assert said.exit_code == 1
    head, *rows = table(said.stdout)
    assert len(rows) >= 1 and all(len(r) == len(head) for r in rows)
    assert tdsl(*AUDIT, "-o", "work.csv").exit_code == 1
    assert table((pod / "work.csv").read_text(encoding="utf-8-sig")) == [head, *rows]
    assert tdsl(*AUDIT, "-o", "work.xlsx").exit_code == 1
    with zipfile.ZipFile(pod / "work.xlsx") as book:
        name = next(n for n in book.namelist() if re.fullmatch(r"xl/worksheets/sheet1\.xml", n))
        assert book.read(name).decode().count("<row ") == len(rows) + 1
    sarif = tdsl(*AUDIT, "--output-format", "sarif")
    document = json.loads(sarif.stdout)
    found = document["runs"][0]["results"]
    assert sarif.exit_code == 1 and document["version"] == "2.1.0"
    told = json.loads(tdsl("check", "pod.fab", "--output-format", "sarif").stdout)["runs"][0]["results"]
    assert len(found) > len(told), "the audit has findings of its own"


# ---------------------------------------------------------------- plan


# ---------------------------------------------------------------- render


def test_secrets_and_folders_that_cannot_be_rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    assert tdsl("build", "small.fab", "--target", "p2p", "--out", "out").exit_code == 0
    (tmp_path / "bytes").write_bytes(b"A=\xff\n")
    (tmp_path / "secrets").write_text("A=b\n")
    bad = tdsl("render", "out", "--secrets", "bytes", "--to", "to")
    assert bad.exit_code == 2 and "bytes: " in bad.stderr
    manifest = next((tmp_path / "out").rglob("manifest.json"), None)
    assert manifest is not None
    whole = manifest.read_text()
    for text in ("{", "[]", '{"files": {"a": {}}}', '{"files": {"../a": {"sha256": "0"}}}'):
        manifest.write_text(text)
        done = tdsl("render", "out", "--secrets", "secrets", "--to", "to")
        assert done.exit_code == 1 and "is not as `tdsl build` writes it" in " ".join(done.stderr.split()), text
    manifest.write_text(whole)
    listed = next(iter(json.loads(whole)["files"]))
    (manifest.parent / listed).unlink()
    gone = tdsl("render", "out", "--secrets", "secrets", "--to", "to")
    assert gone.exit_code == 1 and "; build it again" in gone.stderr
    assert not (tmp_path / "to").exists()
