"""One file a format of captures, found by being there.

A module has ``FORMAT`` (its name), ``OPTION`` (the option of ``tdsl audit`` that takes it, or ``import`` for
designs in other languages, which ``tdsl import`` alone takes),
``recognises(head)`` on the first characters of a file, and ``read(file, stem, into)``, which adds to an
``Observed``. ``stem`` is the name of the file without its ending, which names the device where the format
itself does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from tdsl.findings.source import SourceFile
from tdsl.observe.record import Observed


class Reader(Protocol):
    """A module of this package that reads one format."""

    FORMAT: str
    OPTION: str

    def recognises(self, head: str) -> bool:
        """Whether a text that begins so is of this format."""
        ...

    def read(self, file: SourceFile, stem: str, into: Observed) -> None:
        """Add what a capture says. Raises Malformed where nothing more can be read."""
        ...


@cache
def capture_readers() -> Mapping[str, Reader]:
    """Readers by the name of their format."""
    found = {}
    for module in iter_modules(__path__):
        if not module.name.startswith("_"):
            made = cast(Reader, import_module(f"{__name__}.{module.name}"))
            found[made.FORMAT] = made
    return dict(sorted(found.items()))
