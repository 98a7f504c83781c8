"""Columns of whole numbers as few bytes: differences, one plane of bytes after another, compressed; a page's
script unpacks them.

The form of a pack: four bytes with the length of the header, the header as JSON in UTF-8, then the columns,
all compressed as one stream (RFC 1950). The header has an entry for each column: ``n`` values; ``width``
bytes a value, 0 where the values are an arithmetic progression of ``start`` and ``step``.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from tdsl.fabric.graph import Ints

LEVEL = 6
"""Of compression: higher ones take twice the time and save a twentieth."""


def pack_columns(header: Mapping[str, Any], columns: Mapping[str, Ints]) -> str:
    """A header and columns of values from -2^31 to 2^31-1 as base64."""
    entries: list[dict[str, object]] = []
    bodies: list[bytes] = []
    for name, values in columns.items():
        entry, body = _packed_column(np.asarray(values, dtype=np.int64))
        entries.append({"name": name, "n": len(values)} | entry)
        bodies.append(body)
    text = json.dumps({**header, "columns": entries}, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )
    squeeze = zlib.compressobj(LEVEL)
    parts = [squeeze.compress(x) for x in (len(text).to_bytes(4, "little"), text, *bodies)]
    return b64encode(b"".join([*parts, squeeze.flush()])).decode("ascii")


def _packed_column(values: Ints) -> tuple[dict[str, object], bytes]:
    """What the header says of a column, and its bytes: the first value and differences, little-endian, plane
    by plane."""
    if not len(values):
        return {"width": 0, "start": 0, "step": 0}, b""
    if int(values.min()) < -(1 << 31) or int(values.max()) >= 1 << 31:
        raise ValueError("a value needs more than 32 bits")
    steps = np.diff(values, prepend=0)
    if len(values) < 3 or bool((steps[1:] == steps[1]).all()):
        step = int(steps[1]) if len(values) > 1 else 0
        return {"width": 0, "start": int(values[0]), "step": step}, b""
    folded = steps.astype(np.int32)  # differences modulo 2^32: their sum in 32 bits is the value again
    width = next(
        w
        for w in (1, 2, 4)
        if w == 4 or (-(1 << (8 * w - 1)) <= int(steps.min()) and int(steps.max()) < 1 << (8 * w - 1))
    )
    planes = folded.astype(f"<i{width}").view(np.uint8).reshape(len(values), width).T
    return {"width": width}, planes.tobytes()
