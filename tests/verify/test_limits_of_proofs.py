"""Where a proof would be false, or missing, by one step: the first of a list, links beside a bundle, numbers of one word."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tdsl.certificates import write_survives
from tdsl.certificates.checker import verify
from tdsl.certificates.write import json_of_fabric_target, verified_certificates
from tdsl.prove.cuts import balanced_splits
from tdsl.prove.many_failures import Connected, Failures
from tdsl.prove.shortest_path_routing import PARTS, amounts_fit_in_words
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.harness import compile_text


def test_amounts_that_need_more_than_one_word() -> None:
    """Their sum times the capacity stays below 2^61, whatever their number."""
    most = (1 << 61) // PARTS + 1
    one = np.array([most // 2], dtype=np.int64)
    assert amounts_fit_in_words(one, np.array([1])) and not amounts_fit_in_words(one, np.array([1, 2]))
    assert not amounts_fit_in_words(np.array([most // 2, most - most // 2]), np.array([1]))
    assert amounts_fit_in_words(np.array([1, 2, 3]), np.array([], dtype=np.int64))


@pytest.mark.parametrize("op", [">=", ">", "<=", "<", "=="])
def test_what_a_certificate_shows_of_a_bisection(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that may hold or not is left out; one that holds, or does not, is written, and the checker says which."""
    holds = {">=": lambda x: x >= 4, ">": lambda x: x > 4, "<=": lambda x: x <= 4, "<": lambda x: x < 4, "==": lambda x: x == 4}[
        op
    ]
    monkeypatch.setattr(write_survives, "unit_network", lambda view: SimpleNamespace(full=1, grain=1))
    asked = SimpleNamespace(metric="bisection", op=op, value=Fraction(4), share="")
    monkeypatch.setattr(write_survives, "_amount_asked", lambda asked: Fraction(4))
    monkeypatch.setattr(write_survives, "_is_rate_asked", lambda asked: True)
    for low in range(2, 7):
        for high in range(low, 7):
            every = {holds(x) for x in range(low, high + 1)} | {holds(x + Fraction(1, 2)) for x in range(low, high)}
            body = {"lower_bps": str(low), "upper_bps": str(high)}
            assert write_survives._is_enough_for_condition(body, asked, None) == (len(every) == 1), (low, high)  # type: ignore[arg-type]


def test_a_link_beside_a_bundle_is_not_one_of_it(tmp_path: Path) -> None:
    """Two leaves are joined by a bundle of two links, which is one path, and by a third link: without that one
    path is left. Copies of one connect lie half of a switch apart, so the third is at its sixth port."""
    text = """
fabric f {
  host node[2]: NODE
  switch leaf[2]: BIG
  connect node[n].nic[r] to leaf[n]
  connect leaf[0] to leaf[1] x 2 { bundle 2 }
  connect leaf[0] to leaf[1]
  require survives any 1 links of leaf[0] to leaf[1] with edge_redundancy >= 2
  require edge_redundancy >= 2
  require edge_redundancy >= 3
}
"""
    (design,) = compile_text(text, tmp_path).designs
    asked = {r.requirement: r for r in design.results if r.requirement}
    assert asked["edge_redundancy >= 2"].status == "proved" and asked["edge_redundancy >= 3"].status == "refuted"
    found = asked["survives any 1 links of leaf[0] to leaf[1] with edge_redundancy >= 2"]
    assert (found.status, found.witness["failed"]) == ("refuted", ["leaf[0].p[6] - leaf[1].p[6]"])


BESIDE = """
fabric f {
  host node[2]: NODE
  switch leaf[2]: BIG
  connect node[n].nic[r] to leaf[n]
  connect leaf[0] to leaf[1] x 2 { bundle 2 }
  connect leaf[0] to leaf[1]
  require survives any 1 node with edge_redundancy >= 0
  require survives any 1 links of node to leaf with edge_redundancy >= 1
  report blast_radius of spare
  switch spare: BIG
}
"""


def test_certificates_of_one_bundle_and_of_no_loss(tmp_path: Path) -> None:
    """Of paths through a bundle there is none, and the reason is given; a device whose failure harms nobody has one."""
    (design,) = compile_text(BESIDE, tmp_path).designs
    assert design.fabric is not None
    proofs = verified_certificates(design.fabric, design.claims, design.results)
    (why,) = {w for name, w in proofs.left_out.items() if name.startswith("survives")}
    assert why == write_survives.BUNDLED and not proofs.rejected
    (name,) = [n for n in proofs.texts if n.startswith("blast_radius")]
    assert json.loads(proofs.texts[name])["value"] == 0
    verify(json.loads(proofs.texts[name]), json.loads(json_of_fabric_target(design.fabric)))


def test_the_first_pair_of_a_pattern_has_no_path(tmp_path: Path) -> None:
    """Of three hosts whose accelerators have two rails the first is on switches of its own: it and the next have no path."""
    text = """
model host DGX {
  port nic[2]: 400Gbps { type NDR }
  chip gpu[2]: GPU
  connect gpu[*] each { layer scaleup; medium trace }
}
fabric f {
  host node[3]: DGX
  switch leaf[4]: BIG
  connect node[n].nic[0] to leaf[2*min(n, 1)]
  connect node[n].nic[1] to leaf[2*min(n, 1) + 1]
  report throughput shift 1
  report throughput shift 2
}
"""
    (design,) = compile_text(text, tmp_path).designs
    told = {r.requirement: r.text + r.reason for r in design.results if r.requirement}
    apart = "0%: node0 rail 0 and node{} rail 0 are not connected"
    assert told == {f"throughput shift {far}": apart.format(far) for far in (1, 2)}


def test_pods_are_one_split_of_hosts(tmp_path: Path) -> None:
    """Hosts of two pods in turn: no group of the design and no order of leaves, by name or by number, has a pod's together."""
    text = """
fabric f {
  host node[8]: BOX
  switch leaf[4]: BIG
  switch spine[2]: BIG
  switch core: BIG
  connect node[n].nic[*] to leaf[n % 4]
  connect leaf[l].p[1..4] to spine[l % 2].p[4*(l // 2) + 1..4*(l // 2) + 4]
  connect spine[s].p[60] to core
}
"""
    (design,) = compile_text(text, tmp_path, verify=False).designs
    assert design.fabric is not None, design.findings
    net = unit_network(View.whole(design.fabric))
    pods = {tuple(bool(n % 2 == odd) for n in range(8)) for odd in (0, 1)}
    assert pods & {tuple(split.tolist()) for split in balanced_splits(net, design.fabric)}


def test_links_of_one_bundle_and_of_two(tmp_path: Path) -> None:
    """Without two links of one bundle two paths are left, without one of each three: their pairs are not alike. Where bundles
    are not asked about, the four are, and one case stands for all."""
    text = """
fabric f {
  host node[2]: NODE
  switch leaf[2]: BIG
  connect node[n].nic[r] to leaf[n]
  connect leaf[0] to leaf[1] x 4 { bundle 2 }
  connect leaf[0] to leaf[1]
  require survives any 2 links of leaf[0] to leaf[1] with edge_redundancy <= 2
  require survives any 2 links of leaf[0] to leaf[1] with edge_redundancy <= 3
  require survives any 1 links of leaf[0] to leaf[1] with reachability
}
"""
    (design,) = compile_text(text, tmp_path).designs
    assert design.fabric is not None, design.findings
    asked = {r.requirement: r.status for r in design.results if (r.requirement or "").startswith("survives")}
    assert list(asked.values()) == ["refuted", "proved", "proved"], asked
    proofs = verified_certificates(design.fabric, design.claims, design.results)
    name = "survives-3.json"
    assert len(json.loads(proofs.texts[name])["cases"]) == 2


def test_what_is_certain_of_failures_at_hosts_with_one_link(tmp_path: Path) -> None:
    """Three hosts with one link each at one leaf: whichever one is lost, the two that are left reach each other; of one nothing
    is said, and without the leaf nothing."""
    text = """
fabric f {
  host node[3]: NODE
  switch leaf: BIG
  connect node[n].nic[0] to leaf
}
"""
    (design,) = compile_text(text, tmp_path, verify=False).designs
    assert design.fabric is not None, design.findings
    gone, lost = np.zeros((6, design.fabric.device_count), dtype=np.bool_), np.zeros((6, 3), dtype=np.bool_)
    lost[1, 0] = lost[2, 2] = lost[3, 0] = lost[3, 1] = True
    gone[4, int(np.flatnonzero(~design.fabric.is_end)[0])] = gone[5, int(np.flatnonzero(design.fabric.is_end)[0])] = True
    lost[4] = lost[5, 0] = True
    certain = Connected(View.whole(design.fabric)).certain(Failures(gone, lost))
    assert certain.tolist() == [True, True, True, False, False, True]
