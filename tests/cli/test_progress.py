"""The line of progress on a terminal, and Ctrl-C inside a library that does not listen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import write
from tests.tables import sections

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
if sys.platform != "win32":
    import fcntl
    import struct
    import termios

AT_ONCE, DEAF, LOST = (sections(__file__)[name] for name in ("at once", "deaf", "lost"))


def on_terminal(*args: str, **more: str) -> str:
    """What a call writes to a terminal of 100 columns on its stderr."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    env = {k: v for k, v in os.environ.items() if k != "CI"} | {"TERM": "xterm"} | more
    process = subprocess.Popen([sys.executable, "-c", AT_ONCE, *args], env=env, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # Linux: the other side is closed
        while part := os.read(ours, 65536):
            said += part
    assert process.wait(30) == 0, said
    os.close(ours)
    return said.decode()


def test_phases_on_a_terminal(tmp_path: Path) -> None:
    said = on_terminal("check", str(write(tmp_path)))
    assert "check " in said and "checks/s" in said and " left]" in said
    assert said.endswith("\r\x1b[K"), "nothing of it is left"


@pytest.mark.parametrize(("more", "args"), [({"CI": "true"}, ()), ({"TERM": "dumb"}, ()), ({}, ("-q",))])
def test_no_line_where_none_is_wanted(more: dict[str, str], args: tuple[str, ...], tmp_path: Path) -> None:
    assert " left]" not in on_terminal("check", *args, str(write(tmp_path)), **more)


def test_nothing_in_a_pipe(tmp_path: Path) -> None:
    line = [sys.executable, "-c", AT_ONCE, "check", str(write(tmp_path))]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "\r" not in done.stderr and "left]" not in done.stderr


@pytest.mark.parametrize("what", ["computes", "writes"])
def test_ctrl_c_inside_a_library(what: str) -> None:
    """The process ends, and what is being written is written first."""
    process = subprocess.Popen([sys.executable, "-c", DEAF, what], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    said, wrong = process.communicate(timeout=60)
    assert process.returncode == 130 and wrong == "", wrong
    assert said == ("written\n" if what == "writes" else "")


@pytest.mark.parametrize(("where", "status", "expected"), [("here", 130, "cleared\n"), ("copy", 0, "goes on\ngoes on\n")])
def test_ctrl_c_where_python_would_drop_it(where: str, status: int, expected: str) -> None:
    """The process ends as at any other place, and a copy of it clears nothing away that is not its own."""
    done = subprocess.run([sys.executable, "-c", LOST, where], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (status, expected), done.stderr
    assert where == "copy" or done.stderr == ""


def test_every_module_that_starts_z3_leaves_ctrl_c_alone() -> None:
    """Ctrl-C ends tdsl, also while z3 searches."""
    line = [sys.executable, "-c", sections(__file__)["solvers"]]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()
    modules = ("semantics.contradiction", "sizing.relations", "sizing.all_parameters")
    assert said == [f"tdsl.{name} false" for name in modules]
