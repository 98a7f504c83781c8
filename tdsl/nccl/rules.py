"""Rules about a whole host: what NCCL takes without a word and plans badly with.

Each was found by giving NCCL 2.30's own search a good file with one change, and comparing the channels and
bandwidth it planned (src/graph/topo.cc, paths.cc, search.cc).
"""

from __future__ import annotations

from collections import Counter

from tdsl.findings.diagnostic import Severity
from tdsl.nccl.dialects import NCCL, NIC, NVSWITCH
from tdsl.nccl.judge import NcclFileJudge, whole_number_of_c
from tdsl.nccl.text import NcclElement
from tdsl.nccl.ways import LANE_MBPS, judge_empty_adapters, judge_nearest_adapters

NVLINKS = {80: 12, 90: 18, 100: 18, 103: 18}
"""NVLinks of a GPU by its compute capability (CUDA C++ Programming Guide): 8.0, 9.0, 10.0, 10.3."""
SM = {
    0x20B0: 80, 0x20B2: 80, 0x20B5: 80, 0x20F1: 80, 0x2237: 86, 0x26B9: 89, 0x27B8: 89,
    0x2330: 90, 0x2331: 90, 0x2335: 90, 0x2329: 90, 0x2324: 90, 0x2901: 100, 0x2941: 100,
    0x3182: 103, 0x31C2: 103,
}  # fmt: skip
"""Compute capability by PCI device of vendor 10de (PCI ID Repository, and CUDA's table of compute
capabilities; those of 10.3 from the topologies of oracle-quickstart/oci-hpc)."""
FEWER_NVLINKS = (0x20BD, 0x20F3, 0x20F5, 0x2324)
"""PCI devices with fewer NVLinks than their generation (PCI ID Repository)."""
NVIDIA = 0x10DE
MOST_MBPS = 3_200_000
"""Above the rate of any adapter: four ports of 800 Gb/s."""
SWITCHES = ("0x060400", "0x080100")
MADE_UP = "ffff:"


def judge_host(judge: NcclFileJudge) -> None:
    """All rules, of a file whose elements can be read."""
    functions = [e for e in judge.elements if e.name == "pci"]
    for e in functions:
        _judge_pcie_function(judge, e)
    for e in judge.elements:
        _judge_element(judge, e)
    _judge_switch_links(judge, functions)
    if not _judge_adapter_distance(judge) and judge.dialect is NCCL:
        judge_nearest_adapters(judge)
    judge_empty_adapters(judge)
    _judge_gpus_of_host(judge, [(e, g) for e in functions for g in e.own("gpu")])
    _judge_adapter_rates(judge, [(e, n) for e in functions for nic in e.own("nic") for n in nic.own("net")])


def _judge_pcie_function(judge: NcclFileJudge, e: NcclElement) -> None:
    """One PCIe function."""
    devices = [*e.own("gpu"), *(n.own("net")[0] for n in e.own("nic") if n.own("net"))]
    if len(devices) > 1:
        judge.tell(
            "E0526",
            devices[1].span,
            "two devices in one <pci>: ranks disagree, and NCCL loses one",
            "give each a <pci> with its own busid",
        )
    kind = e.attributes.get("class", "")
    own = judge.dialect is NCCL  # RCCL takes what holds a <gpu> for one, and classes from the machine
    if own and e.own("gpu") and kind and not kind.startswith(judge.dialect.gpu_classes):
        judge.tell(
            "E0526",
            e.place("class"),
            f'a <gpu> in a function of class="{kind}": NCCL gives up',
            'write class="0x030200"',
        )
    if kind.startswith(NVSWITCH) and e.own("pci"):
        judge.tell(
            "E0526",
            e.place("class"),
            "NCCL takes this for an NVSwitch, and never comes to what is below it",
            'write class="0x060400", a PCIe switch',
        )
    known = (*judge.dialect.gpu_classes, NIC, NVSWITCH)
    if own and e.own("pci") and kind and kind not in SWITCHES and not kind.startswith(known):
        judge.tell(
            "E0526",
            e.place("class"),
            f'class="{kind}" of a PCIe switch: ranks with a GPU below write "0x060400", and two switches '
            "come of one",
            'write class="0x060400"',
        )
    if e.attributes.get("busid", "").startswith(MADE_UP) and "class" not in e.attributes:
        judge.tell(
            "E0523",
            e.span,
            "a bus id that no machine has, and no `class`: NCCL gives up",
            'write class="0x060400"',
        )
    width = whole_number_of_c(e.attributes.get("link_width", ""))
    if width is not None and width < 0:
        judge.misread(e, "link_width", "less than nothing: NCCL gives up", "the number of lanes, such as 16")


def _judge_element(judge: NcclFileJudge, e: NcclElement) -> None:
    """What one element says."""
    have = e.attributes
    if e.name == "gpu" and "keep" in have and "rank" in have:
        judge.tell(
            "E0526",
            e.place("keep"),
            "`keep` and `rank` together: other ranks then have the GPU twice",
            "leave both out",
        )
    if e.name == "gpu" and whole_number_of_c(have.get("dev", "")) == -1:
        judge.misread(e, "dev", "NCCL takes -1 for a GPU that is not there", "0 to 31")
    if e.name == "c2c" and any(whole_number_of_c(have.get(n, "1")) == 0 for n in ("count", "bw")):
        judge.tell(
            "E0526",
            e.span,
            "NVLink-C2C without bandwidth: NCCL uses PCIe",
            "write its count and Mb/s, or leave <c2c> out",
            Severity.WARNING,
        )
    _judge_gpudirect_off(judge, e)
    if (
        e.name == "cpu"
        and have.get("vendor") == "GenuineIntel"
        and whole_number_of_c(have.get("familyid", "")) not in (None, 6)
    ):
        judge.tell(
            "E0526",
            e.place("familyid"),
            "NCCL knows family 6 of Intel's processors only, and counts the slowest of them",
            'write familyid="6"',
            Severity.WARNING,
        )
    if e.name == "system" and not e.children:
        judge.tell(
            "E0526",
            e.span,
            "<system> is empty: NCCL takes everything from the machine",
            "leave the file out",
            Severity.WARNING,
        )


def _judge_gpudirect_off(judge: NcclFileJudge, e: NcclElement) -> None:
    """An adapter whose file switches GPUDirect RDMA off, beside others that have it. Where none has it, the
    machine has none, as many virtual machines do."""
    if e.name == "net" and whole_number_of_c(e.attributes.get("gdr", "")) == 0:
        nets = [n for n in judge.elements if n.name == "net"]
        if any(whole_number_of_c(n.attributes.get("gdr", "")) not in (None, 0) for n in nets):
            judge.tell(
                "E0526",
                e.place("gdr"),
                'gdr="0" beside adapters with GPUDirect RDMA: NCCL copies through the processor, at about '
                "half the rate",
                "leave it out: NCCL asks the machine",
                Severity.WARNING,
            )


def _judge_switch_links(judge: NcclFileJudge, functions: list[NcclElement]) -> None:
    """A link between two PCIe switches stands at both."""
    listed = {
        (e.attributes.get("busid", ""), x.attributes.get("target", ""))
        for e in functions
        for x in e.own("pcilink")
    }
    for e in functions:
        for x in e.own("pcilink"):
            here, there = e.attributes.get("busid", ""), x.attributes.get("target", "")
            if there and (there, here) not in listed:
                judge.tell(
                    "E0526",
                    x.place("target"),
                    f"<pcilink> to {there}, which has none back: NCCL gives up",
                    f'write <pcilink target="{here}"/> at {there}',
                )


def _gpus_and_adapters_apart(
    judge: NcclFileJudge, gpus: list[NcclElement], nics: list[NcclElement]
) -> tuple[list[NcclElement], list[NcclElement], bool]:
    """GPUs that share a PCIe switch with no adapter; adapters below a switch that share it with no GPU; and
    whether any GPU is below a switch."""
    above = _switches_above(judge)
    of_nics = set().union(*(above[id(n)] for n in nics))
    of_gpus = set().union(*(above[id(g)] for g in gpus))
    far = [g for g in gpus if not above[id(g)] & of_nics]
    lone = [n for n in nics if above[id(n)] and not above[id(n)] & of_gpus]
    return far, lone, bool(of_gpus)


def _judge_adapter_distance(judge: NcclFileJudge) -> bool:
    """Adapters near the GPUs: below a PCIe switch that both are below, at any depth (ncclTopoComputePaths:
    such paths are PIX or PXB, others lead through the processor). Whether there was something to say."""
    gpus = [e for e in judge.elements if judge.is_gpu(e)]
    nics = [e for e in judge.elements if e.name == "pci" and judge.is_adapter(e)]
    if not gpus or not nics:
        return False
    far, lone, switched = _gpus_and_adapters_apart(judge, gpus, nics)
    if 0 < len(far) < len(gpus):
        judge.tell(
            "E0526",
            far[0].span,
            f"{len(far)} of {len(gpus)} GPUs have no adapter below their PCIe switch, others have: NCCL "
            "plans for the farthest",
            "put the adapter below the switch that it is connected to, beside its GPU",
            Severity.WARNING,
        )
    elif far and switched:
        judge.tell(
            "E0526",
            nics[0].span,
            "no adapter is below the PCIe switch of a GPU: NCCL counts every path through the processor",
            "put each adapter below the switch that it is connected to",
            Severity.WARNING,
        )
    if lone and far and switched:
        judge.tell(
            "E0526",
            lone[0].span,
            f"{len(lone)} adapters are below a PCIe switch without a GPU, and {len(far)} GPUs have none "
            "beside them",
            "put the adapter below the switch that it is connected to",
            Severity.WARNING,
        )
    return bool(far) and switched


def _switches_above(judge: NcclFileJudge) -> dict[int, frozenset[int]]:
    """The PCIe switches above each function, by the identity of the elements. AMD's accelerators have bridges
    of their own above them, so in RCCL's dialect what leads to one function alone is no switch."""
    out: dict[int, frozenset[int]] = {}
    for e in judge.elements:  # in the order of the text, so that a switch comes before what is below it
        if e.name == "pci":
            mine = out.setdefault(id(e), frozenset())
            ends = sum(low.name == "pci" and not low.own("pci") for low in e.walk())
            more = {id(e)} if judge.dialect is NCCL or ends > 1 else set()
            out |= {id(low): mine | more for low in e.own("pci")}
    return out


def _judge_gpus_of_host(judge: NcclFileJudge, gpus: list[tuple[NcclElement, NcclElement]]) -> None:
    """GPUs of one host: compute capability, NVLinks, order."""
    if judge.dialect is NCCL:
        _judge_compute_capabilities(judge, gpus)
        _judge_gpu_order(judge, gpus)
    _judge_nvlink_counts(judge, gpus)
    _judge_gpu_link_rates(judge, gpus)


def _judge_compute_capabilities(judge: NcclFileJudge, gpus: list[tuple[NcclElement, NcclElement]]) -> None:
    """A compute capability that differs from other GPUs', or from the device's own."""
    kinds = Counter(n for _, g in gpus if (n := whole_number_of_c(g.attributes.get("sm", ""))) is not None)
    usual = kinds.most_common(1)[0][0] if kinds else None
    for _, g in gpus:
        if whole_number_of_c(g.attributes.get("sm", "")) not in (None, usual):
            judge.tell(
                "E0526",
                g.place("sm"),
                f'sm="{g.attributes["sm"]}" beside GPUs of sm="{usual}": NCCL plans for the least',
                "write the same for GPUs of one model",
                Severity.WARNING,
            )
    for e, g in gpus:
        known = SM.get(_nvidia_device_id(e))
        if known and whole_number_of_c(g.attributes.get("sm", "")) not in (None, known):
            judge.tell(
                "E0526",
                g.place("sm"),
                f'sm="{g.attributes["sm"]}", and device {e.attributes["device"]} has {known}: NCCL plans '
                "for another generation",
                f'write sm="{known}", or leave it out',
                Severity.WARNING,
            )


def _count_of_links(g: NcclElement, link: str) -> int:
    """How many links the elements called ``link`` of a GPU stand for."""
    return sum(whole_number_of_c(x.attributes.get("count", "")) or 0 for x in g.own(link))


def _generation_and_nvlinks(judge: NcclFileJudge, e: NcclElement, g: NcclElement) -> tuple[int, int]:
    """The compute capability of a GPU, times ten, and the number of NVLinks of that generation; 0 where one
    is not known."""
    sm = whole_number_of_c(g.attributes.get("sm", "")) or SM.get(_nvidia_device_id(e), 0)
    return sm, NVLINKS.get(sm, 0) if judge.dialect is NCCL else 0


def _judge_nvlink_counts(judge: NcclFileJudge, gpus: list[tuple[NcclElement, NcclElement]]) -> None:
    """GPUs with more links to others than their generation has, with fewer than others, or with none."""
    link, words = judge.dialect.link, f"{judge.dialect.link_word}s"
    sums = {id(g): _count_of_links(g, link) for _, g in gpus}
    most = max(sums.values(), default=0)
    for e, g in gpus:
        links, at = sums[id(g)], next((x.place("count") for x in g.own(link)), g.span)
        sm, limit = _generation_and_nvlinks(judge, e, g)
        if limit and links > limit:
            text = f"{links} {words}, and a GPU of sm {sm} has {limit}: NCCL plans with all"
            judge.tell("E0526", at, text, "count the NVLinks of each target")
        elif most and not g.own(link):
            _judge_gpu_without_links(judge, e, most)
        elif links and links < most and judge.dialect is NCCL:
            text = f"{links} {words}, and another GPU has {most}: NCCL plans all channels for the fewest"
            judge.tell("E0526", at, text, f"count the {words} of each target", Severity.WARNING)
        elif 0 < links < limit and _nvidia_device_id(e) not in FEWER_NVLINKS and _uses_nvswitch_only(g):
            text = f"{links} of the {limit} NVLinks of a GPU of sm {sm}: NCCL plans with {links}"
            judge.tell("E0526", at, text, "count the NVLinks of each target", Severity.WARNING)


def _judge_gpu_without_links(judge: NcclFileJudge, e: NcclElement, most: int) -> None:
    """A GPU without a link to others, beside GPUs with ``most``. In a dump there is none; of a file that is
    given to NCCL each rank asks the machine."""
    words = f"{judge.dialect.link_word}s"
    place = e.own("gpu")[0].span
    if is_dump_of_machine(judge.top):
        help = (
            "look why its links are down: `nvidia-smi nvlink --status`, the fabric manager, the switch trays"
        )
        if judge.dialect is not NCCL:
            help = "look why its links are down: `rocm-smi --showtopo`"
        text = f"no {words}, and another GPU has {most}: NCCL plans the paths of all GPUs through PCIe"
        judge.tell("E0526", place, text, help)
    else:
        text = f"no {words}, and another GPU has {most}: NCCL asks the machine for them"
        judge.tell("E0526", place, text, "list them as at the other GPUs", Severity.WARNING)


def is_dump_of_machine(top: NcclElement) -> bool:
    """Whether a topology is what the library wrote (NCCL_TOPO_DUMP_FILE): a hash of the host is nowhere
    else."""
    return any("host_hash" in cpu.attributes for cpu in top.own("cpu"))


def _judge_gpu_link_rates(judge: NcclFileJudge, gpus: list[tuple[NcclElement, NcclElement]]) -> None:
    """PCIe links of GPUs that are slower than most."""
    rates = Counter(rate for e, _ in gpus if (rate := _pcie_mbps(e)))
    common = rates.most_common(1)[0][0] if rates else 0
    for e, _ in gpus:
        if (rate := _pcie_mbps(e)) and rate < common:
            judge.tell(
                "E0526",
                e.place("link_width"),
                f"its PCIe link has {rate} Mb/s, as NCCL counts; those of other GPUs have {common}",
                "write the link's own speed and width",
                Severity.WARNING,
            )


def _judge_gpu_order(judge: NcclFileJudge, gpus: list[tuple[NcclElement, NcclElement]]) -> None:
    """GPUs are numbered in the order of their bus ids."""
    numbered = [
        (e.attributes.get("busid", ""), n, g)
        for e, g in gpus
        if (n := whole_number_of_c(g.attributes.get("dev", ""))) is not None
    ]
    order = [n for _, n, _ in sorted(numbered, key=lambda x: (len(x[0]), x[0]))]
    if order != sorted(order):
        judge.tell(
            "E0526",
            numbered[0][2].place("dev"),
            "`dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of "
            "others",
            "number them by busid",
            Severity.WARNING,
        )


def _judge_adapter_rates(judge: NcclFileJudge, nets: list[tuple[NcclElement, NcclElement]]) -> None:
    """Adapters of one host: their rates, and those of their PCIe links."""
    speeds = Counter(
        s for _, n in nets if (s := whole_number_of_c(n.attributes.get("speed", ""))) is not None
    )
    usual = speeds.most_common(1)[0][0] if speeds else 0
    for e, n in nets:
        speed = whole_number_of_c(n.attributes.get("speed", ""))
        if speed is not None and speed < usual:
            judge.tell(
                "E0526",
                n.place("speed"),
                f"{speed} Mb/s beside adapters of {usual}: NCCL gives all channels the least",
                "leave it out: NCCL asks the machine",
                Severity.WARNING,
            )
        pcie = _pcie_mbps(e)
        if speed and 1000 <= speed <= pcie // 8:  # less is misread as it is
            judge.tell(
                "E0526",
                n.place("speed"),
                f"{speed} Mb/s, and its PCIe link has {pcie} as NCCL counts: NCCL plans with the lower",
                "write it in Mb/s, 400000 for 400 Gb/s, or leave it out: NCCL asks the machine",
                Severity.WARNING,
            )
        if speed and speed > MOST_MBPS:  # as the plugin for Slingshot says it, which counts in another unit
            text = f"{speed} Mb/s is more than any adapter has: NCCL plans with its PCIe link, {pcie}"
            judge.tell(
                "E0526", n.place("speed"), text, "write it in Mb/s, 400000 for 400 Gb/s", Severity.NOTE
            )
        elif speed and pcie and pcie < 0.9 * speed:
            judge.tell(
                "E0526",
                e.place("link_width"),
                f"its PCIe link has {pcie} of the adapter's {speed} Mb/s, as NCCL counts",
                "write the link's own speed and width",
                Severity.WARNING,
            )
    _judge_adapter_pcie_rates(judge, nets)


def _judge_adapter_pcie_rates(judge: NcclFileJudge, nets: list[tuple[NcclElement, NcclElement]]) -> None:
    """PCIe links of adapters that are slower than most."""
    links = Counter(rate for e, _ in nets if (rate := _pcie_mbps(e)))
    common = links.most_common(1)[0][0] if links else 0
    for e, _ in nets:
        rate = _pcie_mbps(e)
        if rate and rate < common:
            judge.tell(
                "E0526",
                e.place("link_width"),
                f"its PCIe link has {rate} Mb/s, as NCCL counts; those of other adapters have {common}",
                "write the link's own speed and width",
                Severity.WARNING,
            )


def _nvidia_device_id(e: NcclElement) -> int:
    """The PCI device of an NVIDIA GPU, 0 where the file says none."""
    return (
        (whole_number_of_c(e.attributes.get("device", "")) or 0)
        if whole_number_of_c(e.attributes.get("vendor", "")) == NVIDIA
        else 0
    )


def _uses_nvswitch_only(g: NcclElement) -> bool:
    """Whether the NVLinks of a GPU lead to NVSwitches only; a bridge between two cards may use part of
    them."""
    return all(x.attributes.get("tclass", "").startswith(NVSWITCH) for x in g.own("nvlink"))


def _pcie_mbps(e: NcclElement) -> int:
    """What NCCL counts for a PCIe link, 0 where it does not read it from the file."""
    speed, width = (
        e.attributes.get("link_speed", ""),
        whole_number_of_c(e.attributes.get("link_width", "")) or 0,
    )
    return next(
        (
            mbps * width
            for word, mbps in LANE_MBPS.items()
            if speed.startswith((f"{word}.0 GT/s", f"{word} GT/s"))
        ),
        0,
    )
