"""The target nvue before its judge: a grammar of the commands used, written from NVIDIA's documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.site import Aaa, Dns, Site, Snmp
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import fabric_of
from tests.tables import sections
from tests.targets import nvue_grammar, switches
from tests.targets.build import made
from tests.targets.switches import CUMULUS, ROCE, text

yaml = pytest.importorskip("yaml")
Tree = dict[str, Any]


def tree(files: dict[str, bytes], device: str) -> Tree:
    """What a switch's file sets, all values as text, once the grammar has held it and every name used is defined."""
    (whole,) = yaml.load(files[f"nvue/{device}.yaml"], Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    assert list(whole) == ["set"]
    found: Tree = whole["set"]
    assert nvue_grammar.wrong(found) == []
    said = list(nvue_grammar.commands(found))
    bgp, policy = found["vrf"]["default"]["router"]["bgp"], found["router"].get("policy", {})
    assert {w[-1] for w in said if w[-2] == "route-map"} <= set(policy.get("route-map", {}))
    assert {w[-1] for w in said if w[-2] == "ip-prefix-list"} == set(policy.get("prefix-list", {}))
    assert {n["peer-group"] for n in bgp.get("neighbor", {}).values()} == set(bgp.get("peer-group", {}))
    assert {p for p, n in bgp.get("neighbor", {}).items() if n["type"] == "unnumbered"} <= set(found["interface"])
    assert {w[-1] for w in said if w[2:4] == ("ip", "vrf")} | {"default"} == set(found["vrf"])
    return found


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(switches.designs(CUMULUS))
def test_every_file_is_in_the_grammar(tmp_path: Path, drawn: tuple[str, Tree]) -> None:
    design, roce = drawn
    files, found = made(design, tmp_path, "nvue")
    assert not found and len([p for p in files if p.startswith("nvue/")]) == 6
    expected = switches.neighbours(files)
    for device in ("leaf0", "spine1"):
        config = tree(files, device)
        bgp = config["vrf"]["default"]["router"]["bgp"]
        assert {p: int(n["remote-as"]) for p, n in bgp["neighbor"].items()} == expected[device]
        between = [i for i in config["interface"].values() if i.get("description", "node")[:4] in ("leaf", "spin")]
        assert int(bgp["address-family"]["ipv4-unicast"]["multipaths"]["ebgp"]) == len(between)
        assert ("qos" in config) == bool(roce)
        if roce:
            classes(config["qos"], roce)


def classes(qos: Tree, roce: Tree) -> None:
    """What the design says of RDMA, followed from the DSCP to its queue, and nothing else goes there."""
    priority = {int(d): int(v["switch-priority"]) for d, v in qos["mapping"]["default-global"]["dscp"].items()}
    assert priority == {roce["dscp"]: roce["priority"], roce["cnp_dscp"]: roce["cnp_priority"]}
    to = qos["egress-queue-mapping"]["default-global"]["switch-priority"]
    profile = {str(p): 3 if p == 3 else 6 if p == 6 else 0 for p in range(8)}
    queue = profile | {p: int(v["traffic-class"]) for p, v in to.items()}
    assert [p for p, q in queue.items() if q == 3] == [str(roce["priority"])]
    assert [p for p, q in queue.items() if q == 6] == [str(roce["cnp_priority"])]
    marks = qos["congestion-control"]["default-global"]["traffic-class"]["3"]
    low, high, percent = roce["ecn"] or (0, 0, 0)
    said = {"ecn": "enable", "min-threshold": f"{low}000", "max-threshold": f"{high}000", "probability": f"{percent}"}
    assert marks == (said if roce["ecn"] else {"ecn": "disable"})
    lossless = roce["pfc"] != "off"
    assert qos["roce"] == {"enable": "on", "mode": "lossless" if lossless else "lossy"}
    assert list(qos.get("pfc", {}).get("default-global", {}).get("switch-priority", {})) == [str(roce["priority"])] * lossless
    polls = {"watchdog 200ms": ("100", "2"), "watchdog 350ms": ("117", "3")}.get(roce["pfc"])
    watchdog = qos.get("pfc-watchdog")
    assert (watchdog and (watchdog["polling-interval"], watchdog["robustness"])) == polls


def test_the_judge_can_say_no(tmp_path: Path) -> None:
    files, _ = made(text(CUMULUS, CUMULUS, roce=ROCE), tmp_path, "nvue")
    tree(files, "leaf0")
    swp99 = b"              swp99: {peer-group: FABRIC, type: unnumbered}\n"
    for old, new in (
        (b"mtu: 9214", b"mtu: 9217"),
        (b"mode: lossless", b"mode: loss-less"),
        (b"autonomous-system", b"asn"),
        (b"type: unnumbered", b"type: any"),
        (b"probability: 5", b"probability: 105"),
        (b"        route-map:\n          FABRIC:", b"        route-map:\n          OTHER:"),
        (b"            neighbor:\n", b"            neighbor:\n" + swp99),
    ):
        changed = {p: b.replace(old, new) for p, b in files.items()}
        assert changed != files
        with pytest.raises(AssertionError):
            tree(changed, "leaf0")


@pytest.mark.parametrize(("ways", "ports", "off"), [(4, (3, 4), ()), (8, (1, 3), (2, 4)), (8, (2, 3), (4,))])
def test_lanes_of_split_ports(ways: int, ports: tuple[int, ...], off: tuple[int, ...], tmp_path: Path) -> None:
    """A port beside one that is split into eight is off, where nothing is linked to it."""
    design = f"""\
model switch SW {{ port p[1..4]: 400Gbps {{ type GE; os "swp{{i}}", "swp{{i}}s{{lane}}"; split 2, 4, 8 }} }}
fabric f {{
  switch a[2]: SW {{ split p {ways} }}
  connect a[0].p[k, l] to a[1].p[k, l] where k == {ports[0]} or k == {ports[1]}
  routing bgp {{ }}
}}
"""
    files, found = made(design, tmp_path, "nvue")
    assert not found
    config = tree(files, "a0")
    modes = {p: set(i["link"]["breakout"]) for p, i in config["interface"].items() if "breakout" in i.get("link", {})}
    assert modes == {f"swp{p}": {f"{ways}x"} for p in ports} | {f"swp{p}": {"disabled"} for p in off}
    assert set(config["interface"]) - set(modes) == {f"swp{p}s{lane}" for p in ports for lane in range(ways)}
    neighbours = config["vrf"]["default"]["router"]["bgp"]["neighbor"]
    assert {p: int(n["remote-as"]) for p, n in neighbours.items()} == switches.neighbours(files)["a0"]


def test_only_switches_that_can_run_it(tmp_path: Path) -> None:
    files, found = made(text(spine=CUMULUS), tmp_path, "nvue", "eos")
    assert {p for p in files if p.startswith("nvue/")} == {"nvue/spine0.yaml", "nvue/spine1.yaml"}
    assert [d.code for d in found] == ["E0511", "E0511"]
    assert "`Ethernet1/1` of leaf0" in found[0].message + found[1].message


def test_three_tiers(tmp_path: Path) -> None:
    """Rack switches of the cluster, one of each structure and some more: 16 hosts' ports below, a link to each of 16 pod
    switches; all have the neighbours of the design."""
    files, _ = made(switches.llama(), tmp_path, "nvue")
    expected = switches.neighbours(files)
    texts = {p.removeprefix("nvue/").removesuffix(".yaml"): text for p, text in files.items() if p.startswith("nvue/")}
    assert len(texts) == 16
    for device, found_text in texts.items():
        assert sorted(map(int, re.findall(rb"remote-as: (\d+)", found_text))) == sorted(expected[device].values())
    for device in switches.distinct(texts, 2):
        config = tree(files, device)
        neighbours = config["vrf"]["default"]["router"]["bgp"]["neighbor"]
        assert {p: int(n["remote-as"]) for p, n in neighbours.items()} == expected[device] and len(neighbours) == 16
        assert len(config["interface"]) == 33  # and its loopback


def test_adaptive_routing_between_switches_that_have_it(tmp_path: Path) -> None:
    """Links of up to 400 Gb/s between Spectrum-4 switches, with RoCE; hosts' ports, faster links and other chips have none."""
    design = text(CUMULUS, CUMULUS, roce=ROCE).replace("model switch LEAF {", 'model switch LEAF { asic "Spectrum-4";')
    files, found = made(design, tmp_path, "nvue")
    assert not found
    ports = {p for p, i in tree(files, "leaf0")["interface"].items() if "router" in i}
    assert ports == {"swp3", "swp4"} and not any("router" in i for i in tree(files, "spine0")["interface"].values())
    faster = design.replace("400Gbps", "800Gbps").replace("GE400", "GE800")
    for other, options in ((design, {"adaptive_routing": False}), (design.replace(ROCE, ""), {}), (faster, {})):
        assert b"adaptive" not in made(other, tmp_path, "nvue", **options)[0]["nvue/leaf0.yaml"]


PUBLISHED = sections(__file__)["published"]
"""Commands of a published configuration of 5.16 that tdsl uses, too (NVIDIA, MIT licence, a leaf of Spectrum-X of 2026-09)."""


@pytest.mark.parametrize("version", ["5.6", "5.14", "5.15", "5.16"])
def test_each_release_is_spoken_to_in_its_words(tmp_path: Path, version: str) -> None:
    """All that a switch can be told, with what a site shares: of 5.15 on by NVIDIA's list of changes."""
    site = Site(
        ntp=("192.0.2.1",), syslog=("192.0.2.2",), dns=Dns(("192.0.2.3", "2001:db8::3")), aaa=Aaa(("192.0.2.4",), "@@KEY@@"),
        snmp=Snmp("@@COMMUNITY@@", "Hall 1", "noc@example.com"),
    )  # fmt: skip
    design = text(CUMULUS, CUMULUS, roce=ROCE, routing="mtu 9214; bfd; graceful_restart")
    options = BuildOptions(settings={"nvue": {"version": version}}, site=site)
    files = build_files(fabric_of(design, tmp_path, models=False), ["nvue"], Diagnostics(), options)
    (whole,) = yaml.load(bytes(files["nvue/leaf0.yaml"]), Loader=yaml.BaseLoader)
    new = int(version.partition(".")[2]) >= 15
    grammar = nvue_grammar.GRAMMAR_515 if new else nvue_grammar.GRAMMAR
    moved = ("system snmp-server", "system syslog") if version == "5.14" else ()
    assert [w for w in nvue_grammar.wrong(whole["set"], grammar) if not w.startswith(moved or "nothing")] == []
    other = nvue_grammar.GRAMMAR if new else nvue_grammar.GRAMMAR_515
    assert len(nvue_grammar.wrong(whole["set"], other)) > 10, "the judge can say no"


def test_the_grammar_takes_a_published_configuration() -> None:
    said = [tuple(line.split()[1:]) for line in PUBLISHED.splitlines()]
    assert [w for w in said if not nvue_grammar.is_command(w, nvue_grammar.GRAMMAR_515)] == []
