"""Small outputs of a build. Programs of tests read this file, so it imports next to nothing."""

from __future__ import annotations

import json


def files(**texts: str) -> dict[str, bytes]:
    """A small output with its manifest."""
    out = {name.replace("__", "/"): text.encode() for name, text in texts.items()}
    listed = {name: {"sha256": "", "size": len(data)} for name, data in out.items()}
    return {**out, "manifest.json": json.dumps({"schema": 1, "tdsl": "0", "files": listed}).encode()}


def output(n: int) -> dict[str, bytes]:
    """Many files that all tell the same number."""
    return files(**{f"f{i}": str(n) for i in range(60)})
