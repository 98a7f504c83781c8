"""The common form of the benchmarks: who is run when, what counts, and what is said of a peer that is not installed; what is
made of the records; and the comparison of two commits."""

from __future__ import annotations

import json
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

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


def test_a_peer_that_is_not_installed_is_skipped_and_said_so(measure: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A whole process counts where it prints no figures."""
    (got,) = measure.by_turns("part", "case", {"python": (sys.executable, "-c", "sum(range(10**6)); print(1)")}, rounds=1)
    assert 0 < got["cpu_least"] == got["cpu_s"] == got["cpu_most"] and got["wall_s"] > 0
    got = measure.by_turns("p", "c", {"x": (sys.executable, "-c", "import no_such_library")}, rounds=2)
    assert got == [{"part": "p", "case": "c", "peer": "x", "skipped": "No module named 'no_such_library'"}]
    assert capsys.readouterr().err == "p, c: x is skipped: No module named 'no_such_library'\n"


@pytest.mark.daily
@pytest.mark.usefixtures("measure")
def test_a_quick_run_writes_figures_plots_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way on small designs: each record in the common form, each plot well-formed, each table in its place."""
    run, report = import_module("run"), import_module("report")
    run.main(["--quick", "--into", str(tmp_path), "elaboration", "startup"])
    found = json.loads((tmp_path / "results.json").read_text())
    assert list(found) == ["startup", "elaboration"]
    for part, recorded in found.items():
        assert {"cpu", "cores", "load", "commit", "versions"} <= set(recorded["machine"])
        for r in recorded["records"]:
            assert r["part"] == part and {"case", "peer"} <= set(r)
            if "skipped" not in r:
                assert r["cpu_least"] <= r["cpu_q1"] <= r["cpu_s"] <= r["cpu_q3"] <= r["cpu_most"] and r["rounds"] == 1
                assert r["wall_least"] <= r["wall_s"] <= r["wall_most"] and r["peak_mb"] > 1
        assert "\n".join(report.table(part, recorded["records"])) in (tmp_path / "performance.md").read_text()
        ElementTree.parse(tmp_path / "performance" / report.file_of(part))
    own = {r["peer"]: r for r in found["elaboration"]["records"]}
    assert own["tdsl"]["n"] == own["numpy"]["n"] == 384
    assert "numpy" in (tmp_path / "performance.md").read_text() and "| tdsl | tdsl, again | networkx |" in capsys.readouterr().out
    before = {p: p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}
    run.main(["--tables", "--into", str(tmp_path)])
    assert before == {p: p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}


@pytest.mark.usefixtures("measure")
def test_every_part_is_known_and_has_a_place_on_the_page() -> None:
    run, report = import_module("run"), import_module("report")
    for module in run.PARTS.values():
        assert callable(import_module(module).records)
    assert set(run.PARTS) | {"proof size"} == set(report.TITLES)
    page = (BENCHMARKS.parent / "docs" / "performance.md").read_text()
    for part in (*report.TITLES, "faster"):
        assert "NEW" in report.replaced(page, part, "NEW")
    with pytest.raises(ValueError, match="needs one <!-- bench: none -->"):
        report.replaced(page, "none", "")


@pytest.mark.usefixtures("measure")
def test_the_page_says_what_was_recorded(tmp_path: Path) -> None:
    """Tables, plots, ratios and the list of faster peers are those of benchmarks/results.json."""
    run, report = import_module("run"), import_module("report")
    root = BENCHMARKS.parent
    page, readme = (shutil.copyfile(root / name, tmp_path / Path(name).name) for name in ("docs/performance.md", "README.md"))
    report.write(run.recorded(BENCHMARKS / "results.json"), page, readme, tmp_path / "performance")
    assert page.read_bytes() == (root / "docs" / "performance.md").read_bytes()
    assert readme.read_bytes() == (root / "README.md").read_bytes()
    plots = {p.name: p.read_bytes() for p in (tmp_path / "performance").iterdir()}
    assert plots == {p.name: p.read_bytes() for p in (root / "docs" / "performance").iterdir()}


def test_a_comparison_flags_what_is_slower_and_not_noise(measure: Any) -> None:
    compare = import_module("compare")

    def times(*seconds: float, factor: float = 1) -> Any:
        return measure.summary([{"cpu_s": factor * s, "wall_s": s, "peak_mb": 1} for s in seconds])

    old, slow, little = (times(1.0, 1.01, 1.02, 1.0, 1.3, factor=f) for f in (1, 1.2, 1.1))
    noise = times(0.9, 1.0, 1.2, 1.4, 1.5)
    assert compare.slower(old, slow)
    assert not compare.slower(slow, old) and not compare.slower(old, old) and not compare.slower(old, little)
    assert not compare.slower(old, noise), "the first quartile of noise is within the spread"
    assert not compare.slower({"skipped": "no such command"}, slow)
