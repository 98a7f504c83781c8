"""What answers follow from besides what a call asks: tdsl's own programs, its library, Python and what is
installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tdsl.system import cache as cache_folder
from tdsl.system import resources

INSTALLED = (".dist-info", ".egg-info")
KIND = "version"
TICK_NS = 1_000_000_000
"""So much later than the last change of a file its contents were read: a change in the same tick of the clock
cannot be seen."""


def program_folders() -> list[Path]:
    """The folders of tdsl itself: its programs, the grammar and the library."""
    return [
        Path(__file__).resolve().parent.parent,
        resources.packaged_folder("grammar"),
        resources.packaged_folder("stdlib"),
    ]


@cache
def first_version() -> str:
    """The version when the process first asked for it: that of the programs which it runs."""
    return programs_digest()


def programs_digest() -> str:
    """A digest of the contents of these folders, and of Python and the distributions that are installed, by
    their versions.

    The contents are read again where the size, the times or the number of a file differ from those of the
    last call.
    """
    from hashlib import sha256

    stamps, newest, paths = sha256(), 0, []
    for folder in program_folders():
        for path, facts in _files_below(os.fspath(folder)):
            paths.append(path)
            newest = max(newest, facts.st_mtime_ns, facts.st_ctime_ns)
            stamp = (path, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
            stamps.update(repr(stamp).encode("utf-8", "backslashreplace"))
    known = cache_folder.read_cache_entry(KIND, stamps.hexdigest(), newest + TICK_NS)
    if known is None:
        known = _digest_of_files(paths)
        cache_folder.write_cache_entry(KIND, stamps.hexdigest(), known)
    machine = os.uname().machine if hasattr(os, "uname") else ""
    parts = [
        sys.version,
        sys.platform,
        machine,
        sys.prefix,
        repr(sys.flags),
        *sys.path,
        *_installed_distributions(),
    ]
    return sha256(known + repr(parts).encode("utf-8", "backslashreplace")).hexdigest()


def _digest_of_files(paths: list[str]) -> bytes:
    """A digest of files."""
    from hashlib import sha256

    whole = sha256()
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            whole.update(path.encode("utf-8", "backslashreplace") + b"\n" + sha256(file.read()).digest())
    return whole.hexdigest().encode()


def _files_below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files below a folder, in order; compiled Python is left out."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda e: e.name)
    for entry in entries:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files_below(entry.path)
        else:
            yield entry.path, entry.stat()


def _installed_distributions() -> Iterator[str]:
    """Distributions with their versions, as their folders are called."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield from sorted(name for name in names if name.endswith(INSTALLED))
