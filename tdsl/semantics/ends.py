"""Ends: the ports of hosts that an intent joins, host by host, and how a statement writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import prod

from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import Axis, DeviceModel, PortClass
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class EndSet:
    """Ports of one class of the devices of one declaration. ``parts`` are the names on the way and the axes
    of each."""

    parts: tuple[tuple[str, tuple[Axis, ...]], ...]
    model: DeviceModel
    ports: PortClass
    span: SourceSpan
    first: int = 0  # hosts of the sets before

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of its hosts."""
        return tuple(a for _, axes in self.parts for a in axes)

    @property
    def hosts(self) -> int:
        """Hosts, planned ones included."""
        return prod(a.size for a in self.axes)

    def host_name(self, host: int) -> str:
        """The path of a host by its number among those of the set."""
        indices: list[int] = []
        for axis in reversed(self.axes):
            host, index = divmod(host, axis.size)
            indices.insert(0, axis.low + index)
        left = iter(indices)
        return ".".join(name + _index_text([next(left) for _ in axes]) for name, axes in self.parts)

    def per_host(self, ends: HostEnds) -> int:
        """Ends of one host in one plane, and in one rail where each has a tree of its own."""
        return self.ports.size // ends.trees


@dataclass(frozen=True, slots=True)
class IndexedEndPath:
    """The path of all ends of a set with an index variable a dimension, and expressions of these
    variables."""

    path: str
    hosts: tuple[str, ...]
    rail: str
    plane: str
    flat: str  # which end of its host in its plane, counted row-major
    inner: str  # the same among the ends of its first index, "" if there is one


@dataclass(frozen=True, slots=True)
class HostEnds:
    """All ends of a fabric. ``rails`` and ``planes`` are 0 where the intent says none."""

    sets: tuple[EndSet, ...]
    span: SourceSpan
    rails: int = 0
    planes: int = 0
    rails_span: SourceSpan | None = None
    tree_of_each_rail: bool = False  # whether no switch serves two rails

    @property
    def trees(self) -> int:
        """Networks of which none meets another: planes, and rails that have a tree each."""
        return max(1, self.planes) * (self.rails if self.tree_of_each_rail else 1)

    @property
    def hosts(self) -> int:
        """Hosts of all sets."""
        return sum(s.hosts for s in self.sets)

    @property
    def per_host(self) -> int:
        """Most ends that a host has in one plane."""
        return max(s.per_host(self) for s in self.sets)

    @property
    def rate(self) -> int:
        """Rate of an end: the greatest, 0 for any."""
        return max(s.ports.rate or 0 for s in self.sets)

    def axes_in_plane(self, axes: int) -> slice:
        """Those of so many axes by which an end is counted in its plane, and in its rail where that has a
        tree of its own."""
        first = 1 if self.tree_of_each_rail and axes else 0
        return slice(first, axes - 1 if self.planes and axes else axes)

    def variables(self, ends: EndSet, fresh: Callable[[str], str]) -> IndexedEndPath:
        """Names for every dimension of a set, none of which means anything else."""
        hosts = [fresh("h" if len(ends.axes) == 1 else f"h{k}") for k in range(len(ends.axes))]
        axes = ends.ports.axes
        inner = [fresh(name) for name in self.port_index_names(len(axes))]
        left = iter(hosts)
        path = ".".join(name + _index_text([next(left) for _ in own]) for name, own in ends.parts)
        path += f".{ends.ports.name}{_index_text(inner)}"
        shifted = [_counted_from_zero(n, a) for n, a in zip(inner, axes, strict=True)]
        counted = self.axes_in_plane(len(axes))
        in_plane, sizes = shifted[counted], [a.size for a in axes[counted]]
        flat = _row_major_expression(in_plane, sizes) or "0"
        rest = _row_major_expression(in_plane[1:], sizes[1:]) if prod(sizes[1:]) > 1 else ""
        rail, plane = (shifted[0], shifted[-1]) if shifted else ("0", "0")
        return IndexedEndPath(path, tuple(hosts), rail, plane, flat, rest)

    def port_index_names(self, dimensions: int) -> list[str]:
        """What the indices of a port are called: ``r`` its rail, ``p`` its plane."""
        names = ["i", "j", "k", "l"][:dimensions]
        if self.rails and dimensions:
            names[0] = "r"
        if self.planes and dimensions:
            names[-1] = "p"
        return names

    def flat_host(self, ends: EndSet, names: IndexedEndPath) -> str:
        """The number of a host among all, as an expression of its index variables."""
        shifted = [_counted_from_zero(n, a) for n, a in zip(names.hosts, ends.axes, strict=True)]
        flat = _row_major_expression(shifted, [a.size for a in ends.axes])
        if not flat:
            return str(ends.first)
        flat = f"{flat} + {ends.first}" if ends.first else flat
        return flat if flat.isidentifier() else f"({flat})"

    def host(self, ends: EndSet, flat: tree.Expr) -> list[tree.Identifier | tree.IndexPart]:
        """The path of a host by its number among those of its set."""
        out: list[tree.Identifier | tree.IndexPart] = []
        left = ends.hosts
        for name, axes in ends.parts:
            out.append(tree.Identifier(name, flat.span))
            entries: list[tree.Expr] = []
            for axis in axes:
                left //= axis.size
                terms = [] if left == 1 else [("//", tree.Number(left, flat.span))]
                terms += [("%", tree.Number(axis.size, flat.span))] if left * axis.size < ends.hosts else []
                e = tree.Chain(tree.Paren(flat, flat.span), tuple(terms), flat.span) if terms else flat
                if axis.low:
                    e = tree.Chain(
                        tree.Paren(e, flat.span), (("+", tree.Number(axis.low, flat.span)),), flat.span
                    )
                entries.append(e)
            if entries:
                out.append(tree.IndexPart(tuple(entries), flat.span))
        return out


def _index_text(indices: Iterable[object]) -> str:
    """Indices in brackets; "" where there is none."""
    text = ", ".join(map(str, indices))
    return f"[{text}]" if text else ""


def _counted_from_zero(name: str, axis: Axis) -> str:
    return f"({name} - {axis.low})" if axis.low else name


def _row_major_expression(names: list[str], sizes: list[int]) -> str:
    """A row-major number."""
    out = []
    for k, name in enumerate(names):
        stride = prod(sizes[k + 1 :])
        if sizes[k] > 1 or len(names) == 1:
            out.append(name if stride == 1 else f"{stride}*{name}")
    return " + ".join(out)


def assign_rails_and_planes(
    ends: HostEnds, rails: tuple[int, SourceSpan] | None, planes: tuple[int, SourceSpan] | None
) -> HostEnds:
    """The ends with their rails and planes, which must be the extents of the first and the last index."""
    for s in ends.sets:
        if rails and planes and len(s.ports.axes) < 2:
            raise Fault(
                "E0120",
                planes[1],
                f"{_describe_indices(s)}, so it has rails or planes, not both",
                labels=[(s.ports.origin.span, "declared here"), (rails[1], "the rails")],
            )
        for wanted, at, what in ((rails, 0, "first"), (planes, -1, "last")):
            if wanted and (not s.ports.axes or s.ports.axes[at].size != wanted[0]):
                raise _extent_fault(s, wanted, at, what)
    return replace(
        ends,
        rails=rails[0] if rails else 0,
        planes=planes[0] if planes else 0,
        rails_span=rails[1] if rails else None,
    )


def _extent_fault(s: EndSet, wanted: tuple[int, SourceSpan], at: int, what: str) -> Fault:
    """The fault of rails or planes that are not the extent of the ``what`` index of a set, the one at
    ``at``."""
    word = "rails" if what == "first" else "planes"
    axes = s.ports.axes
    return Fault(
        "E0120",
        wanted[1],
        f"{word} are the {what} index of the ends, and {_describe_indices(s)}: {wanted[0]} is not its extent",
        labels=[(s.ports.origin.span, "declared here")],
        help=f"write `{word} {axes[at].size}`" if axes else f"leave `{word}` out",
    )


def _describe_indices(s: EndSet) -> str:
    return f"`{s.ports.name}` of {s.model.name} has {_describe_extents([a.size for a in s.ports.axes])}"


def _describe_extents(sizes: list[int]) -> str:
    if not sizes:
        return "no index"
    return (
        f"one index, of {sizes[0]}"
        if len(sizes) == 1
        else f"the indices {' and '.join(f'of {n}' for n in sizes)}"
    )
