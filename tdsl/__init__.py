"""tdsl: a language and compiler for the networks of AI clusters.

``tdsl.check("fabric.fab")`` gives a :class:`Compilation`: the fabrics of the file, what was found and what
was proved. ``tdsl.load`` gives the one fabric of a design, ``tdsl.build`` what targets make of it,
``tdsl.columns`` its tables, ``tdsl.arrays`` its numbers without a copy, ``tdsl.draw`` its drawing;
``tdsl.scenarios`` judges it after many failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tdsl.api import DesignError, arrays, build, check, columns, draw, load, scenarios
    from tdsl.compile.compilation import Compilation
    from tdsl.compile.request import Request as Options
    from tdsl.fabric.graph import Fabric
    from tdsl.findings.diagnostic import Diagnostic

__version__ = "0.1.0"
__all__ = [
    "Compilation",
    "DesignError",
    "Diagnostic",
    "Fabric",
    "Options",
    "__version__",
    "arrays",
    "build",
    "check",
    "columns",
    "draw",
    "load",
    "scenarios",
]

_HOMES = {
    **{
        name: ("tdsl.api", name)
        for name in ("DesignError", "arrays", "build", "check", "columns", "draw", "load", "scenarios")
    },
    "Compilation": ("tdsl.compile.compilation", "Compilation"),
    "Diagnostic": ("tdsl.findings.diagnostic", "Diagnostic"),
    "Fabric": ("tdsl.fabric.graph", "Fabric"),
    "Options": ("tdsl.compile.request", "Request"),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is asked for, so that ``import tdsl`` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tdsl' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
