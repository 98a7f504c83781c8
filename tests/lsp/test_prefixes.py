"""Whatever has been typed so far, the server answers: prefixes of designs of the library, and every question about each."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import converters
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tdsl.lsp.handlers import make_language_server
from tdsl.lsp.server import Refusal
from tests.harness import sampled
from tests.lsp.test_server import DESIGNS, Client, talk

CONVERTER = converters.get_converter()
REFUSING = {(n, Refusal.CODE) for n in (lsp.TEXT_DOCUMENT_RENAME, lsp.TEXT_DOCUMENT_PREPARE_RENAME)}
"""What may be answered by a reason why not."""


def features() -> list[str]:
    """What the server answers about a text: all that it registers, so that nobody forgets one here."""
    known = make_language_server().protocol.fm.features
    return [name for name in known if name.startswith("textDocument/") and not name.startswith("textDocument/did")]


def asked(name: str, uri: str, text: str) -> Any:
    """The question of that name about the end of a text, with whatever else it may hold."""
    at = {"line": text.count("\n"), "character": len(text) - text.rfind("\n") - 1}
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 10_000, "character": 0}}
    context = {"includeDeclaration": True, "diagnostics": [], "triggerKind": 1, "isRetrigger": False}
    words = {"textDocument": {"uri": uri}, "position": at, "positions": [at], "range": everything, "context": context}
    words |= {"options": {"tabSize": 2, "insertSpaces": True}, "newName": "other"}
    return CONVERTER.structure(words, lsp.METHOD_TO_TYPES[name][2])


@pytest.mark.parametrize("first", sampled(range(0, 48, 8), 6))
def test_designs_as_they_are_typed(first: int, tmp_path: Path) -> None:
    """Of designs that leave no count open: a solver that is interrupted while it is made tells of it on stderr."""
    names, answered = features(), set[str]()
    texts = [path.read_text() for path in sorted(DESIGNS.glob("*.fab"))]
    texts = [text for text in texts if not re.search(r"\?|clos|tier|minimize", text)][first::48]
    assert texts

    async def conversation(client: Client) -> None:
        uri = client.uri("a.fab")
        client.write("a.fab", "")
        for text in texts:
            for i in range(1, 7):
                prefix = text[: len(text) * i // 6 + (i % 5 if i < 6 else 0)]
                client.change("a.fab", prefix)
                asking = (client.protocol.send_request_async(n, asked(n, uri, prefix)) for n in names)
                for name, answer in zip(names, await asyncio.gather(*asking, return_exceptions=True), strict=True):
                    if isinstance(answer, BaseException):
                        assert isinstance(answer, JsonRpcException) and (name, answer.code) in REFUSING, (name, answer)
                    elif answer:
                        answered.add(name)

    assert not [m for m in talk(tmp_path, conversation) if "fault of tdsl" in m]
    assert {"textDocument/completion", "textDocument/documentSymbol", "textDocument/foldingRange"} <= answered, answered
