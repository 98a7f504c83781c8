"""The bounds of bisection meet on every Clos: intents of two and three tiers in which each switch meets all of the next tier."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Severity
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.network import Network
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.harness import compile_text

MODELS = """
model switch S {{ port p[1..{ports}]: 400Gbps {{ type GE }} }}
model host N {{ port nic[{links}]: 400Gbps {{ type GE }} }}
"""
AIMS = ["1:1", "2:1", "3:1", "3:2", "4:3", "1:2", "at most 7:1", "about 5:3"]


def is_clos(net: Network) -> bool:
    """Whether switches of a tier meet the same ones of the next tier, or none in common."""
    joined = np.zeros((len(net.transit), len(net.transit)), dtype=np.bool_)
    joined[net.trunks.a, net.trunks.b] = joined[net.trunks.b, net.trunks.a] = True
    for tier in range(1, int(net.tier.max(initial=0))):
        up = joined[np.ix_(net.tier == tier, net.tier == tier + 1)]
        shared = up.astype(np.int64) @ up.T.astype(np.int64) > 0
        if not all((up[shared[i]] == row).all() for i, row in enumerate(up)):
            return False
    return True


@st.composite
def intents(draw: st.DrawFn) -> str:
    links = draw(st.sampled_from([1, 1, 2, 4]))
    inside = f"{draw(st.sampled_from(['rails', 'planes']))} {links}" if links > 1 else ""
    ports = draw(st.sampled_from([16, 32, 64]))
    omitted = "; omit spine[1]" if draw(st.booleans()) else ""
    if draw(st.booleans()):
        hosts = draw(st.integers(3, 200))
        clos = f"clos {{ leaf S; spine S; oversubscription {draw(st.sampled_from(AIMS))}{omitted} }}"
    else:
        each, racks, pods = (draw(st.sampled_from(x)) for x in ([2, 4, 8], range(2, 6), range(2, 6)))
        hosts = each * racks * pods
        clos = f"""clos {{
          tier rack of {each} hosts {{ switch S }}
          tier pod of {racks} rack {{ switch S; oversubscription {draw(st.sampled_from(AIMS))} }}
          tier core of {pods} pod {{ switch S; oversubscription {draw(st.sampled_from(AIMS))} }}
        }}"""
    return MODELS.format(ports=ports, links=links) + f"fabric f {{\n hosts {hosts} x N\n {inside}\n {clos}\n}}"


@settings(deadline=None, max_examples=40)
@given(intents())
def test_the_bounds_meet(tmp_path_factory, text):
    result = compile_text(text, tmp_path_factory.getbasetemp(), verify=False)
    fabric = result.designs[0].fabric if result.designs else None
    assume(fabric is not None and not any(d.severity is Severity.ERROR for d in result.findings))
    view = View.whole(fabric)
    assume(len(view.units) > 1 and is_clos(unit_network(view)))
    found = bisection_bounds(view)
    assert found.lower == found.upper
