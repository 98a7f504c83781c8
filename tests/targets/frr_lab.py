"""A fabric of real routers: every device a network namespace, every link a pair of virtual interfaces, FRR's own daemons."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

DAEMONS = Path("/usr/lib/frr")


def need() -> None:
    """Skip where FRR is not installed or namespaces cannot be made; fail where they must be."""
    why = ""
    if not (DAEMONS / "bgpd").exists() or shutil.which("vtysh") is None:
        why = "FRR is not installed: apt-get install frr"
    elif os.geteuid() != 0:
        pytest.skip("only root makes network namespaces")
    elif shutil.which("ip") is None or shutil.which("ping") is None:
        why = "ip or ping is not installed: apt-get install iproute2 iputils-ping"
    elif subprocess.run(["unshare", "-n", "true"], capture_output=True, timeout=10).returncode:
        pytest.skip("no network namespaces on this machine")
    if why and os.environ.get("CI") == "true" and os.geteuid() == 0:
        pytest.fail(why)
    if why:
        pytest.skip(why)


def need_vtysh() -> None:
    """Skip where vtysh is not installed; fail where it must be."""
    if shutil.which("vtysh") is None:
        if os.environ.get("CI") == "true" and os.geteuid() == 0:
            pytest.fail("vtysh is not installed: apt-get install frr")
        pytest.skip("vtysh is not installed: apt-get install frr")


@dataclass(frozen=True, slots=True)
class Wire:
    """A link between two routers: device and interface at each end."""

    a: tuple[str, str]
    b: tuple[str, str]


def wires(data: Mapping[str, Any]) -> list[Wire]:
    """The links of fabric.json, by the names that operating systems use."""

    def rows(table: str) -> list[dict[str, Any]]:
        return [dict(zip(data[table]["columns"], r, strict=True)) for r in data[table]["rows"]]

    model = {d["name"]: d["model"] for d in rows("devices")}
    system = {(m["key"], p[0]): p[3] for m in data["models"] for c in m["classes"] for p in c["ports"]}
    return [
        Wire(
            (x["a_device"], system[model[x["a_device"]], x["a_port"]]), (x["b_device"], system[model[x["b_device"]], x["b_port"]])
        )
        for x in rows("links")
    ]


@dataclass(frozen=True, slots=True)
class Lab:
    """Running routers."""

    tag: str
    scratch: Path
    names: tuple[str, ...]
    wires: tuple[Wire, ...]

    def space(self, name: str) -> str:
        """The namespace of a device."""
        return f"{self.tag}-{self.names.index(name)}"

    def shell(self, name: str, *command: str, timeout: float = 20) -> subprocess.CompletedProcess[str]:
        """Run a command on a device."""
        return subprocess.run(
            ["ip", "netns", "exec", self.space(name), *command], capture_output=True, text=True, timeout=timeout, check=False
        )

    def ask(self, name: str, question: str) -> Any:
        """What a router answers, as JSON."""
        told = subprocess.run(
            ["vtysh", "--vty_socket", str(self.scratch / self.space(name)), "-c", f"{question} json"],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
        return json.loads(told.stdout or "{}")

    def hops(self, name: str, version: int = 4) -> dict[str, set[str]]:
        """Prefix -> interfaces of the active next hops, of the routes in use."""
        table = self.ask(name, f"show {'ip' if version == 4 else 'ipv6'} route")
        return {
            prefix: {h["interfaceName"] for r in routes if r.get("selected") for h in r["nexthops"] if h.get("active")}
            for prefix, routes in table.items()
        }

    def reaches(self, name: str, address: str, source: str = "") -> bool:
        """Whether a ping comes back."""
        asked = ["ping", "-c", "1", "-W", "2", *(["-I", source] if source else []), address]
        return self.shell(name, *asked).returncode == 0

    def cut(self, device: str, interface: str) -> None:
        """Take a link down at one end."""
        self.shell(device, "ip", "link", "set", interface, "down")


def until(told: Callable[[], Any], wanted: Any, seconds: float = 40) -> None:
    """Wait until an answer is the one wanted."""
    end = time.monotonic() + seconds
    while (found := told()) != wanted:
        if time.monotonic() > end:
            raise AssertionError(f"still {found!r}, not {wanted!r}")
        time.sleep(0.5)


@contextmanager
def running(files: Mapping[str, bytes], scratch: Path) -> Iterator[Lab]:
    """Routers of a build, their links up; all that was started is stopped by its pid."""
    confs = {p.split("/")[1]: b for p, b in files.items() if p.endswith("/frr.conf")}
    plan = [w for w in wires(json.loads(files["fabric.json"])) if w.a[0] in confs and w.b[0] in confs]
    lab = Lab(f"t{uuid4().hex[:6]}", scratch, tuple(confs), tuple(plan))
    scratch.chmod(0o755)
    for parent in scratch.parents:  # the daemons give up root and must find their folder
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    try:
        _cable(lab)
        for name, conf in confs.items():
            _start(lab, name, conf)
        yield lab
    finally:
        _stop(lab)


def _cable(lab: Lab) -> None:
    lines = [f"netns add {lab.space(n)}" for n in lab.names]
    _batch(lines)
    for n in lab.names:
        forward = "net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.fib_multipath_hash_policy=1"
        lab.shell(n, "sysctl", "-qw", *forward.split(), "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0")
    lines = [f"-n {lab.space(n)} link set lo up" for n in lab.names]
    for w in lab.wires:
        (a, p), (b, q) = (lab.space(w.a[0]), w.a[1]), (lab.space(w.b[0]), w.b[1])
        lines += [f"link add {p} netns {a} type veth peer name {q} netns {b}"]
    _batch([x for x in lines if not x.startswith("-n")])
    for n in lab.names:
        ends = [i for w in lab.wires for d, i in (w.a, w.b) if d == n]
        _batch([f"link set {i} up" for i in ("lo", *ends)], lab.space(n))


def _batch(lines: list[str], space: str = "") -> None:
    where = ["-n", space] if space else []
    subprocess.run(["ip", *where, "-batch", "-"], input="\n".join(lines), text=True, timeout=60, check=True, capture_output=True)


def _start(lab: Lab, name: str, conf: bytes) -> None:
    home = lab.scratch / lab.space(name)
    home.mkdir(mode=0o755)
    (home / "frr.conf").write_bytes(conf)
    (home / "empty.conf").write_bytes(b"")
    for path in (home, *home.iterdir()):
        shutil.chown(path, "frr", "frr")
    wanted = ["zebra", "bgpd" if b"\nrouter bgp" in conf else "staticd"]
    for daemon in wanted:
        command = [
            str(DAEMONS / daemon), "-d", "-F", "datacenter", "-f", str(home / "empty.conf"), "-i", str(home / f"{daemon}.pid"),
            "-z", str(home / "zserv.api"), "--vty_socket", str(home), "-A", "127.0.0.1",
        ]  # fmt: skip
        done = lab.shell(name, *command, timeout=30)
        assert done.returncode == 0, (daemon, done.stdout, done.stderr)
    # As a switch does at boot: vtysh hands every line to the daemons that know it.
    done = lab.shell(name, "vtysh", "--vty_socket", str(home), "-f", str(home / "frr.conf"), timeout=30)
    assert done.returncode == 0, (name, done.stdout, done.stderr)


def _stop(lab: Lab) -> None:
    for pid in lab.scratch.glob("*/*.pid"):
        subprocess.run(["kill", "-KILL", pid.read_text().strip()], capture_output=True, timeout=10, check=False)
    for n in lab.names:
        subprocess.run(["ip", "netns", "del", lab.space(n)], capture_output=True, timeout=20, check=False)
