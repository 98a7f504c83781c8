"""Which adapters are nearest to which GPUs in a topology file, and what the PCIe links between them carry:
where one GPU or adapter of a host differs from its fellows, NCCL plans all channels for the worst.

Source: NCCL 2.30.7, src/graph/topo.cc (ncclTopoGetLocal: the nearest by bandwidth and path), search.cc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tdsl.findings.diagnostic import Severity
from tdsl.nccl.dialects import NVSWITCH
from tdsl.nccl.judge import NcclFileJudge, whole_number_of_c
from tdsl.nccl.text import NcclElement
from tdsl.system.lazy_dataclass import dataclass

LANE_MBPS = {"2.5": 1500, "5": 3000, "8": 6000, "16": 12000, "32": 24000, "64": 48000}
"""Mb/s of a lane as NCCL counts it, by the beginning of `link_speed`: 48 GB/s for 16 lanes of 32 GT/s
(topo.h)."""
UNREAD_LANE_MBPS = LANE_MBPS["8"]
"""What NCCL counts where it cannot read the speed."""


@dataclass(frozen=True, slots=True)
class PlacedDevice:
    """A GPU or adapter: its PCIe function, and what is above it from the processor down."""

    element: NcclElement
    above: tuple[NcclElement, ...]


def counted_pcie_mbps(e: NcclElement) -> int:
    """What NCCL counts for the PCIe link of a function in Mb/s: of a speed that it cannot read generation 3,
    and 16 lanes where there is no width."""
    speed = e.attributes.get("link_speed", "")
    lane = next(
        (m for w, m in LANE_MBPS.items() if speed.startswith((f"{w}.0 GT/s PCIe", f"{w} GT/s"))), None
    )
    return (lane or UNREAD_LANE_MBPS) * (whole_number_of_c(e.attributes.get("link_width", "")) or 16)


def judge_nearest_adapters(judge: NcclFileJudge) -> None:
    """Warn where a GPU has fewer adapters nearest to it than others have, an adapter fewer GPUs, or a
    narrower way."""
    gpus, adapters = _placed_devices(judge)
    if not gpus or not adapters:
        return
    pairs = [(g, a) for g in gpus for a in _nearest_devices(g, adapters)]
    per_gpu = Counter(id(g) for g, _ in pairs)
    per_adapter = Counter(id(a) for _, a in pairs)
    usual = _usual_value(per_gpu[id(g)] for g in gpus)
    few = [g for g in gpus if per_gpu[id(g)] < usual]
    usual_gpus = _usual_value(per_adapter[id(a)] for a in adapters)
    lone = [a for a in adapters if per_adapter[id(a)] < usual_gpus]
    if few:
        text = (
            f"{per_gpu[id(few[0])]} of {len(adapters)} adapters are nearest to this GPU, and {usual} to "
            "others: NCCL plans all channels for the fewest"
        )
        _warn(
            judge,
            few[0].element,
            "busid",
            text,
            "write the adapter that is missing, or put it below its own switch",
        )
    elif lone:
        text = (
            f"this adapter is the nearest of {per_adapter[id(lone[0])]} GPUs, and others are of "
            f"{usual_gpus}: NCCL uses it for none or fewer"
        )
        _warn(
            judge,
            lone[0].element,
            "busid",
            text,
            "put it below the switch that it is connected to, beside its GPU",
        )
    _judge_way_rates(judge, pairs)


def judge_empty_adapters(judge: NcclFileJudge) -> None:
    """Warn of a <nic> without a device beside others that have one."""
    nics = [e for e in judge.elements if e.name == "nic"]
    empty = [e for e in nics if not e.own("net")]
    if empty and len(empty) < len(nics):
        _warn(
            judge,
            empty[0],
            "",
            "<nic> has no <net>: this adapter has no device that NCCL could use",
            "write its <net>, or leave <nic> out",
        )


def _judge_way_rates(judge: NcclFileJudge, pairs: Sequence[tuple[PlacedDevice, PlacedDevice]]) -> None:
    """PCIe links on the way between a GPU and its nearest adapter that carry less than those of other pairs;
    of the links of devices themselves, where the file has their speed, other rules tell."""
    ways = [_links_between(g, a) for g, a in pairs]
    rates = [min(map(counted_pcie_mbps, way)) for way in ways]
    usual = _usual_value(rates)
    reported: set[int] = set()
    for way, rate in zip(ways, rates, strict=True):
        narrow = min(way, key=counted_pcie_mbps)
        if rate < usual and id(narrow) not in reported and not _is_judged_alone(narrow):
            reported.add(id(narrow))
            text = (
                f"this link has {rate} Mb/s, as NCCL counts, on the way from a GPU to its adapter; others "
                f"have {usual}"
            )
            at = "link_speed" if narrow.attributes.get("link_speed", "x") == "" else "link_width"
            _warn(judge, narrow, at, text, "write the link's own speed and width")


def _is_judged_alone(e: NcclElement) -> bool:
    """Whether rules about GPUs or adapters compare this link with those of its fellows."""
    device = bool(e.own("gpu")) or any(n.own("net") for n in e.own("nic"))
    speed = e.attributes.get("link_speed", "")
    return device and any(speed.startswith((f"{w}.0 GT/s", f"{w} GT/s")) for w in LANE_MBPS)


def _placed_devices(judge: NcclFileJudge) -> tuple[list[PlacedDevice], list[PlacedDevice]]:
    """GPUs and adapters that NCCL comes to."""
    gpus: list[PlacedDevice] = []
    adapters: list[PlacedDevice] = []

    def visit(e: NcclElement, above: tuple[NcclElement, ...]) -> None:
        for child in e.own("pci"):
            if judge.is_gpu(child):
                gpus.append(PlacedDevice(child, above))
            elif judge.is_adapter(child):
                adapters.append(PlacedDevice(child, above))
            elif not child.attributes.get("class", "").startswith(NVSWITCH):
                visit(child, (*above, child))

    for cpu in judge.top.own("cpu"):
        visit(cpu, (cpu,))
    return gpus, adapters


def _shared_depth(a: PlacedDevice, b: PlacedDevice) -> int:
    """How many of the elements above two devices are above both: 0 on two processors."""
    return next(
        (k for k, (x, y) in enumerate(zip(a.above, b.above, strict=False)) if x is not y),
        min(len(a.above), len(b.above)),
    )


def _nearest_devices(device: PlacedDevice, others: Sequence[PlacedDevice]) -> list[PlacedDevice]:
    """Those that share the lowest switch or processor with it; all where none shares one."""
    depths = [_shared_depth(device, o) for o in others]
    return [o for o, depth in zip(others, depths, strict=True) if depth == max(depths)]


def _links_between(a: PlacedDevice, b: PlacedDevice) -> list[NcclElement]:
    """The PCIe functions whose links lead from one device to another."""
    shared = _shared_depth(a, b)

    def links(d: PlacedDevice) -> Iterator[NcclElement]:
        yield d.element
        yield from (e for e in d.above[shared:] if e.name == "pci")

    return [*links(a), *links(b)]


def _usual_value(values: Iterable[int]) -> int:
    """The commonest, the highest of several as common."""
    counts = Counter(values)
    return max(counts, key=lambda v: (counts[v], v))


def _warn(judge: NcclFileJudge, e: NcclElement, name: str, text: str, help: str) -> None:
    judge.tell("E0526", e.place(name), text, help, Severity.WARNING)
