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
    OK,
    Source,
    compile_sources,
    design_options,
    limit_options,
    options_from_command,
    places_option,
    save_text,
    show_findings,
)

if TYPE_CHECKING:
    from tdsl.compile.compiler import Compilation, Design
    from tdsl.fabric.graph import Ints
    from tdsl.viewer.fabric_page import ViewerMark

CAPTURE = click.Path(exists=True, path_type=Path)


@click.command(
    "view",
    short_help="Write a page to look at the fabric, and open it.",
    epilog="\b\nExamples:\n  tdsl view superpod.fab\n  tdsl view superpod.fab --check -o superpod.html "
    "--no-open\n"
    "  tdsl view superpod.fab --fail 'su[0].leaf[3]'\n  tdsl view superpod.fab --ibnetdiscover fabric.topo",
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
    "--check",
    "verify",
    envvar="TDSL_VIEW_CHECK",
    is_flag=True,
    help="Check the design, too, and show its findings and the bisection cut.",
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
def command(
    file: str,
    output: Path | None,
    show: bool,
    verify: bool,
    fail: tuple[str, ...],
    ibnetdiscover: tuple[Path, ...],
    lldp: tuple[Path, ...],
    p2p: tuple[Path, ...],
    **given: Any,
) -> int:
    """Write one HTML page that shows the fabric of FILE, and open it in the browser.

    The page needs no network and no other file. It has the fabric with equal groups folded, what is inside
    each group, the racks where devices have places, and every device with its ports; it finds devices, cables
    and addresses.

    Exit status: 0 written, 1 the design has errors, 2 a wrong call.
    """
    from tdsl.viewer.fabric_page import viewer_page

    (compilation,) = compile_sources([file], replace(options_from_command(given), fail=fail), verify=verify)
    show_findings([compilation], sys.stderr)
    shown = _designs_of_page(compilation)
    errors = any(d.severity.word == "error" for d in compilation.findings)
    if not shown:
        return FOUND
    captures = [
        (n, x) for n, paths in (("ibnetdiscover", ibnetdiscover), ("lldp", lldp), ("p2p", p2p)) for x in paths
    ]
    marks = [
        _marks_with_networks(d, compilation, verify) + (_audit_fault_marks(d, captures) if captures else [])
        for d in shown
    ]
    name = Path(compilation.file).stem if file != "-" else "stdin"
    path = output or Path(f"{name}.html")
    title = _title_of_page(shown, name)
    parts = [
        (d.fabric, m, _facts_for_page(d, _networks_of_design(d, compilation)))
        for d, m in zip(shown, marks, strict=True)
        if d.fabric is not None
    ]
    save_text(viewer_page(parts, title), path)
    print_unless_quiet(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    if show:
        _open_in_browser(path)
    return FOUND if errors else OK


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
            title = f"{m.title} of {network.name}" if m.kind == "cut" else m.title
            if (title, m.text) in said and m.kind == "finding":
                continue
            said.add((title, m.text))
            devices = np.unique(cluster.member_rows[k][m.devices])
            out.append(
                replace(m, title=title, devices=devices, links=np.sort(cluster.member_links[k][m.links]))
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


def _facts_for_page(design: Design, networks: Sequence[Design]) -> dict[str, object]:
    """Figures and results of a design for the page, those of a cluster with those of its networks."""
    from tdsl.verify.summary import fabric_summary

    assert design.fabric is not None
    figures: dict[str, object] = {}
    for name, value in fabric_summary(design.fabric).items():
        figure = value.get("total", None) if isinstance(value, dict) else value
        if name == "injection_bps" and isinstance(figure, float):
            name, figure = "injection", f"{figure / 1e12:,.6g} Tb/s"
        if figure:
            figures[name.replace("_", " ")] = figure
    results = [
        {
            "status": r.status,
            "name": f"{of}{r.requirement or r.check}",
            "text": r.text or r.reason,
            "required": r.requirement is not None,
        }
        for of, each in [("", design), *((f"{d.name}: ", d) for d in networks)]
        for r in each.results
    ]
    return {"figures": figures, "results": results}


def _marks_for_page(design: Design, verify: bool) -> list[ViewerMark]:
    """What the page highlights: the failed set, the bisection cut, and what findings are about."""
    from tdsl.findings.diagnostic import Severity
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
            out.append(ViewerMark("cut", "Bisection cut", found.text, links=cut))
    out += [
        ViewerMark("finding", f"{d.code}: {d.message}", d.help, severity=d.severity.word)
        for d in design.findings
        if d.severity > Severity.NOTE
    ]
    return out


def _audit_fault_marks(design: Design, captures: list[tuple[str, Path]]) -> list[ViewerMark]:
    """The mistakes that an audit finds, with the designed links at the ports that they are about."""
    import numpy as np

    from tdsl.commands.audit import captures_read_or_refused
    from tdsl.observe.audit import audit_captures
    from tdsl.observe.record import Observed
    from tdsl.viewer.fabric_page import ViewerMark

    fabric = design.fabric
    assert fabric is not None
    observed = Observed()
    captures_read_or_refused(captures, observed)
    out = []
    for fault in audit_captures(fabric, observed).faults:
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
    return out


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
