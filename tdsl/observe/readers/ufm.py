"""UFM: the answer of ``GET /ufmRest/resources/links`` as JSON. Source: NVIDIA UFM Enterprise REST API Guide,
Links REST API.

GUIDs come without ``0x`` and port numbers as text; the name of a port is its label (``1/3/1``) on switches
that have labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, json_object, json_of_capture, json_text
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    SidesListed,
    hexadecimal_digits,
    plain_capture_name,
)

FORMAT = "ufm"
OPTION = "ufm"
SIDES = ("source", "destination")
ADAPTER = re.compile(r"\S+ (?:HCA|mlx|ib|eth|en|nic|rdma|roce|bond)[\w-]*\d\w*", re.IGNORECASE)
"""Descriptions of adapters: the host, and the adapter in it. The answer does not say what a node is."""


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return '"source_guid"' in head and '"destination_guid"' in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add nodes and links. The answer does not give the speed of a link, only its width."""
    lines = Lines(file)
    found = json_of_capture(file)
    if not isinstance(found, list):
        raise Malformed(1, "this is not a list of links", "save the answer of GET /ufmRest/resources/links")
    if not found:
        into.fault(
            file, 1, "the capture has no link", "save the answer of GET /ufmRest/resources/links", "E0602"
        )
    sides = SidesListed()
    ports = _ports_by_guid(found)
    for entry in found:
        at = lines.place("source_guid")
        try:
            link = json_object(entry, at, "a link")
            a, b = (_end_of_ufm_link(into, link, side, at, ports) for side in SIDES)
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
            continue
        if not sides.is_other_side((a.node, a.port[0]), (b.node, b.port[0])):
            into.wire(CapturedLink(a, b, at))
    into.whole = True


def _ports_by_guid(links: Iterable[Any]) -> Mapping[str, set[str]]:
    """The ports of each node that has links."""
    out: dict[str, set[str]] = defaultdict(set)
    for link in links:
        for side in SIDES if isinstance(link, dict) else ():
            guid = hexadecimal_digits(json_text(link.get(f"{side}_guid")))
            out[guid].add(json_text(link.get(f"{side}_port")))
    return out


def _kind_of_node(description: str, ports: set[str]) -> str:
    """The kind of a node, which the answer does not give: an adapter by its description, a switch by its
    ports, since an adapter has two at most; "" where neither says it."""
    if not ports <= {"1", "2"}:
        return "switch"
    return "adapter" if ADAPTER.fullmatch(description) else ""


def _end_of_ufm_link(
    into: Observed, link: Mapping[str, Any], side: str, at: CaptureLine, ports: Mapping[str, set[str]]
) -> CapturedEnd:
    guid = hexadecimal_digits(json_text(link.get(f"{side}_guid")))
    port, label = json_text(link.get(f"{side}_port")), json_text(link.get(f"{side}_port_dname"))
    if len(guid) != 16 or not port.isdigit() or len(port) > 6:
        raise Malformed(
            at.line, f"the {side} of this link has no GUID or no port", "save the answer of UFM again"
        )
    description = json_text(link.get(f"{side}_port_node_description"))
    if label and description.endswith((f":{label}", f"/{label}")):
        description = description[: -len(label) - 1]
    key = f"id:{guid}"
    into.node(
        key, plain_capture_name(description, at.line), _kind_of_node(description, ports[guid]), (guid,), 0, at
    )
    into.heard.add(key)
    names = (port, plain_capture_name(label, at.line)) if label and label != port else (port,)
    return CapturedEnd(key, names, "")
