"""All forms of the report of an audit, with lists of accepted faults, requirements as built, and tables of identifiers."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.observe import identifiers, report, speeds, worklist
from tdsl.observe.accepted import new_accepted_entries
from tdsl.observe.audit import AuditSettings
from tdsl.observe.names import NameMapRule, device_name_readings, is_factory_description
from tdsl.observe.prometheus import prometheus_metrics as metrics
from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.observe.captures import audited, netlist, told
from tests.observe.conftest import SMALL
from tests.observe.plant import plant

LONELY = """
Switch\t4 "S-99"\t# "lonely"
[1]\t"S-98"[1]\t# lid 0 4xNDR

Ca\t1 "S-98"\t# "lost HCA-1"
[1]\t"S-99"[1]\t# lid 0 4xNDR
"""
PLACES = """\
# of a hall
device,hall,row,rack,u
su0-leaf0,h1,A,2,40
su0-leaf1,h1,A,10,40
spine0,h1,B,1,40
su1-node0,h1,A,2,1
"""


def test_all_forms_of_a_report(small: Fabric, golden: Golden, tmp_path: Path) -> None:
    """Mistakes, devices of other names and strangers: findings, work list, Markdown, JSON, metrics, what may be accepted."""

    cables, _ = plant(small, 1, 3)
    other = {4: "Quantum Mellanox Technologies", 3: "stranger", 12: "MF0;spine0:MQM9700/U1"}
    (tmp_path / "now.topo").write_text(netlist(cables, dict.fromkeys(cables.far, "4xNDR"), other) + LONELY)
    asked = AuditSettings(rules=(NameMapRule.parse("strang(er)=su0-leaf0"),))
    made = audited(small, ("ibnetdiscover", tmp_path / "now.topo"), settings=asked)
    rows = worklist.worklist_rows(made, worklist.read_rack_places(PLACES))
    entries, left = new_accepted_entries([made], "cables ordered", "OPS-1", date(2027, 1, 31))
    parts = [
        *told(made), worklist.worklist_as_csv(rows).decode(), report.audit_markdown(made),
        json.dumps(report.audit_document(made), indent=1),
        *(e.line.rstrip() for e in entries), f"{left} cannot be accepted", metrics([made]),
    ]  # fmt: skip
    golden("observe/report.txt", re.sub(r"[^\s|\"]*/(now\.topo|design\.fab)", r"\1", "\n".join(parts)) + "\n")


def test_names_of_devices() -> None:
    readings = {
        "MF0;leaf0:MQM9700/U1": (False, [("leaf0", ""), ("leaf0/U1", "")]),
        "node0 mlx5_0": (False, [("node0 mlx5_0", ""), ("node0", "mlx5_0")]),
        "node0.example.com HCA-1": (
            False, [("node0.example.com HCA-1", ""), ("node0.example.com", "HCA-1"), ("node0", "HCA-1")],
        ),
        "10.1.2.3": (False, [("10.1.2.3", "")]), "localhost": (True, []), "sonic": (True, []), " leaf ": (False, [("leaf", "")]),
        "0xab": (True, []), "": (True, []),
    }  # fmt: skip
    assert {t: (is_factory_description(t), list(device_name_readings(t))) for t in readings} == readings
    rule = NameMapRule.parse("a=(.*)-x=sw\\1")
    assert list(device_name_readings("a=7-x", [rule])) == [("sw7", "")] and list(device_name_readings("b", [rule])) == [("b", "")]


def test_speeds() -> None:
    assert {x: speeds.rate_of_width_word(x) for x in ("4xNDR", "1XHDR", "12x QDR", "2xFDR10", "4xABC", "NDR", "")} == {
        "4xNDR": (400 * 10**9, 4), "1XHDR": (50 * 10**9, 1), "12x QDR": (120 * 10**9, 12), "2xFDR10": (20 * 10**9, 2),
        "4xABC": (0, 4),
        "NDR": (0, 0), "": (0, 0),
    }  # fmt: skip
    printed = {"2.5": "SDR", "5.0": "DDR",
               "10.0": "QDR", "10.3125": "FDR10", "14.0625": "FDR", "25.78125": "EDR", "53.125": "HDR",
               "106.25": "NDR", "212.5": "XDR", "5": "DDR", "9": "", "99999": "", "x": "", "1.x": "", "": ""}  # fmt: skip
    assert {x: speeds.speed_of_signalling_rate(x) for x in printed} == printed


REQUIRED = SMALL.rstrip().removesuffix("}") + "  require bisection >= 100%\n  require reachability\n  require diameter <= 4\n}\n"


def test_requirements_on_what_is_built(small: Fabric, golden: Golden, tmp_path: Path) -> None:
    """The command says which requirements what is built does not keep, and which faults decide."""
    cables, _ = plant(small, 40, 2)
    (tmp_path / "now.topo").write_text(netlist(cables, dict.fromkeys(cables.far, "4xNDR")))
    (tmp_path / "d.fab").write_text(REQUIRED)
    done = tdsl("audit", tmp_path / "d.fab", "--ibnetdiscover", tmp_path / "now.topo")
    assert done.exit_code == 1
    golden("observe/required.txt", re.sub(r"[^\s|\"]*/(now\.topo|d\.fab)", r"\1", done.stdout))


IDENTIFIED = """\
device,port,node_guid,port_guid,mac,serial
su0-leaf0,,0x0002c90300000001,,00:02:c9:00:00:01,S1
su0-node0,nic[0],0002c90300000003,0002c90300000004,,
su0-node0,nic[1],0002c90300000003,0002c90300000006,,
su0-node1,mlx5_1,,,00-02-c9-00-00-0b,S2
nothing,,,,00-02-c9-00-00-0c,S3
"""


def test_tables_of_identifiers(small: Fabric) -> None:
    """What belongs to whom: GUIDs of devices and of ports, MAC addresses, serial numbers."""

    def owners(text: str) -> tuple[dict[str, tuple[int, int]], list[str]]:
        found = Diagnostics()
        return dict(identifiers.read_identifiers(small, SourceFile("assets.csv", text), found).owner), [d.code for d in found]

    row = {small.device_name(d): d for d in range(small.device_count)}
    leaf, one, two = row["su0-leaf0"], row["su0-node0"], row["su0-node1"]
    known = {
        "0002c90300000001": (leaf, -1), "0002c90300000003": (one, -1), "0002c90300000004": (one, 0), "0002c90300000006": (one, 1),
        "0002c9000001": (leaf, -1), "S1": (leaf, -1), "0002c900000b": (two, 1), "S2": (two, 1),
    }  # fmt: skip
    assert owners(IDENTIFIED) == (known, ["E0532"])
    bare = "\n".join(",".join(c for i, c in enumerate(r.split(",")) if i not in (2, 3)) for r in IDENTIFIED.splitlines())
    assert owners(bare) == ({k: v for k, v in known.items() if k in ("0002c9000001", "S1", "0002c900000b", "S2")}, ["E0611"] * 2)
    single = IDENTIFIED.replace("0002c90300000003,0002c90300000006", "0002c90300000005,0002c90300000006")
    assert owners(single)[0] == known | {"0002c90300000003": (one, 0), "0002c90300000005": (one, 1)}
    assert owners("") == ({}, ["E0531"]) and owners("device,x\n") == ({}, ["E0531"])
    assert owners("device,serial\nsu0-leaf0,S\n") == ({"S": (leaf, -1)}, [])
