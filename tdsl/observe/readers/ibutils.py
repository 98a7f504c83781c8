"""Topology files of ibutils (``ibdmchk -t``), such as tdsl's ``fabric.topo``: a block a system.

Source: ibdmchk(1) of ibutils, ``-t``. The first line of a block is the type and the name of a system; each
further line is a link, and indented: ``P1 -> TYPE NAME P2``, with a rate between ``-`` and ``->`` where one
is written. ``P1`` is the number of the port in the model (``#1``), not what the faceplate may call ``P1``.
"""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    SidesListed,
    plain_capture_name,
)

FORMAT = "ibutils"
OPTION = "p2p"
SYSTEM = re.compile(r"(\S+)\s+(\S+)\s*(?:CFG:.*)?")
LINK = re.compile(r"\s+(\S+)\s+(?:-\S*-|-)>\s+(\S+)\s+(\S+)\s+(\S+)\s*")
ARROW = re.compile(r"^[ \t]++\S++[ \t]++-[^\s>]*+>(?:[ \t]++\S++){3}[ \t\r]*+$", re.MULTILINE)


def recognises(head: str) -> bool:
    """Whether a text has lines of links in this form."""
    return ARROW.search(head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the links, each once, though both systems may list it."""
    here = ""
    sides = SidesListed()
    for line, raw in enumerate(file.text.split("\n"), 1):
        text = raw.partition("#")[0].rstrip()
        if not text:
            here = "" if not raw.strip() else here
            continue
        at = CaptureLine(file, line)
        try:
            link = LINK.fullmatch(text)
            system = SYSTEM.fullmatch(text) if link is None else None
            if link is not None:
                if not here:
                    raise Malformed(line, "a link before the system that it belongs to", "the file is cut")
                _add_system_link(into, (here, link[1]), (link[3], link[4]), at, sides)
            elif system is not None and not text[0].isspace():
                here = plain_capture_name(system[2], line)
            else:
                help = "a system is `TYPE NAME`, a link `  PORT -> TYPE NAME PORT`"
                raise Malformed(line, f"this line is not of a topology file: {text.strip()[:60]!r}", help)
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _add_system_link(
    into: Observed, here: tuple[str, str], there: tuple[str, str], at: CaptureLine, sides: SidesListed
) -> None:
    """Add a link, unless its other system has listed it."""
    if sides.is_other_side(here, there):
        return
    a, b = (
        CapturedEnd(
            add_device(into, plain_capture_name(name, at.line), "", at, heard=True),
            (re.sub(r"^P(?=\d+$)", "#", plain_capture_name(port, at.line)),),
        )
        for name, port in (here, there)
    )
    into.wire(CapturedLink(a, b, at))
