"""Source text and places in it: files, spans, and the chain of places a value came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from weakref import WeakValueDictionary

from tdsl.system.lazy_dataclass import dataclass

HIDDEN = re.compile(
    r"[\x01-\x08\x0b\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069"
    r"\ufeff\ufff9-\ufffb\ufffe\uffff"
    r"\U000e0000-\U000e007f]"
)
"""Characters that are not seen, that steer a terminal, or that turn the order of those around them."""


class SourceFile:
    """One text: its name as people see it (``stdlib:designs/x.fab`` for the library) and its characters.

    Positions inside it are offsets in Unicode code points. Two files are the same only if they are the same
    object; one that comes back from another process is the one of that name and text here. A text that is a
    part of a file has ``lines_above`` lines of the file above it, which count where lines are shown.
    """

    def __init__(self, name: str, text: str, lines_above: int = 0) -> None:
        self.name = name
        self.text = text
        self.lines_above = lines_above
        _files[name, text, lines_above] = self

    def __reduce__(self) -> tuple[Callable[[str, str, int], SourceFile], tuple[str, str, int]]:
        return _shared_source_file, (self.name, self.text, self.lines_above)

    @cached_property
    def line_starts(self) -> list[int]:
        """Offsets at which lines begin."""
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line + self.lines_above, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        starts = self.line_starts
        number -= self.lines_above
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def __repr__(self) -> str:
        return f"SourceFile({self.name!r})"


_files: WeakValueDictionary[tuple[str, str, int], SourceFile] = WeakValueDictionary()


def _shared_source_file(name: str, text: str, lines_above: int) -> SourceFile:
    """The file of this name and text that is in use, or a new one."""
    return _files.get((name, text, lines_above)) or SourceFile(name, text, lines_above)


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A stretch of a file: ``start`` included, ``end`` not."""

    file: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters it covers."""
        return self.file.text[self.start : self.end]

    @property
    def begin(self) -> tuple[int, int]:
        """Line and column of its first character."""
        return self.file.position(self.start)

    @property
    def finish(self) -> tuple[int, int]:
        """Line and column just after its last character."""
        return self.file.position(self.end)

    def to(self, other: SourceSpan) -> SourceSpan:
        """The stretch from this one's start to the other's end."""
        return SourceSpan(self.file, self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something came from: its own span, and outward the statements that made it.

    ``chain`` holds ``(span, words)`` pairs, nearest first, such as ``(…, "in every su[units]")``.
    """

    span: SourceSpan
    chain: tuple[tuple[SourceSpan, str], ...] = ()
