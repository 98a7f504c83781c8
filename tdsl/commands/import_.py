"""``tdsl import``: captures of a live network as a design."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import FOUND, OK, Wrong, save, say

if TYPE_CHECKING:
    from tdsl.observe.record import Observed

UNITS = {"Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}


@click.command(
    "import",
    short_help="Write a design from captures of a live network.",
    epilog="\b\nExamples:\n  ibnetdiscover > fabric.topo; tdsl import fabric.topo > asbuilt.fab\n"
    "  tdsl import captures/ --rate 400Gbps -o asbuilt.fab    (LLDP does not say the rate)\n"
    "  tdsl import cables.csv --as flat -o asbuilt.fab",
)
@click.argument("scans", metavar="SCAN...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--name", default="asbuilt", show_default=True, help="Name of the fabric.")
@click.option("--rate", metavar="RATE", help="Rate of links whose capture does not say one, such as 400Gbps.")
@click.option("--as", "form", envvar="TDSL_IMPORT_AS", type=click.Choice(["structure", "flat"]),
              default="structure", show_default=True,
              help="Arrays and rules where they give exactly what was seen, or a statement a device and link.")  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write here, not to stdout."
)
def command(scans: tuple[Path, ...], name: str, rate: str | None, form: str, output: Path | None) -> int:
    """Write a design that has the devices and links of captures: ibnetdiscover, iblinkinfo, LLDP, or tables of cables.

    `check`, `diff` and `audit` take what is written. Devices without a name get one made of their identifier.

    Exit status: 0 written, 1 a capture has errors, 2 a wrong call.
    """
    from tdsl.observe.importing import NoDesign, design
    from tdsl.observe.reading import Unreadable, read
    from tdsl.observe.record import Observed

    found = re.fullmatch(r"(\d{1,6})(Mbps|Gbps|Tbps)", rate or "1Gbps")
    if found is None:
        raise Wrong(f"--rate {rate}: write it such as 400Gbps")
    observed = Observed()
    try:
        read([("", p) for p in scans], observed)
        if observed.findings.has_errors:
            _show(observed)
            return FOUND
        text = design(observed, name, int(found[1]) * UNITS[found[2]] if rate else 0, form == "structure")
    except (Unreadable, NoDesign) as wrong:
        raise Wrong(str(wrong)) from None
    if output is None:
        say(text)
    else:
        save(text, output)
    return OK


def _show(observed: Observed) -> None:
    """The findings about the captures."""
    from tdsl.report.paint import Paint, wants_colour, width_of
    from tdsl.report.terminal import finding

    paint, width = Paint(wants_colour(sys.stderr)), width_of(sys.stderr)
    for d in observed.findings:
        say(f"{finding(d, d.span.file.name if d.span else '', paint, width)}\n\n", sys.stderr)
