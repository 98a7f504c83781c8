"""The output folder: written beside, then exchanged with what stood there, so that it is never half old and half new.

A folder is tdsl's if its manifest says so. What the manifest lists is replaced or, if it is no longer made, goes; all else in
the folder belongs to somebody else and is kept as it is.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tdsl.diagnostic import Diagnostics
from tdsl.emit.build import MANIFEST

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@dataclass(frozen=True, slots=True)
class Difference:
    """A path of the output folder that is not as it would be built: ``missing``, ``differs`` or ``extra``."""

    path: str
    kind: str


class _NotOurs(Exception):
    """Why a folder is left alone."""


def compare(files: Mapping[str, bytes], out: Path) -> list[Difference]:
    """How a folder differs from what would be built. Files that tdsl did not write are no difference."""
    found = []
    for path, content in files.items():
        there = out / path
        if not there.is_file():
            found.append(Difference(path, "missing"))
        elif there.stat().st_size != len(content) or sha256(there.read_bytes()).digest() != sha256(content).digest():
            found.append(Difference(path, "differs"))
    try:
        earlier = _listed(out) if out.is_dir() else set()
    except _NotOurs:
        earlier = set()
    found += [Difference(path, "extra") for path in earlier - set(files) if (out / path).is_file()]
    return sorted(found, key=lambda d: d.path)


def write(files: Mapping[str, bytes], out: Path, diagnostics: Diagnostics) -> bool:
    """Make ``out`` hold these files; False, with a finding, if it may not or cannot."""
    try:
        out = _resolved(out)
        _recover(out)
        exists = out.exists()
        if exists and not out.is_dir():
            raise _NotOurs("is a file, not a folder")
        foreign = _foreign(out, files) if exists else []
        if exists and not compare(files, out):
            return True
        _exchange(files, foreign, out)
    except _NotOurs as reason:
        diagnostics.add("E0508", None, f"{out} {reason}", help="choose another folder with --out, or move away what stands there")
        return False
    except OSError as fault:
        diagnostics.add("E0509", None, f"{out} cannot be written: {fault.strerror or fault}")
        return False
    return True


def _resolved(out: Path) -> Path:
    """The folder itself where ``out`` is a link to one, as an absolute path."""
    return Path(os.path.realpath(out))


def _listed(out: Path) -> set[str]:
    """Paths that the folder's manifest lists, itself included; empty for an empty folder."""
    if not any(out.iterdir()):
        return set()
    try:
        data = json.loads((out / MANIFEST).read_bytes())
        paths = data["files"] if "tdsl" in data and "schema" in data else None
    except (OSError, ValueError, KeyError, TypeError):
        paths = None
    if not isinstance(paths, dict):
        raise _NotOurs("is not empty, and nothing in it says that tdsl wrote it")
    return {*paths, MANIFEST}


def _foreign(out: Path, files: Mapping[str, bytes]) -> list[str]:
    """What others put into the folder: files, links, and folders that hold nothing."""
    ours = _listed(out)
    kept = []
    for folder, folders, names in os.walk(out):
        here = Path(folder).relative_to(out)
        links = [d for d in folders if (out / here / d).is_symlink()]
        kept += [(here / n).as_posix() for n in (*names, *links)]
        if not names and not folders and str(here) != ".":
            kept.append(f"{here.as_posix()}/")
    kept = sorted(p for p in kept if p not in ours)
    folders_of_files = {parent.as_posix() for f in files for parent in Path(f).parents}
    for path in kept:
        if path in files or path in folders_of_files or any(p.as_posix() in files for p in Path(path).parents):
            raise _NotOurs(f"holds {path}, which tdsl did not write, where a file of the build belongs")
    return kept


def _exchange(files: Mapping[str, bytes], foreign: list[str], out: Path) -> None:
    """Write a sibling folder and swap it in. The old one is removed last: what it shares with the new one are links."""
    out.parent.mkdir(parents=True, exist_ok=True)
    stage = _sibling(out, "new")
    stage.mkdir()
    try:
        for path, content in files.items():
            at = stage / path
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(content)
        for path in foreign:
            _keep(out / path, stage / path, folder=path.endswith("/"))
        if not out.exists():
            stage.rename(out)
            return
        shutil.copymode(out, stage)
        if not _swap(stage, out):
            old = _sibling(out, "old")
            out.rename(old)
            stage.rename(out)
            stage = old
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _keep(source: Path, there: Path, folder: bool) -> None:
    """Bring somebody's file along: the same file where links can be made, else a copy."""
    if folder:
        there.mkdir(parents=True, exist_ok=True)
        return
    there.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, there, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, there, follow_symlinks=False)


def _sibling(out: Path, what: str) -> Path:
    """A name beside ``out`` for this process, hidden."""
    return out.with_name(f".{out.name}.tdsl-{what}-{os.getpid()}")


def _swap(a: Path, b: Path) -> bool:
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


def _recover(out: Path) -> None:
    """Clear away what a killed run left beside ``out``; if it was killed between two renames, put the old folder back."""
    for left in sorted(out.parent.glob(f".{_literal(out.name)}.tdsl-*-*")) if out.parent.is_dir() else ():
        pid = left.name.rpartition("-")[2]
        if pid.isdigit() and left.is_dir() and not _runs(int(pid)):
            if "-old-" in left.name and not out.exists():
                left.rename(out)
            else:
                shutil.rmtree(left, ignore_errors=True)


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
