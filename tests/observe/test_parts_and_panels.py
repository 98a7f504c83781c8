"""Captures that were cut into several files, answers of many hosts in one file, and cables through patch panels of NetBox."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.fabrics import superpod
from tests.harness import fabric_of
from tests.observe.captures import BY_DEVICE, audited, codes, ends, named, netlist
from tests.observe.plant import Cables
from tests.observe.test_unwrapping import POD


@pytest.fixture(scope="module")
def cables(tmp_path_factory: pytest.TempPathFactory) -> Cables:
    return Cables(fabric_of(POD, tmp_path_factory.mktemp("pod"), models=False))


# ---------------------------------------------------------------- parts


def with_guids(text: str) -> str:
    """A netlist whose nodes have names as ibnetdiscover gives them."""
    names: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith(("Switch", "Ca")):
            name = line.split('"')[1]
            names[name] = f"{'S' if line.startswith('Switch') else 'H'}-{0xB8CEF60300000000 + len(names):016x}"
    out = []
    for line in text.splitlines():
        identity, _, words = line.partition("#")
        for name, guid in names.items():
            identity = identity.replace(f'"{name}"', f'"{guid}"')
        out.append(f"{identity}#{words}" if words else identity)
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("seed", range(12))
def test_a_capture_cut_into_files(seed: int, tmp_path: Path) -> None:
    """At any line, amid a block or between two; a part that is lost is told."""
    r = Random(seed)
    subnet = Cables(superpod(1, 4, 4, 2).build())
    lines = with_guids(netlist(subnet)).splitlines(keepends=True)
    cuts = sorted(r.sample(range(1, len(lines)), r.randint(1, 4)))
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(lines)], strict=True)):
        (folder / f"part{k}.topo").write_text("".join(lines[a:b]))
    (tmp_path / "whole.topo").write_text("".join(lines))
    whole = audited(subnet.fabric, ("ibnetdiscover", tmp_path / "whole.topo"))
    made = audited(subnet.fabric, ("ibnetdiscover", folder))
    assert (codes(made), made.matching) == (codes(whole), whole.matching) and made.matching > 10
    last = folder / f"part{len(cuts)}.topo"
    described = "Switch" in last.read_text() or "Ca\t" in last.read_text()  # else the other ends of its links say all of it
    last.unlink()
    assert not described or {"E0601", "E0602"} & set(codes(audited(subnet.fabric, ("ibnetdiscover", folder))))


def answers(cables: Cables, reader: str, how: str) -> str:
    """What ``ansible`` prints for the devices of a cabling."""
    out = []
    for d in range(cables.fabric.device_count):
        name = cables.fabric.device_name(d)
        heard = [(named(cables, p)[1], *named(cables, cables.far[p])) for p in cables.used(d)]
        if not heard:
            continue
        text = BY_DEVICE[reader](name, heard)
        if how == "stdout":
            answer: Any = {"changed": False, "stdout": [json.loads(text) if text.lstrip()[:1] == "{" else text]}
            out.append(f"{name} | SUCCESS => {json.dumps(answer, indent=4)}\n")
        else:
            out.append(f"{name} | CHANGED | rc=0 >>\n{text}\n")
    return "".join(out)


@pytest.mark.parametrize("how", ["stdout", "output"])
@pytest.mark.parametrize("reader", ["eos", "lldpd", "lldpd-text", "nxos", "sonic"])
def test_what_ansible_prints_for_each_host(reader: str, how: str, cables: Cables, tmp_path: Path) -> None:
    text = answers(cables, reader, how)
    (tmp_path / "all.txt").write_text(text)
    made = audited(cables.fabric, ("lldp", tmp_path / "all.txt"))
    assert (codes(made), made.matching) == ([], len(list(ends(cables))))
    (tmp_path / "all.txt").write_text(
        text + 'leaf9 | UNREACHABLE! => {\n    "unreachable": true\n}\nleaf8 | FAILED | rc=2 >>\nno\n'
    )
    made = audited(cables.fabric, ("lldp", tmp_path / "all.txt"))
    told = [f.finding for f in made.faults if f.finding.code == "E0601"]
    assert [d.message for d in told] == ["Ansible says that leaf9 is unreachable", "Ansible says that leaf8 is failed"]
    assert [d.span.text.split(" |")[0] for d in told if d.span] == ["leaf9", "leaf8"]


# ---------------------------------------------------------------- panels


def end(kind: str, device: str, port: str) -> list[dict[str, Any]]:
    return [{"object_type": f"dcim.{kind}", "object": {"device": {"name": device}, "name": port}}]


def of_panels(cables: Cables, between: int, lost: int = -1) -> list[dict[str, Any]]:
    """Every link through a panel, or through two with a cable between their rear ports; ``lost`` is a cable left out."""
    out = []
    for k, (p, q) in enumerate(ends(cables)):
        here, there = end("interface", *named(cables, p)), end("interface", *named(cables, q))
        hops = [here, end("frontport", "pp0", f"Front {k}"), end("rearport", "pp0", f"Rear {k}")]
        if between:
            hops += [end("rearport", "pp1", f"Rear {k}"), end("frontport", "pp1", f"Front {k}")]
        hops.append(there)
        out += [{"a_terminations": a, "b_terminations": b} for a, b in zip(hops[::2], hops[1::2], strict=True)]
    return [c for k, c in enumerate(out) if k != lost]


@pytest.mark.parametrize("between", [0, 1])
def test_links_through_panels_of_netbox(between: int, cables: Cables, tmp_path: Path) -> None:
    """Traced to their ends; a cable that is lost is one link less, and what is left of it is set aside."""
    path = tmp_path / "cables.json"
    whole = of_panels(cables, between)
    Random(between).shuffle(whole)
    path.write_text(json.dumps({"results": whole}))
    made = audited(cables.fabric, ("p2p", path))
    assert (codes(made), made.matching) == ([], len(list(ends(cables))))
    path.write_text(json.dumps({"results": of_panels(cables, between, lost=0)}))
    made = audited(cables.fabric, ("p2p", path))
    assert (codes(made), made.matching) == (["E0625"], len(list(ends(cables))) - 1)
    assert any("a port of a panel that leads to no other cable" in n.message for n in made.notes)


@pytest.mark.parametrize("form", ["rear_port", "rear_ports"])
def test_front_ports_that_lead_to_other_numbers(form: str, cables: Cables, tmp_path: Path) -> None:
    """By the list of front ports, as NetBox writes it before and from 4.5 on: several positions of one rear port."""
    count = len(list(ends(cables)))
    order = list(range(count))
    Random(form).shuffle(order)
    rows, ports = [{"a_terminations": end("rearport", "pp0", "trunk"), "b_terminations": end("rearport", "pp1", "trunk")}], []
    for k, (p, q) in enumerate(ends(cables)):
        for panel, port, position in (("pp0", p, k), ("pp1", q, k)):
            front = f"F{order[k] if panel == 'pp0' else k}"
            there = end("frontport", panel, front)
            rows.append({"a_terminations": end("interface", *named(cables, port)), "b_terminations": there})
            place = {"rear_port": {"name": "trunk"}, "rear_port_position": position + 1}
            ports.append({"device": {"name": panel}, "name": front, **({form: [place]} if form == "rear_ports" else place)})
    (tmp_path / "1-cables.json").write_text(json.dumps({"results": rows}))
    (tmp_path / "2-front-ports.json").write_text(json.dumps({"results": ports}))
    made = audited(cables.fabric, ("p2p", tmp_path))
    assert made.matching == count and codes(made) == []
