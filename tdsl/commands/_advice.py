"""What to write instead of a call that click refuses: the call with the wrong word replaced, or an example of
the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from tdsl.system.similar import closest_name

MEANT = {
    **dict.fromkeys(("switches", "hosts", "devices", "nodes", "chips", "servers", "catalogue"), "hardware"),
    **dict.fromkeys(("transceivers", "modules"), "optics"),
    **dict.fromkeys(("errors", "findings", "warnings"), "codes"),
    **dict.fromkeys(("metrics", "requirements"), "checks"),
    **dict.fromkeys(("library", "examples"), "designs"),
    **dict.fromkeys(("outputs", "formats"), "targets"),
    **dict.fromkeys(("text", "txt", "plain", "human"), "full"),
    **dict.fromkeys(("xml", "graph"), "graphml"),
    "md": "markdown",
}
"""Words of a call that are no value of an argument, in small letters, and the value that is meant."""
LEAST_ALIKE = 0.6
"""Difflib's ratio of a wrong word to the one that is proposed, at least: `yaml` and `graphml` have 0.54."""
ABSENT = re.compile(r"(?:File|Directory|Path) '(.+)' does not exist|^(.+): No such file or directory$")


def advice_for_wrong_call(wrong: click.ClickException, args: Sequence[str]) -> str:
    """A call to write instead, or "" where there is none to propose or the message has one already."""
    said = wrong.format_message()
    if isinstance(wrong, click.NoSuchOption) and (known := _advice_for_unknown_option(wrong, args)):
        return known
    if isinstance(wrong, click.BadParameter) and (where := _place_in_configuration(wrong)):
        return where
    if "did you mean" in said.lower() or "`tdsl " in said:
        return ""
    absent = ABSENT.search(said)
    if absent is not None:
        return _call_with_file_alike(args, absent[1] or absent[2])
    if not isinstance(wrong, click.UsageError) or wrong.ctx is None:
        return ""
    corrected = _advice_for_parameter_alone(wrong.ctx, said, args)
    if corrected is None:
        corrected = _advice_for_wrong_value(wrong, said, args)
    return _advice_by_example(wrong.ctx) if corrected is None else corrected


def _call_with_file_alike(args: Sequence[str], name: str) -> str:
    return _call_with_word_replaced(args, name, _closest_word(name, _paths_in_same_folder(Path(name))))


def _advice_for_parameter_alone(ctx: click.Context, said: str, args: Sequence[str]) -> str | None:
    """The call with ``--set`` before a ``units=2`` that stands alone; None where there is none."""
    extra = re.search(r"extra argument \((\w+=\S+)\)", said)
    if extra is None or not any("--set" in p.opts for p in ctx.command.params):
        return None
    words = [w for a in args for w in (("--set", a) if a == extra[1] else (a,))]
    return f"did you mean `{shlex.join(['tdsl', *words])}`?"


def _advice_for_wrong_value(wrong: click.UsageError, said: str, args: Sequence[str]) -> str | None:
    """The call with another value of an option, "" where a call is not known; None where nothing is near."""
    if not isinstance(wrong, click.BadParameter):
        return None
    better = _advice_for_unknown_choice(wrong, said, args)
    if better is not None or "of the form name=value" not in said:
        return better
    given = re.search(r"'([^']*)' is not of the form", said)
    return _call_with_equals_sign(args, given[1]) if given else ""


def _advice_by_example(ctx: click.Context) -> str:
    example = _first_example_of_help(ctx)
    return f"for example `{example}`" if example else f"`{ctx.command_path} --help` lists its options"


def _advice_for_unknown_choice(wrong: click.BadParameter, said: str, args: Sequence[str]) -> str | None:
    """The call with the value of an option that is nearest to the one it has, "" where the call does not have
    that in words of its own; None where no value is near."""
    if wrong.param is None or not isinstance(wrong.param.type, click.Choice):
        return None
    given = re.search(r"'([^']*)' is not one of", said)
    if given is not None and (swapped := _call_with_file_first(wrong.param, args, given[1])):
        return swapped
    choices = list(map(str, wrong.param.type.choices))
    meant = MEANT.get(given[1].lower(), "") if given else ""
    meant = meant if meant in choices else "devices" if meant == "hardware" else ""
    better = meant if meant in choices else _closest_word(given[1], choices) if given else ""
    return _call_with_word_replaced(args, given[1], better) if given and better else None


def _advice_for_unknown_option(wrong: click.NoSuchOption, args: Sequence[str]) -> str:
    """The call with the option that is most like an unknown one, "" where none is."""
    if wrong.ctx is None:
        return ""
    names = [o.lstrip("-") for p in wrong.ctx.command.params for o in p.opts if o.startswith("--")]
    said = wrong.option_name.lstrip("-")
    formats = next((p for p in wrong.ctx.command.params if "--output-format" in p.opts), None)
    if formats is not None and said in getattr(formats.type, "choices", ()):
        words = [w for a in args for w in (("--output-format", said) if a == wrong.option_name else (a,))]
        return f"did you mean `{shlex.join(['tdsl', *words])}`?"
    near = _closest_word(said, names) if wrong.option_name.startswith("--") else ""
    if not near:
        return ""
    words = [re.sub(rf"^{re.escape(wrong.option_name)}(?==|$)", f"--{near}", a) for a in args]
    return f"did you mean `{shlex.join(['tdsl', *words])}`?"


def _place_in_configuration(wrong: click.BadParameter) -> str:
    """Where tdsl.toml gives the value that is refused, "" where the call gives it."""
    if wrong.ctx is None or wrong.param is None or wrong.param.name is None:
        return ""
    if wrong.ctx.get_parameter_source(wrong.param.name) is not click.core.ParameterSource.DEFAULT_MAP:
        return ""
    file = getattr(wrong.ctx.find_root().obj, "file", None) or "tdsl.toml"
    option = wrong.param.opts[-1].lstrip("-")
    given = re.search(r"'([^']*)' is not one of", wrong.message)
    choices = map(str, getattr(wrong.param.type, "choices", ()))
    near = _closest_word(given[1], choices) if given is not None else ""
    shown = f'; write `{option} = "{near}"`' if near else ""
    return f"{file} gives this value, as `{option}` of `[{wrong.ctx.info_name}]`{shown}"


def _call_with_equals_sign(args: Sequence[str], given: str) -> str:
    """The call with ``units=2`` for ``units:2`` or ``units 2``, or with VALUE where no value is written."""
    apart = re.fullmatch(r"([A-Za-z_][\w.]*+)(?:\s*+(?::=?|->)\s*+|\s++)(\S++)", given)
    if apart is not None:
        return _call_with_word_replaced(args, given, f"{apart[1]}={apart[2]}")
    words = list(args)
    at = words.index(given) if given in words else len(words)
    if words[at + 1 : at + 2] in (["="], [":"]):
        del words[at + 1]
    value = words[at + 1] if at + 1 < len(words) else "-"
    if value.startswith("-") or "." in value or Path(value).exists():
        return _call_with_word_replaced(args, given, f"{given.rstrip('=')}=VALUE")
    words[at : at + 2] = [f"{given.rstrip('=')}={value.lstrip('=')}"]
    return f"did you mean `{shlex.join(['tdsl', *words])}`?"


def _call_with_file_first(param: click.Parameter, args: Sequence[str], given: str) -> str:
    """``show pod.fab links`` for ``show links pod.fab``: the file comes before what is shown of it."""
    choices = list(map(str, getattr(param.type, "choices", ())))
    words = list(args)
    if not isinstance(param, click.Argument) or given not in words:
        return ""
    at = words.index(given)
    if words[at - 1] not in choices or not (given.endswith(".fab") or Path(given).exists()):
        return ""
    words[at - 1 : at + 1] = [given, words[at - 1]]
    return f"did you mean `{shlex.join(['tdsl', *words])}`?"


def _paths_in_same_folder(path: Path) -> list[str]:
    """Names in the folder of a path, as the call would write them."""
    try:
        return [str(path.parent / p.name) for p in sorted(path.parent.iterdir())]
    except OSError:
        return []


def _closest_word(word: str, known: Iterable[str]) -> str:
    return closest_name(word, known, LEAST_ALIKE)


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
