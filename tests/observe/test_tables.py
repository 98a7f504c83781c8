"""Tables of cables, NetBox's lists and the table of NVUE: what they say, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import Observed
from tdsl.observe.worklist import read_rack_places
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.observe.test_chain import POD
from tests.observe.test_importing import imported
from tests.observe.test_readers import faults

NVUE = """\
Interface  Speed  Type  Remote Host      Remote Port
---------  -----  ----  ---------------  -----------------
eth0       1G     eth   oob-mgmt-switch  swp10
swp1       1G     swp   server01         48:b0:2d:76:ee:8e
swp49      1G     swp   leaf02           swp49
swp50      1G     swp
"""


def ends(made: Observed) -> set[tuple[str, str, str, str]]:
    def name(key: str) -> str:
        return made.nodes[key].description

    return {(name(w.a.node), w.a.port[0], name(w.b.node), w.b.port[0]) for w in made.wires}


def taken(text: str, folder: Path, file: str = "leaf01.txt", option: str = "", **columns: str) -> Observed:
    (folder / file).write_text(text)
    made = Observed()
    read_capture_files([(option, folder / file)], made, columns)
    return made


def test_the_table_of_nvue(tmp_path: Path) -> None:
    made = taken(NVUE, tmp_path)
    assert not faults(made)
    assert ends(made) == {
        ("leaf01", "eth0", "oob-mgmt-switch", "swp10"),
        ("leaf01", "swp1", "server01", "48:b0:2d:76:ee:8e"),
        ("leaf01", "swp49", "leaf02", "swp49"),
    }
    assert [w.b.id for w in made.wires] == ["", "48b02d76ee8e", ""]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [("leaf02           swp49", "leaf02", 5), ("server01         48:b0", "server0…         48:b0", 4), ("---------", "xxx", 1)],
)
def test_a_table_of_nvue_that_is_cut(old: str, new: str, line: int, tmp_path: Path) -> None:
    assert faults(taken(NVUE.replace(old, new), tmp_path)) == [("E0601", line)]


def interface(device: str, name: str, kind: str = "dcim.interface") -> dict[str, Any]:
    return {"object_type": kind, "object_id": 1, "object": {"device": {"name": device}, "name": name}}


def cable(a: list[Any], b: list[Any], status: str = "connected") -> dict[str, Any]:
    return {"id": 1, "a_terminations": a, "b_terminations": b, "status": {"value": status, "label": status.title()}}


def test_cables_of_netbox(tmp_path: Path) -> None:
    cables = [
        cable([interface("gpu1", "eth0")], [interface("leaf0", "swp1")]),
        cable([interface("gpu1", "eth1")], [interface("leaf1", "swp1")], "decommissioning"),
        cable([interface("gpu1", "psu0", "dcim.powerport")], [interface("pdu", "1", "dcim.poweroutlet")]),
        cable([interface("leaf0", f"swp2s{i}") for i in range(2)], [interface("spine0", f"swp1s{i}") for i in range(2)]),
    ]
    expected = {
        ("gpu1", "eth0", "leaf0", "swp1"), ("leaf0", "swp2s0", "spine0", "swp1s0"), ("leaf0", "swp2s1", "spine0", "swp1s1"),
    }  # fmt: skip
    page = {"count": 4, "next": None, "previous": None, "results": cables}
    for text in (page, cables, [page]):
        made = taken(json.dumps(text, indent=1), tmp_path, "cables.json")
        assert not faults(made) and ends(made) == expected
    uneven = taken(json.dumps([cable([interface("a", "1")], [interface("b", str(i)) for i in range(4)])]), tmp_path, "x.json")
    assert faults(uneven) == [("E0601", 1)] and "1 interface at side A and 4" in uneven.findings.items[0].message
    more = taken(json.dumps(page | {"next": "https://x/?offset=50"}), tmp_path, "x.json")
    assert faults(more) == [("E0601", 1)] and "limit=0" in more.findings.items[0].help


def test_the_table_of_netbox_is_a_design(tmp_path: Path) -> None:
    rows = ["ID,Label,Termination A,Termination B,Device A,Device B,Status,Type"]
    rows += [f"{n},,eth{n % 2},swp{n // 2},gpu{n // 2},leaf{n % 2},Connected,AOC" for n in range(8)]
    (tmp_path / "cables.csv").write_text("\n".join(rows) + "\n")
    fabric = imported(tmp_path, tmp_path / "cables.csv", "--rate", "400Gbps")
    assert fabric.link_count == 8 and int(fabric.is_end.sum()) == 4
    assert "connect" in (tmp_path / "asbuilt.fab").read_text()


def test_a_spreadsheet_with_columns_of_its_own(tmp_path: Path) -> None:
    text = "Nr;From Host;From Port;To Switch;To Port;Gb\n1;n1;x;sw;1;400\n2;n2;x;sw;2;400\n"
    (tmp_path / "p2p.csv").write_text(text)
    columns = {"a_device": "From Host", "a_port": "From Port", "b_device": "To Switch", "b_port": "To Port", "rate_gbps": "Gb"}
    given = [x for k, v in columns.items() for x in ("--column", f"{k}={v}")]
    fabric = imported(tmp_path, tmp_path / "p2p.csv", *given, "--hosts", "^n[0-9]")
    assert fabric.link_count == 2 and set(fabric.link_rate.tolist()) == {400 * 10**9}
    assert [bool(e) for e in fabric.is_end] == [fabric.device_name(d).startswith("n") for d in range(fabric.device_count)]
    assert tdsl("audit", tmp_path / "asbuilt.fab", "--p2p", tmp_path / "p2p.csv", *given).exit_code == 0
    without = tdsl("import", tmp_path / "p2p.csv")
    assert without.exit_code == 1 and "formats that are read here" in without.output
    for wrong in (["--column", "a_device"], ["--column", "x=y"], ["--hosts", "("]):
        assert tdsl("import", tmp_path / "p2p.csv", *wrong).exit_code == 2
    named = tdsl("audit", tmp_path / "asbuilt.fab", "--p2p", tmp_path / "p2p.csv")
    assert named.exit_code == 1 and "--column a_device=NAME" in named.output


@pytest.mark.parametrize("form", ["structure", "flat"])
def test_what_tdsl_built_comes_back_from_its_tables(form: str, tmp_path: Path) -> None:
    """The same devices, hosts and links from cables.csv and from links.csv."""
    pod = fabric_of(POD, tmp_path, models=False)
    (tmp_path / "pod.fab").write_text(POD)
    assert tdsl("build", tmp_path / "pod.fab", "--target", "cabling", "--out", tmp_path / "out").exit_code == 0
    wanted = sorted(
        tuple(sorted((pod.device_name(int(pod.port_device[a])), pod.device_name(int(pod.port_device[b])))))
        for a, b in zip(pod.link_a, pod.link_b, strict=True)
    )
    for table in ("cables.csv", "links.csv"):
        back = imported(tmp_path, tmp_path / "out" / "cabling" / table, "--as", form)
        found = sorted(
            tuple(sorted((back.device_name(int(back.port_device[a])), back.device_name(int(back.port_device[b])))))
            for a, b in zip(back.link_a, back.link_b, strict=True)
        )
        assert found == wanted and set(back.link_rate.tolist()) == set(pod.link_rate.tolist())
        kinds = [{f.device_name(d) for d in range(f.device_count) if f.is_end[d]} for f in (pod, back)]
        assert kinds[0] == kinds[1]
        assert tdsl("audit", tmp_path / "asbuilt.fab", "--p2p", tmp_path / "out" / "cabling" / table).exit_code == 0
        assert tdsl("audit", tmp_path / "pod.fab", "--p2p", tmp_path / "out" / "cabling" / table).exit_code == 0


WRONG = ['"a"b', '"a']


@pytest.mark.parametrize("cell", WRONG)
def test_quotes_in_a_table_of_places(cell: str) -> None:
    assert read_rack_places('device,hall\n"a",h\n')["a"] == ("h", "", "", "")
    with pytest.raises(ValueError, match="line 2: this is not CSV"):
        read_rack_places(f"device,hall\nx,{cell}\n")


@pytest.mark.parametrize("cell", WRONG)
def test_quotes_in_a_table_of_cables(cell: str, tmp_path: Path) -> None:
    text = "a_device,a_port,b_device,b_port\nleaf,1,spine,{}\n"
    assert ends(taken(text.format('"a"'), tmp_path, "p2p.csv")) == {("leaf", "1", "spine", "a")}
    assert [code for code, _ in faults(taken(text.format(cell), tmp_path, "p2p.csv"))] == ["E0601"]
