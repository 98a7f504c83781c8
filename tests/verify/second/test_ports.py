"""Ports and rails by the second opinion: against counts over the columns of small random fabrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from tdsl.fabric.graph import FREE, HOLE, Fabric
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tdsl.verify.second import ports
from tdsl.verify.second.answer import Limits, NoOpinion
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import Builder, claim

LIMITS = Limits()


def rails(seed: int) -> Fabric:
    """Hosts of one or two declarations, each NIC at the switch of its rail or at any; some NICs have two indexes."""
    r = Random(seed)
    b = Builder("rails")
    count = r.choice((2, 2, 3))
    switch = b.devices("rail", b.model("switch", "SW", {"p": 64}), count)
    for name, wild in (("node", r.choice((0.0, 0.1, 0.3, 1.0))), ("extra", r.choice((0.0, 1.0))))[: r.choice((1, 1, 2))]:
        shape = (count, 2) if r.random() < 0.4 else (count,)
        host = b.devices(name, b.model("host", name.upper(), {"nic": {"shape": shape}}, accelerators=1), r.randint(1, 4))
        each = 2 if len(shape) > 1 else 1
        for n, rail, k in product(range(host.count), range(count), range(each)):
            at = r.randrange(count) if r.random() < wild else rail
            b.link(b.port(host, n, "nic", rail * each + k), b.free(switch, at))
    if r.random() < 0.5:  # storage has no rail
        store = b.devices("store", b.model("host", "STORE", {"nic": count}), 1, role="storage")
        for rail in range(count):
            b.link(b.port(store, 0, "nic", rail), b.free(switch, (rail + 1) % count))
    return b.build()


def test_rails_of_random_fabrics() -> None:
    """The same as the check says; where there are no rails, no opinion but on a requirement."""
    seen: Counter[str] = Counter()
    for seed in range(100):
        fabric = rails(seed)
        w, view = WiringGraph.whole(fabric), View.whole(fabric)
        asked = claim(fabric, "rail_alignment")
        known = checks_by_name()["rail_alignment"].judge(view, asked).status
        seen[known] += 1
        if known == "skipped":
            with pytest.raises(NoOpinion, match=r"^the design is not organised by rails$"):
                ports.rail_alignment_by_networkx(w, None, LIMITS)
            assert ports.rail_alignment_by_networkx(w, asked, LIMITS).holds is False
            continue
        assert ports.rail_alignment_by_networkx(w, asked, LIMITS).holds is (known == "proved"), seed
    assert min(seen[x] for x in ("proved", "refuted")) > 5, seen


def test_indexes_as_many_as_planes() -> None:
    """Where the only index of a NIC counts the planes it is no rail; where there are more indexes than planes it is one."""
    for planes, nics, rail in ((2, 2, False), (2, 4, True), (3, 3, False), (1, 1, True)):
        b = Builder("planes")
        host = b.devices("node", b.model("host", "NODE", {"nic": nics}, accelerators=1), 2)
        leaf = b.devices("plane pl.leaf", b.model("switch", "SW", {"p": 16}), planes, None)
        for n, i in product(range(2), range(nics)):
            b.link(b.port(host, n, "nic", i), b.free(leaf, i % planes))
        assert bool(ports.rails_of_links(WiringGraph.whole(b.build()))[0]) is rail, (planes, nics)


def test_ports_that_carry_a_link() -> None:
    """A port is used once, is marked as used, exists, and its device is built and has as many ports as links."""
    b = Builder("pair")
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}), 2)
    for i in range(2):
        b.link(b.port(node, 0, "nic", i), b.port(node, 1, "nic", i))
    fabric = b.build()

    def budget(**changed: object) -> bool | None:
        made = replace(fabric, **changed)  # type: ignore[arg-type]
        return ports.port_budget_by_networkx(replace(WiringGraph.whole(fabric), fabric=made), None, LIMITS).holds

    assert budget() is True
    for port, state in product(range(4), (FREE, HOLE)):
        column = fabric.port_state.copy()
        column[port] = state
        assert budget(port_state=column) is False
    for device in range(2):
        built = fabric.built.copy()
        built[device] = False
        assert budget(built=built) is False
    for name, row, port in (
        ("link_a", 0, 1),
        ("link_b", 1, 2),
        ("link_b", 1, 4),
        ("link_b", 1, 9),
        ("link_via_a", 0, 0),
        ("link_via_b", 1, 3),
    ):
        column = getattr(fabric, name).copy()
        column[row] = port
        assert budget(**{name: column}) is False, (name, row, port)
