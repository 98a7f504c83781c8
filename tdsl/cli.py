"""The command line: finds the commands, each a file under ``commands/``, and turns what goes wrong into a line and a status.

Exit status: 0 clean, 1 findings, 2 a wrong call or a fault of tdsl's own; 130 after Ctrl-C, 141 where the reader of a pipe left.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click

from tdsl import __version__
from tdsl.config import Config, ConfigError, load

USAGE, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
EPILOG = """\b
Begin with:
  tdsl init my_fabric           a small design to start from, and a pipeline
  tdsl check my_fabric.fab      what is proved of it, what is wrong with it
  tdsl build my_fabric.fab      its cabling and configurations, below out/

Every flag has a variable: TDSL_CHECK_FAIL_ON=warning is `tdsl check --fail-on warning`.

Exit status: 0 clean, 1 findings, 2 a wrong call, an absent file or a fault of tdsl's own."""


class Commands(click.Group):
    """A group whose commands are the modules of ``tdsl.commands`` that have a ``command``; an underscore is a hyphen there."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        folder = Path(__file__).parent / "commands"
        return sorted(m.name.replace("_", "-") for m in iter_modules([str(folder)]) if not m.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, imported when it is asked for."""
        if cmd_name not in self.list_commands(ctx):
            return None
        made: click.Command = import_module(f"tdsl.commands.{cmd_name.replace('-', '_')}").command
        return made

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; leave without a word where the user or the reader of the output has gone."""
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
            sys.stderr.flush()
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            _close_quietly()
            return PIPE_CLOSED
        return status

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave the process with the status that the call deserves."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        sys.exit(_guarded(lambda: super(Commands, self).main(args, prog_name, complete_var, standalone_mode=False, **extra)))


def _guarded(run: Any) -> int:
    """The status of a call; whatever it raises becomes one line on stderr."""
    try:
        status = run()
        return status if isinstance(status, int) else 0
    except click.ClickException as wrong:
        wrong.show()
        return USAGE
    except Exception as fault:
        return _internal(fault)


def _close_quietly() -> None:
    """Let the interpreter flush into nothing at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())


def _internal(fault: Exception) -> int:
    """Report a fault of tdsl's own: one line, with what a report of it needs."""
    if os.environ.get("TDSL_TRACEBACK", "0") not in ("", "0"):
        raise fault
    code, words = "E0901", f"internal error: {type(fault).__name__}: {fault}"
    if isinstance(fault, RecursionError):
        code, words = "E0902", "the design is nested too deeply to be read"
    elif isinstance(fault, MemoryError):
        code, words = "E0903", "there is not enough memory for this design"
    elif isinstance(fault, OSError) and fault.filename is not None:
        code, words = "E0904", f"{fault.filename}: {fault.strerror or fault}"
    where = _where(fault) if code == "E0901" else ""
    words = " ".join(words.split())
    click.echo(f"error[{code}]: {words}{where} (tdsl {__version__}; `tdsl explain {code}` says what to do)", err=True)
    return USAGE


def _where(fault: Exception) -> str:
    """The innermost line of tdsl that took part."""
    inner, at = "", fault.__traceback__
    root = Path(__file__).parent
    while at is not None:
        path = Path(at.tb_frame.f_code.co_filename)
        if path.is_relative_to(root):
            inner = f" at {path.relative_to(root).as_posix()}:{at.tb_lineno}"
        at = at.tb_next
    return inner


@click.group(
    cls=Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "TDSL", "max_content_width": 100},
)
@click.version_option(__version__, message="tdsl %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Designs of AI-cluster networks: check what is claimed of them, build what they need."""
    try:
        ctx.obj = load(Path.cwd())
        ctx.default_map = _defaults(ctx, ctx.obj)
    except ConfigError as wrong:
        raise Unusable(str(wrong)) from None


class Unusable(click.ClickException):
    """A project whose configuration cannot be followed."""

    exit_code = USAGE


def _defaults(ctx: click.Context, config: Config) -> dict[str, Any]:
    """What tdsl.toml gives for the options of the command that is called."""
    commands = ctx.command
    name = ctx.invoked_subcommand
    assert isinstance(commands, Commands)
    for wrong in config.commands.keys() - set(commands.list_commands(ctx)):
        raise config.fault(f"`[{wrong}]`: there is no such command; there are {', '.join(commands.list_commands(ctx))}")
    command = commands.get_command(ctx, name) if name else None
    if command is None or config.file is None:
        return {}
    options = {p.name: p for p in command.params if isinstance(p, click.Option)}
    given: dict[str, Any] = {}
    for key, value in config.commands.get(command.name or "", {}).items():
        option = options.get(key.replace("-", "_"))
        if option is None:
            known = ", ".join(sorted(o.opts[-1].lstrip("-") for o in options.values()))
            raise config.fault(f"`[{command.name}]`: there is no option `{key}`; there are {known}")
        if isinstance(value, dict) or isinstance(value, list) != option.multiple:
            raise config.fault(f"`[{command.name}]`: `{key}` takes {'a list of values' if option.multiple else 'one value'}")
        given[str(option.name)] = value if isinstance(value, (bool, list)) else str(value)
    if "path" in options and config.path:
        given["path"] = [*map(str, config.path), *given.get("path", ())]
    return {str(command.name): given}
