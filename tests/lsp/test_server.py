"""The language server, asked by a real client over stdio."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from tdsl.compile import compiler
from tdsl.system import resources

DESIGNS = resources.packaged_folder("stdlib") / "designs"
WAIT_S = 30
"""Far more than anything here takes."""

SERVE = """
import os, sys
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), 2)
from tdsl.cli import cli
if __name__ == "__main__":
    cli(["lsp", "--stdio"], prog_name="tdsl")
"""


class Client(LanguageClient):
    """An editor that remembers what it is told."""

    def __init__(self, folder: Path) -> None:
        super().__init__("test", "1")
        self.folder = folder
        self.news = asyncio.Queue[lsp.PublishDiagnosticsParams]()
        self.messages: list[str] = []
        self.version = 0
        self.opened: set[str] = set()
        self.left = False

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def told(params: lsp.PublishDiagnosticsParams) -> None:
            if params.uri in self.opened:
                self.news.put_nowait(params)

        @self.feature(lsp.WINDOW_SHOW_MESSAGE)
        def shown(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def document(self, name: str) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri(name))

    def write(self, name: str, text: str) -> None:
        """Open a file with a text that is nowhere saved."""
        self.open(self.uri(name), text)

    def open(self, uri: str, text: str) -> None:
        """Open what has this name."""
        self.opened.add(uri)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "fab", 0, text)))

    def change(self, name: str, text: str) -> None:
        self.version += 1
        whole = [lsp.TextDocumentContentChangeWholeDocument(text)]
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri(name))
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, whole))

    def begin_anew(self, folder: Path) -> None:
        """Close what is open, and forget what was told: another conversation begins, in a folder of its own."""
        for uri in self.opened:
            self.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))
        self.folder, self.news = folder, asyncio.Queue()
        self.opened.clear()
        self.messages.clear()

    async def until(self, wanted: Callable[[list[str | int | None]], bool]) -> list[lsp.Diagnostic]:
        """The first findings whose codes are as wanted."""
        async with asyncio.timeout(WAIT_S):
            while True:
                found = (await self.news.get()).diagnostics
                if wanted([d.code for d in found]):
                    return list(found)


async def started(folder: Path) -> Client:
    """The client of a fresh server, whose stderr is a file of the folder."""
    client = Client(folder)
    await client.start_io(sys.executable, "-c", SERVE, str(folder / "stderr.txt"))
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), process_id=os.getpid()))
    client.initialized(lsp.InitializedParams())
    return client


async def ended(client: Client) -> None:
    """The end of a server that has answered all that it was asked."""
    await client.shutdown_async(None)
    client.exit(None)
    client.left = True


async def stopped(client: Client) -> None:
    """The end of a server, whatever it does."""
    if client._server is not None and client._server.returncode is None and not client.left:
        client._server.kill()
    await asyncio.wait_for(client.stop(), WAIT_S)


def talk(folder: Path, conversation: Callable[[Client], Awaitable[None]]) -> list[str]:
    """Have a conversation with a fresh server. What it said on stderr must be nothing; gives the messages it showed."""

    async def whole() -> list[str]:
        client = await started(folder)
        try:
            await conversation(client)
            await ended(client)
        finally:
            await stopped(client)
        assert "Traceback" not in (folder / "stderr.txt").read_text()
        return client.messages

    return asyncio.run(whole())


SMALL = "fabric f {\n  host node[4]: DGX_H100\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n}\n"
EVERYWHERE = lsp.Range(lsp.Position(0, 0), lsp.Position(10_000, 0))


class Shared:
    """A server for one conversation after another, as an editor has it open all day."""

    def __init__(self, folder: Path) -> None:
        self.runner, self.errors = asyncio.Runner(), folder / "stderr.txt"
        self.client = self.runner.run(started(folder))

    def talk(self, folder: Path, work: Callable[[Client], Awaitable[None]]) -> list[str]:
        """Have a conversation; gives the messages that the server showed."""

        async def whole() -> list[str]:
            self.client.begin_anew(folder)
            await work(self.client)
            return [*self.client.messages]

        shown = self.runner.run(whole())
        assert "Traceback" not in self.errors.read_text()
        return shown

    def close(self) -> None:
        """End the server."""
        try:
            self.runner.run(ended(self.client))
        finally:
            self.runner.run(stopped(self.client))
            self.runner.close()


def conversation(work: Callable[[Client], Awaitable[None]]) -> Callable[[Path, Shared], None]:
    """A test that is a conversation with the server that these tests share, in which it shows no message."""

    def test(tmp_path: Path, shared: Shared) -> None:
        assert shared.talk(tmp_path, work) == []

    test.__doc__ = work.__doc__
    return test


async def compiled(client: Client, name: str = "a.fab") -> list[lsp.InlayHint]:
    """The hints of a file, once there are any."""
    async with asyncio.timeout(WAIT_S):
        params = lsp.InlayHintParams(client.document(name), EVERYWHERE)
        while not (hints := await client.text_document_inlay_hint_async(params)):
            await asyncio.sleep(0.1)
    return list(hints)


def children(process: int | str) -> list[int]:
    """Processes that a process has started and that run."""
    return [int(p) for t in Path(f"/proc/{process}/task").iterdir() for p in (t / "children").read_text().split()]


@conversation
async def test_findings_and_what_is_known(client: Client) -> None:
    name = "a.fab"
    client.write(name, SMALL.replace("QM9700", "QM970"))
    (unknown,) = [d for d in await client.until(lambda codes: "E0102" in codes) if d.code == "E0102"]
    assert unknown.range.start == lsp.Position(2, 18)
    actions = await client.text_document_code_action_async(
        lsp.CodeActionParams(client.document(name), unknown.range, lsp.CodeActionContext([]))
    )
    (action,) = actions or []
    assert isinstance(action, lsp.CodeAction) and action.edit is not None and action.edit.changes is not None
    ((edit,),) = action.edit.changes.values()
    assert (edit.range, edit.new_text) == (unknown.range, "QM9700")
    client.change(name, "# 🙂\n" + SMALL)
    await client.until(lambda codes: not any(str(c).startswith("E01") for c in codes))
    hints = await compiled(client, name)
    assert [(h.position.line, h.position.character, h.label) for h in hints] == [(2, 11, "= 4"), (3, 13, "= 8")]
    hover = await client.text_document_hover_async(lsp.HoverParams(client.document(name), lsp.Position(3, 11)))
    assert hover is not None and isinstance(hover.contents, lsp.MarkupContent)
    assert "8 × QM9700" in hover.contents.value and "488 of 520 ports free" in hover.contents.value
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(client.document(name)))
    assert [(s.name, [c.name for c in s.children]) for s in symbols or []] == [("f", ["node", "leaf"])]
    folds = await client.text_document_folding_range_async(lsp.FoldingRangeParams(client.document(name)))
    assert [(f.start_line, f.end_line) for f in folds or []] == [(1, 4)]
    client.change(name, SMALL.replace("  host", "      host"))
    edits = await client.text_document_formatting_async(
        lsp.DocumentFormattingParams(client.document(name), lsp.FormattingOptions(2, True))
    )
    assert [e.new_text for e in edits or []] == [SMALL]


@conversation
async def test_columns_are_those_of_utf_16(client: Client) -> None:
    client.write("a.fab", 'fabric f "🙂" { host node[2]: NOTHING }\n')
    found = await client.until(lambda codes: "E0102" in codes)
    assert next(d for d in found if d.code == "E0102").range.start == lsp.Position(0, 30)


@conversation
async def test_a_long_check_is_given_up(client: Client) -> None:
    """131 072 GPUs take the better part of a minute; a change of the text does not wait for them."""
    client.write("a.fab", (DESIGNS / "gpu131k.fab").read_text())
    await client.until(lambda codes: True)
    await asyncio.sleep(2)  # it is being proved
    begin = asyncio.get_running_loop().time()
    client.change("a.fab", SMALL.replace("connect", "require edge_redundancy >= 9\n  connect"))
    await client.until(lambda codes: any(str(c).startswith("E04") for c in codes))  # a proof of the new text
    assert asyncio.get_running_loop().time() - begin < 20


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are listed under /proc")
def test_a_process_of_answers_that_is_killed_is_started_again(tmp_path: Path) -> None:
    """Whoever ends the process that compiles, the next change is answered."""

    async def work(client: Client) -> None:
        client.write("a.fab", SMALL)
        await client.until(lambda codes: True)
        ended = children(client._server.pid if client._server is not None else 0)
        assert ended
        for child in ended:
            os.kill(child, signal.SIGKILL)
        client.change("a.fab", SMALL.replace("connect", "require edge_redundancy >= 9\n  connect"))
        await client.until(lambda codes: any(str(c).startswith("E04") for c in codes))

    assert not [m for m in talk(tmp_path, work) if "a change of the text starts it again" not in m]


@pytest.mark.parametrize("name", ["superpod_cluster", "torus3d"])
def test_designs_of_the_library(name: str, tmp_path: Path, shared: Shared) -> None:
    """What the server tells of a design is what `check` tells."""
    path = DESIGNS / f"{name}.fab"
    told = sorted(d.code for d in compiler.compile_and_verify(str(path)).findings)

    async def conversation(client: Client) -> None:
        client.write("a.fab", path.read_text())
        await client.until(lambda codes: sorted(map(str, codes)) == told)
        await compiled(client)

    assert shared.talk(tmp_path, conversation) == []
