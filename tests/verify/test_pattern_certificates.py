"""Certificates of patterns: the stand-alone checker accepts what is written, and nothing that shows more than is so."""

from __future__ import annotations

import json
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates import checker
from tdsl.certificates.checker import Rejected, verify
from tdsl.certificates.write import certificates_by_file_name
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.budget import DEFAULT
from tdsl.semantics.values import BareWord
from tests.cli.run import tdsl
from tests.fabrics import claim, multiplane, rail_only, random_chips, random_fabric, random_layers, selector, superpod, torus
from tests.verify.test_certificates import as_json, headed, leaves, put, shown

SCRIPT = Path(checker.__file__)
SEEDS = st.integers(0, 10**6)
WORDS = [(BareWord("ring"),), (BareWord("shift"), 3), (BareWord("rail_allreduce"),)]


def made(f, folder=None, more=(), budget=DEFAULT):
    """Certificates of the patterns that the fabric can be asked for."""
    asked = [claim(f, "throughput", args=args) for args in WORDS]
    asked += [claim(f, "throughput", args=args, through="scaleup") for args in WORDS]
    if folder is not None:
        origin = Origin(SourceSpan(SourceFile(str(folder / "design.fab"), "require"), 0, 7))
        asked += [
            replace(claim(f, "throughput", args=args), origin=origin) for args in (("m.csv",), (BareWord("permutation"), "p.csv"))
        ]
    return headed(f, certificates_by_file_name(f, [*asked, *more], [], budget))


def rejected(certificate, fabric):
    try:
        verify(certificate, fabric)
    except Rejected:
        return True
    return False


@cache
def examples():
    """Certificates with their fabrics; bounds by a linear program and by weights, ports and lengths."""
    out = []
    trees = [superpod(3, 4, 2, 4), superpod(2, 4, 2, 2, uplinks=2), rail_only(4, 2)]
    fabrics = [*trees, torus(3, 4), multiplane(2, 8), random_chips(5, 6, 12)]
    for f in (x.build() for x in fabrics):
        out += [(c, as_json(f)) for c in made(f).values()]
    f = random_layers(8).build()
    out += [(c, as_json(f)) for c in made(f, budget=replace(DEFAULT, arc_program_cells=0)).values()]
    f = superpod(2, 4, 2, 2, uplinks=2).build()
    both = [selector(f, "su").elements[i : i + 1] for i in (0, 1)]
    one, two = (replace(selector(f, "su"), elements=e) for e in both)
    out += [(c, as_json(f)) for c in made(f, more=[claim(f, "throughput", of=(one,), of_to=(two,))]).values()]
    return out


def test_what_is_written_is_accepted():
    patterns, upper = set(), set()
    for certificate, fabric in examples():
        verify(certificate, fabric)
        patterns.add(certificate["pattern"])
        upper.add(bool(certificate["upper"]["lengths"]))
        assert 0 < Fraction(certificate["lower_bps"]) <= Fraction(certificate["upper_bps"])
        if certificate["upper"]["lengths"]:  # both bounds are of one network: of all switches, or of one for those that are equal
            assert ("quotient" in certificate["lower"]) == ("quotient" in certificate["upper"])
    assert patterns >= {"ring", "shift 3", "rail_allreduce", "between"} and upper == {False, True}


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 5), st.integers(1, 3), st.integers(0, 9), st.integers(0, 2))
def test_random_fabrics(seed, switches, hosts, nics, cables, which):
    f = (random_fabric(seed, switches, hosts, nics, cables, 1), random_layers(seed), random_chips(seed, 6, 12))[which].build()
    for certificate in made(f).values():
        verify(certificate, as_json(f))


def test_matrices_and_permutations_need_no_file(tmp_path):
    f = superpod(2, 4, 2, 2, uplinks=2).build()
    (tmp_path / "m.csv").write_text("from,to,amount\n0,4,2.5\n4,1,1\n6,2,3\n")
    (tmp_path / "p.csv").write_text("from,to\n0,6\n6,3\n")
    found = [c for c in made(f, tmp_path).values() if c["pattern"].startswith("file")]
    assert [c["pattern"] for c in found] == ["file by rail", "file by rail"]
    for certificate in found:
        verify(certificate, as_json(f))
        other = deepcopy(certificate)
        other["demands"][0][2] += 1
        assert rejected(other, as_json(f))


# ---------------------------------------------------------------- tampering


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_flow_or_a_headline_that_is_changed_is_rejected(data):
    """Any number of the lower end or the statement, a step left out, a step to another device."""
    certificate, fabric = data.draw(st.sampled_from(examples()))
    certificate = deepcopy(certificate)
    flows = certificate["lower"]["routes"][0]["flows"]
    steps = [(s, i) for s, flow in flows.items() for i in range(len(flow))]
    how = data.draw(st.sampled_from(["number", "less", "swapped", "reversed", "headline", "source"] if steps else ["headline"]))
    if how == "headline":
        key = data.draw(st.sampled_from(sorted({"lower_bps", "upper_bps", "units"} & set(certificate))))
        more = {"lower_bps": (1, 3), "upper_bps": (-3, -1)}.get(key, (1, 3))  # less may be stated than is shown
        certificate[key] = type(certificate[key])(Fraction(certificate[key]) + data.draw(st.integers(*more)))
    elif how == "source":
        del flows[data.draw(st.sampled_from(sorted(flows)))]
    else:
        source, i = data.draw(st.sampled_from(steps))
        step = flows[source][i]
        if how == "number":
            step[2] += data.draw(st.integers(-step[2], 9).filter(bool))
        elif how == "less":
            del flows[source][i]
        elif how == "reversed":
            step[0], step[1] = step[1], step[0]
        else:
            names = [row[0] for row in fabric["devices"]["rows"] if row[0] not in step]
            step[data.draw(st.integers(0, 1))] = data.draw(st.sampled_from(names))
    assert rejected(certificate, fabric)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_other_proof_shows_more(data):
    """Whatever is changed inside, where both ends meet neither a greater lower bound nor a smaller upper one is accepted."""
    certificate, fabric = data.draw(st.sampled_from([e for e in examples() if e[0]["lower_bps"] == e[0]["upper_bps"]]))
    true = Fraction(certificate["lower_bps"])
    honest, certificate = certificate, deepcopy(certificate)
    names = [row[0] for row in fabric["devices"]["rows"]]
    inner = [w for w in leaves(certificate) if w[0] in ("lower", "upper")]
    for _ in range(data.draw(st.integers(0, 3))):
        way = data.draw(st.sampled_from(inner))
        put(certificate, way, data.draw(st.sampled_from([0, 1, 2, 7, -1, 10**12, "none", "ports", "lengths", *names])))
    for end, other in (("lower", "upper"), ("upper", "lower")):
        found = shown({**certificate, other: honest[other]}, fabric, end)
        assert found is None or (found <= true if end == "lower" else found >= true)


def test_another_fabric_is_rejected():
    """Without the links that its flows fill, a certificate is of nothing."""
    for certificate, fabric in examples():
        used = {frozenset(step[:2]) for flow in certificate["lower"]["routes"][0]["flows"].values() for step in flow}
        less = deepcopy(fabric)
        less["links"]["rows"] = [row for row in less["links"]["rows"] if frozenset(row[:2]) not in used]
        assert len(less["links"]["rows"]) == len(fabric["links"]["rows"]) or rejected(certificate, less)
        assert rejected({**certificate, "fabric": "other"}, fabric)


# ---------------------------------------------------------------- the file and the command


DESIGN = """fabric f {
  host node[8]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 2
  report throughput ring
  report throughput rail_allreduce
  report throughput rail_allreduce through scaleup
  report throughput "m.csv"
  report throughput of node[0..3] to node[4..7]
}
"""


def test_a_design_from_end_to_end(tmp_path):
    (tmp_path / "f.fab").write_text(DESIGN)
    (tmp_path / "m.csv").write_text("from,to,amount\n0,4,2.5\n4,1,1\n")
    proofs, built = tmp_path / "proofs", tmp_path / "built"
    assert tdsl("check", str(tmp_path / "f.fab"), "--certificates", str(proofs)).exit_code == 0
    assert tdsl("build", str(tmp_path / "f.fab"), "--out", str(built)).exit_code == 0
    found = sorted((proofs / "f").glob("throughput-*.json"))
    assert len(found) == 5
    for path in found:
        call = [sys.executable, "-I", str(SCRIPT), str(path), str(built / "fabric.json")]
        done = subprocess.run(call, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("verified: throughput "), done
    wrong = json.loads(found[0].read_text())
    wrong["lower_bps"] = str(Fraction(wrong["lower_bps"]) + 1)
    found[0].write_text(json.dumps(wrong))
    call = [sys.executable, "-I", str(SCRIPT), str(found[0]), str(built / "fabric.json")]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("rejected: ")
