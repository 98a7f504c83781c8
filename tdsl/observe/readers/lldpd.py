"""``lldpcli -f json show neighbors`` and ``-f json0``.

Source: lldpcli(8): one entry is an object and many are a list in the first,
lists are everywhere in the second; a chassis without a name has no level of its own."""

from __future__ import annotations

from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import (
    Lines,
    add_local_device,
    add_neighbour_link,
    entries_of_list,
    json_object,
    json_of_capture,
    json_text,
)
from tdsl.observe.record import Malformed, Observed

FORMAT = "lldpd"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return (
        head.lstrip().startswith("{")
        and '"neighbor"' not in head
        and ('"lldp"' in head or '"lldp_loc_chassis"' in head)
    )


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of one device: that of the local chassis where the capture has it, else that of the
    file's name."""
    lines = Lines(file)
    whole = json_object(json_of_capture(file), lines.place("lldp"), "the capture")
    own = _local_chassis_name(whole.get("lldp_loc_chassis"))
    here = add_local_device(into, own or stem, lines.place("lldp"))
    for top in entries_of_list(whole.get("lldp")):
        if not isinstance(top, dict):
            at = lines.place("lldp")
            into.fault(file, at.line, f"an entry of `lldp` is {type(top).__name__}, not an object")
            continue
        for entry in entries_of_list(top.get("interface")):
            at = lines.place("interface")
            pairs = (
                [(json_text(entry.get("name")), entry)]
                if _is_flat(entry)
                else list(json_object(entry, at, "an interface").items())
            )
            for name, facts in pairs:
                for one in entries_of_list(facts):
                    at = lines.place(name)
                    try:
                        _add_interface_neighbour(
                            into, here, name, json_object(one, at, f"interface {name}"), lines
                        )
                    except Malformed as wrong:
                        into.fault(file, wrong.line, wrong.message, wrong.help)


def _is_flat(entry: object) -> bool:
    """Whether an interface is an entry of json0, which has its name inside."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and ("chassis" in entry or "port" in entry)
    )


def _local_chassis_name(value: object) -> str:
    """The name of the local chassis, "" where the capture does not say it."""
    for top in entries_of_list(value):
        inner = top.get("local-chassis") if isinstance(top, dict) else None
        for one in entries_of_list(inner):
            for chassis in entries_of_list(one.get("chassis") if isinstance(one, dict) else None):
                name = _chassis_name_and_id(chassis)[0]
                if name:
                    return name
    return ""


def _chassis_name_and_id(value: object) -> tuple[str, str]:
    """Name and identifier of a chassis in all three forms."""
    if not isinstance(value, dict):
        return "", ""
    if "id" in value or "name" in value:
        name = value.get("name")
        return _wrapped_value_text(name), _wrapped_value_text(value.get("id"))
    for name, inner in value.items():
        if isinstance(inner, dict):
            return str(name).strip(), _wrapped_value_text(inner.get("id"))
    return "", ""


def _wrapped_value_text(value: object) -> str:
    """The text of ``"x"``, ``{"value": "x"}`` or a list of one of them."""
    for one in entries_of_list(value):
        return json_text(one.get("value")) if isinstance(one, dict) else json_text(one)
    return ""


def _add_interface_neighbour(into: Observed, here: str, name: str, facts: Any, lines: Lines) -> None:
    chassis = next(entries_of_list(facts.get("chassis")), None)
    port = next(entries_of_list(facts.get("port")), None)
    at = lines.place("chassis")
    if chassis is None or not isinstance(port, dict):
        raise Malformed(at.line, f"the neighbour at {name} has no chassis or no port")
    system, ident = _chassis_name_and_id(chassis)
    add_neighbour_link(
        into,
        here,
        name,
        at,
        system,
        ident,
        (_wrapped_value_text(port.get("id")), _wrapped_value_text(port.get("descr"))),
        _enabled_capabilities(chassis),
    )


def _enabled_capabilities(chassis: Any) -> list[str]:
    """The capabilities in use of a chassis, in all its forms."""
    inner = (
        [chassis, *(v for v in chassis.values() if isinstance(v, dict))] if isinstance(chassis, dict) else []
    )
    return [
        json_text(one.get("type"))
        for facts in inner
        for one in entries_of_list(facts.get("capability"))
        if isinstance(one, dict) and one.get("enabled") is True
    ]
