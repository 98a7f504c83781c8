"""The common form of all benchmarks: peers by turns, each run a process of its own, processor and wall time,
a record each.

A part is a module with ``records(rounds, quick)``, which gives records (dictionaries that JSON can hold)::

    {"part": "elaboration", "case": "gpu131k", "peer": "igraph", "unit": "links", "n": 2097152, "rounds": 5,
     "cpu_s": 0.45, "cpu_least": 0.44, "cpu_q1": 0.45, "cpu_q3": 0.46, "cpu_most": 0.47,
     "wall_s": 0.46, "wall_least": 0.45, "wall_most": 0.49, "peak_mb": 812.0}

``cpu_s`` and ``wall_s`` are medians, ``cpu_q1`` and ``cpu_q3`` the quartiles, ``n`` is how many ``unit`` were
worked on, ``peak_mb`` (10^6 bytes) is the peak of the whole process. tdsl is the peer "tdsl". A peer that is
not installed has ``"skipped": "No module named 'igraph'"`` instead of figures. With ``quick`` a part takes
designs of which a run lasts less than a second. `python benchmarks/run.py` finds the parts in ``run.PARTS``,
prints them and writes JSON, plots and the tables of docs/performance.md.

Usually a part calls `by_turns` with a command line a peer. What a command prints decides what is counted: a
last line that is a JSON object with ``cpu_s`` and ``wall_s`` (from `inside`) counts; otherwise the whole
process does, its start included::

    def records(rounds: int, quick: bool = False) -> list[Record]:
        peers = {who: (sys.executable, __file__, who) for who in ("tdsl", "scipy")}
        return by_turns("graphs", "components", peers, rounds, unit="links")

    if __name__ == "__main__":
        print(json.dumps(inside(work_of(sys.argv[1]), n=links)))  # what is imported before is not counted
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).parent.parent
Record = dict[str, Any]
FRESH = {"TDSL_CHECK_NO_CACHE": "1"}
"""With this `check` takes no answer of an earlier call; a release that does not know it keeps none."""
MISSING = re.compile(r"(No module named '[^']+'|skipped: .+)")
MEGA = 1e6


def inside(work: Callable[[], object], n: int | None = None, repeat: int = 1) -> Record:
    """Processor and wall seconds of ``work`` in this process (user and system), mean of ``repeat`` calls, and
    the peak of it."""
    before, begin = time.process_time(), time.perf_counter()
    for _ in range(repeat):
        made = work()
    cpu, wall = time.process_time() - before, time.perf_counter() - begin
    found = n if n is not None else made if isinstance(made, int) else None
    return {"cpu_s": cpu / repeat, "wall_s": wall / repeat, "peak_mb": peak_mb(), "n": found}


def peak_mb() -> float:
    """The largest resident memory of this process so far, in 10^6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGA


def one(
    command: Sequence[str], timeout_s: float = 600, folder: Path = ROOT, env: Mapping[str, str] | None = None
) -> Record:
    """One run of a command: its figures, or ``skipped`` with the reason."""
    search = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, **FRESH, "PYTHONPATH": os.pathsep.join(search), **(env or {})}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=err, env=env, cwd=folder)
        while True:  # wait4 gives what this child alone took
            pid, status, used = os.wait4(child.pid, os.WNOHANG if timeout_s else 0)
            if pid:
                break
            if time.perf_counter() - begin > timeout_s:
                child.kill()
                os.wait4(child.pid, 0)
                return {"skipped": f"more than {timeout_s:g} s"}
            time.sleep(0.002)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        printed, complaint = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    own = _last(printed)
    if own is not None and "skipped" in own:
        return own
    if child.returncode not in (0, 1):
        return {"skipped": _why(complaint) or f"exit status {child.returncode}"}
    if child.returncode == 1 and own is None and "Traceback" in complaint:
        return {"skipped": _why(complaint) or complaint.strip().splitlines()[-1]}
    whole = {"cpu_s": used.ru_utime + used.ru_stime, "wall_s": wall, "peak_mb": used.ru_maxrss * 1024 / MEGA}
    return whole if own is None else {**whole, **own}


def _last(printed: str) -> Record | None:
    """The JSON object with figures that a run has printed last."""
    lines = printed.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and ("cpu_s" in found or "skipped" in found) else None


def _why(complaint: str) -> str:
    """Why a peer could not run, from its stderr."""
    found = MISSING.findall(complaint)
    return str(found[-1]) if found else complaint.strip().splitlines()[-1][:120] if complaint.strip() else ""


def by_turns(
    part: str, case: str, peers: Mapping[str, Sequence[str]], rounds: int = 5, unit: str = "",
    n: int | None = None,
    folder: Path = ROOT, env: Mapping[str, str] | None = None,
) -> list[Record]:  # fmt: skip
    """A record a peer: each command is run once a round, in turn, so that what else the machine does falls on
    all alike. They run in ``folder``, with the variables ``env``; a command may be ``(sys.executable,
    __file__, …)`` of the part itself."""
    runs: dict[str, list[Record]] = {who: [] for who in peers}
    skipped: dict[str, str] = {}
    for _ in range(rounds):
        for who, command in peers.items():
            if who not in skipped:
                got = one(command, folder=folder, env=env)
                if "skipped" in got:
                    skipped[who] = got["skipped"]
                    print(f"{part}, {case}: {who} is skipped: {got['skipped']}", file=sys.stderr)
                else:
                    runs[who].append(got)
    base = {"part": part, "case": case}
    out = []
    for who, found in runs.items():
        if who in skipped:
            out.append({**base, "peer": who, "skipped": skipped[who]})
            continue
        out.append({**base, "peer": who, **summary(found, unit, n)})
    return out


def summary(found: Sequence[Record], unit: str = "", n: int | None = None) -> Record:
    """Medians and spread of runs of one command. What a run printed beside the figures (a result to compare)
    stays."""
    cpu, wall = ([r[k] for r in found] for k in ("cpu_s", "wall_s"))
    low, _, high = quantiles(cpu, n=4, method="inclusive") if len(cpu) > 1 else cpu * 3
    extra = {k: v for k, v in found[-1].items() if k not in ("cpu_s", "wall_s", "peak_mb", "n")}
    return {"unit": unit, "n": n if n is not None else found[-1].get("n"), "rounds": len(found),
            "cpu_s": median(cpu), "cpu_least": min(cpu), "cpu_q1": low, "cpu_q3": high, "cpu_most": max(cpu),
            "wall_s": median(wall), "wall_least": min(wall), "wall_most": max(wall),
            "peak_mb": max(r["peak_mb"] for r in found), **extra}  # fmt: skip
