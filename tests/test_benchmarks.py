"""The common form of the benchmarks: who is run when, what counts, and what is said of a peer that is not installed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import measure

    return measure


def test_peers_run_by_turns_and_their_own_figures_count(measure: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"
    figures = "print(json.dumps({'cpu_s': int(sys.argv[3]), 'wall_s': 2, 'n': 7}))"
    code = f"import sys, json; open(sys.argv[1], 'a').write(sys.argv[2]); {figures}"
    peers = {who: (sys.executable, "-c", code, str(log), who, str(i + 1)) for i, who in enumerate("ab")}
    a, b = measure.by_turns("part", "case", peers, rounds=3, unit="links")
    assert log.read_text() == "ababab"
    assert (a["peer"], a["cpu_s"], a["wall_s"], a["n"], a["unit"], a["rounds"]) == ("a", 1, 2, 7, "links", 3)
    assert b["cpu_s"] == 2 and b["peak_mb"] > 1


def test_a_whole_process_counts_where_it_prints_no_figures(measure: Any) -> None:
    (got,) = measure.by_turns("part", "case", {"python": (sys.executable, "-c", "sum(range(10**6)); print(1)")}, rounds=1)
    assert 0 < got["cpu_least"] == got["cpu_s"] == got["cpu_most"] and got["wall_s"] > 0


def test_a_peer_that_is_not_installed_is_skipped_and_said_so(measure: Any, capsys: pytest.CaptureFixture[str]) -> None:
    got = measure.by_turns("p", "c", {"x": (sys.executable, "-c", "import no_such_library")}, rounds=2)
    assert got == [{"part": "p", "case": "c", "peer": "x", "skipped": "No module named 'no_such_library'"}]
    assert capsys.readouterr().err == "p, c: x is skipped: No module named 'no_such_library'\n"


def test_inside_counts_the_work_alone(measure: Any) -> None:
    got = measure.inside(lambda: sum(range(10**5)) and 42, repeat=2)
    assert got["n"] == 42 and got["cpu_s"] >= 0 and got["peak_mb"] > 1


@pytest.mark.usefixtures("measure")
def test_lists_are_written_alike(tmp_path: Path) -> None:
    """tdsl and the peers that write its form write the same lines, so that their times are of the same work."""
    cabling = import_module("cabling")
    made = cabling.fabric(str(BENCHMARKS.parent / "stdlib" / "designs" / "rail_only.fab"))
    for name in cabling.LISTS:
        found = []
        for who in ("tdsl", "csv.writer from columns", "csv.writer"):
            work, count = cabling.written(who, name, made, tmp_path / "list.csv")
            work()
            found.append((count, (tmp_path / "list.csv").read_text(encoding="utf-8").splitlines()))
        assert found[0][1][1:] == found[1][1] == found[2][1]
        assert found[0][0] == len(found[1][1]) > 0
