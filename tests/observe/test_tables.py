"""Tables of cables, NetBox's lists and the table of NVUE: what they say, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import Observed
from tdsl.observe.worklist import read_rack_places
from tests.cli.run import tdsl
from tests.observe.conftest import SMALL
from tests.observe.test_importing import imported
from tests.observe.test_readers import faults


def ends(made: Observed) -> set[tuple[str, str, str, str]]:
    def name(key: str) -> str:
        return made.nodes[key].description

    return {(name(w.a.node), w.a.port[0], name(w.b.node), w.b.port[0]) for w in made.wires}


def taken(text: str, folder: Path, file: str = "leaf01.txt", option: str = "", **columns: str) -> Observed:
    (folder / file).write_text(text)
    made = Observed()
    read_capture_files([(option, folder / file)], made, columns)
    return made


def test_trunks_of_netbox(tmp_path: Path) -> None:
    """A cable of several interfaces at both ends is several; one of other numbers at its ends is refused."""

    def cable(*count: int) -> str:
        sides = [
            [{"object_type": "dcim.interface", "object": {"device": {"name": d}, "name": f"swp{i}"}} for i in range(n)]
            for d, n in zip(("leaf0", "spine0"), count, strict=True)
        ]
        return json.dumps([{"id": 1, "a_terminations": sides[0], "b_terminations": sides[1], "status": {"value": "connected"}}])

    assert ends(taken(cable(2, 2), tmp_path, "x.json")) == {("leaf0", f"swp{i}", "spine0", f"swp{i}") for i in (0, 1)}
    uneven = taken(cable(1, 4), tmp_path, "x.json")
    assert faults(uneven) == [("E0601", 1)] and "1 interface at side A and 4" in uneven.findings.items[0].message


def test_the_table_of_netbox_is_a_design(tmp_path: Path) -> None:
    rows = ["ID,Label,Termination A,Termination B,Device A,Device B,Status,Type"]
    rows += [f"{n},,eth{n % 2},swp{n // 2},gpu{n // 2},leaf{n % 2},Connected,AOC" for n in range(8)]
    rows += ["8,,PSU1,Outlet 1,leaf0,pdu1,Connected,", "9,,Console,ttyS1,leaf0,cs1,Connected,"]
    (tmp_path / "cables.csv").write_text("\n".join(rows) + "\n")
    fabric = imported(tmp_path, tmp_path / "cables.csv", "--rate", "400Gbps")
    assert fabric.link_count == 8 and int(fabric.is_end.sum()) == 4
    text = (tmp_path / "asbuilt.fab").read_text()
    assert "# left out: line 10, leaf0 PSU1 to pdu1 Outlet 1: by" in text and "# left out: line 11, " in text


def test_a_spreadsheet_with_columns_of_its_own(tmp_path: Path) -> None:
    text = "Nr;Von;Buchse;Nach;Dose;Gb\n1;n1;x;sw;1;400\n2;n2;x;sw;2;400\n"
    (tmp_path / "p2p.csv").write_text(text)
    columns = {"a_device": "Von", "a_port": "Buchse", "b_device": "Nach", "b_port": "Dose", "rate_gbps": "Gb"}
    given = [x for k, v in columns.items() for x in ("--column", f"{k}={v}")]
    fabric = imported(tmp_path, tmp_path / "p2p.csv", *given, "--hosts", "^n[0-9]")
    assert fabric.link_count == 2 and set(fabric.link_rate.tolist()) == {400 * 10**9}
    assert [bool(e) for e in fabric.is_end] == [fabric.device_name(d).startswith("n") for d in range(fabric.device_count)]
    assert tdsl("audit", tmp_path / "asbuilt.fab", "--p2p", tmp_path / "p2p.csv", *given).exit_code == 0
    without = tdsl("import", tmp_path / "p2p.csv")
    assert without.exit_code == 1 and "--column a_device=" in without.output
    for wrong in (["--column", "a_device"], ["--column", "x=y"], ["--hosts", "("]):
        assert tdsl("import", tmp_path / "p2p.csv", *wrong).exit_code == 2
    named = tdsl("audit", tmp_path / "asbuilt.fab", "--p2p", tmp_path / "p2p.csv")
    assert named.exit_code == 1 and "--column a_device=NAME" in named.output
    (tmp_path / "topology.dot").write_text('graph G {\n  "n1":"x" -- "sw":"1"\n}\n')
    (tmp_path / "l.json").write_text('{"lldp": {"interface": [{"eth0": {}}]}}')
    (tmp_path / "f.topo").write_text('Switch\t4 "S-99"\t# "lonely"\n')
    (tmp_path / "cables.csv").write_text("a_device,a_port,b_device,b_port\nn1,x,sw,1\n")
    for file, given_by, format, option in (
        ("topology.dot", "p2p", "ptm", "lldp"), ("l.json", "p2p", "lldpd", "lldp"),
        ("f.topo", "lldp", "ibnetdiscover", "ibnetdiscover"),
        ("cables.csv", "lldp", "p2p", "p2p"), ("cables.csv", "ibnetdiscover", "p2p", "p2p"),
    ):  # fmt: skip
        wrong = tdsl("audit", tmp_path / "asbuilt.fab", f"--{given_by}", tmp_path / file, "--format", "json")
        said = [(d["message"], d["help"]) for f in json.loads(wrong.stdout)["fabrics"] for d in f["findings"]]
        assert wrong.exit_code == 1, file
        assert (f"this is a capture of the format {format}, which --{given_by} does not take", f"give it with --{option}") in said


@pytest.mark.parametrize("table", ["cables.csv", "links.csv"])
def test_what_tdsl_built_comes_back_from_its_tables(table: str, small: Fabric, tmp_path: Path) -> None:
    """The same devices, hosts and links; each is an audit of the other."""
    (tmp_path / "small.fab").write_text(SMALL)
    assert tdsl("build", tmp_path / "small.fab", "--target", "cabling", "--out", tmp_path / "out").exit_code == 0
    path = tmp_path / "out" / "cabling" / table
    back = imported(tmp_path, path)

    def links(f: Fabric) -> list[list[str]]:
        return sorted(sorted((f.device_name(a), f.device_name(b))) for a, b in zip(f.device_a, f.device_b, strict=True))

    assert links(back) == links(small) and set(back.link_rate.tolist()) == set(small.link_rate.tolist())
    kinds = [{f.device_name(d) for d in range(f.device_count) if f.is_end[d]} for f in (small, back)]
    assert kinds[0] == kinds[1]
    for design in ("asbuilt.fab", "small.fab"):
        assert tdsl("audit", tmp_path / design, "--p2p", path).exit_code == 0


@pytest.mark.parametrize("cell", ['"a"b', '"a'])
def test_quotes_in_tables_of_places_and_cables(cell: str, tmp_path: Path) -> None:
    assert read_rack_places('device,hall\n"a",h\n')["a"] == ("h", "", "", "")
    with pytest.raises(ValueError, match="line 2: this is not CSV"):
        read_rack_places(f"device,hall\nx,{cell}\n")
    text = "a_device,a_port,b_device,b_port\nleaf,1,spine,{}\n"
    assert ends(taken(text.format('"a"'), tmp_path, "p2p.csv")) == {("leaf", "1", "spine", "a")}
    assert [code for code, _ in faults(taken(text.format(cell), tmp_path, "p2p.csv"))] == ["E0601"]
