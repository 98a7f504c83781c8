"""``tdsl explore --topology``: networks sized for a job and a budget are designs, and their figures those of the designs."""

from __future__ import annotations

import json
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.commands._sized_topologies import dragonfly_size, hyperx_size, torus_shapes
from tests.cli.run import tdsl, write
from tests.tables import sections

PARTS = sections(__file__)
MANY = ("--topology", "clos,rail_only,dragonfly,hyperx,torus", "--oversubscription", "1:1,4:1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PARTS["shelf"], "shelf.fab")
    return tmp_path


def explored(*more: str) -> dict[str, Any]:
    done = tdsl("explore", "shelf.fab", "--job", "small", "--format", "json", "--jobs", "1", *more)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_candidates_are_designs_and_the_best_of_them_is_named(here: Path) -> None:
    found = explored(*MANY, "--budget", "60k", "--write", "out", "--picture", "p.svg")
    rows = {p["candidate"]: p for p in found["points"]}
    assert rows["rail_only"]["errors"] == "E0487" and "16 hosts, and a switch has 12 ports" in rows["rail_only"]["why"]
    for name, row in rows.items():
        if row["errors"] != "E0487":
            cost = 3000 * int(row["switches"]) + 100 * int(row["cables"])
            assert float(row["network_cost"]) == cost and (row["errors"] == "E0486") == (cost > 60_000), name
            assert (here / "out" / f"{name}.fab").exists() == (not row["errors"])
    good = {n: r for n, r in rows.items() if not r["errors"]}
    assert {n.partition("_")[0] for n in good} >= {"clos", "hyperx", "torus"} and any(
        r["errors"] == "E0486" for r in rows.values()
    )
    for name, row in good.items():  # no other is at least as good in both figures and better in one
        x, y = float(row["network_cost"]), float(row["step_s"])
        others = [(float(r["network_cost"]), float(r["step_s"])) for n, r in good.items() if n != name]
        assert (row["best"] == "yes") == (not any(a <= x and b <= y and (a, b) != (x, y) for a, b in others))
    fastest = min(good.values(), key=lambda r: (float(r["step_s"]), float(r["network_cost"])))
    assert f"the shortest step within: {fastest['candidate']}, " in found["verdict"]
    assert "budget" in (here / "p.svg").read_text() and "clos_4to1" in (here / "p.svg").read_text()
    said = {(f["origin"], f["figure"]) for f in found["rests_on"]}
    assert {("the design", "host QUAD, switch SW, cable LINK"), ("stated in the design", "efficiency 50%")} <= said
    assert any(origin == "assumed" and "pass on what others send" in what and "torus" in what for origin, what in said)
    for name in ("clos_by_rail_4to1", "torus_4x4"):  # what is written is what was measured
        done = tdsl("check", f"out/{name}.fab", "--output-format", "json")
        assert done.exit_code == 0, done.output
        (job,) = json.loads(tdsl("show", f"out/{name}.fab", "job", "--format", "json").stdout)["jobs"]
        assert f"{job['step_s'][1]:.6g}" == rows[name]["step_s"]
        assert tdsl("fmt", "--check", f"out/{name}.fab").exit_code == 0


def test_an_efficiency_that_was_measured_is_that_of_a_clos(here: Path) -> None:
    """Whatever is asked for, in whatever order; and the figure says so."""
    first, second = (explored("--topology", t, "--job", "measured", "--oversubscription", "4:1") for t in ("torus,clos", "clos"))
    of_clos = [p for f in (first, second) for p in f["points"] if p["candidate"] == "clos_4to1"]
    assert len({(p["efficiency"], p["step_s"]) for p in of_clos}) == 1
    (said,) = [f for f in first["rests_on"] if f["figure"].startswith("efficiency")]
    assert said["origin"] == "from what was measured" and "clos_1to1 as the network" in said["figure"]
    asked = explored("--topology", "clos", "--job", "measured", "--oversubscription", "4:1", "--efficiency", "25%")
    assert asked["points"][0]["efficiency"] == "25%" and {"origin": "the call", "figure": "efficiency 25%"} in asked["rests_on"]


def test_the_accelerators_of_a_fabric_are_taken(here: Path) -> None:
    write(here, PARTS["shelf"] + "fabric f { host node[8]: QUAD; switch s: SW; connect node[n].nic[0] to s }\n", "own.fab")
    done = tdsl("explore", "own.fab", "--topology", "rail_only", "--format", "json", "--x", "cables")
    (row,) = json.loads(done.stdout)["points"]
    assert (row["hosts"], row["switches"], row["cables"], row.get("why")) == (8, 4, 32, None)
    done = tdsl("explore", "--topology", "torus", "--host", "TPU_V4", "--gpus", "64", "--write", "chips", "--format", "json")
    (row,) = json.loads(done.stdout)["points"]  # without a file, and of chips: no switch is needed
    assert (row["candidate"], row["cables"], row["diameter"]) == ("torus_4x4x4", 3 * 64, "6")
    assert "chips 64 x TPU_V4" in (here / "chips" / "torus_4x4x4.fab").read_text()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("--topology clos,dragonfli", "did you mean `dragonfly`?"),
        ("--topology bcube --gpus 64", "sizes are found of clos, rail_only, dragonfly"),
        ("--topology clos", "how many accelerators? Write --gpus N"),
        ("--topology clos --vary n=1", "give one of them"),
        ("--vary n=1 --budget 3M", "--budget goes with --topology"),
        ("--topology clos --job llama3", "the library has llama3_405b_8k_gpus, llama3_405b_16k_gpus"),
        ("--topology clos --job smal", "did you mean `small`?"),
        ("--topology clos --job plain", "write --efficiency 50%"),
        ("--topology clos --job small --gpus 32", "the job has 64 ranks, and there are 32 accelerators"),
        ("--topology clos --gpus 66", "no whole number of hosts with 4 each"),
        ("--topology clos --job small --switch FAST", "neither run at nor split into the 100 Gb/s"),
        ("--topology clos --job small --switch QUAD", "it is a host, and a switch is meant"),
        ("--topology clos --job small --budget much", "is not an amount such as 40M"),
        ("--topology clos --job small --oversubscription 1:2", "is not a ratio such as 2:1"),
        ("--topology torus --gpus 64 --cable FREE --budget 1M", "--budget needs prices"),
    ],
)
def test_wrong_calls(here: Path, call: str, said: str) -> None:
    done = tdsl("explore", "shelf.fab", *call.split())
    assert done.exit_code == 2 and said in " ".join(done.stderr.split()), done.stderr


@settings(max_examples=25)
@given(st.integers(2, 800), st.integers(4, 40), st.fractions(1, 4, max_denominator=3))
def test_sizes_fit_the_ports_and_carry_uniform_traffic(ends: int, radix: int, taper: Fraction) -> None:
    """Judged link by link: what two groups, or two switches of a line, exchange when all ends send alike."""
    found = dragonfly_size(ends, radix, taper)
    if found is not None:
        p, routers = -(-ends // (found.groups * found.routers)), found.routers
        assert p + (routers - 1) * found.local - (-found.trunk * (found.groups - 1) // routers) <= radix
        assert found.trunk * taper >= Fraction(p * routers * p * routers, found.groups * routers * p)
    for dimensions in (1, 2):
        grid = hyperx_size(ends, radix, taper, dimensions)
        if grid is not None:
            whole = prod(grid.shape)
            p = -(-ends // whole)
            assert p + sum((s - 1) * t for s, t in zip(grid.shape, grid.trunk, strict=True)) <= radix
            assert all(t * taper >= Fraction(p * p * whole, p * whole) / s for s, t in zip(grid.shape, grid.trunk, strict=True))
    ways = [(a, ends // a) for a in range(2, ends) if ends % a == 0 and ends // a >= a]
    assert torus_shapes(ends, 2) == min(ways, key=lambda w: w[1], default=None)
