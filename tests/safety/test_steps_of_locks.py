"""Locks, folders and signatures where the system answers in any of its ways, each answer given by hand."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.output import folder_lock, folders, signature
from tdsl.output.folder_lock import (
    _acquire_lock,
    _lock_holder,
    _open_lock_file,
    _own_lock_text,
    _remove_unheld_lock,
    _try_lock,
    hold_folder_lock,
    hold_lock_file,
)
from tdsl.output.folders import (
    exchange_folders,
    has_access_rules,
    is_working_folder,
    is_writable_folder,
    mounts_below,
    sync_new_folder,
)
from tdsl.output.signature import (
    NoProgram,
    Unsigned,
    _refuse_unreadable_key,
    _ssh_keygen_error,
    sign_manifest,
    signer_of_manifest,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks and folders of POSIX")


# ---------------------------------------------------------------- locks


def opened() -> int:
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0


def test_a_lock_says_who_holds_it(tmp_path: Path) -> None:
    place, before = tmp_path / "lock", opened()
    with hold_lock_file(place) as alone:
        assert alone and place.read_text() == _own_lock_text() and opened() == before + (before > 0)
        assert re.fullmatch(rf"process {os.getpid()} on \S+( boot [0-9a-f]{{8}})?", _own_lock_text())
    assert not place.exists() and opened() == before
    with pytest.raises(KeyError), hold_lock_file(place):
        raise KeyError
    assert not place.exists() and opened() == before


def test_a_lock_file_of_somebody_is_not_written_to(tmp_path: Path) -> None:
    """Up to 200 bytes are of a build that was killed; a larger file, or one with two names, is somebody's."""
    for name, size, kept in (("a", 200, False), ("b", 201, True)):
        (tmp_path / name).write_bytes(b"x" * size)
        with hold_lock_file(tmp_path / name):
            assert ((tmp_path / name).read_bytes() == b"x" * size) == kept
    (tmp_path / "c").write_bytes(b"mine")
    os.link(tmp_path / "c", tmp_path / "d")
    with hold_lock_file(tmp_path / "c"):
        assert (tmp_path / "d").read_bytes() == b"mine"


def test_a_file_that_takes_the_place_of_a_lock_stays(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    with hold_lock_file(place):
        place.unlink()
        place.write_text("another")
    assert place.read_text() == "another"


def test_who_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many turns as fit into the time; then an error that names the holder."""
    waits: list[float] = []
    place, before = tmp_path / "lock", opened()
    place.write_text(" process 7 on host \n")
    monkeypatch.setattr(folder_lock, "_try_lock", lambda handle, path=None: False)
    monkeypatch.setattr(folder_lock, "Event", lambda: SimpleNamespace(wait=waits.append))
    monkeypatch.setattr(folder_lock, "WAIT_S", 8)
    monkeypatch.setattr(folder_lock, "TURN_S", 2)
    for text, named in ((None, " (process 7 on host)"), ("", "")):
        if text is not None:
            place.write_text(text)
        with pytest.raises(OSError, match="another build") as why:
            _acquire_lock(place)
        assert (why.value.errno, why.value.strerror) == (errno.EAGAIN, f"another build is writing there{named}; try again later")
        assert waits == [2] * 4 and opened() == before
        waits.clear()
    with pytest.raises(OSError, match="is writing there; try"):
        _acquire_lock(tmp_path, os.O_DIRECTORY)
    assert (folder_lock.LONGEST, place.exists()) == (200, True)


def test_the_time_that_is_waited() -> None:
    assert (folder_lock.WAIT_S, folder_lock.TURN_S) == (120, 0.02)


def test_a_lock_that_is_free_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock of a file that has another name by then does not count."""
    place, turns = tmp_path / "lock", [False, True, True]
    before = opened()

    def lock(handle: int, path: Path | None = None) -> bool:
        free = turns.pop(0)
        assert path == place
        if len(turns) == 1:
            place.unlink()
        return free

    monkeypatch.setattr(folder_lock, "TURN_S", 0.001)
    monkeypatch.setattr(folder_lock, "_try_lock", lock)
    handle = _acquire_lock(place)
    assert turns == [] and os.path.samestat(os.fstat(handle), os.lstat(place)) and place.read_text() == _own_lock_text()
    os.close(handle)
    assert opened() == before


def test_file_systems_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lock(handle: int, path: Path | None = None) -> bool:
        asked.append(path)
        raise OSError(errno.ENOLCK, "no locks")

    asked: list[Path | None] = []
    monkeypatch.setattr(folder_lock, "_try_lock", lock)
    before = opened()
    with hold_lock_file(tmp_path / "lock") as alone:
        assert alone is False and not (tmp_path / "lock").exists()
    with hold_folder_lock(tmp_path):
        assert tmp_path.is_dir()
    assert asked == [tmp_path / "lock", None] and opened() == before


def test_a_handle_of_number_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without an input has it."""
    closed: list[int] = []
    (tmp_path / "lock").write_text("another")
    monkeypatch.setattr(folder_lock, "_acquire_lock", lambda path, folder=0: 0)
    monkeypatch.setattr(os, "close", closed.append)
    with hold_lock_file(tmp_path / "lock") as alone:
        assert alone is True and closed == []
    assert closed == [0] and (tmp_path / "lock").exists()
    with hold_folder_lock(tmp_path):
        assert closed == [0]
    assert closed == [0, 0]


def test_a_system_where_open_files_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There a lock file is closed before it is removed, and folders have no locks."""
    before, place = opened(), tmp_path / "lock"
    monkeypatch.setattr(folder_lock, "_acquire_lock", lambda path: os.open(path, os.O_RDWR | os.O_CREAT))
    monkeypatch.setattr(sys, "platform", "win32")
    with hold_lock_file(place):
        assert place.exists()
    assert not place.exists() and opened() == before
    with hold_folder_lock(tmp_path):
        assert opened() == before


def test_a_locked_folder(tmp_path: Path) -> None:
    before = opened()
    with hold_folder_lock(tmp_path):
        assert opened() == before + (before > 0)
    assert opened() == before and tmp_path.is_dir()
    with pytest.raises(KeyError), hold_folder_lock(tmp_path):
        raise KeyError
    assert opened() == before
    with pytest.raises(NotADirectoryError):
        (tmp_path / "f").write_text("")
        _acquire_lock(tmp_path / "f", os.O_DIRECTORY)


@pytest.mark.parametrize(
    ("flock", "lockf", "shared", "outcome", "gone"),
    [
        (0, 0, 0, True, False), (errno.EWOULDBLOCK, 0, 0, False, False), (errno.ENOLCK, 0, 0, True, False),
        (errno.ENOLCK, errno.EACCES, 0, False, False), (errno.ENOLCK, errno.EAGAIN, 0, False, False),
        (errno.EBADF, errno.ENOLCK, 0, False, True), (errno.ENOLCK, errno.EBADF, 0, False, True),
        (errno.EBADF, errno.EBADF, errno.EWOULDBLOCK, False, False), (errno.ENOLCK, errno.EINVAL, 0, errno.ENOLCK, False),
    ],
)  # fmt: skip
def test_answers_of_a_lock(
    flock: int, lockf: int, shared: int, outcome: bool | int, gone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the whole file, else of its bytes; a file that cannot be locked for reading only goes if nobody has its lock."""
    import fcntl

    def answer(number: int) -> None:
        if number:
            raise OSError(number, "no")

    monkeypatch.setattr(fcntl, "flock", lambda h, how: answer(flock if how == fcntl.LOCK_EX | fcntl.LOCK_NB else shared))
    monkeypatch.setattr(fcntl, "lockf", lambda h, how: answer(lockf if how == fcntl.LOCK_EX | fcntl.LOCK_NB else errno.EIO))
    place = tmp_path / "lock"
    place.write_text("")
    with place.open() as file:
        if isinstance(outcome, bool):
            assert _try_lock(file.fileno(), place) is outcome
        else:
            with pytest.raises(OSError, match=re.escape(os.strerror(outcome))) as why:
                _try_lock(file.fileno(), place)
            assert why.value.errno == outcome
        assert place.exists() != gone
        if gone:
            with pytest.raises(OSError, match=re.escape(os.strerror(errno.ENOLCK))):
                _try_lock(file.fileno())


def test_a_lock_file_of_another_name_stays(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    place.write_text("")
    with place.open() as file:
        place.unlink()
        place.write_text("new")
        _remove_unheld_lock(file.fileno(), place)
        assert place.read_text() == "new"
    with place.open() as file:
        _remove_unheld_lock(file.fileno(), place)
        assert not place.exists()


def test_who_has_a_lock(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    place.write_bytes(b" a\xff" + b"x" * 300)
    with place.open() as file:
        assert _lock_holder(file.fileno()) == "a\ufffd" + "x" * 197
    assert _lock_holder(-1) == ""


def test_a_lock_file_that_may_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, real = tmp_path / "lock", os.open
    place.write_text("")

    def refusing(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "no")
        return real(path, flags, mode)

    handle = _open_lock_file(place)
    assert os.write(handle, b"x") == 1
    os.close(handle)
    monkeypatch.setattr(os, "open", refusing)
    handle = _open_lock_file(place)
    assert os.read(handle, 9) == b"x"
    os.close(handle)
    with pytest.raises(PermissionError):
        _open_lock_file(tmp_path / "absent")
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(OSError, match=re.escape(os.strerror(errno.ELOOP))):
        _open_lock_file(tmp_path / "link")


# ---------------------------------------------------------------- folders


def library(monkeypatch: pytest.MonkeyPatch, number: int, **calls: Callable[..., int]) -> None:
    """A C library with these calls alone, after which the number of the error is this one."""
    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: SimpleNamespace(**calls) if name is None and use_errno else None)
    monkeypatch.setattr(ctypes, "get_errno", lambda: number)


def test_two_folders_are_exchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    asked: list[tuple[object, ...]] = []

    def call(*given: object) -> int:
        asked.append(given)
        return -1

    for number in (errno.EINVAL, errno.ENOSYS, errno.EXDEV, errno.ENOTSUP):
        library(monkeypatch, number, renameat2=call)
        assert exchange_folders(a, b) is False
    assert asked == [(-100, os.fsencode(a), -100, os.fsencode(b), 2)] * 4
    library(monkeypatch, errno.EBUSY, renameat2=call)
    with pytest.raises(OSError, match=re.escape(os.strerror(errno.EBUSY))) as why:
        exchange_folders(a, b)
    assert why.value.errno == errno.EBUSY
    library(monkeypatch, errno.EBUSY, renameat2=lambda *_: 0)
    assert exchange_folders(a, b) is True
    library(monkeypatch, 0)
    assert exchange_folders(a, b) is False


def test_a_folder_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one step, else file by file; a disk that is full or broken is an error."""
    (tmp_path / "f").write_text("x")
    done: list[object] = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append("file"))
    monkeypatch.setattr(folders, "sync_folder", done.append)
    before = opened()
    for result, number, wanted in ((0, errno.EIO, []), (-1, errno.EINVAL, ["file", tmp_path]), (None, 0, ["file", tmp_path])):
        library(monkeypatch, number, **({} if result is None else {"syncfs": lambda handle, r=result: r}))
        sync_new_folder(tmp_path, [tmp_path / "f"], [tmp_path])
        assert done == wanted
        done.clear()
    for number in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
        library(monkeypatch, number, syncfs=lambda handle: -1)
        with pytest.raises(OSError, match=re.escape(os.strerror(number))) as why:
            sync_new_folder(tmp_path, [tmp_path / "f"], [tmp_path])
        assert why.value.errno == number and done == []
    assert opened() == before


def test_mounts_by_their_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        f"2{n} 1 0:5 / {place} rw - tmpfs x rw" for n, place in enumerate(("/", "/out", "/out/a\\040b", "/outer", "/out/c/d"))
    ]
    monkeypatch.setattr(Path, "read_bytes", lambda path: "\n".join(lines).encode())
    assert mounts_below(Path("/out")) == [".", "a b", "c/d"] and mounts_below(tmp_path) == []
    assert mounts_below(Path("/")) == [".", ".", "out", "out/a b", "outer", "out/c/d"]

    def absent(path: Path) -> bytes:
        raise OSError(errno.ENOENT, "no such file")

    monkeypatch.setattr(Path, "read_bytes", absent)
    assert mounts_below(Path("/")) == ["."] and mounts_below(tmp_path) == []


def test_what_the_system_says_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert is_working_folder(tmp_path) and is_working_folder(tmp_path / "sub") and not is_working_folder(tmp_path / "other")
    asked: list[int] = []
    monkeypatch.setattr(os, "access", lambda folder, how: asked.append(how) or True)
    assert is_writable_folder(tmp_path) and asked == [os.W_OK | os.X_OK]
    for names, wanted in ((["user.x"], False), (["user.x", "system.posix_acl_default"], True), ([], False)):
        monkeypatch.setattr(os, "listxattr", lambda path, n=names: n, raising=False)
        assert has_access_rules(tmp_path) is wanted
    monkeypatch.delattr(os, "listxattr", raising=False)
    assert has_access_rules(tmp_path) is False

    def gone() -> Path:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "cwd", gone)
    assert is_working_folder(tmp_path) is False


# ---------------------------------------------------------------- signatures


def program(monkeypatch: pytest.MonkeyPatch, *answers: tuple[int, bytes, bytes]) -> list[tuple[list[str], bytes, object]]:
    """Stand-in for ssh-keygen that gives these statuses and texts; what it was asked."""
    asked: list[tuple[list[str], bytes, object]] = []
    left = list(answers)

    def run(args: list[str], **given: Any) -> Any:
        assert given["capture_output"] is True and given["check"] is False
        asked.append((args, given["input"], given["timeout"]))
        assert "-s" not in args or Path(args[args.index("-s") + 1]).read_bytes() == SIGNED
        status, out, err = left.pop(0)
        return subprocess.CompletedProcess(args, status, out, err)

    monkeypatch.setattr(subprocess, "run", run)
    return asked


SIGNED = b"-----BEGIN SSH SIGNATURE-----\nx\n"


def test_a_manifest_is_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "key"
    key.write_text("k")
    asked = program(monkeypatch, (0, SIGNED, b""), (1, SIGNED, b"a\n bad key \n\n"), (0, b"?", b""), (3, b"", b""))
    assert sign_manifest(b"manifest", key) == SIGNED
    assert asked == [(["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", "tdsl"], b"manifest", None)]
    for run in (lambda: sign_manifest(b"manifest", tmp_path), lambda: signer_of_manifest(b"manifest", SIGNED, tmp_path)):
        with pytest.raises(Unsigned, match="it is not a regular file"):
            run()
    assert len(asked) == 1
    for why in ("bad key", "ssh-keygen ended with status 0", "ssh-keygen ended with status 3"):
        with pytest.raises(Unsigned, match=f"^{why}$"):
            sign_manifest(b"manifest", key)


def test_who_signed_a_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text("a")
    asked = program(monkeypatch, (0, b"a@x\nb@x\n", b""), (0, b"", b""))
    assert signer_of_manifest(b"manifest", SIGNED, allowed) == "a@x"
    (find, _, _), (verify, _, _) = asked
    place = find[-1]
    common = ["-f", str(allowed), "-s", place]
    assert asked == [
        (["ssh-keygen", "-Y", "find-principals", *common], b"", 60),
        (["ssh-keygen", "-Y", "verify", *common, "-I", "a@x", "-n", "tdsl"], b"manifest", 60),
    ]
    assert verify[6] == place and Path(place).name == "manifest.json.sig" and not Path(place).exists()
    unknown = f"the key that signed it is not among the allowed signers of {allowed}"
    for answers, message in (
        ([(1, b"a@x\n", b"")], unknown), ([(0, b"", b"")], unknown),
        ([(0, b"a@x\n", b""), (255, b"", b"no\nwrong\n")], "the signature is not of this manifest, or not for it: wrong"),
    ):  # fmt: skip
        program(monkeypatch, *answers)
        with pytest.raises(Unsigned) as why:
            signer_of_manifest(b"manifest", SIGNED, allowed)
        assert str(why.value) == message


def test_programs_that_are_absent_or_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "key"
    key.write_text("k")

    def failing(fault: Exception) -> Callable[..., Any]:
        def run(*args: object, **given: object) -> None:
            raise fault

        return run

    monkeypatch.setattr(subprocess, "run", failing(FileNotFoundError()))
    with pytest.raises(NoProgram, match=r"^signatures need ssh-keygen: install OpenSSH \(Debian: openssh-client\)$"):
        sign_manifest(b"", key)
    monkeypatch.setattr(subprocess, "run", failing(subprocess.TimeoutExpired("x", 1)))
    with pytest.raises(Unsigned, match=r"^ssh-keygen did not answer within 60 s$"):
        sign_manifest(b"", key)


def test_sizes_of_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (signature.LARGEST, signature.LARGEST_KEYS) == (1 << 16, 1 << 20)
    monkeypatch.setattr(signature, "LARGEST_KEYS", 2 << 20)
    key = tmp_path / "key"
    with key.open("wb") as file:
        file.truncate(2 << 20)
    _refuse_unreadable_key(key)
    with key.open("wb") as file:
        file.truncate((2 << 20) + 1)
    none = "it is not a regular file of at most 2 MiB"
    for place, why in ((key, none), (tmp_path, none), (tmp_path / "absent", os.strerror(errno.ENOENT))):
        with pytest.raises(Unsigned) as fault:
            _refuse_unreadable_key(place)
        assert str(fault.value) == f"{place}: {why}"
    assert _ssh_keygen_error(subprocess.CompletedProcess([], 4, b"", b"\xff one\n  two \n\n")) == "two"
