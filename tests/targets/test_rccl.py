"""RCCL settings, read as RCCL reads them: split at the first `=`, nothing trimmed, no comments (ROCm/rccl, src/misc/param.cc)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from tests.harness import fabric_of
from tests.targets.build import dgx_h100, faced, files_of, pod


def test_amd_hosts_have_rccl_conf_and_no_file_of_nccl() -> None:
    """The layout says who made the accelerators; other hosts have none."""
    base = dgx_h100(2)
    layout = tuple(replace(n, facts={**n.facts, "device": "1002:74a1"}) if n.name == "gpu" else n for n in base.layout)
    files, _ = files_of(faced(pod(), {"DGX_H100": replace(base, layout=layout)}), "nccl", "rccl")
    assert sorted(files) == ["fabric.json", "manifest.json", "rccl/DGX_H100.conf", "rccl/DGX_H100.xml"]
    text = files["rccl/DGX_H100.conf"].decode()
    assert "#" not in text and dict(line.split("=", 1) for line in text.splitlines() if "=" in line) == {
        "NCCL_IB_HCA": "=mlx5_0,mlx5_3", "NCCL_CROSS_NIC": "2", "NCCL_PXN_DISABLE": "0",
    }  # fmt: skip
    assert not [p for p in files_of(pod(), "rccl")[0] if p.startswith("rccl/")]


def test_only_a_virtual_machine_is_given_a_topology(tmp_path: Path) -> None:
    """On bare metal RCCL finds the same by itself."""
    fabric = fabric_of(POD, tmp_path)
    for settings, line in (({}, None), ({"virtual": True, "topo_dir": "/x"}, "NCCL_TOPO_FILE=/x/MI300X_HOST.xml")):
        text = files_of(fabric, "rccl", **settings)[0]["rccl/MI300X_HOST.conf"].decode()
        assert [x for x in text.splitlines() if "TOPO" in x] == ([line] if line else [])


POD = "fabric f { host node[2]: MI300X_HOST; switch leaf[8]: QM9700; connect node[n].nic[r] to leaf[r] }\n"
Element = tuple[str, tuple[tuple[str, str], ...], tuple[object, ...]]


def whole(node: ElementTree.Element) -> Element:
    """An element with what is in it; of adapters without the GUID, which is each machine's own."""
    facts = sorted((k, v) for k, v in node.attrib.items() if k != "guid")
    return node.tag, tuple(facts), tuple(whole(x) for x in node)


def test_the_complete_file_is_that_of_a_machine(tmp_path: Path, test_data: Path) -> None:
    """RCCL's own model of a server with MI300X, element by element and attribute by attribute. In the short one the machine is
    asked for what GPUs and adapters say of themselves; all else is as in the complete one."""
    fabric = fabric_of(POD, tmp_path)
    lean, full = (
        ElementTree.fromstring(files_of(fabric, "rccl", complete=complete)[0]["rccl/MI300X_HOST.xml"])
        for complete in (False, True)
    )
    assert whole(full) == whole(ElementTree.parse(test_data / "rccl" / "topo_8p_940.xml").getroot())
    assert lean.attrib == {"version": "2"}
    assert {tuple(n.attrib) for n in lean.iter("gpu")} == {()} and {tuple(n.attrib) for n in lean.iter("net")} == {("name",)}
    for name in ("cpu", "pci", "xgmi"):
        assert [n.attrib for n in lean.iter(name)] == [n.attrib for n in full.iter(name)]
    assert len(list(lean.iter("xgmi"))) == 8 * 7
