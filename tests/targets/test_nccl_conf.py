"""Settings of NCCL: read as NCCL reads them, and what rails and planes make of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import compile_text
from tests.targets.build import SYSTEMS, dgx_h100, faced, pod, switch


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


def told(text: str, folder: Path, host: str) -> tuple[dict[str, str], str]:
    """The settings of a host model in a design of text, and the whole file."""
    result = compile_text(text, folder, verify=False, models=False)
    fabric = result.designs[0].fabric
    assert fabric is not None and not [d for d in result.findings if d.severity.word == "error"], result.findings
    data = build_files(fabric, ["nccl"], Diagnostics())[f"nccl/{host}.conf"]
    return read(data), data.decode()


def test_a_superpod() -> None:
    data = build_files(pod(units=4, nodes=32, rails=8, spines=16), ["nccl"], Diagnostics())["nccl/DGX_H100.conf"]
    assert read(data) == {
        "NCCL_TOPO_FILE": "/etc/nccl/DGX_H100.xml",
        "NCCL_IB_HCA": "=" + ",".join(f"mlx5_{n}" for n in SYSTEMS),
        "NCCL_CROSS_NIC": "2",
        "NCCL_PXN_DISABLE": "0",
    }
    lines = data.decode().splitlines()
    for at, line in enumerate(lines):
        assert line.startswith("#") or line == "" or lines[at - 1].startswith("# ")


def test_where_the_xml_is_put() -> None:
    options = BuildOptions(settings={"nccl": {"topo_dir": "/opt/site"}})
    data = build_files(pod(), ["nccl"], Diagnostics(), options)["nccl/DGX_H100.conf"]
    assert read(data)["NCCL_TOPO_FILE"] == "/opt/site/DGX_H100.xml"
    found = Diagnostics()
    options = BuildOptions(settings={"nccl": {"topo_dir": "/opt/site\nX=1"}})
    assert b"X=1" not in build_files(pod(), ["nccl"], found, options)["nccl/DGX_H100.conf"]
    assert [(d.code, d.severity.word) for d in found] == [("E0502", "error")]


def test_fewer_links_between_rails_than_within(tmp_path: Path) -> None:
    text = """fabric f {
  host node[8]: HGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
}"""
    settings, words = told(text, tmp_path, "HGX_H100")
    assert settings["NCCL_CROSS_NIC"] == "0" and "fewer links between rails" in words
    settings, words = told(text.replace("x 4", "x 8"), tmp_path, "HGX_H100")
    assert settings["NCCL_CROSS_NIC"] == "2" and "joined at full capacity" in words


def test_rails_alone(tmp_path: Path) -> None:
    text = "fabric f {\n  host node[8]: GRAND_TETON\n  switch rail[8]: SW64x400\n  connect node[n].nic[r] to rail[r]\n}"
    settings, words = told(text, tmp_path, "GRAND_TETON")
    assert settings["NCCL_CROSS_NIC"] == "0" and "this must stay on" in words
    assert "NCCL_TOPO_FILE" not in settings  # the model says nothing of its inside


def test_planes_are_told_behind_the_names(tmp_path: Path) -> None:
    text = """fabric f {
  hosts 32 x H800_NODE
  planes 8
  transport infiniband
  clos { leaf SW64x400; spine SW64x400; oversubscription 1:1 }
}"""
    settings, words = told(text, tmp_path, "H800_NODE")
    assert settings["NCCL_IB_HCA"] == "=" + ",".join(f"mlx5_{i}:::{i}" for i in range(8))
    assert settings["NCCL_CROSS_NIC"] == "0" and "Planes that no switch joins" in words


def test_adapters_that_meet_every_plane_are_not_kept_apart(tmp_path: Path) -> None:
    """Each adapter has a lane in each plane, so any two meet; no plane stands behind a name."""
    text = """fabric f {
  host node[64]: B300_HOST { split nic 8 }
  panel box[64]: SHUFFLE_8x8 { split front 8; split back 8 }
  plane pl[8] { switch leaf: SW51T { split p 8 } }
  connect node[n].nic[r, p] to pl[p].leaf via box[n]
}"""
    settings, words = told(text, tmp_path, "B300_HOST")
    assert settings["NCCL_IB_HCA"] == "=" + ",".join(f"mlx5_{i}" for i in range(8))
    assert settings["NCCL_CROSS_NIC"] == "2" and "must stay on" not in words


def test_adapters_with_a_plugin_have_no_list(tmp_path: Path) -> None:
    text = """fabric f {
  host node[2]: P5
  switch leaf: SW51T { split p 8 }
  connect node[n].nic[r] to leaf { cable HARNESS_8X100 }
}"""
    settings, words = told(text, tmp_path, "P5")
    assert "NCCL_IB_HCA" not in settings and "rdmap79s0, rdmap80s0" in words


def test_a_network_of_storage_over_the_same_hosts_has_none(tmp_path: Path) -> None:
    text = """cluster c {
  host node[8]: DGX_H100
  fabric compute {
    switch leaf[8]: QM9700
    connect node[n].nic[r] to leaf[r]
  }
  fabric storage {
    switch leaf[2]: QM9700
    connect node[n].storage[(0)] to leaf[0]
    connect node[n].storage[(2)] to leaf[1]
  }
}"""
    result = compile_text(text, tmp_path, verify=False, models=False)
    written = {}
    for design in result.designs:
        assert design.fabric is not None
        written[design.name] = [k for k in build_files(design.fabric, ["nccl"], Diagnostics()) if k.endswith(".conf")]
    assert written == {"compute": ["nccl/DGX_H100.conf"], "storage": []}


@pytest.mark.parametrize("name", ["a,b", "a:1", "^a", "=a", "a b", "a#b", "a\nNCCL_X=1"])
def test_a_name_that_would_be_read_as_something_else_is_refused(name: str) -> None:
    fabric = pod(rails=2)
    nic = dgx_h100(2).classes[0]
    hostile = replace(dgx_h100(2), classes=(replace(nic, systems=(name, "mlx5_1")),))
    made = faced(fabric, {"DGX_H100": hostile, "QM9700": switch()})
    found = Diagnostics()
    files = build_files(made, ["nccl"], found)
    assert not [k for k in files if k.endswith(".conf")] and "E0504" in {d.code for d in found}
