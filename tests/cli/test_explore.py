"""``tdsl explore``: combinations, what no other beats, and the drawing."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tdsl.commands._pareto import Point, pareto_frontier, pareto_svg
from tests.cli.run import tdsl, write
from tests.tables import sections

TEXT = sections(__file__)["design"]


def test_all_combinations_and_the_best(tmp_path: Path) -> None:
    call = ("--vary", "n=8,16", "--vary", "fat=false,true", "--y", "bisection", "--format", "csv")
    done = tdsl("explore", write(tmp_path, TEXT), *call)
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(done.stdout.splitlines()))
    shown = [tuple(r[k] for k in ("n", "fat", "power_kw", "bisection", "best")) for r in rows]
    assert shown == [  # 16 hosts of 5 kW and two switches of 1 or 3 kW
        ("8", "false", "82", "100%", "yes"),
        ("8", "true", "86", "100%", ""),
        ("16", "false", "162", "50%", ""),
        ("16", "true", "166", "50%", ""),
    ]
    assert rows[0]["network_watts_per_tbps"] == "625"  # 2 kW, 8 x 400 Gb/s
    assert rows[0]["network_power_share"] == "2.439%"  # 2 of 82 kW
    assert rows[0]["cost"].startswith(">=")  # the cables have no price


def test_a_combination_with_errors_is_a_line(tmp_path: Path) -> None:
    done = tdsl("explore", write(tmp_path, TEXT), "--vary", "n=31..33", "--format", "json")
    points = json.loads(done.stdout)["points"]
    assert done.exit_code == 0 and "1 of 3 combinations are not judged" in done.stderr
    assert [p["errors"] for p in points][:2] == ["", ""] and points[2]["errors"].startswith("E0")


def test_the_drawing_has_every_point_once(tmp_path: Path) -> None:
    plot, space = tmp_path / "pareto.svg", "{http://www.w3.org/2000/svg}"
    done = tdsl("explore", write(tmp_path, TEXT), "--vary", "n=1..5", "--plot", plot)
    assert done.exit_code == 0, done.output
    root = ET.fromstring(plot.read_text())
    assert len(root.findall(f"{space}circle")) == 5
    assert {f"n={k}" for k in range(1, 6)} <= {t.text for t in root.findall(f"{space}text")}


def test_wrong_calls(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    for args in ("--vary n=1 --vary n=2", "--vary n=1..300", "--vary n=1 --x weight", "", "--vary n=1 --x cable_km --plot p.svg"):
        assert tdsl("explore", path, *args.split()).exit_code == 2, args


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_the_frontier_is_that_of_the_definition(pairs: list[tuple[int, int]], less_x: bool, less_y: bool) -> None:
    found = pareto_frontier([Point("", x, y) for x, y in pairs], less_x, less_y)
    for (x, y), good in zip(pairs, found, strict=True):
        better = [(a <= x if less_x else a >= x) and (b <= y if less_y else b >= y) and (a, b) != (x, y) for a, b in pairs]
        assert good == (not any(better))


def test_the_drawing_has_a_staircase_and_names_that_do_not_overlap() -> None:
    points = [Point("a", 1, 1), Point("b", 2, 3), Point("c", 2.01, 2.99), Point("d", 4, 5)]
    best = pareto_frontier(points, True, False)
    svg = pareto_svg(points, best, "t", "x", "y")
    path = re.search(r'<path d="M[\d.]+,[\d.]+( H[\d.]+ V[\d.]+){2}"', svg)
    assert best == [True, True, False, True] and path and "x (less is better)" in svg and "y (more is better)" in svg
    names = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="\w+" stroke', svg)
    assert len(names) == 4 == len(set(names))
