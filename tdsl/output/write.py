"""The output folder: written beside, then exchanged with what stood there, so that it is never half old and half new.

A folder is tdsl's if its manifest says so. What the manifest lists is replaced or, if it is no longer made, goes; all else in
the folder belongs to somebody else and is kept as it is, what comes or changes during the build, too. A lock that the kernel
keeps lets one build at a time write there, also those of other containers and hosts. What cannot be exchanged for another
folder, such as a mount, or one that holds folders of others, stays where it is: there the files are exchanged one by one, from a
whole copy inside it that the next build finishes if this one is killed.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from tdsl.emit.build import MANIFEST
from tdsl.findings.diagnostic import Diagnostics
from tdsl.output.folder_lock import locked, locked_folder
from tdsl.output.folders import has_rules, is_current, mounts, swap, sync, writable
from tdsl.output.own_names import PRIVATE, hidden, own, sibling
from tdsl.system import files as disk
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.spool import Content, chunks_of, digest_of, whole

LARGEST_MANIFEST = 1 << 28
"""Bytes of a manifest that are read at most."""


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
        at = fault.filename if isinstance(fault, OSError) and fault.filename not in (None, str(out)) else ""
        diagnostics.add("E0509", None, f"{out} cannot be written: {why}{at and f' ({at})'}")
        return False
    return True


def _write(files: Mapping[str, Content], out: Path) -> None:
    """Write under the locks of the folder: one beside it, one of the folder itself for those who may not write beside it, and one
    inside where files are exchanged there."""
    with ExitStack() as held:
        if not out.exists():
            held.enter_context(disk.folders(out, out.parent))
        if out.name and (not out.exists() or writable(out.parent)):
            alone = held.enter_context(locked(hidden(out, "lock")))
            if alone:
                _recover(out)
        reason = refusal(out)
        if reason:
            raise _NotOurs(reason)
        inside = False
        if out.exists():
            held.enter_context(locked_folder(out))
            inside = not _exchangeable(out, []) or any(map(own, disk.names(out)))
        if inside and held.enter_context(locked(out / f"{PRIVATE}lock")):
            _recover_inside(out)
        if _settled(files, out):
            return
        foreign = _foreign(out, files) if out.exists() else []
        if _exchangeable(out, foreign) and _exchange(files, foreign, out):
            return
        _want_no_mount(files, out)
        if not inside:
            held.enter_context(locked(out / f"{PRIVATE}lock"))
        _exchange_inside(files, out)


def _settled(files: Mapping[str, Content], out: Path) -> bool:
    """Whether the folder holds the files already. Raises _NotOurs where it holds a build of something else."""
    if not out.exists():
        return False
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
        return disk.read(manifest, LARGEST_MANIFEST)
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


def _exchangeable(out: Path, foreign: list[str]) -> bool:
    """Whether another folder can be put in the place of this one, and nobody sees a difference but in tdsl's files."""
    if not out.exists():
        return True
    mine = {PurePosixPath("."), *(parent for path in _listed(out) for parent in PurePosixPath(path).parents)}
    return (
        bool(out.name)
        and writable(out.parent)
        and not mounts(out)
        and not any(p.endswith("/") or PurePosixPath(p).parent not in mine for p in foreign)  # a folder of others
        and not is_current(out)
        and not any(has_rules(out / folder) for folder in mine)
    )


def _want_no_mount(files: Mapping[str, Content], out: Path) -> None:
    """Raises _Unfit where something is mounted in the place of a file of the build, or of a folder on the way to one."""
    paths = {*files, *_known(out)}
    ours = paths | {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}
    for place in mounts(out):
        if place != "." and place in ours:
            raise _Unfit(
                f"{place} in it is a mount of its own, whose files cannot be exchanged with the others; mount {out} instead"
            )


def _resolved(out: Path) -> Path:
    """The folder itself where ``out`` is a link to one, as an absolute path."""
    return Path(os.path.realpath(out))


def _listed(out: Path) -> set[str]:
    """Paths that the folder's manifest lists, itself included; empty for an empty folder. Of a first build that was killed while
    files were exchanged one by one those of its copy."""
    if not any(not own(p.name) and p.name != "lost+found" for p in out.iterdir()):
        return set()
    if not os.path.lexists(out / MANIFEST):
        for ready in sorted(p for p in out.glob(f"{PRIVATE}ready-*/{MANIFEST}") if own(p.parent.name)):
            coming = _paths(ready)
            parents = {f"{parent}/" for path in coming for parent in PurePosixPath(path).parents}
            if coming | parents >= set(_contents(out)):
                return coming
    return _paths(out / MANIFEST)


def _contents(out: Path) -> list[str]:
    """What a folder holds, tdsl's own for the time of a build left out: files, links, and folders, which end in `/`, that hold
    nothing or cannot be read."""
    found = []

    def unread(fault: OSError) -> None:
        found.append(f"{Path(fault.filename).relative_to(out).as_posix()}/")

    for folder, folders, names in os.walk(out, onerror=unread):
        here = Path(folder).relative_to(out)
        if str(here) == ".":
            folders[:] = [d for d in folders if not own(d) and d != "lost+found"]
            names = [n for n in names if not own(n)]
        links = [d for d in folders if (out / here / d).is_symlink()]
        found += [(here / n).as_posix() for n in (*names, *links)]
        if not names and not folders and str(here) != ".":
            found.append(f"{here.as_posix()}/")
    return sorted(found)


def _paths(manifest: Path) -> set[str]:
    """Paths that a manifest lists, itself included."""
    try:
        data = json.loads(disk.read(manifest, LARGEST_MANIFEST))
        paths = data["files"] if "tdsl" in data and "schema" in data else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        paths = None
    if not isinstance(paths, dict) or not all(map(plain, paths)):
        raise _NotOurs("is not empty, and nothing in it says that tdsl wrote it")
    return {*paths, MANIFEST}


def _foreign(out: Path, files: Mapping[str, Content]) -> list[str]:
    """What others put into the folder. Raises _NotOurs where it is in the place of a file of the build."""
    ours = _listed(out)
    kept = [path for path in _contents(out) if path not in ours]
    folders_of_files = {parent.as_posix() for f in files for parent in Path(f).parents}
    for path in kept:
        inside = any(p.as_posix() in files for p in Path(path).parents)
        if path.rstrip("/") in files or path in folders_of_files or inside:
            raise _NotOurs(f"holds {path}, which tdsl did not write, in place of a file of the build")
    return kept


def _stage(files: Mapping[str, Content], stage: Path, like: Path | None = None) -> None:
    """Write the files below a new folder, its manifest last, bring them to the disk, and see that they are there as made. Where
    the folder that it is ``like`` gives its group to what is made in it, so does the new one."""
    stage.mkdir(0o777 if like is None else 0o700)
    facts = os.stat(like) if like is not None else None
    if facts is not None and facts.st_mode & stat.S_ISGID and hasattr(os, "chown"):
        with suppress(OSError):  # a group of others: where the folder cannot have it, the folders are not exchanged
            os.chown(stage, -1, facts.st_gid)
            stage.chmod(0o2700)
    folders = {stage}
    for path, content in sorted(files.items(), key=lambda file: file[0] == MANIFEST):
        at = stage / path
        if at.parent not in folders:
            at.parent.mkdir(parents=True, exist_ok=True)
            folders |= {p for p in at.parents if p.is_relative_to(stage)}
        disk.may_end()
        with at.open("wb") as file:
            for block in chunks_of(content):
                disk.may_end()
                file.write(block)
    sync(stage, [stage / path for path in files], sorted(folders))
    wrong = next((p for p, c in files.items() if _differs(stage, p, len(c), digest_of(c))), None)
    if wrong is not None:
        raise _Unfit(f"{wrong} does not hold what was written to it; the existing files are unchanged")


def _exchange(files: Mapping[str, Content], foreign: list[str], out: Path) -> bool:
    """Write a sibling folder and exchange the two; False, and nothing is changed, if that cannot be done here."""
    stage, old = sibling(out, "new"), None
    brought: dict[str, tuple[int, int]] = {}
    try:
        if not out.exists():
            _stage(files, stage)
            stage.rename(out)
            disk.sync(out.parent)
            return True
        _stage(files, stage, out)
        _foreign(out, files)  # what came meanwhile may be in the place of a file
        if not _bring_along(foreign, out, stage, brought):
            return False
        old = _exchanged(stage, out)
    finally:
        if old is None:
            shutil.rmtree(stage, ignore_errors=True)
    if old is not None:
        try:
            disk.sync(out.parent)
        finally:
            _retire(old, out, brought)
    return old is not None


def _exchanged(stage: Path, out: Path) -> Path | None:
    """Where the old folder is once the new one is in its place; None where they cannot be exchanged. Raises OSError."""
    try:
        if swap(stage, out):
            return stage
        old = sibling(out, "old")
        out.rename(old)
        try:
            stage.rename(out)
        except OSError:
            old.rename(out)
            raise
        return old
    except OSError as fault:
        if fault.errno in (errno.EBUSY, errno.EXDEV):  # a mount that looks like any other folder; a lower layer of an overlay
            return None
        raise


def _bring_along(foreign: list[str], out: Path, stage: Path, brought: dict[str, tuple[int, int]]) -> bool:
    """Give a new folder the files of others, the same ones, and to its folders the owners and modes that they have; False where
    that cannot be done. ``brought`` gets the device and inode of each file."""
    try:
        for path in foreign:
            (stage / path).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # gone by now
                os.link(out / path, stage / path, follow_symlinks=False)
                facts = os.lstat(stage / path)
                brought[path] = facts.st_dev, facts.st_ino
        for folder, _, _ in os.walk(stage):
            there = out / Path(folder).relative_to(stage)
            if not there.is_dir():
                continue
            facts, own = os.stat(there), os.stat(folder)
            if hasattr(os, "chown") and (facts.st_uid, facts.st_gid) != (own.st_uid, own.st_gid):
                os.chown(folder, facts.st_uid, facts.st_gid)
            shutil.copymode(there, folder)
    except (OSError, NotImplementedError):
        return False
    return True


def _retire(old: Path, out: Path, brought: Mapping[str, tuple[int, int]] = MappingProxyType({})) -> None:
    """Remove a folder that was exchanged, or a whole one that was not. What others put into it or changed in it meanwhile is
    brought to ``out``; what cannot be brought stays. ``brought``: which files of others the new folder was given."""
    ours, now = _known(old), _known(out)
    mine = {parent.as_posix() for path in ours | now for parent in PurePosixPath(path).parents}
    emptied = []
    for folder, folders, names in os.walk(old):
        here = Path(folder)
        inner = here.relative_to(old)
        emptied.append(here)
        if not writable(here):
            with suppress(OSError):
                here.chmod(0o700)
        for name in [*folders, *names]:
            path = (inner / name).as_posix()
            if str(inner) == "." and own(name):
                _discard(here / name)
            elif path == MANIFEST or (path in mine and not (here / name).is_symlink()):
                continue
            elif path in ours or path in now:
                _discard(here / name)
            else:
                _rescue(here / name, out, path, brought.get(path))
        folders[:] = [name for name in folders if (inner / name).as_posix() in mine]
    for here in reversed(emptied):
        if here == old and len(os.listdir(old)) == 1:  # it says what is tdsl's for as long as there is something
            _discard(old / MANIFEST)
        with suppress(OSError):
            here.rmdir()
            continue
        if here == old and not os.path.lexists(old / MANIFEST):  # something of others came between these two steps
            for name in disk.names(old):
                _rescue(old / name, out, name)
            with suppress(OSError):
                old.rmdir()


def _known(out: Path) -> set[str]:
    """Paths that a folder's manifest lists; empty without one."""
    try:
        return _listed(out)
    except (_NotOurs, OSError):
        return set()


def _discard(path: Path) -> None:
    """Remove something of tdsl's."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _rescue(source: Path, out: Path, path: str, brought: tuple[int, int] | None = None) -> None:
    """Bring something of others from an old folder to the one in its place, where an earlier state of it may be: the one that was
    ``brought`` there, or else the older one. A file that somebody moves there keeps its time."""
    there = out / path
    with suppress(OSError):
        if not out.is_dir() or _linked(out, path):
            return
        if not os.path.lexists(there):
            there.parent.mkdir(parents=True, exist_ok=True)
            source.rename(there)
        elif not source.is_dir() or source.is_symlink():
            was, now = os.lstat(source), os.lstat(there)
            here, its = ((facts.st_dev, facts.st_ino) for facts in (was, now))
            if here not in (its, brought) and (its == brought or was.st_mtime_ns > now.st_mtime_ns):
                os.replace(source, there)
            else:
                source.unlink()


def _exchange_inside(files: Mapping[str, Content], out: Path) -> None:
    """Write a whole copy inside the folder, say that it is ready by its name, and exchange file by file."""
    stage = out / f"{PRIVATE}new-{disk.token()}"
    ready = out / f"{PRIVATE}ready-{disk.token()}"
    try:
        _stage(files, stage)
        _foreign(out, files)  # what came meanwhile may be in the place of a file
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


def _recover(out: Path) -> None:
    """Clear away what a killed run left beside ``out``; if it was killed between two renames, put the old folder back.

    Whoever holds the lock is alone, so nothing of this kind belongs to a run that goes on."""
    new, old = hidden(out, "new-").name, hidden(out, "old-").name
    for name in disk.names(out.parent):
        left = out.with_name(name)
        ours = name.startswith((new, old)) and re.fullmatch("[0-9a-f]{12}", name[-12:]) and len(name) == len(new) + 12
        if not ours or not left.is_dir() or left.is_symlink():
            continue
        if name.startswith(old) and not out.exists():
            left.rename(out)
        elif name.startswith(old) or _known(left):  # its manifest was written last, whole: what it does not list is of others
            _retire(left, out)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _recover_inside(out: Path) -> None:
    """Finish what a killed run had ready inside ``out``, and clear away what it had not."""
    for name in disk.names(out):
        left = out / name
        if left.is_symlink() or not left.is_dir():
            continue
        if own(name) and name.startswith(f"{PRIVATE}ready-"):
            _roll(left, out)
        elif own(name) and name.startswith(f"{PRIVATE}new-"):
            shutil.rmtree(left, ignore_errors=True)
