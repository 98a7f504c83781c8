"""``lldpcli -f json show neighbors`` and ``-f json0``.

Source: lldpcli(8): one entry is an object and many are a list in the first,
lists are everywhere in the second; a chassis without a name has no level of its own."""

from __future__ import annotations

from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, document, each, local, mapping, neighbour, words
from tdsl.observe.record import Malformed, Observed

FORMAT = "lldpd"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return head.lstrip().startswith("{") and '"neighbor"' not in head and ('"lldp"' in head or '"lldp_loc_chassis"' in head)


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of one device: that of the local chassis where the capture has it, else that of the file's name."""
    lines = Lines(file)
    whole = mapping(document(file), lines.place("lldp"), "the capture")
    own = _own(whole.get("lldp_loc_chassis"))
    here = local(into, own or stem, lines.place("lldp"))
    for top in each(whole.get("lldp")):
        if not isinstance(top, dict):
            continue
        for entry in each(top.get("interface")):
            at = lines.place("interface")
            pairs = [(words(entry.get("name")), entry)] if _is_flat(entry) else list(mapping(entry, at, "an interface").items())
            for name, facts in pairs:
                for one in each(facts):
                    at = lines.place(name)
                    try:
                        _interface(into, here, name, mapping(one, at, f"interface {name}"), lines)
                    except Malformed as wrong:
                        into.fault(file, wrong.line, wrong.message, wrong.help)


def _is_flat(entry: object) -> bool:
    """Whether an interface is an entry of json0, which has its name inside."""
    return isinstance(entry, dict) and isinstance(entry.get("name"), str) and ("chassis" in entry or "port" in entry)


def _own(value: object) -> str:
    """The name of the local chassis, "" where the capture does not say it."""
    for top in each(value):
        inner = top.get("local-chassis") if isinstance(top, dict) else None
        for one in each(inner):
            for chassis in each(one.get("chassis") if isinstance(one, dict) else None):
                name = _chassis(chassis)[0]
                if name:
                    return name
    return ""


def _chassis(value: object) -> tuple[str, str]:
    """Name and identifier of a chassis in all three forms."""
    if not isinstance(value, dict):
        return "", ""
    if "id" in value or "name" in value:
        name = value.get("name")
        return _value(name), _value(value.get("id"))
    for name, inner in value.items():
        if isinstance(inner, dict):
            return str(name).strip(), _value(inner.get("id"))
    return "", ""


def _value(value: object) -> str:
    """The text of ``"x"``, ``{"value": "x"}`` or a list of one of them."""
    for one in each(value):
        return words(one.get("value")) if isinstance(one, dict) else words(one)
    return ""


def _interface(into: Observed, here: str, name: str, facts: Any, lines: Lines) -> None:
    chassis = next(each(facts.get("chassis")), None)
    port = next(each(facts.get("port")), None)
    at = lines.place("chassis")
    if chassis is None or not isinstance(port, dict):
        raise Malformed(at.line, f"the neighbour at {name} has no chassis or no port")
    system, ident = _chassis(chassis)
    neighbour(into, here, name, at, system, ident, (_value(port.get("id")), _value(port.get("descr"))))
