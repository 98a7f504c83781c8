"""A drawing of a fabric: tiers as rows, equivalent devices as boxes, group instances as frames, links between
boxes as one line.

How much is distinguished depends on how much there is: single devices in a small fabric, then the members of
each group together, then whole declarations. The finest level that a page holds is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from math import ceil, hypot, inf, log2, prod
from typing import Any, Protocol

import numpy as np

from tdsl.drawing.glyphs import GlyphLinks, LinkedPair, glyph_of_shape, tray_glyph
from tdsl.drawing.rails import RAIL_COLOURS, DrawnRails, Line, drawn_rails
from tdsl.drawing.records import Box, Caption, Frame, Glyph, Picture, Sketch, SketchEdge, SketchNode, Wire
from tdsl.drawing.shapes import shapes_of_declarations
from tdsl.fabric.columns import DeviceColumns
from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.layers import scaleup_only_devices
from tdsl.fabric.order import distinct_values
from tdsl.semantics.model import DeviceSet, indices_at_position
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

BOXES_A_ROW, WIRES_A_PAGE = 12, 72
APART = 4  # instances of a group that are drawn side by side; more are one frame: plane × 8
SKETCH_NODES, SKETCH_EDGES = 120, 360  # what graphviz draws so that a person can still follow its lines
STAYS, REMOVED, ADDED = 0, 1, 2
"""What becomes of a device or link in the drawing of a change."""
CHANGE_COLOURS = ("#9aa5b1", "#c62828", "#1a7f37")
"""Of links that stay, are removed and are added."""
COLOURS = ("#0b62a4", "#b3541e", "#2e7d4f", "#7a4aa0", "#a32a4b", "#5b6770", "#8a6d00", "#00757f")
"""Of classes of links where no rails are told apart."""
BOX_HEIGHT, GAP, FRAME_PAD, ROW_GAP, MARGIN, LEFT = 58.0, 22.0, 14.0, 150.0, 28.0, 108.0
TOP = 1e9  # the row of what has no tier and is cabled to nothing that has one; optical switches are above
STRAND = 26.0  # between lines of several classes that join the same two boxes
RAIL, RIBBON = 4.5, 44.0  # between rails that join the same two boxes, and the most that all of them take
MOST_LINKS_INSIDE = 20_000  # of a declaration, of which pairs are drawn one by one
LETTER = 7.6  # the widest a letter of the drawn size is on average, in generic sans-serif fonts
SMALL = 6.4


class CountedClass(Protocol):
    """A link class and how many links are of it; ``rate_gbps`` is "" where they differ in rate."""

    @property
    def name(self) -> str: ...

    @property
    def links(self) -> int: ...

    @property
    def rate_gbps(self) -> int | float | str: ...


class DrawingNames(Protocol):
    """What a drawing needs besides the fabric: the names of its devices, its link classes, and the rail of
    every link (-1: none)."""

    @property
    def devices(self) -> DeviceColumns: ...

    @property
    def classes(self) -> Sequence[CountedClass]: ...

    @property
    def link_rails(self) -> Ints: ...


@dataclass(slots=True)
class _Cluster:
    """Devices drawn as one box."""

    number: int
    name: str
    set: DeviceSet
    place: str
    tier: int
    level: float  # its row: the tier, or between two for what only passes links on
    devices: int = 0
    planned: int = 0
    inside: int = 0
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    scaleup: bool = False  # it has scale-up links alone, beside a network
    holder: DeviceSet | None = None  # the hosts that these chips are drawn in
    times: int = 1  # instances of the group of which this box shows all
    counts: Sequence[tuple[int, int]] = ()  # devices of its groups' instances, and how many have so many
    removed: int = 0  # devices that only the older of two fabrics has
    added: int = 0  # devices that only the newer one has
    changing: bool = False  # whether this is the drawing of a change
    glyph: Glyph | None = None

    @property
    def height(self) -> float:
        """Of its box."""
        return BOX_HEIGHT + (self.glyph.height + 10 if self.glyph is not None else 0)


@dataclass(slots=True)
class _Plan:
    """Boxes at one level of detail, and the links between them: (low box, high box, class) -> links."""

    clusters: list[_Cluster]
    of_device: Ints
    bundles: dict[Line, int]
    rows: list[list[_Cluster]] = field(default_factory=list)
    palette: Sequence[str] = COLOURS
    rails: DrawnRails = field(default_factory=DrawnRails)


def plan_of_boxes(fabric: Fabric, names: DrawingNames, boxes: int, lines: int, wide: bool) -> _Plan:
    """The finest level with at most so many boxes (in a row if ``wide``, else in all) and bundles."""
    deepest = max((len(s.parts) for s in fabric.sets), default=1)
    for depth in range(deepest, -2, -1):
        if (
            wide
            and 0 < depth < deepest
            and max((_instances_at_depth(s, depth) for s in fabric.sets), default=0) > APART
        ):
            continue
        if depth >= 0 and not _box_count_fits(fabric, boxes, wide, depth, depth == deepest):
            continue
        made = _plan_at_depth(fabric, names, max(depth, 0), depth == deepest)
        widest = max((len(r) for r in made.rows), default=0) if wide else len(made.clusters)
        if depth < 0 or (widest <= boxes and len(made.bundles) <= lines):
            return made
    return _Plan([], np.zeros(0, np.int64), {})


def _box_count_fits(fabric: Fabric, boxes: int, wide: bool, depth: int, single: bool) -> bool:
    """Whether the number of boxes alone does not rule a level out; saves naming every device of a large
    fabric."""
    counts = [s.count if single else _instances_at_depth(s, depth) for s in fabric.sets]
    return (max(counts, default=0) if wide else sum(counts)) <= boxes


def _instances_at_depth(s: DeviceSet, depth: int) -> int:
    """Boxes of a declaration when ``depth`` of its groups are drawn apart."""
    out = 1
    for p in s.parts[:-1][:depth]:
        for axis in p.axes:
            out *= axis.size
    return out


def _plan_at_depth(fabric: Fabric, names: DrawingNames, depth: int, single: bool) -> _Plan:
    clusters: list[_Cluster] = []
    of_device = np.zeros(fabric.device_count, np.int64)
    inner = scaleup_only_devices(fabric)  # drawn below the hosts, the network above
    held = _hosts_drawn_with_chips(fabric) if not single and not depth else set()
    for s in fabric.sets:
        if s.index in held:
            continue
        groups = s.count if single else _instances_at_depth(s, depth)
        size = s.count // groups if groups else 1
        tiers = fabric.tier[s.first : s.first + s.count]
        for g in range(groups):
            rows = slice(s.first + g * size, s.first + (g + 1) * size)
            built = int(fabric.built[rows].sum())
            counts = (
                Counter(fabric.built[rows].reshape(-1, size // max(_folded_times(s), 1)).sum(axis=1).tolist())
                if (not single and not depth and size)
                else Counter()
            )
            holder = s.inside if s.inside is not None and s.inside.index in held else None
            name, place, times = _label_of_group(names, s, (depth, g, rows.start), single, holder)
            tier = int(tiers.max()) if len(tiers) else -1
            if built:
                below = bool(inner[rows].any())
                level = -0.5 - max(tier, 0) if below else float(tier)
                clusters.append(
                    _Cluster(
                        len(clusters),
                        name,
                        s,
                        place,
                        tier,
                        level,
                        built,
                        size,
                        scaleup=below,
                        holder=holder,
                        times=times,
                        counts=counts.most_common() if times > 1 else (),
                    )
                )
                of_device[rows] = len(clusters) - 1
    bundles = _links_between_boxes(fabric, of_device, clusters)
    _give_rows_to_untiered(clusters, bundles)
    return _plan_with_rows(clusters, of_device, bundles)


def _label_of_group(
    names: DrawingNames, s: DeviceSet, at: tuple[int, int, int], single: bool, holder: DeviceSet | None
) -> tuple[str, str, int]:
    """The name of a box, the frame that it is in, and how many instances of the frame's group it shows.
    ``at`` are the depth, the number of the group at that depth, and its first device."""
    depth, g, first = at
    name = str(names.devices.name[first]) if single else _name_at_depth(s, depth, g)
    place = str(names.devices.place[first]) if (single or depth) and len(s.parts) > 1 else ""
    times = 1
    if holder is not None:
        name = holder.name
    elif not single and not depth:
        name, place, times = _folded_group_name(s, name)
    return name, place, times


def _plan_with_rows(clusters: list[_Cluster], of_device: Ints, bundles: dict[Line, int]) -> _Plan:
    """Boxes and links with the boxes of each level in one row, the lowest first."""
    levels = sorted({c.level for c in clusters})
    return _Plan(clusters, of_device, bundles, [[c for c in clusters if c.level == v] for v in levels])


def _hosts_drawn_with_chips(fabric: Fabric) -> set[int]:
    """Declarations of hosts without links, whose chips are drawn in them."""
    linked = np.zeros(fabric.device_count, dtype=np.bool_)
    linked[fabric.device_a] = linked[fabric.device_b] = True
    hosts = {s.inside.index: s.inside for s in fabric.sets if s.inside is not None}
    return {k for k, s in hosts.items() if not bool(linked[s.first : s.first + s.count].any())}


def _folded_times(s: DeviceSet) -> int:
    """Instances of the outermost group of a declaration, 1 of one in no group."""
    return prod(a.size for a in s.parts[0].axes) if len(s.parts) > 1 else 1


def _folded_group_name(s: DeviceSet, name: str) -> tuple[str, str, int]:
    """The name of a whole declaration in a frame for its outermost group, the frame's (``plane × 8``), and
    that number."""
    times = prod(a.size for a in s.parts[0].axes)
    if len(s.parts) < 2 or times < 2:
        return name, "", 1
    inner = list(dict.fromkeys(p.name for p in s.parts[1:]))
    return "-".join(inner), f"{s.parts[0].name} × {times:,}", times


def _add_shape_glyphs(fabric: Fabric, p: _Plan) -> None:
    """Give boxes of whole declarations the drawing of their shape."""
    found = shapes_of_declarations(fabric)
    for c in p.clusters:
        s = c.set
        if c.holder is not None:
            c.glyph = tray_glyph(c.holder.count, s.count // c.holder.count) if c.holder.count <= 40 else None
        elif c.planned == s.count and found[s.index]:
            shape = found[s.index]
            colours = [] if "ring" in shape else _shape_colours(fabric, s, shape, p.palette)
            pairs = [] if "grid" in shape else _linked_pairs(fabric, s, p.palette)
            c.glyph = glyph_of_shape(shape, s.count, GlyphLinks(colours, pairs, [x.size for x in s.axes]))


def _linked_pairs(fabric: Fabric, s: DeviceSet, palette: Sequence[str]) -> list[LinkedPair]:
    """The pairs of a declaration's devices that are linked, by class; none of more than are drawn."""
    inside = (fabric.device_set[fabric.device_a] == s.index) & (fabric.device_set[fabric.device_b] == s.index)
    rows = np.flatnonzero(inside)
    if len(rows) > MOST_LINKS_INSIDE:
        return []
    a, b = fabric.device_a[rows] - s.first, fabric.device_b[rows] - s.first
    keys = np.stack([np.minimum(a, b), np.maximum(a, b), fabric.link_class[rows]])
    found, count = np.unique(keys, axis=1, return_counts=True)
    return [
        LinkedPair(x, y, n, palette[cls % len(palette)])
        for (x, y, cls), n in zip(found.T.tolist(), count.tolist(), strict=True)
    ]


def _shape_colours(
    fabric: Fabric, s: DeviceSet, shape: Mapping[str, Any], palette: Sequence[str]
) -> list[str]:
    """The colour of the class of the links along each dimension of a grid, or between groups."""
    rows = np.flatnonzero(
        (fabric.device_set[fabric.device_a] == s.index) & (fabric.device_set[fabric.device_b] == s.index)
    )
    a, b = fabric.device_a[rows] - s.first, fabric.device_b[rows] - s.first
    if "circle" in shape:
        each = s.count // shape["circle"]
        first = rows[np.argmax(a // each != b // each)]
        return [palette[int(fabric.link_class[first]) % len(palette)]]
    sizes = [x.size for x in s.axes] if shape["axes"] else shape["grid"]
    at, to = np.unravel_index(a, sizes), np.unravel_index(b, sizes)
    moved = [
        np.any([at[k] != to[k] for k in axes], axis=0)
        for axes in shape["axes"] or [[k] for k in range(len(sizes))]
    ]
    return [palette[int(fabric.link_class[rows[np.argmax(m)]]) % len(palette)] for m in moved]


def _give_rows_to_untiered(clusters: list[_Cluster], bundles: dict[Line, int]) -> None:
    """Give what has no tier a row: just above the lowest tier it is cabled to, else on top."""
    lowest = {c.number: inf for c in clusters if c.tier < 0}
    for a, b, _ in bundles:
        for one, other in ((a, b), (b, a)):
            if one in lowest and clusters[other].tier >= 0:
                lowest[one] = min(lowest[one], clusters[other].tier + 0.5)
    for number, level in lowest.items():
        optical = clusters[number].set.kind == "ocs"
        clusters[number].level = level if level < inf or optical else TOP


def _name_at_depth(s: DeviceSet, depth: int, instance: int) -> str:
    """``su0-node``: the groups that are drawn apart with their indices, the others without; a name is said
    once."""
    axes = tuple(a for p in s.parts[:-1][:depth] for a in p.axes)
    at = iter(indices_at_position(instance, axes))
    out = []
    before = ""
    for place, p in enumerate(s.parts):
        index = "-".join(str(next(at)) for _ in p.axes) if place < min(depth, len(s.parts) - 1) else ""
        text = ("" if p.name == before else p.name) + index
        out += [text] if text else []
        before = p.name
    return "-".join(out)


def _links_between_boxes(fabric: Fabric, of_device: Ints, clusters: list[_Cluster]) -> dict[Line, int]:
    """Links between boxes; those inside one are shown in the box. A link through an optical switch is drawn
    to that."""
    rows, low, high = _boxes_of_links(fabric, of_device)
    kind = fabric.link_class[rows]
    code = (low * (len(clusters) + 1) + high) * (len(fabric.classes) + 1) + kind
    out: dict[Line, int] = {}
    for value, count in zip(*(c.tolist() for c in np.unique(code, return_counts=True)), strict=True):
        pair, cls = divmod(value, len(fabric.classes) + 1)
        x, y = divmod(pair, len(clusters) + 1)
        if x == y:
            clusters[x].inside += count
        else:
            out[x, y, cls] = count
    return out


def _boxes_of_links(fabric: Fabric, of_device: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows of links and the two boxes that each is drawn between; twice where it passes an optical switch."""
    via = fabric.link_via_a >= 0
    hop = np.where(via, fabric.link_via_a, fabric.link_b)
    back = np.where(via, fabric.link_via_b, fabric.link_a)
    a = of_device[fabric.port_device[np.concatenate([fabric.link_a, fabric.link_b[via]])]]
    b = of_device[fabric.port_device[np.concatenate([hop, back[via]])]]
    rows = np.concatenate([np.arange(fabric.link_count), np.flatnonzero(via)])
    return rows, np.minimum(a, b), np.maximum(a, b)


# ---------------------------------------------------------------- laying out


def draw_fabric(
    fabric: Fabric, names: DrawingNames, title: str, fates: Ints | None = None, figures: str | None = None
) -> Picture:
    """Boxes, frames and lines with their places on the page. ``fates`` has ``STAYS``, ``REMOVED`` or
    ``ADDED`` for every device of a union of two fabrics, whose classes of links are these three; None for one
    fabric. ``figures`` is the line below the title, None for the counts of the fabric."""
    p = plan_of_boxes(fabric, names, BOXES_A_ROW, WIRES_A_PAGE, wide=True)
    if fates is None:
        p.rails = drawn_rails(fabric, names.link_rails, *_boxes_of_links(fabric, p.of_device))
        p.palette = p.rails.palette(len(fabric.classes)) if p.rails.count else COLOURS
        _add_shape_glyphs(fabric, p)
    else:
        p.palette = CHANGE_COLOURS
        _count_changed_devices(fabric, p, fates)
    _set_box_widths(p)
    frames, right = _place_box_columns(p)
    figures = figures_below_title(fabric) if figures is None else figures
    classes = _legend_entries(names, p)
    right = max(
        right,
        MARGIN + len(title) * 13.0,
        MARGIN + len(figures) * LETTER,
        *(MARGIN + 30 + len(t) * LETTER for t, _ in classes),
    )
    by_rail = [[entry] for entry in classes if not entry[1]]
    legend = [
        *by_rail,
        *_rows_of_rails(fabric, p, right - MARGIN),
        *([entry] for entry in classes if entry[1]),
    ]
    apart = _width_of_entries([entry for row in legend for entry in row if len(row) > 1])
    top = 108.0
    bottom = top
    for row in reversed(p.rows):
        highest = max(c.height for c in row)
        for c in row:
            c.y = bottom + highest - c.height
        bottom += highest + ROW_GAP
    bottom -= ROW_GAP
    places = [_frame_of_group(p, name) for name in frames]
    legend_top = bottom + (90 if _has_level_wires(p) else 62)
    return Picture(
        round(right + MARGIN, 1),
        round(legend_top + 22 * len(legend) + 12, 1),
        title,
        figures,
        tuple(places),
        tuple(_drawn_box(c) for c in p.clusters),
        tuple(_drawn_bundles(fabric, p)),
        tuple(x for row in p.rows for x in _row_captions(fabric, p, row)),
        tuple(
            Caption(round(MARGIN + apart * k, 1), legend_top + 22 * i, text, colour)
            for i, row in enumerate(legend)
            for k, (text, colour) in enumerate(row)
        ),
    )


def _count_changed_devices(fabric: Fabric, p: _Plan, fates: Ints) -> None:
    """Say of each box how many of its devices come and go, and name what only the older fabric has as it is
    called there."""
    for c in p.clusters:
        mine = (p.of_device == c.number) & fabric.built & (fabric.device_set == c.set.index)
        c.removed, c.added = (int((mine & (fates == fate)).sum()) for fate in (REMOVED, ADDED))
        c.name, c.changing = c.name.replace("'", ""), True


def _set_box_widths(p: _Plan) -> None:
    """Make each box as wide as its texts and its glyph, within reason."""
    for c in p.clusters:
        c.width = max(
            96.0,
            min(272.0, max(len(t) for t in _box_texts(c)) * LETTER + 20),
            c.glyph.width + 24 if c.glyph else 0,
        )


def _row_captions(fabric: Fabric, p: _Plan, row: list[_Cluster]) -> list[Caption]:
    """What a row is, and the greatest ratio of capacity down to capacity up of its switches."""
    y = row[0].y + row[0].height - BOX_HEIGHT / 2 + 4
    out = [Caption(MARGIN, y, _row_word(row))]
    a, b, tier = fabric.device_a, fabric.device_b, fabric.tier
    apart = (tier[a] != tier[b]) & (tier[a] >= 0) & (tier[b] >= 0)
    low, high = np.where(tier[a] < tier[b], a, b)[apart], np.where(tier[a] < tier[b], b, a)[apart]
    rate = fabric.link_rate[apart].astype(np.float64)
    up, down = (np.bincount(x, weights=rate, minlength=fabric.device_count) for x in (low, high))
    mine = np.isin(p.of_device, [c.number for c in row]) & fabric.is_switch & (up > 0) & (down > 0)
    if bool(mine.any()) and p.palette is not CHANGE_COLOURS:
        ratio = float((down[mine] / up[mine]).max())
        out.append(Caption(MARGIN, y + 16, f"ratio {ratio:.2f}".rstrip("0").rstrip(".") + ":1"))
    return out


def _box_texts(c: _Cluster) -> list[str]:
    """Name; how many of what; what else is to be said."""
    if c.holder is not None:
        return [
            c.name,
            f"{c.holder.count:,} × {c.holder.model.name}",
            f"{c.devices:,} × {c.set.model.name} inside",
        ]
    absent = f", {c.planned - c.devices:,} omitted" if c.planned > c.devices and not c.changing else ""
    what = c.set.model.name if c.planned == 1 else f"{c.devices:,} × {c.set.model.name}{absent}"
    if c.times > 1 and c.glyph is None and len(c.counts) > 1:
        each = ", ".join(f"{n:,} in {k:,}" for n, k in c.counts)
        what = f"{c.devices:,} × {c.set.model.name}: {each}"
    elif c.times > 1 and c.glyph is None:
        what = f"{c.planned // c.times:,} × {c.set.model.name} in each, {c.devices:,} in all"
    changed = [f"{n:,} {word}" for n, word in ((c.added, "added"), (c.removed, "removed")) if n]
    return [
        c.name,
        what,
        *([", ".join(changed)] if changed else []),
        *([f"{counted_noun(c.inside, 'link')} inside"] if c.inside else []),
    ]


def _place_box_columns(p: _Plan) -> tuple[list[str], float]:
    """Give every box its x: a column for each group instance, then one for what stands in none; the names of
    the frames."""
    names = list(dict.fromkeys(c.place for c in p.clusters if c.place))
    alone = [[c for c in row if not c.place] for row in p.rows]
    mixed = [row for row, free in zip(p.rows, alone, strict=True) if len(free) < len(row)]
    x = _place_framed_boxes(p, names, LEFT + MARGIN)
    beside = _place_boxes_beside(mixed, x)
    full = max(
        [
            x + beside - LEFT - MARGIN,
            *(_row_width(free) for row, free in zip(p.rows, alone, strict=True) if row not in mixed),
        ]
    )
    used = x - GAP - LEFT - MARGIN if names else full
    for row, free in zip(p.rows, alone, strict=True):
        if row not in mixed:
            _centre_boxes(free, LEFT + MARGIN, max(used, full))
    if names and not beside:
        for c in p.clusters:
            c.x += max(full - used, 0) / 2 if c.place else 0
    return names, LEFT + MARGIN + full


def _place_framed_boxes(p: _Plan, names: list[str], x: float) -> float:
    """Place the boxes of each frame in a column of their own; where the last one ends."""
    for name in names:
        members = [[c for c in row if c.place == name] for row in p.rows]
        width = max(_row_width(m) for m in members) + 2 * FRAME_PAD
        for m in members:
            _centre_boxes(m, x, width)
        x += width + GAP
    return x


def _place_boxes_beside(rows: list[list[_Cluster]], x: float) -> float:
    """Place the boxes that are in no frame of rows with frames; the width that they take."""
    beside = max((_row_width([c for c in row if not c.place]) for row in rows), default=0.0)
    for row in rows:
        _centre_boxes([c for c in row if not c.place], x, beside)
    return beside


def _row_width(row: Sequence[_Cluster]) -> float:
    return sum(c.width for c in row) + GAP * max(len(row) - 1, 0)


def _centre_boxes(row: Sequence[_Cluster], x: float, width: float) -> None:
    """Centre boxes in a stretch."""
    at = x + (width - _row_width(row)) / 2
    for c in row:
        c.x = at
        at += c.width + GAP


def _frame_of_group(p: _Plan, name: str) -> Frame:
    members = [c for c in p.clusters if c.place == name]
    left, right = min(c.x for c in members), max(c.x + c.width for c in members)
    top, bottom = min(c.y for c in members), max(c.y + c.height for c in members)
    pad = FRAME_PAD - 2
    return Frame(
        round(left - pad, 1),
        round(top - pad, 1),
        round(right - left + 2 * pad, 1),
        round(bottom - top + 2 * pad + 18, 1),
        text_cut_to_width(_frame_label(name, members), right - left + 2 * pad - 12, SMALL),
        max(c.times for c in members) > 1,
    )


def _frame_label(name: str, members: Sequence[_Cluster]) -> str:
    """What a frame is called: ``plane × 8`` only where its instances hold equally many devices."""
    if any(len(c.counts) > 1 for c in members):
        return f"{members[0].times:,} {members[0].set.parts[0].name}, not all equal"
    return name.replace("'", "")


def text_cut_to_width(text: str, width: float, letter: float) -> str:
    """A text that fits a width; what does not is replaced by an ellipsis."""
    room = max(int(width / letter), 2)
    return text if len(text) <= room else text[: room - 1] + "…"


def _drawn_box(c: _Cluster) -> Box:
    texts = _box_texts(c)
    lines = tuple(
        text_cut_to_width(t, c.width - 14, LETTER if i == 0 else SMALL) for i, t in enumerate(texts)
    )
    kind = (
        "scaleup"
        if c.scaleup and c.set.kind == "switch"
        else c.set.kind
        if c.set.role in ("", "accelerator")
        else "other"
    )
    if c.removed or c.added:
        kind = "gone" if c.removed == c.devices else "new" if c.added == c.devices else kind
    inner = c.glyph.width if c.glyph is not None else 0.0
    return Box(
        f"n{c.number}",
        round(c.x, 1),
        round(c.y, 1),
        round(c.width, 1),
        round(c.height, 1),
        kind,
        lines,
        ": ".join(texts),
        c.glyph,
        round(c.x + (c.width - inner) / 2, 1),
        round(c.y + BOX_HEIGHT, 1),
    )


def _row_word(row: list[_Cluster]) -> str:
    kinds = {c.set.kind for c in row}
    if row[0].scaleup:
        return "chips" if kinds == {"chip"} else f"scale-up {row[0].tier}" if row[0].tier > 1 else "scale-up"
    if row[0].tier < 0:
        return (
            {"ocs": "OCS", "panel": "panels", "switch": "switches"}.get(kinds.pop(), "")
            if len(kinds) == 1
            else "others"
        )
    return {0: "chips" if kinds == {"chip"} else "hosts"}.get(row[0].tier, f"tier {row[0].tier}")


def figures_below_title(fabric: Fabric) -> str:
    """The line below the title."""
    other = np.isin(fabric.role, ("storage", "manager"))
    kinds = np.where((fabric.kind == "host") & other, "other", fabric.kind)[fabric.built]
    counts = [
        (int((kinds == k).sum()), one, many)
        for k, one, many in (
            ("host", "host", "hosts"),
            ("other", "other host", "other hosts"),
            ("chip", "chip", "chips"),
            ("switch", "switch", "switches"),
            ("ocs", "optical switch", "optical switches"),
            ("panel", "panel", "panels"),
        )
    ]
    cables = len(distinct_values(fabric.cable_group))
    counts += [(fabric.link_count, "link", "links"), (cables, "cable", "cables")]
    return " · ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in counts if n)


def _legend_entries(names: DrawingNames, p: _Plan) -> list[tuple[str, str]]:
    """Of each class of links what it is and its colour, "" where its rails are told apart."""
    out = []
    for i, c in enumerate(names.classes):
        if not c.links:  # cables alone, such as those to an optical switch
            continue
        rate = f" of {c.rate_gbps:,g} Gb/s" if c.rate_gbps != "" else ""
        by_rail = any(r >= 0 for r in p.rails.of_class.get(i, ()))
        colour = "" if by_rail else p.palette[i % len(p.palette)]
        out.append((f"{c.name}: {counted_noun(c.links, 'link')}{rate}", colour))
    return out


def _rows_of_rails(fabric: Fabric, p: _Plan, width: float) -> list[list[tuple[str, str]]]:
    """The rails, as many side by side as a width takes, and last what is in none of a class with rails."""
    links: Counter[int] = Counter()
    alone = []
    for kind, of_rail in p.rails.of_class.items():
        links.update({r: n for r, n in of_rail.items() if r >= 0})
        if -1 in of_rail and len(of_rail) > 1:
            text = f"{fabric.classes[kind]} in no rail: {counted_noun(of_rail[-1], 'link')}"
            alone.append([(text, p.palette[kind % len(p.palette)])])
    rails = [(f"rail {r}: {counted_noun(n, 'link')}", RAIL_COLOURS[r]) for r, n in sorted(links.items())]
    rows = ceil(len(rails) / max(int((width + 26) / _width_of_entries(rails)), 1))
    columns = ceil(len(rails) / max(rows, 1)) or 1
    return [rails[i : i + columns] for i in range(0, len(rails), columns)] + alone


def _width_of_entries(entries: Sequence[tuple[str, str]]) -> float:
    """How far apart entries of a legend begin that stand side by side."""
    return 56 + max((len(text) for text, _ in entries), default=0) * LETTER


# ---------------------------------------------------------------- lines and their numbers


def _has_level_wires(p: _Plan) -> bool:
    return any(p.clusters[a].level == p.clusters[b].level == p.rows[0][0].level for a, b, _ in p.bundles)


def _drawn_bundles(fabric: Fabric, p: _Plan) -> list[Wire]:
    out: list[Wire] = []
    taken: list[tuple[float, float, float, float]] = []
    strands: dict[tuple[int, int], list[int]] = {}
    for a, b, cls in p.bundles:
        strands.setdefault((a, b), []).append(cls)
    for (a, b, cls), links in p.bundles.items():
        x, y = p.clusters[a], p.clusters[b]
        if x.y < y.y:
            x, y = y, x  # x is the lower on the page
        beside = strands[a, b]
        aside = (beside.index(cls) - (len(beside) - 1) / 2) * min(STRAND, 80 / len(beside))
        text = f"{links:,}"
        at = _bundle_curve(x, y, aside)[1]
        spot = next((s for s in at if links > 1 and _is_label_spot_free(s, len(text), taken)), None)
        if spot is not None:
            taken.append(_label_extent(spot, len(text)))
        rails = p.rails.of_line.get((a, b, cls), {-1: links})
        room = RIBBON if len(beside) == 1 else min(STRAND, 80 / len(beside)) - 4
        out += _wires_of_rails(fabric, p, (x, y, cls), rails, aside, min(RAIL, room / len(rails)))
        if spot is not None:
            out[-1] = replace(out[-1], label=text, label_x=round(spot[0], 1), label_y=round(spot[1], 1))
    return out


def _wires_of_rails(
    fabric: Fabric,
    p: _Plan,
    ends: tuple[_Cluster, _Cluster, int],
    of_rail: Mapping[int, int],
    aside: float,
    step: float,
) -> list[Wire]:
    """The lines between a lower and an upper box for links of a class: one for each rail, so far apart
    (``step``)."""
    x, y, cls = ends
    rise = abs(x.y - y.y - y.height)
    across = (x.x + x.width / 2) - (y.x + y.width / 2)
    slant = min(hypot(across, rise) / rise, 3.0) if x.y != y.y and rise else 1.0
    noun = "cable" if {x.set.kind, y.set.kind} & {"ocs", "panel"} else "link"
    out = []
    for k, (rail, links) in enumerate(of_rail.items()):
        away = (k - (len(of_rail) - 1) / 2) * step * slant
        width = min(1.2 + log2(links) * 0.35, 5.0)
        out.append(
            Wire(
                f"n{x.number}",
                f"n{y.number}",
                _bundle_curve(x, y, aside + away)[0],
                RAIL_COLOURS[rail] if rail >= 0 else p.palette[cls % len(p.palette)],
                round(min(width, step * 0.85) if len(of_rail) > 1 else width, 1),
                links,
                noun,
                fabric.classes[cls],
                rail,
            )
        )
    return out


def _bundle_curve(x: _Cluster, y: _Cluster, aside: float) -> tuple[str, list[tuple[float, float]]]:
    """The path from the lower to the upper box, and where on it a number may stand, best first."""
    if x.y == y.y:
        left, right = sorted((x.x + x.width / 2 + aside, y.x + y.width / 2 + aside))
        base = max(x.y + x.height, y.y + y.height)
        low = base + 30 + min(50, (right - left) / 20)
        path = f"M {left:.1f} {base:.1f} C {left:.1f} {low:.1f} {right:.1f} {low:.1f} {right:.1f} {base:.1f}"
        height = base + (low - base) * 0.75
        return path, [(left + (right - left) * t, height + 4) for t in (0.5, 0.4, 0.6, 0.3, 0.7)]
    x0, y0, x1, y1 = x.x + x.width / 2 + aside, x.y, y.x + y.width / 2 + aside, y.y + y.height
    # numbers stand in the clear between two rows only: the lowest gap that the line crosses
    rise = min(ROW_GAP, y0 - y1)
    inner = 1.0 if rise == y0 - y1 else rise / (y0 - y1)
    spots = [
        (x0 + (x1 - x0) * t * inner, y0 - (y0 - y1) * t * inner + 4)
        for t in (0.34, 0.5, 0.42, 0.58, 0.66, 0.26, 0.74)
    ]
    return f"M {x0:.1f} {y0:.1f} L {x1:.1f} {y1:.1f}", spots


def _label_extent(spot: tuple[float, float], letters: int) -> tuple[float, float, float, float]:
    half = letters * SMALL / 2 + 5
    return spot[0] - half, spot[1] - 13, spot[0] + half, spot[1] + 5


def _is_label_spot_free(
    spot: tuple[float, float], letters: int, taken: list[tuple[float, float, float, float]]
) -> bool:
    a = _label_extent(spot, letters)
    return not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in taken)


# ---------------------------------------------------------------- for graph programs


def sketch_of_fabric(fabric: Fabric, names: DrawingNames) -> Sketch:
    """Devices as nodes, or boxes of devices where a layout program would choke on them."""
    p = plan_of_boxes(fabric, names, SKETCH_NODES, SKETCH_EDGES, wide=False)
    nodes = tuple(SketchNode(c.name, "\n".join(_box_texts(c)), c.set.kind, c.place) for c in p.clusters)
    edges = tuple(
        SketchEdge(p.clusters[a].name, p.clusters[b].name, links, fabric.classes[cls])
        for (a, b, cls), links in p.bundles.items()
    )
    return Sketch(nodes, edges, tuple(tuple(c.name for c in row) for row in p.rows))
