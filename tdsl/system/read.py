"""Files of users are read as regular files of a bounded size.

Everything that a design, a manifest or a setting names is read here: never a pipe or a device, and nothing
that a link outside the folders searched leads to. A snapshot stands in for a folder that is not on the disk,
such as a revision of a repository. What was read, and found or not found, can be recorded.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from tdsl.system.record import Question, Record, absolute_path, ask_and_record, record_disk_questions

LIMIT = 64 << 20
"""Bytes of a file that are read at most, where the caller does not say less."""
OPENED = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/\d+")
"""Names by which a caller hands over what it has open for reading."""

_snapshot: ContextVar[tuple[str, Mapping[str, bytes]] | None] = ContextVar("snapshot", default=None)
_confined: ContextVar[tuple[str, ...]] = ContextVar("confined", default=())
_designs: ContextVar[tuple[int, dict[str, int]] | None] = ContextVar("designs", default=None)
_inputs: ContextVar[set[str | tuple[int, int]] | None] = ContextVar("inputs", default=None)


class FileTooLarge(OSError):
    """A file of more bytes than are read of it."""

    def __init__(self, path: Path, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"it has {size:,} bytes; at most {limit:,} are read", str(path))
        self.size = size


# ------------------------------------------------------------ what stands in for the disk


@contextmanager
def serve_snapshot(root: Path, content: Mapping[str, bytes]) -> Iterator[None]:
    """Have every file below ``root`` be one of ``content``, by its path from there, and none on the disk."""
    token = _snapshot.set((absolute_path(root), content))
    try:
        yield
    finally:
        _snapshot.reset(token)


@contextmanager
def confine_reading(folder: Path, trusted: Sequence[Path]) -> Iterator[None]:
    """Refuse to read what lies neither below this folder, reached without a link, nor below those that are
    trusted."""
    token = _confined.set(tuple(os.path.realpath(f) for f in (folder, *trusted)))
    try:
        yield
    finally:
        _confined.reset(token)


@contextmanager
def bound_size_of_designs(most: int) -> Iterator[None]:
    """Limit the designs that are read inside to ``most`` bytes together."""
    token = _designs.set((most, {}))
    try:
        yield
    finally:
        _designs.reset(token)


def bound_exceeded_by_design(name: str, size: int) -> int:
    """Count the bytes of a design, once for each name and size; the bound in force where all together exceed
    it, else 0."""
    held = _designs.get()
    if held is None:
        return 0
    most, sizes = held
    sizes[f"{size} {name}"] = size
    return most if sum(sizes.values()) > most else 0


@contextmanager
def inputs_protected() -> Iterator[None]:
    """Refuse to write over what is read inside."""
    token = _inputs.set(set())
    try:
        yield
    finally:
        _inputs.reset(token)


def is_confined() -> bool:
    """Whether what is read is confined to some folders."""
    return bool(_confined.get())


def is_read_by_call(path: Path, facts: os.stat_result) -> bool:
    """Whether a file of which the system says this was read within ``inputs_protected``."""
    return not (_inputs.get() or set()).isdisjoint((os.path.realpath(path), (facts.st_dev, facts.st_ino)))


def disk_answers_unchanged(answers: Mapping[Question, str]) -> bool:
    """Whether the disk answers as it did; False for a question that is none."""
    asked: dict[str, Callable[[Path], object]] = {
        "is_file": is_file,
        "is_dir": is_dir,
        "names": folder_entries,
        "resolve": resolve_links,
    }
    for question, answer in answers.items():
        kind, path, limit, within = question
        now = Record()
        with record_disk_questions(now), suppress(OSError, ValueError):
            if kind == "read":
                read_regular_file(Path(path), limit, [Path(f) for f in within])
            elif kind in asked:
                asked[kind](Path(path))
        if now.answers.get(question) != answer:
            return False
    return True


def _snapshot_holding(path: Path) -> tuple[Mapping[str, bytes], str] | None:
    """The snapshot that answers for a path, and the path in it; None where the disk does."""
    held = _snapshot.get()
    if held is None:
        return None
    root, content = held
    plain = absolute_path(path)
    if plain == root:
        return content, ""
    return (content, plain[len(root) + 1 :].replace(os.sep, "/")) if plain.startswith(root + os.sep) else None


def resolve_links(path: Path) -> Path:
    """The path without links; in a snapshot there are none."""
    return (
        Path(absolute_path(path))
        if _snapshot_holding(path) is not None
        else ask_and_record("resolve", path, lambda: Path(os.path.realpath(path)))
    )


def is_file(path: Path) -> bool:
    """Whether there is a regular file, or a link to one."""
    held = _snapshot_holding(path)
    return (
        held[1] in held[0]
        if held is not None
        else ask_and_record("is_file", path, lambda: _path_question(path.is_file))
    )


def is_dir(path: Path) -> bool:
    """Whether there is a folder, or a link to one."""
    held = _snapshot_holding(path)
    if held is None:
        return ask_and_record("is_dir", path, lambda: _path_question(path.is_dir))
    return not held[1] or any(name.startswith(f"{held[1]}/") for name in held[0])


def _path_question(ask: Callable[[], bool]) -> bool:
    """The answer to a question about a path, which is no for a name that is longer than any file's."""
    try:
        return ask()
    except OSError as fault:
        if fault.errno != errno.ENAMETOOLONG:
            raise
        return False


def folder_entries(folder: Path) -> list[str]:
    """What a folder holds, in order; nothing where it cannot be read."""
    held = _snapshot_holding(folder)
    if held is None:
        return ask_and_record("names", folder, lambda: _sorted_entries(folder))
    above = f"{held[1]}/" if held[1] else ""
    return sorted({name[len(above) :].partition("/")[0] for name in held[0] if name.startswith(above)})


def _sorted_entries(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


# ------------------------------------------------------------ reading


Stamp = tuple[int, int, int]
"""Time of the last change in nanoseconds, size in bytes, number of the file: another one where a file was
written again."""


def file_stamp(path: Path) -> Stamp | None:
    """What changes when a file is written; None where there is none, or where a snapshot answers for the
    path."""
    if _snapshot_holding(path) is not None:
        return None
    try:
        return stamp_from_stat(os.stat(path))
    except OSError:
        return None


def stamp_from_stat(facts: os.stat_result) -> Stamp:
    """The stamp of a file of which the system says this."""
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def files_with_stamps(folder: str | Path, ending: str) -> Iterator[tuple[str, Stamp]]:
    """The files on the disk in a folder and those below it whose names end so, with their stamps; folders
    behind links are left out. Not for what a design names."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from files_with_stamps(entry.path, ending)
            elif entry.name.endswith(ending) and entry.is_file():
                yield entry.path, stamp_from_stat(entry.stat())


def stamp_counted_as_read(path: Path) -> Stamp | None:
    """The stamp of a file whose contents may be known from an earlier call: it counts as read. None where it
    is to be read."""
    found = None if is_confined() else file_stamp(path)
    inputs = _inputs.get()
    if found is not None and inputs is not None:
        facts = os.stat(path)
        inputs.update((os.path.realpath(path), (facts.st_dev, facts.st_ino)))
    return found


def is_below_folders(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a path, its links followed, lies in one of the folders."""
    real = resolve_links(path)
    return any(real.is_relative_to(resolve_links(f)) for f in folders)


def read_regular_file(path: Path, limit: int = LIMIT, within: Sequence[Path] = ()) -> bytes:
    """The bytes of a regular file. Raises OSError, whose ``strerror`` says why it is not read.

    A link may lead to a file of the same ending only, without an ending to one of the same name, and to none
    in ``.git``; where ``within`` is given, to one below those folders.
    """
    held = _snapshot_holding(path)
    if held is not None:
        if held[1] not in held[0]:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return held[0][held[1]]
    return ask_and_record("read", path, lambda: _read_from_disk(path, limit, within), limit, within)


def _read_from_disk(path: Path, limit: int, within: Sequence[Path]) -> bytes:
    real = os.path.realpath(path)
    if within and not is_below_folders(path, within):
        raise OSError(errno.EPERM, "it leads out of the folders that are searched", str(path))
    if not _link_keeps_kind(absolute_path(path), real):
        raise OSError(errno.EPERM, "it is a link to a file of another kind", str(path))
    _refuse_outside_confinement(path, real)
    _refuse_special_file(os.stat(real), path)
    inputs = _inputs.get()
    if inputs is not None:
        inputs.add(real)
    # Between the two looks it may have become something else: nothing here waits for the other end of a pipe.
    handle = os.open(
        real, os.O_RDONLY | open_flags("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW", "O_BINARY")
    )
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        _refuse_special_file(facts, path)
        if inputs is not None:  # another mount, or a hard link, is another way to the same file
            inputs.add((facts.st_dev, facts.st_ino))
        if facts.st_size > limit:
            raise FileTooLarge(path, facts.st_size, limit)
        data = file.read(facts.st_size + 1)  # Python makes room for all that is asked for
        if len(data) > facts.st_size:  # it has grown, or its size is not known
            data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        raise FileTooLarge(path, len(data), limit)
    return data


def _link_keeps_kind(path: str, real: str) -> bool:
    """Whether a link leads to what its name says: a file of the same ending, of the same name where there is
    no ending, and none of git's."""
    ending = os.path.splitext(path)[1]
    named = (
        os.path.splitext(real)[1] == ending if ending else os.path.basename(real) == os.path.basename(path)
    )
    gits = [p.casefold().split(os.sep).count(".git") for p in (path, real)]
    return named and gits[1] <= gits[0]


def read_argument_file(path: Path, limit: int = LIMIT) -> bytes:
    """The bytes of a file that a call names: a regular file, or what the caller has open, such as
    ``<(program)`` of a shell."""
    if not OPENED.fullmatch(os.fspath(path)):
        return read_regular_file(path, limit)
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise FileTooLarge(path, len(data), limit)
    return data


def read_text_file(
    path: Path, limit: int = LIMIT, within: Sequence[Path] = (), encoding: str = "utf-8"
) -> str:
    """The text of a regular file, with line ends as Python has them. Raises OSError and
    UnicodeDecodeError."""
    return read_regular_file(path, limit, within).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def _refuse_special_file(facts: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def _refuse_outside_confinement(path: Path, real: str) -> None:
    """Refuse what an untrusted call may not read."""
    folders = _confined.get()
    if not folders:
        return
    if not any(real == f or real.startswith(f + os.sep) for f in folders):
        raise OSError(errno.EPERM, "it is outside what an untrusted call may read", str(path))
    if absolute_path(path) != real and not any(real.startswith(f + os.sep) for f in folders[1:]):
        raise OSError(
            errno.ELOOP, "it is reached by a link, which an untrusted call does not follow", str(path)
        )


def open_flags(*wanted: str) -> int:
    """Flags of ``open`` that the system has."""
    out = 0
    for name in wanted:
        out |= getattr(os, name, 0)
    return out
