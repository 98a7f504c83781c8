"""``tdsl completion``: what a shell needs to complete tdsl's commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tdsl.commands._shared import write_to_stream

EXAMPLES = """\b
Examples:
  eval "$(tdsl completion bash)"                                  in ~/.bashrc
  eval "$(tdsl completion zsh)"                                   in ~/.zshrc
  tdsl completion fish > ~/.config/fish/completions/tdsl.fish"""


WHOLE_WORDS = (
    (
        "    response=$(",
        """\
    local words=() cword=0 i
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do  # bash has split `units=3` into three
        if ((i)) && [[ ${COMP_WORDS[i]} == "=" || ${COMP_WORDS[i-1]} == "=" ]]; then
            words[${#words[@]}-1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
        ((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
    done

    response=$(""",
    ),
    ('COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD', 'COMP_WORDS="${words[*]}" COMP_CWORD=$cword'),
    (
        "COMPREPLY+=($value)",
        """\
if [[ ${words[cword]} == *=* && $COMP_WORDBREAKS == *=* ]]; then
                value=${value#*=}
            fi
            COMPREPLY+=($value)""",
    ),
)
"""What click's script for bash lacks: a word with `=` is one word for tdsl, and a reply is what stands behind
the `=`."""


@click.command("completion", epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from tdsl.cli import cli

    made = get_completion_class(shell)
    assert made is not None
    text = made(cli, {}, "tdsl", "_TDSL_COMPLETE").source()
    for old, new in WHOLE_WORDS if shell == "bash" else ():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    write_to_stream(text + "\n")
