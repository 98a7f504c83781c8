"""Tiers as written: names, settings and ports of their switches, groups by rail; each expands to the same fabric."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Options
from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text

ROCE = """fabric f {
  hosts 64 x DGX_H100
  rails 8
  clos {
    tier leaf of 64 hosts { switch SN5600 { split p[1..32] 2 }; down p[1..32]; up p[33..64] }
    tier spine of ? leaf { switch SN5600 }
  }
  require oversubscription == 1:1
}"""
LEAF_SPINE = """fabric f {
  hosts 64 x DGX_H100
  rails 8
  clos { leaf SN5600 { split p 2 }; spine SN5600 { split p 2 } }
}"""
SEGMENT = """fabric f {
  hosts 272 x TWO
  rails 8
  planes 2
  clos {
    tier segment of 136 hosts { switch TOR as tor; down down at 200Gbps; up up }
    tier agg of ? segment { switch AGG; oversubscription 17:15 }
  }
}
model host TWO { port nic[8, 2]: 400Gbps }
model switch TOR {
  port down[1..136]: 400Gbps
  port up[1..60]: 400Gbps
}
model switch AGG { port p[1..128]: 400Gbps }"""
BY_RAIL = """fabric f {
  param units: int = 16
  hosts 32*units x DGX_B200
  rails 8
  clos {
    tier su of 32 hosts { switch QM9700 as leaf }
    tier spine of ? su by rail { switch QM9700 }
    tier core of ? spine { switch QM9700 x 4*units }
  }
}"""


def counts(text: str, folder: Path, **options: object) -> dict[str, int]:
    result = compile_text(text, folder, verify=False, models=False, **options)
    assert not [d for d in result.findings if d.severity is not Severity.NOTE], result.findings
    fabric = result.designs[0].fabric
    out: dict[str, int] = {}
    for s in fabric.sets:
        out[s.name] = out.get(s.name, 0) + s.count
    return out


def test_the_roce_leaf_has_64_down_and_32_up(tmp_path: Path) -> None:
    assert counts(ROCE, tmp_path) == {"host": 64, "leaf": 8, "spine": 4}
    fabric = compile_text(ROCE, tmp_path, verify=False, models=False).designs[0].fabric
    assert sorted(set(fabric.link_rate.tolist())) == [400 * 10**9, 800 * 10**9]
    assert len(set(fabric.cable_group.tolist())) == 512 + 256  # two cables from a cage that is split, one from the others


def test_settings_of_a_parameter_are_those_of_its_devices(tmp_path: Path) -> None:
    assert counts(LEAF_SPINE, tmp_path) == {"host": 64, "leaf": 8, "spine": 4}


@pytest.mark.parametrize("units", [16, 32])
def test_spines_by_rail_are_as_many_as_published(units: int, tmp_path: Path) -> None:
    assert counts(BY_RAIL, tmp_path, set={"units": units}) == {
        "host": 32 * units, "leaf": 8 * units, "spine": 8 * units, "core": 4 * units
    }  # fmt: skip


def test_ports_run_at_the_rate_that_the_tier_says(tmp_path: Path) -> None:
    fabric = compile_text(SEGMENT, tmp_path, verify=False, models=False).designs[0].fabric
    names = {fabric.device_path(d) for d in range(fabric.device_count)}
    assert "plane[1].segment[1].tor[7]" in names
    down = [
        int(r) for r, b in zip(fabric.link_rate, fabric.device_a, strict=True) if fabric.device_path(int(b)).startswith("host")
    ]
    assert set(down) == {200 * 10**9} and len(down) == 272 * 16


@pytest.mark.parametrize("text", [ROCE, LEAF_SPINE, SEGMENT, BY_RAIL], ids=["roce", "leaf_spine", "segment", "by_rail"])
def test_the_structure_gives_the_same_fabric(text: str, tmp_path: Path) -> None:
    first = compile_text(text, tmp_path, verify=False, models=False).designs[0].fabric
    expanded, _ = compiler.expand_intent(str(tmp_path / "design.fab"), Options())
    assert expanded is not None and "clos" not in expanded
    second = compile_text(expanded, tmp_path, verify=False, models=False).designs[0].fabric
    for column in (
        "link_a",
        "link_b",
        "link_rate",
        "cable_a",
        "cable_b",
        "cable_group",
        "tier",
        "device_set",
    ):
        assert getattr(first, column).tolist() == getattr(second, column).tolist(), column
    assert [s.path for s in first.sets] == [s.path for s in second.sets]


def test_a_spread_is_judged_by_the_whole_wiring(tmp_path: Path) -> None:
    """What joins the parts may stand behind the spread."""
    text = """fabric f {
      switch leaf[4]: AGG
      switch spine[8]: AGG
      connect leaf[*] to spine[*] spread x 2
      switch core: AGG
      connect spine[*] to core each
    }
    model switch AGG { port p[1..128]: 400Gbps }"""
    assert [d for d in compile_text(text, tmp_path, models=False).findings if d.code == "E0458"] == []
    apart = text.replace("connect spine[*] to core each", "connect spine[0] to core")
    assert [d.code for d in compile_text(apart, tmp_path, models=False).findings if d.severity is Severity.ERROR] == ["E0458"]


@pytest.mark.parametrize(
    ("hosts", "said", "code", "hold"),
    [
        ("512 x DGX_H100", "", "E0459", 256),
        ("1000 x DGX_H100", "rails 8", "E0459", 256),
        ("640 x DGX_H100", "", "E0464", 256),
        ("640 x DGX_H100", "rails 8", "E0464", 256),
    ],
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


GROUPED = """fabric f {{
  transport infiniband
  rack rack[2] {{
    host tray[18]: GB200_TRAY
    switch nvswitch[18]: NVLINK5_SWITCH
    connect tray[t].gpu[g].nvlink[k] to nvswitch[k] {{ layer scaleup; medium backplane }}
  }}
  hosts {hosts}
  rails 4
  clos {{ leaf QM9700; spine QM9700 }}
}}"""


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
