"""Private folders for what processes hand to each other, gone with the work, or with the next work after a
kill."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SCRATCH = "tdsl-work-"
"""How the names of folders of ``folder()`` begin."""
_folders: set[str] = set()


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A private folder for what processes hand to each other. It goes with the work, by ``clear`` too, and
    with the next work where a process was killed: a lock on it says that somebody uses it."""
    from tempfile import TemporaryDirectory, gettempdir

    _clear_abandoned(gettempdir())
    with TemporaryDirectory(prefix=SCRATCH, ignore_cleanup_errors=True) as name:
        _folders.add(name)
        handle = _open_locked_folder(name)
        try:
            yield name
        finally:
            _folders.discard(name)
            if handle >= 0:
                os.close(handle)


def _open_locked_folder(folder: str) -> int:
    """An open folder whose lock nobody else has; -1 where there is none, or no locks."""
    if sys.platform == "win32":
        return -1
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return -1
    return handle


def _clear_abandoned(parent: str) -> None:
    """Remove folders of ``folder()`` whose processes were killed. One that has only begun may have no lock
    yet."""
    if sys.platform == "win32":
        return
    from shutil import rmtree
    from time import time

    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        with suppress(OSError):
            facts = os.lstat(path) if name.startswith(SCRATCH) else None
            if (
                facts is None
                or not stat.S_ISDIR(facts.st_mode)
                or facts.st_uid != os.geteuid()
                or facts.st_mtime > time() - 60
            ):
                continue
            handle = _open_locked_folder(path)
            if handle >= 0:
                rmtree(path, ignore_errors=True)
                os.close(handle)


def write_for_other_process(folder: str, data: bytes) -> str:
    """A file in a folder of ``folder()`` with data for another process; its path."""
    from tempfile import mkstemp

    handle, path = mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
    return path


def take_over(path: str) -> bytes:
    """What a file of ``write_for_other_process`` holds; it is gone then."""
    data = Path(path).read_bytes()
    os.unlink(path)
    return data


def remove_scratch_folders() -> None:
    """Remove the folders of ``folder()``, where the process ends in the middle of the work."""
    for name in list(_folders):
        from shutil import rmtree

        rmtree(name, ignore_errors=True)
