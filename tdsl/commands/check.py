"""``tdsl check``: verify designs and report."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._everywhere import is_quiet, is_verbose, print_on_stderr
from tdsl.commands._job_costs import (
    CostQuestion,
    add_costs_of_failures,
    cost_question,
    refuse_question_without_job,
)
from tdsl.commands._jobs import economics_option, job_option
from tdsl.commands._progress import show_progress
from tdsl.commands._shared import (
    FOUND,
    OK,
    CheckName,
    Source,
    Text,
    Wrong,
    at_least_option,
    cache_option,
    compilation_stages,
    compile_sources,
    design_options,
    designs_in,
    fail_options,
    failed_elements,
    limit_options,
    options_from_command,
    places_option,
    record_of_call,
    save_text,
    sources_with_stdin,
    workers_options,
    write_to_stream,
)
from tdsl.commands._today import day_of_call, today_option
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.commands._watch import with_watch_option
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.report.formats import Report, Streamed, report_formats
from tdsl.report.paint import output_width, wants_colour
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tdsl.certificates.write import Certified
    from tdsl.compile.compiler import Compilation, Request

    Output = click.ParamType[tuple[str, Path]]
else:
    Output = click.ParamType


class Further(Output):
    """A format and the file for it: ``sarif=tdsl.sarif``."""

    name = "format=file"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Split at the first equals sign."""
        if isinstance(value, tuple):
            return (str(value[0]), Path(value[1]))
        name, sign, file = str(value).partition("=")
        if not sign or not file or name not in report_formats():
            self.fail(
                f"{value!r} is not of the form FORMAT=FILE; formats are {', '.join(report_formats())}",
                param,
                ctx,
            )
        return name, Path(file)

    @staticmethod
    def place(value: str) -> str:
        """The file of a value."""
        return value.partition("=")[2]


class HelpAddress(Text):
    """The address of a site."""

    name = "uri"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """An address of the web, or nothing."""
        if value and not re.fullmatch(r"https?://[!-~]+", str(value)):
            self.fail(
                f"{value!r} is not an address; write such as https://docs.example.com/tdsl/", param, ctx
            )
        return str(value)


@dataclass(frozen=True, slots=True)
class CheckCall:
    """The options of a call of `tdsl check`, but those that all commands on designs have."""

    files: tuple[str, ...]
    """Designs, as the call names them."""
    select: tuple[str, ...]
    """Names of the checks that are run; all if empty."""
    ignore: tuple[str, ...]
    """Names of checks that are left out."""
    output_format: str
    """The format of the report."""
    output: Path | None
    """The file of the report; standard output if None."""
    report: tuple[tuple[str, Path], ...]
    """Formats of further reports, each with its file."""
    fail_on: str
    """The least severity that makes the exit status 1."""
    certificates: Path | None
    """The folder of certificates."""
    all_params: bool
    """Whether every value of the parameters is checked."""
    limit_params: int
    """The most combinations of parameters."""
    second_opinion: bool
    """Whether each figure is computed by a second method."""
    second_opinion_dir: Path | None
    """The folder for a file about each figure on which the methods differ."""
    fix: bool
    """Whether edits of findings are applied."""
    diff: bool
    """Whether these edits are printed instead."""
    unsafe: bool
    """Whether edits that guess are among them."""
    scenarios: Path | None
    """The file of scenarios that are judged."""
    job: str
    """The job of which the costs of a failure are asked, "" for all."""
    economics: Path | None
    """The file of prices of hours."""
    jobs: int
    """How many processes; as many as there are cores if 0."""
    cluster: str | None
    """The address of a Dask scheduler."""
    no_cache: bool
    """Whether the answer of an earlier call may not be taken."""
    help_uri: str
    """The address of the documentation as a site, "" where none is known."""
    hook: bool
    """Whether the files are those that a change is about, and designs that use them are checked, too."""


@click.command(
    "check",
    short_help="Prove what designs require, and report what is wrong with them.",
    epilog="\b\nExamples:\n  tdsl check superpod.fab --set units=3\n"
    "  tdsl check superpod.fab --all-params  (every value of every parameter)\n"
    "  tdsl check *.fab --output-format json -o report.json\n"
    "  tdsl check *.fab --output-format github --report sarif=tdsl.sarif --report junit=junit.xml\n"
    "  tdsl check designs/                   (every design in a folder)\n"
    "  tdsl check superpod.fab --fix         (apply the edits that findings offer)\n"
    "  tdsl check --hook lib/models.fab m.csv (the designs here that use them, as pre-commit asks)\n"
    "  tdsl check - < superpod.fab           (standard input)\n"
    "  tdsl check dgx_superpod_h100          (a design of the standard library)\n"
    "  tdsl check main:superpod.fab          (as it is in the git revision `main`, with what it uses there)",
)
@click.argument("files", nargs=-1, required=True, type=Source(), metavar="FILE|DIR|-...")
@design_options
@click.option(
    "--select", type=CheckName(), multiple=True, help="Run this check only; may be given several times."
)
@click.option(
    "--ignore", type=CheckName(), multiple=True, help="Leave this check out; may be given several times."
)
@click.option(
    "--output-format",
    type=click.Choice(list(report_formats())),
    default="full",
    show_default=True,
    help="How to report.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report to a file.",
)
@click.option(
    "--report",
    type=Further(),
    multiple=True,
    metavar="FORMAT=FILE",
    help="Write a further report to a file; may be given several times.",
)
@click.option(
    "--help-uri",
    type=HelpAddress(),
    default="",
    metavar="URI",
    help="Where the site of this documentation is (`make site`): SARIF then links each finding to its page.",
)
@click.option(
    "--hook",
    is_flag=True,
    help="FILES are what a change is about, tables and locks included: check the designs of this folder that "
    "use one of them.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="What makes the exit status 1.",
)
@at_least_option("what a requirement names")
@click.option(
    "--certificates",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write what proves the figures and the survived failures, a folder for each design.",
)
@click.option(
    "--second-opinion",
    is_flag=True,
    help="Compute each figure again by another method and another library (networkx, z3, HiGHS), and say "
    "where they differ.",
)
@click.option(
    "--second-opinion-dir",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="With --second-opinion, write a file here for each figure on which the two methods differ.",
)
@click.option(
    "--all-params",
    is_flag=True,
    help="Answer for every value that the parameters may have: each combination is compiled and checked.",
)
@click.option(
    "--limit-params",
    type=click.IntRange(min=1),
    default=1000,
    metavar="N",
    help="Check so many combinations of parameters at most; 1,000 if not given.",
)
@workers_options
@fail_options("Check the fabric without")
@job_option
@economics_option
@click.option(
    "--scenarios",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Judge what is left after each line of a file has failed, its elements separated by commas.",
)
@click.option(
    "--solve-seconds",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="About how long solving unknowns (`?`) may take; counted in work, so that the answer is the same "
    "on every machine.",
)
@click.option(
    "--check-seconds",
    type=click.IntRange(min=1),
    default=60,
    show_default=True,
    metavar="N",
    help="About how long each proof may search for better bounds; counted in work, so that answers are "
    "the same everywhere.",
)
@click.option(
    "--fix", is_flag=True, help="Apply the edits that findings carry to the files named, then check them."
)
@click.option(
    "--diff",
    is_flag=True,
    help="Print what --fix would change, and write nothing; exit status 1 if anything would.",
)
@click.option(
    "--unsafe",
    is_flag=True,
    help="With --fix or --diff, apply edits that guess what was meant, too: names, braces.",
)
@click.option(
    "--locked",
    is_flag=True,
    help="Fail if a link that FILE.lock records would move, or a figure differs by a changed library file.",
)
@today_option
@cache_option
@click.option("--second-best", is_flag=True, help="Under `minimize`, say the next best numbers too.")
@places_option
@limit_options
@with_untrusted_option
@with_watch_option
def command(**given: Any) -> int:
    """Check designs: the requirements you state, and what every fabric must keep.

    Without a requirement in the file every built-in check runs. With --all-params what holds is proved for
    the whole range of the parameters, and what does not is reported with the smallest values that show it.

    A design of which nothing was judged is an error. What a requirement names and is not judged is
    reported, and with --at-least it is an error.

    Exit status: 0 clean, 1 findings, 2 a wrong call.
    """
    begin = time.perf_counter()
    call = record_of_call(CheckCall, given)
    files = tuple(_designs_of_call(call))
    if not files:
        return OK
    _refuse_revisions(files, call)
    failed = failed_elements(given)
    _refuse_unfit_options(call, failed)
    costs = cost_question(call.job, call.economics)
    asked = replace(
        options_from_command(given, call.select, call.ignore), fail=failed, day=day_of_call(given["today"])
    )
    if call.fix or call.diff:
        from tdsl.commands._fix import fix_designs as apply

        status = apply(files, asked, call.unsafe, write=not call.diff)
        if call.diff:
            return status
    if call.scenarios is not None:
        return _check_scenarios(call, files, call.scenarios, asked)
    sources, asked = sources_with_stdin(files, asked)
    colour = call.output is None and wants_colour(sys.stdout)
    look = Report(
        (), Severity[call.fail_on.upper()], colour, output_width(sys.stdout), verbose=_wants_all_answers(call)
    )
    compilations, printed = _compile_for_report(call, sources, asked, look)
    if costs is not None:
        with show_progress():
            _note_costs_of_failures(compilations, costs)
    if call.certificates is not None:
        with show_progress():
            _save_certificates(compilations, call.certificates)
    if call.second_opinion:
        with show_progress():
            _confirm_results(compilations, sources, asked, call.second_opinion_dir)
    _note_kept_answers(compilations)
    elapsed = time.perf_counter() - begin
    full = Report(compilations, look.fail_on, elapsed_s=elapsed, help_uri=call.help_uri, verbose=look.verbose)
    shown = replace(full, colour=look.colour, width=look.width, printed=printed)
    _write_reports(call, full, shown)
    _say_requirements_left_out(compilations)
    return FOUND if full.failed else OK


def _note_costs_of_failures(compilations: Sequence[Compilation], costs: CostQuestion) -> None:
    """Note what failed elements cost the jobs of each design."""
    refuse_question_without_job(costs, [d for c in compilations for d in c.designs])
    for compilation in compilations:
        for design in compilation.designs:
            found = add_costs_of_failures(costs, design)
            compilation.findings = [*compilation.findings, *found]


def _say_requirements_left_out(compilations: Sequence[Compilation]) -> None:
    """Name the requirements that --select and --ignore keep from being judged."""
    left = list(dict.fromkeys(text for c in compilations for d in c.designs for text in d.left_out))
    if left:
        rest = f" and {len(left) - 8} more" if len(left) > 8 else ""
        names = ", ".join(f"`{text}`" for text in left[:8])
        print_on_stderr(f"not judged, as --select and --ignore say: {names}{rest}")


def _designs_of_call(call: CheckCall) -> Sequence[str]:
    """The designs that a call checks; of a hook those that a change is about."""
    if not call.hook:
        return designs_in(call.files)
    from tdsl.commands._hook import designs_of_change

    return designs_of_change(call.files)


def _refuse_revisions(files: Sequence[str], call: CheckCall) -> None:
    """Refuse designs of git revisions where a call needs files."""
    from tdsl.commands._revisions import split_revision

    options = {"--scenarios": call.scenarios is not None, "--fix": call.fix, "--diff": call.diff}
    option = next((name for name, given in options.items() if given), "")
    for source in files if option else ():
        if split_revision(source)[0]:
            raise Wrong(
                f"{option} takes files; {source} is one of a git revision, which `tdsl check {source}` checks"
            )


def _refuse_unfit_options(call: CheckCall, failed: Sequence[str]) -> None:
    """Refuse options that do not go together; ``failed`` are the elements without which designs are
    checked."""
    costs = bool(call.job) or call.economics is not None
    for unfit, message in (
        (
            call.certificates is not None and (call.all_params or failed),
            "certificates are for one design: give --set instead of --all-params, and no --fail",
        ),
        (
            costs and (not failed or call.all_params or call.scenarios),
            "--job and --economics say what a failure costs: give --fail, too",
        ),
        (
            call.second_opinion and call.all_params,
            "a second opinion is of one design: give --set instead of --all-params",
        ),
        (
            call.second_opinion_dir is not None and not call.second_opinion,
            "--second-opinion-dir needs --second-opinion",
        ),
        (call.cluster is not None and not call.all_params, "--cluster needs --all-params"),
        (call.unsafe and not call.fix and not call.diff, "--unsafe needs --fix or --diff"),
    ):
        if unfit:
            raise click.UsageError(message)


def _compile_for_report(
    call: CheckCall, sources: Sequence[str], asked: Request, look: Report
) -> tuple[Sequence[Compilation], Sequence[Diagnostic]]:
    """The designs, checked; with the findings that are printed already."""
    from tdsl.system.workers import Workers

    renderer = report_formats()[call.output_format]
    # Certificates and second opinions need the fabrics, which an answer of an earlier call does not have.
    # So do costs.
    costs = call.job or call.economics is not None
    kept = not (call.no_cache or call.certificates is not None or call.second_opinion or costs)
    # A second opinion adds to findings.
    alone = call.output is None and len(sources) == 1
    if alone and not (call.all_params or call.second_opinion) and isinstance(renderer, Streamed):
        return _check_printing_early(sources, asked, renderer, look, kept)
    limit = call.limit_params if call.all_params else None
    return compile_sources(sources, asked, True, limit, Workers(call.jobs, call.cluster or ""), kept), []


def _wants_all_answers(call: CheckCall) -> bool:
    """Whether a person is to see every answer: with --verbose, in a file, and of checks that the call asks
    for."""
    return is_verbose() or call.output is not None or bool(call.select) or call.second_opinion


def _note_kept_answers(compilations: Sequence[Compilation]) -> None:
    """With --verbose, say which answers are those of an earlier call."""
    for compilation in compilations:
        if compilation.earlier and is_verbose():
            print_on_stderr(
                f"{compilation.file}: nothing has changed since an earlier call, whose answer this is"
            )


def _write_reports(call: CheckCall, full: Report, shown: Report) -> None:
    """Write the report, as it is ``shown`` on a terminal or in a file, and the further ones."""
    renderer = report_formats()[call.output_format]
    text = (
        renderer.render_early_findings(shown)
        if is_quiet() and isinstance(renderer, Streamed)
        else renderer.render(shown)
    )
    if call.output is not None:
        save_text(text, call.output)
    for name, file in call.report:
        save_text(report_formats()[name].render(full), file)
    if call.output is None:
        write_to_stream(text)  # last: a reader such as `head` may end the program


def _check_scenarios(call: CheckCall, files: tuple[str, ...], scenarios: Path, asked: Request) -> int:
    """Judge scenarios alone."""
    from tdsl.commands import _scenarios as many

    if call.certificates or call.all_params or call.second_opinion or call.report:
        raise click.UsageError(
            "--scenarios judges failures alone: no --certificates, --all-params, --second-opinion or --report"
        )
    if call.output_format not in many.FORMATS:
        raise click.UsageError(f"--scenarios reports as {', '.join(many.FORMATS)}")
    return many.judge_scenarios(files, scenarios, asked, call.output_format, call.output)


def _check_printing_early(
    sources: Sequence[str], asked: Request, renderer: Streamed, look: Report, kept: bool
) -> tuple[Sequence[Compilation], Sequence[Diagnostic]]:
    """Check one design; print what its elaboration found before the proofs start, because they may take long.
    With what was printed. Where it may be ``kept``, the answer of an earlier call is taken."""
    stages = compilation_stages(sources[0], asked, kept)
    with show_progress():
        compilation = next(stages)
    report = replace(look, compilations=[compilation], held=look.grave)
    printed = [d for d in report.findings if d.severity < look.grave]
    write_to_stream(renderer.render_early_findings(report))
    sys.stdout.flush()
    with show_progress():
        for last in stages:
            compilation = last
    return [compilation], printed


def _confirm_results(
    compilations: Sequence[Compilation], files: Sequence[str], asked: Request, folder: Path | None
) -> None:
    """Give every result a second opinion; a file for each disagreement, where a folder for them is given."""
    import json

    from tdsl.commands._revisions import opened_source
    from tdsl.compile.second_opinion import add_second_opinions

    for compilation, source in zip(compilations, files, strict=True):
        with opened_source(source, asked) as opened, opened.names_of_disk(compilation):
            found = add_second_opinions(compilation, opened.source, opened.options)
        for file in found:
            if folder is not None:
                save_text(
                    json.dumps(file.body, indent=1, ensure_ascii=False) + "\n", folder / file.name, folder
                )


def _save_certificates(compilations: Sequence[Compilation], folder: Path) -> None:
    """Write ``DIR/DESIGN/RESULT.json``, each verified by the checker against the design's fabric.json; one
    that is not verified is a finding."""
    from tdsl.certificates.write import verified_certificates

    for compilation in compilations:
        for design in compilation.designs:
            if design.fabric is None or not design.fabric.complete:
                continue
            made = verified_certificates(design.fabric, design.claims, design.results)
            for name, text in made.texts.items():
                save_text(
                    text,
                    folder / (f"{design.name}-phase{design.phase}" if design.phase else design.name) / name,
                    folder,
                )
            for finding in (
                *unwritten_certificate_findings(made, design.name),
                *_no_certificate_error(made, design.name),
            ):
                design.findings = [*design.findings, finding]
                compilation.findings = [*compilation.findings, finding]


def _no_certificate_error(made: Certified, design: str) -> Iterator[Diagnostic]:
    """An error where certificates are asked for and none is written."""
    if not made.texts and not made.rejected:
        why = (
            "each is left out, as the notes say"
            if made.left_out
            else "no result that was judged has a form of certificate"
        )
        help = (
            "check requirements on reachability, bisection, redundancy or failures, or leave "
            "--certificates out"
        )
        yield Diagnostic("E0516", f"no certificate of `{design}` is written: {why}", help=help)


def unwritten_certificate_findings(made: Certified, design: str) -> Iterator[Diagnostic]:
    """A finding for every certificate that is not written."""
    for name, why in made.rejected.items():
        message = f"internal error: the checker rejects the certificate {design}/{name}: {why}"
        yield Diagnostic(
            "E0906", message, help="report this with the design; do not rely on the result that it is about"
        )
    for name, why in made.left_out.items():
        message = f"the certificate {design}/{name} is not written: {why}"
        yield Diagnostic(
            "E0906",
            message,
            severity=Severity.NOTE,
            help="the result was proved, but no certificate shows it",
        )
    for name, why in made.weaker.items():
        message = f"the certificate {design}/{name} shows less than the result: {why}"
        yield Diagnostic(
            "E0906",
            message,
            severity=Severity.NOTE,
            help="the rest was proved, but no form of certificate shows it",
        )
