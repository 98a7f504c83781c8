"""Which part of the language server answers which request, and the loop that serves an editor."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from lsprotocol import types as lsp

from tdsl.ide import colours, outline
from tdsl.lsp.messages import OneLineFormatter
from tdsl.lsp.server import Refusal, Server
from tdsl.lsp.stream import BoundedStream
from tdsl.system.standard_output import output_descriptor


def serve_editor() -> None:
    """Serve an editor over stdin and stdout until it goes."""
    server = make_language_server()
    server.worker.start()  # it gets ready while the editor says who it is
    server.preload()
    log = logging.StreamHandler()
    log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], Refusal)))
    log.setLevel(logging.WARNING)
    log.setFormatter(OneLineFormatter())
    for name in ("pygls", "asyncio"):
        logging.getLogger(name).addHandler(log)
    try:
        # Copies: they are closed at the end, and what the process has open is not this module's to close.
        server.start_io(
            cast(BinaryIO, BoundedStream(os.fdopen(os.dup(0), "rb"))),
            os.fdopen(os.dup(output_descriptor()), "wb"),
        )
    finally:
        server.worker.stop()


def make_language_server() -> Server:
    """A server that knows what to do with each request."""
    server = Server()

    def request(method: str, options: object = None) -> Callable[[Callable[[Any], Any]], None]:
        """Have requests of a method answered by a function, beside the conversation."""

        def register(work: Callable[[Any], Any]) -> None:
            @server.feature(method, options)
            async def handler(params: Any) -> Any:
                return await server.answer(work, params)

        return register

    @server.feature(lsp.SHUTDOWN)
    def leaving(params: None) -> None:  # no more is said of any file
        for state in server.open.values():
            if state.task is not None:
                state.task.cancel()
        server.open.clear()
        server.worker.drop()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.read(server.workspace.get_text_document(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.read(server.workspace.get_text_document(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.save(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @request(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        state = server.open.get(params.text_document.uri)
        return server.actions(state, params.range) if state else []

    @request(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions())
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        state = server.open.get(params.text_document.uri)
        return server.lenses(state) if state else []

    @request(lsp.TEXT_DOCUMENT_DOCUMENT_LINK, lsp.DocumentLinkOptions())
    def links(params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink]:
        state = server.open.get(params.text_document.uri)
        return server.links(state) if state else []

    @request(lsp.TEXT_DOCUMENT_SELECTION_RANGE)
    def selections(params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange]:
        state = server.open.get(params.text_document.uri)
        return [server.selection(state, at) for at in params.positions[:100]] if state else []

    @request(lsp.WORKSPACE_SYMBOL)
    def declared(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        return server.declared(params.query)

    @request(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        state = server.open.get(params.text_document.uri)
        return server.formatted(state) if state else []

    @request(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        state = server.open.get(params.text_document.uri)
        return [server.symbol(s) for s in outline.declared_symbols(state.body)] if state else []

    @request(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        state = server.open.get(params.text_document.uri)
        comment = lsp.FoldingRangeKind.Comment
        return (
            [
                lsp.FoldingRange(a, b, kind=comment if c else None)
                for a, b, c in outline.foldable_blocks(state.file)
            ]
            if state
            else []
        )

    @request(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        state = server.open.get(params.text_document.uri)
        return server.hover(state, server.offset(state, params.position)) if state else None

    @request(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", ":", " ", "[", "("])
    )
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        state = server.open.get(params.text_document.uri)
        unasked = params.context is not None and params.context.trigger_character == " "
        return server.completion(state, server.offset(state, params.position), unasked) if state else None

    @request(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(["(", ",", "{"]))
    def signature(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        state = server.open.get(params.text_document.uri)
        return server.signature(state, server.offset(state, params.position)) if state else None

    @request(
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        lsp.SemanticTokensLegend(list(colours.TYPES), list(colours.MODIFIERS)),
    )
    def tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        state = server.open.get(params.text_document.uri)
        return server.tokens(state) if state else None

    @request(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        state = server.open.get(params.text_document.uri)
        return server.hints(state, params.range) if state else []

    @request(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        state, path, at = server.asked(params.text_document, params.position)
        return server.definitions(state, path, at) if state else []

    @request(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        state, path, at = server.asked(params.text_document, params.position)
        declared = params.context.include_declaration
        return (
            [server.location(s) for s in server.index(state, fresh=True).references(path, at, declared)]
            if state
            else []
        )

    @request(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        state, path, at = server.asked(params.text_document, params.position)
        write, read = lsp.DocumentHighlightKind.Write, lsp.DocumentHighlightKind.Read
        spans = server.index(state).highlights(path, at) if state else []
        return [lsp.DocumentHighlight(server.range(s), write if declared else read) for s, declared in spans]

    @request(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        state, path, at = server.asked(params.text_document, params.position)
        return server.range(server.renaming(lambda i: [i.renamed(path, at)], state)[0]) if state else None

    @request(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        state, path, at = server.asked(params.text_document, params.position)
        if state is None:
            return None
        changes: dict[str, list[lsp.TextEdit]] = {}
        for span in server.renaming(lambda i: i.edits(path, at, params.new_name), state):
            changes.setdefault(server.uri(span), []).append(lsp.TextEdit(server.range(span), params.new_name))
        return lsp.WorkspaceEdit(changes)

    return server
