"""Whole answers of ``show``, ``build``, ``check``, ``explore`` and ``compare`` on small designs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.run import tdsl

ONE = """\
model switch SA "a" { port p[1..4]: 400Gbps { type NDR; os "swp{i}" }; port q[0..1]: 100Gbps; height 1U; power 1kW }
model host HA { port nic[2]: 400Gbps { type NDR; cage 1 OSFP; netdev "eth{i}" }; power 2kW }
fabric f "Two" {
  switch leaf[2]: SA
  host n[3]: HA  # tdsl: allow(isolated until 2099-01-02) later
  connect n[i].nic[r] to leaf[r] where i < 2
  connect leaf[0].q[0] to leaf[1].q[1]  # tdsl: allow(rate_match) "so"
  address leaf loopback from 10.0.0.9/24
  address n[*].nic[r] links from "172.{16 + r}.0.0/24"
  address leaf[(1)] management from 192.168.0.10/24 { interface eth0; vrf mgmt }
  routing bgp { unnumbered; asn leaf[*] from 65_001 }
}
"""
FILES = {
    "one.fab": ONE,
    "d.fab": ONE + "fabric g { host h[2]: HA; connect h[0].nic[0] to h[1].nic[1] }\n",
    "new.fab": ONE.replace("i < 2", "i < 3"),
    "bad.fab": "fabric f { host n: NONE }\n",
    "req.fab": (
        "model host HA { port nic[2]: 400Gbps { type NDR } }\n"
        "model switch SA { port p[1..8]: 400Gbps { type NDR } }\n"
        "fabric r { switch leaf[2]: SA; host h[2]: HA; connect h[i].nic[k] to leaf[k]; connect leaf[0] to "
        "leaf[1] x 2\n"
        "  require reachability\n"
        "  require edge_redundancy >= 1\n"
        "}\n"
    ),
    "ph.fab": (
        "model host HA { port nic[4]: 400Gbps { type NDR } }\n"
        "model switch SA { port p[1..8]: 400Gbps { type NDR } }\n"
        "fabric f { param n: int = 2 where 1 <= n <= 4; switch leaf: SA; host h[n]: HA; connect "
        "h[i].nic[0] to leaf\n"
        '  phase 1 { n 2; needed "2027-03-01" }\n'
        "  phase 2 { n 3 }\n"
        "}\n"
    ),
    "one2.fab": (
        "model host HA { port nic[4]: 400Gbps { type NDR } }\n"
        "model switch SA { port p[1..8]: 400Gbps { type NDR } }\n"
        "fabric f { param n: int = 2 where 1 <= n <= 4; switch leaf: SA; host h[n]: HA; connect "
        "h[i].nic[0] to leaf\n"
        "}\n"
    ),
    "sc.txt": ("# x\nleaf[0]\n leaf[1], n[0] # y\n"),
    "sc2.txt": "none\n",
    "sc3.txt": "",
    "sc4.txt": ("leaf[0]\n\nleaf[0], leaf[1]  # both\nh[0], leaf[1]\nlink leaf[0] leaf[1]\n"),
}

CALLS: list[tuple[str, int, str, str | None]] = [
    (
        "show d.fab devices --format csv",
        0,
        (
            "fabric,device,path,kind,role,model,tier,plane,ports,links\n"
            "f,leaf0,leaf[0],switch,,SA,1,,6,3\n"
            "f,leaf1,leaf[1],switch,,SA,1,,6,3\n"
            "f,n0,n[0],host,,HA,0,,2,2\n"
            "f,n1,n[1],host,,HA,0,,2,2\n"
            "f,n2,n[2],host,,HA,0,,2,0\n"
            "g,h0,h[0],host,,HA,0,,2,1\n"
            "g,h1,h[1],host,,HA,0,,2,1\n"
        ),
        "",
    ),
    (
        "show one.fab devices",
        0,
        (
            "device  path     kind    role  model  tier  plane  ports  links\n"
            "leaf0   leaf[0]  switch        SA        1             6      3\n"
            "leaf1   leaf[1]  switch        SA        1             6      3\n"
            "n0      n[0]     host          HA        0             2      2\n"
            "n1      n[1]     host          HA        0             2      2\n"
            "n2      n[2]     host          HA        0             2      0\n"
        ),
        "",
    ),
    (
        "show d.fab ports --format csv",
        0,
        (
            "fabric,device,port,label,system,cage,rate_gbps,state,linked_to\n"
            "f,leaf0,p[1],p1,swp1,,400.0,used,n0 nic[0]\n"
            "f,leaf0,p[2],p2,swp2,,400.0,used,n1 nic[0]\n"
            "f,leaf0,p[3],p3,swp3,,400.0,free,\n"
            "f,leaf0,p[4],p4,swp4,,400.0,free,\n"
            "f,leaf0,q[0],q0,,,100.0,used,leaf1 q[1]\n"
            "f,leaf0,q[1],q1,,,100.0,free,\n"
            "f,leaf1,p[1],p1,swp1,,400.0,used,n0 nic[1]\n"
            "f,leaf1,p[2],p2,swp2,,400.0,used,n1 nic[1]\n"
            "f,leaf1,p[3],p3,swp3,,400.0,free,\n"
            "f,leaf1,p[4],p4,swp4,,400.0,free,\n"
            "f,leaf1,q[0],q0,,,100.0,free,\n"
            "f,leaf1,q[1],q1,,,100.0,used,leaf0 q[0]\n"
            "f,n0,nic[0],nic0,,OSFP 1,400.0,used,leaf0 p[1]\n"
            "f,n0,nic[1],nic1,,OSFP 2,400.0,used,leaf1 p[1]\n"
            "f,n1,nic[0],nic0,,OSFP 1,400.0,used,leaf0 p[2]\n"
            "f,n1,nic[1],nic1,,OSFP 2,400.0,used,leaf1 p[2]\n"
            "f,n2,nic[0],nic0,,OSFP 1,400.0,free,\n"
            "f,n2,nic[1],nic1,,OSFP 2,400.0,free,\n"
            "g,h0,nic[0],nic0,,OSFP 1,400.0,used,h1 nic[1]\n"
            "g,h0,nic[1],nic1,,OSFP 2,400.0,free,\n"
            "g,h1,nic[0],nic0,,OSFP 1,400.0,free,\n"
            "g,h1,nic[1],nic1,,OSFP 2,400.0,used,h0 nic[0]\n"
        ),
        "",
    ),
    (
        "show d.fab links --format csv",
        0,
        (
            "fabric,a_device,a_port,b_device,b_port,rate_gbps,class,medium,via\n"
            "f,leaf0,q[0],leaf1,q[1],100.0,leaf-leaf,cable,\n"
            "f,n0,nic[0],leaf0,p[1],400.0,host-leaf,cable,\n"
            "f,n0,nic[1],leaf1,p[1],400.0,host-leaf,cable,\n"
            "f,n1,nic[0],leaf0,p[2],400.0,host-leaf,cable,\n"
            "f,n1,nic[1],leaf1,p[2],400.0,host-leaf,cable,\n"
            "g,h0,nic[0],h1,nic[1],400.0,host-host,cable,\n"
        ),
        "",
    ),
    (
        "show d.fab cables --format csv",
        0,
        (
            "fabric,cable,leg,a_device,a_port,b_device,b_port,links,class\n"
            "f,0,,leaf0,q[0],leaf1,q[1],1,leaf-leaf\n"
            "f,1,,n0,nic[0],leaf0,p[1],1,host-leaf\n"
            "f,2,,n0,nic[1],leaf1,p[1],1,host-leaf\n"
            "f,3,,n1,nic[0],leaf0,p[2],1,host-leaf\n"
            "f,4,,n1,nic[1],leaf1,p[2],1,host-leaf\n"
            "g,0,,h0,nic[0],h1,nic[1],1,host-host\n"
        ),
        "",
    ),
    (
        "show d.fab addresses --format csv",
        0,
        (
            "fabric,device,kind,interface,address,network,vrf,peer,asn,file,line\n"
            "f,leaf0,asn,,,,,,65001,d.fab,11\n"
            "f,leaf0,loopback,,10.0.0.9/32,10.0.0.0/24,,,,d.fab,8\n"
            "f,leaf1,asn,,,,,,65002,d.fab,11\n"
            "f,leaf1,loopback,,10.0.0.10/32,10.0.0.0/24,,,,d.fab,8\n"
            "f,leaf1,management,eth0,192.168.0.10/24,192.168.0.0/24,mgmt,,,d.fab,10\n"
            "f,n0,link,eth0,172.16.0.0/31,172.16.0.0/24,,leaf0 p[1],,d.fab,9\n"
            "f,leaf0,link,swp1,172.16.0.1/31,172.16.0.0/24,,n0 nic[0],,d.fab,9\n"
            "f,n0,link,eth1,172.17.0.0/31,172.17.0.0/24,,leaf1 p[1],,d.fab,9\n"
            "f,leaf1,link,swp1,172.17.0.1/31,172.17.0.0/24,,n0 nic[1],,d.fab,9\n"
            "f,n1,link,eth0,172.16.0.2/31,172.16.0.0/24,,leaf0 p[2],,d.fab,9\n"
            "f,leaf0,link,swp2,172.16.0.3/31,172.16.0.0/24,,n1 nic[0],,d.fab,9\n"
            "f,n1,link,eth1,172.17.0.2/31,172.17.0.0/24,,leaf1 p[2],,d.fab,9\n"
            "f,leaf1,link,swp2,172.17.0.3/31,172.17.0.0/24,,n1 nic[1],,d.fab,9\n"
        ),
        "",
    ),
    (
        "show d.fab waivers --format csv",
        0,
        ('file,line,finding,until,state,reason\nd.fab,5,isolated,2099-01-02,used,later\nd.fab,7,rate_match,,unused,"""so"""\n'),
        "",
    ),
    ("show bad.fab waivers --format csv", 0, "file,line,finding,until,state,reason\n", ""),
    (
        "show d.fab summary --format csv",
        0,
        (
            "fabric,figure,value\n"
            "f,hosts,3\n"
            "f,other_hosts,0\n"
            "f,accelerators,0\n"
            "f,endpoints,4\n"
            "f,other_endpoints,0\n"
            "f,switches,2\n"
            "f,tiers.leaf,2\n"
            "f,planes,1\n"
            "f,rails,1\n"
            "f,links.total,5\n"
            "f,links.classes.host-leaf,4\n"
            "f,links.classes.leaf-leaf,1\n"
            "f,cables.total,5\n"
            "f,cables.classes.host-leaf,4\n"
            "f,cables.classes.leaf-leaf,1\n"
            "f,injection_bps,1600000000000.0\n"
            "g,hosts,2\n"
            "g,other_hosts,0\n"
            "g,accelerators,0\n"
            "g,endpoints,2\n"
            "g,other_endpoints,0\n"
            "g,switches,0\n"
            "g,planes,1\n"
            "g,rails,1\n"
            "g,links.total,1\n"
            "g,links.classes.host-host,1\n"
            "g,cables.total,1\n"
            "g,cables.classes.host-host,1\n"
            "g,injection_bps,800000000000.0\n"
        ),
        "",
    ),
    (
        "show one.fab cables",
        0,
        (
            "cable  leg  a_device  a_port  b_device  b_port  links  class\n"
            "    0       leaf0     q[0]    leaf1     q[1]        1  leaf-leaf\n"
            "    1       n0        nic[0]  leaf0     p[1]        1  host-leaf\n"
            "    2       n0        nic[1]  leaf1     p[1]        1  host-leaf\n"
            "    3       n1        nic[0]  leaf0     p[2]        1  host-leaf\n"
            "    4       n1        nic[1]  leaf1     p[2]        1  host-leaf\n"
        ),
        "",
    ),
    ("show d.fab graph", 2, "", "a graph is of one fabric, and this file has several (f, g): give each a file of its own"),
    ("show one.fab graph --format csv", 2, "", "`show FILE graph` has no format csv: it has graphml, json, gexf"),
    ("show one.fab links --format gexf", 2, "", "`show FILE links` has no format gexf: it has table, csv, json"),
    ("show one.fab links -o x", 2, "", "-o is of `show FILE graph`; send other output to a file with >"),
    ("show one.fab length", 2, "", "`show FILE length CABLE` names one cable; other tables name none"),
    ("show one.fab links leaf0", 2, "", "`show FILE length CABLE` names one cable; other tables name none"),
    ("show one.fab length leaf0", 2, "", "there is no cable 'leaf0'; did you mean 'leaf0:q0'?"),
    ("show one.fab length xyz", 2, "", "there is no cable 'xyz'"),
    (
        "show one.fab length leaf0:q0",
        2,
        "",
        "no device of this design has a place: add `hall` and `place`, or give a table with --places",
    ),
    ("show one.fab racks", 2, "", "no device of this design has a place: add `hall` and `place`, or give a table with --places"),
    (
        "show d.fab places --format csv",
        0,
        ("fabric,device,hall,row,rack,unit\nf,leaf0,,,,\nf,leaf1,,,,\nf,n0,,,,\nf,n1,,,,\nf,n2,,,,\ng,h0,,,,\ng,h1,,,,\n"),
        "",
    ),
    ("show bad.fab devices", 1, "device  path  kind  role  model  tier  plane  ports  links\n", None),
    ("build one.fab --option x=1", 2, "", "--option x=1: write `--option x.NAME=1`"),
    (
        "build one.fab --option sonic=1",
        2,
        "",
        "--option sonic=1: write `--option sonic.NAME=1`; NAME is one of aggregate, dynamic_th",
    ),
    (
        "build one.fab --option cabling.x=1",
        2,
        "",
        "--option cabling.x=1: there is no option `x`; there are workbook_rows, sheet_labels",
    ),
    (
        "build one.fab --option none.x=1",
        2,
        "",
        "--option none.x: there is no target 'none'; write TARGET.NAME=VALUE, such as eos.queue=uc-tx-queue",
    ),
    ("build one.fab --only zz", 2, "", "--only `zz` means no device of f; patterns are such as 'su[0..1].*' or 'spine[3]'"),
    (
        "build d.fab --only leaf --only zz",
        2,
        "",
        "--only `zz` means no device of g; patterns are such as 'su[0..1].*' or 'spine[3]'",
    ),
    ("build one.fab --out d.fab/x", 2, "", "--out d.fab/x: d.fab is a file, not a folder"),
    ("build one.fab --target cablin", 2, "", "there is no target 'cablin'; did you mean 'cabling'?"),
    ("check one.fab --scenarios sc.txt", 0, "2 of 2 scenarios keep every requirement of f\n", ""),
    (
        "check one.fab d.fab --scenarios sc.txt",
        0,
        ("2 of 2 scenarios keep every requirement of f\n2 of 2 scenarios keep every requirement of f\n"),
        "",
    ),
    ("check one.fab --scenarios sc2.txt", 2, "", "sc2.txt:1: there is no device or group `none` here; known here: `leaf`, `n`"),
    ("check one.fab --scenarios sc3.txt", 2, "", "sc3.txt names no scenario: write one a line, its elements separated by commas"),
    (
        "check one.fab --scenarios sc.txt --all-params",
        2,
        "",
        "--scenarios judges failures alone: no --certificates, --all-params, --second-opinion or --report",
    ),
    ("check one.fab --scenarios sc.txt --output-format sarif", 2, "", "--scenarios reports as full, concise, json"),
    (
        "check one.fab --scenarios sc.txt --fail none",
        2,
        "",
        "--fail: there is no device or group `none` here; known here: `leaf`, `n`",
    ),
    ("check bad.fab --scenarios sc.txt", 1, "", None),
    (
        "check one.fab --all-params --certificates c",
        2,
        "",
        "certificates are for one design: give --set instead of --all-params, and no --fail",
    ),
    (
        "check one.fab --fail leaf[0] --certificates c",
        2,
        "",
        "certificates are for one design: give --set instead of --all-params, and no --fail",
    ),
    (
        "check one.fab --all-params --second-opinion",
        2,
        "",
        "a second opinion is of one design: give --set instead of --all-params",
    ),
    ("check one.fab --second-opinion-dir c", 2, "", "--second-opinion-dir needs --second-opinion"),
    ("check one.fab --cluster tcp://x", 2, "", "--cluster needs --all-params"),
    ("check one.fab --unsafe", 2, "", "--unsafe needs --fix or --diff"),
    (
        "check req.fab --scenarios sc4.txt",
        1,
        (
            "sc4.txt:3: error[E0401] reachability: `reachability` cannot be judged: there is no device that "
            "traffic could begin at, without leaf[0], leaf[1]\n"
            "sc4.txt:3: error[E0406] edge_redundancy: `edge_redundancy >= 1` cannot be judged: there are fewer "
            "than two hosts, without leaf[0], leaf[1]\n"
            "sc4.txt:4: error[E0406] edge_redundancy: `edge_redundancy >= 1` cannot be judged: there are fewer "
            "than two hosts, without h[0], leaf[1]\n"
            "2 of 4 scenarios keep every requirement of r; in 2 of them not all that is asked was judged\n"
        ),
        "",
    ),
    ("explore ph.fab --vary n=2..1", 2, "", "2..1 is an empty range"),
    ("explore ph.fab --vary n=1 --vary n=2", 2, "", "--vary names a parameter twice; give all its values at once"),
    ("explore ph.fab --vary n=1..257", 2, "", "these are 257 combinations, and 256 are tried at most"),
    (
        "explore ph.fab --vary n=1 --x weight",
        2,
        "",
        (
            "there is no figure 'weight'; figures: hosts, accelerators, switches, links, cables, cable_km, "
            "power_kw, network_power_kw, optics_kw, watts_per_gpu, cost, network_cost, cost_per_gpu, "
            "network_power_share, optics_share_of_network_power, network_cost_share, network_watts_per_tbps, "
            "network_cost_per_tbps, bisection, oversubscription, diameter, edge_redundancy"
        ),
    ),
    (
        "explore one2.fab --vary n=1..3 --x links --y hosts --format markdown",
        0,
        (
            "| n | best | hosts | accelerators | switches | links | cables | bisection | diameter | "
            "edge_redundancy |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            "| 1 |  | 1 | 0 | 1 | 1 | 1 |  | 0 |  |\n"
            "| 2 |  | 2 | 0 | 1 | 2 | 2 | 100% | 0 | 1 |\n"
            "| 3 | yes | 3 | 0 | 1 | 3 | 3 | 100% | 0 | 1 |\n"
        ),
        "",
    ),
    (
        "explore one2.fab --vary n=1,2,2,5 --x links --y hosts --format csv",
        0,
        (
            "n,best,hosts,accelerators,switches,links,cables,bisection,diameter,edge_redundancy,errors\n"
            "1,,1,0,1,1,1,,0,,\n"
            "2,yes,2,0,1,2,2,100%,0,1,\n"
            "5,,,,,,,,,,E0110\n"
        ),
        (
            "1 of 3 combinations are not judged: they have errors, or links or hosts is unknown or a bound; "
            "--x and --y name other figures"
        ),
    ),
    (
        "explore one2.fab --vary n=5 --x links --y hosts",
        1,
        ("n  errors\n5  E0110\n"),
        (
            "1 of 1 combinations are not judged: they have errors, or links or hosts is unknown or a bound; "
            "--x and --y name other figures"
        ),
    ),
    (
        "compare one.fab new.fab --format csv",
        0,
        (
            "figure,f (1),f (2)\n"
            "hosts,3,3\n"
            "accelerators,0,0\n"
            "switches,2,2\n"
            "links,5,7\n"
            "cables,5,7\n"
            "power_kw,>=8,>=8\n"
            "network_power_kw,>=2,>=2\n"
            "network_watts_per_tbps,,>=2500\n"
            "bisection,,100%\n"
            "diameter,1,1\n"
            "edge_redundancy,0,2\n"
        ),
        "",
    ),
]


@pytest.mark.parametrize(("call", "status", "out", "err"), CALLS, ids=[c[0] for c in CALLS])
def test_a_call(call: str, status: int, out: str, err: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit status, all of stdout, and the message on stderr; findings on stderr are not compared where it is None."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    done = tdsl(*shlex.split(call))
    assert (done.exit_code, done.stdout) == (status, out)
    if err is not None:
        said = next((line.removeprefix("Error: ") for line in done.stderr.splitlines() if line.startswith("Error: ")), "")
        assert (said or done.stderr.rstrip("\n").split("\n")[-1]) == err
