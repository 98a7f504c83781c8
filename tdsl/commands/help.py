"""``tdsl help``: the help of a command."""

from __future__ import annotations

import click

from tdsl.commands._shared import write_to_stream


@click.command(
    "help",
    short_help="Print the help of a command.",
    epilog="\b\nExamples:\n  tdsl help\n  tdsl help check",
)
@click.argument("command", required=False, metavar="[COMMAND]")
@click.pass_context
def command(context: click.Context, command: str | None) -> None:
    """Print the help of COMMAND, or the list of commands: the same as `tdsl COMMAND --help`."""
    above = context.parent
    assert above is not None and isinstance(above.command, click.Group)
    if command is None:
        write_to_stream(above.get_help() + "\n")
        return
    _, found, _ = above.command.resolve_command(above, [command, "--help"])
    assert found is not None
    with found.context_class(found, info_name=found.name, parent=above) as inner:
        write_to_stream(found.get_help(inner) + "\n")
