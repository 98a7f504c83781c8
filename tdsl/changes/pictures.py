"""A picture of a change: a fabric before and after, side by side, and under them what a reviewer asks
first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from tdsl.changes.words import change_summary
from tdsl.notebook import fabric_svg

if TYPE_CHECKING:
    from tdsl.changes.model import Changes
    from tdsl.compile.compilation import Design

MARGIN, HEAD, LINE = 28.0, 46.0, 20.0
"""Of the picture, in its units: space around each drawing, the height of its heading, and that of a line
under it."""
LETTER = 7.2
"""Width of a letter of 13 units, on the average."""
NONE = (400.0, 80.0)
"""The place of a drawing that there is not."""
ROOT = re.compile(r'<svg (?=[^>]*\bwidth="([\d.]+)")(?=[^>]*\bheight="([\d.]+)")')


def before_after_svg(changes: Iterable[tuple[Design, Design, Changes]]) -> str:
    """One SVG for all fabrics of a change, one under the other."""
    parts, wide, y = [], 0.0, 0.0
    for before, after, found in changes:
        x, low = 0.0, y
        for word, design in (("before", before), ("after", after)):
            drawn = fabric_svg(design.fabric) if design.fabric is not None else ""
            size = ROOT.match(drawn)
            width, height = (float(size[1]), float(size[2])) if size else NONE
            parts.append(
                _svg_caption(
                    x + MARGIN,
                    y + 30,
                    f"{word}: {Path(design.file).name}",
                    'font-size="15" font-weight="bold"',
                )
            )
            if size:
                parts.append(drawn.replace("<svg ", f'<svg x="{x:.1f}" y="{y + HEAD:.1f}" ', 1).strip())
            else:
                parts.append(
                    _svg_caption(x + MARGIN, y + HEAD + LINE, "this fabric has no drawing", 'font-size="13"')
                )
            x, low = x + width, max(low, y + HEAD + height)
        for line in change_summary(found) if not found.none else ["nothing differs"]:
            for piece in wrap(line, max(20, int((x - 2 * MARGIN) / LETTER))):
                parts.append(_svg_caption(MARGIN, low + LINE, piece, 'font-size="13"'))
                low += LINE
        wide, y = max(wide, x), low + MARGIN
    extent = f'width="{wide:.1f}" height="{y:.1f}" viewBox="0 0 {wide:.1f} {y:.1f}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {extent} font-family="Helvetica, Arial, sans-serif" '
        'role="img">'
    )
    return "\n".join(
        [
            head,
            "<title>before and after</title>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _svg_caption(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="#1b2733" {style}>{escape(words)}</text>'
