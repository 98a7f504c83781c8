"""Ranks of a job on the units of a network: where each sends and receives, and what is around it."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.fabric.job_ranks import RankedJob
from tdsl.prove.by_rail import ByRail
from tdsl.prove.collective_bounds import Blocks
from tdsl.prove.collective_floors import Floors
from tdsl.prove.domain_rates import DomainRate, domain_rates
from tdsl.prove.localities import Division, domain_of_units, nested_divisions
from tdsl.prove.view import View
from tdsl.semantics.quantity import COMPUTE, Quantity
from tdsl.system.lazy_dataclass import dataclass


class JobNotOnNetwork(Exception):
    """A job that a view does not hold; the text says why."""


@dataclass(frozen=True, slots=True)
class RankCut:
    """Blocks of ranks: the block of every rank, bit/s that can leave each block and enter it, and what a
    block is, in words. Where ``owner`` numbers blocks of blocks, what crosses all blocks of one together is
    held against ``rate``, which is then theirs."""

    block: Ints
    rate: Ints
    words: str
    owner: Ints | None = None


@dataclass(eq=False)  # no slots: what is asked for is kept
class PlacedRanks:
    """The ranks of a job on a view. ``unit`` is the place of each among the view's units, ``place`` its
    number among the accelerators there."""

    view: View
    job: RankedJob
    unit: Ints
    place: Ints

    @classmethod
    def of(cls, view: View, job: RankedJob) -> PlacedRanks:
        """Find the ranks among the units. Raises JobNotOnNetwork where one is not there."""
        f = view.fabric
        where = np.full(f.device_count, -1, dtype=np.int64)
        where[view.units] = np.arange(len(view.units))
        unit, place = where[job.device], job.place.copy()
        absent = np.flatnonzero(unit < 0)
        if len(absent):  # the chips inside of a host are the units
            chips = view.units[f.container[view.units] >= 0]
            order = np.lexsort((chips, f.container[chips]))
            chips = chips[order]
            first = np.searchsorted(f.container[chips], job.device[absent])
            at = first + place[absent]
            good = at < len(chips)
            good &= (
                f.container[chips[np.minimum(at, max(len(chips) - 1, 0))]] == job.device[absent]
                if len(chips)
                else False
            )
            if not np.all(good):
                lost = absent[~np.asarray(good)] if len(chips) else absent
                name = f.device_name(int(job.device[lost[0]]))
                raise JobNotOnNetwork(
                    f"{len(lost):,} of its {len(unit):,} ranks are not there, such as {name}"
                )
            unit[absent], place[absent] = where[chips[at]], 0
        return cls(view, job, unit, place)

    @cached_property
    def domain(self) -> Ints:
        """The number of every rank's scale-up domain; ranks of one unit without a domain share one."""
        return domain_of_units(self.view)[self.unit]

    @cached_property
    def rate_of_domain(self) -> dict[int, DomainRate | None]:
        """What an accelerator can send to the others of its domain, by the number of the domain; None where
        nothing says what joins them."""
        rates = domain_rates(self.view)
        label = self.view.domains.of_device[self.view.units[self.unit]]
        pairs = {*zip(self.domain.tolist(), label.tolist(), strict=True)}
        return {mine: rates[k] if k >= 0 else None for mine, k in pairs}

    @cached_property
    def rails(self) -> ByRail | None:
        """The rails of the units, where each unit has several and its accelerators divide among them."""
        found = ByRail.of(self.view)
        if found is None or (found.rail < 0).any() or self.view.forwards[self.view.units].any():
            return None
        count = np.bincount(found.host, minlength=len(self.view.units))
        if (count != count[0]).any() or count[0] < 2 or len(found.units) > 4 * self.view.budget.rail_ends:
            return None
        return found

    @cached_property
    def rail_table(self) -> Ints:
        """The end of every unit (row) on each of its rails, in order."""
        rails = self.rails
        assert rails is not None
        order = np.lexsort((rails.rail, rails.host))
        return order.reshape(len(self.view.units), -1)

    @cached_property
    def rail_of_rank(self) -> Ints:
        """The rail of every rank: accelerators of a unit are divided among its rails in order."""
        wide = self.rail_table.shape[1]
        f = self.view.fabric
        each = np.array([max(m.accelerators, 1) if m.kind == "host" else 1 for m in f.models] or [1])
        inside = each[f.device_model[self.view.units[self.unit]]]
        out: Ints = np.minimum(self.place * wide // np.maximum(inside, 1), wide - 1)
        return out

    @cached_property
    def divisions(self) -> list[Division]:
        """Nested divisions of the units, outermost first."""
        return nested_divisions(self.view)

    @cached_property
    def cuts(self) -> list[RankCut]:
        """Blocks of ranks of all kinds: single ranks, units, scale-up domains, and those of the design."""
        view, floors = self.view, Floors(self.view, self.divisions)
        out = [*self._cuts_around_units(floors.blocks)]
        for division in self.divisions[:-1]:
            label = floors.device_labels(division)
            rate = np.zeros(division.count + 1, dtype=np.int64)
            a, b = label[view.a], label[view.b]
            crossing = a != b
            for end in (a, b):
                np.add.at(rate, end[crossing], view.fabric.link_rate[view.rows][crossing])
            words = f"the links that leave a block by {division.word}"
            out.append(RankCut(division.block[self.unit], rate[:-1], words))
        return out

    def _cuts_around_units(self, blocks: Blocks) -> list[RankCut]:
        """The cuts around ranks, units and domains, as far as their insides are known."""
        f = self.view.fabric
        place = np.full(f.device_count, -1, dtype=np.int64)
        place[blocks.device] = np.arange(len(blocks.device))
        at = place[self.view.units]
        if (at < 0).any() or blocks.others_have_ports:
            return []
        own = (blocks.ports + blocks.beside)[at]
        out = [RankCut(self.unit, own, "the ports of a " + self.view.unit_word.removesuffix("s"))]
        known = (blocks.chips >= 0)[at]
        if known.all():
            each = np.arange(len(self.unit))
            rate = (blocks.ports + blocks.least)[at][self.unit]
            out.append(RankCut(each, rate, "the scale-up links of an accelerator"))
            rate = (blocks.ports + blocks.chips)[at]
            out.append(RankCut(each, rate, "the scale-up links of accelerators", self.unit))
        names, which = np.unique(blocks.domain, return_inverse=True)
        if len(names) < len(blocks.device):
            total = np.zeros(len(names), dtype=np.int64)
            np.add.at(total, which, blocks.ports)
            out.append(RankCut(which[at][self.unit], total, "the ports of a scale-up domain"))
        return out

    @cached_property
    def peak(self) -> dict[str, Fraction]:
        """FLOP/s by number format of the slowest chip among the ranks; formats that all of them state."""
        f = self.view.fabric
        rows = np.unique(f.device_model[self.job.device]).tolist()
        found: list[dict[str, Fraction]] = []
        for m in rows:
            model = f.models[m]
            chips = [model] if model.kind == "chip" else [c.model for c in model.chips if c.accelerates]
            found += [_stated_flops(c.facts) for c in chips or [model]]
        common = set.intersection(*(set(x) for x in found)) if found else set()
        return {name: min(x[name] for x in found) for name in sorted(common)}


def _stated_flops(facts: object) -> dict[str, Fraction]:
    """FLOP/s of a chip by format, as its facts have them."""
    assert hasattr(facts, "items")
    return {
        str(k).removeprefix("flops_"): v.amount
        for k, v in facts.items()
        if str(k).startswith("flops_") and isinstance(v, Quantity) and v.dim == COMPUTE
    }
