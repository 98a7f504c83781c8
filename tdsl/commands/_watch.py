"""``--watch``: run again whenever a file that may matter is saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from tdsl.commands._everywhere import print_usage_error
from tdsl.commands._shared import write_to_stream

READ = (".fab", ".toml", ".csv", ".j2")
TURN_MS = 200


def run_on_changes(
    run: Callable[[], int],
    files: Iterable[str],
    folders: Iterable[Path],
    written: Path | None = None,
    captures: Iterable[Path] = (),
    own_files: Iterable[Path] = (),
) -> int:
    """Run now and after each change, until interrupted; what is below ``written``, and ``own_files``, are
    tdsl's own doing.

    Files of any kind matter that are ``captures`` or lie in one that is a folder.
    """
    from watchfiles import Change, DefaultFilter, watch

    common = DefaultFilter()
    own = written.resolve() if written is not None else None
    mine = {p.resolve() for p in own_files}
    seen = [p.resolve() for p in captures]

    def matters(change: Change, path: str) -> bool:
        place = Path(path)
        if place in mine or any(
            place == p.with_name(place.name) and place.name.startswith(f".{p.name}") for p in mine
        ):
            return False
        if any(place.is_relative_to(c) for c in seen):
            return common(change, path) and not place.name.startswith(".")
        # A build is made in a hidden folder beside its own, and exchanged for it.
        beside = own and any(part.startswith(f".{own.name}.tdsl-") for part in place.parts)
        return (
            place.suffix in READ
            and common(change, path)
            and not (beside or (own and place.is_relative_to(own)))
        )

    places = (
        {Path(f).resolve().parent for f in files if Path(f).is_file()}
        | {p.resolve() for p in folders}
        | {Path.cwd()}
    )
    places |= {c if c.is_dir() else c.parent for c in seen}
    begun = False
    # The first, empty turn comes once the folders are watched, so that nothing saved during a run is missed.
    for changes in watch(*sorted(places), watch_filter=matters, yield_on_timeout=True, rust_timeout=TURN_MS):
        if changes or not begun:
            begun = True
            _run_once(run, ", ".join(sorted({Path(path).name for _, path in changes})))
    return 0


def _run_once(run: Callable[[], int], changed: str) -> None:
    """One run; a wrong call, such as a file that is just being replaced, is reported and waited out."""
    if sys.stdout.isatty():
        click.clear()
    if changed:
        write_to_stream(f"{changed} changed\n", sys.stderr)
    try:
        run()
    except click.ClickException as wrong:
        print_usage_error(wrong)
    sys.stdout.flush()
    write_to_stream("watching; Ctrl-C ends it\n", sys.stderr)
    sys.stderr.flush()


def with_watch_option(command: Callable[..., int]) -> Callable[..., int]:
    """A command with ``--watch``, which runs it again whenever a file is saved."""

    @wraps(command)
    def again(*, watch: bool, **given: Any) -> int:
        run = partial(command, **given)
        if not watch:
            return run()
        files = given.get("files") or (given["file"],)
        if "-" in files:
            raise click.UsageError("--watch needs files: standard input (`-`) is read only once")
        return run_on_changes(run, files, (*given["path"], *given.get("target_path", ())), given.get("out"))

    return click.option("--watch", is_flag=True, help="Run again whenever a file is saved; Ctrl-C ends it.")(
        again
    )


def watched_captures(command: Callable[..., int]) -> Callable[..., int]:
    """``tdsl audit`` with ``--watch``, which runs it again whenever a capture or the design is saved."""

    @wraps(command)
    def again(*, watch: bool, **given: Any) -> int:
        run = partial(command, **given)
        if not watch:
            return run()
        captures = [
            p
            for name in ("ibnetdiscover", "iblinkinfo", "ibdiagnet", "ufm", "lldp", "p2p")
            for p in given[name]
        ]
        written = [p for p in (given["output"], given["prometheus"], given["accept"]) if p is not None]
        return run_on_changes(run, [given["design"]], given["path"], captures=captures, own_files=written)

    return click.option(
        "--watch", is_flag=True, help="Run again whenever a capture is saved; Ctrl-C ends it."
    )(again)
