"""Files of the standard library as they were parsed, so that an editor does not wait for them at every
key."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.system import resources
from tdsl.system.read import file_stamp

if TYPE_CHECKING:
    from tdsl.semantics.loader import Parsed

_held: dict[str, tuple[int, Parsed]] = {}


def parsed_library_files(overlay: Container[str]) -> Parsed:
    """What was parsed before, of files that are as they were; those of ``overlay`` are read from there."""
    out: Parsed = {}
    for key, (when, parsed) in list(_held.items()):  # others may keep theirs meanwhile
        if key not in overlay and _modification_time(key) == when:
            out |= parsed
    return out


def keep_parsed_library_files(parsed: Parsed, overlay: Container[str]) -> None:
    """Remember what was parsed, as far as it is the standard library's and on disk."""
    library = resources.packaged_folder("stdlib").resolve()
    for key, found in parsed.items():
        if key not in overlay and Path(key).is_relative_to(library):
            _held[key] = _modification_time(key), {key: found}


def _modification_time(key: str) -> int:
    stamp = file_stamp(Path(key))
    return -1 if stamp is None else stamp[0]
