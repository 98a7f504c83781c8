"""Small outputs of a build, written as a build writes them; and calls of tdsl in shells, mounts and children of their own."""

from __future__ import annotations

import codecs
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tdsl.findings.diagnostic import Diagnostics
from tdsl.output.write import write_output_folder
from tdsl.syntax.grammar import load_grammar_tables
from tests.cli.run import tdsl

ROOT = Path(__file__).parents[2]
ROOTED = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")


codecs.lookup("ascii")  # a child that is nobody may not reach the folder of Python, where it would be read from


def put(content: dict[str, bytes], out: Path) -> list[str]:
    """Write; the codes of what was found."""
    found = Diagnostics()
    assert write_output_folder(content, out, found) is not found.has_errors
    return [d.code for d in found]


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def shell(folder: Path, line: str, program: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell in which `tdsl` is this one, or that of a program. It must end soon."""
    text = f'tdsl() {{ {program or f"{sys.executable} -m tdsl"} "$@"; }}; set -o pipefail; {line}'
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(["bash", "-c", text], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


def of_a_new_process(*words: str, **variables: str) -> Result:
    """A call that reads the grammar first, as a process does that begins."""
    load_grammar_tables.cache_clear()
    try:
        return tdsl(*words, env=variables)
    finally:
        load_grammar_tables.cache_clear()


def in_mounts(script: str, folder: Path, program: Path) -> None:
    """Run shell commands, in which `tdsl` is that of a program, where mounts are nobody else's."""
    line = ["unshare", "--mount", "bash", "-euc", f'tdsl() {{ {program} "$@"; }}\n{script}']
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    if "permission" in done.stderr.lower() or "not permitted" in done.stderr.lower():
        pytest.skip("no mounts here")
    assert done.returncode == 0, done.stdout + done.stderr


def entered(folder: Path) -> None:
    """Have other users reach a folder."""
    for parent in (folder, *folder.parents):
        if str(parent).startswith("/tmp/"):
            parent.chmod(0o755)


def started(work: Callable[[], object], user: int = 0) -> int:
    """A child, as another user where one is given, that does a piece of work. Its status is what this gives or exits with, 99
    where it raises."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            with contextlib.suppress(Exception, KeyboardInterrupt):
                if user:
                    os.setgroups([])
                    os.setgid(user)
                    os.setuid(user)
                status = int(work() or 0)  # type: ignore[call-overload]
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            os._exit(status)
    return child


def status_of(child: int) -> int:
    """The exit status of a child, once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(work: Callable[[], object], user: int = 0) -> int:
    """The status of a child that does a piece of work."""
    return status_of(started(work, user))
