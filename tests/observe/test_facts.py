"""What captures say of other things than links, against a SuperPOD: clean as designed, and a fault for each thing planted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdsl.compile.compiler import Request, compile_without_checks
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.observe.audit import Audit, AuditSettings
from tdsl.observe.identifiers import read_identifiers
from tdsl.observe.readers import capture_readers
from tdsl.observe.report import audit_document, audit_summary
from tests.observe.captures import OF_OTHER_THINGS, audited, codes, lldp, mac_of_port, named
from tests.observe.plant import Cables

DESIGN = Path(__file__).parents[2] / "stdlib" / "designs" / "dgx_superpod_h100_racks.fab"


@pytest.fixture(scope="module")
def cables() -> Cables:
    fabric = compile_without_checks(str(DESIGN), Request(set=(("units", "2"),))).designs[0].fabric
    assert fabric is not None
    return Cables(fabric)


def written(files: dict[str, str], folder: Path) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def facts(made: Audit) -> dict[str, Any]:
    """The counts of facts: all that were read are used or set aside."""
    found = audit_document(made)["facts"]
    assert isinstance(found, dict) and found["read"] == found["used"] + found["set_aside"] == found["used"] + len(found["aside"])
    return found


def addresses(fabric: Fabric, cables: Cables) -> AuditSettings:
    """A table with the address of every port of a host."""
    rows = [
        f"{named(cables, p)[0]},{named(cables, p)[1]},{mac_of_port(cables, p)}"
        for p in sorted(cables.far)
        if fabric.is_end[cables.device[p]]
    ]
    table = SourceFile("assets.csv", "\n".join(["device,port,mac", *rows, ""]))
    return AuditSettings(assets=read_identifiers(fabric, table, Diagnostics()))


OTHERS = [n for n in OF_OTHER_THINGS if n != "fdb"]


@pytest.mark.parametrize("reader", OTHERS)
def test_what_is_as_designed_is_no_fault(reader: str, cables: Cables, tmp_path: Path) -> None:
    path = written(OF_OTHER_THINGS[reader](cables), tmp_path / "c")
    made = audited(cables.fabric, (capture_readers()[reader].OPTION, path))
    assert codes(made) == [], [f.finding.message for f in made.faults][:3]
    found = facts(made)
    assert found["used"] > 30 and found["set_aside"] <= 4
    assert "no link was judged; " in audit_summary(made) and "as designed; no faults" in audit_summary(made)


def test_what_is_not_asked_for_is_set_aside(cables: Cables, tmp_path: Path) -> None:
    """Of one unit, with faults in the other."""
    f = cables.fabric
    only = np.array([f.device_name(d).startswith("su0") for d in range(f.device_count)])
    for reader in OTHERS:
        files = {n: t.replace("su1-node1,", "").replace("15E-255", "1E-3") for n, t in OF_OTHER_THINGS[reader](cables).items()}
        other = {n: t for n, t in files.items() if not n.startswith("su0")}
        made = audited(
            f,
            (capture_readers()[reader].OPTION, written(other, tmp_path / reader)),
            settings=AuditSettings(only=only),
        )
        found = facts(made)
        assert all(c == "E0907" for c in codes(made)) and found["set_aside"] > 0, (reader, codes(made))


def first(pattern: str, new: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, new, text, count=1, flags=re.MULTILINE)


PLANTED: list[tuple[str, str, Callable[[str], str], str, str]] = [
    ("ethtool", "su0-node0.txt", first("MMA4Z00-NS-FLT", "MMA4Z00-NS400"), "E0633", "MMA4Z00-NS400.*MMA4Z00-NS-FLT is planned"),
    ("ethtool", "su0-node0.txt", first("MMA4Z00-NS-FLT", "980-9I51A-00NS00"), "", ""),
    ("ethtool", "su0-node0.txt", first(r"(== .*\n)(?:\t.*\n)+", r"\1netlink error: No such device\n"), "E0633", "has no module"),
    ("transceivers", "su0-leaf0.txt", first("MMA4Z00-NS", "MMS4X00-NM"), "E0633", "leaf0 .* MMS4X00-NM.*MMA4Z00-NS is planned"),
    ("mlxlink", "su0-node0.txt", first("15E-255", "3E-10"), "E0634", "3.0e-10 errors a bit"),
    ("mlxlink", "su0-node0.txt", first("Active", "Polling"), "E0634", "is not up: its state is Polling"),
    ("mlxlink", "su0-node0.txt", first("IB-NDR", "IB-HDR"), "E0630", "200 Gb/s on 4 lanes; 400 Gb/s is planned"),
    ("net-dump-ext", "ibdiagnet2.net_dump_ext", first("1e-254 : 1e-254 : 0", "1e-254 : 4e-10 : 7"), "E0634", "7 errors"),
    ("net-dump-ext", "ibdiagnet2.net_dump_ext", first("ACT : LINK_UP", "DOWN : POLLING"), "E0634", "its state is DOWN"),
    ("net-dump-ext", "ibdiagnet2.net_dump_ext", first("4x : 100", "1x : 100"), "E0630", "100 Gb/s on 1 lane;"),
    ("lfts", "lfts.txt", first(r"^(0x.*) 001 : \(Channel", r"\1 254 : (Channel"), "E0645", "by port 254, which has no link"),
    ("lfts", "lfts.txt", first(r"^0x.* : \(Channel.*\n", ""), "E0645", "su0-leaf0 has no route to .*, which another table has"),
    ("nvidia-topo", "su0-node0.txt", first("NV18", "NV16"), "E0635", "GPU0 and GPU1 are joined by NV16; NV18 is planned"),
    ("nvidia-topo", "su0-node0.txt", first(r"^(GPU0.*?)PIX\tNODE", r"\1NODE\tPIX"), "E0635", "GPU0 is nearest to mlx5_3"),
    ("nvidia-topo", "su0-node0.txt", first("mlx5_11", "mlx5_20"), "E0635", "mlx5_11 is not seen"),
    ("slurm-topology", "topology.conf", first("su0-node1,", ""), "E0636", "1 host of the design is in no group: su0-node1"),
    ("slurm-topology", "topology.conf", first(r"su0-node1,(.*\n.*)su1-node1,", r"su1-node1,\1su0-node1,"), "E0636", "2 of 6"),
    ("node-labels", "nodes.json", first("su0-leaf0", "su1-leaf0"), "E0636", "1 of 6. hosts is in another group"),
]


@pytest.mark.parametrize(("reader", "name", "plant", "code", "said"), PLANTED)
def test_what_is_planted_is_one_fault(
    reader: str, name: str, plant: Callable[[str], str], code: str, said: str, cables: Cables, tmp_path: Path
) -> None:
    files = OF_OTHER_THINGS[reader](cables)
    changed = plant(files[name])
    assert changed != files[name]
    made = audited(cables.fabric, (capture_readers()[reader].OPTION, written(files | {name: changed}, tmp_path / "c")))
    facts(made)
    assert codes(made) == ([code] if code else []), [f.finding.message for f in made.faults]
    assert all(re.search(said, f.finding.message) and f.tasks for f in made.faults if "in no group" not in f.finding.message)


def test_addresses_at_ports_judge_the_links_of_hosts(cables: Cables, tmp_path: Path) -> None:
    f = cables.fabric
    made = audited(f, ("fdb", written(OF_OTHER_THINGS["fdb"](cables), tmp_path / "a")), settings=addresses(f, cables))
    to_hosts = int((f.is_end[f.device_a] | f.is_end[f.device_b]).sum())
    assert codes(made) == [] and made.matching == int(made.judged.sum()) == to_hosts
    ports = sorted(p for p in cables.far if f.is_switch[cables.device[p]] and f.is_end[cables.device[cables.far[p]]])
    one, other = ports[:2]
    swapped = Cables(f)
    assert swapped.exchange([one], [other])
    made = audited(f, ("fdb", written(OF_OTHER_THINGS["fdb"](swapped), tmp_path / "b")), settings=addresses(f, cables))
    assert len(made.mistakes) == 1 and codes(made)[0] in ("E0620", "E0621")
    rows = audit_document(made)["rows"]
    assert isinstance(rows, dict) and rows["read"] == rows["used"] + rows["set_aside"]


def test_an_address_says_no_more_than_a_neighbour_that_names_itself(cables: Cables, tmp_path: Path) -> None:
    """Where LLDP says what is at a port, the address there is used if it says the same, and set aside if not."""
    f, swapped = cables.fabric, Cables(cables.fabric)
    ports = sorted(p for p in cables.far if f.is_switch[cables.device[p]] and f.is_end[cables.device[cables.far[p]]])
    assert swapped.exchange([ports[0]], [ports[1]])
    lldp(cables, tmp_path / "lldp")
    addresses_of = written(OF_OTHER_THINGS["fdb"](swapped), tmp_path / "fdb")
    made = audited(f, ("lldp", tmp_path / "lldp"), ("fdb", addresses_of), settings=addresses(f, cables))
    assert codes(made) == [] and made.matching == f.link_count
    rows = audit_document(made)["rows"]
    assert isinstance(rows, dict) and rows["read"] == rows["used"] + rows["set_aside"]
    assert sum("says no more" in r["reason"] for r in rows["aside"]) == 2
