"""What many calls of the command line print, their exit status and the files that they leave: short texts whole, of long ones the
begin and a hash, as goldens."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl import __version__
from tests.cli.run import tdsl
from tests.conftest import Golden

MODELS = """\
model host H "A host" { port n[2]: 100Gbps { type X; os "eth{i}" }; height 2U; power 1kW max 2kW; price $10; mass 20kg }
model switch S { port p[1..12]: 100Gbps { type X; cage 2 QSFP; name "P{i}" }; height 1U; power 200W; price $50; mass 5kg }
"""
POD = """\
fabric pod "A pod" {
  param hosts: int = 4 where 1 <= hosts <= 6
  param up: int = 2
  phase 1 { hosts 2; needed "2027-01-15" }
  phase 2 { hosts 4 }
  host h[hosts]: H
  switch leaf[2]: S
  switch spine[2]: S
  connect h[i].n[r] to leaf[r]
  connect leaf[*] to spine[*] each x up
  naming leaf[i] "leaf-{i}"
  address leaf, spine loopback from 10.0.0.0/24
  address h[i].n[r] links from 172.16.0.0/24
  address leaf management from 192.168.0.10/24 { interface eth0; vrf oob }
  routing bgp { asn leaf[*] from 65001; asn spine[*] 65100 }
  hall room { row A, B { rack 1..2 { height 20U; power 8kW } }; pitch rack 0.6m, row 2m; tray above 2.5m; slack 0.5m }
  place h[i] in room.A[i % 2 + 1] at 1U + 3U*(i // 2)
  place leaf[k] in room.B[k + 1] at 18U
  place spine[*] in room.B[1] stacked from 10U
  require oversubscription <= 1:1
  require bisection >= 50% and survives any 1 of spine
  report bisection and diameter
}
"""
TWO = """\
fabric one {
  host h[2]: H
  switch s: S
  connect h[*] to s each
}
fabric two {
  host h[3]: H
  switch s[2]: S
  connect h[i].n[r] to s[r]
  connect s[0].p[12] to s[1].p[12]
  require node_redundancy >= 3 # it is not
}
"""
WAIVED = """\
fabric waived {
  host h[3]: H
  switch s: S
  connect h[i].n[0] to s
  require node_redundancy >= 2 # tdsl: allow(node_redundancy) until 2099-01-01: one leaf
}
"""
BROKEN = "fabric broken {\n  host h[2]: H\n  switch s: T\n  connect h[*] to s\n}\n"
FAILING = "# of the drill\nspine[0]\nleaf[0], spine[1]\nh[1] # a host\n"
PRICES = 'currency = "EUR"\ndate = "2026-11-01"\n[price]\nH = 7\nS = 100\n'
PLACES = "device,hall,row,rack,unit\none,,,,\n"
SITE = "ntp: [192.0.2.10]\nsyslog: [192.0.2.11]\nsnmp: {community: SNMP_READ}\n"
CABLES = "a_device,a_port,b_device,b_port,rate_gbps\nh0,eth0,leaf0,p1,100\nh1,eth0,leaf0,p2,100\nh0,eth1,leaf1,p1,100\n"
FILES = {
    "pod.fab": POD + MODELS, "two.fab": TWO + MODELS, "waived.fab": WAIVED + MODELS, "broken.fab": BROKEN + MODELS,
    "ugly.fab": MODELS.replace("; ", ";\n   ") + WAIVED.replace("  ", "      "), "drill.txt": FAILING, "prices.toml": PRICES,
    "places.csv": PLACES, "site.yaml": SITE, "cables.csv": CABLES, "secrets.txt": "# mine\nSNMP_READ=public9\n",
    "empty.fab": "", "none.txt": "# nothing\n",
}  # fmt: skip
TABLES = ("summary", "devices", "ports", "links", "cables", "addresses", "places", "racks", "metrics", "waivers")
CALLS: dict[str, list[str]] = {
    "show": [
        *(f"show pod.fab {what}" for what in TABLES),
        *(f"show two.fab {what} --format csv" for what in ("summary", "devices", "links", "metrics", "racks")),
        *(f"show pod.fab {what} --format json --phase 1" for what in ("summary", "cables", "addresses", "metrics")),
        "show pod.fab length leaf-0:p5", "show pod.fab length leaf-0:p99 --format csv", "show pod.fab length h0:n0 --format json",
        "show two.fab length s0:p12",
        "show pod.fab length", "show pod.fab links leaf-0:p5", "show waived.fab waivers --format csv",
        "show broken.fab waivers", "show broken.fab devices", "show two.fab graph", "show pod.fab graph --format json",
        "show pod.fab graph --format csv", "show pod.fab links --format gexf", "show pod.fab devices -o x.csv",
        "show pod.fab graph --format gexf -o pod.gexf", "show two.fab places --places places.csv", "show empty.fab",
        "show pod.fab --set hosts=9", "show pod.fab --set host=3", "show pod.fab --phase 7",
    ],
    "compare": [
        "compare pod.fab two.fab", "compare pod.fab --vary up=1,2,4", "compare pod.fab pod.fab --format csv",
        "compare pod.fab --vary up=1, --format json", "compare pod.fab two.fab --vary up=1", "compare broken.fab pod.fab",
        "compare pod.fab --prices prices.toml --format markdown", "compare pod.fab --vary up=1,9 --phase 1",
    ],
    "explore": [
        "explore pod.fab --vary up=1..3 --phase 2 --jobs 1",
        "explore pod.fab --vary up=1,2 --vary hosts=2,9 --format csv --jobs 1",
        "explore pod.fab --vary up=2,4 --x cost --y bisection --format markdown --plot plot.svg --jobs 1 --phase 2",
        "explore pod.fab --vary up=1,2 --x nothing --jobs 1", "explore pod.fab --vary up=1 --vary up=2",
        "explore pod.fab --vary up=5..2", "explore pod.fab --vary up=", "explore pod.fab --vary up=1..2000",
        "explore pod.fab --vary up=9,8 --format json --jobs 1", "explore broken.fab --vary up=1 --jobs 1",
    ],
    "check": [
        "check pod.fab --output-format concise",
        "check two.fab --output-format github", "check waived.fab --output-format concise",
        "check pod.fab two.fab --output-format gitlab", "check broken.fab", "check empty.fab", "check nowhere.fab",
        "check two.fab --select bisection --output-format concise", "check two.fab --ignore node_redundancy --fail-on warning",
        "check pod.fab --select nothing", "check pod.fab --scenarios drill.txt", "check pod.fab --scenarios none.txt",
        "check pod.fab --scenarios drill.txt --output-format json", "check two.fab --fail s[0] --output-format concise",
        "check two.fab --fail s[7]", "check pod.fab --fail-file drill.txt --output-format concise", "check ugly.fab --fix",
        "check pod.fab --report junit=a.xml --report sarif=b.sarif -o c.txt", "check pod.fab --report wrong=x",
        "check pod.fab --locked", "check pod.fab --output-format concise --second-opinion",
    ],
    "build": [
        "build pod.fab --target p2p --target json --out out",
        "build pod.fab --target p2p --target dns --out out --check",
        "verify out", "verify out --strict",
        "build pod.fab --target p2p --out part --only h[0]", "build pod.fab --target p2p --out part --only x",
        "build two.fab --target json --out two", "build two.fab --target json --out two --force", "verify two",
        "build broken.fab --out none", "build pod.fab --target cablin", "build pod.fab --target json --out pod.fab/x",
        "build pod.fab --target frr --option frr=1", "build pod.fab --target frr --option frr.aggregate=maybe --out f",
        "build pod.fab --target frr --option none.x=1", "build pod.fab --target dns --out out --check",
        "render out --secrets secrets.txt --to load",
        "build pod.fab --target p2p --site site.yaml --out s", "build pod.fab --target json --site drill.txt --out s",
    ],
    "files": [
        "fmt ugly.fab --diff",
        "fmt ugly.fab --check", "fmt ugly.fab pod.fab", "fmt ugly.fab --check", "fmt broken.fab nowhere.fab",
        "lock pod.fab", "lock pod.fab",
        "check pod.fab --locked --output-format concise", "lock broken.fab", "lock pod.fab --fresh",
        "expand two.fab", "expand broken.fab", "import cables.csv --hosts ^h", "import cables.csv --as flat --name flat -o i.fab",
        "import pod.fab", "import cables.csv --column a_device=x", "import cables.csv --rate 100Gbps --hosts (",
        "new target inventory", "new target inventory", "new target 9x", "init pod", "init mine --ci gitlab", "init mine --bare",
        "init 7", "init other --audit lldp --ci none",
        "audit two.fab --p2p cables.csv", "audit broken.fab --p2p cables.csv", "audit two.fab",
    ],
    "words": [
        "explain oversubscripton", "explain H", "explain E9999", "explain", "list cables --to QM9700",
        "list cables --for QM97000", "list cables --for MMA4Z00_NS", "list designs --for QM9700", "help nothing", "version",
        "lint-nccl pod.fab", "lint-nccl nowhere.xml", "frobnicate", "chek pod.fab",
        "diff pod.fab", "plan pod.fab two.fab",
    ],
}  # fmt: skip
WHOLE, BEGIN = 900, 300
"""Characters of a text that stands whole, and of a longer one that are shown."""


def lasting(text: str) -> str:
    """A text without times, versions, hashes of files and the folder that is current."""
    text = text.replace(str(Path.cwd()), "FOLDER").replace(__version__, "VERSION")
    out = re.sub(r'time="[\d.]+"', 'time="…"', text)
    out = re.sub(r"\b[0-9a-f]{64}\b", "…", out)
    return re.sub(r"\b\d+(\.\d+)? ?(ms|s)\b(?=[,.)\s]|$)", "… s", out)


def shown(text: str) -> str:
    """What lasts of a text, or how it begins and what tells it from others."""
    out = lasting(text)
    if len(out) <= WHOLE:
        return out
    return f"{out[:BEGIN]}…\n[{len(out)} characters, {hashlib.sha256(out.encode()).hexdigest()[:12]}]\n"


def contents(folder: Path) -> dict[str, str]:
    """The files below a folder."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    return {p.relative_to(folder).as_posix(): lasting(p.read_text(encoding="utf-8")) for p in files}


def told(calls: list[str]) -> Iterator[str]:
    before = contents(Path())
    for call in calls:
        done = tdsl(*shlex.split(call, comments=False))
        assert done.exception is None or isinstance(done.exception, SystemExit), (call, done.exception)
        stderr = "".join(f"! {line}\n" for line in shown(done.stderr).splitlines())
        yield f"## {call}: {done.exit_code}\n{shown(done.stdout)}{stderr}".rstrip("\n") + "\n"
        now = contents(Path())
        other = [n for n in now if before.get(n) != now[n]]
        yield "".join(f"> {n} {len(now[n])} characters\n" for n in other[:12])
        yield f"> and {len(other) - 12} more\n" if len(other) > 12 else ""
        before = now


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file, text in FILES.items():
        Path(file).write_text(text, encoding="utf-8")
    golden(f"calls/{name}.txt", "".join(told(CALLS[name])))
