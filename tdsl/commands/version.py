"""``tdsl version``."""

from __future__ import annotations

import click

from tdsl import __version__


@click.command("version", epilog="\b\nExample:\n  tdsl version")
def command() -> None:
    """Print the version."""
    click.echo(f"tdsl {__version__}")
