"""Names that would be commands, markup or paths somewhere: each artefact of each target is read by its own parser, and holds the
name as it is, or an escape for it, or is refused with a finding."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.rows import FORMULA, spreadsheet_cell
from tdsl.emit.target import targets_by_name
from tdsl.fabric.assets import read_assets_table
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.semantics.model import DeviceModel
from tests.harness import fabric_of, none
from tests.tables import sections
from tests.targets import frr_lab, nccl_reader, nvue_grammar, test_networkmanager
from tests.targets.build import design, faced, pod

pyavd = pytest.importorskip("pyavd")
yaml = pytest.importorskip("yaml")
prometheus = pytest.importorskip("prometheus_client.parser")

NAMES = (
    "=cmd()|'/c calc'!A1", 'q"uote', "'apos'", "back\\slash", "../x", "/etc/passwd", "..", "a b",
    "cr\rreturn", "\x1b[31mred", "nul\0byte", "!bang", "#hash", "%percent", "`id`", "{{ 1 }}",
    "<script>alert(1)</script>", "a,b;c", "-rf", "?help", "no shutdown\nend", "漢字",
    "\u2028next", "\u202egnp.exe", "n" * 70, "é" * 40, "x" * 300, "",
    "a;=cmd();b", "no\ufffecharacter", " blank ",
)  # fmt: skip
Reader = Callable[[str, bytes, Fabric], None]
PLACED = sections(__file__)["placed"]


def ethernet(port: str, management: str, vendor: str) -> Callable[[Path], Fabric]:
    """A few switches of one operating system, with all that a router is told."""
    text = design("hostile_ethernet", port=port, management=management, vendor=vendor)
    return lambda folder: fabric_of(text, folder, models=False)


FABRICS: dict[str, Callable[[Path], Fabric]] = {
    "placed": lambda folder: fabric_of(PLACED, folder),  # of which alone bills of materials and views of racks are made
    "infiniband": lambda _: pod(units=1, nodes=2, rails=2, spines=1, manager=False, omit_last=False),
    "eos": ethernet("Ethernet", "Management1", "NVIDIA"),
    "cumulus": ethernet("swp", "eth0", "AMD"),
}


# ------------------------------------------------------------ where a name can stand


def devices(fabric: Fabric, name: str) -> None:
    """A host and a switch."""
    host = int(np.flatnonzero(fabric.kind == "host")[0])
    leaf = int(np.flatnonzero(fabric.is_switch)[0])
    fabric.names = {host: name, leaf: name + "2"}


def texts(fabric: Fabric, name: str) -> None:
    """The title of the fabric, and what models and faceplates say."""
    fabric.title = name
    _models(fabric, lambda m: replace(m, title=name, classes=tuple(replace(c, labels=(name, *c.labels[1:])) for c in m.classes)))


def systems(fabric: Fabric, name: str) -> None:
    """What operating systems call a port."""
    _models(fabric, lambda m: replace(m, classes=tuple(replace(c, systems=(name, *c.systems[1:])) for c in m.classes)))


def management(fabric: Fabric, name: str) -> None:
    """Interface and VRF of the management network."""
    _pools(fabric, vrf=name, interface=name)


def vrfs(fabric: Fabric, name: str) -> None:
    """The VRF alone."""
    _pools(fabric, vrf=name)


def _pools(fabric: Fabric, **said: str) -> None:
    assert fabric.addressing is not None
    pools = tuple(replace(p, **said) if p.vrf else p for p in fabric.addressing.pools)  # type: ignore[arg-type]
    fabric.addressing = replace(fabric.addressing, pools=pools)


def _models(fabric: Fabric, change: Callable[[DeviceModel], DeviceModel]) -> None:
    faced(fabric, {m.name: change(m) for m in fabric.models})


# ------------------------------------------------------------ readers


def _json(path: str, data: bytes, fabric: Fabric) -> None:
    told = json.loads(data)
    if path == "fabric.json":
        assert told["title"] == (fabric.title or fabric.name)
        assert [r[0] for r in told["devices"]["rows"]] == [fabric.device_name(d) or None for d in range(fabric.device_count)]


def _csv(path: str, data: bytes, fabric: Fabric) -> None:
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert {len(r) for r in rows} == {len(rows[0])}
    assert not [c for r in rows for c in r if c[:1] in FORMULA], path
    names = {fabric.device_name(d) for d in range(fabric.device_count)}
    near = rows[0].index("device" if "device" in rows[0] else "a_device")
    assert {r[near] for r in rows[1:]} <= {spreadsheet_cell(n) for n in names} and not [c for r in rows for c in r if ";=" in c]


def _workbook(path: str, data: bytes, fabric: Fabric) -> None:
    for sheet in openpyxl.load_workbook(io.BytesIO(data)).worksheets:
        assert {c.data_type for row in sheet.iter_rows() for c in row} <= {"s", "n", "inlineStr"}, path


def _svg(path: str, data: bytes, fabric: Fabric) -> None:
    known = ["svg", "title", "desc", "style", "defs", "g", "rect", "path", "text", "tspan", "line", "circle", "polygon"]
    assert {e.tag.partition("}")[2] for e in ElementTree.fromstring(data.decode()).iter()} <= set(known)


def _dot(path: str, data: bytes, fabric: Fabric) -> None:
    """Outside its strings a graph has words, numbers and marks only."""
    text = re.sub(r'"(\\.|[^"\\])*"', '""', data.decode())
    assert '"' not in text.replace('""', "") and text.count("{") == text.count("}")
    assert not re.search(r"[^\w\s{}\[\];=\-,:\".#]", text), path
    if shutil.which("dot"):
        assert subprocess.run(["dot", "-Tcanon"], input=data, capture_output=True, timeout=60, check=False).returncode == 0


def _lines(*known: str) -> Reader:
    """A file of lines each of which begins as one of these patterns says."""
    pattern = re.compile("|".join(known))

    def read(path: str, data: bytes, fabric: Fabric) -> None:
        text = data.decode()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", text), path
        for line in text.split("\n"):
            assert pattern.match(line), (path, line)

    return read


_FRR = _lines(
    r"!|$| |frr |hostname |service |vrf |exit|interface |ip route |ipv6 route |ip prefix-list |ipv6 prefix-list |route-map |"
    r"router bgp |bgp as-path |end$"
)


def _frr(path: str, data: bytes, fabric: Fabric) -> None:
    _FRR(path, data, fabric)
    if path == "frr/node1/frr.conf" and shutil.which("vtysh"):  # it has no hostile name itself, and all its neighbours' ones
        with TemporaryDirectory() as folder:
            assert frr_lab.reads(data, Path(folder)), data


_EOS = _lines(
    r"!|$|   |service routing|hostname |management ssh|qos |vrf instance |interface |ip |ipv6 |priority-flow|route-map |"
    r"router bgp "
)


def _eos(path: str, data: bytes, fabric: Fabric) -> None:
    _EOS(path, data, fabric)
    assert data.isascii()


def _yaml(path: str, data: bytes, fabric: Fabric) -> None:
    if path.startswith("nvue/"):
        (told,) = yaml.load(data.decode(), Loader=yaml.BaseLoader)
        assert nvue_grammar.wrong(told["set"]) == []
    else:
        assert pyavd.validate_structured_config(yaml.safe_load(data)).validation_result.violations == []


def _netplan(path: str, data: bytes, fabric: Fabric) -> None:
    told = yaml.safe_load(data)
    assert list(told) == ["network"] and set(told["network"]) <= {"version", "renderer", "ethernets", "vrfs"}
    assert all(re.fullmatch(r"[!-~]{1,15}", name) for name in told["network"]["ethernets"])


def _shell(path: str, data: bytes, fabric: Fabric) -> None:
    """One loop over words, and nothing that the shell does not read."""
    assert subprocess.run(["sh", "-n"], input=data, timeout=20, check=False).returncode == 0
    _lines(r"#|$|set |sys=|for adapter in |  |done$")(path, data, fabric)
    (loop,) = (line for line in data.decode().splitlines() if line.startswith("for "))
    words = shlex.split(loop.removesuffix("; do"))
    assert loop == f"{shlex.join(words)}; do"


def _assets(path: str, data: bytes, fabric: Fabric) -> None:
    """tdsl's own reader finds each device and port."""
    found = Diagnostics()
    read_assets_table(fabric, SourceFile(path, data.decode()), found)
    assert not list(found), list(found)


def _plain_yaml(path: str, data: bytes, fabric: Fabric) -> None:
    """Documents of YAML without tags of programs; Ansible's has no name that it would expand, and no braces."""
    told = list(yaml.safe_load_all(data))
    assert told and all(isinstance(t, (dict, list)) for t in told)
    if path.startswith("ansible/"):
        assert all(re.fullmatch(r"[A-Za-z][\w.-]*", name) for name in told[0]["all"]["hosts"]) and b"{{" not in data


def _ansible_input(path: str, data: bytes, fabric: Fabric) -> None:
    """Names without braces, but for the one variable that Ansible is to fill in."""
    told = yaml.safe_load(data)
    assert told and json.dumps(told).count("{{") == ("inventory" in path)
    if "inventory" in path:
        assert all(re.fullmatch(r"[A-Za-z][\w.-]*", name) for name in told["all"]["children"]["FABRIC"]["hosts"])


def _simulation(path: str, data: bytes, fabric: Fabric) -> None:
    told = json.loads(data)
    assert told["name"] == (fabric.title or fabric.name)
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name) for name in told["content"]["nodes"])


def _keyfiles(path: str, data: bytes, fabric: Fabric) -> None:
    """A script that writes keyfiles below its folder and nothing else."""
    with TemporaryDirectory() as folder:
        test_networkmanager.written(data, Path(folder))
        found = [p for p in Path(folder).rglob("*") if p.is_file()]
        assert found and all(re.fullmatch(r"fabric-.+\.nmconnection", p.name) for p in found), found
        test_networkmanager.keyfiles(found[0].parent)


def _rows(path: str, data: bytes, fabric: Fabric) -> None:
    """Rows of one width, without formulas."""
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert len({len(r) for r in rows}) == 1 and len(rows) > 1
    assert not [c for r in rows for c in r if c[:1] in FORMULA and c], path


def _expected(path: str, data: bytes, fabric: Fabric) -> None:
    (family,) = prometheus.text_string_to_metric_families(data.decode())
    assert len(family.samples) == 2 * fabric.link_count


def _reservations(path: str, data: bytes, fabric: Fabric) -> None:
    (subnet,) = json.loads(data)["Dhcp4"]["subnet4"]
    assert [set(r) for r in subnet["reservations"]] == [{"hw-address", "ip-address", "hostname"}]


class _Page(HTMLParser):
    """The tags that are open, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs), "a name is no script"
        if tag not in ("meta", "path", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "path", "link", "br"):
            assert self.open.pop() == tag


def _html(path: str, data: bytes, fabric: Fabric) -> None:
    page = _Page()
    page.feed(data.decode())
    page.close()
    assert not page.open and page.tags <= {"html", "head", "meta", "title", "style", "body", "div", "svg", "path", "span"}


READERS: dict[str, Reader] = {
    r"((netbox|nautobot)/\d[ab]?-[\w-]+|bom/\w+)\.csv": _rows,
    r"(netbox|nautobot)/load\.py": lambda path, data, fabric: compile(data, path, "exec") and None,
    r"prometheus/lldp-textfile\.sh": lambda path, data, fabric: None,  # the same for all designs
    r"(slurm|kubernetes)/\w+\.yaml|netbox/2-device-types\.yaml|prometheus/\w+\.yml": _plain_yaml,
    r"ansible/inventory\.yaml|containerlab/fabric\.clab\.yml": _plain_yaml,
    r"slurm/conf/topology\.conf": _lines(r"#|$|SwitchName=[\w.-]+ (Nodes|Switches)=[\w.,\[\]-]+$"),
    r"prometheus/\w+\.json|(netbox|nautobot)/payloads\.json|infragraph/fabric\.yaml|astra_sim/\w+\.json": _json,
    r"(volcano|kai|topograph|gnmic|network_operator)/[\w-]+\.yaml": _plain_yaml,
    r"eos/(inventory|build)\.yml": _ansible_input,
    r"batfish/layer1_topology\.json|topograph/instances\.json": _json,
    r"air/simulation\.json": _simulation,
    r"htsim/fabric\.topo": _lines(r"#|$|[A-Z]\w+ \d+$"),
    r"htsim/nodes\.csv": _rows,
    r"networkmanager/[^/]+\.sh": _keyfiles,
    r"roce/[^/]+\.service": _lines(r"#|$|\[\w+\]$|[A-Z]\w+=\S"),
    r"astra_sim/network\.yml": _plain_yaml,
    r"(simai/topology|astra_sim/physical_topology\.txt)": _lines(r"[\d ]*( [A-Z]+\d*)?$|\d+ \d+ [\d.e+]+Gbps [\d.]+ms [\d.]+$"),
    r"simai/ecn\.conf": _lines(r"$|K(MAX|MIN)_MAP( \d+)+$|PMAX_MAP \d+( \d+ 0\.\d+)+$"),
    r"prometheus/expected\.prom": _expected,
    r"dns/zone\.db": _lines(r"\$(ORIGIN|TTL) [\w.-]+$|[\w@-]+ IN (SOA|NS|A|AAAA) [\w .:-]+$|$"),
    r"dhcp/kea-dhcp4\.json": _reservations,
    r"containerlab/daemons": _lines(r"#|$|\w+=yes$"),
    r"manifest\.json|fabric\.json|sonic/.*\.json": _json,
    r"(cabling|racks)/\w+\.csv": _csv,
    r"(cabling|bom|racks)/\w+\.xlsx": _workbook,
    r"cabling/labels\.html": _html,
    r"diagram/fabric\.svg|racks/[\w-]+\.svg": _svg,
    r"diagram/fabric\.dot|p2p/topology\.dot": _dot,
    r"frr/[^/]+/frr\.conf": _frr,
    r"eos/[^/]+\.cfg": _eos,
    r"eos/[^/]+\.structured\.yaml|nvue/[^/]+\.yaml": _yaml,
    r"roce/[^/]+\.sh|frr/[^/]+/evpn\.sh": _shell,
    r"frr/[^/]+/netplan\.yaml": _netplan,
    r"frr/[^/]+/90-fabric\.conf": _lines(r"#|$|net/ipv4/(conf/[^/\s]+/\w+|tcp_l3mdev_accept) = \d$"),
    r"(nccl|rccl)/[^/]+\.xml": lambda path, data, fabric: nccl_reader.read(data.decode()) and None,
    r"nccl/[^/]+\.checklist\.md": _lines(r"##? [^<]+$|$|- \[ \] [^<]+$|[A-Z][^<]+$"),
    r"(nccl|rccl)/[^/]+\.conf": _lines(r"# |$|NCCL_[A-Z_]+=\S"),
    r"ibsim/assets\.csv": _assets,
    r"opensm/(.*/)?(ib-node-name-map|root-guids)": _lines(r'$|0x[0-9a-f]{16}( "[^"#@\[\]]+")?$'),
    r"opensm/.*\.conf": _lines(r"#|$|[a-z_]+ [\w,./-]+$"),
    r"ibsim/[^/]+\.net": _lines(
        r'#|$|(Switch|Ca|Hca)\t?\s*\d+ "[^"#@\[\]]+"|\[\d+\]|(switchguid|caguid|vendid|devid|sysimgguid)='
    ),
    r"p2p/fabric\.topo|p2p/ibnl/[^/]+\.ibnl": _lines(r"#|$|[\w.:@+-]+ [\w.:@+-]+$|   P?\d+ -> |TOPSYSTEM |NODE (SW|CA) \d+ "),
}
REFUSED = {"E0504", "E0505", "E0506", "E0511", "E0513"}
OF_FABRIC = (_json, _csv, _assets, _expected)
"""Readers that ask the fabric; for others the same bytes need not be read again."""
SEEN: set[tuple[str, bytes]] = set()
TARGETS = {
    "placed": ["bom", "racks", "cabling"],
    "eos": [
        *("air", "ansible", "astra_sim", "batfish", "containerlab", "diagram", "dns", "eos", "frr", "gnmic", "infragraph"),
        *(
            "json",
            "kai",
            "kubernetes",
            "nautobot",
            "netbox",
            "network_operator",
            "networkmanager",
            "prometheus",
            "roce",
            "simai",
            "slurm",
        ),
        *("topograph", "volcano"),
    ],
    "cumulus": ["frr", "nvue", "sonic", "roce", "rccl"],
    "infiniband": ["p2p", "nccl", "ibsim", "htsim"],
}
"""What is built of each kind: every target once, and those that write something else for another kind."""
ASKED_WITH_ASSETS = ("opensm", "dhcp")
"""Those that a table of assets is for, which are built beside the others."""
UNWRITTEN = {
    "placed": {"eos", "frr", "nvue", "sonic"},
    "infiniband": {"eos", "frr", "nvue", "sonic"},
    "eos": {"nvue", "sonic"},
    "cumulus": {"eos"},
}
"""Targets of operating systems that write nothing for a kind of fabric: it has no routing, or its ports have other names."""


# ------------------------------------------------------------ the tests


def read_all(fabric: Fabric, targets: Sequence[str] = ()) -> tuple[dict[str, bytes], list[Diagnostic], dict[str, str]]:
    """Every artefact of every target, read; what was found; and the named targets that have nothing to write, with why: each
    that makes no file, but those that an error is about."""
    found = Diagnostics()
    # The switches name no system, so each of its targets is asked for by name.
    systems = [name for name, target in targets_by_name(Diagnostics()).items() if target.routers.nos]
    asked = {*targets, *systems}
    files = build_files(fabric, sorted(asked) if targets else (), found)
    made: dict[str, bytes] = {}
    if not targets:
        made = build_files(fabric, sorted(asked), found)
        made = {p: data for p, data in made.items() if p.partition("/")[0] in systems}
    if "ibsim/assets.csv" in files:
        assets = SourceFile("assets.csv", files["ibsim/assets.csv"].decode())
        asked.add("opensm")
        made |= build_files(fabric, ["opensm"], found, BuildOptions(assets=assets))
    if fabric.addressing is not None:
        assets = SourceFile("assets.csv", "device,port,node_guid,port_guid,mac\nleaf[0],,,,94:6d:ae:00:00:01\n")
        asked.add("dhcp")
        made |= build_files(fabric, ["dhcp"], found, BuildOptions(assets=assets))
    alone = [d.message for d in found if d.code == "E0516"]
    unwritten = {message.split("`")[1]: message for message in alone}
    refused = {name for name in asked for d in found if d.code != "E0516" and d.severity.word == "error" and name in d.message}
    files |= made
    missing = asked - {p.partition("/")[0].removeprefix("fabric.") for p in files}
    assert missing - refused <= set(unwritten) <= missing and len(set(alone)) == len(unwritten), found
    for path, data in files.items():
        assert re.fullmatch(r"(?!/)(?!.*(^|/)\.\.?(/|$))[^\x00-\x1f\x7f\\]+", path), path
        found_readers = [r for pattern, r in READERS.items() if re.fullmatch(pattern, path)]
        assert len(found_readers) == 1, f"{path}: {len(found_readers)} lines of READERS match it; write one"
        if found_readers[0] in OF_FABRIC or (path, data) not in SEEN:
            found_readers[0](path, data, fabric)
            SEEN.add((path, data))
    return files, [d for d in found if d.code != "E0516"], unwritten


PLACES = {
    "infiniband": (devices, texts, systems),
    "eos": (devices, texts, systems, vrfs),
    "cumulus": (devices, management),
    "placed": (devices, texts),
}


def names_at_places() -> Iterator[Any]:
    """At each place of a kind of fabric a third of the names, each for devices of some kind; two thirds are for the daily run."""
    for number, (kind, places) in enumerate(PLACES.items()):
        for k, place in enumerate(places):
            for part in range(3):
                marks = [] if part == (number + k) % 3 else [pytest.mark.daily]
                yield pytest.param(kind, place, NAMES[part::3], marks=marks, id=f"{kind}-{place.__name__}-{part}")


@pytest.mark.parametrize(("kind", "place", "names"), list(names_at_places()))
def test_every_artefact_is_read_by_its_own_parser(
    tmp_path: Path, kind: str, place: Callable[[Fabric, str], None], names: Sequence[str]
) -> None:
    fresh = FABRICS[kind](tmp_path)
    for name in names:
        fabric = deepcopy(fresh)
        place(fabric, name)
        _, found, unwritten = read_all(fabric, ["eos", "frr"] if place is vrfs else TARGETS[kind])
        assert {d.code for d in found} <= REFUSED, (name, found)
        # a target that writes for friendly names and nothing for this one says that it cannot have it
        asked_for_nothing = UNWRITTEN[kind] | {t for t, why in unwritten.items() if why.endswith("is not a name of a port there")}
        others = {d.code for d in found} & (REFUSED - {"E0506"})
        alike = set(unwritten) == asked_for_nothing or (others and UNWRITTEN[kind] <= set(unwritten))
        assert alike, (name, unwritten)


def test_friendly_names_meet_every_reader(tmp_path: Path) -> None:
    """The readers read files: of all targets, each kind of fabric makes those of its kind, and nothing is found."""
    common = {"manifest.json", "fabric.json", "cabling", "diagram", "p2p"}
    own = {
        "infiniband": {"opensm", "ibsim", "nccl"},
        "eos": {"frr", "eos", "roce"},
        "cumulus": {"frr", "nvue", "sonic", "roce", "rccl"},
        "placed": {"bom", "racks"},
    }
    every = set()
    for kind, fresh in FABRICS.items():
        files, found, unwritten = read_all(fresh(tmp_path))
        several = {"E0511"} if kind in ("eos", "cumulus") else set()  # two systems are named for one switch: a note says so
        assert set(unwritten) == UNWRITTEN[kind] and {d.code for d in found} == {"E0506"} | several
        made = {p.partition("/")[0] for p in files}
        assert made >= common | own[kind]
        every |= made
    # ztp: tests/targets/test_ztp.py; these switches name no system
    known = set(targets_by_name(Diagnostics())) - {"json", "ztp"}
    none(f"{name}: none of FABRICS makes a file of it, so no line of READERS reads one" for name in sorted(known - every))
    asked = {*ASKED_WITH_ASSETS, *(t for targets in TARGETS.values() for t in targets)}
    none(f"{name}: give it a place in TARGETS, whose files are read with hostile names" for name in sorted(known - asked))
