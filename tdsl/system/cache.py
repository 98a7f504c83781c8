"""The cache folder: private to the user, optional, and never a reason to fail."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

LARGEST = 32 << 20
"""Bytes of the largest entry that is kept."""
MOST_BYTES, MOST_ENTRIES = 256 << 20, 2000
"""What the entries of one kind may take together; those that were not used for the longest time go first."""

_unused: ContextVar[bool] = ContextVar("unused", default=False)


@contextmanager
def cache_disabled() -> Iterator[None]:
    """Read nothing from the cache and write nothing to it inside."""
    token = _unused.set(True)
    try:
        yield
    finally:
        _unused.reset(token)


def private_cache_folder() -> Path | None:
    """The folder in which tdsl may keep what it can make again; None if there is no safe, writable one.

    It is used only if it is a real folder of this user that nobody else can enter, since what is read from it
    is trusted.
    """
    path = None if _unused.get() else _cache_folder_wanted()
    return None if path is None else _private_folder(path)


def _private_folder(path: Path) -> Path | None:
    """A folder, made where there is none; None if it is not of this user alone, or cannot be written to."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = path.lstat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISDIR(facts.st_mode):
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o077):
        return None
    return path if os.access(path, os.W_OK | os.X_OK) else None


# ------------------------------------------------------------ entries


def read_cache_entry(kind: str, key: str, after_ns: int | None = None) -> bytes | None:
    """What is kept under a key (hexadecimal digits); None where there is nothing, or not all that was
    written. With ``after_ns`` also None where it was written by then (nanoseconds of the file system's
    clock)."""
    home = private_cache_folder()
    place = None if home is None else _private_folder(home / kind)
    if place is None:
        return None
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_CLOEXEC", 0)
        | getattr(os, "O_NONBLOCK", 0)
    )
    try:
        handle = os.open(place / key, flags | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(handle)
            if not _is_own_entry(facts) or (after_ns is not None and facts.st_mtime_ns <= after_ns):
                return None
            data = file.read(LARGEST + 66)
        digest, sign, body = data.partition(b"\n")
        if not sign or digest != _entry_checksum(key, body):
            return None
        if after_ns is None:
            with suppress(OSError):
                os.utime(place / key)  # it was used now
    except OSError:
        return None
    return body


def _is_own_entry(facts: os.stat_result) -> bool:
    """Whether a file is one of this user that no other may write to, and is not too large for an entry."""
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST + 65:
        return False
    return not hasattr(os, "getuid") or (facts.st_uid == os.getuid() and not facts.st_mode & 0o022)


def write_cache_entry(kind: str, key: str, body: bytes) -> None:
    """Keep bytes under a key, in the place of what is there; nothing is kept where that cannot be done.
    Others that read or write at the same time see the old or the new."""
    home = private_cache_folder() if len(body) <= LARGEST else None
    place = None if home is None else _private_folder(home / kind)
    if place is None:
        return
    beside = place / f"{key}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        flags = (
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
            file.write(_entry_checksum(key, body) + b"\n" + body)
        beside.replace(place / key)
        _trim_cache_folder(place)
    except OSError:
        pass
    finally:
        with suppress(OSError):
            beside.unlink()


def _entry_checksum(key: str, body: bytes) -> bytes:
    """The check sum of an entry, by which one that was cut, changed or moved to another key is known."""
    from hashlib import sha256

    return sha256(f"{key}\n".encode() + body).hexdigest().encode()


def _trim_cache_folder(place: Path) -> None:
    """Remove what is too much, and what others left half written, the oldest first."""
    with os.scandir(place) as found:
        held = sorted(
            (f.st_mtime_ns, e.name, f.st_size) for e in found for f in [e.stat(follow_symlinks=False)]
        )
    size = sum(s for _, _, s in held)
    for done, (_, name, taken) in enumerate(held):
        if size <= MOST_BYTES and len(held) - done <= MOST_ENTRIES:
            return
        with suppress(OSError):
            os.unlink(place / name)
        size -= taken


# ------------------------------------------------------------ files of other programs


def cached_text_file(name: str, text: str) -> Path | None:
    """A file of the folder with this text, for other programs to open; None where it cannot be written."""
    home = private_cache_folder()
    if home is None:
        return None
    path = home / name
    try:
        if path.is_symlink() or not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = remove_link_at(path.with_name(f"{path.name}.{os.getpid()}"))
            new.write_text(text, encoding="utf-8")
            new.replace(path)
    except (OSError, UnicodeDecodeError):
        return None
    return path


def remove_link_at(path: Path) -> Path:
    """A place in the folder, without the link that may stand there: what is written would go where it
    leads."""
    if path.is_symlink():
        path.unlink()
    return path


def _cache_folder_wanted() -> Path | None:
    own = os.environ.get("TDSL_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    if shared:
        return Path(shared) / "tdsl"
    try:
        return Path.home() / ".cache" / "tdsl"
    except RuntimeError:
        return None
