"""A comparison as text for the terminal and as Markdown for a pull request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction

from tdsl.changes.compare import devices_by_set
from tdsl.changes.model import PARTS, CableLeg, Change, Changes, ContractChange, Metric, MovedCable, Revisions
from tdsl.changes.steps import MovePlan, MoveStep, percent_of_share
from tdsl.fabric.graph import Fabric
from tdsl.report.paint import Paint, terminal_safe_text, wrap_text
from tdsl.semantics.quantity import MONEY, POWER, UNIT_TABLE, Dim, Quantity
from tdsl.system.nouns import counted_noun

FEW = 12
"""Rows of a list that are shown unless all are asked for."""
FIRST_GROUPS = 8
"""Pairs of declarations whose cables the first lines count."""
FIRST_SETTINGS = 2
"""Settings that the first lines name."""


def changes_as_text(changes: Sequence[Changes], paint: Paint, width: int, whole: bool) -> str:
    """Sections of what differs, those first that people look for first."""
    return "\n\n".join("\n".join(_change_lines(c, paint, width, whole)) for c in changes) + "\n"


def _change_lines(c: Changes, paint: Paint, width: int, whole: bool) -> Iterator[str]:
    yield paint("bold", terminal_safe_text(c.fabric)) + ("" if not c.none else "  no difference")
    yield from (
        f"  {line}"
        for sentence in change_summary(c)
        for line in wrap_text(terminal_safe_text(sentence), max(width - 2, 40))
    )
    yield from _section_lines(contract_sections(c), paint, width, whole)
    if c.metrics:
        broad = max(len(m.name) for m in c.metrics)
        yield ""
        for m in c.metrics:
            yield (
                f"  {paint(_metric_style(m), terminal_safe_text(m.name).ljust(broad))}  "
                f"{_before_after_arrow(m.before, m.after)}"
            )
    yield from _section_lines(change_sections(c), paint, width, whole)


def _section_lines(
    parts: Iterable[tuple[str, list[tuple[str, str]]]], paint: Paint, width: int, whole: bool
) -> Iterator[str]:
    """Titles and rows, long lists cut unless they are wanted whole."""
    for title, rows in parts:
        yield ""
        yield f"  {paint('bold', title)}"
        shown = rows if whole or len(rows) <= FEW + 1 else rows[:FEW]
        for sign, row in shown:
            first, *rest = wrap_text(terminal_safe_text(row), max(width - 6, 40))
            style = {"+": "good", "-": "bad"}.get(sign, "middling")
            yield f"  {paint(style, sign)} {first}"
            yield from (f"      {line}" for line in rest)
        if len(shown) < len(rows):
            yield f"    and {len(rows) - len(shown):,} more; --full shows them"


SHOWN_AMOUNT = re.compile(r"(?P<sign>\$?)(?P<number>[\d,]+(\.\d+)?)(?P<unit>[A-Za-z]*)")
TITLES = {
    "requirement": "requirements",
    "waiver": "waivers",
    "severity": "severities",
    "setting": "settings of tdsl.toml",
    "parameter": "parameters",
    "lock": "lock",
    "file": "files",
    "statement": "statements",
    "model": "models",
    "design": "design",
}
"""Titles of the parts of a contract."""


def contract_summary(c: Changes) -> str:
    """How many differences each part of the contract has, by kind: ``1 requirement weaker, 2 removed; 1
    waiver added``."""
    kinds = {part: Counter(x.change for x in c.contract if x.part == part) for part in TITLES}
    kinds["parameter"]["changed"] += len(c.parameters)
    said = []
    for part, counts in kinds.items():
        listed = [f"{n:,} {kind}" for kind, n in counts.items() if n]
        if listed:
            number, kind = listed[0].split(" ")
            noun = part if number == "1" else {"severity": "severities"}.get(part, f"{part}s")
            said.append(", ".join([f"{number} {noun} {kind}", *listed[1:]]))
    return "; ".join(said)


def contract_sections(c: Changes) -> list[tuple[str, list[tuple[str, str]]]]:
    """Titles and rows of what differs in the contract, as ``sections`` gives them."""
    out = []
    for part, title in TITLES.items():
        rows = [_contract_row(x) for x in c.contract if x.part == part]
        rows += [("~", row) for row in _change_rows(c.parameters)] if part == "parameter" else []
        out += [(title, rows)] if rows else []
    return out


def _contract_row(x: ContractChange) -> tuple[str, str]:
    sign = {"added": "+", "removed": "-"}.get(x.change, "~")
    named = x.part not in ("requirement", "waiver", "statement", "file") and x.what not in (
        x.part,
        "file",
        "fabric",
    )
    texts = [x.before, x.after] if x.before and x.after and x.before != x.after else [x.after or x.before]
    note = f" ({x.note})" if x.note else ""
    return sign, f"{x.change}: {f'{x.what} ' * named}{' → '.join(texts)}{note}"


def change_summary(c: Changes) -> Iterator[str]:
    """What a reviewer asks first: what differs in the contract, which requirements fail now, power and cost,
    and which cables and circuits are new, removed and moved, by class and declaration."""
    if c.none:
        return
    yield from _contract_sentences(c)
    budget = [
        f"{x.what} {_before_after_arrow(x.before, x.after)}{_count_difference(x).replace('  ', ' ')}"
        for x in c.figures
        if x.what in ("power", "cost")
    ]
    if budget:
        yield "; ".join(budget)
    yield from _cabling_sentences(c)
    yield from _cable_group_lines(c)


def _contract_sentences(c: Changes) -> Iterator[str]:
    summary = contract_summary(c)
    if summary:
        yield f"contract: {summary}"
    failing = [m.name for m in c.metrics if m.verdicts[1] == "refuted" and m.verdicts[0] != "refuted"]
    if failing:
        yield f"fails now: {', '.join(failing)}"
    if c.settings:
        first = [f"{x.what} {_before_after_arrow(x.before, x.after)}" for x in c.settings[:FIRST_SETTINGS]]
        more = len(c.settings) - len(first)
        yield f"settings: {'; '.join([*first, *([f'{more:,} more'] if more else [])])}"


def _cabling_sentences(c: Changes) -> Iterator[str]:
    if c.circuits:
        yield _circuit_summary(c)
    if not c.circuits or c.touches_cables:
        yield _cable_summary(c)


def _cable_group_lines(c: Changes) -> Iterator[str]:
    """Cables by declaration, the first few."""
    yield from (group.text for group in c.cable_groups[:FIRST_GROUPS])
    rest = c.cable_groups[FIRST_GROUPS:]
    if rest:
        yield f"{len(rest):,} more pairs of declarations: {sum(x.count for x in rest):,} cables"


def _circuit_summary(c: Changes) -> str:
    """How many circuits of optical switches are others, and how many cables change with them."""
    new = sum(bool(x.after) for x in c.circuits)
    changed = max(new, len(c.circuits) - new)
    cables = "" if c.touches_cables else ", cables: 0"
    return f"circuits changed: {changed:,}{cables}"


def _cable_summary(c: Changes) -> str:
    """How many cables are new, removed and moved, by class, and whether an existing one is touched."""
    kinds: list[tuple[str, Sequence[CableLeg] | Sequence[MovedCable]]] = [
        ("new", c.added),
        ("removed", c.removed),
        ("moved", c.moved),
    ]
    said = [
        f"{len(rows):,} {verb}{_counts_by_class_text(x.link_class for x in rows)}"
        for verb, rows in kinds
        if rows
    ]
    rehung = len(c.relocated) + sum(old.places != new.places for old, new in c.replaced)
    if rehung:
        said.append(f"{rehung:,} of devices that are mounted elsewhere")
    other = sum(old.places == new.places for old, new in c.replaced)
    if other:
        said.append(f"{other:,} of another part or length")
    if not said:
        return "no cable changes"
    stay = "" if c.removed or c.moved or rehung or other else "; no existing cable moves"
    return f"cables: {', '.join(said)}{stay}"


def _counts_by_class_text(classes: Iterable[str]) -> str:
    count = Counter(classes)
    return f" ({', '.join(f'{name} {n:,}' for name, n in sorted(count.items()))})" if any(count) else ""


def change_sections(c: Changes) -> list[tuple[str, list[tuple[str, str]]]]:
    """Titles and their rows, each with a sign: + come, - gone, ~ other than before."""
    devices = [("+", row) for row in _device_rows(c.devices_added)]
    devices += [("-", row) for row in _device_rows(c.devices_removed)]
    devices += _signed_changes(c.models)
    counts = (
        ("+", len(c.added), "new"),
        ("-", len(c.removed), "gone"),
        ("", len(c.moved), "moved"),
        ("", len(c.cables), "other facts"),
    )
    tally = [f"{sign}{count:,} {what}" for sign, count, what in counts if count]
    figures = [
        ("~", f"{x.what}  {_before_after_arrow(x.before, x.after)}{_count_difference(x)}") for x in c.figures
    ]
    renamed = [("~", f"{x.what}: {_before_after_arrow(x.before, x.after)}") for x in c.renamed]
    sections = (
        ("jobs, by a model", [("~", f"{x.job}: {x.text}") for x in c.job_costs]),
        ("settings", _signed_changes(c.settings)),
        ("figures", figures),
        ("devices", devices),
        (f"cables: {', '.join(tally)}", _signed_cables(c)),
        ("renamed in the design", renamed),
        (f"circuits: {len(c.circuits):,} taken down or set up", _signed_circuits(c)),
        ("places", _signed_changes(c.places)),
        ("names", _signed_changes(c.names)),
        ("ports", _signed_changes(c.ports)),
        ("addresses", _signed_changes(c.addresses)),
    )
    return [(title, rows) for title, rows in sections if rows]


def _signed_changes(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """Rows of what is other than before."""
    return [("~", row) for row in _change_rows(changes)]


def _signed_cables(c: Changes) -> list[tuple[str, str]]:
    """Rows of cables that are new, gone, moved, or have other facts."""
    rows = [("+", f"{x.a.text} to {x.b.text} ({x.link_class})") for x in c.added]
    rows += [("-", f"{x.a.text} to {x.b.text} ({x.link_class})") for x in c.removed]
    rows += [
        ("~", f"{x.stays.text}: from {x.before.text} to {x.after.text} ({x.link_class})") for x in c.moved
    ]
    return rows + _signed_changes(c.cables)


def _signed_circuits(c: Changes) -> list[tuple[str, str]]:
    """Rows of circuits that are taken down or set up."""
    return [("+" if x.after else "-", f"{x.what}: {x.after or x.before}") for x in c.circuits]


def _device_rows(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, model, count, paths in devices_by_set(rows):
        which = paths[0] if count == 1 else f"{count:,} {name}: {paths[0]} to {paths[-1]}"
        yield f"{which} ({model})"


def _change_rows(rows: Iterable[Change]) -> Iterator[str]:
    return (f"{x.what}  {_before_after_arrow(x.before, x.after)}" for x in rows)


def _before_after_arrow(before: str, after: str) -> str:
    return f"{before or 'none'} → {after or 'none'}"


def _count_difference(x: Change) -> str:
    """How much a count or an amount grew or shrank."""
    before, after = _shown_amount(x.before), _shown_amount(x.after)
    if before is None or after is None:
        return ""
    (was, unit), (now, other) = before, after
    step = now - was
    if not (unit or other):
        return f"  ({int(step):+,})" if step.denominator == 1 else ""
    dim = unit or other
    if dim not in (POWER, MONEY) or (unit and other and unit != other):
        return ""
    return f"  ({'-' if step < 0 else '+'}{Quantity(abs(step), dim)})"


def _shown_amount(text: str) -> tuple[Fraction, Dim | None] | None:
    """A count, or an amount with its dimension, as it is shown; none is 0."""
    if not text:
        return Fraction(0), None
    found = SHOWN_AMOUNT.fullmatch(text)
    if found is None or (found["unit"] and found["unit"] not in UNIT_TABLE):
        return None
    amount = Fraction(found["number"].replace(",", ""))
    scale, dim = UNIT_TABLE[found["sign"] or found["unit"]] if found["sign"] or found["unit"] else (1, None)
    return amount * scale, dim


def _metric_style(m: Metric) -> str:
    good = m.verdicts[1] in ("proved", "modelled") and m.verdicts[0] not in ("proved", "modelled", "")
    return "good" if good else "bad" if m.verdicts[1] == "refuted" and m.verdicts[0] != "refuted" else "bold"


# ---------------------------------------------------------------- Markdown


AUTOLINKED = {"@": "&#64;", "://": "&#58;//", "www.": "www&#46;"}
"""What begins a link in Markdown as GitHub and GitLab render it, and the same as plain text."""
COMMENT = 65_536
"""Characters of a comment on GitHub: https://github.com/orgs/community/discussions/27190."""


def changes_as_markdown(changes: Sequence[Changes], whole: bool, drawings: Sequence[str] = ()) -> str:
    """A comment for a pull request: the contract first, then figures, then cables by class, long lists
    folded. ``drawings`` has for each comparison what is shown below its cables, in Markdown, "" for
    nothing."""
    shown = [*drawings, *[""] * len(changes)]
    pairs = zip(changes, shown, strict=False)
    text = "\n".join(line for c, drawn in pairs for line in _change_markdown(c, whole, drawn)).rstrip() + "\n"
    if len(text) <= COMMENT or whole:
        return text
    end = max(text.rfind(head, 0, COMMENT - 200) for head in ("\n<details>", "\n### "))
    left = text.count("\n<details>", end) + text.count("\n### ", end)
    return (
        f"{text[:end].rstrip()}\n\n{left} parts more are left out, so that it fits in a comment; `tdsl "
        "diff` prints them.\n"
    )


def _change_markdown(c: Changes, whole: bool, drawing: str) -> Iterator[str]:
    yield f"### {_markdown_cell(c.fabric)}"
    yield ""
    if c.none:
        yield "No difference."
        yield ""
        return
    for sentence in _contract_sentences(c):
        yield _markdown_cell(sentence[0].upper() + sentence[1:] + ".")
        yield ""
    yield from _contract_table(c, whole)
    yield from _figures_table(c)
    for sentence in _cabling_sentences(c):
        yield _markdown_cell(sentence[0].upper() + sentence[1:] + ".")
        yield ""
    groups = [f"- {_markdown_cell(line)}" for line in _cable_group_lines(c)]
    if groups:
        yield from (*groups, "")
    if drawing:
        yield from (drawing, "")
    for title, lines in change_sections(c):
        if title != "figures":
            yield from _section_markdown(title, lines, lines if whole else lines[: FEW * 4])


def _figures_table(c: Changes) -> Iterator[str]:
    """Metrics and figures that differ, as a table of Markdown."""
    rows = [
        (m.name, m.before, m.after, " → ".join(dict.fromkeys(filter(None, m.verdicts)))) for m in c.metrics
    ]
    rows += [(x.what, x.before, x.after, _count_difference(x).strip(" ()")) for x in c.figures]
    if rows:
        yield "| figure | before | after | |"
        yield "|---|---|---|---|"
        yield from ("| " + " | ".join(map(_markdown_cell, row)) + " |" for row in rows)
        yield ""


def _section_markdown(
    title: str, rows: Sequence[tuple[str, str]], shown: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """A section that a reader opens: its first rows as a diff, and how many more there are."""
    yield f"<details><summary>{_markdown_cell(title)}</summary>"
    yield ""
    yield "```diff"
    for sign, row in shown:
        yield f"{'!' if sign == '~' else sign} {terminal_safe_text(row).replace('```', '')}"
    if len(shown) < len(rows):
        yield f"# and {len(rows) - len(shown):,} more"
    yield "```"
    yield "</details>"
    yield ""


def markdown_paragraphs(text: str) -> str:
    """Lines as markdown_paragraphs of Markdown that are no markup."""
    return "\n\n".join(map(_markdown_cell, text.splitlines()))


def _contract_table(c: Changes, whole: bool) -> Iterator[str]:
    """What differs in the contract, a row each, parameters last."""
    rows = [x for part in TITLES for x in c.contract if x.part == part]
    if not rows and not c.parameters:
        return
    yield "| contract | before | after | change |"
    yield "|---|---|---|---|"
    shown = rows if whole else rows[: FEW * 4]
    for x in shown:
        word = f"**{x.change}**" if x.change in ("weaker", "removed") else x.change
        name = x.what if x.part == "requirement" else f"{x.part} {x.what}" if x.what != x.part else x.part
        yield (
            f"| {_markdown_cell(name)} | {_markdown_cell(x.before)} | {_markdown_cell(x.after)} | "
            f"{word}{_markdown_cell(x.note and f': {x.note}')} |"
        )
    if len(shown) < len(rows):
        yield f"| {len(rows) - len(shown):,} more | | | |"
    yield from (
        f"| parameter {_markdown_cell(x.what)} | {_markdown_cell(x.before)} | {_markdown_cell(x.after)} | "
        "changed |"
        for x in c.parameters
    )
    yield ""


def _markdown_cell(value: str) -> str:
    """Text that stays in a cell of a table, and is no markup, link or image."""
    text = " ".join(terminal_safe_text(value).split()).replace("&", "&amp;").replace("<", "&lt;")
    for sign in ("\\", "|", "`"):
        text = text.replace(sign, f"\\{sign}")
    for sign, plain in AUTOLINKED.items():  # people, addresses and pages that a comment would link to
        text = text.replace(sign, plain)
    return text.replace("](", "]\\(")


# ---------------------------------------------------------------- JSON


def changes_document(c: Changes) -> dict[str, object]:
    """As plain JSON values."""
    out = asdict(c)
    del out["relocated"]  # ``places`` says which devices are elsewhere
    del out["replaced"]  # ``cables`` says which facts differ
    del out["job_costs"]
    out |= {"job_costs": [x.facts for x in c.job_costs]} if c.job_costs else {}
    out["same"] = c.none
    out["contract"] = [asdict(x) for x in sorted(c.contract, key=lambda x: PARTS.index(x.part))]
    for name in ("devices_added", "devices_removed"):
        out[name] = [{"device": path, "model": model} for path, model in out[name]]
    for name, rows in (("added", c.added), ("removed", c.removed)):
        out[name] = [_cable_leg_document(x) for x in rows]
    out["moved"] = [
        {
            "stays": asdict(x.stays),
            "before": asdict(x.before),
            "after": asdict(x.after),
            "class": x.link_class,
        }
        for x in c.moved
    ]
    for metric, m in zip(out["metrics"], c.metrics, strict=True):
        del metric["verdicts"]
        metric["status_before"], metric["status_after"] = m.verdicts
    return out


def revisions_overview(r: Revisions) -> str:
    """A line on the designs of two revisions: how many were looked at, and what became of them."""
    if r.of == r.same:
        which = "the design is" if r.same == 1 else f"the {r.same:,} designs are"
        return (
            f"no design differs: {which} the same, byte for byte, in {r.before} and {r.after}, with "
            "all that they use"
        )
    said = [f"{r.judged:,} of {counted_noun(r.of, 'design')} compared"]
    said += (
        [f"{r.differing:,} {'differs' if r.differing == 1 else 'differ'}"]
        if r.differing or not r.same
        else []
    )
    said += [f"{r.same:,} unchanged"] if r.same else []
    listed = (("added", r.added), ("removed", r.removed), ("renamed", r.renamed), ("not compared", r.failed))
    said += [f"{len(rows):,} {what}" for what, rows in listed if rows]
    failed = "".join(f"\nnot compared: {name}: {why}" for name, why in r.failed)
    return f"{r.before} to {r.after}: {', '.join(said)}{failed}"


def revisions_document(r: Revisions) -> dict[str, object]:
    """The same as plain JSON values."""
    return {
        "judged": r.judged,
        "of": r.of,
        "designs": {
            "identical": r.same,
            "added": list(r.added),
            "removed": list(r.removed),
            "renamed": [{"before": old, "after": new} for old, new in r.renamed],
            "not_compared": [{"file": name, "reason": why} for name, why in r.failed],
        },
    }


def _cable_leg_document(c: CableLeg) -> dict[str, object]:
    return {"a": asdict(c.a), "b": asdict(c.b), "class": c.link_class, **dict(c.facts)}


# ---------------------------------------------------------------- steps


def move_steps_text(
    plan: MovePlan, paint: Paint, width: int, whole: bool, relabel: Sequence[Change] = (), network: str = ""
) -> str:
    """The order of moves, a block a step, and the devices that have another name; of a ``network`` of a
    cluster, whose name is said."""
    before = f" (before: {percent_of_share(plan.before)})" if plan.before is not None else ""
    where = f" in {terminal_safe_text(network)}" if network else ""
    head = f"order of moves{where}, bisection never below {percent_of_share(plan.floor)}{before}"
    lines = [paint("bold", head)]
    lines += _lines_of_relabelling(relabel, paint, whole)
    if plan.leave:
        lines.append(f"  out of service until the end: {_hosts_in_words(plan.leave)}")
    for number, step in enumerate(plan.steps, 1):
        lines += _lines_of_step(number, step, paint, whole)
    if not plan.complete:
        sure = (
            "no order keeps the floor"
            if plan.proved
            else "no order was found; that there is none is not proved"
        )
        lines += [f"  {line}" for line in wrap_text(f"{paint('bad', sure)}: {plan.why}", max(width - 2, 40))]
    elif not plan.steps:
        lines.append("  nothing to move")
    if plan.complete and plan.join and plan.end is not None:
        lines.append(
            f"  then into service: {_hosts_in_words(plan.join)}; bisection {percent_of_share(plan.end)}"
        )
    return "\n".join(lines) + "\n"


def _lines_of_relabelling(relabel: Sequence[Change], paint: Paint, whole: bool) -> list[str]:
    """The devices that have another name, the first few unless ``whole``."""
    if not relabel:
        return []
    lines = [f"  relabel {counted_noun(len(relabel), 'device')}"]
    shown = relabel if whole or len(relabel) <= FEW + 1 else relabel[:FEW]
    for x in shown:
        arrow = _before_after_arrow(terminal_safe_text(x.before), terminal_safe_text(x.after))
        lines.append(f"     {paint('good', '~')} {arrow}")
    if len(shown) < len(relabel):
        lines.append(f"       and {len(relabel) - len(shown):,} more; --full shows them")
    return lines


def _lines_of_step(number: int, step: MoveStep, paint: Paint, whole: bool) -> list[str]:
    """One step: how many cables are moved at once, the bisection meanwhile and then, and the cables."""
    low = f", {percent_of_share(step.during)} while they are out" if step.unplug else ""
    tally = f"unplug {len(step.unplug):,}, plug {len(step.plug):,}{low}, then {percent_of_share(step.after)}"
    lines = [f"  {number}. {tally}"]
    rows = [("-", c) for c in step.unplug] + [("+", c) for c in step.plug]
    shown = rows if whole or len(rows) <= FEW + 1 else rows[:FEW]
    for sign, c in shown:
        lines.append(
            f"     {paint('good' if sign == '+' else 'bad', sign)} {terminal_safe_text(c.a.text)} to "
            f"{terminal_safe_text(c.b.text)}"
        )
    if len(shown) < len(rows):
        lines.append(f"       and {len(rows) - len(shown):,} more; --full shows them")
    return lines


def share_moved(changes: Changes, old: Fabric | None) -> str:
    """``512 cables to lay, 260 to move, 0 to remove: 25.5% of 1,020 change``."""
    total = len(old.cable_a) if old is not None else 0
    touched = len(changes.moved) + len(changes.removed)
    share = f": {percent_of_share(Fraction(touched, total))} of {total:,} change" if total else ""
    return (
        f"{counted_noun(len(changes.added), 'cable')} to lay, {len(changes.moved):,} to move, "
        f"{len(changes.removed):,} to remove{share}"
    )


def _hosts_in_words(paths: Sequence[str]) -> str:
    """How many hosts, and the first and the last of them."""
    return paths[0] if len(paths) == 1 else f"{len(paths):,} hosts, {paths[0]} to {paths[-1]}"


def steps_document(plan: MovePlan) -> dict[str, object]:
    """As plain JSON values."""
    return {
        "floor": float(plan.floor),
        "before": None if plan.before is None else float(plan.before),
        "end": None if plan.end is None else float(plan.end),
        "out_of_service": list(plan.leave),
        "into_service": list(plan.join),
        "found": plan.complete,
        "impossible": plan.proved,
        "reason": plan.why,
        "steps": [
            {
                "unplug": [_cable_leg_document(c) for c in s.unplug],
                "plug": [_cable_leg_document(c) for c in s.plug],
                "bisection_during": float(s.during),
                "bisection_after": float(s.after),
            }
            for s in plan.steps
        ],
    }
