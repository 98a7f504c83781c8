"""The inside of host models in the form that NCCL reads: NUMA nodes, PCIe trees, GPUs with their NVLinks,
adapters.

NCCL fills what a file leaves out from the machine, differently for each rank, and then no longer recognises
its own nodes. So a host is described whole or not at all: what a model does not say is a finding at the line
of the layout element.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from tdsl.emit.records import Accelerator, HostLayout, NetPort, NumaNode, NvLink, PciFunction
from tdsl.fabric.subnets import INFINIBAND
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import Origin
from tdsl.semantics.model import DeviceModel, LayoutNode, PortClass
from tdsl.semantics.quantity import Quantity

LINK_SPEEDS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
SWITCH_CLASS, GPU_CLASS, NVSWITCH_CLASS = "0x060400", "0x030200", "0x068000"
INFINIBAND_CLASS, ETHERNET_CLASS = "0x020700", "0x020000"
GPU_VENDORS = {"amd": "0x1002", "nvidia": "0x10de"}
"""PCI vendor IDs, from the PCI ID Repository (pci-ids.ucw.cz)."""
UNSEEN_SWITCH = "fffffff:ffff:ff"
DATA_DIRECT_CLASS, DATA_DIRECT_SUFFIX = "0x080100", "_dma"
"""The second PCIe function of an adapter, beside the GPU, and what NCCL adds to the name of its device
(src/transport/net_ib/init.cc; NCCL_IB_HCA has the name without it)."""

_BUS = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-9a-f])")
_IDS = re.compile(r"(?:0x)?([0-9a-f]{1,4}):(?:0x)?([0-9a-f]{1,4})")

Key = tuple[str, int]


class _Incomplete(Exception):
    """Something needed is missing; the finding has been made."""


def host_layouts(
    models: Mapping[str, DeviceModel],
    diagnostics: Diagnostics,
    ethernet: Collection[tuple[str, str]] = (),
    outward: Collection[str] = (),
    bonded: Collection[tuple[str, str, int]] = (),
) -> list[HostLayout]:
    """Layouts of the host models that have accelerators, by name; a model without any layout is passed over
    with a note.

    ``ethernet`` has the names of models and their port classes whose links are Ethernet here: an adapter that
    can be both InfiniBand and Ethernet then has the PCI class of the latter. ``outward`` has the models whose
    NVLinks leave the host for switches of this design; of others nothing is written but what the model itself
    joins, and NCCL asks the machine. ``bonded`` has models, port classes and places in them of ports that are
    in a port channel of some host: with RoCE LAG a bond is one RDMA device (``mlx5_bond_0``) at the bus of
    one of its ports, so that NCCL is left to find it (ncclIbInitDevices, src/transport/net_ib/init.cc)."""
    out = []
    for name, model in models.items():
        if model.kind != "host" or not model.accelerators:
            continue
        if not model.layout:
            diagnostics.add(
                "E0506",
                model.origin,
                f"model `{model.name}` does not describe its inside, so it gets no NCCL topology",
                notes=[f"the model says: {said}"] if (said := model.facts.get("note")) else [],
                help="describe its processors and PCIe tree with `numa` and `pcie`",
                severity=Severity.NOTE,
            )
            continue
        try:
            speaks = frozenset(port for m, port in ethernet if m == name)
            joined = frozenset((c, k) for m, c, k in bonded if m == name)
            out.append(_Layout(name, model, diagnostics, speaks, name in outward, joined).host())
        except _Incomplete:
            continue
    return out


def gpu_vendor(model: DeviceModel) -> str:
    """PCI vendor of a host's accelerators, ``0x10de``: that of their layout, else of the chip's ``vendor``;
    "" if unknown."""
    chips = {c.name: c.model for c in model.chips if c.kind == "chip"}
    said = [str(n.facts.get("device", "")) for n in model.layout if n.name in chips]
    found = next((m[1] for text in said if (m := _IDS.fullmatch(text.lower()))), "")
    vendor = next((str(m.facts.get("vendor", "")) for m in chips.values()), "")
    return f"0x{found:0>4}" if found else GPU_VENDORS.get(vendor.lower(), "")


class _Layout:
    """One model's layout, read node by node."""

    def __init__(
        self,
        name: str,
        model: DeviceModel,
        diagnostics: Diagnostics,
        ethernet: frozenset[str],
        outward: bool,
        bonded: frozenset[tuple[str, int]],
    ) -> None:
        self.name = name
        self.bonded = bonded  # ports by class and place that are in a port channel
        self.outward = outward  # NVLinks lead to switches outside
        self.ethernet = ethernet  # port classes whose links are Ethernet
        self.model = model
        self.diagnostics = diagnostics
        self.nodes: dict[Key, LayoutNode] = {(n.name, n.index): n for n in model.layout}
        self.below: dict[Key, list[LayoutNode]] = {}
        for node in model.layout:
            if node.on is not None:
                self.below.setdefault(node.on, []).append(node)
        self.chips = {c.name: c for c in model.chips}
        self.reported: set[str] = set()
        self.net_count = 0
        self.switch_count = 0

    def host(self) -> HostLayout:
        """The whole layout, or _Incomplete after every fault has been reported."""
        numa = [n for n in self.model.layout if n.kind == "numa" and self.below.get((n.name, n.index))]
        nodes = tuple(self.numa(n) for n in numa)
        self.check_accelerators(nodes)
        if self.reported:
            raise _Incomplete
        said = self.model.facts.get("note", "")
        note = said if isinstance(said, str) else ""
        return HostLayout(self.name, self.model.title or self.model.name, gpu_vendor(self.model), nodes, note)

    def check_accelerators(self, nodes: tuple[NumaNode, ...]) -> None:
        """Every accelerator must hang from a NUMA node, or NCCL would see fewer than there are."""

        def count(functions: tuple[PciFunction, ...]) -> int:
            return sum((f.accelerator is not None) + count(f.children) for f in functions)

        found = sum(count(n.children) for n in nodes)
        if found != self.model.accelerators:
            self.fault(
                self.model.origin,
                f"its layout places {found} of {self.model.accelerators} accelerators",
                "give each a `pcie` element that hangs from a `numa` element, at once or through switches",
            )

    # ------------------------------------------------------------ faults and facts
    def fault(self, at: Origin, what: str, help: str) -> None:
        """Tell what is missing or wrong, once."""
        if what in self.reported:
            return
        self.reported.add(what)
        self.diagnostics.add("E0505", at, f"model `{self.model.name}`: {what}", help=help)

    def whole(self, node: LayoutNode, name: str, example: str) -> int:
        """A fact that must be a whole number."""
        value = node.facts.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self.fault(
            node.origin,
            f"{node.name}[{node.index}] {_unreadable_value_text(name, value)}",
            f"write `{name} {example}`",
        )
        return 0

    def word(self, node: LayoutNode, name: str, example: str) -> str:
        """A fact that must be a word or string that NCCL can read."""
        value = node.facts.get(name)
        if isinstance(value, str) and value and not set(value) & set("<>&\"'\n\r\t"):
            return value
        self.fault(
            node.origin,
            f"{node.name}[{node.index}] {_unreadable_value_text(name, value)}",
            f"write `{name} {example}`",
        )
        return ""

    def ids(self, node: LayoutNode, name: str, example: str) -> tuple[str, str]:
        """A pair of PCI ids such as ``15b3:1021``."""
        text = self.word(node, name, f'"{example}"')
        found = _IDS.fullmatch(text.lower())
        if found:
            return f"0x{found[1]:0>4}", f"0x{found[2]:0>4}"
        if text:
            self.fault(
                node.origin,
                f"{node.name}[{node.index}]: `{text}` is not a pair of PCI ids",
                f'write `{name} "{example}"`',
            )
        return "", ""

    def bus(self, node: LayoutNode) -> str:
        """The bus id as NCCL prints it; a switch without one gets a number that is only unique."""
        if "bus" not in node.facts and self.is_switch(node):
            self.switch_count += 1
            return f"ffff:ff:{self.switch_count:02x}.0"
        text = self.word(node, "bus", '"0000:1b:00.0"')
        found = _BUS.fullmatch(text.lower())
        if not found:
            if text:
                self.fault(
                    node.origin,
                    f"{node.name}[{node.index}]: `{text}` is not a PCI bus id",
                    'write `bus "0000:1b:00.0"`',
                )
            return ""
        domain = int(found[1] or "0", 16)
        return f"{domain:04x}:{found[2]:0>2}:{found[3]:0>2}.{found[4]}"

    def is_switch(self, node: LayoutNode) -> bool:
        """Whether a function is neither an accelerator nor an adapter."""
        return node.name not in self.chips and self.model.port_class(node.name) is None

    # ------------------------------------------------------------ NUMA nodes
    def numa(self, node: LayoutNode) -> NumaNode:
        """A processor. Arm processors are known by their architecture alone."""
        arch = self.word(node, "arch", "x86_64")
        needed = arch == "x86_64"
        facts = node.facts
        return NumaNode(
            node.index,
            self.affinity(node, arch),
            arch,
            self.word(node, "vendor", "GenuineIntel") if needed or "vendor" in facts else "",
            self.whole(node, "family", "6") if needed or "family" in facts else "",
            self.whole(node, "cpu_model", "143") if needed or "cpu_model" in facts else "",
            self.children(node),
        )

    def affinity(self, node: LayoutNode, arch: str) -> str:
        """The node's processors as Linux prints them, from the layout or counted from its cores.

        Linux numbers the first thread of every core, node by node, and then the second threads in the same
        order.
        """
        if "affinity" in node.facts:
            return self.word(node, "affinity", '"000000ff,ffffffff"')
        nodes = [n for n in self.model.layout if n.kind == "numa"]
        cores = [n.facts.get("cores") for n in nodes]
        counts = [c for c in cores if isinstance(c, int)]
        if len(counts) != len(nodes):
            self.whole(
                next(n for n, c in zip(nodes, cores, strict=True) if not isinstance(c, int)), "cores", "56"
            )
            return ""
        threads = node.facts.get("threads", 1 if arch == "arm64" else 2)
        total, own = sum(counts), nodes.index(node)
        mask = 0
        for thread in range(threads if isinstance(threads, int) else 1):
            mask |= ((1 << counts[own]) - 1) << (sum(counts[:own]) + thread * total)
        return processor_mask_words(mask)

    # ------------------------------------------------------------ PCIe
    def children(self, node: LayoutNode) -> tuple[PciFunction, ...]:
        """What hangs from an element, in the order of the text; NVSwitches are known to NCCL by their NVLinks
        only."""
        here = self.below.get((node.name, node.index), [])
        return tuple(self.function(n) for n in here if not self.is_nvswitch(n))

    def is_nvswitch(self, node: LayoutNode) -> bool:
        """Whether a function is a switch of the scale-up network."""
        return node.name in self.chips and self.chips[node.name].kind == "switch"

    def function(self, node: LayoutNode) -> PciFunction:
        """A PCIe switch, an accelerator or an adapter."""
        ports = self.model.port_class(node.name)
        vendor, device = self.ids(node, "device", "1000:c030")
        sub_vendor, sub_device = (
            self.ids(node, "subsystem", "15b3:0023") if "subsystem" in node.facts else (vendor, device)
        )
        gen = self.whole(node, "gen", "5")
        if gen and gen not in LINK_SPEEDS:
            self.fault(
                node.origin,
                f"{node.name}[{node.index}]: PCIe generation {gen} is unknown",
                f"known: 1 to {max(LINK_SPEEDS)}",
            )
        default = GPU_CLASS if node.name in self.chips else self.net_class(ports) if ports else SWITCH_CLASS
        return PciFunction(
            self.bus(node),
            self.word(node, "class", default) if "class" in node.facts else default,
            vendor,
            device,
            sub_vendor,
            sub_device,
            f"{LINK_SPEEDS.get(gen, '')} GT/s PCIe",
            self.whole(node, "lanes", "16"),
            self.accelerator(node) if node.name in self.chips else None,
            self.nets(node, ports, str(node.facts.get("class", ""))) if ports else (),
            self.children(node),
        )

    def net_class(self, ports: PortClass) -> str:
        """The PCI class of an adapter: ConnectX shows that of the protocol that its port is set to."""
        return (
            INFINIBAND_CLASS
            if INFINIBAND & set(ports.types) and ports.name not in self.ethernet
            else ETHERNET_CLASS
        )

    def nets(self, node: LayoutNode, ports: PortClass, pci_class: str) -> tuple[NetPort, ...]:
        """Network devices of one adapter: its port, or as many as the operating system tells apart where it
        is split. None where the design does not name them (``is_unnamed``): NCCL then finds them by the bus
        of the adapter."""
        lanes = range(node.index * ports.split, (node.index + 1) * ports.split)
        if lanes.stop > ports.size:
            self.fault(
                node.origin, f"{node.name}[{node.index}] describes no port", f"the class has {ports.size}"
            )
            return ()
        rates: dict[str, int] = {}
        for lane in lanes:
            rates[ports.systems[lane]] = rates.get(ports.systems[lane], 0) + (ports.rate or 0)
        if "" in rates or any(self.is_unnamed(ports, lane) for lane in lanes):
            return ()
        suffix = DATA_DIRECT_SUFFIX if pci_class.startswith(DATA_DIRECT_CLASS) else ""
        out = []
        for place, (system, rate) in enumerate(rates.items()):
            if not rate:
                at = f"port {ports.path(lanes.start)}"
                self.fault(
                    ports.origin, f"{at} has no rate", "write it at the port class: `port nic: 400Gbps`"
                )
            out.append(
                NetPort(
                    system + suffix,
                    self.net_count,
                    rate // 10**6,
                    place + 1,
                    f"0x{self.net_count - place + 1:016x}",
                )
            )
            self.net_count += 1
        return tuple(out)

    def is_unnamed(self, ports: PortClass, lane: int) -> bool:
        """Whether the design has no name of a port's RDMA device: the port is in a bond, or the model names
        its network device, as ``eth0``."""
        ethernet = ports.name in self.ethernet or not INFINIBAND & set(ports.types)
        return (ports.name, lane) in self.bonded or (
            ethernet and ports.netdev(lane) == ports.systems[lane] != ""
        )

    def accelerator(self, node: LayoutNode) -> Accelerator:
        """A GPU: its compute capability is its model's, its scale-up links are the host model's own
        connects."""
        chip = self.chips[node.name].model
        sm = chip.facts.get("sm")
        if not isinstance(sm, int):
            self.fault(
                chip.origin,
                f"chip model `{chip.name}` has no whole number `sm`",
                "write its compute capability: `sm 90`",
            )
        rate, count = node.facts.get("c2c_rate"), node.facts.get("c2c")
        mbytes = int(rate.amount / 8_000_000) if isinstance(rate, Quantity) else 0
        return Accelerator(
            node.index,
            sm if isinstance(sm, int) else 0,
            self.nvlinks((node.name, node.index)),
            count if isinstance(count, int) and mbytes else 0,
            mbytes,
            str(chip.facts.get("codename", "")),
        )

    def nvlinks(self, gpu: Key) -> tuple[NvLink, ...]:
        """Its scale-up links by target. Those that leave the host lead to switches it cannot see."""
        counts: dict[Key, int] = {}
        for link in self.model.links:
            if link.layer == "scaleup" and gpu in (link.a, link.b):
                far = link.b if link.a == gpu else link.a
                counts[far] = counts.get(far, 0) + link.count
        out = [self.nvlink(far, count) for far, count in counts.items()]
        if not out and self.outward:
            outward = self.outward_nvlinks(gpu)
            out = [NvLink(UNSEEN_SWITCH, outward, NVSWITCH_CLASS)] if outward else []
        unseen = sum(n.count for n in out if n.target == UNSEEN_SWITCH)
        seen = [n for n in out if n.target != UNSEEN_SWITCH]
        return (*seen, NvLink(UNSEEN_SWITCH, unseen, NVSWITCH_CLASS)) if unseen else tuple(seen)

    def outward_nvlinks(self, gpu: Key) -> int:
        """Ports of a GPU for scale-up links that leave the host."""
        return sum(
            c.size for c in self.chips[gpu[0]].model.classes if any(t.startswith("NVLINK") for t in c.types)
        )

    def nvlink(self, far: Key, count: int) -> NvLink:
        """Links to a switch, by its bus if the layout has one, or straight to another GPU."""
        node = self.nodes.get(far)
        if far[0] in self.chips and self.chips[far[0]].kind == "switch":
            return NvLink(
                self.bus(node) if node and "bus" in node.facts else UNSEEN_SWITCH, count, NVSWITCH_CLASS
            )
        said = str(node.facts.get("class", GPU_CLASS)) if node else GPU_CLASS
        return NvLink(self.bus(node) if node else "", count, said)


def processor_mask_words(mask: int) -> str:
    """A mask of processors in 32-bit words, highest first: ``000000ff,ffffffff``."""
    words = max(1, -(-mask.bit_length() // 32))
    return ",".join(f"{mask >> (32 * k) & 0xFFFFFFFF:08x}" for k in reversed(range(words)))


def _unreadable_value_text(name: str, value: object) -> str:
    return f"has no `{name}`" if value is None else f"has a `{name}` that NCCL cannot read"
