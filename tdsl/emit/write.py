"""The output folder: written beside, then exchanged with what stood there, so that it is never half old and half new.

A folder is tdsl's if its manifest says so. What the manifest lists is replaced or, if it is no longer made, goes; all else in
the folder belongs to somebody else and is kept as it is. A lock that the kernel keeps lets one build at a time write there, also
those of other containers and hosts. A mount cannot be exchanged for another folder: there the files are exchanged one by one,
from a whole copy inside it that the next build finishes if this one is killed.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from threading import Event

from tdsl import files as disk
from tdsl.dataclass import dataclass
from tdsl.diagnostic import Diagnostics
from tdsl.emit.build import MANIFEST
from tdsl.emit.spool import Content, chunks_of, digest_of, whole

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
WAIT_S, TURN_S = 120, 0.02
"""How long another build of the same folder is waited for."""
PRIVATE = ".tdsl-"
"""How names begin that are tdsl's own for the time of a build."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A path of the output folder that is not as it would be built: ``missing``, ``differs`` or ``extra``."""

    path: str
    kind: str


class _NotOurs(Exception):
    """Why a folder is left alone."""


def plain(path: str) -> bool:
    """Whether the path of a file in an output folder leads to a place inside it, by its words alone, and can be its name."""
    parts = path.split("/")
    try:
        path.encode()
    except UnicodeEncodeError:  # half of a character of UTF-16
        return False
    return "\0" not in path and "\\" not in path and not any(p in ("", ".", "..") for p in parts)


class _Unfit(Exception):
    """Why what was written is not what was made."""


def compare(files: Mapping[str, Content], out: Path) -> list[Difference]:
    """How a folder differs from what would be built. Files that tdsl did not write are no difference."""
    found = []
    for path, content in files.items():
        kind = _differs(out, path, len(content), digest_of(content))
        found += [Difference(path, kind)] if kind else []
    try:
        earlier = _listed(out) if out.is_dir() else set()
    except _NotOurs:
        earlier = set()
    found += [Difference(path, "extra") for path in earlier - set(files) if (out / path).is_file()]
    return sorted(found, key=lambda d: d.path)


def _differs(out: Path, path: str, size: int, digest: str) -> str:
    """How a file differs from what is known of it, "" if it does not; a link, of it or of a folder on the way, does."""
    disk.may_end()
    there = out
    for part in PurePosixPath(path).parts:
        there /= part
        try:
            facts = os.lstat(there)
        except OSError:
            return "missing"
        if stat.S_ISLNK(facts.st_mode):
            return "differs"
    if not stat.S_ISREG(facts.st_mode) or facts.st_size != size:
        return "differs"
    with there.open("rb") as file:
        return "" if file_digest(file, "sha256").hexdigest() == digest else "differs"


def refusal(out: Path) -> str:
    """Why a folder is left alone, as the rest of a sentence about it; "" where there is none, and for an empty one or tdsl's."""
    try:
        if out.exists() and not out.is_dir():
            raise _NotOurs("is a file, not a folder")
        if out.exists():
            _listed(out)
    except _NotOurs as reason:
        return str(reason)
    return ""


def write(files: Mapping[str, Content], out: Path, diagnostics: Diagnostics) -> bool:
    """Make ``out`` hold these files; False, with a finding, if it may not or cannot."""
    try:
        if not all(map(plain, files)):
            raise _Unfit(f"{next(p for p in files if not plain(p))!r} leads out of it")
        out = _resolved(out)
        with disk.terminable():
            _write(files, out)
    except _NotOurs as reason:
        diagnostics.add(
            "E0508", None, f"{out} {reason}", help="choose another folder with --out, or move the existing files away"
        )
        return False
    except (OSError, _Unfit) as fault:
        why = (fault.strerror if isinstance(fault, OSError) else None) or fault
        diagnostics.add("E0509", None, f"{out} cannot be written: {why}")
        return False
    return True


def _write(files: Mapping[str, Content], out: Path) -> None:
    """Write under the lock of the folder: beside it where it can be exchanged, else inside it."""
    if _beside(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with _locked(out.with_name(f".{out.name}{PRIVATE}lock")) as alone:
            if alone:
                _recover(out)
            if not _settled(files, out):
                try:
                    _exchange(files, _foreign(out, files) if out.exists() else [], out)
                    return
                except OSError as fault:
                    if fault.errno != errno.EBUSY:  # a mount that looks like any other folder
                        raise
            else:
                return
    with _locked(out / f"{PRIVATE}lock") as alone:
        if alone:
            _recover_inside(out)
        if not _settled(files, out):
            _foreign(out, files)
            _exchange_inside(files, out)


def _settled(files: Mapping[str, Content], out: Path) -> bool:
    """Whether the folder holds the files already. Raises _NotOurs where it is none or somebody else's."""
    if not out.exists():
        return False
    if not out.is_dir():
        raise _NotOurs("is a file, not a folder")
    _listed(out)
    _want_same_part(files, out)
    return not compare(files, out)


def _want_same_part(files: Mapping[str, Content], out: Path) -> None:
    """Raises _NotOurs where a build of a part would take the place of that of the whole, or of another part: what it does not
    make would go."""
    mine, there = (_only(m) for m in (whole(files.get(MANIFEST, b"{}")), _bytes_of(out / MANIFEST)))
    if mine and there is not None and mine != there:
        what = f"is a build of the part {_quoted(there)}" if there else "is a build of the whole fabric"
        raise _NotOurs(f"{what}; a build of the part {_quoted(mine)} would remove what it does not make")


def _bytes_of(manifest: Path) -> bytes:
    try:
        return disk.read(manifest)
    except FileNotFoundError:
        return b""


def _only(manifest: bytes) -> list[str] | None:
    """The devices of which a manifest says that a part was built, empty for the whole; None without a manifest."""
    try:
        data = json.loads(manifest)
    except (ValueError, RecursionError):
        return None
    found = data.get("only") if isinstance(data, dict) else None
    return [str(p) for p in found] if isinstance(found, list) else []


def _quoted(patterns: list[str]) -> str:
    return " ".join(f"`{p}`" for p in patterns)


def _beside(out: Path) -> bool:
    """Whether another folder can be put in the place of this one: not if it is a mount, or its parent is not to be written to."""
    if not out.is_dir():
        return True
    return not os.path.ismount(out) and os.access(out.parent, os.W_OK | os.X_OK)


def _resolved(out: Path) -> Path:
    """The folder itself where ``out`` is a link to one, as an absolute path."""
    return Path(os.path.realpath(out))


def _listed(out: Path) -> set[str]:
    """Paths that the folder's manifest lists, itself included; empty for an empty folder."""
    if not any(not p.name.startswith(PRIVATE) and p.name != "lost+found" for p in out.iterdir()):
        return set()
    return _paths(out / MANIFEST)


def _paths(manifest: Path) -> set[str]:
    """Paths that a manifest lists, itself included."""
    try:
        data = json.loads(disk.read(manifest))
        paths = data["files"] if "tdsl" in data and "schema" in data else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        paths = None
    if not isinstance(paths, dict) or not all(map(plain, paths)):
        raise _NotOurs("is not empty, and nothing in it says that tdsl wrote it")
    return {*paths, MANIFEST}


def _foreign(out: Path, files: Mapping[str, Content]) -> list[str]:
    """What others put into the folder: files, links, and folders that hold nothing."""
    ours = _listed(out)
    kept = []
    for folder, folders, names in os.walk(out):
        here = Path(folder).relative_to(out)
        if str(here) == ".":
            folders[:] = [d for d in folders if not d.startswith(PRIVATE)]
            names = [n for n in names if not n.startswith(PRIVATE)]
        links = [d for d in folders if (out / here / d).is_symlink()]
        kept += [(here / n).as_posix() for n in (*names, *links)]
        if not names and not folders and str(here) != ".":
            kept.append(f"{here.as_posix()}/")
    kept = sorted(p for p in kept if p not in ours)
    folders_of_files = {parent.as_posix() for f in files for parent in Path(f).parents}
    for path in kept:
        if path in files or path in folders_of_files or any(p.as_posix() in files for p in Path(path).parents):
            raise _NotOurs(f"holds {path}, which tdsl did not write, in place of a file of the build")
    return kept


def _stage(files: Mapping[str, Content], stage: Path) -> None:
    """Write the files below a new folder, bring them to the disk, and see that they are there as they were made."""
    stage.mkdir()
    folders = {stage}
    for path, content in files.items():
        at = stage / path
        if at.parent not in folders:
            at.parent.mkdir(parents=True, exist_ok=True)
            folders |= {p for p in at.parents if p.is_relative_to(stage)}
        disk.may_end()
        with at.open("wb") as file:
            for block in chunks_of(content):
                disk.may_end()
                file.write(block)
    _sync(stage, [stage / path for path in files], sorted(folders))
    wrong = next((p for p, c in files.items() if _differs(stage, p, len(c), digest_of(c))), None)
    if wrong is not None:
        raise _Unfit(f"{wrong} does not hold what was written to it; the existing files are unchanged")


def _sync(stage: Path, files: list[Path], folders: list[Path]) -> None:
    """Bring a new folder to the disk: in one step where the system has it, else file by file."""
    try:
        call = ctypes.CDLL(None, use_errno=True).syncfs
        handle = os.open(stage, os.O_RDONLY)
        try:
            if call(handle) == 0:
                return
            if ctypes.get_errno() in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(handle)
    except (AttributeError, TypeError):  # no such call here
        pass
    for path in files:
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    for folder in folders:
        disk.sync(folder)


def _exchange(files: Mapping[str, Content], foreign: list[str], out: Path) -> None:
    """Write a sibling folder and swap it in. The old one is removed last: what it shares with the new one are links."""
    stage = _sibling(out, "new")
    try:
        _stage(files, stage)
        for path in foreign:
            _keep(out / path, stage / path, folder=path.endswith("/"))
        if not out.exists():
            stage.rename(out)
            disk.sync(out.parent)
            return
        shutil.copymode(out, stage)
        if not _swap(stage, out):
            old = _sibling(out, "old")
            out.rename(old)
            try:
                stage.rename(out)
            except OSError:
                old.rename(out)
                raise
            stage = old
        disk.sync(out.parent)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _exchange_inside(files: Mapping[str, Content], out: Path) -> None:
    """Write a whole copy inside the folder, say that it is ready by its name, and exchange file by file."""
    stage = out / f"{PRIVATE}new-{disk.token()}"
    ready = out / f"{PRIVATE}ready-{disk.token()}"
    try:
        _stage(files, stage)
        stage.rename(ready)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    disk.sync(out)
    _roll(ready, out)


def _roll(ready: Path, out: Path) -> None:
    """Bring a whole copy into the folder, its manifest last; one that was brought in part is finished."""
    if (ready / MANIFEST).exists():
        coming = _paths(ready / MANIFEST)
        for path in sorted(_listed(out) - coming, reverse=True):
            with suppress(OSError):
                _clear(out, path)
        for path in sorted(coming - {MANIFEST}):
            if _linked(ready, path) or _linked(out, path):  # somebody else put it there
                raise _NotOurs(f"holds a link in place of a folder of {path}")
            if (ready / path).exists():
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(ready / path, out / path)
        os.replace(ready / MANIFEST, out / MANIFEST)
        disk.sync(out)
    shutil.rmtree(ready, ignore_errors=True)


def _linked(out: Path, path: str) -> bool:
    """Whether a link stands for one of the folders on the way to a file."""
    return any((out / p).is_symlink() for p in PurePosixPath(path).parents if str(p) != ".")


def _clear(out: Path, path: str) -> None:
    """Remove a file that is made no more, and the folders that it leaves empty; never anything outside."""
    if not plain(path) or _linked(out, path):
        return
    way = [p for p in PurePosixPath(path).parents if str(p) != "."]
    (out / path).unlink()
    for parent in way:
        (out / parent).rmdir()


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
    """A name beside ``out`` that nobody else has, hidden."""
    return out.with_name(f".{out.name}{PRIVATE}{what}-{disk.token()}")


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
    """Clear away what a killed run left beside ``out``; if it was killed between two renames, put the old folder back.

    Whoever holds the lock is alone, so nothing of this kind belongs to a run that goes on."""
    begin = f".{out.name}{PRIVATE}"
    for name in disk.names(out.parent):
        left = out.with_name(name)
        if name.startswith((f"{begin}new-", f"{begin}old-")) and left.is_dir() and not left.is_symlink():
            if name.startswith(f"{begin}old-") and not out.exists():
                left.rename(out)
            else:
                shutil.rmtree(left, ignore_errors=True)


def _recover_inside(out: Path) -> None:
    """Finish what a killed run had ready inside ``out``, and clear away what it had not."""
    for name in disk.names(out):
        left = out / name
        if left.is_symlink() or not left.is_dir():
            continue
        if name.startswith(f"{PRIVATE}ready-"):
            _roll(left, out)
        elif name.startswith(f"{PRIVATE}new-"):
            shutil.rmtree(left, ignore_errors=True)


# ------------------------------------------------------------ the lock


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Hold a lock file; gives False where the file system keeps no locks. The kernel frees it when a run is killed."""
    handle = _acquire(path)
    try:
        yield handle >= 0
    finally:
        if handle >= 0:
            if sys.platform == "win32":  # an open file cannot be removed there, nor one that somebody waits for
                os.close(handle)
            with suppress(OSError):
                os.unlink(path)
            if sys.platform != "win32":
                os.close(handle)


def _acquire(path: Path) -> int:
    """An open file whose lock nobody else has and that has this name; -1 where there are no locks. Raises OSError."""
    turns = 0
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            if not _lock(handle):
                holder = os.pread(handle, 200, 0).decode(errors="replace").strip() if hasattr(os, "pread") else ""
                os.close(handle)
                turns += 1
                if turns > WAIT_S / TURN_S:
                    raise OSError(errno.EAGAIN, f"another build is writing there{holder and f' ({holder})'}; try again later")
                Event().wait(TURN_S)
                disk.may_end()
                continue
        except OSError as fault:
            if fault.errno == errno.EAGAIN:
                raise
            os.close(handle)
            with suppress(OSError):
                os.unlink(path)
            return -1
        ours = False
        with suppress(OSError):  # the one before us removes the file it held
            ours = os.path.samestat(os.fstat(handle), os.stat(path))
        if ours:
            with suppress(OSError):  # who holds it is a help to those who wait; a full disk has no room to say so
                os.truncate(handle, 0)
                os.write(handle, _self().encode())
            return handle
        os.close(handle)


def _lock(handle: int) -> bool:
    """Take the lock of an open file; False if somebody has it. Raises OSError where the file system has no locks."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        if fault.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
            return False
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as other:
            if other.errno in (errno.EACCES, errno.EAGAIN):
                return False
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)) from None
    return True


def _self() -> str:
    """Who holds a lock, for those who wait: process, host and the time the host began, by its own mark."""
    host = os.uname().nodename if hasattr(os, "uname") else ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except (OSError, UnicodeDecodeError):
        boot = ""
    return " ".join(filter(None, (f"process {os.getpid()}", host and f"on {host}", boot and f"boot {boot}")))
