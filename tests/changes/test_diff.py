"""``tdsl diff`` as an architect calls it, on files and on revisions."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.changes.repository import commit, git
from tests.cli.run import SMALL, tdsl, write
from tests.tables import sections

WIRED = sections(__file__)["wired"]
POD = WIRED.replace("  connect node", "  omit spine[3]\n  connect node")


def differences(old: str, new: str, folder: Path, *more: str) -> dict[str, Any]:
    a, b = write(folder, old, "old.fab"), write(folder, new, "new.fab")
    done = tdsl("diff", a, b, "--output-format", "json", *more)
    assert done.exit_code in (0, 1, 3), done.output
    (fabric,) = json.loads(done.stdout)["fabrics"]
    assert isinstance(fabric, dict)
    return fabric


def test_the_fourth_spine(tmp_path: Path) -> None:
    """Leaves that had 6 of 8 links to three spines: with the fourth 32 cables more, and nothing else moves."""
    found = differences(POD, WIRED, tmp_path)
    assert found["devices_added"] == [{"device": "spine[3]", "model": "QM9700"}] and found["devices_removed"] == []
    assert len(found["added"]) == 32 and not found["removed"] and not found["moved"] and not found["names"]
    (metric,) = [m for m in found["metrics"] if m["name"] == "bisection"]
    assert (metric["before"], metric["after"]) == ("75%", "100%")
    assert (metric["value_before"], metric["value_after"]) == (0.75, 1.0)
    figures = {f["what"]: (f["before"], f["after"]) for f in found["figures"]}
    assert figures["cables"] == ("224", "256") and figures["switches spine"] == ("3", "4")


def test_the_same_design_has_no_difference(tmp_path: Path) -> None:
    a = write(tmp_path)
    assert tdsl("diff", a, a, "--detailed-exitcode").exit_code == 0
    assert "no difference" in tdsl("diff", a, a).stdout
    other = write(tmp_path, "# only a comment\n" + SMALL, "other.fab")
    assert tdsl("diff", a, other, "--detailed-exitcode").exit_code == 0
    grown = tdsl("diff", a, a, "--detailed-exitcode", "--set-new", "nodes=5")
    assert grown.exit_code == 3 and "nodes 4 → 5" in grown.stdout and "+ node[4] (DGX_H100)" in grown.stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A design that uses another file, in two commits, and changed once more."""
    monkeypatch.chdir(tmp_path)
    uses = "use sizes (spines)\n" + WIRED.replace("spine[4]", "spine[spines]").replace("spread x 8", "spread x 4")
    for number, spines in enumerate((1, 2)):
        commit({"pods/sizes.fab": f"let spines = {spines}\n", "pods/pod.fab": uses})
        git("tag", f"v{number}")
    write(tmp_path / "pods", "let spines = 4\n", "sizes.fab")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("main", "pods/pod.fab", (2, 4)),
        ("v0:pods/pod.fab", "v1:pods/pod.fab", (1, 2)),
        ("v0", "v1:pods/pod.fab", (1, 2)),
        ("HEAD~1:pods/pod.fab", "pods/pod.fab", (1, 4)),
    ],
)
def test_revisions(old: str, new: str, counts: tuple[int, int], repository: Path) -> None:
    """What a design uses is of its revision, too."""
    done = tdsl("diff", old, new, "--no-checks", "--output-format", "json")
    assert done.exit_code == 0, done.stderr
    figures = {f["what"]: (f["before"], f["after"]) for f in json.loads(done.stdout)["fabrics"][0]["figures"]}
    assert figures["switches spine"] == tuple(map(str, counts))


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("nowhere", "there is no revision nowhere here"),
        ("main:pods/absent.fab", "there is no such file in this revision"),
        ("--output=x:pods/pod.fab", "No such option"),
        ("main:../pod.fab", "this is not a git repository"),
        ("absent.fab", "there is no file absent.fab"),
    ],
)
def test_wrong_revisions(old: str, words: str, repository: Path) -> None:
    done = tdsl("diff", old, "pods/pod.fab")
    assert done.exit_code == 2 and words in done.stderr, done.stderr
    assert tdsl("diff", "--", "-x", "pods/pod.fab").exit_code == 2


def test_findings_of_a_revision_name_it(repository: Path) -> None:
    commit({"pods/bad.fab": WIRED.replace("QM9700", "QM97")})
    done = tdsl("diff", "main:pods/bad.fab", "pods/pod.fab")
    assert done.exit_code == 1 and "--> main:pods/bad.fab:3:20" in done.stderr, done.stderr


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write(tmp_path)
    done = tdsl("diff", "main", "small.fab")
    assert done.exit_code == 2 and "this is not a git repository" in done.stderr


def test_a_design_with_errors_is_told(tmp_path: Path) -> None:
    a, b = write(tmp_path), write(tmp_path, SMALL.replace("QM9700", "QM97"), "bad.fab")
    done = tdsl("diff", a, b)
    assert done.exit_code == 1 and "E0102" in done.stderr and "nothing to compare" in done.stderr and done.stdout == ""
    refuted = write(tmp_path, SMALL.replace("<= 1:1", "<= 1:9"), "refuted.fab")
    done = tdsl("diff", a, refuted)
    assert done.exit_code == 1 and "fails now" in done.stdout, "what is refuted is compared, and does not pass"


def test_the_first_lines_say_what_a_reviewer_asks(tmp_path: Path) -> None:
    """Cables by class, whether an existing one moves, what fails now; status 1 where the new design does not pass."""
    text = sections(__file__)["text of the first lines say what a reviewer asks"]
    path = tmp_path / "f.fab"
    path.write_text(text)
    more = tdsl("diff", path, path, "--set-new", "n=6")
    assert more.exit_code == 0 and more.stdout.splitlines()[1:5] == [
        "  contract: 1 parameter changed", "  power 48.27kW → 68.67kW (+20.4kW)",
        "  cables: 16 new (host-leaf 16); no existing cable moves", "  node[4..5] to leaf: 16 new",
    ]  # fmt: skip
    many = tdsl("diff", path, path, "--set-new", "n=8")
    assert many.exit_code == 1 and many.stdout.splitlines()[2] == "  fails now: cables" and "tdsl check" in many.stderr
    fewer = tdsl("diff", path, path, "--set-new", "n=3", "--output-format", "markdown")
    assert fewer.exit_code == 0 and "Cables: 8 removed (host-leaf 8)." in fewer.stdout


def test_a_table_of_moves_that_cannot_be_written(tmp_path: Path) -> None:
    a = write(tmp_path)
    done = tdsl("diff", a, a, "--no-checks", "--cables", str(tmp_path / "absent" / "moves.csv"))
    assert done.exit_code == 2 and "moves.csv" in done.stderr and "Traceback" not in done.output


def test_the_designs_that_a_branch_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`A...B` is since B left A, `A..B` since A; models that a design uses count, other designs do not."""
    monkeypatch.chdir(tmp_path)
    text = "use models (S)\nfabric NAME {\n  switch a[2]: S\n  switch b: S\n  connect a[i] to b\n}\n"
    model = "model switch S {\n  port p[1..8]: 400Gbps\n}\n"
    one, two = text.replace("NAME", "one"), text.replace("use models (S)\n", model).replace("NAME", "two")
    commit({"models.fab": model, "one.fab": one, "sub/two.fab": two})
    git("checkout", "-q", "-b", "wider")
    commit({"sub/two.fab": two.replace("a[2]", "a[4]")})
    git("checkout", "-q", "main")
    commit({"one.fab": one.replace("a[2]", "a[3]")})
    done = tdsl("diff", "main...wider")
    assert done.exit_code == 0 and "2 new" in done.stdout and "one" not in done.stdout.split(), done.output
    both = tdsl("diff", "main..wider", "--output-format", "json")
    assert [f["fabric"] for f in json.loads(both.stdout)["fabrics"]] == ["one", "two"], both.output
    alone = tdsl("diff", "main..wider", "sub/two.fab", "--output-format", "json")
    assert [f["fabric"] for f in json.loads(alone.stdout)["fabrics"]] == ["two"], alone.output
    git("checkout", "-q", "wider")
    commit({"models.fab": model.replace("1..8", "1..16")})
    models = json.loads(tdsl("diff", "HEAD~1..", "--output-format", "json").stdout)
    assert [f["fabric"] for f in models["fabrics"]] == ["one"] and models["designs"]["identical"] == 1, "two uses no model of it"
    same = tdsl("diff", "HEAD..HEAD", "--detailed-exitcode")
    assert same.exit_code == 0 and "no design differs: the 2 designs are the same, byte for byte" in same.stdout
    for wrong, why in (("main...nowhere", "there is no revision nowhere"), ("...wider", "does not name two revisions")):
        done = tdsl("diff", wrong)
        assert done.exit_code == 2 and why in done.stderr, done.output


PLACED = sections(__file__)["placed"]


@pytest.mark.parametrize(("rack", "unit", "action"), [(4, 35, "move"), (9, 35, "replace")])
def test_a_device_in_another_rack(rack: int, unit: int, action: str, tmp_path: Path) -> None:
    """From the third rack, 5.11 m of cable, sold as 7 m, to the fourth with 5.71 m, the same cable, or the ninth with 8.71 m."""
    moves = tmp_path / "moves.csv"
    found = differences(PLACED % (3, unit), PLACED % (rack, unit), tmp_path, "--cables", str(moves))
    assert found["places"] == [{"what": "b", "before": f"h A03 unit {unit}", "after": f"h A0{rack} unit {unit}"}]
    assert not found["same"] and not found["moved"] and not found["added"] and not found["removed"]
    rows = list(csv.DictReader(io.StringIO(moves.read_text())))
    assert [(r["action"], r["old_rack"], r["new_rack"], r["rack"]) for r in rows] == [(action, "A03", f"A0{rack}", "A01")] * 2
    assert {r["same_cable"] for r in rows} == {"yes" if action == "move" else "no"}
    text = tdsl("diff", tmp_path / "old.fab", tmp_path / "new.fab").output
    assert "cables: 2 of devices that are mounted elsewhere" in text and "no cable changes" not in text


def test_a_picture_of_a_change(tmp_path: Path) -> None:
    """One drawing: what is removed in red, what is added in green, the rest grey, and the first lines of the text."""
    old, new = write(tmp_path, WIRED, "old.fab"), write(tmp_path, WIRED.replace("spine[4]", "spine[8]"), "new.fab")
    done = tdsl("diff", old, new, "--picture", tmp_path / "change.svg")
    assert done.exit_code == 0, done.output
    root = ElementTree.parse(tmp_path / "change.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    (drawn,) = root.findall(f"{name}svg")
    wires = [(p.get("stroke"), t.text) for p in drawn.iter(f"{name}path") for t in p if t.text]
    links = {what: int(n) for _, text in wires for what, n in re.findall(r"(\w+): (\d+) link", text)}
    assert links == {"unchanged": 64, "removed": 64, "added": 64}, wires  # those between leaf and spine, which come last
    assert {t.partition(":")[0]: c for c, t in wires} == {"unchanged": "#9aa5b1", "removed": "#c62828", "added": "#1a7f37"}
    assert "4 added" in [t.text for t in drawn.iter(f"{name}text")]
    texts = [t.text or "" for t in root.findall(f"{name}text")]
    assert {"leaf to spine[4..7]: 64 new", "leaf to spine: 64 removed"} <= {*texts}, texts


CUBES = sections(__file__)["cubes"]


def test_another_shape_of_cubes_moves_circuits_and_no_cable(tmp_path: Path) -> None:
    """Cubes keep their ports of the optical switches. Counted by hand: 4 cubes as 2 x 2 and as 4 x 1 are numbered alike, 2*i + j
    and i. Along x before: 0-2, 1-3 both ways; then 0-1-2-3-0: none of the 4 circuits of each of two switches stays. Along y
    before: 0-1, 1-0, 2-3, 3-2; then each cube with itself."""
    path = write(tmp_path, CUBES, "cubes.fab")
    done = tdsl("diff", path, path, "--set-new", "a=4", "--set-new", "b=1", "--no-checks", "--detailed-exitcode")
    assert done.exit_code == 3 and "  circuits changed: 16, cables: 0\n" in done.stdout, done.output
    found = json.loads(tdsl("diff", path, path, "--set-new", "a=4", "--set-new", "b=1", "--format", "json").stdout)["fabrics"][0]
    assert not found["added"] and not found["removed"] and not found["moved"] and not found["settings"]
    assert len(found["circuits"]) == 32 and found["circuits"][0] == {"what": "ocs[0, 0]", "before": "p[1] to p[7]", "after": ""}
    other = write(tmp_path, CUBES.replace("a: int = 2", "a: int = 4").replace("b: int = 2", "b: int = 1"), "other.fab")
    page = tmp_path / "change.html"
    assert tdsl("view", other, "--diff", path, "--no-check", "--no-open", "-o", page).exit_code == 0 and page.is_file()
    more = tdsl("diff", path, path, "--set-new", "a=4", "--no-checks").stdout  # more cubes: cables come
    assert "cables: 32 new" in more and "circuits changed" in more


def test_nothing_in_a_comment_is_a_link_or_calls_somebody(tmp_path: Path) -> None:
    waived = "  switch spare: QM9700  # tdsl: allow(isolated) [x](https://evil.example) @someone www.evil.example\n"
    old, new = (
        write(tmp_path, WIRED, "old.fab"),
        write(tmp_path, WIRED.replace("  connect node", f"{waived}  connect node"), "new.fab"),
    )
    text = tdsl("diff", old, new, "--format", "markdown").stdout
    assert "evil" in text
    assert not re.search(r"\]\(|https?://|@someone|www\.", text), text


def test_markdown_fits_in_a_comment(tmp_path: Path) -> None:
    """Of GitHub, which takes 65,536 characters; ``--full`` has all."""
    names = '  naming node[i] "{fabric}-{i:0240}"\n  naming leaf[i] "{fabric}-{i:0241}"\n  naming spine[i] "{fabric}-{i:0242}"\n'
    text = WIRED.replace("  connect node", f"{names}  connect node", 1)
    other = text.replace("024", "023").replace("(n // 8) + r]", "(n // 8) + 7 - r]").replace("DGX_H100", "DGX_B200")
    a, b = write(tmp_path, text, "old|`x`.fab"), write(tmp_path, other, "new.fab")
    short, full = (tdsl("diff", a, b, "--format", "markdown", "--no-checks", *more).stdout for more in ((), ("--full",)))
    assert len(short) <= 65_536 < len(full)
    assert short.count("<details>") == short.count("</details>") and short.count("```") % 2 == 0
