"""`build --only`: what a part has is what the whole has of it, in the order of the whole."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.fabric.graph import Fabric
from tdsl.fabric.select import select_devices
from tdsl.findings.diagnostic import Diagnostics
from tests.cli.run import tdsl

DESIGN = """\
model switch LEAF { port p[1..64]: 400Gbps { type GE400; cage 1 OSFP; os "swp{i}" } }
model host H { port nic[1..2]: 400Gbps { type GE400; os "mlx5_{i}"; netdev "eth{i}" } }
fabric pods "Pods" {
  nos frr
  group su[3] {
    host node[4]: H
    switch leaf[2]: LEAF
    connect node[n].nic[r] to leaf[r - 1]
  }
  switch spine[2]: LEAF
  host store[2]: H
  connect su[*].leaf[*] to spine[*] each x 2
  connect store[n].nic[r] to spine[r - 1]
  address su[*].leaf, spine loopback from 10.0.0.0/24
  address su[*].leaf management from 192.168.0.0/24
  routing bgp { mtu 9214 }
}
"""
BREAK_OUT = """\
model host CLIENT { port nic: 400Gbps { type GE400 } }
fabric split "Break-outs" {
  switch top[2]: SN5600 { split p 2 }
  host client[16]: CLIENT
  connect client[n].nic to top[n // 8]
}
"""


def fabric(text: str, folder: Path) -> Fabric:
    path = folder / "design.fab"
    path.write_text(text)
    made = compiler.compile_without_checks(str(path))
    assert not [d for d in made.findings if d.severity.word == "error"], made.findings
    (design,) = made.designs
    assert design.fabric is not None
    return design.fabric


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        (DESIGN, ["su[1].*"]),
        (DESIGN, ["su[0..1].leaf[1]", "store0"]),
        (BREAK_OUT, ["client[3]"]),
        (BREAK_OUT, ["top[1]"]),
    ],
)
def test_a_part_of_the_whole(text: str, patterns: list[str], tmp_path: Path) -> None:
    made = fabric(text, tmp_path)
    whole, part = (build_files(made, [], Diagnostics(), BuildOptions(only=only)) for only in ((), tuple(patterns)))
    names = {made.device_name(d) for d in select_devices(made, patterns).nonzero()[0].tolist()}
    assert 0 < len(names) < made.device_count

    cables = rows(whole["cabling/cables.csv"])
    near = {c["cable_id"] for c in cables if {c["a_device"], c["b_device"]} & names}
    assert 0 < len(near) < len({c["cable_id"] for c in cables})
    assert rows(part["cabling/cables.csv"]) == [c for c in cables if c["cable_id"] in near]
    assert rows(part["cabling/labels.csv"]) == [x for x in rows(whole["cabling/labels.csv"]) if x["cable_id"] in near]
    links = rows(whole["cabling/links.csv"])
    assert rows(part["cabling/links.csv"]) == [x for x in links if {x["a_device"], x["b_device"]} & names]

    manifests = [json.loads(files["manifest.json"]) for files in (whole, part)]
    assert manifests[1]["only"] == patterns and "only" not in manifests[0]
    assert manifests[0]["design"] == manifests[1]["design"]
    own = {p for p in whole if p.startswith("frr/")}
    assert {p for p in part if p.startswith("frr/")} == {p for p in own if p.split("/")[1] in names}
    assert all(part[p] == whole[p] for p in part if p.startswith("frr/"))
    assert not set(part) & {
        "fabric.json",
        "diagram/fabric.svg",
        "slurm/topology.yaml",
        "infragraph/fabric.yaml",
    }


def test_a_part_takes_no_other_build_away(tmp_path: Path) -> None:
    design, out = tmp_path / "design.fab", tmp_path / "out"
    design.write_text(DESIGN)

    def built(*only: str) -> tuple[int, str]:
        options = [word for pattern in only for word in ("--only", pattern)]
        done = tdsl("build", design, "--target", "cabling", "--out", out, *options)
        return done.exit_code, " ".join(done.stderr.split())

    assert built("su[1].*")[0] == 0
    assert built("su[1].*")[0] == 0, "the same part again"
    assert "part `su[1].*`" in tdsl("verify", out).stdout
    status, said = built("su[2].*")
    assert status == 1 and "is a build of the part `su[1].*`" in said
    assert built()[0] == 0, "the whole has all that the part has"
    before = (out / "cabling/cables.csv").read_bytes()
    status, said = built("su[1].*")
    assert status == 1 and "is a build of the whole fabric" in said and "--out" in said
    assert (out / "cabling/cables.csv").read_bytes() == before
    assert "means no device" in tdsl("build", design, "--out", out, "--only", "su[9].*").stderr


def test_parts_of_several_fabrics(tmp_path: Path) -> None:
    """A fabric without a device of the part is not built."""
    design = tmp_path / "design.fab"
    design.write_text(DESIGN + 'fabric other "Other" { host h[2]: H; switch s: LEAF; connect h[n].nic[r] to s }')
    done = tdsl("build", design, "--target", "cabling", "--out", tmp_path / "out", "--only", "su[1].*")
    assert done.exit_code == 0, done.output
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["pods"]
