"""``mlxlink -d mlx5_0 -c``: state, rate and bit errors of a link as one port sees it, as text or JSON,
each port behind a line that names it or in a file ``DEVICE.PORT``.

Source: NVIDIA Firmware Tools (MFT), mlxlink Utility: Operational Info, Physical Counters and BER Info.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, add_device, json_object, json_of_capture, json_text
from tdsl.observe.readers._ports import blocks_by_port, port_of_file_name
from tdsl.observe.record import (
    CapturedEnd,
    CapturedHealth,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)
from tdsl.observe.speeds import infiniband_rate

FORMAT = "mlxlink"
OPTION = "health"
FIRST = re.compile(r"(?:Operational Info|State|Physical state|Speed|Width)\b")
ONCE = re.compile("Operational Info")
FIELD = re.compile(r"\s*+([A-Za-z][\w \t().,\[\]/]*+):(.*)")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
NAME_IT = 'write the port before each: for d in …; do echo "== $d"; mlxlink -d $d -c; done'


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return "Operational Info" in head and "Physical state" in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the ports of the device that the file is named after."""
    device, named = port_of_file_name(stem)
    here = add_device(into, device, "", CaptureLine(file, 1))
    outputs = _outputs_of_json(file, named) if file.text.lstrip()[:1] == "{" else _outputs_of_text(file, stem)
    for port, facts, at in outputs:
        if not port:
            into.fault(file, at.line, "no line says which port this output is of", NAME_IT)
            continue
        try:
            into.fact(_health_of_output(CapturedEnd(here, (plain_capture_name(port, at.line),)), facts, at))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _outputs_of_text(file: SourceFile, stem: str) -> Iterator[tuple[str, Mapping[str, str], CaptureLine]]:
    for port, number, lines in blocks_by_port(file, stem, FIRST, ONCE):
        fields = {m[1].strip(): m[2].strip() for line in lines if (m := FIELD.fullmatch(line))}
        yield port, fields, CaptureLine(file, number)


def _outputs_of_json(file: SourceFile, named: str) -> Iterator[tuple[str, Mapping[str, str], CaptureLine]]:
    """One output, or an object with one for each port."""
    lines = Lines(file)
    whole = json_object(json_of_capture(file), CaptureLine(file, 1), "the capture")
    for port, value in [(named, whole)] if "result" in whole else whole.items():
        at = lines.place(port) if port != named else CaptureLine(file, 1)
        result = json_object(json_object(value, at, "the output").get("result"), at, "its `result`")
        output: Any = json_object(result.get("output"), at, "its `output`")
        fields: dict[str, str] = {}
        for section in output.values():
            if isinstance(section, dict):
                fields.update(
                    {k: json_text(v) for k, v in section.items() if not isinstance(v, (dict, list))}
                )
        yield port, fields, at


def _health_of_output(end: CapturedEnd, facts: Mapping[str, str], at: CaptureLine) -> CapturedHealth:
    """What an output says. Raises Malformed where it has no state."""
    state = facts.get("State", "")
    if not state:
        raise Malformed(
            at.line, f"the output of {end.port[0]} has no `State`", "the capture is cut: capture it again"
        )
    width = re.match(r"(\d+)x", facts.get("Width", ""))
    lanes = int(width[1]) if width else 0
    rate = _rate_of_speed(facts.get("Speed", ""), lanes)
    ber = next(
        (x for k in ("Symbol BER", "Effective Physical BER") if (x := _number_of_field(facts.get(k))) >= 0),
        -1.0,
    )
    errors = next(
        (
            x
            for k in ("Symbol Errors", "Effective Physical Errors")
            if (x := _number_of_field(facts.get(k))) >= 0
        ),
        -1.0,
    )
    return CapturedHealth(end, state, rate, lanes if rate else 0, ber, int(errors), at)


def _rate_of_speed(word: str, lanes: int) -> int:
    """Bit/s of ``IB-NDR`` on some lanes, or of ``400G``; 0 where it is no such word."""
    found = re.fullmatch(r"(\d+)G(?:bE|_\d+X)?", word)
    return int(found[1]) * 10**9 if found else infiniband_rate(lanes, word.removeprefix("IB-").split(" ")[0])


def _number_of_field(text: str | None) -> float:
    """A number of a field such as ``15E-255``, -1 where it is none (``N/A``)."""
    return float(text) if text and NUMBER.fullmatch(text) else -1.0
