"""``tdsl fmt``: write designs in the one layout."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path

import click

from tdsl.commands._everywhere import print_on_stderr
from tdsl.commands._shared import FOUND, OK, Wrong, save_text, write_to_stream
from tdsl.commands._untrusted import with_untrusted_option


@click.command(
    "fmt",
    short_help="Format designs.",
    epilog="\b\nExamples:\n  tdsl fmt superpod.fab\n  tdsl fmt --check *.fab\n  tdsl fmt - < superpod.fab",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...|-")
@click.option("--check", is_flag=True, help="Write nothing; exit status 1 if a file would change.")
@click.option(
    "--diff",
    is_flag=True,
    help="Write nothing; print what would change, with exit status 1 if anything would.",
)
@with_untrusted_option
def command(files: tuple[str, ...], check: bool, diff: bool) -> int:
    """Format designs in place; `-` reads stdin and writes stdout.

    The layout has no options. Comments stay where they are. A file with syntax errors is reported and left
    alone.
    """
    status = OK
    for name in files:
        status = max(status, _format_named_file(name, check, diff))
    return status


def _format_named_file(name: str, check: bool, diff: bool) -> int:
    """Format one file, or only say with --check or --diff what would change; the exit status."""
    data = _read_design_bytes(name)
    shown = "<stdin>" if name == "-" else name
    new = _format_design(data, shown)
    if new is None:
        return FOUND
    changed = new.encode() != data
    if not (check or diff):
        if name == "-":
            write_to_stream(new)
        elif changed:
            save_text(new, Path(name), was=data)
        return OK
    if changed and diff:
        _show_diff(data, new, shown)
    elif changed:
        print_on_stderr(f"would reformat {shown}")
    return FOUND if changed else OK


def _read_design_bytes(name: str) -> bytes:
    from tdsl.system.read import read_regular_file

    try:
        return sys.stdin.buffer.read() if name == "-" else read_regular_file(Path(name))
    except OSError as fault:
        raise Wrong(f"{name}: {fault.strerror or fault}") from None


def _format_design(data: bytes, name: str) -> str | None:
    """The text in the one layout; None, with the findings on stderr, if it cannot be read."""
    from tdsl.findings.diagnostic import Diagnostics, merge_equal_findings
    from tdsl.syntax.parser import decode_source_file, parse_source_file, report_oversized_designs
    from tdsl.syntax.printer import format_source
    from tdsl.system.read import bound_exceeded_by_design

    diagnostics = Diagnostics()
    most, file = bound_exceeded_by_design(name, len(data)), None
    if most:
        report_oversized_designs(len(data), most, name, diagnostics)
    else:
        file = decode_source_file(data, name, diagnostics)
    if file is not None:
        parse_source_file(file, diagnostics)
        if not diagnostics.has_errors:
            return format_source(file)
    from tdsl.report.paint import Paint, output_width, wants_colour
    from tdsl.report.terminal import finding_block

    for d in merge_equal_findings(diagnostics):
        write_to_stream(
            finding_block(d, name, Paint(wants_colour(sys.stderr)), output_width(sys.stderr)) + "\n\n",
            sys.stderr,
        )
    return None


def _show_diff(data: bytes, new: str, name: str) -> None:
    old = data.decode(errors="replace").splitlines(keepends=True)
    for line in unified_diff(old, new.splitlines(keepends=True), name, name):
        write_to_stream(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
