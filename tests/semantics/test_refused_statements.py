"""Statements that are refused: the code, the text that is underlined, the message and the help of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import refused

ASN = "write `asn leaf[*] from 4_200_000_000`"
LOOPBACK = "write `loopback from 10.255.0.0/16`"
ROLES = "known here: `accelerator`, `manager`, `storage`"
GROUP = "group g[2] { switch b[2]: SW; connect b[*] each }"

IN_FABRIC = [
    ("routing bgp { asn a[*] to 65000 }", "E0120", "asn a[*] to 65000", "an asn names devices and a number", ASN),
    ("routing bgp { asn a[*] }", "E0120", "asn a[*]", "an asn names devices and a number", ASN),
    ("routing bgp { asn 65000 }", "E0120", "65000", "expected a path to devices", ASN),
    ("override a[0] { hostname x }", "E0118", "hostname", "there is no setting of an override `hostname` here",
     "known here: `address`, `asn`"),
    ("override a[0] { asn 5, 6 }", "E0120", "asn 5, 6", "`asn` in an override has one value", ""),
    ("address", "E0120", "address", "`address` names no device", "write `address leaf[*] loopback from 10.255.0.0/16`"),
    ("address a[*]", "E0120", "address a[*]", "`address` does not say what it addresses", LOOPBACK),
    ("address a[*] loopback", "E0120", "address a[*] loopback", "`address` does not say what it addresses, and from where",
     LOOPBACK),
    ("address a[*] lopback from 10.0.0.0/16", "E0101", "lopback", "there is no kind of address `lopback` here",
     "did you mean `loopback`?"),
    (f"{GROUP}; naming g \"x\"", "E0120", "g", "a naming names devices, and this is a group", ""),
    (f"{GROUP}; override g[0]: BIG", "E0120", "g[0]", "an override names devices, not a group", ""),
    (f"{GROUP}; connect g to a", "E0120", "g", "`g` is a group; cables join devices", "name a device in it"),
    ("override a[0]", "E0120", "override a[0]", "an override says which model replaces the one declared",
     "`override leaf[3]: MODEL`"),
    ("override a[0]: BIG { asn 3 }", "E0118", "asn 3", "an override takes a model only", ""),
    ("group g[2]: SW { switch b[2]: SW; connect b[*] each }", "E0120", "SW", "a group has a block, not a model",
     "write `group g[…] { … }`"),
    ("extend a[0] { connect a[0] to a[1] }", "E0120", "a[0]", "extend adds to a group or a fabric, and this is a device", ""),
    ("layer nowhere", "E0120", "layer nowhere", "a fabric's layer is `scaleup`, or not written",
     "write `layer scaleup`, or leave the line out"),
    ("layer", "E0120", "layer", "a fabric's layer is `scaleup`, or not written",
     "write `layer scaleup`, or leave the line out"),
    ("group g { layer scaleup; switch b[2]: SW; connect b[*] each }", "E0120", "layer scaleup",
     "a fabric's layer is `scaleup`, or not written", "write `layer scaleup`, or leave the line out"),
    ("roce { priority 3 }; roce { priority 4 }", "E0104", "roce { priority 4 }", "`roce` is given twice", ""),
    ("routing bgp; routing bgp", "E0104", "routing bgp", "`routing` is given twice", ""),
    ("units 4", "E0117", "units", "`units` counts scalable units, which this version reads and does not build",
     "use a param and `--set`"),
    ("group g[2] { param x: int = 3; switch b[2]: SW; connect b[*] each }", "E0120", "param x: int = 3",
     "a param belongs to the fabric or the file", "use `let` inside a group"),
    ("group g[2] { nos sonic; switch b[2]: SW; connect b[*] each }", "E0118", "nos sonic",
     "`nos` belongs to a fabric, to switches or to a model",
     "write it in the block of the fabric, or in the braces of the switches: `switch leaf: MODEL { nos sonic }`"),
    ("omit a()", "E0120", "()", "a path cannot be called; indices are written in square brackets", ""),
    ("omit a[0][1]", "E0120", "[1]", "expected a name", ""),
    ("omit a[0].p[1]", "E0120", "p", "expected a path to devices, not to their ports", ""),
    ("connect a[0].p[1][2] to a[1]", "E0120", "[2]", "nothing follows a port", ""),
    ("connect a[0].p[1].x to a[1]", "E0120", "x", "nothing follows a port", ""),
    ("host b: BOX { nos sonic }; connect b to a[0]", "E0118", "nos sonic", "a host has no network operating system",
     "switches have one"),
    ("host b: BOX { role king }; connect b to a[0]", "E0101", "king", "there is no role `king` here", ROLES),
    ("host b: BOX { spares }; connect b to a[0]", "E0120", "spares", "say how many are spares",
     "`spares 8`: the last eight of each group"),
    ("switch b: SW { connect x to y }; connect b to a[0]", "E0118", "connect x to y", "a device's braces hold settings only",
     "known: `forwards`, `nos`, `role`, `spares`, `split`"),
    ("let x = range", "E0101", "range", "there is no value `range` here", "a range is written `0..3`, both ends included"),
    ('let x = "{5:012345}"', "E0116", "{5:012345}", "the format `012345` makes too many characters", ""),
    ('let x = "{200:c}"', "E0120", "{200:c}", "the format `c` makes the character 200, which no file of devices takes",
     "it makes letters, digits and marks of ASCII, 32 to 126; write others in the text itself"),
]  # fmt: skip

IN_CONNECT = [
    ("rate", "E0120", "rate", "`rate` needs a value", ""),
    ("rate 0Gbps", "E0120", "0Gbps", "a rate must be greater than zero", ""),
    ("length 0m", "E0120", "0m", "a length must be greater than zero", ""),
    ('rate "{i}G"', "E0120", '"{i}G"', "`rate` is the same for all links of a connect; it has no placeholders", ""),
    ("optic A, B, C", "E0120", "optic A, B, C", "a cable has two ends", "`optic A, B`, or `optic A` for both"),
    ("rate 400Gbps; rate 200Gbps", "E0104", "rate 200Gbps", "`rate` is set twice", ""),
    ("connect a[0] to a[1]", "E0118", "connect a[0] to a[1]", "a connect's braces hold settings only", ""),
    ("bundle", "E0120", "bundle", "`bundle` needs a value", ""),
]

Case = tuple[str, str, str, str, str]


@pytest.mark.parametrize("case", IN_FABRIC, ids=lambda c: c[0])
def test_a_statement_of_a_fabric(case: Case, tmp_path: Path) -> None:
    """One finding, at the part that is wrong."""
    refused(f"fabric f {{\n  switch a[4]: SW\n  connect a[*] ring\n  {case[0]}\n}}\n", case, tmp_path)


@pytest.mark.parametrize("case", IN_CONNECT, ids=lambda c: c[0])
def test_a_setting_of_a_connect(case: Case, tmp_path: Path) -> None:
    """One finding, at the part that is wrong."""
    refused(f"fabric f {{\n  switch a[4]: SW\n  connect a[*] ring {{ {case[0]} }}\n}}\n", case, tmp_path)
