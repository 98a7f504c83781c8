"""All targets: one design gives the same bytes wherever it is built, and no target has a hand in another's files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.target import targets_by_name
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, merge_equal_findings
from tdsl.findings.source import SourceFile
from tdsl.system.resources import packaged_folder
from tdsl.system.workers import Workers
from tests.harness import fabric_of
from tests.output.test_write import tree
from tests.targets.build import design

ROOT = Path(__file__).parents[2]
TARGETS = sorted(p.name for p in packaged_folder("targets").iterdir() if p.is_dir())
MANAGED = "leaf[0],,,,94:6d:ae:00:00:01\n"
"""An asset of the first fabric."""


@pytest.fixture(scope="module")
def fabrics(tmp_path_factory: pytest.TempPathFactory) -> list[Fabric]:
    path = tmp_path_factory.mktemp("design") / "design.fab"
    path.write_text(design("same_bytes"))
    found = compiler.compile_without_checks(str(path))
    assert not found.findings
    return [d.fabric for d in found.designs if d.fabric is not None]


def test_the_same_bytes_wherever_it_is_built(fabrics: list[Fabric], tmp_path: Path) -> None:
    """Two processes, one after the other, with other hash seeds, zones of time, languages, folders and terminals."""
    # identifiers of the assets of all fabrics, as opensm needs them: the simulator's
    tables = [build_files(f, ["ibsim"], Diagnostics()).get("ibsim/assets.csv", b"").decode() for f in fabrics]
    lines = dict.fromkeys(line for table in tables for line in table.splitlines(True) if not line.startswith("#"))
    assets = "".join(lines).replace("port_guid", "port_guid,mac", 1) + MANAGED
    made = []
    for number, (zone, language) in enumerate((("UTC0", "C"), ("XYZ-11", "C.UTF-8"))):
        place = tmp_path / f"place {number}" / ("deeper" * number)
        for name in ("temporary", "home", "work"):
            (place / name).mkdir(parents=True)
        (place / "design.fab").write_text(design("same_bytes"))
        (place / "assets.csv").write_text(assets)
        environment = {
            **os.environ, "PYTHONHASHSEED": str(number + 1), "TZ": zone, "LC_ALL": language, "TMPDIR": str(place / "temporary"),
            "HOME": str(place / "home"), "PYTHONPATH": str(ROOT), "COLUMNS": str(60 + 40 * number),
        }  # fmt: skip
        given = [str(place / "design.fab"), "--out", str(place / "out")] if number else ["../design.fab", "--out", "../out"]
        command = [sys.executable, "-m", "tdsl", "build", *given, "--assets", "../assets.csv"]
        subprocess.run(command, cwd=place / "work", env=environment, stdout=subprocess.DEVNULL, check=True)
        made.append(tree(place / "out"))
    first, second = made
    assert list(first) == list(second)
    assert [p for p in first if first[p] != second[p]] == []
    folders = {path.split("/")[1] for path in first if "all-networks" not in path.split("/")}
    assert folders == set(TARGETS) - {"json"} | {"fabric.json", "manifest.json"}
    assert {"root-guids", "partitions.conf", "torus-2QoS.conf", "ib-node-name-map"} <= {p.rsplit("/", 1)[1] for p in first}
    machine = (str(tmp_path).encode(), os.uname().nodename.encode())
    assert not [p for p, data in first.items() if any(word in data for word in machine)]


def test_the_same_bytes_by_several_processes(tmp_path: Path) -> None:
    """More files of switches than one process makes alone, as the first tells (4 MiB), and what is found on the way."""
    fabric = fabric_of(design("many"), tmp_path, models=False)
    told = []
    for jobs in (1, 2):
        found = Diagnostics()
        files = build_files(fabric, ["frr"], found, BuildOptions(workers=Workers(jobs)))
        told.append((list(files.items()), merge_equal_findings(found)))
    assert told[0] == told[1]
    assert len(dict(told[0][0])["frr/spine0/frr.conf"]) * 64 > 4 << 20


def test_one_target_has_one_folder(fabrics: list[Fabric]) -> None:
    """What a target writes lies in a folder of its name, and is the same with the others and alone."""
    assert sorted(targets_by_name(Diagnostics())) == TARGETS
    busy: set[str] = set()
    for fabric in fabrics:
        table = SourceFile("assets.csv", f"device,port,node_guid,port_guid,mac\n{MANAGED}")
        options = BuildOptions(assets=table if fabric.name == "ethernet" else None)
        together = build_files(fabric, [], Diagnostics(), options)
        silent = [t for t in TARGETS if t != "json" and not any(path.startswith(f"{t}/") for path in together)]
        assert list(build_files(fabric, silent, Diagnostics(), options)) == ["manifest.json"]
        for target in sorted({*TARGETS} - {*silent} - busy):
            alone = build_files(fabric, [target], Diagnostics(), options)
            del alone["manifest.json"]
            assert alone
            own = {path for path in together if path.startswith(f"{target}/") or (target, path) == ("json", "fabric.json")}
            assert alone == {path: together[path] for path in own}
            busy.add(target)
    assert sorted(busy) == TARGETS, "the designs give every target something to do"
