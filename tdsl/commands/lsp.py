"""``tdsl lsp``: the server that editors talk to."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from tdsl.commands._shared import OK, Wrong


@click.command("lsp", short_help="Serve editors: findings while typing, fixes, hovers and more.")
@click.option(
    "--stdio",
    is_flag=True,
    help="Talk over stdin and stdout; always so, and here since some editors give it.",
)
def command(stdio: bool) -> int:
    """Serve an editor over stdin and stdout by the Language Server Protocol. Editors start it; see
    docs/editor.md.

    \b
    Example, in Neovim:
      vim.lsp.config("tdsl", { cmd = { "tdsl", "lsp" }, filetypes = { "fab" } })
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise Wrong(
            "the language server needs pygls: install tdsl with its extra, `pip install 'tdsl[lsp]'`"
        ) from None
    from tdsl.lsp.handlers import serve_editor

    status = OK
    try:
        serve_editor()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else OK
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the editor has gone
            stream.flush()
    os._exit(status)  # the interpreter would wait for threads that still read a text
