"""Rails by counting the links of each switch, for random fabrics made by hand; rates of links from connects and ports."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from tdsl.fabric import rails
from tdsl.fabric.graph import Fabric
from tests.fabrics import GBPS, Builder
from tests.harness import fabric_of

UP = {"layer": "scaleup"}


def random_rails(seed: int) -> Fabric:
    """Hosts of three declarations, one of them storage, mostly with port k at switch k; switches in planes and outside; ports of
    no, one or two indices; storage also at the lower end of links to hosts; half of the fabrics have scale-up links, too."""
    rng = Random(seed)
    b = Builder()
    switch = b.model("switch", "S", {"p": 60})
    count = rng.randint(2, 4)
    planes = rng.random() < 0.5
    hosts = []
    spare = b.devices("spare", switch, rng.randint(1, 2))
    for name, role in (("a", "accelerator"), ("b", "accelerator"), ("d", "storage")):
        shape: Any = rng.choice([count, count, (count, 2)])
        model = b.model("host", name.upper(), {"m": 1, "nic": {"shape": shape, "low": rng.choice([0, 0, 1])}, "up": 4})
        model = replace(model, classes=(replace(model.classes[0], axes=()), *model.classes[1:]))
        b.models[-1] = model
        hosts.append(b.devices(name, model, rng.randint(1, 4), role=role))
    leaf = b.devices("plane pl.leaf", switch, count, rng.randint(1, 2)) if planes else b.devices("leaf", switch, count * 2)
    b.connect("connect hosts")
    noise = [rng.choice([0, 0.1, 0.5, 1]) for _ in hosts]
    for s, wrong in zip(hosts, noise, strict=True):
        nic = s.model.classes[1]
        for row in range(s.count):
            for k in range(nic.size):
                first = k // (nic.size // nic.axes[0].size)
                if rng.random() < 0.1:
                    continue
                at = rng.randrange(leaf.count) if rng.random() < wrong else first * (leaf.count // count)
                b.link(b.port(s, row, "nic", k), b.free(leaf, at))
            if rng.random() < 0.3:
                b.link(b.port(s, row, "m"), b.free(rng.choice([leaf, spare]), 0))
    b.link(b.free(leaf, 0), b.free(spare, 0))
    if seed % 2:
        b.connect("connect up", **UP)
        nvs = b.devices("nvs", switch, 2)
        for s in hosts[:2]:
            for row in range(s.count):
                b.link(b.free(s, row, "up"), b.free(nvs, row % 2))
    return b.build()


def serving(links: list[tuple[int, int]]) -> tuple[dict[int, int], bool, int]:
    """Of links as (rail, switch): the commonest rail of each switch, the lowest of several; whether more than half of the
    switches have more than half of their links from one rail and they serve several; and how many."""
    counts = {s: Counter(r for r, other in links if other == s) for _, s in links}
    own = {s: min(r for r in c if c[r] == max(c.values())) for s, c in counts.items()}
    settled = sum(2 * max(c.values()) > c.total() for c in counts.values())
    return own, 2 * settled > len(counts) and len(set(own.values())) > 1, len(set(own.values()))


def planned(f: Fabric) -> tuple[bool, int, list[tuple[int, int, int]], list[int], list[int]]:
    """What the wiring says: organised, number of rails, (link, rail, switch), the rail that each of these switches serves for the
    class of the port, and the links judged."""
    links, class_of = [], {}
    for i in range(f.link_count):
        a, b = int(f.device_a[i]), int(f.device_b[i])
        c, k = f.port_class(int(f.link_a[i]))
        class_of[i] = c.name
        up = f.statements[int(f.link_statement[i])].settings.get("layer") == "scaleup"
        if f.kind[a] == "host" and f.role[a] == "accelerator" and f.kind[b] == "switch" and c.axes and not up:
            first = c.axes[0].low + k // (c.size // c.axes[0].size)
            links.append((i, first, b, len(c.axes) == 1 and int(f.plane[b]) >= 0))
    indices, planes = {r for _, r, _, own in links if own}, {int(f.plane[s]) for _, _, s, own in links if own}
    if len(indices) == len(planes) > 1:
        links = [x for x in links if not x[3]]
    found = [x[:3] for x in links]
    if not found:
        return False, 1, [], [], []
    owner = {i: int(f.device_set[f.device_a[i]]) for i, _, _ in found}
    names = list(dict.fromkeys(c.name for m in f.models for c in m.classes))

    def of(*wanted: tuple[int, str]) -> list[tuple[int, int]]:
        return [x[1:] for x in found if (owner[x[0]], class_of[x[0]]) in wanted]

    main = {o: max(names, key=lambda c: len(of((o, c)))) for o in owner.values()}
    judged = [i for i, _, _ in found
              if serving(of((owner[i], main[owner[i]])))[1] and serving(of((owner[i], class_of[i])))[1]]  # fmt: skip
    serves: dict[tuple[int, str], int] = {}
    for c in names:
        mine = [x for x in found if class_of[x[0]] == c]
        for some in (mine, [x for x in mine if x[0] in judged]):
            serves |= {(s, c): r for s, r in serving([x[1:] for x in some])[0].items()}
    served = [serves[s, class_of[i]] for i, _, s in found]
    if judged:
        return True, len({r for (i, _, _), r in zip(found, served, strict=True) if i in judged}), found, served, judged
    together = [serving(of(*((o, c) for o, mine in main.items() if mine == c))) for c in names if c in main.values()]
    organised = any(x[1] for x in together)
    return organised, max(x[2] for x in together if x[1]) if organised else 1, found, served, judged


def test_rails_by_counting() -> None:
    seen = Counter[tuple[bool, bool]]()
    for seed in range(100):
        f = random_rails(seed)
        plan = rails.rail_plan(f)
        organised, count, links, serves, judged = planned(f)
        assert list(zip(plan.rows.tolist(), plan.rail.tolist(), plan.switch.tolist(), strict=True)) == links, seed
        assert (plan.organised, plan.count) == (organised, count), seed
        assert plan.serves.tolist() == serves, seed
        assert [i for (i, _, _), yes in zip(links, plan.judged.tolist(), strict=True) if yes] == judged, seed
        assert len(plan.judged) == len(links)
        of = {i: r for i, r, _ in links} if organised else {}
        assert rails.link_rail(f).tolist() == [of.get(i, -1) for i in range(f.link_count)]
        assert rails.rail_count(f) == count
        seen[organised, 0 < len(judged) < len(links)] += 1
    assert min(seen.values()) > 3 and len(seen) == 3, seen


RATES = {"x": "any", "s": "100Gbps", "m": "200Gbps", "l": "400Gbps"}
PORTS = "fabric f {{\n  switch a[2]: M\n  {}\n}}\nmodel switch M {{ " + "; ".join(
    f"port {name}[4]: {rate}" for name, rate in RATES.items()
) + " }}"  # fmt: skip
GIVEN = {"x": 0, "s": 100, "m": 200, "l": 400}


def test_the_rate_of_two_ports(tmp_path: Path) -> None:
    """That of the slower one; of one that takes any, that of the other. A connect's own rate is before both."""
    for one, two in product(RATES, repeat=2):
        text = f"connect a[0].{one}[0] to a[1].{two}[0]"
        assert fabric_of(PORTS.format(text + " { rate 50Gbps }"), tmp_path).link_rate.tolist() == [50 * GBPS]
        rates = [GIVEN[x] for x in (one, two) if GIVEN[x]]
        if rates:
            assert fabric_of(PORTS.format(text), tmp_path).link_rate.tolist() == [min(rates) * GBPS]
