"""What the check of topology files for NCCL knows of PCI devices, NVLinks and lanes, and rules for numbers and graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file

HOST = (Path(__file__).parent / "host.xml").read_text(encoding="utf-8")


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


def test_compute_capability_of_a_device() -> None:
    for device, known in CAPABILITIES.items():
        assert not [f for f in findings(host(device, known, 1)) if "sm=" in f]
        assert [f for f in findings(host(device, known + 1, 1)) if "sm=" in f] == [
            f'w "{known + 1}" sm="{known + 1}", and device {device:#06x} has {known}: NCCL plans for another generation / '
            f'write sm="{known}", or leave it out'
        ] * 2
    for device in {d + k for d in CAPABILITIES for k in (-1, 1)} - set(CAPABILITIES):
        assert findings(host(device, 75, 1)) == [], "of others nothing is known"


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
    of = f"NVLinks of a GPU of sm {sm}: NCCL plans with {links - 1} / count the NVLinks of each target"
    more = f"NVLinks, and a GPU of sm {sm} has {links}: NCCL plans with all / count the NVLinks of each target"
    assert findings(host(1, sm, links)) == []
    assert findings(host(1, sm, links + 1)) == [f'e "{links + 1}" {links + 1} {more}'] * 2
    assert findings(host(1, sm, links - 1)) == [f'w "{links - 1}" {links - 1} of the {links} {of}'] * 2
    for other in (sm - 1, sm + 1):
        assert findings(host(1, other, links + 1)) == []


@pytest.mark.parametrize(("words", "mbps"), [("2.5", 1500), ("5 5.0", 3000), ("8 8.0", 6000), ("16", 12000), ("64.0", 48000)])
@pytest.mark.parametrize("width", [4, 16])
def test_rates_of_lanes(words: str, mbps: int, width: int) -> None:
    """An adapter may have up to a ninth more than its PCIe link; one with up to an eighth of it is suspicious."""
    for speed in (f"{w} GT/s{' PCIe' * w.endswith('.0')}" for w in words.split()):
        lanes(speed, mbps, width)


def lanes(speed: str, mbps: int, width: int) -> None:
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
