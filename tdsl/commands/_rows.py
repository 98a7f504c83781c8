"""Rows of records as a table for people, as CSV or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tdsl import __version__
from tdsl.commands._shared import output_format_option, write_to_stream
from tdsl.report.columns import table_lines
from tdsl.report.paint import Paint, output_width, wants_colour
from tdsl.system.lazy_dataclass import dataclass

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("table", "csv", "json")


@dataclass(frozen=True, slots=True)
class OutputRows:
    """Records of one kind: names of their fields, and a value a field."""

    head: Sequence[str]
    body: Iterable[Sequence[object]]

    def records(self) -> list[dict[str, object]]:
        """As mappings."""
        return [dict(zip(self.head, row, strict=True)) for row in self.body]


def format_option(command: F) -> F:
    """``--output-format table|csv|json``, also as ``--format``."""
    return output_format_option(FORMATS)(command)


def print_table(rows: OutputRows, wrapped: bool = False) -> None:
    """A table on stdout, a line at a time; ``wrapped`` on a terminal: texts go on in the next line where it
    is narrower than the table."""
    width = output_width(sys.stdout) if wrapped and sys.stdout.isatty() else 0
    for line in table_lines(rows.head, rows.body, Paint(wants_colour(sys.stdout)), width):
        write_to_stream(f"{line}\n")


def print_csv(rows: OutputRows) -> None:
    """CSV on stdout, with a heading; nothing a spreadsheet would take for a formula."""
    from tdsl.emit.rows import csv_line

    lines = [csv_line(rows.head)]
    for row in rows.body:
        lines.append(csv_line(row))
        if len(lines) == 1000:
            write_to_stream("".join(f"{line}\n" for line in lines))
            lines.clear()
    write_to_stream("".join(f"{line}\n" for line in lines))


def print_json(content: dict[str, object]) -> None:
    """A JSON document on stdout, with the schema's number and tdsl's version."""
    from tdsl.report.json_report import SCHEMA, json_pieces

    for piece in json_pieces({"schema": SCHEMA, "tdsl": __version__, **content}):
        write_to_stream(piece)
