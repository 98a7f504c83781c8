"""Calls of tdsl in a process beside this one, which takes so much time and memory and no more."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

import click

from tdsl.commands._untrusted import FILE, MEMORY
from tdsl.system.lazy_dataclass import dataclass

SECONDS = 120.0
"""How long a call may take."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a call printed, or why it was refused."""

    printed: str = ""
    refused: str = ""


class Beside:
    """One process, started when it is first needed and again after it was ended. One call at a time."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._end: Connection | None = None
        self._turn = Lock()

    def call(self, args: Sequence[str], text: str) -> CallAnswer:
        """The answer to a call, whose standard input is a text."""
        with self._turn:
            end = self._end or self._start()
            try:
                end.send((tuple(args), text))
                if end.poll(SECONDS):
                    answer: CallAnswer = end.recv()
                    return answer
                why = (
                    f"it takes more than {SECONDS:g} seconds; `tdsl {args[0]}` on the command line has "
                    "no such limit"
                )
            except (EOFError, OSError):
                why = "the process that worked on it was ended; it may have needed too much memory"
            self._drop()
            return CallAnswer(refused=why)

    def stop(self) -> None:
        """End the process."""
        with self._turn:
            self._drop()

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        self._end, there = context.Pipe()
        self._process = context.Process(target=_serve_calls, args=(there,), daemon=True)
        self._process.start()
        there.close()
        return self._end

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._end is not None:
            self._end.close()
        self._process = self._end = None


def _serve_calls(end: Connection) -> None:
    """Answer calls until nobody asks any more."""
    os.dup2(2, 1)  # stdout belongs to the protocol
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_process_resources()
    while True:
        try:
            args, text = end.recv()
            end.send(answer_of_call(args, text))
        except (EOFError, OSError):
            return


def _limit_process_resources() -> None:
    """Limit the memory of this process and the size of its files, where the system can."""
    if sys.platform == "win32":
        return
    import resource

    for name, limit in (("RLIMIT_AS", MEMORY), ("RLIMIT_FSIZE", FILE), ("RLIMIT_CORE", 0)):
        soft, hard = resource.getrlimit(getattr(resource, name))
        least = min(x for x in (limit, soft, hard) if x != resource.RLIM_INFINITY)
        try:
            resource.setrlimit(getattr(resource, name), (least, hard))
        except (OSError, ValueError):  # a system that has the name and not the limit
            continue


def answer_of_call(args: Sequence[str], text: str) -> CallAnswer:
    """What a call prints on stdout, or, where that is nothing, on stderr. Files are read below the folder of
    the process and of tdsl only. Options of tdsl.toml and of the environment, which may name files to write,
    do not count; those of tdsl.toml are judged, and a call is refused as on the command line."""
    from tdsl.cli import cli, option_defaults_from_config
    from tdsl.config import ConfigError, load_config
    from tdsl.system import resources
    from tdsl.system.read import confine_reading

    trusted = [resources.packaged_folder(kind) for kind in ("grammar", "stdlib", "targets", "docs")]
    with confine_reading(Path.cwd(), trusted), _streams_replaced(text) as (out, err):
        try:
            settings, context = load_config(Path.cwd()), click.Context(cli, info_name="tdsl")
            option_defaults_from_config(context, settings, cli.get_command(context, args[0]))
            own = replace(settings, commands={})
            cli.main(
                ["--color", "never", *args], "tdsl", standalone_mode=False, auto_envvar_prefix=None, obj=own
            )
        except click.ClickException as wrong:
            return CallAnswer(refused=wrong.format_message())
        except ConfigError as wrong:
            return CallAnswer(refused=str(wrong))
        except MemoryError:
            return CallAnswer(refused="there is not enough memory for this design")
        except RecursionError:
            return CallAnswer(refused="the design is nested too deeply to be read")
        except Exception as fault:  # the server goes on with an error
            return CallAnswer(refused=f"internal error: {type(fault).__name__}: {fault}")
        sys.stdout.flush()
        return CallAnswer(out.getvalue().decode() or err.getvalue())


@contextmanager
def _streams_replaced(text: str) -> Iterator[tuple[io.BytesIO, io.StringIO]]:
    """Standard streams that hold a text, and take what is printed."""
    kept = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "replace")), encoding="utf-8")
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(out, encoding="utf-8", errors="backslashreplace", write_through=True),
        err,
    )
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
