"""QR codes of short texts, as matrices and as paths of an SVG; ``segno`` makes them."""

from __future__ import annotations

import numpy as np
import segno
from numpy.typing import NDArray

Matrix = NDArray[np.int8]


def qr_matrix(text: str, mask: int | None = None) -> Matrix:
    """The modules of a code, 1 for dark, without the quiet zone of four modules around it: error correction
    level M. ``mask`` is chosen by the standard's penalty if it is None. Raises ValueError for a text that is
    too long."""
    made = segno.make_qr(text, error="m", mask=mask, boost_error=False, encoding="utf-8")
    return np.array(made.matrix, dtype=np.int8)


def qr_svg_path(m: Matrix) -> str:
    """The dark modules as the path of an SVG, one unit each."""
    out = []
    for r, row in enumerate(m):
        edges = np.flatnonzero(np.diff(np.r_[0, row, 0]))
        out += [
            f"M{a} {r}h{b - a}v1h-{b - a}z"
            for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        ]
    return "".join(out)
