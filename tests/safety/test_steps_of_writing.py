"""Steps by which an output folder is read, judged, exchanged and cleared, each alone."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.output import write as module
from tdsl.output.write import (
    Difference,
    _bring_files_of_others,
    _bring_ready_copy,
    _can_exchange_folder,
    _clear_obsolete_file,
    _devices_of_partial_build,
    _discard_own_path,
    _exchange_staged_folder,
    _files_of_others,
    _folder_holds_files,
    _has_linked_parent,
    _how_file_differs,
    _listed_paths_if_any,
    _listed_paths_of_folder,
    _NotOurs,
    _OutputUnfit,
    _paths_in_folder,
    _quoted_patterns,
    _recover_inside,
    _recover_killed_run,
    _refuse_mounted_path,
    _refuse_other_part,
    _rescue_file_of_others,
    _retire_old_folder,
    _write_staged_folder,
    compare_output_folder,
    is_plain_output_path,
    why_folder_is_refused,
    write_output_folder,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX")
TOKEN, OTHER, THIRD = "0123456789ab", "ba9876543210", "00112233aabb"


def manifest(*paths: str, **more: object) -> bytes:
    return json.dumps({"schema": 1, "tdsl": "0", "files": {p: {} for p in paths}, **more}).encode()


def put(folder: Path, **texts: str) -> Path:
    """Files of a folder: `a__b` is a/b, `M` the manifest of the paths that its text lists."""
    for name, text in texts.items():
        place = folder / ("manifest.json" if name == "M" else name.replace("__", "/"))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(manifest(*text.split()) if name == "M" else text.encode())
    return folder


def tree(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file() and p.name != "manifest.json"
    }


def refused(run: Any, *args: Any) -> str:
    with pytest.raises((_NotOurs, _OutputUnfit)) as why:
        run(*args)
    return str(why.value)


NOBODY = "is not empty, and nothing in it says that tdsl wrote it"


def test_paths_of_files() -> None:
    good = ("a", "a/b", ".a", "a/..b", "...", "\u00e9")
    bad = ("", "/a", "a/", "a//b", ".", "..", "a/./b", "a/../b", "a\\b", "a\0b", "\ud800")
    assert all(map(is_plain_output_path, good)) and not any(map(is_plain_output_path, bad))


def test_how_a_file_differs(tmp_path: Path) -> None:
    put(tmp_path, a__b="text", c="1234")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "to").symlink_to(tmp_path / "c")
    digest = sha256(b"text").hexdigest()
    assert _how_file_differs(tmp_path, "a/b", 4, digest) == ""
    wrong = [("a/b", 5), ("c", 4), ("a", 4), ("link/b", 4), ("to", 4), ("link/x", 4)]
    assert [_how_file_differs(tmp_path, path, size, digest) for path, size in wrong] == ["differs"] * 6
    size = (tmp_path / "a").stat().st_size
    assert _how_file_differs(tmp_path, "a", size, digest) == "differs"
    assert [_how_file_differs(tmp_path, p, 4, digest) for p in ("x", "a/x", "x/b", "c/b")] == ["missing"] * 4


def test_differences_of_a_folder(tmp_path: Path) -> None:
    out = put(tmp_path / "out", M="a z old gone", a="1", z="2", old="3", mine="4")
    (out / "folder").mkdir()
    files = {"z": b"9", "b": b"", "a": b"1"}
    assert compare_output_folder(files, out) == [
        Difference("b", "missing"), Difference("manifest.json", "extra"), Difference("old", "extra"), Difference("z", "differs"),
    ]  # fmt: skip
    whole = {"a": b"1", "z": b"2", "old": b"3", "manifest.json": (out / "manifest.json").read_bytes()}
    assert compare_output_folder(whole, out) == [] and _folder_holds_files(whole, out) and not _folder_holds_files(files, out)
    assert compare_output_folder({"a": b""}, tmp_path / "none") == [Difference("a", "missing")] and not _folder_holds_files(
        whole, tmp_path / "none"
    )
    (out / "manifest.json").write_text("{}")
    assert compare_output_folder({"a": b"1"}, out) == []


def test_folders_that_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path, file="x", ours__M="", other__a="1")
    (tmp_path / "ours" / "M").rename(tmp_path / "ours" / "manifest.json")
    (tmp_path / "ours" / "manifest.json").write_bytes(manifest("a"))
    (tmp_path / "empty").mkdir()
    assert (
        why_folder_is_refused(tmp_path / "file") == "is a file, not a folder"
        and why_folder_is_refused(tmp_path / "other") == NOBODY
    )
    assert [why_folder_is_refused(tmp_path / n) for n in ("ours", "empty", "none")] == [""] * 3


def test_a_finding_where_a_folder_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(files: dict[str, bytes]) -> tuple[bool, list[tuple[str, str, str]]]:
        found = Diagnostics()
        return write_output_folder(files, out, found), [(d.code, d.message, d.help or "") for d in found]

    out = put(tmp_path / "out", a="1")
    help = "choose another folder with --out, or move the existing files away"
    assert told({"b": b""}) == (False, [("E0508", f"{out} {NOBODY}", help)]) and tree(out) == {"a": "1"}
    out = tmp_path / "new"
    assert told({"b": b"", "../x": b"", "/y": b""}) == (
        False,
        [("E0509", f"{out} cannot be written: '../x' leads out of it", "")],
    )

    for fault, text in (
        (OSError(errno.ENOSPC, "no room", str(out / "b")), f"no room ({out / 'b'})"),
        (OSError(errno.ENOSPC, "no room"), "no room"),
        (OSError(errno.ENOSPC, "no room", str(out)), "no room"), (OSError("odd"), "odd"), (_OutputUnfit("b is none"), "b is none"),
    ):  # fmt: skip

        def failing(*given: object, fault: Exception = fault) -> None:
            raise fault

        monkeypatch.setattr(module, "_write_under_locks", failing)
        assert told({"b": b""}) == (False, [("E0509", f"{out} cannot be written: {text}", "")])


def test_parts_that_a_manifest_says(tmp_path: Path) -> None:
    said = {b"": None, b"[": None, b"[]": [], b"{}": [], b'{"only": "a"}': [], b'{"only": ["a", 1]}': ["a", "1"]}
    assert {text: _devices_of_partial_build(text) for text in said} == said and _quoted_patterns(["a", "b c"]) == "`a` `b c`"
    files = {"manifest.json": manifest("x", only=["su[1]", "leaf"])}
    out = tmp_path / "out"
    _refuse_other_part(files, out)
    put(out, M="x")
    tail = "; a build of the part `su[1]` `leaf` would remove what it does not make"
    assert refused(_refuse_other_part, files, out) == f"is a build of the whole fabric{tail}"
    (out / "manifest.json").write_bytes(manifest("x", only=["su[2]"]))
    assert refused(_refuse_other_part, files, out) == f"is a build of the part `su[2]`{tail}"
    assert refused(_folder_holds_files, files, out) == f"is a build of the part `su[2]`{tail}"
    _refuse_other_part({"manifest.json": manifest("x")}, out)
    _refuse_other_part({}, out)
    (out / "manifest.json").write_bytes(manifest("x", only=["su[1]", "leaf"]))
    _refuse_other_part(files, out)


def test_what_a_folder_holds(tmp_path: Path) -> None:
    """Not what is tdsl's own, but the same names further down."""
    put(
        tmp_path,
        a="",
        sub__b="",
        sub__deep__c="",
        **{f".tdsl-new-{TOKEN}__x": "", f"sub__.tdsl-new-{TOKEN}": "", ".tdsl-lock": ""},
    )
    for name in ("empty", "sub/none", "lost+found", "sub/lost+found"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "sub")
    (tmp_path / "sub" / "gone").symlink_to("nowhere")
    assert _paths_in_folder(tmp_path) == [
        "a", "empty/", "link", f"sub/.tdsl-new-{TOKEN}", "sub/b", "sub/deep/c", "sub/gone", "sub/lost+found/", "sub/none/",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": 1, "tdsl": "0"}', '{"tdsl": "0", "files": {}}', '{"schema": 1, "files": {}}',
     '{"schema": 1, "tdsl": 0, "files": []}', '{"schema": 1, "tdsl": "0", "files": {"a": 1, "../b": 1}}'],
)  # fmt: skip
def test_manifests_that_are_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert refused(_listed_paths_of_folder, tmp_path) == NOBODY and _listed_paths_if_any(tmp_path) == set()


def test_paths_that_a_folder_lists(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "lost+found").mkdir(parents=True)
    assert (
        _listed_paths_of_folder(out) == set()
        and _listed_paths_if_any(out) == set()
        and _listed_paths_if_any(tmp_path / "none") == set()
    )
    # of a first build that was killed: what its copy lists, where nothing else is there
    ready = put(out / f".tdsl-ready-{TOKEN}", M="a sub/b", sub__b="2")
    assert _listed_paths_of_folder(out) == set()
    put(out, a="1")
    assert _listed_paths_of_folder(out) == {"a", "sub/b", "manifest.json"}
    (out / "sub").mkdir()
    assert _listed_paths_of_folder(out) == {"a", "sub/b", "manifest.json"}
    put(out, mine="x")
    assert refused(_listed_paths_of_folder, out) == NOBODY
    put(out, M="mine")
    assert _listed_paths_of_folder(out) == {"mine", "manifest.json"} and ready.is_dir()


def test_files_of_others(tmp_path: Path) -> None:
    out = put(tmp_path / "out", M="a", a="1", notes="x", sub__n="y")
    (out / "empty").mkdir()
    assert _files_of_others(out, {"a": b"", "b/c": b""}) == ["empty/", "notes", "sub/n"]
    for file, path in (("notes", "notes"), ("notes/x", "notes"), ("sub", "sub/n"), ("empty", "empty/")):
        message = f"holds {path}, which tdsl did not write, in place of a file of the build"
        assert refused(_files_of_others, out, {file: b""}) == message
    assert _files_of_others(out, {"sub/x": b"", "empty/x": b""}) == ["empty/", "notes", "sub/n"]


def test_folders_that_another_can_take_the_place_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = put(tmp_path / "out", M="a sub/b", a="1", sub__b="2")
    answers: dict[str, Any] = {"writable": True, "mounts": [], "is_current": False, "rules": None}
    monkeypatch.setattr(module, "is_writable_folder", lambda folder: answers["writable"] and folder == tmp_path)
    monkeypatch.setattr(module, "mounts_below", lambda folder: answers["mounts"])
    monkeypatch.setattr(module, "is_working_folder", lambda folder: answers["is_current"])
    monkeypatch.setattr(module, "has_access_rules", lambda folder: folder == answers["rules"])
    assert (
        _can_exchange_folder(tmp_path / "none", ["x/"])
        and _can_exchange_folder(out, [])
        and _can_exchange_folder(out, ["x", "sub/y"])
    )
    assert not _can_exchange_folder(out, ["x", "other/y"]) and not _can_exchange_folder(out, ["sub/"])
    for name, value in (("writable", False), ("mounts", ["x"]), ("is_current", True), ("rules", out), ("rules", out / "sub")):
        kept = answers[name]
        answers[name] = value
        assert not _can_exchange_folder(out, [])
        answers[name] = kept
    answers["rules"] = out / "other"
    assert _can_exchange_folder(out, [])


def test_mounts_in_place_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = put(tmp_path / "out", M="old/x", old__x="1")
    found: list[str] = []
    monkeypatch.setattr(module, "mounts_below", lambda folder: found)
    for place, wanted in (("sub", True), ("sub/b", True), ("old", True), ("other", False), (".", False), ("sub/b/c", False)):
        found[:] = [".", place]
        if wanted:
            message = f"{place} in it is a mount of its own, whose files cannot be exchanged with the others; mount {out} instead"
            assert refused(_refuse_mounted_path, {"sub/b": b""}, out) == message
        else:
            _refuse_mounted_path({"sub/b": b""}, out)


def test_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    synced: list[tuple[list[str], list[str]]] = []
    monkeypatch.setattr(module, "exit_if_signalled", lambda: None)
    stage = tmp_path / "stage"

    def names(paths: list[Path]) -> list[str]:
        return [p.relative_to(stage).as_posix() for p in paths]

    monkeypatch.setattr(module, "sync_new_folder", lambda at, files, folders: synced.append((names(files), names(folders))))
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *how, **given: (order.append(path.name), real(path, *how, **given))[1])
    _write_staged_folder({"manifest.json": b"{}", "a/b/c": b"1", "a/d": b"2", "e": b""}, stage)
    assert order[:4] == ["c", "d", "e", "manifest.json"] and tree(stage) == {"a/b/c": "1", "a/d": "2", "e": ""}
    assert synced == [(["manifest.json", "a/b/c", "a/d", "e"], [".", "a", "a/b"])]
    monkeypatch.setattr(module, "sync_new_folder", lambda *given: None)
    monkeypatch.setattr(module, "_how_file_differs", lambda out, path, size, digest: "differs" if path in "bc" else "")
    message = "b does not hold what was written to it; the existing files are unchanged"
    assert refused(_write_staged_folder, {"a": b"", "b": b"", "c": b""}, tmp_path / "other") == message
    like = tmp_path / "like"
    like.mkdir(0o755)
    monkeypatch.setattr(module, "_how_file_differs", lambda *given: "")
    _write_staged_folder({"a": b""}, tmp_path / "private", like)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o700
    like.chmod(0o2755)
    if like.stat().st_mode & stat.S_ISGID:
        _write_staged_folder({"a": b""}, tmp_path / "group", like)
        assert stat.S_IMODE((tmp_path / "group").stat().st_mode) == 0o2700


def test_how_two_folders_change_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one step, by two renames, or not at all; if the second rename fails, the first is taken back."""
    stage, out = put(tmp_path / "stage", n="new"), put(tmp_path / "out", o="old")
    monkeypatch.setattr(module, "exchange_folders", lambda a, b: (a, b) == (stage, out))
    assert _exchange_staged_folder(stage, out) == stage
    monkeypatch.setattr(module, "exchange_folders", lambda a, b: False)
    old = _exchange_staged_folder(stage, out)
    assert old is not None and tree(old) == {"o": "old"} and tree(out) == {"n": "new"} and not stage.exists()
    with pytest.raises(FileNotFoundError):
        _exchange_staged_folder(stage, out)
    assert tree(out) == {"n": "new"}
    for number in (errno.EBUSY, errno.EXDEV, errno.EACCES):

        def failing(a: Path, b: Path, number: int = number) -> bool:
            raise OSError(number, "no")

        monkeypatch.setattr(module, "exchange_folders", failing)
        if number == errno.EACCES:
            with pytest.raises(PermissionError):
                _exchange_staged_folder(stage, out)
        else:
            assert _exchange_staged_folder(stage, out) is None


def test_files_of_others_in_a_new_folder(tmp_path: Path) -> None:
    out, stage = put(tmp_path / "out", mine="1", sub__n="2"), put(tmp_path / "stage", sub__b="3", only__c="4")
    (out / "link").symlink_to("mine")
    (out / "sub").chmod(0o711)
    (out).chmod(0o750)
    brought: dict[str, tuple[int, int]] = {}
    assert _bring_files_of_others(["link", "mine", "sub/n", "gone"], out, stage, brought) is True
    assert tree(stage) == {"link": "1", "mine": "1", "sub/n": "2", "sub/b": "3", "only/c": "4"} and (stage / "link").is_symlink()
    facts = (out / "mine").stat()
    assert brought["mine"] == (facts.st_dev, facts.st_ino) and sorted(brought) == ["link", "mine", "sub/n"]
    assert [stat.S_IMODE((stage / n).stat().st_mode) for n in (".", "sub")] == [0o750, 0o711]
    assert _bring_files_of_others(["mine"], out, stage, {}) is False


@pytest.mark.parametrize(
    ("there", "age", "brought", "wanted"),
    [
        (None, 0, None, "from"), ("there", 10, None, "from"), ("there", -10, None, "there"), ("there", 0, None, "there"),
        ("there", -10, "there", "from"), ("there", 10, "from", "there"),
    ],
)  # fmt: skip
def test_a_file_of_others_from_an_old_folder(
    there: str | None, age: int, brought: str | None, wanted: str, tmp_path: Path
) -> None:
    """The newer one stays, or the one that was not brought there; nothing of it is left in the old folder."""
    old, out = put(tmp_path / "old", f="from"), tmp_path / "out"
    out.mkdir()
    if there:
        put(out, sub__f=there)
        os.utime(out / "sub/f", ns=(10**18, 10**18))
        os.utime(old / "f", ns=(10**18 + age, 10**18 + age))
    given = None
    if brought:
        facts = (out / "sub/f" if brought == "there" else old / "f").stat()
        given = facts.st_dev, facts.st_ino
    _rescue_file_of_others(old / "f", out, "sub/f", given)
    assert tree(out) == {"sub/f": wanted} and tree(old) == {}


def test_folders_on_the_way_of_a_file_of_others_are_made(tmp_path: Path) -> None:
    old, out = put(tmp_path / "old", f="1"), tmp_path / "out"
    out.mkdir()
    _rescue_file_of_others(old / "f", out, "a/b/c")
    assert tree(out) == {"a/b/c": "1"} and tree(old) == {}


def test_what_cannot_be_brought_stays(tmp_path: Path) -> None:
    old, out = put(tmp_path / "old", f="1", d__x="2"), put(tmp_path / "out", d__y="3")
    (out / "link").symlink_to(tmp_path)
    _rescue_file_of_others(old / "f", out, "link/f")
    _rescue_file_of_others(old / "f", tmp_path / "none", "f")
    _rescue_file_of_others(old / "d", out, "d")
    assert tree(old) == {"f": "1", "d/x": "2"} and tree(out) == {"d/y": "3"} and not (tmp_path / "f").exists()
    os.link(old / "f", out / "same")
    _rescue_file_of_others(old / "f", out, "same")
    assert tree(out) == {"d/y": "3", "same": "1"} and not (old / "f").exists()
    (old / "to").symlink_to("nowhere")
    put(out, to="x")
    os.utime(out / "to", ns=(1, 1))
    _rescue_file_of_others(old / "to", out, "to")
    assert (out / "to").is_symlink() and not os.path.lexists(old / "to")


def test_links_on_the_way(tmp_path: Path) -> None:
    put(tmp_path, a__b__c="1")
    (tmp_path / "a" / "l").symlink_to(tmp_path / "a" / "b")
    assert (
        _has_linked_parent(tmp_path, "a/l/c")
        and not _has_linked_parent(tmp_path, "a/l")
        and not _has_linked_parent(tmp_path, "a/b/c")
    )
    assert not _has_linked_parent(tmp_path / "a" / "l", "c")


def test_a_file_that_is_made_no_more(tmp_path: Path) -> None:
    out = put(tmp_path / "out", a__b__c="1", a__d__e="2", f="3")
    put(tmp_path, outside="x")
    _clear_obsolete_file(out, "../outside")
    (out / "l").symlink_to(out / "a")
    _clear_obsolete_file(out, "l/b/c")
    assert len(tree(out)) >= 3 and (tmp_path / "outside").exists() and (out / "a/b/c").exists()
    with pytest.raises(OSError, match="not empty"):
        _clear_obsolete_file(out, "a/b/c")
    assert not (out / "a/b").exists() and (out / "a/d/e").exists()
    _clear_obsolete_file(out, "a/d/e")
    assert not (out / "a").exists() and (out / "f").exists()
    _clear_obsolete_file(out, "f")
    assert not (out / "f").exists() and out.is_dir()


def test_removing(tmp_path: Path) -> None:
    put(tmp_path, d__x="1", f="2", kept__y="3")
    (tmp_path / "l").symlink_to(tmp_path / "kept")
    for name in ("d", "f", "l", "none"):
        _discard_own_path(tmp_path / name)
    assert tree(tmp_path) == {"kept/y": "3"} and not os.path.lexists(tmp_path / "l")


def test_an_old_folder_goes(tmp_path: Path) -> None:
    """With tdsl's files; what is of others is brought to the new one, and if it cannot be, it stays with the manifest."""
    out = put(tmp_path / "out", M="a sub/n", a="1", sub__n="2")
    old = put(tmp_path / "old", M="a sub/o", a="0", sub__o="0", sub__mine="x", top="y", **{f".tdsl-new-{TOKEN}__z": ""})
    put(old, sub__n="late", others__deep="z")
    _retire_old_folder(old, out)
    assert not old.exists() and tree(out) == {"a": "1", "sub/n": "2", "sub/mine": "x", "top": "y", "others/deep": "z"}
    old = put(tmp_path / "older", M="a", a="0", d__x="kept")
    put(out, d="a file")
    _retire_old_folder(old, out)
    assert tree(old) == {"d/x": "kept"} and (old / "manifest.json").exists()
    old = put(tmp_path / "linked", M="sub/a", other__a="1")
    (old / "sub").symlink_to(old / "other")
    _retire_old_folder(old, tmp_path / "nowhere")
    assert (old / "sub").is_symlink() and (old / "other/a").exists()


def test_what_a_killed_run_left_beside(tmp_path: Path) -> None:
    out = tmp_path / "out"
    put(tmp_path / f".out.tdsl-old-{TOKEN}", M="a", a="old")
    _recover_killed_run(out)
    assert tree(out) == {"a": "old"} and sorted(os.listdir(tmp_path)) == ["out"]
    put(tmp_path / f".out.tdsl-old-{TOKEN}", M="a", a="older", mine="x")
    put(tmp_path / f".out.tdsl-new-{TOKEN}", M="a", a="new", late="y")
    put(tmp_path / f".out.tdsl-new-{OTHER}", a="half", gone="z")
    kept = [f".out.tdsl-new-{TOKEN[:-1]}", f".out.tdsl-new-{TOKEN[:-1]}G", f".out.tdsl-new-x{TOKEN}", f".other.tdsl-new-{TOKEN}",
            f".out.tdsl-new-{TOKEN.upper()}"]  # fmt: skip
    for name in kept:
        put(tmp_path / name, f="1")
    put(tmp_path, **{f".out.tdsl-new-{THIRD}": "a file"})
    (tmp_path / f".out.tdsl-old-{OTHER}").symlink_to(tmp_path / kept[0])
    _recover_killed_run(out)
    assert tree(out) == {"a": "old", "mine": "x", "late": "y"}
    assert sorted(os.listdir(tmp_path)) == sorted(["out", *kept, f".out.tdsl-new-{THIRD}", f".out.tdsl-old-{OTHER}"])


def test_what_a_killed_run_left_inside(tmp_path: Path) -> None:
    """A whole copy is brought in, its manifest last; a half one goes; names of others stay."""
    out = put(tmp_path / "out", M="a gone/x", a="0", gone__x="0", mine="m", **{f".tdsl-new-{TOKEN}__a": "half"})
    put(out / f".tdsl-ready-{TOKEN}", M="a sub/b c", a="1", sub__b="2")
    put(out, c="3", **{".tdsl-ready-x__a": "9", ".tdsl-new-x__a": "9", f"ready-{TOKEN}__a": "9"})
    (out / f".tdsl-ready-{OTHER}").symlink_to(tmp_path)
    _recover_inside(out)
    assert tree(out) == {
        "a": "1", "sub/b": "2", "c": "3", "mine": "m", ".tdsl-ready-x/a": "9", ".tdsl-new-x/a": "9", f"ready-{TOKEN}/a": "9",
    }  # fmt: skip
    assert _listed_paths_of_folder(out) == {"a", "sub/b", "c", "manifest.json"} and not (out / "gone").exists()
    assert not (out / f".tdsl-ready-{TOKEN}").exists() and (out / f".tdsl-ready-{OTHER}").is_symlink()
    half = put(out / f".tdsl-ready-{TOKEN}", a="half")
    _bring_ready_copy(half, out)
    assert not half.exists() and (out / "a").read_text() == "1"
    for inside in (True, False):
        ready = put(out / f".tdsl-ready-{TOKEN}", M="d/x", other__x="1")
        place = (ready if inside else out) / "d"
        place.symlink_to(tmp_path)
        assert refused(_bring_ready_copy, ready, out) == "holds a link in place of a folder of d/x"
        place.unlink()


def test_old_folders_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those and no others are made writable before they are cleared."""
    old, changed = put(tmp_path / "old", M="a sub/b", a="1", sub__b="2"), []
    monkeypatch.setattr(module, "is_writable_folder", lambda folder: folder != old / "sub")
    monkeypatch.setattr(Path, "chmod", lambda path, mode: changed.append((path, mode)))
    _retire_old_folder(old, tmp_path / "out")
    assert changed == [(old / "sub", 0o700)] and not old.exists()
