"""Good topology files with one change each: what costs bandwidth is told, alone and beside the good file."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.nccl.against import compare_with_dump
from tdsl.nccl.lint import lint_nccl_file
from tests.harness import none
from tests.nccl.bandwidth import planned
from tests.nccl.mutations import Mutant, text_of
from tests.stdlib.test_hosts import HOSTS, whole
from tests.targets import nccl_reader
from tests.targets.nccl_reader import Node
from tests.targets.test_nccl import made

EXAMPLES = ("DGX_H100", "DGX_A100", "GB200_TRAY", "P5", "BM_GPU_H100")
PLANS = {
    "aws-p4d-24xl-topo.xml": 48, "azure-ndv4-topo.xml": 192, "azure-ndv5-topo.xml": 384, "oci-b300.xml": 768,
    "DGX_H100": 384, "ND_V5": 384, "ND_V4": 192, "P4D": 48, "P5": 384,
}  # fmt: skip
"""GB/s that NCCL's own search plans for two such hosts, as channels times speed: 4 × 12, 8 × 24, 8 × 48, 8 × 96, 32 × 12."""


def good_files(folder: Path, hosts: list[str]) -> Iterator[tuple[str, Node]]:
    """Files that clouds publish, and what is written for hosts of the library."""
    for path in sorted(folder.glob("nccl/*.xml")):
        if "<graphs" not in (text := path.read_text()):
            yield path.name, nccl_reader.read(text)
    for host in hosts:
        yield host, nccl_reader.read(made(whole(host))[0])


def told(text: str) -> list[str]:
    """What is said beyond notes."""
    return [d.message for d in lint_nccl_file(SourceFile("topo.xml", text)) if d.severity is not Severity.NOTE]


def test_the_model_plans_what_nccl_plans(test_data: Path) -> None:
    for name, system in good_files(test_data, [n for n in PLANS if n in HOSTS]):
        if name in PLANS:
            assert planned(system) == PLANS[name], name


def silent_changes(folder: Path, hosts: list[str], seeds: range) -> tuple[int, list[str], list[str]]:
    """Changes that cost a hundredth or more of what NCCL plans: how many there were, and those that nothing is said of, of the
    file alone and beside the good one."""
    count, alone, beside = 0, [], []
    for name, system in good_files(folder, hosts):
        good, plan = text_of(system), planned(system)
        assert not told(good), (name, told(good))
        assert not compare_with_dump(SourceFile("a.xml", good), SourceFile("b.xml", good)).findings
        for seed in seeds:
            mutant = Mutant(system, random.Random(f"{name} {seed}"))
            if not mutant.done or planned(mutant.system) >= 0.99 * plan:
                continue
            count += 1
            text, what = text_of(mutant.system), f"{name} {seed}: {mutant.done}"
            alone += [] if told(text) else [what]
            beside += [] if compare_with_dump(SourceFile("a.xml", text), SourceFile("b.xml", good)).findings else [what]
    return count, alone, beside


def judge_changes(folder: Path, hosts: list[str], seeds: range) -> None:
    """At most one in twenty may pass in silence, and none beside the good file."""
    count, alone, beside = silent_changes(folder, hosts, seeds)
    assert count > 2 * len(seeds) and len(alone) * 20 <= count, (count, alone)
    none(beside)


def test_what_costs_bandwidth_is_told(test_data: Path) -> None:
    judge_changes(test_data, [*EXAMPLES], range(6))


@pytest.mark.daily
@pytest.mark.parametrize("share", range(4))
def test_many_changes(share: int, test_data: Path) -> None:
    judge_changes(test_data, sorted(HOSTS), range(30 * share + 100, 30 * share + 130))
