"""Forwarding tables against ibdmchk, and against packets that are followed one by one."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from tdsl.compile.compiler import Request, compile_without_checks
from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import fabric_of
from tests.observe.captures import audited, codes, lfts
from tests.observe.plant import Cables
from tests.targets import ib

MODELS = """
model host N { port nic: 400Gbps { type NDR } }
model switch SW { port p[1..32]: 400Gbps { type NDR } }
"""
RING = "host node[6]: N; switch sw[6]: SW; connect node[n].nic to sw[n]; connect sw[*] ring"
TORUS = "host node[16]: N; switch sw[4, 4]: SW; connect node[n].nic to sw[n // 4, n % 4]; connect sw[*] torus"
WIDE = "host node[15]: N; switch sw[5, 3]: SW; connect node[n].nic to sw[n // 3, n % 3]; connect sw[*] torus"
TREE = (
    "host node[8]: N; switch leaf[4]: SW; switch spine[2]: SW; connect node[n].nic to leaf[n // 2]; "
    "connect leaf[*] to spine[*] each x 2"
)
CHAIN = (
    "host node[5]: N; switch leaf[5]: SW; switch spine[2]: SW; connect node[n].nic to leaf[n]; "
    "connect leaf[0..2] to spine[0] each; connect leaf[2..4] to spine[1] each"
)


@pytest.mark.parametrize(
    ("body", "engine", "loops"),
    [
        (RING, "minhop", True),
        (RING, "updn", True),
        (TORUS, "dor", False),
        (WIDE, "dor", True),
        (TREE, "ftree", False),
        (CHAIN, "minhop", False),
    ],
)
def test_tables_of_opensm_are_judged_as_ibdmchk_does(body: str, engine: str, loops: bool, tmp_path: Path) -> None:
    """On a ring, `updn` finds no roots and falls back to `minhop`. On rings of four, `dor` may choose without a cycle."""
    ib.need()
    f = fabric_of(f"{MODELS}fabric f {{ {body} }}", tmp_path, models=False)
    files = build_files(f, ["ibsim"], Diagnostics())
    (net,) = [text for name, text in files.items() if name.endswith(".net")]
    with ib.lab(net, tmp_path, {}) as lab:
        lab.manage("sm", b"", "", "-R", engine)
        lab.awaited("sm", "SUBNET UP")
        printed, found = tmp_path / "lfts.txt", tmp_path / "topo.txt"
        printed.write_text(lab.ask("dump_lfts"))
        found.write_text(lab.ask("ibnetdiscover"))
        judged = ib.ibdmchk(tmp_path / "sm")
    assert judged is loops
    for path in (printed, tmp_path / "sm" / "opensm-lfts.dump"):
        assert codes(audited(f, ("routes", path))) == ["E0646"] * loops
    made = audited(f, ("routes", printed), ("ibnetdiscover", found))
    assert ("E0646" in codes(made)) is loops and made.matching == f.link_count


def test_up_and_down_from_the_root_of_the_proof_has_no_loop(tmp_path: Path) -> None:
    """The ring on which `updn` falls back, with the first switch as its root."""
    ib.need()
    f = fabric_of(f"{MODELS}fabric f {{ {RING} }}", tmp_path, models=False)
    files = build_files(f, ["ibsim"], Diagnostics())
    (net,) = [text for name, text in files.items() if name.endswith(".net")]
    guid = re.search(r'switchguid=0x(\w+).*\nSwitch\s+\d+ "[^"]*"\s*# "sw0"', net.decode())
    assert guid is not None, net.decode()[:500]
    (tmp_path / "roots").write_text(f"0x{guid[1]}\n")
    with ib.lab(net, tmp_path, {}) as lab:
        lab.manage("sm", b"", "", "-R", "updn", "-a", str(tmp_path / "roots"))
        lab.awaited("sm", "SUBNET UP")
        assert not ib.ibdmchk(tmp_path / "sm")
    assert codes(audited(f, ("routes", tmp_path / "sm" / "opensm-lfts.dump"))) == []


def test_a_superpod_of_the_library_as_opensm_routes_it(tmp_path: Path) -> None:
    """By the configuration that tdsl builds for it: the tables have no credit loop, by tdsl and by ibdmchk."""
    ib.need()
    design = Path(__file__).parents[2] / "stdlib" / "designs" / "dgx_superpod_h100.fab"
    f = compile_without_checks(str(design), Request(set=(("units", "1"),))).designs[0].fabric
    assert f is not None
    files = build_files(f, ["ibsim", "opensm"], Diagnostics())
    (net,) = [text for name, text in files.items() if name.endswith(".net")]
    with ib.lab(net, tmp_path, {}) as lab:
        lab.manage("sm", files["opensm/opensm.conf"])
        lab.awaited("sm", "SUBNET UP", "ftree tables configured")
        assert not ib.ibdmchk(tmp_path / "sm")
    made = audited(f, ("routes", tmp_path / "sm" / "opensm-lfts.dump"))
    assert codes(made) == [] and made.facts.used == made.facts.as_designed["routes of switches"] > 1000


def followed(text: str, cables: Cables) -> tuple[bool, bool, bool]:
    """Whether some packet between adapters ends nowhere, goes around, or waits in a cycle, by following each."""
    f = cables.fabric
    table: dict[str, dict[int, int]] = {}
    adapters: dict[int, str] = {}
    here = ""
    for line in text.splitlines():
        if head := re.search(r"guid 0x\w+ \((\S+)\):", line):
            here = head[1]
            table[here] = {}
        elif row := re.match(r"0x(\w+) (\d+) : \((\w+).*'(.*)'", line):
            table[here][int(row[1], 16)] = int(row[2])
            if row[3] == "Channel":
                adapters[int(row[1], 16)] = row[4]
    device = {f.device_name(d): d for d in range(f.device_count)}
    leaf = {
        f.device_name(cables.device[p]): f.device_name(cables.device[cables.far[p]])
        for p in cables.far
        if f.is_end[cables.device[p]]
    }
    relation, nowhere, loop = nx.DiGraph(), False, False
    for lid in adapters:
        for source in set(table):
            at, way, seen = source, [], set()
            while at in table:
                number = table[at].get(lid)
                port = -1 if number is None else int(f.port_base[device[at]]) + number - 1
                if port not in cables.far:
                    nowhere = True
                    break
                way.append(port)
                if at in seen:
                    loop = True
                    break
                seen.add(at)
                at = f.device_name(cables.device[cables.far[port]])
            if source in leaf.values():
                relation.add_edges_from(pairwise(p for p in way if not f.is_end[cables.device[cables.far[p]]]))
    return nowhere, loop, not nx.is_directed_acyclic_graph(relation)


def test_rows_exchanged_at_random_against_packets_followed_one_by_one(tmp_path: Path) -> None:
    counts = [0, 0, 0]
    for seed in range(40):
        rng = Random(seed)
        body = (RING, TREE, CHAIN, TORUS)[seed % 4]
        f = fabric_of(f"{MODELS}fabric f {{ {body} }}", tmp_path, models=False)
        cables = Cables(f)
        lines = lfts(cables)["lfts.txt"].splitlines()
        rows = [i for i, x in enumerate(lines) if "(Channel" in x]
        for i in rng.sample(rows, rng.choice((0, 0, 1, 2, 5))):
            lines[i] = re.sub(r" \d{3} ", f" {rng.choice((1, 2, 3, 4, 30)):03} ", lines[i]) if rng.random() < 0.8 else ""
        text = "\n".join(lines) + "\n"
        (tmp_path / "lfts.txt").write_text(text)
        made = audited(f, ("routes", tmp_path / "lfts.txt"))
        said = [x.finding.message for x in made.faults]
        nowhere, loop, waits = followed(text, cables)
        assert any("no link" in m or "no route" in m for m in said) == nowhere, (seed, said)
        assert any("goes around" in m for m in said) == loop, (seed, said)
        assert any("wait for each other" in m for m in said) == waits, (seed, said)
        counts = [n + x for n, x in zip(counts, (nowhere, loop, waits), strict=True)]
    assert min(counts) >= 4, counts
