"""Messages of JSON-RPC on the standard streams: what is none gets an error, where the library would be
silent."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

LONGEST = 16 << 20
"""Bytes of one message."""
PARSE, REQUEST = -32700, -32600
"""Codes of errors in JSON-RPC 2.0, section 5.1: no JSON, and no valid request."""
END = b"\n"
"""A line that no server writes: the last one."""


def fault_of_message(line: bytes, judge: Callable[[bytes], object]) -> dict[str, Any] | None:
    """The reply to a line that is no message; None where it is one. ``judge`` raises for what the server's
    library does not take."""
    if len(line) > LONGEST:
        return _error_reply(REQUEST, f"the message has more than {LONGEST:,} bytes")
    try:
        message = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return _error_reply(PARSE, "the message is not UTF-8")
    except (ValueError, RecursionError):  # also numbers of more digits than Python reads
        return _error_reply(PARSE, "the message is not JSON that can be read")
    if not isinstance(message, dict):
        return _error_reply(REQUEST, "a message is one JSON object")
    why = _why_no_message(message)
    if not why:
        try:
            judge(line)
        except Exception:
            why = "the message is none of JSON-RPC 2.0"
    return _error_reply(REQUEST, why, _usable_id(message)) if why else None


def _error_reply(code: int, why: str, id: object = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}


def _usable_id(message: dict[str, Any]) -> str | int | None:
    """The id of a message, None where a reply cannot have it."""
    id = message.get("id")
    if isinstance(id, str) and id.isprintable():
        return id
    return id if isinstance(id, int) and not isinstance(id, bool) and abs(id) < 1 << 53 else None


def _why_no_message(message: dict[str, Any]) -> str:
    """Why an object is no message of JSON-RPC 2.0, "" where it may be one."""
    try:
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return "a text of the message has half of a character (a lone surrogate)"
    if message.get("jsonrpc") != "2.0":
        return 'the message lacks "jsonrpc": "2.0"'
    if "id" in message and _usable_id(message) is None:
        return "an id is a text that can be printed, or a whole number below 2^53"
    if not isinstance(message.get("method", ""), str) or not message.keys() & {"method", "result", "error"}:
        return "the message has no method"
    return ""


class _Unanswered:
    """The requests that a server has been given and not answered yet, by their ids."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._changed = threading.Condition()

    def note(self, line: bytes, from_client: bool) -> None:
        """Note a message of the client, or one of the server."""
        try:
            message = json.loads(line)
            called, id = message.get("method"), message.get("id")
            given_up = called == "notifications/cancelled" and message["params"]["requestId"]
        except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
            return
        with self._changed:
            if from_client and called is not None and id is not None:
                self._ids.add(json.dumps(id))
            elif from_client and given_up is not False:
                self._ids.discard(json.dumps(given_up))
            elif not from_client and called is None:
                self._ids.discard(json.dumps(id))
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until all are answered, or these seconds are over."""
        with self._changed:
            self._changed.wait_for(lambda: not self._ids, seconds)

    def give_up(self) -> None:
        """Expect no answers any more."""
        with self._changed:
            self._ids.clear()
            self._changed.notify_all()


def serve_with_messages_judged(
    serve: Callable[[], None], judge: Callable[[bytes], object], patience: float
) -> None:
    """Run a server on descriptors 0 and 1 that gets messages alone; the others are answered here. Where the
    client closes its end, the server has ``patience`` seconds to answer the calls that run.

    The server reads and writes pipes; threads pass lines between them and the standard streams, so that no
    two writers tear a line.
    """
    outer_in, outer_out = os.dup(0), os.dup(1)
    inner_in, to_server = os.pipe()
    from_server, inner_out = os.pipe()
    os.dup2(inner_in, 0)
    os.dup2(inner_out, 1)
    lock = threading.Lock()
    unanswered = _Unanswered()

    def write_whole(to: int, data: bytes) -> None:
        while data:
            data = data[os.write(to, data) :]

    def pass_messages() -> None:
        with suppress(OSError):  # the server or the client has gone
            for line in _lines_of(outer_in):
                fault = fault_of_message(line, judge) if line.strip() else None
                if fault is not None:
                    with lock:
                        write_whole(outer_out, json.dumps(fault).encode() + b"\n")
                elif line.strip():
                    unanswered.note(line, from_client=True)
                    write_whole(to_server, line.rstrip(b"\n") + b"\n")
        unanswered.wait(patience)  # the server drops the calls that run when its end is closed
        os.close(to_server)

    def pass_answers() -> None:
        with suppress(OSError):
            for line in _lines_of(from_server):
                if line == END:
                    return
                with lock:
                    write_whole(outer_out, line)
                unanswered.note(line, from_client=False)
        unanswered.give_up()

    answers = threading.Thread(target=pass_answers, daemon=True)
    threading.Thread(target=pass_messages, daemon=True).start()
    answers.start()
    try:
        serve()
    finally:
        write_whole(inner_out, END)
        answers.join(10)
        os.dup2(outer_in, 0)
        os.dup2(outer_out, 1)


def _lines_of(descriptor: int) -> Iterator[bytes]:
    """Lines with their ends, as they come; of one that is longer than any message, the begin alone."""
    waiting = b""
    long = False
    while data := os.read(descriptor, 1 << 16):
        *whole, waiting = (waiting + data).split(b"\n")
        for line in whole:
            if not long:
                yield line + b"\n"
            long = False
        if len(waiting) > LONGEST:
            if not long:
                yield waiting
            waiting, long = b"", True
    if waiting and not long:
        yield waiting
