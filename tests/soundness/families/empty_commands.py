"""Calls of commands with nothing to judge, each of which must end with another status than 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.soundness.families.planted_captures import DESIGN, SMALL


@dataclass(frozen=True)
class Call:
    """A call in a folder with these files, and why it has nothing to judge."""

    number: int
    args: tuple[str, ...]
    why: str
    files: Mapping[str, str] = field(default_factory=dict)


SKIPPED = {
    "no places": "require cable_length <= 3m",
    "no places for a tray": "require tray_fill <= 25%",
    "no places for racks": "require rack_power <= 9kW",
    "no rails": "require rail_alignment",
    "no planes": "require plane_isolation",
    "no latency": "require latency <= 2us",
    "nothing named is built": "require links of spare >= 1",
    "no routing": "require address_overlap",
    "a set of one": "require bisection of all leaf >= 100%",
}
"""Requirements that nothing can be said of, by the cause."""


def design_with(requirement: str) -> str:
    """A design with one requirement, and a switch that is planned only."""
    return SMALL.rstrip().removesuffix("}") + f"  switch spare[0 of 1]: SW\n  {requirement}\n}}\n"


EMPTY = "fabric f {\n}\n"
CPU = '<cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143"/>'
XML = f'<system version="1">{CPU}</system>\n'
GRAPHS = '<graphs version="1"></graphs>\n'


def empty_calls() -> list[Call]:
    """All calls."""
    rows: list[tuple[tuple[str, ...], str, Mapping[str, str]]] = [
        (("check", "design.fab"), "no fabric", {"design.fab": "# nothing\n"}),
        (("check", "design.fab"), "no text", {"design.fab": ""}),
        (("check", "design.fab"), "a fabric without devices", {"design.fab": EMPTY}),
        (("check", "design.fab", "--select", "E0999"), "no such check", {"design.fab": DESIGN}),
        (("check", "design.fab", "--scenarios", "none.txt"), "no scenario", {"design.fab": DESIGN, "none.txt": ""}),
        (("check", "design.fab", "--scenarios", "none.txt"), "comments alone", {"design.fab": DESIGN, "none.txt": "# a\n# b\n"}),
        (("check", "designs"), "a folder without designs", {"designs/readme.txt": "no design\n"}),
        (("audit", "design.fab"), "no capture", {"design.fab": DESIGN}),
        (("audit", "design.fab", "--lldp", "captures"), "an empty folder", {"design.fab": DESIGN, "captures/.keep": ""}),
        (
            ("audit", "design.fab", "--only", "nothing[0]", "--p2p", "c.csv"),
            "--only names nothing",
            {"design.fab": DESIGN, "c.csv": "a_device,a_port,b_device,b_port\nleaf0,swp4,leaf1,swp4\n"},
        ),
        (
            ("audit", "design.fab", "--p2p", "c.csv", "--only", "node[2]"),
            "no captured link is among --only",
            {"design.fab": DESIGN, "c.csv": "a_device,a_port,b_device,b_port\nleaf0,swp4,leaf1,swp4\n"},
        ),
        (("lint-nccl", "system.xml"), "a topology without adapters", {"system.xml": XML}),
        (("lint-nccl", "graphs.xml"), "no graph", {"graphs.xml": GRAPHS}),
        (
            ("lint-nccl", "--against", "graphs.xml", "system.xml"),
            "against a file of graphs",
            {"system.xml": XML, "graphs.xml": GRAPHS},
        ),
        (("verify", "out"), "no manifest", {"out/readme.txt": "a\n"}),
        (("build", "design.fab", "--target", "frr", "--out", "out"), "nothing to write for frr", {"design.fab": DESIGN}),
        (("build", "design.fab", "--target", "slurm", "--out", "out"), "no host for slurm", {"design.fab": SMALL}),
        (("build", "design.fab", "--target", "kubernetes", "--out", "out"), "no host for kubernetes", {"design.fab": SMALL}),
        (("build", "design.fab", "--target", "nccl", "--out", "out"), "no host for nccl", {"design.fab": SMALL}),
        (("import", "c.csv", "-o", "made.fab"), "a header alone", {"c.csv": "a_device,a_port,b_device,b_port\n"}),
        (("import", "-o", "made.fab"), "no capture", {}),
        (("import", "captures", "-o", "made.fab"), "an empty folder", {"captures/.keep": ""}),
        (("compare", "a.fab", "b.fab"), "no fabric", {"a.fab": "# a\n", "b.fab": "# b\n"}),
        (("diff", "a.fab", "b.fab"), "no fabric", {"a.fab": "# a\n", "b.fab": "# b\n"}),
        (("plan", "a.fab", "b.fab"), "no fabric", {"a.fab": "# a\n", "b.fab": "# b\n"}),
        (("explore", "design.fab"), "no parameter", {"design.fab": DESIGN}),
        (("expand", "design.fab"), "no fabric", {"design.fab": "# a\n"}),
        (("lock", "design.fab"), "no fabric", {"design.fab": "# a\n"}),
        (("show", "design.fab", "summary"), "no fabric", {"design.fab": "# a\n"}),
        (("fmt", "--check", "designs"), "a folder without designs", {"designs/readme.txt": "no design\n"}),
        (("render", "out"), "nothing built", {"out/readme.txt": "a\n"}),
    ]
    rows += [(("check", "design.fab"), why, {"design.fab": design_with(text)}) for why, text in SKIPPED.items()]
    return [Call(i, args, why, files) for i, (args, why, files) in enumerate(rows)]
