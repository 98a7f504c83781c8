"""``tdsl check``: verify designs and report."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._shared import FOUND, OK, Source, Text, Wrong, compiled, design_options, limit_options, options, save, say
from tdsl.commands._watch import watched
from tdsl.diagnostic import Severity
from tdsl.report.formats import Report, formats
from tdsl.report.paint import wants_colour, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from tdsl.compiler import Compilation

    Output = click.ParamType[tuple[str, Path]]
else:
    Output = click.ParamType


class CheckName(Text):
    """The name or code of a check."""

    name = "check"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """A known name, as it is spelt."""
        from tdsl import catalogue

        found = next((p for p in catalogue.checks().values() if value in (p.name, p.code)), None)
        if found is None:
            near = catalogue.nearest(value)
            self.fail(f"there is no check {value!r}" + (f"; did you mean {near!r}?" if near else ""), param, ctx)
        return found.name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names of checks."""
        from click.shell_completion import CompletionItem

        from tdsl import catalogue

        return [CompletionItem(name) for name in catalogue.checks() if name.startswith(incomplete)]


class Further(Output):
    """A format and the file for it: ``sarif=tdsl.sarif``."""

    name = "format=file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path]:
        """Split at the first equals sign."""
        if isinstance(value, tuple):
            return (str(value[0]), Path(value[1]))
        name, sign, file = str(value).partition("=")
        if not sign or not file or name not in formats():
            self.fail(f"{value!r} is not of the form FORMAT=FILE; formats are {', '.join(formats())}", param, ctx)
        return name, Path(file)


@click.command(
    "check",
    short_help="Say what is proved of designs, and what is wrong with them.",
    epilog="\b\nExamples:\n  tdsl check superpod.fab --set units=3\n"
    "  tdsl check superpod.fab --all-params  (every value of every parameter)\n"
    "  tdsl check *.fab --output-format json -o report.json\n"
    "  tdsl check *.fab --output-format github --report sarif=tdsl.sarif --report junit=junit.xml\n"
    "  tdsl check dgx_superpod_h100          (a design of the standard library)",
)
@click.argument("files", nargs=-1, required=True, type=Source(), metavar="FILE...")
@design_options
@click.option("--select", type=CheckName(), multiple=True, help="Run this check only; may be given several times.")
@click.option("--ignore", type=CheckName(), multiple=True, help="Leave this check out; may be given several times.")
@click.option("--output-format", type=click.Choice(list(formats())), default="full", show_default=True, help="How to report.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the report to a file."
)
@click.option(
    "--report", type=Further(), multiple=True, metavar="FORMAT=FILE",
    help="Write a further report to a file; may be given several times.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True, help="What makes the exit status 1."
)
@click.option(
    "--certificates",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write what proves bisection, diameter, reachability, survives and throughput, a folder for each design.",
)
@click.option(
    "--all-params", is_flag=True,
    help="Answer for every value that the parameters may have: each combination is compiled and checked.",
)  # fmt: skip
@click.option(
    "--limit-params", type=click.IntRange(min=1), default=1000, metavar="N",
    help="Check so many combinations of parameters at most; 1,000 if not given.",
)  # fmt: skip
@click.option(
    "--fail",
    multiple=True,
    metavar="ELEMENT",
    help="Judge what is left without this device, group, port, cable or `link A B`; may be given several times.",
)
@click.option(
    "--fail-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="The same for every line of a file; `#` begins a comment.",
)
@click.option(
    "--solve-seconds",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="About how long holes may take; counted in work, so that the answer is the same on every machine.",
)
@click.option("--locked", is_flag=True, help="Fail if a link that stands by FILE.lock would move.")
@click.option("--second-best", is_flag=True, help="Under `minimize`, say the next best numbers too.")
@limit_options
@watched
def command(
    files: tuple[str, ...], select: tuple[str, ...], ignore: tuple[str, ...], output_format: str, output: Path | None,
    report: tuple[tuple[str, Path], ...], fail_on: str, certificates: Path | None, all_params: bool, limit_params: int,
    fail: tuple[str, ...], fail_file: tuple[Path, ...], **given: Any,
) -> int:  # fmt: skip
    """Check designs: what their requirements claim, and what every fabric must keep.

    Without a requirement in the file every built-in check runs. With --all-params what holds is proved for the whole range of
    the parameters, and what does not is told with the least values that show it.

    Exit status: 0 clean, 1 findings, 2 a wrong call.
    """
    begin = time.perf_counter()
    failed = (*fail, *(element for path in fail_file for element in _elements(path)))
    if certificates is not None and (all_params or failed):
        raise click.UsageError("certificates are of one design as it stands: give --set instead of --all-params, and no --fail")
    asked = replace(options(given, select, ignore), fail=failed)
    compilations = compiled(files, asked, limit=limit_params if all_params else None)
    if certificates is not None:
        _save_certificates(compilations, certificates)
    told = Report(compilations, Severity[fail_on.upper()], elapsed_s=time.perf_counter() - begin)
    shown = replace(told, colour=output is None and wants_colour(sys.stdout), width=width_of(sys.stdout))
    text = formats()[output_format].render(shown)
    if output is None:
        say(text)
    else:
        save(text, output)
    for name, file in report:
        save(formats()[name].render(told), file)
    return FOUND if told.failed else OK


def _elements(path: Path) -> list[str]:
    """The elements that a file names, one a line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise Wrong(f"{path}: {getattr(fault, 'strerror', None) or 'this is not a text file'}") from None
    return [element for line in lines if (element := line.partition("#")[0].strip())]


def _save_certificates(compilations: Sequence[Compilation], folder: Path) -> None:
    """Write ``DIR/DESIGN/RESULT.json``, each to be checked by ``verify_certificate.py`` against the design's fabric.json."""
    import json

    from tdsl.verify.certificate import certificates

    for compilation in compilations:
        for design in compilation.designs:
            if design.fabric is None or not design.fabric.complete:
                continue
            for name, body in certificates(design.fabric, design.claims, design.results).items():
                save(json.dumps(body, indent=1, ensure_ascii=False) + "\n", folder / design.name / name, folders=True)
