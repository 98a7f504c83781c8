"""Scale-up domains as endpoints: devices, links, names, demands and loads against their definitions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove import by_domain
from tdsl.prove.budget import DEFAULT
from tdsl.prove.by_domain import ByDomain, _share_by_common_switches, domain_spans_units, units_with_joined_accelerators
from tdsl.prove.demands import TrafficDemand, UnfitDemand
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder
from tests.harness import compile_text

UP = 800 * GBPS
DESIGN = """
model chip ACC { port nv[8]: 800Gbps { type NVLINK5 } }
model switch XBAR { port p[64]: 800Gbps { type NVLINK5 } }
model switch SW { port p[1..32]: 400Gbps { type NDR } }
model host TRAY { port nic[2]: 400Gbps { type NDR }; chip gpu[2]: ACC }
fabric f {
  rack even[2] {
    host tray[2]: TRAY
    switch xbar[2]: XBAR
    connect tray[t].gpu[g].nv[k] to xbar[0] where k <= t { layer scaleup; medium backplane }
    connect tray[t].gpu[g].nv[k] to xbar[1] where k > 5 { layer scaleup; medium backplane }
  }
  rack odd {
    host tray[3]: TRAY
    switch xbar: XBAR
    connect tray[t].gpu[g].nv[k] to xbar where k < 5 { layer scaleup; medium backplane }
  }
  host lone: TRAY
  switch leaf[2]: SW
  connect lone.nic[r] to leaf[r]
  connect even[k].tray[t].nic[r] to leaf[r]
  connect odd.tray[t].nic[r] to leaf[r]
}
"""
"""A host alone, two domains of two hosts on two switches, unevenly, and one of three hosts."""


@cache
def mixed() -> View:
    with TemporaryDirectory() as folder:
        (design,) = compile_text(DESIGN, Path(folder), models=False, verify=False).designs
    assert design.fabric is not None
    return View.whole(design.fabric.network)


def random_view(seed: int) -> View:
    """Hosts of two declarations in domains by chance, with storage and switches; some links are between hosts."""
    rng = Random(seed)
    b = Builder("domains")
    one = b.devices("one", b.model("host", "ONE", {"p": 40}), rng.randint(1, 4), role="accelerator")
    switches = b.devices("sw", b.model("switch", "SW", {"p": 40}), rng.randint(2, 3))
    two = b.devices("pod.two", b.model("host", "TWO", {"p": 40}), rng.randint(1, 2), 2, role="accelerator")
    storage = b.devices("store", b.model("host", "STORE", {"p": 9}), 1, role="storage")
    b.connect("connect all")
    for s in (one, two, storage):
        for row in range(s.count):
            for _ in range(rng.randint(1, 3)):
                b.link(b.free(s, row), b.free(switches, rng.randrange(switches.count)), rng.choice([100, 400]) * GBPS)
    b.link(b.free(switches, 0), b.free(switches, 1))
    if seed % 3 == 0:
        b.link(b.free(two, 0), b.free(one, 0))
    f = b.build()
    f.__dict__["domains"] = SimpleNamespace(of_device=np.array([rng.choice([-1, 0, 1, 2]) for _ in range(f.device_count)]))
    view = View.whole(f)
    between = np.flatnonzero(f.is_end[f.device_a] & f.is_end[f.device_b])
    if seed % 2:
        view = replace(view, rows=np.array(sorted(rng.sample(range(f.link_count), f.link_count - 2)), dtype=np.int64))
    if seed % 6 == 3 and len(between):
        view = replace(view, rows=between)
    return view


def domains_by_hand(view: View) -> list[frozenset[int]]:
    """Hosts by domain, those in none each alone."""
    label = view.fabric.domains.of_device
    keys = [int(label[d]) if label[d] >= 0 else -1 - d for d in view.units.tolist()]
    return [frozenset(d for d, k in zip(view.units.tolist(), keys, strict=True) if k == key) for key in dict.fromkeys(keys)]


def test_every_domain_is_a_device() -> None:
    """With the links of all its hosts, each at a port of its own, behind the devices of the fabric."""
    for seed in range(60):
        view = random_view(seed)
        found = ByDomain.of(view)
        f, g = view.fabric, found.fabric
        wanted = domains_by_hand(view)
        units = found.units.tolist()
        assert units == list(range(f.device_count, g.device_count)) and len(units) == len(wanted)
        members = [frozenset(view.units[found.domain == k].tolist()) for k in range(len(units))]
        assert set(members) == set(wanted) and found.sizes.tolist() == [len(x) for x in members]
        assert found.hosts.tolist() == view.units.tolist() and found.plain is view and found.rows is view.rows
        unit = {d: units[k] for k, mine in enumerate(members) for d in mine}
        for row in range(f.link_count):
            ends = int(f.device_a[row]), int(f.device_b[row])
            now = int(g.device_a[row]), int(g.device_b[row])
            assert now == (tuple(unit.get(d, d) for d in ends) if row in view.rows else ends), (seed, row)
        ports = [*g.link_a[view.rows].tolist(), *g.link_b[view.rows].tolist()]
        assert len({*ports}) == len(ports)
        degree = Counter(d for row in view.rows.tolist() for d in (int(g.device_a[row]), int(g.device_b[row])))
        most = max(degree[d] for d in units)
        assert {*np.diff(g.port_base[f.device_count :]).tolist()} == {most}
        assert g.port_base[: f.device_count + 1].tolist() == f.port_base.tolist()
        last, behind = g.sets[-1], slice(f.device_count, None)
        assert g.sets[:-1] == f.sets and (last.index, last.first, last.count, last.inside) == (
            len(f.sets),
            f.device_count,
            len(units),
            None,
        )
        assert [(p.name, p.kind, [(a.low, a.size) for a in p.axes]) for p in last.parts] == [
            ("domain", "host", [(0, len(units))])
        ]
        (ports_of,) = last.model.classes
        first = f.set_of(int(view.units[0]))
        assert (last.origin, last.role, last.model.name) == (first.origin, "accelerator", first.model.name)
        assert (ports_of.name, ports_of.size, ports_of.rate) == ("port", most, None) and g.models == (*f.models, last.model)
        assert (g.device_set[behind] == len(f.sets)).all() and (g.device_model[behind] == len(f.models)).all()
        assert g.built[behind].all() and not g.tier[behind].any() and (g.plane[behind] == -1).all()
        assert len(g.built) == len(g.tier) == len(g.plane) == len(g.device_set) == len(g.device_model) == g.device_count
        shown = set(np.flatnonzero(view.devices).tolist()) - set(view.units.tolist()) | set(units)
        assert set(np.flatnonzero(found.devices).tolist()) == set(np.flatnonzero(found.core).tolist()) == shown
        names = [f"the domain of {f.device_name(min(x))}" for x in members]
        assert found.names(found.units) == names
        assert found.names(np.arange(f.device_count)) == [f.device_name(d) for d in range(f.device_count)]


def test_what_has_no_domains() -> None:
    view = random_view(1)
    with pytest.raises(UnfitDemand, match=r"^chips of its network are joined to chips$"):
        ByDomain.of(SimpleNamespace(fabric=view.fabric, units=view.units, direct=True))  # type: ignore[arg-type]


# ---------------------------------------------------------------- demands


def domains(*sizes: int, budget: Any = DEFAULT) -> Any:
    """Domains of so many hosts each, the hosts in an order in turn."""
    order = [k for turn in range(max(sizes)) for k, size in enumerate(sizes) if turn < size]
    made: Any = object.__new__(ByDomain)
    made.domain, made.budget, made.hosts = np.array(order), budget, np.arange(len(order))
    return made


def table(demand: TrafficDemand) -> list[tuple[int, int, int]]:
    return list(zip(demand.source.tolist(), demand.target.tolist(), demand.amount.tolist(), strict=True))


def test_what_domains_exchange() -> None:
    """The sum of what their hosts do, without what stays within one; all pairs in proportion to their sizes."""
    assert domains(2, 2, 2).laid(None) is None and domains(1, 1).laid(None) is None
    assert table(domains(2, 3, 1).laid(None)) == [(0, 1, 6), (0, 2, 2), (1, 0, 6), (1, 2, 3), (2, 0, 2), (2, 1, 3)]
    assert table(domains(1, 2).laid(None)) == [(0, 1, 2), (1, 0, 2)]
    for seed in range(60):
        rng = Random(seed)
        made = domains(*(rng.randint(1, 4) for _ in range(rng.randint(2, 4))))
        count = len(made.domain)
        rows = [(*rng.sample(range(count), 2), rng.randint(1, 9)) for _ in range(rng.randint(1, 12))]
        sums: Counter[tuple[int, int]] = Counter()
        for s, t, x in rows:
            sums[int(made.domain[s]), int(made.domain[t])] += x
        wanted = sorted((s, t, x) for (s, t), x in sums.items() if s != t)
        asked = TrafficDemand(*(np.array(x) for x in zip(*rows, strict=True)))
        if wanted:
            assert table(made.laid(asked)) == wanted
        else:
            with pytest.raises(UnfitDemand, match=r"^nothing that is sent leaves a scale-up domain$"):
                made.laid(asked)


def test_what_one_domain_and_too_many_exchange() -> None:
    for asked in (None, TrafficDemand(np.array([0]), np.array([1]), np.array([1]))):
        with pytest.raises(UnfitDemand, match=r"^all hosts are in one scale-up domain, so nothing has to cross the network$"):
            domains(3).laid(asked)
    assert domains(2, 1, 1, budget=replace(DEFAULT, domain_pairs=9)).laid(None) is not None
    assert domains(2, 2, 2, budget=replace(DEFAULT, domain_pairs=0)).laid(None) is None
    with pytest.raises(UnfitDemand, match=r"^there are too many scale-up domains of several sizes$"):
        domains(2, 1, 1, budget=replace(DEFAULT, domain_pairs=8)).laid(None)


# ---------------------------------------------------------------- loads


def loads_by_hand(made: ByDomain, asked: list[tuple[int, int, int]] | None, sent: Fraction) -> list[Fraction]:
    """What a host sends or receives, whichever is more, of what crosses the network, and the ports that it has."""
    assert made.plain is not None
    count, f = len(made.hosts), made.plain.fabric
    pairs = asked if asked is not None else [(s, t, 1) for s in range(count) for t in range(count) if s != t]
    crossing = sum(x for s, t, x in pairs if made.domain[s] != made.domain[t])
    out = []
    for h, device in enumerate(made.hosts.tolist()):
        most = max(sum(x for s, _, x in pairs if s == h), sum(x for _, t, x in pairs if t == h))
        rows = made.plain.rows
        links = zip(f.device_a[rows].tolist(), f.device_b[rows].tolist(), f.link_rate[rows].tolist(), strict=True)
        own = sum(r for a, b, r in links if device in (a, b))
        out.append(Fraction(most) * sent / crossing + own)
    return out


def test_what_a_host_has_to_carry() -> None:
    made = ByDomain.of(mixed())
    assert sorted(made.sizes.tolist()) == [1, 2, 2, 3]
    for seed in range(8):
        rng = Random(seed)
        rows = [(*rng.sample(range(8), 2), rng.randint(1, 9)) for _ in range(rng.randint(3, 12))]
        asked = TrafficDemand(*(np.array(x) for x in zip(*rows, strict=True)))
        for sent in (Fraction(0), Fraction(10**13, 7)):
            if any(made.domain[s] != made.domain[t] for s, t, _ in rows):
                assert made._load(asked, sent) == loads_by_hand(made, rows, sent)
            assert made._load(None, sent) == loads_by_hand(made, None, sent)
    for seed in range(12):
        made = ByDomain.of(random_view(seed))
        if len(made.sizes) > 1:
            assert made._load(None, Fraction(10**12)) == loads_by_hand(made, None, Fraction(10**12))


def carried_by_hand(made: ByDomain, load: list[Fraction]) -> Fraction:
    """The least of the domains: of each switch the least that one of the hosts has to it, for its load."""
    names = made.plain.names(made.hosts)  # type: ignore[union-attr]
    share = Fraction(1)
    for rack, links in (("even0", [(2, 4), (4, 4)]), ("even1", [(2, 4), (4, 4)]), ("odd", [(10,), (10,), (10,)])):
        mine = [h for h, name in enumerate(names) if name.startswith(rack)]
        assert len(mine) == len(links), names
        total = Fraction(0)
        for switch in range(len(links[0])):
            total += min((links[t][switch] * UP / load[h] for t, h in enumerate(mine) if load[h]), default=Fraction(1))
        share = min(share, total)
    return share


def test_what_domains_hand_on() -> None:
    """By switches that all hosts of a domain are linked to; the domain that has least for its load counts."""
    made, seen = ByDomain.of(mixed()), set()
    for seed in range(30):
        rng = Random(seed)
        rows = [(s, (s + 3) % 8, rng.randint(1, 9)) for s in range(8)]
        asked = TrafficDemand(*(np.array(x) for x in zip(*rows, strict=True)))
        sent = Fraction(rng.choice([10**10, 10**12, 10**13, 10**14]))
        wanted = carried_by_hand(made, loads_by_hand(made, rows, sent))
        assert made.carried(asked, sent) == wanted
        seen.add(wanted == 1)
    assert seen == {True, False}


def test_loads_by_common_switches() -> None:
    """Of hosts 0, 1 and 3 of four; links between switches and of others count for nothing."""
    unit = np.array([0, 1, 2, 3, -1, -1, -1])
    rows = [
        (0, 4, 3),
        (0, 4, 1),
        (5, 0, 8),
        (1, 4, 2),
        (1, 5, 5),
        (3, 4, 9),
        (3, 5, 1),
        (2, 4, 7),
        (4, 5, 50),
        (0, 6, 9),
        (1, 6, 9),
        (3, 6, 9),
    ]
    a, b, rate = (np.array([x[i] for x in rows]) for i in range(3))
    up: Any = SimpleNamespace(device_a=a, device_b=b, link_rate=rate, is_switch=np.isin(np.arange(7), [4, 5]))
    mine, one = np.array([0, 1, 3]), Fraction(1)
    every = np.arange(len(rows))
    for load, wanted in (
        ([10, 10, 10, 10], Fraction(2, 10) + Fraction(1, 10)),
        ([40, 4, 10, 90], Fraction(4, 40) + Fraction(1, 90)),
        ([0, 100, 10, 1], Fraction(2, 100) + Fraction(5, 100)),
        ([1, 1, 1, 1], one), ([0, 0, 5, 0], one),
    ):  # fmt: skip
        assert _share_by_common_switches(up, unit, mine, [Fraction(x) for x in load], every) == wanted, load
    assert _share_by_common_switches(up, unit, np.array([0, 2]), [Fraction(10)] * 4, every) == Fraction(4, 10)
    up.link_rate = np.where(np.isin(a, [3]) | np.isin(b, [3]), 0, rate)
    assert _share_by_common_switches(up, unit, mine, [Fraction(10)] * 4, every) is None


# ---------------------------------------------------------------- units and their domains


@pytest.mark.parametrize(
    ("labels", "accelerators", "intact", "wanted"),
    [
        ([0, 0, 1], 4, False, (True, True, True)), ([0, -1, 1], 4, False, (True, False, True)),
        ([-1, -1, -1], 1, False, (True, True, True)), ([-1, 0, 0], 0, False, (False, True, True)),
    ],
)  # fmt: skip
def test_units_in_a_domain(labels: list[int], accelerators: int, intact: bool, wanted: tuple[bool, ...]) -> None:
    """By their domain, or because they have one accelerator only; some domain has several of them."""
    b = Builder("units")
    b.devices("sw", b.model("switch", "SW", {"p": 4}), 2)
    b.devices("h", b.model("host", "HOST", {"p": 4}, accelerators=accelerators), 3, role="accelerator")
    f = b.build()
    f.__dict__["domains"] = SimpleNamespace(of_device=np.array([-1, -1, *labels]))
    view = View.whole(f)
    assert units_with_joined_accelerators(view).tolist() == list(wanted)
    apart = [x for x in labels if x >= 0]
    assert domain_spans_units(view) == (len(set(apart)) < len(apart))


# ---------------------------------------------------------------- in two steps


def test_domains_without_common_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accelerators exchange all to all in two steps; only as many domains are asked as the budget says."""
    made, asked = ByDomain.of(mixed()), []
    monkeypatch.setattr(by_domain, "_share_by_common_switches", lambda *_: None)

    def bounds(view: View) -> Any:
        asked.append([view.fabric.device_path(d) for d in view.units.tolist()])
        return SimpleNamespace(lower=Fraction(3, 2), net=SimpleNamespace(grain=2 * GBPS))

    monkeypatch.setattr(by_domain, "all_to_all_bounds", bounds)
    sent = Fraction(10**13)
    load = made._load(None, sent)
    names = made.plain.names(made.hosts)  # type: ignore[union-attr]
    wanted = [
        Fraction(3 * GBPS) * chips / 2 / (max(x for x, name in zip(load, names, strict=True) if name.startswith(rack)) / 2)
        for rack, chips in (("even0", 4), ("even1", 4), ("odd", 6))
    ]
    assert made.carried(None, sent) == min(wanted) < 1
    assert sorted(len(x) for x in asked) == [4, 4, 6] and len({x for units in asked for x in units}) == 14
    made.budget = replace(DEFAULT, judged_domains=2)
    assert made.carried(None, sent) == 0
    made.budget = replace(DEFAULT, judged_domains=3)
    assert made.carried(None, sent) == min(wanted)
    monkeypatch.setattr(by_domain, "all_to_all_bounds", lambda view: None)
    assert made.carried(None, sent) == 0
    monkeypatch.setattr(
        by_domain, "all_to_all_bounds", lambda view: SimpleNamespace(lower=Fraction(10**6), net=SimpleNamespace(grain=10**9))
    )
    assert made.carried(None, sent) == 1


def test_who_takes_part_in_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two accelerators at least, all of them in hosts of the domain, and some in each of these; the busiest host counts."""
    made: Any = object.__new__(ByDomain)
    made.hosts, made.plain = np.array([0, 1, 2]), SimpleNamespace(budget=DEFAULT, failed=None)
    up: Any = SimpleNamespace(device_a=np.array([3, 4, 5, 6]), device_b=np.array([8, 8, 8, 8]), built=np.ones(9, dtype=np.bool_))
    unit = np.array([0, 1, 2, 0, 0, 1, 2, -1, -1])
    mine = np.array([0, 1])

    def share(units: list[int], load: list[int], pair: Fraction | None = Fraction(1)) -> Fraction:
        monkeypatch.setattr(by_domain, "View", lambda *_, **__: SimpleNamespace(units=np.array(units, dtype=np.int64)))
        found = pair and SimpleNamespace(lower=pair, net=SimpleNamespace(grain=6))
        monkeypatch.setattr(by_domain, "all_to_all_bounds", lambda view: found)
        return made._in_two_steps(up, unit, mine, [Fraction(x) for x in load], np.arange(4))

    assert share([3, 4, 5], [100, 20, 7]) == Fraction(6 * 3, 2) / 50 and share([3, 4, 5], [10, 20, 7]) == Fraction(9, 20)
    assert share([3, 5], [60, 20, 7]) == Fraction(6, 60) and share([3, 5], [1, 2, 7]) == 1
    assert share([3, 5], [0, 0, 7]) == 1 and share([3, 4, 5], [100, 20, 7], None) == 0
    for units in ([3], [3, 4], [5], [3, 5, 7], [4, 5, 8], []):
        assert share(units, [100, 20, 7]) == 0
    mine = np.array([0])
    assert share([3], [100, 20, 7]) == 0 and share([3, 4], [100, 20, 7]) == Fraction(6, 50)


def test_domains_of_one_host_hand_on_nothing() -> None:
    made = ByDomain.of(mixed())
    made.domain = np.arange(len(made.hosts))
    assert made.carried(None, Fraction(10**15)) == 1


OTHERS = """
fabric f {
  rack rack[2] {
    pod half[2] { host tray[2]: TRAY }
    switch xbar: XBAR
    switch own: XBAR
    connect half[(0)].tray[t].gpu[g].nv[0] to own { layer scaleup; medium backplane }
    connect half[(1)].tray[t].gpu[g].nv[0] to xbar { layer scaleup; medium backplane }
    connect extra.gpu[g].nv[0] to own { layer scaleup; medium backplane }
    connect own to xbar x 4 { layer scaleup; medium backplane }
    host extra: TRAY { role storage }
  }
  switch leaf[2]: SW
  connect rack[k].half[h].tray[t].nic[r] to leaf[r]
  report throughput ring through scaleup
}
"""


def test_a_domain_with_accelerators_of_other_hosts(tmp_path: Path) -> None:
    """What a storage host with accelerators in the domain hands on is not judged: the lower bound is 0."""
    models = DESIGN.partition("fabric f {")[0]
    (design,) = compile_text(models + OTHERS, tmp_path, models=False).designs
    (found,) = [r for r in design.results if r.requirement == "throughput ring through scaleup"]
    assert (found.status, found.lower, found.upper) == ("bounded", 0, 1)
