"""What NCCL plans between hosts of one topology: an own small model of its search, to judge files that were changed.

Links have the bandwidth that NCCL counts (topo.h, topo.cc). A channel of speed s takes s of everything on its way from an adapter
to a GPU and round all GPUs of the host; the plan is the speed of NCCL's list at which channels times speed are most (search.cc).
A file is taken as it is: what it leaves out is as good as what stands beside it.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf

import networkx as nx

from tests.targets.nccl_reader import Node

LANES = {"2.5": 15, "5": 30, "8": 60, "16": 120, "32": 240, "64": 480}
SPEEDS = {
    100: (96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12),
    90: (48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12),
    0: (48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12),
}
NVLINK = {100: 40.1, 90: 20.6, 86: 12, 80: 20, 70: 20, 60: 18}
CHANNELS = 32


def number(text: str | None, default: int) -> int:
    try:
        return int(text or "", 0)
    except ValueError:
        return default


def pcie(node: Node) -> float:
    """GB/s of the link of a PCIe function."""
    speed = node.attributes.get("link_speed", "")
    known = next((v for k, v in LANES.items() if speed.startswith((f"{k}.0 GT/s PCIe", f"{k} GT/s"))), 60)
    return (number(node.attributes.get("link_width"), 16) or 16) * known / 80


def between(cpu: Node) -> float:
    """GB/s from one processor to another."""
    a = cpu.attributes
    if a.get("arch") == "arm64":
        return 6
    if a.get("vendor") == "AuthenticAMD":
        return 16
    model = number(a.get("modelid"), 0)
    return 40 if model >= 0xCF else 22 if model >= 0x8F else 10 if model >= 0x55 else 6


class Machine:
    """The tree of a file as a network of links in GB/s."""

    def __init__(self, system: Node) -> None:
        self.links: list[tuple[object, object, float]] = []
        self.gpus: dict[int, Node] = {}
        self.rates: dict[object, list[tuple[object, float]]] = defaultdict(list)  # adapters by port: their nodes and rates
        self.chips: list[tuple[int, float]] = []
        self.seen: set[str] = set()
        cpus = [c for c in system.children if c.name == "cpu"]
        for k, cpu in enumerate(cpus):
            self.links += [(("cpu", k), ("cpu", j), min(between(cpu), between(cpus[j]))) for j in range(k)]
            self.below(cpu, ("cpu", k))

    def below(self, node: Node, above: object) -> None:
        for child in node.children:
            if child.name == "pci":
                self.function(child, above)

    def function(self, pci: Node, above: object) -> None:
        kind, bus = pci.attributes.get("class", ""), pci.attributes.get("busid", "")
        if bus in self.seen:
            return
        self.seen.add(bus)
        here = id(pci)
        nics, gpus = ([c for c in pci.children if c.name == name] for name in ("nic", "gpu"))
        if kind.startswith("0x068000") and not nics and not gpus:
            return
        if nics or (kind.startswith("0x02") and not gpus):
            nets = nics[0].children if nics else [Node("net", {"guid": bus})]
            for net in nets:
                self.adapter(net, pci, here)
        elif gpus or kind.startswith("0x03"):
            self.gpus[here] = gpus[0] if gpus else Node("gpu", {})
        else:
            self.below(pci, here)
        self.links.append((above, here, pcie(pci)))

    def adapter(self, net: Node, pci: Node, here: object) -> None:
        a = net.attributes
        rate = number(a.get("speed"), int(pcie(pci) * 8000))
        rate = 10000 if rate <= 0 else rate
        far = 2 if a.get("gdr") == "0" else 1  # by way of the processor's memory
        self.rates[a.get("guid", a.get("name")), a.get("port", "1")].append((here, rate / 8000 / far))

    def sm(self) -> int:
        known = [number(g.attributes.get("sm"), 0) for g in self.gpus.values() if "sm" in g.attributes]
        return min(known, default=90)

    def inside(self) -> float:
        """GB/s round all GPUs: over NVLink where it joins all of them, else as the slowest PCIe link or processor allows."""
        if len(self.gpus) < 2:
            return inf
        per = next(v for k, v in NVLINK.items() if k <= max(self.sm(), 60))
        graph, least = nx.Graph(), inf
        graph.add_nodes_from(self.gpus)
        bus = {}
        for here, gpu in self.gpus.items():
            links = [c for c in gpu.children if c.name == "nvlink"]
            bus[here] = links
            least = min(least, sum(number(x.attributes.get("count"), 0) for x in links) * per)
            if any(x.attributes.get("tclass", "").startswith("0x068000") for x in links):
                graph.add_edge(here, "nvs")
        if not any(bus.values()):
            return inf  # of the machine
        if len({frozenset(c) for c in nx.connected_components(graph)}) > 1 or least <= 0:
            cuts = [bw for a, b, bw in self.links if b in self.gpus or (isinstance(a, tuple) and isinstance(b, tuple))]
            return min(cuts, default=0)
        return least

    def channels(self, speed: float) -> int:
        """Channels of a speed that fit from adapters to GPUs."""
        graph = nx.Graph()
        for a, b, bw in self.links:
            graph.add_edge(a, b, capacity=int(bw / speed + 1e-9))
        flow = nx.DiGraph()
        for a, b, data in graph.edges(data=True):
            flow.add_edge(a, b, **data)
            flow.add_edge(b, a, **data)
        for port, nets in self.rates.items():
            flow.add_edge("source", ("port", port), capacity=int(max(r for _, r in nets) / speed + 1e-9))
            for here, rate in nets:
                flow.add_edge(("port", port), here, capacity=int(rate / speed + 1e-9))
        for here in self.gpus:
            flow.add_edge(here, "sink", capacity=CHANNELS)
        if "source" not in flow or "sink" not in flow:
            return 0
        return int(nx.maximum_flow_value(flow, "source", "sink"))

    def plan(self) -> float:
        """GB/s of a host."""
        if not self.gpus or not self.rates:
            return 0
        sm, inside = self.sm(), self.inside()
        speeds = SPEEDS[max(k for k in SPEEDS if k <= sm)]
        best = 0.0
        for s in speeds:
            if best >= CHANNELS * s:
                break
            around = CHANNELS if inside == inf else int(inside / s * len(self.gpus) / (len(self.gpus) - 1) + 1e-9)
            best = max(best, s * min(self.channels(s), around, CHANNELS))
        return best


def planned(system: Node) -> float:
    """GB/s that NCCL plans for a host of this topology."""
    return Machine(system).plan()
