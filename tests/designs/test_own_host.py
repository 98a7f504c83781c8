"""A host model and a switch from a folder of one's own: used by a design, no code touched, its NCCL file right."""

from __future__ import annotations

from pathlib import Path

from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tests.cli.run import tdsl, write
from tests.tables import sections
from tests.targets import nccl_reader

TEXTS = sections(__file__)


def test_a_host_of_ones_own(tmp_path: Path) -> None:
    library = tmp_path / "library" / "house"
    library.mkdir(parents=True)
    for name in ("twin", "rail"):
        write(library, TEXTS[name], f"{name}.fab")
    out = tmp_path / "out"
    result = tdsl("build", write(tmp_path, TEXTS["design"]), "--path", library.parent, "--out", out)
    assert result.exit_code == 0, result.output
    text = (out / "nccl" / "TWIN.xml").read_text()
    told = {d.message for d in lint_nccl_file(SourceFile("TWIN.xml", text)) if d.severity.name != "NOTE"}
    assert told == {"6 of the 12 NVLinks of a GPU of sm 80: NCCL plans with 6"}  # two GPUs of a host without a switch
    system = nccl_reader.read(text)
    low = "ffffffff,00000000,ffffffff"
    assert [c.attributes["affinity"] for c in system.children] == [low, f"{low},00000000"]
    for socket, cpu in enumerate(system.children):
        (tree,) = cpu.children
        assert len(tree.all("gpu")) == 2 and not any("dev" in g.attributes for g in tree.all("gpu"))
        assert [n.attributes["name"] for n in tree.all("net")] == [f"mlx5_{socket}"]
        assert {x.attributes["count"] for x in tree.all("nvlink")} == {"6"}
        assert {p.attributes["link_speed"] for p in tree.all("pci")} == {"16.0 GT/s PCIe"}
        assert all(p.attributes["busid"] == p.attributes["busid"].lower() for p in tree.all("pci"))
