"""``--watch``, as a process that somebody saves files beside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

from tests.cli.run import SMALL, tdsl, write

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def watching(folder: Path, *args: str) -> Iterator[tuple[subprocess.Popen[str], Queue[str]]]:
    """A running ``tdsl``, and the lines that it prints to either stream."""
    call = [sys.executable, "-m", "tdsl", *args, "--watch"]
    process = subprocess.Popen(
        call, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    lines: Queue[str] = Queue()
    assert process.stdout is not None
    stream = process.stdout
    threading.Thread(target=lambda: [lines.put(line) for line in stream], daemon=True).start()
    try:
        yield process, lines
    finally:
        process.kill()
        process.wait()


def ended(process: subprocess.Popen[str]) -> None:
    """Ctrl-C ends it."""
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130


def until(lines: Queue[str], words: str) -> str:
    """What is printed up to a line that has these words."""
    text = ""
    while words not in text:
        text += lines.get(timeout=60)
    return text


def test_check_runs_again_when_the_design_is_saved(tmp_path: Path) -> None:
    path = write(tmp_path)
    with watching(tmp_path, "check", "small.fab", "--output-format", "concise") as (process, lines):
        assert "error" not in until(lines, "watching; Ctrl-C ends it")
        (tmp_path / "notes.txt").write_text("of no interest\n")
        path.write_text(SMALL.replace("<= 1:1", "<= 1:9"))
        text = until(lines, "watching")
        assert "small.fab changed" in text and "error[E0405]" in text and "notes" not in text
        path.unlink()
        assert "there is no file small.fab" in until(lines, "watching")
        write(tmp_path)
        assert "error" not in until(lines, "watching")
        ended(process)


def test_build_does_not_wake_itself(tmp_path: Path) -> None:
    write(tmp_path)
    with watching(tmp_path, "build", "small.fab", "--target", "cabling") as (process, lines):
        until(lines, "watching")
        cables = tmp_path / "out" / "cabling" / "cables.csv"
        before = cables.read_text().count("\n")
        write(tmp_path, SMALL.replace("nodes: int = 4", "nodes: int = 5"))
        assert "small.fab changed" in until(lines, "watching")
        assert cables.read_text().count("\n") == before + 8
        time.sleep(1)
        ended(process)
        assert "changed" not in "".join(lines.queue)


def test_an_audit_runs_again_when_a_capture_is_saved(tmp_path: Path) -> None:
    write(tmp_path)
    whole = tdsl("show", tmp_path / "small.fab", "links", "--format", "csv").stdout
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "a.txt").write_text(whole)
    args = ("audit", "small.fab", "--p2p", "captures", "--no-requirements", "--prometheus", "tdsl.csv")
    with watching(tmp_path, *args) as (process, lines):
        assert "no faults" in until(lines, "watching; Ctrl-C ends it")
        (tmp_path / "captures" / "a.txt").write_text("".join(whole.splitlines(keepends=True)[:-1]))
        text = until(lines, "watching")
        assert "a.txt changed" in text and "cable_missing" in text and "tdsl.csv" not in text, text
        ended(process)
