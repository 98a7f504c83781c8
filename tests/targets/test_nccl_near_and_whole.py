"""Rules of NCCL's topology files about the whole tree: room for attributes and elements, adapters near GPUs, direct NVLinks."""

from __future__ import annotations

import pytest

from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import KNOWN, lint_nccl_file

CPU = 'numaid="{}" affinity="ff" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="1"'
SWITCH = (
    'busid="{}" class="0x060400" vendor="0x1" device="0x1" subsystem_vendor="0x1" subsystem_device="0x1" '
    'link_speed="16.0 GT/s PCIe" link_width="16"'
)
FUNCTION = SWITCH.replace("0x060400", "{}")


def switch(bus: str, *below: str) -> str:
    return f"<pci {SWITCH.format(bus)}>{''.join(below)}</pci>"


def gpu(bus: str, dev: int, inner: str = '<nvlink target="f" count="1" tclass="0x068000"/>') -> str:
    inside = f'<gpu dev="{dev}" sm="75" rank="{dev}" gdr="1">{inner}</gpu>'
    return f"<pci {FUNCTION.format(bus, '0x030200')}>{inside}</pci>"


def nic(bus: str, dev: int) -> str:
    net = f'<net name="n{dev}" dev="{dev}" speed="100000" port="1" guid="0x{dev + 1}" latency="0" maxconn="1" gdr="1"/>'
    return f"<pci {FUNCTION.format(bus, '0x020000')}><nic>{net}</nic></pci>"


def system(*cpus: tuple[str, ...]) -> str:
    inner = "".join(f"<cpu {CPU.format(n)}>{''.join(below)}</cpu>" for n, below in enumerate(cpus))
    return f'<system version="1">{inner}</system>'


def findings(text: str) -> list[str]:
    """Severity, message and help of what is found."""
    return [f"{d.severity.name[0].lower()} {d.message} / {d.help}" for d in lint_nccl_file(SourceFile("topo.xml", text))]


BUS = [f"0000:{n:02x}:00.0" for n in range(1, 30)]
PLUG = "put the adapter below the switch that it is connected to"


def test_a_host_in_order() -> None:
    one = switch(BUS[0], gpu(BUS[1], 0), nic(BUS[2], 0))
    assert findings(system((one, switch(BUS[3], gpu(BUS[4], 1), nic(BUS[5], 1))))) == []


def test_gpus_without_an_adapter_beside_them() -> None:
    """Below its switch; switches above that do not count. Where no GPU has one, the first adapter is named."""
    near = switch(BUS[0], gpu(BUS[1], 0), nic(BUS[2], 0))
    far = (
        "w 1 of 2 GPUs have no adapter below their PCIe switch, others have: NCCL plans for the farthest / "
        f"{PLUG}, beside its GPU"
    )
    lone = f"w 1 adapters are below a PCIe switch without a GPU, and 1 GPUs have none beside them / {PLUG}"
    processor = (
        "w no adapter is below the PCIe switch of a GPU: NCCL counts every path through the processor / "
        "put each adapter below the switch that it is connected to"
    )
    assert findings(system((near, gpu(BUS[4], 1)))) == [far]
    assert findings(system((near, switch(BUS[3], gpu(BUS[4], 1))))) == [far]
    assert findings(system((near, switch(BUS[3], gpu(BUS[4], 1)), switch(BUS[6], nic(BUS[5], 1))))) == [far, lone]
    assert findings(system((near, switch(BUS[3], switch(BUS[6], gpu(BUS[4], 1)), nic(BUS[5], 1))))) == [far, lone]
    assert findings(system((switch(BUS[0], gpu(BUS[1], 0)), nic(BUS[2], 0)))) == [processor]
    # all without a switch, or without adapters: nothing to compare
    assert findings(system((gpu(BUS[1], 0), nic(BUS[2], 0)))) == []
    assert findings(system((switch(BUS[0], gpu(BUS[1], 0)),))) == []
    assert findings(system((switch(BUS[0], nic(BUS[1], 0)),))) == []
    assert findings(system((gpu(BUS[1], 0), switch(BUS[2], nic(BUS[3], 0))))) == []


def test_devices_are_numbered_in_the_order_of_bus_ids() -> None:
    order = (
        "w `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others / "
        "number them by busid"
    )
    assert findings(system((gpu(BUS[0], 1), gpu(BUS[1], 0)))) == [order]
    # the order of the text does not count; longer bus ids are behind shorter ones
    assert findings(system((gpu(BUS[1], 1), gpu(BUS[0], 0)))) == []
    assert findings(system((gpu("10000:01:00.0", 1), gpu("0002:01:00.0", 0)))) == []
    assert findings(system((gpu("10000:01:00.0", 0), gpu("0002:01:00.0", 1)))) == [order]


def link(target: str, count: int = 1) -> str:
    return f'<nvlink target="{target}" count="{count}" tclass="0x030200"/>'


def test_direct_nvlinks() -> None:
    """Both GPUs name the other, with one count, which is the sum where there are several elements."""
    a, b = BUS[0], BUS[1]
    help = "list them at both GPUs, with one count"

    def joined(at_a: str, at_b: str) -> list[str]:
        return [x for x in findings(system((gpu(a, 0, at_a), gpu(b, 1, at_b)))) if "another GPU has" not in x]

    assert joined(link(b, 2), link(a, 2)) == [] and joined(link(b, 1) + link(b, 2), link(a, 3)) == []
    assert joined(link(b, 3), link(a, 2)) == [f"e 3 NVLinks from {a} to {b}, but 2 back / {help}",
                                              f"e 2 NVLinks from {b} to {a}, but 3 back / {help}"]  # fmt: skip
    assert joined(link(b, 2), '<nvlink target="f" count="2" tclass="0x068000"/>') == [
        f"e 2 NVLinks from {a} to {b}, but 0 back / {help}"
    ]
    assert (
        joined(link(a, 2), link(b, 2))
        == ["w NVLinks from a GPU to itself: NCCL makes no use of them / name the NVSwitch or the other GPU"] * 2
    )
    assert joined(link("0000:77:00.0", 1), link("0000:78:00.0")) == [
        f"e no <pci> has busid 0000:{n}:00.0: NCCL drops these NVLinks / write the bus id as at that GPU" for n in (77, 78)
    ]


def test_room_for_the_attributes_that_nccl_adds() -> None:
    """16 in all: a GPU has up to 6 of NCCL's, those of the file count among them."""
    known = len(KNOWN["gpu"])
    assert known == 6
    for extra, told in ((10, False), (11, True), (12, True), (13, False)):
        own = "".join(f' x{n}="1"' for n in range(extra))
        text = system((gpu(BUS[0], 0).replace("<gpu ", f"<gpu{own} "),))
        found = [x for x in findings(text) if "NCCL adds up to" in x]
        message = f"w {extra + 4} attributes, and NCCL adds up to 2: it has room for 16 / leave out what NCCL does not know"
        assert found == ([message] if told else []), extra
    own = "".join(f' x{n}="1"' for n in range(16))
    assert not [x for x in findings(system((gpu(BUS[0], 0).replace("<nvlink ", f"<nvlink{own} "),))) if "NCCL adds" in x]


@pytest.mark.parametrize("count", [199, 200])
def test_room_for_the_elements_that_nccl_adds(count: int) -> None:
    text = system((gpu(BUS[0], 0), *(switch(f"0001:{n // 16:02x}:{n % 16:02x}.0") for n in range(count - 5))))
    wanted = f"w {count} elements: NCCL adds its own, and supports 255 in total / stay below 200"
    assert findings(text) == ([wanted] if count > 199 else [])


def test_notes_of_what_the_machine_is_asked_for() -> None:
    """One for each element and list of attributes."""
    bare = gpu(BUS[0], 0).replace(' sm="75"', "").replace(' rank="0"', "")
    other = gpu(BUS[1], 1).replace(' sm="75"', "").replace(' rank="1"', "")
    third = gpu(BUS[2], 2, "")
    takes = "NCCL takes that from the machine / nothing to do where NCCL can see it"
    assert findings(system((bare, other, third))) == [
        f"n 2 <gpu> without `sm`, `rank`: {takes}", f"n 1 <gpu> without `nvlink`: {takes}",
    ]  # fmt: skip
