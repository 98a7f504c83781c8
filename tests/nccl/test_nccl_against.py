"""A topology file or list of adapters beside the dump of a machine: every difference, with its place, message and help."""

from __future__ import annotations

import pytest

from tdsl.findings.source import SourceFile
from tdsl.nccl.against import compare_with_dump

DROPS = "correct the bus id; NCCL drops what it does not find"
ADDS = "add it where it belongs; else NCCL adds it by itself"
TRAINED = "look for a link that trained low, or correct the file"


def pci(bus: str, inner: str, **more: str) -> str:
    said = "".join(f' {k}="{v}"' for k, v in more.items())
    return f'<pci busid="{bus}"{said}>{inner}</pci>'


def gpu(bus: str, nvlinks: str = "", **more: str) -> str:
    return pci(bus, "<gpu>" + "".join(f'<nvlink target="x" count="{n}"/>' for n in nvlinks.split()) + "</gpu>", **more)


def nic(bus: str, *names: str, **more: str) -> str:
    return pci(bus, "<nic>" + "".join(f'<net name="{n}"/>' for n in names) + "</nic>", **more)


def system(*below: str) -> str:
    """A machine with one processor."""
    return f'<system version="1"><cpu numaid="0">{"".join(below)}</cpu></system>'


def compared(text: str, dump: str) -> list[tuple[str, str, str, str]]:
    """Initial of the severity, text at the place, message and help of each difference."""
    found = compare_with_dump(SourceFile("planned.xml", text), SourceFile("dump.xml", dump)).findings
    assert {d.code for d in found} <= {"E0529", "E0907"}
    return [(d.severity.name[0], d.span.text if d.span else "", d.message, d.help) for d in found if d.code == "E0529"]


ONE = system(pci("s", gpu("g0", "9 9") + nic("n0", "a")), pci("t", gpu("g1", "18") + nic("n1", "b")))


MOVED = [
    ("E", f'"{b}"', f"{what} {b} is on NUMA node 0, on the machine on 3", 'move it below the <cpu> with numaid="3"')
    for what, b in (("GPU", "g0"), ("adapter", "n0"), ("GPU", "g1"), ("adapter", "n1"))
]
NO_GPU = ("E", '"g0"', "the machine has no GPU at g0", DROPS)
NO_ADAPTER = ("E", '"n0"', "the machine has no adapter at n0", DROPS)
DOWN = "correct the counts, or look for NVLinks that are down"


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('"g0"', '"g9"', [("W", "<system", "the machine has a GPU at g9, which the file leaves out", ADDS), NO_GPU]),
        ('"n0"', '"n9"', [("W", "<system", "the machine has an adapter at n9 (a), which the file leaves out", ADDS), NO_ADAPTER]),
        (nic("n0", "a"), "", [NO_ADAPTER]),
        (gpu("g1", "18"), nic("g1"), [("E", '"g1"', "the machine has an adapter at g1, not a GPU", "correct the bus id")]),
        (nic("n1", "b"), gpu("n1"), [("E", '"n1"', "the machine has a GPU at n1, not an adapter", "correct the bus id")]),
        ('numaid="0"', 'numaid="3"', MOVED),
        ('name="a"', 'name="c"', [("E", '"n0"', "the machine has no adapter a", f"correct the name; {DROPS.split('; ')[1]}")]),
        (gpu("g0", "9 9"), gpu("g0", "8 9"), [("E", '"g0"', "GPU g0 has 18 NVLinks, on the machine 17", DOWN)]),
        ('<nvlink target="x" count="18"/>', "", [("E", '"g1"', "GPU g1 has 18 NVLinks, on the machine none", DOWN)]),
    ],
)
def test_a_difference(old: str, new: str, wanted: list[tuple[str, str, str, str]]) -> None:
    assert old in ONE and compared(ONE, ONE) == []
    assert compared(ONE, ONE.replace(old, new, 1)) == wanted


def test_exchanged_adapters() -> None:
    """The names and what is beside the GPUs."""
    dump = ONE.replace('"a"', '"x"').replace('"b"', '"a"').replace('"x"', '"b"')
    name, place = (
        "exchange the names: NCCL finds adapters by their names",
        "put it below the switch that it shares with its adapter",
    )
    assert compared(ONE, dump) == [
        ("E", '"g0"', "GPU g0 is beside a, on the machine beside b", place),
        ("E", '"n0"', "adapter a is at n0, on the machine at n1", name),
        ("E", '"g1"', "GPU g1 is beside b, on the machine beside a", place),
        ("E", '"n1"', "adapter b is at n1, on the machine at n0", name),
    ]


@pytest.mark.parametrize(("mine", "its", "told"), [("16", "8", True), ("16", "16", False), ("", "8", True), ("16", "", False)])
def test_speeds_and_widths(mine: str, its: str, told: bool) -> None:
    for name, words in (("link_speed", "link speed"), ("link_width", "link width")):
        for what, made in (("GPU", gpu("g", **{name: "@"})), ("adapter", nic("g", "a", **{name: "@"}))):
            text, dump = (system(made.replace("@", v)) for v in (mine, its))
            message = f"{what} g has a PCIe {words} of {mine or 'nothing'}, on the machine {its}"
            assert compared(text, dump) == ([("W", f'"{mine}"', message, TRAINED)] if told else [])


def test_what_is_no_topology() -> None:
    wrong = [("E", "", "dump.xml holds no topology of NCCL", "set NCCL_TOPO_DUMP_FILE on the machine")]
    for dump in ("", "x", "<system"):
        assert compared(ONE, dump) == wrong
        (place,) = [d.span for d in compare_with_dump(SourceFile("planned.xml", ONE), SourceFile("dump.xml", dump)).findings]
        assert place is not None and (place.start, place.end) == (0, 0)
    for text in ("", "x", '<graphs version="1"/>', "<system"):
        assert compared(text, ONE) == []


CONF = [
    ("NCCL_IB_HCA=mlx5_0", []),
    ("NCCL_IB_HCA=mlx", []),
    ("NCCL_IB_HCA==mlx", [("mlx", 13)]),
    ("NCCL_IB_HCA==mlx5_0:1,mlx5_3::1,mlx5_7", [("mlx5_7", 32)]),
    ("NCCL_IB_HCA=x:1,mlx5_0,yy", [("x", 12), ("yy", 23)]),
    ("NCCL_IB_HCA=^x", []),
    ("NCCL_IB_HCA=^=x", []),
    ("NCCL_IB_HCA=,,x,", [("x", 14)]),
    ("NCCL_IB_HCA=", []),
    ("NCCL_DEBUG=1\nNCCL_IB_HCA=x\n#NCCL_IB_HCA=y\nNCCL_IB_HCA=z", [("x", 25), ("z", 54)]),
    ("OTHER=1\nNCCL_IB_HCA=mlx5_00", [("mlx5_00", 20)]),
]


@pytest.mark.parametrize(("text", "wanted"), CONF)
def test_lists_of_adapters(text: str, wanted: list[tuple[str, int]]) -> None:
    """A name is the beginning of the names it means, with ``=`` the whole name; ``^`` are those that are not used."""
    dump = system(nic("n1", "mlx5_3"), nic("n0", "mlx5_0", ""))
    found = compare_with_dump(SourceFile("nccl.conf", text), SourceFile("dump.xml", dump)).findings
    found = [d for d in found if d.code == "E0529"]
    assert [(d.message, d.help, d.severity.name) for d in found] == [
        (f"the machine has no adapter {n}: it has mlx5_0, mlx5_3", "correct the name in NCCL_IB_HCA", "ERROR") for n, _ in wanted
    ]
    assert [(d.span.start, d.span.end) for d in found if d.span] == [(at, at + len(n)) for n, at in wanted]


NOTHING = [
    ('<graphs version="1"/>', "this is a graph file without a graph"),
    ("", "this is no topology file"),
    (system(), "this is a topology file without a GPU and without an adapter"),
    ("NCCL_IB_HCA=", "this is a list of settings, and its NCCL_IB_HCA names no adapter of the machine"),
    ("NCCL_IB_HCA=^x", "this is a list of settings, and its NCCL_IB_HCA names no adapter of the machine"),
    ("NCCL_DEBUG=INFO", "this is a list of settings, and its NCCL_IB_HCA names no adapter of the machine"),
]


@pytest.mark.parametrize(("text", "why"), NOTHING)
def test_a_file_with_nothing_to_compare(text: str, why: str) -> None:
    made = compare_with_dump(SourceFile("planned", text), SourceFile("dump.xml", ONE))
    errors = [(d.code, d.message) for d in made.findings if d.severity.name == "ERROR"]
    assert (errors, made.judged) == ([("E0907", f"nothing was compared with dump.xml: {why}")], 0)


def test_how_much_was_compared() -> None:
    cases = ((ONE, 4, 4), (ONE.replace('"g0"', '"h0"'), 3, 4), ("NCCL_IB_HCA=a,^q,z", 3, 3), ("NCCL_IB_HCA=^a", 1, 1))
    for text, judged, of in cases:
        made = compare_with_dump(SourceFile("planned", text), SourceFile("dump.xml", ONE))
        assert (made.judged, made.of) == (judged, of)


# ---------------------------------------------------------------- switches, dialects, and dumps that repeat a file


def test_the_nearest_common_switch_at_any_depth() -> None:
    """An adapter that is the function beside a bridge above the GPU, as in dumps of GB300: moved to another tree, it is told."""

    def machine(first: str, second: str) -> str:
        trees = (pci("s", nic("n0", first) + pci("s1", gpu("g0"))), pci("t", nic("n1", second) + pci("t1", gpu("g1"))))
        return system(*trees)

    assert compared(machine("a", "b"), machine("a", "b")) == []
    told = compared(machine("a", "b"), machine("b", "a"))
    assert [m for _, _, m, _ in told if "beside" in m] == [
        "GPU g0 is beside a, on the machine beside b", "GPU g1 is beside b, on the machine beside a",
    ]  # fmt: skip


def xgmi(text: str) -> str:
    return text.replace("nvlink", "xgmi").replace('version="1"', 'version="2"')


def test_dialects_are_compared_in_their_own_words() -> None:
    dump = xgmi(ONE.replace('count="18"', 'count="17"'))
    (told,) = compared(xgmi(ONE), dump)
    assert told[2] == "GPU g1 has 18 xGMI links, on the machine 17"
    (told,) = compared(ONE, dump)
    assert told[2] == "this file is of NCCL's dialect, and the dump is of RCCL's"


@pytest.mark.parametrize(
    ("cpu", "told"),
    [('host_hash="0x1" numaid="0"', ""), ('numaid="0" host_hash="0x1"', "E"), ('numaid="0"', "")],
)
def test_a_dump_that_repeats_the_file(cpu: str, told: str) -> None:
    """NCCL writes the hash behind the number of a node that a file named; then nothing of the machine was compared."""
    found = compare_with_dump(SourceFile("planned.xml", ONE), SourceFile("dump.xml", ONE.replace('numaid="0"', cpu))).findings
    assert [d.severity.name[0] for d in found] == [*told]
    assert all("taken while NCCL_TOPO_FILE" in d.message and "NCCL_TOPO_FILE= " in (d.help or "") for d in found)


# ---------------------------------------------------------------- graph files


def graphs(speed: str = "20", channels: str = "0 1;1 0", net: str = "") -> str:
    lists = [c.split() for c in channels.split(";")]
    inner = "".join(f"<channel>{net}{''.join(f'<gpu dev={chr(34)}{g}{chr(34)}/>' for g in c)}{net}</channel>" for c in lists)
    return (
        f'<graphs version="1"><graph id="0" pattern="4" crossnic="0" nchannels="{len(lists)}" speedintra="{speed}" '
        f'speedinter="{speed}" latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="1">{inner}</graph></graphs>'
    )


@pytest.mark.parametrize(
    ("dump", "told"),
    [
        (graphs(), []),
        (graphs("20.0"), []),
        (graphs("0.1", "0 1"), ["E nchannels", "E speedintra", "E speedinter"]),
        (graphs("40"), ["W speedintra", "W speedinter"]),
        (graphs(channels="0 1;0 1"), ["W 1 of 2 channels"]),
        (graphs().replace('"NVL"', '"PHB"'), ["W typeintra"]),
        (graphs().replace('id="0"', 'id="1"'), ["E no graph 0 (ring)"]),
    ],
)
def test_graphs_of_a_machine(dump: str, told: list[str]) -> None:
    found = compared(graphs(), dump)
    assert sorted(f[0] for f in found) == sorted(t[0] for t in told), found
    assert all(any(t[2:] in message for _, _, message, _ in found) for t in told), found
    made = compare_with_dump(SourceFile("planned.xml", graphs()), SourceFile("dump.xml", dump))
    assert made.of == 1 and made.judged == ("no graph" not in str(told))


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (graphs(), []),
        (graphs(channels="0 2"), ["E the machine has no GPU with dev 2: it has 0, 1"]),
        (graphs(channels="0"), ["E 1 GPUs in a channel, and the machine has 2"]),
        (graphs(net='<net dev="3"/>'), ["E the machine has no adapter with dev 3: it has 0"]),
        (graphs("30", net='<net dev="0"/>'), ["W 2 channels of 30 GB/s enter by the adapter with dev 0, whose rate is 50 GB/s"]),
        (graphs("25", net='<net dev="0100000000000000"/>'), []),
    ],
)
def test_a_graph_file_beside_a_topology(file: str, told: list[str]) -> None:
    """Devices are hexadecimal, the server in the highest byte."""
    inner = "".join(f'<pci busid="g{n}"><gpu dev="{n}"/></pci>' for n in (0, 1))
    net = '<pci busid="n"><nic><net name="a" dev="0" speed="400000"/></nic></pci>'
    assert [f"{s} {m}" for s, _, m, _ in compared(file, system(inner, net))] == told


# ---------------------------------------------------------------- virtual machines


def test_a_machine_that_hides_its_switches() -> None:
    """A right file of a virtual machine has switches with bus ids of its own, and the machine has none: that is a note."""
    file = system(pci("ffff:ff:01.0", gpu("g0") + nic("n0", "a")), pci("ffff:ff:02.0", gpu("g1") + nic("n1", "b")))
    for dump in (system(gpu("g0") + nic("n0", "a") + gpu("g1") + nic("n1", "b")), file):
        told = compared(file, dump)
        assert [(s, m.split(",")[0]) for s, _, m, _ in told] == (
            [("N", "the machine shows no PCIe switches")] if dump is not file else []
        )
    bare = [pci(f"ffff:ff:0{k + 1}.0", gpu(f"g{k}") + pci(f"n{k}", "", **{"class": "0x020700"})) for k in (0, 1)]
    assert compared(system(*bare), file) == [], "adapters by their class alone"
    nowhere = system(gpu("g0") + nic("n0", "a")).replace('numaid="0"', 'numaid="-1"')
    assert {s for s, *_ in compared(system(gpu("g0") + nic("n0", "a")), nowhere)} <= {"N"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('speed="400000"', 'speed="200000"', "a has speed 400000 (Mb/s), on the machine 200000"),
        ('gdr="1"', 'gdr="0"', "a has gdr 1 (GPUDirect RDMA), on the machine 0"),
        ('guid="0x1"', 'guid="0x2"', ""),
        ('class="0x060400"', 'class="0x068000"', "switch s has class 0x060400, on the machine 0x068000"),
        ('link_width="16"', 'link_width="8"', "switch s has a PCIe link width of 16, on the machine 8"),
    ],
)
def test_what_a_switch_and_an_adapter_say(old: str, new: str, said: str) -> None:
    net = '<nic><net name="a" speed="400000" gdr="1" guid="0x1" port="1"/></nic>'
    file = system(pci("s", gpu("g") + pci("n", net), **{"class": "0x060400", "link_width": "16"}))
    assert compared(file, file) == [] and old in file
    assert [m for _, _, m, _ in compared(file, file.replace(old, new, 1))] == ([said] if said else [])


def test_two_adapters_with_one_port_in_the_file_alone() -> None:
    def machine(*guids: str) -> str:
        nets = (f'<nic><net name="{n}" guid="{g}" port="1"/></nic>' for n, g in zip("ab", guids, strict=True))
        return system(*(pci(f"n{k}", net) for k, net in enumerate(nets)))

    (one,) = compared(machine("0x1", "0x1"), machine("0x1", "0x2"))
    assert one[0] == "E" and one[2] == "a and b have one guid and port, on the machine two"
    assert compared(machine("0x1", "0x2"), machine("0x3", "0x4")) == []
