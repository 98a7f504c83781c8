"""The output folder: exchanged whole, never another's, and the same bytes for the same design."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tdsl.output.write import Difference, compare_output_folder
from tests.safety.built import put, tree
from tests.safety.outputs import files

ROOT = Path(__file__).parents[2]


def test_what_is_no_longer_made_disappears_and_what_is_anothers_stays(tmp_path: Path) -> None:
    """Also beside the folder; an output that is as it should be is not touched."""
    out = tmp_path / "deep" / "out"
    assert put(files(a="1", old__b="2"), out) == []
    assert tree(out) == files(a="1", old__b="2") and [p.name for p in out.parent.iterdir()] == ["out"]
    before = (out / "a").stat()
    assert put(files(a="1", old__b="2"), out) == [] and (out / "a").stat() == before
    (out / "notes.txt").write_text("mine")
    (out / "old" / "mine.txt").write_text("too")
    (out / "empty").mkdir()
    (out / "link").symlink_to("notes.txt")
    inode = (out / "notes.txt").stat().st_ino
    assert put(files(a="3", c="4"), out) == []
    assert not (out / "old" / "b").exists()
    assert (out / "old" / "mine.txt").read_text() == "too" and (out / "empty").is_dir()
    assert (out / "notes.txt").stat().st_ino == inode and os.readlink(out / "link") == "notes.txt"
    assert (out / "a").read_text() == "3" and (out / "c").read_text() == "4"


@pytest.mark.parametrize(
    "manifest", [None, "{}", "not json", '{"schema": 1, "files": {}}', '{"schema": 1, "tdsl": "0", "files": []}']
)
def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, manifest: str | None) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("years")
    if manifest is not None:
        (out / "manifest.json").write_text(manifest)
    before = tree(out)
    assert put(files(a="1"), out) == ["E0508"]
    assert tree(out) == before


def test_an_empty_folder_or_link_is_used_and_a_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o750)
    assert put(files(a="1"), tmp_path / "out") == []
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750
    (tmp_path / "file").write_text("x")
    assert put(files(a="1"), tmp_path / "file") == ["E0508"]
    assert (tmp_path / "file").read_text() == "x"
    assert put(files(a="1"), tmp_path / "file" / "out") == ["E0509"]
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert put(files(a="1"), tmp_path / "link") == []
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "a").read_text() == "1"


@pytest.mark.parametrize("mine", ["c", "c/d/e"])
def test_somebodys_file_is_never_overwritten(tmp_path: Path, mine: str) -> None:
    out = tmp_path / "out"
    put(files(a="1"), out)
    (out / mine).parent.mkdir(parents=True, exist_ok=True)
    (out / mine).write_text("mine")
    assert put(files(a="1", c="2") if mine == "c" else files(a="1", c__d="2"), out) == ["E0508"]
    assert (out / mine).read_text() == "mine" and (out / "a").read_text() == "1"


def test_a_manifest_cannot_reach_out_of_the_folder(tmp_path: Path) -> None:
    """A folder with such a manifest is none of tdsl's."""
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "precious").write_text("x")
    evil = {"schema": 1, "tdsl": "0", "files": {"../precious": {}, str(tmp_path / "precious"): {}}}
    (out / "manifest.json").write_text(json.dumps(evil))
    assert put(files(a="1"), out) == ["E0508"]
    assert (tmp_path / "precious").read_text() == "x" and [p.name for p in out.iterdir()] == ["manifest.json"]


def test_without_an_exchange_of_folders_two_renames_do(tmp_path: Path) -> None:
    put(files(a="1"), tmp_path / "out")
    with pytest.MonkeyPatch.context() as system:
        system.setattr(ctypes, "CDLL", lambda *_, **__: None)  # as where the C library has no renameat2
        assert put(files(a="2"), tmp_path / "out") == []
    assert tree(tmp_path / "out") == files(a="2")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_run_killed_between_two_renames_is_mended(tmp_path: Path) -> None:
    gone = "0123456789ab"
    put(files(a="1"), tmp_path / "out")
    (tmp_path / "out" / "notes").write_text("mine")
    (tmp_path / "out").rename(tmp_path / f".out.tdsl-old-{gone}")
    (tmp_path / f".out.tdsl-new-{gone}").mkdir()
    assert put(files(a="2"), tmp_path / "out") == []
    assert (tmp_path / "out" / "notes").read_text() == "mine" and (tmp_path / "out" / "a").read_text() == "2"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_kill_at_any_moment_leaves_one_whole_output(tmp_path: Path) -> None:
    """Children write outputs in turns for ever and are killed at 40 random moments of their work."""
    out = tmp_path / "out"
    script = textwrap.dedent("""
        import os, random, signal, sys, time
        from pathlib import Path
        from tdsl.findings.diagnostic import Diagnostics
        from tdsl.output.write import write_output_folder
        from tests.output.test_write import output, tree
        out, chance, seen = Path(sys.argv[1]), random.Random(7), set()
        for turn in range(40):
            heard, tell = os.pipe()
            child = os.fork()
            if child == 0:
                for n in range(turn * 10_000, 1 << 60):
                    write_output_folder(output(n), out, Diagnostics()) or os._exit(1)
                    os.write(tell, b".")
            os.read(heard, 1)
            time.sleep(0.05 * chance.random())
            os.kill(child, signal.SIGKILL)
            assert os.waitpid(child, 0)[1] == signal.SIGKILL
            found = tree(out)
            assert found == output(int(found["f0"])), turn
            seen.add(len(list(out.parent.iterdir())))
        print(max(seen))
    """)
    done = subprocess.run([sys.executable, "-c", script, str(out)], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 1  # at least one fell into the middle of a write
    assert put(output(0), out) == []
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def output(n: int) -> dict[str, bytes]:
    """Many files that all tell the same number."""
    return files(**{f"f{i}": str(n) for i in range(60)})


def test_compare_tells_missing_differing_and_extra(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert [d.kind for d in compare_output_folder(files(a="1"), out)] == ["missing", "missing"]
    put(files(a="1", b="2", c="3"), out)
    (out / "notes").write_text("mine")
    assert compare_output_folder(files(a="1", b="2", c="3"), out) == []
    (out / "a").unlink()
    (out / "b").write_text("X")
    wanted = files(a="1", b="2")
    found = compare_output_folder({**wanted, "manifest.json": (out / "manifest.json").read_bytes()}, out)
    assert found == [Difference("a", "missing"), Difference("b", "differs"), Difference("c", "extra")]
