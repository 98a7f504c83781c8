"""A picture of a change: one drawing of what two fabrics have, what is removed in red and what is added in
green, and under it what a reviewer asks first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from html import escape
from textwrap import wrap
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from tdsl.changes.union import Union, union_of_fabrics
from tdsl.changes.words import change_summary
from tdsl.drawing.picture import ADDED, REMOVED, STAYS, draw_fabric, figures_below_title
from tdsl.emit.link_tables import Wires
from tdsl.emit.render import jinja_environment
from tdsl.fabric.graph import Fabric, Ints
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.resources import packaged_folder

if TYPE_CHECKING:
    from tdsl.changes.model import Changes
    from tdsl.compile.compilation import Design

MARGIN, LINE = 28.0, 20.0
"""Of the picture, in its units: space around each drawing, and the height of a line under it."""
LETTER = 7.2
"""Width of a letter of 13 units, on the average."""
ROOT = re.compile(r'<svg (?=[^>]*\bwidth="([\d.]+)")(?=[^>]*\bheight="([\d.]+)")')
FATES = ("unchanged", "removed", "added")
"""Classes of links of a change, in the order of ``STAYS``, ``REMOVED`` and ``ADDED``."""


@dataclass(frozen=True, slots=True)
class ChangedFabric:
    """Two fabrics in one: ``fabric`` has the devices and links of both; ``devices`` and ``links`` have for
    each row ``STAYS``, ``REMOVED`` or ``ADDED``."""

    fabric: Fabric
    devices: Ints
    links: Ints


def changed_fabric(before: Fabric, after: Fabric) -> ChangedFabric:
    """Both fabrics in one, with what becomes of each device and link. A device of another model is one that
    goes and one that comes."""
    both = union_of_fabrics(before, after, exchanged=True)
    assert both is not None
    fabric = replace(both.fabric, places=None, spans=())
    links = np.full(fabric.link_count, STAYS, dtype=np.int64)
    links[np.setdiff1d(both.old, both.new)] = REMOVED
    links[np.setdiff1d(both.new, both.old)] = ADDED
    return ChangedFabric(fabric, _fates_of_devices(both, after), links)


def _fates_of_devices(both: Union, after: Fabric) -> Ints:
    """What becomes of each device: what only the old fabric has is behind the rows of the new one, or planned
    and not built there."""
    fates = np.full(both.fabric.device_count, STAYS, dtype=np.int64)
    fates[~both.known_before] = ADDED
    fates[after.device_count :] = REMOVED
    fates[: after.device_count][both.known_before[: after.device_count] & ~after.built] = REMOVED
    return fates


def change_svg(changes: Iterable[tuple[Design, Design, Changes]]) -> str:
    """One SVG for all fabrics of a change, one under the other."""
    parts, wide, y = [], 0.0, 0.0
    for before, after, found in changes:
        drawn = _drawing_of_change(before, after)
        size = ROOT.match(drawn)
        assert size is not None
        width, low = float(size[1]), y + float(size[2])
        parts.append(drawn.replace("<svg ", f'<svg x="0" y="{y:.1f}" ', 1).strip())
        for line in change_summary(found) if not found.none else ["nothing differs"]:
            for piece in wrap(line, max(20, int((width - 2 * MARGIN) / LETTER))):
                parts.append(_svg_caption(MARGIN, low + LINE, piece, 'font-size="13"'))
                low += LINE
        wide, y = max(wide, width), low + MARGIN
    extent = f'width="{wide:.1f}" height="{y:.1f}" viewBox="0 0 {wide:.1f} {y:.1f}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {extent} font-family="Helvetica, Arial, sans-serif" '
        'role="img">'
    )
    return "\n".join(
        [
            head,
            "<title>what changes</title>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _drawing_of_change(before: Design, after: Design) -> str:
    """The drawing of both fabrics in one, as the target ``diagram`` draws one."""
    assert before.fabric is not None and after.fabric is not None
    both = changed_fabric(before.fabric, after.fabric)
    count = np.bincount(both.links, minlength=len(FATES))
    fabric = replace(both.fabric, classes=FATES, link_class=both.links)
    title = f"{after.fabric.title or after.name}: {count[ADDED]:,} links added, {count[REMOVED]:,} removed"
    figures = f"before: {figures_below_title(before.fabric)}; after: {figures_below_title(after.fabric)}"
    page = draw_fabric(fabric, Wires(fabric), title, both.devices, figures)
    template = jinja_environment(packaged_folder("targets") / "diagram" / "templates").get_template(
        "fabric.svg.j2"
    )
    return template.render(fabric=SimpleNamespace(picture=page))


def _svg_caption(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="#1b2733" {style}>{escape(words)}</text>'
