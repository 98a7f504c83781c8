"""Tables of devices that users hand over as CSV: what ``--places`` and ``--assets`` read in the same way."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.system.similar import closest_name

LABEL = re.compile(r"#\s*\d+")
"""A label that looks like a comment: ``#2``; any other text behind ``#`` is one."""


class DeviceTable:
    """A table whose first line names its columns. Lines that begin with ``#`` and blank ones say nothing,
    but where ``#`` and a number is what a column of its own has in a row of as many cells as the heading,
    such as a number of the asset. A byte order mark before the first line is none of its text. Commas
    separate the columns, or the semicolons or tabs of which the first line has more.

    ``devices`` has the row of every device by its path in the design and by its name.
    """

    def __init__(self, fabric: Fabric, file: SourceFile, diagnostics: Diagnostics) -> None:
        self.fabric, self.file, self.diagnostics = fabric, file, diagnostics
        self.heading: list[str] = []  # once the first row is read
        self.comments: list[tuple[int, list[str]]] = []  # lines below it that begin with `#`, and their cells
        self.delimiter = ","
        self.devices = {
            name(d): d
            for name in (fabric.device_path, fabric.device_name)
            for d in range(fabric.device_count)
        }

    def rows(
        self,
        columns: Sequence[str],
        code: str,
        what: str,
        other: Sequence[str] = (),
        suffices: Callable[[list[str]], bool] = lambda heading: False,
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """The number of each line below the heading, from 1, and its cells by column, in small letters. A
        heading that lacks one of ``columns`` is a finding with this code, and ends the table; ``what`` is
        what the table is called there. A heading with all columns of ``other`` will do, too, and one that
        ``suffices``. So is a table without any."""
        self.heading = []
        empty = True
        for number in range(1, len(self.file.line_starts) + 1):
            text = self.file.line(number)
            if not self.heading and number == 1:
                text = text.removeprefix("\ufeff")
            if not text.strip():
                continue
            if text.startswith("#") and not self._is_labelled_row(text):
                if self.heading:
                    self.comments.append((number, [c.strip() for c in text.split(self.delimiter)]))
                continue
            if not self.heading:
                self.delimiter = max(",;\t", key=text.count)
            try:
                cells = self._cells(text)
            except csv.Error as wrong:
                self.say(
                    code,
                    number,
                    f"{what} has a line that is not CSV: {wrong}",
                    "write values separated by commas",
                )
                return
            if self.heading:
                empty = False
                if self._fits_heading(code, number, cells):
                    yield number, dict(zip(self.heading, cells, strict=False))
                continue
            self.heading = [c.lower() for c in cells]
            known = (*columns, *other)
            if self._has_column_twice(code, number, what, known):
                return
            if not self._has_columns(code, number, what, columns, other, suffices):
                return
            self._warn_of_misspelt_columns(code, number, what, known)
        if not self.heading:
            self.say(code, 1, f"{what} is empty", f"the first line names the columns: {','.join(columns)}")
        elif empty:
            self._warn_of_no_rows(code, what)

    def _has_columns(
        self,
        code: str,
        number: int,
        what: str,
        columns: Sequence[str],
        other: Sequence[str],
        suffices: Callable[[list[str]], bool],
    ) -> bool:
        """Whether the heading has all ``columns``, all of ``other``, or ``suffices``."""
        missing = [c for c in columns if c not in self.heading]
        if not missing or (other and set(other) <= set(self.heading)) or suffices(self.heading):
            return True
        more = f", or at least {','.join(other)}" if other else ""
        help = f"the first line names the columns: {','.join(columns)}{more}"
        near = closest_name(missing[0], [c for c in self.heading if c not in columns], 0.7)
        help = f"write `{missing[0]}` for `{near}`; {help}" if near else help
        self.say(code, number, f"{what} has no column `{missing[0]}`", help)
        return False

    def _fits_heading(self, code: str, number: int, cells: list[str]) -> bool:
        """Whether a row has no value behind the last column."""
        if not any(cells[len(self.heading) :]):
            return True
        more = f"{len(cells)} values, and the heading names {len(self.heading)} columns"
        self.say(code, number, f"this row has {more}", "quote a value that has the separator in it")
        return False

    def _warn_of_no_rows(self, code: str, what: str) -> None:
        self.diagnostics.add(
            code,
            self.span(1),
            f"{what} has no row below its heading, so nothing is read of it",
            help="write a row for each device, or leave the table out",
            severity=Severity.WARNING,
        )

    def _has_column_twice(self, code: str, number: int, what: str, known: Sequence[str]) -> bool:
        """Whether a column that is read stands twice in the heading."""
        twice = next((name for name in known if self.heading.count(name) > 1), "")
        if twice:
            self.say(code, number, f"{what} has the column `{twice}` twice", "leave one of them")
        return bool(twice)

    def _warn_of_misspelt_columns(self, code: str, number: int, what: str, known: Sequence[str]) -> None:
        """Warn of a column that is not read and is a slip away from one that is missing."""
        others = [c for c in self.heading if c not in known]
        for name in (c for c in known if c not in self.heading):
            if near := closest_name(name, others, 0.8):
                self.diagnostics.add(
                    code,
                    self.span(number),
                    f"nothing reads the column `{near}` of {what}",
                    help=f"did you mean `{name}`?",
                    severity=Severity.WARNING,
                )

    def _cells(self, text: str) -> list[str]:
        """The cells of a line. Raises csv.Error."""
        return [c.strip() for c in next(csv.reader(io.StringIO(text), delimiter=self.delimiter))]

    def _is_labelled_row(self, text: str) -> bool:
        """Whether a line that begins with ``#`` is a row: the first column is neither device nor port, and
        has ``#`` and a number."""
        cells = text.split(self.delimiter)
        return (
            bool(self.heading)
            and self.heading[0] not in ("device", "port")
            and len(cells) >= len(self.heading)
            and LABEL.fullmatch(cells[0].strip()) is not None
        )

    def span(self, number: int) -> SourceSpan:
        """A line."""
        start = self.file.line_starts[number - 1]
        return SourceSpan(self.file, start, start + len(self.file.line(number)))

    def say(self, code: str, number: int, message: str, help: str) -> None:
        """A finding at a line."""
        self.diagnostics.add(code, self.span(number), message, help=help)
