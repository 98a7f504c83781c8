"""What several commands take and give: arguments, options of the compiler, and reports on a stream."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click
from click.shell_completion import CompletionItem

from tdsl.commands._progress import show_progress

if TYPE_CHECKING:
    from tdsl.compile.compiler import Compilation, Design, Request
    from tdsl.findings.diagnostic import Severity
    from tdsl.findings.source import SourceFile
    from tdsl.semantics.ranges import Domain
    from tdsl.system.workers import Workers

if TYPE_CHECKING:
    Text = click.ParamType[str]
    Pair = click.ParamType[tuple[str, str]]
else:
    Text = Pair = click.ParamType

F = TypeVar("F", bound=Callable[..., Any])
ALL_NETWORKS = "all-networks"
"""The folder of what is built once of all networks of a cluster."""
OK, FOUND = 0, 1
FABRIC = re.compile(r"^[ \t]*(?:fabric|cluster)\b", re.MULTILINE)


class Wrong(click.ClickException):
    """A call that cannot be answered, where the usage of the command would be no help."""

    exit_code = 2


class Source(Text):
    """A design: a file, or the name of one of the standard library."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Files, and the names of standard designs."""
        from tdsl.system import resources

        names = sorted(p.stem for p in (resources.packaged_folder("stdlib") / "designs").glob("*.fab"))
        return [
            *(CompletionItem(n) for n in names if n.startswith(incomplete)),
            CompletionItem(incomplete, type="file"),
        ]


class CheckName(Text):
    """The name or code of a check."""

    name = "check"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """A known name, as it is spelt."""
        from tdsl.explain import catalogue

        found = next((p for p in catalogue.check_pages_by_name().values() if value in (p.name, p.code)), None)
        if found is None:
            near = catalogue.most_similar_code(value)
            self.fail(
                f"there is no check {value!r}" + (f"; did you mean {near!r}?" if near else ""), param, ctx
            )
        return found.name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names of checks."""
        from tdsl.explain import catalogue

        return [
            CompletionItem(name) for name in catalogue.check_pages_by_name() if name.startswith(incomplete)
        ]


def _domains_of_call(ctx: click.Context) -> Sequence[Domain]:
    """What the parameters of the designs in an unfinished call may be; none where a design cannot be read."""
    from tdsl.compile import compiler
    from tdsl.system import resources

    given = ctx.params.get("files") or ctx.params.get("file") or ()
    if not given:  # click reads no argument where an option still lacks its value
        library = resources.packaged_folder("stdlib") / "designs"
        words = os.environ.get("COMP_WORDS", "").split()
        given = [
            w for w in words if w.endswith(".fab") or ("/" not in w and (library / f"{w}.fab").is_file())
        ]
    out: list[Domain] = []
    for source in (given,) if isinstance(given, str) else tuple(given):
        try:
            settings, _ = compiler.parameter_settings(
                str(source), compiler.Request(paths=tuple(ctx.params.get("path") or ()))
            )
        except (compiler.UsageError, OSError):
            continue
        out += settings.domains or ()
    return out


class SettingParameter(Pair):
    """A parameter and its value: ``units=4``."""

    name = "name=value"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names of the parameters of the designs in the call, and the values of one that has few."""
        if param.name != "set":
            return []
        written, sign, value = incomplete.partition("=")
        out = []
        for domain in _domains_of_call(ctx):
            if not sign and domain.name.startswith(incomplete):
                out.append(CompletionItem(f"{domain.name}="))
            elif sign and written == domain.name and domain.choices is not None:
                from tdsl.semantics.values import text_of

                few = [text_of(v) for v in domain.choices[:100]]
                out += [CompletionItem(f"{written}={v}") for v in few if v.startswith(value)]
        return out

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Split at the first equals sign. An option of a target may be empty, a parameter of a design not."""
        if isinstance(value, tuple):
            return (str(value[0]), str(value[1]))
        name, sign, text = str(value).partition("=")
        if (
            not sign
            or not name.strip()
            or not (text.strip() or (param is not None and param.name == "option"))
        ):
            self.fail(f"{value!r} is not of the form name=value", param, ctx)
        return name.strip(), text.strip()


def design_options(command: F) -> F:
    """``--set``, ``--path`` and ``--phase``."""
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    path = click.option(
        "--path",
        type=kind,
        multiple=True,
        metavar="DIR",
        help="Search this folder, too, for what `use` names.",
    )
    given = click.option(
        "--set", type=SettingParameter(), multiple=True, help="Give a parameter of the design a value."
    )
    phase = click.option(
        "--phase", type=click.IntRange(min=1), metavar="N", help="Take this phase of the design."
    )
    return given(path(phase(command)))


def places_option(command: F) -> F:
    """``--places`` and ``--prices``."""
    prices = click.option(
        "--prices",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="A TOML file of what models and parts cost: currency, date and tables [price], [spares], "
        "[lead], [alternative].",
    )(command)
    return click.option(
        "--places",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="A CSV of where devices are mounted: device,hall,row,rack,unit.",
    )(prices)


def side_options(command: F) -> F:
    """``--set-old`` and ``--set-new``."""
    for name in ("new", "old"):
        command = click.option(
            f"--set-{name}",
            type=SettingParameter(),
            multiple=True,
            help=f"Give a parameter a value in {name.upper()} only.",
        )(command)
    return command


def floor_option(what: str) -> Callable[[F], F]:
    """``--floor``; ``what`` is what keeps to it."""
    return click.option(
        "--floor",
        default="75%",
        callback=floor_from_text,
        show_default=True,
        metavar="REQUIREMENT",
        help=f"{what}, such as 'bisection >= 75%'.",
    )


def output_format_option(
    kinds: Sequence[str],
    default: str | None = "table",
    help: str = "How to print.",
    names: tuple[str, str] = ("--output-format", "--format"),
) -> Callable[[F], F]:
    """``--output-format``, also as ``--format``; the first of the ``names`` is printed first."""
    return click.option(
        *names,
        "output_format",
        type=click.Choice(kinds),
        default=default,
        show_default=default is not None,
        help=help,
    )


def limit_options(command: F) -> F:
    """``--limit-devices`` and ``--limit-links``."""
    for what, limit in (("links", 1 << 27), ("devices", 1 << 24)):
        option = click.option(
            f"--limit-{what}",
            type=click.IntRange(min=1),
            default=limit,
            metavar="N",
            help=f"Refuse a design of more {what} than this; {limit:,} if not given.",
        )
        command = option(command)
    return command


def _parameters_given_once(given: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The parameters of a call. Raises Wrong where one has two values."""
    values: dict[str, str] = {}
    for name, value in given:
        if values.setdefault(name, value) != value:
            raise Wrong(f"--set gives `{name}` two values: {values[name]} and {value}")
    return tuple(values.items())


def fail_options(what: str) -> Callable[[F], F]:
    """``--fail`` and ``--fail-file``, with what is done without the elements."""
    one = click.option(
        "--fail",
        multiple=True,
        metavar="ELEMENT",
        help=f"{what} this device, group, port, cable or `link A B`; may be given several times.",
    )
    many = click.option(
        "--fail-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        multiple=True,
        metavar="FILE",
        help="The same for every line of a file; `#` begins a comment.",
    )
    return lambda command: one(many(command))


def failed_elements(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The elements that ``--fail`` and the files of ``--fail-file`` name. Raises Wrong."""
    return (*given["fail"], *(element for path in given["fail_file"] for element in _elements_in_file(path)))


def _elements_in_file(path: Path) -> list[str]:
    """The elements that a file names, one a line."""
    from tdsl.system.read import read_argument_file

    try:
        lines = read_argument_file(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise Wrong(f"{path}: {getattr(fault, 'strerror', None) or 'this is not a text file'}") from None
    found = [element for line in lines if (element := line.partition("#")[0].strip())]
    if not found:
        raise Wrong(f"{path} names no element that fails: write one a line")
    return found


def cache_option(command: F) -> F:
    """``--no-cache``."""
    return click.option(
        "--no-cache",
        is_flag=True,
        help="Judge everything again: neither give the answer of an earlier call where nothing has "
        "changed, nor keep one.",
    )(command)


T = TypeVar("T")


def record_of_call(kind: type[T], given: Mapping[str, Any]) -> T:
    """The record of a command's own options, taken from all that a call gives."""
    return kind(**{name: given[name] for name in kind.__annotations__})


def options_from_command(
    given: dict[str, Any], select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> Request:
    """The compiler's options from a command's."""
    from tdsl.compile.compiler import Request

    return Request(
        set=_parameters_given_once(given["set"]),
        paths=tuple(given["path"]),
        phase=given.get("phase") or 0,
        select=tuple(select),
        ignore=tuple(ignore),
        max_devices=given["limit_devices"],
        max_links=given["limit_links"],
        solve_seconds=given.get("solve_seconds", 10),
        check_seconds=given.get("check_seconds", 60),
        second_best=given.get("second_best", False),
        severities=_severities_of_config(),
        locked=given.get("locked", False),
        at_least=given.get("at_least"),
        places=_table_beside_design(given.get("places")),
        prices=_table_beside_design(given.get("prices")),
    )


def _table_beside_design(path: Path | None) -> SourceFile | None:
    """The text of a table beside a design."""
    if path is None:
        return None
    from tdsl.findings.source import SourceFile
    from tdsl.system.read import read_text_file

    try:
        return SourceFile(path.as_posix(), read_text_file(path, encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as fault:
        raise Wrong(f"{path}: {getattr(fault, 'strerror', None) or fault}") from None


def _severities_of_config() -> dict[str, Severity]:
    """How much findings matter by tdsl.toml, by name."""
    from tdsl.config import Config

    context = click.get_current_context(silent=True)
    config = context.find_object(Config) if context is not None else None
    return severities_from_table(config.severities, str(config.file)) if config is not None else {}


def severities_from_table(table: Mapping[str, object], file: str) -> dict[str, Severity]:
    """How much findings matter, by name, as the table `[severity]` of a file says. Raises Wrong."""
    from tdsl.compile.waivers import FOREVER
    from tdsl.config import SEVERITIES
    from tdsl.explain import catalogue
    from tdsl.findings.diagnostic import Severity

    out = {}
    for name, word in table.items():
        page = catalogue.find_page(name)
        if page is None:
            near = catalogue.most_similar_code(name)
            raise Wrong(
                f"{file}: there is no finding `{name}`" + (f"; did you mean `{near}`?" if near else "")
            )
        if page.code.startswith(FOREVER):
            raise Wrong(f"{file}: `{name}` is always an error: it says that the text is not understood")
        if word not in SEVERITIES:
            raise Wrong(f"{file}: `[severity]` must be one of {', '.join(SEVERITIES)}")
        out[page.name] = Severity[str(word).upper()]
    return out


def workers_options(command: F) -> F:
    """`--jobs` and `--cluster`: where combinations of parameters are checked."""
    jobs = click.option(
        "--jobs",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Check combinations on so many processes; as many as there are cores if not given.",
    )
    cluster = click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Check combinations on the Dask cluster whose scheduler is at this address, such as "
        "tcp://10.0.0.1:8786.",
    )
    return jobs(cluster(command))


def compile_sources(
    sources: Sequence[str],
    options: Request,
    verify: bool = True,
    limit: int | None = None,
    workers: Workers | None = None,
    kept: bool = False,
) -> Sequence[Compilation]:
    """The designs of some files, or of files of git revisions (`REVISION:FILE`); with a limit, at so many
    combinations of their parameters. Where they may be ``kept``, answers of earlier calls are taken, without
    fabrics.

    What the compiler calls a wrong call is one here.
    """
    sources, options = sources_with_stdin(sources, options)
    with show_progress():
        return [_compiled_source(source, options, verify, limit, workers, kept) for source in sources]


def _compiled_source(
    source: str, options: Request, verify: bool, limit: int | None, workers: Workers | None, kept: bool
) -> Compilation:
    from tdsl import answers
    from tdsl.commands._revisions import opened_source
    from tdsl.compile import compiler

    with opened_source(source, options) as opened:
        if limit is None:
            step = (
                answers.check_with_cache
                if kept and verify and not opened.revision
                else compiler.compile_and_verify
                if verify
                else compiler.compile_without_checks
            )
            return opened.compile_with(step)
        from tdsl.compile.sweep import ALONE, sweep_parameters
        from tdsl.system.workers import WorkersEnded

        many = (
            ALONE if workers is None or opened.revision else workers
        )  # other processes do not see the revision
        try:
            return opened.compile_with(lambda name, asked: sweep_parameters(name, asked, limit, many))
        except WorkersEnded as ended:
            raise Wrong(str(ended)) from None


def compilation_stages(source: str, options: Request, kept: bool) -> Iterator[Compilation]:
    """What ``compiler.compile_in_stages`` gives of a file, or of a file of a git revision; ``kept`` as for
    ``compiled``. Raises Wrong."""
    from tdsl import answers
    from tdsl.commands._revisions import opened_source
    from tdsl.compile import compiler

    with opened_source(source, options) as opened:
        try:
            stages = (
                answers.stages_with_cache(opened.source, opened.options)
                if kept and not opened.revision
                else compiler.compile_in_stages(opened.source, opened.options)
            )
            compilation = next(stages, None)
            while compilation is not None:
                yield opened.name_revision(compilation)
                with opened.names_of_disk(compilation):
                    compilation = next(stages, None)
        except compiler.UsageError as wrong:
            raise Wrong(opened.named(str(wrong))) from None


STDIN = "<stdin>"


def sources_with_stdin(sources: Sequence[str], options: Request) -> tuple[Sequence[str], Request]:
    """The sources with ``-`` named ``<stdin>``, and the options with its text; ``use`` looks in the current
    folder then."""
    if "-" not in sources:
        return sources, options
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    overlay = {**options.overlay, STDIN: text, str(Path.cwd().resolve() / STDIN): text}
    return [STDIN if s == "-" else s for s in sources], replace(options, overlay=overlay)


def designs_in(sources: Sequence[str]) -> list[str]:
    """The sources, with each folder replaced by the designs in it: files that declare a fabric, hidden
    folders left out."""
    out: list[str] = []
    for source in sources:
        folder = Path(source)
        if not folder.is_dir():
            out.append(source)
            continue
        files = sorted(
            p
            for p in folder.rglob("*.fab")
            if not any(part.startswith(".") for part in p.relative_to(folder).parts)
        )
        found = [p.as_posix() for p in files if p.is_file() and _text_declares_fabric(p)]
        for name in found:
            if "\n" in name:
                raise Wrong(
                    f"{name!r} is a name with a line break, which tdsl does not take; rename the file"
                )
        if not found:
            what = (
                f"none of its {len(files)} .fab files declares a fabric" if files else "it has no .fab file"
            )
            raise Wrong(
                f"there is no design in the folder {source}: {what}; `tdsl init` writes a design to start "
                "from"
            )
        out += found
    return out


def _text_declares_fabric(path: Path) -> bool:
    from tdsl.system.read import read_text_file

    try:
        text = read_text_file(path)
    except (OSError, UnicodeDecodeError):
        return True  # the compiler reports why
    return FABRIC.search(text) is not None


def write_to_stream(text: str, stream: TextIO | None = None) -> None:
    """Write text as it is; what the stream's encoding lacks is escaped rather than an error."""
    out = stream or sys.stdout
    try:
        out.write(text)
    except UnicodeEncodeError:
        encoding = out.encoding or "ascii"
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))


def save_text(
    text: str, path: Path, below: Path | None = None, was: bytes | None = None, rewrites: bool = False
) -> None:
    """Have a file hold a text, all of it or as before; make the folders ``below`` one that it lies in.
    ``was`` and ``rewrites``: as for ``replace_file``."""
    from tdsl.system.replace import folders_made_on_way, replace_file

    try:
        with folders_made_on_way(below, path.parent) if below is not None else nullcontext():
            replace_file(path, text.encode("utf-8", "backslashreplace"), was, rewrites)
    except OSError as fault:
        raise Wrong(f"{path}: {fault.strerror or fault}") from None


def save_lock(text: str, lock: Path) -> None:
    """Write the lock of a design, unless it is larger than what is read of one: every later command would
    refuse it."""
    from tdsl.compile.compilation import LARGEST_LOCK

    if len(text) > LARGEST_LOCK:
        raise Wrong(
            f"{lock} would have {len(text):,} bytes, and at most {LARGEST_LOCK:,} are read of it; nothing "
            "is written"
        )
    save_text(text, lock, rewrites=True)


def exit_status_of(judged: Iterable[Compilation | Design]) -> int:
    """``FOUND`` where any has an error, else ``OK``."""
    return FOUND if any(d.severity.word == "error" for x in judged for d in x.findings) else OK


def show_findings(compilations: Sequence[Compilation], stream: TextIO) -> None:
    """The findings that matter, for commands whose data is something else; notes are left to `check`, but for
    those of a file that has no fabric to give data of."""
    from tdsl.findings.diagnostic import Severity
    from tdsl.report.paint import Paint, output_width, wants_colour
    from tdsl.report.terminal import finding_blocks

    paint, width = Paint(wants_colour(stream)), output_width(stream)
    for compilation in compilations:
        for design in compilation.judged:
            least = Severity.WARNING if design.fabric is not None else Severity.NOTE
            graver = replace(design, findings=[d for d in design.findings if d.severity >= least])
            for block in finding_blocks(graver, paint, width):
                write_to_stream(f"{block}\n\n", stream)


def _share_from_percentage(
    context: click.Context, option: click.Parameter, value: str | None
) -> Fraction | None:
    """A percentage as a share."""
    if value is None:
        return None
    found = re.fullmatch(r"\s*+(\d{1,3}(?:\.\d{1,9})?)\s*+%?\s*+", value)
    share = Fraction(found[1]) / 100 if found else None
    if share is None or share > 1:
        raise click.BadParameter(f"{value!r} is not a percentage such as 100%", context, option)
    return share


def at_least_option(what: str) -> Callable[[F], F]:
    """``--at-least``, with what it is a share of."""
    help = f"Fail where less than this share of {what} is judged."
    return click.option("--at-least", callback=_share_from_percentage, metavar="PERCENT", help=help)


FLOOR = re.compile(r"\s*+(?:bisection\s*+>=\s*+)?(\d{1,9}(?:\.\d{1,9})?)\s*+%?\s*+")


def floor_from_text(context: click.Context, option: click.Parameter, value: str) -> Fraction:
    """A share of the whole: ``bisection >= 75%``, or ``75%``."""
    found = FLOOR.fullmatch(value)
    share = Fraction(found[1]) / 100 if found else None
    if share is None or share > 1:
        raise click.BadParameter(f"{value!r} is not such as 'bisection >= 75%'", context, option)
    return share


column_option = click.option(
    "--column",
    multiple=True,
    metavar="OURS=THEIRS",
    help="The name of a column in a table of cables: a_device, a_port, b_device, b_port or rate_gbps.",
)


def column_names_given(given: Sequence[str]) -> dict[str, str]:
    """Names of columns, as ``--column a_device=NAME`` gives them. Raises Wrong."""
    from tdsl.observe.readers.p2p import TAKEN

    out = {}
    for text in given:
        ours, equals, theirs = (part.strip() for part in text.partition("="))
        if not equals or not theirs or ours not in TAKEN:
            raise Wrong(f"--column {text}: write OURS=THEIRS, where OURS is {', '.join(TAKEN)}")
        out[ours] = theirs
    return out
