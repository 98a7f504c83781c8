"""``tdsl audit``: a design against what is really cabled."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl import __version__
from tdsl.commands._everywhere import print_on_stderr, print_unless_quiet
from tdsl.commands._job_costs import (
    CostQuestion,
    cost_question,
    costs_of_audit,
    refuse_question_without_job,
)
from tdsl.commands._jobs import economics_option, job_option
from tdsl.commands._shared import (
    FOUND,
    OK,
    Wrong,
    at_least_option,
    column_names_given,
    column_option,
    compile_sources,
    design_options,
    limit_options,
    options_from_command,
    output_format_option,
    record_of_call,
    save_text,
    show_findings,
    write_to_stream,
)
from tdsl.commands._today import Day, day_of_call, today_option
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.commands._watch import watched_captures
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

if TYPE_CHECKING:
    from tdsl.compile.compiler import Compilation, Design
    from tdsl.observe.accepted import AcceptedFault
    from tdsl.observe.audit import Audit, AuditSettings
    from tdsl.observe.subjects import AuditSubject

FORMATS = ("text", "json", "csv", "sarif", "markdown")
CAPTURED = (
    "ibnetdiscover", "iblinkinfo", "ibdiagnet", "ufm", "lldp", "p2p", "fdb", "modules", "health", "gpus",
    "scheduler", "routes",
)  # fmt: skip
"""Formats of captures, and the options that give them."""
MOST_SHOWN = 100
"""Findings of one code that are printed as text; a work list, JSON and SARIF have all."""
CAPTURE = click.Path(exists=True, path_type=Path)
TABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class AuditCall:
    """The options of a call of `tdsl audit`, but those that all commands on designs have."""

    design: str
    """The design, as the call names it."""
    ibnetdiscover: tuple[Path, ...]
    """Captures of ibnetdiscover."""
    iblinkinfo: tuple[Path, ...]
    """Captures of iblinkinfo."""
    ibdiagnet: tuple[Path, ...]
    """Captures of ibdiagnet."""
    ufm: tuple[Path, ...]
    """UFM's lists of links."""
    lldp: tuple[Path, ...]
    """Captures of LLDP neighbours."""
    p2p: tuple[Path, ...]
    """Tables of cables."""
    fdb: tuple[Path, ...]
    """Tables of addresses at ports."""
    modules: tuple[Path, ...]
    """What is plugged into cages."""
    health: tuple[Path, ...]
    """States, rates and errors of links."""
    gpus: tuple[Path, ...]
    """Matrices of accelerators and adapters."""
    scheduler: tuple[Path, ...]
    """Topologies of Slurm and labels of Kubernetes."""
    routes: tuple[Path, ...]
    """Forwarding tables of switches."""
    column: tuple[str, ...]
    """What columns of these tables are, as `--column` gives it."""
    assets: Path | None
    """The table of identifiers of assets."""
    maps: tuple[str, ...]
    """Rules that turn names of captures into names of the design."""
    only: tuple[str, ...]
    """Patterns of the devices whose links are judged; all if empty."""
    simulator: bool
    """Whether the captures are of ibsim."""
    no_requirements: bool
    """Whether the requirements are not judged on what is built."""
    accept: Path | None
    """The list of accepted faults."""
    reason: str | None
    """Why faults found now are accepted; None if they are not."""
    ticket: str
    """The ticket of these faults."""
    until: date | None
    """The last day on which they are accepted."""
    places: Path | None
    """The table of places by which the work list is ordered."""
    output: Path | None
    """The file for the work list."""
    prometheus: Path | None
    """The file for Prometheus."""
    view: Path | None
    """The page that shows the faults on the drawing of the fabric."""
    job: str
    """The job of which the costs of the faults are asked, "" for all."""
    economics: Path | None
    """The file of prices of hours."""
    output_format: str
    """How to print."""

    @property
    def captures(self) -> list[tuple[str, Path]]:
        """All captures, each with its format."""
        return [(name, path) for name in CAPTURED for path in getattr(self, name)]


@click.command(
    "audit",
    short_help="Compare a design with what is really cabled.",
    epilog="\b\nExamples:\n  ibnetdiscover > fabric.topo; tdsl audit superpod.fab --ibnetdiscover "
    "fabric.topo\n"
    "  tdsl audit pod.fab --lldp captures/                 (a file a device: leaf0.json, leaf1.json, …)\n"
    "  tdsl audit pod.fab --lldp captures/ -o worklist.xlsx --format markdown\n"
    "  tdsl audit superpod.fab --ibnetdiscover fabric.topo --only 'su[0..1].*' --map 'MF0;(.*):.*=\\1'",
)
@click.argument("design", metavar="DESIGN")
@click.option(
    "--ibnetdiscover",
    type=CAPTURE,
    multiple=True,
    metavar="FILE",
    help="Output of ibnetdiscover, one a subnet.",
)
@click.option("--iblinkinfo", type=CAPTURE, multiple=True, metavar="FILE", help="Output of `iblinkinfo -l`.")
@click.option(
    "--ibdiagnet",
    type=CAPTURE,
    multiple=True,
    metavar="DIR",
    help="The folder that ibdiagnet writes, or its .db_csv.",
)
@click.option(
    "--ufm",
    type=CAPTURE,
    multiple=True,
    metavar="FILE",
    help="UFM's list of links as JSON: /ufmRest/resources/links.",
)
@click.option(
    "--lldp",
    type=CAPTURE,
    multiple=True,
    metavar="PATH",
    help="LLDP neighbours: a file, or a folder with a file a device, named after it.",
)
@click.option(
    "--p2p",
    type=CAPTURE,
    multiple=True,
    metavar="FILE",
    help="A table of cables: CSV, .xlsx or .ods, a topology file of UFM or ibutils, or NetBox's cables.",
)
@click.option(
    "--fdb",
    type=CAPTURE,
    multiple=True,
    metavar="PATH",
    help="Addresses at ports, where LLDP is silent: bridge fdb, show mac, ip neigh, arp; a file a device.",
)
@click.option(
    "--modules",
    type=CAPTURE,
    multiple=True,
    metavar="PATH",
    help="Transceivers as they are, against the bill: ethtool -m, show inventory; a file a device.",
)
@click.option(
    "--health",
    type=CAPTURE,
    multiple=True,
    metavar="PATH",
    help="How links run: mlxlink -c, a file a device, or ibdiagnet2.net_dump_ext.",
)
@click.option(
    "--gpus", type=CAPTURE, multiple=True, metavar="PATH", help="nvidia-smi topo -m, a file a host."
)
@click.option(
    "--scheduler",
    type=CAPTURE,
    multiple=True,
    metavar="FILE",
    help="Where nodes are: scontrol show topology, topology.conf or .yaml, or kubectl get nodes -o json.",
)
@click.option(
    "--routes",
    type=CAPTURE,
    multiple=True,
    metavar="FILE",
    help="Forwarding tables: dump_lfts, or opensm-lfts.dump; routes that loop, and credit loops.",
)
@column_option
@click.option(
    "--assets",
    type=TABLE,
    metavar="FILE",
    help="Match devices by the GUID, MAC or serial number in this CSV, too.",
)
@click.option(
    "--map",
    "maps",
    multiple=True,
    envvar="TDSL_AUDIT_MAP",
    metavar="REGEX=TEMPLATE",
    help="Turn names of the captures into names of the design.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="SELECTOR",
    help="Check links of these devices only, such as 'su[0..1].*'.",
)
@at_least_option("the links of the design, or of those of --only,")
@click.option(
    "--simulator", is_flag=True, help="The capture is of ibsim, which reports at most 4xHDR for faster links."
)
@click.option("--no-requirements", is_flag=True, help="Do not check the requirements on what is built.")
@click.option(
    "--accept",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A list of lost or slow links that are accepted and do not count; with --reason, what is found "
    "now is added to it.",
)
@click.option("--reason", metavar="TEXT", help="Why the faults found now are accepted.")
@click.option("--ticket", default="", metavar="TEXT", help="With --reason, the ticket that they have.")
@click.option(
    "--until", type=Day(), metavar="DATE", help="With --reason, the last day on which they are accepted."
)
@today_option
@click.option(
    "--places",
    type=TABLE,
    metavar="FILE",
    help="A CSV device,hall,row,rack,u, by which the work list is ordered, in place of the design's places.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the work list here: .csv or .xlsx.",
)
@click.option(
    "--prometheus",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write links expected and seen, and faults, for Prometheus' textfile collector.",
)
@click.option(
    "--view",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the page of `tdsl view` with faults and links that are down marked on the drawing.",
)
@job_option
@economics_option
@output_format_option(FORMATS, "text", "How to print; csv is the work list.", ("--format", "--output-format"))
@design_options
@limit_options
@watched_captures
@with_untrusted_option
def command(**given: Any) -> int:
    """Compare DESIGN with captures of the network, and name the fewest mistakes that explain the difference.

    The networks of a cluster are compared as one. Devices are matched by name, by --assets, by --map, and
    then by position. Links that no capture would show
    are "not seen", and no faults.

    Exit status: 0 cabled as designed, 1 faults, or no link of the design was judged, 2 a wrong call.
    """
    from tdsl.observe.record import Observed
    from tdsl.observe.subjects import audit_subjects

    call = record_of_call(AuditCall, given)
    _refuse_unfit_audit(call)
    costs = cost_question(call.job, call.economics)
    standing = _accepted_fault_entries(call)
    asked = replace(options_from_command(given), fail=tuple(dict.fromkeys(e.element for e in standing)))
    (compilation,) = compile_sources([call.design], asked, verify=False)
    subjects = audit_subjects(compilation)
    if subjects is None:
        show_findings([compilation], sys.stderr)
        print_on_stderr(f"{call.design}: the design has errors, so nothing is compared")
        return FOUND
    observed = Observed()
    captures_read_or_refused(call.captures, observed, call.column)
    designs = [one.design for one in subjects]
    made = [_audit_of_subject(one, observed, _audit_settings(one, call, asked.at_least)) for one in subjects]
    if call.accept is not None:
        new = call.reason, call.ticket, call.until
        _accept_faults(call.accept, subjects, made, standing, new, day_of_call(given["today"]))
    if not call.no_requirements:
        _judge_promises_of_all(subjects, made)
    if costs is not None:
        _note_costs_of_faults(costs, subjects, made)
    if call.prometheus is not None:
        from tdsl.observe.prometheus import prometheus_metrics

        save_text(prometheus_metrics(made), call.prometheus)
    if call.view is not None:
        from tdsl.commands.view import page_of_audits

        save_text(page_of_audits(list(zip(designs, made, strict=True))), call.view)
    if call.output is not None:
        _write_work_list(call.output, made, call.places)
    # Last: a reader such as `head` may end the program.
    _print_audit(compilation, designs, made, call.output_format, call.places)
    return FOUND if any(m.faults for m in made) else OK


def _refuse_unfit_audit(call: AuditCall) -> None:
    """Refuse a call without a capture, or with a work list of an unknown format."""
    if not call.captures:
        raise Wrong(
            "give a capture: --ibnetdiscover FILE, --iblinkinfo FILE, --ibdiagnet DIR, --ufm FILE, --lldp "
            "PATH, --p2p FILE, --fdb PATH, --modules PATH, --health PATH, --gpus PATH, --scheduler FILE or "
            "--routes FILE"
        )
    if call.output is not None and call.output.suffix not in (".csv", ".xlsx"):
        raise Wrong(f"{call.output}: the work list is written as .csv or .xlsx")


def captures_read_or_refused(
    captures: list[tuple[str, Path]], observed: Any, column: Sequence[str] = ()
) -> None:
    """Read captures, each with its format; ``column`` as ``--column`` gives it. Raises Wrong."""
    from tdsl.observe.reading import CaptureUnreadable, read_capture_files

    try:
        read_capture_files(captures, observed, column_names_given(column))
    except CaptureUnreadable as wrong:
        raise Wrong(str(wrong)) from None


def _audit_settings(subject: AuditSubject, call: AuditCall, at_least: Fraction | None) -> AuditSettings:
    from tdsl.findings.diagnostic import Diagnostics, Severity
    from tdsl.findings.source import SourceFile
    from tdsl.observe.audit import AuditSettings
    from tdsl.observe.identifiers import read_identifiers
    from tdsl.observe.names import NameMapRule

    try:
        rules = tuple(map(NameMapRule.parse, call.maps))
        chosen = subject.selected_devices(call.only) if call.only else None
    except ValueError as wrong:
        raise Wrong(str(wrong)) from None
    found = Diagnostics()
    table = (
        read_identifiers(
            subject.fabric, SourceFile(call.assets.as_posix(), _text_of_file_named(call.assets)), found
        )
        if call.assets is not None
        else None
    )
    if found.has_errors:
        first = next(d for d in found if d.severity is Severity.ERROR)
        at = f":{first.span.begin[0]}" if first.span is not None else ""
        raise Wrong(f"{call.assets}{at}: {first.message} ({first.code}); {first.help}")
    return AuditSettings(rules, table, chosen, call.simulator, at_least)


def _text_of_file_named(path: Path) -> str:
    from tdsl.observe.unwrapping import decoded_capture
    from tdsl.system.read import read_regular_file

    try:
        return decoded_capture(read_regular_file(path)).replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, UnicodeDecodeError) as fault:
        raise Wrong(f"{path}: {getattr(fault, 'strerror', None) or fault}") from None


def _audit_of_subject(subject: AuditSubject, observed: Any, settings: AuditSettings) -> Audit:
    from tdsl.observe.audit import audit_captures, audit_findings

    made = audit_captures(subject.fabric, observed, settings)
    subject.design.findings = list(audit_findings(made))
    return made


def _accepted_fault_entries(call: AuditCall) -> list[AcceptedFault]:
    """The entries of the list of accepted faults, where there is one."""
    _refuse_unfit_reason(call)
    if call.accept is None:
        return []
    if not call.accept.exists():
        if call.reason is None:
            raise Wrong(f"{call.accept}: there is no such list; with --reason TEXT one is written")
        return []
    from tdsl.findings.source import SourceFile
    from tdsl.observe.accepted import read_accepted_faults

    try:
        return read_accepted_faults(SourceFile(call.accept.as_posix(), _text_of_file_named(call.accept)))
    except ValueError as wrong:
        raise Wrong(f"{call.accept}: {wrong}") from None


def _refuse_unfit_reason(call: AuditCall) -> None:
    """Refuse a reason without a list, or one that a line of the list cannot hold."""
    if call.accept is None or call.reason is None:
        if call.reason or call.ticket or call.until:
            raise Wrong("--reason goes with --accept FILE, and --ticket and --until with --reason")
    elif not call.reason.strip() or any(c in call.reason + call.ticket for c in "\n\r[]#"):
        raise Wrong("--reason and --ticket are one line of text without brackets and `#`")


def _accept_faults(
    accept: Path,
    subjects: list[AuditSubject],
    made: list[Audit],
    standing: list[AcceptedFault],
    new: tuple[str | None, str, date | None],
    day: date,
) -> None:
    """Settle what is accepted; with a reason, write what was found now into the list first."""
    from tdsl.observe.accepted import new_accepted_entries, settle_accepted_faults
    from tdsl.observe.audit import audit_findings

    for one, m in zip(subjects, made, strict=True):
        settle_accepted_faults(m, standing, one.failed_links(), day)
        one.design.findings = list(audit_findings(m))
    if new[0] is None:
        return
    entries, left = new_accepted_entries(made, " ".join(new[0].split()), new[1].strip(), new[2])
    known = {e.element for e in standing if e.until is None or e.until >= day}
    entries = [e for e in entries if e.element not in known]
    held = _bytes_or_nothing(accept)
    before = held.decode()
    save_text(
        before + ("\n" if before and not before.endswith("\n") else "") + "".join(e.line for e in entries),
        accept,
        was=held,
    )
    cannot = f"; {left} are more than lost or slow links, and stay" if left else ""
    print_unless_quiet(f"{accept}: {counted_noun(len(entries), 'element')} added{cannot}")


def _bytes_or_nothing(path: Path) -> bytes:
    """The bytes of a list that may not be there yet."""
    from tdsl.system.read import read_regular_file

    try:
        return read_regular_file(path)
    except FileNotFoundError:
        return b""
    except OSError as fault:
        raise Wrong(f"{path}: {fault.strerror or fault}") from None


def _judge_promises_of_all(subjects: list[AuditSubject], made: list[Audit]) -> None:
    """Judge the requirements of each design on what is built."""
    for subject, audit in zip(subjects, made, strict=True):
        _judge_promises(subject, audit)


def _judge_promises(subject: AuditSubject, made: Audit) -> None:
    """Judge the requirements again on what is built, if that differs from the design: of a cluster those of
    its networks, then its own."""
    if made.mistakes or any(f.slow is not None for f in (*made.accepted, *made.faults)):
        from tdsl.observe.asbuilt import broken_promise_findings, promises_kept

        made.promises = [p for n in subject.networks for p in promises_kept(made, n.claims, n.name)]
        made.promises += promises_kept(made, subject.design.claims)
        broken = broken_promise_findings(made, made.promises)
        subject.design.findings = [*subject.design.findings, *broken]


def _note_costs_of_faults(costs: CostQuestion, subjects: list[AuditSubject], made: list[Audit]) -> None:
    """Note what the faults cost the jobs of each design, and the order in which to repair them."""
    refuse_question_without_job(costs, [n for s in subjects for n in (s.networks or (s.design,))])
    for subject, audit in zip(subjects, made, strict=True):
        for network in subject.networks:
            costs_of_audit(costs, network, audit, subject.design, network.name)
        if not subject.networks:
            costs_of_audit(costs, subject.design, audit, subject.design)


def _print_audit(
    compilation: Compilation,
    designs: list[Design],
    made: list[Audit],
    output_format: str,
    places: Path | None,
) -> None:
    """Print the audits of all fabrics in a format."""
    from tdsl.observe import report

    if output_format == "sarif":
        from tdsl.report.formats import Report
        from tdsl.report.sarif import render

        compilation.findings = [d for x in designs for d in x.findings]
        write_to_stream(render(Report([compilation])))
    elif output_format == "json":
        write_to_stream(_audit_as_json(compilation, designs, made))
    elif output_format == "csv":
        _print_work_list(made, places)
    elif output_format == "markdown":
        write_to_stream("".join(report.audit_markdown(m) for m in made))
    else:
        _print_audit_as_text(designs, made)


def _print_work_list(made: list[Audit], places: Path | None) -> None:
    """Print the work list as CSV, and on stderr how many links were judged, where not all of a fabric were:
    no row of the list says so."""
    from tdsl.observe.report import audit_summary

    write_to_stream(_work_list_csv(made, places).decode())
    for m in made:
        if int(m.judged.sum()) < m.of:
            print_on_stderr(audit_summary(m).splitlines()[0])


def _print_audit_as_text(designs: list[Design], made: list[Audit]) -> None:
    """Print the first findings of each code, how many more there are, and the summary of each fabric."""
    from tdsl.observe.report import audit_summary
    from tdsl.report.paint import Paint, output_width, wants_colour
    from tdsl.report.terminal import finding_blocks

    paint, width = Paint(wants_colour(sys.stdout)), output_width(sys.stdout)
    for one, m in zip(designs, made, strict=True):
        shown, more = _first_of_each_kind(one)
        for block in finding_blocks(shown, paint, width):
            write_to_stream(f"{block}\n\n")
        if more:
            listed = ", ".join(f"{code} {n:,}" for code, n in more.items())
            write_to_stream(f"findings that are not shown: {listed}; `--format json` has all\n\n")
        write_to_stream(audit_summary(m))


def _first_of_each_kind(design: Design) -> tuple[Design, dict[str, int]]:
    """A design with the first findings of each code, and how many more there are of each."""
    seen: dict[str, int] = {}
    shown = []
    for d in design.findings:
        seen[d.code] = seen.get(d.code, 0) + 1
        if seen[d.code] <= MOST_SHOWN:
            shown.append(d)
    more = {code: n - MOST_SHOWN for code, n in seen.items() if n > MOST_SHOWN}
    return (replace(design, findings=shown) if more else design), more


def _audit_as_json(compilation: Compilation, designs: list[Design], made: list[Audit]) -> str:
    """The audits of all fabrics as one document."""
    from tdsl.observe import report
    from tdsl.report.json_report import SCHEMA, dump_json, finding_as_json

    fabrics = [
        report.audit_document(m)
        | ({"job_costs": list(x.job_costs)} if x.job_costs else {})
        | {"findings": [finding_as_json(d, x.file) for d in x.findings]}
        for x, m in zip(designs, made, strict=True)
    ]
    return dump_json({"schema": SCHEMA, "tdsl": __version__, "design": compilation.file, "fabrics": fabrics})


def _work_list_rows(made: list[Audit], places: Path | None) -> list[tuple[object, ...]]:
    from tdsl.observe.worklist import places_of_design, read_rack_places, worklist_rows

    try:
        table = read_rack_places(_text_of_file_named(places)) if places is not None else {}
    except ValueError as wrong:
        raise Wrong(f"{places}: {wrong}") from None
    return [row for m in made for row in worklist_rows(m, places_of_design(m.fabric) | table)]


def _work_list_csv(made: list[Audit], places: Path | None) -> bytes:
    from tdsl.observe.worklist import worklist_as_csv

    return worklist_as_csv(_work_list_rows(made, places))


def _write_work_list(output: Path, made: list[Audit], places: Path | None) -> None:
    """Write the work list, as CSV or as a workbook."""
    from tdsl.system.replace import replace_file

    if output.suffix == ".xlsx":
        from tdsl.emit.workbook import Sheet, workbook_bytes
        from tdsl.observe.worklist import COLUMNS

        data = workbook_bytes(
            [Sheet("work list", COLUMNS, _work_list_rows(made, places), frozen=1)], "Work list"
        )
    else:
        data = _work_list_csv(made, places)
    try:
        replace_file(output, data)
    except OSError as fault:
        raise Wrong(f"{output}: {fault.strerror or fault}") from None
