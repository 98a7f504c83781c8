"""Which certificates are written of what is asked, with their figures, on small fabrics worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from tests.fabrics import GBPS, Builder, claim, multiplane, rail_only, selector, superpod, torus

FIGURES = ("bisection", "reachability", "diameter", "edge_redundancy", "node_redundancy", "mean_hops", "oversubscription")


def results(*checks: str, status: str = "proved") -> list[Any]:
    """Results of checks that nothing was required of."""
    return [SimpleNamespace(check=c, requirement=None, status=status) for c in checks]


def told(body: Any) -> Any:
    """The figure that a certificate states."""
    if "value" in body:
        return body["value"]
    if "holds" in body:
        return body["holds"] or body["apart"]
    if "cases" in body:
        return [(*case["failed"], told(case["left"])) for case in body["cases"]]
    low, high = (Fraction(body[end]) / GBPS for end in ("lower_bps", "upper_bps"))
    return low if low == high else (low, high)


def written(
    f: Fabric, claims: Sequence[ResolvedClaim], found: list[Any], left_out: dict[str, str] | None = None
) -> dict[str, Any]:
    """Certificates as they are read from their files, each accepted by the checker."""
    out = json.loads(json.dumps(certificates_by_file_name(f, claims, found, left_out=left_out)))
    fabric = json.loads(json_of_fabric_target(f))
    for name, body in out.items():
        assert body.pop("design") == sha256(b"").hexdigest(), name
        assert (body["schema"], body["fabric"]) == (checker.SCHEMA, f.name)
        checker.verify(body, fabric)
    return out


SMALL = superpod(2, 2, 2, 2).build()
"""Two units of two hosts (one host of the second is planned) and two leaves, and two spines; all links have 400 Gbit/s."""
DESIGNS = {
    "superpod": (SMALL, [800, True, 2, 2, 2, "5/3", "1"]),
    "torus": (torus(3, 3).build(), [3200, True, 2, 4, 4, "3/2", None]),
    "rail_only": (rail_only(3, 2).build(), [800, True, 0, 2, 2, "0", None]),
    "multiplane": (multiplane(2, 4, 2, 2).build(), [1600, True, 2, 2, 2, "4/3", "1"]),
}
"""The figures in the order of FIGURES. Without switches that have links upward there is no oversubscription."""


@pytest.mark.parametrize("name", DESIGNS)
def test_figures_of_a_fabric(name: str) -> None:
    """Symmetries are written where endpoints forward, and for counted figures alone."""
    f, figures = DESIGNS[name]
    out = written(f, [], results(*FIGURES))
    expected = {f"{check}.json": x for check, x in zip(FIGURES, figures, strict=True) if x is not None}
    assert {file: told(body) for file, body in out.items()} == expected
    turned = {"diameter.json", "edge_redundancy.json", "node_redundancy.json", "mean_hops.json"}
    assert {file for file, body in out.items() if "symmetries" in body} == (turned if name == "torus" else set())
    assert all(body["check"] == file.removesuffix(".json") for file, body in out.items())
    assert written(f, [], results(*FIGURES, status="skipped")) == {}


def apart(split: bool) -> Fabric:
    """Three hosts with one link each, at two leaves that are not connected, or all at one; and a manager at a switch alone."""
    b = Builder("apart")
    node = b.devices("node", b.model("host", "H", {"nic": 1}, accelerators=1), 3)
    leaf = b.devices("leaf", b.model("switch", "S", {"p": 8}), 2)
    for n in range(3):
        b.link(b.port(node, n), b.free(leaf, int(split and n > 1)))
    return b.build()


def test_two_endpoints_that_do_not_reach_each_other() -> None:
    out = written(apart(True), [], results("reachability", "diameter", status="refuted"))
    assert {file: told(body) for file, body in out.items()} == {"reachability.json": ["node2", "node0"]}
    assert set(out["reachability.json"]["apart"]) == {"node2", "node0"} and out["reachability.json"]["units"] == 3
    out = written(apart(False), [], results("reachability", "diameter"))
    assert {file: told(body) for file, body in out.items()} == {"reachability.json": True, "diameter.json": 0}


def test_a_manager_that_reaches_nothing_has_no_certificate() -> None:
    b = Builder("managed")
    node = b.devices("node", b.model("host", "H", {"nic": 1}, accelerators=1), 2)
    leaf = b.devices("leaf", b.model("switch", "S", {"p": 8}), 2)
    manager = b.devices("ufm", b.model("host", "UFM", {"p": 1}), None, role="manager")
    for n in range(2):
        b.link(b.port(node, n), b.free(leaf, 0))
    b.link(b.port(manager, 0), b.free(leaf, 1))
    assert written(b.build(), [], results("reachability", status="refuted")) == {}


SPINE, LEAF, NODE, SU = (selector(SMALL, path) for path in ("spine", "su.leaf", "su.node", "su"))
PORTS = Selector("leaf.p", "switch", (), "p", np.arange(3))


def some(of: Selector, *at: int) -> Selector:
    return replace(of, elements=tuple(of.elements[k] for k in at))


def ask(metric: str, op: str = "", value: object = None, **given: Any) -> ResolvedClaim:
    return claim(SMALL, metric, op, value, **given)


def test_blast_radius_and_oversubscription_of_some_switches() -> None:
    """Numbered in the order of those that certificates are written of; of the whole fabric's is only one."""
    whole = ask("oversubscription", "<=", 2)
    at = [ask("oversubscription", "<=", 2, at=(LEAF,)), ask("oversubscription", at=(some(LEAF, 0), some(LEAF, 2)))]
    other = [
        ask("oversubscription", at=(LEAF,), scope=SU.elements[0]), ask("oversubscription", at=(LEAF,), of=(LEAF,)),
        ask("oversubscription", at=(LEAF,), of_active=True), ask("bisection", at=(LEAF,)),
    ]  # fmt: skip
    assert claims_at_switches([whole, at[0], *other, at[1]]) == at
    blast = [ask("blast_radius", of=(SPINE,)), ask("blast_radius", of=(some(LEAF, 1, 2),)), ask("blast_radius", of=(SU, SPINE))]
    none = [
        ask("blast_radius", of=(SPINE,), scope=SU.elements[0]), ask("blast_radius", of=(SPINE, PORTS)),
        ask("blast_radius", of=(LEAF,), through="scaleup"), ask("diameter", of=(LEAF,)),
    ]  # fmt: skip
    out = written(SMALL, [none[0], blast[0], *none[1:], blast[1], whole, *at, *other, blast[2]], [])
    assert {file: (told(body), body.get("of") or body["at"]) for file, body in out.items()} == {
        "blast_radius-1.json": (0, ["spine"]),
        "blast_radius-2.json": (2, ["su[0].leaf[1]", "su[1].leaf[0]"]),
        "blast_radius-3.json": (6, ["spine", "su"]),
        "oversubscription-1.json": ("1", ["su.leaf"]),
        "oversubscription-2.json": ("1", ["su[0].leaf[0]", "su[1].leaf[0]"]),
    }


def survive(text: str, count: int, *of: Selector, **given: Any) -> ResolvedClaim:
    return ask("survives", any_count=count, of=of, text=text, **given)


A_HALF = ask("bisection", ">=", Fraction(1, 2))
SURVIVES = [
    survive("a", 1, SPINE), survive("scope", 1, SPINE, scope=SU.elements[0]), survive("refuted", 1, SPINE),
    survive("bundles", 1, SPINE, any_of="bundles"), survive("d", 1, LEAF, given=A_HALF), survive("too many", 9, SPINE),
    survive("f", 2, SPINE, given=ask("reachability")), survive("i", 1, SPINE, of_to=(LEAF,), any_of="links"),
    survive("k", 1, LEAF, given=ask("throughput", ">=", Fraction(1, 2), of=(NODE,), of_to=(SPINE,))),
    survive("no form", 1, SPINE, given=ask("diameter", "<=", 2, scope=SU.elements[0])),
]  # fmt: skip
LINK = "su[{}].leaf[{}].p[3] - spine[0].p[{}]"
CASES: dict[str, tuple[dict[str, object], list[tuple[object, ...]]]] = {
    "a": ({"check": "reachability"}, [("spine[0]", True)]),
    "d": (
        {"check": "bisection", "op": ">=", "value": "1/2", "share": "left"},
        [("su[0].leaf[0]", 400), ("su[1].leaf[0]", 400), ("su[1].leaf[1]", 400)],
    ),
    "f": ({"check": "reachability"}, [("spine[0]", "spine[1]", ["su1-node0", "su0-node0"])]),
    "i": ({"check": "reachability"}, [(LINK.format(0, 0, 1), True), (LINK.format(1, 0, 3), True), (LINK.format(1, 1, 4), True)]),
    "k": (
        {"check": "throughput", "op": ">=", "value": "1/2", "share": "left", "from": ["su.node"], "to": ["spine"]},
        [("su[0].leaf[0]", 1600), ("su[1].leaf[0]", 2000), ("su[1].leaf[1]", 2000)],
    ),
}
"""The condition, and the failed elements of every case with the figure that is left: a case for each orbit."""
NAMES = {"a": ["spine"], "d": ["su.leaf"], "f": ["spine"], "i": ["spine"], "k": ["su.leaf"]}


def test_what_survives() -> None:
    """Certificates have the number of the requirement; those that are refuted, or have no form, have none."""
    found = [
        SimpleNamespace(check="survives", requirement=c.text, status="refuted" if c.text == "refuted" else "proved")
        for c in SURVIVES
    ]
    left_out: dict[str, str] = {}
    out = {}
    fabric = json.loads(json_of_fabric_target(SMALL))
    for file, body in json.loads(json.dumps(certificates_by_file_name(SMALL, SURVIVES, found, left_out=left_out))).items():
        number = int(file.removeprefix("survives-").removesuffix(".json"))
        asked = [c for c in SURVIVES if c.text != "scope"][number - 1]
        out[asked.text] = (body["condition"], told(body))
        assert (body["of"], body["count"]) == (NAMES[asked.text], asked.any_count)
        assert (body.get("what"), body.get("to")) == (("links", ["su.leaf"]) if asked.text == "i" else (None, None))
        if asked.text == "f":  # which is stated to be proved here, and is not so
            with pytest.raises(checker.Rejected):
                checker.verify(body, fabric)
        else:
            checker.verify(body, fabric)
    assert out == CASES
    assert left_out == {"survives-3.json": BUNDLED}


def test_patterns_that_are_asked_of_the_whole_fabric() -> None:
    """Each once, in the order of the claims; of two sets or of a word, not of both. All to all is apart from these."""
    asked = [
        ask("throughput", args=(BareWord("shift"), 1)), ask("throughput", args=(BareWord("shift"), 1)),
        ask("throughput", args=(BareWord("ring"),), scope=SU.elements[0]), ask("throughput", of=(NODE,), of_to=(SPINE,)),
        ask("throughput", of=(NODE,)), ask("throughput", args=(BareWord("ring"),), of=(NODE,), of_to=(SPINE,)),
        ask("throughput", args=(BareWord("ring"),), of=(NODE,)), ask("throughput"), ask("bisection", args=(BareWord("ring"),)),
        ask("throughput", args=(BareWord("shift"), 3)), ask("throughput", args=(BareWord("ring"),), through="scaleup"),
        ask("throughput", args=(BareWord("ring"),)), ask("throughput", of=(some(SPINE, 0),), of_to=(some(SPINE, 1),)),
        ask("throughput", args=(BareWord("rail_allreduce"),)),
    ]  # fmt: skip
    out = written(SMALL, asked, [])
    assert {file: (body["pattern"], told(body)) for file, body in out.items()} == {
        "throughput-1.json": ("shift 1 by rail", 2400),
        "throughput-2.json": ("between", 2400),
        "throughput-4.json": ("ring through scaleup", 2400),
        "throughput-5.json": ("ring by rail", 2400),
        "throughput-6.json": ("between", 1600),
        "throughput-7.json": ("rail_allreduce", 2400),
    }  # a shift by as many as there are hosts sends nothing
    assert [body.get("units") for body in out.values()] == [3, None, 3, 3, None, 3]


def test_all_to_all_by_rail_and_by_host() -> None:
    """Once each, of the whole fabric alone, and only where all endpoints have links."""
    word = (BareWord("all_to_all"),)
    asked = [
        ask("throughput", args=word), ask("throughput", args=word, through="scaleup"), ask("throughput", args=word),
        ask("bisection", args=word),
    ]  # fmt: skip
    out = written(SMALL, asked, [])
    assert {file: (body["pattern"], body["units"], told(body)) for file, body in out.items()} == {
        "throughput-all_to_all_by_rail.json": ("all_to_all by rail", 3, 80),  # six rails: five peers share a port of 400 Gbit/s
        "throughput-all_to_all.json": ("all_to_all", 3, 400),  # three hosts: two peers share both ports
    }
    for facts in ({"scope": SU.elements[0]}, {"of": (NODE,)}):
        assert written(SMALL, [ask("throughput", args=word, **facts)], []) == {}
    for f, sent in ((torus(3, 3).build(), Fraction(400, 3)), (multiplane(2, 4, 2, 2).build(), Fraction(800, 3))):
        (body,) = written(f, [claim(f, "throughput", args=word)], []).values()
        assert (told(body), body["pattern"]) == (sent, "all_to_all")
    for f in (apart(True), rail_only(3, 2).build(), torus(1).build()):
        assert written(f, [claim(f, "throughput", args=word)], []) == {}
    (body,) = written(apart(False), [claim(apart(False), "throughput", args=word)], []).values()
    assert told(body) == 200


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


@pytest.mark.parametrize("name", UNANSWERED)
def test_patterns_without_an_answer(name: str) -> None:
    """Where somebody who sends has no link, or no path to whom it sends to, there is no figure to certify."""
    f = UNANSWERED[name]
    words: list[tuple[object, ...]] = [
        (BareWord("ring"),),
        (BareWord("shift"), 1),
        (BareWord("all_to_all"),),
        (BareWord("rail_allreduce"),),
    ]
    assert written(f, [claim(f, "throughput", args=args) for args in words], []) == {}


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
