"""Ports that links use, where no design says it: wrong entries of columns. Rates and types of ports are in ``judged``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tdsl.fabric.graph import FREE, Fabric
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.harness import compile_text
from tests.prove.networks import wired


def test_wrong_use_of_ports() -> None:
    """A port beyond the last, one with two links, one of a device that is not built, one that is not counted: of the first reason
    that applies, at the last statement that uses it."""
    f = wired("h0-s0 h1-s0 s0-s1")
    a, b, last = int(f.link_a[0]), int(f.link_b[1]), int(f.port_base[-1])
    none = np.full(3, -1)
    unbuilt, free = f.built.copy(), f.port_state.copy()
    unbuilt[f.port_device[b]], free[b] = False, FREE
    for changed, port, reason in (
        ({"link_via_b": np.array([last, -1, -1]), "built": unbuilt}, last, "is beyond the last port"),
        ({"link_via_a": np.array([-1, a, -1]), "built": unbuilt}, a, "carries 2 links"),
        ({"built": unbuilt, "port_state": free}, None, "carries a link, but its device is not built"),
        ({"port_state": free}, b, "carries a link that its device does not count"),
    ):
        found = judged(replace(f, **{"link_via_a": none, "link_via_b": none, **changed}))
        (fault,) = found.faults
        assert (found.status, found.value, fault.message) == ("refuted", False, found.text) and reason in found.text
        assert fault.help == "use another port, or a device with more ports"
        if port is not None:
            name = f.port_path(port) if port < last else f"port {port}"
            assert found.witness["port"] == name and found.text.startswith(name)
            assert bool(fault.labels) == (port < last)


def test_the_switch_with_the_fewest_free_ports() -> None:
    found = judged(wired("h0-s0*3 h1-s1*2 s0-s1"))
    assert (found.status, found.text) == ("proved", "tightest: s0 has 60 of 64 ports free")
    assert found.witness == {"tightest": "s0", "free": {"s": 60}}


def judged(f: Fabric) -> Judgement:
    return checks_by_name()["port_budget"].judge(View.whole(f), None)


def test_free_ports_are_those_that_links_of_the_network_can_take(tmp_path: Path) -> None:
    """Not the one for management, in another network; all of a class of which a part is split; not at a switch with one port."""
    text = """
    model switch SW { port p[1..8]: 400Gbps { type GE400; split 2 }; port mgmt: 1Gbps { type BASE_T } }
    model switch ACCESS { port p[1..4]: 1Gbps { type BASE_T } }
    model host H { port nic: 400Gbps { type GE400 }; port bmc: 1Gbps { type BASE_T } }
    cluster c {
      host h[4]: H
      switch leaf: SW { split p[8] 2 }
      fabric data { connect h[n].nic to leaf }
      fabric access { switch a[2]: ACCESS; connect leaf.mgmt to a[(0)]; connect h[n].bmc to a[n//2] }
    }
    """
    found = [r.text for d in compile_text(text, tmp_path, models=False).designs for r in d.results if r.check == "port_budget"]
    assert found[:2] == ["tightest: leaf has 5 of 9 ports free", "tightest: access-a0 has 1 of 4 ports free"]
