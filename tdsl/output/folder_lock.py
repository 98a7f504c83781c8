"""A lock on an output folder, which the kernel or the file server keeps: it goes with the process that holds
it."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from tdsl.system.signals import exit_if_signalled

WAIT_S, TURN_S = 120, 0.02
"""How long another build of the same folder is waited for."""
LONGEST = 200
"""Bytes that a lock file has at most: a larger file is none."""


@contextmanager
def hold_lock_file(path: Path) -> Iterator[bool]:
    """Hold a lock file; gives False where the file system keeps no locks. The kernel frees it when a run is
    killed."""
    handle = _acquire_lock(path)
    try:
        yield handle >= 0
    finally:
        if handle >= 0:
            if (
                sys.platform == "win32"
            ):  # an open file cannot be removed there, nor one that somebody waits for
                os.close(handle)
            with suppress(
                OSError
            ):  # where the folder was exchanged meanwhile, the file of this name is another build's
                if sys.platform == "win32" or os.path.samestat(os.fstat(handle), os.lstat(path)):
                    os.unlink(path)
            if sys.platform != "win32":
                os.close(handle)


@contextmanager
def hold_folder_lock(path: Path) -> Iterator[None]:
    """Hold a lock of a folder itself, where the system has such."""
    if sys.platform == "win32":
        yield
        return
    handle = _acquire_lock(path, os.O_DIRECTORY)
    try:
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _acquire_lock(path: Path, folder: int = 0) -> int:
    """An open file, or folder, whose lock nobody else has and that has this name; -1 where there are no
    locks. Raises OSError."""
    turns = 0
    while True:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | folder) if folder else _open_lock_file(path)
        try:
            if not _try_lock(handle, path if not folder else None):
                holder = _lock_holder(handle)
                os.close(handle)
                turns += 1
                if turns > WAIT_S / TURN_S:
                    raise OSError(
                        errno.EAGAIN,
                        f"another build is writing there{holder and f' ({holder})'}; try again later",
                    )
                Event().wait(TURN_S)
                exit_if_signalled()
                continue
        except OSError as fault:
            if fault.errno == errno.EAGAIN:
                raise
            os.close(handle)
            if not folder:
                with suppress(OSError):
                    os.unlink(path)
            return -1
        ours = False
        with suppress(OSError):  # the one before us removes the file it held
            facts = os.fstat(handle)
            ours = os.path.samestat(facts, os.lstat(path))
        if ours:
            if (
                stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 and facts.st_size <= LONGEST
            ):  # else a file of somebody
                with suppress(
                    OSError
                ):  # who holds it is a help to those who wait; a full disk has no room to say so
                    os.truncate(handle, 0)
                    os.write(handle, _own_lock_text().encode())
            return handle
        os.close(handle)


def _lock_holder(handle: int) -> str:
    """Who has a lock, as its file says."""
    try:
        return os.pread(handle, LONGEST, 0).decode(errors="replace").strip()
    except (AttributeError, OSError):  # not here; a folder has no text
        return ""


def _open_lock_file(path: Path) -> int:
    """The lock file, made where there is none; one that a build of another user left is opened for
    reading."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o666)
    except PermissionError:
        try:
            return os.open(path, os.O_RDONLY | flags)
        except FileNotFoundError:
            pass
        raise


def _try_lock(handle: int, path: Path | None = None) -> bool:
    """Take the lock of an open file; False if somebody has it. Raises OSError where the file system has no
    locks. A file server lets nobody lock a file that he may not write to: one of another user, whose ``path``
    is given, goes if nobody has it."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        if fault.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
            return False
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as other:
            if other.errno in (errno.EACCES, errno.EAGAIN):
                return False
            if path is not None and errno.EBADF in (fault.errno, other.errno):
                _remove_unheld_lock(handle, path)
                return False
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)) from None
    return True


def _remove_unheld_lock(handle: int, path: Path) -> None:
    """Remove a lock file that is open for reading only if nobody holds its lock."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return
    with suppress(OSError):  # the next turn opens what stands there then
        if os.path.samestat(os.fstat(handle), os.lstat(path)):
            os.unlink(path)


def _own_lock_text() -> str:
    """Who holds a lock, for those who wait: process, host and the time the host began, by its own mark."""
    host = os.uname().nodename if hasattr(os, "uname") else ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except (OSError, UnicodeDecodeError):
        boot = ""
    return " ".join(filter(None, (f"process {os.getpid()}", host and f"on {host}", boot and f"boot {boot}")))
