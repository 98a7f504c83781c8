"""Checks whole designs through the command line, in every format: every design of the library, and every one that a
page of the documentation gives figures for: ``python -m tests.soundness.whole_designs``.

Each is compiled once, without answers of earlier calls. What is on standard output must be, byte for byte, what the same call
writes into a file, each format must be read by its own reader, and no design may have an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from tdsl.report.formats import report_formats

ROOT = Path(__file__).parents[2]
OWN = ROOT / "benchmarks" / "designs"
FIRST = "json"
READERS = {"json": json.loads, "sarif": json.loads, "gitlab": json.loads, "junit": ElementTree.fromstring}
TIME = re.compile(rb'(?<= in )\d+\.\d s$|(?<="elapsed_s": )[0-9.]+|(?<=time=")[0-9.]+', re.MULTILINE)


def designs_of_pages() -> list[str]:
    """Files beside the benchmarks of which a page has figures."""
    pages = "".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "docs").glob("*.md")))
    named = {p: re.search(rf"`{p.stem}`|\| {p.stem} \||designs/{p.stem}\.fab", pages) for p in sorted(OWN.glob("*.fab"))}
    return [str(p.relative_to(ROOT)) for p, found in named.items() if found]


def wrong_outputs(design: str) -> list[str]:
    """What is wrong with the outputs of ``check`` of a design; the first call compiles it."""
    with TemporaryDirectory() as name:
        return list(_wrong(design, Path(name)))


def _wrong(design: str, folder: Path) -> Iterator[str]:
    env = {**os.environ, "TDSL_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    reports = [word for f in report_formats() for word in ("--report", f"{f}={folder / f}")]
    for number, f in enumerate((FIRST, *report_formats())):
        line = [sys.executable, "-m", "tdsl", "check", design, "--output-format", f, *(() if number else reports)]
        done = subprocess.run(line, cwd=ROOT, env=env, capture_output=True, check=False)
        if done.returncode:
            yield f"{design}: status {done.returncode} as {f}: {done.stderr[-300:]!r} {done.stdout[-300:]!r}"
            return
        written = (folder / f).read_bytes()
        same = done.stdout == written if number == 0 else TIME.sub(b"", done.stdout) == TIME.sub(b"", written)
        if not same:
            yield f"{design}: standard output is not the report as {f}: {done.stdout[:200]!r}"
        try:
            READERS.get(f, bytes.decode)(done.stdout)
        except ValueError as wrong:
            yield f"{design}: {f} cannot be read: {wrong}"
        except ElementTree.ParseError as wrong:
            yield f"{design}: {f} cannot be read: {wrong}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("designs", nargs="*", help="these alone")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    library = sorted(p.stem for p in (ROOT / "stdlib" / "designs").glob("*.fab"))
    designs = asked.designs or [*library, *designs_of_pages()]
    with ThreadPoolExecutor(asked.workers) as pool:
        wrong = [line for lines in pool.map(wrong_outputs, designs) for line in lines]
    print(
        "\n".join(
            [*wrong, f"{len(designs)} designs of the library and of pages in {len(report_formats())} formats, {len(wrong)} wrong"]
        )
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
