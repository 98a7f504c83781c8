"""A graph file of NCCL (NCCL_GRAPH_FILE, NCCL_GRAPH_DUMP_FILE) beside the dump of a machine: its topology, or
the graphs that NCCL made there.

Devices of a channel are hexadecimal numbers, the server in the highest byte (NCCL 2.30.7,
src/graph/search.cc, ncclTopoGetChannelFromXml; topo.h, NCCL_TOPO_ID).
"""

from __future__ import annotations

from collections import Counter

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.nccl.graph_file import NVLS
from tdsl.nccl.judge import whole_number_of_c
from tdsl.nccl.text import NcclElement

CODE = "E0529"
NAMES = {0: "ring", 1: "tree", 2: "collnet chain", 3: "NVLS", 4: "collnet direct"}
"""Graphs by their ``id``."""
OF_DEVICE = (1 << 56) - 1
FEWER = ("nchannels", "speedintra", "speedinter")
"""Attributes of which less is slower."""
COMPARED = (*FEWER, "pattern", "crossnic", "typeintra", "typeinter", "samechannels")
TRAINED = "look for links that are down or trained low, then take the graphs again"


def compare_graph_with_machine(top: NcclElement, machine: NcclElement, found: Diagnostics) -> tuple[int, int]:
    """What a graph file names that a topology does not have: GPUs and adapters by their numbers, and more of
    an adapter's rate than it has. How many devices of the file were found, and how many it names."""
    have = {
        kind: {
            number: e
            for e in machine.walk()
            if e.name == kind and (number := whole_number_of_c(e.attributes.get("dev", ""))) is not None
        }
        for kind in ("gpu", "net")
    }
    named: dict[tuple[str, int], NcclElement] = {}
    for graph in top.own("graph"):
        for channel in graph.own("channel"):
            for e in channel.children:
                number = _device_number(e)
                if e.name in have and number is not None:
                    named.setdefault((e.name, number), e)
        _judge_gpu_count(graph, len(have["gpu"]), found)
        _judge_adapter_load(graph, have["net"], found)
    judged = 0
    for (kind, number), e in sorted(named.items()):
        if number in have[kind]:
            judged += 1
        elif have[kind]:
            what = "GPU" if kind == "gpu" else "adapter"
            text = f"the machine has no {what} with dev {number}: it has {_numbers_in_words(have[kind])}"
            found.add(CODE, e.place("dev"), text, help="take the graphs on this machine, or correct `dev`")
    return judged, len(named)


def _device_number(e: NcclElement) -> int | None:
    """The number of a device on its server; None where it is none."""
    try:
        return int(e.attributes.get("dev", ""), 16) & OF_DEVICE
    except ValueError:
        return None


def _numbers_in_words(have: dict[int, NcclElement]) -> str:
    numbers = sorted(have)
    if numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))


def _judge_gpu_count(graph: NcclElement, gpus: int, found: Diagnostics) -> None:
    """Channels name all GPUs of the server once: NCCL writes beyond its table otherwise."""
    if whole_number_of_c(graph.attributes.get("id", "")) == NVLS or not gpus:
        return
    for channel in graph.own("channel"):
        if channel.own("gpu") and len(channel.own("gpu")) != gpus:
            text = f"{len(channel.own('gpu'))} GPUs in a channel, and the machine has {gpus}"
            found.add(CODE, channel.span, text, help="take the graphs on this machine, with all its GPUs")
            return


def _judge_adapter_load(graph: NcclElement, nets: dict[int, NcclElement], found: Diagnostics) -> None:
    """Channels that enter by one adapter may not need more than its rate (GB/s; `speed` is in Mb/s)."""
    try:
        each = float(graph.attributes.get("speedinter", ""))
    except ValueError:
        return
    load = Counter(
        number
        for channel in graph.own("channel")
        if (first := next(iter(channel.own("net")), None)) is not None
        and (number := _device_number(first)) is not None
    )
    for number, channels in sorted(load.items()):
        rate = whole_number_of_c(nets[number].attributes.get("speed", "")) if number in nets else None
        if rate and channels * each > 1.01 * rate / 8000:
            text = (
                f"{channels} channels of {each:g} GB/s enter by the adapter with dev {number}, whose rate is "
                f"{rate / 8000:g} GB/s"
            )
            found.add(CODE, graph.place("speedinter"), text, help=TRAINED, severity=Severity.WARNING)


def compare_graph_with_graph(top: NcclElement, machine: NcclElement, found: Diagnostics) -> tuple[int, int]:
    """What differs between the graphs of a file and those of a dump. How many graphs both have, and how many
    the file has."""
    real = {g.attributes.get("id", ""): g for g in machine.own("graph")}
    judged = 0
    for graph in top.own("graph"):
        number = graph.attributes.get("id", "")
        name = f"graph {number} ({NAMES.get(whole_number_of_c(number) or 0, 'unknown')})"
        other = real.get(number)
        if other is None:
            text = f"the machine's graphs have no {name}"
            found.add(CODE, graph.place("id"), text, help="leave it out: NCCL searches what is absent")
            continue
        judged += 1
        _compare_attributes(graph, other, name, found)
        _compare_channels(graph, other, name, found)
    return judged, len(top.own("graph"))


def _compare_attributes(graph: NcclElement, other: NcclElement, name: str, found: Diagnostics) -> None:
    """Attributes of one graph in two files. Fewer channels or a lower rate on the machine is an error."""
    for key in COMPARED:
        mine, its = graph.attributes.get(key, ""), other.attributes.get(key, "")
        if not mine or not its or _as_number(mine) == _as_number(its):
            continue
        a, b = _as_number(mine), _as_number(its)
        slower = key in FEWER and isinstance(a, float) and isinstance(b, float) and b < a
        text = f'{name} has {key}="{mine}", on the machine "{its}"'
        found.add(
            CODE,
            graph.place(key),
            text,
            help=TRAINED if slower else "take the graphs again, if the machine is right",
            severity=Severity.ERROR if slower else Severity.WARNING,
        )


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _compare_channels(graph: NcclElement, other: NcclElement, name: str, found: Diagnostics) -> None:
    """The order of devices in the channels of one graph in two files."""
    mine, its = (
        [[(e.name, _device_number(e)) for e in c.children] for c in g.own("channel")] for g in (graph, other)
    )
    differing = [k for k, (a, b) in enumerate(zip(mine, its, strict=False)) if a != b]
    if differing:
        count = f"{len(differing)} of {len(mine)} channels"
        text = (
            f"{name}: {count} pass the devices in another order on the machine, the first is {differing[0]}"
        )
        place = graph.own("channel")[differing[0]].span
        help = "take the graphs again, if the machine is right"
        found.add(CODE, place, text, help=help, severity=Severity.WARNING)
