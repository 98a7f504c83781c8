"""What an editor may send: any bytes, any messages, in any order. The server answers on, and ends when it is told to."""

from __future__ import annotations

import io
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import pytest

from tdsl.lsp.stream import BoundedStream
from tests.lsp.test_server import SMALL

ROOT = Path(__file__).parents[2]


class Editor:
    """A server, and what it sends: answers by their number, and all else."""

    def __init__(self, folder: Path) -> None:
        self.log = (folder / "stderr.txt").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tdsl", "lsp"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log
        )
        self.number = 0
        self.answers: dict[Any, dict[str, Any]] = {}
        self.others: list[dict[str, Any]] = []
        self.heard = Queue[dict[str, Any] | None]()
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            if header.startswith(b"Content-Length: "):
                while out.readline().strip():
                    pass
                self.heard.put(json.loads(out.read(int(header.partition(b":")[2]))))
        self.heard.put(None)

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, body: bytes) -> None:
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def say(self, method: str, params: object = None, **more: object) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode())

    def ask(self, method: str, params: object = None) -> int:
        self.number += 1
        self.say(method, params, id=self.number)
        return self.number

    def answer(self, number: int, seconds: float = 60) -> dict[str, Any]:
        """What was answered to a request; a server that ends, or is silent for so long, fails the test."""
        late = time.monotonic() + seconds
        while number not in self.answers:
            try:
                message = self.heard.get(timeout=max(0.01, late - time.monotonic()))
            except Empty:
                pytest.fail(f"no answer to {number} within {seconds} s")
            assert message is not None, "the server ended"
            if "method" not in message:
                self.answers[message["id"] if not isinstance(message["id"], (list, dict)) else ""] = message
            else:
                self.others.append(message)
        return self.answers[number]

    def begin(self) -> None:
        self.answer(self.ask("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": {}}))
        self.say("initialized", {})

    def open(self, uri: str, text: str) -> None:
        self.say("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "fab", "version": 0, "text": text}})

    def end(self) -> None:
        """`shutdown` is answered, and `exit` ends the process with status 0."""
        assert self.answer(self.ask("shutdown"), 30)["result"] is None
        self.say("exit")
        assert self.process.wait(30) == 0
        self.log.close()


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    """A conversation that has begun; its server does not outlive the test."""
    made = Editor(tmp_path)
    made.begin()
    yield made
    made.process.kill()
    made.process.wait()


PLACE = {"line": 1, "character": 9}
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
AT_A_PLACE = ("hover", "signatureHelp", "definition", "documentHighlight", "prepareRename", "completion", "references", "rename")
MORE: dict[str, dict[str, Any]] = {
    "completion": {"context": {"triggerKind": 1}},
    "references": {"context": {"includeDeclaration": True}},
    "rename": {"newName": "hosts"},
    "formatting": {"options": {"tabSize": 2, "insertSpaces": True}},
    "codeAction": {"range": RANGE, "context": {"diagnostics": []}},
    "inlayHint": {"range": RANGE},
}
ALONE = ("formatting", "documentSymbol", "foldingRange", "codeAction", "semanticTokens/full", "inlayHint")
REQUESTS = {
    f"textDocument/{name}": {"position": PLACE} | MORE.get(name, {}) if name in AT_A_PLACE else MORE.get(name, {})
    for name in (*AT_A_PLACE, *ALONE)
}
"""Questions about a text, with what each holds besides the text."""
ODD: list[Any] = [
    None, True, -1, 2**31, 2**70, 1e308, "", "\0", "\ud800", "a" * 5000, [], {}, [[]], {"a": 1}, "file:///etc/passwd", "file://",
    "untitled:x", {"line": -5, "character": -5}, {"line": 2**40, "character": 2**40}, {"line": 0},
]  # fmt: skip


def _odd(value: Any, chance: random.Random) -> Any:
    """A message with one of its parts exchanged, taken away, or put in."""
    if not isinstance(value, dict) or not value or chance.random() < 0.25:
        return chance.choice(ODD)
    key = chance.choice(list(value))
    out = dict(value)
    if chance.random() < 0.15:
        del out[key]
    else:
        out[key] = _odd(value[key], chance)
    return out


def _noise(chance: random.Random, uri: str) -> bytes:
    """One message as no editor sends it, with its header; what follows can be read again."""
    way = chance.randrange(10)
    method = chance.choice([*REQUESTS, *(f"textDocument/did{x}" for x in ("Open", "Change", "Close")), "$/cancelRequest"])
    params = {"textDocument": {"uri": uri, "version": 2}, **REQUESTS.get(method, {})}
    if method == "textDocument/didOpen":
        params["textDocument"] = {"uri": uri, "languageId": "fab", "version": 0, "text": SMALL[: chance.randrange(len(SMALL))]}
    elif method == "textDocument/didChange":
        params["contentChanges"] = [{"text": SMALL[chance.randrange(len(SMALL)) :]}]
    message: Any = {"jsonrpc": "2.0", "id": chance.choice([10**9, "a", 10**9 + 1]), "method": method, "params": params}
    if method.startswith("textDocument/did") or method.startswith("$"):
        del message["id"]
    if way < 6:
        message = _odd(message, chance)
        if isinstance(message, dict) and message.get("method") in ("exit", "shutdown"):
            message = {}
    body = json.dumps(message).encode()
    if way == 6:
        at = chance.randrange(len(body))
        body = body[:at] + chance.randbytes(3) + body[at + 2 :]
    elif way == 7:
        body = chance.choice([b"[" * 30_000, b"{", b"\xff\xfe", b"9" * 9000, b'"' + b"x" * 70_000, b"[1,2]", b"null", b"\0"])
    elif way == 8:
        length = chance.choice([b"-1", b"x", b"", b"9" * 4000, b"1e3", "٣".encode()])
        return b"Content-Length: " + length + b"\r\n\r\n"
    elif way == 9:
        return chance.choice(
            [b"\r\n", b"X" * 9000 + b"\r\n", b"Content-Type: nonsense\r\n", b"\0\0\n", b"Content-Length: 0\r\n\r\n"]
        )
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_nothing_that_is_sent_ends_the_server(tmp_path: Path, editor: Editor) -> None:
    """300 messages, random and changed ones among sound ones, which are answered; then it ends as it should."""
    chance = random.Random(0)
    uri = (tmp_path / "a.fab").as_uri()
    for turn in range(300):
        editor.raw(_noise(chance, uri))
        if turn % 50 == 49:
            editor.raw(b"\r\n")
            editor.open(uri, SMALL)
            said = editor.answer(editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}}))
            assert [s["name"] for s in said["result"]] == ["f"]
    editor.end()


LARGE = "fabric f {\n" + "".join(f"  let a{i} = {i} + a{max(0, i - 1)}\n" for i in range(2000)) + "}\n"


def test_a_request_that_waits_can_be_cancelled_and_the_end_waits_for_none(tmp_path: Path, editor: Editor) -> None:
    """Forty requests about a large text, and all but the first and the last are cancelled: they are answered so, and it takes the
    time of a few. `shutdown` behind a hundred requests is answered before they are."""
    uri = (tmp_path / "big.fab").as_uri()
    editor.open(uri, LARGE)
    tokens = ("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})
    asked = [editor.ask(*tokens) for _ in range(40)]
    for number in asked[1:-1]:
        editor.say("$/cancelRequest", {"id": number})
    assert len(editor.answer(asked[-1])["result"]["data"]) > 5 * 2000
    codes = [editor.answer(n).get("error", {}).get("code") for n in asked[1:-1]]
    assert codes.count(-32800) >= 30 and set(codes) <= {-32800, None}
    asked = [editor.ask(*tokens) for _ in range(100)]
    editor.end()
    assert sum("error" in editor.answers.get(n, {"error": 0}) for n in asked) > 50


def test_progress_of_a_check_that_is_given_up_is_no_error(tmp_path: Path) -> None:
    """The editor answers `window/workDoneProgress/create` after the text has changed: nothing is sent without a number."""
    editor = Editor(tmp_path)
    try:
        capabilities = {"window": {"workDoneProgress": True}}
        editor.answer(editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities}))
        editor.say("initialized", {})
        uri = (tmp_path / "a.fab").as_uri()
        editor.open(uri, SMALL)
        created = 0
        for version in range(1, 4):
            while not any(m["method"] == "window/workDoneProgress/create" for m in editor.others[created:]):
                editor.answer(editor.ask("textDocument/foldingRange", {"textDocument": {"uri": uri}}))
                time.sleep(0.02)
            asked = [m for m in editor.others[created:] if m["method"] == "window/workDoneProgress/create"]
            created = len(editor.others)
            change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": SMALL + "\n" * version}]}
            editor.say("textDocument/didChange", change)
            editor.answer(editor.ask("textDocument/foldingRange", {"textDocument": {"uri": uri}}))
            for message in asked:
                editor.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode())
        editor.answer(editor.ask("textDocument/foldingRange", {"textDocument": {"uri": uri}}))
        assert None not in editor.answers
    finally:
        editor.process.kill()
        editor.process.wait()


def test_the_first_completion_does_not_wait_for_the_whole_library(tmp_path: Path) -> None:
    """Asked for as soon as the server is there, it comes at once."""
    editor = Editor(tmp_path)
    try:
        editor.begin()
        uri = (tmp_path / "a.fab").as_uri()
        editor.open(uri, "fabric f {\n  host node[4]: \n}\n")
        at = {"line": 1, "character": 16}
        found = editor.answer(editor.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": at}))["result"]
        assert "DGX_H100" in {i["label"] for i in found["items"]}
    finally:
        editor.process.kill()
        editor.process.wait()


def test_the_process_ends_whatever_is_being_read(tmp_path: Path, editor: Editor) -> None:
    """`exit` does not wait for a thread that reads the names of a text for a minute."""
    text = "fabric f {\n" + "".join(f"  let a{i} = [sum(0..1048575) for i in 0..{i}]\n" for i in range(3000)) + "}\n"
    editor.open((tmp_path / "slow.fab").as_uri(), text)
    time.sleep(1)
    begin = time.monotonic()
    editor.end()
    assert time.monotonic() - begin < 20


def _hover(params: object, number: object = 77) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "textDocument/hover", "params": params}).encode()


WRONG = {
    b"[" * 100_000: (None, -32700),
    b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"textDocument/hover","params":{}}': (None, -32700),
    b'{"jsonrpc":"2.0","id":77,"method":"\xff"}': (None, -32700),
    _hover({"textDocument": {"uri": "file:///a.fab"}, "position": {"line": 2**70, "character": 2**70}}): (77, -32602),
    _hover({"textDocument": {"uri": "file:///a.fab"}, "position": {"line": -1, "character": 0}}): (77, -32602),
    _hover({"jsonrpc": "2.0", "id": 5, "method": "exit"}): (77, -32602),
    _hover({}, {"a": 1}): (None, -32600),
    _hover({}, True): (None, -32600),
    b"5": (None, -32600),
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[1]}}': (None, -32600),
}


def test_what_is_no_request_is_answered_so(tmp_path: Path, editor: Editor) -> None:
    """With the number of the request where there is one, by a line on stderr at most, and no traceback."""
    editor.say("$/cancelRequest", {"id": 12345})
    for body, (number, code) in WRONG.items():
        editor.answers.clear()
        editor.send(body)
        assert editor.answer(number)["error"]["code"] == code, body[:80]  # type: ignore[arg-type]
    number = editor.ask("shutdown")
    assert editor.answer(number)["result"] is None
    assert editor.answer(editor.ask("shutdown"))["error"]["code"] == -32600
    editor.say("exit")
    assert editor.process.wait(30) == 0
    log = (tmp_path / "stderr.txt").read_text()
    assert "Traceback" not in log and all(line.startswith("tdsl: ") and len(line) <= 300 for line in log.splitlines()), log


def test_changes_of_what_is_not_open_and_names_that_are_no_uri(tmp_path: Path, editor: Editor) -> None:
    """They are left out with a line on stderr: no window opens over the editor, and what is open, by whatever name, is read."""
    never, broken = (tmp_path / "never.fab").as_uri(), "file://[broken"
    change = [{"text": SMALL}]
    editor.say("textDocument/didChange", {"textDocument": {"uri": never, "version": 2}, "contentChanges": change})
    editor.open(broken, SMALL)
    editor.say("textDocument/didChange", {"textDocument": {"uri": broken, "version": 2}, "contentChanges": change})
    for uri in ((tmp_path / "a b.fab").as_uri(), (tmp_path / "é%.fab").as_uri(), f"{tmp_path.as_uri()}/%61.fab"):
        editor.open(uri, "fabric g {}")
        editor.say("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": change})
        said = editor.answer(editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}}))
        assert [s["name"] for s in said["result"]] == ["f"], uri
    editor.end()
    assert not [m for m in editor.others if m["method"] == "window/showMessage"]
    log = (tmp_path / "stderr.txt").read_text().splitlines()
    left_out = [re.fullmatch(r"tdsl: textDocument/(\w+) is left out: '(.*)' .*", line) for line in log]
    assert [m and m.groups() for m in left_out] == [("didChange", never), ("didOpen", broken), ("didChange", broken)]


@pytest.mark.parametrize(
    "header",
    ["Content-Length: ٥٥", "Content-Length: -5", "Content-Type: x", "Content-Length: 2\r\nContent-Length: 9", "Content-Length: 5",
     "Content-Length: 150", "Content-Length: 99999"],
)  # fmt: skip
def test_a_wrong_header_hides_no_message_behind_it(header: str) -> None:
    """What an editor sends next is read, wherever the wrong length ends."""
    last = _hover({}, 8)
    sent = header.encode() + b"\r\n\r\n" + _hover({}) + b"Content-Length: %d\r\n\r\n" % len(last) + last
    read, bodies = BoundedStream(io.BytesIO(sent)), []
    length = 0
    while line := read.readline():  # as pygls does
        if not length and line.startswith(b"Content-Length: "):
            length = int(line.partition(b":")[2])
        elif length and not line.strip():
            bodies.append(read.read(length))
            length = 0
    assert bodies[-1] == last
