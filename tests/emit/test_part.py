"""`build --only`: what a part has is what the whole has of it, in the order of the whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.fabric.select import select_devices
from tdsl.findings.diagnostic import Diagnostics
from tests.cli.run import tdsl
from tests.harness import fabric_of
from tests.targets.build import csv_rows, design

DESIGN = design("part")
BREAK_OUT = """\
model host CLIENT { port nic: 400Gbps { type GE400 } }
fabric split "Break-outs" {
  switch top[2]: SN5600 { split p 2 }
  host client[16]: CLIENT
  connect client[n].nic to top[n // 8]
}
"""


@pytest.mark.parametrize(
    ("text", "patterns"),
    [(DESIGN, ["su[1].*"]), (DESIGN, ["su[0..1].leaf[1]", "store0"]), (BREAK_OUT, ["client[3]"]), (BREAK_OUT, ["top[1]"])],
)
def test_a_part_of_the_whole(text: str, patterns: list[str], tmp_path: Path) -> None:
    made = fabric_of(text, tmp_path, models=False)
    whole, part = (build_files(made, [], Diagnostics(), BuildOptions(only=only)) for only in ((), tuple(patterns)))
    names = {made.device_name(d) for d in select_devices(made, patterns).nonzero()[0].tolist()}
    assert 0 < len(names) < made.device_count

    def both(table: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
        return csv_rows(part, f"cabling/{table}.csv"), csv_rows(whole, f"cabling/{table}.csv")

    cables, all_cables = both("cables")
    near = {c["cable_id"] for c in all_cables if {c["a_device"], c["b_device"]} & names}
    assert 0 < len(near) < len({c["cable_id"] for c in all_cables})
    assert cables == [c for c in all_cables if c["cable_id"] in near]
    labels, all_labels = both("labels")
    assert labels == [x for x in all_labels if x["cable_id"] in near]
    links, all_links = both("links")
    assert links == [x for x in all_links if {x["a_device"], x["b_device"]} & names]

    manifests = [json.loads(files["manifest.json"]) for files in (whole, part)]
    assert manifests[1]["only"] == patterns and "only" not in manifests[0]
    assert manifests[0]["design"] == manifests[1]["design"]
    own = {p for p in whole if p.startswith("frr/") and p.split("/")[1] in names}
    assert {p for p in part if p.startswith("frr/")} == own and all(part[p] == whole[p] for p in own)
    assert not set(part) & {"fabric.json", "diagram/fabric.svg", "slurm/topology.yaml", "infragraph/fabric.yaml"}


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
