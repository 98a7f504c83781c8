"""Point-to-point files before their judges: ibdmchk reads the plan, Graphviz the links."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tests.targets.build import pod, two_planes

EDGE = re.compile(r'^  "([^"]+)"(?::"([^"]+)")? -- "([^"]+)"(?::"([^"]+)")?;$', re.M)


def made(fabric: Fabric) -> dict[str, bytes]:
    found = Diagnostics()
    files = build_files(fabric, ["p2p", "json"], found)
    assert not found.items
    return files


def program(name: str) -> str:
    """Skip where it is not installed; fail where it must be."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        why = f"{name} is not installed: apt-get install ibutils graphviz"
        if os.environ.get("CI") == "true" and os.geteuid() == 0:
            pytest.fail(why)
        pytest.skip(why)
    return path


def ibdmchk(files: dict[str, bytes], scratch: Path, node: str) -> str:
    """What ibutils says of the plan."""
    for path, content in files.items():
        place = scratch / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    command = [program("ibdmchk"), "-t", "fabric.topo", "-n", node, "-p", "1"]
    told = subprocess.run(
        command,
        cwd=scratch / "p2p",
        env={"IBDM_IBNL_PATH": "ibnl"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return told.stdout


def rows(files: dict[str, bytes], table: str) -> list[dict[str, object]]:
    t = json.loads(files["fabric.json"])[table]
    return [dict(zip(t["columns"], r, strict=True)) for r in t["rows"]]


@pytest.mark.parametrize("fabric", [pod, two_planes])
def test_ibutils_finds_every_system(fabric, tmp_path):
    files = made(fabric())
    told = ibdmchk(files, tmp_path, f"{rows(files, 'devices')[0]['name']}/U1")
    cabled = {x[end] for x in rows(files, "links") for end in ("a_device", "b_device")}
    assert f"Defined {len(cabled)}/" in told and "-E-" not in told, told[:2000]


def test_a_port_written_twice_is_seen(tmp_path):
    files = made(pod())
    text = files["p2p/fabric.topo"].decode()
    line = re.search(r"^   P1 -> .*\n", text, re.M)
    assert line is not None
    files["p2p/fabric.topo"] = text.replace(line[0], line[0] + line[0].replace("P1 ->", "P2 ->", 1), 1).encode()
    assert "-E-" in ibdmchk(files, tmp_path, f"{rows(files, 'devices')[0]['name']}/U1")


@pytest.mark.parametrize("fabric", [pod, two_planes, lambda: pod(types=("GE",))])
def test_links_of_the_dot_file_are_those_of_the_fabric(fabric, tmp_path):
    files = made(fabric())
    text = files["p2p/topology.dot"].decode()
    found = [tuple(e) for e in EDGE.findall(text)]
    assert len(found) == len(rows(files, "links"))
    assert [(a, b) for a, _, b, _ in found] == [(x["a_device"], x["b_device"]) for x in rows(files, "links")]
    ends = [end for a, p, b, q in found for end in ((a, p), (b, q)) if end[1]]
    assert {a for a, p, b, q in found if not p} <= {"ufm"} or "p2p/fabric.topo" not in files, "its model names no port"
    assert len(set(ends)) == len(ends)
    told = subprocess.run([program("dot"), "-Tplain"], input=text, capture_output=True, text=True, timeout=120)
    strange = [x for x in told.stderr.splitlines() if not re.fullmatch(r"Warning: node .*, port .* unrecognized", x)]
    assert told.returncode == 0 and not strange  # ports of plain nodes mean nothing to dot, and all to ptmd
    assert len(re.findall(r"^edge ", told.stdout, re.M)) == len(found)
