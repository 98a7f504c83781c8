"""What to write instead of a call that click refuses: the call with the wrong word replaced, or an example of
the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from tdsl.system.similar import closest_name

ABSENT = re.compile(r"(?:File|Directory|Path) '(.+)' does not exist|^(.+): No such file or directory$")


def advice_for_wrong_call(wrong: click.ClickException, args: Sequence[str]) -> str:
    """A call to write instead, or "" where there is none to propose or the message has one already."""
    said = wrong.format_message()
    if "did you mean" in said.lower() or "`tdsl " in said:
        return ""
    absent = ABSENT.search(said)
    if absent is not None:
        name = absent[1] or absent[2]
        return _call_with_word_replaced(args, name, _closest_word(name, _paths_in_same_folder(Path(name))))
    if not isinstance(wrong, click.UsageError) or wrong.ctx is None:
        return ""
    if isinstance(wrong, click.BadParameter):
        better = _advice_for_unknown_choice(wrong, said, args)
        if better is not None:
            return better
        if "of the form name=value" in said:
            given = re.search(r"'([^']*)' is not of the form", said)
            return _call_with_word_replaced(args, given[1], f"{given[1].rstrip('=')}=VALUE") if given else ""
    example = _first_example_of_help(wrong.ctx)
    return f"for example `{example}`" if example else f"`{wrong.ctx.command_path} --help` lists its options"


def _advice_for_unknown_choice(wrong: click.BadParameter, said: str, args: Sequence[str]) -> str | None:
    """The call with the value of an option that is nearest to the one it has, "" where the call does not have
    that in words of its own; None where no value is near."""
    if wrong.param is None or not isinstance(wrong.param.type, click.Choice):
        return None
    given = re.search(r"'([^']*)' is not one of", said)
    better = _closest_word(given[1], map(str, wrong.param.type.choices)) if given else ""
    return _call_with_word_replaced(args, given[1], better) if given and better else None


def _paths_in_same_folder(path: Path) -> list[str]:
    """Names in the folder of a path, as the call would write them."""
    try:
        return [str(path.parent / p.name) for p in sorted(path.parent.iterdir())]
    except OSError:
        return []


def _closest_word(word: str, known: Iterable[str]) -> str:
    return closest_name(word, known, 0.5)


def _call_with_word_replaced(args: Sequence[str], word: str, better: str) -> str:
    """The call with another word; of an option and its value in one word, the value is replaced."""
    if not better:
        return ""
    words = [
        better if a == word else a.removesuffix(word) + better if a.endswith(f"={word}") else a for a in args
    ]
    return f"did you mean `{shlex.join(['tdsl', *words])}`?" if words != list(args) else ""


def _first_example_of_help(ctx: click.Context) -> str:
    """The first example that the help of the command has."""
    text = (ctx.command.epilog or "") + "\n" + (ctx.command.help or "")
    found = re.search(rf"^\s*({re.escape(ctx.command_path)}\b.*?)(?:\s{{2,}}.*)?$", text, re.MULTILINE)
    return found[1].strip() if found else ""
