"""Small outputs of a build, written as a build writes them."""

from __future__ import annotations

import json
from pathlib import Path

from tdsl.findings.diagnostic import Diagnostics
from tdsl.output.write import write_output_folder


def files(**texts: str) -> dict[str, bytes]:
    """A small output with its manifest."""
    out = {name.replace("__", "/"): text.encode() for name, text in texts.items()}
    listed = {name: {"sha256": "", "size": len(data)} for name, data in out.items()}
    return {**out, "manifest.json": json.dumps({"schema": 1, "tdsl": "0", "files": listed}).encode()}


def put(content: dict[str, bytes], out: Path) -> list[str]:
    """Write; the codes of what was found."""
    found = Diagnostics()
    assert write_output_folder(content, out, found) is not found.has_errors
    return [d.code for d in found]


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def output(n: int) -> dict[str, bytes]:
    """Many files that all tell the same number."""
    return files(**{f"f{i}": str(n) for i in range(60)})
