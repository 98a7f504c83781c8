"""The records of drawings and graphs that templates see: boxes, frames, lines and captions, placed."""

from __future__ import annotations

from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Stroke:
    """Lines of one colour, as an SVG path."""

    path: str
    colour: str
    opacity: float = 0.8
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Glyph:
    """The drawing inside a box: its devices as cells, and lines below them. Paths begin at its upper left
    corner."""

    width: float
    height: float
    cells: str
    strokes: tuple[Stroke, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A drawn set of equivalent devices. ``lines`` are its texts, cut to fit; ``hint`` is the whole.
    ``glyph`` is drawn at (``glyph_x``, ``glyph_y``), None where there is nothing to draw."""

    id: str
    x: float
    y: float
    width: float
    height: float
    kind: str
    lines: tuple[str, ...]
    hint: str
    glyph: Glyph | None = None
    glyph_x: float = 0.0
    glyph_y: float = 0.0


@dataclass(frozen=True, slots=True)
class Frame:
    """A drawn group instance around its boxes, or all instances of a group, one behind the other
    (``stack``)."""

    x: float
    y: float
    width: float
    height: float
    label: str
    stack: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """A drawn bundle of links between two boxes, as an SVG path; of links in rails, those of one ``rail``
    (-1: of none). ``links`` counts them, or the cables to an optical switch or a panel (``noun``).
    ``label`` is the number of all links of the class between the boxes, "" where it would cover another,
    or stands at another rail."""

    a: str
    b: str
    path: str
    colour: str
    stroke: float
    links: int
    noun: str
    link_class: str
    rail: int = -1
    label: str = ""
    label_x: float = 0.0
    label_y: float = 0.0


@dataclass(frozen=True, slots=True)
class Caption:
    """A line of text in a drawing; ``colour`` is that of an entry of the legend, "" of
    other lines."""

    x: float
    y: float
    text: str
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing of the fabric: tiers as rows, groups as frames, bundles of links as lines."""

    width: float
    height: float
    title: str
    figures: str
    frames: tuple[Frame, ...]
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    tiers: tuple[Caption, ...]
    legend: tuple[Caption, ...]


@dataclass(frozen=True, slots=True)
class SketchNode:
    """A node of a graph drawing."""

    id: str
    label: str
    kind: str
    frame: str


@dataclass(frozen=True, slots=True)
class SketchEdge:
    """Links between two nodes of a graph drawing."""

    a: str
    b: str
    links: int
    link_class: str


@dataclass(frozen=True, slots=True)
class Sketch:
    """The fabric as a graph of devices, or of groups where devices would be too many."""

    nodes: tuple[SketchNode, ...]
    edges: tuple[SketchEdge, ...]
    ranks: tuple[tuple[str, ...], ...]
