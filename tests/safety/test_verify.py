"""``tdsl verify``: an output folder against its own manifest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.run import tdsl, write


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    assert tdsl("build", write(folder), "--out", folder / "out", "--target", "cabling", "--target", "json").exit_code == 0
    return folder / "out"


@pytest.fixture
def out(built: Path, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    import shutil

    shutil.copytree(built, tmp_path / "out")
    return tmp_path / "out"


def test_as_built(out: Path) -> None:
    done = tdsl("verify", out)
    assert done.exit_code == 0 and "files are as built: small " in done.stdout


def some(out: Path) -> str:
    return sorted(json.loads((out / "manifest.json").read_bytes())["files"])[0]


@pytest.mark.parametrize("damage", ["flipped", "longer", "gone", "link", "folder", "pipe"])
def test_damage_is_seen(damage: str, out: Path) -> None:
    path = out / some(out)
    if damage == "flipped":
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif damage == "longer":
        path.write_bytes(path.read_bytes() + b"\n")
    else:
        path.rename(out.parent / "kept")
        if damage == "link":
            path.symlink_to(out.parent / "kept")  # the same bytes, but who knows for how long
        elif damage == "folder":
            path.mkdir()
        elif damage == "pipe":
            os.mkfifo(path)
    done = tdsl("verify", out)
    kind = "missing" if damage == "gone" else "differs"
    assert done.exit_code == 1 and f"{kind:<8} {out.as_posix()}/{some(out)}" in done.stdout, done.stdout


def test_files_of_others(out: Path) -> None:
    (out / "notes\x1b[2J.txt").write_text("mine")
    done = tdsl("verify", out)
    assert done.exit_code == 0 and "extra" in done.stdout and "\x1b" not in done.stdout
    assert tdsl("verify", out, "--strict").exit_code == 1


@pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "", "a\0b", ".", "sub/../../secret"])
def test_a_manifest_reads_nothing_outside(path: str, out: Path) -> None:
    (out.parent / "secret").write_bytes(b"")
    manifest = json.loads((out / "manifest.json").read_bytes())
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    manifest["files"] = {path: {"sha256": empty, "size": 0}}
    (out / "manifest.json").write_text(json.dumps(manifest))
    done = tdsl("verify", out)
    assert done.exit_code == 1 and "1 of 1 files differ" in done.stdout, done.output


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": 1, "tdsl": "0", "files": {"a": 1}}', "[" * 100_000])
def test_what_is_no_manifest(text: str, out: Path) -> None:
    (out / "manifest.json").write_text(text)
    done = tdsl("verify", out)
    assert done.exit_code == 2 and "is no manifest of schema 1" in done.stderr
    (out / "manifest.json").unlink()
    done = tdsl("verify", out)
    assert done.exit_code == 2 and "tdsl did not write this folder" in done.stderr
