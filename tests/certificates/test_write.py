"""Which certificates are written of what is asked, with their figures, on small fabrics worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.certificates import checker
from tdsl.certificates.write import certificates_by_file_name, claims_at_switches, json_of_fabric_target, verified_certificates
from tdsl.certificates.write_survives import BUNDLED, CertificateLeftOut, certificate_of_survival
from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.conftest import Golden
from tests.fabrics import GBPS, Builder, claim, multiplane, rail_only, selector, superpod, torus

FIGURES = ("bisection", "reachability", "diameter", "edge_redundancy", "node_redundancy", "mean_hops", "oversubscription")


def results(*checks: str, status: str = "proved") -> list[Any]:
    """Results of checks that nothing was required of."""
    return [SimpleNamespace(check=c, requirement=None, status=status) for c in checks]


def told(body: Any) -> Any:
    """The figure that a certificate states; rates in Gbit/s."""
    if "cases" in body:
        return {", ".join(case["failed"]): told(case["left"]) for case in body["cases"]}
    if "lower_bps" not in body:
        return body.get("value", body.get("holds") or body.get("apart"))
    low, high = (str(Fraction(body[end]) / GBPS) for end in ("lower_bps", "upper_bps"))
    return low if low == high else [low, high]


ABOUT = ("pattern", "units", "of", "to", "at", "what", "count", "condition")


def written(f: Fabric, claims: Sequence[ResolvedClaim], found: list[Any]) -> Iterator[str]:
    """Certificates as they are read from their files, the checker's answer where it does not take one, and what is left out."""
    left_out: dict[str, str] = {}
    fabric = json.loads(json_of_fabric_target(f))
    for name, body in json.loads(json.dumps(certificates_by_file_name(f, claims, found, left_out=left_out))).items():
        assert body.pop("design") == sha256(b"").hexdigest(), name
        assert (body["schema"], body["fabric"]) == (checker.SCHEMA, f.name)
        about = " ".join(f"{key}={json.dumps(body[key])}" for key in ABOUT if key in body)
        yield f"{name}: {json.dumps(told(body))}; {body['check']} {about}" + "; symmetries" * bool(body.get("symmetries"))
        try:
            checker.verify(body, fabric)
        except checker.Rejected as why:
            yield f"    the checker rejects it: {why}"
    yield from (f"{name} is left out: {why}" for name, why in left_out.items())


SMALL = superpod(2, 2, 2, 2).build()
"""Two units of two hosts (one host of the second is planned) and two leaves, and two spines; all links have 400 Gbit/s."""


def apart(split: bool) -> Fabric:
    """Three hosts with one link each, at two leaves that are not connected, or all at one; and a manager at a switch alone."""
    b = Builder("apart")
    node = b.devices("node", b.model("host", "H", {"nic": 1}, accelerators=1), 3)
    leaf = b.devices("leaf", b.model("switch", "S", {"p": 8}), 2)
    for n in range(3):
        b.link(b.port(node, n), b.free(leaf, int(split and n > 1)))
    return b.build()


def managed() -> Fabric:
    """Two hosts at a leaf, and a manager that reaches neither."""
    b = Builder("managed")
    node = b.devices("node", b.model("host", "H", {"nic": 1}, accelerators=1), 2)
    leaf = b.devices("leaf", b.model("switch", "S", {"p": 8}), 2)
    manager = b.devices("ufm", b.model("host", "UFM", {"p": 1}), None, role="manager")
    for n in range(2):
        b.link(b.port(node, n), b.free(leaf, 0))
    b.link(b.port(manager, 0), b.free(leaf, 1))
    return b.build()


SPINE, LEAF, NODE, SU = (selector(SMALL, path) for path in ("spine", "su.leaf", "su.node", "su"))
PORTS = Selector("leaf.p", "switch", (), "p", np.arange(3))


def some(of: Selector, *at: int) -> Selector:
    return replace(of, elements=tuple(of.elements[k] for k in at))


def ask(metric: str, op: str = "", value: object = None, **given: Any) -> ResolvedClaim:
    return claim(SMALL, metric, op, value, **given)


def survive(text: str, count: int, *of: Selector, **given: Any) -> ResolvedClaim:
    return ask("survives", any_count=count, of=of, text=text, **given)


A_HALF = ask("bisection", ">=", Fraction(1, 2))
SURVIVES = [
    survive("spine", 1, SPINE), survive("scope", 1, SPINE, scope=SU.elements[0]), survive("refuted", 1, SPINE),
    survive("bundles", 1, SPINE, any_of="bundles"), survive("d", 1, LEAF, given=A_HALF), survive("too many", 9, SPINE),
    survive("f", 2, SPINE, given=ask("reachability")), survive("i", 1, SPINE, of_to=(LEAF,), any_of="links"),
    survive("k", 1, LEAF, given=ask("throughput", ">=", Fraction(1, 2), of=(NODE,), of_to=(SPINE,))),
    survive("no form", 1, SPINE, given=ask("diameter", "<=", 2, scope=SU.elements[0])),
]  # fmt: skip


def hosts(count: int, rails: int, leaves: dict[tuple[int, int], int], joined: bool = True) -> Fabric:
    """Hosts of which each rail is connected to the leaf given for it, by host and rail; accelerators are joined inside or not."""
    b = Builder("hosts")
    node = b.devices("node", b.model("host", "H", {"nic": rails}, accelerators=rails, scaleup=joined), count)
    leaf = b.devices("leaf", b.model("switch", "S", {"p": {"shape": 16, "low": 1}}), 4)
    for (n, r), at in leaves.items():
        b.link(b.port(node, n, "nic", r), b.free(leaf, at))
    return b.build()


UNANSWERED = {
    "one host": hosts(1, 2, {(0, 0): 0, (0, 1): 1}),
    "a host without links": hosts(3, 2, {(n, r): r for n in (0, 1) for r in (0, 1)}),
    "rails that are apart": hosts(2, 2, {(n, r): 2 * n + r for n in (0, 1) for r in (0, 1)}),
    "hosts that are apart": hosts(2, 1, {(0, 0): 0, (1, 0): 1}),
    "one host of one rail": hosts(1, 1, {(0, 0): 0}),
}


WORD = {word: (BareWord(word),) for word in ("ring", "all_to_all", "rail_allreduce")} | {"shift": (BareWord("shift"), 1)}
RING, ALL = WORD["ring"], WORD["all_to_all"]
PATTERNS = [
    ask("throughput", args=WORD["shift"]), ask("throughput", args=WORD["shift"]),
    ask("throughput", args=RING, scope=SU.elements[0]), ask("throughput", of=(NODE,), of_to=(SPINE,)),
    ask("throughput", of=(NODE,)), ask("throughput", args=RING, of=(NODE,), of_to=(SPINE,)),
    ask("throughput", args=RING, of=(NODE,)), ask("throughput"), ask("bisection", args=RING),
    ask("throughput", args=(BareWord("shift"), 3)), ask("throughput", args=RING, through="scaleup"),
    ask("throughput", args=RING), ask("throughput", of=(some(SPINE, 0),), of_to=(some(SPINE, 1),)),
    ask("throughput", args=WORD["rail_allreduce"]),
]  # fmt: skip
AT = [
    ask("oversubscription", "<=", 2), ask("oversubscription", "<=", 2, at=(LEAF,)),
    ask("oversubscription", at=(LEAF,), scope=SU.elements[0]), ask("oversubscription", at=(LEAF,), of=(LEAF,)),
    ask("oversubscription", at=(LEAF,), of_active=True), ask("bisection", at=(LEAF,)),
    ask("oversubscription", at=(some(LEAF, 0), some(LEAF, 2))),
]  # fmt: skip
BLAST = [
    ask("blast_radius", of=(SPINE,), scope=SU.elements[0]), ask("blast_radius", of=(SPINE,)),
    ask("blast_radius", of=(SPINE, PORTS)), ask("blast_radius", of=(LEAF,), through="scaleup"), ask("diameter", of=(LEAF,)),
    ask("blast_radius", of=(some(LEAF, 1, 2),)), ask("blast_radius", of=(SU, SPINE)),
]  # fmt: skip
REFUTED = [
    SimpleNamespace(check="survives", requirement=c.text, status="refuted" if c.text == "refuted" else "proved") for c in SURVIVES
]
TORUS, PLANES, RAILS = torus(3, 3).build(), multiplane(2, 4, 2, 2).build(), rail_only(3, 2).build()
OTHERS = {
    "a torus": TORUS, "two planes": PLANES, "hosts apart": apart(True), "hosts of one leaf": apart(False), "rails alone": RAILS,
    "one chip": torus(1).build(),
}  # fmt: skip
ASKED: dict[str, tuple[Fabric, list[ResolvedClaim], list[Any]]] = {
    "all figures of a superpod": (SMALL, [], results(*FIGURES)),
    "all figures of a torus": (TORUS, [], results(*FIGURES)),
    "all figures of rails alone": (RAILS, [], results(*FIGURES)),
    "all figures of two planes": (PLANES, [], results(*FIGURES)),
    "nothing that was judged": (SMALL, [], results(*FIGURES, status="skipped")),
    "hosts that do not reach each other": (apart(True), [], results("reachability", "diameter", status="refuted")),
    "hosts of one leaf": (apart(False), [], results("reachability", "diameter")),
    "a manager that reaches nothing": (managed(), [], results("reachability", status="refuted")),
    "oversubscription of some switches": (SMALL, AT, []),
    "blast radius, by the number of the claim": (SMALL, BLAST, []),
    "survives, by the number of the requirement": (SMALL, SURVIVES, REFUTED),
    "patterns of the whole fabric, each once": (SMALL, PATTERNS, []),
    "all to all by rail and by host": (SMALL, [ask("throughput", args=ALL, through=way) for way in ("", "scaleup", "")], []),
    "all to all of one unit": (SMALL, [ask("throughput", args=ALL, scope=SU.elements[0])], []),
    "all to all of some hosts": (SMALL, [ask("throughput", args=ALL, of=(NODE,))], []),
    **{f"all to all of {name}": (f, [claim(f, "throughput", args=ALL)], []) for name, f in OTHERS.items()},
    **{f"patterns of {name}": (f, [claim(f, "throughput", args=x) for x in WORD.values()], []) for name, f in UNANSWERED.items()},
}  # fmt: skip


def test_which_certificates_are_written(golden: Golden) -> None:
    """With which figures, for what is asked of a fabric; none where nothing is judged, reached or sent."""
    golden("certificates/written.txt", "".join(f"==== {n}\n" + "".join(f"{x}\n" for x in written(*a)) for n, a in ASKED.items()))
    assert claims_at_switches(AT) == [AT[1], AT[6]]


def test_too_much_work_and_too_many_cases_are_reasons_to_leave_out() -> None:
    few = verified_certificates(SMALL, [], results("reachability", "diameter"), steps=1)
    why = "to check it takes more than 1 steps of work"
    assert (few.texts, few.rejected, few.left_out) == ({}, {}, {"reachability.json": why, "diameter.json": why})
    f = torus(5, 5).build()
    asked = claim(f, "survives", any_count=3, of=(selector(f, "chip"),))
    with pytest.raises(CertificateLeftOut, match="it has more than 200 cases"):
        certificate_of_survival(View.whole(f), asked)


def test_two_devices_of_one_name() -> None:
    made = verified_certificates(replace(SMALL, names={0: "x", 1: "x"}), [], results("diameter"))
    assert (made.texts, made.rejected, list(made.left_out)) == ({}, {}, ["*.json"])
    assert made.left_out["*.json"].startswith("the checker does not take the fabric: ")


def test_paths_of_bundles_have_no_certificate() -> None:
    f = replace(SMALL, link_bundle=np.where(np.arange(15) == 14, 0, -1))
    left_out: dict[str, str] = {}
    out = certificates_by_file_name(f, [], results("edge_redundancy", "node_redundancy"), left_out=left_out)
    assert (list(out), left_out) == (["node_redundancy.json"], {"edge_redundancy.json": BUNDLED})
    condition = ask("edge_redundancy", ">=", 1)
    left_out = {}
    found = [SimpleNamespace(check="survives", requirement="m", status="proved")]
    assert certificates_by_file_name(f, [survive("m", 1, SPINE, given=condition)], found, left_out=left_out) == {}
    assert left_out == {"survives-1.json": BUNDLED}


VIEW = View.whole(SMALL)


def test_no_flow_after_some_failure() -> None:
    asked = ask("throughput", ">=", Fraction(0), of=(some(SPINE, 0),), of_to=(some(SPINE, 1),))
    with pytest.raises(CertificateLeftOut, match="nothing flows between the two sets after some failure"):
        certificate_of_survival(VIEW, ask("survives", any_count=4, of=(LEAF,), given=asked))


def test_a_certificate_that_the_checker_rejects_is_not_written() -> None:
    """Both spines fail, and it is stated to be proved that all hosts still reach each other."""
    asked = survive("f", 2, SPINE, given=ask("reachability"))
    stated = SimpleNamespace(check="survives", requirement="f", status="proved")
    made = verified_certificates(SMALL, [asked], [stated, *results("diameter")])
    assert (list(made.texts), made.rejected) == (["diameter.json"], {"survives-1.json": "a case fails"})
