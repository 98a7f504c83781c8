"""``tdsl check --fail``: what is left of a fabric after failures, judged by the same requirements."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.cli.run import report, tdsl, write
from tests.fabrics import superpod, without
from tests.tables import sections, table

POD = "dgx_superpod_h100"
OCS, PAIR = sections(__file__)["ocs"], sections(__file__)["pair"]


def failed(*elements: str, of: str | Path = POD, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """The only design of a check after failures."""
    design: dict[str, Any] = report(of, *(x for e in elements for x in ("--fail", e)), *more)["designs"][0]
    return design


def result(design: dict[str, Any], check: str) -> dict[str, Any]:
    return next(r for r in design["results"] if r["check"] == check)


@pytest.mark.parametrize(("element", "devices", "links"), table(__file__, "elements"))
def test_elements(element: str, devices: str, links: str) -> None:
    design = failed(element, more=("--select", "port_budget"))
    assert (design["failed"], design["failed_devices"], design["failed_links"]) == ([element], int(devices), int(links))


def test_every_cable_of_the_table_can_fail(tmp_path: Path) -> None:
    one = (POD, "--set", "units=1")
    assert tdsl("build", *one, "--target", "cabling", "--out", tmp_path / "out").exit_code == 0
    rows = list(csv.DictReader((tmp_path / "out/cabling/cables.csv").open()))
    several = tmp_path / "failed.txt"
    several.write_text("# all but the first\n" + "".join(f"{r['cable_id']}  # {r['a_device']}\n" for r in rows[1:]))
    design = report(*one, "--fail-file", several, "--select", "port_budget")["designs"][0]
    assert design["failed_links"] == len(rows) - 1 and design["failed_devices"] == 0


@pytest.mark.parametrize(("element", "said"), table(__file__, "refused"))
def test_what_is_not_there_is_a_wrong_call(element: str, said: str) -> None:
    done = tdsl("check", POD, "--fail", element)
    assert (done.exit_code, done.stdout) == (2, "") and said in done.stderr, done.output


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    assert tdsl("check", POD, "--fail-file", tmp_path / "x").exit_code == 2
    assert tdsl("check", POD, "--fail", "spine[0]", "--certificates", tmp_path / "c").exit_code == 2


def test_percentages_are_of_what_is_left(tmp_path: Path) -> None:
    design = failed("su[0].leaf[0]", more=("--set", "units=2"))
    whole = result(design, "bisection")
    half = (32 * 7 + 31 * 8) / 2  # of all links of the hosts; at least those of 31 hosts with 7 of them cross every split
    assert (whole["lower_bps"], whole["value"]) == (31 * 7 * 400e9, 31 * 7 / half)
    assert design["ok"] is False  # edge_redundancy >= 8
    left = failed("leaf[1]", of=write(tmp_path, PAIR))
    assert [r["status"] for r in left["results"] if r["check"] == "bisection"] == ["proved", "refuted"]
    assert "after the failure of leaf[1]" in [n for f in left["findings"] for n in f["notes"]]


def test_text_says_what_failed_and_the_design_is_judged_as_it_stands() -> None:
    small = ("--set", "units=2")
    assert "failed: su[0].leaf[0] (1 device, 64 links)" in tdsl("check", POD, *small, "--fail", "su[0].leaf[0]").stdout
    unit, spine = failed("su[0]", more=small), failed("spine[0]", more=small)
    for check in ("port_budget", "isolated", "rail_alignment", "name_collision"):
        assert result(unit, check) == result(spine, check)
    assert "failed" not in report(POD, *small)["designs"][0]


def test_ratios_lose_the_links_that_failed() -> None:
    for element, ratio in (("spine[0]", [16, 15]), ("link su[0].leaf[0] spine[0..3]", [4, 3])):
        assert result(failed(element, more=("--select", "oversubscription")), "oversubscription")["ratio"] == ratio


def test_what_crosses_an_optical_switch_fails_with_it(tmp_path: Path) -> None:
    path = write(tmp_path, OCS)
    f = compiler.compile_without_checks(str(path)).designs[0].fabric
    assert f is not None and f.link_count == 20
    for o in range(4):
        design = failed(f"o[{o}]", of=path)
        crossing = (f.port_device[f.link_via_a] == 5 + o).sum()
        assert (design["failed_devices"], design["failed_links"]) == (1, crossing)
    asked = report(write(tmp_path, OCS.replace("  circuit", "  require survives any 4 of o\n  circuit", 1)))["designs"][0]
    assert result(asked, "survives")["status"] != "proved"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_as_if_it_had_never_been_wired(seed: int) -> None:
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


def test_elements_of_one_fabric_of_several(tmp_path: Path) -> None:
    one = "fabric a {\n  switch s[2]: QM9700\n  connect s[*] each\n}\n"
    path = write(tmp_path, one + one.replace("fabric a", "fabric b").replace("s[", "t["))
    assert ["failed" in d for d in report(path, "--fail", "t[0]")["designs"]] == [False, True]
    with pytest.raises(compiler.UsageError, match="there is no device"):
        compiler.compile_and_verify(str(path), compiler.Request(fail=("u",)))
