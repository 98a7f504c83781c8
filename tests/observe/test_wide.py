"""Mistakes of many devices at once: one finding each; and the requirements that repairs restore."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.observe.asbuilt import promises_kept, repairs_by_gain
from tdsl.observe.audit import Audit
from tdsl.observe.difference import Mistake
from tdsl.observe.report import audit_summary
from tests.fabrics import superpod
from tests.harness import compile_text, fabric_of, sampled
from tests.observe.captures import audited, codes, p2p
from tests.observe.plant import KINDS, Cables
from tests.observe.test_diagnose import explained

POD = """\
model switch SW { port p[1..40]: 400Gbps { type NDR; name "IB1/{i}" } }
model host NODE { port nic[4]: 400Gbps { type NDR; os "mlx5_{i}" } }
model panel PATCH { port front[16]: any; port back[16]: any }
fabric wide {
  host node[16]: NODE
  group plane[4] {
    switch leaf[2]: SW
    switch spine[4]: SW
    connect leaf[*] to spine[*] each x 4
  }
  connect node[n].nic[r] to plane[r].leaf[n // 8]
}
"""
PANELS = """\
model switch SW { port p[1..20]: 400Gbps { type NDR; name "IB1/{i}" } }
model panel PATCH { port front[16]: any; port back[16]: any }
fabric panels {
  switch leaf[2]: SW
  switch spine[4]: SW
  panel patch[2]: PATCH
  connect leaf[l] to spine[*] each x 4 via patch[l]
}
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(POD, tmp_path_factory.mktemp("wide"), models=False)


def moved(cables: Cables, to: Callable[[int], int]) -> Cables:
    """Every plug at the port that ``to`` gives; links that share a port of no device are out."""
    out = Cables(cables.fabric)
    out.far = {to(p): to(q) for p, q in cables.far.items() if to(p) >= 0 and to(q) >= 0}
    return out


def devices_moved(cables: Cables, step: dict[str, str]) -> Cables:
    """The cables of each named device at another."""
    f = cables.fabric
    rows = {f.device_name(d): d for d in range(f.device_count)}
    base = f.port_base.tolist()
    of = {rows[a]: rows[b] for a, b in step.items()}

    def to(p: int) -> int:
        d = cables.device[p]
        return base[of.get(d, d)] + p - base[d]

    return moved(cables, to)


def ports_moved(cables: Cables, by: int, switches: bool) -> Cables:
    """The plugs of all switches, or of all hosts, at another port of the same device."""
    f, base = cables.fabric, cables.fabric.port_base.tolist()

    def to(p: int) -> int:
        d = cables.device[p]
        if bool(f.is_switch[d]) != switches:
            return p
        return p + by if base[d] <= p + by < base[d + 1] else -1

    return moved(cables, to)


def shuffled(cables: Cables, seed: int) -> Cables:
    """Every plug of a switch anywhere."""
    ports = sorted(p for p in cables.far if cables.fabric.is_switch[cables.device[p]])
    other = ports[:]
    Random(seed).shuffle(other)
    step = dict(zip(ports, other, strict=True))
    out = Cables(cables.fabric)
    out.far = {step.get(p, p): step.get(q, q) for p, q in cables.far.items() if step.get(p, p) != step.get(q, q)}
    return out


def names(fabric: Fabric, text: str) -> list[str]:
    return [n for d in range(fabric.device_count) if text in (n := fabric.device_name(d))]


def ring(found: list[str], by: int) -> dict[str, str]:
    return dict(zip(found, [*found[by:], *found[:by]], strict=True))


def planes(fabric: Fabric) -> dict[str, str]:
    one, other = names(fabric, "plane0"), names(fabric, "plane1")
    return dict(zip([*one, *other], [*other, *one], strict=True))


CASES: list[tuple[str, Callable[[Cables], Cables], str]] = [
    ("all switches off by one", lambda c: ports_moved(c, 1, True), "ports offset"),
    ("all hosts off by one", lambda c: ports_moved(c, -1, False), "ports offset"),
    ("hosts one further", lambda c: devices_moved(c, ring(names(c.fabric, "node"), 1)), "devices offset"),
    ("hosts at random", lambda c: devices_moved(c, dict(zip(
        found := names(c.fabric, "node"), Random(3).sample(found, len(found)), strict=True))), "devices permuted"),
    ("leaves one plane further", lambda c: devices_moved(c, ring(names(c.fabric, "leaf"), 2)), "devices offset"),
    ("adapters turned in all hosts", lambda c: moved(c, lambda p: turned(c, p)), "ports rotated"),
    ("two planes", lambda c: devices_moved(c, planes(c.fabric)), ""),
]  # fmt: skip


def turned(cables: Cables, p: int) -> int:
    base = int(cables.fabric.port_base[cables.device[p]])
    return p if cables.fabric.is_switch[cables.device[p]] else base + (p - base + 1) % 4


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize(("hosts", "spines", "each"), [(2, 1, 2), (4, 1, 4), (4, 2, 2)])
def test_an_offset_of_a_small_design(hosts: int, spines: int, each: int, by: int, tmp_path: Path) -> None:
    """Two leaves and a spine whose port numbers are all off by one: one offset."""
    text = POD.replace("node[16]", f"node[{hosts}]").replace("nic[4]", "nic[2]").replace("plane[4]", "plane[1]")
    text = (
        text.replace("plane[r].leaf[n // 8]", "plane[0].leaf[r]")
        .replace("each x 4", f"each x {each}")
        .replace("spine[4]", f"spine[{spines}]")
    )
    fabric = fabric_of(text, tmp_path, models=False)
    (tmp_path / "t.csv").write_text(p2p(ports_moved(Cables(fabric), by, True)))
    made = audited(fabric, ("p2p", tmp_path / "t.csv"))
    assert codes(made) == ["E0617"] and f"at port n {by:+}" in made.faults[0].finding.message, codes(made)


@pytest.mark.parametrize(("name", "plant", "kind"), CASES)
def test_one_cause_is_one_mistake(name: str, plant: Callable[[Cables], Cables], kind: str, wide: Fabric, tmp_path: Path) -> None:
    """In the words of the design, and in an audit of a table of cables."""
    cables = plant(Cables(wide))
    found = explained(cables)
    assert len(found) == 1 and (not kind or found[0].kind == kind), [(m.kind, m.detail) for m in found]
    (tmp_path / "t.csv").write_text(p2p(cables))
    made = audited(wide, ("p2p", tmp_path / "t.csv"))
    assert len(codes(made)) == 1 and codes(made)[0] in ("E0616", "E0617") and made.faults[0].tasks, name
    assert made.faults[0].finding.help and len(made.faults[0].tasks) <= wide.device_count


def test_a_mirrored_panel_is_one_mistake(tmp_path: Path) -> None:
    fabric = fabric_of(PANELS, tmp_path, models=False)
    cables = Cables(fabric)
    ends = sorted(p for p in cables.far if fabric.device_name(cables.device[p]) == "leaf0")
    far = [cables.far[p] for p in ends]
    for p, q in zip(ends, reversed(far), strict=True):
        cables.far[p], cables.far[q] = q, p
    found = explained(cables)
    assert len(found) == 1 and found[0].kind in ("panel reversed", "reversed")


@pytest.mark.parametrize("seed", sampled(range(3), 2))
def test_where_nothing_fits_what_differs_is_said(seed: int, wide: Fabric, tmp_path: Path) -> None:
    """And leads to what is seen: the findings together are the whole difference."""
    cables = shuffled(Cables(wide), seed)
    found: list[Mistake] = explained(cables)
    assert len(found) < 0.75 * wide.link_count
    (tmp_path / "t.csv").write_text(p2p(cables))
    assert codes(audited(wide, ("p2p", tmp_path / "t.csv")))


def test_plugs_mixed_up_in_every_switch_end_the_search() -> None:
    """Each switch has all its cables, at random ports of its own: the choices to compare grow faster than the links, so that the
    search has to stop by itself."""
    cables = Cables(superpod(2, 16, 8, 8).build())
    random, step = Random(1), dict[int, int]()
    for d in range(cables.fabric.device_count):
        used = cables.used(d) if cables.fabric.is_switch[d] else []
        step |= dict(zip(used, random.sample(used, len(used)), strict=True))
    found = explained(moved(cables, lambda p: step.get(p, p)))
    assert 1 <= len(found) < cables.fabric.link_count // 2


REQUIRED = POD.rstrip().removesuffix("}") + "  require reachability\n  require edge_redundancy >= 4\n  require diameter <= 2\n}\n"


def judged(cables: Cables, folder: Path) -> Audit:
    design = compile_text(REQUIRED, folder, models=False, verify=False).designs[0]
    (folder / "t.csv").write_text(p2p(cables))
    assert design.fabric is not None
    made = audited(design.fabric, ("p2p", folder / "t.csv"))
    made.promises = promises_kept(made, design.claims)
    return made


def test_a_repair_that_restores_a_requirement_alone_comes_first(wide: Fabric, tmp_path: Path) -> None:
    """Of many faults, one takes an adapter from a host."""
    cables = Cables(wide)
    random = Random(5)
    spine = sorted(p for p in cables.far if "spine" in wide.device_name(cables.device[p]))
    for p in random.sample(spine, 20):  # cables between leaves and spines, of which there are four each
        cables.unplug([p])
    cables.unplug([next(p for p in cables.far if wide.device_name(cables.device[p]) == "node3")])
    made = judged(cables, tmp_path)
    kept = {p.built.requirement.split()[0]: p.kept for p in made.promises}
    assert len(made.faults) > 12 and kept == {"reachability": True, "edge_redundancy": False, "diameter": True}
    (repair,) = repairs_by_gain(made)
    assert "node3" in made.faults[repair.fault - 1].finding.message and repair.alone == ("edge_redundancy >= 4",)
    assert f"  repair {repair.fault}: " in audit_summary(made)


def test_repairs_that_restore_a_requirement_together_are_found(wide: Fabric, tmp_path: Path) -> None:
    """Two hosts each lack an adapter: both cables are needed, and no other."""
    cables = Cables(wide)
    for seed in range(16):
        KINDS["extra"](cables, Random(seed))
    lost = [next(p for p in cables.far if wide.device_name(cables.device[p]) == n) for n in ("node3", "node9")]
    cables.unplug(lost)
    made = judged(cables, tmp_path)
    (broken,) = [p for p in made.promises if p.built.requirement.startswith("edge_redundancy")]
    needed = " and ".join(sorted(made.faults[n - 1].finding.message for n in broken.restoring))
    assert broken.enough and len(broken.restoring) == 2 and "node3 " in needed and "node9 " in needed
    assert [r.among for r in repairs_by_gain(made)] == [("edge_redundancy >= 4",)] * 2
