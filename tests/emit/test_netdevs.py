"""The two names of an adapter: RDMA's, which NCCL and InfiniBand go by, and the network device, which has addresses and LLDP."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics

MODELS = """\
model switch SW {{ port p[1..16]: 400Gbps {{ type GE400; os "swp{{i}}" }} }}
model host NODE {{ port nic[2]: 400Gbps {{ type GE400; {names} }}; chip gpu[2]: GPU }}
model chip GPU {{ port lane: 400Gbps }}
fabric f {{
  host node[2]: NODE
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[(r)]
  address node[*].nic[r] links from "172.{{16 + r}}.0.0/24"
  routing bgp {{ }}
}}
"""
DGX = """\
model switch ETHERNET {{ port p[1..64]: 400Gbps {{ type GE400; os "swp{{i}}" }} }}
fabric f {{
  host node[2]: {host}
  switch leaf[8]: {switch}
  connect node[n].nic[r] to leaf[r]
  {more}
}}
"""
# NVIDIA DGX H100/H200 User Guide, table 5, "Network Port Mapping": port, PCI bus, name as an Ethernet device, RDMA device.
TABLE_5 = """\
4P2 18:00.0 enp24s0np0 mlx5_0
3P2 40:00.0 enp64s0np0 mlx5_3
3P1 4f:00.0 enp79s0np0 mlx5_4
4P1 5e:00.0 enp94s0np0 mlx5_5
1P2 9a:00.0 enp154s0np0 mlx5_6
2P2 c0:00.0 enp192s0np0 mlx5_9
2P1 ce:00.0 enp206s0np0 mlx5_10
1P1 dc:00.0 enp220s0np0 mlx5_11
slot1P1 aa:00.0 enp170s0f0np0 mlx5_7
slot1P2 aa:00.1 enp170s0f1np1 mlx5_8
slot2P1 29:00.0 enp41s0f0np0 mlx5_1
slot2P2 29:00.1 enp41s0f1np1 mlx5_2
"""


def designed(text: str, folder: Path) -> Fabric:
    """The only fabric of a text."""
    path = folder / "design.fab"
    path.write_text(text)
    found = compiler.compile_without_checks(str(path))
    (design,) = found.designs
    assert design.fabric is not None and not found.findings
    return design.fabric


def made(fabric: Fabric, target: str) -> tuple[dict[str, bytes], Diagnostics]:
    """A target's files, and what was found."""
    found = Diagnostics()
    return build_files(fabric, [target], found), found


def interfaces(files: dict[str, bytes], name: str) -> set[str]:
    """Interfaces of a host's frr.conf."""
    return set(re.findall(r"^interface (\S+)$", files[f"frr/{name}/frr.conf"].decode(), re.M))


@pytest.mark.parametrize("model", ["DGX_H100", "DGX_H200"])
def test_ports_are_those_of_the_user_guide(model: str, tmp_path: Path) -> None:
    fabric = designed(DGX.format(host=model, switch="ETHERNET", more=""), tmp_path)
    node = next(m for m in fabric.models if m.kind == "host")
    said = {c.labels[i]: (c.netdev(i), c.systems[i]) for c in node.classes if c.systems[0] for i in range(c.size)}
    rows = [row.split() for row in TABLE_5.splitlines()]
    assert said == {label: (netdev, rdma) for label, _, netdev, rdma in rows}
    buses = {n.index: str(n.facts["bus"]) for n in node.layout if n.name == "nic"}
    nic = node.port_class("nic")
    assert nic is not None and {nic.labels[i]: bus[5:] for i, bus in buses.items()} == {r[0]: r[1] for r in rows[:8]}


@pytest.mark.parametrize(("switch", "name"), [("ETHERNET", "enp24s0np0"), ("QM9700", "mlx5_0")])
def test_a_link_is_found_by_lldp_or_ibnetdiscover(switch: str, name: str, tmp_path: Path) -> None:
    files, _ = made(designed(DGX.format(host="DGX_H100", switch=switch, more=""), tmp_path), "cabling")
    row = next(csv.DictReader(io.StringIO(files["cabling/links.csv"].decode())))
    assert (row["a_device"], row["a_interface"], row["b_neighbour_port"]) == ("node0", name, name)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("netdev", "`netdev` needs a string"),
        (
            'netdev "eth{i}", "eth{i}n{lane}"',
            "`netdev` takes the name of a port, and of a lane if the port may be `split`",
        ),
        ('netdev "a"; netdev "b"', "`netdev` is set twice"),
        ('netdew "eth{i}"', "there is no setting of a port `netdew` here"),
    ],
)
def test_what_cannot_be_a_name(names: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "design.fab"
    path.write_text(MODELS.format(names=names))
    found = compiler.compile_without_checks(str(path)).findings[0]
    assert found.message == says and found.span is not None and found.span.begin[0] == 2


RDMA = st.sampled_from(
    [
        "mlx5_{i}",
        "mlx5_ib{i}",
        "mlx4_{i}",
        "bnxt_re{i}",
        "irdma{i}",
        "efa_{i}",
        "rocep{24 + i}s0",
        "rdmap{79 + i}s0",
    ]
)
NETDEV = st.sampled_from(["eth{i}", "enp{24 + i}s0np0", "ens{i}f0", "beth{i}", "rail{i}", "ib{i}", "roce_rail{i}"])


@settings(max_examples=25, deadline=None)
@given(os=st.one_of(st.none(), RDMA, NETDEV), netdev=st.one_of(st.none(), NETDEV))
def test_no_file_has_a_name_that_is_no_network_device(
    tmp_path_factory: pytest.TempPathFactory, os: str | None, netdev: str | None
) -> None:
    """Whatever a model says: interfaces are its network devices, or the model's port is told and its hosts get no file."""
    names = "; ".join(f'{word} "{text}"' for word, text in (("os", os), ("netdev", netdev)) if text)
    fabric = designed(MODELS.format(names=names), tmp_path_factory.mktemp("names"))
    files, found = made(fabric, "frr")
    named = os is not None and not re.match(r"mlx|bnxt|irdma|efa|rocep|rdmap", os)
    right = netdev or (os if named else None)
    if right is None:
        assert [(d.code, d.span.begin[0] if d.span else 0) for d in found.items] == [("E0513", 2)]
        assert ("RDMA" in found.items[0].message) == (os is not None)
        assert sorted(files) == ["frr/leaf0/frr.conf", "frr/leaf1/frr.conf", "manifest.json"]
        assert not made(fabric, "nvue")[1].items, "it is for switches, and these have names"
    else:
        start = 24 if "24 + i" in right else 0
        assert not found.items
        assert interfaces(files, "node1") == {re.sub(r"\{.*?\}", str(start + i), right) for i in range(2)}
