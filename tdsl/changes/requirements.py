"""Requirements of two designs held against each other by what they mean: which are added, removed, weaker,
stronger or changed.

A requirement is its metric, what it is about (clauses, devices, instances of a group) and its bound with
parameters evaluated. Where it stands in the text, blanks, and how claims are joined by ``and`` do not count.
A report guarantees nothing, so it is no part of the contract; a requirement that becomes a report is removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Literal

from tdsl.changes.model import ContractChange
from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.semantics.quantity import NONE, Quantity, quantity_text
from tdsl.semantics.values import text_of
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.graph import Fabric

Order = Literal["same", "weaker", "stronger", "changed"]
WHOLE = frozenset(
    ("links", "cables", "ports", "switches", "diameter", "edge_redundancy", "node_redundancy", "blast_radius")
)
"""Metrics whose figures are whole numbers: ``< 5`` says what ``<= 4`` says."""
INDICES = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement with the instances of the group in whose block it stands; ``scopes`` is empty for the
    whole fabric."""

    claim: ResolvedClaim
    scopes: tuple[FabricElement, ...]

    @property
    def text(self) -> str:
        """As written, with the instances that it is about."""
        names = [s.name for s in self.scopes]
        if not names:
            return self.claim.text
        listed = (
            ", ".join(names)
            if len(names) < 4
            else f"each of {len(names):,} groups, {names[0]} to {names[-1]}"
        )
        return f"{self.claim.text} in {listed}"

    @property
    def evaluated(self) -> str:
        """``text`` with the values of what is written as an expression."""
        said = [f"K = {self.claim.any_count}"] if self.claim.any_count is not None else []
        for claim in (self.claim, self.claim.given):
            said += [f"{claim.op} {_value_text(claim)}"] if claim is not None and claim.op else []
        return f"{self.text} ({', '.join(said)})" if said else self.text


def _value_text(claim: ResolvedClaim) -> str:
    value = claim.value
    if isinstance(value, Quantity):
        return quantity_text(value)
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool) and claim.metric not in WHOLE:
        return (
            f"{float(value * 100):.6g}%"
            if value < 10 and claim.metric not in ("oversubscription", "taper")
            else text_of(value)
        )
    return text_of(value) if isinstance(value, (int, Fraction, str)) else str(value)


def requirements_of(claims: Iterable[ResolvedClaim], report: bool = False) -> list[Requirement]:
    """The requirements of a design, or its reports; the instances of one statement are one requirement."""
    found: dict[int, list[ResolvedClaim]] = {}
    for claim in claims:
        if claim.report is report:
            found.setdefault(id(claim.origin), []).append(claim)
    return [
        Requirement(rows[0], tuple(c.scope for c in rows if c.scope is not None)) for rows in found.values()
    ]


class FabricPairNames:
    """Names of devices and groups of two fabrics; ``known`` are devices of the old one with the paths that
    they have now."""

    def __init__(self, old: Fabric, new: Fabric, known: Mapping[str, str]) -> None:
        self.fabrics, self.known = (old, new), known

    @cached_property
    def everything(self) -> tuple[frozenset[str], frozenset[str]]:
        """The paths of all devices and of all groups around them, of both fabrics, by today's names."""
        old, new = (map(f.device_path, range(f.device_count)) for f in self.fabrics)
        return _paths_with_groups(self.known.get(p, p) for p in old), _paths_with_groups(new)

    def name_now(self, element: FabricElement) -> str:
        """The name of an element of the old fabric in the new one."""
        if not self.known:
            return element.name
        if element.name in self.known or not len(element.devices):
            return self.known.get(element.name, element.name)
        path = self.fabrics[0].device_path(int(element.devices[0]))
        rest, now = path.removeprefix(element.name), self.known.get(path, path)
        return now.removesuffix(rest) if now.endswith(rest) else element.name

    def compare_elements(
        self, old: Sequence[FabricElement], new: Sequence[FabricElement], same_text: bool
    ) -> Order:
        """Whether the new elements are as many as the old ones, fewer (weaker) or more. Where both are
        written in the same words, elements that only one of the fabrics has do not count: they came or went
        with it."""
        before, after = {self.name_now(e) for e in old}, {e.name for e in new}
        return self._compare(before, after, same_text, lambda name: name)

    def compare_ports(self, old: Selector, new: Selector, same_text: bool) -> Order:
        """The same for ports of devices."""
        before, after = (_port_paths(f, s) for f, s in zip(self.fabrics, (old, new), strict=True))
        now = {f"{self.known.get(device, device)}.{port}" for device, port in before}
        return self._compare(
            now, {".".join(p) for p in after}, same_text, lambda name: name.rpartition(".")[0]
        )

    def _compare(
        self, before: set[str], after: set[str], same_text: bool, owner: Callable[[str], str]
    ) -> Order:
        if before == after:
            return "same"
        if same_text:
            there = self.everything
            before = {x for x in before if owner(x) in there[1]}
            after = {x for x in after if owner(x) in there[0]}
        if before == after:
            return "same"
        return "weaker" if after < before else "stronger" if after > before else "changed"


def _port_paths(fabric: Fabric, selector: Selector) -> list[tuple[str, str]]:
    """Device and port of each port that a path names."""
    paths = (fabric.port_path(p).rpartition(".") for p in selector.port_rows.tolist())
    return [(device, port) for device, _, port in paths]


def _paths_with_groups(paths: Iterable[str]) -> frozenset[str]:
    out: set[str] = set()
    for path in paths:
        while path and path not in out:
            out.add(path)
            path = path.rpartition(".")[0]
    return frozenset(out)


# ---------------------------------------------------------------- bounds


def implies_bound(op: str, value: Fraction, other_op: str, other: Fraction) -> bool:
    """Whether every number that satisfies the first comparison satisfies the second."""
    if op == "==":
        return {
            "==": value == other,
            "!=": value != other,
            "<": value < other,
            "<=": value <= other,
            ">": value > other,
            ">=": value >= other,
        }[other_op]
    if op == "!=":
        return other_op == "!=" and value == other
    if op[0] == ">":  # mirrored, it is a comparison with `<`
        mirror = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        return implies_bound(mirror[op], -value, mirror.get(other_op, other_op), -other)
    if other_op in ("<", "<="):
        return value < other or (value == other and (op == "<" or other_op == "<="))
    return other_op == "!=" and (other > value or (other == value and op == "<"))


def compare_bounds(old: ResolvedClaim, new: ResolvedClaim) -> Order:
    """Whether the new bound allows fewer figures (stronger) or more."""
    if not old.op or not new.op:
        return "same" if old.op == new.op else "changed"
    (op, value, dim), (other_op, other, other_dim) = _bound_of_claim(old), _bound_of_claim(new)
    if value is None or other is None or dim != other_dim:
        return "same" if (op, old.value) == (other_op, new.value) else "changed"
    tighter, looser = implies_bound(other_op, other, op, value), implies_bound(op, value, other_op, other)
    return "same" if tighter and looser else "stronger" if tighter else "weaker" if looser else "changed"


def _bound_of_claim(claim: ResolvedClaim) -> tuple[str, Fraction | None, object]:
    """Comparison, number and unit of a claim; of whole numbers the nearest one."""
    value, dim = claim.value, NONE
    if isinstance(value, Quantity):
        dim, value = value.dim, value.amount
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        return claim.op, None, dim
    number, op = Fraction(value), claim.op
    if claim.metric in WHOLE and not claim.share_of:
        if op in ("<", "<="):
            number, op = Fraction(ceil(number) - 1 if op == "<" else floor(number)), "<="
        elif op in (">", ">="):
            number, op = Fraction(floor(number) + 1 if op == ">" else ceil(number)), ">="
    return op, number, dim


# ---------------------------------------------------------------- requirements


def compare_parts(old: Requirement, new: Requirement, names: FabricPairNames) -> dict[str, Order]:
    """The order of each part of two requirements on one metric."""
    out = _claim_parts(old.claim, new.claim, names)
    if bool(old.scopes) != bool(new.scopes):
        out["scope"] = "changed"
    else:
        sides = [{INDICES.sub("", s.name) for s in r.scopes} for r in (old, new)]
        out["scope"] = names.compare_elements(old.scopes, new.scopes, sides[0] == sides[1])
    return out


def _claim_parts(a: ResolvedClaim, b: ResolvedClaim, names: FabricPairNames) -> dict[str, Order]:
    """How two claims of a metric differ, by part: ``weaker`` and ``stronger`` are of b."""
    out: dict[str, Order] = {"bound": compare_bounds(a, b)}
    out["clauses"] = "same" if _plain_clauses(a) == _plain_clauses(b) else "changed"
    out["of"] = _compare_selectors(a.of, b.of, names)
    if out["of"] in ("weaker", "stronger") and not _judges_each(a):
        out["of"] = "changed"
    for clause, x, y in (("to", a.of_to, b.of_to), ("at", a.at, b.at)):
        out[clause] = "same" if _compare_selectors(x, y, names) == "same" else "changed"
    out["any"] = _compare_failure_counts(a, b)
    if a.given is None or b.given is None or a.given.metric != b.given.metric:
        out["with"] = "same" if a.given is b.given is None else "changed"
    else:
        out["with"] = combine_orders(_claim_parts(a.given, b.given, names).values())
    return out


def _plain_clauses(claim: ResolvedClaim) -> tuple[object, ...]:
    """The clauses of a claim that are equal or not, with no order between them."""
    return (
        [text_of(x) if isinstance(x, (int, Fraction, Quantity, str, tuple)) else str(x) for x in claim.args],
        claim.any_of,
        claim.under,
        claim.through,
        claim.of_intact,
        claim.of_active,
        claim.share_of,
        claim.of_all,
        claim.among,
        claim.job.job.name if claim.job is not None else None,
        claim.over,
    )


def _compare_failure_counts(a: ResolvedClaim, b: ResolvedClaim) -> Order:
    """The order of `any K`: only of `survives` is a larger number stronger."""
    if a.any_count == b.any_count:
        return "same"
    if a.any_count is None or b.any_count is None or a.metric != "survives":
        return "changed"
    return "stronger" if b.any_count > a.any_count else "weaker"


def _judges_each(claim: ResolvedClaim) -> bool:
    """Whether a claim is judged of each element that ``of`` names, or for each that fails."""
    from tdsl.verify.check import checks_by_name

    check = checks_by_name().get(claim.metric)
    if check is None or claim.of_all or (claim.of_to and claim.metric != "survives"):
        return False
    return not check.reads_of or claim.metric in ("survives", "blast_radius")


def _compare_selectors(old: Sequence[Selector], new: Sequence[Selector], names: FabricPairNames) -> Order:
    """The order of what two lists of paths name."""
    if not old or not new:
        return "changed" if old or new else "same"
    same_text = _texts_in_order(old) == _texts_in_order(new)
    if not _can_be_compared(old, new):
        return "same" if same_text else "changed"
    if not old[0].ports:
        sides = [[e for s in side for e in s.elements] for side in (old, new)]
        return names.compare_elements(sides[0], sides[1], same_text)
    if len(old) != len(new):
        return "changed"
    return combine_orders(names.compare_ports(x, y, x.text == y.text) for x, y in zip(old, new, strict=True))


def _can_be_compared(old: Sequence[Selector], new: Sequence[Selector]) -> bool:
    """Whether two lists of paths name things of one sort: ports or none, the same words for the rest."""
    words = [_texts_in_order(s for s in side if not s.elements) for side in (old, new)]
    return words[0] == words[1] and all(bool(s.ports) == bool(old[0].ports) for s in (*old, *new))


def _texts_in_order(paths: Iterable[Selector]) -> list[str]:
    return sorted(s.text for s in paths)


def combine_orders(orders: Iterable[Order]) -> Order:
    """One order of several parts: that of all that differ, where it is one."""
    found = {o for o in orders if o != "same"}
    return "same" if not found else next(iter(found)) if len(found) == 1 else "changed"


def compare_requirements(
    before: Sequence[ResolvedClaim], after: Sequence[ResolvedClaim], names: FabricPairNames
) -> list[ContractChange]:
    """What differs between the requirements of two designs: weaker and removed ones first."""
    old, new = requirements_of(before), requirements_of(after)
    parts: dict[tuple[int, int], dict[str, Order]] = {}
    by_metric: dict[str, list[int]] = {}
    for j, r in enumerate(new):
        by_metric.setdefault(r.claim.metric, []).append(j)
    left_old, kept = [], set()
    written = {(r.evaluated): j for j, r in reversed(list(enumerate(new)))}
    for i, r in enumerate(old):
        at = by_metric.get(r.claim.metric, [])
        first = written.get(r.evaluated)
        for j in (*([first] if first is not None else ()), *(j for j in at if j != first)):
            parts[i, j] = compare_parts(r, new[j], names)
            if combine_orders(parts[i, j].values()) == "same":
                kept.add(j)
                break
        else:
            left_old.append(i)
    same_as_kept = {
        j
        for j, r in enumerate(new)
        if j not in kept
        and any(
            combine_orders(compare_parts(new[k], r, _names_of_new_fabric(names)).values()) == "same"
            for k in by_metric[r.claim.metric]
            if k in kept
        )
    }
    left_new = [j for j in range(len(new)) if j not in kept | same_as_kept]
    return _pair_similar_requirements(old, new, left_old, left_new, parts, names, (before, after))


def _names_of_new_fabric(names: FabricPairNames) -> FabricPairNames:
    """Names of the new fabric on both sides."""
    return FabricPairNames(names.fabrics[1], names.fabrics[1], {})


def _pair_similar_requirements(
    old: Sequence[Requirement],
    new: Sequence[Requirement],
    left_old: list[int],
    left_new: list[int],
    parts: Mapping[tuple[int, int], dict[str, Order]],
    names: FabricPairNames,
    claims: tuple[Sequence[ResolvedClaim], Sequence[ResolvedClaim]],
) -> list[ContractChange]:
    """Pair what has no equal on the other side where it is one requirement that differs, the most similar
    ones first."""
    out, done_old, done_new = [], set(), set()
    for _, _, i, j, order in _similar_pairs(left_old, left_new, parts):
        if i in done_old or j in done_new:
            continue
        done_old.add(i)
        done_new.add(j)
        said = [old[i].text, new[j].text]
        if said[0] == said[1]:
            said = [old[i].evaluated, new[j].evaluated]
        out.append(ContractChange("requirement", order, old[i].claim.metric, *said))
    reports = requirements_of(claims[1], report=True)
    for i in left_old:
        if i not in done_old:
            note = _note_on_removed_requirement(old[i], new, reports, names)
            out.append(ContractChange("requirement", "removed", old[i].claim.metric, old[i].text, "", note))
    for j in left_new:
        if j not in done_new:
            was = next((r for r in old if _requirement_implies(r, new[j], names, removed=False)), None)
            note = f"`{was.text}` required it already" if was is not None else ""
            out.append(ContractChange("requirement", "added", new[j].claim.metric, "", new[j].text, note))
    rank = ("removed", "weaker", "changed", "stronger", "added")
    return sorted(out, key=lambda c: rank.index(c.change))


def _similar_pairs(
    left_old: list[int], left_new: list[int], parts: Mapping[tuple[int, int], dict[str, Order]]
) -> list[tuple[bool, int, int, int, Order]]:
    """Old and new requirements that may be one, the most similar first: whether they cannot be ordered, less
    their equal parts, the two, and the order of them."""
    pairs = []
    for key in ((i, j) for i in left_old for j in left_new if (i, j) in parts):
        found = parts[key]
        likeness = sum(o == "same" for o in found.values())
        order = combine_orders(found.values())
        about = all(o == "same" for part, o in found.items() if part not in ("bound", "any", "with"))
        if order != "changed" or about or found["bound"] == "same":
            pairs.append((order == "changed", -likeness, *key, order))
    return sorted(pairs)


def _note_on_removed_requirement(
    was: Requirement, new: Sequence[Requirement], reports: Sequence[Requirement], names: FabricPairNames
) -> str:
    """What still requires or reports a requirement that is gone; "" where nothing does."""
    stays = next((r for r in new if _requirement_implies(r, was, names, removed=True)), None)
    if stays is not None:
        return f"`{stays.text}` still requires it"
    reported = any(r.text == was.text or r.claim.metric == was.claim.metric for r in reports)
    return "it is only reported now" if reported else ""


def _requirement_implies(
    other: Requirement, mine: Requirement, names: FabricPairNames, removed: bool
) -> bool:
    """Whether a requirement of the other design says all that one says that was removed, or that was
    added."""
    if other.claim.metric != mine.claim.metric:
        return False
    pair = (mine, other) if removed else (other, mine)
    return combine_orders(compare_parts(*pair, names).values()) in (
        "same",
        "stronger" if removed else "weaker",
    )
