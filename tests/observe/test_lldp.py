"""LLDP: captures of all devices, of some, and of lldpd in network namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.observe.captures import audited, codes, lldp
from tests.observe.plant import Cables
from tests.observe.test_chain import POD, free, ports
from tests.observe.test_importing import imported
from tests.targets import frr_lab
from tests.targets.test_frr import LEAF_SPINE, made


@pytest.mark.parametrize("json0", [True, False])
def test_both_forms_of_lldpcli(json0: bool, tmp_path: Path) -> None:
    pod = fabric_of(POD, tmp_path, models=False)
    cables = Cables(pod)
    leaf = ports(cables, "su0-leaf0")
    assert cables.exchange([leaf[0]], [leaf[2]])
    lldp(cables, tmp_path / "captures", json0)
    assert codes(audited(pod, ("lldp", tmp_path / "captures"))) == ["E0620"]


def test_what_no_capture_shows_is_no_fault(tmp_path: Path) -> None:
    pod = fabric_of(POD, tmp_path, models=False)
    cables = Cables(pod)
    cables.unplug(ports(cables, "su1-leaf0")[:1] + ports(cables, "su0-leaf0")[:1])
    lldp(cables, tmp_path / "captures")
    for path in (tmp_path / "captures").iterdir():
        if not path.stem.startswith("su0-leaf"):
            path.unlink()
    found = audited(pod, ("lldp", tmp_path / "captures"))
    assert codes(found) == ["E0625"]
    assert int(found.judged.sum()) == 64  # of 8 leaves with 8 links each
    assert [d.code for d in found.notes] == ["E0632"]


def test_lldpd_of_what_was_built_is_imported_as_the_same_fabric(tmp_path: Path) -> None:
    """FRR and lldpd run in namespaces as the design says; what lldpd hears is imported: the same devices, ports and links."""
    frr_lab.need()
    files = made(LEAF_SPINE, tmp_path)
    fabric = fabric_of(LEAF_SPINE, tmp_path, models=False)
    folder = tmp_path / "captures"
    folder.mkdir()
    with frr_lab.running(files) as lab:
        lab.hear()
        frr_lab.until(lambda: len(lab.neighbours()), fabric.link_count)
        for name in lab.names:
            (folder / f"{name}.json").write_text(lab._lldp(name, "-f", "json0", "show", "neighbors").stdout)
    assert codes(audited(fabric, ("lldp", folder))) == []
    back = imported(tmp_path, folder, "--rate", "400Gbps", "--hosts", "^(host|node)")

    def links(f: Fabric) -> set[frozenset[tuple[str, str]]]:
        def end(port: int) -> tuple[str, str]:
            return f.device_name(int(f.port_device[port])), f.port_system(port)

        return {frozenset((end(int(a)), end(int(b)))) for a, b in zip(f.link_a, f.link_b, strict=True)}

    assert links(back) == links(fabric) and len(links(back)) == fabric.link_count
    assert tdsl("audit", tmp_path / "asbuilt.fab", "--lldp", folder).exit_code == 0


UNITS = """\
model switch SW { port p[1..16]: 400Gbps { type GE400; cage 2 OSFP; os "swp{i}" } }
model host NODE { port nic[4]: 400Gbps { type GE400; os "eth{i + 1}" } }
fabric units {
  host node[8]: NODE
  switch leaf[8]: SW
  switch spine[2]: SW
  connect node[n].nic[r] to leaf[4*(n//4) + r]
  connect leaf[*].p[9..10] to spine[*] spread
}
"""


def test_every_mistake_that_lldpd_in_namespaces_shows_is_named(tmp_path: Path) -> None:
    fabric = fabric_of(UNITS, tmp_path, models=False)
    c = Cables(fabric)
    leaf = ports(c, "leaf0")
    assert c.exchange([leaf[0]], [leaf[2]])
    assert c.exchange(ports(c, "spine0")[:1], ports(c, "spine0")[1:2])  # the two plugs of one cage
    nics = ports(c, "node3")
    assert c.move({p: nics[(i + 1) % 4] for i, p in enumerate(nics)})
    assert c.exchange(ports(c, "leaf6"), ports(c, "leaf7"))
    c.unplug(ports(c, "spine1")[4:6])
    c.unplug(ports(c, "leaf4")[1:2])
    a, b = free(c, "spine0")[-1], free(c, "spine1")[-1]
    c.far[a], c.far[b] = b, a
    assert c.move({ports(c, "leaf1")[1]: free(c, "leaf2")[3]})
    assert c.move({ports(c, "leaf5")[3]: free(c, "leaf5")[3]})
    c.unplug(ports(c, "node6"))

    def end(port: int) -> tuple[str, str]:
        k, i = fabric.port_class(port)
        return fabric.device_name(c.device[port]), k.systems[i]

    folder = tmp_path / "captures"
    folder.mkdir()
    frr_lab.need()
    with frr_lab.cabled([frr_lab.Wire(end(p), end(q)) for p, q in c.far.items() if p < q]) as lab:
        lab.hear()
        frr_lab.until(lambda: len(lab.neighbours()), len(c.far) // 2)
        for name in lab.names:
            (folder / f"{name}.json").write_text(lab._lldp(name, "-f", "json0", "show", "neighbors").stdout)
    simulated = tmp_path / "simulated"
    lldp(c, simulated)
    found = codes(audited(fabric, ("lldp", folder)))
    assert sorted(found) == sorted(codes(audited(fabric, ("lldp", simulated))))
    assert sorted(found) == ["E0610", "E0614", "E0620", "E0621", "E0623", "E0624", "E0625", "E0626", "E0627", "E0628"]
