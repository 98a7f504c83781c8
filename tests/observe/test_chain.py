"""The real chain: a netlist of a design, simulated by ibsim, discovered by ibnetdiscover, audited against the design."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tdsl.observe.asbuilt import as_built_fabric
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.observe.captures import audited, ends_by_name, netlist
from tests.observe.plant import Cables, one_of_each, ports
from tests.targets import ib

POD = """\
use nvidia (QM9700, DGX_H100)
fabric pod {
  group su[2] {
    host node[4]: DGX_H100
    switch leaf[8]: QM9700
    connect node[n].nic[r] to leaf[r]
  }
  switch spine[4]: QM9700
  connect su[*].leaf[*] to spine[*] spread x 4
  require oversubscription <= 1:1
}
"""


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(POD, tmp_path_factory.mktemp("pod"), models=False)


def discovered(cables: Cables, folder: Path, speed: dict[int, str] | None = None) -> tuple[Path, Path]:
    """What ibnetdiscover and iblinkinfo print of a simulated cabling."""
    ib.need()
    with ib.lab(netlist(cables, speed).encode(), folder, {}) as lab:
        topology, links = folder / "fabric.topo", folder / "links.txt"
        topology.write_text(lab.ask("ibnetdiscover"))
        links.write_text(lab.ask("iblinkinfo", "-l"))
    return topology, links


def run(folder: Path, *args: str | Path) -> tuple[int, dict[str, object]]:
    (folder / "pod.fab").write_text(POD)
    done = tdsl("audit", folder / "pod.fab", *args, "--simulator", "--no-requirements", "--format", "json")
    (one,) = json.loads(done.stdout)["fabrics"]
    return done.exit_code, one


def test_what_is_built_as_designed_is_clean(pod: Fabric, tmp_path: Path) -> None:
    topology, links = discovered(Cables(pod), tmp_path)
    for option, file in (("--ibnetdiscover", topology), ("--iblinkinfo", links)):
        status, found = run(tmp_path, option, file)
        assert (status, found["findings"]) == (0, [])
        assert found["links_as_designed"] == found["links"] == pod.link_count
    assert run(tmp_path, "--ibnetdiscover", topology, "--iblinkinfo", links)[0] == 0


def test_what_was_built_is_imported_as_the_same_fabric(pod: Fabric, tmp_path: Path) -> None:
    """From the netlist that the target writes, over ibsim and ibnetdiscover, back to a design: the same devices and links."""
    ib.need()
    (tmp_path / "pod.fab").write_text(POD)
    assert tdsl("build", tmp_path / "pod.fab", "--target", "ibsim", "--out", tmp_path / "out").exit_code == 0
    with ib.lab((tmp_path / "out" / "ibsim" / "fabric.net").read_bytes(), tmp_path, {}) as lab:
        (tmp_path / "t.topo").write_text(lab.ask("ibnetdiscover"))
    assert tdsl("import", tmp_path / "t.topo", "-o", tmp_path / "asbuilt.fab").exit_code == 0
    back = compiler.compile_without_checks(str(tmp_path / "asbuilt.fab")).designs[0].fabric
    assert back is not None
    assert ends_by_name(back) == ends_by_name(pod)
    assert sorted(map(back.device_name, range(back.device_count))) == sorted(map(pod.device_name, range(pod.device_count)))
    assert tdsl("audit", tmp_path / "asbuilt.fab", "--ibnetdiscover", tmp_path / "t.topo").exit_code == 0


def test_every_mistake_of_a_netlist_is_named(pod: Fabric, tmp_path: Path) -> None:
    c = Cables(pod)
    one_of_each(
        c, "su0-leaf0 spine0 su0-node3 su1-leaf6 su1-leaf7 spine1 su1-leaf2 spine2 spine3 su0-leaf3 su0-leaf4 su0-leaf5 su1-node2"
    )
    topology, links = discovered(c, tmp_path, {ports(c, "su0-leaf1")[0]: "1xHDR"})
    for option, file in (("--ibnetdiscover", topology), ("--iblinkinfo", links)):
        status, found = run(tmp_path, option, file)
        named = {d["code"]: d["message"] for d in found["findings"]}  # type: ignore[attr-defined]
        assert status == 1 and len(found["findings"]) == len(named) == len(NAMED)  # type: ignore[arg-type]
        for code, words in NAMED.items():
            assert all(word in named[code] for word in words), named[code]


NAMED = {
    "E0620": ("su0-leaf0 IB1/1/1", "su0-leaf0 IB1/2/1"),
    "E0621": ("spine0 IB1/1/1", "spine0 IB1/1/2"),
    "E0623": ("adapters of su0-node3", "rotated by 1"),
    "E0614": ("su1-leaf6", "su1-leaf7"),
    "E0624": ("spine1 OSFP 3",),
    "E0610": ("su1-node2", "its 8 links"),
    "E0630": ("su0-leaf1 IB1/1/1", "50 Gb/s on 1 lane; 200 Gb/s"),
    "E0625": ("su1-leaf2",),
    "E0626": ("spine2 IB1/32/2", "spine3 IB1/32/2"),
    "E0627": ("is in su0-leaf4", "su0-leaf3 IB1/1/2 is planned"),
    "E0628": ("is in su0-leaf5", "su0-leaf5 IB1/1/2 is planned"),
}
"""The finding of each mistake, and where it is."""


def test_requirements_are_judged_on_what_is_built(pod: Fabric, tmp_path: Path) -> None:
    c = Cables(pod)
    nics = ports(c, "su0-node3")
    assert c.move({p: nics[(i + 1) % 8] for i, p in enumerate(nics)})
    c.unplug(ports(c, "su1-leaf2")[-2:-1])
    (tmp_path / "capture.topo").write_text(netlist(c))
    text = POD.replace(
        "require oversubscription <= 1:1", "require rail_alignment\n  require bisection >= 100%\n  require reachability"
    )
    (tmp_path / "pod.fab").write_text(text)
    done = tdsl("audit", tmp_path / "pod.fab", "--ibnetdiscover", tmp_path / "capture.topo", "--simulator", "--format", "json")
    (found,) = json.loads(done.stdout)["fabrics"]
    asked = {r["check"]: r for r in found["requirements"]}
    assert {k: r["kept"] for k, r in asked.items()} == {"rail_alignment": False, "bisection": False, "reachability": True}
    assert asked["bisection"]["designed"]["lower"] == 1.0 and 0.9 < asked["bisection"]["lower"] < 1
    faults = [d["code"] for d in found["findings"] if d["code"] != "E0640"]
    assert sorted(faults) == ["E0623", "E0625"]
    for check, code in (("rail_alignment", "E0623"), ("bisection", "E0625")):
        first = asked[check]["gains"][0]
        assert faults[first["fault"] - 1] == code and first["status"] == "proved"
    assert [d["code"] for d in found["findings"]].count("E0640") == 2


def test_what_is_built_keeps_its_bundles(tmp_path: Path) -> None:
    """Links are renumbered where one is missing."""
    text = """\
use nvidia (QM9700, DGX_H100)
fabric pod {
  host node[4]: DGX_H100
  switch leaf[2]: QM9700
  connect node[k].nic[r] to leaf[k // 2]
  connect leaf[0] to leaf[1] x 6 { bundle 2; length 3m }
  require edge_redundancy == 3
}
"""
    (tmp_path / "pod.fab").write_text(text)
    fabric = fabric_of(text, tmp_path, models=False)
    c = Cables(fabric)
    c.unplug(ports(c, "node0")[:1])
    capture = tmp_path / "capture.topo"
    capture.write_text(netlist(c))
    made = as_built_fabric(audited(fabric, ("ibnetdiscover", capture)))
    assert made.link_bundle[made.link_bundle >= 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert (made.is_switch[made.device_a] == (made.link_bundle >= 0)).all()
    done = tdsl("audit", tmp_path / "pod.fab", "--ibnetdiscover", capture, "--simulator", "--format", "json")
    (found,) = json.loads(done.stdout)["fabrics"]
    (asked,) = found["requirements"]
    assert asked["kept"] and asked["lower"] == asked["designed"]["lower"] == 3
