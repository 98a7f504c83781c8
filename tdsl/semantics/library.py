"""What the names at the top of a file mean: models, topologies, fabrics, functions, and what other files lend
it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from fractions import Fraction
from functools import partial
from pathlib import Path

from tdsl.findings.diagnostic import Diagnostics, Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault, closest_known_name, unknown_name_fault
from tdsl.semantics.loader import KeptModel, Loader, ParsedFile, declared_in
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.models import build_model
from tdsl.semantics.parameters import define_param
from tdsl.semantics.ranges import ParameterSettings
from tdsl.semantics.scope import Binding, Scope
from tdsl.semantics.supply import Supply
from tdsl.semantics.values import FunctionValue
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

Named = tree.ModelDecl | tree.TopologyDecl | tree.JobDecl | tree.Decl | tree.Def | tree.Let | tree.Param


_VALUES = (tree.Def, tree.Let, tree.Param)


@dataclass(slots=True, eq=False)
class TopLevelName:
    """One name at the top of a file, and the file that declares it; of a fabric also what files add to it
    through which it was used."""

    node: Named
    home: Linked
    additions: tuple[tuple[Linked, tree.Extend | tree.Override], ...] = ()


@dataclass(slots=True, eq=False)
class Linked:
    """A file whose names are known. ``scope`` holds its values."""

    module: ParsedFile
    names: dict[str, TopLevelName] = field(default_factory=dict)
    used: dict[str, TopLevelName] = field(default_factory=dict)
    lent: dict[str, TopLevelName] = field(default_factory=dict)  # fabrics with what this file adds to them
    scope: Scope = field(default_factory=Scope)
    parameters: dict[str, object] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)  # names of its parameters, well or not


@dataclass(slots=True)
class Library:
    """Links files and builds models, each once."""

    loader: Loader
    diagnostics: Diagnostics
    settings: ParameterSettings = field(default_factory=ParameterSettings)
    linked: dict[str, Linked] = field(default_factory=dict)
    linking: list[tuple[str, SourceSpan | None, str]] = field(default_factory=list)
    catalogued: dict[str, TopLevelName | None] = field(default_factory=dict)
    models: dict[int, DeviceModel | None] = field(default_factory=dict)
    building: list[tree.ModelDecl] = field(default_factory=list)
    evaluator: Evaluator = field(default_factory=Evaluator)
    prices: Mapping[str, Fraction] = field(default_factory=dict)  # of models, as the user states them
    supply: Supply = field(
        default_factory=Supply
    )  # spares, lead times and alternatives, as the user states them

    def link(self, module: ParsedFile, at: SourceSpan | None = None) -> Linked:
        """The file's names, with those it uses."""
        if module.key in self.linked:
            return self.linked[module.key]
        keys = [k for k, _, _ in self.linking]
        if module.key in keys:
            self._circle(module, keys.index(module.key), at)
        self.linking.append((module.key, at, module.file.name))
        try:
            result = Linked(module)
            self._declare(result)
            for s in module.body:
                if isinstance(s, tree.Use):
                    self._guard(partial(self._use, result, s))
            self._lend_extended_fabrics(result)
        finally:
            self.linking.pop()
        self.linked[module.key] = result
        return result

    @contextmanager
    def reporting_to(self, diagnostics: Diagnostics) -> Iterator[None]:
        """Findings go to another collector for a while: those of a trial."""
        before, self.diagnostics = self.diagnostics, diagnostics
        try:
            yield
        finally:
            self.diagnostics = before

    def _circle(self, module: ParsedFile, start: int, at: SourceSpan | None) -> None:
        assert at is not None
        steps = [(s, f"which uses `{name}`") for _, s, name in self.linking[start + 1 :] if s is not None]
        raise Fault(
            "E0113",
            at,
            f"this use leads back to `{module.file.name}`, which is what uses it",
            labels=steps,
            help="move what both files need into a third one",
        )

    def _guard(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Fault as fault:
            fault.report(self.diagnostics)
        except Excused:
            pass

    def _declare(self, result: Linked) -> None:
        for s in result.module.body:
            if isinstance(s, tree.Broken):
                result.scope.excused.update(s.names)
            elif isinstance(s, (tree.ModelDecl, tree.TopologyDecl, tree.JobDecl, *_VALUES)) or (
                isinstance(s, tree.Decl) and s.kind.name in ("fabric", "cluster")
            ):
                self._guard(partial(self._enter, result, s))

    def _enter(self, result: Linked, s: Named) -> None:
        name = s.name.name
        old = result.names.get(name)
        if old is not None:
            raise Fault(
                "E0104",
                s.name.span,
                f"`{name}` is already declared in this file",
                labels=[(old.node.name.span, "first here")],
                help=f"give one of them another name, such as `{name}_2`",
            )
        result.names[name] = TopLevelName(s, result)
        if isinstance(s, tree.Param):
            self._parameter(result, s)
        if isinstance(s, tree.Def):
            result.scope.set(name, FunctionValue(s, result.scope), s.name.span, "def")
        elif isinstance(s, tree.Let):
            compute = partial(self.evaluator.evaluate, s.value, result.scope)
            result.scope.define(name, Binding("let", s.name.span, compute, node=s))

    def _lend_extended_fabrics(self, result: Linked) -> None:
        """Give those who use this file its fabrics as it leaves them, also those that it uses itself."""
        for s in result.module.body:
            head = s.path.parts[0] if isinstance(s, (tree.Extend, tree.Override)) else None
            if not isinstance(head, tree.Identifier):
                continue
            found = result.lent.get(head.name) or result.names.get(head.name) or result.used.get(head.name)
            if found is not None and isinstance(found.node, tree.Decl):
                assert isinstance(s, (tree.Extend, tree.Override))
                result.lent[head.name] = TopLevelName(found.node, found.home, (*found.additions, (result, s)))

    def _parameter(self, result: Linked, s: tree.Param) -> None:
        """A param at the top of a file; ``--set`` speaks to the design's own file only."""
        result.declared.add(s.name.name)
        given = self.settings if not self.linking[1:] and not self.linked else ParameterSettings()
        result.parameters[s.name.name] = define_param(result.scope, s, self.evaluator, given)

    def _use(self, result: Linked, use: tree.Use) -> None:
        try:
            files = self.loader.find(use, result.module.folder)
        except Fault:
            result.scope.excused.update((used.alias or used.name).name for used in use.names)
            raise
        for used in use.names:
            self._guard(partial(self._use_one, result, use, used, files))

    def _use_one(self, result: Linked, use: tree.Use, used: tree.UsedName, files: list[Path]) -> None:
        name, target = used.name.name, used.alias or used.name
        candidates = files if len(files) == 1 else [f for f in files if name in declared_in(f)]
        for path in candidates:
            other = self.link(self._read_used_file(path, use, target, result), use.span)
            entry = other.lent.get(name) or other.names.get(name)
            if entry is None and other.scope.is_excused(name):
                result.scope.excused.add(target.name)
                raise Excused
            if entry is not None:
                result.used[target.name] = entry
                if isinstance(entry.node, (tree.Def, tree.Let, tree.Param)):
                    lent = partial(other.scope.value, name, used.name.span)
                    result.scope.define(target.name, Binding("use", target.span, lent))
                return
        result.scope.excused.add(target.name)
        known = [n for f in files for n in declared_in(f)]
        raise unknown_name_fault("E0101", used.name.span, "declaration", name, known)

    def _read_used_file(
        self, path: Path, use: tree.Use, target: tree.Identifier, result: Linked
    ) -> ParsedFile:
        """The tree of a file that a ``use`` takes a name from, which is excused where the file cannot be
        read."""
        try:
            module = self.loader.read(path)
        except OSError as fault:
            result.scope.excused.add(target.name)
            span = use.module[0].span.to(use.module[-1].span)
            why = fault.strerror or str(fault)
            raise Fault(
                "E0112",
                span,
                f"{path.as_posix()} cannot be read: {why}",
                help="check that the file exists and can be read",
            ) from None
        if module is None:
            raise Excused
        return module

    # ------------------------------------------------------------ models
    def entry(self, home: Linked, name: str) -> TopLevelName | None:
        """What a name at the top means in a file: its own, used, or a model of the catalogue."""
        found = home.names.get(name) or home.used.get(name)
        if found is not None:
            return found
        if name not in self.catalogued:
            path = self.loader.catalogue().get(name)
            module = self.loader.read(path) if path is not None else None
            self.catalogued[name] = self.link(module).names.get(name) if module is not None else None
        return self.catalogued[name]

    def parts(self, home: Linked) -> tuple[DeviceModel, ...]:
        """The cables and optics that a file declares or uses, then those of the catalogue, in order of their
        names."""
        own = {*home.names, *home.used}
        catalogue = [
            n
            for n, path in self.loader.catalogue().items()
            if {"cables", "optics"} & {p.name for p in path.parents}
        ]
        out = []
        for name in sorted({*own, *catalogue}):
            entry = self.entry(home, name)
            if (
                entry is not None
                and isinstance(entry.node, tree.ModelDecl)
                and entry.node.kind.name in ("cable", "optic")
            ):
                with suppress(Excused):  # its faults are reported
                    out.append(self.build(entry, entry.node.span))
        return tuple(out)

    def is_model(self, home: Linked, name: str) -> bool:
        """Whether a name is a model's, in a file."""
        found = home.names.get(name) or home.used.get(name)
        if found is not None:
            return isinstance(found.node, tree.ModelDecl)
        return name in self.loader.catalogue()

    def is_job(self, home: Linked, name: str) -> bool:
        """Whether a name is that of a job at the top of a file that a file sees."""
        found = home.names.get(name) or home.used.get(name)
        return found is not None and isinstance(found.node, tree.JobDecl)

    def unknown_model(self, home: Linked, name: str, span: SourceSpan, kinds: Collection[str] = ()) -> Fault:
        """The fault of a name that no model has that is seen in a file; models of some kinds, if any are
        named, are proposed."""
        from tdsl.semantics.unknown_models import unknown_model_fault

        declared = {
            n: e.node.kind.name
            for n, e in (*home.names.items(), *home.used.items())
            if isinstance(e.node, tree.ModelDecl)
        }
        return unknown_model_fault(span, name, kinds, declared, self.loader.catalogue())

    def model(self, home: Linked, name: str, span: SourceSpan, kinds: Collection[str] = ()) -> DeviceModel:
        """The device model of that name as seen in a file; of an unknown one, models of these kinds are
        proposed."""
        entry = self.entry(home, name)
        if entry is None or not isinstance(entry.node, tree.ModelDecl):
            if home.scope.is_excused(name):
                raise Excused
            raise self.unknown_model(home, name, span, kinds)
        return self.build(entry, span)

    def hyphenated(self, home: Linked, span: SourceSpan) -> Fault:
        """The fault of a model's name that is written with `-`, which would subtract."""
        models = [
            n for n, e in (*home.names.items(), *home.used.items()) if isinstance(e.node, tree.ModelDecl)
        ]
        plain = {n.replace("_", "").lower(): n for n in (*self.loader.catalogue(), *models)}
        near = plain.get(span.text.replace("-", "").replace("_", "").lower()) or closest_known_name(
            span.text.replace("-", "_"), plain.values()
        )
        return Fault(
            "E0102",
            span,
            f"`{span.text}` is not the name of a model: a name has no `-`",
            help=f"did you mean `{near}`?" if near else "`tdsl list hardware` lists the models",
            fix=Fix(f"write `{near}`", ((span, near),), safe=False) if near else None,
        )

    def build_all(self, home: Linked) -> None:
        """Build every model of a file and read its jobs, so that the faults of one that nothing uses are said
        too."""
        if any(isinstance(entry.node, tree.JobDecl) for entry in home.names.values()):
            from tdsl.semantics.jobs import refuse_unfit_presets

            refuse_unfit_presets(self, home)
        for entry in home.names.values():
            if isinstance(entry.node, tree.ModelDecl):
                self._guard(partial(self._build_one, entry))

    def _build_one(self, entry: TopLevelName) -> None:
        self.build(entry, entry.node.name.span)

    def build(self, entry: TopLevelName, span: SourceSpan) -> DeviceModel:
        """The model an entry declares, built once; what rests on a broken one is excused."""
        node = entry.node
        assert isinstance(node, tree.ModelDecl)
        if any(n is node for n in self.building):
            raise Fault(
                "E0114",
                span,
                f"model `{node.name.name}` contains itself",
                labels=[(node.name.span, "declared here")],
                help="a model may hold chips and switches of other models only",
            )
        if id(node) in self.models:
            built = self.models[id(node)]
            if built is None:
                raise Excused
            return built
        self.building.append(node)
        self.models[id(node)] = None
        try:
            self.models[id(node)] = self._kept_or_built(entry.home, node)
        finally:
            self.building.pop()
        built = self.models[id(node)]
        if built is None:
            raise Excused
        return built

    def _kept_or_built(self, home: Linked, node: tree.ModelDecl) -> DeviceModel | None:
        """The model that a declaration makes. A process builds one of the standard library once: it takes
        longer than the rest of a small design. It does not count as work of the design, so that the limit of
        that is the same in each compilation."""
        kept, of_models = home.module.models, callable(self.evaluator.is_model)
        key = (node.name.name, of_models)  # a design takes a bare word that names a model as that model
        if kept is None or not all(isinstance(s, tree.ModelDecl) for s in home.module.body):
            return build_model(self, home, node, self.evaluator)
        known = kept.get(key)
        if known and all(self.model(home, n, node.span) is inner for n, inner in known.inner.items()):
            return known.model
        told = len(self.diagnostics)
        is_model = self.loader.catalogue().__contains__ if of_models else None
        made = build_model(self, home, node, Evaluator(is_model))
        if made is not None and len(self.diagnostics) == told:
            inner = {c.model.name for c in made.chips} | {c.built_in for c in made.classes if c.built_in}
            kept[key] = KeptModel(made, {n: self.model(home, n, node.span) for n in inner})
        return made
