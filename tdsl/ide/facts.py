"""What is known of the places of a design once it is planned or compiled: for hovers and hints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.compile.compiler import Compilation, Design
from tdsl.findings.source import SourceSpan
from tdsl.semantics.ranges import ParameterSettings
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import noun_for_count

if TYPE_CHECKING:
    from tdsl.fabric.graph import Fabric
    from tdsl.semantics.model import DeviceSet


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a place of the file: ``start`` and ``end`` of what it is about, Markdown, and a short
    hint or ""."""

    start: int
    end: int
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """A device set of a compiled design: its fabric, the names and kinds of its path, its shape in words, and
    its model."""

    fabric: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    shape: str
    model: str


def facts_of_parameters(settings: ParameterSettings, path: str) -> list[Fact]:
    """The value of each parameter of a file, and what it may be."""
    from tdsl.semantics.values import text_of

    out: dict[int, Fact] = {}
    for d in settings.domains or ():
        if Path(d.span.file.name).resolve() != Path(path).resolve():
            continue
        text = f"`{d.name}` is {text_of(d.default)} unless `--set {d.name}=…` says otherwise"
        if d.choices is None:
            text += f"; {d.missing}"
        elif isinstance(d.choices, range):
            text += f"; it may be {d.choices.start} to {d.choices.stop - 1}"
        else:
            shown = [text_of(v) for v in d.choices[:12]]
            more = f", … ({len(d.choices):,} values)" if len(d.choices) > len(shown) else ""
            text += f"; it may be {', '.join(shown)}{more}"
        out[d.span.start] = Fact(d.span.start, d.span.end, text)
    return list(out.values())


def fabric_lens_text(design: Design) -> str:
    """The figures of a fabric in a line: hosts, switches, bisection, requirements that are not met."""
    from tdsl.verify.summary import fabric_summary

    if design.fabric is None:
        return ""
    if design.members:
        return _cluster_lens_text(design)
    summary = fabric_summary(design.fabric)
    counts = {"host": summary["hosts"], "switch": summary["switches"], "link": design.fabric.link_count}
    words = [f"{n:,} {word}{('es' if word == 'switch' else 's') * (n != 1)}" for word, n in counts.items()]
    found = next(
        (r for r in design.results if r.check == "bisection" and r.status in ("proved", "bounded")), None
    )
    words += [f"bisection {found.text.partition(':')[0]}"] if found is not None else []
    failed = sum(1 for r in design.results if r.requirement is not None and r.status == "refuted")
    words += [f"{failed} {noun_for_count(failed, 'requirement')} not met"] if failed else []
    return ", ".join(words)


def _cluster_lens_text(design: Design) -> str:
    """What a cluster adds up to, and its requirements that are not met."""
    summary = design.consists() or {}
    links = summary.get("links")
    counts = {
        "host": summary.get("hosts"),
        "switch": summary.get("switches"),
        "link": links.get("total") if isinstance(links, dict) else 0,
    }
    words = [
        f"{n:,} {word}{('es' if word == 'switch' else 's') * (n != 1)}"
        for word, n in counts.items()
        if isinstance(n, int)
    ]
    failed = sum(1 for r in design.results if r.requirement is not None and r.status == "refuted")
    words += [f"{failed} {noun_for_count(failed, 'requirement')} not met"] if failed else []
    return ", ".join(words)


def device_sets_of_design(design: Design) -> list[Placed]:
    """The device sets of a design, those of its intent with them."""
    out = []
    for s in design.fabric.sets if design.fabric is not None else ():
        shape = ", ".join(str(a.size) if not a.low else f"{a.low}..{a.high}" for a in s.parts[-1].axes)
        names, kinds = tuple(p.name for p in s.parts), tuple(p.kind for p in s.parts)
        out.append(Placed(design.name, names, kinds, f"[{shape}]" if shape else "", s.model.name))
    return out


def facts_of_compilation(result: Compilation) -> list[Fact]:
    """What is known of the places of the file that was asked for; of what repeats, all that differs."""
    found: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for design in result.designs:
        for start, end, text, hint in [
            *_facts_of_device_sets(design),
            *_facts_of_unknowns(design),
            *_facts_of_results(design),
        ]:
            here = found.setdefault((start, end), [])
            if (text, hint) not in here:
                here.append((text, hint))
    for cluster in result.clusters:
        for start, end, text, hint in _facts_of_results(cluster):
            found.setdefault((start, end), []).append((text, hint))
    return [
        Fact(start, end, "\n\n".join(t for t, _ in here), "; ".join(dict.fromkeys(h for _, h in here if h)))
        for (start, end), here in sorted(found.items())
    ]


def _facts_of_device_sets(design: Design) -> list[tuple[int, int, str, str]]:
    fabric = design.fabric
    if fabric is None:
        return []
    from tdsl.prove.view import View
    from tdsl.verify.checks.oversubscription import oversubscription_by_set

    ratios = oversubscription_by_set(View.whole(fabric.network))
    out = []
    plan = design.failing.plan if design.failing is not None else None  # its places are of this text
    for s in (*plan.sets, *plan.insides.values()) if plan is not None else fabric.sets:
        if s.origin.span.file.name != design.file:
            continue
        text = _device_set_text(design.name, fabric, s)
        alone = re.match(
            rf"\w+\s+{re.escape(s.name)}\s*\[\s*\?\s*\]", s.origin.span.text
        )  # what is found is said at the `?`
        hints = [f"= {s.count:,}"] if s.axes and not alone else []
        if s.index in ratios:
            down, up = ratios[s.index].ratio or (0, 0)
            hints.append(f"{down}:{up}")
            text += f"\n\noversubscription, down : up, of the worst: {ratios[s.index].text}"
        start, end = _name_span_in_statement(s.origin.span, s.name)
        named = "" if s.origin.span.file.text[start:end] == s.name else f"{s.name} "
        out.append((start, end, text, named + ", ".join(hints) if hints else ""))
    return out


def _device_set_text(name: str, fabric: Fabric, s: DeviceSet) -> str:
    """How many devices of which model a set has in a fabric, how many are left out, and its free ports."""
    import numpy as np

    built = int(np.count_nonzero(fabric.built[s.first : s.first + s.count]))
    first, last = int(fabric.port_base[s.first]), int(fabric.port_base[s.first + s.count])
    free = int(np.count_nonzero(fabric.port_state[first:last] == 0))
    shape = " × ".join(f"{p.name} {' × '.join(str(a.size) for a in p.axes)}" for p in s.parts if p.axes)
    planned = f", {s.count - built:,} of them left out" if built != s.count else ""
    text = f"**{s.path}** in {name}: {s.count:,} × {s.model.name}{planned}"
    text += f" ({shape})" if shape else ""
    return text + (f"\n\n{free:,} of {last - first:,} ports free" if last > first else "")


def _facts_of_unknowns(design: Design) -> list[tuple[int, int, str, str]]:
    """What was found for each `?` of the file."""
    if design.failing is None:
        return []
    plan = design.failing.plan
    return [
        (span.start, span.end, f"`?` is {value:,} in {design.name}", f"= {value:,}")
        for span, value in {**plan.holes, **plan.tier_sizes}.items()
        if span.file.name == design.file
    ]


def _name_span_in_statement(span: SourceSpan, name: str) -> tuple[int, int]:
    """Where the name of a device set stands in the statement that makes it; its first word, where it stands
    nowhere."""
    line = span.text.partition("\n")[0].partition("{")[0]
    found = re.search(rf"\b{re.escape(name)}\b", line) or re.match(r"\w+", line)
    return (span.start + found.start(), span.start + found.end()) if found else (span.start, span.end)


def _facts_of_results(design: Design) -> list[tuple[int, int, str, str]]:
    out = []
    for r in design.results:
        if r.origin is None or r.requirement is None or r.origin.span.file.name != design.file:
            continue
        where = f" in {r.scope}" if r.scope else ""
        said = r.text or r.reason
        text = f"`{r.requirement}`{where} of {design.name}: **{r.status}**" + (f", {said}" if said else "")
        span = r.origin.span
        out.append((span.start, span.end, text, ""))
    return out
