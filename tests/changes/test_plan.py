"""``tdsl plan``: hosts that come and go, the lock of the new design, and the work as a table."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.changes.test_steps import design, laid, planned, replayed, wirings
from tests.cli.run import tdsl, write
from tests.tables import sections

SUPERPOD = ("dgx_superpod_h100", "dgx_superpod_h100", "--set-old", "units=2", "--set-new", "units=3")


@given(wirings(grown=True), st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(1, 4)]))
@settings(max_examples=12, deadline=None)
def test_hosts_that_come_and_go(texts: tuple[str, str], floor: Fraction) -> None:
    old, new = map(design, texts)
    plan = planned(old, new, floor)
    if plan.complete:
        replayed(plan, laid(old), laid(new))


def test_the_superpod_from_two_to_three_units() -> None:
    done = tdsl("plan", *SUPERPOD, "--floor", "bisection >= 90%", "--format", "json")
    assert done.exit_code == 0, done.stdout
    (fabric,) = json.loads(done.stdout)["fabrics"]
    assert fabric["found"] and len(fabric["into_service"]) == 32 and fabric["end"] == 1
    assert (fabric["cables_laid"], fabric["cables_moved"], fabric["cables_removed"]) == (512, 260, 0)
    assert not fabric["steps"][0]["unplug"] and len(fabric["steps"][0]["plug"]) == 380, "what is new is plugged first"
    assert min(s["bisection_during"] for s in fabric["steps"]) >= 0.9
    drained = {(w["device"], w["port"]) for w in fabric["work"] if w["action"] == "drain"}
    moved = {(w["device"], w["port"]) for w in fabric["work"] if w["action"] == "move"}
    assert len(moved) == 260 and moved <= drained | {("ufm", f"p{n}") for n in range(1, 5)}


POD = sections(__file__)["pod"]


@pytest.fixture
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, POD, "old.fab")
    write(tmp_path, POD.replace("spines = 2", "spines = 4"), "new.fab")
    return tmp_path


def test_the_choice_is_written_to_the_lock(pods: Path) -> None:
    assert tdsl("plan", "old.fab", "new.fab", "--floor", "75%", "--no-lock").exit_code == 0
    assert not (pods / "new.fab.lock").exists()
    done = tdsl("plan", "old.fab", "new.fab", "--floor", "75%", "-o", "steps.csv")
    assert done.exit_code == 0 and "new.fab.lock is written: 128 links; `tdsl diff` lists it" in done.stderr, (
        done.stdout + done.stderr
    )
    assert tdsl("check", "new.fab", "--locked").exit_code == 0
    rows = list(csv.DictReader(io.StringIO((pods / "steps.csv").read_text())))
    assert {r["action"] for r in rows} == {"drain", "move"} and sum(r["action"] == "move" for r in rows) == 32
    assert "32 to move, 0 to remove: 25% of 128 change" in done.stdout
    assert min(float(r["bisection"].rstrip("%")) for r in rows) >= 75
    same = tdsl("plan", "old.fab", "old.fab", "--set-new", "spines=4")
    assert same.exit_code == 0 and "is not written" in same.stderr and not (pods / "old.fab.lock").exists()


def test_requirements_are_kept(pods: Path) -> None:
    assert tdsl("plan", "old.fab", "new.fab", "--floor", "50%", "--keep", "edge_redundancy", "--no-lock").exit_code == 0
    done = tdsl("plan", "old.fab", "new.fab", "--floor", "50%", "--keep", "oversubscription")
    assert done.exit_code == 1 and "`oversubscription <= 1:1` is refuted" in " ".join(done.stdout.split()), done.stdout
    assert not (pods / "new.fab.lock").exists(), "there is no order, so nothing is recorded"
    unknown = tdsl("plan", "old.fab", "new.fab", "--keep", "diameter")
    assert unknown.exit_code == 2 and "edge_redundancy, oversubscription" in unknown.stderr


@pytest.mark.parametrize("floor", ["x", "bisection <= 75%", "101%", "diameter >= 2"])
def test_a_floor_that_is_none(floor: str, pods: Path) -> None:
    assert tdsl("plan", "old.fab", "new.fab", "--floor", floor).exit_code == 2
    assert tdsl("plan", "old.fab", "new.fab", "-o", "steps.txt").exit_code == 2
