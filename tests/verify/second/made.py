"""Small fabrics of which tests of the second opinion know every figure."""

from __future__ import annotations

from typing import Any

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.verify.result import Result
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.judge import results_with_claims
from tests.fabrics import GBPS, Builder

RATE = 400 * GBPS


def leaves(count: int = 2, trunk: int = 1, complete: bool = True, file: str = "made.fab") -> Builder:
    """A chain of leaves with two hosts each, one link a host, and ``trunk`` links between neighbours."""
    b = Builder("leaves", complete=complete, file=SourceFile(file, ""))
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 2 * count)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 16}), count)
    for n in range(2 * count):
        b.link(b.port(host, n), b.free(leaf, n // 2))
    for n in range(count - 1):
        for _ in range(trunk):
            b.link(b.free(leaf, n), b.free(leaf, n + 1))
    return b


def judged_result(fabric: Fabric, asked: Any) -> Result:
    """What the checks say of a requirement."""
    return next(r for r, c in results_with_claims([asked], judge_requirements(fabric, [asked], Diagnostics())) if c is asked)


def star(*rates: int, switches: int = 1) -> Builder:
    """Hosts at these rates, in bit/s, on each of some switches."""
    b = Builder("star")
    host = b.devices("node", b.model("host", "NODE", {"nic": 4}), len(rates))
    switch = b.devices("sw", b.model("switch", "SW", {"p": 128}), switches)
    for n, rate in enumerate(rates):
        for s in range(switches if rate else 0):
            b.link(b.free(host, n), b.free(switch, s), rate)
    return b


def rates(*each: int, switches: int = 1) -> Fabric:
    return star(*each, switches=switches).build()
