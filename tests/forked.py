"""A `tdsl` for tests that call it again and again in shells: a process that has imported all of it forks for each call.

Importing takes longer than most of those calls. A call has the folder, environment, words, streams, mounts and largest size of a
file of who calls. What a process of its own does at its start and its end is judged elsewhere, by
``tests/test_standard_output.py``, ``tests/cli/test_commands.py`` and ``tests/safety``.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from select import select
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
CALLER = """
import json, os, resource, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    told = json.dumps([os.getcwd(), dict(os.environ), resource.getrlimit(resource.RLIMIT_FSIZE), sys.argv[2:]]).encode()
    mounts = [os.open("/proc/self/ns/mnt", os.O_RDONLY)] if os.path.exists("/proc/self/ns/mnt") else []
    socket.send_fds(line, [len(told).to_bytes(8, "big")], [0, 1, 2, *mounts])
    line.sendall(told)
    status = line.recv(1)
sys.exit(status[0] if status else 70)
"""
"""What a call runs, which imports next to nothing: it hands over what a call has of it."""


def program(folder: Path) -> tuple[Path, subprocess.Popen[bytes]]:
    """A `tdsl` in a folder, and the process that answers its calls until its standard input ends."""
    place = folder / "calls"
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forked", place], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"listening\n"
    (folder / "caller.py").write_text(CALLER, encoding="utf-8")
    made = folder / "tdsl"
    made.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {folder}/caller.py {place} "$@"\n', encoding="utf-8")
    made.chmod(0o755)
    return made, server


def _enter_mounts(handle: int) -> None:
    """Have this process see the mounts that a handle stands for, where it does not already."""
    if os.path.sameopenfile(handle, own := os.open("/proc/self/ns/mnt", os.O_RDONLY)):
        return os.close(own)
    os.close(own)
    if ctypes.CDLL(None, use_errno=True).setns(handle, 0):
        raise OSError(ctypes.get_errno(), "setns")


def _answer(line: socket.socket) -> None:
    """Run one call in a child of this process, and send its status."""
    head, handles, _, _ = socket.recv_fds(line, 8, 4)
    streams, mounts = handles[:3], handles[3:]
    size, told = int.from_bytes(head, "big"), b""
    while len(told) < size:
        told += line.recv(size - len(told))
    folder, environment, largest, words = json.loads(told)
    child = os.fork()
    if child == 0:
        status = 70
        try:
            line.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            for handle in mounts:
                _enter_mounts(handle)
                os.close(handle)
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_FSIZE, largest)
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = ["tdsl", *words]
            from tdsl.__main__ import main

            try:
                main()
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
            sys.stdout.flush()
        finally:
            os._exit(status)
    for handle in handles:
        os.close(handle)
    line.sendall(bytes([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256]))


def serve(place: str) -> None:
    """Answer calls, each in a process of its own, until standard input ends."""
    import tdsl
    from tests.cli.run import tdsl as tdsl_call
    from tests.cli.run import write

    for module in walk_packages(tdsl.__path__, "tdsl."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    with TemporaryDirectory() as folder:  # what a process keeps, such as templates: each call would make it anew
        design = write(Path(folder))
        for call in (("build", design, "--out", Path(folder) / "out"), ("diff", design, design), ("show", design, "links")):
            tdsl_call(*call)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen()
        print("listening", flush=True)
        waiting = 0
        while door in select([door, sys.stdin], [], [])[0]:
            line, _ = door.accept()
            waiting += 1
            with line:
                if os.fork() == 0:  # so that calls beside each other do not wait
                    door.close()
                    _answer(line)
                    os._exit(0)
            while waiting and os.waitpid(-1, os.WNOHANG)[0]:
                waiting -= 1


if __name__ == "__main__":
    serve(sys.argv[1])
