from __future__ import annotations
from typing import Any
from tdsl.diagnostic import Diagnostic, Diagnostics
from tdsl.source import Span
from tdsl.syntax.scanner import FAULT, Token


def explain(run: Any, i: int, token: Token | None) -> Diagnostic | None:
    if token is not None and token.type == FAULT:
        return token.node
    file = run.file
    span = token.span if token else Span(file, len(file.text), len(file.text))
    return Diagnostic("E0001", f"unexpected {token.text if token else 'end'!r}", span)
