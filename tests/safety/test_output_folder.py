"""Output folders of somebody: mounts in them, files of others that come and change meanwhile, rights, owners, places."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tdsl.diagnostic import Diagnostics
from tdsl.emit import write as writing
from tests.cli.run import tdsl
from tests.cli.run import write as design
from tests.safety.test_writing import ROOT, ROOTED, in_mounts
from tests.targets.test_write import files, put, tree

TOOL = f"PYTHONPATH={ROOT} {sys.executable} -m tdsl"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_render_leaves_the_mode_of_a_folder_of_others(several: bool, tmp_path: Path) -> None:
    """It was 0700 before the call was refused: nobody else could have entered `/srv/www`."""
    text = design(tmp_path).read_text()
    if several:
        design(tmp_path, text + text.replace("fabric small", "fabric large"))
    assert tdsl("build", tmp_path / "small.fab", "--out", tmp_path / "out", "--target", "cabling").exit_code == 0
    (tmp_path / "secrets").write_text("A=b\n")
    others = tmp_path / "others"
    others.mkdir()
    (others / "index.html").write_text("mine")
    others.chmod(0o755)
    done = tdsl("render", tmp_path / "out", "--secrets", tmp_path / "secrets", "--to", others)
    assert done.exit_code == 1 and "others " in done.stderr and "give --to another folder" in done.stderr, done.output
    assert mode(others) == 0o755 and os.listdir(others) == ["index.html"]
    for _ in range(2):
        assert tdsl("render", tmp_path / "out", "--secrets", tmp_path / "secrets", "--to", tmp_path / "load").exit_code == 0
    assert mode(tmp_path / "load") == 0o700


def test_the_root_as_the_output_folder(tmp_path: Path) -> None:
    before = sorted(os.listdir("/"))
    done = tdsl("build", design(tmp_path), "--out", "/", "--target", "cabling")
    assert done.exit_code == 1 and "E0508" in done.stderr and "nothing in it says that tdsl wrote it" in done.stderr, done.output
    assert sorted(os.listdir("/")) == before


def entered(folder: Path) -> None:
    """Have other users reach a folder."""
    for parent in (folder, *folder.parents):
        if str(parent).startswith("/tmp/"):
            parent.chmod(0o755)


def in_child(work: Callable[[], object], user: int = 0) -> int:
    """The exit status of a child, as another user where one is given, that does a piece of work; 99 where it raises."""
    child = os.fork()
    if child == 0:
        status = 99
        with contextlib.suppress(BaseException):
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            status = int(bool(work()))
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@ROOTED
def test_what_is_mounted_in_an_output_folder_stays_there(tmp_path: Path) -> None:
    """A volume below it was emptied, since it was in the old folder, which goes. One in the place of a folder of tdsl is refused
    before anything is exchanged."""
    design(tmp_path)
    in_mounts(
        f"""
        {TOOL} build small.fab --target cabling > /dev/null 2>&1
        mkdir "out/a volume" store && mount -t tmpfs tmpfs "out/a volume" && echo precious > "out/a volume/data"
        exec 8< "out/a volume"
        {TOOL} build small.fab --target cabling --set nodes=5 > /dev/null 2>&1
        test "$(cat /proc/self/fd/8/data)" = precious && test "$(cat "out/a volume/data")" = precious
        {TOOL} verify out
        cp out/manifest.json before
        mount --bind store out/cabling
        ! {TOOL} build small.fab --target cabling --set nodes=6 > /dev/null 2> said
        grep -q E0509 said && tr -s " =\\n" " " < said | grep -q "cabling in it is a mount of its own"
        umount out/cabling
        cmp out/manifest.json before && {TOOL} verify out && rm before said
        test "$(ls -A | sort | xargs)" = "out small.fab store"
        test "$(ls -A out | sort | xargs)" = "a volume cabling manifest.json"
        """,
        tmp_path,
    )


def others_write(out: Path) -> None:
    """New files, a new folder, and a file that an editor has saved by a rename."""
    (out / "new").write_text("mine")
    (out / "sub" / "new").write_text("mine")
    (out / "folder").mkdir(mode=0o700)
    (out / "folder" / "file").write_text("mine")
    (out / "notes.tmp").write_text("second")
    os.utime(out / "notes.tmp", ns=(2**60, 2**60))
    os.replace(out / "notes.tmp", out / "notes")


@pytest.mark.parametrize("killed", [False, True], ids=["finished", "killed"])
@pytest.mark.parametrize("renames", [False, True], ids=["exchange", "renames"])
def test_files_of_others_that_come_during_a_build(
    renames: bool, killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the folder and its exchange; also if the build is killed then, by the next one."""
    out = tmp_path / "out"
    put(files(a="1", sub__b="1", gone="1"), out)
    (out / "notes").write_text("first")
    (out / "stays").write_text("mine")
    os.utime(out / "notes", ns=(10**18, 10**18))

    def build() -> None:
        before = writing.swap

        def swap(a: Path, b: Path) -> bool:
            others_write(out)
            return False if renames else before(a, b)

        monkeypatch.setattr(writing, "swap", swap)
        if killed:
            monkeypatch.setattr(writing, "_retire", lambda old, out: os._exit(9))
        assert put(files(a="2", sub__b="2"), out) == []

    assert in_child(build) == (9 if killed else 0)
    if killed:
        assert [p.name for p in tmp_path.iterdir() if "tdsl-new" in p.name or "tdsl-old" in p.name]
        assert put(files(a="3", sub__b="3"), out) == []
    mine = {"new": b"mine", "sub/new": b"mine", "folder/file": b"mine", "notes": b"second", "stays": b"mine"}
    now = "3" if killed else "2"
    assert tree(out) == files(a=now, sub__b=now) | mine
    assert mode(out / "folder") == 0o700 and [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_whole_folder_that_was_not_exchanged_is_removed(tmp_path: Path) -> None:
    """One of a build that was killed before: files of others in it are those of an earlier time."""
    out = tmp_path / "out"
    put(files(a="1"), out)
    (out / "notes").write_text("first")
    left = tmp_path / ".out.tdsl-new-0"
    put(files(a="2"), left)
    os.link(out / "notes", left / "notes")
    (out / "notes").unlink()
    (out / "notes").write_text("second")
    os.utime(left / "notes", ns=(10**18, 10**18))
    assert put(files(a="3"), out) == []
    assert tree(out) == files(a="3") | {"notes": b"second"} and [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("length", [0, 40])
def test_a_folder_with_half_a_manifest_is_removed(length: int, tmp_path: Path) -> None:
    """A build that was killed while it wrote the manifest: its files are of nobody else."""
    out, left = tmp_path / "out", tmp_path / ".out.tdsl-new-0"
    put(files(a="1"), out)
    put(files(a="2", b="2", sub__c="2"), left)
    os.truncate(left / "manifest.json", length)
    assert put(files(a="3"), out) == []
    assert tree(out) == files(a="3") and [p.name for p in tmp_path.iterdir()] == ["out"]


def test_folders_keep_their_modes(tmp_path: Path) -> None:
    """Of others, and those of tdsl that somebody has closed: what is in them was open to all after the next build."""
    out = tmp_path / "out"
    put(files(a="1", sub__b="1"), out)
    (out / "sub").chmod(0o750)
    assert put(files(a="2", sub__b="2"), out) == [] and mode(out / "sub") == 0o750
    (out / "private").mkdir(mode=0o700)
    (out / "private" / "key").write_text("mine")
    (out / "empty").mkdir(mode=0o710)
    inode = (out / "private").stat().st_ino
    out.chmod(0o2770)
    assert put(files(a="3", sub__b="3"), out) == []
    assert [mode(p) for p in (out, out / "sub", out / "private", out / "empty")] == [0o2770, 0o750, 0o700, 0o710]
    assert (out / "private").stat().st_ino == inode and (out / "private" / "key").read_text() == "mine"


def test_folders_keep_their_access_control_lists(tmp_path: Path) -> None:
    """One by which new files are open to a user of a shared folder."""
    if not hasattr(os, "setxattr"):
        pytest.skip("no extended attributes here")
    out = tmp_path / "out"
    put(files(a="1"), out)
    entries = ((0x01, 7, -1), (0x02, 7, 1234), (0x04, 5, -1), (0x10, 7, -1), (0x20, 5, -1))
    rules = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(out, "system.posix_acl_default", rules)
    except OSError:
        pytest.skip("no access control lists here")
    assert put(files(a="2"), out) == []
    assert os.getxattr(out, "system.posix_acl_default") == rules and tree(out) == files(a="2")
    assert "system.posix_acl_access" in os.listxattr(out / "a")


@ROOTED
def test_folders_keep_their_owners(tmp_path: Path) -> None:
    """root builds in a folder of somebody, who is to write there afterwards."""
    out = tmp_path / "out"
    put(files(a="1", sub__b="1"), out)
    for path in (out, out / "sub"):
        os.chown(path, 65534, 65534)
    assert put(files(a="2", sub__b="2"), out) == []
    assert [(p.stat().st_uid, p.stat().st_gid) for p in (out, out / "sub")] == [(65534, 65534)] * 2


@ROOTED
def test_a_folder_of_others_that_cannot_be_read(tmp_path: Path) -> None:
    """As nobody, with a folder of root in the output: it was left behind in a hidden folder, and gone from the output."""
    home = tmp_path / "home"
    home.mkdir()
    entered(home)
    os.chown(home, 65534, 65534)
    out = home / "out"
    assert in_child(lambda: put(files(a="1"), out), 65534) == 0
    (out / "closed").mkdir(mode=0o700)
    (out / "closed" / "key").write_text("mine")
    (out / "theirs").write_text("mine")
    (out / "theirs").chmod(0o600)
    assert in_child(lambda: put(files(a="2"), out), 65534) == 0
    assert tree(out) == files(a="2") | {"closed/key": b"mine", "theirs": b"mine"}
    assert [p.name for p in home.iterdir()] == ["out"] and (out / "closed").stat().st_uid == 0


@ROOTED
def test_the_lock_of_a_build_of_another_user(tmp_path: Path) -> None:
    """root was killed: its lock file, which only root may write to, does not keep others from building."""
    home = tmp_path / "home"
    home.mkdir()
    entered(home)
    os.chown(home, 65534, 65534)
    (home / ".out.tdsl-lock").touch(0o644)
    assert in_child(lambda: put(files(a="1"), home / "out"), 65534) == 0
    assert [p.name for p in home.iterdir()] == ["out"]


@pytest.mark.parametrize("how", ["link", "large"])
def test_a_lock_file_that_is_a_file_of_somebody(how: str, tmp_path: Path) -> None:
    """Another name of it, in a shared folder: it was emptied, to say who holds the lock."""
    victim = tmp_path / "victim"
    victim.write_text("precious" * (1 if how == "link" else 1000))
    before = victim.read_text()
    os.link(victim, tmp_path / ".out.tdsl-lock")
    if how == "large":
        victim.unlink()
        os.link(tmp_path / ".out.tdsl-lock", tmp_path / "second")
        victim = tmp_path / "second"
    assert put(files(a="1"), tmp_path / "out") == []
    assert victim.read_text() == before


def test_a_folder_in_place_of_the_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / ".out.tdsl-lock").mkdir()
    found = Diagnostics()
    assert not writing.write(files(a="1"), tmp_path / "out", found)
    assert f"Is a directory ({tmp_path / '.out.tdsl-lock'})" in found.items[0].message


@ROOTED
def test_an_output_folder_in_the_image_of_a_container(tmp_path: Path) -> None:
    """A folder of a lower layer cannot be renamed: the build was refused as `Invalid cross-device link`."""
    design(tmp_path)
    in_mounts(
        f"""
        mkdir disk && mount -t tmpfs tmpfs disk && cd disk && mkdir lower upper work merged && cp ../small.fab lower
        (cd lower; {TOOL} build small.fab --target cabling > /dev/null 2>&1)
        mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged || {{ echo permission >&2; exit 1; }}
        cd merged
        {TOOL} build small.fab --target cabling --set nodes=5 > /dev/null 2>&1
        {TOOL} verify out && {TOOL} build small.fab --target cabling --set nodes=5 --check
        test "$(ls -A | xargs)" = "out small.fab"
        """,
        tmp_path,
    )


def test_the_current_folder_as_the_output_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays the same folder: a shell would be in one that is gone."""
    design(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for nodes in ("4", "5"):
        assert tdsl("build", "../small.fab", "--out", ".", "--target", "cabling", "--set", f"nodes={nodes}").exit_code == 0
        assert Path.cwd() == tmp_path / "here" and sorted(os.listdir()) == ["cabling", "manifest.json"]
    monkeypatch.chdir("cabling")
    assert tdsl("build", "../../small.fab", "--out", "..", "--target", "cabling", "--set", "nodes=6").exit_code == 0
    assert Path.cwd() == tmp_path / "here" / "cabling" and tdsl("verify", "..").exit_code == 0


@pytest.mark.parametrize("step", range(1, 5))
def test_a_first_build_that_was_killed_in_a_mount(step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the files, before there is a manifest: the folder was taken for that of somebody else."""
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(writing, "_exchangeable", lambda out, foreign: False)

    def build() -> None:
        before, turns = os.replace, [step]

        def replace(a: Path, b: Path) -> None:
            turns[0] -= 1
            if not turns[0]:
                os._exit(9)
            before(a, b)

        monkeypatch.setattr(os, "replace", replace)
        put(files(a="1", b="1", sub__c="1"), out)

    assert in_child(build) == 9
    assert put(files(a="2", b="2"), out) == []
    assert tree(out) == files(a="2", b="2") and sorted(os.listdir(out)) == ["a", "b", "manifest.json"]


@pytest.mark.parametrize("name", ["x" * 255, "\u7db2" * 85])
def test_an_output_folder_with_the_longest_name(name: str, tmp_path: Path) -> None:
    for text in ("1", "2"):
        assert put(files(a=text), tmp_path / name) == []
    assert tree(tmp_path / name) == files(a="2") and os.listdir(tmp_path) == [name]


def test_an_output_folder_with_a_large_manifest(tmp_path: Path) -> None:
    """One of more than 64 MiB, as half a million files have: the second build took it for somebody else's."""
    out = tmp_path / "out"
    put(files(a="1"), out)
    with (out / "manifest.json").open("ab") as file:
        for _ in range(65):
            file.write(b" " * (1 << 20))
    assert put(files(a="2"), out) == [] and tree(out) == files(a="2")


def test_two_users_of_whom_one_may_not_write_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has another lock, one beside the folder and one inside; both also hold that of the folder itself."""
    out = tmp_path / "out"
    put(files(a="1"), out)
    monkeypatch.setattr("tdsl.emit.folder_lock.WAIT_S", 0.1)
    line = "import fcntl, os, sys; h = os.open(sys.argv[1], os.O_RDONLY); fcntl.flock(h, 2); print(); input()"
    with subprocess.Popen([sys.executable, "-c", line, str(out)], stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        holder.stdout.readline()
        for may in (True, False):
            monkeypatch.setattr(writing, "writable", lambda folder, may=may: may or folder != tmp_path)
            found = Diagnostics()
            assert not writing.write(files(a="2"), out, found) and "another build is writing there" in found.items[0].message
        holder.stdin.write(b"\n")
    assert put(files(a="2"), out) == [] and json.loads((out / "manifest.json").read_bytes())["files"]["a"]["size"] == 1
