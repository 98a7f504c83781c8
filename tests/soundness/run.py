"""Runs many designs and certificates against the judges: ``python -m tests.soundness.run N [SEED]``.

Half of the work are random designs whose figures are judged from fabric.json, the other half designs of the families, judged from
what their generator recorded. Every disagreement is made small and written under ``--out``. The exit status is 1 if there is any.
The seed is printed; ``--only SEED`` runs the one design of that seed, with ``--family NAME`` that of a family.
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

from tests.soundness.arena import Disagreement, Tally, report, shrunk
from tests.soundness.registry import FAMILIES, family_of_seed, judged_seed
from tests.soundness.relations import judged_and_related
from tests.soundness.verdicts import Compared, Difference

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
            one = judged_and_related(seed, Path(name), mutants, second=True)
            for i, found in enumerate(one.found):
                seen[found.key] += 1
                if seen[found.key] <= small:
                    one.found[i] = shrunk(found, Path(name))
            tally.add(one)
    return tally


def batch_of_families(family: str, first: int, count: int, small: int, until: float) -> Compared:
    """Judge designs of a family, or of all in turn (""); of each kind of difference the first ``small`` are made small."""
    out = Compared()
    seen: Counter[tuple[str, str, str]] = Counter()
    for seed in range(first, first + count):
        if time.time() > until:
            break
        name = family or family_of_seed(seed)
        one = judged_seed(name, seed, shrink=False)
        if any(seen[d.key] < small for d in one.found):
            one = judged_seed(name, seed)
        seen.update(d.key for d in one.found)
        out.add(one)
    return out


def summary(tally: Tally) -> str:
    """What was compared, in lines."""
    lines = [
        f"{tally.designs} designs ({tally.refused} refused), {tally.figures} figures, {tally.relations} relations, "
        f"{tally.mutations} mutations"
    ]
    lines += [f"  {n:7} {word}" for word, n in tally.verdicts.most_common()]
    lines += [f"  {n:7} {word}" for word, n in tally.unanswered.most_common(25)]
    return "\n".join([*lines, f"{len(tally.found)} disagreements"])


def summary_of_families(compared: Compared) -> str:
    """What was compared in the families, in lines."""
    lines = [f"families: {compared.designs} designs and captures ({compared.refused} refused), {compared.figures} answers"]
    lines += [f"  {n:7} {word}" for word, n in compared.verdicts.most_common()]
    return "\n".join([*lines, f"{len(compared.found)} differences"])


def write(found: Disagreement, out: Path) -> Path:
    """Write the file that shows a disagreement."""
    return written_case((*found.key, str(found.draft.seed)), report(found), out)


def written_case(words: tuple[str, ...], text: str, out: Path) -> Path:
    """A file under ``out`` that is named after what it shows."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / (re.sub(r"\W+", "_", " ".join(words)).strip("_") + ".fab")
    path.write_text(text, encoding="utf-8")
    return path


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("designs", type=int, nargs="?", default=1000)
    parser.add_argument("seed", type=int, nargs="?", default=None, help="the first seed; today's date where it is left out")
    parser.add_argument("--only", type=int, help="the one design of this seed")
    parser.add_argument("--family", choices=["figures", *FAMILIES], help="designs of this family alone")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/soundness"))
    parser.add_argument("--each", type=int, default=2, help="disagreements of a kind that are written")
    parser.add_argument("--mutants", type=int, default=5, help="mutations of each certificate")
    parser.add_argument("--seconds", type=float, default=0, help="begin no design after so long")
    asked = parser.parse_args()
    seed = int(time.strftime("%Y%m%d")) * 1_000_000 if asked.seed is None else asked.seed
    first, count = (asked.only, 1) if asked.only is not None else (seed, asked.designs)
    print(f"seeds {first} to {first + count - 1}", flush=True)
    until = time.time() + asked.seconds if asked.seconds else float("inf")
    starts = [(s, min(BATCH, first + count - s)) for s in range(first, first + count, BATCH)]
    tally, compared = Tally(), Compared()
    counted: Counter[tuple[str, ...]] = Counter()
    with ProcessPoolExecutor(asked.workers) as pool:
        calls = (
            []
            if asked.family not in (None, "figures")
            else [pool.submit(batch, at, n, asked.each, asked.mutants, until) for at, n in starts]
        )
        families = (
            []
            if asked.family == "figures" or (asked.only is not None and not asked.family)
            else [pool.submit(batch_of_families, asked.family or "", at, n, asked.each, until) for at, n in starts]
        )
        for call in calls:
            one = call.result()
            tally.add(one)
            show_progress(tally.designs, len(tally.found))
            for found in one.found:
                counted[found.key] += 1
                if counted[found.key] <= asked.each:
                    print(f"{found.kind}: {write(found, asked.out)}", flush=True)
        for other in families:
            some = other.result()
            compared.add(some)
            show_progress(compared.designs, len(compared.found))
            for differing in some.found:
                show_difference(differing, counted, asked.each, asked.out)
    if calls:
        print(summary(tally))
    if families:
        print(summary_of_families(compared))
    for key, number in counted.most_common():
        print(f"  {number:7} {' '.join(key)}")
    return 1 if tally.found or compared.found else 0


def show_progress(designs: int, found: int) -> None:
    """Say on stderr how far the run is: it takes hours, and whoever ends it has its count so far."""
    print(f"{designs} designs judged, {found} differences", file=sys.stderr, flush=True)


def show_difference(found: Difference, counted: Counter[tuple[str, ...]], each: int, out: Path) -> None:
    """Count a difference, and write and print it if it is among the first ``each`` of its kind."""
    counted[found.key] += 1
    if counted[found.key] <= each:
        path = written_case((*found.key, str(found.seed)), found.report(), out)
        print(f"{found.kind}: {path}\n  {found.requirement}\n  tdsl: {found.said}\n  judge: {found.judged}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
