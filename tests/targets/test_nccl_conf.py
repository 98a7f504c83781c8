"""Settings of NCCL: read as NCCL reads them, and what rails and planes make of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import compile_text, fabric_of
from tests.targets.build import SYSTEMS, files_of, pod


def read(data: bytes) -> dict[str, str]:
    """Variables as setEnvFile of NCCL 2.30.7 (src/misc/param.cc) sets them: a value is all that follows the first `=`."""
    out = {}
    for line in data.decode().split("\n"):
        assert len(line.encode()) < 4096 and line == line.rstrip()
        if line.startswith("#") or "=" not in line:
            assert line == "" or line.startswith("# "), line
            continue
        name, _, value = line.partition("=")
        assert name not in out and name.isidentifier() and len(value.encode()) <= 1023
        out[name] = value
    return out


def test_a_superpod() -> None:
    """Each setting is below its reason."""
    data = files_of(pod(rails=8), "nccl")[0]["nccl/DGX_H100.conf"]
    assert read(data) == {
        "NCCL_TOPO_FILE": "/etc/nccl/DGX_H100.xml", "NCCL_IB_HCA": "=" + ",".join(f"mlx5_{n}" for n in SYSTEMS),
        "NCCL_CROSS_NIC": "2", "NCCL_PXN_DISABLE": "0",
    }  # fmt: skip
    lines = data.decode().splitlines()
    assert all(line.startswith("#") or not line or above.startswith("# ") for above, line in pairwise(lines))


def test_where_the_xml_is_put() -> None:
    files, _ = files_of(pod(), "nccl", topo_dir="/opt/site")
    assert read(files["nccl/DGX_H100.conf"])["NCCL_TOPO_FILE"] == "/opt/site/DGX_H100.xml"
    files, found = files_of(pod(), "nccl", topo_dir="/opt/site\nX=1")
    assert b"X=1" not in files["nccl/DGX_H100.conf"] and [(d.code, d.severity.word) for d in found] == [("E0502", "error")]


ADAPTERS = ",".join(f"mlx5_{i}" for i in range(8))
SPREAD = """  host node[8]: HGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4"""
RAILS = "  host node[8]: GRAND_TETON\n  switch rail[8]: SW64x400\n  connect node[n].nic[r] to rail[r]"
PLANES = """  hosts 32 x H800_NODE
  planes 8
  transport infiniband
  clos { leaf SW64x400; spine SW64x400; oversubscription 1:1 }"""
SHUFFLED = """  host node[64]: B300_HOST { split nic 8 }
  panel box[64]: SHUFFLE_8x8 { split front 8; split back 8 }
  plane pl[8] { switch leaf: SW51T { split p 8 } }
  connect node[n].nic[r, p] to pl[p].leaf via box[n]"""
PLUGIN = "  host node[2]: P5\n  switch leaf: SW51T { split p 8 }\n  connect node[n].nic[r] to leaf { cable HARNESS_8X100 }"


@pytest.mark.parametrize(
    ("text", "host", "expected", "says"),
    [
        (SPREAD, "HGX_H100", {"NCCL_CROSS_NIC": "0"}, "fewer links between rails"),
        (SPREAD.replace("x 4", "x 8"), "HGX_H100", {"NCCL_CROSS_NIC": "2"}, "joined at full capacity"),
        # the model of the host says nothing of its inside
        (RAILS, "GRAND_TETON", {"NCCL_CROSS_NIC": "0", "NCCL_TOPO_FILE": None}, "this must stay on"),
        (
            PLANES, "H800_NODE",
            {"NCCL_IB_HCA": "=" + ",".join(f"mlx5_{i}:::{i}" for i in range(8)), "NCCL_CROSS_NIC": "0"},
            "Planes that no switch joins",
        ),
        # each adapter has a lane in each plane, so any two meet; no plane stands behind a name
        (SHUFFLED, "B300_HOST", {"NCCL_IB_HCA": f"={ADAPTERS}", "NCCL_CROSS_NIC": "2"}, "No rails: NCCL may change"),
        (PLUGIN, "P5", {"NCCL_IB_HCA": None}, "rdmap79s0, rdmap80s0"),
    ],
)  # fmt: skip
def test_what_is_said_of_rails_and_planes(
    text: str, host: str, expected: dict[str, str | None], says: str, tmp_path: Path
) -> None:
    fabric = fabric_of(f"fabric f {{\n{text}\n}}", tmp_path, models=False)
    data = build_files(fabric, ["nccl"], Diagnostics())[f"nccl/{host}.conf"]
    settings = read(data)
    assert {k: settings.get(k) for k in expected} == expected
    assert says in data.decode()


def test_a_network_of_storage_over_the_same_hosts_has_none(tmp_path: Path) -> None:
    text = """cluster c {
  host node[8]: DGX_H100
  fabric compute { switch leaf[8]: QM9700; connect node[n].nic[r] to leaf[r] }
  fabric storage {
    switch leaf[2]: QM9700
    connect node[n].storage[(0)] to leaf[0]
    connect node[n].storage[(2)] to leaf[1]
  }
}"""
    designs = compile_text(text, tmp_path, verify=False, models=False).designs
    files = {d.name: build_files(d.fabric, ["nccl"], Diagnostics()) for d in designs if d.fabric}
    written = {name: [k for k in made if k.endswith(".conf")] for name, made in files.items()}
    assert written == {"compute": ["nccl/DGX_H100.conf"], "storage": []}
