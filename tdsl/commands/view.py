"""``tdsl view``: a design as one HTML page to look at."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._everywhere import print_on_stderr, print_unless_quiet
from tdsl.commands._shared import (
    FOUND,
    Source,
    Wrong,
    compile_sources,
    design_options,
    exit_status_of,
    limit_options,
    options_from_command,
    places_option,
    save_text,
    show_findings,
)
from tdsl.commands._untrusted import with_untrusted_option

if TYPE_CHECKING:
    from tdsl.changes.model import Changes
    from tdsl.changes.pictures import ChangedFabric
    from tdsl.compile.compiler import Compilation, Design, Request
    from tdsl.fabric.graph import Fabric, Ints
    from tdsl.findings.diagnostic import Diagnostic
    from tdsl.observe.audit import Audit
    from tdsl.verify.result import Result
    from tdsl.viewer.fabric_page import ViewerMark
    from tdsl.viewer.marked_rows import NamedRows

LINKS_CHECKED = 16_384
"""Links of designs that are checked without ``--check``: those of the library take under 2 seconds."""
CAPTURE = click.Path(exists=True, path_type=Path)


@click.command(
    "view",
    short_help="Write a page to look at the fabric, and open it.",
    epilog="\b\nExamples:\n  tdsl view superpod.fab\n  tdsl view superpod.fab --check -o superpod.html "
    "--no-open\n"
    "  tdsl view superpod.fab --fail 'su[0].leaf[3]'\n  tdsl view superpod.fab --ibnetdiscover fabric.topo\n"
    "  tdsl view superpod_new.fab --diff superpod.fab      (what changes: removed red, added green)\n"
    "  tdsl view superpod.fab --diff main                  (since the revision `main`)",
)
@click.argument("file", type=Source(), metavar="FILE")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to write the page; FILE.html in the current folder if not given.",
)
@click.option(
    "--open/--no-open",
    "show",
    envvar="TDSL_VIEW_OPEN",
    default=True,
    show_default=True,
    help="Open the page in the browser.",
)
@click.option(
    "--check/--no-check",
    "verify",
    envvar="TDSL_VIEW_CHECK",
    default=None,
    help="Check the design, too, and show its requirements, its findings and the bisection cut; if neither "
    f"is given, of designs with at most {LINKS_CHECKED:,} links.",
)
@click.option(
    "--diff",
    metavar="OLD",
    help="Show what FILE changes of OLD, a design or a revision: removed red, added green.",
)
@click.option(
    "--fail", multiple=True, metavar="ELEMENT", help="Highlight a failed device, group, port, link or cable."
)
@click.option(
    "--ibnetdiscover", type=CAPTURE, multiple=True, metavar="FILE", help="Highlight faults of `tdsl audit`."
)
@click.option("--lldp", type=CAPTURE, multiple=True, metavar="PATH", help="Highlight faults of `tdsl audit`.")
@click.option("--p2p", type=CAPTURE, multiple=True, metavar="FILE", help="Highlight faults of `tdsl audit`.")
@design_options
@places_option
@limit_options
@with_untrusted_option
def command(
    file: str,
    output: Path | None,
    show: bool,
    verify: bool | None,
    diff: str | None,
    fail: tuple[str, ...],
    **given: Any,
) -> int:
    """Write one HTML page that shows the fabric of FILE, and open it in the browser.

    The page needs no network and no other file. It has the fabric with equal groups folded, what is inside
    each group, the racks where devices have places, and every device with its ports; it finds devices, cables
    and addresses.

    Exit status: 0 written, 1 the design has errors (with --check also what it finds), 2 a wrong call.
    """
    from tdsl.viewer.fabric_page import viewer_page

    asked = replace(options_from_command(given), fail=fail)
    captures = [(name, path) for name in ("ibnetdiscover", "lldp", "p2p") for path in given[name]]
    if diff is not None:
        if fail or captures:
            raise click.UsageError("--diff shows two designs; leave --fail and captures out")
        return _write_change_page(diff, file, asked, verify is not False, output, show)
    (compilation,) = compile_sources([file], asked, verify=bool(verify))
    show_findings([compilation], sys.stderr)
    status = exit_status_of([compilation])
    if verify is None and _is_checked_for_page(compilation, file):
        (compilation,) = compile_sources(
            [file], asked
        )  # the page shows what it finds, the call does not fail
        verify = True
    shown = _designs_of_page(compilation)
    if not shown:
        return FOUND
    name = Path(compilation.file).stem if file != "-" else "stdin"
    parts = [_part_of_page(d, compilation, bool(verify), captures) for d in shown]
    _save_and_open_page(viewer_page(parts, _title_of_page(shown, name)), output or Path(f"{name}.html"), show)
    return status


def _part_of_page(
    design: Design, compilation: Compilation, verify: bool, captures: list[tuple[str, Path]]
) -> tuple[Fabric, list[ViewerMark], dict[str, object]]:
    """A design on the page: its fabric, what is highlighted, and its facts."""
    assert design.fabric is not None
    marks = _marks_with_networks(design, compilation, verify)
    marks += _audit_fault_marks(design, captures) if captures else []
    return design.fabric, marks, _facts_for_page(design, _networks_of_design(design, compilation), marks)


def _save_and_open_page(page: str, path: Path, show: bool) -> None:
    """Write a page, say how large it is, and open it if wanted."""
    save_text(page, path)
    print_unless_quiet(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    if show:
        _open_in_browser(path)


def _is_checked_for_page(compilation: Compilation, file: str) -> bool:
    """Whether a design is small enough to be checked where nobody says."""
    links = sum(d.fabric.link_count for d in compilation.designs if d.fabric is not None)
    return file != "-" and 0 < links <= LINKS_CHECKED


def _write_change_page(
    old: str, file: str, asked: Request, verify: bool, output: Path | None, show: bool
) -> int:
    """The page of what a design changes of another one."""
    from tdsl.changes.pictures import changed_fabric
    from tdsl.changes.words import change_summary
    from tdsl.commands.diff import Incomparable, compare_two_sources
    from tdsl.viewer.fabric_page import viewer_page

    try:
        found = [pair for x in compare_two_sources(old, file, asked, verify) for pair in x.networks]
    except Incomparable as why:
        print_on_stderr(f"{why}")
        return FOUND
    if not found:
        raise Wrong(f"{old} and {file} have no fabric in common to draw")
    parts = []
    for before, after, changes in found:
        assert before.fabric is not None and after.fabric is not None
        both = changed_fabric(before.fabric, after.fabric)
        marks = _marks_of_changes(both)
        lines = list(change_summary(changes)) if not changes.none else ["nothing differs"]
        facts = _facts_for_page(after, (), marks) | {"changes": lines, "figures": _changed_figures(changes)}
        parts.append((both.fabric, marks, facts))
    name = "stdin" if file == "-" else Path(file).stem
    title = f"{old} to {file}" if len(found) > 1 else f"{found[0][1].name}: what changes"
    _save_and_open_page(viewer_page(parts, title), output or Path(f"{name}-diff.html"), show)
    return exit_status_of(after for _, after, _ in found)


def _marks_of_changes(both: ChangedFabric) -> list[ViewerMark]:
    """What a design removes of another one and what it adds, each with its number."""
    from tdsl.drawing.picture import ADDED, REMOVED
    from tdsl.viewer.fabric_page import ViewerMark, rows_of_mask

    return [
        ViewerMark(
            kind,
            f"{kind.capitalize()}: {int((both.links == fate).sum()):,} links, "
            f"{int(((both.devices == fate) & both.fabric.built).sum()):,} devices",
            "",
            rows_of_mask((both.devices == fate) & both.fabric.built),
            rows_of_mask(both.links == fate),
        )
        for kind, fate in (("removed", REMOVED), ("added", ADDED))
    ]


def _changed_figures(changes: Changes) -> dict[str, str]:
    """Figures before and after, as the page shows them."""
    rows = [(m.name, m.before, m.after) for m in changes.metrics]
    rows += [(x.what, x.before, x.after) for x in changes.figures]
    return {name: f"{before or 'none'} → {after or 'none'}" for name, before, after in rows}


def _designs_of_page(compilation: Compilation) -> list[Design]:
    """What a reader chooses among: the fabrics, those of a cluster as one."""
    whole = {c.name: c for c in compilation.clusters if c.fabric is not None}
    out: list[Design] = []
    for design in compilation.designs:
        one = whole.get(design.cluster, design)
        if one.fabric is not None and all(one is not other for other in out):
            out.append(one)
    return out


def _networks_of_design(design: Design, compilation: Compilation) -> list[Design]:
    """The fabrics of a cluster as the cluster has them, none of a fabric."""
    latest = {d.name: d for d in compilation.designs if d.cluster == design.name and d.phase <= design.phase}
    return [latest[name] for name in design.members]


def _marks_with_networks(design: Design, compilation: Compilation, verify: bool) -> list[ViewerMark]:
    """What the page highlights of a fabric, or of a cluster and its networks, each once."""
    import numpy as np

    out = _marks_for_page(design, verify and not design.members)
    said = {(m.title, m.text) for m in out}
    cluster = design.fabric
    for k, network in enumerate(_networks_of_design(design, compilation)):
        assert cluster is not None
        for m in _marks_for_page(network, verify):
            title = f"{m.title} of {network.name}" if m.kind in ("cut", "witness") else m.title
            if (title, m.text) in said and m.kind == "finding":
                continue
            said.add((title, m.text))
            devices = np.unique(cluster.member_rows[k][m.devices])
            out.append(
                replace(
                    m,
                    title=title,
                    devices=devices,
                    links=np.sort(cluster.member_links[k][m.links]),
                    about=m.about and f"{network.name}: {m.about}",
                )
            )
    return out


def _open_in_browser(page: Path) -> None:
    """Open a page, or say that there is no browser."""
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        print_on_stderr(f"no browser was found: open {page}")


def _title_of_page(shown: list[Design], name: str) -> str:
    """The title of the one fabric, else the ``name`` of the file."""
    fabric = shown[0].fabric
    return fabric.title or shown[0].name if len(shown) == 1 and fabric is not None else name


def _facts_for_page(
    design: Design, networks: Sequence[Design], marks: Sequence[ViewerMark]
) -> dict[str, object]:
    """Figures and results of a design for the page, those of a cluster with those of its networks; a result
    with the number of the mark that shows its witness, -1 if none does."""
    assert design.fabric is not None
    at = {m.about: k for k, m in reversed(list(enumerate(marks))) if m.about}
    results = [
        {
            "status": r.status,
            "name": f"{of}{r.requirement or r.check}",
            "text": r.text or r.reason,
            "required": r.requirement is not None and not r.report,
            "mark": at.get(f"{of}{r.requirement or r.check}", -1),
        }
        for of, each in [("", design), *((f"{d.name}: ", d) for d in networks)]
        for r in each.results
    ]
    return {"figures": _figures_for_page(design.fabric), "results": results}


def _figures_for_page(fabric: Fabric) -> dict[str, object]:
    """What a fabric consists of, by the words that the page shows; figures of 0 are left out."""
    from tdsl.verify.summary import fabric_summary

    figures: dict[str, object] = {}
    for name, value in fabric_summary(fabric).items():
        figure = value.get("total", None) if isinstance(value, dict) else value
        if name == "injection_bps" and isinstance(figure, float):
            name, figure = "injection", f"{figure / 1e12:,.6g} Tb/s"
        if figure:
            figures[name.replace("_", " ")] = figure
    return figures


def _marks_for_page(design: Design, verify: bool) -> list[ViewerMark]:
    """What the page highlights: the failed set, the bisection cut, and what findings are about."""
    from tdsl.viewer.fabric_page import ViewerMark, rows_of_mask

    out = []
    if design.failed is not None:
        title = f"Failed: {', '.join(design.failed.names[:3])}{' …' if len(design.failed.names) > 3 else ''}"
        out.append(
            ViewerMark(
                "failed",
                title,
                "",
                rows_of_mask(design.failed.devices),
                rows_of_mask(design.failed.links),
                "error",
            )
        )
    if verify and any(r.check == "bisection" for r in design.results):
        found = next(r for r in design.results if r.check == "bisection")
        cut = _links_of_smallest_cut(design)
        if len(cut):
            out.append(
                ViewerMark(
                    "cut", "Bisection cut", found.text, links=cut, about=found.requirement or found.check
                )
            )
    return out + _marks_of_findings(design)


def _marks_of_findings(design: Design) -> list[ViewerMark]:
    """What findings are about, and what shows each answer: the devices and links that its witness names, else
    those of the statements that the finding points at."""
    from tdsl.findings.diagnostic import Severity
    from tdsl.viewer.fabric_page import ViewerMark
    from tdsl.viewer.marked_rows import NamedRows

    if design.fabric is None or not (design.findings or design.results):
        return []
    named = NamedRows(design.fabric)
    by_span = {r.origin.span: r for r in design.results if r.origin is not None}
    out = [
        _mark_of_finding(d, by_span.get(d.span) if d.span is not None else None, named)
        for d in design.findings
        if d.severity > Severity.NOTE
    ]
    shown = {m.about for m in out}
    for r in design.results:
        about = r.requirement or r.check
        devices, links = named.rows_of_witness(r.witness)
        if about not in shown and len(devices) + len(links):
            out.append(ViewerMark("witness", f"{about}: {r.text or r.status}", "", devices, links, "", about))
    return out


def _mark_of_finding(d: Diagnostic, result: Result | None, named: NamedRows) -> ViewerMark:
    """What a finding is about; ``result`` is the answer that it reports, if it is one."""
    import numpy as np

    from tdsl.viewer.fabric_page import ViewerMark

    devices, links = named.rows_of_witness(result.witness if result is not None else {})
    if not len(devices) + len(links):
        spans = [x for x in (d.span, *(label.span for label in d.labels)) if x is not None]
        devices, links = named.rows_of_spans(spans)
        at_fault = _links_at_fault(d.code, named.fabric)
        links = np.intersect1d(links, at_fault) if len(at_fault) else links
    about = result.requirement or result.check if result is not None else ""
    title = f"{d.code}: {d.message}"
    return ViewerMark("finding", title, d.help, devices, links, d.severity.word, about)


def _links_at_fault(code: str, fabric: Fabric) -> Ints:
    """Rows of the links that the check with a code finds at fault, none if it names no links."""
    from tdsl.explain import catalogue
    from tdsl.prove.view import View
    from tdsl.verify.check import checks_by_name

    check = checks_by_name().get(catalogue.finding_name(code))
    view = View.whole(fabric)
    return view.rows[:0] if check is None else check.links_at_fault(view)


def _audit_fault_marks(design: Design, captures: list[tuple[str, Path]]) -> list[ViewerMark]:
    """The mistakes that an audit of captures finds."""
    from tdsl.commands.audit import captures_read_or_refused
    from tdsl.observe.audit import audit_captures
    from tdsl.observe.record import Observed

    assert design.fabric is not None
    observed = Observed()
    captures_read_or_refused(captures, observed)
    return marks_of_audit(audit_captures(design.fabric, observed))


def page_of_audits(audited: Sequence[tuple[Design, Audit]]) -> str:
    """The page of designs with what an audit of each found."""
    from tdsl.viewer.fabric_page import viewer_page

    parts = []
    for design, made in audited:
        marks = marks_of_audit(made)
        parts.append((made.fabric, marks, _facts_for_page(design, (), marks)))
    title = audited[0][1].fabric.title or audited[0][0].name
    return viewer_page(parts, f"Audit of {title}")


def marks_of_audit(made: Audit) -> list[ViewerMark]:
    """The mistakes that an audit found, with the designed links at the ports that they are about: all of them
    as one, the links that are down, and each mistake."""
    import numpy as np

    from tdsl.viewer.fabric_page import ViewerMark

    fabric = made.fabric
    out = []
    for fault in made.faults:
        found = fault.mistake
        ports = (
            [p for pair in (*found.moves, *found.removed, *found.added) for p in pair]
            if found is not None
            else []
        )
        ports += [fault.slow[0]] if fault.slow is not None else []
        there = np.array(sorted({p for p in ports if 0 <= p < len(fabric.port_link)}), dtype=np.int64)
        links = np.unique(fabric.port_link[there]).astype(np.int64)
        devices = np.unique(
            np.array(
                [*fabric.port_device[there], *(found.devices if found is not None else ())], dtype=np.int64
            )
        )
        finding = fault.finding
        title = f"{finding.code}: {finding.message}"
        out.append(
            ViewerMark("fault", title, finding.help, devices[devices >= 0], links[links >= 0], "error")
        )
    if len(out) < 2:
        return out
    devices, links = (np.unique(np.concatenate([getattr(m, x) for m in out])) for x in ("devices", "links"))
    title = f"Audit: {len(out):,} faults at {len(links):,} links"
    return [ViewerMark("fault", title, "", devices, links, "error"), *out]


def _links_of_smallest_cut(design: Design) -> Ints:
    """Rows of the links that the smallest cut found crosses."""
    import numpy as np

    from tdsl.prove.bisection import bisection_bounds
    from tdsl.prove.view import View
    from tdsl.verify.checks.bisection import cut_facts

    fabric = design.fabric
    assert fabric is not None
    view = View.whole(fabric.network)
    if len(view.units) < 2:
        return np.zeros(0, dtype=np.int64)
    found = bisection_bounds(view)
    links = cut_facts(view, found.net, found.cut).links
    return np.sort(fabric.port_link[fabric.network.link_a[links]].astype(np.int64))
