"""Throughput by rail and through the scale-up domain, against one linear program."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import verify
from tdsl.certificates.write import certificates_by_file_name
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.by_rail import ByRail
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tdsl.verify.check import checks_by_name
from tests.certificates.made import as_json, headed, rejected
from tests.fabrics import claim, rail_only, selector, superpod, without
from tests.prove.networks import greatest_factor

PATTERNS = ("ring", "shift", "rail_allreduce", "permutation", "matrix", "all_to_all")
SEEDS = st.integers(0, 10**6)


def asked_of(pattern, count, seed, folder):
    """Arguments of a claim, and what they say between hosts by their place."""
    rng = np.random.default_rng(seed)
    if pattern == "all_to_all":
        return (pattern,), None
    by = 1 + int(rng.integers(count - 1)) if pattern == "shift" else 1
    if pattern in ("ring", "shift", "rail_allreduce"):
        return (pattern, *([by] if pattern == "shift" else [])), {(i, (i + by) % count): 1 for i in range(count)}
    if pattern == "permutation":
        to = rng.permutation(count).tolist()
        pairs = {(i, t): 1 for i, t in enumerate(to) if i != t} or {(0, 1): 1}
        (folder / "p.csv").write_text("from,to\n" + "".join(f"{i},{t}\n" for i, t in pairs))
        return (pattern, "p.csv"), pairs
    amounts = rng.integers(0, 3, (count, count)) * (1 - np.eye(count, dtype=np.int64))
    amounts[0, 1] = 1
    (folder / "m.csv").write_text("\n".join(",".join(map(str, row)) for row in amounts.tolist()))
    return ("m.csv",), {(i, j): int(x) for (i, j), x in np.ndenumerate(amounts) if x}


def ends_of(f):
    """Of every host its device and, by the index of the port at its end, the rails that it has a link of."""
    found = {d: set() for d in View.whole(f).units.tolist()}
    for a in f.link_a.tolist():
        if (d := int(f.port_device[a])) in found:
            found[d].add(f.port_class(a)[1])
    return [(d, sorted(found[d])) for d in sorted(found)]


def claimed(f, word, *args, folder="", **given):
    """A requirement written in a file of that folder."""
    asked = claim(f, "throughput", args=(word if word.endswith(".csv") else BareWord(word), *args), **given)
    return replace(asked, origin=Origin(SourceSpan(SourceFile(f"{folder}/design.fab", "require"), 0, 7)))


def judged(f, *args, **given):
    return checks_by_name()["throughput"].judge(View.whole(f), claimed(f, *args, **given))


def made(seed):
    """Two units of rails over spines, or rails alone, without a few links."""
    rng = np.random.default_rng(seed)
    pods = superpod(2, 2, 2, 1 + seed % 2, uplinks=2, omit_last=False, manager=False)
    f = (pods if seed % 4 else rail_only(3 + seed % 2, 2)).build()
    return without(f, rng.choice(f.link_count, int(rng.integers(4)), replace=False).tolist())


def arcs_of(f, by_rail):
    hosts = {d for d, _ in ends_of(f)}
    for a, b, rate in zip(f.link_a.tolist(), f.link_b.tolist(), f.link_rate.tolist(), strict=True):
        x, y = int(f.port_device[a]), int(f.port_device[b])
        x = (x, f.port_class(a)[1]) if by_rail and x in hosts else x
        if {y, x if isinstance(x, int) else y} <= hosts | set(np.flatnonzero(f.is_switch).tolist()):
            yield x, y, rate
            yield y, x, rate


def wanted(f, pairs, by_rail, ring):
    """Demands between ends: ``pairs`` between hosts by their place (None: all to all), laid out by hand."""
    hosts = ends_of(f)
    if not by_rail:
        ends = [d for d, _ in hosts]
        pairs = pairs if pairs is not None else {(i, j): 1 for i in range(len(ends)) for j in range(len(ends)) if i != j}
        return {(ends[i], ends[j]): x for (i, j), x in pairs.items()}
    every = [(d, r) for d, rails in hosts for r in rails]
    if pairs is None:
        return {(x, y): 1 for x in every for y in every if x != y}
    if ring:
        rails = [[x for x in every if x[1] == r] for r in sorted({r for _, r in every})]
        return {(x, mine[(i + 1) % len(mine)]): 1 for mine in rails if len(mine) > 1 for i, x in enumerate(mine)}
    common = {p: set(hosts[p[0]][1]) & set(hosts[p[1]][1]) for p in pairs}
    if not all(common.values()):
        return None
    return {((hosts[i][0], r), (hosts[j][0], r)): x for (i, j), x in pairs.items() for r in common[i, j]}


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from(PATTERNS), st.booleans())
def test_every_pattern_against_one_linear_program(tmp_path_factory, seed, pattern, through):
    f, folder = made(seed), tmp_path_factory.mktemp("files")
    args, pairs = asked_of(pattern, len(ends_of(f)), seed, folder)
    found = judged(f, *args, folder=folder, through="scaleup" if through else "")
    by_rail = not through and ByRail.of(View.whole(f)) is not None
    demands = wanted(f, pairs, by_rail, pattern in ("ring", "rail_allreduce"))
    inner = set(np.flatnonzero(f.is_switch).tolist())
    best = 0 if demands is None else greatest_factor(list(arcs_of(f, by_rail)), inner, demands) * sum(demands.values())
    if found.status == "skipped":
        assert not all(rails for _, rails in ends_of(f)) if by_rail else best == pytest.approx(0, abs=1)
        return
    low, high = found.measures["lower_bps"], found.measures["upper_bps"]
    assert low <= best * (1 + 1e-6) + 1 and high >= best * (1 - 1e-6) - 1
    if found.status == "proved":
        assert low == high == pytest.approx(best, rel=1e-6, abs=1)
    else:
        assert pattern == "all_to_all" or high <= low * 1.001


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_certificates_of_all_to_all(seed):
    """Among hosts and among their rails: two files, and each is rejected under the other's name."""
    f = made(seed)
    asked = [claim(f, "throughput", args=(BareWord("all_to_all"),), through=word) for word in ("", "scaleup")]
    proofs, fabric = headed(f, certificates_by_file_name(f, asked, [])), as_json(f)
    for proof in proofs.values():
        verify(proof, fabric)
        found = checks_by_name()["throughput"].judge(View.whole(f), asked[proof["pattern"] == "all_to_all"])
        all_bps = [float(Fraction(proof[k])) * found.witness["pairs"] for k in ("lower_bps", "upper_bps")]
        assert all_bps == pytest.approx([*found.measures.values()])
        other = "all_to_all" if proof["pattern"] != "all_to_all" else "all_to_all by rail"
        assert rejected({**proof, "pattern": other}, fabric) or ByRail.of(View.whole(f)) is None
    assert set(proofs) <= {"throughput-all_to_all.json", "throughput-all_to_all_by_rail.json"}


def test_rails_that_do_not_meet():
    """All to all has no way from one rail to the other but through the hosts."""
    f = rail_only(8, 4).build()
    alone, inside = judged(f, "all_to_all"), judged(f, "all_to_all", through="scaleup")
    assert (alone.status, alone.value, inside.status, inside.value) == ("proved", 0, "proved", 1)
    assert alone.text == "0%: rail 0 and rail 1 are not connected by scale-out alone, 100% through scaleup"
    assert "`through scaleup`" in alone.help and alone.witness["pairs"] == 32 * 31
    assert inside.text == "100%: 12.8 of 12.8 Tbps through scaleup, 0% by scale-out alone"
    for args in (("ring",), ("shift", 3), ("rail_allreduce",)):
        found = judged(f, *args)
        assert (found.value, found.text) == (1, "100%: 12.8 of 12.8 Tbps")
        assert found.witness["scaleout"] == found.witness["scaleup"] == [1, 1]
        assert found.witness["planes"] == [[1, 1]] * 4


def test_a_leaf_with_half_its_links_halves_its_rail_and_no_more_than_an_eighth_of_the_host():
    """Two units of 8 rails: rail 7 of the second has 4 of 8 links up. All its traffic leaves the unit, so by scale-out alone half
    of it flows; through the scale-up domain other rails take what is over: 60 of 64 links."""
    f = superpod(2, 8, 8, 2, omit_last=False, manager=False).build()
    leaf = selector(f, "su.leaf").elements[15].devices[0]
    trunks = np.flatnonzero((f.device_a == leaf) & f.is_switch[f.device_b])
    f = without(f, trunks[:2].tolist() + trunks[-2:].tolist())
    alone, inside = judged(f, "shift", 8), judged(f, "shift", 8, through="scaleup")
    assert (alone.status, alone.value) == ("proved", Fraction(1, 2))
    assert float(inside.lower) == pytest.approx(60 / 64, abs=1e-3) == float(inside.upper)
    assert "by scale-out alone, " in alone.text and "through scaleup, 50% by scale-out alone" in inside.text


def test_a_port_that_is_missing_is_no_end():
    """A host without one of its ports has no end on that rail: the others go on, and two with no rail in common cannot."""
    f = rail_only(3, 2).build()
    f = without(f, [0])
    found = judged(f, "shift", 1)
    assert (found.value, found.measures["lower_bps"]) == (1, (3 + 1) * 400e9)
    f = without(f, [2])  # now host 0 has rail 1 only and host 1 rail 0 only
    assert judged(f, "shift", 1).text.startswith("0%: node0 and node1 have no rail in common")
    assert judged(f, "ring").value == 1
    f = without(f, [0])  # host 0 has no port left
    for args in (("ring",), ("shift", 1), ("all_to_all",)):
        assert [judged(f, *args, through=word).status for word in ("", "scaleup")] == ["skipped"] * 2
