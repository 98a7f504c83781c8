"""The fabric as it is built: the design's devices with the links that were seen, for the same checks as the
design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.cluster import number_of_member
from tdsl.fabric.graph import FREE, USED, Bools, Fabric, Ints
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label
from tdsl.observe.audit import Audit, CablingFault
from tdsl.observe.difference import Cabling, Mistake
from tdsl.observe.match import planned_far_ports
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import checks_by_name
from tdsl.verify.result import Result
from tdsl.verify.runner import judge_requirements

MOST_MENDED = 12
"""Faults whose mending is judged one by one, whatever the requirement and the size of the network."""
LINKS_JUDGED = 400_000
"""Links of all judgements together that are made fault by fault, of requirements that take sums or one
walk (a cost of 0 or 1): about a second for each."""
LINKS_PROVED = 8_000
"""The same of requirements that take a proof (a cost of 2), where much differs from the design: a second for
each. One that looks at many failures (a cost of 3) takes ``FAILURES_PROVED`` such proofs."""
FAILURES_PROVED = 8
MOST_SETS_JUDGED = 24
"""Sets of faults that are judged to find those whose mending keeps a requirement, where there are many; of
requirements that take longer, as many as faults that are mended one by one."""
FEW_MISTAKES = 24
QUICK = replace(DEFAULT.times(Fraction(1, 40)), uniform_rounds=2, failure_sets=16)
"""What a judgement may take of what is built where more faults differ from the design, or many links: no
symmetry is left there, so that proofs take longest."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A requirement on the design and on what is built, and the faults whose mending helps it, the most
    helpful first.

    ``gains`` are pairs of the number of a fault (from 1) and what the requirement is once that fault
    alone is mended. ``judged`` is how many faults were mended so, one at a time. ``restoring`` are faults
    whose mending together keeps the requirement, as few as were found; where ``enough`` is False they are
    the first in the order of the links that they touch, and fewer may do. ``network`` is that of a
    cluster which the requirement is about, "" where it is about all.
    """

    designed: Result
    built: Result
    gains: tuple[tuple[int, Result], ...] = ()
    network: str = ""
    judged: int = 0
    restoring: tuple[int, ...] = ()
    enough: bool = True

    @property
    def kept(self) -> bool:
        """Whether the requirement holds on what is built."""
        return self.built.status in ("proved", "modelled") or self.built.status == self.designed.status


class BuiltCabling:
    """The far end of every port as built. Mistakes that share no port, nor a planned link between their
    ports, are independent: with some of them mended, the others are as they were."""

    def __init__(self, made: Audit) -> None:
        self.planned = planned_far_ports(made.fabric)
        self._at = made.judged_far_ports()
        f, hidden = made.fabric, ~made.judged
        self._not_judged = {*f.link_a[hidden].tolist(), *f.link_b[hidden].tolist()}
        self._groups = self._mistakes_that_touch(made.mistakes)
        self._group_of = {id(one): k for k, group in enumerate(self._groups) for one in group}
        self._far, self._changed = self.planned.copy(), np.zeros(len(self.planned), dtype=np.bool_)
        self._ports: list[list[int]] = []  # of each group those that it changes
        for group in self._groups:
            far_ends = self._far_ends(group)
            assert far_ends is not None, group
            self._ports.append(list(far_ends))
            self._far[self._ports[-1]], self._changed[self._ports[-1]] = list(far_ends.values()), True

    def _mistakes_that_touch(self, mistakes: Sequence[Mistake]) -> list[list[Mistake]]:
        """Mistakes in groups whose ports no other group touches; each group in the order given."""
        first: dict[int, int] = {}  # by port the first mistake that touches it
        parent = list(range(len(mistakes)))

        def root(i: int) -> int:
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        for i, one in enumerate(mistakes):
            ports = [p for pair in (*one.moves, *one.removed, *one.added) for p in pair]
            for p in {*ports, *map(self._at.__getitem__, ports)} - {-1}:
                j = first.setdefault(p, i)
                if j != i:
                    parent[root(j)] = root(i)
        groups: dict[int, list[Mistake]] = {}
        for i, one in enumerate(mistakes):
            groups.setdefault(root(i), []).append(one)
        return list(groups.values())

    def _far_ends(self, group: Iterable[Mistake]) -> dict[int, int] | None:
        """The far end of each port of the design that some mistakes change, -1 where there is none; None
        where one of them cannot be made without others. A pattern may pass over links that are not judged,
        which stay as designed."""
        size = len(self.planned)
        state = Cabling(self._at.__getitem__, lambda p: -1)
        if not all(map(state.make, group)):
            return None
        changed = {
            p: q for p, q in state.changed.items() if p < size and (q >= 0 or p not in self._not_judged)
        }
        return {p: q if q < size else -1 for p, q in changed.items()}

    def ends(self, mended: Iterable[Mistake] = ()) -> tuple[Ints, Bools]:
        """The far end of every port, -1 where there is none, with some mistakes mended; and which ports the
        others change. Where others cannot be as they were without one of these, all of the group are left."""
        gone = {id(one) for one in mended}
        far, changed = self._far.copy(), self._changed.copy()
        for k in {self._group_of[i] for i in gone}:
            left = self._far_ends(one for one in self._groups[k] if id(one) not in gone)
            if left is not None:
                far[self._ports[k]], changed[self._ports[k]] = self.planned[self._ports[k]], False
                far[list(left)], changed[list(left)] = list(left.values()), True
        return far, changed


def as_built_fabric(
    made: Audit, cabling: BuiltCabling | None = None, mended: Iterable[Mistake] = ()
) -> Fabric:
    """The fabric with the mistakes of an audit made, and rates as they were seen. ``cabling`` is that of an
    audit which has some mistakes more, and ``mended`` are these.

    Links that no capture would show are as designed. Links to what the design does not have are left out. Of
    a cluster as one, its networks are as built, too.
    """
    f = made.fabric
    far, changed = (cabling or BuiltCabling(made)).ends(mended)
    lower = np.flatnonzero(changed & (far > np.arange(len(far))))
    pairs = np.stack((lower, far[lower]), axis=1)
    keep = ~(changed[f.link_a] | changed[f.link_b])
    rates = _seen_rates(made)
    built = _rewire_fabric(f, keep, pairs, rates)
    if not f.members:
        return built
    return _with_networks_as_built(f, built, keep, dict(map(tuple, pairs.tolist())), rates)


def _with_networks_as_built(
    f: Fabric, built: Fabric, keep: Bools, pairs: Mapping[int, int], rates: Mapping[int, int]
) -> Fabric:
    """A cluster as built with each of its networks as built; a new link is in those that have both its
    devices."""
    members, links = [], []
    for member, devices, rows in zip(f.members, f.member_rows, f.member_links, strict=True):
        port = np.repeat(f.port_base[devices] - member.port_base[:-1], np.diff(member.port_base)) + np.arange(
            int(member.port_base[-1])
        )
        own = dict(zip(port.tolist(), range(len(port)), strict=True))
        mine = [(own[p], own[q]) for p, q in pairs.items() if p in own and q in own]
        slower = {own[p]: rate for p, rate in rates.items() if p in own}
        new = np.array(mine, dtype=np.int64).reshape(-1, 2)
        members.append(_rewire_fabric(member, keep[rows], new, slower))
        links.append(built.port_link[port[members[-1].link_a]].astype(np.int64))
    return replace(built, members=tuple(members), member_links=tuple(links))


def network_of_cluster(cluster: Fabric, name: str) -> Fabric:
    """The fabric that claims are judged on: a network of a cluster by its name, or all of it."""
    if not name:
        return cluster
    return replace(cluster.members[number_of_member(cluster, name)], cluster=cluster)


def _seen_rates(made: Audit) -> Mapping[int, int]:
    """Rates of degraded links, by port."""
    out = {}
    for fault in (*made.accepted, *made.faults):
        if fault.slow is not None:
            port, rate = fault.slow
            link = int(made.fabric.port_link[port])
            ends = (
                (int(made.fabric.link_a[link]), int(made.fabric.link_b[link])) if link >= 0 else (port, port)
            )
            out[port] = out[made.seen.far.get(port, ends[0] + ends[1] - port)] = rate
    return out


def _rewire_fabric(f: Fabric, keep: Bools, pairs: Ints, rates: Mapping[int, int]) -> Fabric:
    """A fabric with some of its links, and new ones between pairs of ports. A new link takes class and
    statement of the planned link at one of its ports."""
    if not f.link_count:
        return f
    p, q = pairs.T
    at_p, at_q = f.port_link[p], f.port_link[q]
    lower = f.tier[f.port_device[p]] <= f.tier[f.port_device[q]]
    a = np.concatenate((f.link_a[keep], np.where(lower, p, q)))
    b = np.concatenate((f.link_b[keep], np.where(lower, q, p)))
    model = np.where(at_p >= 0, at_p, np.maximum(at_q, 0))
    source: Ints = np.concatenate((np.flatnonzero(keep), model))
    order = np.argsort(a, kind="stable")
    a, b, source = a[order], b[order], source[order]
    fresh = order >= int(keep.sum())
    rate = f.link_rate[source].copy()
    for ends in (a[fresh], b[fresh]):  # source is the link at one of them, so the other can only lower it
        link = f.port_link[ends]
        rate[fresh] = np.where(link >= 0, np.minimum(rate[fresh], f.link_rate[link]), rate[fresh])
    if rates:
        most = np.full(len(f.port_device), np.iinfo(np.int64).max)
        seen = [port for port in rates if port < len(most)]
        most[seen] = [rates[port] for port in seen]
        rate = np.minimum(rate, most[a])
    state, port_link = f.port_state.copy(), np.full_like(f.port_link, -1)
    state[state == USED] = FREE
    for ends in (a, b):
        state[ends] = USED
        port_link[ends] = np.arange(len(a))

    def of(column: Ints) -> Ints:
        rows: Ints = column[source]
        return rows

    def planned(column: Ints) -> Ints:
        return np.where(fresh, -1, of(column))

    return replace(
        f, link_a=a, link_b=b, link_rate=rate, link_class=of(f.link_class), link_medium=of(f.link_medium),
        link_statement=of(f.link_statement), link_via_a=planned(f.link_via_a),
        link_via_b=planned(f.link_via_b), link_bundle=planned(f.link_bundle), link_colour=of(f.link_colour),
        link_run=planned(f.link_run) if len(f.link_run) else f.link_run,
        port_state=state, port_link=port_link, cable_a=a, cable_b=b, cable_group=np.arange(len(a)),
        cable_leg=np.zeros(len(a), dtype=np.int64), cable_links=np.ones(len(a), dtype=np.int64),
        cable_class=of(f.link_class), cable_statement=of(f.link_statement),
    )  # fmt: skip


def promises_kept(made: Audit, claims: Sequence[ResolvedClaim], network: str = "") -> list[Promise]:
    """Every requirement on the design and on what is built; of those that what is built does not keep, the
    faults that matter. Where the audit is of a cluster, ``network`` names the one of its networks which the
    claims are about."""
    claims = [c for c in claims if not c.report]
    if not claims:
        return []
    before = _results_of_claims(network_of_cluster(made.fabric, network), claims)
    budget = _budget_of_built(made)
    cabling = BuiltCabling(made)
    after = _results_of_claims(network_of_cluster(as_built_fabric(made, cabling), network), claims, budget)
    numbered = [
        (i, fault)
        for i, fault in enumerate(made.faults, 1)
        if fault.mistake is not None or fault.slow is not None
    ]
    numbered.sort(key=lambda f: (-_links_touched(f[1]), f[0]))
    mending = _Mending(made, network, numbered, budget, cabling)
    out = []
    for claim, one, now in zip(claims, before, after, strict=True):
        promise = Promise(one, now, network=network)
        if not promise.kept and len(numbered) > 1:
            promise = mending.promise_mended(claim, promise)
        out.append(promise)
    return out


def _budget_of_built(made: Audit) -> Budget:
    """What a judgement of what is built may take."""
    touched = sum(_links_touched(f) for f in (*made.accepted, *made.faults))
    return DEFAULT if len(made.faults) <= FEW_MISTAKES and 8 * touched <= made.fabric.link_count else QUICK


def _links_touched(fault: CablingFault) -> int:
    """Links that a fault is about."""
    one = fault.mistake
    return 1 if one is None else max(len(one.moves), len(one.removed), len(one.added), 1)


def _results_of_claims(
    fabric: Fabric, claims: Sequence[ResolvedClaim], budget: Budget = DEFAULT
) -> list[Result]:
    """A result for each claim, in order."""
    names = {c.metric for c in claims}
    return judge_requirements(fabric, claims, Diagnostics(), select=names, budget=budget)[: len(claims)]


class _Mending:
    """What requirements are where some faults of an audit are mended; ``faults`` by number, those that
    touch most links first."""

    def __init__(
        self,
        made: Audit,
        network: str,
        faults: list[tuple[int, CablingFault]],
        budget: Budget,
        cabling: BuiltCabling,
    ) -> None:
        self.made, self.network, self.faults, self.budget = made, network, faults, budget
        self.cabling = cabling

    def promise_mended(self, claim: ResolvedClaim, promise: Promise) -> Promise:
        """A promise with the faults whose mending helps it, and those that keep it together."""
        check = checks_by_name().get(claim.metric)
        cost = check.cost if check is not None else 2
        most = self.most_mended(cost)
        gains = self.gains(claim, promise.built, self.faults[:most])
        best = next((n for n, r in gains if Promise(promise.designed, r).kept), 0)
        judged = min(most, len(self.faults))
        restoring: tuple[int, ...] = (best,) if best else ()
        enough = True
        if not best and len(self.faults) > 1:
            calls = MOST_SETS_JUDGED if cost < 2 else most
            restoring, enough = self.restoring_faults(claim, promise, calls)
        return replace(promise, gains=gains, judged=judged, restoring=restoring, enough=enough)

    def most_mended(self, cost: int) -> int:
        """How many faults are mended one by one for a requirement whose check has this ``cost``."""
        links, hurried = max(self.made.fabric.link_count, 1), self.budget is QUICK
        if cost < 2:
            fewest, judged = (MOST_MENDED // 3, LINKS_JUDGED // 2) if hurried else (MOST_MENDED, LINKS_JUDGED)
            return max(fewest, judged // links)
        proofs = FAILURES_PROVED if cost > 2 else 1
        return min(MOST_MENDED // 4, LINKS_PROVED // (links * proofs)) if hurried else MOST_MENDED

    def judge(self, claim: ResolvedClaim, mended: Iterable[int]) -> Result:
        """A requirement on what is built with some faults mended."""
        built = fabric_with_faults_mended(self.made, self.cabling, mended)
        fabric = network_of_cluster(built, self.network)
        (found,) = _results_of_claims(fabric, [claim], self.budget)
        return found

    def gains(
        self, claim: ResolvedClaim, now: Result, faults: list[tuple[int, CablingFault]]
    ) -> tuple[tuple[int, Result], ...]:
        """What the requirement is with one fault mended, for the faults that help, the most helpful
        first. Where it cannot be judged with that fault mended, nothing is gained."""
        found = []
        for number, _ in faults:
            mended = self.judge(claim, [number])
            if mended.status == "skipped":
                continue
            if mended.status != now.status or _figure_of_result(mended) != _figure_of_result(now):
                better = (
                    abs(_figure_of_result(mended) - _figure_of_result(now))
                    if mended.status == now.status
                    else Fraction(10**9)
                )
                found.append((-better, number, mended))
        found.sort(key=lambda g: g[:2])
        return tuple((number, mended) for _, number, mended in found)

    def restoring_faults(
        self, claim: ResolvedClaim, promise: Promise, calls: int
    ) -> tuple[tuple[int, ...], bool]:
        """Faults whose mending together keeps a requirement, and whether none of them can be left out.

        The shortest beginning of the list that keeps it is found by halving: its last fault is needed.
        The next needed one is looked for in the same way, with that one mended, until the needed ones are
        enough or ``calls`` judgements are made.
        """
        needed: list[int] = []
        pool = [number for number, _ in self.faults]
        while calls > 0:
            low, high = 0, len(pool)  # with pool[:high] mended it is kept, with pool[:low - 1] it is not
            while low < high and calls > 0:
                middle = (low + high) // 2
                calls -= 1
                if Promise(promise.designed, self.judge(claim, [*needed, *pool[:middle]])).kept:
                    high = middle
                else:
                    low = middle + 1
            if low < high or not high:
                pool = pool[:high]
                break
            needed.append(pool[high - 1])
            pool = pool[: high - 1]
        return tuple(sorted([*needed, *pool])), not pool


def fabric_with_faults_mended(made: Audit, cabling: BuiltCabling, mended: Iterable[int]) -> Fabric:
    """What is built where some faults of an audit are mended, given by their numbers from 1; ``cabling`` is
    that of the audit. A mistake without which others cannot be made is not mended alone."""
    numbers = set(mended)
    gone = [f.mistake for n, f in enumerate(made.faults, 1) if n in numbers and f.mistake is not None]
    left = [f for n, f in enumerate(made.faults, 1) if n not in numbers]
    audit = Audit(made.fabric, made.seen, made.judged, left, made.notes, made.accepted)
    return as_built_fabric(audit, cabling, gone)


def _figure_of_result(result: Result) -> Fraction:
    value = result.lower if result.lower is not None else result.value
    try:
        return Fraction(value) if isinstance(value, (int, float, Fraction)) else Fraction(0)
    except (ValueError, OverflowError):
        return Fraction(0)


def _notes_on_restoring(made: Audit, promise: Promise) -> list[str]:
    """How many faults must be mended to keep a requirement, where no single one is enough."""
    count = len(promise.restoring)
    if count < 2:
        return []
    first = "; ".join(made.faults[n - 1].finding.message for n in promise.restoring[:3])
    more = f"; and {count - 3:,} more" if count > 3 else ""
    if promise.enough:
        return [f"it is kept when these {count:,} faults are corrected: {first}{more}"]
    return [
        f"it is kept when {count:,} faults are corrected, those that touch most links; fewer may do: "
        f"{first}{more}"
    ]


@dataclass(frozen=True, slots=True)
class Repair:
    """A fault by its number, from 1, with the requirements that its mending alone keeps, and those for
    which it is one of several that must be mended."""

    fault: int
    alone: tuple[str, ...]
    among: tuple[str, ...]


def repairs_by_gain(made: Audit) -> list[Repair]:
    """The faults whose mending keeps requirements that what is built does not keep, those that keep most
    alone first, then those that are needed for most."""
    alone: dict[int, list[str]] = {}
    among: dict[int, list[str]] = {}
    for promise in made.promises:
        if promise.kept:
            continue
        name = f"{promise.network}: " if promise.network else ""
        text = f"{name}{promise.built.requirement}"
        for number in [n for n, r in promise.gains if Promise(promise.designed, r).kept]:
            alone.setdefault(number, []).append(text)
        if len(promise.restoring) > 1 and promise.enough:
            for number in promise.restoring:
                among.setdefault(number, []).append(text)
    found = [Repair(n, tuple(alone.get(n, ())), tuple(among.get(n, ()))) for n in {*alone, *among}]
    return sorted(found, key=lambda r: (-len(r.alone), -len(r.among), r.fault))


def broken_promise_findings(made: Audit, judged: Sequence[Promise]) -> list[Diagnostic]:
    """A finding for every requirement that holds on the design and not on what is built."""
    out = []
    for promise in judged:
        if promise.kept:
            continue
        r = promise.built
        notes = [f"designed: {promise.designed.text}"] if promise.designed.text else []
        for number, mended in promise.gains[:4]:
            what = made.faults[number - 1].finding.message
            notes.append(f"correcting this gives {' '.join((mended.status, mended.text)).strip()}: {what}")
        notes += _notes_on_restoring(made, promise)
        rest = (
            "correct the faults above"
            if promise.gains or len(made.faults) < 2
            else "no single fault decides; correct the faults above"
        )
        span = r.origin.span if r.origin is not None else None
        why = r.text or (r.reason if r.status == "skipped" else "")
        said = f": {why}" if why else ""
        chain = tuple(Label(s, m) for s, m in (r.origin.chain if r.origin else ()))
        out.append(
            Diagnostic(
                "E0640", f"as built, `{r.requirement}` is {r.status}{said}", span, chain, tuple(notes), rest
            )
        )
    return out
