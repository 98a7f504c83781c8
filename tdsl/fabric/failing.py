"""Failures as input: which devices and links of a fabric the elements of ``check --fail`` name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

import numpy as np

from tdsl.fabric.failed import FailedElements
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.fault import Excused, Fault, closest_known_name
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass


class NotThere(Exception):
    """An element that names nothing of the fabric. The text says what is amiss, and what is near."""


@dataclass(frozen=True, slots=True)
class _ResolvedElement:
    """What one path means: devices, or ports where ``by_port``."""

    rows: Ints
    by_port: bool = False


@dataclass(slots=True)
class Failing:
    """What elements of one design mean, asked again and again: each path and name is looked up once."""

    plan: FabricPlan
    fabric: Fabric
    ids: Mapping[str, Sequence[int]] | None = None
    names: dict[str, int] = field(default_factory=dict)
    known: dict[str, _ResolvedElement] = field(default_factory=dict)

    def fail(self, elements: Iterable[str]) -> tuple[FailedElements, dict[str, str]]:
        """What fails with these elements, and of each element that is not there why.

        An element is a path of the design to a device, a group or a port, a device's name, ``link DEVICE
        DEVICE`` (all links between the two), or a cable's identifier.
        """
        devices = np.zeros(self.fabric.device_count, dtype=np.bool_)
        links = np.zeros(self.fabric.link_count, dtype=np.bool_)
        names, each, absent = [], [], {}
        for element in dict.fromkeys(" ".join(e.split()) for e in elements):
            try:
                rows, hit = self.links(element)
            except NotThere as fault:
                absent[element] = str(fault)
                continue
            devices[rows] = True
            links |= hit
            names.append(element)
            each.append(np.flatnonzero(hit))
        return FailedElements(tuple(names), devices, links, tuple(each)), absent

    def links(self, element: str) -> tuple[Ints, Bools]:
        """Devices and links that an element takes. Raises NotThere."""
        f = self.fabric
        none = np.zeros(0, dtype=np.int64)
        words = _split_element_words(element)
        if words[0] == "link" and len(words) > 1:
            ends = [w for w in words[1:] if w != "to"]
            if len(ends) != 2:
                raise NotThere(f"`{element}` is not of the form `link DEVICE DEVICE`")
            one, other = (self.named(w) for w in ends)
            hit = (self._at(one, 0) & self._at(other, 1)) | (self._at(one, 1) & self._at(other, 0))
            if not hit.any():
                raise NotThere(f"there is no link between {ends[0]} and {ends[1]}")
            return none, hit
        try:
            found = self.named(element)
        except NotThere as fault:
            if ":" not in element:
                raise
            return none, self._cable(element, fault)
        hit = self._at(found, 0) | self._at(found, 1)
        if found.by_port:
            if not hit.any():
                raise NotThere(f"{element} carries no link")
            return none, hit
        built = found.rows[f.built[found.rows]]
        if not len(built):
            raise NotThere(f"{element} is planned only, not built")
        return built, hit

    def _at(self, named: _ResolvedElement, side: int) -> Bools:
        """Whether each link ends there on one side, or crosses there."""
        f = self.fabric
        inside = np.zeros(len(f.port_device) if named.by_port else f.device_count, dtype=np.bool_)
        inside[named.rows] = True
        held = inside if named.by_port else inside[f.port_device]
        ends, vias = ((f.link_a, f.link_via_a), (f.link_b, f.link_via_b))[side]
        hit: Bools = held[ends] | ((vias >= 0) & held[vias])
        return hit

    def _cable(self, text: str, fault: NotThere) -> Bools:
        """The links of the cable of that identifier."""
        from tdsl.fabric.cables.identity import CableIndex

        self.ids = self.ids if self.ids is not None else CableIndex(self.fabric).links_by_id()
        if text not in self.ids:
            near = closest_known_name(text, self.ids) if len(self.ids) < 1 << 14 else ""
            raise NotThere(
                f"there is no cable `{text}`" + (f"; did you mean `{near}`?" if near else "")
            ) from fault
        hit = np.zeros(self.fabric.link_count, dtype=np.bool_)
        hit[self.ids[text]] = True
        return hit

    def named(self, text: str) -> _ResolvedElement:
        """What a path of the design, or a device's name, means."""
        if text not in self.known:
            self.known[text] = self._looked_up(text)
        return self.known[text]

    def _looked_up(self, text: str) -> _ResolvedElement:
        from tdsl.syntax.parser import parse_expression

        path = parse_expression(text, "--fail", Diagnostics())
        fault: Fault | None = None
        if isinstance(path, tree.PathExpr):
            try:
                return self._path(path)
            except Fault as found:
                fault = found
            except Excused:
                raise NotThere(f"`{text}` is about something with errors of its own") from None
        if not self.names:
            f = self.fabric
            self.names = {f.device_name(d): d for d in np.flatnonzero(f.built).tolist()}
        if text in self.names:
            return _ResolvedElement(np.array([self.names[text]], dtype=np.int64))
        if fault is not None:
            said = fault.diagnostic
            raise NotThere(f"{said.message}" + (f"; {said.help}" if said.help else ""))
        several = [part.strip() for part in re.split(r",(?![^\[]*\])", text)]
        several = (
            several if all(re.fullmatch(r"[\w.]+(?:\[[^\]]*\][\w.]*)*", part) for part in several) else []
        )
        if len(several) > 1:
            each = " ".join(f"--fail '{part}'" for part in several)
            raise NotThere(f"`{text}` names several elements; write `{each}`")
        near = closest_known_name(text, self.names) if len(self.names) < 1 << 14 else ""
        raise NotThere(
            f"`{text}` names no device, port or cable" + (f"; did you mean `{near}`?" if near else "")
        )

    def _path(self, path: tree.PathExpr) -> _ResolvedElement:
        from tdsl.fabric.resolve import Resolver, variable_assignments
        from tdsl.semantics.paths import resolve_path

        plan, f = self.plan, self.fabric
        context = Context((plan.root,), ())
        scope = plan.root.scope
        try:
            target = resolve_path(plan, context, path, declarable=False)
        except Fault:
            tier = [
                np.arange(s.first, s.first + s.count)
                for s in plan.sets
                if path.bare is not None and s.name == path.bare
            ]
            if not tier:
                raise
            return _ResolvedElement(np.concatenate(tier))
        over = variable_assignments(context, (target,), None, scope, plan.evaluator, path.span)
        resolver = Resolver(scope, plan.evaluator, over)
        if target.device is None:
            rows = distinct_values(resolver.rows(target))
            return _ResolvedElement(rows[rows >= 0])
        rows = distinct_values(resolver.devices(target)[0])
        if target.ports is None:
            return _ResolvedElement(rows)
        chosen = resolver.choice(target)
        parts = target.device.model.parts(target.port_class)
        local = (
            np.arange(sum(c.size for c in parts)) if chosen.local is None else distinct_values(chosen.local)
        )
        return _ResolvedElement((f.port_base[rows][:, None] + parts[0].first + local[None, :]).ravel(), True)


def _split_element_words(text: str) -> list[str]:
    """The words of an element; blanks in brackets part nothing."""
    out, depth = [""], 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if c.isspace() and depth <= 0:
            out.append("")
        else:
            out[-1] += c
    return [w for w in out if w] or [""]
