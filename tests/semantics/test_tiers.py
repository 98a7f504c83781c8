"""Tiers as written: names, settings and ports of their switches, groups by rail; each expands to the same fabric."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text, sections


@pytest.mark.parametrize(
    ("hosts", "said", "code", "hold"), [("512 x DGX_H100", "rails 8", "E0459", 256), ("640 x DGX_H100", "", "E0464", 256)]
)
def test_more_hosts_than_two_tiers_hold(hosts: str, said: str, code: str, hold: int, tmp_path: Path) -> None:
    """The finding says how many they hold, and the three tiers that it writes are accepted."""
    text = f"fabric f {{\n hosts {hosts}\n {said}\n clos {{ leaf QM9700; spine QM9700 }}\n}}"
    found = [d for d in compile_text(text, tmp_path, verify=False, models=False).findings if d.severity is Severity.ERROR]
    assert [d.code for d in found] == [code]
    words = f"{' '.join(found[0].notes)} {found[0].help}"
    assert f"hold at most {hold} hosts at 1:1" in words
    tiers = words.partition("write three tiers: `")[2].partition("`")[0]
    answer = compile_text(text.replace("leaf QM9700; spine QM9700", tiers), tmp_path, verify=False, models=False)
    assert not [d for d in answer.findings if d.severity is Severity.ERROR], answer.findings
    fits = compile_text(text.replace(hosts.split()[0], str(hold)), tmp_path, verify=False, models=False)
    assert not [d for d in fits.findings if d.severity is Severity.ERROR]


TEXTS = sections(Path(__file__).parent / "tiers.txt")
GROUPED = TEXTS["GROUPED"]


def test_hosts_in_groups(tmp_path: Path) -> None:
    """Hosts of all groups, by either path; scale-up links speak what their ports do, whatever the network speaks."""
    first, second = (
        compile_text(GROUPED.format(hosts=h), tmp_path, verify=False, models=False)
        for h in ("rack.tray.nic", "rack[*].tray[*].nic")
    )
    assert not [d for d in (*first.findings, *second.findings) if d.severity is Severity.ERROR]
    one, other = first.designs[0].fabric, second.designs[0].fabric
    assert one.link_a.tolist() == other.link_a.tolist() and one.link_b.tolist() == other.link_b.tolist()
    assert one.network.link_count == 36 * 4 + sum(s.count for s in one.sets if s.name == "leaf") * 32


def test_a_mixed_spread_is_told_which_ports_to_name(tmp_path: Path) -> None:
    """Links of two rates from a switch of which part is split: the advice is accepted."""
    text = """fabric f {
      transport roce
      host node[4]: DGX_H100
      switch leaf[2]: SN5600 { split p[1..32] 2 }
      switch spine: SN5600
      connect node[n].nic[r] to leaf[r % 2]
      connect leaf[*] to spine spread x 8
    }"""
    found = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity is Severity.ERROR]
    assert [d.code for d in found] == ["E0220"]
    ports = found[0].help.partition("name ports that run at 800Gbps: `")[2].partition("`")[0]
    assert ports == "leaf.p[33..64]"
    mended = text.replace("leaf[*] to spine", f"{ports} to spine")
    assert not [d for d in compile_text(mended, tmp_path, models=False).findings if d.severity is Severity.ERROR]


def test_a_mixed_intent_is_told_to_split_the_other_model_too(tmp_path: Path) -> None:
    text = "fabric f { transport roce\n hosts 128 x DGX_H100\n rails 8\n clos { leaf SN5600 { split p 2 }; spine SN5600 } }"
    found = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity is Severity.ERROR]
    assert [d.code for d in found] == ["E0220"] and "`SN5600 { split p 2 }`" in found[0].help
    mended = text.replace("spine SN5600 }", "spine SN5600 { split p 2 } }")
    assert not [d for d in compile_text(mended, tmp_path, models=False).findings if d.severity is Severity.ERROR]


def test_failures_of_scale_up_switches_are_judged(tmp_path: Path) -> None:
    claim = "report survives any 1 of rack.nvswitch with reachability of ports through scaleup"
    text = GROUPED.format(hosts="rack.tray.nic").rstrip("}") + f"  {claim}\n}}"
    (result,) = (r for r in compile_text(text, tmp_path, models=False).designs[0].results if r.check == "survives")
    assert result.status == "proved", result.reason


def named_pairs(fabric: Fabric) -> Counter[tuple[str, ...]]:
    """How many links join each two devices, by the names that the design by hand gives them."""
    paths = [fabric.device_path(d).replace("host[", "node[") for d in range(fabric.device_count)]
    names = [re.sub(r"\.leaf(\[\d+\])\.leaf$", r".leaf\1", p) for p in paths]
    ends = zip(fabric.device_a.tolist(), fabric.device_b.tolist(), strict=True)
    return Counter(tuple(sorted((names[a], names[b]))) for a, b in ends)


def test_a_tree_for_each_rail(tmp_path: Path) -> None:
    """By intent it is, link by link, the fabric written by hand; said of each tier above the first it keeps rails apart, too."""
    made = {d.name: d.fabric for d in compile_text(TEXTS["TREES"], tmp_path, verify=False, models=False).designs}
    pairs = {name: named_pairs(fabric) for name, fabric in made.items() if fabric is not None}
    parts = {
        name: nx.number_connected_components(nx.Graph(p for p in found if not any(n.startswith("node[") for n in p)))
        for name, found in pairs.items()
    }
    assert parts == {"tiers": 4, "each": 4, "joined": 1, "hand": 4}
    assert pairs["tiers"] == pairs["hand"]
    assert len({found.total() for found in pairs.values()}) == 1


@pytest.mark.parametrize(("uneven", "switches"), [("", 472), ("; uneven", 360)])
def test_what_evenness_costs(uneven: str, switches: int, tmp_path: Path) -> None:
    """18 units of 32 hosts: the note names what `uneven` would save, which is what it then saves."""
    result = compile_text(TEXTS["EOS"].format(uneven=uneven), tmp_path, verify=False, models=False)
    assert sum(s.count for s in result.designs[0].fabric.sets if s.kind == "switch") == switches
    said = [d.message for d in result.findings if "with `uneven`" in d.message]
    assert [("472" in m, "360" in m) for m in said] == ([] if uneven else [(True, True)])
