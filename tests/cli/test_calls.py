"""What many calls of the command line print, their exit status and the files that they leave: short texts whole, of long ones the
begin and a hash, as goldens."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tdsl import __version__
from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.tables import sections

FILES = {name.removeprefix("file "): text for name, text in sections(__file__).items() if name.startswith("file ")}
CALLS = {name.removeprefix("calls "): text.splitlines() for name, text in sections(__file__).items() if name.startswith("calls ")}
WHOLE, BEGIN = 900, 300
"""Characters of a text that stands whole, and of a longer one that are shown."""


def lasting(text: str) -> str:
    """A text without times, versions, hashes of files and the folder that is current."""
    return lasting_of(text, str(Path.cwd()))


@cache
def lasting_of(text: str, folder: str) -> str:
    """The same of a folder. Most files that are there after a call were there before it."""
    text = text.replace(folder, "FOLDER").replace(__version__, "VERSION")
    out = re.sub(r'time="[\d.]+"', 'time="…"', text)
    out = re.sub(r"\b[0-9a-f]{64}\b", "…", out)
    return re.sub(r"\b\d+(\.\d+)? ?(ms|s)\b(?=[,.)\s]|$)", "… s", out)


def shown(text: str) -> str:
    """What lasts of a text, or how it begins and what tells it from others."""
    out = lasting(text)
    if len(out) <= WHOLE:
        return out
    return f"{out[:BEGIN]}…\n[{len(out)} characters, {hashlib.sha256(out.encode()).hexdigest()[:12]}]\n"


def contents(folder: Path) -> dict[str, str]:
    """The files below a folder."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    return {p.relative_to(folder).as_posix(): lasting(p.read_text(encoding="utf-8")) for p in files}


def told(calls: list[str]) -> Iterator[str]:
    before = contents(Path())
    for call in calls:
        done = tdsl(*shlex.split(call, comments=False))
        assert done.exception is None or isinstance(done.exception, SystemExit), (call, done.exception)
        stderr = "".join(f"! {line}\n" for line in shown(done.stderr).splitlines())
        yield f"## {call}: {done.exit_code}\n{shown(done.stdout)}{stderr}".rstrip("\n") + "\n"
        now = contents(Path())
        other = [n for n in now if before.get(n) != now[n]]
        yield "".join(f"> {n} {len(now[n])} characters\n" for n in other[:12])
        yield f"> and {len(other) - 12} more\n" if len(other) > 12 else ""
        before = now


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, golden: Golden, here: Path) -> None:
    for file, text in FILES.items():
        Path(file).write_text(text, encoding="utf-8")
    golden(f"calls/{name}.txt", "".join(told(CALLS[name])))
