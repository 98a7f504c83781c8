"""``tdsl build``: what it writes, when it does not, and what it says."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from tests.cli.run import SMALL, tdsl, write

FAILING = SMALL.replace("<= 1:1", "<= 1:9")


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_every_target_is_built(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tdsl("build", write(tmp_path), "--out", out)
    assert done.exit_code == 0, done.output
    found = contents(out)
    assert {"manifest.json", "fabric.json", "cabling/cables.csv", "diagram/fabric.svg"} <= set(found)
    assert done.stdout.startswith(f"{out}/  {len(found)} files")
    assert "cables.csv" in done.stdout
    assert "proved    oversubscription <= 1:1" in done.stderr
    listed = json.loads(found["manifest.json"])["files"]
    assert {path: entry["sha256"] for path, entry in listed.items()} == {
        path: sha256(data).hexdigest() for path, data in found.items() if path != "manifest.json"
    }


def test_two_builds_are_the_same(tmp_path: Path) -> None:
    path = write(tmp_path)
    for name in ("one", "two"):
        assert tdsl("build", path, "--out", tmp_path / name).exit_code == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_one_target_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert tdsl("build", write(tmp_path), "--out", out, "--target", "cabling").exit_code == 0
    assert {p.split("/")[0] for p in contents(out)} == {"cabling", "manifest.json"}


def test_an_unknown_target_is_a_wrong_call(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tdsl("build", write(tmp_path), "--out", out, "--target", "cablign")
    assert done.exit_code == 2
    assert "did you mean 'cabling'?" in done.stderr
    assert not out.exists()


def test_nothing_is_written_where_there_is_an_error(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tdsl("build", write(tmp_path, FAILING), "--out", out)
    assert done.exit_code == 1
    assert not out.exists()
    assert done.stdout == ""
    assert "error[E0405]" in done.stderr
    assert "nothing is written" in done.stderr


def test_force_writes_and_still_fails(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tdsl("build", write(tmp_path, FAILING), "--out", out, "--force")
    assert done.exit_code == 1
    assert (out / "cabling" / "cables.csv").is_file()


def test_force_has_nothing_to_write_of_a_text_with_syntax_errors(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tdsl("build", write(tmp_path, "fabric f {"), "--out", out, "--force")
    assert done.exit_code == 1
    assert not out.exists()
    assert "nothing is written" in done.stderr


def test_check_compares(tmp_path: Path) -> None:
    out, path = tmp_path / "out", write(tmp_path)
    done = tdsl("build", path, "--out", out, "--check")
    assert done.exit_code == 1
    assert f"missing  {out}/manifest.json" in done.stdout
    assert not out.exists()
    tdsl("build", path, "--out", out)
    done = tdsl("build", path, "--out", out, "--check")
    assert done.exit_code == 0
    assert "holds what would be built" in done.stdout
    (out / "cabling" / "cables.csv").write_text("mine\n")
    done = tdsl("build", path, "--out", out, "--check")
    assert (done.exit_code, done.stdout) == (1, f"differs  {out}/cabling/cables.csv\n")


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "cabling").mkdir(parents=True)
    (out / "cabling" / "cables.csv").write_text("mine\n")
    done = tdsl("build", write(tmp_path), "--out", out)
    assert done.exit_code == 1
    assert (out / "cabling" / "cables.csv").read_text() == "mine\n"


def test_a_target_of_a_path_folder(tmp_path: Path) -> None:
    made = tmp_path / "mine" / "targets" / "count"
    (made / "templates").mkdir(parents=True)
    (made / "templates" / "count.txt.j2").write_text("{{ fabric.name }}\n")
    (made / "target.toml").write_text(
        'title = "A count"\nconsumer = "tests"\n[[file]]\npath = "count/count.txt"\ntemplate = "count.txt.j2"\n'
    )
    out = tmp_path / "out"
    done = tdsl("build", write(tmp_path), "--out", out, "--path", tmp_path / "mine", "--target", "count")
    assert done.exit_code == 0, done.output
    assert (out / "count" / "count.txt").read_text() == "small\n"


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    """A wrong call: one line, nothing compiled, and the file is left as it was."""
    design, there = write(tmp_path), tmp_path / "there"
    there.write_text("mine")
    for out in (there, there / "deeper"):
        done = tdsl("build", design, "--out", out)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == f"Error: --out {out}: {there} is a file, not a folder\n"
    assert there.read_text() == "mine"
