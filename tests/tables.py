"""Examples as text beside the tests that read them, in a file of the same name that ends in ``.txt``.

``== NAME`` begins a section. A section is a text, or a table: a row a line, with ``¦`` between its cells.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path


@cache
def sections(test: str) -> dict[str, str]:
    """The sections of the text beside a test, which is given as its ``__file__``."""
    text = Path(test).with_suffix(".txt").read_text(encoding="utf-8")
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SIGNS = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "␣": " "}


def table(test: str, name: str) -> list[tuple[str, ...]]:
    r"""The rows of a section, without empty ones. In a cell ``\n`` is a line end, and ``␣`` a blank where it begins or ends."""
    lines = [line for line in sections(test)[name].split("\n") if line]
    return [tuple(re.sub(r"\\[nrt]|␣", lambda m: SIGNS[m[0]], cell.strip()) for cell in line.split("¦")) for line in lines]
