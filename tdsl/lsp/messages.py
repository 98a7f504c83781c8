"""Messages of the language server as they come in: what is no request is answered so, and stderr has a line
for each.

Codes of errors: https://www.jsonrpc.org/specification, section 5.1.
"""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol.types import TEXT_DOCUMENT_DID_CHANGE, TEXT_DOCUMENT_DID_OPEN
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from tdsl.report.paint import terminal_safe_text

log = logging.getLogger("pygls.tdsl")  # goes where that of pygls goes
LONGEST_LINE = 300
"""Characters of a line on stderr."""


class Messages(LanguageServerProtocol):
    """The protocol of pygls, which leaves requests unanswered that have a known method and parameters of
    another form."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Leave each object of a message as it is: which of them is the message is known when all are
        read."""
        return data

    def handle_message(self, message: Any) -> None:
        """Have a message answered; one that is none, or has parameters of another form, with an error."""
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self.refuse(None, JsonRpcInvalidRequest())
            return
        number, asked = message.get("id"), "id" in message and "method" in message
        if asked and (isinstance(number, bool) or not isinstance(number, (int, str))):
            self.refuse(None, JsonRpcInvalidRequest())
            return
        if self._shutdown and asked:
            self.refuse(number, JsonRpcInvalidRequest())
            return
        try:
            read = super().structure_message(message)
        except JsonRpcException:
            if asked:
                self.refuse(number, JsonRpcInvalidParams())
            return
        if why := self.unknown(read):
            log.warning("%s is left out: %s", message["method"], why)
            return
        super().handle_message(read)

    def unknown(self, message: Any) -> str:
        """Why a message about the text of a document has none to be about; empty where it has, and for all
        other messages."""
        if getattr(message, "method", None) not in (TEXT_DOCUMENT_DID_OPEN, TEXT_DOCUMENT_DID_CHANGE):
            return ""
        uri = message.params.text_document.uri
        try:
            to_fs_path(uri)
        except ValueError as wrong:
            return f"{uri!r} cannot be read as a URI ({wrong})"
        closed = message.method == TEXT_DOCUMENT_DID_CHANGE and uri not in {
            d.uri for d in self.workspace.text_documents.values()
        }
        return f"{uri!r} was not opened" if closed else ""

    def refuse(self, number: int | str | None, why: JsonRpcException) -> None:
        """Answer with an error; no number where it cannot be known."""
        error = why.to_response_error()
        self._send_data(
            {"jsonrpc": self.VERSION, "id": number, "error": {"code": error.code, "message": error.message}}
        )

    def unread(self, error: Exception) -> None:
        """Answer to bytes that are no JSON, or no message."""
        self.refuse(
            None,
            JsonRpcParseError()
            if isinstance(error, (ValueError, RecursionError))
            else JsonRpcInvalidRequest(),
        )


class Answering(LanguageServer):
    """A server that answers what it cannot read."""

    def __init__(self, name: str, version: str, **more: Any) -> None:
        super().__init__(name, version, protocol_cls=Messages, **more)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Answer to what could not be read; tell the editor of faults that it gets no answer about."""
        if source is JsonRpcException and isinstance(self.protocol, Messages):
            self.protocol.unread(error)
        else:
            super().report_server_error(error, source)


class OneLineFormatter(logging.Formatter):
    """A record as one short line without control characters. What a fault was is in it; its traceback is in
    the answer."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        first = record.getMessage().partition("\n")[0]
        error = record.exc_info[1] if record.exc_info else None
        why = f": {type(error).__name__}: {error}" if error is not None else ""
        return terminal_safe_text(" ".join(f"tdsl: {first}{why}"[:LONGEST_LINE].split()))
