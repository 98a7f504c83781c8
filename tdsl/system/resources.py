"""Finds the folders that travel with tdsl: ``docs``, ``grammar``, ``stdlib`` and ``targets``; and ``tables``,
which only a wheel has."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def packaged_folder(kind: str) -> Path:
    """The folder of that name: inside the installed package, or next to it in a checkout."""
    package = Path(__file__).parent.parent
    packed = package / "_data" / kind
    return packed if packed.is_dir() else package.parent / kind
