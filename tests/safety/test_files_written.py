"""Single files that are written: locks, reports, designs. What somebody else has written meanwhile, or has closed, stays."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tdsl.cli import cli
from tdsl.system.read import inputs_protected, read_regular_file
from tdsl.system.replace import replace_file
from tests.cli.run import SMALL, tdsl, write
from tests.safety.built import ROOTED, entered, in_child, mode, shell, tree
from tests.tables import sections

LOOSE = SMALL.replace("  switch", "    switch")
"""A design that `fmt` changes."""


@pytest.mark.parametrize("args", [("fmt", "small.fab"), ("check", "--fix", "small.fab")])
def test_an_edit_made_meanwhile_stays(args: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor saves the design between the moment in which it is read and that in which it is written."""
    design = write(here, LOOSE.replace("spine[*] spread", "spin[*] spread") if args[0] == "check" else LOOSE)
    before = os.fsync

    def edited(handle: int) -> None:
        design.write_text("# mine\n" + SMALL)
        before(handle)

    monkeypatch.setattr(os, "fsync", edited)
    done = tdsl(*args, *(["--unsafe"] if args[0] == "check" else []))
    assert done.exit_code == 2 and "another program has changed it meanwhile" in done.stderr, done.output
    assert design.read_text() == "# mine\n" + SMALL and os.listdir() == ["small.fab"]


def test_a_list_of_accepted_faults_keeps_its_bytes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line ends of others, and entries that another audit has added meanwhile."""
    write(here)
    assert tdsl("build", "small.fab", "--target", "cabling", "--out", "out").exit_code == 0
    lines = Path("out/cabling/cables.csv").read_text().splitlines()
    Path("cut.csv").write_text("\n".join(lines[:-1]) + "\n")
    accept = ("audit", "small.fab", "--p2p", "cut.csv", "--accept", "list", "--reason", "being replaced")
    Path("list").write_bytes(b"# a list\r\n")
    done = tdsl(*accept)
    assert done.exit_code in (0, 1) and Path("list").read_bytes().startswith(b"# a list\r\n"), done.output
    first = Path("list").read_bytes()
    assert len(first) > 20
    Path("cut.csv").write_text("\n".join(lines[:-2]) + "\n")
    before = os.fsync

    def meanwhile(handle: int) -> None:
        Path("list").write_bytes(first + b"# theirs\n")
        before(handle)

    monkeypatch.setattr(os, "fsync", meanwhile)
    done = tdsl(*accept)
    assert done.exit_code == 2 and "another program has changed it meanwhile" in done.stderr, done.output
    assert Path("list").read_bytes() == first + b"# theirs\n"


def test_a_file_that_is_read_only_stays(here: Path) -> None:
    """A rename does not ask for the right to write: a lock that somebody had closed was replaced."""
    write(here, LOOSE)
    assert tdsl("lock", "small.fab").exit_code == 0
    for name in ("small.fab", "small.fab.lock"):
        Path(name).chmod(0o444)
    write(here, SMALL, "new.fab")
    Path("new.fab.lock").touch(0o444)
    before = tree(here)
    for call in ("lock small.fab --set nodes=5", "fmt small.fab", "plan small.fab new.fab"):
        done = tdsl(*call.split())
        assert done.exit_code == 2 and "it is read-only; `chmod u+w`" in " ".join(done.stderr.split()), done.output
    assert tree(here) == before


INPUT = sections(__file__)["input"]


def test_nothing_is_written_over_what_is_read(here: Path) -> None:
    """A slip of the hand: the design, or the lock, was a report afterwards. Also where the answer comes from the cache."""
    write(here)
    write(here, SMALL.replace("= 4", "= 5"), "new.fab")
    assert tdsl("lock", "small.fab").exit_code == 0
    assert tdsl("build", "small.fab", "--target", "cabling").exit_code == 0
    Path("cables.csv").write_bytes(Path("out/cabling/cables.csv").read_bytes())
    Path("gone.txt").write_text("leaf[0]\n")
    Path("places.csv").write_text("device,hall,row,rack,unit\n")
    before = tree(here)
    for call in INPUT.splitlines() + INPUT.splitlines()[:1]:
        done = tdsl(*call.split())
        assert done.exit_code == 2 and "this call reads it, so it is not written over" in done.stderr, done.output
        assert {name: data for name, data in tree(here).items() if name in before} == before, call


@pytest.mark.parametrize("damage", ["cut", "line", "twice", "merge", "empty", "comment", "zeros"])
def test_a_lock_that_cannot_be_read_is_not_written_over(damage: str, here: Path) -> None:
    """It is the record of what is cabled: `tdsl lock` laid the links of the lost lines anew, and wrote that down."""
    write(here)
    lock = Path("small.fab.lock")
    assert tdsl("lock", "small.fab").exit_code == 0
    whole = lock.read_text()
    damaged = {
        "cut": whole[:150] + whole[150:].partition("  ")[0],
        "line": whole[: whole.rindex("\n", 0, -1) + 1],
        "twice": whole + whole.splitlines(keepends=True)[-1],
        "merge": f"<<<<<<< HEAD\n{whole}=======\n{whole}>>>>>>> theirs\n",
        "empty": "",
        "zeros": whole[:500] + "\0" * 100,  # what a file system has after a crash
        "comment": whole.partition("\n")[0] + "\n",
    }[damage]
    lock.write_text(damaged)
    assert damaged != whole
    done = tdsl("check", "small.fab", "--locked")
    assert done.exit_code == 1 and ("E0011" if damage == "zeros" else "E0496") in done.stdout, done.output
    done = tdsl("lock", "small.fab")
    said = " ".join(done.stderr.split())
    assert done.exit_code == 1 and "nothing is written" in said and "git checkout -- small.fab.lock" in said, done.output
    assert lock.read_text() == damaged
    assert tdsl("lock", "small.fab", "--fresh").exit_code == 0 and lock.read_text() == whole


def test_a_large_lock(here: Path) -> None:
    """One of a million links has 64 MiB: it was written, and then refused by every command. What is not read is not written."""
    write(here)
    assert tdsl("lock", "small.fab").exit_code == 0
    whole = Path("small.fab.lock").read_bytes()
    with Path("small.fab.lock").open("ab") as file:
        for _ in range(65):
            file.write(b"#" * (1 << 20) + b"\n")
    assert tdsl("check", "small.fab", "--locked").exit_code == 0
    assert tdsl("lock", "small.fab").exit_code == 0 and Path("small.fab.lock").read_bytes() == whole


@ROOTED
def test_the_group_of_a_file_stays(tmp_path: Path) -> None:
    """Two users share a folder by a group: the file of one, written by the other, was that one's alone."""
    folder = tmp_path / "shared"
    folder.mkdir()
    entered(folder)
    place = write(folder, "old", "small.fab.lock")
    os.chown(folder, 0, 4242)
    folder.chmod(0o770)
    os.chown(place, 1234, 4242)
    place.chmod(0o660)

    def work() -> int:
        os.setgroups([4242])
        os.setgid(65534)
        os.setuid(65534)
        replace_file(place, b"new")
        return 0

    assert in_child(work) == 0
    facts = place.stat()
    assert (place.read_text(), facts.st_gid, mode(place)) == ("new", 4242, 0o660)


def test_a_name_with_a_line_break(here: Path) -> None:
    """What follows the break would be a line of its own, which a CI system takes for a command: `::stop-commands::`."""
    name = "a\n::stop-commands::b.fab"
    write(here, LOOSE, name)
    for call in ("check", "check --output-format concise", "fmt --check", "lock", "build", "lint-nccl", "check ."):
        done = tdsl(*call.split(), *([] if call.endswith(".") else [name]))
        assert done.exit_code == 2 and "line break" in done.stderr, done.output
        assert not [x for x in done.output.splitlines() if x.startswith("::")]


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_without_standard_streams(streams: str, tmp_path: Path) -> None:
    """As some services start programs: a file that is written does not get their numbers."""
    write(tmp_path)
    calls = ["check small.fab --select isolated --output-format json -o r.json --report json=s.json"]
    calls += ["lock small.fab"] if streams == "<&- >&- 2>&-" else []
    for call in calls:
        done = shell(tmp_path, f"exec 3>&1; tdsl {call} {streams}; echo $? >&3")
        assert done.stdout.split()[-1:] == ["0"] and "E0901" not in done.stderr, done.stdout + done.stderr
    for name in ("r.json", "s.json"):
        assert json.loads((tmp_path / name).read_bytes())["designs"]
    assert len(calls) == 1 or (tmp_path / "small.fab.lock").read_text().startswith("# Existing links")


@pytest.mark.parametrize("there", [False, True])
def test_certificates_that_cannot_be_written_leave_no_folder(there: bool, tmp_path: Path, forked: Path) -> None:
    write(tmp_path)
    if there:
        (tmp_path / "a" / "b").mkdir(parents=True)
    done = shell(tmp_path, "ulimit -f 0; tdsl check small.fab --no-cache --certificates a/b", forked)
    assert done.returncode == 2 and "a/b/small/" in done.stderr and "File too large" in done.stderr, done.stdout + done.stderr
    left = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")}
    assert left == {"small.fab", *({"a", "a/b"} if there else ())}


def test_reports_are_written_before_a_reader_leaves(tmp_path: Path) -> None:
    """`tdsl check … --report sarif=FILE | head -1` is not to lose the file."""
    write(tmp_path)
    done = shell(tmp_path, "tdsl check small.fab --output-format json --report json=r.json | true")
    assert done.returncode in (0, 141) and "Traceback" not in done.stderr
    assert json.loads((tmp_path / "r.json").read_bytes())["designs"]


def test_all_fabrics_are_written_before_a_reader_leaves(tmp_path: Path) -> None:
    """What is written to the first folder is printed at once, to nobody: the second folder was not written."""
    write(tmp_path, SMALL + SMALL.replace("fabric small", "fabric large"))
    line = f"PYTHONUNBUFFERED=1 {sys.executable} -m tdsl build small.fab --target cabling --out out 2> said | true; sleep 0"
    done = shell(tmp_path, f"set +o pipefail; {line}")
    assert done.returncode == 0 and "Traceback" not in (tmp_path / "said").read_text()
    for name in ("small", "large"):
        assert tdsl("verify", tmp_path / "out" / name).exit_code == 0


def test_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    write(tmp_path)
    done = shell(tmp_path, "mkdir gone; cd gone; rmdir ../gone; tdsl check ../small.fab")
    assert done.returncode == 2 and "the current folder has been removed" in done.stderr and "E0901" not in done.stderr


def test_a_new_target_leaves_what_is_there(here: Path, tmp_path: Path) -> None:
    """A folder without `templates` was taken for a new one: its files were written over, links in it followed, and on a full disk
    all of it was removed."""
    for name in ("mine", "linked"):
        Path(name).mkdir()
    Path("mine/README.md").write_text("mine")
    Path("theirs").write_text("theirs")
    Path("linked/README.md").symlink_to(tmp_path / "theirs")
    Path("dangling").symlink_to(tmp_path / "nowhere")
    for name in ("mine", "linked", "dangling"):
        done = tdsl("new", "target", name)
        assert done.exit_code == 2 and f"{name} is there already" in done.stderr, done.output
    assert Path("mine/README.md").read_text() == "mine" and Path("theirs").read_text() == "theirs"
    assert sorted(os.listdir()) == ["dangling", "linked", "mine", "theirs"] and len(os.listdir("linked")) == 1


STARTS = ("new target few --in deep/er", "init few --audit lldp")


def ended(args: list[str], step: int, number: int, place: Path) -> None:
    """A call in a folder that gets a signal, or finds the disk full (0), when it opens the file of this number."""
    os.chdir(place)
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)  # a shell may have them ignored
    before, left = io.open, [step]

    def opened(*given: Any, **named: Any) -> Any:
        at = before(*given, **named)
        left[0] -= at.writable()
        if not left[0] and at.writable():
            if number:
                signal.raise_signal(number)
            at.write = lambda text: at.buffer.raw.seek(-1)  # raises OSError
        return at

    io.open = opened  # type: ignore[assignment]
    cli.main(args, prog_name="tdsl")


@pytest.fixture(scope="module", params=STARTS)
def start(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, bytes]]:
    """A call that writes several files, and what it writes."""
    folder = tmp_path_factory.mktemp("whole")
    assert shell(folder, f"tdsl {request.param}").returncode == 0
    return request.param.split(), tree(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, 0])
def test_a_start_that_is_ended(start: tuple[list[str], dict[str, bytes]], number: int, tmp_path: Path) -> None:
    """By a signal while a file is written, which was left empty then, or by a full disk (0): whole files, or none."""
    args, whole = start
    for step in range(1, len(whole) + 1):
        place = tmp_path / f"step{step}"
        place.mkdir()
        status = in_child(partial(ended, args, step, number, place))
        assert status == (-number if number not in (0, signal.SIGINT) else 130 if number else 2)
        found = tree(place)
        assert found.items() <= whole.items(), (step, found.keys())
        folders = [p for p in place.rglob("*") if p.is_dir() and not any(p.iterdir())]
        assert not folders and (args[0] == "init" or found == whole or not os.listdir(place)), (step, folders)


@pytest.mark.parametrize("way", ["mount", "link", "read-only"])
def test_what_a_call_reads_by_another_name(way: str, tmp_path: Path, forked: Path) -> None:
    """A report over the design that it is about, reached through another mount or a hard link: the design was gone."""
    if way != "link" and (not hasattr(os, "geteuid") or os.geteuid() != 0):
        pytest.skip("needs root")
    (tmp_path / "there").mkdir()
    text = write(tmp_path, LOOSE).read_text()
    if way == "mount":
        tool = f"{forked} check small.fab --output-format json -o there/small.fab"
        line = ["unshare", "-m", "sh", "-c", f"mount --bind . there && {tool}"]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            pytest.skip(done.stderr)
        status, said = done.returncode, done.stderr
    else:
        os.link(tmp_path / "small.fab", tmp_path / "there/report")
        if way == "link":
            found = tdsl("check", tmp_path / "small.fab", "-o", tmp_path / "there/report")
            status, said = found.exit_code, found.stderr
        else:
            (tmp_path / "small.fab").chmod(0o666)
            (tmp_path / "there").chmod(0o555)
            entered(tmp_path)

            def call_as_somebody() -> None:
                with inputs_protected():
                    read_regular_file(tmp_path / "small.fab")
                    with pytest.raises(OSError, match="this call reads it"):
                        replace_file(tmp_path / "there/report", b"report")

            assert in_child(call_as_somebody, 65534) == 0
            status, said = 2, "this call reads it"
    assert status == 2 and "this call reads it" in said, said
    assert (tmp_path / "small.fab").read_text() == text


@ROOTED
def test_a_folder_that_may_be_written_to_and_not_read(tmp_path: Path) -> None:
    """The file was written, and then the call said that another program had changed it, or that it could not be written."""
    (tmp_path / "small.fab").write_text("old")
    (tmp_path / "small.fab").chmod(0o666)
    entered(tmp_path)
    tmp_path.chmod(0o733)

    def written() -> None:
        replace_file(tmp_path / "small.fab", b"new", was=b"old")
        replace_file(tmp_path / "small.fab.lock", b"lock")

    assert in_child(written, 65534) == 0
    assert (tmp_path / "small.fab").read_text() == "new" and (tmp_path / "small.fab.lock").read_text() == "lock"
