"""Whether an output folder holds what its manifest lists. The design is not needed, and nothing else of the
folder is trusted."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeVar

from tdsl.emit.build import MANIFEST, SCHEMA
from tdsl.output.own_names import is_build_name
from tdsl.output.signature import LARGEST as LARGEST_SIGNATURE
from tdsl.output.signature import SIGNATURE
from tdsl.output.write import LARGEST_MANIFEST, Difference, is_plain_output_path
from tdsl.system.lazy_dataclass import dataclass

TRIES = 5
LARGEST_FILE = 1 << 33
"""Bytes of a file: a larger one is none of a build, and may be a hole without an end."""
CHUNK = 1 << 20
T = TypeVar("T")


class NoManifest(Exception):
    """Why there is nothing to compare a folder with."""


SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Faults of this process or machine, which say nothing of a file."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A folder held against its manifest: the design, its hash and the version of tdsl that it names, and the
    number of files.

    ``differences`` are ``missing`` or ``differs``; ``others`` are files that are not listed; ``manifest`` is
    the manifest itself, ``digest`` its hash, and ``signature`` what its signature file holds, b"" without
    one. ``only``: the devices of which a part was built, none for the whole fabric.
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


def folders_with_manifest(out: Path, private: bool = False) -> tuple[list[Path], list[str]]:
    """The folders that have manifests: ``out`` itself, or else those in it, one for each fabric; then what
    lies beside them in ``out``, names of tdsl's own for the time of a build only with ``private``. A link to
    a folder is none. Raises OSError."""
    if os.path.lexists(out / MANIFEST):
        return [out], []
    names = [
        (name, inner) for name, inner in _names_in_folder(out, -1, "") if private or not is_build_name(name)
    ]
    inner = [
        n for n, folder in names if folder and not is_build_name(n) and os.path.lexists(out / n / MANIFEST)
    ]
    if not inner:
        return [out], []
    return [out / name for name in sorted(inner)], sorted(
        f"{n}/" if folder else n for n, folder in names if n not in inner
    )


def examine_output(out: Path, private: bool = False) -> Examined:
    """Compare every file with the manifest. A build that exchanges the folder meanwhile has it read once
    more. With ``private`` names that are tdsl's own for the time of a build count as others: anybody can give
    them. Raises NoManifest and OSError."""
    for _ in range(TRIES):
        with _open_output_folder(out) as (folder, facts):
            found = _examine_opened_folder(out, folder, private)
            if not found.differences and not found.others:
                return found
            with suppress(OSError):
                if os.path.samestat(facts, os.stat(out)):
                    return found
    return found


@contextmanager
def _open_output_folder(out: Path) -> Iterator[tuple[int, os.stat_result]]:
    """The folder, held open where the system can: what is exchanged for it then does not mix with it."""
    if os.open not in os.supports_dir_fd:
        yield -1, os.stat(out)
        return
    handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle, os.fstat(handle)
    finally:
        os.close(handle)


def _examine_opened_folder(out: Path, folder: int, private: bool) -> Examined:
    try:
        head = _read_small_file(out, folder, MANIFEST, LARGEST_MANIFEST)
    except FileNotFoundError:
        raise NoManifest(
            f"there is no {MANIFEST} in {out.as_posix()}: tdsl did not write this folder"
        ) from None
    try:
        manifest = _parse_manifest(head)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NoManifest(f"{(out / MANIFEST).as_posix()} is not a manifest of schema {SCHEMA}") from None
    listed = manifest.files
    differences = [
        Difference(path, kind)
        for path, (size, digest) in sorted(listed.items())
        if (kind := _difference_of_file(out, folder, path, size, digest))
    ]
    signature = b""
    with suppress(OSError):
        signature = _read_small_file(out, folder, SIGNATURE, LARGEST_SIGNATURE)
    others = _unlisted_files(out, folder, listed.keys(), private)
    digest = sha256(head).hexdigest()
    m = manifest
    return Examined(
        m.design, m.identity, m.version, len(listed), differences, others, digest, head, signature, m.only
    )


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What a manifest says; ``files`` are sizes and hashes by path."""

    design: str
    identity: str
    version: str
    files: dict[str, tuple[int, str]]
    only: tuple[str, ...]


def _parse_manifest(head: bytes) -> _Manifest:
    """A manifest as `tdsl build` writes it: UTF-8, and no key twice, of which each reader would take another.
    Raises ValueError, KeyError, TypeError, AttributeError and RecursionError for anything else."""
    data = json.loads(head.decode("utf-8"), object_pairs_hook=_object_without_repeated_keys)
    if data["schema"] != SCHEMA or type(data["schema"]) is not int:
        raise ValueError("another schema")
    files = {
        path: (_value_of_type(int, f["size"]), _value_of_type(str, f["sha256"]))
        for path, f in data["files"].items()
    }
    if not all(re.fullmatch("[0-9a-f]{64}", digest) for _, digest in files.values()):
        raise ValueError("not a hash")
    name, identity, version = (
        _value_of_type(str, x) for x in (data["design"]["name"], data["design"]["sha256"], data["tdsl"])
    )
    return _Manifest(
        name,
        identity,
        version,
        files,
        tuple(_value_of_type(str, x) for x in _value_of_type(list, data.get("only", []))),
    )


def _object_without_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _value_of_type(kind: type[T], value: object) -> T:
    if type(value) is not kind:
        raise TypeError(f"it is no {kind.__name__}")
    return value


def _difference_of_file(out: Path, folder: int, path: str, size: int, digest: str) -> str:
    """How a file differs from what the manifest says, "" if it does not. A link is a difference, and so is a
    way upwards."""
    try:
        return "" if _hash_of_file(out, folder, path, size) == digest else "differs"
    except FileNotFoundError:
        return "missing"
    except OSError as fault:
        if fault.errno in SCARCE:
            raise
        return "differs"


def _read_small_file(out: Path, folder: int, path: str, limit: int) -> bytes:
    """A regular file below the folder, reached without links and no larger than this."""
    with _open_regular_file(out, folder, path) as (file, size):
        if size > limit:
            raise OSError("larger than what is read")
        return file.read(limit + 1)


def _hash_of_file(out: Path, folder: int, path: str, size: int) -> str:
    """The hash of such a file; "" if it is of another size."""
    with _open_regular_file(out, folder, path) as (file, found):
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
def _open_regular_file(out: Path, folder: int, path: str) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file below the folder, reached without links, open, and its size. Raises OSError for anything
    else."""
    if not is_plain_output_path(path):
        raise OSError("a way out of the folder, or another name for a file of it")
    parts = PurePosixPath(path).parts
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
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


def _unlisted_files(out: Path, folder: int, listed: Collection[str], private: bool) -> list[str]:
    """Files and links that the manifest does not list, and folders that cannot be read, which may hold some;
    tdsl's own for the time of a build only with ``private``."""
    found, left = [], [""]
    while left:
        at = left.pop()
        try:
            names = _names_in_folder(out, folder, at)
        except OSError as fault:
            if fault.errno in SCARCE:
                raise
            found.append(f"{at}/")
            continue
        for name, inner in names:
            path = f"{at}/{name}" if at else name
            if not at and not private and is_build_name(name):
                continue
            if inner:
                left.append(path)
            elif path not in listed and path not in (MANIFEST, SIGNATURE):
                found.append(path)
    return sorted(found)


def _names_in_folder(out: Path, folder: int, at: str) -> list[tuple[str, bool]]:
    """The names in a folder, and whether each is a folder itself; a link to one is none. Raises OSError."""
    if folder < 0:
        with os.scandir(out / at) as entries:
            return [(e.name, e.is_dir(follow_symlinks=False)) for e in entries]
    handle = os.open(at or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        with os.scandir(handle) as entries:
            return [(e.name, e.is_dir(follow_symlinks=False)) for e in entries]
    finally:
        os.close(handle)
