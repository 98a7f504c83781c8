"""``tdsl check --scenarios``: many failures, each for itself."""

from __future__ import annotations

import json

import pytest

import tdsl as package
from tests.cli.run import report, tdsl, write

POD = """
fabric pod {
  host node[8]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[4]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 8
  require throughput of leaf to spine >= 100%
  require edge_redundancy >= 8
  report bisection
}
"""
LINES = """# a comment, and an empty line

spine[0]
leaf[0], spine[1]
link leaf[2] spine[3]   # eight links
node[1..2]
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "s.txt").write_text(LINES)
    return write(tmp_path, POD), tmp_path / "s.txt"


def test_each_scenario_is_what_fail_says(files):
    design, scenarios = files
    out = tdsl("check", design, "--scenarios", scenarios, "--output-format", "json")
    told = json.loads(out.stdout)["scenarios"]
    assert [x["line"] for x in told] == [3, 4, 5, 6]
    assert [x["elements"] for x in told] == [["spine[0]"], ["leaf[0]", "spine[1]"], ["link leaf[2] spine[3]"], ["node[1..2]"]]
    for one in told:
        alone = report(design, *(x for e in one["elements"] for x in ("--fail", e)))["designs"][0]
        want = {r["requirement"]: (r["status"], r["lower"], r["upper"]) for r in alone["results"] if r["requirement"]}
        got = {r["requirement"]: (r["status"], r["lower"], r["upper"]) for r in one["results"]}
        assert got == want and one["ok"] == alone["ok"]
    assert out.exit_code == 1 and not all(x["ok"] for x in told)


def test_people_get_a_line_for_what_is_broken(files):
    design, scenarios = files
    out = tdsl("check", design, "--scenarios", scenarios)
    assert out.exit_code == 1
    assert f"{scenarios}:4: error[E0406] edge_redundancy: " in out.stdout and "without leaf[0], spine[1]" in out.stdout
    assert out.stdout.endswith("3 of 4 scenarios keep every requirement of pod\n")
    assert tdsl("check", design, "--scenarios", scenarios, "--select", "throughput").exit_code == 0


def test_an_element_that_is_not_there_is_a_wrong_call_with_its_line(files):
    design, scenarios = files
    scenarios.write_text("spine[0]\nspin[1]\n")
    out = tdsl("check", design, "--scenarios", scenarios)
    assert out.exit_code == 2 and f"{scenarios}:2: " in out.stderr and "spin" in out.stderr and not out.stdout


@pytest.mark.parametrize(
    ("text", "more"),
    [("", ()), ("spine[0]", ("--output-format", "sarif")), ("spine[0]", ("--all-params",)), ("spine[0]", ("--second-opinion",))],
)
def test_wrong_calls(files, text, more):
    design, scenarios = files
    scenarios.write_text(text)
    assert tdsl("check", design, "--scenarios", scenarios, *more).exit_code == 2


def test_scenarios_of_a_cluster_belong_to_the_fabric_that_has_them(tmp_path):
    (tmp_path / "s.txt").write_text("compute-spine0\nstorage-spine0, compute-spine1\n")
    out = tdsl("check", "superpod_cluster", "--scenarios", tmp_path / "s.txt", "--select", "reachability")
    assert out.exit_code == 0
    assert out.stdout.splitlines() == [
        "2 of 2 scenarios keep every requirement of compute",
        "1 of 1 scenarios keep every requirement of storage",
    ]


def test_from_python(files):
    design, _ = files
    fabric = package.load(design)
    rows = [fabric.without(links=[row]) for row in range(0, fabric.link_count, 16)]
    outcomes = list(package.scenarios(design, [["spine[0]"], *rows]))
    assert len(outcomes) == len(rows) + 1 and outcomes[0].ok
    assert [o.ok for o in outcomes[1:]] == [not fabric.is_end[fabric.device_a[row]] for row in range(0, fabric.link_count, 16)]
    with pytest.raises(ValueError, match="spin"):
        list(package.scenarios(design, [["spin[0]"]]))
    with pytest.raises(IndexError):
        fabric.without(links=[-1])
