"""``tdsl check --all-params``: one answer for every value of the parameters, and the least values for which it is no."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from tdsl.system import resources
from tests.cli.run import report, tdsl, write
from tests.conftest import Golden
from tests.tables import sections

STANDARD = "dgx_superpod_h100"
TEXTS = sections(__file__)
TWO, RING = TEXTS["two"], TEXTS["ring"]


def rows(document: dict[str, Any], asked: bool = True) -> dict[str, dict[str, Any]]:
    """The answers to requirements (or of other checks) of the only sweep."""
    (sweep,) = document["sweeps"]
    return {r["requirement"] or r["check"]: r for r in sweep["results"] if (r["requirement"] is not None) == asked}


def timeless(design: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in design.items() if k != "elapsed_s"}


def test_the_superpod_holds_for_all_units(golden: Golden) -> None:
    document = report(STANDARD, "--all-params")
    (sweep,) = document["sweeps"]
    assert [sweep[k] for k in ("combinations", "checked", "whole", "values")] == [4, 4, True, {"units": [1, 2, 3, 4]}]
    answers = rows(document).values()
    assert len(answers) == 7
    assert all((r["status"], r["count"], r["asked"], r["parameters"]) == ("proved", 4, 4, None) for r in answers)
    assert [d["parameters"]["units"] for d in document["designs"]] == [1, 2, 3, 4]
    assert [d["summary"]["hosts"] for d in document["designs"]] == [31, 63, 95, 127]
    for design in document["designs"]:
        (bisection,) = [r for r in design["results"] if r["check"] == "bisection"]
        assert (bisection["status"], bisection["exact"], bisection["value"]) == ("proved", True, 1.0)
    done = tdsl("check", STANDARD, "--all-params", env={"COLUMNS": "120"})
    assert done.exit_code == 0
    golden("terminal/all_params.txt", done.stdout.rsplit(" in ", 1)[0] + "\n")


def test_each_combination_is_what_set_gives_and_the_first_counter_example_is_the_least(tmp_path: Path) -> None:
    """A sweep's designs are those of single calls, figures and findings included. Each of m switches has 2·n or 4·n links."""
    path = write(tmp_path, TWO)
    document = report(path, "--all-params")
    alone = []
    for m, n, fat in product((2, 3, 4), (1, 2, 3), (False, True)):
        if n < m:
            given = ("--set", f"m={m}", "--set", f"n={n}", "--set", f"fat={str(fat).lower()}")
            alone += [timeless(d) for d in report(path, *given)["designs"]]
    assert [timeless(d) for d in document["designs"]] == alone
    counts = [(d["parameters"], d["summary"]["links"]["total"]) for d in document["designs"]]
    assert [links for _, links in counts] == [p["m"] * p["n"] * (4 if p["fat"] else 2) for p, _ in counts]
    worse = [p for p, links in counts if links > 20]
    answer = rows(document)["links <= 20"]
    assert (answer["status"], answer["count"], answer["asked"]) == ("refuted", len(worse), 12)
    assert answer["parameters"] == worse[0] == {"m": 3, "n": 2, "fat": True}
    assert rows(document)["switches"]["status"] == "proved"
    (finding,) = document["sweeps"][0]["findings"]
    assert finding["code"] == "E0421" and "m = 3, n = 2, fat = true" in " ".join(finding["notes"])
    assert tdsl("check", path, "--all-params").exit_code == 1


def test_a_fault_of_one_combination_names_it(tmp_path: Path) -> None:
    text = (resources.packaged_folder("stdlib") / "designs" / f"{STANDARD}.fab").read_text()
    less = text.replace("  require reachability\n", "  if units == 3 {\n    omit spine[0]\n  }\n  require reachability\n")
    fixed = less.replace("switch spine[?]", "switch spine[4 if units == 1 else 8 if units == 2 else 16]")
    path = write(tmp_path, fixed)
    document = report(path, "--all-params")
    answer = rows(document)["bisection >= 100%"]
    assert (answer["status"], answer["parameters"], answer["count"]) == ("refuted", {"units": 3}, 1)
    assert rows(document)["reachability"]["status"] == "proved"
    for finding in document["sweeps"][0]["findings"]:
        assert "with units = 3 (1 of 4 combinations)" in finding["notes"], finding
    shown = " ".join(tdsl("check", path, "--all-params").stdout.split())
    assert "with units = 3 (1 of 4; proved for the rest): 95.74%" in shown


def test_what_a_check_finds_a_sweep_finds() -> None:
    """For every eighth faulty design: what is wrong with the defaults is wrong with some combination, or told of them."""
    designs = sorted((Path(__file__).parent.parent / "errors" / "design").glob("*.fab"))[::8]
    assert len(designs) > 5
    for path in designs:
        alone = {f["code"] for d in report(path)["designs"] for f in d["findings"]}
        assert alone <= {f["code"] for f in report(path, "--all-params", "--limit-params", "8")["sweeps"][0]["findings"]}, path


def test_a_parameter_without_an_end_is_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path, TWO.replace("where 2 <= m <= 4", "where m >= 2"))
    document = report(path, "--all-params")
    (sweep,) = document["sweeps"]
    assert (sweep["kept"], sweep["whole"]) == ({"m": 3}, False)
    first = sweep["findings"][0]
    assert (first["code"], first["line"], first["column"]) == ("E0125", 2, 9)
    assert "no upper bound" in first["message"] and "`where m >= 2 and m <= 3`" in first["help"]
    assert not {r["status"] for r in rows(document, False).values()} & {"proved"}
    assert "holds for all" not in tdsl("check", path, "--all-params").stdout
    assert not report(path)["designs"][0]["findings"]  # a single check has nothing to say of it


def test_more_than_the_limit_proves_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, RING.replace("1000000", "9").replace("switches", "links"))
    document = report(path, "--all-params", "--limit-params", "4")
    (sweep,) = document["sweeps"]
    assert (sweep["combinations"], sweep["checked"], sweep["whole"]) == (8, 4, False)
    assert [d["parameters"]["n"] for d in document["designs"]] == [2, 3, 4, 9]  # both ends, then in order
    assert [f["code"] for f in sweep["findings"]] == ["E0126"] and "4 of 8 combinations" in sweep["findings"][0]["message"]
    assert rows(document)["links >= 2"]["status"] == "bounded"
    done = tdsl("check", path, "--all-params", "--limit-params", "4")
    assert done.exit_code == 1 and "holds for all" not in done.stdout
    assert tdsl("check", path, "--all-params", "--limit-params", "8").exit_code == 0


def test_switches_are_decided_by_arithmetic(tmp_path: Path) -> None:
    """For the combinations that were not checked, too; what arithmetic finds is compiled and shown. A huge range is not made."""
    more = "  require switches >= 2\n  require switches != 123\n  require switches != 200 - 77\n"
    text = RING.replace("1000000", "200").replace("  require switches >= 2\n", more) + TEXTS["beside"]
    document = report(write(tmp_path, text), "--all-params", "--limit-params", "4")
    answers = rows(document)
    found = [(r["status"], r["parameters"]) for r in answers.values()]
    assert found == [("proved", None), ("refuted", {"n": 123}), ("refuted", {"n": 123}), ("bounded", None)]
    assert answers["switches >= 2"]["text"] == "holds for all 199 combinations, by arithmetic"
    assert [d["parameters"].get("n") for d in document["designs"][::2]] == [2, 3, 4, 123, 200]
    findings = {f["code"]: f for f in document["sweeps"][0]["findings"]}
    assert "with n = 123 (1 of 5 combinations checked)" in findings["E0423"]["notes"] and set(findings) == {"E0126", "E0423"}
    path = write(tmp_path, RING.replace("1000000", str(10**15)))
    (sweep,) = json.loads(tdsl("check", path, "--all-params", "--limit-params", "3", "--output-format", "json").stdout)["sweeps"]
    assert sweep["combinations"] == 10**15 - 1 == sweep["values"]["n"]["count"]


def test_clusters_and_several_fabrics(tmp_path: Path) -> None:
    document = report(write(tmp_path, TEXTS["cluster"]), "--all-params")
    (sweep,) = document["sweeps"]
    assert sweep["values"] == {"nodes": [1, 2], "tall": [False, True]}  # what all that declare `nodes` allow
    assert len(document["designs"]) == 4 * 4  # three fabrics, and the cluster as a whole
    found = {(r["fabric"], r["requirement"]): r for r in sweep["results"] if r["requirement"]}
    assert set(found) == {("c.compute", "switches"), ("c.storage", "switches <= 2")}
    asked = found["c.storage", "switches <= 2"]
    assert (asked["parameters"], asked["count"]) == ({"nodes": 1, "tall": True}, 2)


def test_a_range_that_rests_on_another_is_known_once_that_is_chosen(tmp_path: Path) -> None:
    """Where it cannot be known for one value of the other, nothing is proved for all."""
    text = TEXTS["dependent"]
    (sweep,) = report(write(tmp_path, text), "--all-params")["sweeps"]
    assert not sweep["whole"] and {f["code"] for f in sweep["findings"]} >= {"E0108"}  # the list has no entry for m = 3
    path = write(tmp_path, text.replace("3 where m in [3, 4, 5]", "4 where m in [4, 5]"))
    (sweep,) = report(path, "--all-params")["sweeps"]
    assert (sweep["combinations"], sweep["whole"], sweep["findings"]) == (7, True, [])
    assert sweep["values"] == {"m": [4, 5], "n": [4, 5, 6, 7, 8, 9]}
