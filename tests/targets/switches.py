"""Designs whose switches run EOS, Cumulus Linux or SONiC, and what every switch must know of its neighbours, by fabric.json."""

from __future__ import annotations

import random
import re
from hashlib import sha256

from hypothesis import strategies as st

from tdsl.system.resources import packaged_folder
from tests.targets.build import design, port_names, rows

EOS, CUMULUS = "Ethernet{i}/1", "swp{i}"
SONIC = 'swp{i}"; name "{i}"; sonic 8*(i - 1) lanes 8; cage 1 "QSFP'
ROCE = "roce { dscp 26; priority 3; cnp 48 priority 6; ecn 150kB to 1500kB at 5%; pfc watchdog 200ms }"
NUMBERED = (
    "",
    'address node[*].nic[r] links from "172.{16 + r}.0.0/24"',
    "address leaf[*].p[3..16] to spine[*] links from 10.0.0.0/24",
    "address leaf[*].p[3..16] to spine[*] links from fd00:10::/64",
)
FOURS = "address leaf, spine management from 192.168.0.10/24 { interface PORT"
SIXES = "address leaf, spine management from fd00:ff::10/64 { interface PORT"
OUT_OF_BAND = (
    "",
    f"{FOURS}; vrf oob }}",
    f"{FOURS}; vrf default }}",
    f"{FOURS}; vrf oob; gateway 192.168.0.1 }}\n  {SIXES}; vrf oob; gateway fd00:ff::1 }}",
    f"{FOURS}; vrf default; gateway 192.168.0.1 }}",
    f"{FOURS} }}\n  {SIXES} }}",
)
LOOPBACKS = "address leaf, spine loopback from 10.255.0.1/24"


def text(
    leaf: str = EOS, spine: str = EOS, statements: str = LOOPBACKS, routing: str = "mtu 9214", roce: str = "", width: int = 1
) -> str:
    """A leaf-spine as a design."""
    return design("switches", leaf=leaf, spine=spine, statements=statements, routing=routing, roce=roce, width=width)


def shipped() -> str:
    """The text of ``llama3_24k`` with two pods of 8 racks in place of 8 of 192."""
    path = packaged_folder("stdlib") / "designs" / "llama3_24k.fab"
    out = path.read_text(encoding="utf-8")
    for old, new in (("hosts 3072", "hosts 32"), ("of 192 rack", "of 8 rack"), ("of 8 pod", "of 2 pod")):
        assert old in out
        out = out.replace(old, new)
    return out


def llama() -> str:
    """Three tiers as in the cluster of Llama 3: 16 rack switches, here with Cumulus Linux, below 33 and more that run EOS."""
    model = 'model switch RACK { port p[1..64]: 400Gbps { type GE400; os "swp{i}" } }'
    assert "  roce { pfc }" in shipped()
    own = f"\n{model}\nextend llama3_24k {{\n  override pod[*].rack[*].rack: RACK\n  {ROCE}\n}}\n"
    return shipped().replace("  roce { pfc }", "") + own


def distinct(texts: dict[str, bytes], further: int = 8) -> list[str]:
    """One name of each structure, where two texts have the same but for numbers, and some more drawn by a fixed seed."""
    first: dict[bytes, str] = {}
    for name, data in sorted(texts.items()):
        first.setdefault(sha256(re.sub(rb"[0-9]+|(?<=:)[0-9a-f]+(?=:)", b"#", data)).digest(), name)
    rest = sorted(set(texts) - set(first.values()))
    return [*first.values(), *random.Random(7).sample(rest, min(further, len(rest)))]


def neighbours(files: dict[str, bytes]) -> dict[str, dict[str, int]]:
    """Device -> its port's name, or the address at the far end -> the ASN there; of switches beside switches."""
    asn = {str(r["device"]): int(r["asn"]) for r in rows(files, "systems")}
    address: dict[tuple[str, str], list[str]] = {}
    for r in rows(files, "addresses"):
        if r["kind"] == "link":
            address.setdefault((r["device"], r["port"]), []).append(r["address"].split("/")[0])
    name = port_names(files)
    out: dict[str, dict[str, int]] = {d: {} for d in asn}
    for link in rows(files, "links"):
        ends = [(link[f"{e}_device"], link[f"{e}_port"]) for e in "ab"]
        for here, there in (ends, ends[::-1]):
            if here[0] in asn and there[0] in asn:
                out[here[0]] |= dict.fromkeys(address.get(there, [name(*here)]), asn[there[0]])
    return out


@st.composite
def designs(draw: st.DrawFn, port: str) -> tuple[str, dict[str, object]]:
    """A design all of whose switches name ports alike, and the traffic class it asks for, {} for none."""
    chosen = draw(st.sets(st.sampled_from(NUMBERED), max_size=3))
    loopbacks = draw(st.sampled_from(["", LOOPBACKS, f"{LOOPBACKS}\n  address leaf, spine loopback from fd00:255::1/64"]))
    management = draw(st.sampled_from(OUT_OF_BAND)).replace("PORT", "Management1" if port == EOS else "eth0")
    flags = draw(st.sets(st.sampled_from(["mtu 9000", "graceful_restart"])))
    flags |= draw(st.sampled_from([set(), {"bfd"}, {"bfd 150ms x 4"}]))
    roce: dict[str, object] = {}
    words = ""
    if draw(st.booleans()):
        dscp, cnp = draw(st.lists(st.integers(0, 63), min_size=2, max_size=2, unique=True))
        priority, above = draw(st.lists(st.integers(0, 7), min_size=2, max_size=2, unique=True))
        ecn = draw(st.sampled_from([None, (100, 400, 100), (150, 1500, 5)]))
        pfc = draw(st.sampled_from(["off", "", "watchdog 200ms", "watchdog 350ms"]))
        roce = {"dscp": dscp, "priority": priority, "cnp_dscp": cnp, "cnp_priority": above, "ecn": ecn, "pfc": pfc}
        marks = f"; ecn {ecn[0]}kB to {ecn[1]}kB at {ecn[2]}%" if ecn else ""
        words = f"roce {{ dscp {dscp}; priority {priority}; cnp {cnp} priority {above}; pfc {pfc}{marks} }}"
    statements = "\n  ".join(filter(None, [loopbacks, management, *sorted(chosen)]))
    return text(port, port, statements, "; ".join(sorted(flags)), words, draw(st.sampled_from([1, 3]))), roce
