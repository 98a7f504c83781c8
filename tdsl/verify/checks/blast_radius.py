"""Blast radius: endpoints that the worst failure of one element takes away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.components import component_labels
from tdsl.fabric.layers import scaleup_links
from tdsl.prove.element_symmetry import symmetry_of_elements
from tdsl.prove.elements import elements_of_claim as named
from tdsl.prove.endpoints_lost import (
    connected_endpoints_per_device,
    endpoints_lost_with,
    endpoints_per_device,
)
from tdsl.prove.view import View
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, exactly, skipped


class BlastRadius(Check):
    """Endpoints that the worst failure of one element takes away.

    ## What it means
    `blast_radius of S` fails each element of S alone, and counts the endpoints (ports of hosts in use) that
    then have no network: their own link is gone, or they cannot reach any other host. The worst element is
    the answer. It is named with how many hosts are cut off altogether, how many only lose ports, and how many
    accelerators both hold.

    ## Formula and source
    max over s ∈ S of the endpoints with no path to a port of another host in fabric − s. An endpoint that
    reaches no other host in the intact fabric counts for every s. Components as in `reachability`; one
    element of every orbit of verified exchanges is judged. The term and the practice are those of
    failure-domain analysis: Gill, Jain, Nagappan, "Understanding network failures in data centers" (SIGCOMM
    2011).

    `blast_radius of S through scaleup` counts accelerators: those of hosts that lose an endpoint, and all of
    a scale-up domain (NVLink) of which a link, a switch or a host is lost, since a job that uses the domain
    stops.

    ## What it assumes
    The element fails completely and alone. An endpoint that keeps less capacity than before is not counted:
    ask `survives any 1 of S with bisection >= …` for that. Managers and storage are not counted.

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
    E0416: `blast_radius of leaf <= 16` does not hold: 32 at leaf[0]: 4 hosts cut off, 0 degraded (32 \
accelerators)
    ```
    """

    code = "E0416"
    name = "blast_radius"
    wrong = "A failure that takes too much"
    kind = "number"
    less_is_better = True
    unit = "endpoints"
    on_demand = True
    takes = frozenset({"of", "through"})
    needs = frozenset({"of"})
    reads_of = True
    reads = frozenset()
    example = "blast_radius of leaf <= 32"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.prove.elements import elements_of_claim as named

        assert claim is not None
        if claim.through:
            return _accelerators_lost_in_domains(view, claim)
        elements = named(view, claim)
        if not elements and view.fabric.whole is not None:
            return skipped("what it names has no link of the network; ask for it `through scaleup`")
        if not elements:
            return skipped("nothing that it names is built")
        orbits = symmetry_of_elements(view, elements, self.reads, single=True).orbits()
        most = view.budget.blast_elements
        worst = max(
            (endpoints_lost_with(view, elements[o[0]]) for o in orbits[:most]),
            key=lambda x: (x.endpoints, x.cut_off),
        )
        witness: dict[str, object] = {
            "element": worst.name,
            "endpoints": worst.endpoints,
            "hosts_cut_off": worst.cut_off,
            "hosts_degraded": worst.degraded,
            "accelerators": worst.accelerators,
            "judged": min(len(orbits), most),
        }
        text = (
            f"{worst.endpoints} at {worst.name}: {view.counted_units(worst.cut_off)} cut off, "
            f"{worst.degraded} degraded "
            f"({worst.accelerators} {noun_for_count(worst.accelerators, 'accelerator')})"
        )
        if len(orbits) > most:
            upper = int(view.degree[view.units].sum())
            found = Judgement(
                "bounded", f"at least {text}", worst.endpoints, worst.endpoints, upper, witness=witness
            )
        else:
            found = exactly(worst.endpoints, text, witness)
        return replace(found, judged=sum(map(len, orbits[:most])), of=len(elements))


def _accelerators_lost_in_domains(view: View, claim: ResolvedClaim) -> Judgement:
    """Accelerators of hosts that lose an endpoint, or whose scale-up domain loses something."""

    f = view.fabric.whole or view.fabric
    both = View(f, f.built, f.built, np.arange(f.link_count), budget=view.budget)
    elements = named(both, claim)
    if not elements:
        return skipped("nothing that it names is built")
    each = np.array([m.accelerators if m.kind == "host" else 1 for m in f.models], dtype=np.int64)[
        f.device_model
    ]
    units, label = view.units, view.domains.of_device
    before = np.zeros(f.device_count, dtype=np.bool_) if view.failed is None else view.failed
    elements = [e for e in elements if not before[e.devices].all()]
    if not elements:
        return skipped("all that it names has failed")
    up = scaleup_links(f) & ~view.lost_beside
    part = component_labels(
        f.device_count, f.device_a[up], f.device_b[up]
    )  # of scale-up switches of all tiers, too
    linked = np.zeros(f.device_count, dtype=np.bool_)
    linked[f.device_a[up]] = linked[f.device_b[up]] = True
    most, worst = view.budget.blast_elements, (-1, 0, "")
    for element in elements[:most]:
        failed = np.zeros(f.device_count, dtype=np.bool_)
        failed[element.devices] = True
        failed = f.with_contents(failed) & ~before
        left = view.without(failed)
        hit = np.zeros(f.device_count, dtype=np.bool_)
        lost = up & f.links_lost(failed)
        hit[f.device_a[lost]] = hit[f.device_b[lost]] = True
        hit[failed] = True
        hit |= linked & np.isin(part, part[hit & linked])
        domains = np.unique(label[hit & (label >= 0)])
        used, live = endpoints_per_device(view)[units], connected_endpoints_per_device(left)[units]
        gone = units[(np.minimum(live, used) < used) | np.isin(label[units], domains)]
        worst = max(worst, (int(each[gone].sum()), len(domains), element.name), key=lambda x: x[0])
    count, domains_hit, name = worst
    text = (
        f"{count} {noun_for_count(count, 'accelerator')} at {name}, {domains_hit} scale-up "
        f"{noun_for_count(domains_hit, 'domain')} of {'it' if count == 1 else 'them'}"
    )
    witness: dict[str, object] = {"element": name, "accelerators": count, "domains": domains_hit}
    if len(elements) > most:
        found = Judgement(
            "bounded", f"at least {text}", count, count, int(each[units].sum()), witness=witness
        )
    else:
        found = exactly(count, text, witness)
    return replace(found, judged=min(len(elements), most), of=len(elements))
