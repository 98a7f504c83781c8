"""Files of the library are parsed once in a process, and again when they change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.loader import Loader, ParsedFile
from tdsl.system import resources
from tdsl.system.read import (
    confine_reading,
    file_stamp,
    files_with_stamps,
    inputs_protected,
    is_dir,
    is_file,
    read_regular_file,
    serve_snapshot,
)
from tdsl.system.replace import replace_file
from tests.harness import compile_text

ONE = "model switch ONE { port p[4]: 400Gbps }\n"
TWO = "model switch TWO { port p[8]: 800Gbps }\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a library that holds nothing else but parts."""
    (tmp_path / "stdlib" / "hardware" / "maker").mkdir(parents=True)
    (tmp_path / "stdlib" / "cables").mkdir()
    (tmp_path / "stdlib" / "cables" / "notes.txt").write_text(ONE)
    real = resources.packaged_folder
    monkeypatch.setattr(resources, "packaged_folder", lambda kind: tmp_path / "stdlib" if kind == "stdlib" else real(kind))
    path = tmp_path / "stdlib" / "hardware" / "maker" / "x.fab"
    path.write_text(ONE)
    return path


def read(path: Path, **options: object) -> ParsedFile:
    found = Diagnostics()
    module = Loader(found, **options).read(path)  # type: ignore[arg-type]
    assert module is not None and not found.items
    return module


def names() -> dict[str, Path]:
    return dict(Loader(Diagnostics()).catalogue())


def rewritten(path: Path, text: str) -> None:
    """Write a file as another program would: its time is another one, however coarse the clock."""
    before = os.stat(path)
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))


def test_a_file_is_parsed_once_and_again_when_it_changes(path: Path) -> None:
    first = read(path)
    assert read(path) is first and first.file.name == "stdlib:hardware/maker/x.fab"
    rewritten(path, TWO)
    second = read(path)
    assert second is not first and second.file.text == TWO and read(path) is second
    rewritten(path, ONE.replace("4]", "5]"))
    assert "5]" in read(path).file.text


def test_findings_of_a_file_are_found_each_time(path: Path) -> None:
    rewritten(path, "model switch {\n")
    for _ in range(2):
        found = Diagnostics()
        assert Loader(found).read(path) is not None and len(found.items) > 0


def test_a_file_outside_the_library_is_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "x.fab").write_text(ONE)
    assert read(tmp_path / "x.fab") is not read(tmp_path / "x.fab")


def test_what_stands_for_a_file_comes_first(path: Path) -> None:
    kept = read(path)
    assert read(path, overlay={str(path.resolve()): TWO}).file.text == TWO
    with serve_snapshot(path.parents[2], {"hardware/maker/x.fab": TWO.encode()}):
        assert read(path).file.text == TWO
    assert read(path) is kept


def test_where_reading_is_confined_it_is_read_anew(path: Path) -> None:
    kept = read(path)
    with confine_reading(path.parents[2], []):
        assert read(path) is not kept
    with confine_reading(path.parents[2] / "cables", []), pytest.raises(OSError, match="untrusted"):
        read(path)


def test_a_file_that_is_known_counts_as_read(path: Path) -> None:
    kept = read(path)
    with inputs_protected():
        assert read(path) is kept
        with pytest.raises(OSError, match="this call reads it"):
            replace_file(path, b"")
        link = path.with_name("y.fab")
        os.link(path, link)
        with pytest.raises(OSError, match="this call reads it"):
            replace_file(link, b"")
    assert path.read_text() == ONE


def test_a_file_that_is_gone_is_not_read(path: Path) -> None:
    read(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read(path)
    assert names() == {}


def test_names_of_models_follow_the_files(path: Path) -> None:
    assert names() == {"ONE": path}
    rewritten(path, TWO)
    assert names() == {"TWO": path}
    other = path.parents[1] / "w.fab"
    other.write_text(ONE + TWO)
    assert names() == {"ONE": other, "TWO": path}  # of several files that declare a name, the first
    other.unlink()
    assert names() == {"TWO": path}


def test_names_in_a_snapshot_are_those_of_the_snapshot(path: Path) -> None:
    names()
    with serve_snapshot(path.parents[2], {"hardware/maker/x.fab": TWO.encode()}):
        assert names() == {"TWO": path}
    assert names() == {"ONE": path}


def test_stamps_of_files_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("x.fab", "a/y.fab", "a/b/z.fab", "a/b/z.csv", "a/.fab.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "a" / "round").symlink_to(tmp_path)
    (tmp_path / "a" / "gone.fab").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a" / "link.fab").symlink_to(tmp_path / "x.fab")
    (tmp_path / "folder.fab").mkdir()
    found = dict(files_with_stamps(tmp_path, ".fab"))
    assert {Path(f).relative_to(tmp_path).as_posix() for f in found} == {"x.fab", "a/y.fab", "a/b/z.fab", "a/link.fab"}
    assert all(file_stamp(Path(f)) == stamp for f, stamp in found.items())


def test_names_longer_than_those_of_files(tmp_path: Path) -> None:
    """There is no such file; anything else that a disk refuses is said."""
    long = "a" * 300
    assert not is_file(tmp_path / f"{long}.fab") and not is_dir(tmp_path / long)
    with pytest.raises(OSError, match="too long"):
        read_regular_file(tmp_path / long)
    for text, code in ((f"fabric f {{\n  {long} 4 {{ }}\n}}\n", "E0118"), (f"use {long}.b (c)\nfabric f {{\n}}\n", "E0112")):
        assert code in {d.code for d in compile_text(text, tmp_path, models=False).findings}
    assert Loader(Diagnostics()).design(long) is None
