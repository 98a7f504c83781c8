"""Times of collective operations and transfers as intervals, each worked out by hand beside it. Random designs are judged in
tests/soundness."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.harness import compile_text, sampled

ROOT = Path(__file__).parents[2]

ONE_NIC = """
model host N {{ port nic: {rate}Gbps; chip gpu: G; latency 0ns }}
model chip G {{ port lane: 400Gbps }}
model switch SW {{ port p[1..2048]: any; latency 200ns }}
fabric f {{
  {body}
}}
"""


def fabric(*body: str, rate: int = 400) -> str:
    """Hosts of one accelerator and one adapter."""
    return ONE_NIC.format(rate=rate, body="\n  ".join(body))


EIGHT_LEAVES = fabric(
    "host n[32]: N; switch leaf[8]: SW; switch spine[2]: SW",
    "connect n[i].nic to leaf[i // 4] { length 5m }",
    "connect leaf[*] to spine[*] spread x 2 { rate 400Gbps; length 30m }",
)
RACKS = fabric(
    "host n[4, 8]: N; switch leaf[4]: SW; switch spine[2]: SW",
    "connect n[r, i].nic to leaf[r] { length 5m }",
    "connect leaf[*] to spine[*] spread x 2 { rate 400Gbps; length 30m }",
)
STAR = fabric("host n[1000]: N; switch sw: SW", "connect n[i].nic to sw { length 5m }", rate=100)
FAR_LEAVES = """
model host N { port nic[2]: 400Gbps; chip gpu: G; latency 0ns }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..64]: any; latency 500ns }
fabric f {
  host n[4]: N; switch leaf[2]: SW
  connect n[i].nic[r] to leaf[r] { length 5m }
  connect leaf[0] to leaf[1] { rate 400Gbps; length 1000km }
}
"""
RELAYS = """
model host N { port nic[2]: 400Gbps; chip gpu: G; latency 0ns }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..64]: any; latency 500ns }
fabric f {
  host n[8]: N; switch leaf[4]: SW; switch spine: SW
  connect n[i].nic[0] to leaf[i // 2] { length 5m }
  connect n[i].nic[1] to leaf[(i // 2 + 1) % 4] { length 5m }
  connect leaf[*] to spine each { rate 10Gbps; length 5m }
}
"""
UNEQUAL_SENDERS = """
model host A { port nic: 1600Gbps; latency 0ns }
model switch SW { port p[1..64]: any; latency 0ns }
fabric f {
  host a[2]: A; host b: A; host c: A { role storage }
  switch leaf[2]: SW; switch spine: SW
  connect a[i].nic to leaf[0] { length 5m }
  connect b.nic to leaf[1] { length 5m }
  connect c.nic to spine { length 5m }
  connect leaf[0] to spine { rate 100Gbps; length 5m }
  connect leaf[1] to spine { rate 1600Gbps; length 5m }
}
"""
APART_BESIDE_A_DOMAIN = """
model host T { port nic: 400Gbps; chip gpu: G; latency 0ns }
model host B { port nic: 400Gbps; chip gpu[2]: H; latency 0ns }
model chip G { port nv: 10Gbps }
model chip H { port lane: 400Gbps }
model switch SW { port p[1..64]: any; latency 500ns }
fabric f {
  host t[4]: T; host b: B; switch nvs: SW; switch leaf: SW
  connect t[i].gpu.nv to nvs { layer scaleup; medium backplane }
  connect t[i].nic to leaf { length 5m }
  connect b.nic to leaf { length 5m }
}
"""
UNEQUAL_RAILS = """
model host N {
  port nic[2]: 400Gbps; chip gpu[2]: G
  connect gpu[0] to gpu[1] { layer scaleup; rate 3200Gbps; medium trace }
  latency 0ns
}
model chip G { port lane: 3200Gbps }
model switch SW { port p[1..16]: 400Gbps; latency 200ns }
fabric f {
  host n[4]: N; switch near: SW; switch far: SW
  connect n[i].nic[0] to near { length 5m }
  connect n[i].nic[1] to far { length 100km }
}
"""
FAR_BOXES = """
model host N { port nic: 400Gbps; chip gpu[2]: G; latency 0ns }
model chip G { port lane: any }
model switch SW { port p[1..16]: any; latency 500ns }
fabric f {
  host n[2]: N; switch core: SW
  connect n[0].nic to core { length 5m }
  connect n[1].nic to core { length 100km }
}
"""
SWITCH_BESIDE = """
model host T { port nic: 400Gbps; chip gpu[2]: C; latency 0ns }
model chip C { port nv: 200Gbps }
model switch SW { port p[1..16]: any; latency 500ns }
fabric f {
  rack r[2] { host t: T; switch nvs: SW
    connect t.gpu[g].nv to nvs { layer scaleup; medium backplane; length 1m } }
  switch leaf: SW
  connect r[k].t.nic to leaf { length 5m }
}
"""
MESH_BESIDE = """
model host T { port nic: 100Gbps; chip gpu: C; latency 0ns }
model chip C { port nv[3]: 100Gbps; latency 0ns }
model switch SW { port p[1..16]: any; latency 500ns }
fabric f {
  host t[4]: T; switch leaf: SW
  connect t[n].nic to leaf { length 5m }
  connect t[0].gpu.nv to t[1].gpu.nv { layer scaleup; medium backplane; length 1m }
  connect t[0].gpu.nv to t[2].gpu.nv { layer scaleup; medium backplane; length 1m }
  connect t[1].gpu.nv to t[2].gpu.nv { layer scaleup; medium backplane; length 1m }
  connect t[0].gpu.nv to t[3].gpu.nv { layer scaleup; medium backplane; length 1m }
  connect t[1].gpu.nv to t[3].gpu.nv { layer scaleup; medium backplane; length 1m }
  connect t[2].gpu.nv to t[3].gpu.nv { layer scaleup; medium backplane; length 1m }
}
"""
TWO_SPEEDS = fabric(
    "host n[16]: N; switch leaf[4]: SW; switch spine[2]: SW",
    "connect n[i].nic to leaf[i // 4] { length 5m }",
    "connect leaf[*] to spine[0] each { rate 200Gbps; length 30m }",
    "connect leaf[*] to spine[1] each { rate 100Gbps; length 30m }",
)
THIN_TRIANGLE = fabric(
    "host a[3]: N; host b[2]: N; host c: N; switch s[3]: SW",
    "connect a[i].nic to s[0] { length 5m }; connect b[i].nic to s[1] { length 5m }; connect c.nic to s[2] { length 5m }",
    "connect s[0] to s[1] { rate 100Gbps; length 5m }",
    "connect s[1] to s[2] { rate 40Gbps; length 5m }; connect s[0] to s[2] { rate 40Gbps; length 5m }",
)
TWO_FAR_SITES = """
model switch CORE { port p[1..1024]: any; latency 1us }
fabric f {
  site dc[2] { host n[512]: DGX_H100 { latency 1us }; switch core[8]: CORE
    connect n[i].nic[r] to core[r] { length 50m } }
  connect dc[0].core[i] to dc[1].core[i] x 16 { rate 400Gbps; length 500km }
}
"""
LINE_INSIDE = """
model host N {
  port nic[4]: 400Gbps; chip gpu[4]: G
  connect gpu[i] to gpu[i + 1] where i < 3 { layer scaleup; rate 100Gbps; medium trace }
  latency 0ns
}
model chip G { port lane[2]: 100Gbps }
model switch SW { port p[1..16]: 400Gbps; latency 200ns }
fabric f {
  host n[2]: N; switch sw: SW
  connect n[i].nic[*] to sw { length 5m }
}
"""
HOSTS_IN_LINE = """
model host N {{ port nic: 40Gbps; chip gpu: C; latency 0ns }}
model chip C {{ port lane[2]: 100Gbps; latency 0ns }}
model switch SW {{ port p[1..64]: any; latency 200ns }}
fabric f {{
  host n[8]: N; switch sw[2]: SW
  connect n[i].nic to sw[{where}] {{ length 5m }}
  connect n[i].gpu.lane[0] to n[{after}].gpu.lane[1] {{ layer scaleup; medium backplane; length 1m }}
}}
"""
RING_OF_HOSTS = HOSTS_IN_LINE.format(where="0", after="(i + 1) % 8")
TWO_NETWORKS = HOSTS_IN_LINE.format(where="i // 4", after="i + 1").replace("+ 1].gpu.lane[1]", "+ 1].gpu.lane[1] where i < 7")
UNEQUAL_TRIANGLE = (
    THIN_TRIANGLE.replace("a[3]", "a[9]").replace("b[2]", "b[6]").replace("host c:", "host c[2]:").replace("c.nic", "c[i].nic")
)
CHECKPOINT = """
model host N { port nic: 400Gbps; latency 0ns }
model switch SW { port p[1..512]: any; latency 1us }
fabric f {
  host n[175]: N; host store[175]: N { role storage }; switch sw: SW
  connect n[i].nic to sw { length 10m }
  connect store[i].nic to sw { length 10m }
}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A design, or a file of the test data; a question; and in seconds the least and most that its lower and its upper end may
    be: (low, low, high, high)."""

    design: str
    asked: str
    least: float
    floor: float
    most: float
    ceiling: float = inf
    fail: tuple[str, ...] = ()


CASES = {
    # 60 and 4 hosts over 100 Gb/s: 8 Gbit of either side; of 60 x 4/64 x 8 Gbit.
    "few beside many, added": Case("times/smallsite.fab", "allreduce 1GB", 0.08, 0.08, 0.08, 0.084),
    "few beside many, exchanged": Case("times/smallsite.fab", "all_to_all_time 1GB", 0.3, 0.3, 0.3, 0.315),
    # One leaf with an eighth of the uplinks: 32 x 96/128 x 8 Gbit over 8 x 400 Gb/s, less what the spines' split takes.
    "a leaf with few uplinks": Case("times/leafdeg.fab", "all_to_all_time 1GB", 0.12, 0.12, 0.12, 0.1201),
    "four leaves at 4:1": Case("times/full2.fab", "all_to_all_time 1GB", 0.06, 0.06, 0.06, 0.0601),
    # 4 x 28/32 x 8 Gbit over 2 x 400 Gb/s.
    "eight leaves at 2:1": Case(EIGHT_LEAVES, "all_to_all_time 1GB", 0.035, 0.035, 0.035, 0.03501),
    # 293,682 km are 1.439 s.
    "sites far apart": Case("times/gw2.fab", "allreduce 1GB", 1.439, 1.44, 1.44, 5.793),
    # 2 x 31/32 x 0.8 Gbit at 400 Gb/s; a ring takes 5.871 ms.
    "two sites": Case("times/two_sites_100km.fab", "allreduce 100MB", 3.875e-3, 3.8751e-3, 3.875e-3, 5.871e-3),
    # Two sets at once, half of each rack in each. Of what 8 ranks of a rack send, 12/16 leave it over 2 x 400 Gb/s; by an
    # all-gather each set brings 12/16 of its 8 Gbit in; and each rank receives 2 x 15/16 of 8 Gbit.
    "two sets, exchanged": Case(RACKS, "all_to_all_time 1GB among n[*, 0..3], n[*, 4..7]", 0.06, 0.06, 0.06, 0.0601),
    "two sets, gathered": Case(RACKS, "all_gather_time 1GB among n[*, 0..3], n[*, 4..7]", 0.01875, 0.01875, 0.01875, 0.0189),
    "two sets, added": Case(RACKS, "allreduce 1GB among n[*, 0..3], n[*, 4..7]", 0.0375, 0.0375, 0.0375, 0.0377),
    # A set in each of two racks uses no link between them.
    "a set a rack": Case(RACKS, "allreduce 1GB among n[0, *], n[1, *]", 0.035, 0.035, 0.035, 0.0351),
    "1,000 ranks gather": Case(STAR, "all_gather_time 140GB", 11.1888, 11.1889, 11.1888, 11.19),
    "1,000 ranks scatter": Case(STAR, "reduce_scatter_time 140GB", 11.1888, 11.1889, 11.1888, 11.19),
    "1,000 ranks add": Case(STAR, "allreduce 140GB", 22.3776, 22.3777, 22.3776, 22.38),
    # 2 x 143/144 x 1120 Gbit over 7.6 Tb/s a rank; nothing of it passes the spine that fails.
    "domains of 72": Case("subject/failure_drops_scaleup.fab", "allreduce 140GB", 0.2926, 0.2927, inf),
    "domains of 72, less a spine": Case(
        "subject/failure_drops_scaleup.fab", "allreduce 140GB", 0.2926, 0.2927, inf, fail=("spine[0]",)
    ),
    "domains of 68 and 72": Case("subject/partly_filled_rack.fab", "allreduce 140GB", 0.2926, 0.2927, inf),
    # Any port of a host is used: 10 m and one switch.
    "adapters far apart": Case(FAR_LEAVES, "all_gather_time 1kB", 5.49e-7, 5.49e-7, 5.49e-7, 5.6e-7),
    # Hosts pass on: at most 7 Gbit leave a host by 800 Gb/s; through the spine alone it takes 400 ms.
    "hosts that pass on": Case(RELAYS, "all_to_all_time 1GB", 0.00875, 0.0112, 0.4, 0.4001),
    # 5/6 of 8 Gbit over the 410 Gb/s of a tray; above, over the network alone, also among the trays.
    "accelerators apart beside a domain": Case(APART_BESIDE_A_DOMAIN, "all_gather_time 1GB", 0.01626, 0.01627, 0.0333, 0.0367),
    # The far rail has a half of it, two times 100 km away; by the near one alone it could take 249 ns and the bytes.
    "rails of unequal length": Case(UNEQUAL_RAILS, "all_gather_time 1kB", 2.49e-7, 2.5e-7, 980.2e-6, 980.3e-6),
    # Ranks of the far host exchange by way of the switch: 2 x 100 km after 100 km, two switches.
    "ranks of a far host": Case(FAR_BOXES, "all_gather_time 1kB", 490.5e-6, 490.6e-6, 1471.0e-6, 1961.1e-6),
    # 1 m up, 500 ns, 1 m down inside; 10 m and 500 ns between.
    "a switch beside each host": Case(SWITCH_BESIDE, "all_gather_time 1kB", 5.49e-7, 5.49e-7, 1.0588e-6, 1.1e-6),
    # 1/2 of 8 Gbit over 200 Gb/s; added up in the switch, all 8 Gbit; with 510 ns.
    "scale-up alone": Case(SWITCH_BESIDE, "all_gather_time 1GB of all r[0].t through scaleup", 0.02, 0.02, 0.02, 0.020001),
    "scale-up alone, sets": Case(SWITCH_BESIDE, "allreduce 1GB among r through scaleup", 0.04, 0.04, 0.04, 0.04002),
    "scale-up alone, in its switch": Case(
        SWITCH_BESIDE, "allreduce 1GB of all r[0].t through scaleup with in_network", 0.04, 0.04, 0.04, 0.04002
    ),
    # Of three links each two lead to others: 1/2 of 8 Gbit over 300 Gb/s for two who could be helped, over 100 alone.
    "two of a mesh": Case(MESH_BESIDE, "all_gather_time 1GB of all t[0..1] through scaleup", 0.01333, 0.01334, 0.04, 0.0401),
    "all of a mesh": Case(MESH_BESIDE, "all_to_all_time 1GB of all t through scaleup", 0.02, 0.02, 0.02, 0.0201),
    # The sum of a leaf crosses 300 Gb/s once, of which one spine has twice as much.
    "added up by two spines": Case(TWO_SPEEDS, "allreduce 1GB with in_network", 0.02666, 0.02667, 0.02666, 0.02668),
    "two ranks a host, which add up themselves": Case(SWITCH_BESIDE, "allreduce 1GB with in_network", 0.02, 0.02, 0.03, 0.03002),
    "1,000 ranks, in their switch": Case(STAR, "allreduce 140GB with in_network", 11.2, 11.2, 11.2, 11.2029),
    # 8 Gbit to and from the host behind 80 Gb/s.
    "trees over a triangle": Case(THIN_TRIANGLE, "allreduce 1GB", 0.1, 0.1, 0.1, 0.1001),
    # Eight accelerators lack 7/8 of 8 Gbit each: together 56 over 2 ports of 400 and 6 links of 100 Gb/s both ways.
    "accelerators in a line": Case(LINE_INSIDE, "all_gather_time 1GB", 0.028, 0.028, 0.028, 0.03),
    # Each of eight hosts receives over two links of 100 and a port of 40 Gb/s: 2 x 7/8 of 8 Gbit.
    "trees over both layers": Case(RING_OF_HOSTS, "allreduce 1GB", 7 / 120, 7 / 120, 7 / 120, 0.0584),
    # Scale-up links alone join the two halves: 8 Gbit over one of 100 Gb/s.
    "trees where the network is in two": Case(TWO_NETWORKS, "allreduce 1GB", 0.065, 0.08, 0.08, 0.0801),
    # The leaf of 2 hosts has 80 Gb/s, which the sums of all others cross: 8 Gbit.
    "trees of equal hosts": Case(UNEQUAL_TRIANGLE, "allreduce 1GB", 0.1, 0.1, 0.1, 0.101),
    # 9 x 7,000 x 32 tokens of 3 bytes over 50 GB/s.
    "experts": Case(CHECKPOINT, "transfer 6.048MB of n[0] to n[1]", 120.96e-6, 122.1e-6, 120.96e-6, 122.1e-6),
    "a checkpoint": Case(CHECKPOINT, "transfer 65.5TB of n to store", 7.4857, 7.4858, 7.4857, 7.4858),
    # Two senders share 100 Gb/s.
    "each sends as much": Case(UNEQUAL_SENDERS, "transfer 1GB each of a, b to c", 0.16, 0.1601, 0.16, 0.1601),
    "in parts as is best": Case(UNEQUAL_SENDERS, "transfer 3GB of a, b to c", 0.015, 0.0151, 0.015, 0.0151),
}


@pytest.mark.daily
def test_two_sites_exchange_once(tmp_path: Path) -> None:
    """Two sites of 512 DGX H100, 500 km apart, 51.2 Tb/s between them, 32 times less than their ports have. The sums of 140 GB
    cross that in 21.9 ms; each rank receives 2 x 8191/8192 of them at 4 Tb/s (450 GB/s and its port). A ring passes the 500 km
    at each of 2 x 1023 steps; one exchange passes them once, or once each way."""
    found = interval(Case(TWO_FAR_SITES, "allreduce 140GB", 0, 0, 0), tmp_path, None)
    low, high = (float(getattr(x, "amount", x)) for x in (found.lower, found.value))
    trip = 500e3 * 4.9e-9
    assert 0.5 <= low <= high <= 0.8
    assert found.witness["delays_s"] <= 4 * trip
    assert found.witness["schedule"] != "ring"


def interval(case: Case, folder: Path, data: Path | None) -> Any:
    """The answer to a question about a design."""
    text = case.design
    if case.design.endswith(".fab"):
        if data is None:
            pytest.skip("TDSL_TEST_DATA names no folder with data from elsewhere")
        text = (data / "cases" / case.design).read_text(encoding="utf-8")
    lines = [x for x in text.rstrip().splitlines() if not x.strip().startswith(("require ", "report "))]
    lines[-1:] = [f"  report {case.asked}", lines[-1]]
    made = compile_text("\n".join(lines) + "\n", folder, models=False, fail=case.fail)
    return next(r for r in made.designs[0].results if r.requirement == case.asked)


@pytest.mark.parametrize("name", CASES)
def test_an_interval(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    given = os.environ.get("TDSL_TEST_DATA")
    found = interval(case, tmp_path, Path(given) if given else None)
    low, high = (float(getattr(x, "amount", x)) for x in (found.lower, found.upper))
    assert case.least * (1 - 1e-9) <= low <= case.floor * (1 + 1e-9), found.text
    assert case.most * (1 - 1e-9) <= high <= case.ceiling * (1 + 1e-9), found.text
    assert found.status == ("proved" if low == high else "bounded")


def test_a_failure_elsewhere_changes_neither_end(tmp_path: Path) -> None:
    """Without delays it is between 2 x 143/144 x 1120 Gbit over 7.6 Tb/s and 5 % more, whatever fails beside it."""
    given = os.environ.get("TDSL_TEST_DATA")
    cases = [CASES[name] for name in ("domains of 72", "domains of 72, less a spine", "domains of 68 and 72")]
    intact, failed, partly = (interval(c, tmp_path, Path(given) if given else None) for c in cases)
    assert (intact.lower, intact.value) == (failed.lower, failed.value)
    assert float(intact.value.amount) <= 0.307
    assert abs(partly.value.amount / intact.value.amount - 1) <= Fraction(3, 100)


@pytest.mark.parametrize("design", sampled(["torus3d", "dgx_superpod_h100", "ft3", "gb200_nvl72"], 2))
def test_schedules_of_published_designs_are_near_the_floor(design: str, tmp_path: Path) -> None:
    """Without the delays that nobody publishes: within a twentieth."""
    asked = [f"{metric} 10GB" for metric in ("allreduce", "all_gather_time", "all_to_all_time")]
    text = (ROOT / "stdlib" / "designs" / f"{design}.fab").read_text(encoding="utf-8").rstrip().removesuffix("}")
    made = compile_text(text + "".join(f"  report {one}\n" for one in asked) + "}\n", tmp_path, models=False)
    for one in asked:
        found: Any = next(r for r in made.designs[0].results if r.requirement == one)
        assert 0 < found.lower.amount <= found.value.amount <= found.lower.amount * Fraction(21, 20), found.text


def test_a_mixed_fabric_adds_in_less_than_a_second(tmp_path: Path) -> None:
    """H100 and GB300 in one: at least 0.5 s of 140 GB, at most 0.7 s without delays."""
    given = os.environ.get("TDSL_TEST_DATA")
    found = interval(Case("fabrics/mixed_h100_gb300.fab", "allreduce 140GB", 0, 0, 0), tmp_path, Path(given) if given else None)
    assert 0.5 <= float(found.lower.amount) <= float(found.value.amount) <= 0.7
