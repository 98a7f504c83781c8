"""Lists of all networks of a cluster together: those who pull cables work through one list, whatever fabric a
cable is of."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from hashlib import sha256

from tdsl import __version__
from tdsl.emit.build import MANIFEST, SCHEMA
from tdsl.emit.rows import csv_line
from tdsl.system.spool import Content, content_in_memory

LISTS = ("cabling/cables.csv", "cabling/labels.csv")
FOLDER = "all-networks"


def lists_of_all_networks(fabrics: Mapping[str, Mapping[str, Content]]) -> dict[str, bytes]:
    """The files of the folder ``all-networks``: each list with the rows of all fabrics, in their order, and a
    manifest; nothing where fewer than two fabrics have it. ``pull_order`` goes on from one fabric to the
    next, and labels say their fabric."""
    files: dict[str, bytes] = {}
    for path in LISTS:
        tables = {
            name: content_in_memory(made[path]).decode() for name, made in fabrics.items() if path in made
        }
        if len(tables) > 1:
            files[path.rpartition("/")[2]] = _tables_of_one_heading(tables).encode()
    if not files:
        return {}
    identity = sha256(
        b"".join(content_in_memory(made.get(MANIFEST, b"")) for made in fabrics.values())
    ).hexdigest()
    content = {
        "schema": SCHEMA,
        "tdsl": __version__,
        "design": {"name": FOLDER, "sha256": identity, "parameters": {}},
        "files": {
            path: {"sha256": sha256(data).hexdigest(), "size": len(data)}
            for path, data in sorted(files.items())
        },
    }
    return files | {MANIFEST: (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()}


def _tables_of_one_heading(tables: Mapping[str, str]) -> str:
    """The rows of several tables of one heading."""
    lines: list[str] = []
    columns: list[str] = []
    pulled = 0
    for name, text in tables.items():
        reader = csv.DictReader(io.StringIO(text, newline=""))
        names = list(reader.fieldnames or ())
        if not columns:
            columns = names if "fabric" in names else [*names, "fabric"]
            lines.append(csv_line(columns))
        last = pulled
        for row in reader:
            row.setdefault("fabric", name)
            if "pull_order" in row:
                row["pull_order"] = str(int(row["pull_order"]) + last)
                pulled = max(pulled, int(row["pull_order"]))
            lines.append(csv_line([row.get(c, "") for c in columns]))
    return "".join(f"{line}\n" for line in lines)
