"""Writing under bad luck: killed, out of room, without rights, two at a time. What stood there stays whole."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.output import write as writing
from tdsl.output.write import write_output_folder
from tdsl.system import files as disk
from tests.cli.run import tdsl
from tests.cli.run import write as design
from tests.safety.built import output, tree

ROOT = Path(__file__).parents[2]
ROOTED = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")

EVERY_STEP = """
    import ctypes, errno, os, signal, sys
    from pathlib import Path
    from tdsl.system import files as disk
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.output import write as writing
    from tests.safety.built import files

    def output(n):
        return files(**{f"f{i}": str(n) for i in range(3)}, sub__g=str(n))

    what, how, place = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if what == "renames":  # as on a system that cannot exchange two folders in one step
        ctypes.CDLL = lambda *given, **named: None

    def work(n):
        if what == "file":
            disk.replace_file(place, b"%d" % n * 5000)
            return True
        return writing.write_output_folder(output(n), place, Diagnostics())

    def guard(of, name, left):
        before = getattr(of, name)
        def step(*args, **kwargs):
            left[0] -= 1
            if left[0] == 0:
                if how == "kill":
                    os._exit(9)
                if how == "signal":
                    signal.raise_signal(signal.SIGTERM)
                    return before(*args, **kwargs)
                if how == "half" and name in ("write", "write_bytes"):
                    before(args[0], bytes(args[1])[:2], **kwargs)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return before(*args, **kwargs)
        setattr(of, name, step)

    steps = [(os, n) for n in ("open", "write", "fsync", "replace", "rename", "mkdir", "unlink", "rmdir", "link", "truncate")]
    steps += [(Path, "write_bytes")]
    stride, at = int(sys.argv[4]), 1
    while True:
        assert work(at)
        child = os.fork()
        if child == 0:
            left = [at]
            for of, name in steps:
                guard(of, name, left)
            try:
                work(at + 1)
            except OSError:
                os._exit(7)
            os._exit(0 if left[0] > 0 else 8)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if what == "file":
            found = place.read_bytes()
            assert found in (b"%d" % at * 5000, b"%d" % (at + 1) * 5000), (at, status, found[:20])
        elif what != "mount":
            found = {p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file()}
            assert found in (output(at), output(at + 1)) or (what == "renames" and not found), (at, status, sorted(found))
        if status == 0:
            break
        if how == "signal":
            left = [p.name for p in (*place.parent.iterdir(), *place.glob(".tdsl-*")) if p != place]
            assert (status, left) == (-signal.SIGTERM, []), (at, status, left)
        elif how != "kill" and what != "mount":
            left = [p.name for p in place.parent.iterdir() if p != place]
            assert len(left) <= (at > 3), (at, status, left)  # clearing away may be what failed
        at += stride
    assert work(at)
    left = [p.name for p in place.parent.iterdir() if p != place]
    found = {p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()} if what != "file" else set(output(0))
    assert found == set(output(0)) and (what == "file" or not left), (found, left)
    print(at)
"""


@pytest.fixture
def swift() -> Iterator[Path]:
    """A folder on a file system in memory, where there is one: every step of these tests waits for the disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


def steps(what: str, how: str, place: Path, stride: int) -> int:
    """How many steps of a write failed, each in a child of its own."""
    line = [sys.executable, "-c", textwrap.dedent(EVERY_STEP), what, how, str(place), str(stride)]
    if what == "mount":
        line = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', str(place), *line]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    if what == "mount" and ("permi" in done.stderr or "unshare:" in done.stderr):
        pytest.skip("no mounts here")
    assert (done.returncode, done.stderr) == (0, "")
    return int(done.stdout)


@pytest.mark.parametrize("how", ["kill", "full", "half", "signal"])
@pytest.mark.parametrize(("what", "stride"), [("folder", 1), ("renames", 2), ("mount", 2), ("file", 1)])
def test_every_step_may_fail(what: str, stride: int, how: str, swift: Path) -> None:
    """At every write, rename and fsync a process is killed or asked to end, or the disk is full: old or new, whole, and the next
    build mends; who was asked to end leaves nothing."""
    place = swift / "out"
    if what == "mount":
        place.mkdir()
    assert steps(what, how, place, stride) > (3 if what == "file" else 12)


BUILDER = """
    import sys
    from pathlib import Path
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.output.write import write_output_folder
    from tests.safety.built import output
    for n in range(int(sys.argv[2]), int(sys.argv[2]) + 12):
        assert write_output_folder(output(n), Path(sys.argv[1]), Diagnostics()), n
"""


@pytest.mark.parametrize("apart", [False, True], ids=["processes", "containers"])
def test_two_builders(apart: bool, tmp_path: Path) -> None:
    """Two that cannot see each other's processes build one folder at once: each finds it whole."""
    alone = ["unshare", "--pid", "--fork"] if apart else []
    if apart and (
        shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no namespaces here")
    out = tmp_path / "out"
    line = [*alone, sys.executable, "-c", textwrap.dedent(BUILDER), str(out)]
    builders = [subprocess.Popen([*line, str(1000 * n)], cwd=ROOT, stderr=subprocess.PIPE, text=True) for n in range(3)]
    for builder in builders:
        assert builder.wait(120) == 0, builder.communicate()[1]
    found = tree(out)
    assert found == output(int(found["f0"]))
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("left", [".out.tdsl-new-00000000000a", ".out.tdsl-lock", ".out.tdsl-old-0123456789ab"])
def test_what_a_killed_process_of_number_1_left(left: str, tmp_path: Path) -> None:
    if left.endswith("lock"):
        (tmp_path / left).write_text("process 1 on gone")
    else:
        (tmp_path / left).mkdir()
    assert write_output_folder(output(1), tmp_path / "out", Diagnostics())
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_sigterm_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = [sys.executable, "-c", textwrap.dedent(BUILDER).replace("+ 12", "+ 10**6"), str(out), "0"]
    for turn in range(4):
        child = subprocess.Popen(line, cwd=ROOT)
        while not out.exists():
            time.sleep(0.01)
        time.sleep(0.5 + 0.04 * turn)
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == -signal.SIGTERM
        found = tree(out)
        assert found == output(int(found["f0"])) and [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["ctrl-c", "sigterm", "sighup"])
def test_a_build_that_is_interrupted_leaves_nothing(how: signal.Signals, tmp_path: Path) -> None:
    """From the first import to the last rename: no output or a whole one, nothing beside it, and no traceback."""
    design(tmp_path)
    line = [sys.executable, "-m", "tdsl", "build", "small.fab", "--target", "cabling", "--out", "out"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    took, ended = 100.0, 0
    for _ in range(2):  # the first one also fills caches
        begin = time.monotonic()
        assert subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, timeout=100, check=False).returncode == 0
        took = min(took, time.monotonic() - begin)
    for turn in range(4):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        child = subprocess.Popen(
            line, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(how, signal.SIG_DFL),  # what runs in the background ignores some
        )  # fmt: skip
        time.sleep(took * (0.3 + 0.18 * turn))
        child.send_signal(how)
        _, said = child.communicate(timeout=60)
        assert child.returncode in (0, -how, 128 + how) and f"{ROOT}/tdsl/" not in said, (
            turn,
            child.returncode,
            said,
        )
        ended += child.returncode != 0
        left = {p.name for p in tmp_path.iterdir()}
        assert left <= {"small.fab", "out"} and (child.returncode or "out" in left), (turn, left)
        if "out" in left:
            assert tdsl("verify", tmp_path / "out").exit_code == 0
    assert ended


def in_mounts(script: str, folder: Path) -> None:
    """Run shell commands where mounts are nobody else's."""
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-euc", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if "permission" in done.stderr.lower() or "not permitted" in done.stderr.lower():
        pytest.skip("no mounts here")
    assert done.returncode == 0, done.stdout + done.stderr


@ROOTED
def test_a_mount_as_the_output_folder(tmp_path: Path) -> None:
    """Files come, change and go, and nothing but them is left in it."""
    design(tmp_path)
    tool = f"PYTHONPATH={ROOT} {sys.executable} -m tdsl"
    in_mounts(
        f"""
        mkdir out && mount -t tmpfs tmpfs out
        {tool} build small.fab --target cabling --target json > /dev/null 2>&1
        echo mine > out/notes
        {tool} build small.fab --target cabling --set nodes=5 > /dev/null 2>&1
        {tool} verify out
        test ! -e out/json && test "$(cat out/notes)" = mine && test "$(ls -A out | sort | xargs)" = "cabling manifest.json notes"
        {tool} build small.fab --target cabling --set nodes=5 --check
        """,
        tmp_path,
    )


@ROOTED
def test_a_full_disk_leaves_what_stood_there(tmp_path: Path) -> None:
    """The lock, a report and the output folder on a disk with too little room."""
    design(tmp_path)
    tool = f"PYTHONPATH={ROOT} {sys.executable} -m tdsl"
    in_mounts(
        f"""
        mkdir disk && mount -t tmpfs -o size=512k tmpfs disk && cp small.fab disk && cd disk
        {tool} lock small.fab; {tool} build small.fab --target cabling --out out > /dev/null 2>&1
        {tool} check small.fab -o report.json --output-format json
        find . -type f | xargs sha256sum | sort > ../before
        cat /dev/zero > ballast 2> /dev/null || true
        ! {tool} lock small.fab --set nodes=8 2> ../said; grep -q "No space left" ../said
        ! {tool} check small.fab --set nodes=8 -o report.json --output-format json 2> ../said; grep -q "No space left" ../said
        ! {tool} build small.fab --set nodes=8 --target cabling --out out > /dev/null 2> ../said; grep -q "E0509" ../said
        rm ballast; find . -type f | xargs sha256sum | sort | diff ../before -
        """,
        tmp_path,
    )


@ROOTED
def test_without_rights(tmp_path: Path) -> None:
    """As nobody: a folder that may not be written to, a file in it that may, and a folder of somebody else."""
    inner = tmp_path / "closed"
    inner.mkdir()
    for parent in (*tmp_path.parents, tmp_path):
        if str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    (inner / "mine").write_text("old and longer")
    (inner / "theirs").write_text("old")
    (inner / "mine").chmod(0o666)
    inner.chmod(0o555)

    def attempt(path: Path) -> str:
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            try:
                disk.replace_file(path, b"new")
            except OSError as fault:
                os._exit(fault.errno or 1)
            os._exit(0)
        return os.strerror(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    assert attempt(inner / "mine") == "Success" and (inner / "mine").read_text() == "new"
    assert attempt(inner / "theirs") == "Permission denied" and (inner / "theirs").read_text() == "old"
    assert attempt(inner / "fresh") == "Permission denied"
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
    (tmp_path / "victim").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path(".github").symlink_to(tmp_path / "victim")
    Path(".pre-commit-config.yaml").symlink_to(tmp_path / "victim" / "hooks")  # dangling: opened, it would be made there
    done = tdsl("init", "small", "--ci", ci)
    assert not list((tmp_path / "victim").iterdir()), done.output
    assert done.exit_code == (2 if ci == "github" else 0) and ("is a link" in done.stderr) == (ci == "github")


def test_streams_are_written_to(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "tdsl", "check", str(design(tmp_path)), "--output-format", "json", "-o"]
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
