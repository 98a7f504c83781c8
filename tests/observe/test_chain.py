"""The real chain: a netlist of a design, simulated by ibsim, discovered by ibnetdiscover, audited against the design."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tdsl.observe.asbuilt import as_built_fabric
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.observe.captures import audited, netlist
from tests.observe.plant import Cables
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


def ports(cables: Cables, name: str) -> list[int]:
    """Cabled ports of a device as a person meets them."""
    f = cables.fabric
    (device,) = (d for d in range(f.device_count) if f.device_name(d) == name)
    return cables.row(device)


def free(cables: Cables, name: str) -> list[int]:
    f = cables.fabric
    (device,) = (d for d in range(f.device_count) if f.device_name(d) == name)
    return [p for p in cables.ports(device) if p not in cables.far]


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
    (one,) = compiler.compile_without_checks(str(tmp_path / "asbuilt.fab")).designs
    back = one.fabric
    assert back is not None

    def links(f: Fabric) -> list[tuple[str, ...]]:
        def end(port: int) -> str:
            d = int(f.port_device[port])
            number = str(port - int(f.port_base[d]) + 1) if f.is_switch[d] else f.port_system(port)
            return f"{f.device_name(d)} {number}"

        return sorted(tuple(sorted((end(int(a)), end(int(b))))) for a, b in zip(f.link_a, f.link_b, strict=True))

    assert links(back) == links(pod)
    assert sorted(map(back.device_name, range(back.device_count))) == sorted(map(pod.device_name, range(pod.device_count)))
    assert tdsl("audit", tmp_path / "asbuilt.fab", "--ibnetdiscover", tmp_path / "t.topo").exit_code == 0


def test_every_mistake_of_a_netlist_is_named(pod: Fabric, tmp_path: Path) -> None:
    c = Cables(pod)
    leaf = ports(c, "su0-leaf0")
    assert c.exchange([leaf[0]], [leaf[2]])
    assert c.exchange(ports(c, "spine0")[:1], ports(c, "spine0")[1:2])  # the two plugs of one cage
    nics = ports(c, "su0-node3")
    assert c.move({p: nics[(i + 1) % 8] for i, p in enumerate(nics)})
    assert c.exchange(ports(c, "su1-leaf6"), ports(c, "su1-leaf7"))
    c.unplug(ports(c, "spine1")[4:6])
    c.unplug(ports(c, "su1-leaf2")[5:6])
    a, b = free(c, "spine2")[-1], free(c, "spine3")[-1]
    c.far[a], c.far[b] = b, a
    assert c.move({ports(c, "su0-leaf3")[1]: free(c, "su0-leaf4")[9]})
    assert c.move({ports(c, "su0-leaf5")[1]: free(c, "su0-leaf5")[9]})
    c.unplug(ports(c, "su1-node2"))
    slow = ports(c, "su0-leaf1")[0]
    topology, links = discovered(c, tmp_path, {slow: "1xHDR"})
    for option, file in (("--ibnetdiscover", topology), ("--iblinkinfo", links)):
        status, found = run(tmp_path, option, file)
        assert status == 1
        named = {d["code"]: d["message"] for d in found["findings"]}  # type: ignore[attr-defined]
        expected = {
            "E0620": "two cables are swapped: su0-leaf0 IB1/1/1 and su0-leaf0 IB1/2/1",
            "E0621": "the two halves of a cage are swapped: spine0 IB1/1/1 and spine0 IB1/1/2",
            "E0623": "the adapters of su0-node3 are rotated by 1",
            "E0614": "su1-leaf6 and su1-leaf7 are exchanged: each has the cables of the other",
            "E0624": "the whole cage spine1 OSFP 3 is dark: none of its 2 links is seen",
            "E0610": "su1-node2 is not seen, nor any of its 8 links",
            "E0630": named["E0630"],
            "E0625": named["E0625"],
            "E0626": named["E0626"],
            "E0627": named["E0627"],
            "E0628": named["E0628"],
        }
        assert named == expected
        assert len(found["findings"]) == 11  # type: ignore[arg-type]
        assert "su0-leaf1 IB1/1/1" in named["E0630"] and "50 Gb/s on 1 lane; 200 Gb/s" in named["E0630"]
        assert "su1-leaf2" in named["E0625"]
        assert "spine2 IB1/32/2" in named["E0626"] and "spine3 IB1/32/2" in named["E0626"]
        assert "is in su0-leaf4" in named["E0627"] and "su0-leaf3 IB1/1/2 is planned" in named["E0627"]
        assert "is in su0-leaf5" in named["E0628"] and "su0-leaf5 IB1/1/2 is planned" in named["E0628"]


def test_a_shifted_row_and_a_nameless_switch(pod: Fabric, tmp_path: Path) -> None:
    c = Cables(pod)
    (leaf,) = (d for d in range(pod.device_count) if pod.device_name(d) == "su1-leaf1")
    row = c.row(leaf)
    spare = next(p for p in c.ports(leaf) if p not in c.far and c.rank[p] == c.rank[row[-1]] + 1)
    assert c.move(dict(zip(row[-4:], [*row[-3:], spare], strict=True)))
    ib.need()
    with ib.lab(netlist(c, names={leaf - 1: "Quantum Mellanox Technologies"}).encode(), tmp_path, {}) as lab:
        (tmp_path / "t.topo").write_text(lab.ask("ibnetdiscover"))
    status, found = run(tmp_path, "--ibnetdiscover", tmp_path / "t.topo")
    messages = {d["code"]: d for d in found["findings"]}  # type: ignore[attr-defined]
    assert status == 1 and set(messages) == {"E0622", "E0612"}
    assert messages["E0622"]["message"] == "4 cables of su1-leaf1 are shifted by 1 port"
    assert messages["E0612"]["severity"] == "note" and "su1-leaf0" in messages["E0612"]["message"]
    assert messages["E0612"]["notes"] == ["8 of its 8 links go where the design plans su1-leaf0"]


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
    """Links are renumbered where one is missing or elsewhere; each column of links follows."""
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
    columns = {f.name: len(getattr(made, f.name)) for f in fields(made) if f.name.startswith("link_")}
    assert {name: n for name, n in columns.items() if n != made.link_count and (name != "link_run" or n)} == {}
    done = tdsl("audit", tmp_path / "pod.fab", "--ibnetdiscover", capture, "--simulator", "--format", "json")
    (found,) = json.loads(done.stdout)["fabrics"]
    (asked,) = found["requirements"]
    assert asked["kept"] and asked["lower"] == asked["designed"]["lower"] == 3
