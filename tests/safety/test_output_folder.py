"""Output folders of somebody: mounts in them, files of others that come and change meanwhile, rights, owners, places."""

from __future__ import annotations

import errno
import os
import signal
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.output import folder_lock
from tdsl.output import write as writing
from tdsl.system.replace import replace_file
from tests.cli.run import tdsl
from tests.cli.run import write as design
from tests.safety.built import ROOTED, entered, in_child, in_mounts, mode, put, tree
from tests.safety.outputs import files
from tests.tables import sections


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


@ROOTED
def test_what_is_mounted_in_an_output_folder_stays_there(tmp_path: Path, forked: Path) -> None:
    """A volume below it was emptied, since it was in the old folder, which goes. One in the place of a folder of tdsl is refused
    before anything is exchanged."""
    design(tmp_path)
    in_mounts(sections(__file__)["what is mounted in an output folder stays there"], tmp_path, forked)


@pytest.mark.parametrize("step", range(1, 40, 4))
def test_files_of_others_that_come_during_a_build(step: int, tmp_path: Path) -> None:
    """At any step of it: new files, a new folder, and a file that an editor has saved by a rename. The next build keeps them."""
    out = tmp_path / "out"
    put(files(a="1", sub__b="1", gone="1"), out)
    (out / "notes").write_text("first")
    (out / "stays").write_text("mine")
    os.utime(out / "notes", ns=(10**18, 10**18))
    left = [step]

    def meanwhile(of: Callable[..., object], *given: object, **named: object) -> object:
        left[0] -= 1
        if left[0] == 0 and (out / "sub").is_dir():
            (out / "new").write_text("mine")
            (out / "sub" / "new").write_text("mine")
            (out / "folder").mkdir(mode=0o700)
            (out / "folder" / "file").write_text("mine")
            (out / "notes.tmp").write_text("second")
            os.utime(out / "notes.tmp", ns=(2**60, 2**60))
            (out / "notes.tmp").rename(out / "notes")
            left.append(0)
        return of(*given, **named)

    def build() -> int:
        for name in ("fsync", "link", "unlink", "rmdir", "open"):
            setattr(os, name, partial(meanwhile, getattr(os, name)))
        assert put(files(a="2", sub__b="2"), out) == []
        return len(left) == 2

    came = in_child(build)
    assert came in (0, 1)
    mine = {"notes": b"first", "stays": b"mine"}
    if came:
        mine |= {"new": b"mine", "sub/new": b"mine", "folder/file": b"mine", "notes": b"second"}
    for now in "23":
        assert tree(out) == files(a=now, sub__b=now) | mine and [p.name for p in tmp_path.iterdir()] == ["out"]
        assert put(files(a="3", sub__b="3"), out) == []
    assert not came or mode(out / "folder") == 0o700


def test_a_folder_with_half_a_manifest_is_removed(tmp_path: Path, forked: Path) -> None:
    """A build that was killed while it wrote the manifest: its files are of nobody else."""
    out = tmp_path / "out"
    put(files(a="1"), out)
    for length in (0, 40):
        left = tmp_path / f".out.tdsl-new-0000000000{length:02}"
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


NOBODY = 0xFFFFFFFF
SHARED = [(1, 7, NOBODY), (2, 7, 65534), (4, 0, NOBODY), (16, 7, NOBODY), (32, 0, NOBODY)]
"""Somebody else may read and write what the group of the owner may not."""


def rules_of(path: Path, kind: str = "access", entries: list[tuple[int, int, int]] = SHARED) -> bytes:
    """Give a path rules of access, as the kernel has them."""
    rules = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(path, f"system.posix_acl_{kind}", rules)
    except (AttributeError, OSError) as none:
        pytest.skip(f"no access control lists here: {none}")
    return rules


def test_folders_keep_their_access_control_lists(tmp_path: Path) -> None:
    """One by which new files are open to a user of a shared folder."""
    out = tmp_path / "out"
    put(files(a="1"), out)
    rules = rules_of(out, "default", [(1, 7, NOBODY), (2, 7, 1234), (4, 5, NOBODY), (16, 7, NOBODY), (32, 5, NOBODY)])
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


def home_of_nobody(folder: Path) -> Path:
    home = folder / "home"
    home.mkdir()
    entered(home)
    os.chown(home, 65534, 65534)
    return home


@ROOTED
def test_a_folder_of_others_that_cannot_be_read(tmp_path: Path) -> None:
    """As nobody, with a folder of root in the output: it was left behind in a hidden folder, and gone from the output."""
    home = home_of_nobody(tmp_path)
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
    home = home_of_nobody(tmp_path)
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
    assert not writing.write_output_folder(files(a="1"), tmp_path / "out", found)
    assert f"Is a directory ({tmp_path / '.out.tdsl-lock'})" in found.items[0].message


@ROOTED
def test_an_output_folder_in_the_image_of_a_container(tmp_path: Path, forked: Path) -> None:
    """A folder of a lower layer cannot be renamed: the build was refused as `Invalid cross-device link`."""
    design(tmp_path)
    in_mounts(sections(__file__)["an output folder in the image of a container"], tmp_path, forked)


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


def test_an_output_folder_with_a_large_manifest(tmp_path: Path) -> None:
    """One of more than 64 MiB, as half a million files have: the second build took it for somebody else's."""
    out = tmp_path / "out"
    put(files(a="1"), out)
    with (out / "manifest.json").open("ab") as file:
        for _ in range(65):
            file.write(b" " * (1 << 20))
    assert put(files(a="2"), out) == [] and tree(out) == files(a="2")


@pytest.mark.parametrize("there", ["nothing", "empty", "built"])
def test_a_link_in_place_of_the_folder_of_a_fabric(there: str, here: Path, tmp_path: Path) -> None:
    """`out` is a folder of the checkout, and `out/small` in it a link: the build of two fabrics wrote where it led."""
    elsewhere = tmp_path / "elsewhere"
    text = design(here).read_text()
    if there == "built":
        assert tdsl("build", "small.fab", "--target", "cabling", "--out", elsewhere).exit_code == 0
    elif there == "empty":
        elsewhere.mkdir()
    design(here, text + text.replace("fabric small", "fabric large"), "both.fab")
    before = tree(elsewhere)
    Path("out").mkdir()
    Path("out/small").symlink_to(elsewhere, target_is_directory=True)
    for further in ([], ["--untrusted"], ["--check"], ["--out", tmp_path / "out"]):
        done = tdsl("build", "both.fab", "--target", "cabling", "--target", "json", *further)
        assert done.exit_code == 2 and "small is a link, which is not followed" in done.stderr, done.output
        assert tree(elsewhere) == before and elsewhere.exists() == (there != "nothing") and os.listdir("out") == ["small"]


def test_render_follows_no_link_in_its_folder(here: Path, tmp_path: Path) -> None:
    text = design(tmp_path).read_text()
    design(tmp_path, text + text.replace("fabric small", "fabric large"))
    assert tdsl("build", "small.fab", "--target", "cabling").exit_code == 0
    Path("secrets").write_text("A=b\n")
    for folder in ("load", "elsewhere"):
        Path(folder).mkdir()
    Path("elsewhere").chmod(0o755)
    Path("load/small").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    done = tdsl("render", "out", "--secrets", "secrets", "--to", "load")
    assert done.exit_code == 1 and "holds small, which `tdsl render` did not write" in done.stderr, done.output
    assert not os.listdir("elsewhere") and mode(Path("elsewhere")) == 0o755 and os.listdir("load") == ["small"]


def test_rules_of_access_of_a_folder_in_the_output_folder(tmp_path: Path) -> None:
    """The new folder had none, and its group all rights that the old one gave to one user."""
    out = tmp_path / "out"
    assert put(files(a="1", sub__b="1"), out) == []
    rules = rules_of(out / "sub")
    assert put(files(a="2", sub__b="2"), out) == [] and tree(out) == files(a="2", sub__b="2")
    assert os.getxattr(out / "sub", "system.posix_acl_access") == rules
    assert os.listdir(tmp_path) == ["out"]


def test_rules_of_access_of_a_file(tmp_path: Path) -> None:
    """`fmt` of a design that one user may read and write, too: its group could, and that user could no more."""
    path = design(tmp_path)
    rules = rules_of(path)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new" and os.getxattr(path, "system.posix_acl_access") == rules


@ROOTED
def test_a_folder_that_gives_its_group(tmp_path: Path) -> None:
    """A folder of a team (mode 2750): the files of the next build had the group of who built, and nobody else could read them."""
    out = tmp_path / "out"
    assert put(files(a="1", sub__b="1"), out) == []
    for folder in (out, out / "sub"):
        os.chown(folder, -1, 4711)
        folder.chmod(0o2750)
    assert put(files(a="2", sub__b="2", new__c="2"), out) == []
    assert {p.stat().st_gid for p in (out, *out.rglob("*"))} == {4711} and mode(out) == mode(out / "sub") == 0o2750
    assert mode(out / "new") & 0o2000


def test_names_of_others_that_begin_as_those_of_a_build(tmp_path: Path) -> None:
    """They were removed by the next build, and `tdsl verify --strict` did not name them."""
    out = tmp_path / "out"
    assert tdsl("build", design(tmp_path), "--out", out, "--target", "cabling").exit_code == 0
    names = (".tdsl-notes", ".tdsl-new-", ".tdsl-ready-2026", ".tdsl-lock.bak", ".tdsl-new-0123456789ab.txt")
    mine = [out / name for name in names] + [out / f"{name}_" / "data" for name in names]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    done = tdsl("verify", "--strict", out)
    assert done.exit_code == 1 and all(p.relative_to(out).parts[0] in done.output for p in mine), done.output
    assert tdsl("build", tmp_path / "small.fab", "--out", out, "--target", "json").exit_code == 0
    assert {p.read_text() for p in mine} == {"mine"} and (out / "fabric.json").is_file() and not (out / "cabling").exists()


def test_folders_of_others_beside_the_output_folder(tmp_path: Path) -> None:
    """`.out.tdsl-new-x.tdsl-new-0123456789ab` is what a build of `out.tdsl-new-x` is writing."""
    mine = [tmp_path / f".out.tdsl-{name}" for name in ("new-mine", "old-mine", "new-x.tdsl-new-0123456789ab")]
    for folder in mine:
        folder.mkdir()
        (folder / "data").write_text("mine")
    for n in "12":
        assert put(files(a=n), tmp_path / "out") == []
    assert all(tree(folder) == {"data": b"mine"} for folder in mine) and tree(tmp_path / "out") == files(a="2")


@pytest.mark.parametrize("how", ["signal", "full", "refused"])
def test_folders_on_the_way_to_an_output_folder_that_is_not_written(how: str, tmp_path: Path) -> None:
    """`--out results/today/out` left `results/today`."""

    def work() -> None:
        before = Path.open

        def fail(path: Path, *given: str, **named: object) -> object:
            if given == ("wb",) and how == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if given == ("wb",):
                signal.raise_signal(signal.SIGTERM)
            return before(path, *given, **named)  # type: ignore[call-overload]

        if how != "refused":
            Path.open = fail  # type: ignore[assignment]
        content = files(a="1") | ({"a/b": b"in a file"} if how == "refused" else {})
        assert put(content, tmp_path / "results" / "today" / "out") != []

    assert in_child(work) == (-signal.SIGTERM if how == "signal" else 0)
    assert os.listdir(tmp_path) == []


@ROOTED
@pytest.mark.parametrize("held", [True, False])
def test_a_lock_of_another_user_on_a_file_server(held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS locks a file only for those who may write to it. The lock file of another user was taken for that of a file system
    without locks, and removed while he was building."""
    import fcntl

    flock, home = fcntl.flock, tmp_path / "home"
    home.mkdir()
    entered(home)
    home.chmod(0o777)

    def served(handle: int, how: int) -> None:
        if how & fcntl.LOCK_EX and fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", served)
    with folder_lock.hold_lock_file(home / ".out.tdsl-lock"):
        (home / ".out.tdsl-lock").chmod(0o644)
        if held:
            monkeypatch.setattr("threading.Event.wait", lambda self, timeout=None: True)  # two minutes of turns
            assert in_child(lambda: put(files(a="1"), home / "out") != ["E0509"], 65534) == 0
            assert os.listdir(home) == [".out.tdsl-lock"]
            return
        os.link(home / ".out.tdsl-lock", home / "left")
    (home / "left").rename(home / ".out.tdsl-lock")  # as if the process had been killed
    assert in_child(lambda: put(files(a="1"), home / "out"), 65534) == 0
    assert os.listdir(home) == ["out"]
