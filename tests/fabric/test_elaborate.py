"""Paths, groups, extend, override, split, via, circuits, chips inside hosts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.harness import compile_text, fabric_of, links_of, places

TPU = """
model chip TPU { port ici[6]: 400Gbps { type ICI } }
model ocs PALOMAR { port p[1..136]: any }
fabric pod {
  cube cube[4x4x4] {
    chip chip[4x4x4]: TPU
    connect chip[*, *, *] mesh { medium trace; class x, y, z }
  }
  ocs ocs[3x16]: PALOMAR
  connect cube[a, b, c].chip[3, y, z].ici[0] to cube[(a + 1) % 4, b, c].chip[0, y, z].ici[1] via ocs[0, 4*y + z] { class x }
  connect cube[a, b, c].chip[x, 3, z].ici[2] to cube[a, (b + 1) % 4, c].chip[x, 0, z].ici[3] via ocs[1, 4*x + z] { class y }
  connect cube[a, b, c].chip[x, y, 3].ici[4] to cube[a, b, (c + 1) % 4].chip[x, y, 0].ici[5] via ocs[2, 4*x + y] { class z }
}
"""


def test_torus_through_optical_switches(tmp_path: Path) -> None:
    """TPU v4 (Jouppi et al., ISCA 2023): 4,096 chips, 48 OCS with 128 of 136 ports used, 6,144 fibres. Links, fibres, circuits
    and traces are four different numbers."""
    f = fabric_of(TPU, tmp_path)
    assert f.link_count == 3 * 4096
    assert Counter(f.classes[c] for c in f.link_class.tolist()) == {"x": 4096, "y": 4096, "z": 4096}
    assert int((f.link_medium == 1).sum()) == 9216
    assert (len(f.cable_a), len(f.circuit_a)) == (6144, 3072)
    ocs = f.port_device[f.cable_b]
    assert set(Counter(ocs.tolist()).values()) == {128} and len(set(ocs.tolist())) == 48


def test_chips_inside_hosts(tmp_path: Path) -> None:
    """GB200 NVL72: each of 72 GPUs has one NVLink to each of 18 switch chips: 1,296 links."""
    text = """
    model chip B { port nvlink[18]: 400Gbps { type NV } }
    model host TRAY { chip gpu[4]: B; port nic[4]: 400Gbps }
    model switch NVS { port p[72]: 400Gbps { type NV } }
    fabric f {
      layer scaleup
      rack r {
        host compute[18]: TRAY
        group tray[9] { switch chip[2]: NVS }
        connect compute[t].gpu[g].nvlink[k] to tray[k // 2].chip[k % 2] { medium backplane }
      }
    }"""
    f = fabric_of(text, tmp_path)
    assert (f.link_count, len(f.cable_a), f.layer) == (1296, 0, "scaleup")
    assert set(Counter(f.device_b.tolist()).values()) == {72}


def test_extend_and_override(tmp_path: Path) -> None:
    (tmp_path / "base.fab").write_text(
        """model switch SW { port p[1..8]: 400Gbps { type NDR } }
        model host BOX { port nic[2]: 400Gbps { type NDR } }
        fabric pod { group su[2] { host box[2]: BOX; switch leaf[2]: SW; connect box[b].nic[i] to leaf[i] } }"""
    )
    text = """use base (pod)
    model host BIGBOX { port nic[2]: 400Gbps { type NDR }; port more[2]: 400Gbps }
    extend pod.su[0] { host extra: BIGBOX; connect extra.nic[i] to leaf[i] }
    extend pod { switch core: BIG; connect su[*].leaf[*] to core each }
    override pod.su[1].box[1]: BIGBOX
    """
    f = fabric_of(text, tmp_path)
    links = links_of(f)
    assert ("su[0].extra.nic[0]", "su[0].leaf[0].p[3]") in links
    assert not any("su[1].extra" in a for a, _ in links)
    assert sum("core" in b for _, b in links) == 4
    box = next(d for d in range(f.device_count) if f.device_path(d) == "su[1].box[1]")
    assert f.model_of(box).name == "BIGBOX"


def test_split_ports_and_planes(tmp_path: Path) -> None:
    text = """
    model host FAT { port nic[2]: 800Gbps { type GE; split 4, 2 }; chip gpu[2]: GPU }
    model switch LANES { port p[1..16]: 200Gbps { type GE } }
    fabric f {
      host node[4]: FAT { split nic 4 }
      plane pl[4] { switch leaf: LANES }
      connect node[n].nic[r, p] to pl[p].leaf { cable OCTOPUS; colour "plane {p}" }
    }
    model cable OCTOPUS { rate 800Gbps; legs 4; medium copper }"""
    f = fabric_of(text, tmp_path)
    assert f.link_count == 4 * 2 * 4 and set(f.link_rate.tolist()) == {200 * 10**9}
    assert len(set(f.cable_group.tolist())) == 8 and f.cable_leg.max() == 4
    assert [f.colours[c] for c in f.link_colour.tolist()[:4]] == [f"plane {p}" for p in range(4)]
    assert set(f.plane[f.device_b].tolist()) == {0, 1, 2, 3}


def test_a_breakout_needs_its_part(tmp_path: Path) -> None:
    text = """
    model switch LANES { port p[1..2]: 800Gbps { split 2 } }
    model switch ONE { port p[1..4]: 400Gbps }
    fabric f {
      switch a: LANES { split p 2 }
      switch b[4]: ONE
      connect a.p[q, lane] to b[2*(q - 1) + lane]
    }"""
    assert places(compile_text(text, tmp_path).findings) == [("E0202", 7)]
    for setting, codes in (("cable TWO", []), ("cable ONE_LEG", ["E0202"]), ('cable "X"', ["E0202"]), ("cable SLOW", ["E0203"]),
                           ("cable TOW", ["E0102"])):  # fmt: skip
        facts = {"TWO": "rate 800Gbps; legs 2", "ONE_LEG": "rate 800Gbps", "SLOW": "rate 400Gbps; legs 2"}
        parts = "".join(f"\nmodel cable {name} {{ {fact} }}" for name, fact in facts.items())
        wired = text.replace("+ lane]", "+ lane] { " + setting + " }") + parts
        assert [d.code for d in compile_text(wired, tmp_path).findings] == codes


def test_circuits_over_drawn_cables(tmp_path: Path) -> None:
    """Every block of 8 ports meets 4 others twice through 4 OCS, each of which takes two ports of every block."""
    text = """fabric f {
      switch block[5]: SW
      ocs o[4]: OPTIC
      connect block[b].p[i] to o[(i - 1) % 4]
      circuit block[*] spread
    }"""
    f = fabric_of(text, tmp_path)
    assert (len(f.cable_a), len(f.circuit_a), f.link_count) == (40, 20, 20)
    pairs = Counter(zip(f.device_a.tolist(), f.device_b.tolist(), strict=True))
    assert len(pairs) == 10 and set(pairs.values()) == {2}
    assert len(set(f.circuit_a.tolist()) | set(f.circuit_b.tolist())) == 40


def test_for_if_def_and_guards(tmp_path: Path) -> None:
    text = """
    def half(n: int): int = n // 2
    fabric f {
      param n: int = 4 where n >= 2
      switch a[n]: SW
      switch b[half(n)]: SW
      for k in 0..1 { connect a[i] to b[(i + k) % half(n)] where i < n }
      if n > 8 { connect a[*] ring } else { connect b[*] each }
    }"""
    f = fabric_of(text, tmp_path)
    assert f.link_count == 4 * 2 + 1


def test_naming(tmp_path: Path) -> None:
    text = """fabric west {
      group su[2] { switch leaf[2]: SW }
      switch spine: SW
      connect su[*].leaf[*] to spine each
      naming su[s].leaf[i] "{fabric}-su{s}-leaf{i:02}"
    }"""
    f = fabric_of(text, tmp_path)
    assert [f.device_name(d) for d in range(f.device_count)] == [
        "west-su0-leaf00", "west-su0-leaf01", "west-su1-leaf00", "west-su1-leaf01", "spine",
    ]  # fmt: skip


def test_uses_an_alias_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "one.fab").write_text("model switch ONE { port p[1..4]: 100Gbps }")
    (tmp_path / "house" / "two.fab").write_text("model switch TWO { port p[1..4]: 100Gbps }")
    text = "use house (ONE as EDGE, TWO)\nfabric f { switch a: EDGE; switch b: TWO; connect a to b }"
    assert fabric_of(text, tmp_path).link_count == 1


def test_omit_and_claims_on_groups(tmp_path: Path) -> None:
    """A group in an omit means all in it; a device that an extend gave to one instance is in that one only."""
    text = """fabric f {
      group su[3] { host box[2]: BOX; switch leaf: BIG; connect box[b].nic[i] to leaf }
      switch spine: BIG
      connect su[*].leaf to spine each
      extend su[0] { host extra: BOX; connect extra.nic[i] to leaf }
      omit su[2]
      for s in 0..1 { require links of su[(s)] >= 4 }
      require links of su[0] == 6
      require links of su[1] == 4
    }"""
    result = compile_text(text, tmp_path)
    assert places(result.findings) == []
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.link_count == 4 + 4 + 2 + 2


def test_a_leaf_of_storage_alone_is_a_leaf(tmp_path: Path) -> None:
    """Storage and managers are no ends that a fabric is built for. A leaf that has storage alone is as low as its fellows, and
    a manager at a spine makes that no leaf."""
    f = fabric_of(
        """
model switch EDGE { port p[1..8]: 400Gbps { type GE } }
model host GPUS { port nic: 400Gbps { type GE }; chip gpu[1]: H100 }
model host FILER { port nic: 400Gbps { type GE } }
fabric f {
  host node[4]: GPUS
  host filer[2]: FILER { role storage }
  host manager: FILER { role manager }
  switch leaf[3]: EDGE
  switch spine[2]: EDGE
  connect node[n] to leaf[n // 2]
  connect filer[n] to leaf[2]
  connect manager to spine[0]
  connect leaf[*] to spine[*] each
}
""",
        tmp_path,
    )
    tier = {f.device_name(d): int(f.tier[d]) for d in range(len(f.tier))}
    assert {d: t for d, t in tier.items() if t} == {"leaf0": 1, "leaf1": 1, "leaf2": 1, "spine0": 2, "spine1": 2}
