"""The target simai against a reader that reads SimAI's own files, too."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import yaml

from tests.targets.build import design, made
from tests.targets.simulators import RAILS, SHARED, read_simai


def test_simai_has_every_link_of_an_accelerator(tmp_path: Path) -> None:
    text = made(RAILS, tmp_path, "simai")[0]["simai/topology"].decode()
    assert text.startswith("46 8 4 10 80 H100\n")
    switches, links = read_simai(text)
    assert switches == list(range(32, 46))
    inside = [x for x in links if 32 <= x[1] < 36]
    assert len(inside) == 32 and {r for *_, r in inside} == {3600.0}, "18 NVLinks of 200 Gb/s"
    # rail r of each host leads to leaf r; the manager has no accelerators
    assert {(a, b) for a, b, _ in links if b >= 36 and a < 32} == {(8 * n + r, 36 + r) for n in range(4) for r in range(8)}
    assert Counter((a, b) for a, b, _ in links if a >= 36) == {(36 + r, 44 + s): 1 for r in range(8) for s in range(2)}


def test_the_files_of_simai_itself_read_alike(tmp_path: Path, test_data: Path) -> None:
    """For the Spectrum-X fabric of 16 GPUs the links are those that SimAI's own generator wrote, but for the NVLinks, of which it
    takes the H800's rate."""
    own = (test_data / "handover" / "simai" / "Spectrum-X_16g_8gps_400Gbps_H100").read_text()
    text = made(design("spectrum_x"), tmp_path, "simai")[0]["simai/topology"].decode()
    assert text.splitlines()[:2] == own.splitlines()[:2]
    assert text.replace("3600Gbps", "2880Gbps").split() == own.split()
    assert read_simai(own)[0] == read_simai(text)[0]


def test_two_accelerators_of_one_port_have_half_of_it(tmp_path: Path) -> None:
    _, links = read_simai(made(SHARED, tmp_path, "simai")[0]["simai/topology"].decode())
    assert len([x for x in links if x[0] < 16]) == 16 and {r for a, _, r in links if a < 16} == {200.0}
    assert [(a, b) for a, b, _ in links[:4]] == [(0, 16), (1, 16), (2, 17), (3, 17)]


def test_parallel_links_are_one_of_their_sum(tmp_path: Path) -> None:
    """SimAI and ASTRA-sim keep one link for two nodes (``nbr2if[a][b]``), and drop what comes before."""
    files, _ = made(RAILS.replace("spread x 2", "spread x 8"), tmp_path, "simai")
    _, links = read_simai(files["simai/topology"].decode())
    assert len({(a, b) for a, b, _ in links}) == len(links)
    assert {r for a, _, r in links if a >= 36} == {1600.0} and sum(r for a, _, r in links if a >= 36) == 8 * 8 * 400
    lines = [line.split() for line in files["simai/ecn.conf"].decode().splitlines()]
    assert [x[0] for x in lines] == ["KMAX_MAP", "KMIN_MAP", "PMAX_MAP"]
    assert all(int(x[1]) == 2 and x[2::2] == ["400000000000", "1600000000000"] for x in lines), "every rate at a switch"


def test_the_hosts_of_a_scale_up_domain_are_one_server(tmp_path: Path) -> None:
    files, found = made(design("racks"), tmp_path, "simai", "astra_sim")
    text = files["simai/topology"].decode()
    assert text.split()[:6] == ["156", "72", "2", "10", str(144 + 144 + 16), "B200"] and not found
    _, links = read_simai(text)
    assert {(a, b): r for a, b, r in links if b in (144, 145)} == {(n, 144 + n // 72): 7200.0 for n in range(144)}
    assert json.loads(files["astra_sim/logical_topology.json"]) == {"logical-dims": ["72", "2"]}
    network = yaml.safe_load(files["astra_sim/network.yml"])
    assert network["npus_count"] == [72, 2] and network["bandwidth"][0] == 900.0


def test_what_these_formats_cannot_hold_is_left_out_with_the_reason(tmp_path: Path) -> None:
    big = "connect node[n].nic[i] to leaf[i]\n    host big: BIG\n    connect big.nic[i] to leaf[i]"
    uneven = SHARED.replace("connect node[n].nic[i] to leaf[i]", big)
    uneven += "model host BIG { port nic[2]: 400Gbps { type GE400 }; chip gpu[8]: GPU }\n"
    for text, says in (
        (uneven, "hosts have 4 or 8 accelerators"),
        (SHARED.replace("gpu[4]", "gpu[3]"), "has 2 links for 3 accelerators"),
    ):
        files, found = made(text, tmp_path, "simai", "astra_sim")
        assert not [p for p in files if p.startswith(("simai", "astra_sim"))]
        assert [d.code for d in found] == ["E0511"] * 2 + ["E0516"] * 2
        assert all(says in d.message for d in found[:2])
