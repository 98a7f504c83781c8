"""Two bounds on a figure, each with what proves it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.network import Network
from tdsl.prove.routing_combinations import Combination

Lower = TypeVar("Lower")
Upper = TypeVar("Upper")


@dataclass(frozen=True, slots=True)
class Bound(Generic[Lower, Upper]):
    """``lower`` ≤ the figure ≤ ``upper``; ``proof_lower`` and ``proof_upper`` are the data of the theorems that say so."""

    lower: Fraction
    upper: Fraction
    proof_lower: Lower
    proof_upper: Upper

    def joined(self, other: Bound[Lower, Upper]) -> Bound[Lower, Upper]:
        """What both prove together: the better lower and the better upper bound, this one's where they are equal."""
        low = other if other.lower > self.lower else self
        high = other if other.upper < self.upper else self
        return Bound(low.lower, high.upper, low.proof_lower, high.proof_upper)


@dataclass(frozen=True, slots=True)
class Ports:
    """Upper bound: the demand of some unit fills its own ports."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Upper bound: λ ≤ Σ capacity·length / Σ demand·distance, for these lengths of the arcs of a network (Shahrokhi and Matula
    1990)."""

    network: Network
    length: Ints

    @classmethod
    def of(cls, network: Network, length: Ints | list[int]) -> Lengths:
        """Lengths as a column."""
        return cls(network, np.asarray(length, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Combined:
    """Lower bound: the loads of a combination of routings of everything fit all arcs of a network."""

    network: Network
    combination: Combination
