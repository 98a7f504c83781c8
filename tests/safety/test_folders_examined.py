"""Folders held against manifests written by hand: every fact of the result, with and without handles of folders."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tdsl.output import intact
from tdsl.output.intact import NoManifest, _hash_of_file, _names_in_folder, _unlisted_files, examine_output, folders_with_manifest
from tdsl.output.write import Difference

FILES = {"a.txt": b"one", "sub/b.txt": b"", "sub/deep/c.txt": b"x" * 5000}
OWN = f".tdsl-new-{'0' * 12}"


def manifest(files: dict[str, bytes], /, **more: Any) -> bytes:
    listed = {p: {"size": len(d), "sha256": sha256(d).hexdigest()} for p, d in files.items()}
    facts = {"schema": 1, "tdsl": "9.8", "design": {"name": "mine", "sha256": "f" * 64}, "files": listed}
    return json.dumps(facts | more).encode()


def write(out: Path, path: str, data: bytes = b"") -> None:
    place = out / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


@pytest.fixture(params=[True, False], ids=["handles", "paths"])
def out(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as its manifest says; read with handles of folders, or as on a system without them."""
    if not request.param:
        monkeypatch.setattr(os, "supports_dir_fd", os.supports_dir_fd - {os.open})
    folder = tmp_path / "out"
    for path, data in FILES.items():
        write(folder, path, data)
    write(folder, "manifest.json", manifest(FILES))
    return folder


def test_a_folder_as_built(out: Path) -> None:
    found = examine_output(out)
    head = (out / "manifest.json").read_bytes()
    assert (found.design, found.identity, found.version, found.count) == ("mine", "f" * 64, "9.8", 3)
    assert (found.differences, found.others, found.signature, found.only) == ([], [], b"", ())
    assert (found.manifest, found.digest) == (head, sha256(head).hexdigest())
    write(out, "manifest.json", manifest(FILES, only=["leaf1", "leaf0"]))
    write(out, "manifest.json.sig", b"signed")
    found = examine_output(out)
    assert (found.only, found.signature, found.others) == (("leaf1", "leaf0"), b"signed", [])


def test_what_differs(out: Path) -> None:
    write(out, "a.txt", b"two")
    write(out, "sub/b.txt", b"longer")
    (out / "sub/deep/c.txt").unlink()
    assert examine_output(out).differences == [
        Difference("a.txt", "differs"), Difference("sub/b.txt", "differs"), Difference("sub/deep/c.txt", "missing"),
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["a.txt", "sub", "sub/deep"])
def test_a_link_on_the_way_is_a_difference(place: str, out: Path) -> None:
    """A link to the same bytes, at the file or at a folder above it."""
    (out / place).rename(out.parent / "kept")
    (out / place).symlink_to(out.parent / "kept")
    wrong = [p for p in FILES if p == place or p.startswith(f"{place}/")]
    found = examine_output(out)
    assert found.differences == [Difference(p, "differs") for p in wrong]
    assert found.others == ([] if place == "a.txt" else [place])


def test_files_that_are_not_listed(out: Path) -> None:
    for path in ("z", "sub/manifest.json", "sub/manifest.json.sig", "more/deep/x", f"{OWN}/file", f"sub/{OWN}"):
        write(out, path)
    (out / "link").symlink_to(out / "a.txt")
    (out / "folder").symlink_to(out / "sub")
    (out / "empty").mkdir()
    wanted = ["folder", "link", "more/deep/x", f"sub/{OWN}", "sub/manifest.json", "sub/manifest.json.sig", "z"]
    assert examine_output(out).others == wanted
    assert examine_output(out, private=True).others == sorted([*wanted, f"{OWN}/file"])


def test_sizes_that_are_read_at_most(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(out, "manifest.json.sig", b"12345678")
    for limit, wanted in ((7, b""), (8, b"12345678")):
        monkeypatch.setattr(intact, "LARGEST_SIGNATURE", limit)
        assert examine_output(out).signature == wanted
    for limit, wrong in ((4999, [Difference("sub/deep/c.txt", "differs")]), (5000, [])):
        monkeypatch.setattr(intact, "LARGEST_FILE", limit)
        assert examine_output(out).differences == wrong
    monkeypatch.setattr(intact, "CHUNK", 7)
    assert examine_output(out).differences == []
    size = len((out / "manifest.json").read_bytes())
    monkeypatch.setattr(intact, "LARGEST_MANIFEST", size)
    assert examine_output(out).count == 3
    monkeypatch.setattr(intact, "LARGEST_MANIFEST", size - 1)
    with pytest.raises(OSError, match="larger than what is read"):
        examine_output(out)


def test_a_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is read than one piece behind its size."""
    write(tmp_path, "f", b"abcdef")
    monkeypatch.setattr(intact, "CHUNK", 4)
    whole = _hash_of_file(tmp_path, -1, "f", 6)
    assert whole == sha256(b"abcdef").hexdigest() and _hash_of_file(tmp_path, -1, "f", 5) == "" == _hash_of_file(
        tmp_path, -1, "f", 7
    )
    true = os.fstat
    monkeypatch.setattr(os, "fstat", lambda handle: os.stat_result([*true(handle)[:6], 3, *true(handle)[7:10]]))
    assert _hash_of_file(tmp_path, -1, "f", 3) == ""


def test_the_largest_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 GiB: what is larger is not read at all."""

    @contextmanager
    def file(out: Path, folder: int, path: str) -> Iterator[tuple[io.BytesIO, int]]:
        yield io.BytesIO(b"x"), size

    monkeypatch.setattr(intact, "_open_regular_file", file)
    size = 1 << 33
    assert _hash_of_file(tmp_path, -1, "f", size) == sha256(b"x").hexdigest()
    size += 1
    assert _hash_of_file(tmp_path, -1, "f", size) == ""


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES])
def test_faults_of_the_machine_say_nothing_of_a_file(number: int, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def digest(*_: object) -> str:
        raise OSError(number, "fault")

    monkeypatch.setattr(intact, "_hash_of_file", digest)
    if number == errno.EACCES:
        assert [d.kind for d in examine_output(out).differences] == ["differs"] * 3
    else:
        with pytest.raises(OSError, match="fault"):
            examine_output(out)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EACCES])
def test_folders_that_cannot_be_read(number: int, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def names(out: Path, folder: int, at: str) -> list[tuple[str, bool]]:
        if at == "sub":
            raise OSError(number, "fault")
        return _names_in_folder(out, folder, at)

    monkeypatch.setattr(intact, "_names_in_folder", names)
    if number == errno.EACCES:
        assert examine_output(out).others == ["sub/"]
    else:
        with pytest.raises(OSError, match="fault"):
            examine_output(out)


def test_handles_are_closed(out: Path) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("no list of handles")
    (out / "sub/b.txt").unlink()
    (out / "link").symlink_to(out / "a.txt")
    before = opened()
    for _ in range(3):
        examine_output(out)
    assert opened() == before


@pytest.mark.parametrize(
    "changed",
    [
        {"schema": 2}, {"schema": True}, {"schema": 1.0}, {"tdsl": 1}, {"design": {"name": "mine"}}, {"only": "leaf"},
        {"only": [1]},
        {"design": {"name": "mine", "sha256": None}}, {"files": []}, {"files": {"a": {"size": "1", "sha256": "0" * 64}}},
        {"files": {"a": {"size": 1, "sha256": "0" * 63}}}, {"files": {"a": {"size": 1, "sha256": "0" * 65}}},
        {"files": {"a": {"size": 1, "sha256": "0" * 64}, "b": {"size": 1, "sha256": "A" * 64}}},
    ],
)  # fmt: skip
def test_what_is_no_manifest(changed: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path, "manifest.json", manifest({}, **changed))
    with pytest.raises(NoManifest, match=r"/manifest\.json is not a manifest of schema 1$"):
        examine_output(tmp_path)
    write(tmp_path, "manifest.json", manifest({}))
    assert examine_output(tmp_path).count == 0
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(NoManifest, match=r"^there is no manifest\.json in .*: tdsl did not write this folder$"):
        examine_output(tmp_path)


def test_folders_of_several_fabrics(tmp_path: Path) -> None:
    for name in ("two", "one"):
        write(tmp_path, f"{name}/manifest.json")
    for path in ("other/x", "file", f"{OWN}/manifest.json"):
        write(tmp_path, path)
    (tmp_path / "link").symlink_to(tmp_path / "one")
    inner = [tmp_path / "one", tmp_path / "two"]
    assert folders_with_manifest(tmp_path) == (inner, ["file", "link", "other/"])
    assert folders_with_manifest(tmp_path, private=True) == (inner, [f"{OWN}/", "file", "link", "other/"])
    assert folders_with_manifest(tmp_path / "other") == ([tmp_path / "other"], [])
    write(tmp_path, "manifest.json")
    assert folders_with_manifest(tmp_path) == ([tmp_path], [])


def test_a_folder_that_is_exchanged_is_read_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As often as it is exchanged, five times at most; a folder that stays is read once."""
    calls: list[int] = []
    true = _unlisted_files

    def others(*given: Any) -> list[str]:
        calls.append(1)
        found = true(*given)
        if len(calls) <= exchanged:
            out.rename(out.parent / f"old{len(calls)}")
            write(out, "manifest.json", manifest({"a.txt": b""}) if len(calls) < exchanged else manifest({}))
        return found

    monkeypatch.setattr(intact, "_unlisted_files", others)
    write(out, "extra")
    exchanged = 0
    assert (examine_output(out).others, len(calls)) == (["extra"], 1)
    calls.clear()
    exchanged = 3
    found = examine_output(out)
    assert (found.count, found.differences, found.others, len(calls)) == (0, [], [], 4)
    calls.clear()
    write(out, "extra")
    for place in out.parent.glob("old*"):
        place.rename(place.with_name(f"older-{place.name}"))
    exchanged = 9
    found = examine_output(out)
    assert ([d.path for d in found.differences], len(calls)) == (["a.txt"], 5)
