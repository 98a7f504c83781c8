"""LLDP: captures of all devices, of some, and of lldpd in network namespaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tdsl.fabric.graph import Fabric
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.observe.captures import audited, codes, lldp
from tests.observe.plant import Cables, one_of_each, ports
from tests.observe.test_importing import imported
from tests.targets import frr_lab
from tests.targets.test_frr import LEAF_SPINE, made


def heard(lab: Any, links: int, folder: Path) -> Path:
    """What lldpd hears on every device, as a capture of each."""
    lab.hear()
    frr_lab.until(lambda: len(lab.neighbours()), links)
    folder.mkdir()
    for name in lab.names:
        (folder / f"{name}.json").write_text(lab._lldp(name, "-f", "json0", "show", "neighbors").stdout)
    return folder


def test_what_no_capture_shows_is_no_fault(small: Fabric, tmp_path: Path) -> None:
    cables = Cables(small)
    cables.unplug(ports(cables, "su1-leaf0")[:1] + ports(cables, "su0-leaf0")[:1])
    lldp(cables, tmp_path / "captures")
    for path in (tmp_path / "captures").iterdir():
        if not path.stem.startswith("su0-leaf"):
            path.unlink()
    found = audited(small, ("lldp", tmp_path / "captures"))
    assert codes(found) == ["E0625"]
    assert int(found.judged.sum()) == 28  # of 4 leaves with 7 links each
    assert [d.code for d in found.notes] == ["E0632"]


def test_lldpd_of_what_was_built_is_imported_as_the_same_fabric(tmp_path: Path) -> None:
    """FRR and lldpd run in namespaces as the design says; what lldpd hears is imported: the same devices, ports and links."""
    frr_lab.need()
    files = made(LEAF_SPINE, tmp_path)
    fabric = fabric_of(LEAF_SPINE, tmp_path, models=False)
    with frr_lab.running(files) as lab:
        folder = heard(lab, fabric.link_count, tmp_path / "captures")
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
    one_of_each(c, "leaf0 spine0 node3 leaf6 leaf7 spine1 leaf4 spine0 spine1 leaf1 leaf2 leaf5 node6")

    def end(port: int) -> tuple[str, str]:
        k, i = fabric.port_class(port)
        return fabric.device_name(c.device[port]), k.systems[i]

    frr_lab.need()
    with frr_lab.cabled([frr_lab.Wire(end(p), end(q)) for p, q in c.far.items() if p < q]) as lab:
        folder = heard(lab, len(c.far) // 2, tmp_path / "captures")
    simulated = tmp_path / "simulated"
    lldp(c, simulated)
    found = codes(audited(fabric, ("lldp", folder)))
    assert sorted(found) == sorted(codes(audited(fabric, ("lldp", simulated))))
    assert sorted(found) == ["E0610", "E0614", "E0620", "E0621", "E0623", "E0624", "E0625", "E0626", "E0627", "E0628"]
