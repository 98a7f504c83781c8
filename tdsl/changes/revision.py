"""A design as it stood in a revision of the git repository that it lies in.

What it uses must be of that revision, too, so the designs, tables and settings of the whole revision are held
in memory; nothing is written. ``git`` is run for this, on the repository at hand and nothing else.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path, PurePosixPath
from threading import Timer

from tdsl.config import NAME as SETTINGS
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import LIMIT

KINDS = (".fab", ".csv", ".lock")
LOCK = ".lock"
LIKE = 0.5
"""The share of lines in common from which on a file that is gone and one that is new are one file, renamed;
git's own."""
_FABRIC = re.compile(rb"^[ \t]*(?:fabric|cluster)\b[ \t]*(\w*)", re.MULTILINE)
_WORD = re.compile(rb"[^\s\"'/().,;{}\[\]]+")
TOTAL = 1 << 30
"""Bytes of a revision's designs and tables together."""

LISTING = 128 << 20
"""Bytes of the list of a revision's files. A tree of ten folders that are all one tree, ten deep, has ten
thousand million."""
SECONDS = 120
"""How long git may take for an answer."""
QUIET = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
}
QUIET |= {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}  # a revision is what its hash says; words of git are known
"""Nothing is fetched, by old versions of git either, and nothing written."""


class RevisionError(Exception):
    """There is no such revision, or no such file in it. The text says which."""


def repository_root(folder: Path) -> Path:
    """The top of the repository that a folder lies in. Raises RevisionError where it lies in none that git
    reads here."""
    try:
        return Path(os.fsdecode(_run_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    except RevisionError as why:
        said = str(why)
    if "safe.directory" in said:  # a line to paste, with the folder
        raise RevisionError(f"another user owns the repository, so git does not read it; `{said}` allows it")
    if "work tree" in said:
        raise RevisionError(
            "this is a repository without files (bare, or its .git); call this in a clone or worktree of it"
        )
    raise RevisionError("this is not a git repository" if "not a git repository" in said else said)


def _shallow_clone_hint(top: Path) -> str:
    """What to do where history may be missing because a clone is shallow; "" where it is not."""
    try:
        shallow = _run_git(top, "rev-parse", "--is-shallow-repository").strip() == b"true"
    except RevisionError:
        return ""
    return (
        "; this clone is shallow: fetch its history with `git fetch --unshallow`, in GitHub Actions "
        "`fetch-depth: 0`" * shallow
    )


def files_of_revision(revision: str, top: Path) -> dict[str, bytes]:
    """The designs, tables, locks and settings of a revision by their paths from the top, links left out.
    Raises RevisionError."""
    if revision.startswith("-"):
        raise RevisionError(f"{revision!r} is not a revision")
    try:
        commit = _run_git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
    except RevisionError:
        raise RevisionError(f"there is no revision {revision} here{_shallow_clone_hint(top)}") from None
    listed = _list_commit_files(top, commit).decode(errors="surrogateescape").split("\0")
    files, total = _blobs_of_designs(filter(None, listed))
    if not any(name.endswith(KINDS) for name in files):
        raise RevisionError(f"revision {revision} contains no design")
    if total > TOTAL:
        raise RevisionError(f"its designs and tables are larger than {TOTAL >> 20} MiB together")
    data = io.BytesIO(
        _run_git(top, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in files.values()))
    )
    return {name: _read_batch_object(data, name) for name in files}


def _blobs_of_designs(listed: Iterable[str]) -> tuple[dict[str, str], int]:
    """The objects of designs and what they use by path, of the lines that ``git ls-tree --long`` writes, and
    their bytes together. Raises RevisionError."""
    files: dict[str, str] = {}
    total = 0
    for entry in listed:
        head, _, name = entry.partition("\t")
        mode, _, blob, size = head.split()
        path = PurePosixPath(name)
        if mode.startswith("100") and (path.suffix in KINDS or path.name == SETTINGS):
            _refuse_unsafe_name(name)
            if name in files:
                raise RevisionError(f"it holds {name} twice")
            if not size.isdigit() or int(size) > LIMIT:
                raise RevisionError(f"{name} is larger than {LIMIT >> 20} MiB in it")
            total += int(size)
            files[name] = blob
    return files, total


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision that was read: its name, the top of its repository, and its files by their path from
    there."""

    name: str
    top: Path
    files: Mapping[str, bytes]


def read_revision(name: str, folder: Path) -> Revision:
    """A revision of the repository that a folder lies in. Raises RevisionError."""
    top = repository_root(folder)
    return Revision(name, top, files_of_revision(name, top))


@dataclass(slots=True)
class RevisionPair:
    """Two revisions and their designs: pairs of paths that are to be compared, None where a side has no such
    design, and how many are the same, byte for byte, with all that they may use."""

    before: Revision
    after: Revision
    pairs: list[tuple[str | None, str | None]] = field(default_factory=list)
    same: int = 0


def designs_between(span: str, top: Path) -> RevisionPair:
    """What ``A..B`` or ``A...B`` compares. With three points the first revision is where B left A; without B
    it is HEAD. A design that is gone and one that is new are one design, renamed, where most of their lines
    are the same. Raises RevisionError."""
    first, _, rest = span.partition("..")
    second = rest.removeprefix(".") or "HEAD"
    if not first or first.startswith("-") or second.startswith("-"):
        raise RevisionError(f"{span!r} does not name two revisions")
    after = files_of_revision(second, top)
    if rest.startswith("."):
        first = _common_ancestor(first, second, top)
    before = files_of_revision(first, top)
    out = RevisionPair(Revision(first, top, before), Revision(second, top, after))
    _pair_designs(out, before, after)
    return out


def _pair_designs(out: RevisionPair, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Pair the designs of two revisions, and count those that are the same. Raises RevisionError where
    neither has one."""
    old, new = designs_in_revision(before), designs_in_revision(after)
    if not old and not new:
        raise RevisionError(
            "neither revision has a file that declares a fabric, so there is nothing to compare"
        )
    differ = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    touched = designs_touched_by(old, before, differ) | designs_touched_by(new, after, differ)
    renamed = renamed_files(
        {n: before[n] for n in old if n not in new}, {n: after[n] for n in new if n not in old}
    )
    was = {now: name for name, now in renamed.items()}
    for name in new:
        if name in old and name not in touched:
            out.same += 1
        else:
            out.pairs.append((name if name in old else was.get(name), name))
    out.pairs += [(name, None) for name in old if name not in new and name not in renamed]


def _common_ancestor(first: str, second: str, top: Path) -> str:
    """The commit where two revisions parted. Raises RevisionError."""
    files_of_revision(first, top)
    try:
        return _run_git(top, "merge-base", first, second).decode().strip()[:12]
    except RevisionError:
        hint = _shallow_clone_hint(top)
        raise RevisionError(f"{first} and {second} have no commit in common{hint}") from None


def designs_in_revision(held: Mapping[str, bytes]) -> list[str]:
    """The files that declare a fabric, in the order of the revision."""
    return [name for name, data in held.items() if name.endswith(".fab") and _FABRIC.search(data)]


def designs_touched_by(designs: Iterable[str], held: Mapping[str, bytes], differ: set[str]) -> set[str]:
    """The designs that differ or may use what does: a file is taken to use all whose name, without its
    ending, is a word of it. Settings of the project are about all designs."""
    if any(PurePosixPath(name).name == SETTINGS for name in differ):
        return set(designs)
    words = {name: set(_WORD.findall(data)) for name, data in held.items() if name.endswith(".fab")}
    found = {name.removesuffix(LOCK) if name.endswith(LOCK) else name for name in differ}
    waiting = list(found)
    while waiting:
        path = PurePosixPath(waiting.pop())
        called = [
            set(_WORD.findall(part.encode(errors="surrogateescape")))
            for part in (path.stem, *path.parts[:-1])
        ]
        more = {
            name
            for name, said in words.items()
            if name not in found and any(part and part <= said for part in called)
        }
        found |= more
        waiting += more
    return found.intersection(designs)


def renamed_files(gone: Mapping[str, bytes], come: Mapping[str, bytes]) -> dict[str, str]:
    """New paths of designs by their old ones: those of equal contents first, then those that declare the same
    fabrics, then those of which most lines are equal."""
    lines = {
        name: Counter(filter(None, map(bytes.strip, data.splitlines())))
        for name, data in (*gone.items(), *come.items())
    }
    pairs = []
    for a, data in gone.items():
        for b, other in come.items():
            most = max(lines[a].total(), lines[b].total())
            share = (lines[a] & lines[b]).total() / most if most else 0.0
            declared = sorted(_FABRIC.findall(data))
            same_names = bool(declared) and declared == sorted(_FABRIC.findall(other))
            if share >= LIKE or same_names:
                pairs.append(
                    (
                        data != other,
                        not same_names,
                        -share,
                        PurePosixPath(a).name != PurePosixPath(b).name,
                        a,
                        b,
                    )
                )
    out: dict[str, str] = {}
    for *_, a, b in sorted(pairs):
        if a not in out and b not in out.values():
            out[a] = b
    return out


def _refuse_unsafe_name(name: str) -> None:
    """Refuse a name that a checkout cannot have: git itself makes no such tree, but it reads one."""
    parts = name.split("/")
    if any(p in ("", ".", "..") or p.lower() == ".git" for p in parts) or "\\" in name:
        raise RevisionError(f"it contains a file with the name {name!r}, which leads elsewhere")
    if any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in name):
        raise RevisionError(f"it contains a file with the name {name!r}, which is not text")


def _read_batch_object(data: io.BytesIO, name: str) -> bytes:
    """The next object of what ``cat-file --batch`` printed."""
    head = data.readline().split()
    if len(head) != 3 or head[1] != b"blob":
        raise RevisionError(f"the contents of {name} are not in this repository")
    content = data.read(int(head[2]))
    data.read(1)
    return content


def _list_commit_files(top: Path, commit: str) -> bytes:
    """The list of a commit's files. Raises RevisionError where it is too long, or git takes too long for
    it."""
    line = ["git", "-C", str(top), "ls-tree", "-r", "-l", "-z", "--full-tree", commit]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **QUIET}
    ) as run:
        assert run.stdout is not None and run.stderr is not None
        late = Timer(SECONDS, run.kill)
        late.start()
        try:
            listed = run.stdout.read(LISTING + 1)
            if len(listed) > LISTING:
                run.kill()
            said = run.stderr.read(10_000)
            run.wait()
        except BaseException:
            run.kill()
            raise
        finally:
            late.cancel()
    if len(listed) > LISTING:
        raise RevisionError(f"the list of its files is larger than {LISTING >> 20} MiB")
    if run.returncode:
        raise RevisionError(
            _last_line_of_git(said) if said else f"git did not list its files within {SECONDS} seconds"
        )
    return listed


def _run_git(folder: Path, *args: str, given: str = "") -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *args],
            input=given.encode(),
            capture_output=True,
            check=False,
            timeout=SECONDS,
            env={**os.environ, **QUIET},
        )
    except FileNotFoundError:
        raise RevisionError("git is not installed, so there are no revisions to compare with") from None
    except subprocess.TimeoutExpired:
        raise RevisionError(f"git did not answer within {SECONDS} seconds") from None
    if done.returncode:
        raise RevisionError(_last_line_of_git(done.stderr))
    return done.stdout


def _last_line_of_git(said: bytes) -> str:
    """The last line of what git said."""
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "git says no more"
