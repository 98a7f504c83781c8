"""Every file that every target makes of a fabric with most of what a fabric may have: short ones whole, of long ones the begin
and a hash, as goldens. A hash that differs tells which file to read; `git stash` and a build give what it was."""

from __future__ import annotations

import hashlib
import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

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
from tests.tables import sections
from tests.targets.build import design

SITE = sections(__file__)["site"]
MACS = "device,mac\n" + "".join(f"{d},94:6d:ae:00:00:0{n}\n" for n, d in enumerate(("pod[0].node[0]", "pod[1].arista", "spine")))
TARGETS = sorted(p.name for p in packaged_folder("targets").iterdir() if p.is_dir())
OWN = {
    "infiniband": ("cabling", "ibsim", "nccl", "opensm", "p2p"),
    "placed": ("bom", "cabling", "racks"),
    "split": ("cabling", "sonic"),
    "amd": ("rccl", "simai"),
    "fat_tree": ("htsim",),
}
"""Targets of which the designs show what the first one has not."""
CASES = [("routed", t) for t in TARGETS] + [(d, t) for d, targets in OWN.items() for t in targets]
OTHERWISE: dict[str, dict[str, object]] = {
    "air": {"switch_os": "cumulus-vx-5.15.0", "host_os": "generic/ubuntu2204", "oob": True},
    "astra_sim": {"link_latency_ns": 700, "scaleup_latency_ns": 900, "error_rate": "1e-9"},
    "cabling": {"workbook_rows": 9, "sheet_labels": 6},
    "containerlab": {"image": "a/b:1", "eos_image": "c:2"},
    "dhcp": {"interface": "eth0", "boot_url": "http://ztp/{device}.cfg", "ztp_url": "http://z"},
    "dns": {"zone": "x.example", "serial": 7, "ttl": 60},
    "eos": {"aggregate": "off", "load_balance": "dynamic", "queue": "uc-tx-queue"},
    "frr": {"aggregate": "off"},
    "gnmic": {"sample_interval": "1m"},
    "htsim": {"link_latency_ns": 700, "switch_latency_ns": 300},
    "nccl": {"complete": True, "topo_dir": "/x", "virtual": True},
    "nautobot": {"manufacturer": "Example", "site": "One", "location_type": "Hall", "ports": "devices"},
    "netbox": {"manufacturer": "Example", "site": "One", "ports": "devices"},
    "network_operator": {"version": "v1", "repository": "registry/x", "shares": 7, "functions": 2},
    "nvue": {"aggregate": "off", "adaptive_routing": False, "version": "5.16"},
    "opensm": {"sweep_interval": 7, "lmc": 2, "version": "5", "folder": "/o"},
    "rccl": {"complete": True, "topo_dir": "/x", "virtual": True},
    "simai": {"link_latency": "2us", "scaleup_latency": "3us", "error_rate": "1e-9"},
    "sonic": {"aggregate": "off", "dynamic_th": -2},
    "prometheus": {"node_port": 9200, "bmc_exporter": "bmc:1", "bmc_path": "/probe"},
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
    path.write_text(design(f"every_file_{name}"))
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


def files(name: str, target: str, settings: dict[str, object]) -> str:
    """What a target makes, and what it says."""
    found = Diagnostics()
    site = read_site_file(SourceFile("site.yaml", SITE), found) if name == "routed" else Site()
    options = BuildOptions(settings={target: settings}, assets=assets(name), site=site, stages=phases(name))
    made = build_files(fabric(name), [target], found, options)
    told = [f"{d.code} {d.severity.word} {d.message}\n" + "".join(f"  {n}\n" for n in (*d.notes, d.help or "")) for d in found]
    shapes = [shown(p, bytes(b)) for p, b in made.items() if p != "manifest.json"]
    return "".join([*told, *shapes]) or "nothing\n"


@pytest.mark.parametrize(("name", "target"), CASES, ids=lambda x: x)
def test_files(name: str, target: str, golden: Golden) -> None:
    golden(f"targets/{name}/{target}.txt", files(name, target, {}))


@pytest.mark.parametrize("target", OTHERWISE)
def test_every_option_changes_a_file(target: str) -> None:
    """Each by itself; with its default there is no difference."""
    designs = {"opensm": ["infiniband"], "rccl": ["amd"], "htsim": ["fat_tree"]}.get(target, ["routed"])
    made = {n: files(n, target, {}) for n in designs}
    defaults = targets_by_name(Diagnostics())[target].options
    assert set(OTHERWISE[target]) == set(defaults), "give an option another value here"
    for option, value in OTHERWISE[target].items():
        assert value != defaults[option]
        if (target, option) == ("rccl", "topo_dir") or option in ("adaptive_routing", "bmc_exporter", "bmc_path"):
            continue  # a virtual machine, Spectrum-4 and BMCs have them: tests/targets/test_{rccl,nvue,prometheus}.py
        assert any(files(n, target, {option: value}) != made[n] for n in made), option
    assert all(files(n, target, dict(defaults)) == made[n] for n in made)
