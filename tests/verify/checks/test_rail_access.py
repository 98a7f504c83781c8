"""Rails that no switch joins: which accelerators reach which, of random hosts against networkx; and what is not said."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import pytest

from tests.harness import compile_text, sampled
from tests.tables import sections

HOSTS = 2
TEXT = sections(__file__)["text"]
INSIDE = """  numa cpu[2] { arch x86_64; vendor GenuineIntel; family 6; cpu_model 143; cores 32 }
  pcie sw[len(switches)] { on cpu[switches[i]]; gen 5; lanes 16; device "1000:c030" }
  pcie low[len(lower)] { on sw[lower[i]]; gen 5; lanes 16; device "1000:c030" }
  pcie gpu { on low[gpus[i]]; gen 5; lanes 16; device "10de:2321"; bus "0000:{64 + i:02x}:00.0" }
  pcie nic { on low[nics[i]]; gen 5; lanes 16; device "15b3:1021"; bus "0000:{16 + i:02x}:00.0" }"""


def random_host(seed: int) -> tuple[str, set[tuple[int, int]] | None]:
    """A design, and the pairs of GPU and network that the GPU does not reach in its host, though it reaches others, by
    networkx; None where switches join all adapters of the host."""
    pick = random.Random(seed)
    g, n, s, low = pick.randint(2, 6), pick.randint(2, 5), pick.randint(1, 3), pick.randint(1, 4)
    switches, lower = [pick.randrange(2) for _ in range(s)], [pick.randrange(s) for _ in range(low)]
    gpus, nics = ([pick.randrange(low) for _ in range(k)] for k in (g, n))
    bridges = [(a, b) for a in range(g) for b in range(a) if pick.random() < 0.25]
    trunks = [(a, b) for a in range(n) for b in range(a) if pick.random() < 0.2]
    text = TEXT.format(
        switches=switches, lower=lower, gpus=gpus, nics=nics, n=n, g=g, hosts=HOSTS, inside=INSIDE, kind="XLINK", require="",
        bridges="\n".join(f"  connect gpu[{b}] to gpu[{a}] {{ layer scaleup; medium trace }}" for a, b in bridges),
        trunks="\n".join(f"  connect leaf[{b}] to leaf[{a}]" for a, b in trunks),
    )  # fmt: skip
    networks = nx.Graph(trunks)
    networks.add_nodes_from(range(n))
    network = {r: k for k, part in enumerate(nx.connected_components(networks)) for r in part}
    if len(set(network.values())) == 1:
        return text, None
    tree = nx.DiGraph([("cpus", ("cpu", k)) for k in range(2)])
    tree.add_edges_from((("cpu", c), ("sw", k)) for k, c in enumerate(switches))
    tree.add_edges_from((("sw", c), ("low", k)) for k, c in enumerate(lower))
    tree.add_edges_from((("low", c), (name, k)) for name, of in (("gpu", gpus), ("nic", nics)) for k, c in enumerate(of))
    depth = nx.shortest_path_length(tree, "cpus")
    joined = nx.Graph(bridges)
    joined.add_nodes_from(range(g))
    out = set()
    for part in nx.connected_components(joined):
        mine = set()
        for r in range(n):
            shared = [depth[nx.lowest_common_ancestor(tree, ("nic", r), ("gpu", k))] for k in range(g)]
            mine |= {network[r] for k in part if shared[k] == max(shared)}
        out |= {(k, other) for k in part for other in set(network.values()) - mine if mine}
    return text, out


@pytest.mark.parametrize("seed", sampled(range(30), 2))
def test_random_hosts(seed: int, tmp_path: Path) -> None:
    text, wanted = random_host(seed)
    (design,) = (done := compile_text(text, tmp_path, models=False)).designs
    results = [r for r in design.results if r.check == "rail_access"]
    found = [d for d in done.findings if d.code == "E0414"]
    if wanted is None:
        assert not results and not found
        return
    assert [r.status for r in results] == ["refuted" if wanted else "proved"]
    assert sum(d.count for d in found) == len(wanted) * HOSTS
    if wanted:
        first = results[0].witness["accelerator"]
        assert first == f"gpu[{min(k for k, _ in wanted)}]" and results[0].witness["hosts"] == HOSTS
        assert all(d.severity.word == "warning" for d in found), "nothing requires it"


@pytest.mark.parametrize(
    ("inside", "kind", "lacks"), [("", "XLINK", "beside which"), (INSIDE, "NVLINK4", "where its NVLinks lead")]
)
@pytest.mark.parametrize("require", ["", "require rail_access"])
def test_what_a_model_does_not_say(inside: str, kind: str, lacks: str, require: str, tmp_path: Path) -> None:
    """Nothing judged is no pass; what is required is then not met."""
    text = TEXT.format(
        switches=[0, 1], lower=[0, 1], gpus=[0, 1], nics=[0, 1], n=2, g=2, hosts=HOSTS, inside=inside, kind=kind, bridges="",
        trunks="", require=require,
    )  # fmt: skip
    done = compile_text(text, tmp_path, models=False)
    (result,) = [r for r in done.designs[0].results if r.check == "rail_access"]
    assert result.status == "skipped" and lacks in result.reason
    assert any("rail_access" in d.message or d.code == "E0414" for d in done.findings) is bool(require)


def test_links_of_a_rack_count(tmp_path: Path) -> None:
    """GPUs whose NVLinks leave the host for switches of the design are joined by these."""
    rack = """fabric rack {{
  host tray[2]: GB200_TRAY
  switch leaf[4]: QM9700
  switch nvs[9, 2]: NVLINK5_SWITCH
  connect tray[t].nic[r] to leaf[r]
{}
}}"""
    inside = "  connect tray[t].gpu[g].nvlink[2*s + c] to nvs[s, c].p[4*t + g] { layer scaleup; medium backplane }"
    for text, status in (
        (rack.format(inside), "proved"),
        (rack.replace("  switch nvs[9, 2]: NVLINK5_SWITCH\n", "").format(""), "skipped"),
    ):
        (design,) = compile_text(text, tmp_path, models=False).designs
        assert [r.status for r in design.results if r.check == "rail_access"] == [status]
