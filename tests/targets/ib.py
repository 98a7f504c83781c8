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
from itertools import permutations
from pathlib import Path
from uuid import uuid4

from tests.conftest import need_program

PROGRAMS = {"ibsim": "ibsim-utils", "opensm": "opensm", "ibnetdiscover": "infiniband-diags"}
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
        """Whether ibdmchk finds a loop of credits in the tables that OpenSM wrote."""
        return ibdmchk(self.scratch)


def ibdmchk(folder: Path, *more: str) -> bool:
    """Whether ibdmchk finds a loop of credits in OpenSM's dumps. It ends in a crash after its verdict."""
    dumps = ["-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs", *more]
    command = [need_program("ibdmchk", "ibutils"), *dumps]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120).stdout
    clean, looped = "no credit loops found" in told, "Found credit loop on:" in told
    assert clean != looped, told[-2000:]
    return looped


def need() -> None:
    """Skip where the programs are not installed; fail where they must be."""
    for program, package in PROGRAMS.items():
        need_program(program, package)
    assert _preload() is not None, f"no {PRELOAD}, which is of ibsim-utils"


def discover(netlist: bytes, scratch: Path, config: bytes = b"", engine: str = "ftree,no_fallback") -> Subnet:
    """Simulate a netlist, route it, and read back nodes and links. Where no engine can route the subnet OpenSM tries for ever:
    its log tells."""
    with lab(netlist, scratch, {}) as made:
        made.manage("sm", config, "", *(["-R", engine] if engine else []))
        made.awaited("sm", "SUBNET UP", instead="No routing engine able to successfully configure")
        nodes, wires = read_netlist(made.ask("ibnetdiscover"))
    return Subnet(nodes, wires, made.log("sm"), scratch / "sm")


@dataclass
class Lab:
    """A simulator that runs, with subnet managers to start and stop."""

    scratch: Path
    environment: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]]

    def manage(self, name: str, config: bytes, host: str = "", *more: str) -> None:
        """Start a subnet manager on a host (an adapter's identifier in the netlist); files it names lie in the scratch folder."""
        (self.scratch / f"{name}.conf").write_bytes(config.replace(b"/etc/opensm/", f"{self.scratch}/".encode()))
        place = self.scratch / name
        place.mkdir()
        own = self._client(host) | {"OSM_TMP_DIR": str(place), "OSM_CACHE_DIR": str(place)}
        how = ["-F", f"../{name}.conf", "-f", "osm.log", "-d", "2", "-D", "0x43", "--dump_files_dir", ".", *more]
        nowhere = subprocess.DEVNULL
        self.running[name] = subprocess.Popen([_which("opensm"), *how], cwd=place, env=own, stdout=nowhere, stderr=nowhere)

    def _client(self, host: str) -> dict[str, str]:
        return {**self.environment, "LD_PRELOAD": str(_preload()), **({"SIM_HOST": host} if host else {})}

    def stop(self, name: str) -> None:
        """End a subnet manager."""
        process = self.running.pop(name)
        process.kill()
        process.wait(10)

    def log(self, name: str) -> str:
        """What a manager has said so far."""
        path = self.scratch / name / "osm.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def awaited(self, name: str, *words: str, instead: str = "\0", seconds: float = 60) -> str:
        """A manager's log, once it says all of these, or the other."""
        until = time.monotonic() + seconds
        while not all(w in self.log(name) for w in words) and instead not in self.log(name):
            assert time.monotonic() < until, f"{name} does not say {words}: {self.log(name)[-1500:]}"
            time.sleep(0.05)
        return self.log(name)

    def ask(self, *command: str, host: str = "") -> str:
        """What a program of infiniband-diags prints."""
        asked = [_which(command[0]), *command[1:]]
        told = subprocess.run(asked, cwd=self.scratch, env=self._client(host), capture_output=True, text=True, timeout=60)
        assert told.returncode >= 0, (command, "crashed")
        return told.stdout


def loops_with_levels(lab: Lab, name: str) -> bool:
    """The same where the manager spreads paths over service levels and virtual lanes: the level of each pair of adapters is asked
    of the subnet's own administration."""
    place = lab.scratch / name
    lids = {int(guid, 16): int(lid, 16) for guid, lid, *_ in map(str.split, filter(None, _lines(place / "guid2lid")))}
    nodes = [int(x, 16) for x in re.findall(r"^caguid=0x([0-9a-f]+)", (lab.scratch / "fabric.net").read_text(), re.M)]
    rows = []
    for source, target in permutations(nodes, 2):
        told = lab.ask("saquery", "PR", "--slid", str(lids[source + 1]), "--dlid", str(lids[target + 1]))
        level = re.search(r"^\s*sl\.+0x([0-9A-Fa-f]+)", told, re.M)
        assert level is not None, told
        rows.append(f"0x{source:016x} {lids[target + 1]} {int(level[1], 16)}\n")
    (place / "psl.txt").write_text("".join(rows))
    return ibdmchk(place, "-c", "psl.txt", "-d", "opensm-sl2vl.dump")


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@contextmanager
def lab(netlist: bytes, scratch: Path, files: Mapping[str, bytes]) -> Iterator[Lab]:
    """A simulated subnet, with these files for its managers."""
    (scratch / "fabric.net").write_bytes(netlist)
    for name, content in files.items():
        (scratch / name).write_bytes(content)
    environment = _surroundings()
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


PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def _surroundings() -> dict[str, str]:
    return {"PATH": PATH, "IBSIM_SOCKNAME": f"tdsl-{uuid4().hex[:12]}"}


def _which(program: str) -> str:
    return shutil.which(program, path=PATH) or program


def _preload() -> Path | None:
    return next(Path("/usr/lib").glob(f"*/umad2sim/{PRELOAD}"), None)


@contextmanager
def _simulator(scratch: Path, environment: dict[str, str]) -> Iterator[None]:
    """ibsim while the block runs. Its console is a pipe that stays open, or it would stop at once."""
    output = (scratch / "ibsim.out").open("wb")
    limits = ["-N", "20000", "-S", "2000", "-P", "400000"]
    command = [_which("ibsim"), "-s", *limits, "fabric.net"]
    pipes = {"stdin": subprocess.PIPE, "stdout": output, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=scratch, env=environment, **pipes)  # type: ignore[call-overload]
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
