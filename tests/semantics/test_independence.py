"""Each fabric of a file is judged on its own: what is wrong in one says nothing of another."""

from __future__ import annotations

import pytest

from tests.harness import compile_text

GOOD = "fabric good { host n[2]: BOX; switch s: SW; connect n[k].nic[(0)] to s; require reachability }\n"


@pytest.mark.parametrize(
    "broken",
    [
        "fabric bad { host n[2]: NO_SUCH_HOST; require reachability }",
        "fabric bad { host n[2]: BOX; switch s: SW; connect n[k].nic[(7)] to s }",
        "fabric bad { host n[2]: BOX; switch s: SW; connect n[k].nope to s }",
        "fabric bad { hosts 8 x BOX; clos { leaf SW; no_such 3 } }",
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_broken_fabric_leaves_the_others_judged(broken, first, tmp_path):
    compiled = compile_text(GOOD + broken if first else f"{broken}\n{GOOD}", tmp_path)
    assert any(d.severity.name == "ERROR" for d in compiled.findings)
    (design,) = [d for d in compiled.designs if d.name == "good"]
    assert design.fabric is not None and design.fabric.complete
    assert [r.status for r in design.results if r.requirement] == ["proved"]
    assert not design.findings or all(d.span.text not in GOOD for d in design.findings if d.severity.name == "ERROR")


@pytest.mark.parametrize(
    "wrong", ["model host ODD { port p[1..x]: 1Gbps }", "let k = 1 / 0", "extend good { host more: NO_SUCH }"]
)
def test_what_is_wrong_outside_all_fabrics_speaks_against_each(wrong, tmp_path):
    compiled = compile_text(f"{GOOD}{wrong}\n", tmp_path)
    assert any(d.severity.name == "ERROR" for d in compiled.findings)
    assert all(d.fabric is None or not d.fabric.complete for d in compiled.designs)


def test_members_of_a_cluster_are_judged_apart(tmp_path):
    text = "cluster c { host n[2]: BOX\nfabric one { switch s: SW; connect n[k].nic[(0)] to s; require reachability }\n"
    text += "fabric two { switch s: SW; connect n[k].nic[(1)] to t } }"
    compiled = compile_text(text, tmp_path)
    found = {d.name: [r.status for r in d.results if r.requirement] for d in compiled.designs}
    assert found["one"] == ["proved"]
