"""``tdsl expand``: print the structure that a design's intent stands for."""

from __future__ import annotations

import sys
from typing import Any

import click

from tdsl.commands._shared import (
    FOUND,
    OK,
    Source,
    Wrong,
    design_options,
    limit_options,
    options_from_command,
    show_findings,
    sources_with_stdin,
    write_to_stream,
)
from tdsl.commands._untrusted import with_untrusted_option


@click.command(
    "expand",
    short_help="Print the structure that a design's intent describes.",
    epilog="\b\nExamples:\n  tdsl expand superpod.fab\n  tdsl expand superpod.fab --set units=2 > "
    "two_units.fab",
)
@click.argument("file", type=Source(), metavar="FILE")
@design_options
@limit_options
@with_untrusted_option
def command(file: str, **given: Any) -> int:
    """Print a design with its intent written out as groups, devices and connects: a design itself, of the
    same fabric.

    Parameters have the values that `--set` gives. Comments stay. Exit status: 0, 1 if the design has errors,
    2 a wrong call.
    """
    from tdsl.compile import compiler

    try:
        (source,), asked = sources_with_stdin([file], options_from_command(given))
        text, compilation = compiler.expand_intent(source, asked)
    except compiler.UsageError as wrong:
        raise Wrong(str(wrong)) from None
    if text is None:
        show_findings([compilation], sys.stderr)
        return FOUND
    write_to_stream(text)
    return OK
