"""tdsl from programs: what a design proves, what is built of it, and its tables as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING

from tdsl.compile.compilation import Compilation, Design
from tdsl.compile.request import Request
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tdsl.fabric.failed import FailedElements
    from tdsl.fabric.graph import Fabric
    from tdsl.notebook import NotebookDrawing
    from tdsl.verify.scenarios import ScenarioOutcome

TABLES = ("devices", "links", "cables")
ARRAYS: Mapping[str, Mapping[str, str]] = {
    "devices": {
        "set": "device_set", "model": "device_model", "built": "built", "tier": "tier", "plane": "plane",
        "container": "container",
    },
    "ports": {"device": "port_device", "state": "port_state", "link": "port_link"},
    "links": {
        "a_port": "link_a", "b_port": "link_b", "a_device": "device_a", "b_device": "device_b",
        "rate_bps": "link_rate", "class": "link_class", "medium": "link_medium",
        "statement": "link_statement", "bundle": "link_bundle",
    },
    "cables": {
        "a_port": "cable_a", "b_port": "cable_b", "cable": "cable_group", "leg": "cable_leg",
        "links": "cable_links", "class": "cable_class", "statement": "cable_statement",
    },
}  # fmt: skip
"""Table -> column -> the attribute of ``Fabric`` that it is."""


class DesignError(Exception):
    """A design has errors; ``findings`` are all of its findings."""

    def __init__(self, findings: Sequence[Diagnostic]) -> None:
        errors = [f"{d.code}: {d.message}" for d in findings if d.severity is Severity.ERROR]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}" if errors else "the design has errors")
        self.findings = tuple(findings)


def check(source: str | PathLike[str], options: Request | None = None, **parameters: object) -> Compilation:
    """A design checked as `tdsl check` does: ``source`` is a file or the name of a design of the library,
    ``parameters`` are values of its parameters. What is wrong is among the findings. Raises
    ``tdsl.compile.compilation.UsageError`` for an absent file or parameter."""
    from tdsl.compile import compiler

    options = options or Request()
    given = tuple((name, str(value)) for name, value in parameters.items())
    return compiler.compile_and_verify(fspath(source), replace(options, set=(*options.set, *given))).seal()


def scenarios(
    source: str | PathLike[str] | Compilation,
    failures: Iterable[Iterable[str] | FailedElements],
    **parameters: object,
) -> Iterator[ScenarioOutcome]:
    """The one fabric of a design judged after each of many failures: what becomes of every requirement. A
    failure is a list of elements as `check --fail` takes them, or what ``Fabric.without`` gives; they are
    read as needed, and outcomes come in their order. Raises DesignError if the design has errors, ValueError
    for several fabrics or an element that is not there."""
    from tdsl.compile import compiler
    from tdsl.fabric.failed import FailedElements
    from tdsl.verify.scenarios import outcomes_of_failures as judged

    if isinstance(source, Compilation):
        compilation = source
    else:
        compilation = compiler.compile_without_checks(
            fspath(source), Request(set=tuple((k, str(v)) for k, v in parameters.items()))
        )
    design = _only_design(compilation)
    assert design.fabric is not None and design.failing is not None

    def meant(failure: Iterable[str] | FailedElements) -> FailedElements:
        if isinstance(failure, FailedElements):
            return failure
        assert design.failing is not None
        found, absent = design.failing.fail(failure)
        for why in absent.values():
            raise ValueError(why)
        return found

    yield from judged(design.fabric, design.claims, map(meant, failures))


def _only_design(compilation: Compilation) -> Design:
    """The design of a file without errors and with one fabric. Raises DesignError or ValueError."""
    if any(d.severity is Severity.ERROR for d in compilation.findings):
        raise DesignError(compilation.findings)
    if len(compilation.designs) != 1 or compilation.designs[0].fabric is None:
        names = ", ".join(d.name for d in compilation.designs)
        raise ValueError(f"{compilation.file} has several fabrics or phases ({names}); use tdsl.check")
    return compilation.designs[0]


def load(source: str | PathLike[str], **parameters: object) -> Fabric:
    """The one fabric of a design. Raises DesignError if it has errors, ValueError if the file has several
    fabrics or phases."""
    fabric = _only_design(check(source, None, **parameters)).fabric
    assert fabric is not None
    return fabric


def build(fabric: Fabric, targets: Iterable[str] = ()) -> dict[str, bytes]:
    """What targets make of a fabric, all that apply if none is named: contents of files by their path.
    Nothing is written. Raises DesignError where a target cannot build it."""
    from tdsl.emit.build import build_files as make

    found = Diagnostics()
    files = make(fabric, list(targets), found)
    if found.has_errors:
        raise DesignError(found.items)
    return files


def draw(fabric: Fabric) -> NotebookDrawing:
    """The drawing of a fabric, as the target ``diagram`` makes it: the text of an SVG, which notebooks show
    as a picture."""
    from tdsl.notebook import NotebookDrawing, fabric_svg

    return NotebookDrawing(fabric_svg(fabric))


def columns(fabric: Fabric, table: str) -> Mapping[str, Sequence[object]]:
    """A table of a fabric by column, as templates see it: ``devices``, ``links`` or ``cables``.
    ``pandas.DataFrame`` and ``pyarrow.table`` take it as it is: the values of a column have one type, or are
    None. Raises ValueError for another name."""
    from tdsl.emit.view import FabricView

    if table not in TABLES:
        raise ValueError(f"there is no table {table!r}: {', '.join(TABLES)}")
    rows = getattr(FabricView(fabric, Diagnostics()), table)
    return {name: _column_of_one_type(rows.column(name)) for name in rows.names}


def _column_of_one_type(values: Sequence[object]) -> Sequence[object]:
    """A column as libraries of tables take it: what is empty among numbers is None, and numbers among words
    are text."""
    if len({type(x) for x in values}) < 2:
        return values
    some = [None if x == "" else x for x in values]
    if any(isinstance(x, str) for x in some):
        return [str(x) for x in values]
    return some


def arrays(fabric: Fabric, table: str) -> dict[str, NDArray[np.generic]]:
    """The numbers of ``devices``, ``ports``, ``links`` or ``cables`` by column: arrays that share memory with
    the fabric and cannot be written. Rows of devices and ports are those that ``Fabric.device_name`` and
    ``Fabric.port_path`` take; a class is an index into ``Fabric.classes``, a model into ``Fabric.models``; -1
    is none. Raises ValueError for another name."""
    if table not in ARRAYS:
        raise ValueError(f"there is no table {table!r}: {', '.join(ARRAYS)}")
    out = {}
    for name, attribute in ARRAYS[table].items():
        column = getattr(fabric, attribute).view()
        column.flags.writeable = False
        out[name] = column
    return out
