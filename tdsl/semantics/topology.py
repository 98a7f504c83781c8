"""Topologies: found by name, their parameters filled from the block that asks for one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.amounts import settings_in_one_fault
from tdsl.semantics.devices import device_settings, split_model
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.library import Library, Linked, TopLevelName
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.operators import require_type
from tdsl.semantics.scope import DONE, Binding, Scope
from tdsl.semantics.settings import only_value_behind
from tdsl.semantics.sizing import Aim
from tdsl.semantics.table_parameters import read_row_form, read_table_rows
from tdsl.semantics.values import ModelValue, Value, integer_if_whole, type_name
from tdsl.syntax import tree
from tdsl.syntax.keywords import KIND_WORDS
from tdsl.syntax.patterns import owns_number
from tdsl.system import resources
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import folder_entries, is_below_folders, is_dir, is_file, read_text_file

FOLDER = "topologies"
BETWEEN = "between"
"""The word before settings of the links between devices of a topology itself."""
PATTERNS = "`each`, `each x 2`, `spread`, `via ocs MODEL`"
BLOCKS = (tree.Decl, tree.Connect, tree.If, tree.For, tree.Setting, tree.TierDecl)
"""Statements that may hold others."""


@dataclass(frozen=True, slots=True)
class Joining:
    """A value of type pattern: what stands after the ends of a connect."""

    pattern: tree.PatternRef | None
    copies: tree.Expr | None
    via: tuple[str, str] | None  # kind and model of what links cross


@dataclass(frozen=True, slots=True)
class PortPath:
    """A value of type path: the ports of a device that links take, empty for any."""

    parts: tuple[tree.Identifier | tree.IndexPart, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """A topology with its parameters: values in ``scope``; ``missing`` are those nobody gave."""

    node: tree.TopologyDecl
    scope: Scope
    ends: str  # name of the parameter that stands for the ends, "" if it takes none
    tiers: tuple[tree.TierDecl, ...]  # those of the block, in place of the topology's own
    missing: dict[str, tree.Formal] = field(default_factory=dict)
    links_of_ends: tuple[tree.Setting, ...] = ()  # settings of the connects that join the ends
    links_between: tuple[tree.Setting, ...] = ()  # settings of all other connects


def find_topology(library: Library, home: Linked, name: str) -> TopLevelName | None:
    """The topology of that name: of the design, taken by ``use``, of a ``--path`` folder, or of the standard
    library."""
    found = home.names.get(name) or home.used.get(name)
    if found is not None and isinstance(found.node, tree.TopologyDecl):
        return found  # another kind of thing may bear the name of a topology
    for folder in _topology_folders(library):
        path = folder / f"{name}.fab"
        if is_file(path) and is_below_folders(path, _topology_folders(library)):
            module = library.loader.read(path)
            if module is None:
                raise Excused
            entry = library.link(module).names.get(name)
            if entry is not None and isinstance(entry.node, tree.TopologyDecl):
                return entry
    return None


def _topology_folders(library: Library) -> list[Path]:
    given = [f for path in library.loader.paths for f in (path / FOLDER, path)]
    return [*given, resources.packaged_folder("stdlib") / FOLDER]


def known_topology_names(library: Library, home: Linked) -> list[str]:
    """Names of all topologies that a file sees."""
    own = [n for n, e in (*home.names.items(), *home.used.items()) if isinstance(e.node, tree.TopologyDecl)]
    folders = [f for f in _topology_folders(library) if f.name == FOLDER and is_dir(f)]
    return [
        *own,
        *(name.removesuffix(".fab") for f in folders for name in folder_entries(f) if name.endswith(".fab")),
    ]


def _fault_of_further_words(formal: tree.Formal, extra: tree.SettingItem) -> Fault:
    """The fault of an item that has a count or other words behind the value of a parameter."""
    kind, text = formal.type.name, extra.span.text
    if kind == "dims" and re.fullmatch(r"\d+(?:[\sx*]+\d+)+", text):
        new = "x".join(re.findall(r"\d+", text))
        fix = Fix(f"write `{new}`", ((extra.span, new),))
        message = "dimensions are joined by `x`, without spaces"
        return Fault("E0120", extra.span, message, help=f"write `{new}`", fix=fix)
    settings = re.fullmatch(r"(\w+)\s+((?:split|nos|role|forwards|latency)\b.*)", text)
    if kind == "model" and settings is not None:
        new = f"{settings[1]} {{ {settings[2]} }}"
        fix = Fix(f"write `{new}`", ((extra.span, new),), safe=False)
        message = "settings of a device are written in braces"
        return Fault("E0120", extra.span, message, help=f"write `{formal.name.name} {new}`", fix=fix)
    value, what = _value_in_item(extra, kind), f"`{formal.name.name}` is one {kind}"
    if kind == "model" and value.islower():  # `clos 3 tiers`
        value = "MODEL"
    message = f"{what}, without a count or other words"
    if kind == "dims" and not text[:1].isdigit():
        return Fault("E0120", extra.span, message, help=f"write `{formal.name.name} 4x4`")
    return Fault("E0120", extra.span, message, help=f"write `{formal.name.name} {value}`")


MOST_LISTED = 12


def _settings_in_order(formals: Sequence[tree.Formal]) -> str:
    """The help that lists the settings of a topology: those that must be written first, then the others in
    the order of their declaration."""
    names = [f.name.name for f in sorted(formals, key=lambda f: f.default is not None)]
    more = " …" if len(names) > MOST_LISTED else ""
    return f"known here: {', '.join(f'`{name}`' for name in names[:MOST_LISTED])}{more}"


def _value_in_item(item: tree.SettingItem, kind: str) -> str:
    """The value of an item, or of a model that begins with a number the path behind it: ``4 x QM9700``."""
    if kind == "int":
        values = [item.value, *(v for _, v in item.args)]
        return next((v.span.text for v in values if isinstance(v, tree.Number)), item.value.span.text)
    named = [v.span.text for _, v in item.args if isinstance(v, tree.PathExpr)]
    return named[-1] if isinstance(item.value, tree.Number) and named else item.value.span.text


ALSO_CALLED = re.compile(r"^# Also called: (.+)\.$", re.MULTILINE)


@cache
def other_names_of_topologies() -> Mapping[str, str]:
    """Names that people use for topologies of the library, which the comments of their files list, and the
    names there."""
    folder = resources.packaged_folder("stdlib") / FOLDER
    out: dict[str, str] = {}
    for name in folder_entries(folder):
        if name.endswith(".fab"):
            for names in ALSO_CALLED.findall(read_text_file(folder / name)):
                out.update(dict.fromkeys(names.split(", "), name.removesuffix(".fab")))
    return out


class Binder:
    """Fills the parameters of one topology from a block."""

    def __init__(
        self,
        entry: TopLevelName,
        s: tree.Setting,
        scope: Scope,
        evaluator: Evaluator,
        given: dict[str, Value],
        model: Callable[[tree.PathExpr], DeviceModel],
    ) -> None:
        assert isinstance(entry.node, tree.TopologyDecl)
        self.node, self.s, self.outer, self.evaluator = entry.node, s, scope, evaluator
        self.given, self.model = given, model
        self.inner = Scope(entry.home.scope)

    def run(self) -> Instance:
        """The instance. Raises Fault for parameters that are unknown, given twice or of another type."""
        if contains_broken_statement(self.node.body):
            raise Excused
        settable = [f for f in self.node.formals if f.type.name != "ports"]
        self.of_devices: dict[str, tuple[tree.Stmt, ...]] = {}
        ends = next((f.name.name for f in self.node.formals if f.type.name == "ports"), "")
        links_of_ends, links_between = self.settings_of_links(ends), self.settings_of_links(self.between)
        missing = self.bind_all(settable, self.settings(settable, ends))
        tiers = tuple(x for x in self.s.body or () if isinstance(x, tree.TierDecl))
        if tiers and not any(isinstance(x, tree.TierDecl) for x in self.node.body):
            raise Fault(
                "E0118",
                tiers[0].span,
                f"`{self.node.name.name}` has no tiers",
                labels=[(self.node.name.span, "declared here")],
            )
        return Instance(self.node, self.inner, ends, tiers, missing, links_of_ends, links_between)

    @property
    def between(self) -> str:
        """The word for the links between its own devices; "" where that is a parameter, or tiers say it."""
        taken = any(f.name.name == BETWEEN for f in self.node.formals)
        return "" if taken or any(isinstance(x, tree.TierDecl) for x in self.node.body) else BETWEEN

    def settings_of_links(self, word: str) -> tuple[tree.Setting, ...]:
        """What the block says of some links: ``ends { rate 200Gbps; cable PART }``, ``between { … }``."""
        found: tuple[tree.Setting, ...] = ()
        for s in self.s.body or ():
            if not word or not isinstance(s, tree.Setting) or s.name.name != word:
                continue
            if found:
                raise Fault("E0104", s.span, f"`{word}` is set twice", labels=[(found[0].span, "first here")])
            found = _settings_of_links(s)
        return found

    def bind_all(
        self, settable: list[tree.Formal], asked: dict[str, tuple[tree.SettingItem, ...]]
    ) -> dict[str, tree.Formal]:
        """Give each parameter what the block writes, else what the intent gives, else its default; those
        without any are returned by their names."""
        missing: dict[str, tree.Formal] = {}
        for formal in settable:
            name = formal.name.name
            if name in asked:
                self.bind(formal, self.value(formal, asked[name]), asked[name][0].span)
            elif name in self.given:
                self.bind(formal, self.given[name], self.s.span)
            elif isinstance(formal.default, tree.PathExpr) and formal.default.bare in missing:
                missing[name] = missing[formal.default.bare]
            elif formal.default is not None or formal.type.name == "table":
                self.bind(formal, self.default(formal, formal.default), formal.name.span)
            else:
                missing[name] = formal
        return missing

    def default(self, formal: tree.Formal, e: tree.Expr | None) -> Value:
        """The value of a parameter that is not written."""
        if formal.type.name == "table":
            read_row_form(formal)
            return ()
        assert e is not None
        if formal.type.name == "path":
            return read_port_path(tree.SettingItem(e, (), e.span), self.inner, self.evaluator)
        return (
            read_joining_pattern(tree.SettingItem(e, (), e.span))
            if formal.type.name == "pattern"
            else self.evaluator.evaluate(e, self.inner)
        )

    def bind(self, formal: tree.Formal, value: Value, span: SourceSpan) -> None:
        """Give a parameter its value."""
        if not isinstance(value, (Joining, Aim, PortPath)):
            require_type(value, formal.type, span)
        self.inner.names[formal.name.name] = Binding("argument", formal.name.span, None, value, DONE)

    def settings_in_braces(self) -> Iterator[tree.Setting]:
        """What the block sets; its tiers are read elsewhere. Raises Fault for a statement of another kind,
        and Excused for one that could not be read."""
        for inner in self.s.body or ():
            if isinstance(inner, tree.Broken):
                raise Excused
            if isinstance(inner, tree.TierDecl):
                continue
            if not isinstance(inner, tree.Setting):
                raise Fault("E0118", inner.span, f"the braces of `{self.s.name.name}` hold settings only")
            yield inner

    def settings(self, settable: list[tree.Formal], ends: str) -> dict[str, tuple[tree.SettingItem, ...]]:
        """Parameter -> what the block writes for it, but of the one that stands for the ends."""
        asked: dict[str, tuple[tree.SettingItem, ...]] = {}
        if self.s.items:
            if not settable:
                raise Fault("E0118", self.s.items[0].span, f"`{self.s.name.name}` takes no value")
            asked[settable[0].name.name] = self.s.items
        formals = {f.name.name: f for f in reversed(settable)}
        for inner in self.settings_in_braces():
            name = inner.name.name
            if name and name in (ends, self.between):
                continue
            if name not in formals:
                raise unknown_name_fault(
                    "E0118",
                    inner.name.span,
                    f"setting of `{self.s.name.name}` called",
                    name,
                    [f.name.name for f in settable],
                    extra_help=_settings_in_order(settable),
                )
            kind = formals[name].type.name
            if name in asked and kind != "table":
                raise Fault("E0104", inner.span, f"`{name}` is set twice")
            self.take_block(inner, kind)
            asked[name] = (*asked.get(name, ()), *inner.items)
        return asked

    def take_block(self, s: tree.Setting, kind: str) -> None:
        """Keep the settings of devices behind a parameter that is a model; refuse another block, and a
        parameter without a value."""
        name = s.name.name
        if not s.items:
            example = {"int": "4", "model": "MODEL", "pattern": "each", "bool": "true"}.get(kind, "VALUE")
            raise Fault("E0120", s.span, f"`{name}` needs a value", help=f"write `{name} {example}`")
        if s.body is None:
            return
        if kind != "model":
            raise Fault(
                "E0118",
                s.body[0].span if s.body else s.span,
                f"`{name}` of `{self.s.name.name}` takes no block",
                help=f"write `{name} {s.items[0].span.text}`",
            )
        self.of_devices[name] = s.body

    def value(self, formal: tree.Formal, items: tuple[tree.SettingItem, ...]) -> Value:
        """What the items of a setting are worth, as the parameter's type asks."""
        kind = formal.type.name
        if kind == "table":
            return read_table_rows(formal, items, self.outer, self.evaluator)
        if kind != "list" and len(items) > 1:
            if kind == "dims" and all(re.fullmatch(r"\d+", i.span.text) for i in items):
                whole, new = items[0].span.to(items[-1].span), "x".join(i.span.text for i in items)
                fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
                message = f"`{formal.name.name}` is one dims: sizes joined by `x`"
                raise Fault("E0120", whole, message, help=f"write `{new}`", fix=fix)
            raise Fault(
                "E0120",
                items[1].span,
                f"`{formal.name.name}` is one {kind}",
                help="write each setting on its own line, or separate settings with `;`",
            )
        if kind == "pattern":
            return read_joining_pattern(items[0])
        if kind == "path":
            return read_port_path(items[0], self.outer, self.evaluator)
        if kind == "ratio":
            return read_ratio_aim(items[0], self.outer, self.evaluator)
        return self.plain_value(formal, items)

    def value_of_item(self, item: tree.SettingItem, formal: tree.Formal, kind: str) -> Value:
        """The value that is written for a parameter. Of a word that nobody declares the type is named."""
        word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
        try:
            return integer_if_whole(self.evaluator.evaluate(item.value, self.outer, words=kind == "string"))
        except Fault as fault:
            form = {"int": "8", "ratio": "1:1", "bool": "true", "length": "100km"}.get(kind)
            if fault.diagnostic.code != "E0101" or word is None or form is None or fault.diagnostic.fix:
                raise
            name = formal.name.name
            raise Fault(
                "E0101",
                item.value.span,
                f"there is no value `{word}` here; `{name}` takes one of type {kind}",
                help=f"write `{name} {form}`",
            ) from None

    def plain_value(self, formal: tree.Formal, items: tuple[tree.SettingItem, ...]) -> Value:
        """The value of a list, a model with the settings of its devices, or of a type without words of its
        own."""
        kind, body = formal.type.name, self.of_devices.get(formal.name.name, ())
        if kind == "model":
            self.refuse_unfit_model(formal, items[0], body)
        self.refuse_further_words(formal, items)
        values = tuple(self.value_of_item(i, formal, kind) for i in items)
        if kind == "list" and not (len(values) == 1 and isinstance(values[0], tuple)):
            return values
        if body and isinstance(values[0], ModelValue):
            return replace(values[0], settings=body)
        return str(values[0]) if kind == "string" and isinstance(values[0], str) else values[0]

    def refuse_further_words(self, formal: tree.Formal, items: tuple[tree.SettingItem, ...]) -> None:
        """Raise Fault for words behind a value: another setting of the topology, or what has no meaning."""
        extra = next((i for i in items if i.args), None)
        if extra is not None:
            known = [f.name.name for f in self.node.formals]
            raise (
                settings_in_one_fault(formal.name.name, (extra,), known)
                or _fault_of_further_words(formal, extra)
            )

    def refuse_unfit_model(
        self, formal: tree.Formal, item: tree.SettingItem, body: tuple[tree.Stmt, ...]
    ) -> None:
        """Raise Fault for a model behind the word of its kind, and for one whose ports do not split as the
        settings of its devices say."""
        if item.value.span.text in KIND_WORDS and item.args:
            named = item.args[-1][1].span
            raise Fault(
                "E0120",
                item.value.span,
                f"`{formal.name.name}` takes the model alone, without the word `{item.value.span.text}`",
                help=f"write `{formal.name.name} {named.text}`",
                fix=Fix(f"write `{named.text}`", ((item.value.span.to(named), named.text),)),
            )
        if isinstance(item.value, tree.PathExpr) and item.value.bare is not None:
            model = self.model(item.value)
            split_model(model, device_settings(body, model.kind, self.outer, self.evaluator).splits)


def _settings_of_links(s: tree.Setting) -> tuple[tree.Setting, ...]:
    """The settings between the braces behind `ends` or `between`. Raises Fault where other things are there,
    or nothing."""
    if any(isinstance(x, tree.Broken) for x in s.body or ()):
        raise Excused
    ends = s.name.name
    wrong = next((x for x in s.body or () if not isinstance(x, tree.Setting)), None)
    if s.items or not s.body or wrong is not None:
        raise Fault(
            "E0118",
            (wrong or s).span,
            f"`{ends}` holds settings of links",
            help=f"write `{ends} {{ rate 200Gbps; cable PART }}`",
        )
    return tuple(x for x in s.body if isinstance(x, tree.Setting))


def read_ratio_aim(item: tree.SettingItem, scope: Scope, evaluator: Evaluator) -> Aim:
    """``7:1``, ``about 7:1`` or ``at most 7:1``; a name may stand for any of them."""
    mode, value = _ratio_mode_and_value(item)
    found = integer_if_whole(evaluator.evaluate(value, scope))
    if isinstance(found, Aim):
        return found
    if isinstance(found, bool) or not isinstance(found, (int, Fraction)):
        raise Fault("E0103", item.span, f"expected a ratio, found a {type_name(found)}")
    if found <= 0:
        raise Fault("E0120", item.span, "a ratio must be greater than zero")
    return Aim(mode, Fraction(found))


def _ratio_mode_and_value(item: tree.SettingItem) -> tuple[str, tree.Expr]:
    """``about``, ``at most`` or "", and the expression behind it."""
    word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
    if not item.args:
        return "", item.value
    about = only_value_behind(item) if word == "about" else None
    if about is not None:
        return "about", about
    value = _value_behind_most(item.args) if word == "at" else None
    if value is None:
        numbers = re.fullmatch(r"(\d+)\s*(?:to|in|/|-)\s*(\d+)", item.span.text)
        new = f"{numbers[1]}:{numbers[2]}" if numbers is not None else ""
        fix = Fix(f"write `{new}`", ((item.span, new),), safe=False) if new else None
        help = f"write `{new}`" if new else ""
        raise Fault("E0120", item.span, "a ratio is `7:1`, `about 7:1` or `at most 7:1`", help=help, fix=fix)
    return "at most", value


def _value_behind_most(args: tuple[tuple[str, tree.Expr], ...]) -> tree.Expr | None:
    """The value of ``most 7:1``, of ``most NAME``, which comes as two words, and of ``most (…)``, which comes
    as a call; None of anything else."""
    said, value = args[-1]
    path = value if isinstance(value, tree.PathExpr) else None
    if len(args) == 1:
        called = path is not None and path.parts[0].span.text == "most"
        if path is not None and len(path.parts) == 2 and isinstance(path.parts[1], tree.Call):
            value = path.parts[1].args[0]
        return value if said == "most" or called else None
    first, most = args[0]
    words = len(args) == 2 and not first and not said
    return value if words and isinstance(most, tree.PathExpr) and most.bare == "most" else None


def read_port_path(item: tree.SettingItem, scope: Scope, evaluator: Evaluator) -> PortPath:
    """``p[33..64]``, the ports of a device that links take, with its numbers computed; ``any`` for those that
    are free."""

    def number(e: tree.Expr) -> tree.Expr:
        if isinstance(e, tree.Range):
            return tree.Range(number(e.low), number(e.high), e.span)
        return e if isinstance(e, tree.Star) else tree.Number(evaluator.integer(e, scope), e.span)

    path = item.value
    if (
        not isinstance(path, tree.PathExpr)
        or item.args
        or len(path.parts) > 2
        or not isinstance(path.parts[0], tree.Identifier)
        or any(isinstance(p, tree.Call) for p in path.parts)
    ):
        raise Fault(
            "E0120",
            item.span,
            "expected ports of a device",
            help="write `p[33..64]`, or `any` for those free",
        )
    if path.bare == "any":
        return PortPath(())
    return PortPath(
        tuple(
            tree.IndexPart(tuple(map(number, p.entries)), p.span) if isinstance(p, tree.IndexPart) else p
            for p in path.parts
            if not isinstance(p, tree.Call)
        )
    )


def _joining_device(item: tree.SettingItem) -> tuple[str, str]:
    """Kind and model of what joins links, of ``via ocs MODEL``."""
    names = [v.bare for w, v in item.args if not w and isinstance(v, tree.PathExpr)]
    if len(names) != 2 or None in names:
        raise Fault(
            "E0120",
            item.span,
            "say by what kind of device and by which model links are joined",
            help="`via ocs MODEL`",
        )
    return str(names[0]), str(names[1])


def read_joining_pattern(item: tree.SettingItem) -> Joining:
    """``each``, ``each x 2``, ``spread x 4``, ``via ocs MODEL``."""
    word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
    if word is None:
        raise Fault("E0103", item.span, "expected a pattern", help=PATTERNS)
    if word == "via":
        return Joining(None, None, _joining_device(item))
    member = tree.Identifier(word, item.value.span)
    copies: tree.Expr | None = None
    args: list[tuple[tree.Identifier, tree.Expr | None]] = []
    for name, value in item.args:
        if name == "x" and not owns_number(word):
            copies = value
        elif name:
            args.append((tree.Identifier(name, value.span), value))
        elif isinstance(value, tree.PathExpr) and value.bare:
            args.append((tree.Identifier(value.bare, value.span), None))
        else:
            raise Fault("E0120", value.span, f"the pattern `{word}` does not use this", help=PATTERNS)
    return Joining(tree.PatternRef(member, tuple(args), item.span), copies, None)


def contains_broken_statement(n: Any) -> bool:
    """Whether a statement in a block did not parse."""
    if isinstance(n, tree.Broken):
        return True
    if isinstance(n, tuple):
        return any(map(contains_broken_statement, n))
    return isinstance(n, BLOCKS) and any(contains_broken_statement(getattr(n, f.name)) for f in fields(n))


def require_parameters(instance: Instance, names: Iterable[str], span: SourceSpan) -> None:
    """Refuse a parameter that is used and that nobody gave."""
    for name in names:
        formal = instance.missing.get(name)
        if formal is not None:
            raise Fault(
                "E0115",
                span,
                f"`{instance.node.name.name}` needs `{name}` of type {formal.type.name}",
                labels=[(formal.name.span, "asked for here")],
                help=f"write `{name} …` in its braces",
            )
