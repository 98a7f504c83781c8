"""Whether an output folder holds what its manifest lists. The design is not needed, and nothing else of the folder is trusted."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from tdsl.dataclass import dataclass
from tdsl.emit.build import MANIFEST, SCHEMA
from tdsl.emit.signature import LARGEST as LARGEST_SIGNATURE
from tdsl.emit.signature import SIGNATURE
from tdsl.emit.write import PRIVATE, Difference

TRIES = 5
LARGEST = 1 << 28
"""Bytes of a manifest that are read at most."""
LARGEST_FILE = 1 << 33
"""Bytes of a file: a larger one is none of a build, and may be a hole without an end."""
CHUNK = 1 << 20


class NoManifest(Exception):
    """Why there is nothing to compare a folder with."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A folder held against its manifest: the design, its hash and the version of tdsl that it names, and the number of files.

    ``differences`` are ``missing`` or ``differs``; ``others`` are files that are not listed; ``manifest`` is the manifest itself,
    ``digest`` its hash, and ``signature`` what its signature file holds, b"" without one. ``only``: the devices of which a
    part was built, none for the whole fabric.
    """

    design: str
    identity: str
    version: str
    count: int
    differences: list[Difference]
    others: list[str]
    digest: str
    manifest: bytes
    signature: bytes
    only: tuple[str, ...] = ()


def examine(out: Path) -> Examined:
    """Compare every file with the manifest. A build that exchanges the folder meanwhile has it read once more. Raises NoManifest
    and OSError."""
    for _ in range(TRIES):
        with _opened(out) as (folder, facts):
            found = _examine(out, folder)
            if not found.differences and not found.others:
                return found
            with suppress(OSError):
                if os.path.samestat(facts, os.stat(out)):
                    return found
    return found


@contextmanager
def _opened(out: Path) -> Iterator[tuple[int, os.stat_result]]:
    """The folder, held open where the system can: what is exchanged for it then does not mix with it."""
    if os.open not in os.supports_dir_fd:
        yield -1, os.stat(out)
        return
    handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle, os.fstat(handle)
    finally:
        os.close(handle)


def _examine(out: Path, folder: int) -> Examined:
    try:
        head = _bytes(out, folder, MANIFEST, LARGEST)
    except FileNotFoundError:
        raise NoManifest(f"there is no {MANIFEST} in {out.as_posix()}: tdsl did not write this folder") from None
    try:
        data = json.loads(head)
        design, files, version = data["design"], data["files"], data["tdsl"]
        listed = {str(p): (int(f["size"]), str(f["sha256"])) for p, f in files.items()}
        known = data["schema"] == SCHEMA and all(re.fullmatch("[0-9a-f]{64}", digest) for _, digest in listed.values())
        name, identity = str(design["name"]), str(design["sha256"])
        only = tuple(map(str, data.get("only", ())))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known:
        raise NoManifest(f"{(out / MANIFEST).as_posix()} is not a manifest of schema {SCHEMA}")
    differences = [
        Difference(path, kind)
        for path, (size, digest) in sorted(listed.items())
        if (kind := _kind(out, folder, path, size, digest))
    ]
    signature = b""
    with suppress(OSError):
        signature = _bytes(out, folder, SIGNATURE, LARGEST_SIGNATURE)
    others = _others(out, folder, listed.keys())
    digest = sha256(head).hexdigest()
    return Examined(name, identity, str(version), len(listed), differences, others, digest, head, signature, only)


def _kind(out: Path, folder: int, path: str, size: int, digest: str) -> str:
    """How a file differs from what the manifest says, "" if it does not. A link is a difference, and so is a way upwards."""
    try:
        return "" if _digest(out, folder, path, size) == digest else "differs"
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "differs"


def _bytes(out: Path, folder: int, path: str, limit: int) -> bytes:
    """A regular file below the folder, reached without links and no larger than this."""
    with _file(out, folder, path) as (file, size):
        if size > limit:
            raise OSError("larger than what is read")
        return file.read(limit + 1)


def _digest(out: Path, folder: int, path: str, size: int) -> str:
    """The hash of such a file; "" if it is of another size."""
    with _file(out, folder, path) as (file, found):
        if found != size or size > LARGEST_FILE:
            return ""
        digest = sha256()
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size -= len(chunk)
            if size < 0:  # it grows
                return ""
        return digest.hexdigest()


@contextmanager
def _file(out: Path, folder: int, path: str) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file below the folder, reached without links, open, and its size. Raises OSError for anything else."""
    parts = PurePosixPath(path).parts
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts or "\0" in path:
        raise OSError("a way out of the folder")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    at, inner = folder, []
    try:
        if folder < 0:
            if any(out.joinpath(*parts[: i + 1]).is_symlink() for i in range(len(parts))):
                raise OSError("a link")
            inner.append(os.open(out / path, flags))
        else:
            for i, part in enumerate(parts):
                kind = os.O_DIRECTORY if i < len(parts) - 1 else 0
                at = os.open(part, flags | kind | os.O_CLOEXEC, dir_fd=at)
                inner.append(at)
        facts = os.fstat(inner[-1])
        if not stat.S_ISREG(facts.st_mode):
            raise OSError("no regular file")
        with os.fdopen(os.dup(inner[-1]), "rb") as file:
            yield file, facts.st_size
    finally:
        for handle in inner:
            os.close(handle)


def _others(out: Path, folder: int, listed: Collection[str]) -> list[str]:
    """Files that the manifest does not list; tdsl's own for the time of a build are left out."""
    found = []
    walk = ((Path(at), names, files) for at, names, files, _ in os.fwalk(".", dir_fd=folder)) if folder >= 0 else _walk(out)
    for at, names, files in walk:
        if at == Path("."):
            names[:] = [n for n in names if not n.startswith(PRIVATE)]
            files = [n for n in files if not n.startswith(PRIVATE)]
        found += [path for n in files if (path := (at / n).as_posix()) not in listed and path not in (MANIFEST, SIGNATURE)]
    return sorted(found)


def _walk(out: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    for at, names, files in os.walk(out):
        yield Path(at).relative_to(out), names, files
