"""``tdsl build``: what it writes, when it does not, and what it says."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from tests.cli.run import SMALL, tdsl, write

FAILING = SMALL.replace("<= 1:1", "<= 1:9")


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_every_target_is_built_and_twice_the_same(here: Path) -> None:
    done = tdsl("build", write(here), "--out", "out")
    found = contents(here / "out")
    assert done.exit_code == 0 and {"manifest.json", "fabric.json", "cabling/cables.csv", "diagram/fabric.svg"} <= set(found)
    assert done.stdout.startswith(f"out/  {len(found)} files") and "cables.csv" in done.stdout
    assert "proved    oversubscription <= 1:1" in done.stderr
    listed = {path: entry["sha256"] for path, entry in json.loads(found["manifest.json"])["files"].items()}
    assert listed == {path: sha256(data).hexdigest() for path, data in found.items() if path != "manifest.json"}
    assert tdsl("build", here / "small.fab", "--out", "two").exit_code == 0 and contents(here / "two") == found


def test_a_check_that_is_left_out_keeps_no_files_back(here: Path) -> None:
    """A requirement that fails by it is not judged, and the last line says so; the files are those of the design."""
    path = write(here, FAILING)
    assert tdsl("build", path).exit_code == 1 and not (here / "out").exists()
    done = tdsl("build", path, "--ignore", "oversubscription")
    assert done.exit_code == 0 and "not judged, as --ignore says: oversubscription" in done.stderr
    left_out = contents(here / "out")
    assert tdsl("build", path, "--force", "--out", "forced").exit_code == 1
    assert (
        left_out.keys() == contents(here / "forced").keys()
        and left_out["fabric.json"] == contents(here / "forced")["fabric.json"]
    )
    assert tdsl("build", path, "--ignore", "oversubscribed").exit_code == 2


def test_targets_that_are_named(here: Path) -> None:
    """One of those there are, one of a folder of one's own, and one that there is not: a wrong call."""
    made = here / "mine" / "targets" / "count"
    (made / "templates").mkdir(parents=True)
    (made / "templates" / "count.txt.j2").write_text("{{ fabric.name }}\n")
    file = 'path = "count/count.txt"\ntemplate = "count.txt.j2"\n'
    (made / "target.toml").write_text(f'title = "A count"\nconsumer = "tests"\n[[file]]\n{file}')
    write(here)
    assert tdsl("build", "small.fab", "--target", "cabling").exit_code == 0
    assert {p.split("/")[0] for p in contents(here / "out")} == {"cabling", "manifest.json"}
    done = tdsl("build", "small.fab", "--path", "mine", "--target", "count")
    assert done.exit_code == 0 and (here / "out" / "count" / "count.txt").read_text() == "small\n", done.output
    assert tdsl("build", "small.fab", "--out", "none", "--target", "cablign").exit_code == 2 and not (here / "none").exists()


def test_what_is_written_where_there_is_an_error(here: Path) -> None:
    """Nothing; with ``--force`` what can be, with status 1."""
    write(here, FAILING)
    done = tdsl("build", "small.fab")
    assert (done.exit_code, done.stdout) == (1, "") and not (here / "out").exists()
    assert "error[E0405]" in done.stderr and "nothing is written" in done.stderr
    assert tdsl("build", "small.fab", "--force").exit_code == 1 and (here / "out" / "cabling" / "cables.csv").is_file()
    done = tdsl("build", write(here, "fabric f {"), "--out", "none", "--force")
    assert done.exit_code == 1 and "nothing is written" in done.stderr and not (here / "none").exists()


def test_check_compares(here: Path) -> None:
    write(here)
    few = ("build", "small.fab", "--target", "cabling")
    done = tdsl(*few, "--check")
    assert done.exit_code == 1 and "missing  out/manifest.json" in done.stdout and not (here / "out").exists()
    tdsl(*few)
    done = tdsl(*few, "--check")
    assert done.exit_code == 0 and "holds what would be built" in done.stdout
    (here / "out" / "cabling" / "cables.csv").write_text("mine\n")
    done = tdsl(*few, "--check")
    assert (done.exit_code, done.stdout) == (1, "differs  out/cabling/cables.csv\n")
