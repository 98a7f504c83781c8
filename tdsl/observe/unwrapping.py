"""Captures as they come: what a terminal, an encoding or a tool put around the output of a command.

Each is taken off so that lines keep their numbers. A tool's envelope around JSON (eAPI's JSON-RPC, a result
of Ansible, a dump with several databases) is opened, and what it holds is read for itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tdsl.findings.source import SourceFile
from tdsl.observe.record import Malformed

LINE_ENDS = re.compile("[\x85\u2028\u2029]")
SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()*+][0-9A-Z]|\x1b[=>78DEHMNOZc]"
)
"""What steers a terminal (ECMA-48): colours, places of the cursor, titles of the window."""
ERASED = re.compile(r"[^\x08\n]\x08(?: \x08)?")
PAGER = re.compile(r"\s*(?:-+ ?\(?[Mm]ore(?: ?\d+%)?\)?(?: ?\d+%)? ?-+|--More--|\(END\)|:)\s*")
LOGGED = re.compile(
    r"=[~=]+= PuTTY log [\d.: ]+=[~=]+=\s*|Script (?:started|done) on .*|Script (?:started|done), file is .*"
)
"""What PuTTY and script(1) write before and after a log."""
COMMAND = (
    r"(?:sh|show|nv|lldp\w*|ibnetdiscover|iblinkinfo|ibdiagnet|sudo|cat|more|docker|redis-cli|sonic-db-\w+"
    r"|curl|terminal|enable|exit|logout)\b"
)
USER = r"\[?[\w.-]+@[\w.-]+[^#$>%\"{]{0,80}"
ROLE = r"\{(?:master|backup|linecard|primary|secondary)(?::\w+)?\}"
PROMPT = re.compile(rf"(?:{USER}|[A-Za-z][\w.-]*(?:\([\w.-]+\))?)[#$>%](?:\s.*|{COMMAND}.*)?|{ROLE}")
"""A prompt with or without a command: ``admin@leaf0:~$ show lldp table``, ``leaf0#show lldp neighbors``; and
the line above it in which Junos says its role in a chassis, ``{master:0}``."""
TYPED = re.compile(
    rf"(?:\[?[\w.-]+@([\w.-]+)[^#$>%\"{{]{{0,80}}|([A-Za-z][\w.-]*)(?:\([\w.-]+\))?)[#$>%]\s*{COMMAND}.*"
)
"""A prompt with a command, and the name of the device in it."""
NAMED_BY = ("inventory_hostname", "hostname", "host", "device")
"""Keys beside an output under which tools write the device that it is of,"""
NAMED_OFTEN_BY = (*NAMED_BY, "item", "node", "name", "switch")
"""and those that do so where a file has the outputs of several."""
AROUND = 8
"""Lines at the begin and the end of a text among which prompts are looked for."""
DEEPEST = 12
"""Levels of JSON around a capture."""
MOST_INSIDE = 4096
"""Captures in one file."""
ENVELOPE = frozenset(
    (
        "jsonrpc", "result", "results", "stdout", "output", "outputs", "json", "body", "value", "response",
        "data", "out", "ret", "return", "plays", "tasks", "hosts", "ansible_facts", "contents", "payload",
        "ins_api", "msg", "APPL_DB", "STATE_DB", "lldp_neighbors", "lldp_neighbors_detail",
        "get_lldp_neighbors", "get_lldp_neighbors_detail", "interface", "item", "text", "neighbors", "lldp",
        "rpc-reply", "multi-routing-engine-results", "multi-routing-engine-item",
    )
)  # fmt: skip
"""Keys of what tools put around an output; another key around it is the name of the device."""
REPEATED = frozenset(("stdout_lines", "invocation", "item"))
"""Keys of Ansible whose value says again what another one says."""
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,120}")


AD_HOC = re.compile(
    r"^(\S{1,253}) \| (SUCCESS|CHANGED|FAILED|UNREACHABLE)!?(?: \| rc=-?\d+)? (?:=>|>>)[ \t]*", re.MULTILINE
)
"""The line before the answer of a host in what ``ansible`` prints for one module (ansible-core,
``plugins/callback/minimal.py``)."""


class InnerCapture(NamedTuple):
    """A capture that was in an envelope: the device that a key around it names, or "", and its text; where
    the envelope has no capture for this device, why, and the line."""

    device: str
    file: SourceFile
    refused: str = ""
    line: int = 1


def decoded_capture(data: bytes) -> str:
    """The text of a capture: UTF-8, or UTF-16 as PowerShell writes it. Raises UnicodeDecodeError. Of a text
    in one line that has Unicode's ends of lines alone, these end its lines."""
    text = data.decode(_encoding_of_capture(data))
    return text if "\n" in text or "\r" in text else LINE_ENDS.sub("\n", text)


def _encoding_of_capture(data: bytes) -> str:
    """The encoding by the first bytes."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    head = data[:512]
    utf16 = len(head) >= 8 and len(head) % 2 == 0 and not any(head[1::2]) and all(head[::2])
    return "utf-16-le" if utf16 else "utf-8-sig"


def without_terminal(text: str) -> str:
    """A text without what a terminal puts into a log: line ends, colours, erased characters, pages, prompts.

    Lines keep their numbers.
    """
    lines = _lines_without_controls(text)
    _blank_prompts(lines)
    return "\n".join(lines)


def outputs_of_session(text: str) -> list[tuple[str, str]]:
    """The outputs of the commands of a terminal's log with several, each with the name of the device in the
    prompt before it; none where it has less than two. Lines keep their numbers."""
    lines = _lines_without_controls(text)
    typed = [(k, m[1] or m[2]) for k, line in enumerate(lines) if (m := TYPED.fullmatch(line.strip()))]
    if len(typed) < 2:
        return []
    ends = [*(k for k, _ in typed[1:]), len(lines)]
    return [
        (device, without_terminal("\n" * (k + 1) + "\n".join(lines[k + 1 : end])))
        for (k, device), end in zip(typed, ends, strict=True)
    ]


def _lines_without_controls(text: str) -> list[str]:
    """The lines of a text without what steers a terminal, and what a pager wrote."""
    text = re.sub(r"(?<!\r)\r++\n", "\n", text)
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    if "\x1b" in text:
        text = SEQUENCE.sub("", text)
    while "\x08" in text and ERASED.search(text):
        text = ERASED.sub("", text)
    lines = text.split("\n")
    for k, line in enumerate(lines):
        if "\r" in line:  # what a pager overprints
            lines[k] = next((part for part in reversed(line.split("\r")) if part.strip()), "")
        if ("ore" in line and PAGER.fullmatch(lines[k])) or LOGGED.fullmatch(lines[k]):
            lines[k] = ""
    return lines


def _blank_prompts(lines: list[str]) -> None:
    """Empty the lines before and after an output in which a person is asked for a command and types it."""
    for side in (lines, lines[::-1]):
        shown = [k for k, line in enumerate(side) if line.strip()][:AROUND]
        for k in shown:
            if PROMPT.fullmatch(side[k].strip()) is None:
                break
            lines[k if side is lines else len(lines) - 1 - k] = ""


def opened_envelope(file: SourceFile) -> list[InnerCapture] | None:
    """The captures inside of a JSON text or of what Ansible printed, None where it is one itself or is no
    JSON. Raises Malformed where it is something around an output and holds no LLDP capture."""
    text = file.text
    if AD_HOC.match(text.lstrip("\n")):
        return _captures_of_hosts(file)
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if _is_known_form(value) or not value:
        return None
    found: list[InnerCapture] = []
    beside: list[list[str]] = []
    for path, inner in _captures_inside(value, ()):
        if len(found) == MOST_INSIDE:
            raise Malformed(1, f"the file holds more than {MOST_INSIDE:,} captures", "write a file a device")
        found.append(InnerCapture(_device_around(path), _inner_file(file, path, inner)))
        beside.append([_device_beside(value, path, keys) for keys in (NAMED_BY, NAMED_OFTEN_BY)])
    if not found:
        raise Malformed(1, _refusal(value), "save the output of the command alone, as JSON")
    several = len({often for _, often in beside}) > 1
    return [
        one if one.device else one._replace(device=names[several])
        for one, names in zip(found, beside, strict=True)
    ]


def _captures_of_hosts(file: SourceFile) -> list[InnerCapture]:
    """The capture of each host that Ansible printed: ``leaf0 | SUCCESS => {…}``, or ``leaf0 | CHANGED | rc=0
    >>`` and the output."""
    heads = list(AD_HOC.finditer(file.text))
    out: list[InnerCapture] = []
    for head, end in zip(heads, [*(h.start() for h in heads[1:]), len(file.text)], strict=True):
        host, status = head[1], head[2]
        blank = re.sub(r"[^\n]", " ", file.text[: head.end()])
        part = SourceFile(file.name, blank + file.text[head.end() : end])
        line = file.position(head.start())[0]
        if status in ("FAILED", "UNREACHABLE"):
            out.append(InnerCapture(host, part, f"Ansible says that {host} is {status.lower()}", line))
            continue
        found = _captures_of_answer(part, host)
        why = f"the answer of {host} holds no LLDP neighbours in a known format"
        out += found or [InnerCapture(host, part, why, line)]
    return out


def _captures_of_answer(part: SourceFile, host: str) -> list[InnerCapture]:
    """The captures in the answer of a host, which is JSON or text."""
    if part.text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(part.text)
        except (ValueError, RecursionError):
            return [InnerCapture(host, part)]  # whose reader says what is wrong with it
        if _is_known_form(value):
            return [InnerCapture(host, part)]
        return [
            InnerCapture(host, _inner_file(part, path, inner)) for path, inner in _captures_inside(value, ())
        ]
    return [InnerCapture(host, part) for _ in _captures_in_text(part.text, ())]


def _captures_inside(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Captures inside of a value with their keys: objects, or texts that a command printed."""
    if path and _is_lldp(value):
        yield path, value
    elif isinstance(value, str):
        inner = value.lstrip()
        if inner[:1] in ("{", "[") or "\n" in inner:
            yield from _captures_in_text(value, path)
    elif len(path) < DEEPEST and isinstance(value, Mapping):
        for key, one in value.items():
            if key not in REPEATED:
                yield from _captures_inside(one, (*path, key))
    elif len(path) < DEEPEST and isinstance(value, list):
        for k, one in enumerate(value):
            yield from _captures_inside(one, (*path, k))


def _captures_in_text(text: str, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The text itself, where a reader of LLDP captures knows it."""
    from tdsl.observe.readers import capture_readers

    plain = without_terminal(text)
    if plain.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(plain)
        except (ValueError, RecursionError):
            return
        yield from [(path, plain)] if _is_lldp(value) else _capture_in_inner_envelope(value, path)
    elif any(r.recognises(plain) for r in capture_readers().values() if r.OPTION == "lldp"):
        yield path, plain


def _capture_in_inner_envelope(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The capture in an envelope whose text another envelope has; none where it holds several, or names a
    device."""
    found = list(_captures_inside(value, ()))
    if len(found) == 1 and not _device_around(found[0][0]):
        inner = found[0][1]
        yield path, inner if isinstance(inner, str) else json.dumps(inner, indent=1)


def _inner_file(file: SourceFile, path: Sequence[str | int], inner: Any) -> SourceFile:
    """The text of what was in an envelope: of an object at its own lines of the file, of a text by itself."""
    if isinstance(inner, str):
        keys = "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in path)
        return SourceFile(f"{file.name}{keys}", inner)
    start, end = _span_of_value(file.text, path)
    blank = re.sub(r"[^\n]", " ", file.text[:start])
    return SourceFile(file.name, blank + file.text[start:end])


def _span_of_value(text: str, path: Sequence[str | int]) -> tuple[int, int]:
    """Where a value stands in a JSON text that is known to be valid."""
    decoder = json.JSONDecoder()

    def skip(at: int) -> int:
        while text[at] in " \t\n\r,:":
            at += 1
        return at

    at = skip(0)
    for step in path:
        at = skip(at + 1)
        number = 0
        while True:
            key: str | int = number
            if isinstance(step, str):
                key, at = decoder.raw_decode(text, at)
                at = skip(at)
            if key == step:
                break
            at = skip(decoder.raw_decode(text, at)[1])
            number += 1
    return at, decoder.raw_decode(text, at)[1]


def _device_around(path: Sequence[str | int]) -> str:
    """The innermost key around a capture that is no word of an envelope."""
    keys = [k for k in reversed(path) if isinstance(k, str)]
    return next((k for k in keys if k not in ENVELOPE and NAME.fullmatch(k)), "")


def _device_beside(value: Any, path: Sequence[str | int], keys: Sequence[str]) -> str:
    """The device that one of some keys beside a capture names, or beside an envelope around it: the
    innermost."""
    device = ""
    for step in path:
        if isinstance(value, Mapping):
            named = [value[k] for k in keys if isinstance(value.get(k), str)]
            device = next((n for n in named if NAME.fullmatch(n)), device)
        value = value[step]
    return device


def _refusal(value: Any) -> str:
    """What a JSON text is that holds no capture."""
    first = value[0] if isinstance(value, list) and value else value
    keys = list(first) if isinstance(first, Mapping) else []
    if "jsonrpc" in keys or "ins_api" in keys:
        error = first.get("error")
        said = error.get("message") if isinstance(error, Mapping) else None
        what = "an answer of JSON-RPC (eAPI, NX-API)"
        if isinstance(said, str):
            return f"this is {what} that says an error: {' '.join(said.split())[:80]!a}"
    elif {"stdout", "plays", "ansible_facts"} & set(keys):
        what = "a result of Ansible"
    else:
        shown = ", ".join(f"{str(k)[:30]!a}" for k in keys[:4])
        what = f"JSON of no known form ({f'its keys are {shown}' if shown else type(value).__name__})"
    return f"this is {what}, and it holds no LLDP neighbours in a known format"


# ---------------------------------------------------------------- forms


def _is_known_form(value: Any) -> bool:
    """Whether a JSON text is a capture of some format itself, empty or damaged ones included."""
    return _is_lldp(value) or _is_of_other_readers(value)


def _is_of_other_readers(value: Any) -> bool:
    """Whether it has the keys of NetBox, UFM, Batfish or NetQ."""
    rows = value if isinstance(value, list) else [value]
    keys = {k for r in rows[:64] if isinstance(r, Mapping) for k in r}
    if any(isinstance(r, Mapping) and isinstance(r.get("body"), Mapping) and "path" in r for r in rows[:1]):
        return True  # requests of tdsl's to create cables in NetBox
    if {
        "a_terminations",
        "rear_port",
        "rear_ports",
        "source_guid",
        "destination_guid",
        "edges",
        "links",
        "nodes",
        "next",
    } & keys:
        return True
    inner: list[Any] = next(
        (r["results"] for r in rows if isinstance(r, Mapping) and isinstance(r.get("results"), list)), []
    )
    of_netbox = {"a_terminations", "rear_port", "rear_ports"}
    return any(isinstance(r, Mapping) and of_netbox & set(r) for r in inner)


def _is_lldp(value: Any) -> bool:
    """Whether an object has the form of an LLDP capture: of lldpd, EOS, Junos, SONiC, NVUE or NAPALM."""
    if not isinstance(value, Mapping) or not value:
        return False
    if {"lldpNeighbors", "lldp-neighbors-information"} & value.keys() or any(
        str(k).startswith("LLDP_ENTRY_TABLE") for k in value
    ):
        return True
    top = value.get("lldp")
    if "lldp" in value and any(
        not one or (isinstance(one, Mapping) and "interface" in one)
        for one in (top if isinstance(top, list) else [top])
    ):
        return True
    return _has_neighbours_by_port(value)


def _has_neighbours_by_port(value: Mapping[str, Any]) -> bool:
    """Whether an object has ports with their neighbours: NVUE's, or NAPALM's."""
    for facts in value.values():
        inner = facts.get("lldp") if isinstance(facts, Mapping) else None
        if isinstance(inner, Mapping) and "neighbor" in inner:
            return True
    lists = [x for x in value.values() if isinstance(x, list)]
    return len(lists) == len(value) and any(
        isinstance(one, Mapping) and ("remote_system_name" in one or {"hostname", "port"} <= set(one))
        for x in lists
        for one in x
    )
