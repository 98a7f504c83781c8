"""``tdsl check --hook``: the designs that a change is about, as a hook of pre-commit gives its files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tdsl.commands._everywhere import print_unless_quiet
from tdsl.commands._shared import Wrong

MOST_FILES = 1 << 16
DECLARES = re.compile(r"^[ \t]*(fabric|cluster|model|topology|def)\b", re.MULTILINE)
USES = re.compile(r"^[ \t]*+use[ \t]++((?:\w++\.)*+(\w++))", re.MULTILINE)


def designs_of_change(changed: Sequence[str]) -> list[str]:
    """The ``.fab`` files among those that changed, and the designs of the current folder that may use one of
    them, or a table, a lock or settings among them; hidden folders are left out.

    Files that no design uses are named on stderr. Raises Wrong where a name leads out of the folder.
    """
    from tdsl.changes.revision import designs_in_revision, designs_touched_by

    top = Path.cwd()
    held = _design_files_below(top)
    names = [_name_below(top, name) for name in changed]
    touched = designs_touched_by(designs_in_revision(held), held, set(names))
    touched |= _designs_that_use_what_is_gone(designs_in_revision(held), held)
    out = [
        name
        for name in dict.fromkeys(names)
        if name in held and not _is_checked_by_its_users(name, held, touched)
    ]
    out += sorted(touched - set(out))
    unused = [
        n for n in names if n not in held and not designs_touched_by(designs_in_revision(held), held, {n})
    ]
    for name in unused:
        print_unless_quiet(f"{name}: no design of this folder uses it, so nothing is checked for it")
    return out


def _is_checked_by_its_users(name: str, held: dict[str, bytes], touched: set[str]) -> bool:
    """Whether a file has neither fabric nor model of its own, such as one of constants, and a design uses
    it: then that is what checks it."""
    text = held[name].decode("utf-8", "replace")
    return DECLARES.search(text) is None and bool(touched - {name})


def _designs_that_use_what_is_gone(designs: Sequence[str], held: dict[str, bytes]) -> set[str]:
    """Designs that use a file which neither this folder nor the library has: a change that renames or takes
    away a file names it no more. What they use through other files is followed."""
    from tdsl.changes.revision import designs_touched_by
    from tdsl.system.resources import packaged_folder

    stems = {Path(name).stem for name in held}
    used = {name: USES.findall(data.decode("utf-8", "replace")) for name, data in held.items()}
    library = {p.name for p in packaged_folder("stdlib").iterdir()}
    wanting = {
        name
        for name, uses in used.items()
        if any(last not in stems and path.split(".")[0] not in library for path, last in uses)
    }
    return {d for d in designs if d in wanting} | designs_touched_by(designs, held, wanting)


def _design_files_below(top: Path) -> dict[str, bytes]:
    """All ``.fab`` files below a folder by their path from there. One that cannot be read is empty: the
    compiler says why where it is used."""
    from tdsl.system.read import read_regular_file

    out: dict[str, bytes] = {}
    for folder, inner, files in os.walk(top):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".fab"):
                path = Path(folder) / name
                try:
                    out[path.relative_to(top).as_posix()] = read_regular_file(path, within=[top])
                except OSError:
                    out[path.relative_to(top).as_posix()] = b""
        if len(out) > MOST_FILES:
            raise Wrong(
                f"{top}: more than {MOST_FILES:,} .fab files; call --hook in the folder of the designs"
            )
    return out


def _name_below(top: Path, name: str) -> str:
    """The path of a file from a folder in which it must be. Raises Wrong."""
    path = Path(os.path.abspath(name))
    for base in (top, top.resolve()):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    raise Wrong(f"{name}: --hook takes files of the current folder")
