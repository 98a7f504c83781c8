"""Sized tiers to structure: groups, switches, and the connects that join hosts and tiers, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tdsl.findings.source import SourceSpan
from tdsl.semantics.ends import EndSet, HostEnds, IndexedEndPath
from tdsl.semantics.sizing import Leading, SizedTier
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

POD, PLANE, RAIL = "pod", "plane", "rail"


@dataclass(frozen=True, slots=True)
class StructureLine:
    """A statement of the structure as text, and the statement of the intent that asked for it."""

    text: str
    span: SourceSpan
    chain: tuple[tuple[SourceSpan, str], ...] = ()
    spans: tuple[tuple[str, SourceSpan], ...] = ()  # of declared names, where they are others


@dataclass(frozen=True, slots=True)
class Level:
    """A group around a tier's switches: its name, instances in the group around, and hosts of one
    instance."""

    name: str
    size: int
    hosts: int


class Weaver:
    """Writes the structure of one fabric's tiers."""

    def __init__(
        self,
        ends: HostEnds,
        tiers: list[SizedTier],
        pods: int,
        fresh: Callable[[str], str],
        links_of_ends: Sequence[tree.Setting] = (),
    ) -> None:
        self.links_of_ends = links_of_ends
        self.ends, self.tiers, self.pods, self.fresh = ends, tiers, pods, fresh
        self.rails = 0 if ends.tree_of_each_rail else ends.rails
        # what is around all tiers, outermost first: name and kind of the group, and how many there are
        self.around = [(PLANE, PLANE, ends.planes)] if ends.planes else []
        self.around += [(RAIL, "group", ends.rails)] if ends.tree_of_each_rail else []
        self.bottom = tiers[0]
        per_pod = self.bottom.instances // pods if pods else 1
        self.flat = self.bottom.count * per_pod if pods else self.bottom.count
        hosts = ends.hosts // pods if pods else self.bottom.per
        self.levels: list[
            Level | None
        ] = []  # of the tiers below the top, lowest first; none of one that is grouped by rail
        for i, tier in enumerate(tiers[:-1]):
            inside = pods or tiers[i + 1].per
            self.levels.append(
                Level(POD if pods else tier.spec.name, inside, hosts)
                if tier.groups == 1 or tier.instances > 1
                else None
            )
            hosts *= inside

    def lines(self) -> Iterator[StructureLine]:
        """All statements, in the order in which links take ports: hosts first, then tier by tier."""
        body = self.groups(len(self.tiers) - 1)
        top = self.tiers[-1].spec.span
        for name, kind, number in reversed(self.around):
            inner = "".join(f"{text}\n" for text in body)
            body = [f"{kind} {name}[{number}] {{\n{inner}}}"]
        for text in body:
            yield StructureLine(text, top)
        for ends in self.ends.sets:
            yield StructureLine(self.access(ends), self.bottom.spec.span)
        for i in range(1, len(self.tiers)):
            yield StructureLine(self.between(i), self.tiers[i].spec.span)

    # ------------------------------------------------------------ declarations
    def groups(self, i: int) -> list[str]:
        """The statements that place tier i and all below it."""
        tier = self.tiers[i]
        out = []
        if i > 0:
            level = self.levels[i - 1]
            inside = self.groups(i - 1)
            inner = "".join(f"{text}\n" for text in inside)
            out += inside if level is None else [f"group {level.name}[{level.size}] {{\n{inner}}}"]
        settings = f" {{ {tier.spec.settings} }}" if tier.spec.settings else ""
        made = f"switch {tier.spec.label}{self.shape(i)}: {tier.spec.model.name}{settings}"
        out.append(made if tier.groups == 1 else f"group {self.group_name(i)}[{tier.groups}] {{\n{made}\n}}")
        return out

    def group_name(self, i: int) -> str:
        """The name of the groups that a tier has for each rail, or for each switch of a group below."""
        return RAIL if self.tiers[i].spec.by_rail else self.tiers[i].spec.name

    def indexed(self, i: int) -> bool:
        """Whether the switches of a tier have an index: a single one below a group needs none."""
        return i > 0 or self.flat > 1 or len(self.tiers) == 1 or bool(self.pods)

    def shape(self, i: int) -> str:
        """The extent of a tier's switches."""
        count = self.flat if i == 0 else self.tiers[i].count // self.tiers[i].groups
        return f"[{count}]" if self.indexed(i) else ""

    # ------------------------------------------------------------ connects
    def access(self, ends: EndSet) -> str:
        """Ends to the first tier."""
        names = self.ends.variables(ends, self.fresh)
        host = self.ends.flat_host(ends, names)
        out = f"{PLANE}[{names.plane}]." if self.ends.planes else ""
        out += f"{RAIL}[{names.rail}]." if self.ends.tree_of_each_rail else ""
        for i in range(len(self.levels) - 1, -1, -1):
            level = self.levels[i]
            if level is None:
                continue
            at = host if level.hosts == 1 else f"{host} // {level.hosts}"
            at = at if all(x is None for x in self.levels[i + 1 :]) else f"{at} % {level.size}"
            out += f"{level.name}[{at if ends.hosts == level.size or not at.isidentifier() else f'({at})'}]."
        out += self.bottom.spec.label
        if self.indexed(0):
            out += f"[{self.switch(ends, names, host)}]"
        down = self.bottom.spec.down
        braces = connect_braces_text(self.bottom, down, more=self.links_of_ends)
        return f"connect {names.path} to {out}{leading_ports_suffix(down)}{braces}"

    def switch(self, ends: EndSet, names: IndexedEndPath, host: str) -> str:
        """Which switch of the first tier's group an end meets."""
        count, load = self.bottom.count, ends.per_host(self.ends)
        if self.rails:
            many = count // self.rails
            at = names.rail
            if many > 1:
                index = switch_index_expression(host, names.inner, load // self.rails, many)
                at = f"{self.rails}*({index}) + {names.rail}"
        elif count == 1:
            at = ""
        else:
            at = names.flat if load == count else switch_index_expression(host, names.flat, load, count)
        if self.flat == count:
            return at or "0"
        hosts = self.levels[0].hosts if self.levels and self.levels[0] else self.ends.hosts
        group = f"{host} % {hosts} // {self.bottom.per}" if self.pods else f"{host} // {self.bottom.per}"
        if not at:
            return group
        return f"{count}*({group}) + {at}"

    def between(self, i: int) -> str:
        """Each tier to the one above it: a spread in every instance of the upper one."""
        lower, upper = self.tiers[i - 1], self.tiers[i]
        around = [name for name, _, _ in self.around]
        around += [level.name for level in reversed(self.levels[i:]) if level is not None]
        names: list[str] = []
        for base in ("p", "i", "j", "k", "l", "m", "n"):
            if len(names) < len(around):
                names.append(self.fresh(base))
        prefix = "".join(f"{group}[{name}]." for group, name in zip(around, names, strict=False))
        level = self.levels[i - 1]
        low = f"{prefix}{self.group_name(i - 1) if level is None else level.name}[*]."
        if level is not None and lower.groups > 1:
            low += f"{self.group_name(i - 1)}[*]."
        low += lower.spec.label
        high = f"{prefix}{upper.spec.label}"
        if upper.groups > 1:
            member = self.fresh("r" if upper.spec.by_rail else "s")
            low += f"[{member}]"
            high = f"{prefix}{self.group_name(i)}[{member}].{upper.spec.label}"
        elif self.indexed(i - 1):
            low += "[*]"
        low, high = (
            f"{low}{leading_ports_suffix(lower.spec.up)}",
            f"{high}[*]{leading_ports_suffix(upper.spec.down)}",
        )
        braces = connect_braces_text(upper, lower.spec.up, upper.spec.down)
        return f"connect {low} to {high} spread x {lower.up}{' uneven' if upper.spec.uneven else ''}{braces}"


def leading_ports_suffix(ports: Leading | None) -> str:
    """The ports of a device as the end of a path."""
    return f".{ports.text}" if ports else ""


def connect_braces_text(tier: SizedTier, *ports: Leading | None, more: Sequence[tree.Setting] = ()) -> str:
    """The braces of the connect that leads up to a tier, with ``more`` settings in the place of the tier's
    own."""
    written = {s.name.name: " ".join(s.span.text.split()) for s in more}
    rates = sorted(
        {p.at for p in ports if p and p.at}, key=lambda at: min(p.rate for p in ports if p and p.at == at)
    )
    said = [f"rate {rates[0]}"] if rates and "rate" not in written else []
    said += [f"cable {tier.spec.cable}"] if tier.spec.cable and "cable" not in written else []
    said += [tier.spec.bundle] if tier.spec.bundle and "bundle" not in written else []
    said += written.values()
    return f" {{ {'; '.join(said)} }}" if said else ""


def switch_index_expression(host: str, end: str, load: int, over: int) -> str:
    """Which of ``over`` switches an end meets: the ends of all hosts, ``load`` each, in turn."""
    if load == 1:
        return f"{host} % {over}"
    if load % over:
        return f"({host}*{load} + {end}) % {over}"
    return f"{end if end.isidentifier() else f'({end})'} % {over}"
