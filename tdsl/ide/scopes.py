"""What a text declares, block by block, whether or not it compiles. The compiler finds files, models and
topologies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from tdsl.findings.source import SourceSpan
from tdsl.semantics import topology
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.intent import COUNTS, DEVICES
from tdsl.semantics.later import WORDS as LATER
from tdsl.semantics.library import Library, Linked, TopLevelName
from tdsl.syntax import tree
from tdsl.syntax.keywords import KINDS
from tdsl.system.lazy_dataclass import dataclass

GIVEN = (*COUNTS, "hosts", "per_host", "declared", "declared_names")
"""Parameters of topologies that a fabric fills by their name."""
Key = tuple[int, int, str]
DEPTH = 8
"""How many names for a model may stand behind each other."""


@dataclass(eq=False, slots=True)
class NameBlock:
    """The names of one block: values, and members (devices, groups, ports), each with all that bear the name
    there."""

    around: NameBlock | None = None
    values: dict[str, list[Name]] = field(default_factory=dict)
    members: dict[str, list[Name]] = field(default_factory=dict)
    own: bool = False  # it is a fabric's own, in which an intent may stand

    def value(self, name: str) -> list[Name]:
        """The values of a name here, or in the nearest block around that has one."""
        at: NameBlock | None = self
        while at is not None:
            if name in at.values:
                return at.values[name]
            at = at.around
        return []

    def member(self, name: str) -> list[Name]:
        """The members of a name here, or in the nearest block around that has one, but for the file's own."""
        at: NameBlock | None = self
        while at is not None and at.around is not None:
            if name in at.members:
                return at.members[name]
            at = at.around
        return []

    def everywhere(self, name: str) -> list[Name]:
        """The devices and groups of a name in whichever block of the design around, as a claim may mean
        them."""
        top = self
        while top.around is not None and top.around.around is not None:
            top = top.around
        found: dict[Key, Name] = {}
        todo, seen = [top], set[int]()
        while todo:
            at = todo.pop()
            if id(at) in seen:
                continue
            seen.add(id(at))
            for names in at.members.values():
                for n in names:
                    if n.name == name:
                        found.setdefault(n.key, n)
                    if n.inner is not None:
                        todo.append(n.inner)
        return list(found.values())


@dataclass(eq=False, slots=True)
class Name:
    """A declared name: what it is in words, where it is declared, and what is known of what it stands for.

    ``block`` and ``home`` are those it is declared in; ``inner`` holds its members; ``given`` is the
    expression a value has and the block and file to read that in. ``target`` is what an ``as`` renames;
    ``fixed`` says why it cannot be renamed, or "".
    """

    name: str
    what: str
    place: SourceSpan
    node: tree.Stmt | None = None
    block: NameBlock = field(default_factory=NameBlock)
    home: Linked | None = None
    inner: NameBlock | None = None
    given: tuple[tree.Expr, NameBlock, Linked] | None = None
    target: Name | None = None
    fixed: str = ""
    type: str = ""  # of a parameter

    @property
    def key(self) -> Key:
        """What tells declarations apart, however often they are met."""
        return id(self.place.file), self.place.start, self.name


def flattened_statements(body: Iterable[tree.Stmt]) -> Iterator[tree.Stmt]:
    """The statements of a block, those of branches and of what did not parse among them."""
    for s in body:
        if isinstance(s, tree.If):
            for _, inner in s.branches:
                yield from flattened_statements(inner)
            yield from flattened_statements(s.other)
        elif isinstance(s, tree.Broken):
            yield from flattened_statements(s.body)
        else:
            yield s


def add_name_to_block(names: dict[str, list[Name]], name: Name) -> None:
    """Put a name into a block."""
    here = names.setdefault(name.name, [])
    if all(n.key != name.key for n in here):
        here.append(name)


class Scopes:
    """Blocks and names of the files that one compilation would read, each made once."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.tops: dict[str, NameBlock] = {}
        self.nodes: dict[int, Name] = {}
        self.aliases: dict[tuple[str, str], Name] = {}

    # ------------------------------------------------------------ files
    def top(self, home: Linked) -> NameBlock:
        """The block of a file: ``values``, and ``members`` for everything else that its top declares."""
        key = home.module.key
        if key not in self.tops:
            block = self.tops[key] = NameBlock()
            for s in flattened_statements(home.module.body):
                if isinstance(s, tree.Use):
                    self.used(home, block, s)
                elif isinstance(s, (tree.Let, tree.Param, tree.Def)):
                    add_name_to_block(block.values, self.named(s, block, home))
                elif isinstance(s, (tree.ModelDecl, tree.TopologyDecl)) or (
                    isinstance(s, tree.Decl) and s.kind.name in KINDS["scope"]
                ):
                    add_name_to_block(block.members, self.named(s, block, home))
        return self.tops[key]

    def used(self, home: Linked, block: NameBlock, use: tree.Use) -> None:
        """The names that a ``use`` gives to a file."""
        for u in use.names:
            entry = home.used.get((u.alias or u.name).name)
            if entry is None:
                continue
            name = self.of(entry)
            if u.alias is not None:
                name = Name(
                    u.alias.name,
                    f"another name of the {name.what}",
                    u.alias.span,
                    None,
                    block,
                    home,
                    target=name,
                )
                self.aliases[home.module.key, u.alias.name] = name
            is_value = isinstance(entry.node, (tree.Def, tree.Let, tree.Param))
            add_name_to_block(block.values if is_value else block.members, name)

    def of(self, entry: TopLevelName) -> Name:
        """The name that an entry of a file declares."""
        return self.named(entry.node, self.top(entry.home), entry.home)

    def named(self, s: tree.Stmt, block: NameBlock, home: Linked) -> Name:
        """The name that a statement declares."""
        if id(s) not in self.nodes:
            assert isinstance(
                s,
                (tree.Let, tree.Param, tree.Def, tree.Decl, tree.ModelDecl, tree.TopologyDecl, tree.TierDecl),
            )
            what = s.kind.name if isinstance(s, tree.Decl) else type(s).__name__.removesuffix("Decl").lower()
            made = Name(s.name.name, what, s.name.span, s, block, home)
            if isinstance(s, (tree.Let, tree.Param)):
                made.given = (s.value if isinstance(s, tree.Let) else s.default, block, home)
            self.nodes[id(s)] = made
        return self.nodes[id(s)]

    def entry(self, home: Linked, name: str) -> Name | None:
        """What a name at the top of files means in a file: its own, used, or a model of the catalogue."""
        if (home.module.key, name) in self.aliases:
            return self.aliases[home.module.key, name]
        try:
            found = self.library.entry(home, name)
        except (Fault, Excused, OSError):
            return None
        return self.of(found) if found is not None else None

    def topology(self, home: Linked, name: str) -> TopLevelName | None:
        """The topology that a statement of that name in a fabric asks for."""
        if name in (*COUNTS, *DEVICES, *LATER):
            return None
        try:
            return topology.find_topology(self.library, home, name)
        except (Fault, Excused, OSError):
            return None

    # ------------------------------------------------------------ blocks
    def mine(self, s: tree.Decl | tree.ModelDecl | tree.TopologyDecl, block: NameBlock, home: Linked) -> Name:
        """The name that a statement declares in a block."""
        key = id(s.name.span.file), s.name.span.start, s.name.name
        return next((n for n in block.members.get(s.name.name, ()) if n.key == key), None) or self.named(
            s, block, home
        )

    def inside(self, name: Name) -> NameBlock | None:
        """The block of a fabric, cluster, model, topology or group; None of what has none."""
        name = name.target or name
        s, home = name.node, name.home
        if (
            name.inner is None
            and home is not None
            and isinstance(s, (tree.Decl, tree.ModelDecl, tree.TopologyDecl))
        ):
            if isinstance(s, tree.TopologyDecl):
                name.inner = self.instance(s, home)
            elif isinstance(s, tree.ModelDecl) or s.kind.name in KINDS["scope"]:
                name.inner = NameBlock(name.block if isinstance(s, tree.Decl) else self.top(home))
                self.declare(name.inner, s.body or (), home, isinstance(s, tree.Decl))
        return name.inner

    def declare(self, block: NameBlock, body: Iterable[tree.Stmt], home: Linked, own: bool = False) -> None:
        """Enter what the statements of a block declare, extensions of its groups among them; ``own``: it is a
        fabric's own."""
        block.own = block.own or own
        for s in flattened_statements(body):
            if isinstance(s, (tree.Let, tree.Param, tree.Def)):
                add_name_to_block(block.values, self.named(s, block, home))
            elif isinstance(s, tree.Decl):
                self.declared(block, s, home)
            elif isinstance(s, tree.TierDecl):
                tier = self.named(s, block, home)
                tier.inner = block
                add_name_to_block(block.members, tier)
            elif isinstance(s, tree.Setting) and own:
                self.intent(block, s, home)
        for s in flattened_statements(body):
            if isinstance(s, tree.Extend):
                for group in self.steps(block, s.path):
                    if group.inner is not None:
                        self.declare(group.inner, s.body, home)

    def declared(self, block: NameBlock, s: tree.Decl, home: Linked) -> None:
        """Enter a declaration of a device, group, port, or part of a host's layout."""
        kind = s.kind.name
        if kind in ("numa", "pcie") and s.shape is None and s.name.name in block.members:
            return  # it describes what is declared before
        name = self.named(s, block, home)
        add_name_to_block(block.members, name)
        if kind in KINDS["group"] and name.inner is None:
            name.inner = NameBlock(block)
            self.declare(name.inner, s.body or (), home)
        elif kind in KINDS["scope"]:
            self.inside(name)

    def intent(self, block: NameBlock, s: tree.Setting, home: Linked) -> None:
        """Enter what an intent declares: hosts, pods, planes, and the devices and tiers of its topology."""
        word = s.name.name
        made = DEVICES.get(word) or {"pods": "pod", "planes": "plane"}.get(word)
        if word in DEVICES and not any(w == "x" for i in s.items for w, _ in i.args):
            return
        if made is not None:
            why = f"`{made}` is the name that `{word}` gives"
            inner = None if word in DEVICES else block
            add_name_to_block(block.members, Name(made, made, s.name.span, s, block, home, inner, fixed=why))
            return
        entry = self.topology(home, word)
        if entry is None or not isinstance(entry.node, tree.TopologyDecl):
            return
        instance = self.instance(entry.node, entry.home, s, block, home)
        for names in instance.members.values():
            for n in names:
                add_name_to_block(block.members, n)

    def instance(
        self,
        node: tree.TopologyDecl,
        home: Linked,
        s: tree.Setting | None = None,
        at: NameBlock | None = None,
        by: Linked | None = None,
    ) -> NameBlock:
        """The block of a topology; with what the braces of a statement give for its parameters, and the tiers
        written there."""
        out = NameBlock(self.top(home))
        for f in node.formals:
            formal = _name_of_parameter(f, out, home)
            add_name_to_block(out.values, formal)
            items = _items_for_parameter(s, node, f) if s is not None else ()
            if items and at is not None and by is not None:
                formal.given = (items[0].value, at, by)
        tiers = [x for x in s.body or () if isinstance(x, tree.TierDecl)] if s is not None else []
        mine = [x for x in node.body if not (tiers and isinstance(x, tree.TierDecl))]
        # The statements of an instance are of their own: their devices have the models that its parameters
        # name.
        held, self.nodes = self.nodes, {}
        self.declare(out, mine, home)
        self.nodes = held
        for x in tiers:
            tier = Name(x.name.name, "tier", x.name.span, x, at or out, by or home, out)
            add_name_to_block(out.members, tier)
        return out

    # ------------------------------------------------------------ paths
    def steps(self, block: NameBlock, path: tree.PathExpr) -> list[Name]:
        """What a path names, as seen from a block."""
        found: list[Name] = []
        for k, part in enumerate(p for p in path.parts if isinstance(p, tree.Identifier)):
            found = self.step(found, part.name) if k else block.member(part.name)
        return found

    def step(self, names: Iterable[Name], part: str) -> list[Name]:
        """The members of that name of a group, or the ports and devices inside a device."""
        found: dict[Key, Name] = {}
        for name in names:
            own = name.inner.members.get(part, []) if name.inner is not None else []
            for n in own or [
                x for m in self.models(name) if (b := self.inside(m)) for x in b.members.get(part, [])
            ]:
                found.setdefault(n.key, n)
        return list(found.values())

    def models(self, name: Name) -> list[Name]:
        """The models that a device may be of."""
        s, e = name.node, None
        if isinstance(s, tree.Decl):
            e = s.of
        elif isinstance(s, tree.Setting) and s.items:
            e = next((v for w, v in s.items[0].args if w == "x"), None)
        elif isinstance(s, tree.TierDecl):
            written = next(
                (x for x in s.body if isinstance(x, tree.Setting) and x.name.name == "switch" and x.items),
                None,
            )
            e = written.items[0].value if written else None
        return self.model(e, name.block, name.home) if e is not None and name.home is not None else []

    def model(self, e: tree.Expr, block: NameBlock, home: Linked, depth: int = 0) -> list[Name]:
        """The models that an expression names, through values and parameters that stand for one."""
        if not isinstance(e, tree.PathExpr) or e.bare is None or depth > DEPTH:
            return []
        values = block.value(e.bare)
        if values:
            return [
                m
                for v in values
                if (v.target or v).given
                for m in self.model(*_expression_given_for(v), depth + 1)
            ]
        found = self.entry(home, e.bare)
        return (
            [found] if found is not None and isinstance((found.target or found).node, tree.ModelDecl) else []
        )


def _name_of_parameter(formal: tree.Formal, block: NameBlock, home: Linked) -> Name:
    """A parameter of a topology with its default."""
    name = formal.name.name
    why = f"fabrics fill `{name}` by its name" if name in GIVEN else ""
    out = Name(name, "parameter", formal.name.span, None, block, home, fixed=why, type=formal.type.name)
    out.given = (formal.default, block, home) if formal.default is not None else None
    return out


def _items_for_parameter(
    s: tree.Setting, node: tree.TopologyDecl, formal: tree.Formal
) -> tuple[tree.SettingItem, ...]:
    """What a fabric's statement gives for a parameter of its topology: in braces by name, before them for the
    first that can be set."""
    for x in s.body or ():
        if isinstance(x, tree.Setting) and x.name.name == formal.name.name:
            return x.items
    first = next((f for f in node.formals if f.type.name != "ports"), None)
    return s.items if formal is first else ()


def _expression_given_for(name: Name) -> tuple[tree.Expr, NameBlock, Linked]:
    given = (name.target or name).given
    assert given is not None
    return given
