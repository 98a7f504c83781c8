"""What all LLDP readers share: JSON that may be hostile, and one neighbour of one local port as a link."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    hexadecimal_digits,
    line_at,
    plain_capture_name,
)

STATION = frozenset(("station", "stationonly", "station-only", "s"))
FORWARDS = frozenset(("bridge", "router", "b", "r"))
"""Capabilities as programs write them."""


def json_of_capture(file: SourceFile) -> Any:
    """The JSON of a capture. Raises Malformed."""
    try:
        return json.loads(
            file.text, parse_constant=_refuse_json_constant, object_pairs_hook=_refuse_repeated_keys
        )
    except RepeatedKey as wrong:
        first = file.text.find(json.dumps(wrong.key, ensure_ascii=False))
        at = file.text.find(json.dumps(wrong.key, ensure_ascii=False), first + 1)
        raise Malformed(
            line_at(file, max(at, 0)),
            f"{wrong.key[:60]!r} is there twice in one object, of which a reader of JSON keeps one",
            "capture with `-f json0`, which has a list of neighbours",
        ) from None
    except json.JSONDecodeError as wrong:
        raise Malformed(
            wrong.lineno, f"this is not JSON: {wrong.msg}", "the capture is cut or mixed: capture it again"
        ) from None
    except (RecursionError, ValueError) as wrong:
        raise Malformed(1, f"this JSON is not readable: {wrong}"[:120]) from None


class RepeatedKey(Exception):
    """A key that an object of JSON has twice."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises RepeatedKey."""
    out = dict(pairs)
    if len(out) != len(pairs):
        met: set[str] = set()
        for key, _ in pairs:
            if key in met:
                raise RepeatedKey(key)
            met.add(key)
    return out


def _refuse_json_constant(word: str) -> object:
    raise ValueError(f"{word} is not a number")


class Lines:
    """Finds the line of a key in a JSON text: keys are looked for in order, so that a repeated one is found
    where it is next."""

    def __init__(self, file: SourceFile) -> None:
        self.file, self.at = file, 0
        self.missing: set[str] = set()  # words that do not come any more
        self.left = 32 * len(file.text)  # letters that are still looked at for words that may not come

    def place(self, word: str) -> CaptureLine:
        """The line of the next place that quotes a word; the last one found where there is none, or where
        too many are looked for in vain."""
        if word not in self.missing and self.left >= 0:
            found = self.file.text.find(json.dumps(word, ensure_ascii=False), self.at)
            if found >= 0:
                self.at = found + 1
            else:
                self.missing.add(word)
                self.left -= len(self.file.text) - self.at
        return CaptureLine(self.file, line_at(self.file, self.at))


def json_object(value: object, at: CaptureLine, what: str) -> Mapping[str, Any]:
    """An object of JSON. Raises Malformed."""
    if not isinstance(value, dict):
        raise Malformed(at.line, f"{what} is {type(value).__name__}, not an object")
    return value


def json_text(value: object) -> str:
    """A text of JSON; a number as text; "" for all else."""
    return (
        str(value).strip().strip('"').strip()
        if isinstance(value, (str, int)) and not isinstance(value, bool)
        else ""
    )


def entries_of_list(value: object) -> Iterator[Any]:
    """Entries of a list, or the one thing that stands in its place."""
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def add_local_device(into: Observed, name: str, at: CaptureLine) -> str:
    """The device that a capture is of, by its name."""
    return add_device(into, name, "", at, heard=True)


def add_device(
    into: Observed, name: str, chassis: str, at: CaptureLine, heard: bool = False, kind: str = ""
) -> str:
    """A device by its name, or by the identifier of its chassis where it sends no name."""
    if heard and not chassis and (name, kind) in into.heard_by_name:
        return into.heard_by_name[name, kind]  # tables name a device in each of its rows
    mac = hexadecimal_digits(chassis)
    shown = plain_capture_name(name or chassis, at.line)
    key = into.named_node(shown, mac) if name else f"chassis:{mac or shown}"
    into.node(key, shown if name else "", kind, (mac,) if mac else (), 0, at)
    if heard:
        into.heard.add(key)
        if name and not mac:
            into.heard_by_name[name, kind] = key
    return key


def kind_by_capabilities(enabled: Iterable[str]) -> str:
    """The kind of a device by its capabilities in use: a station that neither bridges nor routes is a host. A
    host may bridge for its containers, so nothing else says what a device is.

    Source: IEEE 802.1AB, System Capabilities TLV.
    """
    words = {word.strip().casefold() for word in enabled}
    return "host" if words & STATION and not words & FORWARDS else ""


def add_neighbour_link(
    into: Observed,
    here: str,
    port: str,
    at: CaptureLine,
    name: str,
    chassis: str,
    ports: tuple[str, ...],
    enabled: Iterable[str] = (),
) -> None:
    """Add the link from a port of a device to the neighbour that was heard there. ``enabled`` are its
    capabilities that are in use."""
    if not name and not chassis:
        raise Malformed(at.line, f"the neighbour at {port} has neither a name nor a chassis")
    if hexadecimal_digits(name):  # what a program writes in the place of a name that was not sent
        name, chassis = "", chassis or name
    far = add_device(into, name, chassis, at, kind=kind_by_capabilities(enabled))
    names = tuple(dict.fromkeys(plain_capture_name(p, at.line) for p in ports if p))
    mac = next(filter(None, map(hexadecimal_digits, names)), "")
    into.wire(
        CapturedLink(
            CapturedEnd(here, (plain_capture_name(port, at.line),)), CapturedEnd(far, names, mac), at
        )
    )
