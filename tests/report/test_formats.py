"""Reports for machines, each read as its consumer reads it; SARIF also by Microsoft's validator with GitHub's own rules."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile.compiler import Compilation, Design
from tdsl.findings.diagnostic import Diagnostic, Fix, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report import github, gitlab, junit, sarif
from tdsl.report.formats import Report
from tests.cli.run import SMALL, tdsl, write

TOOL = Path(__file__).parent.parent / "npm" / "node_modules" / "@microsoft" / "sarif-multitool-linux"
BAD = SMALL.replace("<= 1:1", "<= 1:9").replace("spine[2]:    QM9700", "spine[2]:    QM970")
WRONG = SMALL.replace("<= 1:1", "<= 1:9")
LABEL_IN_LIBRARY = """fabric pod {
  host node[4]: DGX_H100
  switch leaf: SN5600
  connect node[n].nic[r] to leaf
}
"""
ALLOWED = WRONG.replace("1:9", "1:9  # tdsl: allow(oversubscription) spines come in March")
COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=30)


FORMATS = ("github", "gitlab", "junit", "sarif")
FILES = ("sites/north side.fab", "bad.fab", "allowed.fab", "dgx_superpod_h100")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a design that is wrong, one that does not compile, one whose fault is allowed, and all reports."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "sites").mkdir()
    write(folder / "sites", WRONG, "north side.fab")
    write(folder, BAD, "bad.fab")
    write(folder, ALLOWED, "allowed.fab")
    with chdir(folder):
        done = checked(*(x for name in FORMATS for x in ("--report", f"{name}={name}.txt")))
        assert done.exit_code == 1 and "E0405" in done.stdout
    return folder


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def checked(*more: str) -> Any:
    return tdsl("check", *FILES, "--output-format", "concise", *more)


def rendered(name: str) -> str:
    return Path(f"{name}.txt").read_text()


def unescaped(text: str) -> str:
    """As the runner of GitHub Actions reads a value."""
    for code, sign in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, sign)
    return text


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    out = []
    for line in text.splitlines():
        found = COMMAND.fullmatch(line)
        assert found, line
        given = dict(pair.split("=", 1) for pair in found[2].split(","))
        out.append((found[1], {k: unescaped(v) for k, v in given.items()}, unescaped(found[3])))
    return out


def test_github() -> None:
    found = commands(rendered("github"))
    assert [kind for kind, _, _ in found] == ["error", "error", "notice"]
    _, values, message = found[0]
    assert values["file"] == "sites/north side.fab" and values["title"] == "E0405 oversubscription"
    line = Path(values["file"]).read_text().splitlines()[int(values["line"]) - 1]
    assert line[int(values["col"]) - 1 :].startswith("oversubscription <= 1:9")
    assert message.endswith("else add links upward, or attach less below")
    assert found[1][1]["file"] == "bad.fab"


def test_github_leaves_columns_out_over_several_lines() -> None:
    file = SourceFile("a.fab", "one\ntwo\n")
    (_, values, _), = commands(github.render(of(Diagnostic("E0101", "x", SourceSpan(file, 1, 6)))))  # fmt: skip
    assert values == {"file": "a.fab", "line": "1", "endLine": "2", "title": "E0101 unknown_name"}


def of(*found: Diagnostic, file: str = "a.fab") -> Report:
    """A report of some findings about a file."""
    return Report([Compilation(file, [Design("f", file, {}, None, [], [], list(found), 0.0)], list(found))])


def diagnostics() -> st.SearchStrategy[Diagnostic]:
    file = st.builds(SourceFile, st.sampled_from(["a.fab", "ä b/c,d:e%.fab"]), st.just("first\nsecond line\nthird"))
    spans = st.builds(lambda f, a, b: SourceSpan(f, min(a, b), max(a, b)), file, st.integers(0, 20), st.integers(0, 20))
    fixes = st.none() | st.builds(lambda t, s, n: Fix(t, ((s, n),)), TEXT, spans, TEXT)
    return st.builds(
        Diagnostic, st.sampled_from(["E0101", "E0405", "E0411"]), TEXT, st.none() | spans,
        st.lists(st.builds(Label, spans, TEXT), max_size=3).map(tuple), st.lists(TEXT, max_size=2).map(tuple), TEXT, fixes,
        st.sampled_from(list(Severity)), st.integers(1, 9), TEXT,
    )  # fmt: skip


@given(st.lists(diagnostics(), max_size=4))
@settings(max_examples=50, deadline=None)
def test_no_text_breaks_a_format(found: list[Diagnostic]) -> None:
    report = of(*found)
    told = [d for d in found if d.severity is not Severity.ALLOWED]
    assert len(commands(github.render(report))) == len(told)
    assert len(json.loads(gitlab.render(report))) == len(told)
    suites = ElementTree.fromstring(junit.render(report))
    assert len(suites.findall(".//failure")) == sum(d.severity is Severity.ERROR for d in found)
    run = json.loads(sarif.render(report))["runs"][0]
    assert len(run["results"]) == len(found)
    schema().validate(json.loads(sarif.render(report)))
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


@cache
def schema() -> Any:
    """A validator by OASIS' schema, as the validator's package brings it."""
    if not (TOOL / "sarif-2.1.0.json").is_file():
        pytest.skip("SARIF's schema is not here: `make test` installs it with npm")
    return jsonschema.Draft7Validator(json.loads((TOOL / "sarif-2.1.0.json").read_text(encoding="utf-8-sig")))


def test_gitlab() -> None:
    found = json.loads(rendered("gitlab"))
    for entry in found:  # what GitLab's documentation asks of each
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["lines"]["begin"] >= 1 and not entry["location"]["path"].startswith(("./", "/"))
    assert len({entry["fingerprint"] for entry in found}) == len(found) == 3


def test_marks_stay_when_lines_move(folder: Path) -> None:
    path = folder / "sites" / "moved.fab"
    marks = []
    for text in (WRONG, f"# moved\n\n{WRONG}"):
        path.write_text((folder / "sites" / "north side.fab").read_text().replace(WRONG, text))
        marks.append([x["fingerprint"] for x in json.loads(tdsl("check", path, "--output-format", "gitlab").stdout)])
    path.unlink()
    assert marks[0] == marks[1] != []


def test_absolute_names_become_relative(folder: Path) -> None:
    done = tdsl("check", folder / "bad.fab", "--output-format", "github")
    assert commands(done.stdout)[0][1]["file"] == "bad.fab"


def test_junit() -> None:
    suites = ElementTree.fromstring(rendered("junit"))
    assert [s.get("name") for s in suites] == [
        "sites/north side.fab small", "bad.fab small", "allowed.fab small", "stdlib:designs/dgx_superpod_h100.fab superpod",
    ]  # fmt: skip
    assert [s.get("failures") for s in suites] == ["1", "1", "0", "0"]
    for suite in suites:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped"))
    (failure,) = suites[0].findall("testcase[@name='oversubscription <= 1:9']/failure")
    assert failure.get("type") == "E0405" and (failure.text or "").startswith("sites/north side.fab:8:11: E0405")
    assert suites[3].find("testcase[@name='bisection >= 100%']") is not None


def test_sarif() -> None:
    document = json.loads(rendered("sarif"))
    schema().validate(document)
    (run,) = document["runs"]
    assert [(r["ruleId"], r["level"]) for r in run["results"]] == [
        ("E0405", "error"), ("E0102", "error"), ("E0461", "note"), ("E0405", "none"),
    ]  # fmt: skip
    first, *_, allowed = run["results"]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sites/north%20side.fab"
    assert first["relatedLocations"][0]["message"]["text"] == "leaf0 is declared here"
    assert allowed["suppressions"] == [{"kind": "inSource", "justification": "spines come in March"}]
    assert all(len(r["partialFingerprints"]["primaryLocationLineHash"]) > 32 for r in run["results"])


def test_sarif_has_no_scheme_that_github_refuses(folder: Path) -> None:
    """A label in the library, a finding in it, and a design of it: relative places, and each result has one."""
    write(folder, LABEL_IN_LIBRARY, "label.fab")
    for file in ("label.fab", "dgx_superpod_h100"):
        text = tdsl("check", file, "--output-format", "sarif").stdout
        assert "stdlib:" not in re.sub(r'"text": "[^"]*"', "", text)
        for result in json.loads(text)["runs"][0]["results"]:
            places = [*result["locations"], *result.get("relatedLocations", [])]
            uris = [x["physicalLocation"]["artifactLocation"]["uri"] for x in places]
            assert uris and all(re.fullmatch(r"[\w./-]+", u) and not u.startswith("/") for u in uris), uris
    inside = SourceFile("stdlib:hardware/nvidia/sn5600.fab", "model\n")
    found = json.loads(sarif.render(of(Diagnostic("E0101", "x", SourceSpan(inside, 0, 5)))))["runs"][0]["results"][0]
    place = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    beside = found["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (place, beside) == ("a.fab", "stdlib/hardware/nvidia/sn5600.fab")


@given(TEXT)
def test_brackets_and_backslashes_of_a_message_are_no_links(text: str) -> None:
    """Read back as a viewer does: an escaped sign is itself, and there is no link."""
    file = SourceFile("a.fab", "x")
    d = Diagnostic("E0101", f"node[0](1) {text}", SourceSpan(file, 0, 1), (Label(SourceSpan(file, 0, 1), f"[a](0) {text}"),))
    (result,) = json.loads(sarif.render(of(d)))["runs"][0]["results"]
    for message, said in ((result["message"], d.message), (result["relatedLocations"][0]["message"], d.labels[0].message)):
        assert not re.search(r"(?<!\\)(?:\\\\)*[\[\]]", message["text"])
        assert re.sub(r"\\([\\\[\]])", r"\1", message["text"]) == said


def test_pages_of_rules(folder: Path) -> None:
    """With the address of the site each rule leads to a page that `make site` writes."""
    (folder / "tdsl.toml").write_text('[check]\nhelp-uri = "https://docs.example.com/t/"\n')
    rules = json.loads(tdsl("check", "bad.fab", "sites/north side.fab", "--output-format", "sarif").stdout)
    (folder / "tdsl.toml").unlink()
    schema().validate(rules)
    assert {r["id"]: r["helpUri"] for r in rules["runs"][0]["tool"]["driver"]["rules"]} == {
        "E0102": "https://docs.example.com/t/reference-findings.html#e0102",
        "E0405": "https://docs.example.com/t/reference-checks.html#oversubscription",
    }
    assert "helpUri" not in rendered("sarif")
    assert tdsl("check", "bad.fab", "--help-uri", "stdlib:x").exit_code == 2


def test_sarif_as_github_takes_it(folder: Path) -> None:
    """Microsoft's validator with the rules of GitHub Advanced Security."""
    tool = TOOL / "Sarif.Multitool"
    if not tool.is_file():
        pytest.skip("sarif-multitool is not here: `make test` installs it with npm")
    tool.chmod(0o755)
    report = folder / "report.sarif"
    report.write_text(rendered("sarif"))
    call = [tool, "validate", report, "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"]
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "DOTNET_BUNDLE_EXTRACT_BASE_DIR": str(folder)}
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, env=environment)
    told = [line for line in done.stdout.splitlines() if ": error " in line or ": warning " in line]
    # The one thing it misses is a page about tdsl on the web.
    assert [line for line in told if "SARIF2005" not in line] == [], done.stdout
    assert "Analysis completed successfully" in done.stdout
    report.write_text(report.read_text().replace('"level"', '"levl"'))
    assert ": error " in subprocess.run(call, capture_output=True, text=True, timeout=120, env=environment).stdout


def test_sarif_keeps_within_githubs_limits() -> None:
    """Of more than 25,000 results those that weigh most."""
    file = SourceFile("a.fab", "x\n" * 9)
    many = [Diagnostic("E0101", f"{i}", SourceSpan(file, 0, 1), severity=Severity(1 + (i >= 100))) for i in range(25_100)]
    found = json.loads(sarif.render(of(*many)))["runs"][0]["results"]
    assert [r["level"] for r in found] == ["error"] * 25_000
    crowd = Diagnostic("E0101", "x", SourceSpan(file, 0, 1), tuple(Label(SourceSpan(file, 0, 1), "here") for _ in range(2000)))
    assert len(json.loads(sarif.render(of(crowd)))["runs"][0]["results"][0]["relatedLocations"]) <= 1000


def test_reports_that_cannot_be_asked_for() -> None:
    for wrong in ("sarif", "sarif=", "pdf=x"):
        assert tdsl("check", "bad.fab", "--report", wrong).exit_code == 2
