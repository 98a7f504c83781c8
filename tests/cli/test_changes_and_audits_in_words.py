"""Whole answers of ``diff``, ``plan`` and ``audit`` on small designs."""

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
    "other.fab": "model switch SB { port p[1..4]: 400Gbps { type NDR }; port q[0..1]: 100Gbps; power 1kW }\n"
    + ONE.replace("leaf[2]: SA", "leaf[2]: SB"),
    "e.fab": ONE.replace("fabric f", "fabric e"),
    "bad.fab": "fabric f { host n: NONE }\n",
    "ph.fab": (
        "model host HA { port nic[4]: 400Gbps { type NDR } }\n"
        "model switch SA { port p[1..8]: 400Gbps { type NDR } }\n"
        "fabric f { param n: int = 2 where 1 <= n <= 4; switch leaf: SA; host h[n]: HA; connect "
        "h[i].nic[0] to leaf\n"
        '  phase 1 { n 2; needed "2027-03-01" }\n'
        "  phase 2 { n 3 }\n"
        "}\n"
    ),
    "p2p.csv": (
        "a_device,a_port,b_device,b_port\n"
        "leaf0,p[1],n0,nic[0]\n"
        "leaf0,p[2],n1,nic[0]\n"
        "leaf1,p[1],n0,nic[1]\n"
        "leaf1,p[2],n1,nic[1]\n"
    ),
}

CALLS: list[tuple[str, int, str, str | None]] = [
    (
        "diff one.fab new.fab --no-checks",
        0,
        (
            "f\n"
            "  cables: 2 new (host-leaf 2); no existing cable moves\n"
            "\n"
            "  figures\n"
            "  ~ endpoints 4 → 6 (+2)\n"
            "  ~ links 5 → 7 (+2)\n"
            "  ~ links host-leaf 4 → 6 (+2)\n"
            "  ~ cables 5 → 7 (+2)\n"
            "  ~ cables host-leaf 4 → 6 (+2)\n"
            "  ~ injection 1.6 Tbps → 2.4 Tbps\n"
            "\n"
            "  cables: +2 new\n"
            "  + n2 nic0 to leaf0 p3 (host-leaf)\n"
            "  + n2 nic1 to leaf1 p3 (host-leaf)\n"
            "\n"
            "  addresses\n"
            "  ~ n[2].nic[0] IPv4 none → 172.16.0.4/31\n"
            "  ~ leaf[0].p[3] IPv4 none → 172.16.0.5/31\n"
            "  ~ n[2].nic[1] IPv4 none → 172.17.0.4/31\n"
            "  ~ leaf[1].p[3] IPv4 none → 172.17.0.5/31\n"
        ),
        "",
    ),
    ("diff one.fab one.fab --detailed-exitcode", 0, "f  no difference\n", ""),
    (
        "diff one.fab new.fab --no-checks --detailed-exitcode",
        3,
        (
            "f\n"
            "  cables: 2 new (host-leaf 2); no existing cable moves\n"
            "\n"
            "  figures\n"
            "  ~ endpoints 4 → 6 (+2)\n"
            "  ~ links 5 → 7 (+2)\n"
            "  ~ links host-leaf 4 → 6 (+2)\n"
            "  ~ cables 5 → 7 (+2)\n"
            "  ~ cables host-leaf 4 → 6 (+2)\n"
            "  ~ injection 1.6 Tbps → 2.4 Tbps\n"
            "\n"
            "  cables: +2 new\n"
            "  + n2 nic0 to leaf0 p3 (host-leaf)\n"
            "  + n2 nic1 to leaf1 p3 (host-leaf)\n"
            "\n"
            "  addresses\n"
            "  ~ n[2].nic[0] IPv4 none → 172.16.0.4/31\n"
            "  ~ leaf[0].p[3] IPv4 none → 172.16.0.5/31\n"
            "  ~ n[2].nic[1] IPv4 none → 172.17.0.4/31\n"
            "  ~ leaf[1].p[3] IPv4 none → 172.17.0.5/31\n"
        ),
        "",
    ),
    ("diff one.fab bad.fab", 1, "", "bad.fab has errors that leave nothing to compare"),
    ("diff d.fab e.fab", 2, "", "no fabric has the same name in both: OLD has `f`, `g`, NEW has `e`"),
    ("diff one.fab", 2, "", "one.fab has no two phases to compare; name a second design"),
    (
        "diff ph.fab --no-checks",
        0,
        (
            "f, phase 1 to phase 2\n"
            "  contract: 1 parameter changed\n"
            "  cables: 1 new (host-leaf 1); no existing cable moves\n"
            "\n"
            "  parameters\n"
            "  ~ n 2 → 3\n"
            "\n"
            "  figures\n"
            "  ~ hosts 2 → 3 (+1)\n"
            "  ~ endpoints 2 → 3 (+1)\n"
            "  ~ links 2 → 3 (+1)\n"
            "  ~ links host-leaf 2 → 3 (+1)\n"
            "  ~ cables 2 → 3 (+1)\n"
            "  ~ cables host-leaf 2 → 3 (+1)\n"
            "  ~ injection 0.8 Tbps → 1.2 Tbps\n"
            "\n"
            "  devices\n"
            "  + h[2] (HA)\n"
            "\n"
            "  cables: +1 new\n"
            "  + h2 nic0 to leaf p3 (host-leaf)\n"
        ),
        "",
    ),
    ("diff ph.fab --no-checks --detailed-exitcode --set-new n=2", 0, "f, phase 1 to phase 2  no difference\n", ""),
    ("diff ph.fab --phase 1", 2, "", "--phase takes one phase, and without NEW each is compared with the next"),
    (
        "diff one.fab new.fab --steps --no-checks",
        0,
        (
            "f\n"
            "  cables: 2 new (host-leaf 2); no existing cable moves\n"
            "\n"
            "  figures\n"
            "  ~ endpoints 4 → 6 (+2)\n"
            "  ~ links 5 → 7 (+2)\n"
            "  ~ links host-leaf 4 → 6 (+2)\n"
            "  ~ cables 5 → 7 (+2)\n"
            "  ~ cables host-leaf 4 → 6 (+2)\n"
            "  ~ injection 1.6 Tbps → 2.4 Tbps\n"
            "\n"
            "  cables: +2 new\n"
            "  + n2 nic0 to leaf0 p3 (host-leaf)\n"
            "  + n2 nic1 to leaf1 p3 (host-leaf)\n"
            "\n"
            "  addresses\n"
            "  ~ n[2].nic[0] IPv4 none → 172.16.0.4/31\n"
            "  ~ leaf[0].p[3] IPv4 none → 172.16.0.5/31\n"
            "  ~ n[2].nic[1] IPv4 none → 172.17.0.4/31\n"
            "  ~ leaf[1].p[3] IPv4 none → 172.17.0.5/31\n"
            "\n"
            "order of moves, bisection never below 75% (before: 100%)\n"
            "  1. unplug 0, plug 2, then 100%\n"
            "     + n2 nic0 to leaf0 p3\n"
            "     + n2 nic1 to leaf1 p3\n"
            "  then into service: n[2]; bisection 100%\n"
        ),
        "",
    ),
    (
        "diff one.fab other.fab --steps --no-checks",
        1,
        (
            "f\n"
            "  no cable changes\n"
            "\n"
            "  devices\n"
            "  ~ leaf[0] SA → SB\n"
            "  ~ leaf[1] SA → SB\n"
            "\n"
            "order of moves, bisection never below 75%\n"
            "  no order was found; that there is none is not proved: a device keeps its place and becomes "
            "another\n"
            "  model: exchange it by itself\n"
        ),
        "",
    ),
    ("diff one.fab new.fab --steps --floor 101%", 2, "", "Invalid value for '--floor': '101%' is not such as 'bisection >= 75%'"),
    ("diff one.fab none.fab", 2, "", "there is no file none.fab; did you mean `one.fab`?"),
    (
        "plan one.fab new.fab",
        0,
        (
            "f: 2 cables to lay, 0 to move, 0 to remove: 0% of 5 change\n"
            "order of moves, bisection never below 75% (before: 100%)\n"
            "  1. unplug 0, plug 2, then 100%\n"
            "     + n2 nic0 to leaf0 p3\n"
            "     + n2 nic1 to leaf1 p3\n"
            "  then into service: n[2]; bisection 100%\n"
        ),
        "new.fab.lock is written: 7 links",
    ),
    (
        "plan one.fab new.fab --no-lock --format csv",
        0,
        (
            "step,action,hall,row,rack,u,device,port,from,to,length,part,bisection\n"
            "1,plug,,,,,n2,nic0,,leaf0 p3,,,100%\n"
            "1,plug,,,,,n2,nic1,,leaf1 p3,,,100%\n"
            "2,into service,,,,,n[2],,,,,,100%\n"
        ),
        "",
    ),
    ("plan one.fab bad.fab", 1, "", "bad.fab has errors, so nothing is planned"),
    ("plan bad.fab one.fab", 1, "", "bad.fab has errors, so nothing is planned"),
    ("plan one.fab new.fab -o x.txt", 2, "", "x.txt: the work is written as .csv or .xlsx"),
    ("plan one.fab new.fab --keep diameter", 2, "", "--keep diameter: f has no requirement on it; it has none"),
    (
        "plan one.fab other.fab --no-lock",
        1,
        (
            "f: 0 cables to lay, 0 to move, 0 to remove: 0% of 5 change\n"
            "order of moves, bisection never below 75%\n"
            "  no order was found; that there is none is not proved: a device keeps its place and becomes "
            "another\n"
            "  model: exchange it in a change of its own\n"
        ),
        "",
    ),
    ("plan one.fab d.fab", 2, "", "OLD and NEW have other fabrics: g"),
    (
        "plan one.fab one.fab",
        0,
        (
            "f: 0 cables to lay, 0 to move, 0 to remove: 0% of 5 change\n"
            "order of moves, bisection never below 75% (before: 100%)\n"
            "  nothing to move\n"
        ),
        ("one.fab.lock is not written: it is the lock of OLD, too; `tdsl lock one.fab` records NEW once it is cabled"),
    ),
    (
        "audit one.fab",
        2,
        "",
        ("give a capture: --ibnetdiscover FILE, --iblinkinfo FILE, --ibdiagnet DIR, --ufm FILE, --lldp PATH or --p2p FILE"),
    ),
    ("audit one.fab --p2p p2p.csv -o x.txt", 2, "", "x.txt: the work list is written as .csv or .xlsx"),
    (
        "audit one.fab --p2p p2p.csv --no-requirements --format markdown",
        1,
        (
            "### f\n"
            "\n"
            "f: 4 of 5 links are cabled as designed; 1 fault: 1 cable_missing\n"
            "\n"
            "| finding | what | what to do | capture |\n"
            "|---|---|---|---|\n"
            "| E0625 cable_missing | no link is seen on the cable leaf0 q0 to leaf1 q1 | plug a cable from "
            "leaf0 q0 to leaf1 q1, or reseat it | one.fab:7 |\n"
        ),
        "",
    ),
    ("audit bad.fab --p2p p2p.csv", 1, "", "bad.fab: the design has errors, so nothing is compared"),
    ("audit one.fab --p2p p2p.csv --ticket A", 2, "", "--reason goes with --accept FILE, and --ticket and --until with --reason"),
    (
        "audit one.fab --p2p p2p.csv --until 2098-01-01",
        2,
        "",
        "--reason goes with --accept FILE, and --ticket and --until with --reason",
    ),
    ("audit one.fab --p2p p2p.csv --reason A", 2, "", "--reason goes with --accept FILE, and --ticket and --until with --reason"),
    (
        "audit one.fab --p2p p2p.csv --accept none.txt",
        2,
        "",
        "none.txt: there is no such list; with --reason TEXT one is written",
    ),
    (
        "audit one.fab --p2p p2p.csv --accept none.txt --ticket A",
        2,
        "",
        "--reason goes with --accept FILE, and --ticket and --until with --reason",
    ),
    (
        "audit one.fab --p2p p2p.csv --accept none.txt --reason a[b",
        2,
        "",
        "--reason and --ticket are one line of text without brackets and `#`",
    ),
    (
        "audit one.fab --p2p p2p.csv --accept none.txt --reason a --ticket 'b#'",
        2,
        "",
        "--reason and --ticket are one line of text without brackets and `#`",
    ),
    (
        "audit one.fab --p2p p2p.csv --accept none.txt --reason ' '",
        2,
        "",
        "--reason and --ticket are one line of text without brackets and `#`",
    ),
    (
        "audit one.fab --p2p p2p.csv --accept none.txt --reason ''",
        2,
        "",
        "--reason and --ticket are one line of text without brackets and `#`",
    ),
    ("audit one.fab --p2p p2p.csv --map '(=x'", 2, "", "'(=x': missing ), unterminated subpattern at position 0"),
    (
        "audit one.fab --p2p p2p.csv --only zz",
        2,
        "",
        "`zz` means no device of f; patterns are such as 'su[0..1].*' or 'spine[3]'",
    ),
    (
        "audit one.fab --p2p p2p.csv --only n[0] --no-requirements --format csv",
        0,
        "step,hall,row,rack,u,device,port,action,connected_to,planned,cable_id,finding,code,message\n",
        "",
    ),
    (
        "audit one.fab --p2p p2p.csv --no-requirements --format csv",
        1,
        (
            "step,hall,row,rack,u,device,port,action,connected_to,planned,cable_id,finding,code,message\n"
            "1,,,,,leaf0,q0,plug the cable to leaf1 q1,,leaf1 q1,leaf0:q0,1,E0625 cable_missing,no link is "
            "seen on the cable leaf0 q0 to leaf1 q1\n"
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
