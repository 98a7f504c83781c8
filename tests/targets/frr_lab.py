"""A fabric of real routers: every device a network namespace, every link a pair of virtual interfaces, FRR's own daemons."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import need_program
from tests.targets.build import port_names, rows

DAEMONS = Path("/usr/lib/frr")


def need() -> None:
    """Skip where FRR is not installed or namespaces cannot be made; fail where they must be."""
    if os.geteuid() != 0:
        pytest.skip("only root makes network namespaces")
    for name, package in (
        ("vtysh", "frr"),
        ("ip", "iproute2"),
        ("ping", "iputils-ping"),
        ("lldpd", "lldpd"),
        ("netplan", "netplan.io"),
    ):
        need_program(name, package)
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, timeout=10).returncode:
        pytest.skip("no network namespaces on this machine")


def reads(conf: bytes, place: Path) -> bool:
    """Whether vtysh takes a configuration."""
    path = place / "frr.conf"
    path.write_bytes(conf)
    command = [need_program("vtysh", "frr"), "-C", "-f", str(path)]
    return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0


@dataclass(frozen=True, slots=True)
class Wire:
    """A link between two routers: device and interface at each end."""

    a: tuple[str, str]
    b: tuple[str, str]


def wires(files: dict[str, bytes]) -> list[Wire]:
    """The links of fabric.json, by the names that operating systems use."""
    name = port_names(files)
    links = ([(x[f"{e}_device"], x[f"{e}_port"]) for e in "ab"] for x in rows(files, "links"))
    return [Wire((a[0], name(*a)), (b[0], name(*b))) for a, b in links]


@dataclass(frozen=True, slots=True)
class Lab:
    """Running routers."""

    tag: str
    scratch: Path
    names: tuple[str, ...]
    wires: tuple[Wire, ...]
    children: list[subprocess.Popen[bytes]]  # in sessions of their own

    def space(self, name: str) -> str:
        """The namespace of a device."""
        return f"{self.tag}-{self.names.index(name)}"

    def shell(self, name: str, *command: str, timeout: float = 20) -> subprocess.CompletedProcess[str]:
        """Run a command on a device."""
        return subprocess.run(
            ["ip", "netns", "exec", self.space(name), *command], capture_output=True, text=True, timeout=timeout, check=False
        )

    def vtysh(self, name: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run vtysh for a router's daemons."""
        asked = ["vtysh", "--vty_socket", str(self.scratch / self.space(name)), *command]
        return subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False)

    def ask(self, name: str, question: str) -> Any:
        """What a router answers, as JSON."""
        return json.loads(self.vtysh(name, "-c", f"{question} json").stdout or "{}")

    def running_config(self, name: str) -> set[str]:
        """The lines that a router has taken."""
        return set(self.vtysh(name, "-c", "show running-config").stdout.split("\n"))

    def hops(self, name: str, version: int = 4) -> dict[str, set[str]]:
        """Prefix -> interfaces of the active next hops, of the routes in use; an aggregate leads nowhere where it is made."""
        table = self.ask(name, f"show {'ip' if version == 4 else 'ipv6'} route")
        used = {prefix: [h for r in routes if r.get("selected") for h in r["nexthops"]] for prefix, routes in table.items()}
        return {p: {h["interfaceName"] for h in n if h.get("active") and "interfaceName" in h} for p, n in used.items()}

    def reaches(self, name: str, address: str, source: str = "", *more: str) -> bool:
        """Whether a ping comes back."""
        asked = ["ping", "-c", "1", "-W", "2", *more, *(["-I", source] if source else []), address]
        return self.shell(name, *asked).returncode == 0

    def signal(self, name: str, daemon: str, what: str) -> None:
        """Send a signal to a daemon of a device."""
        pid = (self.scratch / self.space(name) / f"{daemon}.pid").read_text().strip()
        subprocess.run(["kill", f"-{what}", pid], capture_output=True, timeout=10, check=True)

    def start(self, name: str, *daemons: str) -> None:
        """Start daemons of FRR and hand them the configuration, as a switch does at boot: vtysh gives each its lines."""
        home = self.scratch / self.space(name)
        for daemon in daemons:
            command = [
                str(DAEMONS / daemon), "-d", "-F", "datacenter", "-f", str(home / "empty.conf"),
                "-i", str(home / f"{daemon}.pid"), "-z", str(home / "zserv.api"), "--vty_socket", str(home), "-A", "127.0.0.1",
                *(["--bfdctl", str(home / "bfdd.sock")] if daemon == "bfdd" else []),
            ]  # fmt: skip
            done = self.shell(name, *command, timeout=30)
            assert done.returncode == 0, (daemon, done.stdout, done.stderr)
        done = self.vtysh(name, "-f", str(home / "frr.conf"))
        assert done.returncode == 0, (name, done.stdout, done.stderr)

    def hear(self) -> None:
        """Start lldpd on every device; it tells its neighbours the device's name and its interfaces'. Now and then one that
        starts under load neither answers, sends nor hears: it is started anew."""
        silent = list(self.names)
        for _ in range(12):
            for name in silent:
                self._start_lldpd(name)
            end = time.monotonic() + 5
            while silent and time.monotonic() < end:
                silent = [n for n in silent if not self._heard(n)]
        assert not silent, silent

    def _start_lldpd(self, name: str) -> None:
        home = self.scratch / self.space(name)
        (home / "lldpd").unlink(missing_ok=True)
        for child in [c for c in self.children if c.args[3] == self.space(name)]:  # type: ignore[index]
            _kill(child)
            self.children.remove(child)
        ends = ",".join(sorted(i for w in self.wires for d, i in (w.a, w.b) if d == name))
        script = f"hostname {name}; exec lldpd -d -u {home}/lldpd -I {ends} -C {ends} -S {name}"
        self.children.append(subprocess.Popen(
            ["ip", "netns", "exec", self.space(name), "unshare", "--uts", "sh", "-c", script],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        ))  # fmt: skip
        end = time.monotonic() + 8
        while self._lldp(name, "configure", "lldp", "tx-interval", "1").returncode and time.monotonic() < end:
            time.sleep(0.1)

    def neighbours(self) -> set[frozenset[tuple[str, str]]]:
        """The links that lldpd sees: the end that hears, and the far device and interface as they call themselves."""
        return set().union(*map(self._heard, self.names))

    def _heard(self, name: str) -> set[frozenset[tuple[str, str]]]:
        heard = json.loads(self._lldp(name, "-f", "json0", "show", "neighbors").stdout or "{}")
        out = set()
        for entry in heard.get("lldp", [{}])[0].get("interface", []):
            far = entry["chassis"][0]["name"][0]["value"], entry["port"][0]["descr"][0]["value"]
            out.add(frozenset(((name, entry["name"]), far)))
        return out

    def _lldp(self, name: str, *asked: str) -> subprocess.CompletedProcess[str]:
        return self.shell(name, "lldpcli", "-u", str(self.scratch / self.space(name) / "lldpd"), *asked)

    def cut(self, device: str, interface: str) -> None:
        """Take a link down at one end."""
        self.shell(device, "ip", "link", "set", interface, "down")


def until(told: Callable[[], Any], wanted: Any, seconds: float = 40) -> None:
    """Wait until an answer is the one wanted."""
    end = time.monotonic() + seconds
    while (found := told()) != wanted:
        if time.monotonic() > end:
            raise AssertionError(f"still {found!r}, not {wanted!r}")
        time.sleep(0.2)


@contextmanager
def cabled(plan: Sequence[Wire], mtu: int = 1500) -> Iterator[Lab]:
    """Namespaces and links alone, without routers, for what lldpd hears; all that is started there is stopped by its pid."""
    scratch = Path(mkdtemp(prefix="lab-"))  # the daemons give up root and must find it, which pytest's own folder forbids
    scratch.chmod(0o755)
    lab = Lab(f"t{uuid4().hex[:6]}", scratch, tuple(dict.fromkeys(d for w in plan for d, _ in (w.a, w.b))), tuple(plan), [])
    try:
        _cable(lab, mtu)
        for name in lab.names:
            (scratch / lab.space(name)).mkdir(mode=0o755)
        yield lab
    finally:
        for child in lab.children:
            _kill(child)
        for pid in scratch.glob("*/*.pid"):
            subprocess.run(["kill", "-KILL", pid.read_text().strip()], capture_output=True, timeout=10, check=False)
        for name in lab.names:
            subprocess.run(["ip", "netns", "del", lab.space(name)], capture_output=True, timeout=20, check=False)
        shutil.rmtree(scratch)


@contextmanager
def running(files: dict[str, bytes], planned: Sequence[str] = (), managed: Sequence[str] = ()) -> Iterator[Lab]:
    """Routers of a build, their links up. Hosts that are ``planned`` have their netplan file alone and no FRR, and those that are
    ``managed`` an eth0 beside."""
    confs = {p.split("/")[1]: b for p, b in files.items() if p.endswith("/frr.conf")}
    with cabled([w for w in wires(files) if w.a[0] in confs and w.b[0] in confs], 9216) as lab:
        for name in lab.names:
            home = lab.scratch / lab.space(name)
            if name in managed:
                _batch(["link add eth0 type veth peer name p0", "link set eth0 up", "link set p0 up"], lab.space(name))
            if name in planned:
                _batch(netplan(files[f"frr/{name}/netplan.yaml"], home), lab.space(name))
                continue
            conf = confs[name]
            if script := files.get(f"frr/{name}/evpn.sh"):
                done = lab.shell(name, "sh", "-c", script.decode())
                assert done.returncode == 0, (name, done.stderr)
            (home / "frr.conf").write_bytes(conf)
            (home / "empty.conf").write_bytes(b"")
            for path in (home, *home.iterdir()):
                shutil.chown(path, "frr", "frr")
            routed = ["bgpd"] if b"\nrouter bgp" in conf else ["staticd"]
            lab.start(name, "zebra", *(["bfdd"] if b" bfd\n" in conf else []), *routed)
        yield lab


def netplan(content: bytes, home: Path) -> list[str]:
    """What systemd-networkd is told by the files that netplan makes of one, as commands of ``ip``."""
    etc = home / "etc" / "netplan"
    etc.mkdir(parents=True)
    (etc / "60-fabric.yaml").write_bytes(content)
    (etc / "60-fabric.yaml").chmod(0o600)
    done = subprocess.run(
        ["netplan", "generate", "--root-dir", str(home)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), (content, done.stderr)
    out, network = [], home / "run" / "systemd" / "network"
    for path in sorted(network.glob("*.netdev")):
        told = dict(re.findall(r"^(\w+)=(.*)$", path.read_text(), re.M))
        if told["Kind"] == "bond":
            more = f"mode {told['Mode']} lacp_rate {told['LACPTransmitRate']} xmit_hash_policy {told['TransmitHashPolicy']}"
            out += [f"link add {told['Name']} type bond {more} miimon 100", f"link set {told['Name']} up"]
    for path in sorted(network.glob("*.network")):
        sections = [(b.partition("]")[0], re.findall(r"^(\w+)=(.*)$", b, re.M)) for b in path.read_text().split("\n[")]
        name = next(v for k, v in sections[0][1] if k == "Name")
        for head, pairs in sections:
            told = dict(pairs)
            if head == "Link":
                out.append(f"link set {name} mtu {told['MTUBytes']}")
            elif head == "Network":
                out += [f"address add {v} dev {name}" for k, v in pairs if k == "Address"]
                if bond := told.get("Bond"):
                    out += [f"link set {name} down", f"link set {name} master {bond}", f"link set {name} up"]
            elif head == "Route":
                where = "".join(f" {w} {told[k]}" for k, w in (("Metric", "metric"), ("Table", "table")) if k in told)
                via = f"via {told['Gateway']}" if "Gateway" in told else f"scope {told['Scope']}"
                out.append(f"route add {told['Destination']} {via} dev {name}{where}")
            elif head == "RoutingPolicyRule":
                out.append(f"rule add from {told['From']} table {told['Table']} priority {told['Priority']}")
    return out


def _cable(lab: Lab, mtu: int) -> None:
    _batch([f"netns add {lab.space(n)}" for n in lab.names])
    for n in lab.names:
        forward = "net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.fib_multipath_hash_policy=1"
        lab.shell(n, "sysctl", "-qw", *forward.split(), "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0")
    ends = [((lab.space(w.a[0]), w.a[1]), (lab.space(w.b[0]), w.b[1])) for w in lab.wires]
    _batch([f"link add {p} mtu {mtu} netns {a} type veth peer name {q} mtu {mtu} netns {b}" for (a, p), (b, q) in ends])
    for n in lab.names:
        own = [i for w in lab.wires for d, i in (w.a, w.b) if d == n]
        _batch([f"link set {i} up" for i in ("lo", *own)], lab.space(n))


def _batch(lines: list[str], space: str = "") -> None:
    where = ["-n", space] if space else []
    later = [x for x in lines if re.match(r"rule add from \S+:", x)]  # a rule takes the version of the one before
    for family, mine in (([], [x for x in lines if x not in later]), (["-6"], later)):
        command = ["ip", *where, *family, "-batch", "-"]
        done = subprocess.run(command, input="\n".join(mine), text=True, timeout=60, check=False, capture_output=True)
        assert done.returncode == 0, (mine, done.stderr)


def _kill(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait(10)
