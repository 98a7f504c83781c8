"""How the time of elaboration and of the cabling plan grows from 1,000 to 1,000,000 endpoints.

    benchmarks/exponent.py [LARGEST] [ROUNDS]

The fabric is one of units of 32 hosts with eight adapters, eight leaves and four spines, so that endpoints, links and cables grow
together. Each size is a process of its own; the processor time of its second compilation counts, as in `elaboration.py`, and the
least of the rounds. The exponent is the slope of a line through the logarithms, by least squares: over all sizes, and over those
of 16,000 endpoints and more, in which what is spent once does not show. `build` is elaboration and the
lists of the `cabling` target, without workbooks and sheets of labels.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

UNIT = 256
"""Endpoints of a unit."""
LARGE = 16_000


def measured(endpoints: int) -> dict[str, float]:
    """Processor seconds of both, and megabytes at the most, of a fabric of this size."""
    from memory import CLOS

    from tdsl import compiler
    from tdsl.diagnostic import Diagnostics
    from tdsl.emit.build import BuildOptions, contents
    from tdsl.emit.spool import Spool

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clos.fab"
        path.write_text(CLOS.format(units=endpoints // UNIT))
        compiler.elaborate(str(path))
        begin = time.process_time()
        fabric = compiler.elaborate(str(path)).designs[0].fabric
        elaborated = time.process_time() - begin
        assert fabric is not None and fabric.complete
        options = BuildOptions(settings={"cabling": {"workbook_rows": 1, "sheet_labels": 1}}, spool=Spool(Path(folder)))
        begin = time.process_time()
        files = contents(fabric, ("cabling",), Diagnostics(), options)
        built = time.process_time() - begin + elaborated
    return {
        "endpoints": endpoints, "links": fabric.link_count, "elaborate": elaborated, "build": built,
        "bytes": sum(map(len, files.values())), "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def slope(found: list[dict[str, float]], what: str) -> float:
    """The exponent with which a time grows with the endpoints."""
    return float(np.polyfit(np.log([f["endpoints"] for f in found]), np.log([f[what] for f in found]), 1)[0])


def main() -> None:
    """Print every size, and the exponents."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(int(sys.argv[2]))))
        return
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 20
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    sizes = [n for n in (1 << k for k in range(10, 24, 2)) if n <= largest]
    best: dict[int, dict[str, float]] = {}
    for _ in range(rounds):
        for size in sizes:
            done = subprocess.run([sys.executable, __file__, "--one", str(size)], capture_output=True, text=True, check=True)
            one = json.loads(done.stdout)
            best[size] = {k: min(v, best[size][k]) if size in best else v for k, v in one.items()}
    found = list(best.values())
    print("| endpoints | links | elaborate | build | bytes | peak |\n|---|---|---|---|---|---|")
    for f in found:
        print(f"| {f['endpoints']:,} | {f['links']:,} | {f['elaborate']:.3f} s | {f['build']:.2f} s | "
              f"{f['bytes'] / 1e6:,.1f} MB | {f['peak_mb']:,.0f} MB |")  # fmt: skip
    large = [f for f in found if f["endpoints"] >= LARGE]
    for what in ("elaborate", "build"):
        print(f"{what}: exponent {slope(found, what):.2f}; from {LARGE:,} endpoints on {slope(large, what):.2f}")


if __name__ == "__main__":
    main()
