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
        "NCCL_IB_HCA": "=" + ",".join(f"mlx5_{n}" for n in SYSTEMS),
        "NCCL_CROSS_NIC": "2", "NCCL_PXN_DISABLE": "0",
    }  # fmt: skip
    lines = data.decode().splitlines()
    assert all(line.startswith("#") or not line or above.startswith("# ") for above, line in pairwise(lines))


def test_where_the_xml_is_put() -> None:
    """On bare metal it gains nothing, and is a comment that says so."""
    files, _ = files_of(pod(), "nccl", topo_dir="/opt/site")
    data = files["nccl/DGX_H100.conf"]
    assert "NCCL_TOPO_FILE" not in read(data) and b"\n# NCCL_TOPO_FILE=/opt/site/DGX_H100.xml\n" in data
    assert b"gains nothing" in data and b"Only a virtual machine" in data
    files, _ = files_of(pod(), "nccl", topo_dir="/opt/site", virtual=True)
    assert read(files["nccl/DGX_H100.conf"])["NCCL_TOPO_FILE"] == "/opt/site/DGX_H100.xml"
    files, found = files_of(pod(), "nccl", topo_dir="/opt/site\nX=1")
    assert b"X=1" not in files["nccl/DGX_H100.conf"] and [(d.code, d.severity.word) for d in found] == [("E0502", "error")]


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
            {"NCCL_IB_HCA": "mlx5_", "NCCL_CROSS_NIC": "0", "NCCL_NET_DISABLE_INTRA": None},
            "\n# NCCL_IB_HCA==" + ",".join(f"mlx5_{i}:::{i}" for i in range(8)) + "\n",
        ),
        # each adapter has a lane in each plane, so any two meet; no plane stands behind a name
        (SHUFFLED, "B300_HOST", {"NCCL_IB_HCA": "mlx5_", "NCCL_CROSS_NIC": "2"}, "No rails: NCCL may change"),
        (PLUGIN, "P5", {"NCCL_IB_HCA": None, "NCCL_TOPO_FILE": "/etc/nccl/P5.xml"}, "rdmap79s0, rdmap80s0"),
        (PLUGIN, "P5", {}, "The model of this host says: From memory: the bus ids of GPUs"),
        # nobody publishes the names of its adapters, and what follows from the network is said all the same
        (
            "  transport roce\n" + RAILS.replace("GRAND_TETON", "HGX_B200"), "HGX_B200",
            {"NCCL_IB_HCA": None, "NCCL_CROSS_NIC": "0", "NCCL_PXN_DISABLE": "0", "NCCL_NET_DISABLE_INTRA": None},
            "does not name its 8 adapters",
        ),
        (SPREAD.replace("HGX_H100", "A3_ULTRA").replace("QM9700", "SW64x400"), "A3_ULTRA", {"NCCL_CROSS_NIC": "0"}, "not name"),
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


CARDS = """model host CARDS "Four GPUs, two adapters" {{
  port nic[2]: 400Gbps {{ type GE400; os "mlx5_{{i}}"; netdev "eth{{i}}" }}
  chip gpu[4]: {chip}
{bridges}
  numa cpu[2] {{ arch x86_64; vendor GenuineIntel; family 6; cpu_model 143; cores 32 }}
  pcie plx[2] {{ on cpu[i]; gen 5; lanes 16; device "1000:c030" }}
  pcie gpu {{ on plx[i//2]; gen 5; lanes 16; device "10de:2321"; bus "0000:{{[24, 25, 154, 155][i]:02x}}:00.0" }}
  pcie nic {{ on plx[i]; gen 5; lanes 16; device "15b3:1021"; bus "0000:{{[23, 153][i]:02x}}:00.0" }}
}}
fabric f {{
  host node[2]: CARDS
  switch leaf[2]: SW64x400
  connect node[n].nic[r] to leaf[r]
{spine}
}}"""
BRIDGE = "  connect gpu[{}] to gpu[{}] x 4 {{ layer scaleup; medium trace }}\n"
PAIRS = BRIDGE.format(0, 1) + BRIDGE.format(2, 3)
ALL = "  connect gpu[*] each x 4 { layer scaleup; medium trace }\n"
JOINED = "  connect leaf[*] each x 4"


@pytest.mark.parametrize(
    ("chip", "bridges", "spine", "intra"),
    [
        ("L40S", "", "", "1"),
        ("H100", PAIRS, "", "1"),
        ("H100", "", "", "1"),  # where the NVLinks lead is not said
        ("H100", ALL, "", None),
        ("L40S", "", JOINED, None),
        ("H100", PAIRS, JOINED, None),
    ],
)
def test_no_network_inside_a_host_whose_rails_are_apart(
    chip: str, bridges: str, spine: str, intra: str | None, tmp_path: Path
) -> None:
    """NCCL takes the network between two GPUs where it is faster than PCIe, and there is no path from rail to rail."""
    fabric = fabric_of(CARDS.format(chip=chip, bridges=bridges, spine=spine), tmp_path)
    data = build_files(fabric, ["nccl"], Diagnostics())["nccl/CARDS.conf"]
    settings = read(data)
    assert settings.get("NCCL_NET_DISABLE_INTRA") == intra
    assert (settings["NCCL_CROSS_NIC"] == "0") is (not spine)
    assert (b"come back to the adapter" in data) is (bridges == ALL)


@pytest.mark.parametrize(
    ("slots", "names", "links", "hca", "says"),
    [
        (1, None, "node[n].nic[r] to leaf[0] { bundle 2 }", "mlx5_bond", "\n# NCCL_IB_HCA==mlx5_0,mlx5_1\n"),
        (2, None, "node[n].nic[r] to leaf[0] { bundle 2 }", "=mlx5_0,mlx5_1", "exactly these names"),
        (
            1,
            None,
            "node[0].nic[r] to leaf[0] { bundle 2 }\n  connect node[1].nic[r] to leaf[r]",
            "mlx5_bond,mlx5_0,mlx5_1",
            "RoCE LAG",
        ),
        (1, 'os "bnxt_re{i}"', "node[n].nic[r] to leaf[0] { bundle 2 }", None, "ibv_devices"),
        (2, 'os "eth{i}"', "node[n].nic[r] to leaf[r]", None, "those of network devices: eth0, eth1."),
    ],
)
def test_no_name_that_no_rdma_device_has(
    slots: int, names: str | None, links: str, hca: str | None, says: str, tmp_path: Path
) -> None:
    """Ports of one adapter in a bond are a device whose name the host counts, those in two slots are two devices; an `os` may
    name a network device."""
    text = CARDS.format(chip="H100", bridges=ALL, spine=JOINED).replace("node[n].nic[r] to leaf[r]", links)
    if slots == 1:
        text = text.replace("nic { on plx[i]", "nic { on plx[0]").replace("{[23, 153][i]:02x}:00.0", "17:00.{i}")
    text = text if names is None else text.replace('os "mlx5_{i}"; netdev "eth{i}"', names)
    files = build_files(fabric_of(text, tmp_path), ["nccl"], Diagnostics())
    assert read(files["nccl/CARDS.conf"]).get("NCCL_IB_HCA") == hca and says in files["nccl/CARDS.conf"].decode()
    assert b"<net" not in files["nccl/CARDS.xml"], "NCCL takes the name from the driver, at the bus of the adapter"
    text = text.replace(": H100", ": MI300X").replace(ALL, "").replace("10de:", "1002:")
    found = build_files(fabric_of(text, tmp_path), ["rccl"], Diagnostics())["rccl/CARDS.conf"].decode().splitlines()
    assert [line for line in found if "HCA" in line] == ([f"NCCL_IB_HCA={hca}"] if hca else [])


def test_a_list_of_what_only_the_host_decides(tmp_path: Path) -> None:
    """A line each, by what the design has."""
    rack = "fabric rack {\n  host tray[2]: GB200_TRAY\n  switch leaf[4]: QM9700\n  connect tray[t].nic[r] to leaf[r]\n"
    inside = "  switch nvs[9, 2]: NVLINK5_SWITCH\n  connect tray[t].gpu[g].nvlink[2*s + c] to nvs[s, c].p[4*t + g]"
    inside += " { layer scaleup; medium backplane }\n}"
    boxes = CARDS.format(chip="L40S", bridges="", spine="")
    azure = "fabric f { host node[2]: ND_V5; switch leaf[8]: QM9700; connect node[n].nic[r] to leaf[r] }"
    for text, host, has, lacks in (
        (rack + inside, "GB200_TRAY", ["nodes_config.cfg", "2 lines, a host each", "8 GPUs", "ATS stays on"], ["fabricmanager"]),
        (
            boxes,
            "CARDS",
            ["NCCL_NET_DISABLE_INTRA=1", "mlx5_0, mlx5_1", "ACS is off", "nvidia-peermem"],
            ["IMEX:", "ATS_ENABLED"],
        ),
        (azure, "ND_V5", ["ATS_ENABLED", "NCCL_TOPO_FILE names `ND_V5.xml`", "no source confirms"], ["ACS is off", "IMEX:"]),
    ):
        data = build_files(fabric_of(text, tmp_path), ["nccl"], Diagnostics())[f"nccl/{host}.checklist.md"].decode()
        assert all(word in data for word in has), (host, data)
        assert not [word for word in lacks if word in data], (host, data)


def test_more_adapters_than_nccl_uses(tmp_path: Path) -> None:
    """It has room for 32 (MAX_IB_DEVS, src/transport/net_ib/common.h)."""
    for count, told in ((32, False), (33, True)):
        text = f"""model host MANY "m" {{ port nic[{count}]: 400Gbps {{ type NDR; os "mlx5_{{i}}" }}; chip gpu[2]: L40S }}
fabric f {{ host node[2]: MANY; switch more[{count}]: QM9700; connect node[n].nic[r] to more[r] }}"""
        files = build_files(fabric_of(text, tmp_path), ["nccl"], Diagnostics())
        assert (b"the last 1 of these stay unused" in files["nccl/MANY.conf"]) is told
        assert (b"has 33 in this network: too many" in files["nccl/MANY.checklist.md"]) is told


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
