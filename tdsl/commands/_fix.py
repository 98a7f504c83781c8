"""``tdsl check --fix``: apply the edits that findings carry."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import FOUND, OK, Wrong, compile_sources, save_text, write_to_stream
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.compile.request import Request
    from tdsl.findings.diagnostic import Diagnostic, Fix
    from tdsl.findings.source import SourceFile

ROUNDS = 20
"""A fix may let a later stage find the next fault; so often, at most, is the design read again."""


@dataclass(slots=True)
class Fixed:
    """What became of one file: its text before and after, and the number of findings fixed, and left as
    unsafe."""

    data: bytes
    before: str
    after: str
    done: int = 0
    unsafe: int = 0


def fix_designs(files: Sequence[str], asked: Request, unsafe: bool, write: bool) -> int:
    """Fix the designs named, or print what would change; the exit status is 1 if anything would.

    Only files named are changed: neither those that they `use` nor the library.
    """
    if "-" in files:
        raise click.UsageError("--fix and --diff take files, not standard input")
    fixed = [_fix_file_in_memory(name, asked, unsafe) for name in files if Path(name).is_file()]
    changed = [
        (name, f)
        for name, f in zip((n for n in files if Path(n).is_file()), fixed, strict=True)
        if f.after != f.before
    ]
    for name, f in changed:
        if write:
            save_text(f.after, Path(name), was=f.data)
            write_to_stream(f"{name}: fixed {_finding_count_text(f.done)}\n", sys.stderr)
        else:
            _print_edits(name, f)
    left = sum(f.unsafe for f in fixed)
    if left:
        write_to_stream(
            f"--unsafe would fix {left} more {'findings' if left > 1 else 'finding'}\n", sys.stderr
        )
    return FOUND if changed and not write else OK


def _print_edits(name: str, f: Fixed) -> None:
    """Print what the fixes of a file would change."""
    for line in unified_diff(
        f.before.splitlines(keepends=True), f.after.splitlines(keepends=True), name, name
    ):
        write_to_stream(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")


def _finding_count_text(count: int) -> str:
    return f"{count} finding{'s' if count > 1 else ''}"


def _fix_file_in_memory(name: str, asked: Request, unsafe: bool) -> Fixed:
    """Fix one file in memory: each round reads the design with the text so far."""
    from tdsl.system.read import read_regular_file, resolve_links

    path = Path(name)
    try:
        data = read_regular_file(path)
        before = data.decode().removeprefix("\ufeff")
    except OSError as fault:
        raise Wrong(f"{name}: {fault.strerror or fault}") from None
    except UnicodeDecodeError:
        return Fixed(data, "", "")
    out = Fixed(data, before, before)
    for _ in range(ROUNDS):
        overlay = {**asked.overlay, str(resolve_links(path)): out.after}
        found = [
            d
            for c in compile_sources([name], replace(asked, overlay=overlay), verify=False)
            for d in c.findings
        ]
        own = _fixes_of_file(found, name)
        fixes = [f for f in own if f.safe or unsafe]
        out.unsafe = len(own) - len(fixes)
        text, count = _apply_fixes(out.after, fixes)
        if text == out.after:
            break
        out.after, out.done = text, out.done + count
    return out


def _fixes_of_file(findings: Iterable[Diagnostic], name: str) -> list[Fix]:
    """Fixes that change this file alone, those of findings that the design allows left out."""

    def here(file: SourceFile) -> bool:
        return Path(file.name) == Path(name)

    return [
        d.fix
        for d in findings
        if d.fix is not None and not d.allowed and all(here(s.file) for s, _ in d.fix.edits)
    ]


def _apply_fixes(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """The text with the fixes that do not touch each other, the first in the text first, and their number."""
    taken: list[tuple[int, int, str]] = []
    count = 0
    for fix in sorted(fixes, key=lambda f: min(s.start for s, _ in f.edits)):
        edits = [(s.start, s.end, new) for s, new in fix.edits]
        if all(end < a or b < start for start, end, _ in edits for a, b, _ in taken):
            taken += edits
            count += 1
    for start, end, new in sorted(taken, reverse=True):
        text = text[:start] + new + text[end:]
    return text, count
