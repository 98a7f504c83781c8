"""Files of users: read as regular files of a bounded size, and replaced in one step or not at all.

Everything that a design, a manifest or a setting names is read here: never a pipe or a device, and nothing
that a link outside the folders searched leads to. Writing follows no link. A snapshot stands in for a folder
that is not on the disk, such as a revision of a repository. What was read, and found or not found, can be
recorded, and later compared with the disk.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.standard_output import output_descriptor

T = TypeVar("T")
LIMIT = 64 << 20
"""Bytes of a file that are read at most, where the caller does not say less."""
STREAM = re.compile(r"/dev/(?:stdout|stderr|fd/(\d+))")
"""Names by which a process knows what it has open; they are written to as they are."""
OPENED = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/\d+")
"""Names by which a caller hands over what it has open for reading."""

RULES = "system.posix_acl_access"
"""What Linux calls rules of access that a file has beside its mode."""

_snapshot: ContextVar[tuple[str, Mapping[str, bytes]] | None] = ContextVar("snapshot", default=None)
_confined: ContextVar[tuple[str, ...]] = ContextVar("confined", default=())
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
    token = _snapshot.set((_absolute_path(root), content))
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


# ------------------------------------------------------------ what was read


Question = tuple[str, str, int, tuple[str, ...]]
"""What was asked of the disk: a function of this module by its name, the path, and the limit and folders that
``read`` takes."""


@dataclass(slots=True)
class Record:
    """What was asked of the disk, and its answers: digests of what was read. What lies below the folders
    ``apart`` is left out. ``lasting`` is False where one question had two answers."""

    apart: tuple[str, ...] = ()
    answers: dict[Question, str] = field(default_factory=dict)
    lasting: bool = True

    def note(self, question: Question, answer: str) -> None:
        """Keep an answer."""
        place = _absolute_path(Path(question[1]))
        if not any(place == f or place.startswith(f + os.sep) for f in self.apart):
            self.lasting = self.lasting and self.answers.setdefault(question, answer) == answer


_record: ContextVar[Record | None] = ContextVar("record", default=None)


@contextmanager
def record_disk_questions(record: Record) -> Iterator[None]:
    """Record what is asked of the disk inside; a record that is being made outside has it, too."""
    outer = _record.get()
    token = _record.set(record)
    try:
        yield
    finally:
        _record.reset(token)
        if outer is not None:
            outer.lasting = outer.lasting and record.lasting
            for question, answer in record.answers.items():
                outer.note(question, answer)


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


def _ask_and_record(
    kind: str, path: Path, ask: Callable[[], T], limit: int = 0, within: Sequence[Path] = ()
) -> T:
    """The answer of the disk to a question, which is recorded where that is wanted."""
    record = _record.get()
    if record is None:
        return ask()
    question = kind, os.fspath(path), limit, tuple(map(os.fspath, within))
    try:
        found = ask()
    except OSError as fault:
        record.note(question, f"{type(fault).__name__} {fault.errno} {fault.strerror}")
        raise
    from hashlib import sha256

    data = found if isinstance(found, bytes) else repr(found).encode("utf-8", "backslashreplace")
    record.note(question, sha256(data).hexdigest())
    return found


def _absolute_path(path: Path) -> str:
    """An absolute path without ``.`` and ``..``, links not followed."""
    return os.path.abspath(path)


def _snapshot_holding(path: Path) -> tuple[Mapping[str, bytes], str] | None:
    """The snapshot that answers for a path, and the path in it; None where the disk does."""
    held = _snapshot.get()
    if held is None:
        return None
    root, content = held
    plain = _absolute_path(path)
    if plain == root:
        return content, ""
    return (content, plain[len(root) + 1 :].replace(os.sep, "/")) if plain.startswith(root + os.sep) else None


def resolve_links(path: Path) -> Path:
    """The path without links; in a snapshot there are none."""
    return (
        Path(_absolute_path(path))
        if _snapshot_holding(path) is not None
        else _ask_and_record("resolve", path, lambda: Path(os.path.realpath(path)))
    )


def is_file(path: Path) -> bool:
    """Whether there is a regular file, or a link to one."""
    held = _snapshot_holding(path)
    return (
        held[1] in held[0]
        if held is not None
        else _ask_and_record("is_file", path, lambda: _path_question(path.is_file))
    )


def is_dir(path: Path) -> bool:
    """Whether there is a folder, or a link to one."""
    held = _snapshot_holding(path)
    if held is None:
        return _ask_and_record("is_dir", path, lambda: _path_question(path.is_dir))
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
        return _ask_and_record("names", folder, lambda: _sorted_entries(folder))
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
    return _ask_and_record("read", path, lambda: _read_from_disk(path, limit, within), limit, within)


def _read_from_disk(path: Path, limit: int, within: Sequence[Path]) -> bytes:
    real = os.path.realpath(path)
    if within and not is_below_folders(path, within):
        raise OSError(errno.EPERM, "it leads out of the folders that are searched", str(path))
    if not _link_keeps_kind(_absolute_path(path), real):
        raise OSError(errno.EPERM, "it is a link to a file of another kind", str(path))
    _refuse_outside_confinement(path, real)
    _refuse_special_file(os.stat(real), path)
    inputs = _inputs.get()
    if inputs is not None:
        inputs.add(real)
    # Between the two looks it may have become something else: nothing here waits for the other end of a pipe.
    handle = os.open(
        real, os.O_RDONLY | _open_flags("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW", "O_BINARY")
    )
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        _refuse_special_file(facts, path)
        if inputs is not None:  # another mount, or a hard link, is another way to the same file
            inputs.add((facts.st_dev, facts.st_ino))
        if facts.st_size > limit:
            raise FileTooLarge(path, facts.st_size, limit)
        data = file.read(limit + 1)
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
    if _absolute_path(path) != real and not any(real.startswith(f + os.sep) for f in folders[1:]):
        raise OSError(
            errno.ELOOP, "it is reached by a link, which an untrusted call does not follow", str(path)
        )


def _open_flags(*wanted: str) -> int:
    """Flags of ``open`` that the system has."""
    out = 0
    for name in wanted:
        out |= getattr(os, name, 0)
    return out


# ------------------------------------------------------------ writing


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
        if stat.S_ISLNK(facts.st_mode):
            raise OSError(
                errno.ELOOP,
                "it is a link, and links are not followed for writing; name the file itself",
                str(path),
            )
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(facts.st_mode):
            _overwrite_in_place(path, data, regular=False)
            return
        its_names = os.path.realpath(path), (facts.st_dev, facts.st_ino)
        if not rewrites and was is None and not (_inputs.get() or set()).isdisjoint(its_names):
            raise OSError(
                errno.EEXIST, "this call reads it, so it is not written over; name another file", str(path)
            )
        if not facts.st_mode & 0o222:
            raise PermissionError(
                errno.EACCES, "it is read-only; `chmod u+w` on it allows to write it", str(path)
            )
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
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | _open_flags("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY"),
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
    handle = os.open(path, os.O_WRONLY | _open_flags("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY", "O_NOCTTY"))
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


class Ended(BaseException):
    """The process was asked to end, and nothing is half written now."""


@dataclass(slots=True)
class _Signals:
    """The signal that asked the process to end, 0 where none did."""

    waiting: int = 0
    held: bool = False

    def note(self, number: int, frame: FrameType | None = None) -> None:
        """Remember it: what is being written ends at its next step, not between any two instructions."""
        self.waiting = number


_signals = _Signals()


def exit_if_signalled() -> None:
    """Raise Ended if the process was asked to end: a step of ``terminable`` work after which all can be
    cleared away."""
    if _signals.waiting:
        raise Ended


def _handler_ends_process(handler: Any) -> bool:
    """Whether a handler of a signal ends the process, by itself or by an exception that nobody catches;
    ``ends`` says it."""
    return handler in (signal.SIG_DFL, signal.default_int_handler) or getattr(handler, "ends", False)


def are_signals_held() -> bool:
    """Whether signals wait for ``exit_if_signalled``."""
    return _signals.held


@contextmanager
def hold_signals() -> Iterator[None]:
    """Have SIGTERM, SIGHUP and Ctrl-C wait for ``exit_if_signalled`` or for the end of the work, and then end
    the process as they would have. In a thread other than the main one they are left as they are."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)]
    numbers = [n for n in numbers if _handler_ends_process(signal.getsignal(n))]
    before: dict[int, Any] = {}
    with suppress(ValueError):  # not the main thread
        for number in numbers:
            before[number] = signal.signal(number, _signals.note)
    _signals.held = _signals.held or bool(before)
    try:
        yield
    except Ended:
        if not before:  # inside another one, which ends the process
            raise
    finally:
        if before:
            _signals.held = False
        for number, handler in before.items():
            signal.signal(number, handler)
        if before and _signals.waiting:
            number, _signals.waiting = _signals.waiting, 0
            if sys.platform == "win32" and number != signal.SIGINT:
                raise SystemExit(128 + number)
            signal.raise_signal(number)
