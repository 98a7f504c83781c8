"""A ``cluster``: several fabrics over the same hosts. Each is planned as a fabric of its own, with the hosts
that take part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.library import Linked, TopLevelName
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

VALUES = (tree.Let, tree.Param, tree.Def)


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A fabric of a file: its declaration with what its cluster lends it, and the cluster's name, "" if it
    stands alone, and where the cluster is declared."""

    node: tree.Decl
    home: Linked
    cluster: str = ""
    around: SourceSpan | None = None
    title: SourceSpan | None = None  # the cluster's name in its declaration
    number: int = 0  # the place of the fabric among those of the cluster

    def lends(self, at: SourceSpan) -> bool:
        """Whether what is declared there is the cluster's: devices that several fabrics share."""
        return (
            self.around is not None and _span_within(at, self.around) and not _span_within(at, self.node.span)
        )


def fabrics_of_entry(entry: TopLevelName, diagnostics: Diagnostics) -> Iterator[ClusterMember]:
    """The fabric that an entry declares, or the fabrics of the cluster."""
    node = entry.node
    assert isinstance(node, tree.Decl)
    if node.kind.name == "fabric":
        yield ClusterMember(node, entry.home)
        return
    body = node.body or ()
    fabrics = [s for s in body if isinstance(s, tree.Decl) and s.kind.name == "fabric"]
    _report_faults_of_cluster_block(node, fabrics, diagnostics)
    seen: dict[str, SourceSpan] = {}
    each = [_first_names_used(f.body or ()) for f in fabrics]
    unnamed = {s.name.name for s in body if isinstance(s, tree.Decl) and _holds_devices(s)}.difference(*each)
    for fabric, named in zip(fabrics, each, strict=True):
        name = fabric.name.name
        if name in seen:
            Fault(
                "E0104",
                fabric.name.span,
                f"`{name}` is already declared in this cluster",
                labels=[(seen[name], "first here")],
            ).report(diagnostics)
            continue
        named |= (
            set() if seen else unnamed
        )  # devices of no network are bought all the same: they are with the first
        seen[name] = fabric.name.span
        lent = tuple(_statements_shared_with_fabric(body, named))
        yield ClusterMember(
            replace(fabric, body=(*lent, *(fabric.body or ()))),
            entry.home,
            node.name.name,
            node.span,
            node.name.span,
            len(seen) - 1,
        )


def _report_faults_of_cluster_block(
    node: tree.Decl, fabrics: list[tree.Decl], diagnostics: Diagnostics
) -> None:
    """Report a cluster without a fabric, and statements that belong to one of its fabrics."""
    if not fabrics:
        Fault(
            "E0122",
            node.name.span,
            "this cluster declares no fabric, so there is nothing to check",
            help="write `fabric NAME { … }` in its braces",
        ).report(diagnostics)
    for s in node.body or ():
        if isinstance(s, (tree.Connect, tree.Setting)):
            Fault(
                "E0118",
                s.span,
                "this belongs to one of the cluster's fabrics",
                help="move it between the braces of a `fabric`",
            ).report(diagnostics)


def _span_within(inner: SourceSpan, outer: SourceSpan) -> bool:
    return inner.file is outer.file and outer.start <= inner.start and inner.end <= outer.end


def _holds_devices(s: tree.Decl) -> bool:
    """Whether a declaration is one of devices, or of a group that may have some."""
    return s.kind.name not in ("fabric", "hall", "row")


def _statement_lent(s: tree.Stmt, named: set[str], placed: list[tree.PlaceStmt]) -> tree.Stmt | None:
    """What a fabric gets of one statement of its cluster, None where that is nothing. ``named`` are the
    declarations that it uses, ``placed`` the places of their devices."""
    match s:
        case tree.Decl():
            return s if s.kind.name != "fabric" and s.name.name in named else None
        case tree.PlaceStmt():
            return s if s in placed else None
        case tree.Omit():
            paths = tuple(p for p in s.paths if _first_name(p) in named)
            return replace(s, paths=paths) if paths else None
        case tree.Naming() | tree.Override() | tree.Extend():
            return s if _first_name(s.path) in named else None
        case tree.Connect() | tree.Setting():
            return None
    return s


def _statements_shared_with_fabric(body: Iterable[tree.Stmt], named: set[str]) -> Iterator[tree.Stmt]:
    """What a cluster lends to a fabric that names these: values, requirements, the devices named and what is
    said of them, with the halls that they are placed in."""
    placed = [
        s
        for s in body
        if isinstance(s, tree.PlaceStmt) and (_first_name(s.path) in named or s.path.bare == "auto")
    ]
    named = named.union(*(_first_names_used((s.into, *s.more)) for s in placed))
    for s in body:
        lent = _statement_lent(s, named, placed)
        if lent is not None:
            yield lent


def _first_name(path: tree.PathExpr) -> str:
    part = path.parts[0]
    assert isinstance(part, tree.Identifier)
    return part.name


def _first_names_used(n: Any) -> set[str]:
    """First names of all paths in a fabric's connects and settings."""
    if isinstance(n, tree.PathExpr):
        return {_first_name(n)}.union(*(_first_names_used(p) for p in n.parts[1:]))
    if isinstance(n, tuple):
        return set().union(*map(_first_names_used, n))
    if is_dataclass(n) and not isinstance(n, (SourceSpan, tree.Identifier, tree.Require, type)):
        return set().union(*(_first_names_used(getattr(n, f.name)) for f in fields(n)))
    return set()
