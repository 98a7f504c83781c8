"""No row of a capture vanishes: what is read is used or set aside, and what contradicts or repeats another row is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tdsl.observe.audit import Audit
from tdsl.observe.readers import capture_readers
from tdsl.observe.report import audit_document
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.observe.captures import BY_DEVICE, WHOLE, audited, by_device, codes, findings, named
from tests.observe.plant import Cables
from tests.observe.test_unwrapping import POD

PLANTED = ("twice", "torn", "strange")
"""A row that is there already; one with an end each of two others; one between devices that the design does not have."""


@pytest.fixture(scope="module")
def cables(tmp_path_factory: pytest.TempPathFactory) -> Cables:
    return Cables(fabric_of(POD, tmp_path_factory.mktemp("pod"), models=False))


def of_json(text: str, kind: str, reader: str) -> str:
    """A list of links as JSON with one more."""
    whole = json.loads(text)
    rows = whole["edges"] if reader == "batfish" else whole[0]["links"][0]["compounded_links"] if reader == "netq" else whole
    one, other = rows[0], rows[-1]
    if kind == "twice":
        rows.append(one)
    elif reader == "netq":
        rows.append({"interfaces": [one["interfaces"][0], other["interfaces"][1]]})
    else:
        keys = [k for k in one if k[-1] == "2" or k[0] == "b" or k.startswith("destination")]
        rows.append(one | {k: other[k] for k in keys})
    if kind == "strange":
        rows[-1] = json.loads(re.sub(r': "(node\d|leaf\d)', r': "x-\1', json.dumps(rows[-1])))
    return json.dumps(whole, indent=1)


BETWEEN = {" -- ": 1, " -> ": 1, ",": 2}
"""What is between the ends of a row, with how many such parts one end is."""


def of_lines(text: str, kind: str, reader: str) -> str:
    """The same of a text with a line a link."""
    begin = text.split("\n").index("START_LINKS") + 2 if reader == "ibdiagnet" else 1
    lines = text.split("\n")
    sign = next((s for s in BETWEEN if s in lines[begin]), None)
    assert sign, f"{reader}: its rows have none of the signs in BETWEEN between their ends: give it one, or an `of_…` of its own"
    last = next(k for k in range(begin, len(lines)) if not lines[k] or lines[k].startswith(("}", "END")))
    half = BETWEEN[sign]
    one, other = (lines[k].rstrip(";").split(sign) for k in (begin, last - 1))
    row = sign.join(one if kind == "twice" else [*one[:half], *other[half:]])
    if kind == "strange":
        row = re.sub(r"(node\d|leaf\d)", r"x-\1", row)
    return "\n".join([*lines[:last], row + (";" if reader == "ptm" else ""), *lines[last:]])


def of_blocks(text: str, kind: str, reader: str) -> str:
    """The same of a text with a line a port in a block a device."""
    lines = text.split("\n")
    ports = [k for k, line in enumerate(lines) if "]\t" in line or "==>" in line or " -> " in line]
    one, other = lines[ports[0]], lines[ports[-1]]
    cut = next(sign for sign in ("]\t", "==>", " -> ") if sign in one)
    row = one if kind == "twice" else one.partition(cut)[0] + cut + other.partition(cut)[2]
    return "\n".join([*lines[: ports[0] + 1], row, *lines[ports[0] + 1 :]])


def of_labels(text: str, kind: str, reader: str) -> str:
    """The same of a table with a row an end."""
    lines = text.strip().split("\n")
    ends = [lines[1], lines[2] if kind == "twice" else lines[-1]]
    rows = [f"c99,{line.split(',', 1)[1]}" for line in ends]
    if kind == "strange":
        rows = [re.sub(r"(node\d|leaf\d)", r"x-\1", row) for row in rows]
    return "\n".join([*lines, *rows, ""])


def captured(reader: str, cables: Cables, kind: str, folder: Path) -> Path:
    """A capture in the format of a reader with one row more."""
    if reader in BY_DEVICE:
        path = by_device(cables, folder / "c", BY_DEVICE[reader])
        ports = [p for p in cables.far if cables.fabric.is_switch[cables.device[p]]]
        device, port = named(cables, ports[0])
        far = {
            "twice": named(cables, cables.far[ports[0]]), "torn": named(cables, cables.far[ports[1]]), "strange": ("x", "e1"),
        }[kind]  # fmt: skip
        heard = [(named(cables, p)[1], *named(cables, cables.far[p])) for p in cables.used(cables.device[ports[0]])]
        (path / f"{device}.txt").write_text(BY_DEVICE[reader](device, [*heard, ("swp7" if kind == "strange" else port, *far)]))
        return path
    text = WHOLE[reader](cables)
    blocks = ("iblinkinfo", "ibnetdiscover", "ibutils")
    plant = (
        of_json if text.lstrip()[0] in "{[" else of_blocks if reader in blocks else of_labels if reader == "labels" else of_lines
    )
    path = folder / "c.txt"
    path.write_text(plant(text, kind, reader))
    return path


def rows(made: Audit) -> dict[str, Any]:
    found = audit_document(made)["rows"]
    assert isinstance(found, dict)
    assert found["read"] == found["used"] + found["set_aside"] and len(found["aside"]) == found["set_aside"]
    return found


OBJECTS = ("eos", "napalm", "nvue", "sonic", "lldpd")
"""Formats whose ports are keys of an object: a port that is there twice is one for any JSON parser."""


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("reader", [*WHOLE, *BY_DEVICE])
def test_one_row_more_is_one_row_more(reader: str, kind: str, cables: Cables, tmp_path: Path) -> None:
    """It is counted, and a port with two neighbours is a fault; a link of devices that the design does not have is named."""
    if reader in OBJECTS and kind != "strange":
        pytest.skip("a key of an object is there once")
    if reader in ("ibdiagnet", "iblinkinfo", "ibnetdiscover", "ibutils", "ufm") and kind == "strange":
        pytest.skip("devices are known by their GUIDs, or a row is of the device of its block")
    option = capture_readers()[reader].OPTION
    bare = rows(audited(cables.fabric, (option, captured(reader, cables, "twice", tmp_path))))
    made = audited(cables.fabric, (option, captured(reader, cables, kind, tmp_path)))
    found, said = rows(made), "\n".join(findings([*(f.finding for f in made.faults), *made.notes]))
    if kind == "twice":
        assert codes(made) == [] and made.matching == 5 and "E0605 note" in said
    elif kind == "torn":
        assert "E0603" in codes(made), said
    else:
        assert codes(made) == [] and found["set_aside"] == 1 and "x" in said and "E0611" in said
    assert found["read"] >= 5 and found["read"] - found["repeated"] >= bare["read"] - bare["repeated"]


@pytest.mark.parametrize("reader", [n for n in WHOLE if n not in OBJECTS])
def test_an_import_tells_what_it_leaves_out(reader: str, cables: Cables, tmp_path: Path) -> None:
    done = tdsl("import", captured(reader, cables, "torn", tmp_path), "--rate", "400Gbps")
    assert done.exit_code == 0 and "E0603" in done.stderr
    assert re.search(r"^# left out: line \d+, .* to .*: the port has another neighbour$", done.stdout, re.MULTILINE)


# ---------------------------------------------------------------- tables


TABLE = "label,a_device,a_port,b_device,b_port\nC1,node0,mlx5_0,leaf0,swp1\n"


@pytest.mark.parametrize(
    ("row", "used", "aside"),
    [
        ("#2,node0,mlx5_1,leaf1,swp1", 2, ""),
        ("# 2,node0,mlx5_1,leaf1,swp1", 2, ""),
        ("#C2,node0,mlx5_1,leaf1,swp1", 1, "begins with `#`"),
        ("#node0 is new", 1, ""),
        ("Total,48,,,", 1, "the row is a total"),
        ("Grand total: 48,,,,", 1, "the row is a total"),
        ("Checked by J. D.,,,,", 1, "one cell alone"),
        ("#,,,,", 1, ""),
    ],
)
def test_a_label_like_a_comment(row: str, used: int, aside: str, cables: Cables, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{TABLE}{row}\nC3,leaf0,swp3,leaf1,swp3\n")
    made = audited(cables.fabric, ("p2p", tmp_path / "t.csv"))
    found = rows(made)
    assert (found["used"], found["set_aside"]) == (used + 1, bool(aside))
    assert all(aside in row["reason"] and row["line"] == 3 for row in found["aside"])


NETBOX = "ID,Label,Type,Device A,Termination A,Device B,Termination B,Status\n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1,,,node0,mlx5_0,leaf0,swp1,Connected", ""),
        ("1,,,node0,mlx5_0,leaf0,swp1,Planned", "planned"),
        ("1,,,node0,mlx5_0,leaf0,swp1,Decommissioning", "decommissioning"),
        ("1,,,node0,mlx5_0,leaf0,swp1,Failed", "NetBox says that the cable is failed"),
        ("1,,Power,node0,psu0,pdu,o1,Connected", "power"),
        ('1,,,leaf0,"swp1,swp2","node0,node1","mlx5_0,mlx5_0",Connected', "E0601"),
        ('1,,,leaf0,swp1,"node0,node1","mlx5_0,mlx5_0",Connected', "E0601"),
    ],
)
def test_states_and_ends_of_netbox(row: str, said: str, cables: Cables, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{NETBOX}{row}\n")
    made = audited(cables.fabric, ("p2p", tmp_path / "t.csv"))
    found = rows(made)
    if said == "E0601":
        assert codes(made)[0] == "E0601" and "one cell" in made.faults[0].finding.message
    else:
        assert found["read"] == 1 and [said in r["reason"] for r in found["aside"]] == [True] * bool(said)


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        ("connected", "dcim.interface", ""), ("planned", "dcim.interface", "planned"),
        ("decommissioning", "dcim.interface", "decommissioning"), ("connected", "dcim.powerport", "dcim.powerport"),
        ("offline", "dcim.interface", "NetBox says that the cable is offline"),
        ("connected", "dcim.consoleport", "dcim.consoleport"), ("connected", "circuits.circuittermination", "circuits"),
    ],
)  # fmt: skip
def test_states_and_ends_of_netboxs_rest_api(status: str, kind: str, said: str, cables: Cables, tmp_path: Path) -> None:
    ends = [
        [{"object_type": k, "object": {"device": {"name": d}, "name": p}}]
        for k, d, p in (("dcim.interface", "node0", "mlx5_0"), (kind, "leaf0", "swp1"))
    ]
    (tmp_path / "t.json").write_text(
        json.dumps({"results": [{"status": {"value": status}, "a_terminations": ends[0], "b_terminations": ends[1]}]})
    )
    found = rows(audited(cables.fabric, ("p2p", tmp_path / "t.json")))
    assert found["read"] == 1 and [said in r["reason"] for r in found["aside"]] == [True] * bool(said)
    assert all("node0 mlx5_0 to leaf0 swp1" in r["link"] for r in found["aside"])


@pytest.mark.parametrize(
    ("profile", "said"),
    [("trunk-2c1p", []), (None, ["E0606"]), ("trunk-4c4p-shuffle", ["E0601"])],
)
def test_several_ends_a_side_of_netboxs_rest_api(profile: str | None, said: list[str], cables: Cables, tmp_path: Path) -> None:
    """They are joined in their order where the profile means it; without a profile a note says so; a shuffle is refused."""
    a, b = (
        [{"object_type": "dcim.interface", "object": {"device": {"name": d}, "name": p}} for d, p in side]
        for side in ([("node0", "mlx5_0"), ("node1", "mlx5_0")], [("leaf0", "swp1"), ("leaf0", "swp2")])
    )
    cable = {"id": 1, "status": {"value": "connected"}, "profile": {"value": profile}, "a_terminations": a, "b_terminations": b}
    (tmp_path / "t.json").write_text(json.dumps({"count": 1, "next": None, "results": [cable]}))
    made = audited(cables.fabric, ("p2p", tmp_path / "t.json"))
    found = [*(f.finding for f in made.faults), *made.notes]
    assert [d.code for d in found if d.code in ("E0601", "E0606")] == said
    assert made.matching == (0 if said == ["E0601"] else 2)


# ---------------------------------------------------------------- tables of assets


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("device,mac\nnode0,02:00:00:00:00:01\n", ""),
        ("asset,device,mac\n#7,node0,02:00:00:00:00:01\n# a comment, and, more\n", ""),
        ("device,mac\nnode0,02:00:00:00:00:01\nother,02:00:00:00:00:09\n", "1 row of 2 of the table of assets set aside"),
        ("device,mac\nnode0,02:00:00:00:00:01\nnode1,02-00-00-00-00-01\n", "is on line 2 already, for node0 (E0534)"),
        ("host,mac\nnode0,02:00:00:00:00:01\n", "has no column `device` (E0531)"),
        ("device,mac\nnode0,02:00:00:00:00:01\nnode1,xx\n", "1 row of 2 of the table of assets set aside: its `mac` is not"),
        ("device,mac\nnode0,02:00:00:00:00:01\n#node1,02:00:00:00:00:02\n", "with `#`, as a comment does: line 3: node1"),
        ("", "the table is empty (E0531)"),
        ("device,serial\nnode0,02:00:00:00:00:01\nnode0,\n", "the row has no identifier"),
        ("device,port,mac\nnode0,mlx5_0,02:00:00:00:00:01\nnode0,mlx5_1,02:00:00:00:00:01\n", "(E0534)"),
        ("device,port,mac\nnode0,mlx5_7,02:00:00:00:00:01\n", "the device has no such port"),
    ],
)
def test_a_table_of_assets(table: str, told: str, mark: str, tmp_path: Path) -> None:
    """A neighbour that is an address is the device of the table, whatever stands before its first line."""
    (tmp_path / "pod.fab").write_text(POD)
    (tmp_path / "a.csv").write_text(mark + table)
    port = {"chassis": {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}, "port": {"id": {"value": "02:00:00:00:00:01"}}}
    (tmp_path / "leaf0.json").write_text(json.dumps({"lldp": {"interface": [{"swp1": port}]}}))
    asked = ("--lldp", tmp_path / "leaf0.json", "--assets", tmp_path / "a.csv", "--only", "node[0]")
    done = tdsl("audit", tmp_path / "pod.fab", *asked, "--no-requirements")
    said = " ".join(done.output.split())
    assert told in re.sub(r" \| ", " ", said), done.output
    if "E05" in told:
        assert done.exit_code == 2
    else:
        assert done.exit_code == 0 and "1 of the 1 link judged" in said.replace(
            "the 1 link judged (of 5) is", "the 1 link judged"
        ), said


@pytest.mark.parametrize(
    ("port", "status", "refused", "aside"),
    [
        ("swp1,swp2", "connected", True, ""),
        ("swp1/swp2", "connected", True, ""),
        ("swp1 & swp2", "", True, ""),
        ("swp1", "removed", False, "the table says that the cable is removed"),
        ("swp1", "Not-Installed", False, "the table says that the cable is not installed"),
        ("swp1", "to do", False, "the table says that the cable is to do, and has others that are not"),
        ("swp1", "Faulty", False, "the table says that the cable is faulty"),
        ("swp1", "link down since May", False, "the table says that the cable is link down since may"),
        ("swp1", "not working", False, "the table says that the cable is not working"),
        ("swp1", "Out-of-service", False, "the table says that the cable is out of service"),
        ("swp1", "fault repaired", False, ""),
        ("swp1", "no fault", False, ""),
        ("swp1", "Connected", False, ""),
    ],
)
def test_several_ends_in_a_cell_and_cables_that_are_gone(
    port: str, status: str, refused: bool, aside: str, cables: Cables, tmp_path: Path
) -> None:
    """In any table, not those of NetBox alone."""
    text = f'a_device,a_port,b_device,b_port,status\nleaf0,"{port}",node0,mlx5_0,{status}\nleaf1,swp1,node0,mlx5_1,\n'
    (tmp_path / "t.csv").write_text(text)
    made = audited(cables.fabric, ("p2p", tmp_path / "t.csv"))
    assert ("E0601" in codes(made)) == refused
    assert [n.message for n in made.notes if n.code == "E0606"] == [
        f"1 row taken for plugged, with words in column `status` that are not known: `{status}` (1)"
    ] * status.startswith(("fault ", "no "))
    rows = audit_document(made)["rows"]
    assert isinstance(rows, dict) and [r["reason"] for r in rows["aside"]] == ([aside] if aside else [])
    assert rows["read"] == rows["used"] + rows["set_aside"] == (1 if refused else 2)
