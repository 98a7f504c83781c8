"""Hostile names in the files of inventories, schedulers and services, read by the programs that they are for.

Each name that a target accepts is given to a host of one fabric, all at once; the program reads the file and finds just these
names. A name that a format cannot hold is refused with a finding.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.rows import spreadsheet_cell
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.conftest import need_program
from tests.harness import fabric_of
from tests.targets.build import csv_rows
from tests.targets.inventories import DESIGN, host_list, run, slurm_loads
from tests.targets.test_hostile import NAMES, REFUSED

yaml = pytest.importorskip("yaml")
WORDS = (
    "true", "null", "no", "1", "1e3", "0x10", "0o7", "~", "2026-11-22", "<<", "&a", "*", "- a", "a: b", "!!python/object:x", "=",
    "@", "IN", "A", "SOA", "$TTL", "$INCLUDE /etc/passwd", "localhost", "127.0.0.1", "a.b.c", "trailing.", ".lead", "under_score",
    "UPPER", "all", "ungrouped", "switches", "[1-9]", "node[0-3]", "a..b", "x;y", "$(id)", "${HOME}", "lookup('pipe', 'id')",
    "\uff1dcmd", "l\u0456nk", "-", "--help", "a" * 63, "a" * 64, "default", "kubernetes.io/x",
)  # fmt: skip
EVERY = (*NAMES, *WORDS)


@cache
def hosts(many: bool) -> Fabric:
    """A unit of one host, or ten of ten: enough for all names."""
    size = ("su[10]", "node[10]", "p[1..32]") if many else ("su[1]", "node[1]", "p[1..4]")
    text = DESIGN
    for old, new in zip(("su[2]", "node[4]", "p[1..16]"), size, strict=True):
        text = text.replace(old, new)
    with TemporaryDirectory() as folder:
        return fabric_of(text, Path(folder), models=False)


PROGRAMS = (
    "ansible", "containerlab", "dhcp", "dns", "kubernetes", "nautobot", "netbox", "p2p", "prometheus", "slurm",
    "topograph", "volcano",
)  # fmt: skip


def files_of(names: tuple[str, ...], *targets: str) -> tuple[dict[str, bytes], dict[str, set[str]], Fabric]:
    """The files of targets where hosts have these names, the codes found of each target, and the fabric."""
    fabric = deepcopy(hosts(len(names) > 1))
    rows = np.flatnonzero(fabric.kind == "host").tolist()
    fabric.names = dict(zip(rows, names, strict=len(names) == 1))
    found = Diagnostics()
    macs = (f"{fabric.device_path(d)},,,,94:6d:ae:00:{k // 256:02x}:{k % 256:02x}\n" for k, d in enumerate(rows))
    assets = SourceFile("assets.csv", "device,port,node_guid,port_guid,mac\n" + "".join(macs))
    made = build_files(fabric, targets, found, BuildOptions(assets=assets))
    wrong: dict[str, set[str]] = {target: set() for target in targets}
    for d in found:
        if d.severity.word == "error":
            for target in [t for t in targets if d.message.partition("`")[2].startswith(f"{t}`")] or targets:
                wrong[target].add(d.code)
    for target, codes in wrong.items():
        nothing = not any(path.startswith(f"{target}/") for path in made)
        assert ("E0516" in codes) == (nothing and codes <= {"E0516"}), (target, codes)  # one that is refused has no other finding
    return made, wrong, fabric


@cache
def codes_of_names() -> dict[str, dict[str, set[str]]]:
    """What is found of each name alone, by target."""
    return {name: files_of((name,), *PROGRAMS)[1] for name in EVERY}


@cache
def accepted(target: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The files with all names that a target takes, and the names of all hosts; what it does not take is refused."""
    codes = {name: found[target] for name, found in codes_of_names().items()}
    assert all(c <= REFUSED for c in codes.values()), codes
    taken = [name for name, c in codes.items() if not c]
    files, wrong, fabric = files_of(tuple(taken), target)
    assert not wrong[target] and len(taken) > 3, wrong
    return files, tuple(fabric.device_name(d) for d in np.flatnonzero(fabric.kind == "host").tolist())


def test_ansible(tmp_path: Path) -> None:
    pytest.importorskip("ansible")
    files, names = accepted("ansible")
    (tmp_path / "inventory.yaml").write_bytes(files["ansible/inventory.yaml"])
    program = Path(sys.executable).with_name("ansible-inventory")
    done = run(program, "-i", tmp_path / "inventory.yaml", "--list", ANSIBLE_HOME=str(tmp_path / "home"))
    known = json.loads(done.stdout)["_meta"]["hostvars"]
    assert set(names) <= set(known) and "WARNING" not in done.stderr, done.stderr
    assert not {"all", "ungrouped", "switches"} & set(names)
    assert all(v["tdsl_model"] in ("NODE", "SW") for v in known.values())


def test_named(tmp_path: Path) -> None:
    program = need_program("named-checkzone", "bind9-utils")
    files, names = accepted("dns")
    (tmp_path / "zone.db").write_bytes(files["dns/zone.db"])
    zone = re.search(rb"\$ORIGIN (\S+)\.", files["dns/zone.db"])
    assert zone is not None
    done = run(program, "-D", zone[1].decode(), tmp_path / "zone.db")
    assert done.returncode == 0, done.stdout + done.stderr
    there = {x.split()[0].lower() for x in done.stdout.splitlines() if re.search(r"\sIN\s+A\s", x)}
    assert {f"{n}.{zone[1].decode()}.".lower() for n in names} <= there


def test_kea(tmp_path: Path) -> None:
    kea = need_program("kea-dhcp4", "kea-dhcp4-server")
    files, names = accepted("dhcp")
    (tmp_path / "kea.json").write_bytes(files["dhcp/kea-dhcp4.json"])
    done = run(kea, "-t", tmp_path / "kea.json")
    assert done.returncode == 0 and "ERROR" not in done.stdout + done.stderr, done
    (subnet,) = json.loads(files["dhcp/kea-dhcp4.json"])["Dhcp4"]["subnet4"]
    assert {r["hostname"] for r in subnet["reservations"]} == {n.lower() for n in names}


def plain(names: Iterable[str]) -> set[str]:
    """Names in which control characters and line ends are blanks, as formats for people show them."""
    return {re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+", " ", n) for n in names}


def test_prometheus(tmp_path: Path) -> None:
    """Prometheus takes the expected links into its own storage and discovers the targets: each name comes out as it went in."""
    promtool = need_program("promtool", "prometheus")
    files, names = accepted("prometheus")
    command = [promtool, "check", "metrics"]
    linted = subprocess.run(command, input=files["prometheus/expected.prom"], capture_output=True, check=False)
    assert b"error while linting" not in linted.stderr and linted.returncode in (0, 3), linted
    sample = re.compile(r"(?m)^(tdsl_.*)$")
    (tmp_path / "expected.om").write_text(sample.sub(r"\1 1700000000", files["prometheus/expected.prom"].decode()) + "# EOF\n")
    done = run(promtool, "tsdb", "create-blocks-from", "openmetrics", tmp_path / "expected.om", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    (tmp_path / "data" / "wal").mkdir(exist_ok=True)
    dumped = run(promtool, "tsdb", "dump", tmp_path / "data")
    found = {json.loads(t) for t in re.findall(r'[{ ]node=("(?:[^"\\]|\\.)*")', _go(dumped.stdout))}
    assert plain(names) <= plain(found), plain(names) - plain(found)
    (tmp_path / "targets.json").write_bytes(files["prometheus/targets.json"])
    (tmp_path / "prometheus.yml").write_text(
        f"scrape_configs:\n- job_name: fabric\n  file_sd_configs:\n  - files: ['{tmp_path}/targets.json']\n"
    )
    done = run(promtool, "check", "service-discovery", "--timeout=5s", tmp_path / "prometheus.yml", "fabric")
    told = json.loads(done.stdout)
    assert plain(names) <= plain(t["labels"]["node"] for t in told if t["labels"])


def _go(text: str) -> str:
    """Texts as Go quotes them, as JSON does."""
    return re.sub(r"\\x([0-9a-f]{2})", r"\\u00\1", text).replace("\\a", "\\u0007").replace("\\v", "\\u000b")


def test_slurmctld(tmp_path: Path) -> None:
    """All names at once: the controller loads the tree, and finds each node under its switch."""
    files, names = accepted("slurm")
    leaves = re.findall(
        r"SwitchName=(\S+) Level=0 .*Nodes=(\S+)", slurm_loads(files["slurm/conf/topology.conf"], names, tmp_path)
    )
    conf = {"SLURM_CONF": str(tmp_path / "slurm.conf")}
    found = [n for _, nodes in leaves for n in run("scontrol", "show", "hostnames", nodes, **conf).stdout.split()]
    assert sorted(found) == sorted(names), set(names) ^ set(found)
    assert len(set(EVERY) & set(names)) > 10


def test_kubernetes_slurm_and_containerlab_load_as_texts() -> None:
    """In YAML a name is a text: no number, truth value, date, tag or alias. Loaded as YAML 1.1 has it, with all its types."""
    for target in ("kubernetes", "slurm", "containerlab", "topograph", "volcano"):
        files, names = accepted(target)
        texts = [data.decode() for p, data in files.items() if p.endswith((".yaml", ".yml")) and p.startswith(target)]
        found = {x for text in texts for document in yaml.load_all(text, Loader=yaml.FullLoader) for x in _texts(document)}
        found |= {part for text in found for part in re.split(r"[\s,:]+", text)}
        found |= {host for text in found if "[" in text for host in host_list(text)} if target == "slurm" else set()
        of_nodes = ("kubernetes", "topograph", "volcano")
        known = {n.lower() for n in names} if target in of_nodes else set(names)  # RFC 1123
        assert known <= found, (target, known - found)


def _texts(value: object) -> set[str]:
    if isinstance(value, dict):
        return set().union(*(_texts(k) | _texts(v) for k, v in value.items()))
    if isinstance(value, list):
        return set().union(*map(_texts, value))
    return {value} if isinstance(value, str) else set()


@pytest.mark.parametrize(("target", "table"), [("netbox", "6-devices"), ("nautobot", "7-devices")])
def test_tables_of_inventories(target: str, table: str) -> None:
    """A name that a table would begin with a formula stands behind an apostrophe."""
    files, names = accepted(target)
    rows = csv_rows(files, f"{target}/{table}.csv")
    there = {r["name"] for r in rows}
    assert {spreadsheet_cell(n) for n in names} <= there and len(there) == len(rows)


def test_graphviz() -> None:
    dot = need_program("dot", "graphviz")
    files, names = accepted("p2p")
    done = subprocess.run([dot, "-Tdot_json"], input=files["p2p/topology.dot"], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = plain(str(n["name"]) for n in json.loads(done.stdout)["objects"])
    assert len(found) >= len(set(names))
    simple = {n for n in names if not re.search(r"[\x00-\x1f\\%\ufffe\uffff]", n)}  # graphviz shows its own escapes of these
    assert plain(simple) <= found, plain(simple) - found
