"""``tdsl check --fail``: what is left of a fabric after failures, judged by the same requirements."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.cli.run import report, tdsl, write
from tests.fabrics import superpod, without

POD = "dgx_superpod_h100"
OCS = """
model switch BLOCK { port p[1..16]: 100Gbps }
model ocs OPTIC { port o[1..64]: any }
fabric f {
  switch block[5]: BLOCK
  ocs o[4]: OPTIC
  connect block[b].p[i] to o[(i - 1) % 4] where i <= 8
  circuit block[*] spread
}
"""


def failed(*elements: str, of: str = POD) -> dict[str, object]:
    design: dict[str, object] = report(of, *(x for e in elements for x in ("--fail", e)))["designs"][0]
    return design


def result(design, check):
    return next(r for r in design["results"] if r["check"] == check)


def lost(*elements: str) -> tuple[int, int]:
    design = failed(*elements)
    return design["failed_devices"], design["failed_links"]


@pytest.mark.parametrize(
    ("element", "devices", "links"),
    [
        ("spine[3]", 1, 64),
        ("spine3", 1, 64),
        ("spine[0..3]", 4, 256),
        ("spine[n]", 16, 1024),
        ("spine", 16, 1024),
        ("su[0]", 40, 512),
        ("su[0].leaf[2]", 1, 64),
        ("su0-leaf2", 1, 64),
        ("leaf", 32, 2044),
        ("su[0].leaf[2].p[33]", 0, 1),
        ("su[0].leaf[2].p[33..40]", 0, 8),
        ("su[*].leaf[2].p[33]", 0, 4),
        ("su[0].node[1].nic", 0, 8),
        ("link su[0].leaf[0] spine[1]", 0, 2),
        ("link spine1 to su0-leaf0", 0, 2),
        ("link su[0].leaf[0] spine", 0, 32),
        ("su0-node0:nic7", 0, 1),
    ],
)
def test_elements(element, devices, links):
    assert lost(element) == (devices, links)
    assert failed(element)["failed"] == [element]


def test_every_cable_of_the_table_can_fail(tmp_path):
    assert tdsl("build", POD, "--set", "units=1", "--target", "cabling", "--out", tmp_path / "out").exit_code == 0
    rows = list(csv.DictReader((tmp_path / "out/cabling/cables.csv").open()))
    several = tmp_path / "failed.txt"
    several.write_text("# all but the first\n" + "".join(f"{r['cable_id']}  # {r['a_device']}\n" for r in rows[1:]))
    design = report(POD, "--set", "units=1", "--fail-file", several)["designs"][0]
    assert design["failed_links"] == len(rows) - 1 and design["failed_devices"] == 0


@pytest.mark.parametrize(
    ("element", "said"),
    [
        ("spime[3]", "did you mean `spine`?"),
        ("spine[16]", "`spine` has indices 0..15"),
        ("su0-leef2", "did you mean `su0-leaf2`?"),
        ("link spine[0] spine[1]", "no link between"),
        ("link spine[0]", "`link DEVICE DEVICE`"),
        ("su0-node0:nic9", "did you mean `su0-node0:nic"),
        ("su[3].node[31]", "planned only"),
        ("su[3].leaf[0].q[1]", "q"),
        ("3 +", "names no device"),
    ],
)
def test_what_is_not_there_is_a_wrong_call(element, said):
    done = tdsl("check", POD, "--fail", element)
    assert done.exit_code == 2 and said in done.stderr, done.output
    assert done.stdout == ""


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    assert tdsl("check", POD, "--fail-file", tmp_path / "x").exit_code == 2
    assert tdsl("check", POD, "--fail", "spine[0]", "--certificates", tmp_path / "c").exit_code == 2


def test_percentages_are_of_what_is_left(tmp_path):
    text = "  require bisection >= 100%"
    design = failed("su[0].leaf[0]")
    whole = result(design, "bisection")
    assert (whole["lower_bps"], whole["value"]) == (63 * 8 * 400e9 - 32 * 400e9, 1.0)  # 63 hosts, half of them with 7 ports
    assert design["ok"] is False  # edge_redundancy >= 8
    (tmp_path / "d.fab").write_text(
        "model host N { port nic[2]: 100Gbps; chip gpu[2]: G }\nmodel chip G { port l: 100Gbps }\n"
        "model switch S { port p[16]: 100Gbps }\n"
        "fabric f {\n  host node[8]: N\n  switch leaf[2]: S\n  switch spine[2]: S\n  connect node[n].nic[r] to leaf[r]\n"
        f"  connect leaf[*] to spine[*] spread x 4\n{text}\n  require bisection >= 100% of intact\n}}\n"
    )
    left = report(tmp_path / "d.fab", "--fail", "leaf[1]")["designs"][0]
    assert [r["status"] for r in left["results"] if r["check"] == "bisection"] == ["proved", "refuted"]
    notes = [n for f in left["findings"] for n in f["notes"]]
    assert "after the failure of leaf[1]" in notes


def test_text_says_what_failed_and_the_design_is_judged_as_it_stands():
    done = tdsl("check", POD, "--fail", "su[0].leaf[0]")
    assert "failed: su[0].leaf[0] (1 device, 64 links)" in done.stdout
    design = failed("su[0]")
    for check in ("port_budget", "isolated", "rail_alignment", "name_collision"):
        assert result(design, check) == result(failed("spine[0]"), check)
    assert "failed" not in report(POD)["designs"][0]


def test_ratios_lose_the_links_that_failed():
    assert result(failed("spine[0]"), "oversubscription")["ratio"] == [16, 15]
    assert result(failed("link su[0].leaf[0] spine[0..3]"), "oversubscription")["ratio"] == [4, 3]


def test_what_crosses_an_optical_switch_fails_with_it(tmp_path):
    path = write(tmp_path, OCS, "ocs.fab")
    f = compiler.compile_without_checks(str(path)).designs[0].fabric
    assert f.link_count == 20
    for o in range(4):
        crossing = (f.port_device[f.link_via_a] == 5 + o).sum()
        design = failed(f"o[{o}]", of=str(path))
        assert (design["failed_devices"], design["failed_links"]) == (1, crossing)
    asked = OCS.replace("  circuit", "  require survives any 4 of o\n  circuit", 1)
    answer = report(write(tmp_path, asked, "s.fab"))["designs"][0]["results"]
    assert next(r for r in answer if r["check"] == "survives")["status"] != "proved"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_as_if_it_had_never_been_wired(seed):
    """Lost links give what the fabric without them gives."""
    rng = np.random.default_rng(seed)
    f = superpod(2, 3, 2, 2, omit_last=False, manager=False).build()
    gone = np.zeros(f.link_count, dtype=np.bool_)
    gone[rng.integers(f.link_count, size=int(rng.integers(1, 6)))] = True
    left = View.whole(f).without(np.zeros(f.device_count, dtype=np.bool_), gone)
    fresh = View.whole(without(f, np.flatnonzero(gone)))
    if (fresh.degree[fresh.units] == 0).any():
        return
    for name in ("reachability", "bisection", "edge_redundancy", "diameter"):
        a, b = (checks_by_name()[name].judge(v, None) for v in (left, fresh))
        assert (a.status, a.lower, a.upper) == (b.status, b.lower, b.upper)


def test_elements_of_one_fabric_of_several(tmp_path):
    two = "fabric a {\n  switch s[2]: QM9700\n  connect s[*] each\n}\nfabric b {\n  switch t[2]: QM9700\n  connect t[*] each\n}\n"
    path = write(tmp_path, two, "two.fab")
    designs = report(path, "--fail", "t[0]")["designs"]
    assert ["failed" in d for d in designs] == [False, True]
    with pytest.raises(compiler.UsageError, match="there is no device"):
        compiler.compile_and_verify(str(path), compiler.Options(fail=("u",)))
    assert Path(path).is_file()
