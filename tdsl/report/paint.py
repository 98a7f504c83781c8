"""Colours of the terminal, and the width text takes there."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from contextvars import ContextVar
from typing import TextIO

from tdsl.system.lazy_dataclass import dataclass

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "good": "32",
    "bad": "31",
    "middling": "33",
    "frame": "34",
    "second": "36",
    "help": "32",
    "bold": "1",
    "dim": "2",
}
TAB = 4
PLAIN_WIDTH = 100
colored: ContextVar[bool | None] = ContextVar("colored", default=None)
"""What ``--color`` asks for: True always, False never, None on a terminal only."""
_COMMAND = re.compile(r"(?m)#(?=#(?:vso|teamcity)?\[)|^[^\S\n]*:(?=:(?![0-9A-Fa-f]{1,4}(?![\w-]))[A-Za-z])")
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Paint:
    """Puts styles around text, or leaves it alone."""

    on: bool

    def __call__(self, style: str, text: str) -> str:
        """The text in a style."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.on and text else text


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what goes to a stream: as ``--color`` says; else on a terminal, unless NO_COLOR;
    anywhere with FORCE_COLOR."""
    asked = colored.get()
    if asked is not None:
        return asked
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def output_width(stream: TextIO) -> int:
    """Columns to fill: those of the terminal within reason, a fixed number elsewhere so that files do not
    differ."""
    if not stream.isatty():
        return PLAIN_WIDTH
    return max(60, min(140, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns))


def character_columns(character: str) -> int:
    """Columns a character takes."""
    if character < "\x7f":
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def text_columns(text: str) -> int:
    """Columns a text takes."""
    return len(text) if text.isascii() else sum(map(character_columns, text))


def is_unprintable(c: str) -> bool:
    """Whether a character steers the terminal, reorders the line, or is none."""
    return unicodedata.category(c) in UNSEEN or c in "\ufffe\uffff"


def terminal_safe_text(text: str) -> str:
    """The text without characters that would steer the terminal or reorder the line, or are none, and without
    commands of CI servers."""
    if text.isascii() and text.isprintable():
        return ci_safe_text(text)
    return ci_safe_text("".join("\ufffd" if is_unprintable(c) and c not in "\n\t" else c for c in text))


def ci_safe_text(text: str) -> str:
    """The text with a sign in place of one that makes a line of a log a command of GitHub Actions, Azure
    Pipelines or TeamCity: `::error::` at the begin of a line, `##[` and `##vso[` anywhere. An address such as
    ``::1`` is none."""
    return _COMMAND.sub(lambda m: f"{m[0][:-1]}\ufffd", text) if "::" in text or "##" in text else text


def terminal_safe_line(text: str) -> str:
    """The same, where the text must stay on its line: line ends and tabs go, too."""
    return terminal_safe_text(text).replace("\n", "\ufffd").replace("\t", "\ufffd")


def wrap_text(text: str, width: int) -> list[str]:
    """Lines no wider than this, broken at blanks; words longer than that stand alone. Line ends in the text
    are kept."""
    out = []
    for paragraph in terminal_safe_text(text).split("\n"):
        line = ""
        for word in re.findall(r"\S+|(?<=\n)\s+", paragraph):
            if line and text_columns(line) + 1 + text_columns(word) > width:
                out.append(ci_safe_text(line))
                line = word
            else:
                line = f"{line} {word}" if line else word
        out.append(ci_safe_text(line))
    return out
