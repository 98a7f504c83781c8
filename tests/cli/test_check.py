"""``tdsl check``: reports, formats, options and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tdsl.certificates.write import Certified
from tdsl.commands.check import unwritten_certificate_findings
from tests.cli.run import SMALL, report, tdsl, write

DESIGNS = Path(__file__).parents[2] / "stdlib" / "designs"
WRONG_NAME = SMALL.replace("to leaf[r]", "to leef[r]")


def test_designs_of_files_and_of_the_library(here: Path) -> None:
    """A file of the name of a design of the library wins."""
    done = tdsl("check", write(here))
    assert done.exit_code == 0 and "proved    oversubscription <= 1:1" in done.stdout, done.output
    assert "no errors in" in done.stdout.splitlines()[-1] and done.stderr == ""
    done = tdsl("check", "dgx_superpod_h100", "--set", "units=1")
    assert done.exit_code == 0 and "superpod (units = 1)  stdlib:designs/dgx_superpod_h100.fab" in done.stdout, done.output
    done = tdsl("check", "dgx_superpod_h100", "--set", "units=5")
    assert done.exit_code == 1 and "E0110" in done.stdout
    Path("dgx_superpod_h100").write_text(SMALL)
    assert "small (nodes = 4)  dgx_superpod_h100" in tdsl("check", "dgx_superpod_h100").stdout


def test_the_finding_with_its_source(here: Path) -> None:
    write(here, WRONG_NAME)
    done = tdsl("check", "small.fab")
    lines = done.stdout.splitlines()
    lines = lines[next(n for n, line in enumerate(lines) if line.startswith("error[E0101]: ")) :]
    assert done.exit_code == 1 and lines[1] == " --> small.fab:6:29"
    assert lines[3] == "6 |   connect node[n].nic[r] to leef[r]"
    assert lines[4].startswith("  |                             ^^^^ ")
    assert "  = help: did you mean `leaf`?" in lines and "1 error in" in done.stdout
    (line,) = tdsl("check", "small.fab", "--output-format", "concise").stdout.splitlines()
    assert line.startswith("small.fab:6:29: error[E0101] unknown_name: ")


def test_findings_of_elaboration_come_before_those_of_proofs(tmp_path: Path) -> None:
    text = SMALL.replace("switch spine[2]", "switch spine[?]").replace("<= 1:1", "<= 1:9")
    done = tdsl("check", write(tmp_path, text))
    assert done.exit_code == 1 and done.stdout.count("[E0461]") == done.stdout.count("[E0405]") == 1
    assert done.stdout.index("[E0461]") < done.stdout.index("[E0405]")


def test_json_of_a_design(tmp_path: Path) -> None:
    """`tests/report/test_json_schema.py` has the keys of all that there is."""
    path = write(tmp_path, SMALL.replace("<= 1:1", "<= 1:9"))
    document = report(path)
    assert (document["schema"], document["tdsl"]) == (1, "0.1.0")
    (design,) = document["designs"]
    assert [design[k] for k in ("fabric", "file", "ok", "parameters")] == ["small", str(path), False, {"nodes": 4}]
    assert design["summary"]["hosts"] == 4 and isinstance(design["elapsed_s"], float)
    first, *others = design["results"]
    assert [first[k] for k in ("check", "status", "ratio", "class")] == ["oversubscription", "refuted", [1, 2], "leaf-spine"]
    assert [first[k] for k in ("requirement", "file", "line", "column")] == ["oversubscription <= 1:9", str(path), 8, 11]
    assert {r["requirement"] for r in others} == {None}
    (finding,) = design["findings"]
    assert [finding[k] for k in ("code", "name", "severity", "count")] == ["E0405", "oversubscription", "error", 1]
    assert [finding[k] for k in ("file", "line", "column")] == [str(path), 8, 11] and finding["title"]


def test_json_of_a_file_that_cannot_be_read_as_a_design(tmp_path: Path) -> None:
    (design,) = report(write(tmp_path, "fabric small {\n  switch leaf[4: QM9700\n}\n"))["designs"]
    assert design["ok"] is False and design["results"] == [] and {f["line"] for f in design["findings"]} == {2}
    assert all(f["title"] and f["name"] != f["code"] for f in design["findings"])


def test_only_the_time_differs_between_two_runs(tmp_path: Path) -> None:
    """And several files give one document."""
    paths = write(tmp_path), write(tmp_path, WRONG_NAME, "other.fab")
    first, second = (report(*paths) for _ in range(2))
    assert [(d["file"], d["ok"]) for d in first["designs"]] == [(str(paths[0]), True), (str(paths[1]), False)]
    for design in (*first["designs"], *second["designs"]):
        design["elapsed_s"] = 0
    assert first == second


def test_the_report_goes_to_a_file(tmp_path: Path) -> None:
    path, out = write(tmp_path), tmp_path / "report.json"
    done = tdsl("check", path, "--output-format", "json", "-o", out, env={"FORCE_COLOR": "1"})
    assert (done.exit_code, done.output) == (0, "") and json.loads(out.read_text())["designs"][0]["ok"] is True
    assert tdsl("check", path, "-o", tmp_path / "absent" / "x").exit_code == 2


def test_select_and_ignore(tmp_path: Path) -> None:
    path = write(tmp_path)
    (design,) = report(path, "--select", "reachability", "--select", "E0407")["designs"]
    assert {r["check"] for r in design["results"]} == {"reachability", "diameter"}
    (design,) = report(path, "--ignore", "diameter")["designs"]
    assert "diameter" not in {r["check"] for r in design["results"]}


def test_flags_have_variables(tmp_path: Path) -> None:
    done = tdsl("check", write(tmp_path), env={"TDSL_CHECK_OUTPUT_FORMAT": "json", "TDSL_CHECK_SET": "nodes=2"})
    assert json.loads(done.stdout)["designs"][0]["parameters"] == {"nodes": 2}


def test_limits_refuse_before_memory_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL.replace("<= 8", "<= 9_000_000_000"))
    done = tdsl("check", path, "--set", "nodes=8_000_000_000")
    assert done.exit_code == 1 and f"{path}:3:" in done.stdout
    for limit in ("--limit-devices", "--limit-links"):
        assert tdsl("check", write(tmp_path), limit, "5").exit_code == 1


def test_colour(tmp_path: Path) -> None:
    path = write(tmp_path, WRONG_NAME)
    assert "\x1b[1;31merror[E0101]\x1b[0m" in tdsl("check", path, env={"FORCE_COLOR": "1"}).stdout
    for more, env in (((), {}), ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}), (("--output-format", "json"), {"FORCE_COLOR": "1"})):
        assert "\x1b[" not in tdsl("check", path, *more, env=env).stdout


def test_output_in_a_poor_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, WRONG_NAME.replace("small {", 'small "größe" {').replace("leef[r]", "leef[r] # größe"))
    call = [sys.executable, "-m", "tdsl", "check", str(path)]
    done = subprocess.run(call, capture_output=True, env={"PYTHONIOENCODING": "ascii", "HOME": str(tmp_path)}, timeout=120)
    assert done.returncode == 1 and b"gr\\xf6\\xdfe" in done.stdout


def test_checks_passed_over_for_one_reason_share_a_line(tmp_path: Path) -> None:
    path = write(tmp_path, "fabric f { host n[2]: NOBODY; switch leaf: QM9700; connect n[i] to leaf }")
    done = tdsl("check", path)
    assert done.exit_code == 1 and done.output.count("the wiring has errors") == 1
    assert "nothing is judged: the wiring has errors" in done.output and "hosts" not in done.output
    assert "hosts " not in tdsl("check", path, "-v").output


def test_what_fails_is_nearest_to_the_prompt(tmp_path: Path) -> None:
    """Within the last rows of a terminal, whatever else holds; -v has every answer."""
    text = (DESIGNS / "dgx_superpod_h100.fab").read_text().replace("edge_redundancy >= 8", "edge_redundancy >= 9")
    file = write(tmp_path, text)
    done = tdsl("check", file, "--set", "units=1")
    last = done.output.splitlines()[-10:]
    assert any("`edge_redundancy >= 9` does not hold" in line for line in last) and len(done.output.splitlines()) <= 33
    assert "6 other requirements hold" in done.output and "rate_match" not in done.output
    every = tdsl("-v", "check", file, "--set", "units=1").stdout
    assert "rate_match" in every and "bisection >= 100%" in every and "6 other requirements" not in every


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
    asked = [[r["status"] for r in d["results"] if r["requirement"]] for d in document["designs"]]
    assert asked == [["refuted"], ["proved"]]


def test_certificates_that_are_not_written_have_a_finding_with_the_reason() -> None:
    """They are rejected, left out, or show less than the result."""
    made = Certified({}, {"a.json": "a cut is less"}, {"b.json": "it is long"}, {"c.json": "80% of 100%"})
    found = list(unwritten_certificate_findings(made, "f"))
    assert [(d.code, d.severity.name) for d in found] == [("E0906", "ERROR"), ("E0906", "NOTE"), ("E0906", "NOTE")]
    reasons = (
        "rejects the certificate f/a.json: a cut is less",
        "f/b.json is not written: it is long",
        "f/c.json shows less than",
    )
    assert all(words in d.message and d.help for words, d in zip(reasons, found, strict=True))
    assert found[2].message.endswith("80% of 100%")


def test_requirements_that_a_call_leaves_out_are_named(here: Path) -> None:
    """By --select, --ignore and tdsl.toml, also where the answer is kept from an earlier call."""
    write(here, SMALL)
    for _ in range(2):
        done = tdsl("check", "small.fab", "--ignore", "oversubscription")
        assert done.exit_code == 0
        assert done.stderr.endswith("not judged, as --select and --ignore say: `oversubscription <= 1:1`\n"), done.stderr
    Path("tdsl.toml").write_text('[check]\nselect = ["reachability"]\n')
    assert "`oversubscription <= 1:1`" in tdsl("check", "small.fab").stderr
    Path("tdsl.toml").unlink()
    assert "not judged" not in tdsl("check", "small.fab").stderr
