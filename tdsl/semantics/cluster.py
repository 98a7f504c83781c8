"""A ``cluster``: several fabrics over the same hosts. Each is planned as a fabric of its own, with the hosts
that take part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tdsl.findings.diagnostic import Diagnostics, Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.library import Linked, TopLevelName
from tdsl.syntax import tree
from tdsl.syntax.keywords import INSTEAD_OF
from tdsl.system.lazy_dataclass import dataclass

Additions = Sequence[tuple[Linked, tree.Extend | tree.Override]]
"""Statements at the top of files that add to a fabric, each with the file that it stands in."""
LENT_SETTINGS = ("distance", "forwards")
"""Settings of a cluster's block; others belong to a fabric."""


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A fabric of a file: its declaration with what its cluster lends it, and the cluster's name, "" if it
    stands alone, and where the cluster's block and its extensions are."""

    node: tree.Decl
    home: Linked
    cluster: str = ""
    around: tuple[SourceSpan, ...] = ()  # the cluster's block, and those that extend it
    title: SourceSpan | None = None  # the cluster's name in its declaration
    number: int = 0  # the place of the fabric among those of the cluster

    def lends(self, at: SourceSpan) -> bool:
        """Whether what is declared there is the cluster's: devices that several fabrics share."""
        return any(_span_within(at, block) for block in self.around) and not _span_within(at, self.node.span)


def fabrics_of_entry(
    entry: TopLevelName, diagnostics: Diagnostics, additions: Additions = ()
) -> Iterator[tuple[ClusterMember, Additions]]:
    """The fabric that an entry declares, or the fabrics of the cluster, each with what is added to it.
    ``additions`` are the ``extend`` and ``override`` statements at the top of files that name the entry."""
    node = entry.node
    assert isinstance(node, tree.Decl)
    if node.kind.name == "fabric":
        yield ClusterMember(node, entry.home), additions
        return
    cluster = _ClusterWithAdditions.of_block(node, additions, diagnostics)
    blocks, body, fabrics = cluster.blocks, cluster.body, cluster.fabrics
    _report_faults_of_cluster_block(node, body, fabrics, diagnostics)
    _report_names_of_no_fabric(node, body, cluster.shared, cluster.networks, diagnostics)
    each = [_first_names_used((*(f.body or ()), *_statements_for(blocks, f.name.name))) for f in fabrics]
    unnamed = cluster.shared.difference(*each)
    around = (node.span, *(b.span for b in blocks if not b.network))
    seen: dict[str, SourceSpan] = {}
    for fabric, named in zip(fabrics, each, strict=True):
        name = fabric.name.name
        if name in seen:
            _report_fabric_declared_twice(fabric, seen[name], diagnostics)
            continue
        # devices of no network are bought all the same: they are with the first
        lending = _Lending(name, cluster.networks, named | (set() if seen else unnamed))
        seen[name] = fabric.name.span
        lent = tuple(lending.lend_statements(body))
        member = ClusterMember(
            _fabric_with_statements_lent(fabric, lent, node.span),
            entry.home,
            node.name.name,
            around,
            node.name.span,
            len(seen) - 1,
        )
        yield member, [(b.home, b.extension_of(fabric, lent)) for b in blocks if b.is_for(name)]


@dataclass(frozen=True, slots=True)
class _AddedBlock:
    """What an ``extend`` or ``override`` at the top of a file adds to a cluster: to all its fabrics, or to
    the one that ``network`` names, with the path that it has there."""

    home: Linked
    path: tree.PathExpr
    body: tuple[tree.Stmt, ...]
    span: SourceSpan
    network: str = ""
    inside: tree.PathExpr | None = None

    def for_one_network(self, networks: frozenset[str]) -> _AddedBlock:
        """The same block, as an addition to one fabric where its path names that."""
        only = self.body[0] if self.inside is not None and len(self.body) == 1 else None
        if not isinstance(only, tree.Extend) or _first_name(only.path) not in networks:
            return self
        return replace(self, network=_first_name(only.path), body=only.body)

    def is_for(self, network: str) -> bool:
        """Whether it adds to a fabric."""
        return self.network in ("", network)

    def extension_of(self, fabric: tree.Decl, lent: tuple[tree.Stmt, ...]) -> tree.Extend:
        """What a fabric gets of it, as an ``extend`` of that fabric. ``lent`` is what the fabric gets of all
        blocks of the cluster."""
        if self.network and self.inside is not None:
            return tree.Extend(self.inside, self.body, self.span)
        mine = tuple(s for s in lent if _span_within(s.span, self.span))
        if _span_within(fabric.span, self.span):
            mine += tuple(fabric.body or ())
        return tree.Extend(tree.PathExpr((fabric.name,), self.path.span), mine, self.span)


@dataclass(frozen=True, slots=True)
class _ClusterWithAdditions:
    """A cluster's block with what is added to it: the statements for all its fabrics, the fabrics, the names
    of devices and groups that it declares for them, and those of the fabrics that are no such name."""

    blocks: list[_AddedBlock]
    body: tuple[tree.Stmt, ...]
    fabrics: list[tree.Decl]
    shared: set[str]
    networks: frozenset[str]

    @staticmethod
    def of_block(node: tree.Decl, additions: Additions, diagnostics: Diagnostics) -> _ClusterWithAdditions:
        """A cluster as it is written, with the additions at the top of files."""
        own = node.body or ()
        blocks = [b for home, s in additions if (b := _block_of_addition(home, s, diagnostics)) is not None]
        body = (*own, *(s for b in blocks for s in b.body))
        fabrics = [s for s in body if isinstance(s, tree.Decl) and s.kind.name == "fabric"]
        shared = _names_shared_by_fabrics(body)
        networks = frozenset(f.name.name for f in fabrics) - shared
        blocks = [b.for_one_network(networks) for b in blocks]
        body = (*own, *(s for b in blocks if not b.network for s in b.body))
        return _ClusterWithAdditions(blocks, body, fabrics, shared, networks)


def _report_fabric_declared_twice(fabric: tree.Decl, first: SourceSpan, diagnostics: Diagnostics) -> None:
    """Report a fabric whose name another of its cluster has."""
    Fault(
        "E0104",
        fabric.name.span,
        f"`{fabric.name.name}` is already declared in this cluster",
        labels=[(first, "first here")],
    ).report(diagnostics)


def _fabric_with_statements_lent(
    fabric: tree.Decl, lent: Iterable[tree.Stmt], cluster: SourceSpan
) -> tree.Decl:
    """A fabric with what its cluster's own block lends it, and what it has itself if it is in that block."""
    inner = tuple(fabric.body or ()) if _span_within(fabric.span, cluster) else ()
    return replace(fabric, body=(*(s for s in lent if _span_within(s.span, cluster)), *inner))


def _block_of_addition(
    home: Linked, s: tree.Extend | tree.Override, diagnostics: Diagnostics
) -> _AddedBlock | None:
    """What a statement adds to the cluster that its path begins with; None, with a finding, where it names
    no devices."""
    rest = s.path.parts[1:]
    if rest:
        inside = tree.PathExpr(rest, s.path.span)
        return _AddedBlock(home, s.path, (replace(s, path=inside),), s.span, "", inside)
    if isinstance(s, tree.Override):
        help = f"name its devices: `override {s.path.span.text}.NAME[*]: MODEL`"
        Fault("E0120", s.path.span, "an override names devices, not a cluster", help=help).report(diagnostics)
        return None
    return _AddedBlock(home, s.path, tuple(s.body), s.span)


def _statements_for(blocks: Iterable[_AddedBlock], network: str) -> tuple[tree.Stmt, ...]:
    """What is added to one fabric of a cluster by its name."""
    return tuple(s for b in blocks if b.network == network for s in b.body)


def _names_shared_by_fabrics(body: Iterable[tree.Stmt]) -> set[str]:
    """The names of devices and groups that a cluster's block declares for its fabrics."""
    declared = (s for s in _statements_of_block(body) if isinstance(s, tree.Decl))
    return {s.name.name for s in declared if _holds_devices(s)}


def _report_faults_of_cluster_block(
    node: tree.Decl, body: Iterable[tree.Stmt], fabrics: list[tree.Decl], diagnostics: Diagnostics
) -> None:
    """Report a cluster without a fabric, and statements that belong to one of its fabrics."""
    if not fabrics:
        Fault(
            "E0122",
            node.name.span,
            "this cluster declares no fabric, so there is nothing to check",
            help="write `fabric NAME { … }` in its braces",
        ).report(diagnostics)
    first = fabrics[0].name.name if fabrics else "FABRIC"
    for s in body:
        if isinstance(s, tree.Setting) and s.body is not None and INSTEAD_OF.get(s.name.name) == "fabric":
            fix = Fix("write `fabric`", ((s.name.span, "fabric"),), safe=False)
            message = f"there is no statement `{s.name.name}` here; the word is `fabric`"
            Fault("E0118", s.name.span, message, help="write `fabric`", fix=fix).report(diagnostics)
        elif isinstance(s, tree.Connect) or (
            isinstance(s, tree.Setting) and s.name.name not in LENT_SETTINGS
        ):
            Fault(
                "E0118",
                s.span,
                "this belongs to one of the cluster's fabrics",
                help="move it between the braces of a `fabric`"
                if _span_within(s.span, node.span)
                else f"write it in `extend {node.name.name}.{first} {{ … }}`, or that of another",
            ).report(diagnostics)


def _report_names_of_no_fabric(
    node: tree.Decl,
    body: Iterable[tree.Stmt],
    shared: set[str],
    networks: frozenset[str],
    diagnostics: Diagnostics,
) -> None:
    """Report statements about devices that neither the cluster's block declares nor, behind its name, a
    fabric: no fabric would get them, and nothing would say so."""
    lost = {name for s in _statements_of_block(body) if isinstance(s, tree.Broken) for name in s.names}
    for s in _statements_of_block(body):
        for path in _paths_of_devices(s):
            first = path.parts[0]
            if not isinstance(first, tree.Identifier) or first.name in shared | lost:
                continue
            if first.name not in networks:
                known = sorted(shared | networks)
                fault = unknown_name_fault("E0101", first.span, "device or group", first.name, known)
                fault.report(diagnostics)
            elif len(path.parts) == 1 or not isinstance(path.parts[1], tree.Identifier):
                Fault(
                    "E0120",
                    path.span,
                    f"`{first.name}` is a fabric, and this is about devices",
                    help=(
                        f"write `extend {node.name.name}.{first.name} {{ … }}` at the top of a file"
                        if isinstance(s, tree.Extend)
                        else f"name its devices: `{first.name}.NAME[*]`"
                    ),
                ).report(diagnostics)


def _statements_of_block(body: Iterable[tree.Stmt]) -> Iterator[tree.Stmt]:
    """The statements of a cluster's block, also those inside `if` and `for`."""
    for s in body:
        yield s
        match s:
            case tree.For():
                yield from _statements_of_block(s.body)
            case tree.If():
                for branch in (*(b for _, b in s.branches), s.other):
                    yield from _statements_of_block(branch)


def _paths_of_devices(s: tree.Stmt) -> Iterator[tree.PathExpr]:
    """The paths of devices and groups that a statement of a cluster's block is about."""
    match s:
        case tree.PlaceStmt() if s.path.bare != "auto":
            yield s.path
        case tree.Omit():
            yield from s.paths
        case tree.Naming() | tree.Override() | tree.Extend():
            yield s.path
        case tree.Setting() if s.name.name == "forwards":
            yield from (i.value for i in s.items if isinstance(i.value, tree.PathExpr))


def _span_within(inner: SourceSpan, outer: SourceSpan) -> bool:
    return inner.file is outer.file and outer.start <= inner.start and inner.end <= outer.end


def _holds_devices(s: tree.Decl) -> bool:
    """Whether a declaration is one of devices, or of a group that may have some."""
    return s.kind.name not in ("fabric", "hall", "row")


@dataclass(frozen=True, slots=True)
class _Lending:
    """What a cluster lends to one of its fabrics. ``networks`` are the names of all fabrics, ``named`` the
    declarations of the cluster's block that this one uses."""

    fabric: str
    networks: frozenset[str]
    named: set[str]

    def lend_statements(self, body: Iterable[tree.Stmt]) -> Iterator[tree.Stmt]:
        """What a fabric gets: values, requirements, the devices that it names and what is said of them and of
        its own devices, with the halls that they are placed in."""
        body = tuple(body)
        others = [s for s in body if not _is_about_halls(s)]
        halls = self.named.union(*(_first_names_used(x) for s in others for x in self.lend_statement(s)))
        halls |= {p.bare for s in body for p in _halls_of_automatic_placing(s) if p.bare is not None}
        for s in body:
            if not _is_about_halls(s):
                yield from self.lend_statement(s)
            elif (
                s.name.name in halls
                if isinstance(s, tree.Decl)
                else all(_first_name(p) in halls for p in _distance_ends(s))
            ):
                yield s

    def lend_statement(self, s: tree.Stmt) -> Iterator[tree.Stmt]:
        """What this fabric gets of one statement: nothing, or one statement."""
        match s:
            case tree.Decl():
                if s.kind.name != "fabric" and s.name.name in self.named:
                    yield s
            case tree.PlaceStmt() if s.path.bare == "auto":
                yield s
            case tree.PlaceStmt() | tree.Naming() | tree.Override() | tree.Extend():
                yield from self.lend_statement_on_path(s)
            case tree.Omit():
                yield from self.lend_omission(s)
            case tree.Setting() if s.name.name == "forwards":
                yield from self.lend_forwards(s)
            case tree.For():
                yield from self.lend_loop(s)
            case tree.If():
                yield from self.lend_branches(s)
            case tree.Connect() | tree.Setting():
                pass
            case _:
                yield s

    def lend_statement_on_path(
        self, s: tree.PlaceStmt | tree.Naming | tree.Override | tree.Extend
    ) -> Iterator[tree.Stmt]:
        """What this fabric gets of a statement about one path: nothing where that is of another fabric."""
        path = self.path_here(s.path)
        if path is not None:
            yield s if path is s.path else replace(s, path=path)

    def lend_omission(self, s: tree.Omit) -> Iterator[tree.Stmt]:
        """What this fabric gets of an ``omit``: those of its paths that are of this fabric."""
        paths = tuple(p for p in map(self.path_here, s.paths) if p is not None)
        if paths:
            yield replace(s, paths=paths)

    def lend_forwards(self, s: tree.Setting) -> Iterator[tree.Stmt]:
        """What this fabric gets of ``forwards``: the devices among its items that are of this fabric."""
        found = [(i, self.path_here(i.value)) for i in s.items if isinstance(i.value, tree.PathExpr)]
        items = tuple(replace(i, value=p) for i, p in found if p is not None)
        if items:
            yield replace(s, items=items)

    def lend_loop(self, s: tree.For) -> Iterator[tree.Stmt]:
        """What this fabric gets of a ``for``: nothing where its body has nothing for it."""
        inner = tuple(x for each in s.body for x in self.lend_statement(each))
        if inner:
            yield replace(s, body=inner)

    def lend_branches(self, s: tree.If) -> Iterator[tree.Stmt]:
        """What this fabric gets of an ``if``: nothing where no branch has something for it."""
        branches = tuple(
            (c, tuple(x for each in b for x in self.lend_statement(each))) for c, b in s.branches
        )
        other = tuple(x for each in s.other for x in self.lend_statement(each))
        if other or any(b for _, b in branches):
            yield replace(s, branches=branches, other=other)

    def path_here(self, path: tree.PathExpr) -> tree.PathExpr | None:
        """A path of the cluster's block as this fabric writes it: ``compute.leaf[0]`` is ``leaf[0]`` in
        compute. None for one of other fabrics."""
        first = _first_name(path)
        if first not in self.networks:  # `role storage` is no name of the fabric storage
            return path if first in self.named else None
        if first != self.fabric or len(path.parts) < 2:
            return None
        return replace(path, parts=path.parts[1:]) if isinstance(path.parts[1], tree.Identifier) else None


def _is_about_halls(s: tree.Stmt) -> bool:
    """Whether a statement declares a hall, or how far apart halls or groups are."""
    if isinstance(s, tree.Setting):
        return s.name.name == "distance"
    return isinstance(s, tree.Decl) and s.kind.name == "hall"


def _halls_of_automatic_placing(s: tree.Stmt) -> tuple[tree.PathExpr, ...]:
    """The halls of a ``place auto``."""
    return (s.into, *s.more) if isinstance(s, tree.PlaceStmt) and s.path.bare == "auto" else ()


def _distance_ends(s: tree.Stmt) -> list[tree.PathExpr]:
    """The two ends of a ``distance``."""
    items = s.items if isinstance(s, tree.Setting) else ()
    ends = [e for i in items for e in (i.value, *(x for _, x in i.args))]
    return [e for e in ends if isinstance(e, tree.PathExpr)]


def _first_name(path: tree.PathExpr) -> str:
    part = path.parts[0]
    return part.name if isinstance(part, tree.Identifier) else ""


def _first_names_used(n: Any) -> set[str]:
    """First names of all paths in a fabric's connects and settings. What stands in brackets is a number, and
    so are the same names where a connect counts or compares."""
    if isinstance(n, tree.PathExpr):
        return {_first_name(n)}
    if isinstance(n, tuple):
        return set().union(*map(_first_names_used, n))
    if isinstance(n, tree.Connect):
        ends = (*n.a, *n.b, *((n.via,) if n.via is not None else ()))
        counted = _first_names_used((n.pattern, n.copies, n.guard, n.body))
        return _first_names_used(ends) | (counted - _words_in_brackets(ends))
    if is_dataclass(n) and not isinstance(n, (SourceSpan, tree.Identifier, tree.Require, type)):
        return set().union(*(_first_names_used(getattr(n, f.name)) for f in fields(n)))
    return set()


def _words_in_brackets(paths: Iterable[tree.PathExpr]) -> set[str]:
    """Names that stand alone in the brackets of paths: the indices of a connect."""
    parts = (p for path in paths for p in path.parts if not isinstance(p, tree.Identifier))
    return set().union(*map(_first_names_used, parts))
