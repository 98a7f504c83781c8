"""What the names of a text mean where they stand: values, devices and groups with their members, models,
topologies.

It is read from the tree and the files it uses, not from a compiled design, so it is there while the text is
typed. What only compiling makes, the devices of an intent, is taken from the design as it was last compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide import describe
from tdsl.ide.facts import Placed
from tdsl.semantics import topology
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.growth import NEEDED
from tdsl.semantics.library import Library, Linked, TopLevelName
from tdsl.semantics.loader import Loader, Parsed, ParsedFile
from tdsl.semantics.model import Chip, DeviceModel
from tdsl.semantics.unknown_models import catalogue_kinds_and_titles
from tdsl.syntax import tree
from tdsl.syntax.keywords import KINDS
from tdsl.syntax.parser import Standing
from tdsl.system.lazy_dataclass import dataclass

MADE_OF = (*KINDS["group"], *KINDS["device"])
PRELOADED = {"host": 0, "switch": 1}
"""Kinds of models that are read first: those that designs name most."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name means: its kind, a line about it, Markdown, and what lies behind it, with the file that
    says so."""

    name: str
    kind: str
    detail: str = ""
    doc: str = ""
    node: object = None
    home: Linked | None = None


@cache
def standard_library() -> tuple[Library, Linked]:
    """The standard catalogue, and a file that sees it: it does not change while the server runs. A model is
    read and built when it is asked for."""
    file = SourceFile("", "")
    library = Library(Loader(own := Diagnostics()), own)
    return library, library.link(ParsedFile(file, (), Path(), ""))


@cache
def port_types() -> list[str]:
    """Types of ports that the standard catalogue knows."""
    library, home = standard_library()
    for name in library.loader.catalogue():
        _build_file_of_model(library, home, name)
    models = (m for m in library.models.values() if m is not None)
    return sorted({t for m in models for c in m.classes for t in c.types})


def preload_standard_library() -> Iterator[None]:
    """Read what the first answers would wait for, a file at a step: an answer goes between two of them."""
    from tdsl.verify.check import checks_by_name

    library, home = standard_library()
    kinds = catalogue_kinds_and_titles(library.loader.catalogue())
    for name in sorted(kinds, key=lambda n: PRELOADED.get(kinds[n][0], len(PRELOADED))):
        _build_file_of_model(library, home, name)
        yield
    checks_by_name()
    for name in topology.known_topology_names(library, home):
        yield
        topology.find_topology(library, home, name)


def _build_file_of_model(library: Library, home: Linked, name: str) -> None:
    entry = library.entry(home, name)
    if entry is not None:
        library.build_all(entry.home)


class KnownNames:
    """What one text knows. ``sets`` are those of its design as it was last compiled."""

    def __init__(
        self,
        file: SourceFile,
        body: tuple[tree.Stmt, ...],
        path: Path,
        overlay: Mapping[str, str],
        paths: tuple[Path, ...],
        sets: tuple[Placed, ...] = (),
    ) -> None:
        self.file, self.body, self.sets = file, body, sets
        own = Diagnostics()
        parsed: Parsed = dict(standard_library()[0].loader.parsed)
        self.library = Library(Loader(own, paths, dict(overlay), parsed), own)
        self.home = self.library.link(ParsedFile(file, body, path.parent, str(path.resolve())))
        self.starts: dict[int, tree.Stmt] = {}
        self._index(body)

    def _index(self, body: Iterable[tree.Stmt]) -> None:
        for s in body:
            self.starts.setdefault(s.span.start, s)
            for inner in _blocks_of_statement(s):
                self._index(inner)

    def around(self, place: Standing) -> list[tree.Stmt]:
        """The statements in whose blocks a place lies, outermost first."""
        return [self.starts[h[0].start] for h in place.heads if h and h[0].start in self.starts]

    # ------------------------------------------------------------ models and topologies

    def models(self, kind: str = "") -> list[Meaning]:
        """Models that may be named, those of the file first."""
        out = []
        for name, entry in (*self.home.names.items(), *self.home.used.items()):
            if isinstance(entry.node, tree.ModelDecl) and kind in ("", entry.node.kind.name):
                out.append(self.a_model(name))
        library, home = standard_library()
        kinds = catalogue_kinds_and_titles(library.loader.catalogue())
        for name in library.loader.catalogue():
            if kind not in ("", kinds.get(name, (kind, ""))[0]):
                continue
            if name not in self.home.names and name not in self.home.used:
                node = _node_of_entry(library.entry(home, name))
                if isinstance(node, tree.ModelDecl) and kind in ("", node.kind.name):
                    out.append(self.a_model(name))
        return out

    def model(self, name: str, home: Linked | None = None) -> DeviceModel | None:
        """The model of that name, None if there is none or it is broken."""
        library, at = self.library, home or self.home
        if name not in at.names and name not in at.used:
            library, at = standard_library()
        try:
            return library.model(at, name, SourceSpan(self.file, 0, 0))
        except (Fault, Excused):
            return None

    def is_model(self, name: str) -> bool:
        """Whether a name is a model's."""
        return self.library.is_model(self.home, name)

    def a_model(self, name: str) -> Meaning:
        """A model by its name."""
        found = self.model(name)
        if found is None:
            return Meaning(name, "model")
        page = describe.model_page(found)
        return Meaning(name, "model", describe.model_words(found) or found.title, page, found)

    def topology(self, name: str) -> Meaning | None:
        """The topology of that name."""
        try:
            found = topology.find_topology(self.library, self.home, name)
        except (Fault, Excused):
            return None
        if found is None or not isinstance(found.node, tree.TopologyDecl):
            return None
        words = describe.statement_head(found.node)
        doc = f"```fab\n{words}\n```\n\n{describe.comment_of_declaration(found.node.span)}"
        return Meaning(name, "topology", words, doc, found.node, found.home)

    def topologies(self) -> list[Meaning]:
        """Topologies that an intent may name."""
        names = dict.fromkeys(topology.known_topology_names(self.library, self.home))
        return [found for name in names if (found := self.topology(name)) is not None]

    # ------------------------------------------------------------ values

    def values(self, place: Standing) -> list[Meaning]:
        """Values that an expression at a place may name: of the blocks around it, the innermost first, then
        the language's."""
        found: dict[str, Meaning] = {}
        for node in reversed(self.around(place)):
            if isinstance(node, tree.For):
                found.setdefault(
                    node.var.name, Meaning(node.var.name, "variable", f"in {node.over.span.text}")
                )
            for f in node.formals if isinstance(node, tree.TopologyDecl | tree.Def) else ():
                found.setdefault(f.name.name, Meaning(f.name.name, "param", describe.formal_words(f), node=f))
            for s in statements_in_blocks(_blocks_of_statement(node)):
                self._value(found, s)
        for s in statements_in_blocks([self.body]):
            self._value(found, s)
        for name, entry in self.home.used.items():
            if isinstance(entry.node, tree.Let | tree.Param | tree.Def):
                self._value(found, entry.node, name)
        for name, builtin in BUILTINS.items():
            found.setdefault(name, Meaning(name, "function", builtin.form, builtin.gives, builtin))
        return list(found.values())

    def phased(self, place: Standing) -> list[Meaning]:
        """What a phase at a place may set: parameters of the block it stands in, and the day by which it is
        needed."""
        around = [n for n in self.around(place) if isinstance(n, tree.Decl)]
        found: dict[str, Meaning] = {}
        for s in around[-1].body or () if around else ():
            if isinstance(s, tree.Param):
                self._value(found, s)
        found.setdefault(
            NEEDED,
            Meaning(NEEDED, "setting", f'{NEEDED} "2027-03-01"', "The day by which this phase is needed."),
        )
        return list(found.values())

    def _value(self, found: dict[str, Meaning], s: tree.Stmt, alias: str = "") -> None:
        if isinstance(s, tree.Let | tree.Param | tree.Def):
            name = alias or s.name.name
            kind = "function" if isinstance(s, tree.Def) else "param" if isinstance(s, tree.Param) else "let"
            found.setdefault(
                name,
                Meaning(
                    name,
                    kind,
                    describe.statement_head(s),
                    describe.comment_of_declaration(s.span),
                    s,
                    self.home,
                ),
            )

    # ------------------------------------------------------------ devices and groups

    def things(self, place: Standing) -> list[Meaning]:
        """Devices and groups that a path at a place may begin with, the innermost first."""
        found: dict[str, Meaning] = {}
        nodes = self.around(place)
        for node in reversed(nodes):
            for m in self._things_of_block(node, place):
                found.setdefault(m.name, m)
        fabric = next(
            (n.name.name for n in nodes if isinstance(n, tree.Decl) and n.kind.name == "fabric"), ""
        )
        for m in (*self._placed(fabric, ()), *(() if nodes else self._declarations_at_the_top())):
            found.setdefault(m.name, m)
        return list(found.values())

    def _things_of_block(self, node: tree.Stmt, place: Standing) -> Iterator[Meaning]:
        """What one block around a place has: the members of what it extends, its ports, its declarations."""
        if isinstance(node, tree.Extend):
            target = self.find(_member_names_of_path(node.path), place, outside=node)
            yield from self.members(target) if target else ()
        if isinstance(node, tree.TopologyDecl):
            for f in node.formals:
                if f.type.name == "ports":
                    yield Meaning(f.name.name, "ports", describe.formal_words(f), node=f)
        yield from self._declared([x for b in _blocks_of_statement(node) for x in b], self.home)

    def _declarations_at_the_top(self) -> Iterator[Meaning]:
        """Fabrics and clusters that this file declares or takes from others."""
        for name, entry in (*self.home.names.items(), *self.home.used.items()):
            if isinstance(entry.node, tree.Decl):
                yield replace(self._thing(entry.node, entry.home), name=name)

    def find(
        self, names: tuple[str, ...], place: Standing, outside: tree.Extend | None = None
    ) -> Meaning | None:
        """What a path means, given the names in it."""
        known: Iterable[Meaning]
        if outside is not None:  # an extend's own path: fabrics at the top, things of the fabric around it
            heads = tuple(h for h in place.heads if h and h[0].start < outside.span.start)
            known = self.things(replace(place, heads=heads))
        else:
            known = self.things(place)
        found: Meaning | None = None
        for name in names:
            found = next((m for m in known if m.name == name), None)
            if found is None:
                return None
            known = self.members(found)
        return found

    def model_of_path(self, names: tuple[str, ...], place: Standing) -> DeviceModel | None:
        """The model of the device that a path names, its ports left out; None where it names none."""
        for length in range(len(names), 0, -1):
            found = self.find(names[:length], place)
            model = self._model_of_node(found.node, found.home) if found is not None else None
            if model is not None:
                return model
        return None

    def members(self, of: Meaning) -> list[Meaning]:
        """What may stand behind a point: members of a group, ports and chips of a device."""
        node = of.node
        if isinstance(node, tuple):
            fabric, names = node
            return self._placed(fabric, names)
        if isinstance(node, tree.Decl) and node.kind.name not in KINDS["device"]:
            return self._members_of_group(node, of.home)
        model = self._model_of_node(node, of.home)
        return _meanings_inside_model(model) if model else []

    def _model_of_node(self, node: object, home: Linked | None) -> DeviceModel | None:
        """The model of a device or chip; None where it has none or is none of them."""
        if isinstance(node, Placed):
            return self.model(node.model) if len(node.names) == 1 else None
        if isinstance(node, Chip):
            return node.model
        if not isinstance(node, tree.Decl):
            return None
        bare = node.of.bare if isinstance(node.of, tree.PathExpr) else None
        return self.model(bare, home) if bare else None

    def _members_of_group(self, node: tree.Decl, home: Linked | None) -> list[Meaning]:
        """What a group declares; in a fabric also what its topology made."""
        own = self._declared(node.body or (), home)
        if node.kind.name == "fabric":
            names = {m.name for m in own}
            own += [m for m in self._placed(node.name.name, ()) if m.name not in names]
        return own

    def _declared(self, body: Iterable[tree.Stmt], home: Linked | None) -> list[Meaning]:
        return [
            self._thing(s, home)
            for s in statements_in_blocks([body])
            if isinstance(s, tree.Decl) and s.kind.name in MADE_OF
        ]

    def _thing(self, s: tree.Decl, home: Linked | None) -> Meaning:
        return Meaning(
            s.name.name,
            s.kind.name,
            describe.statement_head(s),
            describe.comment_of_declaration(s.span),
            s,
            home,
        )

    def _placed(self, fabric: str, names: tuple[str, ...]) -> list[Meaning]:
        """What a compiled fabric holds below some names."""
        depth = len(names)
        out: dict[str, Meaning] = {}
        for p in self.sets:
            if p.fabric != fabric or p.names[:depth] != names or len(p.names) == depth:
                continue
            name, kind = p.names[depth], p.kinds[depth]
            last = len(p.names) == depth + 1
            detail = f"{kind} {name}" + (f"{p.shape}: {p.model}" if last else "")
            target = replace(p, names=(name,)) if last else (fabric, (*names, name))
            out.setdefault(name, Meaning(name, kind, detail, node=target))
        return list(out.values())


def _meanings_inside_model(model: DeviceModel) -> list[Meaning]:
    """Port classes and chips of a model."""
    ports = [
        Meaning(c.name, "port", describe.port_words(c), describe.comment_of_declaration(c.origin.span), c)
        for c in model.classes
    ]
    chips = [
        Meaning(c.name, c.kind, describe.chip_words(c), describe.model_page(c.model), c) for c in model.chips
    ]
    return [*ports, *chips]


def statements_in_blocks(bodies: Iterable[Iterable[tree.Stmt]]) -> Iterator[tree.Stmt]:
    """Statements of some blocks; those of an ``if``, a ``for`` or a statement at fault count as the block's
    own."""
    for body in bodies:
        for s in body:
            yield s
            if isinstance(s, tree.If | tree.For | tree.PhaseBlock | tree.Broken):
                yield from statements_in_blocks(_blocks_of_statement(s))


def _blocks_of_statement(s: tree.Stmt) -> list[tuple[tree.Stmt, ...]]:
    """The blocks of a statement."""
    if isinstance(s, tree.If):
        return [*(b for _, b in s.branches), s.other]
    return [getattr(s, "body", None) or ()] if not isinstance(s, tree.Def) else []


def _member_names_of_path(path: tree.PathExpr) -> tuple[str, ...]:
    return tuple(p.name for p in path.parts if isinstance(p, tree.Identifier))


def _node_of_entry(entry: TopLevelName | None) -> object:
    return entry.node if entry is not None else None
