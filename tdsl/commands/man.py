"""``tdsl man``: the manual page, made from the help of the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from tdsl import __version__
from tdsl.commands._shared import say

EXAMPLES = """\b
Examples:
  tdsl man | man -l -                                                      read it
  tdsl man > ~/.local/share/man/man1/tdsl.1                                install it"""


@click.command("man", short_help="Print the manual page.", epilog=EXAMPLES)
@click.pass_context
def command(context: click.Context) -> None:
    """Print the manual page of tdsl and all its commands, for man(1)."""
    say("\n".join(page(context.find_root())) + "\n")


def page(root: click.Context) -> Iterator[str]:
    """The lines of the page, in the macros of man(7)."""
    program = root.command
    assert isinstance(program, click.Group)
    yield f'.TH TDSL 1 "" "tdsl {__version__}" "User Commands"'
    yield ".ad l"
    yield ".SH NAME"
    yield rf"tdsl \- {_plain(program.help or '').rstrip('.')}"
    yield ".SH SYNOPSIS"
    yield r".B tdsl"
    yield r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]"
    yield ".SH OPTIONS"
    yield from _options(program, root)
    yield ".SH COMMANDS"
    for name in program.list_commands(root):
        found = program.get_command(root, name)
        if found is not None:
            yield from _command(found, click.Context(found, info_name=name, parent=root))
    yield ".SH NOTES"
    yield from _text(program.epilog or "")


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """One command: how it is called, what it does, its options and examples."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f'.SS "{_plain(context.command_path)} {_plain(usage)}"'
    yield from _text(command.help or "")
    yield from _options(command, context)
    yield from _text(command.epilog or "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _command(inner, click.Context(inner, info_name=name, parent=context))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None:
            yield ".TP"
            yield rf"\fB{_plain(record[0])}\fR"
            yield from _text(record[1])


def _text(text: str) -> Iterator[str]:
    """Paragraphs; one that begins with \\b keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        kept = paragraph.lstrip().startswith("\b")
        lines = [line for line in paragraph.replace("\b", "").split("\n") if line.strip()]
        if kept:
            yield from (".PP", ".nf", *(_plain(line) for line in lines), ".fi")
        else:
            yield from (_plain(" ".join(line.split())) for line in lines)
            yield ".PP"


def _plain(text: str) -> str:
    """Text that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text.startswith((".", "'")) else text
