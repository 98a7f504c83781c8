"""What a design promises and rests on beside its fabric, and what differs of it between two designs.

Requirements are compared by ``changes.requirements``. The rest is compared here: waivers with the findings
that they allow, severities and other settings of ``tdsl.toml``, declarations of parameters, the lock, the
files that a design reads, statements that no figure of the fabric shows (``routing``, ``partition`` …), and
the facts of its hardware models. Comments that waive nothing, blanks and the order of statements do not
count, nor do statements whose values are the same. Settings that the fabric holds are compared by
``changes.attributes``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.changes.attributes import compared_fields, fact_text
from tdsl.changes.model import ContractChange
from tdsl.changes.requirements import FabricPairNames, compare_requirements
from tdsl.compile.compilation import LOCK, Compilation, Design
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax import tree
from tdsl.system import resources
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun, noun_for_count

if TYPE_CHECKING:
    from tdsl.compile.waivers import Allowance
    from tdsl.semantics.model import Chip, DeviceModel, PortClass

SHOWN_ELSEWHERE = ("hosts", "chips", "rails", "planes", "pods")
"""Settings of a fabric whose meaning is devices and cables; so are blocks that name a topology."""
STATEMENTS = (
    "routing",
    "roce",
    "partition",
    "subnet_manager",
    "minimize",
    "layer",
    "nos",
    "transport",
    "purpose",
    "forwards",
    "distance",
)
"""Settings of a fabric that its devices and cables need not show."""
CONTAINERS = ("fabric", "cluster", "group", "pod", "plane", "rack", "site", "cube", "cell")
EACH_PORT = (
    "axes",
    "cages",
    "connectors",
    "labels",
    "systems",
    "netdevs",
    "lane_systems",
    "lane_netdevs",
    "sonic",
)
"""Fields of a class of ports that have one entry a port."""
MESSAGES = 2
"""Findings of one waiver that are shown."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A waiver, its block (the name of a fabric or cluster, "" outside of all) and the findings that it
    allows."""

    name: str
    until: str
    reason: str
    block: str
    findings: tuple[str, ...]

    @property
    def text(self) -> str:
        """As written, without the sign of a comment."""
        return f"allow({self.name}{self.until}) {self.reason}"

    @property
    def allowed(self) -> str:
        """The findings in a line."""
        more = len(self.findings) - MESSAGES
        listed = "; ".join(self.findings[:MESSAGES]) + (f"; {more:,} more" if more > 0 else "")
        return f"allows: {listed}" if listed else "allows no finding"


@dataclass(slots=True)
class Contract:
    """What one design rests on. Declarations and statements are by the block in which they are: the name of a
    fabric or cluster, or "" for those outside of all."""

    file: str = ""
    waivers: list[Waiver] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=dict)  # of tdsl.toml, by their full names
    lock: Counter[str] | None = None  # its lines, without comments; None where there is no lock
    files: Mapping[str, str] = field(default_factory=dict)  # digests by path from the design's folder
    parameters: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # "n: default" and the like to the text
    statements: dict[str, Counter[str]] = field(default_factory=dict)
    given: frozenset[str] = frozenset()  # parameters to which the call gives a value
    shown: dict[str, str] = field(default_factory=dict)  # how a statement is written, by its tokens
    words: dict[str, str] = field(default_factory=dict)  # with which word it begins


def contract_of_design(
    compilation: Compilation,
    home: Path,
    read: Mapping[Path, bytes],
    settings: Mapping[str, str],
    given: Iterable[str] = (),
) -> Contract:
    """The contract of a compiled design. ``home`` is its file and ``read`` what was read for it, by absolute
    path; ``settings`` are those of its ``tdsl.toml``, ``given`` the names of parameters that the call gives a
    value."""
    out = Contract(compilation.file, settings=settings, given=frozenset(given))
    lock = read.get(Path(f"{home}{LOCK}"))
    if lock is not None:
        lines = (line.partition(b"#")[0].strip() for line in lock.splitlines())
        out.lock = Counter(line.decode(errors="replace") for line in lines if line)
    library = [resources.packaged_folder(kind) for kind in ("stdlib", "grammar", "targets", "docs")]
    for path, data in read.items():
        if path not in (home, Path(f"{home}{LOCK}")) and not any(path.is_relative_to(f) for f in library):
            name = Path(os.path.relpath(path, home.parent)).as_posix()
            out.files = {**out.files, name: _digest_of_source(path, data)}
    text = compilation.read[0] if compilation.read else None
    blocks: list[tuple[str, SourceSpan]] = []
    if text is not None:
        from tdsl.syntax.parser import parse_source_file

        _collect_contract(out, parse_source_file(text, Diagnostics()).body, "", "", blocks)
    out.waivers = [_waiver_of_compilation(w, compilation, blocks) for w in compilation.waivers]
    return out


def _digest_of_source(path: Path, data: bytes) -> str:
    """A digest of what a file says: of a design without its comments and blanks."""
    if path.suffix == ".fab":
        try:
            text = SourceFile("", data.decode())
        except UnicodeDecodeError:
            return sha256(data).hexdigest()
        data = tokens_without_comments(SourceSpan(text, 0, len(text.text))).encode(errors="backslashreplace")
    else:
        data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").rstrip()
    return sha256(data).hexdigest()


def tokens_without_comments(span: SourceSpan) -> str:
    """The tokens of a stretch of text, without comments and ends of lines."""
    from tdsl.syntax.grammar import load_grammar_tables

    tokens = load_grammar_tables().scanner.scan(span.file, span.start, span.end)
    return " ".join(t.text for t in tokens if t.type not in ("COMMENT", "_END"))


def _span_in_one_line(span: SourceSpan) -> str:
    """A stretch of text in one line, without comments."""
    lines = span.text.splitlines() if "#" in span.text else [span.text]
    return " ".join(" ".join(line.partition(" #")[0] if '"' not in line else line for line in lines).split())


def _collect_contract(
    out: Contract, body: Iterable[tree.Stmt], block: str, inside: str, blocks: list[tuple[str, SourceSpan]]
) -> None:
    """Take the parameters and statements of a block, and of the blocks in it."""

    def collect_inner(body: Iterable[tree.Stmt], head: str) -> None:
        _collect_contract(out, body, block, f"{inside}{head} ", blocks)

    for s in body:
        if isinstance(s, tree.Param):
            _collect_parameter(out, s, block)
        elif isinstance(s, tree.Decl) and s.kind.name in CONTAINERS and s.body is not None:
            own = s.name.name if s.kind.name in ("fabric", "cluster") else block
            if own == block:
                collect_inner(s.body, _group_head(s))
            else:
                blocks.append((own, s.span))
                _collect_contract(out, s.body, own, inside, blocks)
        elif isinstance(s, tree.Extend):
            collect_inner(s.body, f"extend {_span_in_one_line(s.path.span)}")
        elif isinstance(s, tree.For):
            collect_inner(s.body, f"for {s.var.name} in {_span_in_one_line(s.over.span)}")
        elif isinstance(s, tree.If):
            for condition, branch in s.branches:
                collect_inner(branch, f"if {_span_in_one_line(condition.span)}")
            collect_inner(s.other, "else")
        elif block and _is_statement(s):
            key = f"{inside}{tokens_without_comments(s.span)}"
            out.statements.setdefault(block, Counter())[key] += 1
            out.shown[key] = f"{inside}{_span_in_one_line(s.span)}"
            out.words[key] = _span_in_one_line(s.span).partition(" ")[0]


def _collect_parameter(out: Contract, s: tree.Param, block: str) -> None:
    """Take the default, type and range of a parameter."""
    name, declared = s.name.name, out.parameters.setdefault(block, {})
    declared[f"{name}: default"] = _span_in_one_line(s.default.span)
    if s.type is not None:
        declared[f"{name}: type"] = s.type.name
    if s.guard is not None:
        declared[f"{name}: range"] = _span_in_one_line(s.guard.span)


def _group_head(s: tree.Decl) -> str:
    """What stands before the block of a group."""
    return (
        _span_in_one_line(SourceSpan(s.span.file, s.span.start, s.body[0].span.start))
        .partition("{")[0]
        .strip()
        if s.body
        else s.name.name
    )


def _is_statement(s: tree.Stmt) -> bool:
    if isinstance(s, tree.Setting):
        return s.name.name in STATEMENTS
    return isinstance(s, (tree.Override, tree.PhaseBlock, tree.JobDecl)) or (
        isinstance(s, tree.Decl) and s.kind.name == "hall"
    )


def _waiver_of_compilation(
    waiver: Allowance, compilation: Compilation, blocks: Iterable[tuple[str, SourceSpan]]
) -> Waiver:
    from tdsl.explain import catalogue

    span, home = waiver.span, compilation.read[0]
    around = [name for name, b in blocks if span.file is home and b.start <= span.start < b.end]
    found = {
        d.message
        for d in compilation.findings
        if d.allowed == waiver.reason
        and d.span is not None
        and d.span.file is span.file
        and d.span.begin[0] == waiver.line
        and waiver.name in (d.code, catalogue.finding_name(d.code))
    }
    until = f" until {waiver.until.isoformat()}" if waiver.until is not None else ""
    return Waiver(waiver.name, until, waiver.reason, around[-1] if around else "", tuple(sorted(found)))


# ---------------------------------------------------------------- comparison


@dataclass(frozen=True, slots=True)
class Subject:
    """Which part of two contracts a pair of fabrics is about: the blocks of each side, None for all of them;
    and whether what is outside of all blocks belongs to it."""

    blocks: tuple[frozenset[str] | None, frozenset[str] | None] = (None, None)
    shared: bool = True

    def has(self, side: int, block: str) -> bool:
        """Whether what is in a block belongs to it."""
        mine = self.blocks[side]
        return mine is None or (self.shared if block == "" else block in mine)


def compare_contracts(
    sides: tuple[Contract, Contract],
    designs: tuple[Design, Design],
    known: Mapping[str, str],
    subject: Subject,
    same: frozenset[str] = frozenset(),
) -> list[ContractChange]:
    """All differences of what two designs promise and rest on, but for models. ``known`` are devices of the
    old fabric with other paths now; statements of the words ``same`` have the same values in both."""
    (old, new), (before, after) = sides, designs
    assert before.fabric is not None and after.fabric is not None
    out = compare_requirements(
        before.claims, after.claims, FabricPairNames(before.fabric, after.fabric, known)
    )
    out += _waiver_changes(*([w for w in c.waivers if subject.has(i, w.block)] for i, c in enumerate(sides)))
    if subject.shared:
        out += _setting_changes(old.settings, new.settings)
    declared = [_entries_of_blocks(c.parameters, i, subject) for i, c in enumerate(sides)]
    values = [{k: str(v) for k, v in d.parameters.items()} for d in designs]
    out += _parameter_changes(declared[0], declared[1], values[0], values[1], old.given | new.given)
    if subject.shared:
        out += [*_lock_changes(old, new), *_file_changes(old.files, new.files)]
    out += _statement_changes(*(_statement_counts(c, i, subject, same) for i, c in enumerate(sides)))
    if before.name != after.name:
        out.append(ContractChange("design", "changed", "name of the fabric", before.name, after.name))
    if (before.phase, before.needed) != (after.phase, after.needed) and before.phase == after.phase:
        out.append(
            ContractChange(
                "statement", "changed", f"needed in phase {after.phase}", before.needed, after.needed
            )
        )
    return out


def _waiver_changes(old: list[Waiver], new: list[Waiver]) -> Iterator[ContractChange]:
    """Waivers that are on one side only, or have another reason, day or finding."""
    gone, come = list(old), list(new)
    for step in range(3):
        for a in list(gone):
            b = next((b for b in come if a.name == b.name and _waivers_match(a, b, step)), None)
            if b is None:
                continue
            gone.remove(a)
            come.remove(b)
            if step == 1:
                note = "the finding that it allows is another one"
                yield ContractChange(
                    "waiver", "changed", a.name, f"{a.text}: {a.allowed}", f"{b.text}: {b.allowed}", note
                )
            elif step == 2:
                yield ContractChange(
                    "waiver", "changed", a.name, a.text, b.text, "its reason or last day is another one"
                )
    for a in gone:
        yield ContractChange(
            "waiver", "removed", a.name, a.text, "", a.allowed.replace("allows", "allowed", 1)
        )
    for b in come:
        yield ContractChange("waiver", "added", b.name, "", b.text, b.allowed)


def _waivers_match(a: Waiver, b: Waiver, step: int) -> bool:
    """Whether two waivers are equal (0), have the same text (1), or allow the same findings (2)."""
    same_findings = a.findings == b.findings
    return (a.text == b.text and (step == 1 or same_findings)) if step < 2 else same_findings


def _entry_differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Name, change, and both texts of entries that are on one side only, or have another value there."""
    for name in [*old, *(n for n in new if n not in old)]:
        if old.get(name) != new.get(name):
            change = "added" if name not in old else "removed" if name not in new else "changed"
            yield name, change, old.get(name, ""), new.get(name, "")


def _setting_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[ContractChange]:
    for name, change, before, after in _entry_differences(old, new):
        table, _, finding = name.partition(".")
        if table == "severity":
            if change == "changed":
                change = "stronger" if Severity[after.upper()] > Severity[before.upper()] else "weaker"
            yield ContractChange("severity", change, finding, before, after)
        else:
            yield ContractChange("setting", change, name, before, after)


def _entries_of_blocks(found: Mapping[str, Mapping[str, str]], side: int, subject: Subject) -> dict[str, str]:
    return {
        name: text for block, rows in found.items() if subject.has(side, block) for name, text in rows.items()
    }


def _parameter_changes(
    old: Mapping[str, str],
    new: Mapping[str, str],
    before: Mapping[str, str],
    after: Mapping[str, str],
    given: frozenset[str],
) -> Iterator[ContractChange]:
    """Declarations that differ. Values are compared beside, so a default that is the value of both sides is
    left to that, and so is one that is only written in another way."""
    for name, change, was, now in _entry_differences(old, new):
        parameter, _, what = name.partition(": ")
        values = before.get(parameter), after.get(parameter)
        is_known = what == "default" and parameter not in given and None not in values
        if not is_known:
            yield ContractChange("parameter", change, name, was, now)


def _lock_changes(old: Contract, new: Contract) -> Iterator[ContractChange]:
    a, b = old.lock, new.lock
    if a == b:
        return
    was, now = ("" if c is None else counted_noun(c.total(), "line") for c in (a, b))
    if a is None or b is None:
        note = "it recorded which links stay"
        if b is not None:
            note = "it records which links stay; `tdsl plan` and `tdsl lock` write it"
        yield ContractChange("lock", "removed" if b is None else "added", LOCK.lstrip("."), was, now, note)
        return
    more, gone = (b - a).total(), (a - b).total()
    note = f"{counted_noun(more, 'line is', 'lines are')} new, {gone:,} "
    note += f"{noun_for_count(gone, 'is', 'are')} gone"
    yield ContractChange("lock", "changed", LOCK.lstrip("."), was, now, note)


def _file_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[ContractChange]:
    """Files by their path; one that is elsewhere now and says the same is renamed."""
    gone = {name: digest for name, digest in old.items() if name not in new}
    come = {name: digest for name, digest in new.items() if name not in old}
    for name, change, _, _ in _entry_differences(old, new):
        if change == "changed":
            yield ContractChange("file", "changed", name, name, name, "its text is another one")
        elif change == "removed":
            other = next((n for n, digest in come.items() if digest == gone[name]), None)
            if other is None:
                other = next((n for n in come if n.rpartition("/")[2] == name.rpartition("/")[2]), None)
            if other is None:
                yield ContractChange("file", "removed", name, name, "", "the design reads it no longer")
            elif come.pop(other) != gone[name]:
                yield ContractChange("file", "changed", name, name, other, "its text is another one")
            elif other.rpartition("/")[2] != name.rpartition("/")[2]:
                yield ContractChange("file", "renamed", name, name, other)
    for name in come:
        yield ContractChange("file", "added", name, "", name, "the design reads it now")


def _statement_counts(
    contract: Contract, side: int, subject: Subject, same: frozenset[str]
) -> dict[str, tuple[int, str]]:
    """Statements by their tokens, but for those of some words: how many, and how one is written."""
    out: Counter[str] = Counter()
    for block, rows in contract.statements.items():
        out += rows if subject.has(side, block) else Counter()
    return {key: (n, contract.shown[key]) for key, n in out.items() if contract.words[key] not in same}


def _statement_changes(
    old: Mapping[str, tuple[int, str]], new: Mapping[str, tuple[int, str]]
) -> Iterator[ContractChange]:
    """Statements on one side only; two that begin with the same word are one that differs."""
    gone = [text for key, (n, text) in old.items() for _ in range(n - new.get(key, (0, ""))[0])]
    come = [text for key, (n, text) in new.items() for _ in range(n - old.get(key, (0, ""))[0])]
    for text in gone:
        word = text.partition(" ")[0]
        other = next((t for t in come if t.partition(" ")[0] == word), None)
        if other is None:
            yield ContractChange("statement", "removed", word, text, "")
        else:
            come.remove(other)
            yield ContractChange("statement", "changed", word, text, other)
    for text in come:
        yield ContractChange("statement", "added", text.partition(" ")[0], "", text)


def model_changes(pairs: Iterable[tuple[DeviceModel, DeviceModel]]) -> Iterator[ContractChange]:
    """Facts of models that differ; ``pairs`` are models of one name."""
    reported: set[ContractChange] = set()
    for old, new in pairs:
        if old is new:
            continue
        sizes = [{c.name: c.size for c in m.classes} for m in (old, new)]
        same_size = {name for name, size in sizes[0].items() if sizes[1].get(name) == size}
        before, after = (model_attributes(m, same_size, old.variant == new.variant) for m in (old, new))
        for fact, change, was, now in _entry_differences(before, after):
            said = ContractChange("model", change, f"{old.name}: {fact}", was, now)
            if said not in reported:
                reported.add(said)
                yield said


def model_attributes(model: DeviceModel, same_size: Collection[str], ports: bool = True) -> dict[str, str]:
    """What a model says, by name, as text; of each port of a class only where both sides have as many of it,
    and of ``ports`` nothing where these are split otherwise."""
    out: dict[str, str] = {}
    for name in compared_fields(model):
        value = getattr(model, name)
        match name:
            case "facts":
                out |= {fact: fact_text(x) for fact, x in value.items()}
            case "classes":
                for c in value if ports else ():
                    out |= _port_class_attributes(model, c, same_size)
            case "chips":
                for chip in value:
                    out |= _chip_attributes(chip)
            case "layout":
                for node in value:
                    out[f"{node.kind} {node.name} {node.index}"] = fact_text(node)
            case "links":
                said = sorted(map(fact_text, value))
                out |= {"links": fact_text(said)} if said else {}
            case _:
                out |= {name: fact_text(value)} if value not in (None, "", ()) else {}
    return out


def _port_class_attributes(model: DeviceModel, c: PortClass, same_size: Collection[str]) -> dict[str, str]:
    """What a class of ports says; one of several of a name is known by its first port, too."""
    name = c.name if len(model.parts(c.name)) == 1 else c.path(0)
    kept = [f for f in compared_fields(c) if c.name in same_size or f not in EACH_PORT]
    out = {f"port {name} {f}": fact_text(getattr(c, f)) for f in kept}
    return out | {f"port {name} count": str(c.size)}


def _chip_attributes(chip: Chip) -> dict[str, str]:
    """What a model says of devices inside, and what their own model says."""
    what = f"{chip.kind} {chip.name}"
    out = {what: f"{chip.size} x {chip.model.name}"}
    for name in compared_fields(chip):
        if name not in ("kind", "model"):
            out[f"{what} {name}"] = fact_text(getattr(chip, name))
    inside = model_attributes(chip.model, [c.name for c in chip.model.classes])
    return out | {f"{what} {fact}": text for fact, text in inside.items()}
