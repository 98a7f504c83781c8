"""``tdsl diff`` as an architect calls it, on files and on revisions."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import SMALL, tdsl, write

POD = """\
fabric pod {
  hosts 128 x DGX_H100
  clos { leaf QM9700; spine QM9700 }
  omit spine[3]
}
"""
WIRED = """\
fabric pod {
  host node[64]: DGX_H100
  switch leaf[16]: QM9700
  switch spine[8]: QM9700
  connect node[n].nic[r] to leaf[8*(n // 32) + r]
  connect leaf[*] to spine[*] spread x 32
}
"""


def differences(old: str, new: str, folder: Path, *more: str) -> dict[str, Any]:
    a, b = write(folder, old, "old.fab"), write(folder, new, "new.fab")
    done = tdsl("diff", a, b, "--output-format", "json", *more)
    assert done.exit_code in (0, 1, 3), done.output
    (fabric,) = json.loads(done.stdout)["fabrics"]
    assert isinstance(fabric, dict)
    return fabric


def test_the_sixteenth_spine(tmp_path: Path) -> None:
    """128 hosts whose leaves had 60 of 64 links to 15 spines: with the sixteenth 64 cables more, and nothing else moves."""
    found = differences(POD, POD.replace("  omit spine[3]\n", ""), tmp_path)
    assert found["devices_added"] == [{"device": "spine[3]", "model": "QM9700"}] and found["devices_removed"] == []
    assert len(found["added"]) == 64 and not found["removed"] and not found["moved"] and not found["names"]
    (metric,) = [m for m in found["metrics"] if m["name"] == "bisection"]
    assert (metric["before"], metric["after"]) == ("93.75%", "100%")
    assert (metric["value_before"], metric["value_after"]) == (0.9375, 1.0)
    figures = {f["what"]: (f["before"], f["after"]) for f in found["figures"]}
    assert figures["cables"] == ("1,984", "2,048") and figures["switches spine"] == ("15", "16")
    power = 128 * 10.2 + 15 * 0.747, 128 * 10.2 + 48 * 0.747
    assert figures["power"][0].endswith("MW") and power


def test_the_same_design_has_no_difference(tmp_path: Path) -> None:
    a = write(tmp_path)
    assert tdsl("diff", a, a, "--detailed-exitcode").exit_code == 0
    assert "no difference" in tdsl("diff", a, a).stdout
    other = write(tmp_path, "# only a comment\n" + SMALL, "other.fab")
    assert tdsl("diff", a, other, "--detailed-exitcode").exit_code == 0
    grown = tdsl("diff", a, a, "--detailed-exitcode", "--set-new", "nodes=5")
    assert grown.exit_code == 3 and "nodes 4 → 5" in grown.stdout and "+ node[4] (DGX_H100)" in grown.stdout


def test_a_cable_that_moves(tmp_path: Path) -> None:
    new = SMALL.replace("connect node[n].nic[r] to leaf[r]", "connect node[n].nic[r] to leaf[(r + n // 3) % 8]")
    found = differences(SMALL, new, tmp_path)
    assert not found["added"] and not found["removed"] and len(found["moved"]) == 8
    assert {m["stays"]["device"] for m in found["moved"]} == {"node[3]"}
    first = min(found["moved"], key=lambda m: str(m["stays"]["port"]))
    assert (first["before"]["device"], first["after"]["device"]) == ("leaf[0]", "leaf[1]")
    assert [(m["name"], m["status_after"]) for m in found["metrics"] if m["name"] == "rail_alignment"] == [
        ("rail_alignment", "refuted")
    ]  # fmt: skip


def test_models_names_settings_and_addresses(tmp_path: Path) -> None:
    old = SMALL.replace("  require", "  address leaf loopback from 10.0.0.0/24\n  require")
    new = old.replace("switch spine[2]:    QM9700", "switch spine[2]:    QM9790").replace("10.0.0.0/24", "10.0.1.0/24")
    new = new.replace("  require", '  naming leaf[i] "rail{i}"\n  require').replace(
        "connect node[n].nic[r] to leaf[r]", "connect node[n].nic[r] to leaf[r] { cable MFP7E10 }"
    )
    new = 'model switch QM9790 { port p[1..64]: 400Gbps { type NDR; cage 2 OSFP; name "IB2/{i}" } }\n' + new
    found = differences(old, new, tmp_path, "--no-checks")
    assert [m["what"] for m in found["models"]] == ["spine[0]", "spine[1]"]
    assert {"what": "leaf[3]", "before": "leaf3", "after": "rail3"} in found["names"]
    assert {"what": "spine[0].p[1]", "before": "IB1/1/1", "after": "IB2/1"} in found["ports"]
    assert {"what": "leaf[1] loopback IPv4", "before": "10.0.0.1/32", "after": "10.0.1.1/32"} in found["addresses"]
    assert {c["after"] for c in found["cables"] if c["what"].endswith(": part")} == {"MFP7E10"}
    assert found["metrics"] == []


def test_markdown(tmp_path: Path) -> None:
    a = write(tmp_path, POD, "old|`x`.fab")
    b = write(tmp_path, POD.replace("  omit spine[3]\n", ""), "new.fab")
    text = tdsl("diff", a, b, "--output-format", "markdown").stdout
    assert "| bisection | 93.75% | 100% |" in text and "+ spine[3] (QM9700)" in text
    assert text.count("<details>") == text.count("</details>") and text.count("```") % 2 == 0
    assert "# and 16 more" in text and "# and" not in tdsl("diff", a, b, "--output-format", "markdown", "--full").stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A design that uses another file, in two commits, and changed once more."""
    monkeypatch.chdir(tmp_path)

    def git(*args: str) -> None:
        names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        subprocess.run(["git", *args], check=True, capture_output=True, env={**os.environ, **names})

    git("init", "-q", "-b", "main")
    (tmp_path / "pods").mkdir()
    uses = "use sizes (spines)\n" + WIRED.replace("spine[8]", "spine[spines]").replace("spread x 32", "spread x 16")
    for number, spines in enumerate((4, 8)):
        write(tmp_path / "pods", f"let spines = {spines}\n", "sizes.fab")
        write(tmp_path / "pods", uses, "pod.fab")
        git("add", "-A")
        git("commit", "-q", "-m", f"{number}")
        git("tag", f"v{number}")
    write(tmp_path / "pods", "let spines = 16\n", "sizes.fab")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("main", "pods/pod.fab", (8, 16)),
        ("v0:pods/pod.fab", "v1:pods/pod.fab", (4, 8)),
        ("v0", "v1:pods/pod.fab", (4, 8)),
        ("HEAD~1:pods/pod.fab", "pods/pod.fab", (4, 16)),
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
    write(repository / "pods", WIRED.replace("QM9700", "QM97"), "bad.fab")
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "bad"], check=True)
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
    text = """fabric f {
  param n: int = 4 where 1 <= n <= 9
  host node[n of 9]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[k].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 8
  require cables <= 112
}
"""
    path = tmp_path / "f.fab"
    path.write_text(text)
    more = tdsl("diff", path, path, "--set-new", "n=6")
    assert more.exit_code == 0 and more.stdout.splitlines()[1:3] == [
        "  contract: 1 parameter changed", "  cables: 16 new (host-leaf 16); no existing cable moves"
    ]  # fmt: skip
    many = tdsl("diff", path, path, "--set-new", "n=8")
    assert many.exit_code == 1 and many.stdout.splitlines()[3] == "  fails now: cables" and "tdsl check" in many.stderr
    fewer = tdsl("diff", path, path, "--set-new", "n=3", "--output-format", "markdown")
    assert fewer.exit_code == 0 and "Cables: 8 removed (host-leaf 8)." in fewer.stdout


ROW = """\
model switch SW { port p[1..8]: 400Gbps; height 1U }
model host H { port nic[1]: 400Gbps; height 2U }
model cable C { rate 400Gbps; medium dac; lengths 2m, 3m, 10m }
fabric f {
  host h[3]: H
  switch leaf[2]: SW
  connect h[0].nic[0] to leaf[0].p[1] { cable C }
  connect h[1].nic[0] to leaf[0].p[2] { cable C }
  hall a { row A { rack 1..4 { height 48U } }; pitch rack 2m; tray above 2.5m; slack 0m }
  place leaf[n] in a.A[n + 1] at 40U
  place h[0] in a.A[1] at 20U
  place h[1] in a.A[1] at 22U
  place h[2] in a.A[2] at 20U
}
"""


def moves(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_the_table_of_moves(tmp_path: Path) -> None:
    """h[0] goes to the other leaf; h[1] goes to another rack, which needs a longer cable; h[2] is new, and so back."""
    change = ROW.replace("h[0].nic[0] to leaf[0].p[1]", "h[0].nic[0] to leaf[1].p[1]").replace("h[1] in a.A[1]", "h[1] in a.A[4]")
    change = change.replace("  hall a", "  connect h[2].nic[0] to leaf[1].p[2] { cable C }\n  hall a")
    a, b, out = write(tmp_path, ROW, "a.fab"), write(tmp_path, change, "b.fab"), tmp_path / "moves.csv"
    assert tdsl("diff", a, b, "--no-checks", "--cables", str(out)).exit_code == 0
    moved, longer, new = moves(out)
    assert [x["action"] for x in (moved, longer, new)] == ["move", "replace", "add"]
    told = [
        moved[k] for k in ("device", "rack", "u", "old_device", "old_rack", "new_device", "new_rack", "new_port", "same_cable")
    ]
    assert told == ["h0", "A01", "20", "leaf0", "A01", "leaf1", "A02", "p1", "no"]
    assert [longer[k] for k in ("device", "rack", "old_length_m", "length_m")] == ["h1", "A04", "2", "10"]
    assert [new[k] for k in ("device", "old_device", "new_device", "old_cable_id", "length_m")] == ["h2", "", "leaf1", "", "2"]
    assert tdsl("diff", b, a, "--no-checks", "--cables", str(out)).exit_code == 0
    back = moves(out)
    assert [x["action"] for x in back] == ["remove", "move", "replace"]
    assert (back[0]["old_device"], back[0]["new_device"], back[0]["cable_id"]) == ("leaf1", "", "")
    assert {x["old_cable_id"] for x in back} == {x["cable_id"] for x in (moved, longer, new)}


def test_the_table_of_moves_has_the_phases(tmp_path: Path) -> None:
    """Two hosts in the first phase and four in the second: two cables each, and no cable moves."""
    text = ROW[: ROW.index("fabric f")] + (
        'fabric f {\n  param n: int = 2\n  phase 1 { n 2; needed "2027-01-15" }\n  phase 2 { n 4; needed "2027-03-01" }\n'
        "  host h[n]: H\n  switch leaf: SW\n  connect h[i].nic[0] to leaf.p[i + 1]\n}\n"
    )
    out = tmp_path / "moves.csv"
    assert tdsl("diff", write(tmp_path, text, "p.fab"), "--no-checks", "--cables", str(out)).exit_code == 0
    rows = [(x["action"], x["phase"], x["needed"], x["device"]) for x in moves(out)]
    assert rows == [("add", str(1 + k // 2), ("2027-01-15", "2027-03-01")[k // 2], f"h{k}") for k in range(4)]


def test_a_table_of_moves_that_cannot_be_written(tmp_path: Path) -> None:
    a = write(tmp_path)
    done = tdsl("diff", a, a, "--no-checks", "--cables", str(tmp_path / "absent" / "moves.csv"))
    assert done.exit_code == 2 and "moves.csv" in done.stderr and "Traceback" not in done.output


def test_the_designs_that_a_branch_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`A...B` is since B left A, `A..B` since A; models that a design uses count, other designs do not."""
    monkeypatch.chdir(tmp_path)

    def git(*args: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *args], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    text = "use models (S)\nfabric NAME {\n  switch a[2]: S\n  switch b: S\n  connect a[i] to b\n}\n"
    model = "model switch S {\n  port p[1..8]: 400Gbps\n}\n"
    two = text.replace("use models (S)\n", model).replace("NAME", "two")
    (tmp_path / "models.fab").write_text(model)
    (tmp_path / "one.fab").write_text(text.replace("NAME", "one"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "two.fab").write_text(two)
    git("add", "-A")
    git("commit", "-q", "-m", "1")
    git("checkout", "-q", "-b", "wider")
    (tmp_path / "sub" / "two.fab").write_text(two.replace("a[2]", "a[4]"))
    git("commit", "-q", "-a", "-m", "2")
    git("checkout", "-q", "main")
    (tmp_path / "one.fab").write_text(text.replace("NAME", "one").replace("a[2]", "a[3]"))
    git("commit", "-q", "-a", "-m", "3")
    done = tdsl("diff", "main...wider")
    assert done.exit_code == 0 and "2 new" in done.stdout and "one" not in done.stdout.split(), done.output
    both = tdsl("diff", "main..wider", "--output-format", "json")
    assert [f["fabric"] for f in json.loads(both.stdout)["fabrics"]] == ["one", "two"], both.output
    alone = tdsl("diff", "main..wider", "sub/two.fab", "--output-format", "json")
    assert [f["fabric"] for f in json.loads(alone.stdout)["fabrics"]] == ["two"], alone.output
    git("checkout", "-q", "wider")
    (tmp_path / "models.fab").write_text("model switch S {\n  port p[1..16]: 400Gbps\n}\n")
    git("commit", "-q", "-a", "-m", "4")
    models = json.loads(tdsl("diff", "HEAD~1..", "--output-format", "json").stdout)
    assert [f["fabric"] for f in models["fabrics"]] == ["one"] and models["designs"]["identical"] == 1, "two uses no model of it"
    same = tdsl("diff", "HEAD..HEAD", "--detailed-exitcode")
    assert same.exit_code == 0 and "no design differs: the 2 designs are the same, byte for byte" in same.stdout
    for wrong, why in (("main...nowhere", "there is no revision nowhere"), ("...wider", "does not name two revisions")):
        done = tdsl("diff", wrong)
        assert done.exit_code == 2 and why in done.stderr, done.output


PLACED = """\
fabric f {
  switch a: QM9700
  switch b: QM9700
  connect a to b x 2
  hall h { row A { rack 1..9 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 1m }
  place a in h.A[1] at 40U
  place b in h.A[%d] at %dU
}
"""


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


def test_a_picture_of_before_and_after(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    old, new = write(tmp_path, WIRED, "old.fab"), write(tmp_path, WIRED.replace("spine[8]", "spine[16]"), "new.fab")
    done = tdsl("diff", old, new, "--picture", tmp_path / "change.svg")
    assert done.exit_code == 0, done.output
    root = ElementTree.parse(tmp_path / "change.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    drawn = root.findall(f"{name}svg")
    texts = [t.text or "" for t in root.findall(f"{name}text")]
    assert texts[:2] == ["before: old.fab", "after: new.fab"] and any("removed" in t or "moved" in t for t in texts[2:]), texts
    assert [[t.text for t in d.iter(f"{name}text") if t.text in ("8 × QM9700", "16 × QM9700")] for d in drawn] != [[], []]
    places = [(float(d.attrib["x"]), float(d.attrib["width"])) for d in drawn]
    assert len(places) == 2 and places[0][0] + places[0][1] <= places[1][0], "beside each other"
    assert float(root.attrib["width"]) >= sum(w for _, w in places)


def test_markdown_fits_in_a_comment(tmp_path: Path) -> None:
    """Of GitHub, which takes 65,536 characters; ``--full`` has all."""
    names = '  naming node[i] "{fabric}-{i:0240}"\n  naming leaf[i] "{fabric}-{i:0241}"\n  naming spine[i] "{fabric}-{i:0242}"\n'
    text = WIRED.replace("  connect node", f"{names}  connect node", 1)
    other = text.replace("024", "023").replace("(n // 32) + r]", "(n // 32) + 7 - r]").replace("DGX_H100", "DGX_B200")
    a, b = write(tmp_path, text, "old.fab"), write(tmp_path, other, "new.fab")
    short, full = (tdsl("diff", a, b, "--format", "markdown", "--no-checks", *more).stdout for more in ((), ("--full",)))
    assert len(short) <= 65_536 < len(full)
    assert short.count("<details>") == short.count("</details>") and short.count("```") % 2 == 0
