"""NetQ: the JSON of its topology graph, with ``compounded_links`` between interfaces."""

from __future__ import annotations

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, device, document, each, mapping, words
from tdsl.observe.record import End, Malformed, Observed, Wire, plain

FORMAT = "netq"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a file."""
    return '"compounded_links"' in head or '"compounded_nodes"' in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the links; a group of links lists its own."""
    lines = Lines(file)
    for top in each(document(file)):
        for group in each(mapping(top, lines.place("links"), "the graph").get("links")):
            for link in each(group.get("compounded_links") if isinstance(group, dict) else None):
                at = lines.place("interfaces")
                try:
                    ends = []
                    for one in each(mapping(link, at, "a link").get("interfaces")):
                        facts = mapping(one, at, "an end")
                        name, port = words(facts.get("node")), words(facts.get("interface"))
                        if name and port:
                            ends.append(End(device(into, name, "", at, heard=True), (plain(port, at.line),)))
                    if len(ends) != 2:
                        raise Malformed(at.line, f"a link has {len(ends)} ends with a node and an interface")
                    into.wire(Wire(ends[0], ends[1], at))
                except Malformed as wrong:
                    into.fault(file, wrong.line, wrong.message, wrong.help)
