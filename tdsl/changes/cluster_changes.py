"""What differs between two clusters: one comparison of the whole, in which what fabrics share is listed once,
and what is of one fabric says of which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from tdsl.changes.compare import compare_clusters, compare_designs
from tdsl.changes.model import Change, Changes, ContractChange, Metric

if TYPE_CHECKING:
    from tdsl.compile.compiler import Design

T = TypeVar("T", Change, ContractChange)
Part = tuple[str, Changes]
"""The name of a fabric, and what differs of it."""


def compare_whole_clusters(old: Design, new: Design, parts: Sequence[Part]) -> Changes:
    """What differs between two clusters; ``parts`` are the comparisons of their fabrics, by name. Devices,
    cables, places, addresses and sums are those of the whole: a shared device that comes is one.
    Requirements, settings and figures of one fabric name it."""
    out = compare_designs(old, new)
    sums = compare_clusters(old, new)
    out.fabric = sums.fabric
    out.contract = [*_merged_contract(parts), *sums.contract]
    out.settings = [
        replace(x, what=_of_networks(x.what, names))
        for x, names in _told_once((name, p.settings) for name, p in parts)
    ]
    out.metrics = [*sums.metrics, *_metrics_of_networks(parts, sums.metrics)]
    if out.none:  # what the whole does not tell is a difference all the same
        out.figures = [
            replace(x, what=_of_networks(x.what, [name]))
            for name, p in parts
            for x in (*p.figures, *p.cables, *p.ports, *p.names, *p.models, *p.places, *p.addresses)
        ]
    return out


def _merged_contract(parts: Sequence[Part]) -> list[ContractChange]:
    """The changes of all contracts; what one fabric alone has says so in its note."""
    out = []
    for x, names in _told_once((name, p.contract) for name, p in parts):
        shared = x.part in ("file", "lock", "setting", "severity", "model") or (
            x.part == "parameter" and len(names) == len(parts)
        )
        where = "" if shared else f"in {' and '.join(names)}"
        out.append(replace(x, note="; ".join(filter(None, (x.note, where)))))
    return out


def _told_once(each: Iterable[tuple[str, Sequence[T]]]) -> list[tuple[T, list[str]]]:
    """Equal changes of several fabrics once, in order, with the fabrics that have it."""
    found: dict[T, list[str]] = {}
    for name, changes in each:
        for x in changes:
            found.setdefault(x, []).append(name)
    return list(found.items())


def _of_networks(what: str, names: Sequence[str]) -> str:
    return f"{', '.join(names)}: {what}"


def _metrics_of_networks(parts: Sequence[Part], whole: Sequence[Metric]) -> list[Metric]:
    """The figures of each fabric that are not as they were, but for changes that the whole has, too."""
    of_whole = {(m.name, m.before, m.after) for m in whole}
    return [
        replace(m, name=f"{name}: {m.name}")
        for name, part in parts
        for m in part.metrics
        if (m.name, m.before, m.after) not in of_whole
    ]


__all__ = ["compare_whole_clusters"]
