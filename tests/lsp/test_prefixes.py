"""Whatever has been typed so far, the server answers: prefixes of the designs of the library, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import converters
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.workspace import Workspace

from tdsl.findings.source import SourceSpan
from tdsl.ide import judge
from tdsl.lsp.handlers import make_language_server
from tdsl.lsp.server import Refusal, Server
from tdsl.system import resources
from tests.lsp.test_server import Client, talk

DESIGNS = sorted((resources.packaged_folder("stdlib") / "designs").glob("*.fab"))
CONVERTER = converters.get_converter()
SHORT = 60
"""A design of so many characters is typed one by one; of a longer one so many prefixes are taken as the next figure says."""
SAMPLE = 2
CONTEXT = {"includeDeclaration": True, "diagnostics": [], "triggerKind": 1, "isRetrigger": False}
REFUSING = {(n, Refusal.CODE) for n in (lsp.TEXT_DOCUMENT_RENAME, lsp.TEXT_DOCUMENT_PREPARE_RENAME)}
"""What may be answered by a reason why not."""
EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 10_000, "character": 0}}


def features(server: Server) -> dict[str, Callable[[Any], Awaitable[Any]]]:
    """What the server answers about a text: all that it registers, so that nobody forgets one here."""
    return {
        name: handler
        for name, handler in server.protocol.fm.features.items()
        if name.startswith("textDocument/") and not name.startswith("textDocument/did")
    }


def asked(name: str, uri: str, position: lsp.Position) -> Any:
    """The question of that name about a place, with whatever else it may hold."""
    at = {"line": position.line, "character": position.character}
    options = {"tabSize": 2, "insertSpaces": True}
    words = {
        "textDocument": {"uri": uri},
        "position": at,
        "positions": [at],
        "range": EVERYTHING,
        "context": CONTEXT,
        "options": options,
    }
    return CONVERTER.structure({**words, "newName": "other"}, lsp.METHOD_TO_TYPES[name][2])


async def answers(server: Server, uri: str, path: Path, text: str) -> set[str]:
    """The kinds of questions about the end of a text that had an answer."""
    state = server.take(uri, str(path), text)
    assert not judge.judge_names(server.question(state)).wrong
    position = server.range(SourceSpan(state.file, len(text), len(text))).end
    found = set()
    for name, handler in features(server).items():
        try:
            if await handler(asked(name, uri, position)):
                found.add(name)
        except Refusal:
            pass
    return found


@pytest.fixture
def server() -> Server:
    made = make_language_server()
    made.protocol._workspace = Workspace(None)
    made.protocol.client_capabilities = lsp.ClientCapabilities()
    return made


def prefixes(text: str) -> list[str]:
    """All prefixes of a short text; of a longer one some, each at another place of a word."""
    if len(text) <= SHORT:
        return [text[:i] for i in range(len(text) + 1)]
    step = len(text) / SAMPLE
    return [text[: round(step * i) + i % 5] for i in range(SAMPLE)] + [text]


def test_every_design_as_it_is_typed(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "a.fab"

    async def everything() -> set[str]:
        found = set[str]()
        for design in DESIGNS[::4]:
            for text in prefixes(design.read_text()):
                found |= await answers(server, path.as_uri(), path, text)
        return found

    found = asyncio.run(everything())
    assert {"textDocument/definition", "textDocument/references", "textDocument/documentHighlight"} <= found
    assert {"textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/rename"} <= found


def test_prefixes_over_stdio(tmp_path: Path) -> None:
    """Thirty prefixes, and every question at the end of each."""
    text = (resources.packaged_folder("stdlib") / "designs" / "dgx_superpod_h100.fab").read_text()
    names = list(features(make_language_server()))

    async def conversation(client: Client) -> None:
        uri = client.uri("a.fab")
        client.write("a.fab", "")
        for i in range(30):
            client.change("a.fab", text[: len(text) * i // 30])
            asking = (client.protocol.send_request_async(n, asked(n, uri, lsp.Position(10_000, 0))) for n in names)
            for name, answer in zip(names, await asyncio.gather(*asking, return_exceptions=True), strict=True):
                if isinstance(answer, BaseException):
                    assert isinstance(answer, JsonRpcException), name
                    assert (name, answer.code) in REFUSING, (name, answer)

    assert not [m for m in talk(tmp_path, conversation) if "fault of tdsl" in m]
