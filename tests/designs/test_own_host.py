"""A host model and a switch from a folder of one's own: used by a design, no code touched, its NCCL file right."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from tdsl.cli import cli
from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tests.targets import nccl_reader

HOST = """
model chip G4 { port link[6]: 200Gbps { type NVL }; sm 80; device "10de:20b0" }
model switch HUB { port p[24]: 200Gbps { type NVL } }
model host TWIN "two sockets, four GPUs, two adapters" {
  port nic[2]: 200Gbps { type HDR; os "mlx5_{i}"; name "NIC{i + 1}" }
  chip gpu[4]: G4
  switch hub: HUB
  connect gpu[g] to hub x 6 { layer scaleup; medium trace }
  numa cpu[2] { arch x86_64; vendor AuthenticAMD; family 143; cpu_model 49; cores 32 }
  let trees = ["2a", "aa"]
  let gpus = ["2B", "2C", "AB", "AC"]
  let nics = ["2d", "ad"]
  pcie tree[2] { on cpu[i]; gen 4; lanes 16; device "1000:c010"; bus "0000:{trees[i]}:00.0" }
  pcie gpu { on tree[i // 2]; gen 4; lanes 16; device "10de:20b0"; bus "0000:{gpus[i]}:00.0" }
  pcie nic { on tree[i]; gen 4; lanes 16; device "15b3:101b"; bus "0000:{nics[i]}:00.0" }
}
"""
SWITCH = "model switch RAIL { port p[1..4]: 200Gbps { type HDR } }"
DESIGN = """
use house (TWIN, RAIL)
fabric small {
  host node[3]: TWIN
  switch rail[2]: RAIL
  connect node[n].nic[r] to rail[r]
  require rail_alignment
}
"""


def test_a_host_of_ones_own(tmp_path: Path) -> None:
    library = tmp_path / "library" / "house"
    library.mkdir(parents=True)
    (library / "twin.fab").write_text(HOST)
    (library / "rail.fab").write_text(SWITCH)
    design = tmp_path / "small.fab"
    design.write_text(DESIGN)
    out = tmp_path / "out"
    result = CliRunner().invoke(cli, ["build", str(design), "--path", str(library.parent), "--out", str(out)])
    assert result.exit_code == 0, result.output
    text = (out / "nccl" / "TWIN.xml").read_text()
    assert {d.severity.name for d in lint_nccl_file(SourceFile("TWIN.xml", text))} <= {"NOTE"}
    system = nccl_reader.read(text)
    assert [c.attributes["affinity"] for c in system.children] == [
        "ffffffff,00000000,ffffffff", "ffffffff,00000000,ffffffff,00000000",
    ]  # fmt: skip
    for socket, cpu in enumerate(system.children):
        (tree,) = cpu.children
        assert len(tree.all("gpu")) == 2 and not any("dev" in g.attributes for g in tree.all("gpu"))
        assert [n.attributes["name"] for n in tree.all("net")] == [f"mlx5_{socket}"]
        assert {x.attributes["count"] for x in tree.all("nvlink")} == {"6"}
        assert {p.attributes["link_speed"] for p in tree.all("pci")} == {"16.0 GT/s PCIe"}
        assert all(p.attributes["busid"] == p.attributes["busid"].lower() for p in tree.all("pci"))
