"""tdsl without what only Linux, or only Unix, has: the modules and calls are hidden, and designs are checked and built."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.cli.run import SMALL, write

ROOT = Path(__file__).parents[2]
HIDDEN = """
    # the standard library, and others' code, keep what they found when they were imported
    import os, signal, subprocess, sys, tempfile, types, uuid
    import asyncio, concurrent.futures, ctypes, multiprocessing.context, shutil, urllib.request
    import click, click.testing, numpy, networkx, jinja2

    where = sys.argv[1]
    if where == "win32":
        msvcrt = types.ModuleType("msvcrt")
        msvcrt.LK_NBLCK, msvcrt.held = 2, set()

        def locking(handle, mode, size):
            assert (mode, size) == (2, 1)
            place = os.fstat(handle).st_ino
            if place in msvcrt.held:
                raise PermissionError(13, "Permission denied")
            msvcrt.held.add(place)

        def close(handle, close=os.close):
            msvcrt.held.discard(os.fstat(handle).st_ino)
            close(handle)

        msvcrt.locking, os.close = locking, close
        sys.modules["msvcrt"] = msvcrt
        for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"):
            sys.modules[name] = None
        of_os = (
            "fork", "getuid", "geteuid", "getgid", "getegid", "setuid", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK",
            "O_NOCTTY", "O_SYNC", "fchmod", "fchown", "chown", "lchown", "pread", "pwrite", "uname", "fwalk", "mkfifo", "killpg",
            "sync", "fdatasync", "posix_fallocate", "statvfs", "getpgid", "setsid", "WNOHANG", "sched_getaffinity",
        )
        of_signal = ("SIGHUP", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGXCPU", "SIGKILL", "SIGPIPE", "SIGUSR1", "setitimer",
                     "ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF", "pthread_sigmask")
        os.supports_dir_fd = set()
        os.supports_follow_symlinks = set()
    else:
        of_os = ("fdatasync", "posix_fallocate", "sched_getaffinity", "O_PATH", "O_TMPFILE")
        of_signal = ()

    class Library:
        def __init__(self, name, *args, **given):
            if where == "win32" and name is None:
                raise TypeError("bad argument type for built-in operation")

    ctypes.CDLL = Library
    for module, names in ((os, of_os), (signal, of_signal)):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = where

    from tdsl.cli import cli

    def call(*args, status=0):
        done = click.testing.CliRunner().invoke(cli, list(args), catch_exceptions=False)
        assert done.exit_code == status, (args, done.exit_code, done.output)
        return done.output

    assert "proved" in call("check", "small.fab")
    call("check", "small.fab", "-o", "report.json", "--output-format", "json", "--certificates", "proofs")
    for turn in ("4", "5", "5"):
        call("build", "small.fab", "--target", "cabling", "--target", "json", "--out", "out", "--set", f"nodes={turn}")
        call("verify", "out")
    call("lock", "small.fab")
    call("check", "--untrusted", "small.fab")
    call("fmt", "small.fab")
    call("build", "small.fab", "--target", "cabling", "--out", "second", "--set", "nodes=4.5", status=1)
    left = [n for n in os.listdir() if n.startswith(".")]
    assert not left, left
    print("done")
"""


@pytest.mark.parametrize("where", ["win32", "darwin"])
def test_without_what_linux_has(where: str, tmp_path: Path) -> None:
    """Locks, limits, signals and the exchange of folders: what a system lacks has a stand-in or is left out."""
    write(tmp_path, SMALL)
    line = [sys.executable, "-c", textwrap.dedent(HIDDEN), where]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TDSL_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=110, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stdout + done.stderr
    assert (tmp_path / "out" / "manifest.json").is_file() and (tmp_path / "small.fab.lock").is_file()
    assert not (tmp_path / "second").exists()
