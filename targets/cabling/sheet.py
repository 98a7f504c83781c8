"""The sheet of labels that a browser prints: A4 with 3 x 8 labels of 63.5 mm x 33.9 mm, one for each end of
each leg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from tdsl.emit.qr import qr_matrix, qr_svg_path
from tdsl.emit.quote import FileLeftOut, xml_escaped_text
from tdsl.emit.view import FabricView

HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 0 }}
body {{ margin: 0; font-family: sans-serif; color: #000 }}
.page {{ width: 210mm; height: 297mm; box-sizing: border-box; padding: 12.9mm 7.2mm; page-break-after: always;
  display: grid; grid-template-columns: repeat(3, 63.5mm); grid-auto-rows: 33.9mm; column-gap: 2.5mm }}
.label {{ box-sizing: border-box; padding: 2mm; overflow: hidden;
  display: grid; grid-template-columns: 19mm 1fr; column-gap: 2mm }}
.label svg {{ width: 19mm; height: 19mm }}
.near {{ font-size: 10.5pt; font-weight: bold; line-height: 1.15; overflow-wrap: anywhere }}
.far {{ font-size: 7.5pt; margin-top: 1mm; overflow-wrap: anywhere }}
.id {{ grid-column: 1 / 3; font-size: 6.5pt; align-self: end }}
@media screen {{ .label {{ outline: 0.2mm dashed #bbb }} }}
</style></head><body>
"""


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The sheet, in the order of ``labels.csv``."""
    labels = fabric.labels
    limit = options["sheet_labels"]
    if isinstance(limit, int) and len(labels) > limit:
        raise FileLeftOut(
            f"{len(labels):,} labels are more than the {limit:,} of a sheet; labels.csv has them"
        )
    names = ("cable_id", "leg", "device", "port", "near", "far", "length_m", "qr")
    rows = list(zip(*(labels.column(n) for n in names), strict=True))
    out = [HEAD.format(title=xml_escaped_text(f"{fabric.title}: labels of cables"))]
    for start in range(0, len(rows), 24):
        out.append('<div class="page">\n')
        out += [_label(row) for row in rows[start : start + 24]]
        out.append("</div>\n")
    out.append("</body></html>\n")
    return "".join(out).encode()


def _label(row: Sequence[object]) -> str:
    cable, leg, device, port, near, far, length, code = map(str, row)
    place = (
        ""
        if near.startswith(f"{device}:")
        else f'<div class="far">{xml_escaped_text(device)} {xml_escaped_text(port)}</div>'
    )
    about = " · ".join(x for x in (cable, f"leg {leg}" if leg else "", f"{length} m" if length else "") if x)
    ends = (
        f'<div class="near">{xml_escaped_text(near)}</div>{place}<div class="far">to '
        f"{xml_escaped_text(far)}</div>"
    )
    return (
        f'<div class="label">{_code(code)}<div>{ends}</div><div '
        f'class="id">{xml_escaped_text(about)}</div></div>\n'
    )


@cache
def _code(text: str) -> str:
    """The QR code, with its quiet zone; nothing for a text that no code of this size holds."""
    try:
        m = qr_matrix(text, 0)  # one mask for all: trying eight takes most of the time, and scanners read any
    except ValueError:
        return "<div></div>"
    n = len(m) + 8
    return f'<svg viewBox="-4 -4 {n} {n}" shape-rendering="crispEdges"><path d="{qr_svg_path(m)}"/></svg>'
