"""Every file that every target makes of a fabric with most of what a fabric may have: short ones whole, of long ones the begin
and a hash, as goldens. A hash that differs tells which file to read; `git stash` and a build give what it was."""

from __future__ import annotations

import hashlib
import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tdsl import __version__
from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.site import Site, read_site_file
from tdsl.emit.target import targets_by_name
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.physical.stages import Stage
from tdsl.system.resources import packaged_folder
from tests.conftest import Golden

ROUTED = """\
model switch EOS { port p[1..16]: 400Gbps { type GE400; cage 1 OSFP; os "Ethernet{i}/1" } }
model switch CL { port p[1..16]: 400Gbps { type GE400; cage 1 OSFP; os "swp{i}"; name "{i}" } }
model host NODE "A node" {
  port nic[4]: 400Gbps { type GE400; cage 2 OSFP; os "mlx5_{i}"; netdev "eth{i + 1}"; split 2 }
  port bmc: 1Gbps
  chip gpu[4]: GPU
  switch nvs: NVS
  connect gpu[g] to nvs { layer scaleup }
  numa cpu[2] { arch x86_64; cores 28; vendor GenuineIntel; family 6; cpu_model 143 }
  pcie plx[2] { on cpu[i]; gen 5; lanes 16; device "1000:c030" }
  pcie gpu { on plx[i // 2]; gen 5; lanes 16; device "10de:2330"; bus "0000:1{i}:00.0" }
  pcie nic { on plx[i // 2]; gen 5; lanes 16; device "15b3:1021"; bus "0000:2{i}:00.0" }
  height 2U; power 3kW max 4kW; mass 60kg
}
model chip GPU { port nv: 400Gbps; sm 90 }
model switch NVS { port p[4]: 400Gbps }
fabric routed "Four systems" {
  pod pod[2] {
    host node[2]: NODE
    switch arista: EOS { nos eos }
    switch cumulus: CL { nos nvue }
    switch white: SN5600 { nos sonic }
    switch linux: CL { nos frr }
    connect node[n].nic[0] to arista { length 3m; cable "DAC-1"; colour red }
    connect node[n].nic[1] to cumulus { length 30m; class "rail{1}" }
    connect node[n].nic[2] to white { rate 400Gbps; length 30m }
    connect node[n].nic[3] to linux
  }
  switch spine: CL { nos nvue }
  switch core: EOS { nos eos }
  host filer: STORE { role storage }
  connect pod[*].cumulus, pod[*].linux to spine each x 2 { bundle 2; length 30m }
  connect pod[*].arista, pod[*].white to core each x 2 { length 100m; rate 400Gbps }
  connect filer.p to spine
  naming pod[s].arista "{fabric}-{s}-eos"
  address pod[*].arista, pod[*].cumulus, pod[*].white, pod[*].linux, spine, core loopback from 10.255.0.0/24
  address spine, core loopback from fd00:255::/64
  address pod[s].node[*].nic[r] links from "172.{16 + 4*s + r}.0.0/24"
  address pod[*].arista to core links from 10.1.0.0/24
  address pod[*].arista, core management from 192.168.0.10/24 { interface Management1; gateway 192.168.0.1; vrf oob }
  address pod[*].cumulus, pod[*].white, spine, pod[*].node management from 192.168.0.30/24 { gateway 192.168.0.1 }
  routing bgp { mtu 9214; bfd; graceful_restart }
  roce { dscp 26; priority 3; cnp 48 priority 6; ecn 150kB to 1500kB at 5%; pfc watchdog 200ms }
}
model host STORE { port p[1]: 400Gbps { type GE400; os "eth0" } }
"""
INFINIBAND = """\
fabric infiniband "Rails over InfiniBand, two planes" {
  host host[3]: DGX_H100
  host ufm: UFM { role manager }
  plane plane[2] {
    switch leaf[4]: QM9700
    switch spine[2]: QM9700
    connect leaf[*] to spine[*] each x 2 { cable MFP7E10; length 30m }
  }
  connect host[n].nic[r] to plane[r % 2].leaf[r // 2] { class "rail{r}" }
  connect ufm.p[i] to plane[(i - 1) % 2].leaf[(i - 1) // 2].p[64]
  partition training 0x0001 { full host[0..1].nic; ipoib }
  partition storage 0x0002 { limited host[2].nic[0] }
  subnet_manager ufm
}
"""
PLACED = """\
model panel PATCH { port front[1..16]: any; port back[1..16]: any; height 1U }
model switch TINY "Small" { port p[1..12]: 400Gbps { type NDR; cage 2 OSFP; name "{i}" }; height 1U; power 500W; cords 2 }
model host STORE { port p[1..2]: 400Gbps { type NDR; cage 1 OSFP }; height 2U; power 1kW max 2kW; mass 30kg; cords 2 }
fabric placed "A torus in racks" {
  param wide: int = 3
  phase 1 { wide 2; needed "2027-01-15" }
  phase 2 { wide 3 }
  switch s[wide, 3]: TINY
  host store[wide, 3]: STORE
  panel patch[2]: PATCH
  connect s[*] torus { class "ring" }
  connect store[x, y].p[1] to s[x, y]
  connect store[0, y].p[2] to s[1, y] via patch[0]
  hall h1 {
    row A..C { rack 1..3 { height 48U; power 20kW; mass 900kg } }
    pitch rack 0.6m, row 3m
    tray above 2.6m { across at 1 }
    slack 0.5m
  }
  place s[x, y] in h1[x + 1, y + 1] at 30U
  place store[x, y] in h1[x + 1, y + 1] at 10U + 2U*0
  place patch[*] in h1.C[3] stacked from 40U
}
"""
SPLIT = """\
model host CLIENT { port nic: 400Gbps { type GE400; os "mlx5_0" }; chip gpu: H100 }
fabric split "Break-outs" {
  switch top[2]: SN5600 { split p 2; nos sonic }
  host client[5]: CLIENT
  connect client[n].nic to top[n // 3]
  connect top[0] to top[1] x 2
  routing bgp
}
"""
AMD = """\
fabric amd {
  host node[2]: MI300X_HOST
  switch leaf: SN5600
  connect node[n] to leaf { rate 400Gbps }
}
"""
SITE = """\
ntp: [192.0.2.10, time.example.com]
syslog: [192.0.2.11]
dns: {servers: [192.0.2.12, "2001:db8::12"], domain: gpu.example.com}
aaa: {tacacs: [192.0.2.13], key: TACACS_KEY}
snmp: {community: SNMP_READ, location: "hall 1", contact: noc@example.com}
gnmi: {port: 8080}
bgp: {password: BGP_PASSWORD}
banner: |
  Property of the platform team.
  Authorized access only.
facts: {owner: "us"}
secrets: {radius_key: RADIUS_KEY}
"""
MACS = "device,mac\n" + "".join(f"{d},94:6d:ae:00:00:0{n}\n" for n, d in enumerate(("pod[0].node[0]", "pod[1].arista", "spine")))
DESIGNS = {
    "routed": ROUTED, "infiniband": INFINIBAND, "placed": PLACED, "split": SPLIT, "amd": AMD,
}  # fmt: skip
TARGETS = sorted(p.name for p in packaged_folder("targets").iterdir() if p.is_dir())
OWN = {
    "infiniband": ("cabling", "ibsim", "nccl", "opensm", "p2p"),
    "placed": ("bom", "cabling", "racks"),
    "split": ("cabling", "sonic"),
    "amd": ("rccl",),
}
"""Targets of which the designs show what the first one has not."""
CASES = [("routed", t) for t in TARGETS] + [(d, t) for d, targets in OWN.items() for t in targets]
OTHERWISE: dict[str, dict[str, object]] = {
    "astra_sim": {"link_latency_ns": 700, "scaleup_latency_ns": 900, "error_rate": "1e-9"},
    "cabling": {"workbook_rows": 9, "sheet_labels": 6},
    "containerlab": {"image": "a/b:1", "eos_image": "c:2"},
    "dhcp": {"interface": "eth0", "boot_url": "http://ztp/{device}.cfg"},
    "dns": {"zone": "x.example", "serial": 7, "ttl": 60},
    "eos": {"aggregate": "off", "load_balance": "dynamic", "queue": "uc-tx-queue"},
    "frr": {"aggregate": "off"},
    "nccl": {"complete": True, "topo_dir": "/x"},
    "netbox": {"manufacturer": "Example", "site": "One"},
    "nvue": {"aggregate": "off", "adaptive_routing": False},
    "opensm": {"sweep_interval": 7, "lmc": 2, "version": "5", "folder": "/o"},
    "rccl": {"complete": True, "topo_dir": "/x"},
    "simai": {"link_latency": "2us", "scaleup_latency": "3us", "error_rate": "1e-9"},
    "sonic": {"aggregate": "off", "dynamic_th": -2},
    "ztp": {"url": "https://boot:8443/o"},
}
"""Options of targets with other values than their defaults."""
WHOLE, BEGIN = 7000, 8
"""Characters of a file that is shown whole, and lines of a longer one that are shown."""
HELD = TemporaryDirectory()


@cache
def phases(name: str) -> tuple[Stage, ...]:
    """A design in each of its phases."""
    path = Path(HELD.name).resolve() / f"{name}.fab"
    path.write_text(DESIGNS[name])
    result = compiler.compile_without_checks(str(path))
    assert not [f"{d.code} {d.message}" for d in result.findings if d.severity.word == "error"]
    return tuple(Stage(d.phase, d.needed, d.fabric) for d in result.designs if d.fabric is not None)


@cache
def assets(name: str) -> SourceFile | None:
    """Identifiers of the devices of a design, as ibsim would give them; MAC addresses of some."""
    if name == "routed":
        return SourceFile("assets.csv", MACS)
    table = build_files(fabric(name), ["ibsim"], Diagnostics()).get("ibsim/assets.csv")
    return SourceFile("assets.csv", bytes(table).decode()) if name == "infiniband" and table is not None else None


def fabric(name: str) -> Fabric:
    return phases(name)[-1].fabric


def workbook(data: bytes) -> str:
    """The cells of a workbook."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(data))
    rows = (f"{s.title}: {'|'.join('' if v is None else str(v) for v in r)}" for s in book for r in s.iter_rows(values_only=True))
    sheets = (f"{s.title} {s.freeze_panes} {s.auto_filter.ref} {s.print_title_rows} {s.page_setup.orientation}" for s in book)
    widths = (f"{s.title} {k} {round(d.width, 2)}" for s in book for k, d in s.column_dimensions.items())
    return "\n".join([*sheets, *widths, *rows]) + "\n"


def shown(path: str, data: bytes) -> str:
    """A file as text."""
    try:
        text = workbook(data) if path.endswith(".xlsx") else data.decode().replace(__version__, "VERSION")
    except UnicodeDecodeError:
        return f"==== {path}\n---- {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}\n"
    if len(text) <= WHOLE:
        return f"==== {path}\n{text}" + "" if text.endswith("\n") else f"==== {path}\n{text}\n---- no end of line\n"
    lines = text.splitlines()
    short = "\n".join(x if len(x) < 200 else f"{x[:200]}…" for x in lines[:BEGIN])
    told = hashlib.sha256(text.encode()).hexdigest()
    return f"==== {path}\n{short}\n---- {len(lines)} lines, sha256 {told}\n"


def files(name: str, target: str, settings: dict[str, object], only: tuple[str, ...] = ()) -> str:
    """What a target makes, and what it says."""
    found = Diagnostics()
    site = read_site_file(SourceFile("site.yaml", SITE), found) if name == "routed" else Site()
    options: Any = {
        "settings": {target: settings},
        "assets": assets(name),
        "site": site,
        "stages": phases(name),
        "only": only,
    }
    made = build_files(fabric(name), [target], found, BuildOptions(**options))
    told = [f"{d.code} {d.severity.word} {d.message}\n" + "".join(f"  {n}\n" for n in (*d.notes, d.help or "")) for d in found]
    shapes = [shown(p, bytes(b)) for p, b in made.items() if p != "manifest.json"]
    return "".join([*told, *shapes]) or "nothing\n"


@pytest.mark.parametrize(("name", "target"), CASES, ids=lambda x: x)
def test_files(name: str, target: str, golden: Golden) -> None:
    golden(f"targets/{name}/{target}.txt", files(name, target, {}))


@pytest.mark.parametrize("target", OTHERWISE)
def test_every_option_changes_a_file(target: str) -> None:
    """Each by itself; with its default there is no difference."""
    made = {n: files(n, target, {}) for n in ("routed", "infiniband", "amd")}
    defaults = targets_by_name(Diagnostics())[target].options
    assert set(OTHERWISE[target]) == set(defaults), "give an option another value here"
    for option, value in OTHERWISE[target].items():
        assert value != defaults[option]
        if (target, option) == ("nvue", "adaptive_routing"):
            continue  # Spectrum-4 has it: tests/targets/test_nvue.py
        assert any(files(n, target, {option: value}) != made[n] for n in made), option
        assert all(files(n, target, {option: defaults[option]}) == made[n] for n in made), option
