"""``tdsl man``: the manual page, made from the help of the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from tdsl import __version__
from tdsl.commands._shared import write_to_stream

EXAMPLES = """\b
Examples:
  tdsl man | man -l -                          read it
  tdsl man > ~/.local/share/man/man1/tdsl.1    install it"""


@click.command("man", short_help="Print the manual page.", epilog=EXAMPLES)
@click.pass_context
def command(context: click.Context) -> None:
    """Print the manual page of tdsl and all its commands, for man(1)."""
    write_to_stream("\n".join(manual_page_lines(context.find_root())) + "\n")


def manual_page_lines(root: click.Context) -> Iterator[str]:
    """The lines of the page, in the macros of man(7)."""
    program = root.command
    assert isinstance(program, click.Group)
    yield f'.TH TDSL 1 "" "tdsl {__version__}" "User Commands"'
    yield ".ad l"
    yield ".SH NAME"
    yield rf"tdsl \- {_roff_escaped(program.help or '').rstrip('.')}"
    yield ".SH SYNOPSIS"
    yield r".B tdsl"
    yield r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]"
    yield ".SH OPTIONS"
    yield from _manual_of_options(program, root)
    yield ".SH COMMANDS"
    for name in program.list_commands(root):
        found = program.get_command(root, name)
        if found is not None:
            yield from _manual_of_command(found, click.Context(found, info_name=name, parent=root))
    yield ".SH NOTES"
    yield from _manual_paragraphs(program.epilog or "")


def _manual_of_command(command: click.Command, context: click.Context) -> Iterator[str]:
    """One command: how it is called, what it does, its options and examples."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f'.SS "{_roff_escaped(context.command_path)} {_roff_escaped(usage)}"'
    yield from _manual_paragraphs(command.help or "")
    yield from _manual_of_options(command, context)
    yield from _manual_paragraphs(command.epilog or "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _manual_of_command(inner, click.Context(inner, info_name=name, parent=context))


def _manual_of_options(command: click.Command, context: click.Context) -> Iterator[str]:
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None:
            yield ".TP"
            yield rf"\fB{_roff_escaped(record[0])}\fR"
            yield from _manual_paragraphs(record[1])


def _manual_paragraphs(text: str) -> Iterator[str]:
    """Paragraphs; one that begins with \\b keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        kept = paragraph.lstrip().startswith("\b")
        lines = [line for line in paragraph.replace("\b", "").split("\n") if line.strip()]
        if kept:
            yield from (".PP", ".nf", *(_roff_escaped(line) for line in lines), ".fi")
        else:
            yield from (_roff_escaped(" ".join(line.split())) for line in lines)
            yield ".PP"


def _roff_escaped(text: str) -> str:
    """Text that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text.startswith((".", "'")) else text
