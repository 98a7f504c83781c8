"""NetBox: the cables of its REST API, ``GET /api/dcim/cables/``, one page, several as a list, or the list of results.

Source: netbox 4.6, ``dcim/api/serializers_/cables.py`` and ``netbox/api/serializers/generic.py``: a cable has
``a_terminations`` and ``b_terminations``, each with ``object_type`` and ``object``, which has ``device`` and ``name``. NetBox's
CSV is read by ``p2p``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, device, document, each, mapping, words
from tdsl.observe.record import End, Malformed, Observed, Place, Wire, plain

FORMAT = "netbox"
OPTION = "p2p"
INTERFACE = "dcim.interface"
GONE = "decommissioning"


def recognises(head: str) -> bool:
    """Whether a text begins as such a list of cables."""
    return '"a_terminations"' in head and head.lstrip()[:1] in ("{", "[")


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the cables between interfaces."""
    lines = Lines(file)
    for cable in _cables(document(file), file):
        at = lines.place("a_terminations")
        try:
            facts = mapping(cable, at, "a cable")
            status = facts.get("status")
            if words(status.get("value") if isinstance(status, dict) else status) == GONE:
                continue
            a, b = (_ends(into, facts.get(f"{side}_terminations"), at, side) for side in "ab")
            if not a and not b:
                continue  # of power, console ports or circuits
            if len(a) != len(b):
                raise Malformed(
                    at.line, f"a cable with {len(a)} interfaces at side A and {len(b)} at side B",
                    "say which lanes are joined: a table with a row a link, columns a_device,a_port,b_device,b_port",
                )  # fmt: skip
            for x, y in zip(a, b, strict=True):
                into.wire(Wire(x, y, at))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _cables(value: Any, file: SourceFile) -> Iterator[Any]:
    for page in each(value):
        if isinstance(page, dict) and "results" in page:
            if page.get("next"):
                into = "add `?limit=0` to the request, or put all pages into one JSON list"
                raise Malformed(1, "this is one page of the cables, and others follow", into)
            yield from each(page["results"])
        else:
            yield page


def _ends(into: Observed, value: Any, at: Place, side: str) -> list[End]:
    """The interfaces of a side."""
    found = []
    for one in each(value):
        facts = mapping(one, at, f"a termination of side {side.upper()}")
        kind = words(facts.get("object_type"))
        if kind != INTERFACE:
            continue
        thing = mapping(facts.get("object"), at, f"the interface of side {side.upper()}")
        owner = mapping(thing.get("device"), at, f"the device of side {side.upper()}")
        name, port = words(owner.get("name")) or words(owner.get("display")), words(thing.get("name"))
        if not name or not port:
            raise Malformed(at.line, f"side {side.upper()} has no device or no name of an interface", "export the cables again")
        found.append(End(device(into, name, "", at, heard=True), (plain(port, at.line),)))
    return found
