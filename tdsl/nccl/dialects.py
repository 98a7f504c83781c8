"""The two dialects of NCCL's topology files: NCCL's own, and that of RCCL for AMD's accelerators.

Sources: NCCL 2.30.7, src/graph/xml.cc, xml.h and topo.cc; RCCL 2.21.5 (ROCm 6.3), ROCm/rccl,
src/graph/xml.cc, xml.h, topo.cc and topo.h.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tdsl.system.lazy_dataclass import dataclass

IDS = ("vendor", "device", "subsystem_vendor", "subsystem_device")
OF_CPU = ("affinity", "arch", "vendor", "familyid", "modelid")
OF_NET = ("dev", "speed", "port", "guid", "latency", "maxconn", "gdr")
NIC, NVSWITCH = "0x02", "0x068000"
COMMON = {
    "system": ("version", "name"),
    "cpu": ("numaid", *OF_CPU, "host_hash"),
    "pci": ("busid", "class", *IDS, "link_speed", "link_width"),
    "nic": (),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a library reads of a topology file."""

    name: str
    """The library."""
    release: str
    """The release whose sources the rules are from."""
    version: int
    """The version of the format that it reads."""
    link: str
    """The element of links between accelerators."""
    link_word: str
    """What these links are called."""
    children: Mapping[str, frozenset[str]]
    """Element -> elements it may hold; the file itself is ""."""
    known: Mapping[str, tuple[str, ...]]
    """Element -> attributes that are read."""
    of_gpu: tuple[str, ...]
    """Attributes of a GPU that the library finds out on the machine."""
    gpu_classes: tuple[str, ...]
    """Beginnings of the PCI class of a GPU."""
    classes: tuple[str, ...]
    """Beginnings of all PCI classes that are known."""
    room: int
    """Elements that fit; the reader needs one of them free."""
    most_children: int
    """Elements in one element."""
    per_rank: bool
    """Whether each rank fills in what is above its own GPU alone, and all are fused."""


NCCL = Dialect(
    name="NCCL",
    release="NCCL 2.30",
    version=1,
    link="nvlink",
    link_word="NVLink",
    children={
        "": frozenset({"system"}),
        "system": frozenset({"cpu"}),
        "cpu": frozenset({"pci", "nic"}),
        "pci": frozenset({"pci", "gpu", "nic", "pcilink"}),
        "nic": frozenset({"net"}),
        "gpu": frozenset({"nvlink", "c2c"}),
    },
    known=COMMON
    | {
        "gpu": ("dev", "sm", "rank", "gdr", "mlopart", "keep"),
        "nvlink": ("target", "count", "tclass"),
        "c2c": ("count", "bw"),
        "pcilink": ("target",),
        "net": ("name", *OF_NET, "coll", "gin", "rma", "net", "rail", "plane", "keep"),
    },
    of_gpu=("dev", "sm", "rank", "gdr"),
    gpu_classes=("0x03",),
    classes=("0x060400", "0x080100", NVSWITCH, "0x068001", "0x03", NIC),
    room=256,
    most_children=640,
    per_rank=True,
)
RCCL = Dialect(
    name="RCCL",
    release="RCCL 2.21",
    version=2,
    link="xgmi",
    link_word="xGMI link",
    children={
        "": frozenset({"system"}),
        "system": frozenset({"cpu"}),
        "cpu": frozenset({"pci", "nic"}),
        "pci": frozenset({"pci", "gpu", "nic"}),
        "nic": frozenset({"net"}),
        "gpu": frozenset({"xgmi"}),
    },
    known=COMMON
    | {
        "gpu": ("dev", "sm", "gcn", "arch", "rank", "gdr", "keep"),
        "xgmi": ("target", "count", "tclass"),
        "net": ("name", *OF_NET, "coll", "keep"),
    },
    of_gpu=("dev", "sm", "gcn", "arch", "rank", "gdr"),
    gpu_classes=("0x03", "0x120000"),
    classes=("0x060400", NVSWITCH, "0x068001", "0x03", NIC, "0x120000"),
    room=8192,
    most_children=512,
    per_rank=False,
)
_OF_RCCL = re.compile(
    r"<xgmi\b|<gpu\b[^>]*\bgcn=|\bclass=\"0x12|<pci\b[^>]*\bvendor=\"0x1002\"[^>]*>\s*<gpu\b"
)
_OF_NCCL = re.compile(r"<nvlink\b|<c2c\b|<pci\b[^>]*\bvendor=\"0x10de\"")
_SYSTEM_VERSION_2 = re.compile(r"<system\b[^>]*\bversion=\"2\"")


def dialect_of_text(text: str) -> Dialect:
    """The dialect of a topology file: by its links and accelerators; where it has none that tell, by its
    version."""
    if _OF_RCCL.search(text):
        return RCCL
    if _OF_NCCL.search(text):
        return NCCL
    return RCCL if _SYSTEM_VERSION_2.search(text) else NCCL


def in_words_of(dialect: Dialect, text: str) -> str:
    """A message about NCCL as one about the library of a dialect; names of variables stay."""
    return text if dialect is NCCL else re.sub(r"\bNCCL(?!\w)", dialect.name, text)
