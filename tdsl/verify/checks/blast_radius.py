"""Blast radius: endpoints that the worst failure of one element takes away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tdsl.fabric.claims import Element, ResolvedClaim
from tdsl.verify.check import Check, Judgement, exactly, skipped
from tdsl.verify.checks.survives import standing
from tdsl.verify.symmetry import symmetry
from tdsl.verify.view import View

RUNS = 5_000
"""Elements that are judged before the answer stays open."""


class BlastRadius(Check):
    """Endpoints that the worst failure of one element takes away.

    ## What it means
    `blast_radius of S` fails each element of S alone, and counts the endpoints (ports of hosts in use) that have no network
    any more: their own link is gone, or they can no longer reach any other host. The worst element stands. The answer names
    it and says how many hosts are cut off altogether, how many only lose ports, and how many accelerators both hold.

    ## Formula and source
    max over s ∈ S of the endpoints with no path to a port of another host in fabric − s. Components as in `reachability`; one
    element of every orbit of verified exchanges is judged. The term and the practice are those of failure-domain analysis:
    Gill, Jain, Nagappan, "Understanding network failures in data centers" (SIGCOMM 2011).

    ## What it assumes
    The element fails completely and alone. An endpoint that keeps less capacity than before is not counted: ask `survives any
    1 of S with bisection >= …` for that. Managers and storage are not counted.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r]
    require blast_radius of leaf <= 32                     # a leaf serves one port of 32 hosts
    ```

    ## A design that fails
    ```fab
    connect node[n].nic[r] to leaf[n // 4]                 # all eight ports of four hosts
    require blast_radius of leaf <= 16
    ```

    ### What it prints
    ```
    E0416: `blast_radius of leaf <= 16` does not hold: 32 at leaf[0]: 4 hosts cut off, 0 degraded (32 accelerators)
    ```
    """

    code = "E0416"
    name = "blast_radius"
    wrong = "A failure that takes too much"
    kind = "number"
    unit = "endpoints"
    on_demand = True
    takes = frozenset({"of"})
    needs = frozenset({"of"})
    reads_of = True
    example = "blast_radius of leaf <= 32"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None
        if any(s.ports for s in claim.of):
            return skipped("devices and groups fail, not ports")
        elements = standing(view, claim)
        if not elements:
            return skipped("nothing that it names is built")
        orbits = symmetry(view, elements).orbits()
        worst = max((_loss(view, elements[o[0]]) for o in orbits[:RUNS]), key=lambda x: (x.endpoints, x.cut_off))
        witness: dict[str, object] = {
            "element": worst.name, "endpoints": worst.endpoints, "hosts_cut_off": worst.cut_off,
            "hosts_degraded": worst.degraded, "accelerators": worst.accelerators, "judged": min(len(orbits), RUNS),
        }  # fmt: skip
        text = (
            f"{worst.endpoints} at {worst.name}: {worst.cut_off} {view.unit_word} cut off, {worst.degraded} degraded "
            f"({worst.accelerators} accelerators)"
        )
        if len(orbits) > RUNS:
            most = int(view.degree[view.units].sum())
            return Judgement("bounded", f"at least {text}", worst.endpoints, worst.endpoints, most, witness=witness)
        return exactly(worst.endpoints, text, witness)


@dataclass(frozen=True, slots=True)
class Loss:
    """What one element's failure takes away."""

    name: str
    endpoints: int
    cut_off: int
    degraded: int
    accelerators: int


def _loss(view: View, element: Element) -> Loss:
    failed = np.zeros(view.fabric.device_count, dtype=np.bool_)
    failed[element.devices] = True
    before = _live(view)
    after = _live(view.without(failed))
    units = view.units
    lost = before[units] - after[units]
    hit = units[lost > 0]
    gone = int(((lost > 0) & (after[units] == 0)).sum())
    each = [s.model.accelerators if s.kind == "host" else 1 for s in view.fabric.sets]
    accelerators = int(np.array(each, dtype=np.int64)[view.fabric.device_set[hit]].sum())
    return Loss(element.name, int(lost.sum()), gone, len(hit) - gone, accelerators)


def _live(view: View) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Endpoints of every device from which another unit can be reached: its ports, or a chip as one."""
    n = view.fabric.device_count
    unit = np.zeros(n, dtype=np.bool_)
    unit[view.units] = True
    at = view.attachment
    mine = unit[at.end]
    end, hub = at.end[mine], at.hub[mine]
    pairs = np.unique(hub * n + end)
    others = np.bincount(pairs // n, minlength=int(hub.max(initial=0)) + 1)  # different units at every hub
    return np.bincount(end[others[hub] > 1], minlength=n)
