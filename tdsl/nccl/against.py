"""A file for NCCL beside the dump of a real machine (NCCL_TOPO_DUMP_FILE): what the machine has otherwise, by
bus id and name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.nccl.dialects import Dialect, dialect_of_text
from tdsl.nccl.graph_against import compare_graph_with_graph, compare_graph_with_machine
from tdsl.nccl.judge import NcclFileJudge
from tdsl.nccl.rules import is_dump_of_machine
from tdsl.nccl.text import NcclElement, read_nccl_xml
from tdsl.nccl.ways import counted_pcie_mbps
from tdsl.system.lazy_dataclass import dataclass

CODE = "E0529"
NOTHING = "E0907"


def nothing_to_judge_error(file: SourceFile) -> Diagnostic | None:
    """The error of a file in which NCCL would find nothing: no GPU, no adapter and no graph; None for any
    other. A PCIe function of the class of one is one, too: NCCL finds out on the machine what else it is
    (ncclTopoFillGpu, ncclTopoFillNet)."""
    if re.search(r"<(gpu|net|graph)\b", file.text):
        return None
    top = read_nccl_xml(file, Diagnostics())
    if top is not None and _pcie_devices_by_bus(top, dialect_of_text(file.text)):
        return None
    message = "nothing of this file was judged: it has no GPU, no adapter and no graph"
    return Diagnostic(
        NOTHING,
        message,
        SourceSpan(file, 0, 0),
        help="give a topology or graph file, such as NCCL_TOPO_DUMP_FILE names",
    )


@dataclass(slots=True)
class PcieDevice:
    """A GPU, an adapter or a switch: its element, the NUMA node and the switches above it, outermost first;
    ``near`` are the bus ids of adapters below the nearest switch that it shares with any."""

    element: NcclElement
    numa: str
    above: tuple[str, ...]
    kind: str
    nets: tuple[str, ...] = ()
    nvlinks: int = 0
    near: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Findings in the order of the file; ``of`` are its GPUs and adapters and ``judged`` those that the
    machine has, too, or both are the names of its NCCL_IB_HCA that were looked for."""

    findings: list[Diagnostic]
    judged: int
    of: int


def compare_with_dump(file: SourceFile, dump: SourceFile) -> Comparison:
    """Where a topology file, a graph file or a ``.conf`` differs from a machine's dump. A file that has
    nothing to compare is an error, and so is a dump that cannot be read."""
    found, unread = Diagnostics(), Diagnostics()
    machine = read_nccl_xml(dump, unread)
    if machine is None or machine.name not in ("system", "graphs"):
        found.add(
            CODE,
            SourceSpan(file, 0, 0),
            f"{dump.name} holds no topology of NCCL",
            help="set NCCL_TOPO_DUMP_FILE on the machine",
        )
        return Comparison(list(found), 0, 0)
    judged, of, kind = _compare_by_kind(file, machine, found, dialect_of_text(dump.text))
    if not judged and not found.has_errors:
        message = f"nothing was compared with {dump.name}: this is {kind}"
        found.add(
            NOTHING,
            SourceSpan(file, 0, 0),
            message,
            help="compare a topology file, a graph file, or a .conf with NCCL_IB_HCA=NAME,…",
        )
    if machine.name == "system" and judged:
        _judge_origin_of_dump(machine, dump, found)
    return Comparison(sorted(found, key=_place_in_file), judged, of)


def _place_in_file(d: Diagnostic) -> tuple[int, str]:
    return d.span.start if d.span else 0, d.message


def _compare_by_kind(
    file: SourceFile, machine: NcclElement, found: Diagnostics, dialect: Dialect
) -> tuple[int, int, str]:
    """Compare a file with a dump of ``dialect``, as both kinds allow: how much was judged, of how much, and
    what the file is where that is nothing."""
    graphs = machine.name == "graphs"
    if re.search(r"^NCCL_", file.text, re.M) and "<system" not in file.text:
        if graphs:
            return 0, 0, "a list of settings, and the dump is one of <graphs>"
        count = _compare_adapter_names(file, machine, found, dialect)
        return count, count, "a list of settings, and its NCCL_IB_HCA names no adapter of the machine"
    top = read_nccl_xml(file, Diagnostics())
    if top is None or top.name not in ("system", "graphs"):
        return 0, 0, "no topology file"
    if top.name == "graphs":
        judged, of = (
            compare_graph_with_graph(top, machine, found)
            if graphs
            else compare_graph_with_machine(top, machine, found)
        )
        return judged, of, "a graph file without a graph" + " that the dump has, too" * bool(of)
    if graphs:
        return 0, 0, "a file of <system>, and the dump is one of <graphs>"
    mine = dialect_of_text(file.text)
    if mine is not dialect:
        message = f"this file is of {mine.name}'s dialect, and the dump is of {dialect.name}'s"
        found.add(CODE, top.span, message, help=f"compare it with a dump that {mine.name} wrote")
        return 0, 0, ""
    of, judged = _compare_topologies(top, machine, found, dialect)
    return judged, of, "a topology file without a GPU and without an adapter"


def _judge_origin_of_dump(machine: NcclElement, dump: SourceFile, found: Diagnostics) -> None:
    """A dump that was taken while NCCL_TOPO_FILE named a file repeats that file. NCCL writes the hash of the
    host before the number of the NUMA node where it found the node itself, and behind it where a file names
    the node (ncclTopoGetXmlFromSys, ncclTopoXmlLoadCpu)."""
    order = [list(cpu.attributes) for cpu in machine.own("cpu")]
    from_file = [
        names
        for names in order
        if "host_hash" in names and "numaid" in names and names.index("host_hash") > names.index("numaid")
    ]
    if not is_dump_of_machine(machine) or not from_file:
        return
    message = f"{dump.name} was taken while NCCL_TOPO_FILE named a file: it repeats what that file says"
    severity = Severity.WARNING if found.has_errors else Severity.ERROR
    found.add(
        CODE,
        SourceSpan(dump, 0, 0),
        message,
        help="take it with `NCCL_TOPO_FILE= NCCL_TOPO_DUMP_FILE=/tmp/dump.xml` in the environment, which "
        "goes before nccl.conf",
        severity=severity,
    )


def _pcie_devices_by_bus(
    top: NcclElement, dialect: Dialect, switches: dict[str, PcieDevice] | None = None
) -> dict[str, PcieDevice]:
    """GPUs and adapters by bus id, in the order of the file; ``switches`` gets what is above them."""
    out: dict[str, PcieDevice] = {}
    kinds = NcclFileJudge(top, Diagnostics(), dialect)

    def walk(e: NcclElement, numa: str, above: tuple[str, ...]) -> Iterator[PcieDevice]:
        for child in e.children:
            bus = child.attributes.get("busid", "")
            if child.name == "cpu":
                yield from walk(child, child.attributes.get("numaid", ""), ())
            elif kinds.is_gpu(child) or kinds.is_adapter(child):
                out[bus] = _pcie_device(child, numa, above, kinds)
                yield out[bus]
            elif child.name == "pci":
                below = list(walk(child, numa, (*above, bus)))
                beside = frozenset(
                    f.element.attributes.get("busid", "") for f in below if f.kind == "adapter"
                )
                for f in below:
                    f.near = f.near or beside
                if switches is not None and below:
                    switches[bus] = PcieDevice(child, numa, above, "switch")
                yield from below

    list(walk(top, "", ()))
    return out


def _pcie_device(child: NcclElement, numa: str, above: tuple[str, ...], kinds: NcclFileJudge) -> PcieDevice:
    """A GPU or adapter with the names of its adapters and the number of its NVLinks."""
    nets = tuple(n.attributes.get("name", "") for nic in child.own("nic") for n in nic.own("net"))
    links = sum(
        int(n.attributes["count"])
        for g in child.own("gpu")
        for n in g.own(kinds.dialect.link)
        if n.attributes.get("count", "").isdigit()
    )
    return PcieDevice(child, numa, above, "GPU" if kinds.is_gpu(child) else "adapter", nets, links)


def _device_of_same_kind(
    bus: str, f: PcieDevice, real: Mapping[str, PcieDevice], tell: Callable[..., None]
) -> PcieDevice | None:
    """What the machine has where the file has a device; none, with a finding, where it has nothing there or
    something else."""
    r = real.get(bus)
    if r is None:
        tell(
            f.element,
            "busid",
            f"the machine has no {f.kind} at {bus}",
            "correct the bus id; NCCL drops what it does not find",
        )
        return None
    if r.kind != f.kind:
        tell(
            f.element,
            "busid",
            f"the machine has {_with_indefinite_article(r.kind)} at {bus}, not "
            f"{_with_indefinite_article(f.kind)}",
            "correct the bus id",
        )
        return None
    return r


def _tell_what_file_leaves_out(
    top: NcclElement,
    planned: Mapping[str, PcieDevice],
    real: Mapping[str, PcieDevice],
    tell: Callable[..., None],
) -> None:
    """GPUs and adapters of the machine that the file does not have."""
    for bus, r in real.items():
        if bus in planned:
            continue
        names = f" ({', '.join(filter(None, r.nets))})" if any(r.nets) else ""
        text = (
            f"the machine has {_with_indefinite_article(r.kind)} at {bus}{names}, which the file leaves out"
        )
        tell(top, "", text, "add it where it belongs; else NCCL adds it by itself", Severity.WARNING)


def _compare_topologies(
    top: NcclElement, machine: NcclElement, found: Diagnostics, dialect: Dialect
) -> tuple[int, int]:
    """Every difference of two trees that changes what NCCL plans. With the number of GPUs and adapters of the
    first, and of those that both have."""
    my_switches: dict[str, PcieDevice] = {}
    its_switches: dict[str, PcieDevice] = {}
    planned = _pcie_devices_by_bus(top, dialect, my_switches)
    real = _pcie_devices_by_bus(machine, dialect, its_switches)
    words = f"{dialect.link_word}s"
    where = {n: bus for bus, f in real.items() for n in f.nets if n}
    some_linked = any(f.nvlinks for f in planned.values())
    hidden = bool(my_switches) and not its_switches
    if hidden:
        text = "the machine shows no PCIe switches, as virtual machines do: what shares one was not compared"
        help = "compare it with what the operator of the host says"
        found.add(CODE, top.span, text, help=help, severity=Severity.NOTE)

    def tell(e: NcclElement, name: str, message: str, help: str, severity: Severity = Severity.ERROR) -> None:
        at = e.place(name) if name in e.attributes else e.span
        found.add(CODE, at, message, help=help, severity=severity)

    for bus, f in planned.items():
        r = _device_of_same_kind(bus, f, real, tell)
        if r is None:
            continue
        _compare_pcie_devices(bus, f, r, where, tell)
        _compare_gpu_links(bus, f, r, words if f.nvlinks or some_linked else "", tell)
        if f.kind == "GPU" and not hidden:
            _compare_neighbours(bus, planned, real, where, tell)
    _tell_what_file_leaves_out(top, planned, real, tell)
    _compare_switches(my_switches, its_switches, tell)
    _compare_switches_above(my_switches, its_switches, planned, real, tell)
    _compare_shared_ports(planned, real, tell)
    _compare_net_values(top, machine, tell)
    return len(planned), len(planned.keys() & real.keys())


def _compare_neighbours(
    bus: str,
    planned: Mapping[str, PcieDevice],
    real: Mapping[str, PcieDevice],
    where: Mapping[str, str],
    tell: Callable[..., None],
) -> None:
    """What differs between the adapters beside a GPU in the file and on the machine. An adapter that the file
    does not name has the machine's names."""
    f, r = planned[bus], real[bus]

    def names(near: frozenset[str], devices: Mapping[str, PcieDevice]) -> frozenset[str]:
        known = {b: devices[b].nets or (real[b].nets if b in real else ()) or (b,) for b in near}
        return frozenset(n for nets in known.values() for n in nets)

    mine, its = names(f.near, planned), names(r.near, real)
    if mine != its and not (mine | its) - where.keys() - real.keys():
        here, there = _adapter_names_text(mine), _adapter_names_text(its)
        text = f"GPU {bus} is beside {here}, on the machine beside {there}"
        tell(f.element, "busid", text, "put it below the switch that it shares with its adapter")


def _compare_switches(
    mine: Mapping[str, PcieDevice], its: Mapping[str, PcieDevice], tell: Callable[..., None]
) -> None:
    """What differs between PCIe switches that both have. A bus id that no machine has (ffff:...) is in the
    file alone."""
    for bus, f in mine.items():
        r = its.get(bus)
        if r is None:
            continue
        _compare_pcie_links(bus, f, r, tell)
        if f.element.attributes.get("class") != r.element.attributes.get("class"):
            a, b = (x.element.attributes.get("class", "none") for x in (f, r))
            tell(f.element, "class", f"switch {bus} has class {a}, on the machine {b}", f'write class="{b}"')


def _compare_switches_above(
    mine: Mapping[str, PcieDevice],
    its: Mapping[str, PcieDevice],
    planned: Mapping[str, PcieDevice],
    real: Mapping[str, PcieDevice],
    tell: Callable[..., None],
) -> None:
    """Devices that are below other PCIe switches on the machine than in the file."""
    for bus, f in planned.items():
        if bus in real and f.numa == real[bus].numa:
            known = mine.keys() & its.keys()
            mine_above, its_above = ([s for s in x.above if s in known] for x in (f, real[bus]))
            gone = [s for s in real[bus].above if s not in mine]
            if mine_above != its_above or (gone and not any(s not in its for s in f.above)):
                here, there = (x.above[-1] if x.above else "the processor" for x in (f, real[bus]))
                text = f"{f.kind} {bus} is below {here}, on the machine below {there}"
                tell(f.element, "busid", text, "put it where the machine has it, with all switches above it")


def _compare_shared_ports(
    planned: Mapping[str, PcieDevice], real: Mapping[str, PcieDevice], tell: Callable[..., None]
) -> None:
    """Adapters that share a port in the file alone: NCCL lets them share its bandwidth."""

    def ports(devices: Mapping[str, PcieDevice]) -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for f in devices.values():
            for net in _nets_of_device(f):
                key = " ".join(net.attributes.get(k, "") for k in ("guid", "port"))
                if "guid" in net.attributes:
                    out.setdefault(key, []).append(net.attributes.get("name", ""))
        return out

    its = {name: names for names in ports(real).values() for name in names}
    elements = {n.attributes.get("name", ""): n for f in planned.values() for n in _nets_of_device(f)}
    for names in ports(planned).values():
        strange = [n for n in names[1:] if n in its and names[0] not in its[n]]
        if strange:
            text = f"{names[0]} and {strange[0]} have one guid and port, on the machine two"
            tell(elements[strange[0]], "guid", text, "write the guid of each adapter, or leave it out")


def _nets_of_device(f: PcieDevice) -> list[NcclElement]:
    return [n for nic in f.element.own("nic") for n in nic.own("net")]


def _compare_pcie_devices(
    bus: str, f: PcieDevice, r: PcieDevice, where: Mapping[str, str], tell: Callable[..., None]
) -> None:
    """What differs between a device of the file and that of the machine at the same bus id; ``where`` has the
    bus id of each adapter of the machine by its name."""
    what = f.kind
    if f.numa != r.numa != "-1":
        text = f"{what} {bus} is on NUMA node {f.numa}, on the machine on {r.numa}"
        tell(f.element, "busid", text, f'move it below the <cpu> with numaid="{r.numa}"')
    for name in f.nets:
        if name and where.get(name, bus) != bus:
            text = f"adapter {name} is at {bus}, on the machine at {where[name]}"
            tell(f.element, "busid", text, "exchange the names: NCCL finds adapters by their names")
        elif name and name not in where:
            tell(
                f.element,
                "busid",
                f"the machine has no adapter {name}",
                "correct the name; NCCL drops what it does not find",
            )
    lost = [n for n in r.nets if n and n not in f.nets]
    if f.element.own("nic") and lost and len(f.nets) < len(r.nets):
        text = f"the machine has adapter {lost[0]} at {bus}, which the file leaves out"
        tell(f.element, "busid", text, "add its <net>; else NCCL adds it by itself", Severity.WARNING)
    _compare_pcie_links(bus, f, r, tell)


def _compare_net_values(top: NcclElement, machine: NcclElement, tell: Callable[..., None]) -> None:
    """Rates and GPUDirect RDMA of adapters that both have, by name, also of those without a PCIe function;
    what a file does not say is the machine's."""
    theirs = {n.attributes.get("name", ""): n.attributes for n in machine.walk() if n.name == "net"}
    for net in (n for n in top.walk() if n.name == "net"):
        label = net.attributes.get("name", "")
        its = theirs.get(label, {})
        for name, word in (("speed", "Mb/s"), ("gdr", "GPUDirect RDMA")):
            if name in net.attributes and name in its and net.attributes[name] != its[name]:
                text = f"{label} has {name} {net.attributes[name]} ({word}), on the machine {its[name]}"
                help = "correct it, or leave it out: NCCL asks the machine"
                tell(net, name, text, help, Severity.WARNING)


def _compare_gpu_links(bus: str, f: PcieDevice, r: PcieDevice, words: str, tell: Callable[..., None]) -> None:
    """What differs between the links of a GPU to other GPUs, called ``words``; "" where the file has none at
    all and leaves them to NCCL."""
    if words and r.nvlinks != f.nvlinks and r.element.own("gpu"):
        text = f"GPU {bus} has {f.nvlinks or 'no'} {words}, on the machine {r.nvlinks or 'none'}"
        tell(f.element, "busid", text, f"correct the counts, or look for {words} that are down")


def _compare_pcie_links(bus: str, f: PcieDevice, r: PcieDevice, tell: Callable[..., None]) -> None:
    """What differs between the PCIe links of a device in the file and on the machine."""
    what = f.kind
    for name in ("link_speed", "link_width"):
        mine, its = f.element.attributes.get(name, ""), r.element.attributes.get(name, "")
        if not its and mine and counted_pcie_mbps(f.element) < counted_pcie_mbps(r.element):
            its = "nothing, as NCCL counts more"
        if its and mine != its and name in f.element.attributes:
            word = name.replace("_", " ")
            text = f"{what} {bus} has a PCIe {word} of {mine or 'nothing'}, on the machine {its}"
            tell(
                f.element,
                name,
                text,
                "look for a link that trained low, or correct the file",
                Severity.WARNING,
            )


def _compare_adapter_names(
    file: SourceFile, machine: NcclElement, found: Diagnostics, dialect: Dialect
) -> int:
    """Names in NCCL_IB_HCA that the machine does not have; of the second function of an adapter (`_dma`, data
    direct) it has the adapter's own. With the number of names that were looked for; one
    that is excluded counts where the machine has it."""
    count = 0
    have = {
        n.removesuffix("_dma") for f in _pcie_devices_by_bus(machine, dialect).values() for n in f.nets if n
    }
    for line in re.finditer(r"^NCCL_IB_HCA=([\^=]*+)(.*)$", file.text, re.M):
        at = line.start(2)
        for entry in line[2].split(","):
            name = entry.split(":")[0]
            exact = "=" in line[1]
            known = name in have if exact else any(n.startswith(name) for n in have)
            count += bool(name) and (known or "^" not in line[1])
            if name and "^" not in line[1] and not known:
                text = f"the machine has no adapter {name}: it has {', '.join(sorted(have)) or 'none'}"
                found.add(
                    CODE, SourceSpan(file, at, at + len(name)), text, help="correct the name in NCCL_IB_HCA"
                )
            at += len(entry) + 1
    return count


def _with_indefinite_article(what: str) -> str:
    return f"an {what}" if what == "adapter" else f"a {what}"


def _adapter_names_text(names: frozenset[str]) -> str:
    return " and ".join(sorted(names)) or "no adapter"
