"""Point-to-point files before their judges: ibdmchk reads the plan, Graphviz the links."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tests.conftest import need_program
from tests.harness import compile_text
from tests.tables import sections
from tests.targets.build import files_of, pod, rows, two_planes

EDGE = re.compile(r'^  "([^"]+)"(?::"([^"]+)")? -- "([^"]+)"(?::"([^"]+)")?;$', re.M)


def ibdmchk(files: dict[str, bytes], scratch: Path) -> str:
    """What ibutils says of the plan."""
    for path, content in files.items():
        (scratch / path).parent.mkdir(parents=True, exist_ok=True)
        (scratch / path).write_bytes(content)
    command = [
        need_program("ibdmchk", "ibutils"),
        "-t",
        "fabric.topo",
        "-n",
        f"{rows(files, 'devices')[0]['name']}/U1",
        "-p",
        "1",
    ]
    how = {"cwd": scratch / "p2p", "env": {"IBDM_IBNL_PATH": "ibnl"}, "timeout": 120}
    return subprocess.run(command, capture_output=True, text=True, **how).stdout  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("fabric", [pod, two_planes, lambda: pod(types=("GE",))])
def test_every_system_and_link_is_read(fabric: Callable[[], Fabric], tmp_path: Path) -> None:
    files, found = files_of(fabric(), "p2p")
    links = rows(files, "links")
    assert not found
    if "p2p/fabric.topo" in files:
        told = ibdmchk(files, tmp_path)
        cabled = {x[end] for x in links for end in ("a_device", "b_device")}
        assert f"Defined {len(cabled)}/" in told and "-E-" not in told, told[:2000]
    text = files["p2p/topology.dot"].decode()
    edges = [tuple(e) for e in EDGE.findall(text)]
    assert [(a, b) for a, _, b, _ in edges] == [(x["a_device"], x["b_device"]) for x in links]
    ends = [end for a, p, b, q in edges for end in ((a, p), (b, q)) if end[1]]
    assert {a for a, p, b, q in edges if not p} <= {"ufm"} or "p2p/fabric.topo" not in files, "its model names no port"
    assert len(set(ends)) == len(ends)
    dot = need_program("dot", "graphviz")
    drawn = subprocess.run([dot, "-Tplain"], input=text, capture_output=True, text=True, timeout=120)
    strange = [x for x in drawn.stderr.splitlines() if not re.fullmatch(r"Warning: node .*, port .* unrecognized", x)]
    assert drawn.returncode == 0 and not strange  # ports of plain nodes mean nothing to dot, and all to ptmd
    assert len(re.findall(r"^edge ", drawn.stdout, re.M)) == len(edges)


def test_a_port_written_twice_is_seen(tmp_path: Path) -> None:
    files, _ = files_of(pod(), "p2p")
    wrong = re.sub(rb"(?m)^   P1 -> (.*\n)", rb"   P1 -> \1   P2 -> \1", files["p2p/fabric.topo"], count=1)
    assert "-E-" in ibdmchk({**files, "p2p/fabric.topo": wrong}, tmp_path)


PARTLY_SPLIT = sections(__file__)["partly split"]


def test_a_switch_of_which_a_port_is_split_has_a_name_that_ibutils_reads(tmp_path: Path) -> None:
    """Its name has no brackets, and its node the InfiniBand ports alone, without the one for management."""
    fabric = compile_text(PARTLY_SPLIT, tmp_path, models=False).designs[0].fabric
    assert fabric is not None
    files, found = files_of(fabric, "p2p")
    assert not found
    told = ibdmchk(files, tmp_path)
    assert "Defined 6/" in told and "-E-" not in told, told[:2000]
    models = sorted(b.decode().splitlines()[2] for p, b in files.items() if "QM9700" in p)
    assert models == ["NODE SW 64 QM9700 U1", "NODE SW 65 QM9700-p64-64x2 U1"]
