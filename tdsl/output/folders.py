"""What the system says of a folder, and does with folders in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import re
from pathlib import Path

from tdsl.system.replace import sync_folder

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def is_writable_folder(folder: Path) -> bool:
    """Whether files can be made in a folder."""
    return os.access(folder, os.W_OK | os.X_OK)


def mounts_below(out: Path) -> list[str]:
    """The mounts in a folder by their paths below it, `.` for itself: what is mounted would stay in the old
    folder."""
    found = ["."] if os.path.ismount(out) else []
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:  # a system without it
        return found
    fields = (
        re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), line.split(b" ")[4]) for line in lines
    )
    places = (Path(os.fsdecode(field)) for field in fields)
    return [*found, *(place.relative_to(out).as_posix() for place in places if place.is_relative_to(out))]


def is_working_folder(out: Path) -> bool:
    """Whether the process, and so the shell that called it, is in the folder: it would be in the old one,
    which goes."""
    try:
        return Path.cwd().is_relative_to(out)
    except OSError:
        return False


def has_access_rules(out: Path) -> bool:
    """Whether access to the folder has rules of its own beside its mode, which new files take over."""
    try:
        return any(name.startswith("system.posix_acl") for name in os.listxattr(out))
    except (AttributeError, OSError):
        return False


def sync_new_folder(stage: Path, files: list[Path], folders: list[Path]) -> None:
    """Bring a new folder to the disk: in one step where the system has it, else file by file."""
    try:
        call = ctypes.CDLL(None, use_errno=True).syncfs
        handle = os.open(stage, os.O_RDONLY)
        try:
            if call(handle) == 0:
                return
            if ctypes.get_errno() in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(handle)
    except (AttributeError, TypeError):  # no such call here
        pass
    for path in files:
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    for folder in folders:
        sync_folder(folder)


def exchange_folders(a: Path, b: Path) -> bool:
    """Exchange two folders in one step; False where the system has no such step."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if call(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.EXDEV, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code))
