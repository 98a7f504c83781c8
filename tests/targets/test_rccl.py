"""RCCL settings, read as RCCL reads them: split at the first `=`, nothing trimmed, no comments (ROCm/rccl, src/misc/param.cc)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import fabric_of
from tests.targets.build import dgx_h100, faced, pod


def settings(text: str) -> dict[str, str]:
    """What RCCL would put into the environment."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_amd_hosts_have_rccl_conf_and_no_file_of_nccl() -> None:
    """The layout says who made the accelerators."""
    base = dgx_h100(2)
    layout = tuple(replace(n, facts={**n.facts, "device": "1002:74a1"}) if n.name == "gpu" else n for n in base.layout)
    fabric = faced(pod(), {"DGX_H100": replace(base, layout=layout)})
    files = build_files(fabric, ["nccl", "rccl"], Diagnostics())
    assert sorted(files) == ["manifest.json", "rccl/DGX_H100.conf", "rccl/DGX_H100.xml"]
    text = files["rccl/DGX_H100.conf"].decode()
    assert "#" not in text
    assert settings(text) == {
        "NCCL_TOPO_FILE": "/etc/rccl/DGX_H100.xml",
        "NCCL_IB_HCA": "=mlx5_0,mlx5_3",
        "NCCL_CROSS_NIC": "2",
        "NCCL_PXN_DISABLE": "0",
    }


def test_other_hosts_have_none() -> None:
    assert not [p for p in build_files(pod(), ["rccl"], Diagnostics()) if p.startswith("rccl/")]


# ------------------------------------------------------------ the topology file
POD = """fabric f {
  host node[2]: MI300X_HOST
  switch leaf[8]: QM9700
  connect node[n].nic[r] to leaf[r]
}
"""
Element = tuple[str, tuple[tuple[str, str], ...], tuple[object, ...]]


def topology(tmp_path: Path, complete: bool) -> str:
    """The file of a server with MI300X."""
    settings = {"rccl": {"complete": complete}}
    files = build_files(fabric_of(POD, tmp_path), ["rccl"], Diagnostics(), BuildOptions(settings=settings))
    return files["rccl/MI300X_HOST.xml"].decode()


def whole(node: ElementTree.Element) -> Element:
    """An element with what is in it; of adapters without the GUID, which is each machine's own."""
    facts = sorted((k, v) for k, v in node.attrib.items() if k != "guid")
    return node.tag, tuple(facts), tuple(whole(x) for x in node)


def test_the_complete_file_is_that_of_a_machine(tmp_path: Path, test_data: Path) -> None:
    """RCCL's own model of such a server, element by element and attribute by attribute."""
    dump = ElementTree.parse(test_data / "rccl" / "topo_8p_940.xml").getroot()
    made = ElementTree.fromstring(topology(tmp_path, complete=True))
    assert whole(made) == whole(dump)


def test_the_machine_is_asked_for_what_does_not_place_devices(tmp_path: Path) -> None:
    """All but what GPUs and adapters say of themselves is as in the complete file."""
    lean, full = (ElementTree.fromstring(topology(tmp_path, complete)) for complete in (False, True))
    assert lean.attrib == {"version": "2"}
    assert {tuple(n.attrib) for n in lean.iter("gpu")} == {()} and {tuple(n.attrib) for n in lean.iter("net")} == {("name",)}
    for name in ("cpu", "pci", "xgmi"):
        assert [n.attrib for n in lean.iter(name)] == [n.attrib for n in full.iter(name)]
    assert len(list(lean.iter("xgmi"))) == 8 * 7
