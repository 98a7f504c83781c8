"""``tdsl config``: the settings in force, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import click

from tdsl.commands._everywhere import everywhere_option_given, everywhere_options
from tdsl.commands._rows import OutputRows, format_option, print_csv, print_json, print_table
from tdsl.commands._shared import Wrong
from tdsl.config import Config, ConfigError

EXAMPLES = (
    "\b\nExamples:\n  tdsl config show\n  tdsl config show --all        (defaults, too)\n  tdsl "
    "config show --format json"
)


@click.group("config", short_help="Show the settings in force.", epilog=EXAMPLES)
def command() -> None:
    """Show the settings in force: those of tdsl.toml, of the environment, and defaults."""


@command.command("show", params=everywhere_options(hidden=True), epilog=EXAMPLES)
@click.option(
    "--all",
    "all_",
    is_flag=True,
    envvar="TDSL_CONFIG_SHOW_ALL",
    help="List the defaults of all options, too.",
)
@format_option
@click.pass_context
def show(context: click.Context, all_: bool, output_format: str) -> None:
    """Print each setting, its value and where it comes from.

    A value of the call is used before one of the environment, and that before one of tdsl.toml.
    """
    found = context.find_object(Config) or Config()
    if (named := everywhere_option_given(context, "config")) is not None and found.file is None:
        raise Wrong(f"{named} is not read")
    try:
        rows = OutputRows(("setting", "value", "from"), list(_settings_in_force(context, found, all_)))
    except ConfigError as wrong:
        raise Wrong(str(wrong)) from None
    if output_format == "json":
        print_json({"file": None if found.file is None else str(found.file), "settings": rows.records()})
    elif output_format == "csv":
        print_csv(rows)
    else:
        print_table(rows)


def _settings_in_force(
    context: click.Context, config: Config, everything: bool
) -> Iterator[tuple[str, str, str]]:
    """Every setting that something gives: its name, value and source."""
    file = "none" if config.file is None else str(config.file)
    yield (
        "tdsl.toml",
        file,
        ""
        if config.file is None
        else "--config"
        if everywhere_option_given(context, "config")
        else "the nearest one",
    )
    for path in config.path:
        yield "path", str(path), file
    yield from _option_settings(context, config, everything, file)
    for word, severity in config.severities.items():
        yield f"severity {word}", severity, file
    for target, values in config.targets.items():
        for key, one in values.items():
            yield f"target {target}.{key}", _value_as_in_call(one), file
    for key, one in config.site.items():
        yield f"site {key}", _value_as_in_call(one), file
    for variable in ("NO_COLOR", "FORCE_COLOR", "TDSL_CACHE_DIR", "TDSL_TRACEBACK", "TDSL_UNTRUSTED"):
        if os.environ.get(variable):
            yield variable, os.environ[variable], "environment"


def _option_settings(
    context: click.Context, config: Config, everything: bool, file: str
) -> Iterator[tuple[str, str, str]]:
    """The options of all commands that something gives, or all if ``everything`` is listed; ``file`` is the
    name of tdsl.toml."""
    from tdsl.cli import cli, option_defaults_from_config

    root = context.find_root()
    assert isinstance(cli, click.Group)
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        if command is None:
            continue
        ours = (
            option_defaults_from_config(root, config, command).get(name, {})
            if name in config.commands
            else {}
        )
        for option in command.params:
            if not isinstance(option, click.Option) or option.hidden or option.name is None:
                continue
            flag = max(option.opts, key=len)
            value = _value_in_force(name, option, ours, everything, file)
            if value is not None and _value_as_in_call(value[0]) not in ("", "Sentinel.UNSET"):
                yield f"{name} {flag}", *value


def _value_in_force(
    name: str, option: click.Option, ours: Mapping[str, object], everything: bool, file: str
) -> tuple[str, str] | None:
    """The value of an option and where it comes from: the environment, tdsl.toml, or with ``everything`` its
    default; None for none."""
    variable = option.envvar or f"TDSL_{name}_{option.name}".upper().replace("-", "_")
    names = [variable] if isinstance(variable, str) else list(variable)
    value = next(((os.environ[v], v) for v in names if os.environ.get(v)), None)
    if value is None and option.name in ours:
        value = (_value_as_in_call(ours[option.name]), file)
    if (
        value is None
        and everything
        and option.default not in (None, False, ())
        and not callable(option.default)
    ):
        value = (_value_as_in_call(option.default), "default")
    return value


def _value_as_in_call(value: object) -> str:
    """A value as it is written in a call."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
