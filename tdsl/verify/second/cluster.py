"""Figures of a cluster again, from the `fabric.json` of each of its fabrics. A device of several fabrics is
one by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Any

from tdsl.fabric.claims import ResolvedClaim
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.compare import verdict_of_bounds
from tdsl.verify.result import Result
from tdsl.verify.second.answer import (
    NoOpinion,
    SecondAnswer,
    exact_answer,
    figure_asked_for,
    yes_or_no_answer,
)
from tdsl.verify.second.judge import Opinion

BY = "fabric.json"
METRICS = ("cables", "links", "power", "rack_space", "switches")

Place = tuple[str, str, str, int, int]
"""Hall, row, rack, lowest unit and rack units of a device; 0 where unknown."""


@dataclass(eq=False)
class ClusterDocuments:
    """The `fabric.json` of each fabric; of each model the watts at most with its transceivers, None where
    they are not stated so; and of each device by its name where it is placed."""

    documents: Sequence[Mapping[str, Any]]
    watts: Mapping[str, Fraction | None]
    places: Mapping[str, Place] = field(default_factory=dict)
    taller: Mapping[tuple[str, str, str], int] = field(
        default_factory=dict
    )  # units of the racks that state them

    def _rows(self, table: str) -> Iterator[tuple[int, dict[str, Any]]]:
        for k, document in enumerate(self.documents):
            columns = document[table]["columns"]
            for row in document[table]["rows"]:
                yield k, dict(zip(columns, row, strict=True))

    def devices(self) -> dict[str, dict[str, Any]]:
        """Devices by name, each once."""
        return {row["name"]: row for _, row in self._rows("devices")}

    def opinion(self, result: Result, claim: ResolvedClaim | None) -> Opinion | None:
        """The second opinion about a result; None where the check has no second method."""
        if result.check not in METRICS or result.status not in ("proved", "refuted"):
            return None
        try:
            if claim is not None and (claim.of or claim.of_to or claim.scope or claim.args or claim.share_of):
                raise NoOpinion("a part of a cluster has no second method")
            return self._compared(result, claim, self._figure(result.check))
        except NoOpinion as why:
            return Opinion("unconfirmed", reason=str(why))

    def _compared(self, result: Result, claim: ResolvedClaim | None, found: SecondAnswer) -> Opinion:
        if found.holds is not None:
            return Opinion(
                "confirmed" if found.holds == (result.status == "proved") else "disagrees", BY, found
            )
        low, high = (getattr(end, "amount", end) for end in (result.lower, result.upper))
        if (low, high) != (found.lower, found.upper):
            return Opinion("disagrees", BY, found)
        asked = None
        if claim is not None and claim.op and not claim.report:
            asked = (
                getattr(claim.value, "amount", None)
                if result.check == "power"
                else figure_asked_for(claim, found)
            )
        if (
            claim is not None
            and asked is not None
            and verdict_of_bounds(claim.op, low, high, asked) != result.status
        ):
            return Opinion(
                "disagrees", BY, found, "the figure is the same, but not whether it satisfies the requirement"
            )
        return Opinion("confirmed", BY, found)

    def _figure(self, check: str) -> SecondAnswer:
        if None in self.documents:
            raise NoOpinion("a fabric has no fabric.json")
        match check:
            case "links":
                return exact_answer(BY, sum(1 for _ in self._rows("links")))
            case "cables":
                return exact_answer(BY, len({(k, row["cable_id"]) for k, row in self._rows("cables")}))
            case "switches":
                return exact_answer(BY, sum(row["kind"] == "switch" for row in self.devices().values()))
            case "power":
                return exact_answer(BY, self._power())
        return yes_or_no_answer(BY, self._fit())

    def _power(self) -> Fraction:
        total = Fraction(0)
        for row in self.devices().values():
            if row["inside"] is None and row["kind"] != "panel":
                watts = self.watts.get(row["model"])
                if watts is None:
                    raise NoOpinion(f"the watts that {row['model']} states do not include its transceivers")
                total += watts
        return total

    def _fit(self) -> bool:
        """Whether no unit of a rack is taken twice, and none above its top."""
        taken: set[tuple[str, str, str, int]] = set()
        sums: dict[tuple[str, str, str], int] = {}
        for name in self.devices():
            if name not in self.places:
                continue
            hall, row, rack, unit, units = self.places[name]
            sums[hall, row, rack] = sums.get((hall, row, rack), 0) + units
            mine = {(hall, row, rack, u) for u in range(unit, unit + max(units, 1))} if unit else set()
            if mine & taken or any(u > self.taller.get((hall, row, rack), u) for *_, u in mine):
                return False
            taken |= mine
        return all(n <= self.taller.get(rack, n) for rack, n in sums.items())


__all__ = ["ClusterDocuments", "Place"]
