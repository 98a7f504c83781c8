"""What is wrong with a graph file of NCCL (NCCL_GRAPH_FILE): the rings and trees it shall use, which it
checks against nothing.

The rules are those of ncclTopoGetGraphFromXmlSub and ncclTopoGetChannelFromXml in NCCL 2.30.7,
src/graph/search.cc.
"""

from __future__ import annotations

import re
from collections import Counter

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.nccl.judge import NcclFileJudge, whole_number_of_c
from tdsl.nccl.text import NcclElement

NUMBERS = ("id", "pattern", "crossnic", "nchannels", "samechannels")
RATES = ("speedintra", "speedinter", "latencyinter")
PATHS = ("typeintra", "typeinter")
KNOWN = {
    "graphs": ("version", "name"),
    "graph": (*NUMBERS, *RATES, *PATHS),
    "channel": (),
    "net": ("dev",),
    "gpu": ("dev", "rank"),
}
PATH_TYPES = ("LOC", "NVL", "NVB", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS")
RANGES = {"id": (0, 4), "pattern": (1, 6), "crossnic": (0, 2), "samechannels": (0, 1)}
NVLS = 3
"""The graph of NVLink SHARP, whose channels name one GPU."""
MAX_CHANNELS = 64

_RATE = re.compile(r"[0-9]++(?:\.[0-9]*+)?(?:e[-+]?[0-9]++)?", re.IGNORECASE)
_DEV = re.compile(r"(?:0x)?[0-9a-f]{1,16}", re.IGNORECASE)


def judge_graphs(top: NcclElement, found: Diagnostics) -> None:
    """All rules for a graph file."""
    judge = _Graphs(top, found)
    judge.version()
    for e in judge.elements:
        judge.unknown(e, KNOWN)
    judge.once(top.children, "id")
    for graph in top.children:
        judge.graph(graph)


class _Graphs(NcclFileJudge):
    """A graph file."""

    def graph(self, e: NcclElement) -> None:
        """One graph and its channels."""
        have = e.attributes
        for name in (*NUMBERS, *RATES[:2], *PATHS):
            if name not in have:
                self.lacks(e, name, "NCCL crashes" if name in PATHS else "NCCL gives up")
        self.numbers(e)
        for name in RATES:
            if name in have and not _RATE.fullmatch(have[name]):
                self.misread(
                    e, name, "not a number", "GB/s, or microseconds for a latency, such as 12 or 20.6"
                )
        for name in PATHS:
            if name in have and not have[name].startswith(PATH_TYPES):
                self.misread(e, name, "unknown, so NCCL takes it for LOC", f"known: {', '.join(PATH_TYPES)}")
        self.channels(e)

    def numbers(self, e: NcclElement) -> None:
        """The whole numbers of a graph."""
        have = e.attributes
        for name in NUMBERS:
            value = whole_number_of_c(have.get(name, ""))
            if name in have and value is None:
                self.misread(e, name, "not a whole number", "write such as 2")
            elif value is not None and name in RANGES and not RANGES[name][0] <= value <= RANGES[name][1]:
                self.misread(e, name, "NCCL knows no such number", f"{RANGES[name][0]} to {RANGES[name][1]}")

    def channels(self, e: NcclElement) -> None:
        """As many as the graph says, each with the same GPUs and with a net at both ends or none."""
        stated = whole_number_of_c(e.attributes.get("nchannels", ""))
        if stated is not None and stated != len(e.children):
            text = f"nchannels says {stated}, and there are {len(e.children)} <channel>"
            self.tell(
                "E0526", e.place("nchannels"), text, "make the two agree: NCCL uses the number as it is"
            )
        if len(e.children) > MAX_CHANNELS:
            self.tell(
                "E0525", e.span, f"{len(e.children)} channels: NCCL has {MAX_CHANNELS}", "leave some out"
            )
        gpus = [len(c.own("gpu")) for c in e.children]
        nvls = whole_number_of_c(e.attributes.get("id", "")) == NVLS
        usual = 1 if nvls else Counter(gpus).most_common(1)[0][0] if gpus else 0
        for c, count in zip(e.children, gpus, strict=True):
            if count != usual:
                text = f"{count} GPUs in this channel, {usual} in {'a graph of NVLS' if nvls else 'others'}"
                self.tell(
                    "E0526",
                    c.span,
                    text,
                    "every channel names each GPU of the server once: NCCL writes beyond its table",
                )
            self.devices(c)

    def devices(self, channel: NcclElement) -> None:
        """The order is net, GPUs, net; or GPUs alone."""
        nets = [k for k, d in enumerate(channel.children) if d.name == "net"]
        if nets and nets != [0, len(channel.children) - 1]:
            text = "a channel has a net at both ends, or none"
            self.tell(
                "E0526",
                channel.children[nets[0]].span,
                text,
                "first the net it enters by, then the GPUs, then the net it leaves by",
            )
        for d in channel.children:
            if "dev" not in d.attributes:
                self.lacks(d, "dev")
            elif not _DEV.fullmatch(d.attributes["dev"]):
                self.misread(d, "dev", "not a hexadecimal number", "such as 1f: NCCL reads it with base 16")
            if "rank" in d.attributes and whole_number_of_c(d.attributes["rank"]) is None:
                self.misread(d, "rank", "not a whole number", "write such as 2", Severity.ERROR)
        for gpu in channel.own("gpu"):
            same = [g for g in channel.own("gpu") if g.attributes.get("dev") == gpu.attributes.get("dev")]
            if len(same) > 1 and gpu is not same[0]:
                self.tell(
                    "E0526",
                    gpu.place("dev"),
                    f'GPU dev="{gpu.attributes.get("dev")}" twice in a channel',
                    "name each once",
                )
