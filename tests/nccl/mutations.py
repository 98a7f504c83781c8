"""Topology files with one change each, from good ones: wrong classes, speeds, widths and NUMA nodes, NVLinks and adapters that
are missing or there twice, switches and devices that were moved."""

from __future__ import annotations

import random
from copy import deepcopy

from tests.targets.nccl_reader import Node


def text_of(node: Node, depth: int = 0) -> str:
    """An element as NCCL writes it."""
    indent, facts = "  " * depth, "".join(f' {k}="{v}"' for k, v in node.attributes.items())
    if not node.children:
        return f"{indent}<{node.name}{facts}/>\n"
    inner = "".join(text_of(c, depth + 1) for c in node.children)
    return f"{indent}<{node.name}{facts}>\n{inner}{indent}</{node.name}>\n"


class Mutant:
    """One change of a system, by chance. ``done`` says what was changed, "" where the file has nothing of the kind."""

    def __init__(self, system: Node, pick: random.Random) -> None:
        self.system, self.pick = deepcopy(system), pick
        self.parents = {id(c): p for p in [self.system, *self.all("cpu"), *self.all("pci"), *self.all("gpu"), *self.all("nic")]
                        for c in p.children}  # fmt: skip
        kinds = [self.wrong_class, self.slow_link, self.narrow_link, self.other_node, self.fewer_nvlinks, self.more_nvlinks,
                 self.no_nvlinks, self.no_adapter, self.adapter_twice, self.moved, self.slow_adapter, self.one_port,
                 self.no_gpu_direct, self.no_switch]  # fmt: skip
        change = pick.choice(kinds)
        self.done = f"{change.__name__}: {said}" if (said := change()) else ""

    def all(self, name: str) -> list[Node]:
        return self.system.all(name)

    def one(self, nodes: list[Node]) -> Node | None:
        return self.pick.choice(nodes) if nodes else None

    def is_adapter(self, pci: Node) -> bool:
        return any(c.name == "nic" for c in pci.children) or pci.attributes.get("class", "").startswith("0x02")

    def is_gpu(self, pci: Node) -> bool:
        return any(c.name == "gpu" for c in pci.children) or pci.attributes.get("class", "").startswith("0x03")

    def devices(self) -> list[Node]:
        return [p for p in self.all("pci") if self.is_adapter(p) or self.is_gpu(p)]

    def switches(self) -> list[Node]:
        return [p for p in self.all("pci") if any(c.name == "pci" for c in p.children)]

    def named(self, node: Node | None, change: str) -> str:
        return f"{node.name} {node.attributes.get('busid', node.attributes.get('name', ''))} {change}" if node else ""

    def set(self, node: Node | None, name: str, value: str) -> str:
        if node is None or node.attributes.get(name, "") == value:
            return ""
        node.attributes[name] = value
        return self.named(node, f"{name}={value}")

    def cut(self, node: Node | None) -> str:
        if node is None:
            return ""
        self.parents[id(node)].children.remove(node)
        return self.named(node, "removed")

    def put(self, node: Node | None, above: Node | None) -> str:
        if node is None or above is None or node is above or above in node.all("pci") or self.parents[id(node)] is above:
            return ""
        self.cut(node)
        above.children.append(node)
        return self.named(node, f"moved to {above.name} {above.attributes.get('busid', above.attributes.get('numaid'))}")

    # ------------------------------------------------------------ changes
    def wrong_class(self) -> str:
        return self.set(
            self.one(self.all("pci")), "class", self.pick.choice(["0x060400", "0x068000", "0x020700", "0x030200", "0x0604"])
        )

    def slow_link(self) -> str:
        slow = ["2.5 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe", "16.0 GT/s", ""]
        return self.set(self.one(self.all("pci")), "link_speed", self.pick.choice(slow))

    def narrow_link(self) -> str:
        return self.set(self.one(self.all("pci")), "link_width", self.pick.choice(["1", "2", "4", "8"]))

    def other_node(self) -> str:
        cpus = [c for c in self.all("cpu") if c.children]
        cpu = self.one(cpus)
        if cpu is None or self.pick.random() < 0.3:
            return self.set(cpu, "numaid", str(self.pick.randrange(9)))
        return self.put(self.one(self.devices() if self.pick.random() < 0.5 else cpu.children), self.one(cpus))

    def fewer_nvlinks(self) -> str:
        link = self.one(self.all("nvlink"))
        return self.set(link, "count", str(self.pick.randrange(int(link.attributes["count"])))) if link else ""

    def more_nvlinks(self) -> str:
        link = self.one(self.all("nvlink"))
        if link is None or self.pick.random() < 0.5:
            return self.set(link, "count", str(2 * int(link.attributes["count"]))) if link else ""
        self.parents[id(link)].children.append(deepcopy(link))
        return self.named(link, "twice")

    def no_nvlinks(self) -> str:
        gpu = self.one([g for g in self.all("gpu") if g.children])
        return self.cut(self.one(gpu.children) if self.pick.random() < 0.5 else None) or self._bare(gpu) if gpu else ""

    def _bare(self, gpu: Node) -> str:
        gpu.children.clear()
        return "gpu without links"

    def no_adapter(self) -> str:
        nets = self.all("net")
        if nets and self.pick.random() < 0.4:
            return self.cut(self.one(nets))
        return self.cut(self.one([p for p in self.devices() if self.is_adapter(p)]))

    def adapter_twice(self) -> str:
        adapter = self.one([p for p in self.devices() if self.is_adapter(p)])
        if adapter is None:
            return ""
        self.parents[id(adapter)].children.append(deepcopy(adapter))
        return self.named(adapter, "twice")

    def moved(self) -> str:
        what = self.devices() if self.pick.random() < 0.6 else self.switches()
        return self.put(self.one(what), self.one([*self.switches(), *self.all("cpu")]))

    def slow_adapter(self) -> str:
        net = self.one(self.all("net"))
        rate = int(net.attributes.get("speed", "0")) if net else 0
        return self.set(net, "speed", self.pick.choice([str(rate // 2), str(rate // 10), str(rate // 1000), "0"])) if rate else ""

    def one_port(self) -> str:
        nets = [n for n in self.all("net") if "guid" in n.attributes]
        return self.set(self.one(nets), "guid", self.pick.choice(nets).attributes["guid"]) if nets else ""

    def no_gpu_direct(self) -> str:
        return self.set(self.one([n for n in self.all("net") if "gdr" in n.attributes]), "gdr", "0")

    def no_switch(self) -> str:
        """What hangs from a switch hangs from what is above it."""
        switch = self.one(self.switches())
        if switch is None:
            return ""
        above = self.parents[id(switch)]
        at = above.children.index(switch)
        above.children[at : at + 1] = switch.children
        return self.named(switch, "left out")
