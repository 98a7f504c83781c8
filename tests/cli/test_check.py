"""``tdsl check``: reports, formats, options and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run import SMALL, report, tdsl, write

if TYPE_CHECKING:
    pass

FINDING = {
    "code", "name", "severity", "title", "message", "file", "line", "column", "end_line", "end_column", "labels", "help", "count",
}  # fmt: skip
RESULT = {
    "check", "status", "value", "unit", "lower", "upper", "exact", "witness", "requirement", "file", "line", "column",
}  # fmt: skip
WRONG_NAME = SMALL.replace("to leaf[r]", "to leef[r]")


def test_a_clean_design(tmp_path: Path) -> None:
    done = tdsl("check", write(tmp_path))
    assert done.exit_code == 0, done.output
    assert "proved    oversubscription <= 1:1" in done.stdout
    assert "no errors in" in done.stdout.splitlines()[-1]
    assert done.stderr == ""


def test_a_design_of_the_standard_library() -> None:
    done = tdsl("check", "dgx_superpod_h100", "--set", "units=2")
    assert done.exit_code == 0, done.output
    assert "superpod (units = 2)  stdlib:designs/dgx_superpod_h100.fab" in done.stdout


def test_a_file_of_that_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dgx_superpod_h100").write_text(SMALL)
    assert "small (nodes = 4)  dgx_superpod_h100" in tdsl("check", "dgx_superpod_h100").stdout


def test_the_finding_with_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, WRONG_NAME)
    done = tdsl("check", "small.fab")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("error[E0101]: ")
    assert lines[1] == " --> small.fab:6:29"
    assert lines[3] == "6 |   connect node[n].nic[r] to leef[r]"
    assert lines[4].startswith("  |                             ^^^^ ")
    assert "  = help: did you mean `leaf`?" in lines
    assert "1 error in" in done.stdout


UNKNOWN = SMALL.replace("switch spine[2]", "switch spine[?]")


def test_findings_of_elaboration_come_before_those_of_proofs(tmp_path: Path) -> None:
    done = tdsl("check", write(tmp_path, UNKNOWN.replace("<= 1:1", "<= 1:9")))
    assert done.exit_code == 1 and done.stdout.count("[E0461]") == done.stdout.count("[E0405]") == 1
    assert done.stdout.index("[E0461]") < done.stdout.index("[E0405]")


def test_json_has_every_key(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL.replace("<= 1:1", "<= 1:9"))
    document = report(path)
    assert document["schema"] == 1
    assert document["tdsl"] == "0.1.0"
    (design,) = document["designs"]
    assert (design["fabric"], design["file"], design["ok"], design["parameters"]) == ("small", str(path), False, {"nodes": 4})
    assert design["summary"]["hosts"] == 4
    assert isinstance(design["elapsed_s"], float)
    for result in design["results"]:
        assert set(result) >= RESULT
        assert result["status"] in ("proved", "refuted", "bounded", "modelled", "skipped")
    asked = design["results"][0]
    assert (asked["check"], asked["status"], asked["ratio"], asked["class"]) == (
        "oversubscription",
        "refuted",
        [1, 2],
        "leaf-spine",
    )
    assert (asked["requirement"], asked["file"], asked["line"], asked["column"]) == ("oversubscription <= 1:9", str(path), 8, 11)
    assert [r["requirement"] for r in design["results"][1:]] == [None] * (len(design["results"]) - 1)
    (finding,) = design["findings"]
    assert set(finding) >= FINDING
    assert (finding["code"], finding["name"], finding["severity"]) == ("E0405", "oversubscription", "error")
    assert (finding["file"], finding["line"], finding["column"], finding["count"]) == (str(path), 8, 11, 1)
    assert finding["title"]


def test_json_of_a_file_that_cannot_be_read_as_a_design(tmp_path: Path) -> None:
    path = write(tmp_path, "fabric small {\n  switch leaf[4: QM9700\n}\n")
    (design,) = report(path)["designs"]
    assert design["ok"] is False
    assert design["results"] == []
    assert {f["line"] for f in design["findings"]} == {2}
    assert all(f["title"] and f["name"] != f["code"] for f in design["findings"])


@pytest.mark.parametrize("data", [b"", b"\x00\x01\xff", b"fabric f {", b"\xef\xbb\xbf"], ids=["empty", "binary", "cut", "bom"])
def test_a_file_that_is_no_design_is_a_finding(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.fab"
    path.write_bytes(data)
    for style in ("full", "concise", "json"):
        done = tdsl("check", path, "--output-format", style)
        assert done.exit_code == 1, done.output
        assert str(path) in done.stdout


def test_only_the_time_differs_between_two_runs(tmp_path: Path) -> None:
    path = write(tmp_path, WRONG_NAME)
    first, second = (report(path, "dgx_superpod_h100") for _ in range(2))
    for document in (first, second):
        for design in document["designs"]:
            design["elapsed_s"] = 0
    assert first == second


def test_concise_is_one_line_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path, WRONG_NAME)
    done = tdsl("check", path, "--output-format", "concise")
    assert done.exit_code == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"{path}:6:29: error[E0101] unknown_name: ")


def test_the_report_goes_to_a_file(tmp_path: Path) -> None:
    path, out = write(tmp_path), tmp_path / "report.json"
    done = tdsl("check", path, "--output-format", "json", "-o", out, env={"FORCE_COLOR": "1"})
    assert (done.exit_code, done.output) == (0, "")
    assert json.loads(out.read_text())["designs"][0]["ok"] is True
    assert tdsl("check", path, "-o", tmp_path / "absent" / "x").exit_code == 2


def test_several_files_give_one_document(tmp_path: Path) -> None:
    one, two = write(tmp_path), write(tmp_path, WRONG_NAME, "other.fab")
    document = report(one, two)
    assert [(d["file"], d["ok"]) for d in document["designs"]] == [(str(one), True), (str(two), False)]


def test_select_and_ignore(tmp_path: Path) -> None:
    path = write(tmp_path)
    (design,) = report(path, "--select", "reachability", "--select", "E0407")["designs"]
    assert {r["check"] for r in design["results"]} == {"reachability", "diameter"}
    (design,) = report(path, "--ignore", "diameter")["designs"]
    assert "diameter" not in {r["check"] for r in design["results"]}
    done = tdsl("check", path, "--select", "diametre")
    assert done.exit_code == 2
    assert "did you mean 'diameter'?" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["absent.fab"], "there is no file absent.fab"),
        (["dgx_superpod_h10"], "did you mean the design `dgx_superpod_h100`?"),
        (["dgx_superpod_h100", "--set", "unit=2"], "did you mean `units`?"),
        (["dgx_superpod_h100", "--set", "units"], "is not of the form name=value"),
        (["dgx_superpod_h100", "--output-format", "xml"], "'xml' is not one of"),
        (["dgx_superpod_h100", "--path", "/no/such/folder"], "does not exist"),
        ([], "Missing argument"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_wrong_calls(args: list[str], words: str) -> None:
    done = tdsl("check", *args)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_a_value_out_of_range_is_a_finding() -> None:
    done = tdsl("check", "dgx_superpod_h100", "--set", "units=5")
    assert done.exit_code == 1
    assert "E0110" in done.stdout


def test_flags_have_variables(tmp_path: Path) -> None:
    path = write(tmp_path)
    done = tdsl("check", path, env={"TDSL_CHECK_OUTPUT_FORMAT": "json", "TDSL_CHECK_SET": "nodes=2"})
    assert json.loads(done.stdout)["designs"][0]["parameters"] == {"nodes": 2}


def test_limits_refuse_before_memory_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL.replace("<= 8", "<= 9_000_000_000"))
    done = tdsl("check", path, "--set", "nodes=8_000_000_000")
    assert done.exit_code == 1
    assert f"{path}:3:" in done.stdout
    assert tdsl("check", write(tmp_path), "--limit-devices", "5").exit_code == 1
    assert tdsl("check", write(tmp_path), "--limit-links", "5").exit_code == 1


def test_colour(tmp_path: Path) -> None:
    path = write(tmp_path, WRONG_NAME)
    assert "\x1b[" not in tdsl("check", path).stdout
    assert "\x1b[1;31merror[E0101]\x1b[0m" in tdsl("check", path, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in tdsl("check", path, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b[" not in tdsl("check", path, "--output-format", "json", env={"FORCE_COLOR": "1"}).stdout


def test_output_in_a_poor_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, WRONG_NAME.replace("small {", 'small "größe" {').replace("leef[r]", "leef[r] # größe"))
    call = [sys.executable, "-m", "tdsl", "check", str(path)]
    done = subprocess.run(call, capture_output=True, env={"PYTHONIOENCODING": "ascii", "HOME": str(tmp_path)}, timeout=120)
    assert done.returncode == 1
    assert b"gr\\xf6\\xdfe" in done.stdout


def test_checks_passed_over_for_one_reason_share_a_line(tmp_path: Path) -> None:
    done = tdsl("check", write(tmp_path, "fabric f { host n[2]: NOBODY; switch leaf: QM9700; connect n[i] to leaf }"))
    assert done.exit_code == 1
    assert "checks  the wiring has errors" in " ".join(done.output.split(" ")).replace("   ", "  ")
    assert done.output.count("the wiring has errors") == 1


def test_an_error_says_what_set_gave(tmp_path: Path) -> None:
    """Where the text of an error names a parameter that `--set` gives, and nowhere else."""
    text = "fabric f {\n  param n: int = 2\n  switch a[n of 4]: QM9700\n  connect a[*] ring\n  connect b[*] ring\n}\n"
    findings = {f["code"]: f for f in report(write(tmp_path, text), "--set", "n=5")["designs"][0]["findings"]}
    assert "`n` is given by `--set n=5`" in findings["E0120"]["notes"]
    assert not any("--set" in note for note in findings["E0101"]["notes"])
    (other,) = report(write(tmp_path, text.replace("= 2", "= 5")))["designs"][0]["findings"][:1]
    assert other["code"] == "E0120" and not any("--set" in note for note in other["notes"])


def test_what_one_fabric_fails_does_not_silence_another(tmp_path: Path) -> None:
    """Fabrics of a file are judged each by itself."""
    text = "fabric f {\n  switch a[4]: QM9700\n  connect a[*] ring\n  require links == 5\n}\n"
    document = report(write(tmp_path, text + text.replace("fabric f", "fabric g").replace("== 5", "== 4")))
    first, second = ([r["status"] for r in d["results"] if r["requirement"]] for d in document["designs"])
    assert (first, second) == (["refuted"], ["proved"])
