"""``tdsl explore``: combinations, what no other beats, and the drawing."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tdsl.commands._pareto import Point, pareto_frontier, pareto_svg
from tests.cli.run import tdsl, write

TEXT = """\
model switch SW { port p[1..64]: 400Gbps; power 1kW max 1kW; price $50k }
model switch FAT { port p[1..64]: 400Gbps; power 3kW max 3kW; price $20k }
model host H { port nic: 400Gbps; power 5kW max 5kW; price $100k }
fabric f {
  param n: int = 8 where 1 <= n <= 32
  param fat: bool = false
  host node[2*n]: H
  let m: model = FAT if fat else SW
  switch leaf[2]: m
  connect node[i].nic to leaf[i//n]
  connect leaf[0] to leaf[1] x 8
}
"""


def test_all_combinations_and_the_best(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    done = tdsl("explore", path, "--vary", "n=8,16", "--vary", "fat=false,true", "--y", "bisection", "--format", "csv")
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(r["n"], r["fat"]) for r in rows] == [("8", "false"), ("8", "true"), ("16", "false"), ("16", "true")]
    assert [r["power_kw"] for r in rows] == ["82", "86", "162", "166"]  # 16 hosts of 5 kW and two switches of 1 or 3 kW
    assert [r["bisection"] for r in rows] == ["100%", "100%", "50%", "50%"]
    assert [r["best"] for r in rows] == ["yes", "", "", ""]
    assert rows[0]["network_watts_per_tbps"] == "625"  # 2 kW, 8 x 400 Gb/s
    assert rows[0]["network_power_share"] == "2.439%"  # 2 of 82 kW
    assert rows[0]["cost"].startswith(">=")  # the cables have no price


def test_a_combination_with_errors_is_a_line(tmp_path: Path) -> None:
    done = tdsl("explore", write(tmp_path, TEXT), "--vary", "n=31..33", "--format", "json")
    assert done.exit_code == 0
    points = json.loads(done.stdout)["points"]
    assert [p["errors"] for p in points][:2] == ["", ""] and points[2]["errors"].startswith("E0")
    assert "1 of 3 combinations are not judged" in done.stderr


def test_the_drawing_has_every_point_once(tmp_path: Path) -> None:
    plot = tmp_path / "pareto.svg"
    done = tdsl("explore", write(tmp_path, TEXT), "--vary", "n=1..5", "--plot", plot)
    assert done.exit_code == 0, done.output
    root = ET.fromstring(plot.read_text())
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}circle")) == 5
    assert {f"n={k}" for k in range(1, 6)} <= {t.text for t in root.findall(f"{space}text")}


def test_wrong_calls(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    for args in (("--vary", "n=1", "--vary", "n=2"), ("--vary", "n=1..300"), ("--vary", "n=1", "--x", "weight"), ()):
        assert tdsl("explore", path, *args).exit_code == 2, args
    assert tdsl("explore", path, "--vary", "n=1", "--x", "cable_km", "--plot", tmp_path / "p.svg").exit_code == 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_the_frontier_is_that_of_the_definition(pairs: list[tuple[int, int]], less_x: bool, less_y: bool) -> None:
    found = pareto_frontier([Point("", x, y) for x, y in pairs], less_x, less_y)
    for (k, (x, y)), good in zip(enumerate(pairs), found, strict=True):
        beaten = False
        for (other, (a, b)), _ in product(enumerate(pairs), "1"):
            as_good = (a <= x if less_x else a >= x) and (b <= y if less_y else b >= y)
            beaten |= other != k and as_good and (a, b) != (x, y)
        assert good == (not beaten)


def test_the_drawing_has_a_staircase_and_names_that_do_not_overlap() -> None:
    points = [Point("a", 1, 1), Point("b", 2, 3), Point("c", 2.01, 2.99), Point("d", 4, 5)]
    best = pareto_frontier(points, True, False)
    svg = pareto_svg(points, best, "t", "x", "y")
    assert best == [True, True, False, True]
    path = re.search(r'<path d="M[\d.]+,[\d.]+( H[\d.]+ V[\d.]+){2}"', svg)
    assert path and "x (less is better)" in svg and "y (more is better)" in svg
    names = [(float(x), float(y)) for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="\w+" stroke', svg)]
    assert len(names) == 4 and len(set(names)) == 4
