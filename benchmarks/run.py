"""Measures tdsl beside its peers: ``make bench``. Timings are recorded here and asserted nowhere.

A claim about speed is a ratio against a peer that anybody can run, both measured by turns in this one run.
What is found is recorded in benchmarks/results.json; tables, plots and ratios go from there into
docs/performance.md and README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(
    0, str(Path(__file__).parent.parent)
)  # the tdsl of this checkout, wherever else one is installed
sys.path.insert(0, str(Path(__file__).parent))

import report
from measure import ROOT

PARTS = {
    "startup": "processes", "elaboration": "elaboration", "exponent": "exponent", "memory": "memory",
    "graphs": "graphs", "failures": "failures", "throughput": "throughput", "cabling": "cabling",
    "configurations": "configurations", "builds": "builds", "proofs": "proofs", "large": "large",
    "editor": "editor",
}  # fmt: skip
"""What can be asked for, and the module that measures it. ``proofs`` gives ``proof size`` too."""
LIBRARIES = (
    "numpy", "scipy", "networkx", "rustworkx", "igraph", "ngraph", "highspy", "Jinja2", "polars",
    "pyarrow", "pyavd",
)  # fmt: skip


TDSL = ("tdsl", "stdlib", "targets", "grammar")
"""What is measured, of all that is in a commit."""


def _git(*words: str) -> str:
    """What git says; nothing where there is no repository."""
    return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True).stdout.strip()


def machine() -> dict[str, Any]:
    """What the figures were measured on, the load of the last minute included."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    cpu = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
    versions = {"Python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    commit = _git("rev-parse", "--short", "HEAD") + (
        " with changes" if _git("status", "--porcelain", "--", *TDSL) else ""
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu, "cores": os.cpu_count(), "memory_gb": round(memory / 1e9), "system": platform.system(),
        "load": round(os.getloadavg()[0], 1), "commit": commit or "no commit", "versions": versions,
    }  # fmt: skip


def measured(parts: Sequence[str], rounds: int, quick: bool) -> dict[str, Any]:
    """The records of these parts, by the part that each names."""
    found: dict[str, Any] = {}
    for name in parts:
        before = machine()
        for record in import_module(PARTS[name]).records(rounds, quick):
            found.setdefault(record["part"], {"machine": before, "records": []})["records"].append(record)
        for part in (p for p, recorded in found.items() if recorded["machine"] is before):
            print(
                "\n".join(["", report.TITLES[part], *report.table(part, found[part]["records"])]), flush=True
            )
    return found


def recorded(file: Path) -> dict[str, Any]:
    """What earlier runs found, in the order of the parts."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def places(into: Path | None) -> tuple[Path, Path, Path, Path]:
    """The files of figures, page, README and the folder of the plots: those of the checkout, or copies in a
    folder."""
    page, readme = ROOT / "docs" / "performance.md", ROOT / "README.md"
    if into is None:
        return ROOT / "benchmarks" / "results.json", page, readme, page.with_suffix("")
    into.mkdir(parents=True, exist_ok=True)
    for source in (page, readme):
        shutil.copyfile(source, into / source.name)
    return into / "results.json", into / page.name, into / readme.name, into / "performance"


def main(args: Sequence[str] | None = None) -> None:
    """Run the benchmarks, print a table of each, and write figures, plots and pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help="how often each process is started (5; with --quick 1)")
    parser.add_argument(
        "--quick", action="store_true", help="small designs, to try the benchmarks themselves; into out/bench"
    )
    parser.add_argument(
        "--into", type=Path, help="write into this folder and leave the pages of the checkout as they are"
    )
    parser.add_argument(
        "--tables",
        action="store_true",
        help="measure nothing: write plots and tables of the recorded figures",
    )
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    given = parser.parse_args(args)
    unknown = [p for p in given.parts if p not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}: there are {', '.join(PARTS)}")
    into = given.into or (ROOT / "out" / "bench" if given.quick else None)
    figures, page, readme, pictures = places(into)
    found: Mapping[str, Any] = recorded(figures)
    if not given.tables:
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
        if load > cores / 4 and not given.quick:
            print(
                f"warning: other work has {load:.1f} of {cores} cores: ratios hold, times are too long",
                file=sys.stderr,
            )
        found = {
            **found,
            **measured(given.parts or list(PARTS), given.rounds or (1 if given.quick else 5), given.quick),
        }
        found = {part: found[part] for part in report.TITLES if part in found}
        figures.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    report.write(found, page, readme, pictures)
    print(f"\nfigures: {figures}\nplots:   {pictures}\npage:    {page}")


if __name__ == "__main__":
    main()
