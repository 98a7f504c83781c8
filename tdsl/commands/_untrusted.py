"""``--untrusted``: for designs of strangers, such as those of a pull request."""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from tdsl.commands._shared import Wrong

Status = TypeVar("Status", bound=int | None)
FLAG = "--untrusted"
VARIABLE = "TDSL_UNTRUSTED"
MEMORY = 8 << 30
"""Bytes of address space. Libraries reserve several times of what they use."""
NO = ("", "0", "f", "false", "n", "no", "off")
SECONDS, GRACE = 900, 30
"""Processor time, and how much more where what runs cannot be interrupted."""
SIZE = 400_000
"""Bytes of all designs of a call: a megabyte takes some five seconds to parse."""
SIZE_VARIABLE, SECONDS_VARIABLE = "TDSL_UNTRUSTED_SIZE", "TDSL_UNTRUSTED_SECONDS"
"""What sets other limits: the environment is that of who runs the call."""
FILE = 1 << 30
OPEN = 512
TRUSTED_ONLY = {
    "watch": "",
    "site": ": a target of strangers would see what it says",
    "cluster": "",
    "sign": "",
}
"""Options that a call with the flag must not have, each with why, if that needs to be said."""
DESIGNS = ("file", "files", "design", "old", "new")
"""Arguments that name designs."""
TEXTS = ("texts", "against")
"""Arguments that name other files by their texts; `-` is the standard input."""
WRITTEN = (
    "accept",
    "cables",
    "certificates",
    "folder",
    "out",
    "output",
    "picture",
    "plot",
    "prometheus",
    "report",
    "second_opinion_dir",
    "view",
)
"""Options with files and folders that a call writes."""


def is_untrusted_call(args: Iterable[str], command: str = "") -> bool:
    """Whether a call is for designs of strangers, by its words or its environment, as click reads it."""
    words = list(args)
    before = words[: words.index("--")] if "--" in words else words
    variables = (VARIABLE, f"TDSL_{command.upper().replace('-', '_')}_UNTRUSTED")
    return FLAG in before or any(os.environ.get(v, "").strip().lower() not in NO for v in variables)


def with_untrusted_option(command: Callable[..., Status]) -> Callable[..., Status]:
    """A command with ``--untrusted``."""

    @wraps(command)
    def run(*, untrusted: bool, **given: Any) -> Status:
        if not untrusted:
            return command(**given)
        from tdsl.system import cache, resources
        from tdsl.system.read import bound_size_of_designs, confine_reading

        here = Path.cwd()
        _refuse_untrusted_paths(given)
        if "jobs" in given:
            given["jobs"] = 1  # what confines this process does not confine others
        trusted = [resources.packaged_folder(kind) for kind in ("grammar", "stdlib", "targets")]
        size, seconds = _limit_given(SIZE_VARIABLE, SIZE), _limit_given(SECONDS_VARIABLE, SECONDS)
        bounds = confine_reading(here, trusted), bound_size_of_designs(size)
        with bounds[0], bounds[1], cache.cache_disabled(), _resources_limited(seconds):
            return command(**given)

    own = command.__module__.rpartition(".")[2].strip("_").upper()
    return click.option(
        FLAG,
        is_flag=True,
        envvar=[VARIABLE, f"TDSL_{own}_UNTRUSTED"],
        help="For designs and captures of strangers: no tdsl.toml, cache or links, nothing outside this "
        "folder, limits of time and memory.",
    )(run)


def _texts_of_options(given: Mapping[str, Any], options: Iterable[str]) -> list[str]:
    """The texts that a call gives for some options."""
    return [text for option in options for text in _texts_within(given.get(option))]


def _refuse_untrusted_paths(given: dict[str, Any]) -> None:
    """Refuse a call that names links, other kinds of files, or folders elsewhere."""
    for option, why in TRUSTED_ONLY.items():
        if given.get(option):
            raise Wrong(f"{FLAG}: --{option} is for one's own designs{why}")
    designs = _texts_of_options(given, DESIGNS)
    for name in designs:
        if os.path.lexists(name) and Path(name).suffix != ".fab":
            raise Wrong(f"{FLAG}: {name}: a design is a file that ends in .fab")
    read = [path for key, value in given.items() if key not in WRITTEN for path in _paths_within(value)]
    read += map(Path, _texts_of_options(given, TEXTS))
    written = [path for key in WRITTEN for path in _paths_within(given.get(key))]
    _refuse_paths_elsewhere([*map(Path, designs), *read], written)


def _texts_within(value: object) -> list[str]:
    return (
        [value]
        if isinstance(value, str)
        else [x for x in value if isinstance(x, str)]
        if isinstance(value, tuple)
        else []
    )


def _paths_within(value: object) -> list[Path]:
    """The paths among the values of an option, however deep its tuples are."""
    if isinstance(value, Path):
        return [value]
    return [path for x in value for path in _paths_within(x)] if isinstance(value, tuple | list) else []


def _refuse_paths_elsewhere(read: list[Path], written: list[Path]) -> None:
    """Refuse to read what is outside the current folder, and to read or write anything that a link leads
    to."""
    here = os.getcwd()
    for path in read:
        if os.path.lexists(path) and not (os.path.realpath(path) + os.sep).startswith(here + os.sep):
            raise Wrong(f"{FLAG}: {path} is outside {here}")
    for path in (*read, *written):
        if os.path.abspath(path).startswith(here + os.sep) and os.path.realpath(path) != os.path.abspath(
            path
        ):
            raise Wrong(f"{FLAG}: {path} is reached by a link")


def _limit_given(variable: str, usual: int) -> int:
    """A limit, which a variable of the environment may set."""
    text = os.environ.get(variable, "").strip().replace("_", "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) < 10**10):
        raise Wrong(
            f"{variable} is {text[:40]!r}; write a whole number from 1 to {10**10 - 1}, such as {usual}"
        )
    return int(text)


@contextmanager
def _resources_limited(seconds: int) -> Iterator[None]:
    """Bound memory, processor time, the size of files and how many are open, for what is run inside."""
    if sys.platform == "win32":
        yield
        return
    import resource

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread reserves memory that nothing uses
    # The system counts a process's time from its start, and a program may call the command line long after
    # that.
    used = resource.getrusage(resource.RUSAGE_SELF)
    last = seconds + math.ceil(used.ru_utime + used.ru_stime)
    wanted = {
        "RLIMIT_AS": MEMORY,
        "RLIMIT_CPU": last,
        "RLIMIT_FSIZE": FILE,
        "RLIMIT_NOFILE": OPEN,
        "RLIMIT_CORE": 0,
    }
    before = {}
    for name, limit in wanted.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        soft, hard = before[kind] = resource.getrlimit(kind)
        least = min(x for x in (limit, soft, hard) if x != resource.RLIM_INFINITY)
        with suppress(OSError, ValueError):  # a system that has the name and not the limit
            resource.setrlimit(kind, (least, hard))

    def refuse_late_call(number: int, frame: FrameType | None) -> None:
        raise Wrong(
            f"{FLAG}: this takes more than {seconds} seconds of processor time; {SECONDS_VARIABLE} sets more"
        )

    handler = signal.signal(signal.SIGXCPU, refuse_late_call)
    signal.setitimer(signal.ITIMER_PROF, seconds + GRACE)  # ends what does not listen
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGXCPU, handler)
        for kind, limits in before.items():
            with suppress(OSError, ValueError):
                resource.setrlimit(kind, limits)
