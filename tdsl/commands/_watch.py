"""``--watch``: run again whenever a file that may matter is saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from tdsl.commands._shared import say

READ = (".fab", ".toml", ".csv", ".j2")
TURN_MS = 200


def watching(run: Callable[[], int], files: Iterable[str], folders: Iterable[Path], written: Path | None = None) -> int:
    """Run now and after each change, until interrupted; what is below ``written`` is tdsl's own doing."""
    from watchfiles import Change, DefaultFilter, watch

    common = DefaultFilter()
    own = written.resolve() if written is not None else None

    def matters(change: Change, path: str) -> bool:
        place = Path(path)
        # A build is made in a hidden folder beside its own, and exchanged for it.
        beside = own and any(part.startswith(f".{own.name}.tdsl-") for part in place.parts)
        return place.suffix in READ and common(change, path) and not (beside or (own and place.is_relative_to(own)))

    places = {Path(f).resolve().parent for f in files if Path(f).is_file()} | {p.resolve() for p in folders} | {Path.cwd()}
    begun = False
    # The first, empty turn comes once the folders are watched, so that nothing saved during a run is missed.
    for changes in watch(*sorted(places), watch_filter=matters, yield_on_timeout=True, rust_timeout=TURN_MS):
        if changes or not begun:
            begun = True
            _once(run, ", ".join(sorted({Path(path).name for _, path in changes})))
    return 0


def _once(run: Callable[[], int], changed: str) -> None:
    """One run; a wrong call, such as a file that is just being replaced, is told and waited out."""
    if sys.stdout.isatty():
        click.clear()
    if changed:
        say(f"{changed} changed\n", sys.stderr)
    try:
        run()
    except click.ClickException as wrong:
        wrong.show()
    sys.stdout.flush()
    say("watching; Ctrl-C ends it\n", sys.stderr)
    sys.stderr.flush()


def watched(command: Callable[..., int]) -> Callable[..., int]:
    """A command with ``--watch``, which runs it again whenever a file is saved."""

    @wraps(command)
    def again(*, watch: bool, **given: Any) -> int:
        run = partial(command, **given)
        if not watch:
            return run()
        files = given.get("files") or (given["file"],)
        if "-" in files:
            raise click.UsageError("--watch needs files: standard input (`-`) is read only once")
        return watching(run, files, (*given["path"], *given.get("target_path", ())), given.get("out"))

    return click.option("--watch", is_flag=True, help="Run again whenever a file is saved; Ctrl-C ends it.")(again)
