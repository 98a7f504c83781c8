"""DGX SuperPOD H100 against NVIDIA's published figures (reference architecture, network fabrics, table 4)."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Severity
from tdsl.verify.summary import fabric_summary

TABLE = {  # units: nodes, GPUs, leaf, spine, compute + UFM cables, leaf-spine cables
    1: (31, 248, 8, 4, 252, 256),
    2: (63, 504, 16, 8, 508, 512),
    3: (95, 760, 24, 16, 764, 768),
    4: (127, 1016, 32, 16, 1020, 1024),
}


@cache
def superpod(units: int) -> compiler.Design:
    result = compiler.compile_and_verify("dgx_superpod_h100", Request(set=(("units", str(units)),)))
    assert [(d.code, d.severity) for d in result.findings] == [("E0461", Severity.NOTE)]
    return result.designs[0]


@pytest.mark.parametrize("units", TABLE)
def test_figures_and_proofs(units: int) -> None:
    nodes, gpus, leaf, spine, access, fabric_cables = TABLE[units]
    design = superpod(units)
    assert design.fabric is not None
    summary = fabric_summary(design.fabric)
    assert [summary[k] for k in ("hosts", "accelerators", "endpoints")] == [nodes, gpus, 8 * nodes]
    assert (summary["other_hosts"], summary["other_endpoints"]) == (1, 4) and summary["tiers"] == {"leaf": leaf, "spine": spine}
    classes = {"host-leaf": access, "leaf-spine": fabric_cables}
    assert summary["links"] == summary["cables"] == {"total": access + fabric_cables, "classes": classes}
    assert [summary[k] for k in ("planes", "rails", "switches")] == [1, 8, leaf + spine]
    assert summary["injection_bps"] == 8 * nodes * 400e9
    results = {r.check: r for r in design.results}
    assert results["oversubscription"].status == "proved" and results["oversubscription"].value == Fraction(1)
    assert results["edge_redundancy"].value == 8 and results["diameter"].value == 2
    assert {r.status for r in results.values()} <= {"proved", "skipped"}
    assert [r.check for r in results.values() if r.status == "skipped"] == ["plane_isolation"]


def cables(fabric: Fabric) -> dict[str, str]:
    """Cable id (lower-tier device and port) -> far port."""
    ends = zip(fabric.device_a.tolist(), fabric.link_a.tolist(), fabric.link_b.tolist(), strict=True)
    return {f"{fabric.device_name(d)}:{fabric.port_path(a)}": fabric.port_path(b) for d, a, b in ends}


@pytest.mark.parametrize(("before", "after", "moves"), [(1, 2, 128), (2, 3, 256), (3, 4, 0), (2, 4, 256)])
def test_growth_moves_only_what_arithmetic_forces(before: int, after: int, moves: int) -> None:
    """1 to 2 and 2 to 3 units (8 to 16 spines) halve the links a pair; 3 to 4 keep every link, UFM's four apart."""
    small, large = superpod(before).fabric, superpod(after).fabric
    assert small is not None and large is not None
    old, new = cables(small), cables(large)
    ufm = {k for k in old if k.startswith("ufm:")}
    assert len(ufm) == 4 and set(old) - ufm <= set(new)  # names, leaf-side ports and cable ids stay
    moved = {k for k in old if k not in ufm and new[k] != old[k]}
    assert len(moved) == moves and all(".leaf[" in k for k in moved)


def test_ufm_takes_the_ports_the_omitted_node_left() -> None:
    fabric = superpod(4).fabric
    assert fabric is not None
    far = {k: v for k, v in cables(fabric).items() if k.startswith("ufm:")}
    assert sorted(far.values()) == [f"su[3].leaf[{r}].p[32]" for r in (0, 2, 4, 6)]
    assert "su[3].node[31]" not in {fabric.device_path(int(d)) for d in fabric.device_a}
