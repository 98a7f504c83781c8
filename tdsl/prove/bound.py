"""The one form of an answer: two bounds on a figure, each with what proves it.

Every proof is the data of one theorem; ``docs/proofs.md`` states them, and ``tdsl/certificates/`` writes
those that a reader can verify without tdsl.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.clos import Spread
from tdsl.prove.network import Network
from tdsl.prove.restored_links import Restored
from tdsl.prove.routing_combinations import Combination
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

Figure = TypeVar("Figure", int, Fraction)
Lower = TypeVar("Lower")
Upper = TypeVar("Upper")


@dataclass(frozen=True, slots=True)
class Bound(Generic[Figure, Lower, Upper]):
    """``lower`` ≤ the figure ≤ ``upper``; ``proof_lower`` and ``proof_upper`` are the data of the theorems
    that say so."""

    lower: Figure
    upper: Figure
    proof_lower: Lower
    proof_upper: Upper

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal."""
        return self.lower == self.upper

    def joined(self, other: Bound[Figure, Lower, Upper]) -> Bound[Figure, Lower, Upper]:
        """What both prove together: the better lower and the better upper bound, this one's where they are
        equal."""
        low = other if other.lower > self.lower else self
        high = other if other.upper < self.upper else self
        return Bound(low.lower, high.upper, low.proof_lower, high.proof_upper)


# ---------------------------------------------------------------- throughput


@dataclass(frozen=True, slots=True)
class PortBound:
    """Upper bound: the demand of some unit fills its own ports."""


@dataclass(frozen=True, slots=True)
class ArcLengths:
    """Upper bound: λ ≤ Σ capacity·length / Σ demand·distance, for these lengths of the arcs of a network
    (Shahrokhi and Matula 1990)."""

    network: Network
    length: Ints

    @classmethod
    def of(cls, network: Network, length: Ints | list[int]) -> ArcLengths:
        """Lengths as a column."""
        return cls(network, np.asarray(length, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Combined:
    """Lower bound: the loads of a combination of routings of everything fit all arcs of a network."""

    network: Network
    combination: Combination


@dataclass(frozen=True, slots=True)
class Flow:
    """Lower bound: a flow between two sets, an amount for every arc; an arc is two devices, -2 the one set
    and -1 the other."""

    arcs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class CrossedArcs:
    """Upper bound: the arcs of a minimum cut between two sets, named as those of a flow are, each with 1."""

    arcs: tuple[tuple[int, int, int], ...]


# ---------------------------------------------------------------- bisection


@dataclass(frozen=True, slots=True)
class Shares:
    """Lower bound: units send to hubs in fixed shares, part by part of a network: as it is, or with links
    ``restored`` whose capacity is taken off. Without parts nothing is shown."""

    parts: tuple[tuple[Network, Spread], ...]
    restored: Restored | None = None


@dataclass(frozen=True, slots=True)
class EverySplit:
    """Lower bound: the least of all balanced splits, of every part of a network."""

    parts: tuple[tuple[Network, int], ...]


@dataclass(frozen=True, slots=True)
class EveryPlacement:
    """Lower bound: the least over both sides of each of a few switches, of every part of a network."""

    parts: tuple[tuple[Network, int], ...]


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Lower bound: zᵀLz / 4 with the multiplier ``mu`` (Donath and Hoffman 1973)."""

    mu: Fraction


@dataclass(frozen=True, slots=True)
class GroupRoutes:
    """Lower bound: all units send to all at once over the links between each two groups (Kim et al. 2008)."""


# ---------------------------------------------------------------- distances


@dataclass(frozen=True, slots=True)
class WitnessPath:
    """Lower bound: two ends that are this far apart, and the forwarding devices between them."""

    devices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Searches:
    """Upper bound, or both: shortest paths from one node of every class of equivalent nodes."""


@dataclass(frozen=True, slots=True)
class Eccentricities:
    """Upper bound: the greatest distance from one node of each of ``searched`` of the ``classes`` of
    equivalent nodes, or twice the least of them; ``apart`` if some ends do not reach each other, which are
    left out."""

    searched: int
    classes: int
    apart: bool


@dataclass(frozen=True, slots=True)
class HopSum:
    """Both bounds: the hops of all ordered pairs of ends that reach each other, ``pairs`` of ``most``, from
    such searches."""

    hops: int
    pairs: int
    most: int


@dataclass(frozen=True, slots=True)
class NotBounded:
    """No bound: why not, and what all that is known adds up to."""

    reasons: tuple[str, ...]
    known: Fraction = Fraction(0)


Delay = Bound[Fraction, WitnessPath, Searches]
"""The delay between the farthest two ends, in seconds."""

Diameter = Bound[int, WitnessPath, Eccentricities]
"""Most links between forwarding devices on a shortest path between two ends."""

MeanHops = Bound[Fraction, HopSum, HopSum]
"""Links between forwarding devices on a shortest path, on average over all pairs of ends."""


# ---------------------------------------------------------------- redundancy


@dataclass(frozen=True, slots=True)
class Counted:
    """Lower bound: no smaller cut was found where all were looked at, or degrees and components alone show
    it. The checker computes it again."""


@dataclass(frozen=True, slots=True)
class LinkCut:
    """Upper bound: two devices, and those on the side of the first in a cut between them."""

    pair: tuple[int, int]
    side: Bools

    def rows(self, view: View) -> Ints:
        """Places (in the view's rows) of the links that are cut; links of other units, which forward nothing,
        are no part of any path."""
        a, b = view.a, view.b
        ours = view.forwards.copy()
        ours[list(self.pair)] = True
        return np.flatnonzero((self.side[a] != self.side[b]) & ours[a] & ours[b])


@dataclass(frozen=True, slots=True)
class DeviceCut:
    """Upper bound: two devices, and those whose failure separates them; ``linked`` if a link joins the two as
    well, which no failure of a device removes."""

    pair: tuple[int, int]
    devices: tuple[int, ...]
    linked: bool


LinkPaths = Bound[int, Counted, LinkCut]
"""The least number of paths without a common link between two units."""

DevicePaths = Bound[int, Counted, DeviceCut]
"""The least number of paths without a common device between two units."""
