"""Devices of other names: known by position, by rule and by identifier; and rates that a whole class shares."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.observe.audit import Audit, AuditSettings
from tdsl.observe.match import Identifiers
from tdsl.observe.names import NameMapRule
from tests.cli.run import tdsl
from tests.harness import fabric_of, sampled
from tests.observe.captures import audited, capture, codes, netlist
from tests.observe.plant import Cables
from tests.observe.test_unwrapping import POD


def captured(fabric: Fabric, folder: Path, names: dict[str, str], speed: str = "4xNDR", **settings: object) -> tuple[Audit, str]:
    """The audit and the text of a capture in which some devices have other names; its identifiers are GUIDs, as real ones are."""
    called = {d: names[fabric.device_name(d)] for d in range(fabric.device_count) if fabric.device_name(d) in names}
    text = netlist(Cables(fabric), dict.fromkeys(range(len(fabric.port_device)), speed), called)
    numbers: dict[str, str] = {}

    def guid(found: re.Match[str]) -> str:
        kind = "H" if ":" in found[1] else "S"
        return f'"{numbers.setdefault(found[1], f"{kind}-{len(numbers) + 4096:016x}")}"'

    path = folder / "x.topo"
    path.write_text(re.sub(r'"([\w:-]+)"(?=\t|\[)', guid, text))
    return audited(fabric, ("ibnetdiscover", path), settings=AuditSettings(**settings)), path.read_text()  # type: ignore[arg-type]


def test_a_switch_of_another_name(small: Fabric, tmp_path: Path) -> None:
    names = {"su0-leaf1": "new-switch"}
    found, text = captured(small, tmp_path, names)
    assert codes(found) == ["E0613"] and found.matching == small.link_count
    assert found.faults[0].finding.message == "`new-switch` is where the design plans su0-leaf1"
    guid = re.search(r'"S-(\w{16})"\t# "new-switch"', text)
    row = next(d for d in range(small.device_count) if small.device_name(d) == "su0-leaf1")
    assert guid is not None
    for known in ({"rules": (NameMapRule.parse("new-switch=su0-leaf1"),)}, {"assets": Identifiers({guid[1]: (row, -1)})}):
        assert codes(captured(small, tmp_path, names, **known)[0]) == []
    found, _ = captured(small, tmp_path, {}, assets=Identifiers({"00000000000000ff": (row + 1, -1)}))
    assert codes(found) == ["E0613"] and "not 00000000000000ff" in found.faults[0].finding.message


def test_names_that_say_nothing(small: Fabric, tmp_path: Path) -> None:
    """Names of a factory are no fault: a note says which device is taken for which. A manager's name is in the description."""
    names = {"su0-leaf1": "Quantum Mellanox Technologies", "su0-node2": "MT4129 ConnectX7 Mellanox Technologies"}
    found, _ = captured(small, tmp_path, names | {"spine0": "MF0;spine0:MQM9700/U1"})
    assert codes(found) == [] and found.matching == small.link_count
    assert [d.code for d in found.notes] == ["E0612"] * 5  # a switch and four adapters


def renamed(path: Path, names: dict[str, str]) -> None:
    """Give devices of a capture, a file or one a device, other names."""
    words = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?![\w-])")
    for one in sorted(path.iterdir()) if path.is_dir() else [path]:
        text = words.sub(lambda m: names[m[1]], one.read_text())
        one.unlink()
        one.with_name(f"{names.get(one.stem, one.stem)}{one.suffix}").write_text(text)


@pytest.mark.parametrize("reader", ["p2p", "ibnetdiscover", "lldpd"])
@pytest.mark.parametrize("seed", sampled(range(2), 2))
def test_most_names_are_new(reader: str, seed: int, tmp_path: Path) -> None:
    """All switches, or all hosts, of a 1:1 fabric have names of their own: one finding for all of them, and a swap beside it is
    still one swap. Where hosts and switches are strange, nothing is judged by their names."""
    r = Random(seed)
    hosts, spines = 8 * r.randrange(2, 5), r.choice((2, 4))
    text = POD.replace("node[2]", f"node[{hosts}]").replace("leaf[2]", "leaf[4]").replace("to leaf[r]", "to leaf[2*(n % 2) + r]")
    text = text.replace("p[1..8]", "p[1..64]").replace(
        "connect leaf[0] to leaf[1]", f"switch spine[{spines}]: SW\n  connect leaf[*] to spine[*] spread x {hosts // 2}"
    )
    fabric = fabric_of(text, tmp_path, models=False)
    option = {"lldpd": "lldp"}.get(reader, reader)
    switches = [fabric.device_name(d) for d in range(fabric.device_count) if fabric.is_switch[d]]
    nodes = [fabric.device_name(d) for d in range(fabric.device_count) if not fabric.is_switch[d]]
    new = r.sample(range(1000), len(switches) + len(nodes))
    names = {old: f"x{n}y" for old, n in zip((*switches, *nodes), new, strict=True)}
    for number, old in enumerate((switches, nodes, [*switches, *nodes], [*switches, *nodes[1:]])):
        cables = Cables(fabric)
        if number < 2:
            spine = next(d for d in range(fabric.device_count) if fabric.device_name(d).startswith("spine"))
            assert cables.exchange(*([p] for p in r.sample(cables.used(spine), 2)))
        (tmp_path / f"{number}").mkdir()
        path = capture(reader, cables, tmp_path / f"{number}")
        renamed(path, {n: names[n] for n in old})
        made = audited(fabric, (option, path))
        faults = [f for f in made.faults if f.finding.code == "E0613"]
        if number < 2:
            assert codes(made) in (["E0613", "E0620"], ["E0613", "E0629"]), codes(made)
            assert f"renamed: {len(old)} {('switches', 'hosts')[number]}," in faults[0].finding.message
            assert {(t.device, t.found.split()[0]) for t in faults[0].tasks} == {(n, names[n]) for n in old}
            assert int(made.judged.sum()) == fabric.link_count == made.matching + 2
        else:
            assert codes(made) == ["E0694"] * (number == 3) + ["E0907"] and not made.judged.any(), codes(made)


def test_a_scan_in_files_that_overlap(small: Fabric, tmp_path: Path) -> None:
    """What two captures say is no more evidence than what one says."""
    _, text = captured(small, tmp_path, {"su0-leaf1": "new-switch"})
    (tmp_path / "y.topo").write_text(text)
    made = audited(small, ("ibnetdiscover", tmp_path / "x.topo"), ("ibnetdiscover", tmp_path / "y.topo"))
    (place,) = made.seen.positioned
    assert codes(made) == ["E0613"] and place.links == place.of == sum(
        1 for d in (small.device_a, small.device_b) for x in d if x == place.device
    )
    assert made.seen.again == small.link_count


def test_names_that_differ_in_case_alone(tmp_path: Path) -> None:
    """They are one device for an audit and for an import, and a note says so."""
    (tmp_path / "d.fab").write_text(POD)
    rows = [
        "node0,mlx5_0,leaf0,swp1",
        "NODE0,mlx5_1,leaf1,swp1",
        "node1,mlx5_0,Leaf0,swp2",
        "node1,mlx5_1,leaf1,swp2",
        "leaf0,swp3,leaf1,swp3",
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a_device,a_port,b_device,b_port", *rows, ""]))
    read = tdsl("import", tmp_path / "t.csv", "--rate", "400Gbps", "-o", tmp_path / "asbuilt.fab")
    said = "2 devices named in ways that differ in case alone, each taken for one: `node0` and `NODE0`, `leaf0` and `Leaf0`"
    assert read.exit_code == 0 and "4 devices, 5 links" in (tmp_path / "asbuilt.fab").read_text(), read.output
    for design in ("d.fab", "asbuilt.fab"):
        done = tdsl("audit", tmp_path / design, "--p2p", tmp_path / "t.csv", "--no-requirements")
        assert done.exit_code == 0 and said in re.sub(r"[|\s]+", " ", done.output), done.output
        assert "5 rows read: 5 used, 0 set aside" in done.output
    assert said in re.sub(r"[|\s]+", " ", read.stderr)


def test_all_links_of_a_class_are_slow(small: Fabric, tmp_path: Path) -> None:
    found, _ = captured(small, tmp_path, {}, "4xHDR")
    assert codes(found) == ["E0630", "E0631", "E0631"], "a class of one link is that link"
    assert all("200 Gb/s" in f.finding.message and "400 Gb/s is planned" in f.finding.message for f in found.faults)
