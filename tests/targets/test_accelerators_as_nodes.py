"""The graph of accelerators and switches that simulators of training get, compared with one counted link by link."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tdsl.emit.data.npus import MOST_NODES, NpuGraphUnfit, _scaleup_links_of_model, npu_graph
from tdsl.emit.link_tables import Wires
from tdsl.fabric.graph import Fabric
from tdsl.fabric.layers import scaleout_network
from tdsl.semantics.model import Axis, InnerLink
from tests.fabrics import GBPS, Builder
from tests.harness import fabric_of
from tests.targets.build import dgx_h100


def random_pod(seed: int) -> tuple[Fabric, int]:
    """Hosts with accelerators and others, two tiers of switches linked at random, an idle switch; the accelerators of a host."""
    rng = Random(seed)
    b = Builder(f"pod{seed}")
    each = rng.choice([1, 2, 4])
    nics = rng.choice([n for n in (1, 2, 4, 8) if n % each == 0 or each % n == 0])
    hosts = rng.randint(2, 4)
    node = b.devices("node", b.model("host", "NODE", {"nic": nics}, accelerators=each, scaleup=rng.random() < 0.5), hosts)
    store = b.devices("store", b.model("host", "STORE", {"nic": 2}), 1, role="storage")
    switch = b.model("switch", "SW", {"p": {"shape": 48, "low": 1}})
    # declared against their order by tier, so that it is looked at
    spine, idle, leaf = b.devices("spine", switch, 2), b.devices("idle", switch, 1), b.devices("leaf", switch, 3)
    if rng.random() < 0.5:
        b.omitted.add(node.first)
    b.connect("connect")
    for host in range(hosts):
        for k in range(nics):
            if node.first + host not in b.omitted:
                row = rng.randrange(3)
                b.link(b.port(node, host, "nic", k), b.free(leaf, row), rate=rng.choice([100, 200, 400]) * GBPS)
    for k in range(2):
        b.link(b.port(store, 0, "nic", k), b.free(leaf, rng.randrange(3)))
    for row in range(3):
        for _ in range(rng.randint(1, 4)):
            b.link(b.free(leaf, row), b.free(spine, rng.randrange(2)), rate=rng.choice([400, 800]) * GBPS)
    assert idle.count == 1
    return b.build(), each


@pytest.mark.parametrize("part", range(3))
def test_links_between_accelerators_and_switches(part: int) -> None:
    for seed in range(20 * part, 20 * part + 20):
        f, each = random_pod(seed)
        made = npu_graph(Wires(f))
        hosts = [d for d in range(f.device_count) if f.built[d] and f.role[d] == "accelerator"]
        met = {*f.device_a.tolist(), *f.device_b.tolist()}
        switches = sorted((int(f.tier[d]), d) for d in met if f.is_switch[d])
        inner = len(hosts) if any(m.links for m in f.models) else 0
        number = {d: len(hosts) * each + inner + k for k, (_, d) in enumerate(switches)}
        assert (made.npus, made.per_server, made.inner_switches) == (len(hosts) * each, each, inner)
        assert (made.switches, made.servers, made.span, made.chip) == (len(switches), len(hosts), 1, "GPU")
        wanted: Counter[tuple[int, int, bool]] = Counter()
        for n, host in enumerate(hosts):
            links = sorted(
                (int(p), int(f.port_device[q]), int(rate))
                for a, b, rate in zip(f.link_a, f.link_b, f.link_rate, strict=True)
                for p, q in ((a, b), (b, a))
                if f.port_device[p] == host
            )
            for npu in range(each):
                if inner:
                    wanted[n * each + npu, len(hosts) * each + n, True] += made.inside_bps
                for k, (_, far, rate) in enumerate(links):
                    if len(links) >= each and k // (len(links) // each) == npu:
                        wanted[n * each + npu, number[far], False] += rate
                    elif len(links) < each and npu // (each // len(links)) == k:
                        wanted[n * each + npu, number[far], False] += rate // (each // len(links))
        for a, b, rate in zip(f.device_a.tolist(), f.device_b.tolist(), f.link_rate.tolist(), strict=True):
            if a in number and b in number:
                low, high = sorted((number[a], number[b]))
                wanted[low, high, False] += rate
        assert {(x.a, x.b, x.inside): x.gbps for x in made.links} == {k: v / GBPS for k, v in wanted.items()}
        assert made.inside_bps == (100 * GBPS if inner else 0)
        up = sum(int(r) for d, r in zip(f.device_a, f.link_rate, strict=True) if int(d) in hosts)
        tiers = [up] + [0] * (max(t for t, _ in switches) - 1)
        for a, b, rate in zip(f.device_a.tolist(), f.device_b.tolist(), f.link_rate.tolist(), strict=True):
            low = min(int(f.tier[a]), int(f.tier[b]))
            if a in number and b in number and 0 < low < len(tiers):
                tiers[low] += rate
        assert made.tier_gbps == pytest.approx(tuple(t / GBPS / made.npus for t in tiers))


def test_links_inside_a_host() -> None:
    """Links of accelerators to switches in the host are summed for each, and the most is taken; those of two are pairs."""
    model = dgx_h100()
    gpu, nvs = model.chips
    rates = [InnerLink(("gpu", 0), ("nvs", 0), 2, 50, "scaleup"), InnerLink(("nvs", 1), ("gpu", 0), 1, 25, "scaleup"),
             InnerLink(("gpu", 1), ("nvs", 0), 1, 60, "scaleup"), InnerLink(("gpu", 1), ("nvs", 0), 9, 90, ""),
             InnerLink(("nvs", 0), ("nvs", 1), 9, 90, "scaleup")]  # fmt: skip
    assert _scaleup_links_of_model(replace(model, links=tuple(rates))) == (125, [])
    assert _scaleup_links_of_model(replace(model, links=())) == (0, [])
    more = replace(gpu, name="more", axes=(Axis(0, 2),))
    pairs = [InnerLink(("more", 1), ("gpu", 7), 2, 10, "scaleup"), InnerLink(("gpu", 7), ("more", 1), 1, 5, "scaleup"),
             InnerLink(("gpu", 3), ("gpu", 2), 3, 7, "scaleup")]  # fmt: skip
    both = replace(model, chips=(gpu, nvs, more), links=tuple(pairs))
    assert _scaleup_links_of_model(both) == (0, [(2, 3, 21), (7, 9, 25)])
    first = replace(model, chips=(more, nvs, gpu), links=tuple(pairs))
    assert _scaleup_links_of_model(first) == (0, [(1, 9, 25), (4, 5, 21)])


RACKS = """
fabric racks {
  rack rack[3] {
    host tray[2]: GB200_TRAY
    switch nvswitch[9, 2]: NVLINK5_SWITCH
    connect tray[t].gpu[g].nvlink[2*s + c] to nvswitch[s, c].p[4*t + g] { layer scaleup; medium backplane }
  }
  switch leaf[4]: QM9700
  connect rack[k].tray[t].nic[r] to leaf[r]
}
"""


def test_hosts_of_scale_up_domains(tmp_path: Path) -> None:
    """Two trays of four accelerators to a rack: 18 NVLinks of 400 Gb/s each to the rack's switch, one port to a leaf."""
    made = npu_graph(Wires(scaleout_network(fabric_of(RACKS, tmp_path))))
    assert (made.npus, made.per_server, made.inner_switches, made.switches, made.servers, made.span) == (24, 8, 3, 4, 3, 2)
    assert made.inside_bps == 7200 * GBPS and made.tier_gbps == (400.0,)
    assert {(x.a, x.b): x.gbps for x in made.links if x.inside} == {(n, 24 + n // 8): 7200 for n in range(24)}
    assert {(x.a, x.b): x.gbps for x in made.links if not x.inside} == {(n, 27 + n % 4): 400 for n in range(24)}


def test_a_domain_of_one_host_is_as_its_model_says(tmp_path: Path) -> None:
    text = RACKS.replace("tray[2]", "tray[1]")
    made = npu_graph(Wires(scaleout_network(fabric_of(text, tmp_path))))
    assert (made.npus, made.per_server, made.inner_switches, made.switches, made.servers, made.span) == (12, 4, 0, 4, 3, 1)
    assert made.inside_bps == 0 and all(not x.inside for x in made.links) and len(made.links) == 12


OTHER = """  rack more {
    host tray[TRAYS]: GB200_TRAY
    switch nvswitch[9, 2]: NVLINK5_SWITCH
    connect tray[t].gpu[g].nvlink[2*s + c] to nvswitch[s, c].p[4*t + g] { layer scaleup; medium backplane }
  }
  switch leaf[4]: QM9700
  connect more.tray[t].nic[r] to leaf[r]
"""


@pytest.mark.parametrize("trays", [1, 2, 3])
def test_domains_of_several_sizes(trays: int, tmp_path: Path) -> None:
    text = RACKS.replace("  switch leaf[4]: QM9700\n", OTHER.replace("TRAYS", str(trays)))
    fabric = scaleout_network(fabric_of(text, tmp_path))
    if trays == 2:
        assert npu_graph(Wires(fabric)).servers == 4
    else:
        with pytest.raises(NpuGraphUnfit, match="domains of different sizes"):
            npu_graph(Wires(fabric))


def test_links_between_accelerators_of_a_host() -> None:
    """Of two models of hosts one has links between its accelerators, the other to a switch: a switch is there for each host."""
    b = small(hosts=3, nics=4, accelerators=4)
    pairs = (
        InnerLink(("gpu", 2), ("gpu", 0), 2, 50 * GBPS, "scaleup"),
        InnerLink(("gpu", 2), ("gpu", 3), 1, 25 * GBPS, "scaleup"),
    )
    b.sets[0].model = b.models[0] = replace(b.models[0], links=pairs)
    alone = npu_graph(Wires(b.build()))
    inside = {(x.a, x.b): x.gbps for x in alone.links if x.inside}
    assert inside == {(4 * h + i, 4 * h + j): r for h in range(3) for i, j, r in ((0, 2, 100), (2, 3, 25))}
    assert (alone.npus, alone.inner_switches, alone.switches, alone.inside_bps) == (12, 0, 2, 0)
    other = b.devices("other", b.model("host", "OTHER", {"nic": 4}, accelerators=4, scaleup=True), 1)
    for k in range(4):
        b.link(b.port(other, 0, "nic", k), b.free(b.sets[1], k % 2))
    both = npu_graph(Wires(b.build()))
    assert (both.npus, both.inner_switches, both.inside_bps, both.servers) == (16, 4, 100 * GBPS, 4)
    assert {(x.a, x.b): x.gbps for x in both.links if x.inside} == inside | {(n, 19): 100 for n in range(12, 16)}
    assert min(x.b for x in both.links if not x.inside) == 20


def small(**given: object) -> Builder:
    b = Builder("small")
    facts = {"nics": 2, "accelerators": 2, "hosts": 2} | given
    node = b.devices("node", b.model("host", "NODE", {"nic": facts["nics"]}, accelerators=facts["accelerators"]), facts["hosts"])  # type: ignore[arg-type]
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 16}), 2)
    b.connect("connect")
    for host in range(facts["hosts"]):  # type: ignore[call-overload]
        for k in range(facts["nics"]):  # type: ignore[call-overload]
            b.link(b.port(node, host, "nic", k), b.free(leaf, k % 2))
    return b


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"accelerators": 0}, "no host has accelerators"),
        ({"nics": 2, "accelerators": 3}, "node0 has 2 links for 3 accelerators, so no accelerator has its own"),
        ({"nics": 3, "accelerators": 2}, "node0 has 3 links for 2 accelerators, so no accelerator has its own"),
    ],
)
def test_fabrics_that_do_not_fit(facts: dict[str, object], says: str) -> None:
    with pytest.raises(NpuGraphUnfit, match=says):
        npu_graph(Wires(small(**facts).build()))


def test_hosts_linked_to_hosts_and_of_two_sizes() -> None:
    b = small(hosts=1)
    other = b.devices("other", b.model("host", "OTHER", {"nic": 1}, accelerators=4), 1)
    lone = b.devices("lone", b.model("host", "LONE", {"nic": 1}, accelerators=2), 1)
    with pytest.raises(NpuGraphUnfit, match="hosts have 2 or 4 accelerators"):
        npu_graph(Wires(b.build()))
    b.link(b.free(other, 0), b.free(lone, 0))
    with pytest.raises(NpuGraphUnfit, match="hosts are linked to hosts"):
        npu_graph(Wires(b.build()))


def test_the_number_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    f = small().build()
    assert MOST_NODES == 65536
    monkeypatch.setattr("tdsl.emit.data.npus.MOST_NODES", 6)
    assert npu_graph(Wires(f)).npus == 4
    monkeypatch.setattr("tdsl.emit.data.npus.MOST_NODES", 5)
    with pytest.raises(NpuGraphUnfit, match="know 5 nodes, and this fabric has more"):
        npu_graph(Wires(f))
