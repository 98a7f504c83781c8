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


def leaves(count: int = 2, trunk: int = 1, complete: bool = True) -> Builder:
    """A chain of leaves with two hosts each, and ``trunk`` links between neighbours."""
    b = Builder("leaves", complete=complete)
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


RATE = 400 * GBPS


def two_leaves(trunk: int = 1, rate: int = RATE, file: str = "made.fab") -> Builder:
    """Hosts 0 and 1 at leaf 0, hosts 2 and 3 at leaf 1, one link each, and ``trunk`` links between the leaves."""
    b = Builder("two_leaves", file=SourceFile(file, ""))
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 4)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 8}), 2)
    for n in range(4):
        b.link(b.port(host, n), b.free(leaf, n // 2), rate)
    for _ in range(trunk):
        b.link(b.free(leaf, 0), b.free(leaf, 1))
    return b


def star(*rates: int) -> Builder:
    """Hosts with one link each to one switch."""
    b = Builder("star")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), len(rates))
    switch = b.devices("sw", b.model("switch", "SW", {"p": 8}), 1)
    for n, rate in enumerate(rates):
        if rate:
            b.link(b.port(host, n), b.port(switch, 0, "p", n), rate)
    return b


def rates(*each: int, switches: int = 1) -> Fabric:
    """Hosts at these rates, in bit/s, on each of some switches."""
    b = Builder("rates")
    host = b.devices("node", b.model("host", "NODE", {"nic": 4}), len(each))
    switch = b.devices("sw", b.model("switch", "SW", {"p": 128}), switches)
    for n, rate in enumerate(each):
        for s in range(switches):
            b.link(b.free(host, n), b.free(switch, s), rate)
    return b.build()
