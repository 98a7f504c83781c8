"""Captures with all that a format allows and what it does not: every node, link and finding that each reader makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest

from tdsl.findings.source import SourceFile
from tdsl.observe.record import CapturedEnd, Malformed, Observed


def shown(made: Observed) -> Iterator[str]:
    """A line a node, a link, an alias and a finding; rates in Gb/s."""

    def end(e: CapturedEnd) -> str:
        return f"{e.node} {'|'.join(e.port) or '-'}" + (f" ({e.id})" if e.id else "")

    for n in made.nodes.values():
        heard = " heard" if n.key in made.heard else ""
        yield f"{n.at.line}: node {n.key} {n.description!r} {n.kind or '-'} {','.join(n.ids) or '-'} {n.ports}{heard}"
    for w in made.wires:
        known = w.rate or w.lanes or w.could
        yield f"{w.at.line}: {end(w.a)} -- {end(w.b)}" + (f" {w.rate / 1e9:g} {w.lanes} {w.could / 1e9:g}" if known else "")
    yield from (f"alias {k} {v}" for k, v in made.alias.items())
    for f in made.findings:
        yield f"{f.span.begin[0] if f.span else 0}: {f.code} {f.message}"
        yield f"    {f.help or ''}"
    if made.whole:
        yield "whole"


def read(reader: str, text: str) -> list[str]:
    """What a reader makes of a capture of the device ``here``."""
    made = Observed()
    try:
        import_module(f"tdsl.observe.readers.{reader}").read(SourceFile("x", text), "here", made)
    except Malformed as wrong:
        said = [*shown(made), f"refused at {wrong.line}: {wrong.message}", f"    {wrong.help}"]
    else:
        said = list(shown(made))
    return [line for line in said if line.strip()]


CASES = {
    "ibdiagnet": (
        "ibdiagnet",
        """\
dump of a subnet
START_NODES
NodeDesc,NumPorts,NodeType,NodeGUID,PortGUID
"leaf 0",64,2,0x00000000000000a1,0x00000000000000a1
"host 0",1,1,0x00000000000000b1,0x00000000000000b2
"host 1",1,1,0x00000000000000c1,0x00000000000000c1
"host 2",,1,0x00000000000000d1,
"gate",2,3,0x00000000000000e1,0x00000000000000e2
"odd",2,9,0x00000000000000f1,0x00000000000000f2
"much",4096,2,0x00000000000000f3,
"more",4097,2,0x00000000000000f4,
"short",1
"no guid",1,2,17,
"quote"d,1,2,0x00000000000000f5,
END_NODES
1,2,3
START_PORTS
NodeGuid,PortNum,LinkSpeedActv,LinkWidthActv
0x00000000000000a1,1,2048,2
0x00000000000000b1,1,1024,2
0x00000000000000a1,2,0x1,1
0x00000000000000c1,1,2,4
0x00000000000000a1,3,4,8
0x00000000000000d1,1,256,16
0x00000000000000a1,4,512,1
0x00000000000000e1,1,65536,1
0x00000000000000a1,5,0x1000000,1
0x00000000000000a1,6,3,1
0x00000000000000a1,7,4294967296,1
0x00000000000000a1,8,4294967297,1
0x00000000000000a1,4097,2,1
END_PORTS
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x00000000000000a1,1,0x00000000000000b1,1
0x00000000000000a1,2,0x00000000000000c1,1
0x00000000000000a1,3,0x00000000000000d1,1
0x00000000000000a1,4,0x00000000000000e1,1
0x00000000000000a1,5,0x00000000000000f1,1
0x00000000000000a1,6,0x00000000000000f1,2
0x00000000000000a1,9,0x0000000000000bad,1
0x0000000000000bee,9,0x0000000000000bad,1
0x00000000000000a1,4096,0x00000000000000f1,3
0x00000000000000a1,4097,0x00000000000000f1,4
END_LINKS
""",
        """\
4: node id:00000000000000a1 'leaf 0' switch 00000000000000a1 64 heard
5: node id:00000000000000b1 'host 0' adapter 00000000000000b1 1 heard
6: node id:00000000000000c1 'host 1' adapter 00000000000000c1 1 heard
7: node id:00000000000000d1 'host 2' adapter 00000000000000d1 0 heard
8: node id:00000000000000e1 'gate' router 00000000000000e1 2 heard
9: node id:00000000000000f1 'odd' - 00000000000000f1 2 heard
10: node id:00000000000000f3 'much' switch 00000000000000f3 4096 heard
35: id:00000000000000a1 1 -- id:00000000000000b1 1 200 4 0
36: id:00000000000000a1 2 -- id:00000000000000c1 1 2.5 1 0
37: id:00000000000000a1 3 -- id:00000000000000d1 1 28 2 0
38: id:00000000000000a1 4 -- id:00000000000000e1 1 10 1 0
39: id:00000000000000a1 5 -- id:00000000000000f1 1 200 1 0
40: id:00000000000000a1 6 -- id:00000000000000f1 2
43: id:00000000000000a1 4096 -- id:00000000000000f1 3
alias id:00000000000000b2 id:00000000000000b1
11: E0601 the number of ports is '4097', which is not a number from 0 to 4,096
12: E0601 a row of 2 cells in a table of 5 columns
    run ibdiagnet again
13: E0601 '17' is not a GUID
    run ibdiagnet again
14: E0601 this line is not CSV
    run ibdiagnet again
30: E0601 a speed or width is '4294967297', which is not a number from 0 to 4,294,967,296
31: E0601 the port is '4097', which is not a number from 0 to 4,096
44: E0601 the port is '4097', which is not a number from 0 to 4,096
41: E0602 the capture has no node 0000000000000bad
    run ibdiagnet again
42: E0602 the capture has no node 0000000000000bee
    run ibdiagnet again
42: E0602 the capture has no node 0000000000000bad
    run ibdiagnet again
whole
""",
    ),
    "ibdiagnet tables": (
        "ibdiagnet",
        """\
END_NODES
START_NODES
NodeDesc,NodeType
"leaf 0",2
"leaf 1",2
START_OTHER
a
END_NODES
START_PORTS
NodeGuid,PortNum
""",
        """\
1: E0601 END_NODES inside the table of nothing
    run ibdiagnet again
3: E0601 the table NODES has no column nodeguid
    run ibdiagnet again
6: E0601 START_OTHER inside the table NODES
    run ibdiagnet again
8: E0601 END_NODES inside the table OTHER
    run ibdiagnet again
11: E0602 the capture ends inside the table PORTS
    run ibdiagnet again
11: E0602 the capture has no table LINKS
    run ibdiagnet again
whole
""",
    ),
    "iblinkinfo": (
        "iblinkinfo",
        """\
# a comment
0x00000000000000a1 "leaf0" 1 1[  ] ==( 4X 106.25 Gbps Active/ LinkUp)==> 0x00000000000000b1 2 1[  ] "host0 mlx5_0" ( )
Switch: 0x00000000000000A1 leaf0:
1 1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==> 0x00000000000000B1 2 1[  ] "host0 mlx5_0" ( )
1 2[  ] ==( 2X 53.125 Gbps Active/  LinkUp)==> 3 1[  ] "host1 mlx5_0" ( Could be 4X )
1 3[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==> 4 5[  ] "leaf1" ( Could be 106.25 Gbps Could be 8X)
1 4[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==> 0x00000000000000C1 5 7[  ] "leaf2" ( Could be 53.125 Gbps )
1 5[  ] ==( Down/ Polling)==> [  ] "" ( )
1 6[  ] ==( Active/ LinkUp)==> 6 [  ] "odd" ( )
1 7[  ] ==( 64X 2.5 Gbps Active/ LinkUp)==> 7 1[  ] "wide" ( )
1 8[  ] ==( 65X 2.5 Gbps Active/ LinkUp)==> 7 2[  ] "wide" ( )
1 9[  ] ==( Down/ Polling)==> 9 1[  ] "was" ( )
this is nothing
CA: host1 mlx5_0:
3 1[  ] ==( 2X 53.125 Gbps Active/  LinkUp)==> 1 2[  ] "leaf0" ( )
Router: 0x00000000000000E1 gate:
4 5[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==> 1 3[  ] "leaf0" ( )
Switch: 0x00000000000000F1 :
0x00000000000000f1 "own name" 1[  ] ==( Down/ Polling)==> [  ] "" ( )
Switch: 0x00000000000000F2 :
1[  ] ==( Down/ Polling)==> [  ] "" ( )
""",
        """\
2: node id:00000000000000a1 'leaf0' switch 00000000000000a1 0 heard
15: node node:host1 mlx5_0 'host1 mlx5_0' adapter - 0 heard
17: node id:00000000000000e1 'gate' router 00000000000000e1 0 heard
19: node id:00000000000000f1 'own name' switch 00000000000000f1 0 heard
2: node id:00000000000000b1 'host0 mlx5_0' - 00000000000000b1 0
7: node id:00000000000000c1 'leaf2' - 00000000000000c1 0
9: node node:odd 'odd' - - 0
10: node node:wide 'wide' - - 0
12: node node:was 'was' - - 0
2: id:00000000000000a1 1 -- id:00000000000000b1 1 400 4 0
5: id:00000000000000a1 2 -- node:host1 mlx5_0 1 100 2 200
6: id:00000000000000a1 3 -- id:00000000000000e1 5 100 4 800
7: id:00000000000000a1 4 -- id:00000000000000c1 7 100 4 200
10: id:00000000000000a1 7 -- node:wide 1 160 64 0
12: id:00000000000000a1 9 -- node:was 1
11: E0601 the width is '65', which is not a number from 0 to 64
13: E0601 this line is not of iblinkinfo: 'this is nothing'
    capture it again: iblinkinfo -l > links.txt
21: E0601 a port before the device that it belongs to
    the capture is cut: capture it again
whole
""",
    ),
    "iblinkinfo of nothing": (
        "iblinkinfo",
        """\
# nothing

""",
        """\
1: E0601 the capture has no device
    save the output of `iblinkinfo -l`
whole
""",
    ),
    "ibnetdiscover": (
        "ibnetdiscover",
        """\
# Topology
vendid=0x2c9
switchguid=0xa1(a1)
Switch\t4 "S-00000000000000a1"\t\t# "leaf 0" enhanced port 0
[1]\t"H-00000000000000b1"[1](b2) \t\t# "host 0" lid 5 4xNDR
[2]\t"S-00000000000000c1"[3]\t\t# "leaf 1" lid 6 4xHDR
[4]\t"S-00000000000000c1"[4]\t\t# "leaf 1" lid 6 2xHDR 1xEDR
[0]\t"S-00000000000000c1"[5]\t\t# "leaf 1" lid 6 2xHDR
[5]\t"S-00000000000000c1"[5]\t\t# "leaf 1" lid 6 2xHDR
[3]\t"S-00000000000000d9"[5]\t\t# "gone" lid 6 2xHDR

[3]\t"S-00000000000000d9"[5]

caguid=0xb1
Ca\t1 "H-00000000000000b1"\t\t# "host 0"
[1](b2) \t"S-00000000000000a1"[1]\t\t# lid 1 lmc 0 "leaf 0" lid 1 4xEDR

Switch\t0 "S-00000000000000c1"\t\t# "leaf 1"
[3]\t"S-00000000000000a1"[2]\t\t# "leaf 0" 4xHDR
[4]\t"S-00000000000000a1"[4]
[9][ext 4]\t"S-00000000000000d9"[6]
Chassis 1
Non-Chassis Nodes
what is this

Rt\t2 "node"\t# "gate"

Hca\t2 "0x00000000000000e5"\t# "hca"

Switch\t4096 "S-00000000000000a1"\t\t# "leaf 0 again"
Switch\t4097 "S-00000000000000f1"\t\t# "too many"
[1]\t"S-00000000000000c1"[7]\t\t# "leaf 1"
Switch\t4 "S-00000000000000f2"\t\t# "leaf‮ 2"
[2]\t"S-00000000000000c1"[8]\t\t# "leaf 1"
""",
        """\
4: node id:00000000000000a1 'leaf 0' switch 00000000000000a1 4 heard
15: node id:00000000000000b1 'host 0' adapter 00000000000000b1 1 heard
18: node id:00000000000000c1 'leaf 1' switch 00000000000000c1 0 heard
26: node node:node 'gate' router - 2 heard
28: node id:00000000000000e5 'hca' adapter 00000000000000e5 2 heard
31: node id:00000000000000f1 'too many' switch 00000000000000f1 0 heard
33: node id:00000000000000f2 '' switch 00000000000000f2 0 heard
16: id:00000000000000a1 1 -- id:00000000000000b1 1 (00000000000000b2) 100 4 0
6: id:00000000000000a1 2 -- id:00000000000000c1 3 200 4 0
7: id:00000000000000a1 4 -- id:00000000000000c1 4 25 1 0
32: id:00000000000000f1 1 -- id:00000000000000c1 7
34: id:00000000000000f2 2 -- id:00000000000000c1 8
alias id:00000000000000b2 id:00000000000000b1
8: E0601 port 0 of a device that has 4
9: E0601 port 5 of a device that has 4
12: E0601 a port before the node that it belongs to
    the capture is cut or mixed: capture it again
24: E0601 this line is not of ibnetdiscover: 'what is this'
    capture it again: ibnetdiscover > fabric.topo
30: E0601 the node S-00000000000000a1 is described twice
    give one capture of each subnet
31: E0601 the number of ports is '4097', which is not a number from 0 to 4,096
33: E0601 a name contains a character that is not seen or turns the order of the text: 'leaf\\u202e 2'
    remove it
10: E0602 the capture is incomplete: it has no block for S-00000000000000d9, which this line names
    capture the whole subnet again; nothing is judged from a part of it
whole
""",
    ),
    "ibnetdiscover -p": (
        "ibnetdiscover",
        """\
SW 1 1 0x00000000000000a1 4x NDR - CA 5 1 0x00000000000000b1 ( 'leaf 0' - 'host 0' )
SW 1 2 0x00000000000000a1 2x HDR - SW 6 3 0x00000000000000c1 ( leaf 0 - leaf 1 )
SW 1 3 0x00000000000000a1 4x SDR 'leaf 0'
CA 5 1 0x00000000000000b1 4x NDR - SW 1 1 0x00000000000000a1 ( 'host 0' - 'leaf 0' )
RT 5 1 0x00000000000000e1 12x QDR - SW 6 5 0x00000000000000c1 ( 'gate' - 'leaf 1' )
""",
        """\
1: node id:00000000000000a1 'leaf 0' switch 00000000000000a1 0 heard
1: node id:00000000000000b1 'host 0' adapter 00000000000000b1 0 heard
2: node id:00000000000000c1 'leaf 1' switch 00000000000000c1 0
5: node id:00000000000000e1 'gate' router 00000000000000e1 0 heard
1: id:00000000000000a1 1 -- id:00000000000000b1 1 400 4 0
2: id:00000000000000a1 2 -- id:00000000000000c1 3 100 2 0
5: id:00000000000000e1 1 -- id:00000000000000c1 5 120 12 0
whole
""",
    ),
    "ibnetdiscover of nothing": (
        "ibnetdiscover",
        """\
# nothing
""",
        """\
1: E0601 the capture has no node
    save the output of `ibnetdiscover`
whole
""",
    ),
    "p2p": (
        "p2p",
        """\
a_device;a_port;b_device;b_port;rate_gbps;speed_gbps;class;a_label;b_interface
leaf0;p1;spine0;p2;400;;leaf-spine;L1;swp2
'host0;p1;leaf0;p3;12.5;;host-leaf;;
leaf0;p4;'host1;p1;;100;leaf-host;;p1
leaf0;p5;x;p1;1234567;;a-b-host;;
leaf0;p6;x;p2;fast;;host;;
leaf0;;x;p2
;p7;x;p2
leaf0;p8;;p3
leaf0;p9;x;
;;;

#comment;x
a_device;a_port;b_device;b_port;rate_gbps;speed_gbps;class;a_label;b_interface
leaf0;p10;x;p4;0.5
""",
        """\
2: node name:leaf0 'leaf0' - - 0 heard
2: node name:spine0 'spine0' - - 0 heard
3: node name:host0 'host0' host - 0 heard
4: node name:host1 'host1' host - 0 heard
5: node name:x 'x' - - 0 heard
2: name:leaf0 p1|L1 -- name:spine0 p2|swp2 400 0 0
3: name:host0 p1 -- name:leaf0 p3 12.5 0 0
4: name:leaf0 p4 -- name:host1 p1 100 0 0
5: name:leaf0 p5 -- name:x p1
6: name:leaf0 p6 -- name:x p2
15: name:leaf0 p10 -- name:x p4 0.5 0 0
7: E0601 the row has no device or no port at end a
    fill both ends of the row, or remove it
8: E0601 the row has no device or no port at end a
    fill both ends of the row, or remove it
9: E0601 the row has no device or no port at end b
    fill both ends of the row, or remove it
10: E0601 the row has no device or no port at end b
    fill both ends of the row, or remove it
""",
    ),
    "p2p without headings": (
        "p2p",
        """\

# note
leaf0,p1,spine0,p2
""",
        """\
refused at 3: the first line does not name the columns of two ends
    name them a_device,a_port,b_device,b_port, or give --column a_device=NAME
""",
    ),
    "p2p of nothing": (
        "p2p",
        """\

# note
""",
        """\
refused at 1: the table is empty
    its first line must be a_device,a_port,b_device,b_port
""",
    ),
    "p2p that is no CSV": (
        "p2p",
        """\
a_device,a_port,b_device,b_port
a,1,b,2
"a"x,1,b,2
""",
        """\
2: node name:a 'a' - - 0 heard
2: node name:b 'b' - - 0 heard
2: name:a 1 -- name:b 2
refused at 3: this is not CSV: ',' expected after '"'
""",
    ),
    "p2p as UFM's NDT": (
        "p2p",
        """\
#Fields:StartDevice,StartPort,EndDevice,EndPort
leaf0,1,spine0,2
""",
        """\
2: node name:leaf0 'leaf0' - - 0 heard
2: node name:spine0 'spine0' - - 0 heard
2: name:leaf0 1 -- name:spine0 2
""",
    ),
    "p2p with tabs": (
        "p2p",
        """\
Device A\tTermination A\tDevice B\tTermination B
leaf0\t1\tspine0\t2
""",
        """\
2: node name:leaf0 'leaf0' - - 0 heard
2: node name:spine0 'spine0' - - 0 heard
2: name:leaf0 1 -- name:spine0 2
""",
    ),
    "nxos": (
        "nxos",
        """\
Capability codes:
Chassis id: 0000.0000.00b1
Port id: Eth1/2
Local Port id: Eth1/1
Port Description: to leaf
System Name: spine0

Chassis id: 0000.0000.00c1
Port id: null
Local Port id: mgmt0
Port Description: not advertised
System Name: null

Chassis id: 0000.0000.00d1
Port id: Ethernet1/3
System Name: leaf2

Chassis id: null
Port id: Eth9
Local Port id: Eth1/4
""",
        """\
1: node name:here 'here' - - 0 heard
2: node name:spine0 'spine0' - 0000000000b1 0
8: node chassis:0000000000c1 '' - 0000000000c1 0
2: name:here Ethernet1/1 -- name:spine0 Ethernet1/2|to leaf
8: name:here mgmt0 -- chassis:0000000000c1 -
14: E0601 a neighbour without a local port
    the capture is cut: capture it again
18: E0601 the neighbour at Ethernet1/4 has neither a name nor a chassis
""",
    ),
    "nxos, the short table": (
        "nxos",
        """\
Device ID            Local Intf      Hold-time  Capability  Port ID
spine0  Eth1/1  120  B  Eth1/1
""",
        """\
1: node name:here 'here' - - 0 heard
refused at 1: the short table cuts names at 20 characters
    capture `show lldp neighbors detail`
""",
    ),
    "ptm": (
        "ptm",
        """\
strict graph "G" {
# a comment
  node [shape=box]
  "leaf0":"swp1" -- "spine0":"swp2" [color=red];
  leaf0:swp2 -- "spine 1":swp3
  // later
  "leaf1";
leaf0 -- spine0
  label = "x"
  "a":"b" -- "c":"d\x07"
}
""",
        """\
4: node name:leaf0 'leaf0' - - 0 heard
4: node name:spine0 'spine0' - - 0 heard
5: node name:spine 1 'spine 1' - - 0 heard
10: node name:a 'a' - - 0 heard
10: node name:c 'c' - - 0 heard
4: name:leaf0 swp1 -- name:spine0 swp2
5: name:leaf0 swp2 -- name:spine 1 swp3
8: E0601 this line is not an edge: 'leaf0 -- spine0'
    "leaf1":"swp1" -- "spine1":"swp3";
10: E0601 a name contains a control character: 'd\\x07'
    capture the output again without a terminal
""",
    ),
    "ufm": (
        "ufm",
        """\
[
{"source_guid": "00000000000000a1", "source_port": "1", "source_port_dname": "1/1/1",
 "source_port_node_description": "leaf0:1/1/1",
 "destination_guid": "0x00000000000000b1", "destination_port": 2, "destination_port_dname": "2",
 "destination_port_node_description": "host0/2"},
{"source_guid": "00000000000000b1", "source_port": "2", "source_port_dname": "2",
 "destination_guid": "00000000000000a1", "destination_port": "1"},
{"source_guid": "00000000000000a1", "source_port": "3", "source_port_node_description": "leaf0:3",
 "destination_guid": "00000000000000c1", "destination_port": "3", "destination_port_dname": "2",
 "destination_port_node_description": "host1 2"},
{"source_guid": "0000000000a1", "source_port": "4", "destination_guid": "00000000000000c1", "destination_port": "4"},
{"source_guid": "00000000000000a1", "source_port": "x", "destination_guid": "00000000000000c1", "destination_port": "5"},
{"source_guid": "00000000000000a1", "source_port": "123456", "destination_guid": "00000000000000c1", "destination_port": "6"},
{"source_guid": "00000000000000a1", "source_port": "5", "destination_guid": "00000000000000c1", "destination_port": "1234567"},
[1, "source_guid"]
]
""",
        """\
2: node id:00000000000000a1 'leaf0' - 00000000000000a1 0 heard
2: node id:00000000000000b1 'host0' - 00000000000000b1 0 heard
8: node id:00000000000000c1 'host1 2' - 00000000000000c1 0 heard
2: id:00000000000000a1 1|1/1/1 -- id:00000000000000b1 2
8: id:00000000000000a1 3 -- id:00000000000000c1 3|2
13: id:00000000000000a1 123456 -- id:00000000000000c1 6
11: E0601 the source of this link has no GUID or no port
    save the answer of UFM again
12: E0601 the source of this link has no GUID or no port
    save the answer of UFM again
14: E0601 the destination of this link has no GUID or no port
    save the answer of UFM again
15: E0601 a link is list, not an object
whole
""",
    ),
    "ufm of nothing": (
        "ufm",
        """\
[]""",
        """\
1: E0602 the capture has no link
    save the answer of GET /ufmRest/resources/links
whole
""",
    ),
    "ufm that is no list": (
        "ufm",
        """\
{"source_guid": 1}""",
        """\
refused at 1: this is not a list of links
    save the answer of GET /ufmRest/resources/links
""",
    ),
    "lldpd-text": (
        "lldpd_text",
        """\
-----
LLDP neighbors:
-----
Interface:    swp1, via: LLDP, RID: 1
  Chassis:
    ChassisID:    mac 00:00:00:00:00:b1
    SysName:      spine0
  Port:
    PortID:       ifname swp7
    PortDescr:    to leaf0
    PortDescr:    second
Interface:    swp2
  Chassis:
    ChassisID:    local spine1
  Port:
    TTL:          120
Interface:    swp3
  Chassis:
    ChassisID:    ip 10.0.0.1
  Port:
    PortID:       other swp9
-----
""",
        """\
1: node name:here 'here' - - 0 heard
4: node name:spine0 'spine0' - 0000000000b1 0
17: node chassis:10.0.0.1 '' - - 0
4: name:here swp1 -- name:spine0 swp7|to leaf0
17: name:here swp3 -- chassis:10.0.0.1 other swp9
12: E0601 the neighbour at swp2 has no port
    the capture is cut: capture it again
""",
    ),
    "lldpd-text, key and value": (
        "lldpd_text",
        """\
lldp.swp1.via=LLDP
lldp.swp1.chassis.mac=00:00:00:00:00:b1
lldp.swp1.chassis.name=spine0
lldp.swp1.port.ifname=swp7
lldp.swp1.port.descr=to leaf0
lldp.swp1.chassis.name=spine1
lldp.swp1.port.mac=00:00:00:00:00:c1
lldp.swp2.chassis.local=abc
lldp.swp2.port.local=5
lldp.swp2.port.ifalias=five
lldp.swp3.chassis.ip=10.0.0.1
lldp.swp3.chassis.name=
lldp.swp3.port.ifname=
lldp.swp4.port.ifname=x
""",
        """\
1: node name:here 'here' - - 0 heard
2: node name:spine0 'spine0' - 0000000000b1 0
6: node name:spine1 'spine1' - - 0
8: node chassis:abc '' - - 0
2: name:here swp1 -- name:spine0 swp7|to leaf0
6: name:here swp1 -- name:spine1 00:00:00:00:00:c1 (0000000000c1)
8: name:here swp2 -- chassis:abc five|5
11: E0601 the neighbour at swp3 has no port
    the capture is cut: capture it again
14: E0601 the neighbour at swp4 has neither a name nor a chassis
""",
    ),
    "lldpd-text that is cut": (
        "lldpd_text",
        """\
-----
Interface: swp1
  ChassisID: mac 00:00:00:00:00:b1
  PortID: ifname swp7

""",
        """\
1: node name:here 'here' - - 0 heard
2: node chassis:0000000000b1 '' - 0000000000b1 0
2: name:here swp1 -- chassis:0000000000b1 swp7
4: E0602 the capture is cut off: its last line is not a rule
    capture it again
""",
    ),
    "lldpd-text of nothing": (
        "lldpd_text",
        """\
nothing
""",
        """\
1: node name:here 'here' - - 0 heard
refused at 1: the capture has no interface
    save the output of `lldpcli show neighbors`
""",
    ),
    "lldpd-text without neighbours": (
        "lldpd_text",
        """\
LLDP neighbors:
-----
""",
        """\
1: node name:here 'here' - - 0 heard
""",
    ),
    "lldpd": (
        "lldpd",
        """\
{"lldp_loc_chassis": {"local-chassis": [{"chassis": {"leaf0": {"id": {"type": "mac", "value": "00:00:00:00:00:a1"}}}}]},
 "lldp": [
 7,
 {"interface": [
  {"name": "swp1",
   "chassis": [{"id": [{"value": "00:00:00:00:00:b1"}], "name": [{"value": "spine0"}]}],
   "port": [{"id": [{"value": "swp7"}], "descr": [{"value": "to leaf0"}]}]},
  {"swp2":
   {"chassis": {"spine1": {"id": {"value": "00:00:00:00:00:c1"}}}, "port": {"id": {"value": "00:00:00:00:00:c2"}}}},
  {"swp3":
   {"chassis": {"id": {"value": "00:00:00:00:00:d1"}}, "port": {"descr": "x"}}},
  {"swp4":
   {"port": {"id": "x"}}},
  {"swp5":
   {"chassis": {"spine1": {"id": "y"}}, "port": 7}},
  {"swp6":
   7},
  {"swp7":
   [{"chassis": {"a": {}}, "port": {"id": "1"}},
    {"chassis": {"b": {}}, "port": {"id": "2"}},
    {"chassis": 1, "port": {"id": "3"}},
    {"chassis": {"k": 1}, "port": {"id": "4"}}]}
 ]}]}
""",
        """\
2: node name:leaf0 'leaf0' - - 0 heard
6: node name:spine0 'spine0' - 0000000000b1 0
9: node name:spine1 'spine1' - 0000000000c1 0
11: node chassis:0000000000d1 '' - 0000000000d1 0
20: node name:a 'a' - - 0
21: node name:b 'b' - - 0
6: name:leaf0 swp1 -- name:spine0 swp7|to leaf0
9: name:leaf0 swp2 -- name:spine1 00:00:00:00:00:c2 (0000000000c2)
11: name:leaf0 swp3 -- chassis:0000000000d1 x
20: name:leaf0 swp7 -- name:a 1
21: name:leaf0 swp7 -- name:b 2
15: E0601 the neighbour at swp4 has no chassis or no port
19: E0601 the neighbour at swp5 has no chassis or no port
19: E0601 interface swp6 is int, not an object
22: E0601 the neighbour at swp7 has neither a name nor a chassis
22: E0601 the neighbour at swp7 has neither a name nor a chassis
""",
    ),
    "lldpd of another form": (
        "lldpd",
        """\
{"lldp": {"interface": [{"name": "swp1", "chassis": 1}]},
 "lldp_loc_chassis": [1, {"local-chassis": [1, {"chassis": [1, {"id": "x"}]}]}]}""",
        """\
1: node name:here 'here' - - 0 heard
1: E0601 the neighbour at swp1 has no chassis or no port
""",
    ),
    "netbox": (
        "netbox",
        """\
[{"next": null, "results": [
{"a_terminations": [{"object_type": "dcim.interface", "object": {"device": {"name": "leaf0"}, "name": "swp1"}}],
 "b_terminations": [{"object_type": "dcim.interface", "object": {"device": {"display": "spine0"}, "name": "swp2"}}]},
{"status": {"value": "decommissioning"},
 "a_terminations": [{"object_type": "dcim.interface", "object": {"device": {"name": "old"}, "name": "swp1"}}]},
{"status": "decommissioning", "a_terminations": []},
{"a_terminations": [{"object_type": "dcim.powerport"}], "b_terminations": []},
{"a_terminations": [{"object_type": "dcim.interface", "object": {"device": {"name": "leaf0"}, "name": "swp3"}}],
 "b_terminations": []},
{"a_terminations": [], "b_terminations": [
 {"object_type": "dcim.interface", "object": {"device": {"name": "leaf0"}, "name": "swp4"}}]},
{"a_terminations": [{"object_type": "dcim.interface", "object": {"device": {"name": "leaf0"}}}]},
{"a_terminations": [{"object_type": "dcim.interface", "object": {"device": {}, "name": "swp4"}}]},
{"a_terminations": 5},
{"a_terminations": [{"object_type": "dcim.interface", "object": 1}]},
{"b_terminations": [{"object_type": "dcim.interface", "object": {"device": 1}}], "a_terminations": []}
]},
{"status": {"value": "connected"},
 "a_terminations": [
  {"object_type": "dcim.interface", "object": {"device": {"name": "leaf0"}, "name": "swp5"}},
  {"object_type": "dcim.interface", "object": {"device": {"name": "leaf0"}, "name": "swp6"}}],
 "b_terminations": [
  {"object_type": "dcim.interface", "object": {"device": {"name": "spine0"}, "name": "swp5"}},
  {"object_type": "dcim.interface", "object": {"device": {"name": "spine1"}, "name": "swp6"}}]}]
""",
        """\
2: node name:leaf0 'leaf0' - - 0 heard
2: node name:spine0 'spine0' - - 0 heard
19: node name:spine1 'spine1' - - 0 heard
2: name:leaf0 swp1 -- name:spine0 swp2
19: name:leaf0 swp5 -- name:spine0 swp5
19: name:leaf0 swp6 -- name:spine1 swp6
8: E0601 a cable with 1 interfaces at side A and 0 at side B
    say which lanes are joined: a table with a row a link, columns a_device,a_port,b_device,b_port
10: E0601 a cable with 0 interfaces at side A and 1 at side B
    say which lanes are joined: a table with a row a link, columns a_device,a_port,b_device,b_port
12: E0601 side A has no device or no name of an interface
    export the cables again
13: E0601 side A has no device or no name of an interface
    export the cables again
14: E0601 a termination of side A is int, not an object
15: E0601 the interface of side A is int, not an object
16: E0601 the device of side B is int, not an object
""",
    ),
    "one page of netbox": (
        "netbox",
        """\
{"next": "x", "results": []}""",
        """\
refused at 1: this is one page of the cables, and others follow
    add `?limit=0` to the request, or put all pages into one JSON list
""",
    ),
    "nvue": (
        "nvue",
        """\
{"swp1": {"lldp": {"neighbor": {"spine0": {"chassis": {"system-name": "", "chassis-id": "00:00:00:00:00:b1"},
  "port": {"name": "swp7"}}}}},
 "swp2": {"lldp": {"neighbor": {"x": {"chassis": {"system-name": "spine1"},
  "port": {"name": "swp8", "description": "to leaf"}}}}},
 "swp3": {"lldp": {"neighbor": {"y": 1}}},
 "swp4": {"lldp": {"neighbor": {"y": {"chassis": 1}}}},
 "swp5": {"lldp": {"neighbor": {"y": {"chassis": {}, "port": 2}}}},
 "swp6": {"lldp": {"neighbor": 3}},
 "swp7": {"lldp": 4},
 "swp8": 5}
""",
        """\
1: node name:here 'here' - - 0 heard
1: node name:spine0 'spine0' - 0000000000b1 0
3: node name:spine1 'spine1' - - 0
1: name:here swp1 -- name:spine0 swp7
3: name:here swp2 -- name:spine1 swp8|to leaf
5: E0601 the neighbour at swp3 is int, not an object
6: E0601 a chassis is int, not an object
7: E0601 a port is int, not an object
""",
    ),
    "nvue, the table": (
        "nvue",
        """\
Interface  Speed  Type  Remote Host  Remote Port
---------  -----  ----  -----------  -----------
swp1       400G   swp   spine0       swp7
                        spine0       swp9
swp2       400G   swp
swp3       400G   swp   spi…         swp8
swp4       400G   swp   spine1
swp5       400G   swp                swp1
swp6       400G   swp   spine2       swp3 long
""",
        """\
1: node name:here 'here' - - 0 heard
3: node name:spine0 'spine0' - - 0
9: node name:spine2 'spine2' - - 0
3: name:here swp1 -- name:spine0 swp7
9: name:here swp6 -- name:spine2 swp3 long
6: E0601 the terminal was too narrow: a cell is cut
    capture it with `-o json`
7: E0601 the neighbour at swp4 has no port
    the capture is cut: capture it again
8: E0601 the neighbour at swp5 has neither a name nor a chassis
""",
    ),
    "nvue, a table that is cut": (
        "nvue",
        """\
Interface  Speed  Type  Remote Host  Remote Port
""",
        """\
1: node name:here 'here' - - 0 heard
refused at 1: the table has no line of dashes under its heading
    the capture is cut: capture it again
""",
    ),
    "eos": (
        "eos",
        """\
{"lldpNeighbors": {
 "Ethernet1": {"lldpNeighborInfo": [{"systemName": "spine0", "chassisId": "0000.0000.00b1",
  "neighborInterfaceInfo": {"interfaceId": "\\"Ethernet7\\"", "interfaceDescription": "to leaf"}}, 5]},
 "Ethernet2": 7,
 "Ethernet3": {"lldpNeighborInfo": {"chassisId": "0000.0000.00c1", "neighborInterfaceInfo": 1}}}}
""",
        """\
1: node name:here 'here' - - 0 heard
2: node name:spine0 'spine0' - 0000000000b1 0
5: node chassis:0000000000c1 '' - 0000000000c1 0
2: name:here Ethernet1 -- name:spine0 Ethernet7|to leaf
5: name:here Ethernet3 -- chassis:0000000000c1 -
2: E0601 the neighbour at Ethernet1 is int, not an object
""",
    ),
    "eos, a list": (
        "eos",
        """\
{"lldpNeighbors": [
 {"port": "Ethernet1", "neighborDevice": "spine0",
  "neighborPort": "Ethernet7"},
 5,
 {"port": "Ethernet2",
  "neighborPort": "Ethernet8"}]}
""",
        """\
1: node name:here 'here' - - 0 heard
3: node name:spine0 'spine0' - - 0
3: name:here Ethernet1 -- name:spine0 Ethernet7
6: E0601 a neighbour is int, not an object
6: E0601 the neighbour at Ethernet2 has neither a name nor a chassis
""",
    ),
    "sonic": (
        "sonic",
        """\
{"LLDP_LOC_CHASSIS": {"lldp_loc_sys_name": "leaf0"},
 "LLDP_ENTRY_TABLE:Ethernet0": {"value": {"lldp_rem_port_id": "etp1", "lldp_rem_port_desc": "Ethernet4",
  "lldp_rem_sys_name": "spine0", "lldp_rem_chassis_id": "00:00:00:00:00:b1"}},
 "OTHER:Ethernet0": {},
 "LLDP_ENTRY_TABLE:Ethernet8": {"value": 5, "lldp_rem_port_id": "etp2", "lldp_rem_sys_name": "spine1"},
 "LLDP_ENTRY_TABLE:Ethernet16": 7,
 "LLDP_ENTRY_TABLE:Ethernet24": {}}
""",
        """\
1: node name:leaf0 'leaf0' - - 0 heard
2: node name:spine0 'spine0' - 0000000000b1 0
5: node name:spine1 'spine1' - - 0
2: name:leaf0 Ethernet0 -- name:spine0 etp1|Ethernet4
5: name:leaf0 Ethernet8 -- name:spine1 etp2
6: E0601 LLDP_ENTRY_TABLE:Ethernet16 is int, not an object
7: E0601 the neighbour at Ethernet24 has neither a name nor a chassis
""",
    ),
    "sonic without its own name": (
        "sonic",
        """\
{"LLDP_LOC_CHASSIS": 5}""",
        """\
1: node name:here 'here' - - 0 heard
""",
    ),
    "netq": (
        "netq",
        """\
[{"links": [
 {"compounded_links": [
  {"interfaces": [{"node": "leaf0", "interface": "swp1"}, {"node": "spine0", "interface": "swp7"}]},
  {"interfaces": [{"node": "leaf0", "interface": "swp2"}, {"node": "spine0"}]},
  {"interfaces": [{"node": "leaf0", "interface": "swp3"}, {"interface": "swp3"}]},
  {"interfaces": [{"node": "leaf0", "interface": "swp3"}, 5]},
  6]},
 7]}]
""",
        """\
3: node name:leaf0 'leaf0' - - 0 heard
3: node name:spine0 'spine0' - - 0 heard
3: name:leaf0 swp1 -- name:spine0 swp7
4: E0601 a link has 1 ends with a node and an interface
5: E0601 a link has 1 ends with a node and an interface
6: E0601 an end is int, not an object
6: E0601 a link is int, not an object
""",
    ),
    "batfish": (
        "batfish",
        """\
{"edges": [
 {"node1": {"hostname": "leaf0", "interfaceName": "swp1"}, "node2": {"hostname": "spine0", "interfaceName": "swp7"}},
 {"node1": {"hostname": "leaf0"}, "node2": {"hostname": "spine0", "interfaceName": "swp7"}},
 {"node1": {"hostname": "leaf0", "interfaceName": "swp2"}, "node2": {"interfaceName": "swp7"}},
 {"node1": 5},
 6]}
""",
        """\
2: node name:leaf0 'leaf0' - - 0 heard
2: node name:spine0 'spine0' - - 0 heard
2: name:leaf0 swp1 -- name:spine0 swp7
3: E0601 node1 has no hostname or no interfaceName
4: E0601 node2 has no hostname or no interfaceName
5: E0601 node1 is int, not an object
5: E0601 an edge is int, not an object
""",
    ),
    "napalm": (
        "napalm",
        """\
{"Ethernet1": [{"remote_system_name": "spine0", "remote_port": "Eth7",
  "remote_port_description": "to leaf", "remote_chassis_id": "0000.0000.00b1"},
  {"hostname": "spine1", "port": "Eth8"}],
 "Ethernet2": [5],
 "Ethernet3": [{"remote_port": "Eth9"}]}
""",
        """\
1: node name:here 'here' - - 0 heard
1: node name:spine0 'spine0' - 0000000000b1 0
1: node name:spine1 'spine1' - - 0
1: name:here Ethernet1 -- name:spine0 Eth7|to leaf
1: name:here Ethernet1 -- name:spine1 Eth8
4: E0601 the neighbour at Ethernet2 is int, not an object
5: E0601 the neighbour at Ethernet3 has neither a name nor a chassis
""",
    ),
    "JSON that is cut": (
        "napalm",
        """\
{"a":
 [}""",
        """\
1: node name:here 'here' - - 0 heard
refused at 2: this is not JSON: Expecting value
    the capture is cut or mixed: capture it again
""",
    ),
    "JSON with a constant": (
        "napalm",
        """\
{"a": NaN}""",
        """\
1: node name:here 'here' - - 0 heard
refused at 1: this JSON is not readable: NaN is not a number
""",
    ),
    "JSON that is a list": (
        "napalm",
        """\
[1]""",
        """\
1: node name:here 'here' - - 0 heard
refused at 1: the capture is list, not an object
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_capture(name: str) -> None:
    reader, text, lines = CASES[name]
    assert read(reader, text) == [line for line in lines.split("\n") if line]


RECOGNISED = {
    "ibdiagnet": "ibdiagnet",
    "ibdiagnet tables": "ibdiagnet",
    "iblinkinfo": "iblinkinfo",
    "iblinkinfo of nothing": "",
    "ibnetdiscover": "ibnetdiscover",
    "ibnetdiscover -p": "ibnetdiscover",
    "ibnetdiscover of nothing": "",
    "p2p": "p2p",
    "p2p without headings": "",
    "p2p of nothing": "",
    "p2p that is no CSV": "p2p",
    "p2p as UFM's NDT": "p2p",
    "p2p with tabs": "p2p",
    "nxos": "nxos",
    "nxos, the short table": "nxos",
    "ptm": "ptm",
    "ufm": "ufm",
    "ufm of nothing": "",
    "ufm that is no list": "",
    "lldpd-text": "lldpd_text",
    "lldpd-text, key and value": "lldpd_text",
    "lldpd-text that is cut": "",
    "lldpd-text of nothing": "",
    "lldpd-text without neighbours": "",
    "lldpd": "lldpd",
    "lldpd of another form": "lldpd",
    "netbox": "netbox",
    "one page of netbox": "",
    "nvue": "nvue",
    "nvue, the table": "nvue",
    "nvue, a table that is cut": "nvue",
    "eos": "eos",
    "eos, a list": "eos",
    "sonic": "sonic",
    "sonic without its own name": "",
    "netq": "netq",
    "batfish": "batfish",
    "napalm": "napalm",
    "JSON that is cut": "",
    "JSON with a constant": "",
    "JSON that is a list": "",
}
READERS = (
    "batfish", "eos", "ibdiagnet", "iblinkinfo", "ibnetdiscover", "lldpd", "lldpd_text", "napalm", "netbox", "netq", "nvue",
    "nxos", "p2p", "ptm", "sonic", "ufm",
)  # fmt: skip


def recognising(text: str) -> str:
    return " ".join(r for r in READERS if import_module(f"tdsl.observe.readers.{r}").recognises(text))


@pytest.mark.parametrize("name", CASES)
def test_which_readers_recognise_a_capture(name: str) -> None:
    assert recognising(CASES[name][1]) == RECOGNISED[name]


def test_how_far_a_heading_is_looked_for() -> None:
    """The heading of a table is among its first 20 lines, a node of ibnetdiscover among 200."""
    table, node = "a_device;a_port;b_device;b_port", "vendid=0x2c9"
    assert [recognising("# x\n" * n + table) for n in (0, 1, 18, 19, 20, 21)] == ["p2p"] * 4 + ["", ""]
    assert [recognising("# x\n" * n + node) for n in (0, 198, 199, 200, 201)] == ["ibnetdiscover"] * 3 + ["", ""]


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (1, "2.5"), (2, "5"), (4, "10"), (256, "14"), (512, "25"), (1024, "50"), (2048, "100"), (65536, "10"), (16777216, "200"),
        (0, ""), (3, ""), (8, ""), (128, ""), (131072, ""), (4096, ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("width", "lanes"), [(1, 1), (2, 4), (4, 8), (8, 12), (16, 2), (0, 0), (3, 0), (32, 0)])
def test_speeds_and_widths_of_ibdiagnet(number: int, name: str, width: int, lanes: int) -> None:
    """Their numbers are bits, those of extended speeds shifted by 8, FDR10 by 16 and XDR by 24."""
    text = f"""\
START_NODES
NodeDesc,NodeType,NodeGUID
"a", 2, 0x00000000000000a1, more
"b",2,0x00000000000000b1
END_NODES
START_PORTS
NodeGuid,PortNum,LinkSpeedActv,LinkWidthActv
0x00000000000000a1,1,{number},{width}
END_PORTS
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x00000000000000a1,1,0x00000000000000b1,1
END_LINKS
"""
    rate = f" {float(name) * lanes:g} {lanes} 0" if name and lanes else ""
    assert read("ibdiagnet", text)[-2:] == [f"12: id:00000000000000a1 1 -- id:00000000000000b1 1{rate}", "whole"]


def test_a_line_of_ibdiagnet_that_is_no_csv() -> None:
    text = 'START_NODES\nNodeDesc,NodeType,NodeGUID\n"a"b,2,0x00000000000000a1\nEND_NODES\nSTART_LINKS\nEND_LINKS\n'
    assert read("ibdiagnet", text) == ["3: E0601 this line is not CSV", "    run ibdiagnet again", "whole"]
