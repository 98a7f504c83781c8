"""Runs many designs and certificates against the judges: ``python -m tests.soundness.run N [SEED]``.

Every disagreement is made small and written as a .fab under ``--out``. The exit status is 1 if there is any. The seed is
printed, and ``--only SEED`` runs the one design of that seed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.soundness.arena import Disagreement, Tally, judged, report, shrunk
from tests.soundness.generate import draft
from tests.soundness.relations import related

BATCH = 25
"""Designs of one call of a worker."""


def batch(first: int, count: int, small: int, mutants: int, until: float) -> Tally:
    """Judge some designs, those that begin before the time ``until``; of each kind of disagreement the first ``small`` are made
    small."""
    tally = Tally()
    seen: Counter[tuple[str, str, str]] = Counter()
    with TemporaryDirectory() as name:
        for seed in range(first, first + count):
            if time.time() > until:
                break
            one = judged(draft(seed), Path(name), mutants, second=True)
            for i, found in enumerate(one.found):
                seen[found.key] += 1
                if seen[found.key] <= small:
                    one.found[i] = shrunk(found, Path(name))
            one.add(related(draft(seed), Path(name)))
            tally.add(one)
    return tally


def summary(tally: Tally) -> str:
    """What was compared, in lines."""
    lines = [
        f"{tally.designs} designs ({tally.refused} refused), {tally.figures} figures, {tally.relations} relations, "
        f"{tally.mutations} mutations"
    ]
    lines += [f"  {n:7} {word}" for word, n in tally.verdicts.most_common()]
    lines += [f"  {n:7} {word}" for word, n in tally.unanswered.most_common(25)]
    return "\n".join([*lines, f"{len(tally.found)} disagreements"])


def write(found: Disagreement, out: Path) -> Path:
    """Write the file that shows a disagreement."""
    out.mkdir(parents=True, exist_ok=True)
    words = re.sub(r"\W+", "_", " ".join((*found.key, str(found.draft.seed)))).strip("_")
    path = out / f"{words}.fab"
    path.write_text(report(found), encoding="utf-8")
    return path


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("designs", type=int, nargs="?", default=1000)
    parser.add_argument("seed", type=int, nargs="?", default=None, help="the first seed; today's date where it is left out")
    parser.add_argument("--only", type=int, help="the one design of this seed")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/soundness"))
    parser.add_argument("--each", type=int, default=2, help="disagreements of a kind that are written")
    parser.add_argument("--mutants", type=int, default=5, help="mutations of each certificate")
    parser.add_argument("--seconds", type=float, default=0, help="begin no design after so long")
    asked = parser.parse_args()
    seed = int(time.strftime("%Y%m%d")) * 1_000_000 if asked.seed is None else asked.seed
    first, count = (asked.only, 1) if asked.only is not None else (seed, asked.designs)
    print(f"seeds {first} to {first + count - 1}", flush=True)
    starts = range(first, first + count, BATCH)
    sizes = [min(BATCH, first + count - s) for s in starts]
    until = time.time() + asked.seconds if asked.seconds else float("inf")
    tally = Tally()
    written: Counter[tuple[str, str, str]] = Counter()
    with ProcessPoolExecutor(asked.workers) as pool:
        calls = [pool.submit(batch, at, n, asked.each, asked.mutants, until) for at, n in zip(starts, sizes, strict=True)]
        for call in calls:
            one = call.result()
            tally.add(one)
            for found in one.found:
                written[found.key] += 1
                if written[found.key] <= asked.each:
                    print(f"{found.kind}: {write(found, asked.out)}", flush=True)
    print(summary(tally))
    for key, number in written.most_common():
        print(f"  {number:7} {' '.join(key)}")
    return 1 if tally.found else 0


if __name__ == "__main__":
    sys.exit(main())
