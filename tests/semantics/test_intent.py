"""Intent: hosts, rails, planes, pods, topologies and tiers, and the structure that ``tdsl expand`` prints for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tdsl.verify.summary import fabric_summary
from tests.harness import compile_text, sampled, sections
from tests.harness import fabric_of as made_of

TEXTS = sections(Path(__file__).parent / "intent.txt")
SUPERPOD = f"{TEXTS['SUPERPOD']}\n"
CASES = sections(Path(__file__).parent / "intents.txt")
MODELS = CASES.pop("models")
INTENT = ("hosts ", "rails ", "planes ", "pods ", "clos ", "tier ")


def compiled(text: str, folder: Path, **settings: object) -> compiler.Compilation:
    path = folder / "design.fab"
    path.write_text(text, encoding="utf-8")
    return compiler.compile_and_verify(str(path), Request(set=tuple((k, str(v)) for k, v in settings.items())))


def fabric_of(text: str, folder: Path, **settings: object) -> Fabric:
    """The fabric of a text without errors."""
    return made_of(text, folder, models=False, set=settings)


def data(fabric: Fabric) -> bytes:
    """The bytes of fabric.json."""
    found = Diagnostics()
    files = build_files(fabric, ["json"], found)
    assert not found.has_errors
    return files["fabric.json"]


def expanded(text: str, folder: Path, **settings: object) -> str:
    path = folder / "intent.fab"
    path.write_text(text, encoding="utf-8")
    made, result = compiler.expand_intent(str(path), Request(set=tuple((k, str(v)) for k, v in settings.items())))
    assert made is not None, [d.message for d in result.findings]
    return made


@pytest.mark.parametrize("name", sampled(CASES, 6))
def test_an_expansion_is_a_design_of_the_same_fabric(name: str, tmp_path: Path) -> None:
    """It is laid out, holds no intent and expands to itself; its figures, lines and notes are those of the case."""
    body, *facts = CASES[name].split("\n-> ")
    text = f"fabric f {{\n{body}\n}}\n{MODELS}\n"
    made = expanded(text, tmp_path)
    assert format_source(SourceFile("x", made)) == made and expanded(made, tmp_path) == made
    assert not any(line.strip().startswith(INTENT) for line in made.splitlines())
    fabric, again = fabric_of(text, tmp_path), fabric_of(made, tmp_path)
    assert data(again) == data(fabric)
    summary: Any = fabric_summary(fabric)
    found = {
        "tiers": ", ".join(f"{k} {n}" for k, n in summary["tiers"].items()),
        "links": ", ".join(f"{k} {n}" for k, n in summary["links"]["classes"].items()),
        "rates": ", ".join(f"{r // 10**9}Gbps" for r in sorted(set(fabric.link_rate.tolist()))),
        "cables": str(len(set(fabric.cable_group.tolist()))),
        "writes": made,
        "note": " ".join(d.message for d in compile_text(text, tmp_path, models=False, verify=False).findings),
    }
    for kind, _, said in (fact.partition(" ") for fact in facts):
        assert said.strip() in found[kind] if kind in ("writes", "note") else said.strip() == found[kind], found[kind]


@pytest.mark.parametrize("units", [1, 2, 3, 4])
def test_the_superpod_at_any_size(units: int, tmp_path: Path) -> None:
    """Few lines, whatever its size, and the figures of the design of the library. Units of 3 take 16 spines: 12 would have the
    ports, and 32 links do not spread evenly over 12."""
    made, fabric = expanded(SUPERPOD, tmp_path, units=units), fabric_of(SUPERPOD, tmp_path, units=units)
    assert len(made.splitlines()) == len(expanded(SUPERPOD, tmp_path).splitlines()) <= 40
    assert data(fabric_of(made, tmp_path)) == data(fabric)
    standard = compiler.compile_without_checks("dgx_superpod_h100", Request(set=(("units", str(units)),))).designs[0].fabric
    assert standard is not None and fabric_summary(fabric) == fabric_summary(standard)
    assert fabric_summary(fabric)["tiers"]["spine"] == [4, 8, 16, 16][units - 1]  # type: ignore[index]


def test_comments_stay_and_lines_of_numbers_go(tmp_path: Path) -> None:
    text = "fabric f {\n  # first\n  hosts 8 x DGX_H100  # eight\n  rails 8; clos { leaf QM9700; spine QM9700 }\n}\n"
    made = expanded(text, tmp_path)
    assert made.splitlines()[:4] == ["fabric f {", "  # first", "  host host[8]: DGX_H100  # eight", "  group leaf[1] {"]


@pytest.mark.parametrize(
    ("hosts", "model", "rails", "tier", "loads"),
    [
        (4, "nic[2, 4]", "", "3 hosts { switch S64 x 4 }", [2, 6]),
        (6, "nic[2, 4]", "rails 2", "3 hosts { switch S64 x 4 }", [6]),
        (6, "nic[4]", "rails 4", "3 hosts { switch S64 x 8 }", [1, 2]),
        (7, "nic[4]", "", "7 hosts { switch S64 x 3 }", [9, 10]),
    ],
)
def test_ends_are_dealt_evenly(hosts: int, model: str, rails: str, tier: str, loads: list[int], tmp_path: Path) -> None:
    fabric = fabric_of(
        f"model switch S64 {{ port p[1..64]: 400Gbps }}\nmodel host NODE {{ port {model}: 400Gbps }}\nfabric f {{\n"
        f"hosts {hosts} x NODE\n{rails}\nclos {{ tier rack of {tier}; tier top of ? rack {{ switch S64 }} }}\n}}\n",
        tmp_path,
    )
    access = np.bincount(fabric.device_b[fabric.device_a < hosts])
    assert sorted(set(access[access > 0].tolist())) == loads


def test_topologies_are_files(tmp_path: Path) -> None:
    """One of a ``--path`` folder is known; without its file its name means nothing."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "pair.fab").write_text(
        "topology pair(ends: ports, sw: model) {\n switch s[2]: sw\n connect ends[h, r] to s[r % 2]\n}\n"
    )
    path = tmp_path / "design.fab"
    path.write_text("fabric f {\n hosts 8 x DGX_H100\n pair QM9700\n}\n")
    assert compiler.compile_and_verify(str(path), Request(paths=(tmp_path / "own",))).findings == []
    assert [d.code for d in compiler.compile_and_verify(str(path)).findings] == ["E0118"]


def test_a_finding_names_the_intent_and_then_the_topology(tmp_path: Path) -> None:
    """Three nodes more than ports: the block is the place, the library's line a label."""
    text = "fabric f {\n hosts 67 x DGX_H100\n rail_only { switch QM9700 }\n}\n"
    found = compiled(text, tmp_path).findings
    assert [(d.code, d.span.begin[0] if d.span else 0) for d in found] == [("E0452", 3)]
    labels = {x.span.file.name: x.message for x in found[0].labels}
    assert labels["stdlib:topologies/rail_only.fab"] == "as the topology says here"


def test_too_many_hosts_are_refused_at_once(tmp_path: Path) -> None:
    """The search for another size of the leaf does not try every number of its ports."""
    text = "fabric f {\nhosts 2**31 x DGX_H100\nplanes 8\nclos { leaf QM9700; spine QM9700; oversubscription 1:255 }\n}"
    assert {d.code for d in compiled(text, tmp_path).findings} == {"E0116", "E0459"}
