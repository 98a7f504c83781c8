"""Descriptor 1 is for what tdsl itself writes: no library may print there, whatever its version.

A process that is tdsl's own from start to end (the command line) takes a descriptor of its own for
``sys.stdout``; descriptor 1 becomes standard error, for libraries in C and for child processes. In somebody
else's process (`tdsl.check`) descriptor 1 belongs to that program with all its threads: it leads elsewhere
only while a solver is made, which is when HiGHS prints its banner.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

_own = 1
_muting = Lock()


def claim_descriptor_1() -> None:
    """Give ``sys.stdout`` a descriptor of its own and make descriptor 1 standard error, or nothing where that
    is closed. Does nothing where standard output is closed, or no stream of Python's own."""
    global _own
    if not isinstance(sys.stdout, io.TextIOWrapper) or sys.platform == "win32":
        return
    import fcntl

    _own = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)  # not one of the standard three, which may be closed
    try:
        os.dup2(2, 1)
    except OSError:
        _lead_nowhere()
    _open_stdout()


def release_descriptor_1() -> None:
    """Make descriptor 1 standard output again, and ``sys.stdout`` what writes to it: for a server that claims
    both by itself."""
    global _own
    if _own != 1:
        sys.stdout.flush()
        os.dup2(_own, 1)
        os.close(_own)
        _own = 1
        _open_stdout()


def output_descriptor(number: int = 1) -> int:
    """The descriptor of what the caller of this process has opened as ``number``: another one for standard
    output, once that was claimed."""
    return _own if number == 1 else number


def _open_stdout() -> None:
    was = sys.stdout
    assert isinstance(was, io.TextIOWrapper)
    raw = open(_own, "wb", 0, closefd=False)  # noqa: SIM115 - open as long as the process
    sys.stdout = io.TextIOWrapper(
        raw if was.write_through else io.BufferedWriter(raw),
        was.encoding,
        was.errors,
        line_buffering=was.line_buffering,
        write_through=was.write_through,
    )
    vars(sys)["__stdout__"] = sys.stdout  # which is asked for the width of the terminal


@contextmanager
def libraries_muted() -> Iterator[None]:
    """Have descriptor 1 lead nowhere, for a moment: what other threads write to it is lost."""
    with _muting:
        try:
            kept = os.dup(1)
        except OSError:  # it is closed
            kept = -1
        try:
            if kept >= 0:
                _flush_libraries()
                _lead_nowhere()
            yield
        finally:
            if kept >= 0:
                _flush_libraries()
                os.dup2(kept, 1)
                os.close(kept)


def _lead_nowhere() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    if nothing != 1:
        os.close(nothing)


def _flush_libraries() -> None:
    """Write what the C library has in its buffers: it would come out later, where descriptor 1 leads then."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # Windows has no library of that kind
        ctypes.CDLL(None).fflush(None)
