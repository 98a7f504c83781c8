"""Designs of the library with places, against figures by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import RackPlaces
from tdsl.physical.lengths import CableRuns


def placed(name: str) -> tuple[Fabric, RackPlaces]:
    fabric = compiler.compile_without_checks(name).designs[0].fabric
    assert fabric is not None and fabric.complete and fabric.places is not None
    return fabric, fabric.places


def contents(f: Fabric, p: RackPlaces) -> Counter[tuple[tuple[str, int], ...]]:
    """How many racks hold so many of each model."""
    racks: dict[int, Counter[str]] = {}
    for d in np.flatnonzero(p.device_rack >= 0).tolist():
        racks.setdefault(int(p.device_rack[d]), Counter())[f.model_of(d).name] += 1
    return Counter(tuple(sorted(x.items())) for x in racks.values())


def test_tpu_v4() -> None:
    """64 racks of 4 x 4 x 4 chips; each of six faces has 16 fibres: 96 optical links a rack, 64 * 96 = 6,144 = 48 * 128."""
    f, p = placed("tpu_v4_racks")
    assert contents(f, p) == {(("TPU_V4", 64),): 64, (("PALOMAR", 6),): 8}
    out: Counter[int] = Counter()
    into = 0
    for ports in (f.cable_a, f.cable_b):
        device = f.port_device[ports]
        chip = f.kind[device] == "chip"
        out.update(p.device_rack[device[chip]].tolist())
        into += int((~chip).sum())
    assert set(out.values()) == {96} and len(out) == 64
    assert into == 64 * 96 == 48 * 128


FROM_LLAMA = [
    # The middle of a rack's switch is at 41 * 44.45 = 1,822.45 mm, that of a pod switch at 19 * 44.45 = 844.55 mm: 777.55 up,
    # 1,755.45 down, and a slack of 1 m at each end: 4,533 mm. Six rows of 3 m from A to M: 18 m.
    (0, 0, 22.533),  # rack A01 to M01, across at rack 1
    (0, 15, 4.533 + 18 + 15 * 0.7),  # to M16: 15 racks further
    (80, 7, 4.533 + 3 + 7 * 0.7),  # F01 to M08: one row, seven racks
    (95, 0, 4.533 + 3 + 15 * 0.7),  # F16 to M01
    (96, 0, 4.533 + 3),  # N01 to M01
    (3, 3, 4.533 + 18 + 2 * 3 * 0.7),  # A04 to M04: to the crossing at rack 1, three racks, and back
]


def test_one_pod_of_llama_3() -> None:
    """192 racks of two servers and a switch, 16 of a pod switch; 16 GPUs a rack, 3,072 in the pod; some lengths by hand."""
    f, p = placed("llama3_pod_racks")
    assert contents(f, p) == {(("GRAND_TETON", 2), ("MINIPACK2", 1)): 192, (("ARISTA_7800", 1),): 16}
    hosts = {d for d in np.flatnonzero(p.device_rack >= 0).tolist() if f.model_of(d).name == "GRAND_TETON"}
    assert 8 * len(hosts) == 3072
    device_a, device_b = (f.port_device[ports] for ports in (f.link_a, f.link_b))
    servers = np.isin(device_a, list(hosts))
    assert (p.device_rack[device_a[servers]] == p.device_rack[device_b[servers]]).all(), "in the rack of their switch"
    paths, runs = {f.device_path(d): d for d in range(f.device_count)}, CableRuns(f, p).run
    for rack, spine, metres in FROM_LLAMA:
        a, b = paths[f"pod[0].rack[{rack}].rack"], paths[f"pod[0].pod[{spine}]"]
        (leg,) = np.flatnonzero((f.port_device[f.cable_a] == a) & (f.port_device[f.cable_b] == b))
        assert int(runs[leg]) == round(metres * 1_000_000)


def test_a_segment_of_hpn() -> None:
    """136 hosts, four a rack, and eight ToRs of each plane; 136 * 16 = 2,176 cables from its hosts, all to those ToRs."""
    f, p = placed("alibaba_hpn_racks")
    assert contents(f, p) == {(("HPN_HOST", 4),): 34, (("HPN_TOR", 8),): 2}
    here = p.device_rack[f.port_device] >= 0
    both = here[f.cable_a] & here[f.cable_b]
    assert int(both.sum()) == 136 * 16 == 2176
