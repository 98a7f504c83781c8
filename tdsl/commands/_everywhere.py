"""Options that every command takes: ``--color``, ``--config``, ``-q`` and ``-v``; before the command or after
it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tdsl.config import Config

KEY = "tdsl.everywhere"
COLORS = ("auto", "always", "never")


def _keep_option_for_call(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep a value for the whole call; one that is given after the command replaces one before it."""
    if value in (None, False):
        return
    ctx.find_root().meta.setdefault(KEY, {})[param.name] = value
    if param.name == "color":
        from tdsl.report.paint import colored

        token = colored.set(None if value == "auto" else value == "always")
        ctx.call_on_close(lambda: colored.reset(token))


def everywhere_options(hidden: bool) -> list[click.Option]:
    """The options, for the program or, ``hidden`` from its help, for one of its commands."""
    keep: dict[str, Any] = {"expose_value": False, "callback": _keep_option_for_call, "hidden": hidden}
    return [
        click.Option(
            ["--color", "--colour", "color"], type=click.Choice(COLORS), metavar="auto|always|never",
            is_eager=True, **keep,
            help="Color the output: on a terminal only (auto), always, or never.",
        ),
        click.Option(
            ["--config"], type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
            **keep,
            help="Use this file instead of the nearest tdsl.toml.",
        ),
        click.Option(["-q", "--quiet"], is_flag=True, help="Print findings and data only, no summary and "
                                                           "no progress.", **keep),
        click.Option(["-v", "--verbose"], is_flag=True, help="Print every answer of a check, and files, time "
                                                             "and memory on stderr.", **keep),
    ]  # fmt: skip


def with_everywhere_options(command: click.Command) -> click.Command:
    """A command that takes them, too."""
    if not any(p.name == "quiet" for p in command.params):
        command.params.extend(everywhere_options(hidden=True))
    return command


def everywhere_option_given(ctx: click.Context, name: str) -> Any:
    """What was given for one of the options, None if it was not."""
    return ctx.find_root().meta.get(KEY, {}).get(name)


def config_file_given(ctx: click.Context, rest: Sequence[str]) -> Path | None:
    """The file of ``--config``; it is needed before the options of the command are read."""
    words = list(rest[: rest.index("--")] if "--" in rest else rest)
    for at, word in enumerate(words):
        if word == "--config" and at + 1 < len(words):
            return Path(words[at + 1])
        if word.startswith("--config="):
            return Path(word.partition("=")[2])
    found = everywhere_option_given(ctx, "config")
    return found if found is None else Path(found)


def is_quiet() -> bool:
    """Whether this call is to print findings and data only."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(everywhere_option_given(ctx, "quiet"))


def is_verbose() -> bool:
    """Whether this call is to say what it does."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(everywhere_option_given(ctx, "verbose"))


def print_unless_quiet(words: str) -> None:
    """Say on stderr what was done, unless ``--quiet``."""
    if not is_quiet():
        print_on_stderr(words)


def print_on_stderr(words: str) -> None:
    """Say a line on stderr. What a name in it would do to a terminal, it does not do."""
    from tdsl.report.paint import terminal_safe_text

    click.echo(terminal_safe_text(words), err=True)


def print_usage_error(wrong: click.ClickException) -> None:
    """Say on stderr what is wrong with a call, with its usage."""
    from tdsl.report.paint import terminal_safe_text

    vars(wrong)["message"] = terminal_safe_text(wrong.message)  # final for subclasses, in click
    wrong.show()


def print_call_details(ctx: click.Context, config: Config | None) -> None:
    """For ``--verbose``: say what the call uses, and at its end how long it took."""
    from tdsl import __version__
    from tdsl.system import resources

    begin = time.perf_counter()
    file = config.file if config is not None and config.file is not None else "none"
    python = ".".join(map(str, sys.version_info[:3]))
    print_on_stderr(f"tdsl {__version__}, Python {python}, in {os.getcwd()}")
    print_on_stderr(f"configuration: {file}; library: {resources.packaged_folder('stdlib')}")

    def ended() -> None:
        print_on_stderr(f"{time.perf_counter() - begin:.1f} s{_peak_memory_text()}")

    ctx.call_on_close(ended)


def _peak_memory_text() -> str:
    """The most memory that the process had, as words; "" where the system does not say."""
    try:
        import resource
    except ImportError:
        return ""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1 << 20 if sys.platform == "darwin" else 1 << 10
    )
    return f", {size:,.0f} MiB of memory"
