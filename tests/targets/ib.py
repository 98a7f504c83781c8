"""Runs a netlist as a subnet: ibsim simulates it, OpenSM routes it, ibnetdiscover tells what is cabled."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

PROGRAMS = ("ibsim", "opensm", "ibnetdiscover")
PRELOAD = "libumad2sim.so"
_NODE = re.compile(r'^(?:Switch|Ca|Hca)\s+\d+ "([^"]+)"\s*# "([^"]*)"')
_PORT = re.compile(r'^\[(\d+)\](?:\([0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]')

End = tuple[str, int]
Wire = frozenset[End]


@dataclass(frozen=True, slots=True)
class Subnet:
    """What the programs found: node descriptions, the links between (description, port), and what OpenSM logged."""

    nodes: frozenset[str]
    wires: frozenset[Wire]
    log: str
    scratch: Path

    def credit_loops(self) -> bool:
        """Whether ibdmchk finds a loop of credits in the tables that OpenSM wrote. It ends in a crash after its verdict."""
        program = _which("ibdmchk")
        if program is None:
            pytest.skip("ibdmchk is not installed: apt-get install ibutils")
        dumps = ["-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"]
        told = subprocess.run([program, *dumps], cwd=self.scratch, capture_output=True, text=True, timeout=120).stdout
        clean, looped = "no credit loops found" in told, "Found credit loop on:" in told
        assert clean != looped, told[-2000:]
        return looped


def need() -> None:
    """Skip where the programs are not installed; fail where they must be."""
    missing = [p for p in PROGRAMS if _which(p) is None]
    if _preload() is None:
        missing.append(PRELOAD)
    if not missing:
        return
    why = f"{', '.join(missing)} not installed: apt-get install opensm ibsim-utils infiniband-diags"
    if os.environ.get("CI") == "true" and os.geteuid() == 0:
        pytest.fail(why)
    pytest.skip(why)


def discover(netlist: bytes, scratch: Path, config: bytes = b"", engine: str = "ftree,no_fallback") -> Subnet:
    """Simulate a netlist, route it, and read back nodes and links."""
    (scratch / "fabric.net").write_bytes(netlist)
    (scratch / "osm.conf").write_bytes(config)
    environment = {
        "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin",
        "IBSIM_SOCKNAME": f"tdsl-{uuid4().hex[:12]}",
        "OSM_TMP_DIR": str(scratch),
        "OSM_CACHE_DIR": str(scratch),
    }
    with _simulator(scratch, environment):
        client = {**environment, "LD_PRELOAD": str(_preload())}
        routing = ["-R", engine] if engine else []
        _opensm(
            [*routing, "-F", "./osm.conf", "--dump_files_dir", ".", "-f", "osm.log", "-e", "-o", "-s", "0", "-D", "0x43"],
            scratch,
            client,
        )
        found = subprocess.run(["ibnetdiscover"], cwd=scratch, env=client, capture_output=True, text=True, timeout=60)
    log = (scratch / "osm.log").read_text(errors="replace")
    nodes, wires = read_netlist(found.stdout)
    return Subnet(nodes, wires, log, scratch)


@dataclass
class Lab:
    """A simulator that runs, with subnet managers to start and stop."""

    scratch: Path
    environment: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]]

    def manage(self, name: str, config: bytes, host: str = "") -> None:
        """Start a subnet manager on a host (an adapter's identifier in the netlist); files it names lie in the scratch folder."""
        (self.scratch / f"{name}.conf").write_bytes(config.replace(b"/etc/opensm/", f"{self.scratch}/".encode()))
        own = {**self.environment, **({"SIM_HOST": host} if host else {})}
        place = self.scratch / name
        place.mkdir()
        own |= {"OSM_TMP_DIR": str(place), "OSM_CACHE_DIR": str(place), "LD_PRELOAD": str(_preload())}
        nowhere = subprocess.DEVNULL
        command = [_which("opensm") or "opensm", "-F", f"../{name}.conf", "-f", "osm.log", "-d", "2", "-D", "0x43",
                   "--dump_files_dir", "."]  # fmt: skip
        self.running[name] = subprocess.Popen(command, cwd=place, env=own, stdout=nowhere, stderr=nowhere)

    def stop(self, name: str) -> None:
        """End a subnet manager."""
        process = self.running.pop(name)
        process.kill()
        process.wait(10)

    def log(self, name: str) -> str:
        """What a manager has said so far."""
        path = self.scratch / name / "osm.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def awaited(self, name: str, *words: str, seconds: float = 30) -> str:
        """A manager's log, once it says all of these."""
        until = time.monotonic() + seconds
        while not all(w in self.log(name) for w in words):
            assert time.monotonic() < until, f"{name} does not say {words}: {self.log(name)[-1500:]}"
            time.sleep(0.05)
        return self.log(name)

    def ask(self, *command: str, host: str = "") -> str:
        """What a program of infiniband-diags prints."""
        own = {**self.environment, "LD_PRELOAD": str(_preload()), **({"SIM_HOST": host} if host else {})}
        program = _which(command[0]) or command[0]
        told = subprocess.run([program, *command[1:]], cwd=self.scratch, env=own, capture_output=True, text=True, timeout=60)
        assert told.returncode >= 0, (command, "crashed")
        return told.stdout


def loops_with_levels(lab: Lab, name: str) -> str:
    """What ibdmchk says of loops of credits where the manager spreads paths over service levels and virtual lanes: the level of
    each pair of adapters is asked of the subnet's own administration."""
    program = _which("ibdmchk")
    if program is None:
        pytest.skip("ibdmchk is not installed: apt-get install ibutils")
    place = lab.scratch / name
    lids = {int(guid, 16): int(lid, 16) for guid, lid, *_ in map(str.split, filter(None, _lines(place / "guid2lid")))}
    nodes = [int(x, 16) for x in re.findall(r"^caguid=0x([0-9a-f]+)", (lab.scratch / "fabric.net").read_text(), re.M)]
    at = {node: lids[node + 1] for node in nodes}
    rows = []
    for source in nodes:
        for target in nodes:
            if source != target:
                told = lab.ask("saquery", "PR", "--slid", str(at[source]), "--dlid", str(at[target]))
                level = re.search(r"^\s*sl\.+0x([0-9A-Fa-f]+)", told, re.M)
                assert level is not None, told
                rows.append(f"0x{source:016x} {at[target]} {int(level[1], 16)}\n")
    (place / "psl.txt").write_text("".join(rows))
    dumps = ["-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs", "-c", "psl.txt", "-d", "opensm-sl2vl.dump"]
    return subprocess.run([program, *dumps], cwd=place, capture_output=True, text=True, timeout=120).stdout


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@contextmanager
def lab(netlist: bytes, scratch: Path, files: Mapping[str, bytes]) -> Iterator[Lab]:
    """A simulated subnet, with these files for its managers."""
    (scratch / "fabric.net").write_bytes(netlist)
    for name, content in files.items():
        (scratch / name).write_bytes(content)
    environment = {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", "IBSIM_SOCKNAME": f"tdsl-{uuid4().hex[:12]}"}
    with _simulator(scratch, environment):
        made = Lab(scratch, environment, {})
        try:
            yield made
        finally:
            for name in tuple(made.running):
                made.stop(name)


def read_netlist(text: str) -> tuple[frozenset[str], frozenset[Wire]]:
    """Nodes and links of a netlist, by description: of what tdsl writes, and of what ibnetdiscover prints."""
    described: dict[str, str] = {}
    ports: list[tuple[str, int, str, int]] = []
    here = ""
    for line in text.splitlines():
        node, port = _NODE.match(line), _PORT.match(line)
        if node:
            here = node[1]
            described[here] = node[2]
        elif port:
            ports.append((here, int(port[1]), port[2], int(port[3])))
    wires = frozenset(frozenset(((described[a], p), (described[b], q))) for a, p, b, q in ports)
    return frozenset(described.values()), wires


def _which(program: str) -> str | None:
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def _preload() -> Path | None:
    return next(Path("/usr/lib").glob(f"*/umad2sim/{PRELOAD}"), None)


@contextmanager
def _simulator(scratch: Path, environment: dict[str, str]) -> Iterator[None]:
    """ibsim while the block runs. Its console is a pipe that stays open, or it would stop at once."""
    output = (scratch / "ibsim.out").open("wb")
    limits = ["-N", "20000", "-S", "2000", "-P", "400000"]
    process = subprocess.Popen(
        [_which("ibsim") or "ibsim", "-s", *limits, "fabric.net"],
        cwd=scratch, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        _await_ready(process, scratch / "ibsim.out")
        yield
    finally:
        process.kill()
        process.wait(10)
        if process.stdin:
            process.stdin.close()
        output.close()


def _await_ready(process: subprocess.Popen[bytes], output: Path) -> None:
    until = time.monotonic() + 30
    while "Network simulator ready" not in output.read_text(errors="replace"):
        assert process.poll() is None, f"ibsim stopped: {output.read_text(errors='replace')[-800:]}"
        assert time.monotonic() < until, "ibsim is not ready after 30 s"
        time.sleep(0.02)


def _opensm(arguments: list[str], scratch: Path, environment: dict[str, str]) -> None:
    """One sweep. Where no engine can route the subnet OpenSM never ends: it is stopped, and its log tells."""
    program, nowhere = _which("opensm") or "opensm", subprocess.DEVNULL
    process = subprocess.Popen([program, *arguments], cwd=scratch, env=environment, stdout=nowhere, stderr=nowhere)
    log = scratch / "osm.log"
    until = time.monotonic() + 90
    try:
        while process.poll() is None and time.monotonic() < until:
            if log.exists() and "No routing engine able to successfully configure" in log.read_text(errors="replace"):
                break
            time.sleep(0.05)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
