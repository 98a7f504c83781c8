"""Tiers, link ends, link classes, ASNs and ratios are those of the planned fabric: what is built later changes none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.fabric.claims import FabricElement, Selector
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import claim
from tests.harness import sections

MODELS = """\
model switch SW { port p[1..64]: 400Gbps { type GE400; os "swp{i}" } }
model host NODE { port nic[2]: 400Gbps { type GE400; os "eth{i}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
model host DISKS { port nic[2]: 400Gbps { type GE400; os "eth{i}" } }
model panel PATCH { port front[64]: any; port back[64]: any }
model ocs OPTIC { port o[1..64]: any }
"""
ROUTING = "  routing bgp { unnumbered }\n"

KINDS = sections(Path(__file__).parent / "planned.txt")


@dataclass(frozen=True)
class Facts:
    """What must not depend on what is built, by the design's own names."""

    tier: dict[str, int]
    asn: dict[str, int]
    links: dict[frozenset[str], tuple[str, str, str]]  # ports -> lower end, upper end, class
    ratio: dict[str, object]

    def agrees(self, full: Facts) -> None:
        """Everything said here is said of the full fabric, too."""
        for mine, planned in ((self.tier, full.tier), (self.asn, full.asn), (self.links, full.links), (self.ratio, full.ratio)):
            assert mine == {name: planned[name] for name in mine}


def facts(body: str, folder: Path) -> Facts:
    path = folder / "d.fab"
    path.write_text(f"{MODELS}fabric f {{\n{body}}}\n")
    result = compiler.compile_without_checks(str(path))
    assert [d for d in result.findings if d.severity.word == "error"] == []
    f = result.designs[0].fabric
    assert f is not None and f.addressing is not None
    rows = np.flatnonzero(f.built).tolist()
    tier = {f.device_path(d): int(f.tier[d]) for d in rows}
    asn = {f.device_path(d): int(f.addressing.asn[d]) for d in rows}
    links = {}
    for i in range(f.link_count):
        ends = f.port_path(int(f.link_a[i])), f.port_path(int(f.link_b[i]))
        circuit = f.link_via_a[i] >= 0 and f.kind[f.port_device[f.link_via_a[i]]] == "ocs"
        if not circuit:  # an optical switch gives its ports to the circuits that are asked for
            links[frozenset(ends)] = (*ends, f.classes[int(f.link_class[i])])
    return Facts(tier, asn, links, {f.device_path(d): ratio(f, d) for d in rows if f.is_switch[d]})


def ratio(f: Fabric, device: int) -> object:
    """The oversubscription of one switch, and why where there is none."""
    at = Selector("one", "switch", (FabricElement("one", np.array([device])),))
    found = checks_by_name()["oversubscription"].judge(View.whole(f), claim(f, "oversubscription", at=(at,)))
    return found.ratio or found.reason


def body_of(kind: str, a: int, b: int, c: int) -> str:
    return KINDS[kind].format(a=a, b=b, c=c, c2=2 * c, ports=2 * b) + "\n" + ROUTING


def hosts_of(full: Facts) -> list[str]:
    return [name for name in full.tier if name.partition("[")[0] in ("node", "disks") or ".node[" in name]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_hosts_that_arrive_change_nothing(kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("planned")
    body = body_of(kind, *(data.draw(st.integers(2, 3)) for _ in range(3)))
    full = facts(body, folder)
    assert any(isinstance(x, tuple) for x in full.ratio.values())
    gone = [h for h in hosts_of(full) if data.draw(st.booleans())]
    some = facts(body + "".join(f"  omit {h}\n" for h in gone), folder)
    some.agrees(full)
    assert set(full.tier) - set(some.tier) == set(gone)
    assert some.ratio == full.ratio


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_no_omission_changes_a_tier_a_class_or_an_asn(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    """Switches, panels and whole pods may be omitted, too; then capacity above a switch is what is cabled."""
    folder = tmp_path_factory.mktemp("planned")
    body = body_of(kind, 3, 2, 2)
    full = facts(body, folder)
    groups = {"three tiers": "pod[2]", "planes": "pl[1]", "rails and storage": "su[1]", "panels": "patch[1]"}
    choices = [x for x in full.tier if x != "x"] + ([groups[kind]] if kind in groups else [])
    choices = list(dict.fromkeys(choices))
    gone = data.draw(st.lists(st.sampled_from(choices), unique=True, max_size=5))
    some = facts(body + "".join(f"  omit {x}\n" for x in gone), folder)
    assert set(some.tier) < set(full.tier) or not gone
    for mine, planned in ((some.tier, full.tier), (some.asn, full.asn), (some.links, full.links)):
        assert mine == {name: planned[name] for name in mine}


def test_a_port_that_another_link_takes_is_not_counted_twice(tmp_path: Path) -> None:
    """The place of the omitted host node[0, 1] is given to storage: four links below leaf[0], as planned."""
    body = body_of("two tiers", 2, 2, 2)
    taken = "  omit node[0, 1]\n  host disks: DISKS { role storage }\n  connect disks.nic[0] to leaf[0].p[3]\n"
    assert facts(body + taken, tmp_path).ratio["leaf[0]"] == facts(body, tmp_path).ratio["leaf[0]"] == (2, 1)
