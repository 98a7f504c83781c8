"""Which declaration each name in a text stands for, whether or not the text compiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from tdsl.findings.source import SourceSpan
from tdsl.ide.scopes import Name, NameBlock, Scopes, add_name_to_block, flattened_statements
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.intent import DEVICES
from tdsl.semantics.library import Linked
from tdsl.semantics.statements import is_cable
from tdsl.syntax import tree
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.keywords import KINDS

WORDED = ("role", "layer", "nos", "transport", "purpose", "minimize")
"""Settings whose value is a word, whatever names there are."""
PATHED = ("asn", "full", "limited", "subnet_manager")
"""Settings of paths to devices, as are ``address`` and ``hosts`` with more behind them."""
ELEMENT = {"i": "the index", "lane": "the lane", "lanes": "how many lanes there are"}
"""What the language names in the settings of ports and of a host's layout."""

Paths = Iterable[tree.PathExpr]


class FileNames:
    """The names of one file. ``found`` has for each place where one stands the declarations it may mean."""

    def __init__(self, scopes: Scopes, home: Linked) -> None:
        self.scopes, self.home, self.file = scopes, home, home.module.file
        self.found: dict[tuple[int, int], tuple[Name, ...]] = {}
        self.crowded: dict[
            tuple[int, int], tuple[Name, ...]
        ] = {}  # of each fabric, the members that share a name
        self.top = scopes.top(home)
        for s in flattened_statements(home.module.body):
            if isinstance(s, tree.Extend):
                for group in self.addressed(s.path):
                    block = scopes.inside(group)
                    if block is not None:
                        scopes.declare(block, s.body, home, group.what in KINDS["scope"])
        self.walk(home.module.body, self.top)

    def at(self, offset: int) -> tuple[SourceSpan, tuple[Name, ...]] | None:
        """The name that stands at an offset, or ends there."""
        held = [k for k in self.found if k[0] <= offset <= k[1]]
        if not held:
            return None
        start, end = max(held)
        return SourceSpan(self.file, start, end), self.found[start, end]

    def mark(self, span: SourceSpan, names: Iterable[Name]) -> None:
        """Remember what stands at a place."""
        names = tuple(names)
        if names and span.file is self.file:
            self.found[span.start, span.end] = names

    # ------------------------------------------------------------ statements
    def walk(self, body: Iterable[tree.Stmt], block: NameBlock) -> None:
        """Every statement of a block."""
        for s in body:
            self.statement(s, block)

    # Long: one case for each kind of statement.
    def statement(self, s: tree.Stmt, block: NameBlock) -> None:
        """One statement."""
        # One case for each kind of statement, in one place, so that a new kind is not forgotten.
        match s:
            case tree.Use():
                self.use(s)
            case tree.Param() | tree.Let():
                self.mark(s.name.span, block.values.get(s.name.name, ()))
                self.deep((s.value if isinstance(s, tree.Let) else s.default, s.guard), block)
            case tree.Def():
                self.mark(s.name.span, block.values.get(s.name.name, ()))
                self.deep(s.body, self.formals(s, NameBlock(block)))
            case tree.Decl():
                self.decl(s, block)
            case tree.ModelDecl() | tree.TopologyDecl():
                self.mark(s.name.span, block.members.get(s.name.name, ()))
                inner = self.scopes.inside(self.scopes.mine(s, block, self.home)) or block
                if isinstance(s, tree.TopologyDecl):
                    self.formals(s, inner)
                self.walk(s.body, inner)
            case tree.If():
                for test, inside in s.branches:
                    self.deep(test, block)
                    self.walk(inside, block)
                self.walk(s.other, block)
            case tree.For():
                self.deep(s.over, block)
                inner = self.variable(s.var, "loop variable", block)
                self.scopes.declare(inner, s.body, self.home)
                self.walk(s.body, inner)
            case tree.Setting():
                self.setting(s, block)
            case tree.PhaseBlock():
                self.phase(s, block)
            case tree.TierDecl():
                self.mark(s.name.span, block.members.get(s.name.name, ()))
                self.mark(s.child.span, [n for n in block.member(s.child.name) if n.what == "tier"])
                self.deep((s.count, s.body), block)
            case tree.Broken():
                self.walk(s.body, block)
                self.lost(s.span, block)
            case _:
                self.pathed(s, block)

    def phase(self, s: tree.PhaseBlock, block: NameBlock) -> None:
        """A phase: its settings are parameters of the fabric."""
        for x in s.body:
            if isinstance(x, tree.Setting):
                names = block.values.get(x.name.name, ())
                self.mark(x.name.span, [n for n in names if isinstance(n.node, tree.Param)])
                self.deep(x.items, block)
            else:
                self.statement(x, block)

    def use(self, s: tree.Use) -> None:
        """``use a.b (X as Z)``: the file, and what it declares."""
        try:
            paths = self.scopes.library.loader.find(s, self.home.module.folder)
            module = self.scopes.library.loader.read(paths[0]) if len(paths) == 1 else None
        except (Fault, Excused, OSError):
            module = None
        if module is not None:
            whole = SourceSpan(module.file, 0, 0)
            file = Name(s.module[-1].name, "file", whole, fixed="this is the name of a file")
            for part in s.module:
                self.mark(part.span, [file])
        for u in s.names:
            given = (u.alias or u.name).name
            names = self.top.values.get(given) or self.top.members.get(given, [])
            if u.alias is not None:
                self.mark(u.alias.span, [n for n in names if n.target is not None])
            self.mark(u.name.span, [n.target or n for n in names if u.alias is None or n.target is not None])

    def formals(self, s: tree.Def | tree.TopologyDecl, inner: NameBlock) -> NameBlock:
        """The parameters of a function or topology; their defaults see those before them."""
        for f in s.formals:
            if isinstance(s, tree.Def):
                add_name_to_block(
                    inner.values, Name(f.name.name, "parameter", f.name.span, None, inner, self.home)
                )
            self.mark(f.name.span, inner.values.get(f.name.name, ()))
            if f.default is not None and f.type.name not in ("pattern", "path"):
                self.deep(f.default, inner)
        return inner

    def variable(self, m: tree.Identifier, what: str, around: NameBlock) -> NameBlock:
        """A block with a variable in it."""
        inner = NameBlock(around)
        add_name_to_block(inner.values, Name(m.name, what, m.span, None, inner, self.home))
        self.mark(m.span, inner.values[m.name])
        return inner

    def decl(self, s: tree.Decl, block: NameBlock) -> None:
        """A fabric, group, device, port, or part of a host's layout."""
        kind, names = s.kind.name, block.members.get(s.name.name, [])
        self.mark(s.name.span, names)
        self.deep((s.shape, s.title), block)
        if kind in KINDS["scope"] or kind in KINDS["group"]:
            self.group(s, block)
        elif kind in KINDS["part"]:
            self.host_part(s, names, block)
        else:
            self.deep(s.of, block)
            self.device(s.body or (), names, block)

    def group(self, s: tree.Decl, block: NameBlock) -> None:
        """What a fabric, cluster or group holds, and in a fabric which of its members share a name."""
        inner = self.scopes.inside(self.scopes.mine(s, block, self.home))
        self.walk(s.body or (), inner if inner is not None else block)
        if inner is not None and inner.own:
            around = block.members if block.own else {}  # a cluster lends its members to its fabrics
            shared = [names + around.get(name, []) for name, names in inner.members.items()]
            self.crowded[s.name.span.start, -1] = tuple(n for names in shared if names[1:] for n in names)

    def host_part(self, s: tree.Decl, names: list[Name], block: NameBlock) -> None:
        """A port, or a part of a host's layout; its settings see the predefined names."""
        self.deep(s.of, block)
        inner = NameBlock(block)
        for word, what in ELEMENT.items():
            why = f"`{word}` is {what}, a predefined name"
            inner.values[word] = [Name(word, what, s.name.span, None, inner, self.home, fixed=why)]
        inner.values[s.name.name] = names
        for x in s.body or ():
            if isinstance(x, tree.Setting) and x.name.name == "on":
                self.joined([i.value for i in x.items if isinstance(i.value, tree.PathExpr)], inner)
            else:
                self.deep(x, inner)

    def device(self, body: Iterable[tree.Stmt], names: list[Name], block: NameBlock) -> None:
        """What stands in the braces of a device: of its settings ``split`` names a port class of its
        model."""
        for x in body:
            if not isinstance(x, tree.Setting) or x.name.name in WORDED:
                continue
            for item in x.items:
                value = item.value
                parts = value.parts if x.name.name == "split" and isinstance(value, tree.PathExpr) else ()
                if parts and isinstance(parts[0], tree.Identifier):
                    self.mark(parts[0].span, self.scopes.step(names, parts[0].name))
                    self.deep(parts[1:], block)
                else:
                    self.deep(value, block)
                self.deep(item.args, block)

    # ------------------------------------------------------------ settings
    def setting(self, s: tree.Setting, block: NameBlock) -> None:
        """A setting of a fabric, a group or a model; an intent and the topology it names among them."""
        word = s.name.name
        self.mark(s.name.span, [n for ns in block.members.values() for n in ns if n.node is s])
        if word in WORDED:
            return
        if word in DEVICES:
            self.intent_devices(s, block)
        elif word in PATHED or word in ("address", "distance"):
            self.setting_with_paths(s, block)
        elif word in ("partition", "routing", "roce"):
            self.deep([i.args for i in s.items], block)
            self.walk([x for x in s.body or () if isinstance(x, tree.Setting)], block)
        elif word == "cable":
            self.part(s, block)
        else:
            self.asked_topology(s, block)

    def setting_with_paths(self, s: tree.Setting, block: NameBlock) -> None:
        """A setting of devices, such as their addresses or the distance to others."""
        args = [a for i in s.items for a in i.args]
        far = [v for w, v in args if w == "to" and isinstance(v, tree.PathExpr)]
        others = [v for w, v in args if v not in far]
        self.joined([*_paths_of_setting(s), *far], block, others, s.body or ())

    def intent_devices(self, s: tree.Setting, block: NameBlock) -> None:
        """The devices that an intent names, or makes so many of a model of."""
        many = any(w == "x" for i in s.items for w, _ in i.args)
        more = [(i.value if many else (), i.args) for i in s.items]
        self.joined([] if many else _paths_of_setting(s), block, more)
        self.device(s.body or (), block.members.get(DEVICES[s.name.name], []), block)

    def asked_topology(self, s: tree.Setting, block: NameBlock) -> None:
        """The topology that a setting of a fabric names, with its parameters; else a plain setting."""
        entry = self.scopes.topology(self.home, s.name.name) if block.own else None
        if entry is None:
            self.deep((s.items, s.body or ()), block)
        else:
            self.mark(s.name.span, [self.scopes.of(entry)])
            self.arguments(s, self.scopes.inside(self.scopes.of(entry)) or NameBlock(), block)

    def arguments(self, s: tree.Setting, formals: NameBlock, block: NameBlock) -> None:
        """What the braces of a topology say for its parameters."""
        node = formals.values
        first = next((n for names in node.values() for n in names if n.type != "ports"), None)
        for x in (s, *(s.body or ())):
            if not isinstance(x, tree.Setting):
                self.statement(x, block)
                continue
            names = node.get(x.name.name, []) if x is not s else [first] if first is not None else []
            if x is not s:
                self.mark(x.name.span, names)
            for i in x.items:
                if not any(n.type == "pattern" for n in names):
                    self.deep(i.value, block)
                self.deep(i.args, block)

    def part(self, s: tree.Setting, block: NameBlock) -> None:
        """``cable PART`` of a connect: a string may name a part of the catalogue, too."""
        for i in s.items:
            if (
                isinstance(i.value, tree.Str)
                and len(i.value.parts) == 1
                and isinstance(i.value.parts[0], str)
            ):
                name = self.scopes.entry(self.home, i.value.parts[0])
                if name is not None and is_cable((name.target or name).node):
                    self.mark(SourceSpan(self.file, i.value.span.start + 1, i.value.span.end - 1), [name])
        self.deep(s.items, block)

    # ------------------------------------------------------------ paths
    # Long: one case for each kind of statement with paths.
    def pathed(self, s: tree.Stmt, block: NameBlock) -> None:
        """A statement with paths to devices."""
        match s:
            case tree.Connect():
                self.connect(s, block)
            case tree.Omit():
                self.joined(s.paths, block, s.guard)
            case tree.Naming():
                around = NameBlock(block)
                around.values["fabric"] = self.fabrics(block)
                self.joined([s.path], around, (s.template, s.guard))
            case tree.PlaceStmt():
                self.joined([s.path, s.into, *s.more], block, s.value)
            case tree.Require():
                for claim in s.claims:
                    self.claim(claim, block)
            case tree.Extend():
                self.extend(s, block)
            case tree.Override():
                self.far(s.path, block)
                self.deep(s.model, block)
                self.deep([i.args for x in s.body if isinstance(x, tree.Setting) for i in x.items], block)
            case _:
                pass

    def connect(self, s: tree.Connect, block: NameBlock) -> None:
        """The ends of a connect, its pattern and the pattern's arguments."""
        pattern = s.pattern
        if pattern is not None:
            named = [n for n in block.value(pattern.name.name) if n.type == "pattern"]
            self.mark(pattern.name.span, named)
        args = [e for _, e in pattern.args] if pattern else []
        paths = [*s.a, *s.b, *([s.via] if s.via else [])]
        self.joined(paths, block, [s.copies, *args, s.guard], s.body)

    def extend(self, s: tree.Extend, block: NameBlock) -> None:
        """The group that is extended, and what it gets."""
        self.far(s.path, block)
        groups = self.addressed(s.path) if block is self.top else self.scopes.steps(block, s.path)
        inner = next((b for g in groups if (b := self.scopes.inside(g)) is not None), None)
        self.walk(s.body, inner if inner is not None else NameBlock(block))

    def fabrics(self, block: NameBlock) -> list[Name]:
        """What ``fabric`` in a naming stands for: the fabrics around a block."""
        why = "`fabric` is a predefined name of the language"
        out = []
        at = block
        while at.around is not None:
            names = [
                n for ns in at.around.members.values() for n in ns if n.inner is at and n.what == "fabric"
            ]
            out += [Name("fabric", n.what, n.place, n.node, n.block, n.home, fixed=why) for n in names]
            at = at.around
        return out

    def addressed(self, path: tree.PathExpr) -> list[Name]:
        """What a path at the top of a file names: it begins with a fabric."""
        members = [p.name for p in path.parts if isinstance(p, tree.Identifier)]
        found = [n.target or n for n in self.top.members.get(members[0], [])]
        for n in found:
            self.scopes.inside(n)
        for part in members[1:]:
            found = self.scopes.step(found, part)
        return found

    def far(self, path: tree.PathExpr, block: NameBlock) -> None:
        """The path of an extend or override, which at the top of a file begins with a fabric."""
        if block is self.top:
            self.addressed(path)
        self.joined([path], block)

    def joined(
        self,
        paths: Paths,
        block: NameBlock,
        more: Any = None,
        body: Iterable[tree.Stmt] = (),
        claim: bool = False,
    ) -> None:
        """Paths, their index variables, and the expressions and settings that see these."""
        inner = NameBlock(block)
        self.enter_index_variables(paths, inner)
        for path in paths:
            self.path(path, inner, claim)
        self.deep(more, inner)
        for x in body:
            if isinstance(x, tree.Setting) and x.name.name == "cable":
                self.part(x, inner)
            elif isinstance(x, tree.Setting):
                for i in x.items:  # strings see index variables; a bare word is none of them
                    if not self.word(i.value, inner):
                        self.deep(i.value, inner if isinstance(i.value, tree.Str) else block)
                    self.deep(i.args, block)

    def enter_index_variables(self, paths: Paths, inner: NameBlock) -> None:
        """Enter the bare names in the brackets of paths that have no meaning yet."""
        entries = (
            e for p in paths for part in p.parts if isinstance(part, tree.IndexPart) for e in part.entries
        )
        for e in entries:
            if isinstance(e, tree.PathExpr) and e.bare is not None and not inner.value(e.bare):
                variable = Name(e.bare, "index variable", e.span, None, inner, self.home)
                add_name_to_block(inner.values, variable)

    def word(self, e: tree.Expr, block: NameBlock) -> bool:
        """Whether a setting's value stays a word though a topology has a parameter of this name: that is a
        pattern."""
        return (
            isinstance(e, tree.PathExpr)
            and e.bare is not None
            and any(n.type == "pattern" for n in block.value(e.bare))
        )

    def path(self, path: tree.PathExpr, block: NameBlock, claim: bool) -> None:
        """A path through groups and devices to ports."""
        names: list[Name] = []
        for k, part in enumerate(path.parts):
            if isinstance(part, tree.Identifier):
                if k == 0 and block.around is self.top:
                    names = self.top.members.get(part.name, [])
                elif k == 0:
                    names = block.member(part.name) or [
                        n for n in block.value(part.name) if n.type == "ports"
                    ]
                    names = names or (block.everywhere(part.name) if claim else [])
                else:
                    names = self.scopes.step(names, part.name)
                self.mark(part.span, names)
            else:
                self.deep(part, block)

    def claim(self, c: tree.Claim, block: NameBlock) -> None:
        """A claim; a bare name there may stand for devices in whichever group."""
        self.joined([*c.of, *c.of_to, *c.at], block, (c.args, c.any_count, c.value), claim=True)
        if c.given is not None:
            self.claim(c.given, block)

    # ------------------------------------------------------------ expressions
    def deep(self, n: Any, block: NameBlock) -> None:
        """Any part of a statement whose names are values or models."""
        if isinstance(n, tree.PathExpr):
            head = n.parts[0]
            assert isinstance(head, tree.Identifier)
            self.mark(head.span, self.worth(head.name, block))
            for part in n.parts[1:]:
                self.deep(part, block)
        elif isinstance(n, tree.Comprehension):
            self.deep(n.over, block)
            self.deep(n.item, self.variable(n.var, "loop variable", block))
        elif isinstance(n, (tuple, list)):
            for x in n:
                self.deep(x, block)
        elif isinstance(n, tree.Setting):
            self.deep((n.items, n.body), block)
        elif is_dataclass(n) and not isinstance(n, (SourceSpan, tree.Identifier)):
            for f in fields(n):
                self.deep(getattr(n, f.name), block)

    def worth(self, name: str, block: NameBlock) -> list[Name]:
        """What a name means where a value stands."""
        found = block.value(name)
        if found or name in (*BUILTINS, "true", "false"):
            return found
        entry = self.scopes.entry(self.home, name)
        return (
            [entry] if entry is not None and isinstance((entry.target or entry).node, tree.ModelDecl) else []
        )

    def lost(self, span: SourceSpan, block: NameBlock) -> None:
        """The names of a statement that did not parse: what each most likely means."""
        levels: list[list[Name]] = [[]]
        before = ""
        for t in load_grammar_tables().scanner.scan(self.file, span.start, span.end):
            if t.type in ("LSQB", "LPAR"):
                levels.append([])
            elif t.type in ("RSQB", "RPAR") and len(levels) > 1:
                levels.pop()
            elif t.type == "NAME":
                if before == "DOT":
                    levels[-1] = self.scopes.step(levels[-1], t.text)
                else:
                    levels[-1] = block.member(t.text) or self.worth(t.text, block)
                if (t.start, t.end) not in self.found:
                    self.mark(t.span, levels[-1])
            before = t.type


def _paths_of_setting(s: tree.Setting) -> list[tree.PathExpr]:
    """The values of a setting that are paths."""
    return [i.value for i in s.items if isinstance(i.value, tree.PathExpr)]
