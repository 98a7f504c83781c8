"""Files of users are replaced in one step or not at all. Writing follows no link."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tdsl.system.read import is_read_by_call, open_flags
from tdsl.system.signals import exit_if_signalled, hold_signals
from tdsl.system.standard_output import output_descriptor

STREAM = re.compile(r"/dev/(?:stdout|stderr|fd/(\d+))")
"""Names by which a process knows what it has open; they are written to as they are."""
RULES = "system.posix_acl_access"
"""What Linux calls rules of access that a file has beside its mode."""


def _refuse_link_and_folder(path: Path, facts: os.stat_result) -> None:
    """Raise OSError for what is not written to."""
    if stat.S_ISLNK(facts.st_mode):
        raise OSError(
            errno.ELOOP,
            "it is a link, and links are not followed for writing; name the file itself",
            str(path),
        )
    if stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _refuse_protected_file(path: Path, facts: os.stat_result, rewrites: bool) -> None:
    """Raise OSError for a file that this call reads, unless it ``rewrites`` it, and for one that is
    read-only."""
    if not rewrites and is_read_by_call(path, facts):
        raise OSError(
            errno.EEXIST, "this call reads it, so it is not written over; name another file", str(path)
        )
    if not facts.st_mode & 0o222:
        raise PermissionError(
            errno.EACCES, "it is read-only; `chmod u+w` on it allows to write it", str(path)
        )


def replace_file(path: Path, data: bytes, was: bytes | None = None, rewrites: bool = False) -> None:
    """Have a file hold these bytes: written beside, brought to the disk, then renamed. Raises OSError; the
    old file is whole then.

    A link is refused, and so is a file without a right to write, and within ``inputs_protected`` one that was
    read, unless it ``rewrites`` it. ``was``: what the file held when the new bytes were made of it, b"" where
    there was none; refused where it holds something else now. A terminal or a pipe is written to. Where the
    folder may not be written to, or the file is a mount of its own, the room is taken first and the file
    overwritten.
    """
    stream = STREAM.fullmatch(os.fspath(path))
    if stream is not None:
        _write_all_bytes(output_descriptor(int(stream[1] or 1 + path.name.endswith("err"))), data)
        return
    try:
        facts = os.lstat(path)
    except FileNotFoundError:
        facts = None
    if facts is not None:
        _refuse_link_and_folder(path, facts)
        if not stat.S_ISREG(facts.st_mode):
            _overwrite_in_place(path, data, regular=False)
            return
        _refuse_protected_file(path, facts, rewrites or was is not None)
    mode = stat.S_IMODE(facts.st_mode) if facts is not None else 0o666 & ~_current_umask()
    with hold_signals():
        try:
            _replace_by_rename(path, data, mode, facts, was)
        except OSError as fault:
            in_place = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
            if facts is None or fault.errno not in in_place or not os.access(path, os.W_OK):
                raise
            _raise_if_changed(path, was)
            _overwrite_in_place(path, data, regular=True)


def _raise_if_changed(path: Path, was: bytes | None) -> None:
    """Raises OSError where a file does not hold what it held."""
    if was is None:
        return
    try:
        same = path.read_bytes() == was
    except FileNotFoundError:
        same = not was
    if not same:
        raise OSError(
            errno.ESTALE, "another program has changed it meanwhile, and it is left so; call again", str(path)
        )


@contextmanager
def folders_made_on_way(top: Path, inner: Path) -> Iterator[None]:
    """Make a folder and the ones inside it on the way to ``inner``, for what is written inside: where that
    cannot be, those that were made go again. Raises OSError, also where one of them is a link."""
    made: list[Path] = []
    try:
        for path in reversed((inner, *inner.parents)):
            if not os.path.lexists(path):
                with suppress(FileExistsError):
                    path.mkdir()
                    made.append(path)
            facts = os.lstat(path) if path.is_relative_to(top) else os.stat(path)
            if not stat.S_ISDIR(facts.st_mode):
                what = (
                    "a link, and links are not followed for writing"
                    if stat.S_ISLNK(facts.st_mode)
                    else "no folder"
                )
                raise OSError(errno.ENOTDIR, f"it is {what}", str(path))
        yield
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):  # it holds what was written before, or by others
                path.rmdir()
        raise


def _replace_by_rename(
    path: Path, data: bytes, mode: int, facts: os.stat_result | None, was: bytes | None
) -> None:
    folder = path.parent
    beside = folder / f".{path.name[:50]}.{unique_name_part()}.tmp"  # 255 bytes at most, whatever the letters
    try:
        handle = os.open(
            beside,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | open_flags("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY"),
            0o600,
        )
        try:
            _write_all_bytes(handle, data)
            if (
                facts is not None
                and hasattr(os, "fchown")
                and (facts.st_uid, facts.st_gid) != (os.geteuid(), os.getegid())
            ):
                for user in (
                    facts.st_uid,
                    -1,
                ):  # only root may give a file away; to a group of theirs others may, too
                    with suppress(OSError):
                        os.fchown(handle, user, facts.st_gid)
                        break
            rules = _access_rules(path)
            if hasattr(os, "fchmod"):
                os.fchmod(
                    handle, mode if rules is None else mode & ~0o070
                )  # which says what the rules allow at most
            if rules is not None:
                os.setxattr(handle, RULES, rules)
            os.fsync(handle)
        finally:
            os.close(handle)
        exit_if_signalled()
        _raise_if_changed(path, was)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    sync_folder(folder)


def _access_rules(path: Path) -> bytes | None:
    """The rules of access that a file has beside its mode; None where there are none."""
    try:
        return os.getxattr(path, RULES, follow_symlinks=False)
    except (AttributeError, OSError):
        return None


def _overwrite_in_place(path: Path, data: bytes, regular: bool) -> None:
    handle = os.open(path, os.O_WRONLY | open_flags("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY", "O_NOCTTY"))
    try:
        if regular and data and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, len(data))
        _write_all_bytes(handle, data)
        if regular:
            os.ftruncate(handle, len(data))
            os.fsync(handle)
    finally:
        os.close(handle)


def _write_all_bytes(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def sync_folder(folder: Path) -> None:
    """Bring a folder's entries to the disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:  # one may write into it, and not read it
        return
    try:
        os.fsync(handle)
    except OSError as fault:
        if fault.errno not in (
            errno.EINVAL,
            errno.ENOTSUP,
            errno.EACCES,
        ):  # a file system without such a step
            raise
    finally:
        os.close(handle)


def unique_name_part() -> str:
    """A part of a name that nobody else has: the names of two containers never meet."""
    return os.urandom(6).hex()


def _current_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
