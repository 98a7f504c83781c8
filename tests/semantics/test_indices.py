"""Index variables over two extents, narrowed by a guard; rails of groups of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text, links_of


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(a=st.integers(1, 6), b=st.integers(1, 6), limit=st.integers(0, 7), low=st.integers(0, 2))
def test_a_guard_narrows_before_extents_are_compared(a: int, b: int, limit: int, low: int, tmp_path: Path) -> None:
    text = f"fabric f {{ switch a[{low}..{low + a - 1}]: SW\n switch b[{b}]: SW\n connect a[i] to b[i] where i < {limit} }}"
    result = compile_text(text, tmp_path, verify=False)
    codes = {d.code for d in result.findings if d.severity is Severity.ERROR}
    inside_a, inside_b = set(range(low, low + a)), set(range(b))
    left = {i for i in range(min(low, 0), max(low + a, b)) if i < limit}
    if inside_a != inside_b and not left <= inside_a & inside_b:
        assert codes == {"E0107"}
        return
    assert codes <= {"E0123"}
    fabric = result.designs[0].fabric
    assert fabric is not None
    assert links_of(fabric) == {(f"a[{i}].p[1]", f"b[{i}].p[1]") for i in left & inside_a}


EDGE = """fabric edge {
 site core { host node[8]: NODE; switch leaf[4]: BIG; switch agg: BIG
  connect node[n].nic[r] to leaf[CORE]
  connect leaf[*] to agg spread x 4 }
 site edge[2] { host inf[2]: NODE; switch tor: BIG
  connect inf[n].nic[r] to tor }
 connect edge[e].tor to core.agg x 2
 require rail_alignment
}"""


@pytest.mark.parametrize(("core", "status"), [("r", "proved"), ("(r + n//7) % 4", "refuted")])
def test_rails_are_judged_for_like_hosts(core: str, status: str, tmp_path: Path) -> None:
    (result,) = [r for r in compile_text(EDGE.replace("CORE", core), tmp_path).designs[0].results if r.requirement]
    assert result.status == status
    if status == "proved":
        assert result.witness["without_rails"] == ["edge.inf"] and "edge.inf serve several rails" in result.text
