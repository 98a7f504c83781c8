"""What statements refuse, with the place that they point at: one wrong statement at a time, in a design that stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tests.conftest import Golden

MODELS = """\
model host H { port nic[2]: 100Gbps { type GE } }
model switch S { port p[8]: 100Gbps { type GE } }
"""
FABRIC = """\
fabric f {
  host h[4]: H
  switch s[2]: S
  connect h[i].nic[r] to s[r]
  HERE
}
"""
IN_A_FABRIC = """\
routing bgp { asn s[*] 1 }; connect s[0] to s[1]
routing bgp { asn s[*] from 0 }
routing bgp { asn s[*] from 65_534 }
connect s[0] to s[1] { if true { rate 100Gbps } }
connect s[0] to s[1] { let a = 5 }
connect h[i].nic[0..i] to s[*] each
connect h[i].nic[1..0] to s[*] each
connect s[0].p[9] to s[1]; connect s[*] spread
connect s[0] to s[1] { rate 100Gbps, 50Gbps }
asn s[0] { }
asn
override s[0] { hall h }
override s[0] { for i in 0..1 { asn 5 } }
override s[0] { asn 5, 6 }
override s[0] { address links 10.0.0.0/31 }
address 5 loopback from 10.0.0.0/24
address loopback from 10.0.0.0/24
address s[*] from 10.0.0.0/24
address s[*] loopback from 10.0.0.0/24, 10.1.0.0/24
address s[*] loopback from 10.0.0.0/24 { for i in 0..1 { vrf a } }
address s[*] loopback from 10.0.0.0/24 { gateway 5 }
address s[*] management from 10.0.0.0/24 { vrf 5 }
address s[*] links from 10.0.0.0/24 to 5
let a = max(1, "x")
let a = max(1, 2m)
let a = max([])
let a = len(5)
let a = sum([1m, 2kg])
let a = product([1m])
let a = sum(0..2_000_000)
let a = sort(["a", 1])
let a = primes("x")
let a = primes(2_000_000)
let a = gf_mul(6, 1, 1)
let a = gf_mul(5, 7, 1)
let a = gf_pow(5, 2, -1)
let a = refuse(1)
let a = 1 + true
let a = not 5
let a = -true
let a = 0..true
let a = [x for x in 5]
let a = 1m + 1kg
let a = 1m < 1kg
let a = 2 ** (1 / 2)
let a = 2 ** 100_000
let a = 0 ** -1
let a = 1 == "x"
param a: colour = 1
partition
partition a
partition a 0x0001 { for i in 0..1 { ipoib } }
partition a 0x0001 { ipoib 5 }
partition a 0x0001 { half h[0].nic }
partition 5 0x0001 { full h[0].nic }
subnet_manager s[0]
subnet_manager
subnet_manager 5
routing ospf { }
routing bgp { graceful_restart 5 }
routing bgp { bfd 100ms }
routing bgp { bfd 5 x 3 }
routing bgp { bfd 5ms x 3 }
routing bgp { mtu "x" }
routing bgp { mtu 1, 2 }
routing bgp { for i in 0..1 { bfd } }
routing bgp { colour 5 }
routing bgp { mtu 9216 { vrf a } }
routing bgp { mtu 9216; mtu 9000 }
roce 5
roce { dscp 26; cnp 26 }
roce { dscp 26 priority 3 }
roce { priority 3; cnp 48 priority 3 }
roce { pfc on }
roce { pfc watchdog 5 }
roce { pfc watchdog 5ms }
roce { ecn }
roce { ecn 150kB }
roce { ecn 150kB to 1500kB at 150% }
roce { ecn 1500kB to 150kB }
roce { ecn 5 to 6 }
roce { ecn 0.3B to 6B }
hall h1
hall h1 { row }
hall h1 { row A }
hall h1 { row 5 { rack 1..8 } }
hall h1 { row A { rack 1..8 }; row A { rack 1..8 } }
hall h1 { row A { rack 1..8 { height 4.5U } } }
hall h1 { row A { rack 1..8 { height 48U; height 47U } } }
hall h1 { row A { rack 1..8 }; tray above 2.4m { along rows; along rows } }
hall h1 { row A { rack 1..8 }; slack 1m; slack 2m }
hall h1 { row A { rack 1..8 { mass 1kg, 2kg } } }
hall h1 { row A { rack 1..8 { mass 5m } } }
hall h1 { row A { rack 1..8 }; distance 5m }
hall h1[2] { row A { rack 1..8 } }
hall h1 { row A { rack 1..8 { power 17 x 44kW } } }
hall h1 { row A { rack 1..8 { for i in 0..1 { height 48U } } } }
hall h1 { row A { rack 1..8 }; slack 1m, 2m }
hall h1 { row A { rack 1..8 }; pitch rack 0.6m row }
hall h1 { row A { rack 1..8 }; pitch 0.6m }
hall h1 { row A { rack 1..8 }; tray beside 2.4m }
hall h1 { row A { rack 1..8 }; tray above 2.4m { along racks } }
hall h1 { row A { rack 1..8 }; tray above 2.4m { across 1 } }
hall h1 { row A { rack 1..8 }; tray above 2.4m { capacity 300mm } }
hall h1 { row A { rack 1..2_000_000 } }
group g { hall h1 { row A { rack 1..8 } } }
place s[0] in nowhere.A[1]
hall h1 { row A { rack 1..8 } }; place s[0] in h1
hall h1 { row A { rack 1..8 } }; place f in h1.A[1]
distance 5 to 6 100m
distance s[0] to s[1] 100m
omit nothing[0]
group g { }; place g in h1.A[1]; hall h1 { row A { rack 1..8 } }
roce { cnp 48 priority }
routing bgp { bfd 100ms x 2 }
let a = "x" + 5
let a = [1] + "x"
let a = [1] * 2
let a = 5 in 5
let a = min()
param a: int = product([2**2000, 2**2000, 2**2000])
param a: int = 2 ** 4_000 * 2 ** 4_000
"""

IN_A_MODEL = """\
switch a: S; switch b: S; connect a to b { layer network }
switch a: S; switch b: S; connect a to b { length 2m }
port p[2]: 5
port p[2]: "x"
port p[2]: 100Gbps { for i in 0..1 { type A } }
port p[2]: 100Gbps { type A { b 5 } }
port p[2]: 100Gbps { cage OSFP 2 }
port p[2]: 100Gbps { split 1 }
port p[2_000_000]: 100Gbps
port p[100_000]: 100Gbps { split 100_000 }
port p[2]: 100Gbps { lanes x }
port p[2]: 100Gbps { lanes 0 }
port p[2]: 100Gbps; port p[2]: 100Gbps
let a = 1; let a = 2
fact
fact trays
fact trays 1, 2
fact height 5
height 5 { a 6 }
height x
height 2U, 3U
power 5m
power 0kW - 5kW
mass 5
rate 5m
height 2U; height 3U
pcie sw[2] { on cpu[0] }; port p[2]: 100Gbps
numa cpu[2]; pcie sw[2] { on cpu[2] }
numa cpu[2]; pcie sw[2] { on cp[0] }
numa cpu[2] { for i in 0..1 { on a } }
chip c[2]
switch c[2] { }
nos sonic; nos eos
latency 5m
latency -5ns
colour blue
"""

OUTSIDE = """\
model router R { port p: 100Gbps }
model chip C { port lane: 100Gbps { split 0 } }
"""

INTENT = """\
hosts
hosts 8
hosts H
hosts 0 x H
hosts 8 x 5
hosts 8 x H, 5 x S
hosts 8 x H and 3
hosts 8 x H { for i in 0..1 { role storage } }
hosts 8 x S.q
pods 5 x 4
pods 0
pods x
rails 2 { }
hosts 8 x H; clos 5 { leaf S; spine S }
hosts 8 x H; clos { leaf S; leaf S; spine S }
hosts 8 x H; clos { leaf; spine S }
hosts 8 x H; clos { leaf S; spine S; arms 2 }
hosts 8 x H; clos { leaf S at 7 ; spine S }
hosts 8 x H; clos { leaf S 2:0; spine S }
hosts 8 x H; clos { leaf S about 5; spine S }
hosts 8 x H; clos { leaf S; spine S 5 }
hosts 8 x H; clos { leaf S; each 5; spine S }
hosts 8 x H; clos { leaf S; via ocs; spine S }
hosts 8 x H; clos { for i in 0..1 { leaf S } }
hosts 8 x H; clos { oversubscription 2m }
hosts 8 x H; torus S { dims 2 }
hosts 8 x H; nothing S
"""


def designs() -> Iterator[tuple[str, str]]:
    """Each wrong statement, and a design that has it."""
    sound = FABRIC.replace("  HERE\n", "")
    for line in IN_A_FABRIC.splitlines():
        yield line, MODELS + FABRIC.replace("HERE", line)
    for line in IN_A_MODEL.splitlines():
        yield line, f"{MODELS}model switch M {{ {line} }}\n" + sound.replace("h[4]: H", "h[4]: H\n  switch m: M")
    for line in OUTSIDE.splitlines():
        yield line, f"{MODELS}{line}\n{sound}"
    for line in INTENT.splitlines():
        yield line, f"{MODELS}fabric f {{\n  {line}\n}}\n"


def test_wrong_statements(golden: Golden, tmp_path: Path) -> None:
    """Code, place, message and help of all that is not a note."""
    out = []
    path = str((tmp_path / "x.fab").resolve())
    for line, text in designs():
        out.append(f"## {line}\n")
        for d in compiler.compile_without_checks(path, Request(overlay={path: text})).findings:
            if d.severity.word != "note":
                place = text[d.span.start : d.span.end] if d.span is not None else ""
                out.append(f"{d.code} at `{place}`: {d.message}\n" + (f"    {d.help}\n" if d.help else ""))
    golden("semantics/wrong_statements.txt", "".join(out))


def test_values_of_lists(tmp_path: Path) -> None:
    """Functions over lists, as extents of devices."""
    path = str((tmp_path / "x.fab").resolve())
    for extent, count in (
        ("primes(7)[3]", 7), ("len(primes(-1)) + 1", 1), ("primes(2)[0]", 2), ("len(primes(1_048_576)) - 82_000", 25),
        ("len(primes(49))", 15), ("sum(primes(20))", 77), ("len(sort([\"b\", \"a\"]))", 2), ("sort([5, 3, 4])[0]", 3),
        ("4 if sum([1m, 2m]) == 3m else 5", 4), ("product([2, 3, 7])", 42), ("sum(0..4)", 10), ("max(3, 9, 4)", 9),
    ):  # fmt: skip
        text = MODELS + "fabric f {\n  switch s[" + extent + "]: S\n}\n"
        result = compiler.compile_without_checks(path, Request(overlay={path: text}))
        (design,) = result.designs
        assert design.fabric is not None, (extent, [d.message for d in result.findings])
        assert [s.count for s in design.fabric.sets] == [count], extent
