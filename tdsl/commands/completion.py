"""``tdsl completion``: what a shell needs to complete tdsl's commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tdsl.commands._shared import say

EXAMPLES = """\b
Examples:
  eval "$(tdsl completion bash)"                                  in ~/.bashrc
  eval "$(tdsl completion zsh)"                                   in ~/.zshrc
  tdsl completion fish > ~/.config/fish/completions/tdsl.fish"""


@click.command("completion", epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from tdsl.cli import cli

    made = get_completion_class(shell)
    assert made is not None
    say(made(cli, {}, "tdsl", "_TDSL_COMPLETE").source() + "\n")
