"""The two names of an adapter: RDMA's, which NCCL and InfiniBand go by, and the network device, which has addresses and LLDP."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness import compile_text, fabric_of
from tests.tables import sections
from tests.targets.build import csv_rows, files_of, made

MODELS = sections(__file__)["models"]
DGX = """\
model switch ETHERNET { port p[1..64]: 400Gbps { type GE400; os "swp{i}" } }
fabric f { host node[2]: DGX_H100; switch leaf[8]: ETHERNET; connect node[n].nic[r] to leaf[r] }
"""
# NVIDIA DGX H100/H200 User Guide, table 5, "Network Port Mapping": port, PCI bus, name as an Ethernet device, RDMA device.
TABLE_5 = sections(__file__)["table 5"]


@pytest.mark.parametrize("model", ["DGX_H100", "DGX_H200"])
def test_ports_are_those_of_the_user_guide(model: str, tmp_path: Path) -> None:
    fabric = fabric_of(DGX.replace("DGX_H100", model), tmp_path, models=False)
    node = next(m for m in fabric.models if m.kind == "host")
    said = {c.labels[i]: (c.netdev(i), c.systems[i]) for c in node.classes if c.systems[0] for i in range(c.size)}
    rows = [row.split() for row in TABLE_5.splitlines()]
    assert said == {label: (netdev, rdma) for label, _, netdev, rdma in rows}
    buses = {n.index: str(n.facts["bus"]) for n in node.layout if n.name == "nic"}
    nic = node.port_class("nic")
    assert nic is not None and {nic.labels[i]: bus[5:] for i, bus in buses.items()} == {r[0]: r[1] for r in rows[:8]}


@pytest.mark.parametrize(("switch", "name"), [("ETHERNET", "enp24s0np0"), ("QM9700", "mlx5_0")])
def test_a_link_is_found_by_lldp_or_ibnetdiscover(switch: str, name: str, tmp_path: Path) -> None:
    files, _ = made(DGX.replace("leaf[8]: ETHERNET", f"leaf[8]: {switch}"), tmp_path, "cabling")
    row = csv_rows(files, "cabling/links.csv")[0]
    assert (row["a_device"], row["a_interface"], row["b_neighbour_port"]) == ("node0", name, name)


def test_what_cannot_be_a_name(tmp_path: Path) -> None:
    for names, says in (
        ("netdev", "`netdev` needs a string"),
        ('netdev "eth{i}", "eth{i}n{lane}"', "`netdev` takes the name of a port, and of a lane if the port may be `split`"),
        ('netdev "a"; netdev "b"', "`netdev` is set twice"),
        ('netdew "eth{i}"', "there is no setting of a port `netdew` here"),
    ):
        found = compile_text(MODELS.replace("<names>", names), tmp_path, verify=False, models=False).findings[0]
        assert found.message == says and found.span is not None and found.span.begin[0] == 2


RDMA = ["mlx5_{i}", "mlx5_ib{i}", "mlx4_{i}", "bnxt_re{i}", "irdma{i}", "efa_{i}", "rocep{24 + i}s0", "rdmap{79 + i}s0"]
NETDEV = ["eth{i}", "enp{24 + i}s0np0", "ens{i}f0", "beth{i}", "rail{i}", "ib{i}", "roce_rail{i}"]


@settings(max_examples=12, deadline=None)
@given(os=st.sampled_from([None, *RDMA, *NETDEV]), netdev=st.sampled_from([None, None, *NETDEV]))
def test_no_file_has_a_name_that_is_no_network_device(
    tmp_path_factory: pytest.TempPathFactory, os: str | None, netdev: str | None
) -> None:
    """Whatever a model says: interfaces are its network devices, or the model's port is told and its hosts get no file."""
    names = "; ".join(f'{word} "{text}"' for word, text in (("os", os), ("netdev", netdev)) if text)
    fabric = fabric_of(MODELS.replace("<names>", names), tmp_path_factory.mktemp("names"), models=False)
    files, found = files_of(fabric, "frr")
    right = netdev or (os if os in NETDEV else None)
    confs = {p.split("/")[1]: data.decode() for p, data in files.items() if p.endswith("frr.conf")}
    if right is None:
        assert [(d.code, d.span.begin[0] if d.span else 0) for d in found] == [("E0513", 2)]
        assert ("RDMA" in found[0].message) == (os is not None)
        assert sorted(confs) == ["leaf0", "leaf1"]
        assert not files_of(fabric, "nvue")[1], "it is for switches, and these have names"
    else:
        start = 24 if "24 + i" in right else 0
        interfaces = set(re.findall(r"^interface (\S+)$", confs["node1"], re.M))
        assert not found and interfaces == {re.sub(r"\{.*?\}", str(start + i), right) for i in range(2)}
