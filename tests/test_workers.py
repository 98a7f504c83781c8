"""Work given to several processes and to a cluster: the results of doing it one by one, whoever is ended on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tdsl.compile.compiler import Request
from tdsl.compile.sweep import sweep_parameters
from tdsl.system.workers import Workers, WorkersEnded
from tests.cli.run import tdsl, write
from tests.harness import sampled
from tests.process_work import always_ended, ended_once, refused, square
from tests.tables import sections

DESIGN, WAITING, FORKED, LARGE = sections(__file__).values()


class Eager(Workers):
    """Gives away what takes any time at all."""

    __slots__ = ()

    def worth(self, seconds: float) -> bool:
        return True


HERE = os.getpid()
ROOT = Path(__file__).parents[1]
WAYS = pytest.mark.parametrize("way", [Workers.results, Workers.results_of_copies])


@WAYS
def test_results_keep_their_order(way: Callable[..., Iterator[int]]) -> None:
    for jobs in (1, 2):
        assert list(way(Workers(jobs), square, range(9))) == [n * n for n in range(9)]
        assert list(way(Workers(jobs), square, [])) == []


@WAYS
def test_a_killed_process_loses_nothing(tmp_path: Path, way: Callable[..., Iterator[int]]) -> None:
    assert list(way(Workers(2), partial(ended_once, tmp_path), range(8))) == [n * n for n in range(8)]
    assert (tmp_path / "ended").exists()


def test_copies_have_what_is_in_memory() -> None:
    held = {n: [n] for n in range(4)}
    assert list(Workers(2).results_of_copies(lambda n: (*held[n], os.getpid() != HERE), range(4))) == [
        (n, True) for n in range(4)
    ]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are copies under Linux only")
@pytest.mark.parametrize("how", ["copies", "new"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_processes_end_with_the_first_one(number: signal.Signals, how: str, tmp_path: Path) -> None:
    """And what they hand over goes, but where it is killed: the next work removes that. After SIGTERM `check --all-params` left
    its processes and a folder, `build` a folder."""
    text = WAITING if how == "copies" else WAITING.replace("results_of_copies(work", "results(wait")
    text = f"from tests.process_work import wait\n{text}"
    line = [sys.executable, "-c", text]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(line, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        copies = [int(process.stdout.readline()) for _ in range(2)]
        left = os.listdir(tmp_path)
        assert len(left) == 1
        process.send_signal(number)
        assert process.wait(20) != 0
        assert process.stdout.read() == ""  # which ends once no copy has the pipe
    assert len(set(copies)) == 2
    assert os.listdir(tmp_path) == (left if number == signal.SIGKILL else [])
    if number == signal.SIGKILL:
        more = "from tdsl.system.workers import Workers\nprint(list(Workers(2).results_of_copies(abs, range(3))))"
        for age, stay in ((0, True), (100, False)):
            for name in os.listdir(tmp_path):
                os.utime(tmp_path / name, (time.time() - age,) * 2)
            done = subprocess.run([sys.executable, "-c", more], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
            assert (done.stdout, os.listdir(tmp_path)) == ("[0, 1, 2]\n", left if stay else []), done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are copies under Linux only")
def test_an_interruption_while_a_copy_is_made() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, ""), done.stderr
    assert "ignored" not in done.stderr


def test_processes_that_are_killed_again_and_again() -> None:
    with pytest.raises(WorkersEnded, match="ended 3 times"):
        list(Workers(2).results(always_ended, range(4)))


def test_what_the_work_raises_is_raised() -> None:
    found = Workers(2).results(refused, range(4))
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(found)


def told(design: Path, workers: Workers) -> Any:
    found = sweep_parameters(str(design), Request(), workers=workers)
    rows = [(v.what, v.status, v.answer, v.count) for verdicts in found.verdicts().values() for v in verdicts]
    findings = [(d.code, d.message, d.span and (d.span.start, d.span.end), d.notes) for d in found.findings]
    return [c.text for c in found.cases], rows, findings


def test_a_sweep_on_processes_is_the_sweep_on_one(tmp_path: Path) -> None:
    design = write(tmp_path, DESIGN)
    alone = told(design, Workers(1))
    assert len(alone[0]) == 12 and alone[2], alone
    assert told(design, Eager(2)) == alone


@pytest.mark.daily
def test_a_sweep_on_a_cluster_is_the_sweep_on_one(tmp_path: Path) -> None:
    """A scheduler and two workers on this machine, one of them killed while they work."""
    distributed = pytest.importorskip("distributed")
    design = write(tmp_path, DESIGN)
    alone = told(design, Workers(1))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = Workers(cluster=cluster.scheduler_address)
        assert told(design, there) == alone
        assert list(there.results(partial(ended_once, tmp_path), range(8))) == [n * n for n in range(8)]
        assert (tmp_path / "ended").exists()
        call = ("explore", design, "--vary", "units=1..3", "--x", "links", "--format", "json")
        done = tdsl(*call, "--cluster", cluster.scheduler_address)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(tdsl(*call).stdout)


def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(WorkersEnded, match="no scheduler"):
        list(Workers(cluster="tcp://127.0.0.1:9").results(square, [1, 2]))


def test_the_options(tmp_path: Path) -> None:
    design = write(tmp_path, DESIGN)
    one, two = (tdsl("check", design, "--all-params", "--jobs", n, "--output-format", "json") for n in (1, 2))
    assert one.exit_code == two.exit_code
    assert tdsl("check", design, "--cluster", "tcp://127.0.0.1:9").exit_code == 2
    assert "--cluster needs --all-params" in tdsl("check", design, "--cluster", "tcp://127.0.0.1:9").stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are copies under Linux only")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("after", sampled([1, 8], 2))
def test_processes_that_end_while_they_hand_over_much(number: signal.Signals, after: int, tmp_path: Path) -> None:
    """Ctrl-C for all of them ends the work, and leaves no file; one that is killed is replaced."""
    command = [sys.executable, "-c", LARGE]
    env = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, start_new_session=True) as process:
        assert process.stdout is not None
        for _ in range(after):
            last = int(process.stdout.readline())
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            os.kill(last, number)
        rest, _ = process.communicate(timeout=60)
    if number is signal.SIGINT:
        assert process.returncode == 130 and "done" not in rest
    else:
        assert process.returncode == 0 and rest.endswith("[] done\n")
    assert list(tmp_path.iterdir()) == []
