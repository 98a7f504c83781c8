"""What is wrong with a topology file or graph file of NCCL, reported before NCCL says nothing and runs at
half speed.

Wrong values NCCL takes without a word, and what is left out it fills in from the machine, on each rank what
that rank sees; ranks that see different things then hold one switch for two. A file is read as NCCL reads it
(``nccl.text``) and judged by what NCCL 2.30.7 does with it: src/graph/xml.cc, topo.cc and search.cc. Files of
RCCL are judged by what RCCL 2.21 does (``nccl.dialects``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.nccl.dialects import IDS, NCCL, NVSWITCH, OF_CPU, OF_NET, RCCL, Dialect, dialect_of_text
from tdsl.nccl.graph_file import judge_graphs
from tdsl.nccl.judge import NcclFileJudge, strtol_result_text, whole_number_of_c
from tdsl.nccl.rules import is_dump_of_machine, judge_host
from tdsl.nccl.text import GRAPHS, MAX_ATTRIBUTES, NcclElement, read_nccl_xml
from tdsl.system.nouns import counted_noun

NEEDED = {
    "system": ("version",),
    "cpu": ("numaid",),
    "pci": ("busid",),
    "nvlink": ("count",),
    "xgmi": ("count",),
    "c2c": ("count", "bw"),
    "pcilink": ("target",),
    "net": ("name",),
}
"""What NCCL has from nowhere else."""

OF_PCI = ("class", "link_speed", "link_width")
OF_LINK = ("target", "tclass")
"""What NCCL finds out on the machine where a file does not say it, beside that of GPUs and adapters."""

WHOLE = ("numaid", "familyid", "modelid", *IDS, "link_width", "dev", "sm", "rank", "gdr", "mlopart",
         "count", "bw", "speed", "port", "maxconn", "coll", "gin", "rma", "net", "rail", "plane",
         "version")  # fmt: skip
HARMLESS = ("port", "link_width", "maxconn")
"""Numbers that NCCL's plan is the same without: a width that it cannot read counts as 16 lanes."""
NUMBERS = {"sm": "10 × major + minor: 90 for compute capability 9.0", "speed": "write 400000 for 400 Gb/s"}
VENDORS = ("GenuineIntel", "AuthenticAMD", "CentaurHauls", "  Shanghai  ")
ARCHITECTURES = ("x86_64", "arm64", "ppc64")
SPEEDS = (
    "2.5 GT/s",
    "5 GT/s",
    "8 GT/s",
    "16 GT/s",
    "32 GT/s",
    "5.0 GT/s PCIe",
    "8.0 GT/s PCIe",
    "16.0 GT/s PCIe",
    "32.0 GT/s PCIe",
    "64.0 GT/s PCIe",
)
UNKNOWN_SPEED = "Unknown"
"""What Linux says of a PCIe link in a virtual machine (drivers/pci/probe.c, pci_speed_string)."""
GCN = re.compile(r"gfx[0-9a-f]{3,4}|906|908|910|94[0-2]")
"""Names of AMD's architectures, and the old numbers that RCCL takes for some (archinfo.cc)."""
SAFE_SHARE = 57
"""Of the elements that fit, how many NCCL may need for its own."""
FILLED_IN = "E0528"
"""The code of what NCCL will take from the machine."""

_BUS = re.compile(r"(?:[0-9a-f]{4}|[1-9a-f][0-9a-f]{4,7}):[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_AFFINITY = re.compile(r"(?:0x)?[0-9a-f]{1,8}(?:,[0-9a-f]{1,8}){0,31}")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{1,16}", re.IGNORECASE)
_DECIMAL = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[-+]?[0-9]++)?", re.IGNORECASE)


def lint_nccl_file(file: SourceFile) -> list[Diagnostic]:
    """Everything to say about a file, in the order of its text.

    Errors are what NCCL refuses or what makes its result wrong; notes are what it will take from the machine.
    """
    found = Diagnostics()
    top = read_nccl_xml(file, found)
    if top is not None and top.name in GRAPHS[""]:
        judge_graphs(top, found)
    elif top is not None:
        _Topology(top, found, dialect_of_text(file.text)).judge()
    return sorted(found, key=lambda d: (d.span.start if d.span else 0, d.code, d.message))


def _attributes_of_rank(e: NcclElement, per_rank: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a rank fills in of a <cpu> or <pci> above its own GPU; and of that what NCCL refuses to be
    without."""
    have = e.attributes
    if e.name == "cpu":
        x86 = have.get("arch", "x86_64").startswith("x86_64")
        wanted: tuple[str, ...] = OF_CPU if x86 else ("affinity",)
        amd = have.get("vendor", "").startswith("Authentic") and per_rank
        refused: tuple[str, ...] = ("arch", "vendor") if amd else OF_CPU[1:]
        refused = refused if x86 else ()
    else:
        wanted = (*OF_PCI, *IDS)
        refused = OF_PCI
    return wanted, refused


class _Topology(NcclFileJudge):
    """A topology file, as ncclTopoGetSystem works on it."""

    def __init__(self, top: NcclElement, found: Diagnostics, dialect: Dialect) -> None:
        super().__init__(top, found, dialect)
        self.notes: dict[tuple[str, str], list[NcclElement]] = {}

    def judge(self) -> None:
        """All rules."""
        self.version(self.dialect.version)
        for e in self.elements:
            self.unknown(e, self.dialect.known)
            self.room(e)
            self.complete(e)
            self.values(e)
        for cpu in self.top.children:
            self.agreed(cpu)
        self.places()
        self.unique()
        self.direct_links()
        judge_host(self)
        safe = self.dialect.room - SAFE_SHARE
        if len(self.elements) > safe:
            most = self.dialect.room - 1
            text = f"{len(self.elements)} elements: NCCL adds its own, and supports {most} in total"
            self.tell("E0525", self.top.span, text, f"stay below {safe + 1}", Severity.WARNING)
        if bare := [e for e in self.elements if self.is_gpu(e) and not e.own("gpu")]:
            text = (
                f"{counted_noun(len(bare), 'GPU')} by class alone: NCCL takes compute capability, ranks and "
                f"{self.dialect.link_word}s from the machine"
            )
            self.tell(FILLED_IN, bare[0].span, text, "nothing to do where NCCL can see it", Severity.NOTE)
        for (name, words), elements in self.notes.items():
            text = f"{len(elements)} <{name}> without {words}: NCCL takes that from the machine"
            self.tell(FILLED_IN, elements[0].span, text, "nothing to do where NCCL can see it", Severity.NOTE)

    def by_machine(self, e: NcclElement, names: list[str]) -> None:
        """Note what NCCL will fill in."""
        if names:
            self.notes.setdefault((e.name, ", ".join(f"`{n}`" for n in names)), []).append(e)

    # ------------------------------------------------------------ attributes
    def room(self, e: NcclElement) -> None:
        """The attributes NCCL adds must find room beside those of the file (xmlSetAttr does not look)."""
        added = [
            n
            for n in self.dialect.known[e.name]
            if n not in e.attributes and e.name in ("cpu", "pci", "gpu", "net")
        ]
        total = len(e.attributes) + len(added)
        if len(e.attributes) <= MAX_ATTRIBUTES < total:
            text = (
                f"{len(e.attributes)} attributes, and NCCL adds up to {len(added)}: it has room for "
                f"{MAX_ATTRIBUTES}"
            )
            self.tell("E0525", e.span, text, "leave out what NCCL does not know", Severity.WARNING)

    def complete(self, e: NcclElement) -> None:
        """What each element must say. Those of processors and PCIe functions depend on what is below them:
        ``agreed``."""
        for name in NEEDED.get(e.name, ()):
            if name not in e.attributes and e is not self.top:
                self.lacks(
                    e,
                    name,
                    "no adapter matches it, and NCCL drops it" if e.name == "net" else "NCCL gives up",
                )
        link = self.dialect.link
        filled = {"gpu": self.dialect.of_gpu, link: OF_LINK, "net": OF_NET}.get(e.name, ())
        to_gpu = e.attributes.get("tclass", "").startswith(self.dialect.gpu_classes)
        if e.name == link and to_gpu and "target" not in e.attributes:
            self.lacks(e, "target")
        elif filled:
            self.by_machine(e, [n for n in filled if n not in e.attributes])
        if e.name == "gpu" and not e.own(link) and not is_dump_of_machine(self.top):
            self.by_machine(e, [link])

    def agreed(self, e: NcclElement) -> None:
        """What ranks disagree about in an element and in all below it."""
        if e.name not in ("cpu", "pci"):
            return
        self.agreed_by_ranks(e)
        for child in e.children:
            self.agreed(child)

    def agreed_by_ranks(self, e: NcclElement) -> None:
        """Where a rank fills in what is missing above its own GPU, and another keeps the same element for an
        adapter named in the file, the two no longer take it for one (xmlFindNode compares all attributes)."""
        below = e.walk()
        named = any(n.name == "net" and "name" in n.attributes for n in below)
        above_gpu = any(self.is_gpu(n) for n in below)
        wanted, refused = _attributes_of_rank(e, self.dialect.per_rank)
        missing = [n for n in wanted if n not in e.attributes]
        kept = set(refused) if named else set()
        if not self.dialect.per_rank and above_gpu:  # each rank fills in what is above all GPUs of the host
            kept = set()
        if not self.is_gpu(e) or e.own("nic"):
            self.refuse_unfilled(e, [n for n in missing if n in kept])
        unsaid = [n for n in missing if n not in kept]
        self.report_unsaid(e, unsaid, named and above_gpu and self.dialect.per_rank)

    def report_unsaid(self, e: NcclElement, unsaid: list[str], shared: bool) -> None:
        """What the file leaves to NCCL; ``shared``: which ranks fill in differently."""
        if shared and unsaid and not self.is_gpu(e):
            text = (
                f"<{e.name}> lacks {', '.join(unsaid)}: the ranks whose GPU is below fill that in, the "
                "others do not"
            )
            self.tell("E0527", e.span, text, "write them, or leave the adapters below to NCCL")
        else:
            self.by_machine(e, unsaid)

    def refuse_unfilled(self, e: NcclElement, names: Sequence[str]) -> None:
        """Attributes that no rank fills in, since one keeps the element for an adapter of the file."""
        for name in names:
            why = "a rank that keeps this for an adapter of the file does not fill it in, and gives up"
            self.lacks(
                e,
                name,
                why if self.dialect.per_rank else "NCCL fills in what is above GPUs alone, and gives up",
            )

    # ------------------------------------------------------------ values
    def values(self, e: NcclElement) -> None:
        """Values that NCCL misreads without a word."""
        have = e.attributes
        for name, value in have.items():
            if set(value) & set("<>&"):
                self.misread(e, name, "NCCL decodes no entities", "use plain letters")
            elif (
                value
                and name in WHOLE
                and (e.name, name) != ("cpu", "vendor")
                and whole_number_of_c(value) is None
            ):
                if e is self.top:  # ``version`` has spoken
                    continue
                width_unread = strtol_result_text(value) == "it takes 0"
                self.misread(
                    e,
                    name,
                    f"not a whole number as NCCL reads one ({strtol_result_text(value)})",
                    NUMBERS.get(name, "such as 16 or 0x10"),
                    Severity.WARNING
                    if name in HARMLESS and (name != "link_width" or width_unread)
                    else Severity.ERROR,
                )
            elif value == "" and name in WHOLE and name != "link_width":
                self.misread(
                    e, name, "empty: NCCL takes 0", "write the number, or leave it out", Severity.WARNING
                )
        judge = {
            "cpu": self.cpu,
            "pci": self.pci,
            "gpu": self.gpu,
            self.dialect.link: self.gpu_link,
            "net": self.net,
        }.get(e.name)
        if judge:
            judge(e)

    def cpu(self, e: NcclElement) -> None:
        """A processor."""
        have = e.attributes
        if have.get("affinity") and not _AFFINITY.fullmatch(have["affinity"].lower()):
            help = "32-bit words in hexadecimal, highest first, such as 000000ff,ffffffff"
            self.misread(e, "affinity", "not a mask of processors", help)
        if "arch" in have and not have["arch"].startswith(ARCHITECTURES):
            self.misread(e, "arch", "unknown to NCCL", f"known: {', '.join(ARCHITECTURES)}")
        if (
            "vendor" in have
            and have.get("arch", "").startswith("x86_64")
            and not have["vendor"].startswith(VENDORS)
        ):
            self.misread(
                e,
                "vendor",
                "unknown, so NCCL counts no limit between processors",
                f"known: {', '.join(VENDORS[:3])}",
            )

    def pci(self, e: NcclElement) -> None:
        """A PCIe function or switch."""
        self.bus_id(e)
        classes = self.dialect.classes
        if e.attributes.get("class") and not e.attributes["class"].startswith(classes):
            self.misread(
                e,
                "class",
                "unknown, so NCCL takes it for a switch",
                f"known beginnings: {', '.join(classes)}",
                Severity.WARNING,
            )
        self.pcie_link(e)

    def bus_id(self, e: NcclElement) -> None:
        """The bus id of a PCIe function, as NCCL itself writes it."""
        have = e.attributes
        if "busid" in have and not _BUS.fullmatch(have["busid"]):
            why = "NCCL compares letter by letter with what it prints itself"
            self.misread(e, "busid", why, "write it like 0000:1b:00.0: four digits of domain, lower case")
        elif "busid" in have and self.dialect is NCCL and self.is_gpu(e) and have["busid"][-1] not in "048c":
            self.misread(
                e,
                "busid",
                "NCCL uses the two lowest bits of a GPU's function itself",
                "the function of a GPU is 0, 4, 8 or c",
            )

    def pcie_link(self, e: NcclElement) -> None:
        """Speed and width of the PCIe link above a function or switch."""
        have = e.attributes
        speed = have.get("link_speed")
        unknown = speed is not None and speed.startswith(UNKNOWN_SPEED)
        if speed and not unknown and not speed.startswith(SPEEDS):
            self.misread(
                e, "link_speed", "unknown, so NCCL counts generation 3", 'write such as "32.0 GT/s PCIe"'
            )
        if speed == "" or unknown or have.get("link_width") in ("", "0"):
            text = "a PCIe link without speed or width: NCCL counts generation 3 and 16 lanes"
            self.tell(
                FILLED_IN,
                e.place("link_speed" if not speed or unknown else "link_width"),
                text,
                "write them if they differ",
                Severity.NOTE,
            )

    def gpu(self, e: NcclElement) -> None:
        """A GPU."""
        sm, dev = (
            whole_number_of_c(e.attributes.get("sm", "")),
            whole_number_of_c(e.attributes.get("dev", "")),
        )
        gcn = e.attributes.get("gcn")
        if gcn is not None and not GCN.fullmatch(gcn.partition(":")[0]):
            why = "no architecture of AMD's, so RCCL counts 24 GB/s for an xGMI link"
            self.misread(e, "gcn", why, "write such as gfx942 or gfx90a", Severity.WARNING)
        if sm is not None and sm < 60 and self.dialect is NCCL:
            self.misread(e, "sm", "less than any GPU that NCCL serves", NUMBERS["sm"])
        if dev is not None and not -1 <= dev <= 31 and self.dialect is NCCL:
            self.misread(e, "dev", "NCCL holds 32 GPUs a host", "0 to 31")
        if "keep" in e.attributes:
            self.misread(
                e, "keep", "NCCL's own mark: every rank then keeps this GPU", "leave it out", Severity.WARNING
            )

    def gpu_link(self, e: NcclElement) -> None:
        """Links of a GPU to one target."""
        far = (NVSWITCH, "0x068001", *self.dialect.gpu_classes)
        if "tclass" in e.attributes and not e.attributes["tclass"].startswith(far):
            gpu = "0x120000" if self.dialect is RCCL else "0x030200"
            help = f"{NVSWITCH} for an NVSwitch, {gpu} for a GPU"
            self.misread(e, "tclass", "NCCL takes it for an NVSwitch", help, Severity.WARNING)
        count = whole_number_of_c(e.attributes.get("count", ""))
        if count is not None and count < 1:
            self.misread(e, "count", "no links", "write how many there are")

    def net(self, e: NcclElement) -> None:
        """A network device."""
        have = e.attributes
        speed = whole_number_of_c(have.get("speed", ""))
        if speed is not None and speed < 1000:
            why = "in Mb/s; NCCL counts 10 Gb/s" if speed <= 0 else "in Mb/s; this is less than 1 Gb/s"
            self.misread(e, "speed", why, NUMBERS["speed"])
        if have.get("guid") and not _HEX.fullmatch(have["guid"]):
            self.misread(e, "guid", "not a hexadecimal number of 64 bits", "write such as 0xa088c20300123456")
        if have.get("latency") and not _DECIMAL.fullmatch(have["latency"]):
            self.misread(e, "latency", "not a number", "microseconds, such as 0 or 1.5", Severity.WARNING)

    # ------------------------------------------------------------ several elements
    def places(self) -> None:
        """Elements that NCCL holds but never comes to (ncclTopoAddPci)."""
        for e in self.elements:
            if e.name != "pci":
                continue
            for nic in e.own("nic")[1:]:
                self.tell(
                    "E0522",
                    nic.span,
                    "NCCL reads the first <nic> of a <pci> only",
                    "put all its <net> into one",
                )
            holder = "a GPU" if e.own("gpu") else "an adapter" if e.own("nic") else ""
            if not holder:
                holder = "a GPU" if self.is_gpu(e) else "an adapter" if self.is_adapter(e) else ""
            for below in e.own("pci") if holder else ():
                self.tell(
                    "E0522",
                    below.span,
                    f"NCCL never comes to a <pci> below {holder}",
                    "put it beside, below the switch",
                )

    def unique(self) -> None:
        """What must be distinct."""
        by_name: dict[str, list[NcclElement]] = {}
        for e in self.elements:
            by_name.setdefault(e.name, []).append(e)
        by_name["net"] = self.distinct_nets(by_name.get("net", []))
        for name, attribute in (
            ("pci", "busid"),
            ("cpu", "numaid"),
            ("gpu", "dev"),
            ("gpu", "rank"),
            ("net", "name"),
            ("net", "dev"),
        ):
            harmless = (name, attribute) in (("gpu", "rank"), ("net", "dev"))
            self.once(by_name.get(name, []), attribute, Severity.WARNING if harmless else Severity.ERROR)
        nets = [e for e in by_name["net"] if "guid" in e.attributes]
        places = Counter((_comparable_value(e, "guid", 16), _comparable_value(e, "port", 0)) for e in nets)
        for e in nets:
            count = places[_comparable_value(e, "guid", 16), _comparable_value(e, "port", 0)]
            if count > 1:
                text = f"{count} nets have one guid and one port: NCCL lets them share one port's bandwidth"
                self.tell(
                    "E0526",
                    e.place("guid"),
                    text,
                    "a guid belongs to one adapter, a port to one of its sockets",
                )

    def distinct_nets(self, nets: list[NcclElement]) -> list[NcclElement]:
        """The network devices; one that a dump has below several processors is one. Each rank puts what has
        no PCIe function below the first processor that it knows (ncclTopoFillNet)."""
        if not is_dump_of_machine(self.top):
            return nets
        virtual = [n for cpu in self.top.own("cpu") for nic in cpu.own("nic") for n in nic.own("net")]
        firsts = {n.attributes.get("name"): n for n in reversed(virtual)}
        repeated = {id(n) for n in virtual} - {id(n) for n in firsts.values()}
        return [n for n in nets if id(n) not in repeated]

    def links_of_gpus(self) -> Iterator[tuple[NcclElement, NcclElement]]:
        """Every NVLink of a GPU, with the PCIe function that it is listed below."""
        for pci in self.elements:
            for gpu in pci.own("gpu"):
                yield from ((pci, link) for link in gpu.own(self.dialect.link))

    def direct_links(self) -> None:
        """NVLinks between two GPUs must be listed by both, with one count (ncclTopoAddNvLinks,
        ncclTopoComputePaths)."""
        counts: Counter[tuple[str, str]] = Counter()
        place: dict[tuple[str, str], NcclElement] = {}
        buses = {e.attributes.get("busid") for e in self.elements if e.name == "pci"}
        words, useful = f"{self.dialect.link_word}s", False
        for pci, link in self.links_of_gpus():
            to_gpu = link.attributes.get("tclass", "").startswith(self.dialect.gpu_classes)
            useful |= link.attributes.get("target") != pci.attributes.get("busid")
            if to_gpu and "target" in link.attributes:
                key = (pci.attributes.get("busid", ""), link.attributes["target"])
                counts[key] += whole_number_of_c(link.attributes.get("count", "")) or 0
                place[key] = link
        for (a, b), count in counts.items():
            at = place[a, b].place("target")
            if a == b:  # a virtual machine may list the bridge between its two cards so, of all of them
                text = f"{words} from a GPU to itself: NCCL makes no use of them"
                severity = Severity.WARNING if useful else Severity.NOTE
                self.tell("E0526", at, text, "name the NVSwitch or the other GPU", severity)
            elif b not in buses:
                text = f"no <pci> has busid {b}: NCCL drops these {words}"
                self.tell("E0526", at, text, "write the bus id as at that GPU")
            elif counts.get((b, a)) != count:
                text = f"{count} {words} from {a} to {b}, but {counts.get((b, a), 0)} back"
                self.tell("E0526", at, text, "list them at both GPUs, with one count")


def _comparable_value(e: NcclElement, name: str, base: int) -> object:
    """A value as NCCL compares it: by number where it is one."""
    text = e.attributes.get(name, "0")
    try:
        return int(text, base)
    except ValueError:
        return text
