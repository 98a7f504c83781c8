"""``tdsl lint-nccl``: what NCCL will make of its topology and graph files."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import FOUND, OK, Wrong, write_to_stream
from tdsl.commands._untrusted import with_untrusted_option

if TYPE_CHECKING:
    from tdsl.findings.diagnostic import Diagnostic
    from tdsl.findings.source import SourceFile

FORMATS = ("full", "concise", "json")


@click.command(
    "lint-nccl",
    short_help="Check topology and graph files as NCCL reads them.",
    epilog="\b\nExamples:\n  tdsl lint-nccl topo.xml\n  tdsl lint-nccl *.xml --output-format concise\n"
    "  tdsl lint-nccl nccl/DGX_H100.xml --against dump.xml    (of NCCL_TOPO_DUMP_FILE)\n"
    "  tdsl lint-nccl graph.xml --against graph-dump.xml      (of NCCL_GRAPH_DUMP_FILE)",
)
@click.argument("texts", nargs=-1, required=True, metavar="FILE...|-")
@click.option(
    "--output-format", type=click.Choice(FORMATS), default="full", show_default=True, help="How to report."
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="What makes the exit status 1.",
)
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False),
    metavar="DUMP",
    help="The dump of a real machine to compare the files with (NCCL_TOPO_DUMP_FILE, NCCL_GRAPH_DUMP_FILE).",
)
@with_untrusted_option
def command(texts: tuple[str, ...], output_format: str, fail_on: str, against: str | None) -> int:
    """Judge files for NCCL_TOPO_FILE and NCCL_GRAPH_FILE by the rules of NCCL 2.30, those with AMD's
    accelerators and xGMI links by the rules of RCCL 2.21; `-` reads stdin.

    NCCL refuses little and misreads much without a word. Errors are what it refuses or gets wrong, notes are
    what it will take from the machine. With --against, what differs from a machine is an error, too, and so
    is a file that has nothing to compare; a .conf is compared by its NCCL_IB_HCA alone, a graph file with a
    topology or with the graphs of the machine.

    Take the dump without the file that is judged, or it repeats the file; an empty variable goes before
    nccl.conf: `NCCL_TOPO_FILE= NCCL_TOPO_DUMP_FILE=/tmp/topo.xml all_reduce_perf -g 8`

    Exit status: 0 clean, 1 findings, 2 a wrong call.
    """
    from tdsl.findings.diagnostic import Severity
    from tdsl.findings.source import SourceFile

    dump = (
        SourceFile(against, _read_nccl_bytes(against).decode("utf-8", "replace"))
        if against is not None
        else None
    )
    found, covered, dialects = {}, {}, {}
    for name in dict.fromkeys(texts):
        shown = "<stdin>" if name == "-" else name
        found[shown], covered[shown], dialects[shown] = _findings_of_nccl_file(name, dump)
    bar = Severity[fail_on.upper()]
    failed = {name: any(d.severity >= bar for d in findings) for name, findings in found.items()}
    if output_format == "json":
        write_to_stream(_nccl_findings_json(found, failed, covered, dialects))
    elif output_format == "concise":
        write_to_stream(_nccl_findings_concise(found))
    else:
        write_to_stream(_nccl_findings_in_full(found, dialects))
    return FOUND if any(failed.values()) else OK


def _findings_of_nccl_file(
    name: str, dump: SourceFile | None
) -> tuple[list[Diagnostic], dict[str, int], str]:
    """The findings of a file, with a dump how many of its GPUs and adapters (of a graph file: devices, or
    graphs) were compared with it, and the library in whose dialect the file is."""
    from tdsl.findings.diagnostic import Severity
    from tdsl.findings.source import SourceFile
    from tdsl.nccl.against import NOTHING, compare_with_dump, nothing_to_judge_error
    from tdsl.nccl.dialects import dialect_of_text
    from tdsl.nccl.lint import lint_nccl_file

    file = SourceFile("<stdin>" if name == "-" else name, _read_nccl_bytes(name).decode("utf-8", "replace"))
    found = [] if dump is not None and name.endswith(".conf") else lint_nccl_file(file)
    dialect = dialect_of_text(file.text).name
    broken = any(d.severity is Severity.ERROR for d in found)
    if dump is not None:
        made = compare_with_dump(file, dump)
        found += [d for d in made.findings if d.code != NOTHING or not broken]
        return found, {"judged": made.judged, "of": made.of}, dialect
    nothing = None if broken else nothing_to_judge_error(file)
    return [*found, nothing] if nothing is not None else found, {}, dialect


def _read_nccl_bytes(name: str) -> bytes:
    from tdsl.system.read import read_argument_file

    try:
        return sys.stdin.buffer.read() if name == "-" else read_argument_file(Path(name))
    except OSError as fault:
        raise Wrong(f"{name}: {fault.strerror or fault}") from None


def _nccl_findings_in_full(found: dict[str, list[Diagnostic]], dialects: dict[str, str]) -> str:
    """Every finding with its source, those that say the same once; then how many there are, and how many
    files are of RCCL's dialect."""
    from dataclasses import replace

    from tdsl.report.paint import Paint, output_width, wants_colour
    from tdsl.report.terminal import finding_block, severity_tally

    paint, width = Paint(wants_colour(sys.stdout)), output_width(sys.stdout)
    blocks = []
    for name, findings in found.items():
        repeats = Counter((d.code, d.message) for d in findings)
        firsts = {(d.code, d.message): d for d in reversed(findings)}
        distinct = [
            replace(d, count=repeats[d.code, d.message]) for d in findings if firsts[d.code, d.message] is d
        ]
        blocks += [finding_block(d, name, paint, width) for d in distinct]
    files = f"{len(found)} file{'s' if len(found) > 1 else ''}"
    rccl = sum(dialect != "NCCL" for dialect in dialects.values())
    if rccl:
        files += f", {'' if rccl == len(found) else f'{rccl} '}of RCCL's dialect, judged by its rules"
    return (
        "\n\n".join(
            [*blocks, f"{severity_tally([d for ds in found.values() for d in ds], paint)} in {files}"]
        )
        + "\n"
    )


def _nccl_findings_concise(found: dict[str, list[Diagnostic]]) -> str:
    """A line a finding."""
    from tdsl.report.concise import concise_finding_line
    from tdsl.report.paint import Paint, wants_colour

    paint = Paint(wants_colour(sys.stdout))
    return "".join(
        f"{concise_finding_line(d, name, paint)}\n" for name, findings in found.items() for d in findings
    )


def _nccl_findings_json(
    found: dict[str, list[Diagnostic]],
    failed: dict[str, bool],
    covered: dict[str, dict[str, int]],
    dialects: dict[str, str],
) -> str:
    """One document of all files; findings have the keys of those of ``check``. With --against each file says
    of how many GPUs and adapters how many were compared."""
    from tdsl import __version__
    from tdsl.report.json_report import SCHEMA, dump_json, finding_as_json

    files = [
        {
            "file": n,
            "ok": not failed[n],
            "dialect": dialects[n],
            **covered.get(n, {}),
            "findings": [finding_as_json(d, n) for d in ds],
        }
        for n, ds in found.items()
    ]
    return dump_json({"schema": SCHEMA, "tdsl": __version__, "files": files})
