"""Names in paths: from ``su[s].leaf[*].p[3]`` to the device set, its axes and its port class. Indices are not
evaluated here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Excused, Fault, known_names_help, unknown_name_fault
from tdsl.semantics.model import Axis, DeviceModel, DeviceSet, PathComponent, PortClass
from tdsl.semantics.plan import Context, FabricPlan, Group, IndexEntry, ResolvedPath
from tdsl.semantics.values import number_in_message
from tdsl.syntax import tree
from tdsl.syntax.declaration_slips import SWITCH_NAME
from tdsl.syntax.keywords import GRAMMAR_WORDS, PATTERNS, SETTINGS


class PathReader:
    """Reads one path's parts in order."""

    def __init__(
        self, plan: FabricPlan, context: Context, path: tree.PathExpr, *, ports: bool = True
    ) -> None:
        self.plan, self.context, self.path, self.ports = plan, context, path, ports
        self.at = 0

    def member(self) -> tree.Identifier:
        """The next name."""
        part = self.path.parts[self.at]
        if not isinstance(part, tree.Identifier):
            raise self._two_indices_fault(part)
        self.at += 1
        return part

    def _two_indices_fault(self, part: tree.IndexPart | tree.Call) -> Fault:
        """The fault of ``node[n][r]``: an index follows another, and a name between them is missing."""
        written = self.path.parts[: self.at]
        head = written[0] if written else None
        found = self.context.groups[-1].members.get(head.name) if isinstance(head, tree.Identifier) else None
        device = self.ports and isinstance(found, DeviceSet) and len(written) == 2
        model = found.model if device and isinstance(found, DeviceSet) else None
        name = model.classes[0].name if model is not None and model.classes else ""
        at = SourceSpan(part.span.file, part.span.start, part.span.start)
        axes = found.parts[-1].axes if isinstance(found, DeviceSet) else ()
        before = part.span.file.text[part.span.start - 1]
        if isinstance(found, DeviceSet) and len(axes) == 2 and len(written) == 2 and before == "]":
            both = SourceSpan(part.span.file, part.span.start - 1, part.span.start + 1)
            message = f"`{found.parts[-1].name}` has 2 indices, which are written in one pair of brackets"
            fix = Fix("write `, `", ((both, ", "),), safe=False)
            raise Fault("E0120", both, message, help="write `[i, j]` for `[i][j]`", fix=fix)
        new = (
            f"{SourceSpan(part.span.file, self.path.span.start, part.span.start).text}.{name}{part.span.text}"
        )
        return Fault(
            "E0120",
            part.span,
            "an index follows a name, and here it follows another index",
            help=f"write `{new}` for a port"
            if name
            else "several dimensions are one pair of brackets, `[i, j]`",
            fix=Fix(f"put `.{name}`", ((at, f".{name}"),), safe=False) if name else None,
        )

    def index(self) -> tree.IndexPart | None:
        """The brackets that follow, if any."""
        if self.at < len(self.path.parts):
            part = self.path.parts[self.at]
            if isinstance(part, tree.IndexPart):
                self.at += 1
                return part
            if isinstance(part, tree.Call):
                raise Fault(
                    "E0120",
                    part.span,
                    "a path cannot be called; indices are written in square brackets",
                    help=f"write `[{part.span.text[1:-1]}]`",
                    fix=Fix("write brackets", ((part.span, f"[{part.span.text[1:-1]}]"),)),
                )
        return None

    @property
    def more(self) -> bool:
        """Whether parts are left."""
        return self.at < len(self.path.parts)

    def entries(
        self, name: tree.Identifier, axes: tuple[Axis, ...], extents: Sequence[object] = (), ports: str = ""
    ) -> list[IndexEntry]:
        """One entry a dimension; nothing written means the whole population. ``ports``: the class of ports
        that an index of what has none may mean."""
        index = self.index()
        if index is None or _is_lone_star(index):
            return [IndexEntry(a, None, name.span, name.name) for a in axes]
        _check_count(name, axes, index, extents, ports)
        return [IndexEntry(a, e, e.span, name.name) for a, e in zip(axes, index.entries, strict=True)]


def resolve_path(
    plan: FabricPlan, context: Context, path: tree.PathExpr, *, ports: bool = True, declarable: bool = True
) -> ResolvedPath:
    """The target of a path as seen from a statement. Raises Fault for unknown names, Excused for broken
    ones. Where the path is not of the design but of a call, a missing name is not ``declarable``: the help
    does not say how it would be declared."""
    reader = PathReader(plan, context, path, ports=ports)
    head = reader.member()
    depth, found = _find_enclosing_member(plan, context, head, path, declarable)
    shared = sum(len(p.axes) for p in context.parts[:depth])
    parts: list[PathComponent] = list(context.parts[:depth])
    written: list[tuple[tree.Identifier, int, tree.IndexPart | None]] = []
    while isinstance(found, Group):
        index = reader.index()
        written.append((head, len(found.axes), index))
        _check_count(head, found.axes, index, found.extents)
        parts.append(PathComponent(found.name, found.kind, found.axes))
        if not reader.more:
            entries = _entries_of_groups(written, [p.axes for p in parts[depth:]])
            return ResolvedPath(path, found, None, shared, tuple(entries), "", None, tuple(parts))
        head = reader.member()
        found = _member_of_group(found, head)
    own = [p.axes for p in found.parts[depth : depth + len(written)]]
    entries = _entries_of_groups(written, own)
    classes = {c.name for c in found.model.classes}
    meant = next(iter(classes)) if len(classes) == 1 else "p" if "p" in classes else ""
    entries += reader.entries(head, found.parts[-1].axes, found.extents, meant)
    return _target_behind_device(plan, reader, found, shared, entries, path, ports)


def _is_lone_star(index: tree.IndexPart) -> bool:
    """``[*]`` alone means all members, however many dimensions there are."""
    return len(index.entries) == 1 and isinstance(index.entries[0], tree.Star)


def _check_count(
    name: tree.Identifier,
    axes: tuple[Axis, ...],
    index: tree.IndexPart | None,
    extents: Sequence[object] = (),
    ports: str = "",
) -> None:
    if index is None or (_is_lone_star(index) and axes) or len(index.entries) == len(axes):
        return
    declared = [e.span for e in extents if isinstance(e, tree.Extent)]
    shape = ", ".join(f"{a.low}..{a.high}" for a in axes) or "none"
    has = f"`{name.name}` has {len(axes)} {'index' if len(axes) == 1 else 'indices'} ({shape})"
    written = f"{len(index.entries)} {'is' if len(index.entries) == 1 else 'are'} written"
    _refuse_brackets_apart(index, axes, has)
    if len(declared) == 1 and len(declared[0].text.split("*")) == len(index.entries) > 1:
        raise _product_for_dimensions_fault(name, declared[0], index)
    labels = [(declared[0].to(declared[-1]), f"`{name.name}` is declared here")] if declared else []
    help = "one entry a dimension, separated by commas; `[*]` alone means all members"
    if not axes:
        help = _help_for_index_of_one(name.name, index, ports)
    raise Fault("E0109", index.span, f"{has}, and {written}", labels=labels, help=help)


def _refuse_brackets_apart(index: tree.IndexPart, axes: tuple[Axis, ...], has: str) -> None:
    """Raises Fault for ``h[i][j]``."""
    behind = re.compile(r"\]\s*+\[").match(index.span.file.text, index.span.end - 1)
    if behind is not None and len(index.entries) + 1 == len(axes):
        both = SourceSpan(index.span.file, *behind.span())
        fix = Fix("write `, `", ((both, ", "),), safe=False)
        message = f"{has}, which are written in one pair of brackets"
        raise Fault("E0109", both, message, help="write `,` in place of `][`", fix=fix)


def _help_for_index_of_one(name: str, index: tree.IndexPart, ports: str) -> str:
    """What to write for an index of what has none: a range may be that of its ports."""
    if ports and any(isinstance(e, tree.Range) for e in index.entries):
        return f"its ports are `{name}.{ports}{index.span.text}`"
    return f"write `{name}`"


def _product_for_dimensions_fault(name: tree.Identifier, at: SourceSpan, index: tree.IndexPart) -> Fault:
    """The fault of ``chip c[4*4*4]``, whose members have three indices elsewhere."""
    sizes = [x.strip() for x in at.text.split("*")]
    new = "x".join(sizes)
    plain = re.fullmatch(r"\d+(?:x\d+)+", new) is not None
    new = new if plain else ", ".join(sizes)
    return Fault(
        "E0109",
        at,
        f"`{name.name}[{at.text}]` declares one row of members, and `{name.name}{index.span.text}` has "
        f"{len(index.entries)} indices",
        labels=[(index.span, f"{len(index.entries)} indices here")],
        help=f"write `{new}`",
        fix=Fix(f"write `{new}`", ((at, new),), safe=False),
    )


def _entries_of_groups(
    written: list[tuple[tree.Identifier, int, tree.IndexPart | None]], axes: list[tuple[Axis, ...]]
) -> list[IndexEntry]:
    """Entries of the groups on the way, over the axes that the device set itself has there (an extend narrows
    them)."""
    out: list[IndexEntry] = []
    for (name, _, index), own in zip(written, axes, strict=True):
        if index is None or _is_lone_star(index):
            out += [IndexEntry(a, None, name.span, name.name) for a in own]
        else:
            out += [IndexEntry(a, e, e.span, name.name) for a, e in zip(own, index.entries, strict=True)]
    return out


def _refuse_model_or_job(plan: FabricPlan, head: tree.Identifier) -> None:
    """Refuse the name of a model, or of a job at the top of a file, in place of a device's. Raises Fault."""
    is_model = plan.evaluator.is_model
    if callable(is_model) and is_model(head.name):
        raise Fault(
            "E0101",
            head.span,
            f"`{head.name}` is a model, not a device",
            help=f"declare one, `switch NAME: {head.name}` or `host NAME: {head.name}`, and write its "
            "name here",
        )
    if plan.is_job(head.name):
        raise Fault(
            "E0101",
            head.span,
            f"`{head.name}` is a job that others build on, not one of this fabric",
            help=f"write `job my_{head.name}: {head.name} {{ }}` in the fabric, and `my_{head.name}` here",
        )


def _fault_of_name_inside(around: Group, head: tree.Identifier) -> Fault:
    """The fault of a first name that a group below has: how its path is written."""
    message = f"there is no device or group `{head.name}` here; it is declared in `{around.name}`"
    if head.span.file.text[head.span.start - 1] == "," and head.span.start > 1:
        comma = SourceSpan(head.span.file, head.span.start - 1, head.span.start)
        return Fault(
            "E0101",
            head.span,
            message,
            help=f"write `.{head.name}`: a point joins the names of a path, a comma separates paths",
            fix=Fix("write `.`", ((comma, "."),), safe=False),
        )
    index = f"[{', '.join('*' * len(around.axes))}]" if around.axes else ""
    whole = f"{around.name}{index}.{head.name}"
    fix = Fix(f"write `{whole}`", ((head.span, whole),), safe=False)
    return Fault("E0101", head.span, message, help=f"write `{whole}`", fix=fix)


def _find_enclosing_member(
    plan: FabricPlan, context: Context, head: tree.Identifier, path: tree.PathExpr, declarable: bool
) -> tuple[int, Group | DeviceSet]:
    """The member a first name means, looked up from the enclosing block outward, and how deep it was
    found."""
    for depth in range(len(context.groups) - 1, -1, -1):
        group = context.groups[depth]
        found = group.members.get(head.name)
        if found is not None:
            return depth, found
        if head.name in group.absent or group.scope.is_excused(head.name):
            raise Excused
    _refuse_model_or_job(plan, head)
    known = [n for g in context.groups for n in (*g.members, *g.absent)]
    around = next(
        (
            m
            for g in reversed(context.groups)
            for m in g.members.values()
            if isinstance(m, Group) and head.name in m.members
        ),
        None,
    )
    if around is not None:
        raise _fault_of_name_inside(around, head)
    following = path.parts[1] if len(path.parts) > 1 else None
    if isinstance(following, tree.Identifier) and (following.name in known or head.name == plan.name):
        gone = SourceSpan(head.span.file, head.span.start, following.span.start)
        raise Fault(
            "E0101",
            head.span,
            f"there is no device or group `{head.name}` here; paths begin inside of the fabric",
            help=f"write `{following.name}`, without `{head.name}.`",
            fix=Fix(f"remove `{head.name}.`", ((gone, ""),), safe=False),
        )
    if not isinstance(following, tree.IndexPart):
        _refuse_name_of_device(context, head)
    _refuse_requirement_as_path(head)
    what = "device, group or job" if plan.names_of_jobs else "device or group"
    all_known = (*known, *plan.names_of_jobs)
    help = ""
    begin = max(head.span.file.text.rfind(c, 0, head.span.start) for c in "\n{;") + 1
    asked = re.compile(r"[ \t]*(?:require|report)\b").match(head.span.file.text, begin) is not None
    if declarable and head.name not in GRAMMAR_WORDS and not (asked and plan.names_of_jobs):
        kind = "switch" if SWITCH_NAME.match(head.name) else "host"
        declare = f"declare it: `{kind} {head.name}[8]: MODEL`"
        help = "; ".join(filter(None, (declare, known_names_help(all_known))))
    raise unknown_name_fault("E0101", head.span, what, head.name, all_known, extra_help=help)


def paths_in_one_fault(span: SourceSpan) -> Fault | None:
    """The fault of ``spine[0] and spine[1]`` and ``spine[0] spine[1]``, paths of a list without the `,`; None
    of other texts."""
    paths = [word for word in span.text.split(" ") if word != "and"]
    written = all(re.fullmatch(r"[A-Za-z_][\w.\[\]*()]*+", path) for path in paths)
    if not written or len(paths) < 2 or "[" not in span.text:
        return None
    new = ", ".join(paths)
    fix = Fix(f"write `{new}`", ((span, new),), safe=False)
    return Fault("E0120", span, "`,` separates paths", help=f"write `{new}`", fix=fix)


def _refuse_requirement_as_path(head: tree.Identifier) -> None:
    """Raise Fault for the risks of ``any 1 of feed``, and for what is behind the value of a requirement or
    behind a ``,`` and is no path."""
    text, span = head.span.file.text, head.span
    before = text[max(text.rfind(c, 0, span.start) for c in "\n{;") + 1 : span.start]  # of this statement
    if re.search(r"\bany \d+ of $", before) and head.name.rstrip("s") in ("feed", "pdu", "tray"):
        new = f"risk.{'trays' if head.name.startswith('tray') else 'feeds'}"
        fix = Fix(f"write `{new}`", ((span, new),), safe=False)
        message = f"there is no device or group `{head.name}` here; what fails together is a risk"
        raise Fault("E0101", span, message, help=f"write `{new}`", fix=fix)
    if head.name in ("active", "intact", "total") and before.endswith(" of "):
        message = f"`of {head.name}` says what a share is of, and follows the value"
        raise Fault(
            "E0101", span, message, help=f"write it behind the value, such as `<= 1:1 of {head.name}`"
        )
    if before.rstrip().endswith(","):
        _refuse_word_behind_comma(head, before)


def _refuse_word_behind_comma(head: tree.Identifier, before: str) -> None:
    """Raise Fault for a pattern, a setting or a second requirement behind paths and a ``,``, as in
    ``survives any 1 of spine, bisection >= 70%``; ``before`` is the statement up to it."""
    text, span, word = head.span.file.text, head.span, "" if head.name in PATTERNS else ";"
    what = "a setting of its own" if word else "a pattern"
    if head.name in SETTINGS and re.match(r"\s*connect\b", before):
        message = f"`,` lists paths, and `{head.name}` is a setting"
        raise Fault("E0101", span, message, help=f"write `{{ {head.name} … }}` behind the paths")
    if head.name not in (*PATTERNS, *SETTINGS):
        if re.compile(r"[ \t]*[<>=!]=?[ \t]*[$\d]").match(text, span.end) is None:
            return
        what = "compared: it begins a requirement of its own"
        word = " with" if re.search(r"\bsurvives\b|\bavailability\b", before) else " and"
    gap = SourceSpan(span.file, span.start - len(before) + len(before.rstrip()) - 1, span.start)
    help = f"write `{word.strip()} {head.name}`" if word else "remove the `,`"
    fix = Fix(help, ((gap, f"{word} "),), safe=False)
    raise Fault("E0101", span, f"`,` lists paths, and `{head.name}` is {what}", help=help, fix=fix)


def _refuse_name_of_device(context: Context, head: tree.Identifier) -> None:
    """Raise Fault where a device is written as reports name it: ``leaf0`` of ``leaf[0]``."""
    stem = head.name.rstrip("0123456789")
    found = next((g.members[stem] for g in reversed(context.groups) if stem in g.members), None)
    if stem == head.name or found is None or len(found.axes) != 1:
        return
    path = f"{stem}[{head.name[len(stem) :]}]"
    raise Fault(
        "E0101",
        head.span,
        f"`{head.name}` is the name of a device; a path has brackets",
        help=f"write `{path}`",
        fix=Fix(f"write `{path}`", ((head.span, path),), safe=False),
    )


def _member_of_group(group: Group, name: tree.Identifier) -> Group | DeviceSet:
    found = group.members.get(name.name)
    if found is not None:
        return found
    if name.name in group.absent or group.scope.is_excused(name.name):
        raise Excused
    raise unknown_name_fault("E0101", name.span, f"member of `{group.name}` called", name.name, group.members)


def _refuse_number_without_brackets(model: DeviceModel, name: tree.Identifier) -> None:
    """Raise Fault for ``nic0`` where a model has ports or chips ``nic[0]``."""
    found = re.fullmatch(r"(\w*?)_?(\d{1,6})", name.name)
    parts = found and [
        *(c.axes for c in model.parts(found[1])),
        *(c.axes for c in model.chips if c.name == found[1]),
    ]
    if found is None or not parts:
        return
    number = int(found[2])
    if any(len(axes) == 1 and 0 <= number - axes[0].low < axes[0].size for axes in parts):
        new = f"{found[1]}[{number}]"
        fix = Fix(f"write `{new}`", ((name.span, new),), safe=False)
        message = f"{model.name} has no `{name.name}` of its own; the number of a `{found[1]}` is in brackets"
        raise Fault("E0101", name.span, message, help=f"write `{new}`", fix=fix)


def _target_behind_device(
    plan: FabricPlan,
    reader: PathReader,
    device: DeviceSet,
    shared: int,
    entries: list[IndexEntry],
    path: tree.PathExpr,
    ports: bool,
) -> ResolvedPath:
    """What follows the device: devices inside it, and at last a port class."""
    while reader.more:
        name = reader.member()
        chip = next((c for c in device.model.chips if c.name == name.name), None)
        if chip is not None:
            device = inner_device_set(plan, device, name)
            entries += reader.entries(name, chip.axes)
            continue
        parts = device.model.parts(name.name)
        if not parts:
            _refuse_number_without_brackets(device.model, name)
            known = [*(c.name for c in device.model.classes), *(c.name for c in device.model.chips)]
            raise unknown_name_fault(
                "E0101", name.span, f"port class of {device.model.name} called", name.name, known
            )
        if not ports:
            raise Fault("E0120", name.span, "expected a path to devices, not to their ports")
        found, offset = port_entries(reader, name, parts)
        if reader.more:
            raise Fault("E0120", path.parts[reader.at].span, "nothing follows a port")
        return ResolvedPath(
            path, None, device, shared, tuple(entries), name.name, tuple(found), offset=offset
        )
    return ResolvedPath(path, None, device, shared, tuple(entries), "", None)


def port_entries(
    reader: PathReader, name: tree.Identifier, parts: tuple[PortClass, ...]
) -> tuple[list[IndexEntry], int]:
    """The entries behind a port class, and how many ports of its name come before those that they count.

    A range with one entry in a class that has lanes means all lanes of these ports.
    """
    index = reader.index()
    if index is None or _is_lone_star(index):
        axes = parts[0].axes if len(parts) == 1 else (Axis(0, sum(c.size for c in parts)),)
        return [IndexEntry(a, None, name.span, name.name) for a in axes], 0
    if _names_ports_with_lanes(index, parts):
        return [_entry_of_lanes(reader, name, index.entries[0], parts)], 0
    fitting = [c for c in parts if len(c.axes) == len(index.entries)]
    if len(parts) == 1 or not fitting:
        _check_count(name, parts[0].axes, index)
        fitting = [parts[0]]
    chosen = fitting[0] if len(fitting) == 1 else _part_of_class_meant(reader, name, index, fitting)
    before = sum(c.size for c in parts[: parts.index(chosen)])
    return [
        IndexEntry(a, e, e.span, name.name) for a, e in zip(chosen.axes, index.entries, strict=True)
    ], before


def _names_ports_with_lanes(index: tree.IndexPart, parts: tuple[PortClass, ...]) -> bool:
    """Whether an index is a range or a list of ports in a class some of whose ports have lanes."""
    many = len(index.entries) == 1 and isinstance(index.entries[0], (tree.Range, tree.ListExpr))
    lanes = any(c.split > 1 for c in parts)
    return many and lanes and all(len(c.axes) == 1 + (c.split > 1) for c in parts)


def _part_of_class_meant(
    reader: PathReader, name: tree.Identifier, index: tree.IndexPart, fitting: list[PortClass]
) -> PortClass:
    """Which of several parts of a class has the port of a first index; the first if none has it. Raises Fault
    where that index may vary."""
    at = _constant_index(reader, index.entries[0])
    if at is None:
        spans = ", ".join(f"`{name.name}[{c.axes[0].low}..{c.axes[0].high}]`" for c in fitting)
        raise Fault(
            "E0120",
            index.span,
            f"ports of `{name.name}` are split in parts, so a number must say which one is meant",
            help=f"the parts are {spans}",
        )
    return next((c for c in fitting if c.axes[0].low <= at <= c.axes[0].high), fitting[0])


def _constant_index(reader: PathReader, e: tree.Expr) -> int | None:
    """The number that an entry is whatever the assignment, None where it may vary."""
    try:
        return reader.plan.evaluator.integer(e, reader.context.group.scope)
    except (Fault, Excused):
        return None


def _entry_of_lanes(
    reader: PathReader, name: tree.Identifier, e: tree.Expr, parts: tuple[PortClass, ...]
) -> IndexEntry:
    """``p[1..32]`` where some of these ports have lanes: all of them, as places in the class."""
    scope, evaluator = reader.context.group.scope, reader.plan.evaluator
    if isinstance(e, tree.Range):
        low, high = evaluator.integer(e.low, scope), evaluator.integer(e.high, scope)
        beyond = low + sum(c.axes[0].size for c in parts)  # a range this long has a number outside
        wanted = list(range(low, min(high, beyond) + 1))
    else:
        assert isinstance(e, tree.ListExpr)
        wanted = [evaluator.integer(x, scope) for x in e.items]
    places: dict[int, list[int]] = {}
    at = 0
    for c in parts:
        for number in range(c.axes[0].low, c.axes[0].high + 1):
            places[number] = list(range(at, at + c.split))
            at += c.split
    outside = next((n for n in wanted if n not in places), None)
    if outside is not None or not wanted:
        low, high = min(places), max(places)
        raise Fault(
            "E0108",
            e.span,
            f"`{name.name}[{number_in_message(outside)}]` is outside {low}..{high}"
            if outside is not None
            else f"`{name.name}[{e.span.text}]` names no port",
            help=f"`{name.name}` has the indices {low} to {high}"
            + ("" if wanted else f"; the lower end of a range comes first: `{low}..{high}`"),
        )
    items = tuple(tree.Number(p, e.span) for n in wanted for p in places[n])
    return IndexEntry(Axis(0, at), tree.ListExpr(items, e.span), e.span, name.name)


def inner_device_set(plan: FabricPlan, host: DeviceSet, name: tree.Identifier) -> DeviceSet:
    """The set of the devices of that name inside all devices of a set, made when a statement of the design
    first names it. Those that none names are no devices of the fabric, which a requirement or a failure can't
    be about."""
    key = (id(host), name.name)
    if key not in plan.insides:
        if plan.numbered:
            raise Fault(
                "E0101",
                name.span,
                f"`{name.name}` of {host.model.name} is not a device of this fabric: no statement "
                "connects it",
                help=f"name the device that it is in: `{host.name}`",
            )
        chip = next(c for c in host.model.chips if c.name == name.name)
        role = "accelerator" if chip.accelerates else ""
        made = DeviceSet(
            -1,
            (*host.parts, PathComponent(chip.name, chip.kind, chip.axes)),
            chip.model,
            role,
            host.origin,
            inside=host,
        )
        plan.insides[key] = made
    return plan.insides[key]
