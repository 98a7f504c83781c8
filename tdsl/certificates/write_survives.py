"""Certificates of `survives`: one case for every orbit of failures, each with a certificate of what is
left."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from tdsl.certificates import checker
from tdsl.certificates.write_figures import (
    built_elements,
    certificate_of_bisection,
    certificate_of_reachability,
    figure_for_checker,
    paths_of_elements,
    symmetries_of_forwarding_units,
)
from tdsl.certificates.write_throughput import Json, flow_certificate_between_sets
from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.fabric.risks import RISK
from tdsl.prove.element_symmetry import Symmetry, symmetry_of_elements
from tdsl.prove.elements import TooMany, can_fail_together, failing_set_sizes
from tdsl.prove.elements import elements_of_claim as named
from tdsl.prove.elements import view_after_failures as after
from tdsl.prove.set_flow import surviving_devices_of_selectors
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.semantics.quantity import RATE, Quantity
from tdsl.verify.check import checks_by_name

CASES = 200
"""Cases that one certificate holds at most."""

CASE_LINKS = 2_000_000
"""Cases of a certificate times the links of the fabric, at most."""


class CertificateLeftOut(Exception):
    """A certificate is not written though the result is proved; the text says why."""


BUNDLED = "the design has bundles of links, which the checker does not read"


def certificate_of_survival(view: View, claim: ResolvedClaim) -> Json | None:
    """A case for every orbit of failures, with a certificate of what is left; None where certificates have no
    form for what is asked. Raises LeftOut with the reason why none is written."""
    elements = _elements_that_fail(view, claim)
    count, asked = claim.any_count or 0, claim.given
    if sum(e.copies for e in elements) < count or (asked is not None and not _has_certificate_form(asked)):
        return None
    found = _symmetry_for_cases(view, elements, asked, single=count == 1)
    chosen = _failure_cases(elements, count, found)
    if chosen is None:
        raise CertificateLeftOut(f"it has more than {CASES} cases")
    if len(chosen) * len(view.rows) > CASE_LINKS:
        raise CertificateLeftOut(f"{len(chosen)} cases of {len(view.rows):,} links are more than the limit")
    images = found.images if found is not None else []
    return {
        "check": "survives",
        "count": count,
        "condition": _condition_after_failures(view, asked),
        **_failing_elements_named(view, claim, elements),
        "symmetries": [_device_names_exchanged(view, image) for image in images],
        "cases": [_certificate_of_case(view, failed, asked) for failed in chosen],
    }


def _elements_that_fail(view: View, claim: ResolvedClaim) -> Sequence[FabricElement]:
    """The elements of which some fail. Raises LeftOut where the checker does not know them, or they are too
    many."""
    if claim.any_of == "bundles":
        raise CertificateLeftOut(BUNDLED)
    if any(s.kind == RISK for s in claim.of):
        raise CertificateLeftOut("the checker does not read risk groups")
    try:
        return named(view, claim)
    except TooMany as many:
        raise CertificateLeftOut(str(many)) from None


def _symmetry_for_cases(
    view: View, elements: Sequence[FabricElement], asked: ResolvedClaim | None, single: bool
) -> Symmetry | None:
    """Which elements are equivalent for what the condition reads; None where that is not shown, and where
    elements are several links or differ in copies."""
    if any(len(e.links) > 1 for e in elements) or len({e.copies for e in elements}) > 1:
        return None
    check = checks_by_name()[asked.metric if asked else "reachability"]
    sides = (asked.of, asked.of_to) if asked is not None and asked.of_to else ()
    fixed = [np.flatnonzero(surviving_devices_of_selectors(view, side)) for side in sides]
    reads = check.reads_for(asked) if asked is not None else check.reads
    return symmetry_of_elements(view, elements, reads, fixed, single=single)


def _certificate_of_case(
    view: View, failed: Sequence[FabricElement], asked: ResolvedClaim | None
) -> dict[str, object]:
    """The elements that fail, with a certificate of what is left. Raises LeftOut where that does not show the
    condition."""
    left = after(view, list(failed))
    body = _certificate_of_rest(left, asked)
    if asked is not None and not _is_enough_for_condition(body, asked, view if asked.of_intact else left):
        raise CertificateLeftOut(
            f"no form of certificate shows the figure without {', '.join(e.name for e in failed)}"
        )
    return {"failed": [e.name for e in failed], "left": body}


def _has_certificate_form(asked: ResolvedClaim) -> bool:
    """Whether a certificate can state what is asked after failures: of all that is left, or the throughput of
    A to B."""
    whole = not (asked.at or asked.through or asked.scope or asked.args)
    sides = (bool(asked.of), bool(asked.of_to)) == (asked.metric == "throughput",) * 2
    return asked.metric in checker.LEFT and asked.op != "!=" and whole and sides


def _certificate_of_rest(view: View, asked: ResolvedClaim | None) -> Json:
    """A certificate of what is left after failures, without its head."""
    if asked is None or asked.metric == "reachability":
        return certificate_of_reachability(view) or {}
    if asked.metric == "bisection":
        return certificate_of_bisection(view)
    if asked.metric == "throughput":
        flow = flow_certificate_between_sets(view, asked)
        if flow is None:
            raise CertificateLeftOut("nothing flows between the two sets after some failure")
        return {key: flow[key] for key in ("check", *checker.FLOW)}
    judged = checks_by_name()[asked.metric].judge(view, None)
    bundled = asked.metric == "edge_redundancy" and bool((view.fabric.link_bundle >= 0).any())
    if judged.status != "proved" or not isinstance(judged.value, (int, Fraction)) or bundled:
        raise CertificateLeftOut(BUNDLED if bundled else "the figure is not proved for every case by itself")
    return {
        "check": asked.metric,
        "value": figure_for_checker(judged.value),
    } | symmetries_of_forwarding_units(view)


def _is_enough_for_condition(body: Json, asked: ResolvedClaim, base: View) -> bool:
    """Whether what a certificate states of a case is enough for the condition. What refutes it is left to the
    checker, which rejects it."""
    if asked.metric == "reachability":
        return True
    amount = _amount_asked(asked)
    if asked.metric == "bisection":
        net = unit_network(base)
        share = not _is_rate_asked(asked)
        least = amount * net.full * net.grain if share else amount
        low, high = (Fraction(str(body[end])) for end in ("lower_bps", "upper_bps"))
        if share and not asked.of_intact and len(np.unique(net.injection)) > 1:
            # The share of a cut is one of its own sides: a certificate shows that of the lower bound alone.
            return asked.op in (">=", ">") and (low > least or (asked.op == ">=" and low == least))
        refuted = {">=": high < least, ">": high <= least, "<=": low > least, "<": low >= least}
        holds = {">=": low >= least, ">": low > least, "<=": high <= least, "<": high < least}
        return bool(
            refuted.get(asked.op, not low <= least <= high) or holds.get(asked.op, low == high == least)
        )
    return True


def _is_rate_asked(asked: ResolvedClaim) -> bool:
    return isinstance(asked.value, Quantity) and asked.value.dim == RATE


def _amount_asked(asked: ResolvedClaim) -> Fraction:
    amount = asked.value.amount if isinstance(asked.value, Quantity) else asked.value
    assert isinstance(amount, (int, Fraction))
    return Fraction(amount)


def _failing_elements_named(view: View, claim: ResolvedClaim, elements: Sequence[FabricElement]) -> Json:
    """The elements: devices and groups by their paths, or links, ports, cables and cages of them."""
    if not elements[0].links.size:
        return {"of": paths_of_elements(view, elements)}
    of, to = (_named_ports(view, side) for side in (claim.of, claim.of_to))
    return {"what": claim.any_of or "links", "of": of, "to": to or None}


def _named_ports(view: View, selectors: Sequence[Selector]) -> list[str]:
    """The paths of devices and groups that are built, or of the ports that have links."""
    f = view.fabric
    linked = set(f.link_a.tolist()) | set(f.link_b.tolist())
    ports = [f.port_path(p) for s in selectors if s.ports for p in s.port_rows.tolist() if p in linked]
    elements = [e for s in selectors if not s.ports for e in s.elements if view.devices[e.devices].any()]
    return list(dict.fromkeys(ports)) + (paths_of_elements(view, elements) if elements else [])


def _failure_cases(
    elements: Sequence[FabricElement], count: int, found: Symmetry | None
) -> Sequence[tuple[FabricElement, ...]] | None:
    """The failures to show; None where they are too many for one certificate."""
    out: list[tuple[FabricElement, ...]] = []
    for size in failing_set_sizes(elements, count):
        if found is not None and size == 1:
            out += [(elements[o[0]],) for o in found.orbits()]
        elif found is not None and size == 2:
            out += [tuple(elements[i] for i in pair) for pair in found.pairs()]
        elif comb(len(elements), size) <= CASES:
            out += [chosen for chosen in combinations(elements, size) if can_fail_together(chosen, count)]
        else:
            return None
    return out if len(out) <= CASES else None


def _device_names_exchanged(view: View, image: np.ndarray[tuple[int], np.dtype[np.int64]]) -> dict[str, str]:
    """The devices that an exchange moves, as names."""
    name = view.fabric.device_name
    moved = np.flatnonzero((image != np.arange(len(image))) & view.fabric.built)
    return {name(int(d)): name(int(image[d])) for d in moved}


def _condition_after_failures(view: View, asked: ResolvedClaim | None) -> Json:
    if asked is None or asked.metric == "reachability":
        return {"check": "reachability"}
    part = asked.metric in ("bisection", "throughput") and not _is_rate_asked(asked)
    share = ("intact" if asked.of_intact else "left") if part else None
    out: Json = {"check": asked.metric, "op": asked.op, "value": str(_amount_asked(asked)), "share": share}
    sides = {"from": asked.of, "to": asked.of_to} if asked.of_to else {}
    return out | {end: paths_of_elements(view, built_elements(view, side)) for end, side in sides.items()}
