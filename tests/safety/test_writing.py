"""Writing under bad luck: killed, out of room, without rights, two at a time. What stood there stays whole."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.output import write as writing
from tdsl.output.write import write_output_folder
from tdsl.system.replace import replace_file
from tests.cli.run import tdsl
from tests.cli.run import write as design
from tests.safety.built import ROOT, ROOTED, entered, in_child, in_mounts, started, status_of, tree
from tests.safety.outputs import output
from tests.tables import sections

EVERY_STEP = sections(__file__)["every step"]


@pytest.fixture
def swift() -> Iterator[Path]:
    """A folder on a file system in memory, where there is one: every step of these tests waits for the disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


HOW = ("kill", "full", "half", "signal")


def steps(what: str, place: Path, stride: int) -> list[int]:
    """How many steps of a write failed in each way, each in a child of its own."""
    line = [sys.executable, "-c", EVERY_STEP, what, ",".join(HOW), str(place), str(stride)]
    if what == "mount":
        line = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', str(place), *line]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    if what == "mount" and ("permi" in done.stderr or "unshare:" in done.stderr):
        pytest.skip("no mounts here")
    assert (done.returncode, done.stderr) == (0, "")
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize(("what", "stride"), [("folder", 1), ("renames", 2), ("mount", 2), ("file", 1)])
def test_every_step_may_fail(what: str, stride: int, swift: Path) -> None:
    """At every write, rename and fsync a process is killed or asked to end, or the disk is full: old or new, whole, and the next
    build mends; who was asked to end leaves nothing."""
    place = swift / "out"
    if what == "mount":
        place.mkdir()
    found = steps(what, place, stride)
    assert len(found) == len(HOW) and min(found) > (3 if what == "file" else 12), found


CLONE_NEWPID = 0x20000000


def build_again_and_again(out: Path, first: int, times: int) -> int:
    """Write an output again and again; 0, or 1 if one is not written."""
    return int(not all(write_output_folder(output(n), out, Diagnostics()) for n in range(first, first + times)))


@pytest.mark.parametrize("apart", [False, True], ids=["processes", "containers"])
def test_two_builders(apart: bool, tmp_path: Path) -> None:
    """Two that cannot see each other's processes build one folder at once: each finds it whole."""
    out = tmp_path / "out"

    def build(first: int) -> int:
        if not apart:
            return build_again_and_again(out, first, 12)
        if ctypes.CDLL(None).unshare(CLONE_NEWPID):
            return 77
        return in_child(lambda: build_again_and_again(out, first, 12) if os.getpid() == 1 else 76)

    ended = {status_of(child) for child in [started(partial(build, 1000 * n)) for n in range(3)]}
    if ended == {77}:
        pytest.skip("no namespaces here")
    assert ended == {0}
    found = tree(out)
    assert found == output(int(found["f0"]))
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_what_a_killed_process_of_number_1_left(tmp_path: Path) -> None:
    (tmp_path / ".out.tdsl-lock").write_text("process 1 on gone")
    for left in (".out.tdsl-new-00000000000a", ".out.tdsl-old-0123456789ab"):
        (tmp_path / left).mkdir()
    assert write_output_folder(output(1), tmp_path / "out", Diagnostics())
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_sigterm_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for turn in range(4):
        child = started(lambda: build_again_and_again(out, 0, 10**6))
        while not out.exists():
            time.sleep(0.01)
        time.sleep(0.1 + 0.04 * turn)
        os.kill(child, signal.SIGTERM)
        assert status_of(child) == -signal.SIGTERM
        found = tree(out)
        assert found == output(int(found["f0"])) and [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_build_that_is_interrupted_leaves_nothing(tmp_path: Path, forked: Path) -> None:
    """From the first import to the last rename: no output or a whole one, nothing beside it, and no traceback."""
    design(tmp_path)
    line = [sys.executable, "-m", "tdsl", "build", "small.fab", "--target", "cabling", "--out", "out"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert tdsl("build", tmp_path / "small.fab", "--target", "cabling", "--out", tmp_path / "out").exit_code == 0  # fills caches
    begin = time.monotonic()
    assert subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, timeout=100, check=False).returncode == 0
    took = time.monotonic() - begin
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        ended = 0
        for turn in range(3 if how == signal.SIGINT else 2):
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
            child = subprocess.Popen(
                line, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)],  # some are ignored
            )  # fmt: skip
            time.sleep(took * (0.3 + 0.25 * turn))
            child.send_signal(how)
            _, said = child.communicate(timeout=60)
            assert child.returncode in (0, -how, 128 + how) and f"{ROOT}/tdsl/" not in said, (turn, child.returncode, said)
            ended += child.returncode != 0
            left = {p.name for p in tmp_path.iterdir()}
            assert left <= {"small.fab", "out"} and (child.returncode or "out" in left), (turn, left)
            assert "out" not in left or tdsl("verify", tmp_path / "out").exit_code == 0
        assert ended, how


@ROOTED
def test_a_mount_as_the_output_folder(tmp_path: Path, forked: Path) -> None:
    """Files come, change and go, and nothing but them is left in it."""
    design(tmp_path)
    in_mounts(sections(__file__)["a mount as the output folder"], tmp_path, forked)


@ROOTED
def test_a_full_disk_leaves_what_stood_there(tmp_path: Path, forked: Path) -> None:
    """The lock, a report and the output folder on a disk with too little room."""
    design(tmp_path)
    in_mounts(sections(__file__)["a full disk leaves what stood there"], tmp_path, forked)


@ROOTED
def test_without_rights(tmp_path: Path) -> None:
    """As nobody: a folder that may not be written to, a file in it that may, and a folder of somebody else."""
    inner = tmp_path / "closed"
    inner.mkdir()
    entered(tmp_path)
    (inner / "mine").write_text("old and longer")
    (inner / "theirs").write_text("old")
    (inner / "mine").chmod(0o666)
    inner.chmod(0o555)

    def attempt(name: str) -> str:
        def work() -> int:
            try:
                replace_file(inner / name, b"new")
            except OSError as fault:
                return fault.errno or 1
            return 0

        return os.strerror(in_child(work, 65534))

    assert attempt("mine") == "Success" and (inner / "mine").read_text() == "new"
    assert attempt("theirs") == attempt("fresh") == "Permission denied"
    assert sorted(p.name for p in inner.iterdir()) == ["mine", "theirs"]


@pytest.mark.parametrize("args", [("-o", "LINK"), ("--report", "json=LINK"), ("--certificates", "LINK")])
def test_no_link_is_followed_for_writing(args: tuple[str, str], tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    if args[0] == "--certificates":
        victim.mkdir()
    else:
        victim.write_text("precious")
    (tmp_path / "link").symlink_to(victim)
    done = tdsl("check", design(tmp_path), args[0], args[1].replace("LINK", str(tmp_path / "link")))
    assert done.exit_code == 2 and "it is a link" in done.stderr, done.output
    assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == "precious"


def test_a_link_inside_the_folder_of_certificates(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "small").symlink_to(tmp_path / "victim")
    done = tdsl("check", design(tmp_path), "--certificates", tmp_path / "made")
    assert done.exit_code == 2 and "it is a link" in done.stderr and not list((tmp_path / "victim").iterdir())


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_a_new_project_stays_in_its_folder(ci: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link at any folder above the file is refused."""
    for name in ("victim", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path(".github").symlink_to(tmp_path / "victim")
    Path(".pre-commit-config.yaml").symlink_to(tmp_path / "victim" / "hooks")  # dangling: opened, it would be made there
    done = tdsl("init", "small", "--ci", ci)
    assert not list((tmp_path / "victim").iterdir()), done.output
    assert done.exit_code == (2 if ci == "github" else 0) and (".github is a link" in done.stderr) == (ci == "github")
    Path(".github").unlink()
    Path(".github").mkdir()
    Path(".github/workflows").symlink_to(tmp_path / "victim")
    done = tdsl("init", "other", "--ci", "github")
    assert done.exit_code == 2 and ".github/workflows is a link" in done.stderr and not list((tmp_path / "victim").iterdir())


def test_streams_are_written_to(tmp_path: Path, forked: Path) -> None:
    line = [str(forked), "check", str(design(tmp_path)), "--output-format", "json", "-o"]
    assert subprocess.run([*line, "/dev/stdout"], capture_output=True, check=True).stdout.startswith(b"{")
    assert subprocess.run([*line, "/dev/null"], capture_output=True, check=True).stdout == b""
    assert Path("/dev/null").is_char_device()
    target = tmp_path / "report.json"
    target.write_text("old")
    target.chmod(0o640)
    subprocess.run([*line, str(target)], check=True)
    assert target.read_bytes().startswith(b"{") and target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "a/../../x", "", "a//b", "a\0b", "."])
def test_no_file_of_a_build_leads_out_of_it(path: str, tmp_path: Path) -> None:
    found = Diagnostics()
    assert not writing.write_output_folder({path: b"x", "manifest.json": b"{}"}, tmp_path / "out", found) and found.has_errors
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_the_default_output_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that a checkout brought is not followed; one that the call names is."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    design(Path())
    Path("out").symlink_to("../elsewhere")
    done = tdsl("build", "small.fab", "--target", "cabling")
    assert done.exit_code == 2 and "is a link, which is not followed unless" in done.stderr, done.output
    assert not (tmp_path / "elsewhere").exists()
    assert tdsl("build", "small.fab", "--target", "cabling", "--out", "out").exit_code == 0
    assert (tmp_path / "elsewhere" / "manifest.json").exists()
