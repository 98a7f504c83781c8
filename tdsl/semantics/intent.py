"""Intent: ``hosts``, ``rails``, ``planes``, ``pods`` and blocks that name a topology become the structure
they stand for.

What is made is text, as a person could have written it; ``tdsl expand`` prints it, and the planner reads it
in the place of the intent, whose places in the text it bears.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics import topology
from tdsl.semantics.devices import device_settings, split_model
from tdsl.semantics.ends import EndSet, HostEnds, assign_rails_and_planes
from tdsl.semantics.extents import axes_of
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.later import WORDS as LATER
from tdsl.semantics.library import TopLevelName
from tdsl.semantics.model import KINDS, DeviceModel
from tdsl.semantics.plan import Group, Unfolded
from tdsl.semantics.quantity import RATE, Quantity
from tdsl.semantics.seats import report_mixed_kinds
from tdsl.semantics.settings import fitting_rate
from tdsl.semantics.sizing import HostLoad, Sizer, TierSpec
from tdsl.semantics.tier_specs import TierReader, has_tree_of_each_rail
from tdsl.semantics.tiered import StructureLine, Weaver
from tdsl.semantics.topology import Binder, Instance
from tdsl.semantics.unfold import Unfolder
from tdsl.semantics.values import Value
from tdsl.syntax import tree
from tdsl.syntax.keywords import GRAMMAR_WORDS, KIND_WORDS, SETTINGS
from tdsl.syntax.parser import parse_source_file
from tdsl.syntax.writer import statement_text

if TYPE_CHECKING:
    from tdsl.semantics.planner import FabricPlanner

DEVICES = {"hosts": "host", "chips": "chip"}
COUNTS = ("rails", "planes", "pods")
WORDS = (*DEVICES, *COUNTS)
MADE = ("host", "chip", "plane", "pod", "group")

Chain = tuple[tuple[SourceSpan, str], ...]
Piece = tuple[tree.Stmt, Chain]


def branch_has_intent(planner: FabricPlanner, s: tree.If) -> bool:
    """Whether a branch of an ``if``, or of one inside it, has a part of the intent."""
    return any(
        x.name.name in WORDS or topology.find_topology(planner.library, planner.home, x.name.name) is not None
        for x in _settings_in_branches(s)
    )


def _settings_in_branches(s: tree.If) -> Iterator[tree.Setting]:
    for body in (*(branch for _, branch in s.branches), s.other):
        for x in body:
            if isinstance(x, tree.Setting):
                yield x
            elif isinstance(x, tree.If):
                yield from _settings_in_branches(x)


class Intent:
    """The intent of one block, of a fabric or a group."""

    def __init__(
        self, planner: FabricPlanner, body: tuple[tree.Stmt, ...], group: Group, places: Mapping[int, Chain]
    ) -> None:
        self.planner, self.body, self.scope, self.group, self.places = (
            planner,
            body,
            group.scope,
            group,
            places,
        )
        self.evaluator = planner.evaluator
        self.ends: HostEnds | None = None
        self.counts: dict[str, tuple[int, SourceSpan]] = {}
        self.broken = False
        self.taken: set[str] = set()
        self.sizer: Sizer | None = None  # of the block that is being unfolded

    # ------------------------------------------------------------ driving
    def run(self) -> list[Piece]:
        """The block's statements with its intent replaced, each with the places that led to it."""
        settings = [s for s in self.body if isinstance(s, tree.Setting)]
        hosts = [s for s in settings if s.name.name in DEVICES]
        counts = [s for s in settings if s.name.name in COUNTS]
        blocks = [(s, e) for s in settings if (e := self.asked(s)) is not None]
        if not (hosts or counts or blocks):
            return [(s, self.places[id(s)]) for s in self.body]
        made = self.unfold(hosts, counts, blocks)
        if self.broken:
            self.excuse()
        asked = {id(s) for s, _ in blocks}
        out: list[Piece] = []
        for other in self.body:
            pieces = made.get(id(other), [] if id(other) in asked else [(other, ())])
            out += [(x, (*self.places[id(other)], *chain)) for x, chain in pieces]
        return out

    def unfold(
        self,
        hosts: list[tree.Setting],
        counts: list[tree.Setting],
        blocks: list[tuple[tree.Setting, TopLevelName]],
    ) -> dict[int, list[Piece]]:
        """Statement of the intent, by its identity -> what it stands for. Blocks come last, and only where
        all before them is understood."""
        made: dict[int, list[Piece]] = {}
        for s in counts:
            self.guard(made, s, self.count)
        for s in hosts:
            self.guard(made, s, self.hosts)
        if self.ends is not None:
            self.guard(made, counts[0] if counts else hosts[0], self.organise)
        for s, entry in blocks if not self.broken else ():
            self.guard(made, s, partial(self.block, entry))
        if not blocks and not self.broken:
            self.guard(made, (hosts or counts)[0], self.alone)
        return made

    def asked(self, s: tree.Setting) -> TopLevelName | None:
        """The topology that a statement names, if it is none of the language's own."""
        if s.name.name in WORDS or s.name.name in LATER:
            return None
        return topology.find_topology(self.planner.library, self.planner.home, s.name.name)

    def guard(
        self,
        made: dict[int, list[Piece]],
        s: tree.Setting,
        step: Callable[[tree.Setting], list[StructureLine]],
    ) -> None:
        """Unfold one statement; if it cannot be, what it would have declared is excused."""

        def run() -> None:
            lines = step(s)
            if step != self.organise:
                made[id(s)] = [p for line in lines for p in self.parsed(line, s.name.span)]
                self.planner.plan.unfolded.append(Unfolded(s.span, "\n".join(line.text for line in lines)))

        made.setdefault(id(s), [])
        if not self.planner.guard(run):
            self.broken = True

    def excuse(self) -> None:
        """Names that the intent would have declared are not reported as absent."""
        self.scope.excused.update(MADE)
        self.planner.plan.excused.update((*MADE, *_declared_names(self.body)))
        for other in self.body:
            if isinstance(other, tree.Setting):
                self.scope.excused.update(
                    x.name.name for x in other.body or () if isinstance(x, (tree.TierDecl, tree.Setting))
                )
                entry = self.asked(other)
                if entry is not None and isinstance(entry.node, tree.TopologyDecl):
                    self.scope.excused.update(_declared_names(entry.node.body))

    def parsed(self, line: StructureLine, default: SourceSpan) -> list[Piece]:
        """The statements of a text, at the places of the intent."""
        local = Diagnostics()
        body = parse_source_file(SourceFile("expansion", line.text + "\n"), local).body
        if local.has_errors:
            raise Fault(
                "E0120", line.span, "this does not expand to a statement", notes=[line.text.split("\n")[0]]
            )
        return [(_with_intent_spans(s, line.span, dict(line.spans)), line.chain) for s in body]

    def fresh(self, base: str) -> str:
        """A name for an index variable that means nothing else here."""
        while self.scope.find(base) is not None:
            base += "_"
        return base

    # ------------------------------------------------------------ numbers
    def count(self, s: tree.Setting) -> list[StructureLine]:
        """``rails 8``, ``planes 8``, ``pods 4``."""
        name = s.name.name
        if name in self.counts:
            raise Fault(
                "E0104", s.span, f"`{name}` is given twice", labels=[(self.counts[name][1], "first here")]
            )
        if s.body is not None and s.items and (path := s.items[0].span.text):
            self.scope.excused.update(re.findall(r"\w+", path))
            kind = name.removesuffix("s")
            raise Fault(
                "E0120",
                s.name.span,
                f"`{name}` says how many there are; a block is declared by `{kind}`",
                help=f"write `{kind} {path} {{`",
                fix=Fix(f"write `{kind}`", ((s.name.span, kind),)),
            )
        if len(s.items) != 1 or s.items[0].args or s.body is not None:
            raise Fault("E0120", s.span, f"`{name}` takes one number", help=f"`{name} 8`")
        written = s.items[0].value
        if (
            isinstance(written, tree.PathExpr)
            and written.bare
            and self.scope.find(written.bare, written.span) is None
        ):
            if self.scope.is_excused(written.bare):
                raise Excused
            message = f"`{name}` is followed by how many there are, and `{written.bare}` is not a number"
            raise Fault("E0120", written.span, message, help=f"write `{name} 8`")
        value = self.evaluator.integer(written, self.scope)
        if value < 1:
            raise Fault("E0120", s.items[0].span, f"there is at least one of `{name}`; this is {value}")
        self.counts[name] = (value, s.span)
        return []

    # ------------------------------------------------------------ ends
    def hosts(self, s: tree.Setting) -> list[StructureLine]:
        """``hosts N x MODEL``, or ``hosts node.nic, filer.nic``."""
        if not s.items:
            raise Fault(
                "E0120",
                s.span,
                "say how many of which model",
                help="`hosts 128 x MODEL`, or `hosts NAME.CLASS`",
            )
        first = s.items[0]
        many = next((v for w, v in first.args if w == "x"), None)
        if many is not None:
            line = self.declared(s, first, many)
            kind = DEVICES[s.name.name]
            decl = self.parsed(line, s.name.span)[0][0]
            assert isinstance(decl, tree.Decl)
            sets = [
                self.end_set([(kind, axes_of(decl.shape, self.scope, self.evaluator))], decl, None, s.span)
            ]
            lines = [line]
        else:
            sets, lines = [self.around(item) for item in s.items], []
        before = self.ends.sets if self.ends is not None else ()
        for found in sets:
            before = (*before, replace(found, first=sum(x.hosts for x in before)))
        self.ends = HostEnds(before, s.span)
        return lines

    def declared(self, s: tree.Setting, item: tree.SettingItem, model: tree.Expr) -> StructureLine:
        """The declaration that ``hosts N x MODEL`` stands for."""
        if len(s.items) > 1:
            raise Fault("E0120", s.items[1].span, f"one `{s.name.name}` declares devices of one model")
        product = re.fullmatch(r"(\w++(?: x \w++)+) x (\w++)", item.span.text)
        if product is not None:
            new = f"{product[1].replace(' x ', ' * ')} x {product[2]}"
            fix = Fix(f"write `{new}`", ((item.span, new),), safe=False)
            raise Fault("E0120", item.span, "`*` multiplies", help=f"write `{new}`", fix=fix)
        apart = re.match(
            r"[A-Za-z]\w*(?:[- ]\w+)+(?=\s*(?:\{|;|#|\n|$))", model.span.file.text[model.span.start :]
        )
        words = re.split("[- ]", apart[0]) if apart is not None else []
        if (
            apart is not None
            and len(words) > 1
            and len(set(words)) == len(words)
            and not GRAMMAR_WORDS & {*words}
        ):
            whole = SourceSpan(model.span.file, model.span.start, model.span.start + apart.end())
            new = re.sub("[- ]", "_", apart[0])
            last, lead = words[-1], words[0].islower()
            if words[1].islower() and not words[0].islower() and words[1] not in _BESIDE_HOSTS:
                gone = SourceSpan(whole.file, whole.start + len(words[0]), whole.end)
                message = f"the model is one word, and `{gone.text.strip()}` follows it"
                raise Fault("E0120", gone, message, help=f"write `{words[0]}` alone, or settings in braces")
            if words[1] in _BESIDE_HOSTS:
                at = SourceSpan(whole.file, whole.start + len(words[0]), whole.start + len(words[0]))
                raise Fault(
                    "E0120",
                    SourceSpan(whole.file, at.start + 1, at.start + 1 + len(words[1])),
                    f"`{words[1]}` begins a statement of its own",
                    help=f"write `; {words[1]}`, or begin a new line",
                    fix=Fix("put `;`", ((at, ";"),), safe=False),
                )
            if lead and len(words) == 2:
                gone = SourceSpan(whole.file, whole.start, whole.end - len(last))
                raise Fault(
                    "E0120",
                    gone,
                    f"`{words[0]}` is between `x` and the name of a model, which is one word",
                    help=f"write `{last}`",
                    fix=Fix(f"write `{last}`", ((gone, ""),), safe=False),
                )
            fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
            raise Fault(
                "E0120",
                whole,
                "the name of a model has `_`, and no space or `-`",
                help=f"write `{new}`",
                fix=fix,
            )
        if not isinstance(model, tree.PathExpr) or model.bare is None:
            swapped = isinstance(model, tree.Number) and isinstance(item.value, tree.PathExpr)
            new = f"{model.span.text} x {item.value.span.text}" if swapped else ""
            raise Fault(
                "E0120",
                model.span,
                "expected the name of a model" + (": the number comes first" if new else ""),
                help=f"write `{s.name.name} {new or '128 x MODEL'}`",
                fix=Fix(f"write `{new}`", ((item.span, new),)) if new else None,
            )
        shape = self.shape(s, item)
        inner = _device_settings_text(s)
        kind = DEVICES[s.name.name]
        self.settled(s, model, kind)
        if kind in self.taken:
            raise Fault(
                "E0104",
                s.span,
                f"`{kind}` is already declared by another `{s.name.name}`",
                help="declare the hosts, and name them",
            )
        self.taken.add(kind)
        return StructureLine(
            f"{kind} {kind}[{shape}]: {model.bare}{f' {{ {inner} }}' if inner else ''}", s.span
        )

    def shape(self, s: tree.Setting, item: tree.SettingItem) -> str:
        """The extent of the devices of ``hosts N [of M] x MODEL``, as text."""
        count = self.evaluator.integer(item.value, self.scope)
        of = next((v for w, v in item.args if w == "of"), None)
        extra = next((v for w, v in item.args if w not in ("x", "of")), None)
        if extra is not None:
            raise Fault(
                "E0120", extra.span, f"`{s.name.name}` does not use this", help=f"`{s.name.name} 128 x MODEL`"
            )
        shape = str(count) if of is None else f"{count} of {self.evaluator.integer(of, self.scope)}"
        if count < 1:
            raise Fault(
                "E0120", item.value.span, f"there is at least one of `{s.name.name}`; this is {count}"
            )
        return shape

    def settled(self, s: tree.Setting, path: tree.PathExpr, kind: str) -> None:
        """Refuse settings that devices of the model do not take, at the place where they are written."""
        model = self.planner.named_model(path, self.scope)
        made = device_settings(s.body or (), kind, self.scope, self.evaluator)
        if made.splits:
            split_model(model, made.splits)

    def end_set(
        self, parts: list[tuple[str, Any]], decl: tree.Decl, name: tree.Identifier | None, span: SourceSpan
    ) -> EndSet:
        """The ends of a declaration: its model's class of that name, else the first."""
        model, _ = self.planner.model_for(decl, self.scope)
        if not model.classes:
            raise Fault(
                "E0452", span, f"{model.name} has no ports", labels=[(model.origin.span, "declared here")]
            )
        found = model.classes[0] if name is None else model.port_class(name.name)
        if found is None:
            assert name is not None
            raise unknown_name_fault(
                "E0101",
                name.span,
                f"port class of {model.name} called",
                name.name,
                [c.name for c in model.classes],
            )
        return EndSet(tuple(parts), model, found, span)

    def around(self, item: tree.SettingItem) -> EndSet:
        """Ends of hosts that the fabric, or the cluster around it, declares."""
        path = item.value
        if (
            not isinstance(path, tree.PathExpr)
            or item.args
            or any(isinstance(p, tree.Call) for p in path.parts)
        ):
            raise _no_hosts_fault(item)
        body: Iterable[tree.Stmt] = self.body
        parts: list[tuple[str, Any]] = []
        members = [p for p in path.parts if isinstance(p, tree.Identifier)]
        _refuse_part_of_hosts(path, members)
        for k, member in enumerate(members):
            found = self.declaration(members, k, body)
            parts.append((member.name, axes_of(found.shape, self.scope, self.evaluator)))
            if found.kind.name in KINDS:
                rest = members[k + 1 :]
                if len(rest) > 1:
                    raise Fault("E0120", rest[1].span, "nothing follows a port class")
                return self.end_set(parts, found, rest[0] if rest else None, item.span)
            body = found.body or ()
        raise Fault(
            "E0120", item.span, "this is a group; ends are the ports of devices", help="name the hosts in it"
        )

    def declaration(self, members: list[tree.Identifier], k: int, body: Iterable[tree.Stmt]) -> tree.Decl:
        """What the name at ``k`` of a path declares in the block that the names before it lead to."""
        member = members[k]
        decls = {x.name.name: x for x in body if isinstance(x, tree.Decl)}
        found = decls.get(member.name)
        if found is not None:
            return found
        if self.scope.is_excused(member.name):
            raise Excused
        if k == 0:
            self.outside(member)
        inside = next(_groups_declaring(member.name, body), "")
        if not inside:
            raise unknown_name_fault("E0101", member.span, "declaration", member.name, decls)
        around = ".".join([*(m.name for m in members[:k]), inside, *(m.name for m in members[k:])])
        raise Fault(
            "E0101",
            member.span,
            f"`{member.name}` is declared in `{inside}`",
            help=f"write `{around}`",
        )

    def outside(self, name: tree.Identifier) -> None:
        """Refuse hosts of a block around this one: every instance of the group would take the same ports."""
        around, at = self.group.parent, None
        while around is not None and at is None:
            found = around.members.get(name.name)
            at = found.span if isinstance(found, Group) else found.origin.span if found else None
            around = around.parent
        if self.group.parent is not None and at is None:
            decls = (x for x in self.planner.node.body or () if isinstance(x, tree.Decl))
            at = next((x.name.span for x in decls if x.name.name == name.name), None)
        if at is not None:
            self.planner.plan.excused.add(name.name)
            raise Fault(
                "E0101",
                name.span,
                f"the intent of a group joins hosts of that group, and `{name.name}` is declared outside it",
                labels=[(at, "declared here")],
                help=f"declare `{name.name}` inside `{self.group.name}`, or move the intent out of it, to "
                f"where `{name.name}` is",
            )

    def organise(self, s: tree.Setting) -> list[StructureLine]:
        """Rails and planes, which must be extents of the ends."""
        assert self.ends is not None
        self.ends = assign_rails_and_planes(self.ends, self.counts.get("rails"), self.counts.get("planes"))
        return []

    def alone(self, s: tree.Setting) -> list[StructureLine]:
        """Refuse ends that nothing joins."""
        if any(
            isinstance(x, (tree.Broken, tree.TierDecl))
            or (isinstance(x, tree.Setting) and x.name.name not in (*WORDS, *LATER))
            for x in self.body
        ):
            raise Excused  # perhaps the name of the topology, which is said to be unknown
        names = ", ".join(
            f"`{n}`"
            for n in sorted(set(topology.known_topology_names(self.planner.library, self.planner.home)))
        )
        raise Fault(
            "E0120",
            s.span,
            f"`{s.name.name}` needs a topology that connects the ends",
            help=f"known: {names}",
        )

    # ------------------------------------------------------------ blocks
    def block(self, entry: TopLevelName, s: tree.Setting) -> list[StructureLine]:
        """A block that names a topology."""
        self.sizer = None
        try:
            return self.structure(entry, s)
        except Fault as fault:
            fault.diagnostic = self.with_places_of_topology(fault.diagnostic, entry, s)
            raise

    def structure(self, entry: TopLevelName, s: tree.Setting) -> list[StructureLine]:
        """What the block of a topology stands for: its tiers, then its other statements."""
        instance = Binder(entry, s, self.scope, self.evaluator, self.given(), self.model).run()
        if instance.ends and self.ends is None:
            if self.broken or any(isinstance(x, tree.Broken) for x in self.body):
                raise Excused
            raise Fault(
                "E0120",
                s.name.span,
                f"`{s.name.name}` connects hosts, and the design declares none before it",
                help="write `hosts N x MODEL` before it",
            )
        tiers = instance.tiers or tuple(x for x in instance.node.body if isinstance(x, tree.TierDecl))
        lines = self.tiers(s, instance, tiers) if tiers else []
        ends = self.ends or HostEnds((), s.span)
        for made, line in Unfolder(instance, ends, s.name.span, self.evaluator, self.fresh).run():
            lines.append(
                StructureLine(statement_text(made), s.name.span, ((line, "as the topology says here"),))
            )
        self.refuse_names_taken(lines, s)
        if "seated" in instance.scope.names:
            report_mixed_kinds(
                ends,
                instance.scope.value("seated", s.span),
                s.name.span,
                self.planner.library.diagnostics,
            )
        return lines

    def refuse_names_taken(self, lines: list[StructureLine], s: tree.Setting) -> None:
        """Refuse a declaration of the block that has the name of one that the topology makes."""
        own = {x.name.name: x for x in self.body if isinstance(x, tree.Decl)}
        for line in lines:
            found = re.match(r"(\w+) (\w+)", line.text)
            taken = own.get(found[2]) if found is not None and found[1] in KIND_WORDS else None
            if taken is None or found is None:
                continue
            self.scope.excused.add(taken.name.name)
            raise Fault(
                "E0104",
                taken.name.span,
                f"`{s.name.name}` declares a {found[1]} `{taken.name.name}`, and so does this",
                labels=[(line.span, "the topology is asked for here")],
                help=f"give this another name, such as `{taken.name.name}_2`",
            )

    def with_places_of_topology(self, d: Diagnostic, entry: TopLevelName, s: tree.Setting) -> Diagnostic:
        """A finding with the conflict behind it, where sizes are the cause, and with the places in the file
        of the topology as labels, since the design is to be mended."""
        found = d
        if self.sizer is not None:
            from tdsl.semantics.contradiction import explain_conflict

            found = explain_conflict(d, self.sizer.load, self.sizer.specs)
        away = topology_name_span(entry)
        if d.span is not None and d.span.file is away.file and s.span.file is not away.file:
            labels = (Label(d.span, "as the topology says here"), *d.labels)
            found = d = replace(d, span=s.span, labels=labels)
        if (
            found is d
            and d.span is not None
            and away.file not in (d.span.file, *(x.span.file for x in d.labels))
        ):
            found = replace(d, labels=(*d.labels, Label(away, "the topology is declared here")))
        return found

    def model(self, path: tree.PathExpr) -> DeviceModel:
        """The model that a name means. Raises Fault for a name that is not a model's."""
        return self.planner.named_model(path, self.scope)

    def given(self) -> dict[str, Value]:
        """What a topology's parameters of these names are, if its block does not say."""
        out: dict[str, Value] = {name: value for name, (value, _) in self.counts.items()}
        if self.ends is not None:
            out["hosts"], out["per_host"] = self.ends.hosts, self.ends.per_host
            out["declared"] = tuple(x.hosts for x in self.ends.sets)
            out["declared_names"] = tuple(x.parts[-1][0] for x in self.ends.sets)
            if self.ends.sets[0].ports.axes:
                out.setdefault("rails", self.ends.sets[0].ports.axes[0].size)
        return out

    def tiers(
        self, s: tree.Setting, instance: Instance, tiers: tuple[tree.TierDecl, ...]
    ) -> list[StructureLine]:
        """The structure of a topology that says tiers."""
        ends = self.ends
        if ends is None:
            raise Fault("E0120", s.name.span, f"`{s.name.name}` has tiers and takes no ends")
        scope = self.scope if instance.tiers else instance.scope
        reader = TierReader(self.planner, s, instance, scope)
        specs = [reader.spec(t) for t in tiers]
        pods, said = self.counts.get("pods", (0, s.span))
        if pods:
            _refuse_pods_of_other_tiers(instance, specs, said)
        reader.check_names(tiers)
        if has_tree_of_each_rail(tiers):
            ends, specs = _with_tree_of_each_rail(ends, specs, s.name.span, pods)
        load = _host_load(ends, pods, said)
        rate = self.rate_of_ends(instance)
        self.sizer = sizer = Sizer(replace(load, rate=min(load.rate or rate, rate)) if rate else load, specs)
        sized = sizer.run()
        open_sizes = {
            t.count.span: x.per for t, x in zip(tiers, sized, strict=True) if isinstance(t.count, tree.Hole)
        }
        self.planner.plan.tier_sizes.update(open_sizes)
        _report_sizes(sizer, self.planner.library.diagnostics)
        chains = {
            spec.span: ((t.span, "as the topology says here"),) for spec, t in zip(specs, tiers, strict=True)
        }
        spans = tuple((spec.label, spec.span) for spec in specs)
        return [
            replace(line, spans=spans, chain=() if instance.tiers else chains.get(line.span, ()))
            for line in Weaver(ends, sized, pods, self.fresh, instance.links_of_ends).lines()
        ]

    def rate_of_ends(self, instance: Instance) -> int:
        """The rate in bit/s that a block gives the links of ends; 0 where it gives none."""
        said = next((s for s in instance.links_of_ends if s.name.name == "rate" and s.items), None)
        if said is None:
            return 0
        value = self.evaluator.evaluate(said.items[0].value, self.scope)
        return fitting_rate(value, said.span) if isinstance(value, Quantity) and value.dim == RATE else 0


def topology_name_span(entry: TopLevelName) -> SourceSpan:
    """Where a topology is declared."""
    return entry.node.name.span


def _with_tree_of_each_rail(
    ends: HostEnds, specs: list[TierSpec], at: SourceSpan, pods: int
) -> tuple[HostEnds, list[TierSpec]]:
    """The ends and the tiers of an intent whose rails have a tree each. Raises Fault where there are no
    rails."""
    if not ends.rails:
        raise Fault(
            "E0120",
            next(x.span for x in specs if x.by_rail),
            "a tier is grouped by rail, and the hosts have no rails",
            labels=[(ends.span, "the hosts")],
            help=f"write `rails {ends.per_host}` beside the hosts, or leave `by rail` out",
        )
    if pods:
        raise Fault("E0120", at, "`pods` and `by rail` exclude each other", help="leave `pods` out")
    return replace(ends, tree_of_each_rail=True), [replace(x, by="") if x.by_rail else x for x in specs]


def _refuse_pods_of_other_tiers(instance: Instance, specs: Sequence[TierSpec], said: SourceSpan) -> None:
    """Raise Fault unless the tiers are the two that ``pods`` can cut the hosts of."""
    if instance.tiers or len(specs) != 2 or specs[0].per is not None:
        raise Fault(
            "E0120",
            said,
            "`pods` cuts the hosts of `leaf` and `spine`; tiers written out say their own groups",
        )


def _host_load(ends: HostEnds, pods: int, said: SourceSpan) -> HostLoad:
    """What the first tier has to connect; ``said`` is the place of ``pods``."""
    written = (
        ("hosts", ends.sets[0].span) if len(ends.sets) == 1 else None,
        ("rails", None if ends.tree_of_each_rail else ends.rails_span),
        ("pods", pods and said),
    )
    at = tuple((what, span) for what, span in filter(None, written) if isinstance(span, SourceSpan))
    return HostLoad(
        ends.hosts,
        ends.per_host,
        ends.rate,
        1 if ends.tree_of_each_rail else ends.rails or 1,
        bool(ends.rails) and not ends.tree_of_each_rail,
        pods,
        said if pods else ends.span,
        at,
        ends.trees,
    )


def _report_sizes(sizer: Sizer, diagnostics: Diagnostics) -> None:
    """A note at each place that sizes were computed for, and a finding for each tier that is partly
    filled."""
    found: dict[SourceSpan, list[str]] = {}
    for span, note in sizer.notes:
        found.setdefault(span, []).append(note)
    for span, notes in found.items():
        diagnostics.add("E0461", span, "; ".join(notes), severity=Severity.NOTE)
    for upper, lower, text, help in sizer.partial():
        diagnostics.add(
            "E0464",
            upper.span,
            text,
            labels=[(lower.span, f"`{lower.name}` is here")],
            help=f"{help}; where this is meant, say so on the line: `# tdsl: allow(partial_tier) REASON`",
        )


def _device_settings_text(s: tree.Setting) -> str:
    """The settings in the braces of ``hosts N x MODEL { … }`` on one line."""
    for x in s.body or ():
        if isinstance(x, tree.Broken):
            raise Excused
        if not isinstance(x, tree.Setting):
            raise Fault(
                "E0118",
                x.span,
                "a device's braces hold settings only",
                help="known: `role`, `split`, `nos`",
            )
    return "; ".join(" ".join(x.span.text.split()) for x in s.body or ())


_BESIDE_HOSTS = frozenset({*SETTINGS, "leaves", "spines", "rails", "planes", "pods"})
"""What begins a statement and may be written behind `hosts` by mistake."""


def _no_hosts_fault(item: tree.SettingItem) -> Fault:
    """The fault of what neither counts hosts of a model nor names declared ones."""
    if re.search(r"\d\s*x$", item.span.text):
        help = f"write `hosts {item.span.text} MODEL`, on one line"
        return Fault("E0120", item.span, "the model is missing behind `x`", help=help)
    counted = re.fullmatch(r"([\d_]++)\s*+(x|of|\*)?\s*+([A-Za-z]\w*+)", item.span.text)
    if counted is not None:
        new = f"{counted[1]} x {counted[3]}"
        return Fault(
            "E0120",
            item.span,
            f"`x` is written between the number and the model, not `{counted[2]}`"
            if counted[2] and counted[2] != "x"
            else "` x ` is written between the number and the model, with spaces"
            if counted[2]
            else "`x` is missing between the number and the model",
            help=f"write `hosts {new}`",
            fix=Fix(f"write `{new}`", ((item.span, new),)),
        )
    return Fault(
        "E0120",
        item.span,
        "expected a number and a model, or the name of hosts",
        help="`hosts 128 x MODEL`, or `hosts NAME.CLASS` with hosts that are declared",
    )


def _refuse_part_of_hosts(path: tree.PathExpr, members: list[tree.Identifier]) -> None:
    """Refuse an index that chooses some hosts of a declaration."""
    part = next(
        (p for p in path.parts if not isinstance(p, tree.Identifier) and not _index_names_all(p)), None
    )
    if part is not None:
        raise Fault(
            "E0120",
            part.span,
            "a topology joins all hosts of a declaration, not a part of them",
            help=f"write `{'.'.join(m.name for m in members)}`, or declare the part by a name of its own",
        )


def _index_names_all(part: tree.IndexPart | tree.Call) -> bool:
    """Whether an index names all members."""
    return isinstance(part, tree.IndexPart) and all(isinstance(e, tree.Star) for e in part.entries)


def _groups_declaring(name: str, body: Iterable[tree.Stmt]) -> Iterator[str]:
    """Paths of the groups that declare a name."""
    for s in body:
        if isinstance(s, tree.Decl) and s.kind.name not in KINDS:
            if any(isinstance(x, tree.Decl) and x.name.name == name for x in s.body or ()):
                yield s.name.name
            yield from (f"{s.name.name}.{inner}" for inner in _groups_declaring(name, s.body or ()))


def _declared_names(body: Iterable[tree.Stmt]) -> Iterable[str]:
    for s in body:
        if isinstance(s, (tree.Decl, tree.TierDecl)):
            yield s.name.name
            yield from _declared_names(s.body or ())


def _with_intent_spans(n: Any, span: SourceSpan, spans: dict[str, SourceSpan]) -> Any:
    """A tree whose every span is that of the intent; a tier's switches bear that of their tier."""
    if isinstance(n, SourceSpan):
        return span
    if isinstance(n, tree.Decl) and n.kind.name == "switch":
        span = spans.get(n.name.name, span)
    if isinstance(n, tuple):
        return tuple(_with_intent_spans(x, span, spans) for x in n)
    if is_dataclass(n) and not isinstance(n, type):
        return replace(n, **{f.name: _with_intent_spans(getattr(n, f.name), span, spans) for f in fields(n)})
    return n
