"""``tdsl check --scenarios``: many failures, each for itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tdsl as package
from tests.cli.run import report, tdsl, write
from tests.tables import sections

POD, LINES = sections(__file__)["pod"], sections(__file__)["scenarios"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path, POD), write(tmp_path, LINES, "s.txt")


def test_each_scenario_is_what_fail_says(files: tuple[Path, Path]) -> None:
    out = tdsl("check", files[0], "--scenarios", files[1], "--output-format", "json")
    told = json.loads(out.stdout)["scenarios"]
    assert [x["line"] for x in told] == [3, 4, 5, 6]
    assert [x["elements"] for x in told] == [["spine[0]"], ["leaf[0]", "spine[1]"], ["link leaf[2] spine[3]"], ["node[1..2]"]]
    for one in told:
        alone = report(files[0], *(x for e in one["elements"] for x in ("--fail", e)))["designs"][0]
        want, got = (
            {r["requirement"]: (r["status"], r["lower"], r["upper"]) for r in x["results"] if r["requirement"]}
            for x in (alone, one)
        )
        assert got == want and one["ok"] == alone["ok"]
    assert out.exit_code == 1 and not all(x["ok"] for x in told)


def test_people_get_a_line_for_what_is_broken(files: tuple[Path, Path]) -> None:
    design, scenarios = files
    out = tdsl("check", design, "--scenarios", scenarios)
    assert out.exit_code == 1
    assert f"{scenarios}:4: error[E0406] edge_redundancy: " in out.stdout and "without leaf[0], spine[1]" in out.stdout
    assert out.stdout.endswith("3 of 4 scenarios keep every requirement of pod\n")
    assert tdsl("check", design, "--scenarios", scenarios, "--select", "throughput").exit_code == 0


def test_wrong_calls(files: tuple[Path, Path]) -> None:
    """An element that is not there is named with its line."""
    design, scenarios = files
    scenarios.write_text("spine[0]\nspin[1]\n")
    out = tdsl("check", design, "--scenarios", scenarios)
    assert out.exit_code == 2 and f"{scenarios}:2: " in out.stderr and "spin" in out.stderr and not out.stdout
    for text, more in (
        ("", ""),
        ("spine[0]", "--output-format sarif"),
        ("spine[0]", "--all-params"),
        ("spine[0]", "--second-opinion"),
    ):
        scenarios.write_text(text)
        assert tdsl("check", design, "--scenarios", scenarios, *more.split()).exit_code == 2, more


def test_scenarios_of_a_cluster_belong_to_the_fabric_that_has_them(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("compute-spine0\nstorage-spine0, compute-spine1\n")
    out = tdsl("check", "superpod_cluster", "--scenarios", tmp_path / "s.txt", "--select", "reachability")
    said = [f"{n} of {n} scenarios keep every requirement of {name}" for n, name in ((2, "compute"), (1, "storage"))]
    assert out.exit_code == 0 and out.stdout.splitlines() == said


def test_from_python(files: tuple[Path, Path]) -> None:
    design, _ = files
    fabric = package.load(design)
    numbers = range(0, fabric.link_count, 16)
    outcomes = list(package.scenarios(design, [["spine[0]"], *(fabric.without(links=[row]) for row in numbers)]))
    assert [o.ok for o in outcomes] == [True, *(not fabric.is_end[fabric.device_a[row]] for row in numbers)]
    with pytest.raises(ValueError, match="spin"):
        list(package.scenarios(design, [["spin[0]"]]))
    with pytest.raises(IndexError):
        fabric.without(links=[-1])
