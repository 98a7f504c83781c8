"""``tdsl import``: captures of a live network as a design."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import (
    FOUND,
    OK,
    Wrong,
    column_names_given,
    column_option,
    save_text,
    write_to_stream,
)
from tdsl.commands._untrusted import with_untrusted_option

if TYPE_CHECKING:
    from tdsl.observe.record import Observed

UNITS = {"Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}


@click.command(
    "import",
    short_help="Write a design from captures of a live network.",
    epilog="\b\nExamples:\n  ibnetdiscover > fabric.topo; tdsl import fabric.topo > asbuilt.fab\n"
    "  tdsl import captures/ --rate 400Gbps -o asbuilt.fab    (LLDP does not say the rate)\n"
    "  tdsl import cables.csv --as flat -o asbuilt.fab\n"
    "  tdsl import netbox-cables.csv --rate 400Gbps --hosts '^gpu' -o asbuilt.fab\n"
    "  tdsl import wiring.yaml --rate 100Gbps -o pod.fab    (Hedgehog, InfraGraph, NetGraph)\n"
    "  tdsl import p2p.csv --column a_device='From Host' --column a_port='From Port' \\\n"
    "      --column b_device='To Switch' --column b_port='To Port' \\\n"
    "      --rate 400Gbps -o asbuilt.fab",
)
@click.argument(
    "scans", metavar="SCAN...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@click.option("--name", default="asbuilt", show_default=True, help="Name of the fabric.")
@click.option("--rate", metavar="RATE", help="Rate of links whose capture does not say one, such as 400Gbps.")
@click.option(
    "--as",
    "form",
    envvar="TDSL_IMPORT_AS",
    type=click.Choice(["structure", "flat"]),
    default="structure",
    show_default=True,
    help="Arrays and rules where they give exactly what was seen, or a statement a device and link.",
)
@column_option
@click.option(
    "--hosts", metavar="REGEX", help="Devices whose names match are hosts, and all others switches."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write here, not to stdout.",
)
@with_untrusted_option
def command(
    scans: tuple[Path, ...],
    name: str,
    rate: str | None,
    form: str,
    column: tuple[str, ...],
    hosts: str | None,
    output: Path | None,
) -> int:
    """Write a design that has the devices and links of captures, or of a design in another language.

    A capture is recognised by its text:

    \b
      InfiniBand  ibnetdiscover, iblinkinfo -l, the folder of ibdiagnet, UFM's
                  links (JSON)
      LLDP        a file a device, or a folder of them: lldpcli (json0, json,
                  keyvalue, text), SONiC, EOS, Junos, NVUE, NX-OS, NAPALM;
                  Batfish layer 1, PTM, NetQ
      tables      tdsl's cables.csv, links.csv, labels.csv and cables.xlsx,
                  topology files of UFM and ibutils, NetBox's cables (CSV or
                  JSON), any CSV, .xlsx or .ods with columns for the devices
                  and ports of both ends (--column)
      designs     InfraGraph, NetGraph's scenarios, Hedgehog's wiring (YAML,
                  JSON); a note counts what of them the design does not have

    `check`, `diff` and `audit` take what is written. Devices without a name get one made of their identifier.
    LLDP and most tables do not say which devices are hosts: that is taken from names of ports and devices,
    unless --hosts says it.

    Exit status: 0 written, 1 a capture has errors, 2 a wrong call.
    """
    from tdsl.observe.importing import NoDesign, design_from_captures
    from tdsl.observe.reading import CaptureUnreadable, read_capture_files
    from tdsl.observe.record import Observed

    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)(Mbps|Gbps|Tbps)", rate or "1Gbps")
    if found is None:
        raise Wrong(f"--rate {rate}: write it such as 400Gbps")
    try:
        matching = re.compile(hosts) if hosts is not None else None
    except re.error as wrong:
        raise Wrong(f"--hosts {hosts}: {wrong}") from None
    observed = Observed()
    try:
        read_capture_files([("", p) for p in scans], observed, column_names_given(column))
        if observed.findings.has_errors:
            _print_capture_findings(observed)
            return FOUND
        bps = int(Fraction(found[1]) * UNITS[found[2]]) if rate else 0
        text = design_from_captures(observed, name, bps, form == "structure", matching)
    except (CaptureUnreadable, NoDesign) as wrong:
        raise Wrong(str(wrong)) from None
    _print_capture_findings(observed)
    if output is None:
        write_to_stream(text)
    else:
        save_text(text, output)
    return OK


def _print_capture_findings(observed: Observed) -> None:
    """The findings about the captures."""
    from tdsl.report.paint import Paint, output_width, wants_colour
    from tdsl.report.terminal import finding_block

    paint, width = Paint(wants_colour(sys.stderr)), output_width(sys.stderr)
    for d in observed.findings:
        write_to_stream(
            f"{finding_block(d, d.span.file.name if d.span else '', paint, width)}\n\n", sys.stderr
        )
