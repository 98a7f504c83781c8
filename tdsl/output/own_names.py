"""Names that a build gives in an output folder and beside it, for its own time."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from tdsl.system.replace import unique_name_part

LONGEST_NAME = 200
"""Bytes of a folder's name that names beside it begin with; file systems take 255 in all."""
PRIVATE = ".tdsl-"
"""How names begin that are tdsl's own for the time of a build; others may have such names, too."""
_OWN = re.compile(rf"{re.escape(PRIVATE)}(?:lock|(?:new|ready)-[0-9a-f]{{12}})")


def is_build_name(name: str) -> bool:
    """Whether a name in an output folder is one that tdsl gives for the time of a build."""
    return _OWN.fullmatch(name) is not None


def unique_sibling_path(out: Path, what: str) -> Path:
    """A name beside ``out`` that nobody else has, hidden."""
    return hidden_sibling_path(out, f"{what}-{unique_name_part()}")


def hidden_sibling_path(out: Path, what: str) -> Path:
    """A hidden name beside ``out``; that of a folder whose own name is almost too long begins with a part and
    a hash of it."""
    name = os.fsencode(out.name)
    if len(name) <= LONGEST_NAME:
        return out.with_name(f".{out.name}{PRIVATE}{what}")
    return out.with_name(
        f".{name[:100].decode(errors='ignore')}-{sha256(name).hexdigest()[:16]}{PRIVATE}{what}"
    )


def is_build_sibling(name: str) -> bool:
    """Whether a name is one that tdsl gives to a file or folder beside an output folder."""
    return (
        re.fullmatch(rf"\..+{re.escape(PRIVATE)}(?:lock|(?:new|old)-[0-9a-f]{{12}})", name, re.DOTALL)
        is not None
    )
