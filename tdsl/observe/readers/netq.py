"""NetQ: the JSON of its topology graph, with ``compounded_links`` between interfaces."""

from __future__ import annotations

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import (
    Lines,
    add_device,
    entries_of_list,
    json_object,
    json_of_capture,
    json_text,
)
from tdsl.observe.record import CapturedEnd, CapturedLink, Malformed, Observed, plain_capture_name
from tdsl.system.nouns import counted_noun

FORMAT = "netq"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a file."""
    return '"compounded_links"' in head or '"compounded_nodes"' in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the links; a group of links lists its own."""
    lines = Lines(file)
    for top in entries_of_list(json_of_capture(file)):
        for group in entries_of_list(json_object(top, lines.place("links"), "the graph").get("links")):
            for link in entries_of_list(group.get("compounded_links") if isinstance(group, dict) else None):
                at = lines.place("interfaces")
                try:
                    ends = []
                    for one in entries_of_list(json_object(link, at, "a link").get("interfaces")):
                        facts = json_object(one, at, "an end")
                        name, port = json_text(facts.get("node")), json_text(facts.get("interface"))
                        if name and port:
                            ends.append(
                                CapturedEnd(
                                    add_device(into, name, "", at, heard=True),
                                    (plain_capture_name(port, at.line),),
                                )
                            )
                    if len(ends) != 2:
                        raise Malformed(
                            at.line,
                            f"a link has {counted_noun(len(ends), 'end')} with a node and an interface",
                        )
                    into.wire(CapturedLink(ends[0], ends[1], at))
                except Malformed as wrong:
                    into.fault(file, wrong.line, wrong.message, wrong.help)
