"""A job on a network before and after a change of it: a failure, a fault of the cabling, a move, another
design."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.failed import FailedElements
from tdsl.fabric.graph import Fabric
from tdsl.fabric.job_ranks import RankedJob
from tdsl.fabric.layers import scaleup_links
from tdsl.jobs.placed import JobNotOnNetwork, PlacedRanks
from tdsl.jobs.step import Ends, StepModel, with_efficiency
from tdsl.jobs.table import percent_text_of_ends, seconds_text
from tdsl.physical.economics import CostOverTime
from tdsl.prove.localities import domain_of_units
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

HOURS_OF_DAY = 24


@dataclass(frozen=True, slots=True)
class JobOnNetwork:
    """A job on one state of a network. ``model`` has its times; where it is None, ``why`` says in words why
    there are none. ``stops`` says that the job cannot run: ranks are not there, or have no path to each
    other."""

    ranks: int
    model: StepModel | None
    why: str = ""
    stops: bool = False

    @property
    def rates(self) -> tuple[Fraction | None, Fraction | None]:
        """Tokens a second by the floors of its communication, and by its schedules; None where unknown."""
        if self.stops:
            return Fraction(0), Fraction(0)
        if self.model is None:
            return None, None
        tokens, (least, most) = self.model.job.tokens, self.model.step
        return tokens / least, None if most is None else tokens / most

    @property
    def step(self) -> Ends | None:
        """Seconds of a step, None where there are none."""
        return None if self.model is None else self.model.step

    def in_words(self) -> str:
        """``a step takes 1.2s to 1.3s, MFU 39% to 40%``, or why there is no time."""
        if self.model is None:
            return self.why
        mfu = percent_text_of_ends(self.model.mfu)
        return f"a step takes {seconds_text(self.model.step)}, MFU {mfu}"

    def facts(self) -> dict[str, object]:
        """As plain JSON values."""
        step, mfu = (None, None) if self.model is None else (self.model.step, self.model.mfu)
        return {
            "step_s": None if step is None else [None if x is None else float(x) for x in step],
            "mfu": None if mfu is None else [None if x is None else float(x) for x in mfu],
            "stops": self.stops,
            "reason": self.why,
        }


def job_on_network(view: View, ranked: RankedJob, efficiency: Fraction | None = None) -> JobOnNetwork:
    """A job on what a view shows; with the ``efficiency`` that it has elsewhere, where that is given."""
    count = ranked.job.ranks
    try:
        apart = _ranks_without_path(view, ranked)
        model = StepModel.of(view, ranked) if not apart else None
    except JobNotOnNetwork as fault:
        return JobOnNetwork(count, None, str(fault), stops=True)
    if model is None:
        return JobOnNetwork(count, None, f"{apart:,} of its {count:,} ranks have no path to the others", True)
    if efficiency:
        model = with_efficiency(model, efficiency)
    return JobOnNetwork(count, None if model.why_no_time else model, model.why_no_time)


def _ranks_without_path(view: View, ranked: RankedJob) -> int:
    """How many ranks are not connected to the others: those that are not in the part of the network with most
    ranks. Accelerators of a host and of a scale-up domain are connected. Raises JobNotOnNetwork."""
    unit = PlacedRanks.of(view, ranked).unit
    at, f = view.attachment, view.fabric
    domain = domain_of_units(view)
    hubs = int(at.hub.max(initial=0)) + 1
    first = f.device_count + hubs
    inside = np.flatnonzero(f.container >= 0)
    a = np.concatenate((at.end, view.units, inside))
    b = np.concatenate((f.device_count + at.hub, first + domain, f.container[inside]))
    label = component_labels(first + int(domain.max(initial=0)) + 1, a, b)
    parts = np.unique(label[view.units][unit], return_counts=True)[1]
    return int(parts.sum() - parts.max(initial=0))


def view_without_failed(fabric: Fabric, failed: FailedElements) -> View:
    """The network of a fabric after elements of it failed."""
    view = View.whole(fabric.network)
    if view.fabric is fabric:
        return view.without(failed.devices, failed.links)
    beside = scaleup_links(fabric)
    return view.without(failed.devices, failed.links[~beside], failed.links & beside)


@dataclass(frozen=True, slots=True)
class PriceOfHours:
    """What an accelerator-hour costs before and after a change: in ``currency``, None of a design without
    accelerators. After a failure it is the same as before it."""

    currency: str
    before: CostOverTime | None
    after: CostOverTime | None

    @property
    def unknown(self) -> str:
        """In words why the cost of a change has no figure; "" where it has one, if only a lower bound."""
        if self.before is None or self.after is None:
            return "the design has no accelerators"
        both = (self.before, self.after)
        if self.before == self.after:
            return "" if self.before.accelerator_hour else f"there are {self.before.missing}"
        return next((f"there are {x.missing}" for x in both if not x.exact), "")

    @property
    def missing(self) -> str:
        """What makes the figure a lower bound, "" where it is exact."""
        return "" if self.before is None or self.before.exact else self.before.missing


@dataclass(frozen=True, slots=True)
class JobChange:
    """One job before and after a change. Shares are of its work, by the floors of its communication and by
    its schedules; None where unknown."""

    name: str
    before: JobOnNetwork
    after: JobOnNetwork
    price: PriceOfHours | None = None

    @property
    def work(self) -> tuple[Fraction | None, Fraction | None]:
        """Tokens a second after the change, as shares of those before it."""
        pairs = zip(self.before.rates, self.after.rates, strict=True)
        by_floors, by_schedules = (
            None if was is None or now is None or not was else now / was for was, now in pairs
        )
        return by_floors, by_schedules

    @property
    def share(self) -> Fraction | None:
        """The share of the work that is done after it: by the schedules, where these are known on both
        sides, else by the floors."""
        by_floors, by_schedules = self.work
        return by_floors if by_schedules is None else by_schedules

    @property
    def lost_hours(self) -> Fraction | None:
        """Accelerator-hours a day that are paid for after the change and would not be needed before it for
        the same work; negative where the change gains."""
        if self.share is None:
            return None
        return HOURS_OF_DAY * (self.after.ranks - self.before.ranks * self.share)

    @property
    def cost_per_day(self) -> Fraction | None:
        """Money a day that the change costs, negative where it saves: what is paid after it, less what the
        same work costs before it. None where that is unknown."""
        price, share = self.price, self.share
        if price is None or price.unknown or share is None or price.before is None or price.after is None:
            return None
        paid = self.after.ranks * price.after.accelerator_hour
        return HOURS_OF_DAY * (paid - self.before.ranks * share * price.before.accelerator_hour)

    def cost_in_words(self) -> str:
        """``96 accelerator-hours and USD 182 a day``; "" where nothing is lost or gained, or all is
        unknown."""
        hours, cost = self.lost_hours, self.cost_per_day
        if hours is None or not (hours or cost):
            return ""
        words = f"{amount_in_words(abs(hours))} accelerator-hours"
        if self.price is None:
            return f"{words} a day"
        if cost is None:
            return f"{words} a day; the money is unknown: {self.price.unknown}"
        least = "at least " if self.price.missing else ""
        missing = f" (there are {self.price.missing})" if least else ""
        signed = "" if (cost < 0) == (hours < 0) else "costs " if cost > 0 else "saves "
        return f"{words} and {signed}{least}{self.price.currency} {amount_in_words(abs(cost))} a day{missing}"

    def sentence(self) -> str:
        """All of it in one sentence."""
        cost = self.cost_in_words()
        return self.in_words() + (f": {cost}" if cost else "")

    def in_words(self) -> str:
        """The change of a step's time in one sentence."""
        was, now, share = self.before, self.after, self.share
        if was.model is None:
            return f"what it costs is unknown: {was.why}"
        if now.stops:
            return f"it stops: {now.why}"
        if now.model is None:
            return f"what it costs is unknown: {now.why}"
        words = f"a step takes {seconds_text(now.model.step)}, before {seconds_text(was.model.step)}"
        mfu = tuple(percent_text_of_ends(x.model.mfu) for x in (was, now) if x.model is not None)
        words += f"; MFU {mfu[0]} → {mfu[1]}" if mfu[0] != mfu[1] else ""
        if share is None:
            return f"{words}; what it loses is unknown"
        basis = "" if self.work[1] is not None else " by the lower ends, as no upper end is known"
        return f"{words}; {_work_in_words(share)}{basis}"

    def facts(self) -> dict[str, object]:
        """As plain JSON values."""
        by_floors, by_schedules = (None if x is None else float(1 - x) for x in self.work)
        hours = self.lost_hours
        return {
            "job": self.name,
            "status": "modelled" if self.share is not None else "unknown",
            "before": self.before.facts(),
            "after": self.after.facts(),
            "lost_share": by_schedules if self.work[1] is not None else by_floors,
            "lost_share_by_floors": by_floors,
            "lost_share_by_schedules": by_schedules,
            "lost_accelerator_hours_per_day": None if hours is None else float(hours),
            **self._facts_of_money(),
        }

    def _facts_of_money(self) -> dict[str, object]:
        """The money as plain JSON values; nothing where no prices are given."""
        if self.price is None:
            return {}
        cost = self.cost_per_day
        return {
            "currency": self.price.currency,
            "cost_per_day": None if cost is None else float(cost),
            "cost_is_lower_bound": bool(cost is not None and self.price.missing),
            "cost_unknown": self.price.unknown,
        }


def _work_in_words(share: Fraction) -> str:
    """``it does 1.2% less in a day``."""
    if share == 1:
        return "it does as much in a day"
    word = "less" if share < 1 else "more"
    return f"it does {float(abs(1 - share)) * 100:.3g}% {word} in a day"


def amount_in_words(amount: Fraction) -> str:
    """Three figures, or all before the point: ``0.0123``, ``12.3``, ``12,345``."""
    value = float(amount)
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def duration_in_words(seconds: Fraction) -> str:
    """``500ms``, ``4h``."""
    if seconds >= 3600:
        return f"{float(seconds / 3600):.4g}h"
    return f"{float(seconds / 60):.4g}min" if seconds >= 60 else seconds_text((seconds, seconds))
