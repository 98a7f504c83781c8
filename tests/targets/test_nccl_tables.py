"""What the check of topology files for NCCL knows of PCI devices, NVLinks and lanes, and rules for numbers and graphs."""

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.nccl.judge import NcclFileJudge, strtol_result_text, whole_number_of_c
from tdsl.nccl.lint import _comparable_value, is_gpu, lint_nccl_file
from tdsl.nccl.text import NcclElement
from tests.targets.test_nccl_findings import HOST


def findings(text: str) -> list[str]:
    """Severity, text at the place, message and help of what is found."""
    found = lint_nccl_file(SourceFile("topo.xml", text))
    return [f"{d.severity.name[0].lower()} {d.span.text if d.span else ''} {d.message} / {d.help}" for d in found]


def host(
    device: int = 0x2330, sm: int = 90, nvlinks: int = 18, speed: str = "32.0 GT/s PCIe", width: int = 16, rate: int = 400000
) -> str:
    """A host with two GPUs and two adapters of these kinds."""
    text = HOST.replace('device="0x2330"', f'device="{device:#06x}"').replace('sm="90"', f'sm="{sm}"')
    text = text.replace('count="18"', f'count="{nvlinks}"').replace('speed="400000"', f'speed="{rate}"')
    return text.replace('link_speed="32.0 GT/s PCIe" link_width="16"', f'link_speed="{speed}" link_width="{width}"')


CAPABILITIES = {
    0x20B0: 80, 0x20B2: 80, 0x20B5: 80, 0x20F1: 80,
    0x2237: 86, 0x26B9: 89, 0x27B8: 89,
    0x2330: 90, 0x2331: 90, 0x2335: 90, 0x2329: 90, 0x2324: 90,
    0x2901: 100, 0x2941: 100,
}  # fmt: skip


@pytest.mark.parametrize("device", CAPABILITIES)
def test_compute_capability_of_a_device(device: int) -> None:
    known = CAPABILITIES[device]
    assert not [f for f in findings(host(device, known, 1)) if "sm=" in f]
    assert [f for f in findings(host(device, known + 1, 1)) if "sm=" in f] == [
        f'w "{known + 1}" sm="{known + 1}", and device {device:#06x} has {known}: NCCL plans for another generation / '
        f'write sm="{known}", or leave it out'
    ] * 2


@pytest.mark.parametrize("device", sorted({d + k for d in CAPABILITIES for k in (-1, 1)} - set(CAPABILITIES)))
def test_other_devices_have_no_known_capability(device: int) -> None:
    assert findings(host(device, 75, 1)) == []


@pytest.mark.parametrize(("device", "sm"), [(0x20BD, 80), (0x20F3, 80), (0x20F5, 80), (0x2324, 90)])
def test_devices_with_fewer_nvlinks(device: int, sm: int) -> None:
    """Of others NVLinks may be missing."""
    links = {80: 12, 90: 18}[sm]
    assert findings(host(device, sm, 8)) == []
    missing = f'w "8" 8 of the {links} NVLinks of a GPU of sm {sm}: NCCL plans with 8 / count the NVLinks of each target'
    for other in (device - 1, device + 1):
        assert findings(host(other, sm, 8)) == [missing] * 2


@pytest.mark.parametrize(("sm", "links"), [(80, 12), (90, 18), (100, 18)])
def test_nvlinks_of_a_generation(sm: int, links: int) -> None:
    help = "count the NVLinks of each target"
    assert findings(host(1, sm, links)) == []
    assert (
        findings(host(1, sm, links + 1))
        == [f'e "{links + 1}" {links + 1} NVLinks, and a GPU of sm {sm} has {links}: NCCL plans with all / {help}'] * 2
    )
    assert (
        findings(host(1, sm, links - 1))
        == [f'w "{links - 1}" {links - 1} of the {links} NVLinks of a GPU of sm {sm}: NCCL plans with {links - 1} / {help}'] * 2
    )
    for other in (sm - 1, sm + 1):
        assert findings(host(1, other, links + 1)) == []


@pytest.mark.parametrize(
    ("speed", "mbps"),
    [
        ("2.5 GT/s", 1500), ("5 GT/s", 3000), ("5.0 GT/s PCIe", 3000), ("8 GT/s", 6000), ("8.0 GT/s PCIe", 6000),
        ("16 GT/s", 12000), ("16.0 GT/s PCIe", 12000), ("32 GT/s", 24000), ("32.0 GT/s PCIe", 24000), ("64.0 GT/s PCIe", 48000),
    ],
)  # fmt: skip
@pytest.mark.parametrize("width", [4, 16])
def test_rates_of_lanes(speed: str, mbps: int, width: int) -> None:
    """An adapter may have up to a ninth more than its PCIe link; one with up to an eighth of it is suspicious."""
    have = mbps * width
    fits = have * 10 // 9
    assert not [f for f in findings(host(speed=speed, width=width, rate=fits)) if "Mb/s" in f]
    assert [f for f in findings(host(speed=speed, width=width, rate=fits + 1)) if "Mb/s" in f] == [
        f'w "{width}" its PCIe link has {have} of the adapter\'s {fits + 1} Mb/s, as NCCL counts / '
        "write the link's own speed and width"
    ] * 2
    if have >= 8000:
        low = have // 8
        assert [f for f in findings(host(speed=speed, width=width, rate=low)) if "Mb/s" in f] == [
            f'w "{low}" {low} Mb/s, and its PCIe link has {have} as NCCL counts: NCCL plans with the lower / '
            "write it in Mb/s, 400000 for 400 Gb/s, or leave it out: NCCL asks the machine"
        ] * 2
        assert not [f for f in findings(host(speed=speed, width=width, rate=low + 1)) if "Mb/s" in f]


def test_the_most_usual_rate_counts() -> None:
    """One adapter of three is slower."""
    head, tail = HOST.split('    <pci busid="ffff:ff:02.0"')
    second = '    <pci busid="ffff:ff:02.0"' + tail.split("  </cpu>")[0]
    third = second
    for old, new in (
        (":02.", ":03."), ("0000:4", "0000:5"), ("mlx5_3", "mlx5_4"), ('dev="1"', 'dev="2"'), ('rank="1"', 'rank="2"'),
        ('guid="0x2a"', 'guid="0x3a"'),
    ):  # fmt: skip
        third = third.replace(old, new)
    text = head.replace('speed="400000"', 'speed="200000"') + second + third + "  </cpu>\n</system>\n"
    told = "200000 Mb/s beside adapters of 400000: NCCL gives all channels the least / leave it out: NCCL asks the machine"
    assert findings(text) == [f'w "200000" {told}']


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "wanted", "words"),
    [
        ("0", 0, "0"), ("7", 7, "7"), ("-7", -7, "-7"), ("+7", 7, "+7"), ("0x1F", 31, "31"), ("-0X1f", -31, "-31"),
        ("2147483647", 2**31 - 1, "2147483647"), ("2147483648", None, "2147483648"), ("-2147483648", -(2**31), "-2147483648"),
        ("-2147483649", None, "-2147483649"), ("010", None, "8"), ("-010", None, "-8"), ("09", None, "0"), ("1.5", None, "1"),
        ("", None, "0"), ("x16", None, "0"), (" 5", None, "5"), ("5 ", None, "5"), ("0x", None, "0"), ("400Gb/s", None, "400"),
        ("0o7", None, "0"), ("1_0", None, "1"), ("00", None, "0"),
    ],
)  # fmt: skip
def test_numbers_as_c_reads_them(text: str, wanted: int | None, words: str) -> None:
    assert whole_number_of_c(text) == wanted and strtol_result_text(text) == f"it takes {words}"


def element(name: str, children: tuple[NcclElement, ...] = (), **attributes: str) -> NcclElement:
    return NcclElement(name, SourceSpan(SourceFile("x", ""), 0, 0), attributes, {}, list(children))


def test_values_that_tell_elements_apart() -> None:
    """Those that occur twice; -1 and none may."""
    found = Diagnostics()
    elements = [element("gpu", dev=v) for v in ("0", "1", "0", "-1", "-1", "2")] + [element("gpu"), element("gpu")]
    NcclFileJudge(element("system"), found).once(elements, "dev")
    assert [(d.code, d.message, d.help, d.severity.name) for d in found] == [
        ("E0526", 'dev="0" occurs 2 times; NCCL uses the first', "give each its own", "ERROR")
    ] * 2


def test_numbers_by_value() -> None:
    e = element("net", guid="0x1F", port="3", word="zz")
    assert [_comparable_value(e, *x) for x in (("guid", 16), ("port", 0), ("word", 16), ("none", 0))] == [31, 3, "zz", 0]


def test_functions_of_gpus() -> None:
    gpu = element("gpu")
    assert is_gpu(element("pci", (gpu,))) and is_gpu(element("pci", **{"class": "0x030200"}))
    assert (
        not is_gpu(element("pci", **{"class": "0x020000"})) and not is_gpu(element("nic", (gpu,))) and not is_gpu(element("pci"))
    )


# ---------------------------------------------------------------- graphs


def graph(*channels: tuple[str, ...], **given: str | None) -> str:
    """A graph file; a channel has nets ``n0`` and GPUs ``g0``."""
    facts = {
        "id": "0", "pattern": "4", "crossnic": "0", "nchannels": str(len(channels)), "speedintra": "24", "speedinter": "24",
        "typeintra": "NVL", "typeinter": "PIX", "samechannels": "0",
    } | given  # fmt: skip
    names = {"n": "net", "g": "gpu"}
    inner = "".join(
        "<channel>" + "".join(f'<{names[d[0]]} dev="{d[1:]}"/>' for d in channel) + "</channel>" for channel in channels
    )
    said = " ".join(f'{k}="{v}"' for k, v in facts.items() if v is not None)
    return f'<graphs version="1"><graph {said}>{inner}</graph></graphs>'


RING = ("n0", "g0", "g1", "n0")


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("id", "0 4", "-1 5"), ("pattern", "1 6", "0 7"), ("crossnic", "0 2", "-1 3"), ("samechannels", "0 1", "-1 2"),
    ],
)  # fmt: skip
def test_numbers_of_graphs(name: str, right: str, wrong: str) -> None:
    low, high = right.split()
    for value in (low, high):
        assert findings(graph(("g0",), ("g0",), **{name: value})) == []
    for value in wrong.split():
        assert findings(graph(("g0",), ("g0",), **{name: value})) == [
            f'e "{value}" {name}="{value}": NCCL knows no such number / {low} to {high}'
        ]
    assert findings(graph(RING, **{name: "x"})) == [f'e "x" {name}="x": not a whole number / write such as 2']


@pytest.mark.parametrize("name", ["id", "pattern", "crossnic", "nchannels", "samechannels", "speedintra", "speedinter"])
def test_what_a_graph_must_say(name: str) -> None:
    assert findings(graph(RING, **{name: None})) == [f'e <graph <graph> lacks `{name}`: NCCL gives up / write {name}="…"']


@pytest.mark.parametrize("name", ["typeintra", "typeinter"])
def test_kinds_of_paths(name: str) -> None:
    known = ("LOC", "NVL", "NVB", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS")
    assert findings(graph(RING, **{name: None})) == [f'e <graph <graph> lacks `{name}`: NCCL crashes / write {name}="…"']
    for value in known:
        assert findings(graph(RING, **{name: value})) == []
    assert findings(graph(RING, **{name: "C2C"})) == [
        f'e "C2C" {name}="C2C": unknown, so NCCL takes it for LOC / known: {", ".join(known)}'
    ]


def test_rates_of_graphs() -> None:
    for value in ("12", "20.6", "3.", "1e3", "2.5E-1"):
        assert findings(graph(RING, speedintra=value, speedinter=value, latencyinter=value)) == []
    for name in ("speedintra", "speedinter", "latencyinter"):
        for value in ("", "x", "-1", ".5", "1 "):
            assert findings(graph(RING, **{name: value})) == [
                f'e "{value}" {name}="{value}": not a number / GB/s, or microseconds for a latency, such as 12 or 20.6'
            ]


def test_as_many_channels_as_a_graph_says() -> None:
    help = "make the two agree: NCCL uses the number as it is"
    assert findings(graph(RING, RING, nchannels="2")) == []
    for n in (1, 3):
        told = f'e "{n}" nchannels says {n}, and there are 2 <channel> / {help}'
        assert findings(graph(RING, RING, nchannels=str(n))) == [told]
    assert findings(graph(*[RING] * 64)) == []
    assert findings(graph(*[RING] * 65)) == ["e <graph 65 channels: NCCL has 64 / leave some out"]
    assert findings(graph()) == []


def test_gpus_of_channels() -> None:
    """As many in each as in most; in a graph of NVLS one."""
    help = "every channel names each GPU of the server once: NCCL writes beyond its table"
    assert findings(graph(("g0", "g1"), ("g0",), ("g1", "g0"))) == [f"e <channel 1 GPUs in this channel, 2 in others / {help}"]
    assert findings(graph(("g0",), ("g1",), id="3")) == []
    assert (
        findings(graph(("g0", "g1"), ("g0", "g1"), id="3"))
        == [f"e <channel 2 GPUs in this channel, 1 in a graph of NVLS / {help}"] * 2
    )


@pytest.mark.parametrize(
    ("channel", "wrong"),
    [
        (("n0", "g0", "g1", "n0"), False), (("g0", "g1"), False), (("n0", "n1"), False), (("n0", "g0", "n1", "g1"), True),
        (("g0", "n0", "g1", "n1"), True), (("n0", "g0", "g1"), True), (("g0", "g1", "n0"), True),
        (("n0", "g0", "n0", "g1", "n0"), True),
        (("g0", "n0"), True), (("n0", "g0", "n0", "n0"), True),
    ],
)  # fmt: skip
def test_nets_are_at_both_ends_or_nowhere(channel: tuple[str, ...], wrong: bool) -> None:
    told = (
        "e <net a channel has a net at both ends, or none / first the net it enters by, then the GPUs, then the net it leaves by"
    )
    assert findings(graph(channel)) == ([told] if wrong else [])


def test_devices_of_channels() -> None:
    assert findings(graph(("g1f", "g0x1F", "gFFFFFFFFFFFFFFFF"))) == []
    for value in ("", "x", "0x", "1" * 17):
        assert findings(graph(("g" + value, "ga"))) == [
            f'e "{value}" dev="{value}": not a hexadecimal number / such as 1f: NCCL reads it with base 16'
        ]
    assert findings(graph(("g0", "g1", "g0", "g0"))) == ['e "0" GPU dev="0" twice in a channel / name each once'] * 2
    text = graph(("g0", "g1")).replace('<gpu dev="0"/>', '<gpu rank="2"/>')
    assert findings(text) == ['e <gpu <gpu> lacks `dev`: NCCL gives up / write dev="…"']
    text = graph(("g0", "g1")).replace('<gpu dev="0"/>', '<gpu dev="0" rank="1.5"/>')
    assert findings(text) == ['e "1.5" rank="1.5": not a whole number / write such as 2']
    assert (
        findings(graph(RING).replace("</graphs>", graph(RING)[20:]))
        == ['e "0" id="0" occurs 2 times; NCCL uses the first / give each its own'] * 2
    )


def test_the_place_of_a_device_that_is_named_again() -> None:
    """Not that of the first."""
    for channel, wanted in ((("g0", "g0", "g1"), [1]), (("g0", "g1", "g0"), [2]), (("g1", "g0", "g0", "g1", "g0"), [2, 3, 4])):
        text = graph(channel)
        places = [n for n in range(len(text)) if text.startswith('dev="', n)]
        found = [d for d in lint_nccl_file(SourceFile("topo.xml", text)) if "twice" in d.message]
        assert [d.span.start for d in found if d.span] == [places[n] + 4 for n in wanted]


def test_versions_and_unknown_attributes_of_graphs() -> None:
    assert findings(graph(RING).replace('version="1"', 'version="2"')) == [
        'e "2" version="2": NCCL reads version 1 only / write version="1"'
    ]
    assert findings(graph(RING).replace('version="1"', 'version="1.0"')) == [
        'w "1.0" version="1.0": NCCL takes 1 / write version="1"'
    ]
    assert findings(graph(RING).replace(' version="1"', "")) == [
        'e <graphs <graphs> lacks `version`: NCCL gives up / write version="…"'
    ]
    assert findings(graph(RING, speed="1")) == [
        'w "1" NCCL knows no `speed` of <graph> / it knows id, pattern, crossnic, nchannels, samechannels, speedintra, '
        "speedinter, latencyinter, typeintra, typeinter"
    ]
    assert findings(graph(RING).replace("<channel>", '<channel a="1">')) == [
        'w "1" NCCL knows no `a` of <channel> / it knows no attributes'
    ]


def test_a_system_without_anything() -> None:
    (found,) = lint_nccl_file(SourceFile("topo.xml", '<system version="1"></system>\n'))
    assert (found.code, found.severity.name, found.help) == ("E0526", "WARNING", "leave the file out")
    assert found.message == "<system> is empty: NCCL takes everything from the machine"
