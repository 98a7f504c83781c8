"""Designs whose switches run EOS or Cumulus Linux, and what every switch must know of its neighbours, read off fabric.json."""

from __future__ import annotations

import json
import random
import re
from hashlib import sha256
from pathlib import Path

from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.system.resources import packaged_folder

EOS, CUMULUS = "Ethernet{i}/1", "swp{i}"
ROCE = "roce { dscp 26; priority 3; cnp 48 priority 6; ecn 150kB to 1500kB at 5%; pfc watchdog 200ms }"
DESIGN = """\
model switch LEAF {{ port p[1..16]: 400Gbps {{ type GE400; os "{leaf}" }} }}
model switch SPINE {{ port p[1..16]: 400Gbps {{ type GE400; os "{spine}" }} }}
model host NODE {{ port nic[2]: 400Gbps {{ type GE400; os "eth{{i + 1}}" }}; chip gpu[2]: GPU }}
model chip GPU {{ port lane: 400Gbps }}
fabric pod "A pod" {{
  host node[4]: NODE
  switch leaf[4]: LEAF
  switch spine[2]: SPINE
  connect node[n].nic[r] to leaf[2*(n // 2) + r]
  connect leaf[*] to spine[*] each x {width}
  {statements}
  routing bgp {{ {routing} }}
  {roce}
}}
"""
NUMBERED = {
    "unnumbered": "",
    "hosts": 'address node[*].nic[r] links from "172.{16 + r}.0.0/24"',
    "v4": "address leaf[*].p[3..16] to spine[*] links from 10.0.0.0/24",
    "v6": "address leaf[*].p[3..16] to spine[*] links from fd00:10::/64",
}
OUT_OF_BAND = (
    "",
    "address leaf, spine management from 192.168.0.10/24 { interface PORT; vrf oob }",
    "address leaf, spine management from 192.168.0.10/24 { interface PORT; vrf default }",
    "address leaf, spine management from 192.168.0.10/24 { interface PORT; vrf oob; gateway 192.168.0.1 }\n"
    "  address leaf, spine management from fd00:ff::10/64 { interface PORT; vrf oob; gateway fd00:ff::1 }",
    "address leaf, spine management from 192.168.0.10/24 { interface PORT; vrf default; gateway 192.168.0.1 }",
    "address leaf, spine management from 192.168.0.10/24 { interface PORT }\n"
    "  address leaf, spine management from fd00:ff::10/64 { interface PORT }",
)
LOOPBACKS = "address leaf, spine loopback from 10.255.0.1/24"


def text(
    leaf: str = EOS,
    spine: str = EOS,
    statements: str = LOOPBACKS,
    routing: str = "mtu 9214",
    roce: str = "",
    width: int = 1,
) -> str:
    """A leaf-spine as a design."""
    return DESIGN.format(leaf=leaf, spine=spine, statements=statements, routing=routing, roce=roce, width=width)


LONELY = """\
model switch SW {{ port p[1..4]: 400Gbps {{ type GE400; os "{port}" }} }}
model host NODE {{ port nic: 400Gbps {{ type GE400; os "eth0" }} }}
fabric f {{
  host node[2]: NODE
  switch leaf: SW
  connect node[n].nic to leaf
  routing bgp {{ }}
}}
"""
"""A switch whose neighbours speak no BGP."""


def made(design: str, place: Path, *targets: str, **settings: object) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """The files of these targets and fabric.json, and what was found."""
    path = place / "design.fab"
    path.write_text(design)
    result = compiler.compile_without_checks(str(path))
    assert not [d for d in result.findings if d.severity.word == "error"], result.findings
    fabric = result.designs[0].fabric
    assert fabric is not None
    found = Diagnostics()
    files = build_files(
        fabric,
        [*targets, "json"],
        found,
        BuildOptions(settings=dict.fromkeys(targets, settings) if settings else {}),
    )
    return files, list(found)


SHIPPED_ROCE = "  roce { pfc }"


def shipped() -> str:
    """The text of ``llama3_24k`` with two pods of 24 racks in place of 8 of 192."""
    text = (packaged_folder("stdlib") / "designs" / "llama3_24k.fab").read_text(encoding="utf-8")
    for old, new in (("hosts 3072", "hosts 96"), ("of 192 rack", "of 24 rack"), ("of 8 pod", "of 2 pod")):
        assert old in text
        text = text.replace(old, new)
    return text


def llama() -> str:
    """Three tiers as in the cluster of Llama 3: 48 rack switches, here with Cumulus Linux, below 33 and more that run EOS."""
    design = shipped().replace(SHIPPED_ROCE, "")
    own = """
model switch RACK { port p[1..64]: 400Gbps { type GE400; os "swp{i}" } }
extend llama3_24k {
  override pod[*].rack[*].rack: RACK
  %s
}
"""
    return design + own % ROCE


def distinct(texts: dict[str, bytes], further: int = 8) -> list[str]:
    """One name of each structure, where two texts have the same but for numbers, and some more drawn by a fixed seed."""
    first: dict[bytes, str] = {}
    for name, text in sorted(texts.items()):
        first.setdefault(sha256(re.sub(rb"[0-9]+|(?<=:)[0-9a-f]+(?=:)", b"#", text)).digest(), name)
    rest = sorted(set(texts) - set(first.values()))
    return [*first.values(), *random.Random(7).sample(rest, min(further, len(rest)))]


def neighbours(files: dict[str, bytes]) -> dict[str, dict[str, int]]:
    """Device -> its port's name, or the address at the far end -> the ASN there; of switches beside switches."""
    data = json.loads(files["fabric.json"])

    def rows(table: str) -> list[dict[str, object]]:
        t = data[table]
        return [dict(zip(t["columns"], r, strict=True)) for r in t["rows"]]

    asn = {str(r["device"]): int(str(r["asn"])) for r in rows("systems")}
    address: dict[tuple[object, object], list[str]] = {}
    for r in rows("addresses"):
        if r["kind"] == "link":
            address.setdefault((r["device"], r["port"]), []).append(str(r["address"]).split("/")[0])
    system = {(m["key"], port): name for m in data["models"] for c in m["classes"] for port, _, _, name, _ in c["ports"]}
    model = {str(d["name"]): d["model"] for d in rows("devices")}
    out: dict[str, dict[str, int]] = {d: {} for d in asn}
    for link in rows("links"):
        for near, far in (("a", "b"), ("b", "a")):
            here, there = str(link[f"{near}_device"]), str(link[f"{far}_device"])
            if here in asn and there in asn:
                port = str(system[model[here], link[f"{near}_port"]])
                out[here] |= dict.fromkeys(address.get((there, link[f"{far}_port"]), [port]), asn[there])
    return out


@st.composite
def designs(draw: st.DrawFn, port: str) -> tuple[str, dict[str, object]]:
    """A design all of whose switches name ports alike, and the traffic class it asks for, {} for none."""
    chosen = [NUMBERED[n] for n in draw(st.sets(st.sampled_from(sorted(NUMBERED)), max_size=3))]
    loopbacks = draw(st.sampled_from(["", LOOPBACKS, f"{LOOPBACKS}\n  address leaf, spine loopback from fd00:255::1/64"]))
    management = draw(st.sampled_from(OUT_OF_BAND)).replace("PORT", "Management1" if port == EOS else "eth0")
    flags = draw(st.sets(st.sampled_from(["mtu 9000", "graceful_restart"])))
    flags |= draw(st.sampled_from([set(), {"bfd"}, {"bfd 150ms x 4"}]))
    roce: dict[str, object] = {}
    if draw(st.booleans()):
        dscp, cnp = draw(st.lists(st.integers(0, 63), min_size=2, max_size=2, unique=True))
        priority, above = draw(st.lists(st.integers(0, 7), min_size=2, max_size=2, unique=True))
        ecn = draw(st.sampled_from([None, (100, 400, 100), (150, 1500, 5)]))
        pfc = draw(st.sampled_from(["off", "", "watchdog 200ms", "watchdog 350ms"]))
        roce = {
            "dscp": dscp,
            "priority": priority,
            "cnp_dscp": cnp,
            "cnp_priority": above,
            "ecn": ecn,
            "pfc": pfc,
        }
    words = "".join(
        f"dscp {dscp}; priority {priority}; cnp {cnp} priority {above}; pfc {pfc}"
        + (f"; ecn {ecn[0]}kB to {ecn[1]}kB at {ecn[2]}%" if ecn else "")
        for _ in range(bool(roce))
    )
    statements = "\n  ".join(filter(None, [loopbacks, management, *chosen]))
    design = text(
        port,
        port,
        statements,
        "; ".join(sorted(flags)),
        f"roce {{ {words} }}" if roce else "",
        draw(st.sampled_from([1, 3])),
    )
    return design, roce
