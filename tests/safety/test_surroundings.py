"""Where tdsl runs: a mount that is read-only, a quota, a user without rights, a cache that somebody filled, few open files."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write
from tests.safety.built import ROOTED, entered, in_child, in_mounts, of_a_new_process, shell, tree
from tests.tables import sections


@ROOTED
def test_a_mount_that_is_read_only(tmp_path: Path, forked: Path) -> None:
    """Designs are checked there, also with the cache there; what would be written is refused with a line, status 1 or 2."""
    write(tmp_path)
    in_mounts(sections(__file__)["a mount that is read only"], tmp_path, forked)


def test_a_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a user whose blocks are used up: the build and the lock say so, and what stood there stays."""
    design = write(tmp_path)
    out = tmp_path / "out"
    assert tdsl("build", design, "--out", out, "--target", "cabling").exit_code == 0
    assert tdsl("lock", design).exit_code == 0
    before = tree(tmp_path)

    def full(*args: object, **given: object) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *how, **more: full() if how == ("wb",) else opened(path, *how, **more))
    monkeypatch.setattr(os, "fsync", full)
    done = tdsl("build", design, "--out", out, "--target", "cabling", "--set", "nodes=8")
    assert done.exit_code == 1 and "E0509" in done.stderr and "quota exceeded" in " ".join(done.stderr.split()), done.output
    done = tdsl("lock", design, "--set", "nodes=8")
    assert done.exit_code == 2 and "quota exceeded" in " ".join(done.stderr.split()), done.output
    assert tree(tmp_path) == before


@ROOTED
def test_as_nobody(tmp_path: Path) -> None:
    """A user who is not root builds and verifies in a folder of its own, and is refused in one of somebody else."""
    home = tmp_path / "home"
    home.mkdir()
    entered(tmp_path)
    for path in (home, write(home)):
        os.chown(path, 65534, 65534)
    assert tdsl("build", home / "small.fab", "--target", "cabling", "--out", tmp_path / "first").exit_code == 0  # all is imported

    def work() -> int:
        os.chdir(home)
        status = max(tdsl(*call.split()).exit_code for call in ("build small.fab --target cabling", "verify out"))
        done = tdsl("build", "small.fab", "--target", "cabling", "--out", "../theirs")
        refused = done.exit_code == 1 and "E0509" in done.stderr and "Permission denied" in " ".join(done.stderr.split())
        return status + 10 * (not refused)

    assert in_child(work, 65534) == 0
    assert {p.stat().st_uid for p in home.rglob("*")} == {65534} and (home / "out" / "manifest.json").is_file()
    assert not (tmp_path / "theirs").exists()


class _Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("poisoned",)


def spoilt(path: Path, good: bytes, poison: str) -> None:
    """Put something else in the place of a file of the cache."""
    evil = pickle.dumps(_Evil())
    data = {"empty": b"", "noise": bytes(range(256)), "json": b'{"a": [1]}', "pickle": evil, "cut": good[: len(good) // 2]}
    data["bit"] = good[:-900] + bytes([good[-900] ^ 1]) + good[-899:]
    data["open"] = good.replace(b"0", b"1")
    data["owner"] = sha256(f"{path.name}\n".encode() + evil).hexdigest().encode() + b"\n" + evil  # its check sum is right
    if poison in ("link", "folder", "pipe"):
        path.unlink()
        makes = {
            "link": lambda: path.symlink_to(path.parents[2] / "victim"),
            "folder": path.mkdir,
            "pipe": lambda: os.mkfifo(path),
        }
        makes[poison]()
    else:
        path.write_bytes(data[poison])
    if poison == "open":
        path.chmod(0o666)
        path.parent.chmod(0o777)
    elif poison == "owner":
        os.chown(path, 65534, 65534)


def test_a_cache_that_somebody_filled(here: Path, tmp_path: Path) -> None:
    """Whatever its files hold, the answer is the same, nothing in them is run, and links in it are not written through."""
    write(here, SMALL.replace("  switch", "    switch"))
    cache = tmp_path / "cache"

    def call() -> tuple[int, str]:
        done = of_a_new_process("fmt", "--diff", "small.fab", TDSL_CACHE_DIR=str(cache))
        assert "Traceback" not in done.output, done.output
        return done.exit_code, done.stdout

    sound = call()
    held = {p: p.read_bytes() for p in cache.rglob("*") if p.is_file()}
    assert sound[0] in (0, 1) and sound[1] and held
    assert all(p.parents[2] == tmp_path for p in held), "the victim lies above the cache"
    (tmp_path / "victim").write_text("precious")
    for poison in ("empty", "noise", "json", "pickle", "cut", "bit", "link", "folder", "pipe", "open", "owner"):
        if poison == "owner" and os.geteuid() != 0:
            continue
        shutil.rmtree(cache)
        for path, good in held.items():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            cache.chmod(0o700)
            path.write_bytes(good)
            path.chmod(0o600)
            spoilt(path, good, poison)
        assert call() == sound, poison
    assert (tmp_path / "victim").read_text() == "precious" and not (tmp_path / "poisoned").exists()


def test_few_open_files(tmp_path: Path) -> None:
    """From too few to enough: done, or a line that says what was missing, and nothing half written."""
    write(tmp_path)
    for most in (6, 12, 256):
        line = f"ulimit -n {most}; exec {sys.executable} -m tdsl build small.fab --target cabling --out out{most}"
        done = shell(tmp_path, line, TDSL_CACHE_DIR=str(tmp_path / "cache"))
        assert "Traceback" not in done.stderr and (done.returncode == 0) == (tmp_path / f"out{most}").exists(), done.stderr
        assert done.returncode == 0 or (most < 256 and "oo many open files" in done.stderr), done.stderr
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".out")]


@ROOTED
def test_settings_of_another_user_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that all may write to: `output` there had a file of the folder of the call written over."""
    mine = tmp_path / "mine"
    mine.mkdir()
    write(mine)
    (mine / "notes").write_text("mine")
    (tmp_path / "tdsl.toml").write_text('[check]\noutput = "notes"\n')
    os.chown(tmp_path / "tdsl.toml", 65534, -1)
    monkeypatch.chdir(mine)
    done = tdsl("check", "small.fab")
    assert done.exit_code == 2 and "another user owns it" in done.stderr and "--config" in done.stderr, done.output
    assert (mine / "notes").read_text() == "mine" and tdsl("check", "small.fab", "--untrusted").exit_code == 0
    os.chown(mine, 65534, -1)  # a checkout of that user, in which root works: a container of CI
    assert tdsl("check", "small.fab").exit_code == 0 and (mine / "notes").read_text() != "mine"
    os.chown(mine, 0, -1)
    assert tdsl("check", "--config", tmp_path / "tdsl.toml", "small.fab").exit_code == 0
