"""Designs of git revisions: those that a branch renames, adds, deletes and breaks, and ``REVISION:FILE`` for a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.changes.repository import commit, git
from tests.cli.run import tdsl
from tests.tables import sections

MODELS = "model switch S { port p[1..16]: 100Gbps }\nmodel host H { port nic: 100Gbps }\n"
DESIGN = sections(__file__)["design"]
ONE, TWO = DESIGN.replace("NAME", "one"), DESIGN.replace("NAME", "two")


@pytest.fixture(autouse=True)
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two designs that use one file, on `main`, and a branch begun."""
    monkeypatch.chdir(tmp_path)
    changed(models=MODELS, one=ONE, two=TWO)
    git("checkout", "-q", "-b", "branch")


def changed(**files: str | None) -> None:
    """A commit of files in the folder of designs."""
    commit({f"pods/{stem}.fab": text for stem, text in files.items()})


def compared(*more: str, status: int = 3) -> dict[str, object]:
    done = tdsl("diff", "main...branch", *more, "--no-checks", "--detailed-exitcode", "--output-format", "json")
    assert done.exit_code == status, done.output
    found: dict[str, object] = json.loads(done.stdout)
    rows = {f["fabric"]: [(c["part"], c["change"]) for c in f["contract"]] for f in found["fabrics"]}  # type: ignore[attr-defined]
    return {**found, "contract": rows}


@pytest.mark.parametrize(
    "text", [ONE, ONE.replace("node[4]", "node[3]"), "\n".join(line + "  # one" for line in ONE.splitlines())]
)
def test_a_renamed_design(text: str) -> None:
    """By its contents, or by the fabric that it declares; its name may be given, the old or the new one."""
    changed(one=None, uno=text)
    found = compared()
    assert found["contract"] == {"one": [("design", "renamed")]}
    designs = {"identical": 1, "added": [], "removed": [], "not_compared": []}
    assert found["designs"] == {**designs, "renamed": [{"before": "pods/one.fab", "after": "pods/uno.fab"}]}
    assert (found["judged"], found["of"]) == (2, 2)
    for name in ("one", "uno"):
        assert compared(f"pods/{name}.fab")["contract"] == {"one": [("design", "renamed")]}
    said = tdsl("diff", "main...branch", "--no-checks").stdout
    assert "  ~ renamed: pods/one.fab → pods/uno.fab" in said
    assert said.endswith("branch: 2 of 2 designs compared, 1 differs, 1 unchanged, 1 renamed\n")


def test_designs_that_are_added_and_deleted() -> None:
    three = "model host G { port a: 10Gbps }\nfabric three {\n  host x[2]: G\n  connect x[0].a to x[1].a\n}\n"
    changed(two=None, three=three)
    found = compared()
    requirements = [("requirement", "removed")] * 2
    assert found["contract"] == {"three": [("design", "added")], "two": [*requirements, ("design", "removed")]}
    assert found["designs"] == {
        "identical": 1, "added": ["pods/three.fab"], "removed": ["pods/two.fab"], "renamed": [], "not_compared": [],
    }  # fmt: skip
    markdown = tdsl("diff", "main...branch", "--no-checks", "--output-format", "markdown").stdout
    assert "| design file | pods/two.fab, fabric two |  | **removed** |" in markdown
    assert "| design file |  | pods/three.fab, fabric three | added |" in markdown


@pytest.mark.parametrize("broken", ["after", "before", "added"])
def test_a_design_that_does_not_compile(broken: str) -> None:
    """It is an error with its name and cause in every format, and the others are compared."""
    wrong = ONE.replace("leaf: S", "leaf: T")
    if broken == "before":
        git("checkout", "-q", "main")
        changed(one=wrong)
        git("checkout", "-q", "-B", "branch")
        changed(one=ONE)
    elif broken == "after":
        changed(one=wrong)
    else:
        changed(other=wrong.replace("fabric one", "fabric other"))
    changed(two=TWO.replace("  require reachability\n", ""))
    found = compared(status=1)
    assert found["contract"] == {"two": [("requirement", "removed")]} and not found["same"]
    name = "pods/other.fab" if broken == "added" else "pods/one.fab"
    assert [x["file"] for x in found["designs"]["not_compared"]] == [name]  # type: ignore[index]
    for form in ("text", "markdown"):
        done = tdsl("diff", "main...branch", "--no-checks", "--output-format", form)
        assert done.exit_code == 1 and f"not compared: {name}: " in done.stdout and "E0102" in done.stderr


def test_nothing_to_compare() -> None:
    """Equal designs were compared; where there are no designs at all, that is an error."""
    Path("README.md").write_text("text")
    changed()
    done = tdsl("diff", "main...branch", "--detailed-exitcode")
    assert done.exit_code == 0 and "no design differs: the 2 designs are the same, byte for byte" in done.stdout
    changed(one=None, two=None)
    git("branch", "-f", "main")
    done = tdsl("diff", "main..branch")
    assert done.exit_code == 2 and "neither revision has a file that declares a fabric" in done.stderr


def test_files_and_settings_that_designs_share() -> None:
    """What two designs use is compared in both, beside one that is changed itself; severities are those of each revision."""
    changed(models=MODELS.replace("1..16", "1..32"), two=TWO + "# a comment\n")
    rows = [("file", "changed"), ("model", "changed")]
    assert compared()["contract"] == {"one": rows, "two": rows}
    changed(models=MODELS, two=TWO)
    commit({"tdsl.toml": '[severity]\nisolated = "warning"\n'})
    assert compared()["contract"] == {"one": [("severity", "added")], "two": [("severity", "added")]}


def test_a_revision_in_the_place_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is read is of the revision, from the folder of the call or the top; nothing is written."""
    changed(models=MODELS.replace("1..16", "1..2"))
    (tmp_path / "pods" / "models.fab").write_text("nonsense")
    (tmp_path / "pods" / "one.fab").unlink()
    before = sorted(p for p in tmp_path.rglob("*") if ".git" not in p.parts)

    def status(*args: str) -> int:
        done = tdsl("check", *args)
        assert ".tdsl-revision" not in done.output, done.output
        return done.exit_code

    assert status("main:pods/one.fab") == 0 and status("branch:pods/one.fab") == 1
    assert status("--untrusted", "main:pods/one.fab") == 0
    found = json.loads(tdsl("check", "main:pods/one.fab", "--output-format", "json").stdout)
    assert [d["file"] for d in found["designs"]] == ["main:pods/one.fab"]
    for report in ("full", "concise", "json", "sarif", "github", "junit"):
        told = tdsl("check", "branch:pods/one.fab", "--output-format", report)
        assert ".tdsl-revision" not in told.output and told.exit_code == 1
    assert tdsl("show", "main:pods/one.fab", "devices").exit_code == 0
    monkeypatch.chdir(tmp_path / "pods")
    assert status("main:one.fab") == 0 and status("main:pods/one.fab") == 0
    assert sorted(p for p in tmp_path.rglob("*") if ".git" not in p.parts) == before
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = tdsl("check", "--untrusted", "main:../pods/one.fab")
    assert done.exit_code == 2 and "there is no such file in this revision" in done.stderr
    for wrong in ("nowhere:x.fab", "main:absent.fab", "--output=x:pods/one.fab"):
        assert tdsl("check", "--", wrong).exit_code == 2
    for option in ("--fix", "--diff"):
        assert "takes files" in tdsl("check", option, "main:../pods/one.fab").stderr


def test_a_renamed_file_is_named() -> None:
    changed(one=None, uno=ONE)
    done = tdsl("diff", "main", "pods/uno.fab")
    assert done.exit_code == 2 and "it may be main:pods/one.fab, renamed since" in done.stderr
    assert tdsl("diff", "main:pods/one.fab", "pods/uno.fab", "--detailed-exitcode", "--no-checks").exit_code == 0


def test_tables_beside_a_design_are_of_its_revision() -> None:
    """Proofs and the second opinion read them there; what the working tree has instead is a difference."""
    table = Path("pods/m.csv")
    table.write_text("from,to,amount\nnode[0],node[1],1\n")
    changed(one=ONE.replace("diameter <= 2", 'throughput "m.csv" >= 100%'))
    call = ("check", "branch:pods/one.fab", "--output-format", "json")
    table.unlink()
    for done in (tdsl(*call), tdsl(*call, "--second-opinion"), tdsl("check", "branch:pods/one.fab")):
        assert done.exit_code == 0 and "main" not in done.output, done.output
    table.write_text("from,to,amount\nnode[0],node[1],2\n")
    done = tdsl("diff", "branch", "pods/one.fab", "--output-format", "json", "--detailed-exitcode")
    assert done.exit_code == 3, done.output
    assert [(c["part"], c["change"], c["what"]) for c in json.loads(done.stdout)["fabrics"][0]["contract"]] == [
        ("file", "changed", "m.csv")
    ]  # fmt: skip


def test_a_deleted_design_that_never_compiled() -> None:
    git("checkout", "-q", "main")
    changed(bad="fabric bad {\n  switch x: NONE\n}\n")
    git("checkout", "-q", "-B", "branch")
    changed(bad=None)
    found = compared()
    assert found["contract"] == {"pods/bad.fab": [("design", "removed")]} and found["judged"] == found["of"] == 3


def test_the_name_of_a_cluster_of_a_revision() -> None:
    """Nothing that is printed names the folder that stands for the revision."""
    cluster = "use models (S, H)\ncluster k {\n  host node[2]: H\n  fabric f { switch s: S; connect node[n].nic to s }\n"
    changed(one=cluster + "  require links of node == 2\n}\n")
    for output_format in ("full", "json", "junit", "sarif"):
        said = tdsl("check", "branch:pods/one.fab", "--output-format", output_format)
        assert said.exit_code == 1 and ".tdsl-revision" not in said.output and "pods/one.fab" in said.output
