"""The command line: finds the commands, each a file under ``commands/``, and turns what goes wrong into a
line and a status.

Exit status: 0 clean, 1 findings, 2 a wrong call or a fault of tdsl's own; 130 after Ctrl-C, 141 where the
reader of a pipe left.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from tdsl import __version__
from tdsl.commands import _everywhere
from tdsl.commands._advice import advice_for_wrong_call
from tdsl.commands._help_text import CommandContext
from tdsl.commands._interrupt import INTERRUPTED, raise_on_interrupt
from tdsl.commands._untrusted import FLAG, is_untrusted_call
from tdsl.config import Config, ConfigError, load_config
from tdsl.system import cache, malloc
from tdsl.system.read import inputs_protected
from tdsl.system.similar import closest_name

if TYPE_CHECKING:
    from mmap import mmap

USAGE, PIPE_CLOSED = 2, 141
ASKED_FOR = frozenset({"cluster", "fix", "sign", "unsafe"})
"""Options that tdsl.toml may not give: the file may come with somebody else's checkout, and these run code of
another machine, change designs, or use a key."""
NUMPY = 96 << 20
"""Bytes of address space without which numpy is not loaded."""
GARBAGE = 200_000
"""New objects after which unreachable ones are looked for: hardly any are in cycles, and to look often is a
tenth of the time."""
RESERVE = 8 << 20
"""Bytes of address space that are kept for saying that there is no more."""
READ_IT_LATER = ("mcp",)
"""Commands that start whatever tdsl.toml says: each of their calls reads it, and says why it is refused."""
NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a stream, which has no name of a file
SHORT_HELP = re.compile(r'\bshort_help="([^"\\]+)"')
"""What the file of a command says of it in one line."""
EPILOG = """\b
Begin with:
  tdsl init my_fabric           a small design to start from, and a pipeline
  tdsl check my_fabric.fab      what is proved of it, what is wrong with it
  tdsl build my_fabric.fab      its cabling and configurations, below out/

Every flag has a variable: TDSL_CHECK_FAIL_ON=warning is `tdsl check --fail-on warning`.

Exit status: 0 clean, 1 findings, 2 a wrong call, an absent file or a fault of tdsl's own."""


def _module_of_command(name: str) -> str:
    """The module of a command: an underscore for a hyphen, and one at the end where it is a word of
    Python."""
    module = name.replace("-", "_")
    return f"{module}{'_' * iskeyword(module)}"


class Commands(click.Group):
    """A group whose commands are the modules of ``tdsl.commands`` that have a ``command``; an underscore is a
    hyphen there, and one at the end sets a word of Python apart."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        files = (Path(__file__).parent / "commands").iterdir()
        return sorted(
            f.stem.rstrip("_").replace("_", "-")
            for f in files
            if f.suffix == ".py" and not f.stem.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, imported when it is asked for."""
        if cmd_name not in self.list_commands(ctx):
            return None
        made: click.Command = import_module(f"tdsl.commands.{_module_of_command(cmd_name)}").command
        made.context_class = CommandContext
        return _everywhere.with_everywhere_options(made)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with what their files say of them, without running these files."""
        rows = []
        for name in self.list_commands(ctx):
            file = Path(__file__).parent / "commands" / f"{_module_of_command(name)}.py"
            said = SHORT_HELP.search(file.read_text(encoding="utf-8"))
            command = None if said is not None else self.get_command(ctx, name)
            rows.append(
                (name, said[1] if said is not None else command.get_short_help_str() if command else "")
            )
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _enter_config(self, ctx: click.Context, name: str, rest: list[str]) -> None:
        """Give a call its tdsl.toml, or none where the design is a stranger's, who gets no cache either.
        Raises ConfigError."""
        named, stranger = _everywhere.config_file_given(ctx, rest), is_untrusted_call(rest, name)
        if named is not None and stranger:
            raise ConfigError(f"{FLAG}: --config is for one's own designs")
        if stranger:
            ctx.with_resource(cache.cache_disabled())
        if not isinstance(ctx.obj, Config):
            ignored = stranger or (name in READ_IT_LATER and named is None)
            ctx.obj = Config() if ignored else load_config(Path.cwd(), named)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that a call names, with the values that tdsl.toml has for its options; an unknown one
        is refused."""
        if args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            raise Unusable(f"there is no command `{args[0]}`; {self._advice(ctx, args[0])}")
        name, command, rest = super().resolve_command(ctx, args)
        if ctx.resilient_parsing:  # completion
            return name, command, rest
        _refuse_unusable_call(rest)
        try:
            self._enter_config(ctx, name or "", rest)
            ctx.default_map = option_defaults_from_config(ctx, ctx.obj, command)
        except ConfigError as wrong:
            raise Unusable(str(wrong)) from None
        if "-v" in rest or "--verbose" in rest or _everywhere.everywhere_option_given(ctx, "verbose"):
            _everywhere.print_call_details(ctx, ctx.obj)
        return name, command, rest

    def _advice(self, ctx: click.Context, name: str) -> str:
        """What to write instead of a command that does not exist."""
        near = COMMANDS_ELSEWHERE.get(name.lower()) or closest_name(name, self.list_commands(ctx), 0.5)
        if near:
            return f"did you mean `{ctx.command_path} {near}`?"
        if name.endswith(".fab"):
            return f"write a command before the file: `{ctx.command_path} check {name}`"
        return f"`{ctx.command_path} --help` lists the commands"

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; leave without a word where the user or the reader of the output has gone."""
        try:
            with raise_on_interrupt(), inputs_protected():
                status = super().invoke(ctx)
                sys.stdout.flush()
                sys.stderr.flush()
        except ConfigError as wrong:  # of what the command alone knows: its targets, what a site shares
            raise Unusable(str(wrong)) from None
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            _close_quietly(sys.stdout)
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
        given = list(sys.argv[1:] if args is None else args)
        run = super().main
        _open_streams()
        gc.set_threshold(GARBAGE, 20, 20)
        malloc.enable_memory_keeping()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # waiting threads take 60 ms of CPU at every start
        # The kernel moves memory about to make huge pages, at up to a second of CPU for a million links.
        os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
        reserve = _watch_memory()
        try:
            status = _run_and_report_failure(
                lambda: run(list(given), prog_name, complete_var, standalone_mode=False, **extra),
                given,
                reserve,
            )
            sys.stderr.flush()
        except OSError:  # stderr takes nothing: the status is all that can be said
            status = USAGE
            for stream in (sys.stdout, sys.stderr):
                _close_quietly(stream)
        sys.exit(status)


def _open_streams() -> None:
    """Have the standard streams that the caller has closed lead nowhere: a file that is written would get
    their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # the lowest number that is free is its own
            handle = os.open(os.devnull, os.O_RDONLY if mode == "r" else os.O_WRONLY)
            stream = open(handle, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - open to the end
            setattr(sys, name, stream)


def _run_and_report_failure(run: Any, args: Sequence[str], reserve: mmap | None = None) -> int:
    """The status of a call; whatever it raises becomes one line on stderr. Memory in ``reserve`` is given
    back for it."""
    try:
        try:
            status = run()
        except BaseException:
            if reserve is not None:
                reserve.close()
            raise
        return status if isinstance(status, int) else 0
    except click.ClickException as wrong:
        _everywhere.print_usage_error(wrong)
        better = advice_for_wrong_call(wrong, args)
        if better:
            _everywhere.print_on_stderr(f"help: {better}")
        return USAGE
    except Exception as fault:
        if isinstance(fault, OSError) and fault.filename is None and fault.errno in NOT_WRITTEN:
            _close_quietly(sys.stdout)
            _everywhere.print_on_stderr(
                f"error[E0904]: standard output: {fault.strerror} (`tdsl explain E0904` says what to do)"
            )
            return USAGE
        return _report_internal_error(fault)


class _Room:
    """Finds nothing. It sees that numpy is loaded only where there is memory for it: its library for linear
    algebra ends the process itself, with a status of its own, where there is none."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """None. Raises MemoryError."""
        if name == "numpy":
            import resource

            limit = resource.getrlimit(resource.RLIMIT_AS)[0]
            taken = (
                int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
            )
            if limit - taken < NUMPY:
                raise MemoryError
        return None


def _watch_memory() -> mmap | None:
    """Have want of memory be a line, where this process may have so much and no more: the memory that is kept
    for that line."""
    try:
        import resource

        if (
            resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
            or not Path("/proc/self/statm").exists()
        ):
            return None
        from mmap import mmap

        import tdsl.report.paint  # noqa: F401

        reserve = mmap(-1, RESERVE)
    except (ImportError, AttributeError, OSError):
        return None
    sys.meta_path.insert(0, _Room())
    return reserve


def _close_quietly(stream: TextIO) -> None:
    """Let the interpreter flush a stream into nothing at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())


def _report_internal_error(fault: Exception) -> int:
    """Report internal error: one line, with what a report of it needs."""
    if os.environ.get("TDSL_TRACEBACK", "0") not in ("", "0"):
        raise fault
    code, words = "E0901", f"internal error: {type(fault).__name__}: {fault}"
    if isinstance(fault, RecursionError):
        code, words = "E0902", "the design is nested too deeply to be read"
    elif _lacks_memory(fault):
        code, words = (
            "E0903",
            "there is not enough memory for this "
            f"design{_process_limit_text('RLIMIT_AS', 'bytes of address space')}",
        )
    elif isinstance(fault, OSError) and fault.errno in (errno.EMFILE, errno.ENFILE):
        code, words = "E0904", f"too many open files{_process_limit_text('RLIMIT_NOFILE', 'open files')}"
    elif isinstance(fault, OSError) and fault.filename is not None:
        code, words = "E0904", f"{fault.filename}: {fault.strerror or fault}"
    where = _innermost_tdsl_line(fault) if code == "E0901" else ""
    words = " ".join(words.split())
    _everywhere.print_on_stderr(
        f"error[{code}]: {words}{where} (tdsl {__version__}; `tdsl explain {code}` says what to do)"
    )
    return USAGE


def _lacks_memory(fault: Exception) -> bool:
    """Whether the system, or a library, had no memory left."""
    if isinstance(fault, MemoryError) or (isinstance(fault, OSError) and fault.errno == errno.ENOMEM):
        return True
    message = str(fault).lower()
    foreign = not type(fault).__module__.startswith("tdsl")
    words = (
        "out of memory",
        "cannot allocate memory",
        "failed to map segment",
        "bad_alloc",
        "can't start new thread",
    )
    return foreign and any(w in message for w in words)


def _process_limit_text(name: str, what: str) -> str:
    """A limit of this process, as words; "" where there is none."""
    try:
        import resource

        soft = resource.getrlimit(getattr(resource, name))[0]
    except (ImportError, AttributeError, OSError):
        return ""
    return "" if soft == resource.RLIM_INFINITY else f": this process may have {soft:,} {what} (`ulimit -a`)"


def _innermost_tdsl_line(fault: Exception) -> str:
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
    params=list(_everywhere.everywhere_options(hidden=False)),
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "TDSL",
        "max_content_width": 100,
    },
)
@click.version_option(__version__, "-V", "--version", message="tdsl %(version)s")
def cli() -> None:
    """Designs of AI-cluster networks: prove what they require, build what they need."""


def _refuse_unusable_call(args: Sequence[str]) -> None:
    """Refuse a value with a line break, and a current folder that is gone."""
    broken = next((a for a in args if "\n" in a), None)
    if broken is not None:  # a line that begins with its second half is a command to some CI systems
        raise Unusable(
            f"{broken!r} has a line break, which no name of a file and no value may have; rename the file"
        )
    try:
        Path.cwd()
    except FileNotFoundError:
        raise Unusable(
            'the current folder has been removed or replaced; enter it again, such as with `cd "$PWD"`'
        ) from None


def _paths_in_option_values(option: click.Option, values: list[Any]) -> list[str]:
    """The files and folders that values of an option name."""
    if isinstance(option.type, click.Path):
        return [str(v) for v in values]
    part = getattr(option.type, "place", None)  # of a value that holds more than a path
    return [part(str(v)) for v in values] if part is not None else []


COMMANDS_ELSEWHERE = {
    **dict.fromkeys(("validate", "verify-design", "test", "lint", "prove", "apply", "run"), "check"),
    **dict.fromkeys(("generate", "make", "compile", "export", "render-all", "output"), "build"),
    **dict.fromkeys(("format", "reformat"), "fmt"),
    **dict.fromkeys(("draw", "plot", "graph", "diagram", "open", "visualize", "visualise"), "view"),
    **dict.fromkeys(("print", "info", "describe", "inspect", "summary"), "show"),
    **dict.fromkeys(("new-project", "create", "start", "scaffold"), "init"),
    **dict.fromkeys(("doc", "docs", "man-page", "why"), "explain"),
}
"""Words of other tools for a command, and its name."""


class Unusable(click.ClickException):
    """A project whose configuration cannot be followed."""

    exit_code = USAGE


def _options_by_long_name(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by every long name, which is what help lists, with underscores."""
    return {
        name.lstrip("-").replace("-", "_"): p
        for p in command.params
        if isinstance(p, click.Option)
        for name in (str(p.name), *(o for o in (*p.opts, *p.secondary_opts) if o.startswith("--")))
    }


def _opposite_flag(config: Config, command: str | None, key: str, value: object) -> bool:
    """What `no-open = true` sets `open` to. Raises the fault of a value that is neither true nor false."""
    if not isinstance(value, bool):
        raise config.fault(f"`[{command}]`: `{key}` is true or false")
    return not value


def option_defaults_from_config(
    ctx: click.Context, config: Config, command: click.Command | None
) -> dict[str, Any]:
    """What tdsl.toml gives for the options of the command that is called."""
    commands = ctx.command
    assert isinstance(commands, Commands)
    for wrong in config.commands.keys() - set(commands.list_commands(ctx)):
        names = [*commands.list_commands(ctx), "severity", "target", "site"]
        near = closest_name(wrong, names)
        raise config.fault(
            f"`[{wrong}]`: there is no such command; "
            + (f"did you mean `[{near}]`?" if near else f"there are {', '.join(names)}")
        )
    if command is None or config.file is None:
        return {}
    options = _options_by_long_name(command)
    given: dict[str, Any] = {}
    for key, value in config.commands.get(command.name or "", {}).items():
        option = options.get(key.replace("-", "_"))
        if option is None:
            known = sorted({o.opts[-1].lstrip("-") for o in options.values()})
            near = closest_name(key, known)
            raise config.fault(
                f"`[{command.name}]`: there is no option `{key}`; "
                + (f"did you mean `{near}`?" if near else f"there are {', '.join(known)}")
            )
        _refuse_configured_value(config, command.name, key, option, value)
        if f"--{key.replace('_', '-')}" in option.secondary_opts:  # --no-open
            value = _opposite_flag(config, command.name, key, value)
        given[str(option.name)] = _value_as_in_call(value)
    if "path" in options and config.path:
        given["path"] = [*map(str, config.path), *given.get("path", ())]
    return {str(command.name): given}


def _value_as_in_call(value: object) -> object:
    """A value of tdsl.toml as the command line gives it: text, lists of texts, and flags."""
    if isinstance(value, list):
        return [str(v) for v in value]
    return value if isinstance(value, bool) else str(value)


def _refuse_configured_value(
    config: Config, command: str | None, key: str, option: click.Option, value: object
) -> None:
    """Raises ConfigError where tdsl.toml must not give an option, or not this value."""
    if option.name in ASKED_FOR:
        raise config.fault(
            f"`[{command}]`: `{key}` is for the call or the environment, not for a file of a checkout"
        )
    if isinstance(value, dict) or isinstance(value, list) != option.multiple:
        raise config.fault(
            f"`[{command}]`: `{key}` takes {'a list of values' if option.multiple else 'one value'}"
        )
    for place in _paths_in_option_values(option, value if isinstance(value, list) else [value]):
        if not config.below(Path.cwd() / place):
            raise config.fault(
                f"`[{command}]`: `{key}` names {place}, which is outside {config.folder}; give it in the call"
            )
