"""The output folder: written beside, then exchanged with what stood there, so that it is never half old and
half new.

A folder is tdsl's if its manifest says so. What the manifest lists is replaced or, if it is no longer made,
goes; all else in the folder belongs to somebody else and is kept as it is, what comes or changes during the
build, too. A lock that the kernel keeps lets one build at a time write there, also those of other containers
and hosts. What cannot be exchanged for another folder, such as a mount, or one that holds folders of others,
stays where it is: there the files are exchanged one by one, from a whole copy inside it that the next build
finishes if this one is killed.
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
from tdsl.output.folder_lock import hold_folder_lock, hold_lock_file
from tdsl.output.folders import (
    exchange_folders,
    has_access_rules,
    is_working_folder,
    is_writable_folder,
    mounts_below,
    sync_new_folder,
)
from tdsl.output.own_names import PRIVATE, hidden_sibling_path, is_build_name, unique_sibling_path
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import folder_entries, read_regular_file
from tdsl.system.replace import folders_made_on_way, sync_folder, unique_name_part
from tdsl.system.signals import exit_if_signalled, hold_signals
from tdsl.system.spool import Content, chunks_of_content, content_in_memory, digest_of_content

LARGEST_MANIFEST = 1 << 28
"""Bytes of a manifest that are read at most."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A path of the output folder that is not as it would be built: ``missing``, ``differs`` or ``extra``."""

    path: str
    kind: str


class _NotOurs(Exception):
    """Why a folder is left alone."""


def is_plain_output_path(path: str) -> bool:
    """Whether the path of a file in an output folder leads to a place inside it, by its words alone, and can
    be its name."""
    parts = path.split("/")
    try:
        path.encode()
    except UnicodeEncodeError:  # half of a character of UTF-16
        return False
    return "\0" not in path and "\\" not in path and not any(p in ("", ".", "..") for p in parts)


class _OutputUnfit(Exception):
    """Why what was written is not what was made."""


def compare_output_folder(files: Mapping[str, Content], out: Path) -> list[Difference]:
    """How a folder differs from what would be built. Files that tdsl did not write are no difference."""
    found = []
    for path, content in files.items():
        kind = _how_file_differs(out, path, len(content), digest_of_content(content))
        found += [Difference(path, kind)] if kind else []
    try:
        earlier = _listed_paths_of_folder(out) if out.is_dir() else set()
    except _NotOurs:
        earlier = set()
    found += [Difference(path, "extra") for path in earlier - set(files) if (out / path).is_file()]
    return sorted(found, key=lambda d: d.path)


def _how_file_differs(out: Path, path: str, size: int, digest: str) -> str:
    """How a file differs from what is known of it, "" if it does not; a link, of it or of a folder on the
    way, does."""
    exit_if_signalled()
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


def why_folder_is_refused(out: Path) -> str:
    """Why a folder is left alone, as the rest of a sentence about it; "" where there is none, and for an
    empty one or tdsl's."""
    try:
        if out.exists() and not out.is_dir():
            raise _NotOurs("is a file, not a folder")
        if out.exists():
            _listed_paths_of_folder(out)
    except _NotOurs as reason:
        return str(reason)
    return ""


def write_output_folder(files: Mapping[str, Content], out: Path, diagnostics: Diagnostics) -> bool:
    """Make ``out`` hold these files; False, with a finding, if it may not or cannot."""
    try:
        if not all(map(is_plain_output_path, files)):
            raise _OutputUnfit(f"{next(p for p in files if not is_plain_output_path(p))!r} leads out of it")
        out = _resolved_output_path(out)
        with hold_signals():
            _write_under_locks(files, out)
    except _NotOurs as reason:
        diagnostics.add(
            "E0508",
            None,
            f"{out} {reason}",
            help="choose another folder with --out, or move the existing files away",
        )
        return False
    except (OSError, _OutputUnfit) as fault:
        why = (fault.strerror if isinstance(fault, OSError) else None) or fault
        at = fault.filename if isinstance(fault, OSError) and fault.filename not in (None, str(out)) else ""
        diagnostics.add("E0509", None, f"{out} cannot be written: {why}{at and f' ({at})'}")
        return False
    return True


def _write_under_locks(files: Mapping[str, Content], out: Path) -> None:
    """Write under the locks of the folder: one beside it, one of the folder itself for those who may not
    write beside it, and one inside where files are exchanged there."""
    with ExitStack() as held:
        inside = _take_locks(held, out)
        if _folder_holds_files(files, out):
            return
        foreign = _files_of_others(out, files) if out.exists() else []
        if _can_exchange_folder(out, foreign) and _exchange_with_sibling(files, foreign, out):
            return
        _refuse_mounted_path(files, out)
        if not inside:
            held.enter_context(hold_lock_file(out / f"{PRIVATE}lock"))
        _exchange_inside(files, out)


def _take_locks(held: ExitStack, out: Path) -> bool:
    """Take the locks of a folder, and finish what a killed run has left there; whether files are exchanged
    inside it. Raises _NotOurs."""
    if not out.exists():
        held.enter_context(folders_made_on_way(out, out.parent))
    if out.name and (not out.exists() or is_writable_folder(out.parent)):
        alone = held.enter_context(hold_lock_file(hidden_sibling_path(out, "lock")))
        if alone:
            _recover_killed_run(out)
    reason = why_folder_is_refused(out)
    if reason:
        raise _NotOurs(reason)
    inside = False
    if out.exists():
        held.enter_context(hold_folder_lock(out))
        inside = not _can_exchange_folder(out, []) or any(map(is_build_name, folder_entries(out)))
    if inside and held.enter_context(hold_lock_file(out / f"{PRIVATE}lock")):
        _recover_inside(out)
    return inside


def _folder_holds_files(files: Mapping[str, Content], out: Path) -> bool:
    """Whether the folder holds the files already. Raises _NotOurs where it holds a build of something
    else."""
    if not out.exists():
        return False
    _refuse_other_part(files, out)
    return not compare_output_folder(files, out)


def _refuse_other_part(files: Mapping[str, Content], out: Path) -> None:
    """Raises _NotOurs where a build of a part would take the place of that of the whole, or of another part:
    what it does not make would go."""
    mine, there = (
        _devices_of_partial_build(m)
        for m in (content_in_memory(files.get(MANIFEST, b"{}")), _manifest_bytes_or_empty(out / MANIFEST))
    )
    if mine and there is not None and mine != there:
        what = (
            f"is a build of the part {_quoted_patterns(there)}" if there else "is a build of the whole fabric"
        )
        raise _NotOurs(
            f"{what}; a build of the part {_quoted_patterns(mine)} would remove what it does not make"
        )


def _manifest_bytes_or_empty(manifest: Path) -> bytes:
    try:
        return read_regular_file(manifest, LARGEST_MANIFEST)
    except FileNotFoundError:
        return b""


def _devices_of_partial_build(manifest: bytes) -> list[str] | None:
    """The devices of which a manifest says that a part was built, empty for the whole; None without a
    manifest."""
    try:
        data = json.loads(manifest)
    except (ValueError, RecursionError):
        return None
    found = data.get("only") if isinstance(data, dict) else None
    return [str(p) for p in found] if isinstance(found, list) else []


def _quoted_patterns(patterns: list[str]) -> str:
    return " ".join(f"`{p}`" for p in patterns)


def _can_exchange_folder(out: Path, foreign: list[str]) -> bool:
    """Whether another folder can be put in the place of this one, and nobody sees a difference but in tdsl's
    files."""
    if not out.exists():
        return True
    mine = {
        PurePosixPath("."),
        *(parent for path in _listed_paths_of_folder(out) for parent in PurePosixPath(path).parents),
    }
    return (
        bool(out.name)
        and is_writable_folder(out.parent)
        and not mounts_below(out)
        and not any(
            p.endswith("/") or PurePosixPath(p).parent not in mine for p in foreign
        )  # a folder of others
        and not is_working_folder(out)
        and not any(has_access_rules(out / folder) for folder in mine)
    )


def _refuse_mounted_path(files: Mapping[str, Content], out: Path) -> None:
    """Raises _Unfit where something is mounted in the place of a file of the build, or of a folder on the way
    to one."""
    paths = {*files, *_listed_paths_if_any(out)}
    ours = paths | {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}
    for place in mounts_below(out):
        if place != "." and place in ours:
            raise _OutputUnfit(
                f"{place} in it is a mount of its own, whose files cannot be exchanged with the others; "
                f"mount {out} instead"
            )


def _resolved_output_path(out: Path) -> Path:
    """The folder itself where ``out`` is a link to one, as an absolute path."""
    return Path(os.path.realpath(out))


def _listed_paths_of_folder(out: Path) -> set[str]:
    """Paths that the folder's manifest lists, itself included; empty for an empty folder. Of a first build
    that was killed while files were exchanged one by one those of its copy."""
    if not any(not is_build_name(p.name) and p.name != "lost+found" for p in out.iterdir()):
        return set()
    if not os.path.lexists(out / MANIFEST):
        for ready in sorted(
            p for p in out.glob(f"{PRIVATE}ready-*/{MANIFEST}") if is_build_name(p.parent.name)
        ):
            coming = _paths_in_manifest(ready)
            parents = {f"{parent}/" for path in coming for parent in PurePosixPath(path).parents}
            if coming | parents >= set(_paths_in_folder(out)):
                return coming
    return _paths_in_manifest(out / MANIFEST)


def _paths_in_folder(out: Path) -> list[str]:
    """What a folder holds, tdsl's own for the time of a build left out: files, links, and folders, which end
    in `/`, that hold nothing or cannot be read."""
    found = []

    def unread(fault: OSError) -> None:
        found.append(f"{Path(fault.filename).relative_to(out).as_posix()}/")

    for folder, folders, names in os.walk(out, onerror=unread):
        here = Path(folder).relative_to(out)
        if str(here) == ".":
            folders[:] = [d for d in folders if not is_build_name(d) and d != "lost+found"]
            names = [n for n in names if not is_build_name(n)]
        links = [d for d in folders if (out / here / d).is_symlink()]
        found += [(here / n).as_posix() for n in (*names, *links)]
        if not names and not folders and str(here) != ".":
            found.append(f"{here.as_posix()}/")
    return sorted(found)


def _paths_in_manifest(manifest: Path) -> set[str]:
    """Paths that a manifest lists, itself included."""
    try:
        data = json.loads(read_regular_file(manifest, LARGEST_MANIFEST))
        paths = data["files"] if "tdsl" in data and "schema" in data else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        paths = None
    if not isinstance(paths, dict) or not all(map(is_plain_output_path, paths)):
        raise _NotOurs("is not empty, and nothing in it says that tdsl wrote it")
    return {*paths, MANIFEST}


def _files_of_others(out: Path, files: Mapping[str, Content]) -> list[str]:
    """What others put into the folder. Raises _NotOurs where it is in the place of a file of the build."""
    ours = _listed_paths_of_folder(out)
    kept = [path for path in _paths_in_folder(out) if path not in ours]
    folders_of_files = {parent.as_posix() for f in files for parent in Path(f).parents}
    for path in kept:
        inside = any(p.as_posix() in files for p in Path(path).parents)
        if path.rstrip("/") in files or path in folders_of_files or inside:
            raise _NotOurs(f"holds {path}, which tdsl did not write, in place of a file of the build")
    return kept


def _write_staged_folder(files: Mapping[str, Content], stage: Path, like: Path | None = None) -> None:
    """Write the files below a new folder, its manifest last, bring them to the disk, and see that they are
    there as made. Where the folder that it is ``like`` gives its group to what is made in it, so does the new
    one."""
    stage.mkdir(0o777 if like is None else 0o700)
    facts = os.stat(like) if like is not None else None
    if facts is not None and facts.st_mode & stat.S_ISGID and hasattr(os, "chown"):
        with suppress(
            OSError
        ):  # a group of others: where the folder cannot have it, the folders are not exchanged
            os.chown(stage, -1, facts.st_gid)
            stage.chmod(0o2700)
    folders = {stage}
    for path, content in sorted(files.items(), key=lambda file: file[0] == MANIFEST):
        at = stage / path
        if at.parent not in folders:
            at.parent.mkdir(parents=True, exist_ok=True)
            folders |= {p for p in at.parents if p.is_relative_to(stage)}
        exit_if_signalled()
        with at.open("wb") as file:
            for block in chunks_of_content(content):
                exit_if_signalled()
                file.write(block)
    sync_new_folder(stage, [stage / path for path in files], sorted(folders))
    wrong = next(
        (p for p, c in files.items() if _how_file_differs(stage, p, len(c), digest_of_content(c))), None
    )
    if wrong is not None:
        raise _OutputUnfit(f"{wrong} does not hold what was written to it; the existing files are unchanged")


def _exchange_with_sibling(files: Mapping[str, Content], foreign: list[str], out: Path) -> bool:
    """Write a sibling folder and exchange the two; False, and nothing is changed, if that cannot be done
    here."""
    stage, old = unique_sibling_path(out, "new"), None
    brought: dict[str, tuple[int, int]] = {}
    try:
        if not out.exists():
            _write_staged_folder(files, stage)
            stage.rename(out)
            sync_folder(out.parent)
            return True
        _write_staged_folder(files, stage, out)
        _files_of_others(out, files)  # what came meanwhile may be in the place of a file
        if not _bring_files_of_others(foreign, out, stage, brought):
            return False
        old = _exchange_staged_folder(stage, out)
    finally:
        if old is None:
            shutil.rmtree(stage, ignore_errors=True)
    if old is not None:
        try:
            sync_folder(out.parent)
        finally:
            _retire_old_folder(old, out, brought)
    return old is not None


def _exchange_staged_folder(stage: Path, out: Path) -> Path | None:
    """Where the old folder is once the new one is in its place; None where they cannot be exchanged. Raises
    OSError."""
    try:
        if exchange_folders(stage, out):
            return stage
        old = unique_sibling_path(out, "old")
        out.rename(old)
        try:
            stage.rename(out)
        except OSError:
            old.rename(out)
            raise
        return old
    except OSError as fault:
        if fault.errno in (
            errno.EBUSY,
            errno.EXDEV,
        ):  # a mount that looks like any other folder; a lower layer of an overlay
            return None
        raise


def _bring_files_of_others(
    foreign: list[str], out: Path, stage: Path, brought: dict[str, tuple[int, int]]
) -> bool:
    """Give a new folder the files of others, the same ones, and to its folders the owners and modes that they
    have; False where that cannot be done. ``brought`` gets the device and inode of each file."""
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


def _retire_old_folder(
    old: Path, out: Path, brought: Mapping[str, tuple[int, int]] = MappingProxyType({})
) -> None:
    """Remove a folder that was exchanged, or a whole one that was not. What others put into it or changed in
    it meanwhile is brought to ``out``; what cannot be brought stays. ``brought``: which files of others the
    new folder was given."""
    ours = _listed_paths_if_any(old) | _listed_paths_if_any(out)
    mine = {parent.as_posix() for path in ours for parent in PurePosixPath(path).parents}
    emptied = []
    for folder, folders, names in os.walk(old):
        here = Path(folder)
        inner = here.relative_to(old)
        emptied.append(here)
        if not is_writable_folder(here):
            with suppress(OSError):
                here.chmod(0o700)
        _clear_old_entries(here, inner, [*folders, *names], out, ours, mine, brought)
        folders[:] = [name for name in folders if (inner / name).as_posix() in mine]
    for here in reversed(emptied):
        if (
            here == old and len(os.listdir(old)) == 1
        ):  # it says what is tdsl's for as long as there is something
            _discard_own_path(old / MANIFEST)
        with suppress(OSError):
            here.rmdir()
            continue
        if here == old and not os.path.lexists(
            old / MANIFEST
        ):  # something of others came between these two steps
            for name in folder_entries(old):
                _rescue_file_of_others(old / name, out, name)
            with suppress(OSError):
                old.rmdir()


def _clear_old_entries(
    here: Path,
    inner: Path,
    names: list[str],
    out: Path,
    ours: set[str],
    parents: set[str],
    brought: Mapping[str, tuple[int, int]],
) -> None:
    """Remove entries of a folder ``here`` that was exchanged, and bring those of others to ``out``. ``inner``
    is its path in the old folder, ``ours`` the paths that the old or the new manifest lists, ``parents``
    their folders."""
    for name in names:
        path = (inner / name).as_posix()
        if str(inner) == "." and is_build_name(name):
            _discard_own_path(here / name)
        elif path == MANIFEST or (path in parents and not (here / name).is_symlink()):
            continue
        elif path in ours:
            _discard_own_path(here / name)
        else:
            _rescue_file_of_others(here / name, out, path, brought.get(path))


def _listed_paths_if_any(out: Path) -> set[str]:
    """Paths that a folder's manifest lists; empty without one."""
    try:
        return _listed_paths_of_folder(out)
    except (_NotOurs, OSError):
        return set()


def _discard_own_path(path: Path) -> None:
    """Remove something of tdsl's."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _rescue_file_of_others(
    source: Path, out: Path, path: str, brought: tuple[int, int] | None = None
) -> None:
    """Bring something of others from an old folder to the one in its place, where an earlier state of it may
    be: the one that was ``brought`` there, or else the older one. A file that somebody moves there keeps its
    time."""
    there = out / path
    with suppress(OSError):
        if not out.is_dir() or _has_linked_parent(out, path):
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
    stage = out / f"{PRIVATE}new-{unique_name_part()}"
    ready = out / f"{PRIVATE}ready-{unique_name_part()}"
    try:
        _write_staged_folder(files, stage)
        _files_of_others(out, files)  # what came meanwhile may be in the place of a file
        stage.rename(ready)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    sync_folder(out)
    _bring_ready_copy(ready, out)


def _bring_ready_copy(ready: Path, out: Path) -> None:
    """Bring a whole copy into the folder, its manifest last; one that was brought in part is finished."""
    if (ready / MANIFEST).exists():
        coming = _paths_in_manifest(ready / MANIFEST)
        for path in sorted(_listed_paths_of_folder(out) - coming, reverse=True):
            with suppress(OSError):
                _clear_obsolete_file(out, path)
        for path in sorted(coming - {MANIFEST}):
            if _has_linked_parent(ready, path) or _has_linked_parent(out, path):  # somebody else put it there
                raise _NotOurs(f"holds a link in place of a folder of {path}")
            if (ready / path).exists():
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(ready / path, out / path)
        os.replace(ready / MANIFEST, out / MANIFEST)
        sync_folder(out)
    shutil.rmtree(ready, ignore_errors=True)


def _has_linked_parent(out: Path, path: str) -> bool:
    """Whether a link stands for one of the folders on the way to a file."""
    return any((out / p).is_symlink() for p in PurePosixPath(path).parents if str(p) != ".")


def _clear_obsolete_file(out: Path, path: str) -> None:
    """Remove a file that is made no more, and the folders that it leaves empty; never anything outside."""
    if not is_plain_output_path(path) or _has_linked_parent(out, path):
        return
    way = [p for p in PurePosixPath(path).parents if str(p) != "."]
    (out / path).unlink()
    for parent in way:
        (out / parent).rmdir()


def _recover_killed_run(out: Path) -> None:
    """Clear away what a killed run left beside ``out``; if it was killed between two renames, put the old
    folder back.

    Whoever holds the lock is alone, so nothing of this kind belongs to a run that goes on."""
    new, old = hidden_sibling_path(out, "new-").name, hidden_sibling_path(out, "old-").name
    for name in folder_entries(out.parent):
        left = out.with_name(name)
        ours = (
            name.startswith((new, old))
            and re.fullmatch("[0-9a-f]{12}", name[-12:])
            and len(name) == len(new) + 12
        )
        if not ours or not left.is_dir() or left.is_symlink():
            continue
        if name.startswith(old) and not out.exists():
            left.rename(out)
        elif name.startswith(old) or _listed_paths_if_any(
            left
        ):  # its manifest was written last, whole: what it does not list is of others
            _retire_old_folder(left, out)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _recover_inside(out: Path) -> None:
    """Finish what a killed run had ready inside ``out``, and clear away what it had not."""
    for name in folder_entries(out):
        left = out / name
        if left.is_symlink() or not left.is_dir():
            continue
        if is_build_name(name) and name.startswith(f"{PRIVATE}ready-"):
            _bring_ready_copy(left, out)
        elif is_build_name(name) and name.startswith(f"{PRIVATE}new-"):
            shutil.rmtree(left, ignore_errors=True)
