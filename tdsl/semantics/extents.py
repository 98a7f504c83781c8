"""Extents of a declaration become axes."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Fix
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import (
    Dims,
    Value,
    WholeRange,
    integer_if_whole,
    number_in_message,
    text_of,
    type_name,
)
from tdsl.syntax import tree

INDEX_LIMIT = 10**9
"""Greatest index of an extent: sums and products of a few indices fit 64 bits."""


def axes_of(shape: tuple[tree.Extent, ...] | None, scope: Scope, evaluator: Evaluator) -> tuple[Axis, ...]:
    """One axis an extent, or one for each of its dimensions. Raises Fault for what is not an extent."""
    out: list[Axis] = []
    for extent in shape or ():
        out += _axes_of_extent(extent, scope, evaluator)
    return tuple(out)


def _axes_of_extent(extent: tree.Extent, scope: Scope, evaluator: Evaluator) -> list[Axis]:
    value = integer_if_whole(evaluator.evaluate(extent.value, scope))
    if extent.of is not None:
        return [_partly_built_axis(extent, value, evaluator.integer(extent.of, scope))]
    if isinstance(value, Dims):
        for size in value.sizes:
            _require_positive_extent(size, extent)
        return [Axis(0, size) for size in value.sizes]
    if isinstance(value, WholeRange):
        return [_axis_of_range(value, extent)]
    if isinstance(value, bool) or not isinstance(value, int):
        raise _no_extent_fault(value, extent)
    return [Axis(0, _require_positive_extent(value, extent))]


def _axis_of_range(value: WholeRange, extent: tree.Extent) -> Axis:
    if value.high < value.low:
        raise Fault(
            "E0120",
            extent.span,
            f"the range {value} is empty",
            help=f"did you mean {value.high}..{value.low}?",
        )
    if max(-value.low, value.high) > INDEX_LIMIT:
        raise Fault(
            "E0116",
            extent.span,
            f"an index is at most {INDEX_LIMIT:,}, and these go to {number_in_message(value.high)}",
        )
    return Axis(value.low, value.size)


def _no_extent_fault(value: Value, extent: tree.Extent) -> Fault:
    """The fault of a value that is no extent, with what was probably meant."""
    text = extent.span.text
    part = re.fullmatch(r"(\d+)\s*+/\s*+(\d+)", text)
    if part is not None and int(part[1]) < int(part[2]):  # `node[127/128]`, of which 127 are built
        new = f"{part[1]} of {part[2]}"
        fix = Fix(f"write `{new}`", ((extent.span, new),), safe=False)
        message = f"{part[2]} devices of which {part[1]} are built are written with `of`"
        return Fault("E0111", extent.span, message, help=f"write `{new}`", fix=fix)
    help_line = f"`{text.replace('/', '//')}` rounds down" if text.count("/") == 1 else ""
    code = "E0111" if type_name(value) == "ratio" else "E0103"
    shown = f'the string "{value}"' if isinstance(value, str) else text_of(value)
    if re.fullmatch(r"\d+\.\d+", text):
        below = int(text.partition(".")[0])
        help_line = f"write `{below}` or `{below + 1}`"
    if isinstance(value, tuple) and value and re.fullmatch(r"\w+", text):
        help_line = f"write `{text}[0]` for its first element, or `len({text})` for how many it has"
    if isinstance(value, str) and value.strip().isdigit():
        help_line = f"write `{value.strip()}`, without the quotes"
    return Fault(
        code,
        extent.span,
        f"an extent is a whole number, a range or dimensions; this is {shown}",
        help=help_line,
    )


def _partly_built_axis(extent: tree.Extent, built: object, size: int) -> Axis:
    if isinstance(built, bool) or not isinstance(built, int) or not 0 < built <= size:
        raise Fault(
            "E0120",
            extent.span,
            f"`n of m` builds n of m planned ones, so 1 <= n <= m; here n is {text_of(built)} and m {size}",
        )
    return Axis(0, size, built)


def _require_positive_extent(size: int, extent: tree.Extent) -> int:
    if size < 1 and re.fullmatch(r"[0-9]+:[0-9]+", extent.span.text):
        raise Excused  # `[0:7]`, for which there is a finding already
    if size < 1:
        message, help, fix = (
            f"an extent is at least 1; this is {number_in_message(size)}",
            "write `1` or more, or leave the statement out",
            None,
        )
        if ends := re.fullmatch(r"(\d+)\s*-\s*(\d+)", extent.span.text):  # `[0-7]`
            message += f" ({ends[1]} minus {ends[2]})"
            help = f"a range is written `{ends[1]}..{ends[2]}`"
            fix = Fix(f"write `{ends[1]}..{ends[2]}`", ((extent.span, f"{ends[1]}..{ends[2]}"),))
        raise Fault("E0120", extent.span, message, help=help, fix=fix)
    return size
