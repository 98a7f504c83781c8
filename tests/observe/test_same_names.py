"""Devices that one name, no name, or an address alone tells of: kept apart, known by position, or not identified."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.observe.audit import Audit, AuditSettings
from tdsl.observe.match import Identifiers
from tests.cli.run import tdsl
from tests.fabrics import superpod
from tests.harness import fabric_of
from tests.observe.captures import audited, codes, findings, named, netlist
from tests.observe.plant import Cables, swap
from tests.observe.test_importing import imported

GUID = re.compile(r'"([\w:-]+)"(?=\t|\[)')


def with_guids(text: str) -> str:
    """A netlist whose nodes have GUIDs, as real ones have."""
    numbers: dict[str, str] = {}

    def guid(found: re.Match[str]) -> str:
        kind = "H" if ":" in found[1] else "S"
        return f'"{numbers.setdefault(found[1], f"{kind}-{len(numbers) + 4096:016x}")}"'

    return GUID.sub(guid, text)


def switches(f: Fabric) -> list[int]:
    return [d for d in range(f.device_count) if f.is_switch[d]]


def subnet(cables: Cables, names: dict[int, str], folder: Path) -> Path:
    path = folder / "x.topo"
    path.write_text(with_guids(netlist(cables, dict.fromkeys(cables.far, "4xNDR"), names)))
    return path


# ---------------------------------------------------------------- InfiniBand


def test_chips_of_one_chassis_are_devices_of_their_own(small: Fabric, tmp_path: Path) -> None:
    chips = {d: f"MF0;q3400:MQM/U{k}" for k, d in enumerate(switches(small)[:4], 1)}
    path = subnet(Cables(small), chips, tmp_path)
    assert "E0604" not in tdsl("import", path).output
    back = imported(tmp_path, path)
    assert {f"q3400/U{k}" for k in range(1, 5)} <= {back.device_name(d) for d in range(back.device_count)}
    assert codes(audited(back, ("ibnetdiscover", path))) == []


UNNAMED = "Quantum-2 Mellanox Technologies"


@pytest.mark.parametrize("seed", range(4))
def test_subnets_whose_switches_have_no_name(seed: int, small: Fabric, tmp_path: Path) -> None:
    """All switches, or all but one, are known by where they are, the spines by the leafs; and so are mistakes at them."""
    r = Random(seed)
    fabric = [small, superpod(2, 4, 4, 2, 16).build()][seed % 2]
    names = dict.fromkeys(switches(fabric)[seed // 2 :], UNNAMED)
    found = audited(fabric, ("ibnetdiscover", subnet(Cables(fabric), names, tmp_path)))
    assert codes(found) == [] and found.matching == fabric.link_count, list(findings(f.finding for f in found.faults))
    assert len(found.seen.positioned) == len(names)
    cables = Cables(fabric)
    while not swap(cables, r):
        pass
    known = audited(fabric, ("ibnetdiscover", subnet(cables, {}, tmp_path)))
    found = audited(fabric, ("ibnetdiscover", subnet(cables, names, tmp_path)))
    assert codes(found) == codes(known) and found.matching == known.matching


# ---------------------------------------------------------------- LLDP


POD = """fabric pod {
  transport roce
  nos sonic
  host node[4]: NODE
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  naming leaf[i] "leaf{i}"
  naming spine[i] "spine{i}"
  naming node[i] "gpu{i:02}"
}
model host NODE { port nic[2]: 400Gbps { type GE400; os "mlx5_{i}"; netdev "eth{i}" } }
model switch SW { port p[1..16]: 400Gbps { type GE400; sonic 8*(i - 1) lanes 8; alias "etp{i}"; name "{i}" } }
"""


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(POD, tmp_path_factory.mktemp("pod"), models=False)


def mac(device: int, port: int = 0) -> str:
    return f"02:00:00:00:{device:02x}:{port:02x}"


def neighbours(cables: Cables, folder: Path, form: str, names: dict[str, str]) -> Path:
    """What the switches hear: of hosts their names, or ("firmware") the address of the port alone; of switches their names,
    or those of ``names``, with the chassis."""
    f = cables.fabric
    for d in switches(f):
        told = []
        for p in cables.used(d):
            q = cables.far[p]
            far = cables.device[q]
            name, (_, port) = names.get(f.device_name(far), f.device_name(far)), named(cables, q)
            chassis, ident = {"id": {"type": "mac", "value": mac(far)}}, {"id": {"type": "ifname", "value": port}}
            if form == "firmware" and not f.is_switch[far]:
                at = {"id": {"type": "mac", "value": mac(far, q - int(f.port_base[far]) + 1)}}
                told.append({ethernet(f, p): {"chassis": at, "port": at}})
            else:
                ident["id"]["value"] = ethernet(f, q) if f.is_switch[far] else f"eth{q - int(f.port_base[far])}"
                told.append({ethernet(f, p): {"chassis": {name: chassis} if name else chassis, "port": ident}})
        folder.mkdir(exist_ok=True)
        (folder / f"{f.device_name(d)}.json").write_text(json.dumps({"lldp": {"interface": told}}))
    return folder


def ethernet(f: Fabric, port: int) -> str:
    c, i = f.port_class(port)
    return f"Ethernet{c.sonic[i].number}"


def assets(f: Fabric) -> Identifiers:
    return Identifiers(
        {mac(d, p + 1).replace(":", ""): (d, p) for d in range(f.device_count) if not f.is_switch[d] for p in range(2)}
    )


def heard(cables: Cables, folder: Path, form: str = "", names: dict[str, str] | None = None, **settings: object) -> Audit:
    path = neighbours(cables, folder, form, names or {})
    return audited(cables.fabric, ("lldp", path), settings=AuditSettings(**settings))  # type: ignore[arg-type]


def test_firmware_that_sends_an_address_is_not_identified(pod: Fabric, tmp_path: Path) -> None:
    """Never a cable in the wrong device: its links are not judged; those between switches are. The table of assets says
    which host it is, and then a mistake is found."""
    made = heard(Cables(pod), tmp_path / "a", "firmware")
    assert codes(made) == [] and (made.matching, int(made.judged.sum()), pod.link_count) == (8, 8, 16)
    assert [d.code for d in made.notes] == ["E0611", "E0611", "E0632"]
    whole = heard(Cables(pod), tmp_path / "b", "firmware", assets=assets(pod))
    assert codes(whole) == [] and whole.matching == 16
    swapped = Cables(pod)
    first, second = (swapped.used(0)[0], swapped.used(1)[0])
    assert swapped.exchange([first], [second])
    assert codes(heard(swapped, tmp_path / "c", "firmware")) == []
    assert codes(heard(swapped, tmp_path / "d", "firmware", assets=assets(pod))) == codes(heard(swapped, tmp_path / "e")) != []
    lost = Cables(pod)
    lost.unplug([lost.used(2)[0]])
    assert codes(heard(lost, tmp_path / "f", "firmware")) == ["E0625"], "a port at which nothing is heard is judged"


@pytest.mark.parametrize("name", ["sonic", "localhost", "", "one-for-all"])
def test_switches_of_one_system_name(name: str, pod: Fabric, tmp_path: Path) -> None:
    """Their chassis tell them apart, and where they are says which they are."""
    names = dict.fromkeys(("spine0", "spine1"), name)
    path = neighbours(Cables(pod), tmp_path / "a", "", names)
    if name != "one-for-all":  # with captures of their own, which the files name
        whole = audited(pod, ("lldp", path))
        assert codes(whole) == [] and whole.matching == 16
    for spine in ("spine0", "spine1"):
        (path / f"{spine}.json").unlink()
    made = audited(pod, ("lldp", path))
    assert made.matching == 16 and set(codes(made)) <= {"E0613"}
    assert (codes(made) == []) == (name != "one-for-all")
    back = imported(tmp_path, path, "--rate", "400Gbps")
    assert (back.link_count, back.device_count) == (16, 8)
    assert int(back.is_switch.sum()) == 4
    assert codes(audited(back, ("lldp", path))) == []


def test_a_chassis_of_each_port_is_one_device(pod: Fabric, tmp_path: Path) -> None:
    """NX-OS sends the address of the port as that of the chassis: the name is the surer sign, and a note says so."""
    path = neighbours(Cables(pod), tmp_path / "a", "", {})
    for file in path.iterdir():
        number = iter(range(1, 99))
        text = re.sub(r'"02:00:00:00:00:\w\w"', lambda m, n=number: f'"{mac(77, next(n))}"', file.read_text())  # type: ignore[misc]
        text = re.sub(r'"02:00:00:00:\w\w:00"', lambda m, n=number, f=file: f'"{mac(ord(f.stem[-1]), next(n))}"', text)  # type: ignore[misc]
        file.write_text(text)
    made = audited(pod, ("lldp", path))
    assert codes(made) == [] and made.matching == 16


def test_switches_are_no_hosts_because_of_the_names_of_their_ports(pod: Fabric, tmp_path: Path) -> None:
    for names in ({}, {"leaf0": "rack-a", "leaf1": "rack-b"}):
        back = imported(tmp_path, neighbours(Cables(pod), tmp_path / "a", "", names), "--rate", "400Gbps")
        assert int(back.is_switch.sum()) == (4 if not names else int(back.is_switch.sum()))
        assert not any(back.is_switch[d] for d in range(back.device_count) if back.device_name(d).startswith("gpu"))


def test_a_station_is_a_host(tmp_path: Path) -> None:
    """By its capabilities, whatever its name and its ports are."""
    station = [{"type": "Bridge", "enabled": False}, {"type": "Station", "enabled": True}]
    told = {"chassis": {"x1": {"id": {"type": "local", "value": "x"}, "capability": station}}, "port": {"id": {"value": "p1"}}}
    (tmp_path / "leaf0.json").write_text(json.dumps({"lldp": {"interface": [{"swp1": told}]}}))
    assert "host x1:" in tdsl("import", tmp_path / "leaf0.json", "--rate", "400Gbps").stdout


def test_a_key_that_is_there_twice(tmp_path: Path) -> None:
    (tmp_path / "leaf0.json").write_text('{"lldpNeighbors": {\n"Ethernet1": {},\n"Ethernet1": {}}}')
    done = tdsl("import", tmp_path / "leaf0.json", "--rate", "400Gbps")
    assert done.exit_code == 1 and "'Ethernet1' is there twice" in done.stderr and "leaf0.json:3" in done.stderr


@pytest.mark.parametrize("firmware_first", [True, False])
def test_an_adapter_and_its_host_at_one_port(firmware_first: bool, pod: Fabric, tmp_path: Path) -> None:
    """A port hears the firmware of an adapter and the system of its host: the one with a name is the neighbour."""
    whole = neighbours(Cables(pod), tmp_path / "a", "", {})
    firmware = neighbours(Cables(pod), tmp_path / "b", "firmware", {})
    for path in whole.iterdir():
        named_, bare = (json.loads(p.read_text())["lldp"]["interface"] for p in (path, firmware / path.name))
        bare = [e for e in bare if all("id" in facts["chassis"] for facts in e.values())]
        told = [*bare, *named_] if firmware_first else [*named_, *bare]
        path.write_text(json.dumps({"lldp": {"interface": told}}))
    made = audited(pod, ("lldp", whole))
    assert codes(made) == [] and made.matching == 16 and len(made.seen.aside) == 8
    back = imported(tmp_path, whole, "--rate", "400Gbps")
    assert (back.link_count, int(back.built.sum())) == (16, 8)


def test_a_name_with_its_domain_is_the_device_of_the_file(pod: Fabric, tmp_path: Path) -> None:
    names = {f"spine{k}": f"spine{k}.example.com" for k in range(2)}
    path = neighbours(Cables(pod), tmp_path / "a", "", names)
    done = tdsl("import", path, "--rate", "400Gbps")
    assert "left out" not in done.output and done.stdout.startswith(
        "# Made by `tdsl import` from 4 captures: 8 devices, 16 links."
    )


# ---------------------------------------------------------------- clones without an identifier


CLONES = """\
model host NODE { port nic[2]: 400Gbps { os "mlx5_{i}" } }
model switch LEAF { port p[1..8]: 400Gbps { os "swp{i}" } }
fabric pod {
  host node[5]: NODE
  switch leaf[2]: LEAF
  connect node[n].nic[r] to leaf[r]
}
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_clone_that_sends_no_identifier(seed: int, tmp_path: Path) -> None:
    """A host that was cloned sends the name of another: it is told where it is, its cables are right, and a cable that is
    elsewhere is still a fault."""
    r = Random(seed)
    one, other = r.sample(range(5), 2)
    (tmp_path / "pod.fab").write_text(CLONES)
    (tmp_path / "c").mkdir()
    for leaf in range(2):
        heard = [
            {"port": f"swp{n + 1}", "neighborDevice": f"node{one if n == other else n}", "neighborPort": f"mlx5_{leaf}"}
            for n in range(5)
        ]
        (tmp_path / "c" / f"leaf{leaf}.json").write_text(json.dumps({"lldpNeighbors": heard}))
    asked = ("audit", tmp_path / "pod.fab", "--lldp", tmp_path / "c", "--no-requirements", "--format", "json")
    (found,) = json.loads(tdsl(*asked).stdout)["fabrics"]
    told = [(d["code"], d["message"]) for d in found["findings"]]
    assert told == [("E0613", f"`node{one}` is where the design plans node{other}")]
    assert found["links_as_designed"] == found["links"] == 10
