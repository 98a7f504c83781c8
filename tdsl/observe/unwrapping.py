"""Captures as they come: what a terminal, an encoding or a tool put around the output of a command.

Each is taken off so that lines keep their numbers. A tool's envelope around JSON (eAPI's JSON-RPC, a result
of Ansible, a dump with several databases) is opened, and what it holds is read for itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any, NamedTuple

from tdsl.findings.source import SourceFile
from tdsl.observe.record import Malformed, line_at

LINE_ENDS = re.compile("[\x85\u2028\u2029]")
SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()*+][0-9A-Z]|\x1b[=>78DEHMNOZc]"
)
"""What steers a terminal (ECMA-48): colours, places of the cursor, titles of the window."""
PAGER = re.compile(r"\s*(?:-+ ?\(?[Mm]ore(?: ?\d+%)?\)?(?: ?\d+%)? ?-+|--More--|\(END\)|:)\s*")
LOGGED = re.compile(
    r"=[~=]+= PuTTY log [\d.: ]+=[~=]+=\s*|Script (?:started|done) on .*|Script (?:started|done), file is .*"
)
"""What PuTTY and script(1) write before and after a log."""
COMMAND = (
    r"(?:sh|show|nv|lldp\w*|ibnetdiscover|iblinkinfo|ibdiagnet|sudo|cat|more|docker|redis-cli|sonic-db-\w+"
    r"|curl|terminal|enable|exit|logout)\b"
)
USER = r"\[?[\w.-]++@[\w.-]++[^#$>%\"{]{0,80}"
ROLE = r"\{(?:master|backup|linecard|primary|secondary)(?::\w+)?\}"
PROMPT = re.compile(rf"(?:{USER}|[A-Za-z][\w.-]*+(?:\([\w.-]++\))?)[#$>%](?:\s.*|{COMMAND}.*)?|{ROLE}")
"""A prompt with or without a command: ``admin@leaf0:~$ show lldp table``, ``leaf0#show lldp neighbors``; and
the line above it in which Junos says its role in a chassis, ``{master:0}``."""
TYPED = re.compile(
    rf"(?:\[?[\w.-]++@([\w.-]++)[^#$>%\"{{]{{0,80}}|([A-Za-z][\w.-]*+)(?:\([\w.-]++\))?)[#$>%]\s*{COMMAND}.*"
)
"""A prompt with a command, and the name of the device in it."""
NAMED_BY = ("inventory_hostname", "hostname", "host", "device")
"""Keys beside an output under which tools write the device that it is of,"""
NAMED_OFTEN_BY = (*NAMED_BY, "item", "node", "name", "switch")
"""and those that do so where a file has the outputs of several."""
BETWEEN = re.compile(r"[ \t\n\r,:]*+")
"""What stands between the values of JSON."""
AROUND = 8
"""Lines at the begin and the end of a text among which prompts are looked for."""
INDENTED = 256
"""Columns by which what is in an envelope keeps its distance from the left."""
DEEPEST = 12
"""Levels of JSON around a capture."""
MOST_INSIDE = 4096
"""Captures in one file."""
MOST_OUTPUTS = 1 << 13
"""Outputs of commands in one log."""
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


def outputs_of_session(name: str, text: str) -> list[tuple[str, SourceFile]]:
    """The outputs of the commands of a terminal's log with several, each with the name of the device in the
    prompt before it; none where it has less than two. ``name`` is that of the file. Lines keep their numbers.
    Raises Malformed where the log has too many."""
    lines = _lines_without_controls(text)
    typed = [(k, m[1] or m[2]) for k, line in enumerate(lines) if (m := TYPED.fullmatch(line.strip()))]
    if len(typed) < 2:
        return []
    if len(typed) > MOST_OUTPUTS:
        message = f"the log has the outputs of more than {MOST_OUTPUTS:,} commands"
        raise Malformed(typed[MOST_OUTPUTS][0] + 1, message, "write a file a device")
    ends = [*(k for k, _ in typed[1:]), len(lines)]
    return [
        (device, SourceFile(name, without_terminal("\n".join(lines[k + 1 : end])), k + 1))
        for (k, device), end in zip(typed, ends, strict=True)
    ]


def _lines_without_controls(text: str) -> list[str]:
    """The lines of a text without what steers a terminal, and what a pager wrote."""
    text = re.sub(r"(?<!\r)\r++\n", "\n", text)
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    if "\x1b" in text:
        text = SEQUENCE.sub("", text)
    lines = text.split("\n")
    for k, line in enumerate(lines):
        if "\x08" in line:
            lines[k] = line = _without_erased(line)
        if "\r" in line:  # what a pager overprints
            lines[k] = next((part for part in reversed(line.split("\r")) if part.strip()), "")
        if ("ore" in line and PAGER.fullmatch(lines[k])) or LOGGED.fullmatch(lines[k]):
            lines[k] = ""
    return lines


def _without_erased(line: str) -> str:
    """A line without the characters that were erased, and what erased them: each backspace takes the one
    before it that is left, and stays where there is none."""
    kept: list[str] = []
    for one in line:
        if one == "\x08" and kept and kept[-1] != "\x08":
            kept.pop()
        else:
            kept.append(one)
    return "".join(kept)


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
    inside = list(islice(_captures_inside(value, ()), MOST_INSIDE + 1))
    if len(inside) > MOST_INSIDE:
        raise Malformed(1, f"the file holds more than {MOST_INSIDE:,} captures", "write a file a device")
    if not inside:
        raise Malformed(1, _refusal(value), "save the output of the command alone, as JSON")
    return _captures_with_devices(value, inside, _inner_files(file, inside))


def _captures_with_devices(
    value: Any, inside: list[tuple[tuple[str | int, ...], Any]], files: list[SourceFile]
) -> list[InnerCapture]:
    """The captures inside of a JSON value with the device that keys around or beside each name."""
    found = [InnerCapture(_device_around(path), one) for (path, _), one in zip(inside, files, strict=True)]
    beside = [
        [_device_beside(value, path, keys) for keys in (NAMED_BY, NAMED_OFTEN_BY)] for path, _ in inside
    ]
    several = len({often for _, often in beside}) > 1
    return [
        one if one.device else one._replace(device=names[several])
        for one, names in zip(found, beside, strict=True)
    ]


def _captures_of_hosts(file: SourceFile) -> list[InnerCapture]:
    """The capture of each host that Ansible printed: ``leaf0 | SUCCESS => {…}``, or ``leaf0 | CHANGED | rc=0
    >>`` and the output."""
    heads = list(AD_HOC.finditer(file.text))
    if len(heads) > MOST_INSIDE:
        message = f"the file has the answers of more than {MOST_INSIDE:,} hosts"
        raise Malformed(line_at(file, heads[MOST_INSIDE].start()), message, "write a file a device")
    out: list[InnerCapture] = []
    for head, end in zip(heads, [*(h.start() for h in heads[1:]), len(file.text)], strict=True):
        host, status = head[1], head[2]
        part = _part_of_file(file, head.end(), end)
        line = line_at(file, head.start())
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
        return [InnerCapture(host, one) for one in _inner_files(part, list(_captures_inside(value, ())))]
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


Step = str | int
Found = tuple[tuple[Step, ...], Any]
"""A capture in an envelope: the keys around it, and the value or the text that it is."""


def _inner_files(file: SourceFile, inside: Sequence[Found]) -> list[SourceFile]:
    """The texts of what was in an envelope: of an object at its own lines of the file, of a text by
    itself."""
    spans = _spans_of_values(file.text, {path for path, inner in inside if not isinstance(inner, str)})
    files = []
    for path, inner in inside:
        if isinstance(inner, str):
            keys = "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in path)
            files.append(SourceFile(f"{file.name}{keys}", inner))
        else:
            files.append(_part_of_file(file, *spans[path]))
    return files


def _part_of_file(file: SourceFile, start: int, end: int) -> SourceFile:
    """A part of a text, at its own lines, and at its own column where that is near the left."""
    line, column = file.position(start)
    left = column - 1 if column <= INDENTED else 0
    return SourceFile(file.name, " " * left + file.text[start:end], line - 1)


def _spans_of_values(text: str, paths: set[tuple[Step, ...]]) -> dict[tuple[Step, ...], tuple[int, int]]:
    """Where values stand in a JSON text that is known to be valid, by their keys; none within another."""
    decode = json.JSONDecoder().raw_decode
    open_paths = {before for path in paths for before in accumulate(((k,) for k in path), initial=())}
    spans: dict[tuple[Step, ...], tuple[int, int]] = {}

    def skip(at: int) -> int:
        found = BETWEEN.match(text, at)
        return found.end() if found else at

    def end_of_value(at: int, path: tuple[Step, ...]) -> int:
        if path not in open_paths or path in spans:
            return decode(text, at)[1]
        if path in paths:
            spans[path] = at, decode(text, at)[1]
            return spans[path][1]
        named, number, at = text[at] == "{", 0, skip(at + 1)
        while text[at] not in "]}":
            key: Step = number
            if named:
                key, at = decode(text, at)
            at = skip(end_of_value(skip(at), (*path, key)))
            number += 1
        return at + 1

    if paths:
        end_of_value(skip(0), ())
    return spans


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
