"""Measures tdsl: ``make bench``. Timings are printed here and asserted nowhere.

A claim about speed is a ratio against a peer that anybody can run, both measured by turns in this one run.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import elaboration
import failures
import memory
import processes
import proofs


def main() -> None:
    """Run the benchmarks and print a table of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often each process is started (default 7)")
    parser.add_argument("only", nargs="*", help="startup, imports, memory, elaboration, proofs, failures; all if none is named")
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}\n")
    tables = {"startup": lambda: processes.startup(given.rounds), "imports": processes.imports, "memory": memory.memory}
    tables |= {"elaboration": elaboration.elaboration, "proofs": proofs.proofs, "failures": failures.failures}
    for name, table in tables.items():
        if not given.only or name in given.only:
            print("\n".join(table()) + "\n")


if __name__ == "__main__":
    main()
